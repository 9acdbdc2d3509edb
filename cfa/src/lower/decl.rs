// SPDX-License-Identifier: Apache-2.0
//! Declarations and the types they mean.

use crate::ast::{Decl, Declarator, Expr, ExprRef, Field, Item, Param, Range, Storage, TypeName, TypeSpec};
use crate::attributes::{LayoutAttribute, Mode};
use crate::ids::ExprId;
use crate::ir::{HavocOrigin, IntTy, Op, Scope as VarScope};
use crate::layout::{Member, Record, lay_out, size_align};
use crate::types::{FunctionType, Type, int, keyword_type, named_type};

use super::place::{Place, Slot};
use super::{Binding, Init, Lower, Rank, Tag, Val};

impl<'a> Lower<'a> {
    /// A declaration at file scope.
    pub(super) fn file_declaration(&mut self, decl: &'a Decl<'a>) {
        let base = self.declared_type(decl);
        for (declarator, init, range) in &decl.items {
            let Some((name, name_range)) = declarator.name() else { continue };
            let ty = self.declarator_type(base.clone(), declarator);
            match (decl.storage, ty) {
                (Storage::Typedef, ty) => self.bind(name, Binding::Typedef(ty), Some(name_range.1)),
                (storage, Type::Function(ty)) => {
                    self.declare_function(name, &ty, storage, name_range);
                }
                (storage, ty) => self.global(name, ty, storage, *init, *range),
            }
        }
    }

    /// The type that the specifiers of a declaration mean.
    fn declared_type(&mut self, decl: &'a Decl<'a>) -> Type {
        match (&decl.spec, decl.items.as_slice()) {
            (TypeSpec::Name("__auto_type"), [(_, Some(init), _)]) => self.type_of(*init).decayed(),
            // Without a type it is `int`, and since C23 that of the value.
            (TypeSpec::Name("auto"), [(_, Some(init), _)]) if self.type_of(*init).decayed() == Type::INT => Type::INT,
            (TypeSpec::Name("auto"), _) => Type::Unknown("value of a type that 'auto' leaves open"),
            (spec, _) => self.spec_type(spec),
        }
    }

    /// An object with static storage of the current file. Declarations of one object share its place.
    fn global(&mut self, name: &'a str, ty: Type, storage: Storage, init: Option<ExprRef>, range: Range) {
        let known = match self.scopes[0].names.get(name) {
            Some(binding @ (Binding::Var(..) | Binding::Place(..) | Binding::Opaque(_))) => Some(binding.clone()),
            _ if storage == Storage::Static => None,
            _ => self.externals.get(name).cloned(),
        };
        let mut ty = self.completed_by(ty, init);
        if init.is_none() && matches!(ty, Type::Array(_, None)) && !matches!(known, Some(Binding::Place(..))) {
            ty = self.completed_later(name, ty, storage);
        }
        if let Type::Record(index) = element_of(&ty)
            && self.records[*index].members.is_none()
            && storage != Storage::Typedef
        {
            self.complete_record(*index);
        }
        let more = self.flexible_room(&ty, init);
        let binding = match known {
            Some(Binding::Place(_, ty)) if more != Some(0) => {
                Binding::Place(Place::Nowhere("initialiser of a flexible array member behind a declaration".into()), ty)
            }
            Some(binding @ (Binding::Var(..) | Binding::Place(..))) => binding,
            _ if init.is_some() && matches!(ty, Type::Array(_, None)) => {
                Binding::Place(Place::Nowhere("array whose initialiser does not tell its length".into()), ty)
            }
            _ => match self.links.address(name) {
                Some(why) => Binding::Place(Place::Nowhere(why.into()), ty),
                None => {
                    let taken = self.survey.is_taken(name, None);
                    self.static_binding(name, name, ty, taken, more)
                }
            },
        };
        self.declare(name, &binding, (range.1, u32::MAX));
        self.scopes[0].names.insert(name, binding.clone());
        if storage != Storage::Static {
            self.externals.insert(name, binding.clone());
        }
        self.static_init(&binding, storage == Storage::Extern, init, range);
    }

