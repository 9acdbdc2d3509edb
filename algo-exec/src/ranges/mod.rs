// SPDX-License-Identifier: Apache-2.0
//! Verification with ranges of inputs: the program runs with intervals in place of numbers, and inputs are divided until
//! each part of them leads past all targets.
//!
//! This is branch and bound with interval arithmetic (Moore, *Interval Analysis*, 1966) over whole programs. It decides
//! programs that compute with floating-point numbers in short loops or none, where formulas about single bits are hopeless.
//! Where all executions of a part reach a target, one of them is replayed.

mod affine;
mod boxes;
mod fixpoint;
mod forms;
mod relate;
mod rounds;
mod run;
mod segment;
mod state;
mod value;
mod widening;

pub use fixpoint::Fixpoint;
pub use rounds::Rounds;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use algo_cegar::replay;
use cfa::ids::{NodeId, VarId};
use cfa::{EdgeId, Program};
use cpa_core::{Cx, Outcome, Reason, Stop, Verdict};

use crate::looks::report_runs;
use crate::playback::{GUESSED_STEPS, counterexample};
use crate::settled;
use boxes::InputBox;
use run::{Asked, Beginning, Found, Runner};

/// From this number of open parts on the smallest ones come first.
const MANY: usize = 2048;

/// From so many divisions on all runs are thorough; before, some are.
const THOROUGH: u32 = 40;

/// Verification by division of the inputs.
pub struct Subdivision {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    relevant: BTreeSet<NodeId>,
    locals: Vec<Vec<VarId>>,
    max_bytes: usize,
    beginning: Option<Beginning>,
    open: VecDeque<InputBox>,
    runs: u64,
    verdict: Option<Verdict>,
}

impl Subdivision {
    /// An analysis that looks for the targets.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, max_bytes: usize) -> Self {
        let relevant = program.leading_to(&targets);
        let locals = program.locals();
        let open = VecDeque::from([InputBox::default()]);
        Subdivision { program, targets, relevant, locals, max_bytes, beginning: None, open, runs: 0, verdict: None }
    }

    /// The number of runs so far.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Runs until there is a verdict. After a timeout or cancellation it can be run again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let result = self.verdict.take().map_or_else(|| self.explore(cx), Ok);
        settled(&mut self.verdict, result, &self.program)
    }

    fn explore(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        let program = Arc::clone(&self.program);
        let (targets, relevant) = (&self.targets, &self.relevant);
        let runner = Runner { program: &program, targets, relevant, locals: &self.locals };
        let beginning = self.beginning.get_or_insert_with(|| runner.beginning());
        // A part stays where it is until it was looked at as a whole.
        while let Some(first) = if self.open.len() < MANY { self.open.front() } else { self.open.back() } {
            cx.check()?;
            let (part, from_back) = (first.clone(), self.open.len() >= MANY);
            self.runs += 1;
            report_runs(cx, self.runs);
            let thorough = self.runs.is_power_of_two() || part.divisions() >= THOROUGH;
            let divided = match runner.run(beginning, &part, thorough) {
                Found::Nothing => None,
                Found::Unsupported(edge) => return Ok(gave_up(&format!("edge {edge} cannot be run with ranges"))),
                Found::Unclear(asked) => Some(asked),
                Found::Target(node, asked) => match found(cx, &program, self.max_bytes, &part, node, &asked)? {
                    Some(verdict) => return Ok(verdict),
                    None => Some(asked),
                },
                Found::Maybe(asked) => {
                    self.runs += 1;
                    let point = part.point(&program, &asked.inputs);
                    if let Found::Target(node, asked) = runner.run(beginning, &point, true)
                        && let Some(verdict) = found(cx, &program, self.max_bytes, &point, node, &asked)?
                    {
                        return Ok(verdict);
                    }
                    Some(asked)
                }
            };
            let halves = match divided {
                None => None,
                // What decides may be known exactly, and nevertheless too little about it.
                Some(Asked { deciding, inputs }) => {
                    match part.halves(&program, &deciding).or_else(|| part.halves(&program, &inputs)) {
                        Some(halves) => Some(halves),
                        None => return Ok(gave_up("ranges do not tell where some executions lead")),
                    }
                }
            };
            if from_back {
                self.open.pop_back()
            } else {
                self.open.pop_front()
            };
            self.open.extend(halves.into_iter().flatten());
        }
        Ok(Verdict::True)
    }
}

/// The counterexample that one execution of a part gives, if the concrete machine agrees.
fn found(
    cx: &Cx,
    program: &Program,
    max_bytes: usize,
    part: &InputBox,
    target: NodeId,
    asked: &Asked,
) -> Result<Option<Verdict>, Stop> {
    let values: Vec<(EdgeId, i128)> =
        asked.inputs.iter().map(|&(input, var)| (input.0, part.sample(program, input, var))).collect();
    let found = counterexample(cx, program, target, &values, BTreeMap::new(), max_bytes, GUESSED_STEPS)?;
    let Some(cex) = found else { return Ok(None) };
    Ok(replay(program, &cex, target).is_ok().then_some(Verdict::False(cex)))
}

