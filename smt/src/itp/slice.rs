// SPDX-License-Identifier: Apache-2.0
//! Slices of a path, and which variables are live in them.
//!
//! A slice keeps some statements; a dropped assumption becomes `Skip` and a dropped assignment becomes `Havoc`, so a slice
//! has all executions of the path and more (Dietsch et al., *Craig vs. Newton in Software Model Checking*, FSE 2017,
//! section 4). Liveness is the usual backward data-flow problem, solved in one sweep because blocks are acyclic.

use rustc_hash::FxHashMap;

use super::graph::{Path, extend_by};
use crate::path::{PathFormula, Stmt};
use crate::term::{SymId, TermId, Terms};

/// Which statements of a path are kept.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    keep: Vec<Vec<bool>>,
}

impl Slice {
    /// The slice that keeps everything or nothing, but for assignments to memory, which every slice keeps: an arbitrary memory
    /// cannot be eliminated.
    pub(crate) fn uniform(path: &Path<'_>, keep: bool) -> Self {
        let mut slice = Slice { keep: path.query.blocks.iter().map(|dag| vec![keep; dag.edges.len()]).collect() };
        for &(block, edge) in &path.memory {
            slice.keep(block, edge);
        }
        slice
    }

    pub(crate) fn keep(&mut self, block: usize, edge: u32) {
        self.keep[block][edge as usize] = true;
    }

    pub(crate) fn keeps(&self, block: usize, edge: u32) -> bool {
        self.keep[block][edge as usize]
    }

    /// What the edge does in the slice.
    pub(crate) fn stmt(&self, path: &Path<'_>, block: usize, edge: u32) -> Stmt {
        match path.dag(block).edges[edge as usize].stmt {
            Stmt::Assume(_) if !self.keeps(block, edge) => Stmt::Skip,
            Stmt::Assign(sym, _) if !self.keeps(block, edge) => Stmt::Havoc(sym),
            stmt => stmt,
        }
    }

    /// Appends a block of the slice to `start`; `None` when it cannot be passed, as far as the builders see.
    pub(crate) fn extend(
        &self,
        terms: &mut Terms,
        path: &Path<'_>,
        block: usize,
        start: PathFormula,
    ) -> Option<PathFormula> {
        let (dag, graph) = (path.dag(block), &path.graphs[block]);
        // Dropping one of two opposite assumptions makes the branching nondeterministic.
        let mut exclusive = graph.deterministic;
        for node in 0..dag.nodes {
            if let &[e, f] = graph.outs(node) {
                exclusive &= self.keeps(block, e) && self.keeps(block, f);
            }
        }
        extend_by(terms, dag, graph, exclusive, start, &mut Vec::new(), &mut |e| self.stmt(path, block, e))
    }
}

/// The symbols that occur in terms with index 0, remembered per term.
#[derive(Default)]
pub(crate) struct Reads {
    memo: FxHashMap<TermId, Box<[SymId]>>,
}

impl Reads {
    pub(crate) fn of(&mut self, terms: &Terms, term: TermId) -> &[SymId] {
        self.memo
            .entry(term)
            .or_insert_with(|| terms.symbols(term).into_iter().filter(|s| s.1 == 0).map(|s| s.0).collect())
    }
}

/// Which variables are live at the nodes of a slice: their value there may be read before it is overwritten.
pub(crate) struct Liveness {
    syms: Vec<SymId>,
    position: FxHashMap<SymId, usize>,
    words: usize,
    /// Per block, `words` words for each node.
    bits: Vec<Vec<u64>>,
}

impl Liveness {
    pub(crate) fn new(terms: &Terms, path: &Path<'_>, slice: &Slice) -> Self {
        let syms = path.symbols(terms);
        let position: FxHashMap<SymId, usize> = syms.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let words = syms.len().div_ceil(64).max(1);
        let mut reads = Reads::default();
        let mut exit = vec![0u64; words];
        let mut bits: Vec<Vec<u64>> = Vec::with_capacity(path.len());
        for b in (0..path.len()).rev() {
            let (dag, graph) = (path.dag(b), &path.graphs[b]);
            let nodes = dag.nodes as usize;
            let mut at = vec![0u64; nodes * words];
            at[(nodes - 1) * words..].copy_from_slice(&exit);
            for node in (0..dag.nodes - 1).rev() {
                for &e in graph.outs(node) {
                    let to = dag.edges[e as usize].to as usize * words;
                    let mut live: Vec<u64> = at[to..to + words].to_vec();
                    let read = match slice.stmt(path, b, e) {
                        Stmt::Skip => None,
                        Stmt::Assume(t) => Some(t),
                        Stmt::Assign(sym, t) => {
                            clear(&mut live, position[&sym]);
                            Some(t)
                        }
                        Stmt::Havoc(sym) => {
                            clear(&mut live, position[&sym]);
                            None
                        }
                    };
                    for sym in read.map_or(&[][..], |t| reads.of(terms, t)) {
                        let i = position[sym];
                        live[i / 64] |= 1 << (i % 64);
                    }
                    let here = node as usize * words;
                    for (mine, theirs) in at[here..here + words].iter_mut().zip(live) {
                        *mine |= theirs;
                    }
                }
            }
            exit.copy_from_slice(&at[..words]);
            bits.push(at);
        }
        bits.reverse();
        Liveness { syms, position, words, bits }
    }

    /// Whether the variable is live at the node.
    pub(crate) fn is_live(&self, block: usize, node: u32, sym: SymId) -> bool {
        let i = self.position[&sym];
        self.bits[block][node as usize * self.words + i / 64] >> (i % 64) & 1 == 1
    }

    /// The variables that are live at the entry of a block, in the order of their ids.
    pub(crate) fn at_entry(&self, block: usize) -> Vec<SymId> {
        self.syms.iter().copied().filter(|&sym| self.is_live(block, 0, sym)).collect()
    }
}

fn clear(live: &mut [u64], i: usize) {
    live[i / 64] &= !(1 << (i % 64));
}
