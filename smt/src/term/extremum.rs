// SPDX-License-Identifier: Apache-2.0
//! Greatest and least of several numbers, in a normal form: a chain of comparisons over constants, and then over the other
//! numbers in ascending order of their ids. So the greatest element of an array and that of a permutation of it are one term, for which no solver has
//! to sort.
//!
//! Left out: chains of more than [`NUMBERS`] numbers; comparisons with a constant behind others, which are Boolean structure;
//! and two numbers, whose comparison stays as it is written.

use std::rc::Rc;

use super::ids::TermId;
use super::node::{BvCmp, Term};
use super::store::Terms;

/// The most numbers.
const NUMBERS: usize = 128;

/// What a term is the greatest or least of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Extremum {
    compared: BvCmp,
    greatest: bool,
    /// In the order of the chain.
    numbers: Rc<[TermId]>,
}

impl Terms {
    /// `ite(c, t, e)` in normal form, if it is the greatest or least of at least three numbers; of two it is remembered.
    pub(super) fn extremum(&mut self, c: TermId, t: TermId, e: TermId) -> Option<TermId> {
        let Term::BvCmp(compared, a, b) = *self.get(c) else { return None };
        let under = |t: TermId| match *self.get(t) {
            Term::Sext { arg, .. } | Term::Zext { arg, .. } => arg,
            _ => t,
        };
        if ![a, b].iter().any(|side| [t, e, under(t), under(e)].contains(side)) {
            return None;
        }
        // Equal numbers may be on either side.
        let strictly = if compared == BvCmp::Sle { BvCmp::Slt } else { BvCmp::Ult };
        let greatest = if [compared, strictly].iter().any(|&op| self.bv_cmp(op, e, t) == c) {
            true
        } else if [compared, strictly].iter().any(|&op| self.bv_cmp(op, t, e) == c) {
            false
        } else {
            return None;
        };
        // Numbers without a sign have the same order with and without it.
        let signless = compared == BvCmp::Sle && [t, e].iter().all(|&side| self.has_no_sign(side));
        let compared = if signless { BvCmp::Ule } else { compared };
        let mut numbers = Vec::new();
        for side in [t, e] {
            match self.extrema.get(&side) {
                Some(inner) if inner.compared == compared && inner.greatest == greatest => {
                    numbers.extend(inner.numbers.iter().copied());
                }
                _ => numbers.push(side),
            }
        }
        numbers.sort_unstable_by_key(|&number| (self.as_bv(number).is_none(), number));
        numbers.dedup();
        if numbers.len() > NUMBERS {
            return None;
        }
        if numbers.len() == 2 {
            let plain = self.intern(Term::Ite(c, t, e));
            self.extrema.insert(plain, Extremum { compared, greatest, numbers: numbers.into() });
            return Some(plain);
        }
        // A side that is the chain of all numbers but the last one need not be built again.
        let last = numbers.len() - 1;
        let longer = [t, e].into_iter().find(|side| {
            self.extrema.get(side).is_some_and(|inner| {
                inner.compared == compared && inner.greatest == greatest && inner.numbers[..] == numbers[..last]
            })
        });
        let (mut chain, first) = longer.filter(|_| last > 2).map_or((numbers[0], 2), |chain| (chain, last + 1));
        for known in first..=numbers.len() {
            let next = numbers[known - 1];
            // The next number, where it is not exceeded.
            let (low, high) = if greatest { (chain, next) } else { (next, chain) };
            let wins = self.bv_cmp(compared, low, high);
            chain = match *self.get(wins) {
                Term::True => next,
                Term::False => chain,
                Term::Not(loses) => self.intern(Term::Ite(loses, chain, next)),
                _ => self.intern(Term::Ite(wins, next, chain)),
            };
            self.extrema.insert(chain, Extremum { compared, greatest, numbers: numbers[..known].into() });
        }
        Some(chain)
    }

    /// Whether the first bit of a number, or of each of several numbers, is certainly 0.
    fn has_no_sign(&self, side: TermId) -> bool {
        let plain = |&number: &TermId| match *self.get(number) {
            Term::Zext { .. } => true,
            Term::Bv { width, bits } => bits >> (width - 1) == 0,
            _ => false,
        };
        self.extrema.get(&side).map_or_else(|| plain(&side), |inner| inner.numbers.iter().all(plain))
    }
}
