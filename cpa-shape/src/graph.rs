// SPDX-License-Identifier: Apache-2.0
//! Symbolic memory graphs: variables, objects with cells, and what is known about unknown numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use cfa::{EdgeId, IntTy, VarId};

use crate::crowd::Choice;
use crate::range::{Range, types};
use crate::rows::Rows;

/// An object in memory, or a segment of a list, of one graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum ObjectId {
    /// An object with a fixed address, by its position in the program.
    Fixed(u32),
    /// An object that was made by the program.
    Made(u32),
}

/// An integer that is not known, the same wherever it stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Symbol(pub(crate) u32);

/// Which node of a segment is meant. Of a single object it is always the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum End {
    First,
    Last,
    /// In a segment, and in what belongs to it: the node itself, or the one that it belongs to.
    Own,
}

/// An address relative to an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Pointer {
    pub(crate) object: ObjectId,
    pub(crate) end: End,
    /// In bytes from the begin of the node; may be outside of it.
    pub(crate) offset: i64,
}

/// What a variable or a cell holds, as an integer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Value {
    Int(i128),
    Unknown(Symbol),
    Pointer(Pointer),
}

/// How the nodes of a segment are linked: from each to the next one, and maybe back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Link {
    /// The cell that holds the address in the next node: its offset, and the offset that it points to.
    pub(crate) next: (u64, i64),
    /// The same for the node before.
    pub(crate) prev: Option<(u64, i64)>,
}

impl Link {
    /// Where the links of a node stand.
    pub(crate) fn offsets(self) -> impl Iterator<Item = u64> {
        [Some(self.next), self.prev].into_iter().flatten().map(|(offset, _)| offset)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Kind {
    /// One object.
    Single,
    /// One object whose life has ended; it has no cells.
    Dead,
    /// A chain of one or more objects with the same cells, but for the links: in the segment stand the link of the last node
    /// to what follows and the link of the first one to what comes before.
    Segment(Link),
    /// Any number of objects, with choices instead of cells. A pointer to it leads to some node of it. The life of a node may
    /// have ended; what it holds stays what it was.
    Crowd,
}

/// Bytes that are read and written together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Cell {
    pub(crate) bytes: u64,
    pub(crate) value: Value,
    /// In a segment and what belongs to one: the nodes have values of their own in the range of the symbol, which stands nowhere
    /// else.
    pub(crate) each: bool,
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    /// Where it was made, if all its nodes were made at one place.
    pub(crate) site: Option<EdgeId>,
    /// Whose nodes have one each of these objects or segments, if it stands for so many.
    pub(crate) owner: Option<ObjectId>,
    /// By offset; they do not overlap.
    pub(crate) cells: BTreeMap<u64, Cell>,
    /// By offset: what each node may hold in bytes without cells.
    pub(crate) choices: BTreeMap<u64, Choice>,
    /// Bytes without cells and choices that are zero: from, to before; sorted, disjoint.
    pub(crate) zeros: Vec<(u64, u64)>,
    /// In a segment: which numbers nodes hold together, and in which order, if more is known than its cells say.
    pub(crate) rows: Option<Rows>,
}

impl Object {
    pub(crate) fn new(size: u64, site: Option<EdgeId>) -> Self {
        let (cells, choices, zeros) = Default::default();
        Self { kind: Kind::Single, size, site, owner: None, cells, choices, zeros, rows: None }
    }

    pub(crate) fn is_segment(&self) -> bool {
        matches!(self.kind, Kind::Segment(_))
    }

    /// The offsets of the cells and choices that share a byte with the given ones.
    fn overlapping(&self, offset: u64, end: u64) -> Vec<u64> {
        let from = offset.saturating_sub(15);
        let cells = self.cells.range(from..end).map(|(&start, cell)| (start, cell.bytes));
        let choices = self.choices.range(from..end).map(|(&start, choice)| (start, choice.bytes));
        cells.chain(choices).filter(|&(start, bytes)| start + bytes > offset).map(|(start, _)| start).collect()
    }

    /// Nothing is known about bytes any more.
    pub(crate) fn forget(&mut self, offset: u64, bytes: u64) {
        let end = offset + bytes;
        for start in self.overlapping(offset, end) {
            self.cells.remove(&start);
            self.choices.remove(&start);
        }
        let parts = self.zeros.iter().flat_map(|&(from, to)| [(from, to.min(offset)), (from.max(end), to)]);
        self.zeros = parts.filter(|(from, to)| from < to).collect();
    }

    /// Bytes are zero.
    pub(crate) fn zero(&mut self, offset: u64, bytes: u64) {
        self.forget(offset, bytes);
        if bytes > 0 {
            self.zeros.push((offset, offset + bytes));
            self.zeros.sort_unstable();
        }
    }

    pub(crate) fn store(&mut self, offset: u64, cell: Cell) {
        self.forget(offset, cell.bytes);
        self.cells.insert(offset, cell);
    }

