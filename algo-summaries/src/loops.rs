// SPDX-License-Identifier: Apache-2.0
//! Summaries of loops: closed forms are guessed from one iteration, and shown by induction.
//!
//! An iteration is executed from the state at its start, in which every variable and every array that the loop may change is
//! a closed form in the number `t` of iterations before it, or unknown as a function of `t`. What holds at the first iteration holds by
//! the shape of the forms; that the forms at `t` lead to those at `t + 1` is shown on every path through the body, with
//! exact arithmetic, and forms for which it cannot be shown are dropped. So guessing may be careless.
//!
//! Recurrences as in Farzan, Kincaid, *Compositional Recurrence Analysis* (2015), for arrays as in Henzinger, Hottelier, Kovács,
//! Rybalchenko, *Aligators for Arrays* (2010).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::ids::{FuncId, LoopId, NodeId, RegionId, VarId};
use cfa::ir::Op;
use cfa::{IntTy, Program};
use cpa_core::Stop;
use rustc_hash::FxHashSet;

use crate::arrays::Write;
use crate::eval::gave_up;
use crate::extrema::Extremum;
use crate::guess::{Round, Unsolved};
use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, Pool};
use crate::relations::Relation;
use crate::state::{Cells, Extent, Named, ObjectId, State};
use crate::walk::{Scope, Walked, Walker};

/// The most iterations that are executed to guess.
const GUESSES: usize = 8;
/// The most attempts to show what was guessed.
const ATTEMPTS: usize = 8;

/// How often a loop is begun again because it makes objects.
const FAMILIES: usize = 4;

/// How closed forms are guessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guessing {
    /// As if nothing wrapped around.
    Careless,
    /// From exact values.
    Exact,
    /// As if nothing wrapped around before the end: the closed form is wrapped.
    Wrapped,
}

/// Objects that a loop makes.
type Made = BTreeMap<ObjectId, Extent>;

/// Ways out of a loop, and states at targets in it.
pub(crate) type Exits = (Vec<(NodeId, State)>, Vec<State>);

/// What is known about an array at the start of iteration `t`.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// The contents before the loop with what the iterations wrote.
    Layers(Vec<Write>),
    /// The contents before the loop with new elements at positions that do not change: closed forms, where they are known.
    Elements(Vec<(Poly, Option<Poly>)>),
}

/// The closed forms of a loop; what is missing is unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solution {
    pub(crate) vars: BTreeMap<VarId, Poly>,
    pub(crate) cells: BTreeMap<Cells, Form>,
    /// What holds of elements of arrays without a closed form.
    pub(crate) relations: Vec<Relation<Cells>>,
    /// Variables without a closed form that hold the least or the greatest value seen.
    pub(crate) extrema: Vec<Extremum>,
    /// What is at most 0 at the start of every iteration, and grows with their number.
    pub(crate) limits: Vec<Poly>,
}

/// What a loop may change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) vars: BTreeSet<VarId>,
    pub(crate) regions: BTreeSet<RegionId>,
}

/// What the edges of a loop and the functions called there may change.
fn changes(program: &Program, body: &FxHashSet<NodeId>) -> Changes {
    let mut changes = Changes::default();
    let mut nodes: Vec<NodeId> = body.iter().copied().collect();
    let mut called: BTreeSet<FuncId> = BTreeSet::new();
    while let Some(node) = nodes.pop() {
        for edge in &program.node(node).leaving {
            let op = &program.edge(*edge).op;
            changes.vars.extend(op.written());
            match op {
                Op::Alloc { region, .. } | Op::Store { region, .. } | Op::Zero { region, .. } => {
                    changes.regions.insert(*region);
                }
                Op::Call { callee, .. } => {
                    changes.vars.extend(program.func(*callee).params.iter().copied());
                    if called.insert(*callee) {
                        let ids = program.node_ids();
                        nodes.extend(ids.filter(|node| program.node(*node).func == *callee));
                    }
                }
                Op::Assign { .. } | Op::Havoc { .. } | Op::Load { .. } => {}
                Op::Skip | Op::Assume { .. } | Op::Free { .. } | Op::Unsupported { .. } => {}
            }
        }
    }
    changes
}

