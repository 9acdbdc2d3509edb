// SPDX-License-Identifier: Apache-2.0
//! The location analysis: tracks the program counter (*A Unifying View*, section 2.2.2).
//!
//! It offers the steps that the automaton has and follows any step that begins where it is, also one that another
//! component offers: detached edges are taken only by whoever knows them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use cfa::ids::{BlockId, EdgeId, NodeId};
use cfa::ir::Op;
use rustc_hash::FxHashMap;

use crate::cpa::{Cpa, PartitionKey, Rank, Target};
use crate::cx::{Cx, Stop};
use crate::reducer::{Reducer, Site, Unfolding};
use crate::step::Step;
use cfa::Program;

/// A location, and how it was reached if that was by an edge that is not supported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocationState {
    /// The location.
    pub node: NodeId,
    /// The edge with an unsupported construct that led here, and the construct.
    pub unsupported: Option<(EdgeId, Arc<str>)>,
}

impl fmt::Display for LocationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node)?;
        match &self.unsupported {
            Some((edge, construct)) => write!(f, " after {edge}: {construct}"),
            None => Ok(()),
        }
    }
}

/// The location analysis.
pub struct LocationCpa {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    /// The locations that are left, if not all.
    relevant: Option<BTreeSet<NodeId>>,
    /// The locations between large blocks, if the automaton is summarised.
    between: Option<BTreeSet<NodeId>>,
    /// For the exit of each called function the call edges, ascending.
    callers: FxHashMap<NodeId, Vec<EdgeId>>,
}

impl LocationCpa {
    /// Follows the automata of `program`; being at one of `targets` violates the property.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        let mut callers: FxHashMap<NodeId, Vec<EdgeId>> = FxHashMap::default();
        for (index, edge) in program.edges.iter().enumerate() {
            if matches!(edge.op, Op::Call { .. }) {
                let call = EdgeId::new(index);
                callers.entry(Step::Leave(call).source(&program)).or_default().push(call);
            }
        }
        Self { program, targets, relevant: None, between: None, callers }
    }

    /// The same analysis on a summarised automaton with these locations; all others are inside its large blocks.
    #[must_use]
    pub fn summarized(mut self, locations: BTreeSet<NodeId>) -> Self {
        self.between = Some(locations);
        self
    }

    /// The same analysis, but locations from which no control flow leads to a target, whatever the data, are not left.
    #[must_use]
    pub fn towards_targets(mut self) -> Self {
        self.relevant = Some(self.program.leading_to(&self.targets));
        self
    }
}

impl Cpa for LocationCpa {
    type State = LocationState;
    type Precision = ();

    fn name(&self) -> &'static str {
        "location"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(LocationState, ()), Stop> {
        Ok((LocationState { node: self.program.entry, unsupported: None }, ()))
    }

    fn steps(&self, state: &LocationState) -> Vec<Step> {
        if state.unsupported.is_some() || self.relevant.as_ref().is_some_and(|relevant| !relevant.contains(&state.node))
        {
            return Vec::new();
        }
        let leaving = self.program.nodes[state.node.index()].leaving.iter();
        let forward = leaving.map(|&edge| match &self.program.edges[edge.index()].op {
            Op::Call { .. } => Step::Enter(edge),
            Op::Skip | Op::Assume { .. } | Op::Assign { .. } | Op::Havoc { .. } | Op::Unsupported { .. } => {
                Step::Edge(edge)
            }
            Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. } => {
                Step::Edge(edge)
            }
        });
        let back = self.callers.get(&state.node).into_iter().flatten().map(|&call| Step::Leave(call));
        forward.chain(back).collect()
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &LocationState,
        step: Step,
        _precision: &(),
    ) -> Result<Vec<LocationState>, Stop> {
        if step.source(&self.program) != state.node || state.unsupported.is_some() {
            return Ok(Vec::new());
        }
        let unsupported = match (step, &self.program.edges[step.edge().index()].op) {
            (Step::Edge(edge), Op::Unsupported { construct }) => Some((edge, Arc::clone(construct))),
            _ => None,
        };
        Ok(vec![LocationState { node: step.destination(&self.program), unsupported }])
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &LocationState, greater: &LocationState) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }

    fn merges(&self) -> bool {
        false
    }

    fn partition(&self, state: &LocationState) -> Option<PartitionKey> {
        Some(PartitionKey((state.node.index() as u64) << 1 | u64::from(state.unsupported.is_some())))
    }

    fn target(&self, state: &LocationState) -> Option<Target> {
        match &state.unsupported {
            Some((edge, construct)) => Some(Target::Unsupported { edge: *edge, construct: Arc::clone(construct) }),
            None => self.targets.contains(&state.node).then_some(Target::Violation(state.node)),
        }
    }

    fn rank(&self, state: &LocationState) -> Rank {
        let inside = self.between.as_ref().is_some_and(|between| !between.contains(&state.node));
        Rank { rpo: self.program.nodes[state.node.index()].rpo, inside, ..Rank::default() }
    }
}

/// The reducer of locations: a location is the same inside a block and outside.
pub(crate) struct LocationReducer;

impl Reducer for LocationReducer {
    type Cpa = LocationCpa;

    fn reduce(&mut self, _cx: &mut Cx, _block: BlockId, entry: &LocationState) -> Result<LocationState, Stop> {
        Ok(entry.clone())
    }

    fn reduce_precision(&mut self, _block: BlockId, _precision: &()) {}

    fn expand(
        &mut self,
        _cx: &mut Cx,
        _site: &Site<'_, LocationState>,
        exit: &LocationState,
    ) -> Result<LocationState, Stop> {
        Ok(exit.clone())
    }

    fn expand_precision(&mut self, _outer: &(), _inner: &()) {}

    fn unfold(&mut self, _at: &Unfolding<'_, LocationState>, inner: &LocationState) -> LocationState {
        inner.clone()
    }
}
