// SPDX-License-Identifier: Apache-2.0
//! Formulas about products and sums, simplified by what their equations imply.
//!
//! Solvers translate products of 32 and 64 bits to circuits, for which `x*u + y*v = c` after a step of Euclid's algorithm
//! is hopeless; as polynomials both are the same. So are sums of which each branch of a loop increases another part.
//! [`by_cases`] splits a formula at the conditions that its polynomials depend on, and in each case rewrites all polynomials
//! with the equations that hold there (`ideal`). What is computed with few bits and then extended is computed with many
//! where the bounds of the case say that nothing is lost (`bounds`).
//! Numbers that count how many of some conditions hold are compared as sums (`counts`).
//! [`without_products`] is for contradictions that hold whatever the products are.

mod bounds;
mod counts;
mod definitions;
mod ideal;
mod integers;
mod lemmas;
mod opaque;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::term::polynomial::{Monomial, Polynomial};
use crate::term::{BvBin, Sort, Term, TermId, Terms};
pub(crate) use bounds::Bounds;
use counts::without_counts;
use definitions::Definitions;
use ideal::{Ideal, degree};

pub use integers::{InIntegers, in_integers};
pub use lemmas::{conjectures, consequences, low_bits_of_products};
pub use opaque::{all_without_products, has_product, has_quotient, needs_circuits, without_products};

/// The most nodes of a formula.
const SIZE: usize = 4_000;
/// The most cases.
const CASES: usize = 64;
/// The fewest choices in a sum that is taken apart.
const CHOICES: usize = 4;
/// How often a case is simplified by what its simplification brought.
const ROUNDS: usize = 4;

/// A formula with the same models. It is `false` if in each case the equations contradict what else is said.
pub fn by_cases(terms: &mut Terms, formula: TermId) -> TermId {
    let mut formula = formula;
    let mut nodes = terms.post_order(&[formula], |_| false);
    if nodes.len() > SIZE {
        return formula;
    }
    if let Some(decided) = without_counts(terms, formula, &nodes) {
        formula = decided;
        nodes = terms.post_order(&[formula], |_| false);
    }
    if !is_hard(terms, &nodes) {
        return formula;
    }
    let formula = without_increments(terms, formula);
    match cases(terms, formula) {
        Some(left) => terms.or_all(&left),
        None => formula,
    }
}

/// Whether there are few nodes and an equation among them that is hard as a circuit.
fn is_hard(terms: &mut Terms, nodes: &[TermId]) -> bool {
    nodes.len() <= SIZE && nodes.iter().any(|&node| hard(terms, node, CHOICES).is_some())
}

/// A formula with the same models, in which sums share what they only add a constant to in some cases:
/// `if c then x + 1 else x` is `x + (if c then 1 else 0)`, and what the equations then say of `x` is used.
fn without_increments(terms: &mut Terms, formula: TermId) -> TermId {
    let nodes = terms.post_order(&[formula], |_| false);
    let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut increments = Increments::default();
    let mut found = false;
    for t in nodes {
        let new = terms.rebuild(t, |child| memo[&child]);
        let new = match increments.taken_out(terms, new) {
            Some(sum) => {
                found = true;
                sum
            }
            None => new,
        };
        memo.insert(t, new);
    }
    if found { settled(terms, memo[&formula]) } else { formula }
}

/// Which numbers depend on conditions only.
#[derive(Default)]
struct Increments {
    memo: FxHashMap<TermId, bool>,
}

impl Increments {
    /// A choice between numbers with a difference that depends on conditions only, as the second one and a choice between that
    /// difference and 0.
    fn taken_out(&mut self, terms: &mut Terms, t: TermId) -> Option<TermId> {
        let Term::Ite(condition, yes, no) = *terms.get(t) else { return None };
        if !is_number(terms, yes) || self.is_choice(terms, yes) || self.is_choice(terms, no) {
            return None;
        }
        let difference = terms.polynomial_difference(yes, no)?;
        let is_choice = |part: &TermId| self.is_choice(terms, *part);
        if difference.is_empty() || !difference.keys().flatten().all(is_choice) {
            return None;
        }
        let width = terms.width(yes);
        let difference = terms.polynomial_term(width, &difference);
        let zero = terms.bv(width, 0);
        let choice = terms.ite(condition, difference, zero);
        Some(terms.bv_bin(BvBin::Add, no, choice))
    }

    /// Whether a number is a constant in each case.
    fn is_choice(&mut self, terms: &Terms, t: TermId) -> bool {
        for node in terms.post_order(&[t], |node| self.memo.contains_key(&node) || !is_number(terms, node)) {
            let is_choice = match *terms.get(node) {
                Term::Ite(_, yes, no) => self.memo[&yes] && self.memo[&no],
                Term::BvBin(BvBin::Add | BvBin::Sub | BvBin::Mul, a, b) => self.memo[&a] && self.memo[&b],
                _ => terms.as_value(node).is_some(),
            };
            self.memo.insert(node, is_choice);
        }
        self.memo[&t]
    }
}

