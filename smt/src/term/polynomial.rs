// SPDX-License-Identifier: Apache-2.0
//! Polynomial normal form of bit-vector equations.
//!
//! Both sides are read as polynomials modulo 2^width over the parts that are no sums, products, negations or constants
//! (extensions, bitwise operations, divisions and if-then-else terms are such parts). Their difference decides the
//! equation if it is constant; otherwise there is one atom for all ways to write an equation with this difference or
//! an odd multiple of it. So an identity, and its precondition through an assignment, is recognised without a solver,
//! for which products of 64 bits are hopeless.
//!
//! Left out: equations whose difference has more than [`MONOMIALS`] monomials or a degree above [`DEGREE`] (they stay as
//! they are written), ideal membership, and division by even contents.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ids::TermId;
use super::node::{BvBin, BvUn, Term};
use super::semantics::{inverse_odd, mask, signed_max};
use super::store::Terms;

/// Number of monomials of a polynomial.
const MONOMIALS: usize = 60;
/// Degree of a polynomial.
const DEGREE: usize = 8;

/// A product of parts: sorted, with repetitions for powers. The empty one belongs to the constant.
pub(crate) type Monomial = Vec<TermId>;

/// Coefficients by monomial, none zero.
pub(crate) type Polynomial = Arc<BTreeMap<Monomial, u128>>;

fn add(to: &mut BTreeMap<Monomial, u128>, ones: u128, monomial: Monomial, c: u128) {
    let slot = to.entry(monomial).or_insert(0);
    *slot = slot.wrapping_add(c) & ones;
}

/// `a + factor * b`; None if it is too large.
pub(crate) fn plus(ones: u128, a: &Polynomial, factor: u128, b: &Polynomial) -> Option<Polynomial> {
    let mut sum = BTreeMap::clone(a);
    for (monomial, &c) in b.iter() {
        add(&mut sum, ones, monomial.clone(), factor.wrapping_mul(c));
    }
    sum.retain(|_, c| *c != 0);
    (sum.len() <= MONOMIALS).then(|| Arc::new(sum))
}

/// The product of two monomials.
pub(crate) fn product(left: &Monomial, right: &Monomial) -> Monomial {
    let mut product = [left.as_slice(), right.as_slice()].concat();
    product.sort_unstable();
    product
}

/// The product of two polynomials; none if it is too large.
pub(crate) fn times(ones: u128, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    if a.len() * b.len() > MONOMIALS * MONOMIALS / 4 {
        return None;
    }
    let mut result = BTreeMap::new();
    for (x, &c) in a.iter() {
        for (y, &d) in b.iter() {
            if x.len() + y.len() > DEGREE {
                return None;
            }
            add(&mut result, ones, product(x, y), c.wrapping_mul(d));
        }
    }
    result.retain(|_, c| *c != 0);
    (result.len() <= MONOMIALS).then(|| Arc::new(result))
}

impl Terms {
    /// Whether a term is a sum, product or negation, which a polynomial takes apart.
    pub(crate) fn is_arithmetic(&self, t: TermId) -> bool {
        matches!(
            *self.get(t),
            Term::BvBin(BvBin::Add | BvBin::Sub | BvBin::Mul, ..) | Term::BvUn(BvUn::Neg | BvUn::Not, _)
        )
    }

    /// A bit vector as a polynomial over its parts.
    pub(crate) fn polynomial(&mut self, root: TermId) -> Polynomial {
        let order = self.post_order(&[root], |t| {
            self.polynomials.contains_key(&t) || !(self.is_arithmetic(t) || self.as_bv(t).is_some())
        });
        let ones = mask(self.width(root));
        for t in order {
            // A part that is too large as a polynomial is one variable.
            let polynomial = self.expand(ones, t).unwrap_or_else(|| Arc::new(BTreeMap::from([(vec![t], 1)])));
            self.polynomials.insert(t, polynomial);
        }
        self.known_polynomial(root)
    }

    fn known_polynomial(&self, t: TermId) -> Polynomial {
        match self.polynomials.get(&t) {
            Some(polynomial) => Arc::clone(polynomial),
            None => Arc::new(BTreeMap::from([(vec![t], 1)])),
        }
    }

