// SPDX-License-Identifier: Apache-2.0
//! Verification with ranges and combinations of values that hold in all rounds of loops.
//!
//! States at heads of loops are kept with what they know of values as combinations of inputs (zonotopes: Ghorbal, Goubault
//! and Putot, *The Zonotope Abstract Domain Taylor1+*, CAV 2009). What a loop computes of the inputs of its last rounds, such
//! as the output of a digital filter (Feret, *Static Analysis of Digital Filters*, ESOP 2004), then is the same combination
//! in each round, and what is left of older inputs is small: it becomes an interval after some rounds, and these are
//! inductive over as many rounds, although they need not be over one. It proves only.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use cfa::Program;
use cfa::ids::{NodeId, VarId};
use cpa_core::{Cx, Outcome, Stop, Verdict};

use super::boxes::InputBox;
use super::gave_up;
use super::run::{Path, Runner};
use super::segment::{Place, Segment, flags, follow};
use super::state::State;
use super::widening::{Thresholds, Widening};
use crate::settled;

/// After so many rounds base values that were old before become intervals; what proves nothing is tried with more rounds.
const ROUNDS: [u32; 2] = [24, 96];
/// The greatest number of states of all heads.
const CASES: usize = 768;
/// How often a state grows before the bounds of its integers move to thresholds, and as far as possible.
const GROWTHS: [u32; 2] = [1, 8];
/// By which part of its width what is left of old values grows more than it has to.
const MORE: f64 = 0.1;
/// How often it may grow.
const MOST_GROWTHS: u32 = 24;

/// A state of the head of a loop.
struct Case {
    state: State,
    /// Rounds since old base values became intervals.
    round: u32,
    /// The greatest number of a value at that time.
    epoch: u32,
    grown: u32,
}

/// Verification by states with combinations of values for each head of a loop.
pub struct Rounds {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    relevant: BTreeSet<NodeId>,
    locals: Vec<Vec<VarId>>,
    flags: Vec<VarId>,
    thresholds: Thresholds,
    /// The place in `ROUNDS`.
    attempt: usize,
    cases: Vec<(Place, Case)>,
    at: BTreeMap<Place, Vec<usize>>,
    /// The cases whose next rounds were not followed; none before the start of the program was.
    open: Option<VecDeque<usize>>,
    steps: u64,
    verdict: Option<Verdict>,
}

