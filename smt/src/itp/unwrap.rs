// SPDX-License-Identifier: Apache-2.0
//! Guessing that machine arithmetic does not wrap around on a path.
//!
//! With integers in place of bit-vectors, a statement like `x = x + 1` becomes `x = ite(x + 1 <= max, x + 1, x + 1 - 2^32)`
//! or a remainder by 2^32. Preconditions through such terms are large, although hardly any proof needs the wrapped case.
//! Where all sampled executions take the same case of such a term, the precondition is computed for that case alone and
//! requires the case to be taken. That strengthens the precondition, so it stays inductive, but the path need no longer
//! imply it; the checker decides. What is not needed of the required cases, simplification drops later.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::engine::Task;
use super::graph::Path;
use super::samples::{Samples, State};
use super::slice::{Reads, Slice};
use crate::path::Stmt;
use crate::term::{Sort, SymId, Term, TermId, Terms, Value};

/// Remainders by less than this are the program's own.
const MIN_MODULUS: i128 = 256;

/// Statements with one case chosen, by block and edge, and what that case requires.
#[derive(Default)]
pub(crate) struct Cases {
    chosen: BTreeMap<(usize, u32), (Stmt, TermId)>,
}

impl Cases {
    /// Chooses the cases that all samples take.
    pub(crate) fn new(task: &mut Task<'_>) -> Self {
        let mut states: BTreeMap<(usize, u32), Vec<State>> = BTreeMap::new();
        let wrapping: BTreeMap<(usize, u32), TermId> = task
            .path
            .edges()
            .filter_map(|(b, e, stmt)| match stmt {
                Stmt::Assume(t) | Stmt::Assign(_, t) if may_wrap(task.terms, t) => Some(((b, e), t)),
                Stmt::Skip | Stmt::Assume(_) | Stmt::Assign(..) | Stmt::Havoc(_) => None,
            })
            .collect();
        if wrapping.is_empty() {
            return Cases::default();
        }
        let mut entries: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        Samples::of(task).replay(
            task,
            |block, edge, state| {
                if wrapping.contains_key(&(block, edge)) {
                    states.entry((block, edge)).or_default().push(state.clone());
                }
            },
            |cut, state| entries.entry(cut + 1).or_default().push(state.clone()),
        );
        // Where no sample comes, the states at the entry of the block are better than nothing.
        for &(block, edge) in wrapping.keys() {
            if let (false, Some(at_entry)) = (states.contains_key(&(block, edge)), entries.get(&block)) {
                states.insert((block, edge), at_entry.clone());
            }
        }
        let mut cases = Cases::default();
        for ((block, edge), states) in states {
            let (term, required) = choose(task.terms, wrapping[&(block, edge)], &states);
            let stmt = match task.path.dag(block).edges[edge as usize].stmt {
                Stmt::Assume(_) => Stmt::Assume(term),
                Stmt::Assign(sym, _) => Stmt::Assign(sym, term),
                Stmt::Skip | Stmt::Havoc(_) => unreachable!("only statements with terms wrap"),
            };
            if required != TermId::TRUE {
                cases.chosen.insert((block, edge), (stmt, required));
            }
        }
        cases
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// The same cases, required by nothing but the check in the end.
    pub(crate) fn without_requirements(&self) -> Self {
        Cases { chosen: self.chosen.iter().map(|(&place, &(stmt, _))| (place, (stmt, TermId::TRUE))).collect() }
    }

    /// The slice together with the assumptions about variables that the cases speak about: the slice may have done without
    /// them because both cases were fine with it.
    pub(crate) fn guarded(&self, terms: &Terms, path: &Path<'_>, slice: &Slice) -> Slice {
        let required: Vec<TermId> = self.chosen.values().map(|&(_, required)| required).collect();
        let relevant: BTreeSet<SymId> = terms.symbols_of_all(&required).into_iter().map(|(sym, _)| sym).collect();
        let mut guarded = slice.clone();
        let mut reads = Reads::default();
        for (block, edge, stmt) in path.edges() {
            if let Stmt::Assume(cond) = stmt
                && reads.of(terms, cond).iter().any(|sym| relevant.contains(sym))
            {
                guarded.keep(block, edge);
            }
        }
        guarded
    }

    /// The statement to use for an edge that does `stmt` otherwise, and what must hold before it.
    pub(crate) fn of(&self, block: usize, edge: u32, stmt: Stmt) -> (Stmt, TermId) {
        match (stmt, self.chosen.get(&(block, edge))) {
            (Stmt::Assume(_) | Stmt::Assign(..), Some(&case)) => case,
            (Stmt::Skip | Stmt::Havoc(_) | Stmt::Assume(_) | Stmt::Assign(..), _) => (stmt, TermId::TRUE),
        }
    }
}

/// Whether a node is one of the shapes that encode wrapping around.
fn wraps(terms: &Terms, t: TermId) -> bool {
    match *terms.get(t) {
        Term::Ite(_, a, _) => terms.sort(a) == Sort::Int && terms.as_value(a).is_none(),
        Term::IntMod(_, k) => k >= MIN_MODULUS,
        _ => false,
    }
}

fn may_wrap(terms: &Terms, t: TermId) -> bool {
    terms.post_order(&[t], |_| false).into_iter().any(|s| wraps(terms, s))
}

/// The term with the cases that it takes in all of the states, and the condition for these cases.
fn choose(terms: &mut Terms, t: TermId, states: &[State]) -> (TermId, TermId) {
    let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut required = Vec::new();
    for s in terms.post_order(&[t], |_| false) {
        let rebuilt = terms.rebuild(s, |c| memo[&c]);
        let chosen = if wraps(terms, rebuilt) { one_case(terms, rebuilt, states, &mut required) } else { rebuilt };
        memo.insert(s, chosen);
    }
    (memo[&t], terms.and_all(&required))
}

fn one_case(terms: &mut Terms, t: TermId, states: &[State], required: &mut Vec<TermId>) -> TermId {
    let common = |terms: &Terms, s: TermId| -> Option<Value> {
        let mut values = states.iter().map(|state| terms.eval(s, &mut |sym, _| state[&sym].clone()));
        let first = values.next()?;
        values.all(|v| v == first).then_some(first)
    };
    match *terms.get(t) {
        Term::Ite(c, a, b) => {
            // The cases of wrapped arithmetic differ by a constant; other choices are the program's own.
            let difference = terms.int_sub(a, b);
            if terms.as_value(difference).is_none() {
                return t;
            }
            match common(terms, c) {
                Some(Value::Bool(true)) => {
                    required.push(c);
                    a
                }
                Some(Value::Bool(false)) => {
                    required.push(terms.not(c));
                    b
                }
                _ => t,
            }
        }
        Term::IntMod(a, k) => {
            let quotient = terms.int_div(a, k);
            let Some(Value::Int(q)) = common(terms, quotient) else { return t };
            let Some(start) = q.checked_mul(k).filter(|start| start.checked_add(k).is_some()) else { return t };
            let (low, high) = (terms.int(start), terms.int(start + k));
            required.extend([terms.int_le(low, a), terms.int_lt(a, high)]);
            terms.int_sub(a, low)
        }
        _ => t,
    }
}
