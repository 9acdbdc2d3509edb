// SPDX-License-Identifier: Apache-2.0
//! Sums of the first elements of arrays, for loops that add up an array: "sum = S(n) - S(i)".
//!
//! S(n) is the sum of the elements of one array of the layout with indices from 0 to n - 1, as a number of [`BITS`] bits
//! that wraps around. It is a function of the state: of the content of the array's region and of where the array begins. In
//! formulas it is a read at n of an array symbol of its own, about which only instances of S(0) = 0 and
//! S(n + 1) = S(n) + a\[n\] are known. Where neither the region nor the beginning of the array has changed it is the same
//! function, otherwise a new one. Compare prefix sums as ghost variables in Leino, Monahan, *Reasoning about Comprehensions
//! with First-Order SMT Solvers* (SAC 2009).
//!
//! Left out: what becomes of a sum when an element changes.

use cfa::Program;
use cfa::machine::Machine;
use cpa_predicate::Manager;
use rustc_hash::FxHashMap;
use smt::{BvBin, BvCmp, PathFormula, Sort, SymId, TermId, Terms};

use super::arrays::{base_of, element_of, number, widened};
use super::instances::{INDEX, memory};
use super::memory::{Array, Base, Layout};

/// Bits of sums.
pub(super) const BITS: u32 = 64;
/// The greatest number of elements that are added up in a sample.
const MOST: usize = 1 << 17;

/// The symbol for the sums of an array, by its position in the layout.
fn symbol(terms: &mut Terms, at: usize) -> SymId {
    terms.symbol(&format!("sum!{at}"), Sort::Array { index: INDEX, element: BITS })
}

/// The arrays whose sums a term speaks about, by their positions in the layout.
fn summed(terms: &Terms, term: TermId) -> impl Iterator<Item = (usize, SymId)> {
    let number = |symbol: SymId| Some((terms.symbol_name(symbol).strip_prefix("sum!")?.parse().ok()?, symbol));
    terms.symbols(term).into_iter().filter_map(move |(symbol, _)| number(symbol))
}

/// The sum of the elements of an array before an index of [`INDEX`] bits.
pub(super) fn sum(terms: &mut Terms, at: usize, index: TermId) -> TermId {
    let symbol = symbol(terms, at);
    let sums = terms.var(symbol, 0);
    terms.select(sums, index)
}

/// The sums of the elements of an array in a run before some indices, modulo 2^[`BITS`]; those of too many elements, or of
/// elements without value, are missing.
pub(super) fn sample(machine: &Machine, array: &Array, start: i128, indices: &[i128]) -> Vec<(i128, i128)> {
    let mut wanted: Vec<i128> = indices.iter().copied().filter(|&n| 0 <= n && n <= MOST as i128).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let (mut found, mut sum, mut next) = (Vec::new(), 0i64, 0);
    for n in wanted {
        while next < n {
            let addr = start + next * array.stride;
            let Some(value) = u64::try_from(addr).ok().and_then(|addr| machine.peek(addr, array.ty)) else {
                return found;
            };
            sum = sum.wrapping_add(value as i64);
            next += 1;
        }
        found.push((n, i128::from(sum)));
    }
    found
}

/// What is known about sums on the way of an unrolling.
pub(super) struct Sums {
    /// For each array whose sums occur: position in the layout, symbol, symbol of its region.
    arrays: Vec<(usize, SymId, SymId)>,
    layout: Layout,
}

impl Sums {
    /// For some facts.
    pub(super) fn of(manager: &mut Manager, program: &Program, facts: impl Iterator<Item = TermId>) -> Self {
        let mut arrays: Vec<(usize, SymId)> = Vec::new();
        for fact in facts {
            for found in summed(&manager.terms, fact) {
                if !arrays.contains(&found) {
                    arrays.push(found);
                }
            }
        }
        if arrays.is_empty() {
            return Self { arrays: Vec::new(), layout: Layout::default() };
        }
        let layout = Layout::of(program);
        let arrays = arrays
            .into_iter()
            .filter_map(|(at, symbol)| Some((at, symbol, memory(manager, program, layout.arrays[at].region)?)))
            .collect();
        Self { arrays, layout }
    }

    /// The instances of the symbols at the end of a path, if it is not the one of the start: `fresh`.
    pub(super) fn at(&self, manager: &mut Manager, path: &PathFormula, fresh: u32) -> FxHashMap<SymId, u32> {
        let mut instances = FxHashMap::default();
        for &(at, symbol, memory) in &self.arrays {
            let base = match self.layout.arrays[at].base {
                Base::Address(_) => None,
                Base::Pointer(var) => Some(manager.encoder.symbol(&mut manager.terms, var)),
            };
            let terms = &mut manager.terms;
            let is_same =
                [Some(memory), base].into_iter().flatten().all(|part| path.value(terms, part) == terms.var(part, 0));
            if !is_same {
                instances.insert(symbol, fresh);
            }
        }
        instances
    }

    /// A fact at the end of a path whose sums have the instances that [`at`](Self::at) found.
    pub(super) fn renamed(terms: &mut Terms, fact: TermId, instances: &FxHashMap<SymId, u32>) -> TermId {
        if instances.is_empty() {
            return fact;
        }
        terms.substitute(fact, &mut |terms, symbol, number| {
            instances.get(&symbol).filter(|_| number == 0).map(|&instance| terms.var(symbol, instance))
        })
    }

    /// That sums of no elements are zero, for the symbols at the end of a path.
    pub(super) fn zero(&self, terms: &mut Terms, instances: &FxHashMap<SymId, u32>) -> Vec<TermId> {
        let zero = number(terms, 0, INDEX);
        let mut facts = Vec::new();
        for (_, symbol, _) in &self.arrays {
            let sums = terms.var(*symbol, instances.get(symbol).copied().unwrap_or(0));
            let none = terms.select(sums, zero);
            facts.push(terms.eq(none, zero));
        }
        facts
    }

    /// That one more element is added, at the start of an unrolling and for some indices of the array of a region.
    pub(super) fn steps(
        &self,
        manager: &mut Manager,
        program: &Program,
        indices: &FxHashMap<SymId, Vec<TermId>>,
    ) -> Vec<TermId> {
        let mut facts = Vec::new();
        for &(at, symbol, memory) in &self.arrays {
            let array = &self.layout.arrays[at];
            for &index in indices.get(&memory).into_iter().flatten() {
                let base = base_of(manager, program, array);
                let element = element_of(manager, program, array, base, (1, 0), index);
                let terms = &mut manager.terms;
                let Some(element) = widened(terms, element, array.ty, BITS) else { continue };
                let sums = terms.var(symbol, 0);
                let (zero, one) = (number(terms, 0, INDEX), number(terms, 1, INDEX));
                let next = terms.bv_bin(BvBin::Add, index, one);
                let (before, after) = (terms.select(sums, index), terms.select(sums, next));
                let more = terms.bv_bin(BvBin::Add, before, element);
                let grows = terms.eq(after, more);
                let (is_index, has_next) =
                    (terms.bv_cmp(BvCmp::Sle, zero, index), terms.bv_cmp(BvCmp::Slt, index, next));
                let in_range = terms.and(is_index, has_next);
                facts.push(terms.implies(in_range, grows));
            }
        }
        facts
    }
}

/// Whether the sums that a fact speaks about, if any, are the same functions at the end of a path as at its start.
pub(crate) fn still_meant(manager: &mut Manager, program: &Program, path: &PathFormula, fact: TermId) -> bool {
    let sums = Sums::of(manager, program, std::iter::once(fact));
    sums.at(manager, path, 1).is_empty()
}
