// SPDX-License-Identifier: Apache-2.0
//! How much greater some unknown numbers are at least than others, and which ones are different.
//!
//! A number that each node of a segment has of its own stands for those of all nodes; two such numbers of one segment are
//! compared node by node.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::graph::{Cell, Graph, Kind, Object, ObjectId, Symbol, Value};
use crate::range::{Range, types};

/// More pairs than this are not kept.
const PAIRS: usize = 64;

impl Graph {
    /// By how much the second of two numbers is at least greater than the first one; negative if it may be less.
    pub(crate) fn distance(&self, left: Value, right: Value) -> Option<i128> {
        if left == right && !matches!(left, Value::Pointer(_)) {
            return Some(0);
        }
        let of_ranges = match (self.bounds(left), self.bounds(right)) {
            (Some((_, high)), Some((low, _))) => Some(low - high),
            (_, _) => None,
        };
        let known = match (left, right) {
            (Value::Unknown(left), Value::Unknown(right)) => self.order.get(&(left, right)).copied(),
            (_, _) => None,
        };
        known.max(of_ranges)
    }

    /// Whether a value plus a number is at most another value.
    pub(crate) fn at_most(&self, left: Value, by: i128, right: Value) -> bool {
        self.distance(left, right).is_some_and(|distance| distance >= by)
    }

    fn bounds(&self, value: Value) -> Option<(i128, i128)> {
        match value {
            Value::Int(value) => Some((value, value)),
            Value::Unknown(symbol) => Some((self.range(symbol).low(), self.range(symbol).high())),
            Value::Pointer(_) => None,
        }
    }

    /// A number plus another one is at most a third one; and so is what is known of the numbers below and above.
    pub(crate) fn learn_at_most(&mut self, left: Symbol, by: i128, right: Symbol) {
        let known = self.order.get(&(left, right));
        if left == right || known.is_some_and(|known| *known >= by) || self.order.len() >= PAIRS {
            return;
        }
        let below = self.order.iter().filter(|(pair, _)| pair.1 == left).map(|(pair, by)| (pair.0, *by));
        let below: Vec<(Symbol, i128)> = below.chain([(left, 0)]).collect();
        let above = self.order.iter().filter(|(pair, _)| pair.0 == right).map(|(pair, by)| (pair.1, *by));
        let above: Vec<(Symbol, i128)> = above.chain([(right, 0)]).collect();
        for &(left, less) in &below {
            for &(right, more) in &above {
                if left != right {
                    let distance = self.order.entry((left, right)).or_insert(i128::MIN);
                    *distance = (*distance).max(less + by + more);
                }
            }
        }
    }

    /// Whether two numbers are certainly different.
    pub(crate) fn differ(&self, left: Value, right: Value) -> bool {
        let apart = || match (self.numbers(left), self.numbers(right)) {
            (Some(left), Some(right)) => left.meet(&right).is_none(),
            (_, _) => false,
        };
        let known = match (left, right) {
            (Value::Unknown(left), Value::Unknown(right)) => self.unequal.contains(&sorted(left, right)),
            (_, _) => false,
        };
        known || self.at_most(left, 1, right) || self.at_most(right, 1, left) || apart()
    }

    /// Two numbers are different.
    pub(crate) fn learn_unequal(&mut self, left: Symbol, right: Symbol) {
        if left != right && self.unequal.len() < PAIRS {
            self.unequal.insert(sorted(left, right));
        }
    }

    fn replace_in_unequal(&mut self, symbol: Symbol, value: Value) {
        let (of_symbol, rest): (BTreeSet<_>, BTreeSet<_>) =
            std::mem::take(&mut self.unequal).into_iter().partition(|pair| pair.0 == symbol || pair.1 == symbol);
        self.unequal = rest;
        for (left, right) in of_symbol {
            let other = if left == symbol { right } else { left };
            match value {
                Value::Unknown(new) => self.learn_unequal(new, other),
                Value::Int(number) => {
                    let range = self.symbols.get(&other).and_then(|range| range.without(number));
                    // As where it is bounded by what it is compared with.
                    if let Some(range) = range.map(|range| range.filled()).filter(|range| range.value().is_none()) {
                        self.symbols.insert(other, Rc::new(range));
                    }
                }
                Value::Pointer(_) => {}
            }
        }
    }

