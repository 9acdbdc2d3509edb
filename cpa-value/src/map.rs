// SPDX-License-Identifier: Apache-2.0
//! A persistent map from small numbers to machine words: cheap to clone, to compare and to look up by a hash.
//!
//! A radix tree with 16-way nodes that hold only what is present (as the hash tries of Bagwell, *Ideal Hash Trees*, but
//! over the numbers themselves, which are dense). Copies share all nodes that did not change, and the hashes of keys and
//! contents are kept up to date, so an exact look-up among many maps needs no traversal.

use std::rc::Rc;

const BITS: u32 = 4;

/// A tree node: which of the 16 children are present, and these.
#[derive(Clone, Debug)]
enum Node {
    Leaf(u16, Rc<[u64]>),
    Inner(u16, Rc<[Node]>),
}

/// The map. Equal maps have equal hashes, whatever the order of changes was.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    root: Node,
    /// Number of levels; keys are below 16^levels.
    levels: u32,
    len: u32,
    /// Sum of hashes of the keys.
    keys: u64,
    /// Sum of hashes of the entries.
    entries: u64,
}

impl Default for Map {
    fn default() -> Self {
        Self { root: Node::Leaf(0, Rc::new([])), levels: 1, len: 0, keys: 0, entries: 0 }
    }
}

/// A hash with all bits mixed, so that sums of such hashes are good hashes of sets (the finaliser of SplitMix64).
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn entry_hash(key: u32, value: u64) -> u64 {
    mix(mix(u64::from(key)) ^ value)
}

/// Whether child `digit` is present, and its position among the present ones.
fn position(present: u16, digit: u32) -> Result<usize, usize> {
    let index = (present & ((1 << digit) - 1)).count_ones() as usize;
    if present >> digit & 1 == 1 { Ok(index) } else { Err(index) }
}

fn digit(key: u32, level: u32) -> u32 {
    key >> (level * BITS) & 15
}

fn inserted<T: Clone>(items: &[T], index: usize, item: T) -> Rc<[T]> {
    let (before, after) = items.split_at(index);
    before.iter().cloned().chain(std::iter::once(item)).chain(after.iter().cloned()).collect::<Vec<T>>().into()
}

fn replaced<T: Clone>(items: &[T], index: usize, item: T) -> Rc<[T]> {
    let mut items: Rc<[T]> = items.into();
    Rc::get_mut(&mut items).expect("the copy is new")[index] = item;
    items
}

fn removed<T: Clone>(items: &[T], index: usize) -> Rc<[T]> {
    items[..index].iter().chain(&items[index + 1..]).cloned().collect::<Vec<T>>().into()
}

impl Node {
    fn is_empty(&self) -> bool {
        matches!(self, Node::Leaf(0, _) | Node::Inner(0, _))
    }

