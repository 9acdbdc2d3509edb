// SPDX-License-Identifier: Apache-2.0
//! Crowds: any number of objects of one size without an order, for what is no list (trees, lists of lists).
//!
//! As in shape analysis with summary nodes (Sagiv, Reps, Wilhelm, *Parametric Shape Analysis via 3-Valued Logic*, TOPLAS 2002), here
//! without predicates: of the nodes of a crowd it is only known what each may hold at an offset, which is one of some pointers
//! and numbers. Objects that no variable points to are gathered in the crowd of those of their size that were made at the same
//! place of the program. A pointer into a crowd that is loaded takes a node out of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use cfa::EdgeId;

use crate::graph::{Cell, End, Graph, Kind, Object, ObjectId, Pointer, Value, target};
use crate::range::Range;

/// What bytes hold: a number of a range, or one of some pointers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    pub(crate) bytes: u64,
    pub(crate) numbers: Option<Range>,
    pub(crate) pointers: BTreeSet<Pointer>,
}

impl Choice {
    /// What one or the other holds.
    pub(crate) fn or(mut self, other: Choice) -> Choice {
        self.numbers = hull(self.numbers, other.numbers);
        self.pointers.extend(other.pointers);
        self
    }

    /// Whether it may be any number of its width.
    pub(crate) fn says_nothing(&self) -> bool {
        self.numbers.as_ref().is_some_and(|numbers| numbers.is_any(self.bytes))
    }

    /// Each pointer, or what takes its place.
    pub(crate) fn change(&mut self, mut change: impl FnMut(Value) -> Value) {
        let pointers = self.pointers.iter().map(|&pointer| change(Value::Pointer(pointer)));
        self.pointers =
            pointers.filter_map(|value| if let Value::Pointer(to) = value { Some(to) } else { None }).collect();
    }
}

/// The numbers of one or the other.
pub(crate) fn hull(one: Option<Range>, other: Option<Range>) -> Option<Range> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.hull(&other)),
        (one, other) => one.or(other),
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointers = self.pointers.iter().map(|&pointer| Value::Pointer(pointer).to_string());
        let numbers = self.numbers.iter().map(Range::to_string);
        f.write_str(&pointers.chain(numbers).collect::<Vec<_>>().join(" or "))
    }
}

impl Graph {
    /// What bytes of each of the nodes of an object hold, if something is known about all of them.
    pub(crate) fn choice(&self, id: ObjectId, offset: u64, bytes: u64) -> Option<Choice> {
        let mut choice = self.choice_of_end(id, offset, bytes)?;
        if let Kind::Segment(link) = self.object(id).kind {
            // All but the last node hold a link to another one, and all but the first one a link back.
            let inner = |(at, to): (u64, i64), end| (at == offset).then_some(Pointer { object: id, end, offset: to });
            choice.pointers.extend(inner(link.next, End::First));
            choice.pointers.extend(link.prev.and_then(|prev| inner(prev, End::Last)));
        }
        Some(choice)
    }

    /// The same, where a link of a segment is that of its last or first node.
    pub(crate) fn choice_of_end(&self, id: ObjectId, offset: u64, bytes: u64) -> Option<Choice> {
        let object = self.object(id);
        if let Some(choice) = object.choices.get(&offset) {
            return (choice.bytes == bytes).then(|| choice.clone());
        }
        let mut choice = Choice { bytes, numbers: None, pointers: BTreeSet::new() };
        match object.load(offset, bytes)?.value {
            Value::Int(value) => choice.numbers = Some(Range::point(value)),
            Value::Unknown(symbol) => choice.numbers = Some(self.range(symbol).clone()),
            Value::Pointer(pointer) => _ = choice.pointers.insert(pointer),
        }
        Some(choice)
    }

    /// Gathers objects that no variable points to: those of crowds that there are already, and all if the program made more
    /// than `most` of those that the graph has.
    pub(crate) fn gather(&mut self, most: usize) {
        let named: BTreeSet<ObjectId> = self.vars.values().filter_map(target).collect();
        // What belongs to each node of a segment stays with it.
        let owners: BTreeSet<ObjectId> = self.objects.values().filter_map(|object| object.owner).collect();
        let stays = |id: &ObjectId| owners.contains(id) || self.object(*id).owner.is_some();
        let mut groups: BTreeMap<(u64, Option<EdgeId>), Vec<ObjectId>> = BTreeMap::new();
        let mut count = 0;
        for (&id, object) in &self.objects {
            if matches!(id, ObjectId::Made(_)) {
                count += 1;
                if !named.contains(&id) && !stays(&id) && object.kind != Kind::Dead {
                    groups.entry((object.size, object.site)).or_default().push(id);
                }
            }
        }
        for ((size, site), members) in groups {
            let crowd = members.iter().copied().find(|id| self.object(*id).kind == Kind::Crowd);
            if members.len() > 1 && (crowd.is_some() || count > most) {
                self.join(size, site, &members);
            }
        }
    }

