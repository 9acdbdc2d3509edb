// SPDX-License-Identifier: Apache-2.0
//! Small unsatisfiable cores of a labelled path, found by deletion.
//!
//! Starts from the solver's core and tries to drop many labels at once: first everything about one variable, then the
//! statements of one block, then single statements; every successful attempt takes over the core that the solver gives.
//! Deleting by variables first makes interpolants speak about few variables; going from the front to the back leaves the
//! reason of infeasibility near the end, so that early cuts stay `true`. The number of attempts is limited: the core is
//! minimal only when the budget suffices. (The chunks follow the idea of Marques-Silva, *Minimal Unsatisfiability: Models,
//! Algorithms and Applications*, ISMVL 2010, section 3; no clause sets or model rotation here.)

use std::collections::BTreeMap;

use super::graph::Path;
use super::slice::{Reads, Slice};
use super::ssa::Labelled;
use crate::path::Stmt;
use crate::solver::{CheckResult, Limits, Solver};
use crate::term::{SymId, TermId, Terms};

/// A limit for the number of attempts times the number of assertions that each of them looks at.
const MAX_EFFORT: usize = 10_000;

/// Why there is no core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NoCore {
    /// The path has an execution.
    Feasible,
    /// The solver gave up.
    Unknown(String),
}

/// A search for a small core on a solver that holds the assertions of the encoding.
struct Search<'a> {
    terms: &'a Terms,
    solver: &'a mut dyn Solver,
    labelled: &'a Labelled,
    /// Limits of an attempt.
    limits: &'a Limits,
    attempts_left: usize,
    /// The present core: positions of labels, ascending.
    core: Vec<usize>,
}

/// A slice of the path that has no execution, made small with about `attempts` solver calls; fewer when the path is large.
pub(crate) fn infeasible_slice(
    terms: &mut Terms,
    solver: &mut dyn Solver,
    path: &Path<'_>,
    attempts: usize,
    limits: &Limits,
    attempt: &Limits,
) -> Result<Slice, NoCore> {
    let labelled = Labelled::new(terms, path, &Slice::uniform(path, true));
    let first = with_search(terms, solver, &labelled, attempt, |search| {
        let all = search.core.clone();
        search.core = search.ask(&all, limits)?;
        search.again();
        Ok(())
    })?;
    let first = slice_of(path, &labelled, &first);
    // The encoding of the slice is smaller, so that the many calls to come are cheap. Their number shrinks with the size of
    // the problem all the same, because every call takes longer.
    let labelled = Labelled::new(terms, path, &first);
    let attempts = attempts.min(MAX_EFFORT / labelled.asserts.len().max(1));
    let small = with_search(terms, solver, &labelled, attempt, |search| {
        search.attempts_left = attempts;
        search.by_variables(path);
        search.by_blocks();
        search.one_by_one();
        Ok(())
    })?;
    Ok(slice_of(path, &labelled, &small))
}

/// A slice for which a sequence of interpolants is inductive, so that it has no execution. Small as the solver's cores are.
/// `None` when some block cannot be decided.
pub(crate) fn slice_for(
    terms: &mut Terms,
    solver: &mut dyn Solver,
    path: &Path<'_>,
    cuts: &[TermId],
    limits: &Limits,
) -> Option<Slice> {
    let all = Slice::uniform(path, true);
    let mut slice = Slice::uniform(path, false);
    for block in 0..path.len() {
        let before = if block == 0 { TermId::TRUE } else { cuts[block - 1] };
        let after = cuts.get(block).copied().unwrap_or(TermId::FALSE);
        if before == TermId::FALSE || after == TermId::TRUE {
            continue;
        }
        let mut labelled = Labelled::of_block(terms, path, &all, block);
        let after = labelled.at_end(terms, after);
        labelled.asserts.extend([before, terms.not(after)]);
        let core = with_search(terms, solver, &labelled, limits, |search| {
            let all = search.core.clone();
            search.core = search.ask(&all, limits)?;
            search.again();
            Ok(())
        });
        for label in core.ok()?.into_iter().map(|l| labelled.labels[l]) {
            slice.keep(label.block, label.edge);
        }
    }
    Some(slice)
}

