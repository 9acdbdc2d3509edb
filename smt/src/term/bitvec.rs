// SPDX-License-Identifier: Apache-2.0
//! Constructors of bit-vector terms.
//!
//! Constants move to the right and to the outside of sums, shifts by constants become multiplications or stay logical
//! shifts, and operations on extended operands are carried out at the operand's width where that is exact.

use super::ids::TermId;
use super::leaves::LeafOp;
use super::node::{BvBin, BvUn, Term};
use super::semantics::{bv_bin, bv_un, extract, mask, sext, signed_max};
use super::store::Terms;

/// Nesting of operators up to which extensions are looked for below a cut.
const NARROWING: u32 = 6;

impl Terms {
    /// A unary bit-vector operation.
    pub fn bv_un(&mut self, op: BvUn, a: TermId) -> TermId {
        let width = self.width(a);
        if let Some(k) = self.as_bv(a) {
            return self.bv(width, bv_un(op, width, k));
        }
        if let Some(t) = self.on_leaves(LeafOp::Un(op), a, false) {
            return t;
        }
        match (op, self.get(a)) {
            (BvUn::Not, &Term::BvUn(BvUn::Not, x)) => x,
            (BvUn::Not, _) => self.intern(Term::BvUn(op, a)),
            (BvUn::Neg, _) => self.bv_scaled(a, mask(width)),
        }
    }

