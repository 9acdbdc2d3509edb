// SPDX-License-Identifier: Apache-2.0
//! The check of a counterexample by another configuration: that one analyses the path program of all paths of the graph
//! that lead to the target (document 001, section 2.3.4).
//!
//! If it proves the path program, the counterexample does not exist, and the analysis ends without an answer, so that a
//! plan can go on with its next stage. A run that it finds is a run of the program. If it has no answer, the next refiner
//! is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::Program;
use cpa_core::{Arg, ArgId, Cx, Reason, Refinement, Refiner, Stop, Target, Verdict};

use super::analysis;
use crate::options::Config;
use crate::presets;

/// Checks paths by the configuration of a preset.
pub(super) struct PathProgramCheck {
    program: Arc<Program>,
    preset: String,
    config: Config,
}

impl PathProgramCheck {
    /// The check that a configuration asks for, if it does; fails with a message when there is no such preset.
    pub(super) fn of(program: &Arc<Program>, config: &Config) -> Result<Option<Self>, String> {
        let preset = config.cex_checker.clone();
        if preset == "none" {
            return Ok(None);
        }
        let mut checker = config.stage_base();
        presets::apply_preset(&mut checker, &preset)
            .map_err(|error| format!("counterexample.checker.config: {error}"))?;
        if checker.cex_checker != "none" || checker.is_staged() {
            return Err(format!("counterexample.checker.config: the preset {preset} runs several analyses"));
        }
        Ok(Some(Self { program: Arc::clone(program), preset, config: checker }))
    }
}

impl Refiner for PathProgramCheck {
    fn name(&self) -> &'static str {
        "check by another configuration"
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let Some(&Target::Violation(node)) = arg.target(target) else { return Ok(Refinement::NotMine) };
        // Where states were merged, there are several paths.
        let (mut edges, mut seen, mut open) = (BTreeSet::new(), BTreeSet::from([target]), vec![target]);
        while let Some(id) = open.pop() {
            for &(parent, step) in arg.parents(id) {
                edges.insert(step.edge());
                if seen.insert(parent) {
                    open.push(parent);
                }
            }
        }
        let program = Arc::new(self.program.path_program(&edges));
        let mut checker = analysis(program, BTreeSet::from([node]), &self.config).map_err(Stop::GaveUp)?;
        let outcome = checker.run(cx);
        match outcome.verdict() {
            Verdict::True => {
                Err(Stop::GaveUp(format!("the path to {node} that it found does not exist, says '{}'", self.preset)))
            }
            Verdict::False(cex) => Ok(Refinement::Feasible(cex.clone())),
            Verdict::Unknown(Reason::Stopped(stop @ (Stop::Timeout | Stop::MemoryOut | Stop::Cancelled))) => {
                Err(stop.clone())
            }
            Verdict::Unknown(_) => Ok(Refinement::NotMine),
        }
    }
}
