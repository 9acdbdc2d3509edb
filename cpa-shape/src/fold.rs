// SPDX-License-Identifier: Apache-2.0
//! Folding neighbours of a list into segments (Dudka, Peringer, Vojnar, section 5: abstraction).
//!
//! Two neighbours are folded when no variable points to them, nothing but the first points to the begin of the second one
//! and nothing but the second to the end of the first one, they have the same size, were made at the same place and hold the same,
//! apart from the links. Graphs with many objects are less strict.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::graph::{Cell, End, Graph, Kind, Link, Object, ObjectId, Pointer, Value, target};
use crate::nest::{Parts, Union};
use crate::rows::Rows;

/// Where pointers to an object stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reference {
    /// In which object, and at which offset.
    pub(crate) from: (ObjectId, u64),
    end: End,
}

/// How neighbours in a list may differ in the numbers that they hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    /// Not, but for what is known to stand next to each other.
    Alike,
    /// There may be a few kinds of nodes.
    Kinds,
    /// In any way.
    Any,
}

/// How much is folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Graphs with more objects than this get segments whose nodes are of a few kinds.
    pub(crate) apart: usize,
    /// Graphs with more objects than this get segments whose nodes differ, first in the numbers that they hold, then in where they
    /// were made.
    pub(crate) objects: usize,
    /// Segments with more kinds of nodes than this have one kind.
    pub(crate) kinds: usize,
    /// Whether it is known which kinds stand next to each other and at the ends.
    pub(crate) order: bool,
}

/// In what the nodes of a segment may differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Differ {
    /// In the numbers that they hold.
    numbers: Numbers,
    /// In where they were made.
    places: bool,
}

impl Graph {
    /// Folds what can be folded.
    pub(crate) fn fold(&mut self, limits: Limits) {
        let ways = [
            (0, Numbers::Alike, false),
            (limits.apart, Numbers::Kinds, false),
            (limits.objects, Numbers::Any, false),
            (limits.objects, Numbers::Alike, true),
            (limits.objects, Numbers::Any, true),
        ];
        for (most, numbers, places) in ways {
            let made = self.objects.keys().filter(|id| matches!(id, ObjectId::Made(_))).count();
            if made <= most {
                return;
            }
            while self.fold_one(Differ { numbers, places }, limits) {}
        }
    }

    fn fold_one(&mut self, differ: Differ, limits: Limits) -> bool {
        let Some(Folded { ids: [first, second], segment, rows, parts }) = Folding::new(self, differ, limits).find()
        else {
            return false;
        };
        // What pointed to the first node of the first one points to the first of the segment, what pointed to the last of
        // the second one to the last.
        let second_end = self.last(second);
        let halves = [first, second].map(|id| Rc::clone(&self.objects[&id]));
        *self.object_mut(first) = segment;
        parts.apply(self);
        self.objects.remove(&second);
        self.redirect(second, second_end, first, End::Last);
        self.redirect(second, End::Own, first, End::Own);
        self.set_rows(first, rows);
        self.order_of_parts(first, [&halves[0], &halves[1]]);
        true
    }

    /// How pointers to the last node say which one they mean.
    fn last(&self, id: ObjectId) -> End {
        match self.object(id).kind {
            Kind::Segment(_) => End::Last,
            Kind::Single | Kind::Dead | Kind::Crowd => End::First,
        }
    }
}

/// The search for neighbours that can be folded.
pub(crate) struct Folding<'a> {
    pub(crate) graph: &'a Graph,
    differ: Differ,
    limits: Limits,
    /// What variables point to.
    pub(crate) named: BTreeSet<ObjectId>,
    /// What points to an object.
    pub(crate) references: BTreeMap<ObjectId, Vec<Reference>>,
    /// Numbers in variables that others are known to be different from.
    keys: Vec<Value>,
}

/// Two neighbours, and what takes their place.
struct Folded {
    ids: [ObjectId; 2],
    /// Without the numbers that each node has of its own.
    segment: Object,
    rows: Rows,
    parts: Parts,
}

impl<'a> Folding<'a> {
    fn new(graph: &'a Graph, differ: Differ, limits: Limits) -> Self {
        let mut references: BTreeMap<ObjectId, Vec<Reference>> = BTreeMap::new();
        for (&id, object) in &graph.objects {
            let of_cells = object.cells.iter().filter_map(|(&offset, cell)| match cell.value {
                Value::Pointer(pointer) => Some((offset, pointer)),
                Value::Int(_) | Value::Unknown(_) => None,
            });
            let of_choices =
                object.choices.iter().flat_map(|(&offset, choice)| choice.pointers.iter().map(move |&to| (offset, to)));
            for (offset, Pointer { object, end, .. }) in of_cells.chain(of_choices) {
                references.entry(object).or_default().push(Reference { from: (id, offset), end });
            }
        }
        let sought =
            |value: &Value| graph.unequal.iter().any(|&(one, other)| [one, other].map(Value::Unknown).contains(value));
        let keys: BTreeSet<Value> = graph.vars.values().copied().filter(sought).collect();
        let named = graph.vars.values().filter_map(target).collect();
        Self { graph, differ, limits, named, references, keys: keys.into_iter().collect() }
    }

