// SPDX-License-Identifier: Apache-2.0
//! The effect of steps on octagons over machine integers (document 001, section 3.1).
//!
//! Assignments and tests of linear forms are exact as far as octagons are; of others the intervals are kept. Memory is not
//! modelled: what is loaded has any value.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cfa::liveness::Dying;
use cfa::{CmpOp, EdgeId, ExprId, ExprKind, HavocOrigin, Op, Program, Scope, VarId};
use cpa_core::Step;

use crate::floats::beside;
use crate::linear::{Linear, View};
use crate::numeric::Kind;
use crate::state::{OctagonState, Thresholds};

/// The variables that are tracked; none means all.
pub type Tracked = Option<Rc<BTreeSet<VarId>>>;

/// The meaning of a program over octagons; shared by the analysis and its refiner.
#[derive(Debug)]
pub struct Transfer {
    pub(crate) program: Arc<Program>,
    dying: Dying,
    floats: bool,
    kind: Kind,
}

fn tracks(tracked: &Tracked, var: VarId) -> bool {
    tracked.as_ref().is_none_or(|tracked| tracked.contains(&var))
}

impl Transfer {
    /// Prepares a program.
    pub fn new(program: Arc<Program>) -> Self {
        Self { dying: Dying::new(&program), program, floats: false, kind: Kind::Octagon }
    }

    /// The same with floating-point variables, if `floats` says so; otherwise they have any value.
    pub fn with_floats(self, floats: bool) -> Self {
        Self { floats, ..self }
    }

