// SPDX-License-Identifier: Apache-2.0
//! Linear normal form of bit-vector sums.
//!
//! A sum is written as its monomials in the order of their bases, those with positive coefficients before those with
//! negative ones, and the constant last: `((x + 3 * y) - z) + 5`. Additions, subtractions and negations that are equal
//! by associativity, commutativity and collection of equal bases therefore are equal terms. Products are not
//! expanded here, as that would multiply the circuits; see `polynomial` for equations.

use super::ids::TermId;
use super::leaves::LeafOp;
use super::node::{BvBin, BvUn, Term};
use super::semantics::{mask, signed_max};
use super::store::Terms;

/// Number of monomials up to which sums are merged.
const MONOMIALS: usize = 60;

/// `sum of coefficient * base + constant` modulo 2^width, sorted by base, no coefficient zero.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) width: u32,
    pub(super) monomials: Vec<(TermId, u128)>,
    pub(super) constant: u128,
}

impl Sum {
    /// `self + factor * other`.
    fn plus(&self, factor: u128, other: &Sum) -> Sum {
        let ones = mask(self.width);
        let mut monomials = Vec::with_capacity(self.monomials.len() + other.monomials.len());
        let (mut i, mut j) = (0, 0);
        loop {
            let (base, coefficient) = match (self.monomials.get(i), other.monomials.get(j)) {
                (Some(&(x, c)), Some(&(y, d))) if x == y => {
                    (i, j) = (i + 1, j + 1);
                    (x, c.wrapping_add(factor.wrapping_mul(d)))
                }
                (Some(&(x, c)), theirs) if theirs.is_none_or(|&(y, _)| x < y) => {
                    i += 1;
                    (x, c)
                }
                (_, Some(&(y, d))) => {
                    j += 1;
                    (y, factor.wrapping_mul(d))
                }
                (_, None) => break,
            };
            if coefficient & ones != 0 {
                monomials.push((base, coefficient & ones));
            }
        }
        let constant = self.constant.wrapping_add(factor.wrapping_mul(other.constant)) & ones;
        Sum { width: self.width, monomials, constant }
    }

    /// The magnitude of a coefficient and whether it is better subtracted.
    fn magnitude(&self, c: u128) -> (u128, bool) {
        let negated = c.wrapping_neg() & mask(self.width);
        if c > signed_max(self.width) && negated < c { (negated, true) } else { (c, false) }
    }
}

impl Terms {
    /// `a + factor * b`.
    pub(super) fn bv_plus(&mut self, a: TermId, factor: u128, b: TermId) -> TermId {
        let (left, right) = (self.sum_of(a), self.sum_of(b));
        let sum = left.plus(factor, &right);
        if sum.monomials.len() <= MONOMIALS {
            return self.sum_term(sum);
        }
        if factor == 1 {
            self.intern(Term::BvBin(BvBin::Add, a.min(b), a.max(b)))
        } else {
            self.intern(Term::BvBin(BvBin::Sub, a, b))
        }
    }

    /// `a - b`.
    pub(super) fn difference(&self, a: TermId, b: TermId) -> Sum {
        self.sum_of(a).plus(u128::MAX, &self.sum_of(b))
    }

    /// `factor * a`, where `factor` is a constant. Sums are multiplied as a whole.
    pub(super) fn bv_scaled(&mut self, a: TermId, factor: u128) -> TermId {
        let width = self.width(a);
        let ones = mask(width);
        let mut sum = self.sum_of(a);
        let constant = sum.constant.wrapping_mul(factor) & ones;
        if sum.monomials.len() > 1 && factor != ones {
            sum.constant = 0;
            let base = self.sum_term(sum);
            let monomials = vec![(base, factor)];
            return self.sum_term(Sum { width, monomials, constant });
        }
        for (_, c) in &mut sum.monomials {
            *c = c.wrapping_mul(factor) & ones;
        }
        sum.monomials.retain(|&(_, c)| c != 0);
        sum.constant = constant;
        self.sum_term(sum)
    }

