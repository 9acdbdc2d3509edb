// SPDX-License-Identifier: Apache-2.0
//! Formulas that forget what products are: a contradiction that does not depend on them is found without their circuits.

use rustc_hash::FxHashMap;

use super::SIZE;
use super::ideal::degree;
use crate::term::polynomial::{Monomial, Polynomial};
use crate::term::{BvBin, Sort, Term, TermId, Terms};

/// The formula with a free variable for each product of unknowns and for each quotient and remainder; none if it is large or has no such part. If it has no model, the formula has none, since a model of the formula is one of it with
/// the values of these parts.
pub fn without_products(terms: &mut Terms, formula: TermId) -> Option<TermId> {
    let mut parts = Parts::default();
    let free = parts.without(terms, formula)?;
    (!parts.opaque.is_empty()).then_some(free)
}

/// The same for several formulas, with the same variables; none if they are large together.
pub fn all_without_products(terms: &mut Terms, formulas: &[TermId]) -> Option<Vec<TermId>> {
    let mut parts = Parts::default();
    let order = terms.post_order(formulas, |_| false);
    if order.len() > SIZE {
        return None;
    }
    parts.replace(terms, order);
    Some(formulas.iter().map(|formula| parts.memo[formula]).collect())
}

/// Two factors with so many bits together are multiplied by a circuit that is no obstacle.
const SMALL_FACTORS: u32 = 20;

/// Whether a product of unknowns that are not both of few bits occurs in a term.
pub fn has_product(terms: &Terms, t: TermId) -> bool {
    terms.post_order(&[t], |_| false).into_iter().any(|t| is_product(terms, t) && !is_small(terms, t))
}

/// Whether a product, quotient or remainder occurs in a term whose circuit is an obstacle.
pub fn needs_circuits(terms: &Terms, t: TermId) -> bool {
    terms.post_order(&[t], |_| false).into_iter().any(|t| is_opaque(terms, t) && !is_small(terms, t))
}

/// Whether a quotient or remainder that needs a circuit occurs in a term.
pub fn has_quotient(terms: &Terms, t: TermId) -> bool {
    terms.post_order(&[t], |_| false).into_iter().any(|t| is_opaque(terms, t) && !is_product(terms, t))
}

fn is_product(terms: &Terms, t: TermId) -> bool {
    match *terms.get(t) {
        Term::BvBin(BvBin::Mul, a, b) | Term::IntMul(a, b) => {
            terms.as_value(a).is_none() && terms.as_value(b).is_none()
        }
        _ => false,
    }
}

/// Whether a product is one of two numbers of few bits.
fn is_small(terms: &Terms, t: TermId) -> bool {
    match *terms.get(t) {
        Term::BvBin(BvBin::Mul, a, b) => significant_bits(terms, a) + significant_bits(terms, b) <= SMALL_FACTORS,
        _ => false,
    }
}

/// The bits of a bit vector that are not copies of its sign or zeros by its form.
fn significant_bits(terms: &Terms, t: TermId) -> u32 {
    match *terms.get(t) {
        Term::Zext { arg, .. } | Term::Sext { arg, .. } => terms.width(arg),
        _ => terms.width(t),
    }
}

/// Whether a bit vector is a product of unknowns, or a quotient or remainder that is no shift.
fn is_opaque(terms: &Terms, t: TermId) -> bool {
    match *terms.get(t) {
        Term::BvBin(BvBin::Mul, ..) => is_product(terms, t),
        Term::BvBin(BvBin::Udiv | BvBin::Urem | BvBin::Sdiv | BvBin::Srem, _, by) => {
            terms.as_bv(by).is_none_or(|by| !by.is_power_of_two())
        }
        _ => false,
    }
}

/// What became of the parts of a formula.
#[derive(Default)]
pub(super) struct Parts {
    memo: FxHashMap<TermId, TermId>,
    /// The parts that became variables, over the parts that did, and their variables.
    pub(super) opaque: FxHashMap<TermId, TermId>,
}

impl Parts {
    pub(super) fn without(&mut self, terms: &mut Terms, formula: TermId) -> Option<TermId> {
        let order = terms.post_order(&[formula], |_| false);
        if order.len() > SIZE {
            return None;
        }
        if !order.iter().any(|&t| is_opaque(terms, t)) {
            return Some(formula);
        }
        self.replace(terms, order);
        Some(self.memo[&formula])
    }

    fn replace(&mut self, terms: &mut Terms, order: Vec<TermId>) {
        for t in order {
            let new = self.part(terms, t);
            self.memo.insert(t, new);
        }
    }

    fn part(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        if terms.is_arithmetic(t) {
            // Products of the same numbers are one variable, whatever sums they are written in.
            let polynomial = terms.polynomial(t);
            if degree(&polynomial) > 1 {
                return self.sum(terms, terms.width(t), &polynomial);
            }
        }
        let new = terms.rebuild(t, |child| self.memo[&child]);
        if is_opaque(terms, new) { self.variable(terms, new) } else { new }
    }

    /// A polynomial whose parts have been looked at.
    fn sum(&mut self, terms: &mut Terms, width: u32, polynomial: &Polynomial) -> TermId {
        let mut sum = terms.bv(width, 0);
        for (monomial, &factor) in polynomial.iter() {
            let mut parts: Monomial =
                monomial.iter().map(|part| self.memo.get(part).copied().unwrap_or(*part)).collect();
            parts.sort_unstable();
            let product = terms.polynomial_term(width, &[(parts.clone(), 1)].into());
            let product = if parts.len() > 1 { self.variable(terms, product) } else { product };
            let factor = terms.bv(width, factor);
            let product = terms.bv_bin(BvBin::Mul, factor, product);
            sum = terms.bv_bin(BvBin::Add, sum, product);
        }
        sum
    }

    fn variable(&mut self, terms: &mut Terms, part: TermId) -> TermId {
        if terms.as_value(part).is_some() {
            return part;
        }
        let width = terms.width(part);
        let symbol = terms.symbol(&format!("product!{width}"), Sort::Bv(width));
        let index = u32::try_from(part.index()).expect("fewer than 2^32 terms");
        *self.opaque.entry(part).or_insert_with(|| terms.var(symbol, index))
    }
}
