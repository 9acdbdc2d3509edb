// SPDX-License-Identifier: Apache-2.0
//! Floating-point variables: an octagon over those that are finite numbers, with bounds rounded outwards (document 001,
//! sections 4.1.2 and 5.4.3).
//!
//! A variable with a dimension is a finite number, and constraints are about its value as a real number; infinite values and
//! those that are no numbers are told apart by name, because they obey none of the laws that closure uses. All
//! other variables have any value. Rounding to nearest is monotone, so intervals are computed by rounding the ends as the
//! program does. Relations come from copies and changes of sign, which are exact, and from comparisons.

use std::collections::BTreeMap;

use cfa::{BinOp, CmpOp, ExprId, ExprKind, FloatFn, FloatTy, Program, VarId, floats};

use crate::entry::Entry;
use crate::linear::View;
use crate::octagon::{Octagon, Signed};

/// A value that is no finite number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Special {
    /// Not a number.
    NotANumber,
    /// Positive infinity.
    Above,
    /// Negative infinity.
    Below,
}

/// What is known of floating-point variables.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Floats {
    /// The variables with a dimension, ascending.
    vars: Vec<VarId>,
    octagon: Octagon<f64>,
    special: BTreeMap<VarId, Special>,
}

/// Some finite numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Finite {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The dimension that has exactly this value, or the negated one.
    exact: Option<Signed>,
}

/// The values that an expression can have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Value {
    nan: bool,
    above: bool,
    below: bool,
    pub(crate) finite: Option<Finite>,
}

fn greatest(ty: FloatTy) -> f64 {
    if ty == FloatTy::F32 { f64::from(f32::MAX) } else { f64::MAX }
}

/// The bits of a number of the format; of one between two numbers one of these, so that no number lies in between.
fn bits(ty: FloatTy, value: f64) -> i128 {
    if ty == FloatTy::F32 { i128::from((value as f32).to_bits()) } else { i128::from(value.to_bits()) }
}

fn number(ty: FloatTy, bits: i128) -> f64 {
    if ty == FloatTy::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits as u64) }
}

/// The greatest number of the format below what [`bits`] makes of this one.
fn below(ty: FloatTy, value: f64) -> f64 {
    if ty == FloatTy::F32 { f64::from((value as f32).next_down()) } else { value.next_down() }
}

/// Twice a bound; where that is beyond all numbers the greatest one below, or no bound.
fn doubled(bound: f64) -> f64 {
    (bound * 2.0).max(f64::MIN)
}

fn negated(signed: Signed) -> Signed {
    Signed { negative: !signed.negative, ..signed }
}

impl Value {
    fn any(ty: FloatTy) -> Self {
        let finite = Finite { low: -greatest(ty), high: greatest(ty), exact: None };
        Self { nan: true, above: true, below: true, finite: Some(finite) }
    }

    fn special(special: Special) -> Self {
        Self {
            nan: special == Special::NotANumber,
            above: special == Special::Above,
            below: special == Special::Below,
            finite: None,
        }
    }

    /// The numbers between two ends, which may be infinite.
    fn between(ty: FloatTy, low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() {
            return Self::any(ty);
        }
        let most = greatest(ty);
        let finite =
            (low <= most && high >= -most).then(|| Finite { low: low.max(-most), high: high.min(most), exact: None });
        Self { nan: false, above: high == f64::INFINITY, below: low == f64::NEG_INFINITY, finite }
    }

    fn constant(ty: FloatTy, bits: i128) -> Self {
        let value = number(ty, bits);
        if value.is_nan() { Self::special(Special::NotANumber) } else { Self::between(ty, value, value) }
    }

    /// The finite numbers, if there are no other values.
    pub(crate) fn only_finite(self) -> Option<Finite> {
        if self.nan || self.above || self.below { None } else { self.finite }
    }

