// SPDX-License-Identifier: Apache-2.0
//! The variables whose values are known at loop heads: all of them, or those that refinement chose.
//!
//! Counterexample-guided refinement of the precision, as for the value analysis (Beyer, Löwe, *Explicit-State Software Model
//! Checking Based on CEGAR and Interpolation*, FASE 2013), with one precision for all loop heads. A way to an error that no
//! input leads along is excluded by some variables; a smallest set of them, found by bisection (QuickXplain, Junker 2004), is
//! tracked from then on. Of a variable that is not tracked any value is possible at a loop head.

use cfa::{NodeId, Op, Program};
use cpa_core::{Cx, Stop};
use rustc_hash::FxHashSet;

use super::explore::MAX_THREADS;
use super::state::{State, Val};
use super::walk::{Thread, Walk, Went};

/// A part of a way: the loop head or target where it ends, and the branches on it.
pub(super) type Leg<'a> = (NodeId, &'a [(u32, bool)]);

/// A set of variables.
pub(super) struct Tracked {
    holds: Vec<bool>,
    /// The others, those first whose values are better to track.
    others: Vec<usize>,
}

impl Tracked {
    /// All variables or none.
    pub(super) fn new(program: &Program, all: bool) -> Self {
        let mut computed = vec![0u32; program.vars.len()];
        for edge in &program.edges {
            if let Op::Assign { var, value } = edge.op
                && program.exprs.as_const(value).is_none()
            {
                computed[var.index()] += 1;
            }
        }
        let mut others: Vec<usize> = if all { Vec::new() } else { (0..computed.len()).collect() };
        // What is only set to constants has few values.
        others.sort_by_key(|&var| computed[var]);
        Self { holds: vec![all; computed.len()], others }
    }

    pub(super) fn count(&self) -> usize {
        self.holds.iter().filter(|&&holds| holds).count()
    }

    /// Forgets the values of all variables that are not in the set.
    pub(super) fn forget_others(&self, state: &mut State) {
        keep(state, &self.holds);
    }

    pub(super) fn add(&mut self, vars: &[usize]) {
        mark(&mut self.holds, vars, true);
        self.others.retain(|var| !vars.contains(var));
    }

    /// Variables, as few as possible, that exclude a way if their values are known too. None if those in the set do or if all
    /// together do not.
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

/// The search for variables that exclude a way.
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
    fn follow(&self, mut thread: Thread, stack: &mut Vec<Thread>, &(end, script): &Leg) -> Result<Option<State>, Stop> {
        while !self.walk.pauses(&thread) {
            if !matches!(self.walk.step(&mut thread, stack, Some(script))?, Went::On) {
                return Ok(None);
            }
        }
        Ok((thread.state.node == end).then_some(thread.state))
    }
}

fn keep(state: &mut State, holds: &[bool]) {
    for (value, &holds) in state.vars.iter_mut().zip(holds) {
        if !holds {
            *value = Val::Any;
        }
    }
}

fn mark(holds: &mut [bool], vars: &[usize], value: bool) {
    for &var in vars {
        holds[var] = value;
    }
}
