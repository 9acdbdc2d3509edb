// SPDX-License-Identifier: Apache-2.0
//! The greatest set of candidates that is inductive: what is true initially and preserved by every segment.
//!
//! Flanagan, Leino, *Houdini, an Annotation Assistant for ESC/Java* (2001), simultaneously for all cut points: candidates
//! that a model refutes are dropped until there is no such model. Everything that is left holds at every visit of its cut
//! point, by induction over the number of segments; nothing else is trusted, also not the analysis that proposed it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use cfa::Program;
use cpa_core::{ArgId, Cx, Stop};
use cpa_predicate::Manager;
use smt::path::PathFormula;
use smt::{TermId, algebra};

use super::Invariants;
use super::instances::{Goals, with_instances_for};
use crate::houdini::{Timeouts, failing};
use crate::products::unproved;
use crate::step::StepUnrolling;

/// The negation of a candidate, which a cut point and its position there name.
type Claim = ((usize, usize), TermId);

/// How candidates are proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manner {
    /// By a solver, which may need circuits for products.
    Exact,
    /// By a solver, whatever products are.
    Free,
    /// One by one, by polynomials.
    Polynomials,
}

/// Proves candidates.
pub(crate) struct Induction<'a> {
    pub(crate) program: &'a Program,
    pub(crate) manager: &'a Rc<RefCell<Manager>>,
    /// From the entry of the program, one segment.
    pub(crate) entry: &'a StepUnrolling,
    /// From the cut points, at least one segment.
    pub(crate) steps: &'a [StepUnrolling],
    /// The time for one query.
    pub(crate) timeout: Duration,
}

impl Induction<'_> {
    /// What is known, with those of the candidates for each cut point that are inductive together; the others are dropped,
    /// as far as that was found out when this is stopped. Circuits for products are expensive, so where there are products,
    /// candidates without them are tried alone first, whatever the products are, and the others as polynomials.
    pub(crate) fn prove(
        &self,
        cx: &Cx,
        known: &Invariants,
        candidates: &mut [Vec<TermId>],
    ) -> Result<Invariants, Stop> {
        let is_product = |term: &TermId| algebra::has_product(&self.manager.borrow().terms, *term);
        if !candidates.iter().flatten().any(is_product) && !self.multiplies() {
            return self.prove_together(cx, known, candidates, Manner::Exact);
        }
        let mut simple: Vec<Vec<TermId>> =
            candidates.iter().map(|list| list.iter().copied().filter(|term| !is_product(term)).collect()).collect();
        let known = self.prove_together(cx, known, &mut simple, Manner::Free);
        let stopped = known.is_err();
        for (list, left) in candidates.iter_mut().zip(&simple) {
            list.retain(|term| if is_product(term) { true } else { stopped && !left.contains(term) });
        }
        let result = known.and_then(|known| self.prove_together(cx, &known, candidates, Manner::Polynomials));
        for (list, proved) in candidates.iter_mut().zip(simple) {
            list.extend(proved);
        }
        result
    }

    /// What is known, with those of the candidates that are inductive together whatever products, quotients and remainders
    /// are; what is left of the candidates are the others.
    pub(crate) fn prove_freely(
        &self,
        cx: &Cx,
        known: &Invariants,
        candidates: &mut [Vec<TermId>],
    ) -> Result<Invariants, Stop> {
        let mut free = candidates.to_vec();
        let proved = self.prove_together(cx, known, &mut free, Manner::Free)?;
        for (list, free) in candidates.iter_mut().zip(free) {
            list.retain(|term| !free.contains(term));
        }
        Ok(proved)
    }

    /// Whether there are quotients or remainders in the first segments, but no products of unknowns.
    pub(crate) fn only_divides(&self) -> bool {
        let divides = |path: &PathFormula| {
            let terms = &self.manager.borrow().terms;
            path.assignments().any(|(_, value)| algebra::has_quotient(terms, value))
                || algebra::has_quotient(terms, path.pc)
        };
        self.ends().any(divides) && !self.multiplies()
    }

    /// Whether there are products of unknowns in the conditions of the first segments.
    pub(crate) fn multiplies(&self) -> bool {
        let terms = &self.manager.borrow().terms;
        self.ends().any(|path| algebra::has_product(terms, path.pc))
    }

    /// The first segments, as their ends know them.
    fn ends(&self) -> impl Iterator<Item = &PathFormula> {
        std::iter::once(self.entry)
            .chain(self.steps)
            .flat_map(|steps| steps.first_ends().iter().map(|&(_, node)| steps.unrolling().path(node)))
    }

    fn prove_together(
        &self,
        cx: &Cx,
        known: &Invariants,
        candidates: &mut [Vec<TermId>],
        manner: Manner,
    ) -> Result<Invariants, Stop> {
        let count = self.steps.len();
        self.preserve(cx, known, None, candidates, manner)?;
        let mut waiting: VecDeque<usize> = (0..count).collect();
        while let Some(start) = waiting.pop_front() {
            for weakened in self.preserve(cx, known, Some(start), candidates, manner)? {
                // What is left at the start itself was enough for the last query.
                if weakened != start && !waiting.contains(&weakened) {
                    waiting.push_back(weakened);
                }
            }
        }
        let terms = &mut self.manager.borrow_mut().terms;
        let mut proved = Vec::with_capacity(count);
        for (number, list) in candidates.iter().enumerate() {
            let all = terms.and_all(list);
            proved.push(terms.and(known.term(number), all));
        }
        Ok(Invariants::new(proved))
    }

    /// Drops candidates until one segment from a start (the entry, if there is none) preserves those that are left.
    /// Answers the cut points that lost some.
    fn preserve(
        &self,
        cx: &Cx,
        known: &Invariants,
        start: Option<usize>,
        candidates: &mut [Vec<TermId>],
        manner: Manner,
    ) -> Result<Vec<usize>, Stop> {
        let unrolling = start.map_or(self.entry, |start| &self.steps[start]);
        let mut weakened = Vec::new();
        let manager = &mut *self.manager.borrow_mut();
        loop {
            let mut goals = Goals::new(manager, self.program, unrolling, candidates);
            let mut formulas = Vec::new();
            if let Some(start) = start {
                formulas.push(known.term(start));
                formulas.extend(&candidates[start]);
                formulas = with_instances_for(manager, self.program, unrolling, formulas, candidates);
            }
            // Candidates at the ends of the segment, as they are there.
            let mut at_ends: Vec<Claim> = Vec::new();
            let mut broken = Vec::new();
            let mut ends: Vec<(ArgId, Claim)> = Vec::new();
            for &(number, node) in unrolling.first_ends() {
                let path = unrolling.unrolling().path(node);
                let fresh = u32::try_from(node.index()).expect("nodes are counted with 32 bits") + 1;
                let refuted = goals.refuted(manager, &candidates[number], path, fresh);
                for (at, &not) in refuted.iter().enumerate() {
                    at_ends.push(((number, at), manager.terms.and(path.pc, not)));
                    ends.push((node, ((number, at), not)));
                }
                let any = manager.terms.or_all(&refuted);
                broken.push(manager.terms.and(path.pc, any));
            }
            formulas.extend(goals.known());
            let dropped = match manner {
                Manner::Exact => {
                    let together = manager.terms.or_all(&broken);
                    failing(cx, manager, &formulas, together, &at_ends, Timeouts::soon_apart(self.timeout))?
                }
                Manner::Free => self.failing_freely(cx, manager, formulas, &at_ends)?,
                Manner::Polynomials => {
                    let mut failing = Vec::new();
                    // What is proved at the end of a path serves for the rest there.
                    for &(_, node) in unrolling.first_ends() {
                        let at_end: Vec<_> = ends.iter().filter(|end| end.0 == node).map(|end| end.1).collect();
                        formulas.push(unrolling.unrolling().path(node).pc);
                        failing.extend(unproved(cx, manager, &formulas, &at_end)?);
                        formulas.pop();
                    }
                    failing
                }
            };
            if dropped.is_empty() {
                return Ok(weakened);
            }
            for number in remove(candidates, dropped) {
                if !weakened.contains(&number) {
                    weakened.push(number);
                }
            }
        }
    }
}

