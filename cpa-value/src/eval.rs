// SPDX-License-Identifier: Apache-2.0
//! Partial evaluation: the value of an expression, if the known values decide it.
//!
//! An operand without value does no harm where the operator ignores it (a zero factor, one side of `&&`), and a comparison
//! can be decided by what an operand may be at most and at least. Operations that are undefined in C have no value here.

use std::cell::Cell as StdCell;

use cfa::eval::{binary_value, cmp_value, unary_value};
use cfa::{BinOp, CmpOp, ExprId, ExprKind, Exprs, FloatTy, IntTy, VarId, floats};
use rustc_hash::FxHashMap;

/// Expressions that are bigger than this as trees are evaluated with a table of results.
const BIG: u32 = 4096;

/// One evaluation; `value` gives the values of the variables.
pub(crate) struct Eval<'a, F> {
    exprs: &'a Exprs,
    value: F,
    /// Results, for big expressions.
    memo: Option<FxHashMap<ExprId, Option<i128>>>,
    /// How many bounds are still worth looking for.
    fuel: StdCell<u32>,
}

impl<'a, F: Fn(VarId, IntTy) -> Option<i128>> Eval<'a, F> {
    pub(crate) fn new(exprs: &'a Exprs, sizes: &[u32], root: ExprId, value: F) -> Self {
        let memo = (sizes[root.index()] > BIG).then(FxHashMap::default);
        Self { exprs, value, memo, fuel: StdCell::new(64) }
    }

    /// The value of an expression, if it is known.
    // Recursion is fine: the lowering bounds the depth of expressions.
    pub(crate) fn eval(&mut self, id: ExprId) -> Option<i128> {
        let expr = self.exprs.get(id);
        match expr.kind {
            ExprKind::Const(value) => return Some(value),
            ExprKind::Var(var) => return (self.value)(var, expr.ty),
            _ => {}
        }
        if let Some(memo) = &self.memo
            && let Some(known) = memo.get(&id)
        {
            return *known;
        }
        let value = self.compute(id);
        if let Some(memo) = &mut self.memo {
            memo.insert(id, value);
        }
        value
    }

    fn compute(&mut self, id: ExprId) -> Option<i128> {
        let exprs = self.exprs;
        let expr = exprs.get(id);
        match expr.kind {
            ExprKind::Const(value) => Some(value),
            ExprKind::Var(var) => (self.value)(var, expr.ty),
            ExprKind::Unary(op, arg) => Some(unary_value(op, expr.ty, self.eval(arg)?)),
            ExprKind::Binary(op, left, right) => self.binary(op, expr.ty, left, right),
            ExprKind::Cmp(op, left, right) => self.cmp(op, left, right).map(i128::from),
            ExprKind::Not(arg) => self.truth(arg).map(|truth| i128::from(!truth)),
            ExprKind::And(left, right) => match self.truth(left) {
                Some(false) => Some(0),
                Some(true) => self.truth(right).map(i128::from),
                None if self.truth(right) == Some(false) => Some(0),
                None => None,
            },
            ExprKind::Or(left, right) => match self.truth(left) {
                Some(true) => Some(1),
                Some(false) => self.truth(right).map(i128::from),
                None if self.truth(right) == Some(true) => Some(1),
                None => None,
            },
            ExprKind::Ite(cond, yes, no) => match self.truth(cond) {
                Some(true) => self.eval(yes),
                Some(false) => self.eval(no),
                None => {
                    let yes = self.eval(yes)?;
                    (self.eval(no)? == yes).then_some(yes)
                }
            },
            ExprKind::Cast(arg) => self.eval(arg).map(|value| expr.ty.wrap(value)),
            ExprKind::Float(op, ty, left, right) => match (self.eval(left), self.eval(right)) {
                (Some(left), Some(right)) => Some(floats::binary(op, ty, left, right)),
                (Some(known), None) | (None, Some(known)) if is_nan(ty, known) => {
                    Some(floats::binary(op, ty, known, known))
                }
                (Some(_), None) | (None, Some(_)) | (None, None) => None,
            },
            ExprKind::FloatFn(function, ty, arg) => Some(floats::function(function, ty, self.eval(arg)?)),
            ExprKind::FloatCmp(op, ty, left, right) => match (self.eval(left), self.eval(right)) {
                (Some(left), Some(right)) => Some(i128::from(floats::compare(op, ty, left, right))),
                (Some(known), None) | (None, Some(known)) if is_nan(ty, known) => Some(0),
                (Some(_), None) | (None, Some(_)) | (None, None) => None,
            },
            ExprKind::FloatFromInt(to, arg) => Some(floats::from_int(to, self.eval(arg)?)),
            ExprKind::FloatToInt(from, arg) => floats::to_int(from, self.eval(arg)?, expr.ty).ok(),
            ExprKind::FloatToFloat(from, arg) => Some(floats::convert(from, self.eval(arg)?)),
        }
    }

    /// Whether an expression is non-zero, if that is known.
    pub(crate) fn truth(&mut self, id: ExprId) -> Option<bool> {
        self.eval(id).map(|value| value != 0)
    }

