// SPDX-License-Identifier: Apache-2.0
//! Single queries about large formulas.
//!
//! A query gets a solver of its own: Z3 decides a formula that is given at once, without assumptions and scopes, with its
//! preprocessing, which for whole-program formulas saves more than the repeated translation costs.

use std::time::Duration;

use cpa_core::{Cx, Stop};
use cpa_predicate::Manager;
use cpa_predicate::manager::limits;
use smt::solver::{CheckResult, Model, Solver};
use smt::{Term, TermId, algebra};

/// The time for a query in which products may have any values.
const WITHOUT_PRODUCTS: Duration = Duration::from_millis(500);

/// The answer to a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer<T> {
    /// Satisfiable, with what was read from the model.
    Sat(T),
    /// Unsatisfiable.
    Unsat,
    /// The solver gave no answer.
    Unknown(String),
}

/// Asks whether the conjunction of `formulas` is satisfiable; `read` gets the model. A cancelled run is an error.
pub fn ask<T>(
    cx: &Cx,
    manager: &mut Manager,
    formulas: &[TermId],
    timeout: Option<Duration>,
    read: impl FnOnce(&mut Manager, &Model<'_>) -> T,
) -> Result<Answer<T>, Stop> {
    ask_by(Manager::path_solver, cx, manager, formulas, timeout, read)
}

/// As [`ask`], with solvers of another kind.
pub(crate) fn ask_by<T>(
    new_solver: fn(&Manager) -> Box<dyn Solver>,
    cx: &Cx,
    manager: &mut Manager,
    formulas: &[TermId],
    timeout: Option<Duration>,
    read: impl FnOnce(&mut Manager, &Model<'_>) -> T,
) -> Result<Answer<T>, Stop> {
    cx.check()?;
    let formula = manager.terms.and_all(formulas);
    let formula = algebra::by_cases(&mut manager.terms, formula);
    if let Term::False = manager.terms.get(formula) {
        return Ok(Answer::Unsat);
    }
    let mut limits = limits(cx);
    if let Some(timeout) = timeout {
        limits = limits.at_most(timeout);
    }
    if let Some(free) = algebra::without_products(&mut manager.terms, formula) {
        let mut solver = new_solver(manager);
        solver.assert(&manager.terms, free);
        if let CheckResult::Unsat(_) = solver.check(&manager.terms, &[], &limits.at_most(WITHOUT_PRODUCTS)) {
            return Ok(Answer::Unsat);
        }
    }
    let mut solver = new_solver(manager);
    solver.assert(&manager.terms, formula);
    let answer = match solver.check(&manager.terms, &[], &limits) {
        CheckResult::Sat(model) => Answer::Sat(read(manager, &model)),
        CheckResult::Unsat(_) => Answer::Unsat,
        CheckResult::Unknown(why) => Answer::Unknown(why),
    };
    cx.check()?;
    Ok(answer)
}
