// SPDX-License-Identifier: Apache-2.0
//! Proofs by summaries of loops, put together.

use std::collections::BTreeSet;
use std::sync::Arc;

use algo_summaries::Summaries;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome};

use super::Analysis;

/// Proofs by summaries of loops.
pub struct SummariesAnalysis {
    summaries: Summaries,
}

impl SummariesAnalysis {
    /// Shows that no execution of `program` reaches the targets.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        Self { summaries: Summaries::new(program, targets) }
    }
}

impl Analysis for SummariesAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.summaries.run(cx)
    }

    fn restarts(&self) -> bool {
        true
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let counts = self.summaries.statistics();
        vec![
            ("Number of attempts to summarise loops".into(), counts.attempts.to_string()),
            ("Number of queries about summaries".into(), counts.queries.to_string()),
            ("Number of terms in summaries".into(), counts.terms.to_string()),
        ]
    }
}
