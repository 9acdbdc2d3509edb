// SPDX-License-Identifier: Apache-2.0
//! The verdict line, in CPAchecker's words, so that scripts and BenchExec modules written for it keep working.

use std::fmt;

/// The last line that a verifier prints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VerdictLine {
    /// The property holds.
    True,
    /// The property is violated.
    False {
        /// The short name of the property, such as `unreach-call`.
        property: Option<String>,
    },
    /// No answer.
    Unknown,
}

const PREFIX: &str = "Verification result: ";

impl fmt::Display for VerdictLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        match self {
            VerdictLine::True => f.write_str("TRUE. No property violation found by chosen configuration."),
            VerdictLine::False { property: Some(property) } => {
                write!(f, "FALSE. Property violation ({property}) found by chosen configuration.")
            }
            VerdictLine::False { property: None } => {
                f.write_str("FALSE. Property violation found by chosen configuration.")
            }
            VerdictLine::Unknown => f.write_str("UNKNOWN, incomplete analysis."),
        }
    }
}

impl VerdictLine {
    /// Reads a verdict line; none for any other line.
    pub fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix(PREFIX)?;
        let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        match word.as_str() {
            "TRUE" => Some(VerdictLine::True),
            "UNKNOWN" => Some(VerdictLine::Unknown),
            "FALSE" => {
                let property = rest
                    .split_once('(')
                    .and_then(|(_, tail)| tail.split_once(')'))
                    .map(|(inside, _)| inside.split(':').next().unwrap_or(inside).trim().to_string());
                Some(VerdictLine::False { property })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_back() {
        let lines = [
            VerdictLine::True,
            VerdictLine::Unknown,
            VerdictLine::False { property: None },
            VerdictLine::False { property: Some("unreach-call".into()) },
        ];
        for line in lines {
            assert_eq!(VerdictLine::parse(&line.to_string()), Some(line));
        }
        assert_eq!(VerdictLine::parse("Verification result: maybe"), None);
        assert_eq!(VerdictLine::parse("result: TRUE"), None);
    }
}
