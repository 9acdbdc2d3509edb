// SPDX-License-Identifier: Apache-2.0
//! What follows in formulas about products of unknowns, without circuits for them.
//!
//! A formula is contradictory if each of its cases is, as polynomials modulo 2^width or with free variables for the products,
//! about which there are lemmas ([`smt::algebra`]). That misses contradictions that need more of multiplication, but it
//! is soon over, so many candidates for invariants can be tried that would each cost a solver its whole time.

use std::time::Duration;

use algo_bmc::query::{Answer, ask};
use cpa_core::{Cx, Stop};
use cpa_predicate::Manager;
use smt::{TermId, Terms, algebra};

/// The time for a query without products.
const TIMEOUT: Duration = Duration::from_millis(250);
/// The most cases that a solver is asked about.
const CASES: usize = 12;

/// The cases of a formula that are not contradictory as polynomials; none if there are too many.
fn cases(manager: &mut Manager, formula: TermId) -> Option<Vec<TermId>> {
    let cases = algebra::cases(&mut manager.terms, formula).unwrap_or_else(|| vec![formula]);
    (cases.len() <= CASES).then_some(cases)
}

/// Whether a case is found to have no model, whatever the products are that its lemmas leave open.
fn refuted(cx: &Cx, manager: &mut Manager, case: TermId) -> Result<bool, Stop> {
    let more = algebra::consequences(&mut manager.terms, case);
    let all = manager.terms.and_all(&more);
    let all = manager.terms.and(case, all);
    let free = algebra::without_products(&mut manager.terms, all).unwrap_or(all);
    if algebra::has_product(&manager.terms, free) {
        return Ok(false);
    }
    Ok(ask(cx, manager, &[free], Some(TIMEOUT), |_, _| ())? == Answer::Unsat)
}

/// Whether a formula is found to have no model.
fn contradictory(cx: &Cx, manager: &mut Manager, formula: TermId) -> Result<bool, Stop> {
    cx.check()?;
    let Some(cases) = cases(manager, formula) else { return Ok(false) };
    for case in cases {
        if !refuted(cx, manager, case)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same with lemmas for each case.
pub(crate) fn contradictory_in_all_cases(cx: &Cx, manager: &mut Manager, formula: TermId) -> Result<bool, Stop> {
    cx.check()?;
    let Some(cases) = cases(manager, formula) else { return Ok(false) };
    for case in cases {
        if refuted(cx, manager, case)? {
            continue;
        }
        let more = with_lemmas(cx, manager, case)?;
        if more == case || !contradictory(cx, manager, more)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The formula with those facts that help with products and are found to follow from it.
fn with_lemmas(cx: &Cx, manager: &mut Manager, formula: TermId) -> Result<TermId, Stop> {
    let mut formula = formula;
    let mut simple = manager.terms.conjuncts(formula);
    simple.retain(|&part| !algebra::has_product(&manager.terms, part));
    let mut simple = manager.terms.and_all(&simple);
    for conjecture in algebra::conjectures(&mut manager.terms, formula) {
        let not = manager.terms.not(conjecture);
        // Mostly what is known without products is enough.
        let (few, all) = (manager.terms.and(simple, not), manager.terms.and(formula, not));
        if ask(cx, manager, &[few], Some(TIMEOUT), |_, _| ())? == Answer::Unsat || contradictory(cx, manager, all)? {
            formula = manager.terms.and(formula, conjecture);
            simple = manager.terms.and(simple, conjecture);
        }
    }
    Ok(formula)
}

/// Claims, given by their negations, that are not found to follow from the assumptions. Those that were found to follow serve
/// for the others.
pub(crate) fn unproved<K: Copy>(
    cx: &Cx,
    manager: &mut Manager,
    assumptions: &[TermId],
    claims: &[(K, TermId)],
) -> Result<Vec<K>, Stop> {
    let mut known = manager.terms.and_all(assumptions);
    let mut open: Vec<(K, TermId)> = claims.iter().copied().filter(|claim| claim.1 != Terms::fls()).collect();
    let mut lemmas = false;
    while !open.is_empty() && known != Terms::fls() {
        let before = open.len();
        let mut left = Vec::new();
        for (key, broken) in open {
            let both = manager.terms.and(known, broken);
            if contradictory(cx, manager, both)? {
                let claim = manager.terms.not(broken);
                known = manager.terms.and(known, claim);
            } else {
                left.push((key, broken));
            }
        }
        open = left;
        if open.len() == before {
            if lemmas {
                break;
            }
            lemmas = true;
            let more = with_lemmas(cx, manager, known)?;
            if more == known {
                break;
            }
            known = more;
        }
    }
    if known == Terms::fls() {
        open.clear();
    }
    Ok(open.into_iter().map(|(key, _)| key).collect())
}
