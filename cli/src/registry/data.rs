// SPDX-License-Identifier: Apache-2.0
//! Analyses of values, alone or beside predicates, and of octagons, put together.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_cegar::{Cegar, Chain};
use cfa::ids::NodeId;
use cfa::{Program, VarId};
use cpa_core::{
    Arg, ArgId, CallstackCpa, ComponentPrecision, Composite, Cx, Exploration, Handle, Invariants, LocationCpa, Outcome,
    Refiner, Remerge,
};
use cpa_octagon::{OctagonCpa, OctagonOptions, OctagonRefiner, Transfer};
use cpa_predicate::{Manager, PathCheck, PredicateCpa, PredicateRefiner};
use cpa_value::{
    Machine, MergeKind, Place, Precision, Preference, RefinerStatistics, Sharing, Slot, SlotSet, Tracker, ValueCpa,
    ValueRefiner, ValueTracker,
};
use smt::itp::Portfolio;

use super::cegar::{explored, interpolation, predicate_cpa, refiner_options, waitlist};
use super::check::PathProgramCheck;
use super::{Analysis, Strategies, evidence, manager};
use crate::options::{
    Algorithm, Config, Domains, InitialPrecision, MergeType, OctagonMerge, PrecisionSharing, PrefixPreference,
};

/// An analysis of values or octagons with its refinement loop.
pub struct DataAnalysis {
    cegar: Cegar,
    /// What the refiner by values did; none without one.
    refiner: Option<Rc<Cell<RefinerStatistics>>>,
    program: Arc<Program>,
    /// The domains, for reading states.
    value: Option<Handle<ValueCpa>>,
    predicate: Option<(Handle<PredicateCpa>, Rc<RefCell<Manager>>)>,
    octagon: Option<Handle<OctagonCpa>>,
    notes: Vec<String>,
}

impl DataAnalysis {
    /// An analysis that looks for the targets; fails with a message when options do not fit.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        Self::with_strategies(program, targets, config, None)
    }

    /// The same beside loop abstraction, if there are strategies: the program is their augmented automaton.
    pub fn with_strategies(
        program: Arc<Program>,
        targets: BTreeSet<NodeId>,
        config: &Config,
        strategies: Option<&Strategies>,
    ) -> Result<Self, String> {
        if config.domains == Domains::Predicate {
            return Err("analysis.algorithm=CPA: predicates need refinement".to_string());
        }
        let mut notes = Vec::new();
        let manager = Rc::new(RefCell::new(manager(&program, config, &mut notes)?));
        let mut composite = Composite::new(Arc::clone(&program));
        composite.add(LocationCpa::new(Arc::clone(&program), targets).towards_targets());
        let handle = strategies.map(|strategies| strategies.add(&mut composite));
        composite.add(CallstackCpa::new(Arc::clone(&program)));
        let chained = |composite: &Composite, refiner: Chain| -> Box<dyn Refiner> {
            match (strategies, handle) {
                (Some(strategies), Some(handle)) => strategies.refiner(composite, handle, Box::new(refiner)),
                _ => Box::new(refiner),
            }
        };

        if config.domains == Domains::Octagon {
            return Self::octagons(composite, program, manager, config, notes, chained);
        }
        let machine = Rc::new(Machine::new(Arc::clone(&program)));
        let merge = match config.value_merge {
            MergeType::Sep => MergeKind::Separate,
            MergeType::Join => MergeKind::Join,
        };
        let (sharing, empty) = match config.value_sharing {
            PrecisionSharing::Scope => (Sharing::Everywhere, Precision::Everywhere(Rc::default())),
            PrecisionSharing::Location => (Sharing::Location, Precision::Located(Rc::default())),
        };
        let initial = if config.algorithm == Algorithm::Cpa { Precision::Full } else { empty };
        let value = composite.add(ValueCpa::new(Rc::clone(&machine), merge, initial));
        let preference = match config.value_prefixes {
            PrefixPreference::Best => Preference::Best,
            PrefixPreference::Shortest => Preference::Shortest,
            PrefixPreference::Longest => Preference::Longest,
        };
        let tracker = ValueTracker::new(value, Rc::clone(&machine), sharing);
        let refiner = ValueRefiner::new(machine, Box::new(tracker), preference);
        let statistics = refiner.statistics();
        let mut chain = Chain::new().then(Box::new(refiner));
        let mut predicates = None;

        if config.domains == Domains::ValuePredicate {
            let predicate = composite.add(predicate_cpa(&program, &manager, config));
            let portfolio = Rc::new(RefCell::new(Portfolio::new(interpolation(config)?)));
            let options = refiner_options(config);
            predicates = Some((predicate, Rc::clone(&manager)));
            let refiner = PredicateRefiner::new(Arc::clone(&program), manager, predicate, portfolio, options);
            chain = chain.then(Box::new(refiner));
        } else {
            chain = checks(chain, &program, manager, config)?;
        }
        let remerge = if config.value_merge == MergeType::Sep { Remerge::Prune } else { Remerge::Keep };
        let exploration = Exploration::new(waitlist(config), remerge);
        let chained = chained(&composite, chain);
        let cegar = Cegar::new(composite, exploration, chained);
        let refiner = Some(statistics);
        Ok(Self { cegar, refiner, program, value: Some(value), predicate: predicates, octagon: None, notes })
    }

    /// Octagons; with refinement by the delegating refiner: explicit values first, then octagons, then the exact check.
    fn octagons(
        mut composite: Composite,
        program: Arc<Program>,
        manager: Rc<RefCell<Manager>>,
        config: &Config,
        notes: Vec<String>,
        chained: impl FnOnce(&Composite, Chain) -> Box<dyn Refiner>,
    ) -> Result<Self, String> {
        let transfer = Rc::new(Transfer::new(Arc::clone(&program)));
        let refineable = config.octagon_precision == InitialPrecision::Empty;
        let merge = match config.octagon_merge {
            OctagonMerge::Sep => cpa_octagon::MergeKind::Separate,
            OctagonMerge::Join => cpa_octagon::MergeKind::Join,
            OctagonMerge::Widening => cpa_octagon::MergeKind::Widening,
        };
        let options = OctagonOptions { merge, only_at_loop_heads: config.octagon_heads, refineable };
        let thresholds = if config.octagon_thresholds { transfer.thresholds() } else { Vec::new() };
        let octagon = composite.add(OctagonCpa::new(Rc::clone(&transfer), options).with_thresholds(thresholds));
        let mut chain = Chain::new();
        let mut statistics = None;
        if refineable {
            let machine = Rc::new(Machine::new(Arc::clone(&program)));
            let tracker = OctagonTracker { handle: octagon, machine: Rc::clone(&machine) };
            let refiner = ValueRefiner::new(machine, Box::new(tracker), Preference::Best);
            statistics = Some(refiner.statistics());
            let octagons = OctagonRefiner::new(transfer, octagon, config.octagon_time);
            chain = chain.then(Box::new(refiner)).then(Box::new(octagons));
        }
        let chain = checks(chain, &program, manager, config)?;
        let remerge = if config.octagon_merge == OctagonMerge::Sep { Remerge::Prune } else { Remerge::Keep };
        let exploration = Exploration::new(waitlist(config), remerge);
        let chained = chained(&composite, chain);
        let cegar = Cegar::new(composite, exploration, chained);
        let octagon = Some(octagon);
        Ok(Self { cegar, refiner: statistics, program, value: None, predicate: None, octagon, notes })
    }
}