    fn same(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Leaf(p, v), Node::Leaf(q, w)) => p == q && Rc::ptr_eq(v, w),
            (Node::Inner(p, v), Node::Inner(q, w)) => p == q && Rc::ptr_eq(v, w),
            (Node::Leaf(..), Node::Inner(..)) | (Node::Inner(..), Node::Leaf(..)) => false,
        }
    }

    /// The path to a single entry.
    fn single(key: u32, value: u64, level: u32) -> Node {
        let present = 1 << digit(key, level);
        if level == 0 {
            Node::Leaf(present, Rc::new([value]))
        } else {
            Node::Inner(present, Rc::new([Node::single(key, value, level - 1)]))
        }
    }

    fn insert(&self, key: u32, value: u64, level: u32) -> Node {
        let digit = digit(key, level);
        match self {
            Node::Leaf(present, values) => match position(*present, digit) {
                Ok(index) => Node::Leaf(*present, replaced(values, index, value)),
                Err(index) => Node::Leaf(present | 1 << digit, inserted(values, index, value)),
            },
            Node::Inner(present, children) => match position(*present, digit) {
                Ok(index) => {
                    let child = children[index].insert(key, value, level - 1);
                    Node::Inner(*present, replaced(children, index, child))
                }
                Err(index) => {
                    let child = Node::single(key, value, level - 1);
                    Node::Inner(present | 1 << digit, inserted(children, index, child))
                }
            },
        }
    }

    /// The key is present.
    fn remove(&self, key: u32, level: u32) -> Node {
        let digit = digit(key, level);
        match self {
            Node::Leaf(present, values) => {
                let index = position(*present, digit).expect("only keys that are present are removed");
                Node::Leaf(present & !(1 << digit), removed(values, index))
            }
            Node::Inner(present, children) => {
                let index = position(*present, digit).expect("only keys that are present are removed");
                let child = children[index].remove(key, level - 1);
                if child.is_empty() {
                    Node::Inner(present & !(1 << digit), removed(children, index))
                } else {
                    Node::Inner(*present, replaced(children, index, child))
                }
            }
        }
    }

    /// Whether all entries are entries of `other`, of the same level, too.
    fn subset(&self, other: &Node) -> bool {
        if self.same(other) {
            return true;
        }
        match (self, other) {
            (Node::Leaf(p, values), Node::Leaf(q, others)) => {
                p & !q == 0
                    && digits(*p)
                        .zip(values.iter())
                        .all(|(digit, value)| position(*q, digit).is_ok_and(|index| others[index] == *value))
            }
            (Node::Inner(p, children), Node::Inner(q, others)) => {
                p & !q == 0
                    && digits(*p)
                        .zip(children.iter())
                        .all(|(digit, child)| position(*q, digit).is_ok_and(|index| child.subset(&others[index])))
            }
            (Node::Leaf(..), Node::Inner(..)) | (Node::Inner(..), Node::Leaf(..)) => self.is_empty(),
        }
    }

    fn visit(&self, prefix: u32, visitor: &mut dyn FnMut(u32, u64)) {
        match self {
            Node::Leaf(present, values) => {
                digits(*present).zip(values.iter()).for_each(|(digit, &value)| visitor(prefix << BITS | digit, value));
            }
            Node::Inner(present, children) => digits(*present)
                .zip(children.iter())
                .for_each(|(digit, child)| child.visit(prefix << BITS | digit, visitor)),
        }
    }
}

/// The digits that are present, ascending.
fn digits(present: u16) -> impl Iterator<Item = u32> {
    let mut rest = present;
    std::iter::from_fn(move || {
        let digit = rest.trailing_zeros();
        (rest != 0).then(|| {
            rest &= rest - 1;
            digit
        })
    })
}

impl Map {
    fn reaches(&self, key: u32) -> bool {
        self.levels * BITS >= u32::BITS || key >> (self.levels * BITS) == 0
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: u32) -> Option<u64> {
        if !self.reaches(key) {
            return None;
        }
        let mut node = &self.root;
        for level in (0..self.levels).rev() {
            match node {
                Node::Leaf(present, values) => return position(*present, digit(key, level)).ok().map(|i| values[i]),
                Node::Inner(present, children) => node = &children[position(*present, digit(key, level)).ok()?],
            }
        }
        None
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: u32, value: u64) {
        match self.get(key) {
            Some(old) if old == value => return,
            Some(old) => self.entries = self.entries.wrapping_sub(entry_hash(key, old)),
            None => {
                self.len += 1;
                self.keys = self.keys.wrapping_add(mix(u64::from(key)));
            }
        }
        while !self.reaches(key) {
            let root = std::mem::replace(&mut self.root, Node::Leaf(0, Rc::new([])));
            self.root = if root.is_empty() { Node::Inner(0, Rc::new([])) } else { Node::Inner(1, Rc::new([root])) };
            self.levels += 1;
        }
        self.entries = self.entries.wrapping_add(entry_hash(key, value));
        self.root = self.root.insert(key, value, self.levels - 1);
    }

