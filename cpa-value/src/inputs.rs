// SPDX-License-Identifier: Apache-2.0
//! Looks for inputs that lead along a path, without a solver; memory that was never written holds zeros. What later assumptions say about an input is tried first,
//! then the constants around the assumption that fails. What is found is a run of the program; often nothing is found.

use std::collections::BTreeMap;

use cfa::{ExprId, ExprKind, IntTy, Op, Program, VarId};
use cpa_core::{Counterexample, Step};

use crate::machine::Machine;
use crate::path::Needs;
use crate::place::{Slot, var_slot};
use crate::precision::Tracked;
use crate::state::ValueState;

/// How many steps may be executed in search of inputs, for one path.
const EFFORT: usize = 2_000_000;

/// How many inputs that an assumption depends on are tried, the last one first.
const INPUTS: usize = 3;

/// A run of the program along the path, if one is found. `states` are the states of the path with everything tracked.
pub(crate) fn search(machine: &Machine, steps: &[Step], states: &[ValueState]) -> Option<Counterexample> {
    let mut search = Search {
        machine,
        steps,
        inputs: guess(machine, steps, states),
        addresses: BTreeMap::new(),
        states: Vec::new(),
        effort: EFFORT,
    };
    let mut failed = search.execute(0);
    while let Failed::At(at) = failed {
        failed = search.repair(at)?;
    }
    match failed {
        Failed::Never => {
            let mut inputs = search.inputs;
            inputs.extend(search.addresses);
            inputs.sort_unstable();
            Some(Counterexample { steps: steps.to_vec(), inputs, ..Counterexample::default() })
        }
        Failed::At(_) | Failed::Unknown => None,
    }
}

/// Where an execution does not follow the path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failed {
    Never,
    At(usize),
    /// Some value is not known in spite of all inputs.
    Unknown,
}

/// For each input the value that the path says it has later on, or 0.
fn guess(machine: &Machine, steps: &[Step], states: &[ValueState]) -> Vec<(usize, i128)> {
    let program = machine.program();
    let mut inputs = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if let (Step::Edge(edge), Op::Havoc { var, .. }) = (step, &program.edge(step.edge()).op) {
            debug_assert_eq!(*edge, step.edge());
            let value = look_ahead(program, steps, states, index + 1, *var);
            inputs.push((index, program.var(*var).ty.wrap(value.unwrap_or(0))));
        }
    }
    inputs
}

/// The value that a variable, or a copy of it, is said to have behind a position.
fn look_ahead(program: &Program, steps: &[Step], states: &[ValueState], from: usize, var: VarId) -> Option<i128> {
    const HORIZON: usize = 2000;
    let mut copies = vec![var];
    for (&step, state) in steps[from..].iter().zip(&states[from..]).take(HORIZON) {
        for &copy in &copies {
            if let Some(value) = state.var(copy, program.var(copy).ty) {
                return Some(value);
            }
        }
        let is_copy = |expr: ExprId| program.exprs.converted_var(expr).is_some_and(|var| copies.contains(&var));
        let mut written: Vec<(VarId, bool)> = Vec::new();
        match (step, &program.edge(step.edge()).op) {
            (Step::Edge(_), Op::Assign { var, value }) => written.push((*var, is_copy(*value))),
            (Step::Edge(_), Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. }) => {
                written.push((*var, false));
            }
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                let params = program.func(*callee).params.iter().zip(args);
                written.extend(params.map(|(&param, &arg)| (param, is_copy(arg))));
            }
            (Step::Leave(_), Op::Call { callee, result: Some(result), .. }) => {
                let ret = program.func(*callee).ret;
                written.push((*result, ret.is_some_and(|ret| copies.contains(&ret))));
            }
            (Step::Edge(_) | Step::Enter(_) | Step::Leave(_), _) => {}
        }
        for (var, copy) in written {
            copies.retain(|&other| other != var);
            if copy {
                copies.push(var);
            }
        }
        if copies.is_empty() {
            return None;
        }
    }
    None
}

struct Search<'a> {
    machine: &'a Machine,
    steps: &'a [Step],
    /// The inputs: step and value, ascending.
    inputs: Vec<(usize, i128)>,
    /// The addresses of new objects, by step. They do not depend on the inputs unless the sizes do.
    addresses: BTreeMap<usize, i128>,
    /// The states before each step that was executed.
    states: Vec<ValueState>,
    effort: usize,
}

