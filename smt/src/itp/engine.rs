// SPDX-License-Identifier: Apache-2.0
//! The interface between the portfolio and its engines.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use super::graph::Path;
use super::query::Hints;
use super::samples::Samples;
use super::slice::Slice;
use crate::solver::{Limits, Solver};
use crate::term::{TermId, Terms};

/// What an engine works on and with.
pub struct Task<'a> {
    /// The term store.
    pub terms: &'a mut Terms,
    /// A solver that lives longer than the task; engines leave it with the assertions that they found.
    pub solver: &'a mut dyn Solver,
    /// The path, prepared.
    pub path: &'a Path<'a>,
    /// What the caller knows.
    pub hints: &'a Hints,
    /// Limits of the solver calls on which the answer depends.
    pub limits: &'a Limits,
    /// Limits of the solver calls that only improve an answer.
    pub attempt: &'a Limits,
    /// What engines leave for those after them.
    pub(crate) found: Found,
}

impl<'a> Task<'a> {
    /// A task without results so far.
    pub fn new(
        terms: &'a mut Terms,
        solver: &'a mut dyn Solver,
        path: &'a Path<'a>,
        hints: &'a Hints,
        limits: &'a Limits,
        attempt: &'a Limits,
    ) -> Self {
        Task { terms, solver, path, hints, limits, attempt, found: Found::default() }
    }
}

impl Task<'_> {
    /// The predicates that the caller tracks at a cut.
    pub(crate) fn known(&self, cut: usize) -> BTreeSet<TermId> {
        self.hints.cuts.get(cut).map(|hint| hint.known.iter().copied().collect()).unwrap_or_default()
    }
}

/// Intermediate results that several engines use.
#[derive(Default)]
pub(crate) struct Found {
    /// An infeasible slice.
    pub(crate) slice: Option<Slice>,
    /// A sequence that was checked.
    pub(crate) sequence: Option<Vec<TermId>>,
    /// The weakest preconditions of the slice at the cuts.
    pub(crate) preconditions: Option<Vec<TermId>>,
    /// Executions of the beginning of the path.
    pub(crate) samples: Option<Rc<Samples>>,
    /// Wall time spent in Z3 beside the task's solver.
    pub(crate) outside: Duration,
}

/// What an engine answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ItpOutcome {
    /// A sequence that the engine believes to be inductive, one term less than there are blocks.
    Sequence(Vec<TermId>),
    /// The engine has none, for the reason given.
    GaveUp(String),
}

/// An interpolation engine. It is asked only about infeasible paths; what it answers is checked by the caller.
pub trait Interpolator {
    /// A short name for statistics.
    fn name(&self) -> &'static str;
    /// Proposes an inductive sequence for an infeasible path.
    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome;
}
