// SPDX-License-Identifier: Apache-2.0
//! The bits of floating-point results that are not numbers.
//!
//! IEEE 754 (6.2, 6.3) and C11 (F.2.1) leave the sign and the payload of such a result open, and processors differ. Most
//! programs cannot tell: they pass the values on and compare them as numbers. Others look at the bits, through a union, a
//! converted pointer, the sign or bytes. A flow-insensitive analysis against the flow of values finds the variables and the
//! regions of memory whose bits may be looked at (never too few); a result that goes into one of them has any bits of a quiet
//! "not a number" if it is none. An operation on numbers gives nothing else than a quiet one.

use rustc_hash::FxHashSet;

use crate::ids::{ExprId, FuncId, NodeId};
use crate::ir::{BinOp, CmpOp, ExprKind, FloatTy, HavocOrigin, IntTy, Op, Region};

use super::Lower;
use super::arbitrary::Arbitrary;
use super::math::{infinity, quiet_nan};

/// Where the bits of values may be looked at.
struct Seen {
    vars: Vec<bool>,
    regions: Vec<bool>,
}

impl Seen {
    fn count(&self) -> usize {
        self.vars.iter().chain(&self.regions).filter(|seen| **seen).count()
    }
}

/// What an operation does with a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It takes the number; the bits of what is not a number do not matter.
    Number,
    /// It may take the bits.
    Bits,
}

impl Use {
    fn of(bits: bool) -> Self {
        if bits { Use::Bits } else { Use::Number }
    }
}

