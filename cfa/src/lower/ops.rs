// SPDX-License-Identifier: Apache-2.0
//! Binary operators, logical operators as values, and the conditional operator.

use crate::ast::{Binary, Expr, ExprRef, Range, Unary};
use crate::ids::{ExprId, NodeId};
use crate::ir::{BinOp, CmpOp, HavocOrigin, IntTy, Op};
use crate::types::{Type, common};

use super::expr::opaque;
use super::{Lower, Val};

impl<'a> Lower<'a> {
    /// A chain of left-nested binary operators, without recursion into the left operands.
    pub(super) fn binary_chain(&mut self, at: ExprRef) -> Val {
        if self.wide_fields && self.computes_with_wide_field(at) {
            return self.refused("arithmetic with a bit-field that is wider than an int".into(), self.expr_range(at));
        }
        let mut spine = Vec::new();
        let mut next = at;
        while let Expr::Binary(op, left, right) = self.ast().expr(next) {
            spine.push((*op, *right, self.expr_range(next)));
            next = *left;
        }
        let begin = self.begin();
        let mut value = self.value(next);
        for (op, right, range) in spine.into_iter().rev() {
            value = if matches!(op, Binary::And | Binary::Or) {
                self.logical(op == Binary::And, value, right, range)
            } else {
                let mut pending = [value];
                let right = self.sequence(begin, &mut pending, right, range);
                let [left] = pending;
                self.arithmetic(op, left, right, range)
            };
        }
        value
    }

