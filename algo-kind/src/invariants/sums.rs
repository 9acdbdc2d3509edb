// SPDX-License-Identifier: Apache-2.0
//! Sums of the first elements of arrays, for loops that add up an array: "sum = S(n) - S(i)".
//!
//! S(n) is the sum of the elements of one array of the layout with indices from 0 to n - 1, as a number of [`BITS`] bits
//! that wraps around. It is a function of the state: of the content of the array's region and of where the array begins. In
//! formulas it is a read at n of an array symbol of its own, about which only instances of S(0) = 0 and
//! S(n + 1) = S(n) + a\[n\] are known. Where neither the region nor the beginning of the array has changed it is the same
//! function, otherwise a new one, which differs by what the elements in front of n were changed by. Compare prefix sums as
//! ghost variables in Leino, Monahan, *Reasoning about Comprehensions with First-Order SMT Solvers* (SAC 2009).

use std::collections::BTreeSet;

use cfa::Program;
use cfa::ir::Op;
use cfa::machine::Machine;
use cpa_predicate::Manager;
use rustc_hash::FxHashMap;
use smt::{BvBin, BvCmp, PathFormula, Sort, SymId, TermId, Terms};

use super::arrays::{address_of, base_of, element_of, index_term, number, widened};
use super::instances::{INDEX, memory};
use super::memory::{Array, Base, Layout};
use crate::step::StepUnrolling;

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

/// A write of an element in the first segment of an unrolling.
struct Change {
    /// That it is on the way.
    happens: TermId,
    /// Of the element, with [`INDEX`] bits.
    index: TermId,
    /// That this is the index of what is written.
    there: TermId,
    /// The new value minus the old one, of [`BITS`] bits.
    by: TermId,
}

/// How many writes of elements a sum is followed through.
const CHANGES: usize = 8;

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

    /// A value at the end of a path through the first segment of an unrolling, with the instances of symbols that [`at`](Self::at)
    /// found, in terms of the sums at the start, as far as it is known how the elements change.
    pub(super) fn followed(
        &self,
        manager: &mut Manager,
        program: &Program,
        steps: &StepUnrolling,
        (path, instances): (&PathFormula, &FxHashMap<SymId, u32>),
        mut value: TermId,
    ) -> TermId {
        for &(at, symbol, _) in &self.arrays {
            let Some(&instance) = instances.get(&symbol) else { continue };
            let array = &self.layout.arrays[at];
            let base = base_of(manager, program, array);
            let (after, before) = (manager.terms.var(symbol, instance), manager.terms.var(symbol, 0));
            let reads = manager.terms.reads(value).into_iter();
            let counts: BTreeSet<TermId> = reads.filter(|read| read.0 == after).map(|read| read.1).collect();
            if counts.is_empty() || path.instantiate(&mut manager.terms, base) != base {
                continue;
            }
            let Some(changes) = changes(manager, program, steps, array) else { continue };
            let terms = &mut manager.terms;
            for count in counts {
                let (old, new) = (terms.select(before, count), terms.select(after, count));
                // The low bits depend on low bits alone, of which little is left where elements change by as much as others.
                for bits in [array.ty.bits, BITS] {
                    let [old, new] = [old, new].map(|sum| terms.extract(bits - 1, 0, sum));
                    let sum = sum_after(terms, program, array, &changes, (count, old, new));
                    let followed = terms.replace(value, new, sum);
                    if followed != value {
                        value = followed;
                        break;
                    }
                }
            }
        }
        value
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

/// What the first segment of an unrolling does to the elements of an array; none if it may do something else to them.
fn changes(manager: &mut Manager, program: &Program, steps: &StepUnrolling, array: &Array) -> Option<Vec<Change>> {
    let unrolling = steps.unrolling();
    let mut changes = Vec::new();
    for id in unrolling.arg().ids().filter(|&id| unrolling.visits(id) == 0) {
        for &edge in &program.node(unrolling.arg().location(id)).leaving {
            let (addr, value) = match program.edge(edge).op {
                Op::Store { addr, value, region } if region == array.region => (addr, value),
                Op::Alloc { region, .. } | Op::Zero { region, .. } if region == array.region => return None,
                Op::Free { .. } => return None,
                _ => continue,
            };
            let place = steps.pointers().place(program, array.region, addr)?;
            if !place.is_in(array) || program.exprs.ty(value).bits != array.ty.bits || changes.len() == CHANGES {
                return None;
            }
            let index = index_term(manager, program, &place.index)?;
            let addr = manager.encoder.value(&mut manager.terms, addr).ok()?;
            let old = manager.encoder.read(&mut manager.terms, array.region, addr, array.ty.bits);
            let new = manager.encoder.value(&mut manager.terms, value).ok()?;
            // Where the array begins at the start.
            let base = base_of(manager, program, array);
            let terms = &mut manager.terms;
            let (old, new) = (widened(terms, old, array.ty, BITS)?, widened(terms, new, array.ty, BITS)?);
            let by = terms.bv_bin(BvBin::Sub, new, old);
            let path = unrolling.path(id);
            let [addr, index, by] = [addr, index, by].map(|term| path.instantiate(terms, term));
            let at = address_of(terms, program, array, base, (1, 0), index);
            let there = terms.eq(addr, at);
            changes.push(Change { happens: path.pc, index, there, by });
        }
    }
    Some(changes)
}

/// The sum of the first elements of an array, `count` in number, after changes, if it was `old` before; `new` if it is
/// not known of one of the changes that it is one of that element alone. The low bits of sums are sums, too.
fn sum_after(
    terms: &mut Terms,
    program: &Program,
    array: &Array,
    changes: &[Change],
    (count, old, new): (TermId, TermId, TermId),
) -> TermId {
    let (zero, bits) = (number(terms, 0, INDEX), terms.width(old));
    let nothing = number(terms, 0, bits);
    let (mut sum, mut known) = (old, is_near(terms, program, array, count));
    for change in changes {
        let near = is_near(terms, program, array, change.index);
        let single = terms.and(change.there, near);
        let single = terms.implies(change.happens, single);
        known = terms.and(known, single);
        let from = terms.bv_cmp(BvCmp::Sle, zero, change.index);
        let below = terms.bv_cmp(BvCmp::Slt, change.index, count);
        let counts = terms.and_all(&[change.happens, from, below]);
        let by = terms.extract(bits - 1, 0, change.by);
        let by = terms.ite(counts, by, nothing);
        sum = terms.bv_bin(BvBin::Add, sum, by);
    }
    terms.ite(known, sum, new)
}

/// Whether an index is so close to 0 that no other such index has the same address.
fn is_near(terms: &mut Terms, program: &Program, array: &Array, index: TermId) -> TermId {
    let most = (1i128 << (program.machine.size_type().bits - 2)) / array.stride;
    let (least, most) = (number(terms, -most, INDEX), number(terms, most, INDEX));
    let (above, below) = (terms.bv_cmp(BvCmp::Slt, least, index), terms.bv_cmp(BvCmp::Slt, index, most));
    terms.and(above, below)
}

/// Whether the sums that a fact speaks about, if any, are the same functions at the end of a path as at its start.
pub(crate) fn still_meant(manager: &mut Manager, program: &Program, path: &PathFormula, fact: TermId) -> bool {
    let sums = Sums::of(manager, program, std::iter::once(fact));
    sums.at(manager, path, 1).is_empty()
}
