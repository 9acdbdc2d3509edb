// SPDX-License-Identifier: Apache-2.0
//! The exploration: at the entry of a block a nested analysis runs, its exit states are expanded (section 2.2).
//!
//! The nested analysis is not a call of the host language but an entry on a stack: the topmost instance is explored until it
//! meets a block that is not finished, which then comes on top. An instance is settled when it and all that it uses is
//! finished. With recursion a block may use itself; then the instances that depend on each other are looked at again until
//! none has exit states that another one has not seen, and only then all of them are settled together.

use cfa::{BlockId, EdgeId};
use cpa_core::algorithm::{add_successor, explore, next};
use cpa_core::{ArgId, Cx, Exploration, Precision, Site, State, Step, Stop};

use crate::bam::Bam;
use crate::instance::{Instance, InstanceId, Link, Use};

/// A target that was found, and in which instance.
pub(crate) type Found = (InstanceId, ArgId);

/// Why the exploration of an instance paused.
enum Pause {
    /// Nothing waits.
    Idle,
    /// A target was found.
    Target,
    /// This block is to be finished first.
    Enter(InstanceId),
}

/// What an instance depends on, apart from what is settled.
struct Dependencies {
    /// The instances that are not on the stack.
    members: Vec<InstanceId>,
    /// Whether one of them, or the instance itself, waits for one that is below it on the stack.
    below: bool,
    /// One of them that has something to do.
    unfinished: Option<InstanceId>,
}

impl Bam {
    /// Explores until a target is found or everything is settled.
    pub(crate) fn explore(&mut self, cx: &mut Cx) -> Result<Option<Found>, Stop> {
        let mut stack = vec![self.start(cx)?];
        while let Some(&top) = stack.last() {
            cx.check()?;
            self.limit_memory();
            let instance = self.store.get(top);
            if let Some(target) = instance.target() {
                return Ok(Some((top, target)));
            }
            if instance.settled {
                stack.pop();
                continue;
            }
            match self.advance(cx, top)? {
                Pause::Target => continue,
                Pause::Enter(inner) if !stack.contains(&inner) => {
                    stack.push(inner);
                    self.statistics.max_depth = self.statistics.max_depth.max(stack.len());
                    continue;
                }
                Pause::Enter(_) => continue,
                Pause::Idle => {}
            }
            self.take_up(cx, top)?;
            if self.store.get(top).exploration.waiting() > 0 {
                continue;
            }
            let dependencies = self.dependencies(top, &stack);
            if let Some(inner) = dependencies.unfinished {
                stack.push(inner);
                continue;
            }
            if !dependencies.below {
                self.settle(top);
                dependencies.members.into_iter().for_each(|member| self.settle(member));
            }
            stack.pop();
        }
        Ok(None)
    }

    /// Gives back the memory of what was dropped from the cache, when that is worth it.
    fn limit_memory(&mut self) {
        if let Some(main) = self.main
            && self.settings.max_cached > 0
            && self.store.created() > self.next_collection
        {
            self.store.collect(main);
            self.next_collection = self.store.created() + self.store.len().max(self.settings.max_cached);
        }
    }

    fn settle(&mut self, id: InstanceId) {
        let instance = self.store.get_mut(id);
        instance.settled = true;
        for node in std::mem::take(&mut instance.pending) {
            instance.uses.get_mut(&node).into_iter().flatten().for_each(|of| of.sealed = true);
        }
    }

    /// What an instance waits for.
    fn dependencies(&self, top: InstanceId, stack: &[InstanceId]) -> Dependencies {
        let mut found = Dependencies { members: Vec::new(), below: false, unfinished: None };
        let mut open = vec![top];
        while let Some(id) = open.pop() {
            let instance = self.store.get(id);
            for inner in instance.pending.iter().flat_map(|node| &instance.uses[node]).map(|of| of.inner) {
                let there = self.store.get(inner);
                if there.settled || inner == top || found.members.contains(&inner) {
                    continue;
                }
                if stack.contains(&inner) {
                    found.below = true;
                    continue;
                }
                found.members.push(inner);
                open.push(inner);
                if self.has_work(there) {
                    found.unfinished = Some(inner);
                    return found;
                }
            }
        }
        found
    }