/// The cases of a formula that is hard, without those that are contradictory; none if it is not hard, or if there are too many
/// cases or none is contradictory.
pub fn cases(terms: &mut Terms, formula: TermId) -> Option<Vec<TermId>> {
    let nodes = terms.post_order(&[formula], |_| false);
    if !is_hard(terms, &nodes) {
        return None;
    }
    let mut left = Vec::new();
    let mut open = vec![formula];
    let mut cases = 0;
    while let Some(case) = open.pop() {
        cases += 1;
        if cases > CASES {
            return None;
        }
        let case = settled(terms, case);
        if case == Terms::fls() {
            continue;
        }
        match split(terms, case) {
            Some(parts) => open.extend(parts),
            None => left.push(case),
        }
    }
    (left.len() < cases).then_some(left)
}

/// What a condition that holds says: a condition without negation, and whether that holds.
fn truth(terms: &Terms, condition: TermId) -> (TermId, TermId) {
    let (condition, negated) = terms.strip_not(condition);
    (condition, terms.bool(!negated))
}

fn is_number(terms: &Terms, t: TermId) -> bool {
    matches!(terms.sort(t), Sort::Bv(_))
}

/// The sides of an equation of numbers.
fn equation(terms: &Terms, t: TermId) -> Option<(TermId, TermId)> {
    match *terms.get(t) {
        Term::Eq(a, b) if is_number(terms, a) => Some((a, b)),
        _ => None,
    }
}

/// The difference of the sides of an equation that is hard as a circuit: about products, or about a long sum with at least
/// `choices` choices.
fn hard(terms: &mut Terms, node: TermId, choices: usize) -> Option<Polynomial> {
    let (a, b) = equation(terms, node)?;
    let difference = terms.polynomial_difference(a, b)?;
    // A choice between constants is no hard part of a circuit.
    let is_choice = |monomial: &&Monomial| {
        monomial.iter().any(|&part| match *terms.get(part) {
            Term::Ite(_, yes, no) => terms.as_value(yes).is_none() || terms.as_value(no).is_none(),
            _ => false,
        })
    };
    let long = difference.len() >= CHOICES && difference.keys().filter(is_choice).count() >= choices;
    (long || degree(&difference) > 1).then_some(difference)
}

/// The conjunction, its parts simplified by what the others say.
fn settled(terms: &mut Terms, formula: TermId) -> TermId {
    let mut formula = formula;
    for _ in 0..ROUNDS {
        let widened = widened(terms, formula);
        let next = rewritten(terms, widened);
        if next == formula {
            break;
        }
        formula = next;
    }
    formula
}

/// The conjunction with sums extended in their parts, and with the equations that its comparisons imply.
fn widened(terms: &mut Terms, formula: TermId) -> TermId {
    let mut parts = terms.conjuncts(formula);
    let bounds = Bounds::new(terms, &parts);
    let equal = bounds.equal(terms);
    let mut rewriting = Rewriting { bounds, ..Rewriting::default() };
    for part in &mut parts {
        *part = rewriting.all(terms, *part);
    }
    parts.extend(equal.into_iter().map(|(a, b)| terms.eq(a, b)));
    terms.and_all(&parts)
}

/// The conjunction, rewritten with its literals and equations.
fn rewritten(terms: &mut Terms, formula: TermId) -> TermId {
    let parts = terms.conjuncts(formula);
    let mut known: FxHashMap<TermId, TermId> = FxHashMap::default();
    for &part in &parts {
        if !matches!(terms.get(part), Term::Or(_) | Term::Ite(..)) {
            known.extend([truth(terms, part)]);
        }
    }
    let zeros = lemmas::equations(terms, &parts);
    let nodes = terms.post_order(&[formula], |_| false);
    let definitions = lemmas::all_definitions(terms, &zeros, &nodes);
    let ideals = zeros.into_iter().map(|(width, zeros)| (width, Ideal::new(width, zeros))).collect();
    let mut rewriting = Rewriting { known, ideals, definitions, ..Rewriting::default() };
    let simpler: Vec<TermId> = parts.into_iter().map(|part| rewriting.part(terms, part)).collect();
    terms.and_all(&simpler)
}

/// What is known in a case.
#[derive(Default)]
struct Rewriting {
    /// The literals of the conjunction, and whether they hold. A part is rewritten with those that occur in it.
    known: FxHashMap<TermId, TermId>,
    /// What the equations among them imply, by width.
    ideals: BTreeMap<u32, Ideal>,
    /// The same by elimination, with what is known of quotients.
    definitions: BTreeMap<u32, Definitions>,
    bounds: Bounds,
    memo: FxHashMap<TermId, TermId>,
}

impl Rewriting {
    /// A part of the conjunction. Equations stay as they are, as the rules come from them; other literals are rewritten by
    /// these rules only, and the rest by all that is known.
    fn part(&mut self, terms: &mut Terms, part: TermId) -> TermId {
        if equation(terms, part).is_some() {
            return part;
        }
        match *terms.get(part) {
            Term::Not(atom) => {
                let atom = self.literal(terms, atom);
                terms.not(atom)
            }
            Term::Or(_) | Term::Ite(..) => self.all(terms, part),
            _ => self.literal(terms, part),
        }
    }

