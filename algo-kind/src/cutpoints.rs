// SPDX-License-Identifier: Apache-2.0
//! The cut points of a program: its loop heads, each in every context of calls in which it is executed.
//!
//! Every execution is a sequence of segments without loops between visits of cut points. Without recursion there are
//! finitely many contexts; where there are too many, k-induction is not applicable.

use std::collections::BTreeSet;

use cfa::Program;
use cfa::ids::{EdgeId, FuncId, NodeId};
use cfa::ir::Op;
use rustc_hash::FxHashMap;

/// The greatest number of contexts.
const MAX_CONTEXTS: usize = 5000;
/// The greatest number of cut points.
const MAX_CUTPOINTS: usize = 300;

/// A loop head below calls.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Cutpoint {
    /// The calls, the outermost first.
    pub calls: Vec<EdgeId>,
    /// The loop head.
    pub head: NodeId,
}

/// A function in a context of calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Context {
    /// The calls, the outermost first.
    pub(crate) calls: Vec<EdgeId>,
    /// The function.
    pub(crate) func: FuncId,
    /// The context of the innermost call.
    pub(crate) parent: Option<usize>,
    /// For the calls in the function the contexts they lead to.
    pub(crate) children: FxHashMap<EdgeId, usize>,
}

/// All cut points of a program.
#[derive(Clone, Debug, Default)]
pub struct Cutpoints {
    pub(crate) contexts: Vec<Context>,
    pub(crate) relevant: BTreeSet<NodeId>,
    points: Vec<Cutpoint>,
    numbers: FxHashMap<Cutpoint, usize>,
}

impl Cutpoints {
    /// The loop heads from which control flow leads to a target, in all contexts; fails with the reason if there are
    /// infinitely or too many.
    pub fn find(program: &Program, targets: &BTreeSet<NodeId>) -> Result<Self, String> {
        let relevant = program.leading_to(targets);
        let mut calls_of: FxHashMap<FuncId, Vec<EdgeId>> = FxHashMap::default();
        for id in program.edge_ids() {
            let edge = program.edge(id);
            if matches!(edge.op, Op::Call { .. }) && relevant.contains(&edge.src) {
                calls_of.entry(program.node(edge.src).func).or_default().push(id);
            }
        }
        let mut heads_of: FxHashMap<FuncId, Vec<NodeId>> = FxHashMap::default();
        for head in program.loops.heads.iter().filter(|head| relevant.contains(head)) {
            heads_of.entry(program.node(*head).func).or_default().push(*head);
        }
        let mut found = Cutpoints::default();
        let root = program.node(program.entry).func;
        found.contexts.push(Context { calls: Vec::new(), func: root, parent: None, children: FxHashMap::default() });
        let mut next = 0;
        while next < found.contexts.len() {
            let Context { calls, func, .. } = found.contexts[next].clone();
            for &head in heads_of.get(&func).into_iter().flatten() {
                found.add(Cutpoint { calls: calls.clone(), head });
            }
            for &call in calls_of.get(&func).into_iter().flatten() {
                let Op::Call { callee, .. } = program.edge(call).op else { continue };
                if found.is_active(next, callee) {
                    return Err(format!("recursion of '{}' has no step case", program.func(callee).name));
                }
                let child = found.contexts.len();
                if child >= MAX_CONTEXTS {
                    return Err("there are too many contexts of calls for the step case".to_string());
                }
                found.contexts[next].children.insert(call, child);
                let calls = calls.iter().copied().chain([call]).collect();
                found.contexts.push(Context {
                    calls,
                    func: callee,
                    parent: Some(next),
                    children: FxHashMap::default(),
                });
            }
            next += 1;
        }
        if found.points.len() > MAX_CUTPOINTS {
            return Err("there are too many loops for the step case".to_string());
        }
        found.relevant = relevant;
        Ok(found)
    }

    /// Whether a function is active in a context.
    fn is_active(&self, context: usize, func: FuncId) -> bool {
        let contexts = std::iter::successors(Some(context), |&at| self.contexts[at].parent);
        contexts.into_iter().any(|at| self.contexts[at].func == func)
    }

    fn add(&mut self, point: Cutpoint) {
        self.numbers.insert(point.clone(), self.points.len());
        self.points.push(point);
    }

    /// All cut points.
    pub fn points(&self) -> &[Cutpoint] {
        &self.points
    }

    /// The number of a cut point.
    pub fn number(&self, calls: Vec<EdgeId>, head: NodeId) -> Option<usize> {
        self.numbers.get(&Cutpoint { calls, head }).copied()
    }
}
