// SPDX-License-Identifier: Apache-2.0
//! Lvalues: where a value lies, and how it is read and written.
//!
//! A scalar whose address is never taken is a variable; a structure without arrays is one variable per member, where a
//! small union or a structure with bit-fields is one variable whose parts are cut out of its bits. Everything else is in
//! memory, at an address.

use std::rc::Rc;

use crate::ast::{Expr, ExprRef, Range, Unary};
use crate::ids::{ExprId, RegionId, VarId};
use crate::ir::{BinOp, FloatTy, IntTy, Op};
use crate::layout::{Leaf, leaves, size_align};
use crate::types::{Type, int};

use super::{Binding, Lower, Val};

/// The most parts that are copied one by one.
pub(super) const PARTS: usize = 256;

/// A variable that holds a part of an object.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Where the part begins, in bytes from the start of the object.
    pub(super) offset: u64,
    pub(super) var: VarId,
}

#[derive(Clone, Debug)]
pub(super) enum Place {
    /// From a byte of an object on whose parts are variables.
    Vars(Rc<[Slot]>, u64),
    /// From an address on.
    Memory(ExprId),
    /// Somewhere without representation, and what to say when it is needed.
    Nowhere(Rc<str>),
}

/// The bits of a bit-field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    /// The unsigned integer at the place that contains them.
    unit: IntTy,
    /// The lowest bit.
    pub(super) shift: u32,
    pub(super) width: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Lvalue {
    pub(super) place: Place,
    pub(super) ty: Type,
    pub(super) bits: Option<Bits>,
}

impl Lvalue {
    pub(super) fn new(place: Place, ty: Type) -> Self {
        Lvalue { place, ty, bits: None }
    }

    fn nowhere(why: impl Into<Rc<str>>, ty: Type) -> Self {
        Lvalue::new(Place::Nowhere(why.into()), ty)
    }
}

impl<'a> Lower<'a> {
    /// Where the object lies that an expression designates.
    pub(super) fn lvalue(&mut self, at: ExprRef) -> Lvalue {
        let range = self.expr_range(at);
        match self.ast().expr(at) {
            Expr::Ident(name) => self.named(name, range),
            Expr::Unary(Unary::Deref, arg) => {
                let value = self.value(*arg);
                match value {
                    Val::Int(expr, Type::Pointer(inner)) => Lvalue::new(Place::Memory(expr), (*inner).clone()),
                    Val::Opaque(Type::Pointer(inner), why) => Lvalue::nowhere(why, (*inner).clone()),
                    _ => {
                        self.unsupported("dereference of something that is no pointer", range);
                        Lvalue::nowhere("dereference", Type::INT)
                    }
                }
            }
            Expr::Index(array, index) => {
                let begin = self.begin();
                let mut pending = [self.value(*array)];
                let index = self.sequence(begin, &mut pending, *index, range);
                let [array] = pending;
                let (array, index) = if array.pointee().is_some() { (array, index) } else { (index, array) };
                match array {
                    Val::Int(base, Type::Pointer(element)) => {
                        let addr = self.element(base, index, &element, false, range);
                        Lvalue::new(Place::Memory(addr), (*element).clone())
                    }
                    Val::Opaque(Type::Pointer(element), why) => Lvalue::nowhere(why, (*element).clone()),
                    _ => {
                        self.unsupported("subscript of something that is no array", range);
                        Lvalue::nowhere("subscript", Type::INT)
                    }
                }
            }
            Expr::Member { object, field, arrow } => {
                let record = if *arrow {
                    match self.value(*object) {
                        Val::Int(expr, Type::Pointer(inner)) => Lvalue::new(Place::Memory(expr), (*inner).clone()),
                        Val::Opaque(Type::Pointer(inner), why) => Lvalue::nowhere(why, (*inner).clone()),
                        _ => Lvalue::nowhere("member", Type::Void),
                    }
                } else {
                    self.lvalue(*object)
                };
                match self.member_of(&record, field) {
                    Some(member) => member,
                    None => {
                        self.unsupported(format!("the member '{field}'"), range);
                        Lvalue::nowhere("member", Type::INT)
                    }
                }
            }
            Expr::Str(text) => self.string(text),
            Expr::Compound(name, init) => {
                let base = self.spec_type(&name.spec);
                let ty = self.declarator_type(base, &name.declarator);
                self.compound_literal(ty, *init, range)
            }
            _ => match self.value(at) {
                Val::Aggregate(place, ty) => Lvalue::new(place, ty),
                Val::Opaque(ty, why) => Lvalue::nowhere(why, ty),
                Val::Int(_, ty) => Lvalue::nowhere("assignment to an expression", ty),
                Val::Void => Lvalue::nowhere("void value", Type::Void),
            },
        }
    }

