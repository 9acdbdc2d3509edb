// SPDX-License-Identifier: Apache-2.0
//! A solver that checks its answers.

use super::{CheckResult, Core, Limits, Solver, SolverStats};
use crate::term::{TermId, Terms};

/// A wrong answer.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Finding {
    /// A model does not satisfy this assertion or assumption.
    ModelFails(TermId),
    /// A core names an assumption that was not given.
    ForeignCore(usize),
    /// The second solver finds a core satisfiable.
    CoreSatisfiable(Vec<TermId>),
}

/// Evaluates each model on all assertions and assumptions, and checks each core with a second solver. A wrong answer
/// is turned into "unknown" and given to a callback.
pub struct Audited<S, T, F> {
    inner: S,
    second: T,
    report: F,
    assertions: Vec<Vec<TermId>>,
}

impl<S: Solver, T: Solver, F: FnMut(Finding)> Audited<S, T, F> {
    /// Wraps `inner`, which is new, as is `second`.
    pub fn new(inner: S, second: T, report: F) -> Self {
        Audited { inner, second, report, assertions: vec![Vec::new()] }
    }
}

/// Asks the second solver, which holds the same assertions, whether a core suffices.
fn core_problem(
    second: &mut impl Solver,
    terms: &Terms,
    core: &Core,
    assumptions: &[TermId],
    limits: &Limits,
) -> Option<Finding> {
    if let Some(&foreign) = core.indices().iter().find(|&&i| i >= assumptions.len()) {
        return Some(Finding::ForeignCore(foreign));
    }
    let used: Vec<TermId> = core.indices().iter().map(|&i| assumptions[i]).collect();
    // Asserted instead of assumed, so that the second solver takes another way to its answer.
    second.push();
    for &a in &used {
        second.assert(terms, a);
    }
    let satisfiable = second.check(terms, &[], limits).is_sat();
    second.pop();
    satisfiable.then_some(Finding::CoreSatisfiable(used))
}

impl<S: Solver, T: Solver, F: FnMut(Finding)> Solver for Audited<S, T, F> {
    fn push(&mut self) {
        self.assertions.push(Vec::new());
        self.inner.push();
        self.second.push();
    }

    fn pop(&mut self) {
        self.assertions.pop();
        self.inner.pop();
        self.second.pop();
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        self.assertions.last_mut().expect("the outermost scope is never closed").push(formula);
        self.inner.assert(terms, formula);
        self.second.assert(terms, formula);
    }

    fn check<'s>(&'s mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> CheckResult<'s> {
        let core = match self.inner.check(terms, assumptions, limits) {
            CheckResult::Unsat(core) => core,
            CheckResult::Unknown(reason) => return CheckResult::Unknown(reason),
            CheckResult::Sat(model) => {
                let mut formulas = self.assertions.iter().flatten().chain(assumptions);
                return match formulas.find(|&&t| model.holds(terms, t) == Some(false)) {
                    None => CheckResult::Sat(model),
                    Some(&t) => {
                        (self.report)(Finding::ModelFails(t));
                        CheckResult::Unknown("the model does not satisfy the assertions".to_owned())
                    }
                };
            }
        };
        match core_problem(&mut self.second, terms, &core, assumptions, limits) {
            None => CheckResult::Unsat(core),
            Some(finding) => {
                (self.report)(finding);
                CheckResult::Unknown("the core does not suffice".to_owned())
            }
        }
    }

    fn stats(&self) -> SolverStats {
        self.inner.stats()
    }
}
