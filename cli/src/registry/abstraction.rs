// SPDX-License-Identifier: Apache-2.0
//! Loop abstraction around an analysis (Beyer, Lingsch Rosenfeld, Spiessl, 2022).
//!
//! An analysis with abstraction refinement explores the strategy-augmented automaton, with the strategy refiner behind its
//! own. Any other one (bounded model checking, k-induction) runs on a program with one strategy a loop, again and again: a
//! run through an over-approximating strategy takes that strategy away. Both get a part of the time. Where that did not
//! suffice, k-induction is asked for invariants, and the same is done with abstractions by these; then the analysis runs on
//! the program as it is. Explicit values profit from exact strategies only, so they begin with these, and with all values.
//! FALSE is said only after the program itself was executed with the inputs of the run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cfa::{NodeId, Op, Program, Property, Source};
use cpa_core::{Counterexample, Cx, Invariants, Outcome, Reason, Step, Verdict};
use loopabs::{Augmented, Fidelity, Loops, Order, Rendered, Strategy};

use super::loop_invariants;
use super::strategies::{Strategies, configured};
use super::{Analysis, CegarAnalysis, DataAnalysis, analysis};
use crate::carry_over::CarryOver;
use crate::options::{Algorithm, Config, Domains};

/// The part of the remaining time that is spent for invariants, and what a part is without a limit.
const INVARIANTS: f64 = 0.2;
const WITHOUT_LIMIT: Duration = Duration::from_secs(60);

/// An analysis with loop abstraction.
pub struct LoopAbstraction {
    original: Arc<Program>,
    targets: BTreeSet<NodeId>,
    property: Property,
    loops: Loops,
    order: Order,
    /// For each loop the strategies that may still be used.
    allowed: Vec<BTreeSet<Strategy>>,
    config: Config,
    fixed_only: bool,
    /// What runs at the moment.
    attempt: Option<Attempt>,
    phase: Phase,
    /// The end of the time for abstractions in this phase, as the budget counts.
    deadline: Option<Duration>,
    /// The strategies of all loops in the program that was proved.
    proof: Option<Vec<Strategy>>,
    notes: Vec<String>,
    attempts: u64,
    removed: u64,
}

/// What is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The exact strategies, with one for each loop.
    Exact,
    /// The strategies that need nobody's help.
    Abstractions,
    /// Those with invariants of k-induction.
    WithInvariants,
    /// The program itself.
    Plain,
}

impl Phase {
    /// The part of the remaining time that is spent in this phase.
    fn part(self) -> f64 {
        match self {
            Phase::Exact | Phase::Abstractions => 0.1,
            Phase::WithInvariants => 0.2,
            Phase::Plain => 1.0,
        }
    }
}

/// One run of the wrapped analysis.
struct Attempt {
    analysis: Box<dyn Analysis>,
    program: Arc<Program>,
    kind: Kind,
}

enum Kind {
    /// The program itself.
    Plain,
    /// The strategy-augmented automaton.
    Augmented(Arc<Augmented>),
    /// One strategy for each loop.
    Fixed(Vec<Strategy>, Vec<Rendered>),
}

