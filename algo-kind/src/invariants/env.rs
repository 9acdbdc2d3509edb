// SPDX-License-Identifier: Apache-2.0
//! Abstract environments of the data-flow analysis: values of expressions, assignments and assumptions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::Program;
use cfa::ids::{ExprId, VarId};
use cfa::ir::{BinOp, CmpOp, ExprKind, IntTy, UnOp};

use super::value::Value;

/// A type in which sums of machine integers do not overflow.
const WIDE: IntTy = IntTy { bits: 96, signed: true };

/// How many orders of variables an environment keeps.
const ORDERS: usize = 16;

/// What is known about each variable; nothing about those that are absent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Env {
    values: BTreeMap<VarId, Rc<Value>>,
    /// Variables of which the first is at most the second, and less than it if so noted: differences of them do not wrap around.
    orders: BTreeSet<(VarId, VarId, Strict)>,
}

/// Whether one variable is less than another, not only at most as great.
type Strict = bool;

/// How environments are computed for a program.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'p> {
    pub(crate) program: &'p Program,
    /// The greatest number of ranges of a value.
    pub(crate) pieces: usize,
}

impl Env {
    pub(crate) fn get(&self, program: &Program, var: VarId) -> Value {
        self.values.get(&var).map_or_else(|| Value::top(program.var(var).ty), |value| (**value).clone())
    }

    /// The variable gets one of these values.
    pub(crate) fn set(&mut self, program: &Program, var: VarId, value: Value) {
        self.forget(var);
        self.know(program, var, value);
    }

    /// The variable, which is the same as before, has one of these values.
    fn know(&mut self, program: &Program, var: VarId, value: Value) {
        if value.is_top(program.var(var).ty) {
            self.values.remove(&var);
        } else {
            self.values.insert(var, Rc::new(value));
        }
    }

    /// The variable gets any value.
    pub(crate) fn forget(&mut self, var: VarId) {
        self.values.remove(&var);
        self.orders.retain(|&(less, more, _)| less != var && more != var);
    }

    /// One variable is at most another one.
    fn order(&mut self, less: VarId, more: VarId, strict: Strict) {
        if self.orders.len() < ORDERS && !self.orders.contains(&(less, more, true)) {
            self.orders.remove(&(less, more, false));
            self.orders.insert((less, more, strict));
        }
    }

    /// The least that is known of a difference because of the order of two variables.
    fn least_difference(&self, more: VarId, less: VarId) -> Option<i128> {
        let known = |strict| self.orders.contains(&(less, more, strict));
        known(true).then_some(1).or_else(|| known(false).then_some(0))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (VarId, &Value)> + '_ {
        self.values.iter().map(|(&var, value)| (var, &**value))
    }

    pub(crate) fn leq(&self, other: &Env) -> bool {
        let within = |(var, bound): (&VarId, &Rc<Value>)| {
            self.values.get(var).is_some_and(|value| Rc::ptr_eq(value, bound) || value.leq(bound))
        };
        other.values.iter().all(within)
            && other.orders.iter().all(|&(less, more, strict)| {
                self.least_difference(more, less).is_some_and(|least| least >= i128::from(strict))
            })
    }

    /// Combines what is known of the variables that both know.
    pub(crate) fn combine(&self, other: &Env, program: &Program, f: impl Fn(&Value, &Value, IntTy) -> Value) -> Env {
        let mut result = BTreeMap::new();
        for (&var, mine) in &self.values {
            let Some(theirs) = other.values.get(&var) else { continue };
            if Rc::ptr_eq(mine, theirs) || mine == theirs {
                result.insert(var, Rc::clone(mine));
                continue;
            }
            let ty = program.var(var).ty;
            let value = f(mine, theirs, ty);
            if !value.is_top(ty) {
                result.insert(var, Rc::new(value));
            }
        }
        let both = |&(less, more, strict): &(VarId, VarId, Strict)| {
            other.least_difference(more, less).map(|least| (less, more, strict && least > 0))
        };
        Env { values: result, orders: self.orders.iter().filter_map(both).collect() }
    }
}

