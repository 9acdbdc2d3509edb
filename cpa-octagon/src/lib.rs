// SPDX-License-Identifier: Apache-2.0
//! The octagon domain as a library of its own, and the Octagon CPA over machine integers.
//!
//! Follows document 001 (*Octagon-Based Software Verification with CPAchecker*), chapters 2.5, 3 and 4.

mod cpa;
pub mod entry;
mod floats;
mod linear;
pub mod numeric;
pub mod octagon;
mod reducer;
mod refiner;
mod state;
mod transfer;

pub use crate::cpa::{MergeKind, OctagonCpa, OctagonOptions};
pub use crate::entry::Entry;
pub use crate::linear::Linear;
pub use crate::octagon::{Octagon, Signed};
pub use crate::reducer::OctagonReducer;
pub use crate::refiner::OctagonRefiner;
pub use crate::state::{OctagonState, Thresholds};
pub use crate::transfer::{Tracked, Transfer};
