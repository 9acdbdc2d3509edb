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
use crate::path::Stmt;
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
        infeasible_slice(task.terms, task.solver, task.path, attempts, task.limits, task.attempt).map_err(
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
        let cases = Cases::new(task);
        let mut found = None;
        if task.found.slice.is_none() {
            found = assertion_slice(task).and_then(|slice| {
                unwrapped(task, &slice, &cases, false).or_else(|| {
                    // If the builders see that the path's precondition is true, no solver is needed. That is the way to go
                    // where the solver is weak and normal forms are strong, as with equations between polynomials.
                    let (front, slice, cuts) = preconditions(task, &slice, &Cases::default()).ok()?;
                    (front == TermId::TRUE).then_some((slice, cuts))
                })
            });
        }
        if found.is_none() {
            let slice = match slice(task, self.attempts) {
                Ok(slice) => slice,
                Err(why) => return ItpOutcome::GaveUp(why),
            };
            found = unwrapped(task, &slice, &cases, true);
            if found.is_none() {
                match preconditions(task, &slice, &Cases::default()) {
                    Ok((_, slice, cuts)) => found = Some((slice, cuts)),
                    Err(why) => return ItpOutcome::GaveUp(why),
                }
            }
        }
        match found {
            Some((slice, cuts)) => {
                task.found.slice = Some(slice);
                task.found.preconditions = Some(cuts.clone());
                ItpOutcome::Sequence(cuts)
            }
            None => ItpOutcome::GaveUp("no preconditions".to_owned()),
        }
    }
}

/// The slice that keeps all assignments, and of the assumptions only the last one that every way passes: what the program
/// asserts.
fn assertion_slice(task: &Task<'_>) -> Option<Slice> {
    let last = task.path.len() - 1;
    let (dag, graph) = (task.path.dag(last), &task.path.graphs[last]);
    let assertion = (0..dag.nodes - 1).rev().find_map(|node| match graph.outs(node) {
        &[e] if graph.is_bottleneck(node) => match dag.edges[e as usize].stmt {
            Stmt::Assume(_) => Some(e),
            Stmt::Skip | Stmt::Assign(..) | Stmt::Havoc(_) => None,
        },
        _ => None,
    })?;
    let mut slice = Slice::uniform(task.path, false);
    for (block, edge, stmt) in task.path.edges() {
        if let Stmt::Assign(..) = stmt {
            slice.keep(block, edge);
        }
    }
    slice.keep(last, assertion);
    Some(slice)
}

/// The preconditions with the guess that nothing wraps around, if there is something to guess and the path bears it out.
/// `guard` allows more assumptions to show that.
fn unwrapped(task: &mut Task<'_>, slice: &Slice, cases: &Cases, guard: bool) -> Option<(Slice, Vec<TermId>)> {
    if cases.is_empty() {
        return None;
    }
    let bold = cases.without_requirements();
    let mut guesses = vec![(slice.clone(), cases), (slice.clone(), &bold)];
    if guard {
        guesses.insert(1, (cases.guarded(task.terms, task.path, slice), cases));
    }
    for (slice, cases) in guesses {
        if let Ok((_, slice, cuts)) = preconditions(task, &slice, cases)
            && check(task, &cuts, "newton").is_ok()
        {
            return Some((slice, cuts));
        }
    }
    None
}

/// The weakest preconditions of a slice: at the start, and at the cuts; and the slice with what had to be put back.
fn preconditions(task: &mut Task<'_>, slice: &Slice, cases: &Cases) -> Result<(TermId, Slice, Vec<TermId>), String> {
    let mut backward = Backward::new(task.path, slice.clone(), cases, task.solver, task.attempt);
    let mut cuts = backward.sequence(task.terms)?;
    let front = cuts.remove(0);
    Ok((front, backward.slice, cuts))
}
