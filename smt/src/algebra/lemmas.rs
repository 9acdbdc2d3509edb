// SPDX-License-Identifier: Apache-2.0
//! What helps with products where they are free variables: quotients, extensions and bounds.
//!
//! Lemmas on demand, as for the incremental linearization of Cimatti, Griggio, Irfan, Roveri, Sebastiani (*Incremental
//! Linearization for Satisfiability and Verification Modulo Nonlinear Arithmetic*, TOCL 2018), for bit vectors: what holds in any
//! case ([`consequences`]) is added, what may hold ([`conjectures`]) is for the caller to prove.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::Bounds;
use super::definitions::Definitions;
use super::{SIZE, equation};
use crate::term::polynomial::{Monomial, Polynomial};
use crate::term::{BvBin, BvCmp, Term, TermId, Terms};

/// The most conjectures about one formula.
const CONJECTURES: usize = 12;
/// Of how many products it is said what they are if a factor is 0 or 1.
const PRODUCTS: usize = 30;
/// Of how many of the lowest bits of a product it is said what they are.
const LOW_BITS: u32 = 4;

/// A division by a constant that is not zero: dividend, divisor, remainder, and whether they are read in two's complement.
struct Division {
    dividend: TermId,
    divisor: TermId,
    rest: TermId,
    signed: bool,
}

fn division(terms: &mut Terms, t: TermId) -> Option<Division> {
    let Term::BvBin(op, dividend, by) = *terms.get(t) else { return None };
    let constant = terms.as_bv(by)?;
    let width = terms.width(t);
    let (divisor, rest) = match op {
        BvBin::Udiv if constant > 0 => (constant, BvBin::Urem),
        // Less than half of all numbers, so positive in two's complement.
        BvBin::Sdiv if constant > 0 && constant >> (width - 1) == 0 => (constant, BvBin::Srem),
        BvBin::Lshr if constant < u128::from(width) => (1 << constant, BvBin::Urem),
        _ => return None,
    };
    let divisor = terms.bv(width, divisor);
    let signed = op == BvBin::Sdiv;
    Some(Division { dividend, divisor, rest: terms.bv_bin(rest, dividend, divisor), signed })
}

/// Polynomials that are zero, by width.
pub(super) type Zeros = BTreeMap<u32, Vec<Polynomial>>;

/// For each quotient by a positive constant, dividend minus divisor times quotient minus remainder, which is zero, also as
/// mathematical numbers: so it is with any number of bits to which others among the nodes are extended.
fn divisions(terms: &mut Terms, nodes: &[TermId]) -> Zeros {
    let mut wide: BTreeSet<(u32, u32, bool)> = BTreeSet::new();
    for &t in nodes {
        if let Term::Sext { width, arg } | Term::Zext { width, arg } = *terms.get(t) {
            wide.insert((terms.width(arg), width, matches!(terms.get(t), Term::Sext { .. })));
        }
    }
    let mut found = Zeros::new();
    for &quotient in nodes {
        let Some(Division { dividend, divisor, rest, signed }) = division(terms, quotient) else { continue };
        let own = terms.width(quotient);
        let widths = wide.iter().filter(|entry| (entry.0, entry.2) == (own, signed)).map(|entry| entry.1);
        for width in widths.chain([own]) {
            let [dividend, divisor, quotient, rest] =
                [dividend, divisor, quotient, rest].map(|t| extension(terms, width, t, signed));
            let product = terms.bv_bin(BvBin::Mul, divisor, quotient);
            let sum = terms.bv_bin(BvBin::Add, product, rest);
            found.entry(width).or_default().extend(terms.polynomial_difference(dividend, sum));
        }
    }
    found
}

fn extension(terms: &mut Terms, width: u32, t: TermId, signed: bool) -> TermId {
    if signed { terms.sext(width, t) } else { terms.zext(width, t) }
}

