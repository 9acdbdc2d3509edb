// SPDX-License-Identifier: Apache-2.0
//! Execution with concrete inputs, put together.

use std::collections::BTreeSet;
use std::sync::Arc;

use algo_exec::{Execution, Options};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome};

use super::Analysis;
use crate::options::Config;

/// Verification by execution with its configuration.
pub struct ExecutionAnalysis {
    execution: Execution,
}

impl ExecutionAnalysis {
    /// Execution of `program`, looking for the targets.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Self {
        let options = Options {
            random: config.execution_random,
            max_runs: u64::from(config.execution_runs),
            max_length: u64::from(config.execution_length),
            max_bytes: usize::try_from(config.execution_memory.0).unwrap_or(usize::MAX),
            seed: u64::from(config.execution_seed),
        };
        Self { execution: Execution::new(program, targets, options) }
    }
}

impl Analysis for ExecutionAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.execution.run(cx)
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let counts = self.execution.statistics();
        vec![
            ("Number of executions with chosen inputs".into(), counts.runs.to_string()),
            ("Executions without a usable end".into(), counts.failed.to_string()),
            ("Executions that were cut off".into(), counts.cut.to_string()),
            ("Executions that covered something new".into(), counts.kept.to_string()),
            ("Number of covered branches".into(), counts.branches.to_string()),
        ]
    }
}
