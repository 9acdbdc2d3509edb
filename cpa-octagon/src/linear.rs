// SPDX-License-Identifier: Apache-2.0
//! Machine-integer expressions as linear forms with an interval (document 001, section 4.1: what is not linear is replaced
//! by its interval).
//!
//! A form is equal to the expression as a mathematical number. Where the exact result might leave the range of the type, and
//! so wrap around, the form is the range of the type.

use cfa::{BinOp, CmpOp, ExprId, ExprKind, IntTy, Program, UnOp};

use crate::state::OctagonState;

/// Coefficients above this are not kept.
const LARGEST: i128 = 1 << 32;

/// A sum of multiples of dimensions and a number between two bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// Dimension and coefficient, which is not 0; ascending.
    pub terms: Vec<(usize, i128)>,
    /// The least number.
    pub low: i128,
    /// The greatest one.
    pub high: i128,
}

impl Linear {
    pub(crate) fn interval(low: i128, high: i128) -> Self {
        Self { terms: Vec::new(), low, high }
    }

    fn full(ty: IntTy) -> Self {
        Self::interval(ty.min(), ty.max())
    }

    fn constant(&self) -> Option<i128> {
        (self.terms.is_empty() && self.low == self.high).then_some(self.low)
    }

    pub(crate) fn plus(&self, other: &Linear) -> Linear {
        let mut terms = self.terms.clone();
        for &(dim, coefficient) in &other.terms {
            match terms.binary_search_by_key(&dim, |term| term.0) {
                Ok(index) => terms[index].1 += coefficient,
                Err(index) => terms.insert(index, (dim, coefficient)),
            }
        }
        terms.retain(|term| term.1 != 0);
        Linear { terms, low: self.low + other.low, high: self.high + other.high }
    }

    /// The multiple by a number of at most `LARGEST`.
    pub(crate) fn times(&self, factor: i128) -> Linear {
        if factor == 0 {
            return Self::interval(0, 0);
        }
        let terms = self.terms.iter().map(|&(dim, coefficient)| (dim, coefficient * factor)).collect();
        let (a, b) = (self.low * factor, self.high * factor);
        Linear { terms, low: a.min(b), high: a.max(b) }
    }

    pub(crate) fn minus(&self, other: &Linear) -> Linear {
        self.plus(&other.times(-1))
    }

    /// The form without one of its terms.
    pub(crate) fn without(&self, index: usize) -> Linear {
        let mut rest = self.clone();
        rest.terms.remove(index);
        rest
    }
}

/// Looks at expressions in a state.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: &'a OctagonState,
}

