// SPDX-License-Identifier: Apache-2.0
//! Newton-WP: slice the path by an unsatisfiable core, then take weakest preconditions of the slice.
//!
//! Follows Dietsch et al., *Craig vs. Newton in Software Model Checking* (FSE 2017), sections 3 and 4, with block graphs
//! in place of single statements. Left out: projection to live variables after the fact; a precondition reads only
//! variables that the slice reads later.

use super::checker::check;
use super::engine::{Interpolator, ItpOutcome, Task};
use super::minimise::{NoCore, infeasible_slice, slice_for};
use super::slice::Slice;
use super::unwrap::Cases;
use super::wp::Backward;
use crate::path::Stmt;
use crate::term::TermId;

/// The engine that slices by an unsatisfiable core.
#[derive(Clone, Debug)]
pub struct Newton {
    /// Attempts to make the core smaller.
    pub attempts: usize,
}

/// The engine that keeps all assignments, and of the assumptions only the last one that every way passes: what the program
/// asserts. Answers only if the precondition of the path is seen to be true without a solver. That is the way to go where
/// the solver is weak and normal forms are strong, as with equations between polynomials; and it often gives the most
/// general interpolants.
#[derive(Clone, Debug)]
pub struct Assertion;

/// An infeasible slice of the path: what an earlier sequence needs, or else what an unsatisfiable core of the path says.
pub(crate) fn slice(task: &mut Task<'_>, attempts: usize) -> Result<Slice, String> {
    if let Some(slice) = &task.found.slice {
        return Ok(slice.clone());
    }
    let local = match &task.found.sequence {
        Some(cuts) => slice_for(task.terms, task.solver, task.path, cuts, task.limits),
        None => None,
    };
    let slice = match local {
        Some(slice) => slice,
        None => infeasible_slice(task.terms, task.solver, task.path, attempts, task.limits, task.attempt).map_err(
            |no_core| match no_core {
                NoCore::Feasible => "the labelled encoding has a model".to_owned(),
                NoCore::Unknown(why) => format!("no core: {why}"),
            },
        )?,
    };
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
        let found = match unwrapped(task, &slice, &cases, true) {
            Some(found) => Ok(found),
            None => preconditions(task, &slice, &Cases::default()).map(|(_, slice, cuts)| (slice, cuts)),
        };
        answer(task, found)
    }
}

impl Interpolator for Assertion {
    fn name(&self) -> &'static str {
        "assertion"
    }

    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome {
        let Some(slice) = assertion_slice(task) else {
            return ItpOutcome::GaveUp("the path does not end in an assumption".to_owned());
        };
        let cases = Cases::new(task);
        if let Some(found) = unwrapped(task, &slice, &cases, false) {
            return answer(task, Ok(found));
        }
        match Assertion::without_solver(task) {
            Some(cuts) => ItpOutcome::Sequence(cuts),
            None => ItpOutcome::GaveUp("the last assumption alone is no reason".to_owned()),
        }
    }
}

impl Assertion {
    /// The sequence, if the builders see that the precondition of the path is true. Needs no solver, as a rule, and need not
    /// know that the path is infeasible.
    pub(crate) fn without_solver(task: &mut Task<'_>) -> Option<Vec<TermId>> {
        let slice = assertion_slice(task)?;
        let (front, slice, cuts) = preconditions(task, &slice, &Cases::default()).ok()?;
        if front != TermId::TRUE {
            return None;
        }
        match answer(task, Ok((slice, cuts))) {
            ItpOutcome::Sequence(cuts) => Some(cuts),
            ItpOutcome::GaveUp(_) => None,
        }
    }
}

/// Leaves the findings for engines to come.
fn answer(task: &mut Task<'_>, found: Result<(Slice, Vec<TermId>), String>) -> ItpOutcome {
    match found {
        Ok((slice, cuts)) => {
            task.found.slice = Some(slice);
            task.found.preconditions = Some(cuts.clone());
            ItpOutcome::Sequence(cuts)
        }
        Err(why) => ItpOutcome::GaveUp(why),
    }
}

/// The slice that keeps all assignments and the assertion.
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
