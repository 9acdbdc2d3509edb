// SPDX-License-Identifier: Apache-2.0
//! Floating-point expressions as operations on the bits of their values, exact but for results that are no number: these have
//! one pattern of bits, as in the concrete evaluation.

use cfa::ir::{CmpOp, Expr, ExprKind, FloatFn, FloatOp, FloatTy};
use smt::{FpBin, FpCmp, FpUn, Rounding, TermId, Terms};

use super::{Encoder, Inexact};

impl Encoder {
    /// The value of a floating-point expression other than a comparison.
    pub(super) fn float_value(&mut self, terms: &mut Terms, data: &Expr) -> Result<TermId, Inexact> {
        Ok(match data.kind {
            ExprKind::Float(op, _, left, right) => {
                let (left, right) = (self.value(terms, left)?, self.value(terms, right)?);
                let op = match op {
                    FloatOp::Add => FpBin::Add,
                    FloatOp::Sub => FpBin::Sub,
                    FloatOp::Mul => FpBin::Mul,
                    FloatOp::Div => FpBin::Div,
                };
                terms.fp_bin(op, left, right)
            }
            ExprKind::FloatFn(function, _, arg) => {
                let arg = self.value(terms, arg)?;
                terms.fp_un(
                    match function {
                        FloatFn::Sqrt => FpUn::Sqrt,
                        FloatFn::Floor => FpUn::Round(Rounding::Down),
                        FloatFn::Ceil => FpUn::Round(Rounding::Up),
                        FloatFn::Trunc => FpUn::Round(Rounding::TowardZero),
                        FloatFn::Round => FpUn::Round(Rounding::NearestAway),
                        FloatFn::RoundEven => FpUn::Round(Rounding::NearestEven),
                    },
                    arg,
                )
            }
            ExprKind::FloatFromInt(to, arg) => {
                let signed = self.expr(arg).ty.signed;
                let arg = self.value(terms, arg)?;
                terms.fp_un(FpUn::FromInt { signed, bits: to.bits().bits }, arg)
            }
            ExprKind::FloatToInt(_, arg) => {
                let arg = self.value(terms, arg)?;
                terms.fp_un(FpUn::ToInt { signed: data.ty.signed, bits: data.ty.bits }, arg)
            }
            ExprKind::FloatToFloat(from, arg) => {
                let arg = self.value(terms, arg)?;
                terms.fp_un(FpUn::ToFloat { bits: from.other().bits().bits }, arg)
            }
            _ => unreachable!("translated by the caller"),
        })
    }
}

/// A comparison of the bits of two numbers.
pub(super) fn compare(terms: &mut Terms, op: CmpOp, _: FloatTy, left: TermId, right: TermId) -> TermId {
    match op {
        CmpOp::Eq => terms.fp_cmp(FpCmp::Eq, left, right),
        CmpOp::Ne => {
            let equal = terms.fp_cmp(FpCmp::Eq, left, right);
            terms.not(equal)
        }
        CmpOp::Lt => terms.fp_cmp(FpCmp::Lt, left, right),
        CmpOp::Le => terms.fp_cmp(FpCmp::Le, left, right),
    }
}
