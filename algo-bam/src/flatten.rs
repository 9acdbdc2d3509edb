// SPDX-License-Identifier: Apache-2.0
//! From nested graphs to one path through the whole program, for the wrapped refiner (section 2.2: the block of a block
//! abstraction is inlined whenever a concrete program path is needed).
//!
//! The result is a graph that has everything the path needs: where states were merged inside a block of the wrapped
//! analysis, all ways that lead there. Each of its nodes knows where it comes from, so that cuts can be applied there.

use cpa_core::{Arg, ArgId, Cx, State, Step, Stop, Unfolding};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bam::Bam;
use crate::explore::Found;
use crate::instance::{InstanceId, Link};
use cfa::BlockKind;

/// One use of an instance on the path.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The instance; a refinement may put a copy in its place.
    pub instance: InstanceId,
    /// The frame around it, and the node there where the block begins; none for the whole program.
    pub outer: Option<(usize, ArgId)>,
    /// The node of the path at the entry of the block.
    entry: ArgId,
}

/// A path through the whole program.
#[derive(Debug)]
pub struct Flat {
    /// The path, with all that meets on it.
    pub arg: Arg,
    /// Its end.
    pub target: ArgId,
    /// The uses of instances on the path; the first one is the whole program.
    pub frames: Vec<Frame>,
    /// For each node of the path, in which frame which node it is.
    pub origins: Vec<(usize, ArgId)>,
}

/// What came out of putting a path together.
#[derive(Debug)]
pub enum Flattened {
    /// The path.
    Path(Box<Flat>),
    /// It leads through a block whose graph has changed since: the frames, the frame with the hole, and the node where the
    /// block begins.
    Hole(Vec<Frame>, usize, ArgId),
}

/// Why a path cannot be put together.
enum Break {
    Hole(usize, ArgId),
    Stop(Stop),
}

impl From<Stop> for Break {
    fn from(stop: Stop) -> Self {
        Break::Stop(stop)
    }
}

impl Bam {
    /// The path through the whole program to a node of some instance.
    pub(crate) fn flatten(&mut self, cx: &mut Cx, found: Found) -> Result<Flattened, Stop> {
        let chain = self.context(found.0)?;
        let mut flattener = Flattener { bam: self, arg: Arg::new(), frames: Vec::new(), origins: Vec::new() };
        match flattener.run(cx, &chain, found.1) {
            Ok(target) => {
                let Flattener { arg, frames, origins, .. } = flattener;
                Ok(Flattened::Path(Box::new(Flat { arg, target, frames, origins })))
            }
            Err(Break::Hole(frame, node)) => Ok(Flattened::Hole(flattener.frames, frame, node)),
            Err(Break::Stop(stop)) => Err(stop),
        }
    }

    /// The blocks around an instance, from the whole program inwards: where they begin, and what they use.
    fn context(&self, of: InstanceId) -> Result<Vec<(ArgId, Link)>, Stop> {
        let main = self.main.expect("the exploration has started");
        let mut came: FxHashMap<InstanceId, (InstanceId, ArgId, Link)> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([main]);
        let mut seen = FxHashSet::from_iter([main]);
        while let Some(id) = queue.pop_front() {
            if id == of {
                break;
            }
            let instance = self.store.get(id);
            for (&node, uses) in &instance.uses {
                for used in uses.iter().filter(|_| instance.exploration.arg().is_alive(node)) {
                    if seen.insert(used.inner) {
                        let (entry, precision) = (used.entry.clone(), used.precision.clone());
                        let link = Link { inner: used.inner, exit: node, entry, precision };
                        came.insert(used.inner, (id, node, link));
                        queue.push_back(used.inner);
                    }
                }
            }
        }
        let mut chain = Vec::new();
        let mut current = of;
        while current != main {
            let Some((outer, node, link)) = came.remove(&current) else {
                return Err(Stop::Internal(format!("{current} has a target, but the program does not use it")));
            };
            chain.push((node, link));
            current = outer;
        }
        chain.reverse();
        Ok(chain)
    }
}

struct Flattener<'a> {
    bam: &'a mut Bam,
    arg: Arg,
    frames: Vec<Frame>,
    origins: Vec<(usize, ArgId)>,
}

