// SPDX-License-Identifier: Apache-2.0
//! What excludes that the next two segments go wrong, whatever their inputs are: weakest preconditions of the property.
//!
//! A loop may be left at any time by an input, "`while (nondet()) { ... } assert(c == t - h);`", and then no iteration that
//! goes on tells that the assertion held before it. Dijkstra's precondition of the way to the assertion (*Guarded Commands*,
//! 1975) does, for both values of the input. Compare the lifting of counterexamples to induction in Chockler et al.,
//! *Incremental Formal Verification of Hardware* (FMCAD 2011).
//!
//! Inputs are eliminated by taking every condition that depends on them both ways. That is exact if the conditions are about
//! inputs alone, and too strong otherwise, which the proof of a candidate finds out.

use std::collections::BTreeSet;

use cfa::VarId;
use cpa_core::ArgId;
use cpa_predicate::Manager;
use smt::{Term, TermId, Terms};

use super::candidates::{Guesser, holds, is_usable};
use crate::step::StepUnrolling;

/// How many conditions on inputs are taken both ways.
const DECISIONS: usize = 6;
/// The greatest number of nodes of a formula whose inputs are eliminated, and of a candidate.
const SIZE: usize = 2000;
const CANDIDATE: usize = 120;
/// How many candidates a cut point gets.
const CANDIDATES: usize = 16;

/// For each cut point, conditions without inputs under which no violation comes in the first segment, or in the second.
pub(super) fn preconditions(manager: &mut Manager, steps: &[StepUnrolling]) -> Vec<Vec<TermId>> {
    let first: Vec<Vec<TermId>> = steps
        .iter()
        .map(|unrolling| {
            let bad: Vec<TermId> =
                unrolling.first_bad().iter().map(|&id| unrolling.unrolling().condition(id)).collect();
            bad.into_iter().flat_map(|bad| clauses(manager, bad)).collect()
        })
        .collect();
    let second = steps.iter().map(|unrolling| {
        let mut found = Vec::new();
        for &(number, end) in unrolling.first_ends() {
            for &clause in &first[number] {
                let broken = broken(manager, unrolling, end, clause);
                found.extend(clauses(manager, broken));
            }
        }
        found
    });
    let second: Vec<Vec<TermId>> = second.collect();
    let mut all = first;
    for (list, more) in all.iter_mut().zip(second) {
        list.extend(more);
        let mut seen = BTreeSet::new();
        list.retain(|&term| seen.insert(term));
        list.truncate(CANDIDATES);
    }
    all
}

/// That a segment ends where a condition does not hold.
fn broken(manager: &mut Manager, unrolling: &StepUnrolling, end: ArgId, condition: TermId) -> TermId {
    let path = unrolling.unrolling().path(end);
    let terms = &mut manager.terms;
    let condition = path.instantiate(terms, condition);
    let not = terms.not(condition);
    terms.and(path.pc, not)
}

/// What excludes `bad` whatever the inputs are, in parts that may hold alone.
fn clauses(manager: &mut Manager, bad: TermId) -> Vec<TermId> {
    if manager.terms.size(bad) > SIZE {
        return Vec::new();
    }
    let good = manager.terms.not(bad);
    let good = for_all_inputs(manager, good, DECISIONS);
    let terms = &manager.terms;
    let mut clauses = terms.conjuncts(good);
    clauses.retain(|&clause| ![Terms::tru(), Terms::fls()].contains(&clause) && terms.size(clause) <= CANDIDATE);
    clauses
}

/// A formula over the state that implies `t` for all inputs, with at most `decisions` conditions taken both ways.
fn for_all_inputs(manager: &mut Manager, t: TermId, decisions: usize) -> TermId {
    let terms = &manager.terms;
    let has_input = |t: TermId| terms.symbols(t).into_iter().any(|(_, instance)| instance > 0);
    let open: Vec<TermId> = terms.atoms(t).into_iter().filter(|&atom| has_input(atom)).collect();
    // An atom may have others in it, in the conditions of its parts.
    let Some(atom) = open.into_iter().min_by_key(|&atom| terms.size(atom)) else { return t };
    if decisions == 0 {
        return Terms::fls();
    }
    let both = [Terms::tru(), Terms::fls()].map(|truth| {
        let decided = manager.terms.replace(t, atom, truth);
        for_all_inputs(manager, decided, decisions - 1)
    });
    manager.terms.and_all(&both)
}

/// The disjuncts that read memory at fixed addresses only. What is said of a single element of an array, or of one node of a
/// list, seldom stays true: of "`while (*p) p++;` leaves `p <= end`" the second part is left.
fn about_cells(terms: &mut Terms, t: TermId) -> TermId {
    let mut disjuncts = terms.disjuncts(t);
    disjuncts.retain(|&part| terms.reads(part).into_iter().all(|(_, at)| terms.symbols(at).is_empty()));
    terms.or_all(&disjuncts)
}

/// What a condition "unless i < n, P(n)" says of an earlier iteration: P(i), and the same the other way round. Where the loop
/// ends the two are equal. "Constant relaxation" of Furia, Meyer, *Inferring Loop Invariants Using Postconditions* (2010).
fn with_counters(terms: &mut Terms, condition: TermId) -> Vec<TermId> {
    let disjuncts = terms.disjuncts(condition);
    let mut relaxed = Vec::new();
    for (at, &guard) in disjuncts.iter().enumerate() {
        let atom = terms.not(guard);
        let compared = [guard, atom].into_iter().find_map(|atom| match *terms.get(atom) {
            Term::BvCmp(_, left, right) | Term::Eq(left, right) => Some((left, right)),
            _ => None,
        });
        let are_variables =
            |&(left, right): &(TermId, TermId)| [left, right].iter().all(|&x| terms.as_var(x).is_some());
        let Some((left, right)) = compared.filter(are_variables) else { continue };
        let others = disjuncts.iter().enumerate().filter(|other| other.0 != at);
        let rest: Vec<TermId> = others.map(|other| *other.1).collect();
        let rest = terms.or_all(&rest);
        for (from, to) in [(left, right), (right, left)] {
            let candidate = terms.replace(rest, from, to);
            if candidate != rest && ![Terms::tru(), Terms::fls()].contains(&candidate) {
                relaxed.push(candidate);
            }
        }
    }
    relaxed
}

impl Guesser<'_> {
    /// The preconditions that are about the state and hold in all samples.
    pub(super) fn excluding(&mut self, in_scope: &dyn Fn(VarId) -> bool, out: &mut Vec<TermId>) {
        let program = self.program;
        let usable = |var: VarId| is_usable(program, in_scope, var);
        let preconditions = self.preconditions;
        let mut found: Vec<TermId> =
            preconditions.iter().copied().filter(|&term| self.is_about(&usable, term)).collect();
        for term in &mut found {
            *term = about_cells(&mut self.manager.terms, *term);
        }
        found.retain(|&term| term != Terms::fls());
        let relaxed: Vec<TermId> =
            found.iter().flat_map(|&term| with_counters(&mut self.manager.terms, term)).collect();
        found.extend(relaxed);
        found.retain(|&term| self.samples.iter().all(|sample| holds(self.manager, program, term, sample)));
        out.extend(found);
    }
}
