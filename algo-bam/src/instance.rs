// SPDX-License-Identifier: Apache-2.0
//! The graph of one block that was entered with one reduced state and precision (section 2.2 of the paper: an ARG with the
//! block abstraction that it stands for).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cfa::BlockId;
use cpa_core::{ArgId, Exploration, Precision, State, Waitlist};

/// An instance of a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(u32);

impl InstanceId {
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 instances"))
    }
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{}", self.0)
    }
}
impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a node knows about a block that begins there.
#[derive(Clone, Debug)]
pub struct Use {
    /// The graph of the block.
    pub inner: InstanceId,
    /// The state at the entry of the block, not reduced.
    pub entry: State,
    /// The precision there.
    pub precision: Precision,
    /// The exit nodes whose states have been expanded here, with these states.
    pub done: Vec<(ArgId, State)>,
    /// Whether that is all there will be: the block was finished. Later changes of its graph do not matter any more.
    pub sealed: bool,
}

/// Where a child that stands behind a block comes from.
#[derive(Clone, Debug)]
pub struct Link {
    /// The graph of the block.
    pub inner: InstanceId,
    /// The node at the end of the block.
    pub exit: ArgId,
    /// The state at the entry of the block, not reduced.
    pub entry: State,
    /// The precision there.
    pub precision: Precision,
}

/// The graph of a block.
#[derive(Debug)]
pub struct Instance {
    /// The block.
    pub block: BlockId,
    /// The reduced state that it was entered with.
    pub entry: State,
    /// The reduced precision that it was entered with.
    pub precision: Precision,
    /// The graph and what is left to explore.
    pub exploration: Exploration,
    /// The blocks that begin at nodes of the graph.
    pub uses: BTreeMap<ArgId, Vec<Use>>,
    /// For a node and its child behind a block, how the child came about.
    pub links: BTreeMap<(ArgId, ArgId), Link>,
    /// The nodes at the end of the block; some may be covered or gone.
    pub(crate) exits: BTreeSet<ArgId>,
    /// The targets that were found; some may be gone.
    pub(crate) targets: BTreeSet<ArgId>,
    /// The nodes with blocks that are not finished.
    pub(crate) pending: BTreeSet<ArgId>,
    /// Whether this graph, and all that it uses, is finished and has no target.
    pub settled: bool,
    /// When it was asked for last, for eviction.
    pub(crate) used: u64,
}

impl Instance {
    pub(crate) fn new(block: BlockId, entry: State, precision: Precision, exploration: Exploration) -> Self {
        Self {
            block,
            entry,
            precision,
            exploration,
            uses: BTreeMap::new(),
            links: BTreeMap::new(),
            exits: BTreeSet::new(),
            targets: BTreeSet::new(),
            pending: BTreeSet::new(),
            settled: false,
            used: 0,
        }
    }

    /// A flat copy: new nodes, the same states.
    pub(crate) fn duplicate(&self, waitlist: Box<dyn Waitlist>) -> Self {
        Self {
            block: self.block,
            entry: self.entry.clone(),
            precision: self.precision.clone(),
            exploration: self.exploration.duplicate(waitlist),
            uses: self.uses.clone(),
            links: self.links.clone(),
            exits: self.exits.clone(),
            targets: self.targets.clone(),
            pending: self.pending.clone(),
            settled: false,
            used: self.used,
        }
    }

    /// Forgets what was known about nodes that were removed, and about those that wait to be looked at again.
    pub(crate) fn purge(&mut self) {
        let arg = self.exploration.arg();
        let stays = |id: &ArgId| arg.is_alive(*id);
        let expanded = |id: &ArgId| arg.is_alive(*id) && !arg.is_waiting(*id);
        self.uses.retain(|id, _| expanded(id));
        self.pending.retain(expanded);
        self.exits.retain(expanded);
        self.targets.retain(stays);
        self.links.retain(|(from, to), _| stays(from) && stays(to));
    }

    /// A target that is still there.
    pub(crate) fn target(&self) -> Option<ArgId> {
        let arg = self.exploration.arg();
        self.targets.iter().copied().find(|&id| arg.is_alive(id) && arg.target(id).is_some())
    }

    /// The nodes at the end of the block that stand for all of its exit states.
    pub fn exits(&self) -> impl Iterator<Item = ArgId> + '_ {
        let arg = self.exploration.arg();
        self.exits.iter().copied().filter(move |&id| arg.is_alive(id) && arg.covered_by(id).is_none())
    }

    /// The exit nodes that a use has not taken up.
    pub(crate) fn news(&self, of: &Use) -> Vec<ArgId> {
        let arg = self.exploration.arg();
        let known = |id: ArgId| of.done.iter().any(|(done, state)| *done == id && state.same(arg.state(id)));
        self.exits().filter(|&id| !known(id)).collect()
    }
}
