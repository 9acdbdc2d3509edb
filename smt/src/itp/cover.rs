// SPDX-License-Identifier: Apache-2.0
//! Simple formulas between what holds at a cut and what has to hold there.
//!
//! Given the atoms to use: first a conjunction of literals that hold in every state that arrives (Cartesian abstraction);
//! if those do not suffice, a disjunction of cubes, one for each state that arrives and is not covered yet, each as small as
//! the goal allows (the generalisation of states by unsatisfiable cores is that of IC3, Bradley, VMCAI 2011). Many literals
//! about one variable give way to its few possible values.

use std::collections::{BTreeMap, BTreeSet};

use super::engine::Task;
use super::hoare::{Holds, OpenBlock, Violation};
use crate::path::PathFormula;
use crate::term::{SymId, Term, TermId, Terms};

/// More cubes than this are no simplification.
const MAX_CUBES: usize = 10;

/// A variable with more possible values than this gets no fact about them.
pub(crate) const MAX_VALUES: usize = 4;

/// So many literals about one variable are replaced by its values.
const MANY_LITERALS: usize = 3;

/// A cut: what arrives there, and what has to follow.
pub(crate) struct Gap<'a> {
    /// The formula of the way to the cut; `None` when nothing arrives.
    pub(crate) arrival: Option<&'a PathFormula>,
    /// What holds at the start of that way.
    pub(crate) before: TermId,
    /// The formula of the way on.
    pub(crate) departure: Option<&'a PathFormula>,
    /// What has to hold after that way.
    pub(crate) goal: TermId,
    /// Predicates that are tracked at the cut anyway.
    pub(crate) known: BTreeSet<TermId>,
    /// Solver calls to make one conjunction smaller.
    pub(crate) attempts: usize,
}

impl Gap<'_> {
    fn arrive<'t>(&'t self, task: &'t mut Task<'_>) -> OpenBlock<'t> {
        OpenBlock::new(task.terms, task.solver, self.arrival, task.attempt)
    }

    fn depart<'t>(&'t self, task: &'t mut Task<'_>) -> OpenBlock<'t> {
        OpenBlock::new(task.terms, task.solver, self.departure, task.attempt)
    }

    /// A formula over the atoms that holds at the cut and suffices for the goal.
    pub(crate) fn fill(&self, task: &mut Task<'_>, atoms: &[TermId]) -> Option<TermId> {
        let mut literals = Vec::with_capacity(2 * atoms.len());
        for &atom in atoms {
            literals.extend([atom, task.terms.not(atom)]);
        }
        let mut facts: Vec<TermId> = {
            let mut open = self.arrive(task);
            open.implied(&[self.before], &literals).into_iter().map(|i| literals[i]).collect()
        };
        worst_first(task.terms, &mut facts, &self.known);
        let kept = needed(&mut self.depart(task), facts.clone(), self.goal, self.attempts);
        if let Some(kept) = kept {
            let kept = self.by_values(task, kept);
            return Some(task.terms.and_all(&kept));
        }
        self.cubes(task, atoms, &facts)
    }

    /// Replaces many literals about one variable by the values that it can have.
    fn by_values(&self, task: &mut Task<'_>, mut kept: Vec<TermId>) -> Vec<TermId> {
        let Some(arrival) = self.arrival else { return kept };
        for (sym, literals) in about_one(task.terms, &kept) {
            let value = arrival.value(task.terms, sym);
            let Some(leaves) = constant_leaves(task.terms, value) else { continue };
            if literals.len() < MANY_LITERALS || leaves.len() >= literals.len() {
                continue;
            }
            let var = task.terms.var(sym, 0);
            let equations: Vec<TermId> = leaves.into_iter().map(|leaf| task.terms.eq(var, leaf)).collect();
            let values = task.terms.or_all(&equations);
            let mut fewer: Vec<TermId> = kept.iter().copied().filter(|l| !literals.contains(l)).collect();
            fewer.push(values);
            if self.depart(task).implies(&fewer, self.goal).is_yes() {
                kept = fewer;
            }
        }
        kept
    }

    /// A disjunction of cubes of the atoms that covers all states that arrive. Facts hold in all of them.
    fn cubes(&self, task: &mut Task<'_>, atoms: &[TermId], facts: &[TermId]) -> Option<TermId> {
        let mut covered = TermId::FALSE;
        for _ in 0..MAX_CUBES {
            let truth = match self.arrive(task).violation(&[self.before], covered, atoms) {
                Violation::None(_) => return Some(covered),
                Violation::Unknown(_) => return None,
                Violation::Found(truth) => truth,
            };
            let mut literals = Vec::with_capacity(atoms.len());
            for (&atom, holds) in atoms.iter().zip(truth) {
                literals.push(if holds { atom } else { task.terms.not(atom) });
            }
            worst_first(task.terms, &mut literals, &self.known);
            // What holds in all states is worth keeping, so that cubes have much in common.
            literals.sort_by_key(|l| facts.contains(l));
            let all = literals.clone();
            let mut open = self.depart(task);
            let mut kept = needed(&mut open, literals, self.goal, self.attempts)?;
            for (sym, about) in about_one(open.terms, &kept) {
                // An equation says more than many inequalities.
                let equation = all.iter().copied().find(|&l| match *open.terms.get(l) {
                    Term::Eq(a, b) => open.terms.as_var(a) == Some((sym, 0)) && open.terms.as_value(b).is_some(),
                    _ => false,
                });
                if let Some(equation) = equation.filter(|_| about.len() >= MANY_LITERALS) {
                    let mut fewer: Vec<TermId> = kept.iter().copied().filter(|l| !about.contains(l)).collect();
                    fewer.push(equation);
                    if open.implies(&fewer, self.goal).is_yes() {
                        kept = fewer;
                    }
                }
            }
            let cube = open.terms.and_all(&kept);
            covered = open.terms.or(covered, cube);
        }
        None
    }
}

/// The literals about a single variable, by variable.
fn about_one(terms: &Terms, literals: &[TermId]) -> BTreeMap<SymId, Vec<TermId>> {
    let mut about: BTreeMap<SymId, Vec<TermId>> = BTreeMap::new();
    for &literal in literals {
        let symbols = terms.symbols(literal);
        if let (Some(&(sym, _)), 1) = (symbols.first(), symbols.len()) {
            about.entry(sym).or_default().push(literal);
        }
    }
    about
}

/// The constants that a tree of if-then-else terms chooses from, if there are few.
pub(crate) fn constant_leaves(terms: &Terms, value: TermId) -> Option<Vec<TermId>> {
    let mut leaves = Vec::new();
    let mut stack = vec![value];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match (terms.as_value(t), terms.get(t)) {
            (Some(_), _) => leaves.push(t),
            (None, &Term::Ite(_, a, b)) => stack.extend([b, a]),
            (None, _) => return None,
        }
        if leaves.len() > MAX_VALUES {
            return None;
        }
    }
    Some(leaves)
}

/// The atom of a literal.
pub(crate) fn atom(terms: &Terms, literal: TermId) -> TermId {
    match *terms.get(literal) {
        Term::Not(a) => a,
        _ => literal,
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

/// Whether a fact does without choices and single bits.
pub(crate) fn is_pretty(terms: &Terms, fact: TermId) -> bool {
    let ugly = |t: TermId| match *terms.get(t) {
        Term::Ite(_, a, _) => terms.sort(a) != crate::term::Sort::Bool,
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
