// SPDX-License-Identifier: Apache-2.0
//! Initialisers, C11 6.7.9: braces with and without designators, left out braces, strings, and the zeros of the rest.

use crate::ast::{Designator, Expr, ExprRef, InitItem, Range};
use crate::ids::{ExprId, RegionId};
use crate::ir::Op;
use crate::layout::{leaves, size_align};
use crate::literals::string;
use crate::types::Type;

use super::place::{Lvalue, Place};
use super::unsequenced::{Begin, Between};
use super::{Lower, Val};

/// What of an object has been filled.
struct Filled {
    /// Ranges of bytes that have been written, and whether as wholes.
    ranges: Vec<(u64, u64, bool)>,
    /// Nothing has been written behind this byte.
    end: u64,
    /// Whether the object is known to be zero, so that zeros need not be written.
    zeroed: bool,
    /// Where the evaluation of the first value began.
    begin: Begin,
}

/// A part of the object that is initialised.
#[derive(Clone)]
struct Target {
    lvalue: Lvalue,
    /// In bytes from the start of the whole.
    offset: u64,
}

/// Objects that contain each other, each with the position of a part of it.
type Levels = Vec<(Target, usize)>;

/// Objects with more parts are zeroed as wholes.
const MANY: usize = 16;

impl<'a> Lower<'a> {
    /// Gives an object the value of its initialiser, and zeros where that says nothing. A static object in memory is
    /// zeroed as a whole first.
    pub(super) fn initialise(&mut self, place: &Place, ty: &Type, init: ExprRef, is_static: bool, range: Range) {
        let target = Target { lvalue: Lvalue::new(place.clone(), ty.clone()), offset: 0 };
        let parts = leaves(ty, &self.records, self.machine, MANY);
        if let Place::Memory(addr) = place
            && (parts.is_none() || (is_static && ty.storage(self.machine).is_none()))
        {
            match self.flexible_room(ty, Some(init)).filter(|_| is_static) {
                Some(more @ 1..) => self.zero_flexible(*addr, ty, more, range),
                _ => self.zero(*addr, ty, range),
            }
            let mut filled = self.nothing_filled();
            filled.zeroed = true;
            self.fill(&target, init, &mut filled);
            return;
        }
        // The zeros come first, but which ones are needed is known only afterwards.
        let before = self.cur;
        let start = self.fresh();
        self.cur = start;
        let mark = self.graph.edges.len();
        let mut filled = self.nothing_filled();
        self.fill(&target, init, &mut filled);
        let values = self.graph.edges.len() - mark;
        let end = std::mem::replace(&mut self.cur, before);
        for part in parts.unwrap_or_default() {
            let (from, to) = (part.offset, part.offset + u64::from(part.ty.bits / 8));
            if !filled.ranges.iter().any(|(start, end, whole)| *whole && *start <= from && to <= *end) {
                let zero = self.exprs.constant(part.ty, 0);
                let place = self.behind(place, part.offset);
                self.put(&place, zero, range);
            }
        }
        if end == start {
            return;
        }
        self.flow_to(start, range);
        self.cur = end;
        if self.before_start {
            // There the order of the edges is that of the operations.
            self.graph.edges[mark..].rotate_left(values);
        }
    }

    fn nothing_filled(&mut self) -> Filled {
        Filled { ranges: Vec::new(), end: 0, zeroed: false, begin: self.begin() }
    }

    /// Zeros an object in memory.
    pub(super) fn zero(&mut self, addr: ExprId, ty: &Type, range: Range) {
        match self.size_of(ty) {
            Some(size) => self.emit(Op::Zero { addr, size, region: RegionId::new(0) }, range),
            None => self.unsupported(format!("size of a {}", ty.describe()), range),
        }
    }

    /// Zeros a structure with a flexible array member whose elements need so many bytes more.
    fn zero_flexible(&mut self, addr: ExprId, ty: &Type, more: u64, range: Range) {
        let Some((size, _)) = size_align(ty, &self.records, self.machine) else { return };
        let size = self.exprs.constant(self.machine.size_type(), i128::from(size + more));
        self.emit(Op::Zero { addr, size, region: RegionId::new(0) }, range);
    }

