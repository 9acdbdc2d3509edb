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
            (_, &Term::BvUn(inner, x)) if inner == op => x,
            (BvUn::Neg, &Term::BvBin(BvBin::Sub, x, y)) => self.bv_bin(BvBin::Sub, y, x),
            (BvUn::Neg, &Term::BvBin(outer @ (BvBin::Add | BvBin::Mul), x, y)) => match self.as_bv(y) {
                Some(k) => {
                    let negated = self.bv(width, k.wrapping_neg());
                    match outer {
                        BvBin::Add => self.intern(Term::BvBin(BvBin::Sub, negated, x)),
                        _ => self.bv_bin(BvBin::Mul, x, negated),
                    }
                }
                None => self.intern(Term::BvUn(op, a)),
            },
            _ => self.intern(Term::BvUn(op, a)),
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
            (Some(k), None) => self.bin_const_left(op, width, k, b),
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
            BvBin::Sub => {
                let negated = self.bv(width, k.wrapping_neg());
                self.bv_bin(BvBin::Add, a, negated)
            }
            BvBin::Add => match (inner, self.get(a)) {
                (Some((BvBin::Add, x, c)), _) => self.with_const(BvBin::Add, x, c.wrapping_add(k)),
                (_, &Term::BvBin(BvBin::Sub, c, y)) => {
                    let c = self.as_bv(c)?;
                    let sum = self.bv(width, c.wrapping_add(k));
                    self.bv_bin(BvBin::Sub, sum, y)
                }
                _ => return None,
            },
            BvBin::Mul => match inner {
                _ if k == 0 => b,
                _ if k == 1 => a,
                _ if k == ones => self.bv_un(BvUn::Neg, a),
                Some((BvBin::Mul, x, c)) => self.with_const(BvBin::Mul, x, c.wrapping_mul(k)),
                Some((BvBin::Add, x, c)) => {
                    let product = self.with_const(BvBin::Mul, x, k);
                    self.with_const(BvBin::Add, product, c.wrapping_mul(k))
                }
                _ => match *self.get(a) {
                    Term::BvUn(BvUn::Neg, x) => self.with_const(BvBin::Mul, x, k.wrapping_neg()),
                    _ => return None,
                },
            },
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

    fn bin_const_left(&mut self, op: BvBin, width: u32, k: u128, b: TermId) -> Option<TermId> {
        match op {
            BvBin::Sub if k == 0 => Some(self.bv_un(BvUn::Neg, b)),
            BvBin::Sub => match *self.get(b) {
                Term::BvUn(BvUn::Neg, x) => Some(self.with_const(BvBin::Add, x, k)),
                Term::BvBin(BvBin::Add, x, c) => {
                    let c = self.as_bv(c)?;
                    let difference = self.bv(width, k.wrapping_sub(c));
                    Some(self.bv_bin(BvBin::Sub, difference, x))
                }
                Term::BvBin(BvBin::Sub, c, y) => {
                    let c = self.as_bv(c)?;
                    Some(self.with_const(BvBin::Add, y, k.wrapping_sub(c)))
                }
                _ => None,
            },
            // A zero dividend leaves zero, also for a zero divisor in the case of the remainders.
            BvBin::Shl | BvBin::Lshr | BvBin::Ashr | BvBin::Urem | BvBin::Srem if k == 0 => Some(self.bv(width, 0)),
            BvBin::Ashr if k == mask(width) => Some(self.bv(width, k)),
            _ => None,
        }
    }

    fn bin_open(&mut self, op: BvBin, width: u32, a: TermId, b: TermId) -> Option<TermId> {
        match op {
            BvBin::Add => self.add_open(width, a, b),
            BvBin::Sub => self.sub_open(width, a, b),
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

    fn add_open(&mut self, width: u32, a: TermId, b: TermId) -> Option<TermId> {
        if self.bitwise_complements(a, b) {
            return Some(self.bv(width, mask(width)));
        }
        for (x, y) in [(a, b), (b, a)] {
            match *self.get(x) {
                Term::BvUn(BvUn::Neg, z) => return Some(self.bv_bin(BvBin::Sub, y, z)),
                Term::BvBin(BvBin::Add, z, k) if self.as_bv(k).is_some() => {
                    let sum = self.bv_bin(BvBin::Add, z, y);
                    return Some(self.bv_bin(BvBin::Add, sum, k));
                }
                Term::BvBin(BvBin::Sub, k, z) if self.as_bv(k).is_some() => {
                    let difference = self.bv_bin(BvBin::Sub, y, z);
                    return Some(self.bv_bin(BvBin::Add, difference, k));
                }
                Term::BvBin(BvBin::Sub, p, q) if q == y => return Some(p),
                _ => {}
            }
        }
        None
    }

    fn sub_open(&mut self, width: u32, a: TermId, b: TermId) -> Option<TermId> {
        if a == b {
            return Some(self.bv(width, 0));
        }
        match *self.get(b) {
            Term::BvUn(BvUn::Neg, y) => return Some(self.bv_bin(BvBin::Add, a, y)),
            Term::BvBin(BvBin::Add, y, k) if self.as_bv(k).is_some() => {
                let difference = self.bv_bin(BvBin::Sub, a, y);
                return Some(self.bv_bin(BvBin::Sub, difference, k));
            }
            _ => {}
        }
        match *self.get(a) {
            Term::BvBin(BvBin::Add, x, k) if self.as_bv(k).is_some() => {
                let difference = self.bv_bin(BvBin::Sub, x, b);
                Some(self.bv_bin(BvBin::Add, difference, k))
            }
            Term::BvBin(BvBin::Add, x, y) if x == b => Some(y),
            Term::BvBin(BvBin::Add, x, y) if y == b => Some(x),
            Term::BvBin(BvBin::Sub, x, y) if x == b => Some(self.bv_un(BvUn::Neg, y)),
            _ => None,
        }
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
            // The low bits of these operations depend on the low bits of the operands only. The operands are cut
            // where that removes an extension, as in the C statement `c = c + 1` for a character.
            Term::BvBin(op @ (BvBin::Add | BvBin::Sub | BvBin::Mul | BvBin::And | BvBin::Or | BvBin::Xor), x, y)
                if lo == 0 && self.narrows(hi, x) && self.narrows(hi, y) =>
            {
                let (x, y) = (self.extract(hi, 0, x), self.extract(hi, 0, y));
                self.bv_bin(op, x, y)
            }
            Term::BvUn(op, x) if lo == 0 && self.narrows(hi, x) => {
                let x = self.extract(hi, 0, x);
                self.bv_un(op, x)
            }
            _ => self.intern(Term::Extract { hi, lo, arg: a }),
        }
    }

    /// Whether cutting the term to the bits up to `hi` makes it no larger.
    fn narrows(&self, hi: u32, t: TermId) -> bool {
        match *self.get(t) {
            Term::Bv { .. } => true,
            Term::Zext { arg, .. } | Term::Sext { arg, .. } => hi < self.width(arg) || self.width(arg) <= hi + 1,
            _ => false,
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
