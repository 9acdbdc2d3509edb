// SPDX-License-Identifier: Apache-2.0
//! Exploration of states, put together.

use std::collections::BTreeSet;
use std::sync::Arc;

use algo_exec::{States, StatesOptions};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome};

use super::Analysis;
use crate::options::{Config, InitialPrecision};

/// Exploration of states with its configuration.
pub struct StatesAnalysis {
    states: States,
}

impl StatesAnalysis {
    /// Exploration of the states of `program`, looking for the targets.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Self {
        let options = StatesOptions {
            values: config.states_values as usize,
            max_bytes: usize::try_from(config.states_memory.0).unwrap_or(usize::MAX),
            refine: config.states_precision == InitialPrecision::Empty,
            ..StatesOptions::default()
        };
        Self { states: States::new(program, &targets, options) }
    }
}

impl Analysis for StatesAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.states.run(cx)
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let counts = self.states.statistics();
        vec![
            ("Number of explorations of states".into(), counts.attempts.to_string()),
            ("Number of variables with known values".into(), counts.tracked.to_string()),
            ("Number of states".into(), counts.states.to_string()),
            ("Number of states explored further".into(), counts.expanded.to_string()),
            ("Number of steps between states".into(), counts.steps.to_string()),
        ]
    }
}
