// SPDX-License-Identifier: Apache-2.0
//! What an exploration has found so far and what is left to do: graph, reached set and waitlist, kept consistent.
//!
//! The algorithm is resumable because all of its state is here. This module also applies what refiners decide (*A Unifying
//! View*, section 3.2.4): removing subtrees with new precisions for the remaining parents, and strengthening nodes in
//! place.

use std::collections::BTreeSet;
use std::fmt;

use cfa::ids::NodeId;
use rustc_hash::FxHashMap;

use crate::arg::{Arg, ArgId, Node, Todo};
use crate::composite::{Composite, Precision, State};
use crate::cpa::PartitionKey;
use crate::cx::{Cx, Stop};
use crate::erased::{ComponentPrecision, ComponentState};
use crate::reached::Reached;
use crate::refine::{Cut, Strengthening};
use crate::step::Step;
use crate::waitlist::Waitlist;

/// What happens to the children of a node when another state is merged into it. They were computed from the smaller state.
/// When the node is an ancestor of the one that is being expanded, they are kept in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Remerge {
    /// They are removed with everything below them and computed anew. Right for path formulas, which would otherwise
    /// contain the same path twice. When merges go around in circles this need not end, so after [`PRUNE_LIMIT`] times in
    /// one partition the children are kept.
    #[default]
    Prune,
    /// They stay, and the new successors merge with them. Right for domains whose merge is a join or widening, which would
    /// otherwise lose what they have gained.
    Keep,
}

/// How often children are pruned in one partition.
pub const PRUNE_LIMIT: u32 = 64;

/// Counts of what happened during an exploration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Nodes taken from the waitlist.
    pub iterations: u64,
    /// States computed by the transfer relation.
    pub successors: u64,
    /// The greatest number of successors of one node.
    pub max_successors: u64,
    /// States that changed the node they were merged into.
    pub merges: u64,
    /// States that the node they were merged with already stood for.
    pub contained: u64,
    /// States that were covered (stop).
    pub covered: u64,
    /// Nodes covered by force.
    pub forced: u64,
    /// States that became waiting nodes.
    pub added: u64,
    /// Nodes removed, by refinements or merges.
    pub removed: u64,
    /// The greatest number of waiting nodes.
    pub max_waiting: usize,
    /// Sum over all iterations of the number of waiting nodes.
    pub sum_waiting: u64,
}

impl Statistics {
    /// The average number of waiting nodes.
    pub fn average_waiting(&self) -> f64 {
        if self.iterations == 0 { 0.0 } else { self.sum_waiting as f64 / self.iterations as f64 }
    }
}

/// What [`Exploration::apply_strengthening`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Whether some node was strengthened.
    pub changed: bool,
    /// The strengthened node that is covered now, if there is one.
    pub covered: Option<ArgId>,
}

/// What a removal does with the nodes that the removed ones covered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    /// They are expanded themselves unless another node covers them: their own states are not in question.
    Requeue,
    /// They are removed too and computed anew with the new precision, which their states were too weak for.
    Remove,
}

/// A resumable exploration.
pub struct Exploration {
    arg: Arg,
    reached: Reached,
    waitlist: Box<dyn Waitlist>,
    remerge: Remerge,
    prunes: FxHashMap<PartitionKey, u32>,
    waiting: usize,
    initial: Option<(State, Precision, NodeId)>,
    pub(crate) statistics: Statistics,
    /// After so many iterations it is time to look again which loops go on.
    pub(crate) looked: u64,
}

impl Exploration {
    /// An exploration that has not started.
    pub fn new(waitlist: Box<dyn Waitlist>, remerge: Remerge) -> Self {
        Self {
            arg: Arg::new(),
            reached: Reached::default(),
            waitlist,
            remerge,
            prunes: FxHashMap::default(),
            waiting: 0,
            initial: None,
            statistics: Statistics::default(),
            looked: 0,
        }
    }

    /// The graph.
    pub fn arg(&self) -> &Arg {
        &self.arg
    }

    /// The reached set.
    pub fn reached(&self) -> &Reached {
        &self.reached
    }

    /// Counts of what happened so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The number of nodes that wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Starts at the program's entry, unless the exploration has already started. The algorithm calls this.
    pub fn start(&mut self, cx: &mut Cx, cpa: &mut Composite) -> Result<(), Stop> {
        if self.arg.root().is_none() {
            let (state, precision, location) = cpa.initial(cx)?;
            self.start_at(cpa, state, precision, location);
        }
        Ok(())
    }