    /// A binary bit-vector operation on operands of one width.
    pub fn bv_bin(&mut self, op: BvBin, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.sort(a), self.sort(b), "operands of one sort");
        let width = self.width(a);
        let (x, y) = (self.as_bv(a), self.as_bv(b));
        if let (Some(x), Some(y)) = (x, y) {
            return self.bv(width, bv_bin(op, width, x, y));
        }
        if op.commutes() && (x.is_some() || (y.is_none() && b < a)) {
            return self.bv_bin_ordered(op, width, b, a);
        }
        self.bv_bin_ordered(op, width, a, b)
    }

    fn bv_bin_ordered(&mut self, op: BvBin, width: u32, a: TermId, b: TermId) -> TermId {
        let simplified = match (self.as_bv(a), self.as_bv(b)) {
            (_, Some(k)) => self.bin_const_right(op, width, a, b, k),
            (Some(k), None) => self.bin_const_left(op, width, k),
            (None, None) => self.bin_open(op, width, a, b),
        };
        if let Some(t) = simplified {
            return t;
        }
        let pushed = match (self.as_bv(a), self.as_bv(b)) {
            (_, Some(_)) => self.on_leaves(LeafOp::BinLeft(op, b), a, false),
            (Some(_), None) => self.on_leaves(LeafOp::BinRight(op, a), b, false),
            (None, None) => self.on_const_choices(a, b, |terms, x, y| terms.bv_bin(op, x, y)),
        };
        if let Some(t) = pushed {
            return t;
        }
        match op {
            BvBin::Add => return self.bv_plus(a, 1, b),
            BvBin::Sub => return self.bv_plus(a, mask(width), b),
            _ => {}
        }
        if let Some(t) = self.unsigned_instead(op, width, a, b) {
            return t;
        }
        self.intern(Term::BvBin(op, a, b))
    }

    /// Signed division of operands that are never negative is unsigned division.
    fn unsigned_instead(&mut self, op: BvBin, width: u32, a: TermId, b: TermId) -> Option<TermId> {
        let unsigned = match op {
            BvBin::Sdiv => BvBin::Udiv,
            BvBin::Srem => BvBin::Urem,
            BvBin::Ashr if self.never_negative(width, a) => return Some(self.bv_bin(BvBin::Lshr, a, b)),
            _ => return None,
        };
        if self.never_negative(width, a) && self.never_negative(width, b) {
            Some(self.bv_bin(unsigned, a, b))
        } else {
            None
        }
    }

    fn never_negative(&self, width: u32, t: TermId) -> bool {
        match *self.get(t) {
            Term::Zext { .. } => true,
            Term::Bv { bits, .. } => bits <= signed_max(width),
            _ => false,
        }
    }

    fn bin_const_right(&mut self, op: BvBin, width: u32, a: TermId, b: TermId, k: u128) -> Option<TermId> {
        let ones = mask(width);
        // The operand and constant of an inner operation of the same kind.
        let inner = match *self.get(a) {
            Term::BvBin(inner, x, c) => self.as_bv(c).map(|c| (inner, x, c)),
            _ => None,
        };
        let shift = u32::try_from(k).unwrap_or(u32::MAX).min(width);
        let t = match op {
            BvBin::Add | BvBin::Sub | BvBin::Xor | BvBin::Or | BvBin::Shl | BvBin::Lshr | BvBin::Ashr if k == 0 => a,
            BvBin::Add | BvBin::Sub => return None,
            BvBin::Mul if k == 0 => b,
            BvBin::Mul => self.bv_scaled(a, k),
            BvBin::Udiv => match k {
                0 => self.bv(width, ones),
                1 => a,
                _ if k.is_power_of_two() => self.with_const(BvBin::Lshr, a, u128::from(k.trailing_zeros())),
                _ => return None,
            },
            BvBin::Urem => match k {
                0 => a,
                1 => self.bv(width, 0),
                _ if k.is_power_of_two() => self.with_const(BvBin::And, a, k - 1),
                _ => return None,
            },
            // In width 1 the constant 1 is -1, and both rules say the same.
            BvBin::Sdiv if k == ones => self.bv_un(BvUn::Neg, a),
            BvBin::Sdiv if k == 1 => a,
            BvBin::Srem if k == 0 => a,
            BvBin::Srem if k == 1 || k == ones => self.bv(width, 0),
            BvBin::Sdiv | BvBin::Srem => return None,
            BvBin::Shl if shift == width => self.bv(width, 0),
            BvBin::Shl => self.with_const(BvBin::Mul, a, 1 << shift),
            BvBin::Lshr if shift == width => self.bv(width, 0),
            BvBin::Lshr => match inner {
                Some((BvBin::Lshr, x, c)) => self.with_shift(BvBin::Lshr, width, x, c.saturating_add(k)),
                _ => return None,
            },
            BvBin::Ashr => match inner {
                Some((BvBin::Ashr, x, c)) => self.with_shift(BvBin::Ashr, width, x, c.saturating_add(k)),
                _ if k >= u128::from(width) => self.with_shift(BvBin::Ashr, width, a, k),
                _ => return None,
            },
            BvBin::And if k == 0 => b,
            BvBin::And if k == ones => a,
            BvBin::And => match (inner, self.get(a)) {
                (Some((BvBin::And, x, c)), _) => self.with_const(BvBin::And, x, c & k),
                // The bits that are set stand outside.
                (Some((BvBin::Or, x, c)), _) => {
                    let others = self.with_const(BvBin::And, x, k & !c);
                    self.with_const(BvBin::Or, others, c & k)
                }
                (_, &Term::Zext { arg, .. }) => {
                    let small = self.width(arg);
                    let cut = self.with_const(BvBin::And, arg, k & mask(small));
                    self.zext(width, cut)
                }
                _ => return None,
            },
            BvBin::Or if k == ones => b,
            BvBin::Or => match inner {
                Some((BvBin::Or, x, c)) => self.with_const(BvBin::Or, x, c | k),
                _ => return None,
            },
            BvBin::Xor if k == ones => self.bv_un(BvUn::Not, a),
            BvBin::Xor => match inner {
                Some((BvBin::Xor, x, c)) => self.with_const(BvBin::Xor, x, c ^ k),
                _ => return None,
            },
        };
        Some(t)
    }

    /// An operation with a constant on the right, cut to the width of `a`.
    fn with_const(&mut self, op: BvBin, a: TermId, k: u128) -> TermId {
        let k = self.bv(self.width(a), k);
        self.bv_bin(op, a, k)
    }

    /// A right shift by an amount that may exceed what the width can express.
    fn with_shift(&mut self, op: BvBin, width: u32, a: TermId, by: u128) -> TermId {
        match op {
            BvBin::Lshr if by >= u128::from(width) => self.bv(width, 0),
            // The largest shift by less than the width already yields copies of the sign only.
            _ => self.with_const(op, a, by.min(u128::from(width - 1))),
        }
    }

    fn bin_const_left(&mut self, op: BvBin, width: u32, k: u128) -> Option<TermId> {
        match op {
            // A zero dividend leaves zero, also for a zero divisor in the case of the remainders.
            BvBin::Shl | BvBin::Lshr | BvBin::Ashr | BvBin::Urem | BvBin::Srem if k == 0 => Some(self.bv(width, 0)),
            BvBin::Ashr if k == mask(width) => Some(self.bv(width, k)),
            _ => None,
        }
    }

    fn bin_open(&mut self, op: BvBin, width: u32, a: TermId, b: TermId) -> Option<TermId> {
        match op {
            BvBin::Add if self.bitwise_complements(a, b) => Some(self.bv(width, mask(width))),
            BvBin::And | BvBin::Or if a == b => Some(a),
            BvBin::Xor | BvBin::Urem | BvBin::Srem if a == b => Some(self.bv(width, 0)),
            BvBin::And | BvBin::Or | BvBin::Xor if self.bitwise_complements(a, b) => {
                Some(self.bv(width, if op == BvBin::And { 0 } else { mask(width) }))
            }
            BvBin::And | BvBin::Or | BvBin::Xor => match (self.get(a), self.get(b)) {
                (&Term::Zext { arg: x, .. }, &Term::Zext { arg: y, .. }) if self.width(x) == self.width(y) => {
                    let small = self.bv_bin(op, x, y);
                    Some(self.zext(width, small))
                }
                (&Term::Sext { arg: x, .. }, &Term::Sext { arg: y, .. }) if self.width(x) == self.width(y) => {
                    let small = self.bv_bin(op, x, y);
                    Some(self.sext(width, small))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn bitwise_complements(&self, a: TermId, b: TermId) -> bool {
        matches!(*self.get(a), Term::BvUn(BvUn::Not, x) if x == b)
            || matches!(*self.get(b), Term::BvUn(BvUn::Not, y) if y == a)
    }

    /// Bits `hi` down to `lo`.
    pub fn extract(&mut self, hi: u32, lo: u32, a: TermId) -> TermId {
        let width = self.width(a);
        debug_assert!(lo <= hi && hi < width, "bits {hi}..{lo} of {width}");
        if lo == 0 && hi + 1 == width {
            return a;
        }
        if let Some(k) = self.as_bv(a) {
            return self.bv(hi - lo + 1, extract(hi, lo, k));
        }
        if let Some(t) = self.on_leaves(LeafOp::Extract(hi, lo), a, false) {
            return t;
        }
        match *self.get(a) {
            Term::Extract { lo: below, arg, .. } => self.extract(hi + below, lo + below, arg),
            Term::Zext { arg, .. } => {
                let top = self.width(arg) - 1;
                if lo > top {
                    return self.bv(hi - lo + 1, 0);
                }
                let part = self.extract(hi.min(top), lo, arg);
                self.zext(hi - lo + 1, part)
            }
            Term::Sext { arg, .. } => {
                let top = self.width(arg) - 1;
                let part = self.extract(hi.min(top), lo.min(top), arg);
                self.sext(hi - lo + 1, part)
            }
            Term::Concat(high, low) => {
                let below = self.width(low);
                if lo >= below {
                    return self.extract(hi - below, lo - below, high);
                }
                if hi < below {
                    return self.extract(hi, lo, low);
                }
                let (high, low) = (self.extract(hi - below, 0, high), self.extract(below - 1, lo, low));
                self.concat(high, low)
            }
            Term::BvBin(BvBin::Add | BvBin::Sub | BvBin::Mul, ..) | Term::BvUn(BvUn::Neg, _) if lo > 0 => {
                self.extract_of_sum(hi, lo, a)
            }
            Term::BvBin(op @ (BvBin::And | BvBin::Or | BvBin::Xor), x, y) if self.as_bv(y).is_some() => {
                let (x, y) = (self.extract(hi, lo, x), self.extract(hi, lo, y));
                self.bv_bin(op, x, y)
            }
            // The low bits of these operations depend on the low bits of the operands only. The operands are cut
            // where that removes an extension, as in the C statement `c = c + 1` for a character.
            Term::BvBin(op, x, y) if lo == 0 && self.narrows(hi, a, NARROWING) => {
                let (x, y) = (self.extract(hi, 0, x), self.extract(hi, 0, y));
                self.bv_bin(op, x, y)
            }
            Term::BvUn(op, x) if lo == 0 && self.narrows(hi, a, NARROWING) => {
                let x = self.extract(hi, 0, x);
                self.bv_un(op, x)
            }
            Term::Ite(c, x, y) if lo == 0 && self.narrows(hi, a, NARROWING) => {
                let (x, y) = (self.extract(hi, 0, x), self.extract(hi, 0, y));
                self.ite(c, x, y)
            }
            _ => self.intern(Term::Extract { hi, lo, arg: a }),
        }
    }

    /// Whether the bits up to `hi` are those of an equally large term over operands that are not extended, as far as
    /// some nesting of operators shows.
    fn narrows(&self, hi: u32, t: TermId, nesting: u32) -> bool {
        let Some(nesting) = nesting.checked_sub(1) else { return false };
        match *self.get(t) {
            Term::Bv { .. } => true,
            Term::Zext { arg, .. } | Term::Sext { arg, .. } => hi < self.width(arg) || self.width(arg) <= hi + 1,
            Term::Concat(_, low) => hi < self.width(low),
            Term::BvUn(_, x) => self.narrows(hi, x, nesting),
            Term::BvBin(BvBin::Add | BvBin::Sub | BvBin::Mul | BvBin::And | BvBin::Or | BvBin::Xor, x, y)
            | Term::Ite(_, x, y) => self.narrows(hi, x, nesting) && self.narrows(hi, y, nesting),
            _ => false,
        }
    }

    /// Bits that are set in all values, as far as some nesting of operators shows.
    pub(super) fn ones(&self, t: TermId) -> u128 {
        self.ones_within(t, NARROWING)
    }

    fn ones_within(&self, t: TermId, nesting: u32) -> u128 {
        let Some(nesting) = nesting.checked_sub(1) else { return 0 };
        let ones = |t| self.ones_within(t, nesting);
        match *self.get(t) {
            Term::Bv { bits, .. } => bits,
            Term::BvBin(BvBin::Or, x, y) => ones(x) | ones(y),
            Term::BvBin(BvBin::And, x, y) => ones(x) & ones(y),
            Term::BvBin(op, x, y) => match (op, self.as_bv(y)) {
                (BvBin::Xor, Some(changed)) => ones(x) & !changed,
                (BvBin::Lshr, Some(by)) if by < 128 => ones(x) >> by,
                (BvBin::Mul, Some(by)) if by.is_power_of_two() => ones(x).wrapping_mul(by) & mask(self.width(t)),
                _ => 0,
            },
            Term::Zext { arg, .. } => ones(arg),
            Term::Concat(high, low) => ones(high) << self.width(low) | ones(low),
            Term::Extract { hi, lo, arg } => extract(hi, lo, ones(arg)),
            Term::Ite(_, x, y) => ones(x) & ones(y),
            _ => 0,
        }
    }

    /// Extension by zeros to `width`, which is at least the operand's.
    pub fn zext(&mut self, width: u32, a: TermId) -> TermId {
        let small = self.width(a);
        debug_assert!(small <= width && width <= 128, "extension of {small} bits to {width}");
        if small == width {
            return a;
        }
        if let Some(k) = self.as_bv(a) {
            return self.bv(width, k);
        }
        if let Some(t) = self.on_leaves(LeafOp::Zext(width), a, false) {
            return t;
        }
        match *self.get(a) {
            Term::Zext { arg, .. } => self.intern(Term::Zext { width, arg }),
            _ => self.intern(Term::Zext { width, arg: a }),
        }
    }

    /// Extension by copies of the sign to `width`, which is at least the operand's.
    pub fn sext(&mut self, width: u32, a: TermId) -> TermId {
        let small = self.width(a);
        debug_assert!(small <= width && width <= 128, "extension of {small} bits to {width}");
        if small == width {
            return a;
        }
        if let Some(k) = self.as_bv(a) {
            return self.bv(width, sext(small, width, k));
        }
        if let Some(t) = self.on_leaves(LeafOp::Sext(width), a, false) {
            return t;
        }
        match *self.get(a) {
            Term::Zext { arg, .. } => self.intern(Term::Zext { width, arg }),
            Term::Sext { arg, .. } => self.intern(Term::Sext { width, arg }),
            _ => self.intern(Term::Sext { width, arg: a }),
        }
    }
}
