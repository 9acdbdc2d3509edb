// SPDX-License-Identifier: Apache-2.0
//! The CPA++ algorithm: explores the abstract states of a composite, resumably.
//!
//! Follows *A Unifying View*, section 3.4, Algorithm 2, with these refinements that do not change what it computes: a
//! state that was merged is not compared any further, because merge-agree makes the merged state stand for it; a node
//! remembers which of its steps are left, so a resumed run repeats none; covered states are kept as leaves of the graph, so
//! that they can be expanded when their covering breaks.

use cfa::Program;
use cfa::ids::NodeId;

use crate::arg::{Arg, ArgId};
use crate::composite::{Composite, Precision, State};
use crate::cpa::{Merge, PartitionKey};
use crate::cx::{Cx, Progress, Stop};
use crate::exploration::Exploration;
use crate::refine::ForcedCovering;
use crate::rounds::rounds;
use crate::step::Step;

/// How many iterations lie between two progress reports.
const REPORT_INTERVAL: u64 = 1024;
/// How often a path goes round in a loop that is worth reporting; a proof rarely needs as many rounds.
const MANY_ROUNDS: u64 = 8;

/// Why a run of the algorithm ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Nothing is left to explore.
    Finished,
    /// The abort predicate stopped at this node.
    Target(ArgId),
}

/// The abort predicate that stops at every target.
pub fn at_target(arg: &Arg, id: ArgId) -> bool {
    arg.target(id).is_some()
}

/// The abort predicate that never stops.
pub fn never(_arg: &Arg, _id: ArgId) -> bool {
    false
}

/// Explores until nothing is left or `abort` stops at a node that is new or has changed. The run can be resumed in any case,
/// also after an error: whatever was not finished waits again.
pub fn run(
    cx: &mut Cx,
    cpa: &mut Composite,
    exploration: &mut Exploration,
    abort: &mut dyn FnMut(&Arg, ArgId) -> bool,
    mut fcover: Option<&mut dyn ForcedCovering>,
) -> Result<Status, Stop> {
    exploration.start(cx, cpa)?;
    loop {
        // Before a node is taken from the waitlist, so that nothing is lost.
        cx.check()?;
        let Some(id) = exploration.pop() else {
            return Ok(Status::Finished);
        };
        exploration.statistics.iterations += 1;
        exploration.statistics.sum_waiting += exploration.waiting() as u64;
        report(cx, cpa.program(), exploration, id);
        match try_cover(cx, cpa, exploration, &mut fcover, id) {
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => {
                exploration.requeue_steps(id, []);
                return Err(stop);
            }
        }
        if let Some(target) = expand(cx, cpa, exploration, abort, id)? {
            return Ok(Status::Target(target));
        }
    }
}

/// Reports progress once in a while; `id` is the node that is explored next.
fn report(cx: &mut Cx, program: &Program, exploration: &mut Exploration, id: ArgId) {
    let iterations = exploration.statistics.iterations;
    if !iterations.is_multiple_of(REPORT_INTERVAL) || !cx.has_listener() {
        return;
    }
    let (nodes, waiting) = (exploration.arg().len(), exploration.waiting());
    cx.report(&Progress::Explored { iterations, nodes, waiting });
    if iterations < exploration.looked {
        return;
    }
    let mut loops = rounds(program, exploration.arg(), id);
    loops.retain(|&(_, rounds)| rounds >= MANY_ROUNDS);
    cx.report(&Progress::GoingRound { loops });
    // A path may be as long as there are nodes. Waiting for as many iterations keeps the costs of looking linear.
    exploration.looked = iterations + nodes as u64;
}

/// Takes the next waiting node that no other one covers, for algorithms that expand nodes in a way of their own. All its
/// steps are to be explored or made to wait again.
pub fn next(cx: &mut Cx, cpa: &mut Composite, exploration: &mut Exploration) -> Result<Option<ArgId>, Stop> {
    loop {
        cx.check()?;
        let Some(id) = exploration.pop() else { return Ok(None) };
        exploration.statistics.iterations += 1;
        report(cx, cpa.program(), exploration, id);
        match try_cover(cx, cpa, exploration, &mut None, id) {
            Ok(true) => {}
            Ok(false) => return Ok(Some(id)),
            Err(stop) => {
                exploration.requeue_steps(id, []);
                return Err(stop);
            }
        }
    }
}

