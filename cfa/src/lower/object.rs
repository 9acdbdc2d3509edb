// SPDX-License-Identifier: Apache-2.0
//! Where declared objects lie: in variables, at fixed addresses, or at addresses that are asked for when the declaration
//! is passed.
//!
//! A fixed address may be used by all lives of a local object, since at most one is alive at a time and each begins by
//! being filled; a pointer to a dead one is not used in a defined way. So locals of recursive functions, large ones that
//! are not filled and whose declaration can be passed again, and those of variable size get new addresses each time.

use std::rc::Rc;
use std::sync::Arc;

use crate::ast::{ExprRef, Range};
use crate::ids::{ExprId, FuncId, RegionId, VarId};
use crate::ir::{AllocKind, HavocOrigin, IntTy, Object, Op, Scope as VarScope};
use crate::layout::{Leaf, leaves, size_align, split};
use crate::types::{MachineModel, Type};

use super::place::{Lvalue, Place};
use super::{Binding, Lower};

/// The first address, unlike the numbers that programs use.
const FIRST: u64 = 0x2000_0000;

/// An object without an initialiser gets arbitrary contents by so many assignments at most.
const SMALL: usize = 8;

/// What happens when an object comes to life without an initialiser.
#[derive(Clone, Debug)]
pub(super) enum Birth {
    /// Nothing: this happens only once, and the memory has arbitrary contents anyway.
    Nothing,
    Vars(Vec<VarId>),
    /// A `va_list`, which has no next argument.
    List(VarId),
    Parts(ExprId, Rc<[Leaf]>),
    Alloc(VarId, ExprId),
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) objects: Vec<Object>,
    /// The alignment that the type of each object gives to its address.
    pub(super) aligns: Vec<u64>,
    next: u64,
    functions: rustc_hash::FxHashMap<FuncId, u64>,
    strings: rustc_hash::FxHashMap<(Vec<i128>, u32), u64>,
    /// The literals in the order of their first use.
    pub(super) texts: Vec<(u64, Vec<i128>, IntTy)>,
}

impl<'a> Lower<'a> {
    /// A new object with a fixed address, which is a multiple of 16 and of the alignment; none if the memory is full.
    pub(super) fn object(
        &mut self,
        name: Arc<str>,
        (size, align): (u64, u64),
        scope: VarScope,
        constant: bool,
    ) -> Option<ExprId> {
        let addr = self.memory.next.max(FIRST).checked_next_multiple_of(align.max(16))?;
        // Something lies between two objects, so that the end of one is not the start of the other.
        let end = addr.checked_add(size)?.checked_add(16)?.checked_next_multiple_of(16)?;
        let limit = if self.machine == MachineModel::Ilp32 { 0xa000_0000 } else { 1 << 46 };
        if end > limit {
            return None;
        }
        self.memory.next = end;
        self.memory.aligns.push(align);
        self.memory.objects.push(Object { name, addr, size, scope, region: RegionId::new(0), constant });
        Some(self.exprs.constant(self.machine.size_type(), i128::from(addr)))
    }

    pub(super) fn function_address(&mut self, func: FuncId) -> ExprId {
        let ty = self.machine.size_type();
        if let Some(addr) = self.memory.functions.get(&func) {
            return self.exprs.constant(ty, i128::from(*addr));
        }
        let name = self.funcs[func.index()].name.clone();
        let Some(addr) = self.object(name, (0, 1), VarScope::Global, true) else { return self.exprs.constant(ty, 0) };
        let value = self.exprs.as_const(addr).and_then(|addr| u64::try_from(addr).ok()).expect("an address");
        self.memory.functions.insert(func, value);
        addr
    }

    /// An address as something to compute with: a fixed one in a temporary, so that what is computed from it does not
    /// become a constant that nobody can tell from other numbers. Compilers allow no such computation before the program
    /// starts.
    pub(super) fn anchored(&mut self, addr: ExprId, range: Range) -> ExprId {
        let fixed = self.exprs.as_const(addr).is_some_and(|addr| self.object_at(addr).is_some());
        if fixed && !self.before_start { self.saved_as(addr, &Type::Pointer(Type::Void.into()), range) } else { addr }
    }

