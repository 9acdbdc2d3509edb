// SPDX-License-Identifier: Apache-2.0
//! Counters of a solver.

use std::time::Duration;

/// What a solver has done since it was made.
#[derive(Clone, Debug, Default)]
pub struct SolverStats {
    /// Formulas asserted.
    pub assertions: u64,
    /// Checks, whatever their answer.
    pub checks: u64,
    /// Checks answered "satisfiable".
    pub sat: u64,
    /// Checks answered "unsatisfiable".
    pub unsat: u64,
    /// Checks answered "unknown".
    pub unknown: u64,
    /// Times the solver had to be rebuilt after it failed or was interrupted.
    pub rebuilt: u64,
    /// Wall time spent in checks and assertions; zero unless the solver is wrapped in [`Timed`](super::Timed).
    pub time: Duration,
    /// Wall time of the longest check; zero unless the solver is wrapped in [`Timed`](super::Timed).
    pub longest_check: Duration,
}
