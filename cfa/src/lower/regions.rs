// SPDX-License-Identifier: Apache-2.0
//! Puts the regions that the points-to analysis finds into the graph.

use crate::ids::{FuncId, NodeId, RegionId};
use crate::ir::{Op, Region};
use crate::memory::{Input, divide};

use super::Lower;

impl Lower<'_> {
    /// Divides memory into regions, and takes away stores that nobody can read.
    pub(super) fn divide_memory(&mut self, start: NodeId, main: FuncId) -> Vec<Region> {
        let touches = |op: &Op| {
            matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Zero { .. } | Op::Free { .. })
        };
        if !self.graph.edges.iter().any(|edge| touches(&edge.op)) {
            return Vec::new();
        }
        let live = self.live(start, main);
        let found = divide(&Input {
            exprs: &self.exprs,
            vars: &self.vars,
            funcs: &self.funcs,
            objects: &self.memory.objects,
            edges: &self.graph.edges,
            live: &live,
            start: &self.start_edges(start, main),
            pointer_bits: self.machine.long_bits(),
        });
        for (object, region) in self.memory.objects.iter_mut().zip(found.of_objects) {
            object.region = region;
        }
        for (at, regions) in found.of_edges {
            self.set_regions(at, &regions);
        }
        found.regions
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
    fn live(&self, start: NodeId, main: FuncId) -> Vec<bool> {
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
