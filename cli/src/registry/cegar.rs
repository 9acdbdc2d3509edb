// SPDX-License-Identifier: Apache-2.0
//! Predicate analyses with counterexample-guided refinement, put together: predicate abstraction, IMPACT, both, symbolic
//! execution. They differ in options only.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use algo_cegar::Cegar;
use cfa::ids::NodeId;
use cfa::{Program, SummarizedCfa};
use cpa_core::waitlist::{Bfs, Blockwise, Dfs, ReversePostOrder, Waitlist};
use cpa_core::{Arg, Cx, Exploration, Handle, Invariants, LocationCpa, Outcome, Refiner, Remerge};
use cpa_predicate::{
    BlockOperator, BlockOptions, ImpactCovering, Manager, PredicateCpa, PredicateOptions, PredicateRefiner,
    RefinerOptions, Scope, Sharing, Strategy,
};
use smt::itp::{EngineKind, Portfolio, PortfolioConfig};

use super::bmc::seconds;
use super::domains;
use super::{Analysis, Strategies, evidence, manager, queries};
use crate::options::{Config, ForcedCoverings, PredicateMerge, PredicateSharing, StrategyChoice, Traversal};

/// A predicate analysis with its refinement loop.
pub struct CegarAnalysis {
    cegar: Cegar,
    predicate: Handle<PredicateCpa>,
    manager: Rc<RefCell<Manager>>,
    portfolio: Rc<RefCell<Portfolio>>,
    /// The wall time of the runs so far.
    wall: Duration,
    notes: Vec<String>,
}

impl CegarAnalysis {
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
        let mut notes = Vec::new();
        let manager = manager(&program, config, &mut notes)?;
        let manager = Rc::new(RefCell::new(manager));
        let portfolio = portfolio(&manager.borrow(), config)?;
        let summarized = config.summarize.then(|| SummarizedCfa::new(&program, &targets).nodes());
        let locations = LocationCpa::new(Arc::clone(&program), targets).towards_targets();
        let (locations, operator) = match summarized {
            Some(between) => {
                let operator = BlockOperator::new(BlockOptions::BORDERS, Arc::clone(&program));
                (locations.summarized(between.clone()), operator.with_borders(between))
            }
            None => (locations, block_operator(&program, config)),
        };
        let (mut composite, frame) = domains::composite_over(&program, locations, strategies);
        let predicate = composite.add(predicate_cpa(&manager, operator, config));
        let refiner = PredicateRefiner::new(
            Arc::clone(&program),
            Rc::clone(&manager),
            predicate,
            Rc::clone(&portfolio),
            refiner_options(config),
        );
        let exploration = Exploration::new(waitlist(config), Remerge::Prune);
        let mut refiner: Box<dyn Refiner> = Box::new(refiner);
        if let (Some(strategies), Some(handle)) = (strategies, frame.strategy) {
            refiner = strategies.refiner(&composite, handle, refiner);
        }
        let mut cegar = Cegar::new(composite, exploration, refiner);
        if config.forced_covering == ForcedCoverings::Impact {
            let covering = ImpactCovering::new(Rc::clone(&manager), predicate, Rc::clone(&portfolio));
            cegar = cegar.with_forced_covering(Box::new(covering));
        }
        Ok(Self { cegar, predicate, manager, portfolio, wall: Duration::ZERO, notes })
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

    /// The shared part of the predicate analysis, to compute with.
    pub fn manager_mut(&self) -> RefMut<'_, Manager> {
        self.manager.borrow_mut()
    }

    /// The number of refinements.
    pub fn refinements(&self) -> u64 {
        self.cegar.statistics().refinements
    }
}

