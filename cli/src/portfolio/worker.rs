// SPDX-License-Identifier: Apache-2.0
//! The thread of a stage: it runs the analysis in turns, and waits between them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Arg, ArgId, Budget, CancelToken, Cx, Invariants, Outcome, Reason, Stop, Verdict};
use report::graph::Graph;
use smt::solver::ThreadClock;

use super::Wanted;
use crate::args::DumpFormat;
use crate::limits::{Limits, shorter, thread_time};
use crate::output;
use crate::plan::Stage;
use crate::progress::Reported;
use crate::registry::analysis;

/// Explored graphs are drawn with at most so many nodes.
const MAX_DRAWN: usize = 1500;

/// What a stage says at the end of a turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What came out.
    pub outcome: Outcome,
    /// What the user should know about how the configuration was used.
    pub notes: Vec<String>,
    /// Labels and values of its statistics.
    pub statistics: Vec<(String, String)>,
    /// CPU time of all its turns.
    pub cpu: Duration,
    /// What a proof knows, if that was asked for.
    pub invariants: Option<Arc<Invariants>>,
    /// Loop heads with the greatest numbers of states at one of them, if that was asked for.
    pub busiest: Vec<(NodeId, usize)>,
    /// A picture of the explored graph, if that was asked for.
    pub picture: Option<Graph>,
    /// The explored graph as text, likewise.
    pub graph: Option<String>,
    /// The same in the language of Graphviz, likewise.
    pub graph_as_dot: Option<String>,
    /// The predicates, likewise.
    pub predicates: Option<String>,
}

impl Turn {
    /// That of a stage that waits in the middle of its run.
    fn waiting() -> Self {
        let verdict = Verdict::Unknown(Reason::Stopped(Stop::Timeout));
        Turn {
            outcome: Outcome::conclude(verdict, cpa_core::Assurance::full(), Vec::new()),
            notes: Vec::new(),
            statistics: Vec::new(),
            cpu: thread_time(),
            invariants: None,
            busiest: Vec::new(),
            picture: None,
            graph: None,
            graph_as_dot: None,
            predicates: None,
        }
    }
}

/// Why a stage has no outcome.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// Its options do not fit.
    Configuration(String),
    /// An invariant is broken; the panic hook knows which.
    Panic,
}

/// What a stage's thread shall do next; it ends when nobody can order anything any more.
pub(super) struct Order {
    pub(super) turn: Option<Duration>,
    pub(super) cancel: CancelToken,
}

impl Order {
    /// The CPU time of the stage's thread, which asks for it, at the end of the turn.
    fn end(&self) -> Option<Duration> {
        self.turn.map(|turn| thread_time() + turn)
    }
}

/// How long a look at the clocks of CPU time is enough: each one is a system call, and analyses ask for every state.
const LOOK: Duration = Duration::from_micros(500);

/// The time that a stage may use in one turn, in the run's limits.
struct TurnBudget {
    limits: Limits,
    end: Cell<Option<Duration>>,
    /// When the clocks are looked at again.
    next: Cell<Instant>,
    /// Waits for the next turn, for a stage that does so in the middle of its run.
    wait: Option<Box<dyn Fn() -> Result<Order, Stop>>>,
}

impl TurnBudget {
    fn new(limits: Limits, order: &Order) -> Self {
        TurnBudget { limits, end: Cell::new(order.end()), next: Cell::new(Instant::now()), wait: None }
    }
}

impl Budget for TurnBudget {
    fn check(&self) -> Result<(), Stop> {
        let now = Instant::now();
        if now < self.next.get() {
            return Ok(());
        }
        self.next.set(now + LOOK);
        self.limits.check()?;
        match self.end.get() {
            Some(end) if thread_time() >= end => {
                let wait = self.wait.as_ref().ok_or(Stop::Timeout)?;
                self.end.set(wait()?.end());
                self.limits.check()
            }
            _ => Ok(()),
        }
    }

    fn remaining(&self) -> Option<Duration> {
        shorter(self.end.get().map(|end| end.saturating_sub(thread_time())), self.limits.remaining())
    }

    fn elapsed(&self) -> Duration {
        thread_time()
    }
}

pub(super) struct Worker {
    pub(super) clock: Arc<OnceLock<Option<ThreadClock>>>,
    pub(super) waits: Arc<AtomicBool>,
    pub(super) stage: Stage,
    pub(super) program: Arc<Program>,
    pub(super) targets: BTreeSet<NodeId>,
    pub(super) limits: Limits,
    pub(super) status: Arc<Mutex<String>>,
    pub(super) reported: Arc<Mutex<Reported>>,
    pub(super) wanted: Wanted,
}

