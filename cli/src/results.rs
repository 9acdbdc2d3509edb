// SPDX-License-Identifier: Apache-2.0
//! What is made of the outcome of a run: lines for the reader, and the files that were asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cfa::{Program, Property};
use cpa_core::{Counterexample, Invariants, Verdict};
use report::html::{self, Extras};
use report::sha256::{digest, hex};
use report::summary::{Summary, Violation};
use report::text::iso_time;
use report::verdict::VerdictLine;
use report::witness::{self, Metadata, Version};
use report::{counterexample, graphml, harness, path};

use crate::args::{Args, WitnessFormat};
use crate::confirm::confirm;
use crate::explain::explain;
use crate::options::Config;
use crate::portfolio::Answer;
use crate::validate::{self, Task, Validity};
use crate::verify::RunError;

/// The version of the tool.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

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
    /// What came out; writes the files that were asked for.
    pub fn summary(&self) -> Result<Summary, RunError> {
        let outcome = &self.answer.outcome;
        let mut summary = Summary::unknown(VERSION, self.name, "");
        summary.reason = None;
        let notes: BTreeSet<&String> = self.answer.turns.iter().flat_map(|(_, turn)| &turn.notes).collect();
        summary.notes = notes.into_iter().cloned().collect();
        if self.answer.panicked {
            summary.notes.push("some stage of the plan ended by an internal error".to_string());
        }
        summary.assumptions = outcome.assumptions().to_vec();
        match outcome.verdict() {
            Verdict::True => {
                summary.verdict = VerdictLine::True;
                self.proof(&mut summary)?;
            }
            Verdict::False(run) => {
                summary.verdict = VerdictLine::False { property: Some(self.name.to_string()) };
                self.violation(run, &mut summary)?;
            }
            Verdict::Unknown(reason) => {
                summary.reason = Some(reason.to_string());
                if self.args.explain_unknown || self.args.report.is_some() {
                    summary.advice = explain(self.program, self.answer, reason);
                }
            }
        }
        Ok(summary)
    }

    fn violation(&self, run: &Counterexample, summary: &mut Summary) -> Result<(), RunError> {
        let program = self.program;
        if let Some(path) = &self.args.witness {
            let write_witness = match self.args.witness_format {
                WitnessFormat::GraphMl => graphml::violation,
                WitnessFormat::V2_0 | WitnessFormat::V2_1 => witness::violation,
            };
            match write_witness(program, self.property, run, &self.metadata()?) {
                Some(text) => write(path, &text)?,
                None => summary.notes.push("no witness is written: it is not known where the run ends".to_string()),
            }
        }
        let mut violation = Violation::default();
        if !self.args.quiet || self.args.report.is_some() {
            violation.inputs = counterexample::inputs(program, run);
            violation.steps = path::steps(program, self.property, run);
            violation.further = run.rest.as_ref().map_or(0, |rest| rest.steps);
        }
        if self.args.harness.is_some() || self.args.confirm {
            let harness = harness::harness(program, self.property, run);
            if let Some(path) = &self.args.harness {
                write(path, &harness.text)?;
            }
            if self.args.confirm {
                violation.confirmation = Some(confirm(program, self.property, run, &harness));
            }
        }
        summary.violation = Some(violation);
        Ok(())
    }

    fn proof(&self, summary: &mut Summary) -> Result<(), RunError> {
        let nothing = Invariants::new();
        let invariants = self.answer.invariants.as_deref().unwrap_or(&nothing);
        let known = witness::loop_invariants(self.program, invariants);
        summary.invariants = known.into_iter().map(|known| (self.program.location(known.place), known.text)).collect();
        let Some(path) = &self.args.witness else { return Ok(()) };
        let write_witness = match self.args.witness_format {
            WitnessFormat::GraphMl => graphml::correctness,
            WitnessFormat::V2_0 | WitnessFormat::V2_1 => witness::correctness,
        };
        write(path, &write_witness(self.program, invariants, &self.metadata()?))
    }

    /// Writes the report.
    pub fn report(&self, path: &Path, summary: &Summary, config: &Config) -> Result<(), RunError> {
        let options = config.values().into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        let explored = self.turn().and_then(|turn| turn.picture.clone());
        let extras = Extras { options, explored, log: self.answer.log.clone() };
        write(path, &html::report(self.program, summary, &extras))
    }

    /// Lets a verdict stand only if its witness is accepted.
    pub fn self_check(&self, task: &Task<'_>, summary: &mut Summary) -> Result<(), RunError> {
        let metadata = self.metadata()?;
        let nothing = Invariants::new();
        let (text, expected) = match self.answer.outcome.verdict() {
            Verdict::True => {
                let invariants = self.answer.invariants.as_deref().unwrap_or(&nothing);
                (Some(witness::correctness(self.program, invariants, &metadata)), Validity::Proof)
            }
            Verdict::False(run) => {
                (witness::violation(self.program, self.property, run, &metadata), Validity::Violation)
            }
            Verdict::Unknown(_) => return Ok(()),
        };
        let checked = match text.map(|text| validate::read(&text, &self.args.programs)) {
            None => Err("there is none".to_string()),
            Some(Err(problems)) => Err(format!("it is malformed: {problems}")),
            Some(Ok(witness)) => match task.check(&witness)? {
                found if found == expected => Ok(()),
                Validity::Proof | Validity::Violation => Err("it says the opposite".to_string()),
                Validity::Rejected(why) | Validity::Unknown(why) => Err(why),
            },
        };
        match checked {
            Ok(()) => summary.notes.push("the witness of the verdict was accepted by the self-check".to_string()),
            Err(why) => {
                summary.reason =
                    Some(format!("the verdict {} did not pass the self-check: {why}", expected_word(&expected)));
                summary.verdict = VerdictLine::Unknown;
            }
        }
        Ok(())
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
                WitnessFormat::V2_0 | WitnessFormat::GraphMl => Version::V2_0,
                WitnessFormat::V2_1 => Version::V2_1,
            },
            producer: VERSION.to_string(),
            configuration: self.args.preset.clone(),
            created: iso_time(now.as_secs()),
            files: self.args.programs.iter().map(file).collect::<Result<_, _>>()?,
            specification: self.property.to_string(),
        })
    }
}

fn expected_word(validity: &Validity) -> &'static str {
    if *validity == Validity::Proof { "TRUE" } else { "FALSE" }
}

/// Writes a file that was asked for.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), RunError> {
    fs::write(path, text).map_err(|error| RunError::Output(format!("cannot write {}: {error}", path.display())))
}
