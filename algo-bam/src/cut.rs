// SPDX-License-Identifier: Apache-2.0
//! What a refinement does to nested graphs: in place (algorithm 2 of the paper) or on copies (algorithm 3).
//!
//! Both cut the graph with the pivot and, in each graph around it along the path, everything behind the node where the block
//! begins. In place that leaves holes: other graphs still have the exit states of the graph as it was. Copies leave the old
//! graphs as they are; a copy takes the place of its original in the cache, so the path goes through the copies when it is
//! explored again. Algorithm 3 is read as: `s* := getInitState(S, S*, σ)` on the old graph, and the reference to S in the copy
//! of S* is redirected to S' (here it is looked up again, which gives S').
//!
//! A precision that has nothing new for the block of the pivot is put in front of the block instead: what a block cannot see
//! has to be tracked where it is entered.

use std::collections::{BTreeMap, BTreeSet};

use cpa_core::{ArgId, ComponentPrecision, Cut, Precision, Stop};

use crate::bam::Bam;
use crate::flatten::{Flat, Frame};
use crate::instance::InstanceId;

/// How refinements change graphs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// On copies; the old graphs stay valid.
    #[default]
    CopyOnWrite,
    /// In place.
    InPlace,
}

/// Where a graph is cut.
#[derive(Clone, Copy, Debug)]
struct Place {
    frame: usize,
    node: ArgId,
    /// Whether the node stays and only what is behind it goes.
    below: bool,
}

impl Bam {
    /// Applies a cut of the wrapped refiner to the graphs along a path. Says whether some precision became stronger.
    pub(crate) fn apply(&mut self, flat: &mut Flat, cut: &Cut) -> Result<bool, Stop> {
        let (frame, node) = flat.origins[cut.pivot.index()];
        let mut place = Place { frame, node, below: false };
        loop {
            let instance = self.store.get(flat.frames[place.frame].instance);
            let arg = instance.exploration.arg();
            if !arg.is_alive(place.node) {
                // An earlier cut removed it.
                return Ok(false);
            }
            let outer = flat.frames[place.frame].outer;
            if arg.root() == Some(place.node) && !place.below && outer.is_some() {
                // The entry of the block is computed where the block is used.
            } else if outer.is_none() || self.strengthens(flat, place, &cut.precisions) {
                break;
            }
            let Some((frame, node)) = outer else { break };
            let below = self.call_of(flat.frames[frame].instance, node).is_some();
            place = Place { frame, node, below };
        }
        self.cut(&mut flat.frames, place, &cut.precisions)
    }

    /// Computes a block again whose graph has changed since it was used.
    pub(crate) fn fill(&mut self, frames: &mut [Frame], frame: usize, node: ArgId) -> Result<(), Stop> {
        self.cut(frames, Place { frame, node, below: true }, &[]).map(|_| ())
    }

    /// Whether a cut makes the analysis of the block more precise.
    fn strengthens(&mut self, flat: &Flat, place: Place, parts: &[ComponentPrecision]) -> bool {
        let instance = self.store.get(flat.frames[place.frame].instance);
        let block = instance.block;
        self.touched(flat.frames[place.frame].instance, place).into_iter().any(|old| {
            let (new, differs) = self.cpa.refine_precision(parts, &old);
            differs && {
                let (new, old) =
                    (self.reducers.reduce_precision(block, &new), self.reducers.reduce_precision(block, &old));
                !self.reducers.same_precision(&new, &old)
            }
        })
    }

    /// The precisions that a cut changes, as they are.
    fn touched(&self, instance: InstanceId, place: Place) -> Vec<Precision> {
        let arg = self.store.get(instance).exploration.arg();
        if place.below || arg.root() == Some(place.node) {
            return vec![arg.precision(place.node).clone()];
        }
        arg.parents(place.node).iter().map(|&(parent, _)| arg.precision(parent).clone()).collect()
    }