impl LoopAbstraction {
    /// Looks for runs to the targets; fails with a message when options do not fit.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        Self::build(program, targets, config, false)
    }

    fn build(
        program: Arc<Program>,
        targets: BTreeSet<NodeId>,
        config: &Config,
        fixed_only: bool,
    ) -> Result<Self, String> {
        let (strategies, order) = configured(config)?;
        let property = property_of(&program, &targets);
        let options = cfa::Options { loop_sites: true, ..program.options.clone() };
        let original = cfa::load(&program.sources[..program.user_sources], &options)
            .map_err(|error| format!("internal error: the program cannot be read again: {error}"))?;
        let targets = original.targets(&property);
        let loops = Loops::new(&original, &targets);
        let allowed = (0..original.loop_sites.sites.len())
            .map(|site| loops.applicable(site).into_iter().filter(|one| strategies.contains(one)).collect())
            .collect();
        let config = Config { loop_abstraction: false, ..config.clone() };
        let mut this = Self {
            original: Arc::new(original),
            targets,
            property,
            loops,
            order,
            allowed,
            config,
            fixed_only,
            attempt: None,
            phase: Phase::Abstractions,
            deadline: None,
            proof: None,
            notes: Vec::new(),
            attempts: 0,
            removed: 0,
        };
        let exact = |allowed: &BTreeSet<Strategy>, site: usize| allowed.iter().any(|one| this.is_exact(site, *one));
        if this.none_left() && !this.wants_invariants(&strategies) {
            this.phase = Phase::Plain;
        } else if !fixed_only
            && this.config.domains == Domains::Value
            && this.allowed.iter().enumerate().any(|(site, allowed)| exact(allowed, site))
        {
            this.phase = Phase::Exact;
        }
        if this.phase == Phase::Plain || !this.none_left() {
            this.attempt = Some(this.next()?);
        }
        Ok(this)
    }

    /// The same, but it always runs on programs with one strategy for each loop.
    pub fn fixed_only(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        Self::build(program, targets, config, true)
    }

    /// The strategy of each loop in the program that was proved; the base strategy for all if it was the program itself.
    pub fn proof(&self) -> Option<&[Strategy]> {
        self.proof.as_deref()
    }

    /// The loops with what strategies make of them.
    pub fn loops(&self) -> &Loops {
        &self.loops
    }

    /// The program, read with its loop statements.
    pub fn program(&self) -> &Arc<Program> {
        &self.original
    }

    /// Whether there is no strategy left but the loops themselves.
    fn none_left(&self) -> bool {
        self.allowed.iter().all(|allowed| allowed.len() < 2)
    }

    /// Whether a strategy is exact and not the loop itself.
    fn is_exact(&self, site: usize, strategy: Strategy) -> bool {
        strategy != Strategy::Base
            && self.loops.summary(site, strategy).is_ok_and(|summary| summary.fidelity == Fidelity::Exact)
    }

    /// Whether invariants are of use, which replace the same loops as naive abstraction.
    fn wants_invariants(&self, allowed: &BTreeSet<Strategy>) -> bool {
        let applies = |site| self.loops.summary(site, Strategy::Naive).is_ok();
        allowed.contains(&Strategy::Invariant) && (0..self.allowed.len()).any(applies)
    }

    /// Goes on to the next phase.
    fn advance(&mut self, cx: &Cx) {
        self.deadline = None;
        let after = if self.phase == Phase::Exact { Phase::Abstractions } else { Phase::Plain };
        let before = std::mem::replace(&mut self.phase, after);
        if before == Phase::Abstractions
            && let Err(problem) = self.with_invariants(cx)
        {
            self.notes.push(format!("loops were not abstracted by invariants: {problem}"));
        }
    }

    /// Asks for invariants; goes on to that phase if there are some.
    fn with_invariants(&mut self, cx: &Cx) -> Result<(), String> {
        let allowed = configured(&self.config)?.0;
        if !self.wants_invariants(&allowed) {
            return Ok(());
        }
        let mut shared = cx.share(share(cx, INVARIANTS));
        let (program, targets) = (&self.original, &self.targets);
        let known = loop_invariants::supplied(&mut shared, program, targets, &self.config)?;
        if known.is_empty() {
            return Ok(());
        }
        self.loops = Loops::with_invariants(program, targets, &known);
        // Where nothing is known, nothing had to be known for the proof.
        let of_site = |site: usize| {
            let applicable = self.loops.applicable(site);
            let best =
                [Strategy::Invariant, Strategy::Naive].into_iter().find(|strategy| applicable.contains(strategy));
            BTreeSet::from_iter(
                [Some(Strategy::Base), best.filter(|best| allowed.contains(best))].into_iter().flatten(),
            )
        };
        self.allowed = (0..program.loop_sites.sites.len()).map(of_site).collect();
        if !self.none_left() {
            self.phase = Phase::WithInvariants;
        }
        Ok(())
    }

    /// The next run of the wrapped analysis.
    fn next(&mut self) -> Result<Attempt, String> {
        self.attempts += 1;
        if self.phase == Phase::Plain {
            let program = Arc::clone(&self.original);
            let analysis = analysis(Arc::clone(&program), self.targets.clone(), &self.config)?;
            return Ok(Attempt { analysis, program, kind: Kind::Plain });
        }
        let refined = matches!(self.config.algorithm, Algorithm::Cegar | Algorithm::Cpa);
        let attempt = if self.phase == Phase::Exact {
            let config = Config { algorithm: Algorithm::Cpa, ..self.config.clone() };
            self.fixed(&config, |site, strategy| self.is_exact(site, strategy))
        } else if refined && !self.fixed_only {
            self.augmented()
        } else {
            self.fixed(&self.config, |_, _| true)
        };
        attempt.or_else(|problem| {
            self.notes.push(format!("loops were not abstracted: {problem}"));
            self.phase = Phase::Plain;
            self.next()
        })
    }

    fn augmented(&self) -> Result<Attempt, String> {
        let allowed: BTreeSet<Strategy> = self.allowed.iter().flatten().copied().collect();
        let augmented = Augmented::new(&self.original, &self.loops, &allowed).map_err(|error| error.to_string())?;
        let augmented = Arc::new(augmented);
        let program = Arc::clone(&augmented.program);
        let targets = program.targets(&self.property);
        let strategies = Strategies { augmented: Arc::clone(&augmented), order: self.order.clone(), allowed };
        let (program_, config, strategies) = (Arc::clone(&program), &self.config, Some(&strategies));
        let analysis: Box<dyn Analysis> =
            if config.algorithm == Algorithm::Cegar && config.domains == Domains::Predicate {
                Box::new(CegarAnalysis::with_strategies(program_, targets, config, strategies)?)
            } else {
                Box::new(DataAnalysis::with_strategies(program_, targets, config, strategies)?)
            };
        Ok(Attempt { analysis, program, kind: Kind::Augmented(augmented) })
    }

    /// A program with one strategy for each loop, of those that are wanted.
    fn fixed(&self, config: &Config, wanted: impl Fn(usize, Strategy) -> bool) -> Result<Attempt, String> {
        let choose = |(site, allowed): (usize, &BTreeSet<Strategy>)| {
            let offered = allowed.iter().copied().filter(|strategy| wanted(site, *strategy)).collect();
            self.order.select(&offered).last().copied().unwrap_or(Strategy::Base)
        };
        let chosen: Vec<Strategy> = self.allowed.iter().enumerate().map(choose).collect();
        let files = 0..u32::try_from(self.original.user_sources).expect("few files");
        let rendered: Vec<Rendered> =
            files.map(|file| self.loops.render(&self.original, file, |site| chosen[site])).collect();
        let sources: Vec<Source> = rendered
            .iter()
            .zip(&self.original.sources)
            .map(|(file, source)| Source {
                name: format!("{} (with loop abstractions)", source.name),
                text: file.text.clone(),
            })
            .collect();
        let options = cfa::Options { loop_sites: false, ..self.original.options.clone() };
        let program = Arc::new(cfa::load(&sources, &options).map_err(|error| error.to_string())?);
        let analysis = analysis(Arc::clone(&program), program.targets(&self.property), config)?;
        Ok(Attempt { analysis, program, kind: Kind::Fixed(chosen, rendered) })
    }

    /// Takes an over-approximating strategy away that a run goes through; false if there is none.
    fn refine(&mut self, attempt: &Attempt, run: &Counterexample) -> bool {
        let Kind::Fixed(_, rendered) = &attempt.kind else { return false };
        let found = pivot(&attempt.program, rendered, &self.loops, run);
        let Some((site, strategy)) = found else { return false };
        self.removed += 1;
        self.allowed[site].remove(&strategy)
    }

    /// What was assumed about the program, not about its abstraction.
    fn concluded(&self, outcome: &Outcome, abstracted: &Program) -> Outcome {
        let own = outcome.assumptions().iter().filter(|text| !abstracted.assumptions.contains(text));
        let assumptions = own.chain(&self.original.assumptions).cloned().collect();
        Outcome::conclude(outcome.verdict().clone(), outcome.assurance().clone(), assumptions)
    }

    fn unknown(&self, outcome: &Outcome, reason: Reason) -> Outcome {
        Outcome::conclude(Verdict::Unknown(reason), outcome.assurance().clone(), self.original.assumptions.clone())
    }
}

