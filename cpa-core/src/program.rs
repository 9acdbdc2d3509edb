// SPDX-License-Identifier: Apache-2.0
//! The part of a program that this crate needs, until `cfa::Program` exists.
use cfa::ids::NodeId;
use cfa::ir::{Edge, Function, Node};
/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Locations.
    pub nodes: Vec<Node>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Functions.
    pub funcs: Vec<Function>,
    /// Entry.
    pub entry: NodeId,
}
