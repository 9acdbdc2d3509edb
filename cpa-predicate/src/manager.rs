// SPDX-License-Identifier: Apache-2.0
//! What the Predicate CPA and its refiner share: terms, predicates, regions, the solver and the statistics.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cfa::Program;
use cpa_core::{Cx, Step, Stop};
use rustc_hash::FxHashMap;
use smt::path::PathFormula;
use smt::solver::{Limits, Recorded, Solver, TimeLeft, Timed, Z3Config, Z3Solver};
use smt::{TermId, Terms};

use crate::abstraction::Model;
use crate::branches::Branches;
use crate::encode::{Encoder, Encoding, Inexact};
use crate::formula::{Implications, Representation};
use crate::precision::{Precision, Predicates};
use crate::region::{self, Library, OutOfNodes, RegionId, RegionNode, Regions};
use crate::stats::Statistics;

/// How the abstraction of a block is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Computation {
    /// The strongest conjunction of predicates and their negations.
    Cartesian,
    /// The strongest Boolean combination of predicates, by models of all of them.
    Boolean,
    /// The same; models range over those predicates only that have no fixed value (the Cartesian part).
    #[default]
    Combined,
}

/// What the options say about abstractions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How abstractions are computed.
    pub computation: Computation,
    /// How abstraction formulas are stored.
    pub representation: Representation,
    /// Whether abstractions and the models found for them are kept for equal blocks.
    pub cache: bool,
    /// The time for one query of an abstraction or a coverage check; one that takes longer makes the abstraction weaker, or
    /// the state not covered. None means no limit.
    pub query_timeout: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            computation: Computation::default(),
            representation: Representation::default(),
            cache: true,
            query_timeout: None,
        }
    }
}

/// A block from an abstraction state, with the numbers and values of the predicates behind it.
pub(crate) type BlockKey = (TermId, Vec<(u32, TermId)>);

fn abstraction_solver(encoder: &Encoder) -> Z3Config {
    Z3Config { logic: encoder.logic(), eliminate_arrays: true, ..Z3Config::default() }
}

/// Makes, for a kind of queries, the place where a script of them goes.
pub type Scripts = Rc<dyn Fn(&str) -> Box<dyn FnMut(&str)>>;

/// The shared part of one predicate analysis.
pub struct Manager {
    /// All terms of the run.
    pub terms: Terms,
    /// Operations to terms.
    pub encoder: Encoder,
    /// The predicates found so far.
    pub predicates: Predicates,
    /// Counters of the run.
    pub stats: Statistics,
    pub(crate) regions: Box<dyn Regions>,
    pub(crate) solver: Timed<Box<dyn Solver>>,
    scripts: Option<Scripts>,
    /// Abstractions computed so far; none where the block cannot be passed.
    pub(crate) abstractions: FxHashMap<BlockKey, Option<RegionId>>,
    /// Models of blocks by path condition.
    pub(crate) models: FxHashMap<TermId, Vec<Model>>,
    pub(crate) feasible: FxHashMap<TermId, bool>,
    /// For paths that are explored one by one.
    pub(crate) branches: Option<Branches>,
    /// Unanswered questions about single predicates.
    pub(crate) hard: FxHashMap<u32, u32>,
    pub(crate) settings: Settings,
    pub(crate) implications: Implications,
    /// Predicates that are tracked whatever the precision of a state says, see [`crate::precision::Sharing`].
    pub(crate) shared: Precision,
    region_terms: FxHashMap<RegionId, TermId>,
    pub(crate) term_regions: FxHashMap<TermId, RegionId>,
}

impl Manager {
    /// A manager for `program`; fails when the encoding cannot represent the program exactly.
    pub fn new(program: &Arc<Program>, encoding: Encoding, library: Library) -> Result<Self, Inexact> {
        let mut terms = Terms::new();
        let mut encoder = Encoder::new(Arc::clone(program), encoding);
        encoder.check_program(&mut terms)?;
        let config = abstraction_solver(&encoder);
        Ok(Self {
            terms,
            encoder,
            predicates: Predicates::default(),
            stats: Statistics::default(),
            regions: region::new_manager(library),
            solver: Timed::new(Box::new(Z3Solver::new(&config))),
            scripts: None,
            abstractions: FxHashMap::default(),
            models: FxHashMap::default(),
            feasible: FxHashMap::default(),
            branches: None,
            hard: FxHashMap::default(),
            settings: Settings::default(),
            implications: Implications::default(),
            shared: Precision::default(),
            region_terms: FxHashMap::default(),
            term_regions: FxHashMap::default(),
        })
    }

