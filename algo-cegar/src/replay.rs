// SPDX-License-Identifier: Apache-2.0
//! Concrete replay of a counterexample along the automaton: the last line of defence before FALSE is said.
//!
//! The concrete machine of [`cfa::machine`] runs the program with the inputs of the counterexample; it shares nothing with
//! solvers and encodings but the automaton. Its run must consist of exactly the steps of the counterexample, every value must
//! be in the range of its variable, nothing may be undefined (also no access to memory), and no variable may be read that
//! was not written before (globals are initialised by edges, other variables by havoc edges). Signed arithmetic wraps around, but
//! not after many steps.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::ir::{AllocKind, Op};
use cfa::machine::{Asked, Code, End, Fault, Inputs, Machine, NanSign, Setup, Storage};
use cfa::{EdgeId, IntTy, NodeId, Program, VarId};
use cpa_core::{Counterexample, Rest, Step};
use thiserror::Error;

/// About how much memory the program may use.
const MEMORY: usize = 1 << 30;
/// Jumps backwards and calls between two looks at the number of steps.
const SLICE: u64 = 1 << 16;

/// A run whose first signed overflow is one of so many first steps is believed.
///
/// C leaves such overflows undefined. That they wrap around is what compilers do with `-fwrapv`, and what is meant where inputs
/// are added without a look at their size. In a loop that adds up numbers for a long time nobody thought of it, and what is
/// undefined is no reason to call a program wrong.
const FEW_STEPS: u64 = 10_000;

/// Why a counterexample is not believed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Disbelief {
    /// A step does not begin where the one before ended.
    #[error("step {index} ({step}) does not begin at {at}")]
    Disconnected {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
        /// Where the step before ended.
        at: NodeId,
    },
    /// The operation of the edge does not belong to a step of this kind.
    #[error("step {index} ({step}) is of the wrong kind for its edge")]
    WrongKind {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
    },
    /// A function returns to another call.
    #[error("step {index} ({step}) does not fit to the calls before it")]
    Calls {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
    },
    /// An assumption does not hold.
    #[error("{place}: the branch is not taken (step {index}, {step})")]
    Assumption {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
        /// The place in the source.
        place: String,
    },
    /// An operation is undefined.
    #[error("{place}: {what}")]
    Undefined {
        /// What is undefined.
        what: Fault,
        /// The place in the source.
        place: String,
    },
    /// An operation of a signed type overflows after many steps.
    #[error("{place}: a signed overflow, which is undefined, after {step} steps")]
    Overflow {
        /// How many steps come before it.
        step: u64,
        /// The place in the source.
        place: String,
    },
    /// A variable is read that has no value.
    #[error("{place}: '{name}' is read before it is written")]
    Unwritten {
        /// The variable.
        name: String,
        /// The place in the source.
        place: String,
    },
    /// A value matters that is not modelled.
    #[error("{place}: it depends on what is not modelled ({what})")]
    Unmodelled {
        /// The value: "result of 'sin'".
        what: String,
        /// The place in the source.
        place: String,
    },
    /// There is no value for an input.
    #[error("{place}: there is no value for the input '{name}'")]
    NoInput {
        /// The variable that takes the input.
        name: String,
        /// The place in the source.
        place: String,
    },
    /// A value is outside of the range of its variable.
    #[error("{place}: {value} is no value of '{name}'")]
    Range {
        /// The variable.
        name: String,
        /// The value.
        value: i128,
        /// The place in the source.
        place: String,
    },
    /// The path goes through a construct that is not supported.
    #[error("{place}: not supported: {construct}")]
    Unsupported {
        /// The construct.
        construct: String,
        /// The place in the source.
        place: String,
    },
    /// An input does not belong to a havoc step, or the inputs are not ascending.
    #[error("the input for step {index} belongs to no step that takes one")]
    StrayInput {
        /// The step of the input.
        index: usize,
    },
    /// The run needs more than the machine has, or the program is too large for it.
    #[error("the run cannot be repeated: {what}")]
    Exhausted {
        /// What is missing.
        what: String,
    },
    /// The run does not come to the target, although all its inputs are there.
    #[error("the run {how} before it reaches the target")]
    Ends {
        /// What it does.
        how: &'static str,
    },
    /// The path ends somewhere else.
    #[error("the path ends at {end} instead of {target}")]
    WrongEnd {
        /// Where it ends.
        end: NodeId,
        /// Where it shall end.
        target: NodeId,
    },
}

