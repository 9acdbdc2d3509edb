// SPDX-License-Identifier: Apache-2.0
//! What is asked about an abstract error path, and what is answered.
//!
//! A path is a sequence of blocks; a block is a directed acyclic graph of statements, as adjustable-block encoding gives
//! it (Beyer, Keremoglu, Wendler, FMCAD 2010). An answer is a concrete path or an inductive sequence of interpolants
//! (McMillan, *Lazy Abstraction with Interpolants*, CAV 2006, section 3).

use crate::path::Stmt;
use crate::term::{SymId, TermId, Value};

/// An edge of a block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DagEdge {
    /// The node that it leaves.
    pub from: u32,
    /// The node where it arrives; greater than `from`.
    pub to: u32,
    /// What happens on the way.
    pub stmt: Stmt,
}

/// A block: a graph whose edges lead from smaller to greater nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BlockDag {
    /// The number of nodes, at least 1: node 0 is the entry and the last node the exit.
    pub nodes: u32,
    /// The edges, in any order.
    pub edges: Vec<DagEdge>,
}

/// A path whose feasibility is asked for. The exit of a block is the entry of the next one; all variables are arbitrary at
/// the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathQuery {
    /// The blocks in the order of execution.
    pub blocks: Vec<BlockDag>,
}

/// The answer about a path.
#[derive(Clone, Debug)]
pub enum PathResult {
    /// There is an execution.
    Feasible(Witness),
    /// There is none, and this is why.
    Infeasible(Sequence),
    /// Neither was found; the text says which engine gave up and why.
    Unknown(String),
}

/// One step of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessStep {
    /// The position of the block in the query.
    pub block: usize,
    /// The position of the edge in the block.
    pub edge: usize,
    /// The value that a `Havoc` edge gives to its variable.
    pub input: Option<Value>,
}

/// A concrete execution of a path: replaying the statements from `initial` satisfies every assumption.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// The edges from the entry of the first block to the exit of the last one.
    pub steps: Vec<WitnessStep>,
    /// The values at the start of all variables of the path, in the order of the symbols.
    pub initial: Vec<(SymId, Value)>,
}

/// An inductive sequence of interpolants; only the checker makes one.
///
/// With I_0 = true and I_n = false for n blocks: I_{i-1} and block i imply I_i, and I_i speaks about `var(x,0)` only.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Sequence {
    /// The interpolants I_1, ..., I_{n-1}: the i-th one holds at the end of block i.
    pub interpolants: Vec<TermId>,
    /// The engine that proposed it.
    pub engine: &'static str,
}

/// What the caller knows about a cut (the place between two blocks).
#[derive(Clone, Debug)]
pub struct CutHint {
    /// Cuts with an equal number stand for the same place of the program, say a loop head.
    pub place: u32,
    /// The predicates that are tracked there already.
    pub known: Vec<TermId>,
    /// The variables that are live there; `None` when the caller does not know.
    pub relevant: Option<Vec<SymId>>,
    /// What is known to hold there: together with the block it implies the same at the next cut.
    pub holds: TermId,
}

impl Default for CutHint {
    fn default() -> Self {
        CutHint { place: 0, known: Vec::new(), relevant: None, holds: TermId::TRUE }
    }
}

/// What the caller knows about a path. Hints change what is found, never whether it is right.
#[derive(Clone, Default, Debug)]
pub struct Hints {
    /// One hint for each cut, that is, one less than there are blocks; may be empty.
    pub cuts: Vec<CutHint>,
}