    /// Explores again from a node that was not left because of a precision that has changed. Its state may change such that
    /// it stands for the same but is in another partition.
    pub fn reopen(&mut self, cpa: &Composite, id: ArgId, state: &ComponentState, precision: &ComponentPrecision) {
        let reopened = self.arg.state(id).with(state);
        let (refined, _) = cpa.refine_precision(std::slice::from_ref(precision), self.arg.precision(id));
        self.arg.node_mut(id).precision = refined;
        self.replace_state(cpa, id, reopened);
        self.requeue(id);
    }

    /// Starts from a given state instead of the program's entry, for nested analyses. The exploration must be new.
    pub fn start_at(&mut self, cpa: &Composite, state: State, precision: Precision, location: NodeId) -> ArgId {
        assert!(self.arg.root().is_none(), "an exploration is started once");
        self.initial = Some((state.clone(), precision.clone(), location));
        let root = self.add(cpa, state, precision, location, None);
        self.arg.set_root(root);
        root
    }

    /// Adds a node that waits.
    pub(crate) fn add(
        &mut self,
        cpa: &Composite,
        state: State,
        precision: Precision,
        location: NodeId,
        parent: Option<(ArgId, Step)>,
    ) -> ArgId {
        let id = self.insert(cpa, state, precision, location, parent);
        self.statistics.added += 1;
        self.make_reached(id);
        self.enqueue(id);
        id
    }

    /// Adds a node that is covered.
    pub(crate) fn add_covered(
        &mut self,
        cpa: &Composite,
        (state, precision): (State, Precision),
        location: NodeId,
        parent: (ArgId, Step),
        by: ArgId,
    ) -> ArgId {
        let id = self.insert(cpa, state, precision, location, Some(parent));
        self.arg.node_mut(id).covered_by = Some(by);
        self.arg.node_mut(by).covers.insert(id);
        self.statistics.covered += 1;
        id
    }

    fn make_reached(&mut self, id: ArgId) {
        let node = self.arg.node(id);
        self.reached.insert(node.key, id, node.fingerprint, &node.state);
    }

    fn insert(
        &mut self,
        cpa: &Composite,
        state: State,
        precision: Precision,
        location: NodeId,
        parent: Option<(ArgId, Step)>,
    ) -> ArgId {
        let (fingerprint, rank) = (cpa.fingerprint(&state), cpa.rank(&state));
        let node = Node::new(cpa, state, precision, location);
        let id = self.arg.insert(Node { fingerprint, rank, todo: Todo::All, ..node });
        if let Some((parent, step)) = parent {
            self.arg.connect(parent, step, id);
        }
        id
    }

    /// Makes a node wait, once.
    fn enqueue(&mut self, id: ArgId) {
        let node = self.arg.node_mut(id);
        if !node.queued {
            node.queued = true;
            let rank = node.rank.clone();
            self.waitlist.push(id, rank);
            self.waiting += 1;
            self.statistics.max_waiting = self.statistics.max_waiting.max(self.waiting);
        }
    }

    fn dequeue(&mut self, id: ArgId) {
        let node = self.arg.node_mut(id);
        if node.queued {
            node.queued = false;
            self.waiting -= 1;
        }
    }

    /// Makes a node wait for the given steps, in addition to what it already waits for.
    pub fn requeue_steps(&mut self, id: ArgId, steps: impl IntoIterator<Item = Step>) {
        let node = self.arg.node_mut(id);
        steps.into_iter().for_each(|step| node.todo.add(step));
        if !node.todo.is_none() {
            self.enqueue(id);
        }
    }

    /// Makes a node wait for all its steps.
    pub fn requeue(&mut self, id: ArgId) {
        self.arg.node_mut(id).todo = Todo::All;
        self.enqueue(id);
    }

    /// Takes the next node from the waitlist.
    pub(crate) fn pop(&mut self) -> Option<ArgId> {
        while let Some(id) = self.waitlist.pop() {
            // An entry is stale when its node was removed, covered, or expanded through another entry meanwhile.
            if self.arg.is_alive(id) && self.arg.node(id).queued {
                self.dequeue(id);
                return Some(id);
            }
        }
        assert_eq!(self.waiting, 0, "every waiting node has an entry in the waitlist");
        None
    }

    /// The steps that are left for a node that is about to be expanded; afterwards none are noted.
    pub fn take_steps(&mut self, cpa: &Composite, id: ArgId) -> Vec<Step> {
        let node = self.arg.node_mut(id);
        match std::mem::replace(&mut node.todo, Todo::none()) {
            Todo::All => cpa.steps(&node.state),
            Todo::Steps(steps) => steps,
        }
    }