/// Runs a search on a solver that holds the encoding; starts with all labels.
fn with_search(
    terms: &mut Terms,
    solver: &mut dyn Solver,
    labelled: &Labelled,
    limits: &Limits,
    run: impl FnOnce(&mut Search<'_>) -> Result<(), NoCore>,
) -> Result<Vec<usize>, NoCore> {
    solver.push();
    for &assertion in &labelled.asserts {
        solver.assert(terms, assertion);
    }
    let core: Vec<usize> = (0..labelled.labels.len()).collect();
    let mut search = Search { terms, solver, labelled, limits, attempts_left: 0, core };
    let result = run(&mut search).map(|()| std::mem::take(&mut search.core));
    solver.pop();
    result
}

fn slice_of(path: &Path<'_>, labelled: &Labelled, labels: &[usize]) -> Slice {
    let mut slice = Slice::uniform(path, false);
    for label in labels.iter().map(|&l| labelled.labels[l]) {
        slice.keep(label.block, label.edge);
    }
    slice
}

impl Search<'_> {
    fn ask(&mut self, labels: &[usize], limits: &Limits) -> Result<Vec<usize>, NoCore> {
        let literals: Vec<TermId> = labels.iter().map(|&l| self.labelled.labels[l].literal).collect();
        match self.solver.check(self.terms, &literals, limits) {
            CheckResult::Unsat(core) => {
                // The labels are ascending, so the core is.
                Ok(core.indices().iter().map(|&i| labels[i]).collect())
            }
            CheckResult::Sat(_) => Err(NoCore::Feasible),
            CheckResult::Unknown(why) => Err(NoCore::Unknown(why)),
        }
    }

    /// Tries to do without the labels that `dropped` names; whether that worked. An attempt that drops nothing or
    /// everything is not made.
    fn attempt(&mut self, dropped: impl Fn(usize) -> bool) -> bool {
        let rest: Vec<usize> = self.core.iter().copied().filter(|&l| !dropped(l)).collect();
        if rest.len() == self.core.len() || self.attempts_left == 0 {
            return false;
        }
        self.attempts_left -= 1;
        match self.ask(&rest, self.limits) {
            Ok(core) => {
                self.core = core;
                true
            }
            Err(NoCore::Feasible) => false,
            Err(NoCore::Unknown(_)) => {
                // The next ones would take as long.
                self.attempts_left /= 2;
                false
            }
        }
    }

    /// The solver's core of a core is often smaller.
    fn again(&mut self) {
        for _ in 0..2 {
            let before = self.core.clone();
            match self.ask(&before, self.limits) {
                Ok(core) if core.len() < before.len() => self.core = core,
                _ => return,
            }
        }
    }

    /// Drops whatever mentions a variable, the least used variables first.
    fn by_variables(&mut self, path: &Path<'_>) {
        let mut reads = Reads::default();
        let mut users: BTreeMap<SymId, Vec<usize>> = BTreeMap::new();
        for &l in &self.core {
            let label = self.labelled.labels[l];
            let (written, term) = match path.dag(label.block).edges[label.edge as usize].stmt {
                Stmt::Assume(cond) => (None, cond),
                Stmt::Assign(sym, value) => (Some(sym), value),
                Stmt::Skip | Stmt::Havoc(_) => continue,
            };
            for &sym in reads.of(self.terms, term) {
                users.entry(sym).or_default().push(l);
            }
            if let Some(sym) = written {
                let list = users.entry(sym).or_default();
                if list.last() != Some(&l) {
                    list.push(l);
                }
            }
        }
        if users.len() < 2 {
            return;
        }
        let mut order: Vec<(usize, SymId)> = users.iter().map(|(&sym, list)| (list.len(), sym)).collect();
        order.sort_unstable();
        // Half of the attempts at most, so that some are left for single statements.
        let reserve = self.attempts_left / 2;
        for (_, sym) in order {
            if self.attempts_left <= reserve {
                return;
            }
            let list = &users[&sym];
            self.attempt(|l| list.binary_search(&l).is_ok());
        }
    }

    fn by_blocks(&mut self) {
        let reserve = self.attempts_left / 2;
        let mut block = 0;
        while let Some(next) = self.core.iter().map(|&l| self.labelled.labels[l].block).find(|&b| b >= block) {
            if self.attempts_left <= reserve {
                return;
            }
            block = next + 1;
            let labels = &self.labelled.labels;
            let count = self.core.iter().filter(|&&l| labels[l].block == next).count();
            if count > 1 {
                self.attempt(|l| labels[l].block == next);
            }
        }
    }

    /// Halves of the rest first while the core is large, then single labels from the front.
    fn one_by_one(&mut self) {
        let mut chunk = if self.core.len() > self.attempts_left { self.core.len().div_ceil(16) } else { 1 };
        loop {
            let mut at = 0;
            while at < self.core.len() && self.attempts_left > 0 {
                let targets: Vec<usize> = self.core[at..(at + chunk).min(self.core.len())].to_vec();
                let first = targets[0];
                if self.attempt(|l| targets.binary_search(&l).is_ok()) {
                    at = self.core.partition_point(|&l| l < first);
                } else {
                    at += chunk;
                }
            }
            if chunk == 1 || self.attempts_left == 0 {
                return;
            }
            chunk = (chunk / 4).max(1);
        }
    }
}
