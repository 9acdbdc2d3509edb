// SPDX-License-Identifier: Apache-2.0
//! The domains as options describe them: what analyses of a whole program and of blocks have in common.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use algo_cegar::Chain;
use cfa::ids::NodeId;
use cfa::{Program, VarId};
use cpa_core::{Arg, ArgId, CallstackCpa, ComponentPrecision, Composite, Handle, LocationCpa, Remerge};
use cpa_octagon::numeric::Kind;
use cpa_octagon::{OctagonCpa, OctagonOptions, OctagonRefiner, Thresholds, Transfer};
use cpa_value::{
    Machine, MergeKind, Place, Precision, Preference, RefinerStatistics, Sharing, Slot, SlotSet, Tracker, ValueCpa,
    ValueRefiner, ValueTracker,
};
use loopabs::StrategyCpa;

use super::Strategies;
use crate::options::{
    Config, InitialPrecision, MergeType, NumericDomain, OctagonMerge, PrecisionSharing, PrefixPreference,
};

/// The handles of the analyses that every composite begins with.
pub(super) struct Frame {
    pub(super) location: Handle<LocationCpa>,
    pub(super) strategy: Option<Handle<StrategyCpa>>,
    pub(super) callstack: Handle<CallstackCpa>,
}

/// A composite of locations and call stacks, with loop abstraction between them if there are strategies.
pub(super) fn composite(
    program: &Arc<Program>,
    targets: BTreeSet<NodeId>,
    strategies: Option<&Strategies>,
) -> (Composite, Frame) {
    let locations = LocationCpa::new(Arc::clone(program), targets).towards_targets();
    composite_over(program, locations, strategies)
}

/// The same with locations that are made by the caller.
pub(super) fn composite_over(
    program: &Arc<Program>,
    locations: LocationCpa,
    strategies: Option<&Strategies>,
) -> (Composite, Frame) {
    let mut composite = Composite::new(Arc::clone(program));
    let location = composite.add(locations);
    let strategy = strategies.map(|strategies| strategies.add(&mut composite));
    let callstack = composite.add(CallstackCpa::new(Arc::clone(program)));
    (composite, Frame { location, strategy, callstack })
}

/// What is done with waiting states when two are merged: those of a separate one stay.
fn remerge(separate: bool) -> Remerge {
    if separate { Remerge::Prune } else { Remerge::Keep }
}

/// Explicit values.
pub(super) struct Values {
    pub(super) machine: Rc<Machine>,
    merge: MergeKind,
    sharing: Sharing,
    preference: Preference,
}

impl Values {
    pub(super) fn new(program: &Arc<Program>, config: &Config) -> Self {
        Self {
            machine: Rc::new(Machine::new(Arc::clone(program))),
            merge: match config.value_merge {
                MergeType::Sep => MergeKind::Separate,
                MergeType::Join => MergeKind::Join,
            },
            sharing: match config.value_sharing {
                PrecisionSharing::Scope => Sharing::Everywhere,
                PrecisionSharing::Location => Sharing::Location,
            },
            preference: match config.value_prefixes {
                PrefixPreference::Best => Preference::Best,
                PrefixPreference::Shortest => Preference::Shortest,
                PrefixPreference::Longest => Preference::Longest,
            },
        }
    }

    /// The analysis; one that is not refined tracks everything.
    pub(super) fn cpa(&self, refined: bool) -> ValueCpa {
        let initial = match self.sharing {
            _ if !refined => Precision::Full,
            Sharing::Everywhere => Precision::Everywhere(Rc::default()),
            Sharing::Location => Precision::Located(Rc::default()),
        };
        ValueCpa::new(Rc::clone(&self.machine), self.merge, initial)
    }

    pub(super) fn refiner(&self, handle: Handle<ValueCpa>) -> ValueRefiner {
        let tracker = ValueTracker::new(handle, Rc::clone(&self.machine), self.sharing);
        ValueRefiner::new(Rc::clone(&self.machine), Box::new(tracker), self.preference)
    }

    pub(super) fn remerge(&self) -> Remerge {
        remerge(self.merge == MergeKind::Separate)
    }
}

