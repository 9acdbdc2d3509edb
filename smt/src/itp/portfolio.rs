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
use super::frames::Frames;
use super::graph::Path;
use super::growth::{Growth, growth};
use super::newton::{Assertion, Newton};
use super::polish::polish;
use super::query::{Hints, PathQuery, PathResult, Sequence, Witness};
use super::sp::Strongest;
use super::spacer::Spacer;
use super::stepwise::Stepwise;
use crate::solver::{Limits, Recorded, Solver, SolverStats, Timed, Z3Config, Z3Logic, Z3Solver};
use crate::term::{TermId, Terms};

/// The engines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EngineKind {
    /// Weakest preconditions of what the program asserts at the end.
    Assertion,
    /// Clauses block by block, the same ones at the cuts of a place where that is possible.
    Frames,
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

impl EngineKind {
    /// All engines, in the order in which they are asked by default; then [`EngineKind::Frames`] is not.
    pub const ALL: [EngineKind; 8] = [
        EngineKind::Assertion,
        EngineKind::Frames,
        EngineKind::Stepwise,
        EngineKind::Uniform,
        EngineKind::Spacer,
        EngineKind::Newton,
        EngineKind::Candidates,
        EngineKind::Strongest,
    ];

    /// The name in statistics and configurations.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Assertion => "assertion",
            EngineKind::Frames => "frames",
            EngineKind::Newton => "newton",
            EngineKind::Stepwise => "stepwise",
            EngineKind::Uniform => "uniform",
            EngineKind::Spacer => "spacer",
            EngineKind::Candidates => "candidates",
            EngineKind::Strongest => "sp",
        }
    }

    /// The engine of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
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
    /// Engines that are asked for a better answer when one looks like divergence.
    pub opinions: usize,
    /// The logic of all formulas, if a solver made for it shall be used; none for any mixture.
    pub logic: Option<Z3Logic>,
    /// The time for a solver call on which an engine's answer depends.
    pub engine_timeout: Duration,
    /// The time for a call of Spacer.
    pub spacer_timeout: Duration,
    /// The time for a solver call whose answer only improves a result.
    pub attempt_timeout: Duration,
}

