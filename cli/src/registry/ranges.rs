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
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    fixpoint: Fixpoint,
    /// These are made when they are needed.
    rounds: Option<Rounds>,
    parts: Option<Fixpoint>,
}

impl RangesAnalysis {
    /// The fixpoint of ranges in `program`.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        let fixpoint = Fixpoint::new(Arc::clone(&program), targets.clone());
        Self { program, targets, fixpoint, rounds: None, parts: None }
    }
}

impl Analysis for RangesAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        let gave_up =
            |outcome: &Outcome| matches!(outcome.verdict(), Verdict::Unknown(Reason::Stopped(Stop::GaveUp(_))));
        let (program, targets) = (&self.program, &self.targets);
        let mut outcome = self.fixpoint.run(cx);
        if gave_up(&outcome) {
            let rounds = self.rounds.get_or_insert_with(|| Rounds::new(Arc::clone(program), targets.clone()));
            outcome = rounds.run(cx);
        }
        if gave_up(&outcome) {
            let parts = self.parts.get_or_insert_with(|| Fixpoint::by_parts(Arc::clone(program), targets.clone()));
            outcome = parts.run(cx);
        }
        outcome
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let steps = self.fixpoint.steps()
            + self.rounds.as_ref().map_or(0, Rounds::steps)
            + self.parts.as_ref().map_or(0, Fixpoint::steps);
        vec![("Number of steps with ranges".into(), steps.to_string())]
    }
}
