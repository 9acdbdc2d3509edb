// SPDX-License-Identifier: Apache-2.0
//! Functions that call themselves only as the last thing they do become loops: the parameters take the values of the
//! arguments, and the body begins again.
//!
//! What a call sees of its own activation is its parameters, and locals, which each declaration fills; when the inner call
//! is done the outer one only passes on what that returned. So one set of variables serves all activations, unless
//! somebody can hold the address of a local: functions with objects in memory stay as they are. So do those whose arguments
//! may overflow: that a number wraps around after 2^32 calls is no reason for a verdict. And so do those that compute with
//! integers in variables only: what relates the results of calls to their arguments is easier to find than what holds in
//! all rounds of a loop.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::ids::{ExprId, FuncId, NodeId, VarId};
use crate::ir::{AllocKind, BinOp, Body, ExprKind, Op, Scope as VarScope, Span, UnOp};

use super::Lower;
use super::graph::Adjacency;

impl Lower<'_> {
    /// Makes loops of functions other than `main` that call themselves at their end only.
    pub(super) fn tail_calls(&mut self, main: FuncId) {
        // The text of a loop, which is all that is known of a loop statement there, would not be all of the loop.
        if self.sites.wanted() {
            return;
        }
        let mut own_calls: BTreeMap<FuncId, Vec<usize>> = BTreeMap::new();
        let mut in_memory: FxHashSet<FuncId> = FxHashSet::default();
        let mut beyond_integers: FxHashSet<FuncId> = FxHashSet::default();
        for (at, edge) in self.graph.edges.iter().enumerate() {
            let func = self.graph.func(edge.src);
            match edge.op {
                Op::Call { callee, .. } if callee == func && func != main => {
                    own_calls.entry(func).or_default().push(at)
                }
                Op::Alloc { kind: AllocKind::Stack | AllocKind::VariableLength, .. } => {
                    in_memory.insert(func);
                }
                Op::Load { .. } | Op::Store { .. } => {
                    beyond_integers.insert(func);
                }
                Op::Assign { var, .. } if self.vars[var.index()].float.is_some() => {
                    beyond_integers.insert(func);
                }
                _ => {}
            }
        }
        own_calls.retain(|func, _| beyond_integers.contains(func) && !in_memory.contains(func));
        if own_calls.is_empty() {
            return;
        }
        let leaving = self.graph.leaving();
        for (func, calls) in own_calls {
            let body = self.funcs[func.index()].body.expect("it calls itself");
            if !calls.iter().all(|at| self.is_last(func, body, *at, &leaving)) {
                continue;
            }
            let start = self.graph.node(func, true);
            for &at in leaving.of(body.entry.index()) {
                self.graph.edges[at as usize].src = start;
            }
            self.graph.edge(body.entry, start, Op::Skip, self.funcs[func.index()].span);
            for at in calls {
                self.again(func, at, start);
            }
        }
    }

    /// Whether nothing happens after a call but that its result is returned.
    fn is_last(&self, func: FuncId, body: Body, call: usize, leaving: &Adjacency) -> bool {
        let edge = &self.graph.edges[call];
        let Op::Call { args, result, .. } = &edge.op else { return false };
        if args.len() != self.funcs[func.index()].params.len() || args.iter().any(|arg| self.may_overflow(*arg)) {
            return false;
        }
        // The variables that have the value that the call returned.
        let mut same: FxHashSet<VarId> = result.iter().copied().collect();
        let mut node = edge.dst;
        let mut passed: FxHashSet<NodeId> = FxHashSet::default();
        while node != body.exit {
            let [at] = leaving.of(node.index()) else { return false };
            let edge = &self.graph.edges[*at as usize];
            match edge.op {
                Op::Skip => {}
                Op::Assign { var, value } if self.vars[var.index()].scope == VarScope::Local(func) => {
                    match self.exprs.get(value).kind {
                        ExprKind::Var(from) if same.contains(&from) => same.insert(var),
                        _ => return false,
                    };
                }
                _ => return false,
            }
            if !passed.insert(node) {
                return false;
            }
            node = edge.dst;
        }
        self.funcs[func.index()].ret.is_none_or(|var| same.contains(&var))
    }

    /// Whether signed numbers are computed.
    fn may_overflow(&self, value: ExprId) -> bool {
        let computes = match self.exprs.get(value).kind {
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Shl, ..)
            | ExprKind::Unary(UnOp::Neg, _) => self.exprs.ty(value).signed,
            _ => false,
        };
        computes || self.exprs.operands(value).any(|operand| self.may_overflow(operand))
    }

    /// Replaces a call by a jump to the start of the body.
    fn again(&mut self, func: FuncId, call: usize, start: NodeId) {
        let mut end = self.graph.node(func, false);
        let edge = &mut self.graph.edges[call];
        let Op::Call { args, .. } = std::mem::replace(&mut edge.op, Op::Skip) else { unreachable!("it is a call") };
        edge.dst = end;
        let span = edge.span;
        let params = self.funcs[func.index()].params.clone();
        let own = |value: ExprId, var: VarId| self.exprs.get(value).kind == ExprKind::Var(var);
        let mut changed: Vec<(VarId, ExprId)> =
            params.into_iter().zip(args).filter(|(var, value)| !own(*value, *var)).collect();
        // All arguments are evaluated before a parameter changes.
        let reads_changed = |value: ExprId, before: &[(VarId, ExprId)]| {
            let vars = self.exprs.vars(value);
            before.iter().any(|(var, _)| vars.contains(var))
        };
        let saved: Vec<usize> = (0..changed.len()).filter(|&at| reads_changed(changed[at].1, &changed[..at])).collect();
        for at in saved {
            let (param, value) = changed[at];
            let ty = self.vars[param.index()].ty;
            let name = format!("{}::__arg", self.funcs[func.index()].name);
            let var = self.new_var(&name, ty, VarScope::Local(func), true);
            self.vars[var.index()].float = self.vars[param.index()].float;
            end = self.assigned(func, end, var, value, span);
            changed[at].1 = self.exprs.var(var, ty);
        }
        for (var, value) in changed {
            end = self.assigned(func, end, var, value, span);
        }
        self.graph.edge(end, start, Op::Skip, span);
    }

    /// An assignment behind a node; returns where it ends.
    fn assigned(&mut self, func: FuncId, src: NodeId, var: VarId, value: ExprId, span: Span) -> NodeId {
        let next = self.graph.node(func, false);
        self.graph.edge(src, next, Op::Assign { var, value }, span);
        next
    }
}