impl Default for PortfolioConfig {
    fn default() -> Self {
        PortfolioConfig {
            engines: EngineKind::ALL.into_iter().filter(|&kind| kind != EngineKind::Frames).collect(),
            core_attempts: 8,
            polish_attempts: 12,
            family: 3,
            opinions: 3,
            logic: None,
            engine_timeout: Duration::from_secs(10),
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
    opinions: Vec<Opinions>,
    stats: Vec<EngineStats>,
    /// Paths so far.
    paths: u64,
    /// Wall time spent in Z3 beside the solver.
    outside: Duration,
}

/// For so many paths frames are asked first; after that for every other path, if there is somebody else to ask.
const FRAMES_ALONE: u64 = 6;

impl Portfolio {
    /// A portfolio on a solver of its own.
    pub fn new(config: PortfolioConfig) -> Self {
        let solver = Self::solver(&config);
        Portfolio::with_solver(config, Box::new(Timed::new(solver)))
    }

    /// A portfolio whose queries are written down; `out` receives whole lines.
    pub fn recorded(config: PortfolioConfig, out: impl FnMut(&str) + 'static) -> Self {
        let solver = Recorded::new(Self::solver(&config), out);
        Portfolio::with_solver(config, Box::new(Timed::new(solver)))
    }

    fn solver(config: &PortfolioConfig) -> Z3Solver {
        Z3Solver::new(&Z3Config { logic: config.logic, eliminate_arrays: true, ..Z3Config::default() })
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
        let opinions = vec![Opinions::default(); engines.len()];
        Portfolio { config, solver, engines, opinions, stats, paths: 0, outside: Duration::ZERO }
    }

    /// What the engines did so far, in their order.
    pub fn stats(&self) -> &[EngineStats] {
        &self.stats
    }

    /// What the solver did so far.
    pub fn solver_stats(&self) -> SolverStats {
        self.solver.stats()
    }

    /// The wall time spent in Z3 so far, as far as the solver measures its time.
    pub fn solver_time(&self) -> Duration {
        self.solver.stats().time + self.outside
    }

    /// Decides whether the path has an execution, and explains why if not. `limits` bounds each solver call.
    pub fn solve(&mut self, terms: &mut Terms, query: &PathQuery, hints: &Hints, limits: &Limits) -> PathResult {
        if query.blocks.is_empty() {
            return PathResult::Feasible(Witness { steps: Vec::new(), initial: Vec::new() });
        }
        let path = Path::new(terms, query);
        let decisive = limits.at_most(self.config.engine_timeout);
        let attempt = limits.at_most(self.config.attempt_timeout);
        let mut task = Task::new(terms, &mut *self.solver, &path, hints, &decisive, &attempt);
        let mut panel =
            Panel { config: &self.config, stats: &mut self.stats, best: None, opinions: 0, complaints: Vec::new() };
        // What the program asserts may be its own reason; that is seen without a solver, so it comes before everything.
        let quick = self.config.engines.iter().position(|&kind| kind == EngineKind::Assertion);
        if let Some(engine) = quick
            && let Some(proposal) = Assertion::without_solver(&mut task)
        {
            panel.stats[engine].asked += 1;
            panel.hear(&mut task, engine, ItpOutcome::Sequence(proposal));
        }
        // Neither needs the engine that looks at single blocks only to know that the path is infeasible.
        let frames = self.config.engines.first() == Some(&EngineKind::Frames);
        self.paths += 1;
        // What it finds for each single path may still differ from path to path.
        let is_alone = self.engines.len() == 1 || self.paths <= FRAMES_ALONE;
        let has_turn = is_alone || self.paths.is_multiple_of(2);
        let first = panel.best.is_none() && frames && has_turn;
        if first {
            panel.stats[0].asked += 1;
            let outcome = self.engines[0].interpolate(&mut task);
            panel.hear(&mut task, 0, outcome);
        }
        let mut undecided = None;
        if panel.best.is_none() && !limits.interrupted() {
            match feasibility(task.terms, task.solver, &path, limits) {
                Feasibility::Feasible(witness) => return PathResult::Feasible(witness),
                Feasibility::Infeasible => {}
                Feasibility::Unknown(why) => undecided = Some(why),
            }
        }
        let others = usize::from(frames);
        let in_turn = (others..self.engines.len()).chain((0..others).filter(|_| !first));
        for i in in_turn {
            let (kind, engine) = (self.config.engines[i], &mut self.engines[i]);
            if limits.interrupted() || panel.is_content() {
                break;
            }
            // A path that is not known to be infeasible is given only to engines that do without a core of the whole path.
            if undecided.is_some() && !matches!(kind, EngineKind::Assertion | EngineKind::Stepwise) {
                continue;
            }
            let is_opinion = panel.best.is_some();
            if is_opinion && !self.opinions[i].is_due() {
                continue;
            }
            panel.stats[i].asked += 1;
            let outcome = engine.interpolate(&mut task);
            panel.hear(&mut task, i, outcome);
            if is_opinion {
                panel.opinions += 1;
                self.opinions[i].note(panel.best.as_ref().is_some_and(|best| best.engine == i));
            }
        }
        self.outside += task.found.outside;
        match (panel.best, undecided) {
            (Some(best), _) => {
                self.stats[best.engine].taken += 1;
                PathResult::Infeasible(best.sequence)
            }
            (None, Some(why)) => PathResult::Unknown(why),
            (None, None) if limits.interrupted() => PathResult::Unknown("interrupted".to_owned()),
            (None, None) => {
                PathResult::Unknown(format!("infeasible, but not explained: {}", panel.complaints.join("; ")))
            }
        }
    }
}

/// How often an engine is asked for a second opinion: the more often it was not better, the less.
#[derive(Clone, Copy, Default, Debug)]
struct Opinions {
    misses: u32,
    /// Chances to pass before the next question.
    wait: u32,
}

impl Opinions {
    fn is_due(&mut self) -> bool {
        let due = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        due
    }

    fn note(&mut self, was_better: bool) {
        if was_better {
            *self = Opinions::default();
        } else {
            self.misses = (self.misses + 1).min(6);
            self.wait = (1 << self.misses) / 4;
        }
    }
}

/// The answers about one path so far.
struct Panel<'a> {
    config: &'a PortfolioConfig,
    stats: &'a mut [EngineStats],
    best: Option<Best>,
    /// Engines asked after the first answer.
    opinions: usize,
    complaints: Vec<String>,
}

/// The best answer.
struct Best {
    growth: Growth,
    engine: usize,
    sequence: Sequence,
}

impl Panel<'_> {
    /// Whether nobody else need be asked.
    fn is_content(&self) -> bool {
        self.best.as_ref().is_some_and(|best| is_good(best.growth) || self.opinions >= self.config.opinions)
    }

