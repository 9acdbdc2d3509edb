// SPDX-License-Identifier: Apache-2.0
//! Counterexample-guided abstraction refinement: the loop around the exploration, chains of refiners, and the checks that a
//! counterexample must stand before anybody hears of it.
//!
//! Follows Beyer, Dangl, Wendler, *A Unifying View on SMT-Based Software Verification*, Algorithm 4. Knows no domain: what
//! is feasible and how to become more precise is the refiner's business.

mod cegar;
mod chain;
mod check;
pub mod replay;

pub use crate::cegar::{Cegar, Statistics};
pub use crate::chain::Chain;
pub use crate::check::{Believed, CexCheck};
pub use crate::replay::{Disbelief, replay};
