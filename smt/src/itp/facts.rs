// SPDX-License-Identifier: Apache-2.0
//! Interpolants that are conjunctions of given facts.
//!
//! Forwards, each cut keeps the facts that hold there whenever those of the cut before hold: Cartesian abstraction over the
//! blocks (Ball, Podelski, Rajamani, *Boolean and Cartesian Abstraction for Model Checking C Programs*, TACAS 2001). If the
//! end is unreachable then, facts that are not needed go, backwards. The uniform variant keeps at each place of the program
//! only facts that hold at all its cuts, which is what Houdini does for a loop (Flanagan, Leino, FME 2001): what it finds
//! is inductive beyond the unrolling at hand, as far as the path shows.

use std::collections::{BTreeMap, BTreeSet};

use super::cover::{atom, needed, worst_first};
use super::engine::Task;
use super::hoare::OpenBlock;
use crate::term::{Term, TermId, Terms};

/// A sequence of conjunctions of the candidates given for each cut. `attempts` limits the calls that minimise one cut.
pub(crate) fn conjunctive(
    task: &mut Task<'_>,
    mut candidates: Vec<Vec<TermId>>,
    uniform: bool,
    attempts: usize,
) -> Option<Vec<TermId>> {
    let last = task.path.len() - 1;
    let mut kept = loop {
        let kept = forward(task, &candidates);
        if !uniform || !intersect(task, &kept, &mut candidates) {
            break kept;
        }
    };
    if uniform {
        for facts in &mut kept {
            drop_weaker(task.terms, facts);
        }
    }
    let mut cuts = vec![TermId::TRUE; last];
    let mut goal = TermId::FALSE;
    for block in (0..=last).rev() {
        let mut before = if block == 0 { Vec::new() } else { kept[block - 1].clone() };
        let known = block.checked_sub(1).map(|cut| task.known(cut)).unwrap_or_default();
        worst_first(task.terms, &mut before, &known);
        let formula = task.path.formulas[block].as_ref();
        let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
        let facts = needed(&mut open, before, goal, attempts)?;
        goal = open.terms.and_all(&facts);
        if block > 0 {
            cuts[block - 1] = goal;
        }
    }
    Some(cuts)
}

/// Drops inequalities between two terms that are equal: one equation is simpler than two inequalities.
fn drop_weaker(terms: &Terms, facts: &mut Vec<TermId>) {
    let sides = |t: TermId| match *terms.get(t) {
        Term::Eq(a, b) | Term::IntLe(a, b) | Term::BvCmp(_, a, b) => Some((a, b)),
        _ => None,
    };
    let equal: BTreeSet<TermId> = facts
        .iter()
        .filter(|&&f| matches!(terms.get(f), Term::Eq(..)))
        .filter_map(|&f| sides(f))
        // Comparisons with constants have the term on the left, with different constants on the right.
        .map(|(a, _)| a)
        .collect();
    facts.retain(|&f| {
        let inequality = matches!(terms.get(atom(terms, f)), Term::IntLe(..) | Term::BvCmp(..));
        !(inequality && sides(atom(terms, f)).is_some_and(|(a, b)| equal.contains(&a) && terms.as_value(b).is_some()))
    });
}

/// The candidates that hold at each cut.
fn forward(task: &mut Task<'_>, candidates: &[Vec<TermId>]) -> Vec<Vec<TermId>> {
    let mut kept: Vec<Vec<TermId>> = Vec::with_capacity(candidates.len());
    for (cut, facts) in candidates.iter().enumerate() {
        let before = kept.last().cloned().unwrap_or_default();
        let formula = task.path.formulas[cut].as_ref();
        let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
        let implied = open.implied(&before, facts);
        kept.push(implied.into_iter().map(|i| facts[i]).collect());
    }
    kept
}

/// Restricts the candidates of each place to facts kept at all its cuts; whether that dropped something that was kept.
fn intersect(task: &Task<'_>, kept: &[Vec<TermId>], candidates: &mut [Vec<TermId>]) -> bool {
    let mut common: BTreeMap<u32, BTreeSet<TermId>> = BTreeMap::new();
    for (cut, facts) in kept.iter().enumerate() {
        let facts: BTreeSet<TermId> = facts.iter().copied().collect();
        match common.entry(place(task, cut)) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(facts);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => entry.get_mut().retain(|f| facts.contains(f)),
        }
    }
    let mut changed = false;
    for (cut, facts) in kept.iter().enumerate() {
        let common = &common[&place(task, cut)];
        changed |= facts.len() != common.len();
        candidates[cut] = common.iter().copied().collect();
    }
    changed
}

/// The place of a cut; without a hint every cut is a place of its own.
pub(crate) fn place(task: &Task<'_>, cut: usize) -> u32 {
    match task.hints.cuts.get(cut) {
        Some(hint) => hint.place,
        None => u32::MAX - cut as u32,
    }
}
