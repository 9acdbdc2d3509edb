// SPDX-License-Identifier: Apache-2.0
//! Whether a graph stands for everything that another one stands for.
//!
//! That is so if its objects can be mapped to different objects of the other one, and its unknown numbers to values there,
//! so that whatever it says holds there. A crowd is mapped to any number of objects.

use std::collections::{BTreeMap, BTreeSet};

use crate::crowd::Choice;
use crate::graph::{Cell, Graph, Kind, Object, ObjectId, Pointer, Symbol, Value};
use crate::range::Range;

impl Graph {
    /// Whether the graph stands for everything that `lesser` stands for; false may also mean that this was not found out.
    pub(crate) fn covers(&self, lesser: &Graph) -> bool {
        let mut mapping = Mapping::new(self, lesser);
        let fixed = self.objects.keys().filter(|id| matches!(id, ObjectId::Fixed(_)));
        self.vars.iter().all(|(var, &value)| lesser.vars.get(var).is_some_and(|&other| mapping.value(value, other)))
            && fixed.into_iter().all(|&id| mapping.object(id, id))
            && mapping.contents()
            && mapping.order()
    }
}

struct Mapping<'a> {
    greater: &'a Graph,
    lesser: &'a Graph,
    objects: BTreeMap<ObjectId, ObjectId>,
    /// By objects of the lesser graph, which one is mapped to it.
    taken: BTreeMap<ObjectId, ObjectId>,
    symbols: BTreeMap<Symbol, Value>,
    /// Pairs of objects whose cells have not been compared.
    open: Vec<(ObjectId, ObjectId)>,
}

impl<'a> Mapping<'a> {
    fn new(greater: &'a Graph, lesser: &'a Graph) -> Self {
        Self {
            greater,
            lesser,
            objects: BTreeMap::new(),
            taken: BTreeMap::new(),
            symbols: BTreeMap::new(),
            open: Vec::new(),
        }
    }

    /// One value stands for the other.
    fn value(&mut self, greater: Value, lesser: Value) -> bool {
        match (greater, lesser) {
            (Value::Int(greater), Value::Int(lesser)) => greater == lesser,
            (Value::Pointer(greater), Value::Pointer(lesser)) => self.pointer(greater, lesser),
            (Value::Unknown(symbol), _) => {
                if let Some(&known) = self.symbols.get(&symbol) {
                    return known == lesser;
                }
                self.symbols.insert(symbol, lesser);
                self.lesser.numbers(lesser).is_some_and(|numbers| self.greater.range(symbol).includes(&numbers))
            }
            (Value::Int(_) | Value::Pointer(_), _) => false,
        }
    }

    fn pointer(&mut self, greater: Pointer, lesser: Pointer) -> bool {
        // Of a single node, the first is the last one; of a crowd, it is any one.
        let any_end = self.lesser.object(lesser.object).kind == Kind::Single || self.is_crowd(greater.object);
        greater.offset == lesser.offset
            && (greater.end == lesser.end || any_end)
            && self.object(greater.object, lesser.object)
    }

    fn is_crowd(&self, greater: ObjectId) -> bool {
        self.greater.objects.get(&greater).is_some_and(|object| object.kind == Kind::Crowd)
    }

    fn object(&mut self, greater: ObjectId, lesser: ObjectId) -> bool {
        if let Some(&known) = self.taken.get(&lesser) {
            return known == greater;
        }
        let is_other = !self.is_crowd(greater) && self.objects.contains_key(&greater);
        if is_other || matches!(greater, ObjectId::Fixed(_)) != matches!(lesser, ObjectId::Fixed(_)) {
            return false;
        }
        self.taken.insert(lesser, greater);
        self.objects.insert(greater, lesser);
        self.open.push((greater, lesser));
        true
    }

    /// The contents of all objects that were mapped, and of those that they point to.
    fn contents(&mut self) -> bool {
        while let Some((greater, lesser)) = self.open.pop() {
            let (Some(one), Some(other)) = (self.greater.objects.get(&greater), self.lesser.objects.get(&lesser))
            else {
                return false;
            };
            let is_same = self.kinds(one, other) && self.owners(one, other) && one.size == other.size;
            if !is_same || !self.cells(one, other) || !self.rows(one, other) || !self.choices(one, lesser) {
                return false;
            }
        }
        true
    }

