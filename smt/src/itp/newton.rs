// SPDX-License-Identifier: Apache-2.0
//! Newton-WP: slice the path by an unsatisfiable core, then take weakest preconditions of the slice.
//!
//! Follows Dietsch et al., *Craig vs. Newton in Software Model Checking* (FSE 2017), sections 3 and 4, with block graphs
//! in place of single statements. Left out: projection to live variables after the fact; a precondition reads only
//! variables that the slice reads later.

use super::checker::check;
use super::engine::{Interpolator, ItpOutcome, Task};
use super::minimise::{NoCore, infeasible_slice};
use super::slice::Slice;
use super::unwrap::Cases;
use super::wp::Backward;
use crate::term::TermId;

/// The engine.
#[derive(Clone, Debug)]
pub struct Newton {
    /// Attempts to make the core smaller.
    pub attempts: usize,
}

/// An infeasible slice of the path; taken from the task if an engine before found one.
pub(crate) fn slice(task: &mut Task<'_>, attempts: usize) -> Result<Slice, String> {
    if let Some(slice) = &task.found.slice {
        return Ok(slice.clone());
    }
    let slice =
        infeasible_slice(task.terms, task.solver, task.path, attempts, task.limits).map_err(
            |no_core| match no_core {
                NoCore::Feasible => "the labelled encoding has a model".to_owned(),
                NoCore::Unknown(why) => format!("no core: {why}"),
            },
        )?;
    task.found.slice = Some(slice.clone());
    Ok(slice)
}

impl Interpolator for Newton {
    fn name(&self) -> &'static str {
        "newton"
    }

    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome {
        let slice = match slice(task, self.attempts) {
            Ok(slice) => slice,
            Err(why) => return ItpOutcome::GaveUp(why),
        };
        let cases = Cases::new(task);
        if !cases.is_empty() {
            // The guess that nothing wraps around, if the path bears it out.
            let guarded = cases.guarded(task.terms, task.path, &slice);
            let bold = cases.without_requirements();
            for (slice, cases) in [(&slice, &cases), (&guarded, &cases), (&slice, &bold)] {
                if let Ok((slice, cuts)) = preconditions(task, slice, cases)
                    && check(task, &cuts, self.name()).is_ok()
                {
                    return answer(task, slice, cuts);
                }
            }
        }
        match preconditions(task, &slice, &Cases::default()) {
            Ok((slice, cuts)) => answer(task, slice, cuts),
            Err(why) => ItpOutcome::GaveUp(why),
        }
    }
}

/// The weakest preconditions of a slice at the cuts, and the slice with what had to be put back.
fn preconditions(task: &mut Task<'_>, slice: &Slice, cases: &Cases) -> Result<(Slice, Vec<TermId>), String> {
    let mut backward = Backward::new(task.path, slice.clone(), cases, task.solver, task.limits);
    let mut cuts = backward.sequence(task.terms)?;
    // The first one is the precondition of the whole path, which is valid.
    cuts.remove(0);
    Ok((backward.slice, cuts))
}

fn answer(task: &mut Task<'_>, slice: Slice, cuts: Vec<TermId>) -> ItpOutcome {
    task.found.slice = Some(slice);
    task.found.preconditions = Some(cuts.clone());
    ItpOutcome::Sequence(cuts)
}