    fn object(&self, id: ObjectId) -> &Object {
        self.graph.object(id)
    }

    fn foldable(&self, id: ObjectId) -> bool {
        let object = self.object(id);
        let folds = matches!(object.kind, Kind::Single | Kind::Segment(_)) && object.owner.is_none();
        matches!(id, ObjectId::Made(_)) && !self.named.contains(&id) && folds
    }

    fn find(&self) -> Option<Folded> {
        let firsts = self.graph.objects.iter().filter(|(id, _)| self.foldable(**id));
        firsts.flat_map(|(&first, object)| object.cells.iter().map(move |cell| (first, cell))).find_map(
            |(first, (&offset, cell))| {
                let Value::Pointer(Pointer { object: second, end: End::First, offset: to }) = cell.value else {
                    return None;
                };
                let alone = self.foldable(second) && second != first;
                let link = alone.then(|| self.link(first, second, (offset, to))).flatten()?;
                let alike = self.object(second).site == self.object(first).site;
                let is_list = alike || self.differ.places && self.is_longer(first, second, link);
                (is_list && self.is_private(first, second, link)).then(|| self.merged([first, second], link)).flatten()
            },
        )
    }

    /// How two neighbours are linked, if a link leads from the first at `next` to the second one.
    fn link(&self, first: ObjectId, second: ObjectId, next: (u64, i64)) -> Option<Link> {
        let last = self.graph.last(first);
        let back = |prev: Option<(u64, i64)>| {
            let mut cells = self.object(second).cells.iter();
            cells.find_map(|(&offset, cell)| match cell.value {
                Value::Pointer(pointer) if pointer.object == first && pointer.end == last => {
                    let found = (offset, pointer.offset);
                    prev.is_none_or(|prev| prev == found).then_some(found)
                }
                Value::Pointer(_) | Value::Int(_) | Value::Unknown(_) => None,
            })
        };
        let given = [first, second].into_iter().find_map(|id| match self.object(id).kind {
            Kind::Segment(link) => Some(link),
            Kind::Single | Kind::Dead | Kind::Crowd => None,
        });
        let link = match given {
            Some(link) => link,
            None => Link { next, prev: back(None).filter(|(offset, _)| *offset != next.0) },
        };
        // A list that is linked both ways is the same in both directions.
        let is_forward = link.prev.is_none_or(|(offset, _)| link.next.0 < offset);
        let is_linked = is_forward && link.next == next && (link.prev.is_none() || back(link.prev).is_some());
        let of_link = |id| match self.object(id).kind {
            Kind::Segment(other) => other == link,
            Kind::Single => true,
            Kind::Dead | Kind::Crowd => false,
        };
        (is_linked && of_link(first) && of_link(second)).then_some(link)
    }

    /// Whether the list of two neighbours goes on before or behind them. Two nodes that were made at different places may as well
    /// be no list, but a node and what belongs to it.
    fn is_longer(&self, first: ObjectId, second: ObjectId, link: Link) -> bool {
        let is_segment = |id| matches!(self.object(id).kind, Kind::Segment(_));
        let is_node = |id| matches!(id, ObjectId::Made(_));
        let before = |reference: &Reference| is_node(reference.from.0) && reference.from.1 == link.next.0;
        let behind = self.object(second).cells.get(&link.next.0).and_then(|cell| target(&cell.value));
        is_segment(first)
            || is_segment(second)
            || behind.is_some_and(is_node)
            || self.references.get(&first).is_some_and(|all| all.iter().any(before))
    }

    /// Whether nothing but the link between two neighbours leads to where they meet.
    fn is_private(&self, first: ObjectId, second: ObjectId, link: Link) -> bool {
        let to = |id: ObjectId| self.references.get(&id).into_iter().flatten();
        let next = (first, link.next.0);
        let prev = link.prev.map(|(offset, _)| (second, offset));
        let of_link = |from| from == next || Some(from) == prev;
        // Apart from the links between them, neither may hold a pointer to one of the two but in its outer links, where the
        // list is a circle.
        let outer = |from: (ObjectId, u64)| {
            from == (second, link.next.0) || link.prev.is_some_and(|(offset, _)| from == (first, offset))
        };
        let inner = |from: (ObjectId, u64)| from.0 == first || from.0 == second;
        let proper = |reference: &Reference| of_link(reference.from) || outer(reference.from) || !inner(reference.from);
        // A node may point to itself.
        let own = |id: ObjectId, reference: &Reference| {
            let alone = reference.from.0 == id && !self.object(id).is_segment() && !outer(reference.from);
            reference.end == End::Own || alone
        };
        let is_begin = |reference: &Reference| reference.end == End::First || Some(reference.from) == prev;
        let is_end = |reference: &Reference| reference.end == self.graph.last(second) || reference.from == next;
        to(first).all(|reference| own(first, reference) || proper(reference) && is_begin(reference))
            && to(second).all(|reference| own(second, reference) || proper(reference) && is_end(reference))
    }