    /// Cuts at a place and behind the uses of the graphs around it.
    fn cut(&mut self, frames: &mut [Frame], place: Place, parts: &[ComponentPrecision]) -> Result<bool, Stop> {
        for old in self.touched(frames[place.frame].instance, place) {
            // Section 2.4: a refined precision is at least as strong as the old one.
            let (new, _) = self.cpa.refine_precision(parts, &old);
            if self.cpa.join_precision(&old, &new).1 || self.cpa.refine_precision(parts, &new).1 {
                return Err(Stop::Internal("a refinement makes a precision weaker".to_owned()));
            }
        }
        let mut places = vec![place];
        let mut outer = frames[place.frame].outer;
        while let Some((frame, node)) = outer {
            places.push(Place { frame, node, below: true });
            outer = frames[frame].outer;
        }
        let mut copies: BTreeMap<InstanceId, InstanceId> = BTreeMap::new();
        let mut changed = false;
        let pivot = frames[place.frame].instance;
        for place in &places {
            let old = frames[place.frame].instance;
            let id = self.writable(old, &mut copies);
            // With recursion a graph may be around itself: then what is cut behind the block's use has the pivot in it, and
            // the precision goes to the node that stays.
            let parts = if old == pivot { parts } else { &[] };
            let exploration = &mut self.store.get_mut(id).exploration;
            if !exploration.arg().is_alive(place.node) {
                continue;
            }
            changed |= if place.below {
                exploration.cut_below(&self.cpa, place.node, parts)
            } else {
                exploration.cut(&self.cpa, &Cut { pivot: place.node, precisions: parts.to_vec() })
            };
            self.store.get_mut(id).purge();
        }
        for frame in frames.iter_mut() {
            if let Some(&copy) = copies.get(&frame.instance) {
                frame.instance = copy;
            }
        }
        let refined = copies.get(&pivot).copied().unwrap_or(pivot);
        self.redirect(&copies, refined, parts);
        Ok(changed)
    }

    /// The instance to change: itself, or a copy that takes its place.
    fn writable(&mut self, old: InstanceId, copies: &mut BTreeMap<InstanceId, InstanceId>) -> InstanceId {
        if let Some(&known) = copies.get(&old) {
            return known;
        }
        let id = match self.settings.strategy {
            // Nobody uses the outermost graph, so nobody misses it as it was.
            _ if self.main == Some(old) => self.unsettled(old),
            Strategy::InPlace => self.unsettled(old),
            Strategy::CopyOnWrite => {
                let copy = self.store.get(old).duplicate((self.settings.waitlist)());
                self.store.statistics.copies += 1;
                let id = self.store.insert(copy);
                self.store.register(&self.cpa, &mut self.reducers, id);
                id
            }
        };
        copies.insert(old, id);
        id
    }

    fn unsettled(&mut self, id: InstanceId) -> InstanceId {
        self.store.get_mut(id).settled = false;
        id
    }

    /// Looks up again what used graphs that were changed before they were finished. Copies: a graph that never was finished
    /// is replaced everywhere. In place: the exit states of a recursive block depend on each other, so whoever has some of
    /// them takes up all again.
    fn redirect(
        &mut self,
        copies: &BTreeMap<InstanceId, InstanceId>,
        refined: InstanceId,
        parts: &[ComponentPrecision],
    ) {
        let mut changed: BTreeSet<InstanceId> = copies
            .keys()
            .copied()
            .filter(|&old| match self.settings.strategy {
                Strategy::CopyOnWrite => !self.store.get(old).settled && self.main != Some(old),
                Strategy::InPlace => self.blocks.get(self.store.get(old).block).recursive,
            })
            .collect();
        let mut done = BTreeSet::new();
        while let Some(inner) = changed.pop_first() {
            if !done.insert(inner) {
                continue;
            }
            let ids: Vec<InstanceId> = self.store.ids().collect();
            for id in ids {
                let instance = self.store.get(id);
                let stays = match self.settings.strategy {
                    Strategy::CopyOnWrite => instance.settled || copies.get(&id).is_some_and(|&copy| copy != id),
                    Strategy::InPlace => false,
                };
                if stays {
                    continue;
                }
                let using = instance.uses.iter().filter(|(_, uses)| uses.iter().any(|of| of.inner == inner));
                let nodes: Vec<ArgId> = using.map(|(&node, _)| node).collect();
                if nodes.is_empty() {
                    continue;
                }
                let instance = self.store.get_mut(id);
                for node in nodes {
                    if instance.exploration.arg().is_alive(node) {
                        instance.exploration.cut_below(&self.cpa, node, if id == refined { parts } else { &[] });
                    }
                }
                instance.settled = false;
                instance.purge();
                if self.settings.strategy == Strategy::InPlace && self.blocks.get(self.store.get(id).block).recursive {
                    changed.insert(id);
                }
            }
        }
    }
}
