// SPDX-License-Identifier: Apache-2.0
//! Limits of loops that go on while two values differ: if their distance has a closed form that comes closer to 0 by the
//! same number in each iteration, they are equal once, and no iteration is behind that. And limits of loops that are left
//! behind their bodies: every iteration but the first begins as the one before went on.

use cfa::ir::Op;
use cfa::{BinOp, CmpOp, ExprId, ExprKind};
use cpa_core::Stop;
use rustc_hash::FxHashSet;

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
        let walks = solution.vars.values().any(|form| self.pool.has_address(form));
        if !walks && !self.conditions_wrap(subject) && self.tested_at_head(subject) {
            return Ok(());
        }
        let mut facts: Vec<CondId> = back.iter().flat_map(|state| &state.facts[base..]).copied().collect();
        while let Some(fact) = facts.pop() {
            let (distance, differs) = match self.pool.cond(fact) {
                CondKind::And(parts) => {
                    facts.extend(parts.clone());
                    continue;
                }
                CondKind::Not(equal) => match self.pool.cond(*equal) {
                    CondKind::Zero(distance) => (distance.clone(), true),
                    _ => continue,
                },
                CondKind::AtMostZero(distance) => (distance.clone(), false),
                _ => continue,
            };
            let Some((step, rest)) = distance.linear_in(subject.time) else { continue };
            let is_time = |atom| atom == subject.time;
            if unsolved.in_poly(&self.pool, &rest) || self.pool.mentions(&rest, &is_time) {
                continue;
            }
            let excess = if differs {
                if !self.pool.is_multiple(&rest, step.abs())? {
                    continue;
                }
                Poly::atom(subject.time).minus(&rest.over(-step)?)?
            } else if step > 0 {
                // The iteration before went on, too.
                distance.plus_constant(-step)?
            } else {
                continue;
            };
            if solution.limits.len() < LIMITS && !solution.limits.contains(&excess) && !failed.limits.contains(&excess)
            {
                solution.limits.push(excess);
            }
        }
        Ok(())
    }

    /// Whether the loop is left at its head, before anything is done.
    fn tested_at_head(&self, subject: &Subject) -> bool {
        let program = self.program;
        let mut open = vec![subject.scope.head];
        let mut seen = FxHashSet::default();
        while let Some(node) = open.pop() {
            for edge in &program.node(node).leaving {
                let edge = program.edge(*edge);
                if !subject.scope.body.contains(&edge.dst) {
                    return true;
                }
                if matches!(edge.op, Op::Skip) && seen.insert(edge.dst) {
                    open.push(edge.dst);
                }
            }
        }
        false
    }

    /// Whether there are comparisons for equality in the loop, or of results that may have wrapped around.
    fn conditions_wrap(&self, subject: &Subject) -> bool {
        let exprs = &self.program.exprs;
        let sum = |value: ExprId| matches!(exprs.get(value).kind, ExprKind::Binary(BinOp::Add | BinOp::Sub, ..));
        let wraps = |cond: ExprId| match exprs.get(cond).kind {
            ExprKind::Cmp(CmpOp::Eq | CmpOp::Ne, ..) => true,
            ExprKind::Cmp(CmpOp::Lt | CmpOp::Le, left, right) => sum(left) || sum(right),
            _ => false,
        };
        let mut leaving = subject.scope.body.iter().flat_map(|node| &self.program.node(*node).leaving);
        leaving.any(|edge| match self.program.edge(*edge).op {
            Op::Assume { cond, .. } => wraps(cond),
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
        let now = Poly::atom(subject.time);
        for excess in &solution.limits {
            let within = self.within(subject, excess, &now)?;
            state.know(&self.pool, within);
        }
        Ok(())
    }

    /// Whether a limit is not passed before the loop, and not by an iteration that begins within it.
    pub(crate) fn limit_holds(&mut self, subject: &Subject, back: &[State], excess: &Poly) -> Result<bool, Stop> {
        let first = self.within(subject, excess, &Poly::constant(0))?;
        if !self.prover.follows(&mut self.pool, &subject.before.facts, first)? {
            return Ok(false);
        }
        let next = Poly::atom(subject.time).plus_constant(1)?;
        let within = self.within(subject, excess, &next)?;
        for state in back {
            if !self.prover.follows(&mut self.pool, &state.facts, within)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// That a limit was not passed after so many iterations.
    fn within(&mut self, subject: &Subject, excess: &Poly, count: &Poly) -> Result<CondId, Stop> {
        let excess = self.pool.replace(excess, subject.time, count)?;
        self.pool.at_most(&excess, &Poly::constant(0))
    }
}
