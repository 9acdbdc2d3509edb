// SPDX-License-Identifier: Apache-2.0
//! Search for a model of a formula whose instances of symbols have few values each, as constraint solvers do.
//!
//! Puzzles with numbers (all different, all distances different) are hard for solvers that look at bits, which do not see
//! that a value is used up. Here the conjuncts are constraints between finite domains: [`tables`] has those between two or
//! three instances as tables, made from the terms by evaluation, and removes the values that have no support; [`search`]
//! decides and backtracks, with restarts and several orders of variables and values in turn.
//!
//! The search looks for models only. What it finds is a model of the conjuncts as they stand, since each constraint is
//! evaluated from its term.
//!
//! Follows Boussemart, Hemery, Lecoutre, Sais, *Boosting Systematic Search by Weighting Constraints*, 2004, for the order of
//! the variables.

mod search;
mod tables;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use crate::term::{SymId, TermId, Terms, Value};

use search::Search;
use tables::Problem;

/// A search that can be gone on with.
pub struct Domains {
    search: Search,
}

/// How far a search came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// To a model.
    Found(Found),
    /// To the end: there is no model.
    Exhausted,
    /// To the limit.
    Stopped,
}

/// Values for all instances of symbols in a formula.
pub type Found = FxHashMap<(SymId, u32), Value>;

impl Domains {
    /// The search for a model of `formula`; none if some instance may have more than 128 values or the constraints are not mostly
    /// between two or three of them, or if `over` says that it is time to stop.
    pub fn new(terms: &mut Terms, formula: TermId, over: &dyn Fn() -> bool) -> Option<Domains> {
        let problem = Problem::new(terms, formula, over)?;
        Some(Domains { search: Search::new(problem) })
    }

    /// Searches on, until constraints were looked at so often, or `over` says that it is time to stop.
    pub fn run(&mut self, terms: &Terms, steps: u64, over: &dyn Fn() -> bool) -> Progress {
        self.search.run(terms, steps, over)
    }
}