    /// A number turns out to be a value: what is compared with it is compared with that.
    pub(crate) fn replace_in_order(&mut self, symbol: Symbol, value: Value) {
        if !self.is_compared(symbol) {
            return;
        }
        self.replace_in_unequal(symbol, value);
        let (of_symbol, rest) =
            std::mem::take(&mut self.order).into_iter().partition(|(pair, _)| pair.0 == symbol || pair.1 == symbol);
        self.order = rest;
        let of_symbol: BTreeMap<(Symbol, Symbol), i128> = of_symbol;
        for ((left, right), by) in of_symbol {
            match value {
                Value::Unknown(new) => {
                    let change = |old: Symbol| if old == symbol { new } else { old };
                    self.learn_at_most(change(left), by, change(right));
                }
                Value::Int(number) => {
                    let (other, bound) = if left == symbol {
                        (right, Range::between(number + by, i128::MAX))
                    } else {
                        (left, Range::between(i128::MIN, number - by))
                    };
                    let known = self.symbols.get(&other).cloned();
                    // That one number or none is left is for others to find out: no other symbol may go here.
                    if let (Some(known), Some(bound)) = (known, bound)
                        && let Some(range) = known.meet(&bound).filter(|range| range.value().is_none())
                    {
                        self.symbols.insert(other, Rc::new(range));
                    }
                }
                Value::Pointer(_) => {}
            }
        }
    }

    /// Whether something is known of how a number compares with others.
    pub(crate) fn is_compared(&self, symbol: Symbol) -> bool {
        self.order.keys().chain(&self.unequal).any(|&(left, right)| left == symbol || right == symbol)
    }

    /// The numbers of which that is so.
    pub(crate) fn compared(&self) -> BTreeSet<Symbol> {
        self.order.keys().chain(&self.unequal).flat_map(|&(left, right)| [left, right]).collect()
    }

    /// Numbers of a node that is taken out of a segment compare as those of all nodes did; each with those of the same node.
    pub(crate) fn copy_order(&mut self, copies: &BTreeMap<Symbol, Symbol>) {
        let copied: Vec<((Symbol, Symbol), i128)> = self
            .order
            .iter()
            .filter(|((left, right), _)| copies.contains_key(left) || copies.contains_key(right))
            .map(|((left, right), by)| ((*copies.get(left).unwrap_or(left), *copies.get(right).unwrap_or(right)), *by))
            .collect();
        if self.order.len() + copied.len() <= PAIRS {
            self.order.extend(copied);
        }
        for (left, right) in self.unequal.clone() {
            let copy = |symbol| *copies.get(&symbol).unwrap_or(&symbol);
            self.learn_unequal(copy(left), copy(right));
        }
    }

    /// Pairs that are about numbers in made objects stay, unless their ranges say the same. Distances are rounded down to one of
    /// some numbers, so that they do not go on changing. What is only known to be different is forgotten if that is not `apart`.
    pub(crate) fn keep_order_of_objects(&mut self, distances: &[i128], apart: bool) {
        let made = self.objects.iter().filter(|(id, _)| matches!(id, ObjectId::Made(_)));
        let values = made.flat_map(|(_, object)| object.cells.values().map(|cell| cell.value));
        let stored: BTreeSet<Symbol> = values.filter_map(symbol).collect();
        let symbols = &self.symbols;
        self.order.retain(|(left, right), by| {
            let rounded = distances.iter().rev().find(|distance| **distance <= *by);
            *by = rounded.copied().unwrap_or(i128::MIN);
            rounded.is_some()
                && (stored.contains(left) || stored.contains(right))
                && symbols[right].low() - symbols[left].high() < *by
        });
        self.unequal.retain(|(left, right)| {
            apart && (stored.contains(left) || stored.contains(right)) && symbols[left].meet(&symbols[right]).is_some()
        });
    }

