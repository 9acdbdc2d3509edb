// SPDX-License-Identifier: Apache-2.0
//! From a run of a program with loop abstractions, or of a slice, to a run of the program itself: it is executed with the same
//! inputs.
//!
//! Inputs go by where they come from, each in their order: in a slice by their edges, which are those of the program, otherwise
//! by the functions that are asked and by the names of variables without initialiser. What was never asked is 0. Only if the
//! execution reaches a target there is a run, so a wrong guess costs nothing but the run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use algo_cegar::replay;
use cfa::machine::{Asked, Code, End, Inputs, Machine, Setup, Storage};
use cfa::{EdgeId, HavocOrigin, IntTy, NodeId, Op, Program};
use cpa_core::{Counterexample, Cx, Stop};

/// Memory that the execution may use.
const MAX_BYTES: usize = 1 << 30;
/// Jumps backwards and calls between two looks at the budget.
const SLICE: u64 = 1 << 16;
/// Slices after which an execution is given up that probably leads nowhere, and one that should reach the target.
const GUESS: u64 = 1 << 6;
const EXPECTED: u64 = 1 << 15;

/// A run of one program that is to become one of another program.
pub(crate) struct CarryOver<'a> {
    /// The program with the run.
    pub(crate) from: &'a Program,
    /// The run.
    pub(crate) run: &'a Counterexample,
    /// The other program.
    pub(crate) to: &'a Program,
    /// Its targets.
    pub(crate) targets: &'a BTreeSet<NodeId>,
}

impl CarryOver<'_> {
    /// From a program with loop abstractions. Edges that `ignored` names ask for what the other program does not ask for. If all
    /// strategies on the way are `exact`, more time is spent.
    pub(crate) fn of_abstraction(
        &self,
        cx: &Cx,
        ignored: impl Fn(EdgeId) -> bool,
        exact: bool,
    ) -> Result<Option<Counterexample>, Stop> {
        let comes_from = |edge| if ignored(edge) { None } else { source(self.from, edge) };
        self.carry(cx, comes_from, |edge| source(self.to, edge), exact)
    }

    /// From a slice.
    pub(crate) fn of_slice(&self, cx: &Cx) -> Result<Option<Counterexample>, Stop> {
        self.carry(cx, Some, Some, true)
    }

    /// With the inputs of the run, each from where it `comes_from` to an edge that is `asked_of` the same.
    fn carry<S: Ord>(
        &self,
        cx: &Cx,
        comes_from: impl Fn(EdgeId) -> Option<S>,
        asked_of: impl Fn(EdgeId) -> Option<S>,
        exact: bool,
    ) -> Result<Option<Counterexample>, Stop> {
        let CarryOver { from, run, to, targets } = *self;
        let mut tape = Tape { asked_of, values: BTreeMap::new(), memory: BTreeMap::new(), asked: Vec::new() };
        let listed = run.inputs.iter().map(|(step, value)| (run.steps[*step].edge(), *value));
        let rest = run.rest.iter().flat_map(|rest| rest.inputs.iter().copied());
        for (edge, value) in listed.chain(rest) {
            if let Some(source) = comes_from(edge) {
                tape.values.entry(source).or_default().push_back(value);
            }
        }
        for (addr, byte) in &run.memory {
            if let Some(addr) = moved(from, to, *addr) {
                tape.memory.insert(addr, *byte);
            }
        }
        let memory = tape.memory.clone();
        let setup = Setup::new(targets, Storage::Inputs);
        let Ok(code) = Code::new(to, &setup) else { return Ok(None) };
        let mut machine = Machine::new(Rc::new(code), MAX_BYTES);
        let mut end = None;
        for _ in 0..if exact { EXPECTED } else { GUESS } {
            cx.check()?;
            end = machine.run(&mut tape, SLICE);
            if end.is_some() {
                break;
            }
        }
        let Some(End::Target(target)) = end else { return Ok(None) };
        let found = algo_exec::counterexample(cx, to, target, &tape.asked, memory, MAX_BYTES, u64::MAX)?;
        Ok(found.filter(|run| replay(to, run, target).is_ok()))
    }
}

/// What an input comes from: a function, or a variable without initialiser.
fn source(program: &Program, edge: EdgeId) -> Option<(bool, String)> {
    match &program.edge(edge).op {
        Op::Havoc { origin: HavocOrigin::Nondet { function }, .. } => Some((true, function.to_string())),
        Op::Havoc { var, origin: HavocOrigin::Uninitialised } => Some((false, plain(&program.var(*var).name))),
        _ => None,
    }
}

/// A unique name without its number.
fn plain(name: &str) -> String {
    name.split('#').next().unwrap_or("").to_owned()
}

/// Where a byte of an object with a fixed address lies in the other program.
fn moved(from: &Program, to: &Program, addr: u64) -> Option<u64> {
    let object = from.objects.iter().find(|object| (object.addr..object.addr + object.size).contains(&addr))?;
    let there = to.objects.iter().find(|other| other.name == object.name && other.size == object.size)?;
    Some(there.addr + (addr - object.addr))
}

struct Tape<S, F> {
    /// What an edge of the original program asks.
    asked_of: F,
    values: BTreeMap<S, VecDeque<i128>>,
    memory: BTreeMap<u64, u8>,
    /// The inputs in the order in which they were asked for.
    asked: Vec<(EdgeId, i128)>,
}

impl<S: Ord, F: Fn(EdgeId) -> Option<S>> Inputs for Tape<S, F> {
    fn value(&mut self, asked: Asked, ty: IntTy) -> Option<i128> {
        let queue = (self.asked_of)(asked.edge).and_then(|source| self.values.get_mut(&source));
        let value = ty.wrap(queue.and_then(VecDeque::pop_front).unwrap_or(0));
        self.asked.push((asked.edge, value));
        Some(value)
    }

    fn byte(&mut self, _asked: Asked, addr: u64) -> Option<u8> {
        Some(self.memory.get(&addr).copied().unwrap_or(0))
    }
}
