// SPDX-License-Identifier: Apache-2.0
//! Bounded model checking on top of the Predicate CPA with blocks that never end.
//!
//! Follows Beyer, Dangl, Wendler, *A Unifying View on SMT-Based Software Verification*, section 4.1. [`unrolling`] unrolls
//! the program bound by bound, [`query`] asks a solver about the path formulas, [`trace`] reads a run out of a model, and
//! [`bmc`] is the algorithm. [`ranges`] bounds the inputs that are read before the first loops.

pub mod bmc;
pub mod query;
pub mod ranges;
pub mod trace;
pub mod unrolling;

pub use bmc::{Bmc, Increase, Options, Times};
pub use ranges::{Ranges, before_cycles, input_ranges};
pub use unrolling::{Start, Unrolling};
