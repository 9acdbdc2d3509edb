// SPDX-License-Identifier: Apache-2.0
//! Runs the stages of a plan, as many at a time as there are cores, until one has an answer.
//!
//! Each stage has a thread and solver contexts of its own. A stage that is not done at the end of its turn is suspended and goes
//! on in a later, longer turn; one that would begin anew then waits where it is. If memory becomes scarce, the stage that uses the
//! most is given up. A verdict has passed the clamp of its own analysis; the first one ends the run, the other stages are cancelled.

mod worker;

use std::collections::{BTreeSet, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Budget, CancelToken, Invariants, Outcome, Reason, Stop, Verdict};
use smt::solver::ThreadClock;

pub use self::worker::Turn;
use self::worker::{Failure, Order, Worker};
use crate::args::DumpFormat;
use crate::limits::{Limits, give_back_memory, memory_used};
use crate::plan::Stage;
use crate::progress::{GoingRound, Reported};

/// The part of the memory limit, in per cent, beyond which stages are given up.
const SCARCE: u64 = 75;
/// Stack of a stage's thread; the system only gives memory for what is used.
const STACK: usize = 1 << 30;
/// How often the coordinator looks at limits.
const TICK: Duration = Duration::from_millis(25);
/// A turn that the stage does not end itself, as in a query to a solver, is ended after its length and that divided by this.
const GRACE: u32 = 2;
/// The same where CPU time is not known: after so many times its length, in wall time.
const WALL_GRACE: u32 = 4;
/// How much longer a turn may be of a stage that waits in the middle of its run. Its queries are shorter, so it comes to look;
/// one that is told to end loses what it did.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much longer turns are of a stage that waits for the answer to a single question, which begins anew in each one.
const LAST_QUESTION: u32 = 6;
/// How long cancelled stages may take to tell their statistics.
const FAREWELL: Duration = Duration::from_millis(500);

/// The answer of a whole plan.
#[derive(Debug)]
pub struct Answer {
    /// The verdict with its assumptions.
    pub outcome: Outcome,
    /// The stage that found it; none if no stage did.
    pub stage: Option<String>,
    /// What each stage said last, in the order of the plan.
    pub turns: Vec<(String, Turn)>,
    /// The stages that had a turn, in the same order, with the loops whose end they have not seen; also those that were lost
    /// in a computation and said nothing.
    pub started: Vec<(String, GoingRound)>,
    /// Whether some stage ended by a panic.
    pub panicked: bool,
    /// What the proof knows, if there is one and if that was asked for.
    pub invariants: Option<Arc<Invariants>>,
    /// What happened when.
    pub log: Vec<String>,
}

/// Why a plan did not run.
#[derive(Clone, Debug)]
pub enum PortfolioError {
    /// Options of a stage do not fit.
    Configuration(String),
    /// No stage came to an end without a panic.
    Panic,
}

/// A stage on its way.
struct Runner {
    stage: Stage,
    orders: Sender<Order>,
    cancel: CancelToken,
    /// The clock of its thread, from its first turn on.
    clock: Arc<OnceLock<Option<ThreadClock>>>,
    /// Whether it waits in the middle of its run at the end of a turn, which it knows in its first one.
    waits: Arc<AtomicBool>,
    /// What it tells in the meantime.
    reported: Arc<Mutex<Reported>>,
    /// Its turns without the early one.
    turns: u32,
    /// Whether its last turn was the early one.
    early: bool,
    last: Option<Turn>,
    /// By how many bytes the process grew while it ran, with equal parts for stages that run at the same time.
    grown: u64,
    /// Whether it was told to end because memory is scarce.
    given_up: bool,
    handle: JoinHandle<()>,
}

/// What the stages have in common.
pub struct Job {
    /// The program.
    pub program: Arc<Program>,
    /// The locations that must not be reached.
    pub targets: BTreeSet<NodeId>,
    /// The limits of the run.
    pub limits: Limits,
    /// Cancels the run.
    pub cancel: CancelToken,
    /// What is going on, for the status line.
    pub status: Arc<Mutex<String>>,
    /// How many stages may run at a time.
    pub cores: usize,
    /// What stages shall tell beside their outcomes.
    pub wanted: Wanted,
}

