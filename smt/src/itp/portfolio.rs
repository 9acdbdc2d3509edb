// SPDX-License-Identifier: Apache-2.0
//! The portfolio: decides a path, then asks interpolation engines in order until one answers well enough.
//!
//! Every answer is checked by [`checker`](super::checker), made simpler, and checked again. An answer that looks like
//! divergence (see [`growth`](super::growth)) is put aside while the next engines are asked; the best one is taken.

use std::time::Duration;

use super::candidates::Candidates;
use super::checker::check;
use super::engine::{Interpolator, ItpOutcome, Task};
use super::feasible::{Feasibility, feasibility};
use super::graph::Path;
use super::growth::{Growth, growth};
use super::newton::{Assertion, Newton};
use super::polish::polish;
use super::query::{Hints, PathQuery, PathResult, Sequence};
use super::sp::Strongest;
use super::spacer::Spacer;
use super::stepwise::Stepwise;
use crate::solver::{Limits, Solver, SolverStats, Z3Config, Z3Solver};
use crate::term::{TermId, Terms};

/// The engines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EngineKind {
    /// Weakest preconditions of what the program asserts at the end.
    Assertion,
    /// Weakest preconditions of a slice.
    Newton,
    /// Weakest preconditions of single blocks, made simpler at every cut.
    Stepwise,
    /// Conjunctions of candidate atoms that hold at every visit of a place.
    Uniform,
    /// Z3's Horn solver on the sliced path.
    Spacer,
    /// Conjunctions and Boolean combinations of candidate atoms.
    Candidates,
    /// Constants and equalities from the symbolic store.
    Strongest,
}

/// The configuration of a [`Portfolio`].
#[derive(Clone, Debug)]
pub struct PortfolioConfig {
    /// The engines in the order in which they are asked.
    pub engines: Vec<EngineKind>,
    /// Solver calls that may be spent on making the unsatisfiable core of a path smaller.
    pub core_attempts: usize,
    /// Solver calls that may be spent on making the interpolant of one cut simpler, in each of two passes.
    pub polish_attempts: usize,
    /// Atoms at one place that differ only in constants count as divergence from this number on.
    pub family: usize,
    /// The time for a call of Spacer.
    pub spacer_timeout: Duration,
    /// The time for a solver call whose answer only improves a result.
    pub attempt_timeout: Duration,
}

impl Default for PortfolioConfig {
    fn default() -> Self {
        PortfolioConfig {
            engines: vec![
                EngineKind::Assertion,
                EngineKind::Stepwise,
                EngineKind::Uniform,
                EngineKind::Newton,
                EngineKind::Spacer,
                EngineKind::Candidates,
                EngineKind::Strongest,
            ],
            core_attempts: 8,
            polish_attempts: 12,
            family: 3,
            spacer_timeout: Duration::from_secs(3),
            attempt_timeout: Duration::from_millis(500),
        }
    }
}

/// What became of one engine's work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineStats {
    /// The name of the engine.
    pub name: &'static str,
    /// Paths that it was asked about.
    pub asked: u64,
    /// Sequences of it that passed the check.
    pub answered: u64,
    /// Sequences of it that did not.
    pub rejected: u64,
    /// Times it had no sequence.
    pub given_up: u64,
    /// Sequences of it that were given to the caller.
    pub taken: u64,
    /// Sequences of it that looked like divergence.
    pub diverging: u64,
}

/// The portfolio. Keeps its solver between calls; all calls must use the same term store.
pub struct Portfolio {
    config: PortfolioConfig,
    solver: Box<dyn Solver>,
    engines: Vec<Box<dyn Interpolator>>,
    stats: Vec<EngineStats>,
}

impl Portfolio {
    /// A portfolio on a solver of its own.
    pub fn new(config: PortfolioConfig) -> Self {
        Portfolio::with_solver(config, Box::new(Z3Solver::new(&Z3Config::default())))
    }

    /// A portfolio on the given solver, which may be decorated.
    pub fn with_solver(config: PortfolioConfig, solver: Box<dyn Solver>) -> Self {
        let engines: Vec<Box<dyn Interpolator>> = config.engines.iter().map(|&kind| engine(kind, &config)).collect();
        let stats = engines
            .iter()
            .map(|e| EngineStats {
                name: e.name(),
                asked: 0,
                answered: 0,
                rejected: 0,
                given_up: 0,
                taken: 0,
                diverging: 0,
            })
            .collect();
        Portfolio { config, solver, engines, stats }
    }