    /// The special value, if it is the only one.
    fn only_special(self) -> Option<Special> {
        match (self.nan, self.above, self.below, self.finite) {
            (true, false, false, None) => Some(Special::NotANumber),
            (false, true, false, None) => Some(Special::Above),
            (false, false, true, None) => Some(Special::Below),
            _ => None,
        }
    }

    fn negate(self) -> Self {
        let finite = self.finite.map(|f| Finite { low: -f.high, high: -f.low, exact: f.exact.map(negated) });
        Self { nan: self.nan, above: self.below, below: self.above, finite }
    }

    fn magnitude(self) -> Self {
        let finite = self.finite.map(|f| match (f.low >= 0.0, f.high <= 0.0) {
            (true, _) => f,
            (_, true) => Finite { low: -f.high, high: -f.low, exact: f.exact.map(negated) },
            (false, false) => Finite { low: 0.0, high: f.high.max(-f.low), exact: None },
        });
        Self { nan: self.nan, above: self.above || self.below, below: false, finite }
    }

    fn join(self, other: Self) -> Self {
        let finite = match (self.finite, other.finite) {
            (Some(a), Some(b)) => {
                let exact = if a.exact == b.exact { a.exact } else { None };
                Some(Finite { low: a.low.min(b.low), high: a.high.max(b.high), exact })
            }
            (a, b) => a.or(b),
        };
        Self { nan: self.nan || other.nan, above: self.above || other.above, below: self.below || other.below, finite }
    }

    /// Ranges of values that are numbers.
    fn ranges(self) -> impl Iterator<Item = (f64, f64)> {
        let infinite = |there: bool, value: f64| there.then_some((value, value));
        [
            infinite(self.above, f64::INFINITY),
            infinite(self.below, f64::NEG_INFINITY),
            self.finite.map(|f| (f.low, f.high)),
        ]
        .into_iter()
        .flatten()
    }
}

impl Floats {
    pub(crate) fn top() -> Self {
        Self { vars: Vec::new(), octagon: Octagon::top(0), special: BTreeMap::new() }
    }

    fn dim(&self, var: VarId) -> Option<usize> {
        self.vars.binary_search(&var).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.octagon.is_empty()
    }

    /// Whether nothing is known.
    pub(crate) fn is_top(&self) -> bool {
        self.vars.is_empty() && self.special.is_empty()
    }

    pub(crate) fn value(&self, var: VarId, ty: FloatTy) -> Value {
        if let Some(&special) = self.special.get(&var) {
            return Value::special(special);
        }
        let Some(dim) = self.dim(var) else { return Value::any(ty) };
        let (plus, minus) = (Signed::plus(dim), Signed::minus(dim));
        let high = self.octagon.upper_entry(plus, plus).half().min(greatest(ty));
        let low = (-self.octagon.upper_entry(minus, minus).half()).max(-greatest(ty));
        let finite = Some(Finite { low, high, exact: Some(plus) });
        Value { nan: false, above: false, below: false, finite }
    }

    pub(crate) fn forget(&mut self, gone: &dyn Fn(VarId) -> bool) {
        self.special.retain(|&var, _| !gone(var));
        if self.vars.iter().any(|&var| gone(var)) {
            let dims: Vec<usize> = (0..self.vars.len()).filter(|&dim| !gone(self.vars[dim])).collect();
            self.octagon = self.octagon.project(&dims);
            self.vars.retain(|&var| !gone(var));
        }
    }

    /// The dimension of a variable that is finite from now on, whatever it was.
    fn make_dim(&mut self, var: VarId) -> usize {
        self.special.remove(&var);
        match self.vars.binary_search(&var) {
            Ok(dim) => dim,
            Err(dim) => {
                let last = self.vars.len();
                self.octagon.add_dims(1);
                if dim != last {
                    let order: Vec<usize> = (0..dim).chain([last]).chain(dim..last).collect();
                    self.octagon = self.octagon.project(&order);
                }
                self.vars.insert(dim, var);
                dim
            }
        }
    }

