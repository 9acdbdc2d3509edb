// SPDX-License-Identifier: Apache-2.0
//! The sliced path as a chain of Horn clauses, solved by Z3's Spacer.
//!
//! Each cut becomes a predicate over the variables that are live there in the slice, each block a rule with its path
//! formula as the body (Hoder, Bjørner, *Generalized Property Directed Reachability*, SAT 2012, for interpolants as Horn
//! solutions). Spacer generalises over constants better than weakest preconditions do, but may take long: its time is
//! limited.

use std::time::Duration;

use super::engine::{Interpolator, ItpOutcome, Task};
use super::newton::slice;
use super::slice::Liveness;
use crate::path::PathFormula;
use crate::solver::spacer::{ChainResult, ChainStep, solve_chain};
use crate::solver::{Z3Config, measured};
use crate::term::TermId;

/// The engine.
#[derive(Clone, Debug)]
pub struct Spacer {
    /// Attempts to make the core smaller that gives the slice.
    pub core_attempts: usize,
    /// The time for one path.
    pub timeout: Duration,
}

impl Interpolator for Spacer {
    fn name(&self) -> &'static str {
        "spacer"
    }

    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome {
        let slice = match slice(task, self.core_attempts) {
            Ok(slice) => slice,
            Err(why) => return ItpOutcome::GaveUp(why),
        };
        if task.path.has_floats(task.terms) {
            return ItpOutcome::GaveUp("Spacer knows no floating-point numbers".to_owned());
        }
        let liveness = Liveness::new(task.terms, task.path, &slice);
        let mut steps = Vec::with_capacity(task.path.len());
        for b in 0..task.path.len() {
            let Some(formula) = slice.extend(task.terms, task.path, b, PathFormula::empty()) else {
                // Nothing passes this block; Spacer gives no useful covers then.
                let cut = |i| if i < b { TermId::TRUE } else { TermId::FALSE };
                return ItpOutcome::Sequence((0..task.path.len() - 1).map(cut).collect());
            };
            let pre = if b == 0 { Vec::new() } else { liveness.at_entry(b) };
            let after = if b + 1 < task.path.len() { liveness.at_entry(b + 1) } else { Vec::new() };
            let post = after.into_iter().map(|sym| (sym, formula.value(task.terms, sym))).collect();
            steps.push(ChainStep { pre, relation: formula.pc, post });
        }
        let limits = task.limits.at_most(self.timeout);
        let chain = || solve_chain(task.terms, &Z3Config::default(), &steps, &limits);
        match measured(&mut task.found.outside, chain) {
            ChainResult::Unreachable(cuts) => ItpOutcome::Sequence(cuts),
            ChainResult::Reachable => ItpOutcome::GaveUp("Spacer says that the slice has an execution".to_owned()),
            ChainResult::Unknown(why) => ItpOutcome::GaveUp(why),
        }
    }
}
