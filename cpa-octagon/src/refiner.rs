// SPDX-License-Identifier: Apache-2.0
//! The part of the delegating refiner that knows octagons (document 001, sections 3.3.1 and 4.3.1).
//!
//! A path that explicit values could not refute is run with all variables tracked. If the octagons refute it, the variables
//! of the assumptions in the feasible prefix and those that these depend on are tracked from then on. Otherwise the next
//! refiner is asked.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use cfa::{Op, VarId};
use cpa_core::{Arg, ArgId, ComponentPrecision, Cut, Cx, Handle, Refinement, Refiner, Step, Stop};

use crate::cpa::OctagonCpa;
use crate::transfer::{Tracked, Transfer};

/// How many states a path is followed with at the same time.
const MOST_STATES: usize = 256;

/// Refutes paths with octagons.
pub struct OctagonRefiner {
    transfer: Rc<Transfer>,
    handle: Handle<OctagonCpa>,
    time: Option<Duration>,
}

impl OctagonRefiner {
    /// A refiner for the component with the given handle. It spends at most `time` on a path.
    pub fn new(transfer: Rc<Transfer>, handle: Handle<OctagonCpa>, time: Option<Duration>) -> Self {
        Self { transfer, handle, time }
    }

    /// The precision of the target with more variables.
    pub fn track(handle: Handle<OctagonCpa>, arg: &Arg, target: ArgId, vars: BTreeSet<VarId>) -> ComponentPrecision {
        let tracked: &Tracked = arg.precision(target).get(handle);
        handle.precision(tracked.as_ref().map(|tracked| Rc::new(tracked.union(&vars).copied().collect())))
    }

    /// The step that is not possible when these variables are tracked.
    fn refuted(&self, cx: &Cx, steps: &[Step], tracked: &Tracked) -> Result<Option<usize>, Stop> {
        let mut states = vec![self.transfer.top()];
        for (index, &step) in steps.iter().enumerate() {
            if index.is_multiple_of(64) {
                cx.check()?;
            }
            states = states.iter().flat_map(|state| self.transfer.post(state, step, tracked)).collect();
            if states.is_empty() {
                return Ok(Some(index));
            }
            if states.len() > MOST_STATES {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The variables of the assumptions on a path, and those that these depend on.
    fn relevant(&self, steps: &[Step]) -> BTreeSet<VarId> {
        let program = self.transfer.program();
        let mut vars = BTreeSet::new();
        for step in steps {
            if let Op::Assume { cond, .. } = program.edge(step.edge()).op {
                vars.extend(program.exprs.vars(cond));
            }
        }
        loop {
            let before = vars.len();
            for &step in steps.iter().rev() {
                let op = &program.edge(step.edge()).op;
                match (step, op) {
                    (Step::Enter(_), Op::Call { callee, args, .. }) => {
                        for (param, &arg) in program.func(*callee).params.iter().zip(args) {
                            if vars.contains(param) {
                                vars.extend(program.exprs.vars(arg));
                            }
                        }
                    }
                    (Step::Leave(_), Op::Call { callee, result: Some(result), .. }) => {
                        if vars.contains(result) {
                            vars.extend(program.func(*callee).ret);
                        }
                    }
                    (Step::Edge(_), _) => {
                        if op.written().is_some_and(|var| vars.contains(&var)) {
                            vars.extend(program.read_by(op));
                        }
                    }
                    (Step::Enter(_) | Step::Leave(_), _) => {}
                }
            }
            if vars.len() == before {
                return vars;
            }
        }
    }
}

impl Refiner for OctagonRefiner {
    fn name(&self) -> &'static str {
        "octagon"
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let path = arg.path_to(target);
        let limited = self.time.map(|time| cx.share(time));
        let end = match self.refuted(limited.as_ref().unwrap_or(cx), &path.steps, &None) {
            Ok(Some(end)) => end,
            Ok(None) => return Ok(Refinement::NotMine),
            Err(stop) => {
                // Only the time for this path may be over.
                cx.check()?;
                return if stop == Stop::Timeout { Ok(Refinement::NotMine) } else { Err(stop) };
            }
        };
        let vars = self.relevant(&path.steps[..=end]);
        let Some(known) = arg.precision(target).get(self.handle) else { return Ok(Refinement::NotMine) };
        if vars.is_subset(known) {
            return Ok(Refinement::NotMine);
        }
        let program = self.transfer.program();
        let mentions = |step: &Step| {
            let op = &program.edge(step.edge()).op;
            program.read_by(op).into_iter().chain(op.written()).any(|var| vars.contains(&var) && !known.contains(&var))
        };
        // Before the first step with a new variable nothing changes.
        let first = path.steps[..=end].iter().position(mentions).unwrap_or(0);
        let pivot = path.nodes[first + 1];
        let precision = Self::track(self.handle, arg, target, vars);
        Ok(Refinement::Spurious { cuts: vec![Cut { pivot, precisions: vec![precision] }] })
    }
}

impl std::fmt::Debug for OctagonRefiner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OctagonRefiner").finish_non_exhaustive()
    }
}
