// SPDX-License-Identifier: Apache-2.0
//! Loops whose iterations each write a row or a column of a table by loops within them.

use cpa_core::Stop;

use crate::arrays::{Table, Write};
use crate::guess::{Ends, Unsolved};
use crate::loops::{Form, Solution, Subject};
use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, CondId, Pool, Writes};
use crate::state::{Cells, State};
use crate::subst::Replacement;
use crate::walk::Walker;

/// What is written over the places of a layer from `first` on: for place `first + s`, where `s` is the variable, the value if
/// the guard holds.
struct Patch {
    first: Poly,
    length: Poly,
    variable: Atom,
    value: Poly,
    guard: CondId,
}

impl Walker<'_> {
    /// Contents with what the iterations before iteration `time` write.
    pub(crate) fn layer_at(&mut self, array: ArrayId, write: &Write, time: Atom) -> Result<ArrayId, Stop> {
        match &write.table {
            None => self.pool.layer(array, &Poly::atom(time), write, time),
            Some(Table::Rows { length }) => {
                self.pool.layer(array, &Poly::atom(time).times_constant(*length)?, write, time)
            }
            Some(Table::Columns { distance, height }) => {
                let number = self.pool.hole();
                let iteration = self.pool.modulo(&Poly::atom(number), *distance)?;
                let begun = self.pool.less(&iteration, &Poly::atom(time))?;
                let guard = self.pool.replace_in_cond(write.guard, time, &Poly::atom(number))?;
                let value = self.pool.replace(&write.value, time, &Poly::atom(number))?;
                let write = Write { guard: self.pool.and(vec![begun, guard]), value, ..write.clone() };
                self.pool.layer(array, &height.times_constant(*distance)?, &write, number)
            }
        }
    }

    /// What an iteration writes by a loop within it, if the positions of all iterations can be numbered through: the rows or the
    /// columns of a table.
    pub(crate) fn guess_table(
        &mut self,
        subject: &Subject,
        ends: &Ends,
        (cells, now): (Cells, ArrayId),
        unsolved: &Unsolved,
        solution: &mut Solution,
    ) -> Result<bool, Stop> {
        for state in ends.states {
            for (start, stride) in self.beginnings(state.memory[&cells], now)? {
                // Rows and columns alike go in the direction in which the iterations go.
                let step = start.linear_in(subject.time).map_or(0, |(step, _)| step);
                if step.signum() == stride.signum()
                    && let Some(layer) = self.one_layer(&state.facts, state.memory[&cells], now, (&start, stride))?
                    && self.guess_rows(subject, cells, layer, unsolved, solution)?
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The same for one layer that an iteration writes.
    fn guess_rows(
        &mut self,
        subject: &Subject,
        cells: Cells,
        (upper, inner): (Poly, Writes),
        unsolved: &Unsolved,
        solution: &mut Solution,
    ) -> Result<bool, Stop> {
        let Some((step, start)) = inner.start.linear_in(subject.time) else { return Ok(false) };
        let moves = |pool: &Pool, value: &Poly| pool.mentions(value, &|atom| atom == subject.time);
        let multiple = |a: i128, b: i128| Some(a / b).filter(|&times| a % b == 0 && times >= 2);
        if step == 0 || moves(&self.pool, &start) || unsolved.in_poly(&self.pool, &start) {
            return Ok(false);
        }
        let (table, stride, divisor) = if let Some(length) = multiple(step, inner.stride) {
            (Table::Rows { length }, inner.stride, length)
        } else if let Some(distance) = multiple(inner.stride, step) {
            if moves(&self.pool, &upper) || unsolved.in_poly(&self.pool, &upper) {
                return Ok(false);
            }
            (Table::Columns { distance, height: upper.clone() }, step, distance)
        } else {
            return Ok(false);
        };
        // The number of the write tells iteration and place within it.
        let number = Poly::atom(subject.time);
        let (quotient, rest) = (self.pool.div(&number, divisor)?, self.pool.modulo(&number, divisor)?);
        let (iteration, place) = match table {
            Table::Rows { .. } => (quotient, rest),
            Table::Columns { .. } => (rest, quotient),
        };
        let hole = self.pool.hole();
        let (value, guard) = self.pool.open_writes(&inner, hole)?;
        let within = self.pool.less(&Poly::atom(hole), &upper)?;
        let guard = self.pool.and(vec![within, guard]);
        let mut replacement = Replacement::new([(subject.time, iteration), (hole, place)].into_iter().collect());
        let value = replacement.poly(&mut self.pool, &value)?;
        let guard = replacement.cond(&mut self.pool, guard)?;
        if self.pool.has_address(&value) || unsolved.in_poly(&self.pool, &value) || unsolved.in_cond(&self.pool, guard)
        {
            return Ok(false);
        }
        solution.cells.insert(cells, Form::Layers(vec![Write { start, stride, value, guard, table: Some(table) }]));
        Ok(true)
    }

    /// Whether each path through the body writes the next row or column of a layer by a loop within it.
    pub(crate) fn table_holds(
        &mut self,
        subject: &Subject,
        (cells, base): (Cells, ArrayId),
        back: &[State],
        (write, table): (&Write, &Table),
    ) -> Result<bool, Stop> {
        if self.pool.mentions(&write.start, &|atom| atom == subject.time) {
            return Ok(false);
        }
        let time = Poly::atom(subject.time);
        // The number of the first write of the iteration, and how far the next one is.
        let (first, distance) = match table {
            Table::Rows { length } => (time.times_constant(*length)?, 1),
            Table::Columns { distance, .. } => (time.clone(), *distance),
        };
        let start = write.start.plus(&first.times_constant(write.stride)?)?;
        let Some(stride) = write.stride.checked_mul(distance) else { return Ok(false) };
        for state in back {
            let layer = self.one_layer(&state.facts, state.memory[&cells], base, (&start, stride))?;
            let Some((upper, inner)) = layer else { return Ok(false) };
            // How many there may be, and what makes all numbers different.
            let (length, apart) = match table {
                Table::Rows { length } => {
                    let length = Poly::constant(*length);
                    let fits = self.pool.at_most(&upper, &length)?;
                    (length, fits)
                }
                Table::Columns { distance, height } => {
                    let fits = self.pool.equal(&upper, height)?;
                    let few = self.pool.less(&time, &Poly::constant(*distance))?;
                    (height.clone(), self.pool.and(vec![fits, few]))
                }
            };
            if !self.holds(state, apart)? {
                return Ok(false);
            }
            // What the loop within writes is what the layer says, and it writes nothing else.
            let hole = self.pool.hole();
            let place = Poly::atom(hole);
            let number = first.plus(&place.times_constant(distance)?)?;
            let mut facts = state.facts.clone();
            facts.push(self.pool.less(&place, &length)?);
            let guard = self.pool.replace_in_cond(write.guard, subject.time, &number)?;
            let (value, inner_guard) = self.pool.open_writes(&inner, hole)?;
            let within = self.pool.less(&place, &upper)?;
            let written = self.pool.and(vec![within, inner_guard]);
            facts.push(written);
            if !self.prover.follows(&mut self.pool, &facts, guard)? {
                return Ok(false);
            }
            let wanted = self.pool.replace(&write.value, subject.time, &number)?;
            let (value, wanted) = (self.settled(&facts, &value)?, self.settled(&facts, &wanted)?);
            let same = self.pool.equal(&value, &wanted)?;
            if self.pool.has_address(&value) || !self.prover.follows(&mut self.pool, &facts, same)? {
                return Ok(false);
            }
            facts.pop();
            facts.push(self.pool.not(written)?);
            if !self.prover.excluded(&mut self.pool, &facts, guard)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What was written since the contents were `base`, as one layer with this start and stride, if layers and single elements
    /// cover or continue one another.
    fn one_layer(
        &mut self,
        facts: &[CondId],
        array: ArrayId,
        base: ArrayId,
        (start, stride): (&Poly, i128),
    ) -> Result<Option<(Poly, Writes)>, Stop> {
        if array == base {
            let nothing = Poly::constant(0);
            let guard = Pool::truth(false);
            let writes = Writes { depth: 1, start: start.clone(), stride, value: nothing.clone(), guard };
            return Ok(Some((nothing, writes)));
        }
        let variable = self.pool.hole();
        let (below, at, length, (value, guard)) = match self.pool.array(array).clone() {
            ArrayKind::Layer(below, upper, mut writes) if writes.stride.abs() == stride.abs() => {
                if writes.stride != stride {
                    writes = self.reversed(&upper, &writes)?;
                }
                (below, writes.start.clone(), upper, self.pool.open_writes(&writes, variable)?)
            }
            ArrayKind::Store(below, index, value) => (below, index, Poly::constant(1), (value, Pool::truth(true))),
            _ => return Ok(None),
        };
        let Some(under) = self.one_layer(facts, below, base, (start, stride))? else { return Ok(None) };
        let (first, hits) = self.pool.iteration(&under.1, &at)?;
        if !self.prover.follows(&mut self.pool, facts, hits)? {
            return Ok(None);
        }
        self.patched(facts, under, Patch { first, length, variable, value, guard })
    }

    /// The same writes, the last one first.
    fn reversed(&mut self, upper: &Poly, writes: &Writes) -> Result<Writes, Stop> {
        let last = upper.plus_constant(-1)?;
        let start = writes.position(&last)?;
        let (hole, other) = (self.pool.hole(), self.pool.hole());
        let (value, guard) = self.pool.open_writes(writes, hole)?;
        let from_the_end = last.minus(&Poly::atom(other))?;
        let value = self.pool.replace(&value, hole, &from_the_end)?;
        let guard = self.pool.replace_in_cond(guard, hole, &from_the_end)?;
        let (depth, value, guard) = self.pool.close(&value, guard, other)?;
        Ok(Writes { depth, start, stride: -writes.stride, value, guard })
    }

    /// Where one layer with all that was written since the contents were `base` may begin, and its stride, the first write
    /// first; none if there is no layer. At the end the beginnings of the layers from their other ends.
    fn beginnings(&self, array: ArrayId, base: ArrayId) -> Result<Vec<(Poly, i128)>, Stop> {
        let (mut starts, mut ends, mut stride) = (Vec::new(), Vec::new(), None);
        let mut at = array;
        while at != base {
            let (below, start) = match self.pool.array(at) {
                ArrayKind::Store(below, index, _) => (*below, index.clone()),
                ArrayKind::Layer(below, upper, writes) => {
                    stride = Some(writes.stride);
                    ends.push((writes.position(&upper.plus_constant(-1)?)?, -writes.stride));
                    (*below, writes.start.clone())
                }
                ArrayKind::Unknown(..) | ArrayKind::Zero => return Ok(Vec::new()),
            };
            starts.push(start);
            at = below;
        }
        let Some(stride) = stride else { return Ok(Vec::new()) };
        let starts = starts.into_iter().rev().map(|start| (start, stride));
        Ok(starts.chain(ends.into_iter().rev()).collect())
    }

    /// A layer of which a part was written again, or which was made longer.
    fn patched(
        &mut self,
        facts: &[CondId],
        (upper, under): (Poly, Writes),
        patch: Patch,
    ) -> Result<Option<(Poly, Writes)>, Stop> {
        let end = patch.first.plus(&patch.length)?;
        let (begins, meets) =
            (self.pool.at_most(&Poly::constant(0), &patch.first)?, self.pool.at_most(&patch.first, &upper)?);
        for cond in [begins, meets] {
            if !self.prover.follows(&mut self.pool, facts, cond)? {
                return Ok(None);
            }
        }
        let (longer, shorter) = (self.pool.at_most(&upper, &end)?, self.pool.at_most(&end, &upper)?);
        let both = if self.prover.follows(&mut self.pool, facts, shorter)? {
            upper.clone()
        } else if self.prover.follows(&mut self.pool, facts, longer)? {
            end.clone()
        } else {
            return Ok(None);
        };
        let hole = self.pool.hole();
        let place = Poly::atom(hole);
        let within = place.minus(&patch.first)?;
        let value = self.pool.replace(&patch.value, patch.variable, &within)?;
        let guard = self.pool.replace_in_cond(patch.guard, patch.variable, &within)?;
        let (begun, ended) = (self.pool.at_most(&patch.first, &place)?, self.pool.less(&place, &end)?);
        let over = self.pool.and(vec![begun, ended, guard]);
        let (old_value, old_guard) = self.pool.open_writes(&under, hole)?;
        let inside = self.pool.less(&place, &upper)?;
        let old = self.pool.and(vec![inside, old_guard]);
        let first = Pool::as_truth(old_guard) == Some(false);
        let value = if first { value } else { self.pool.ite(over, value, old_value) };
        let guard = self.pool.or(vec![over, old]);
        let (depth, value, guard) = self.pool.close(&value, guard, hole)?;
        Ok(Some((both, Writes { depth, value, guard, ..under })))
    }
}
