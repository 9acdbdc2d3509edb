// SPDX-License-Identifier: Apache-2.0
//! From the inputs of a run to a counterexample: the run is repeated and its steps are kept, up to a limit.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, Setup, Storage};
use cfa::{EdgeId, IntTy, NodeId, Program};
use cpa_core::{Counterexample, Cx, Rest, Step, Stop};

/// A counterexample lists at most so many steps.
const MAX_STEPS: usize = 100_000;
/// Of one with more steps, which nobody reads, the first ones are listed.
const FIRST_STEPS: usize = 10_000;
/// Jumps backwards and calls between two looks at the budget.
const SLICE: u64 = 1 << 16;

/// Steps of a run of which it is only guessed that it leads to a target, not one that was seen to do so.
pub(crate) const GUESSED_STEPS: u64 = 1 << 22;

/// The run with the given inputs, if it leads to the target within about `max_steps` steps and `max_bytes` bytes. Where the
/// record has no input the run takes 0.
pub fn counterexample(
    cx: &Cx,
    program: &Program,
    target: NodeId,
    values: &[(EdgeId, i128)],
    memory: BTreeMap<u64, u8>,
    max_bytes: usize,
    max_steps: u64,
) -> Result<Option<Counterexample>, Stop> {
    let targets = BTreeSet::from([target]);
    let setup = Setup { steps: true, ..Setup::new(&targets, Storage::Inputs) };
    let Ok(code) = Code::new(program, &setup) else { return Ok(None) };
    let mut machine = Machine::new(Rc::new(code), max_bytes);
    machine.limit_steps(MAX_STEPS);
    let mut tape = Tape { values: values.iter(), memory, inputs: Vec::new(), rest: Vec::new() };
    let end = loop {
        cx.check()?;
        if let Some(end) = machine.run(&mut tape, SLICE) {
            break end;
        }
        if machine.step_count() > max_steps {
            return Ok(None);
        }
    };
    if end != End::Target(target) {
        return Ok(None);
    }
    let mut steps: Vec<Step> = machine.steps().iter().map(|taken| Step::from(*taken)).collect();
    let Tape { memory, mut inputs, rest: later, .. } = tape;
    if machine.step_count() == steps.len() as u64 {
        return Ok(Some(Counterexample { steps, inputs, memory, rest: None }));
    }
    let listed = inputs.partition_point(|&(step, _)| step < FIRST_STEPS);
    let left_out = inputs.drain(listed..).map(|(step, value)| (steps[step].edge(), value));
    let rest_inputs = left_out.chain(later).collect();
    steps.truncate(FIRST_STEPS);
    let rest = Rest { target, steps: machine.step_count() - steps.len() as u64, inputs: rest_inputs };
    Ok(Some(Counterexample { steps, inputs, memory, rest: Some(rest) }))
}

struct Tape<'a> {
    values: std::slice::Iter<'a, (EdgeId, i128)>,
    memory: BTreeMap<u64, u8>,
    inputs: Vec<(usize, i128)>,
    rest: Vec<(EdgeId, i128)>,
}

impl Inputs for Tape<'_> {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        let value = match self.values.next() {
            Some((edge, value)) if *edge == asked.edge => *value,
            // Another place asks than in the run that was recorded.
            Some(_) => return None,
            None => 0,
        };
        if asked.step < MAX_STEPS as u64 {
            self.inputs.push((asked.step as usize, value));
        } else {
            self.rest.push((asked.edge, value));
        }
        Some(value)
    }

    fn byte(&mut self, _asked: Asked, addr: u64) -> Option<u8> {
        Some(self.memory.get(&addr).copied().unwrap_or(0))
    }
}
