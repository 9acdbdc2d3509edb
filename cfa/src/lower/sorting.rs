// SPDX-License-Identifier: Apache-2.0
//! `qsort` and `bsearch`. C leaves open which elements are compared, in which order and how often, so nothing is said of
//! programs whose comparison does something that others see: writes, prints, ends the execution, reaches an error.

use crate::ast::{ExprRef, Range};
use crate::ids::{FuncId, NodeId};
use crate::ir::{HavocOrigin, IntTy, Op};
use crate::library::called_name;
use crate::types::Type;

use super::unsequenced::Known;
use super::{Lower, Val};

/// Such functions.
const SORTING: [&str; 6] = ["qsort", "bsearch", "__qsort_1", "__qsort_2", "__qsort_4", "__qsort_8"];

impl<'a> Lower<'a> {
    /// A call of a function of the library that sorts or searches; none for other functions. Elements with the size of an integer are
    /// moved as such.
    pub(super) fn sorting(&mut self, func: FuncId, args: &'a [ExprRef], range: Range) -> Option<Val> {
        let name = self.funcs[func.index()].name.clone();
        if self.library_function(&name) != Some(func) || !SORTING.contains(&&*name) || self.file >= self.library {
            return None;
        }
        let size = if &*name == "qsort" { args.get(2).and_then(|size| self.constant_value(*size)) } else { None };
        let special = size.and_then(|size| self.library_function(&format!("__qsort_{size}")));
        let params = self.signatures[func.index()].params.clone();
        let mut values = self.arguments(args, &params, range);
        let called = special.filter(|_| values.len() == 4).unwrap_or(func);
        if called != func {
            values.remove(2);
        }
        self.sorts.insert(called);
        Some(self.call_values(called, values, range))
    }

    /// What a function that sorts or searches does with elements that compare equal: a truth value.
    pub(super) fn choice_of_sorting(&mut self, range: Range) -> Val {
        let var = self.temporary(IntTy { bits: 8, signed: false });
        let what = format!("choice of '{}' between equal elements", called_name(&self.cx.name));
        self.emit(Op::Havoc { var, origin: HavocOrigin::Unmodelled { what: what.into() } }, range);
        self.truth_of(var, Type::Bool)
    }

    /// Makes the calls unsupported whose comparisons do more than compare.
    pub(super) fn refuse_comparisons(&mut self, known: &mut Known<'_>) {
        for func in std::mem::take(&mut self.sorts) {
            let calls = |op: &Op| matches!(op, Op::Call { callee, .. } if *callee == func);
            let compared: Vec<FuncId> = (self.graph.edges.iter())
                .filter(|edge| self.graph.func(edge.src) == func)
                .filter_map(|edge| match edge.op {
                    Op::Call { callee, .. } => Some(callee),
                    _ => None,
                })
                .collect();
            if compared.into_iter().all(|compare| self.only_compares(compare, known)) {
                continue;
            }
            let places: Vec<usize> =
                (0..self.graph.edges.len()).filter(|at| calls(&self.graph.edges[*at].op)).collect();
            for at in places {
                let (src, span) = (self.graph.edges[at].src, self.graph.edges[at].span);
                let next = self.graph.node(self.graph.func(src), false);
                self.graph.edges[at].src = next;
                let name = called_name(&self.funcs[func.index()].name);
                let what = format!("'{name}' with a comparison that does more than compare");
                self.graph.edge(src, next, Op::Unsupported { construct: what.into() }, span);
            }
        }
    }

    fn only_compares(&self, compare: FuncId, known: &mut Known<'_>) -> bool {
        let (pure, functions) = self.is_pure(compare, known);
        let inside = |node: NodeId| functions.contains(&self.graph.func(node));
        let has_body = |name: &str| self.funcs.iter().any(|func| *func.name == *name && func.body.is_some());
        let calls_others = || {
            let of_library =
                |node: NodeId| self.funcs[self.graph.func(node).index()].span.file as usize >= self.library;
            let input = |name: &str, node| name.starts_with("__VERIFIER_nondet") && of_library(node);
            let mut sites = self.calls.iter().filter(|(name, node, _)| inside(*node) && !input(name, *node));
            sites.any(|(name, ..)| !has_body(name) || self.links.is_ending(name))
        };
        let unsupported =
            || self.graph.edges.iter().any(|edge| matches!(edge.op, Op::Unsupported { .. }) && inside(edge.src));
        pure && !calls_others() && !self.labels.iter().any(|(_, node)| inside(*node)) && !unsupported()
    }
}