    /// The type of an array whose length a later declaration gives; one that none gives has one element, C11 6.9.2.
    fn completed_later(&mut self, name: &str, ty: Type, storage: Storage) -> Type {
        for (file, ast) in self.asts.iter().enumerate().skip(self.file) {
            for item in &ast.items {
                let Item::Decl(decl) = item else { continue };
                for (declarator, init, _) in &decl.items {
                    if declarator.name().is_none_or(|(other, _)| other != name) || file != self.file {
                        continue;
                    }
                    let base = self.spec_type(&decl.spec);
                    let found = self.declarator_type(base, declarator);
                    let found = self.completed_by(found, *init);
                    if matches!(found, Type::Array(_, Some(_))) {
                        return found;
                    }
                }
            }
        }
        match ty {
            Type::Array(element, None) if storage != Storage::Extern => Type::Array(element, Some(1)),
            ty => ty,
        }
    }

    /// Completes a structure or union of which there is an object already by its definition further behind. If that needs
    /// types that are declared in between, it stays incomplete.
    fn complete_record(&mut self, index: usize) {
        let is_tag = |found: &Tag| matches!(found, Tag::Record(other) if *other == index);
        let Some(tag) = self.scopes[0].tags.iter().find(|(_, found)| is_tag(found)).map(|(tag, _)| *tag) else {
            return;
        };
        for item in &self.ast().items {
            let (Item::Decl(Decl { spec, .. }) | Item::Function { spec, .. }) = item;
            if let TypeSpec::Record { union, tag: Some(other), fields: Some(fields), pack, align } = spec
                && *other == tag
                && self.records[index].union == *union
            {
                self.record(*union, Some(tag), Some(fields), *pack, *align);
                if self.records[index].layout.is_some() {
                    self.completed.insert(fields.as_ptr() as usize, index);
                } else {
                    self.records[index].members = None;
                }
                return;
            }
        }
    }

    /// Records how an object with static storage starts.
    fn static_init(&mut self, binding: &Binding, is_extern: bool, init: Option<ExprRef>, range: Range) {
        let (place, ty) = match binding {
            Binding::Var(var, ty) => (Place::Vars([Slot { offset: 0, var: *var }].into(), 0), ty.clone()),
            Binding::Place(place, ty) => (place.clone(), ty.clone()),
            _ => return,
        };
        let key = match &place {
            Place::Vars(slots, _) => match slots.first() {
                Some(slot) => self.exprs.var(slot.var, self.vars[slot.var.index()].ty),
                None => return,
            },
            Place::Memory(addr) => *addr,
            Place::Nowhere(_) => return,
        };
        let rank = match init {
            None if is_extern => Rank::Declared,
            None => Rank::Tentative,
            Some(_) => Rank::Explicit,
        };
        let known = self.init_of.get(&key).copied();
        if known.is_some_and(|at| self.inits[at].rank >= rank) {
            return;
        }
        let ops = self.captured(|lower| match init {
            // Another file would say more; without it the value can be anything. Memory is arbitrary at first.
            None if is_extern => {
                if let Place::Vars(slots, _) = &place {
                    for slot in slots.iter() {
                        lower.emit(Op::Havoc { var: slot.var, origin: HavocOrigin::Uninitialised }, range);
                    }
                }
            }
            None => lower.static_zero(&place, &ty, range),
            Some(init) => lower.initialise(&place, &ty, init, true, range),
        });
        let init = Init { ops, rank, span: self.span(range) };
        match known {
            Some(at) => self.inits[at] = init,
            None => {
                self.init_of.insert(key, self.inits.len());
                self.inits.push(init);
            }
        }
    }

    fn static_zero(&mut self, place: &Place, ty: &Type, range: Range) {
        match place {
            Place::Vars(slots, _) => {
                for slot in slots.iter() {
                    let value = self.exprs.constant(self.vars[slot.var.index()].ty, 0);
                    self.emit(Op::Assign { var: slot.var, value }, range);
                }
            }
            Place::Memory(addr) => match ty.storage(self.machine) {
                Some(storage) => {
                    let value = self.exprs.constant(storage, 0);
                    self.put(&Place::Memory(*addr), value, range);
                }
                None => self.zero(*addr, ty, range),
            },
            Place::Nowhere(_) => {}
        }
    }

