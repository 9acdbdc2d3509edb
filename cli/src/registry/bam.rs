// SPDX-License-Identifier: Apache-2.0
//! Block-abstraction memoization around predicates, explicit values or octagons, put together.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_bam::{Bam, Parts, Settings, Strategy};
use algo_cegar::Chain;
use cfa::ids::NodeId;
use cfa::{Blocks, Partitioning, Program};
use cpa_core::{CallstackCpa, Composite, Cx, LocationCpa, Outcome, Reducers, Remerge};
use cpa_predicate::PathCheck;
use cpa_value::{
    Machine, MergeKind, Precision, Preference, Sharing, ValueCpa, ValueReducer, ValueRefiner, ValueTracker,
};

use super::cegar::waitlist;
use super::{Analysis, manager};
use crate::options::{BlockHeuristic, Config, Domains, MergeType, PrecisionSharing, PrefixPreference};

/// An analysis of blocks with its refinement loop.
pub struct BamAnalysis {
    bam: Bam,
    notes: Vec<String>,
}

/// Which parts of a program a configuration makes blocks.
pub fn partitioning(config: &Config) -> Partitioning {
    Partitioning {
        functions: config.bam_blocks != BlockHeuristic::Loops,
        loops: config.bam_blocks != BlockHeuristic::Functions,
        min_size: config.bam_min_size as usize,
    }
}

impl BamAnalysis {
    /// An analysis that looks for the targets; fails with a message when options do not fit.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        let mut notes = Vec::new();
        let manager = Rc::new(RefCell::new(manager(&program, config, &mut notes)?));
        let blocks = Rc::new(Blocks::find(&program, partitioning(config)));
        let mut composite = Composite::new(Arc::clone(&program));
        let location = composite.add(LocationCpa::new(Arc::clone(&program), targets).towards_targets());
        let callstack = composite.add(CallstackCpa::new(Arc::clone(&program)));
        let machine = Rc::new(Machine::new(Arc::clone(&program)));

        let merge = match config.value_merge {
            MergeType::Sep => MergeKind::Separate,
            MergeType::Join => MergeKind::Join,
        };
        let (sharing, initial) = match config.value_sharing {
            PrecisionSharing::Scope => (Sharing::Everywhere, Precision::Everywhere(Rc::default())),
            PrecisionSharing::Location => (Sharing::Location, Precision::Located(Rc::default())),
        };
        let preference = match config.value_prefixes {
            PrefixPreference::Best => Preference::Best,
            PrefixPreference::Shortest => Preference::Shortest,
            PrefixPreference::Longest => Preference::Longest,
        };
        if config.domains != Domains::Value {
            return Err("analysis.algorithm=BAM: not with these domains".to_string());
        }
        let value = composite.add(ValueCpa::new(Rc::clone(&machine), merge, initial));
        let mut reducers = Reducers::new(&composite, location, callstack, &program);
        reducers.add(value, ValueReducer::new(Rc::clone(&machine), Rc::clone(&blocks)));
        let tracker = ValueTracker::new(value, Rc::clone(&machine), sharing);
        let refiner = ValueRefiner::new(machine, Box::new(tracker), preference);
        let chain = Chain::new().then(Box::new(refiner)).then(Box::new(PathCheck::new(Arc::clone(&program), manager)));
        let remerge = if merge == MergeKind::Separate { Remerge::Prune } else { Remerge::Keep };

        let waitlists = config.clone();
        let settings = Settings {
            waitlist: Box::new(move || waitlist(&waitlists)),
            remerge,
            strategy: if config.bam_copy { Strategy::CopyOnWrite } else { Strategy::InPlace },
            max_cached: config.bam_max_cached as usize,
        };
        let parts = Parts { composite, reducers, blocks, refiner: Box::new(chain) };
        Ok(Self { bam: Bam::new(parts, settings)?, notes })
    }

    /// The analysis itself.
    pub fn bam(&self) -> &Bam {
        &self.bam
    }
}

impl Analysis for BamAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.bam.run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let run = self.bam.statistics();
        let cache = self.bam.store().statistics();
        let mut entries = vec![
            ("Number of blocks", self.bam.blocks().ids().count().to_string()),
            ("Number of block graphs", self.bam.store().len().to_string()),
            ("Number of block graphs made", self.bam.store().created().to_string()),
            ("Number of abstract states in block graphs", self.bam.nodes().to_string()),
            ("Number of iterations", run.expanded.to_string()),
            ("Depth of nested block analyses", run.max_depth.to_string()),
            ("Cache hits", cache.hits.to_string()),
            ("Cache hits of unfinished blocks", cache.partial.to_string()),
            ("Cache misses", cache.misses.to_string()),
            ("Number of CEGAR refinements", run.refinements.to_string()),
            ("Refinements for missing block abstractions", run.holes.to_string()),
            ("Copies of block graphs", cache.copies.to_string()),
        ];
        if cache.evicted > 0 {
            entries.push(("Block graphs dropped from the cache", cache.evicted.to_string()));
        }
        entries.into_iter().map(|(label, value)| (label.to_string(), value)).collect()
    }
}
