// SPDX-License-Identifier: Apache-2.0
//! From the operations of the automaton to terms: the strongest post of Wendler's thesis, section 2.2, over machine
//! integers.
//!
//! Two encodings. [`Encoding::Bitvector`] is exact for every expression. [`Encoding::Integer`] uses unbounded integers,
//! keeps every value in the range of its type and models wrap-around where C wraps; an expression that it cannot
//! represent exactly (a product of variables, bit operations) is [`Inexact`], and the caller uses bit-vectors for the
//! whole program. Division by zero and oversized shifts are undefined in C; here they have the value that SMT-LIB gives
//! them, and the replay of a counterexample refuses a path that executes one.

mod bitvector;
mod float;
mod integer;
mod memory;
mod trace;

use std::sync::Arc;

use cfa::Program;
use cfa::ids::{EdgeId, ExprId, VarId};
use cfa::ir::{CmpOp, Expr, ExprKind, IntTy, Op, Scope};
use cpa_core::Step;
use rustc_hash::{FxHashMap, FxHashSet};
use smt::path::Stmt;
use smt::solver::{Z3Config, Z3Logic};
use smt::{Sort, SymId, TermId, Terms, Value};
use thiserror::Error;

/// How machine integers become terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// Fixed-size bit-vectors, exact.
    #[default]
    Bitvector,
    /// Integers with ranges, wrap-around modelled; linear programs only.
    Integer,
}

/// An expression that the integer encoding cannot represent exactly.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{operator} has no exact linear integer encoding")]
pub struct Inexact {
    /// The operator, for a message.
    pub operator: &'static str,
}

/// Translates expressions and operations of one program; translations are kept.
pub struct Encoder {
    program: Arc<Program>,
    encoding: Encoding,
    symbols: Vec<Option<SymId>>,
    vars: FxHashMap<SymId, VarId>,
    values: FxHashMap<ExprId, TermId>,
    truths: FxHashMap<ExprId, TermId>,
    ranges: FxHashMap<ExprId, (i128, i128)>,
    uses_memory: bool,
    has_floats: bool,
    /// Edges that set new objects to zero.
    fresh_zeros: FxHashSet<EdgeId>,
    /// Cells of parts of memory with at most so many are told apart at each access.
    cells_apart: u64,
    /// What is read outside of all objects.
    outside: FxHashSet<SymId>,
}

impl Encoder {
    /// An encoder for `program`.
    pub fn new(program: Arc<Program>, encoding: Encoding) -> Self {
        let symbols = vec![None; program.vars.len()];
        Self {
            uses_memory: memory::uses_memory(&program),
            has_floats: program.exprs.ids().any(|id| program.exprs.get(id).kind.is_float()),
            fresh_zeros: memory::fresh_zeros(&program),
            program,
            encoding,
            symbols,
            vars: FxHashMap::default(),
            values: FxHashMap::default(),
            truths: FxHashMap::default(),
            ranges: FxHashMap::default(),
            cells_apart: 0,
            outside: FxHashSet::default(),
        }
    }

    /// From now on the cells of parts of memory with at most `cells` are told apart at each access, by cases of the address:
    /// no position in an array is a term then. That is good for formulas of long paths.
    pub fn tell_cells_apart(&mut self, cells: u64) {
        self.cells_apart = cells;
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The encoding in use.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The logic to make solvers for; none for the general solver. A solver made for a logic knows no arrays, so they have to be
    /// eliminated.
    pub fn logic(&self) -> Option<Z3Logic> {
        // Without large circuits, the general solver is the better one for formulas about memory.
        let general = self.encoding == Encoding::Bitvector && self.uses_memory && !self.has_floats;
        (!general).then(|| self.theory())
    }

    /// The solver for single checks of formulas of whole paths, which are large circuits in any case: that of the theory of the
    /// encoding, with arrays eliminated, and bit vectors as clauses.
    pub fn whole_paths(&self) -> Z3Config {
        // Circuits of floating-point operations are easier for Z3's own search.
        let eager = self.encoding == Encoding::Bitvector && !self.has_floats;
        Z3Config { logic: Some(self.theory()), eliminate_arrays: true, eager, ..Z3Config::default() }
    }

    fn theory(&self) -> Z3Logic {
        match self.encoding {
            Encoding::Bitvector => Z3Logic::QfBv,
            Encoding::Integer => Z3Logic::QfLia,
        }
    }

    /// The logic for interpolation, where a general solver is the better one unless circuits are large.
    pub fn interpolation_logic(&self) -> Option<Z3Logic> {
        self.logic().filter(|_| self.has_floats)
    }

    /// Whether every operation of the program has an exact encoding.
    pub fn check_program(&mut self, terms: &mut Terms) -> Result<(), Inexact> {
        let program = Arc::clone(&self.program);
        if self.encoding == Encoding::Bitvector {
            // What holds at the start is said on the first edges, which must not be taken again.
            let again = self.uses_memory && !program.node(program.entry).entering.is_empty();
            return if again { Err(Inexact { operator: "memory before a loop at the entry" }) } else { Ok(()) };
        }
        for edge in program.edges.iter() {
            match &edge.op {
                Op::Assume { cond, .. } => {
                    self.truth(terms, *cond)?;
                }
                Op::Assign { value, .. } => {
                    self.value(terms, *value)?;
                }
                Op::Call { args, .. } => {
                    for &arg in args {
                        self.value(terms, arg)?;
                    }
                }
                Op::Skip | Op::Havoc { .. } | Op::Unsupported { .. } => {}
                Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. } => {
                    return Err(Inexact { operator: "memory" });
                }
            }
        }
        Ok(())
    }

