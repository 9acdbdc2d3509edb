// SPDX-License-Identifier: Apache-2.0
//! Execution with all inputs: a program whose inputs have few values that matter is run with each combination of them.
//!
//! Who makes the analysis promises that an execution with an input outside of its range reaches no target and ends; so if
//! all executions with inputs inside of their ranges end without reaching a target, there is none that does. Combinations
//! are not made up in advance: each run says which inputs it asks for, and the last one that can still grow is changed for
//! the next run. The number of runs is that of the paths of the tree of choices.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use algo_cegar::replay;
use cfa::ir::{HavocOrigin, Op};
use cfa::machine::{Asked, Code, End, Inputs, Machine, Setup, Storage};
use cfa::{EdgeId, IntTy, NodeId, Program};
use cpa_core::{Cx, Outcome, Reason, Stop, Verdict};

use crate::execution::no_answer;
use crate::looks::{Looks, SLICE, report_runs};
use crate::playback::counterexample;
use crate::settled;

/// The values that inputs can have in executions that matter, by edge; an input without a range ends the analysis.
pub type Ranges = BTreeMap<EdgeId, (i128, i128)>;

/// Verification by execution with all inputs.
pub struct Exhaustive {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    max_bytes: usize,
    machine: Option<Machine>,
    odometer: Odometer,
    runs: u64,
    verdict: Option<Verdict>,
}

impl Exhaustive {
    /// An analysis that looks for the targets; see the module for what `ranges` promises.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, ranges: Ranges, max_bytes: usize) -> Self {
        let ranges = with_truths(&program, ranges);
        let odometer = Odometer { ranges, choices: Vec::new(), at: 0 };
        Exhaustive { program, targets, max_bytes, machine: None, odometer, runs: 0, verdict: None }
    }

    /// The number of executions so far.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Runs until there is a verdict. After a timeout or cancellation it can be run again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let result = self.verdict.take().map_or_else(|| self.explore(cx), Ok);
        settled(&mut self.verdict, result, &self.program)
    }

    fn explore(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        let mut machine = match self.machine.take() {
            Some(machine) => machine,
            None => {
                let setup = Setup::new(&self.targets, Storage::Untouchable);
                match Code::new(&self.program, &setup) {
                    Ok(code) => Machine::new(Rc::new(code), self.max_bytes),
                    Err(error) => return Ok(gave_up(error.to_string())),
                }
            }
        };
        let result = self.all_runs(cx, &mut machine);
        self.machine = Some(machine);
        result
    }

    fn all_runs(&mut self, cx: &mut Cx, machine: &mut Machine) -> Result<Verdict, Stop> {
        loop {
            let mut looks = Looks::default();
            let end = loop {
                cx.check()?;
                looks.next_slice();
                if let Some(end) = machine.run(&mut self.odometer, SLICE) {
                    break end;
                }
                looks.look(cx, &self.program, machine, self.runs);
            };
            self.runs += 1;
            report_runs(cx, self.runs);
            match end {
                End::Returned | End::Halted(_) | End::Diverges if machine.has_allocated() => {
                    return Ok(gave_up("the execution may depend on the addresses of new objects".to_string()));
                }
                End::Returned | End::Halted(_) | End::Diverges => {}
                End::Target(node) => return self.found(cx, node),
                end => return Ok(no_answer(&self.program, &end)),
            }
            if !self.odometer.advance() {
                return Ok(Verdict::True);
            }
            machine.reset();
        }
    }

    /// What all havoc edges of the last run gave, also those on which it does not depend.
    fn all_values(&self, cx: &Cx) -> Result<Option<Vec<(EdgeId, i128)>>, Stop> {
        let setup = Setup::new(&self.targets, Storage::Inputs);
        let Ok(code) = Code::new(&self.program, &setup) else { return Ok(None) };
        let mut machine = Machine::new(Rc::new(code), self.max_bytes);
        let choices = self.odometer.choices.iter();
        let mut recorder = Recorder { program: &self.program, choices, values: Vec::new() };
        loop {
            cx.check()?;
            if machine.run(&mut recorder, SLICE).is_some() {
                return Ok(Some(recorder.values));
            }
        }
    }

    fn found(&self, cx: &Cx, target: NodeId) -> Result<Verdict, Stop> {
        let Some(values) = self.all_values(cx)? else {
            return Ok(gave_up("the run cannot be repeated".to_string()));
        };
        let found = counterexample(cx, &self.program, target, &values, BTreeMap::new(), self.max_bytes, u64::MAX)?;
        let unconfirmed = |text: String| Ok(Verdict::Unknown(Reason::Unconfirmed(text)));
        let Some(cex) = found else { return unconfirmed("the same inputs lead somewhere else".to_string()) };
        match replay(&self.program, &cex, target) {
            Ok(()) => Ok(Verdict::False(cex)),
            Err(disbelief) => unconfirmed(disbelief.to_string()),
        }
    }
}