    fn has_work(&self, instance: &Instance) -> bool {
        let news = |of: &Use| !self.store.get(of.inner).news(of).is_empty();
        instance.exploration.waiting() > 0
            || instance.target().is_some()
            || instance.pending.iter().flat_map(|node| &instance.uses[node]).any(news)
    }

    /// The instance of the whole program.
    fn start(&mut self, cx: &mut Cx) -> Result<InstanceId, Stop> {
        if let Some(main) = self.main {
            return Ok(main);
        }
        let (state, precision, location) = self.cpa.initial(cx)?;
        let mut exploration = Exploration::new((self.settings.waitlist)(), self.settings.remerge);
        exploration.start_at(&self.cpa, state.clone(), precision.clone(), location);
        let main = self.store.insert(Instance::new(self.blocks.main(), state, precision, exploration));
        self.main = Some(main);
        Ok(main)
    }

    /// Expands nodes of an instance.
    fn advance(&mut self, cx: &mut Cx, at: InstanceId) -> Result<Pause, Stop> {
        loop {
            let instance = self.store.get_mut(at);
            let Some(id) = next(cx, &mut self.cpa, &mut instance.exploration)? else { return Ok(Pause::Idle) };
            self.statistics.expanded += 1;
            let location = instance.exploration.arg().location(id);
            let steps = instance.exploration.take_steps(&self.cpa, id);
            if instance.exploration.arg().target(id).is_some() {
                instance.targets.insert(id);
                return Ok(Pause::Target);
            }
            if self.blocks.get(instance.block).ends_at(location) {
                instance.exits.insert(id);
                continue;
            }
            if let Some(block) = self.blocks.of_head(location).filter(|&block| block != instance.block) {
                if let Some(pause) = self.visit(cx, at, id, (block, None))? {
                    return Ok(pause);
                }
                continue;
            }
            for (index, &step) in steps.iter().enumerate() {
                let pause = match self.call(step, location) {
                    Some((block, edge)) => self.visit(cx, at, id, (block, Some(edge))),
                    None => self.step(cx, at, id, step),
                };
                match pause {
                    Ok(None) => {}
                    Ok(Some(pause)) => {
                        let rest = steps[index + 1..].iter().copied();
                        self.store.get_mut(at).exploration.requeue_steps(id, rest);
                        return Ok(pause);
                    }
                    Err(stop) => {
                        let rest = steps[index..].iter().copied();
                        self.store.get_mut(at).exploration.requeue_steps(id, rest);
                        return Err(stop);
                    }
                }
            }
        }
    }

    fn step(&mut self, cx: &mut Cx, at: InstanceId, id: ArgId, step: Step) -> Result<Option<Pause>, Stop> {
        let instance = self.store.get_mut(at);
        let target = explore(cx, &mut self.cpa, &mut instance.exploration, id, step)?;
        instance.targets.extend(target);
        Ok(target.map(|_| Pause::Target))
    }

    /// The block that a step from a call site runs. Children behind a block hang on the step that leaves it, so that step is
    /// what waits again when they are removed.
    fn call(&self, step: Step, location: cfa::NodeId) -> Option<(BlockId, EdgeId)> {
        let (Step::Enter(edge) | Step::Leave(edge)) = step else { return None };
        let here = self.program.edge(edge).src == location;
        self.blocks.of_call(&self.program, edge).filter(|_| here).map(|block| (block, edge))
    }