    /// The operations of an initialisation that takes place before the program starts.
    fn captured(&mut self, run: impl FnOnce(&mut Self)) -> Vec<Op> {
        let before = self.cur;
        let start = self.fresh();
        let mark = self.graph.edges.len();
        self.cur = start;
        let outer = std::mem::replace(&mut self.before_start, true);
        run(self);
        self.before_start = outer;
        self.cur = before;
        let mut ops = Vec::new();
        let edges: Vec<_> = self.graph.edges.drain(mark..).collect();
        for edge in edges {
            match edge.op {
                Op::Skip => {}
                Op::Assign { value, .. } | Op::Store { value, .. } if !self.is_static(value) => {
                    ops.push(Op::Unsupported { construct: "initialiser that is not constant".into() });
                }
                Op::Assume { .. } | Op::Call { .. } | Op::Alloc { .. } => {
                    ops.push(Op::Unsupported { construct: "initialiser that is not constant".into() });
                }
                op => ops.push(op),
            }
        }
        ops
    }

    /// Whether the value of an expression depends on objects with static storage only.
    fn is_static(&self, value: ExprId) -> bool {
        self.exprs.vars(value).iter().all(|var| self.vars[var.index()].scope == VarScope::Global)
    }

    /// The value of the initialiser of a scalar, which may be in braces.
    fn initial_value(&mut self, init: ExprRef, ty: &Type) -> ExprId {
        let range = self.expr_range(init);
        let value = match self.ast().expr(init) {
            Expr::Init(items) => match items.first() {
                Some(item) => return self.initial_value(item.value, ty),
                None => self.constant(0, Type::INT),
            },
            _ => self.value(init),
        };
        self.convert_int(value, ty, range)
    }

    /// A declaration in a block.
    pub(super) fn local_declaration(&mut self, decl: &'a Decl<'a>) {
        let base = self.declared_type(decl);
        for (declarator, init, range) in &decl.items {
            let Some((name, name_range)) = declarator.name() else { continue };
            let ty = self.declarator_type(base.clone(), declarator);
            match (decl.storage, ty) {
                (Storage::Typedef, ty) => self.bind(name, Binding::Typedef(ty), Some(name_range.1)),
                (storage, Type::Function(ty)) => {
                    let shadowed = self.lookup(name).cloned();
                    let func = self.declare_function(name, &ty, storage, name_range);
                    if !matches!(shadowed, Some(Binding::Func(_)) | None) {
                        self.bind(name, Binding::Func(func), Some(name_range.1));
                    }
                }
                (Storage::Extern, ty) => self.local_extern(name, ty, *range),
                (Storage::Static, ty) => {
                    let ty = self.completed_by(ty, *init);
                    let full = format!("{}::{name}", self.cx.name);
                    let taken = self.survey.is_taken(name, Some((self.file, self.cx.start)));
                    let more = self.flexible_room(&ty, *init);
                    let binding = self.static_binding(&full, name, ty, taken, more);
                    self.bind(name, binding.clone(), Some(name_range.1));
                    self.static_init(&binding, false, *init, *range);
                }
                (Storage::None, ty) => self.local(name, ty, *init, *range),
            }
        }
    }

    fn local_extern(&mut self, name: &'a str, ty: Type, range: Range) {
        let scopes: Vec<_> = self.scopes.drain(1..).collect();
        self.global(name, ty, Storage::Extern, None, range);
        let binding = self.scopes[0].names.get(name).cloned();
        self.scopes.extend(scopes);
        if let Some(binding) = binding {
            self.bind(name, binding, Some(range.1));
        }
    }

    fn local(&mut self, name: &'a str, ty: Type, init: Option<ExprRef>, range: Range) {
        let ty = self.completed_by(ty, init);
        let taken = self.survey.is_taken(name, Some((self.file, self.cx.start)));
        let (binding, birth) = self.local_binding(name, ty, init.is_some(), taken, range.0);
        self.bind(name, binding.clone(), Some(range.1));
        // `int x = x;`: the new variable has no value yet.
        let filled = init.is_some_and(|init| !self.mentions(init, name));
        self.give_birth(&birth, filled, range);
        self.cx.alive = self.cx.declared(birth);
        match (binding, init) {
            (_, None) => {}
            (Binding::Var(var, ty), Some(init)) => {
                let value = self.initial_value(init, &ty);
                self.store(var, value, range);
            }
            (Binding::Place(place, ty), Some(init)) => self.initialise(&place, &ty, init, false, range),
            (_, Some(init)) => {
                self.value(init);
            }
        }
    }

