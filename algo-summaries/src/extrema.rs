// SPDX-License-Identifier: Apache-2.0
//! Variables that iterations only change on some condition: the least or the greatest of the values seen so far, as in
//! `if (a[i] < m) m = a[i];`, where the least element is, as in `if (a[i] < a[m]) m = i;`, and where something was seen last, as in
//! `if (a[i] == x) last = i;`. They have no closed form, but after `t` iterations what would have changed them is not true of
//! any of the iterations before.
//!
//! As for closed forms, guessing may be careless: what is excluded is read off one iteration, and that the facts at `t` lead to
//! those at `t + 1` is shown on every path through the body.

use std::collections::BTreeSet;

use cfa::ids::VarId;
use cpa_core::Stop;

use crate::eval::PITCH;
use crate::guess::{Round, Unsolved};
use crate::loops::{Failed, Solution, Subject};
use crate::poly::Poly;
use crate::pool::{AtomKind, CondId, CondKind, Pool};
use crate::state::State;
use crate::subst::Replacement;
use crate::walk::Walker;

/// How many parts of facts are looked at for bounds, and how many bounds are tried.
const PARTS: usize = 200;
const BOUNDS: usize = 6;

/// What is known of a variable and the iterations before.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Extremum {
    pub(crate) var: VarId,
    /// A condition on the variable and an iteration.
    cond: CondId,
    of: Of,
}

/// Of which iterations a condition is known not to hold, or to hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Of {
    /// Of none of those before. Each has so many places, more than one if a loop within it looks at them; the condition is then
    /// about iteration `k div places` and place `k mod places`.
    None(i128),
    /// It does not hold of the number of iterations so far.
    Number,
    /// Of one of those before, unless the variable is what it was before the loop.
    One,
}