impl Induction<'_> {
    /// As [`failing`], whatever the products in the formulas are.
    fn failing_freely<K: Copy + PartialEq>(
        &self,
        cx: &Cx,
        manager: &mut Manager,
        assumptions: Vec<TermId>,
        claims: &[(K, TermId)],
    ) -> Result<Vec<K>, Stop> {
        let terms = &mut manager.terms;
        let assumed = terms.and_all(&assumptions);
        let mut more = algebra::consequences(terms, assumed);
        let claimed: Vec<TermId> = claims.iter().map(|claim| claim.1).collect();
        more.extend(algebra::low_bits_of_products(terms, &claimed));
        let assumed: Vec<TermId> = more.into_iter().chain([assumed]).collect();
        let assumed = terms.and_all(&assumed);
        let mut formulas = vec![assumed];
        formulas.extend(claims.iter().map(|claim| claim.1));
        let free = algebra::all_without_products(terms, &formulas).unwrap_or(formulas);
        let together = terms.or_all(&free[1..]);
        let claims: Vec<(K, TermId)> = claims.iter().map(|claim| claim.0).zip(free[1..].iter().copied()).collect();
        failing(cx, manager, &free[..1], together, &claims, Timeouts::soon_apart(self.timeout))
    }
}

/// Removes candidates by cut point and position; answers the cut points.
fn remove(candidates: &mut [Vec<TermId>], mut dropped: Vec<(usize, usize)>) -> Vec<usize> {
    dropped.sort_unstable();
    dropped.dedup();
    let mut numbers: Vec<usize> = dropped.iter().map(|&(number, _)| number).collect();
    for (number, at) in dropped.into_iter().rev() {
        candidates[number].remove(at);
    }
    numbers.dedup();
    numbers
}
