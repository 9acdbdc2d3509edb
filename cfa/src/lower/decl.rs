// SPDX-License-Identifier: Apache-2.0
//! Declarations and the types they mean.

use std::sync::Arc;

use crate::ast::{Decl, Declarator, Expr, ExprRef, Field, Param, Range, Storage, TypeSpec};
use crate::ids::{ExprId, VarId};
use crate::ir::{HavocOrigin, IntTy, Op, Scope as VarScope};
use crate::literals::string_size;
use crate::types::{FunctionType, Record, Type, int, keyword_type, named_type};

use super::{Binding, Init, Lower, Rank, Tag, Val};

impl<'a> Lower<'a> {
    /// A declaration at file scope.
    pub(super) fn file_declaration(&mut self, decl: &'a Decl<'a>) {
        let base = self.spec_type(&decl.spec);
        for (declarator, init, range) in &decl.items {
            let Some((name, name_range)) = declarator.name() else { continue };
            let ty = self.declarator_type(base.clone(), declarator);
            match (decl.storage, ty) {
                (Storage::Typedef, ty) => self.bind(name, Binding::Typedef(ty)),
                (storage, Type::Function(ty)) => {
                    self.declare_function(name, &ty, storage, name_range);
                }
                (storage, ty) => self.global(name, ty, storage, *init, *range),
            }
        }
    }

    /// An object with static storage of the current file. Declarations of one object share its variable.
    fn global(&mut self, name: &'a str, ty: Type, storage: Storage, init: Option<ExprRef>, range: Range) {
        let known = match self.scopes[0].names.get(name) {
            Some(binding @ (Binding::Var(..) | Binding::Opaque(_))) => Some(binding.clone()),
            _ if storage == Storage::Static => None,
            _ => self.externals.get(name).cloned(),
        };
        let ty = self.completed_by(ty, init);
        let binding = match known {
            Some(Binding::Var(var, ty)) => Binding::Var(var, ty),
            // A later declaration may give an array its length.
            Some(Binding::Opaque(Type::Array(element, Some(length)))) => {
                Binding::Opaque(Type::Array(element, Some(length)))
            }
            _ => match self.typed_var(name, &ty, VarScope::Global, false) {
                Some(var) => Binding::Var(var, ty),
                None => Binding::Opaque(ty),
            },
        };
        self.scopes[0].names.insert(name, binding.clone());
        if storage != Storage::Static {
            self.externals.insert(name, binding.clone());
        }
        if let Binding::Var(var, ty) = binding {
            self.static_init(var, &ty, storage == Storage::Extern, init, range);
        }
    }

    /// Records the initial value of an object with static storage.
    fn static_init(&mut self, var: VarId, ty: &Type, is_extern: bool, init: Option<ExprRef>, range: Range) {
        let span = self.span(range);
        let (rank, op) = match init {
            // A pointer such as `stdout` is not null, which nothing here says.
            None if is_extern && matches!(ty, Type::Pointer(_)) => {
                (Rank::Declared, Op::Unsupported { construct: self.pointer_name(var).into() })
            }
            // Another file would say more; without it the value can be anything.
            None if is_extern => (Rank::Declared, Op::Havoc { var, origin: HavocOrigin::Uninitialised }),
            None => {
                let value = self.exprs.constant(self.vars[var.index()].ty, 0);
                (Rank::Tentative, Op::Assign { var, value })
            }
            Some(init) => match self.static_value(init, ty) {
                Ok(value) => (Rank::Explicit, Op::Assign { var, value }),
                Err(construct) => (Rank::Explicit, Op::Unsupported { construct }),
            },
        };
        let init = Init { var, op, rank, span };
        match self.init_of.get(&var) {
            Some(at) if self.inits[*at].rank >= rank => {}
            Some(at) => self.inits[*at] = init,
            None => {
                self.init_of.insert(var, self.inits.len());
                self.inits.push(init);
            }
        }
    }