impl Analysis for LoopAbstraction {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        loop {
            if self.attempt.is_none() && self.phase == Phase::Abstractions && self.none_left() {
                self.advance(cx);
            }
            let mut attempt = match self.attempt.take().map_or_else(|| self.next(), Ok) {
                Ok(attempt) => attempt,
                Err(problem) => {
                    let reason = Reason::Stopped(cpa_core::Stop::Internal(problem));
                    return Outcome::conclude(Verdict::Unknown(reason), cpa_core::Assurance::full(), Vec::new());
                }
            };
            if let Kind::Plain = attempt.kind {
                let outcome = attempt.analysis.run(cx);
                if let Verdict::True = outcome.verdict() {
                    self.proof = Some(vec![Strategy::Base; self.original.loop_sites.sites.len()]);
                }
                self.attempt = Some(attempt);
                return outcome;
            }
            let now = cx.elapsed();
            let part = self.phase.part();
            let deadline = *self.deadline.get_or_insert_with(|| now + share(cx, part));
            let mut shared = cx.share(deadline.saturating_sub(now));
            let outcome = attempt.analysis.run(&mut shared);
            match outcome.verdict() {
                Verdict::True => {
                    self.proof = match &attempt.kind {
                        Kind::Fixed(chosen, _) => Some(chosen.clone()),
                        Kind::Augmented(_) | Kind::Plain => None,
                    };
                    let outcome = self.concluded(&outcome, &attempt.program);
                    self.attempt = Some(attempt);
                    return outcome;
                }
                Verdict::False(run) => {
                    let ignored = |edge| match &attempt.kind {
                        Kind::Augmented(augmented) => augmented.is_question(edge),
                        Kind::Fixed(..) | Kind::Plain => false,
                    };
                    let exact = match &attempt.kind {
                        Kind::Fixed(_, rendered) => pivot(&attempt.program, rendered, &self.loops, run).is_none(),
                        Kind::Augmented(_) | Kind::Plain => true,
                    };
                    let (from, to, targets) = (&*attempt.program, &*self.original, &self.targets);
                    match (CarryOver { from, run, to, targets }).of_abstraction(cx, ignored, exact) {
                        Err(stop) => {
                            let outcome = self.unknown(&outcome, Reason::Stopped(stop));
                            self.attempt = Some(attempt);
                            return outcome;
                        }
                        Ok(Some(run)) => {
                            let verdict = Verdict::False(run);
                            let assumptions = self.original.assumptions.clone();
                            self.attempt = Some(attempt);
                            return Outcome::conclude(verdict, outcome.assurance().clone(), assumptions);
                        }
                        Ok(None) if self.refine(&attempt, run) && !self.none_left() => {}
                        Ok(None) => self.advance(cx),
                    }
                }
                Verdict::Unknown(_) => {
                    if let Err(stop) = cx.check() {
                        self.attempt = Some(attempt);
                        return self.unknown(&outcome, Reason::Stopped(stop));
                    }
                    self.advance(cx);
                }
            }
        }
    }

    fn invariants(&mut self) -> Invariants {
        // Those of an abstracted program hold at other places, if at all.
        match &mut self.attempt {
            Some(Attempt { analysis, kind: Kind::Plain, .. }) => analysis.invariants(),
            _ => Invariants::new(),
        }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let abstracted = self.allowed.iter().filter(|allowed| allowed.len() > 1).count();
        let mut entries = vec![
            ("Number of loop statements".into(), self.original.loop_sites.sites.len().to_string()),
            ("Number of loops with strategies left".into(), abstracted.to_string()),
            ("Number of programs analysed".into(), self.attempts.to_string()),
            ("Number of strategies taken back".into(), self.removed.to_string()),
        ];
        entries.extend(self.attempt.iter().flat_map(|attempt| attempt.analysis.statistics()));
        entries
    }
}