    /// What the engines did so far, in their order.
    pub fn stats(&self) -> &[EngineStats] {
        &self.stats
    }

    /// What the solver did so far.
    pub fn solver_stats(&self) -> SolverStats {
        self.solver.stats()
    }

    /// Decides whether the path has an execution, and explains why if not. `limits` bounds each solver call.
    pub fn solve(&mut self, terms: &mut Terms, query: &PathQuery, hints: &Hints, limits: &Limits) -> PathResult {
        let path = Path::new(terms, query);
        match feasibility(terms, &mut *self.solver, &path, limits) {
            Feasibility::Feasible(witness) => PathResult::Feasible(witness),
            Feasibility::Unknown(why) => PathResult::Unknown(why),
            Feasibility::Infeasible => self.explain(terms, &path, hints, limits),
        }
    }

    /// Interpolants for a path without executions.
    fn explain(&mut self, terms: &mut Terms, path: &Path<'_>, hints: &Hints, limits: &Limits) -> PathResult {
        let attempt = limits.at_most(self.config.attempt_timeout);
        let mut task = Task::new(terms, &mut *self.solver, path, hints, limits, &attempt);
        let mut best: Option<(Growth, usize, Sequence)> = None;
        let mut complaints = Vec::new();
        for (i, engine) in self.engines.iter_mut().enumerate() {
            if limits.interrupted() {
                complaints.push("interrupted".to_owned());
                break;
            }
            let stats = &mut self.stats[i];
            stats.asked += 1;
            let proposal = match engine.interpolate(&mut task) {
                ItpOutcome::Sequence(proposal) => proposal,
                ItpOutcome::GaveUp(why) => {
                    stats.given_up += 1;
                    complaints.push(format!("{}: {why}", stats.name));
                    continue;
                }
            };
            let sequence = match refined(&mut task, &self.config, &proposal, stats.name) {
                Ok(sequence) => sequence,
                Err(why) => {
                    stats.rejected += 1;
                    complaints.push(format!("{}: {why}", stats.name));
                    continue;
                }
            };
            stats.answered += 1;
            task.found.sequence = Some(sequence.interpolants.clone());
            let growth = growth(&mut task, &sequence.interpolants, self.config.family);
            let is_good = !growth.stuck && growth.diverging == 0;
            stats.diverging += u64::from(!is_good);
            if best.as_ref().is_none_or(|(least, ..)| growth < *least) {
                best = Some((growth, i, sequence));
            }
            if is_good {
                break;
            }
        }
        match best {
            Some((_, engine, sequence)) => {
                self.stats[engine].taken += 1;
                PathResult::Infeasible(sequence)
            }
            None => PathResult::Unknown(format!("infeasible, but not explained: {}", complaints.join("; "))),
        }
    }
}

/// The checked and simplified form of a proposal.
fn refined(
    task: &mut Task<'_>,
    config: &PortfolioConfig,
    proposal: &[TermId],
    engine: &'static str,
) -> Result<Sequence, super::checker::Rejection> {
    let sequence = check(task, proposal, engine)?;
    let simpler = polish(task, proposal, config.polish_attempts);
    if simpler == proposal {
        return Ok(sequence);
    }
    // Polishing checks its steps, but only the checker is trusted.
    Ok(check(task, &simpler, engine).unwrap_or(sequence))
}

fn engine(kind: EngineKind, config: &PortfolioConfig) -> Box<dyn Interpolator> {
    let (core_attempts, attempts) = (config.core_attempts, config.polish_attempts);
    match kind {
        EngineKind::Assertion => Box::new(Assertion),
        EngineKind::Newton => Box::new(Newton { attempts: core_attempts }),
        EngineKind::Stepwise => Box::new(Stepwise { attempts }),
        EngineKind::Uniform => Box::new(Candidates { core_attempts, attempts, uniform_only: true }),
        EngineKind::Candidates => Box::new(Candidates { core_attempts, attempts, uniform_only: false }),
        EngineKind::Spacer => Box::new(Spacer { core_attempts, timeout: config.spacer_timeout }),
        EngineKind::Strongest => Box::new(Strongest { core_attempts, attempts }),
    }
}
