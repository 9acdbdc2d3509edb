// SPDX-License-Identifier: Apache-2.0
//! Pointers: their second face as opaque values, and which of them matter.
//!
//! Only pointers that are compared, tested or converted to integers matter. All others go away, and with them the edges
//! that say that their values are not supported: a program may hand around addresses and strings that it never looks at.
//! The rule is that of slicing (Weiser, *Program Slicing*), restricted to pointers and without regard to the order of
//! statements: a pointer matters if some edge that control flow can reach reads it, other than to copy it into a pointer
//! that does not matter.

use rustc_hash::FxHashMap;

use crate::ids::{ExprId, FuncId, VarId};
use crate::ir::{ExprKind, Op, Scope as VarScope};
use crate::types::Type;

use super::{Lower, Val};
use crate::ast::Range;

impl Lower<'_> {
    /// The value as operators see it that give a pointer another meaning than that of an integer.
    pub(super) fn demoted(&self, value: Val) -> Val {
        match value {
            Val::Int(expr, ty @ Type::Pointer(_)) => {
                let why = match self.exprs.get(expr).kind {
                    ExprKind::Var(var) => self.pointer_name(var),
                    ExprKind::Const(0) => "null pointer".to_owned(),
                    _ => "pointer".to_owned(),
                };
                Val::Opaque(ty, why.into())
            }
            value => value,
        }
    }

    /// What a pointer is called in a message.
    pub(super) fn pointer_name(&self, var: VarId) -> String {
        let var = &self.vars[var.index()];
        if var.temporary {
            return "pointer".to_owned();
        }
        let local = var.name.rsplit("::").next().unwrap_or(&var.name);
        format!("pointer '{}'", local.split('#').next().unwrap_or(local))
    }

    /// A pointer with a value that is not supported, which is an error only if somebody looks at it.
    pub(super) fn opaque_pointer(&mut self, why: &str, ty: &Type, range: Range) -> ExprId {
        let var = self.typed_temporary(ty);
        self.deferred.push((self.graph.edges.len(), var));
        self.unsupported(why, range);
        self.exprs.var(var, self.machine.size_type())
    }

    /// Takes away the pointers that do not matter; says for each variable whether it does. What cannot be reached from
    /// the entry matters only to the variables of its own functions.
    pub(super) fn prune_pointers(&mut self, main: FuncId) -> Vec<bool> {
        let mut flow = Flow { needed: self.pointers.iter().map(|pointer| !pointer).collect(), ..Flow::default() };
        if !self.pointers.contains(&true) {
            return flow.needed;
        }
        let (live_edges, live_funcs) = self.live(main);
        for init in &self.inits {
            self.flow(&init.op, &mut flow);
        }
        for (edge, live) in self.graph.edges.iter().zip(&live_edges) {
            if *live {
                self.flow(&edge.op, &mut flow);
            }
        }
        flow.close();
        // Code that is never run must not make more of the rest matter.
        let mut dead = Flow { needed: flow.needed.clone(), ..Flow::default() };
        for edge in &self.graph.edges {
            if !live_funcs[self.graph.func(edge.src).index()] {
                self.flow(&edge.op, &mut dead);
            }
        }
        let of_live = |var: VarId| match self.vars[var.index()].scope {
            VarScope::Global => true,
            VarScope::Local(func) => live_funcs[func.index()],
        };
        dead.todo.retain(|var| !of_live(*var));
        for sources in dead.copies.values_mut() {
            sources.retain(|var| !of_live(*var));
        }
        dead.close();
        let needed: Vec<bool> = (0..self.vars.len())
            .map(|var| flow.needed[var] || (dead.needed[var] && !of_live(VarId::new(var))))
            .collect();
        self.prune(&needed);
        needed
    }

    /// The edges and functions that control flow can reach.
    fn live(&self, main: FuncId) -> (Vec<bool>, Vec<bool>) {
        let leaving = self.graph.leaving();
        let mut edges = vec![false; self.graph.edges.len()];
        let mut funcs = vec![false; self.funcs.len()];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = Vec::new();
        let mut entered = vec![main];
        loop {
            while let Some(func) = entered.pop() {
                if !std::mem::replace(&mut funcs[func.index()], true) {
                    todo.extend(self.funcs[func.index()].body.map(|body| body.entry));
                }
            }
            let Some(node) = todo.pop() else { return (edges, funcs) };
            if !seen.insert(node) {
                continue;
            }
            for &at in leaving.of(node.index()) {
                let edge = &self.graph.edges[at as usize];
                edges[at as usize] = true;
                todo.push(edge.dst);
                if let Op::Call { callee, .. } = &edge.op {
                    entered.push(*callee);
                }
            }
        }
    }

    /// What an operation reads.
    fn flow(&self, op: &Op, flow: &mut Flow) {
        match op {
            Op::Skip | Op::Havoc { .. } | Op::Unsupported { .. } => {}
            Op::Assume { cond, .. } => flow.read(self.pointers_of(*cond)),
            Op::Assign { var, value } => flow.copy(*var, self.pointers_of(*value)),
            Op::Call { callee, args, result } => {
                let callee = &self.funcs[callee.index()];
                for (param, arg) in callee.params.iter().zip(args) {
                    flow.copy(*param, self.pointers_of(*arg));
                }
                if let (Some(result), Some(ret)) = (result, callee.ret) {
                    flow.copy(*result, vec![ret]);
                }
            }
            Op::Load { addr, .. } | Op::Free { addr } => flow.read(self.pointers_of(*addr)),
            Op::Store { addr: a, value: b, .. } | Op::Zero { addr: a, size: b, .. } => {
                flow.read(self.pointers_of(*a));
                flow.read(self.pointers_of(*b));
            }
            Op::Alloc { size, .. } => flow.read(self.pointers_of(*size)),
        }
    }

    fn pointers_of(&self, expr: ExprId) -> Vec<VarId> {
        let mut vars = self.exprs.vars(expr);
        vars.retain(|var| self.pointers[var.index()]);
        vars
    }

    /// Takes the variables that are not needed out of the functions and operations.
    fn prune(&mut self, needed: &[bool]) {
        let needed = |var: VarId| needed[var.index()];
        for edge in &mut self.graph.edges {
            match &mut edge.op {
                Op::Assign { var, .. } | Op::Havoc { var, .. } if !needed(*var) => edge.op = Op::Skip,
                Op::Call { callee, args, result } => {
                    let callee = &self.funcs[callee.index()];
                    let mut params = callee.params.iter();
                    args.retain(|_| params.next().is_some_and(|param| needed(*param)));
                    *result = result.filter(|var| needed(*var) && callee.ret.is_some_and(needed));
                }
                Op::Assign { .. } | Op::Havoc { .. } | Op::Skip | Op::Assume { .. } | Op::Unsupported { .. } => {}
                Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. } => {}
            }
        }
        for (edge, var) in std::mem::take(&mut self.deferred) {
            if !needed(var) {
                self.graph.edges[edge].op = Op::Skip;
            }
        }
        for function in &mut self.funcs {
            function.params.retain(|var| needed(*var));
            function.ret = function.ret.filter(|var| needed(*var));
        }
    }
}

/// Which variables are needed for which others.
#[derive(Default)]
struct Flow {
    needed: Vec<bool>,
    /// Needed variables, or such that are to become so.
    todo: Vec<VarId>,
    /// The sources of pointers that are not needed so far.
    copies: FxHashMap<VarId, Vec<VarId>>,
}

impl Flow {
    fn read(&mut self, sources: Vec<VarId>) {
        self.todo.extend(sources);
    }

    fn copy(&mut self, to: VarId, sources: Vec<VarId>) {
        if self.needed[to.index()] {
            self.read(sources);
        } else if !sources.is_empty() {
            self.copies.entry(to).or_default().extend(sources);
        }
    }

    fn close(&mut self) {
        while let Some(var) = self.todo.pop() {
            if !std::mem::replace(&mut self.needed[var.index()], true) {
                self.todo.extend(self.copies.remove(&var).unwrap_or_default());
            }
        }
    }
}
