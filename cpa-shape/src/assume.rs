// SPDX-License-Identifier: Apache-2.0
//! What a graph learns from a condition.

use cfa::{CmpOp, ExprId, ExprKind};

use crate::eval::{Computed, Eval, is_pointer};
use crate::graph::{Symbol, Value};
use crate::range::Range;

impl Eval<'_> {
    /// A condition has a truth value; false if that cannot be.
    #[must_use]
    pub(crate) fn assume(&mut self, cond: ExprId, truth: bool) -> bool {
        match self.program.exprs.get(cond).kind {
            ExprKind::Not(arg) => self.assume(arg, !truth),
            ExprKind::And(left, right) if truth => self.assume(left, true) && self.assume(right, true),
            ExprKind::Or(left, right) if !truth => self.assume(left, false) && self.assume(right, false),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                // One of the two has the truth value.
                match (self.truth(left), self.truth(right)) {
                    (Some(left), _) if left != truth => self.assume(right, truth),
                    (_, Some(right)) if right != truth => self.assume(left, truth),
                    (_, _) => true,
                }
            }
            ExprKind::Cmp(op, left, right) => {
                let (op, left, right) = op.holding(left, right, truth);
                let (left, right) = (self.eval(left), self.eval(right));
                self.holds(op, &left, &right)
            }
            _ => {
                let value = self.eval(cond);
                self.holds(if truth { CmpOp::Ne } else { CmpOp::Eq }, &value, &Computed::Value(Value::Int(0)))
            }
        }
    }

    /// A comparison holds; false if that cannot be.
    fn holds(&mut self, op: CmpOp, left: &Computed, right: &Computed) -> bool {
        if let Some(known) = self.compare(op, left, right) {
            return known;
        }
        if op == CmpOp::Eq
            && let (Computed::Value(Value::Unknown(left)), Computed::Value(Value::Unknown(right))) = (left, right)
        {
            return match self.graph.range(*left).meet(self.graph.range(*right)) {
                Some(range) => {
                    self.graph.substitute(*left, Value::Unknown(*right));
                    self.graph.restrict(*right, range);
                    true
                }
                None => false,
            };
        }
        if is_pointer(left) || is_pointer(right) {
            // An address may be any number.
            return true;
        }
        let (of_left, of_right) = (self.range(left), self.range(right));
        self.bound(left, op, &of_right, false) && self.bound(right, op, &of_left, true)
    }

    /// An unknown number compares with some number of a range, from the right if `swapped`; false if that cannot be.
    fn bound(&mut self, result: &Computed, op: CmpOp, other: &Range, swapped: bool) -> bool {
        let Computed::Value(Value::Unknown(symbol)) = *result else { return true };
        let known = self.graph.range(symbol);
        let range = match (op, swapped) {
            (CmpOp::Eq, _) => known.meet(other),
            (CmpOp::Ne, _) => match other.value() {
                Some(value) => known.without(value),
                None => Some(known.clone()),
            },
            (CmpOp::Lt, false) => limited(known, i128::MIN, other.high() - 1),
            (CmpOp::Le, false) => limited(known, i128::MIN, other.high()),
            (CmpOp::Lt, true) => limited(known, other.low() + 1, i128::MAX),
            (CmpOp::Le, true) => limited(known, other.low(), i128::MAX),
        };
        self.learn(symbol, range)
    }

    fn learn(&mut self, symbol: Symbol, range: Option<Range>) -> bool {
        let possible = range.is_some();
        if let Some(range) = range {
            self.graph.restrict(symbol, if self.options.holes { range } else { range.filled() });
        }
        possible
    }
}

fn limited(range: &Range, low: i128, high: i128) -> Option<Range> {
    range.meet(&Range::between(low, high)?)
}
