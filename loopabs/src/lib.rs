// SPDX-License-Identifier: Apache-2.0
//! Loop abstraction: other code in place of loops, chosen by refinement.
//!
//! Follows Beyer, Lingsch Rosenfeld, Spiessl, *A Unifying Approach for Control-Flow-Based Loop Abstraction* (2022). A
//! strategy (`strategy/`, one file each) turns a loop into a [`Summary`]: C code with holes for the parts of the
//! original, and what it is worth. There is one consumer of summaries, the printer (`render`). What it prints for one
//! strategy a loop is the abstracted program that users get; what it prints for several, with a choice in front of each
//! loop, is read again and becomes the strategy-augmented automaton (`augment`), which the analyses explore. So the two
//! cannot differ. The strategy analysis (`cpa`) takes the choices, the refiner (`refiner`) takes them back.
//!
//! `effects` finds what a loop modifies, `names` says how C can name it, `updates` what an iteration adds to variables,
//! `closed` what many iterations make of them, `paths` which ways through the body there are.

mod augment;
mod closed;
mod context;
mod cpa;
mod effects;
mod names;
mod order;
mod patch;
mod paths;
mod refiner;
mod render;
mod strategy;
mod summary;
mod updates;

pub use augment::{AugmentError, Augmented, Choice, ChoiceId};
pub use context::{Loops, Report};
pub use cpa::{StrategyCpa, StrategyPrecision, StrategyState};
pub use effects::Effects;
pub use order::Order;
pub use patch::{Edit, applied, unified_diff};
pub use refiner::StrategyRefiner;
pub use render::{Rendered, Replacement};
pub use strategy::Strategy;
pub use summary::{Fidelity, Summary};