    /// Puts a bigger state in the place of the state of `node`, reached again from `from` (the node being expanded).
    pub(crate) fn merge_into(
        &mut self,
        cpa: &Composite,
        node: ArgId,
        state: State,
        precision: &Precision,
        (from, step): (ArgId, Step),
    ) {
        let prune = self.remerge == Remerge::Prune && self.may_prune(node, from);
        self.arg.connect(from, step, node);
        let (joined, _) = cpa.join_precision(precision, self.arg.precision(node));
        self.arg.node_mut(node).precision = joined;
        self.replace_state(cpa, node, state);
        if !self.arg.node(node).coverable {
            self.uncover_all(node);
        }
        if prune {
            self.prune_below(node);
        }
        self.requeue(node);
        self.statistics.merges += 1;
    }

    /// Whether what is below a node may be removed while `from` is expanded.
    fn may_prune(&mut self, node: ArgId, from: ArgId) -> bool {
        // Trap: a merge into an ancestor must not remove the node that is being expanded.
        if self.arg.children(node).is_empty() || self.arg.is_reachable(node, from) {
            return false;
        }
        let prunes = self.prunes.entry(self.arg.node(node).key).or_default();
        *prunes += 1;
        *prunes <= PRUNE_LIMIT
    }

    /// A new state that `node` already stands for arrived from `from`.
    pub(crate) fn absorb(&mut self, cpa: &Composite, node: ArgId, precision: &Precision, from: (ArgId, Step)) {
        self.arg.connect(from.0, from.1, node);
        // What was already expanded with the old precision is left alone: precisions need not grow, so requeueing here could
        // go on forever.
        let (joined, _) = cpa.join_precision(precision, self.arg.precision(node));
        self.arg.node_mut(node).precision = joined;
        self.statistics.contained += 1;
    }

    fn replace_state(&mut self, cpa: &Composite, id: ArgId, state: State) {
        let (key, rank, fingerprint) = (cpa.partition(&state), cpa.rank(&state), cpa.fingerprint(&state));
        let (target, coverable) = (cpa.target(&state), cpa.coverable(&state));
        let node = self.arg.node_mut(id);
        let old_key = std::mem::replace(&mut node.key, key);
        let old_fingerprint = std::mem::replace(&mut node.fingerprint, fingerprint);
        (node.state, node.rank, node.target, node.coverable) = (state, rank, target, coverable);
        if node.covered_by.is_none() && (old_key, old_fingerprint) != (key, fingerprint) {
            self.reached.remove(old_key, id, old_fingerprint);
            self.make_reached(id);
        }
    }