impl Search<'_> {
    fn input(&self, step: usize) -> Option<i128> {
        self.inputs.binary_search_by_key(&step, |&(index, _)| index).ok().map(|position| self.inputs[position].1)
    }

    /// Executes the path from a position, keeping what was executed before it.
    fn execute(&mut self, from: usize) -> Failed {
        let program = self.machine.program();
        self.states.truncate(from + 1);
        if self.states.is_empty() {
            self.states.push(self.machine.start());
        }
        for (index, &step) in self.steps.iter().enumerate().skip(from) {
            if self.effort == 0 {
                return Failed::Unknown;
            }
            self.effort -= 1;
            let state = &self.states[index];
            let op = &program.edge(step.edge()).op;
            if let Op::Assume { cond, truth } = op {
                match self.machine.eval(state, *cond) {
                    Some(value) if (value != 0) == *truth => {}
                    Some(_) => return Failed::At(index),
                    None => return Failed::Unknown,
                }
            }
            let Some(mut next) = self.machine.post(state, step, Tracked::All) else { return Failed::At(index) };
            match op {
                Op::Havoc { var, .. } => {
                    let Some(value) = self.input(index) else { return Failed::Unknown };
                    next.set_var(*var, value, program.var(*var).ty);
                }
                Op::Alloc { size, region, .. } => {
                    let size = self.machine.eval(state, *size).and_then(|size| u64::try_from(size).ok());
                    let heap = self.machine.heap();
                    let (Some(size), Some(addr), true) = (size, state.get(heap), next.knows(heap)) else {
                        return Failed::Unknown;
                    };
                    self.machine.fill(&mut next, *region, addr, addr + size);
                    self.addresses.insert(index, i128::from(addr));
                }
                _ => {}
            }
            self.states.push(next);
        }
        Failed::Never
    }

    /// Changes one input such that an assumption holds that did not; none if that cannot be done.
    fn repair(&mut self, at: usize) -> Option<Failed> {
        let program = self.machine.program();
        let Op::Assume { cond, .. } = program.edge(self.steps[at].edge()).op else { return None };
        let mut candidates = Vec::new();
        self.constants(at, cond, &mut candidates);
        for (input, var) in self.inputs_of(at, cond) {
            let ty: IntTy = program.var(var).ty;
            let old = self.input(input)?;
            let ends = [0, 1, ty.max(), ty.min(), -1, 2];
            let mut tried = vec![old];
            for value in candidates.iter().flat_map(|&value| [value, value + 1, value - 1]).chain(ends) {
                let value = ty.wrap(value);
                if tried.contains(&value) {
                    continue;
                }
                tried.push(value);
                self.set_input(input, value);
                match self.execute(input) {
                    Failed::At(later) if later <= at => {}
                    better @ (Failed::Never | Failed::At(_)) => return Some(better),
                    Failed::Unknown if self.effort == 0 => return None,
                    Failed::Unknown => {}
                }
            }
            self.set_input(input, old);
            self.execute(input);
        }
        None
    }

    fn set_input(&mut self, step: usize, value: i128) {
        if let Ok(position) = self.inputs.binary_search_by_key(&step, |&(index, _)| index) {
            self.inputs[position].1 = value;
        }
    }

    /// The last inputs that the value of an expression depends on.
    fn inputs_of(&self, at: usize, expr: ExprId) -> Vec<(usize, VarId)> {
        let program = self.machine.program();
        let mut needs = Needs { machine: self.machine, slots: Default::default(), hidden: Vec::new() };
        needs.read(&self.states[at], expr);
        let mut found = Vec::new();
        for index in (0..at).rev() {
            if let Op::Havoc { var, .. } = &program.edge(self.steps[index].edge()).op {
                let slot: Slot = var_slot(*var);
                if needs.slots.contains(&slot) {
                    found.push((index, *var));
                }
            }
            needs.before(&self.states[index], self.steps[index]);
            if found.len() == INPUTS || needs.slots.is_empty() {
                break;
            }
        }
        found
    }

    /// The constants of an expression and the values of its parts.
    fn constants(&self, at: usize, expr: ExprId, values: &mut Vec<i128>) {
        const ENOUGH: usize = 24;
        let exprs = &self.machine.program().exprs;
        let mut todo = vec![expr];
        while let Some(id) = todo.pop() {
            if values.len() >= ENOUGH {
                return;
            }
            match exprs.get(id).kind {
                ExprKind::Const(value) => values.push(value),
                ExprKind::Cmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => {}
                _ => values.extend(self.machine.eval(&self.states[at], id)),
            }
            todo.extend(exprs.operands(id));
        }
    }
}