/// The inputs of the run that found a target, with 0 for variables without initialiser, on which it does not depend.
struct Recorder<'a> {
    program: &'a Program,
    choices: std::slice::Iter<'a, Choice>,
    values: Vec<(EdgeId, i128)>,
}

impl Inputs for Recorder<'_> {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        let value = match &self.program.edge(asked.edge).op {
            Op::Havoc { origin: HavocOrigin::Nondet { .. }, .. } => self.choices.next()?.value,
            _ => 0,
        };
        self.values.push((asked.edge, value));
        Some(value)
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(0)
    }
}

/// Adds the inputs of which the program sees only whether they are zero.
fn with_truths(program: &Program, mut ranges: Ranges) -> Ranges {
    for edge in program.edge_ids() {
        if let Op::Havoc { var, .. } = program.edge(edge).op
            && program.var(var).truth
        {
            ranges.entry(edge).or_insert((0, 1));
        }
    }
    ranges
}

fn gave_up(text: String) -> Verdict {
    Verdict::Unknown(Reason::Stopped(Stop::GaveUp(text)))
}

struct Choice {
    edge: EdgeId,
    value: i128,
    high: i128,
}

/// The inputs of a run, and of all runs one after the other.
struct Odometer {
    ranges: Ranges,
    choices: Vec<Choice>,
    /// How many inputs the run has asked for.
    at: usize,
}

impl Odometer {
    /// Goes on to the next combination; false if there is none.
    fn advance(&mut self) -> bool {
        self.choices.truncate(self.at);
        self.at = 0;
        while let Some(last) = self.choices.last_mut() {
            if last.value < last.high {
                last.value += 1;
                return true;
            }
            self.choices.pop();
        }
        false
    }
}

impl Inputs for Odometer {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        if self.at == self.choices.len() {
            let &(low, high) = self.ranges.get(&asked.edge)?;
            self.choices.push(Choice { edge: asked.edge, value: low, high });
        }
        let choice = &self.choices[self.at];
        // Equal choices lead to equal requests.
        debug_assert_eq!(choice.edge, asked.edge);
        self.at += 1;
        Some(choice.value)
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Options, Property, Source};

    fn verify(text: &str, low: i128, high: i128) -> (String, u64) {
        let head = "void abort(void); void reach_error(void); int __VERIFIER_nondet_int(void);
            _Bool __VERIFIER_nondet_bool(void); ";
        let source = Source { name: "t.c".into(), text: format!("{head}{text}") };
        let program = Arc::new(cfa::load(&[source], &Options::default()).unwrap());
        let targets = program.targets(&Property::default_errors());
        let inputs = program.edge_ids().filter(|&edge| match &program.edge(edge).op {
            Op::Havoc { origin: HavocOrigin::Nondet { function }, .. } => function.ends_with("int"),
            _ => false,
        });
        let ranges = inputs.map(|edge| (edge, (low, high))).collect();
        let mut analysis = Exhaustive::new(Arc::clone(&program), targets, ranges, 1 << 20);
        let verdict = analysis.run(&mut Cx::unlimited()).verdict().to_string();
        (verdict, analysis.runs())
    }

    #[test]
    fn all_combinations_are_tried() {
        let text = "int main(void) { int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(), s = 0;
            for (int i = 0; i < x; i++) s += y; if (s != x * y) reach_error(); return 0; }";
        assert_eq!(verify(text, 0, 9), ("TRUE".to_string(), 100));
        assert_eq!(verify(text, -1, 0).0, "FALSE");
    }

    #[test]
    fn runs_may_ask_for_different_inputs() {
        let text = "int main(void) { int x = __VERIFIER_nondet_int(), n = 0;
            while (x > 0) { x--; if (__VERIFIER_nondet_bool()) n++; } if (n > 3) reach_error(); return 0; }";
        assert_eq!(verify(text, 0, 3), ("TRUE".to_string(), 1 + 2 + 4 + 8));
        assert_eq!(verify(text, 0, 4).0, "FALSE");
    }

    #[test]
    fn variables_without_initialiser_do_not_disturb_a_counterexample() {
        let text = "int main(void) { int t, x; x = __VERIFIER_nondet_int(); t = 2 * x;
            while (t > x) { t--; if (t == 5) reach_error(); } return 0; }";
        assert_eq!(verify(text, 0, 9).0, "FALSE");
    }

    #[test]
    fn what_has_no_range_ends_the_analysis() {
        let text = "int main(void) { int x; if (__VERIFIER_nondet_bool()) x = 1; if (x) reach_error(); return 0; }";
        assert!(verify(text, 0, 0).0.starts_with("UNKNOWN"));
    }
}
