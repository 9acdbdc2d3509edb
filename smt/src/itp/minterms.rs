// SPDX-License-Identifier: Apache-2.0
//! Interpolants that are any Boolean combination of few atoms.
//!
//! Boolean abstraction over the blocks (Ball, Podelski, Rajamani, TACAS 2001): the reachable truth assignments of at most
//! six atoms are a 64-bit set. Backwards, each set is projected to fewer atoms as long as it still excludes the error.

use super::engine::Task;
use super::hoare::{Holds, OpenBlock, Violation};
use crate::term::{TermId, Terms};

/// So many atoms' truth assignments fit into a word.
const MAX_ATOMS: usize = 6;

/// A sequence over the atoms given for each cut; `None` when they are too many or too weak.
pub(crate) fn boolean(task: &mut Task<'_>, atoms: &[Vec<TermId>]) -> Option<Vec<TermId>> {
    if atoms.iter().any(|atoms| atoms.len() > MAX_ATOMS) {
        return None;
    }
    let mut sets: Vec<u64> = Vec::with_capacity(atoms.len());
    let mut before = TermId::TRUE;
    for (cut, atoms) in atoms.iter().enumerate() {
        let formula = task.path.formulas[cut].as_ref();
        let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
        let mut set = 0u64;
        loop {
            let reached = formula_of(open.terms, atoms, set);
            match open.violation(&[before], reached, atoms) {
                Violation::None(_) => break,
                Violation::Unknown(_) => return None,
                Violation::Found(truth) => {
                    let minterm: usize = truth.iter().enumerate().map(|(i, &holds)| usize::from(holds) << i).sum();
                    if set >> minterm & 1 == 1 {
                        return None;
                    }
                    set |= 1 << minterm;
                }
            }
        }
        before = formula_of(open.terms, atoms, set);
        sets.push(set);
    }
    let mut cuts = vec![TermId::FALSE; atoms.len()];
    let mut goal = TermId::FALSE;
    for block in (1..=atoms.len()).rev() {
        let (atoms, set) = (&atoms[block - 1], &mut sets[block - 1]);
        let formula = task.path.formulas[block].as_ref();
        let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
        let mut fact = formula_of(open.terms, atoms, *set);
        if !matches!(open.implies(&[fact], goal), Holds::Yes(_)) {
            return None;
        }
        for i in 0..atoms.len() {
            let projected = project(*set, i);
            if projected == *set {
                continue;
            }
            let weaker = formula_of(open.terms, atoms, projected);
            if open.implies(&[weaker], goal).is_yes() {
                (*set, fact) = (projected, weaker);
            }
        }
        cuts[block - 1] = fact;
        goal = fact;
    }
    Some(cuts)
}

/// The assignments that agree with one of the set on all atoms but the i-th.
fn project(set: u64, i: usize) -> u64 {
    let without = (0..64).filter(|m| m >> i & 1 == 0).fold(0u64, |mask, m| mask | 1 << m);
    let low = set & without | (set >> (1 << i)) & without;
    low | low << (1 << i)
}

/// The formula of a set of assignments, by Shannon expansion.
fn formula_of(terms: &mut Terms, atoms: &[TermId], set: u64) -> TermId {
    match atoms.split_last() {
        None => terms.bool(set & 1 == 1),
        Some((&atom, rest)) => {
            let half = 1u32 << rest.len();
            let low = if half >= 64 { u64::MAX } else { (1u64 << half) - 1 };
            let (when, unless) = (formula_of(terms, rest, set >> half), formula_of(terms, rest, set & low));
            terms.ite(atom, when, unless)
        }
    }
}