    fn fill(&mut self, target: &Target, init: ExprRef, filled: &mut Filled) {
        let range = self.expr_range(init);
        let ty = target.lvalue.ty.clone();
        match (&ty, self.ast().expr(init)) {
            (Type::Array(element, length), Expr::Str(text)) if is_text_of(element, text) => {
                self.clear(target, filled, range);
                self.fill_string(target, element, *length, text, filled, range);
            }
            (Type::Array(..) | Type::Record(_), Expr::Init(items)) => {
                if let ([item], Type::Array(element, _)) = (items.as_slice(), &ty)
                    && item.path.is_empty()
                    && matches!(self.ast().expr(item.value), Expr::Str(text) if is_text_of(element, text))
                {
                    return self.fill(target, item.value, filled);
                }
                self.clear(target, filled, range);
                self.fill_parts(target, items, &mut 0, 0, true, filled);
            }
            (Type::Record(_), _) => match self.value(init) {
                Val::Aggregate(from, from_ty) if from_ty == ty => {
                    self.copy(&target.lvalue.place, &from, &ty, range);
                    self.note(target, filled);
                }
                _ => self.unsupported("initialiser of another type", range),
            },
            (Type::Array(..), _) => self.unsupported("initialiser of an array", range),
            (_, Expr::Init(items)) => match items.first() {
                Some(item) => self.fill(target, item.value, filled),
                None => {
                    let storage = ty.storage(self.machine);
                    if let Some(storage) = storage {
                        let zero = self.exprs.constant(storage, 0);
                        self.fill_scalar(target, zero, filled, range);
                    }
                }
            },
            _ => {
                let middle = self.graph.edges.len();
                let between = Between { left_end: self.cur, right_start: self.cur, right: Some(init) };
                let mut value = self.value(init);
                if self.reads_early(init) {
                    self.read_early(std::slice::from_mut(&mut value), range);
                }
                self.unsequenced(filled.begin, middle, (&[], std::slice::from_ref(&value)), &between, range);
                if ty.storage(self.machine).is_none() {
                    // Nobody can read it either.
                    return;
                }
                let value = self.convert_int(value, &ty, range);
                self.fill_scalar(target, value, filled, range);
            }
        }
    }

    /// What an initialiser of an aggregate leaves out is zero, whatever an earlier one has written.
    fn clear(&mut self, target: &Target, filled: &Filled, range: Range) {
        if self.is_filled(target, filled) {
            match target.lvalue.place {
                // Zeros of static objects come before all other values.
                Place::Memory(addr) if !self.before_start => self.zero(addr, &target.lvalue.ty, range),
                _ => self.unsupported("initialiser of an aggregate that overrides another one", range),
            }
        }
    }

    /// Whether something in a part of the object has been written before.
    fn is_filled(&self, target: &Target, filled: &Filled) -> bool {
        filled.end > target.offset
            && self
                .end_of(target)
                .is_some_and(|end| filled.ranges.iter().any(|(from, to, _)| *from < end && target.offset < *to))
    }

    /// The first byte behind a part, of which a bit-field may have some bits.
    fn end_of(&self, target: &Target) -> Option<u64> {
        let size = match target.lvalue.bits {
            Some(bits) => u64::from((bits.shift % 8 + bits.width).div_ceil(8)),
            None => size_align(&target.lvalue.ty, &self.records, self.machine)?.0,
        };
        Some(target.offset + size)
    }

    fn fill_scalar(&mut self, target: &Target, value: ExprId, filled: &mut Filled, range: Range) {
        if filled.zeroed && self.exprs.as_const(value) == Some(0) && !self.is_filled(target, filled) {
            return;
        }
        self.write(&target.lvalue, value, range);
        self.note(target, filled);
    }

    fn note(&self, target: &Target, filled: &mut Filled) {
        if let Some(end) = self.end_of(target) {
            filled.ranges.push((target.offset, end, target.lvalue.bits.is_none()));
            filled.end = filled.end.max(end);
        }
    }

