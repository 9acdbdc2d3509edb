// SPDX-License-Identifier: Apache-2.0
//! Execution with all inputs, put together: bounded model checking of the part before the first loops or recursive calls finds which
//! inputs matter, the concrete machine does the rest.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_bmc::{Unrolling, before_cycles, input_ranges};
use algo_exec::Exhaustive;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Assurance, Cx, Outcome, Reason, Stop, Verdict};

use super::{Analysis, manager};
use crate::options::Config;

/// The greatest number of values of one input.
const MOST_VALUES: i128 = 1 << 16;
/// The greatest number of combinations of the inputs before the first loops.
const MOST_COMBINATIONS: i128 = 1 << 28;

/// Execution with all inputs, with its configuration.
pub struct ExhaustiveAnalysis {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    unrolling: Unrolling,
    max_bytes: usize,
    exhaustive: Option<Exhaustive>,
    notes: Vec<String>,
}

impl ExhaustiveAnalysis {
    /// Execution of `program` with all inputs; fails with a message when options do not fit.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        let mut notes = Vec::new();
        let manager = Rc::new(RefCell::new(manager(&program, config, &mut notes)?));
        let unrolling = before_cycles(&program, &targets, &manager);
        let max_bytes = usize::try_from(config.execution_memory.0).unwrap_or(usize::MAX);
        Ok(Self { program, targets, unrolling, max_bytes, exhaustive: None, notes })
    }

    fn prepare(&mut self, cx: &mut Cx) -> Result<Exhaustive, Stop> {
        let Some(ranges) = input_ranges(cx, &mut self.unrolling, MOST_VALUES)? else {
            return Err(Stop::GaveUp("the values of the inputs could not be bounded".to_string()));
        };
        let mut combinations = 1i128;
        for (low, high) in ranges.of.values() {
            combinations = combinations.saturating_mul(high - low + 1);
        }
        if combinations > MOST_COMBINATIONS {
            return Err(Stop::GaveUp(format!("the inputs have {combinations} combinations")));
        }
        let (program, targets) = (Arc::clone(&self.program), self.targets.clone());
        Ok(Exhaustive::new(program, targets, ranges.of, self.max_bytes))
    }
}

impl Analysis for ExhaustiveAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        if self.exhaustive.is_none() {
            match self.prepare(cx) {
                Ok(exhaustive) => self.exhaustive = Some(exhaustive),
                Err(stop) => {
                    let verdict = Verdict::Unknown(Reason::Stopped(stop));
                    return Outcome::conclude(verdict, Assurance::full(), self.program.assumptions.clone());
                }
            }
        }
        self.exhaustive.as_mut().expect("prepared above").run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let runs = self.exhaustive.as_ref().map_or(0, Exhaustive::runs);
        vec![("Number of executions with all inputs".into(), runs.to_string())]
    }
}
