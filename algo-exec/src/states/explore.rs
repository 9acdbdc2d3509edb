// SPDX-License-Identifier: Apache-2.0
//! The search through all states, and the search for inputs that lead along a way that it found.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::Arc;

use algo_cegar::replay;
use cfa::{EdgeId, IntTy, NodeId, Op, Program, VarId};
use cpa_core::{Cx, Outcome, Progress, Reason, Stop, Verdict};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::grid::{Grid, Place};
use super::memory::Cell;
use super::state::{State, Val};
use super::tracked::Tracked;
use super::walk::{Taken, Thread, Walk, Went};
use super::way::{Leg, inputs};
use crate::playback::{GUESSED_STEPS, counterexample};
use crate::settled;

/// Steps between two looks at the budget.
const SLICE: u32 = 1 << 12;
/// States between two progress reports.
const REPORT_STATES: usize = 1024;
/// When threads are compared that came from the same state.
const WITHIN: Merging = Merging { looks: 64, all_looks: 1 << 10 };
/// When threads are compared that came from different states. That pays where several things happen in any order, but only
/// after many states have been seen.
const ACROSS: Merging = Merging { looks: 1 << 13, all_looks: 1 << 16 };
/// At least one thread of so many has to be the same as another one.
const MERGE_RATIO: u32 = 16;
/// An expansion that found so many states pauses, so that the first of many combinations of inputs lead somewhere soon.
const FAN: usize = 256;
/// At most so many expansions pause.
const MAX_PAUSED: usize = 16;
/// About how many bytes a state takes beside its own.
const OVERHEAD: usize = 96;

/// How states are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many values of a variable are kept apart at first.
    pub values: usize,
    /// How many times more in each further attempt.
    pub factor: usize,
    /// About how many bytes the states may take.
    pub max_bytes: usize,
    /// Whether values are known of no variable at loop heads at first, and of more of them (refinement) when they exclude
    /// a way to an error that does not exist; otherwise of all.
    pub refine: bool,
    /// After so many steps from a state, threads that meet in the same state are merged.
    pub merge_after: u64,
    /// After so many steps altogether, threads from different states, too.
    pub across_after: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            values: 16,
            factor: 8,
            max_bytes: 1 << 30,
            refine: false,
            merge_after: 1 << 10,
            across_after: 1 << 24,
        }
    }
}

/// Counts of what happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Explorations that were begun.
    pub attempts: u64,
    /// Variables and regions of memory whose values the last exploration knew at loop heads.
    pub tracked: usize,
    /// States of the last exploration.
    pub states: usize,
    /// Those of them that were explored further.
    pub expanded: usize,
    /// Steps in all explorations.
    pub steps: u64,
}

/// How it is found out whether it pays to compare threads.
struct Merging {
    /// How often they are compared at a location before that is decided there.
    looks: u32,
    /// The same for all locations together.
    all_looks: u32,
}

/// How a state was reached first.
struct Origin {
    parent: u32,
    taken: Taken,
}

/// The way from a state to the next loop heads.
struct Expansion {
    /// The number of the state.
    at: usize,
    /// The threads that are not there yet.
    stack: Vec<Thread>,
    steps: u64,
}

/// What an expansion leads to, apart from other states.
enum Found {
    /// Nothing; it is at its end.
    Nothing,
    /// So many states that others should be explored before more of them are looked for.
    Many,
    /// Maybe a target, behind these branches.
    Target(NodeId, Taken),
    /// Maybe an edge that is not supported, behind these branches.
    Unsupported(EdgeId, Taken),
}

/// The values that a variable has at loop heads.
#[derive(Clone, Default)]
struct Values {
    /// Those that are kept apart, as bounds.
    apart: FxHashSet<(i128, i128)>,
    /// One of them, which mostly is the next one, too.
    recent: Option<(i128, i128)>,
    /// By intervals of the grid what is between all others, and how often that grew.
    hulls: FxHashMap<(i128, i128), (i128, i128, usize)>,
}

