// SPDX-License-Identifier: Apache-2.0
//! The Predicate CPA with adjustable-block encoding: predicate abstraction of blocks of any size.
//!
//! Follows Wendler, *Software Verification based on Adjustable Large-Block Encoding*, and Beyer, Dangl, Wendler, *A
//! Unifying View on SMT-Based Software Verification*. [`encode`] turns operations into terms, [`block`] says where blocks
//! end, [`abstraction`] computes the strongest combination of the tracked predicates behind a block, [`formula`] and
//! [`region`] store it, [`cpa`] is the analysis, [`refiner`] finds new predicates or stronger states, and [`impact`]
//! strengthens states and covers them by force. Predicate abstraction, IMPACT and what lies between are choices of options.

mod abstract_path;
pub mod abstraction;
pub mod block;
mod branches;
mod calls;
mod changes;
pub mod cpa;
pub mod decode;
pub mod encode;
pub mod formula;
pub mod impact;
mod laps;
pub mod manager;
pub mod pathcheck;
pub mod precision;
pub mod reducer;
pub mod refiner;
pub mod region;
pub mod stats;

pub use block::{BlockOperator, BlockOptions};
pub use cpa::{PredicateCpa, PredicateOptions, PredicateState};
pub use decode::Decoder;
pub use encode::Encoding;
pub use formula::{Formula, Representation};
pub use impact::ImpactCovering;
pub use manager::{Computation, Manager, Scripts, Settings};
pub use pathcheck::PathCheck;
pub use precision::{Precision, Scope, Sharing};
pub use reducer::{BlockPredicates, PredicateReducer};
pub use refiner::{PredicateRefiner, RefinerOptions, Strategy};