impl Worker {
    pub(super) fn run(self, orders: Receiver<Order>, report: impl Fn(Result<Turn, Failure>) + Clone + 'static) {
        let orders = Rc::new(orders);
        // Nothing is made before the stage's first turn.
        let Ok(mut order) = orders.recv() else { return };
        self.clock.get_or_init(ThreadClock::of_this_thread);
        let program = Arc::clone(&self.program);
        let mut analysis = match analysis(program, self.targets.clone(), &self.stage.config) {
            Ok(analysis) => analysis,
            Err(message) => return report(Err(Failure::Configuration(message))),
        };
        self.waits.store(analysis.restarts(), Ordering::Relaxed);
        loop {
            let mut budget = TurnBudget::new(self.limits.clone(), &order);
            if analysis.restarts() {
                let (report, orders) = (report.clone(), Rc::clone(&orders));
                budget.wait = Some(Box::new(move || {
                    report(Ok(Turn::waiting()));
                    orders.recv().map_err(|_| Stop::Cancelled)
                }));
            }
            let mut cx = Cx::new(Box::new(budget), order.cancel.clone());
            self.show_progress(&mut cx);
            let outcome = analysis.run(&mut cx);
            // Nobody waits for what a stage says that was released while it waited.
            if orders.try_recv().is_err_and(|error| error == TryRecvError::Disconnected) {
                return;
            }
            let proved = self.wanted.invariants && *outcome.verdict() == Verdict::True;
            report(Ok(Turn {
                outcome,
                invariants: proved.then(|| Arc::new(analysis.invariants())),
                busiest: if self.wanted.busiest { busiest(&self.program, analysis.graph()) } else { Vec::new() },
                picture: analysis.graph().filter(|_| self.wanted.picture).map(|graph| picture(&self.program, graph)),
                graph: analysis.graph().zip(self.wanted.graph).map(|(graph, format)| output::graph(graph, format)),
                graph_as_dot: analysis
                    .graph()
                    .filter(|_| self.wanted.graph_as_dot)
                    .map(|graph| output::graph(graph, DumpFormat::Dot)),
                predicates: self.wanted.predicates.then(|| analysis.predicates()).flatten(),
                notes: analysis.notes().to_vec(),
                statistics: analysis.statistics(),
                cpu: thread_time(),
            }));
            match orders.recv() {
                Ok(next) => order = next,
                Err(_) => return,
            }
        }
    }

    fn show_progress(&self, cx: &mut Cx) {
        let shown = Arc::clone(&self.status);
        let (name, program) = (self.stage.name.clone(), Arc::clone(&self.program));
        let reported = Arc::clone(&self.reported);
        cx.on_progress(move |progress| {
            let Ok(mut reported) = reported.lock() else { return };
            reported.update(progress);
            if let Ok(mut status) = shown.lock() {
                *status = format!("{name}: {}", reported.line(&program));
            }
        });
    }
}

/// The loop heads with the most states, up to three.
fn busiest(program: &Program, graph: Option<&Arg>) -> Vec<(NodeId, usize)> {
    let mut counts: BTreeMap<NodeId, usize> = BTreeMap::new();
    let locations = graph.into_iter().flat_map(|graph| graph.ids().map(|id| graph.location(id)));
    for node in locations.filter(|node| program.loops.heads.contains(node)) {
        *counts.entry(node).or_default() += 1;
    }
    let mut counts: Vec<(NodeId, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts.truncate(3);
    counts
}

/// The graph as it is drawn: as many nodes as can be looked at, in the order in which they were made.
fn picture(program: &Program, graph: &Arg) -> Graph {
    let ids: Vec<ArgId> = graph.ids().take(MAX_DRAWN).collect();
    let positions: BTreeMap<ArgId, usize> = ids.iter().enumerate().map(|(at, &id)| (id, at)).collect();
    let mut drawn = Graph { omitted: graph.len() - ids.len(), ..Graph::default() };
    for (at, &id) in ids.iter().enumerate() {
        let location = graph.location(id);
        let edge = program.node(location).leaving.first();
        let place = edge.map(|&edge| program.location(program.edge(edge).span));
        // Paths are long, and blocks small.
        let name = |file: &str| file.rsplit('/').next().unwrap_or(file).to_string();
        let place = place.map(|at| format!(" {}:{}:{}", name(&at.file), at.line, at.column)).unwrap_or_default();
        let target = graph.target(id).is_some();
        drawn.nodes.push((format!("{id} at {location}{place}{}", if target { " (target)" } else { "" }), target));
        let parents = graph.parents(id).iter().filter_map(|(parent, _)| positions.get(parent));
        drawn.edges.extend(parents.map(|&parent| (parent, at, false)));
        let cover = graph.covered_by(id).and_then(|by| positions.get(&by));
        drawn.edges.extend(cover.map(|&by| (at, by, true)));
    }
    drawn
}
