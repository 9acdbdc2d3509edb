// SPDX-License-Identifier: Apache-2.0
//! Infeasible paths: where the values contradict an assumption, and which places that needs.
//!
//! A path is run with everything tracked. At a contradiction the assumption is skipped and the run goes on, so that one path
//! gives several infeasible sliced prefixes to choose from (Beyer, Löwe, Wendler, *Sliced Path Prefixes*, section 3). The
//! steps that a contradiction depends on are found backwards, then places are dropped one by one while the rest is still
//! contradictory (document 001, section 2.4.2). Dropping a place for the whole path instead of position by position
//! gives small precisions directly.

use std::collections::BTreeSet;

use cfa::{EdgeId, ExprId, FuncId, Op, RegionId};
use cpa_core::{Cx, Step, Stop};

use crate::machine::Machine;
use crate::origin::Origin;
use crate::place::{Cell, Place, Slot, var_slot};
use crate::precision::{SlotSet, Tracked};
use crate::state::ValueState;

/// How many steps may be repeated to drop places, for one path.
const EFFORT: usize = 3_000_000;

/// How many prefixes of a path are looked at.
const PREFIXES: usize = 12;

/// Looks at the limits at every 64th step of a path.
fn now_and_then(cx: &Cx, index: usize) -> Result<(), Stop> {
    if index.is_multiple_of(64) { cx.check() } else { Ok(()) }
}

/// A run of a path with what is tracked.
pub(crate) struct Run {
    /// The states before each step, and the last one. Steps whose assumption contradicts do not change the state.
    pub(crate) states: Vec<ValueState>,
    /// The steps that contradict the values, ascending.
    pub(crate) contradictions: Vec<usize>,
}

/// What makes a prefix of a path infeasible.
#[derive(Clone, Debug)]
pub(crate) struct Refutation {
    /// The places that are needed for that.
    pub(crate) slots: SlotSet,
    /// For the positions up to the step that is not possible, the places whose values matter from there on.
    pub(crate) needed: Vec<Vec<Slot>>,
}

/// Runs a path; stops at the first contradiction, or skips contradicting assumptions until there are enough.
pub(crate) fn run(
    cx: &Cx,
    machine: &Machine,
    steps: &[Step],
    tracked: Tracked<'_>,
    contradictions: usize,
) -> Result<Run, Stop> {
    let mut run = Run { states: vec![machine.initial()], contradictions: Vec::new() };
    let mut activations = Vec::new();
    for (index, &step) in steps.iter().enumerate() {
        now_and_then(cx, index)?;
        let state = &run.states[index];
        let next = match machine.follow(&mut activations, state, step, tracked) {
            Some(next) => next,
            None => {
                run.contradictions.push(index);
                state.clone()
            }
        };
        run.states.push(next);
        if run.contradictions.len() >= contradictions {
            break;
        }
    }
    Ok(run)
}

/// All refutations of a path that are worth choosing from; empty if the values contradict nothing.
pub(crate) fn refutations(
    cx: &Cx,
    machine: &Machine,
    steps: &[Step],
    badness: &dyn Fn(Slot) -> u32,
) -> Result<Vec<Refutation>, Stop> {
    let full = run(cx, machine, steps, Tracked::All, PREFIXES)?;
    let mut effort = EFFORT;
    let mut result = Vec::new();
    for (number, &end) in full.contradictions.iter().enumerate() {
        let skipped = &full.contradictions[..number];
        let slice = slice(cx, machine, steps, &full.states, end, skipped)?;
        let mut slots: SlotSet = slice.needed.iter().flatten().copied().collect();
        let relevant: Vec<Step> = slice.relevant.iter().map(|&index| steps[index]).collect();
        minimise(cx, machine, &relevant, &mut slots, badness, &mut effort)?;
        if !contradicts(cx, machine, steps[..=end].iter().copied(), &slots)? {
            // The slice missed something. Everything that is known anywhere is certainly enough.
            let all = full.states[..=end].iter().flat_map(ValueState::slots);
            slots = all.collect();
            add_zeros(machine, &mut slots);
        }
        let run = run(cx, machine, &steps[..=end], Tracked::Set(&slots), usize::MAX)?;
        let needed = self::slice(cx, machine, steps, &run.states, end, &run.contradictions)?.needed;
        result.push(Refutation { slots, needed });
    }
    Ok(result)
}

