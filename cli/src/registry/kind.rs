// SPDX-License-Identifier: Apache-2.0
//! k-induction, put together.

use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_kind::{KInduction, Options, Strategy};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Arg, Counting, Cx, Invariants, Outcome};
use cpa_predicate::{Decoder, Manager};

use super::bmc::{options, seconds, statistics};
use super::{Analysis, manager};
use crate::options::{Config, InvariantChoice};

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
        let kind = KInduction::new(&program, &targets, &manager, Options { base, invariants });
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
