// SPDX-License-Identifier: Apache-2.0
//! Clauses block by block, as property-directed reachability finds them, along a path.
//!
//! Every cut has a frame, a set of clauses that hold there. A state before the last block from which the end is reached is
//! described by the literals of one way through the block (see [`justify`]); it is excluded by a clause that follows from the
//! frame before over one block, or else a state before it is to be excluded first. A clause is made from as few of the
//! literals as possible, and if it can be made such that it holds at all cuts of the same place so far, assuming itself at
//! the cut before, it is. Clauses are carried on to later cuts of the place where they hold. So the interpolants of a loop head
//! are made of the same clauses again and again, and a state with all clauses of an earlier one is covered by it. There is no
//! query about more than one block.
//!
//! Follows Bradley, *SAT-Based Model Checking without Unrolling* (VMCAI 2011), and Eén, Mishchenko, Brayton, *Efficient
//! Implementation of Property Directed Reachability* (FMCAD 2011), along a path with many places instead of a transition
//! system with one: frames need not grow from cut to cut, so a clause that does not hold at all cuts of its place is kept at
//! the one where it is needed.

mod justify;
mod relation;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::cover::worst_first;
use super::engine::{Interpolator, ItpOutcome, Task};
use super::facts::place;
use crate::solver::{Z3Config, Z3Logic};
use crate::term::TermId;
use relation::{Passage, Relation};

/// Questions to solvers for one path: so many, and more for each cut.
const MAX_QUESTIONS: usize = 200;

/// Further questions for each cut.
const QUESTIONS_PER_CUT: usize = 40;

/// Blocks that are kept on solvers.
const MAX_RELATIONS: usize = 40;

/// States with more literals than this are not described.
const MAX_LITERALS: usize = 200;

/// The longest wait is that after so many attempts in vain, each of which doubles it.
const MAX_MISSES: u32 = 8;

type Clauses = IndexSet<TermId, FxBuildHasher>;

/// The engine. It keeps the clauses of all places for the paths to come.
pub struct Frames {
    logic: Option<Z3Logic>,
    relations: IndexMap<TermId, Relation, FxBuildHasher>,
    lemmas: BTreeMap<u32, Clauses>,
    /// Clauses that do not hold behind a block (by its condition) from the states of a frame.
    stuck: FxHashSet<(TermId, TermId, TermId)>,
    /// How often the engine gave up since it last had an answer.
    misses: u32,
    /// Paths to leave to others before the next attempt.
    wait: u32,
}

impl Frames {
    /// An engine that knows nothing yet; its solvers are made for the logic.
    pub fn new(logic: Option<Z3Logic>) -> Self {
        Frames {
            logic,
            relations: IndexMap::default(),
            lemmas: BTreeMap::new(),
            stuck: FxHashSet::default(),
            misses: 0,
            wait: 0,
        }
    }

    /// The name of the solver of a block, which is made if there is none.
    fn relation(&mut self, task: &mut Task<'_>, block: usize) -> TermId {
        let formula = task.path.formulas[block].as_ref().expect("asked for blocks that can be passed only");
        // The condition alone is the name: where blocks with other values share it, the younger one stays.
        let name = formula.pc;
        if self.relations.get(&name).is_none_or(|known| known.formula != *formula) {
            let config = Z3Config { logic: self.logic, eliminate_arrays: true, ..Z3Config::default() };
            self.relations.insert(name, Relation::new(task.terms, formula.clone(), &config));
        }
        name
    }
}