    /// Removes a key; says whether it was there.
    pub(crate) fn remove(&mut self, key: u32) -> bool {
        let Some(old) = self.get(key) else { return false };
        self.len -= 1;
        self.keys = self.keys.wrapping_sub(mix(u64::from(key)));
        self.entries = self.entries.wrapping_sub(entry_hash(key, old));
        self.root = self.root.remove(key, self.levels - 1);
        true
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// A hash of the set of keys.
    pub(crate) fn keys_hash(&self) -> u64 {
        self.keys
    }

    /// A hash of all entries.
    pub(crate) fn hash(&self) -> u64 {
        self.entries
    }

    /// The hash of the entries with the keys of `example`; none if some of these keys are missing.
    pub(crate) fn hash_of_keys(&self, example: &Map) -> Option<u64> {
        if self.keys == example.keys && self.len == example.len {
            return Some(self.entries);
        }
        if example.len > self.len {
            return None;
        }
        let mut hash = Some(0u64);
        example.visit(&mut |key, _| {
            hash = hash.and_then(|hash| Some(hash.wrapping_add(entry_hash(key, self.get(key)?))));
        });
        hash
    }

    /// Whether all entries are entries of `other` too.
    pub(crate) fn subset(&self, other: &Map) -> bool {
        if self.len > other.len {
            return false;
        }
        if self.levels == other.levels {
            return self.root.subset(&other.root);
        }
        let mut subset = true;
        self.visit(&mut |key, value| subset = subset && other.get(key) == Some(value));
        subset
    }

    /// Calls the visitor for all entries, the keys ascending.
    pub(crate) fn visit(&self, visitor: &mut dyn FnMut(u32, u64)) {
        self.root.visit(0, visitor);
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.entries == other.entries && self.subset(other)
    }
}
impl Eq for Map {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn model(changes: &[(u32, Option<u64>)]) -> (Map, BTreeMap<u32, u64>) {
        let (mut map, mut model) = (Map::default(), BTreeMap::new());
        for &(key, value) in changes {
            match value {
                Some(value) => {
                    map.insert(key, value);
                    model.insert(key, value);
                }
                None => assert_eq!(map.remove(key), model.remove(&key).is_some()),
            }
        }
        (map, model)
    }

    fn changes() -> impl Strategy<Value = Vec<(u32, Option<u64>)>> {
        let key = prop_oneof![0u32..40, 0u32..6000, any::<u32>()];
        prop::collection::vec((key, prop::option::weighted(0.7, 0u64..3)), 0..60)
    }

    proptest! {
        #[test]
        fn behaves_as_a_map(one in changes(), more in changes()) {
            let (map, expected) = model(&one);
            let mut entries = Vec::new();
            map.visit(&mut |key, value| entries.push((key, value)));
            prop_assert_eq!(&entries, &expected.iter().map(|(&k, &v)| (k, v)).collect::<Vec<_>>());
            prop_assert_eq!(map.len(), expected.len());

            let all: Vec<_> = one.iter().chain(&more).copied().collect();
            let (bigger, others) = model(&all);
            let subset = |a: &BTreeMap<u32, u64>, b: &BTreeMap<u32, u64>| a.iter().all(|(k, v)| b.get(k) == Some(v));
            prop_assert_eq!(map.subset(&bigger), subset(&expected, &others));
            prop_assert_eq!(bigger.subset(&map), subset(&others, &expected));
            prop_assert_eq!(map == bigger, expected == others);
            if subset(&expected, &others) {
                prop_assert_eq!(bigger.hash_of_keys(&map), Some(map.hash()));
            }
            // The same entries in another order.
            let (mut again, mut keys) = (Map::default(), expected.keys().rev().copied().collect::<Vec<_>>());
            keys.rotate_left(expected.len() / 2);
            keys.iter().for_each(|&key| again.insert(key, expected[&key]));
            prop_assert_eq!((again.hash(), again.keys_hash()), (map.hash(), map.keys_hash()));
            prop_assert_eq!(again, map);
        }
    }
}
