// SPDX-License-Identifier: Apache-2.0
//! Making an inductive sequence simpler while it stays inductive.
//!
//! Two passes over the cuts. Forwards, an interpolant may be strengthened to anything that holds after its block: to a
//! conjunction of its own literals where those suffice, else by dropping disjuncts. Backwards, it may be weakened to
//! anything that implies the next one over the block between: conjuncts that are not needed go. Literals over predicates
//! that the caller tracks already are the last to go. Every step is checked by the solver, and the number of checks is
//! limited; the order of attempts is a heuristic of this project.

use std::collections::BTreeSet;

use super::engine::Task;
use super::hoare::{Holds, OpenBlock};
use crate::path::PathFormula;
use crate::term::{Sort, Term, TermId, Terms};

/// Interpolants with more atoms than this are not turned into conjunctions of literals.
const MAX_LITERALS: usize = 150;

/// Simplifies a sequence that is inductive, with at most about `attempts` solver calls for each cut.
pub(crate) fn polish(task: &mut Task<'_>, sequence: &[TermId], attempts: usize) -> Vec<TermId> {
    let mut cuts = sequence.to_vec();
    for i in 0..cuts.len() {
        if is_simple(task.terms, cuts[i]) {
            continue;
        }
        let before = if i == 0 { TermId::TRUE } else { cuts[i - 1] };
        let known = task.known(i);
        if let Some(literals) = as_literals(task, i, before, cuts[i], &known, attempts) {
            cuts[i] = literals;
        } else {
            let formula = task.path.formulas[i].as_ref();
            let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
            cuts[i] = fewer_disjuncts(&mut open, &[before], cuts[i], attempts);
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

/// The atom of a literal.
pub(crate) fn atom(terms: &Terms, literal: TermId) -> TermId {
    match *terms.get(literal) {
        Term::Not(a) => a,
        _ => literal,
    }
}

/// The conjuncts of a term.
pub(crate) fn conjuncts(terms: &Terms, t: TermId) -> Vec<TermId> {
    match terms.get(t) {
        Term::True => Vec::new(),
        Term::And(args) => args.to_vec(),
        _ => vec![t],
    }
}

/// Sorts facts so that those that one would rather keep come last: known ones, then small ones, then equations.
pub(crate) fn worst_first(terms: &Terms, facts: &mut [TermId], known: &BTreeSet<TermId>) {
    facts.sort_by_cached_key(|&f| {
        let is_known = terms.atoms(f).iter().all(|a| known.contains(a));
        let is_equation = matches!(terms.get(f), Term::Eq(..));
        // A negation is no larger than what it negates.
        (is_known, std::cmp::Reverse(terms.size(atom(terms, f))), is_equation, f)
    });
}

/// A conjunction of literals of `goal` that holds after the block and implies `goal`.
fn as_literals(
    task: &mut Task<'_>,
    block: usize,
    before: TermId,
    goal: TermId,
    known: &BTreeSet<TermId>,
    attempts: usize,
) -> Option<TermId> {
    let atoms = task.terms.atoms(goal);
    if atoms.len() > MAX_LITERALS {
        return None;
    }
    let mut literals = Vec::with_capacity(2 * atoms.len());
    for atom in atoms {
        literals.extend([atom, task.terms.not(atom)]);
    }
    let formula = task.path.formulas[block].as_ref();
    let implied = OpenBlock::new(task.terms, task.solver, formula, task.attempt).implied(&[before], &literals);
    let mut literals: Vec<TermId> = implied.into_iter().map(|i| literals[i]).collect();
    worst_first(task.terms, &mut literals, known);
    let nothing = PathFormula::empty();
    let mut open = OpenBlock::new(task.terms, task.solver, Some(&nothing), task.attempt);
    let kept = needed(&mut open, literals, goal, attempts)?;
    Some(open.terms.and_all(&kept))
}

/// Whether a fact does without choices and single bits.
pub(crate) fn is_pretty(terms: &Terms, fact: TermId) -> bool {
    let ugly = |t: TermId| match *terms.get(t) {
        Term::Ite(_, a, _) => terms.sort(a) != Sort::Bool,
        Term::Extract { .. } => true,
        _ => false,
    };
    !terms.post_order(&[fact], |_| false).into_iter().any(ugly)
}

/// A subset of `facts` that implies `goal` over the block; early ones go first. `None` when all of them do not.
pub(crate) fn needed(
    open: &mut OpenBlock<'_>,
    mut facts: Vec<TermId>,
    goal: TermId,
    attempts: usize,
) -> Option<Vec<TermId>> {
    // Without the ugly ones first, because the solver's core has no taste.
    let pretty: Vec<TermId> = facts.iter().copied().filter(|&f| is_pretty(open.terms, f)).collect();
    if pretty.len() < facts.len() && !pretty.is_empty() && open.implies(&pretty, goal).is_yes() {
        facts = pretty;
    }
    match open.implies(&facts, goal) {
        Holds::Yes(core) => facts = core.into_iter().map(|i| facts[i]).collect(),
        Holds::No | Holds::Unknown(_) => return None,
    }
    let mut at = 0;
    for _ in 0..attempts {
        if at == facts.len() {
            break;
        }
        let mut rest = facts.clone();
        rest.remove(at);
        match open.implies(&rest, goal) {
            Holds::Yes(core) => {
                let kept: Vec<TermId> = core.into_iter().map(|i| rest[i]).collect();
                // What lies before `at` is needed, so it is in the core, unless another proof was found.
                at = at.min(kept.len());
                facts = kept;
            }
            Holds::No | Holds::Unknown(_) => at += 1,
        }
    }
    Some(facts)
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