fn add_zeros(machine: &Machine, slots: &mut SlotSet) {
    let places = machine.places.borrow();
    for region in 0..machine.program.regions.len() {
        slots.insert(places.zeros(RegionId::new(region)));
    }
}

/// Whether the steps are impossible when only these places are tracked.
fn contradicts(cx: &Cx, machine: &Machine, steps: impl Iterator<Item = Step>, slots: &SlotSet) -> Result<bool, Stop> {
    let mut state = machine.initial();
    let mut activations = Vec::new();
    for (index, step) in steps.enumerate() {
        now_and_then(cx, index)?;
        match machine.follow(&mut activations, &state, step, Tracked::Set(slots)) {
            Some(next) => state = next,
            None => return Ok(true),
        }
    }
    Ok(false)
}

/// Drops places while the steps stay impossible, the worst first.
fn minimise(
    cx: &Cx,
    machine: &Machine,
    relevant: &[Step],
    slots: &mut SlotSet,
    badness: &dyn Fn(Slot) -> u32,
    effort: &mut usize,
) -> Result<(), Stop> {
    let mut order: Vec<Slot> = slots.iter().collect();
    order.sort_by_key(|&slot| (std::cmp::Reverse(badness(slot)), slot));
    for slot in order {
        if *effort < relevant.len() {
            break;
        }
        *effort -= relevant.len();
        slots.remove(slot);
        if !contradicts(cx, machine, relevant.iter().copied(), slots)? {
            slots.insert(slot);
        }
    }
    Ok(())
}

/// The steps that a contradiction depends on.
struct Slice {
    /// For the positions up to the contradiction, the known places that matter.
    needed: Vec<Vec<Slot>>,
    /// The steps, ascending; the last one is the contradiction.
    relevant: Vec<usize>,
}

/// Follows a contradiction back to where its values come from.
fn slice(
    cx: &Cx,
    machine: &Machine,
    steps: &[Step],
    states: &[ValueState],
    end: usize,
    skipped: &[usize],
) -> Result<Slice, Stop> {
    let mut needs = Needs { machine, slots: BTreeSet::new(), hidden: Vec::new() };
    if let Op::Assume { cond, .. } = &machine.program.edge(steps[end].edge()).op {
        needs.read(&states[end], *cond);
    }
    let mut needed = vec![needs.known(&states[end])];
    let mut relevant = vec![end];
    for index in (0..end).rev() {
        now_and_then(cx, index)?;
        if !skipped.contains(&index) && needs.before(&states[index], steps[index]) {
            relevant.push(index);
        }
        needed.push(needs.known(&states[index]));
    }
    needed.reverse();
    relevant.reverse();
    Ok(Slice { needed, relevant })
}

/// The places that matter, on the way back along a path.
pub(crate) struct Needs<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) slots: BTreeSet<Slot>,
    /// For the recursive calls that the way back is inside of, the places of the activation around that matter.
    pub(crate) hidden: Vec<(EdgeId, Vec<Slot>)>,
}