    /// Whether the text of an expression contains a name; also true for a member or a string of that name.
    fn mentions(&self, at: ExprRef, name: &str) -> bool {
        let (start, end) = self.expr_range(at);
        let text = &self.sources[self.file].text[start as usize..end as usize];
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').any(|word| word == name)
    }

    /// The type of declaration specifiers. Records and enumerations are declared on the way.
    pub(super) fn spec_type(&mut self, spec: &'a TypeSpec<'a>) -> Type {
        match spec {
            TypeSpec::Words(words) => {
                keyword_type(words, self.machine).unwrap_or(Type::Unknown("value of an unknown type"))
            }
            TypeSpec::Name(name) => match self.lookup(name) {
                Some(Binding::Typedef(ty)) => ty.clone(),
                _ => named_type(name, self.machine).unwrap_or(Type::Unknown("value of an unknown type")),
            },
            TypeSpec::Unknown(what) => Type::Unknown(what),
            TypeSpec::TypeofValue(value) => self.type_of(*value),
            TypeSpec::TypeofType(name) => {
                let base = self.spec_type(&name.spec);
                self.declarator_type(base, &name.declarator)
            }
            TypeSpec::Record { union, tag, fields, pack, align } => {
                self.record(*union, *tag, fields.as_deref(), *pack, *align)
            }
            TypeSpec::Attributed(spec, attribute) => {
                let ty = self.spec_type(spec);
                self.attributed(ty, *attribute)
            }
            TypeSpec::Enum { tag, items, plain } => self.enumeration(*tag, items.as_deref(), *plain),
        }
    }

    /// A type with attributes. One that makes the alignment another one than that of the type is not followed.
    fn attributed(&self, ty: Type, attribute: LayoutAttribute) -> Type {
        let changed = Type::Unknown("value of a type with an attribute");
        let ty = match (attribute.mode, ty) {
            (None, ty) => ty,
            (Some(mode), Type::Int(ty)) => {
                let bits = match mode {
                    Mode::Bits(bits) => bits,
                    Mode::Word => self.machine.long_bits(),
                };
                Type::Int(IntTy { bits, ..ty })
            }
            _ => return changed,
        };
        match attribute.aligned {
            Some(align) if size_align(&ty, &self.records, self.machine).is_none_or(|(_, own)| own != align) => changed,
            _ => ty,
        }
    }