    /// What is known about bytes: the cell that is made of exactly these.
    pub(crate) fn load(&self, offset: u64, bytes: u64) -> Option<Cell> {
        if let Some(cell) = self.cells.get(&offset)
            && cell.bytes == bytes
        {
            return Some(*cell);
        }
        let end = offset + bytes;
        let mut at = offset;
        // Neighbouring ranges may have been zeroed one after the other.
        for &(from, to) in &self.zeros {
            if from <= at && at < to {
                at = to;
            }
        }
        (at >= end).then_some(Cell { bytes, value: Value::Int(0), each: false })
    }

    /// How many bytes a link of a segment has.
    pub(crate) fn width(&self, offset: u64) -> u64 {
        let cell = self.cells.get(&offset).map(|cell| cell.bytes);
        let choice = || self.choices.get(&offset).map(|choice| choice.bytes);
        cell.or_else(choice).expect("segments know their links")
    }

    /// Zeros become cells where another object has cells.
    pub(crate) fn fill_zeros(&mut self, other: &Object) {
        for (&offset, cell) in &other.cells {
            if !self.cells.contains_key(&offset)
                && let Some(zero) = self.load(offset, cell.bytes)
            {
                self.store(offset, zero);
            }
        }
    }

    /// The ranges of bytes that are zero here and in another object.
    pub(crate) fn common_zeros(&self, other: &Object) -> Vec<(u64, u64)> {
        let both = self
            .zeros
            .iter()
            .flat_map(|&(from, to)| other.zeros.iter().map(move |&(start, end)| (from.max(start), to.min(end))));
        both.filter(|(from, to)| from < to).collect()
    }

    /// Whether no cell and no choice shares a byte with the given ones.
    pub(crate) fn is_free(&self, offset: u64, bytes: u64) -> bool {
        self.overlapping(offset, offset + bytes).is_empty()
    }
}

/// A symbolic memory graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Graph {
    /// The values of variables; of others nothing is known.
    pub(crate) vars: BTreeMap<VarId, Value>,
    /// The objects that something is known about; about the contents of other objects with fixed addresses nothing is.
    pub(crate) objects: BTreeMap<ObjectId, Rc<Object>>,
    /// Unknown numbers.
    pub(crate) symbols: BTreeMap<Symbol, Rc<Range>>,
    /// Pairs of unknown numbers with how much greater the second one is at least than the first one, which is negative if it may
    /// be less; with two pairs that meet, the third one mostly is there, too.
    pub(crate) order: BTreeMap<(Symbol, Symbol), i128>,
    /// Pairs of unknown numbers that are different; the smaller symbol stands first.
    pub(crate) unequal: BTreeSet<(Symbol, Symbol)>,
    /// The next number for objects and symbols.
    pub(crate) next: u32,
}

impl Graph {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// A new unknown number.
    pub(crate) fn unknown(&mut self, range: Range) -> Value {
        if let Some(value) = range.value() {
            return Value::Int(value);
        }
        let symbol = Symbol(self.number());
        self.symbols.insert(symbol, Rc::new(range));
        Value::Unknown(symbol)
    }

    /// A new object.
    pub(crate) fn make(&mut self, object: Object) -> ObjectId {
        let id = ObjectId::Made(self.number());
        self.objects.insert(id, Rc::new(object));
        id
    }

    pub(crate) fn object(&self, id: ObjectId) -> &Object {
        &self.objects[&id]
    }

    pub(crate) fn object_mut(&mut self, id: ObjectId) -> &mut Object {
        Rc::make_mut(self.objects.get_mut(&id).expect("pointers lead to objects of the graph"))
    }

    pub(crate) fn range(&self, symbol: Symbol) -> &Range {
        &self.symbols[&symbol]
    }

    /// The numbers that a value may be; none for addresses.
    pub(crate) fn numbers(&self, value: Value) -> Option<Range> {
        match value {
            Value::Int(value) => Some(Range::point(value)),
            Value::Unknown(symbol) => Some(self.range(symbol).clone()),
            Value::Pointer(_) => None,
        }
    }

    /// A value takes the place of another one everywhere.
    pub(crate) fn replace(&mut self, mut change: impl FnMut(Value) -> Value) {
        for value in self.vars.values_mut() {
            *value = change(*value);
        }
        let ids: Vec<ObjectId> = self.objects.keys().copied().collect();
        self.replace_in(ids, change);
    }

    /// A value takes the place of another one in some objects.
    pub(crate) fn replace_in(&mut self, ids: Vec<ObjectId>, mut change: impl FnMut(Value) -> Value) {
        for id in ids {
            let Some(object) = self.objects.get_mut(&id) else { continue };
            let pointers = object.choices.values().flat_map(|choice| &choice.pointers).map(|to| Value::Pointer(*to));
            let mut values = object.cells.values().map(|cell| cell.value).chain(pointers);
            if values.any(|value| change(value) != value) {
                let object = Rc::make_mut(object);
                for cell in object.cells.values_mut() {
                    cell.value = change(cell.value);
                }
                for choice in object.choices.values_mut() {
                    choice.change(&mut change);
                }
            }
        }
    }

