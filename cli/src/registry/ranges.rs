// SPDX-License-Identifier: Apache-2.0
//! Ranges that hold in all rounds of loops, put together.

use std::collections::BTreeSet;
use std::sync::Arc;

use algo_exec::{Fixpoint, Rounds};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome, Reason, Stop, Verdict};

use super::Analysis;

/// The fixpoint of ranges, and that of combinations of values where ranges alone prove nothing.
pub struct RangesAnalysis {
    fixpoint: Fixpoint,
    rounds: Rounds,
}

impl RangesAnalysis {
    /// The fixpoint of ranges in `program`.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        Self { fixpoint: Fixpoint::new(Arc::clone(&program), targets.clone()), rounds: Rounds::new(program, targets) }
    }
}

impl Analysis for RangesAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        let outcome = self.fixpoint.run(cx);
        match outcome.verdict() {
            Verdict::Unknown(Reason::Stopped(Stop::GaveUp(_))) => self.rounds.run(cx),
            _ => outcome,
        }
    }

    fn statistics(&self) -> Vec<(String, String)> {
        vec![("Number of steps with ranges".into(), (self.fixpoint.steps() + self.rounds.steps()).to_string())]
    }
}
