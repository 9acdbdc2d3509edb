// SPDX-License-Identifier: Apache-2.0
//! Steps: how an analysis moves along the control-flow automata.
//!
//! A call is one edge of the automaton; the two moves into the callee and back are steps of their own (Wendler, section
//! 2.1, leaves calls out; this is the usual interprocedural reading).

use std::fmt;

use cfa::ids::{EdgeId, NodeId};
use cfa::ir::Op;
use cfa::machine::Move;

use cfa::Program;

/// One move of an analysis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// Along an edge with any operation but a call.
    Edge(EdgeId),
    /// From the call site of a call edge to the entry of the callee; the parameters take the values of the arguments.
    Enter(EdgeId),
    /// From the exit of the callee to the return site of a call edge; the result variable takes the returned value.
    Leave(EdgeId),
}

impl From<Move> for Step {
    /// The step that the concrete machine took.
    fn from(taken: Move) -> Step {
        match taken {
            Move::Edge(edge) => Step::Edge(edge),
            Move::Enter(edge) => Step::Enter(edge),
            Move::Leave(edge) => Step::Leave(edge),
        }
    }
}

impl Step {
    /// The edge that is taken, entered or left.
    pub fn edge(self) -> EdgeId {
        match self {
            Step::Edge(edge) | Step::Enter(edge) | Step::Leave(edge) => edge,
        }
    }

    /// The location where the step begins.
    pub fn source(self, program: &Program) -> NodeId {
        match self {
            Step::Edge(edge) | Step::Enter(edge) => program.edges[edge.index()].src,
            Step::Leave(edge) => callee_body(program, edge).exit,
        }
    }

    /// The location where the step ends.
    pub fn destination(self, program: &Program) -> NodeId {
        match self {
            Step::Edge(edge) | Step::Leave(edge) => program.edges[edge.index()].dst,
            Step::Enter(edge) => callee_body(program, edge).entry,
        }
    }
}

fn callee_body(program: &Program, edge: EdgeId) -> cfa::ir::Body {
    match &program.edges[edge.index()].op {
        Op::Call { callee, .. } => {
            program.funcs[callee.index()].body.expect("the CFA verifier guarantees that a called function has a body")
        }
        other => panic!("Enter and Leave are only made for call edges, but {edge} is {other:?}"),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Edge(edge) => write!(f, "{edge}"),
            Step::Enter(edge) => write!(f, "enter {edge}"),
            Step::Leave(edge) => write!(f, "leave {edge}"),
        }
    }
}
