// SPDX-License-Identifier: Apache-2.0
//! Loops of the graph, whatever statements made them, and the reverse post-order of nodes.
//!
//! Back edges are the retreating edges of one depth-first search per function (Aho, Lam, Sethi, Ullman, *Compilers*,
//! section 9.6), so their targets, the heads, cut every cycle, also in irreducible graphs. The body of a loop is the
//! natural one; where the head does not dominate the source of a back edge, the body is what reaches that source within
//! the strongly connected component without passing the head.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::ids::{EdgeId, LoopId, NodeId};
use crate::program::Program;
use crate::scc::components;

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The node where the back edges arrive.
    pub head: NodeId,
    /// All nodes of the loop with the head, sorted.
    pub body: Vec<NodeId>,
    /// The edges that lead back to the head.
    pub back_edges: Vec<EdgeId>,
    /// The innermost loop around this one.
    pub parent: Option<LoopId>,
    /// Number of loops around this one.
    pub depth: u32,
    /// Whether every path into the body passes the head.
    pub reducible: bool,
}

/// The loops of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loops {
    /// The heads of all loops.
    pub heads: BTreeSet<NodeId>,
    /// All loops in the order of their heads; the loop with position `i` has the id `l<i>`.
    pub loops: Vec<Loop>,
    by_head: BTreeMap<NodeId, LoopId>,
    innermost: FxHashMap<NodeId, LoopId>,
}

impl Loops {
    /// The loop with the given id.
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// Whether a node is the head of a loop.
    pub fn is_head(&self, node: NodeId) -> bool {
        self.by_head.contains_key(&node)
    }

    /// The loop of a head.
    pub fn of_head(&self, head: NodeId) -> Option<LoopId> {
        self.by_head.get(&head).copied()
    }

    /// The innermost loop that a node is in.
    pub fn innermost(&self, node: NodeId) -> Option<LoopId> {
        self.innermost.get(&node).copied()
    }

    /// The loops that a node is in, the innermost first.
    pub fn around(&self, node: NodeId) -> impl Iterator<Item = &Loop> {
        let innermost = self.innermost(node).map(|id| self.get(id));
        std::iter::successors(innermost, |inner| inner.parent.map(|id| self.get(id)))
    }

    /// Finds the loops of a program with numbered nodes.
    pub fn find(program: &Program) -> Self {
        let mut back: BTreeMap<NodeId, Vec<EdgeId>> = BTreeMap::new();
        for id in program.edge_ids() {
            let edge = program.edge(id);
            if program.node(edge.dst).rpo <= program.node(edge.src).rpo {
                back.entry(edge.dst).or_default().push(id);
            }
        }
        let successor = |node: usize, at: usize| {
            let edge = program.nodes[node].leaving.get(at)?;
            Some(program.edge(*edge).dst.index())
        };
        let components = components(program.nodes.len(), successor);
        let mut loops: Vec<Loop> = Vec::new();
        for (head, back_edges) in back {
            let (body, reducible) = body(program, head, &back_edges, &components);
            loops.push(Loop { head, body, back_edges, parent: None, depth: 0, reducible });
        }
        let heads = loops.iter().map(|l| l.head).collect();
        let by_head = loops.iter().enumerate().map(|(at, l)| (l.head, LoopId::new(at))).collect();
        let mut found = Loops { heads, loops, by_head, innermost: FxHashMap::default() };
        found.nest();
        found
    }

    /// Parents and depths: larger bodies are looked at first, so the last loop that claims a node is the innermost one.
    fn nest(&mut self) {
        let mut order: Vec<usize> = (0..self.loops.len()).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(self.loops[*at].body.len()), *at));
        for at in order {
            let parent = self.innermost.get(&self.loops[at].head).copied();
            self.loops[at].depth = parent.map_or(0, |parent| self.loops[parent.index()].depth + 1);
            self.loops[at].parent = parent;
            for node in &self.loops[at].body {
                self.innermost.insert(*node, LoopId::new(at));
            }
        }
    }
}

fn body(program: &Program, head: NodeId, back_edges: &[EdgeId], components: &[u32]) -> (Vec<NodeId>, bool) {
    let component = components[head.index()];
    let mut body: BTreeSet<NodeId> = BTreeSet::from([head]);
    let mut todo: Vec<NodeId> = back_edges.iter().map(|edge| program.edge(*edge).src).collect();
    let mut reducible = true;
    while let Some(node) = todo.pop() {
        if !body.insert(node) {
            continue;
        }
        for edge in &program.node(node).entering {
            let from = program.edge(*edge).src;
            if components[from.index()] == component {
                todo.push(from);
            } else {
                // An entry into the loop that is not its head.
                reducible = false;
            }
        }
    }
    // A node above the head within the body is reached without passing the head.
    let head_rpo = program.node(head).rpo;
    reducible &= body.iter().all(|node| program.node(*node).rpo >= head_rpo);
    (body.into_iter().collect(), reducible)
}