    /// Whether an operator of a chain computes with a wide bit-field in a way that compilers disagree on, C11 6.3.1.1: gcc
    /// takes as many bits as the bit-field has, clang those of its declared type. That matters if the result may have
    /// more bits than the bit-field, or the other operand is negative.
    fn computes_with_wide_field(&mut self, at: ExprRef) -> bool {
        let mut next = at;
        while let Expr::Binary(op, left, right) = self.ast().expr(next) {
            let more_bits = matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl);
            let matters = |other: &Expr<'_>| more_bits || !matches!(other, Expr::Number(_) | Expr::Char(_));
            let (left_matters, right_matters) = (matters(self.ast().expr(*right)), matters(self.ast().expr(*left)));
            let decides = !matches!(op, Binary::Shr | Binary::And | Binary::Or);
            if decides
                && (left_matters && self.is_wide_field(*left)
                    || right_matters && *op != Binary::Shl && self.is_wide_field(*right))
            {
                return true;
            }
            next = *left;
        }
        false
    }

    /// The same for `left op= right`, whose result loses the bits that it has too many.
    pub(super) fn updates_with_wide_field(&mut self, op: Binary, left: ExprRef, right: ExprRef) -> bool {
        matches!(op, Binary::Div | Binary::Rem)
            && !matches!(self.ast().expr(right), Expr::Number(_))
            && (self.is_wide_field(left) || self.is_wide_field(right))
    }

    /// Whether the value of an expression may be that of a bit-field with more bits than an `int` and fewer than its type.
    pub(super) fn is_wide_field(&mut self, at: ExprRef) -> bool {
        if !self.wide_fields {
            return false;
        }
        match self.ast().expr(at) {
            Expr::Member { .. } => {
                let lvalue = self.unevaluated(|lower| lower.lvalue(at));
                let room = lvalue.ty.storage(self.machine).map_or(0, |storage| storage.bits);
                lvalue.bits.is_some_and(|bits| bits.width > 32 && bits.width < room)
            }
            Expr::Comma(parts) => parts.last().is_some_and(|last| self.is_wide_field(*last)),
            Expr::Cond(cond, yes, no) => self.is_wide_field(yes.unwrap_or(*cond)) || self.is_wide_field(*no),
            Expr::Assign(_, target, _) | Expr::Update { target, .. } | Expr::Unary(Unary::Plus, target) => {
                self.is_wide_field(*target)
            }
            Expr::Binary(Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::Div | Binary::Rem, left, right) => {
                self.is_wide_field(*left) || self.is_wide_field(*right)
            }
            Expr::Binary(Binary::Shr, left, _) => self.is_wide_field(*left),
            _ => false,
        }
    }

    /// An arithmetic, bit, shift or comparison operator.
    pub(super) fn arithmetic(&mut self, op: Binary, left: Val, right: Val, range: Range) -> Val {
        let comparison = matches!(op, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne);
        let (left, right) = if comparison && (left.is_pointer_like() || right.is_pointer_like()) {
            // An integer is converted to the type of the pointer, as gcc does.
            let left = self.integer(left, range).0;
            let right = self.integer(right, range).0;
            if matches!(op, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge) && self.in_different_objects(left, right)
            {
                let truth = self.layout("order of addresses of different objects", &Type::Bool, range);
                return Val::Int(self.exprs.cast(truth, IntTy::INT), Type::INT);
            }
            let ty = self.machine.size_type();
            (self.exprs.cast(left, ty), self.exprs.cast(right, ty))
        } else {
            let (left, right) = match self.pointer_arithmetic(op, left, right, range) {
                Ok(value) => return value,
                Err(operands) => operands,
            };
            if let Some(value) = opaque_result(op, &left, &right) {
                return value;
            }
            if let Some(format) = self.common_format(&left, &right) {
                return match self.float_arithmetic(op, format, left, right, range) {
                    Some(value) => value,
                    None => self.refused("floating-point value in place of an integer".into(), range),
                };
            }
            let left = self.promoted(left, range);
            (left, self.promoted(right, range))
        };
        let (left_ty, right_ty) = (self.exprs.ty(left), self.exprs.ty(right));
        if matches!(op, Binary::Shl | Binary::Shr) {
            let right = self.exprs.cast(right, left_ty);
            let op = if op == Binary::Shl { BinOp::Shl } else { BinOp::Shr };
            let expr = self.exprs.binary(op, left, right);
            return Val::Int(self.bounded(expr, range), Type::Int(left_ty));
        }
        let ty = common(left_ty, right_ty);
        let left = self.exprs.cast(left, ty);
        let right = self.exprs.cast(right, ty);
        let comparison = match op {
            Binary::Lt => Some((CmpOp::Lt, left, right)),
            Binary::Le => Some((CmpOp::Le, left, right)),
            Binary::Gt => Some((CmpOp::Lt, right, left)),
            Binary::Ge => Some((CmpOp::Le, right, left)),
            Binary::Eq => Some((CmpOp::Eq, left, right)),
            Binary::Ne => Some((CmpOp::Ne, left, right)),
            _ => None,
        };
        if let Some((op, left, right)) = comparison {
            let expr = self.exprs.cmp(op, left, right);
            return Val::Int(self.bounded(expr, range), Type::INT);
        }
        let op = match op {
            Binary::Add => BinOp::Add,
            Binary::Sub => BinOp::Sub,
            Binary::Mul => BinOp::Mul,
            Binary::Div => BinOp::Div,
            Binary::Rem => BinOp::Rem,
            Binary::BitAnd => BinOp::BitAnd,
            Binary::BitOr => BinOp::BitOr,
            Binary::BitXor => BinOp::BitXor,
            _ => unreachable!("shifts, comparisons and logical operators are handled above"),
        };
        let expr = self.exprs.binary(op, left, right);
        Val::Int(self.bounded(expr, range), Type::Int(ty))
    }

    /// Sums of pointers and integers, and differences of pointers; gives back the operands of everything else.
    fn pointer_arithmetic(&mut self, op: Binary, left: Val, right: Val, range: Range) -> Result<Val, (Val, Val)> {
        match (op, left, right) {
            (Binary::Sub, Val::Int(a, Type::Pointer(of)), Val::Int(b, Type::Pointer(_))) => {
                let signed = IntTy { bits: self.machine.long_bits(), signed: true };
                if self.in_different_objects(a, b) {
                    let ty = Type::Int(signed);
                    return Ok(Val::Int(self.layout("distance of different objects", &ty, range), ty));
                }
                let (a, b) = (self.exprs.cast(a, signed), self.exprs.cast(b, signed));
                let bytes = self.exprs.binary(BinOp::Sub, a, b);
                let Some(size) = self.size_of(&of).filter(|size| self.exprs.as_const(*size) != Some(0)) else {
                    return Ok(self.refused(format!("difference of pointers to a {}", of.describe()), range));
                };
                let size = self.exprs.cast(size, signed);
                let expr = self.exprs.binary(BinOp::Div, bytes, size);
                Ok(Val::Int(self.bounded(expr, range), Type::Int(signed)))
            }
            (Binary::Add | Binary::Sub, Val::Int(base, Type::Pointer(of)), index @ Val::Int(..)) => {
                let addr = self.element(base, index, &of, op == Binary::Sub, range);
                Ok(Val::Int(addr, Type::Pointer(of)))
            }
            (Binary::Add, index @ Val::Int(..), Val::Int(base, Type::Pointer(of))) => {
                let addr = self.element(base, index, &of, false, range);
                Ok(Val::Int(addr, Type::Pointer(of)))
            }
            (_, left, right) => Err((left, right)),
        }
    }

    /// Whether two addresses are fixed ones of different objects, so that nothing is known of their order; what is not
    /// constant is looked at when all addresses are known (`memory`).
    fn in_different_objects(&self, left: ExprId, right: ExprId) -> bool {
        let object = |at| self.exprs.as_const(at).and_then(|addr| self.object_at(addr));
        matches!((object(left), object(right)), (Some(a), Some(b)) if a != b)
    }

    /// A value that depends on where objects lie.
    fn layout(&mut self, what: &str, ty: &Type, range: Range) -> ExprId {
        let var = self.typed_temporary(ty);
        self.emit(Op::Havoc { var, origin: HavocOrigin::Unmodelled { what: what.into() } }, range);
        let value = self.exprs.var(var, self.vars[var.index()].ty);
        if *ty != Type::Bool {
            return value;
        }
        self.vars[var.index()].truth = true;
        self.exprs.truth(value)
    }

    /// `left && right` or `left || right` as a value.
    fn logical(&mut self, is_and: bool, left: Val, right: ExprRef, range: Range) -> Val {
        let left = self.condition(left, range);
        let before = self.cur;
        let start = self.fresh();
        self.cur = start;
        let value = self.value(right);
        let right = self.condition(value, range);
        if self.cur == start {
            self.cur = before;
            let expr = if is_and { self.exprs.and(left, right) } else { self.exprs.or(left, right) };
            return Val::Int(self.bounded(expr, range), Type::INT);
        }
        let end = std::mem::replace(&mut self.cur, before);
        match self.exprs.as_const(left).map(|value| (value != 0) == is_and) {
            // The right operand decides.
            Some(true) => {
                self.flow_to(start, range);
                self.cur = end;
                Val::Int(self.exprs.truth(right), Type::INT)
            }
            Some(false) => self.constant(i128::from(!is_and), Type::INT),
            None => {
                let (yes, no) = (self.fresh(), self.fresh());
                let (on_true, on_false) = if is_and { (start, no) } else { (yes, start) };
                self.assume(left, on_true, on_false, range);
                self.cur = end;
                self.assume(right, yes, no, range);
                let one = self.exprs.truth_const(true);
                let zero = self.exprs.truth_const(false);
                let expr = self.join((yes, one), (no, zero), &Type::INT, range);
                Val::Int(expr, Type::INT)
            }
        }
    }

    /// Two ends of control flow, each with a value of the same type, become one with a temporary.
    pub(super) fn join(
        &mut self,
        (one, a): (NodeId, ExprId),
        (other, b): (NodeId, ExprId),
        of: &Type,
        range: Range,
    ) -> ExprId {
        let ty = self.exprs.ty(a);
        let var = self.temporary(ty);
        self.describe(var, of);
        let after = self.fresh();
        self.edge(one, after, Op::Assign { var, value: a }, range);
        self.edge(other, after, Op::Assign { var, value: b }, range);
        self.cur = after;
        self.exprs.var(var, ty)
    }

    /// `cond ? yes : no`, and GNU's `cond ?: no`.
    pub(super) fn conditional(&mut self, cond: ExprRef, yes: Option<ExprRef>, no: ExprRef, range: Range) -> Val {
        let Some(yes) = yes else { return self.elvis(cond, no, range) };
        let before = self.cur;
        // The branches first, apart from the graph: whether they have side effects decides how the condition is lowered.
        let yes_start = self.fresh();
        self.cur = yes_start;
        let yes_value = self.value(yes);
        let yes_end = self.cur;
        let no_start = self.fresh();
        self.cur = no_start;
        let no_value = self.value(no);
        let no_end = self.cur;
        self.cur = before;
        let pure = yes_start == yes_end
            && no_start == no_end
            && matches!((&yes_value, &no_value), (Val::Int(..), Val::Int(..)));
        let result = self.common_type(&yes_value, &no_value);
        if pure && let Some(ty) = result {
            let value = self.value(cond);
            let cond = self.condition(value, range);
            let a = self.convert_int(yes_value, &ty, range);
            let b = self.convert_int(no_value, &ty, range);
            let expr = self.exprs.ite(cond, a, b);
            return Val::Int(self.bounded(expr, range), ty);
        }
        self.branch(cond, yes_start, no_start);
        if let Some(ty) = result {
            self.cur = yes_end;
            let a = self.convert_int(yes_value, &ty, range);
            let yes_end = self.cur;
            self.cur = no_end;
            let b = self.convert_int(no_value, &ty, range);
            let no_end = self.cur;
            let expr = self.join((yes_end, a), (no_end, b), &ty, range);
            return Val::Int(expr, ty);
        }
        if let (Val::Aggregate(a, ty), Val::Aggregate(b, other)) = (&yes_value, &no_value)
            && ty == other
        {
            let place = self.temporary_place(ty);
            self.cur = yes_end;
            self.copy(&place, a, ty, range);
            let yes_end = std::mem::replace(&mut self.cur, no_end);
            self.copy(&place, b, ty, range);
            self.edge(yes_end, self.cur, Op::Skip, range);
            return Val::Aggregate(place, ty.clone());
        }
        let after = self.fresh();
        self.edge(yes_end, after, Op::Skip, range);
        self.edge(no_end, after, Op::Skip, range);
        self.cur = after;
        match (yes_value, no_value) {
            (Val::Aggregate(..), _) | (_, Val::Aggregate(..)) => {
                self.refused("conditional expression of different structures".into(), range)
            }
            (Val::Void, _) | (_, Val::Void) => Val::Void,
            (Val::Opaque(a, _), Val::Opaque(b, other)) if b.is_float() && !a.is_float() => Val::Opaque(b, other),
            (Val::Opaque(a, why), _) | (_, Val::Opaque(a, why)) => Val::Opaque(a, why),
            (Val::Int(..), Val::Int(..)) => unreachable!("two integers have a common type"),
        }
    }

    fn elvis(&mut self, cond: ExprRef, no: ExprRef, range: Range) -> Val {
        let value = self.value(cond);
        let (cond, cond_ty) = self.integer(value, range);
        let kept = Val::Int(self.saved_as(cond, &cond_ty, range), cond_ty);
        let (yes, other) = (self.fresh(), self.fresh());
        let truth = self.condition(kept.clone(), range);
        self.assume(truth, yes, other, range);
        self.cur = other;
        let value = self.value(no);
        let ty = self.common_type(&kept, &value).unwrap_or(Type::INT);
        let b = self.convert_int(value, &ty, range);
        let no_end = std::mem::replace(&mut self.cur, yes);
        let a = self.convert_int(kept, &ty, range);
        let expr = self.join((self.cur, a), (no_end, b), &ty, range);
        Val::Int(expr, ty)
    }

    /// The type of a conditional expression with these values, if it has a representation.
    fn common_type(&self, yes: &Val, no: &Val) -> Option<Type> {
        let ty = |value: &Val| match value {
            Val::Int(_, ty) | Val::Opaque(ty, _) => Some(ty.decayed()),
            Val::Aggregate(..) | Val::Void => None,
        };
        let (a, b) = (ty(yes)?, ty(no)?);
        let null = |value: &Val| matches!(value, Val::Int(expr, _) if self.exprs.as_const(*expr) == Some(0));
        match (&a, &b) {
            (Type::Pointer(_), Type::Pointer(_)) if null(yes) => Some(b),
            (Type::Pointer(_), Type::Pointer(_)) if null(no) => Some(a),
            (Type::Pointer(_), Type::Pointer(inner)) => Some(if **inner == Type::Void { b } else { a }),
            (Type::Pointer(_), Type::Int(_) | Type::Bool) => Some(a),
            (Type::Int(_) | Type::Bool, Type::Pointer(_)) => Some(b),
            (Type::Float(..), _) | (_, Type::Float(..)) => {
                self.common_format(yes, no).map(|format| self.float_type(format))
            }
            _ => match (a.storage(self.machine), b.storage(self.machine)) {
                (Some(a), Some(b)) => Some(Type::Int(common(a, b))),
                _ => None,
            },
        }
    }
}