    fn limit(&mut self, dim: usize, low: f64, high: f64) {
        let (plus, minus) = (Signed::plus(dim), Signed::minus(dim));
        self.octagon.constrain_entry(plus, plus, doubled(high));
        self.octagon.constrain_entry(minus, minus, doubled(-low));
    }

    /// The variable takes a value, or any one.
    pub(crate) fn assign(&mut self, var: VarId, value: Option<Value>) {
        let Some(value) = value else { return self.forget(&|other| other == var) };
        if let Some(special) = value.only_special() {
            self.forget(&|other| other == var);
            self.special.insert(var, special);
            return;
        }
        let Some(finite) = value.only_finite() else { return self.forget(&|other| other == var) };
        if let Some(source) = finite.exact
            && self.vars[source.dim] == var
        {
            if source.negative {
                self.octagon.negate(source.dim);
            }
            return;
        }
        let source = finite.exact.map(|source| (self.vars[source.dim], source.negative));
        let dim = self.make_dim(var);
        self.octagon.forget(dim);
        self.limit(dim, finite.low, finite.high);
        if let Some((other, negative)) = source
            && let Some(other) = self.dim(other)
        {
            let (same, opposite) = (Signed { dim: other, negative }, Signed { dim: other, negative: !negative });
            self.octagon.constrain_entry(Signed::plus(dim), opposite, 0.0);
            self.octagon.constrain_entry(Signed::minus(dim), same, 0.0);
        }
    }

    /// The kinds of values that an input can have, each as a state of its own.
    pub(crate) fn split(&self, var: VarId, ty: FloatTy) -> Vec<Floats> {
        let finite = Value { nan: false, above: false, below: false, ..Value::any(ty) };
        let special = [Special::NotANumber, Special::Above, Special::Below].map(Value::special);
        let with = |value: Value| {
            let mut next = self.clone();
            next.assign(var, Some(value));
            next
        };
        std::iter::once(finite).chain(special).map(with).collect()
    }

    /// The least upper bound of the difference of two values, if they are dimensions.
    fn difference(&self, left: &Finite, right: &Finite) -> f64 {
        match (left.exact, right.exact) {
            (Some(l), Some(r)) if l == r => 0.0,
            (Some(l), Some(r)) => self.octagon.upper_entry(l, negated(r)),
            _ => f64::INFINITY,
        }
    }

    /// What a comparison gives, if that is known.
    pub(crate) fn decide(&self, op: CmpOp, left: &Value, right: &Value) -> Option<bool> {
        let (mut yes, mut no) = (false, left.nan || right.nan);
        for (l, r) in left.ranges().flat_map(|l| right.ranges().map(move |r| (l, r))) {
            let equal = l.0 == l.1 && r.0 == r.1 && l.0 == r.0;
            let (mut can, mut cannot) = match op {
                CmpOp::Lt => (l.0 < r.1, l.1 >= r.0),
                CmpOp::Le => (l.0 <= r.1, l.1 > r.0),
                CmpOp::Eq | CmpOp::Ne => (l.0 <= r.1 && r.0 <= l.1, !equal),
            };
            if let (Some(a), Some(b)) = (&left.finite, &right.finite)
                && l == (a.low, a.high)
                && r == (b.low, b.high)
            {
                let (most, least) = (self.difference(a, b), -self.difference(b, a));
                match op {
                    CmpOp::Lt => (can, cannot) = (can && least < 0.0, cannot && most >= 0.0),
                    CmpOp::Le => (can, cannot) = (can && least <= 0.0, cannot && most > 0.0),
                    CmpOp::Eq | CmpOp::Ne => {
                        can &= least <= 0.0 && most >= 0.0;
                        cannot &= !(least == 0.0 && most == 0.0);
                    }
                }
            }
            (yes, no) = (yes || can, no || cannot);
        }
        let truth = match (yes, no) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        Some(if op == CmpOp::Ne { !truth } else { truth })
    }

