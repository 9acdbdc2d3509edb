// SPDX-License-Identifier: Apache-2.0
//! The result of a run as one typed value, and how it is told: as text, as JSON, as SARIF.

use cfa::location::Location;
use serde_json::{Value, json};

use crate::path::{Kind, PathStep};
use crate::verdict::VerdictLine;

/// More steps than these are not put into JSON and SARIF.
const MAX_STEPS: usize = 10_000;
/// More lines than these of the steps that matter are not printed.
const MAX_LINES: usize = 40;

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The version of the tool.
    pub version: String,
    /// The verdict.
    pub verdict: VerdictLine,
    /// The short name of the property.
    pub property: String,
    /// Why there is no answer.
    pub reason: Option<String>,
    /// What could be done about it.
    pub advice: Vec<String>,
    /// The stage of the plan that found the answer.
    pub found_by: Option<String>,
    /// What the user should know about how the configuration was used.
    pub notes: Vec<String>,
    /// What was assumed.
    pub assumptions: Vec<String>,
    /// What was asked for beside the result.
    pub dump: Vec<String>,
    /// Labels and values of the statistics.
    pub statistics: Vec<(String, String)>,
    /// The run to the error.
    pub violation: Option<Violation>,
    /// Invariants at loops, where they were asked for.
    pub invariants: Vec<(Location, String)>,
}

/// A run to the error.
#[derive(Clone, Debug, Default)]
pub struct Violation {
    /// The inputs as lines.
    pub inputs: Vec<String>,
    /// The steps.
    pub steps: Vec<PathStep>,
    /// How many further steps the run has.
    pub further: u64,
    /// Whether the run was executed, and how or why not.
    pub confirmation: Option<Result<String, String>>,
}

impl Summary {
    /// A run without an answer.
    pub fn unknown(version: &str, property: &str, reason: &str) -> Self {
        Self {
            version: version.to_string(),
            verdict: VerdictLine::Unknown,
            property: property.to_string(),
            reason: Some(reason.to_string()),
            advice: Vec::new(),
            found_by: None,
            notes: Vec::new(),
            assumptions: Vec::new(),
            dump: Vec::new(),
            statistics: Vec::new(),
            violation: None,
            invariants: Vec::new(),
        }
    }

    /// The lines that are printed; the last one is the verdict.
    pub fn lines(&self, quiet: bool, verbose: bool) -> Vec<String> {
        let mut lines = self.dump.clone();
        lines.extend(self.statistics.iter().map(|(label, value)| format!("{label}: {value}")));
        if !quiet {
            lines.extend(self.notes.iter().map(|note| format!("Note: {note}")));
            lines.extend(self.assumptions.iter().map(|text| format!("Assumed: {text}")));
            lines.extend(self.found_by.iter().map(|stage| format!("Found by: {stage}")));
        }
        if let Some(violation) = &self.violation {
            if !quiet {
                violation.lines(verbose, &mut lines);
            }
            lines.extend(violation.confirmation.iter().map(|confirmed| match confirmed {
                Ok(how) => format!("Confirmed: executed with these inputs, the program reaches the error ({how})"),
                Err(why) => format!("Not confirmed by execution: {why}"),
            }));
        }
        lines.extend(self.reason.iter().map(|reason| format!("Reason: {reason}")));
        lines.extend(self.advice.iter().map(|advice| format!("  {advice}")));
        lines.push(self.verdict.to_string());
        lines
    }

    /// One JSON object.
    pub fn json(&self) -> Value {
        let verdict = match &self.verdict {
            VerdictLine::True => "true",
            VerdictLine::False { .. } => "false",
            VerdictLine::Unknown => "unknown",
        };
        let statistics: Vec<Value> =
            self.statistics.iter().map(|(label, value)| json!({"label": label, "value": value})).collect();
        let invariants: Vec<Value> =
            self.invariants.iter().map(|(at, text)| json!({"location": place(at), "value": text})).collect();
        json!({
            "tool": "cpa-verify",
            "version": self.version,
            "verdict": verdict,
            "property": self.property,
            "reason": self.reason,
            "advice": self.advice,
            "found_by": self.found_by,
            "notes": self.notes,
            "assumptions": self.assumptions,
            "counterexample": self.violation.as_ref().map(Violation::json),
            "invariants": invariants,
            "statistics": statistics,
        })
    }

