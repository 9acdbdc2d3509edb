// SPDX-License-Identifier: Apache-2.0
//! `malloc`, `free` and their relatives, C11 7.22.3.
//!
//! In programs that call `realloc` each object on the heap has its size in front of it, as real allocators keep it: that is how
//! many bytes `realloc` copies.

use crate::ast::{Ast, Expr, ExprRef, Range};
use crate::ids::{ExprId, FuncId, RegionId};
use crate::ir::{AllocKind, BinOp, CmpOp, Op};
use crate::layout::size_align;
use crate::types::Type;

use super::place::Place;
use super::{Lower, Val};

/// How many bytes there are in front of an object with its size, which is at the beginning of them: so many that the object is
/// aligned for everything.
const HEADER: i128 = 16;

/// Whether a program calls `realloc`.
pub(super) fn reallocates(asts: &[Ast<'_>]) -> bool {
    asts.iter().flat_map(Ast::calls_by_name).any(|(name, _)| name == "realloc")
}

impl<'a> Lower<'a> {
    /// A call of `malloc`, which never fails here, of one of its relatives, or of `free`; none for other functions.
    pub(super) fn allocation(
        &mut self,
        name: &str,
        func: Option<FuncId>,
        args: &'a [ExprRef],
        range: Range,
    ) -> Option<Val> {
        let kind = match (name, args.len()) {
            ("malloc" | "__builtin_malloc", 1) | ("calloc" | "__builtin_calloc", 2) | ("realloc", 2) => AllocKind::Heap,
            ("aligned_alloc" | "memalign", 2) => AllocKind::Heap,
            ("alloca" | "__builtin_alloca", 1) => AllocKind::Stack,
            ("free" | "__builtin_free" | "cfree", 1) => {
                let pointer = Type::Pointer(Type::Void.into());
                let values = self.arguments(args, std::slice::from_ref(&pointer), range);
                self.call_site(name, range);
                let value = values.into_iter().next().expect("there is an argument");
                let addr = self.convert_int(value, &pointer, range);
                self.release(addr, range);
                return Some(Val::Void);
            }
            _ => return None,
        };
        let size_type = Type::Int(self.machine.size_type());
        let pointer = Type::Pointer(Type::Void.into());
        let first = if name == "realloc" { pointer.clone() } else { size_type.clone() };
        let params = [first.clone(), size_type.clone()];
        let values = self.arguments(args, &params, range);
        self.call_site(name, range);
        let mut exprs = Vec::new();
        for (value, ty) in values.into_iter().zip(&params) {
            exprs.push(self.convert_int(value, ty, range));
        }
        let addr = match (name, exprs.as_slice()) {
            ("calloc" | "__builtin_calloc", [count, size]) => {
                let size = self.exprs.binary(BinOp::Mul, *count, *size);
                let size = self.bounded(size, range);
                self.fresh_object(size, kind, true, range)
            }
            ("realloc", [old, size]) => {
                let of = self.element_type(args[0]);
                self.reallocation(*old, *size, &of, range)
            }
            (_, exprs) => self.fresh_object(*exprs.last()?, kind, false, range),
        };
        let ty = func.map(|func| self.signatures[func.index()].ret.clone());
        Some(Val::Int(addr, ty.filter(|ty| matches!(ty, Type::Pointer(_))).unwrap_or(pointer)))
    }

    /// A pointer to a new object.
    fn fresh_object(&mut self, size: ExprId, kind: AllocKind, zeroed: bool, range: Range) -> ExprId {
        let ty = self.machine.size_type();
        let var = self.temporary(ty);
        let whole = self.exprs.var(var, ty);
        let addr = if self.sizes_kept && kind == AllocKind::Heap {
            // There is no room for an object that is so large that this does not hold.
            let most = self.exprs.constant(ty, ty.max() - HEADER);
            let fits = self.exprs.cmp(CmpOp::Le, size, most);
            self.only_if(fits, range);
            let with_header = self.displaced(size, HEADER);
            self.alloc(var, with_header, kind, range);
            self.put(&Place::Memory(whole), size, range);
            self.displaced(whole, HEADER)
        } else {
            self.alloc(var, size, kind, range);
            whole
        };
        if zeroed {
            self.emit(Op::Zero { addr, size, region: RegionId::new(0) }, range);
        }
        addr
    }

    /// Ends the life of an object, if there is one.
    fn release(&mut self, addr: ExprId, range: Range) {
        if !self.sizes_kept {
            self.emit(Op::Free { addr }, range);
            return;
        }
        let (free, after) = (self.fresh(), self.fresh());
        self.assume(addr, free, after, range);
        self.cur = free;
        let addr = self.displaced(addr, -HEADER);
        self.emit(Op::Free { addr }, range);
        self.flow_to(after, range);
    }

    /// What a pointer that is passed as one to anything points to.
    fn element_type(&mut self, arg: ExprRef) -> Type {
        let mut inner = arg;
        while let Expr::Cast(_, casted) = self.ast().expr(inner) {
            inner = *casted;
        }
        match self.type_of(inner).decayed() {
            Type::Pointer(of) => (*of).clone(),
            _ => Type::Void,
        }
    }

    /// A new object with the bytes of the old one, as many as both have, which are elements of a type.
    fn reallocation(&mut self, old: ExprId, size: ExprId, of: &Type, range: Range) -> ExprId {
        let ty = self.machine.size_type();
        let new = self.fresh_object(size, AllocKind::Heap, false, range);
        let (copy, after) = (self.fresh(), self.fresh());
        self.assume(old, copy, after, range);
        self.cur = copy;
        let header = self.displaced(old, -HEADER);
        let before = self.load(&Place::Memory(header), ty, None, range);
        let fewer = self.exprs.cmp(CmpOp::Lt, before, size);
        let kept = self.exprs.ite(fewer, before, size);
        let kept = self.saved(kept, range);
        self.copy_elements(new, old, kept, of, range);
        self.emit(Op::Free { addr: header }, range);
        self.flow_to(after, range);
        new
    }

    /// Copies elements of a type, whose number of bytes is given.
    fn copy_elements(&mut self, to: ExprId, from: ExprId, bytes: ExprId, of: &Type, range: Range) {
        let step = size_align(of, &self.records, self.machine).map_or(1, |(size, _)| size);
        if step <= 1 {
            self.copy_loop(to, from, bytes, 1, range);
            return;
        }
        let divisor = self.exprs.constant(self.machine.size_type(), i128::from(step));
        let rest = self.exprs.binary(BinOp::Rem, bytes, divisor);
        let (part, whole) = (self.fresh(), self.fresh());
        self.assume(rest, part, whole, range);
        self.cur = part;
        self.unsupported("'realloc' of an object whose size is no multiple of that of its elements", range);
        self.cur = whole;
        self.in_steps(bytes, step, range, |lower, at| {
            let [to, from] = [to, from].map(|base| Place::Memory(lower.exprs.binary(BinOp::Add, base, at)));
            lower.copy(&to, &from, of, range);
        });
    }
}