/// Runs a counterexample; it must lead from the entry of the program to `target`.
///
/// If it depends on the bits of floating-point results that are not numbers, it must do so with both signs of them.
pub fn replay(program: &Program, cex: &Counterexample, target: NodeId) -> Result<(), Disbelief> {
    match replay_with(program, cex, target, None) {
        Err(Disbelief::Unmodelled { .. } | Disbelief::Unwritten { .. }) if program.sees_nans() => {
            replay_with(program, cex, target, Some(NanSign::Positive))?;
            replay_with(program, cex, target, Some(NanSign::Negative))
        }
        result => result,
    }
}

fn replay_with(
    program: &Program,
    cex: &Counterexample,
    target: NodeId,
    nans: Option<NanSign>,
) -> Result<(), Disbelief> {
    let last = connected(program, cex)?;
    let targets = BTreeSet::from([target]);
    let setup = Setup { steps: true, overflows: true, nans, ..Setup::new(&targets, Storage::Inputs) };
    let code = Code::new(program, &setup).map_err(|error| Disbelief::Exhausted { what: error.to_string() })?;
    let mut machine = Machine::new(Rc::new(code), MEMORY);
    machine.limit_steps(cex.steps.len());
    let mut given = Given::new(program, cex);
    let rest = cex.rest.as_ref().map_or(0, |rest| rest.steps);
    let all = cex.steps.len() as u64 + rest;
    let end = loop {
        let end = machine.run(&mut given, SLICE);
        if end.is_some() || machine.step_count() > all {
            break end;
        }
    };
    // The first step that is different explains everything that comes after it.
    for (index, (&step, &taken)) in cex.steps.iter().zip(machine.steps()).enumerate() {
        let taken = Step::from(taken);
        if step != taken {
            let at = taken.source(program);
            return Err(match (step, taken) {
                (Step::Leave(_), Step::Leave(_)) => Disbelief::Calls { index, step },
                _ if step.source(program) != at => Disbelief::Disconnected { index, step, at },
                _ => Disbelief::Assumption { index, step, place: place(program, step.edge()) },
            });
        }
    }
    if let Some(disbelief) = given.disbelief {
        return Err(disbelief);
    }
    if last != target && cex.rest.is_none() {
        return Err(Disbelief::WrongEnd { end: last, target });
    }
    let ends = |how| Err(Disbelief::Ends { how });
    match end {
        Some(End::Target(_)) if machine.step_count() == all => match given.unused() {
            Some(index) => Err(Disbelief::StrayInput { index }),
            None => match machine.overflow() {
                Some(Asked { edge, step }) if step >= FEW_STEPS => {
                    Err(Disbelief::Overflow { step, place: place(program, edge) })
                }
                _ => Ok(()),
            },
        },
        Some(End::Target(_)) => ends("is at its end"),
        None => ends("takes more steps"),
        Some(End::Returned | End::Halted(_)) => ends("ends"),
        Some(End::Diverges) => ends("stays in a loop forever"),
        Some(End::NeedsInput(edge)) => {
            Err(Disbelief::NoInput { name: written(program, edge), place: place(program, edge) })
        }
        Some(End::NeedsValue(edge, var)) => {
            let passed = cex.steps.get(..machine.step_count() as usize).unwrap_or(&[]);
            Err(match var.and_then(|var| unmodelled(program, var)).or_else(|| last_unmodelled(program, passed)) {
                Some(what) => {
                    Disbelief::Unmodelled { what, place: place(program, call_of_library(program, passed, edge)) }
                }
                None => Disbelief::Unwritten {
                    name: var.map_or("memory".to_owned(), |var| program.vars[var.index()].name.to_string()),
                    place: place(program, edge),
                },
            })
        }
        Some(End::Undefined(edge, what)) => Err(Disbelief::Undefined { what, place: place(program, edge) }),
        Some(End::Unsupported(edge)) => {
            let construct = match &program.edges[edge.index()].op {
                Op::Unsupported { construct } => construct.to_string(),
                _ => "a second activation of a function with objects at fixed addresses".to_owned(),
            };
            Err(Disbelief::Unsupported { construct, place: place(program, edge) })
        }
        Some(End::Exhausted(edge, what)) => {
            Err(Disbelief::Exhausted { what: format!("{}: not enough {what}", place(program, edge)) })
        }
    }
}

