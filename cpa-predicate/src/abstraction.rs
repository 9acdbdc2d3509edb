// SPDX-License-Identifier: Apache-2.0
//! Predicate abstraction of a block: Boolean, Cartesian, or first Cartesian and then Boolean.
//!
//! Follows Wendler's thesis, section 2.2: the strongest Boolean combination of the tracked predicates that the block's
//! formula implies (2.2.2), or the strongest conjunction of predicates and negated predicates (2.2.1). The combined
//! computation first finds the predicates with one value in all models (the Cartesian part, at most one query more than
//! there are such predicates), so the enumeration of models ranges over the others only. An empty precision gives true without a query, a target location asks for satisfiability only (*A Unifying View*, section
//! 3.1.6). Results are kept: a block formula is a deterministic function of its statements, so the same block under the
//! same abstraction and predicates is computed once; and the models of a block are kept, so that another abstraction of
//! the same block, with more predicates or from another abstraction state, begins with those that are models again: they
//! are evaluated, which costs far less than a solver call each.

use std::collections::BTreeSet;

use cpa_core::{Cx, Stop};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smt::path::PathFormula;
use smt::solver::{CheckResult, Limits, Solver};
use smt::{Evaluator, Sort, SymId, Term, TermId, Terms, Value};

use crate::formula::Formula;
use crate::manager::{Computation, Manager, limits, stop};
use crate::precision::PredId;
use crate::region::RegionId;
use crate::stats::Times;

/// A predicate's value at the end of the block, as a literal over one of the distinct Boolean terms.
#[derive(Clone, Copy)]
enum Literal {
    Constant(bool),
    Slot {
        slot: usize,
        negated: bool,
    },
    /// Left out: the solver could not answer questions about the predicate in time before.
    Hard,
}

/// What is known of a slot over all models of the block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It has this value in all models.
    Always(bool),
    /// It has both values.
    Varies,
    /// The solver gave no answer.
    Open,
}

/// A predicate is left out after this many unanswered questions about it alone.
const HARD: u32 = 2;

/// A full model of some query about a block: values of the instances that the query contained.
pub(crate) type Model = FxHashMap<(SymId, u32), Value>;

/// Models that are kept for each block.
const MODELS_PER_BLOCK: usize = 4096;

/// The answer to a query for a model.
enum Answer {
    /// There is one that adds to what was found.
    Model,
    /// There is no model.
    Unsat,
    /// The solver gave no answer.
    Unknown,
}

/// The abstraction that is being computed.
struct Query {
    /// Evaluates the abstraction at the start of the block.
    start: Evaluator,
    /// Evaluates the slots.
    slots: Evaluator,
    /// All instances in the query, the block's formula included.
    instances: Vec<(SymId, u32)>,
    /// The symbols that name the slots.
    names: Vec<TermId>,
    /// The values of the slots in the models found.
    found: IndexSet<Vec<bool>>,
}

impl Query {
    /// Updates what is known of the slots by the models found from position `next` on; answers their number.
    fn compare(&self, known: &mut [Known], next: usize) -> usize {
        for values in &self.found[next..] {
            for (known, &value) in known.iter_mut().zip(values) {
                if *known == Known::Always(!value) {
                    *known = Known::Varies;
                }
            }
        }
        self.found.len()
    }

    /// Adds what a model of the block's path condition says about the slots if the abstraction at the start holds in it,
    /// and if it says something new.
    fn evaluate(&mut self, terms: &Terms, model: &Model) -> bool {
        let mut value =
            |symbol, index| model.get(&(symbol, index)).cloned().unwrap_or_else(|| terms.default_value(symbol));
        let holds = |value: &Value| matches!(value, Value::Bool(true));
        if !self.start.run(terms, &mut value).is_some_and(|values| values.iter().all(holds)) {
            return false;
        }
        let Some(values) = self.slots.run(terms, &mut value) else { return false };
        self.found.insert(values.iter().map(holds).collect())
    }
}

/// The predicates behind each slot.
fn numbers_of_slots(values: &[(u32, TermId)], literals: &[Literal], slots: usize) -> Vec<Vec<u32>> {
    let mut numbers = vec![Vec::new(); slots];
    for (&(number, _), literal) in values.iter().zip(literals) {
        if let Literal::Slot { slot, .. } = literal {
            numbers[*slot].push(number);
        }
    }
    numbers
}

impl Manager {
    /// Whether the block can be passed from a state of `formula`; a query without answer counts as "it can".
    pub fn feasible(&mut self, cx: &mut Cx, formula: Formula, path: &PathFormula) -> Result<bool, Stop> {
        let start = self.formula_term(formula);
        let block = self.terms.and(start, path.pc);
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
        self.remember(cx, block, result)
    }

    /// Keeps whether a block can be passed, and answers it.
    pub(crate) fn remember(&mut self, cx: &Cx, block: TermId, result: Option<bool>) -> Result<bool, Stop> {
        match result {
            Some(answer) => {
                self.feasible.insert(block, answer);
            }
            None => {
                // A run that is interrupted must not go on with less than it would have found out.
                cx.check()?;
                self.stats.unanswered += 1;
            }
        }
        Ok(result.unwrap_or(true))
    }

