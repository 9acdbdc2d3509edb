// SPDX-License-Identifier: Apache-2.0
//! The graph while it is built, and its last steps: unreachable nodes go away, skips are contracted where no place is
//! lost that somebody could ask for, and nodes are numbered densely. Everything is linear up to the inverse Ackermann
//! function.

use crate::ids::{EdgeId, FuncId, NodeId};
use crate::ir::{Edge, Function, Node, Op, Span};
use crate::loops::reverse_postorder;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(super) struct RawGraph {
    /// The function of each node, and whether the node must stay: labels, call sites, entries and exits.
    nodes: Vec<(FuncId, bool)>,
    pub(super) edges: Vec<Edge>,
    /// The positions of the calls among them.
    calls: Vec<usize>,
}

pub(super) struct Finished {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// Where the raw nodes are now; none for those that are not reachable.
    pub(super) map: Vec<Option<NodeId>>,
    /// Where the raw edges are now; those that went away are missing.
    pub(super) edge_map: FxHashMap<usize, EdgeId>,
}

impl RawGraph {
    pub(super) fn node(&mut self, func: FuncId, keep: bool) -> NodeId {
        self.nodes.push((func, keep));
        NodeId::new(self.nodes.len() - 1)
    }

    /// A new node of the same function that stays if the other one does.
    pub(super) fn node_like(&mut self, other: NodeId) -> NodeId {
        self.nodes.push(self.nodes[other.index()]);
        NodeId::new(self.nodes.len() - 1)
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The function of a node.
    pub(super) fn func(&self, node: NodeId) -> FuncId {
        self.nodes[node.index()].0
    }

    /// The edges that leave each node.
    pub(super) fn leaving(&self) -> Adjacency {
        Adjacency::new(self.nodes.len(), self.edges.iter().map(|edge| edge.src.index()))
    }

    pub(super) fn edge(&mut self, src: NodeId, dst: NodeId, op: Op, span: Span) {
        if matches!(op, Op::Call { .. }) {
            self.calls.push(self.edges.len());
        }
        self.edges.push(Edge { src, dst, op, span });
    }

    /// Whether there is a call among some edges.
    pub(super) fn has_call(&self, edges: std::ops::Range<usize>) -> bool {
        self.calls.get(self.calls.partition_point(|call| *call < edges.start)).is_some_and(|call| *call < edges.end)
    }

    /// Finishes the graph; `start` is where the program starts. The ends of the functions are renamed.
    pub(super) fn finish(mut self, start: NodeId, funcs: &mut [Function]) -> Finished {
        let count = self.nodes.len();
        let leaving = self.leaving();
        let mut roots: Vec<NodeId> = vec![start];
        let mut exits = vec![false; count];
        for body in funcs.iter().filter_map(|f| f.body) {
            roots.push(body.entry);
            exits[body.exit.index()] = true;
        }
        let mut reached = vec![false; count];
        let mut todo = roots.clone();
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut reached[node.index()], true) {
                todo.extend(leaving.of(node.index()).iter().map(|edge| self.edges[*edge as usize].dst));
            }
        }
        for (node, exit) in exits.iter().enumerate() {
            reached[node] |= exit;
        }
        let mut classes = self.contract(&reached, &leaving, &exits, &roots);

