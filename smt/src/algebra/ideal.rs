// SPDX-License-Identifier: Apache-2.0
//! What polynomial equations modulo 2^width imply: the ideal that they generate, as far as rewriting decides it.
//!
//! Each equation whose leading monomial has an odd coefficient is a rule that replaces this monomial by smaller ones;
//! Buchberger's completion adds the rules that critical pairs ask for (Cox, Little, O'Shea, *Ideals, Varieties, and
//! Algorithms*, chapter 2). The integers modulo 2^width are no field: equations with an even leading coefficient are left
//! out, and the completion stops at its limits, so what reduces to zero is zero wherever the equations hold, and what does
//! not may be zero as well.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::term::polynomial::{Monomial, Polynomial, plus, product};
use crate::term::semantics::{inverse_odd, mask};

/// The most rules.
const RULES: usize = 24;
/// The most critical pairs.
const PAIRS: usize = 120;
/// The most steps of one reduction.
const STEPS: usize = 400;
/// The greatest degree of what a critical pair gives.
const DEGREE: usize = 6;

/// A polynomial that is zero, with the coefficient 1 before its leading monomial.
struct Rule {
    leading: Monomial,
    polynomial: Polynomial,
}

/// The consequences of some equations.
pub(super) struct Ideal {
    width: u32,
    rules: Vec<Rule>,
}

/// The order of monomials: by degree, then by their parts.
fn order(monomial: &Monomial) -> (usize, Reverse<&Monomial>) {
    (monomial.len(), Reverse(monomial))
}

/// What `whole` has more than `part`; none if `part` does not divide it.
fn quotient(whole: &Monomial, part: &Monomial) -> Option<Monomial> {
    let mut wanted = part.iter().peekable();
    let rest: Monomial = whole.iter().copied().filter(|have| wanted.next_if_eq(&have).is_none()).collect();
    wanted.next().is_none().then_some(rest)
}

fn times(polynomial: &Polynomial, monomial: &Monomial) -> Polynomial {
    Polynomial::new(polynomial.iter().map(|(own, c)| (product(own, monomial), *c)).collect())
}

impl Ideal {
    /// The consequences of these polynomials being zero.
    pub(super) fn new(width: u32, zeros: Vec<Polynomial>) -> Self {
        let mut ideal = Ideal { width, rules: Vec::new() };
        let mut open = zeros;
        open.reverse();
        let mut pairs = 0;
        while let Some(polynomial) = open.pop() {
            let Some(new) = ideal.reduce(&polynomial).and_then(|reduced| ideal.rule(&reduced)) else { continue };
            for old in &ideal.rules {
                if pairs < PAIRS {
                    pairs += 1;
                    open.extend(ideal.critical(old, &new));
                }
            }
            // What the new rule rewrites is no rule any more, but it stays an equation.
            let (kept, changed): (Vec<Rule>, Vec<Rule>) =
                ideal.rules.into_iter().partition(|rule| quotient(&rule.leading, &new.leading).is_none());
            ideal.rules = kept;
            ideal.rules.push(new);
            open.extend(changed.into_iter().map(|rule| rule.polynomial));
            if ideal.rules.len() >= RULES {
                break;
            }
        }
        ideal
    }

    /// A polynomial as a rule, if it has an odd leading coefficient.
    fn rule(&self, polynomial: &Polynomial) -> Option<Rule> {
        let (leading, c) = polynomial.iter().max_by_key(|(monomial, _)| order(monomial))?;
        if leading.is_empty() || c % 2 == 0 {
            return None;
        }
        let inverse = inverse_odd(self.width, *c);
        let ones = mask(self.width);
        let monic = polynomial.iter().map(|(monomial, c)| (monomial.clone(), c.wrapping_mul(inverse) & ones));
        Some(Rule { leading: leading.clone(), polynomial: Polynomial::new(monic.collect()) })
    }

    /// The difference of the multiples of two rules that have the same leading monomial.
    fn critical(&self, one: &Rule, other: &Rule) -> Option<Polynomial> {
        let mut common = Vec::new();
        let mut rest = one.leading.iter().peekable();
        for part in &other.leading {
            while rest.next_if(|own| *own < part).is_some() {}
            common.extend(rest.next_if_eq(&part));
        }
        if common.is_empty() || one.leading.len() + other.leading.len() - common.len() > DEGREE {
            return None;
        }
        let missing = quotient(&other.leading, &common)?;
        let own = quotient(&one.leading, &common)?;
        let ones = mask(self.width);
        plus(ones, &times(&one.polynomial, &missing), ones, &times(&other.polynomial, &own))
    }

    /// The polynomial after all rules; none if it gets too large.
    pub(super) fn reduce(&self, polynomial: &Polynomial) -> Option<Polynomial> {
        let ones = mask(self.width);
        let mut reduced = Polynomial::clone(polynomial);
        for _ in 0..STEPS {
            let step = reduced.iter().rev().find_map(|(monomial, c)| {
                self.rules.iter().find_map(|rule| Some((rule, quotient(monomial, &rule.leading)?, *c)))
            });
            let Some((rule, factor, c)) = step else { return Some(reduced) };
            reduced = plus(ones, &reduced, c.wrapping_neg() & ones, &times(&rule.polynomial, &factor))?;
        }
        None
    }

    /// Whether there is nothing to reduce with.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

/// The degree.
pub(super) fn degree(polynomial: &BTreeMap<Monomial, u128>) -> usize {
    polynomial.keys().map(Vec::len).max().unwrap_or(0)
}