/// What stages tell beside their outcomes; nothing of it is computed otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Wanted {
    /// The invariants of a proof.
    pub invariants: bool,
    /// The last statistics of stages that another one was faster than: the run waits a moment for them.
    pub statistics: bool,
    /// Where a stage without an answer is.
    pub busiest: bool,
    /// A picture of the explored graph.
    pub picture: bool,
    /// The explored graph in some format.
    pub graph: Option<DumpFormat>,
    /// The explored graph for Graphviz.
    pub graph_as_dot: bool,
    /// The predicates and where they are tracked.
    pub predicates: bool,
}

impl Job {
    /// Runs the stages, of which there is at least one.
    pub fn run(&self, stages: Vec<Stage>) -> Result<Answer, PortfolioError> {
        let (reports, results) = mpsc::channel();
        let runners =
            stages.into_iter().enumerate().map(|(at, stage)| self.spawn(at, stage, reports.clone())).collect();
        Run::new(self, runners).coordinate(&results)
    }

    fn spawn(&self, at: usize, stage: Stage, reports: Sender<(usize, Result<Turn, Failure>)>) -> Runner {
        let (orders, receiver) = mpsc::channel();
        let (reported, clock) = (Arc::new(Mutex::new(Reported::default())), Arc::new(OnceLock::new()));
        let waits = Arc::new(AtomicBool::new(false));
        let worker = Worker {
            clock: Arc::clone(&clock),
            waits: Arc::clone(&waits),
            reported: Arc::clone(&reported),
            stage: stage.clone(),
            program: Arc::clone(&self.program),
            targets: self.targets.clone(),
            limits: self.limits.clone(),
            status: Arc::clone(&self.status),
            wanted: self.wanted,
        };
        let work = move || {
            // The coordinator is gone when the run has its answer.
            let report = move |turn| {
                let _ = reports.send((at, turn));
            };
            let result = panic::catch_unwind(AssertUnwindSafe(|| worker.run(receiver, report.clone())));
            if result.is_err() {
                report(Err(Failure::Panic));
            }
        };
        let spawned = thread::Builder::new().name(stage.name.clone()).stack_size(STACK).spawn(work);
        let handle = spawned.expect("the system has a thread for each stage");
        let cancel = CancelToken::new();
        let (turns, early, last, grown, given_up) = (0, false, None, 0, false);
        Runner { stage, orders, cancel, clock, waits, reported, turns, early, last, grown, given_up, handle }
    }
}

/// When a turn ends at the latest.
#[derive(Clone, Copy)]
struct End {
    /// By the CPU time of the stage.
    cpu: Duration,
    /// Where that is not known.
    wall: Instant,
}

struct Run<'a> {
    job: &'a Job,
    runners: Vec<Runner>,
    /// Stages whose early turn has not begun.
    early: VecDeque<usize>,
    /// Stages that wait for a core, fresh or suspended; before its early turn is over a stage waits for the next one already.
    waiting: VecDeque<usize>,
    /// Stages that run, with the end of their turn.
    active: Vec<(usize, Option<End>)>,
    failures: Vec<(usize, Failure)>,
    /// Bytes that the process had at the last look.
    used: u64,
    /// The stage that was given up last, until its thread has ended.
    leaving: Option<usize>,
    log: Vec<String>,
}

