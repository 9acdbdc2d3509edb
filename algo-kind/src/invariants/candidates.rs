// SPDX-License-Identifier: Apache-2.0
//! Candidates for invariants: from the data-flow analysis, from the conditions of the program, comparisons of variables with
//! each other and with constants, and equations that hold in sample runs.
//!
//! The equations are the null space of the samples, as in Sharma et al., *A Data Driven Approach for Algebraic Loop
//! Invariants* (ESOP 2013), for linear terms and products of two variables.

use std::collections::BTreeSet;

use cfa::Program;
use cfa::ids::{ExprId, VarId};
use cfa::ir::{BinOp, CmpOp, ExprKind, IntTy, Op, Scope};
use cpa_predicate::{Encoding, Manager};
use smt::{BvBin, TermId, Value};

use super::env::Env;
use super::nullspace::null_space;
use super::sample::Sample;
use crate::cutpoints::Cutpoints;

/// How many variables are compared with each other.
const COMPARED: usize = 10;
/// How many constants variables are compared with.
const CONSTANTS: usize = 10;
/// How many variables equations are looked for over.
const LINEAR: usize = 12;
/// How many variables are multiplied with each other.
const MULTIPLIED: usize = 5;
/// How many conditions of the program are tried.
const CONDITIONS: usize = 60;

/// What the data-flow analysis says, as candidates.
pub(crate) fn from_environment(manager: &mut Manager, program: &Program, env: Option<&Env>) -> Vec<TermId> {
    let Some(env) = env else { return vec![smt::Terms::fls()] };
    let mut result = Vec::new();
    for (var, value) in env.iter() {
        if program.var(var).float.is_some() {
            continue;
        }
        let ty = program.var(var).ty;
        let pieces: Vec<TermId> =
            value.ranges().iter().map(|&(low, high)| between(manager, var, ty, low, high)).collect();
        result.push(manager.terms.or_all(&pieces));
        if let Some((modulus, residue)) = value.congruence()
            && (value.low() >= 0 || modulus & (modulus - 1) == 0)
            && modulus <= ty.max()
        {
            result.push(congruent(manager, var, ty, modulus, residue));
        }
    }
    result
}

fn variable(manager: &mut Manager, var: VarId) -> TermId {
    let symbol = manager.encoder.symbol(&mut manager.terms, var);
    manager.terms.var(symbol, 0)
}

fn compare(manager: &mut Manager, op: CmpOp, ty: IntTy, left: TermId, right: TermId) -> TermId {
    manager.encoder.compare(&mut manager.terms, op, ty, left, right)
}

fn between(manager: &mut Manager, var: VarId, ty: IntTy, low: i128, high: i128) -> TermId {
    let x = variable(manager, var);
    let mut result = smt::Terms::tru();
    if low > ty.min() {
        let bound = manager.encoder.constant(&mut manager.terms, low, ty);
        result = compare(manager, CmpOp::Le, ty, bound, x);
    }
    if high < ty.max() {
        let bound = manager.encoder.constant(&mut manager.terms, high, ty);
        let upper = compare(manager, CmpOp::Le, ty, x, bound);
        result = manager.terms.and(result, upper);
    }
    result
}

/// Congruence of a variable that is not negative, or modulo a power of two.
fn congruent(manager: &mut Manager, var: VarId, ty: IntTy, modulus: i128, residue: i128) -> TermId {
    let x = variable(manager, var);
    let rest = match manager.encoder.encoding() {
        Encoding::Integer => manager.terms.int_mod(x, modulus),
        Encoding::Bitvector => {
            let divisor = manager.encoder.constant(&mut manager.terms, modulus, ty);
            manager.terms.bv_bin(BvBin::Urem, x, divisor)
        }
    };
    let residue = manager.encoder.constant(&mut manager.terms, residue, ty);
    manager.terms.eq(rest, residue)
}

/// Candidates for a cut point that are true in all samples.
pub(crate) fn guesses(
    manager: &mut Manager,
    program: &Program,
    cutpoints: &Cutpoints,
    number: usize,
    samples: &[Sample],
) -> Vec<TermId> {
    let point = &cutpoints.points()[number];
    let mut funcs: BTreeSet<_> = point.calls.iter().map(|&call| program.node(program.edge(call).src).func).collect();
    funcs.insert(program.node(point.head).func);
    let in_scope = |var: VarId| match program.var(var).scope {
        Scope::Global => true,
        Scope::Local(func) => funcs.contains(&func),
    };
    let vars = interesting_variables(program, &in_scope);
    let mut terms: Vec<TermId> = Vec::new();
    conditions(manager, program, &in_scope, &mut terms);
    comparisons(manager, program, &vars, &mut terms);
    equations(manager, program, &vars, samples, &mut terms);
    terms.retain(|&term| !matches!(manager.terms.get(term), smt::Term::True | smt::Term::False));
    let mut seen = BTreeSet::new();
    terms.retain(|&term| seen.insert(term));
    terms.retain(|&term| samples.iter().all(|sample| holds(manager, program, term, sample)));
    terms
}

