// SPDX-License-Identifier: Apache-2.0
//! The Predicate CPA with adjustable-block encoding: predicate abstraction of blocks of any size.
//!
//! Follows Wendler, *Software Verification based on Adjustable Large-Block Encoding*, and Beyer, Dangl, Wendler, *A
//! Unifying View on SMT-Based Software Verification*. [`encode`] turns operations into terms, [`block`] says where blocks
//! end, [`abstraction`] computes the strongest Boolean combination of the tracked predicates behind a block, [`region`]
//! stores it, [`cpa`] is the analysis and [`refiner`] finds new predicates.

pub mod abstraction;
pub mod block;
mod calls;
pub mod cpa;
pub mod encode;
pub mod manager;
pub mod pathcheck;
pub mod precision;
pub mod refiner;
pub mod region;
pub mod stats;

pub use block::{BlockOperator, BlockOptions};
pub use cpa::{PredicateCpa, PredicateState};
pub use encode::Encoding;
pub use manager::Manager;
pub use pathcheck::PathCheck;
pub use precision::Precision;
pub use refiner::{PredicateRefiner, RefinerOptions};