impl<'a> Run<'a> {
    fn new(job: &'a Job, mut runners: Vec<Runner>) -> Self {
        // One that runs to its end ends the run, mostly.
        let until = runners.iter().position(|runner| runner.stage.turn.is_none()).unwrap_or(runners.len());
        let mut early: VecDeque<usize> = (0..until).filter(|&at| runners[at].stage.early.is_some()).collect();
        let lead = (0..until).find(|&at| runners[at].stage.lead.is_some()).filter(|_| job.cores > 1);
        if let Some(lead) = lead {
            runners[lead].stage.early = runners[lead].stage.lead;
            early.retain(|&at| at != lead);
            early.push_front(lead);
        }
        let waiting = (0..runners.len()).collect();
        Run {
            job,
            runners,
            early,
            waiting,
            active: Vec::new(),
            failures: Vec::new(),
            used: 0,
            leaving: None,
            log: Vec::new(),
        }
    }

    fn log(&mut self, text: &str) {
        let time = self.job.limits.elapsed().as_secs_f64();
        self.log.push(format!("{time:9.3} s  {text} (Portfolio.run, INFO)"));
    }

    fn coordinate(mut self, results: &Receiver<(usize, Result<Turn, Failure>)>) -> Result<Answer, PortfolioError> {
        loop {
            while self.active.len() < self.job.cores.max(1) {
                let Some(next) = self.next() else { break };
                self.start(next);
            }
            if self.active.is_empty() {
                return self.conclude(None);
            }
            match results.recv_timeout(TICK) {
                Ok((at, result)) => {
                    if let Some(answer) = self.take(at, result) {
                        self.dismiss(results, true);
                        return self.conclude(Some(answer));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.conclude(None),
            }
            if self.job.cancel.is_cancelled() || self.job.limits.check().is_err() {
                self.dismiss(results, false);
                return self.conclude(None);
            }
            self.watch();
        }
    }

    /// The stage whose turn it is: one whose early turn has not begun, or the first one that waits. Before that one begins a
    /// first turn, suspended ones go on for which all turns, with the next one, are together at most a quarter as long: many
    /// errors are found soon after a short turn.
    fn next(&mut self) -> Option<usize> {
        if let Some(at) = self.early.pop_front() {
            self.runners[at].early = true;
            return Some(at);
        }
        // Early turns may still be going on.
        let is_idle = |at: &usize| self.active.iter().all(|(active, _)| active != at);
        let idle = self.waiting.iter().position(is_idle)?;
        let first = &self.runners[self.waiting[idle]];
        let fresh = first.stage.turn.filter(|_| first.turns == 0);
        let is_short = |at: &usize| {
            let Runner { turns, stage, .. } = &self.runners[*at];
            let together = stage.turn.and_then(|turn| turn.checked_mul((2u32 << turns.min(&24)) - 1));
            *turns > 0 && together.zip(fresh).is_some_and(|(together, fresh)| together.saturating_mul(4) <= fresh)
        };
        let short = |at: &usize| is_short(at) && is_idle(at);
        let next = self.waiting.iter().position(short).unwrap_or(idle);
        let next = self.waiting.remove(next)?;
        self.runners[next].early = false;
        Some(next)
    }

    /// Gives a stage its next turn.
    fn start(&mut self, at: usize) {
        let runner = &mut self.runners[at];
        let mut factor = 1u32.checked_shl(runner.turns).unwrap_or(u32::MAX);
        if runner.reported.lock().is_ok_and(|reported| reported.last_question) {
            factor = factor.saturating_mul(LAST_QUESTION);
        }
        // Nobody waits for the last one.
        let alone = self.waiting.is_empty() && self.active.is_empty() && !runner.stage.once;
        let turn = if runner.early {
            runner.stage.early
        } else {
            runner.turns += 1;
            runner.stage.turn.filter(|_| !alone).map(|turn| turn.saturating_mul(factor))
        };
        // One that waits in the middle of its run has the old one.
        if runner.cancel.is_cancelled() {
            runner.cancel = CancelToken::new();
        }
        let order = Order { turn, cancel: runner.cancel.clone() };
        let number = if runner.early { "early turn".to_string() } else { format!("turn {}", runner.turns) };
        let name = runner.stage.name.clone();
        let most = turn.map(|turn| format!(", for at most {:.1} s", turn.as_secs_f64())).unwrap_or_default();
        self.log(&format!("Starting stage {name}, {number}{most}"));
        if self.runners[at].orders.send(order).is_err() {
            self.failures.push((at, Failure::Panic));
            return;
        }
        // The stage looks at its CPU time itself; this is for one that does not come to look.
        let runner = &self.runners[at];
        let used = runner.last.as_ref().map_or(Duration::ZERO, |turn| turn.cpu);
        let end = turn.map(|turn| End {
            cpu: used.saturating_add(turn).saturating_add(turn / GRACE),
            wall: Instant::now() + turn.saturating_mul(WALL_GRACE) + TICK,
        });
        self.active.push((at, end));
    }

    /// Takes what a stage says at the end of its turn; returns its position if that is the answer.
    fn take(&mut self, at: usize, result: Result<Turn, Failure>) -> Option<usize> {
        self.active.retain(|(active, _)| *active != at);
        let turn = match result {
            Ok(turn) => turn,
            Err(failure) => {
                self.log(&format!("Stage {} failed", self.runners[at].stage.name));
                self.failures.push((at, failure));
                self.release(at);
                return None;
            }
        };
        let verdict = turn.outcome.verdict().clone();
        let said = match &verdict {
            Verdict::True => "TRUE".to_string(),
            Verdict::False(_) => "FALSE".to_string(),
            Verdict::Unknown(reason) => format!("UNKNOWN, {reason}"),
        };
        let cpu = turn.cpu.as_secs_f64();
        self.log(&format!("Stage {}: {said}, after {cpu:.3} s of CPU time", self.runners[at].stage.name));
        let runner = &mut self.runners[at];
        runner.last = Some(turn);
        match verdict {
            Verdict::True | Verdict::False(_) => Some(at),
            Verdict::Unknown(_) if runner.given_up => {
                self.release(at);
                None
            }
            // It waits already.
            Verdict::Unknown(Reason::Stopped(Stop::Timeout | Stop::Cancelled)) if runner.early => None,
            Verdict::Unknown(Reason::Stopped(Stop::Timeout | Stop::Cancelled)) if !runner.stage.once => {
                self.waiting.push_back(at);
                None
            }
            Verdict::Unknown(_) => {
                self.release(at);
                None
            }
        }
    }

    /// Lets a stage's thread end, which gives its memory back.
    fn release(&mut self, at: usize) {
        self.runners[at].orders = mpsc::channel().0;
        self.waiting.retain(|&waiting| waiting != at);
    }

    /// Ends turns that are over, and gives up stages when memory is scarce.
    fn watch(&mut self) {
        for (at, end) in &self.active {
            let Some(end) = end else { continue };
            let runner = &self.runners[*at];
            let used = runner.clock.get().and_then(|clock| clock.as_ref()?.now());
            let patience = if runner.waits.load(Ordering::Relaxed) { PATIENCE } else { Duration::ZERO };
            let is_over = match used {
                Some(used) => used >= end.cpu.saturating_add(patience),
                None => Instant::now() >= end.wall + patience,
            };
            if is_over {
                runner.cancel.cancel();
            }
        }
        if let (Some(limit), Some(used)) = (self.job.limits.memory, memory_used()) {
            self.watch_memory(limit, used);
        }
    }

    /// Notes whose memory it is that is used, and gives up the stage with the most when it is scarce. Its thread ends, at once or
    /// when it looks at its budget, before another one has to.
    fn watch_memory(&mut self, limit: u64, mut used: u64) {
        if self.leaving.is_some_and(|at| self.runners[at].handle.is_finished()) {
            self.leaving = None;
            give_back_memory();
            used = memory_used().unwrap_or(used);
        }
        let grown = used.saturating_sub(std::mem::replace(&mut self.used, used));
        for (at, _) in &self.active {
            self.runners[*at].grown += grown / self.active.len() as u64;
        }
        // The last stage may use what there is.
        let last = self.active.len() + self.waiting.len() <= 1;
        if used <= limit / 100 * SCARCE || last || self.leaving.is_some() {
            return;
        }
        let begun = (0..self.runners.len()).filter(|&at| {
            let runner = &self.runners[at];
            (runner.turns > 0 || runner.early) && !runner.handle.is_finished()
        });
        let Some(at) = begun.max_by_key(|&at| self.runners[at].grown) else { return };
        self.log(&format!("Memory is scarce, giving up stage {}", self.runners[at].stage.name));
        self.leaving = Some(at);
        let runner = &mut self.runners[at];
        runner.given_up = true;
        if self.active.iter().any(|(active, _)| *active == at) {
            runner.cancel.cancel();
        } else {
            self.release(at);
        }
    }

    /// Cancels what still runs and takes the statistics of those that are quick to say them.
    fn dismiss(&mut self, results: &Receiver<(usize, Result<Turn, Failure>)>, is_answered: bool) {
        for (at, _) in &self.active {
            self.runners[*at].cancel.cancel();
        }
        let farewell = if is_answered && !self.job.wanted.statistics { Duration::ZERO } else { FAREWELL };
        let deadline = Instant::now() + farewell;
        while !self.active.is_empty() {
            let Ok((at, result)) = results.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
                return;
            };
            self.active.retain(|(active, _)| *active != at);
            if let Ok(turn) = result {
                self.runners[at].last = Some(turn);
            }
        }
    }

    fn conclude(mut self, answer: Option<usize>) -> Result<Answer, PortfolioError> {
        self.log("Stopping analysis");
        for (_, failure) in &self.failures {
            if let Failure::Configuration(message) = failure {
                return Err(PortfolioError::Configuration(message.clone()));
            }
        }
        let panicked = !self.failures.is_empty();
        let outcome = match answer.and_then(|at| self.runners[at].last.as_ref()) {
            Some(turn) => turn.outcome.clone(),
            None if panicked && self.runners.iter().all(|runner| runner.last.is_none()) => {
                return Err(PortfolioError::Panic);
            }
            None => self.unknown(),
        };
        let stage = answer.map(|at| self.runners[at].stage.name.clone());
        let invariants = answer.and_then(|at| self.runners[at].last.as_ref()?.invariants.clone());
        let started = self.runners.iter().filter(|runner| runner.turns > 0 || runner.early).map(|runner| {
            let reported = runner.reported.lock().map(|reported| reported.going_round.clone());
            (runner.stage.name.clone(), reported.unwrap_or_default())
        });
        let started = started.collect();
        let turns = self.runners.into_iter().filter_map(|runner| Some((runner.stage.name, runner.last?))).collect();
        Ok(Answer { outcome, stage, turns, started, panicked, invariants, log: self.log })
    }

    /// Nobody found an answer. A construct that is not supported says most, then what the stages say.
    fn unknown(&self) -> Outcome {
        let said: Vec<&Turn> = self.runners.iter().filter_map(|runner| runner.last.as_ref()).collect();
        let reasons = || {
            said.iter().filter_map(|turn| match turn.outcome.verdict() {
                Verdict::Unknown(reason) => Some(reason),
                Verdict::True | Verdict::False(_) => None,
            })
        };
        let unsupported = reasons().find(|reason| matches!(reason, Reason::Unsupported { .. }));
        let cancelled = self.job.cancel.is_cancelled().then_some(Stop::Cancelled);
        let given_up = self.runners.iter().any(|runner| runner.given_up).then_some(Stop::MemoryOut);
        let limit = self.job.limits.check().err().or(cancelled).or(given_up);
        let reason = match (unsupported, limit) {
            (Some(reason), _) => reason.clone(),
            (None, Some(stop)) => Reason::Stopped(stop),
            (None, None) => reasons().next_back().cloned().unwrap_or(Reason::Stopped(Stop::Cancelled)),
        };
        let assumptions = said.iter().flat_map(|turn| turn.outcome.assumptions().to_vec()).collect();
        Outcome::conclude(Verdict::Unknown(reason), cpa_core::Assurance::full(), assumptions)
    }
}
