// SPDX-License-Identifier: Apache-2.0
//! What a proof knows about locations, in terms of the program: the evidence behind TRUE.

use std::collections::BTreeMap;

use cfa::{ExprId, Exprs, NodeId, VarId};

/// Above so many cases at a location only what they have in common is kept.
const MAX_CASES: usize = 64;

/// Invariants of locations. At each location that has cases, one of them holds whenever control is there: all its
/// expressions are non-zero. Nothing is said about locations without cases.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    /// The expressions; they do not read memory.
    pub exprs: Exprs,
    cases: BTreeMap<NodeId, Vec<Vec<ExprId>>>,
}

impl Invariants {
    /// Invariants that say nothing.
    pub fn new() -> Self {
        Self { exprs: Exprs::new(), cases: BTreeMap::new() }
    }

    /// Adds a case at a location: there are executions of which no more is known there than these expressions. What is said
    /// of a location holds only when all its cases were added.
    pub fn add_case(&mut self, node: NodeId, mut conjuncts: Vec<ExprId>) {
        conjuncts.sort_unstable();
        conjuncts.dedup();
        let cases = self.cases.entry(node).or_default();
        if cases.iter().any(|case| case.iter().all(|conjunct| conjuncts.contains(conjunct))) {
            return;
        }
        cases.retain(|case| !conjuncts.iter().all(|conjunct| case.contains(conjunct)));
        cases.push(conjuncts);
        if cases.len() > MAX_CASES {
            let (first, others) = cases.split_first().expect("there are cases");
            let common = |conjunct: &ExprId| others.iter().all(|case| case.contains(conjunct));
            *cases = vec![first.iter().copied().filter(common).collect()];
        }
    }

    /// What is said of some variables, which may differ between locations, and of them alone.
    pub fn about(&self, vars: impl Fn(NodeId, VarId) -> bool) -> Self {
        let mut about = Self { exprs: self.exprs.clone(), cases: BTreeMap::new() };
        for (&node, cases) in &self.cases {
            for case in cases {
                let is_about = |conjunct: &ExprId| self.exprs.vars(*conjunct).into_iter().all(|var| vars(node, var));
                about.add_case(node, case.iter().copied().filter(is_about).collect());
            }
        }
        about
    }

    /// The locations about which something is said.
    pub fn locations(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.cases.iter().filter(|(_, cases)| cases.iter().all(|case| !case.is_empty())).map(|(node, _)| *node)
    }

    /// The cases at a location, as conjunctions.
    pub fn at(&self, node: NodeId) -> &[Vec<ExprId>] {
        self.cases.get(&node).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use cfa::IntTy;

    use super::*;

    #[test]
    fn cases_are_only_weakened() {
        let mut invariants = Invariants::new();
        let mut is = |value| {
            let x = invariants.exprs.var(VarId::new(0), IntTy::INT);
            let value = invariants.exprs.constant(IntTy::INT, value);
            invariants.exprs.cmp(cfa::CmpOp::Ne, x, value)
        };
        let facts: Vec<ExprId> = (0..200).map(&mut is).collect();
        let node = NodeId::new(3);
        invariants.add_case(node, vec![facts[0], facts[1], facts[2]]);
        // Less is known in this case, so it contains the first one.
        invariants.add_case(node, vec![facts[1]]);
        invariants.add_case(node, vec![facts[1], facts[5]]);
        assert_eq!(invariants.at(node), [vec![facts[1]]]);
        let node = NodeId::new(4);
        (10..150).for_each(|at| invariants.add_case(node, vec![facts[0], facts[at]]));
        assert_eq!(invariants.at(node), [vec![facts[0]]]);
        invariants.add_case(node, Vec::new());
        assert_eq!(invariants.locations().collect::<Vec<_>>(), [NodeId::new(3)]);
    }

    #[test]
    fn what_is_said_of_some_variables() {
        let mut invariants = Invariants::new();
        let mut is_not = |var, value| {
            let x = invariants.exprs.var(VarId::new(var), IntTy::INT);
            let value = invariants.exprs.constant(IntTy::INT, value);
            invariants.exprs.cmp(cfa::CmpOp::Ne, x, value)
        };
        let (x1, x2, y1) = (is_not(0, 1), is_not(0, 2), is_not(1, 1));
        invariants.add_case(NodeId::new(3), vec![x1, y1]);
        invariants.add_case(NodeId::new(3), vec![x2]);
        invariants.add_case(NodeId::new(4), vec![x1]);
        invariants.add_case(NodeId::new(4), vec![y1]);
        let about = invariants.about(|_, var| var == VarId::new(0));
        assert_eq!(about.at(NodeId::new(3)), [vec![x1], vec![x2]]);
        // One of the cases says nothing.
        assert_eq!(about.locations().collect::<Vec<_>>(), [NodeId::new(3)]);
    }
}
