// SPDX-License-Identifier: Apache-2.0
//! Abstract paths: the abstraction states between two nodes of the graph, and the blocks between these.
//!
//! Follows *A Unifying View*, section 3.2.1: projected to its abstraction states the graph is a tree, so any path backwards
//! finds them. A block is the acyclic part of the graph between two of them.

use cpa_core::{Arg, ArgId, Handle, Step, Stop};
use rustc_hash::FxHashMap;
use smt::TermId;
use smt::itp::{BlockDag, DagEdge};
use smt::path::Stmt;

use crate::cpa::PredicateCpa;
use crate::manager::Manager;

/// A block of an abstract path, with the steps behind its edges.
pub(crate) struct Block {
    pub(crate) dag: BlockDag,
    /// For each edge of the graph the step it belongs to, if it is the first edge of that step.
    pub(crate) steps: Vec<Option<Step>>,
}

impl Block {
    /// A block that only assumes something.
    pub(crate) fn assume(condition: TermId) -> BlockDag {
        BlockDag { nodes: 2, edges: vec![DagEdge { from: 0, to: 1, stmt: Stmt::Assume(condition) }] }
    }
}

/// The abstraction state where the block of a node began; the one before for an abstraction state. None for the root.
pub(crate) fn start_of_block(arg: &Arg, handle: Handle<PredicateCpa>, node: ArgId) -> Option<ArgId> {
    let mut node = node;
    loop {
        node = arg.parents(node).first()?.0;
        if arg.state(node).get(handle).is_abstraction() {
            return Some(node);
        }
    }
}

/// The abstraction states from the root to a node, and the node itself.
pub(crate) fn abstraction_path(arg: &Arg, handle: Handle<PredicateCpa>, node: ArgId) -> Vec<ArgId> {
    let mut path: Vec<ArgId> = std::iter::successors(Some(node), |&node| start_of_block(arg, handle, node)).collect();
    path.reverse();
    path
}

/// The intermediate states of the block that begins at an abstraction state.
pub(crate) fn inside_block(arg: &Arg, handle: Handle<PredicateCpa>, start: ArgId) -> Vec<ArgId> {
    let mut inside: indexmap::IndexSet<ArgId> = indexmap::IndexSet::new();
    let mut next = 0;
    let mut node = start;
    loop {
        for &(child, _) in arg.children(node) {
            if !arg.state(child).get(handle).is_abstraction() {
                inside.insert(child);
            }
        }
        let Some(&more) = inside.get_index(next) else { return inside.into_iter().collect() };
        node = more;
        next += 1;
    }
}

/// The nodes between two abstraction states, each behind its parents; the first and last are these two.
fn block_nodes(arg: &Arg, handle: Handle<PredicateCpa>, start: ArgId, end: ArgId) -> Result<Vec<ArgId>, Stop> {
    arg.between(start, end, |node| {
        if node != end && arg.state(node).get(handle).is_abstraction() {
            return Err(Stop::Internal(format!("the block from {start} to {end} also begins at {node}")));
        }
        Ok(arg.parents(node))
    })
}

/// The block between two abstraction states.
pub(crate) fn block(
    manager: &mut Manager,
    arg: &Arg,
    handle: Handle<PredicateCpa>,
    (start, end): (ArgId, ArgId),
) -> Result<Block, Stop> {
    let order = block_nodes(arg, handle, start, end)?;
    let mut numbers: FxHashMap<ArgId, u32> = FxHashMap::default();
    let mut block = Block { dag: BlockDag { nodes: 0, edges: Vec::new() }, steps: Vec::new() };
    for &node in &order {
        // The nodes between the statements of a step must come before the node where the step arrives.
        let mut arriving = Vec::new();
        if node != start {
            for &(parent, step) in arg.parents(node) {
                let Some(&from) = numbers.get(&parent) else { continue };
                let activation = arg.state(parent).get(handle).calls().activation(manager.encoder.program(), step);
                let mut statements = manager
                    .encoder
                    .statements_of_activation(&mut manager.terms, step, activation)
                    .map_err(|inexact| Stop::Internal(format!("the program was checked before: {inexact}")))?;
                let last = statements.pop().unwrap_or(Stmt::Skip);
                let mut from = from;
                let mut first = Some(step);
                for stmt in statements {
                    let to = block.dag.nodes;
                    block.dag.nodes += 1;
                    block.dag.edges.push(DagEdge { from, to, stmt });
                    block.steps.push(first.take());
                    from = to;
                }
                arriving.push((from, last, first));
            }
        }
        let number = block.dag.nodes;
        block.dag.nodes += 1;
        numbers.insert(node, number);
        for (from, stmt, step) in arriving {
            block.dag.edges.push(DagEdge { from, to: number, stmt });
            block.steps.push(step);
        }
    }
    Ok(block)
}
