// SPDX-License-Identifier: Apache-2.0
//! A solver that measures its time.

use std::time::{Duration, Instant};

use super::{CheckResult, Limits, Solver, SolverStats};
use crate::term::{TermId, Terms};

/// Does something with Z3 that is no call of a [`Solver`], and adds the wall time that it takes to a total.
pub(crate) fn measured<R>(total: &mut Duration, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed();
    result
}

/// Measures the wall time of the calls into another solver and adds it to the statistics.
pub struct Timed<S> {
    inner: S,
    time: Duration,
    longest_check: Duration,
}

impl<S: Solver> Timed<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> Self {
        Timed { inner, time: Duration::ZERO, longest_check: Duration::ZERO }
    }
}

impl<S: Solver> Solver for Timed<S> {
    fn push(&mut self) {
        let start = Instant::now();
        self.inner.push();
        self.time += start.elapsed();
    }

    fn pop(&mut self) {
        let start = Instant::now();
        self.inner.pop();
        self.time += start.elapsed();
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        let start = Instant::now();
        self.inner.assert(terms, formula);
        self.time += start.elapsed();
    }

    fn check<'s>(&'s mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> CheckResult<'s> {
        let start = Instant::now();
        let result = self.inner.check(terms, assumptions, limits);
        let spent = start.elapsed();
        self.time += spent;
        self.longest_check = self.longest_check.max(spent);
        result
    }

    fn stats(&self) -> SolverStats {
        SolverStats { time: self.time, longest_check: self.longest_check, ..self.inner.stats() }
    }
}
