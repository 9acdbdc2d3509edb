// SPDX-License-Identifier: Apache-2.0
//! What polynomial equations modulo 2^width imply by elimination: an equation in which an unknown occurs once, alone, with an
//! odd coefficient defines this unknown, which is replaced everywhere by what it is.
//!
//! That is Gaussian elimination as far as it goes for polynomials (Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*,
//! chapter 3, with an order of monomials that depends on the equations). An odd number has an inverse modulo 2^width, so a
//! definition has the same solutions as its equation, whatever wraps around. Equations that define nothing are left for
//! [`Ideal`].

use super::ideal::Ideal;
use crate::term::TermId;
use crate::term::polynomial::{Monomial, Polynomial, plus, times};
use crate::term::semantics::{inverse_odd, mask};

/// The most definitions.
const DEFINITIONS: usize = 40;
/// The most equations that are left.
const LEFT: usize = 24;

/// The consequences of some equations.
pub(super) struct Definitions {
    width: u32,
    /// Unknowns and what they are; no defined unknown occurs in what another one is.
    rules: Vec<(TermId, Polynomial)>,
    /// What else is zero, without defined unknowns.
    left: Vec<Polynomial>,
    /// What the rest implies.
    ideal: Ideal,
}

impl Definitions {
    /// The consequences of these polynomials being zero.
    pub(super) fn new(width: u32, zeros: &[Polynomial]) -> Self {
        let mut found =
            Definitions { width, rules: Vec::new(), left: Vec::new(), ideal: Ideal::new(width, Vec::new()) };
        for zero in zeros {
            let Some(zero) = found.replaced(zero) else { continue };
            found.add(zero);
        }
        // What is left may define something when it is reduced by what came later.
        for _ in 0..found.left.len() {
            let before = found.rules.len();
            for zero in std::mem::take(&mut found.left) {
                let Some(zero) = found.replaced(&zero) else { continue };
                found.add(zero);
            }
            if found.rules.len() == before {
                break;
            }
        }
        found.left.dedup();
        found.ideal = Ideal::new(width, found.left.clone());
        found
    }

    fn add(&mut self, zero: Polynomial) {
        if zero.is_empty() {
            return;
        }
        let defined = (self.rules.len() < DEFINITIONS).then(|| self.definition(&zero)).flatten();
        let Some((unknown, value)) = defined else {
            if self.left.len() < LEFT && !self.left.contains(&zero) {
                self.left.push(zero);
            }
            return;
        };
        // A rule that would get too large stays what it was as an equation; it is no rule any more.
        let mut rules = Vec::with_capacity(self.rules.len() + 1);
        for (other, polynomial) in std::mem::take(&mut self.rules) {
            rules.extend(replace(self.width, &polynomial, unknown, &value).map(|polynomial| (other, polynomial)));
        }
        rules.push((unknown, value));
        self.rules = rules;
    }

    /// The unknown that an equation defines, and what it is.
    fn definition(&self, zero: &Polynomial) -> Option<(TermId, Polynomial)> {
        let ones = mask(self.width);
        let (unknown, c) = zero.iter().find_map(|(monomial, &c)| {
            let [unknown] = monomial[..] else { return None };
            let alone = zero.keys().filter(|other| other.contains(&unknown)).count() == 1;
            (alone && c % 2 == 1).then_some((unknown, c))
        })?;
        let minus_inverse = inverse_odd(self.width, c).wrapping_neg() & ones;
        let scaled = plus(ones, &Polynomial::default(), minus_inverse, zero)?;
        let value = scaled.iter().filter(|(monomial, _)| monomial[..] != [unknown]);
        Some((unknown, Polynomial::new(value.map(|(monomial, c)| (monomial.clone(), *c)).collect())))
    }

    fn replaced(&self, polynomial: &Polynomial) -> Option<Polynomial> {
        let mut result = Polynomial::clone(polynomial);
        for (unknown, value) in &self.rules {
            result = replace(self.width, &result, *unknown, value)?;
        }
        Some(result)
    }

    /// The polynomial after all replacements; none if it gets too large.
    pub(super) fn reduce(&self, polynomial: &Polynomial) -> Option<Polynomial> {
        self.ideal.reduce(&self.replaced(polynomial)?)
    }

    /// What is zero, in a form without defined unknowns but one in each definition.
    pub(super) fn zeros(&self) -> Vec<Polynomial> {
        let ones = mask(self.width);
        let rules = self.rules.iter().filter_map(|(unknown, value)| {
            let unknown = Polynomial::new([(vec![*unknown], 1)].into());
            plus(ones, &unknown, ones, value)
        });
        rules.chain(self.left.iter().cloned()).collect()
    }
}

/// The polynomial with a polynomial in place of an unknown.
fn replace(width: u32, polynomial: &Polynomial, unknown: TermId, value: &Polynomial) -> Option<Polynomial> {
    if !polynomial.keys().any(|monomial| monomial.contains(&unknown)) {
        return Some(Polynomial::clone(polynomial));
    }
    let ones = mask(width);
    let mut result = Polynomial::default();
    for (monomial, &c) in polynomial.iter() {
        let power = monomial.iter().filter(|part| **part == unknown).count();
        let rest: Monomial = monomial.iter().copied().filter(|part| *part != unknown).collect();
        let mut product = Polynomial::new([(rest, 1)].into());
        for _ in 0..power {
            product = times(ones, &product, value)?;
        }
        result = plus(ones, &result, c, &product)?;
    }
    Some(result)
}
