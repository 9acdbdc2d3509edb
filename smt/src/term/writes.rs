// SPDX-License-Identifier: Apache-2.0
//! What a layer of stores writes: a persistent map from offsets to terms.
//!
//! A big-endian Patricia tree (Okasaki, Gill, *Fast Mergeable Integer Maps*, ML 1998): its shape is a function of the
//! entries, each node keeps the hash of its part, and versions share what they have in common. So one more write costs
//! the depth of the tree, equal memories are equal nodes however they came about, and comparing two versions visits
//! only what differs.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::ids::TermId;

struct Node {
    hash: u64,
    len: usize,
    /// What some of the values are.
    traits: Traits,
    kind: Kind,
}

enum Kind {
    Leaf {
        key: u128,
        value: TermId,
    },
    /// The keys agree above `bit`, which is 0 in those of the first part and 1 in those of the second.
    Branch {
        bit: u32,
        parts: [Arc<Node>; 2],
        /// The bits of the keys above `bit`, moved down.
        prefix: u128,
    },
}

/// Facts about terms that hold for a layer if they hold for one of the values; kept here so that a new layer need not look at
/// all of them.
#[derive(Copy, Clone, Default)]
pub(super) struct Traits {
    /// An instance of a bounded symbol occurs.
    pub(super) has_bounded: bool,
    /// A floating-point operation occurs.
    pub(super) has_float: bool,
    /// There is an if-then-else below.
    pub(super) has_choice: bool,
}

impl Traits {
    fn or(self, other: Traits) -> Traits {
        Traits {
            has_bounded: self.has_bounded || other.has_bounded,
            has_float: self.has_float || other.has_float,
            has_choice: self.has_choice || other.has_choice,
        }
    }
}

/// The bits of a key above `bit`.
fn above(key: u128, bit: u32) -> u128 {
    key.checked_shr(bit + 1).unwrap_or(0)
}

fn side(key: u128, bit: u32) -> usize {
    usize::from(key >> bit & 1 == 1)
}

impl Node {
    fn leaf(key: u128, value: TermId, traits: Traits) -> Arc<Node> {
        let mut hasher = FxHasher::default();
        (key, value).hash(&mut hasher);
        Arc::new(Node { hash: hasher.finish(), len: 1, traits, kind: Kind::Leaf { key, value } })
    }

    fn branch(bit: u32, prefix: u128, parts: [Arc<Node>; 2]) -> Arc<Node> {
        let mut hasher = FxHasher::default();
        (bit, parts[0].hash, parts[1].hash).hash(&mut hasher);
        let len = parts[0].len + parts[1].len;
        let traits = parts[0].traits.or(parts[1].traits);
        Arc::new(Node { hash: hasher.finish(), len, traits, kind: Kind::Branch { bit, parts, prefix } })
    }

    /// Some key in the part.
    fn some_key(&self) -> u128 {
        match self.kind {
            Kind::Leaf { key, .. } => key,
            Kind::Branch { bit, prefix, .. } => prefix.checked_shl(bit + 1).unwrap_or(0),
        }
    }

    /// The bit below which the keys of the part differ, as the position above it; 0 for a leaf.
    fn height(&self) -> u32 {
        match self.kind {
            Kind::Leaf { .. } => 0,
            Kind::Branch { bit, .. } => bit + 1,
        }
    }

    fn get(&self, wanted: u128) -> Option<TermId> {
        let mut node = self;
        loop {
            match node.kind {
                Kind::Leaf { key, value } => return (key == wanted).then_some(value),
                Kind::Branch { bit, ref parts, prefix } => {
                    if above(wanted, bit) != prefix {
                        return None;
                    }
                    node = &parts[side(wanted, bit)];
                }
            }
        }
    }
}

