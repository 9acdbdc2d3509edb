// SPDX-License-Identifier: Apache-2.0
//! Verification with ranges that hold in all rounds of loops.
//!
//! This is abstract interpretation with intervals (Cousot and Cousot, *Abstract Interpretation: A Unified Lattice Model*,
//! POPL 1977): states at the heads of loops grow until they are inductive, and shrink again afterwards. Between the heads
//! paths are followed as runs with ranges of inputs do, with a bounded number of states at each location (trace
//! partitioning, Mauborgne and Rival, ESOP 2005). Where that proves nothing, the inputs before the first loop can be divided, so
//! that each part has states of its own. It proves only: what it cannot exclude need not be possible.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cfa::Program;
use cfa::ids::{NodeId, VarId};
use cfa::ir::{ExprKind, FloatOp, Op};
use cpa_core::{Cx, Outcome, Stop, Verdict};

use super::boxes::{Input, InputBox};
use super::gave_up;
use super::run::{Path, Runner};
use super::segment::{self, Flags, Missed, Place, Segment, flags, grouped};
use super::state::State;
use super::value::{Floats, Range, bits, number};
use super::widening::{Thresholds, Widening};
use crate::settled;

/// The states of one head that are kept apart.
const CASES: usize = 32;
/// How often a state takes the values of others before its bounds are moved to thresholds.
const PLAIN: u32 = 2;
/// How often that may be before its bounds are moved as far as possible.
const LADDER: u32 = 40;
/// How often the states shrink.
const SHRINKINGS: u32 = 12;
/// Into how many pieces the ranges of one, two or three variables are divided that are multiplied, when there is no proof
/// otherwise.
const PIECES: [u32; 3] = [64, 16, 8];
/// The greatest number of parts of inputs that were not looked at, and how often these may be divided.
const PARTS: (usize, u32) = (4096, 64);
/// The greatest number of steps for one part.
const PART_STEPS: u64 = 150_000;
/// The greatest number of steps.
const STEPS: u64 = 10_000_000;
/// The greatest number of heads with different calls.
const HEADS: usize = 4096;

/// A state of a head; none stands for the start of the program.
type Source = Option<(Place, Flags)>;

/// By which variables the states of a head are kept apart.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Apart {
    /// By flags and counters, as if loops with few rounds were unrolled.
    #[default]
    Counters,
    /// By flags, when these were too many.
    Flags,
    /// Not at all, when these were, too.
    Nothing,
}

/// What is known at the head of a loop.
#[derive(Clone, Default)]
struct Head {
    /// The states, and how often each of them grew.
    states: BTreeMap<Flags, (State, u32)>,
    apart: Apart,
}

/// Verification by an inductive state for each head of a loop.
pub struct Fixpoint {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    relevant: BTreeSet<NodeId>,
    locals: Vec<Vec<VarId>>,
    /// The variables that only take constants.
    flags: Vec<VarId>,
    /// Also those that are counted up or down from constants.
    counters: Vec<VarId>,
    thresholds: Thresholds,
    start: Option<Path>,
    /// The inputs before the first loop that were not looked at; none if they stay together.
    parts: Option<Vec<InputBox>>,
    /// Which of them can be divided.
    asked: BTreeSet<(Input, VarId)>,
    heads: BTreeMap<Place, Head>,
    /// The states that are new.
    open: BTreeSet<Source>,
    /// What paths from a state met.
    missed: BTreeMap<Source, Missed>,
    shrinkings: u32,
    /// Variables that are multiplied or divided by others.
    factors: Vec<VarId>,
    /// Whether their ranges are divided.
    divide: bool,
    steps: u64,
    /// The steps before the present part.
    begun: u64,
    verdict: Option<Verdict>,
}

