// SPDX-License-Identifier: Apache-2.0
//! A path prepared for the engines: adjacency of the useful edges of each block, and the block's path formula.
//!
//! An edge is useful when it lies on a way from the entry to the exit of its block. Everything here is linear in the number
//! of edges, apart from the terms that path formulas build.

use super::query::{BlockDag, PathQuery};
use crate::path::{PathFormula, Stmt};
use crate::term::{Sort, SymId, TermId, Terms};

/// The useful part of a block as a graph.
#[derive(Debug)]
pub(crate) struct Graph {
    outs: Lists,
    ins: Lists,
    /// Whether the branches of every node exclude each other syntactically.
    pub(crate) deterministic: bool,
    /// Nodes that every way through the block passes.
    bottleneck: Vec<bool>,
}

/// A list of edge numbers for each node, in one array.
#[derive(Debug)]
struct Lists {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(nodes: usize, entries: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0u32; nodes + 1];
        for (node, _) in entries.clone() {
            start[node as usize + 1] += 1;
        }
        for i in 0..nodes {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut items = vec![0; start[nodes] as usize];
        for (node, item) in entries {
            items[next[node as usize] as usize] = item;
            next[node as usize] += 1;
        }
        Lists { start, items }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.items[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }
}

impl Graph {
    pub(crate) fn new(terms: &mut Terms, dag: &BlockDag) -> Self {
        let nodes = dag.nodes as usize;
        assert!(nodes > 0, "a block has an entry");
        let all = || dag.edges.iter().enumerate();
        for (_, edge) in all() {
            assert!(edge.from < edge.to && edge.to < dag.nodes, "the edges of a block lead to later nodes");
        }
        let from_all = Lists::new(nodes, all().map(|(i, e)| (e.from, i as u32)));
        let mut reached = vec![false; nodes];
        reached[0] = true;
        for n in 0..nodes {
            if reached[n] {
                for &e in from_all.of(n as u32) {
                    reached[dag.edges[e as usize].to as usize] = true;
                }
            }
        }
        let mut reaching = vec![false; nodes];
        reaching[nodes - 1] = true;
        for n in (0..nodes).rev() {
            reaching[n] |= from_all.of(n as u32).iter().any(|&e| reaching[dag.edges[e as usize].to as usize]);
        }
        let useful: Vec<bool> = dag.edges.iter().map(|e| reached[e.from as usize] && reaching[e.to as usize]).collect();
        let outs = Lists::new(nodes, all().filter(|&(i, _)| useful[i]).map(|(i, e)| (e.from, i as u32)));
        let ins = Lists::new(nodes, all().filter(|&(i, _)| useful[i]).map(|(i, e)| (e.to, i as u32)));
        let mut bottleneck = vec![false; nodes];
        let mut farthest = 0;
        for n in 0..dag.nodes {
            bottleneck[n as usize] = reached[n as usize] && reaching[n as usize] && farthest <= n;
            farthest = outs.of(n).iter().map(|&e| dag.edges[e as usize].to).fold(farthest, u32::max);
        }
        let deterministic = (0..dag.nodes).all(|n| exclusive(terms, dag, outs.of(n)));
        Graph { outs, ins, deterministic, bottleneck }
    }

    /// The useful edges that leave `node`, in the order of the block.
    pub(crate) fn outs(&self, node: u32) -> &[u32] {
        self.outs.of(node)
    }

    /// The useful edges that arrive at `node`, in the order of the block.
    pub(crate) fn ins(&self, node: u32) -> &[u32] {
        self.ins.of(node)
    }

    /// Whether every way from the entry to the exit passes `node`.
    pub(crate) fn is_bottleneck(&self, node: u32) -> bool {
        self.bottleneck[node as usize]
    }