/// Two parts whose keys differ above both.
fn join(a: Arc<Node>, b: Arc<Node>) -> Arc<Node> {
    let (x, y) = (a.some_key(), b.some_key());
    let bit = 127 - (x ^ y).leading_zeros();
    let parts = if side(x, bit) == 0 { [a, b] } else { [b, a] };
    Node::branch(bit, above(x, bit), parts)
}

fn insert(node: &Arc<Node>, key: u128, value: TermId, traits: Traits) -> Arc<Node> {
    match node.kind {
        Kind::Leaf { key: own, value: old } if own == key => {
            if old == value {
                Arc::clone(node)
            } else {
                Node::leaf(key, value, traits)
            }
        }
        Kind::Branch { bit, ref parts, prefix } if above(key, bit) == prefix => {
            let i = side(key, bit);
            let part = insert(&parts[i], key, value, traits);
            if Arc::ptr_eq(&part, &parts[i]) {
                return Arc::clone(node);
            }
            let other = Arc::clone(&parts[1 - i]);
            Node::branch(bit, prefix, if i == 0 { [part, other] } else { [other, part] })
        }
        Kind::Leaf { .. } | Kind::Branch { .. } => join(Arc::clone(node), Node::leaf(key, value, traits)),
    }
}

fn same(a: &Arc<Node>, b: &Arc<Node>) -> bool {
    if Arc::ptr_eq(a, b) {
        return true;
    }
    if a.hash != b.hash || a.len != b.len {
        return false;
    }
    match (&a.kind, &b.kind) {
        (Kind::Leaf { key, value }, Kind::Leaf { key: other, value: theirs }) => key == other && value == theirs,
        (Kind::Branch { bit, parts, prefix }, Kind::Branch { bit: b, parts: theirs, prefix: p }) => {
            bit == b && prefix == p && same(&parts[0], &theirs[0]) && same(&parts[1], &theirs[1])
        }
        (Kind::Leaf { .. }, Kind::Branch { .. }) | (Kind::Branch { .. }, Kind::Leaf { .. }) => false,
    }
}

/// An offset at which two maps differ, with what each has there.
pub(super) type Difference = (u128, Option<TermId>, Option<TermId>);

fn only(node: &Arc<Node>, mine: bool, out: &mut Vec<Difference>) {
    Writes(Arc::clone(node)).for_each(|key, value| {
        out.push(if mine { (key, Some(value), None) } else { (key, None, Some(value)) });
    });
}

fn diff(a: &Arc<Node>, b: &Arc<Node>, out: &mut Vec<Difference>) {
    if same(a, b) {
        return;
    }
    match (&a.kind, &b.kind) {
        (&Kind::Leaf { key, value }, &Kind::Leaf { key: other, value: theirs }) if key == other => {
            out.push((key, Some(value), Some(theirs)));
        }
        (Kind::Branch { bit, parts, prefix }, Kind::Branch { bit: b, parts: theirs, prefix: p })
            if bit == b && prefix == p =>
        {
            diff(&parts[0], &theirs[0], out);
            diff(&parts[1], &theirs[1], out);
        }
        (&Kind::Branch { bit, ref parts, prefix }, _)
            if b.height() < a.height() && above(b.some_key(), bit) == prefix =>
        {
            let i = side(b.some_key(), bit);
            if i == 1 {
                only(&parts[0], true, out);
            }
            diff(&parts[i], b, out);
            if i == 0 {
                only(&parts[1], true, out);
            }
        }
        (_, &Kind::Branch { bit, ref parts, prefix })
            if a.height() < b.height() && above(a.some_key(), bit) == prefix =>
        {
            let i = side(a.some_key(), bit);
            if i == 1 {
                only(&parts[0], false, out);
            }
            diff(a, &parts[i], out);
            if i == 0 {
                only(&parts[1], false, out);
            }
        }
        _ if a.some_key() < b.some_key() => {
            only(a, true, out);
            only(b, false, out);
        }
        _ => {
            only(b, false, out);
            only(a, true, out);
        }
    }
}

