// SPDX-License-Identifier: Apache-2.0
//! Predicate abstraction with counterexample-guided refinement, put together.

use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_cegar::Cegar;
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::waitlist::{Bfs, Dfs, ReversePostOrder, Waitlist};
use cpa_core::{Arg, CallstackCpa, Composite, Cx, Exploration, Handle, LocationCpa, Outcome, Remerge};
use cpa_predicate::{BlockOperator, BlockOptions, Manager, PredicateCpa, PredicateRefiner, RefinerOptions};
use smt::itp::{EngineKind, Portfolio, PortfolioConfig};

use super::{Analysis, manager};
use crate::options::{Config, Traversal};

/// A predicate analysis with its refinement loop.
pub struct CegarAnalysis {
    cegar: Cegar,
    predicate: Handle<PredicateCpa>,
    manager: Rc<RefCell<Manager>>,
    portfolio: Rc<RefCell<Portfolio>>,
    notes: Vec<String>,
}

impl CegarAnalysis {
    /// An analysis that looks for the targets; fails with a message when options do not fit.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        let mut notes = Vec::new();
        let manager = manager(&program, config, &mut notes)?;
        let manager = Rc::new(RefCell::new(manager));
        let logic = manager.borrow().encoder.interpolation_logic();
        let settings = PortfolioConfig { engines: engines(&config.engines)?, logic, ..PortfolioConfig::default() };
        let portfolio = Rc::new(RefCell::new(Portfolio::new(settings)));
        let block = BlockOptions {
            at_loops: config.blk_at_loops,
            at_functions: config.blk_at_functions,
            threshold: config.blk_threshold,
            ..BlockOptions::LOOPS
        };
        let operator = BlockOperator::new(block, program.loops.heads.clone());
        let mut composite = Composite::new(Arc::clone(&program));
        composite.add(LocationCpa::new(Arc::clone(&program), targets).towards_targets());
        composite.add(CallstackCpa::new(Arc::clone(&program)));
        let predicate = composite.add(PredicateCpa::new(Rc::clone(&manager), operator));
        let refiner = PredicateRefiner::new(
            Arc::clone(&program),
            Rc::clone(&manager),
            predicate,
            Rc::clone(&portfolio),
            RefinerOptions { split_atoms: config.split_atoms, ..RefinerOptions::default() },
        );
        let exploration = Exploration::new(waitlist(config), Remerge::Prune);
        let cegar = Cegar::new(composite, exploration, Box::new(refiner));
        Ok(Self { cegar, predicate, manager, portfolio, notes })
    }

    /// The abstract reachability graph.
    pub fn arg(&self) -> &Arg {
        self.cegar.arg()
    }

    /// Reads predicate states in the graph.
    pub fn predicate(&self) -> Handle<PredicateCpa> {
        self.predicate
    }

    /// The shared part of the predicate analysis.
    pub fn manager(&self) -> Ref<'_, Manager> {
        self.manager.borrow()
    }

    /// The number of refinements.
    pub fn refinements(&self) -> u64 {
        self.cegar.statistics().refinements
    }
}

impl Analysis for CegarAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.cegar.run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let manager = self.manager.borrow();
        let portfolio = self.portfolio.borrow();
        let mut entries = explored(&self.cegar);
        entries.extend(manager.stats.entries().into_iter().map(|(label, value)| (label.to_string(), value)));
        let arg = self.arg();
        let mut locations: BTreeSet<NodeId> = BTreeSet::new();
        for id in arg.ids() {
            locations.extend(arg.precision(id).get(self.predicate).iter().map(|(location, _)| location));
        }
        entries.push(("Number of predicates discovered".into(), manager.predicates.len().to_string()));
        entries.push(("Number of abstraction locations".into(), locations.len().to_string()));
        entries.push(("BDD library".into(), manager.bdd_library().to_string()));
        for engine in portfolio.stats() {
            entries.push((
                format!("Interpolation engine {}", engine.name),
                format!(
                    "asked {}, answered {}, taken {}, rejected {}, gave up {}, diverging {}",
                    engine.asked, engine.answered, engine.taken, engine.rejected, engine.given_up, engine.diverging
                ),
            ));
        }
        entries
    }
}

/// Labels and values of the statistics of the exploration and the refinements.
pub(super) fn explored(cegar: &Cegar) -> Vec<(String, String)> {
    let core = cegar.exploration().statistics();
    vec![
        ("Size of reached set".into(), cegar.arg().len().to_string()),
        ("Number of iterations".into(), core.iterations.to_string()),
        ("Number of computed successors".into(), core.successors.to_string()),
        ("Number of times merged".into(), core.merges.to_string()),
        ("Number of times stopped".into(), core.covered.to_string()),
        ("Max size of waitlist".into(), core.max_waiting.to_string()),
        ("Average size of waitlist".into(), format!("{:.2}", core.average_waiting())),
        ("Number of CEGAR refinements".into(), cegar.statistics().refinements.to_string()),
    ]
}

pub(super) fn waitlist(config: &Config) -> Box<dyn Waitlist> {
    match (config.use_rpo, config.use_callstack, config.traversal) {
        (true, true, _) => Box::new(ReversePostOrder::callstack_first()),
        (true, false, _) => Box::new(ReversePostOrder::new()),
        (false, _, Traversal::Dfs) => Box::new(Dfs::default()),
        (false, _, Traversal::Bfs) => Box::new(Bfs::default()),
    }
}

pub(super) fn engines(names: &str) -> Result<Vec<EngineKind>, String> {
    names
        .split(',')
        .map(str::trim)
        .map(|name| {
            EngineKind::by_name(name).ok_or_else(|| {
                let known = EngineKind::ALL.map(EngineKind::name).join(", ");
                format!("cpa.predicate.refinement.engines: there is no engine '{name}'; the engines are {known}")
            })
        })
        .collect()
}
