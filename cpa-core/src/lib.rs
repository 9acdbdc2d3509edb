// SPDX-License-Identifier: Apache-2.0
//! Configurable program analysis: the interfaces of domains and refiners, and the algorithm that runs them.
//!
//! A domain implements [`Cpa`]; a [`Composite`] is put together from several at run time; [`algorithm::run`] explores the
//! program with it and leaves an [`Arg`] behind. Nothing here knows any particular domain but the three that follow the
//! control flow: [`LocationCpa`], [`CallstackCpa`] and [`LoopBoundCpa`].

pub mod algorithm;
pub mod arg;
pub mod ask;
pub mod callstack;
pub mod composite;
pub mod cpa;
pub mod cx;
pub mod erased;
pub mod exploration;
pub mod invariants;
pub mod location;
pub mod loopbound;
pub mod reached;
pub mod reducer;
pub mod refine;
pub mod rounds;
pub mod step;
pub mod verdict;
pub mod waitlist;

pub use crate::algorithm::{Added, Status, run};
pub use crate::arg::{Arg, ArgId, ArgPath};
pub use crate::ask::{Answer, Ask, Siblings};
pub use crate::callstack::{Callstack, CallstackCpa};
pub use crate::composite::{Composite, Precision, State};
pub use crate::cpa::{Adjusted, At, Cpa, Fingerprint, Merge, PartitionKey, Rank, Strengthened, Target};
pub use crate::cx::{Budget, CancelToken, Cx, Progress, Stop, Unlimited};
pub use crate::erased::{ComponentPrecision, ComponentState, Handle};
pub use crate::exploration::{Applied, Exploration, Remerge, Statistics};
pub use crate::invariants::Invariants;
pub use crate::location::{LocationCpa, LocationState};
pub use crate::loopbound::{Counting, LoopBoundCpa, LoopCounters};
pub use crate::reached::Reached;
pub use crate::reducer::{Reducer, Reducers, Site, Unfolding};
pub use crate::refine::{Counterexample, Cut, Forced, ForcedCovering, Refinement, Refiner, Rest, Strengthening};
pub use crate::rounds::rounds;
pub use crate::step::Step;
pub use crate::verdict::{Assurance, Outcome, Reason, Verdict};
pub use crate::waitlist::{Bfs, Dfs, ReversePostOrder, Unrolled, Waitlist};
