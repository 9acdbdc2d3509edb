// SPDX-License-Identifier: Apache-2.0
//! Counterexamples as text: the inputs that lead to the error, and the steps on the way.

use cfa::Program;
use cfa::ir::{HavocOrigin, Op};
use cpa_core::{Counterexample, Step};

/// The values that the calls of nondeterministic functions return, in the order of execution, as lines
/// `file:line:column: __VERIFIER_nondet_int() = 5`.
pub fn inputs(program: &Program, counterexample: &Counterexample) -> Vec<String> {
    counterexample
        .inputs
        .iter()
        .filter_map(|&(index, value)| {
            let edge = &program.edges[counterexample.steps[index].edge().index()];
            match &edge.op {
                Op::Havoc { origin: HavocOrigin::Nondet { function }, .. } => {
                    Some(format!("{}: {function}() = {value}", program.location(edge.span)))
                }
                Op::Havoc { var, origin: HavocOrigin::Uninitialised } => {
                    let var = &program.vars[var.index()];
                    (!var.temporary)
                        .then(|| format!("{}: {} = {value} (uninitialised)", program.location(edge.span), var.name))
                }
                _ => None,
            }
        })
        .collect()
}

/// Every step, one line each.
pub fn steps(program: &Program, counterexample: &Counterexample) -> Vec<String> {
    counterexample
        .steps
        .iter()
        .map(|&step| {
            let edge = &program.edges[step.edge().index()];
            let place = program.location(edge.span);
            match step {
                Step::Edge(_) | Step::Enter(_) => format!("{place}: {}", program.display_op(&edge.op)),
                Step::Leave(_) => format!("{place}: return"),
            }
        })
        .collect()
}
