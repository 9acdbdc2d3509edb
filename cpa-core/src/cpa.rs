// SPDX-License-Identifier: Apache-2.0
//! The interface of a configurable program analysis: domain, transfer relation, merge, stop and precision adjustment.
//!
//! Follows Beyer, Dangl, Wendler, *A Unifying View on SMT-Based Software Verification*, section 2.2 (CPA+) and 3.4. The
//! stop operator is always stop-sep over [`Cpa::leq`]; merge says whether anything changed. Reducers of block-abstraction
//! memoization are in [`crate::reducer`].

use std::fmt::{Debug, Display};
use std::rc::Rc;
use std::sync::Arc;

use cfa::ids::{EdgeId, NodeId};

use crate::ask::{Answer, Ask, Siblings};
use crate::cx::{Cx, Stop};
use crate::step::Step;

/// Where a new state arises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// The location of the new state.
    pub node: NodeId,
    /// The step that led there; none for an initial state.
    pub step: Option<Step>,
    /// Whether some component says that the new state is a target.
    pub target: bool,
}

/// The answer of [`Cpa::merge`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Merge<S> {
    /// The two states stay apart (merge-sep).
    Separate,
    /// The reached state already stands for everything the new one stands for; nothing changes.
    Contained,
    /// This state takes the place of the reached one and stands for both.
    Changed(S),
}

/// The answer of [`Cpa::adjust`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Adjusted<S, P> {
    /// State and precision stay as they are.
    Unchanged,
    /// The state and the precision that go on.
    Keep(S, P),
    /// The state stands for nothing; it is dropped.
    Bottom,
}

/// The answer of [`Cpa::strengthen`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strengthened<S> {
    /// The siblings know nothing new.
    Unchanged,
    /// The state that goes on.
    Changed(S),
    /// Together with its siblings the state stands for nothing; it is dropped.
    Bottom,
}

/// Why a state is worth stopping for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// The property is violated here.
    Violation(NodeId),
    /// What happens on this edge is not supported, so nothing can be said about what comes after it.
    Unsupported {
        /// The edge with the construct.
        edge: EdgeId,
        /// The construct, for a message.
        construct: Arc<str>,
    },
}

/// States with different partition keys are never merged and never cover each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartitionKey(pub u64);

/// What a state can be looked up by among many: states of one shape cover each other only if their contents are equal too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Fingerprint {
    /// A hash of what the state knows something about. There should be few shapes in a partition.
    pub shape: u64,
    /// A hash of what it knows.
    pub content: u64,
}

/// What the waitlists order by. Components contribute the field they know; the composite takes the maximum of each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rank {
    /// Number of functions on the call stack.
    pub depth: u32,
    /// Position of the location in the reverse post-order of its function.
    pub rpo: u32,
    /// Whether the location is inside a large block of a summarised automaton.
    pub inside: bool,
    /// Place in an unrolled program, if some component unrolls it.
    pub position: Option<Rc<[u32]>>,
}

/// A configurable program analysis. States are immutable values and cheap to clone (reference counters inside).
///
/// The composite calls, for each new state and in this order: [`transfer`](Cpa::transfer) of all components,
/// [`strengthen`](Cpa::strengthen), [`adjust`](Cpa::adjust); then, against reached states with the same partition keys,
/// [`merge`](Cpa::merge) and [`leq`](Cpa::leq). The order of the components is the order in which they were added.
pub trait Cpa {
    /// An abstract state.
    type State: Clone + Debug + Display + 'static;
    /// A precision. Equality tells the CEGAR loop whether a refinement changed anything.
    type Precision: Clone + Debug + PartialEq + 'static;

    /// A short name for messages and statistics.
    fn name(&self) -> &'static str;

    /// The state and precision at the program's entry.
    fn initial(&mut self, cx: &mut Cx) -> Result<(Self::State, Self::Precision), Stop>;

    /// The successors of a state along a step; empty if there is none. Together they must stand for all concrete
    /// successors.
    fn transfer(
        &mut self,
        cx: &mut Cx,
        state: &Self::State,
        step: Step,
        precision: &Self::Precision,
    ) -> Result<Vec<Self::State>, Stop>;

    /// Whether the first state stands for no more than the second one. `false` may also mean "don't know".
    fn leq(&mut self, cx: &mut Cx, lesser: &Self::State, greater: &Self::State) -> Result<bool, Stop>;

    /// The steps this component offers from a state; the composite takes the union over all components. Only components
    /// that know the control flow offer any.
    fn steps(&self, _state: &Self::State) -> Vec<Step> {
        Vec::new()
    }

    /// Combines a new state with a reached one of the same partition. A changed state must stand for everything that
    /// either of the two stands for; it takes the place of the reached one.
    fn merge(
        &mut self,
        _cx: &mut Cx,
        _new: &Self::State,
        _reached: &Self::State,
        _precision: &Self::Precision,
    ) -> Result<Merge<Self::State>, Stop> {
        Ok(Merge::Separate)
    }

    /// Whether [`merge`](Cpa::merge) may answer anything but [`Merge::Separate`]. If no component does, no state is ever
    /// compared for merging.
    fn merges(&self) -> bool {
        true
    }

    /// What the state can be looked up by. A component gives all of its states a fingerprint or none, and only if it never
    /// merges. It saves comparing a new state with all reached states of its partition.
    fn fingerprint(&self, _state: &Self::State) -> Option<Fingerprint> {
        None
    }

    /// The content of those states of the shape of `example` that may be greater or equal to `state`; none if no such state
    /// can be. Only asked of components with fingerprints.
    fn project(&self, _state: &Self::State, _example: &Self::State) -> Option<u64> {
        None
    }

    /// The precision of a node that was merged from two, or whose precision is refined: `new` is the precision of the
    /// new state or the refined one, `old` the one the node has. Precisions that only grow answer the union; the default
    /// is the new one, as in Algorithm 2.
    fn join_precision(&self, new: &Self::Precision, _old: &Self::Precision) -> Self::Precision {
        new.clone()
    }

    /// Whether the state takes part in covering. Intermediate states of a block neither cover nor are covered.
    fn coverable(&self, _state: &Self::State) -> bool {
        true
    }

    /// Adjusts a new state and its precision (operator `prec`); abstraction is computed here.
    fn adjust(
        &mut self,
        _cx: &mut Cx,
        _state: &Self::State,
        _precision: &Self::Precision,
        _at: &At,
    ) -> Result<Adjusted<Self::State, Self::Precision>, Stop> {
        Ok(Adjusted::Unchanged)
    }

    /// Uses what the siblings know about the same new state.
    fn strengthen(
        &mut self,
        _cx: &mut Cx,
        _state: &Self::State,
        _siblings: &Siblings<'_>,
        _at: &At,
    ) -> Result<Strengthened<Self::State>, Stop> {
        Ok(Strengthened::Unchanged)
    }

    /// Answers a question of a sibling about a state.
    fn ask(&self, _state: &Self::State, _question: Ask) -> Answer {
        Answer::Unknown
    }

    /// The partition of a state, if the component tells states apart that way.
    fn partition(&self, _state: &Self::State) -> Option<PartitionKey> {
        None
    }

    /// Whether the state is a target.
    fn target(&self, _state: &Self::State) -> Option<Target> {
        None
    }

    /// What the waitlists order by.
    fn rank(&self, _state: &Self::State) -> Rank {
        Rank::default()
    }

    /// Why this component left out concrete states so far, if it did (a bound that was reached). A proof is then no proof.
    fn truncated(&self) -> Option<String> {
        None
    }
}
