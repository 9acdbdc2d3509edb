// SPDX-License-Identifier: Apache-2.0
//! Puts what the points-to analysis finds into the graph: regions, and arbitrary values in place of those that depend on
//! where objects lie.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ExprId, FuncId, NodeId, RegionId};
use crate::ir::{CmpOp, HavocOrigin, IntTy, Op, Region, Scope as VarScope};
use crate::memory::{Input, Open, divide};

use super::Lower;
use super::arbitrary::Arbitrary;

impl Lower<'_> {
    /// Divides memory into regions, and takes away stores that nobody can read.
    pub(super) fn divide_memory(&mut self, start: NodeId, main: FuncId) -> Vec<Region> {
        let touches = |op: &Op| {
            matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Zero { .. } | Op::Free { .. })
        };
        let touched = self.graph.edges.iter().any(|edge| touches(&edge.op));
        let live = self.live(start, main);
        if !touched && self.memory.objects.is_empty() {
            self.settle_open_order(&[], &FxHashSet::default(), &live);
            return Vec::new();
        }
        let found = divide(&Input {
            exprs: &self.exprs,
            vars: &self.vars,
            funcs: &self.funcs,
            objects: &self.memory.objects,
            aligns: &self.memory.aligns,
            edges: &self.graph.edges,
            live: &live,
            start: &self.start_edges(start, main),
            pointer_bits: self.machine.long_bits(),
            wants_fresh: !self.unsequenced.is_empty() || !self.sorts.is_empty(),
        });
        self.leave_open(&found.open, &live);
        if !touched {
            self.settle_open_order(&[], &found.fresh, &live);
            return Vec::new();
        }
        for (object, region) in self.memory.objects.iter_mut().zip(found.of_objects) {
            object.region = region;
        }
        for (at, regions) in found.of_edges {
            self.set_regions(at, &regions);
        }
        for at in found.foreign {
            self.doubt(at);
        }
        self.settle_open_order(&found.regions, &found.fresh, &live);
        found.regions
    }

    /// Puts an arbitrary value in the place of each part of an expression that depends on where objects lie: a proof covers all
    /// layouts then, and a counterexample cannot rest on one.
    fn leave_open(&mut self, open: &FxHashMap<ExprId, Open>, live: &[bool]) {
        if open.is_empty() {
            return;
        }
        // The order of addresses decides only the direction in which the library's functions copy.
        let library = self.library;
        let counts: Vec<bool> = (self.graph.edges.iter().zip(live))
            .map(|(edge, live)| *live && (edge.span.file as usize) < library)
            .collect();
        self.put_arbitrary(&counts, |lower, arbitrary, op| {
            for expr in op.operands_mut() {
                *expr = lower.opened(open, arbitrary, *expr);
            }
        });
    }

    /// The expression with fresh variables for the parts that are open.
    fn opened(&mut self, open: &FxHashMap<ExprId, Open>, arbitrary: &mut Arbitrary, id: ExprId) -> ExprId {
        if let Some(known) = arbitrary.rewritten.get(&(id, true)) {
            return *known;
        }
        let here = open.get(&id).copied();
        let expr = match here {
            Some(here) if here.part == id => self.arbitrary_part(arbitrary, here),
            _ => {
                let operands: Vec<ExprId> = self.exprs.operands(id).collect();
                let new: Vec<ExprId> = operands
                    .iter()
                    .map(|operand| match here {
                        Some(here) if here.part == *operand => self.arbitrary_part(arbitrary, here),
                        _ => self.opened(open, arbitrary, *operand),
                    })
                    .collect();
                if new == operands { id } else { self.exprs.with_operands(id, &new) }
            }
        };
        arbitrary.rewritten.insert((id, true), expr);
        expr
    }

    fn arbitrary_part(&mut self, arbitrary: &mut Arbitrary, open: Open) -> ExprId {
        let ty = self.exprs.ty(open.part);
        let origin = HavocOrigin::Unmodelled { what: Arc::from(open.what) };
        if !self.exprs.is_truth(open.part) {
            return self.arbitrary_value(arbitrary, "__layout", ty, origin);
        }
        let value = self.arbitrary_value(arbitrary, "__layout", IntTy { bits: 8, signed: false }, origin);
        if let Some((var, _)) = arbitrary.made.last() {
            self.vars[var.index()].truth = true;
        }
        self.exprs.truth(value)
    }

    /// Puts a branch on an arbitrary value, whose sides both go on, in front of an access: a proof covers it, and a counterexample
    /// does not pass it.
    fn doubt(&mut self, at: usize) {
        let (src, span) = (self.graph.edges[at].src, self.graph.edges[at].span);
        let func = self.graph.func(src);
        let ty = IntTy { bits: 8, signed: false };
        let name = format!("{}::__foreign", self.funcs[func.index()].name);
        let var = self.new_var(&name, ty, VarScope::Local(func), true);
        let (branch, access) = (self.graph.node(func, false), self.graph.node(func, false));
        let what = Arc::from("which object an address from outside belongs to");
        let (value, zero) = (self.exprs.var(var, ty), self.exprs.constant(ty, 0));
        let cond = self.exprs.cmp(CmpOp::Eq, value, zero);
        let havoc = Op::Havoc { var, origin: HavocOrigin::Unmodelled { what } };
        let assume = |truth| Op::Assume { cond, truth };
        for (from, to, op) in [(src, branch, havoc), (branch, access, assume(true)), (branch, access, assume(false))] {
            self.sites.continued(at, self.graph.edges.len());
            self.graph.edge(from, to, op, span);
        }
        self.graph.edges[at].src = access;
    }

    fn set_regions(&mut self, at: usize, regions: &[RegionId]) {
        let Some((first, rest)) = regions.split_first() else {
            self.graph.edges[at].op = Op::Skip;
            return;
        };
        let edge = &mut self.graph.edges[at];
        match &mut edge.op {
            Op::Load { region, .. } | Op::Store { region, .. } | Op::Alloc { region, .. } | Op::Zero { region, .. } => {
                *region = *first;
            }
            _ => unreachable!("only these have regions"),
        }
        // One operation for each further region of an object that is zeroed.
        let (op, span, end) = (edge.op.clone(), edge.span, edge.dst);
        let func = self.graph.func(end);
        let mut before = at;
        for next in rest {
            let middle = self.graph.node(func, false);
            self.graph.edges[before].dst = middle;
            let mut op = op.clone();
            if let Op::Zero { region, .. } = &mut op {
                *region = *next;
            }
            before = self.graph.edges.len();
            self.sites.continued(at, before);
            self.graph.edge(middle, end, op, span);
        }
    }

    /// The edges from the start of the program to the entry function.
    fn start_edges(&self, start: NodeId, main: FuncId) -> Vec<usize> {
        let entry = self.funcs[main.index()].body.map(|body| body.entry);
        let leaving = self.graph.leaving();
        let mut found = Vec::new();
        let mut node = start;
        while Some(node) != entry
            && let [edge] = leaving.of(node.index())
        {
            found.push(*edge as usize);
            node = self.graph.edges[*edge as usize].dst;
        }
        found
    }

    /// The edges that control flow can reach.
    pub(super) fn live(&self, start: NodeId, main: FuncId) -> Vec<bool> {
        let leaving = self.graph.leaving();
        let mut edges = vec![false; self.graph.edges.len()];
        let mut entered_funcs = vec![false; self.funcs.len()];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![start];
        let mut entered = vec![main];
        loop {
            while let Some(func) = entered.pop() {
                if !std::mem::replace(&mut entered_funcs[func.index()], true) {
                    todo.extend(self.funcs[func.index()].body.map(|body| body.entry));
                }
            }
            let Some(node) = todo.pop() else { return edges };
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
}
