// SPDX-License-Identifier: Apache-2.0
//! Analyses of values, alone or beside predicates, put together.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use algo_cegar::{Cegar, Chain};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{CallstackCpa, Composite, Cx, Exploration, LocationCpa, Outcome, Remerge};
use cpa_predicate::{BlockOperator, BlockOptions, PathCheck, PredicateCpa, PredicateRefiner, RefinerOptions};
use cpa_value::{
    Machine, MergeKind, Precision, Preference, RefinerStatistics, Sharing, ValueCpa, ValueRefiner, ValueTracker,
};
use smt::itp::{Portfolio, PortfolioConfig};

use super::cegar::{engines, explored, waitlist};
use super::{Analysis, manager};
use crate::options::{Algorithm, Config, Domains, MergeType, PrecisionSharing, PrefixPreference};

/// An analysis of values with its refinement loop.
pub struct DataAnalysis {
    cegar: Cegar,
    refiner: Rc<Cell<RefinerStatistics>>,
    notes: Vec<String>,
}

impl DataAnalysis {
    /// An analysis that looks for the targets; fails with a message when options do not fit.
    pub fn new(program: Rc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        if config.domains == Domains::Predicate {
            return Err("analysis.algorithm=CPA: predicates need refinement".to_string());
        }
        let mut notes = Vec::new();
        let manager = Rc::new(RefCell::new(manager(&program, config, &mut notes)?));
        let mut composite = Composite::new(Rc::clone(&program));
        composite.add(LocationCpa::new(Rc::clone(&program), targets).towards_targets());
        composite.add(CallstackCpa::new(Rc::clone(&program)));

        let machine = Rc::new(Machine::new(Rc::clone(&program)));
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

        if config.domains == Domains::ValuePredicate {
            let block = BlockOptions {
                at_loops: config.blk_at_loops,
                at_functions: config.blk_at_functions,
                threshold: config.blk_threshold,
                ..BlockOptions::LOOPS
            };
            let operator = BlockOperator::new(block, program.loops.heads.clone());
            let predicate = composite.add(PredicateCpa::new(Rc::clone(&manager), operator));
            let settings = PortfolioConfig { engines: engines(&config.engines)?, ..PortfolioConfig::default() };
            let portfolio = Rc::new(RefCell::new(Portfolio::new(settings)));
            let options = RefinerOptions { split_atoms: config.split_atoms, ..RefinerOptions::default() };
            let refiner = PredicateRefiner::new(Rc::clone(&program), manager, predicate, portfolio, options);
            chain = chain.then(Box::new(refiner));
        } else {
            chain = chain.then(Box::new(PathCheck::new(Rc::clone(&program), manager)));
        }
        let remerge = if config.value_merge == MergeType::Sep { Remerge::Prune } else { Remerge::Keep };
        let exploration = Exploration::new(waitlist(config), remerge);
        let cegar = Cegar::new(composite, exploration, Box::new(chain));
        Ok(Self { cegar, refiner: statistics, notes })
    }
}

impl Analysis for DataAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.cegar.run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let mut entries = explored(&self.cegar);
        let refiner = self.refiner.get();
        entries.push(("Number of paths refuted by values".into(), refiner.refuted.to_string()));
        entries.push(("Number of places in value refutations".into(), refiner.places.to_string()));
        entries.push(("Number of paths with inputs found by values".into(), refiner.feasible.to_string()));
        entries
    }
}
