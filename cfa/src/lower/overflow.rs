// SPDX-License-Identifier: Apache-2.0
//! `__builtin_add_overflow` and its relatives: they store the result, which wraps around, and say whether it is another
//! number than the exact one. Left out: operands of 64 bits that need not fit into the type of the
//! result.

use crate::ast::{ExprRef, Range};
use crate::ids::ExprId;
use crate::ir::{BinOp, CmpOp, IntTy};
use crate::types::{MachineModel, Type};

use super::place::{Lvalue, Place};
use super::{Lower, Val};

const LONG: IntTy = IntTy { bits: 64, signed: true };

/// The operator of a function of this kind, and the type of its parameters unless it takes any.
fn known(name: &str, machine: MachineModel) -> Option<(BinOp, Option<IntTy>)> {
    let stem = name.strip_prefix("__builtin_")?.strip_suffix("_overflow")?;
    let operator = |name: &str| match name {
        "add" => Some(BinOp::Add),
        "sub" => Some(BinOp::Sub),
        "mul" => Some(BinOp::Mul),
        _ => None,
    };
    if let Some(op) = operator(stem) {
        return Some((op, None));
    }
    let bits = match stem.get(4..)? {
        "" => 32,
        "l" => machine.long_bits(),
        "ll" => 64,
        _ => return None,
    };
    let signed = match stem.as_bytes()[0] {
        b's' => true,
        b'u' => false,
        _ => return None,
    };
    Some((operator(stem.get(1..4)?)?, Some(IntTy { bits, signed })))
}

/// Whether all numbers of a type are numbers of the other one.
fn is_within(ty: IntTy, other: IntTy) -> bool {
    other.min() <= ty.min() && ty.max() <= other.max()
}

impl<'a> Lower<'a> {
    /// The value of a call, if it is one of these functions.
    pub(super) fn overflow(&mut self, name: &str, args: &'a [ExprRef], range: Range) -> Option<Val> {
        let (op, of) = known(name, self.machine)?;
        let params: Vec<Type> = of.map(|ty| vec![Type::Int(ty), Type::Int(ty)]).unwrap_or_default();
        let mut values = self.arguments(args, &params, range);
        self.call_site(name, range);
        let refused = format!("call of '{name}' with operands of these types");
        let (Some(Val::Int(place, Type::Pointer(result))), Some(right), Some(left), true) =
            (values.pop(), values.pop(), values.pop(), values.is_empty())
        else {
            return Some(self.refused(refused, range));
        };
        let (Type::Int(ty), Val::Int(left, left_ty), Val::Int(right, right_ty)) = (&*result, left, right) else {
            return Some(self.refused(refused, range));
        };
        if left_ty.is_float() || right_ty.is_float() || left_ty.is_pointer_like() || right_ty.is_pointer_like() {
            return Some(self.refused(refused, range));
        }
        let ty = *ty;
        let (left, right) = (self.saved(left, range), self.saved(right, range));
        let narrow = self.exprs.ty(left).bits <= 32 && self.exprs.ty(right).bits <= 32;
        let (value, overflows) = if narrow {
            self.by_wider_type(op, left, right, ty)
        } else if is_within(self.exprs.ty(left), ty) && is_within(self.exprs.ty(right), ty) {
            let (left, right) = (self.exprs.cast(left, ty), self.exprs.cast(right, ty));
            self.by_result(op, left, right)
        } else {
            return Some(self.refused(refused, range));
        };
        let overflows = self.saved(overflows, range);
        let target = Lvalue::new(Place::Memory(place), Type::Int(ty));
        self.write(&target, value, range);
        let truth = self.exprs.truth(overflows);
        let storage = Type::Bool.storage(self.machine).expect("truth values are stored");
        Some(Val::Int(self.exprs.cast(truth, storage), Type::Bool))
    }

    /// Operands of at most 32 bits: 64 bits hold the exact result.
    fn by_wider_type(&mut self, op: BinOp, left: ExprId, right: ExprId, ty: IntTy) -> (ExprId, ExprId) {
        let signed = op != BinOp::Mul || self.exprs.ty(left).signed || self.exprs.ty(right).signed;
        let wide = IntTy { signed, ..LONG };
        let (left, right) = (self.exprs.cast(left, wide), self.exprs.cast(right, wide));
        let exact = self.exprs.binary(op, left, right);
        let value = self.exprs.cast(exact, ty);
        let back = self.exprs.cast(value, wide);
        let changed = self.exprs.cmp(CmpOp::Ne, back, exact);
        // The same bits may be two numbers if one of the types has a sign.
        let (before, after) = (self.is_negative(exact), self.is_negative(value));
        let sign = self.exprs.cmp(CmpOp::Ne, before, after);
        (value, self.exprs.or(changed, sign))
    }

    /// Operands and result of one type: the result tells.
    fn by_result(&mut self, op: BinOp, left: ExprId, right: ExprId) -> (ExprId, ExprId) {
        let ty = self.exprs.ty(left);
        let value = self.exprs.binary(op, left, right);
        let overflows = match (op, ty.signed) {
            (BinOp::Add, false) => self.exprs.cmp(CmpOp::Lt, value, left),
            (BinOp::Sub, false) => self.exprs.cmp(CmpOp::Lt, left, right),
            (BinOp::Add | BinOp::Sub, true) => {
                // An overflow is where the result has another sign than the left operand, and the right one leads there.
                let minus = self.is_negative(right);
                let zero = self.exprs.truth_const(op == BinOp::Add);
                let down = self.exprs.cmp(CmpOp::Eq, minus, zero);
                let (less, greater) = (self.exprs.cmp(CmpOp::Lt, value, left), self.exprs.cmp(CmpOp::Lt, left, value));
                self.exprs.ite(down, greater, less)
            }
            (_, signed) => {
                let (zero, one) = (self.exprs.constant(ty, 0), self.exprs.constant(ty, 1));
                let minus_one = self.exprs.constant(ty, if signed { -1 } else { 0 });
                let (is_zero, is_minus_one) =
                    (self.exprs.cmp(CmpOp::Eq, left, zero), self.exprs.cmp(CmpOp::Eq, left, minus_one));
                let special = self.exprs.or(is_zero, is_minus_one);
                let divisor = self.exprs.ite(special, one, left);
                let quotient = self.exprs.binary(BinOp::Div, value, divisor);
                let usual = self.exprs.cmp(CmpOp::Ne, quotient, right);
                let least = self.exprs.constant(ty, ty.min());
                let of_minus_one = self.exprs.cmp(CmpOp::Eq, right, least);
                let never = self.exprs.truth_const(false);
                let otherwise = self.exprs.ite(is_minus_one, of_minus_one, usual);
                self.exprs.ite(is_zero, never, otherwise)
            }
        };
        (value, overflows)
    }

    fn is_negative(&mut self, value: ExprId) -> ExprId {
        let zero = self.exprs.constant(self.exprs.ty(value), 0);
        self.exprs.cmp(CmpOp::Lt, value, zero)
    }
}
