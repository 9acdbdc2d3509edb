// SPDX-License-Identifier: Apache-2.0
//! Ranges that hold in all rounds of loops, put together.

use std::collections::BTreeSet;
use std::sync::Arc;

use algo_exec::{Fixpoint, Rounds};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome, Reason, Stop, Verdict};

use super::Analysis;

/// The fixpoint of ranges; where that proves nothing that of combinations of values, and ranges for parts of the inputs.
pub struct RangesAnalysis {
    fixpoint: Fixpoint,
    rounds: Rounds,
    parts: Fixpoint,
}

impl RangesAnalysis {
    /// The fixpoint of ranges in `program`.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        Self {
            fixpoint: Fixpoint::new(Arc::clone(&program), targets.clone()),
            rounds: Rounds::new(Arc::clone(&program), targets.clone()),
            parts: Fixpoint::by_parts(program, targets),
        }
    }
}

impl Analysis for RangesAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        let gave_up =
            |outcome: &Outcome| matches!(outcome.verdict(), Verdict::Unknown(Reason::Stopped(Stop::GaveUp(_))));
        let mut outcome = self.fixpoint.run(cx);
        if gave_up(&outcome) {
            outcome = self.rounds.run(cx);
        }
        if gave_up(&outcome) {
            outcome = self.parts.run(cx);
        }
        outcome
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let steps = self.fixpoint.steps() + self.rounds.steps() + self.parts.steps();
        vec![("Number of steps with ranges".into(), steps.to_string())]
    }
}