/// Octagons, or another numerical domain in their place.
pub(super) struct Octagons {
    pub(super) transfer: Rc<Transfer>,
    options: OctagonOptions,
    thresholds: bool,
    /// How long a path is looked at with all variables.
    time: Option<Duration>,
}

impl Octagons {
    pub(super) fn new(program: &Arc<Program>, config: &Config) -> Self {
        let merge = match config.octagon_merge {
            OctagonMerge::Sep => cpa_octagon::MergeKind::Separate,
            OctagonMerge::Join => cpa_octagon::MergeKind::Join,
            OctagonMerge::Widening => cpa_octagon::MergeKind::Widening,
        };
        let refineable = config.octagon_precision == InitialPrecision::Empty;
        let domain = match config.numeric_domain {
            NumericDomain::Boxes => Kind::Boxes,
            NumericDomain::Octagon => Kind::Octagon,
            NumericDomain::Equalities => Kind::Equalities,
            // Between integers a strict inequality is a closed one.
            NumericDomain::Polyhedra | NumericDomain::StrictPolyhedra => Kind::Polyhedra,
        };
        let transfer = Transfer::new(Arc::clone(program)).with_floats(config.octagon_floats).with_domain(domain);
        Self {
            transfer: Rc::new(transfer),
            options: OctagonOptions { merge, only_at_loop_heads: config.octagon_heads, refineable },
            thresholds: config.octagon_thresholds,
            time: config.octagon_time,
        }
    }

    pub(super) fn cpa(&self) -> OctagonCpa {
        let thresholds = if self.thresholds { self.transfer.thresholds() } else { Thresholds::default() };
        OctagonCpa::new(Rc::clone(&self.transfer), self.options).with_thresholds(thresholds)
    }

    /// The delegating refiner: explicit values first, then octagons; nothing when the precision is not refined. An exact
    /// check has to follow. With it the statistics of the refiner by values.
    pub(super) fn refiner(
        &self,
        handle: Handle<OctagonCpa>,
        program: &Arc<Program>,
    ) -> (Chain, Option<Rc<Cell<RefinerStatistics>>>) {
        let mut chain = Chain::new();
        let mut statistics = None;
        if self.options.refineable {
            let machine = Rc::new(Machine::new(Arc::clone(program)));
            let tracker = OctagonTracker { handle, machine: Rc::clone(&machine) };
            let values = ValueRefiner::new(machine, Box::new(tracker), Preference::Best);
            statistics = Some(values.statistics());
            let octagons = OctagonRefiner::new(Rc::clone(&self.transfer), handle, self.time);
            chain = chain.then(Box::new(values)).then(Box::new(octagons));
        }
        (chain, statistics)
    }

    pub(super) fn remerge(&self) -> Remerge {
        remerge(self.options.merge == cpa_octagon::MergeKind::Separate)
    }
}

/// Tracks in octagons what a refutation by explicit values needs. Memory cells are left out: octagons have none.
struct OctagonTracker {
    handle: Handle<OctagonCpa>,
    machine: Rc<Machine>,
}

impl OctagonTracker {
    fn var(&self, slot: Slot) -> Option<VarId> {
        match self.machine.place(slot) {
            Place::Var(var) => Some(var),
            Place::Cell(_) | Place::Zeros(_) | Place::Heap => None,
        }
    }
}

impl Tracker for OctagonTracker {
    fn lacks(&self, arg: &Arg, node: ArgId, slot: Slot) -> bool {
        let tracked = arg.precision(node).get(self.handle);
        self.var(slot).is_some_and(|var| tracked.as_ref().is_some_and(|tracked| !tracked.contains(&var)))
    }

    fn track(
        &self,
        arg: &Arg,
        target: ArgId,
        slots: &SlotSet,
        _needed: &[(NodeId, SlotSet)],
    ) -> Vec<ComponentPrecision> {
        let vars = slots.iter().filter_map(|slot| self.var(slot)).collect();
        vec![OctagonRefiner::track(self.handle, arg, target, vars)]
    }
}
