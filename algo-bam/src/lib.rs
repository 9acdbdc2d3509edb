// SPDX-License-Identifier: Apache-2.0
//! Block-abstraction memoization (BAM): blocks of the program are analysed by themselves, and what they do is remembered.
//!
//! Follows Beyer, Friedberger, *In-Place vs. Copy-on-Write CEGAR Refinement for Block Summarization with Caching*. The
//! analysis that runs in the blocks is any composite whose components have reducers. [`instance`] is the graph of one block
//! with one initial state, [`store`] holds all of them and is the cache; [`explore`] is the exploration with nested analyses,
//! [`flatten`] puts a path through the whole program together for the wrapped refiner, [`cut`] applies what that says, in
//! place or on copies; [`bam`] is the refinement loop, [`complete`] makes one graph without holes of a proof and checks it.
//!
//! Recursion needs no unrolling: a block that is used while it is being analysed is used with the exit states known so far,
//! and whenever there are new ones, whoever used it goes on (a fixpoint, as in Reps, Horwitz, Sagiv, *Precise Interprocedural
//! Dataflow Analysis via Graph Reachability*). Left out: forced covering, refinement by strengthening (IMPACT), parallelism.

pub mod bam;
pub mod complete;
pub mod cut;
pub mod explore;
pub mod flatten;
pub mod instance;
pub mod store;

pub use bam::{Bam, Parts, Settings, Statistics};
pub use cut::Strategy;
pub use instance::{Instance, InstanceId};
pub use store::Store;