    /// Writes the queries down from now on; before the first one.
    pub fn record(&mut self, scripts: Scripts) {
        let solver = Z3Solver::new(&abstraction_solver(&self.encoder));
        self.solver = Timed::new(Box::new(Recorded::new(solver, scripts("abstraction"))));
        self.scripts = Some(scripts);
    }

    /// A solver for paths that share their beginnings.
    pub(crate) fn branch_solver(&self) -> Box<dyn Solver> {
        self.solver_of(&abstraction_solver(&self.encoder))
    }

    /// A solver for one question about whole paths.
    pub fn path_solver(&self) -> Box<dyn Solver> {
        self.solver_of(&self.encoder.whole_paths())
    }

    /// A solver for one question about all paths from the start up to a bound, where what a variable is after many steps is a
    /// long sum: it gets the sums as they are.
    pub fn unrolling_solver(&self) -> Box<dyn Solver> {
        self.solver_of(&Z3Config { keep_sums: true, ..self.encoder.whole_paths() })
    }

    /// A solver for one question about integers, whatever the encoding is.
    pub fn integer_solver(&self) -> Box<dyn Solver> {
        // Cuts by Hermite normal forms cost more than they save here.
        let params = vec![("arith.enable_hnf".into(), "false".into())];
        self.solver_of(&Z3Config { simple: true, params, ..Z3Config::default() })
    }

    fn solver_of(&self, config: &Z3Config) -> Box<dyn Solver> {
        let solver = Z3Solver::new(config);
        match &self.scripts {
            Some(scripts) => Box::new(Recorded::new(solver, scripts("path"))),
            None => Box::new(solver),
        }
    }

    /// Sets how abstractions are computed; before the first one.
    pub fn configure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// How abstractions are computed.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The name of the BDD library in use.
    pub fn bdd_library(&self) -> &'static str {
        self.regions.library()
    }

    /// The time in the solvers behind the abstractions.
    pub fn solver_time(&self) -> Duration {
        let branches = self.branches.as_ref().map_or(Duration::ZERO, |branches| branches.stats().time);
        self.solver.stats().time + branches
    }

    /// The formula of the paths of `path` followed by a step. A step that enters or leaves a function has the number of
    /// other activations of that function below.
    pub fn follow(&mut self, path: &PathFormula, step: Step, activation: u32) -> Result<PathFormula, Stop> {
        let statements = self
            .encoder
            .statements_of_activation(&mut self.terms, step, activation)
            .map_err(|inexact| Stop::Internal(format!("the program was checked before: {inexact}")))?;
        let mut path = path.clone();
        for statement in &statements {
            path.apply(&mut self.terms, statement);
        }
        Ok(path)
    }

    /// A region as a term over the program variables.
    pub fn region_term(&mut self, region: RegionId) -> TermId {
        // Post-order over the diagram; the depth is the number of predicates, but an explicit stack costs nothing.
        let mut stack = vec![region];
        while let Some(&top) = stack.last() {
            if self.region_terms.contains_key(&top) {
                stack.pop();
                continue;
            }
            let term = match self.regions.node(top) {
                RegionNode::Constant(value) => Some(self.terms.bool(value)),
                RegionNode::Decision { var, high, low } => {
                    match (self.region_terms.get(&high).copied(), self.region_terms.get(&low).copied()) {
                        (Some(high), Some(low)) => {
                            let atom = self.predicates.atom_of_number(var);
                            Some(self.terms.ite(atom, high, low))
                        }
                        _ => {
                            stack.extend([high, low]);
                            None
                        }
                    }
                }
            };
            if let Some(term) = term {
                self.region_terms.insert(top, term);
                stack.pop();
            }
        }
        self.region_terms[&region]
    }
}

/// Limits for one solver query: whoever watches the budget cancels the run, and that interrupts the solver. What is left of
/// the budget is no limit for the query, because it may count CPU time and the solver counts wall time; but what is left of a
/// share of the budget is, because nobody watches that.
pub fn limits(cx: &Cx) -> Limits {
    Limits { timeout: None, left: cx.left_of_share().map(TimeLeft::new), interrupt: Some(cx.cancel_token().flag()) }
}

pub(crate) fn stop(error: OutOfNodes) -> Stop {
    Stop::GaveUp(error.to_string())
}
