// SPDX-License-Identifier: Apache-2.0
//! Checks of witnesses: the invariants of a proof hold, inductively where that can be shown, and the program with them has no
//! error; the way to a violation is executed.
//!
//! Invariants become checks in the program (`report`, `instrument`), and the program is verified anew by a plan that begins
//! with k-induction without invariants of its own: with k = 1 that is the proof that the given ones are inductive. If that
//! takes too long, the invariants are proved first, and then the program without them.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use cfa::machine::{Asked, Code, End, Inputs, Machine, NanSign, Setup, Storage};
use cfa::{IntTy, Op, Program, Property, Source, Span};
use cpa_core::{CancelToken, Verdict};
use report::instrument::{VIOLATED, same_file, with_checks};
use report::lint::{self, Waypoint, Witness};
use report::sha256::{digest, hex};

use crate::limits::Limits;
use crate::options::Config;
use crate::portfolio::Wanted;
use crate::verify::{Input, RunError, answer, load};

/// The plan for programs with checks.
const PLAN: &str = "validate";
/// Memory of an execution, about.
const MEMORY: usize = 1 << 30;
/// An execution takes at most so many jumps backwards and calls.
const FUEL: u64 = 200_000_000;

/// What the check of a witness says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Validity {
    /// The invariants hold, and with them the property.
    Proof,
    /// The execution violates the property.
    Violation,
    /// The witness is refuted.
    Rejected(String),
    /// Neither.
    Unknown(String),
}

/// What a check needs beside the witness.
pub struct Task<'a> {
    /// The program as the user gave it.
    pub input: &'a Input,
    /// The program.
    pub program: &'a Arc<Program>,
    /// The property.
    pub property: &'a Property,
    /// The options.
    pub config: &'a Config,
    /// The limits of the run.
    pub limits: &'a Limits,
    /// Cancels the run.
    pub cancel: &'a CancelToken,
    /// What is going on.
    pub status: &'a Arc<Mutex<String>>,
}

/// Reads a witness; fails with a line for each thing that is wrong with its form.
pub fn read(text: &str, programs: &[PathBuf]) -> Result<Witness, String> {
    let witness = lint::read(text).map_err(|problems| problems.join("\n  "))?;
    for path in programs {
        let name = path.display().to_string();
        let Some((_, hash)) = witness.hashes.iter().find(|(file, _)| same_file(file, &name)) else {
            return Err(format!("it is not about {name}"));
        };
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        if hex(&digest(&bytes)) != *hash {
            return Err(format!("it is about another version of {name}"));
        }
    }
    Ok(witness)
}

impl Task<'_> {
    /// Checks a witness.
    pub fn check(&self, witness: &Witness) -> Result<Validity, RunError> {
        if witness.violation { Ok(self.follow(&witness.waypoints)) } else { self.prove(witness) }
    }

    fn prove(&self, witness: &Witness) -> Result<Validity, RunError> {
        let sources = match with_checks(self.program, &witness.invariants) {
            Ok(sources) => sources,
            Err(message) => return Ok(Validity::Unknown(message)),
        };
        let sources = sources.into_iter().map(|Source { name, text }| crate::verify::Source { name, text });
        let input = Input { sources: sources.collect(), ..self.input.clone() };
        let program = match load(&input) {
            Ok(program) => Arc::new(program),
            Err(RunError::Input(message)) => return Ok(Validity::Rejected(format!("an invariant is no C: {message}"))),
            Err(error) => return Err(error),
        };
        let invariants = Property { calls: vec![VIOLATED.to_string()], labels: Vec::new() };
        let mut both = self.property.clone();
        both.calls.extend(invariants.calls.iter().cloned());
        match self.decide(&program, &both, &self.limits.part(4))? {
            Validity::Unknown(_) => {}
            decided => return Ok(decided),
        }
        // One after the other: the program itself may be easier without checks in it, if the invariants say too little.
        match self.decide(&program, &invariants, &self.limits.part(3))? {
            Validity::Proof => self.decide(self.program, self.property, self.limits),
            other => Ok(other),
        }
    }

    /// Whether a program with or without checks has a property.
    fn decide(&self, program: &Arc<Program>, property: &Property, limits: &Limits) -> Result<Validity, RunError> {
        let mut config = self.config.clone();
        config.plan = PLAN.to_string();
        let answer = answer(program, property, &config, Wanted::default(), limits, self.cancel, self.status)?;
        Ok(match answer.outcome.verdict() {
            Verdict::True => Validity::Proof,
            Verdict::False(run) => {
                let end = run.steps.last().map(|step| step.destination(program));
                let claim = program.calls.iter().find(|(name, node, _)| &**name == VIOLATED && Some(*node) == end);
                Validity::Rejected(match claim {
                    Some((_, _, span)) => {
                        let line = program.location(Span { end: span.start, ..*span });
                        format!("{}:{}: the invariant does not hold", line.file, line.line)
                    }
                    None => "the program violates the property".to_string(),
                })
            }
            Verdict::Unknown(reason) => Validity::Unknown(reason.to_string()),
        })
    }

    /// Executes the program with the values that the waypoints tell.
    fn follow(&self, waypoints: &[Waypoint]) -> Validity {
        let Some((target, values)) = waypoints.split_last() else {
            return Validity::Unknown("there are no waypoints".to_string());
        };
        if let Some(other) = values.iter().find(|point| point.kind != "function_return" || point.action != "follow") {
            return Validity::Unknown(format!(
                "{}:{}: a waypoint of type '{}' to {} is not supported",
                other.at.file, other.at.line, other.kind, other.action
            ));
        }
        // Waypoints have no words for infinities and what is not a number, so values that are missing may be these.
        let first = self.with_all_nans(target, values, 0.0);
        if !matches!(first, Validity::Unknown(_)) || self.program.vars.iter().all(|var| var.float.is_none()) {
            return first;
        }
        let others = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN].into_iter();
        let mut others = others.map(|missing| self.with_all_nans(target, values, missing));
        others.find(|validity| *validity == Validity::Violation).unwrap_or(first)
    }

    /// Whether the values lead to the error, with both signs of results that are not numbers if their bits are seen.
    fn with_all_nans(&self, target: &Waypoint, values: &[Waypoint], missing: f64) -> Validity {
        if !self.program.sees_nans() {
            return self.execute(target, values, missing, None);
        }
        match self.execute(target, values, missing, Some(NanSign::Positive)) {
            Validity::Violation => self.execute(target, values, missing, Some(NanSign::Negative)),
            other => other,
        }
    }

    fn execute(&self, target: &Waypoint, values: &[Waypoint], missing: f64, nans: Option<NanSign>) -> Validity {
        let targets = self.program.targets(self.property);
        let setup = Setup { nans, ..Setup::new(&targets, Storage::Inputs) };
        let Ok(code) = Code::new(self.program, &setup) else {
            return Validity::Unknown("the program is too large to be executed".to_string());
        };
        let mut machine = Machine::new(Rc::new(code), MEMORY);
        let mut tape = Tape { program: self.program, values, next: 0, missing };
        let mut fuel = FUEL;
        let end = loop {
            const SLICE: u64 = 1 << 16;
            match machine.run(&mut tape, SLICE) {
                None if fuel > SLICE && !self.cancel.is_cancelled() => fuel -= SLICE,
                end => break end,
            }
        };
        match end {
            Some(End::Target(node)) if tape.next == values.len() => {
                let call = self.program.calls.iter().find(|(_, at, _)| *at == node).map(|(_, _, span)| *span);
                let behind = || self.program.node(node).leaving.first().map(|&edge| self.program.edge(edge).span);
                let place = call.or_else(behind).map(|span| self.program.location(span));
                match place {
                    Some(place) if place.line != target.at.line || !same_file(&place.file, &target.at.file) => {
                        Validity::Rejected(format!("the error is reached at {place}, not where the witness says"))
                    }
                    _ => Validity::Violation,
                }
            }
            Some(End::Target(_)) => {
                Validity::Rejected("the error is reached before all waypoints are passed".to_string())
            }
            Some(_) => {
                Validity::Unknown("the execution with the values of the witness does not reach the error".to_string())
            }
            None => Validity::Unknown("the execution takes too long".to_string()),
        }
    }
}

