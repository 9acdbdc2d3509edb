// SPDX-License-Identifier: Apache-2.0
//! Objects that each node of a segment has of its own: lists of lists (Dudka, Peringer, Vojnar, section 3.1: nesting levels).
//!
//! Such an object, or segment, belongs to the segment, and only cells of the nodes lead to it. It stands for as many objects as there
//! are nodes, with numbers of their own. Objects may belong to it in turn.

use std::collections::{BTreeMap, BTreeSet};

use crate::crowd::{Choice, hull};
use crate::fold::{Folding, Numbers};
use crate::graph::{Cell, End, Graph, Kind, Object, ObjectId, Pointer, Value};
use crate::range::Range;

impl Graph {
    /// To which object others belong that only this one points to, one to each of what it stands for; none if it is one object.
    fn owner_of_parts(&self, id: ObjectId) -> Option<ObjectId> {
        let object = self.object(id);
        (object.is_segment() || object.owner.is_some()).then_some(id)
    }

    /// What belongs to an object, and to that.
    pub(crate) fn parts(&self, owner: ObjectId) -> Vec<ObjectId> {
        let mut found = vec![owner];
        let mut at = 0;
        while let Some(&owner) = found.get(at) {
            found.extend(self.objects.iter().filter(|(_, object)| object.owner == Some(owner)).map(|(&id, _)| id));
            at += 1;
        }
        found.split_off(1)
    }

    /// A node that was copied from a segment gets copies of what belongs to that.
    pub(crate) fn copy_parts(&mut self, segment: ObjectId, node: &mut Object) -> Vec<ObjectId> {
        let parts = self.parts(segment);
        if parts.is_empty() {
            return Vec::new();
        }
        let mut copies: BTreeMap<ObjectId, ObjectId> = BTreeMap::new();
        for &id in &parts {
            // An owner comes before what belongs to it.
            let owner = self.object(id).owner.and_then(|owner| copies.get(&owner).copied());
            let owner = owner.and_then(|owner| self.owner_of_parts(owner));
            let each = self.object(id).is_segment() || owner.is_some();
            let copy = Object { owner, ..self.renewed(id, each) };
            copies.insert(id, self.make(copy));
        }
        let redirect = |object: &mut Object| {
            let change = |value: Value| match value {
                Value::Pointer(pointer) => {
                    let object = copies.get(&pointer.object).copied().unwrap_or(pointer.object);
                    Value::Pointer(Pointer { object, ..pointer })
                }
                Value::Int(_) | Value::Unknown(_) => value,
            };
            object.cells.values_mut().for_each(|cell| cell.value = change(cell.value));
            object.choices.values_mut().for_each(|choice| choice.change(change));
        };
        redirect(node);
        for &copy in copies.values() {
            redirect(self.object_mut(copy));
        }
        copies.into_values().collect()
    }
}

/// What belongs to two neighbours, and becomes what belongs to a segment.
pub(crate) struct Union<'a> {
    folding: &'a Folding<'a>,
    numbers: Numbers,
    /// Which object of the first one is united with which one of the second.
    pairs: BTreeMap<ObjectId, ObjectId>,
    /// What is already part of the segment.
    taken: BTreeSet<ObjectId>,
    neighbours: [ObjectId; 2],
    parts: Vec<Part>,
}

/// An object that takes the place of two.
struct Part {
    id: ObjectId,
    object: Object,
    /// What each has of its own: where, how many bytes, in which range.
    own: Vec<(u64, u64, Range)>,
}

impl<'a> Union<'a> {
    pub(crate) fn new(folding: &'a Folding<'a>, numbers: Numbers, neighbours: [ObjectId; 2]) -> Self {
        let (pairs, parts) = Default::default();
        Self { folding, numbers, pairs, taken: neighbours.into(), neighbours, parts }
    }

    /// The pointer that stands for two in cells of two owners, if they lead to what belongs to these and has the same form.
    pub(crate) fn pointer(&mut self, owners: [ObjectId; 2], pointers: [Pointer; 2]) -> Option<Pointer> {
        let before = (self.pairs.clone(), self.taken.clone(), self.parts.len());
        let united = self.united(owners, pointers);
        if united.is_none() {
            (self.pairs, self.taken) = (before.0, before.1);
            self.parts.truncate(before.2);
        }
        united
    }

