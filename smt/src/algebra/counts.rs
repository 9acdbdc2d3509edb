// SPDX-License-Identifier: Apache-2.0
//! Numbers that count how many of some conditions hold, in whatever order these are asked.
//!
//! A loop that counts leaves a tree of choices over constants behind: `if c then (if d then 2 else 1) else (if d then 1 else 0)`. With
//! the conditions in another order it is another tree, and to a solver that both are equal is a problem of symmetric functions
//! ordered in two ways. As the sum `c + d` of truth values both are the same.

use rustc_hash::FxHashMap;

use super::{equation, is_number};
use crate::term::polynomial::{Polynomial, plus};
use crate::term::semantics::mask;
use crate::term::{Term, TermId, Terms};

/// A formula with the same models, in which equations between counts are decided where these differ by a constant; none if
/// there are no such equations. `nodes` are those of the formula in post-order.
pub(super) fn without_counts(terms: &mut Terms, formula: TermId, nodes: &[TermId]) -> Option<TermId> {
    let mut counts = Counts::default();
    let mut decided: FxHashMap<TermId, TermId> = FxHashMap::default();
    for &node in nodes {
        decided.extend(counts.decided(terms, node).map(|truth| (node, terms.bool(truth))));
    }
    if decided.is_empty() {
        return None;
    }
    let mut memo = decided;
    for &t in nodes {
        if !memo.contains_key(&t) {
            let new = terms.rebuild(t, |child| memo[&child]);
            memo.insert(t, new);
        }
    }
    Some(memo[&formula])
}

/// Numbers as sums of choices between a constant and zero.
#[derive(Default)]
struct Counts {
    memo: FxHashMap<TermId, Option<Polynomial>>,
}

impl Counts {
    /// Whether an equation of two counts holds, if they differ by a constant.
    fn decided(&mut self, terms: &mut Terms, node: TermId) -> Option<bool> {
        let (a, b) = equation(terms, node)?;
        if ![a, b].into_iter().all(|side| matches!(terms.get(side), Term::Ite(..))) {
            return None;
        }
        let ones = mask(terms.width(a));
        let (a, b) = (self.sum(terms, a)?, self.sum(terms, b)?);
        let difference = plus(ones, &a, ones, &b)?;
        difference.keys().all(Vec::is_empty).then_some(difference.is_empty())
    }

    /// A number as a sum of choices between one and zero; none if it is no count, or of too many conditions.
    fn sum(&mut self, terms: &mut Terms, number: TermId) -> Option<Polynomial> {
        for t in terms.post_order(&[number], |t| self.memo.contains_key(&t) || !is_number(terms, t)) {
            let sum = match *terms.get(t) {
                Term::Bv { bits: 0, .. } => Some(Polynomial::default()),
                Term::Bv { bits, .. } => Some(Polynomial::new([(Vec::new(), bits)].into())),
                Term::Ite(condition, yes, no) => self.choice(terms, condition, yes, no),
                _ => None,
            };
            self.memo.insert(t, sum);
        }
        self.memo[&number].clone()
    }

    fn choice(&self, terms: &mut Terms, condition: TermId, yes: TermId, no: TermId) -> Option<Polynomial> {
        let width = terms.width(yes);
        let ones = mask(width);
        let (yes, no) = (self.memo[&yes].as_ref()?, self.memo[&no].as_ref()?);
        let difference = plus(ones, yes, ones, no)?;
        if !difference.keys().all(Vec::is_empty) {
            return None;
        }
        let factor = difference.get(&Vec::new()).copied().unwrap_or(0);
        let (one, zero) = (terms.bv(width, 1), terms.bv(width, 0));
        let choice = terms.ite(condition, one, zero);
        plus(ones, no, factor, &Polynomial::new([(vec![choice], 1)].into()))
    }
}
