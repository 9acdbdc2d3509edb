// SPDX-License-Identifier: Apache-2.0
//! The reached set: the nodes that new states are merged with and covered by, partitioned by key.
//!
//! It is a view of the graph: exactly the nodes that are part of it and not covered.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::arg::ArgId;
use crate::cpa::PartitionKey;

/// The partitioned reached set.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    partitions: FxHashMap<PartitionKey, BTreeSet<ArgId>>,
    len: usize,
}

impl Reached {
    /// The nodes of a partition, the most recent first: it is the most likely one to merge with or to cover.
    pub fn partition(&self, key: PartitionKey) -> impl Iterator<Item = ArgId> + '_ {
        self.partitions.get(&key).into_iter().flat_map(|nodes| nodes.iter().rev().copied())
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
        self.partitions.get(&key).is_some_and(|nodes| nodes.contains(&id))
    }

    pub(crate) fn insert(&mut self, key: PartitionKey, id: ArgId) {
        if self.partitions.entry(key).or_default().insert(id) {
            self.len += 1;
        }
    }

    pub(crate) fn remove(&mut self, key: PartitionKey, id: ArgId) {
        let Some(nodes) = self.partitions.get_mut(&key) else { return };
        if nodes.remove(&id) {
            self.len -= 1;
        }
        if nodes.is_empty() {
            self.partitions.remove(&key);
        }
    }
}