/// Offsets and the terms written there; never empty.
#[derive(Clone)]
pub struct Writes(Arc<Node>);

impl Writes {
    /// One write.
    pub(super) fn one(offset: u128, value: TermId, traits: Traits) -> Self {
        Writes(Node::leaf(offset, value, traits))
    }

    /// The writes with one more, which replaces an earlier one at its offset.
    pub(super) fn with(&self, offset: u128, value: TermId, traits: Traits) -> Self {
        Writes(insert(&self.0, offset, value, traits))
    }

    /// What some of the values are.
    pub(super) fn traits(&self) -> Traits {
        self.0.traits
    }

    /// The number of offsets.
    pub(super) fn len(&self) -> usize {
        self.0.len
    }

    /// What is written at an offset.
    pub fn get(&self, offset: u128) -> Option<TermId> {
        self.0.get(offset)
    }

    /// Calls `f` for each write, in ascending order of the offsets.
    pub fn for_each(&self, mut f: impl FnMut(u128, TermId)) {
        let mut stack = vec![&self.0];
        while let Some(node) = stack.pop() {
            match node.kind {
                Kind::Leaf { key, value } => f(key, value),
                Kind::Branch { ref parts, .. } => stack.extend([&parts[1], &parts[0]]),
            }
        }
    }

    /// The writes in ascending order of the offsets.
    pub fn to_vec(&self) -> Vec<(u128, TermId)> {
        let mut all = Vec::with_capacity(self.len());
        self.for_each(|key, value| all.push((key, value)));
        all
    }

    /// Where two maps differ, in ascending order of the offsets.
    pub(super) fn differences(&self, other: &Writes) -> Vec<Difference> {
        let mut out = Vec::new();
        diff(&self.0, &other.0, &mut out);
        out
    }
}

impl PartialEq for Writes {
    fn eq(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }
}

impl Eq for Writes {}

impl Hash for Writes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl fmt::Debug for Writes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.to_vec()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn writes_agree_with_btreemap() {
        let mut seed = 11u64;
        let mut next = move |bound: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        };
        let mut versions = vec![(Writes::one(5, TermId(1), Traits::default()), BTreeMap::from([(5u128, TermId(1))]))];
        for _ in 0..3000 {
            let (writes, model) = versions[next(versions.len() as u64) as usize].clone();
            let small = u128::from(next(40));
            let key = [small, small << 60, u128::MAX - small, small << 120][next(4) as usize];
            let value = TermId(next(3) as u32);
            let writes = writes.with(key, value, Traits::default());
            let mut model = model;
            model.insert(key, value);
            assert_eq!(writes.to_vec(), model.iter().map(|(&k, &v)| (k, v)).collect::<Vec<_>>());
            assert_eq!(writes.len(), model.len());
            let probe = [small, small << 60, u128::MAX - small, small << 120][next(4) as usize];
            assert_eq!(writes.get(probe), model.get(&probe).copied());
            let (other, other_model) = &versions[next(versions.len() as u64) as usize];
            let keys: std::collections::BTreeSet<u128> = model.keys().chain(other_model.keys()).copied().collect();
            let expected: Vec<Difference> = keys
                .into_iter()
                .map(|k| (k, model.get(&k).copied(), other_model.get(&k).copied()))
                .filter(|(_, x, y)| x != y)
                .collect();
            assert_eq!(writes.differences(other), expected);
            assert_eq!(writes == *other, model == *other_model);
            // The same entries in another order are the same node.
            let mut rebuilt: Option<Writes> = None;
            for (&k, &v) in model.iter().rev() {
                rebuilt = Some(match rebuilt {
                    None => Writes::one(k, v, Traits::default()),
                    Some(w) => w.with(k, v, Traits::default()),
                });
            }
            assert!(rebuilt == Some(writes.clone()));
            if versions.len() < 30 {
                versions.push((writes, model));
            } else {
                versions[next(30) as usize] = (writes, model);
            }
        }
    }
}
