// SPDX-License-Identifier: Apache-2.0
//! A block on a solver of its own that lives as long as the engine: the same block is asked again and again, on one path and
//! on the next ones, and keeps what the solver has learned about it.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::justify::{State, value_in};
use crate::path::PathFormula;
use crate::solver::{CheckResult, Limits, Solver, Z3Config, Z3Solver, measured};
use crate::term::{Sort, SymId, TermId, Terms, Value};

const GUARD: &str = "guard!";

/// More guards than this make the solver slow; it starts again then.
const MAX_GUARDS: u32 = 4000;

/// The answer to the question whether a block can be passed.
#[derive(Debug)]
pub(crate) enum Passage {
    /// It cannot, and these of the facts behind it (by position) suffice for that.
    Blocked(Vec<usize>),
    /// It can, like this: the values of what the block reads and of its inputs.
    Open(State),
    /// The solver gave up.
    Unknown(String),
}

/// A block with its solver.
pub(crate) struct Relation {
    pub(crate) formula: PathFormula,
    solver: Z3Solver,
    config: Z3Config,
    /// The instances that the path condition reads.
    reads: Vec<(SymId, u32)>,
    guard_sym: SymId,
    guards: FxHashMap<TermId, TermId>,
    next_guard: u32,
    /// Wall time spent in the solver.
    pub(crate) time: Duration,
}

impl Relation {
    pub(crate) fn new(terms: &mut Terms, formula: PathFormula, config: &Z3Config) -> Self {
        let mut solver = Z3Solver::new(config);
        let reads = terms.symbols(formula.pc).into_iter().collect();
        let mut time = Duration::ZERO;
        measured(&mut time, || solver.assert(terms, formula.pc));
        Relation {
            solver,
            config: config.clone(),
            reads,
            guard_sym: terms.symbol(GUARD, Sort::Bool),
            guards: FxHashMap::default(),
            next_guard: 1,
            time,
            formula,
        }
    }

    /// A literal that implies `fact`, which speaks about the solver's variables.
    fn guard(&mut self, terms: &mut Terms, fact: TermId) -> TermId {
        if let Some(&guard) = self.guards.get(&fact) {
            return guard;
        }
        let guard = terms.var(self.guard_sym, self.next_guard);
        self.next_guard += 1;
        let guarded = terms.implies(guard, fact);
        self.solver.assert(terms, guarded);
        self.guards.insert(fact, guard);
        guard
    }

    fn ask(&mut self, terms: &mut Terms, before: &[TermId], after: &[TermId], limits: &Limits) -> Passage {
        if self.next_guard > MAX_GUARDS {
            self.solver = Z3Solver::new(&self.config);
            self.solver.assert(terms, self.formula.pc);
            self.guards.clear();
            self.next_guard = 1;
        }
        // What is asked for comes first, because cores tend to consist of the first assumptions.
        let assumptions: Vec<TermId> = after.iter().chain(before).map(|&fact| self.guard(terms, fact)).collect();
        let mut reads = self.reads.clone();
        reads.extend(terms.symbols_of_all(after));
        match self.solver.check(terms, &assumptions, limits) {
            CheckResult::Unsat(core) => {
                Passage::Blocked(core.indices().iter().copied().filter(|&i| i < after.len()).collect())
            }
            CheckResult::Sat(model) => {
                let values: Option<State> =
                    reads.into_iter().map(|(sym, i)| Some(((sym, i), model.value(terms, sym, i)?))).collect();
                match values {
                    Some(values) => Passage::Open(values),
                    None => Passage::Unknown("a value does not fit into 128 bits".to_owned()),
                }
            }
            CheckResult::Unknown(why) => Passage::Unknown(why),
        }
    }

    /// Looks for an execution of the block from a state with all of `before` to one with all of `after`, which speak about the
    /// variables there.
    pub(crate) fn pass(&mut self, terms: &mut Terms, before: &[TermId], after: &[TermId], limits: &Limits) -> Passage {
        let after: Vec<TermId> = after.iter().map(|&t| self.formula.instantiate(terms, t)).collect();
        if let Some(i) = after.iter().position(|&t| t == TermId::FALSE) {
            return Passage::Blocked(vec![i]);
        }
        if before.contains(&TermId::FALSE) {
            return Passage::Blocked(Vec::new());
        }
        let mut time = Duration::ZERO;
        let answer = measured(&mut time, || self.ask(terms, before, &after, limits));
        self.time += time;
        answer
    }

    /// Those of `facts` that hold after every execution of the block from a state with all of `before`, by position; none
    /// when the solver gives up.
    pub(crate) fn implied(
        &mut self,
        terms: &mut Terms,
        before: &[TermId],
        facts: &[TermId],
        limits: &Limits,
    ) -> Vec<usize> {
        let after: Vec<TermId> = facts.iter().map(|&t| self.formula.instantiate(terms, t)).collect();
        let mut open: Vec<usize> = (0..facts.len()).filter(|&i| after[i] != TermId::FALSE).collect();
        while !open.is_empty() {
            let all: Vec<TermId> = open.iter().map(|&i| facts[i]).collect();
            let conjunction = terms.and_all(&all);
            let violated = terms.not(conjunction);
            match self.pass(terms, before, &[violated], limits) {
                Passage::Blocked(_) => return open,
                Passage::Unknown(_) => return Vec::new(),
                Passage::Open(state) => {
                    let count = open.len();
                    open.retain(|&i| {
                        let mut value = |sym, index| value_in(terms, &state, sym, index);
                        terms.eval(after[i], &mut value) == Value::Bool(true)
                    });
                    if open.len() == count {
                        return Vec::new();
                    }
                }
            }
        }
        open
    }
}
