// SPDX-License-Identifier: Apache-2.0
//! Interpolants over candidate atoms: those of weakest preconditions, of the path's conditions, and simple variants.
//!
//! Conjunctions first, with the same candidates kept at all cuts of a place, then cut by cut (see [`facts`](super::facts)),
//! at last any Boolean combination of few atoms (see [`minterms`](super::minterms)). The candidates are what the program
//! compares with what, the neighbours of these comparisons, and linear equations that hold in samples.

use std::collections::{BTreeMap, BTreeSet};

use super::affine::equations;
use super::cover::atom;
use super::engine::{Interpolator, ItpOutcome, Task};
use super::facts::{conjunctive, place};
use super::minterms;
use super::newton::slice;
use super::samples::{Samples, State};
use super::slice::{Liveness, Reads};
use crate::path::Stmt;
use crate::term::{BvCmp, Sort, SymId, Term, TermId, Terms};

/// More candidates than this at a cut are cut off.
const MAX_CANDIDATES: usize = 300;

/// Among more live variables than this, pairs are not compared.
const MAX_PAIRED: usize = 8;

/// Path conditions of blocks with more nodes than this are not taken apart.
const MAX_CONDITION: usize = 2000;

/// The engine.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// Attempts to make the core smaller that gives the slice.
    pub core_attempts: usize,
    /// Attempts to make the conjunction of a cut smaller.
    pub attempts: usize,
    /// Only conjunctions that are the same at all cuts of a place.
    pub uniform_only: bool,
}

impl Interpolator for Candidates {
    fn name(&self) -> &'static str {
        if self.uniform_only { "uniform" } else { "candidates" }
    }

    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome {
        let slice = match slice(task, self.core_attempts) {
            Ok(slice) => slice,
            Err(why) => return ItpOutcome::GaveUp(why),
        };
        let cuts = task.path.len() - 1;
        let liveness = Liveness::new(task.terms, task.path, &slice);
        let live: Vec<BTreeSet<SymId>> = (0..cuts).map(|cut| live_at(task, &liveness, cut)).collect();
        let pool = pool(task, &slice);
        let mut reads = Reads::default();
        let mut candidates = Vec::with_capacity(cuts);
        let affine = affine_at_places(task, &live);
        for (cut, live) in live.iter().enumerate() {
            let mut found: Vec<TermId> =
                pool.iter().copied().filter(|&t| reads.of(task.terms, t).iter().all(|s| live.contains(s))).collect();
            found.extend(pairs(task.terms, live, &pool));
            found.extend(&affine[&place(task, cut)]);
            let mut seen = BTreeSet::new();
            found.retain(|&t| seen.insert(t));
            found.truncate(MAX_CANDIDATES);
            candidates.push(found);
        }
        if let Some(cuts) = conjunctive(task, candidates.clone(), true, self.attempts) {
            return ItpOutcome::Sequence(cuts);
        }
        if self.uniform_only {
            return ItpOutcome::GaveUp("no conjunction holds at every visit".to_owned());
        }
        let own = preconditions(task);
        for (facts, own) in candidates.iter_mut().zip(&own) {
            let mut seen: BTreeSet<TermId> = facts.iter().copied().collect();
            facts.extend(own.iter().copied().filter(|&t| seen.insert(t)));
        }
        if let Some(cuts) = conjunctive(task, candidates, false, self.attempts) {
            return ItpOutcome::Sequence(cuts);
        }
        let atoms: Vec<Vec<TermId>> = own
            .iter()
            .map(|literals| {
                literals.iter().map(|&l| atom(task.terms, l)).collect::<BTreeSet<_>>().into_iter().collect()
            })
            .collect();
        match minterms::boolean(task, &atoms) {
            Some(cuts) => ItpOutcome::Sequence(cuts),
            None => ItpOutcome::GaveUp("the candidate atoms are too weak".to_owned()),
        }
    }
}

/// The variables that are live at a cut in the slice, and for the caller.
fn live_at(task: &Task<'_>, liveness: &Liveness, cut: usize) -> BTreeSet<SymId> {
    let mut live: BTreeSet<SymId> = liveness.at_entry(cut + 1).into_iter().collect();
    if let Some(relevant) = task.hints.cuts.get(cut).and_then(|hint| hint.relevant.as_ref()) {
        live.retain(|sym| relevant.contains(sym));
    }
    live
}

/// Equations between the live variables that hold in all samples at the cuts of a place.
fn affine_at_places(task: &mut Task<'_>, live: &[BTreeSet<SymId>]) -> BTreeMap<u32, Vec<TermId>> {
    let mut variables: BTreeMap<u32, BTreeSet<SymId>> = BTreeMap::new();
    let mut states: BTreeMap<u32, Vec<State>> = BTreeMap::new();
    for (cut, live) in live.iter().enumerate() {
        // Variables that are live at some cuts only are left to the preconditions.
        variables.entry(place(task, cut)).and_modify(|all| all.retain(|s| live.contains(s))).or_insert(live.clone());
    }
    let samples = Samples::of(task);
    samples.replay(task, |_, _, _| {}, |cut, state| states.entry(place(task, cut)).or_default().push(state.clone()));
    let mut found = BTreeMap::new();
    for (place, variables) in variables {
        let variables: Vec<SymId> = variables.into_iter().collect();
        let states = states.remove(&place).unwrap_or_default();
        let few = states.len() <= 1;
        found.insert(place, if few { Vec::new() } else { equations(task.terms, &variables, &states) });
    }
    found
}