    /// The object with a fixed address that contains an address or ends there.
    pub(super) fn object_at(&self, addr: i128) -> Option<(i128, i128)> {
        let objects = &self.memory.objects;
        let behind = objects.partition_point(|object| i128::from(object.addr) <= addr);
        let object = &objects[behind.checked_sub(1)?];
        let end = i128::from(object.addr) + i128::from(object.size);
        (addr <= end).then_some((i128::from(object.addr), end))
    }

    /// The object of a string literal with characters of a type; equal literals share one.
    pub(super) fn string_object(&mut self, mut text: Vec<i128>, character: IntTy) -> Lvalue {
        text.push(0);
        let ty = Type::Array(Type::Int(character).into(), Some(text.len() as u64));
        let size_type = self.machine.size_type();
        let key = (text, character.bits);
        if let Some(addr) = self.memory.strings.get(&key) {
            return Lvalue::new(Place::Memory(self.exprs.constant(size_type, i128::from(*addr))), ty);
        }
        let text = &key.0;
        let bytes: Vec<u8> = text[..text.len() - 1].iter().map(|unit| (unit & 255) as u8).collect();
        let shown = if character.bits == 8 {
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            let of_unit = |unit: &i128| u32::try_from(*unit).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
            text[..text.len() - 1].iter().map(of_unit).collect()
        };
        let name = format!("\"{}\"", shown.escape_debug());
        let width = u64::from(character.bits / 8);
        let room = (text.len() as u64 * width, width);
        match self.object(name.into(), room, VarScope::Global, true) {
            Some(addr) => {
                let value = self.exprs.as_const(addr).and_then(|addr| u64::try_from(addr).ok()).expect("an address");
                self.memory.texts.push((value, text.clone(), character));
                self.memory.strings.insert(key, value);
                Lvalue::new(Place::Memory(addr), ty)
            }
            None => Lvalue::new(Place::Nowhere("more memory than there is".into()), ty),
        }
    }

    /// The binding of an object with static storage.
    /// `more` are the bytes that it needs beyond its type for a flexible array member, if that is known.
    pub(super) fn static_binding(
        &mut self,
        name: &str,
        local: &str,
        ty: Type,
        taken: bool,
        more: Option<u64>,
    ) -> Binding {
        let Some(more) = more else {
            return Binding::Place(Place::Nowhere("initialiser of a flexible array member".into()), ty);
        };
        if !taken {
            if let Some(var) = self.typed_var(name, &ty, VarScope::Global, false) {
                return Binding::Var(var, ty);
            }
            if let Some(parts) = split(&ty, &self.records, self.machine) {
                return Binding::Place(Place::Vars(self.slots(name, &parts, VarScope::Global), 0), ty);
            }
        }
        if matches!(ty, Type::Void | Type::Float(10.., _)) {
            return Binding::Opaque(ty);
        }
        let Some((size, align)) = size_align(&ty, &self.records, self.machine) else { return Binding::Opaque(ty) };
        let unique = self.unique_name(name);
        match self.object(unique, (size.saturating_add(more), align), VarScope::Global, false) {
            Some(addr) => Binding::Place(Place::Memory(addr), ty),
            None => Binding::Place(Place::Nowhere(format!("more memory than there is ('{local}')").into()), ty),
        }
    }