impl Interpolator for Frames {
    fn name(&self) -> &'static str {
        "frames"
    }

    fn interpolate(&mut self, task: &mut Task<'_>) -> ItpOutcome {
        let cuts = task.path.len() - 1;
        if cuts == 0 {
            return ItpOutcome::GaveUp("there is nothing to explain in one block".to_owned());
        }
        if let Some(block) = task.path.formulas.iter().position(Option::is_none) {
            let cut = |i| if i < block { TermId::TRUE } else { TermId::FALSE };
            return ItpOutcome::Sequence((0..cuts).map(cut).collect());
        }
        // Where the engine does not get on, the other ones are not to wait for it each time.
        if self.wait > 0 {
            self.wait -= 1;
            return ItpOutcome::GaveUp("it was in vain before".to_owned());
        }
        let blocks: BTreeSet<TermId> = task.path.formulas.iter().flatten().map(|formula| formula.pc).collect();
        if blocks.len() > MAX_RELATIONS / 2 {
            return ItpOutcome::GaveUp("there are too many different blocks".to_owned());
        }
        if self.relations.len() > MAX_RELATIONS {
            self.relations.clear();
        }
        let frames = (0..cuts).map(|cut| {
            let holds = task.hints.cuts.get(cut).map_or(TermId::TRUE, |hint| hint.holds);
            if holds == TermId::TRUE { Clauses::default() } else { task.terms.conjuncts(holds).into_iter().collect() }
        });
        let frames: Vec<Clauses> = frames.collect();
        let places = (0..cuts).map(|cut| place(task, cut)).collect();
        let questions = MAX_QUESTIONS + QUESTIONS_PER_CUT * cuts;
        let mut search = Search { engine: self, task, frames, places, questions };
        let outcome = search.run();
        let (frames, places) = (search.frames, search.places);
        for (frame, place) in frames.iter().zip(places) {
            self.lemmas.entry(place).or_default().extend(frame.iter().copied());
        }
        for relation in self.relations.values_mut() {
            task.found.outside += std::mem::take(&mut relation.time);
        }
        match outcome {
            Ok(()) => {
                self.misses = 0;
                let parts = frames.iter().map(|frame| frame.iter().copied().collect::<Vec<_>>());
                ItpOutcome::Sequence(parts.map(|parts| task.terms.and_all(&parts)).collect())
            }
            Err(why) => {
                self.misses = (self.misses + 1).min(MAX_MISSES);
                self.wait = (1 << self.misses) / 4;
                ItpOutcome::GaveUp(why)
            }
        }
    }
}

/// The work on one path.
struct Search<'a, 'b> {
    engine: &'a mut Frames,
    task: &'a mut Task<'b>,
    /// What holds at each cut.
    frames: Vec<Clauses>,
    places: Vec<u32>,
    questions: usize,
}

/// Cuts of one place that are reached from equal places over equal blocks.
struct Group {
    /// One of the blocks.
    block: usize,
    /// The name of its solver.
    name: TermId,
    /// The place where it begins; none for the start of the path.
    from: Option<u32>,
    /// The clauses that hold at all the cuts before.
    before: Vec<TermId>,
    /// Whether the cuts before belong to the same place.
    is_loop: bool,
}

/// What became of a set of states.
enum Blocked {
    /// A clause excludes it.
    Yes,
    /// It is reached from these.
    From(Vec<TermId>),
}

