// SPDX-License-Identifier: Apache-2.0
//! What an assumption says about values: `x == 5` on a path means that `x` is 5 from there on, also below operations that
//! can be inverted.

use cfa::{BinOp, CmpOp, ExprId, ExprKind, IntTy, UnOp, VarId, floats};

use crate::eval::Eval;
use crate::machine::Machine;
use crate::state::ValueState;

/// The assumption contradicts the known values.
pub(crate) struct Contradiction;

/// Refines a state by assumptions.
pub(crate) struct Assume<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) state: &'a mut ValueState,
    /// The variables whose values the assumption tells. All are used while it is examined, whatever is tracked.
    pub(crate) learned: Vec<VarId>,
}

impl Assume<'_> {
    fn eval(&self, id: ExprId) -> Option<i128> {
        let machine = self.machine;
        Eval::new(&machine.program.exprs, &machine.sizes, id, |var, ty| self.state.var(var, ty)).eval(id)
    }

    /// The expression is non-zero (`truth`) or zero.
    pub(crate) fn holds(&mut self, id: ExprId, truth: bool) -> Result<(), Contradiction> {
        match self.eval(id) {
            Some(value) if (value != 0) == truth => return Ok(()),
            Some(_) => return Err(Contradiction),
            None => {}
        }
        let exprs = &self.machine.program.exprs;
        match exprs.get(id).kind {
            ExprKind::Not(arg) => self.holds(arg, !truth),
            ExprKind::And(left, right) if truth => self.both(left, right, true),
            ExprKind::Or(left, right) if !truth => self.both(left, right, false),
            // One side must decide if the other one does not.
            ExprKind::And(left, right) | ExprKind::Or(left, right) => match (self.eval(left), self.eval(right)) {
                (Some(_), None) => self.holds(right, truth),
                (None, Some(_)) => self.holds(left, truth),
                (Some(_), Some(_)) | (None, None) => Ok(()),
            },
            ExprKind::Cmp(op, left, right) => self.compared(op, left, right, truth),
            ExprKind::FloatCmp(CmpOp::Eq, ty, left, right) if truth => match (self.eval(left), self.eval(right)) {
                // Zero has two bit patterns, all other numbers have one.
                (Some(value), None) if !floats::compare(CmpOp::Eq, ty, value, 0) => self.equals(right, value),
                (None, Some(value)) if !floats::compare(CmpOp::Eq, ty, value, 0) => self.equals(left, value),
                (Some(_), None) | (None, Some(_)) | (Some(_), Some(_)) | (None, None) => Ok(()),
            },
            ExprKind::FloatCmp(..) => Ok(()),
            ExprKind::Cast(arg) if exprs.ty(arg).bits <= exprs.ty(id).bits || exprs.is_truth(arg) => {
                self.holds(arg, truth)
            }
            _ if !truth => self.equals(id, 0),
            _ if exprs.is_truth(id) => self.equals(id, 1),
            _ => Ok(()),
        }
    }

    fn both(&mut self, left: ExprId, right: ExprId, truth: bool) -> Result<(), Contradiction> {
        self.holds(left, truth)?;
        self.holds(right, truth)?;
        // What the right side said may decide more of the left one.
        if self.eval(left).is_none() { self.holds(left, truth) } else { Ok(()) }
    }

    fn compared(&mut self, op: CmpOp, left: ExprId, right: ExprId, truth: bool) -> Result<(), Contradiction> {
        // Brings the comparison to one that holds.
        let (op, left, right) = op.holding(left, right, truth);
        let ty = self.machine.program.exprs.ty(left);
        match (op, self.eval(left), self.eval(right)) {
            (CmpOp::Eq, None, Some(value)) => self.equals(left, value),
            (CmpOp::Eq, Some(value), None) => self.equals(right, value),
            // An inequality leaves one value at the end of the range.
            (CmpOp::Ne, None, Some(value)) if self.is_truth(left) => self.other_truth(left, value),
            (CmpOp::Ne, Some(value), None) if self.is_truth(right) => self.other_truth(right, value),
            (CmpOp::Lt, None, Some(value)) if value == ty.min() + 1 => self.equals(left, ty.min()),
            (CmpOp::Lt, Some(value), None) if value == ty.max() - 1 => self.equals(right, ty.max()),
            (CmpOp::Le, None, Some(value)) if value == ty.min() => self.equals(left, value),
            (CmpOp::Le, Some(value), None) if value == ty.max() => self.equals(right, value),
            (CmpOp::Eq | CmpOp::Ne | CmpOp::Lt | CmpOp::Le, _, _) => Ok(()),
        }
    }

    fn is_truth(&self, id: ExprId) -> bool {
        self.machine.program.exprs.is_truth(id)
    }

    /// An expression that is 0 or 1 differs from a value.
    fn other_truth(&mut self, id: ExprId, value: i128) -> Result<(), Contradiction> {
        match value {
            0 => self.equals(id, 1),
            1 => self.equals(id, 0),
            _ => Ok(()),
        }
    }

    /// The expression, whose value is not known, has this value.
    fn equals(&mut self, id: ExprId, value: i128) -> Result<(), Contradiction> {
        let exprs = &self.machine.program.exprs;
        let expr = exprs.get(id);
        let ty = expr.ty;
        if value < ty.min() || value > ty.max() {
            return Err(Contradiction);
        }
        match expr.kind {
            ExprKind::Const(known) => {
                if known == value {
                    Ok(())
                } else {
                    Err(Contradiction)
                }
            }
            ExprKind::Var(var) => {
                self.state.set_var(var, value, ty);
                self.learned.push(var);
                Ok(())
            }
            ExprKind::Unary(UnOp::Neg, arg) => self.equals(arg, ty.wrap(-value)),
            ExprKind::Unary(UnOp::BitNot, arg) => self.equals(arg, ty.wrap(!value)),
            ExprKind::Cast(arg) => {
                let inner = exprs.ty(arg);
                if inner.bits > ty.bits && !exprs.is_truth(arg) {
                    return Ok(());
                }
                // The conversion is injective, so there is one value, if any, that it takes to this one.
                let argument = inner.wrap(value);
                if ty.wrap(argument) == value { self.equals(arg, argument) } else { Err(Contradiction) }
            }
            ExprKind::Binary(op, left, right) => self.binary_equals(op, ty, left, right, value),
            ExprKind::Cmp(..) | ExprKind::FloatCmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => {
                match value {
                    0 => self.holds(id, false),
                    1 => self.holds(id, true),
                    _ => Err(Contradiction),
                }
            }
            ExprKind::Ite(cond, yes, no) => {
                let differs = |known: Option<i128>| known.is_some_and(|known| known != value);
                let (yes_differs, no_differs) = (differs(self.eval(yes)), differs(self.eval(no)));
                match (yes_differs, no_differs) {
                    (true, true) => Err(Contradiction),
                    (true, false) => {
                        self.holds(cond, false)?;
                        self.unless_known(no, value)
                    }
                    (false, true) => {
                        self.holds(cond, true)?;
                        self.unless_known(yes, value)
                    }
                    (false, false) => Ok(()),
                }
            }
            ExprKind::Float(..)
            | ExprKind::FloatFn(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => Ok(()),
        }
    }

    fn unless_known(&mut self, id: ExprId, value: i128) -> Result<(), Contradiction> {
        match self.eval(id) {
            Some(known) if known == value => Ok(()),
            Some(_) => Err(Contradiction),
            None => self.equals(id, value),
        }
    }

    fn binary_equals(
        &mut self,
        op: BinOp,
        ty: IntTy,
        left: ExprId,
        right: ExprId,
        value: i128,
    ) -> Result<(), Contradiction> {
        let (unknown, known, known_left) = match (self.eval(left), self.eval(right)) {
            (None, Some(known)) => (left, known, false),
            (Some(known), None) => (right, known, true),
            (Some(_), Some(_)) | (None, None) => return Ok(()),
        };
        let operand = match (op, known_left) {
            (BinOp::Add, _) => value - known,
            (BinOp::Sub, false) => value + known,
            (BinOp::Sub, true) => known - value,
            (BinOp::BitXor, _) => value ^ known,
            (BinOp::Mul, _) if known & 1 == 1 => value.wrapping_mul(odd_inverse(known)),
            (BinOp::Mul | BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr | BinOp::BitAnd | BinOp::BitOr, _) => {
                return Ok(());
            }
        };
        self.equals(unknown, ty.wrap(operand))
    }
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration, which doubles the number of right bits.
fn odd_inverse(value: i128) -> i128 {
    let mut inverse = value;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2i128.wrapping_sub(value.wrapping_mul(inverse)));
    }
    i128::from(inverse as u64)
}