/// Verification by exploration of states.
pub struct States {
    walk: Walk,
    grid: Grid,
    options: Options,
    limit: usize,
    seen: IndexMap<Box<[u8]>, Origin, FxBuildHasher>,
    /// The states in which threads were where branches join, and about how many bytes they take.
    met: FxHashSet<Box<[u8]>>,
    bytes_met: usize,
    /// Whether they are those of all expansions, not only of the present one.
    across: bool,
    /// After so many steps they are.
    across_after: u64,
    /// The states that were not explored further, by their locations, which take turns.
    waiting: BTreeMap<NodeId, VecDeque<u32>>,
    /// The location whose turn it was.
    turn: NodeId,
    /// Expansions that were interrupted.
    paused: VecDeque<Expansion>,
    /// When so many states were explored, a paused expansion goes on.
    resume_at: usize,
    expanded: usize,
    bytes: usize,
    /// By locations, how often it was looked up whether a thread had been there in the same state, and how often one had.
    merges: Vec<(u32, u32)>,
    /// The same for all locations, not long ago.
    all_merges: (u32, u32),
    /// The steps of an expansion before threads are merged.
    merge_after: u64,
    /// By variables.
    values: Vec<Values>,
    /// By cells of memory.
    values_of_cells: FxHashMap<Place, Values>,
    /// Whether some value was replaced by an interval around it.
    widened: bool,
    /// The targets that this exploration looks for.
    active: BTreeSet<NodeId>,
    /// The variables whose values are known at loop heads.
    tracked: Tracked,
    /// Those to which it found a way without inputs; the next one decides.
    open: BTreeSet<NodeId>,
    statistics: Statistics,
    verdict: Option<Verdict>,
}

impl States {
    /// An analysis that looks for the targets.
    pub fn new(program: Arc<Program>, targets: &BTreeSet<NodeId>, options: Options) -> Self {
        let grid = Grid::new(&program);
        let tracked = Tracked::new(&program, !options.refine);
        let walk = Walk::new(program, targets);
        let mut states = States {
            walk,
            grid,
            options,
            limit: 1,
            seen: IndexMap::default(),
            met: FxHashSet::default(),
            bytes_met: 0,
            across: false,
            across_after: options.across_after,
            waiting: BTreeMap::new(),
            turn: NodeId::new(0),
            paused: VecDeque::new(),
            resume_at: 0,
            expanded: 0,
            bytes: 0,
            merges: Vec::new(),
            all_merges: (0, 0),
            merge_after: options.merge_after,
            values: Vec::new(),
            values_of_cells: FxHashMap::default(),
            widened: false,
            active: BTreeSet::new(),
            tracked,
            open: targets.clone(),
            statistics: Statistics::default(),
            verdict: None,
        };
        states.begin(options.values.max(1));
        states
    }