    fn literal(&mut self, terms: &mut Terms, atom: TermId) -> TermId {
        let mut operands = Vec::new();
        terms.get(atom).for_each_child(|child| operands.push(child));
        let operands: FxHashMap<TermId, TermId> =
            operands.into_iter().map(|child| (child, self.all(terms, child))).collect();
        let atom = terms.rebuild(atom, |child| operands[&child]);
        self.reduced(terms, atom)
    }

    fn all(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        let order = terms.post_order(&[t], |t| self.memo.contains_key(&t) || self.known.contains_key(&t));
        for t in order {
            let new = terms.rebuild(t, |child| self.value(child));
            let new = match self.bounds.extended(terms, new) {
                Some(sum) => sum,
                None => self.reduced(terms, new),
            };
            self.memo.insert(t, new);
        }
        self.value(t)
    }

    fn value(&self, t: TermId) -> TermId {
        self.known.get(&t).or_else(|| self.memo.get(&t)).copied().unwrap_or(t)
    }

    /// An atom with its polynomials reduced, where that makes them simpler.
    fn reduced(&self, terms: &mut Terms, atom: TermId) -> TermId {
        if let Some((a, b)) = equation(terms, atom) {
            let width = terms.width(a);
            let Some(definitions) = self.definitions.get(&width) else { return atom };
            let Some(difference) = terms.polynomial_difference(a, b) else { return atom };
            if definitions.reduce(&difference).is_some_and(|reduced| reduced.is_empty()) {
                return Terms::tru();
            }
            let reduced = self.ideals.get(&width).filter(|ideal| !ideal.is_empty());
            let reduced = reduced.and_then(|ideal| ideal.reduce(&difference));
            return match reduced {
                Some(reduced) if simpler(&reduced, &difference) => terms.is_zero(width, &reduced),
                _ => atom,
            };
        }
        let Term::BvCmp(op, a, b) = *terms.get(atom) else { return atom };
        let (a, b) = (self.number(terms, a), self.number(terms, b));
        terms.bv_cmp(op, a, b)
    }

    /// A number, reduced where that makes it simpler.
    fn number(&self, terms: &mut Terms, t: TermId) -> TermId {
        let width = terms.width(t);
        let Some(ideal) = self.ideals.get(&width).filter(|_| terms.is_arithmetic(t)) else { return t };
        let polynomial = terms.polynomial(t);
        match ideal.reduce(&polynomial) {
            Some(reduced) if degree(&reduced) < degree(&polynomial) => terms.polynomial_term(width, &reduced),
            _ => t,
        }
    }
}

fn simpler(reduced: &Polynomial, before: &Polynomial) -> bool {
    (degree(reduced), reduced.len()) < (degree(before), before.len())
}

/// The cases of a formula: by a condition that the polynomial of a hard equation depends on, or by the parts of a disjunction
/// that has such an equation; none if there is neither.
fn split(terms: &mut Terms, formula: TermId) -> Option<Vec<TermId>> {
    for node in terms.post_order(&[formula], |_| false) {
        let Some(polynomial) = hard(terms, node, 1) else { continue };
        let parts: BTreeSet<TermId> = polynomial.keys().flatten().copied().collect();
        let parts: Vec<TermId> = parts.into_iter().collect();
        let choice = terms.post_order(&parts, |_| false).into_iter().rev().find_map(|t| match *terms.get(t) {
            Term::Ite(condition, yes, _) if matches!(terms.sort(yes), Sort::Bv(_)) => Some(condition),
            _ => None,
        });
        if let Some(condition) = choice {
            let not = terms.not(condition);
            return Some([not, condition].map(|case| assume(terms, formula, case)).to_vec());
        }
    }
    let parts = terms.conjuncts(formula);
    for (at, &part) in parts.iter().enumerate() {
        let cases = match *terms.get(part) {
            Term::Or(_) => terms.disjuncts(part),
            Term::Not(inner) if matches!(terms.get(inner), Term::And(_)) => {
                terms.conjuncts(inner).into_iter().map(|case| terms.not(case)).collect()
            }
            _ => continue,
        };
        let nodes = terms.post_order(&[part], |_| false);
        if !nodes.into_iter().any(|node| hard(terms, node, 1).is_some()) {
            continue;
        }
        let mut rest = parts.clone();
        rest.remove(at);
        let rest = terms.and_all(&rest);
        return Some(cases.into_iter().map(|case| terms.and(rest, case)).collect());
    }
    None
}

/// The formula where a condition holds, with the condition replaced by what it is there.
fn assume(terms: &mut Terms, formula: TermId, condition: TermId) -> TermId {
    let parts = terms.conjuncts(condition).into_iter().chain([condition]);
    let mut known: FxHashMap<TermId, TermId> = parts.map(|part| truth(terms, part)).collect();
    // The negation of a conjunction is a disjunction, so it has to be named as well.
    let opposite = terms.not(condition);
    let (opposite, holds) = truth(terms, opposite);
    known.insert(opposite, terms.not(holds));
    let mut rewriting = Rewriting { known, ..Rewriting::default() };
    let rest = rewriting.all(terms, formula);
    terms.and(rest, condition)
}
