// SPDX-License-Identifier: Apache-2.0
//! Boolean predicate abstraction of a block.
//!
//! Follows Wendler's thesis, section 2.2.2: the strongest Boolean combination of the tracked predicates that the block's
//! formula implies. Before models are enumerated, the predicates with one value in all models are found (the Cartesian
//! part, at most one query more than there are such predicates), so the enumeration ranges over the others only. An empty
//! precision gives true without a query, a target location asks for satisfiability only (*A Unifying View*, section
//! 3.1.6). Results are kept: a block formula is a deterministic function of its statements, so the same block under the
//! same abstraction and predicates is computed once.

use cpa_core::{Cx, Stop};
use rustc_hash::FxHashMap;
use smt::path::PathFormula;
use smt::solver::{CheckResult, Solver};
use smt::{Sort, Term, TermId, Terms, Value};

use crate::manager::{Manager, limits, stop};
use crate::precision::PredId;
use crate::region::RegionId;

/// A predicate's value at the end of the block, as a literal over one of the distinct Boolean terms.
#[derive(Clone, Copy)]
enum Literal {
    Constant(bool),
    Slot { slot: usize, negated: bool },
}

/// The answer to a query for a model.
enum Answer {
    /// The values of the slots.
    Model(Vec<bool>),
    /// There is no model.
    Unsat,
    /// The solver gave no answer.
    Unknown,
}

impl Manager {
    /// Whether the block can be passed from a state of `region`; a query without answer counts as "it can".
    pub fn feasible(&mut self, cx: &mut Cx, region: RegionId, path: &PathFormula) -> Result<bool, Stop> {
        self.stats.false_precision += 1;
        let block = self.block_term(region, path);
        if let Term::False = self.terms.get(block) {
            return Ok(false);
        }
        if let Some(&known) = self.feasible.get(&block) {
            return Ok(known);
        }
        cx.check()?;
        self.stats.checks += 1;
        self.solver.push();
        self.solver.assert(&self.terms, block);
        let result = match self.solver.check(&self.terms, &[], &limits(cx)) {
            CheckResult::Sat(_) => Some(true),
            CheckResult::Unsat(_) => Some(false),
            CheckResult::Unknown(_) => None,
        };
        self.solver.pop();
        match result {
            Some(answer) => {
                self.feasible.insert(block, answer);
            }
            None => self.stats.unanswered += 1,
        }
        Ok(result.unwrap_or(true))
    }

    /// The strongest region over `predicates` that holds behind the block; none if the block cannot be passed.
    pub fn abstraction(
        &mut self,
        cx: &mut Cx,
        region: RegionId,
        path: &PathFormula,
        predicates: &[PredId],
    ) -> Result<Option<RegionId>, Stop> {
        self.stats.abstractions += 1;
        if let Term::False = self.terms.get(path.pc) {
            return Ok(None);
        }
        if predicates.is_empty() {
            self.stats.empty_precision += 1;
            return Ok(Some(self.regions.constant(true)));
        }
        let block = self.block_term(region, path);
        let values: Vec<(u32, TermId)> = predicates
            .iter()
            .map(|&p| {
                let atom = self.predicates.atom(p);
                (p.number(), path.instantiate(&mut self.terms, atom))
            })
            .collect();
        let key = (block, values);
        if let Some(&known) = self.abstractions.get(&key) {
            self.stats.cached += 1;
            return Ok(known);
        }
        cx.check()?;
        let unanswered = self.stats.unanswered;
        self.solver.push();
        let result = self.compute(cx, block, &key.1);
        self.solver.pop();
        let result = result?;
        if result.is_none() {
            self.stats.result_false += 1;
        }
        // What was over-approximated for lack of an answer may come out better next time.
        if self.stats.unanswered == unanswered {
            self.abstractions.insert(key, result);
        }
        Ok(result)
    }

    fn block_term(&mut self, region: RegionId, path: &PathFormula) -> TermId {
        let start = self.region_term(region);
        self.terms.and(start, path.pc)
    }

    /// Runs inside a scope of the solver.
    fn compute(&mut self, cx: &mut Cx, block: TermId, values: &[(u32, TermId)]) -> Result<Option<RegionId>, Stop> {
        let (literals, slots) = self.literals(values);
        self.solver.assert(&self.terms, block);
        let first = match self.model(cx, &slots)? {
            Answer::Model(first) => first,
            Answer::Unsat => return Ok(None),
            Answer::Unknown => return Ok(Some(self.regions.constant(true))),
        };
        let constant = self.constant_slots(cx, &slots, &first)?;
        let mut result = self.regions.constant(true);
        let mut open = Vec::new();
        for (&(number, _), literal) in values.iter().zip(&literals) {
            let known = match *literal {
                Literal::Constant(value) => Some(value),
                Literal::Slot { slot, negated } => constant[slot].map(|value| value != negated),
            };
            match known {
                Some(value) => {
                    let literal = self.literal(number, value)?;
                    result = self.regions.and(result, literal).map_err(stop)?;
                }
                None => open.push((number, *literal)),
            }
        }
        if open.is_empty() {
            return Ok(Some(result));
        }
        self.stats.enumerations += 1;
        if let Some(region) = self.enumerate(cx, &slots, &constant, &open, first)? {
            result = self.regions.and(result, region).map_err(stop)?;
        }
        Ok(Some(result))
    }