    /// What is known of how numbers compare holds of those that they are mapped to.
    fn order(&self) -> bool {
        self.greater.order.iter().all(|((left, right), by)| match (self.symbols.get(left), self.symbols.get(right)) {
            (Some(&left), Some(&right)) => self.lesser.at_most(left, *by, right),
            (_, _) => false,
        }) && self.greater.unequal.iter().all(|(left, right)| {
            let numbers = self.symbols.get(left).zip(self.symbols.get(right));
            numbers.is_some_and(|(&left, &right)| self.lesser.differ(left, right))
        })
    }

    fn kinds(&self, greater: &Object, lesser: &Object) -> bool {
        match greater.kind {
            Kind::Single | Kind::Dead => lesser.kind == greater.kind,
            // A single node is a segment of one node.
            Kind::Segment(_) => lesser.kind == greater.kind || lesser.kind == Kind::Single,
            Kind::Crowd => lesser.kind != Kind::Dead,
        }
    }

    /// What each node has of its own stands for what each node has, or a single one.
    fn owners(&self, greater: &Object, lesser: &Object) -> bool {
        let Some(owner) = greater.owner else { return lesser.owner.is_none() || greater.kind == Kind::Crowd };
        self.objects.get(&owner).is_some_and(|owner| match lesser.owner {
            Some(other) => other == *owner,
            None => {
                let owner = self.lesser.object(*owner);
                owner.kind == Kind::Single && owner.owner.is_none()
            }
        })
    }

    /// Each word is one that the greater one allows.
    fn rows(&self, greater: &Object, lesser: &Object) -> bool {
        let Some(rows) = &greater.rows else { return true };
        // Bytes that are zero hold numbers, too.
        let mut lesser = lesser.clone();
        for (offset, bytes) in rows.offsets() {
            if let Some(cell) = lesser.load(offset, bytes) {
                lesser.cells.insert(offset, cell);
            }
        }
        rows.include(&self.lesser.rows(&lesser, &BTreeSet::new()))
    }

    /// Each choice is one between all that the bytes may be.
    fn choices(&mut self, greater: &Object, lesser: ObjectId) -> bool {
        greater.choices.iter().all(|(&offset, choice)| {
            let other = if greater.is_segment() {
                self.lesser.choice_of_end(lesser, offset, choice.bytes)
            } else {
                self.lesser.choice(lesser, offset, choice.bytes)
            };
            other.is_some_and(|other| self.includes(choice, &other))
        })
    }

    fn includes(&mut self, greater: &Choice, lesser: &Choice) -> bool {
        let numbers = |range: &Range| greater.numbers.as_ref().is_some_and(|numbers| numbers.includes(range));
        lesser.numbers.as_ref().is_none_or(numbers)
            && lesser.pointers.iter().all(|&pointer| {
                // An object mostly keeps its name, and a crowd has room for all that were made where its nodes were.
                let site = |graph: &Graph, id| graph.objects.get(&id).and_then(|object| object.site);
                let mut all: Vec<Pointer> = greater.pointers.iter().copied().collect();
                all.sort_by_key(|to| {
                    let alike = site(self.greater, to.object) == site(self.lesser, pointer.object);
                    (to.object != pointer.object, !(alike && self.is_crowd(to.object)))
                });
                all.into_iter().any(|to| self.pointer(to, pointer))
            })
    }

    fn cells(&mut self, greater: &Object, lesser: &Object) -> bool {
        greater
            .cells
            .iter()
            .all(|(&offset, cell)| lesser.load(offset, cell.bytes).is_some_and(|other| self.cell(*cell, other)))
            && greater.zeros.iter().all(|&(from, to)| {
                let zero = Cell { bytes: to - from, value: Value::Int(0), each: false };
                lesser.load(from, to - from) == Some(zero)
            })
    }

    fn cell(&mut self, greater: Cell, lesser: Cell) -> bool {
        if !greater.each {
            return !lesser.each && self.value(greater.value, lesser.value);
        }
        let Value::Unknown(symbol) = greater.value else { return false };
        self.symbols.insert(symbol, lesser.value);
        self.lesser.numbers(lesser.value).is_some_and(|numbers| self.greater.range(symbol).includes(&numbers))
    }
}
