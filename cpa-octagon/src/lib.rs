// SPDX-License-Identifier: Apache-2.0
//! The octagon domain as a library of its own, and the Octagon CPA over machine integers.
//!
//! Follows document 001 (*Octagon-Based Software Verification with CPAchecker*), chapters 2.5, 3 and 4.

pub mod octagon;

pub use crate::octagon::{Octagon, Signed};
