// SPDX-License-Identifier: Apache-2.0
//! What one iteration of a loop makes of variables: linear forms over the values at its beginning, modulo a power of two.
//!
//! A forward data-flow analysis from the head to the back edges. Machine arithmetic is a ring modulo 2^bits, and so is
//! every narrowing conversion, so the forms are exact under wrap-around. Whatever is not linear is unknown.

use std::collections::{BTreeMap, BTreeSet};

use cfa::{BinOp, ExprId, ExprKind, IntTy, LoopSite, NodeId, Op, Program, Scope, UnOp, VarId};

use crate::context::Site;
use crate::effects::Effects;
use crate::names;

/// `constant` plus the sum of the terms, modulo 2^bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sum {
    pub(crate) terms: BTreeMap<VarId, i128>,
    pub(crate) constant: i128,
    pub(crate) bits: u32,
}

impl Sum {
    pub(crate) fn constant(value: i128, bits: u32) -> Self {
        Self { terms: BTreeMap::new(), constant: residue(value, bits), bits }
    }

    pub(crate) fn var(var: VarId, bits: u32) -> Self {
        Self { terms: BTreeMap::from([(var, 1)]), constant: 0, bits }
    }

    /// The same modulo a smaller power of two.
    pub(crate) fn narrowed(&self, bits: u32) -> Self {
        let bits = bits.min(self.bits);
        let terms = self.terms.iter().map(|(var, factor)| (*var, residue(*factor, bits)));
        let terms = terms.filter(|(_, factor)| *factor != 0).collect();
        Self { terms, constant: residue(self.constant, bits), bits }
    }

    pub(crate) fn scaled(&self, factor: i128) -> Self {
        let times =
            |value: i128| residue(residue(value, self.bits).wrapping_mul(residue(factor, self.bits)), self.bits);
        let terms = self.terms.iter().map(|(var, value)| (*var, times(*value)));
        let terms = terms.filter(|(_, factor)| *factor != 0).collect();
        Self { terms, constant: times(self.constant), bits: self.bits }
    }

    pub(crate) fn plus(&self, other: &Sum) -> Self {
        let bits = self.bits.min(other.bits);
        let mut result = self.narrowed(bits);
        for (var, factor) in &other.terms {
            let sum = result.terms.get(var).copied().unwrap_or(0) + factor;
            result.terms.insert(*var, residue(sum, bits));
        }
        result.constant = residue(result.constant + other.constant, bits);
        result.terms.retain(|_, factor| *factor != 0);
        result
    }

    pub(crate) fn minus(&self, other: &Sum) -> Self {
        self.plus(&other.scaled(-1))
    }

    /// The value, if it is a constant.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// The residue modulo 2^bits.
pub(crate) fn residue(value: i128, bits: u32) -> i128 {
    IntTy { bits, signed: false }.wrap(value)
}

/// How a variable grows: `amount` is added in every complete iteration, and does not change itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Growth {
    pub(crate) var: VarId,
    pub(crate) amount: Sum,
}

/// The values of variables in terms of those at the beginning of the iteration; those that are missing are unchanged.
pub(crate) type Env = BTreeMap<VarId, Option<Sum>>;

/// What one complete iteration makes of the variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Updates {
    end: Env,
    /// The values at each location.
    at: BTreeMap<NodeId, Env>,
}