impl View<'_> {
    /// The limits of the type of a dimension.
    pub(crate) fn types(&self, dim: usize) -> (i128, i128) {
        let ty = self.program.var(self.state.vars()[dim]).ty;
        (ty.min(), ty.max())
    }

    /// The least and greatest value of a form.
    pub(crate) fn range(&self, form: &Linear) -> (i128, i128) {
        self.state.octagon.range(form, &|dim| self.types(dim))
    }

    /// The form if its values are values of the type; else what is left after wrapping around.
    fn fit(&self, form: Linear, ty: IntTy) -> Linear {
        if let Some(value) = form.constant() {
            return Linear::interval(ty.wrap(value), ty.wrap(value));
        }
        let (low, high) = self.range(&form);
        let small = form.terms.iter().all(|term| term.1.abs() <= LARGEST);
        if low < ty.min() || high > ty.max() {
            Linear::full(ty)
        } else if small {
            form
        } else {
            Linear::interval(low, high)
        }
    }

    /// Whether an expression is non-zero, if that is known.
    pub(crate) fn truth(&self, id: ExprId) -> Option<bool> {
        match self.program.exprs.get(id).kind {
            ExprKind::Not(arg) => self.truth(arg).map(|truth| !truth),
            ExprKind::And(left, right) => match (self.truth(left), self.truth(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                (Some(true) | None, Some(true) | None) => None,
            },
            ExprKind::Or(left, right) => match (self.truth(left), self.truth(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                (Some(false) | None, Some(false) | None) => None,
            },
            ExprKind::Cmp(op, left, right) => {
                let (low, high) = self.range(&self.linear(left).minus(&self.linear(right)));
                match op {
                    CmpOp::Eq if low > 0 || high < 0 => Some(false),
                    CmpOp::Eq if low == 0 && high == 0 => Some(true),
                    CmpOp::Ne if low > 0 || high < 0 => Some(true),
                    CmpOp::Ne if low == 0 && high == 0 => Some(false),
                    CmpOp::Lt if high < 0 => Some(true),
                    CmpOp::Lt if low >= 0 => Some(false),
                    CmpOp::Le if high <= 0 => Some(true),
                    CmpOp::Le if low > 0 => Some(false),
                    CmpOp::Eq | CmpOp::Ne | CmpOp::Lt | CmpOp::Le => None,
                }
            }
            ExprKind::FloatCmp(op, ty, left, right) => self.float_truth(op, ty, left, right),
            _ => {
                let (low, high) = self.range(&self.linear(id));
                if low > 0 || high < 0 {
                    Some(true)
                } else if low == 0 && high == 0 {
                    Some(false)
                } else {
                    None
                }
            }
        }
    }

    /// The value of an expression as a form.
    // Recursion is fine: the lowering bounds the depth of expressions.
    pub(crate) fn linear(&self, id: ExprId) -> Linear {
        let expr = self.program.exprs.get(id);
        let ty = expr.ty;
        match expr.kind {
            ExprKind::Const(value) => Linear::interval(value, value),
            ExprKind::Var(var) => match self.state.dim(var) {
                Some(dim) => Linear { terms: vec![(dim, 1)], low: 0, high: 0 },
                None => Linear::full(ty),
            },
            ExprKind::Unary(UnOp::Neg, arg) => self.fit(self.linear(arg).times(-1), ty),
            ExprKind::Unary(UnOp::BitNot, arg) => {
                // The complement of x is -1 - x, or max - x without a sign.
                let all = if ty.signed { -1 } else { ty.max() };
                self.fit(Linear::interval(all, all).minus(&self.linear(arg)), ty)
            }
            ExprKind::Binary(op, left, right) => self.binary(op, ty, left, right),
            ExprKind::Cast(arg) => self.fit(self.linear(arg), ty),
            ExprKind::Cmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) | ExprKind::FloatCmp(..) => {
                match self.truth(id) {
                    Some(truth) => Linear::interval(i128::from(truth), i128::from(truth)),
                    None => Linear::interval(0, 1),
                }
            }
            ExprKind::Ite(cond, yes, no) => match self.truth(cond) {
                Some(true) => self.linear(yes),
                Some(false) => self.linear(no),
                None => {
                    let (yes, no) = (self.linear(yes), self.linear(no));
                    let (one, two) = (self.range(&yes), self.range(&no));
                    if yes == no { yes } else { Linear::interval(one.0.min(two.0), one.1.max(two.1)) }
                }
            },
            ExprKind::FloatToInt(from, arg) => match self.float(arg, from).only_finite() {
                // The casts saturate; without the type's limits the conversion has any value.
                Some(f) if f.low.trunc() as i128 >= ty.min() && f.high.trunc() as i128 <= ty.max() => {
                    Linear::interval(f.low.trunc() as i128, f.high.trunc() as i128)
                }
                _ => Linear::full(ty),
            },
            ExprKind::Float(..) | ExprKind::FloatFn(..) | ExprKind::FloatFromInt(..) | ExprKind::FloatToFloat(..) => {
                Linear::full(ty)
            }
        }
    }

    fn binary(&self, op: BinOp, ty: IntTy, left: ExprId, right: ExprId) -> Linear {
        let (left, right) = (self.linear(left), self.linear(right));
        let (l, r) = (self.range(&left), self.range(&right));
        let corners = |f: &dyn Fn(i128, i128) -> i128| {
            let values = [f(l.0, r.0), f(l.0, r.1), f(l.1, r.0), f(l.1, r.1)];
            let (low, high) = values.iter().fold((i128::MAX, i128::MIN), |(a, b), &v| (a.min(v), b.max(v)));
            Linear::interval(low, high)
        };
        match op {
            BinOp::Add => self.fit(left.plus(&right), ty),
            BinOp::Sub => self.fit(left.minus(&right), ty),
            BinOp::Mul => match (left.constant(), right.constant()) {
                (Some(factor), _) if factor.abs() <= LARGEST => self.fit(right.times(factor), ty),
                (_, Some(factor)) if factor.abs() <= LARGEST => self.fit(left.times(factor), ty),
                // Products of 64-bit numbers do not fit into 128 bits with a sign if both are unsigned.
                _ if ty.bits <= 32 => self.fit(corners(&|a, b| a * b), ty),
                _ => Linear::full(ty),
            },
            BinOp::Shl => match right.constant() {
                Some(amount) if (0..32).contains(&amount) && amount < i128::from(ty.bits) => {
                    self.fit(left.times(1 << amount), ty)
                }
                Some(_) | None => Linear::full(ty),
            },
            BinOp::Shr if r.0 >= 0 && r.1 < i128::from(ty.bits) => corners(&|a, b| a >> b),
            BinOp::Div if r.0 > 0 => corners(&|a, b| a / b),
            BinOp::Rem if r.0 > 0 => {
                let most = r.1 - 1;
                let low = if l.0 >= 0 { 0 } else { l.0.max(-most) };
                let high = if l.1 <= 0 { 0 } else { l.1.min(most) };
                // The remainder of what is smaller than the divisor is the number itself.
                if l.0 >= 0 && l.1 < r.0 { left } else { Linear::interval(low, high) }
            }
            BinOp::BitAnd if l.0 >= 0 && r.0 >= 0 => Linear::interval(0, l.1.min(r.1)),
            BinOp::BitAnd if l.0 >= 0 => Linear::interval(0, l.1),
            BinOp::BitAnd if r.0 >= 0 => Linear::interval(0, r.1),
            BinOp::Shr | BinOp::Div | BinOp::Rem | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => Linear::full(ty),
        }
    }
}
