// SPDX-License-Identifier: Apache-2.0
//! Proofs by summaries of whole loops: a program is executed symbolically, and each loop is passed in one step, by closed forms
//! of what its iterations do to variables and to the contents of arrays. What is left are questions without quantifiers and
//! without loops.
//!
//! * `poly`, `range`, `pool`, `subst`, `arrays`: values as polynomials over what is not known, contents of arrays as
//!   functions, conditions; sums.
//! * `prove`: what follows from what is known, by intervals and by a solver for integers.
//! * `state`, `eval`, `walk`: the symbolic execution.
//! * `guess`, `loops`, `tables`, `exits`: closed forms, why they hold, and what is behind a loop.
//! * `extrema`: the least and the greatest of the values seen.
//! * `relations`, `totals`: elements that are written at unknown positions, and sums over all of them.
//!
//! The analysis proves only. Where its summaries are not exact they say less than the loop does, and a target that they do
//! not exclude is no counterexample.

mod arrays;
#[cfg(test)]
mod display;
mod eval;
mod exits;
mod extrema;
mod guess;
mod limits;
mod loops;
mod poly;
mod pool;
mod prove;
mod range;
mod relations;
mod state;
mod subst;
mod tables;
mod totals;
mod walk;

use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Assurance, Cx, Outcome, Reason, Stop, Verdict};

use state::State;
use walk::{Manner, Walker};

/// Counts of what happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Attempts, each with another way to summarise.
    pub attempts: u64,
    /// Questions to the solver.
    pub queries: u64,
    /// Terms of the largest attempt.
    pub terms: usize,
}

/// Verification by summaries of loops.
pub struct Summaries {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    statistics: Statistics,
    verdict: Option<Verdict>,
}

impl Summaries {
    /// An analysis that shows that no target can be reached.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        Summaries { program, targets, statistics: Statistics::default(), verdict: None }
    }

    /// Counts of what happened so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Runs until there is a verdict, which is `True` or `Unknown`.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let verdict = match self.verdict.clone() {
            Some(verdict) => verdict,
            None => self.attempts(cx),
        };
        Outcome::conclude(verdict, Assurance::full(), self.program.assumptions.clone())
    }

    fn attempts(&mut self, cx: &mut Cx) -> Verdict {
        let mut result = self.attempt(cx, Manner { peel: false });
        if matches!(result, Err(Stop::GaveUp(_))) {
            result = self.attempt(cx, Manner { peel: true });
        }
        match result {
            Ok(()) => self.verdict.insert(Verdict::True).clone(),
            Err(stop @ Stop::GaveUp(_)) => self.verdict.insert(Verdict::Unknown(Reason::Stopped(stop))).clone(),
            Err(stop) => Verdict::Unknown(Reason::Stopped(stop)),
        }
    }

    /// Shows that no target can be reached, or says why not.
    fn attempt(&mut self, cx: &Cx, manner: Manner) -> Result<(), Stop> {
        self.statistics.attempts += 1;
        let program = Arc::clone(&self.program);
        let mut walker = Walker::new(cx, &program, &self.targets, manner);
        let result = walker.walk(program.entry, State::new(), None).and_then(|walked| {
            for mut state in walked.hits {
                if walker.prover.excluded(&mut walker.pool, &state.facts, pool::Pool::truth(true))? {
                    continue;
                }
                if let Some(facts) = walker.totals(&state)? {
                    state.facts = facts;
                }
                if !walker.prover.excluded(&mut walker.pool, &state.facts, pool::Pool::truth(true))? {
                    return Err(Stop::GaveUp("the summaries of the loops do not exclude an error".to_string()));
                }
            }
            Ok(())
        });
        self.statistics.queries += walker.prover.counts.queries;
        self.statistics.terms = self.statistics.terms.max(walker.pool.size());
        result
    }
}