/// Variables in the order of how often they occur in conditions and in updates by themselves; temporaries do not count.
fn interesting_variables(program: &Program, in_scope: &dyn Fn(VarId) -> bool) -> Vec<VarId> {
    let mut weights = vec![0u32; program.vars.len()];
    for edge in &program.edges {
        match &edge.op {
            Op::Assume { cond, .. } => program.exprs.vars(*cond).into_iter().for_each(|v| weights[v.index()] += 2),
            Op::Assign { var, value } if !matches!(program.exprs.get(*value).kind, ExprKind::Const(_)) => {
                weights[var.index()] += 1;
                program.exprs.vars(*value).into_iter().for_each(|v| weights[v.index()] += 1);
            }
            _ => {}
        }
    }
    let mut vars: Vec<VarId> = (0..program.vars.len()).map(VarId::new).collect();
    vars.retain(|&var| {
        let data = program.var(var);
        weights[var.index()] > 0 && in_scope(var) && !data.temporary && data.float.is_none()
    });
    vars.sort_by_key(|var| std::cmp::Reverse(weights[var.index()]));
    vars
}

/// Calls `visit` for all constants in an expression.
fn visit_constants(program: &Program, id: ExprId, visit: &mut dyn FnMut(i128)) {
    if let Some(value) = program.exprs.as_const(id) {
        visit(value);
    }
    program.exprs.operands(id).for_each(|operand| visit_constants(program, operand, visit));
}

/// The conditions of the program over variables in scope, and their negations.
fn conditions(manager: &mut Manager, program: &Program, in_scope: &dyn Fn(VarId) -> bool, out: &mut Vec<TermId>) {
    let mut seen = BTreeSet::new();
    for edge in &program.edges {
        let Op::Assume { cond, .. } = edge.op else { continue };
        let vars = program.exprs.vars(cond);
        let fits = !vars.is_empty() && vars.iter().all(|&var| in_scope(var) && !program.var(var).temporary);
        if !fits || !seen.insert(cond) || seen.len() > CONDITIONS {
            continue;
        }
        if let Ok(term) = manager.encoder.truth(&mut manager.terms, cond) {
            out.extend([term, manager.terms.not(term)]);
        }
    }
}

/// Comparisons of variables with each other and with constants of the program.
fn comparisons(manager: &mut Manager, program: &Program, vars: &[VarId], out: &mut Vec<TermId>) {
    let compared = &vars[..vars.len().min(COMPARED)];
    for (at, &a) in compared.iter().enumerate() {
        let ty = program.var(a).ty;
        let x = variable(manager, a);
        for &b in compared[at + 1..].iter().filter(|&&b| program.var(b).ty == ty) {
            let y = variable(manager, b);
            for (op, left, right) in [(CmpOp::Le, x, y), (CmpOp::Le, y, x), (CmpOp::Eq, x, y)] {
                out.push(compare(manager, op, ty, left, right));
            }
        }
        for constant in constants_for(program, a) {
            if constant < ty.min() || constant > ty.max() {
                continue;
            }
            let c = manager.encoder.constant(&mut manager.terms, constant, ty);
            out.push(compare(manager, CmpOp::Le, ty, x, c));
            out.push(compare(manager, CmpOp::Le, ty, c, x));
            out.push(compare(manager, CmpOp::Ne, ty, x, c));
        }
        for (modulus, residue) in [(2, 0), (2, 1), (3, 0), (4, 0)] {
            if modulus & (modulus - 1) == 0 || !ty.signed {
                out.push(congruent(manager, a, ty, modulus, residue));
            }
        }
    }
}

