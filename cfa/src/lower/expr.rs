// SPDX-License-Identifier: Apache-2.0
//! Values of expressions. Side effects become edges at the current place, in C's order; what remains is a
//! side-effect-free expression that is valid until one of its variables is written.

use crate::ast::{Binary, Expr, ExprRef, Range, StmtRef, Unary};
use crate::ids::{ExprId, VarId};
use crate::ir::{IntTy, Op, Scope as VarScope, UnOp};
use crate::literals::{self, Number};
use crate::types::{Type, promote, size_align};

use super::{Binding, DEPTH_LIMIT, Lower, Scope, Val};

impl<'a> Lower<'a> {
    /// The value of an expression.
    pub(super) fn value(&mut self, at: ExprRef) -> Val {
        let range = self.expr_range(at);
        match self.ast().expr(at) {
            Expr::Number(text) => match literals::number(text, self.machine) {
                Some(Number::Int(value, ty)) => Val::Int(self.exprs.constant(ty, value), Type::Int(ty)),
                Some(Number::Float(Some(bits), ty)) => self.constant(bits, ty),
                Some(Number::Float(None, ty)) => opaque(ty),
                None => self.refused(format!("the number '{text}'"), range),
            },
            Expr::Char(text) => match literals::character(text) {
                Some((value, ty)) => self.constant(value, ty),
                None => self.refused(format!("the character constant {text}"), range),
            },
            Expr::Str(text) => {
                let ty = Type::Array(crate::types::int(8, true).into(), literals::string_size(text));
                Val::Opaque(ty, "string literal".into())
            }
            Expr::Ident(name) => self.identifier(name, range),
            Expr::Unary(op, arg) => self.unary(*op, *arg, range),
            Expr::Update { increment, prefix, target } => self.update(*increment, *prefix, *target, range, true),
            Expr::Binary(..) => self.binary_chain(at),
            Expr::Assign(op, left, right) => self.assign(*op, *left, *right, range),
            Expr::Cond(cond, yes, no) => self.conditional(*cond, *yes, *no, range),
            Expr::Comma(parts) => {
                let (last, before) = parts.split_last().expect("comma lists have parts");
                for part in before {
                    self.discard(*part);
                }
                self.value(*last)
            }
            Expr::Call(callee, args) => self.call(*callee, args, range),
            Expr::Cast(to, arg) => {
                let base = self.spec_type(&to.spec);
                let to = self.declarator_type(base, &to.declarator);
                let value = self.value(*arg);
                self.convert(value, &to, range)
            }
            Expr::SizeofValue(arg) => {
                let ty = self.type_of(*arg);
                self.sizeof(&ty, range)
            }
            Expr::SizeofType(name) | Expr::AlignofType(name) => {
                let before = self.cur;
                self.cur = self.fresh();
                let base = self.spec_type(&name.spec);
                let ty = self.declarator_type(base, &name.declarator);
                self.cur = before;
                if matches!(self.ast().expr(at), Expr::SizeofType(_)) {
                    return self.sizeof(&ty, name.range);
                }
                match size_align(&ty, &self.records, self.machine) {
                    Some((_, align)) => self.constant(i128::from(align), Type::Int(self.machine.size_type())),
                    None => self.refused(format!("alignment of a {}", ty.describe()), range),
                }
            }
            Expr::Index(array, index) => self.index(*array, *index, range),
            Expr::Member { object, field, arrow } => self.member(*object, field, *arrow, range),
            Expr::Block(stmts) => self.statement_expression(stmts),
            Expr::Init(values, _) => {
                // Only as the initialiser of something that is not an integer; its values may have side effects.
                for value in values {
                    self.discard(*value);
                }
                Val::Opaque(Type::Unknown("initialiser"), "initialiser in braces".into())
            }
            Expr::Compound(name, init) => {
                let base = self.spec_type(&name.spec);
                let ty = self.declarator_type(base, &name.declarator);
                self.value(*init);
                let why = "compound literal".into();
                Val::Opaque(ty, why)
            }
            Expr::Other(what) => self.refused((*what).to_owned(), range),
        }
    }

