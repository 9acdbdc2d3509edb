// SPDX-License-Identifier: Apache-2.0
//! Limits of loops that go on while two values differ: if their distance has a closed form that comes closer to 0 by the
//! same number in each iteration, they are equal once, and no iteration is behind that.

use cfa::ir::Op;
use cfa::{CmpOp, ExprId, ExprKind};
use cpa_core::Stop;

use crate::guess::Round;
use crate::loops::{Solution, Subject};
use crate::poly::Poly;
use crate::pool::{CondId, CondKind};
use crate::state::State;
use crate::walk::Walker;

/// The most limits of a loop.
const LIMITS: usize = 3;

impl Walker<'_> {
    /// Guesses numbers of iterations that are not passed.
    pub(crate) fn guess_limits(
        &mut self,
        subject: &Subject,
        back: &[State],
        round: &Round,
        solution: &mut Solution,
    ) -> Result<(), Stop> {
        let Round { unsolved, failed, base, .. } = *round;
        if !self.ends_at_a_value(subject) {
            return Ok(());
        }
        let mut facts: Vec<CondId> = back.iter().flat_map(|state| &state.facts[base..]).copied().collect();
        while let Some(fact) = facts.pop() {
            let (distance, by) = match self.pool.cond(fact) {
                CondKind::And(parts) => {
                    facts.extend(parts.clone());
                    continue;
                }
                CondKind::Not(equal) => match self.pool.cond(*equal) {
                    CondKind::Zero(distance) => (distance.clone(), 0),
                    _ => continue,
                },
                // What differs may be less, by what else was found in the iteration.
                CondKind::AtMostZero(distance) => (distance.clone(), 1),
                _ => continue,
            };
            let Some((step, rest)) = distance.linear_in(subject.time) else { continue };
            let is_time = |atom| atom == subject.time;
            if unsolved.in_poly(&self.pool, &rest)
                || self.pool.mentions(&rest, &is_time)
                || !self.pool.is_multiple(&rest, step.abs())?
                || (by > 0 && step != 1)
            {
                continue;
            }
            let limit = rest.over(-step)?.plus_constant(by)?;
            if solution.limits.len() < LIMITS && !solution.limits.contains(&limit) && !failed.limits.contains(&limit) {
                solution.limits.push(limit);
            }
        }
        Ok(())
    }

    /// Whether there are comparisons for equality in the loop.
    fn ends_at_a_value(&self, subject: &Subject) -> bool {
        let exprs = &self.program.exprs;
        let compares = |cond: ExprId| matches!(exprs.get(cond).kind, ExprKind::Cmp(CmpOp::Eq | CmpOp::Ne, ..));
        let mut leaving = subject.scope.body.iter().flat_map(|node| &self.program.node(*node).leaving);
        leaving.any(|edge| match self.program.edge(*edge).op {
            Op::Assume { cond, .. } => compares(cond),
            _ => false,
        })
    }

    /// That no limit was passed is known at the start of iteration `t`.
    pub(crate) fn know_limits(
        &mut self,
        subject: &Subject,
        solution: &Solution,
        state: &mut State,
    ) -> Result<(), Stop> {
        for limit in &solution.limits {
            let within = self.pool.at_most(&Poly::atom(subject.time), limit)?;
            state.know(&self.pool, within);
        }
        Ok(())
    }

    /// Whether a limit is not passed before the loop, and not by an iteration that begins within it.
    pub(crate) fn limit_holds(&mut self, subject: &Subject, back: &[State], limit: &Poly) -> Result<bool, Stop> {
        let first = self.pool.at_most(&Poly::constant(0), limit)?;
        if !self.prover.follows(&mut self.pool, &subject.before.facts, first)? {
            return Ok(false);
        }
        let next = Poly::atom(subject.time).plus_constant(1)?;
        let within = self.pool.at_most(&next, limit)?;
        for state in back {
            if !self.prover.follows(&mut self.pool, &state.facts, within)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
