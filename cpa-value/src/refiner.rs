// SPDX-License-Identifier: Apache-2.0
//! The refiner of the explicit-value analysis: no solver, only values (document 001, section 2.4.2).
//!
//! A path that the values refute gives places to track; the graph is cut at the first node that lacks one of them (lazy
//! refinement). For a path that they do not refute, inputs are looked for; without success the next refiner is asked.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cfa::{NodeId, Op};
use cpa_core::{Arg, ArgId, ComponentPrecision, Cut, Cx, Handle, Refinement, Refiner, Stop};
use rustc_hash::FxHashSet;

use crate::cpa::ValueCpa;
use crate::inputs::search;
use crate::machine::Machine;
use crate::path::{Refutation, refutations, run};
use crate::place::{Place, Slot, var_slot};
use crate::precision::{Precision, SlotSet, Tracked};

/// Where a place is tracked that a refutation needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// At all locations behind the pivot.
    #[default]
    Everywhere,
    /// At the locations where its value matters.
    Location,
}

/// Which of the refutations of a path is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Preference {
    /// The one with the fewest and best places: no loop counters if possible.
    #[default]
    Best,
    /// The first one on the path.
    Shortest,
    /// The last one on the path.
    Longest,
}

/// Counts of what the refiner did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RefinerStatistics {
    /// Paths that were examined.
    pub paths: u64,
    /// Those that the values refuted.
    pub refuted: u64,
    /// Those for which inputs were found.
    pub feasible: u64,
    /// Places in all refutations.
    pub places: u64,
}

/// What a refutation means for the analysis that found the path.
pub trait Tracker {
    /// Whether the node lacks the value of a slot that a refutation needs there.
    fn lacks(&self, arg: &Arg, node: ArgId, slot: Slot) -> bool;
    /// The precisions that make the analysis track what is needed: `slots` are all places, `needed` those whose values
    /// matter at the locations of the path.
    fn track(&self, arg: &Arg, target: ArgId, slots: &SlotSet, needed: &[(NodeId, SlotSet)])
    -> Vec<ComponentPrecision>;
}

/// Tracks in the explicit-value analysis.
pub struct ValueTracker {
    handle: Handle<ValueCpa>,
    machine: Rc<Machine>,
    sharing: Sharing,
}

impl ValueTracker {
    /// Tracks in the component with the given handle.
    pub fn new(handle: Handle<ValueCpa>, machine: Rc<Machine>, sharing: Sharing) -> Self {
        Self { handle, machine, sharing }
    }
}

impl Tracker for ValueTracker {
    fn lacks(&self, arg: &Arg, node: ArgId, slot: Slot) -> bool {
        let state = arg.state(node).get(self.handle);
        match self.machine.place(slot) {
            Place::Zeros(region) => !state.has_zeros(region),
            Place::Var(_) | Place::Cell(_) | Place::Heap => !state.knows(slot),
        }
    }

    fn track(
        &self,
        arg: &Arg,
        target: ArgId,
        slots: &SlotSet,
        needed: &[(NodeId, SlotSet)],
    ) -> Vec<ComponentPrecision> {
        let more = match self.sharing {
            Sharing::Everywhere => Precision::Everywhere(Rc::new(slots.clone())),
            Sharing::Location => {
                let mut map = BTreeMap::<NodeId, SlotSet>::new();
                for (node, slots) in needed {
                    map.entry(*node).or_default().extend(slots);
                }
                Precision::Located(Rc::new(map))
            }
        };
        vec![self.handle.precision(arg.precision(target).get(self.handle).union(&more))]
    }
}

/// Decides abstract counterexamples by values alone, as far as they do.
pub struct ValueRefiner {
    machine: Rc<Machine>,
    tracker: Box<dyn Tracker>,
    preference: Preference,
    /// Variables that count loop iterations: tracking them unrolls the loop.
    counters: FxHashSet<Slot>,
    statistics: Rc<Cell<RefinerStatistics>>,
}

