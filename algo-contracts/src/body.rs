// SPDX-License-Identifier: Apache-2.0
//! Formulas of bodies: all executions of a function, from any state at its entry, in which calls of recursive functions are
//! open. Other called functions are part of the formula.
//!
//! At the head of a loop everything that the loop may write takes any value, and its last iteration follows, the one that leaves
//! it or meets the event.
//!
//! A call gives any value to what the callee returns and to the global variables that it may write. A condition of its own,
//! `returned`, is part of the path conditions behind the call; who assumes something about the values assumes it where
//! `returned` holds, so nothing is assumed about calls that are not on the path.

use std::collections::{BTreeMap, BTreeSet};

use cfa::ids::{EdgeId, ExprId, FuncId, NodeId, VarId};
use cfa::ir::Op;
use cfa::{Blocks, Program};
use cpa_core::{Cx, Step, Stop};
use cpa_predicate::Manager;
use cpa_predicate::encode::Inexact;
use rustc_hash::FxHashMap;
use smt::{PathFormula, Sort, Stmt, SymId, TermId, Terms};

use crate::overflow::overflows;
use crate::signature::Signature;

/// How many edges a body may have, with the functions that are part of it.
const MAX_EDGES: u32 = 20_000;
/// After how many edges the limits are checked.
const CHECK: u32 = 64;

/// Values of the atoms of a contract, by their symbols.
pub(crate) type Values = FxHashMap<SymId, TermId>;

/// A call of a recursive function.
pub(crate) struct Call {
    pub(crate) callee: FuncId,
    /// When it happens.
    pub(crate) condition: TermId,
    /// That it happens and that it returned.
    pub(crate) returned: TermId,
    /// What the contract of the callee is about.
    pub(crate) values: Values,
}

/// What must not happen in a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// A target is reached.
    Error,
    /// Something is not supported.
    Unsupported(EdgeId, String),
    /// Arithmetic in a signed type overflows.
    Overflow(EdgeId),
}

/// The formula of a body.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) calls: Vec<Call>,
    /// Problems with the conditions under which they occur.
    pub(crate) problems: Vec<(Problem, TermId)>,
    /// When the function returns, one for each way to its end, and the values of its own contract's atoms then.
    pub(crate) exits: Vec<(TermId, Values)>,
}

/// The formula of the program from its entry on, or of a recursive function; `loops` tells what each loop may write.
pub(crate) fn body(
    cx: &Cx,
    manager: &mut Manager,
    (program, loops): (&Program, &Blocks),
    targets: &BTreeSet<NodeId>,
    signatures: &BTreeMap<FuncId, Signature>,
    func: Option<FuncId>,
) -> Result<Body, Stop> {
    let mut walker = Walker {
        cx,
        manager,
        program,
        loops,
        targets,
        signatures,
        strict: func.is_some(),
        edges: 0,
        body: Body::default(),
    };
    let entry = match func {
        Some(func) => program.func(func).body.expect("recursive functions have bodies").entry,
        None => program.entry,
    };
    let ends = walker.walk(entry, PathFormula::empty())?;
    if let Some(signature) = func.map(|func| &signatures[&func]) {
        for end in ends {
            let mut values = Values::default();
            for atom in &signature.before {
                values.insert(atom.symbol, walker.manager.terms.var(atom.symbol, 0));
            }
            for atom in &signature.after {
                let value = walker.value(&end, atom.var);
                values.insert(atom.symbol, value);
            }
            walker.body.exits.push((end.pc, values));
        }
    }
    Ok(walker.body)
}

struct Walker<'a> {
    cx: &'a Cx,
    manager: &'a mut Manager,
    program: &'a Program,
    loops: &'a Blocks,
    targets: &'a BTreeSet<NodeId>,
    signatures: &'a BTreeMap<FuncId, Signature>,
    /// Whether overflow is a problem.
    strict: bool,
    edges: u32,
    body: Body,
}

fn gave_up(inexact: Inexact) -> Stop {
    Stop::GaveUp(inexact.to_string())
}

