// SPDX-License-Identifier: Apache-2.0
//! Guesses of closed forms from what one iteration does. Nothing here has to be right: see [`crate::loops`].

use std::collections::BTreeSet;

use cfa::IntTy;
use cpa_core::Stop;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arrays::Write;
use crate::loops::{Failed, Form, Guessing, Solution, Subject};
use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, Pool};
use crate::state::{Cells, Named, State};
use crate::subst::{Replacement, Search};
use crate::walk::Walker;

/// What is unknown at the start of an iteration.
#[derive(Default)]
pub(crate) struct Unsolved {
    pub(crate) atoms: FxHashSet<Atom>,
    pub(crate) arrays: FxHashSet<ArrayId>,
    /// How many facts are known there that are not only about the types of values.
    pub(crate) told: usize,
}

impl Unsolved {
    /// Whether a value depends on something unknown.
    pub(crate) fn in_poly(&self, pool: &Pool, poly: &Poly) -> bool {
        pool.mentions(poly, &|atom| self.is(pool, atom))
    }

    /// Whether a condition depends on something unknown but the given one.
    pub(crate) fn in_cond_but(&self, pool: &Pool, cond: CondId, known: Atom) -> bool {
        pool.mentions_in_cond(cond, &|atom| atom != known && self.is(pool, atom))
    }

    pub(crate) fn in_cond(&self, pool: &Pool, cond: CondId) -> bool {
        pool.mentions_in_cond(cond, &|atom| self.is(pool, atom))
    }

    fn is(&self, pool: &Pool, atom: Atom) -> bool {
        self.atoms.contains(&atom)
            || matches!(pool.kind(atom), AtomKind::Element(array, _) if self.arrays.contains(array))
    }
}

/// What a round of guesses starts with.
pub(crate) struct Round<'r> {
    pub(crate) unsolved: &'r Unsolved,
    pub(crate) failed: &'r Failed,
    pub(crate) manner: Guessing,
    /// How many facts held at the start of the iteration.
    pub(crate) base: usize,
}

/// An array that a loop writes: its contents at the start of an iteration and before the loop, and where iterations write.
struct Family {
    now: ArrayId,
    old: ArrayId,
    writes: Vec<Write>,
}

/// The ends of an iteration: on which condition, and in which state.
pub(crate) struct Ends<'b> {
    pub(crate) states: &'b [State],
    conds: Vec<CondId>,
    /// What holds at all of them.
    facts: Vec<CondId>,
}

/// How many iterations later than the second one the first write comes to the same position, times the stride; none if that is
/// not the same for all positions.
fn delay(one: &Write, other: &Write) -> Result<Option<i128>, Stop> {
    let later = other.start.minus(&one.start)?.as_constant();
    Ok(later.filter(|_| one.stride == other.stride).map(|later| later * one.stride.signum()))
}

/// Sorts the writes of an iteration such that they are in order, if that can be done.
fn sort(writes: Vec<Write>) -> Result<Vec<Write>, Stop> {
    let mut sorted: Vec<Write> = Vec::new();
    for write in writes {
        let mut place = sorted.len();
        for (at, other) in sorted.iter().enumerate() {
            if delay(&write, other)?.is_some_and(|delay| delay < 0) {
                place = at;
                break;
            }
        }
        sorted.insert(place, write);
    }
    Ok(sorted)
}

