// SPDX-License-Identifier: Apache-2.0
//! When the evaluation of an expression overflows in a signed type, which is undefined in C.

use std::collections::BTreeSet;

use cfa::Program;
use cfa::ids::ExprId;
use cfa::ir::{BinOp, ExprKind, UnOp};
use cpa_predicate::Manager;
use cpa_predicate::encode::Inexact;
use smt::{BvBin, TermId, Terms};

/// Conditions over the program variables; if the evaluation of `expr` overflows, one of them holds. Operands that C does not
/// evaluate do not count.
pub(crate) fn overflows(manager: &mut Manager, program: &Program, expr: ExprId) -> Result<Vec<TermId>, Inexact> {
    let mut search = Search { manager, program, seen: BTreeSet::new(), found: Vec::new() };
    search.expression(expr, Terms::tru())?;
    Ok(search.found)
}

struct Search<'a> {
    manager: &'a mut Manager,
    program: &'a Program,
    seen: BTreeSet<(ExprId, TermId)>,
    found: Vec<TermId>,
}

impl Search<'_> {
    /// Looks at an expression that is evaluated if `guard` holds.
    fn expression(&mut self, id: ExprId, guard: TermId) -> Result<(), Inexact> {
        if !self.seen.insert((id, guard)) {
            return Ok(());
        }
        let exprs = &self.program.exprs;
        match exprs.get(id).kind {
            ExprKind::And(left, right) => self.guarded(left, &[(right, true)], guard),
            ExprKind::Or(left, right) => self.guarded(left, &[(right, false)], guard),
            ExprKind::Ite(cond, yes, no) => self.guarded(cond, &[(yes, true), (no, false)], guard),
            _ => {
                if let Some(overflow) = self.operation(id)? {
                    self.found.push(self.manager.terms.and(guard, overflow));
                }
                exprs.operands(id).try_for_each(|operand| self.expression(operand, guard))
            }
        }
    }

    /// A condition, and expressions that are evaluated if it has some truth value.
    fn guarded(&mut self, cond: ExprId, rest: &[(ExprId, bool)], guard: TermId) -> Result<(), Inexact> {
        self.expression(cond, guard)?;
        let holds = self.manager.encoder.truth(&mut self.manager.terms, cond)?;
        for &(expr, truth) in rest {
            let terms = &mut self.manager.terms;
            let choice = if truth { holds } else { terms.not(holds) };
            let guard = terms.and(guard, choice);
            self.expression(expr, guard)?;
        }
        Ok(())
    }

    /// When the operator at the root overflows: computed with twice as many bits, the result is another one.
    fn operation(&mut self, id: ExprId) -> Result<Option<TermId>, Inexact> {
        let exprs = &self.program.exprs;
        let expr = exprs.get(id);
        if !expr.ty.signed {
            return Ok(None);
        }
        let operands = match expr.kind {
            ExprKind::Binary(BinOp::Add, a, b) => Some((BvBin::Add, a, b)),
            ExprKind::Binary(BinOp::Sub, a, b) => Some((BvBin::Sub, a, b)),
            ExprKind::Binary(BinOp::Mul, a, b) => Some((BvBin::Mul, a, b)),
            ExprKind::Binary(BinOp::Shl, a, b) => Some((BvBin::Shl, a, b)),
            // The quotient of the least number and -1.
            ExprKind::Binary(BinOp::Div, a, b) => Some((BvBin::Sdiv, a, b)),
            _ => None,
        };
        let Manager { terms, encoder, .. } = &mut *self.manager;
        let width = match operands {
            Some((BvBin::Add | BvBin::Sub | BvBin::Sdiv, ..)) => expr.ty.bits + 1,
            _ => 2 * expr.ty.bits,
        };
        let exact = match (operands, &expr.kind) {
            (Some((op, a, b)), _) => {
                let (a, b) = (encoder.value(terms, a)?, encoder.value(terms, b)?);
                let (a, b) = (terms.sext(width, a), terms.sext(width, b));
                terms.bv_bin(op, a, b)
            }
            (None, &ExprKind::Unary(UnOp::Neg, a)) => {
                let a = encoder.value(terms, a)?;
                let a = terms.sext(width, a);
                terms.bv_un(smt::BvUn::Neg, a)
            }
            _ => return Ok(None),
        };
        let value = encoder.value(terms, id)?;
        let value = terms.sext(width, value);
        Ok(Some(terms.ne(exact, value)))
    }
}
