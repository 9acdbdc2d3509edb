// SPDX-License-Identifier: Apache-2.0
//! Verdicts, what they are worth, and the one place where a verdict that is not worth it becomes `Unknown`.

use std::fmt;

use crate::cx::Stop;
use crate::refine::Counterexample;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The run ended early.
    Stopped(Stop),
    /// A run reaches a construct that is not supported.
    Unsupported {
        /// The construct.
        construct: String,
        /// Where it is: file, line and column.
        place: String,
    },
    /// Refinement makes no progress; the text says where.
    Imprecise(String),
    /// The counterexample did not stand up to a precise check.
    Unconfirmed(String),
    /// A proof was found, but states were left out on the way.
    NotSound(String),
    /// A counterexample was found, but on the way it was reasoned imprecisely.
    NotPrecise(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Stopped(stop) => write!(f, "{stop}"),
            Reason::Unsupported { construct, place } => write!(f, "{place}: not supported: {construct}"),
            Reason::Imprecise(detail) => write!(f, "the abstraction is too imprecise: {detail}"),
            Reason::Unconfirmed(detail) => write!(f, "the counterexample could not be confirmed: {detail}"),
            Reason::NotSound(detail) => write!(f, "a proof was found, but not all states were explored: {detail}"),
            Reason::NotPrecise(detail) => write!(f, "a counterexample was found, but it may be spurious: {detail}"),
        }
    }
}

/// The answer to a verification task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The property holds.
    True,
    /// The property is violated by this run.
    False(Counterexample),
    /// Neither was shown.
    Unknown(Reason),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::True => f.write_str("TRUE"),
            Verdict::False(_) => f.write_str("FALSE"),
            Verdict::Unknown(reason) => write!(f, "UNKNOWN ({reason})"),
        }
    }
}

/// What a verdict is worth. Every stage may lower it; nobody can raise it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Assurance {
    not_sound: Vec<String>,
    not_precise: Vec<String>,
}

impl Assurance {
    /// All states are covered and all counterexamples are real, until somebody says otherwise.
    pub fn full() -> Self {
        Self::default()
    }
    /// Whether a proof is a proof.
    pub fn sound(&self) -> bool {
        self.not_sound.is_empty()
    }
    /// Whether a counterexample is real.
    pub fn precise(&self) -> bool {
        self.not_precise.is_empty()
    }
    /// States were left out.
    pub fn lower_sound(&mut self, why: impl Into<String>) {
        self.not_sound.push(why.into());
    }
    /// Counterexamples may be spurious.
    pub fn lower_precise(&mut self, why: impl Into<String>) {
        self.not_precise.push(why.into());
    }
    /// The worse of both.
    pub fn and(mut self, other: &Assurance) -> Self {
        self.not_sound.extend(other.not_sound.iter().cloned());
        self.not_precise.extend(other.not_precise.iter().cloned());
        self
    }
}

/// A verdict that is worth what it says, and what was assumed for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    verdict: Verdict,
    assurance: Assurance,
    assumptions: Vec<String>,
}

impl Outcome {
    /// Clamps the verdict: a proof that is not sound and a counterexample that is not precise become `Unknown`.
    pub fn conclude(verdict: Verdict, assurance: Assurance, mut assumptions: Vec<String>) -> Self {
        let verdict = match verdict {
            Verdict::True if !assurance.sound() => Verdict::Unknown(Reason::NotSound(assurance.not_sound.join("; "))),
            Verdict::False(_) if !assurance.precise() => {
                Verdict::Unknown(Reason::NotPrecise(assurance.not_precise.join("; ")))
            }
            Verdict::True | Verdict::False(_) | Verdict::Unknown(_) => verdict,
        };
        assumptions.sort();
        assumptions.dedup();
        Self { verdict, assurance, assumptions }
    }
    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }
    /// What it is worth.
    pub fn assurance(&self) -> &Assurance {
        &self.assurance
    }
    /// What was assumed, sorted, without duplicates.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conclude(verdict: Verdict, sound: bool, precise: bool) -> String {
        let mut assurance = Assurance::full();
        if !sound {
            assurance.lower_sound("loops were unrolled only 3 times");
        }
        if !precise {
            assurance.lower_precise("division is uninterpreted");
        }
        Outcome::conclude(verdict, assurance, Vec::new()).verdict().to_string()
    }

    #[test]
    fn an_unsound_proof_is_no_proof() {
        assert_eq!(conclude(Verdict::True, true, false), "TRUE");
        assert_eq!(
            conclude(Verdict::True, false, true),
            "UNKNOWN (a proof was found, but not all states were explored: loops were unrolled only 3 times)"
        );
    }

    #[test]
    fn an_imprecise_counterexample_is_no_counterexample() {
        let run = || Verdict::False(Counterexample::default());
        assert_eq!(conclude(run(), false, true), "FALSE");
        assert_eq!(
            conclude(run(), true, false),
            "UNKNOWN (a counterexample was found, but it may be spurious: division is uninterpreted)"
        );
    }

    #[test]
    fn assurance_is_only_lowered_and_assumptions_are_listed_once() {
        let mut low = Assurance::full();
        low.lower_sound("x");
        assert!(!Assurance::full().and(&low).sound());
        assert!(!low.clone().and(&Assurance::full()).sound());
        let outcome = Outcome::conclude(Verdict::True, Assurance::full(), vec!["b".into(), "a".into(), "b".into()]);
        assert_eq!(outcome.assumptions(), ["a", "b"]);
    }
}
