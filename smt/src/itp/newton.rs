// SPDX-License-Identifier: Apache-2.0
//! Newton-WP: slice the path by an unsatisfiable core, then take weakest preconditions of the slice.
//!
//! Follows Dietsch et al., *Craig vs. Newton in Software Model Checking* (FSE 2017), sections 3 and 4, with block graphs
//! in place of single statements. Left out: projection to live variables after the fact; a precondition reads only
//! variables that the slice reads later.

use super::engine::{Interpolator, ItpOutcome, Task};
use super::minimise::{NoCore, infeasible_slice};
use super::slice::Slice;
use super::wp::Backward;

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
        let mut backward = Backward::new(task.path, slice, task.solver, task.limits);
        match backward.sequence(task.terms) {
            Ok(mut preconditions) => {
                // The first one is the precondition of the whole path, which is valid.
                preconditions.remove(0);
                task.found.slice = Some(backward.slice);
                task.found.preconditions = Some(preconditions.clone());
                ItpOutcome::Sequence(preconditions)
            }
            Err(why) => ItpOutcome::GaveUp(why),
        }
    }
}
