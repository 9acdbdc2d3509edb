// SPDX-License-Identifier: Apache-2.0
//! What a tool said: the verdict line and the reason it gives for not knowing.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
};

use regex::Regex;
use report::verdict::VerdictLine;
use serde::{Deserialize, Serialize};

/// A verdict as the tool prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The property holds.
    True,
    /// It is violated.
    False,
    /// The tool gave up.
    Unknown,
}

impl Verdict {
    /// As it stands in result files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::True => "true",
            Verdict::False => "false",
            Verdict::Unknown => "unknown",
        }
    }
}

/// How the output of a tool is read.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    /// Lines that are verdicts; without any, `cpa-verify`'s.
    pub verdicts: Vec<(Regex, Verdict)>,
    /// Numbers: the first group of each expression.
    pub statistics: Vec<(String, Regex)>,
    /// Labels of numbers that are printed as `LABEL: NUMBER`.
    pub labels: Vec<String>,
}

/// The output of one run, reduced to what matters for its judgement.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    /// The verdict of the last `Verification result:` line.
    pub verdict: Option<Verdict>,
    /// For FALSE, the violated property if the tool names it.
    pub violated: Option<String>,
    /// Two verdict lines that contradict each other were printed.
    pub contradictory: bool,
    /// The text of the last `Reason:` line.
    pub reason: Option<String>,
    /// Whether the tool executed the counterexample: that it reached the error, or why it did not.
    pub executed: Option<Result<(), String>>,
    /// The message of a panic, in Rust's words or in those of `cpa-verify`.
    pub panic: Option<String>,
    /// The last line of an error: one that begins with `Error:` or `error:`.
    pub error: Option<String>,
    /// The first line that is nothing of the above, and not empty.
    pub first_line: Option<String>,
    /// The last such line.
    pub last_line: Option<String>,
    /// The numbers that were asked for; the last of several.
    pub statistics: BTreeMap<String, f64>,
}

/// Longer lines are cut: they are reasons for people to read.
const LONGEST_LINE: usize = 300;

impl Answer {
    /// Reads the whole output; anything may be in it.
    pub fn read(mut output: impl BufRead, patterns: &Patterns) -> io::Result<Answer> {
        let mut answer = Answer::default();
        let mut bytes = Vec::new();
        while output.read_until(b'\n', &mut bytes)? > 0 {
            let line = String::from_utf8_lossy(&bytes);
            answer.statistic(line.trim(), patterns);
            answer.line(line.trim(), patterns);
            bytes.clear();
        }
        Ok(answer)
    }

    fn statistic(&mut self, line: &str, patterns: &Patterns) {
        if let Some((label, value)) = line.split_once(':')
            && patterns.labels.iter().any(|wanted| wanted == label)
            && let Some(value) = number(value)
        {
            self.statistics.insert(label.into(), value);
        }
        for (label, pattern) in &patterns.statistics {
            let found = pattern.captures(line).and_then(|groups| number(groups.get(1)?.as_str()));
            self.statistics.extend(found.map(|value| (label.clone(), value)));
        }
    }

    fn line(&mut self, line: &str, patterns: &Patterns) {
        let own = || VerdictLine::parse(line).filter(|_| patterns.verdicts.is_empty());
        if let Some((groups, verdict)) =
            patterns.verdicts.iter().find_map(|(pattern, verdict)| Some((pattern.captures(line)?, verdict)))
        {
            let group = groups.get(1).map(|group| group.as_str().to_string());
            if *verdict == Verdict::Unknown {
                self.reason = group.clone().or(Some(shortened(line)));
            }
            self.result(*verdict, group.filter(|_| *verdict == Verdict::False));
        } else if let Some(verdict) = own() {
            match verdict {
                VerdictLine::True => self.result(Verdict::True, None),
                VerdictLine::False { property } => self.result(Verdict::False, property),
                VerdictLine::Unknown => self.result(Verdict::Unknown, None),
            }
        } else if let Some(reason) = line.strip_prefix("Reason:") {
            self.reason = Some(shortened(reason.trim()));
        } else if line.starts_with("Confirmed: ") {
            self.executed = Some(Ok(()));
        } else if let Some(why) = line.strip_prefix("Not confirmed by execution: ") {
            self.executed = Some(Err(shortened(why)));
        } else if let Some((_, place)) = line.split_once("panicked at ") {
            self.panic = Some(format!("panic at {}", shortened(place.trim_end_matches(':'))));
        } else if let Some(message) = line.strip_prefix("Error: internal error:") {
            self.panic = Some(format!("internal error: {}", shortened(message.trim())));
        } else if line.starts_with("Error:") || line.starts_with("error:") {
            self.error = Some(shortened(line[6..].trim()));
        } else if !line.is_empty() {
            let line = shortened(line);
            self.first_line.get_or_insert_with(|| line.clone());
            self.last_line = Some(line);
        }
    }