/// Consequences of a conjunction: its equations and those of its divisions, solved for unknowns, and bounds of their products.
pub fn consequences(terms: &mut Terms, formula: TermId) -> Vec<TermId> {
    let nodes = terms.post_order(&[formula], |_| false);
    if nodes.len() > SIZE {
        return Vec::new();
    }
    let parts = terms.conjuncts(formula);
    let bounds = Bounds::new(terms, &parts).propagated(terms);
    let mut result = Vec::new();
    let mut products: BTreeSet<(u32, Monomial)> = BTreeSet::new();
    let equations = equations(terms, &parts);
    for (width, definitions) in all_definitions(terms, &equations, &nodes) {
        for zero in definitions.zeros() {
            let products_of = zero.keys().filter(|monomial| monomial.len() > 1);
            products.extend(products_of.map(|monomial| (width, monomial.clone())));
            result.push(terms.is_zero(width, &zero));
        }
    }
    result.extend(low_bits_among(terms, &nodes));
    products.extend(products_among(terms, &nodes));
    for (width, monomial) in products.iter().take(PRODUCTS) {
        result.extend(by_factors(terms, *width, monomial));
    }
    for (width, monomial) in products {
        let Some((low, high)) = bounds.product(terms, &monomial) else { continue };
        let product = terms.polynomial_term(width, &[(monomial, 1)].into());
        let (low, high) = (terms.bv(width, low), terms.bv(width, high));
        result.push(terms.bv_cmp(BvCmp::Ule, low, product));
        result.push(terms.bv_cmp(BvCmp::Ule, product, high));
    }
    result
}

/// The products in sums among some terms, with their widths.
fn products_among(terms: &mut Terms, nodes: &[TermId]) -> BTreeSet<(u32, Monomial)> {
    let mut products = BTreeSet::new();
    for &t in nodes {
        if terms.is_arithmetic(t) {
            let width = terms.width(t);
            let polynomial = terms.polynomial(t);
            let products_of = polynomial.keys().filter(|monomial| monomial.len() > 1);
            products.extend(products_of.map(|monomial| (width, monomial.clone())));
        }
    }
    products
}

/// What the lowest bits of the products in some formulas are, if these are about such bits; this holds in any case.
pub fn low_bits_of_products(terms: &mut Terms, formulas: &[TermId]) -> Vec<TermId> {
    let nodes = terms.post_order(formulas, |_| false);
    if nodes.len() <= SIZE { low_bits_among(terms, &nodes) } else { Vec::new() }
}

fn low_bits_among(terms: &mut Terms, nodes: &[TermId]) -> Vec<TermId> {
    let bits = nodes.iter().map(|&t| low_bits(terms, t)).max().unwrap_or(0);
    if bits == 0 {
        return Vec::new();
    }
    let products = products_among(terms, nodes).into_iter().take(PRODUCTS);
    products.map(|(width, monomial)| by_low_bits(terms, width, &monomial, bits)).collect()
}

/// What a product is if a factor is 0 or 1.
fn by_factors(terms: &mut Terms, width: u32, monomial: &Monomial) -> Vec<TermId> {
    let product = terms.polynomial_term(width, &[(monomial.clone(), 1)].into());
    let (zero, one) = (terms.bv(width, 0), terms.bv(width, 1));
    let is_zero = terms.eq(product, zero);
    let mut result = Vec::new();
    for (at, &factor) in monomial.iter().enumerate() {
        let mut rest = monomial.clone();
        rest.remove(at);
        let rest = terms.polynomial_term(width, &[(rest, 1)].into());
        let is_rest = terms.eq(product, rest);
        for (value, then) in [(zero, is_zero), (one, is_rest)] {
            let is_value = terms.eq(factor, value);
            result.push(terms.implies(is_value, then));
        }
    }
    result
}

/// How many of the lowest bits of a number a term is about: it is a remainder of a power of two.
fn low_bits(terms: &Terms, t: TermId) -> u32 {
    let bits = match *terms.get(t) {
        Term::BvBin(BvBin::And, a, b) => {
            let mask = terms.as_bv(a).or_else(|| terms.as_bv(b));
            mask.filter(|&mask| mask.trailing_ones() + mask.leading_zeros() == u128::BITS)
                .map_or(0, u128::trailing_ones)
        }
        Term::Extract { hi, lo: 0, .. } => hi + 1,
        _ => 0,
    };
    if bits <= LOW_BITS { bits } else { 0 }
}

