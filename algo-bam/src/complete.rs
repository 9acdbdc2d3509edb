// SPDX-License-Identifier: Apache-2.0
//! Proofs: the check that nothing is left out, and one graph of the whole program without holes (section 5: with
//! copy-on-write refinement every block abstraction still has its graph).
//!
//! The graph contains each instance once, however often it is used: a step into a called function leads to the root of the
//! instance, a step out of it from its end to all places behind its uses; a node where a loop begins is covered by the root of
//! the loop's instance, and what is behind the loop hangs on the last nodes inside. So the graph is no larger than the proof,
//! and it is finite for recursive programs too. Its states are those of the blocks, reduced.

use std::collections::{BTreeMap, BTreeSet};

use cfa::{BlockKind, components};
use cpa_core::{Arg, ArgId, Step};

use crate::bam::Bam;
use crate::cut::Strategy;
use crate::instance::{Instance, InstanceId};

/// A proof as one graph.
#[derive(Debug)]
pub struct Proof {
    /// The graph.
    pub arg: Arg,
    /// For each node the instance and the node there.
    pub origins: Vec<(InstanceId, ArgId)>,
}

impl Bam {
    /// The instances that the proof consists of, the whole program first.
    pub fn used(&self) -> Vec<InstanceId> {
        let mut found: Vec<InstanceId> = self.main.into_iter().collect();
        let mut seen: BTreeSet<InstanceId> = found.iter().copied().collect();
        let mut at = 0;
        while let Some(&id) = found.get(at) {
            at += 1;
            let inner = self.store.get(id).uses.values().flatten().map(|of| of.inner);
            found.extend(inner.filter(|&inner| seen.insert(inner)));
        }
        found
    }

    /// Whether some instance that the proof consists of uses itself, through others or not: then the proof covers recursion of
    /// any depth.
    pub fn is_circular(&self) -> bool {
        let used = self.used();
        let numbers: BTreeMap<InstanceId, usize> = used.iter().enumerate().map(|(number, &id)| (id, number)).collect();
        let inner = |&id: &InstanceId| -> Vec<usize> {
            self.store.get(id).uses.values().flatten().map(|of| numbers[&of.inner]).collect()
        };
        let inner: Vec<Vec<usize>> = used.iter().map(inner).collect();
        let component = components(used.len(), |user, at| inner[user].get(at).copied());
        inner.iter().enumerate().any(|(user, inner)| inner.iter().any(|&of| component[of] == component[user]))
    }

    /// Checks, from the graph of the whole program on, that nothing waits, no target is left, every block was looked up and
    /// all its exit states were taken up. In place, a finished block may have changed after it was used.
    pub fn verify(&self) -> Result<(), String> {
        let Some(main) = self.main else { return Err("nothing was explored".to_owned()) };
        let mut open = vec![main];
        let mut seen: BTreeSet<InstanceId> = BTreeSet::from([main]);
        while let Some(id) = open.pop() {
            let instance = self.store.get(id);
            self.verify_instance(id, instance)?;
            for of in instance.uses.values().flatten() {
                let inner = self.store.get(of.inner);
                if of.sealed && self.settings.strategy == Strategy::InPlace && !inner.settled {
                    continue;
                }
                if !inner.settled {
                    return Err(format!("{id} uses {}, which is not finished", of.inner));
                }
                if !of.sealed {
                    return Err(format!("{id} did not see the end of {}", of.inner));
                }
                if self.settings.strategy == Strategy::CopyOnWrite && !inner.news(of).is_empty() {
                    return Err(format!("{id} did not take up all exit states of {}", of.inner));
                }
                if seen.insert(of.inner) {
                    open.push(of.inner);
                }
            }
        }
        Ok(())
    }

