// SPDX-License-Identifier: Apache-2.0
//! Block-abstraction memoization around predicates, explicit values or octagons, put together.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_bam::{Bam, Parts, Settings, Strategy};
use algo_cegar::Chain;
use algo_contracts::Contracts;
use cfa::ids::NodeId;
use cfa::{Blocks, Partitioning, Program};
use cpa_core::{Composite, Cx, Outcome, Reason, Reducers, Remerge, Stop, Verdict};
use cpa_octagon::OctagonReducer;
use cpa_predicate::{
    self as predicate, BlockPredicates, Manager, PathCheck, PredicateCpa, PredicateReducer, PredicateRefiner,
    Representation,
};
use cpa_value::ValueReducer;

use super::cegar::{block_operator, portfolio, refiner_options, waitlist};
use super::domains::{self, Frame, Octagons, Values};
use super::{Analysis, manager};
use crate::options::{BlockHeuristic, Config, Domains};

/// An analysis of blocks with its refinement loop.
pub struct BamAnalysis {
    bam: Bam,
    /// Whether no number overflows in recursive functions. Asked about proofs that hold for recursion of any depth: with
    /// wrap-around an argument that goes down for ever comes round, in C that is undefined.
    overflow: Contracts,
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
        let overflow = Contracts::new(&program, &BTreeSet::new(), &manager);
        let blocks = Rc::new(Blocks::find(&program, partitioning(config)));
        let (composite, frame) = domains::composite(&program, targets, None);
        let builder = Builder { program, config, manager, blocks, composite, frame };
        let (parts, remerge) = match config.domains {
            Domains::Value => builder.values(),
            Domains::Predicate => builder.predicates()?,
            Domains::Octagon => builder.octagons(),
            Domains::Shape => return Err("analysis.algorithm=BAM: shapes are not analysed in blocks".into()),
            Domains::ValuePredicate => {
                return Err("analysis.algorithm=BAM: values and predicates together are not analysed in blocks".into());
            }
        };
        let waitlists = config.clone();
        let settings = Settings {
            waitlist: Box::new(move || waitlist(&waitlists)),
            remerge,
            strategy: if config.bam_copy { Strategy::CopyOnWrite } else { Strategy::InPlace },
            max_cached: config.bam_max_cached as usize,
        };
        Ok(Self { bam: Bam::new(parts, settings)?, overflow, notes })
    }

    /// The analysis itself.
    pub fn bam(&self) -> &Bam {
        &self.bam
    }
}

/// What all domains need.
struct Builder<'a> {
    program: Arc<Program>,
    config: &'a Config,
    manager: Rc<RefCell<Manager>>,
    blocks: Rc<Blocks>,
    composite: Composite,
    frame: Frame,
}

impl Builder<'_> {
    fn reducers(&self) -> Reducers {
        Reducers::new(&self.composite, self.frame.location, self.frame.callstack, &self.program)
    }

    fn values(mut self) -> (Parts, Remerge) {
        let values = Values::new(&self.program, self.config);
        let value = self.composite.add(values.cpa(true));
        let mut reducers = self.reducers();
        reducers.add(value, ValueReducer::new(Rc::clone(&values.machine), Rc::clone(&self.blocks)));
        let check = PathCheck::new(self.program, self.manager);
        let chain = Chain::new().then(Box::new(values.refiner(value))).then(Box::new(check));
        let parts = Parts { composite: self.composite, reducers, blocks: self.blocks, refiner: Box::new(chain) };
        (parts, values.remerge())
    }

    fn predicates(mut self) -> Result<(Parts, Remerge), String> {
        let config = self.config;
        let options = refiner_options(config);
        let fits = options.strategy == predicate::Strategy::Predicate
            && options.sharing == predicate::Sharing::Path
            && self.manager.borrow().settings().representation == Representation::Bdd;
        if !fits {
            return Err("analysis.algorithm=BAM needs predicates along paths, stored as decision diagrams".to_string());
        }
        let portfolio = portfolio(&self.manager.borrow(), config)?;
        let seen = BlockPredicates::new(&mut self.manager.borrow_mut(), Rc::clone(&self.blocks));
        let seen = Rc::new(seen.map_err(|stop| stop.to_string())?);
        let borders = self.blocks.borders(&self.program);
        let operator = block_operator(&self.program, config).with_borders(borders);
        let cpa = PredicateCpa::new(Rc::clone(&self.manager), operator).over_blocks(Rc::clone(&seen));
        let predicate = self.composite.add(cpa);
        let mut reducers = self.reducers();
        reducers.add(predicate, PredicateReducer::new(Rc::clone(&self.manager), seen));
        let refiner = PredicateRefiner::new(self.program, self.manager, predicate, portfolio, options);
        let parts = Parts { composite: self.composite, reducers, blocks: self.blocks, refiner: Box::new(refiner) };
        Ok((parts, Remerge::Prune))
    }

    fn octagons(mut self) -> (Parts, Remerge) {
        let octagons = Octagons::new(&self.program, self.config);
        let octagon = self.composite.add(octagons.cpa());
        let mut reducers = self.reducers();
        reducers.add(octagon, OctagonReducer::new(Rc::clone(&octagons.transfer), Rc::clone(&self.blocks)));
        let (chain, _) = octagons.refiner(octagon, &self.program);
        let chain = chain.then(Box::new(PathCheck::new(self.program, self.manager)));
        let parts = Parts { composite: self.composite, reducers, blocks: self.blocks, refiner: Box::new(chain) };
        (parts, octagons.remerge())
    }
}

impl Analysis for BamAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        let outcome = self.bam.run(cx);
        if !matches!(outcome.verdict(), Verdict::True) || !self.bam.is_circular() {
            return outcome;
        }
        let (mut verdict, mut assurance) = (Verdict::True, outcome.assurance().clone());
        match self.overflow.run(cx).verdict().clone() {
            Verdict::True | Verdict::False(_) => {}
            Verdict::Unknown(Reason::Imprecise(detail) | Reason::Stopped(Stop::GaveUp(detail))) => {
                assurance.lower_sound(format!("the recursion has no bound, and {detail}"));
            }
            unknown @ Verdict::Unknown(_) => verdict = unknown,
        }
        Outcome::conclude(verdict, assurance, outcome.assumptions().to_vec())
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