    /// Counts of what happened so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            tracked: self.tracked.count(),
            states: self.seen.len(),
            expanded: self.expanded,
            ..self.statistics
        }
    }

    /// Runs until there is a verdict. After a timeout or cancellation it can be run again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let result = self.verdict.take().map_or_else(|| self.search(cx), Ok);
        settled(&mut self.verdict, result, &self.walk.program)
    }

    /// Begins an exploration for the open targets.
    fn begin(&mut self, limit: usize) {
        self.limit = limit;
        self.seen.clear();
        self.waiting.clear();
        self.paused.clear();
        self.resume_at = FAN;
        self.expanded = 0;
        self.bytes = 0;
        self.compare(false);
        self.values = vec![Values::default(); self.walk.program.vars.len()];
        self.values_of_cells.clear();
        self.widened = false;
        self.active = std::mem::take(&mut self.open);
        self.walk.look_for(&self.active);
        self.statistics.attempts += 1;
        let start = self.walk.start();
        self.seen.insert(start.pack(), Origin { parent: 0, taken: Taken::default() });
        self.waiting.entry(start.node).or_default().push_back(0);
    }

    fn search(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        loop {
            while let Some(mut expansion) = self.next() {
                if self.expanded.is_multiple_of(REPORT_STATES) {
                    let (iterations, nodes) = (self.expanded as u64, self.seen.len());
                    cx.report(&Progress::Explored { iterations, nodes, waiting: nodes.saturating_sub(self.expanded) });
                }
                if self.bytes > self.options.max_bytes {
                    self.paused.push_front(expansion);
                    return Err(Stop::GaveUp(format!("there are more than {} states", self.seen.len())));
                }
                let (at, before) = (expansion.at, expansion.steps);
                let found = cx.check().and_then(|()| self.expand(cx, &mut expansion));
                self.statistics.steps += expansion.steps - before;
                match found {
                    Ok(Found::Nothing) => self.expanded += 1,
                    Ok(Found::Many) => self.paused.push_back(expansion),
                    Ok(Found::Target(target, taken)) => {
                        // The state may lead to other targets.
                        self.paused.push_front(expansion);
                        if let Some(verdict) = self.confirm(cx, target, at, &taken)? {
                            return Ok(verdict);
                        }
                        if self.refine(cx, target, at, &taken)? {
                            self.open.append(&mut self.active);
                            self.begin(self.limit);
                            continue;
                        }
                        self.active.remove(&target);
                        self.open.insert(target);
                        self.walk.look_for(&self.active);
                    }
                    Ok(Found::Unsupported(edge, taken)) => {
                        self.paused.push_front(expansion);
                        let end = self.walk.program.edge(edge).src;
                        let refined = self.refine(cx, end, at, &taken)?;
                        if !refined && !self.widened {
                            return Ok(Verdict::Unknown(self.unsupported(edge)));
                        }
                        self.open.append(&mut self.active);
                        self.begin(if refined { self.limit } else { self.limit.saturating_mul(self.options.factor) });
                    }
                    Err(stop) => {
                        self.paused.push_front(expansion);
                        return Err(stop);
                    }
                }
            }
            if self.open.is_empty() {
                return Ok(Verdict::True);
            }
            if !self.widened {
                let text = "no inputs were found for a way to an error".to_string();
                return Ok(Verdict::Unknown(Reason::Unconfirmed(text)));
            }
            self.begin(self.limit.saturating_mul(self.options.factor));
        }
    }

    /// The expansion to go on with: that of a state at the location whose turn it is, or now and then a paused one. Of four
    /// states one is the oldest, one any, and two the newest, since some errors are near and others far.
    fn next(&mut self) -> Option<Expansion> {
        if self.waiting.is_empty() || self.expanded >= self.resume_at {
            self.resume_at = self.resume_at.max(self.expanded).saturating_mul(2);
            if let Some(paused) = self.paused.pop_front() {
                return Some(paused);
            }
        }
        let later = self.waiting.range((Bound::Excluded(self.turn), Bound::Unbounded)).next();
        let node = *later.or_else(|| self.waiting.first_key_value())?.0;
        self.turn = node;
        let queue = self.waiting.get_mut(&node)?;
        let at = match self.expanded % 4 {
            0 => queue.pop_front(),
            2 => queue.swap_remove_back(FxBuildHasher.hash_one(self.expanded) as usize % queue.len()),
            _ => queue.pop_back(),
        }? as usize;
        if queue.is_empty() {
            self.waiting.remove(&node);
        }
        let (bytes, _) = self.seen.get_index(at)?;
        let stack = vec![Thread::new(State::unpack(bytes), None)];
        Some(Expansion { at, stack, steps: 0 })
    }

    fn unsupported(&self, edge: EdgeId) -> Reason {
        let program = &self.walk.program;
        let edge = program.edge(edge);
        let construct = match &edge.op {
            Op::Unsupported { construct } => construct.to_string(),
            _ => "an operation".to_string(),
        };
        Reason::Unsupported { construct, place: program.location(edge.span).to_string() }
    }

    /// Goes from a state to the next loop heads.
    fn expand(&mut self, cx: &Cx, expansion: &mut Expansion) -> Result<Found, Stop> {
        if self.across_after <= self.statistics.steps && !self.across {
            self.compare(true);
        }
        if !self.across {
            self.forget_met();
        }
        let Expansion { at, stack, steps } = expansion;
        let (mut looked, known) = (*steps, self.seen.len());
        while let Some(mut thread) = stack.pop() {
            if self.seen.len() - known >= FAN && self.paused.len() < MAX_PAUSED {
                stack.push(thread);
                return Ok(Found::Many);
            }
            loop {
                if *steps - looked >= u64::from(SLICE) {
                    if let Err(stop) = cx.check() {
                        stack.push(thread);
                        return Err(stop);
                    }
                    looked = *steps;
                }
                let node = thread.state.node;
                if self.walk.targets[node.index()] {
                    // The thread stays: it is looked at again if there is no time now.
                    let taken = thread.taken.clone();
                    stack.push(thread);
                    return Ok(Found::Target(node, taken));
                }
                if !self.walk.relevant[node.index()] {
                    break;
                }
                if self.walk.pauses(&thread) {
                    self.reached(thread, *at);
                    break;
                }
                let joins = self.across || *steps >= self.merge_after;
                if joins && self.walk.joins[node.index()] && thread.arrived() && !self.is_new(&mut thread) {
                    break;
                }
                *steps += 1;
                let went = match self.walk.step(&mut thread, stack, None) {
                    Ok(went) => went,
                    Err(stop) => {
                        stack.push(thread);
                        return Err(stop);
                    }
                };
                match went {
                    Went::On => *steps += u64::from(self.walk.hurry(&mut thread, SLICE, joins)),
                    Went::Away => break,
                    Went::Unsupported(edge) => {
                        let taken = thread.taken.clone();
                        stack.push(thread);
                        return Ok(Found::Unsupported(edge, taken));
                    }
                }
            }
        }
        Ok(Found::Nothing)
    }

    /// From now on threads are compared with those of all expansions, or of the present one.
    fn compare(&mut self, across: bool) {
        self.across = across;
        self.forget_met();
        self.walk.find_joins();
        self.merges = vec![(0, 0); self.walk.joins.len()];
        self.all_merges = (0, 0);
    }

    fn forget_met(&mut self) {
        if self.bytes_met > 0 {
            self.met = FxHashSet::default();
            self.bytes_met = 0;
        }
    }

    /// Whether no thread was here in the same state before. Locations where hardly any thread was are no joins any more; if that
    /// is so everywhere, threads are left alone for longer.
    fn is_new(&mut self, thread: &mut Thread) -> bool {
        let node = thread.state.node.index();
        thread.state.compact();
        let state = thread.state.pack();
        self.bytes_met += state.len() + OVERHEAD / 2;
        let is_new = self.met.insert(state);
        if self.bytes_met > self.options.max_bytes / 4 {
            self.forget_met();
        }
        let Merging { looks: few, all_looks } = if self.across { ACROSS } else { WITHIN };
        let (looks, hits) = &mut self.merges[node];
        *looks += 1;
        *hits += u32::from(!is_new);
        if *looks >= few && *hits < *looks / MERGE_RATIO {
            self.walk.joins[node] = false;
        }
        let (looks, hits) = &mut self.all_merges;
        *looks += 1;
        *hits += u32::from(!is_new);
        if *looks >= all_looks {
            let pays = *hits >= *looks / MERGE_RATIO;
            self.all_merges = (0, 0);
            if !pays && self.across {
                self.across_after = self.statistics.steps.saturating_mul(4);
                self.compare(false);
            } else if !pays {
                self.merge_after = self.merge_after.saturating_mul(4);
            }
        }
        is_new
    }

    /// A thread is at the next loop head.
    fn reached(&mut self, thread: Thread, parent: usize) {
        let mut state = thread.state;
        self.tracked.forget_others(&mut state);
        state.compact();
        if self.widen(&mut state) {
            self.widened = true;
            state.compact();
        }
        if let indexmap::map::Entry::Vacant(entry) = self.seen.entry(state.pack()) {
            let mut taken = thread.taken;
            taken.branches.shrink_to_fit();
            taken.answers.shrink_to_fit();
            self.bytes += entry.key().len() + taken.bytes() + OVERHEAD;
            self.waiting.entry(state.node).or_default().push_back(entry.index() as u32);
            entry.insert(Origin { parent: parent as u32, taken });
        }
    }

    /// Replaces values that are new and of which there were too many before.
    fn widen(&mut self, state: &mut State) -> bool {
        let mut changed = false;
        for index in 0..self.walk.program.vars.len() {
            let var = VarId::new(index);
            let ty = self.walk.program.var(var).ty;
            let value = self.widened(state, Place::Var(var), ty, state.vars[index]);
            changed |= value.is_some();
            state.vars[index] = value.unwrap_or(state.vars[index]);
        }
        for index in 0..state.memory.cells.len() {
            let Cell { region, addr, ty, value } = state.memory.cells[index];
            let new = self.widened(state, Place::Cell(region, addr), ty, value);
            changed |= new.is_some();
            state.memory.cells[index].value = new.unwrap_or(value);
        }
        changed
    }

    /// The value instead of one of a place, if it is another one.
    fn widened(&mut self, state: &mut State, place: Place, ty: IntTy, value: Val) -> Option<Val> {
        let (symbol, bounds) = match value {
            Val::Any => return None,
            Val::Const(value) => (None, (value, value)),
            Val::Sym(symbol, offset) => {
                let (low, high) = state.symbols.bounds(symbol);
                (Some((symbol, offset)), (low + offset, high + offset))
            }
        };
        let around = self.around(place, bounds, ty);
        if around == bounds {
            return None;
        }
        Some(match symbol {
            Some((symbol, 0)) => {
                state.symbols.widen(symbol, around.0, around.1);
                value
            }
            Some(_) | None => state.fresh(around.0, around.1),
        })
    }

    /// The bounds themselves as long as there are few, then those of all values in the same intervals of the grid; if these
    /// grow too often, the intervals.
    fn around(&mut self, place: Place, bounds: (i128, i128), ty: IntTy) -> (i128, i128) {
        let values = match place {
            Place::Var(var) => &mut self.values[var.index()],
            Place::Cell(..) => self.values_of_cells.entry(place).or_default(),
        };
        if values.recent == Some(bounds) {
            return bounds;
        }
        let is_apart = if values.apart.len() < self.limit {
            values.apart.insert(bounds);
            true
        } else {
            values.apart.contains(&bounds)
        };
        if is_apart {
            values.recent = Some(bounds);
            return bounds;
        }
        let whole = self.grid.around(place, bounds, ty);
        let (low, high, grown) = values.hulls.entry(whole).or_insert((bounds.0, bounds.1, 0));
        if bounds.0 < *low || *high < bounds.1 {
            *grown += 1;
            (*low, *high) =
                if *grown < self.limit.saturating_mul(4) { (bounds.0.min(*low), bounds.1.max(*high)) } else { whole };
        }
        (*low, *high)
    }

    /// The counterexample along a way, if one is found.
    fn confirm(&mut self, cx: &Cx, target: NodeId, last: usize, taken: &Taken) -> Result<Option<Verdict>, Stop> {
        let values = inputs(cx, &self.walk, &self.legs(target, last, taken))?;
        let Some(values) = values else { return Ok(None) };
        let program = &self.walk.program;
        let found =
            counterexample(cx, program, target, &values, BTreeMap::new(), self.options.max_bytes, GUESSED_STEPS)?;
        Ok(found.filter(|found| replay(program, found, target).is_ok()).map(Verdict::False))
    }

    /// The way through a state to a target.
    fn legs<'a>(&'a self, target: NodeId, last: usize, taken: &'a Taken) -> Vec<Leg<'a>> {
        let mut legs = vec![Leg { end: target, taken }];
        let mut at = last;
        while let Some((bytes, origin)) = self.seen.get_index(at).filter(|_| at != 0) {
            legs.push(Leg { end: State::unpack(bytes).node, taken: &origin.taken });
            at = origin.parent as usize;
        }
        legs.reverse();
        legs
    }

    /// Tracks more variables, so that the way is excluded; says whether there are any that exclude it.
    fn refine(&mut self, cx: &Cx, target: NodeId, last: usize, taken: &Taken) -> Result<bool, Stop> {
        let chosen = self.tracked.missing(cx, &self.walk, &self.legs(target, last, taken))?;
        self.tracked.add(&chosen);
        Ok(!chosen.is_empty())
    }
}
