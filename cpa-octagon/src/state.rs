// SPDX-License-Identifier: Apache-2.0
//! Abstract states: an octagon over some of the program's variables. All other variables have any value of their types.

use std::fmt;
use std::rc::Rc;

use cfa::{BinOp, CmpOp, ExprId, Exprs, IntTy, Program, VarId};

use crate::floats::Floats;
use crate::linear::Linear;
use crate::numeric::{Kind, Numeric};

/// An abstract state.
#[derive(Clone, Debug)]
pub struct OctagonState {
    /// The variables behind the dimensions, ascending.
    vars: Rc<[VarId]>,
    pub(crate) octagon: Rc<Numeric>,
    /// The result of a widening as it is, for the next widening; `octagon` is its closure.
    widened: Option<Rc<Numeric>>,
    /// What is known of floating-point variables; they have no dimensions in `octagon`.
    pub(crate) floats: Rc<Floats>,
    /// Whether states are merged at this location.
    pub(crate) merging: bool,
}

impl PartialEq for OctagonState {
    fn eq(&self, other: &Self) -> bool {
        self.vars == other.vars && self.octagon == other.octagon && self.floats == other.floats
    }
}

impl fmt::Display for OctagonState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |bound: Option<i128>| bound.map_or("?".to_owned(), |bound| bound.to_string());
        let bounds = self.vars.iter().enumerate().map(|(dim, var)| {
            let (low, high) = self.octagon.bounds(dim);
            format!("{var}:{}..{}", show(low), show(high))
        });
        f.write_str(&bounds.chain(self.floats.shown()).collect::<Vec<_>>().join(" "))
    }
}

impl OctagonState {
    /// All concrete states, in a domain.
    pub fn top(kind: Kind) -> Self {
        Self {
            vars: Rc::new([]),
            octagon: Rc::new(Numeric::new(kind)),
            widened: None,
            floats: Rc::new(Floats::top()),
            merging: true,
        }
    }

    /// The same state; `merging` says whether states are merged where it is.
    pub(crate) fn merging_here(self, merging: bool) -> Self {
        Self { merging, ..self }
    }

    /// The variables with a dimension, ascending.
    pub fn vars(&self) -> &[VarId] {
        &self.vars
    }

    /// The same, to keep while the state changes.
    pub(crate) fn shared_vars(&self) -> Rc<[VarId]> {
        Rc::clone(&self.vars)
    }

    /// The dimension of a variable.
    pub fn dim(&self, var: VarId) -> Option<usize> {
        self.vars.binary_search(&var).ok()
    }

    /// The least and greatest value of a dimension, as far as they are known.
    pub fn bounds(&self, dim: usize) -> (Option<i128>, Option<i128>) {
        self.octagon.bounds(dim)
    }

    /// Whether a run in which variables have the given values may be here; none is any value.
    pub fn contains(&self, program: &Program, value: &dyn Fn(VarId) -> Option<i128>) -> bool {
        let known = |var: VarId| value(var).and_then(|value| i64::try_from(value).ok());
        let dims: Vec<usize> = (0..self.vars.len()).filter(|&dim| known(self.vars[dim]).is_some()).collect();
        let point: Vec<i64> = self.vars.iter().filter_map(|&var| known(var)).collect();
        self.octagon.project(&dims).contains(&point) && self.floats.contains(program, value)
    }