    /// The binding of a local object and how it comes to life; `filled` says whether it is filled at once.
    pub(super) fn local_binding(
        &mut self,
        name: &str,
        ty: Type,
        filled: bool,
        taken: bool,
        at: u32,
    ) -> (Binding, Birth) {
        let full = format!("{}::{name}", self.cx.name);
        let scope = VarScope::Local(self.cx.func);
        if !taken {
            if let Some(var) = self.typed_var(&full, &ty, scope, false) {
                if ty == Type::VaList {
                    return (Binding::Var(var, ty), Birth::List(var));
                }
                return (Binding::Var(var, ty), Birth::Vars(vec![var]));
            }
            if let Some(parts) = split(&ty, &self.records, self.machine) {
                let slots = self.slots(&full, &parts, scope);
                let vars = slots.iter().map(|slot| slot.var).collect();
                return (Binding::Place(Place::Vars(slots, 0), ty), Birth::Vars(vars));
            }
        }
        if matches!(ty, Type::Void | Type::Float(10.., _)) {
            return (Binding::Opaque(ty), Birth::Nothing);
        }
        let Some(size) = self.size_of(&ty) else { return (Binding::Opaque(ty), Birth::Nothing) };
        let constant = self.exprs.as_const(size).and_then(|size| u64::try_from(size).ok());
        let recursive = self.survey.is_recursive(&self.cx.name);
        let repeats = self.survey.repeats(&self.cx.name, self.file, at);
        let parts = leaves(&ty, &self.records, self.machine, SMALL);
        if let Some(size) = constant
            && !recursive
            && (filled || !repeats || parts.is_some())
        {
            let unique = self.unique_name(&full);
            let align = size_align(&ty, &self.records, self.machine).map_or(1, |(_, align)| align);
            let Some(addr) = self.object(unique, (size, align), scope, false) else {
                return (Binding::Place(Place::Nowhere("more memory than there is".into()), ty), Birth::Nothing);
            };
            let birth = match parts {
                Some(parts) if repeats => Birth::Parts(addr, parts.into()),
                _ => Birth::Nothing,
            };
            return (Binding::Place(Place::Memory(addr), ty), birth);
        }
        let size_type = self.machine.size_type();
        let var = self.new_var(&format!("{}::&{name}", self.cx.name), size_type, scope, true);
        let addr = self.exprs.var(var, size_type);
        (Binding::Place(Place::Memory(addr), ty), Birth::Alloc(var, size))
    }

    /// Lets an object come to life.
    pub(super) fn give_birth(&mut self, birth: &Birth, filled: bool, range: Range) {
        match birth {
            Birth::Alloc(var, size) => {
                let constant = self.exprs.as_const(*size).is_some();
                let kind = if constant { AllocKind::Stack } else { AllocKind::VariableLength };
                self.alloc(*var, *size, kind, range);
            }
            Birth::Nothing => {}
            Birth::List(var) => self.forget_list(*var, range),
            _ if filled => {}
            Birth::Vars(vars) => {
                for var in vars {
                    self.emit(Op::Havoc { var: *var, origin: HavocOrigin::Uninitialised }, range);
                }
            }
            Birth::Parts(addr, parts) => {
                for part in parts.iter() {
                    let var = self.temporary(part.ty);
                    self.vars[var.index()].float = part.float;
                    self.emit(Op::Havoc { var, origin: HavocOrigin::Uninitialised }, range);
                    let value = self.exprs.var(var, part.ty);
                    let addr = self.displaced(*addr, i128::from(part.offset));
                    self.emit(Op::Store { addr, value, region: RegionId::new(0) }, range);
                }
            }
        }
    }

    pub(super) fn alloc(&mut self, var: VarId, size: ExprId, kind: AllocKind, range: Range) {
        self.emit(Op::Alloc { var, size, kind, region: RegionId::new(0) }, range);
    }

    /// `(T){..}`, which lives as long as its block.
    pub(super) fn compound_literal(&mut self, ty: Type, init: ExprRef, range: Range) -> Lvalue {
        let ty = self.completed_by(ty, Some(init));
        let (binding, birth) = if self.at_file_scope() {
            let more = self.flexible_room(&ty, Some(init));
            (self.static_binding("(literal)", "literal", ty, true, more), Birth::Nothing)
        } else {
            self.local_binding("(literal)", ty, true, true, range.0)
        };
        self.give_birth(&birth, true, range);
        match binding {
            Binding::Place(place, ty) => {
                self.initialise(&place, &ty, init, false, range);
                Lvalue::new(place, ty)
            }
            _ => Lvalue::new(Place::Nowhere("compound literal".into()), Type::INT),
        }
    }
}
