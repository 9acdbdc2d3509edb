// SPDX-License-Identifier: Apache-2.0
//! Strongest postconditions of the sliced path, as far as constants and equalities of live variables express them.
//!
//! Follows the idea of Beyer, Loewe, *Explicit-State Software Model Checking Based on CEGAR and Interpolation* (FASE 2013),
//! section 4, that the constants which a path gives to its variables are interpolants; here also equal values, constant
//! differences and few-valued variables. The symbolic store of the slice gives the candidates, and only those that are
//! needed are kept. Says nothing general about loops: one of the last engines.

use rustc_hash::FxHashMap;

use super::cover::constant_leaves;
use super::engine::{Interpolator, ItpOutcome, Task};
use super::facts::conjunctive;
use super::newton::slice;
use super::slice::Liveness;
use crate::path::PathFormula;
use crate::term::{BvBin, Sort, SymId, TermId, Terms};

/// Among more variables than this, constant differences are not looked for.
const MAX_PAIRED: usize = 10;

/// The engine.
#[derive(Clone, Debug)]
pub struct Strongest {
    /// Attempts to make the core smaller that gives the slice.
    pub core_attempts: usize,
    /// Attempts to make the conjunction of a cut smaller.
    pub attempts: usize,
}

impl Interpolator for Strongest {
    fn name(&self) -> &'static str {
        "sp"
    }

    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome {
        let slice = match slice(task, self.core_attempts) {
            Ok(slice) => slice,
            Err(why) => return ItpOutcome::GaveUp(why),
        };
        let liveness = Liveness::new(task.terms, task.path, &slice);
        let mut formula = PathFormula::empty();
        let mut candidates = Vec::new();
        for b in 0..task.path.len() - 1 {
            match slice.extend(task.terms, task.path, b, formula.next_piece()) {
                Some(next) => formula = next,
                // Nothing gets here: false holds at this cut and the later ones.
                None => {
                    candidates.resize(task.path.len() - 1, vec![TermId::FALSE]);
                    break;
                }
            }
            let live = liveness.at_entry(b + 1);
            candidates.push(facts(task.terms, &formula, &live));
        }
        match conjunctive(task, candidates, false, self.attempts) {
            Some(cuts) => ItpOutcome::Sequence(cuts),
            None => ItpOutcome::GaveUp("constants and equalities are too weak".to_owned()),
        }
    }
}

/// What the symbolic store says about the live variables.
fn facts(terms: &mut Terms, formula: &PathFormula, live: &[SymId]) -> Vec<TermId> {
    let mut facts = Vec::new();
    let mut first_with: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut open: Vec<(TermId, TermId)> = Vec::new();
    for &sym in live {
        // Whole memories are no facts that one wants.
        if let Sort::Array { .. } = terms.symbol_sort(sym) {
            continue;
        }
        let (var, value) = (terms.var(sym, 0), formula.value(terms, sym));
        if let Some(leaves) = constant_leaves(terms, value) {
            let equations: Vec<TermId> = leaves.into_iter().map(|leaf| terms.eq(var, leaf)).collect();
            facts.push(terms.or_all(&equations));
        }
        match first_with.get(&value) {
            Some(&other) => facts.push(terms.eq(var, other)),
            None => {
                first_with.insert(value, var);
                open.push((var, value));
            }
        }
    }
    if open.len() <= MAX_PAIRED {
        for (i, &(x, v)) in open.iter().enumerate() {
            for &(y, w) in &open[..i] {
                if let Some(fact) = difference(terms, (x, v), (y, w)) {
                    facts.push(fact);
                }
            }
        }
    }
    facts
}

/// `x = y + k` when the values differ by the constant k.
fn difference(terms: &mut Terms, (x, v): (TermId, TermId), (y, w): (TermId, TermId)) -> Option<TermId> {
    if terms.sort(x) != terms.sort(y) || terms.as_value(v).is_some() {
        return None;
    }
    let sum = match terms.sort(x) {
        Sort::Bool | Sort::Array { .. } => return None,
        Sort::Int => {
            let k = terms.int_sub(v, w);
            terms.as_value(k)?;
            terms.int_add(y, k)
        }
        Sort::Bv(_) => {
            let k = terms.bv_bin(BvBin::Sub, v, w);
            terms.as_value(k)?;
            terms.bv_bin(BvBin::Add, y, k)
        }
    };
    Some(terms.eq(x, sum))
}
