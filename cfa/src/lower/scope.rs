// SPDX-License-Identifier: Apache-2.0
//! Scopes: what names mean, for the lowering and for those who want to know it later.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::Range;
use crate::names::Declaration;
use crate::types::Type;

use super::place::{Place, Slot};
use super::{Binding, Lower, Tag};

/// A scope of names.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) names: FxHashMap<&'a str, Binding>,
    pub(super) tags: FxHashMap<&'a str, Tag>,
    /// The text that it covers.
    range: Range,
}

impl Scope<'_> {
    pub(super) fn of(range: Range) -> Self {
        Scope { range, ..Scope::default() }
    }
}

impl<'a> Lower<'a> {
    /// Gives a name a meaning in the innermost scope, from a place on; without one, in the whole scope.
    pub(super) fn bind(&mut self, name: &'a str, binding: Binding, from: Option<u32>) {
        let (start, end) = self.scopes.last().expect("there is a scope").range;
        self.declare(name, &binding, (from.unwrap_or(start), end));
        self.scopes.last_mut().expect("there is a scope").names.insert(name, binding);
    }

    /// Records what a name means where.
    pub(super) fn declare(&mut self, name: &str, binding: &Binding, visible: Range) {
        let part = |slot: &Slot| {
            // `f::s.x#2` is the member `.x` of the second `s` of `f`.
            let full = &self.vars[slot.var.index()].name;
            let own = full.rsplit("::").next().unwrap_or(full).split('#').next().unwrap_or(full);
            let path = own.strip_prefix(name).filter(|path| !path.contains('@'))?;
            Some((slot.var, Arc::<str>::from(path)))
        };
        let (parts, pointer) = match binding {
            Binding::Var(var, ty) => (vec![(*var, "".into())], matches!(ty, Type::Pointer(_))),
            // A union or a structure of bit-fields is one variable without a name for its bits.
            Binding::Place(Place::Vars(slots, 0), _) => {
                (slots.iter().filter_map(part).filter(|(_, path)| !path.is_empty()).collect(), false)
            }
            _ => (Vec::new(), false),
        };
        let visible = self.span(visible);
        self.declarations.push(Declaration { name: name.into(), visible, parts, pointer });
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }
}