    /// What the numbers of two parts of a segment, which they have become, have in common.
    pub(crate) fn order_of_parts(&mut self, segment: ObjectId, parts: [&Object; 2]) {
        let Kind::Segment(link) = self.object(segment).kind else { return };
        let links: BTreeSet<u64> = link.offsets().collect();
        let related = self.compared();
        let is_related = |value: Value| symbol(value).is_some_and(|symbol| related.contains(&symbol));
        let offsets: BTreeMap<u64, u64> = parts
            .iter()
            .flat_map(|part| &part.cells)
            .filter(|(at, _)| !links.contains(at))
            .map(|(&at, cell)| (at, cell.bytes))
            .collect();
        let mut numbers: BTreeMap<u64, (u64, [Value; 2])> = BTreeMap::new();
        for (&at, &bytes) in &offsets {
            let values = parts.map(|part| part.load(at, bytes).map(|cell| cell.value));
            let values = match values {
                [Some(one), Some(other)] => [one, other],
                // Where nothing is known, there is some number of the type.
                [Some(one), None] if is_related(one) => [one, self.any_like(one, bytes)],
                [None, Some(other)] if is_related(other) => [self.any_like(other, bytes), other],
                _ => continue,
            };
            if values.into_iter().all(|value| self.numbers(value).is_some()) {
                numbers.insert(at, (bytes, values));
            }
        }
        let own: BTreeSet<Symbol> = parts
            .iter()
            .flat_map(|part| part.cells.values())
            .filter(|cell| cell.each)
            .filter_map(|cell| symbol(cell.value))
            .collect();
        let others: Vec<Symbol> = related.difference(&own).copied().collect();
        // The least of the distances in both parts.
        let least = |pairs: [(Value, Value); 2]| {
            let [one, other] = pairs.map(|(left, right)| self.distance(left, right));
            Some(one?.min(other?))
        };
        let mut facts = Vec::new();
        let mut unequal = Vec::new();
        for (&at, &(_, values)) in &numbers {
            for &other in &others {
                let other_value = Value::Unknown(other);
                if values.into_iter().all(|value| self.differ(value, other_value)) {
                    unequal.push((Place::Node(at), Place::Other(other)));
                }
                let by = least(values.map(|value| (value, other_value)));
                facts.extend(by.map(|by| (Place::Node(at), by, Place::Other(other))));
                let by = least(values.map(|value| (other_value, value)));
                facts.extend(by.map(|by| (Place::Other(other), by, Place::Node(at))));
            }
            for (&next, &(_, nexts)) in numbers.iter().filter(|(next, _)| **next != at) {
                if at < next && (0..2).all(|part| self.differ(values[part], nexts[part])) {
                    unequal.push((Place::Node(at), Place::Node(next)));
                }
                let by = least([(values[0], nexts[0]), (values[1], nexts[1])]);
                facts.extend(by.map(|by| (Place::Node(at), by, Place::Node(next))));
            }
        }
        // What the ranges of both parts say together need not be said.
        let hull = |values: [Value; 2]| {
            let [one, other] = values.map(|value| self.bounds(value));
            Some((one?.0.min(other?.0), one?.1.max(other?.1)))
        };
        let of_place = |place: Place| match place {
            Place::Other(symbol) => self.bounds(Value::Unknown(symbol)),
            Place::Node(at) => hull(numbers[&at].1),
        };
        facts.retain(|&(left, by, right)| match (of_place(left), of_place(right)) {
            (Some((_, high)), Some((low, _))) => low - high < by,
            (_, _) => false,
        });
        let numbers_of = |graph: &mut Self, places: [Place; 2]| {
            let symbols = places.map(|place| match place {
                Place::Other(symbol) => Some(symbol),
                Place::Node(at) => graph.of_each_node(segment, at, numbers[&at]),
            });
            let [left, right] = symbols;
            left.zip(right).filter(|(left, right)| left != right)
        };
        for (left, by, right) in facts {
            if let Some((left, right)) = numbers_of(self, [left, right])
                && self.order.len() < PAIRS
                && self.symbols[&right].low() - self.symbols[&left].high() < by
            {
                self.order.insert((left, right), by);
            }
        }
        for (left, right) in unequal {
            if let Some((left, right)) = numbers_of(self, [left, right])
                && !self.differ(Value::Unknown(left), Value::Unknown(right))
            {
                self.learn_unequal(left, right);
            }
        }
    }

    /// Any number of the type of another one.
    fn any_like(&mut self, value: Value, bytes: u64) -> Value {
        let [signed, unsigned] = types(bytes).map(Range::of);
        let fits = self.numbers(value).is_some_and(|numbers| unsigned.includes(&numbers));
        self.unknown(if fits { unsigned } else { signed })
    }

