// SPDX-License-Identifier: Apache-2.0
//! Bounded model checking with iterative deepening and forward condition.
//!
//! Follows *A Unifying View*, section 4.1 and Algorithm 3 without its lines 15 to 23: for each bound one query on the
//! disjunction of the formulas of all target states; if it is satisfiable, the run in the model is replayed with concrete
//! values before FALSE is said. If no state that the bound stopped is reachable, all executions were seen and the answer is
//! TRUE. Target states of earlier rounds need not be asked again, and states at the bound that no execution reaches are not
//! explored further.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use algo_cegar::replay;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Arg, ArgId, Assurance, Counting, Cx, Outcome, Progress, Reason, Stop, Target, Verdict};
use cpa_predicate::{Manager, PredicateOptions};
use smt::Value;

use crate::query::{Answer, ask_unrolled};
use crate::trace::trace;
use crate::unrolling::{Start, Unrolling};

/// How the bound grows from round to round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Increase {
    /// There is one round.
    Never,
    /// By one.
    ByOne,
    /// To twice its value.
    Double,
}

/// How bounded model checking works.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// What the bound counts.
    pub counting: Counting,
    /// The bound of the first round.
    pub first: u32,
    /// The greatest bound; none for no limit.
    pub last: Option<u32>,
    /// How the bound grows.
    pub increase: Increase,
    /// Whether the forward condition is checked.
    pub forward_condition: bool,
    /// Whether target states are checked; without, only the forward condition can give an answer.
    pub check_targets: bool,
    /// Whether iterations of loops that change nothing that is read later are left out.
    pub changes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            counting: Counting::Iterations,
            first: 1,
            last: None,
            increase: Increase::Double,
            forward_condition: true,
            check_targets: true,
            changes: true,
        }
    }
}

impl Options {
    /// The bound after `k`; none if there is no further round.
    pub fn next(&self, k: u32) -> Option<u32> {
        let next = match self.increase {
            Increase::Never => return None,
            Increase::ByOne => k.checked_add(1)?,
            Increase::Double => k.checked_mul(2)?,
        };
        match self.last {
            Some(last) if k >= last => None,
            Some(last) => Some(next.min(last)),
            None => Some(next),
        }
    }
}

/// Where the wall time went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Unrolling and building formulas.
    pub formula: Duration,
    /// Satisfiability of the target states.
    pub targets: Duration,
    /// The forward condition.
    pub forward: Duration,
}

/// The time after which the question whether single states at the bound are reachable is left open.
const PRUNING_TIMEOUT: Duration = Duration::from_secs(2);

/// How many states at the bound are shown to be reachable one by one before the rest is taken to be.
const PRUNING_MODELS: usize = 8;

/// Bounded model checking of one program.
pub struct Bmc {
    unrolling: Unrolling,
    options: Options,
    times: Times,
    /// The bound of the last round.
    k: u32,
    rounds: u32,
    /// Why a proof would be none: the first query without answer, run that could not be replayed, or unsupported construct.
    open: Option<Reason>,
}

impl Bmc {
    /// Looks for runs to `targets`.
    pub fn new(
        program: &Arc<Program>,
        targets: &BTreeSet<NodeId>,
        manager: &Rc<RefCell<Manager>>,
        options: Options,
    ) -> Self {
        let predicate = PredicateOptions { changes: options.changes, ..PredicateOptions::default() };
        let unrolling = Unrolling::with_options(program, targets, manager, Start::Entry, options.counting, predicate);
        Self { unrolling, options, times: Times::default(), k: 0, rounds: 0, open: None }
    }

    /// The unrolled program.
    pub fn unrolling(&self) -> &Unrolling {
        &self.unrolling
    }

    /// Where the time went.
    pub fn times(&self) -> Times {
        self.times
    }

    /// The bound of the last round.
    pub fn bound(&self) -> u32 {
        self.k
    }

    /// The number of rounds so far.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The unrolled program as a graph.
    pub fn graph(&self) -> &Arg {
        self.unrolling.arg()
    }

    /// How bounded model checking works.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Why nothing can be proved any more, if that is so.
    pub fn open(&self) -> Option<&Reason> {
        self.open.as_ref()
    }

