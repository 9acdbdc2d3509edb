// SPDX-License-Identifier: Apache-2.0
//! The reached set: the nodes that new states are merged with and covered by, partitioned by key.
//!
//! It is a view of the graph: exactly the nodes that are part of it and not covered. States with fingerprints are also
//! indexed by these, so that a domain with many states at one location need not compare a new one with all of them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::arg::ArgId;
use crate::composite::{Composite, State};
use crate::cpa::{Fingerprint, PartitionKey};

/// The partitioned reached set.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    partitions: FxHashMap<PartitionKey, Partition>,
    len: usize,
}

#[derive(Clone, Debug, Default)]
struct Partition {
    nodes: BTreeSet<ArgId>,
    /// The index; empty if the states have no fingerprints.
    shapes: Vec<Shape>,
}

/// The nodes whose states have the same shape.
#[derive(Clone, Debug)]
struct Shape {
    shape: u64,
    /// A state of that shape.
    example: State,
    contents: FxHashMap<u64, Vec<ArgId>>,
}

impl Partition {
    fn insert(&mut self, id: ArgId, fingerprint: Option<Fingerprint>, state: &State) -> bool {
        if let Some(Fingerprint { shape, content }) = fingerprint {
            let known = self.shapes.iter().position(|known| known.shape == shape);
            let index = known.unwrap_or_else(|| {
                self.shapes.push(Shape { shape, example: state.clone(), contents: FxHashMap::default() });
                self.shapes.len() - 1
            });
            let nodes = self.shapes[index].contents.entry(content).or_default();
            if !nodes.contains(&id) {
                nodes.push(id);
            }
        }
        self.nodes.insert(id)
    }

    fn remove(&mut self, id: ArgId, fingerprint: Option<Fingerprint>) -> bool {
        if let Some(Fingerprint { shape, content }) = fingerprint
            && let Some(index) = self.shapes.iter().position(|known| known.shape == shape)
        {
            let contents = &mut self.shapes[index].contents;
            if let Some(nodes) = contents.get_mut(&content) {
                nodes.retain(|&other| other != id);
                if nodes.is_empty() {
                    contents.remove(&content);
                }
            }
            if contents.is_empty() {
                self.shapes.remove(index);
            }
        }
        self.nodes.remove(&id)
    }
}

impl Reached {
    /// The nodes of a partition, the most recent first: it is the most likely one to merge with or to cover.
    pub fn partition(&self, key: PartitionKey) -> impl Iterator<Item = ArgId> + '_ {
        self.partitions.get(&key).into_iter().flat_map(|partition| partition.nodes.iter().rev().copied())
    }

    /// The nodes of a partition whose states may be greater or equal to the given one, the most recent first.
    pub(crate) fn greater<'a>(&'a self, cpa: &Composite, key: PartitionKey, state: &State) -> Greater<'a> {
        match self.partitions.get(&key) {
            None => Greater::Few(Vec::new()),
            Some(partition) if partition.shapes.is_empty() => Greater::All(partition.nodes.iter()),
            Some(partition) => {
                let mut few = Vec::new();
                for shape in &partition.shapes {
                    if let Some(nodes) =
                        cpa.project(state, &shape.example).and_then(|content| shape.contents.get(&content))
                    {
                        few.extend_from_slice(nodes);
                    }
                }
                few.sort_unstable();
                Greater::Few(few)
            }
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn contains(&self, key: PartitionKey, id: ArgId) -> bool {
        self.partitions.get(&key).is_some_and(|partition| partition.nodes.contains(&id))
    }

    pub(crate) fn insert(&mut self, key: PartitionKey, id: ArgId, fingerprint: Option<Fingerprint>, state: &State) {
        if self.partitions.entry(key).or_default().insert(id, fingerprint, state) {
            self.len += 1;
        }
    }

    pub(crate) fn remove(&mut self, key: PartitionKey, id: ArgId, fingerprint: Option<Fingerprint>) {
        let Some(partition) = self.partitions.get_mut(&key) else { return };
        if partition.remove(id, fingerprint) {
            self.len -= 1;
        }
        if partition.nodes.is_empty() {
            self.partitions.remove(&key);
        }
    }
}

/// The answer of [`Reached::greater`].
pub(crate) enum Greater<'a> {
    All(std::collections::btree_set::Iter<'a, ArgId>),
    /// Ascending.
    Few(Vec<ArgId>),
}

impl Iterator for Greater<'_> {
    type Item = ArgId;

    fn next(&mut self) -> Option<ArgId> {
        match self {
            Greater::All(nodes) => nodes.next_back().copied(),
            Greater::Few(nodes) => nodes.pop(),
        }
    }
}
