// SPDX-License-Identifier: Apache-2.0
//! The abstract reachability graph: an arena of nodes with parents, children and coverings.
//!
//! Follows *A Unifying View*, section 2.2.2 (ARG CPA), as a data structure of the algorithm instead of a component. A node
//! has several parents when states were merged, and the graph has cycles when a state was merged into one of its
//! ancestors. Identifiers are never used twice; a removed node gives its memory back.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;

use cfa::ids::NodeId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::composite::{Composite, Precision, State};
use crate::cpa::{Fingerprint, PartitionKey, Rank, Target};
use crate::cx::Stop;
use crate::step::Step;

/// A node of the abstract reachability graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArgId(u32);

impl ArgId {
    /// The node with the given position in the arena.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 nodes"))
    }
    /// The position of the node in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
impl fmt::Display for ArgId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}
impl fmt::Debug for ArgId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Which steps of a node have still to be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Todo {
    /// All of them: the node is new, or its state has grown.
    All,
    /// These; often none.
    Steps(Vec<Step>),
}

impl Todo {
    pub(crate) fn none() -> Self {
        Todo::Steps(Vec::new())
    }
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Todo::Steps(steps) if steps.is_empty())
    }
    pub(crate) fn add(&mut self, step: Step) {
        match self {
            Todo::All => {}
            Todo::Steps(steps) if steps.contains(&step) => {}
            Todo::Steps(steps) => steps.push(step),
        }
    }
}

/// What the graph knows about a node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) state: State,
    pub(crate) precision: Precision,
    pub(crate) location: NodeId,
    pub(crate) target: Option<Target>,
    pub(crate) coverable: bool,
    pub(crate) parents: Vec<(ArgId, Step)>,
    pub(crate) children: Vec<(ArgId, Step)>,
    pub(crate) covered_by: Option<ArgId>,
    pub(crate) covers: BTreeSet<ArgId>,
    pub(crate) key: PartitionKey,
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) rank: Rank,
    pub(crate) todo: Todo,
    pub(crate) queued: bool,
    /// The node lost its covering; another one is looked for before it is expanded.
    pub(crate) uncovered: bool,
}

impl Node {
    /// A node without edges of which nothing is to be done.
    pub(crate) fn new(cpa: &Composite, state: State, precision: Precision, location: NodeId) -> Self {
        Self {
            key: cpa.partition(&state),
            fingerprint: None,
            rank: Rank::default(),
            target: cpa.target(&state),
            coverable: cpa.coverable(&state),
            state,
            precision,
            location,
            parents: Vec::new(),
            children: Vec::new(),
            covered_by: None,
            covers: BTreeSet::new(),
            todo: Todo::none(),
            queued: false,
            uncovered: false,
        }
    }
}

/// A path from the root: `steps[i]` leads from `nodes[i]` to `nodes[i + 1]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgPath {
    /// The nodes, the root first.
    pub nodes: Vec<ArgId>,
    /// The steps between them.
    pub steps: Vec<Step>,
}

/// The abstract reachability graph.
#[derive(Clone, Debug, Default)]
pub struct Arg {
    slots: Vec<Option<Box<Node>>>,
    root: Option<ArgId>,
    alive: usize,
}

impl Arg {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the exploration started; none before it did.
    pub fn root(&self) -> Option<ArgId> {
        self.root
    }

    /// Whether the node is still part of the graph.
    pub fn is_alive(&self, id: ArgId) -> bool {
        self.slots.get(id.index()).is_some_and(Option::is_some)
    }

    /// The number of nodes that are part of the graph.
    pub fn len(&self) -> usize {
        self.alive
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// The number of nodes that were ever made.
    pub fn created(&self) -> usize {
        self.slots.len()
    }

    /// All nodes that are part of the graph, the oldest first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ArgId> + '_ {
        self.slots.iter().enumerate().filter(|(_, slot)| slot.is_some()).map(|(index, _)| ArgId::new(index))
    }

    /// The state of a node.
    pub fn state(&self, id: ArgId) -> &State {
        &self.node(id).state
    }

    /// The precision of a node, with which its successors are computed.
    pub fn precision(&self, id: ArgId) -> &Precision {
        &self.node(id).precision
    }

    /// The program location of a node.
    pub fn location(&self, id: ArgId) -> NodeId {
        self.node(id).location
    }

    /// Why the node is a target, if it is one.
    pub fn target(&self, id: ArgId) -> Option<&Target> {
        self.node(id).target.as_ref()
    }

    /// The parents of a node and the steps that led from them to it, the oldest first.
    pub fn parents(&self, id: ArgId) -> &[(ArgId, Step)] {
        &self.node(id).parents
    }