/// Checks that the steps are of the right kinds for their edges and fit together; where they end.
fn connected(program: &Program, cex: &Counterexample) -> Result<NodeId, Disbelief> {
    let mut at = program.entry;
    let mut calls: Vec<EdgeId> = Vec::new();
    for (index, &step) in cex.steps.iter().enumerate() {
        let is_call = match program.edges.get(step.edge().index()) {
            Some(edge) => matches!(edge.op, Op::Call { .. }),
            None => return Err(Disbelief::WrongKind { index, step }),
        };
        if matches!(step, Step::Edge(_)) == is_call {
            return Err(Disbelief::WrongKind { index, step });
        }
        if step.source(program) != at {
            return Err(Disbelief::Disconnected { index, step, at });
        }
        match step {
            Step::Edge(_) => {}
            Step::Enter(call) => calls.push(call),
            Step::Leave(call) => {
                if calls.pop() != Some(call) {
                    return Err(Disbelief::Calls { index, step });
                }
            }
        }
        at = step.destination(program);
    }
    Ok(at)
}

fn place(program: &Program, edge: EdgeId) -> String {
    program.location(program.edges[edge.index()].span).to_string()
}

/// For an edge of a function of the library the call of the program that it belongs to, if the steps tell.
fn call_of_library(program: &Program, passed: &[Step], edge: EdgeId) -> EdgeId {
    let is_own = |edge: &EdgeId| program.is_users(program.edge(*edge).span);
    let mut calls: Vec<EdgeId> = Vec::new();
    for step in passed {
        match step {
            Step::Edge(_) => {}
            Step::Enter(call) => calls.push(*call),
            Step::Leave(_) => {
                calls.pop();
            }
        }
    }
    if is_own(&edge) { edge } else { calls.into_iter().rev().find(is_own).unwrap_or(edge) }
}

/// What a variable holds, if it is a value that is not modelled.
fn unmodelled(program: &Program, var: VarId) -> Option<String> {
    program.edges.iter().find_map(|edge| match &edge.op {
        Op::Havoc { var: written, origin } if *written == var => origin.unmodelled().map(str::to_owned),
        _ => None,
    })
}

/// The last value that some steps pass and that is not modelled: uninitialised variables are inputs, so a variable without a
/// value has got it, perhaps through others.
fn last_unmodelled(program: &Program, passed: &[Step]) -> Option<String> {
    passed.iter().rev().find_map(|step| match &program.edge(step.edge()).op {
        Op::Havoc { origin, .. } => origin.unmodelled().map(str::to_owned),
        _ => None,
    })
}

/// The name of the variable that an edge writes.
fn written(program: &Program, edge: EdgeId) -> String {
    match &program.edges[edge.index()].op {
        Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. } => {
            program.vars[var.index()].name.to_string()
        }
        _ => edge.to_string(),
    }
}

/// The inputs of a counterexample, each of which must be used exactly where it belongs.
struct Given<'a> {
    program: &'a Program,
    cex: &'a Counterexample,
    /// How many inputs of the listed steps are used.
    used: usize,
    /// How many inputs of the other steps are used.
    used_of_rest: usize,
    /// The array of the program's arguments: where it begins, and how many bytes it has.
    arguments: Option<(u64, u64)>,
    /// The bytes that were read of it.
    argument_bytes: BTreeMap<u64, u8>,
    /// The first input that does not fit.
    disbelief: Option<Disbelief>,
}