impl Analysis for CegarAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        let start = Instant::now();
        let outcome = self.cegar.run(cx);
        self.wall += start.elapsed();
        outcome
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn graph(&self) -> Option<&Arg> {
        Some(self.cegar.arg())
    }

    fn predicates(&self) -> Option<String> {
        let manager = self.manager.borrow();
        let program = manager.encoder.program();
        let mut tracked: BTreeMap<Scope, BTreeSet<String>> = BTreeMap::new();
        for id in self.arg().ids() {
            for (scope, predicates) in self.arg().precision(id).get(self.predicate).iter() {
                let atoms = predicates
                    .iter()
                    .map(|&predicate| manager.terms.display(manager.predicates.atom(predicate)).to_string());
                tracked.entry(scope).or_default().extend(atoms);
            }
        }
        let mut text = String::new();
        for (scope, atoms) in tracked {
            let place = match scope {
                Scope::Global => "everywhere".to_string(),
                Scope::Function(func) => format!("in {}", program.func(func).name),
                Scope::Location(node) => {
                    let edge = program.node(node).leaving.first();
                    let place = edge.map(|&edge| program.location(program.edge(edge).span).to_string());
                    format!("at {node}, {}", place.unwrap_or_default())
                }
            };
            text += &format!("{place}\n");
            text.extend(atoms.iter().map(|atom| format!("    {atom}\n")));
        }
        Some(text)
    }

    fn invariants(&mut self) -> Invariants {
        let mut invariants = Invariants::new();
        let program = Arc::clone(self.manager.borrow().encoder.program());
        for (head, id) in evidence::at_heads(&program, self.cegar.arg()) {
            let state = self.cegar.arg().state(id).get(self.predicate);
            let known = evidence::of_predicates(&mut self.manager.borrow_mut(), state, &mut invariants.exprs);
            invariants.add_case(head, known);
        }
        invariants
    }

    fn statistics(&self) -> Vec<(String, String)> {
        let manager = self.manager.borrow();
        let portfolio = self.portfolio.borrow();
        let mut entries = explored(&self.cegar);
        let (other, itp) = (manager.solver_time(), portfolio.solver_time());
        let share = (other + itp).as_secs_f64() / self.wall.as_secs_f64().max(1e-9);
        entries.push(("Total time for SMT solver (w/o itp)".into(), seconds(other)));
        entries.push(("Total time for SMT solver (itp)".into(), seconds(itp)));
        entries.push(("Share of wall time in the SMT solver".into(), format!("{:.0} %", (share * 100.0).min(100.0))));
        entries.extend(manager.stats.entries().into_iter().map(|(label, value)| (label.to_string(), value)));
        let arg = self.arg();
        let mut tracked: BTreeMap<Scope, usize> = BTreeMap::new();
        for id in arg.ids() {
            for (scope, predicates) in arg.precision(id).get(self.predicate).iter() {
                let most = tracked.entry(scope).or_default();
                *most = predicates.len().max(*most);
            }
        }
        let average = tracked.values().sum::<usize>() as f64 / tracked.len().max(1) as f64;
        entries.push(("Number of predicates discovered".into(), manager.predicates.len().to_string()));
        entries.push(("Number of abstraction locations".into(), tracked.len().to_string()));
        let most = tracked.values().max().copied().unwrap_or(0);
        entries.push(("Max number of predicates per location".into(), most.to_string()));
        entries.push(("Avg number of predicates per location".into(), format!("{average:.2}")));
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

/// The Predicate CPA that a configuration describes.
pub(super) fn predicate_cpa(manager: &Rc<RefCell<Manager>>, operator: BlockOperator, config: &Config) -> PredicateCpa {
    let merge = config.predicate_merge == PredicateMerge::Abe;
    let options = PredicateOptions { merge, sat_check: config.sat_check, changes: false };
    PredicateCpa::with_options(Rc::clone(manager), operator, options)
}

/// Where blocks of paths end.
pub(super) fn block_operator(program: &Arc<Program>, config: &Config) -> BlockOperator {
    let block = BlockOptions {
        at_loops: config.blk_at_loops,
        at_functions: config.blk_at_functions,
        at_joins: config.blk_at_join,
        threshold: config.blk_threshold,
        from_threshold: config.blk_after_threshold,
        loops_from_threshold: config.blk_loops,
        functions_from_threshold: config.blk_functions,
        ..BlockOptions::LOOPS
    };
    BlockOperator::new(block, Arc::clone(program))
}

/// What the refiner of the Predicate CPA does.
pub(super) fn refiner_options(config: &Config) -> RefinerOptions {
    RefinerOptions {
        strategy: match config.strategy {
            StrategyChoice::Predicate => Strategy::Predicate,
            StrategyChoice::Impact => Strategy::Impact,
            StrategyChoice::Both => Strategy::Both,
        },
        sharing: match config.predicate_sharing {
            PredicateSharing::Path => Sharing::Path,
            PredicateSharing::Location => Sharing::Location,
            PredicateSharing::Function => Sharing::Function,
            PredicateSharing::Global => Sharing::Global,
        },
        suffix: config.suffix,
        split_atoms: config.split_atoms,
        ..RefinerOptions::default()
    }
}

/// Labels and values of the statistics of the exploration and the refinements.
pub(super) fn explored(cegar: &Cegar) -> Vec<(String, String)> {
    let core = cegar.exploration().statistics();
    let loops = cegar.statistics();
    let average = loops.refining / u32::try_from(loops.refinements.max(1)).unwrap_or(u32::MAX);
    vec![
        ("Size of reached set".into(), cegar.arg().len().to_string()),
        ("Number of iterations".into(), core.iterations.to_string()),
        ("Number of computed successors".into(), core.successors.to_string()),
        ("Max successors for one state".into(), core.max_successors.to_string()),
        ("Number of times merged".into(), core.merges.to_string()),
        ("Number of times stopped".into(), core.covered.to_string()),
        ("Max size of waitlist".into(), core.max_waiting.to_string()),
        ("Average size of waitlist".into(), format!("{:.2}", core.average_waiting())),
        ("Number of CEGAR refinements".into(), loops.refinements.to_string()),
        ("Number of successful refinements".into(), loops.refuted.to_string()),
        ("Number of failed refinements".into(), (loops.refinements - loops.refuted).to_string()),
        ("Max. size of reached set before ref.".into(), loops.max_reached.to_string()),
        ("Total time for CPA algorithm".into(), seconds(loops.total.saturating_sub(loops.refining))),
        ("Time for refinements".into(), seconds(loops.refining)),
        ("Average time for refinement".into(), seconds(average)),
        ("Total time for CEGAR algorithm".into(), seconds(loops.total)),
    ]
}

pub(super) fn waitlist(config: &Config) -> Box<dyn Waitlist> {
    let order: Box<dyn Waitlist> = match (config.use_rpo, config.use_callstack, config.traversal) {
        (true, true, _) => Box::new(ReversePostOrder::callstack_first()),
        (true, false, _) => Box::new(ReversePostOrder::new()),
        (false, _, Traversal::Dfs) => Box::new(Dfs::default()),
        (false, _, Traversal::Bfs) => Box::new(Bfs::default()),
    };
    if config.summarize { Box::new(Blockwise::before(order)) } else { order }
}

/// Interpolation as options describe it, in the logic of the encoding.
pub(super) fn portfolio(manager: &Manager, config: &Config) -> Result<Rc<RefCell<Portfolio>>, String> {
    let settings = PortfolioConfig {
        logic: manager.encoder.interpolation_logic(),
        engines: engines(&config.engines)?,
        core_attempts: config.core_attempts as usize,
        polish_attempts: config.simplify_attempts as usize,
        ..PortfolioConfig::default()
    };
    Ok(Rc::new(RefCell::new(queries::portfolio(settings, config))))
}

fn engines(names: &str) -> Result<Vec<EngineKind>, String> {
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
