// SPDX-License-Identifier: Apache-2.0
//! The variables and regions of memory whose values are known at loop heads: all of them, or those that refinement chose.
//!
//! Counterexample-guided refinement of the precision, as for the value analysis (Beyer, Löwe, *Explicit-State Software Model
//! Checking Based on CEGAR and Interpolation*, FASE 2013), with one precision for all loop heads. A way to an error that no
//! input leads along is excluded by some of them; a smallest set of these, found by bisection (QuickXplain, Junker 2004), is
//! tracked from then on. What is not tracked may have any value at a loop head. What addresses
//! are computed from is tracked from the start.

use cfa::{ExprId, Op, Program, RegionId};
use cpa_core::{Cx, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use super::state::{State, Val};
use super::walk::{Script, Thread, Walk, Went};
use super::way::{Leg, MAX_THREADS};

/// A set of variables and regions of memory, which have numbers: variables come first.
pub(super) struct Tracked {
    holds: Vec<bool>,
    /// The others, those first whose values are better to track.
    others: Vec<usize>,
}

impl Tracked {
    /// All, or those that addresses are computed from.
    pub(super) fn new(program: &Program, all: bool) -> Self {
        let vars = program.vars.len();
        let mut computed = vec![0u32; vars + program.regions.len()];
        for edge in &program.edges {
            let (number, value) = match edge.op {
                Op::Assign { var, value } => (var.index(), value),
                Op::Store { value, region, .. } => (vars + region.index(), value),
                _ => continue,
            };
            computed[number] += u32::from(program.exprs.as_const(value).is_none());
        }
        let holds = if all { vec![true; computed.len()] } else { addresses(program) };
        let mut others: Vec<usize> = (0..computed.len()).filter(|&number| !holds[number]).collect();
        // What is only set to constants has few values.
        others.sort_by_key(|&number| computed[number]);
        Self { holds, others }
    }

    pub(super) fn count(&self) -> usize {
        self.holds.iter().filter(|&&holds| holds).count()
    }

    /// Forgets all values that are not in the set.
    pub(super) fn forget_others(&self, state: &mut State) {
        keep(state, &self.holds);
    }

    pub(super) fn add(&mut self, numbers: &[usize]) {
        mark(&mut self.holds, numbers, true);
        self.others.retain(|number| !numbers.contains(number));
    }

    /// Variables and regions, as few as possible, that exclude a way if their values are known too. None if those in the set
    /// do or if all together do not.
    pub(super) fn missing(&self, cx: &Cx, walk: &Walk, legs: &[Leg]) -> Result<Vec<usize>, Stop> {
        let mut search = Search { cx, walk, legs, holds: self.holds.clone() };
        if self.others.is_empty() || search.excluded()? {
            return Ok(Vec::new());
        }
        mark(&mut search.holds, &self.others, true);
        if !search.excluded()? {
            return Ok(Vec::new());
        }
        mark(&mut search.holds, &self.others, false);
        search.explain(&self.others, false)
    }
}

/// The search for what excludes a way.
struct Search<'a> {
    cx: &'a Cx,
    walk: &'a Walk,
    legs: &'a [Leg<'a>],
    holds: Vec<bool>,
}