impl ValueRefiner {
    /// A refiner that makes the analysis behind `tracker` more precise.
    pub fn new(machine: Rc<Machine>, tracker: Box<dyn Tracker>, preference: Preference) -> Self {
        let counters = counters(&machine);
        Self { machine, tracker, preference, counters, statistics: Rc::default() }
    }

    /// Counts of what happened; they go on when the refiner is used.
    pub fn statistics(&self) -> Rc<Cell<RefinerStatistics>> {
        Rc::clone(&self.statistics)
    }

    fn badness(&self, slot: Slot) -> u32 {
        match self.machine.place(slot) {
            Place::Var(_) if self.counters.contains(&slot) => 1000,
            Place::Var(_) => 1,
            Place::Cell(_) => 2,
            Place::Zeros(_) => 1,
            // In a loop that makes objects this is a counter too.
            Place::Heap => 100,
        }
    }

    fn choose(&self, refutations: Vec<Refutation>) -> Option<Refutation> {
        match self.preference {
            Preference::Best => refutations.into_iter().min_by_key(|refutation| {
                refutation.slots.iter().map(|slot| u64::from(self.badness(slot))).sum::<u64>()
            }),
            Preference::Shortest => refutations.into_iter().next(),
            Preference::Longest => refutations.into_iter().last(),
        }
    }

    fn count(&self, change: impl FnOnce(&mut RefinerStatistics)) {
        let mut statistics = self.statistics.get();
        change(&mut statistics);
        self.statistics.set(statistics);
    }
}

impl Refiner for ValueRefiner {
    fn name(&self) -> &'static str {
        "value"
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        self.count(|statistics| statistics.paths += 1);
        let path = arg.path_to(target);
        let found = refutations(cx, &self.machine, &path.steps, &|slot| self.badness(slot))?;
        let Some(refutation) = self.choose(found) else {
            if self.machine.recurs(&path.steps) {
                // The search has one instance of each variable.
                return Ok(Refinement::NotMine);
            }
            let states = run(cx, &self.machine, &path.steps, Tracked::All, usize::MAX)?.states;
            return Ok(match search(&self.machine, &path.steps, &states) {
                Some(counterexample) => {
                    self.count(|statistics| statistics.feasible += 1);
                    Refinement::Feasible(counterexample)
                }
                None => Refinement::NotMine,
            });
        };
        let lacking = |position: &usize| {
            let node = path.nodes[*position];
            refutation.needed[*position].iter().any(|&slot| self.tracker.lacks(arg, node, slot))
        };
        // At the root nothing is known.
        let Some(pivot) = (1..refutation.needed.len()).find(lacking) else { return Ok(Refinement::NotMine) };
        self.count(|statistics| {
            statistics.refuted += 1;
            statistics.places += refutation.slots.len() as u64;
        });
        let located = refutation.needed.iter().zip(&path.nodes).map(|(slots, &node)| {
            let slots: SlotSet = slots.iter().copied().collect();
            (arg.location(node), slots)
        });
        let needed: Vec<(NodeId, SlotSet)> = located.filter(|(_, slots)| !slots.is_empty()).collect();
        let precisions = self.tracker.track(arg, target, &refutation.slots, &needed);
        Ok(Refinement::Spurious { cuts: vec![Cut { pivot: path.nodes[pivot], precisions }] })
    }
}

/// The variables that are computed from themselves.
fn counters(machine: &Machine) -> FxHashSet<Slot> {
    let program = machine.program();
    let mut counters = FxHashSet::default();
    for edge in program.edge_ids() {
        if let Op::Assign { var, value } = &program.edge(edge).op
            && program.exprs.vars(*value).contains(var)
        {
            counters.insert(var_slot(*var));
        }
    }
    counters
}

impl std::fmt::Debug for ValueRefiner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValueRefiner").field("statistics", &self.statistics.get()).finish_non_exhaustive()
    }
}
