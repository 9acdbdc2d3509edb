// SPDX-License-Identifier: Apache-2.0
//! What can go wrong in this crate.

/// An error of a solver or of an exchange of terms with it.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum Error {
    /// A value has no [`Value`](crate::Value), for example an integer beyond 128 bits.
    #[error("a value cannot be expressed in 128 bits")]
    Inexpressible,
    /// The solver returned a term with an operator that [`Term`](crate::Term) lacks.
    #[error("the solver's answer uses {0}, which has no counterpart here")]
    Untranslatable(String),
    /// The solver ran out of the memory it may use.
    #[error("the solver ran out of memory")]
    OutOfMemory,
    /// The solver was interrupted or hit a limit.
    #[error("{0}")]
    GaveUp(String),
    /// The solver's procedures do not decide the formulas.
    #[error("undecided: {0}")]
    Incomplete(String),
    /// Any other error inside the solver.
    #[error("the solver failed: {0}")]
    Solver(String),
}