    /// The strongest formula over `predicates` that holds behind the block; none if the block cannot be passed.
    pub fn abstraction(
        &mut self,
        cx: &mut Cx,
        formula: Formula,
        path: &PathFormula,
        predicates: &[PredId],
    ) -> Result<Option<Formula>, Stop> {
        self.stats.abstractions += 1;
        if let Term::False = self.terms.get(path.pc) {
            return Ok(None);
        }
        if predicates.is_empty() {
            self.stats.empty_precision += 1;
            return Ok(Some(self.top()));
        }
        let start = self.formula_term(formula);
        let block = self.terms.and(start, path.pc);
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
            return Ok(known.map(|region| self.formula_of_region(region)));
        }
        cx.check()?;
        let unanswered = self.stats.unanswered;
        self.solver.push();
        let result = self.compute(cx, (start, path.pc, block), &key.1);
        self.solver.pop();
        let result = result?;
        if result.is_none() {
            self.stats.result_false += 1;
        }
        // What was over-approximated for lack of an answer may come out better next time.
        if self.stats.unanswered == unanswered && self.settings.cache {
            self.abstractions.insert(key, result);
        }
        Ok(result.map(|region| self.formula_of_region(region)))
    }

    /// Runs inside a scope of the solver.
    fn compute(
        &mut self,
        cx: &mut Cx,
        (start, pc, block): (TermId, TermId, TermId),
        values: &[(u32, TermId)],
    ) -> Result<Option<RegionId>, Stop> {
        let (literals, slots, names) = self.literals(values);
        let numbers = numbers_of_slots(values, &literals, slots.len());
        self.solver.assert(&self.terms, block);
        let mut contained = slots.clone();
        contained.push(block);
        let mut query = Query {
            start: Evaluator::new(&self.terms, &[start]),
            slots: Evaluator::new(&self.terms, &slots),
            instances: self.terms.symbols_of_all(&contained).into_iter().collect(),
            names,
            found: IndexSet::default(),
        };
        self.recall(pc, &mut query);
        if query.found.is_empty() {
            match self.model(cx, pc, &mut query)? {
                Answer::Model => {}
                Answer::Unsat => return Ok(None),
                Answer::Unknown => return Ok(Some(self.regions.constant(true))),
            }
        }
        let start = cx.elapsed();
        let known = match self.settings.computation {
            Computation::Boolean => vec![Known::Varies; numbers.len()],
            Computation::Cartesian | Computation::Combined => self.constant_slots(cx, pc, &mut query, &numbers)?,
        };
        Times::add(&mut self.stats.times.cartesian, cx, start);
        let mut result = self.regions.constant(true);
        let mut open = Vec::new();
        for (&(number, _), literal) in values.iter().zip(&literals) {
            // The predicate false only asks whether the block can be passed at all.
            if self.predicates.atom_of_number(number) == Terms::fls() {
                continue;
            }
            let value = match *literal {
                Literal::Constant(value) => value,
                Literal::Slot { slot, negated } => match known[slot] {
                    Known::Always(value) => value != negated,
                    Known::Varies => {
                        open.push((number, *literal));
                        continue;
                    }
                    Known::Open => continue,
                },
                Literal::Hard => continue,
            };
            let literal = self.literal(number, value)?;
            result = self.regions.and(result, literal).map_err(stop)?;
        }
        if open.is_empty() || self.settings.computation == Computation::Cartesian {
            return Ok(Some(result));
        }
        self.stats.enumerations += 1;
        let start = cx.elapsed();
        let enumerated = self.enumerate(cx, pc, &mut query, &open)?;
        Times::add(&mut self.stats.times.enumeration, cx, start);
        if let Some(region) = enumerated {
            result = self.regions.and(result, region).map_err(stop)?;
        }
        Ok(Some(result))
    }

    /// The literals of the predicates, the distinct terms behind them, and fresh Boolean symbols that name these terms;
    /// the definitions are asserted.
    fn literals(&mut self, values: &[(u32, TermId)]) -> (Vec<Literal>, Vec<TermId>, Vec<TermId>) {
        let mut literals = Vec::with_capacity(values.len());
        let mut slots: IndexSet<TermId> = IndexSet::new();
        for &(number, value) in values {
            if self.hard.get(&number).is_some_and(|&times| times >= HARD) {
                literals.push(Literal::Hard);
                continue;
            }
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
            let (slot, _) = slots.insert_full(positive);
            literals.push(Literal::Slot { slot, negated });
        }
        let mut names = Vec::with_capacity(slots.len());
        for (slot, &term) in slots.iter().enumerate() {
            let symbol = self.terms.symbol(&format!("predicate!{slot}"), Sort::Bool);
            let name = self.terms.var(symbol, 0);
            let definition = self.terms.iff(name, term);
            self.solver.assert(&self.terms, definition);
            names.push(name);
        }
        (literals, slots.into_iter().collect(), names)
    }

    /// Takes over the kept models of the block that are models of this query too.
    fn recall(&mut self, pc: TermId, query: &mut Query) {
        let Some(kept) = self.models.get(&pc) else { return };
        for model in kept {
            self.stats.recalled += u64::from(query.evaluate(&self.terms, model));
        }
    }

    /// Asks for a model of what is asserted and adds what it says about the slots to `query.found`.
    fn model(&mut self, cx: &mut Cx, pc: TermId, query: &mut Query) -> Result<Answer, Stop> {
        cx.check()?;
        self.stats.checks += 1;
        let mut model = Model::default();
        let limits = Limits { timeout: self.settings.query_timeout, ..limits(cx) };
        match self.solver.check(&self.terms, &[], &limits) {
            CheckResult::Sat(found) => {
                for &(symbol, index) in &query.instances {
                    if let Some(value) = found.value(&self.terms, symbol, index) {
                        model.insert((symbol, index), value);
                    }
                }
            }
            CheckResult::Unsat(_) => return Ok(Answer::Unsat),
            CheckResult::Unknown(_) => {
                cx.check()?;
                self.stats.unanswered += 1;
                return Ok(Answer::Unknown);
            }
        }
        // A model that says nothing new, because it cannot be evaluated in 128 bits, would be found again for ever.
        if !query.evaluate(&self.terms, &model) {
            self.stats.unanswered += 1;
            return Ok(Answer::Unknown);
        }
        self.stats.models += 1;
        let kept = self.models.entry(pc).or_default();
        if self.settings.cache && kept.len() < MODELS_PER_BLOCK {
            kept.push(model);
        }
        Ok(Answer::Model)
    }

    /// For each slot its value if it is the same in all models. Asks for a model that differs from the known ones in some
    /// slot that is constant so far, until there is none. If the solver leaves that open, it is asked about one slot after
    /// the other, so that one hard predicate does not hide what is known of the others.
    fn constant_slots(
        &mut self,
        cx: &mut Cx,
        pc: TermId,
        query: &mut Query,
        numbers: &[Vec<u32>],
    ) -> Result<Vec<Known>, Stop> {
        let mut known: Vec<Known> = query.found[0].iter().copied().map(Known::Always).collect();
        let mut next = 1;
        self.solver.push();
        let complete = loop {
            next = query.compare(&mut known, next);
            let mut others = Vec::new();
            for (&name, known) in query.names.iter().zip(&known) {
                if let Known::Always(value) = known {
                    others.push(if *value { self.terms.not(name) } else { name });
                }
            }
            if others.is_empty() {
                break Ok(true);
            }
            let differs = self.terms.or_all(&others);
            self.solver.assert(&self.terms, differs);
            match self.model(cx, pc, query) {
                Err(error) => break Err(error),
                Ok(Answer::Model) => {}
                Ok(Answer::Unsat) => break Ok(true),
                Ok(Answer::Unknown) => break Ok(false),
            }
        };
        self.solver.pop();
        if complete? {
            return Ok(known);
        }
        for slot in 0..known.len() {
            let Known::Always(value) = known[slot] else { continue };
            let other = if value { self.terms.not(query.names[slot]) } else { query.names[slot] };
            self.solver.push();
            self.solver.assert(&self.terms, other);
            let answer = self.model(cx, pc, query);
            self.solver.pop();
            match answer? {
                Answer::Model => next = query.compare(&mut known, next),
                Answer::Unsat => {}
                Answer::Unknown => {
                    known[slot] = Known::Open;
                    for &number in &numbers[slot] {
                        *self.hard.entry(number).or_default() += 1;
                    }
                }
            }
        }
        Ok(known)
    }

    /// All-SAT over the open predicates with blocking clauses; none if the solver left a query unanswered.
    fn enumerate(
        &mut self,
        cx: &mut Cx,
        pc: TermId,
        query: &mut Query,
        open: &[(u32, Literal)],
    ) -> Result<Option<RegionId>, Stop> {
        let slots: BTreeSet<usize> = open
            .iter()
            .map(|&(_, literal)| match literal {
                Literal::Slot { slot, .. } => slot,
                Literal::Constant(_) | Literal::Hard => unreachable!("only slots vary"),
            })
            .collect();
        let mut result = self.regions.constant(false);
        let mut next = 0;
        loop {
            while let Some(values) = query.found.get_index(next) {
                next += 1;
                let mut cube = self.regions.constant(true);
                for &(number, literal) in open {
                    let Literal::Slot { slot, negated } = literal else { continue };
                    let positive = self.regions.var(number).map_err(stop)?;
                    let literal =
                        if values[slot] != negated { positive } else { self.regions.not(positive).map_err(stop)? };
                    cube = self.regions.and(cube, literal).map_err(stop)?;
                }
                result = self.regions.or(result, cube).map_err(stop)?;
                let mut others = Vec::with_capacity(slots.len());
                for &slot in &slots {
                    let name = query.names[slot];
                    others.push(if values[slot] { self.terms.not(name) } else { name });
                }
                let blocking = self.terms.or_all(&others);
                self.solver.assert(&self.terms, blocking);
            }
            match self.model(cx, pc, query)? {
                Answer::Model => {}
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