    fn verify_instance(&self, id: InstanceId, instance: &Instance) -> Result<(), String> {
        if cfg!(debug_assertions) {
            instance.exploration.verify().map_err(|broken| format!("{id}: {broken}"))?;
        }
        if instance.exploration.waiting() > 0 {
            return Err(format!("nodes of {id} wait"));
        }
        if !instance.settled {
            return Err(format!("{id} is not finished"));
        }
        let arg = instance.exploration.arg();
        let block = self.blocks.get(instance.block);
        for node in arg.ids() {
            if arg.target(node).is_some() {
                return Err(format!("{node} of {id} is a target"));
            }
            if arg.covered_by(node).is_some() || self.cpa.steps(arg.state(node)).is_empty() {
                continue;
            }
            let location = arg.location(node);
            if block.ends_at(location) {
                if !instance.exits.contains(&node) {
                    return Err(format!("{node} of {id} is at the end of its block, but not known to be"));
                }
                continue;
            }
            let begins = self.blocks.of_head(location).is_some_and(|inner| inner != instance.block);
            if (begins || self.call_of(id, node).is_some()) && !instance.uses.contains_key(&node) {
                let call = self.call_of(id, node);
                // A call whose arguments are impossible enters nothing; the entry is computed at most once per node, so
                // only a block that was never looked up is wrong.
                if begins || call.is_none() {
                    return Err(format!("the block at {node} of {id} was not looked up"));
                }
            }
        }
        Ok(())
    }

    /// One graph of the whole program; none while the proof has holes, which only happens with refinement in place.
    pub fn proof(&self) -> Option<Proof> {
        let ids = self.used();
        if ids.iter().any(|&id| !self.store.get(id).settled) {
            return None;
        }
        let mut proof = Proof { arg: Arg::new(), origins: Vec::new() };
        let mut flat: BTreeMap<(InstanceId, ArgId), ArgId> = BTreeMap::new();
        for &id in &ids {
            let arg = self.store.get(id).exploration.arg();
            let root = arg.root()?;
            for node in std::iter::once(root).chain(arg.ids().filter(|&node| node != root)) {
                if self.ends_loop(id, node) {
                    continue;
                }
                let parts = (arg.state(node).clone(), arg.precision(node).clone());
                flat.insert((id, node), proof.arg.attach(&self.cpa, parts, arg.location(node), &[]));
                proof.origins.push((id, node));
            }
        }
        for &id in &ids {
            let instance = self.store.get(id);
            let arg = instance.exploration.arg();
            for node in arg.ids() {
                let Some(&here) = flat.get(&(id, node)) else { continue };
                for &(parent, step) in arg.parents(node) {
                    for source in self.sources(&flat, (id, parent), step) {
                        proof.arg.link(source, step, here);
                    }
                }
                let call = self.call_of(id, node);
                for of in instance.uses.get(&node).into_iter().flatten() {
                    let root = flat[&(of.inner, self.store.get(of.inner).exploration.arg().root()?)];
                    match call {
                        Some(edge) => proof.arg.link(here, Step::Enter(edge), root),
                        None => proof.arg.note_cover(here, root),
                    }
                }
                if let Some(by) = arg.covered_by(node) {
                    proof.arg.note_cover(here, flat[&(id, by)]);
                }
            }
        }
        Some(proof)
    }

    /// Whether a node is behind the loop that its instance is: the graph around it has what follows.
    fn ends_loop(&self, id: InstanceId, node: ArgId) -> bool {
        let instance = self.store.get(id);
        let block = self.blocks.get(instance.block);
        matches!(block.kind, BlockKind::Loop(_)) && block.ends_at(instance.exploration.arg().location(node))
    }

    /// Where a step really begins that leads away from a node: at the end of the block that the node enters, if it does.
    fn sources(
        &self,
        flat: &BTreeMap<(InstanceId, ArgId), ArgId>,
        (id, node): (InstanceId, ArgId),
        step: Step,
    ) -> BTreeSet<ArgId> {
        let Some(uses) = self.store.get(id).uses.get(&node) else { return BTreeSet::from([flat[&(id, node)]]) };
        let call = self.call_of(id, node);
        let mut found = BTreeSet::new();
        for of in uses {
            let inner = self.store.get(of.inner);
            for exit in inner.exits() {
                if call.is_some() {
                    found.insert(flat[&(of.inner, exit)]);
                    continue;
                }
                let before = inner.exploration.arg().parents(exit).iter().filter(|&&(_, last)| last == step);
                before.for_each(|&(parent, last)| found.extend(self.sources(flat, (of.inner, parent), last)));
            }
        }
        found
    }
}
