// SPDX-License-Identifier: Apache-2.0
//! Functions with variable arguments that look at them, C11 7.16.
//!
//! The caller puts the arguments behind the last parameter into an array of its own, two cells of 64 bits for each: what it
//! is, and its value. The function gets the address of this array by a hidden parameter, and a `va_list` is the address of
//! the next argument in it, or 0 if it has none. A `va_arg` of another kind than the argument has, or behind the last one, is
//! not supported where it is reached.

use crate::ast::{Ast, Expr, ExprRef, Item, Range};
use crate::ids::{ExprId, VarId};
use crate::ir::{BinOp, CmpOp, ExprKind, IntTy, Op};
use crate::types::{Type, int};

use super::place::Place;
use super::{Binding, Lower, Val};

/// A cell of the array.
const CELL: IntTy = IntTy { bits: 64, signed: false };
/// The bytes of the two cells of an argument.
const STEP: i128 = 16;

/// What an argument is. Behind the last one the first cell is 0.
const INT: i128 = 1;
const LONG: i128 = 2;
const POINTER: i128 = 3;
const DOUBLE: i128 = 4;
/// Something without representation.
const OTHER: i128 = 5;
const KINDS: i128 = 7;
/// Added where the argument or one behind it is a pointer to something that may be written.
const WRITABLE: i128 = 8;

/// The names of functions that begin to read variable arguments.
fn is_start(name: &str) -> bool {
    matches!(name, "__builtin_va_start" | "__builtin_stdarg_start" | "__builtin_c23_va_start")
}

/// The functions of a file that read their variable arguments, by where their definitions start.
pub(super) fn readers(ast: &Ast<'_>) -> Vec<u32> {
    let mut starts = Vec::new();
    for (expr, range) in &ast.exprs {
        if let Expr::Call(callee, _) = expr
            && matches!(ast.expr(*callee), Expr::Ident(name) if is_start(name))
        {
            starts.push(range.0);
        }
    }
    let mut found = Vec::new();
    for item in &ast.items {
        if let Item::Function { range, .. } = item
            && starts.iter().any(|at| range.0 <= *at && *at < range.1)
        {
            found.push(range.0);
        }
    }
    found
}

impl<'a> Lower<'a> {
    /// The array of the arguments behind the last parameter, filled. Its address is what the hidden parameter gets.
    pub(super) fn variable_arguments(&mut self, values: Vec<Val>, range: Range) -> ExprId {
        let mut cells = Vec::new();
        for value in values {
            let (kind, cell) = self.variable_argument(value, range);
            let writable = kind == POINTER && !self.is_text(cell);
            cells.push((kind, writable, cell));
        }
        let mut writable = false;
        let mut kinds = Vec::new();
        for (kind, own, _) in cells.iter().rev() {
            writable |= own;
            kinds.push(kind + if writable { WRITABLE } else { 0 });
        }
        kinds.reverse();
        let count = 2 * cells.len() as u64 + 1;
        let ty = Type::Array(int(CELL.bits, CELL.signed).into(), Some(count));
        let (binding, birth) = self.local_binding("(arguments)", ty, true, true, range.0);
        self.give_birth(&birth, true, range);
        let Binding::Place(Place::Memory(addr), _) = binding else {
            self.unsupported("more memory than there is", range);
            return self.exprs.constant(self.machine.size_type(), 0);
        };
        if let Some(addr) = self.exprs.as_const(addr).and_then(|addr| u64::try_from(addr).ok()) {
            self.argument_objects.insert(addr);
        }
        let mut at = 0;
        for (kind, (_, _, cell)) in kinds.into_iter().zip(cells) {
            let kind = self.exprs.constant(CELL, kind);
            for value in [kind, cell] {
                let to = self.displaced(addr, at);
                self.put(&Place::Memory(to), value, range);
                at += STEP / 2;
            }
        }
        let (end, to) = (self.exprs.constant(CELL, 0), self.displaced(addr, at));
        self.put(&Place::Memory(to), end, range);
        addr
    }

    /// What an argument is after the default promotions, and its cell.
    fn variable_argument(&mut self, value: Val, range: Range) -> (i128, ExprId) {
        let double = Type::of_format(crate::ir::FloatTy::F64, self.machine);
        match value {
            Val::Int(expr, Type::Pointer(_)) => (POINTER, self.exprs.cast(expr, CELL)),
            Val::Int(expr, ty @ Type::Float(..)) => (DOUBLE, self.convert_int(Val::Int(expr, ty), &double, range)),
            Val::Int(expr, ty @ (Type::Int(_) | Type::Bool)) => {
                let expr = self.promoted(Val::Int(expr, ty), range);
                let kind = if self.exprs.ty(expr).bits == 32 { INT } else { LONG };
                // Upper halves are not looked at.
                let unsigned = IntTy { bits: self.exprs.ty(expr).bits, signed: false };
                let expr = self.exprs.cast(expr, unsigned);
                (kind, self.exprs.cast(expr, CELL))
            }
            _ => (OTHER, self.exprs.constant(CELL, 0)),
        }
    }

    /// Whether an address is that of a string literal, or 0.
    fn is_text(&self, addr: ExprId) -> bool {
        let Some(addr) = self.exprs.as_const(addr) else { return false };
        let inside = |object: &crate::ir::Object| {
            i128::from(object.addr) <= addr && addr < i128::from(object.addr) + i128::from(object.size)
        };
        addr == 0 || self.memory.objects.iter().any(|object| object.constant && inside(object))
    }