    /// Whether a search for a number that a variable holds has passed one of two numbers, or ended there.
    fn searched(&self, one: Option<Value>, other: Option<Value>) -> bool {
        let is = |value: Option<Value>, key| {
            value.map_or((false, false), |value| (value == key, self.graph.differ(value, key)))
        };
        self.keys.iter().any(|&key| is(one, key) != is(other, key))
    }

    /// The segment of two neighbours, if they hold the same.
    fn merged(&self, ids: [ObjectId; 2], link: Link) -> Option<Folded> {
        let (numbers, limits) = (self.differ.numbers, self.limits);
        let coarse = numbers == Numbers::Any;
        let [mut one, mut other] = ids.map(|id| self.object(id).clone());
        if one.size != other.size {
            return None;
        }
        let site = one.site.filter(|_| one.site == other.site);
        let mut segment = Object { kind: Kind::Segment(link), ..Object::new(one.size, site) };
        let mut parts = Union::new(self, numbers, ids);
        let choices: BTreeMap<u64, u64> =
            one.choices.iter().chain(&other.choices).map(|(&offset, choice)| (offset, choice.bytes)).collect();
        for (&offset, &bytes) in &choices {
            match ids.map(|id| self.graph.choice(id, offset, bytes)) {
                // Links must be known.
                _ if link.offsets().any(|at| at == offset) => return None,
                [Some(one), Some(other)] => {
                    segment.choices.insert(offset, parts.choice(ids, [one, other], true)?);
                }
                _ if coarse => {}
                _ => return None,
            }
        }
        // Where both hold the same or no number of their own, and whether they differ elsewhere, or how they compare.
        let mut but: BTreeSet<u64> = link.offsets().collect();
        but.extend(choices.keys());
        let (mut differ, mut searched) = (false, false);
        one.fill_zeros(&other);
        other.fill_zeros(&one);
        let offsets: BTreeSet<u64> = one.cells.keys().chain(other.cells.keys()).copied().collect();
        for &offset in &offsets {
            if choices.contains_key(&offset) {
                continue;
            }
            if offset == link.next.0 {
                segment.cells.insert(offset, *other.cells.get(&offset)?);
                continue;
            }
            if link.prev.is_some_and(|(prev, _)| offset == prev) {
                segment.cells.insert(offset, *one.cells.get(&offset)?);
                continue;
            }
            let bytes = one.cells.get(&offset).or(other.cells.get(&offset))?.bytes;
            match (one.load(offset, bytes), other.load(offset, bytes)) {
                (Some(one), Some(other)) if one == other && !one.each => {
                    segment.cells.insert(offset, one);
                    but.insert(offset);
                }
                (Some(one), Some(other)) => {
                    let pointers = [one, other].map(|cell| match cell.value {
                        Value::Pointer(pointer) => Some(pointer),
                        Value::Int(_) | Value::Unknown(_) => None,
                    });
                    let united = match pointers {
                        [None, None] => {
                            let [one, other] = [one.value, other.value];
                            differ |= self.graph.numbers(one) != self.graph.numbers(other);
                            searched |= self.searched(Some(one), Some(other));
                            continue;
                        }
                        [Some(one), Some(other)] => parts.pointer(ids, [one, other]),
                        [_, _] => None,
                    };
                    but.insert(offset);
                    match united {
                        Some(pointer) => {
                            let value = Value::Pointer(pointer);
                            segment.cells.insert(offset, Cell { bytes, value, each: false });
                        }
                        None => {
                            let [Some(one), Some(other)] = ids.map(|id| self.graph.choice(id, offset, bytes)) else {
                                return None;
                            };
                            segment.choices.insert(offset, parts.choice(ids, [one, other], false)?);
                        }
                    }
                }
                // Nothing is known about these bytes of one of them.
                (one, other) => {
                    differ = true;
                    searched |= self.searched(one.map(|cell| cell.value), other.map(|cell| cell.value));
                }
            }
        }
        // The links have cells of the same widths in both.
        for offset in link.offsets() {
            if one.cells.get(&offset)?.bytes != other.cells.get(&offset)?.bytes {
                return None;
            }
        }
        segment.zeros = one.common_zeros(&other);
        if !coarse && (segment.zeros != one.zeros || segment.zeros != other.zeros) {
            return None;
        }
        let (one, other) = (self.graph.rows(&one, &but), self.graph.rows(&other, &but));
        let rows = one.then(&other);
        let rows = if limits.order { rows } else { rows.in_any_order() };
        let few = rows.kinds() <= limits.kinds;
        let folds = match numbers {
            Numbers::Alike | Numbers::Kinds if searched => false,
            Numbers::Alike => !differ || few && (rows.is_alike(&one) || rows.is_alike(&other)),
            Numbers::Kinds => !differ || few,
            Numbers::Any => true,
        };
        let rows = if few { rows } else { rows.of_one_kind() };
        folds.then(|| Folded { ids, segment, rows, parts: parts.finish() })
    }
}
