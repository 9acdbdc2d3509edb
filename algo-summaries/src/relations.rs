// SPDX-License-Identifier: Apache-2.0
//! Relations between elements of arrays that loops write at positions of which nothing is known, such as inputs: at every position the
//! elements are a tuple of a few, each a function of the position.
//!
//! The tuples are guessed: those before the loop, and what an iteration makes of one of them if it comes to the position. That
//! there is no other one is shown by induction, for a position of which nothing is known ([`crate::loops`]).

use cpa_core::Stop;
use rustc_hash::FxHashMap;

use crate::eval::PITCH;
use crate::loops::{Failed, Solution, Subject};
use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, CondKind, Pool};
use crate::state::{Cells, Named, State};
use crate::subst::{Replacement, Search};
use crate::walk::Walker;

/// The most tuples.
const TUPLES: usize = 6;
/// The most elements of a tuple.
const MEMBERS: usize = 4;
/// Positions are below it.
pub(crate) const POSITIONS: i128 = 1 << 100;

/// At each position, [`Pool::position`], of the domain, the elements of the members are one of the tuples.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Relation<A> {
    pub(crate) domain: CondId,
    /// Arrays, and where in them.
    pub(crate) members: Vec<(A, Poly)>,
    pub(crate) tuples: Vec<Vec<Poly>>,
}

impl Relation<ArrayId> {
    /// The same after a replacement.
    pub(crate) fn replaced(&self, pool: &mut Pool, replacement: &mut Replacement) -> Result<Self, Stop> {
        let mut new = self.clone();
        new.domain = replacement.cond(pool, new.domain)?;
        for (array, at) in &mut new.members {
            *array = replacement.array(pool, *array)?;
            *at = replacement.poly(pool, at)?;
        }
        for value in new.tuples.iter_mut().flatten() {
            *value = replacement.poly(pool, value)?;
        }
        Ok(new)
    }

    /// That it holds at the position.
    pub(crate) fn at_position(&self, pool: &mut Pool) -> Result<CondId, Stop> {
        let mut elements = Vec::new();
        for (array, at) in &self.members {
            elements.push(pool.read(*array, at, &mut |_, _| Ok(None))?);
        }
        let outside = pool.not(self.domain)?;
        let related = one_of(pool, &elements, &self.tuples)?;
        Ok(pool.or(vec![outside, related]))
    }

    /// That it holds at all positions.
    pub(crate) fn everywhere(&self, pool: &mut Pool) -> Result<CondId, Stop> {
        let holds = self.at_position(pool)?;
        let fails = pool.not(holds)?;
        let position = pool.position();
        let somewhere = pool.exists(fails, position, &Poly::constant(POSITIONS))?;
        pool.not(somewhere)
    }
}

impl Relation<Cells> {
    /// The same of the contents that the arrays have in a state.
    pub(crate) fn in_state(&self, walker: &mut Walker, state: &State) -> Relation<ArrayId> {
        let members = self.members.iter().map(|(cells, at)| (walker.contents(state, *cells), at.clone())).collect();
        Relation { domain: self.domain, members, tuples: self.tuples.clone() }
    }
}

/// Whether some elements are one of the tuples.
fn one_of(pool: &mut Pool, elements: &[Poly], tuples: &[Vec<Poly>]) -> Result<CondId, Stop> {
    let mut cases = Vec::new();
    for tuple in tuples {
        let mut parts = Vec::new();
        for (element, value) in elements.iter().zip(tuple) {
            parts.push(pool.equal(element, value)?);
        }
        cases.push(pool.and(parts));
    }
    Ok(pool.or(cases))
}

/// A position that is looked at: in a table its row and its column.
pub(crate) struct Place {
    pub(crate) row: Option<Poly>,
    pub(crate) column: Poly,
}

impl Place {
    /// Row and column of a position in a table; the column is what has small coefficients.
    pub(crate) fn of(index: &Poly, table: bool) -> Result<Place, Stop> {
        if !table {
            return Ok(Place { row: None, column: index.clone() });
        }
        let (summands, divisor) = index.parts();
        let rows = |coefficient: i128| (coefficient + PITCH / 2).div_euclid(PITCH);
        let row = summands.iter().map(|(monomial, c)| (monomial.clone(), rows(*c))).collect();
        let row = Poly::from_parts(row, divisor)?;
        let column = index.minus(&row.times_constant(PITCH)?)?;
        Ok(Place { row: Some(row), column })
    }
}