impl Updates {
    pub(crate) fn of(program: &Program, site: &LoopSite, effects: &Effects) -> Self {
        let Some(head) = site.head else { return Self::default() };
        let mut leaving: BTreeMap<NodeId, Vec<_>> = BTreeMap::new();
        for id in &site.edges {
            leaving.entry(program.edge(*id).src).or_default().push(*id);
        }
        let global = |var: &VarId| program.var(*var).scope == Scope::Global;
        let by_calls: BTreeSet<VarId> = effects.vars.iter().copied().filter(global).collect();
        let mut at: BTreeMap<NodeId, Env> = BTreeMap::from([(head, Env::new())]);
        let mut end: Option<Env> = None;
        let mut todo = vec![head];
        while let Some(node) = todo.pop() {
            for id in leaving.get(&node).into_iter().flatten() {
                let edge = program.edge(*id);
                let mut env = at[&node].clone();
                match &edge.op {
                    Op::Assign { var, value } => {
                        let bits = program.var(*var).ty.bits;
                        let value = linear_in(program, &env, *value, bits);
                        env.insert(*var, value);
                    }
                    Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. } => {
                        env.insert(*var, None);
                    }
                    Op::Call { result, .. } => {
                        env.extend(result.iter().map(|var| (*var, None)));
                        env.extend(by_calls.iter().map(|var| (*var, None)));
                    }
                    Op::Unsupported { .. } => return Self::default(),
                    Op::Skip | Op::Assume { .. } | Op::Store { .. } | Op::Free { .. } | Op::Zero { .. } => {}
                }
                if edge.dst == head {
                    end = Some(match end {
                        None => env,
                        Some(before) => join(program, &before, &env),
                    });
                    continue;
                }
                let joined = match at.get(&edge.dst) {
                    None => env,
                    Some(before) => join(program, before, &env),
                };
                if at.get(&edge.dst) != Some(&joined) {
                    at.insert(edge.dst, joined);
                    todo.push(edge.dst);
                }
            }
        }
        Self { end: end.unwrap_or_default(), at }
    }

    /// An iteration that ends with these values.
    pub(crate) fn of_path(end: Env) -> Self {
        Self { end, at: BTreeMap::new() }
    }

    /// The value of a variable after one iteration.
    pub(crate) fn after(&self, program: &Program, var: VarId) -> Option<Sum> {
        value(program, &self.end, var)
    }

    /// The value of an expression at a location of the loop, in terms of the values at the beginning of the iteration.
    pub(crate) fn value_at(&self, program: &Program, node: NodeId, expr: ExprId) -> Option<Sum> {
        linear(program, self.at.get(&node)?, expr)
    }

    /// Whether a variable has the same value at the beginning of each iteration.
    pub(crate) fn is_kept(&self, program: &Program, var: VarId) -> bool {
        self.after(program, var) == Some(Sum::var(var, program.var(var).ty.bits))
    }

    /// By how much one iteration changes a sum; fails with the variable that it changes in an unknown way.
    pub(crate) fn change(&self, program: &Program, sum: &Sum) -> Result<Sum, String> {
        let mut total = Sum::constant(0, sum.bits);
        for (var, factor) in &sum.terms {
            let unknown = || format!("it is not known what an iteration makes of '{}'", program.var(*var).name);
            let after = self.after(program, *var).filter(|after| after.bits >= sum.bits).ok_or_else(unknown)?;
            total = total.plus(&after.narrowed(sum.bits).minus(&Sum::var(*var, sum.bits)).scaled(*factor));
        }
        Ok(total)
    }

    /// How a variable grows, if every iteration adds the same to it.
    pub(crate) fn growth(&self, site: &Site<'_>, var: VarId) -> Option<Growth> {
        let program = site.program;
        names::integer(program, site.loop_site, var)?;
        let after = self.after(program, var)?;
        let amount = after.minus(&Sum::var(var, after.bits));
        let same = amount.terms.keys().all(|other| *other != var && self.is_kept(program, *other));
        same.then_some(Growth { var, amount })
    }
}

/// The value of a variable.
pub(crate) fn value(program: &Program, env: &Env, var: VarId) -> Option<Sum> {
    env.get(&var).cloned().unwrap_or_else(|| Some(Sum::var(var, program.var(var).ty.bits)))
}

fn join(program: &Program, one: &Env, other: &Env) -> Env {
    let mut result = Env::new();
    for var in one.keys().chain(other.keys()) {
        let (a, b) = (value(program, one, *var), value(program, other, *var));
        result.insert(*var, if a == b { a } else { None });
    }
    result
}

