// SPDX-License-Identifier: Apache-2.0
//! Facts about all indices, without quantifiers: where they are used, for the indices of the elements that an unrolling
//! reads; where they are proved, for an arbitrary index, and for those of the elements that were written in a case each.
//!
//! Flanagan, Qadeer, *Predicate Abstraction for Software Verification* (POPL 2002), section 5. The cases are no assumption:
//! an index is one of those that were written or none of them. In such a case the index is a term of the program, so the
//! element is what was written, and polynomials in the index meet their equals in [`smt`]'s normal form.

use std::collections::{BTreeMap, BTreeSet};

use cfa::Program;
use cfa::ids::RegionId;
use cfa::ir::Op;
use cpa_predicate::Manager;
use rustc_hash::FxHashMap;
use smt::{BvBin, PathFormula, Sort, SymId, TermId, Terms};

use super::arrays::{index_term, number};
use super::sums::Sums;
use crate::step::StepUnrolling;

/// Bits of indices; wider than those of most programs, so that sums of indices do not wrap.
pub(super) const INDEX: u32 = 64;
/// For how many indices facts about one region of memory are used.
const INSTANCES: usize = 20;
/// How many written indices are told apart.
const WRITTEN: usize = 8;

/// The symbol that stands for an arbitrary index.
pub(super) fn index(terms: &mut Terms) -> SymId {
    terms.symbol("index!", Sort::Bv(INDEX))
}

/// Indices of accesses by the array symbols of the regions of memory.
type Indices = FxHashMap<SymId, Vec<TermId>>;

/// The array symbol of a region.
pub(super) fn memory(manager: &mut Manager, program: &Program, region: RegionId) -> Option<SymId> {
    let addr = number(&mut manager.terms, 0, program.machine.size_type().bits);
    let value = manager.encoder.read(&mut manager.terms, region, addr, 8);
    let terms = &manager.terms;
    terms.symbols(value).into_iter().map(|(symbol, _)| symbol).find(|&symbol| is_array(terms, symbol))
}

fn is_array(terms: &Terms, symbol: SymId) -> bool {
    matches!(terms.symbol_sort(symbol), Sort::Array { .. })
}

/// The indices of the elements that are read, or written, on the way of an unrolling; of its first segment only if `first`.
fn accesses(manager: &mut Manager, program: &Program, steps: &StepUnrolling, first: bool, written: bool) -> Indices {
    let unrolling = steps.unrolling();
    let most = if written { WRITTEN } else { INSTANCES };
    let mut found = Indices::default();
    for id in unrolling.arg().ids() {
        if first && unrolling.visits(id) > 0 {
            continue;
        }
        for &edge in &program.node(unrolling.arg().location(id)).leaving {
            let (addr, region) = match program.edge(edge).op {
                Op::Load { addr, region, .. } if !written => (addr, region),
                Op::Store { addr, region, .. } if written => (addr, region),
                _ => continue,
            };
            let Some(place) = steps.pointers().place(program, region, addr) else { continue };
            let Some(term) = index_term(manager, program, &place.index) else { continue };
            let Some(memory) = memory(manager, program, region) else { continue };
            let term = unrolling.path(id).instantiate(&mut manager.terms, term);
            let indices = found.entry(memory).or_default();
            if !indices.contains(&term) && indices.len() < most {
                indices.push(term);
            }
        }
    }
    found
}

/// The indices of all arrays that a fact speaks about; none if it does not speak about all elements of an array. A fact about
/// neighbours matters for each of them.
fn relevant(terms: &mut Terms, indices: &Indices, fact: TermId) -> BTreeSet<TermId> {
    let index = index(terms);
    let symbols = terms.symbols(fact);
    if !symbols.contains(&(index, 0)) {
        return BTreeSet::new();
    }
    let mut found: BTreeSet<TermId> =
        symbols.iter().filter_map(|(symbol, _)| indices.get(symbol)).flatten().copied().collect();
    if is_about_neighbours(terms, fact) {
        let one = number(terms, 1, INDEX);
        let before: Vec<TermId> = found.iter().map(|&at| terms.bv_bin(BvBin::Sub, at, one)).collect();
        found.extend(before);
    }
    found
}

/// Whether a fact about all indices speaks about several elements of an array for one of them.
fn is_about_neighbours(terms: &mut Terms, fact: TermId) -> bool {
    if !terms.has_array(fact) {
        return false;
    }
    let index = index(terms);
    let mut read: BTreeMap<TermId, TermId> = BTreeMap::new();
    terms
        .reads(fact)
        .into_iter()
        .any(|(array, at)| terms.symbols(at).contains(&(index, 0)) && *read.entry(array).or_insert(at) != at)
}

/// A fact for one index.
fn instance(terms: &mut Terms, fact: TermId, at: TermId) -> TermId {
    let index = index(terms);
    terms.substitute(fact, &mut |_, symbol, number| (symbol == index && number == 0).then_some(at))
}

