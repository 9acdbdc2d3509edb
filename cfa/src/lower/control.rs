// SPDX-License-Identifier: Apache-2.0
//! Branching: conditions with `&&`, `||` and `!` become control flow, conditions on edges have a canonical form.

use crate::ast::{Binary, Expr, ExprRef, Range, Unary};
use crate::exprs::{Exprs, contains};
use crate::ids::{ExprId, NodeId};
use crate::ir::{CmpOp, ExprKind, Op};

use super::Lower;

impl<'a> Lower<'a> {
    /// Goes to `yes` when the condition is true and to `no` when it is false. Afterwards the current place is gone.
    pub(super) fn branch(&mut self, cond: ExprRef, yes: NodeId, no: NodeId) {
        match self.ast().expr(cond) {
            Expr::Unary(Unary::Not, arg) => self.branch(*arg, no, yes),
            Expr::Binary(op @ (Binary::And | Binary::Or), ..) => {
                let mut operands = Vec::new();
                let mut at = cond;
                while let Expr::Binary(inner, left, right) = self.ast().expr(at)
                    && inner == op
                {
                    operands.push(*right);
                    at = *left;
                }
                self.branch_chain(*op == Binary::And, at, operands, yes, no);
            }
            Expr::Comma(parts) => {
                let (last, before) = parts.split_last().expect("comma lists have parts");
                for part in before {
                    self.discard(*part);
                }
                self.branch(*last, yes, no);
            }
            Expr::Call(callee, args) if args.len() == 2 && self.is_expect(*callee) => {
                let begin = self.begin();
                self.sequence(begin, &mut [], args[1], self.expr_range(args[1]));
                self.branch(args[0], yes, no);
            }
            _ => {
                let range = self.expr_range(cond);
                let value = self.value(cond);
                let expr = self.condition(value, range);
                self.assume(expr, yes, no, range);
            }
        }
    }

    fn is_expect(&self, callee: ExprRef) -> bool {
        matches!(self.ast().expr(callee), Expr::Ident("__builtin_expect")) && self.lookup("__builtin_expect").is_none()
    }

    fn branch_chain(&mut self, is_and: bool, first: ExprRef, mut rest: Vec<ExprRef>, yes: NodeId, no: NodeId) {
        let mut operand = first;
        while let Some(next) = rest.pop() {
            let more = self.fresh();
            if is_and {
                self.branch(operand, more, no)
            } else {
                self.branch(operand, yes, more)
            }
            self.cur = more;
            operand = next;
        }
        self.branch(operand, yes, no);
    }

    /// Goes on only if a condition holds.
    pub(super) fn only_if(&mut self, cond: ExprId, range: Range) {
        let (yes, no) = (self.fresh(), self.fresh());
        self.assume(cond, yes, no, range);
        self.cur = yes;
    }

    /// The two edges for a condition, or one edge if it is constant. Afterwards the current place is gone.
    pub(super) fn assume(&mut self, cond: ExprId, yes: NodeId, no: NodeId, range: Range) {
        let (cond, truth) = canonical(&self.exprs, cond);
        let (yes, no) = if truth { (yes, no) } else { (no, yes) };
        if let Some(value) = self.exprs.as_const(cond) {
            self.edge(self.cur, if value != 0 { yes } else { no }, Op::Skip, range);
            return;
        }
        match self.exprs.get(cond).kind {
            ExprKind::And(left, right) => {
                let more = self.fresh();
                self.assume(left, more, no, range);
                self.cur = more;
                self.assume(right, yes, no, range);
            }
            ExprKind::Or(left, right) => {
                let more = self.fresh();
                self.assume(left, yes, more, range);
                self.cur = more;
                self.assume(right, yes, no, range);
            }
            _ => {
                self.edge(self.cur, yes, Op::Assume { cond, truth: true }, range);
                self.edge(self.cur, no, Op::Assume { cond, truth: false }, range);
            }
        }
    }
}

/// Strips what only converts between truth values; the flag says whether the result has the same truth.
fn canonical(exprs: &Exprs, cond: ExprId) -> (ExprId, bool) {
    let (mut cond, mut truth) = (cond, true);
    loop {
        match exprs.get(cond).kind {
            ExprKind::Not(arg) => {
                cond = arg;
                truth = !truth;
            }
            ExprKind::Cmp(op @ (CmpOp::Eq | CmpOp::Ne), arg, zero) if exprs.as_const(zero) == Some(0) => {
                cond = arg;
                truth = truth == (op == CmpOp::Ne);
            }
            // A conversion that keeps every value, or that of a truth value, does not change which one is zero.
            ExprKind::Cast(arg) if contains(exprs.ty(cond), exprs.ty(arg)) || exprs.is_truth(arg) => cond = arg,
            _ => return (cond, truth),
        }
    }
}