/// The values of functions, in their order.
struct Tape<'a> {
    program: &'a Program,
    values: &'a [Waypoint],
    next: usize,
    /// The floating-point numbers that the witness does not tell; all else that it does not tell is 0.
    missing: f64,
}

impl Inputs for Tape<'_> {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        let edge = self.program.edge(asked.edge);
        let Op::Havoc { var, .. } = edge.op else { return None };
        let place = self.program.location(Span { start: edge.span.end.saturating_sub(1), ..edge.span });
        let here = |point: &&Waypoint| {
            point.at.line == place.line && point.at.column.is_none_or(|column| column == place.column)
        };
        let Some(point) = self.values.get(self.next).filter(here) else {
            return Some(self.program.var(var).float.map_or(0, |format| in_format(self.missing, format)));
        };
        self.next += 1;
        let text = point.value.as_deref()?.trim().strip_prefix("\\result")?.trim().strip_prefix("==")?;
        constant(text.trim(), self.program.var(var).float)
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(0)
    }
}

/// The value of a constant; the bits of a floating-point number.
fn constant(text: &str, float: Option<cfa::FloatTy>) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest.trim_start()));
    let Some(format) = float else {
        let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
        let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => i128::from_str_radix(hex, 16).ok()?,
            None => digits.parse().ok()?,
        };
        return Some(if negative { -value } else { value });
    };
    let digits = digits.trim_end_matches(['f', 'F', 'l', 'L']);
    let value = match digits.strip_prefix("0x") {
        Some(hex) => {
            let (mantissa, exponent) = hex.split_once('p')?;
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let bits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
            let exponent: i32 = exponent.parse().ok()?;
            // Both steps are exact for numbers that have at most 53 bits; subnormal ones are scaled in two parts.
            let scale = exponent - 4 * i32::try_from(fraction.len()).ok()?;
            let half = scale / 2;
            bits as f64 * 2f64.powi(half) * 2f64.powi(scale - half)
        }
        None => digits.parse::<f64>().ok()?,
    };
    Some(in_format(if negative { -value } else { value }, format))
}

/// The bits of a number.
fn in_format(value: f64, format: cfa::FloatTy) -> i128 {
    match format {
        cfa::FloatTy::F32 => i128::from((value as f32).to_bits()),
        cfa::FloatTy::F64 => i128::from(value.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use cfa::FloatTy;

    use super::*;

    #[test]
    fn constants() {
        assert_eq!(constant("-2147483648", None), Some(-2_147_483_648));
        assert_eq!(constant("0xffULL", None), Some(255));
        assert_eq!(constant("-0x1.8p+1", Some(FloatTy::F64)), Some(i128::from((-3.0f64).to_bits())));
        assert_eq!(constant("0x1.99999ap-4f", Some(FloatTy::F32)), Some(i128::from(0.1f32.to_bits())));
        assert_eq!(constant("0x0.0000000000001p-1022", Some(FloatTy::F64)), Some(1));
        assert_eq!(constant("x", None), None);
    }
}