    /// The nodes whose states may cover a node or a new state with the given key, the most recent first.
    pub(crate) fn covering_candidates(&self, key: PartitionKey) -> impl Iterator<Item = ArgId> + '_ {
        self.reached.partition(key).filter(|&id| self.arg.node(id).coverable)
    }

    /// The nodes whose states may cover a state with the given key, the most recent first, but for those of which the
    /// fingerprints say that they do not.
    pub(crate) fn covering_states<'a>(
        &'a self,
        cpa: &Composite,
        key: PartitionKey,
        state: &State,
    ) -> impl Iterator<Item = ArgId> + use<'a> {
        self.reached.greater(cpa, key, state).filter(|&id| self.arg.node(id).coverable)
    }

    /// Looks for a node that covers the given one; `older` restricts the search to nodes made before it.
    pub(crate) fn find_cover(
        &self,
        cx: &mut Cx,
        cpa: &mut Composite,
        id: ArgId,
        older: bool,
    ) -> Result<Option<ArgId>, Stop> {
        let node = self.arg.node(id);
        if !node.coverable {
            return Ok(None);
        }
        for candidate in self.covering_states(cpa, node.key, &node.state) {
            if candidate == id || (older && candidate > id) {
                continue;
            }
            // Covering removes what is below the node, so its own descendants cannot cover it.
            if !node.children.is_empty() && self.arg.is_reachable(id, candidate) {
                continue;
            }
            if cpa.leq(cx, &node.state, self.arg.state(candidate))? {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// Marks a node as covered: it no longer waits, and what is below it is removed.
    pub(crate) fn cover(&mut self, id: ArgId, by: ArgId) {
        self.prune_below(id);
        self.dequeue(id);
        let node = self.arg.node_mut(id);
        node.covered_by = Some(by);
        node.todo = Todo::All;
        node.uncovered = false;
        let (key, fingerprint) = (node.key, node.fingerprint);
        let inherited = std::mem::take(&mut node.covers);
        self.reached.remove(key, id, fingerprint);
        for &covered in &inherited {
            // The order is transitive, so whatever this node covered is covered by its coverer.
            self.arg.node_mut(covered).covered_by = Some(by);
        }
        let by = self.arg.node_mut(by);
        by.covers.extend(inherited);
        by.covers.insert(id);
    }

    /// Notes that no other node covers a node that lost its covering, so it is expanded.
    pub(crate) fn found_no_cover(&mut self, id: ArgId) {
        self.arg.node_mut(id).uncovered = false;
    }

    /// Makes the nodes that a node covers wait.
    fn uncover_all(&mut self, id: ArgId) {
        for covered in std::mem::take(&mut self.arg.node_mut(id).covers) {
            self.uncover(covered);
        }
    }

    fn uncover(&mut self, id: ArgId) {
        let node = self.arg.node_mut(id);
        node.covered_by = None;
        node.uncovered = true;
        self.make_reached(id);
        self.requeue(id);
    }

    /// Removes what is below a node but keeps the node itself, also when it is its own descendant.
    fn prune_below(&mut self, id: ArgId) {
        let children: Vec<ArgId> = self.arg.children(id).iter().map(|&(child, _)| child).collect();
        let mut removed = self.arg.reachable(&children);
        removed.remove(&id);
        self.remove(removed, Covered::Requeue, |_, _| {});
        // The node may be its own child; that edge goes too, for it stands for a step that has to be done again.
        self.arg.disconnect_children(id);
    }

    /// Removes a set of nodes that contains all children of its members (but for a node that prunes what is below it).
    /// Every remaining parent waits again for the steps that led to removed nodes; `touch` is called for it before.
    fn remove(&mut self, set: BTreeSet<ArgId>, covered: Covered, mut touch: impl FnMut(&mut Arg, ArgId)) {
        let mut set = set;
        if covered == Covered::Remove {
            // Covered nodes have no children and cover nothing, so one round is enough.
            let more: Vec<ArgId> = set.iter().flat_map(|&id| self.arg.covers(id)).collect();
            set.extend(more);
        }
        let mut parents: Vec<(ArgId, Step)> = Vec::new();
        let mut uncovered: Vec<ArgId> = Vec::new();
        for &id in &set {
            self.dequeue(id);
            let node = self.arg.take(id);
            match node.covered_by {
                None => self.reached.remove(node.key, id, node.fingerprint),
                Some(by) if !set.contains(&by) => {
                    self.arg.node_mut(by).covers.remove(&id);
                }
                Some(_) => {}
            }
            for &(parent, step) in node.parents.iter().filter(|(parent, _)| !set.contains(parent)) {
                self.arg.node_mut(parent).children.retain(|&child| child != (id, step));
                parents.push((parent, step));
            }
            for &(child, step) in node.children.iter().filter(|(child, _)| !set.contains(child)) {
                self.arg.node_mut(child).parents.retain(|&parent| parent != (id, step));
            }
            uncovered.extend(node.covers.iter().filter(|covered| !set.contains(covered)));
        }
        self.statistics.removed += set.len() as u64;
        for (parent, step) in parents {
            touch(&mut self.arg, parent);
            self.requeue_steps(parent, [step]);
        }
        for id in uncovered {
            self.uncover(id);
        }
    }

    /// Applies a cut of a refinement. Says whether the precision of some remaining parent changed.
    pub fn cut(&mut self, cpa: &Composite, cut: &Cut) -> bool {
        if !self.arg.is_alive(cut.pivot) {
            return false;
        }
        let set = self.arg.reachable(&[cut.pivot]);
        if self.arg.root().is_some_and(|root| set.contains(&root)) {
            return self.restart(cpa, &cut.precisions);
        }
        let mut changed = false;
        self.remove(set, Covered::Remove, |arg, parent| {
            let (precision, differs) = cpa.refine_precision(&cut.precisions, arg.precision(parent));
            arg.node_mut(parent).precision = precision;
            changed |= differs;
        });
        changed
    }

    /// Removes everything below a node, which waits again with its precision refined by the given parts. Says whether the
    /// precision changed.
    pub fn cut_below(&mut self, cpa: &Composite, id: ArgId, precisions: &[ComponentPrecision]) -> bool {
        let children: Vec<ArgId> = self.arg.children(id).iter().map(|&(child, _)| child).collect();
        let mut removed = self.arg.reachable(&children);
        if removed.contains(&id) {
            // The node is its own descendant; its parents remain, so it is found again.
            removed.remove(&id);
        }
        if self.arg.root().is_some_and(|root| removed.contains(&root)) {
            return self.restart(cpa, precisions);
        }
        self.remove(removed, Covered::Remove, |_, _| {});
        if !self.arg.is_alive(id) {
            return false;
        }
        self.arg.disconnect_children(id);
        let (precision, changed) = cpa.refine_precision(precisions, self.arg.precision(id));
        self.arg.node_mut(id).precision = precision;
        self.requeue(id);
        changed
    }

    /// An independent copy: new nodes with the same names, which share their states with the old ones.
    pub fn duplicate(&self, mut waitlist: Box<dyn Waitlist>) -> Self {
        for id in self.arg.ids().filter(|&id| self.arg.is_waiting(id)) {
            waitlist.push(id, self.arg.node(id).rank.clone());
        }
        Self {
            arg: self.arg.clone(),
            reached: self.reached.clone(),
            waitlist,
            remerge: self.remerge,
            prunes: self.prunes.clone(),
            waiting: self.waiting,
            initial: self.initial.clone(),
            statistics: Statistics::default(),
            looked: 0,
        }
    }

    /// Starts again from the initial state. Its precision takes up the given parts, on top of what the root already has.
    pub fn restart(&mut self, cpa: &Composite, precisions: &[ComponentPrecision]) -> bool {
        let (Some(root), Some((state, _, location))) = (self.arg.root(), self.initial.clone()) else { return false };
        let (precision, changed) = cpa.refine_precision(precisions, self.arg.precision(root));
        let everything: BTreeSet<ArgId> = self.arg.ids().collect();
        self.remove(everything, Covered::Remove, |_, _| {});
        let root = self.add(cpa, state, precision, location, None);
        self.arg.set_root(root);
        changed
    }

    /// Strengthens nodes in place. What they covered may no longer be covered, so it waits again.
    pub(crate) fn strengthen(&mut self, cpa: &Composite, nodes: &[Strengthening]) -> bool {
        let mut changed = false;
        for Strengthening { node, state } in nodes {
            if self.arg.is_alive(*node) {
                let stronger = self.arg.state(*node).with(state);
                self.replace_state(cpa, *node, stronger);
                self.uncover_all(*node);
                changed = true;
            }
        }
        changed
    }

    /// Applies a refinement in the style of IMPACT: strengthens nodes, removes those that became empty, and covers the first
    /// strengthened node that an older node now stands for.
    pub fn apply_strengthening(
        &mut self,
        cx: &mut Cx,
        cpa: &mut Composite,
        nodes: &[Strengthening],
        remove: &[ArgId],
    ) -> Result<Applied, Stop> {
        let mut applied = Applied { changed: self.strengthen(cpa, nodes), covered: None };
        for &id in remove {
            if !self.arg.is_alive(id) {
                continue;
            }
            let set = self.arg.reachable(&[id]);
            if self.arg.root().is_some_and(|root| set.contains(&root)) {
                return Err(Stop::Internal(format!("a refinement removes {id}, and with it the initial state")));
            }
            self.remove(set, Covered::Requeue, |_, _| {});
        }
        for Strengthening { node, .. } in nodes {
            if !self.arg.is_alive(*node) || self.arg.covered_by(*node).is_some() {
                continue;
            }
            if let Some(by) = self.find_cover(cx, cpa, *node, true)? {
                self.cover(*node, by);
                self.statistics.covered += 1;
                applied.covered = Some(*node);
                break;
            }
        }
        Ok(applied)
    }

    /// Checks the invariants of graph, reached set and waitlist; says which one is broken.
    pub fn verify(&self) -> Result<(), String> {
        self.arg.verify()?;
        let mut uncovered = 0;
        let mut waiting = 0;
        for id in self.arg.ids() {
            let node = self.arg.node(id);
            if self.reached.contains(node.key, id) == node.covered_by.is_some() {
                return Err(format!("{id} must be either covered or in the reached set"));
            }
            uncovered += usize::from(node.covered_by.is_none());
            waiting += usize::from(node.queued);
        }
        if uncovered != self.reached.len() {
            return Err(format!("{uncovered} nodes are not covered, but {} are reached", self.reached.len()));
        }
        if waiting != self.waiting {
            return Err(format!("{waiting} nodes wait, but {} are counted", self.waiting));
        }
        Ok(())
    }
}

impl fmt::Debug for Exploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exploration")
            .field("nodes", &self.arg.len())
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}