    /// A node is at the entry of a block: looks the block up and takes up what is known about it.
    fn visit(
        &mut self,
        cx: &mut Cx,
        at: InstanceId,
        id: ArgId,
        (block, call): (BlockId, Option<EdgeId>),
    ) -> Result<Option<Pause>, Stop> {
        let result = self.enter(cx, at, id, (block, call)).and_then(|()| {
            let has_target = self.store.get(at).target().is_some();
            if !has_target {
                self.take_up_at(cx, at, id)?;
            }
            Ok(has_target)
        });
        match result {
            Ok(true) => return Ok(Some(Pause::Target)),
            Ok(false) => {}
            Err(stop) => {
                self.store.get_mut(at).exploration.requeue(id);
                return Err(stop);
            }
        }
        if self.store.get(at).target().is_some() {
            return Ok(Some(Pause::Target));
        }
        let uses = self.store.get(at).uses.get(&id).into_iter().flatten();
        let unfinished = uses.map(|of| of.inner).find(|&inner| inner != at && !self.store.get(inner).settled);
        Ok(unfinished.map(Pause::Enter))
    }

    fn enter(
        &mut self,
        cx: &mut Cx,
        at: InstanceId,
        id: ArgId,
        (block, call): (BlockId, Option<EdgeId>),
    ) -> Result<(), Stop> {
        let arg = self.store.get(at).exploration.arg();
        let (state, precision) = (arg.state(id).clone(), arg.precision(id).clone());
        let mut entries: Vec<(State, Precision)> = Vec::new();
        match call {
            None => entries.push((state, precision)),
            Some(edge) => {
                let step = Step::Enter(edge);
                let location = step.destination(&self.program);
                for entry in self.cpa.transfer(cx, &state, step, &precision)? {
                    let Some(entry) = self.cpa.adjust(cx, entry, &precision, location, Some(step))? else { continue };
                    if self.cpa.target(&entry.0).is_none() {
                        entries.push(entry);
                        continue;
                    }
                    let instance = self.store.get_mut(at);
                    let added =
                        add_successor(cx, &mut self.cpa, &mut instance.exploration, entry, location, (id, step))?;
                    instance.targets.insert(added.node());
                }
            }
        }
        let mut uses = Vec::new();
        for (entry, precision) in entries {
            let inner = self.instance(cx, block, &entry, &precision)?;
            uses.push(Use { inner, entry, precision, done: Vec::new(), sealed: false });
        }
        let instance = self.store.get_mut(at);
        instance.pending.remove(&id);
        if uses.is_empty() {
            instance.uses.remove(&id);
        } else {
            instance.pending.insert(id);
            instance.uses.insert(id, uses);
        }
        Ok(())
    }

    /// The instance for a block that is entered with a state and a precision.
    fn instance(
        &mut self,
        cx: &mut Cx,
        block: BlockId,
        entry: &State,
        precision: &Precision,
    ) -> Result<InstanceId, Stop> {
        let entry = self.reducers.reduce(cx, block, entry)?;
        let precision = self.reducers.reduce_precision(block, precision);
        let key = (block, &entry, &precision);
        if let Some(known) = self.store.find(cx, &mut self.cpa, &mut self.reducers, key)? {
            return Ok(known);
        }
        let mut exploration = Exploration::new((self.settings.waitlist)(), self.settings.remerge);
        let location = self.blocks.get(block).entry;
        exploration.start_at(&self.cpa, entry.clone(), precision.clone(), location);
        let id = self.store.insert(Instance::new(block, entry, precision, exploration));
        self.store.register(&self.cpa, &mut self.reducers, id);
        if self.settings.max_cached > 0 {
            self.store.evict(self.settings.max_cached);
        }
        Ok(id)
    }

    /// Takes up the exit states of all blocks that an instance waits for.
    fn take_up(&mut self, cx: &mut Cx, at: InstanceId) -> Result<(), Stop> {
        let pending: Vec<ArgId> = self.store.get(at).pending.iter().copied().collect();
        for id in pending {
            if self.store.get(at).exploration.arg().is_alive(id) {
                self.take_up_at(cx, at, id)?;
            } else {
                let instance = self.store.get_mut(at);
                instance.pending.remove(&id);
                instance.uses.remove(&id);
            }
        }
        Ok(())
    }

