// SPDX-License-Identifier: Apache-2.0
//! Statements.

use crate::ast::{CaseLabel, ExprRef, Range, Stmt, StmtRef};
use crate::ids::NodeId;
use crate::ir::{CmpOp, ExprKind, HavocOrigin, Op};
use crate::names::{LoopKind, LoopStatement};
use crate::prepass::Refusal;
use crate::sites::SiteKind;
use crate::types::Type;

use super::place::Place;
use super::sites::Header;
use super::{Alive, Lower, Scope, Switch, Val};

impl<'a> Lower<'a> {
    /// A statement within an expression, where errors of the text cannot be returned: they become unsupported edges.
    pub(super) fn nested_stmt(&mut self, at: StmtRef) {
        if let Err((_, construct, _)) = self.stmt(at) {
            self.unsupported(construct, self.ast().stmt_range(at));
        }
    }

    pub(super) fn stmt(&mut self, at: StmtRef) -> Result<(), Refusal> {
        let range = self.ast().stmt_range(at);
        match self.ast().stmt(at) {
            Stmt::Empty => {}
            Stmt::Expr(expr) => self.discard(*expr),
            Stmt::Decl(decl) => self.local_declaration(decl),
            Stmt::Block(stmts) => {
                let alive = self.cx.alive;
                self.scopes.push(Scope::of(range));
                for stmt in stmts {
                    self.stmt(*stmt)?;
                }
                self.scopes.pop();
                self.cx.alive = alive;
            }
            Stmt::If(arms, otherwise) => self.if_chain(arms, *otherwise, range)?,
            Stmt::While(cond, body) => {
                let (head, start, after) = (self.fresh(), self.fresh(), self.fresh());
                self.flow_to(head, range);
                self.loop_statement(LoopKind::Before, *body, range);
                let (kind, body) = (SiteKind::While, *body);
                self.begin_site(&Header { kind, range, init: None, cond: Some(*cond), step: None, body }, head);
                self.branch(*cond, start, after);
                self.cur = start;
                self.body(body, after, head)?;
                self.edge(self.cur, head, Op::Skip, range);
                self.end_site();
                self.cur = after;
            }
            Stmt::DoWhile(body, cond) => {
                let (head, test, after) = (self.fresh(), self.fresh(), self.fresh());
                self.flow_to(head, range);
                self.loop_statement(LoopKind::Behind, *body, range);
                let (kind, body) = (SiteKind::DoWhile, *body);
                self.begin_site(&Header { kind, range, init: None, cond: Some(*cond), step: None, body }, head);
                self.body(body, after, test)?;
                self.flow_to(test, range);
                self.branch(*cond, head, after);
                self.end_site();
                self.cur = after;
            }
            Stmt::For { init, cond, step, body } => self.for_loop(*init, *cond, *step, *body, range)?,
            Stmt::Switch(value, body) => self.switch(*value, *body, range)?,
            Stmt::Case(value, stmts) => {
                self.case(*value, range)?;
                for stmt in stmts {
                    self.stmt(*stmt)?;
                }
            }
            Stmt::Labeled(name, inner) => {
                self.place_label(*name, range)?;
                self.stmt(*inner)?;
            }
            Stmt::Goto(name) => {
                self.label(*name);
                self.cx.gotos.push((self.cur, *name, self.cx.alive, range));
                self.cur = self.fresh();
            }
            Stmt::GotoValue(value) => self.goto_value(*value, range),
            Stmt::Break => match self.cx.breaks.last() {
                Some(node) => self.jump(*node, range),
                None => return Err((range.0, "break outside of a loop or switch".into(), "remove it".into())),
            },
            Stmt::Continue => match self.cx.continues.last() {
                Some(node) => self.jump(*node, range),
                None => return Err((range.0, "continue outside of a loop".into(), "remove it".into())),
            },
            Stmt::Return(value) => self.return_stmt(*value, range),
            Stmt::Unsupported(what) => self.unsupported(*what, range),
        }
        Ok(())
    }