    /// Runs until there is a verdict or the greatest bound is reached. After a timeout or cancellation it can be called
    /// again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let verdict = self.search(cx).unwrap_or_else(|stop| Verdict::Unknown(Reason::Stopped(stop)));
        Outcome::conclude(verdict, Assurance::full(), Vec::new())
    }

    fn search(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        let mut k = self.k.max(self.options.first);
        loop {
            if let Some(verdict) = self.round(cx, k)? {
                return Ok(verdict);
            }
            match self.options.next(k) {
                Some(next) => k = next,
                None => return Ok(Verdict::Unknown(self.incomplete(k))),
            }
        }
    }

    /// Why there is no verdict after all rounds.
    pub fn incomplete(&self, k: u32) -> Reason {
        self.open.clone().unwrap_or_else(|| Reason::NotSound(format!("loops were unrolled at most {k} times")))
    }

    /// One round with the bound `k`; none if neither a violation nor a proof was found.
    fn round(&mut self, cx: &mut Cx, k: u32) -> Result<Option<Verdict>, Stop> {
        match self.violation(cx, k)? {
            Some(verdict) => Ok(Some(verdict)),
            None => self.completeness(cx),
        }
    }

    /// The first half of a round with the bound `k`: a violation, if one was found.
    pub fn violation(&mut self, cx: &mut Cx, k: u32) -> Result<Option<Verdict>, Stop> {
        let begin = cx.elapsed();
        self.k = k;
        cx.report(&Progress::Unrolled { bound: k });
        // The visit of a loop head before the first iteration is none, as in the paper's counters that begin at -1.
        let bound = match self.options.counting {
            Counting::Iterations => k,
            Counting::Visits => k + 1,
        };
        self.unrolling.extend(cx, bound)?;
        let loops = self.unrolling.unfinished_loops().into_iter().map(|head| (head, k.into())).collect();
        cx.report(&Progress::GoingRound { loops });
        if self.unrolling.frontier().is_empty() && self.options.check_targets && self.open.is_none() {
            cx.report(&Progress::LastQuestion);
        }
        self.rounds += 1;
        let built = cx.elapsed();
        self.times.formula += built.saturating_sub(begin);
        let verdict = if self.options.check_targets { self.check_targets(cx)? } else { None };
        self.times.targets += cx.elapsed().saturating_sub(built);
        Ok(verdict)
    }

    /// The second half of a round: a verdict, if nothing is left to unroll.
    pub fn completeness(&mut self, cx: &mut Cx) -> Result<Option<Verdict>, Stop> {
        let checked = cx.elapsed();
        let complete = self.forward_condition(cx)?;
        self.times.forward += cx.elapsed().saturating_sub(checked);
        if !complete {
            return Ok(None);
        }
        Ok(Some(match &self.open {
            None if self.options.check_targets => Verdict::True,
            None => Verdict::Unknown(Reason::NotSound("targets were not checked".to_string())),
            Some(reason) => Verdict::Unknown(reason.clone()),
        }))
    }

    /// Whether the targets of the last round are reachable.
    fn check_targets(&mut self, cx: &mut Cx) -> Result<Option<Verdict>, Stop> {
        let mut violations = self.unrolling.violations();
        let manager = Rc::clone(self.unrolling.manager());
        let manager = &mut *manager.borrow_mut();
        while !violations.is_empty() {
            let conditions: Vec<_> = violations.iter().map(|&id| self.unrolling.condition(id)).collect();
            let any = manager.terms.or_all(&conditions);
            let unrolling = &self.unrolling;
            let read =
                |manager: &mut Manager, model: &smt::solver::Model<'_>| trace(manager, unrolling, &violations, model);
            match ask_unrolled(cx, manager, &[any], None, read)? {
                Answer::Unsat => break,
                Answer::Unknown(why) => {
                    self.note(Reason::Stopped(Stop::GaveUp(format!("the solver gave no answer: {why}"))));
                    break;
                }
                Answer::Sat(found) => {
                    let Some((target, run)) = found? else {
                        self.note(Reason::Unconfirmed("the solver's model describes no run".to_string()));
                        break;
                    };
                    let Some(Target::Violation(node)) = self.unrolling.arg().target(target) else {
                        return Err(Stop::Internal(format!("{target} is no violation")));
                    };
                    match replay(self.unrolling.program(), &run, *node) {
                        Ok(()) => return Ok(Some(Verdict::False(run))),
                        Err(disbelief) => self.note(Reason::Unconfirmed(disbelief.to_string())),
                    }
                    // Other targets may have runs that can be replayed.
                    violations.retain(|&id| id != target);
                }
            }
        }
        self.check_unsupported(cx, manager)?;
        Ok(None)
    }

    /// Notes an unsupported construct that is reachable or may be.
    fn check_unsupported(&mut self, cx: &mut Cx, manager: &mut Manager) -> Result<(), Stop> {
        if self.open.is_some() {
            return Ok(());
        }
        let targets = self.unrolling.unsupported();
        let conditions: Vec<_> = targets.iter().map(|&id| self.unrolling.condition(id)).collect();
        let any = manager.terms.or_all(&conditions);
        let read = |manager: &mut Manager, model: &smt::solver::Model<'_>| {
            conditions.iter().position(|&c| model.eval(&manager.terms, c) == Some(Value::Bool(true)))
        };
        let reached = match ask_unrolled(cx, manager, &[any], None, read)? {
            Answer::Unsat => return Ok(()),
            Answer::Sat(reached) => reached.unwrap_or(0),
            Answer::Unknown(_) => 0,
        };
        self.note(self.unsupported(targets[reached]));
        Ok(())
    }

    fn unsupported(&self, target: ArgId) -> Reason {
        let program = self.unrolling.program();
        match self.unrolling.arg().target(target) {
            Some(Target::Unsupported { edge, construct }) => Reason::Unsupported {
                construct: construct.to_string(),
                place: program.location(program.edges[edge.index()].span).to_string(),
            },
            _ => Reason::Stopped(Stop::Internal(format!("{target} is no unsupported construct"))),
        }
    }

    fn note(&mut self, reason: Reason) {
        self.open.get_or_insert(reason);
    }

    /// Whether no execution is longer than what was unrolled. Forgets states at the bound that no execution reaches.
    fn forward_condition(&mut self, cx: &mut Cx) -> Result<bool, Stop> {
        if self.unrolling.frontier().is_empty() {
            return Ok(true);
        }
        if !self.options.forward_condition {
            return Ok(false);
        }
        let manager = Rc::clone(self.unrolling.manager());
        let manager = &mut *manager.borrow_mut();
        let frontier: Vec<ArgId> = self.unrolling.frontier().to_vec();
        let mut open: Vec<(ArgId, smt::TermId)> =
            frontier.iter().map(|&id| (id, self.unrolling.condition(id))).collect();
        let mut reachable: BTreeSet<ArgId> = BTreeSet::new();
        for number in 0..=PRUNING_MODELS {
            let conditions: Vec<_> = open.iter().map(|&(_, condition)| condition).collect();
            let any = manager.terms.or_all(&conditions);
            // The first question may prove the program, the others only save work.
            let timeout = (number > 0).then_some(PRUNING_TIMEOUT);
            let read = |manager: &mut Manager, model: &smt::solver::Model<'_>| {
                let mut found = Vec::new();
                for &(id, condition) in &open {
                    if model.eval(&manager.terms, condition) == Some(Value::Bool(true)) {
                        found.push(id);
                    }
                }
                found
            };
            match ask_unrolled(cx, manager, &[any], timeout, read)? {
                Answer::Unsat => {
                    self.unrolling.retain_frontier(|id| reachable.contains(&id));
                    return Ok(self.unrolling.frontier().is_empty());
                }
                Answer::Sat(found) if !found.is_empty() => {
                    reachable.extend(&found);
                    open.retain(|(id, _)| !reachable.contains(id));
                    if open.is_empty() {
                        break;
                    }
                }
                Answer::Sat(_) | Answer::Unknown(_) => break,
            }
        }
        Ok(false)
    }
}
