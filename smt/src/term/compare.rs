// SPDX-License-Identifier: Apache-2.0
//! Equality and bit-vector comparison.
//!
//! Canonical atoms: `=`, `<=u` and `<=s` with a constant on the right, so that a condition and its negation share one
//! atom. Comparisons are carried out at the smallest width that extensions leave, and with a constant they move
//! through invertible operations.

use super::ids::{Sort, TermId};
use super::leaves::{Comparison, LeafOp};
use super::node::{BvBin, BvCmp, Term};
use super::semantics::{bv_cmp, from_signed, mask, sext, signed_max, signed_min, to_signed};
use super::store::Terms;

/// An extension: the operand, its width, whether by sign.
#[derive(Copy, Clone)]
struct Extension {
    arg: TermId,
    width: u32,
    signed: bool,
}

impl Terms {
    /// Equality of two terms of one sort.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.sort(a), self.sort(b), "operands of one sort");
        if a == b {
            return TermId::TRUE;
        }
        match self.sort(a) {
            Sort::Bool => self.iff(a, b),
            Sort::Bv(_) => self.bv_eq(a, b),
            Sort::Int => self.int_eq(a, b),
            Sort::Array { .. } => self.array_eq(a, b),
        }
    }

    /// Disequality.
    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let equal = self.eq(a, b);
        self.not(equal)
    }

    /// Disequality; another name of [`Terms::ne`].
    pub fn distinct(&mut self, a: TermId, b: TermId) -> TermId {
        self.ne(a, b)
    }

    fn bv_eq(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.as_bv(a), self.as_bv(b)) {
            (Some(x), Some(y)) => return self.bool(x == y),
            (Some(_), None) => return self.bv_eq_const(b, a),
            (None, Some(_)) => return self.bv_eq_const(a, b),
            (None, None) => {}
        }
        if let Some(t) = self.on_const_choices(a, b, |terms, x, y| terms.eq(x, y)) {
            return t;
        }
        if let Some(t) = self.on_same_condition(Comparison::Eq, a, b) {
            return t;
        }
        if let (&Term::Concat(x, y), &Term::Concat(v, w)) = (self.get(a), self.get(b))
            && self.width(x) == self.width(v)
        {
            let (high, low) = (self.eq(x, v), self.eq(y, w));
            return self.and(high, low);
        }
        match (self.as_extension(a), self.as_extension(b)) {
            (Some(x), Some(y)) if x.signed == y.signed => {
                let (x, y) = self.common_width(x, y);
                return self.eq(x, y);
            }
            _ => {}
        }
        if let Some(t) = self.polynomial_eq(a, b) {
            return t;
        }
        self.ordered_eq(a, b)
    }

    fn as_extension(&self, t: TermId) -> Option<Extension> {
        match *self.get(t) {
            Term::Zext { arg, .. } => Some(Extension { arg, width: self.width(arg), signed: false }),
            Term::Sext { arg, .. } => Some(Extension { arg, width: self.width(arg), signed: true }),
            _ => None,
        }
    }

    /// Two extensions of one kind at the larger of the operands' widths.
    fn common_width(&mut self, x: Extension, y: Extension) -> (TermId, TermId) {
        let width = x.width.max(y.width);
        if x.signed {
            (self.sext(width, x.arg), self.sext(width, y.arg))
        } else {
            (self.zext(width, x.arg), self.zext(width, y.arg))
        }
    }

    /// `a = b` where `b` is constant and `a` is not.
    fn bv_eq_const(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(t) = self.on_leaves(LeafOp::Eq(b), a, true) {
            return t;
        }
        if let Some(t) = self.eq_one_branch(a, b) {
            return t;
        }
        if let Some(t) = self.polynomial_eq(a, b) {
            return t;
        }
        let width = self.width(a);
        let Some(k) = self.as_bv(b) else { unreachable!("the caller gives a constant") };
        if self.ones(a) & !k != 0 {
            return TermId::FALSE;
        }
        let moved: Option<(TermId, u128)> = match *self.get(a) {
            Term::Concat(high, low) => {
                let below = self.width(low);
                let (upper, lower) = (self.bv(width - below, k >> below), self.bv(below, k));
                let (upper, lower) = (self.eq(high, upper), self.eq(low, lower));
                return self.and(upper, lower);
            }
            Term::BvBin(op, x, y) => match (op, self.as_bv(x), self.as_bv(y)) {
                (BvBin::Xor, _, Some(c)) => Some((x, k ^ c)),
                (BvBin::Xor, _, None) if k == 0 => return self.eq(x, y),
                (BvBin::And, _, Some(c)) if k & !c != 0 => return TermId::FALSE,
                (BvBin::Urem, _, Some(c)) if c != 0 && k >= c => return TermId::FALSE,
                (BvBin::Lshr, _, Some(c)) if c < 128 && k > mask(width) >> c => return TermId::FALSE,
                _ => None,
            },
            Term::Zext { arg, .. } => {
                if k > mask(self.width(arg)) {
                    return TermId::FALSE;
                }
                Some((arg, k))
            }
            Term::Sext { arg, .. } => {
                let small = self.width(arg);
                if sext(small, width, k & mask(small)) != k {
                    return TermId::FALSE;
                }
                Some((arg, k))
            }
            _ => None,
        };
        match moved {
            Some((x, k)) => {
                let k = self.bv(self.width(x), k);
                match self.nested(|terms| terms.eq(x, k)) {
                    Some(t) => t,
                    None => self.intern(Term::Eq(a, b)),
                }
            }
            None => self.intern(Term::Eq(a, b)),
        }
    }

    /// `ite(c, x, l) = k` for constants l and k: `c & x = k` or `!c | x = k`.
    pub(super) fn eq_one_branch(&mut self, a: TermId, k: TermId) -> Option<TermId> {
        let Term::Ite(c, x, y) = *self.get(a) else { return None };
        let (reached, open, constant) = match (self.as_value(x), self.as_value(y)) {
            (_, Some(_)) => (c, x, y),
            (Some(_), None) => (self.not(c), y, x),
            (None, None) => return None,
        };
        let equal = self.nested(|terms| terms.eq(open, k))?;
        Some(if constant == k { self.implies(reached, equal) } else { self.and(reached, equal) })
    }

    /// A bit-vector comparison.
    pub fn bv_cmp(&mut self, op: BvCmp, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.sort(a), self.sort(b), "operands of one sort");
        match op {
            BvCmp::Ult => {
                let t = self.at_most(BvCmp::Ule, b, a);
                self.not(t)
            }
            BvCmp::Slt => {
                let t = self.at_most(BvCmp::Sle, b, a);
                self.not(t)
            }
            BvCmp::Ule | BvCmp::Sle => self.at_most(op, a, b),
        }
    }

    /// `a <= b`, unsigned (`Ule`) or signed (`Sle`).
    fn at_most(&mut self, op: BvCmp, a: TermId, b: TermId) -> TermId {
        if a == b {
            return TermId::TRUE;
        }
        let width = self.width(a);
        let signed = op == BvCmp::Sle;
        match (self.as_bv(a), self.as_bv(b)) {
            (Some(x), Some(y)) => return self.bool(bv_cmp(op, width, x, y)),
            // k <= b is !(b <= k - 1).
            (Some(x), None) => {
                let least = if signed { signed_min(width) } else { 0 };
                if x == least {
                    return TermId::TRUE;
                }
                let below = self.bv(width, x.wrapping_sub(1));
                let t = self.at_most_const(op, b, below);
                return self.not(t);
            }
            (None, Some(_)) => return self.at_most_const(op, a, b),
            (None, None) => {}
        }
        if let Some(t) = self.on_const_choices(a, b, |terms, x, y| terms.bv_cmp(op, x, y)) {
            return t;
        }
        if let Some(t) = self.on_same_condition(Comparison::Bv(op), a, b) {
            return t;
        }
        match (self.as_extension(a), self.as_extension(b)) {
            (Some(x), Some(y)) if x.signed == y.signed => {
                // Extension by zeros keeps the unsigned order and makes the signed one equal to it; extension by the
                // sign keeps both orders.
                let op = if x.signed { op } else { BvCmp::Ule };
                let (x, y) = self.common_width(x, y);
                return self.at_most(op, x, y);
            }
            _ => {}
        }
        self.intern(Term::BvCmp(op, a, b))
    }

    /// `a <= b` where `b` is constant and `a` is not.
    fn at_most_const(&mut self, op: BvCmp, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        let Some(k) = self.as_bv(b) else { unreachable!("the caller gives a constant") };
        let signed = op == BvCmp::Sle;
        let (least, greatest) = if signed { (signed_min(width), signed_max(width)) } else { (0, mask(width)) };
        if k == greatest {
            return TermId::TRUE;
        }
        if k == least {
            return self.eq(a, b);
        }
        if k == greatest.wrapping_sub(1) & mask(width) {
            let greatest = self.bv(width, greatest);
            return self.ne(a, greatest);
        }
        if let Some(t) = self.on_leaves(LeafOp::Cmp(op, b), a, true) {
            return t;
        }
        if let Some(e) = self.as_extension(a) {
            return if signed { self.extended_sle(e, width, k) } else { self.extended_ule(e, width, k) };
        }
        let (least, greatest) = (self.ones(a), self.upper_bound(a));
        // Those that are not negative are above.
        if signed && k < least && least <= signed_max(width) && greatest > signed_max(width) {
            let negative = self.bv(width, mask(width));
            return self.at_most(op, a, negative);
        }
        // Values without the sign bit are ordered alike.
        if !signed || greatest <= signed_max(width) {
            let negative = signed && to_signed(width, k) < 0;
            if negative || least > k {
                return TermId::FALSE;
            }
            if greatest <= k {
                return TermId::TRUE;
            }
        }
        self.intern(Term::BvCmp(op, a, b))
    }

    fn extended_ule(&mut self, e: Extension, width: u32, k: u128) -> TermId {
        let ones = mask(e.width);
        if !e.signed {
            if k >= ones {
                return TermId::TRUE;
            }
            let k = self.bv(e.width, k);
            return self.at_most(BvCmp::Ule, e.arg, k);
        }
        // The extended values are the two ends of the unsigned range.
        let (low_end, high_start) = (signed_max(e.width), sext(e.width, width, signed_min(e.width)));
        if k > low_end && k < high_start {
            let minus_one = self.bv(e.width, ones);
            let negative = self.at_most(BvCmp::Sle, e.arg, minus_one);
            return self.not(negative);
        }
        let k = self.bv(e.width, k);
        self.at_most(BvCmp::Ule, e.arg, k)
    }

    fn extended_sle(&mut self, e: Extension, width: u32, k: u128) -> TermId {
        let k = to_signed(width, k);
        let (least, greatest) = if e.signed {
            (to_signed(e.width, signed_min(e.width)), signed_max(e.width) as i128)
        } else {
            // The operand is narrower than 128 bits.
            (0, mask(e.width) as i128)
        };
        if k < least {
            return TermId::FALSE;
        }
        if k >= greatest {
            return TermId::TRUE;
        }
        let k = self.bv(e.width, from_signed(e.width, k));
        self.at_most(if e.signed { BvCmp::Sle } else { BvCmp::Ule }, e.arg, k)
    }

    /// An upper bound of the unsigned value, from the outermost nodes.
    fn upper_bound(&self, t: TermId) -> u128 {
        let greatest = mask(self.width(t));
        match *self.get(t) {
            Term::Bv { bits, .. } => bits,
            Term::Zext { arg, .. } => mask(self.width(arg)),
            Term::BvBin(op, x, y) => match (op, self.as_bv(y)) {
                (BvBin::And, Some(c)) => c,
                (BvBin::Or, Some(c)) => match *self.get(x) {
                    Term::BvBin(BvBin::And, _, y) => self.as_bv(y).map_or(greatest, |others| others | c),
                    _ => greatest,
                },
                (BvBin::Urem, Some(c)) if c != 0 => c - 1,
                (BvBin::Udiv, Some(c)) if c != 0 => greatest / c,
                (BvBin::Lshr, Some(c)) if c < 128 => greatest >> c,
                _ => greatest,
            },
            _ => greatest,
        }
    }
}