    /// The symbol that stands for a variable.
    pub fn symbol(&mut self, terms: &mut Terms, var: VarId) -> SymId {
        if let Some(symbol) = self.symbols[var.index()] {
            return symbol;
        }
        let data = &self.program.vars[var.index()];
        let symbol = match self.encoding {
            Encoding::Bitvector => terms.symbol(&data.name, Sort::Bv(data.ty.bits)),
            Encoding::Integer => terms.bounded_symbol(&data.name, data.ty.min(), data.ty.max()),
        };
        self.symbols[var.index()] = Some(symbol);
        self.vars.insert(symbol, var);
        symbol
    }

    /// The variable that a symbol stands for; none for symbols of other origin.
    pub fn variable(&self, symbol: SymId) -> Option<VarId> {
        self.vars.get(&symbol).copied()
    }

    /// Whether a symbol holds a part of the state of the program, and no value that is only made and used in one step.
    pub(crate) fn is_state(&self, symbol: SymId) -> bool {
        !self.outside.contains(&symbol)
    }

    /// The machine integer of type `ty` that a solver's value stands for.
    pub fn integer(&self, value: Value, ty: IntTy) -> i128 {
        match value {
            Value::Bool(b) => i128::from(b),
            Value::Bv { bits, .. } => ty.wrap(i128::try_from(bits).expect("machine integers have at most 64 bits")),
            Value::Int(n) => ty.wrap(n),
            Value::Array(_) => unreachable!("variables hold numbers"),
        }
    }

    /// The solver's value that stands for a machine integer of type `ty`.
    pub fn model_value(&self, value: i128, ty: IntTy) -> Value {
        match self.encoding {
            Encoding::Bitvector => {
                let residue = value.rem_euclid(1i128 << ty.bits);
                Value::Bv { width: ty.bits, bits: u128::try_from(residue).expect("a residue is not negative") }
            }
            Encoding::Integer => Value::Int(value),
        }
    }