    /// Evaluates an expression for its side effects.
    pub(super) fn discard(&mut self, at: ExprRef) {
        match self.ast().expr(at) {
            Expr::Update { increment, prefix, target } => {
                self.update(*increment, *prefix, *target, self.expr_range(at), false);
            }
            Expr::Comma(parts) => {
                for part in parts {
                    self.discard(*part);
                }
            }
            Expr::Cast(to, arg) => {
                let base = self.spec_type(&to.spec);
                if self.declarator_type(base, &to.declarator) == Type::Void {
                    self.discard(*arg);
                } else {
                    self.value(at);
                }
            }
            Expr::Binary(op @ (Binary::And | Binary::Or), left, right) => {
                self.discard_logical(*op == Binary::And, *left, *right, self.expr_range(at));
            }
            Expr::Cond(cond, Some(yes), no) => self.discard_conditional(*cond, *yes, *no, self.expr_range(at)),
            Expr::Call(..) => {
                if let Val::Int(expr, _) = self.value(at)
                    && let Some(edge) = self.last_result(expr)
                    && let Op::Call { result, .. } = &mut self.graph.edges[edge].op
                {
                    *result = None;
                    self.forget_temporary();
                }
            }
            _ => {
                self.value(at);
            }
        }
    }

    /// `left && right;` as a statement.
    fn discard_logical(&mut self, is_and: bool, left: ExprRef, right: ExprRef, range: Range) {
        let value = self.value(left);
        let before = self.cur;
        let start = self.fresh();
        self.cur = start;
        self.discard(right);
        let end = std::mem::replace(&mut self.cur, before);
        if end == start {
            return;
        }
        let left = self.condition(value, range);
        let after = self.fresh();
        let (yes, no) = if is_and { (start, after) } else { (after, start) };
        self.assume(left, yes, no, range);
        self.edge(end, after, Op::Skip, range);
        self.cur = after;
    }

    /// `cond ? yes : no;` as a statement.
    fn discard_conditional(&mut self, cond: ExprRef, yes: ExprRef, no: ExprRef, range: Range) {
        let before = self.cur;
        let (yes_start, no_start) = (self.fresh(), self.fresh());
        self.cur = yes_start;
        self.discard(yes);
        let yes_end = std::mem::replace(&mut self.cur, no_start);
        self.discard(no);
        let no_end = std::mem::replace(&mut self.cur, before);
        if yes_start == yes_end && no_start == no_end {
            self.discard(cond);
            return;
        }
        self.branch(cond, yes_start, no_start);
        let after = self.fresh();
        self.edge(yes_end, after, Op::Skip, range);
        self.edge(no_end, after, Op::Skip, range);
        self.cur = after;
    }

    /// The edge that has just put its result into the temporary that `value` reads, if nothing else can read it.
    fn last_result(&self, value: ExprId) -> Option<usize> {
        let crate::ir::ExprKind::Var(temporary) = self.exprs.get(value).kind else { return None };
        let last = self.graph.edges.last().filter(|edge| edge.dst == self.cur)?;
        let target = match &last.op {
            Op::Havoc { var, .. } => *var,
            Op::Call { result: Some(result), .. } => *result,
            _ => return None,
        };
        let newest = temporary.index() + 1 == self.vars.len() && self.vars[temporary.index()].temporary;
        (newest && target == temporary).then_some(self.graph.edges.len() - 1)
    }

    fn forget_temporary(&mut self) {
        let gone = self.vars.pop().expect("the temporary is the last variable");
        self.pointers.pop();
        self.var_names.remove(&*gone.name);
        self.cx.temporaries -= 1;
    }

    pub(super) fn constant(&mut self, value: i128, ty: Type) -> Val {
        let storage = ty.storage(self.machine).expect("constants are integers");
        Val::Int(self.exprs.constant(storage, value), ty)
    }

    /// An unsupported edge and a value that nobody will see.
    pub(super) fn refused(&mut self, construct: String, range: Range) -> Val {
        self.unsupported(construct, range);
        self.arbitrary(&Type::INT)
    }

    /// A value behind an unsupported edge.
    fn arbitrary(&mut self, ty: &Type) -> Val {
        match ty.storage(self.machine) {
            Some(storage) => {
                let var = self.typed_temporary(ty);
                Val::Int(self.exprs.var(var, storage), ty.clone())
            }
            None => opaque(ty.clone()),
        }
    }

    pub(super) fn read(&mut self, var: VarId, ty: &Type) -> Val {
        let storage = self.vars[var.index()].ty;
        Val::Int(self.exprs.var(var, storage), ty.clone())
    }

