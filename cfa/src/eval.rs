// SPDX-License-Identifier: Apache-2.0
//! Exact concrete evaluation of expressions. Arithmetic wraps around; a division by zero, the division of the least
//! value by -1 and a shift by a negative or too large amount are reported as undefined.

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::exprs::Exprs;
use crate::floats;
use crate::ids::{ExprId, VarId};
use crate::ir::{BinOp, CmpOp, ExprKind, IntTy, UnOp};

/// Why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum Undefined {
    /// The right operand of `/` or `%` is 0.
    #[error("division by zero")]
    DivisionByZero,
    /// The quotient is greater than the greatest value of the type.
    #[error("overflow in a division")]
    DivisionOverflow,
    /// The right operand of `<<` or `>>` is negative or not less than the width.
    #[error("shift by a negative or too large amount")]
    ShiftOutOfRange,
    /// The integral part of a floating-point number is no value of the integer type it is converted to.
    #[error("conversion of a floating-point number out of the range of the integer type")]
    ConversionOutOfRange,
}

/// The value of a unary operator.
pub fn unary_value(op: UnOp, ty: IntTy, arg: i128) -> i128 {
    match op {
        UnOp::Neg => ty.wrap(-arg),
        UnOp::BitNot => ty.wrap(!arg),
    }
}

/// The value of a binary operator whose operands are values of `ty`.
pub fn binary_value(op: BinOp, ty: IntTy, left: i128, right: i128) -> Result<i128, Undefined> {
    let value = match op {
        BinOp::Add => left + right,
        BinOp::Sub => left - right,
        // 64-bit operands have a product of at most 128 bits; wrapping keeps the low bits exact.
        BinOp::Mul => left.wrapping_mul(right),
        BinOp::Div | BinOp::Rem if right == 0 => return Err(Undefined::DivisionByZero),
        BinOp::Div | BinOp::Rem if ty.signed && right == -1 && left == ty.min() => {
            return Err(Undefined::DivisionOverflow);
        }
        BinOp::Div => left / right,
        BinOp::Rem => left % right,
        BinOp::Shl | BinOp::Shr if right < 0 || right >= i128::from(ty.bits) => {
            return Err(Undefined::ShiftOutOfRange);
        }
        BinOp::Shl => left << right,
        BinOp::Shr => left >> right,
        BinOp::BitAnd => left & right,
        BinOp::BitOr => left | right,
        BinOp::BitXor => left ^ right,
    };
    Ok(ty.wrap(value))
}

/// The value of a comparison whose operands are values of one type.
pub fn cmp_value(op: CmpOp, left: i128, right: i128) -> bool {
    match op {
        CmpOp::Eq => left == right,
        CmpOp::Ne => left != right,
        CmpOp::Lt => left < right,
        CmpOp::Le => left <= right,
    }
}

/// The value of `id` when `value` gives the values of the variables (each in the range of its type). Operands that C
/// does not evaluate (the right one of `&&`, `||`, the branch of `?:` that is not chosen) are not evaluated either.
pub fn eval(exprs: &Exprs, id: ExprId, value: &mut dyn FnMut(VarId) -> i128) -> Result<i128, Undefined> {
    let mut evaluation = Evaluation { exprs, value, memo: FxHashMap::default() };
    evaluation.eval(id)
}

struct Evaluation<'e, 'v> {
    exprs: &'e Exprs,
    value: &'v mut dyn FnMut(VarId) -> i128,
    memo: FxHashMap<ExprId, i128>,
}

impl Evaluation<'_, '_> {
    // Recursion is fine: the lowering bounds the depth of expressions.
    fn eval(&mut self, id: ExprId) -> Result<i128, Undefined> {
        let exprs = self.exprs;
        let expr = exprs.get(id);
        match expr.kind {
            ExprKind::Const(value) => return Ok(value),
            ExprKind::Var(var) => return Ok((self.value)(var)),
            _ => {}
        }
        if let Some(value) = self.memo.get(&id) {
            return Ok(*value);
        }
        let value = match expr.kind {
            ExprKind::Const(_) | ExprKind::Var(_) => unreachable!("returned above"),
            ExprKind::Unary(op, arg) => unary_value(op, expr.ty, self.eval(arg)?),
            ExprKind::Binary(op, left, right) => {
                let left = self.eval(left)?;
                binary_value(op, expr.ty, left, self.eval(right)?)?
            }
            ExprKind::Cmp(op, left, right) => {
                let left = self.eval(left)?;
                i128::from(cmp_value(op, left, self.eval(right)?))
            }
            ExprKind::Not(arg) => i128::from(self.eval(arg)? == 0),
            ExprKind::And(left, right) => i128::from(self.eval(left)? != 0 && self.eval(right)? != 0),
            ExprKind::Or(left, right) => i128::from(self.eval(left)? != 0 || self.eval(right)? != 0),
            ExprKind::Ite(cond, yes, no) => {
                if self.eval(cond)? != 0 {
                    self.eval(yes)?
                } else {
                    self.eval(no)?
                }
            }
            ExprKind::Cast(arg) => expr.ty.wrap(self.eval(arg)?),
            ExprKind::Float(op, ty, left, right) => {
                let left = self.eval(left)?;
                floats::binary(op, ty, left, self.eval(right)?)
            }
            ExprKind::FloatFn(function, ty, arg) => floats::function(function, ty, self.eval(arg)?),
            ExprKind::FloatCmp(op, ty, left, right) => {
                let left = self.eval(left)?;
                i128::from(floats::compare(op, ty, left, self.eval(right)?))
            }
            ExprKind::FloatFromInt(to, arg) => floats::from_int(to, self.eval(arg)?),
            ExprKind::FloatToInt(from, arg) => floats::to_int(from, self.eval(arg)?, expr.ty)?,
            ExprKind::FloatToFloat(from, arg) => floats::convert(from, self.eval(arg)?),
        };
        self.memo.insert(id, value);
        Ok(value)
    }
}