    /// Takes up the exit states of the blocks that begin at a node.
    fn take_up_at(&mut self, cx: &mut Cx, at: InstanceId, id: ArgId) -> Result<(), Stop> {
        let uses = self.store.get(at).uses.get(&id).map_or(0, Vec::len);
        let mut finished = true;
        for index in 0..uses {
            let of = &self.store.get(at).uses[&id][index];
            let inner = self.store.get(of.inner);
            // Asked before the exit states are looked at: once settled there are no more.
            let settled = inner.settled;
            for exit in inner.news(of) {
                self.leave(cx, at, id, index, exit)?;
            }
            finished &= settled;
            if settled && let Some(of) = self.store.get_mut(at).uses.get_mut(&id).and_then(|uses| uses.get_mut(index)) {
                of.sealed = true;
            }
        }
        if finished {
            self.store.get_mut(at).pending.remove(&id);
        }
        Ok(())
    }

    /// Expands an exit state and adds what follows it.
    fn leave(&mut self, cx: &mut Cx, at: InstanceId, id: ArgId, index: usize, exit: ArgId) -> Result<(), Stop> {
        let of = self.store.get(at).uses[&id][index].clone();
        let caller = self.store.get(at).exploration.arg().state(id).clone();
        let inner = self.store.get(of.inner);
        let block = inner.block;
        let arg = inner.exploration.arg();
        let (state, learned) = (arg.state(exit).clone(), arg.precision(exit).clone());
        let call = self.call_of(at, id);
        let site = Site { block, call, caller: &caller, entry: &of.entry };
        let expanded = self.reducers.expand(cx, &site, &state)?;
        let (step, location) = match (call, arg.parents(exit).first()) {
            (Some(edge), _) => (Step::Leave(edge), self.program.edge(edge).dst),
            (None, Some(&(_, step))) => (step, arg.location(exit)),
            (None, None) => return Err(Stop::Internal(format!("{block} ends where it begins"))),
        };
        let precision = self.reducers.expand_precision(&of.precision, &learned);
        let successors = match call {
            None => vec![expanded],
            Some(_) => self.cpa.transfer(cx, &expanded, step, &precision)?,
        };
        let recursive = self.blocks.get(block).recursive;
        for successor in successors {
            let successor = match call {
                Some(edge) if recursive => self.reducers.rebuild(edge, &caller, &successor),
                _ => successor,
            };
            let Some(adjusted) = self.cpa.adjust(cx, successor, &precision, location, Some(step))? else { continue };
            let instance = self.store.get_mut(at);
            let added = add_successor(cx, &mut self.cpa, &mut instance.exploration, adjusted, location, (id, step))?;
            let child = added.node();
            if instance.exploration.arg().target(child).is_some() {
                instance.targets.insert(child);
            }
            let link = Link { inner: of.inner, exit, entry: of.entry.clone(), precision: of.precision.clone() };
            // The oldest origin is kept: following oldest origins a path back always ends.
            instance.links.entry((id, child)).or_insert(link);
        }
        if let Some(of) = self.store.get_mut(at).uses.get_mut(&id).and_then(|uses| uses.get_mut(index)) {
            of.done.retain(|(done, _)| *done != exit);
            of.done.push((exit, state));
        }
        Ok(())
    }

    /// The call edge at the location of a node; none if a loop begins there.
    pub(crate) fn call_of(&self, at: InstanceId, id: ArgId) -> Option<EdgeId> {
        let instance = self.store.get(at);
        let location = instance.exploration.arg().location(id);
        if self.blocks.of_head(location).is_some_and(|block| block != instance.block) {
            return None;
        }
        let mut leaving = self.program.node(location).leaving.iter().copied();
        leaving.find(|&edge| self.blocks.of_call(&self.program, edge).is_some())
    }
}