    /// An unknown number is this value.
    pub(crate) fn substitute(&mut self, symbol: Symbol, value: Value) {
        self.symbols.remove(&symbol);
        self.replace_in_order(symbol, value);
        self.replace(|old| if old == Value::Unknown(symbol) { value } else { old });
    }

    /// The range of an unknown number becomes smaller.
    pub(crate) fn restrict(&mut self, symbol: Symbol, range: Range) {
        match range.value() {
            Some(value) => self.substitute(symbol, Value::Int(value)),
            None => {
                self.symbols.insert(symbol, Rc::new(range));
            }
        }
    }

    /// Drops objects that no pointer leads to from variables and objects with fixed addresses, and numbers of which nothing
    /// is known; `ty` gives the type of a variable.
    pub(crate) fn collect(&mut self, ty: impl Fn(VarId) -> IntTy) {
        let mut reached = BTreeSet::new();
        let mut open: Vec<ObjectId> = self.vars.values().filter_map(target).collect();
        open.extend(self.objects.keys().filter(|id| matches!(id, ObjectId::Fixed(_))));
        while let Some(id) = open.pop() {
            if reached.insert(id) {
                open.extend(self.object(id).cells.values().filter_map(|cell| target(&cell.value)));
                open.extend(self.object(id).choices.values().flat_map(|choice| &choice.pointers).map(|to| to.object));
            }
        }
        self.objects.retain(|id, _| reached.contains(id));
        let mut uses: BTreeMap<Symbol, u32> = BTreeMap::new();
        let cells = self.objects.values().flat_map(|object| object.cells.values().map(|cell| cell.value));
        for value in self.vars.values().copied().chain(cells) {
            if let Value::Unknown(symbol) = value {
                *uses.entry(symbol).or_default() += 1;
            }
        }
        self.order.retain(|(left, right), _| uses.contains_key(left) && uses.contains_key(right));
        self.unequal.retain(|(left, right)| uses.contains_key(left) && uses.contains_key(right));
        let compared = self.compared();
        let symbols = &self.symbols;
        let says_nothing = |value: Value, types: &[IntTy]| match value {
            Value::Unknown(symbol) if uses[&symbol] == 1 && !compared.contains(&symbol) => {
                types.iter().any(|&ty| symbols[&symbol].includes(&Range::of(ty)))
            }
            Value::Unknown(_) | Value::Int(_) | Value::Pointer(_) => false,
        };
        self.vars.retain(|&var, value| !says_nothing(*value, &[ty(var)]));
        for object in self.objects.values_mut() {
            let says_nothing = |cell: &Cell| says_nothing(cell.value, &types(cell.bytes));
            if object.cells.values().any(says_nothing) {
                Rc::make_mut(object).cells.retain(|_, cell| !says_nothing(cell));
            }
            if object.choices.values().any(Choice::says_nothing) {
                Rc::make_mut(object).choices.retain(|_, choice| !choice.says_nothing());
            }
        }
        self.symbols.retain(|symbol, _| uses.contains_key(symbol));
    }
}

/// The object that a value points to or into.
pub(crate) fn target(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Pointer(pointer) => Some(pointer.object),
        Value::Int(_) | Value::Unknown(_) => None,
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Unknown(Symbol(number)) => write!(f, "?{number}"),
            Value::Pointer(Pointer { object, end, offset }) => {
                let end = match end {
                    End::First => "",
                    End::Last => " last",
                    End::Own => " own",
                };
                match object {
                    ObjectId::Fixed(number) => write!(f, "&fixed {number}{end}{offset:+}"),
                    ObjectId::Made(number) => write!(f, "&{number}{end}{offset:+}"),
                }
            }
        }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (var, value)) in self.vars.iter().enumerate() {
            write!(f, "{}{var:?} = {value}", if index > 0 { ", " } else { "" })?;
        }
        for (id, object) in &self.objects {
            let kind = match object.kind {
                Kind::Single => "object",
                Kind::Dead => "dead",
                Kind::Segment(_) => "segment",
                Kind::Crowd => "crowd",
            };
            match id {
                ObjectId::Fixed(number) => write!(f, "; fixed {number}:")?,
                ObjectId::Made(number) => write!(f, "; {kind} {number}:")?,
            }
            if let Some(ObjectId::Made(owner)) = object.owner {
                write!(f, " of each of {owner}:")?;
            }
            for (offset, cell) in &object.cells {
                write!(f, " +{offset} {}{}", if cell.each { "each " } else { "" }, cell.value)?;
            }
            for (offset, choice) in &object.choices {
                write!(f, " +{offset} {choice}")?;
            }
            if let Some(rows) = &object.rows {
                write!(f, "{rows}")?;
            }
        }
        self.symbols.iter().try_for_each(|(Symbol(number), range)| write!(f, "; ?{number} in {range}"))?;
        self.order
            .iter()
            .try_for_each(|((Symbol(left), Symbol(right)), by)| write!(f, "; ?{left} + {by} <= ?{right}"))?;
        self.unequal.iter().try_for_each(|(Symbol(left), Symbol(right))| write!(f, "; ?{left} != ?{right}"))
    }
}