impl Walker<'_> {
    /// Adds closed forms; says whether there are more than before.
    pub(crate) fn guess_more(
        &mut self,
        subject: &Subject,
        back: &[State],
        round: &Round,
        solution: &mut Solution,
    ) -> Result<bool, Stop> {
        let Round { unsolved, failed, manner, base } = *round;
        let conds = back.iter().map(|state| self.pool.and(state.facts[base..].to_vec())).collect();
        let common = |fact: &CondId| back.iter().all(|state| state.facts.contains(fact));
        let facts = back[0].facts.iter().copied().filter(common).collect();
        let ends = Ends { states: back, conds, facts };
        let mut more = false;
        for var in subject.vars {
            if solution.vars.contains_key(var) || failed.vars.contains(var) {
                continue;
            }
            let values: Option<Vec<Poly>> = back.iter().map(|state| state.vars.get(var).cloned()).collect();
            let Some(new) = values.and_then(|values| self.merged(&ends, values)) else { continue };
            let new = self.settled(&ends.facts, &new)?;
            let now = self.value_at(subject, *var);
            let old = subject.before.vars.get(var).cloned();
            if let Some(form) = self.closed_form(subject, &now, old, &new, unsolved)? {
                let form = self.in_manner(manner, form, self.program.var(*var).ty);
                solution.vars.insert(*var, form);
                more = true;
            }
        }
        for cells in &subject.cells {
            if failed.cells.contains(cells) {
                continue;
            }
            more |= match solution.cells.get(cells).cloned() {
                None => self.guess_cells(subject, &ends, *cells, round, solution)?,
                Some(Form::Layers(_)) => false,
                Some(Form::Elements(elements)) => {
                    self.guess_elements(subject, &ends, (*cells, elements), round, solution)?
                }
            };
        }
        Ok(more)
    }

    /// Whether of two writes to the same position, up to the iteration of which the facts are known, the one of the later
    /// iteration comes last.
    pub(crate) fn in_order(&mut self, time: Atom, facts: &[CondId], writes: &[Write]) -> Result<bool, Stop> {
        for (at, other) in writes.iter().enumerate() {
            for one in &writes[..at] {
                let in_order = match delay(other, one)? {
                    Some(delay) => delay > 0,
                    None => self.apart(time, facts, one, other)? && self.apart(time, facts, other, one)?,
                };
                if !in_order {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether one write is not in this iteration where the other one was in an earlier one, or is in this one.
    fn apart(&mut self, time: Atom, facts: &[CondId], now: &Write, earlier: &Write) -> Result<bool, Stop> {
        let (this, other) = (Poly::atom(time), Poly::atom(self.pool.hole()));
        let mut facts = facts.to_vec();
        facts.push(self.pool.at_most(&Poly::constant(0), &other)?);
        facts.push(self.pool.at_most(&other, &this)?);
        let now = now.start.plus(&this.times_constant(now.stride)?)?;
        let earlier = earlier.start.plus(&other.times_constant(earlier.stride)?)?;
        let same = self.pool.equal(&now, &earlier)?;
        self.prover.excluded(&mut self.pool, &facts, same)
    }

    /// A closed form as the manner of guessing wants it.
    fn in_manner(&mut self, manner: Guessing, form: Poly, ty: IntTy) -> Poly {
        if manner == Guessing::Wrapped && !self.pool.has_address(&form) { self.pool.wrap(&form, ty) } else { form }
    }

    /// One value for all ends.
    fn merged(&mut self, ends: &Ends, values: Vec<Poly>) -> Option<Poly> {
        let mut values = values.into_iter().zip(&ends.conds).rev();
        let (mut merged, _) = values.next()?;
        for (value, cond) in values {
            if value != merged && (self.pool.has_address(&value) || self.pool.has_address(&merged)) {
                return None;
            }
            merged = self.pool.ite(*cond, value, merged);
        }
        Some(merged)
    }

    /// `value - now`, also below conditions.
    fn increase(&mut self, value: &Poly, now: &Poly) -> Result<Poly, Stop> {
        if let Some(AtomKind::Ite(cond, yes, no)) = value.as_atom().map(|atom| self.pool.kind(atom).clone()) {
            let (yes, no) = (self.increase(&yes, now)?, self.increase(&no, now)?);
            return Ok(self.pool.ite(cond, yes, no));
        }
        value.minus(now)
    }

    /// The value at the start of iteration `t` of something that is `old` before the loop, and becomes `new` where it was `now`.
    fn closed_form(
        &mut self,
        subject: &Subject,
        now: &Poly,
        old: Option<Poly>,
        new: &Poly,
        unsolved: &Unsolved,
    ) -> Result<Option<Poly>, Stop> {
        let time = subject.time;
        let Some(old) = old else { return Ok(None) };
        let increase = self.increase(new, now)?;
        if !unsolved.in_poly(&self.pool, &increase) && !self.pool.has_address(&increase) {
            let sum = self.pool.sum(&increase, time, &Poly::atom(time))?;
            return Ok(Some(old.plus(&sum)?));
        }
        let kind = new.as_atom().map(|atom| self.pool.kind(atom).clone());
        if let Some(AtomKind::Ite(cond, yes, no)) = kind {
            let set = if no == *now {
                Some((cond, yes))
            } else if yes == *now {
                Some((self.pool.not(cond)?, no))
            } else {
                None
            };
            if let Some((cond, value)) = set
                && !self.pool.mentions(&value, &|atom| atom == time)
                && !unsolved.in_poly(&self.pool, &value)
                && !unsolved.in_cond(&self.pool, cond)
            {
                let happened = self.pool.exists(cond, time, &Poly::atom(time))?;
                return Ok(Some(self.pool.ite(happened, value, old)));
            }
        }
        if !unsolved.in_poly(&self.pool, new) && !self.pool.has_address(new) && !self.pool.has_address(&old) {
            let last = Poly::atom(time).plus_constant(-1)?;
            let before = self.pool.replace(new, time, &last)?;
            if self.pool.replace(&before, time, &Poly::constant(0))? == old {
                return Ok(Some(before));
            }
            let first = self.pool.at_most(&Poly::atom(time), &Poly::constant(0))?;
            return Ok(Some(self.pool.ite(first, old, before)));
        }
        Ok(None)
    }

    /// What the iterations write into an array of which nothing is known yet.
    fn guess_cells(
        &mut self,
        subject: &Subject,
        ends: &Ends,
        cells: Cells,
        round: &Round,
        solution: &mut Solution,
    ) -> Result<bool, Stop> {
        let (unsolved, manner) = (round.unsolved, round.manner);
        let name = self.names.name(Named::ContentsAt(subject.scope.head, cells), subject.before);
        let (parameters, ty) = (self.parameters(), self.cell_type(cells));
        let now = self.pool.intern_array(ArrayKind::Unknown(name, parameters, ty));
        let mut stores = Vec::new();
        for state in ends.states {
            let Some(mut found) = self.stores(state.memory[&cells], now) else {
                return self.guess_table(subject, ends, (cells, now), unsolved, solution);
            };
            found.reverse();
            stores.push(found);
        }
        self.same_positions(subject, ends, &mut stores)?;
        let mut positions: Vec<Poly> = Vec::new();
        for (index, _) in stores.iter().flatten() {
            if unsolved.in_poly(&self.pool, index) || self.pool.has_address(index) {
                return Ok(false);
            }
            if !positions.contains(index) {
                positions.push(index.clone());
            }
        }
        let time = subject.time;
        let moves = |pool: &Pool, index: &Poly| pool.mentions(index, &|atom| atom == time);
        if positions.is_empty() {
            solution.cells.insert(cells, Form::Layers(Vec::new()));
            return Ok(true);
        }
        if positions.iter().all(|index| !moves(&self.pool, index)) {
            for (at, index) in positions.iter().enumerate() {
                for other in &positions[at + 1..] {
                    let same = self.pool.equal(index, other)?;
                    if !self.prover.excluded(&mut self.pool, &subject.before.facts, same)? {
                        return Ok(false);
                    }
                }
            }
            let elements = positions.into_iter().map(|index| (index, None)).collect();
            solution.cells.insert(cells, Form::Elements(elements));
            return Ok(true);
        }
        let mut writes: Vec<Write> = Vec::new();
        for index in &positions {
            let Some((stride, start)) = index.linear_in(time) else { return Ok(false) };
            if stride == 0 || moves(&self.pool, &start) {
                return Ok(false);
            }
            let Some((value, guard)) = self.written(ends, &stores, index) else { return Ok(false) };
            writes.push(Write { start, stride, value, guard, table: None });
        }
        writes = sort(writes)?;
        if !self.in_order(time, &ends.facts, &writes)? {
            return Ok(false);
        }
        let old = self.contents(subject.before, cells);
        let mut families = vec![Family { now, old, writes: writes.clone() }];
        for other in subject.cells.iter().filter(|&&other| other != cells && !solution.cells.contains_key(&other)) {
            families.extend(self.family(subject, ends, *other, unsolved)?);
        }
        for write in &mut writes {
            if !self.free_of_loop(subject, ends, write, &families)?
                || unsolved.in_poly(&self.pool, &write.value)
                || unsolved.in_cond(&self.pool, write.guard)
                || self.pool.has_address(&write.value) && !self.is_pointer(&write.value)
            {
                return Ok(false);
            }
            write.value = self.in_manner(manner, write.value.clone(), ty);
        }
        solution.cells.insert(cells, Form::Layers(writes));
        Ok(true)
    }

    /// Where the iterations write into an array of which nothing is known yet; what they write does not matter here.
    fn family(
        &mut self,
        subject: &Subject,
        ends: &Ends,
        cells: Cells,
        unsolved: &Unsolved,
    ) -> Result<Option<Family>, Stop> {
        let name = self.names.name(Named::ContentsAt(subject.scope.head, cells), subject.before);
        let (parameters, ty) = (self.parameters(), self.cell_type(cells));
        let now = self.pool.intern_array(ArrayKind::Unknown(name, parameters, ty));
        let mut writes: Vec<Write> = Vec::new();
        for state in ends.states {
            let Some(found) = self.stores(state.memory[&cells], now) else { return Ok(None) };
            for (index, value) in found {
                if unsolved.in_poly(&self.pool, &index) || self.pool.has_address(&index) {
                    return Ok(None);
                }
                let Some((stride, start)) = index.linear_in(subject.time) else { return Ok(None) };
                if stride == 0 || self.pool.mentions(&start, &|atom| atom == subject.time) {
                    return Ok(None);
                }
                writes.push(Write { start, stride, value, guard: Pool::truth(true), table: None });
            }
        }
        let old = self.contents(subject.before, cells);
        Ok(Some(Family { now, old, writes }))
    }

    /// Where a position that does not change is on some path the same as one that does, as `a[n]` if `i == n` is as `a[i]`, it is
    /// replaced by that.
    fn same_positions(&mut self, subject: &Subject, ends: &Ends, stores: &mut [Vec<(Poly, Poly)>]) -> Result<(), Stop> {
        let time = subject.time;
        let moves = |pool: &Pool, index: &Poly| pool.mentions(index, &|atom| atom == time);
        let moving: BTreeSet<Poly> =
            stores.iter().flatten().map(|(index, _)| index).filter(|index| moves(&self.pool, index)).cloned().collect();
        for (stores, state) in stores.iter_mut().zip(ends.states) {
            for (index, _) in stores.iter_mut().filter(|(index, _)| !moving.contains(index)) {
                for other in &moving {
                    let same = self.pool.equal(index, other)?;
                    if self.prover.follows(&mut self.pool, &state.facts, same)? {
                        *index = other.clone();
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// What is written to a position, and on which condition.
    fn written(&mut self, ends: &Ends, stores: &[Vec<(Poly, Poly)>], index: &Poly) -> Option<(Poly, CondId)> {
        let mut found: Vec<(CondId, Poly)> = Vec::new();
        for (of_end, cond) in stores.iter().zip(&ends.conds) {
            if let Some((_, value)) = of_end.iter().rev().find(|(at, _)| at == index) {
                found.push((*cond, value.clone()));
            }
        }
        let guard = if found.len() == ends.states.len() {
            Pool::truth(true)
        } else {
            self.pool.or(found.iter().map(|(cond, _)| *cond).collect())
        };
        let (_, mut value) = found.pop()?;
        for (cond, other) in found.into_iter().rev() {
            value = self.pool.ite(cond, other, value);
        }
        Some((value, guard))
    }

    /// Replaces what is read from arrays that the loop writes by what was there before the loop, or by a closed form if each
    /// iteration adds something to what the one before wrote. The first family is that of the write itself.
    fn free_of_loop(
        &mut self,
        subject: &Subject,
        ends: &Ends,
        write: &mut Write,
        families: &[Family],
    ) -> Result<bool, Stop> {
        let mut read: BTreeSet<(usize, Poly)> = BTreeSet::new();
        let pool = &self.pool;
        let mut search = Search::new(pool);
        let mut collect = |atom: Atom| {
            if let AtomKind::Element(array, index) = pool.kind(atom)
                && let Some(at) = families.iter().position(|family| family.now == *array)
            {
                read.insert((at, index.clone()));
            }
            false
        };
        search.poly(&write.value, &mut collect);
        search.cond(write.guard, &mut collect);
        let time = Poly::atom(subject.time);
        let mut map: FxHashMap<Atom, Poly> = FxHashMap::default();
        let mut carried = None;
        for (at, index) in read {
            let Family { now, old, writes } = &families[at];
            let element = self.pool.atom(AtomKind::Element(*now, index.clone()));
            let mut untouched = true;
            for other in writes {
                let distance = index.minus(&other.start)?.times_constant(other.stride.signum())?;
                let stride = other.stride.abs();
                if self.pool.modulo(&distance, stride)?.as_constant().is_some_and(|rest| rest != 0) {
                    continue;
                }
                let iteration = self.pool.div(&distance, stride)?;
                if at == 0 && iteration.minus(&time)?.as_constant() == Some(-1) && writes.len() == 1 {
                    carried = Some(element);
                    untouched = false;
                    continue;
                }
                let begun = self.pool.at_most(&Poly::constant(0), &iteration)?;
                let ended = self.pool.less(&iteration, &time)?;
                let earlier = self.pool.and(vec![begun, ended]);
                if !self.prover.excluded(&mut self.pool, &ends.facts, earlier)? {
                    return Ok(false);
                }
            }
            if untouched {
                let value = self.pool.read(*old, &index, &mut |_, _| Ok(None))?;
                let value = self.settled(&ends.facts, &value)?;
                map.insert(element, value);
            }
        }
        let mut replacement = Replacement::new(map);
        let value = replacement.poly(&mut self.pool, &write.value)?;
        write.value = self.settled(&ends.facts, &value)?;
        write.guard = replacement.cond(&mut self.pool, write.guard)?;
        if let Some(element) = carried {
            let before = Poly::atom(element);
            let carries = |pool: &Pool, poly: &Poly| pool.mentions(poly, &|atom| atom == element);
            let mut increase = self.increase(&write.value, &before)?;
            let first = write.start.plus_constant(-write.stride)?;
            let first = self.element(subject.before, families[0].old, &first)?;
            let next = time.plus_constant(1)?;
            write.value = if carries(&self.pool, &increase) {
                // The first iteration may begin anew.
                let mut facts = ends.facts.clone();
                facts.push(self.pool.at_most(&Poly::constant(1), &time)?);
                let later = self.settled(&facts, &write.value)?;
                increase = self.increase(&later, &before)?;
                if carries(&self.pool, &increase) {
                    return Ok(false);
                }
                let begin = [(element, first), (subject.time, Poly::constant(0))].into_iter().collect();
                let begin = Replacement::new(begin).poly(&mut self.pool, &write.value)?;
                let increase = self.pool.replace(&increase, subject.time, &next)?;
                begin.plus(&self.pool.sum(&increase, subject.time, &time)?)?
            } else {
                first.plus(&self.pool.sum(&increase, subject.time, &next)?)?
            };
        }
        Ok(true)
    }

    /// Closed forms of elements with constant positions.
    fn guess_elements(
        &mut self,
        subject: &Subject,
        ends: &Ends,
        (cells, mut elements): (Cells, Vec<(Poly, Option<Poly>)>),
        round: &Round,
        solution: &mut Solution,
    ) -> Result<bool, Stop> {
        let Round { unsolved, failed, manner, .. } = *round;
        let mut more = false;
        for (at, (index, form)) in elements.iter_mut().enumerate() {
            if form.is_some() || failed.elements.contains(&(cells, at)) {
                continue;
            }
            let mut values = Vec::new();
            for state in ends.states {
                values.push(self.element(state, state.memory[&cells], index)?);
            }
            let Some(new) = self.merged(ends, values) else { continue };
            let new = self.settled(&ends.facts, &new)?;
            let named = Named::ElementAt(subject.scope.head, cells, at);
            let now = self.unknown(named, subject.before, self.cell_type(cells));
            let array = self.contents(subject.before, cells);
            let old = self.element(subject.before, array, index)?;
            *form = self.closed_form(subject, &now, Some(old), &new, unsolved)?;
            *form = form.take().map(|form| self.in_manner(manner, form, self.cell_type(cells)));
            more |= form.is_some();
        }
        solution.cells.insert(cells, Form::Elements(elements));
        Ok(more)
    }
}
