// SPDX-License-Identifier: Apache-2.0
//! Proofs by contracts of recursive functions, put together.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_contracts::Contracts;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Cx, Outcome};

use super::{Analysis, manager};
use crate::options::Config;

/// Proofs by contracts with their configuration.
pub struct ContractsAnalysis {
    contracts: Contracts,
    notes: Vec<String>,
}

impl ContractsAnalysis {
    /// Shows that no execution of `program` reaches the targets; fails with a message when options do not fit.
    pub fn new(program: &Arc<Program>, targets: &BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        let mut notes = Vec::new();
        let manager = Rc::new(RefCell::new(manager(program, config, &mut notes)?));
        Ok(Self { contracts: Contracts::new(program, targets, &manager), notes })
    }
}

impl Analysis for ContractsAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.contracts.run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let counts = self.contracts.statistics();
        vec![
            ("Number of functions with contracts".into(), counts.functions.to_string()),
            ("Number of candidates for contracts".into(), counts.candidates.to_string()),
            ("Number of rounds of dropping candidates".into(), counts.rounds.to_string()),
        ]
    }
}