    /// Whether the exit can be reached at all.
    pub(crate) fn is_connected(&self) -> bool {
        self.bottleneck[0]
    }
}

/// Whether of these edges, which leave one node, at most one can be taken in any state, as far as is plain to see.
fn exclusive(terms: &mut Terms, dag: &BlockDag, edges: &[u32]) -> bool {
    match edges {
        [] | [_] => true,
        &[e, f] => match (dag.edges[e as usize].stmt, dag.edges[f as usize].stmt) {
            (Stmt::Assume(c), Stmt::Assume(d)) => terms.not(c) == d,
            _ => false,
        },
        _ => false,
    }
}

/// Appends the block to `start`. `None` when no way through the block can be executed, as far as the simplifying builders
/// see. `inputs` takes the number of each `Havoc` edge and the instance that it reads.
pub(crate) fn extend(
    terms: &mut Terms,
    dag: &BlockDag,
    graph: &Graph,
    start: PathFormula,
    inputs: &mut Vec<(usize, TermId)>,
) -> Option<PathFormula> {
    extend_by(terms, dag, graph, graph.deterministic, start, inputs, &mut |e| dag.edges[e as usize].stmt)
}

/// As [`extend`], with the statements given by the number of the edge; `exclusive` says that at most one of the edges that
/// leave a node can be taken in any state.
pub(crate) fn extend_by(
    terms: &mut Terms,
    dag: &BlockDag,
    graph: &Graph,
    exclusive: bool,
    start: PathFormula,
    inputs: &mut Vec<(usize, TermId)>,
    stmt: &mut dyn FnMut(u32) -> Stmt,
) -> Option<PathFormula> {
    let mut at: Vec<Option<PathFormula>> = vec![None; dag.nodes as usize];
    at[0] = Some(start);
    for node in 0..dag.nodes - 1 {
        let Some(here) = at[node as usize].take() else { continue };
        let (last, others) = match graph.outs(node).split_last() {
            Some(parts) => parts,
            None => continue,
        };
        let mut here = Some(here);
        for &e in others.iter().chain([last]) {
            let mut next = if e == *last { here.take() } else { here.clone() }.expect("taken by the last edge only");
            let stmt = stmt(e);
            next.apply(terms, &stmt);
            if next.pc == TermId::FALSE {
                continue;
            }
            if let Stmt::Havoc(sym) = stmt {
                inputs.push((e as usize, next.value(terms, sym)));
            }
            let target = dag.edges[e as usize].to as usize;
            at[target] = Some(match at[target].take() {
                Some(there) => there.merge(terms, &next, exclusive),
                None => next,
            });
        }
    }
    at.pop().expect("a block has an exit")
}

/// A query with what the engines derive from it first.
#[derive(Debug)]
pub struct Path<'q> {
    /// The query.
    pub query: &'q PathQuery,
    pub(crate) graphs: Vec<Graph>,
    /// The formula of each block on its own; `None` when the block has no execution.
    pub(crate) formulas: Vec<Option<PathFormula>>,
    /// The assignments to arrays, by block and edge.
    pub(crate) memory: Vec<(usize, u32)>,
}

impl<'q> Path<'q> {
    /// Prepares a query.
    pub fn new(terms: &mut Terms, query: &'q PathQuery) -> Self {
        let graphs: Vec<Graph> = query.blocks.iter().map(|dag| Graph::new(terms, dag)).collect();
        let formulas = query
            .blocks
            .iter()
            .zip(&graphs)
            .map(|(dag, graph)| extend(terms, dag, graph, PathFormula::empty(), &mut Vec::new()))
            .collect();
        let mut path = Path { query, graphs, formulas, memory: Vec::new() };
        let is_memory =
            |stmt| matches!(stmt, Stmt::Assign(_, value) if matches!(terms.sort(value), Sort::Array { .. }));
        path.memory = path.edges().filter(|&(_, _, stmt)| is_memory(stmt)).map(|(b, e, _)| (b, e)).collect();
        path
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.graphs.len()
    }

    /// Whether the path has no block.
    pub fn is_empty(&self) -> bool {
        self.graphs.is_empty()
    }

    pub(crate) fn dag(&self, block: usize) -> &'q BlockDag {
        &self.query.blocks[block]
    }

    /// The useful edges with their statements, block by block.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, u32, Stmt)> + '_ {
        self.graphs.iter().enumerate().flat_map(move |(b, graph)| {
            let dag = self.dag(b);
            (0..dag.nodes).flat_map(move |n| graph.outs(n).iter().map(move |&e| (b, e, dag.edges[e as usize].stmt)))
        })
    }

    /// Whether floating-point operations occur in the statements.
    pub(crate) fn has_floats(&self, terms: &Terms) -> bool {
        self.edges().any(|(_, _, stmt)| match stmt {
            Stmt::Assume(t) | Stmt::Assign(_, t) => terms.has_float(t),
            Stmt::Skip | Stmt::Havoc(_) => false,
        })
    }

    /// All program variables that occur in the statements, sorted.
    pub(crate) fn symbols(&self, terms: &Terms) -> Vec<SymId> {
        let mut found = std::collections::BTreeSet::new();
        let mut seen = std::collections::BTreeSet::new();
        for (_, _, stmt) in self.edges() {
            let term = match stmt {
                Stmt::Skip => continue,
                Stmt::Havoc(sym) => {
                    found.insert(sym);
                    continue;
                }
                Stmt::Assume(t) => t,
                Stmt::Assign(sym, t) => {
                    found.insert(sym);
                    t
                }
            };
            if seen.insert(term) {
                found.extend(terms.symbols(term).into_iter().map(|(sym, _)| sym));
            }
        }
        found.into_iter().collect()
    }
}