impl<'a> Given<'a> {
    fn new(program: &'a Program, cex: &'a Counterexample) -> Self {
        Given {
            program,
            cex,
            used: 0,
            used_of_rest: 0,
            arguments: None,
            argument_bytes: BTreeMap::new(),
            disbelief: None,
        }
    }

    fn rest(&self) -> &'a [(EdgeId, i128)] {
        self.cex.rest.as_ref().map_or(&[], |rest: &Rest| &rest.inputs)
    }

    /// Passes over values for what has no value that a run could be based on.
    fn skip_unmodelled(&mut self) {
        let unmodelled = |edge: EdgeId| {
            let op = &self.program.edges[edge.index()].op;
            matches!(op, Op::Havoc { origin, .. } if origin.unmodelled().is_some())
        };
        while let Some((index, _)) = self.cex.inputs.get(self.used)
            && self.cex.steps.get(*index).is_some_and(|step| unmodelled(step.edge()))
        {
            self.used += 1;
        }
        while self.rest().get(self.used_of_rest).is_some_and(|(edge, _)| unmodelled(*edge)) {
            self.used_of_rest += 1;
        }
    }

    /// Whether what is read of the array of the program's arguments can be there: the last pointer is null, and no other one is.
    fn may_be_argument(&mut self, addr: u64, byte: u8) -> bool {
        let Some((start, size)) = self.arguments else { return true };
        let Some(offset) = addr.checked_sub(start).filter(|offset| *offset < size) else { return true };
        let width = u64::from(self.program.machine.size_type().bits / 8);
        self.argument_bytes.insert(offset, byte);
        let first = offset / width * width;
        if first + width == size {
            return byte == 0;
        }
        let is_zero = |at: u64| self.argument_bytes.get(&at) == Some(&0);
        !(first..first + width).all(is_zero)
    }

    /// The step of an input that was not used.
    fn unused(&mut self) -> Option<usize> {
        self.skip_unmodelled();
        let of_steps = self.cex.inputs.get(self.used).map(|(index, _)| *index);
        of_steps.or((self.used_of_rest < self.rest().len()).then_some(self.cex.steps.len()))
    }

    /// The next input if it belongs to the step that asks.
    fn next(&mut self, asked: Asked) -> Option<i128> {
        self.skip_unmodelled();
        if asked.step < self.cex.steps.len() as u64 {
            let (index, value) = *self.cex.inputs.get(self.used)?;
            (index as u64 == asked.step).then(|| self.used += 1)?;
            return Some(value);
        }
        let (edge, value) = *self.rest().get(self.used_of_rest)?;
        (edge == asked.edge).then(|| self.used_of_rest += 1)?;
        Some(value)
    }
}

impl Inputs for Given<'_> {
    fn value(&mut self, asked: Asked, ty: IntTy) -> Option<i128> {
        let value = self.next(asked)?;
        if value < ty.min() || value > ty.max() {
            let name = written(self.program, asked.edge);
            self.disbelief = Some(Disbelief::Range { name, value, place: place(self.program, asked.edge) });
            return None;
        }
        Some(value)
    }

    fn byte(&mut self, asked: Asked, addr: u64) -> Option<u8> {
        let byte = self.cex.memory.get(&addr).copied().unwrap_or(0);
        if !self.may_be_argument(addr, byte) {
            let (what, place) = ("arguments of the program".to_owned(), place(self.program, asked.edge));
            self.disbelief.get_or_insert(Disbelief::Unmodelled { what, place });
        }
        Some(byte)
    }

    fn address(&mut self, asked: Asked, size: u64) -> Option<u64> {
        let addr = self.next(asked).and_then(|addr| u64::try_from(addr).ok());
        if matches!(self.program.edge(asked.edge).op, Op::Alloc { kind: AllocKind::Arguments, .. }) {
            // It is the first new object.
            self.arguments = Some((addr.unwrap_or_else(|| self.program.heap_start()), size));
        }
        addr
    }

    fn takes(&mut self, asked: Asked) -> bool {
        self.cex.steps.get(asked.step as usize) == Some(&Step::Edge(asked.edge))
    }
}
