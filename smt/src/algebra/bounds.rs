// SPDX-License-Identifier: Apache-2.0
//! What comparisons say: bounds of terms, terms that are equal, and extensions that lose nothing.

use rustc_hash::FxHashMap;

use crate::term::semantics::{from_signed, to_signed};
use crate::term::{BvBin, BvCmp, Term, TermId, Terms};

/// A comparison that holds: the first term is at most the second one, or greater.
struct Comparison {
    signed: bool,
    left: TermId,
    right: TermId,
    holds: bool,
}

/// The comparisons of a case, and the bounds of terms that follow from those with constants.
#[derive(Default)]
pub(crate) struct Bounds {
    comparisons: Vec<Comparison>,
    /// Least and greatest value, by term and whether it is read in two's complement.
    ranges: FxHashMap<(TermId, bool), (i128, i128)>,
}

/// All values of a width.
fn all(width: u32, signed: bool) -> (i128, i128) {
    let half = 1i128 << (width - 1);
    if signed { (-half, half - 1) } else { (0, half - 1 + half) }
}

/// The widest numbers that are looked at, so that sums of a few products fit into 128 bits.
const WIDTH: u32 = 64;
/// How often bounds are passed on.
const ROUNDS: usize = 3;

impl Bounds {
    /// What the literals among the parts of a conjunction say.
    pub(crate) fn new(terms: &Terms, parts: &[TermId]) -> Self {
        let mut bounds = Bounds::default();
        for &part in parts {
            let (atom, negated) = terms.strip_not(part);
            let Term::BvCmp(op @ (BvCmp::Ule | BvCmp::Sle), left, right) = *terms.get(atom) else { continue };
            if terms.width(left) <= WIDTH {
                bounds.comparisons.push(Comparison { signed: op == BvCmp::Sle, left, right, holds: !negated });
            }
        }
        for at in 0..bounds.comparisons.len() {
            let Comparison { signed, left, right, holds } = bounds.comparisons[at];
            let width = terms.width(left);
            let number = |bits: u128| if signed { to_signed(width, bits) } else { bits as i128 };
            let constant = |t: TermId| terms.as_bv(t).map(number);
            let (term, low, high) = match (constant(left), constant(right)) {
                (Some(least), None) if holds => (right, Some(least), None),
                (Some(least), None) => (right, None, Some(least - 1)),
                (None, Some(most)) if holds => (left, None, Some(most)),
                (None, Some(most)) => (left, Some(most + 1), None),
                _ => continue,
            };
            let range = bounds.ranges.entry((term, signed)).or_insert_with(|| all(width, signed));
            *range = (low.map_or(range.0, |low| low.max(range.0)), high.map_or(range.1, |high| high.min(range.1)));
        }
        bounds
    }

    /// These bounds with what follows from comparisons of terms that have bounds.
    pub(super) fn propagated(mut self, terms: &Terms) -> Self {
        for _ in 0..ROUNDS {
            for at in 0..self.comparisons.len() {
                let Comparison { signed, left, right, holds } = self.comparisons[at];
                // What is at most what, or less.
                let (low, high, strict) = if holds { (left, right, 0) } else { (right, left, 1) };
                let least = self.range(terms, low, signed).0;
                let most = self.range(terms, high, signed).1;
                let everything = all(terms.width(low), signed);
                let of_low = self.ranges.entry((low, signed)).or_insert(everything);
                of_low.1 = of_low.1.min(most - strict);
                let of_high = self.ranges.entry((high, signed)).or_insert(everything);
                of_high.0 = of_high.0.max(least + strict);
            }
        }
        self
    }

    /// Pairs of terms that are equal, as one is at most the other one, and greater than the number before it.
    pub(super) fn equal(&self, terms: &mut Terms) -> Vec<(TermId, TermId)> {
        let mut equal = Vec::new();
        for most in self.comparisons.iter().filter(|comparison| comparison.holds) {
            for other in self.comparisons.iter().filter(|other| other.signed == most.signed) {
                let (left, right) = (most.left, most.right);
                let found = if other.holds {
                    other.left == right && other.right == left
                } else if other.right == right {
                    // right < other.left, which is left + 1; without a number after left nothing would be less.
                    is_next(terms, left, other.left)
                } else {
                    // left > other.right, which is right - 1.
                    other.left == left && is_next(terms, other.right, right)
                };
                if found {
                    equal.push((left, right));
                }
            }
        }
        equal
    }

    /// The least and the greatest value of a term, such as a part of a sum.
    pub(crate) fn range(&self, terms: &Terms, part: TermId, signed: bool) -> (i128, i128) {
        let range = self.said(terms, part, signed);
        let Term::BvBin(op @ (BvBin::Udiv | BvBin::Sdiv | BvBin::Lshr), dividend, by) = *terms.get(part) else {
            return range;
        };
        let quotient = self.quotient(terms, op, dividend, by, signed);
        quotient.map_or(range, |(least, greatest)| (least.max(range.0), greatest.min(range.1)))
    }

