// SPDX-License-Identifier: Apache-2.0
//! The explicit-value analysis: values of variables and memory cells where they are known, with refinement by interpolation
//! over assignments.
//!
//! Follows document 001 (*Octagon-Based Software Verification with CPAchecker*), sections 2.3.3 and 2.4, and Beyer and Löwe,
//! *Explicit-State Software Verification Based on CEGAR and Interpolation*. No solver is involved.

mod assume;
mod cpa;
mod eval;
mod inputs;
mod machine;
mod map;
mod origin;
mod path;
mod place;
mod precision;
mod reducer;
mod refiner;
mod state;

pub use crate::cpa::{MergeKind, ValueCpa};
pub use crate::machine::Machine;
pub use crate::place::{Cell, Place, Slot};
pub use crate::precision::{Precision, SlotSet, Tracked};
pub use crate::reducer::ValueReducer;
pub use crate::refiner::{Preference, RefinerStatistics, Sharing, Tracker, ValueRefiner, ValueTracker};
pub use crate::state::ValueState;
