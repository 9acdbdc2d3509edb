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
use crate::pool::{CondId, Pool};
use crate::state::State;
use crate::walk::Walker;

/// No value that an iteration sees is beyond the variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Extremum {
    pub(crate) var: VarId,
    /// What the iteration sees.
    seen: Poly,
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
                if unsolved.in_poly(&self.pool, &seen) || self.pool.has_address(&seen) {
                    continue;
                }
                for least in [true, false] {
                    let guess = Extremum { var: *var, seen: seen.clone(), least };
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
        let some = self.pool.exists(beyond, iteration, count)?;
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
            let value = self.value_at(subject, extremum.var);
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
