// SPDX-License-Identifier: Apache-2.0
//! What a graph learns from a condition.

use cfa::{CmpOp, ExprId, ExprKind};

use crate::eval::{Computed, Eval, Near, is_pointer};
use crate::graph::{Symbol, Value};
use crate::range::Range;

/// More cases than this are not told apart.
const CASES: usize = 8;
/// Bigger conditions, as trees, have one case.
const SMALL: u32 = 64;

/// Conditions that have truth values together.
type Conjunction = Vec<(ExprId, bool)>;

impl Eval<'_> {
    /// The cases in which a condition has a truth value, if there are not too many of them.
    pub(crate) fn cases(&mut self, cond: ExprId, truth: bool) -> Vec<Conjunction> {
        let cases = (self.sizes[cond.index()] <= SMALL).then(|| self.alternatives(cond, truth)).flatten();
        cases.filter(|cases| cases.len() <= CASES).unwrap_or_else(|| vec![vec![(cond, truth)]])
    }

    fn alternatives(&mut self, cond: ExprId, truth: bool) -> Option<Vec<Conjunction>> {
        let both = |lefts: Vec<Conjunction>, rights: &[Conjunction]| {
            let pairs = lefts.iter().flat_map(|left| rights.iter().map(|right| [&left[..], right].concat()));
            (lefts.len() * rights.len() <= CASES).then(|| pairs.collect::<Vec<_>>())
        };
        match self.program.exprs.get(cond).kind {
            ExprKind::Not(arg) => self.alternatives(arg, !truth),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let needs_both = truth == matches!(self.program.exprs.get(cond).kind, ExprKind::And(..));
                match (self.truth(left), self.truth(right)) {
                    (Some(known), _) if (known == truth) != needs_both => {
                        Some(if needs_both { Vec::new() } else { vec![Vec::new()] })
                    }
                    (_, Some(known)) if (known == truth) != needs_both => {
                        Some(if needs_both { Vec::new() } else { vec![Vec::new()] })
                    }
                    (Some(_), _) => self.alternatives(right, truth),
                    (_, Some(_)) => self.alternatives(left, truth),
                    (None, None) => {
                        let rights = self.alternatives(right, truth)?;
                        if needs_both {
                            return both(self.alternatives(left, truth)?, &rights);
                        }
                        let mut cases = self.alternatives(left, truth)?;
                        cases.extend(both(self.alternatives(left, !truth)?, &rights)?);
                        Some(cases)
                    }
                }
            }
            _ => Some(vec![vec![(cond, truth)]]),
        }
    }

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
        if op == CmpOp::Ne
            && let (Computed::Value(Value::Unknown(left)), Computed::Value(Value::Unknown(right))) = (left, right)
        {
            self.graph.learn_unequal(*left, *right);
            return true;
        }
        if is_pointer(left) || is_pointer(right) {
            // An address may be any number.
            return true;
        }
        if let (Some(left), Some(right)) = (left.near(), right.near()) {
            let mut learn = |less: Near, by: i128, more: Near| {
                self.graph.learn_at_most(less.symbol, less.low - more.high + by, more.symbol);
            };
            match op {
                CmpOp::Lt => learn(left, 1, right),
                CmpOp::Le => learn(left, 0, right),
                CmpOp::Eq => {
                    learn(left, 0, right);
                    learn(right, 0, left);
                }
                CmpOp::Ne => {}
            }
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
