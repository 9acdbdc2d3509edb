// SPDX-License-Identifier: Apache-2.0
//! k-induction with iterative deepening.
//!
//! Follows *A Unifying View*, section 4.2 and Algorithm 3: base case and forward condition are bounded model checking; the
//! step case is repeated when the invariants became stronger.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use algo_bmc::Bmc;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Assurance, Counting, Cx, Outcome, Reason, Stop, Verdict};
use cpa_predicate::Manager;

use crate::cutpoints::Cutpoints;
use crate::invariants::{Generator, Invariants, Proposer};
use crate::step::Step;

/// Where auxiliary invariants come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// There are none.
    Nothing,
    /// A data-flow analysis.
    DataFlow,
    /// A data-flow analysis, and candidates that are inductive together.
    Induction,
}

/// How k-induction works.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The base case.
    pub base: algo_bmc::Options,
    /// The auxiliary invariants.
    pub invariants: Strategy,
}

/// Where the wall time went, besides the base case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Building the formulas of the step case.
    pub formula: Duration,
    /// Checking the step case.
    pub check: Duration,
    /// Finding invariants.
    pub invariants: Duration,
}

/// How hard the step case is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effort {
    /// For one segment, with products as polynomials, if there are products.
    Polynomials,
    /// For k segments, by a solver.
    All,
}

/// The least time for the queries of one step case; with time they get more.
const STEP_TIMEOUT: Duration = Duration::from_secs(2);

/// The same for the first step case of programs with products, which either holds as polynomials or needs invariants.
const FIRST_TIMEOUT: Duration = Duration::from_millis(50);

/// k-induction on one program.
pub struct KInduction {
    base: Bmc,
    options: Options,
    step: Result<(Step, Generator), String>,
    invariants: Invariants,
    times: Times,
    /// The k for which the step case held.
    proved: Option<u32>,
    /// The last invariants with which the step case was tried with products as polynomials.
    tried: Option<Invariants>,
}

impl KInduction {
    /// Proves that `targets` are not reached, or finds a run to one.
    pub fn new(
        program: &Arc<Program>,
        targets: &BTreeSet<NodeId>,
        manager: &Rc<RefCell<Manager>>,
        options: Options,
    ) -> Self {
        let cutpoints = Cutpoints::find(program, targets).map(Rc::new);
        let mut options = options;
        if cutpoints.is_err() {
            // Without a step case there is nothing to be in step with, and visits of loop heads do not bound recursion.
            options.base.counting = Counting::Iterations;
        }
        let base = Bmc::new(program, targets, manager, options.base.clone());
        let count = cutpoints.as_ref().map_or(0, |cutpoints| cutpoints.points().len());
        let strategy = options.invariants;
        let step = cutpoints.map(|cutpoints| {
            let generator = Generator::new(program, targets, manager, Rc::clone(&cutpoints), strategy);
            (Step::new(program, targets, manager, cutpoints), generator)
        });
        Self {
            base,
            options,
            step,
            invariants: Invariants::none(count),
            times: Times::default(),
            proved: None,
            tried: None,
        }
    }

    /// The same with further candidates for invariants.
    pub fn with_proposer(mut self, proposer: Box<dyn Proposer>) -> Self {
        if let Ok((_, generator)) = &mut self.step {
            generator.set_proposer(proposer);
        }
        self
    }

    /// The base case.
    pub fn base(&self) -> &Bmc {
        &self.base
    }

    /// The step case, or why there is none.
    pub fn step(&self) -> Result<&Step, &str> {
        self.step.as_ref().map(|(step, _)| step).map_err(String::as_str)
    }

    /// The invariants known so far.
    pub fn invariants(&self) -> &Invariants {
        &self.invariants
    }

    /// Where the time went.
    pub fn times(&self) -> Times {
        self.times
    }

    /// The k for which the step case held, if it did.
    pub fn proved(&self) -> Option<u32> {
        self.proved
    }

    /// Runs until there is a verdict or the greatest bound is reached. After a timeout or cancellation it can be called
    /// again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let verdict = self.search(cx).unwrap_or_else(|stop| Verdict::Unknown(Reason::Stopped(stop)));
        Outcome::conclude(verdict, Assurance::full(), Vec::new())
    }

    fn search(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        let mut k = self.base.bound().max(self.options.base.first);
        loop {
            if let Some(verdict) = self.base.violation(cx, k)? {
                return Ok(verdict);
            }
            // That nothing is left to unroll is hard to tell where there are products.
            if self.step_case(cx, k, Effort::Polynomials)? {
                return Ok(Verdict::True);
            }
            if let Some(verdict) = self.base.completeness(cx)? {
                return Ok(verdict);
            }
            if self.step_case(cx, k, Effort::All)? {
                return Ok(Verdict::True);
            }
            match self.options.base.next(k) {
                Some(next) => k = next,
                None => return Ok(Verdict::Unknown(self.base.incomplete(k))),
            }
        }
    }

    /// Whether the step case holds for `k`, with what is known or with what the generator finds out now.
    fn step_case(&mut self, cx: &mut Cx, k: u32, effort: Effort) -> Result<bool, Stop> {
        let Ok((step, generator)) = &mut self.step else { return Ok(false) };
        if self.base.open().is_some() {
            return Ok(false);
        }
        let mut begin = cx.elapsed();
        let segments = match effort {
            Effort::Polynomials => 1,
            Effort::All => k + 1,
        };
        step.extend(cx, segments)?;
        self.times.formula += cx.elapsed().saturating_sub(begin);
        if effort == Effort::Polynomials && !step.multiplies() {
            return Ok(false);
        }
        let divides = effort == Effort::All && step.divides();
        loop {
            begin = cx.elapsed();
            // Circuits for products come last, but for what needs no invariants.
            let holds = match effort {
                Effort::Polynomials if self.tried.as_ref() == Some(&self.invariants) => false,
                Effort::Polynomials if self.tried.is_none() => {
                    step.extend(cx, k + 1)?;
                    step.holds(cx, &self.invariants, Some(FIRST_TIMEOUT))? || step.excluded(cx, &self.invariants)?
                }
                Effort::Polynomials => step.excluded(cx, &self.invariants)?,
                Effort::All if divides && step.excluded(cx, &self.invariants)? => true,
                Effort::All => step.holds(cx, &self.invariants, Some(STEP_TIMEOUT.max(begin / 5)))?,
            };
            self.times.check += cx.elapsed().saturating_sub(begin);
            if effort == Effort::Polynomials {
                self.tried = Some(self.invariants.clone());
            }
            if holds {
                self.proved = Some(k);
                return Ok(true);
            }
            if effort == Effort::Polynomials && generator.about_memory() {
                return Ok(false);
            }
            begin = cx.elapsed();
            let stronger = loop {
                match generator.next(cx, step.unrollings(), &self.invariants)? {
                    Some(found) if found == self.invariants => {}
                    found => break found,
                }
            };
            self.times.invariants += cx.elapsed().saturating_sub(begin);
            match stronger {
                Some(stronger) => self.invariants = stronger,
                None => return Ok(false),
            }
        }
    }
}
