// SPDX-License-Identifier: Apache-2.0
//! The inputs of counterexamples as text.

use cfa::ir::Var;
use cfa::{Program, floats};
use cpa_core::Counterexample;

use crate::inputs::{self, Input, Origin};

/// A value as the program sees it: a floating-point number in decimal and exact notation.
fn shown(var: &Var, value: i128) -> String {
    match var.float {
        Some(ty) => format!("{} ({})", floats::decimal(ty, value), floats::hexadecimal(ty, value)),
        None => value.to_string(),
    }
}

/// The values that the calls of nondeterministic functions return, in the order of execution, as lines
/// `file:line:column: __VERIFIER_nondet_int() = 5`, and what was in memory that the program reads but never wrote.
pub fn inputs(program: &Program, counterexample: &Counterexample) -> Vec<String> {
    let bytes = counterexample.memory.iter().filter(|(_, byte)| **byte != 0);
    inputs::inputs(program, counterexample)
        .iter()
        .filter_map(|input| line(program, input))
        .chain(bytes.map(|(addr, byte)| format!("memory at {addr:#x}: {byte} (uninitialised)")))
        .collect()
}

/// One input as a line; none for variables that the source does not name.
pub fn line(program: &Program, input: &Input) -> Option<String> {
    let var = program.var(input.var);
    let place = program.location(program.edge(input.edge).span);
    let value = shown(var, input.value);
    match &input.origin {
        Origin::Function(function) => Some(format!("{place}: {function}() = {value}")),
        Origin::Uninitialised => (!var.temporary).then(|| format!("{place}: {} = {value} (uninitialised)", var.name)),
    }
}
