// SPDX-License-Identifier: Apache-2.0
//! k-induction with auxiliary invariants on top of bounded model checking.
//!
//! Follows Beyer, Dangl, Wendler, *A Unifying View on SMT-Based Software Verification*, section 4.2, for programs with any
//! number of loops. [`cutpoints`] are the loop heads in their contexts, [`step`] is the step case, [`invariants`] what is
//! known at the cut points, and [`kind`] the algorithm. [`houdini`], [`inputs`] and the equations of samples in
//! [`invariants`] serve other proofs by induction, too.

pub mod cutpoints;
pub mod houdini;
pub mod inputs;
pub mod invariants;
pub mod kind;
mod products;
pub mod step;

pub use invariants::{Bound, Proposer};
pub use kind::{KInduction, Options, Strategy, Times};