/// A linear form with the value of an expression modulo 2^bits; none if it is not linear or narrower.
pub(crate) fn linear_in(program: &Program, env: &Env, expr: ExprId, bits: u32) -> Option<Sum> {
    linear(program, env, expr).filter(|sum| sum.bits >= bits).map(|sum| sum.narrowed(bits))
}

/// A linear form with the value of an expression; none if it is not linear.
pub(crate) fn linear(program: &Program, env: &Env, expr: ExprId) -> Option<Sum> {
    let bits = program.exprs.ty(expr).bits;
    match program.exprs.get(expr).kind {
        ExprKind::Const(value) => Some(Sum::constant(value, bits)),
        ExprKind::Var(var) => value(program, env, var),
        ExprKind::Unary(UnOp::Neg, a) => Some(linear(program, env, a)?.scaled(-1)),
        ExprKind::Unary(UnOp::BitNot, a) => Some(linear(program, env, a)?.scaled(-1).plus(&Sum::constant(-1, bits))),
        ExprKind::Binary(BinOp::Add, a, b) => Some(linear(program, env, a)?.plus(&linear(program, env, b)?)),
        ExprKind::Binary(BinOp::Sub, a, b) => Some(linear(program, env, a)?.minus(&linear(program, env, b)?)),
        ExprKind::Binary(BinOp::Mul, a, b) => {
            let (a, b) = (linear(program, env, a)?, linear(program, env, b)?);
            match (a.as_constant(), b.as_constant()) {
                (Some(factor), _) => Some(b.narrowed(a.bits).scaled(factor)),
                (_, Some(factor)) => Some(a.narrowed(b.bits).scaled(factor)),
                (None, None) => None,
            }
        }
        ExprKind::Binary(BinOp::Shl, a, b) => {
            let amount = program.exprs.as_const(b).filter(|amount| (0..i128::from(bits)).contains(amount))?;
            Some(linear(program, env, a)?.scaled(1 << amount))
        }
        // Only the low bits of a narrower operand are known modulo a power of two.
        ExprKind::Cast(a) => Some(linear(program, env, a)?.narrowed(bits)),
        _ => None,
    }
}

/// The inverse of an odd number modulo 2^bits, by Newton's iteration: each step doubles the number of right bits.
pub(crate) fn inverse(odd: i128, bits: u32) -> i128 {
    let mut guess = odd;
    for _ in 0..6 {
        let error = residue(2 - residue(odd.wrapping_mul(guess), bits), bits);
        guess = residue(guess.wrapping_mul(error), bits);
    }
    guess
}

/// The unsigned type in which C computes modulo 2^bits without promotion to a signed type.
pub(crate) fn arithmetic(ty: IntTy) -> &'static str {
    if ty.bits <= 32 { "unsigned int" } else { "unsigned long long" }
}

/// A constant of that type.
pub(crate) fn number(value: i128, ty: IntTy) -> String {
    format!("{}{}", residue(value, ty.bits), if ty.bits <= 32 { "U" } else { "ULL" })
}

/// A sum in C, in the unsigned arithmetic for values of the given type; none if it is 0. Fails if a variable has no name.
pub(crate) fn sum_text(site: &Site<'_>, sum: &Sum, ty: IntTy) -> Result<Option<String>, String> {
    let mut parts = Vec::new();
    for (var, factor) in &sum.terms {
        let Some((name, _)) = names::integer(site.program, site.loop_site, *var) else {
            return Err(format!("the value of '{}' matters, which has no name there", site.program.var(*var).name));
        };
        let value = format!("({}){name}", arithmetic(ty));
        parts.push(if *factor == 1 { value } else { format!("{} * {value}", number(*factor, ty)) });
    }
    if sum.constant != 0 {
        parts.push(number(sum.constant, ty));
    }
    Ok((!parts.is_empty()).then(|| parts.join(" + ")))
}
