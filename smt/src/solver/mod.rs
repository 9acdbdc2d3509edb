// SPDX-License-Identifier: Apache-2.0
//! Solvers: the interface, what they answer, and decorators.
//!
//! A [`Solver`] holds a stack of assertions and answers whether they are satisfiable together with assumptions.
//! "Unknown" is an answer, also for errors inside a solver. Every solver enforces the bounds of the bounded integer
//! symbols that occur in what it is given.
//!
//! [`Timed`], [`Recorded`] and [`Audited`] wrap any solver and can be stacked.

mod audited;
mod clock;
mod limits;
mod model;
mod recorded;
mod sat;
mod stats;
#[cfg(test)]
mod tests;
mod timed;
pub mod z3;

pub use audited::{Audited, Finding};
pub use clock::ThreadClock;
pub use limits::{Limits, TimeLeft};
pub use model::{Assignment, Model};
pub use recorded::Recorded;
pub use stats::SolverStats;
pub use timed::Timed;
pub(crate) use timed::measured;
pub use z3::{Z3Config, Z3Logic, Z3Solver, eliminate, set_memory_limit, spacer, tactic_apply, version};

use crate::term::{TermId, Terms};

/// The answer to a check.
pub enum CheckResult<'s> {
    /// Satisfiable, with a model.
    Sat(Model<'s>),
    /// Unsatisfiable, with assumptions that suffice for that.
    Unsat(Core),
    /// Neither shown, with the reason: a limit, an interrupt, incompleteness or an error of the solver.
    Unknown(String),
}

impl CheckResult<'_> {
    /// Whether the answer is "satisfiable".
    pub fn is_sat(&self) -> bool {
        matches!(self, CheckResult::Sat(_))
    }

    /// Whether the answer is "unsatisfiable".
    pub fn is_unsat(&self) -> bool {
        matches!(self, CheckResult::Unsat(_))
    }

    /// The answer without its details; None for "unknown".
    pub fn truth(&self) -> Option<bool> {
        match self {
            CheckResult::Sat(_) => Some(true),
            CheckResult::Unsat(_) => Some(false),
            CheckResult::Unknown(_) => None,
        }
    }
}

/// The assumptions that an "unsatisfiable" needs, as positions in the list that was given to the check. Empty if the
/// assertions alone are unsatisfiable. Not necessarily minimal.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Core {
    indices: Vec<usize>,
}

impl Core {
    /// A core of these positions, in any order.
    pub fn new(mut indices: Vec<usize>) -> Self {
        indices.sort_unstable();
        indices.dedup();
        Core { indices }
    }

    /// The positions in ascending order.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Whether the assumption at this position belongs to the core.
    pub fn contains(&self, index: usize) -> bool {
        self.indices.binary_search(&index).is_ok()
    }

    /// Whether the assertions alone are unsatisfiable.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }
}

/// An incremental solver. A solver is bound to one [`Terms`] store, which the caller passes each time.
pub trait Solver {
    /// Opens a scope; the assertions that follow are undone by [`Solver::pop`].
    fn push(&mut self);

    /// Closes the innermost scope.
    ///
    /// # Panics
    /// The caller guarantees that a scope is open.
    fn pop(&mut self);

    /// Adds a formula to the innermost scope. Errors appear in the answer of the next check.
    fn assert(&mut self, terms: &Terms, formula: TermId);

    /// Checks the assertions together with formulas that hold for this check only.
    fn check<'s>(&'s mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> CheckResult<'s>;

    /// What was done so far.
    fn stats(&self) -> SolverStats;
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn push(&mut self) {
        (**self).push();
    }

    fn pop(&mut self) {
        (**self).pop();
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        (**self).assert(terms, formula);
    }

    fn check<'s>(&'s mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> CheckResult<'s> {
        (**self).check(terms, assumptions, limits)
    }

    fn stats(&self) -> SolverStats {
        (**self).stats()
    }
}
