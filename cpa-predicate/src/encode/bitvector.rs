// SPDX-License-Identifier: Apache-2.0
//! The exact encoding of expressions as fixed-size bit-vectors.

use cfa::ir::{BinOp, CmpOp, Expr, ExprKind, UnOp};
use smt::{BvBin, BvCmp, BvUn, TermId, Terms};

use super::{Encoder, Inexact};

impl Encoder {
    pub(super) fn bitvector_value(&mut self, terms: &mut Terms, data: &Expr) -> Result<TermId, Inexact> {
        Ok(match data.kind {
            ExprKind::Unary(op, arg) => {
                let arg = self.value(terms, arg)?;
                let op = match op {
                    UnOp::Neg => BvUn::Neg,
                    UnOp::BitNot => BvUn::Not,
                };
                terms.bv_un(op, arg)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.value(terms, left)?;
                let right = self.value(terms, right)?;
                terms.bv_bin(operator(op, data.ty.signed), left, right)
            }
            ExprKind::Cast(arg) => {
                let from = self.expr(arg).ty;
                let arg = self.value(terms, arg)?;
                if data.ty.bits < from.bits {
                    terms.extract(data.ty.bits - 1, 0, arg)
                } else if data.ty.bits == from.bits {
                    arg
                } else if from.signed {
                    terms.sext(data.ty.bits, arg)
                } else {
                    terms.zext(data.ty.bits, arg)
                }
            }
            ExprKind::Const(_)
            | ExprKind::Var(_)
            | ExprKind::Cmp(..)
            | ExprKind::Not(_)
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Ite(..)
            | ExprKind::Float(..)
            | ExprKind::FloatFn(..)
            | ExprKind::FloatCmp(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => unreachable!("translated by the caller"),
        })
    }
}

fn operator(op: BinOp, signed: bool) -> BvBin {
    match (op, signed) {
        (BinOp::Add, _) => BvBin::Add,
        (BinOp::Sub, _) => BvBin::Sub,
        (BinOp::Mul, _) => BvBin::Mul,
        (BinOp::Div, true) => BvBin::Sdiv,
        (BinOp::Div, false) => BvBin::Udiv,
        (BinOp::Rem, true) => BvBin::Srem,
        (BinOp::Rem, false) => BvBin::Urem,
        (BinOp::Shl, _) => BvBin::Shl,
        (BinOp::Shr, true) => BvBin::Ashr,
        (BinOp::Shr, false) => BvBin::Lshr,
        (BinOp::BitAnd, _) => BvBin::And,
        (BinOp::BitOr, _) => BvBin::Or,
        (BinOp::BitXor, _) => BvBin::Xor,
    }
}

pub(super) fn compare(terms: &mut Terms, op: CmpOp, signed: bool, left: TermId, right: TermId) -> TermId {
    match op {
        CmpOp::Eq => terms.eq(left, right),
        CmpOp::Ne => {
            let equal = terms.eq(left, right);
            terms.not(equal)
        }
        CmpOp::Lt => terms.bv_cmp(if signed { BvCmp::Slt } else { BvCmp::Ult }, left, right),
        CmpOp::Le => terms.bv_cmp(if signed { BvCmp::Sle } else { BvCmp::Ule }, left, right),
    }
}