impl Rules<'_> {
    pub(crate) fn join(&self, one: &Env, other: &Env) -> Env {
        one.combine(other, self.program, |a, b, _| a.join(b, self.pieces))
    }

    /// The values that an expression may have.
    pub(crate) fn eval(&self, env: &Env, id: ExprId) -> Value {
        let expr = self.program.exprs.get(id);
        let (ty, pieces) = (expr.ty, self.pieces);
        match &expr.kind {
            ExprKind::Const(value) => Value::constant(*value),
            ExprKind::Var(var) => env.get(self.program, *var),
            ExprKind::Unary(UnOp::Neg, arg) => self.eval(env, *arg).negated(ty, pieces),
            ExprKind::Unary(UnOp::BitNot, arg) => {
                self.eval(env, *arg).negated(WIDE, pieces).sub(&Value::constant(1), ty, pieces)
            }
            ExprKind::Binary(op, left, right) => {
                let least = match op {
                    BinOp::Sub => self.least_difference(env, *left, *right),
                    _ => None,
                };
                let (left, right) = (self.eval(env, *left), self.eval(env, *right));
                match op {
                    BinOp::Sub if let Some(least) = least => {
                        let exact = left.sub(&right, WIDE, pieces);
                        exact.meet(&Value::range(least, WIDE.max())).unwrap_or(exact).wrapped(ty, pieces)
                    }
                    BinOp::Add => left.add(&right, ty, pieces),
                    BinOp::Sub => left.sub(&right, ty, pieces),
                    BinOp::Mul => left.mul(&right, ty, pieces),
                    BinOp::Div => left.div(&right, ty, pieces),
                    BinOp::Rem => left.rem(&right, ty, pieces),
                    BinOp::Shl => left.shl(&right, ty, pieces),
                    BinOp::Shr => left.shr(&right, ty, pieces),
                    BinOp::BitAnd => left.bit_and(&right, ty, pieces),
                    BinOp::BitOr | BinOp::BitXor => left.bit_or(&right, ty),
                }
            }
            ExprKind::Cmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => match self.truth(env, id) {
                Some(truth) => Value::constant(i128::from(truth)),
                None => Value::range(0, 1),
            },
            ExprKind::Ite(cond, then, other) => match self.truth(env, *cond) {
                Some(true) => self.eval(env, *then),
                Some(false) => self.eval(env, *other),
                None => self.eval(env, *then).join(&self.eval(env, *other), pieces),
            },
            ExprKind::Cast(arg) => self.eval(env, *arg).wrapped(ty, pieces),
            _ => Value::top(ty),
        }
    }

    /// The least that the order of two variables says of their difference.
    fn least_difference(&self, env: &Env, left: ExprId, right: ExprId) -> Option<i128> {
        env.least_difference(self.variable(env, left)?, self.variable(env, right)?)
    }

    /// The variable whose value an expression has.
    fn variable(&self, env: &Env, id: ExprId) -> Option<VarId> {
        let expr = self.program.exprs.get(id);
        match expr.kind {
            ExprKind::Var(var) => Some(var),
            // A conversion that keeps all values.
            ExprKind::Cast(arg) if self.eval(env, arg).within(expr.ty) => self.variable(env, arg),
            _ => None,
        }
    }

    /// Whether an expression is always non-zero or always zero.
    pub(crate) fn truth(&self, env: &Env, id: ExprId) -> Option<bool> {
        match &self.program.exprs.get(id).kind {
            ExprKind::Cmp(op, left, right) => {
                let (left, right) = (self.eval(env, *left), self.eval(env, *right));
                let equal = || match (left.as_constant(), right.as_constant()) {
                    (Some(a), Some(b)) => Some(a == b),
                    _ if !left.may_equal(&right) => Some(false),
                    _ => None,
                };
                match op {
                    CmpOp::Eq => equal(),
                    CmpOp::Ne => equal().map(|truth| !truth),
                    CmpOp::Lt if left.high() < right.low() => Some(true),
                    CmpOp::Lt if left.low() >= right.high() => Some(false),
                    CmpOp::Le if left.high() <= right.low() => Some(true),
                    CmpOp::Le if left.low() > right.high() => Some(false),
                    CmpOp::Lt | CmpOp::Le => None,
                }
            }
            ExprKind::Not(arg) => self.truth(env, *arg).map(|truth| !truth),
            ExprKind::And(left, right) => match (self.truth(env, *left), self.truth(env, *right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            ExprKind::Or(left, right) => match (self.truth(env, *left), self.truth(env, *right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            ExprKind::FloatCmp(..) => None,
            _ => {
                let value = self.eval(env, id);
                if value.contains(0) { value.as_constant().map(|_| false) } else { Some(true) }
            }
        }
    }

    /// The environment where an expression is non-zero (`truth`) or zero; none if there is none.
    pub(crate) fn assume(&self, env: &Env, id: ExprId, truth: bool) -> Option<Env> {
        match (&self.program.exprs.get(id).kind, truth) {
            (ExprKind::Not(arg), _) => self.assume(env, *arg, !truth),
            (ExprKind::And(left, right), true) | (ExprKind::Or(left, right), false) => {
                let env = self.assume(env, *left, truth)?;
                self.assume(&env, *right, truth)
            }
            (ExprKind::And(left, right), false) | (ExprKind::Or(left, right), true) => {
                match (self.assume(env, *left, truth), self.assume(env, *right, truth)) {
                    (Some(one), Some(other)) => Some(self.join(&one, &other)),
                    (one, other) => one.or(other),
                }
            }
            (ExprKind::Cmp(op, left, right), _) => {
                if self.truth(env, id) == Some(!truth) {
                    return None;
                }
                self.compare(env, *op, *left, *right, truth)
            }
            (ExprKind::Cast(arg), _) if self.program.exprs.get(*arg).ty.bits <= self.program.exprs.get(id).ty.bits => {
                self.assume(env, *arg, truth)
            }
            (ExprKind::FloatCmp(..), _) => Some(env.clone()),
            _ => {
                let value = self.eval(env, id);
                let value = if truth { value.without(0, self.pieces) } else { value.meet(&Value::constant(0)) }?;
                self.restrict(env, id, &value)
            }
        }
    }

    fn compare(&self, env: &Env, op: CmpOp, left: ExprId, right: ExprId, truth: bool) -> Option<Env> {
        let (a, b) = (self.eval(env, left), self.eval(env, right));
        let top = self.program.exprs.get(left).ty;
        let (new_a, new_b) = match (op, truth) {
            (CmpOp::Eq, true) | (CmpOp::Ne, false) => {
                let both = a.meet(&b)?;
                (both.clone(), both)
            }
            (CmpOp::Ne, true) | (CmpOp::Eq, false) => {
                let less = |value: &Value, other: &Value| match other.as_constant() {
                    Some(constant) => value.without(constant, self.pieces),
                    None => Some(value.clone()),
                };
                (less(&a, &b)?, less(&b, &a)?)
            }
            // Bounds beyond the type make empty ranges, which the meets below refuse.
            (CmpOp::Lt, true) => (at_most(&a, b.high() - 1, top)?, at_least(&b, a.low() + 1, top)?),
            (CmpOp::Le, true) => (at_most(&a, b.high(), top)?, at_least(&b, a.low(), top)?),
            (CmpOp::Lt, false) => (at_least(&a, b.low(), top)?, at_most(&b, a.high(), top)?),
            (CmpOp::Le, false) => (at_least(&a, b.low() + 1, top)?, at_most(&b, a.high() - 1, top)?),
        };
        let env = self.restrict(env, left, &new_a)?;
        let mut env = self.restrict(&env, right, &new_b)?;
        if let (Some(left), Some(right)) = (self.variable(&env, left), self.variable(&env, right)) {
            match (op, truth) {
                (CmpOp::Lt | CmpOp::Le, true) => env.order(left, right, op == CmpOp::Lt),
                (CmpOp::Lt | CmpOp::Le, false) => env.order(right, left, op == CmpOp::Le),
                _ => {}
            }
        }
        Some(env)
    }

    /// The environment where an expression has one of the given values, which are all values of its type.
    fn restrict(&self, env: &Env, id: ExprId, allowed: &Value) -> Option<Env> {
        let expr = self.program.exprs.get(id);
        match &expr.kind {
            ExprKind::Var(var) => {
                let value = env.get(self.program, *var).meet(allowed)?;
                let mut env = env.clone();
                env.know(self.program, *var, value);
                Some(env)
            }
            ExprKind::Const(value) => allowed.contains(*value).then(|| env.clone()),
            ExprKind::Cast(arg) => {
                // A conversion that keeps all values the argument may have is no conversion.
                if self.eval(env, *arg).within(expr.ty) { self.restrict(env, *arg, allowed) } else { Some(env.clone()) }
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), left, right) => {
                let Some(offset) = self.eval(env, *right).as_constant() else { return Some(env.clone()) };
                let offset = if *op == BinOp::Add { offset } else { -offset };
                let value = self.eval(env, *left);
                if value.low() + offset < expr.ty.min() || value.high() + offset > expr.ty.max() {
                    return Some(env.clone());
                }
                let moved = allowed.sub(&Value::constant(offset), WIDE, self.pieces);
                self.restrict(env, *left, &moved.meet(&value)?)
            }
            ExprKind::Binary(BinOp::Rem, left, right) => {
                let (value, divisor) = (self.eval(env, *left), self.eval(env, *right).as_constant());
                match (divisor, allowed.as_constant()) {
                    // For a dividend of any sign, a remainder of zero means that it is a multiple.
                    (Some(divisor), Some(rest)) if divisor > 1 && (value.low() >= 0 || rest == 0) => {
                        self.restrict(env, *left, &value.meet_congruence(divisor, rest)?)
                    }
                    _ => Some(env.clone()),
                }
            }
            _ => Some(env.clone()),
        }
    }
}

fn at_most(value: &Value, bound: i128, ty: IntTy) -> Option<Value> {
    if bound < ty.min() { None } else { value.meet(&Value::range(ty.min(), bound.min(ty.max()))) }
}

fn at_least(value: &Value, bound: i128, ty: IntTy) -> Option<Value> {
    if bound > ty.max() { None } else { value.meet(&Value::range(bound.max(ty.min()), ty.max())) }
}