    /// Adds that one number is at most another one, or less.
    fn order(&mut self, ty: FloatTy, left: &Finite, right: &Finite, strict: bool) {
        let (mut most, mut least) = (right.high, left.low);
        if strict {
            (most, least) = (below(ty, most), -below(ty, -least));
        }
        if let (Some(l), Some(r)) = (left.exact, right.exact) {
            self.octagon.constrain_entry(l, negated(r), 0.0);
        }
        if let Some(l) = left.exact {
            self.octagon.constrain_entry(l, l, doubled(most));
        }
        if let Some(r) = right.exact {
            self.octagon.constrain_entry(negated(r), negated(r), doubled(-least));
        }
    }

    /// Adds that a comparison has the given truth; what is known of the operands is finite.
    pub(crate) fn assume(&mut self, op: CmpOp, ty: FloatTy, left: &Finite, right: &Finite, truth: bool) {
        match (op, truth) {
            (CmpOp::Lt, true) => self.order(ty, left, right, true),
            (CmpOp::Le, true) => self.order(ty, left, right, false),
            (CmpOp::Lt, false) => self.order(ty, right, left, false),
            (CmpOp::Le, false) => self.order(ty, right, left, true),
            (CmpOp::Eq, true) | (CmpOp::Ne, false) => {
                self.order(ty, left, right, false);
                self.order(ty, right, left, false);
            }
            (CmpOp::Eq, false) | (CmpOp::Ne, true) => {}
        }
    }

    /// What both know, over variables that both know.
    fn common(&self, other: &Floats) -> (Floats, Floats) {
        let (mut one, mut two) = (self.clone(), other.clone());
        let differs = |var: VarId| {
            self.special.get(&var) != other.special.get(&var) || self.dim(var).is_some() != other.dim(var).is_some()
        };
        one.forget(&differs);
        two.forget(&differs);
        (one, two)
    }

    pub(crate) fn leq(&self, greater: &Floats) -> bool {
        if self.is_empty() {
            return true;
        }
        let special = greater.special.iter().all(|(var, special)| self.special.get(var) == Some(special));
        if !special || !greater.vars.iter().all(|&var| self.dim(var).is_some()) {
            return false;
        }
        if self.vars == greater.vars {
            return self.octagon.leq(&greater.octagon);
        }
        let mut lesser = self.clone();
        lesser.forget(&|var| greater.dim(var).is_none());
        lesser.octagon.leq(&greater.octagon)
    }

    pub(crate) fn join(&self, other: &Floats) -> Floats {
        let (one, two) = self.common(other);
        Floats { octagon: one.octagon.join(&two.octagon), ..one }
    }

    /// A state around both. It is left as it is, not closed, so that going on like this ends.
    pub(crate) fn widen(&self, new: &Floats, thresholds: &[f64]) -> Floats {
        let (one, two) = self.common(new);
        let octagon = one.octagon.widen(&one.octagon.join(&two.octagon), thresholds);
        Floats { octagon, ..one }
    }

    /// Whether a run in which variables have the given values, as bits, may be here; none is any value.
    pub(crate) fn contains(&self, program: &Program, value: &dyn Fn(VarId) -> Option<i128>) -> bool {
        let known = |var: VarId| Some(number(program.var(var).float?, value(var)?));
        let special = self.special.iter().all(|(&var, special)| match (known(var), special) {
            (None, _) => true,
            (Some(value), Special::NotANumber) => value.is_nan(),
            (Some(value), Special::Above) => value == f64::INFINITY,
            (Some(value), Special::Below) => value == f64::NEG_INFINITY,
        });
        let dims: Vec<usize> = (0..self.vars.len()).filter(|&dim| known(self.vars[dim]).is_some()).collect();
        let point: Vec<f64> = self.vars.iter().filter_map(|&var| known(var)).collect();
        special && point.iter().all(|value| value.is_finite()) && self.octagon.project(&dims).contains(&point)
    }

