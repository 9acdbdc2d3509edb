// SPDX-License-Identifier: Apache-2.0
//! The judgement of evidence: a counterexample that was executed, a witness that a second run of the tool accepts.

use serde::{Deserialize, Serialize};

use crate::{
    answer::{Answer, Verdict},
    limits::{End, Outcome},
};

/// What is known about the evidence for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// It is accepted.
    Confirmed,
    /// It is refuted.
    Rejected,
    /// Neither.
    Unknown,
}

impl Judgement {
    /// As it stands in result files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Confirmed => "confirmed",
            Judgement::Rejected => "rejected",
            Judgement::Unknown => "unknown",
        }
    }
}

/// The check of the evidence of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// What came out.
    pub outcome: Judgement,
    /// Why it is not confirmed.
    pub reason: Option<String>,
    /// CPU time of the check in seconds.
    pub cpu_s: f64,
}

/// Judges what the second run said about the verdict of the first one. A counterexample that the tool executed must have
/// reached the error, too.
pub fn judge(first: &Answer, second: &Answer, outcome: &Outcome, cpu_s: f64) -> Checked {
    let why = second.explanation().unwrap_or("no reason given");
    let known = |verdict: Option<Verdict>| matches!(verdict, Some(Verdict::True | Verdict::False));
    let (judgement, reason) = if second.verdict == first.verdict {
        match &first.executed {
            Some(Err(why)) => (Judgement::Unknown, Some(format!("execution: {why}"))),
            Some(Ok(())) | None => (Judgement::Confirmed, None),
        }
    } else if known(second.verdict) || why.starts_with("the witness is rejected: ") {
        (Judgement::Rejected, Some(format!("witness: {why}")))
    } else {
        match outcome.end {
            End::Time => (Judgement::Unknown, Some("witness: the check ran out of time".into())),
            End::Memory => (Judgement::Unknown, Some("witness: the check ran out of memory".into())),
            _ => (Judgement::Unknown, Some(format!("witness: {why}"))),
        }
    };
    Checked { outcome: judgement, reason, cpu_s }
}
