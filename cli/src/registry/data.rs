// SPDX-License-Identifier: Apache-2.0
//! Analyses of values, alone or beside predicates, of octagons and of shapes, put together.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_cegar::{Cegar, Chain};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Arg, Cx, Exploration, Handle, Invariants, Outcome, Refiner, Remerge};
use cpa_octagon::OctagonCpa;
use cpa_predicate::{Manager, PathCheck, PredicateCpa, PredicateRefiner};
use cpa_shape::{ShapeCpa, ShapeOptions};
use cpa_value::{RefinerStatistics, ValueCpa};

use super::cegar::{block_operator, explored, portfolio, predicate_cpa, refiner_options, waitlist};
use super::check::PathProgramCheck;
use super::domains::{self, Octagons, Values};
use super::{Analysis, Strategies, evidence, manager};
use crate::options::{Algorithm, Config, Domains};

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
        let (mut composite, frame) = domains::composite(&program, targets, strategies);
        let (mut value, mut predicate, mut octagon) = (None, None, None);
        let (chain, refiner, remerge) = if config.domains == Domains::Octagon {
            let octagons = Octagons::new(&program, config);
            let handle = composite.add(octagons.cpa());
            octagon = Some(handle);
            let (chain, statistics) = octagons.refiner(handle, &program);
            (checks(chain, &program, manager, config)?, statistics, octagons.remerge())
        } else if config.domains == Domains::Shape {
            let options = ShapeOptions {
                holes: config.shape_holes,
                apart: config.shape_apart as usize,
                coarse: config.shape_coarse as usize,
            };
            composite.add(ShapeCpa::new(Arc::clone(&program), options));
            (checks(Chain::new(), &program, manager, config)?, None, Remerge::Prune)
        } else {
            let values = Values::new(&program, config);
            let handle = composite.add(values.cpa(config.algorithm != Algorithm::Cpa));
            value = Some(handle);
            let refiner = values.refiner(handle);
            let statistics = refiner.statistics();
            let chain = Chain::new().then(Box::new(refiner));
            let chain = if config.domains == Domains::ValuePredicate {
                let handle = composite.add(predicate_cpa(&manager, block_operator(&program, config), config));
                let portfolio = portfolio(&manager.borrow(), config)?;
                predicate = Some((handle, Rc::clone(&manager)));
                let options = refiner_options(config);
                let refiner = PredicateRefiner::new(Arc::clone(&program), manager, handle, portfolio, options);
                chain.then(Box::new(refiner))
            } else {
                checks(chain, &program, manager, config)?
            };
            (chain, Some(statistics), values.remerge())
        };
        let exploration = Exploration::new(waitlist(config), remerge);
        let chain: Box<dyn Refiner> = match (strategies, frame.strategy) {
            (Some(strategies), Some(handle)) => strategies.refiner(&composite, handle, Box::new(chain)),
            _ => Box::new(chain),
        };
        Ok(Self {
            cegar: Cegar::new(composite, exploration, chain),
            refiner,
            program,
            value,
            predicate,
            octagon,
            notes,
        })
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
