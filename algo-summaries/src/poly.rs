// SPDX-License-Identifier: Apache-2.0
//! Polynomials over atoms with rational coefficients: sums of products in a normal form, so that equal polynomials are
//! equal as data.
//!
//! The values that stand for numbers of a program are integers whenever the atoms have the values that they stand for; the
//! denominators come from closed forms of sums such as `n * (n - 1) / 2`.

use std::collections::BTreeMap;

use cpa_core::Stop;

/// What a polynomial is made of; the pool knows what it stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Atom(pub(crate) u32);

/// A product of powers: atoms in ascending order, exponents at least 1.
pub(crate) type Monomial = Vec<(Atom, u32)>;

/// The most summands of a polynomial.
const SUMMANDS: usize = 120;
/// The greatest degree.
const DEGREE: u32 = 12;
/// The greatest magnitude of a coefficient, so that negation and the bounds of intervals cannot overflow.
const COEFFICIENT: u128 = 1 << 120;

/// A polynomial. Divisor and coefficients have no common factor, no coefficient is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Poly {
    divisor: i128,
    summands: BTreeMap<Monomial, i128>,
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// What is said where numbers or polynomials get too large.
pub(crate) fn too_large<T>(value: Option<T>) -> Result<T, Stop> {
    value.ok_or_else(|| Stop::GaveUp("a closed form got too large".to_string()))
}

impl Poly {
    /// A constant.
    pub(crate) fn constant(value: i128) -> Poly {
        let mut summands = BTreeMap::new();
        if value != 0 {
            summands.insert(Vec::new(), value);
        }
        Poly { divisor: 1, summands }
    }

    /// An atom.
    pub(crate) fn atom(atom: Atom) -> Poly {
        Poly { divisor: 1, summands: BTreeMap::from([(vec![(atom, 1)], 1)]) }
    }

