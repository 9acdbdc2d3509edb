// SPDX-License-Identifier: Apache-2.0
//! The inputs of a counterexample as the program sees them: what everything that shows or repeats a counterexample is made
//! from.

use std::sync::Arc;

use cfa::ir::{HavocOrigin, Op};
use cfa::{EdgeId, Program, VarId};
use cpa_core::Counterexample;

/// Where an input comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The value that a function without body returns.
    Function(Arc<str>),
    /// The value of a variable that the program has not initialised.
    Uninitialised,
}

/// One input of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The edge that takes it.
    pub edge: EdgeId,
    /// The position of the step that takes it; none behind the listed steps of a very long run.
    pub step: Option<usize>,
    /// Where it comes from.
    pub origin: Origin,
    /// The variable that takes it.
    pub var: VarId,
    /// The value; a truth value is 0 or 1, a floating-point number its bits.
    pub value: i128,
}

impl Input {
    /// The function whose result the input is, if the user's text shows the call. What a function of the library reads, such as
    /// a number for `scanf`, is no result.
    pub fn called(&self, program: &Program) -> Option<&str> {
        let Origin::Function(function) = &self.origin else { return None };
        let span = program.edge(self.edge).span;
        (program.is_users(span) && program.text(span).contains(&**function)).then_some(&**function)
    }
}

/// All inputs of a run in the order of execution.
pub fn inputs(program: &Program, counterexample: &Counterexample) -> Vec<Input> {
    let listed =
        counterexample.inputs.iter().map(|&(index, value)| (counterexample.steps[index].edge(), Some(index), value));
    let rest = counterexample.rest.iter().flat_map(|rest| rest.inputs.iter().map(|&(edge, value)| (edge, None, value)));
    listed.chain(rest).filter_map(|(edge, step, value)| input(program, edge, step, value)).collect()
}

fn input(program: &Program, edge: EdgeId, step: Option<usize>, value: i128) -> Option<Input> {
    let Op::Havoc { var, origin } = &program.edge(edge).op else { return None };
    let origin = match origin {
        HavocOrigin::Nondet { function } => Origin::Function(Arc::clone(function)),
        HavocOrigin::Uninitialised => Origin::Uninitialised,
        HavocOrigin::Unmodelled { .. } | HavocOrigin::NanBits => return None,
    };
    let value = if program.var(*var).truth { i128::from(value != 0) } else { value };
    Some(Input { edge, step, origin, var: *var, value })
}
