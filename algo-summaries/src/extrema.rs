// SPDX-License-Identifier: Apache-2.0
//! Variables that hold the least or the greatest of the values seen so far: `if (a[i] < m) m = a[i];`. They have no closed form, but
//! after `t` iterations no value of the iterations before is beyond them, nor is their value before the loop.
//!
//! As for closed forms, guessing may be careless: which value it is and whether it is the least one is read off one iteration,
//! and that the facts at `t` lead to those at `t + 1` is shown on every path through the body.

use cfa::ids::VarId;
use cpa_core::Stop;

use crate::guess::Unsolved;
use crate::loops::{Failed, Solution, Subject};
use crate::poly::Poly;
use crate::pool::{AtomKind, CondId, CondKind, Pool};
use crate::state::State;
use crate::subst::Replacement;
use crate::walk::Walker;

/// No value that an iteration sees is beyond the variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Extremum {
    pub(crate) var: VarId,
    /// What the iteration sees; what iteration `k div rows` sees at place `k mod rows` if there are several places.
    seen: Poly,
    /// How many values an iteration sees: more than one if a loop within it sees them.
    rows: i128,
    /// Whether the variable holds the least value, not the greatest one.
    least: bool,
}

impl Extremum {
    /// That a value is beyond one of the variable.
    fn beyond(&self, pool: &mut Pool, value: &Poly, of_var: &Poly) -> Result<CondId, Stop> {
        if self.least { pool.less(value, of_var) } else { pool.less(of_var, value) }
    }
}

impl Walker<'_> {
    /// Guesses which variables without a closed form hold extrema.
    pub(crate) fn guess_extrema(
        &mut self,
        subject: &Subject,
        back: &[State],
        unsolved: &Unsolved,
        failed: &Failed,
        solution: &mut Solution,
    ) -> Result<(), Stop> {
        for var in subject.vars.iter().filter(|var| !solution.vars.contains_key(var)) {
            let now = self.value_at(subject, *var);
            for state in back {
                let Some(seen) = state.vars.get(var).filter(|value| **value != now).cloned() else { continue };
                let seen = self.settled(&state.facts, &seen)?;
                if unsolved.in_poly(&self.pool, &seen) || self.pool.has_address(&seen) {
                    continue;
                }
                for least in [true, false] {
                    let guess = Extremum { var: *var, seen: seen.clone(), rows: 1, least };
                    if failed.extrema.contains(&guess) || solution.extrema.contains(&guess) {
                        continue;
                    }
                    let other = guess.beyond(&mut self.pool, &now, &seen)?;
                    if self.prover.excluded(&mut self.pool, &state.facts, other)? {
                        solution.extrema.push(guess);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Guesses which variables are extrema because loops within the iteration make them so. What these find is known only where
    /// nothing is careless.
    pub(crate) fn guess_extrema_within(
        &mut self,
        subject: &Subject,
        failed: &Failed,
        solution: &mut Solution,
    ) -> Result<(), Stop> {
        let careless = std::mem::replace(&mut self.guess, false);
        let (state, unsolved) = self.state_at(subject, solution)?;
        let walked = self.iteration(subject.scope, state)?;
        if let [state] = &walked.back[..] {
            for var in subject.vars {
                if let Some(guess) = self.extremum_within(subject, *var, state, &unsolved)?
                    && !failed.extrema.contains(&guess)
                    && !solution.extrema.contains(&guess)
                {
                    solution.extrema.push(guess);
                }
            }
        }
        self.guess = careless;
        Ok(())
    }

    /// What a variable is an extremum of if a loop within the iteration makes it one: the values seen there in all iterations,
    /// numbered through.
    fn extremum_within(
        &mut self,
        subject: &Subject,
        var: VarId,
        state: &State,
        unsolved: &Unsolved,
    ) -> Result<Option<Extremum>, Stop> {
        let Some(after) = state.vars.get(&var).and_then(Poly::as_atom) else { return Ok(None) };
        for fact in &state.facts {
            let CondKind::Not(some) = *self.pool.cond(*fact) else { continue };
            let CondKind::Exists(number, body, upper) = self.pool.cond(some).clone() else { continue };
            let (Some(rows), CondKind::AtMostZero(value)) = (upper.as_constant(), self.pool.cond(body).clone()) else {
                continue;
            };
            let Some((sign @ (1 | -1), rest)) = value.linear_in(after) else { continue };
            // `seen < var` is `seen - var + 1 <= 0`, `var < seen` is `var - seen + 1 <= 0`.
            let least = sign == -1;
            let seen = if least { rest.plus_constant(-1)? } else { Poly::constant(1).minus(&rest)? };
            let bound = self.pool.atom(AtomKind::Bound(number));
            let all = Poly::atom(subject.time);
            let map = [(subject.time, self.pool.div(&all, rows)?), (bound, self.pool.modulo(&all, rows)?)];
            let seen = Replacement::new(map.into_iter().collect()).poly(&mut self.pool, &seen)?;
            if rows > 1
                && !self.pool.mentions(&seen, &|atom| atom == after || atom == bound)
                && !unsolved.in_poly(&self.pool, &seen)
                && !self.pool.has_address(&seen)
            {
                return Ok(Some(Extremum { var, seen, rows, least }));
            }
        }
        Ok(None)
    }

    /// What an extremum says after a number of iterations, when the variable has the given value.
    fn extremum_facts(
        &mut self,
        subject: &Subject,
        extremum: &Extremum,
        value: &Poly,
        count: &Poly,
    ) -> Result<Vec<CondId>, Stop> {
        let iteration = self.pool.hole();
        let seen = self.pool.replace(&extremum.seen, subject.time, &Poly::atom(iteration))?;
        let beyond = extremum.beyond(&mut self.pool, &seen, value)?;
        let some = self.pool.exists(beyond, iteration, &count.times_constant(extremum.rows)?)?;
        let mut facts = vec![self.pool.not(some)?];
        if let Some(old) = subject.before.vars.get(&extremum.var).cloned()
            && !self.pool.has_address(&old)
        {
            let beyond = extremum.beyond(&mut self.pool, &old, value)?;
            facts.push(self.pool.not(beyond)?);
        }
        Ok(facts)
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
            for fact in self.extremum_facts(subject, extremum, &value, &Poly::atom(subject.time))? {
                state.know(&self.pool, fact);
            }
        }
        Ok(())
    }

    /// Whether an extremum is one at the end of each iteration, if it was at the start. Before the first one it is.
    pub(crate) fn extremum_holds(
        &mut self,
        subject: &Subject,
        back: &[State],
        extremum: &Extremum,
    ) -> Result<bool, Stop> {
        let next = Poly::atom(subject.time).plus_constant(1)?;
        for state in back {
            let Some(value) = state.vars.get(&extremum.var).cloned() else { return Ok(false) };
            if self.pool.has_address(&value) {
                return Ok(false);
            }
            for fact in self.extremum_facts(subject, extremum, &value, &next)? {
                if !self.prover.follows(&mut self.pool, &state.facts, fact)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
