// SPDX-License-Identifier: Apache-2.0
//! CaDiCaL, which decides whether clauses are satisfiable; nothing outside this file names it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Limits;
use super::clock::Deadline;
use crate::error::Error;

/// A variable or, if negative, its negation; not zero.
pub(super) type Literal = i32;

/// Clauses, and the search for values that satisfy them.
pub(super) struct Sat {
    solver: cadical::Solver<Watch>,
    variables: Literal,
}

/// What the search looks at from time to time.
#[derive(Clone, Default)]
struct Watch {
    deadline: Option<Deadline>,
    interrupt: Option<Arc<AtomicBool>>,
}

impl Watch {
    fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl cadical::Callbacks for Watch {
    fn terminate(&mut self) -> bool {
        self.is_interrupted() || self.deadline.is_some_and(|deadline| deadline.is_over())
    }
}

impl Sat {
    pub(super) fn new() -> Self {
        Sat { solver: cadical::Solver::new(), variables: 0 }
    }

    /// A variable that no clause has so far.
    pub(super) fn variable(&mut self) -> Literal {
        self.variables += 1;
        self.variables
    }

    /// Adds the disjunction of literals.
    pub(super) fn clause(&mut self, literals: impl IntoIterator<Item = Literal>) {
        self.solver.add_clause(literals);
    }

    /// Whether all clauses are satisfiable together.
    ///
    /// # Errors
    /// The time of the limits is over, counted from now, or the interrupt flag is set.
    pub(super) fn solve(&mut self, limits: &Limits) -> Result<bool, Error> {
        let deadline = limits.time_for_call().and_then(Deadline::after);
        let watch = Watch { deadline, interrupt: limits.interrupt.clone() };
        self.solver.set_callbacks(Some(watch.clone()));
        self.solver.solve().ok_or_else(|| {
            let reason = if watch.is_interrupted() { "interrupted" } else { "timeout" };
            Error::GaveUp(reason.to_owned())
        })
    }

    /// The value of a variable after the clauses were found to be satisfiable; any value where it does not matter.
    pub(super) fn value(&self, variable: Literal) -> bool {
        self.solver.value(variable).unwrap_or(false)
    }
}