fn gave_up(text: &str) -> Verdict {
    Verdict::Unknown(Reason::Stopped(Stop::GaveUp(text.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Options, Property, Source};

    fn verify(text: &str) -> String {
        let head = "void abort(void); void reach_error(void); int __VERIFIER_nondet_int(void);
            unsigned __VERIFIER_nondet_uint(void); float __VERIFIER_nondet_float(void);
            double __VERIFIER_nondet_double(void); void assume(int c) { if (!c) abort(); } ";
        let source = Source { name: "t.c".into(), text: format!("{head}{text}") };
        let program = Arc::new(cfa::load(&[source], &Options::default()).unwrap());
        let targets = program.targets(&Property::default_errors());
        Subdivision::new(program, targets, 1 << 20).run(&mut Cx::unlimited()).verdict().to_string()
    }

    #[test]
    fn a_newton_iteration() {
        let program = |bound: &str| {
            format!(
                "float f(float x) {{ return x * x - 2.0f; }} int main(void) {{ float x = __VERIFIER_nondet_float();
                assume(x >= 1.0f && x <= 2.0f); x = x - f(x) / (2.0f * x); x = x - f(x) / (2.0f * x);
                if (!(x < {bound})) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("1.4167f")), "TRUE");
        assert_eq!(verify(&program("1.4166f")), "FALSE");
    }

    #[test]
    fn what_is_not_a_number_is_below_nothing() {
        let program = |cond: &str| {
            format!(
                "int main(void) {{ double x = __VERIFIER_nondet_double(), y = x;
                if ({cond}) if (!(y <= x)) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("1")), "FALSE");
        assert_eq!(verify(&program("x <= 4.0 || x > 4.0").replace("y <= x", "y <= 1e308 * 10.0")), "TRUE");
    }

    #[test]
    fn signs_of_zeros_matter() {
        let program = |cond: &str| {
            format!(
                "int main(void) {{ float x = __VERIFIER_nondet_float(); assume(x * x == 0.0f && {cond});
                float y = 1.0f / x; if (x == 0.0f && y < 0.0f) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("1")), "FALSE");
        let union = "union u { float f; unsigned i; };
            int main(void) { union u u; u.f = __VERIFIER_nondet_float(); if (u.f == 0.0f && u.i != BITS) reach_error();
            return 0; }";
        assert_eq!(verify(&union.replace("BITS", "0 && u.i != 0x80000000u")), "TRUE");
        assert_eq!(verify(&union.replace("BITS", "0")), "FALSE");
    }

    #[test]
    fn bits_of_numbers_tell_their_magnitude() {
        let program = |bound: &str| {
            format!(
                "union u {{ double f; struct {{ unsigned low, high; }} w; }}; int main(void) {{ union u u;
                u.f = __VERIFIER_nondet_double(); unsigned high = u.w.high & 0x7fffffff;
                if (high < 0x3ff00000 && !(u.f < 1.0 && u.f > {bound})) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("-1.0")), "TRUE");
        assert_eq!(verify(&program("-0.75")), "FALSE");
    }

    #[test]
    fn numbers_are_put_together_from_their_words() {
        let program = |low: &str| {
            format!(
                "union u {{ double f; unsigned w[2]; }}; int main(void) {{ union u u; double zeros[3] = {{ 0 }};
                u.f = __VERIFIER_nondet_double(); assume(u.f > 2.0 && u.f < 3.0);
                u.w[1] |= 0x80000000u; u.w[0] = {low} + zeros[1];
                if (!(u.f <= -2.0 && u.f >= -3.0)) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("0")), "TRUE");
        assert_eq!(verify(&program("5").replace("u.f >= -3.0", "u.f > -2.9999")), "FALSE");
    }

    #[test]
    fn numbers_are_equal_to_themselves() {
        let program = |cond: &str| {
            format!(
                "int main(void) {{ float x = __VERIFIER_nondet_float(); if ({cond}) if (!(x == x)) reach_error();
                return 0; }}"
            )
        };
        assert_eq!(verify(&program("x > -1e30f && x < 1e30f")), "TRUE");
        assert_eq!(verify(&program("!(x > 1e30f)")), "FALSE");
    }

    #[test]
    fn no_quotient_of_zeros() {
        let program = |cond: &str| {
            format!(
                "int main(void) {{ double x = __VERIFIER_nondet_double(), z = 0.0;
                double q = (x * z) / (x * z); if (q == q {cond}) reach_error();
                q = (x - x) / (x - x); if (q == q) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("")), "TRUE");
        assert_eq!(verify(&program("|| x > 1e300")), "FALSE");
    }

    #[test]
    fn loops_with_integers() {
        let program = |bound: &str| {
            format!(
                "int main(void) {{ unsigned n = __VERIFIER_nondet_uint(); assume(n < 40); double s = 0.0;
                for (unsigned i = 0; i < n; i++) s = s * 0.5 + 1.0; if (s > {bound}) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("2.0")), "TRUE");
        assert_eq!(verify(&program("1.99")), "FALSE");
    }

    #[test]
    fn two_inputs() {
        let program = |bound: &str| {
            format!(
                "int main(void) {{ double x = __VERIFIER_nondet_double(), y = __VERIFIER_nondet_double();
                assume(x >= -1.0 && x <= 1.0); assume(y >= 0.0 && y <= 0.5);
                if (x * y - x * x > {bound}) reach_error(); return 0; }}"
            )
        };
        assert_eq!(verify(&program("0.07")), "TRUE");
        assert_eq!(verify(&program("0.06")), "FALSE");
    }

    #[test]
    fn undefined_operations_prove_nothing() {
        let text = "int main(void) { int x = __VERIFIER_nondet_int(); assume(x >= 0 && x < 4);
            if (10 / x > 20) reach_error(); return 0; }";
        assert!(verify(text).starts_with("UNKNOWN"));
    }

    #[test]
    fn a_target_that_cannot_be_replayed_is_no_proof() {
        // The value of an unknown function of the mathematical library: no execution is known to choose it.
        let text = "double sin(double); int main(void) { if (sin(1.0) > 2.0) reach_error(); return 0; }";
        assert!(verify(text).starts_with("UNKNOWN"));
    }
}
