// SPDX-License-Identifier: Apache-2.0
//! Shape analysis: what linked lists of any length look like, in symbolic memory graphs.
//!
//! A state is a graph of objects in memory whose cells hold numbers, unknown numbers and pointers. Neighbours in a list that
//! nobody else points to and that hold the same become one segment, which stands for one or more nodes, as in Dudka,
//! Peringer, Vojnar, *Byte-Precise Verification of Low-Level List Manipulation*, with segments that are never empty and
//! without a join: states stay apart, so that there is one for each way in which segments begin and end. A pointer into a
//! segment that is loaded takes a node out of it.
//!
//! Accesses that are not known to stay in a live object end the analysis. docs/soundness.md has the argument.

mod assume;
mod cover;
mod cpa;
mod crowd;
mod eval;
mod fold;
mod graph;
mod machine;
mod nest;
mod order;
mod range;
mod rows;
mod segment;

pub use crate::cpa::{ShapeCpa, ShapeOptions, ShapeState};