/// The lowest bits of a product depend on those of its factors only.
fn by_low_bits(terms: &mut Terms, width: u32, monomial: &Monomial, bits: u32) -> TermId {
    let bits = bits.min(width);
    let mask = terms.bv(width, (1 << bits) - 1);
    let low = |terms: &mut Terms, t: TermId| terms.bv_bin(BvBin::And, t, mask);
    let zero = terms.bv(width, 0);
    let mut of_factors = terms.bv(width, 1);
    for &factor in monomial {
        let mut sum = zero;
        for bit in 0..bits {
            let power = terms.bv(width, 1 << bit);
            let is_set = terms.bv_bin(BvBin::And, factor, power);
            let is_set = terms.ne(is_set, zero);
            let shifted = terms.bv_bin(BvBin::Mul, power, of_factors);
            let shifted = terms.ite(is_set, shifted, zero);
            sum = terms.bv_bin(BvBin::Add, sum, shifted);
        }
        of_factors = low(terms, sum);
    }
    let product = terms.polynomial_term(width, &[(monomial.clone(), 1)].into());
    let product = low(terms, product);
    terms.eq(product, of_factors)
}

/// The differences of both sides of the equations among the parts of a conjunction.
pub(super) fn equations(terms: &mut Terms, parts: &[TermId]) -> Zeros {
    let mut zeros = Zeros::new();
    for &part in parts {
        if let Some((a, b)) = equation(terms, part) {
            zeros.entry(terms.width(a)).or_default().extend(terms.polynomial_difference(a, b));
        }
    }
    zeros
}

/// What the equations of a conjunction define, by width. Extensions of equal numbers are equal.
pub(super) fn all_definitions(terms: &mut Terms, equations: &Zeros, nodes: &[TermId]) -> BTreeMap<u32, Definitions> {
    let mut zeros = divisions(terms, nodes);
    for (&width, of_width) in equations {
        zeros.entry(width).or_default().extend(of_width.iter().cloned());
    }
    let mut found = BTreeMap::new();
    while let Some((width, of_width)) = zeros.pop_first() {
        let definitions = Definitions::new(width, &of_width);
        for &t in nodes {
            let (Term::Sext { width: wide, arg } | Term::Zext { width: wide, arg }) = *terms.get(t) else { continue };
            if terms.width(arg) != width {
                continue;
            }
            let polynomial = terms.polynomial(arg);
            let Some(reduced) = definitions.reduce(&polynomial).filter(|reduced| *reduced != polynomial) else {
                continue;
            };
            let equal = terms.polynomial_term(width, &reduced);
            let signed = matches!(terms.get(t), Term::Sext { .. });
            let equal = extension(terms, wide, equal, signed);
            zeros.entry(wide).or_default().extend(terms.polynomial_difference(t, equal));
        }
        found.insert(width, definitions);
    }
    found
}

/// Facts that would help if they followed from the formula: that divisions are exact, and that sums that are extended have
/// not wrapped around.
pub fn conjectures(terms: &mut Terms, formula: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    for t in terms.post_order(&[formula], |_| false) {
        let fact = match *terms.get(t) {
            Term::Sext { width, arg } | Term::Zext { width, arg } if terms.is_arithmetic(arg) => {
                let signed = matches!(terms.get(t), Term::Sext { .. });
                match extended(terms, width, arg, signed) {
                    Some(sum) => terms.eq(t, sum),
                    None => continue,
                }
            }
            _ => {
                let Some(Division { rest, .. }) = division(terms, t) else { continue };
                let zero = terms.bv(terms.width(t), 0);
                terms.eq(rest, zero)
            }
        };
        if !found.contains(&fact) && terms.as_value(fact).is_none() {
            found.push(fact);
        }
    }
    found.truncate(CONJECTURES);
    found
}

/// The sum of the extensions of what is added, if nothing but multiples of unknowns is added.
fn extended(terms: &mut Terms, wide: u32, sum: TermId, signed: bool) -> Option<TermId> {
    let width = terms.width(sum);
    let polynomial = terms.polynomial(sum);
    let mut result = terms.bv(wide, 0);
    for (monomial, &c) in polynomial.iter() {
        let factor = terms.bv(width, c);
        let mut product = terms.sext(wide, factor);
        for &part in monomial {
            let part = extension(terms, wide, part, signed);
            product = terms.bv_bin(BvBin::Mul, product, part);
        }
        result = terms.bv_bin(BvBin::Add, result, product);
    }
    Some(result)
}
