// SPDX-License-Identifier: Apache-2.0
//! Symbolic states, and names for what is not known in them.

use std::collections::BTreeMap;

use cfa::ids::{EdgeId, NodeId, RegionId, VarId};
use rustc_hash::FxHashMap;

use crate::poly::Poly;
use crate::pool::{ArrayId, CondId, CondKind, Name, Pool};
use crate::relations::Relation;

/// An object: those with fixed addresses by their position, others behind them in the order of their discovery.
pub(crate) type ObjectId = u32;

/// The part of an object that belongs to a region.
pub(crate) type Cells = (ObjectId, RegionId);

/// How large a new object is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// In bytes.
    pub(crate) size: Poly,
    /// The dimensions of an array of arrays with lengths that are not constant, the outermost first: how many rows there
    /// are, and how many bytes each has. Its cells are numbered with [`PITCH`](crate::eval::PITCH) between the rows.
    pub(crate) rows: Vec<(Poly, Poly)>,
}

/// A set of executions that are at the same location: values as functions of inputs and iterations, and what holds.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) vars: BTreeMap<VarId, Poly>,
    pub(crate) memory: BTreeMap<Cells, ArrayId>,
    pub(crate) facts: Vec<CondId>,
    /// The calls that have not returned.
    pub(crate) calls: Vec<EdgeId>,
    /// The new objects that may exist; all objects that one operation makes in a loop are one.
    pub(crate) objects: BTreeMap<ObjectId, Extent>,
    /// Loops whose first iteration is executed by itself at present.
    pub(crate) marks: Vec<NodeId>,
    /// What is known of elements at all positions; the facts say it, too.
    pub(crate) relations: Vec<Relation<ArrayId>>,
}

impl State {
    /// The state before anything happened.
    pub(crate) fn new() -> State {
        State {
            vars: BTreeMap::new(),
            memory: BTreeMap::new(),
            facts: Vec::new(),
            calls: Vec::new(),
            objects: BTreeMap::new(),
            marks: Vec::new(),
            relations: Vec::new(),
        }
    }

    /// Adds what holds; conjunctions by their parts.
    pub(crate) fn know(&mut self, pool: &Pool, cond: CondId) {
        match pool.cond(cond) {
            CondKind::True => {}
            CondKind::And(parts) => {
                for part in parts {
                    if !self.facts.contains(part) {
                        self.facts.push(*part);
                    }
                }
            }
            _ if self.facts.contains(&cond) => {}
            _ => self.facts.push(cond),
        }
    }
}

/// What a name stands for, in its context.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Named {
    /// What an operation gives: an input, the address of a new object.
    Result(EdgeId),
    /// A variable without value.
    Variable(VarId),
    /// What is in an object before anything is known of it.
    Initial(Cells),
    /// The iteration of a loop.
    Iteration(NodeId),
    /// The number of iterations before a loop is left in a way: the location behind it, and which path leads there.
    Count(NodeId, NodeId, usize),
    /// A variable at the start of an iteration.
    VariableAt(NodeId, VarId),
    /// What is in an object at the start of an iteration.
    ContentsAt(NodeId, Cells),
    /// What is in an object when a loop is left: in which way out.
    ContentsAfter(NodeId, usize, Cells),
    /// An element with a constant position at the start of an iteration.
    ElementAt(NodeId, Cells, usize),
}

/// The names; the context of a name are the calls and first iterations that it is in.
#[derive(Default)]
pub(crate) struct Names {
    names: FxHashMap<(Named, Vec<u32>), Name>,
}

impl Names {
    /// The name of something in the context of a state.
    pub(crate) fn name(&mut self, named: Named, state: &State) -> Name {
        let calls = state.calls.iter().map(|call| call.index() as u32);
        // Calls and marks are told apart by what is between them.
        let context = calls.chain([u32::MAX]).chain(state.marks.iter().map(|mark| mark.index() as u32)).collect();
        let next = self.names.len() as Name;
        *self.names.entry((named, context)).or_insert(next)
    }
}