/// A loop that is being summarised: where it is, what the state before it is, what it may change.
pub(crate) struct Subject<'s> {
    pub(crate) scope: &'s Scope,
    pub(crate) before: &'s State,
    pub(crate) vars: &'s BTreeSet<VarId>,
    pub(crate) cells: Vec<Cells>,
    /// The number of iterations before the present one.
    pub(crate) time: Atom,
}

impl Walker<'_> {
    /// Passes a loop: all ways out of it, with the states there.
    pub(crate) fn summarise(&mut self, state: State, id: LoopId) -> Result<Exits, Stop> {
        let program = self.program;
        let found = program.loops.get(id);
        if !found.reducible {
            return gave_up("a loop has several entries");
        }
        let scope = Scope { head: found.head, body: found.body.iter().copied().collect(), depth: state.calls.len() };
        if !self.manner.peel {
            return self.iterate(&state, &scope);
        }
        let mut first = state;
        first.marks.push(scope.head);
        let mut walked = self.walk(scope.head, first, Some(&scope))?;
        for (_, state) in &mut walked.exits {
            state.marks.pop();
        }
        let (mut exits, mut hits) = (walked.exits, walked.hits);
        for mut state in walked.back {
            state.marks.pop();
            let (more_exits, more_hits) = self.iterate(&state, &scope)?;
            exits.extend(more_exits);
            hits.extend(more_hits);
        }
        Ok((exits, hits))
    }

    fn iterate(&mut self, before: &State, scope: &Scope) -> Result<Exits, Stop> {
        let changes = match self.changes.get(&scope.head) {
            Some(changes) => Rc::clone(changes),
            None => {
                let changes = Rc::new(changes(self.program, &scope.body));
                self.changes.insert(scope.head, Rc::clone(&changes));
                changes
            }
        };
        let name = self.names.name(Named::Iteration(scope.head), before);
        let time = self.pool.atom(AtomKind::Iteration(name));
        let mut before = before.clone();
        for _ in 0..FAMILIES {
            let mut cells = Vec::new();
            for region in &changes.regions {
                let objects = self.fixed_objects(*region).chain(before.objects.keys().copied());
                cells.extend(objects.map(|object| (object, *region)));
            }
            let subject = Subject { scope, before: &before, vars: &changes.vars, cells, time };
            self.iterations.push(time);
            let result = self.solve(&subject);
            self.iterations.pop();
            match result? {
                Ok(solved) => return self.leave(&subject, solved),
                Err(made) => before.objects.extend(made),
            }
        }
        gave_up("the objects that a loop makes could not be found")
    }

    /// The objects that the states of a walk have and those before the loop do not, or with other sizes.
    fn made(&self, subject: &Subject, walked: &Walked) -> Made {
        let others = walked.exits.iter().map(|(_, state)| state).chain(&walked.hits);
        let objects = walked.back.iter().chain(others).flat_map(|state| &state.objects);
        let new = objects.filter(|(object, extent)| subject.before.objects.get(object) != Some(extent));
        new.map(|(object, extent)| (*object, extent.clone())).collect()
    }

    /// Finds closed forms, and walks along the body once more with those that are shown. If the loop makes objects of which
    /// the state before it does not know, those are the result.
    fn solve(&mut self, subject: &Subject) -> Result<Result<Solved, Made>, Stop> {
        let exact = !self.guess;
        let mut solution = Solution::default();
        let mut dropped = Failed::default();
        let mut attempts = 0;
        let mut solved = None;
        for manner in [Guessing::Careless, Guessing::Exact, Guessing::Wrapped] {
            let mut failed = Failed::default();
            while attempts < ATTEMPTS {
                attempts += 1;
                self.set_guess(manner != Guessing::Exact);
                let guessed = self.guess_all(subject, manner, &failed, exact, &mut solution)?;
                self.set_guess(!exact);
                let last = match guessed {
                    Ok(Some(last)) if !exact => Ok(last),
                    Ok(_) => self.round(subject, &solution)?,
                    Err(made) => Err(made),
                };
                let last = match last {
                    Ok(last) => last,
                    Err(made) => return Ok(Err(made)),
                };
                if !exact || !self.refute(subject, &last.start, &last.walked.back, &mut solution, &mut failed)? {
                    let (base, told) = (last.start.facts.len(), last.unsolved.told);
                    solved = Some(Solved { walked: last.walked, base, told, solution: solution.clone() });
                    break;
                }
            }
            dropped.add(failed);
            if !exact || !dropped.lacks(&solution) {
                break;
            }
        }
        solved.map_or_else(|| gave_up("closed forms of a loop could not be shown"), |solved| Ok(Ok(solved)))
    }

    /// Begins or ends to guess.
    pub(crate) fn set_guess(&mut self, guess: bool) {
        self.guess = guess;
        self.prover.coarse = guess;
    }

    /// Walks along the body with the closed forms that are known; ends with new objects, if there are any.
    fn round(&mut self, subject: &Subject, solution: &Solution) -> Result<Result<Pass, Made>, Stop> {
        let (start, unsolved) = self.state_at(subject, solution)?;
        let walked = self.iteration(subject.scope, start.clone())?;
        let made = self.made(subject, &walked);
        Ok(if made.is_empty() { Ok(Pass { start, unsolved, walked }) } else { Err(made) })
    }

    /// Guesses until nothing new is found; the last walk along the body if it was made with all guesses. Ends with new
    /// objects, if there are any.
    fn guess_all(
        &mut self,
        subject: &Subject,
        manner: Guessing,
        failed: &Failed,
        exact: bool,
        solution: &mut Solution,
    ) -> Result<Result<Option<Pass>, Made>, Stop> {
        for _ in 0..GUESSES {
            let pass = match self.round(subject, solution)? {
                Ok(pass) => pass,
                Err(made) => return Ok(Err(made)),
            };
            if pass.walked.back.is_empty() {
                // There is one iteration at most, and before it is as before the loop.
                for var in subject.vars.iter().filter(|var| !failed.vars.contains(var)) {
                    if let Some(old) = subject.before.vars.get(var) {
                        solution.vars.entry(*var).or_insert_with(|| old.clone());
                    }
                }
                for cells in subject.cells.iter().filter(|cells| !failed.cells.contains(cells)) {
                    solution.cells.entry(*cells).or_insert_with(|| Form::Layers(Vec::new()));
                }
                break;
            }
            let base = pass.start.facts.len();
            let round = Round { unsolved: &pass.unsolved, failed, manner, base };
            if !self.guess_more(subject, &pass.walked.back, &round, solution)? {
                if exact {
                    self.prover.coarse = false;
                    self.guess_limits(subject, &pass.walked.back, &round, solution)?;
                    self.guess_relations(subject, &pass.walked.back, round.base, failed, solution)?;
                    self.guess_extrema(subject, &pass.walked.back, &round, solution)?;
                    if self.program.loops.heads.iter().any(|head| self.is_within(subject, *head)) {
                        self.guess_extrema_within(subject, failed, solution)?;
                    }
                }
                return Ok(Ok(Some(pass)));
            }
        }
        Ok(Ok(None))
    }

    /// The state at the start of iteration `t`, and what is unknown there.
    pub(crate) fn state_at(&mut self, subject: &Subject, solution: &Solution) -> Result<(State, Unsolved), Stop> {
        let (head, before) = (subject.scope.head, subject.before);
        let mut state = before.clone();
        let mut unsolved = Unsolved::default();
        self.know_extrema(subject, solution, &mut state)?;
        unsolved.told = state.facts.len();
        for var in subject.vars {
            let value = match solution.vars.get(var).cloned() {
                Some(value) => {
                    self.know_range(&mut state, &value, self.program.var(*var).ty)?;
                    value
                }
                None => {
                    let value = self.value_at(subject, *var);
                    unsolved.atoms.extend(value.as_atom());
                    value
                }
            };
            state.vars.insert(*var, value);
        }
        for cells in &subject.cells {
            let old = self.contents(before, *cells);
            let ty = self.cell_type(*cells);
            let array = match solution.cells.get(cells) {
                None => {
                    let name = self.names.name(Named::ContentsAt(head, *cells), before);
                    let parameters = self.parameters();
                    let array = self.pool.intern_array(ArrayKind::Unknown(name, parameters, ty));
                    unsolved.arrays.insert(array);
                    array
                }
                Some(Form::Layers(writes)) => {
                    let mut array = old;
                    for write in writes {
                        array = self.layer_at(array, write, subject.time)?;
                    }
                    array
                }
                Some(Form::Elements(elements)) => {
                    let mut array = old;
                    for (at, (index, value)) in elements.iter().enumerate() {
                        let value = match value {
                            Some(value) => value.clone(),
                            None => {
                                let value = self.unknown(Named::ElementAt(head, *cells, at), before, ty);
                                unsolved.atoms.extend(value.as_atom());
                                value
                            }
                        };
                        array = self.pool.intern_array(ArrayKind::Store(array, index.clone(), value));
                    }
                    array
                }
            };
            state.memory.insert(*cells, array);
        }
        for relation in &solution.relations {
            self.relate(&mut state, relation)?;
        }
        self.know_limits(subject, solution, &mut state)?;
        Ok((state, unsolved))
    }

    /// Whether a location is the head of a loop within the loop.
    fn is_within(&self, subject: &Subject, head: NodeId) -> bool {
        head != subject.scope.head && subject.scope.body.contains(&head)
    }

    /// The unknown value of a variable at the start of an iteration.
    pub(crate) fn value_at(&mut self, subject: &Subject, var: VarId) -> Poly {
        self.unknown(Named::VariableAt(subject.scope.head, var), subject.before, self.program.var(var).ty)
    }

    /// Adds that the closed form of a variable has values of its type only.
    fn know_range(&mut self, state: &mut State, form: &Poly, ty: IntTy) -> Result<(), Stop> {
        if !self.guess && !self.pool.has_address(form) {
            let above = self.pool.at_most(&Poly::constant(ty.min()), form)?;
            let below = self.pool.at_most(form, &Poly::constant(ty.max()))?;
            state.know(&self.pool, above);
            state.know(&self.pool, below);
        }
        Ok(())
    }

    /// The type that elements are taken to have.
    pub(crate) fn cell_type(&self, cells: Cells) -> IntTy {
        IntTy { bits: self.program.region(cells.1).width.unwrap_or(8), signed: self.signed[cells.1.index()] }
    }

    /// Drops the closed forms that do not hold at the end of an iteration for certain; says whether there were any.
    fn refute(
        &mut self,
        subject: &Subject,
        start: &State,
        back: &[State],
        solution: &mut Solution,
        failed: &mut Failed,
    ) -> Result<bool, Stop> {
        let known = failed.count();
        let time = subject.time;
        let next = Poly::atom(time).plus_constant(1)?;
        for (var, form) in solution.vars.clone() {
            let wanted = self.pool.replace(&form, time, &next)?;
            let mut holds = match subject.before.vars.get(&var).cloned() {
                Some(old) => self.begins(subject, &form, &old)?,
                None => false,
            };
            for state in back {
                let Some(value) = state.vars.get(&var).cloned().filter(|_| holds) else { break };
                holds = self.equal_at(time, &state.facts, &value, &wanted)?;
            }
            if !holds {
                solution.vars.remove(&var);
                failed.vars.insert(var);
            }
        }
        for (cells, form) in solution.cells.clone() {
            let shown = match &form {
                Form::Layers(writes) => self.layers_hold(subject, start, back, cells, writes)?,
                Form::Elements(elements) => self.elements_hold(subject, back, cells, elements, solution, failed)?,
            };
            if !shown {
                solution.cells.remove(&cells);
                failed.cells.insert(cells);
            }
        }
        for relation in std::mem::take(&mut solution.relations) {
            if self.relation_holds(subject, back, &relation)? {
                solution.relations.push(relation);
            } else {
                failed.relations = true;
            }
        }
        for limit in std::mem::take(&mut solution.limits) {
            if self.limit_holds(subject, back, &limit)? {
                solution.limits.push(limit);
            } else {
                failed.limits.push(limit);
            }
        }
        for extremum in std::mem::take(&mut solution.extrema) {
            if self.extremum_holds(subject, back, &extremum)? {
                solution.extrema.push(extremum);
            } else {
                failed.extrema.insert(extremum);
            }
        }
        Ok(failed.count() > known)
    }

    /// Whether a closed form says for the first iteration what was before the loop.
    fn begins(&mut self, subject: &Subject, form: &Poly, old: &Poly) -> Result<bool, Stop> {
        let first = self.pool.replace(form, subject.time, &Poly::constant(0))?;
        self.equal_at(subject.time, &subject.before.facts, &first, old)
    }

    /// Whether two values are equal at every iteration; the first one is looked at by itself.
    fn equal_at(&mut self, time: Atom, facts: &[CondId], left: &Poly, right: &Poly) -> Result<bool, Stop> {
        if left == right {
            return Ok(true);
        }
        if self.pool.has_address(left) || self.pool.has_address(right) {
            let (left, right) = (self.settled(facts, left)?, self.settled(facts, right)?);
            return Ok(left == right);
        }
        let equal = self.pool.equal(left, right)?;
        if self.prover.follows(&mut self.pool, facts, equal)? {
            return Ok(true);
        }
        let at_first = self.pool.replace_in_cond(equal, time, &Poly::constant(0))?;
        if Pool::as_truth(at_first) != Some(true) {
            return Ok(false);
        }
        let later = self.pool.at_most(&Poly::constant(1), &Poly::atom(time))?;
        let mut facts = facts.to_vec();
        facts.push(later);
        self.prover.follows(&mut self.pool, &facts, equal)
    }

    /// Whether each path through the body writes what the layers say, and nothing else.
    fn layers_hold(
        &mut self,
        subject: &Subject,
        start: &State,
        back: &[State],
        cells: Cells,
        writes: &[Write],
    ) -> Result<bool, Stop> {
        let base = start.memory[&cells];
        if let [write @ Write { table: Some(table), .. }] = writes {
            return self.table_holds(subject, (cells, base), back, (write, table));
        }
        let moves = |write: &Write| self.pool.mentions(&write.start, &|atom| atom == subject.time);
        if writes.iter().any(moves) {
            return Ok(false);
        }
        for state in back {
            if !self.in_order(subject.time, &state.facts, writes)? {
                return Ok(false);
            }
            let Some(mut stores) = self.stores(state.memory[&cells], base) else { return Ok(false) };
            for write in writes {
                let now = Poly::atom(subject.time);
                let index = write.start.plus(&now.times_constant(write.stride)?)?;
                let mut found = stores.iter().position(|(at, _)| *at == index);
                if found.is_none() {
                    // On this path it may be the same position in other words.
                    for (at, (other, _)) in stores.iter().enumerate() {
                        let same = self.pool.equal(other, &index)?;
                        if self.prover.follows(&mut self.pool, &state.facts, same)? {
                            found = Some(at);
                            break;
                        }
                    }
                }
                match found {
                    Some(at) => {
                        let (_, value) = stores.remove(at);
                        let same = self.equal_at(subject.time, &state.facts, &value, &write.value)?;
                        if !same || !self.prover.follows(&mut self.pool, &state.facts, write.guard)? {
                            return Ok(false);
                        }
                    }
                    None if self.prover.excluded(&mut self.pool, &state.facts, write.guard)? => {}
                    None => return Ok(false),
                }
            }
            if !stores.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether each path through the body writes to the named positions only; drops their closed forms that do not hold.
    fn elements_hold(
        &mut self,
        subject: &Subject,
        back: &[State],
        cells: Cells,
        elements: &[(Poly, Option<Poly>)],
        solution: &mut Solution,
        failed: &mut Failed,
    ) -> Result<bool, Stop> {
        let old = self.contents(subject.before, cells);
        let next = Poly::atom(subject.time).plus_constant(1)?;
        if elements.iter().any(|(index, _)| self.pool.mentions(index, &|atom| atom == subject.time)) {
            return Ok(false);
        }
        for (at, (index, form)) in elements.iter().enumerate() {
            let Some(form) = form else { continue };
            let value = self.element(subject.before, old, index)?;
            if !self.begins(subject, form, &value)? {
                let Some(Form::Elements(known)) = solution.cells.get_mut(&cells) else { return Ok(false) };
                known[at].1 = None;
                failed.elements.insert((cells, at));
            }
        }
        for state in back {
            let array = state.memory[&cells];
            let Some(stores) = self.stores(array, old) else { return Ok(false) };
            if stores.iter().any(|(index, _)| !elements.iter().any(|(known, _)| known == index)) {
                return Ok(false);
            }
            for (at, (index, form)) in elements.iter().enumerate() {
                let Some(form) = form else { continue };
                let wanted = self.pool.replace(form, subject.time, &next)?;
                let value = self.element(state, array, index)?;
                if !self.equal_at(subject.time, &state.facts, &value, &wanted)? {
                    let Some(Form::Elements(known)) = solution.cells.get_mut(&cells) else { return Ok(false) };
                    known[at].1 = None;
                    failed.elements.insert((cells, at));
                }
            }
        }
        Ok(true)
    }

    /// The elements that were stored since the contents were `base`, the last one first; none if something else happened.
    pub(crate) fn stores(&self, array: ArrayId, base: ArrayId) -> Option<Vec<(Poly, Poly)>> {
        let mut stores = Vec::new();
        let mut at = array;
        while at != base {
            let ArrayKind::Store(below, index, value) = self.pool.array(at) else { return None };
            stores.push((index.clone(), value.clone()));
            at = *below;
        }
        Some(stores)
    }
}

/// A walk along the body.
struct Pass {
    start: State,
    unsolved: Unsolved,
    walked: Walked,
}

/// The last walk along the body.
pub(crate) struct Solved {
    pub(crate) walked: Walked,
    /// How many facts held at the start of the iteration.
    pub(crate) base: usize,
    /// How many of them are not only about the types of values.
    pub(crate) told: usize,
    pub(crate) solution: Solution,
}

/// The closed forms that could not be shown.
#[derive(Default)]
pub(crate) struct Failed {
    pub(crate) vars: BTreeSet<VarId>,
    pub(crate) cells: BTreeSet<Cells>,
    pub(crate) elements: BTreeSet<(Cells, usize)>,
    pub(crate) relations: bool,
    pub(crate) extrema: BTreeSet<Extremum>,
    pub(crate) limits: Vec<Poly>,
}

impl Failed {
    fn count(&self) -> usize {
        let relations = usize::from(self.relations);
        self.vars.len() + self.cells.len() + self.elements.len() + relations + self.extrema.len() + self.limits.len()
    }

    fn add(&mut self, other: Failed) {
        self.vars.extend(other.vars);
        self.cells.extend(other.cells);
        self.elements.extend(other.elements);
    }

    /// Whether there is nothing else instead of one of them.
    fn lacks(&self, solution: &Solution) -> bool {
        let element = |(cells, at): &(Cells, usize)| match solution.cells.get(cells) {
            Some(Form::Elements(elements)) => elements.get(*at).is_some_and(|(_, form)| form.is_none()),
            Some(Form::Layers(_)) => false,
            None => true,
        };
        self.vars.iter().any(|var| !solution.vars.contains_key(var))
            || self.cells.iter().any(|cells| !solution.cells.contains_key(cells))
            || self.elements.iter().any(element)
    }
}
