// SPDX-License-Identifier: Apache-2.0
//! Counterexamples as text: the inputs that lead to the error, and the steps on the way.

use cfa::ir::{HavocOrigin, Op, Var};
use cfa::{EdgeId, Program, floats};
use cpa_core::{Counterexample, Step};

/// A value as the program sees it: a floating-point number in decimal and exact notation, a truth value as 0 or 1.
fn shown(var: &Var, function: &str, value: i128) -> String {
    match var.float {
        Some(ty) => format!("{} ({})", floats::decimal(ty, value), floats::hexadecimal(ty, value)),
        // The variable holds the byte that the function returned, of which the program sees whether it is 0.
        None if function.ends_with("_bool") || function.ends_with("_Bool") => i128::from(value != 0).to_string(),
        None => value.to_string(),
    }
}

/// The values that the calls of nondeterministic functions return, in the order of execution, as lines
/// `file:line:column: __VERIFIER_nondet_int() = 5`, and what was in memory that the program reads but never wrote.
pub fn inputs(program: &Program, counterexample: &Counterexample) -> Vec<String> {
    let listed = counterexample.inputs.iter().map(|&(index, value)| (counterexample.steps[index].edge(), value));
    let rest = counterexample.rest.iter().flat_map(|rest| rest.inputs.iter().copied());
    let bytes = counterexample.memory.iter().filter(|(_, byte)| **byte != 0);
    listed
        .chain(rest)
        .filter_map(|(edge, value)| input(program, edge, value))
        .chain(bytes.map(|(addr, byte)| format!("memory at {addr:#x}: {byte} (uninitialised)")))
        .collect()
}

fn input(program: &Program, edge: EdgeId, value: i128) -> Option<String> {
    let edge = &program.edges[edge.index()];
    match &edge.op {
        Op::Havoc { origin: HavocOrigin::Nondet { function }, var } => {
            let value = shown(program.var(*var), function, value);
            Some(format!("{}: {function}() = {value}", program.location(edge.span)))
        }
        Op::Havoc { var, origin: HavocOrigin::Uninitialised } => {
            let var = program.var(*var);
            let value = shown(var, "", value);
            (!var.temporary).then(|| format!("{}: {} = {value} (uninitialised)", program.location(edge.span), var.name))
        }
        _ => None,
    }
}

/// Every step, one line each; the last line tells how many are not listed.
pub fn steps(program: &Program, counterexample: &Counterexample) -> Vec<String> {
    let listed = counterexample.steps.iter();
    let rest = counterexample.rest.iter().map(|rest| format!("... and {} further steps", rest.steps));
    listed
        .map(|&step| {
            let edge = &program.edges[step.edge().index()];
            let place = program.location(edge.span);
            match step {
                Step::Edge(_) | Step::Enter(_) => format!("{place}: {}", program.display_op(&edge.op)),
                Step::Leave(_) => format!("{place}: return"),
            }
        })
        .chain(rest)
        .collect()
}
