// SPDX-License-Identifier: Apache-2.0
//! Many questions about one block on an incremental solver: do these facts and the block imply that fact?
//!
//! The path condition of the block is asserted once; facts before and after are guarded by literals, so that a question is
//! one check under assumptions and the answer says which facts were needed.

use rustc_hash::FxHashMap;

use crate::path::PathFormula;
use crate::solver::{CheckResult, Limits, Solver};
use crate::term::{Sort, SymId, TermId, Terms, Value};

const GUARD: &str = "guard!";

/// Counterexamples to look at before giving up on a set of facts.
const MAX_ROUNDS: usize = 60;

/// The answer to a question about a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    /// It does, and these of the facts before (by position) suffice.
    Yes(Vec<usize>),
    /// There is a counterexample.
    No,
    /// The solver gave up.
    Unknown(String),
}

/// The answer to the search for a counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Violation {
    /// There is none, and these of the facts before (by position) suffice for that.
    None(Vec<usize>),
    /// There is one; these of the probes hold at its end.
    Found(Vec<bool>),
    /// The solver gave up.
    Unknown(String),
}

impl Holds {
    pub(crate) fn is_yes(&self) -> bool {
        matches!(self, Holds::Yes(_))
    }
}

/// A block that is asserted on a solver; closing it (by dropping) takes it back.
pub(crate) struct OpenBlock<'a> {
    pub(crate) terms: &'a mut Terms,
    solver: &'a mut dyn Solver,
    /// `None` for a block without executions, which implies everything.
    formula: Option<&'a PathFormula>,
    limits: &'a Limits,
    guard_sym: SymId,
    guards: FxHashMap<TermId, TermId>,
    next_guard: u32,
}

impl<'a> OpenBlock<'a> {
    pub(crate) fn new(
        terms: &'a mut Terms,
        solver: &'a mut dyn Solver,
        formula: Option<&'a PathFormula>,
        limits: &'a Limits,
    ) -> Self {
        let guard_sym = terms.symbol(GUARD, Sort::Bool);
        solver.push();
        if let Some(formula) = formula {
            solver.assert(terms, formula.pc);
        }
        OpenBlock { terms, solver, formula, limits, guard_sym, guards: FxHashMap::default(), next_guard: 1 }
    }

    /// A literal that implies `fact`, which speaks about the solver's variables.
    fn guard(&mut self, fact: TermId) -> TermId {
        if let Some(&guard) = self.guards.get(&fact) {
            return guard;
        }
        let guard = self.terms.var(self.guard_sym, self.next_guard);
        self.next_guard += 1;
        let guarded = self.terms.implies(guard, fact);
        self.solver.assert(self.terms, guarded);
        self.guards.insert(fact, guard);
        guard
    }

    /// Whether every execution of the block from a state with all of `before` ends in a state with `after`.
    pub(crate) fn implies(&mut self, before: &[TermId], after: TermId) -> Holds {
        match self.violation(before, after, &[]) {
            Violation::None(core) => Holds::Yes(core),
            Violation::Found(_) => Holds::No,
            Violation::Unknown(why) => Holds::Unknown(why),
        }
    }

    /// Looks for an execution of the block from a state with all of `before` to a state without `after`, and tells which of
    /// `probes` hold in that state.
    pub(crate) fn violation(&mut self, before: &[TermId], after: TermId, probes: &[TermId]) -> Violation {
        let Some(formula) = self.formula else { return Violation::None(Vec::new()) };
        let after = formula.instantiate(self.terms, after);
        if after == TermId::TRUE {
            return Violation::None(Vec::new());
        }
        if let Some(i) = before.iter().position(|&fact| fact == TermId::FALSE || fact == after) {
            return Violation::None(vec![i]);
        }
        let violated = self.terms.not(after);
        let assumptions = self.assumptions(before, violated);
        // The values of the variables at the end, before the model borrows the solver.
        let reads: Vec<(SymId, TermId)> = self
            .terms
            .symbols_of_all(probes)
            .into_iter()
            .map(|(sym, _)| (sym, formula.value(self.terms, sym)))
            .collect();
        match self.solver.check(self.terms, &assumptions, self.limits) {
            CheckResult::Unsat(core) => {
                Violation::None(core.indices().iter().copied().filter(|&i| i < before.len()).collect())
            }
            CheckResult::Sat(model) => {
                let terms = &*self.terms;
                let values: Option<FxHashMap<SymId, Value>> =
                    reads.iter().map(|&(sym, value)| Some((sym, model.eval(terms, value)?))).collect();
                match values {
                    Some(values) => {
                        let holds =
                            |&t: &TermId| terms.eval(t, &mut |sym, _| values[&sym].clone()) == Value::Bool(true);
                        Violation::Found(probes.iter().map(holds).collect())
                    }
                    None => Violation::Unknown("a value does not fit into 128 bits".to_owned()),
                }
            }
            CheckResult::Unknown(why) => Violation::Unknown(why),
        }
    }

    /// Those of `facts` that hold after every execution of the block from a state with all of `before`, by position; none
    /// when the solver gives up.
    pub(crate) fn implied(&mut self, before: &[TermId], facts: &[TermId]) -> Vec<usize> {
        let mut open: Vec<usize> = (0..facts.len()).collect();
        // One counterexample refutes many facts at once.
        for _ in 0..MAX_ROUNDS {
            if open.is_empty() {
                return open;
            }
            let all: Vec<TermId> = open.iter().map(|&i| facts[i]).collect();
            let conjunction = self.terms.and_all(&all);
            match self.violation(before, conjunction, &all) {
                Violation::None(_) => return open,
                Violation::Found(truth) => {
                    let count = open.len();
                    open = open.into_iter().zip(truth).filter(|&(_, holds)| holds).map(|(i, _)| i).collect();
                    if open.len() == count {
                        // The values at the end do not show the violation; no progress can be made.
                        return Vec::new();
                    }
                }
                Violation::Unknown(_) => return Vec::new(),
            }
        }
        Vec::new()
    }

    fn assumptions(&mut self, before: &[TermId], violated: TermId) -> Vec<TermId> {
        let mut assumptions: Vec<TermId> = before.iter().map(|&fact| self.guard(fact)).collect();
        assumptions.push(self.guard(violated));
        assumptions
    }
}

impl Drop for OpenBlock<'_> {
    fn drop(&mut self) {
        self.solver.pop();
    }
}
