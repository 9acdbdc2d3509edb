// SPDX-License-Identifier: Apache-2.0
//! Precisions: which places are tracked, everywhere or location by location.
//!
//! A precision is attached to the nodes of the graph and inherited, so it holds behind the pivot of a refinement only.
//! Within that part a place can be tracked at all locations, which needs fewer refinements, or only where an interpolant
//! mentions it, which needs fewer states (Beyer and Löwe, *Explicit-State Software Verification Based on CEGAR and
//! Interpolation*, section 3).

use std::collections::BTreeMap;
use std::rc::Rc;

use cfa::NodeId;

use crate::place::Slot;

/// A set of slots.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SlotSet(Vec<u64>);

impl SlotSet {
    /// Whether the slot is in the set.
    pub fn contains(&self, slot: Slot) -> bool {
        self.0.get(slot.0 as usize / 64).is_some_and(|word| word >> (slot.0 % 64) & 1 == 1)
    }

    /// Adds a slot; says whether it is new.
    pub fn insert(&mut self, slot: Slot) -> bool {
        let index = slot.0 as usize / 64;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        let new = self.0[index] >> (slot.0 % 64) & 1 == 0;
        self.0[index] |= 1 << (slot.0 % 64);
        new
    }

    /// Removes a slot.
    pub fn remove(&mut self, slot: Slot) {
        if let Some(word) = self.0.get_mut(slot.0 as usize / 64) {
            *word &= !(1 << (slot.0 % 64));
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// Adds all slots of the other set.
    pub fn extend(&mut self, other: &SlotSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// Whether all slots are in the other set too.
    pub fn is_subset(&self, other: &SlotSet) -> bool {
        self.0.iter().enumerate().all(|(index, word)| word & !other.0.get(index).copied().unwrap_or(0) == 0)
    }

    /// The slots, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Slot> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| Slot(index as u32 * 64 + bit))
        })
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Slot> for SlotSet {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> Self {
        let mut set = SlotSet::default();
        slots.into_iter().for_each(|slot| {
            set.insert(slot);
        });
        set
    }
}

/// What is tracked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Everything.
    Full,
    /// These places, at all locations.
    Everywhere(Rc<SlotSet>),
    /// For each location some places.
    Located(Rc<BTreeMap<NodeId, SlotSet>>),
}

/// What is tracked at one location.
#[derive(Clone, Copy, Debug)]
pub enum Tracked<'a> {
    /// Everything.
    All,
    /// Nothing.
    Nothing,
    /// These places.
    Set(&'a SlotSet),
}

impl Tracked<'_> {
    pub(crate) fn contains(self, slot: Slot) -> bool {
        match self {
            Tracked::All => true,
            Tracked::Nothing => false,
            Tracked::Set(set) => set.contains(slot),
        }
    }
}

impl Precision {
    /// What is tracked at a location.
    pub fn at(&self, node: NodeId) -> Tracked<'_> {
        match self {
            Precision::Full => Tracked::All,
            Precision::Everywhere(set) => Tracked::Set(set),
            Precision::Located(map) => map.get(&node).map_or(Tracked::Nothing, Tracked::Set),
        }
    }

    /// This precision and the other one.
    pub(crate) fn union(&self, other: &Precision) -> Precision {
        match (self, other) {
            (Precision::Full, _) | (_, Precision::Full) => Precision::Full,
            (Precision::Everywhere(one), Precision::Everywhere(two)) => {
                if two.is_subset(one) {
                    return self.clone();
                }
                let mut set = (**one).clone();
                set.extend(two);
                Precision::Everywhere(Rc::new(set))
            }
            (Precision::Located(one), Precision::Located(two)) => {
                if Rc::ptr_eq(one, two) {
                    return self.clone();
                }
                let mut map = (**one).clone();
                for (&node, set) in two.iter() {
                    map.entry(node).or_default().extend(set);
                }
                Precision::Located(Rc::new(map))
            }
            // An analysis uses one kind only.
            (Precision::Everywhere(_), Precision::Located(_)) | (Precision::Located(_), Precision::Everywhere(_)) => {
                Precision::Full
            }
        }
    }
}