    /// What the state says beyond the types of the variables, as expressions; sums and differences only where they fit into
    /// 64 bits.
    pub fn facts(&self, program: &Program, exprs: &mut Exprs) -> Vec<ExprId> {
        const LONG: IntTy = IntTy { bits: 64, signed: true };
        let mut facts = Vec::new();
        let bounds: Vec<(i128, i128)> = self
            .vars
            .iter()
            .enumerate()
            .map(|(dim, &var)| {
                let ty = program.var(var).ty;
                let (low, high) = self.octagon.bounds(dim);
                (low.unwrap_or(ty.min()).max(ty.min()), high.unwrap_or(ty.max()).min(ty.max()))
            })
            .collect();
        for (&var, &(low, high)) in self.vars.iter().zip(&bounds) {
            let ty = program.var(var).ty;
            let value = exprs.var(var, ty);
            let (least, greatest) = (exprs.constant(ty, low), exprs.constant(ty, high));
            if low == high {
                facts.push(exprs.cmp(CmpOp::Eq, value, least));
                continue;
            }
            if low > ty.min() {
                facts.push(exprs.cmp(CmpOp::Le, least, value));
            }
            if high < ty.max() {
                facts.push(exprs.cmp(CmpOp::Le, value, greatest));
            }
        }
        let fits = |value: i128| value >= LONG.min() && value <= LONG.max();
        for (a, &(low_a, high_a)) in bounds.iter().enumerate() {
            for (b, &(low_b, high_b)) in bounds.iter().enumerate().take(a) {
                if low_a == high_a || low_b == high_b {
                    continue;
                }
                for (plus_a, plus_b) in [(true, true), (true, false), (false, true), (false, false)] {
                    let factor = |plus| if plus { 1 } else { -1 };
                    let sum = Linear { terms: vec![(b, factor(plus_b)), (a, factor(plus_a))], low: 0, high: 0 };
                    let (_, bound) = self.octagon.range(&sum, &|dim| bounds[dim]);
                    let ends = |plus, low: i128, high: i128| if plus { (low, high) } else { (-high, -low) };
                    let (one, two) = (ends(plus_a, low_a, high_a), ends(plus_b, low_b, high_b));
                    if bound >= one.1 + two.1 || !fits(one.0 + two.0) || !fits(one.1 + two.1) {
                        continue;
                    }
                    let mut value = |dim: usize| {
                        let var = exprs.var(self.vars[dim], program.var(self.vars[dim]).ty);
                        exprs.cast(var, LONG)
                    };
                    let (x, y) = (value(a), value(b));
                    let fact = match (plus_a, plus_b) {
                        (true, true) | (false, false) => {
                            let sum = exprs.binary(BinOp::Add, x, y);
                            let limit = exprs.constant(LONG, if plus_a { bound } else { -bound });
                            if plus_a { exprs.cmp(CmpOp::Le, sum, limit) } else { exprs.cmp(CmpOp::Le, limit, sum) }
                        }
                        (true, false) | (false, true) => {
                            let (x, y) = if plus_a { (x, y) } else { (y, x) };
                            let limit = exprs.constant(LONG, bound);
                            let limit = exprs.binary(BinOp::Add, y, limit);
                            exprs.cmp(CmpOp::Le, x, limit)
                        }
                    };
                    facts.push(fact);
                }
            }
        }
        facts
    }

    /// Least upper bounds of variables and of sums of two, each negated where that is said, as far as they say more than the
    /// types and than the bounds of single variables.
    pub fn upper_bounds(&self, program: &Program) -> Vec<(Vec<(VarId, bool)>, i128)> {
        let limits = |dim: usize| {
            let ty = program.var(self.vars[dim]).ty;
            (ty.min(), ty.max())
        };
        let form = |terms: &[(usize, bool)]| Linear {
            terms: terms.iter().map(|&(dim, negative)| (dim, if negative { -1 } else { 1 })).collect(),
            low: 0,
            high: 0,
        };
        let most = |terms: &[(usize, bool)]| self.octagon.range(&form(terms), &limits).1;
        let mut found = Vec::new();
        let sides = [false, true];
        for a in 0..self.vars.len() {
            for one in sides {
                let bound = most(&[(a, one)]);
                let (min, max) = limits(a);
                if bound < if one { -min } else { max } {
                    found.push((vec![(self.vars[a], one)], bound));
                }
                for (b, two) in (0..a).flat_map(|b| sides.map(|two| (b, two))) {
                    let bound = most(&[(b, two), (a, one)]);
                    if bound < most(&[(a, one)]) + most(&[(b, two)]) {
                        found.push((vec![(self.vars[b], two), (self.vars[a], one)], bound));
                    }
                }
            }
        }
        found
    }

    /// The octagon, to be changed.
    pub(crate) fn change(&mut self) -> &mut Numeric {
        self.widened = None;
        Rc::make_mut(&mut self.octagon)
    }

    /// The dimension of a variable, which gets one if it has none.
    pub(crate) fn make_dim(&mut self, var: VarId, ty: IntTy) -> usize {
        match self.vars.binary_search(&var) {
            Ok(dim) => dim,
            Err(dim) => {
                let last = self.vars.len();
                let mut vars = self.vars.to_vec();
                vars.insert(dim, var);
                let octagon = self.change();
                octagon.add_dims(1);
                let order: Vec<usize> = (0..dim).chain([last]).chain(dim..last).collect();
                if dim != last {
                    *octagon = octagon.project(&order);
                }
                in_range(octagon, dim, ty);
                self.vars = vars.into();
                dim
            }
        }
    }

