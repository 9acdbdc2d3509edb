// SPDX-License-Identifier: Apache-2.0
//! k-induction, put together.

use std::cell::{Ref, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use algo_kind::{Bound, KInduction, Options, Proposer, Strategy};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Arg, Counting, Cx, Exploration, Invariants, Outcome, Stop, algorithm};
use cpa_predicate::{Decoder, Manager};

use super::bmc::{options, seconds, statistics};
use super::cegar::waitlist;
use super::domains::{self, Octagons};
use super::{Analysis, evidence, manager};
use crate::options::{Config, Domains, InvariantChoice};
use crate::presets;

/// k-induction with its configuration.
pub struct KInductionAnalysis {
    kind: KInduction,
    manager: Rc<RefCell<Manager>>,
    notes: Vec<String>,
}

impl KInductionAnalysis {
    /// k-induction on `program`; fails with a message when options do not fit.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        let mut notes = Vec::new();
        let manager = Rc::new(RefCell::new(manager(&program, config, &mut notes)?));
        let invariants = match config.invariant_strategy {
            InvariantChoice::Nothing => Strategy::Nothing,
            InvariantChoice::ReachedSet => Strategy::DataFlow,
            InvariantChoice::Induction => Strategy::Induction,
        };
        // The step case needs no more than the paths with k visits of loop heads, which are far fewer where loops are nested.
        let base = algo_bmc::Options { counting: Counting::Visits, ..options(config)? };
        let mut kind = KInduction::new(&program, &targets, &manager, Options { base, invariants });
        if config.invariant_config != "none" {
            kind = kind.with_proposer(Box::new(Numerical::new(&program, &targets, config)?));
        }
        if let Err(why) = kind.step() {
            notes.push(format!("{why}, so nothing is proved by induction"));
        }
        Ok(Self { kind, manager, notes })
    }

    /// The algorithm.
    pub fn kind(&self) -> &KInduction {
        &self.kind
    }

    /// The shared part of the predicate analysis.
    pub fn manager(&self) -> Ref<'_, Manager> {
        self.manager.borrow()
    }
}

/// A numerical analysis of the whole program that proposes what it found at the heads of loops.
struct Numerical {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    config: Config,
}

/// The part of the time that is left for the numerical analysis, and its time without a limit.
const SHARE: u32 = 5;
const WITHOUT_LIMIT: Duration = Duration::from_secs(10);

impl Numerical {
    fn new(program: &Arc<Program>, targets: &BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        let mut settings = config.stage_base();
        presets::apply_preset(&mut settings, &config.invariant_config)
            .map_err(|error| format!("invariantGeneration.config: {error}"))?;
        if settings.domains != Domains::Octagon || settings.is_staged() {
            return Err(format!("invariantGeneration.config: {} is no numerical analysis", config.invariant_config));
        }
        Ok(Self { program: Arc::clone(program), targets: targets.clone(), config: settings })
    }
}

impl Proposer for Numerical {
    fn propose(&mut self, cx: &Cx) -> Result<BTreeMap<NodeId, Vec<Bound>>, Stop> {
        let mut limited = cx.share(cx.remaining().map_or(WITHOUT_LIMIT, |left| left / SHARE));
        let octagons = Octagons::new(&self.program, &self.config);
        let (mut composite, _) = domains::composite(&self.program, self.targets.clone(), None);
        let handle = composite.add(octagons.cpa());
        let mut exploration = Exploration::new(waitlist(&self.config), octagons.remerge());
        // Targets have no successors towards targets.
        let done = cpa_core::run(&mut limited, &mut composite, &mut exploration, &mut algorithm::never, None);
        cx.check()?;
        if done.is_err() {
            // Not all states were seen, so what they have in common need not hold.
            return Ok(BTreeMap::new());
        }
        // What all states at a head have in common, with the weakest bounds.
        let mut common: BTreeMap<NodeId, BTreeMap<Vec<_>, i128>> = BTreeMap::new();
        for (head, id) in evidence::at_heads(&self.program, exploration.arg()) {
            let state = exploration.arg().state(id).get(handle);
            let here: BTreeMap<Vec<_>, i128> = state.upper_bounds(&self.program).into_iter().collect();
            match common.get_mut(&head) {
                Some(known) => {
                    known.retain(|terms, _| here.contains_key(terms));
                    known.iter_mut().for_each(|(terms, most)| *most = here[terms].max(*most));
                }
                None => {
                    common.insert(head, here);
                }
            }
        }
        let bounds =
            |known: BTreeMap<Vec<_>, i128>| known.into_iter().map(|(terms, most)| Bound { terms, most }).collect();
        Ok(common.into_iter().map(|(head, known)| (head, bounds(known))).collect())
    }
}

impl Analysis for KInductionAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.kind.run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn graph(&self) -> Option<&Arg> {
        Some(self.kind.base().graph())
    }

    fn invariants(&mut self) -> Invariants {
        let mut invariants = Invariants::new();
        if self.kind.proved().is_none() {
            return invariants;
        }
        let Ok(step) = self.kind.step() else { return invariants };
        let manager = self.manager.borrow();
        for (number, point) in step.cutpoints().points().iter().enumerate() {
            let known = self.kind.invariants().term(number);
            let known = Decoder::new(&manager.terms, &manager.encoder, &mut invariants.exprs).conjuncts(known);
            invariants.add_case(point.head, known);
        }
        invariants
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let mut entries = statistics(self.kind.base());
        let times = self.kind.times();
        entries.push(("Time for induction formula creation".into(), seconds(times.formula)));
        entries.push(("Time for induction check".into(), seconds(times.check)));
        entries.push(("Time for invariant generation".into(), seconds(times.invariants)));
        if let Ok(step) = self.kind.step() {
            entries.push(("Number of cut points".into(), step.unrollings().len().to_string()));
        }
        if let Some(k) = self.kind.proved() {
            entries.push(("Step case held for k".into(), k.to_string()));
        }
        entries
    }
}