/// The refiners that decide about what the others left: another configuration, if there is one, and the exact check.
fn checks(
    chain: Chain,
    program: &Arc<Program>,
    manager: Rc<RefCell<Manager>>,
    config: &Config,
) -> Result<Chain, String> {
    let chain = match PathProgramCheck::of(program, config)? {
        Some(check) => chain.then(Box::new(check)),
        None => chain,
    };
    Ok(chain.then(Box::new(PathCheck::new(Arc::clone(program), manager))))
}

/// Tracks in octagons what a refutation by explicit values needs. Memory cells are left out: octagons have none.
pub(super) struct OctagonTracker {
    pub(super) handle: Handle<OctagonCpa>,
    pub(super) machine: Rc<Machine>,
}

impl OctagonTracker {
    fn var(&self, slot: Slot) -> Option<VarId> {
        match self.machine.place(slot) {
            Place::Var(var) => Some(var),
            Place::Cell(_) | Place::Zeros(_) => None,
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

impl Analysis for DataAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.cegar.run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn graph(&self) -> Option<&Arg> {
        Some(self.cegar.arg())
    }

    fn invariants(&mut self) -> Invariants {
        let mut invariants = Invariants::new();
        let arg = self.cegar.arg();
        let mut values = evidence::Values::default();
        for (head, id) in evidence::at_heads(&self.program, arg) {
            let (state, mut known) = (arg.state(id), Vec::new());
            if let Some(octagon) = self.octagon {
                known.extend(state.get(octagon).facts(&self.program, &mut invariants.exprs));
            }
            if let Some((predicate, manager)) = &self.predicate {
                let manager = &mut manager.borrow_mut();
                known.extend(evidence::of_predicates(manager, state.get(*predicate), &mut invariants.exprs));
            }
            match self.value {
                Some(value) => values.add(head, state.get(value).known_vars(&self.program), known),
                None => invariants.add_case(head, known),
            }
        }
        values.add_to(&self.program, &mut invariants);
        invariants
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let mut entries = explored(&self.cegar);
        if let Some(refiner) = self.refiner.as_ref().map(|refiner| refiner.get()) {
            entries.push(("Number of paths refuted by values".into(), refiner.refuted.to_string()));
            entries.push(("Number of places in value refutations".into(), refiner.places.to_string()));
            entries.push(("Number of paths with inputs found by values".into(), refiner.feasible.to_string()));
        }
        entries
    }
}