/// What a clause has to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Inductive at all cuts of the place so far.
    Place,
    /// Right at one cut.
    Cut,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<(), String> {
        self.carry();
        let last = self.frames.len();
        loop {
            let before: Vec<TermId> = self.frame(last - 1);
            let Some(bad) = self.predecessor(last, &before, &[])? else { break };
            let mut open = vec![(bad, last - 1)];
            while let Some((states, cut)) = open.last() {
                let (states, cut) = (states.clone(), *cut);
                match self.block(&states, cut)? {
                    Blocked::Yes => {
                        open.pop();
                    }
                    Blocked::From(_) if cut == 0 => return Err("the path has an execution".to_owned()),
                    Blocked::From(states) => open.push((states, cut - 1)),
                }
            }
        }
        self.carry();
        Ok(())
    }

    fn frame(&self, cut: usize) -> Vec<TermId> {
        self.frames[cut].iter().copied().collect()
    }

    /// What holds before a block.
    fn before(&self, block: usize) -> Vec<TermId> {
        block.checked_sub(1).map(|cut| self.frame(cut)).unwrap_or_default()
    }

    fn pass(&mut self, block: usize, before: &[TermId], after: &[TermId]) -> Result<Passage, String> {
        if self.questions == 0 || self.task.limits.interrupted() {
            return Err("it takes too many questions".to_owned());
        }
        self.questions -= 1;
        let name = self.engine.relation(self.task, block);
        let relation = &mut self.engine.relations[&name];
        Ok(relation.pass(self.task.terms, before, after, self.task.attempt))
    }

    /// States with all of `before` from which the block leads to states with all of `after`; none if there are no such states.
    fn predecessor(
        &mut self,
        block: usize,
        before: &[TermId],
        after: &[TermId],
    ) -> Result<Option<Vec<TermId>>, String> {
        match self.pass(block, before, after)? {
            Passage::Blocked(_) => Ok(None),
            Passage::Open(state) => self.describe(block, after, &state).map(Some),
            Passage::Unknown(why) => Err(why),
        }
    }

    /// The states from which the block leads to `after` in the way in which it does from one state.
    fn describe(&mut self, block: usize, after: &[TermId], state: &justify::State) -> Result<Vec<TermId>, String> {
        let formula = self.task.path.formulas[block].as_ref().expect("it was passed");
        let mut goals = vec![formula.pc];
        goals.extend(after.iter().map(|&t| formula.instantiate(self.task.terms, t)));
        match justify::cube(self.task.terms, &goals, state) {
            Some(literals) if literals.len() <= MAX_LITERALS => Ok(literals),
            Some(_) => Err("a state has too many literals".to_owned()),
            None => Err("a number is too large".to_owned()),
        }
    }

    /// Excludes states at a cut.
    fn block(&mut self, states: &[TermId], cut: usize) -> Result<Blocked, String> {
        let groups = self.groups(cut);
        if let Some(needed) = self.excluded(states, cut, Scope::Place, &groups)? {
            let clause = self.generalise(needed, cut, Scope::Place, &groups)?;
            let place = self.places[cut];
            for earlier in 0..=cut {
                if self.places[earlier] == place {
                    self.frames[earlier].insert(clause);
                }
            }
            return Ok(Blocked::Yes);
        }
        let before = self.before(cut);
        if let Some(states) = self.predecessor(cut, &before, states)? {
            return Ok(Blocked::From(states));
        }
        let Some(needed) = self.excluded(states, cut, Scope::Cut, &groups)? else {
            return Err("the solver contradicts itself".to_owned());
        };
        let clause = self.generalise(needed, cut, Scope::Cut, &groups)?;
        self.frames[cut].insert(clause);
        Ok(Blocked::Yes)
    }

    /// How the cuts of a place up to the given one are reached; the way to that one comes first.
    fn groups(&mut self, cut: usize) -> Vec<Group> {
        let place = self.places[cut];
        let mut groups: Vec<Group> = Vec::new();
        for earlier in (0..=cut).rev().filter(|&c| self.places[c] == place) {
            let name = self.engine.relation(self.task, earlier);
            let from = earlier.checked_sub(1).map(|c| self.places[c]);
            match groups.iter_mut().find(|group| (group.from, group.name) == (from, name)) {
                Some(group) => {
                    let frame = earlier.checked_sub(1).map(|c| &self.frames[c]);
                    group.before.retain(|clause| frame.is_some_and(|frame| frame.contains(clause)));
                }
                None => {
                    let before = self.before(earlier);
                    groups.push(Group { block: earlier, name, from, before, is_loop: from == Some(place) });
                }
            }
        }
        groups
    }

    /// Whether a clause excludes the states in the given scope; if so, literals that suffice for that.
    fn excluded(
        &mut self,
        states: &[TermId],
        cut: usize,
        scope: Scope,
        groups: &[Group],
    ) -> Result<Option<Vec<TermId>>, String> {
        let mut needed = vec![false; states.len()];
        let mut note = |passage| match passage {
            Passage::Blocked(core) => {
                core.into_iter().for_each(|i| needed[i] = true);
                Ok(true)
            }
            Passage::Open(_) => Ok(false),
            Passage::Unknown(why) => Err(why),
        };
        match scope {
            Scope::Cut => {
                let before = self.before(cut);
                if !note(self.pass(cut, &before, states)?)? {
                    return Ok(None);
                }
            }
            Scope::Place => {
                let clause = self.clause(states);
                for group in groups {
                    let mut before = group.before.clone();
                    if group.is_loop {
                        before.push(clause);
                    }
                    if !note(self.pass(group.block, &before, states)?)? {
                        return Ok(None);
                    }
                }
            }
        }
        let needed: Vec<TermId> = states.iter().zip(needed).filter(|&(_, n)| n).map(|(&l, _)| l).collect();
        if needed.len() < states.len() && scope == Scope::Place && groups.iter().any(|group| group.is_loop) {
            // The clause that was assumed was weaker than the one that is left.
            return match self.excluded_again(&needed, groups)? {
                true => Ok(Some(needed)),
                false => Ok(Some(states.to_vec())),
            };
        }
        Ok(Some(needed))
    }

    /// Whether the clause of these literals is inductive.
    fn excluded_again(&mut self, states: &[TermId], groups: &[Group]) -> Result<bool, String> {
        let clause = self.clause(states);
        for group in groups {
            let mut before = group.before.clone();
            if group.is_loop {
                before.push(clause);
            }
            if !matches!(self.pass(group.block, &before, states)?, Passage::Blocked(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The clause that excludes states.
    fn clause(&mut self, states: &[TermId]) -> TermId {
        let negated: Vec<TermId> = states.iter().map(|&l| self.task.terms.not(l)).collect();
        self.task.terms.or_all(&negated)
    }

    /// A clause of few literals that is right in the given scope.
    fn generalise(
        &mut self,
        mut states: Vec<TermId>,
        cut: usize,
        scope: Scope,
        groups: &[Group],
    ) -> Result<TermId, String> {
        let known = self.task.known(cut);
        worst_first(self.task.terms, &mut states, &known);
        let mut at = 0;
        while at < states.len() && states.len() > 1 {
            let mut fewer = states.clone();
            fewer.remove(at);
            match self.excluded(&fewer, cut, scope, groups)? {
                Some(needed) => states = needed,
                None => at += 1,
            }
        }
        Ok(self.clause(&states))
    }

    /// Takes clauses over to later cuts of their place, and from other paths to the first one, where they hold.
    fn carry(&mut self) {
        for cut in 0..self.frames.len() {
            let place = self.places[cut];
            let source = match (0..cut).rev().find(|&c| self.places[c] == place) {
                Some(earlier) => Some(&self.frames[earlier]),
                None => self.engine.lemmas.get(&place),
            };
            let Some(source) = source else { continue };
            let before = self.before(cut);
            let from = self.task.terms.and_all(&before);
            let mut candidates: Vec<TermId> =
                source.iter().copied().filter(|c| !self.frames[cut].contains(c)).collect();
            let name = self.engine.relation(self.task, cut);
            candidates.retain(|&clause| !self.engine.stuck.contains(&(name, from, clause)));
            if candidates.is_empty() {
                continue;
            }
            let relation = &mut self.engine.relations[&name];
            let holding = relation.implied(self.task.terms, &before, &candidates, self.task.attempt);
            let mut holds = vec![false; candidates.len()];
            holding.into_iter().for_each(|i| holds[i] = true);
            for (clause, holds) in candidates.into_iter().zip(holds) {
                if holds {
                    self.frames[cut].insert(clause);
                } else {
                    self.engine.stuck.insert((name, from, clause));
                }
            }
        }
    }
}