impl Needs<'_> {
    /// What matters and is known.
    fn known(&self, state: &ValueState) -> Vec<Slot> {
        let places = self.machine.places.borrow();
        let known = |slot: &Slot| match places.place(*slot) {
            Place::Zeros(region) => state.has_zeros(region),
            Place::Var(_) | Place::Cell(_) | Place::Heap => state.knows(*slot),
        };
        self.slots.iter().copied().filter(known).collect()
    }

    /// The known variables of an expression matter.
    pub(crate) fn read(&mut self, state: &ValueState, expr: ExprId) {
        let vars = self.machine.program.exprs.vars(expr);
        self.slots.extend(vars.into_iter().map(var_slot).filter(|&slot| state.knows(slot)));
    }

    fn cells_of(&self, region: RegionId) -> Vec<Slot> {
        let places = self.machine.places.borrow();
        let inside = |slot: &Slot| match places.place(*slot) {
            Place::Var(_) | Place::Heap => false,
            Place::Zeros(other) => other == region,
            Place::Cell(cell) => cell.region == region,
        };
        self.slots.iter().copied().filter(inside).collect()
    }

    /// Takes the local variables of a function out of what matters.
    fn take_locals(&mut self, func: FuncId) -> Vec<Slot> {
        let locals = self.machine.locals_of(func).map(var_slot);
        locals.filter(|slot| self.slots.remove(slot)).collect()
    }

    /// Goes back over a step from the given state; says whether the step matters.
    pub(crate) fn before(&mut self, state: &ValueState, step: Step) -> bool {
        let program = &self.machine.program;
        let edge = program.edge(step.edge());
        let recursive = match edge.op {
            Op::Call { callee, .. } if self.machine.is_recursive(callee) => Some(callee),
            _ => None,
        };
        match (step, recursive) {
            (Step::Leave(call), Some(_)) => {
                let relevant = self.over(state, step);
                // What the result comes from belongs to the callee, all other local variables to its caller.
                let ret = recursive.and_then(|callee| program.func(callee).ret).map(var_slot);
                let returned = ret.filter(|slot| relevant && self.slots.remove(slot));
                let around = self.take_locals(program.node(edge.src).func);
                self.hidden.push((call, around));
                self.slots.extend(returned);
                // Which activation a variable belongs to is known only if all of these steps are there.
                true
            }
            (Step::Enter(call), Some(callee)) => {
                let params = &program.func(callee).params;
                let passed: Vec<Slot> =
                    params.iter().map(|&p| var_slot(p)).filter(|s| self.slots.contains(s)).collect();
                self.take_locals(callee);
                self.slots.extend(passed);
                self.over(state, step);
                if self.hidden.last().is_some_and(|(inside, _)| *inside == call) {
                    self.slots.extend(self.hidden.pop().into_iter().flat_map(|(_, around)| around));
                }
                true
            }
            _ => self.over(state, step),
        }
    }

    fn over(&mut self, state: &ValueState, step: Step) -> bool {
        let program = &self.machine.program;
        match (step, &program.edge(step.edge()).op) {
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                let mut relevant = false;
                for (&param, &arg) in program.func(*callee).params.iter().zip(args) {
                    if self.slots.remove(&var_slot(param)) {
                        self.read(state, arg);
                        relevant = true;
                    }
                }
                relevant
            }
            (Step::Leave(_), Op::Call { callee, result: Some(result), .. }) => {
                let relevant = self.slots.remove(&var_slot(*result));
                if relevant && let Some(ret) = program.func(*callee).ret {
                    self.slots.insert(var_slot(ret));
                }
                relevant
            }
            (Step::Edge(_), Op::Assume { cond, .. }) => {
                // What was not known before, the assumption said.
                let places = self.machine.places.borrow();
                let is_var = |slot: &Slot| matches!(places.place(*slot), Place::Var(_));
                let new: Vec<Slot> =
                    self.slots.iter().copied().filter(|slot| is_var(slot) && !state.knows(*slot)).collect();
                drop(places);
                let mut relevant = self.told(state, step.edge(), *cond);
                let said: BTreeSet<Slot> = program.exprs.vars(*cond).into_iter().map(var_slot).collect();
                for slot in new.iter().filter(|slot| said.contains(slot)) {
                    self.slots.remove(slot);
                    relevant = true;
                }
                if relevant {
                    self.read(state, *cond);
                }
                relevant
            }
            (Step::Edge(_), Op::Assign { var, value }) => {
                let relevant = self.slots.remove(&var_slot(*var));
                if relevant {
                    self.read(state, *value);
                }
                relevant
            }
            (Step::Edge(_), Op::Havoc { var, .. }) => self.slots.remove(&var_slot(*var)),
            (Step::Edge(_), Op::Alloc { var, size, .. }) => {
                let heap = self.machine.heap();
                let grows = self.slots.contains(&heap);
                if grows {
                    self.read(state, *size);
                }
                let begins = self.slots.remove(&var_slot(*var));
                if begins && state.knows(heap) {
                    self.slots.insert(heap);
                }
                begins || grows
            }
            (Step::Edge(_), Op::Load { var, addr, region }) => {
                let relevant = self.slots.remove(&var_slot(*var));
                if relevant {
                    self.read(state, *addr);
                    let ty = program.var(*var).ty;
                    if let Some(cell) = self.machine.cell(state, *addr, ty, *region) {
                        self.slots.extend(state.load_sources(&mut self.machine.places.borrow_mut(), cell));
                    }
                }
                relevant
            }
            (Step::Edge(_), Op::Store { addr, value, region }) => {
                let touched = self.cells_of(*region);
                if !touched.is_empty() {
                    self.read(state, *addr);
                    let ty = program.exprs.ty(*value);
                    if let Some(cell) = self.machine.cell(state, *addr, ty, *region) {
                        self.stored(state, cell, &touched, Some(*value));
                    }
                }
                !touched.is_empty()
            }
            (Step::Edge(_), Op::Zero { addr, size, region }) => {
                let touched = self.cells_of(*region);
                if !touched.is_empty() {
                    self.read(state, *addr);
                    self.read(state, *size);
                }
                !touched.is_empty()
            }
            (Step::Edge(_), Op::Skip | Op::Free { .. } | Op::Unsupported { .. } | Op::Call { .. })
            | (Step::Leave(_), Op::Call { result: None, .. })
            | (Step::Enter(_) | Step::Leave(_), _) => false,
        }
    }

    /// Goes back over what an assumption says about cells; whether any of them matters.
    fn told(&mut self, state: &ValueState, edge: EdgeId, cond: ExprId) -> bool {
        let origins = self.machine.origins.of(edge);
        let read = self.machine.program.exprs.vars(cond);
        let mut relevant = false;
        for &origin in origins.iter().filter(|origin| read.contains(&origin.var)) {
            let Some(cell) = self.machine.origin(state, origins, origin) else { continue };
            let slot = self.machine.places.borrow_mut().cell(cell);
            if !state.knows(slot) && self.slots.remove(&slot) {
                relevant = true;
                self.read_again(state, origins, origin.addr);
            }
        }
        relevant
    }

    /// The known variables of an address matter, and the cells that the others were loaded from.
    // Each recursion goes to an earlier load.
    fn read_again(&mut self, state: &ValueState, origins: &[Origin], addr: ExprId) {
        self.read(state, addr);
        for var in self.machine.program.exprs.vars(addr) {
            let again = origins.iter().find(|origin| origin.var == var && !state.knows(var_slot(var)));
            let Some(&origin) = again else { continue };
            if let Some(cell) = self.machine.origin(state, origins, origin) {
                self.slots.extend(state.load_sources(&mut self.machine.places.borrow_mut(), cell));
            }
            self.read_again(state, origins, origin.addr);
        }
    }

    /// Goes back over a store to a cell.
    fn stored(&mut self, state: &ValueState, cell: Cell, touched: &[Slot], value: Option<ExprId>) {
        let written = self.machine.places.borrow_mut().cell(cell);
        for &slot in touched {
            if slot == written {
                self.slots.remove(&slot);
                if let Some(value) = value {
                    self.read(state, value);
                }
            } else if let Place::Cell(_) = self.machine.place(slot)
                && !state.knows(slot)
            {
                // A byte that was left over when its cell was partly overwritten.
                self.slots.remove(&slot);
                let places = self.machine.places.borrow();
                self.slots.extend(places.overlapping(slot).iter().copied().filter(|&other| state.knows(other)));
            }
        }
    }
}