    /// The monomials of a term; those of a term that has too many are the term itself.
    pub(super) fn sum_of(&self, t: TermId) -> Sum {
        let width = self.width(t);
        let mut sum = Sum { width, monomials: Vec::new(), constant: 0 };
        let mut rest = t;
        loop {
            let (next, part, factor) = match *self.get(rest) {
                Term::BvBin(BvBin::Add, x, y) => (Some(x), y, 1u128),
                Term::BvBin(BvBin::Sub, x, y) => (Some(x), y, u128::MAX),
                Term::BvUn(BvUn::Neg, x) => (None, x, u128::MAX),
                _ => (None, rest, 1),
            };
            match *self.get(part) {
                Term::Bv { bits, .. } => sum.constant = sum.constant.wrapping_add(factor.wrapping_mul(bits)),
                Term::BvUn(BvUn::Neg, x) => sum.monomials.push((x, factor.wrapping_neg() & mask(width))),
                Term::BvBin(BvBin::Mul, x, k) => match self.as_bv(k) {
                    Some(k) => sum.monomials.push((x, factor.wrapping_mul(k) & mask(width))),
                    None => sum.monomials.push((part, factor & mask(width))),
                },
                _ => sum.monomials.push((part, factor & mask(width))),
            }
            match next {
                Some(next) => rest = next,
                None => break,
            }
            if sum.monomials.len() > MONOMIALS {
                return Sum { width, monomials: vec![(t, 1)], constant: 0 };
            }
        }
        sum.constant &= mask(width);
        sum.monomials.sort_unstable();
        // Terms made beyond the limit may hold a base twice.
        sum.monomials.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = earlier.1.wrapping_add(later.1) & mask(width);
            }
            same
        });
        sum.monomials.retain(|&(_, c)| c != 0);
        sum
    }

    /// Bits `hi` down to `lo` of a sum, where `lo` is not 0. What is divisible by 2^lo does not change the bits below, so it is
    /// added to the result instead: the cell index of the address `p + 4 * i + 8` is that of `p` plus `i + 2`.
    pub(super) fn extract_of_sum(&mut self, hi: u32, lo: u32, t: TermId) -> TermId {
        let mut rest = self.sum_of(t);
        let width = hi - lo + 1;
        let mut moved = self.bv(width, 0);
        let is_divisible = |c: u128| c.trailing_zeros() >= lo;
        let divisible: Vec<(TermId, u128)> = rest.monomials.iter().copied().filter(|&(_, c)| is_divisible(c)).collect();
        if divisible.is_empty() && rest.constant >> lo == 0 {
            return self.intern(Term::Extract { hi, lo, arg: t });
        }
        for (base, c) in divisible {
            // Only the low bits of the factors matter.
            let part = self.extract(width - 1, 0, base);
            moved = self.bv_plus(moved, c >> lo & mask(width), part);
        }
        rest.monomials.retain(|&(_, c)| !is_divisible(c));
        let high = self.bv(width, rest.constant >> lo);
        rest.constant &= mask(lo);
        if rest.monomials.is_empty() {
            return self.bv_plus(moved, 1, high);
        }
        let moved = self.bv_plus(moved, 1, high);
        let rest = self.sum_term(rest);
        let part = self.extract(hi, lo, rest);
        self.bv_plus(moved, 1, part)
    }

    fn is_sum(&self, t: TermId) -> bool {
        matches!(*self.get(t), Term::BvBin(BvBin::Add | BvBin::Sub, ..) | Term::BvUn(BvUn::Neg, _))
    }

    /// The term in normal form.
    fn sum_term(&mut self, sum: Sum) -> TermId {
        let Sum { width, constant, .. } = sum;
        // A sum that was multiplied as a whole comes apart when its coefficient becomes 1.
        if sum.monomials.len() > 1
            && let Some(i) = sum.monomials.iter().position(|&(base, c)| {
                self.is_sum(base) && sum.magnitude(c).0 == 1 && self.sum_of(base).monomials[..] != [(base, 1)]
            })
        {
            let mut others = sum;
            let (base, c) = others.monomials.remove(i);
            let merged = others.plus(c, &self.sum_of(base));
            if merged.monomials.len() <= MONOMIALS {
                return self.sum_term(merged);
            }
            return self.written(&others.plus(c, &Sum { width, monomials: vec![(base, 1)], constant: 0 }));
        }
        match sum.monomials[..] {
            [] => self.bv(width, constant),
            [(base, 1)] if constant == 0 => base,
            [(base, c)] => self.monomial_plus(width, base, c, constant),
            _ => self.written(&sum),
        }
    }

    /// `c * base + constant`, through the leaves of an if-then-else tree of constants.
    fn monomial_plus(&mut self, width: u32, base: TermId, c: u128, constant: u128) -> TermId {
        if c == 1 {
            let k = self.bv(width, constant);
            if let Some(t) = self.on_leaves(LeafOp::BinLeft(BvBin::Add, k), base, false) {
                return t;
            }
            if self.is_sum(base) {
                let mut whole = self.sum_of(base);
                if whole.monomials[..] != [(base, 1)] {
                    whole.constant = whole.constant.wrapping_add(constant) & mask(width);
                    return self.written(&whole);
                }
            }
        } else if c == mask(width) {
            let k = self.bv(width, constant);
            if let Some(t) = self.on_leaves(LeafOp::BinRight(BvBin::Sub, k), base, false) {
                return t;
            }
            if self.is_sum(base) {
                let negated = Sum { width, monomials: Vec::new(), constant }.plus(c, &self.sum_of(base));
                if negated.monomials[..] != [(base, c)] {
                    return self.sum_term(negated);
                }
            }
        } else {
            let k = self.bv(width, c);
            if let Some(t) = self.on_leaves(LeafOp::BinLeft(BvBin::Mul, k), base, false) {
                return if constant == 0 { t } else { self.monomial_plus(width, t, 1, constant) };
            }
        }
        self.written(&Sum { width, monomials: vec![(base, c)], constant })
    }

    fn written(&mut self, sum: &Sum) -> TermId {
        let parts: Vec<(TermId, u128, bool)> = sum
            .monomials
            .iter()
            .map(|&(base, c)| {
                let (magnitude, negative) = sum.magnitude(c);
                (base, magnitude, negative)
            })
            .collect();
        let mut result = None;
        let mut constant = sum.constant;
        for &(base, magnitude, _) in parts.iter().filter(|p| !p.2) {
            let part = self.multiple(sum.width, base, magnitude);
            result = Some(match result {
                None => part,
                Some(t) => self.intern(Term::BvBin(BvBin::Add, t, part)),
            });
        }
        for &(base, magnitude, _) in parts.iter().filter(|p| p.2) {
            let part = self.multiple(sum.width, base, magnitude);
            result = Some(match result {
                Some(t) => self.intern(Term::BvBin(BvBin::Sub, t, part)),
                // Nothing positive: the constant starts.
                None if constant != 0 => {
                    let k = self.bv(sum.width, constant);
                    constant = 0;
                    self.intern(Term::BvBin(BvBin::Sub, k, part))
                }
                None => self.intern(Term::BvUn(BvUn::Neg, part)),
            });
        }
        match result {
            None => self.bv(sum.width, constant),
            Some(t) if constant == 0 => t,
            Some(t) => {
                let k = self.bv(sum.width, constant);
                self.intern(Term::BvBin(BvBin::Add, t, k))
            }
        }
    }

    fn multiple(&mut self, width: u32, base: TermId, magnitude: u128) -> TermId {
        if magnitude == 1 {
            return base;
        }
        let k = self.bv(width, magnitude);
        match self.on_leaves(LeafOp::BinLeft(BvBin::Mul, k), base, false) {
            Some(t) => t,
            None => self.intern(Term::BvBin(BvBin::Mul, base, k)),
        }
    }
}