    fn united(&mut self, owners: [ObjectId; 2], pointers: [Pointer; 2]) -> Option<Pointer> {
        let [one, other] = pointers;
        let objects = [one.object, other.object];
        if (0..2).all(|side| self.is_own(side, pointers[side])) {
            return (one.offset == other.offset).then_some(Pointer { end: End::Own, ..one });
        }
        match self.pairs.get(&one.object) {
            Some(known) if *known != other.object => return None,
            Some(_) => {}
            None => {
                let free = one.object != other.object
                    && objects.into_iter().all(|id| !self.taken.contains(&id))
                    && (0..2).all(|side| self.belongs(objects[side], owners[side]));
                if !free {
                    return None;
                }
                self.pairs.insert(one.object, other.object);
                self.taken.extend(objects);
                let part = self.part(owners[0], objects)?;
                self.parts.push(part);
            }
        }
        let is_segment = objects.map(|id| self.folding.graph.object(id).is_segment());
        let end = match is_segment {
            // Of a single object, the first is the last one.
            [false, true] => other.end,
            [true, false] => one.end,
            _ if one.end == other.end => one.end,
            _ => return None,
        };
        (one.offset == other.offset).then_some(Pointer { end, ..one })
    }

    /// Whether a pointer in one of the neighbours, or in what belongs to it, leads to the node itself.
    fn is_own(&self, side: usize, pointer: Pointer) -> bool {
        let is_segment = self.folding.graph.object(pointer.object).is_segment();
        pointer.object == self.neighbours[side] && (pointer.end == End::Own || !is_segment)
    }

    /// The choice that stands for two, in which what belongs to the owners is united if it has the same form. What does not belong to
    /// them is part of it only if `others` may be.
    pub(crate) fn choice(&mut self, owners: [ObjectId; 2], choices: [Choice; 2], others: bool) -> Option<Choice> {
        let [one, other] = choices;
        let is_same = one.numbers == other.numbers && one.pointers.len() == other.pointers.len();
        if one.bytes != other.bytes || (self.numbers == Numbers::Alike && !is_same) {
            return None;
        }
        let numbers = hull(one.numbers, other.numbers);
        let mut left: Vec<Pointer> = one.pointers.into_iter().collect();
        let mut pointers = BTreeSet::new();
        for pointer in other.pointers {
            let united = (0..left.len()).find_map(|at| {
                let both = [left[at], pointer];
                let united = if both[0] == both[1] { Some(pointer) } else { self.pointer(owners, both) };
                Some((at, united?))
            });
            match united {
                Some((at, united)) => {
                    left.remove(at);
                    pointers.insert(united);
                }
                None if self.numbers == Numbers::Alike => return None,
                None => _ = pointers.insert(self.alone(owners, 1, pointer, others)?),
            }
        }
        for pointer in left {
            pointers.insert(self.alone(owners, 0, pointer, others)?);
        }
        Some(Choice { bytes: one.bytes, numbers, pointers })
    }

    /// A pointer that only one of the owners has. What belongs to that owner belongs to the segment then.
    fn alone(&mut self, owners: [ObjectId; 2], side: usize, pointer: Pointer, others: bool) -> Option<Pointer> {
        let id = pointer.object;
        let object = self.folding.graph.object(id);
        if self.is_own(side, pointer) {
            return Some(Pointer { object: self.neighbours[0], end: End::Own, ..pointer });
        }
        if self.taken.contains(&id) {
            return None;
        }
        // What is made where its owner is may be a tree.
        let is_tree = object.site == self.folding.graph.object(owners[side]).site;
        if is_tree || !self.belongs(id, owners[side]) {
            return (others && object.owner.is_none()).then_some(pointer);
        }
        self.taken.insert(id);
        let mut object = Object { owner: Some(owners[0]), ..object.clone() };
        for cell in object.cells.values_mut() {
            if let Value::Pointer(pointer) = &mut cell.value
                && self.is_own(side, *pointer)
            {
                *pointer = Pointer { object: self.neighbours[0], end: End::Own, ..*pointer };
            }
        }
        self.parts.push(Part { id, object, own: Vec::new() });
        Some(pointer)
    }