    fn fill_string(
        &mut self,
        target: &Target,
        element: &Type,
        length: Option<u64>,
        text: &str,
        filled: &mut Filled,
        range: Range,
    ) {
        let Some((mut units, _)) = string(text) else {
            return self.unsupported("string literal with unknown characters", range);
        };
        units.push(0);
        units.truncate(usize::try_from(length.unwrap_or(u64::MAX)).unwrap_or(usize::MAX));
        let storage = element.storage(self.machine).expect("characters are integers");
        for (at, unit) in (0u64..).zip(units) {
            let part = self.element_of(target, element, at);
            let value = self.exprs.constant(storage, storage.wrap(unit));
            self.fill_scalar(&part, value, filled, range);
        }
    }

    fn element_of(&mut self, target: &Target, element: &Type, at: u64) -> Target {
        let size = size_align(element, &self.records, self.machine).map_or(0, |(size, _)| size);
        let place = self.behind(&target.lvalue.place, at * size);
        Target { lvalue: Lvalue::new(place, element.clone()), offset: target.offset + at * size }
    }

    fn member_target(&mut self, target: &Target, index: usize, member: usize) -> Target {
        let known = self.records[index].layout.is_some();
        let found = &self.records[index].members.as_ref().expect("a complete type")[member];
        let (bit, ty, width) = (found.bit, found.ty.clone(), found.width);
        let lvalue = self.part(&target.lvalue.place, bit, ty, width, known);
        Target { lvalue, offset: target.offset + bit / 8 }
    }

