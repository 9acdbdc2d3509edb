// SPDX-License-Identifier: Apache-2.0
//! What is made of the outcome of a run: lines for the reader, and the files that were asked for.

use std::fs;
use std::path::Path;

use cfa::{Program, Property};
use cpa_core::{Counterexample, Outcome, Verdict};
use report::verdict::VerdictLine;
use report::{counterexample, harness};

use crate::args::Args;
use crate::confirm::confirm;
use crate::verify::{Reply, RunError};

/// A finished run.
pub struct Results<'a> {
    /// The program.
    pub program: &'a Program,
    /// What must not be reached.
    pub property: &'a Property,
    /// The short name of the property.
    pub name: &'a str,
    /// What came out.
    pub outcome: &'a Outcome,
    /// What the user asked for.
    pub args: &'a Args,
}

impl Results<'_> {
    /// Adds the verdict and what belongs to it, and writes the files.
    pub fn add_to(&self, reply: &mut Reply) -> Result<(), RunError> {
        reply.verdict = Some(match self.outcome.verdict() {
            Verdict::True => VerdictLine::True,
            Verdict::False(run) => {
                self.violation(run, reply)?;
                VerdictLine::False { property: Some(self.name.to_string()) }
            }
            Verdict::Unknown(reason) => {
                reply.reason = Some(reason.to_string());
                VerdictLine::Unknown
            }
        });
        Ok(())
    }

    fn violation(&self, run: &Counterexample, reply: &mut Reply) -> Result<(), RunError> {
        let program = self.program;
        if !self.args.quiet {
            reply.lines.push("Counterexample, inputs in the order of execution:".to_string());
            let inputs = counterexample::inputs(program, run);
            let none = inputs.is_empty().then(|| "none".to_string());
            reply.lines.extend(inputs.into_iter().chain(none).map(|line| format!("  {line}")));
            if self.args.verbose {
                reply.lines.push("Steps:".to_string());
                reply.lines.extend(counterexample::steps(program, run).into_iter().map(|line| format!("  {line}")));
            }
        }
        if self.args.harness.is_none() && !self.args.confirm {
            return Ok(());
        }
        let harness = harness::harness(program, self.property, run);
        if let Some(path) = &self.args.harness {
            write(path, &harness.text)?;
        }
        if self.args.confirm {
            reply.lines.push(match confirm(program, self.property, run, &harness) {
                Ok(how) => format!("Confirmed: executed with these inputs, the program reaches the error ({how})"),
                Err(why) => format!("Not confirmed by execution: {why}"),
            });
        }
        Ok(())
    }
}

/// Writes a file that was asked for.
fn write(path: &Path, text: &str) -> Result<(), RunError> {
    fs::write(path, text).map_err(|error| RunError::Output(format!("cannot write {}: {error}", path.display())))
}