/// Explores one step of a node until it is done or a target is found. What is left waits again.
pub fn explore(
    cx: &mut Cx,
    cpa: &mut Composite,
    exploration: &mut Exploration,
    id: ArgId,
    step: Step,
) -> Result<Option<ArgId>, Stop> {
    let state = exploration.arg().state(id).clone();
    let precision = exploration.arg().precision(id).clone();
    let mut explorer = Explorer { cx, cpa, exploration, abort: &mut at_target, id, step };
    match explorer.explore(&state, &precision) {
        Ok(Explored::All) => Ok(None),
        Ok(Explored::Until { target, complete }) => {
            if !complete {
                exploration.requeue_steps(id, [step]);
            }
            Ok(Some(target))
        }
        Err(stop) => {
            exploration.requeue_steps(id, [step]);
            Err(stop)
        }
    }
}

/// What became of a successor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Added {
    /// It is a new node.
    New(ArgId),
    /// It was merged into this node, which changed.
    Merged(ArgId),
    /// This node already stands for it.
    Known(ArgId),
    /// It is a new node that is covered.
    Covered(ArgId),
}

impl Added {
    /// The node that stands for the successor.
    pub fn node(self) -> ArgId {
        let (Added::New(id) | Added::Merged(id) | Added::Known(id) | Added::Covered(id)) = self;
        id
    }
}

/// Adds an adjusted successor that was computed elsewhere; `parent` is its predecessor and the step that led to it.
pub fn add_successor(
    cx: &mut Cx,
    cpa: &mut Composite,
    exploration: &mut Exploration,
    (state, precision): (State, Precision),
    location: NodeId,
    (id, step): (ArgId, Step),
) -> Result<Added, Stop> {
    exploration.statistics.successors += 1;
    let mut explorer = Explorer { cx, cpa, exploration, abort: &mut at_target, id, step };
    let known = explorer.children_of_step();
    match explorer.is_known(&known, &state)? {
        Some(child) => Ok(Added::Known(child)),
        None => explorer.handle(state, precision, location),
    }
}