/// Constants that a variable is compared with or set to, and zero.
fn constants_for(program: &Program, var: VarId) -> Vec<i128> {
    let mut found = BTreeSet::from([0, 1]);
    for edge in &program.edges {
        let expr = match edge.op {
            Op::Assume { cond, .. } => cond,
            Op::Assign { var: written, value } if written == var => value,
            _ => continue,
        };
        if !matches!(edge.op, Op::Assign { .. }) && !program.exprs.vars(expr).contains(&var) {
            continue;
        }
        visit_constants(program, expr, &mut |value| {
            found.insert(value);
        });
    }
    let mut list: Vec<i128> = found.into_iter().collect();
    list.sort_by_key(|value| value.abs());
    list.truncate(CONSTANTS);
    list
}

/// Equations between linear terms and products that hold in all samples.
fn equations(manager: &mut Manager, program: &Program, vars: &[VarId], samples: &[Sample], out: &mut Vec<TermId>) {
    let known = |var: &&VarId| samples.iter().all(|sample| sample.contains_key(var));
    let mut widths: Vec<u32> = vars.iter().map(|&var| program.var(var).ty.bits).collect();
    widths.sort_unstable();
    widths.dedup();
    for width in widths {
        let same: Vec<VarId> =
            vars.iter().filter(known).filter(|&&var| program.var(var).ty.bits == width).copied().take(LINEAR).collect();
        if same.is_empty() {
            continue;
        }
        let linear: Vec<Vec<VarId>> = same.iter().map(|&var| vec![var]).collect();
        equations_over(manager, &linear, samples, width, out);
        if multiplies(program) && manager.encoder.encoding() == Encoding::Bitvector {
            let mut monomials = linear;
            let few = &same[..same.len().min(MULTIPLIED)];
            for (at, &a) in few.iter().enumerate() {
                monomials.extend(few[at..].iter().map(|&b| vec![a, b]));
            }
            equations_over(manager, &monomials, samples, width, out);
        }
    }
}

/// Whether the program multiplies variables.
fn multiplies(program: &Program) -> bool {
    program.exprs.ids().any(|id| match program.exprs.get(id).kind {
        ExprKind::Binary(BinOp::Mul, left, right) => {
            program.exprs.as_const(left).is_none() && program.exprs.as_const(right).is_none()
        }
        _ => false,
    })
}

fn equations_over(
    manager: &mut Manager,
    monomials: &[Vec<VarId>],
    samples: &[Sample],
    width: u32,
    out: &mut Vec<TermId>,
) {
    let row = |sample: &Sample| -> Option<Vec<i128>> {
        let mut row = vec![1];
        for monomial in monomials {
            let mut product = 1i128;
            for var in monomial {
                let value = sample[var];
                product = product.checked_mul(value).filter(|product| product.abs() < 1 << 40)?;
            }
            row.push(product);
        }
        Some(row)
    };
    let rows: Vec<Vec<i128>> = samples.iter().filter_map(row).collect();
    // Fewer samples than unknowns make equations that hold by chance.
    if rows.len() < monomials.len() + 3 {
        return;
    }
    let ty = IntTy { bits: width, signed: true };
    for coefficients in null_space(rows, monomials.len() + 1) {
        let mut sum = manager.encoder.constant(&mut manager.terms, coefficients[0], ty);
        for (monomial, &coefficient) in monomials.iter().zip(&coefficients[1..]) {
            if coefficient == 0 {
                continue;
            }
            let mut product = manager.encoder.constant(&mut manager.terms, coefficient, ty);
            for &var in monomial {
                let x = variable(manager, var);
                product = match manager.encoder.encoding() {
                    Encoding::Bitvector => manager.terms.bv_bin(BvBin::Mul, product, x),
                    Encoding::Integer => manager.terms.int_mul(product, x),
                };
            }
            sum = match manager.encoder.encoding() {
                Encoding::Bitvector => manager.terms.bv_bin(BvBin::Add, sum, product),
                Encoding::Integer => manager.terms.int_add(sum, product),
            };
        }
        let zero = manager.encoder.constant(&mut manager.terms, 0, ty);
        out.push(manager.terms.eq(sum, zero));
    }
}

/// Whether a candidate holds in a sample; also if the sample lacks one of its variables.
fn holds(manager: &Manager, program: &Program, term: TermId, sample: &Sample) -> bool {
    let mut known = true;
    let value = manager.terms.try_eval(term, &mut |symbol, _| {
        let value = manager.encoder.variable(symbol).and_then(|var| Some((var, *sample.get(&var)?)));
        match value {
            Some((var, value)) => manager.encoder.model_value(value, program.var(var).ty),
            None => {
                known = false;
                manager.terms.default_value(symbol)
            }
        }
    });
    !known || value == Some(Value::Bool(true))
}