impl Walker<'_> {
    /// Guesses what is excluded of variables without a closed form.
    pub(crate) fn guess_extrema(
        &mut self,
        subject: &Subject,
        back: &[State],
        round: &Round,
        solution: &mut Solution,
    ) -> Result<(), Stop> {
        let Round { unsolved, failed, base, .. } = *round;
        for var in subject.vars.iter().filter(|var| !solution.vars.contains_key(var)) {
            let now = self.value_at(subject, *var);
            for state in back {
                let Some(seen) = state.vars.get(var).filter(|value| **value != now).cloned() else { continue };
                let seen = self.settled(&state.facts, &seen)?;
                if unsolved.in_poly(&self.pool, &seen) || self.pool.has_address(&seen) {
                    continue;
                }
                let mut guesses = self.extreme(subject, state, (*var, &now), &seen)?;
                if guesses.is_empty() {
                    guesses = self.triggered(subject, (state, base), (*var, &now), &seen, unsolved)?;
                }
                for guess in guesses {
                    if !failed.extrema.contains(&guess) && !solution.extrema.contains(&guess) {
                        solution.extrema.push(guess);
                    }
                }
            }
        }
        Ok(())
    }

    /// The number that a variable is before the loop.
    fn before(&self, subject: &Subject, var: VarId) -> Option<Poly> {
        subject.before.vars.get(&var).filter(|old| !self.pool.has_address(old)).cloned()
    }

    /// That a value is less, or greater.
    fn beyond(&mut self, least: bool, value: &Poly, other: &Poly) -> Result<CondId, Stop> {
        if least { self.pool.less(value, other) } else { self.pool.less(other, value) }
    }

    /// If what the variable gets is never beyond what it is: it is the least or the greatest of the values seen, and of the one
    /// before the loop.
    fn extreme(
        &mut self,
        subject: &Subject,
        state: &State,
        (var, now): (VarId, &Poly),
        seen: &Poly,
    ) -> Result<Vec<Extremum>, Stop> {
        for least in [true, false] {
            let other = self.beyond(least, now, seen)?;
            if self.prover.excluded(&mut self.pool, &state.facts, other)? {
                let excluded = self.beyond(least, seen, now)?;
                let mut guesses = vec![Extremum { var, cond: excluded, of: Of::None(1) }];
                guesses.extend(self.not_beyond_old(subject, least, (var, now))?);
                guesses.extend(self.not_beyond_bounds(state, least, (var, now))?);
                // Within other loops it would cost more than it brings.
                if self.iterations.len() == 1 {
                    let cond = self.pool.equal(now, seen)?;
                    guesses.push(Extremum { var, cond, of: Of::One });
                }
                return Ok(guesses);
            }
        }
        Ok(Vec::new())
    }

    /// That the value before the loop is not beyond the variable.
    fn not_beyond_old(
        &mut self,
        subject: &Subject,
        least: bool,
        (var, now): (VarId, &Poly),
    ) -> Result<Option<Extremum>, Stop> {
        let Some(old) = self.before(subject, var) else { return Ok(None) };
        let excluded = self.beyond(least, &old, now)?;
        Ok(Some(Extremum { var, cond: excluded, of: Of::Number }))
    }

    /// That the variable is not beyond a number that elements are compared with everywhere: it is one of them.
    fn not_beyond_bounds(
        &mut self,
        state: &State,
        least: bool,
        (var, now): (VarId, &Poly),
    ) -> Result<Vec<Extremum>, Stop> {
        let mut bounds = BTreeSet::new();
        let mut open: Vec<CondId> = state.facts.clone();
        let mut looked = 0;
        while let Some(fact) = open.pop() {
            looked += 1;
            if looked > PARTS {
                break;
            }
            match self.pool.cond(fact).clone() {
                CondKind::Not(part) | CondKind::Exists(_, part, _) => open.push(part),
                CondKind::And(parts) | CondKind::Or(parts) => open.extend(parts),
                CondKind::AtMostZero(difference) => {
                    let constant = difference.constant_part();
                    let rest = difference.plus_constant(-constant)?;
                    let negated = rest.times_constant(-1)?;
                    // What is excluded is less than the bound, or more.
                    if rest.as_atom().is_some() {
                        bounds.insert(if least { 1 - constant } else { -constant });
                    } else if negated.as_atom().is_some() {
                        bounds.insert(if least { constant } else { constant - 1 });
                    }
                }
                CondKind::True | CondKind::False | CondKind::Zero(_) => {}
            }
        }
        let mut guesses = Vec::new();
        for bound in bounds.into_iter().take(BOUNDS) {
            let excluded = self.beyond(least, now, &Poly::constant(bound))?;
            guesses.push(Extremum { var, cond: excluded, of: Of::Number });
        }
        Ok(guesses)
    }

    /// If the variable gets something that only depends on the iteration: what triggers that is true of no iteration before, if
    /// it depends on the variable; if not, of none that would have given it more. The variable stays between what it was and
    /// what the last iteration may have given it.
    fn triggered(
        &mut self,
        subject: &Subject,
        (state, base): (&State, usize),
        (var, now): (VarId, &Poly),
        seen: &Poly,
        unsolved: &Unsolved,
    ) -> Result<Vec<Extremum>, Stop> {
        let Some((step, start)) = seen.linear_in(subject.time) else { return Ok(Vec::new()) };
        let Some(current) = now.as_atom() else { return Ok(Vec::new()) };
        if step == 0 || self.pool.mentions(&start, &|atom| atom == subject.time) {
            return Ok(Vec::new());
        }
        let (mut about_var, mut others) = (Vec::new(), Vec::new());
        for fact in &state.facts[base..] {
            if !unsolved.in_cond_but(&self.pool, *fact, current) {
                let about = self.pool.mentions_in_cond(*fact, &|atom| atom == current);
                if about { about_var.push(*fact) } else { others.push(*fact) }
            }
        }
        let least = step < 0;
        let mut guesses: Vec<Extremum> = self.not_beyond_old(subject, least, (var, now))?.into_iter().collect();
        let last = Poly::atom(subject.time).plus_constant(-1)?;
        let last = self.pool.replace(seen, subject.time, &last)?;
        let excluded = self.beyond(least, now, &last)?;
        guesses.push(Extremum { var, cond: excluded, of: Of::Number });
        if about_var.is_empty() {
            others.push(self.beyond(least, seen, now)?);
            let excluded = self.pool.and(others);
            guesses.push(Extremum { var, cond: excluded, of: Of::None(1) });
            return Ok(guesses);
        }
        let excluded = self.pool.and(about_var);
        guesses.push(Extremum { var, cond: excluded, of: Of::None(1) });
        // What the variable was before the loop is as if an iteration had given it that.
        if let Some(old) = self.before(subject, var).filter(|_| step.abs() == 1) {
            let iteration = old.minus(&start)?.times_constant(step)?;
            let excluded = self.at(subject, (excluded, now), &iteration, now)?;
            guesses.push(Extremum { var, cond: excluded, of: Of::Number });
        }
        Ok(guesses)
    }

    /// A condition on a variable and an iteration for another iteration and value.
    fn at(
        &mut self,
        subject: &Subject,
        (cond, now): (CondId, &Poly),
        iteration: &Poly,
        value: &Poly,
    ) -> Result<CondId, Stop> {
        let values =
            [(subject.time, iteration.clone())].into_iter().chain(now.as_atom().map(|now| (now, value.clone())));
        Replacement::new(values.collect()).cond(&mut self.pool, cond)
    }

    /// Guesses which variables are extrema because loops within the iteration make them so. What these find is known only where
    /// nothing is careless.
    pub(crate) fn guess_extrema_within(
        &mut self,
        subject: &Subject,
        failed: &Failed,
        solution: &mut Solution,
    ) -> Result<(), Stop> {
        let careless = self.guess;
        self.set_guess(false);
        let (state, unsolved) = self.state_at(subject, solution)?;
        let walked = self.iteration(subject.scope, state)?;
        if let [state] = &walked.back[..] {
            for var in subject.vars {
                for guess in self.extrema_within(subject, *var, state, &unsolved)? {
                    if !failed.extrema.contains(&guess) && !solution.extrema.contains(&guess) {
                        solution.extrema.push(guess);
                    }
                }
            }
        }
        self.set_guess(careless);
        Ok(())
    }

    /// What a variable is an extremum of if a loop within the iteration makes it one: the values seen there in all iterations,
    /// numbered through.
    fn extrema_within(
        &mut self,
        subject: &Subject,
        var: VarId,
        state: &State,
        unsolved: &Unsolved,
    ) -> Result<Vec<Extremum>, Stop> {
        let Some(after) = state.vars.get(&var).and_then(Poly::as_atom) else { return Ok(Vec::new()) };
        for fact in &state.facts {
            let CondKind::Not(some) = *self.pool.cond(*fact) else { continue };
            let CondKind::Exists(number, body, upper) = self.pool.cond(some).clone() else { continue };
            let CondKind::AtMostZero(value) = self.pool.cond(body).clone() else { continue };
            // If the number of places is none, they are numbered as the elements of rows of such a length are.
            let constant = upper.as_constant();
            let places = constant.unwrap_or(PITCH);
            let Some((sign @ (1 | -1), rest)) = value.linear_in(after) else { continue };
            // `seen < var` is `seen - var + 1 <= 0`, `var < seen` is `var - seen + 1 <= 0`.
            let least = sign == -1;
            let seen = if least { rest.plus_constant(-1)? } else { Poly::constant(1).minus(&rest)? };
            let bound = self.pool.atom(AtomKind::Bound(number));
            let all = Poly::atom(subject.time);
            let (iteration, place) = (self.pool.div(&all, places)?, self.pool.modulo(&all, places)?);
            let map = [(subject.time, iteration), (bound, place.clone())];
            let mut replacement = Replacement::new(map.into_iter().collect());
            let seen = replacement.poly(&mut self.pool, &seen)?;
            let upper = replacement.poly(&mut self.pool, &upper)?;
            // A counter that such a loop ends with is no value that was seen there.
            let reads = |atom| matches!(self.pool.kind(atom), AtomKind::Element(..) | AtomKind::Input(..));
            if places > 1
                && self.pool.mentions(&seen, &reads)
                && !self.pool.mentions(&seen, &|atom| atom == after || atom == bound)
                && [&seen, &upper]
                    .iter()
                    .all(|value| !unsolved.in_poly(&self.pool, value) && !self.pool.has_address(value))
            {
                let now = self.value_at(subject, var);
                let mut excluded = self.beyond(least, &seen, &now)?;
                if constant.is_none() {
                    let within = self.pool.less(&place, &upper)?;
                    excluded = self.pool.and(vec![within, excluded]);
                }
                let mut guesses = vec![Extremum { var, cond: excluded, of: Of::None(places) }];
                guesses.extend(self.not_beyond_old(subject, least, (var, &now))?);
                return Ok(guesses);
            }
        }
        Ok(Vec::new())
    }

    /// What is so after a number of iterations, when the variable has the given value.
    fn extremum_fact(
        &mut self,
        subject: &Subject,
        extremum: &Extremum,
        value: &Poly,
        count: &Poly,
    ) -> Result<CondId, Stop> {
        let now = self.value_at(subject, extremum.var);
        let cond = (extremum.cond, &now);
        let mut some = |places: i128| {
            let iteration = self.pool.hole();
            let cond = self.at(subject, cond, &Poly::atom(iteration), value)?;
            self.pool.exists(cond, iteration, &count.times_constant(places)?)
        };
        match extremum.of {
            Of::Number => {
                let cond = self.at(subject, cond, count, value)?;
                self.pool.not(cond)
            }
            Of::None(places) => {
                let some = some(places)?;
                self.pool.not(some)
            }
            Of::One => {
                let some = some(1)?;
                let unchanged = match self.before(subject, extremum.var) {
                    Some(old) => self.pool.equal(value, &old)?,
                    None => Pool::truth(true),
                };
                Ok(self.pool.or(vec![unchanged, some]))
            }
        }
    }

    /// Adds what is known of extrema at the start of an iteration.
    pub(crate) fn know_extrema(
        &mut self,
        subject: &Subject,
        solution: &Solution,
        state: &mut State,
    ) -> Result<(), Stop> {
        for extremum in &solution.extrema {
            let value = match solution.vars.get(&extremum.var).cloned() {
                Some(value) => value,
                None => self.value_at(subject, extremum.var),
            };
            let fact = self.extremum_fact(subject, extremum, &value, &Poly::atom(subject.time))?;
            state.know(&self.pool, fact);
        }
        Ok(())
    }

    /// Whether what is excluded before the first iteration is, and at the end of each iteration if it was at the start.
    pub(crate) fn extremum_holds(
        &mut self,
        subject: &Subject,
        back: &[State],
        extremum: &Extremum,
    ) -> Result<bool, Stop> {
        // There is no iteration before the first one.
        if extremum.of == Of::Number {
            let Some(old) = self.before(subject, extremum.var) else { return Ok(false) };
            let fact = self.extremum_fact(subject, extremum, &old, &Poly::constant(0))?;
            if !self.prover.follows(&mut self.pool, &subject.before.facts, fact)? {
                return Ok(false);
            }
        }
        let next = Poly::atom(subject.time).plus_constant(1)?;
        for state in back {
            let Some(value) = state.vars.get(&extremum.var).cloned() else { return Ok(false) };
            if self.pool.has_address(&value) {
                return Ok(false);
            }
            let fact = self.extremum_fact(subject, extremum, &value, &next)?;
            if !self.prover.follows(&mut self.pool, &state.facts, fact)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