    /// Records that the current place is the head of a loop.
    fn loop_statement(&mut self, kind: LoopKind, body: StmtRef, range: Range) {
        let (first, block) = match self.ast().stmt(body) {
            Stmt::Block(stmts) => (stmts.first().copied(), !stmts.is_empty()),
            _ => (None, false),
        };
        let body = self.span(self.ast().stmt_range(first.unwrap_or(body)));
        let span = self.span(range);
        self.loop_statements.push(LoopStatement { head: self.cur, span, kind, body, block });
    }

    fn body(&mut self, body: StmtRef, on_break: NodeId, on_continue: NodeId) -> Result<(), Refusal> {
        self.cx.breaks.push(on_break);
        self.cx.continues.push(on_continue);
        let done = self.stmt(body);
        self.cx.breaks.pop();
        self.cx.continues.pop();
        done
    }

    fn if_chain(
        &mut self,
        arms: &[(ExprRef, StmtRef)],
        otherwise: Option<StmtRef>,
        range: Range,
    ) -> Result<(), Refusal> {
        let after = self.fresh();
        for (cond, then) in arms {
            let (yes, no) = (self.fresh(), self.fresh());
            self.branch(*cond, yes, no);
            self.cur = yes;
            self.stmt(*then)?;
            self.edge(self.cur, after, Op::Skip, range);
            self.cur = no;
        }
        if let Some(otherwise) = otherwise {
            self.stmt(otherwise)?;
        }
        self.flow_to(after, range);
        Ok(())
    }

    fn for_loop(
        &mut self,
        init: Option<StmtRef>,
        cond: Option<ExprRef>,
        step: Option<ExprRef>,
        body: StmtRef,
        range: Range,
    ) -> Result<(), Refusal> {
        let alive = self.cx.alive;
        self.scopes.push(Scope::of(range));
        if let Some(init) = init {
            self.stmt(init)?;
        }
        let (head, start, next, after) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.flow_to(head, range);
        self.loop_statement(LoopKind::Before, body, range);
        self.begin_site(&Header { kind: SiteKind::For, range, init, cond, step, body }, head);
        match cond {
            Some(cond) => self.branch(cond, start, after),
            None => self.edge(self.cur, start, Op::Skip, range),
        }
        self.cur = start;
        self.body(body, after, next)?;
        self.flow_to(next, range);
        if let Some(step) = step {
            self.discard(step);
        }
        self.edge(self.cur, head, Op::Skip, range);
        self.end_site();
        self.cur = after;
        self.scopes.pop();
        self.cx.alive = alive;
        Ok(())
    }

    fn switch(&mut self, value: ExprRef, body: StmtRef, range: Range) -> Result<(), Refusal> {
        let value_range = self.expr_range(value);
        let value = self.value(value);
        let mut value = self.promoted(value, value_range);
        if !matches!(self.exprs.get(value).kind, ExprKind::Const(_) | ExprKind::Var(_)) {
            value = self.saved(value, value_range);
        }
        let ty = self.exprs.ty(value);
        let dispatch = self.cur;
        let after = self.fresh();
        self.cx.switches.push(Switch { ty: Some(Type::Int(ty)), ..Switch::default() });
        self.cx.breaks.push(after);
        // What stands before the first label is not reached.
        self.cur = self.fresh();
        let done = self.stmt(body);
        self.cx.breaks.pop();
        let switch = self.cx.switches.pop().expect("pushed above");
        done?;
        self.edge(self.cur, after, Op::Skip, range);
        self.cur = dispatch;
        if switch.unsupported {
            self.unsupported("case label that is not constant", range);
        }
        let alive = self.cx.alive;
        for (label, to, node, range, alive_there) in switch.cases {
            let cond = match to {
                None => self.exprs.cmp(CmpOp::Eq, value, label),
                Some(to) => {
                    let (from, to) = (self.exprs.cmp(CmpOp::Le, label, value), self.exprs.cmp(CmpOp::Le, value, to));
                    self.exprs.and(from, to)
                }
            };
            let (taken, next) = (self.fresh(), self.fresh());
            self.assume(cond, taken, next, range);
            self.jump_into(taken, node, alive, alive_there, range);
            self.cur = next;
        }
        let (node, alive_there) = switch.default.unwrap_or((after, alive));
        self.jump_into(self.cur, node, alive, alive_there, range);
        self.cur = after;
        Ok(())
    }

