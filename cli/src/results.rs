// SPDX-License-Identifier: Apache-2.0
//! What is made of the outcome of a run: lines for the reader, and the files that were asked for.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cfa::{Program, Property};
use cpa_core::{Counterexample, Invariants, Verdict};
use report::sha256::{digest, hex};
use report::text::iso_time;
use report::verdict::VerdictLine;
use report::witness::{self, Metadata, Version};
use report::{counterexample, harness};

use crate::args::{Args, WitnessFormat};
use crate::confirm::confirm;
use crate::portfolio::Answer;
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
    pub answer: &'a Answer,
    /// What the user asked for.
    pub args: &'a Args,
}

impl Results<'_> {
    /// Adds the verdict and what belongs to it, and writes the files.
    pub fn add_to(&self, reply: &mut Reply) -> Result<(), RunError> {
        reply.verdict = Some(match self.answer.outcome.verdict() {
            Verdict::True => {
                self.proof()?;
                VerdictLine::True
            }
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
        if let Some(path) = &self.args.witness {
            match witness::violation(program, self.property, run, &self.metadata()?) {
                Some(text) => write(path, &text)?,
                None => reply.lines.push("No witness is written: it is not known where the run ends".to_string()),
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

impl Results<'_> {
    fn proof(&self) -> Result<(), RunError> {
        let Some(path) = &self.args.witness else { return Ok(()) };
        let nothing = Invariants::new();
        let invariants = self.answer.invariants.as_deref().unwrap_or(&nothing);
        write(path, &witness::correctness(self.program, invariants, &self.metadata()?))
    }

    fn metadata(&self) -> Result<Metadata, RunError> {
        let file = |path: &std::path::PathBuf| {
            let name = path.display().to_string();
            let bytes = fs::read(path).map_err(|error| RunError::Output(format!("cannot read {name}: {error}")))?;
            Ok((name, hex(&digest(&bytes))))
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Metadata {
            version: match self.args.witness_format {
                WitnessFormat::V2_0 => Version::V2_0,
                WitnessFormat::V2_1 => Version::V2_1,
            },
            producer: env!("CARGO_PKG_VERSION").to_string(),
            configuration: self.args.preset.clone(),
            created: iso_time(now.as_secs()),
            files: self.args.programs.iter().map(file).collect::<Result<_, _>>()?,
            specification: self.property.to_string(),
        })
    }
}

/// Writes a file that was asked for.
fn write(path: &Path, text: &str) -> Result<(), RunError> {
    fs::write(path, text).map_err(|error| RunError::Output(format!("cannot write {}: {error}", path.display())))
}