    fn binary(&mut self, op: BinOp, ty: IntTy, left: ExprId, right: ExprId) -> Option<i128> {
        let (l, r) = (self.eval(left), self.eval(right));
        if let (Some(l), Some(r)) = (l, r) {
            return binary_value(op, ty, l, r).ok();
        }
        match op {
            BinOp::Mul | BinOp::BitAnd if l == Some(0) || r == Some(0) => Some(0),
            BinOp::BitOr if l == Some(ty.wrap(-1)) || r == Some(ty.wrap(-1)) => Some(ty.wrap(-1)),
            BinOp::Sub | BinOp::BitXor if left == right && self.exprs.is_total(left) => Some(0),
            BinOp::Rem if r == Some(1) || (ty.signed && r == Some(-1)) => Some(0),
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Rem
            | BinOp::Shl
            | BinOp::Shr
            | BinOp::BitAnd
            | BinOp::BitOr
            | BinOp::BitXor => None,
        }
    }

    fn cmp(&mut self, op: CmpOp, left: ExprId, right: ExprId) -> Option<bool> {
        let (l, r) = (self.eval(left), self.eval(right));
        if let (Some(l), Some(r)) = (l, r) {
            return Some(cmp_value(op, l, r));
        }
        if left == right && self.exprs.is_total(left) {
            return Some(matches!(op, CmpOp::Eq | CmpOp::Le));
        }
        let (left, right) = (self.bounds(left, l), self.bounds(right, r));
        let apart = left.1 < right.0 || right.1 < left.0;
        match op {
            CmpOp::Eq if apart => Some(false),
            CmpOp::Ne if apart => Some(true),
            CmpOp::Lt if left.1 < right.0 => Some(true),
            CmpOp::Lt if right.1 <= left.0 => Some(false),
            CmpOp::Le if left.1 <= right.0 => Some(true),
            CmpOp::Le if right.1 < left.0 => Some(false),
            CmpOp::Eq | CmpOp::Ne | CmpOp::Lt | CmpOp::Le => None,
        }
    }

    /// The least and greatest value an expression may have.
    fn bounds(&mut self, id: ExprId, known: Option<i128>) -> (i128, i128) {
        if let Some(value) = known {
            return (value, value);
        }
        let exprs = self.exprs;
        let expr = exprs.get(id);
        let full = (expr.ty.min(), expr.ty.max());
        let fuel = self.fuel.get();
        if fuel == 0 {
            return full;
        }
        self.fuel.set(fuel - 1);
        let inside = |(low, high): (i128, i128)| {
            if full.0 <= low && high <= full.1 { (low, high) } else { full }
        };
        match expr.kind {
            ExprKind::Cast(arg) => {
                let inner = self.known_bounds(arg);
                inside(inner)
            }
            ExprKind::Cmp(..) | ExprKind::FloatCmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => {
                (0, 1)
            }
            ExprKind::Ite(_, yes, no) => {
                let (yes, no) = (self.known_bounds(yes), self.known_bounds(no));
                (yes.0.min(no.0), yes.1.max(no.1))
            }
            ExprKind::Binary(BinOp::BitAnd, left, right) => {
                // A non-negative operand bounds the result, whatever the other one is.
                let (left, right) = (self.known_bounds(left), self.known_bounds(right));
                match (left.0 >= 0, right.0 >= 0) {
                    (true, true) => (0, left.1.min(right.1)),
                    (true, false) => (0, left.1),
                    (false, true) => (0, right.1),
                    (false, false) => full,
                }
            }
            ExprKind::Binary(BinOp::Rem, left, right) => {
                let (left, right) = (self.known_bounds(left), self.known_bounds(right));
                if right.0 <= 0 {
                    return full;
                }
                let most = right.1 - 1;
                (if left.0 >= 0 { 0 } else { (-most).max(left.0) }, if left.1 <= 0 { 0 } else { most.min(left.1) })
            }
            ExprKind::Binary(BinOp::Shr, left, right) => {
                let (left, right) = (self.known_bounds(left), self.known_bounds(right));
                if left.0 < 0 || right.0 < 0 || right.1 >= i128::from(expr.ty.bits) {
                    return full;
                }
                (left.0 >> right.1, left.1 >> right.0)
            }
            ExprKind::Binary(BinOp::Div, left, right) => {
                let (left, right) = (self.known_bounds(left), self.known_bounds(right));
                if left.0 < 0 || right.0 <= 0 {
                    return full;
                }
                (left.0 / right.1, left.1 / right.0)
            }
            ExprKind::Binary(BinOp::Add, left, right) => {
                let (left, right) = (self.known_bounds(left), self.known_bounds(right));
                inside((left.0 + right.0, left.1 + right.1))
            }
            ExprKind::Binary(BinOp::Sub, left, right) => {
                let (left, right) = (self.known_bounds(left), self.known_bounds(right));
                inside((left.0 - right.1, left.1 - right.0))
            }
            ExprKind::Const(_)
            | ExprKind::Var(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Float(..)
            | ExprKind::FloatFn(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => full,
        }
    }

    fn known_bounds(&mut self, id: ExprId) -> (i128, i128) {
        let known = self.eval(id);
        self.bounds(id, known)
    }
}

fn is_nan(ty: FloatTy, bits: i128) -> bool {
    !floats::compare(CmpOp::Eq, ty, bits, bits)
}