    /// Names and bounds, for people.
    pub(crate) fn shown(&self) -> Vec<String> {
        let finite = self.vars.iter().map(|&var| match self.value(var, FloatTy::F64).finite {
            Some(finite) => format!("{var}:{:?}..{:?}", finite.low, finite.high),
            None => var.to_string(),
        });
        finite.chain(self.special.iter().map(|(var, special)| format!("{var}:{special:?}"))).collect()
    }
}

impl View<'_> {
    /// The values of an expression of a floating-point format.
    // Recursion is fine: the lowering bounds the depth of expressions.
    pub(crate) fn float(&self, id: ExprId, ty: FloatTy) -> Value {
        let exprs = &self.program.exprs;
        let sign = 1i128 << (ty.bits().bits - 1);
        match exprs.get(id).kind {
            ExprKind::Const(bits) => Value::constant(ty, bits),
            ExprKind::Var(var) if self.program.var(var).float == Some(ty) => self.state.floats.value(var, ty),
            ExprKind::Binary(BinOp::BitXor, arg, mask) if exprs.as_const(mask) == Some(sign) => {
                self.float(arg, ty).negate()
            }
            ExprKind::Binary(BinOp::BitAnd, arg, mask) if exprs.as_const(mask) == Some(sign - 1) => {
                self.float(arg, ty).magnitude()
            }
            ExprKind::Float(op, of, left, right) if of == ty => {
                let operands = (self.float(left, ty).only_finite(), self.float(right, ty).only_finite());
                let (Some(l), Some(r)) = operands else { return Value::any(ty) };
                if op == cfa::FloatOp::Div && r.low <= 0.0 && r.high >= 0.0 {
                    return Value::any(ty);
                }
                let corner = |l, r| number(ty, floats::binary(op, ty, bits(ty, l), bits(ty, r)));
                around(
                    ty,
                    &[corner(l.low, r.low), corner(l.low, r.high), corner(l.high, r.low), corner(l.high, r.high)],
                )
            }
            ExprKind::FloatFn(function, of, arg) if of == ty => match self.float(arg, ty).only_finite() {
                Some(arg) if function != FloatFn::Sqrt || arg.low >= 0.0 => {
                    let end = |end| number(ty, floats::function(function, ty, bits(ty, end)));
                    around(ty, &[end(arg.low), end(arg.high)])
                }
                _ => Value::any(ty),
            },
            ExprKind::FloatFromInt(to, arg) if to == ty => {
                let (low, high) = self.range(&self.linear(arg));
                around(ty, &[low, high].map(|end| number(ty, floats::from_int(ty, end))))
            }
            ExprKind::FloatToFloat(from, arg) if from.other() == ty => {
                let value = self.float(arg, from);
                match (from, value.finite) {
                    (FloatTy::F64, Some(f)) => {
                        let mut single =
                            around(ty, &[f.low, f.high].map(|end| number(ty, floats::convert(from, bits(from, end)))));
                        single.nan |= value.nan;
                        single.above |= value.above;
                        single.below |= value.below;
                        single
                    }
                    // Every single is a double.
                    (FloatTy::F32, _) | (_, None) => value,
                }
            }
            ExprKind::Ite(cond, yes, no) => match self.truth(cond) {
                Some(true) => self.float(yes, ty),
                Some(false) => self.float(no, ty),
                None => self.float(yes, ty).join(self.float(no, ty)),
            },
            _ => Value::any(ty),
        }
    }

    /// What a comparison gives, if that is known.
    pub(crate) fn float_truth(&self, op: CmpOp, ty: FloatTy, left: ExprId, right: ExprId) -> Option<bool> {
        self.state.floats.decide(op, &self.float(left, ty), &self.float(right, ty))
    }
}

/// The numbers between the least and the greatest of some.
fn around(ty: FloatTy, ends: &[f64]) -> Value {
    if ends.iter().any(|end| end.is_nan()) {
        return Value::any(ty);
    }
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Value::between(ty, low, high)
}

/// The numbers beside a constant, where widening may stop.
pub(crate) fn beside(ty: FloatTy, constant: f64) -> [f64; 3] {
    [below(ty, constant), constant, -below(ty, -constant)]
}