    fn result(&mut self, verdict: Verdict, violated: Option<String>) {
        self.contradictory |= self.verdict.is_some_and(|earlier| earlier != verdict);
        self.verdict = Some(verdict);
        self.violated = violated;
    }

    /// The best explanation of a missing verdict.
    pub fn explanation(&self) -> Option<&str> {
        [&self.reason, &self.panic, &self.error, &self.last_line].into_iter().find_map(|text| text.as_deref())
    }
}

/// The number at the beginning of a text; a unit may follow.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(text.len());
    text[..end].parse().ok().filter(|value: &f64| value.is_finite())
}

fn shortened(line: &str) -> String {
    // Log lines end in the place that wrote them, such as `(Cegar.run, INFO)`.
    let line = match line.rsplit_once(" (") {
        Some((text, place))
            if place.ends_with(", INFO)") || place.ends_with(", WARNING)") || place.ends_with(", SEVERE)") =>
        {
            text
        }
        _ => line,
    };
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> Answer {
        Answer::read(output.as_bytes(), &Patterns::default()).unwrap()
    }

    #[test]
    fn verdict_lines() {
        assert_eq!(
            read("Verification result: TRUE. No property violation found by chosen configuration.\n").verdict,
            Some(Verdict::True)
        );
        let answer = read(
            "x\nVerification result: FALSE. Property violation (unreach-call: a) found by chosen configuration.\ny",
        );
        assert_eq!((answer.verdict, answer.violated.as_deref()), (Some(Verdict::False), Some("unreach-call")));
        assert_eq!(
            read("Verification result: FALSE. Property violation found by chosen configuration.").violated,
            None
        );
        assert_eq!(read("Verification result: UNKNOWN, incomplete analysis.").verdict, Some(Verdict::Unknown));
        assert_eq!(
            read("The Verification result: TRUE.\nVerification result: MAYBE\nverification result: TRUE").verdict,
            None
        );
    }

    #[test]
    fn contradictions() {
        assert!(read("Verification result: TRUE.\nVerification result: FALSE.\n").contradictory);
        assert!(!read("Verification result: TRUE.\nVerification result: TRUE.\n").contradictory);
    }

    #[test]
    fn explanations() {
        let log =
            "Starting (Main.run, INFO)\nReason: recursion of f\nVerification result: UNKNOWN, incomplete analysis.\n";
        assert_eq!(read(log).explanation(), Some("recursion of f"));
        assert_eq!(
            read("a\nNo more interpolants (Cegar.run, WARNING)\n\n").explanation(),
            Some("No more interpolants")
        );
        assert_eq!(read("Error: no such file: a.c\nsee --help\n").explanation(), Some("no such file: a.c"));
        let panic = "thread 'main' panicked at cfa/src/lower.rs:12:5:\nindex out of bounds\nnote: run with\n";
        assert_eq!(read(panic).explanation(), Some("panic at cfa/src/lower.rs:12:5"));
        let internal = "Error: internal error: index out of bounds (cfa/src/lower.rs:12:5). Please report it.\n";
        assert!(read(internal).panic.unwrap().starts_with("internal error: index out of bounds"));
        assert_eq!(read("").explanation(), None);
    }

    #[test]
    fn other_tools() {
        let verdict = |pattern: &str, verdict| (Regex::new(pattern).unwrap(), verdict);
        let patterns = Patterns {
            verdicts: vec![
                verdict("^VERIFICATION SUCCESSFUL$", Verdict::True),
                verdict("^VERIFICATION FAILED \\((.*)\\)", Verdict::False),
                verdict("^ERROR: (.*)", Verdict::Unknown),
            ],
            statistics: vec![("steps".into(), Regex::new("^size of program expression: (.*) steps").unwrap())],
            labels: vec!["Runtime".into()],
        };
        let read = |output: &str| Answer::read(output.as_bytes(), &patterns).unwrap();
        let answer = read("size of program expression: 54 steps\nRuntime: 0.25s\nVERIFICATION SUCCESSFUL\n");
        assert_eq!(answer.verdict, Some(Verdict::True));
        assert_eq!(answer.statistics, [("Runtime".to_string(), 0.25), ("steps".to_string(), 54.0)].into());
        let answer = read("VERIFICATION FAILED (overflow)\n");
        assert_eq!((answer.verdict, answer.violated.as_deref()), (Some(Verdict::False), Some("overflow")));
        assert_eq!(read("ERROR: out of memory\n").explanation(), Some("out of memory"));
        // The lines of cpa-verify mean nothing then.
        assert_eq!(read("Verification result: TRUE.\n").verdict, None);
    }

    #[test]
    fn garbage() {
        let mut bytes = vec![0xff; 10_000];
        bytes.extend(b"\nVerification result: TRUE.");
        let answer = Answer::read(&bytes[..], &Patterns::default()).unwrap();
        assert_eq!(answer.verdict, Some(Verdict::True));
        assert!(answer.last_line.unwrap().chars().count() <= LONGEST_LINE + 3);
    }
}