    /// The value of an expression over the program variables at index 0.
    pub fn value(&mut self, terms: &mut Terms, expr: ExprId) -> Result<TermId, Inexact> {
        if let Some(&known) = self.values.get(&expr) {
            return Ok(known);
        }
        let data = self.expr(expr);
        let term = match data.kind {
            ExprKind::Var(var) => {
                let symbol = self.symbol(terms, var);
                terms.var(symbol, 0)
            }
            ExprKind::Cmp(..) | ExprKind::FloatCmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => {
                let truth = self.truth(terms, expr)?;
                let one = self.constant(terms, 1, data.ty);
                let zero = self.constant(terms, 0, data.ty);
                terms.ite(truth, one, zero)
            }
            ExprKind::Ite(cond, then, other) => {
                let cond = self.truth(terms, cond)?;
                let then = self.value(terms, then)?;
                let other = self.value(terms, other)?;
                terms.ite(cond, then, other)
            }
            ExprKind::Const(value) => self.constant(terms, value, data.ty),
            ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Cast(_) => match self.encoding {
                Encoding::Bitvector => self.bitvector_value(terms, &data)?,
                Encoding::Integer => self.integer_value(terms, expr, &data)?,
            },
            ExprKind::Float(..)
            | ExprKind::FloatFn(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => match self.encoding {
                Encoding::Bitvector => self.float_value(terms, &data)?,
                Encoding::Integer => return Err(FLOAT),
            },
        };
        self.values.insert(expr, term);
        Ok(term)
    }

    /// Whether an expression is non-zero, as a Boolean term.
    pub fn truth(&mut self, terms: &mut Terms, expr: ExprId) -> Result<TermId, Inexact> {
        if let Some(&known) = self.truths.get(&expr) {
            return Ok(known);
        }
        let data = self.expr(expr);
        let term = match data.kind {
            ExprKind::Cmp(op, left, right) => {
                let ty = self.expr(left).ty;
                let left = self.value(terms, left)?;
                let right = self.value(terms, right)?;
                match self.encoding {
                    Encoding::Bitvector => bitvector::compare(terms, op, ty.signed, left, right),
                    Encoding::Integer => integer::compare(terms, op, left, right),
                }
            }
            ExprKind::FloatCmp(op, ty, left, right) => {
                if self.encoding == Encoding::Integer {
                    return Err(FLOAT);
                }
                let left = self.value(terms, left)?;
                let right = self.value(terms, right)?;
                float::compare(terms, op, ty, left, right)
            }
            ExprKind::Not(arg) => {
                let arg = self.truth(terms, arg)?;
                terms.not(arg)
            }
            ExprKind::And(left, right) => {
                let left = self.truth(terms, left)?;
                let right = self.truth(terms, right)?;
                terms.and(left, right)
            }
            ExprKind::Or(left, right) => {
                let left = self.truth(terms, left)?;
                let right = self.truth(terms, right)?;
                terms.or(left, right)
            }
            ExprKind::Ite(cond, then, other) => {
                let cond = self.truth(terms, cond)?;
                let then = self.truth(terms, then)?;
                let other = self.truth(terms, other)?;
                terms.ite(cond, then, other)
            }
            ExprKind::Const(value) => terms.bool(value != 0),
            ExprKind::Var(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cast(_)
            | ExprKind::Float(..)
            | ExprKind::FloatFn(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => {
                let value = self.value(terms, expr)?;
                let zero = self.constant(terms, 0, data.ty);
                let is_zero = terms.eq(value, zero);
                terms.not(is_zero)
            }
        };
        self.truths.insert(expr, term);
        Ok(term)
    }

    /// The statements that a step of the analysis executes, in order. Those of the first step also say what holds at the
    /// start.
    pub fn statements(&mut self, terms: &mut Terms, step: Step) -> Result<Vec<Stmt>, Inexact> {
        let program = Arc::clone(&self.program);
        let statements = self.effect(terms, step)?;
        if self.uses_memory && !matches!(step, Step::Leave(_)) && step.source(&program) == program.entry {
            let mut all = self.start(terms);
            all.extend(statements);
            return Ok(all);
        }
        Ok(statements)
    }

    /// The statements of a step that enters or leaves an activation of a function with `activation` other ones below it on
    /// the call stack. While it runs, the variables of the function belong to it; those of the activation below are kept
    /// in symbols of their own.
    pub fn statements_of_activation(
        &mut self,
        terms: &mut Terms,
        step: Step,
        activation: u32,
    ) -> Result<Vec<Stmt>, Inexact> {
        let program = Arc::clone(&self.program);
        let (Op::Call { callee, args, result }, true) = (&program.edge(step.edge()).op, activation > 0) else {
            return self.statements(terms, step);
        };
        let data = program.func(*callee);
        let locals: Vec<SymId> = (0..program.vars.len())
            .map(VarId::new)
            .filter(|&var| program.var(var).scope == Scope::Local(*callee))
            .map(|var| self.symbol(terms, var))
            .collect();
        let kept: Vec<SymId> = locals.iter().map(|&local| beside(terms, local, activation)).collect();
        let mut statements = Vec::new();
        // Arguments and results are values in one activation that are assigned in the other one.
        match step {
            Step::Edge(_) => return self.statements(terms, step),
            Step::Enter(_) => {
                let params: Vec<SymId> = data.params.iter().map(|&param| self.symbol(terms, param)).collect();
                let passed: Vec<SymId> = params.iter().map(|&param| beside(terms, param, 0)).collect();
                for (&passed, &arg) in passed.iter().zip(args) {
                    statements.push(Stmt::Assign(passed, self.value(terms, arg)?));
                }
                statements.extend(moves(terms, &locals, &kept));
                statements.extend(moves(terms, &passed, &params));
            }
            Step::Leave(_) => {
                let returned = match (result, data.ret) {
                    (Some(result), Some(ret)) => {
                        let (ret, result) = (self.symbol(terms, ret), self.symbol(terms, *result));
                        let passed = beside(terms, ret, 0);
                        statements.extend(moves(terms, &[ret], &[passed]));
                        moves(terms, &[passed], &[result])
                    }
                    _ => Vec::new(),
                };
                statements.extend(moves(terms, &kept, &locals));
                statements.extend(returned);
            }
        }
        Ok(statements)
    }

    fn effect(&mut self, terms: &mut Terms, step: Step) -> Result<Vec<Stmt>, Inexact> {
        let program = Arc::clone(&self.program);
        Ok(match step {
            Step::Edge(edge) => match &program.edges[edge.index()].op {
                Op::Skip | Op::Unsupported { .. } => Vec::new(),
                Op::Assume { cond, truth } => {
                    let cond = self.truth(terms, *cond)?;
                    vec![Stmt::Assume(if *truth { cond } else { terms.not(cond) })]
                }
                Op::Assign { var, value } => {
                    let value = self.value(terms, *value)?;
                    vec![Stmt::Assign(self.symbol(terms, *var), value)]
                }
                Op::Havoc { var, .. } => vec![Stmt::Havoc(self.symbol(terms, *var))],
                Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. } => {
                    self.memory(terms, edge)?
                }
                Op::Call { .. } => unreachable!("the location CPA enters calls"),
            },
            Step::Enter(edge) => {
                let Op::Call { callee, args, .. } = &program.edges[edge.index()].op else {
                    unreachable!("only call edges are entered")
                };
                // The parameters of a function that is not on the call stack do not occur in the arguments, so
                // assigning them one after the other is the same as all at once.
                let params = &program.funcs[callee.index()].params;
                let mut statements = Vec::with_capacity(args.len());
                for (&param, &arg) in params.iter().zip(args) {
                    let value = self.value(terms, arg)?;
                    statements.push(Stmt::Assign(self.symbol(terms, param), value));
                }
                statements
            }
            Step::Leave(edge) => {
                let Op::Call { callee, result, .. } = &program.edges[edge.index()].op else {
                    unreachable!("only call edges are left")
                };
                match (result, program.funcs[callee.index()].ret) {
                    (Some(result), Some(ret)) => {
                        let ret = self.symbol(terms, ret);
                        let value = terms.var(ret, 0);
                        vec![Stmt::Assign(self.symbol(terms, *result), value)]
                    }
                    _ => Vec::new(),
                }
            }
        })
    }

    fn expr(&self, expr: ExprId) -> Expr {
        self.program.exprs.get(expr).clone()
    }

    /// The comparison of two values of type `ty`.
    pub fn compare(&self, terms: &mut Terms, op: CmpOp, ty: IntTy, left: TermId, right: TermId) -> TermId {
        match self.encoding {
            Encoding::Bitvector => bitvector::compare(terms, op, ty.signed, left, right),
            Encoding::Integer => integer::compare(terms, op, left, right),
        }
    }

    /// A value of type `ty`.
    pub fn constant(&self, terms: &mut Terms, value: i128, ty: IntTy) -> TermId {
        match self.encoding {
            Encoding::Bitvector => {
                let modulus = 1i128 << ty.bits;
                let bits = u128::try_from(value.rem_euclid(modulus)).expect("a residue is not negative");
                terms.bv(ty.bits, bits)
            }
            Encoding::Integer => terms.int(value),
        }
    }
}

const FLOAT: Inexact = Inexact { operator: "floating-point arithmetic" };

/// The symbol of the same sort that belongs to `symbol` and a number.
fn beside(terms: &mut Terms, symbol: SymId, number: u32) -> SymId {
    let name = format!("{}!{number}", terms.symbol_name(symbol));
    match terms.symbol_bounds(symbol) {
        Some((low, high)) => terms.bounded_symbol(&name, low, high),
        None => terms.symbol(&name, terms.symbol_sort(symbol)),
    }
}

/// Assignments of the values of some symbols to others.
fn moves(terms: &mut Terms, from: &[SymId], to: &[SymId]) -> Vec<Stmt> {
    from.iter().zip(to).map(|(&from, &to)| Stmt::Assign(to, terms.var(from, 0))).collect()
}