/// A part of the time that is left.
fn share(cx: &Cx, part: f64) -> Duration {
    cx.remaining().map_or(WITHOUT_LIMIT, |left| left.mul_f64(part))
}

/// The property that has these targets.
fn property_of(program: &Program, targets: &BTreeSet<NodeId>) -> Property {
    let named = |all: Vec<(&str, NodeId)>| -> Vec<String> {
        let names: BTreeSet<&str> =
            all.into_iter().filter(|(_, node)| targets.contains(node)).map(|(name, _)| name).collect();
        names.into_iter().map(str::to_owned).collect()
    };
    Property {
        calls: named(program.calls.iter().map(|(name, node, _)| (&**name, *node)).collect()),
        labels: named(program.labels.iter().map(|(name, node)| (&**name, *node)).collect()),
    }
}

/// The first over-approximating strategy that a run goes through, preferably one whose arbitrary values it uses.
fn pivot(program: &Program, rendered: &[Rendered], loops: &Loops, run: &Counterexample) -> Option<(usize, Strategy)> {
    let mut first = None;
    let rest = run.rest.iter().flat_map(|rest| rest.inputs.iter().map(|(edge, _)| *edge));
    let steps = run.steps.iter().map(|step: &Step| step.edge()).chain(rest);
    for id in steps {
        let edge = program.edge(id);
        let Some(file) = rendered.get(edge.span.file as usize) else { continue };
        let at = edge.span.start as usize;
        // Outer loops come after the loops within them.
        let around = file.replacements.iter().rev().find(|replacement| {
            replacement.range.contains(&at)
                && loops.summary(replacement.site, replacement.strategy).is_ok_and(|s| s.fidelity == Fidelity::Over)
        });
        let Some(around) = around else { continue };
        let found = (around.site, around.strategy);
        if matches!(edge.op, Op::Havoc { .. }) {
            return Some(found);
        }
        first = first.or(Some(found));
    }
    first
}