impl Walker<'_> {
    /// All paths from a location to the end of its function, in the order of its locations, so that paths that meet do so
    /// before they go on. The formulas of the ways to the end of the function.
    fn walk(&mut self, start: NodeId, path: PathFormula) -> Result<Vec<PathFormula>, Stop> {
        let program = self.program;
        // A target at the end of the function is met like any other one.
        let exit = program.func(program.node(start).func).body.map(|body| body.exit);
        let exit = exit.filter(|exit| !self.targets.contains(exit));
        if Some(start) == exit {
            return Ok(vec![path]);
        }
        let mut waiting = BTreeMap::from([(program.node(start).rpo, (start, path))]);
        let mut ends = Vec::new();
        while let Some((rpo, (node, mut path))) = waiting.pop_first() {
            if let Some(head) = self.loops.of_head(node) {
                self.forget(&mut path, &self.loops.get(head).writes);
            }
            if self.targets.contains(&node) {
                self.body.problems.push((Problem::Error, path.pc));
                continue;
            }
            for &edge in &program.node(node).leaving {
                let Some(next) = self.follow(edge, &path)? else { continue };
                if next.pc == Terms::fls() {
                    continue;
                }
                let to = program.edge(edge).dst;
                if Some(to) == exit {
                    ends.push(next);
                    continue;
                }
                let position = program.node(to).rpo;
                if position <= rpo {
                    if self.loops.of_head(to).is_some() {
                        continue;
                    }
                    let place = program.place(to);
                    return Err(Stop::GaveUp(format!(
                        "{place}: a loop with several entries, which contracts do not pass"
                    )));
                }
                // Branching is deterministic, so paths that meet have no common execution.
                let met = waiting.remove(&position).map(|(_, other)| other.merge(&mut self.manager.terms, &next, true));
                waiting.insert(position, (to, met.unwrap_or(next)));
            }
        }
        Ok(ends)
    }

    /// Gives any value to variables.
    fn forget(&mut self, path: &mut PathFormula, vars: &BTreeSet<VarId>) {
        let terms = &mut self.manager.terms;
        for &var in vars {
            let symbol = self.manager.encoder.symbol(terms, var);
            path.apply(terms, &Stmt::Havoc(symbol));
        }
    }

    /// The path behind an edge; none if nothing comes behind it.
    fn follow(&mut self, edge: EdgeId, path: &PathFormula) -> Result<Option<PathFormula>, Stop> {
        self.edges += 1;
        if self.edges.is_multiple_of(CHECK) {
            self.cx.check()?;
        }
        if self.edges > MAX_EDGES {
            return Err(Stop::GaveUp("the formulas of the functions are too large".to_string()));
        }
        let program = self.program;
        let op = &program.edge(edge).op;
        if self.strict {
            for operand in op.operands() {
                self.check(edge, operand, path)?;
            }
        }
        match op {
            Op::Unsupported { construct } => {
                self.body.problems.push((Problem::Unsupported(edge, construct.to_string()), path.pc));
                Ok(None)
            }
            // Nothing is known about memory, so it can hold anything.
            Op::Load { var, .. } | Op::Alloc { var, .. } => {
                let terms = &mut self.manager.terms;
                let symbol = self.manager.encoder.symbol(terms, *var);
                Ok(Some(path.post(terms, &Stmt::Havoc(symbol))))
            }
            Op::Store { .. } | Op::Free { .. } | Op::Zero { .. } => Ok(Some(path.clone())),
            Op::Call { callee, args, result } => match self.signatures.get(callee) {
                Some(signature) => self.call(edge, (*callee, signature), args, *result, path).map(Some),
                None => {
                    let entered = self.step(Step::Enter(edge), path)?;
                    let entry = program.func(*callee).body.expect("called functions have bodies").entry;
                    let ends = self.walk(entry, entered)?.into_iter();
                    let end = ends.reduce(|one, other| one.merge(&mut self.manager.terms, &other, true));
                    end.map(|end| self.step(Step::Leave(edge), &end)).transpose()
                }
            },
            Op::Skip | Op::Assume { .. } | Op::Assign { .. } | Op::Havoc { .. } => {
                self.step(Step::Edge(edge), path).map(Some)
            }
        }
    }

    fn step(&mut self, step: Step, path: &PathFormula) -> Result<PathFormula, Stop> {
        // Only functions that are not active are entered.
        self.manager.follow(path, step, 0)
    }

    fn check(&mut self, edge: EdgeId, expr: ExprId, path: &PathFormula) -> Result<(), Stop> {
        for condition in overflows(self.manager, self.program, expr).map_err(gave_up)? {
            let terms = &mut self.manager.terms;
            let condition = path.instantiate(terms, condition);
            let condition = terms.and(path.pc, condition);
            if condition != Terms::fls() {
                self.body.problems.push((Problem::Overflow(edge), condition));
            }
        }
        Ok(())
    }

    /// A call of a function with a contract.
    fn call(
        &mut self,
        edge: EdgeId,
        (callee, signature): (FuncId, &Signature),
        args: &[ExprId],
        result: Option<VarId>,
        path: &PathFormula,
    ) -> Result<PathFormula, Stop> {
        let mut values = Values::default();
        let (params, globals) = signature.before.split_at(signature.params);
        for (atom, &arg) in params.iter().zip(args) {
            let value = self.manager.encoder.value(&mut self.manager.terms, arg).map_err(gave_up)?;
            values.insert(atom.symbol, path.instantiate(&mut self.manager.terms, value));
        }
        for atom in globals {
            let value = self.value(path, atom.var);
            values.insert(atom.symbol, value);
        }
        let condition = path.pc;
        let mut path = path.clone();
        let mut assigned = None;
        for (at, atom) in signature.after.iter().enumerate() {
            // What is returned goes into a symbol of the call's own, because the variable may be one of the caller.
            let own = at == 0 && signature.returns;
            let terms = &mut self.manager.terms;
            let symbol = match own {
                true => terms.symbol(&format!("result!{edge}"), Sort::Bv(atom.ty.bits)),
                false => self.manager.encoder.symbol(terms, atom.var),
            };
            path.apply(terms, &Stmt::Havoc(symbol));
            values.insert(atom.symbol, path.value(terms, symbol));
            if own {
                assigned = result.map(|result| (result, terms.var(symbol, 0)));
            }
        }
        // The variable that takes the result may be one that the callee writes.
        let terms = &mut self.manager.terms;
        if let Some((result, value)) = assigned {
            let symbol = self.manager.encoder.symbol(terms, result);
            path.apply(terms, &Stmt::Assign(symbol, value));
        }
        let returned = terms.symbol(&format!("returned!{edge}"), Sort::Bool);
        path.apply(terms, &Stmt::Havoc(returned));
        let now = terms.var(returned, 0);
        path.apply(terms, &Stmt::Assume(now));
        self.body.calls.push(Call { callee, condition, returned: path.pc, values });
        Ok(path)
    }

    fn value(&mut self, path: &PathFormula, var: VarId) -> TermId {
        let symbol = self.manager.encoder.symbol(&mut self.manager.terms, var);
        path.value(&mut self.manager.terms, symbol)
    }
}
