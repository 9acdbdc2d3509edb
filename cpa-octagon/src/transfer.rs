// SPDX-License-Identifier: Apache-2.0
//! The effect of steps on octagons over machine integers (document 001, section 3.1).
//!
//! Assignments and tests of linear forms are exact as far as octagons are; of others the intervals are kept. Memory is not
//! modelled: what is loaded has any value.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cfa::liveness::Dying;
use cfa::{CmpOp, EdgeId, ExprId, ExprKind, Op, Program, Scope, VarId};
use cpa_core::Step;

use crate::linear::{Linear, View, unit};
use crate::octagon::Signed;
use crate::state::{OctagonState, in_range};

/// The variables that are tracked; none means all.
pub type Tracked = Option<Rc<BTreeSet<VarId>>>;

/// The meaning of a program over octagons; shared by the analysis and its refiner.
#[derive(Debug)]
pub struct Transfer {
    pub(crate) program: Arc<Program>,
    dying: Dying,
}

fn tracks(tracked: &Tracked, var: VarId) -> bool {
    tracked.as_ref().is_none_or(|tracked| tracked.contains(&var))
}

impl Transfer {
    /// Prepares a program.
    pub fn new(program: Arc<Program>) -> Self {
        Self { dying: Dying::new(&program), program }
    }

    /// The analysed program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Where widening may stop: at the constants of conditions and beside them, if they are few. Ascending.
    pub fn thresholds(&self) -> Vec<i64> {
        const MOST: usize = 60;
        let exprs = &self.program.exprs;
        let mut constants = BTreeSet::new();
        let mut open: Vec<ExprId> = Vec::new();
        for edge in &self.program.edges {
            if let Op::Assume { cond, truth: true } = edge.op {
                open.push(cond);
            }
        }
        while let Some(id) = open.pop() {
            match exprs.get(id).kind {
                ExprKind::Cmp(_, left, right) => {
                    constants.extend([left, right].into_iter().filter_map(|side| exprs.as_const(side)));
                }
                ExprKind::And(left, right) | ExprKind::Or(left, right) => open.extend([left, right]),
                ExprKind::Not(arg) | ExprKind::Cast(arg) => open.push(arg),
                _ => {}
            }
        }
        // Small ones bound more loops than large ones.
        let mut constants: Vec<i128> = constants.into_iter().filter(|value| value.abs() < 1 << 40).collect();
        constants.sort_unstable_by_key(|value| value.abs());
        constants.truncate(MOST);
        // Lower bounds have the other sign.
        let beside = constants.iter().flat_map(|value| [value - 1, *value, value + 1]);
        let mut thresholds: Vec<i64> = beside.flat_map(|value| [value as i64, -value as i64]).collect();
        thresholds.sort_unstable();
        thresholds.dedup();
        thresholds
    }

    /// The local variables that nobody reads behind a call.
    pub(crate) fn dead_behind(&self, call: EdgeId) -> &[VarId] {
        self.dying.behind(call)
    }

    fn view<'a>(&'a self, state: &'a OctagonState) -> View<'a> {
        View { program: &self.program, state }
    }

    /// The least and greatest value of an expression.
    pub fn interval(&self, state: &OctagonState, expr: ExprId) -> (i128, i128) {
        let view = self.view(state);
        view.range(&view.linear(expr))
    }

