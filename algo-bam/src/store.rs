// SPDX-License-Identifier: Apache-2.0
//! All instances of blocks, and the cache: block, reduced state and reduced precision tell which instance is used next.
//!
//! An instance that a refinement replaced stays as long as some graph refers to it. When a bound is set, the instances that
//! were not asked for the longest time are dropped from the cache.

use std::collections::BTreeSet;

use cfa::BlockId;
use cpa_core::{Composite, Cx, Precision, Reducers, State, Stop};
use rustc_hash::FxHashMap;

use crate::instance::{Instance, InstanceId};

/// Counts of what happened to the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheStatistics {
    /// Blocks that were finished when they were asked for.
    pub hits: u64,
    /// Blocks that were known, but not finished.
    pub partial: u64,
    /// Blocks that were not known.
    pub misses: u64,
    /// Instances that the bound dropped from the cache.
    pub evicted: u64,
    /// Copies made by refinements.
    pub copies: u64,
}

/// All instances.
#[derive(Debug, Default)]
pub struct Store {
    slots: Vec<Option<Box<Instance>>>,
    cache: FxHashMap<(BlockId, u64), Vec<InstanceId>>,
    /// The key that each cached instance is found by.
    keys: FxHashMap<InstanceId, (BlockId, u64)>,
    clock: u64,
    pub(crate) statistics: CacheStatistics,
}

impl Store {
    /// An instance.
    pub fn get(&self, id: InstanceId) -> &Instance {
        self.slots[id.index()].as_ref().expect("whoever refers to an instance keeps it alive")
    }

    pub(crate) fn get_mut(&mut self, id: InstanceId) -> &mut Instance {
        self.slots[id.index()].as_mut().expect("whoever refers to an instance keeps it alive")
    }

    /// All instances that are alive.
    pub fn ids(&self) -> impl Iterator<Item = InstanceId> + '_ {
        self.slots.iter().enumerate().filter(|(_, slot)| slot.is_some()).map(|(index, _)| InstanceId::new(index))
    }

    /// The number of instances that are alive.
    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// The number of instances that were ever made.
    pub fn created(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of instances in the cache.
    pub fn cached(&self) -> usize {
        self.keys.len()
    }

    /// Whether an instance is what the cache would give.
    pub fn is_cached(&self, id: InstanceId) -> bool {
        self.keys.contains_key(&id)
    }

    /// Counts of what happened to the cache.
    pub fn statistics(&self) -> CacheStatistics {
        self.statistics
    }

    pub(crate) fn insert(&mut self, instance: Instance) -> InstanceId {
        let id = InstanceId::new(self.slots.len());
        self.slots.push(Some(Box::new(instance)));
        id
    }

    /// The instance for a block with the given reduced state and precision, if there is one.
    pub(crate) fn find(
        &mut self,
        cx: &mut Cx,
        cpa: &mut Composite,
        reducers: &mut Reducers,
        (block, state, precision): (BlockId, &State, &Precision),
    ) -> Result<Option<InstanceId>, Stop> {
        self.clock += 1;
        let key = key(cpa, reducers, block, state);
        let candidates = self.cache.get(&key).cloned().unwrap_or_default();
        for id in candidates {
            let known = self.get(id);
            if reducers.same_precision(&known.precision, precision) && cpa.equal(cx, &known.entry, state)? {
                let clock = self.clock;
                let known = self.get_mut(id);
                known.used = clock;
                let settled = known.settled;
                self.statistics.hits += u64::from(settled);
                self.statistics.partial += u64::from(!settled);
                return Ok(Some(id));
            }
        }
        self.statistics.misses += 1;
        Ok(None)
    }

    /// Makes the cache give this instance for its state and precision, and no older copy of it.
    pub(crate) fn register(&mut self, cpa: &Composite, reducers: &mut Reducers, id: InstanceId) {
        let instance = self.get(id);
        let key = key(cpa, reducers, instance.block, &instance.entry);
        let bucket = self.cache.get(&key).cloned().unwrap_or_default();
        let copy = |other: &InstanceId| self.get(*other).entry.same(&instance.entry);
        let (replaced, mut kept): (Vec<InstanceId>, Vec<InstanceId>) = bucket.into_iter().partition(copy);
        for old in replaced {
            self.keys.remove(&old);
        }
        kept.push(id);
        self.cache.insert(key, kept);
        self.keys.insert(id, key);
        let clock = self.clock;
        self.get_mut(id).used = clock;
    }

    /// Drops instances from the cache until at most `bound` are left, those not asked for the longest time first.
    pub(crate) fn evict(&mut self, bound: usize) {
        if self.keys.len() <= bound {
            return;
        }
        let mut order: Vec<(u64, InstanceId)> = self.keys.keys().map(|&id| (self.get(id).used, id)).collect();
        order.sort_unstable();
        for &(_, id) in order.iter().take(self.keys.len() - bound) {
            if let Some(key) = self.keys.remove(&id)
                && let Some(bucket) = self.cache.get_mut(&key)
            {
                bucket.retain(|&other| other != id);
                if bucket.is_empty() {
                    self.cache.remove(&key);
                }
                self.statistics.evicted += 1;
            }
        }
    }

    /// Gives back the memory of instances that neither the cache nor any graph from `root` on refers to.
    pub(crate) fn collect(&mut self, root: InstanceId) {
        let mut alive: BTreeSet<InstanceId> = BTreeSet::new();
        let mut open: Vec<InstanceId> = self.keys.keys().copied().chain([root]).collect();
        while let Some(id) = open.pop() {
            if alive.insert(id) {
                let instance = self.get(id);
                open.extend(instance.uses.values().flatten().map(|of| of.inner));
                open.extend(instance.links.values().map(|link| link.inner));
            }
        }
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if !alive.contains(&InstanceId::new(index)) {
                *slot = None;
            }
        }
    }
}

fn key(cpa: &Composite, reducers: &mut Reducers, block: BlockId, state: &State) -> (BlockId, u64) {
    (block, cpa.partition(state).0 ^ reducers.hash(state).rotate_left(17))
}
