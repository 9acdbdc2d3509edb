// SPDX-License-Identifier: Apache-2.0
//! Which of many claims do not follow from assumptions: the step of Flanagan, Leino, *Houdini, an Annotation Assistant for
//! ESC/Java* (2001), that is repeated until all claims follow that are left.

use std::time::Duration;

use algo_bmc::query::{Answer, ask};
use cpa_core::{Cx, Stop};
use cpa_predicate::Manager;
use smt::solver::Model;
use smt::{TermId, Terms, Value};

/// How many single claims the solver may leave unanswered before all that are left count as failing.
const MAX_UNANSWERED: u32 = 6;

/// Claims that the assumptions do not imply, or not as far as the solver can tell within `timeout` for each query; not always
/// all of them, but none only if all claims follow. A claim has a key and is given by its negation; `together` is the
/// disjunction of the negations.
pub fn failing<K: Copy + PartialEq>(
    cx: &Cx,
    manager: &mut Manager,
    assumptions: &[TermId],
    together: TermId,
    claims: &[(K, TermId)],
    timeout: Duration,
) -> Result<Vec<K>, Stop> {
    let formulas: Vec<TermId> = assumptions.iter().copied().chain([together]).collect();
    let read = |manager: &mut Manager, model: &Model<'_>| refuted(manager, model, claims);
    match ask(cx, manager, &formulas, Some(timeout), read)? {
        Answer::Unsat => Ok(Vec::new()),
        Answer::Sat(failing) if !failing.is_empty() => Ok(failing),
        Answer::Sat(_) | Answer::Unknown(_) => one_by_one(cx, manager, assumptions, claims, timeout / 4),
    }
}

fn one_by_one<K: Copy + PartialEq>(
    cx: &Cx,
    manager: &mut Manager,
    assumptions: &[TermId],
    claims: &[(K, TermId)],
    timeout: Duration,
) -> Result<Vec<K>, Stop> {
    let mut failing = Vec::new();
    let mut unanswered = 0;
    for &(key, broken) in claims {
        if failing.contains(&key) || broken == Terms::fls() {
            continue;
        }
        if unanswered == MAX_UNANSWERED {
            failing.push(key);
            continue;
        }
        let formulas: Vec<TermId> = assumptions.iter().copied().chain([broken]).collect();
        let read = |manager: &mut Manager, model: &Model<'_>| refuted(manager, model, claims);
        match ask(cx, manager, &formulas, Some(timeout), read)? {
            Answer::Unsat => {}
            Answer::Sat(more) => {
                failing.push(key);
                failing.extend(more);
            }
            Answer::Unknown(_) => {
                unanswered += 1;
                failing.push(key);
            }
        }
    }
    Ok(failing)
}

/// The claims that a model refutes.
fn refuted<K: Copy>(manager: &Manager, model: &Model<'_>, claims: &[(K, TermId)]) -> Vec<K> {
    let roots: Vec<TermId> = claims.iter().map(|&(_, broken)| broken).collect();
    let terms = &manager.terms;
    let values = smt::Evaluator::new(terms, &roots).run(terms, &mut |symbol, index| {
        model.value(terms, symbol, index).unwrap_or_else(|| terms.default_value(symbol))
    });
    let Some(values) = values else { return Vec::new() };
    claims.iter().zip(values).filter(|(_, value)| *value == Value::Bool(true)).map(|(&(key, _), _)| key).collect()
}