    /// Checks, simplifies and compares an answer.
    fn hear(&mut self, task: &mut Task<'_>, engine: usize, outcome: ItpOutcome) {
        let stats = &mut self.stats[engine];
        let proposal = match outcome {
            ItpOutcome::Sequence(proposal) => proposal,
            ItpOutcome::GaveUp(why) => {
                stats.given_up += 1;
                self.complaints.push(format!("{}: {why}", stats.name));
                return;
            }
        };
        // The clauses of frames are to be the same again and again: no part of them is superfluous, and no other answer better.
        let is_final = self.config.engines[engine] == EngineKind::Frames;
        let checked = match is_final {
            true => check(task, &proposal, stats.name),
            false => refined(task, self.config, &proposal, stats.name),
        };
        let sequence = match checked {
            Ok(sequence) => sequence,
            Err(why) => {
                stats.rejected += 1;
                self.complaints.push(format!("{}: {why}", stats.name));
                return;
            }
        };
        stats.answered += 1;
        task.found.sequence = Some(sequence.interpolants.clone());
        let growth = match is_final {
            // Unless the caller knows all of it and needs something else.
            true => Growth { stuck: is_known(task, &sequence.interpolants), ..Growth::default() },
            false => growth(task, &sequence.interpolants, self.config.family),
        };
        stats.diverging += u64::from(!is_good(growth));
        if self.best.as_ref().is_none_or(|best| growth < best.growth) {
            self.best = Some(Best { growth, engine, sequence });
        }
    }
}

/// Whether the caller tracks predicates, and at every cut all that the sequence speaks about there.
fn is_known(task: &Task<'_>, cuts: &[TermId]) -> bool {
    let is_tracked = |cut: usize, term| {
        let known = task.known(cut);
        task.terms.atoms(term).iter().all(|atom| known.contains(atom))
    };
    task.hints.cuts.iter().any(|hint| !hint.known.is_empty())
        && cuts.iter().enumerate().all(|(cut, &term)| is_tracked(cut, term))
}

/// Whether an answer gives no reason to look for a better one.
fn is_good(growth: Growth) -> bool {
    !growth.stuck && growth.diverging == 0
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
        EngineKind::Frames => Box::new(Frames::new(config.logic)),
        EngineKind::Newton => Box::new(Newton { attempts: core_attempts }),
        EngineKind::Stepwise => Box::new(Stepwise { attempts }),
        EngineKind::Uniform => Box::new(Candidates { core_attempts, attempts, uniform_only: true }),
        EngineKind::Candidates => Box::new(Candidates { core_attempts, attempts, uniform_only: false }),
        EngineKind::Spacer => Box::new(Spacer { core_attempts, timeout: config.spacer_timeout }),
        EngineKind::Strongest => Box::new(Strongest { core_attempts, attempts }),
    }
}
