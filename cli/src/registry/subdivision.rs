// SPDX-License-Identifier: Apache-2.0
//! Execution with ranges of inputs, put together.

use std::collections::BTreeSet;
use std::sync::Arc;

use algo_exec::Subdivision;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome};

use super::Analysis;
use crate::options::Config;

/// Execution with ranges of inputs, with its configuration.
pub struct SubdivisionAnalysis {
    subdivision: Subdivision,
}

impl SubdivisionAnalysis {
    /// Execution of `program` with ranges.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Self {
        let max_bytes = usize::try_from(config.execution_memory.0).unwrap_or(usize::MAX);
        Self { subdivision: Subdivision::new(program, targets, max_bytes) }
    }
}

impl Analysis for SubdivisionAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.subdivision.run(cx)
    }

    fn statistics(&self) -> Vec<(String, String)> {
        vec![("Number of runs with ranges of inputs".into(), self.subdivision.runs().to_string())]
    }
}