impl Search<'_> {
    /// A smallest part of the candidates that excludes the way together with the set; `grown` if the set has grown since it
    /// was looked whether it does alone.
    fn explain(&mut self, candidates: &[usize], grown: bool) -> Result<Vec<usize>, Stop> {
        if grown && self.excluded()? {
            return Ok(Vec::new());
        }
        if candidates.len() <= 1 {
            return Ok(candidates.to_vec());
        }
        let (first, second) = candidates.split_at(candidates.len() / 2);
        mark(&mut self.holds, first, true);
        let mut chosen = self.explain(second, true)?;
        mark(&mut self.holds, first, false);
        mark(&mut self.holds, &chosen, true);
        let more = self.explain(first, !chosen.is_empty())?;
        mark(&mut self.holds, &chosen, false);
        chosen.extend(more);
        Ok(chosen)
    }

    /// Whether no execution follows the way if the values of the set are known at loop heads; `false` too if that takes too
    /// many threads.
    fn excluded(&self) -> Result<bool, Stop> {
        let mut states = vec![self.walk.start()];
        let mut threads = 0;
        for leg in self.legs {
            let mut arrived = FxHashSet::default();
            for state in states {
                let mut stack = vec![Thread::new(state, None)];
                while let Some(thread) = stack.pop() {
                    threads += 1;
                    self.cx.check()?;
                    if threads > MAX_THREADS {
                        return Ok(false);
                    }
                    if let Some(mut state) = self.follow(thread, &mut stack, leg)? {
                        keep(&mut state, &self.holds);
                        state.compact();
                        arrived.insert(state.pack());
                    }
                }
            }
            states = arrived.iter().map(|bytes| State::unpack(bytes)).collect();
        }
        Ok(states.is_empty())
    }

    /// The state at the end of the leg, if the thread gets there; parts that it was split into are on the stack.
    fn follow(&self, mut thread: Thread, stack: &mut Vec<Thread>, leg: &Leg) -> Result<Option<State>, Stop> {
        while !self.walk.pauses(&thread) {
            match self.walk.step(&mut thread, stack, Some(Script { taken: leg.taken, answers: false }))? {
                Went::On => {}
                Went::Unsupported(_) => break,
                Went::Away => return Ok(None),
            }
        }
        Ok((thread.state.node == leg.end).then_some(thread.state))
    }
}

/// The variables and regions that the addresses of accesses are computed from. If these are not known, all loads may give
/// anything.
fn addresses(program: &Program) -> Vec<bool> {
    let exprs = &program.exprs;
    let region = |region: RegionId| program.vars.len() + region.index();
    let mut holds = vec![false; program.vars.len() + program.regions.len()];
    let mut sources: Vec<Vec<ExprId>> = vec![Vec::new(); holds.len()];
    let mut loads = Vec::new();
    let mut todo = Vec::new();
    for edge in &program.edges {
        match &edge.op {
            Op::Assign { var, value } => sources[var.index()].push(*value),
            Op::Load { var, addr, region: from } => {
                loads.push((var.index(), region(*from)));
                todo.push(*addr);
            }
            Op::Store { addr, value, region: to } => {
                sources[region(*to)].push(*value);
                todo.push(*addr);
            }
            Op::Zero { addr, size, .. } => todo.extend([*addr, *size]),
            Op::Alloc { size, .. } => todo.push(*size),
            Op::Call { callee, args, result } => {
                let callee = program.func(*callee);
                for (param, &arg) in callee.params.iter().zip(args) {
                    sources[param.index()].push(arg);
                }
                if let (Some(result), Some(ret)) = (result, callee.ret) {
                    loads.push((result.index(), ret.index()));
                }
            }
            Op::Unsupported { .. } => {
                // The conditions that decide whether it is reached, such as comparisons of a pointer with all functions.
                let mut at = edge.src;
                while let [before] = program.node(at).entering[..]
                    && let Op::Assume { cond, .. } = program.edge(before).op
                {
                    todo.push(cond);
                    at = program.edge(before).src;
                }
            }
            Op::Skip | Op::Assume { .. } | Op::Havoc { .. } | Op::Free { .. } => {}
        }
    }
    let mut copied: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (to, from) in loads {
        copied.entry(to).or_default().push(from);
    }
    while let Some(expr) = todo.pop() {
        let mut found: Vec<usize> = exprs.vars(expr).into_iter().map(|var| var.index()).collect();
        while let Some(number) = found.pop() {
            if !std::mem::replace(&mut holds[number], true) {
                todo.append(&mut sources[number]);
                found.extend(copied.get(&number).into_iter().flatten());
            }
        }
    }
    holds
}

fn keep(state: &mut State, holds: &[bool]) {
    let (vars, regions) = holds.split_at(state.vars.len());
    for (value, &holds) in state.vars.iter_mut().zip(vars) {
        if !holds {
            *value = Val::Any;
        }
    }
    state.memory.retain(|region| regions[region.index()]);
}

fn mark(holds: &mut [bool], numbers: &[usize], value: bool) {
    for &number in numbers {
        holds[number] = value;
    }
}