    /// The value of a constant integer.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.summands.len() {
            0 => Some(0),
            1 if self.divisor == 1 => self.summands.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The atom that it is.
    pub(crate) fn as_atom(&self) -> Option<Atom> {
        match self.summands.iter().next() {
            Some((monomial, 1)) if self.divisor == 1 && self.summands.len() == 1 => match monomial[..] {
                [(atom, 1)] => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    /// The summands and what their sum is divided by.
    pub(crate) fn parts(&self) -> (&BTreeMap<Monomial, i128>, i128) {
        (&self.summands, self.divisor)
    }

    /// The polynomial with these summands.
    pub(crate) fn from_parts(summands: BTreeMap<Monomial, i128>, divisor: i128) -> Result<Poly, Stop> {
        let mut poly = Poly { divisor, summands };
        poly.normalise();
        let degree = |monomial: &Monomial| monomial.iter().map(|(_, power)| power).sum::<u32>();
        let small = |(monomial, coefficient): (&Monomial, &i128)| {
            degree(monomial) <= DEGREE && coefficient.unsigned_abs() <= COEFFICIENT
        };
        let fits = poly.summands.len() <= SUMMANDS && poly.summands.iter().all(small);
        too_large(fits.then_some(poly))
    }

    fn normalise(&mut self) {
        self.summands.retain(|_, coefficient| *coefficient != 0);
        let common = self.summands.values().fold(self.divisor, |common, coefficient| gcd(common, *coefficient));
        if common > 1 {
            self.divisor /= common;
            self.summands.values_mut().for_each(|coefficient| *coefficient /= common);
        }
    }

    /// `self + factor * other`.
    fn plus_scaled(&self, factor: i128, other: &Poly) -> Result<Poly, Stop> {
        let common = gcd(self.divisor, other.divisor);
        let mine = other.divisor / common;
        let theirs = self.divisor / common;
        let sum = || {
            let divisor = self.divisor.checked_mul(mine)?;
            let theirs = theirs.checked_mul(factor)?;
            let mut summands = BTreeMap::new();
            for (monomial, coefficient) in &self.summands {
                summands.insert(monomial.clone(), coefficient.checked_mul(mine)?);
            }
            for (monomial, coefficient) in &other.summands {
                let entry = summands.entry(monomial.clone()).or_insert(0);
                *entry = entry.checked_add(coefficient.checked_mul(theirs)?)?;
            }
            Some((summands, divisor))
        };
        let (summands, divisor) = too_large(sum())?;
        Poly::from_parts(summands, divisor)
    }

    /// The sum.
    pub(crate) fn plus(&self, other: &Poly) -> Result<Poly, Stop> {
        self.plus_scaled(1, other)
    }

    /// The difference.
    pub(crate) fn minus(&self, other: &Poly) -> Result<Poly, Stop> {
        self.plus_scaled(-1, other)
    }

    /// The product with a number.
    pub(crate) fn times_constant(&self, factor: i128) -> Result<Poly, Stop> {
        Poly::constant(0).plus_scaled(factor, self)
    }

    /// The quotient by a number other than 0, exact.
    pub(crate) fn over(&self, divisor: i128) -> Result<Poly, Stop> {
        let sign = divisor.signum();
        let whole = too_large(self.divisor.checked_mul(divisor.abs()))?;
        let summands = self.summands.iter().map(|(monomial, c)| (monomial.clone(), c * sign)).collect();
        Poly::from_parts(summands, whole)
    }

    /// The sum with a number.
    pub(crate) fn plus_constant(&self, value: i128) -> Result<Poly, Stop> {
        self.plus(&Poly::constant(value))
    }

    /// The product.
    pub(crate) fn times(&self, other: &Poly) -> Result<Poly, Stop> {
        let product = || {
            if self.summands.len() * other.summands.len() > SUMMANDS * 4 {
                return None;
            }
            let mut summands: BTreeMap<Monomial, i128> = BTreeMap::new();
            for (left, a) in &self.summands {
                for (right, b) in &other.summands {
                    let entry = summands.entry(product(left, right)).or_insert(0);
                    *entry = entry.checked_add(a.checked_mul(*b)?)?;
                }
            }
            Some((summands, self.divisor.checked_mul(other.divisor)?))
        };
        let (summands, divisor) = too_large(product())?;
        Poly::from_parts(summands, divisor)
    }

    /// Quotient and rest of a division by a product of atoms and what is added to it, such that no summand of the rest is a
    /// multiple of that product.
    pub(crate) fn divided(&self, by: &Poly) -> Result<(Poly, Poly), Stop> {
        let degree = |monomial: &Monomial| monomial.iter().map(|(_, power)| power).sum::<u32>();
        let (mut quotient, mut rest) = (Poly::constant(0), self.clone());
        let Some((lead, &factor)) = by.summands.iter().max_by_key(|(monomial, _)| degree(monomial)) else {
            return Ok((quotient, rest));
        };
        for _ in 0..SUMMANDS {
            let multiple = |(monomial, coefficient): (&Monomial, &i128)| {
                let whole = rest.divisor == 1 && by.divisor == 1 && coefficient % factor == 0;
                Some((without(monomial, lead)?, coefficient / factor)).filter(|_| whole)
            };
            let Some((monomial, coefficient)) = rest.summands.iter().find_map(multiple) else { break };
            let part = Poly::from_parts(BTreeMap::from([(monomial, coefficient)]), 1)?;
            quotient = quotient.plus(&part)?;
            rest = rest.minus(&part.times(by)?)?;
        }
        Ok((quotient, rest))
    }

    /// A product of two atoms and a positive constant as an atom, and the constant times the other one, which is to be one that
    /// `is_second` chooses.
    pub(crate) fn split_product(&self, is_second: impl Fn(Atom) -> bool) -> Option<(Poly, Poly)> {
        let (monomial, &factor) = self.summands.iter().next().filter(|_| self.summands.len() == 1)?;
        let atoms: Vec<Atom> = monomial.iter().flat_map(|&(atom, power)| (0..power).map(move |_| atom)).collect();
        let (&[one, other], 1, 1..) = (&atoms[..], self.divisor, factor) else { return None };
        let (first, second) = [(one, other), (other, one)].into_iter().find(|pair| is_second(pair.1))?;
        Some((Poly::atom(first), Poly::atom(second).times_constant(factor).ok()?))
    }

    /// Whether a summand has a negative coefficient.
    pub(crate) fn has_negative(&self) -> bool {
        self.summands.values().any(|coefficient| *coefficient < 0)
    }

    /// The power.
    pub(crate) fn power(&self, exponent: u32) -> Result<Poly, Stop> {
        (0..exponent).try_fold(Poly::constant(1), |power, _| power.times(self))
    }

    /// A polynomial without a divisor or common factor that is at most 0, or with `bound` not set is 0, where this one is. Without
    /// `bound` also whether it can be 0: the number without atoms must be a multiple of what the other coefficients are multiples of.
    pub(crate) fn primitive(&self, bound: bool) -> (Poly, bool) {
        let others = || self.summands.iter().filter(|(monomial, _)| !monomial.is_empty());
        let common = others().fold(0, |common, (_, coefficient)| gcd(common, *coefficient));
        let mut summands = self.summands.clone();
        let constant = summands.get(&Vec::new()).copied().unwrap_or(0);
        if common > 1 && (bound || constant % common == 0) {
            summands.values_mut().for_each(|coefficient| *coefficient /= common);
            // x + c / common <= 0 for an integer x.
            summands.insert(Vec::new(), -(-constant).div_euclid(common));
            summands.retain(|_, coefficient| *coefficient != 0);
        }
        (Poly { divisor: 1, summands }, common == 0 || constant % common == 0)
    }

    /// The constant summand, if the divisor is 1.
    pub(crate) fn constant_part(&self) -> i128 {
        if self.divisor == 1 { self.summands.get(&Vec::new()).copied().unwrap_or(0) } else { 0 }
    }

    /// All atoms, each once.
    pub(crate) fn atoms(&self) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = self.summands.keys().flatten().map(|(atom, _)| *atom).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// The number before the atom and the rest, if the atom stands alone in one summand and nowhere else, and the divisor
    /// is 1.
    pub(crate) fn linear_in(&self, atom: Atom) -> Option<(i128, Poly)> {
        let coefficient = *self.summands.get(&vec![(atom, 1)])?;
        let mut rest = self.summands.clone();
        rest.remove(&vec![(atom, 1)]);
        let occurs = rest.keys().flatten().any(|(other, _)| *other == atom);
        (self.divisor == 1 && !occurs).then_some((coefficient, Poly { divisor: 1, summands: rest }))
    }
}

/// What a product is of another one, if it is a multiple.
fn without(product: &Monomial, factor: &Monomial) -> Option<Monomial> {
    let mut rest: BTreeMap<Atom, u32> = product.iter().copied().collect();
    for (atom, power) in factor {
        let left = rest.remove(atom)?.checked_sub(*power)?;
        if left > 0 {
            rest.insert(*atom, left);
        }
    }
    Some(rest.into_iter().collect())
}

fn product(left: &Monomial, right: &Monomial) -> Monomial {
    let mut product: BTreeMap<Atom, u32> = left.iter().copied().collect();
    for (atom, power) in right {
        *product.entry(*atom).or_insert(0) += power;
    }
    product.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_polynomials_are_equal_as_data() {
        let (x, y) = (Poly::atom(Atom(0)), Poly::atom(Atom(1)));
        let sum = x.plus(&y).unwrap();
        let square = sum.times(&sum).unwrap();
        let parts = x.times(&x).unwrap().plus(&x.times(&y).unwrap().times_constant(2).unwrap()).unwrap();
        let parts = parts.plus(&y.power(2).unwrap()).unwrap();
        assert_eq!(square, parts);
        assert_eq!(square.minus(&parts).unwrap().as_constant(), Some(0));
    }

    #[test]
    fn halves_add_up() {
        let x = Poly::atom(Atom(0));
        let half = x.over(2).unwrap();
        assert_eq!(half.plus(&half).unwrap(), x);
        assert_eq!(half.times_constant(-2).unwrap(), x.times_constant(-1).unwrap());
        assert_eq!(half.linear_in(Atom(0)), None);
        assert_eq!(x.times_constant(3).unwrap().linear_in(Atom(0)), Some((3, Poly::constant(0))));
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let large = Poly::constant(i128::MAX);
        assert!(large.plus(&large).is_err());
        assert!(large.times(&large).is_err());
        assert!(Poly::atom(Atom(0)).power(40).is_err());
    }
}