impl Lower<'_> {
    /// Gives results any bits where they are not numbers and their bits may be looked at.
    pub(super) fn open_nans(&mut self, regions: &[Region], start: NodeId, main: FuncId) {
        let results = |id| self.exprs.get(id).kind.is_float();
        if !self.exprs.ids().any(results) {
            return;
        }
        let live = self.live(start, main);
        let mut seen = Seen { vars: vec![false; self.vars.len()], regions: vec![false; regions.len()] };
        loop {
            let before = seen.count();
            for (edge, _) in self.graph.edges.iter().zip(&live).filter(|(_, live)| **live) {
                self.mark(&mut seen, &edge.op);
            }
            if seen.count() == before {
                break;
            }
        }
        self.put_arbitrary(&live, |lower, arbitrary, op| {
            let uses = lower.uses(&seen, op);
            for (expr, used) in op.operands_mut().into_iter().zip(uses) {
                *expr = lower.with_open_nans(arbitrary, *expr, used);
            }
        });
    }

    /// How the operands of an operation are used, in their order.
    fn uses(&self, seen: &Seen, op: &Op) -> Vec<Use> {
        match op {
            Op::Assign { var, .. } => vec![Use::of(seen.vars[var.index()])],
            Op::Store { region, .. } => vec![Use::Bits, Use::of(seen.regions[region.index()])],
            Op::Call { callee, .. } => {
                let params = &self.funcs[callee.index()].params;
                params.iter().map(|param| Use::of(seen.vars[param.index()])).collect()
            }
            _ => vec![Use::Bits; op.operands().len()],
        }
    }

    fn mark(&self, seen: &mut Seen, op: &Op) {
        for (expr, used) in op.operands().into_iter().zip(self.uses(seen, op)) {
            self.mark_vars(seen, expr, used);
        }
        match op {
            Op::Load { var, region, .. } => seen.regions[region.index()] |= seen.vars[var.index()],
            Op::Call { callee, result: Some(result), .. } => {
                if let Some(ret) = self.funcs[callee.index()].ret {
                    seen.vars[ret.index()] |= seen.vars[result.index()];
                }
            }
            _ => {}
        }
    }

    fn mark_vars(&self, seen: &mut Seen, id: ExprId, used: Use) {
        let mut todo = vec![(id, used)];
        let mut done = FxHashSet::default();
        while let Some(next) = todo.pop() {
            if !done.insert((next.0, next.1 == Use::Bits)) {
                continue;
            }
            match self.exprs.get(next.0).kind {
                ExprKind::Var(var) => seen.vars[var.index()] |= next.1 == Use::Bits,
                _ => todo.extend(self.exprs.operands(next.0).zip(self.operand_uses(next.0, next.1))),
            }
        }
    }

    /// How an expression uses its operands, in their order, where it is itself used in a way.
    fn operand_uses(&self, id: ExprId, used: Use) -> Vec<Use> {
        let expr = self.exprs.get(id);
        match expr.kind {
            ExprKind::Float(..) | ExprKind::FloatCmp(..) => vec![Use::Number; 2],
            ExprKind::FloatFn(..) | ExprKind::FloatToFloat(..) | ExprKind::FloatToInt(..) => vec![Use::Number],
            ExprKind::Ite(..) => vec![Use::Bits, used, used],
            ExprKind::Cast(a) if self.exprs.ty(a).bits == expr.ty.bits => vec![used],
            // Another sign makes no number of what is none.
            ExprKind::Binary(BinOp::BitXor, _, b) if self.is_mask(b, |sign| sign) => vec![used; 2],
            ExprKind::Binary(BinOp::BitAnd, ..) if self.is_magnitude(id) => vec![used; 2],
            // Whether it is infinite, finite, zero or normal: what is not a number lies above all numbers.
            ExprKind::Cmp(_, a, b) => {
                let number = |side, other| self.is_magnitude(side) && self.is_at_most_infinity(other);
                vec![Use::of(!number(a, b)), Use::of(!number(b, a))]
            }
            _ => vec![Use::Bits; self.exprs.operands(id).count()],
        }
    }

    /// Whether a constant is made of the sign bit of numbers of its width.
    fn is_mask(&self, id: ExprId, of_sign: impl Fn(i128) -> i128) -> bool {
        match self.exprs.ty(id) {
            IntTy { bits: bits @ (32 | 64), signed: false } => {
                self.exprs.as_const(id) == Some(of_sign(1 << (bits - 1)))
            }
            _ => false,
        }
    }

    /// Whether an expression is the bits of a number without the sign.
    fn is_magnitude(&self, id: ExprId) -> bool {
        matches!(self.exprs.get(id).kind, ExprKind::Binary(BinOp::BitAnd, _, b) if self.is_mask(b, |sign| sign - 1))
    }

    fn is_at_most_infinity(&self, id: ExprId) -> bool {
        let formats = [FloatTy::F32, FloatTy::F64];
        let format = formats.into_iter().find(|format| format.bits() == self.exprs.ty(id));
        format.is_some_and(|format| self.exprs.as_const(id).is_some_and(|value| value <= infinity(format)))
    }

    /// The expression where results whose bits are used are open.
    fn with_open_nans(&mut self, arbitrary: &mut Arbitrary, id: ExprId, used: Use) -> ExprId {
        let key = (id, used == Use::Bits);
        if let Some(known) = arbitrary.rewritten.get(&key) {
            return *known;
        }
        let operands: Vec<ExprId> = self.exprs.operands(id).collect();
        let uses = self.operand_uses(id, used);
        let new: Vec<ExprId> =
            (operands.iter().zip(uses)).map(|(operand, used)| self.with_open_nans(arbitrary, *operand, used)).collect();
        let expr = if new == operands { id } else { self.exprs.with_operands(id, &new) };
        let format = match self.exprs.get(expr).kind {
            ExprKind::Float(_, format, ..) | ExprKind::FloatFn(_, format, _) => Some(format),
            ExprKind::FloatToFloat(from, _) => Some(from.other()),
            _ => None,
        };
        let expr = match format {
            Some(format) if used == Use::Bits => {
                let ty = format.bits();
                let any = self.arbitrary_value(arbitrary, "__nan", ty, HavocOrigin::NanBits);
                let quiet = self.exprs.constant(ty, quiet_nan(format));
                let bits = self.exprs.binary(BinOp::BitOr, any, quiet);
                let is_number = self.exprs.float_cmp(CmpOp::Eq, format, expr, expr);
                self.exprs.ite(is_number, expr, bits)
            }
            _ => expr,
        };
        arbitrary.rewritten.insert(key, expr);
        expr
    }
}