    fn expand(&self, ones: u128, t: TermId) -> Option<Polynomial> {
        let empty = Polynomial::default();
        match *self.get(t) {
            Term::Bv { bits: 0, .. } => Some(empty),
            Term::Bv { bits, .. } => Some(Arc::new(BTreeMap::from([(Vec::new(), bits)]))),
            Term::BvUn(BvUn::Neg, x) => plus(ones, &empty, ones, &self.known_polynomial(x)),
            Term::BvUn(BvUn::Not, x) => {
                let minus_one = Arc::new(BTreeMap::from([(Vec::new(), ones)]));
                plus(ones, &minus_one, ones, &self.known_polynomial(x))
            }
            Term::BvBin(op, x, y) => {
                let (x, y) = (self.known_polynomial(x), self.known_polynomial(y));
                match op {
                    BvBin::Add => plus(ones, &x, 1, &y),
                    BvBin::Sub => plus(ones, &x, ones, &y),
                    BvBin::Mul => times(ones, &x, &y),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `a - b`; None if that is too large.
    pub(crate) fn polynomial_difference(&mut self, a: TermId, b: TermId) -> Option<Polynomial> {
        let (p, q) = (self.polynomial(a), self.polynomial(b));
        let ones = mask(self.width(a));
        plus(ones, &p, ones, &q)
    }

    /// Whether a polynomial is zero.
    pub(crate) fn is_zero(&mut self, width: u32, polynomial: &Polynomial) -> TermId {
        let sum = self.polynomial_term(width, polynomial);
        let zero = self.bv(width, 0);
        self.eq(sum, zero)
    }

    /// `a = b` in normal form. None if the equation is to be treated by its structure.
    pub(super) fn polynomial_eq(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        if !self.is_arithmetic(a) && !self.is_arithmetic(b) {
            return None;
        }
        let width = self.width(a);
        let ones = mask(width);
        let difference = self.polynomial_difference(a, b)?;
        let constant = difference.get(&Vec::new()).copied().unwrap_or(0);
        let twos = difference.iter().filter(|(m, _)| !m.is_empty()).map(|(_, c)| c.trailing_zeros()).min();
        let Some(twos) = twos else { return Some(self.bool(constant == 0)) };
        if constant & mask(twos) != 0 {
            return Some(TermId::FALSE);
        }
        let leading = self.leading(width, &difference, twos);
        // The odd part of the leading coefficient is divided out. Where the content is even, this is ambiguous only by
        // multiples that change no coefficient.
        let odd = difference[&leading.monomial] >> twos;
        let inverse = inverse_odd(width, odd);
        let (mut left, mut right) = (BTreeMap::new(), BTreeMap::new());
        for (monomial, c) in difference.iter() {
            let c = c.wrapping_mul(inverse) & ones;
            let positive = *monomial == leading.monomial
                || (!leading.alone && !monomial.is_empty() && (c <= signed_max(width) || c == c.wrapping_neg() & ones));
            if positive {
                left.insert(monomial.clone(), c);
            } else {
                right.insert(monomial.clone(), c.wrapping_neg() & ones);
            }
        }
        let (left, right) = (self.polynomial_term(width, &left), self.polynomial_term(width, &right));
        if (left, right) == (a, b) || (left, right) == (b, a) {
            return None;
        }
        if self.is_arithmetic(left) || self.is_arithmetic(right) {
            let equation = if left == right { TermId::TRUE } else { self.ordered_eq(left, right) };
            let linear = |p: &Polynomial| p.keys().all(|monomial| monomial.len() <= 1);
            // A side that contains the equation would be no way to write it.
            if a.max(b) < equation && [a, b].into_iter().all(|side| linear(&self.polynomial(side))) {
                self.written.entry(equation).or_insert((a, b));
            }
            return Some(equation);
        }
        self.nested(|terms| terms.eq(left, right))
    }

    /// The sides of an equation of bit vectors with the sums that were there before its normal form was made: `a + k = a + m`
    /// instead of `k = m`, whose parts the rest of a formula has, too. They contain smaller terms only.
    pub(crate) fn sides_as_written(&self, equation: TermId) -> Option<(TermId, TermId)> {
        let Term::Eq(a, b) = *self.get(equation) else { return None };
        let (a, b) = self.written.get(&equation).copied().unwrap_or((a, b));
        (self.is_arithmetic(a) || self.is_arithmetic(b)).then_some((a, b))
    }

    /// An equation as it stands, the constant on the right.
    pub(super) fn ordered_eq(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.as_bv(a), self.as_bv(b)) {
            (Some(x), Some(y)) => self.bool(x == y),
            (Some(_), None) => self.intern(Term::Eq(b, a)),
            (None, Some(_)) => self.intern(Term::Eq(a, b)),
            (None, None) => self.intern(Term::Eq(a.min(b), a.max(b))),
        }
    }

    /// The monomial of an equation of so many bits that gets a positive coefficient: if possible a variable that occurs nowhere
    /// else and that the equation defines.
    fn leading(&self, width: u32, difference: &Polynomial, twos: u32) -> Leading {
        let candidates = || difference.iter().filter(|(m, c)| !m.is_empty() && c.trailing_zeros() == twos);
        let isolated = candidates().filter(|(m, _)| {
            twos == 0 && m.len() == 1 && difference.keys().filter(|other| other.contains(&m[0])).count() == 1
        });
        // What keeps the other coefficients small: x = 3k + 1 instead of k = (x - 1) / 3. That is the same for all multiples.
        let few = isolated.clone().count() <= COMPARED;
        let weight = |c: u128| {
            let inverse = inverse_odd(width, c);
            let sizes = difference.values().map(|other| {
                let scaled = other.wrapping_mul(inverse) & mask(width);
                scaled.min(scaled.wrapping_neg() & mask(width))
            });
            if few { sizes.max() } else { None }
        };
        let is_var = |m: &Monomial| self.as_var(m[0]).is_some();
        if let Some((monomial, _)) = isolated.min_by_key(|&(m, &c)| (!is_var(m), weight(c), m[0])) {
            return Leading { monomial: monomial.clone(), alone: true };
        }
        let (monomial, _) = candidates()
            .min_by_key(|(m, _)| (m.len(), (*m).clone()))
            .expect("some monomial has the least number of factors two");
        Leading { monomial: monomial.clone(), alone: false }
    }

    /// The sum of products that a polynomial stands for.
    pub(crate) fn polynomial_term(&mut self, width: u32, polynomial: &BTreeMap<Monomial, u128>) -> TermId {
        let mut sum = self.bv(width, 0);
        for (monomial, &c) in polynomial {
            let mut product = self.bv(width, 1);
            for &part in monomial {
                product = self.bv_bin(BvBin::Mul, product, part);
            }
            let c = self.bv(width, c);
            let product = self.bv_bin(BvBin::Mul, product, c);
            sum = self.bv_bin(BvBin::Add, sum, product);
        }
        sum
    }
}

/// Among how many monomials the one is looked for that keeps coefficients small.
const COMPARED: usize = 8;

struct Leading {
    monomial: Monomial,
    /// The monomial stands on the left side alone.
    alone: bool,
}