    fn case(&mut self, value: Option<CaseLabel>, range: Range) -> Result<(), Refusal> {
        let last = value.map(|(from, to)| to.unwrap_or(from));
        let label_range = (range.0, last.map_or(range.0, |last| self.expr_range(last).1));
        let node = self.fresh();
        self.flow_to(node, label_range);
        let Some(ty) = self.cx.switches.last().and_then(|switch| switch.ty.clone()) else {
            return Err((range.0, "a case label outside of a switch".into(), "remove it".into()));
        };
        // Labels are constants and are not evaluated here.
        let mut constant = |value: ExprRef| {
            self.cur = self.fresh();
            let found = self.value(value);
            let label = self.convert_int(found, &ty, label_range);
            self.cur = node;
            self.exprs.as_const(label).is_some().then_some(label)
        };
        let label = value.map(|(from, to)| (constant(from), to.map(&mut constant)));
        let alive = self.cx.alive;
        let switch = self.cx.switches.last_mut().expect("checked above");
        match label {
            Some((Some(from), None)) => switch.cases.push((from, None, node, label_range, alive)),
            Some((Some(from), Some(Some(to)))) => switch.cases.push((from, Some(to), node, label_range, alive)),
            Some(_) => switch.unsupported = true,
            None => switch.default = Some((node, alive)),
        }
        Ok(())
    }

    fn return_stmt(&mut self, value: Option<ExprRef>, range: Range) {
        match (value, self.cx.ret_var) {
            (Some(value), Some(var)) => {
                let ty = self.cx.ret.clone();
                let value = self.value(value);
                let value = self.convert_int(value, &ty, range);
                self.store(var, value, range);
            }
            (Some(value), None) => self.return_record(value, range),
            (None, Some(var)) => self.emit(Op::Havoc { var, origin: HavocOrigin::Uninitialised }, range),
            (None, None) => {}
        }
        let exit = self.cx.exit;
        self.jump(exit, range);
    }

    /// A returned structure goes to the variables that pass its parts.
    fn return_record(&mut self, value: ExprRef, range: Range) {
        let parts = self.signatures[self.cx.func.index()].ret_parts.clone();
        let ty = self.cx.ret.clone();
        if !matches!(ty, Type::Record(_)) {
            return self.discard(value);
        }
        match (self.value(value), parts) {
            (Val::Aggregate(from, from_ty), Some(parts)) if from_ty == ty => {
                self.copy(&Place::Vars(parts, 0), &from, &ty, range);
            }
            _ => self.unsupported("return of a large structure", range),
        }
    }

    /// A jump; variables whose declarations it passes over have arbitrary values.
    pub(super) fn jump_into(&mut self, from: NodeId, to: NodeId, alive: Alive, alive_there: Alive, range: Range) {
        let before = std::mem::replace(&mut self.cur, from);
        for birth in self.cx.bypassed(alive, alive_there) {
            self.give_birth(&birth, false, range);
        }
        self.edge(self.cur, to, Op::Skip, range);
        self.cur = before;
    }

    /// A GNU statement expression.
    pub(super) fn statement_expression(&mut self, stmts: &[StmtRef]) -> Val {
        let alive = self.cx.alive;
        let range = stmts.first().zip(stmts.last());
        let range = range.map(|(first, last)| (self.ast().stmt_range(*first).0, self.ast().stmt_range(*last).1));
        self.scopes.push(Scope::of(range.unwrap_or_default()));
        let mut value = Val::Void;
        for (at, stmt) in stmts.iter().enumerate() {
            if at + 1 == stmts.len() {
                value = self.last_statement(*stmt);
            } else {
                self.nested_stmt(*stmt);
            }
        }
        self.scopes.pop();
        self.cx.alive = alive;
        value
    }

    /// The last statement of a statement expression, whose value is that of the whole.
    pub(super) fn last_statement(&mut self, at: StmtRef) -> Val {
        match self.ast().stmt(at) {
            Stmt::Expr(expr) => self.value(*expr),
            Stmt::Labeled(name, inner) => self.labeled_value(*name, *inner, self.ast().stmt_range(at)),
            _ => {
                self.nested_stmt(at);
                Val::Void
            }
        }
    }
}
