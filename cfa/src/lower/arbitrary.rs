// SPDX-License-Identifier: Apache-2.0
//! Arbitrary values in place of those that are not modelled, put into the finished graph: a proof covers all of them, and a
//! counterexample cannot rest on one.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ExprId, FuncId, NodeId, VarId};
use crate::ir::{HavocOrigin, IntTy, Op, Scope as VarScope};

use super::Lower;

/// What the operations at one node get.
pub(super) struct Arbitrary {
    func: FuncId,
    /// What has become of expressions, also in which of two ways.
    pub(super) rewritten: FxHashMap<(ExprId, bool), ExprId>,
    /// The variables that take arbitrary values, with the origin of these.
    pub(super) made: Vec<(VarId, HavocOrigin)>,
}

impl Lower<'_> {
    /// Rewrites the operations at the edges that count; the arbitrary values that they ask for are taken in front of them.
    pub(super) fn put_arbitrary(
        &mut self,
        counts: &[bool],
        mut rewrite: impl FnMut(&mut Self, &mut Arbitrary, &mut Op),
    ) {
        let leaving = self.graph.leaving();
        let mut done: FxHashSet<NodeId> = FxHashSet::default();
        for (at, counts) in counts.iter().enumerate() {
            let (src, span) = (self.graph.edges[at].src, self.graph.edges[at].span);
            if !counts || done.contains(&src) {
                continue;
            }
            let func = self.graph.func(src);
            let mut arbitrary = Arbitrary { func, rewritten: FxHashMap::default(), made: Vec::new() };
            // Two branches keep one condition.
            for &edge in leaving.of(src.index()) {
                let mut op = std::mem::replace(&mut self.graph.edges[edge as usize].op, Op::Skip);
                rewrite(self, &mut arbitrary, &mut op);
                self.graph.edges[edge as usize].op = op;
            }
            let mut end = src;
            for (var, origin) in arbitrary.made {
                let next = self.graph.node(func, false);
                self.sites.continued(at, self.graph.edges.len());
                self.graph.edge(end, next, Op::Havoc { var, origin }, span);
                end = next;
            }
            for &edge in leaving.of(src.index()) {
                self.graph.edges[edge as usize].src = end;
            }
            done.extend([src, end]);
        }
    }

    /// An arbitrary value for an operation at the node, in a variable of the given name.
    pub(super) fn arbitrary_value(
        &mut self,
        arbitrary: &mut Arbitrary,
        name: &str,
        ty: IntTy,
        origin: HavocOrigin,
    ) -> ExprId {
        let name = format!("{}::{name}", self.funcs[arbitrary.func.index()].name);
        let var = self.new_var(&name, ty, VarScope::Local(arbitrary.func), true);
        arbitrary.made.push((var, origin));
        self.exprs.var(var, ty)
    }
}
