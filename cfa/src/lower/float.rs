// SPDX-License-Identifier: Apache-2.0
//! Floating-point values: `float` and `double` as the bits of IEEE 754 numbers, evaluated in the format of their type
//! (`FLT_EVAL_METHOD` is 0), rounded to nearest. `long double` has no representation.

use crate::ast::{Binary, Range};
use crate::ids::ExprId;
use crate::ir::{BinOp, CmpOp, FloatOp, FloatTy, IntTy};
use crate::types::Type;

use super::{Lower, Val};

impl Lower<'_> {
    /// The type of a format.
    pub(super) fn float_type(&self, format: FloatTy) -> Type {
        Type::of_format(format, self.machine)
    }

    /// The format of the usual arithmetic conversions, C11 6.3.1.8, if one of the operands is a number in such a format
    /// and none has an extended one.
    pub(super) fn common_format(&self, left: &Val, right: &Val) -> Option<FloatTy> {
        let format = |value: &Val| match value {
            Val::Int(_, ty) => ty.format(),
            _ => None,
        };
        match (format(left), format(right)) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (Some(a), None) if matches!(right, Val::Int(..)) => Some(a),
            (None, Some(b)) if matches!(left, Val::Int(..)) => Some(b),
            _ => None,
        }
    }

    /// The bits of an arithmetic value in a format.
    pub(super) fn in_format(&mut self, value: Val, to: FloatTy, range: Range) -> ExprId {
        let (expr, ty) = self.integer(value, range);
        match ty.format() {
            Some(from) if from == to => expr,
            Some(from) => self.exprs.float_to_float(from, expr),
            None => self.exprs.float_from_int(to, expr),
        }
    }

    /// An arithmetic operator or comparison on floating-point numbers; none if the operator has no such meaning.
    pub(super) fn float_arithmetic(
        &mut self,
        op: Binary,
        format: FloatTy,
        left: Val,
        right: Val,
        range: Range,
    ) -> Option<Val> {
        let left = self.in_format(left, format, range);
        let right = self.in_format(right, format, range);
        let arithmetic = match op {
            Binary::Add => Some(FloatOp::Add),
            Binary::Sub => Some(FloatOp::Sub),
            Binary::Mul => Some(FloatOp::Mul),
            Binary::Div => Some(FloatOp::Div),
            _ => None,
        };
        if let Some(op) = arithmetic {
            let expr = self.exprs.float(op, format, left, right);
            return Some(Val::Int(self.bounded(expr, range), self.float_type(format)));
        }
        let expr = match op {
            Binary::Lt => self.exprs.float_cmp(CmpOp::Lt, format, left, right),
            Binary::Le => self.exprs.float_cmp(CmpOp::Le, format, left, right),
            Binary::Gt => self.exprs.float_cmp(CmpOp::Lt, format, right, left),
            Binary::Ge => self.exprs.float_cmp(CmpOp::Le, format, right, left),
            Binary::Eq => self.exprs.float_cmp(CmpOp::Eq, format, left, right),
            Binary::Ne => {
                let equal = self.exprs.float_cmp(CmpOp::Eq, format, left, right);
                self.exprs.not(equal)
            }
            _ => return None,
        };
        Some(Val::Int(self.bounded(expr, range), Type::INT))
    }

    /// The bits with the sign changed; also for what is not a number.
    pub(super) fn negated(&mut self, expr: ExprId, format: FloatTy) -> ExprId {
        let sign = self.sign_bit(format);
        self.exprs.binary(BinOp::BitXor, expr, sign)
    }

    pub(super) fn sign_bit(&mut self, format: FloatTy) -> ExprId {
        let ty = format.bits();
        self.exprs.constant(ty, 1 << (ty.bits - 1))
    }

    /// An integer that is 0 exactly if the value compares equal to 0, C11 6.3.1.2.
    pub(super) fn condition(&mut self, value: Val, range: Range) -> ExprId {
        let (expr, ty) = self.integer(value, range);
        match ty.format() {
            Some(format) => self.float_truth(expr, format),
            None => expr,
        }
    }

    /// 1 unless the number is one of the zeros.
    fn float_truth(&mut self, expr: ExprId, format: FloatTy) -> ExprId {
        let zero = self.exprs.constant(format.bits(), 0);
        let equal = self.exprs.float_cmp(CmpOp::Eq, format, expr, zero);
        self.exprs.not(equal)
    }

    /// A number converted to an integer type or `_Bool`.
    pub(super) fn float_as_integer(&mut self, expr: ExprId, from: FloatTy, to: &Type, storage: IntTy) -> ExprId {
        if *to == Type::Bool {
            let truth = self.float_truth(expr, from);
            return self.exprs.cast(truth, storage);
        }
        self.exprs.float_to_int(from, expr, storage)
    }
}
