// SPDX-License-Identifier: Apache-2.0
//! Ranges that hold in all rounds of loops, put together.

use std::collections::BTreeSet;
use std::sync::Arc;

use algo_exec::Fixpoint;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome};

use super::Analysis;

/// The fixpoint of ranges.
pub struct RangesAnalysis {
    fixpoint: Fixpoint,
}

impl RangesAnalysis {
    /// The fixpoint of ranges in `program`.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        Self { fixpoint: Fixpoint::new(program, targets) }
    }
}

impl Analysis for RangesAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.fixpoint.run(cx)
    }

    fn statistics(&self) -> Vec<(String, String)> {
        vec![("Number of steps with ranges".into(), self.fixpoint.steps().to_string())]
    }
}
