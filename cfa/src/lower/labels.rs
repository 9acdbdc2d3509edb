// SPDX-License-Identifier: Apache-2.0
//! Labels and jumps to them, also to GNU's labels as values: a value that is compared with the addresses of all labels of
//! the function whose addresses are taken. A label has an address like a function.

use crate::ast::{ExprRef, LabelName, Range, StmtRef};
use crate::ids::NodeId;
use crate::ir::{CmpOp, Op, Scope as VarScope};
use crate::prepass::Refusal;
use crate::types::Type;

use super::{Label, Lower, Val};

impl<'a> Lower<'a> {
    /// A label in front of a statement that follows.
    pub(super) fn place_label(&mut self, name: LabelName<'a>, range: Range) -> Result<(), Refusal> {
        let node = self.label(name);
        let alive = self.cx.alive;
        let label = self.cx.labels.get_mut(&name).expect("just made");
        if label.defined.replace(alive).is_some() {
            return Err((range.0, format!("a second label '{}'", name.0), "rename one of them".into()));
        }
        self.flow_to(node, range);
        self.labels.push((name.0.into(), node));
        Ok(())
    }

    /// A label with its statement within an expression, for whose value the statement stands.
    pub(super) fn labeled_value(&mut self, name: LabelName<'a>, inner: StmtRef, range: Range) -> Val {
        if let Err((_, construct, _)) = self.place_label(name, range) {
            self.unsupported(construct, range);
        }
        self.last_statement(inner)
    }

    pub(super) fn label(&mut self, name: LabelName<'a>) -> NodeId {
        if let Some(label) = self.cx.labels.get(&name) {
            return label.node;
        }
        let node = self.graph.node(self.cx.func, true);
        self.cx.labels.insert(name, Label { node, defined: None });
        node
    }

    /// `&&label`.
    pub(super) fn label_address(&mut self, name: LabelName<'a>, range: Range) -> Val {
        let ty = Type::Pointer(Type::Void.into());
        if let Some((_, addr)) = self.cx.label_addresses.iter().find(|(other, _)| *other == name) {
            return Val::Int(*addr, ty);
        }
        let full = format!("{}::{}", self.cx.name, name.0);
        match self.object(full.into(), (0, 1), VarScope::Global, true) {
            Some(addr) if !self.at_file_scope() => {
                self.cx.label_addresses.push((name, addr));
                Val::Int(addr, ty)
            }
            _ => self.refused("the address of a label".into(), range),
        }
    }

    /// `goto *value;`
    pub(super) fn goto_value(&mut self, value: ExprRef, range: Range) {
        let pointer = Type::Pointer(Type::Void.into());
        let value = self.value(value);
        let value = self.convert_int(value, &pointer, range);
        let value = self.saved_as(value, &pointer, range);
        self.cx.computed_gotos.push((self.cur, value, self.cx.alive, range));
        self.cur = self.fresh();
    }

    /// The jumps of a function whose labels are all known.
    pub(super) fn finish_jumps(&mut self, exit: NodeId) {
        let mut gotos = std::mem::take(&mut self.cx.gotos);
        let addresses = std::mem::take(&mut self.cx.label_addresses);
        for (from, value, alive, range) in std::mem::take(&mut self.cx.computed_gotos) {
            let mut at = from;
            // Twice: what is behind the unsupported edge may be each label, so that it matters if one of them does.
            for again in [false, true] {
                for (name, addr) in &addresses {
                    let cond = self.exprs.cmp(CmpOp::Eq, value, *addr);
                    let (yes, no) = (self.fresh(), self.fresh());
                    self.cur = at;
                    self.assume(cond, yes, no, range);
                    gotos.push((yes, *name, alive, range));
                    at = no;
                }
                if !again {
                    let construct = "goto to a value that is no label of the function".into();
                    let behind = self.fresh();
                    self.edge(at, behind, Op::Unsupported { construct }, range);
                    at = behind;
                }
            }
            self.edge(at, exit, Op::Skip, range);
        }
        for (from, name, alive, range) in gotos {
            match self.cx.labels.get(&name) {
                Some(Label { node, defined: Some(at_label) }) => self.jump_into(from, *node, alive, *at_label, range),
                _ => {
                    let construct = format!("goto to the undefined label '{}'", name.0).into();
                    self.edge(from, exit, Op::Unsupported { construct }, range);
                }
            }
        }
    }
}
