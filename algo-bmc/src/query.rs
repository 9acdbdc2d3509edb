// SPDX-License-Identifier: Apache-2.0
//! Single queries about large formulas.
//!
//! A query gets a solver of its own: Z3 decides a formula that is given at once, without assumptions and scopes, with its
//! preprocessing, which for whole-program formulas saves more than the repeated translation costs.

use std::time::Duration;

use cpa_core::{Cx, Stop};
use cpa_predicate::Manager;
use cpa_predicate::manager::limits;
use smt::algebra::{self, InIntegers};
use smt::domains::{Domains, Progress};
use smt::solver::{CheckResult, Limits, Model, Solver};
use smt::{Term, TermId};

/// The time for a query in which products may have any values.
const WITHOUT_PRODUCTS: Duration = Duration::from_millis(500);

/// The first time for a query about bits, and the time for the same query about integers.
const AS_BITS: Duration = Duration::from_millis(100);
const AS_INTEGERS: Duration = Duration::from_millis(400);
/// The time for a query about integers where memory is read, before that about bits.
const READS_AS_INTEGERS: Duration = Duration::from_millis(100);

/// The steps of the first search for a model, the time that the solver has afterwards, and by what both grow.
const SEARCH: u64 = 400_000;
const SOLVER: Duration = Duration::from_millis(250);
const GROWTH: u32 = 4;

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
    cx.check()?;
    let formula = simplified(manager, formulas);
    let limits = limited(cx, timeout);
    if refuted(Manager::path_solver, manager, formula, &limits) {
        return Ok(Answer::Unsat);
    }
    let mut read = read;
    if let Some(integers) = integers(manager, formula) {
        // Sums and multiples that contradict each other as integers are hard as bits, and the other way round; indices are
        // mostly easier as integers.
        let mut time = READS_AS_INTEGERS;
        if !manager.terms.has_array(formula) {
            match decide(Manager::path_solver, manager, formula, &limits.at_most(AS_BITS), read) {
                Ok(answer) => return Ok(answer),
                Err((_, unread)) => read = unread,
            }
            cx.check()?;
            time = AS_INTEGERS;
        }
        let mut solver = manager.integer_solver();
        solver.assert(&manager.terms, integers.formula);
        match solver.check(&manager.terms, &[], &limits.at_most(time)) {
            CheckResult::Unsat(_) => return Ok(Answer::Unsat),
            CheckResult::Sat(model) => {
                let bits = integers.model_of_bits(&manager.terms, &model);
                let is_model = |bits: &Model<'_>| bits.holds(&manager.terms, formula) == Some(true);
                if let Some(bits) = bits.filter(is_model) {
                    return Ok(Answer::Sat(read(manager, &bits)));
                }
            }
            CheckResult::Unknown(_) => {}
        }
    }
    let answer = decide(Manager::path_solver, manager, formula, &limits, read).unwrap_or_else(|(answer, _)| answer);
    cx.check()?;
    Ok(answer)
}

/// A formula about integers that has a model if the formula has one; none where products of unknowns matter.
fn integers(manager: &mut Manager, formula: TermId) -> Option<InIntegers> {
    if algebra::has_product(&manager.terms, formula) {
        return None;
    }
    algebra::in_integers(&mut manager.terms, formula)
}

/// As [`ask`], about all paths up to a bound. Without a timeout models are searched for, too, where symbols have few values.
pub(crate) fn ask_unrolled<T>(
    cx: &Cx,
    manager: &mut Manager,
    formulas: &[TermId],
    timeout: Option<Duration>,
    mut read: impl FnOnce(&mut Manager, &Model<'_>) -> T,
) -> Result<Answer<T>, Stop> {
    cx.check()?;
    let formula = simplified(manager, formulas);
    let new_solver = Manager::unrolling_solver;
    if refuted(new_solver, manager, formula, &limited(cx, timeout)) {
        return Ok(Answer::Unsat);
    }
    let over = || cx.check().is_err();
    let (mut steps, mut slice) = (SEARCH, SOLVER);
    let mut search = match timeout {
        None => Domains::new(&mut manager.terms, formula, &over),
        Some(_) => None,
    };
    while let Some(domains) = &mut search {
        match domains.run(&manager.terms, steps, &over) {
            Progress::Found(found) => {
                let model = Model::new(found);
                if model.holds(&manager.terms, formula) == Some(true) {
                    return Ok(Answer::Sat(read(manager, &model)));
                }
                break;
            }
            // That there is no model is for the solver to say.
            Progress::Exhausted => break,
            Progress::Stopped => cx.check()?,
        }
        match decide(new_solver, manager, formula, &limits(cx).at_most(slice), read) {
            Ok(answer) => return Ok(answer),
            Err((_, unread)) => read = unread,
        }
        cx.check()?;
        (steps, slice) = (steps.saturating_mul(GROWTH.into()), slice.saturating_mul(GROWTH));
    }
    let answer = decide(new_solver, manager, formula, &limited(cx, timeout), read).unwrap_or_else(|(answer, _)| answer);
    cx.check()?;
    Ok(answer)
}

fn limited(cx: &Cx, timeout: Option<Duration>) -> Limits {
    let limits = limits(cx);
    timeout.map_or_else(|| limits.clone(), |timeout| limits.at_most(timeout))
}

fn simplified(manager: &mut Manager, formulas: &[TermId]) -> TermId {
    let formula = manager.terms.and_all(formulas);
    algebra::by_cases(&mut manager.terms, formula)
}

/// Whether a formula is unsatisfiable even if products may have any values.
fn refuted(
    new_solver: fn(&Manager) -> Box<dyn Solver>,
    manager: &mut Manager,
    formula: TermId,
    limits: &Limits,
) -> bool {
    if let Term::False = manager.terms.get(formula) {
        return true;
    }
    let hard = algebra::needs_circuits(&manager.terms, formula);
    hard && algebra::without_products(&mut manager.terms, formula).is_some_and(|free| {
        let mut solver = new_solver(manager);
        solver.assert(&manager.terms, free);
        solver.check(&manager.terms, &[], &limits.at_most(WITHOUT_PRODUCTS)).is_unsat()
    })
}

/// What a solver says; without an answer there is still a use for `read`.
fn decide<T, R: FnOnce(&mut Manager, &Model<'_>) -> T>(
    new_solver: fn(&Manager) -> Box<dyn Solver>,
    manager: &mut Manager,
    formula: TermId,
    limits: &Limits,
    read: R,
) -> Result<Answer<T>, (Answer<T>, R)> {
    let mut solver = new_solver(manager);
    solver.assert(&manager.terms, formula);
    match solver.check(&manager.terms, &[], limits) {
        CheckResult::Sat(model) => Ok(Answer::Sat(read(manager, &model))),
        CheckResult::Unsat(_) => Ok(Answer::Unsat),
        CheckResult::Unknown(why) => Err((Answer::Unknown(why), read)),
    }
}
