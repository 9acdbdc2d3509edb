// SPDX-License-Identifier: Apache-2.0
//! Making an inductive sequence simpler while it stays inductive.
//!
//! Two passes over the cuts. Forwards, an interpolant may be strengthened to anything that holds after its block: to a
//! conjunction of its own literals where those suffice, else by dropping disjuncts. Backwards, it may be weakened to
//! anything that implies the next one over the block between: conjuncts that are not needed go. Literals over predicates
//! that the caller tracks already are the last to go. Every step is checked by the solver, and the number of checks is
//! limited; the order of attempts is a heuristic of this project.

use super::cover::{Gap, needed, worst_first};
use super::engine::Task;
use super::hoare::OpenBlock;
use crate::path::PathFormula;
use crate::term::{Term, TermId, Terms};

/// Interpolants with more atoms than this are not built anew from them.
const MAX_ATOMS: usize = 150;

/// Simplifies a sequence that is inductive, with at most about `attempts` solver calls for each cut.
pub(crate) fn polish(task: &mut Task<'_>, sequence: &[TermId], attempts: usize) -> Vec<TermId> {
    let mut cuts = sequence.to_vec();
    for i in 0..cuts.len() {
        if is_simple(task.terms, cuts[i]) {
            continue;
        }
        let before = if i == 0 { TermId::TRUE } else { cuts[i - 1] };
        let nothing = PathFormula::empty();
        let gap = Gap {
            arrival: task.path.formulas[i].as_ref(),
            before,
            departure: Some(&nothing),
            goal: cuts[i],
            known: task.known(i),
            attempts,
        };
        let atoms = task.terms.atoms(cuts[i]);
        let filled = if atoms.len() > MAX_ATOMS { None } else { gap.fill(task, &atoms) };
        match filled.filter(|&filled| task.terms.atoms(filled).len() <= atoms.len()) {
            Some(filled) => cuts[i] = filled,
            None => {
                let mut open = OpenBlock::new(task.terms, task.solver, gap.arrival, task.attempt);
                cuts[i] = fewer_disjuncts(&mut open, &[before], cuts[i], attempts);
            }
        }
    }
    for i in (0..cuts.len()).rev() {
        let after = cuts.get(i + 1).copied().unwrap_or(TermId::FALSE);
        cuts[i] = fewer_conjuncts(task, i + 1, cuts[i], after, attempts);
    }
    cuts
}

fn is_simple(terms: &Terms, t: TermId) -> bool {
    match terms.get(t) {
        Term::And(_) | Term::Or(_) | Term::Ite(..) => false,
        &Term::Not(a) => is_simple(terms, a),
        _ => true,
    }
}

/// The conjuncts of a term.
pub(crate) fn conjuncts(terms: &Terms, t: TermId) -> Vec<TermId> {
    match terms.get(t) {
        Term::True => Vec::new(),
        _ => terms.conjuncts(t),
    }
}

/// Drops disjuncts of the conjuncts of `goal` while it holds after the block.
pub(crate) fn fewer_disjuncts(open: &mut OpenBlock<'_>, before: &[TermId], goal: TermId, attempts: usize) -> TermId {
    let mut left = attempts;
    let mut result = Vec::new();
    for conjunct in conjuncts(open.terms, goal) {
        let mut parts = match open.terms.get(conjunct) {
            Term::Or(args) => args.to_vec(),
            _ => {
                result.push(conjunct);
                continue;
            }
        };
        parts.sort_by_key(|&p| std::cmp::Reverse(open.terms.size(p)));
        let mut at = 0;
        while at < parts.len() && parts.len() > 1 && left > 0 {
            left -= 1;
            let mut rest = parts.clone();
            rest.remove(at);
            let candidate = open.terms.or_all(&rest);
            if open.implies(before, candidate).is_yes() {
                parts = rest;
            } else {
                at += 1;
            }
        }
        result.push(open.terms.or_all(&parts));
    }
    open.terms.and_all(&result)
}

/// Drops conjuncts of `fact` while it implies `goal` over the block.
fn fewer_conjuncts(task: &mut Task<'_>, block: usize, fact: TermId, goal: TermId, attempts: usize) -> TermId {
    if fact == TermId::TRUE || fact == TermId::FALSE {
        return fact;
    }
    let mut facts = conjuncts(task.terms, fact);
    let known = task.known(block - 1);
    worst_first(task.terms, &mut facts, &known);
    let formula = task.path.formulas[block].as_ref();
    let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
    match needed(&mut open, facts, goal, attempts) {
        Some(kept) => open.terms.and_all(&kept),
        None => fact,
    }
}