    /// The number that each node of a segment has of its own at an offset; none if all have the same.
    fn of_each_node(&mut self, segment: ObjectId, at: u64, (bytes, values): (u64, [Value; 2])) -> Option<Symbol> {
        match self.object(segment).load(at, bytes) {
            Some(cell) => cell.each.then(|| symbol(cell.value)).flatten(),
            None if self.object(segment).is_free(at, bytes) => {
                let [one, other] = values.map(|value| self.numbers(value));
                let value = self.unknown(one?.hull(&other?));
                self.object_mut(segment).store(at, Cell { bytes, value, each: true });
                symbol(value)
            }
            None => None,
        }
    }
}

/// What is compared: a number of each node, or another one.
#[derive(Clone, Copy)]
enum Place {
    Node(u64),
    Other(Symbol),
}

fn sorted(one: Symbol, other: Symbol) -> (Symbol, Symbol) {
    (one.min(other), one.max(other))
}

fn symbol(value: Value) -> Option<Symbol> {
    match value {
        Value::Unknown(symbol) => Some(symbol),
        Value::Int(_) | Value::Pointer(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use cfa::VarId;

    use super::*;

    /// Two variables with numbers from 0 to 9.
    fn two() -> (Graph, [Symbol; 2]) {
        let mut graph = Graph::default();
        let digits = Range::between(0, 9).expect("a range");
        let symbols = [0, 1].map(|number| {
            let value = graph.unknown(digits.clone());
            graph.vars.insert(VarId::new(number), value);
            symbol(value).expect("it may be several numbers")
        });
        (graph, symbols)
    }

    #[test]
    fn a_state_with_a_pair_does_not_cover_one_without_it() {
        let (free, [left, right]) = two();
        let mut ordered = free.clone();
        ordered.learn_at_most(left, 0, right);
        assert!(free.covers(&ordered) && ordered.covers(&ordered));
        assert!(!ordered.covers(&free));
        // The other way round.
        let mut other = free.clone();
        other.learn_at_most(right, 0, left);
        assert!(!ordered.covers(&other));
        // The same number, and ranges, say it as well.
        let mut equal = free.clone();
        equal.substitute(left, Value::Unknown(right));
        assert!(ordered.covers(&equal));
        let mut apart = free;
        apart.restrict(left, Range::between(0, 4).expect("a range"));
        apart.restrict(right, Range::between(4, 9).expect("a range"));
        assert!(ordered.covers(&apart));
    }

    #[test]
    fn pairs_that_meet_give_a_third_one() {
        let (mut graph, [a, b]) = two();
        let Value::Unknown(c) = graph.unknown(Range::between(0, 20).expect("a range")) else { panic!("one number") };
        graph.learn_at_most(b, 2, c);
        graph.learn_at_most(a, -1, b);
        assert_eq!(graph.distance(Value::Unknown(a), Value::Unknown(c)), Some(1));
        assert!(!graph.at_most(Value::Unknown(c), 0, Value::Unknown(a)));
        // A number that turns out to be 3 bounds what is compared with it.
        graph.substitute(b, Value::Int(3));
        assert_eq!((graph.range(a).high(), graph.range(c).low()), (4, 5));
        assert!(graph.at_most(Value::Unknown(a), 1, Value::Unknown(c)));
    }

    #[test]
    fn different_numbers() {
        let (free, [left, right]) = two();
        let mut apart = free.clone();
        apart.learn_unequal(left, right);
        let of = |symbols: [Symbol; 2]| symbols.map(Value::Unknown);
        let [one, other] = of([left, right]);
        assert!(apart.differ(one, other) && apart.differ(other, one) && !free.differ(one, other));
        assert!(free.covers(&apart) && apart.covers(&apart) && !apart.covers(&free));
        let mut less = free.clone();
        less.learn_at_most(right, 1, left);
        assert!(apart.covers(&less) && !less.covers(&apart));
        // One of them turns out to be the least or the greatest that the other may be, or a third number.
        apart.substitute(left, Value::Int(9));
        assert_eq!(apart.range(right).high(), 8);
        let mut renamed = free;
        renamed.learn_unequal(left, right);
        let Value::Unknown(third) = renamed.unknown(Range::between(0, 9).expect("a range")) else {
            panic!("one number")
        };
        renamed.substitute(left, Value::Unknown(third));
        assert!(renamed.differ(Value::Unknown(third), other));
    }
}