    /// What the comparisons say about a term, or what it is an extension of.
    fn said(&self, terms: &Terms, part: TermId, signed: bool) -> (i128, i128) {
        let width = terms.width(part);
        let (least, greatest) = match *terms.get(part) {
            Term::Sext { arg, .. } if signed => self.said(terms, arg, true),
            Term::Zext { arg, .. } => self.said(terms, arg, false),
            _ => all(width, signed),
        };
        let said = self.ranges.get(&(part, signed)).copied().unwrap_or_else(|| all(width, signed));
        (least.max(said.0), greatest.min(said.1))
    }

    /// The values of a quotient by a positive constant of a dividend that is not negative.
    fn quotient(&self, terms: &Terms, op: BvBin, dividend: TermId, by: TermId, signed: bool) -> Option<(i128, i128)> {
        let width = terms.width(dividend);
        let constant = terms.as_bv(by)?;
        let divisor = match op {
            BvBin::Lshr if constant < u128::from(width) => 1i128 << constant,
            BvBin::Udiv | BvBin::Sdiv if constant > 0 => i128::try_from(constant).ok()?,
            _ => return None,
        };
        let (low, high) = natural(self.said(terms, dividend, false), self.said(terms, dividend, true));
        // With the highest bit clear, signed and unsigned division by a positive number are the same.
        let small = all(width, true).1;
        if (op == BvBin::Sdiv && (high > small || divisor > small)) || (signed && high / divisor > small) {
            return None;
        }
        Some((low / divisor, high / divisor))
    }

    /// The values of a product, read as natural numbers, if it does not wrap around and something is known.
    pub(super) fn product(&self, terms: &Terms, monomial: &[TermId]) -> Option<(u128, u128)> {
        let width = terms.width(*monomial.first()?);
        if width > WIDTH {
            return None;
        }
        let most = all(width, false).1;
        let (mut low, mut high) = (1i128, 1i128);
        for &part in monomial {
            let range = natural(self.range(terms, part, false), self.range(terms, part, true));
            if range.0 > range.1 {
                return None;
            }
            low = low.checked_mul(range.0)?;
            high = high.checked_mul(range.1)?;
        }
        (high <= most).then_some((u128::try_from(low).ok()?, u128::try_from(high).ok()?))
    }

    /// The extension of a sum as the sum of the extensions, if the sum leaves its width for no value of its parts.
    pub(super) fn extended(&self, terms: &mut Terms, t: TermId) -> Option<TermId> {
        let (wide, arg, signed) = match *terms.get(t) {
            Term::Sext { width, arg } => (width, arg, true),
            Term::Zext { width, arg } => (width, arg, false),
            _ => return None,
        };
        let width = terms.width(arg);
        if !terms.is_arithmetic(arg) || wide > WIDTH {
            return None;
        }
        let polynomial = terms.polynomial(arg);
        let (mut least, mut greatest) = (0i128, 0i128);
        let mut sum = terms.bv(wide, 0);
        for (monomial, &c) in polynomial.iter() {
            let coefficient = to_signed(width, c);
            let (mut low, mut high) = (coefficient, coefficient);
            let mut product = terms.bv(wide, from_signed(wide, coefficient));
            for &part in monomial {
                let range = self.range(terms, part, signed);
                if range.0 > range.1 {
                    return None;
                }
                let ends = [low.checked_mul(range.0)?, low.checked_mul(range.1)?, high.checked_mul(range.0)?];
                let last = high.checked_mul(range.1)?;
                low = ends.iter().fold(last, |least, end| least.min(*end));
                high = ends.iter().fold(last, |greatest, end| greatest.max(*end));
                let part = if signed { terms.sext(wide, part) } else { terms.zext(wide, part) };
                product = terms.bv_bin(BvBin::Mul, product, part);
            }
            (least, greatest) = (least.checked_add(low)?, greatest.checked_add(high)?);
            sum = terms.bv_bin(BvBin::Add, sum, product);
        }
        let fits = all(width, signed);
        (fits.0 <= least && greatest <= fits.1).then_some(sum)
    }
}

/// The values read as natural numbers, by those of both readings.
fn natural(unsigned: (i128, i128), signed: (i128, i128)) -> (i128, i128) {
    if signed.0 >= 0 { (unsigned.0.max(signed.0), unsigned.1.min(signed.1)) } else { unsigned }
}

/// Whether the second term is the first one plus 1.
fn is_next(terms: &mut Terms, first: TermId, second: TermId) -> bool {
    terms.width(first) == terms.width(second)
        && terms.polynomial_difference(second, first).is_some_and(|difference| {
            difference.len() == 1 && difference.first_key_value().is_some_and(|(m, c)| m.is_empty() && *c == 1)
        })
}