    /// The state after a step; none if the step is not possible.
    pub fn post(&self, state: &OctagonState, step: Step, tracked: &Tracked) -> Option<OctagonState> {
        let mut next = state.clone();
        match (step, &self.program.edge(step.edge()).op) {
            (Step::Edge(_), Op::Assume { cond, truth }) => next = self.test(&next, *cond, *truth, tracked),
            (Step::Edge(_), Op::Assign { var, value }) => {
                let form = self.related(&mut next, *value, tracked);
                self.assign(&mut next, *var, &form, tracked);
            }
            (Step::Edge(_), Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. }) => {
                next.forget(&|other| other == *var);
            }
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                let local = |var: VarId| self.program.var(var).scope == Scope::Local(*callee);
                if args.iter().any(|&arg| self.program.exprs.vars(arg).into_iter().any(local)) {
                    // The callee calls itself: its parameters and the variables in the arguments have the same names.
                    let passed: Vec<(i128, i128)> = args.iter().map(|&arg| self.interval(&next, arg)).collect();
                    next.forget(&local);
                    for (&param, (low, high)) in self.program.func(*callee).params.iter().zip(passed) {
                        self.assign(&mut next, param, &Linear::interval(low, high), tracked);
                    }
                    return (!next.octagon.is_empty()).then_some(next);
                }
                // Otherwise parameters are no variables of the caller.
                for (&param, &arg) in self.program.func(*callee).params.iter().zip(args) {
                    let form = self.related(&mut next, arg, tracked);
                    self.assign(&mut next, param, &form, tracked);
                }
                let unread = self.dying.unread_params(*callee);
                next.forget(&|var| unread.contains(&var));
                return (!next.octagon.is_empty()).then_some(next);
            }
            (Step::Leave(_), Op::Call { callee, result, .. }) => {
                if let (Some(result), Some(ret)) = (result, self.program.func(*callee).ret) {
                    let form = match next.dim(ret) {
                        Some(dim) => Linear { terms: vec![(dim, 1)], low: 0, high: 0 },
                        None => {
                            let ty = self.program.var(ret).ty;
                            Linear::interval(ty.min(), ty.max())
                        }
                    };
                    self.assign(&mut next, *result, &form, tracked);
                }
                // In a recursive function the result is a variable of the same name space.
                next.forget(&|var| self.program.var(var).scope == Scope::Local(*callee) && Some(var) != *result);
            }
            (Step::Edge(_) | Step::Enter(_) | Step::Leave(_), _) => {}
        }
        if next.octagon.is_empty() {
            return None;
        }
        let dead = self.dying.behind(step.edge());
        next.forget(&|var| dead.contains(&var));
        Some(next)
    }

    /// The value of an expression as a form. Variables that nothing is known about get a dimension, so that something can be
    /// related to them.
    fn related(&self, state: &mut OctagonState, expr: ExprId, tracked: &Tracked) -> Linear {
        for var in self.program.exprs.vars(expr) {
            let data = self.program.var(var);
            if tracks(tracked, var) && data.float.is_none() {
                state.make_dim(var, data.ty);
            }
        }
        self.view(state).linear(expr)
    }

    fn assign(&self, state: &mut OctagonState, var: VarId, form: &Linear, tracked: &Tracked) {
        let ty = self.program.var(var).ty;
        let (low, high) = self.view(state).range(form);
        if !tracks(tracked, var) || (form.terms.is_empty() && low <= ty.min() && high >= ty.max()) {
            state.forget(&|other| other == var);
            return;
        }
        // A new dimension moves the others, so the terms go by variables meanwhile.
        let vars: Vec<VarId> = form.terms.iter().map(|term| state.vars()[term.0]).collect();
        let mut related: Vec<(VarId, bool, i128, i128)> = Vec::new();
        for (index, &term) in form.terms.iter().enumerate() {
            if vars[index] != var
                && let Some(signed) = unit(term)
            {
                let (low, high) = self.view(state).range(&form.without(index));
                related.push((vars[index], signed.negative, low, high));
            }
        }
        let own = match form.terms[..] {
            [term] if vars[0] == var => unit(term),
            _ => None,
        };
        let dim = state.make_dim(var, ty);
        if let Some(signed) = own {
            let octagon = state.change();
            if signed.negative {
                octagon.negate(dim);
            }
            octagon.shift(dim, form.low, form.high);
            in_range(octagon, dim, ty);
            return;
        }
        state.change().forget(dim);
        let dims: Vec<Option<usize>> = related.iter().map(|part| state.dim(part.0)).collect();
        let octagon = state.change();
        octagon.at_most(dim, high);
        octagon.at_least(dim, low);
        for ((_, negative, low, high), other) in related.into_iter().zip(dims) {
            let Some(other) = other else { continue };
            let (same, opposite) = (Signed { dim: other, negative }, Signed { dim: other, negative: !negative });
            octagon.constrain(Signed::plus(dim), opposite, high);
            octagon.constrain(Signed::minus(dim), same, -low);
        }
    }

    /// The part of a state where an expression is non-zero (`truth`) or zero.
    fn test(&self, state: &OctagonState, id: ExprId, truth: bool, tracked: &Tracked) -> OctagonState {
        let exprs = &self.program.exprs;
        if state.octagon.is_empty() {
            return state.clone();
        }
        match exprs.get(id).kind {
            ExprKind::Not(arg) => self.test(state, arg, !truth, tracked),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let conjunction = matches!(exprs.get(id).kind, ExprKind::And(..));
                let first = self.test(state, left, truth, tracked);
                if conjunction == truth {
                    return self.test(&first, right, truth, tracked);
                }
                let other = self.test(state, left, !truth, tracked);
                let second = self.test(&other, right, truth, tracked);
                match (first.octagon.is_empty(), second.octagon.is_empty()) {
                    (true, _) => second,
                    (_, true) => first,
                    (false, false) => first.join(&second),
                }
            }
            ExprKind::Cmp(op, left, right) => {
                let (op, left, right) = op.holding(left, right, truth);
                self.compare(state, op, &[left, right], tracked)
            }
            ExprKind::FloatCmp(..) => state.clone(),
            ExprKind::Cast(arg) if exprs.ty(arg).bits <= exprs.ty(id).bits => self.test(state, arg, truth, tracked),
            _ => self.compare(state, if truth { CmpOp::Ne } else { CmpOp::Eq }, &[id], tracked),
        }
    }

    /// The part of a state where the first operand compares to the second one, or to 0.
    fn compare(&self, state: &OctagonState, op: CmpOp, operands: &[ExprId], tracked: &Tracked) -> OctagonState {
        let mut next = state.clone();
        for &operand in operands {
            self.related(&mut next, operand, tracked);
        }
        let view = self.view(&next);
        let mut form = view.linear(operands[0]);
        if let Some(&right) = operands.get(1) {
            form = form.minus(&view.linear(right));
        }
        let one = Linear::interval(1, 1);
        match op {
            CmpOp::Lt => self.at_most_zero(&mut next, &form.plus(&one)),
            CmpOp::Le => self.at_most_zero(&mut next, &form),
            CmpOp::Eq => {
                self.at_most_zero(&mut next, &form);
                self.at_most_zero(&mut next, &form.times(-1));
            }
            CmpOp::Ne => match view.range(&form) {
                (0, 0) if form.low == form.high => self.at_most_zero(&mut next, &one),
                (0, _) => self.at_most_zero(&mut next, &one.minus(&form)),
                (_, 0) => self.at_most_zero(&mut next, &form.plus(&one)),
                _ => {}
            },
        }
        next
    }

    /// Adds that a form is at most 0.
    fn at_most_zero(&self, state: &mut OctagonState, form: &Linear) {
        let view = self.view(state);
        if view.range(form).0 > 0 {
            // Also when there is no dimension that could say so.
            let octagon = state.change();
            if octagon.dims() == 0 {
                octagon.add_dims(1);
            }
            octagon.at_most(0, -1);
            octagon.at_least(0, 0);
            return;
        }
        let mut constraints: Vec<(Signed, Signed, i128)> = Vec::new();
        for (index, &(dim, coefficient)) in form.terms.iter().enumerate() {
            let rest = form.without(index);
            let bound = -view.range(&rest).0;
            let single = Signed { dim, negative: coefficient < 0 };
            constraints.push((single, single, 2 * bound.div_euclid(coefficient.abs())));
            let Some(first) = unit((dim, coefficient)) else { continue };
            for (other, &term) in rest.terms.iter().enumerate().skip(index) {
                if let Some(second) = unit(term) {
                    constraints.push((first, second, -view.range(&rest.without(other)).0));
                }
            }
        }
        let octagon = state.change();
        for (a, b, bound) in constraints {
            octagon.constrain(a, b, bound);
        }
    }
}