impl Val {
    fn is_pointer_like(&self) -> bool {
        matches!(self, Val::Int(_, ty) | Val::Opaque(ty, _) if ty.is_pointer_like())
    }
}

/// The result of an operator that has an operand without representation, when it has none either.
fn opaque_result(op: Binary, left: &Val, right: &Val) -> Option<Val> {
    let comparison = matches!(op, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne);
    let ty = |value: &Val| match value {
        Val::Int(_, ty) | Val::Aggregate(_, ty) | Val::Opaque(ty, _) => ty.clone(),
        Val::Void => Type::Void,
    };
    let (l, r) = (ty(left), ty(right));
    if comparison || matches!(op, Binary::Rem | Binary::Shl | Binary::Shr) {
        return None;
    }
    match (&l, &r) {
        // Nothing can go wrong in an operation on extended numbers.
        (Type::Float(a, _), Type::Float(b, _)) if *a.max(b) > 8 => Some(opaque(if a >= b { l } else { r })),
        (Type::Float(a, _), Type::Int(_) | Type::Bool) if *a > 8 => Some(opaque(l)),
        (Type::Int(_) | Type::Bool, Type::Float(a, _)) if *a > 8 => Some(opaque(r)),
        _ if op == Binary::Sub && l.is_pointer_like() && r.is_pointer_like() => None,
        _ if matches!(op, Binary::Add | Binary::Sub) && l.is_pointer_like() => Some(pointer(l, left)),
        _ if op == Binary::Add && r.is_pointer_like() => Some(pointer(r, right)),
        _ => None,
    }
}

/// The result of pointer arithmetic; arrays become pointers.
fn pointer(ty: Type, value: &Val) -> Val {
    let why = match value {
        Val::Opaque(_, why) => why.clone(),
        Val::Int(..) | Val::Aggregate(..) | Val::Void => "pointer".into(),
    };
    match ty {
        Type::Array(element, _) | Type::Vla(element, _) => Val::Opaque(Type::Pointer(element), why),
        other => Val::Opaque(other, why),
    }
}
