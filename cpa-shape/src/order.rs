// SPDX-License-Identifier: Apache-2.0
//! Which unknown numbers are at most which others.
//!
//! A number that each node of a segment has of its own stands for those of all nodes; two such numbers of one segment are
//! compared node by node.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::graph::{Cell, Graph, Kind, Object, ObjectId, Symbol, Value};
use crate::range::Range;

/// More pairs than this are not kept.
const PAIRS: usize = 48;

impl Graph {
    /// Whether one value is at most the other one, as numbers.
    pub(crate) fn at_most(&self, left: Value, right: Value) -> bool {
        if left == right && !matches!(left, Value::Pointer(_)) {
            return true;
        }
        if let (Value::Unknown(left), Value::Unknown(right)) = (left, right)
            && self.order.contains(&(left, right))
        {
            return true;
        }
        match (self.numbers(left), self.numbers(right)) {
            (Some(left), Some(right)) => left.high() <= right.low(),
            (_, _) => false,
        }
    }

    /// A number is at most another one, and so is what is at most the former than what the latter is at most.
    pub(crate) fn learn_at_most(&mut self, left: Symbol, right: Symbol) {
        if left == right || self.order.contains(&(left, right)) || self.order.len() >= PAIRS {
            return;
        }
        let below = self.order.iter().filter(|pair| pair.1 == left).map(|pair| pair.0).chain([left]);
        let below: Vec<Symbol> = below.collect();
        let above = self.order.iter().filter(|pair| pair.0 == right).map(|pair| pair.1).chain([right]);
        let above: Vec<Symbol> = above.collect();
        let pairs = below.iter().flat_map(|&left| above.iter().map(move |&right| (left, right)));
        self.order.extend(pairs.filter(|(left, right)| left != right));
    }

    /// A number turns out to be a value: what is compared with it is compared with that.
    pub(crate) fn replace_in_order(&mut self, symbol: Symbol, value: Value) {
        if !self.is_ordered(symbol) {
            return;
        }
        let (of_symbol, rest) =
            std::mem::take(&mut self.order).into_iter().partition(|&(left, right)| left == symbol || right == symbol);
        self.order = rest;
        let of_symbol: BTreeSet<(Symbol, Symbol)> = of_symbol;
        for (left, right) in of_symbol {
            match value {
                Value::Unknown(new) => {
                    let change = |old: Symbol| if old == symbol { new } else { old };
                    self.learn_at_most(change(left), change(right));
                }
                Value::Int(number) => {
                    let (other, bound) = if left == symbol {
                        (right, Range::between(number, i128::MAX))
                    } else {
                        (left, Range::between(i128::MIN, number))
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
    pub(crate) fn is_ordered(&self, symbol: Symbol) -> bool {
        self.order.iter().any(|&(left, right)| left == symbol || right == symbol)
    }

    /// Numbers of a node that is taken out of a segment compare as those of all nodes did; each with those of the same node.
    pub(crate) fn copy_order(&mut self, copies: &BTreeMap<Symbol, Symbol>) {
        let copied: Vec<(Symbol, Symbol)> = self
            .order
            .iter()
            .filter(|(left, right)| copies.contains_key(left) || copies.contains_key(right))
            .map(|(left, right)| (*copies.get(left).unwrap_or(left), *copies.get(right).unwrap_or(right)))
            .collect();
        if self.order.len() + copied.len() <= PAIRS {
            self.order.extend(copied);
        }
    }

    /// Pairs that are about numbers in made objects stay, unless their ranges say the same.
    pub(crate) fn keep_order_of_objects(&mut self) {
        let made = self.objects.iter().filter(|(id, _)| matches!(id, ObjectId::Made(_)));
        let values = made.flat_map(|(_, object)| object.cells.values().map(|cell| cell.value));
        let stored: BTreeSet<Symbol> = values.filter_map(symbol).collect();
        let symbols = &self.symbols;
        self.order.retain(|(left, right)| {
            (stored.contains(left) || stored.contains(right)) && symbols[left].high() > symbols[right].low()
        });
    }

    /// What the numbers of two parts of a segment, which they have become, have in common.
    pub(crate) fn order_of_parts(&mut self, segment: ObjectId, parts: [&Object; 2]) {
        let Kind::Segment(link) = self.object(segment).kind else { return };
        let links = [Some(link.next), link.prev].into_iter().flatten().map(|(offset, _)| offset);
        let links: BTreeSet<u64> = links.collect();
        let offsets: BTreeMap<u64, u64> =
            parts[0].cells.iter().filter(|(at, _)| !links.contains(at)).map(|(&at, cell)| (at, cell.bytes)).collect();
        let mut numbers: BTreeMap<u64, (u64, [Value; 2])> = BTreeMap::new();
        for (&at, &bytes) in &offsets {
            if let [Some(one), Some(other)] = parts.map(|part| part.load(at, bytes))
                && [one.value, other.value].into_iter().all(|value| self.numbers(value).is_some())
            {
                numbers.insert(at, (bytes, [one.value, other.value]));
            }
        }
        let related: BTreeSet<Symbol> = self.order.iter().flat_map(|&(left, right)| [left, right]).collect();
        let own: BTreeSet<Symbol> = parts
            .iter()
            .flat_map(|part| part.cells.values())
            .filter(|cell| cell.each)
            .filter_map(|cell| symbol(cell.value))
            .collect();
        let others: Vec<Symbol> = related.difference(&own).copied().collect();
        let both = |values: [Value; 2], test: &dyn Fn(Value) -> bool| values.into_iter().all(test);
        let mut facts = Vec::new();
        for (&at, &(_, values)) in &numbers {
            for &other in &others {
                if both(values, &|value| self.at_most(value, Value::Unknown(other))) {
                    facts.push((Place::Node(at), Place::Other(other)));
                }
                if both(values, &|value| self.at_most(Value::Unknown(other), value)) {
                    facts.push((Place::Other(other), Place::Node(at)));
                }
            }
            for (&next, &(_, nexts)) in numbers.iter().filter(|(next, _)| **next != at) {
                if (0..2).all(|part| self.at_most(values[part], nexts[part])) {
                    facts.push((Place::Node(at), Place::Node(next)));
                }
            }
        }
        for (left, right) in facts {
            let places = [left, right].map(|place| match place {
                Place::Other(symbol) => Some(symbol),
                Place::Node(at) => self.of_each_node(segment, at, numbers[&at]),
            });
            if let [Some(left), Some(right)] = places
                && left != right
                && self.order.len() < PAIRS
                && self.symbols[&left].high() > self.symbols[&right].low()
            {
                self.order.insert((left, right));
            }
        }
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
        ordered.learn_at_most(left, right);
        assert!(free.covers(&ordered) && ordered.covers(&ordered));
        assert!(!ordered.covers(&free));
        // The other way round.
        let mut other = free.clone();
        other.learn_at_most(right, left);
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
        graph.learn_at_most(b, c);
        graph.learn_at_most(a, b);
        assert!(graph.at_most(Value::Unknown(a), Value::Unknown(c)));
        assert!(!graph.at_most(Value::Unknown(c), Value::Unknown(a)));
        // A number that turns out to be 3 bounds what is compared with it.
        graph.substitute(b, Value::Int(3));
        assert_eq!((graph.range(a).high(), graph.range(c).low()), (3, 3));
        assert!(graph.at_most(Value::Unknown(a), Value::Unknown(c)));
    }
}