    /// The value of a call of `va_start`, `va_arg`, `va_copy` or `va_end`.
    pub(super) fn variable_list(&mut self, name: &str, args: &'a [ExprRef], range: Range) -> Option<Val> {
        if is_start(name) {
            let (list, from) = (args.first().and_then(|list| self.list(*list)), self.cx.arguments);
            let (Some(list), Some(from)) = (list, from) else { return None };
            let value = self.exprs.var(from, self.machine.size_type());
            self.emit(Op::Assign { var: list, value }, range);
            return Some(Val::Void);
        }
        match (name, args) {
            ("__builtin_va_copy", [to, from]) => {
                let to = self.list(*to)?;
                let Val::Int(value, Type::VaList) = self.value(*from) else { return None };
                self.emit(Op::Assign { var: to, value }, range);
                Some(Val::Void)
            }
            ("__builtin_va_end", [list]) => {
                let list = self.list(*list)?;
                self.forget_list(list, range);
                Some(Val::Void)
            }
            ("__builtin_va_arg", [list, ty]) => {
                let list = self.list(*list)?;
                let Expr::SizeofType(name) = self.ast().expr(*ty) else { return None };
                let base = self.spec_type(&name.spec);
                let ty = self.declarator_type(base, &name.declarator);
                Some(self.next_argument(list, &ty, range))
            }
            _ => None,
        }
    }

    /// The variable that an expression names, if it is a `va_list`.
    fn list(&mut self, at: ExprRef) -> Option<VarId> {
        match self.target(at) {
            Some((var, Type::VaList)) => Some(var),
            _ => None,
        }
    }

    /// A list from which nothing can be read any more.
    pub(super) fn forget_list(&mut self, list: VarId, range: Range) {
        let value = self.exprs.constant(self.machine.size_type(), 0);
        self.emit(Op::Assign { var: list, value }, range);
    }

    /// The lists among arguments: the function that gets them may have read from them, and what they are then depends on
    /// the machine, C11 7.16.3.
    pub(super) fn forget_lists(&mut self, values: &[Val], range: Range) {
        for value in values {
            if let Val::Int(expr, Type::VaList) = value {
                match self.exprs.get(*expr).kind {
                    ExprKind::Var(var) if !self.vars[var.index()].temporary => self.forget_list(var, range),
                    ExprKind::Const(_) => {}
                    _ => self.unsupported("variable argument list that is computed", range),
                }
            }
        }
    }

    /// The first cell of the next argument of a list.
    fn kind_of_next(&mut self, list: ExprId, range: Range) -> ExprId {
        let zero = self.exprs.constant(self.machine.size_type(), 0);
        let none = self.exprs.cmp(CmpOp::Eq, list, zero);
        self.must_not(none, "variable argument list without a start", range);
        self.load(&Place::Memory(list), CELL, None, range)
    }

    /// An unsupported edge where a condition holds.
    fn must_not(&mut self, cond: ExprId, what: &str, range: Range) {
        let (yes, no) = (self.fresh(), self.fresh());
        self.assume(cond, yes, no, range);
        self.cur = yes;
        self.unsupported(what, range);
        self.edge(self.cur, no, Op::Skip, range);
        self.cur = no;
    }

    /// `va_arg(list, ty)`.
    fn next_argument(&mut self, list: VarId, ty: &Type, range: Range) -> Val {
        let kind = match ty {
            Type::Int(IntTy { bits: 32, .. }) => INT,
            Type::Int(IntTy { bits: 64, .. }) => LONG,
            Type::Pointer(_) => POINTER,
            Type::Float(8, _) => DOUBLE,
            // Among them are the types that are promoted: no argument has one.
            _ => return self.refused("variable argument that is of another kind".into(), range),
        };
        let size_type = self.machine.size_type();
        let at = self.exprs.var(list, size_type);
        let found = self.kind_of_next(at, range);
        let mask = self.exprs.constant(CELL, KINDS);
        let found = self.exprs.binary(BinOp::BitAnd, found, mask);
        let expected = self.exprs.constant(CELL, kind);
        let other = self.exprs.cmp(CmpOp::Ne, found, expected);
        self.must_not(other, "variable argument of another type than is asked for, or behind the last one", range);
        let cell = self.displaced(at, STEP / 2);
        let cell = self.load(&Place::Memory(cell), CELL, ty.format(), range);
        let value = self.displaced(at, STEP);
        self.emit(Op::Assign { var: list, value }, range);
        self.lists_read.push(self.graph.edges.len());
        let storage = ty.storage(self.machine).expect("one of the types above");
        Val::Int(self.exprs.cast(cell, storage), ty.clone())
    }

    /// A call of a function that prints the arguments of a list: where one of them is a pointer, the format might make it
    /// store a number.
    pub(super) fn printed_list(&mut self, name: &str, list: ExprId, range: Range) {
        let kind = self.kind_of_next(list, range);
        let mask = self.exprs.constant(CELL, WRITABLE);
        let writable = self.exprs.binary(BinOp::BitAnd, kind, mask);
        let zero = self.exprs.constant(CELL, 0);
        let writable = self.exprs.cmp(CmpOp::Ne, writable, zero);
        self.must_not(writable, &format!("call of '{name}' with a format that may store numbers"), range);
    }
}