    /// Replaces objects by a crowd.
    fn join(&mut self, size: u64, site: Option<EdgeId>, members: &[ObjectId]) {
        let Some((first, others)) = members.split_first() else { return };
        let mut widths: BTreeMap<u64, u64> = BTreeMap::new();
        for object in members.iter().map(|id| self.object(*id)) {
            widths.extend(object.cells.iter().map(|(&offset, cell)| (offset, cell.bytes)));
            widths.extend(object.choices.iter().map(|(&offset, choice)| (offset, choice.bytes)));
        }
        let mut crowd = Object { kind: Kind::Crowd, ..Object::new(size, site) };
        for (offset, bytes) in widths {
            let of_first = self.choice(*first, offset, bytes);
            let choice =
                others.iter().try_fold(of_first, |all, id| Some(Some(all?.or(self.choice(*id, offset, bytes)?))));
            // Cells of different widths may overlap; then nothing is known of the later ones.
            if let Some(choice) = choice.flatten()
                && crowd.is_free(offset, bytes)
            {
                crowd.choices.insert(offset, choice);
            }
        }
        crowd.zeros = self.object(*first).zeros.clone();
        for id in others {
            crowd.zeros = crowd.common_zeros(self.object(*id));
        }
        let crowd = self.make(crowd);
        self.replace(|value| match value {
            Value::Pointer(pointer) if members.contains(&pointer.object) => {
                Value::Pointer(Pointer { object: crowd, end: End::First, ..pointer })
            }
            Value::Pointer(_) | Value::Int(_) | Value::Unknown(_) => value,
        });
        self.objects.retain(|id, _| !members.contains(id));
    }

    /// A node of a crowd becomes an object of its own. Whoever pointed to a node of the crowd may point to this one.
    pub(crate) fn take_out(&mut self, crowd: ObjectId) -> ObjectId {
        let of_crowd = self.object(crowd).clone();
        let node = self.make(Object { kind: Kind::Single, ..of_crowd });
        let to_node = |pointer: &Pointer| Pointer { object: node, ..*pointer };
        for object in self.objects.values_mut() {
            let points = |pointer: &Pointer| pointer.object == crowd;
            let in_cells = object.cells.values().any(|cell| target(&cell.value) == Some(crowd));
            if !in_cells && !object.choices.values().any(|choice| choice.pointers.iter().any(points)) {
                continue;
            }
            let object = Rc::make_mut(object);
            for choice in object.choices.values_mut() {
                let more: Vec<Pointer> =
                    choice.pointers.iter().filter(|pointer| points(pointer)).map(to_node).collect();
                choice.pointers.extend(more);
            }
            let choices = &mut object.choices;
            object.cells.retain(|&offset, cell| match cell.value {
                Value::Pointer(pointer) if pointer.object == crowd => {
                    let pointers = BTreeSet::from([pointer, to_node(&pointer)]);
                    choices.insert(offset, Choice { bytes: cell.bytes, numbers: None, pointers });
                    false
                }
                Value::Pointer(_) | Value::Int(_) | Value::Unknown(_) => true,
            });
        }
        // What leaves no choice but numbers is a number.
        let choices = std::mem::take(&mut self.object_mut(node).choices);
        for (offset, choice) in choices {
            match choice {
                Choice { bytes, numbers: Some(range), pointers } if pointers.is_empty() => {
                    let value = self.unknown(range);
                    self.object_mut(node).cells.insert(offset, Cell { bytes, value, each: false });
                }
                choice => _ = self.object_mut(node).choices.insert(offset, choice),
            }
        }
        node
    }

    /// The graphs for what a single object may hold in bytes where it has a choice, in which it is known.
    pub(crate) fn decided(self, id: ObjectId, offset: u64, bytes: u64) -> Vec<Graph> {
        let there = self.objects.get(&id).and_then(|object| object.choices.get(&offset));
        let Some(choice) = there.filter(|choice| choice.bytes == bytes).cloned() else { return vec![self] };
        let pointers = choice.pointers.iter().map(|&pointer| Ok(Value::Pointer(pointer)));
        let values: Vec<Result<Value, Range>> = pointers.chain(choice.numbers.map(Err)).collect();
        let decide = |value: Result<Value, Range>| {
            let mut graph = self.clone();
            let value = value.unwrap_or_else(|range| graph.unknown(range));
            graph.object_mut(id).store(offset, Cell { bytes, value, each: false });
            graph
        };
        values.into_iter().map(decide).collect()
    }
}