impl Rounds {
    /// An analysis that looks for the targets.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        let relevant = program.leading_to(&targets);
        let (locals, thresholds, flags) = (program.locals(), Thresholds::new(&program), flags(&program, false));
        let (cases, at, open) = (Vec::new(), BTreeMap::new(), None);
        let (attempt, steps, verdict) = (0, 0, None);
        Rounds { program, targets, relevant, locals, flags, thresholds, attempt, cases, at, open, steps, verdict }
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Runs until there is a verdict. After a timeout or cancellation it can be run again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let result = self.verdict.take().map_or_else(|| self.solve(cx), Ok);
        settled(&mut self.verdict, result, &self.program)
    }

    fn solve(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        loop {
            let verdict = self.attempt(cx)?;
            if verdict == Verdict::True || self.attempt + 1 == ROUNDS.len() {
                return Ok(verdict);
            }
            self.attempt += 1;
            (self.cases, self.at, self.open) = (Vec::new(), BTreeMap::new(), None);
        }
    }

    fn attempt(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        let program = Arc::clone(&self.program);
        if self.open.is_none() {
            let start = self.runner(&program).beginning().0;
            let segment = self.follow(cx, &program, start)?;
            self.open = Some(VecDeque::new());
            if let Some(reason) = self.arrive(&program, segment, (0, 0)) {
                return Ok(reason);
            }
        }
        while let Some(&at) = self.open.as_ref().and_then(VecDeque::front) {
            let ((calls, node), case) = &self.cases[at];
            let (parent, path) = ((case.round, case.epoch), Path::new(*node, calls.clone(), case.state.clone()));
            let segment = self.follow(cx, &program, path)?;
            self.open.as_mut().expect("made first").pop_front();
            if let Some(reason) = self.arrive(&program, segment, parent) {
                return Ok(reason);
            }
        }
        Ok(Verdict::True)
    }

    fn runner<'a>(&'a self, program: &'a Program) -> Runner<'a> {
        Runner { program, targets: &self.targets, relevant: &self.relevant, locals: &self.locals }
    }

    fn follow(&mut self, cx: &mut Cx, program: &Program, path: Path) -> Result<Segment, Stop> {
        let segment = follow(cx, &self.runner(program), &InputBox::default(), &self.flags, path)?;
        self.steps += segment.steps;
        Ok(segment)
    }

    /// Adds the states in which paths from a case end; returns why there is no proof.
    fn arrive(&mut self, program: &Program, segment: Segment, (round, epoch): (u32, u32)) -> Option<Verdict> {
        if let Some(missed) = segment.missed {
            return Some(gave_up(&missed.text(program)));
        }
        for (place, states) in segment.arrived {
            for mut state in states {
                state.drop_forms();
                let (mut round, mut epoch) = (round + 1, epoch);
                if round == ROUNDS[self.attempt] {
                    state.fold(epoch);
                    (round, epoch) = (0, state.numbers);
                }
                if !self.add(program, &place, Case { state, round, epoch, grown: 0 }) {
                    return Some(gave_up("ranges of combinations have no end"));
                }
            }
        }
        None
    }

    /// Adds a case; no if there are too many of them.
    fn add(&mut self, program: &Program, place: &Place, new: Case) -> bool {
        let known = self.at.entry(place.clone()).or_default();
        if known.iter().any(|&at| self.cases[at].1.state.covers_related(program, &new.state)) {
            return true;
        }
        let open = self.open.as_mut().expect("made first");
        let alike = known.iter().copied().find(|&at| self.cases[at].1.state.is_like(&new.state, &self.flags));
        let at = match alike {
            Some(at) => {
                let case = &mut self.cases[at].1;
                let widening = match case.grown {
                    grown if grown < GROWTHS[0] => Widening::None,
                    grown if grown < GROWTHS[1] => Widening::Thresholds(&self.thresholds),
                    _ => Widening::Limits,
                };
                // What grows in each round of many would grow too much.
                let more = if new.round == 0 || case.grown >= GROWTHS[1] { MORE } else { 0.0 };
                case.state.join_related(program, &new.state, more, widening);
                case.grown += 1;
                if case.grown > MOST_GROWTHS {
                    return false;
                }
                at
            }
            None => {
                self.cases.push((place.clone(), new));
                known.push(self.cases.len() - 1);
                self.cases.len() - 1
            }
        };
        if !open.contains(&at) {
            open.push_back(at);
        }
        self.cases.len() <= CASES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::machine::Random;
    use cfa::{Options, Property, Source};

    fn verify(text: &str) -> String {
        let head = "void abort(void); void reach_error(void); int __VERIFIER_nondet_int(void);
            double __VERIFIER_nondet_double(void); float __VERIFIER_nondet_float(void);
            void assume(int c) { if (!c) abort(); } ";
        let source = Source { name: "t.c".into(), text: format!("{head}{text}") };
        let program = Arc::new(cfa::load(&[source], &Options::default()).unwrap());
        let targets = program.targets(&Property::default_errors());
        Rounds::new(program, targets).run(&mut Cx::unlimited()).verdict().to_string()
    }

    fn filter(bound: &str, reset: &str) -> String {
        format!(
            "int main(void) {{ double x, y = 0.0, y1 = 0.0, y2; while (1) {{ x = __VERIFIER_nondet_double();
            assume(x >= -1.0 && x <= 1.0); {reset} y2 = y1; y1 = y; y = x + 1.5 * y1 - 0.75 * y2;
            if (!(y <= {bound})) reach_error(); }} }}"
        )
    }

    #[test]
    fn a_digital_filter_of_second_order() {
        // The sum of the absolute values of its impulse response is 9.86; one step from a box leads out of it.
        assert_eq!(verify(&filter("10.2", "")), "TRUE");
        assert_eq!(verify(&filter("10.2", "if (__VERIFIER_nondet_int()) { y = x; y1 = x; }")), "TRUE");
        assert!(verify(&filter("9.7", "")).starts_with("UNKNOWN"));
        assert!(verify(&filter("10.2", "").replace("1.5", "1.8").replace("0.75", "0.81")).starts_with("UNKNOWN"));
    }

    #[test]
    fn what_variables_have_in_common_holds_after_a_loop() {
        let program = "int main(void) { float x, y = 1.0f, z = 2.0f; while (__VERIFIER_nondet_int()) {
            x = __VERIFIER_nondet_float(); assume(x >= 0.0f && x <= 8.0f); y = x + 1.0f; z = 2.0f - x; }
            if (!(y + z >= 2.9f && y + z <= BOUND)) reach_error(); }";
        assert_eq!(verify(&program.replace("BOUND", "3.1f")), "TRUE");
        assert!(verify(&program.replace("BOUND", "2.95f")).starts_with("UNKNOWN"));
    }

    #[test]
    fn what_is_not_a_number_is_not_excluded() {
        let program = "int main(void) { double x = 0.0, y; while (1) { y = __VERIFIER_nondet_double(); COND
            x = 0.5 * x + y; if (!(x <= 4.0)) reach_error(); } }";
        assert_eq!(verify(&program.replace("COND", "assume(y >= -1.0 && y <= 1.0);")), "TRUE");
        assert!(verify(&program.replace("COND", "assume(!(y < -1.0) && !(y > 1.0));")).starts_with("UNKNOWN"));
        assert!(verify(&program.replace("COND", "assume(y <= 1.0);")).replace("x <= 4.0", "x >= -4.0") != "TRUE");
    }

    /// Random linear loops with inputs, resets and a counter: what an execution reaches is not excluded.
    #[test]
    fn nothing_is_excluded_that_executions_reach() {
        let mut random = Random::new(1);
        let (mut proved, mut close) = (0, 0);
        for _ in 0..60 {
            let mut coef = |scale: f64| (random.below(2001) as f64 - 1000.0) / 1000.0 * scale;
            let [a, b, c, d, e] = [coef(1.4), coef(0.9), coef(1.0), coef(1.0), coef(0.5)];
            let reset = random.below(3) == 0;
            let mut most = 0.0f64;
            for _ in 0..40 {
                let (mut y, mut y1, mut x1) = (0.0f64, 0.0f64, 0.0f64);
                for _ in 0..100 {
                    let x = [-1.0, 1.0, (random.below(2001) as f64 - 1000.0) / 1000.0][random.below(3)];
                    if reset && random.below(8) == 0 {
                        (y, y1) = (x * 0.5, x);
                    }
                    let next = a * y + b * y1 + c * x + d * x1 + e;
                    (y1, y, x1) = (y, next, x);
                    most = most.max(y);
                }
            }
            let reset = if reset { "if (__VERIFIER_nondet_int()) { y = x * 0.5; y1 = x; }" } else { "" };
            let program = |bound: f64| {
                format!(
                    "int main(void) {{ double x, y = 0.0, y1 = 0.0, x1 = 0.0, n; for (int i = 0; i < 100000; i++) {{
                    x = __VERIFIER_nondet_double(); assume(x >= -1.0 && x <= 1.0); {reset}
                    n = ({a:?}) * y + ({b:?}) * y1 + ({c:?}) * x + ({d:?}) * x1 + ({e:?}); y1 = y; y = n; x1 = x;
                    if (!(y <= {bound:?})) reach_error(); }} }}"
                )
            };
            assert!(verify(&program(most.next_down())).starts_with("UNKNOWN"), "{}", program(most));
            if most < 100.0 {
                proved += u32::from(verify(&program(most * 3.0 + 5.0)) == "TRUE");
                close += 1;
            }
        }
        assert!(2 * proved > close && proved > 20, "{proved} of {close}");
    }
}
