// SPDX-License-Identifier: Apache-2.0
//! Values of expressions. Side effects become edges at the current place, in C's order; what remains is a
//! side-effect-free expression that is valid until one of its variables is written.

use crate::ast::{Binary, Designator, Expr, ExprRef, Range, TypeName, Unary};
use crate::ids::{ExprId, VarId};
use crate::ir::{IntTy, Op, Scope as VarScope, UnOp};
use crate::layout::size_align;
use crate::literals::{self, Number};
use crate::types::{Type, promote};

use super::place::{Lvalue, Place};
use super::unsequenced::{Begin, Between};
use super::{Binding, DEPTH_LIMIT, Lower, Val};

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
            Expr::Ident(name) => self.identifier(at, name, range),
            Expr::Unary(op, arg) => self.unary(at, *op, *arg, range),
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
                let mut ty = self.type_of(*arg);
                if matches!(ty, Type::Vla(..)) && self.is_lvalue(*arg) {
                    // Then the operand is evaluated, C11 6.5.3.4.
                    ty = self.lvalue(*arg).ty;
                }
                self.sizeof(&ty, range)
            }
            Expr::SizeofType(name) | Expr::AlignofType(name) => {
                let ty = self.sized_type(name);
                if matches!(self.ast().expr(at), Expr::SizeofType(_)) {
                    return self.sizeof(&ty, name.range);
                }
                match size_align(&ty, &self.records, self.machine) {
                    // GNU's operator tells how single objects are aligned, on 32-bit machines better than in structures.
                    Some((_, 4))
                        if self.sources[self.file].text[range.0 as usize..].starts_with("__alignof")
                            && is_scalar_of_8_bytes(&ty) =>
                    {
                        self.constant(8, Type::Int(self.machine.size_type()))
                    }
                    Some((_, align)) => self.constant(i128::from(align), Type::Int(self.machine.size_type())),
                    None => self.refused(format!("alignment of a {}", ty.describe()), range),
                }
            }
            Expr::Offsetof(name, path) => self.offset_of(name, path, range),
            Expr::Index(table, index) => match self.character(*table, index, range) {
                Some(value) => value,
                None => {
                    let lvalue = self.lvalue(at);
                    self.rvalue(lvalue, range)
                }
            },
            Expr::Str(_) | Expr::Member { .. } | Expr::Compound(..) => {
                let lvalue = self.lvalue(at);
                self.rvalue(lvalue, range)
            }
            Expr::LabelAddress(name) => self.label_address(*name, range),
            Expr::Block(stmts) => self.statement_expression(stmts),
            Expr::Init(_) => self.refused("initialiser in braces".into(), range),
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
            Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. } => *var,
            Op::Call { result: Some(result), .. } => *result,
            _ => return None,
        };
        let newest = temporary.index() + 1 == self.vars.len() && self.vars[temporary.index()].temporary;
        (newest && target == temporary).then_some(self.graph.edges.len() - 1)
    }

    fn forget_temporary(&mut self) {
        let gone = self.vars.pop().expect("the temporary is the last variable");
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

    fn identifier(&mut self, at: ExprRef, name: &str, range: Range) -> Val {
        match self.lookup(name).cloned() {
            Some(Binding::Var(var, ty)) => self.read(var, &ty),
            Some(Binding::Const(value, ty)) => self.constant(value, ty),
            Some(Binding::Place(..) | Binding::Opaque(_) | Binding::Func(_)) => {
                let lvalue = self.lvalue(at);
                self.rvalue(lvalue, range)
            }
            Some(Binding::Typedef(_)) => self.refused(format!("the type '{name}' as a value"), range),
            None => match name {
                "true" => self.constant(1, Type::INT),
                "false" => self.constant(0, Type::INT),
                "NULL" | "nullptr" => self.constant(0, Type::Pointer(Type::Void.into())),
                "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                    let lvalue = self.lvalue(at);
                    self.rvalue(lvalue, range)
                }
                _ => self.refused(format!("the undeclared identifier '{name}'"), range),
            },
        }
    }

    /// `offsetof(T, a.b[1])`.
    fn offset_of(&mut self, name: &'a TypeName<'a>, path: &[Designator<'a>], range: Range) -> Val {
        let base = self.spec_type(&name.spec);
        let ty = self.declarator_type(base, &name.declarator);
        let size_type = self.machine.size_type();
        let mut at = Lvalue::new(Place::Memory(self.exprs.constant(size_type, 0)), ty);
        for step in path {
            let found = match (step, &at.ty) {
                (Designator::Field(field), _) => self.member_of(&at, field),
                (Designator::Index(index, None), Type::Array(element, _)) => {
                    let element = element.clone();
                    let index = self.value(*index);
                    match at.place {
                        Place::Memory(addr) => {
                            let addr = self.element(addr, index, &element, false, range);
                            Some(Lvalue::new(Place::Memory(addr), (*element).clone()))
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            match found {
                Some(found) => at = found,
                None => return self.refused("offsetof".into(), range),
            }
        }
        match at.place {
            Place::Memory(addr) if at.bits.is_none() => Val::Int(addr, Type::Int(size_type)),
            _ => self.refused("offsetof".into(), range),
        }
    }

    /// The integer or pointer in a value; opaque values are not supported from here on.
    pub(super) fn integer(&mut self, value: Val, range: Range) -> (ExprId, Type) {
        match value {
            Val::Int(_, Type::VaList) => {
                self.unsupported("variable argument list as a value", range);
                self.arbitrary(&Type::INT).expect_int()
            }
            Val::Int(expr, ty) => (expr, ty),
            Val::Opaque(ty, why) => {
                self.unsupported(&*why, range);
                let ty = if ty.storage(self.machine).is_some() { ty } else { Type::INT };
                self.arbitrary(&ty).expect_int()
            }
            Val::Aggregate(_, ty) => {
                self.unsupported(ty.describe(), range);
                self.arbitrary(&Type::INT).expect_int()
            }
            Val::Void => {
                self.unsupported("void value", range);
                self.arbitrary(&Type::INT).expect_int()
            }
        }
    }

    /// The value after the integer promotions.
    pub(super) fn promoted(&mut self, value: Val, range: Range) -> ExprId {
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
            (Type::VaList, value @ Val::Int(_, Type::VaList)) => value,
            (Type::VaList, _) | (_, Val::Int(_, Type::VaList)) => {
                self.refused("conversion of a variable argument list".into(), range);
                self.arbitrary(to)
            }
            (Type::Record(_), Val::Aggregate(place, ty)) if ty == *to => Val::Aggregate(place, ty),
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
                    Type::Pointer(_) if *to != Type::Bool => self.anchored(expr, range),
                    _ => expr,
                };
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
        match self.convert(value, to, range) {
            Val::Int(expr, Type::VaList) if *to == Type::VaList => expr,
            value => self.integer(value, range).0,
        }
    }

    /// The type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, at: ExprRef) -> Type {
        if let Expr::Str(text) = self.ast().expr(at) {
            return match literals::string(text) {
                Some((units, ty)) => Type::Array(Type::Int(ty).into(), Some(units.len() as u64 + 1)),
                None => Type::Unknown("string literal with unknown characters"),
            };
        }
        let mark = self.graph.edges.len();
        let ty = self.unevaluated(|lower| {
            if lower.is_lvalue(at) {
                return lower.lvalue(at).ty;
            }
            match lower.value(at) {
                Val::Int(_, ty) | Val::Aggregate(_, ty) | Val::Opaque(ty, _) => ty,
                Val::Void => Type::Void,
            }
        });
        let unknown = self.graph.edges[mark..].iter().any(|edge| matches!(edge.op, Op::Unsupported { .. }));
        if unknown { Type::Unknown("value of an unknown type") } else { ty }
    }

    fn sizeof(&mut self, ty: &Type, range: Range) -> Val {
        match self.size_of(ty) {
            Some(size) => Val::Int(size, Type::Int(self.machine.size_type())),
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
    /// The evaluation of `pending` began at `begin`.
    pub(super) fn sequence(&mut self, begin: Begin, pending: &mut [Val], right: ExprRef, range: Range) -> Val {
        let early = self.reads_early(right);
        if early {
            self.read_early(pending, range);
        }
        let mark = self.graph.edges.len();
        let before = self.cur;
        if !early && matches!(self.ast().expr(right), Expr::Number(_) | Expr::Char(_) | Expr::Ident(_)) {
            let value = self.value(right);
            let between = Between { left_end: before, right_start: before, right: Some(right) };
            self.unsequenced(begin, mark, (pending, std::slice::from_ref(&value)), &between, range);
            return value;
        }
        let start = self.fresh();
        self.cur = start;
        let mut value = self.value(right);
        if early {
            self.read_early(std::slice::from_mut(&mut value), range);
        }
        if self.cur == start {
            self.cur = before;
        }
        let right_start = if self.cur == before { before } else { start };
        let between = Between { left_end: before, right_start, right: Some(right) };
        self.unsequenced(begin, mark, (pending, std::slice::from_ref(&value)), &between, range);
        if right_start == before {
            return value;
        }
        let end = std::mem::replace(&mut self.cur, before);
        let edges = mark..self.graph.edges.len();
        for left in pending {
            let (Val::Int(expr, _) | Val::Aggregate(Place::Memory(expr), _)) = &left else { continue };
            if !self.changed_by(*expr, edges.clone()) {
                continue;
            }
            // What calls change is looked at when all functions are known.
            if self.evaluation_order.is_none() && !self.graph.has_call(edges.clone()) {
                self.evaluation_order = Some(self.span(range));
            }
            match left {
                Val::Int(expr, ty) => *expr = self.saved_as(*expr, ty, range),
                Val::Aggregate(Place::Memory(expr), _) => *expr = self.saved(*expr, range),
                _ => {}
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
        // Expressions read variables, never memory.
        edges.into_iter().any(|edge| {
            let op = &self.graph.edges[edge].op;
            (global && matches!(op, Op::Call { .. }))
                || op.written().is_some_and(|var| vars.binary_search(&var).is_ok())
        })
    }

    fn unary(&mut self, at: ExprRef, op: Unary, arg: ExprRef, range: Range) -> Val {
        match op {
            Unary::Not => {
                let value = self.value(arg);
                let expr = self.condition(value, range);
                let not = self.exprs.not(expr);
                Val::Int(self.bounded(not, range), Type::INT)
            }
            Unary::Neg | Unary::BitNot if self.is_wide_field(arg) => {
                self.refused("arithmetic with a bit-field that is wider than an int".into(), range)
            }
            Unary::Plus | Unary::Neg | Unary::BitNot => {
                let value = self.value(arg);
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
                let lvalue = self.lvalue(at);
                self.rvalue(lvalue, range)
            }
            Unary::AddrOf => self.address(arg, range),
        }
    }

    /// The variable that an expression names, if it is a single one.
    pub(super) fn target(&mut self, at: ExprRef) -> Option<(VarId, Type)> {
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
        if self.wide_fields && op.is_some_and(|op| self.updates_with_wide_field(op, left, right)) {
            return self.refused("arithmetic with a bit-field that is wider than an int".into(), range);
        }
        let Some((var, ty)) = self.target(left) else { return self.assign_to(op, left, right, range) };
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
            Op::Havoc { var: target, .. }
            | Op::Load { var: target, .. }
            | Op::Alloc { var: target, .. }
            | Op::Call { result: Some(target), .. } => *target = var,
            _ => unreachable!("only these have results"),
        }
        edge.span = span;
        self.forget_temporary();
        true
    }

    /// An assignment to something that is not a single variable.
    fn assign_to(&mut self, op: Option<Binary>, left: ExprRef, right: ExprRef, range: Range) -> Val {
        let begin = self.begin();
        let mut target = self.lvalue(left);
        let address = match &target.place {
            Place::Memory(addr) => Val::Int(*addr, Type::Pointer(Type::Void.into())),
            _ => Val::Void,
        };
        let mut pending = [address];
        let value = self.sequence(begin, &mut pending, right, range);
        if let [Val::Int(addr, _)] = pending {
            target.place = Place::Memory(addr);
        }
        let ty = target.ty.clone();
        match (&target.place, value) {
            (Place::Nowhere(why), value) => {
                if !self.is_opaque_variable(left) {
                    self.unsupported(&**why, range);
                } else if let (Some(op), true) = (op, ty.is_float()) {
                    // The operands may be integers; nothing can go wrong in a floating-point operation.
                    self.arithmetic(op, opaque(ty.clone()), value, range);
                }
                opaque(ty)
            }
            (place, Val::Aggregate(from, from_ty)) if from_ty == ty && op.is_none() => {
                self.copy(place, &from, &ty, range);
                Val::Aggregate(place.clone(), ty)
            }
            (_, value) => {
                let value = match op {
                    None => value,
                    Some(op) => {
                        let old = self.rvalue(target.clone(), range);
                        self.arithmetic(op, old, value, range)
                    }
                };
                if ty.storage(self.machine).is_none() {
                    self.unsupported(format!("assignment to a {}", ty.describe()), range);
                    return opaque(ty);
                }
                let value = self.convert_int(value, &ty, range);
                self.write(&target, value, range)
            }
        }
    }

    fn update(&mut self, increment: bool, prefix: bool, target: ExprRef, range: Range, used: bool) -> Val {
        let op = if increment { Binary::Add } else { Binary::Sub };
        let one = self.constant(1, Type::INT);
        let Some((var, ty)) = self.target(target) else {
            let lvalue = self.lvalue(target);
            let ty = lvalue.ty.clone();
            if ty.storage(self.machine).is_none() || matches!(lvalue.place, Place::Nowhere(_)) {
                if !self.is_opaque_variable(target) {
                    self.unsupported("increment of something without representation", range);
                    return self.arbitrary(&ty);
                }
                return opaque(ty);
            }
            let mut old = self.rvalue(lvalue.clone(), range);
            if let (Val::Int(expr, old_ty), Place::Vars(..), true) = (&old, &lvalue.place, used && !prefix) {
                old = Val::Int(self.saved_as(*expr, old_ty, range), old_ty.clone());
            }
            let new = self.arithmetic(op, old.clone(), one, range);
            let new = self.convert_int(new, &ty, range);
            let new = self.write(&lvalue, new, range);
            return if prefix { new } else { old };
        };
        let old = self.read(var, &ty);
        let kept = match &old {
            Val::Int(expr, _) if used && !prefix => Some(self.saved_as(*expr, &ty, range)),
            _ => None,
        };
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
            Val::Aggregate(..) | Val::Opaque(..) | Val::Void => unreachable!("made as an integer"),
        }
    }
}

/// Whether a type, or that of the elements of an array, is `long long`, `double` or the like.
fn is_scalar_of_8_bytes(ty: &Type) -> bool {
    match ty {
        Type::Int(ty) => ty.bits == 64,
        Type::Float(size, _) => *size == 8,
        Type::Array(element, _) => is_scalar_of_8_bytes(element),
        _ => false,
    }
}

/// A value without representation, named after its type.
pub(super) fn opaque(ty: Type) -> Val {
    let why = ty.describe().into();
    Val::Opaque(ty, why)
}