    /// The same in a domain.
    pub fn with_domain(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// All concrete states.
    pub fn top(&self) -> OctagonState {
        OctagonState::top(self.kind)
    }

    /// The analysed program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Where widening may stop: at the constants of conditions and beside them, if they are few. Ascending.
    pub fn thresholds(&self) -> Thresholds {
        const MOST: usize = 60;
        let exprs = &self.program.exprs;
        let mut constants = BTreeSet::new();
        let mut floats: Vec<f64> = Vec::new();
        let nothing = self.top();
        let view = self.view(&nothing);
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
                ExprKind::FloatCmp(_, ty, left, right) if floats.len() < 6 * MOST => {
                    for side in [left, right] {
                        if let Some(value) = view.float(side, ty).only_finite()
                            && value.low == value.high
                        {
                            floats.extend(beside(ty, value.low).into_iter().flat_map(|value| [value, -value]));
                        }
                    }
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
        floats.retain(|value| value.is_finite());
        floats.sort_unstable_by(f64::total_cmp);
        floats.dedup();
        Thresholds { integers: thresholds, floats }
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

    /// The states after a step, which stand for all that is possible together; none if the step is not possible. There are
    /// several where a floating-point variable takes any value: they are finite, infinite, or not a number.
    pub fn post(&self, state: &OctagonState, step: Step, tracked: &Tracked) -> Vec<OctagonState> {
        if let (Step::Edge(id), Op::Havoc { var, origin }) = (step, &self.program.edge(step.edge()).op)
            && !matches!(origin, HavocOrigin::Uninitialised)
            && self.floats
            && tracks(tracked, *var)
            && let Some(ty) = self.program.var(*var).float
        {
            let mut before = state.clone();
            before.forget(&|other| other == *var);
            let dead = self.dying.behind(id);
            let split = before.floats.split(*var, ty);
            let mut states: Vec<OctagonState> = Vec::new();
            for floats in split {
                let mut next = before.clone();
                next.floats = Rc::new(floats);
                next.forget(&|var| dead.contains(&var));
                if !states.contains(&next) {
                    states.push(next);
                }
            }
            return states;
        }
        self.post_one(state, step, tracked).into_iter().collect()
    }

    fn post_one(&self, state: &OctagonState, step: Step, tracked: &Tracked) -> Option<OctagonState> {
        let mut next = state.clone();
        match (step, &self.program.edge(step.edge()).op) {
            (Step::Edge(_), Op::Assume { cond, truth }) => next = self.test(&next, *cond, *truth, tracked),
            (Step::Edge(_), Op::Assign { var, value }) => self.set(&mut next, *var, *value, tracked),
            (Step::Edge(_), Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. }) => {
                next.forget(&|other| other == *var);
            }
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                let local = |var: VarId| self.program.var(var).scope == Scope::Local(*callee);
                if args.iter().any(|&arg| self.program.exprs.vars(arg).into_iter().any(local)) {
                    // The callee calls itself: its parameters and the variables in the arguments have the same names.
                    let passed: Vec<(i128, i128)> = args.iter().map(|&arg| self.interval(&next, arg)).collect();
                    next.forget(&local);
                    next.forget(&|var| self.program.func(*callee).params.contains(&var));
                    for (&param, (low, high)) in self.program.func(*callee).params.iter().zip(passed) {
                        self.assign(&mut next, param, &Linear::interval(low, high), tracked);
                    }
                    return (!next.octagon.is_empty()).then_some(next);
                }
                // Otherwise parameters are no variables of the caller.
                for (&param, &arg) in self.program.func(*callee).params.iter().zip(args) {
                    self.set(&mut next, param, arg, tracked);
                }
                let unread = self.dying.unread_params(*callee);
                next.forget(&|var| unread.contains(&var));
                return (!next.octagon.is_empty()).then_some(next);
            }
            (Step::Leave(_), Op::Call { callee, result, .. }) => {
                if let (Some(result), Some(ret)) = (result, self.program.func(*callee).ret) {
                    if let (true, Some(ty)) = (self.floats, self.program.var(*result).float) {
                        let same = self.program.var(ret).float == Some(ty);
                        let value = next.floats.value(ret, ty);
                        let value = (same && tracks(tracked, *result)).then_some(value);
                        Rc::make_mut(&mut next.floats).assign(*result, value);
                    }
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

    /// The variable takes the value of an expression.
    fn set(&self, state: &mut OctagonState, var: VarId, value: ExprId, tracked: &Tracked) {
        if let (true, Some(ty)) = (self.floats, self.program.var(var).float) {
            let value = tracks(tracked, var).then(|| self.view(state).float(value, ty));
            state.forget_integer(var);
            Rc::make_mut(&mut state.floats).assign(var, value);
            return;
        }
        let form = self.related(state, value, tracked);
        self.assign(state, var, &form, tracked);
    }

    fn assign(&self, state: &mut OctagonState, var: VarId, form: &Linear, tracked: &Tracked) {
        let ty = self.program.var(var).ty;
        let (low, high) = self.view(state).range(form);
        let float = self.floats && self.program.var(var).float.is_some();
        if float {
            // What is known of it is in the other octagon.
            state.forget_integer(var);
            return;
        }
        if !tracks(tracked, var) || (form.terms.is_empty() && low <= ty.min() && high >= ty.max()) {
            state.forget(&|other| other == var);
            return;
        }
        // A new dimension moves the others, but not their order.
        let vars: Vec<VarId> = form.terms.iter().map(|term| state.vars()[term.0]).collect();
        let dim = state.make_dim(var, ty);
        let mut moved = form.clone();
        for (term, var) in moved.terms.iter_mut().zip(vars) {
            term.0 = state.dim(var).expect("nothing was forgotten");
        }
        let vars = state.shared_vars();
        let limits = |dim: usize| self.limits(vars[dim]);
        state.change().assign(dim, &moved, &limits);
    }

    /// The limits of a variable's type.
    fn limits(&self, var: VarId) -> (i128, i128) {
        let ty = self.program.var(var).ty;
        (ty.min(), ty.max())
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
            ExprKind::FloatCmp(op, ty, left, right) => {
                let view = self.view(state);
                let (left, right) = (view.float(left, ty), view.float(right, ty));
                let mut next = state.clone();
                if state.floats.decide(op, &left, &right) == Some(!truth) {
                    next.change().make_empty();
                } else if let (Some(left), Some(right)) = (left.only_finite(), right.only_finite()) {
                    let floats = Rc::make_mut(&mut next.floats);
                    floats.assume(op, ty, &left, &right, truth);
                    if floats.is_empty() {
                        next.change().make_empty();
                    }
                }
                next
            }
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
                let (low, high) = view.range(&form);
                if low > 0 || high < 0 {
                    next.change().make_empty();
                } else {
                    let vars = next.shared_vars();
                    next.change().equal_zero(&form, &|dim| self.limits(vars[dim]));
                }
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
            return state.change().make_empty();
        }
        let vars = state.shared_vars();
        state.change().at_most_zero(form, &|dim| self.limits(vars[dim]));
    }
}
