// SPDX-License-Identifier: Apache-2.0
//! The encoding of expressions as integers: every value lies in the range of its type, and a result that may leave it is
//! brought back by the multiple of 2^bits that C's wrap-around subtracts.
//!
//! Ranges of subexpressions are followed, so most additions need no correction or a single case distinction. Products of
//! variables and general bit operations have no exact linear encoding and are [`Inexact`].

use cfa::ids::ExprId;
use cfa::ir::{BinOp, CmpOp, Expr, ExprKind, IntTy, UnOp};
use smt::{TermId, Terms};

use super::{Encoder, Inexact};

/// A term with bounds that its value never leaves.
#[derive(Clone, Copy)]
struct Ranged {
    term: TermId,
    low: i128,
    high: i128,
}

impl Ranged {
    fn constant(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    fn within(self, ty: IntTy) -> bool {
        ty.min() <= self.low && self.high <= ty.max()
    }
}

impl Encoder {
    pub(super) fn integer_value(&mut self, terms: &mut Terms, expr: ExprId, data: &Expr) -> Result<TermId, Inexact> {
        let ty = data.ty;
        let result = match data.kind {
            ExprKind::Unary(op, arg) => {
                let arg = self.ranged(terms, arg)?;
                let negated = scale(terms, -1, arg);
                match op {
                    UnOp::Neg => wrap(terms, negated, ty),
                    // ~x is -x - 1 for signed and 2^bits - 1 - x for unsigned numbers.
                    UnOp::BitNot => shift(terms, negated, if ty.signed { -1 } else { ty.max() }),
                }
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.ranged(terms, left)?;
                let right = self.ranged(terms, right)?;
                binary(terms, op, left, right, ty)?
            }
            ExprKind::Cast(arg) => {
                let arg = self.ranged(terms, arg)?;
                wrap(terms, arg, ty)
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
        };
        self.ranges.insert(expr, (result.low, result.high));
        Ok(result.term)
    }

    fn ranged(&mut self, terms: &mut Terms, expr: ExprId) -> Result<Ranged, Inexact> {
        let term = self.value(terms, expr)?;
        let (low, high) = self.range(expr);
        Ok(Ranged { term, low, high })
    }

    /// Bounds of an expression's value.
    fn range(&mut self, expr: ExprId) -> (i128, i128) {
        if let Some(&known) = self.ranges.get(&expr) {
            return known;
        }
        let data = self.expr(expr);
        let range = match data.kind {
            ExprKind::Const(value) => (value, value),
            ExprKind::Cmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => (0, 1),
            ExprKind::Ite(_, then, other) => {
                let (a, b) = (self.range(then), self.range(other));
                (a.0.min(b.0), a.1.max(b.1))
            }
            ExprKind::FloatCmp(..) => (0, 1),
            ExprKind::Var(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cast(_)
            | ExprKind::Float(..)
            | ExprKind::FloatFn(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => (data.ty.min(), data.ty.max()),
        };
        self.ranges.insert(expr, range);
        range
    }
}

fn binary(terms: &mut Terms, op: BinOp, left: Ranged, right: Ranged, ty: IntTy) -> Result<Ranged, Inexact> {
    let inexact = |operator| Err(Inexact { operator });
    Ok(match op {
        BinOp::Add => {
            let sum = Ranged {
                term: terms.int_add(left.term, right.term),
                low: left.low + right.low,
                high: left.high + right.high,
            };
            wrap(terms, sum, ty)
        }
        BinOp::Sub => {
            let negated = scale(terms, -1, right);
            let difference = Ranged {
                term: terms.int_add(left.term, negated.term),
                low: left.low - right.high,
                high: left.high - right.low,
            };
            wrap(terms, difference, ty)
        }
        BinOp::Mul => match (left.constant(), right.constant()) {
            (Some(factor), _) => product(terms, factor, right, ty),
            (_, Some(factor)) => product(terms, factor, left, ty),
            (None, None) => return inexact("a product of variables"),
        },
        BinOp::Div => match right.constant() {
            Some(divisor) if divisor != 0 => {
                let quotient = divide(terms, left, divisor);
                wrap(terms, quotient, ty)
            }
            _ => return inexact("division by a variable"),
        },
        BinOp::Rem => match right.constant() {
            Some(divisor) if divisor != 0 => remainder(terms, left, divisor),
            _ => return inexact("remainder by a variable"),
        },
        BinOp::Shl => match right.constant() {
            Some(amount) if (0..i128::from(ty.bits)).contains(&amount) => product(terms, 1 << amount, left, ty),
            _ => return inexact("a shift by a variable"),
        },
        BinOp::Shr => match right.constant() {
            Some(amount) if (0..i128::from(ty.bits)).contains(&amount) => {
                let divisor = 1i128 << amount;
                Ranged {
                    term: terms.int_div(left.term, divisor),
                    low: left.low.div_euclid(divisor),
                    high: left.high.div_euclid(divisor),
                }
            }
            _ => return inexact("a shift by a variable"),
        },
        BinOp::BitAnd => match (left.constant(), right.constant()) {
            (_, Some(mask)) if is_low_mask(mask) => modulo(terms, left, mask + 1),
            (Some(mask), _) if is_low_mask(mask) => modulo(terms, right, mask + 1),
            _ if is_bit(left) && is_bit(right) => bits(terms, op, left, right),
            _ => return inexact("bitwise and"),
        },
        BinOp::BitOr if is_bit(left) && is_bit(right) => bits(terms, op, left, right),
        BinOp::BitXor if is_bit(left) && is_bit(right) => bits(terms, op, left, right),
        BinOp::BitOr => return inexact("bitwise or"),
        BinOp::BitXor => return inexact("bitwise exclusive or"),
    })
}

/// Whether `mask` is 2^k - 1 for some k.
fn is_low_mask(mask: i128) -> bool {
    mask >= 0 && mask & (mask + 1) == 0
}

fn is_bit(value: Ranged) -> bool {
    value.low >= 0 && value.high <= 1
}

/// Bit operations on operands that are 0 or 1.
fn bits(terms: &mut Terms, op: BinOp, left: Ranged, right: Ranged) -> Ranged {
    let (one, zero) = (terms.int(1), terms.int(0));
    let a = terms.eq(left.term, one);
    let b = terms.eq(right.term, one);
    let truth = match op {
        BinOp::BitAnd => terms.and(a, b),
        BinOp::BitOr => terms.or(a, b),
        _ => {
            let same = terms.iff(a, b);
            terms.not(same)
        }
    };
    Ranged { term: terms.ite(truth, one, zero), low: 0, high: 1 }
}

fn scale(terms: &mut Terms, factor: i128, value: Ranged) -> Ranged {
    let (a, b) = (factor * value.low, factor * value.high);
    Ranged { term: terms.int_mul_const(factor, value.term), low: a.min(b), high: a.max(b) }
}

fn shift(terms: &mut Terms, value: Ranged, offset: i128) -> Ranged {
    let constant = terms.int(offset);
    Ranged { term: terms.int_add(value.term, constant), low: value.low + offset, high: value.high + offset }
}

/// `factor * value` wrapped. The factor is replaced by its signed representative modulo 2^bits, so that the bounds of the
/// product fit into 128 bits.
fn product(terms: &mut Terms, factor: i128, value: Ranged, ty: IntTy) -> Ranged {
    let representative = IntTy { bits: ty.bits, signed: true }.wrap(factor);
    let scaled = scale(terms, representative, value);
    wrap(terms, scaled, ty)
}

fn modulo(terms: &mut Terms, value: Ranged, modulus: i128) -> Ranged {
    if value.low >= 0 && value.high < modulus {
        return value;
    }
    Ranged { term: terms.int_mod(value.term, modulus), low: 0, high: modulus - 1 }
}

/// The quotient truncated towards zero.
fn divide(terms: &mut Terms, value: Ranged, divisor: i128) -> Ranged {
    let magnitude = divisor.abs();
    let positive = terms.int_div(value.term, magnitude);
    let quotient = if value.low >= 0 {
        positive
    } else {
        let negated = terms.int_mul_const(-1, value.term);
        let negative = terms.int_div(negated, magnitude);
        let negative = terms.int_mul_const(-1, negative);
        let zero = terms.int(0);
        let non_negative = terms.int_le(zero, value.term);
        terms.ite(non_negative, positive, negative)
    };
    let term = if divisor < 0 { terms.int_mul_const(-1, quotient) } else { quotient };
    let (a, b) = (value.low / divisor, value.high / divisor);
    Ranged { term, low: a.min(b), high: a.max(b) }
}

/// The remainder with the sign of the dividend.
fn remainder(terms: &mut Terms, value: Ranged, divisor: i128) -> Ranged {
    let magnitude = divisor.abs();
    if value.low >= 0 {
        return modulo(terms, value, magnitude);
    }
    let positive = terms.int_mod(value.term, magnitude);
    let negated = terms.int_mul_const(-1, value.term);
    let negative = terms.int_mod(negated, magnitude);
    let negative = terms.int_mul_const(-1, negative);
    let zero = terms.int(0);
    let non_negative = terms.int_le(zero, value.term);
    let high = if value.high > 0 { magnitude - 1 } else { 0 };
    Ranged { term: terms.ite(non_negative, positive, negative), low: 1 - magnitude, high }
}

/// The value of type `ty` that is congruent to `value` modulo 2^bits.
fn wrap(terms: &mut Terms, value: Ranged, ty: IntTy) -> Ranged {
    if value.within(ty) {
        return value;
    }
    let modulus = 1i128 << ty.bits;
    let (min, max) = (ty.min(), ty.max());
    if value.low < min - modulus || value.high > max + modulus {
        let offset = shift(terms, value, -min);
        let residue = modulo(terms, offset, modulus);
        let term = shift(terms, residue, min).term;
        return Ranged { term, low: min, high: max };
    }
    let mut term = value.term;
    if value.high > max {
        let lowered = shift(terms, value, -modulus).term;
        let bound = terms.int(max);
        let fits = terms.int_le(value.term, bound);
        term = terms.ite(fits, term, lowered);
    }
    if value.low < min {
        let raised = shift(terms, value, modulus).term;
        let bound = terms.int(min);
        let fits = terms.int_le(bound, value.term);
        term = terms.ite(fits, term, raised);
    }
    Ranged { term, low: min, high: max }
}

pub(super) fn compare(terms: &mut Terms, op: CmpOp, left: TermId, right: TermId) -> TermId {
    match op {
        CmpOp::Eq => terms.eq(left, right),
        CmpOp::Ne => {
            let equal = terms.eq(left, right);
            terms.not(equal)
        }
        CmpOp::Lt => terms.int_lt(left, right),
        CmpOp::Le => terms.int_le(left, right),
    }
}
