// SPDX-License-Identifier: Apache-2.0
//! Backwards cut by cut: weakest preconditions of single blocks, replaced at once by what holds there and suffices.
//!
//! At every cut the precondition of the next interpolant over one block is computed without slicing. Its atoms make a simple
//! formula that holds after the whole beginning of the path and suffices for the next interpolant (see
//! [`cover`](super::cover)); if there is none, the precondition itself without superfluous parts is taken. There is no
//! unsatisfiable core of the whole path: on long paths through large blocks, where that core is expensive and constants
//! decide most branches, this is the faster way. (A combination of Newton's preconditions with ideas of IC3; this
//! project's own.)

use super::cover::Gap;
use super::engine::{Interpolator, ItpOutcome, Task};
use super::feasible::Composed;
use super::hoare::OpenBlock;
use super::polish::fewer_disjuncts;
use super::slice::Slice;
use super::unwrap::Cases;
use super::wp::Backward;
use crate::path::PathFormula;
use crate::term::TermId;

/// More atoms than this are not considered at a cut.
const MAX_ATOMS: usize = 200;

/// The engine.
#[derive(Clone, Debug)]
pub struct Stepwise {
    /// Solver calls to make one interpolant smaller.
    pub attempts: usize,
}

impl Interpolator for Stepwise {
    fn name(&self) -> &'static str {
        "stepwise"
    }

    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome {
        let cuts = task.path.len() - 1;
        let composed = Composed::new(task.terms, task.path);
        let cases = Cases::new(task);
        let mut interpolants = vec![TermId::FALSE; cuts];
        let mut goal = TermId::FALSE;
        // Cuts that nothing reaches, as far as the builders see, keep false.
        for cut in (0..cuts.min(composed.conditions.len())).rev() {
            let prefix = composed.prefix(task.terms, cut);
            match self.step(task, cut + 1, &prefix, goal, &cases) {
                Ok(interpolant) => goal = interpolant,
                Err(why) => return ItpOutcome::GaveUp(format!("block {}: {why}", cut + 1)),
            }
            interpolants[cut] = goal;
            if goal == TermId::TRUE {
                interpolants[..cut].fill(TermId::TRUE);
                break;
            }
        }
        ItpOutcome::Sequence(interpolants)
    }
}

impl Stepwise {
    /// Something that holds after `prefix` and implies `goal` over the block.
    fn step(
        &self,
        task: &mut Task<'_>,
        block: usize,
        prefix: &PathFormula,
        goal: TermId,
        cases: &Cases,
    ) -> Result<TermId, String> {
        let formula = task.path.formulas[block].as_ref();
        let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
        if open.implies(&[], goal).is_yes() {
            return Ok(TermId::TRUE);
        }
        drop(open);
        // The guess that nothing wraps around comes first; what it gives is checked here.
        if !cases.is_empty() {
            for cases in [cases, &cases.without_requirements()] {
                if let Ok(guess) = self.replaced(task, block, prefix, goal, cases) {
                    return Ok(guess);
                }
            }
        }
        self.replaced(task, block, prefix, goal, &Cases::default())
    }

    /// The precondition of `goal` over the block, with the cases chosen, or something simpler that holds after `prefix`.
    fn replaced(
        &self,
        task: &mut Task<'_>,
        block: usize,
        prefix: &PathFormula,
        goal: TermId,
        cases: &Cases,
    ) -> Result<TermId, String> {
        let formula = task.path.formulas[block].as_ref();
        let slice = Slice::uniform(task.path, true);
        let mut backward = Backward::new(task.path, slice, cases, task.solver, task.attempt);
        let precondition = backward.block(task.terms, block, goal)?;
        let mut atoms = task.terms.atoms(precondition);
        atoms.truncate(MAX_ATOMS);
        let gap = Gap {
            arrival: Some(prefix),
            before: TermId::TRUE,
            departure: formula,
            goal,
            known: task.known(block - 1),
            attempts: self.attempts,
        };
        if let Some(filled) = gap.fill(task, &atoms) {
            return Ok(filled);
        }
        let mut open = OpenBlock::new(task.terms, task.solver, formula, task.attempt);
        let suffices = cases.is_empty() || open.implies(&[precondition], goal).is_yes();
        drop(open);
        let mut open = OpenBlock::new(task.terms, task.solver, Some(prefix), task.attempt);
        let explained = cases.is_empty() || suffices && open.implies(&[], precondition).is_yes();
        if !explained {
            return Err("the path may wrap around".to_owned());
        }
        Ok(fewer_disjuncts(&mut open, &[], precondition, self.attempts))
    }
}
