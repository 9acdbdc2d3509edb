// SPDX-License-Identifier: Apache-2.0
//! From abstract states to invariants at the heads of loops.

use std::collections::{BTreeMap, BTreeSet};

use cfa::{CmpOp, ExprId, Exprs, NodeId, Program, VarId};
use cpa_core::{Arg, ArgId, Invariants};
use cpa_predicate::{Decoder, Manager, PredicateState};

/// Above so many valuations at a location variables are described one by one.
const MAX_VALUATIONS: usize = 12;
/// Above so many values a variable is described by its least and greatest one.
const MAX_VALUES: usize = 6;

/// The nodes of the graph at heads of loops. Covered ones add nothing.
pub(super) fn at_heads<'a>(program: &'a Program, arg: &'a Arg) -> impl Iterator<Item = (NodeId, ArgId)> + 'a {
    let places = arg.ids().map(|id| (arg.location(id), id));
    places.filter(|(node, id)| program.loops.heads.contains(node) && arg.covered_by(*id).is_none())
}

/// What an abstraction says; nothing inside of a block.
pub(super) fn of_predicates(manager: &mut Manager, state: &PredicateState, exprs: &mut Exprs) -> Vec<ExprId> {
    if !state.is_abstraction() {
        return Vec::new();
    }
    let formula = manager.formula_term(state.formula());
    Decoder::new(&manager.terms, &manager.encoder, exprs).conjuncts(formula)
}

/// Valuations of a location, each with what else is known then.
type Valuations = Vec<(BTreeMap<VarId, i128>, Vec<ExprId>)>;

/// Explicit values at locations. There may be thousands of valuations, one for each iteration.
#[derive(Default)]
pub(super) struct Values {
    at: BTreeMap<NodeId, Valuations>,
}

impl Values {
    /// Adds a valuation, and what else is known.
    pub(super) fn add(&mut self, node: NodeId, values: Vec<(VarId, i128)>, known: Vec<ExprId>) {
        self.at.entry(node).or_default().push((values.into_iter().collect(), known));
    }

    /// Adds the cases of all locations.
    pub(super) fn add_to(self, program: &Program, invariants: &mut Invariants) {
        for (node, valuations) in self.at {
            if valuations.len() <= MAX_VALUATIONS {
                for (values, mut known) in valuations {
                    for (var, value) in values {
                        known.push(equal(program, &mut invariants.exprs, var, value));
                    }
                    invariants.add_case(node, known);
                }
                continue;
            }
            let (first, others) = valuations.split_first().expect("there are many");
            let mut known = Vec::new();
            for &var in first.0.keys() {
                let values: Option<BTreeSet<i128>> =
                    valuations.iter().map(|(values, _)| values.get(&var).copied()).collect();
                if let Some(values) = values {
                    known.extend(one_of(program, &mut invariants.exprs, var, &values));
                }
            }
            let common = |expr: &ExprId| others.iter().all(|(_, known)| known.contains(expr));
            known.extend(first.1.iter().copied().filter(common));
            invariants.add_case(node, known);
        }
    }
}

fn equal(program: &Program, exprs: &mut Exprs, var: VarId, value: i128) -> ExprId {
    let ty = program.var(var).ty;
    let (var, value) = (exprs.var(var, ty), exprs.constant(ty, value));
    exprs.cmp(CmpOp::Eq, var, value)
}

/// A variable has one of the values, or is between the first and the last one.
fn one_of(program: &Program, exprs: &mut Exprs, var: VarId, values: &BTreeSet<i128>) -> Option<ExprId> {
    if values.len() <= MAX_VALUES {
        let cases: Vec<ExprId> = values.iter().map(|&value| equal(program, exprs, var, value)).collect();
        return cases.into_iter().reduce(|any, case| exprs.or(any, case));
    }
    let ty = program.var(var).ty;
    let (low, high) = (exprs.constant(ty, *values.first()?), exprs.constant(ty, *values.last()?));
    let var = exprs.var(var, ty);
    let (above, below) = (exprs.cmp(CmpOp::Le, low, var), exprs.cmp(CmpOp::Le, var, high));
    Some(exprs.and(above, below))
}
