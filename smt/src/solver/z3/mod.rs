// SPDX-License-Identifier: Apache-2.0
//! Z3, the only solver so far; nothing outside this folder names it.
//!
//! Z3 is used through its C interface (crate `z3-sys`), not through the crate `z3`: each solver has a context of its
//! own, errors come back as values through an error handler that does nothing (Z3's default one ends the process),
//! and translated terms stay referenced for the life of the context.
//!
//! * `context`: a context, its errors and its translated terms;
//! * `translate`: terms to Z3; `back`: Z3 to terms;
//! * `watchdog`: time limits and interrupts;
//! * `incremental`: [`Z3Solver`];
//! * [`spacer`]: Horn clauses; `tactic`: simplification and quantifier elimination.
#![allow(unsafe_code)]

mod back;
mod context;
mod incremental;
pub mod spacer;
mod tactic;
#[cfg(test)]
mod tests;
mod translate;
mod watchdog;

pub use context::set_memory_limit;
pub use incremental::{Z3Config, Z3Logic, Z3Solver};
pub use tactic::{eliminate, tactic_apply};