    /// The parts of an array, structure or union that initialisers are for, one after the other from `position` on.
    /// `braced` says whether the list is that of this object, whose designators are meant then.
    fn fill_parts(
        &mut self,
        target: &Target,
        items: &'a [InitItem<'a>],
        at: &mut usize,
        mut position: usize,
        braced: bool,
        filled: &mut Filled,
    ) {
        while let Some(item) = items.get(*at) {
            if !item.path.is_empty() {
                if !braced {
                    return;
                }
                *at += 1;
                let range = self.expr_range(item.value);
                let Some((parts, mut levels)) = self.designated(target, &item.path, range) else { continue };
                // The value of a range is evaluated once.
                if parts.len() > 1 && self.has_effects_within(item.value) {
                    self.unsupported("value with effects for several elements", range);
                    continue;
                }
                for part in parts {
                    self.fill(&part, item.value, filled);
                }
                // What follows is for what is behind the part, first in the innermost object.
                while levels.len() > 1
                    && let Some((object, next)) = levels.pop()
                {
                    self.fill_parts(&object, items, at, next, false, filled);
                }
                position = levels.pop().map_or(0, |(_, next)| next);
                continue;
            }
            let Some(part) = self.next_part(target, &mut position) else {
                // More initialisers than parts: an error in C for braces, the next object's otherwise.
                if braced {
                    *at = items.len();
                }
                return;
            };
            if self.takes_whole(&part.lvalue.ty, item.value) {
                self.fill(&part, item.value, filled);
                *at += 1;
            } else {
                let before = *at;
                self.fill_parts(&part, items, at, 0, false, filled);
                if *at == before {
                    // A part without parts.
                    *at += 1;
                }
            }
        }
    }

    /// Whether an initialiser is for an object as a whole, not for its first part.
    fn takes_whole(&mut self, ty: &Type, value: ExprRef) -> bool {
        match (ty, self.ast().expr(value)) {
            (_, Expr::Init(_)) => true,
            (Type::Array(element, _), Expr::Str(text)) => is_text_of(element, text),
            (Type::Array(..), _) => false,
            (Type::Record(_), _) => self.type_of(value) == *ty,
            _ => true,
        }
    }

    fn next_part(&mut self, target: &Target, position: &mut usize) -> Option<Target> {
        match &target.lvalue.ty {
            Type::Array(element, length) => {
                let at = *position as u64;
                *position += 1;
                let element = element.clone();
                length.is_none_or(|length| at < length).then(|| self.element_of(target, &element, at))
            }
            Type::Record(index) => {
                let index = *index;
                let record = &self.records[index];
                let members = record.members.as_ref()?;
                if record.union && *position > 0 {
                    return None;
                }
                // Unnamed bit-fields are not initialised.
                let skipped = members[(*position).min(members.len())..]
                    .iter()
                    .take_while(|member| member.name.is_none() && member.width.is_some())
                    .count();
                let member = *position + skipped;
                if member >= members.len() {
                    return None;
                }
                *position = member + 1;
                Some(self.member_target(target, index, member))
            }
            _ => None,
        }
    }

    /// The parts that a designator names, and the objects around the last one, from outside inwards, with the positions
    /// behind it.
    fn designated(&mut self, target: &Target, path: &[Designator<'a>], range: Range) -> Option<(Vec<Target>, Levels)> {
        let mut parts = vec![target.clone()];
        let mut levels = Vec::new();
        for designator in path {
            let mut found = Vec::new();
            let above = levels.len();
            for part in parts {
                levels.truncate(above);
                match (&part.lvalue.ty.clone(), designator) {
                    (Type::Array(element, _), Designator::Index(from, to)) => {
                        let from = self.constant_value(*from);
                        let to = to.map_or(from, |to| self.constant_value(to));
                        let (Some(from), Some(to)) = (from, to) else {
                            self.unsupported("designator that is not constant", range);
                            return None;
                        };
                        let (Ok(from), Ok(to)) = (u64::try_from(from), u64::try_from(to)) else { return None };
                        if to.saturating_sub(from) > 100_000 {
                            self.unsupported("designator of many elements", range);
                            return None;
                        }
                        for at in from..=to {
                            found.push(self.element_of(&part, element, at));
                        }
                        levels.push((part, usize::try_from(to).unwrap_or(usize::MAX - 1) + 1));
                    }
                    (Type::Record(index), Designator::Field(name)) => {
                        let members = self.records[*index].members.clone().unwrap_or_default();
                        let direct = members.iter().position(|member| member.name.as_deref() == Some(name));
                        match direct {
                            Some(member) => {
                                found.push(self.member_target(&part, *index, member));
                                levels.push((part, member + 1));
                            }
                            None => {
                                let inner = members.iter().position(|member| {
                                    matches!(&member.ty, Type::Record(inner) if member.name.is_none()
                                        && self.has_member(*inner, name))
                                });
                                let Some(inner) = inner else {
                                    self.unsupported(format!("the member '{name}'"), range);
                                    return None;
                                };
                                let outer = self.member_target(&part, *index, inner);
                                levels.push((part, inner + 1));
                                let one = [Designator::Field(name)];
                                let (inner_parts, inner_levels) = self.designated(&outer, &one, range)?;
                                found.extend(inner_parts);
                                levels.extend(inner_levels);
                            }
                        }
                    }
                    _ => {
                        self.unsupported("designator that does not fit", range);
                        return None;
                    }
                }
            }
            parts = found;
        }
        Some((parts, levels))
    }

    fn has_member(&self, record: usize, name: &str) -> bool {
        self.records[record].members.as_deref().unwrap_or(&[]).iter().any(|member| match (&member.name, &member.ty) {
            (Some(found), _) => found == name,
            (None, Type::Record(inner)) => self.has_member(*inner, name),
            _ => false,
        })
    }

    /// An array without a length takes it from its initialiser.
    pub(super) fn completed_by(&mut self, ty: Type, init: Option<ExprRef>) -> Type {
        let (Type::Array(element, None), Some(init)) = (&ty, init) else { return ty };
        let length = match self.ast().expr(init) {
            Expr::Str(text) if is_text_of(element, text) => length_of(text),
            Expr::Init(items) => match items.as_slice() {
                [only] => match self.ast().expr(only.value) {
                    Expr::Str(text) if only.path.is_empty() && is_text_of(element, text) => length_of(text),
                    _ => self.count_elements(element, items),
                },
                items => self.count_elements(element, items),
            },
            _ => None,
        };
        Type::Array(element.clone(), length)
    }

    /// The bytes that the initialiser of a static object needs for a flexible array member; none if that cannot be told.
    pub(super) fn flexible_room(&mut self, ty: &Type, init: Option<ExprRef>) -> Option<u64> {
        let (Type::Record(index), Some(init)) = (ty, init) else { return Some(0) };
        let members = self.records[*index].members.clone().unwrap_or_default();
        let Some(Type::Array(element, None | Some(0))) = members.last().map(|member| &member.ty) else {
            return Some(0);
        };
        let Expr::Init(items) = self.ast().expr(init) else { return Some(0) };
        if self.records[*index].union {
            return None;
        }
        let mut position = 0;
        let mut room = 0;
        for item in items {
            match item.path.as_slice() {
                [] => {}
                [Designator::Field(name)] => {
                    position = members.iter().position(|member| member.name.as_deref() == Some(*name))?;
                }
                [Designator::Field(name), ..] => {
                    position = members.iter().position(|member| member.name.as_deref() == Some(*name))?;
                    if position + 1 == members.len() {
                        return None;
                    }
                }
                _ => return None,
            }
            let value = self.ast().expr(item.value);
            if position + 1 == members.len() {
                let length = match value {
                    Expr::Str(text) if is_text_of(element, text) => length_of(text),
                    Expr::Init(items) => self.count_elements(element, items),
                    _ => None,
                };
                let (size, _) = size_align(element, &self.records, self.machine)?;
                room = room.max(length?.checked_mul(size)?);
            } else {
                let member = members.get(position)?;
                if member.name.is_none() && member.width.is_some() {
                    return None;
                }
                let whole = matches!(value, Expr::Init(_)) || self.takes_whole(&member.ty, item.value);
                if matches!(member.ty, Type::Array(..) | Type::Record(_)) && !whole {
                    return None;
                }
            }
            position += 1;
        }
        Some(room)
    }

    /// How many elements an initialiser in braces has; none if a value behind a designator is for a part of the same element.
    fn count_elements(&mut self, element: &Type, items: &'a [InitItem<'a>]) -> Option<u64> {
        let (mut at, mut position, mut length) = (0, 0u64, 0u64);
        while let Some(item) = items.get(at) {
            if let Some(Designator::Index(from, to)) = item.path.first() {
                position = u64::try_from(self.constant_value(to.unwrap_or(*from))?).ok()?;
            }
            if item.path.is_empty() {
                self.skip_part(element, items, &mut at);
            } else if item.path.len() > 1 && items.get(at + 1).is_some_and(|next| next.path.is_empty()) {
                return None;
            } else {
                at += 1;
            }
            position += 1;
            length = length.max(position);
        }
        Some(length)
    }

    /// Passes over what [`Lower::fill_parts`] takes for a part without braces.
    fn skip_part(&mut self, ty: &Type, items: &'a [InitItem<'a>], at: &mut usize) {
        let Some(item) = items.get(*at) else { return };
        if !item.path.is_empty() {
            return;
        }
        let before = *at;
        if !self.takes_whole(ty, item.value) {
            match ty {
                Type::Array(element, length) => {
                    let goes_on = |at: usize| items.get(at).is_some_and(|item| item.path.is_empty());
                    for _ in 0..length.unwrap_or(u64::MAX) {
                        if !goes_on(*at) {
                            break;
                        }
                        self.skip_part(element, items, at);
                    }
                }
                Type::Record(index) => {
                    let record = &self.records[*index];
                    let members = record.members.iter().flatten().filter(|m| m.name.is_some() || m.width.is_none());
                    let types: Vec<Type> = members.map(|member| member.ty.clone()).collect();
                    let some = if record.union { types.len().min(1) } else { types.len() };
                    types[..some].iter().for_each(|ty| self.skip_part(ty, items, at));
                }
                _ => {}
            }
        }
        if *at == before {
            *at += 1;
        }
    }

    /// Whether the evaluation of an initialiser does more than compute values.
    fn has_effects_within(&mut self, init: ExprRef) -> bool {
        match self.ast().expr(init) {
            Expr::Init(items) => items.iter().any(|item| self.has_effects_within(item.value)),
            _ => self.has_effects(|lower| {
                lower.value(init);
            }),
        }
    }
}

/// Whether a string literal has characters of the type of an array's elements, so that it is for the whole array.
fn is_text_of(element: &Type, text: &str) -> bool {
    match (element, string(text)) {
        (Type::Int(ty), Some((_, of_text))) => ty.bits == of_text.bits,
        (Type::Int(ty), None) => ty.bits == 8,
        _ => false,
    }
}

/// The elements of the array that a string literal makes.
fn length_of(text: &str) -> Option<u64> {
    string(text).map(|(units, _)| units.len() as u64 + 1)
}