/// The literals of the preconditions of all cuts of the same place, for each cut; empty when no engine left them.
fn preconditions(task: &mut Task<'_>) -> Vec<Vec<TermId>> {
    let cuts = task.path.len() - 1;
    let Some(preconditions) = task.found.preconditions.clone() else { return vec![Vec::new(); cuts] };
    let own: Vec<Vec<TermId>> = preconditions.iter().map(|&t| literals(task.terms, t)).collect();
    (0..cuts)
        .map(|cut| {
            let mut all = own[cut].clone();
            for (other, literals) in own.iter().enumerate() {
                if other != cut && place(task, other) == place(task, cut) && all.len() < MAX_CANDIDATES {
                    all.extend(literals);
                }
            }
            all
        })
        .collect()
}

/// The atoms of a term and their negations.
fn literals(terms: &mut Terms, t: TermId) -> Vec<TermId> {
    terms.atoms(t).into_iter().flat_map(|atom| [atom, terms.not(atom)]).collect()
}

/// What the conditions of the slice compare, in all variants, and what the caller knows.
fn pool(task: &mut Task<'_>, slice: &super::slice::Slice) -> Vec<TermId> {
    let conditions: BTreeSet<TermId> = task
        .path
        .edges()
        .filter(|&(b, e, _)| slice.keeps(b, e))
        .filter_map(|(_, _, stmt)| match stmt {
            Stmt::Assume(cond) => Some(cond),
            Stmt::Skip | Stmt::Assign(..) | Stmt::Havoc(_) => None,
        })
        .collect();
    let conditions = with_memory(task, conditions);
    let mut pool = Vec::new();
    let mut seen = BTreeSet::new();
    let known: Vec<TermId> = task.hints.cuts.iter().flat_map(|hint| hint.known.iter().copied()).collect();
    for t in conditions.into_iter().chain(known) {
        for atom in task.terms.atoms(t) {
            if seen.insert(atom) {
                pool.extend(variants(task.terms, atom));
            }
        }
    }
    let mut seen = BTreeSet::new();
    pool.retain(|&t| t != TermId::TRUE && t != TermId::FALSE && seen.insert(t));
    pool
}

/// The conditions, and if they compare what was loaded from memory, also what they say about the memory at the start of the block:
/// the loaded values are not live there.
fn with_memory(task: &mut Task<'_>, mut conditions: BTreeSet<TermId>) -> BTreeSet<TermId> {
    let path = task.path;
    for formula in path.formulas.iter().flatten() {
        if !task.terms.has_array(formula.pc) || task.terms.size(formula.pc) > MAX_CONDITION {
            continue;
        }
        let lifted = task.terms.lift_ites(formula.pc, 2);
        for atom in task.terms.atoms(lifted) {
            if task.terms.symbols(atom).iter().all(|&(_, index)| index == 0) {
                conditions.insert(atom);
            }
        }
    }
    conditions
}

/// The atom, its negation, and comparisons of the same sides by other relations.
fn variants(terms: &mut Terms, atom: TermId) -> Vec<TermId> {
    let mut out = vec![atom, terms.not(atom)];
    match *terms.get(atom) {
        Term::IntLe(a, b) => {
            let one = terms.int(1);
            let (more, less) = (terms.int_add(b, one), terms.int_sub(b, one));
            // Not (a <= b) is b + 1 <= a; the boundaries are b and b + 1.
            let near = [
                terms.int_le(a, more),
                terms.int_le(a, less),
                terms.int_ge(a, b),
                terms.int_gt(a, more),
                terms.eq(a, b),
                terms.eq(a, more),
            ];
            out.extend(near);
        }
        Term::Eq(a, b) if terms.sort(a) == Sort::Int => {
            let near = [terms.int_le(a, b), terms.int_ge(a, b)];
            out.extend(near);
        }
        Term::Eq(a, b) if matches!(terms.sort(a), Sort::Bv(_)) => {
            for op in [BvCmp::Sle, BvCmp::Ule] {
                let near = [terms.bv_cmp(op, a, b), terms.bv_cmp(op, b, a)];
                out.extend(near);
            }
        }
        Term::BvCmp(op, a, b) => {
            let near = [terms.bv_cmp(op, b, a), terms.eq(a, b)];
            out.extend(near);
            // The boundary of the negation `a > k` is k + 1.
            let width = terms.width(a);
            let one = terms.bv(width, 1);
            let more = terms.bv_bin(crate::term::BvBin::Add, b, one);
            if terms.as_value(more).is_some() {
                let near = [terms.bv_cmp(op, a, more), terms.eq(a, more)];
                out.extend(near);
            }
        }
        _ => {}
    }
    out
}

/// Comparisons between the live variables, if they are few.
fn pairs(terms: &mut Terms, live: &BTreeSet<SymId>, pool: &[TermId]) -> Vec<TermId> {
    let mut out = Vec::new();
    if live.len() > MAX_PAIRED {
        return out;
    }
    // Signedness as the conditions have it.
    let ops: BTreeSet<BvCmp> = pool
        .iter()
        .filter_map(|&t| match *terms.get(atom(terms, t)) {
            Term::BvCmp(op, ..) => Some(op),
            _ => None,
        })
        .collect();
    let live: Vec<SymId> = live.iter().copied().collect();
    for (i, &x) in live.iter().enumerate() {
        for &y in &live[..i] {
            if terms.symbol_sort(x) != terms.symbol_sort(y) {
                continue;
            }
            let (a, b) = (terms.var(x, 0), terms.var(y, 0));
            match terms.symbol_sort(x) {
                Sort::Bool => out.push(terms.iff(a, b)),
                Sort::Array { .. } => {}
                Sort::Int => out.extend([terms.eq(a, b), terms.int_le(a, b), terms.int_le(b, a)]),
                Sort::Bv(_) => {
                    out.push(terms.eq(a, b));
                    for &op in &ops {
                        out.extend([terms.bv_cmp(op, a, b), terms.bv_cmp(op, b, a)]);
                    }
                }
            }
        }
    }
    out
}