    /// Whether an expression designates an object.
    pub(super) fn is_lvalue(&self, at: ExprRef) -> bool {
        match self.ast().expr(at) {
            Expr::Ident(name) => !matches!(self.lookup(name), Some(Binding::Const(..))),
            Expr::Unary(Unary::Deref, _) | Expr::Index(..) | Expr::Member { .. } => true,
            Expr::Str(_) | Expr::Compound(..) => true,
            _ => false,
        }
    }

    fn named(&mut self, name: &str, range: Range) -> Lvalue {
        match self.lookup(name).cloned() {
            Some(Binding::Var(var, ty)) => Lvalue::new(Place::Vars(Rc::new([Slot { offset: 0, var }]), 0), ty),
            Some(Binding::Place(place, ty)) => Lvalue::new(place, ty),
            Some(Binding::Opaque(ty)) => {
                let why = match &ty {
                    Type::Float(..) | Type::Unknown(_) => ty.describe().to_owned(),
                    _ => format!("{} '{name}'", ty.describe()),
                };
                Lvalue::nowhere(why, ty)
            }
            Some(Binding::Func(func)) => {
                let ty = self.signatures[func.index()].function_type();
                if let Some(why) = self.links.address(name).filter(|_| self.funcs[func.index()].body.is_none()) {
                    return Lvalue::nowhere(why, Type::Function(ty.into()));
                }
                let addr = self.function_address(func);
                Lvalue::new(Place::Memory(addr), Type::Function(ty.into()))
            }
            None if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") => {
                let text = self.cx.name.bytes().map(i128::from).collect();
                self.string_object(text, IntTy { bits: 8, signed: true })
            }
            Some(Binding::Typedef(_) | Binding::Const(..)) | None => {
                self.unsupported(format!("'{name}' in place of a variable"), range);
                Lvalue::nowhere("no variable", Type::INT)
            }
        }
    }

    /// A member of a structure or union, also of an anonymous one within it.
    pub(super) fn member_of(&mut self, record: &Lvalue, name: &str) -> Option<Lvalue> {
        let Type::Record(index) = record.ty else { return None };
        let (bit, ty, width) = self.find_member(index, name)?;
        let known = self.records[index].layout.is_some();
        Some(self.part(&record.place, bit, ty, width, known))
    }

    fn find_member(&self, record: usize, name: &str) -> Option<(u64, Type, Option<u32>)> {
        for member in self.records[record].members.as_ref()? {
            match (&member.name, &member.ty) {
                (Some(found), ty) if found == name => return Some((member.bit, ty.clone(), member.width)),
                (None, Type::Record(inner)) => {
                    if let Some((bit, ty, width)) = self.find_member(*inner, name) {
                        return Some((member.bit + bit, ty, width));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The part of an object that begins at a bit.
    pub(super) fn part(&mut self, whole: &Place, bit: u64, ty: Type, width: Option<u32>, known: bool) -> Lvalue {
        if !known {
            return Lvalue::nowhere("member of a type whose layout is not known", ty);
        }
        let Some(width) = width else { return Lvalue::new(self.behind(whole, bit / 8), ty) };
        let end = bit + u64::from(width) - 1;
        // On i386 a unit of 64 bits may begin at a multiple of 32.
        let units = [(8u64, 8u64), (16, 16), (32, 32), (64, 64), (64, 32)];
        let Some((unit, step)) = units.into_iter().find(|(unit, step)| end < bit / step * step + unit) else {
            return Lvalue::nowhere("bit-field across units", ty);
        };
        let place = self.behind(whole, bit / step * step / 8);
        let unit = IntTy { bits: unit as u32, signed: false };
        Lvalue { place, ty, bits: Some(Bits { unit, shift: (bit % step) as u32, width }) }
    }

    /// The place some bytes behind another one.
    pub(super) fn behind(&mut self, place: &Place, bytes: u64) -> Place {
        match place {
            Place::Vars(slots, offset) => Place::Vars(slots.clone(), offset + bytes),
            Place::Memory(addr) => Place::Memory(self.displaced(*addr, i128::from(bytes))),
            Place::Nowhere(why) => Place::Nowhere(why.clone()),
        }
    }

    /// An address some bytes behind another one.
    pub(super) fn displaced(&mut self, addr: ExprId, bytes: i128) -> ExprId {
        let ty = self.machine.size_type();
        let (base, bytes) = match self.exprs.get(addr).kind {
            crate::ir::ExprKind::Binary(BinOp::Add, base, by) => match self.exprs.as_const(by) {
                Some(by) => (base, by + bytes),
                None => (addr, bytes),
            },
            _ => (addr, bytes),
        };
        let bytes = self.exprs.constant(ty, bytes);
        self.exprs.binary(BinOp::Add, base, bytes)
    }

    /// The size of a type in bytes as an expression; none if it has no known size.
    pub(super) fn size_of(&mut self, ty: &Type) -> Option<ExprId> {
        let size_ty = self.machine.size_type();
        if let Some((size, _)) = size_align(ty, &self.records, self.machine) {
            return Some(self.exprs.constant(size_ty, i128::from(size)));
        }
        match ty {
            Type::Vla(element, length) => {
                let size = self.size_of(element)?;
                Some(self.exprs.binary(BinOp::Mul, *length, size))
            }
            Type::Array(element, Some(length)) => {
                let size = self.size_of(element)?;
                let length = self.exprs.constant(size_ty, i128::from(*length));
                Some(self.exprs.binary(BinOp::Mul, length, size))
            }
            _ => None,
        }
    }

    /// The address of an element that many elements behind (or before) another one.
    pub(super) fn element(&mut self, base: ExprId, index: Val, of: &Type, back: bool, range: Range) -> ExprId {
        let ty = self.machine.size_type();
        let index = self.promoted(index, range);
        let index = self.exprs.cast(index, ty);
        let Some(size) = self.size_of(of) else {
            self.unsupported(format!("arithmetic with a pointer to a {} of unknown size", of.describe()), range);
            return base;
        };
        if let (Some(index), Some(size)) = (self.exprs.as_const(index), self.exprs.as_const(size)) {
            let bytes = if back { -(index * size) } else { index * size };
            let leaves = self.exprs.as_const(base).is_some_and(|base| {
                self.object_at(base).is_some_and(|(start, end)| !(start..=end).contains(&(base + bytes)))
            });
            let base = if leaves { self.saved(base, range) } else { base };
            return self.displaced(base, bytes);
        }
        let bytes = self.exprs.binary(BinOp::Mul, index, size);
        let op = if back { BinOp::Sub } else { BinOp::Add };
        let addr = match (self.exprs.get(base).kind.clone(), back) {
            // The constant goes to the end, where it can be combined with others.
            (crate::ir::ExprKind::Binary(BinOp::Add, left, by), _) if self.exprs.as_const(by).is_some() => {
                let sum = self.exprs.binary(op, left, bytes);
                self.exprs.binary(BinOp::Add, sum, by)
            }
            _ => self.exprs.binary(op, base, bytes),
        };
        self.bounded(addr, range)
    }

    /// The value at an lvalue: a scalar is loaded, an array or function becomes its address.
    pub(super) fn rvalue(&mut self, lvalue: Lvalue, range: Range) -> Val {
        let Lvalue { place, ty, bits } = lvalue;
        let storage = ty.storage(self.machine);
        match (&ty, place, storage, bits) {
            (_, Place::Nowhere(why), ..) => Val::Opaque(ty.decayed(), why),
            (_, place, Some(storage), Some(bits)) => {
                let unit = self.load(&place, bits.unit, None, range);
                let expr = self.cut(unit, bits.shift, bits.width, storage);
                let promoted = if bits.width < 32 && ty != Type::Bool { Type::INT } else { ty };
                let storage = promoted.storage(self.machine).expect("an integer type");
                Val::Int(self.exprs.cast(expr, storage), promoted)
            }
            (_, place, Some(storage), None) => {
                let expr = self.load(&place, storage, ty.format(), range);
                Val::Int(expr, ty)
            }
            (Type::Array(..) | Type::Vla(..) | Type::Function(_), Place::Memory(addr), ..) => {
                Val::Int(addr, ty.decayed())
            }
            // An array in a value that has no address, such as a returned structure: the array alone moves to memory.
            (Type::Array(..), place @ Place::Vars(..), ..) => {
                let (binding, birth) = self.local_binding("(array)", ty.clone(), true, true, range.0);
                self.give_birth(&birth, true, range);
                match binding {
                    Binding::Place(to @ Place::Memory(addr), _) => {
                        self.copy(&to, &place, &ty, range);
                        Val::Int(addr, ty.decayed())
                    }
                    _ => Val::Opaque(ty.decayed(), ty.describe().into()),
                }
            }
            (Type::Record(_), place, ..) => Val::Aggregate(place, ty),
            (Type::Void, ..) => Val::Void,
            _ => Val::Opaque(ty.decayed(), ty.describe().into()),
        }
    }

    /// A bit-field within the value of its unit.
    fn cut(&mut self, unit: ExprId, shift: u32, width: u32, storage: IntTy) -> ExprId {
        let ty = self.exprs.ty(unit);
        if !storage.signed {
            let by = self.exprs.constant(ty, i128::from(shift));
            let low = self.exprs.binary(BinOp::Shr, unit, by);
            let mask = self.exprs.constant(ty, (1i128 << width) - 1);
            let low = self.exprs.binary(BinOp::BitAnd, low, mask);
            return self.exprs.cast(low, storage);
        }
        let signed = IntTy { bits: ty.bits, signed: true };
        let unit = self.exprs.cast(unit, signed);
        let up = self.exprs.constant(signed, i128::from(ty.bits - shift - width));
        let high = self.exprs.binary(BinOp::Shl, unit, up);
        let down = self.exprs.constant(signed, i128::from(ty.bits - width));
        let value = self.exprs.binary(BinOp::Shr, high, down);
        self.exprs.cast(value, storage)
    }

    /// The variable that contains some bytes, and by how many bits they are above its lowest one.
    fn slot(&self, slots: &[Slot], offset: u64, bits: u32) -> Option<(VarId, u32)> {
        slots.iter().find_map(|slot| {
            let width = u64::from(self.vars[slot.var.index()].ty.bits);
            let shift = offset.checked_sub(slot.offset)? * 8;
            (shift + u64::from(bits) <= width).then_some((slot.var, shift as u32))
        })
    }

    /// The integer of a type at a place.
    pub(super) fn load(&mut self, place: &Place, ty: IntTy, float: Option<FloatTy>, range: Range) -> ExprId {
        match place {
            Place::Vars(slots, offset) => {
                let Some((var, shift)) = self.slot(slots, *offset, ty.bits) else {
                    return self.load_pieces(slots, *offset, ty, range);
                };
                let of_var = self.vars[var.index()].ty;
                let value = self.exprs.var(var, of_var);
                if of_var.bits == ty.bits {
                    return self.exprs.cast(value, ty);
                }
                let unsigned = IntTy { bits: of_var.bits, signed: false };
                let value = self.exprs.cast(value, unsigned);
                let shift = self.exprs.constant(unsigned, i128::from(shift));
                let value = self.exprs.binary(BinOp::Shr, value, shift);
                self.exprs.cast(value, ty)
            }
            Place::Memory(addr) => {
                let var = self.temporary(ty);
                self.vars[var.index()].float = float;
                self.emit(Op::Load { var, addr: *addr, region: RegionId::new(0) }, range);
                self.exprs.var(var, ty)
            }
            Place::Nowhere(why) => {
                self.unsupported(&**why, range);
                let var = self.temporary(ty);
                self.exprs.var(var, ty)
            }
        }
    }

    /// Writes an integer to a place; its type gives the number of bytes.
    pub(super) fn put(&mut self, place: &Place, value: ExprId, range: Range) {
        let ty = self.exprs.ty(value);
        match place {
            Place::Vars(slots, offset) => {
                let Some((var, shift)) = self.slot(slots, *offset, ty.bits) else {
                    return self.put_pieces(slots, *offset, value, range);
                };
                let of_var = self.vars[var.index()].ty;
                if of_var.bits == ty.bits {
                    let value = self.exprs.cast(value, of_var);
                    return self.store(var, value, range);
                }
                let old = self.exprs.var(var, of_var);
                let unsigned = IntTy { bits: of_var.bits, signed: false };
                let old = self.exprs.cast(old, unsigned);
                let new = self.mixed(old, value, shift, ty.bits);
                let value = self.exprs.cast(new, of_var);
                let value = self.bounded(value, range);
                self.emit(Op::Assign { var, value }, range);
            }
            Place::Memory(addr) => self.emit(Op::Store { addr: *addr, value, region: RegionId::new(0) }, range),
            Place::Nowhere(why) => self.unsupported(&**why, range),
        }
    }

    /// The variables that together contain some bytes: each with the lowest bit that is meant of it, the lowest bit of the
    /// whole that it has, and how many they are. None if some bytes are in no variable.
    fn pieces(&self, slots: &[Slot], offset: u64, bits: u32) -> Option<Vec<(VarId, u32, u32, u32)>> {
        let mut found = Vec::new();
        let mut done = 0;
        while done < bits {
            let (var, shift) = self.slot(slots, offset + u64::from(done / 8), 8)?;
            let count = (self.vars[var.index()].ty.bits - shift).min(bits - done);
            found.push((var, shift, done, count));
            done += count;
        }
        Some(found)
    }

    /// An integer that lies in several variables: a member of a structure that is handed around in equal parts.
    fn load_pieces(&mut self, slots: &[Slot], offset: u64, ty: IntTy, range: Range) -> ExprId {
        let Some(pieces) = self.pieces(slots, offset, ty.bits) else {
            self.unsupported("part of a structure", range);
            let var = self.temporary(ty);
            return self.exprs.var(var, ty);
        };
        let unsigned = IntTy { bits: ty.bits, signed: false };
        let mut whole = self.exprs.constant(unsigned, 0);
        for (var, shift, above, count) in pieces {
            let of_var = self.vars[var.index()].ty;
            let value = self.exprs.var(var, of_var);
            let value = self.cut(value, shift, count, IntTy { bits: of_var.bits, signed: false });
            let value = self.exprs.cast(value, unsigned);
            whole = self.mixed(whole, value, above, count);
        }
        self.exprs.cast(whole, ty)
    }

    fn put_pieces(&mut self, slots: &[Slot], offset: u64, value: ExprId, range: Range) {
        let ty = self.exprs.ty(value);
        let Some(pieces) = self.pieces(slots, offset, ty.bits) else {
            return self.unsupported("part of a structure", range);
        };
        // It may depend on what is overwritten.
        let value = self.saved(value, range);
        let unsigned = IntTy { bits: ty.bits, signed: false };
        let value = self.exprs.cast(value, unsigned);
        for (var, shift, above, count) in pieces {
            let of_var = self.vars[var.index()].ty;
            let above = self.exprs.constant(unsigned, i128::from(above));
            let part = self.exprs.binary(BinOp::Shr, value, above);
            let old = self.exprs.var(var, of_var);
            let old = self.exprs.cast(old, IntTy { bits: of_var.bits, signed: false });
            let new = self.mixed(old, part, shift, count);
            let value = self.exprs.cast(new, of_var);
            self.emit(Op::Assign { var, value }, range);
        }
    }

    /// An unsigned integer with some bits replaced by the low bits of another one.
    fn mixed(&mut self, old: ExprId, value: ExprId, shift: u32, width: u32) -> ExprId {
        let ty = self.exprs.ty(old);
        let ones = (1i128 << width) - 1;
        let keep = self.exprs.constant(ty, !(ones << shift));
        let old = self.exprs.binary(BinOp::BitAnd, old, keep);
        let value = self.exprs.cast(value, ty);
        let mask = self.exprs.constant(ty, ones);
        let value = self.exprs.binary(BinOp::BitAnd, value, mask);
        let by = self.exprs.constant(ty, i128::from(shift));
        let value = self.exprs.binary(BinOp::Shl, value, by);
        self.exprs.binary(BinOp::BitOr, old, value)
    }

    /// Writes a scalar that has been converted to the type of the lvalue; gives the value that it has then.
    pub(super) fn write(&mut self, lvalue: &Lvalue, value: ExprId, range: Range) -> Val {
        let Some(bits) = lvalue.bits else {
            if let Place::Vars(slots, offset) = &lvalue.place
                && let Some((var, _)) = self.slot(slots, *offset, self.exprs.ty(value).bits)
                && self.vars[var.index()].ty == self.exprs.ty(value)
            {
                self.store(var, value, range);
                return self.read(var, &lvalue.ty);
            }
            let overwritten = self.is_overwritten(value, &lvalue.place);
            self.put(&lvalue.place, value, range);
            let ty = self.exprs.ty(value);
            let format = lvalue.ty.format();
            let value = if overwritten { self.load(&lvalue.place, ty, format, range) } else { value };
            return Val::Int(value, lvalue.ty.clone());
        };
        let overwritten = self.is_overwritten(value, &lvalue.place);
        let old = self.load(&lvalue.place, bits.unit, None, range);
        let new = self.mixed(old, value, bits.shift, bits.width);
        let new = self.bounded(new, range);
        self.put(&lvalue.place, new, range);
        let storage = self.exprs.ty(value);
        let (unit, shift) = if overwritten {
            (self.load(&lvalue.place, bits.unit, None, range), bits.shift)
        } else {
            (self.exprs.cast(value, bits.unit), 0)
        };
        Val::Int(self.cut(unit, shift, bits.width, storage), lvalue.ty.clone())
    }

    /// Whether a value is another one after something has been written to a place.
    fn is_overwritten(&self, value: ExprId, place: &Place) -> bool {
        let Place::Vars(slots, _) = place else { return false };
        self.exprs.vars(value).iter().any(|var| slots.iter().any(|slot| slot.var == *var))
    }

    /// Copies an object: all parts are read before the first one is written.
    pub(super) fn copy(&mut self, to: &Place, from: &Place, ty: &Type, range: Range) {
        if let Some(parts) = leaves(ty, &self.records, self.machine, PARTS) {
            let mut values = Vec::new();
            for part in &parts {
                let place = self.behind(from, part.offset);
                values.push(self.load(&place, part.ty, part.float, range));
            }
            for (part, value) in parts.iter().zip(values) {
                let place = self.behind(to, part.offset);
                self.put(&place, value, range);
            }
            return;
        }
        let size = size_align(ty, &self.records, self.machine);
        match (to, from, size) {
            (Place::Memory(to), Place::Memory(from), Some((size, align))) => {
                let size = self.exprs.constant(self.machine.size_type(), i128::from(size));
                self.copy_loop(*to, *from, size, align, range);
            }
            (Place::Nowhere(why), ..) | (_, Place::Nowhere(why), _) => self.unsupported(&**why, range),
            _ => self.unsupported("assignment of a large structure", range),
        }
    }

    /// Copies many bytes by a loop; the objects are the same or do not overlap, C11 6.5.16.1.
    pub(super) fn copy_loop(&mut self, to: ExprId, from: ExprId, size: ExprId, align: u64, range: Range) {
        let unit = IntTy { bits: (align.clamp(1, 8) * 8) as u32, signed: false };
        self.in_steps(size, u64::from(unit.bits / 8), range, |lower, at| {
            let source = lower.exprs.binary(BinOp::Add, from, at);
            let value = lower.load(&Place::Memory(source), unit, None, range);
            let target = lower.exprs.binary(BinOp::Add, to, at);
            lower.put(&Place::Memory(target), value, range);
        });
    }

    /// Does something at all multiples of a step below a number of bytes.
    pub(super) fn in_steps(&mut self, size: ExprId, step: u64, range: Range, act: impl FnOnce(&mut Self, ExprId)) {
        let ty = self.machine.size_type();
        let var = self.temporary(ty);
        let zero = self.exprs.constant(ty, 0);
        self.emit(Op::Assign { var, value: zero }, range);
        let (head, body, after) = (self.fresh(), self.fresh(), self.fresh());
        self.flow_to(head, range);
        let at = self.exprs.var(var, ty);
        let more = self.exprs.cmp(crate::ir::CmpOp::Lt, at, size);
        self.assume(more, body, after, range);
        self.cur = body;
        act(self, at);
        let step = self.exprs.constant(ty, i128::from(step));
        let value = self.exprs.binary(BinOp::Add, at, step);
        self.emit(Op::Assign { var, value }, range);
        self.edge(self.cur, head, Op::Skip, range);
        self.cur = after;
    }

    /// Temporaries for a value of structure type.
    pub(super) fn temporary_place(&mut self, ty: &Type) -> Place {
        match leaves(ty, &self.records, self.machine, PARTS) {
            Some(parts) => {
                let slots: Vec<Slot> = parts
                    .iter()
                    .map(|part| {
                        let var = self.temporary(part.ty);
                        self.vars[var.index()].float = part.float;
                        Slot { offset: part.offset, var }
                    })
                    .collect();
                Place::Vars(slots.into(), 0)
            }
            None => Place::Nowhere(format!("value of a large {}", ty.describe()).into()),
        }
    }

    /// Variables for the parts of an object.
    pub(super) fn slots(&mut self, name: &str, parts: &[Leaf], scope: crate::ir::Scope) -> Rc<[Slot]> {
        parts
            .iter()
            .map(|part| {
                let var = self.new_var(&format!("{name}{}", part.path), part.ty, scope, false);
                self.vars[var.index()].float = part.float;
                Slot { offset: part.offset, var }
            })
            .collect()
    }

    /// `&arg`.
    pub(super) fn address(&mut self, arg: ExprRef, range: Range) -> Val {
        let lvalue = self.lvalue(arg);
        let ty = Type::Pointer(lvalue.ty.into());
        match (lvalue.place, lvalue.bits) {
            (Place::Memory(addr), None) => Val::Int(addr, ty),
            (Place::Nowhere(why), _) => Val::Opaque(ty, why),
            (Place::Memory(_) | Place::Vars(..), _) => {
                self.unsupported("address of something that has none", range);
                Val::Opaque(ty, "address".into())
            }
        }
    }

    fn string(&mut self, text: &str) -> Lvalue {
        match crate::literals::string(text) {
            Some((units, ty)) => self.string_object(units, ty),
            None => Lvalue::nowhere("string literal with unknown characters", Type::Array(int(8, true).into(), None)),
        }
    }
}

impl Val {
    /// What a pointer points to.
    pub(super) fn pointee(&self) -> Option<&Type> {
        match self {
            Val::Int(_, Type::Pointer(inner)) | Val::Opaque(Type::Pointer(inner), _) => Some(inner),
            _ => None,
        }
    }
}
