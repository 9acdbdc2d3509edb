// SPDX-License-Identifier: Apache-2.0
//! The function that is being lowered: its labels, loops, switches, and the objects that are alive.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::{LabelName, Range};
use crate::ids::{ExprId, FuncId, NodeId, VarId};
use crate::types::Type;

use super::object::Birth;

pub(super) struct Label {
    pub(super) node: NodeId,
    /// The variables alive at the label, once it is defined.
    pub(super) defined: Option<Alive>,
}

/// The local variables that are alive: position in [`Cx::declarations`], 0 for none.
pub(super) type Alive = u32;

#[derive(Default)]
pub(super) struct Switch {
    /// The constants, or the ends of ranges.
    pub(super) cases: Vec<(ExprId, Option<ExprId>, NodeId, Range, Alive)>,
    pub(super) default: Option<(NodeId, Alive)>,
    pub(super) ty: Option<Type>,
    pub(super) unsupported: bool,
}

/// The function that is being lowered.
pub(super) struct Cx<'a> {
    pub(super) func: FuncId,
    /// Where its definition starts in the file.
    pub(super) start: u32,
    pub(super) name: Arc<str>,
    pub(super) ret: Type,
    pub(super) ret_var: Option<VarId>,
    /// The hidden parameter for variable arguments, if they can be read.
    pub(super) arguments: Option<VarId>,
    pub(super) exit: NodeId,
    pub(super) labels: FxHashMap<LabelName<'a>, Label>,
    pub(super) breaks: Vec<NodeId>,
    pub(super) continues: Vec<NodeId>,
    pub(super) switches: Vec<Switch>,
    pub(super) temporaries: u32,
    /// A tree of declarations: the one before in the same or an outer block, the depth, and how the object is born.
    pub(super) declarations: Vec<(Alive, u32, Rc<Birth>)>,
    pub(super) alive: Alive,
    /// Jumps to labels: from where, whereto, with which variables alive.
    pub(super) gotos: Vec<(NodeId, LabelName<'a>, Alive, Range)>,
    /// The labels whose addresses are taken, with the addresses.
    pub(super) label_addresses: Vec<(LabelName<'a>, ExprId)>,
    /// Jumps to values: from where, to what, with which variables alive.
    pub(super) computed_gotos: Vec<(NodeId, ExprId, Alive, Range)>,
}

impl Cx<'_> {
    pub(super) fn new(func: FuncId, name: Arc<str>, ret: Type, ret_var: Option<VarId>, exit: NodeId) -> Self {
        Cx {
            func,
            start: 0,
            name,
            ret,
            ret_var,
            arguments: None,
            exit,
            labels: FxHashMap::default(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            temporaries: 0,
            declarations: vec![(0, 0, Birth::Nothing.into())],
            alive: 0,
            gotos: Vec::new(),
            label_addresses: Vec::new(),
            computed_gotos: Vec::new(),
        }
    }

    /// One more object is alive.
    pub(super) fn declared(&mut self, birth: Birth) -> Alive {
        let depth = self.declarations[self.alive as usize].1 + 1;
        self.declarations.push((self.alive, depth, birth.into()));
        u32::try_from(self.declarations.len() - 1).expect("fewer declarations than bytes")
    }

    /// The objects that come to life by a jump without their declaration being reached.
    pub(super) fn bypassed(&self, mut from: Alive, mut to: Alive) -> Vec<Rc<Birth>> {
        let mut found = Vec::new();
        while from != to {
            let ((from_up, from_depth, _), (to_up, to_depth, birth)) =
                (&self.declarations[from as usize], &self.declarations[to as usize]);
            if from_depth > to_depth {
                from = *from_up;
            } else {
                found.push(birth.clone());
                to = *to_up;
            }
        }
        found
    }
}
