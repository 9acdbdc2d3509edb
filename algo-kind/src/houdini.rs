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

/// The time for queries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// For all claims together, at first. A quarter of the next one is for each by itself.
    pub first: Duration,
    /// For all claims together, if some are left open one by one.
    pub whole: Duration,
}

impl Timeouts {
    /// The same for all claims together at any time.
    pub fn new(whole: Duration) -> Self {
        Self { first: whole, whole }
    }

    /// Little time before claims are looked at one by one.
    pub fn soon_apart(whole: Duration) -> Self {
        Self { first: whole / 8, whole }
    }
}

/// Claims that the assumptions do not imply, or not as far as the solver can tell in time; not always
/// all of them, but none only if all claims follow. A claim has a key and is given by its negation; `together` is the
/// disjunction of the negations.
pub fn failing<K: Copy + PartialEq>(
    cx: &Cx,
    manager: &mut Manager,
    assumptions: &[TermId],
    together: TermId,
    claims: &[(K, TermId)],
    timeouts: Timeouts,
) -> Result<Vec<K>, Stop> {
    let formulas: Vec<TermId> = assumptions.iter().copied().chain([together]).collect();
    // What is hard together is often easy one by one, or the other way round.
    let Timeouts { first, whole } = timeouts;
    if let Some(failing) = all_at_once(cx, manager, &formulas, claims, if claims.len() > 1 { first } else { whole })? {
        return Ok(failing);
    }
    if claims.len() < 2 {
        return Ok(claims.iter().map(|claim| claim.0).collect());
    }
    let (failing, unanswered) = one_by_one(cx, manager, assumptions, claims, whole / 4)?;
    if unanswered == 0 || first == whole {
        return Ok(failing);
    }
    Ok(all_at_once(cx, manager, &formulas, claims, whole)?.unwrap_or(failing))
}

/// Some of the claims that fail, none if all follow; nothing if that is not found out.
fn all_at_once<K: Copy>(
    cx: &Cx,
    manager: &mut Manager,
    formulas: &[TermId],
    claims: &[(K, TermId)],
    timeout: Duration,
) -> Result<Option<Vec<K>>, Stop> {
    let read = |manager: &mut Manager, model: &Model<'_>| refuted(manager, model, claims);
    Ok(match ask(cx, manager, formulas, Some(timeout), read)? {
        Answer::Unsat => Some(Vec::new()),
        Answer::Sat(failing) => Some(failing).filter(|failing| !failing.is_empty()),
        Answer::Unknown(_) => None,
    })
}

/// The claims that fail or are not answered, and how many of them are not answered.
fn one_by_one<K: Copy + PartialEq>(
    cx: &Cx,
    manager: &mut Manager,
    assumptions: &[TermId],
    claims: &[(K, TermId)],
    timeout: Duration,
) -> Result<(Vec<K>, u32), Stop> {
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
    Ok((failing, unanswered))
}

/// The claims that a model refutes.
fn refuted<K: Copy>(manager: &Manager, model: &Model<'_>, claims: &[(K, TermId)]) -> Vec<K> {
    let roots: Vec<TermId> = claims.iter().map(|&(_, broken)| broken).collect();
    let Some(values) = model.values(&manager.terms, &roots) else { return Vec::new() };
    claims.iter().zip(values).filter(|(_, value)| *value == Value::Bool(true)).map(|(&(key, _), _)| key).collect()
}