impl Fixpoint {
    /// An analysis that looks for the targets.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        let relevant = program.leading_to(&targets);
        let (locals, thresholds) = (program.locals(), Thresholds::new(&program));
        let (flags, counters) = (flags(&program, false), flags(&program, true));
        let (heads, open, missed) = (BTreeMap::new(), BTreeSet::from([None]), BTreeMap::new());
        let (start, shrinkings, steps, verdict) = (None, 0, 0, None);
        let (factors, divide) = (factors(&program), false);
        Fixpoint {
            program,
            targets,
            relevant,
            locals,
            flags,
            counters,
            thresholds,
            start,
            parts: None,
            asked: BTreeSet::new(),
            heads,
            open,
            missed,
            shrinkings,
            factors,
            divide,
            steps,
            begun: 0,
            verdict,
        }
    }

    /// An analysis that divides the inputs before the first loop.
    pub fn by_parts(program: Arc<Program>, targets: BTreeSet<NodeId>) -> Self {
        Fixpoint { parts: Some(vec![InputBox::default()]), divide: true, ..Fixpoint::new(program, targets) }
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Runs until there is a verdict. After a timeout or cancellation it can be run again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let result = self.verdict.take().map_or_else(|| self.solve(cx), Ok);
        settled(&mut self.verdict, result, &self.program)
    }

    fn solve(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        let program = Arc::clone(&self.program);
        loop {
            let verdict = self.attempt(cx)?;
            match &mut self.parts {
                None if verdict == Verdict::True || self.divide || self.factors.is_empty() => return Ok(verdict),
                None => self.divide = true,
                Some(parts) => {
                    let Some(part) = parts.pop() else { return Ok(verdict) };
                    if verdict != Verdict::True {
                        let asked: Vec<(Input, VarId)> = self.asked.iter().copied().collect();
                        match part.halves(&program, &asked) {
                            Some(halves) if parts.len() < PARTS.0 && part.divisions() < PARTS.1 => parts.extend(halves),
                            _ => return Ok(verdict),
                        }
                    }
                    if parts.is_empty() {
                        return Ok(Verdict::True);
                    }
                }
            }
            (self.heads, self.open, self.missed) = (BTreeMap::new(), BTreeSet::from([None]), BTreeMap::new());
            (self.asked, self.shrinkings, self.begun) = (BTreeSet::new(), 0, self.steps);
        }
    }

    fn attempt(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        let program = Arc::clone(&self.program);
        if self.start.is_none() {
            self.start = Some(self.runner(&program).beginning().0);
        }
        loop {
            if !self.grow(cx, &program)? {
                let missed = self.missed.values().next().map(|missed| missed.text(&program));
                return Ok(gave_up(missed.as_deref().unwrap_or("there are too many places for ranges")));
            }
            // The states are inductive: nothing was met on any path from any of them.
            let Some(&missed) = self.missed.values().next() else { return Ok(Verdict::True) };
            if self.shrinkings == SHRINKINGS || !self.shrink(cx, &program)? {
                return Ok(gave_up(&missed.text(&program)));
            }
            self.shrinkings += 1;
        }
    }

    fn runner<'a>(&'a self, program: &'a Program) -> Runner<'a> {
        Runner { program, targets: &self.targets, relevant: &self.relevant, locals: &self.locals }
    }

    /// States grow until each path from one of them to the next head ends in one of them; no if that takes too long.
    fn grow(&mut self, cx: &mut Cx, program: &Program) -> Result<bool, Stop> {
        while let Some(source) = self.next_open(program) {
            let Segment { arrived, missed, .. } = self.follow(cx, program, &source)?;
            self.open.remove(&source);
            match missed {
                Some(missed) => self.missed.insert(source, missed),
                None => self.missed.remove(&source),
            };
            for (place, states) in arrived {
                self.arrive(program, &place, states);
            }
            // Parts for which it does not go well at once are better divided.
            let is_bad = self.parts.is_some() && (!self.missed.is_empty() || self.steps > self.begun + PART_STEPS);
            if self.heads.len() > HEADS || self.steps > STEPS || is_bad {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Inner loops come first.
    fn next_open(&self, program: &Program) -> Option<Source> {
        let depth = |source: &Source| {
            let Some(((calls, node), _)) = source else { return 0 };
            let around = |node| program.loops.around(node).count();
            around(*node) + calls.iter().map(|&call| around(program.edge(call).src)).sum::<usize>()
        };
        self.open.iter().max_by_key(|source| depth(source)).cloned()
    }

    /// The states of a head become those that arrive there when all others are as they were; returns whether one of them
    /// is smaller now.
    fn shrink(&mut self, cx: &mut Cx, program: &Program) -> Result<bool, Stop> {
        let mut arrived: BTreeMap<Place, Vec<State>> = BTreeMap::new();
        for source in self.sources() {
            for (place, mut states) in self.follow(cx, program, &source)?.arrived {
                arrived.entry(place).or_default().append(&mut states);
            }
        }
        let mut smaller = arrived.len() < self.heads.len();
        for (place, head) in &mut self.heads {
            let states = arrived.remove(place).unwrap_or_default();
            let vars = [&self.counters[..], &self.flags, &[]][head.apart as usize];
            let mut grouped = grouped(program, vars, states);
            for (flags, (state, grown)) in std::mem::take(&mut head.states) {
                let Some(new) = grouped.remove(&flags) else {
                    smaller = true;
                    continue;
                };
                let mut new = new;
                new.forget_forms();
                smaller |= !new.covers(program, &state);
                head.states.insert(flags, (new, grown));
            }
        }
        self.open = self.sources().collect();
        self.missed.clear();
        Ok(smaller)
    }

    fn sources(&self) -> impl Iterator<Item = Source> + use<> {
        let states = |(place, head): (&Place, &Head)| -> Vec<Source> {
            head.states.keys().map(|flags| Some((place.clone(), flags.clone()))).collect()
        };
        let heads: Vec<Source> = self.heads.iter().flat_map(states).collect();
        std::iter::once(None).chain(heads)
    }

    /// Adds states to those of a head; those that stand for more then are open.
    fn arrive(&mut self, program: &Program, place: &Place, states: Vec<State>) {
        let head = self.heads.entry(place.clone()).or_default();
        let vars = |apart| [&self.counters[..], &self.flags, &[]][apart as usize];
        for (flags, new) in grouped(program, vars(head.apart), states) {
            let Some((state, grown)) = head.states.get_mut(&flags) else {
                let mut new = new;
                new.forget_forms();
                head.states.insert(flags.clone(), (new, 0));
                self.open.insert(Some((place.clone(), flags)));
                continue;
            };
            if state.covers(program, &new) {
                continue;
            }
            state.unite(
                program,
                &new,
                match *grown {
                    0..PLAIN => Widening::None,
                    PLAIN..LADDER => Widening::Thresholds(&self.thresholds),
                    _ => Widening::Limits,
                },
            );
            *grown += 1;
            self.open.insert(Some((place.clone(), flags)));
        }
        while head.states.len() > CASES {
            head.apart = if head.apart == Apart::Counters { Apart::Flags } else { Apart::Nothing };
            let all = std::mem::take(&mut head.states).into_values().map(|(state, _)| state).collect();
            let all = grouped(program, vars(head.apart), all);
            head.states = all.into_iter().map(|(flags, state)| (flags, (state, 0))).collect();
            let elsewhere = |source: &Source| source.as_ref().is_none_or(|(other, _)| other != place);
            self.open.retain(elsewhere);
            self.missed.retain(|source, _| elsewhere(source));
            self.open.extend(head.states.keys().map(|flags| Some((place.clone(), flags.clone()))));
        }
    }

    /// Follows all paths from a state to the next heads.
    fn follow(&mut self, cx: &mut Cx, program: &Program, source: &Source) -> Result<Segment, Stop> {
        let firsts = match source {
            None => vec![self.start.clone().expect("made first")],
            Some((place, flags)) => {
                let path = |state: State| Path::new(place.1, place.0.clone(), state);
                self.divided(program, self.heads[place].states[flags].0.clone()).into_iter().map(path).collect()
            }
        };
        let mut all = Segment::default();
        let any = InputBox::default();
        // Only what happens before the first loop happens once.
        let part =
            self.parts.as_ref().and_then(|parts| parts.last()).filter(|_| source.is_none()).unwrap_or(&any).clone();
        for first in firsts {
            let segment = segment::follow(cx, &self.runner(program), &part, &self.flags, first)?;
            self.steps += segment.steps;
            if source.is_none() {
                self.asked.extend(&segment.asked);
            }
            all.missed = all.missed.or(segment.missed);
            for (place, mut states) in segment.arrived {
                all.arrived.entry(place).or_default().append(&mut states);
            }
        }
        Ok(all)
    }

    /// The same executions as several states, in which variables that are multiplied have small ranges.
    fn divided(&self, program: &Program, state: State) -> Vec<State> {
        if !self.divide {
            return vec![state];
        }
        let mut numbers = BTreeSet::new();
        let wide = |&var: &VarId| match state.get(var).range {
            Range::Float(floats)
                if !floats.nan && (floats.high - floats.low).is_normal() && floats.low < floats.high =>
            {
                numbers.insert(state.get(var).number).then_some((var, floats))
            }
            _ => None,
        };
        let wide: Vec<(VarId, Floats)> = self.factors.iter().filter_map(wide).take(PIECES.len()).collect();
        let Some(&count) = wide.len().checked_sub(1).and_then(|more| PIECES.get(more)) else { return vec![state] };
        let mut states = vec![state];
        for (var, Floats { ty, low, high, nan }) in wide {
            let width = (high - low) / f64::from(count);
            // The ends of neighbours meet, and those of all are the ends of the range.
            let at = |piece: u32| match piece {
                _ if piece == count => high,
                _ => number(ty, bits(ty, low + width * f64::from(piece))).clamp(low, high),
            };
            let pieces = |state: &State| -> Vec<State> {
                let narrowed = |piece: u32| {
                    let mut state = state.clone();
                    let range = Floats { ty, low: at(piece), high: at(piece + 1), nan };
                    state.narrow(program, var, Range::Float(range));
                    state
                };
                (0..count).map(narrowed).collect()
            };
            states = states.iter().flat_map(pieces).collect();
        }
        states
    }
}

/// The floating-point variables in products and quotients of which no operand is a constant, and those that these are
/// copies of.
fn factors(program: &Program) -> Vec<VarId> {
    let exprs = &program.exprs;
    let mut found = BTreeSet::new();
    for id in exprs.ids() {
        if let ExprKind::Float(FloatOp::Mul | FloatOp::Div, _, left, right) = exprs.get(id).kind
            && exprs.as_const(left).is_none()
            && exprs.as_const(right).is_none()
        {
            found.extend([left, right].into_iter().flat_map(|operand| exprs.vars(operand)));
        }
    }
    loop {
        let before = found.len();
        let mut copy = |var: VarId, value| {
            if let ExprKind::Var(from) = exprs.get(value).kind
                && found.contains(&var)
            {
                found.insert(from);
            }
        };
        for edge in &program.edges {
            match &edge.op {
                Op::Assign { var, value } => copy(*var, *value),
                Op::Call { callee, args, .. } => {
                    program.func(*callee).params.iter().zip(args).for_each(|(&param, &arg)| copy(param, arg));
                }
                _ => {}
            }
        }
        if found.len() == before {
            break;
        }
    }
    found.into_iter().filter(|&var| program.var(var).float.is_some()).collect()
}