impl Flattener<'_> {
    fn run(&mut self, cx: &mut Cx, chain: &[(ArgId, Link)], target: ArgId) -> Result<ArgId, Break> {
        let main = self.bam.main.expect("the exploration has started");
        let arg = self.bam.store.get(main).exploration.arg();
        let root = arg.root().expect("the exploration has started");
        let (state, precision, location) = (arg.state(root).clone(), arg.precision(root).clone(), arg.location(root));
        let entry = self.arg.attach(&self.bam.cpa, (state, precision), location, &[]);
        self.frames.push(Frame { instance: main, outer: None, entry });
        self.origins.push((0, root));
        let mut frame = 0;
        for (node, link) in chain {
            let here = self.segment(cx, frame, *node)?;
            frame = self.enter(frame, *node, here, link);
        }
        self.segment(cx, frame, target)
    }

    /// Begins the block that begins at a node, which is `here` on the path.
    fn enter(&mut self, frame: usize, node: ArgId, here: ArgId, link: &Link) -> usize {
        let inner = self.bam.store.get(link.inner);
        let root = inner.exploration.arg().root().expect("the exploration has started");
        let block = self.bam.blocks.get(inner.block);
        let (kind, location) = (block.kind, block.entry);
        let number = self.frames.len();
        let entry = match (kind, self.bam.call_of(self.frames[frame].instance, node)) {
            (BlockKind::Function(_), Some(edge)) => {
                let step = Step::Enter(edge);
                let state = self.unfold(frame, &link.entry, here, step);
                let parts = (state, link.precision.clone());
                self.origins.push((number, root));
                self.arg.attach(&self.bam.cpa, parts, location, &[(here, step)])
            }
            // The loop begins at the node itself.
            _ => here,
        };
        self.frames.push(Frame { instance: link.inner, outer: Some((frame, node)), entry });
        number
    }

    /// A state of a frame as part of the path.
    fn unfold(&mut self, frame: usize, state: &State, before: ArgId, step: Step) -> State {
        let Frame { instance, outer, entry } = self.frames[frame];
        if outer.is_none() {
            return state.clone();
        }
        let block = self.bam.store.get(instance).block;
        let (entry, before) = (self.arg.state(entry), self.arg.state(before));
        self.bam.reducers.unfold(&Unfolding { block, entry, before, step }, state)
    }

    /// The parents through which the path goes: all where paths meet in the middle of something, else the first one, which
    /// is older than the node.
    fn parents(arg: &Arg, id: ArgId) -> &[(ArgId, Step)] {
        let parents = arg.parents(id);
        let one = arg.is_coverable(id) || arg.target(id).is_some();
        if one { &parents[..parents.len().min(1)] } else { parents }
    }

    /// Adds the way from the entry of a frame to one of its nodes.
    fn segment(&mut self, cx: &mut Cx, frame: usize, end: ArgId) -> Result<ArgId, Break> {
        cx.check()?;
        let number = self.frames[frame].instance;
        let arg = self.bam.store.get(number).exploration.arg();
        let root = arg.root().expect("the exploration has started");
        let order = arg.between(root, end, |id| Ok(Self::parents(arg, id)))?;
        let mut here: FxHashMap<ArgId, ArgId> = FxHashMap::from_iter([(root, self.frames[frame].entry)]);
        for id in order.into_iter().filter(|&id| id != root) {
            let arg = self.bam.store.get(number).exploration.arg();
            let (state, precision, location) = (arg.state(id).clone(), arg.precision(id).clone(), arg.location(id));
            let mut arriving: Vec<(ArgId, Step)> = Vec::new();
            let mut same = None;
            for (parent, step) in Self::parents(arg, id).to_vec() {
                let from = here[&parent];
                let link = self.bam.store.get(number).links.get(&(parent, id)).cloned();
                let Some(link) = link else {
                    arriving.push((from, step));
                    continue;
                };
                let exists = self.bam.store.get(link.inner).exploration.arg().is_alive(link.exit);
                if !exists {
                    return Err(Break::Hole(frame, parent));
                }
                let inner = self.enter(frame, parent, from, &link);
                let exit = self.segment(cx, inner, link.exit)?;
                match step {
                    Step::Leave(_) => arriving.push((exit, step)),
                    // The end of the loop is this node.
                    Step::Edge(_) | Step::Enter(_) => same = Some((exit, step)),
                }
            }
            let flat = match (same, arriving.first().copied()) {
                (Some((exit, step)), _) => {
                    let before = self.arg.parents(exit).first().map_or(exit, |&(before, _)| before);
                    let state = self.unfold(frame, &state, before, step);
                    self.arg.replace(&self.bam.cpa, exit, state, precision);
                    exit
                }
                (None, Some((before, step))) => {
                    let state = self.unfold(frame, &state, before, step);
                    self.origins.push((frame, id));
                    self.arg.attach(&self.bam.cpa, (state, precision), location, &arriving)
                }
                (None, None) => {
                    return Err(Break::Stop(Stop::Internal(format!("{id} has no parents, but it is not the root"))));
                }
            };
            here.insert(id, flat);
        }
        Ok(here[&end])
    }
}