    /// Forgets the dimension of a variable, if it has one among the integers.
    pub(crate) fn forget_integer(&mut self, var: VarId) {
        if self.dim(var).is_some() {
            let floats = Rc::clone(&self.floats);
            self.forget(&|other| other == var);
            self.floats = floats;
        }
    }

    /// Forgets variables.
    pub(crate) fn forget(&mut self, gone: &dyn Fn(VarId) -> bool) {
        if !self.floats.is_top() {
            Rc::make_mut(&mut self.floats).forget(gone);
        }
        if self.vars.iter().any(|&var| gone(var)) {
            let dims: Vec<usize> = (0..self.vars.len()).filter(|&dim| !gone(self.vars[dim])).collect();
            self.octagon = Rc::new(self.octagon.project(&dims));
            self.widened = self.widened.as_ref().map(|widened| Rc::new(widened.project(&dims)));
            self.vars = dims.iter().map(|&dim| self.vars[dim]).collect();
        }
    }

    /// Whether this state stands for no more than the other one.
    pub(crate) fn leq(&self, greater: &OctagonState, program: &Program) -> bool {
        if self.octagon.is_empty() {
            return true;
        }
        if !self.floats.leq(&greater.floats) {
            return false;
        }
        if self.vars == greater.vars {
            return self.octagon.leq(&greater.octagon);
        }
        // What this state says nothing about is in the range of its type.
        let mut lesser = self.clone();
        greater.vars.iter().for_each(|&var| {
            lesser.make_dim(var, program.var(var).ty);
        });
        lesser.forget(&|var| greater.dim(var).is_none());
        lesser.octagon.leq(&greater.octagon)
    }

    /// Both states over the variables that both know.
    fn common(&self, other: &OctagonState) -> (OctagonState, OctagonState) {
        let (mut one, mut two) = (self.clone(), other.clone());
        one.forget(&|var| other.dim(var).is_none());
        two.forget(&|var| self.dim(var).is_none());
        (one, two)
    }

    /// What both states say together; of floating-point variables what this one says.
    pub(crate) fn meet(&self, other: &OctagonState, program: &Program) -> OctagonState {
        let (mut one, mut two) = (self.clone(), other.clone());
        for &var in other.vars() {
            one.make_dim(var, program.var(var).ty);
        }
        for &var in self.vars() {
            two.make_dim(var, program.var(var).ty);
        }
        OctagonState { octagon: Rc::new(one.octagon.meet(&two.octagon)), widened: None, ..one }
    }

    /// The smallest state around both.
    pub(crate) fn join(&self, other: &OctagonState) -> OctagonState {
        let (one, two) = self.common(other);
        if self.octagon.is_empty() || other.octagon.is_empty() {
            return if self.octagon.is_empty() { other.clone() } else { self.clone() };
        }
        let floats = Rc::new(self.floats.join(&other.floats));
        OctagonState { octagon: Rc::new(one.octagon.join(&two.octagon)), widened: None, floats, ..one }
    }

    /// A state around both; going on like this ends.
    pub(crate) fn widen(&self, new: &OctagonState, thresholds: &Thresholds, program: &Program) -> OctagonState {
        let (one, two) = self.common(new);
        let left = one.widened.as_ref().unwrap_or(&one.octagon);
        let widened = left.widen(&one.octagon.join(&two.octagon), &thresholds.integers);
        let mut closed = widened.clone();
        closed.close();
        for (dim, &var) in one.vars.iter().enumerate() {
            in_range(&mut closed, dim, program.var(var).ty);
        }
        let floats = Rc::new(self.floats.widen(&new.floats, &thresholds.floats));
        OctagonState { octagon: Rc::new(closed), widened: Some(Rc::new(widened)), floats, ..one }
    }
}

/// Where widening stops before it gives up a bound; ascending.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Thresholds {
    /// Bounds of integers.
    pub integers: Vec<i64>,
    /// Bounds of floating-point numbers.
    pub floats: Vec<f64>,
}

/// The dimension holds a value of the type.
pub(crate) fn in_range(octagon: &mut Numeric, dim: usize, ty: IntTy) {
    octagon.limit(dim, ty.min(), ty.max());
}