/// What an input must be, if there is one, and what must hold.
type Solved = (Option<(Atom, Poly)>, CondId);

/// What an iteration does when it comes to a position.
struct Visit {
    /// On which condition.
    guard: CondId,
    /// The elements after it.
    elements: Vec<Poly>,
}

/// Guesses about the elements of a group of arrays.
struct Guess<'g> {
    subject: &'g Subject<'g>,
    /// The contents at the start of the iteration.
    now: FxHashMap<Cells, ArrayId>,
    /// The ends of an iteration with what was stored, the last one first.
    ends: Vec<(&'g State, Vec<(Cells, Poly)>)>,
    /// How many facts held at the start of the iteration.
    base: usize,
    table: bool,
    place: Place,
}

impl Walker<'_> {
    /// Guesses a relation between the arrays whose contents are not known; says whether there is one.
    pub(crate) fn guess_relations(
        &mut self,
        subject: &Subject,
        back: &[State],
        base: usize,
        failed: &Failed,
        solution: &mut Solution,
    ) -> Result<bool, Stop> {
        if failed.relations || !solution.relations.is_empty() {
            return Ok(false);
        }
        let mut now = FxHashMap::default();
        for cells in subject.cells.iter().filter(|cells| !solution.cells.contains_key(cells)) {
            let name = self.names.name(Named::ContentsAt(subject.scope.head, *cells), subject.before);
            let (parameters, ty) = (self.parameters(), self.cell_type(*cells));
            now.insert(*cells, self.pool.intern_array(ArrayKind::Unknown(name, parameters, ty)));
        }
        let mut ends = Vec::new();
        for state in back {
            let mut stored = Vec::new();
            for cells in &subject.cells {
                let Some(start) = now.get(cells) else { continue };
                let Some(stores) = self.stores(state.memory[cells], *start) else {
                    now.remove(cells);
                    continue;
                };
                stored.extend(stores.into_iter().map(|(index, _)| (*cells, index)));
            }
            ends.push((state, stored));
        }
        for (_, stored) in &mut ends {
            stored.retain(|(cells, _)| now.contains_key(cells));
        }
        let Some((cells, _)) = ends.iter().flat_map(|(_, stored)| stored).next() else { return Ok(false) };
        let table = self.tables.contains(&cells.0);
        if ends.iter().flat_map(|(_, stored)| stored).any(|(cells, _)| self.tables.contains(&cells.0) != table) {
            return Ok(false);
        }
        let place = if table {
            let (row, column) = (self.pool.hole(), self.pool.hole());
            Place { row: Some(Poly::atom(row)), column: Poly::atom(column) }
        } else {
            Place { row: None, column: Poly::atom(self.pool.position()) }
        };
        let guess = Guess { subject, now, ends, base, table, place };
        let Some(members) = self.members(&guess)? else { return Ok(false) };
        let Some(visits) = self.visits(&guess, &members)? else { return Ok(false) };
        let domain = self.domain(&guess, &visits)?;
        let Some(tuples) = self.tuples(&guess, &members, domain, &visits)? else { return Ok(false) };
        let mut relation = Relation { domain, members, tuples };
        if let (Some(row), Some(column)) =
            (guess.place.row.as_ref().and_then(Poly::as_atom), guess.place.column.as_atom())
            && table
        {
            let position = Poly::atom(self.pool.position());
            let to = [(row, self.pool.div(&position, PITCH)?), (column, self.pool.modulo(&position, PITCH)?)];
            let mut replacement = Replacement::new(to.into_iter().collect());
            relation.domain = replacement.cond(&mut self.pool, relation.domain)?;
            for (_, at) in &mut relation.members {
                *at = replacement.poly(&mut self.pool, at)?;
            }
            for value in relation.tuples.iter_mut().flatten() {
                *value = replacement.poly(&mut self.pool, value)?;
            }
        }
        solution.relations.push(relation);
        Ok(true)
    }

    /// Whether a value is of the present iteration only.
    fn is_local(&self, guess: &Guess, poly: &Poly) -> bool {
        self.pool.mentions(poly, &|atom| atom == guess.subject.time)
    }

    /// A value in which the facts decide conditions, and columns of tables are known to be such.
    pub(crate) fn reduced(&mut self, facts: &[CondId], value: &Poly) -> Result<Poly, Stop> {
        let mut columns = Vec::new();
        Search::new(&self.pool).poly(value, &mut |atom| {
            if let AtomKind::Mod(inner, PITCH) = self.pool.kind(atom) {
                columns.push((atom, inner.clone()));
            }
            false
        });
        let mut map = FxHashMap::default();
        for (atom, inner) in columns {
            let begins = self.pool.at_most(&Poly::constant(0), &inner)?;
            let ends = self.pool.less(&inner, &Poly::constant(PITCH))?;
            let within = self.pool.and(vec![begins, ends]);
            if self.prover.follows(&mut self.pool, facts, within)? {
                map.insert(atom, inner);
            }
        }
        let value = Replacement::new(map).poly(&mut self.pool, value)?;
        let value = self.settled(facts, &value)?;
        let mut map = FxHashMap::default();
        for atom in value.atoms() {
            if let AtomKind::Ite(cond, yes, no) = self.pool.kind(atom).clone() {
                let cond = self.reduced_cond(facts, cond)?;
                let not = self.pool.not(cond)?;
                let on = |walker: &mut Self, cond, value: &Poly| {
                    let mut facts = facts.to_vec();
                    facts.push(cond);
                    walker.reduced(&facts, value)
                };
                let (yes, no) = (on(self, cond, &yes)?, on(self, not, &no)?);
                map.insert(atom, self.pool.ite(cond, yes, no));
            }
        }
        Replacement::new(map).poly(&mut self.pool, &value)
    }

    /// A condition without the parts that the facts decide.
    fn reduced_cond(&mut self, facts: &[CondId], cond: CondId) -> Result<CondId, Stop> {
        match self.pool.cond(cond).clone() {
            CondKind::And(parts) => {
                let parts = parts.into_iter().map(|part| self.reduced_cond(facts, part)).collect::<Result<_, _>>()?;
                Ok(self.pool.and(parts))
            }
            CondKind::Or(parts) => {
                let parts = parts.into_iter().map(|part| self.reduced_cond(facts, part)).collect::<Result<_, _>>()?;
                Ok(self.pool.or(parts))
            }
            _ => Ok(self.prover.decides(&mut self.pool, facts, cond)?.map_or(cond, Pool::truth)),
        }
    }

    /// What inputs of an iteration must be for `value` to be `wanted`; `None` if that cannot be told. Where nothing in the value depends on
    /// the iteration, that is a condition.
    fn solved(&mut self, guess: &Guess, value: &Poly, wanted: &Poly) -> Result<Option<Solved>, Stop> {
        for atom in value.atoms() {
            let local = matches!(self.pool.kind(atom), AtomKind::Input(..)) && self.is_local(guess, &Poly::atom(atom));
            if let Some((sign @ (1 | -1), rest)) = value.linear_in(atom)
                && local
                && !self.is_local(guess, &rest)
            {
                return Ok(Some((Some((atom, wanted.minus(&rest)?.times_constant(sign)?)), Pool::truth(true))));
            }
        }
        if self.is_local(guess, value) {
            return Ok(None);
        }
        Ok(Some((None, self.pool.equal(value, wanted)?)))
    }

    /// For which inputs an iteration comes to the place with this store, and on which condition.
    fn coming(&mut self, guess: &Guess, index: &Poly, to: &Place) -> Result<Option<(Replacement, CondId)>, Stop> {
        let at = Place::of(index, guess.table)?;
        let mut map = FxHashMap::default();
        let mut conds = Vec::new();
        if let (Some(row), Some(wanted)) = (&at.row, &to.row) {
            let Some((input, cond)) = self.solved(guess, row, wanted)? else { return Ok(None) };
            map.extend(input);
            conds.push(cond);
        }
        let column = Replacement::new(map.clone()).poly(&mut self.pool, &at.column)?;
        let Some((input, cond)) = self.solved(guess, &column, &to.column)? else { return Ok(None) };
        map.extend(input);
        conds.push(cond);
        let cond = self.pool.and(conds);
        Ok(Some((Replacement::new(map), cond)))
    }

    /// The elements that iterations write together with the one at a position: all stores, seen from one of them.
    fn members(&mut self, guess: &Guess) -> Result<Option<Vec<(Cells, Poly)>>, Stop> {
        let stored: Vec<(Cells, Poly)> =
            guess.ends.iter().flat_map(|(_, stored)| stored.iter().rev().cloned()).collect();
        let Some(mut replacement) = self.seen_from(guess)? else { return Ok(None) };
        let mut members = Vec::new();
        for (cells, index) in &stored {
            let at = replacement.poly(&mut self.pool, index)?;
            let member = (*cells, at);
            if self.is_local(guess, &member.1) {
                return Ok(None);
            }
            if !members.contains(&member) {
                members.push(member);
            }
        }
        Ok((members.len() <= MEMBERS).then_some(members))
    }

    /// The tuples before the loop, and all that iterations make of them.
    fn tuples(
        &mut self,
        guess: &Guess,
        members: &[(Cells, Poly)],
        domain: CondId,
        visits: &[Visit],
    ) -> Result<Option<Vec<Vec<Poly>>>, Stop> {
        let mut facts = guess.subject.before.facts.clone();
        facts.extend(self.parts_of(domain));
        if guess.table {
            facts.push(self.pool.less(&guess.place.column, &Poly::constant(PITCH))?);
        }
        let mut first = Vec::new();
        for (cells, at) in members {
            let old = self.contents(guess.subject.before, *cells);
            let value = self.pool.read(old, at, &mut |_, _| Ok(None))?;
            first.push(self.reduced(&facts, &value)?);
        }
        if first.iter().any(|value| self.pool.has_address(value)) {
            return Ok(None);
        }
        let mut tuples = vec![first];
        let mut done = 0;
        while let Some(tuple) = tuples.get(done).cloned() {
            done += 1;
            for visit in visits {
                let mut map = FxHashMap::default();
                for ((cells, at), value) in members.iter().zip(&tuple) {
                    let element = self.pool.atom(AtomKind::Element(guess.now[cells], at.clone()));
                    map.insert(element, value.clone());
                }
                let mut replacement = Replacement::new(map);
                let guard = replacement.cond(&mut self.pool, visit.guard)?;
                let mut new = Vec::new();
                for (value, old) in visit.elements.iter().zip(&tuple) {
                    let value = replacement.poly(&mut self.pool, value)?;
                    if self.is_local(guess, &value) || self.pool.has_address(&value) {
                        return Ok(None);
                    }
                    let value = self.pool.ite(guard, value, old.clone());
                    new.push(self.reduced(&facts, &value)?);
                }
                let known = one_of(&mut self.pool, &new, &tuples)?;
                if !self.prover.follows(&mut self.pool, &facts, known)? {
                    if tuples.len() >= TUPLES {
                        return Ok(None);
                    }
                    tuples.push(new);
                }
            }
        }
        Ok(Some(tuples))
    }

    /// What a condition is the conjunction of.
    fn parts_of(&self, cond: CondId) -> Vec<CondId> {
        match self.pool.cond(cond) {
            CondKind::And(parts) => parts.clone(),
            _ => vec![cond],
        }
    }

    /// The bounds that a position has in each iteration that looks at it, whether it writes there or not.
    fn domain(&mut self, guess: &Guess, visits: &[Visit]) -> Result<CondId, Stop> {
        let (Some(first), Some(mut seen)) = (visits.first(), self.seen_from(guess)?) else {
            return Ok(Pool::truth(true));
        };
        let mut parts = self.parts_of(first.guard);
        parts.retain(|part| matches!(self.pool.cond(*part), CondKind::AtMostZero(_)));
        for visit in visits {
            let known = self.parts_of(visit.guard);
            parts.retain(|part| known.contains(part));
        }
        for (state, _) in &guess.ends {
            let mut known = Vec::new();
            for fact in &state.facts[guess.base..] {
                known.push(seen.cond(&mut self.pool, *fact)?);
            }
            parts.retain(|part| known.contains(part));
        }
        Ok(self.pool.and(parts))
    }

    /// The iteration as it is when its first store comes to the position.
    fn seen_from(&mut self, guess: &Guess) -> Result<Option<Replacement>, Stop> {
        let first = guess.ends.iter().find_map(|(_, stored)| stored.last().cloned());
        let Some((_, index)) = first else { return Ok(None) };
        Ok(self.coming(guess, &index, &guess.place)?.map(|(replacement, _)| replacement))
    }

    /// What iterations do when one of their stores comes to one of the members.
    fn visits(&mut self, guess: &Guess, members: &[(Cells, Poly)]) -> Result<Option<Vec<Visit>>, Stop> {
        let mut visits: Vec<Visit> = Vec::new();
        for (state, stored) in &guess.ends {
            for (cells, index) in stored {
                for (_, at) in members.iter().filter(|(other, _)| other == cells) {
                    let to = Place::of(at, guess.table)?;
                    let Some((mut replacement, when)) = self.coming(guess, index, &to)? else { return Ok(None) };
                    let mut conds = vec![when];
                    for fact in &state.facts[guess.base..] {
                        let fact = replacement.cond(&mut self.pool, *fact)?;
                        // What depends on other inputs may hold or not.
                        let elements: Vec<Atom> = members
                            .iter()
                            .map(|(cells, at)| self.pool.atom(AtomKind::Element(guess.now[cells], at.clone())))
                            .collect();
                        let zeros = elements.iter().map(|atom| (*atom, Poly::constant(0))).collect();
                        let others = Replacement::new(zeros).cond(&mut self.pool, fact)?;
                        if !self.pool.mentions_in_cond(others, &|atom| atom == guess.subject.time) {
                            conds.push(fact);
                        }
                    }
                    let guard = self.pool.and(conds);
                    let mut elements = Vec::new();
                    for (cells, at) in members {
                        let after = self.pool.read(state.memory[cells], at, &mut |_, _| Ok(None))?;
                        elements.push(replacement.poly(&mut self.pool, &after)?);
                    }
                    visits.push(Visit { guard, elements });
                }
            }
        }
        Ok(Some(visits))
    }

    /// Whether a relation holds before the loop and is kept by each iteration.
    pub(crate) fn relation_holds(
        &mut self,
        subject: &Subject,
        back: &[State],
        relation: &Relation<Cells>,
    ) -> Result<bool, Stop> {
        if !self.relation_holds_in(subject.before, relation)? {
            return Ok(false);
        }
        for state in back {
            if !self.relation_holds_in(state, relation)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a relation holds in a state.
    pub(crate) fn relation_holds_in(&mut self, state: &State, relation: &Relation<Cells>) -> Result<bool, Stop> {
        let mut holds = relation.in_state(self, state).at_position(&mut self.pool)?;
        let mut facts = state.facts.clone();
        let position = self.pool.position();
        let mut at = Poly::atom(position);
        if relation.members.iter().any(|(cells, _)| self.tables.contains(&cells.0)) {
            // Each position has a row and a column.
            let (row, column) = (Poly::atom(self.pool.hole()), Poly::atom(self.pool.hole()));
            facts.push(self.pool.less(&column, &Poly::constant(PITCH))?);
            at = row.times_constant(PITCH)?.plus(&column)?;
            let old = self.pool.modulo(&Poly::atom(position), PITCH)?;
            let mut map: FxHashMap<Atom, Poly> = old.as_atom().map(|atom| (atom, column)).into_iter().collect();
            map.insert(position, at.clone());
            holds = Replacement::new(map).cond(&mut self.pool, holds)?;
        }
        facts.push(self.pool.less(&at, &Poly::constant(POSITIONS))?);
        self.prover.follows_patiently(&mut self.pool, &facts, holds)
    }

    /// Adds a relation between the contents that the arrays have in a state.
    pub(crate) fn relate(&mut self, state: &mut State, relation: &Relation<Cells>) -> Result<(), Stop> {
        let relation = relation.in_state(self, state);
        let fact = relation.everywhere(&mut self.pool)?;
        state.know(&self.pool, fact);
        state.relations.push(relation);
        Ok(())
    }
}