    /// Whether nothing but an object and what belongs to it points to another one, of which it has one for each of its nodes.
    fn belongs(&self, id: ObjectId, owner: ObjectId) -> bool {
        let graph = self.folding.graph;
        let object = graph.object(id);
        let alone = self.folding.references.get(&id).into_iter().flatten().all(|r| r.from.0 == owner || r.from.0 == id);
        id != owner
            && alone
            && matches!(id, ObjectId::Made(_))
            && !self.folding.named.contains(&id)
            && matches!(object.kind, Kind::Single | Kind::Segment(_))
            && object.owner == graph.owner_of_parts(owner)
    }

    /// One object for two of the same form.
    fn part(&mut self, owner: ObjectId, ids: [ObjectId; 2]) -> Option<Part> {
        let graph = self.folding.graph;
        let [mut one, mut other] = ids.map(|id| graph.object(id).clone());
        let is_same = one.size == other.size && one.site == other.site;
        if !is_same || !one.choices.is_empty() || !other.choices.is_empty() {
            return None;
        }
        let link = match (one.kind, other.kind) {
            (Kind::Single, Kind::Single) => None,
            (Kind::Segment(link), Kind::Segment(other)) if link == other => Some(link),
            (Kind::Segment(link), Kind::Single) | (Kind::Single, Kind::Segment(link))
                if self.numbers != Numbers::Alike =>
            {
                Some(link)
            }
            (_, _) => return None,
        };
        let any = self.numbers == Numbers::Any;
        let rows = one.rows.take().filter(|rows| other.rows.as_ref() == Some(rows));
        if rows.is_none() && !any && (graph.object(ids[0]).rows.is_some() || other.rows.is_some()) {
            return None;
        }
        one.fill_zeros(&other);
        other.fill_zeros(&one);
        let kind = link.map_or(Kind::Single, Kind::Segment);
        let mut object = Object { kind, owner: Some(owner), rows, ..Object::new(one.size, one.site) };
        let mut own = Vec::new();
        let offsets: BTreeSet<u64> = one.cells.keys().chain(other.cells.keys()).copied().collect();
        for offset in offsets {
            let bytes = one.cells.get(&offset).or(other.cells.get(&offset))?.bytes;
            let is_link = link.is_some_and(|link| link.offsets().any(|at| at == offset));
            match (one.load(offset, bytes), other.load(offset, bytes)) {
                (Some(one), Some(other)) if one == other && !one.each => {
                    object.cells.insert(offset, one);
                }
                (Some(Cell { value: Value::Pointer(one), .. }), Some(Cell { value: Value::Pointer(other), .. })) => {
                    let value = Value::Pointer(self.pointer(ids, [one, other])?);
                    object.cells.insert(offset, Cell { bytes, value, each: false });
                }
                (Some(one), Some(other)) if !is_link => {
                    let [one, other] = [graph.numbers(one.value)?, graph.numbers(other.value)?];
                    if !any && one != other {
                        return None;
                    }
                    own.push((offset, bytes, one.hull(&other)));
                }
                // Nothing is known about these bytes of one of them.
                (_, _) if any && !is_link => {}
                (_, _) => return None,
            }
        }
        object.zeros = one.common_zeros(&other);
        if !any && (object.zeros != one.zeros || object.zeros != other.zeros) {
            return None;
        }
        Some(Part { id: ids[0], object, own })
    }

    /// What is to be done to a graph.
    pub(crate) fn finish(self) -> Parts {
        Parts { parts: self.parts, gone: self.pairs.into_values().collect() }
    }
}

/// The objects that belong to a new segment, and those that were united with them.
pub(crate) struct Parts {
    parts: Vec<Part>,
    gone: Vec<ObjectId>,
}

impl Parts {
    pub(crate) fn apply(self, graph: &mut Graph) {
        for Part { id, mut object, own } in self.parts {
            for (offset, bytes, range) in own {
                let value = graph.unknown(range);
                object.store(offset, Cell { bytes, value, each: matches!(value, Value::Unknown(_)) });
            }
            *graph.object_mut(id) = object;
        }
        for id in self.gone {
            graph.objects.remove(&id);
        }
    }
}