    fn identifier(&mut self, name: &str, range: Range) -> Val {
        match self.lookup(name).cloned() {
            Some(Binding::Var(var, ty)) => self.read(var, &ty),
            Some(Binding::Const(value, ty)) => self.constant(value, ty),
            Some(Binding::Opaque(ty)) => {
                let why = match &ty {
                    Type::Float(..) | Type::Unknown(_) => ty.describe().to_owned(),
                    _ => format!("{} '{name}'", ty.describe()),
                };
                Val::Opaque(ty, why.into())
            }
            Some(Binding::Func(func)) => {
                let signature = &self.signatures[func.index()];
                let ty = crate::types::FunctionType {
                    ret: signature.ret.clone(),
                    params: signature.params.clone(),
                    unspecified: signature.unspecified,
                    variadic: false,
                };
                Val::Opaque(Type::Function(ty.into()), format!("address of function '{name}'").into())
            }
            Some(Binding::Typedef(_)) => self.refused(format!("the type '{name}' as a value"), range),
            None => match name {
                "true" => self.constant(1, Type::INT),
                "false" => self.constant(0, Type::INT),
                "NULL" | "nullptr" => self.constant(0, Type::Pointer(Type::Void.into())),
                "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                    Val::Opaque(Type::Array(crate::types::int(8, true).into(), None), "string literal".into())
                }
                _ => self.refused(format!("the undeclared identifier '{name}'"), range),
            },
        }
    }

    /// The integer or pointer in a value; opaque values are not supported from here on.
    pub(super) fn integer(&mut self, value: Val, range: Range) -> (ExprId, Type) {
        match value {
            Val::Int(expr, ty) => (expr, ty),
            Val::Opaque(ty, why) => {
                self.unsupported(&*why, range);
                match ty {
                    Type::Bool | Type::Int(_) => self.arbitrary(&ty),
                    Type::Float(..) if ty.format().is_some() => self.arbitrary(&ty),
                    _ => self.arbitrary(&Type::INT),
                }
                .expect_int()
            }
            Val::Void => {
                self.unsupported("void value", range);
                self.arbitrary(&Type::INT).expect_int()
            }
        }
    }

    /// The value after the integer promotions; pointers are not supported here.
    pub(super) fn promoted(&mut self, value: Val, range: Range) -> ExprId {
        let value = self.demoted(value);
        let (expr, ty) = self.integer(value, range);
        if ty.is_float() {
            self.unsupported("floating-point value in place of an integer", range);
        }
        let ty = promote(self.exprs.ty(expr));
        self.exprs.cast(expr, ty)
    }

    /// Conversion as if by assignment or cast.
    pub(super) fn convert(&mut self, value: Val, to: &Type, range: Range) -> Val {
        match (to, value) {
            (Type::Void, _) => Val::Void,
            (Type::Float(..), value @ Val::Int(..)) if to.format().is_some() => {
                let format = to.format().expect("checked by the guard");
                Val::Int(self.in_format(value, format, range), to.clone())
            }
            (Type::Bool | Type::Int(_), value) => {
                let (expr, from) = self.integer(value, range);
                let storage = to.storage(self.machine).expect("an integer type");
                if let Some(format) = from.format() {
                    return Val::Int(self.float_as_integer(expr, format, to, storage), to.clone());
                }
                let expr = match from {
                    // gcc sign-extends pointers to wider integers, whatever their signedness.
                    Type::Pointer(_) if storage.bits > self.machine.long_bits() => {
                        self.exprs.cast(expr, IntTy { bits: self.machine.long_bits(), signed: true })
                    }
                    _ => expr,
                };
                let expr = if *to == Type::Bool && from != Type::Bool {
                    let truth = self.exprs.truth(expr);
                    self.exprs.cast(truth, storage)
                } else {
                    self.exprs.cast(expr, storage)
                };
                Val::Int(expr, to.clone())
            }
            // A signed integer is sign-extended first, as gcc does.
            (Type::Pointer(_), Val::Int(expr, _)) => {
                Val::Int(self.exprs.cast(expr, self.machine.size_type()), to.clone())
            }
            (_, Val::Opaque(_, why)) if !to.is_float() || to.format().is_some() => Val::Opaque(to.clone(), why),
            _ => opaque(to.clone()),
        }
    }

    /// Converts and returns the expression; the type is an integer or pointer type.
    pub(super) fn convert_int(&mut self, value: Val, to: &Type, range: Range) -> ExprId {
        match (self.convert(value, to, range), to) {
            (Val::Opaque(_, why), Type::Pointer(_)) => self.opaque_pointer(&why, to, range),
            (value, _) => self.integer(value, range).0,
        }
    }

    /// The type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, at: ExprRef) -> Type {
        let before = self.cur;
        self.cur = self.fresh();
        let value = self.value(at);
        self.cur = before;
        match value {
            Val::Int(_, ty) | Val::Opaque(ty, _) => ty,
            Val::Void => Type::Void,
        }
    }

    fn sizeof(&mut self, ty: &Type, range: Range) -> Val {
        match size_align(ty, &self.records, self.machine) {
            Some((size, _)) => self.constant(i128::from(size), Type::Int(self.machine.size_type())),
            None => {
                self.unsupported(format!("size of a {}", ty.describe()), range);
                self.arbitrary(&Type::Int(self.machine.size_type()))
            }
        }
    }

    /// Bounds the depth of an expression by a temporary.
    pub(super) fn bounded(&mut self, expr: ExprId, range: Range) -> ExprId {
        if self.exprs.depth(expr) <= DEPTH_LIMIT { expr } else { self.saved(expr, range) }
    }

    /// The value in a temporary.
    pub(super) fn saved(&mut self, expr: ExprId, range: Range) -> ExprId {
        let ty = self.exprs.ty(expr);
        self.saved_as(expr, &Type::Int(ty), range)
    }

    /// The value of a type in a temporary.
    pub(super) fn saved_as(&mut self, expr: ExprId, of: &Type, range: Range) -> ExprId {
        let ty = self.exprs.ty(expr);
        let var = self.temporary(ty);
        self.describe(var, of);
        self.emit(Op::Assign { var, value: expr }, range);
        self.exprs.var(var, ty)
    }

    /// Evaluates `right` after `pending`, which keep their values: those that the evaluation may change are saved first.
    pub(super) fn sequence(&mut self, pending: &mut [Val], right: ExprRef, range: Range) -> Val {
        if matches!(self.ast().expr(right), Expr::Number(_) | Expr::Char(_) | Expr::Ident(_)) {
            return self.value(right);
        }
        let before = self.cur;
        let start = self.fresh();
        let mark = self.graph.edges.len();
        self.cur = start;
        let value = self.value(right);
        if self.cur == start {
            self.cur = before;
            return value;
        }
        let end = std::mem::replace(&mut self.cur, before);
        let edges = mark..self.graph.edges.len();
        for left in pending {
            if let Val::Int(expr, ty) = left
                && self.changed_by(*expr, edges.clone())
            {
                if self.evaluation_order.is_none() {
                    self.evaluation_order = Some(self.span(range));
                }
                *expr = self.saved_as(*expr, ty, range);
            }
        }
        self.flow_to(start, range);
        self.cur = end;
        value
    }

    /// Whether the edges may change the value of the expression.
    fn changed_by(&self, expr: ExprId, edges: std::ops::Range<usize>) -> bool {
        if self.exprs.as_const(expr).is_some() {
            return false;
        }
        let vars = self.exprs.vars(expr);
        let global = vars.iter().any(|var| self.vars[var.index()].scope == VarScope::Global);
        edges.into_iter().any(|edge| match &self.graph.edges[edge].op {
            Op::Assign { var, .. } | Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. } => {
                vars.binary_search(var).is_ok()
            }
            Op::Call { result, .. } => global || result.is_some_and(|var| vars.binary_search(&var).is_ok()),
            // Expressions read variables, never memory.
            Op::Store { .. } | Op::Free { .. } | Op::Zero { .. } => false,
            Op::Skip | Op::Assume { .. } | Op::Unsupported { .. } => false,
        })
    }

    fn unary(&mut self, op: Unary, arg: ExprRef, range: Range) -> Val {
        match op {
            Unary::Not => {
                let value = self.value(arg);
                let expr = self.condition(value, range);
                let not = self.exprs.not(expr);
                Val::Int(self.bounded(not, range), Type::INT)
            }
            Unary::Plus | Unary::Neg | Unary::BitNot => {
                let value = self.value(arg);
                let value = self.demoted(value);
                if let Val::Opaque(ty, why) = &value
                    && ty.is_float()
                    && op != Unary::BitNot
                {
                    return Val::Opaque(ty.clone(), why.clone());
                }
                if let Val::Int(expr, ty) = &value
                    && let Some(format) = ty.format()
                    && op != Unary::BitNot
                {
                    let expr = if op == Unary::Neg { self.negated(*expr, format) } else { *expr };
                    return Val::Int(self.bounded(expr, range), ty.clone());
                }
                let expr = self.promoted(value, range);
                let expr = match op {
                    Unary::Neg => self.exprs.unary(UnOp::Neg, expr),
                    Unary::BitNot => self.exprs.unary(UnOp::BitNot, expr),
                    _ => expr,
                };
                let expr = self.bounded(expr, range);
                Val::Int(expr, Type::Int(self.exprs.ty(expr)))
            }
            Unary::Deref => {
                let value = self.value(arg);
                match self.demoted(value) {
                    Val::Opaque(Type::Pointer(inner) | Type::Array(inner, _), _) => {
                        Val::Opaque((*inner).clone(), "pointer dereference".into())
                    }
                    Val::Opaque(ty @ Type::Function(_), why) => Val::Opaque(ty, why),
                    Val::Opaque(..) | Val::Int(..) | Val::Void => self.refused("pointer dereference".into(), range),
                }
            }
            Unary::AddrOf => {
                let ty = self.address_operand(arg);
                let why = match self.ast().expr(arg) {
                    Expr::Ident(name) => format!("address of '{name}'"),
                    _ => "address of an object".to_owned(),
                };
                Val::Opaque(Type::Pointer(ty.into()), why.into())
            }
        }
    }

    /// The type of the operand of `&`, which is evaluated as far as the address needs it.
    fn address_operand(&mut self, arg: ExprRef) -> Type {
        match self.value(arg) {
            Val::Int(_, ty) | Val::Opaque(ty, _) => ty,
            Val::Void => Type::Void,
        }
    }

    fn index(&mut self, array: ExprRef, index: ExprRef, range: Range) -> Val {
        let mut pending = [self.value(array)];
        let index = self.sequence(&mut pending, index, range);
        let [array] = pending;
        let (array, index) = (self.demoted(array), self.demoted(index));
        let (base, other) = match (&array, &index) {
            (Val::Opaque(Type::Array(..) | Type::Pointer(_), _), _) => (array, index),
            _ => (index, array),
        };
        if let Val::Opaque(ty, why) = other {
            // A subscript that cannot be evaluated.
            self.integer(Val::Opaque(ty, why), range);
        }
        match base {
            Val::Opaque(Type::Array(element, _) | Type::Pointer(element), why) => Val::Opaque((*element).clone(), why),
            _ => self.refused("subscript of something that is no array".into(), range),
        }
    }

    fn member(&mut self, object: ExprRef, field: &str, arrow: bool, range: Range) -> Val {
        let value = self.value(object);
        let value = self.demoted(value);
        let record = match &value {
            Val::Opaque(Type::Record(record), _) if !arrow => Some(*record),
            Val::Opaque(Type::Pointer(inner) | Type::Array(inner, _), _) if arrow => match **inner {
                Type::Record(record) => Some(record),
                _ => None,
            },
            _ => None,
        };
        let Some(ty) = record.and_then(|record| self.field_type(record, field)) else {
            return self.refused(format!("the member '{field}'"), range);
        };
        let why = match (&value, arrow) {
            (_, true) => "pointer dereference".into(),
            (Val::Opaque(_, why), false) => why.clone(),
            _ => ty.describe().into(),
        };
        Val::Opaque(ty, why)
    }

    fn field_type(&self, record: usize, name: &str) -> Option<Type> {
        for (field, ty) in self.records[record].fields.as_ref()? {
            match (field, ty) {
                (Some(field), ty) if field == name => return Some(ty.clone()),
                (None, Type::Record(inner)) => {
                    if let Some(found) = self.field_type(*inner, name) {
                        return Some(found);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn statement_expression(&mut self, stmts: &[StmtRef]) -> Val {
        let alive = self.cx.alive;
        self.scopes.push(Scope::default());
        let mut value = Val::Void;
        for (at, stmt) in stmts.iter().enumerate() {
            value = match self.ast().stmt(*stmt) {
                crate::ast::Stmt::Expr(expr) if at + 1 == stmts.len() => self.value(*expr),
                _ => {
                    self.nested_stmt(*stmt);
                    Val::Void
                }
            };
        }
        self.scopes.pop();
        self.cx.alive = alive;
        value
    }

    /// The variable that an expression names, if it is an integer or a pointer.
    fn target(&mut self, at: ExprRef) -> Option<(VarId, Type)> {
        match self.ast().expr(at) {
            Expr::Ident(name) => match self.lookup(name) {
                Some(Binding::Var(var, ty)) => Some((*var, ty.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an expression names a variable without representation.
    fn is_opaque_variable(&self, at: ExprRef) -> bool {
        matches!(self.ast().expr(at), Expr::Ident(name) if matches!(self.lookup(name), Some(Binding::Opaque(_))))
    }

    fn assign(&mut self, op: Option<Binary>, left: ExprRef, right: ExprRef, range: Range) -> Val {
        let Some((var, ty)) = self.target(left) else { return self.opaque_assign(op, left, right, range) };
        // The right side comes first also for `x op= f()`: C11 6.5.16.2 does not let the call happen in between.
        let value = self.value(right);
        let value = match op {
            None => value,
            Some(op) => {
                let old = self.read(var, &ty);
                self.arithmetic(op, old, value, range)
            }
        };
        let value = self.convert_int(value, &ty, range);
        self.store(var, value, range);
        self.read(var, &ty)
    }

    /// `var = value`; a call or input that has just been put into a temporary goes to the variable directly.
    pub(super) fn store(&mut self, var: VarId, value: ExprId, range: Range) {
        if self.redirect(var, value, range) {
            return;
        }
        self.emit(Op::Assign { var, value }, range);
    }

    fn redirect(&mut self, var: VarId, value: ExprId, range: Range) -> bool {
        let Some(edge) = self.last_result(value) else { return false };
        if self.exprs.ty(value) != self.vars[var.index()].ty {
            return false;
        }
        let span = self.span(range);
        let edge = &mut self.graph.edges[edge];
        match &mut edge.op {
            Op::Havoc { var: target, .. } | Op::Call { result: Some(target), .. } => *target = var,
            _ => unreachable!("only these have results"),
        }
        edge.span = span;
        self.forget_temporary();
        true
    }

    fn opaque_assign(&mut self, op: Option<Binary>, left: ExprRef, right: ExprRef, range: Range) -> Val {
        let mut pending = [self.value(left)];
        let value = self.sequence(&mut pending, right, range);
        let [target] = pending;
        let (ty, why) = match target {
            Val::Opaque(ty, why) => (ty, why),
            Val::Int(_, ty) => (ty, "assignment to an expression".into()),
            Val::Void => (Type::Void, "assignment to an expression".into()),
        };
        if !self.is_opaque_variable(left) {
            self.unsupported(&*why, range);
        } else if let (Some(op), true) = (op, ty.is_float()) {
            // The operands may be integers; nothing can go wrong in a floating-point operation.
            let old = opaque(ty.clone());
            self.arithmetic(op, old, value, range);
        }
        opaque(ty)
    }

    fn update(&mut self, increment: bool, prefix: bool, target: ExprRef, range: Range, used: bool) -> Val {
        let Some((var, ty)) = self.target(target) else {
            let value = self.value(target);
            let (ty, why) = match value {
                Val::Opaque(ty, why) => (ty, why),
                Val::Int(_, ty) => (ty, "increment of an expression".into()),
                Val::Void => (Type::Void, "increment of an expression".into()),
            };
            if !self.is_opaque_variable(target) {
                self.unsupported(&*why, range);
                return self.arbitrary(&ty);
            }
            return Val::Opaque(ty, why);
        };
        let old = self.read(var, &ty);
        let kept = match &old {
            Val::Int(expr, _) if used && !prefix => Some(self.saved_as(*expr, &ty, range)),
            _ => None,
        };
        let one = self.constant(1, Type::INT);
        let op = if increment { Binary::Add } else { Binary::Sub };
        let new = self.arithmetic(op, old, one, range);
        let new = self.convert_int(new, &ty, range);
        self.emit(Op::Assign { var, value: new }, range);
        match kept {
            Some(kept) => Val::Int(kept, ty),
            None => self.read(var, &ty),
        }
    }
}

impl Val {
    fn expect_int(self) -> (ExprId, Type) {
        match self {
            Val::Int(expr, ty) => (expr, ty),
            Val::Opaque(..) | Val::Void => unreachable!("made as an integer"),
        }
    }
}

/// A value without representation, named after its type.
pub(super) fn opaque(ty: Type) -> Val {
    let why = ty.describe().into();
    Val::Opaque(ty, why)
}
