// SPDX-License-Identifier: Apache-2.0
//! Whether paths that are explored one by one can be taken, as in King, *Symbolic Execution and Program Testing* (1976).
//!
//! A path differs from the one before in its last conditions, so a solver keeps the conditions that both have; and what was a
//! model of the path so far is often one with the next condition, as in Cadar, Dunbar, Engler, *KLEE* (OSDI 2008), section 3.4.

use std::collections::VecDeque;

use cpa_core::{Cx, Stop};
use rustc_hash::FxHashSet;
use smt::solver::{CheckResult, Solver, SolverStats, Timed};
use smt::{TermId, Terms, Value};

use crate::abstraction::Model;
use crate::formula::Formula;
use crate::manager::{Manager, limits};
use smt::path::PathFormula;

/// How many models are kept.
const MODELS: usize = 12;

/// What is kept from one path to the next.
pub(crate) struct Branches {
    solver: Timed<Box<dyn Solver>>,
    /// The conditions that the solver has, by scope.
    scopes: Vec<Vec<TermId>>,
    /// Models of paths, the last one first.
    models: VecDeque<Model>,
}

impl Branches {
    pub(crate) fn new(solver: Box<dyn Solver>) -> Self {
        Self { solver: Timed::new(solver), scopes: Vec::new(), models: VecDeque::new() }
    }

    pub(crate) fn stats(&self) -> SolverStats {
        self.solver.stats()
    }

    /// Whether a kept model satisfies a path; it becomes the first one.
    fn recalls(&mut self, terms: &Terms, path: TermId) -> bool {
        let holds = |model: &Model| {
            let value = terms.try_eval(path, &mut |symbol, index| {
                model.get(&(symbol, index)).cloned().unwrap_or_else(|| terms.default_value(symbol))
            });
            value == Some(Value::Bool(true))
        };
        let Some(found) = self.models.iter().position(holds) else { return false };
        if let Some(model) = self.models.remove(found) {
            self.models.push_front(model);
        }
        true
    }

    /// Gives the solver the conditions of a path: those that it has already stay.
    fn set(&mut self, terms: &Terms, path: TermId) {
        let conditions = terms.conjuncts(path);
        let wanted: FxHashSet<TermId> = conditions.iter().copied().collect();
        let common = self.scopes.iter().take_while(|scope| scope.iter().all(|term| wanted.contains(term))).count();
        for _ in common..self.scopes.len() {
            self.solver.pop();
        }
        self.scopes.truncate(common);
        let known: FxHashSet<TermId> = self.scopes.iter().flatten().copied().collect();
        let more: Vec<TermId> = conditions.into_iter().filter(|term| !known.contains(term)).collect();
        self.solver.push();
        for &condition in &more {
            self.solver.assert(terms, condition);
        }
        self.scopes.push(more);
    }

    fn check(&mut self, cx: &Cx, terms: &Terms, path: TermId) -> Option<bool> {
        self.set(terms, path);
        let answer = match self.solver.check(terms, &[], &limits(cx)) {
            CheckResult::Sat(model) => {
                let instances = terms.symbols(path).into_iter();
                let values = instances.filter_map(|(sym, index)| Some(((sym, index), model.value(terms, sym, index)?)));
                let model = values.collect();
                self.models.push_front(model);
                self.models.truncate(MODELS);
                Some(true)
            }
            CheckResult::Unsat(_) => Some(false),
            CheckResult::Unknown(_) => None,
        };
        if answer != Some(true) {
            // The next path has not the last condition.
            self.solver.pop();
            self.scopes.pop();
        }
        answer
    }
}

impl Manager {
    /// As [`Manager::feasible`], for paths that are explored one by one.
    pub(crate) fn branch_feasible(&mut self, cx: &mut Cx, formula: Formula, path: &PathFormula) -> Result<bool, Stop> {
        let start = self.formula_term(formula);
        let block = self.terms.and(start, path.pc);
        if let Some(&known) = self.feasible.get(&block) {
            return Ok(known);
        }
        cx.check()?;
        let solver = self.branches.take().unwrap_or_else(|| Branches::new(self.branch_solver()));
        let branches = self.branches.insert(solver);
        let result = if branches.recalls(&self.terms, block) {
            self.stats.recalled += 1;
            Some(true)
        } else {
            self.stats.checks += 1;
            branches.check(cx, &self.terms, block)
        };
        self.remember(cx, block, result)
    }
}