    /// The literals of the predicates over fresh Boolean symbols, one for each distinct value; their definitions are
    /// asserted.
    fn literals(&mut self, values: &[(u32, TermId)]) -> (Vec<Literal>, Vec<TermId>) {
        let mut literals = Vec::with_capacity(values.len());
        let mut slots: Vec<TermId> = Vec::new();
        let mut known: FxHashMap<TermId, usize> = FxHashMap::default();
        for &(_, value) in values {
            let (positive, negated) = match *self.terms.get(value) {
                Term::True => {
                    literals.push(Literal::Constant(true));
                    continue;
                }
                Term::False => {
                    literals.push(Literal::Constant(false));
                    continue;
                }
                Term::Not(inner) => (inner, true),
                _ => (value, false),
            };
            let slot = *known.entry(positive).or_insert_with(|| {
                let symbol = self.terms.symbol(&format!("predicate!{}", slots.len()), Sort::Bool);
                let name = self.terms.var(symbol, 0);
                let definition = self.terms.iff(name, positive);
                self.solver.assert(&self.terms, definition);
                slots.push(name);
                slots.len() - 1
            });
            literals.push(Literal::Slot { slot, negated });
        }
        (literals, slots)
    }

    /// The values of the slots in some model of what is asserted.
    fn model(&mut self, cx: &mut Cx, slots: &[TermId]) -> Result<Answer, Stop> {
        cx.check()?;
        self.stats.checks += 1;
        Ok(match self.solver.check(&self.terms, &[], &limits(cx)) {
            CheckResult::Sat(model) => Answer::Model(
                slots.iter().map(|&slot| matches!(model.eval(&self.terms, slot), Some(Value::Bool(true)))).collect(),
            ),
            CheckResult::Unsat(_) => Answer::Unsat,
            CheckResult::Unknown(_) => {
                self.stats.unanswered += 1;
                Answer::Unknown
            }
        })
    }

    /// For each slot its value if it is the same in all models. Asks for a model that differs from the first one in some
    /// slot that was constant so far, until there is none.
    fn constant_slots(&mut self, cx: &mut Cx, slots: &[TermId], first: &[bool]) -> Result<Vec<Option<bool>>, Stop> {
        let mut constant: Vec<Option<bool>> = first.iter().copied().map(Some).collect();
        self.solver.push();
        let outcome = loop {
            let mut differs = Terms::fls();
            for (&slot, value) in slots.iter().zip(&constant) {
                if let Some(value) = value {
                    let other = if *value { self.terms.not(slot) } else { slot };
                    differs = self.terms.or(differs, other);
                }
            }
            if let Term::False = self.terms.get(differs) {
                break Ok(());
            }
            self.solver.assert(&self.terms, differs);
            match self.model(cx, slots) {
                Err(error) => break Err(error),
                Ok(Answer::Model(model)) => {
                    for (known, value) in constant.iter_mut().zip(model) {
                        if *known != Some(value) {
                            *known = None;
                        }
                    }
                }
                Ok(Answer::Unsat) => break Ok(()),
                Ok(Answer::Unknown) => {
                    // Nothing is known of the slots that were left.
                    constant.fill(None);
                    break Ok(());
                }
            }
        };
        self.solver.pop();
        outcome.map(|()| constant)
    }

    /// All-SAT over the open slots with blocking clauses; none if the solver left a query unanswered.
    fn enumerate(
        &mut self,
        cx: &mut Cx,
        slots: &[TermId],
        constant: &[Option<bool>],
        open: &[(u32, Literal)],
        first: Vec<bool>,
    ) -> Result<Option<RegionId>, Stop> {
        let mut result = self.regions.constant(false);
        let mut model = first;
        loop {
            self.stats.models += 1;
            let mut cube = self.regions.constant(true);
            for &(number, literal) in open {
                let Literal::Slot { slot, negated } = literal else { unreachable!("constants are not open") };
                let literal = self.literal(number, model[slot] != negated)?;
                cube = self.regions.and(cube, literal).map_err(stop)?;
            }
            result = self.regions.or(result, cube).map_err(stop)?;
            let mut blocking = Terms::fls();
            for (slot, &name) in slots.iter().enumerate() {
                if constant[slot].is_none() {
                    let other = if model[slot] { self.terms.not(name) } else { name };
                    blocking = self.terms.or(blocking, other);
                }
            }
            self.solver.assert(&self.terms, blocking);
            match self.model(cx, slots)? {
                Answer::Model(next) => model = next,
                Answer::Unsat => return Ok(Some(result)),
                Answer::Unknown => return Ok(None),
            }
        }
    }

    fn literal(&mut self, number: u32, value: bool) -> Result<RegionId, Stop> {
        let positive = self.regions.var(number).map_err(stop)?;
        if value { Ok(positive) } else { self.regions.not(positive).map_err(stop) }
    }
}