    /// A log in the Static Analysis Results Interchange Format, version 2.1.0.
    pub fn sarif(&self) -> Value {
        let (kind, level, text) = match &self.verdict {
            VerdictLine::True => ("pass", "none", "No execution reaches the error.".to_string()),
            VerdictLine::False { .. } => ("fail", "error", "The error can be reached.".to_string()),
            VerdictLine::Unknown => {
                ("open", "none", format!("No answer: {}.", self.reason.as_deref().unwrap_or("incomplete analysis")))
            }
        };
        let mut result = json!({
            "ruleId": self.property,
            "kind": kind,
            "level": level,
            "message": {"text": text},
        });
        if let Some(violation) = &self.violation {
            let placed = || violation.steps.iter().filter(|step| step.place.is_some());
            if let Some(last) = placed().next_back() {
                result["locations"] = json!([location(last)]);
            }
            let steps: Vec<Value> = placed()
                .take(MAX_STEPS)
                .map(|step| {
                    let importance = if step.matters { "important" } else { "unimportant" };
                    json!({"location": location(step), "importance": importance})
                })
                .collect();
            result["codeFlows"] = json!([{"threadFlows": [{"locations": steps}]}]);
        }
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "cpa-verify",
                    "version": self.version,
                    "rules": [{"id": self.property, "shortDescription": {"text": "an error must not be reached"}}],
                }},
                "results": [result],
            }],
        })
    }
}

fn place(at: &Location) -> Value {
    json!({"file": at.file, "line": at.line, "column": at.column})
}

/// A step as a SARIF location.
fn location(step: &PathStep) -> Value {
    let values: Vec<String> = step.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let text = if values.is_empty() { step.text.clone() } else { format!("{} ({})", step.text, values.join(", ")) };
    let mut result = json!({"message": {"text": text}});
    if let Some(at) = &step.place {
        result["physicalLocation"] = json!({
            "artifactLocation": {"uri": at.file},
            "region": {"startLine": at.line, "startColumn": at.column},
        });
    }
    result
}

impl Violation {
    fn lines(&self, verbose: bool, lines: &mut Vec<String>) {
        lines.push("Counterexample, inputs in the order of execution:".to_string());
        if self.inputs.is_empty() {
            lines.push("  none".to_string());
        }
        lines.extend(self.inputs.iter().map(|line| format!("  {line}")));
        let all = verbose;
        let number = self.steps.len() as u64 + self.further;
        lines.push(if all {
            "Steps:".to_string()
        } else {
            format!("Steps that matter (all {number} with --verbose):")
        });
        let shown = crate::path::lines(&self.steps, all);
        let first = shown.len().saturating_sub(if all { usize::MAX } else { MAX_LINES });
        if first > 0 {
            lines.push(format!("  ... ({first} earlier steps)"));
        }
        lines.extend(shown[first..].iter().map(|line| format!("  {line}")));
        if self.further > 0 {
            lines.push(format!("  ... and {} further steps", self.further));
        }
    }

    fn json(&self) -> Value {
        let steps: Vec<Value> = self
            .steps
            .iter()
            .take(MAX_STEPS)
            .map(|step| {
                let values: serde_json::Map<String, Value> =
                    step.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                json!({
                    "location": step.place.as_ref().map(place),
                    "function": step.function,
                    "kind": step.kind.name(),
                    "text": step.text,
                    "values": values,
                    "matters": step.matters,
                })
            })
            .collect();
        let error = self.steps.iter().rev().find(|step| step.kind == Kind::Error).and_then(|step| step.place.as_ref());
        let confirmation = self.confirmation.as_ref().map(|confirmed| match confirmed {
            Ok(how) => json!({"confirmed": true, "how": how}),
            Err(why) => json!({"confirmed": false, "why": why}),
        });
        json!({
            "error": error.map(place),
            "inputs": self.inputs,
            "steps": steps,
            "number_of_steps": self.steps.len() as u64 + self.further,
            "confirmation": confirmation,
        })
    }
}