    fn find_tag(&self, name: &str) -> Option<&Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name))
    }

    fn record(
        &mut self,
        union: bool,
        tag: Option<&'a str>,
        fields: Option<&'a [Field<'a>]>,
        pack: Option<u64>,
        align: Option<u64>,
    ) -> Type {
        if let Some(index) = fields.and_then(|fields| self.completed.get(&(fields.as_ptr() as usize))) {
            return Type::Record(*index);
        }
        let visible = match (tag, fields) {
            (None, _) => None,
            (Some(tag), None) => self.find_tag(tag),
            // A definition completes only a type of its own scope.
            (Some(tag), Some(_)) => self.scopes.last().and_then(|scope| scope.tags.get(tag)),
        };
        let index = match visible {
            Some(Tag::Record(index)) if fields.is_none() || self.records[*index].members.is_none() => *index,
            _ => {
                self.records.push(Record { union, members: None, layout: None });
                let index = self.records.len() - 1;
                if let Some(tag) = tag {
                    self.scopes.last_mut().expect("there is a scope").tags.insert(tag, Tag::Record(index));
                }
                index
            }
        };
        if let Some(fields) = fields {
            let mut plain = true;
            let mut members = Vec::new();
            for field in fields {
                let base = self.spec_type(&field.spec);
                plain &= field.plain;
                let asked = |at: usize| field.attributes.get(at).copied().unwrap_or_default();
                if field.declarators.is_empty() {
                    let (packed, aligned) = (asked(0).packed, asked(0).aligned);
                    members.push(Member { name: None, ty: base.clone(), width: None, bit: 0, packed, aligned });
                }
                for (at, (declarator, width)) in field.declarators.iter().enumerate() {
                    let ty = self.declarator_type(base.clone(), declarator);
                    let name = declarator.name().map(|(name, _)| name.to_owned());
                    let width = match width {
                        None => None,
                        Some(width) => {
                            let bits = self.constant_value(*width).and_then(|bits| u32::try_from(bits).ok());
                            let room = ty.storage(self.machine).map_or(0, |storage| storage.bits);
                            plain &= bits.is_some_and(|bits| bits <= room);
                            self.wide_fields |= bits.is_some_and(|bits| bits > 32 && bits < room);
                            Some(bits.unwrap_or(1))
                        }
                    };
                    let (packed, aligned) = (asked(at).packed, asked(at).aligned);
                    members.push(Member { name, ty, width, bit: 0, packed, aligned });
                }
            }
            let layout = lay_out(&mut members, union, (pack, align), &self.records, self.machine).filter(|_| plain);
            self.records[index] = Record { union, members: Some(members), layout };
        }
        Type::Record(index)
    }

    /// An enumeration as gcc sees it: `unsigned int` unless there are negative values, wider types only where needed. What
    /// an attribute makes of its type is not known.
    fn enumeration(
        &mut self,
        tag: Option<&'a str>,
        items: Option<&'a [(&'a str, Option<ExprRef>)]>,
        plain: bool,
    ) -> Type {
        let Some(items) = items else {
            let known = tag.and_then(|tag| match self.find_tag(tag) {
                Some(Tag::Enum(ty)) => Some(ty.clone()),
                _ => None,
            });
            return known.unwrap_or(int(32, false));
        };
        let mut next = 0i128;
        let (mut least, mut greatest) = (0i128, 0i128);
        let mut names = Vec::new();
        let mut broken = false;
        for (name, value) in items {
            if let Some(value) = value {
                match self.constant_value(*value) {
                    Some(value) => next = value,
                    None => broken = true,
                }
            }
            least = least.min(next);
            greatest = greatest.max(next);
            names.push((*name, next));
            // Later items may use this one, with its own type.
            let ty = if IntTy::INT.wrap(next) == next { Type::INT } else { int(64, next <= i128::from(i64::MAX)) };
            self.bind(name, Binding::Const(next, ty), None);
            next += 1;
        }
        let candidates = [(32, false), (32, true), (64, false), (64, true)];
        let ty = candidates
            .into_iter()
            .map(|(bits, signed)| IntTy { bits, signed })
            .find(|ty: &IntTy| IntTy::min(*ty) <= least && greatest <= IntTy::max(*ty) && (least < 0) == ty.signed);
        let ty = match ty {
            Some(ty) if !broken => Type::Int(ty),
            _ => Type::Unknown("enumeration"),
        };
        for (name, value) in names {
            let fits = IntTy::INT.wrap(value) == value;
            let binding = match &ty {
                Type::Int(_) if fits => Binding::Const(value, Type::INT),
                Type::Int(_) => Binding::Const(value, ty.clone()),
                _ => Binding::Opaque(Type::Unknown("enumeration")),
            };
            self.bind(name, binding, None);
        }
        let ty = if plain { ty } else { Type::Unknown("value of an enumeration with an attribute") };
        if let Some(tag) = tag {
            self.scopes.last_mut().expect("there is a scope").tags.insert(tag, Tag::Enum(ty.clone()));
        }
        ty
    }

    /// The value of a constant expression.
    pub(super) fn constant_value(&mut self, at: ExprRef) -> Option<i128> {
        match self.unevaluated(|lower| lower.value(at)) {
            Val::Int(expr, _) => self.exprs.as_const(expr),
            Val::Aggregate(..) | Val::Opaque(..) | Val::Void => None,
        }
    }

    /// The type of a declarator on top of the type of its specifiers.
    pub(super) fn declarator_type(&mut self, base: Type, declarator: &'a Declarator<'a>) -> Type {
        match declarator {
            Declarator::Name(..) | Declarator::Abstract => base,
            Declarator::Pointer(inner) => self.declarator_type(Type::Pointer(base.into()), inner),
            Declarator::Array(inner, size) => {
                let ty = match size {
                    Some(size) => self.array_type(base, *size),
                    None => Type::Array(base.into(), None),
                };
                self.declarator_type(ty, inner)
            }
            Declarator::Function(inner, params, variadic) => {
                let ty = self.function_type(base, params, *variadic);
                self.declarator_type(Type::Function(ty.into()), inner)
            }
        }
    }

    /// Lowers what is not evaluated for what it tells: where control flow never is.
    pub(super) fn unevaluated<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.cur;
        self.cur = self.fresh();
        let result = lower(self);
        self.cur = before;
        result
    }

    /// Whether an evaluation, which does not take place, would do more than compute a value.
    pub(super) fn has_effects(&mut self, evaluate: impl FnOnce(&mut Self)) -> bool {
        let mark = self.graph.edges.len();
        self.unevaluated(evaluate);
        self.graph.edges[mark..].iter().any(|edge| match &edge.op {
            Op::Skip | Op::Assume { .. } | Op::Load { .. } => false,
            Op::Assign { var, .. } => !self.vars[var.index()].temporary,
            _ => true,
        })
    }

    /// The type whose size is asked for. Lengths are evaluated if they are not constant, C11 6.5.3.4, and one that is known may
    /// have effects.
    pub(super) fn sized_type(&mut self, name: &'a TypeName<'a>) -> Type {
        let lower = |lower: &mut Self| {
            let base = lower.spec_type(&name.spec);
            lower.declarator_type(base, &name.declarator)
        };
        let mut ty = Type::Void;
        let effects = self.has_effects(|lowered| ty = lower(lowered));
        if effects || ty.is_variably_modified() { lower(self) } else { ty }
    }

    /// An array type with a length; one that is not constant is evaluated and kept.
    fn array_type(&mut self, element: Type, size: ExprRef) -> Type {
        let range = self.expr_range(size);
        let size = self.value(size);
        let size_type = self.machine.size_type();
        match size {
            Val::Int(expr, Type::Int(_) | Type::Bool) => match self.exprs.as_const(expr) {
                Some(length) => Type::Array(element.into(), u64::try_from(length).ok()),
                None => {
                    let length = self.exprs.cast(expr, size_type);
                    let length = self.saved(length, range);
                    Type::Vla(element.into(), length)
                }
            },
            value => {
                self.integer(value, range);
                Type::Array(element.into(), None)
            }
        }
    }

    fn function_type(&mut self, ret: Type, params: &'a [Param<'a>], variadic: bool) -> FunctionType {
        // Sizes of array parameters are not evaluated.
        let mut types = self.unevaluated(|lower| {
            let mut types = Vec::new();
            for param in params {
                let base = lower.spec_type(&param.spec);
                types.push(match lower.declarator_type(base, &param.declarator) {
                    Type::Array(element, _) | Type::Vla(element, _) => Type::Pointer(element),
                    ty @ Type::Function(_) => Type::Pointer(ty.into()),
                    ty => ty,
                });
            }
            types
        });
        let unspecified = params.is_empty() && !variadic;
        if types == [Type::Void] && params[0].declarator.name().is_none() {
            types.clear();
        }
        FunctionType { ret, params: types, unspecified, variadic }
    }
}

/// The type of the elements of an array, and of those of its elements.
fn element_of(ty: &Type) -> &Type {
    match ty {
        Type::Array(element, _) => element_of(element),
        ty => ty,
    }
}

/// The parameters of a function declarator, looking through the return type's declarators.
pub(super) fn params_of<'d, 'a>(declarator: &'d Declarator<'a>) -> Option<&'d [Param<'a>]> {
    match declarator {
        Declarator::Function(inner, params, _) => match inner.as_ref() {
            Declarator::Name(..) => Some(params),
            inner => params_of(inner),
        },
        Declarator::Pointer(inner) | Declarator::Array(inner, _) => params_of(inner),
        Declarator::Name(..) | Declarator::Abstract => None,
    }
}
