// SPDX-License-Identifier: Apache-2.0
//! Interpolation: whether an abstract error path has an execution, and if not, why.
//!
//! Z3 has no interpolation, so the interpolants are made here, by a [`Portfolio`] of engines whose answers are all checked
//! on a persistent solver before anybody sees them:
//!
//! * [`newton`]: unsatisfiable core, slice, weakest preconditions;
//! * [`spacer`]: the path as a chain of Horn clauses for Z3's Spacer;
//! * [`frames`]: clauses block by block, carried from cut to cut;
//! * [`candidates`]: conjunctions and Boolean combinations of candidate atoms;
//! * [`sp`]: constants and equalities of the symbolic store.

mod affine;
mod candidates;
pub mod checker;
mod cover;
mod elim;
mod engine;
mod facts;
mod feasible;
mod frames;
mod graph;
mod growth;
mod hoare;
mod minimise;
mod minterms;
mod newton;
mod polish;
mod portfolio;
mod query;
mod samples;
mod slice;
mod sp;
mod spacer;
mod ssa;
mod stepwise;
#[cfg(test)]
mod tests;
mod unwrap;
mod wp;

pub use candidates::Candidates;
pub use engine::{Interpolator, ItpOutcome, Task};
pub use feasible::{Feasibility, feasibility};
pub use frames::Frames;
pub use graph::Path;
pub use newton::{Assertion, Newton};
pub use portfolio::{EngineKind, EngineStats, Portfolio, PortfolioConfig};
pub use query::{BlockDag, CutHint, DagEdge, Hints, PathQuery, PathResult, Sequence, Witness, WitnessStep};
pub use sp::Strongest;
pub use spacer::Spacer;
pub use stepwise::Stepwise;