/// Facts with the consequences that matter in an unrolling: those about all indices also for the indices of the elements
/// that it reads, in its first segment only if `first`.
pub(crate) fn with_instances(
    manager: &mut Manager,
    program: &Program,
    steps: &StepUnrolling,
    first: bool,
    facts: Vec<TermId>,
) -> Vec<TermId> {
    let indices = accesses(manager, program, steps, first, false);
    with_instances_at(manager, program, &indices, facts, &[])
}

/// Facts with the consequences that matter for showing `goals` at the end of the first segment: those about all indices also
/// for the indices of the elements that are read or written on the way, and next to the index that is looked at.
pub(super) fn with_instances_for(
    manager: &mut Manager,
    program: &Program,
    steps: &StepUnrolling,
    facts: Vec<TermId>,
    goals: &[Vec<TermId>],
) -> Vec<TermId> {
    let mut indices = accesses(manager, program, steps, true, false);
    // A write that does not happen on all paths keeps what was there.
    for (memory, written) in accesses(manager, program, steps, true, true) {
        let known = indices.entry(memory).or_default();
        let new: Vec<TermId> = written.into_iter().filter(|at| !known.contains(at)).collect();
        known.extend(new);
    }
    let terms = &mut manager.terms;
    let mut more = Vec::new();
    if goals.iter().flatten().any(|&goal| is_about_neighbours(terms, goal)) {
        let index = index(terms);
        let (index, one) = (terms.var(index, 0), number(terms, 1, INDEX));
        more.push(terms.bv_bin(BvBin::Add, index, one));
    }
    with_instances_at(manager, program, &indices, facts, &more)
}

/// Facts with those about all indices for some of them, and for `more` indices.
fn with_instances_at(
    manager: &mut Manager,
    program: &Program,
    indices: &Indices,
    mut facts: Vec<TermId>,
    more: &[TermId],
) -> Vec<TermId> {
    let mut instances = Vec::new();
    for &fact in &facts {
        for conjunct in manager.terms.conjuncts(fact) {
            let mut relevant = relevant(&mut manager.terms, indices, conjunct);
            if !relevant.is_empty() {
                relevant.extend(more);
            }
            for at in relevant {
                instances.push(instance(&mut manager.terms, conjunct, at));
            }
        }
    }
    let sums = Sums::of(manager, program, facts.iter().copied());
    facts.extend(instances);
    facts.extend(sums.zero(&mut manager.terms, &FxHashMap::default()));
    facts.extend(sums.steps(manager, program, indices));
    facts
}

/// What is to be shown at the ends of the first segment of an unrolling, for some index.
pub(super) struct Goals<'a> {
    program: &'a Program,
    steps: &'a StepUnrolling,
    written: Indices,
    sums: Sums,
    /// What is known about sums at the ends.
    known: Vec<TermId>,
}

impl<'a> Goals<'a> {
    /// For candidates.
    pub(super) fn new(
        manager: &mut Manager,
        program: &'a Program,
        steps: &'a StepUnrolling,
        candidates: &[Vec<TermId>],
    ) -> Self {
        let written = accesses(manager, program, steps, true, true);
        let sums = Sums::of(manager, program, candidates.iter().flatten().copied());
        Self { program, steps, written, sums, known: Vec::new() }
    }

    /// For each of some candidates, that it does not hold at the end of a path for some index. No other end has the same
    /// number.
    pub(super) fn refuted(
        &mut self,
        manager: &mut Manager,
        candidates: &[TermId],
        path: &PathFormula,
        number: u32,
    ) -> Vec<TermId> {
        let sums = self.sums.at(manager, path, number);
        self.known.extend(self.sums.zero(&mut manager.terms, &sums));
        let mut refuted = Vec::new();
        for &candidate in candidates {
            let value = path.instantiate(&mut manager.terms, candidate);
            let value = Sums::renamed(&mut manager.terms, value, &sums);
            let value = self.sums.followed(manager, self.program, self.steps, (path, &sums), value);
            refuted.push(self.refuted_for_some(&mut manager.terms, candidate, value));
        }
        refuted
    }

    /// What was assumed about sums at the ends, which is true of them.
    pub(super) fn known(self) -> Vec<TermId> {
        self.known
    }

    fn refuted_for_some(&self, terms: &mut Terms, candidate: TermId, value: TermId) -> TermId {
        let mut others = terms.not(value);
        if is_about_neighbours(terms, candidate) {
            // The neighbours of the cases would need instances of their own.
            return others;
        }
        let index = index(terms);
        let index = terms.var(index, 0);
        let mut cases = Vec::new();
        for at in relevant(terms, &self.written, candidate) {
            let here = instance(terms, value, at);
            cases.push(terms.not(here));
            let same = terms.eq(index, at);
            let other = terms.not(same);
            others = terms.and(others, other);
        }
        cases.push(others);
        terms.or_all(&cases)
    }
}