/// The nodes that are reachable from `entry` in reverse post-order; `exit` is appended if it is not reachable. Where a
/// node of a loop has two successors, the one that stays in the loop gets the smaller number.
pub(crate) fn reverse_postorder(entry: usize, exit: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut number: FxHashMap<usize, usize> = FxHashMap::default();
    let mut names = vec![entry];
    number.insert(entry, 0);
    let mut lists: Vec<Vec<usize>> = Vec::new();
    while lists.len() < names.len() {
        let list = successors(names[lists.len()]);
        let list = list.into_iter().map(|to| {
            *number.entry(to).or_insert_with(|| {
                names.push(to);
                names.len() - 1
            })
        });
        let list = list.collect();
        lists.push(list);
    }
    // The first search finds the loops in its own order, the second one knows which successors leave them.
    let first = postorder(&lists);
    let innermost = innermost_heads(&lists, &first);
    for (node, list) in lists.iter_mut().enumerate() {
        if list.len() == 2 && leaves(&innermost, node, list[0]) <= leaves(&innermost, node, list[1]) {
            list.swap(0, 1);
        }
    }
    let mut order: Vec<usize> = postorder(&lists).into_iter().rev().map(|node| names[node]).collect();
    if !number.contains_key(&exit) {
        order.push(exit);
    }
    order
}

/// Post-order of a depth-first search from node 0.
fn postorder(lists: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; lists.len()];
    let mut order = Vec::with_capacity(lists.len());
    let mut work = vec![(0usize, 0usize)];
    seen[0] = true;
    while let Some((node, at)) = work.pop() {
        if let Some(to) = lists[node].get(at) {
            work.push((node, at + 1));
            if !std::mem::replace(&mut seen[*to], true) {
                work.push((*to, 0));
            }
        } else {
            order.push(node);
        }
    }
    order
}

/// For each node the number (in reverse post-order, from 1) of the head of its innermost loop, and the parents of heads.
struct Heads {
    of_node: Vec<usize>,
    parent: Vec<usize>,
}

/// Loop nesting by the union-find method of Havlak, *Nesting of Reducible and Irreducible Loops*, without its split of
/// irreducible loops.
fn innermost_heads(lists: &[Vec<usize>], postorder: &[usize]) -> Heads {
    let count = lists.len();
    let mut rank = vec![0; count];
    for (at, node) in postorder.iter().rev().enumerate() {
        rank[*node] = at;
    }
    let mut entering: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (node, list) in lists.iter().enumerate() {
        for to in list {
            entering[*to].push(node);
        }
    }
    // Everything below is in ranks.
    let by_rank: Vec<usize> = postorder.iter().rev().copied().collect();
    let mut union: Vec<usize> = (0..count).collect();
    let mut header = vec![usize::MAX; count];
    let mut is_head = vec![false; count];
    for head in (0..count).rev() {
        let mut todo = Vec::new();
        for from in &entering[by_rank[head]] {
            if rank[*from] >= head {
                is_head[head] = true;
                let root = find(&mut union, rank[*from]);
                if root != head {
                    todo.push(root);
                }
            }
        }
        while let Some(node) = todo.pop() {
            if union[node] != node || node == head {
                continue;
            }
            union[node] = head;
            header[node] = head;
            for from in &entering[by_rank[node]] {
                let root = find(&mut union, rank[*from]);
                // Smaller ranks enter an irreducible loop from the side.
                if root > head {
                    todo.push(root);
                }
            }
        }
    }
    let of_node = (0..count)
        .map(|node| {
            let at = rank[node];
            if is_head[at] { at + 1 } else { header[at].wrapping_add(1) }
        })
        .collect();
    let parent = header.iter().map(|head| head.wrapping_add(1)).collect();
    Heads { of_node, parent }
}

fn find(union: &mut [usize], node: usize) -> usize {
    let mut root = node;
    while union[root] != root {
        root = union[root];
    }
    let mut at = node;
    while union[at] != root {
        at = std::mem::replace(&mut union[at], root);
    }
    root
}

/// How many loops an edge leaves.
fn leaves(heads: &Heads, from: usize, to: usize) -> usize {
    let mut around = Vec::new();
    let mut at = heads.of_node[to];
    while at != 0 {
        around.push(at);
        at = heads.parent[at - 1];
    }
    let mut left = 0;
    at = heads.of_node[from];
    while at != 0 && !around.contains(&at) {
        left += 1;
        at = heads.parent[at - 1];
    }
    left
}