    /// The value of an initialiser that is evaluated before the program starts.
    fn static_value(&mut self, init: ExprRef, ty: &Type) -> Result<ExprId, Arc<str>> {
        let before = self.cur;
        let start = self.fresh();
        let mark = self.graph.edges.len();
        self.cur = start;
        let value = self.initial_value(init, ty);
        let pure = self.cur == start;
        self.cur = before;
        let unsupported = self.graph.edges[mark..].iter().find_map(|edge| match &edge.op {
            Op::Unsupported { construct } => Some(construct.clone()),
            _ => None,
        });
        match unsupported {
            Some(construct) => Err(construct),
            None if pure => Ok(value),
            None => Err("initialiser that is not constant".into()),
        }
    }

    /// The value of the initialiser of an integer or pointer, which may be in braces.
    fn initial_value(&mut self, init: ExprRef, ty: &Type) -> ExprId {
        let range = self.expr_range(init);
        let value = match self.ast().expr(init) {
            Expr::Init(values, false) if !values.is_empty() => return self.initial_value(values[0], ty),
            Expr::Init(values, _) if values.is_empty() => self.constant(0, Type::INT),
            _ => self.value(init),
        };
        self.convert_int(value, ty, range)
    }

    /// A declaration in a block.
    pub(super) fn local_declaration(&mut self, decl: &'a Decl<'a>) {
        let base = self.spec_type(&decl.spec);
        for (declarator, init, range) in &decl.items {
            let Some((name, name_range)) = declarator.name() else { continue };
            let ty = self.declarator_type(base.clone(), declarator);
            match (decl.storage, ty) {
                (Storage::Typedef, ty) => self.bind(name, Binding::Typedef(ty)),
                (storage, Type::Function(ty)) => {
                    let shadowed = self.lookup(name).cloned();
                    let func = self.declare_function(name, &ty, storage, name_range);
                    if !matches!(shadowed, Some(Binding::Func(_)) | None) {
                        self.bind(name, Binding::Func(func));
                    }
                }
                (Storage::Extern, ty) => self.local_extern(name, ty, *range),
                (Storage::Static, ty) => {
                    let ty = self.completed_by(ty, *init);
                    let full = format!("{}::{name}", self.cx.name);
                    let Some(var) = self.typed_var(&full, &ty, VarScope::Global, false) else {
                        self.bind(name, Binding::Opaque(ty));
                        continue;
                    };
                    self.bind(name, Binding::Var(var, ty.clone()));
                    self.static_init(var, &ty, false, *init, *range);
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
            self.bind(name, binding);
        }
    }

    fn local(&mut self, name: &'a str, ty: Type, init: Option<ExprRef>, range: Range) {
        let ty = self.completed_by(ty, init);
        let full = format!("{}::{name}", self.cx.name);
        let Some(var) = self.typed_var(&full, &ty, VarScope::Local(self.cx.func), false) else {
            self.bind(name, Binding::Opaque(ty));
            if let Some(init) = init {
                self.value(init);
            }
            return;
        };
        self.bind(name, Binding::Var(var, ty.clone()));
        self.cx.alive = self.cx.declared(var);
        match init {
            Some(init) => {
                if self.mentions(init, name) {
                    // `int x = x;`: the new variable has no value yet.
                    self.emit(Op::Havoc { var, origin: HavocOrigin::Uninitialised }, range);
                }
                let value = self.initial_value(init, &ty);
                self.store(var, value, range);
            }
            None => self.emit(Op::Havoc { var, origin: HavocOrigin::Uninitialised }, range),
        }
    }

    /// Whether the text of an expression contains a name; also true for a member or a string of that name.
    fn mentions(&self, at: ExprRef, name: &str) -> bool {
        let (start, end) = self.expr_range(at);
        let text = &self.sources[self.file].text[start as usize..end as usize];
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').any(|word| word == name)
    }

    /// An array without a length takes it from its initialiser where that is plain to see.
    fn completed_by(&self, ty: Type, init: Option<ExprRef>) -> Type {
        let (Type::Array(element, None), Some(init)) = (&ty, init) else { return ty };
        let length = match self.ast().expr(init) {
            Expr::Str(text) => string_size(text),
            Expr::Init(values, false) if element.storage(self.machine).is_some() || element.is_float() => {
                match values.as_slice() {
                    [only] if matches!(self.ast().expr(*only), Expr::Str(_)) => None,
                    values => u64::try_from(values.len()).ok(),
                }
            }
            _ => None,
        };
        Type::Array(element.clone(), length)
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
            TypeSpec::Record { union, tag, fields } => self.record(*union, *tag, fields.as_deref()),
            TypeSpec::Enum { tag, items } => self.enumeration(*tag, items.as_deref()),
        }
    }

    fn find_tag(&self, name: &str) -> Option<&Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name))
    }

    fn record(&mut self, union: bool, tag: Option<&'a str>, fields: Option<&'a [Field<'a>]>) -> Type {
        let visible = match (tag, fields) {
            (None, _) => None,
            (Some(tag), None) => self.find_tag(tag),
            // A definition completes only a type of its own scope.
            (Some(tag), Some(_)) => self.scopes.last().and_then(|scope| scope.tags.get(tag)),
        };
        let index = match visible {
            Some(Tag::Record(index)) if fields.is_none() || self.records[*index].fields.is_none() => *index,
            _ => {
                self.records.push(Record { union, fields: None, plain: true });
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
                plain &= !field.bits;
                if field.declarators.is_empty() {
                    members.push((None, base.clone()));
                }
                for declarator in &field.declarators {
                    let ty = self.declarator_type(base.clone(), declarator);
                    members.push((declarator.name().map(|(name, _)| name.to_owned()), ty));
                }
            }
            self.records[index] = Record { union, fields: Some(members), plain };
        }
        Type::Record(index)
    }

    /// An enumeration as gcc sees it: `unsigned int` unless there are negative values, wider types only where needed.
    fn enumeration(&mut self, tag: Option<&'a str>, items: Option<&'a [(&'a str, Option<ExprRef>)]>) -> Type {
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
            self.bind(name, Binding::Const(next, ty));
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
            self.bind(name, binding);
        }
        if let Some(tag) = tag {
            self.scopes.last_mut().expect("there is a scope").tags.insert(tag, Tag::Enum(ty.clone()));
        }
        ty
    }

    /// The value of a constant expression.
    fn constant_value(&mut self, at: ExprRef) -> Option<i128> {
        let before = self.cur;
        self.cur = self.fresh();
        let value = self.value(at);
        self.cur = before;
        match value {
            Val::Int(expr, _) => self.exprs.as_const(expr),
            Val::Opaque(..) | Val::Void => None,
        }
    }

    /// The type of a declarator on top of the type of its specifiers.
    pub(super) fn declarator_type(&mut self, base: Type, declarator: &'a Declarator<'a>) -> Type {
        match declarator {
            Declarator::Name(..) | Declarator::Abstract => base,
            Declarator::Pointer(inner) => self.declarator_type(Type::Pointer(base.into()), inner),
            Declarator::Array(inner, size) => {
                let length = size.and_then(|size| self.array_length(size));
                self.declarator_type(Type::Array(base.into(), length), inner)
            }
            Declarator::Function(inner, params, variadic) => {
                let ty = self.function_type(base, params, *variadic);
                self.declarator_type(Type::Function(ty.into()), inner)
            }
        }
    }

    /// The length of an array; a length that is not constant is evaluated for its side effects.
    fn array_length(&mut self, size: ExprRef) -> Option<u64> {
        match self.value(size) {
            Val::Int(expr, _) => self.exprs.as_const(expr).and_then(|value| u64::try_from(value).ok()),
            Val::Opaque(..) | Val::Void => None,
        }
    }

    fn function_type(&mut self, ret: Type, params: &'a [Param<'a>], variadic: bool) -> FunctionType {
        // Sizes of array parameters are not evaluated.
        let before = self.cur;
        self.cur = self.fresh();
        let mut types = Vec::new();
        for param in params {
            let base = self.spec_type(&param.spec);
            types.push(match self.declarator_type(base, &param.declarator) {
                Type::Array(element, _) => Type::Pointer(element),
                ty @ Type::Function(_) => Type::Pointer(ty.into()),
                ty => ty,
            });
        }
        self.cur = before;
        let unspecified = params.is_empty() && !variadic;
        if types == [Type::Void] && params[0].declarator.name().is_none() {
            types.clear();
        }
        FunctionType { ret, params: types, unspecified, variadic }
    }
}