        // Dense numbers: function by function, within a function in reverse post-order.
        let live: Vec<usize> = (0..self.edges.len())
            .filter(|at| {
                let edge = &self.edges[*at];
                reached[edge.src.index()] && !classes.contracted[*at]
            })
            .collect();
        let ends: Vec<(usize, usize)> = (0..self.edges.len())
            .map(|at| {
                let edge = &self.edges[at];
                (classes.find(edge.src.index()), classes.find(edge.dst.index()))
            })
            .collect();
        let out = Adjacency::with_items(count, live.iter().map(|at| (ends[*at].0, *at)));
        let mut new_of_class: Vec<Option<NodeId>> = vec![None; count];
        let mut nodes: Vec<Node> = Vec::new();
        let start_class = classes.find(start.index());
        for (at, function) in funcs.iter_mut().enumerate() {
            let Some(body) = &mut function.body else { continue };
            let func = FuncId::new(at);
            let entry = classes.find(body.entry.index());
            let exit = classes.find(body.exit.index());
            let first = if self.nodes[start.index()].0 == func { start_class } else { entry };
            let order = reverse_postorder(first, exit, |node| {
                out.of(node).iter().map(|edge| ends[*edge as usize].1).collect::<Vec<_>>()
            });
            for (rpo, class) in order.into_iter().enumerate() {
                new_of_class[class] = Some(NodeId::new(nodes.len()));
                let rpo = u32::try_from(rpo).expect("fewer than 2^32 nodes");
                nodes.push(Node { func, rpo, leaving: Vec::new(), entering: Vec::new() });
            }
            body.entry = new_of_class[entry].expect("entries are reachable");
            body.exit = new_of_class[exit].expect("exits are kept");
        }
        let mut edges: Vec<Edge> = Vec::with_capacity(live.len());
        let mut edge_map = FxHashMap::default();
        let mut class_of_new = vec![0usize; nodes.len()];
        for (class, new) in new_of_class.iter().enumerate() {
            if let Some(new) = new {
                class_of_new[new.index()] = class;
            }
        }
        for (node, class) in class_of_new.iter().enumerate() {
            for at in out.of(*class) {
                let at = *at as usize;
                let id = EdgeId::new(edges.len());
                edge_map.insert(at, id);
                let (src, dst) = (NodeId::new(node), new_of_class[ends[at].1].expect("successors are reachable"));
                nodes[node].leaving.push(id);
                nodes[dst.index()].entering.push(id);
                let raw = &mut self.edges[at];
                edges.push(Edge { src, dst, op: std::mem::replace(&mut raw.op, Op::Skip), span: raw.span });
            }
        }
        let map = (0..count).map(|node| new_of_class[classes.find(node)].filter(|_| reached[node])).collect();
        Finished { nodes, edges, map, edge_map }
    }

    /// Unites the ends of skips. A node that must stay keeps its identity: it is only united with a successor that has no
    /// other predecessor.
    fn contract(&self, reached: &[bool], leaving: &Adjacency, exits: &[bool], roots: &[NodeId]) -> Classes {
        let count = self.nodes.len();
        let mut classes = Classes { parent: (0..count).collect(), contracted: vec![false; self.edges.len()] };
        let mut keep: Vec<bool> = self.nodes.iter().map(|(_, keep)| *keep).collect();
        let mut indegree = vec![0u32; count];
        for edge in self.edges.iter().filter(|edge| reached[edge.src.index()]) {
            indegree[edge.dst.index()] += 1;
        }
        // Being a start is like having another predecessor.
        for root in roots {
            indegree[root.index()] += 1;
        }
        for (at, edge) in self.edges.iter().enumerate() {
            let (src, dst) = (edge.src.index(), edge.dst.index());
            if edge.op != Op::Skip || !reached[src] || leaving.of(src).len() != 1 {
                continue;
            }
            let (a, b) = (classes.find(src), classes.find(dst));
            if a == b || (keep[a] && (indegree[b] != 1 || exits[dst])) {
                continue;
            }
            classes.contracted[at] = true;
            classes.parent[a] = b;
            keep[b] |= keep[a];
            indegree[b] += indegree[a] - 1;
        }
        classes
    }
}

/// Sets of united nodes.
struct Classes {
    parent: Vec<usize>,
    contracted: Vec<bool>,
}

impl Classes {
    fn find(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.parent[root] != root {
            root = self.parent[root];
        }
        let mut at = node;
        while self.parent[at] != root {
            at = std::mem::replace(&mut self.parent[at], root);
        }
        root
    }
}

/// Lists of items per node in one vector.
pub(super) struct Adjacency {
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Adjacency {
    fn new(count: usize, sources: impl Iterator<Item = usize> + Clone) -> Self {
        Self::with_items(count, sources.enumerate().map(|(at, src)| (src, at)))
    }

    fn with_items(count: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let number = |at: usize| u32::try_from(at).expect("fewer than 2^32 edges");
        let mut first = vec![0u32; count + 1];
        for (src, _) in pairs.clone() {
            first[src + 1] += 1;
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        let mut next = first.clone();
        let mut items = vec![0; first[count] as usize];
        for (src, item) in pairs {
            items[next[src] as usize] = number(item);
            next[src] += 1;
        }
        Self { first, items }
    }

    pub(super) fn of(&self, node: usize) -> &[u32] {
        &self.items[self.first[node] as usize..self.first[node + 1] as usize]
    }
}