    /// The nodes on the paths from one node to another, each behind its parents; these are what `parents` says, which
    /// may leave some out. Gives up when there is a cycle among them.
    pub fn between<'a>(
        &'a self,
        start: ArgId,
        end: ArgId,
        parents: impl Fn(ArgId) -> Result<&'a [(ArgId, Step)], Stop>,
    ) -> Result<Vec<ArgId>, Stop> {
        let mut order = vec![start];
        // Whether all parents of a node are in the order; those that were only seen are on the way from the end to here.
        let mut done: FxHashMap<ArgId, bool> = FxHashMap::from_iter([(start, true)]);
        let mut stack = vec![end];
        while let Some(&id) = stack.last() {
            match done.get(&id) {
                Some(true) => {
                    stack.pop();
                }
                Some(false) => {
                    done.insert(id, true);
                    order.push(id);
                    stack.pop();
                }
                None => {
                    done.insert(id, false);
                    for &(parent, _) in parents(id)? {
                        match done.get(&parent) {
                            None => stack.push(parent),
                            Some(true) => {}
                            Some(false) => return Err(Stop::GaveUp(format!("the paths to {end} contain a cycle"))),
                        }
                    }
                }
            }
        }
        Ok(order)
    }

    /// The children of a node and the steps that lead to them.
    pub fn children(&self, id: ArgId) -> &[(ArgId, Step)] {
        &self.node(id).children
    }

    /// Who covers a node.
    pub fn covered_by(&self, id: ArgId) -> Option<ArgId> {
        self.node(id).covered_by
    }

    /// Whom a node covers.
    pub fn covers(&self, id: ArgId) -> impl Iterator<Item = ArgId> + '_ {
        self.node(id).covers.iter().copied()
    }

    /// Whether the node or one of its steps waits to be explored.
    pub fn is_waiting(&self, id: ArgId) -> bool {
        self.node(id).queued
    }

    pub(crate) fn node(&self, id: ArgId) -> &Node {
        self.slots[id.index()].as_ref().expect("whoever keeps an ArgId across a removal asks is_alive first")
    }

    pub(crate) fn node_mut(&mut self, id: ArgId) -> &mut Node {
        self.slots[id.index()].as_mut().expect("whoever keeps an ArgId across a removal asks is_alive first")
    }

    pub(crate) fn insert(&mut self, node: Node) -> ArgId {
        let id = ArgId::new(self.slots.len());
        self.slots.push(Some(Box::new(node)));
        self.alive += 1;
        id
    }

    pub(crate) fn set_root(&mut self, id: ArgId) {
        self.root = Some(id);
    }

    /// Adds a node to a graph that is put together by hand, such as a path for a refiner. The first node is the root.
    pub fn attach(
        &mut self,
        cpa: &Composite,
        (state, precision): (State, Precision),
        location: NodeId,
        parents: &[(ArgId, Step)],
    ) -> ArgId {
        let id = self.insert(Node::new(cpa, state, precision, location));
        parents.iter().for_each(|&(parent, step)| self.connect(parent, step, id));
        self.root.get_or_insert(id);
        id
    }

    /// Puts another state and precision in the place of those of a node that was attached.
    pub fn replace(&mut self, cpa: &Composite, id: ArgId, state: State, precision: Precision) {
        let (target, coverable) = (cpa.target(&state), cpa.coverable(&state));
        let node = self.node_mut(id);
        (node.state, node.precision, node.target, node.coverable) = (state, precision, target, coverable);
    }

    /// Adds an edge between attached nodes.
    pub fn link(&mut self, parent: ArgId, step: Step, child: ArgId) {
        self.connect(parent, step, child);
    }

    /// Notes that an attached node is covered by another one.
    pub fn note_cover(&mut self, id: ArgId, by: ArgId) {
        self.node_mut(id).covered_by = Some(by);
        self.node_mut(by).covers.insert(id);
    }

    /// Whether the node takes part in covering; if not, it is in the middle of something.
    pub fn is_coverable(&self, id: ArgId) -> bool {
        self.node(id).coverable
    }

    /// Takes a node out of the arena; the caller has already taken care of its neighbours.
    pub(crate) fn take(&mut self, id: ArgId) -> Box<Node> {
        self.alive -= 1;
        self.slots[id.index()].take().expect("a node is removed once")
    }

    pub(crate) fn connect(&mut self, parent: ArgId, step: Step, child: ArgId) {
        if !self.node(child).parents.contains(&(parent, step)) {
            self.node_mut(child).parents.push((parent, step));
            self.node_mut(parent).children.push((child, step));
        }
    }

    /// Removes the edges to the remaining children of a node.
    pub(crate) fn disconnect_children(&mut self, id: ArgId) {
        for (child, step) in std::mem::take(&mut self.node_mut(id).children) {
            self.node_mut(child).parents.retain(|&parent| parent != (id, step));
        }
    }

    /// All nodes that are reachable from the given ones along children, including these, ascending.
    pub fn reachable(&self, from: &[ArgId]) -> BTreeSet<ArgId> {
        self.closure(from, |node| &node.children)
    }

    /// All nodes from which a node is reachable, including itself, ascending.
    pub fn ancestors(&self, id: ArgId) -> BTreeSet<ArgId> {
        self.closure(&[id], |node| &node.parents)
    }

    fn closure(&self, from: &[ArgId], next: impl Fn(&Node) -> &Vec<(ArgId, Step)>) -> BTreeSet<ArgId> {
        let mut seen: BTreeSet<ArgId> = from.iter().copied().collect();
        let mut stack: Vec<ArgId> = seen.iter().copied().collect();
        while let Some(id) = stack.pop() {
            for &(neighbour, _) in next(self.node(id)) {
                if seen.insert(neighbour) {
                    stack.push(neighbour);
                }
            }
        }
        seen
    }

    /// Whether `to` is reachable from `from` along children. Searches from both ends in turn, so the cost is bounded by the
    /// smaller side; either side alone can be most of the graph.
    pub fn is_reachable(&self, from: ArgId, to: ArgId) -> bool {
        let mut sides = [(from, to), (to, from)].map(|(start, goal)| {
            let mut seen = FxHashSet::default();
            seen.insert(start);
            (vec![start], seen, goal)
        });
        loop {
            for (index, (stack, seen, goal)) in sides.iter_mut().enumerate() {
                let Some(id) = stack.pop() else { return false };
                if id == *goal {
                    return true;
                }
                let node = self.node(id);
                let neighbours = if index == 0 { &node.children } else { &node.parents };
                stack.extend(neighbours.iter().map(|&(neighbour, _)| neighbour).filter(|&other| seen.insert(other)));
            }
        }
    }

    /// A shortest path from the root to a node; among several the one along the oldest parents. Cycles do no harm.
    pub fn path_to(&self, id: ArgId) -> ArgPath {
        let root = self.root.expect("a node exists, so the exploration has started");
        let mut next: FxHashMap<ArgId, (ArgId, Step)> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([id]);
        while let Some(current) = queue.pop_front() {
            if current == root {
                break;
            }
            for &(parent, step) in &self.node(current).parents {
                if parent != id && !next.contains_key(&parent) {
                    next.insert(parent, (current, step));
                    queue.push_back(parent);
                }
            }
        }
        let mut path = ArgPath { nodes: vec![root], steps: Vec::new() };
        let mut current = root;
        while current != id {
            let &(node, step) = next.get(&current).expect("every node is reachable from the root");
            path.nodes.push(node);
            path.steps.push(step);
            current = node;
        }
        path
    }

    /// One line for each node, for tests and debugging.
    pub fn dump(&self) -> String {
        let mut text = String::new();
        for id in self.ids() {
            let node = self.node(id);
            let _ = write!(text, "{id} {}: {}", node.location, node.state);
            for (child, step) in &node.children {
                let _ = write!(text, ", {step} -> {child}");
            }
            if let Some(by) = node.covered_by {
                let _ = write!(text, ", covered by {by}");
            }
            if node.target.is_some() {
                text.push_str(", target");
            }
            if node.queued {
                text.push_str(", waiting");
            }
            text.push('\n');
        }
        text
    }

    /// The graph in the language of Graphviz: children solid, coverings dashed, targets double-framed.
    pub fn dot(&self) -> String {
        let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let mut text = String::from("digraph arg {\n  node [shape=box];\n");
        for id in self.ids() {
            let node = self.node(id);
            let label = quote(&format!("{id} {}\n{}", node.location, node.state));
            let frame = if node.target.is_some() { ", peripheries=2" } else { "" };
            let _ = writeln!(text, "  {id} [label=\"{label}\"{frame}];");
            for (child, step) in &node.children {
                let _ = writeln!(text, "  {id} -> {child} [label=\"{step}\"];");
            }
            if let Some(by) = node.covered_by {
                let _ = writeln!(text, "  {id} -> {by} [style=dashed];");
            }
        }
        text.push_str("}\n");
        text
    }

    /// Checks the invariants of the graph itself; says which one is broken.
    pub fn verify(&self) -> Result<(), String> {
        let Some(root) = self.root else {
            return if self.is_empty() { Ok(()) } else { Err("there are nodes but no root".into()) };
        };
        if !self.is_alive(root) {
            return Err(format!("the root {root} was removed"));
        }
        let reachable = self.reachable(&[root]);
        for id in self.ids() {
            let node = self.node(id);
            if !reachable.contains(&id) {
                return Err(format!("{id} is not reachable from the root"));
            }
            for &(child, step) in &node.children {
                if !self.is_alive(child) || !self.node(child).parents.contains(&(id, step)) {
                    return Err(format!("{child} does not know its parent {id}"));
                }
            }
            for &(parent, step) in &node.parents {
                if !self.is_alive(parent) || !self.node(parent).children.contains(&(id, step)) {
                    return Err(format!("{parent} does not know its child {id}"));
                }
            }
            for &covered in &node.covers {
                if !self.is_alive(covered) || self.node(covered).covered_by != Some(id) {
                    return Err(format!("{covered} does not know that {id} covers it"));
                }
            }
            if let Some(by) = node.covered_by {
                if !self.is_alive(by) || !self.node(by).covers.contains(&id) {
                    return Err(format!("{by} does not know that it covers {id}"));
                }
                if self.node(by).covered_by.is_some() {
                    return Err(format!("{id} is covered by {by}, which is covered itself"));
                }
                if !node.children.is_empty() || node.queued {
                    return Err(format!("{id} is covered, but it has children or waits"));
                }
            } else if !node.queued && !node.todo.is_none() {
                return Err(format!("{id} has steps to explore, but it does not wait"));
            }
        }
        Ok(())
    }
}