/// Tries to avoid the expansion of a node by covering it.
fn try_cover(
    cx: &mut Cx,
    cpa: &mut Composite,
    exploration: &mut Exploration,
    fcover: &mut Option<&mut dyn ForcedCovering>,
    id: ArgId,
) -> Result<bool, Stop> {
    let node = exploration.arg().node(id);
    if !node.coverable || !node.children.is_empty() {
        return Ok(false);
    }
    let key = node.key;
    if node.uncovered {
        if let Some(by) = exploration.find_cover(cx, cpa, id, false)? {
            exploration.cover(id, by);
            exploration.statistics.covered += 1;
            return Ok(true);
        }
        exploration.found_no_cover(id);
    }
    if let Some(fcover) = fcover {
        let candidates: Vec<ArgId> = exploration.covering_candidates(key).filter(|&other| other < id).collect();
        if let Some(forced) = fcover.cover(cx, exploration.arg(), id, &candidates)? {
            if !candidates.contains(&forced.by) {
                return Err(Stop::Internal(format!("{id} was covered by force by {}, no candidate", forced.by)));
            }
            exploration.strengthen(cpa, &forced.strengthened);
            exploration.cover(id, forced.by);
            exploration.statistics.forced += 1;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Explores the steps that are left for a node; stops early at a node where `abort` says so.
fn expand(
    cx: &mut Cx,
    cpa: &mut Composite,
    exploration: &mut Exploration,
    abort: &mut dyn FnMut(&Arg, ArgId) -> bool,
    id: ArgId,
) -> Result<Option<ArgId>, Stop> {
    if exploration.arg().root() == Some(id) && exploration.arg().target(id).is_some() && abort(exploration.arg(), id) {
        exploration.requeue(id);
        return Ok(Some(id));
    }
    // The node's own state and precision may change while it is expanded, by a merge into itself.
    let state = exploration.arg().state(id).clone();
    let precision = exploration.arg().precision(id).clone();
    let steps = exploration.take_steps(cpa, id);
    let before = exploration.statistics.successors;
    for (index, &step) in steps.iter().enumerate() {
        let mut explorer = Explorer { cx, cpa, exploration, abort, id, step };
        match explorer.explore(&state, &precision) {
            Ok(Explored::All) => {}
            // A step that stops early pushes the node back: what was not explored waits again.
            Ok(Explored::Until { target, complete }) => {
                let rest = if complete { index + 1 } else { index };
                exploration.requeue_steps(id, steps[rest..].iter().copied());
                return Ok(Some(target));
            }
            Err(stop) => {
                exploration.requeue_steps(id, steps[index..].iter().copied());
                return Err(stop);
            }
        }
    }
    let statistics = &mut exploration.statistics;
    statistics.max_successors = statistics.max_successors.max(statistics.successors - before);
    Ok(None)
}

/// How far the exploration of a step went.
enum Explored {
    /// All successors were handled.
    All,
    /// Only until the abort predicate stopped; `complete` if that was at the last successor.
    Until { target: ArgId, complete: bool },
}

/// The exploration of one step of one node.
struct Explorer<'a> {
    cx: &'a mut Cx,
    cpa: &'a mut Composite,
    exploration: &'a mut Exploration,
    abort: &'a mut dyn FnMut(&Arg, ArgId) -> bool,
    id: ArgId,
    step: Step,
}

impl Explorer<'_> {
    fn explore(&mut self, state: &State, precision: &Precision) -> Result<Explored, Stop> {
        let location = self.step.destination(self.cpa.program());
        let successors = self.cpa.transfer(self.cx, state, self.step, precision)?;
        let count = successors.len();
        let known: Vec<ArgId> = self.children_of_step();
        for (index, successor) in successors.into_iter().enumerate() {
            self.exploration.statistics.successors += 1;
            let adjusted = self.cpa.adjust(self.cx, successor, precision, location, Some(self.step))?;
            let Some((successor, precision)) = adjusted else { continue };
            if self.is_known(&known, &successor)?.is_some() {
                continue;
            }
            if let Added::New(changed) | Added::Merged(changed) = self.handle(successor, precision, location)?
                && (self.abort)(self.exploration.arg(), changed)
            {
                return Ok(Explored::Until { target: changed, complete: index + 1 == count });
            }
        }
        Ok(Explored::All)
    }

    fn children_of_step(&self) -> Vec<ArgId> {
        let children = self.exploration.arg().children(self.id).iter();
        children.filter(|(_, step)| *step == self.step).map(|&(child, _)| child).collect()
    }

    /// The child that is this successor, if the step was explored before.
    fn is_known(&mut self, known: &[ArgId], successor: &State) -> Result<Option<ArgId>, Stop> {
        for &child in known {
            let arg = self.exploration.arg();
            if arg.is_alive(child) && self.cpa.equal(self.cx, successor, arg.state(child))? {
                return Ok(Some(child));
            }
        }
        Ok(None)
    }

    /// Merges, covers or adds a successor.
    fn handle(&mut self, state: State, precision: Precision, location: NodeId) -> Result<Added, Stop> {
        let key = self.cpa.partition(&state);
        let parent = (self.id, self.step);
        if let Some((other, merged)) = self.find_merge(key, &state, &precision)? {
            let Some(merged) = merged else {
                self.exploration.absorb(self.cpa, other, &precision, parent);
                return Ok(Added::Known(other));
            };
            self.exploration.merge_into(self.cpa, other, merged, &precision, parent);
            return Ok(Added::Merged(other));
        }
        if self.cpa.coverable(&state)
            && let Some(by) = self.find_cover(key, &state)?
        {
            return Ok(Added::Covered(self.exploration.add_covered(
                self.cpa,
                (state, precision),
                location,
                parent,
                by,
            )));
        }
        Ok(Added::New(self.exploration.add(self.cpa, state, precision, location, Some(parent))))
    }

    /// The most recent reached node that the state can be merged with, and what that changes its state to.
    fn find_merge(
        &mut self,
        key: PartitionKey,
        state: &State,
        precision: &Precision,
    ) -> Result<Option<(ArgId, Option<State>)>, Stop> {
        if !self.cpa.merges() {
            return Ok(None);
        }
        // Components with fingerprints do not merge, so they agree only if the reached state covers the new one.
        for other in self.exploration.reached().greater(self.cpa, key, state) {
            match self.cpa.merge(self.cx, state, self.exploration.arg().state(other), precision)? {
                Merge::Separate => {}
                Merge::Contained => return Ok(Some((other, None))),
                Merge::Changed(merged) => return Ok(Some((other, Some(merged)))),
            }
        }
        Ok(None)
    }

    /// The most recent reached node that covers the state.
    fn find_cover(&mut self, key: PartitionKey, state: &State) -> Result<Option<ArgId>, Stop> {
        for other in self.exploration.covering_states(self.cpa, key, state) {
            if self.cpa.leq(self.cx, state, self.exploration.arg().state(other))? {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }
}
