// SPDX-License-Identifier: Apache-2.0
//! Taking nodes out of segments (Dudka, Peringer, Vojnar, section 4.1: materialisation).

use std::collections::BTreeMap;

use crate::graph::{Cell, End, Graph, Kind, Link, Object, ObjectId, Pointer, Value};

impl Graph {
    /// The graphs for the cases of how long the segment is that a value points into, in which the node that it points to is
    /// an object of its own; the same for a crowd. Which words its nodes are tells more cases apart. With each of them the value
    /// in that graph.
    pub(crate) fn exposed(self, value: Value) -> Vec<(Graph, Value)> {
        let Value::Pointer(pointer) = value else { return vec![(self, value)] };
        let of_node = |object| Value::Pointer(Pointer { object, end: End::First, ..pointer });
        let link = match self.object(pointer.object).kind {
            Kind::Single | Kind::Dead => return vec![(self, value)],
            Kind::Crowd => {
                let mut graph = self;
                let node = graph.take_out(pointer.object);
                return vec![(graph, of_node(node))];
            }
            Kind::Segment(link) => link,
        };
        let Some(rows) = self.object(pointer.object).rows.clone() else {
            let (mut one, mut more) = (self.clone(), self);
            one.end_segment(pointer.object);
            let node = more.cut(pointer.object, link, pointer.end);
            return vec![(one, of_node(pointer.object)), (more, of_node(node))];
        };
        let mut cases = Vec::new();
        for letter in rows.at(pointer.end) {
            if rows.is_word(letter) {
                let mut one = self.clone();
                one.end_segment(pointer.object);
                one.hold(pointer.object, rows.letter(letter));
                cases.push((one, of_node(pointer.object)));
            }
            if let Some(rest) = rows.without(letter, pointer.end) {
                let mut more = self.clone();
                let node = more.cut(pointer.object, link, pointer.end);
                more.hold(node, rows.letter(letter));
                more.set_rows(pointer.object, rest);
                cases.push((more, of_node(node)));
            }
        }
        cases
    }

    /// A segment has only one node.
    pub(crate) fn end_segment(&mut self, segment: ObjectId) {
        let parts = self.parts(segment);
        let (object, copies) = self.own(segment);
        for part in parts {
            self.objects.remove(&part);
        }
        *self.object_mut(segment) = Object { kind: Kind::Single, ..object };
        self.own_node(segment, segment, copies);
        self.redirect(segment, End::Last, segment, End::First);
    }

    /// A segment has at least two nodes: the first or the last one becomes an object of its own.
    fn cut(&mut self, segment: ObjectId, link: Link, end: End) -> ObjectId {
        let (node, copies) = self.own(segment);
        let node = self.make(Object { kind: Kind::Single, ..node });
        self.own_node(segment, node, copies);
        // What pointed to that end, also from the segment itself and its copy, points to the node.
        self.redirect(segment, end, node, End::First);
        let mut set = |from: ObjectId, (offset, to): (u64, i64), object: ObjectId, end: End| {
            let cell = Cell {
                bytes: self.object(segment).width(offset),
                value: Value::Pointer(Pointer { object, end, offset: to }),
                each: false,
            };
            self.object_mut(from).store(offset, cell);
        };
        match end {
            End::First | End::Own => {
                set(node, link.next, segment, End::First);
                if let Some(prev) = link.prev {
                    set(segment, prev, node, End::First);
                }
            }
            End::Last => {
                set(segment, link.next, node, End::First);
                if let Some(prev) = link.prev {
                    set(node, prev, segment, End::Last);
                }
            }
        }
        node
    }

    /// In a node of a segment, and in what belongs to it, what pointed to the node itself points to this one.
    fn own_node(&mut self, segment: ObjectId, node: ObjectId, mut parts: Vec<ObjectId>) {
        parts.push(node);
        self.replace_in(parts, |value| match value {
            Value::Pointer(pointer) if pointer.object == segment && pointer.end == End::Own => {
                Value::Pointer(Pointer { object: node, end: End::First, ..pointer })
            }
            Value::Pointer(_) | Value::Int(_) | Value::Unknown(_) => value,
        });
    }

    /// A copy of a segment in which what each node has of its own are new unknown numbers and objects; with these.
    fn own(&mut self, id: ObjectId) -> (Object, Vec<ObjectId>) {
        let mut object = Object { rows: None, ..self.renewed(id, false) };
        let copies = self.copy_parts(id, &mut object);
        (object, copies)
    }

    /// A copy of an object in which the numbers of each node are new ones, of each node of the copy if it stands for several.
    pub(crate) fn renewed(&mut self, id: ObjectId, each: bool) -> Object {
        let mut object = self.object(id).clone();
        let mut copies = BTreeMap::new();
        for cell in object.cells.values_mut().filter(|cell| cell.each) {
            if let Value::Unknown(symbol) = cell.value {
                let range = self.range(symbol).clone();
                cell.value = self.unknown(range);
                if let Value::Unknown(copy) = cell.value {
                    copies.insert(symbol, copy);
                }
            }
            cell.each = each;
        }
        self.copy_order(&copies);
        object
    }

    /// Pointers to an end of an object point to an end of another one.
    pub(crate) fn redirect(&mut self, from: ObjectId, end: End, to: ObjectId, new: End) {
        self.replace(|value| match value {
            Value::Pointer(pointer) if pointer.object == from && pointer.end == end => {
                Value::Pointer(Pointer { object: to, end: new, ..pointer })
            }
            Value::Pointer(_) | Value::Int(_) | Value::Unknown(_) => value,
        });
    }
}
