// SPDX-License-Identifier: Apache-2.0
//! From a configuration to an analysis: the one place where domains, refiners and algorithms meet.

mod abstraction;
mod bam;
mod bmc;
mod cegar;
mod check;
mod contracts;
mod data;
mod domains;
mod evidence;
mod execution;
mod exhaustive;
mod kind;
mod loop_invariants;
mod queries;
mod ranges;
mod states;
mod strategies;
mod subdivision;
mod summaries;

use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Arg, Cx, Invariants, Outcome};
use cpa_predicate::{Computation, Encoding, Manager, Representation, Settings};

use crate::options::{Algorithm, BddChoice, ComputationChoice, Config, Domains, EncodingChoice, FormulaChoice};
use cpa_predicate::region::Library;

pub use abstraction::LoopAbstraction;
pub use bam::{BamAnalysis, partitioning};
pub use bmc::BmcAnalysis;
pub use cegar::CegarAnalysis;
pub use contracts::ContractsAnalysis;
pub use data::DataAnalysis;
pub use execution::ExecutionAnalysis;
pub use exhaustive::ExhaustiveAnalysis;
pub use kind::KInductionAnalysis;
pub use loop_invariants::supplied as loop_invariants;
pub use ranges::RangesAnalysis;
pub use states::StatesAnalysis;
pub use strategies::Strategies;
pub use subdivision::SubdivisionAnalysis;
pub use summaries::SummariesAnalysis;

/// A configured analysis of one program, whatever its algorithm is.
pub trait Analysis {
    /// Runs the analysis to its end. A run that was stopped can be continued by another call.
    fn run(&mut self, cx: &mut Cx) -> Outcome;

    /// Whether a run that is continued begins anew, so that it is better to wait in the middle of it.
    fn restarts(&self) -> bool {
        false
    }

    /// What the user should know about how the configuration was used.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Labels and values of all statistics.
    fn statistics(&self) -> Vec<(String, String)>;

    /// The abstract reachability graph as far as it was explored, for saying where the analysis is.
    fn graph(&self) -> Option<&Arg> {
        None
    }

    /// The predicates in use and where they are tracked, if the analysis has such.
    fn predicates(&self) -> Option<String> {
        None
    }

    /// What is known at the heads of loops after a proof. An analysis that covers executions without knowing more about
    /// them than their steps says nothing.
    fn invariants(&mut self) -> Invariants {
        Invariants::new()
    }
}

/// The analysis that a configuration describes; it looks for the targets. Fails with a message when options do not fit.
pub fn analysis(
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    config: &Config,
) -> Result<Box<dyn Analysis>, String> {
    let predicates = config.algorithm == Algorithm::Cegar && config.domains == Domains::Predicate;
    if config.summarize && (!predicates || config.loop_abstraction) {
        return Err(
            "cfa.summarize=true: only analyses by predicates with refinement, without loop abstraction, run on \
                    summarised automata"
                .into(),
        );
    }
    if config.loop_abstraction {
        return Ok(Box::new(LoopAbstraction::new(program, targets, config)?));
    }
    Ok(match config.algorithm {
        Algorithm::Cegar if predicates => Box::new(CegarAnalysis::new(program, targets, config)?),
        Algorithm::Cegar | Algorithm::Cpa => Box::new(DataAnalysis::new(program, targets, config)?),
        Algorithm::Bam => Box::new(BamAnalysis::new(program, targets, config)?),
        Algorithm::Bmc => Box::new(BmcAnalysis::new(program, targets, config)?),
        Algorithm::Execution => Box::new(ExecutionAnalysis::new(program, targets, config)),
        Algorithm::Exhaustive => Box::new(ExhaustiveAnalysis::new(program, targets, config)?),
        Algorithm::Subdivision => Box::new(SubdivisionAnalysis::new(program, targets, config)),
        Algorithm::Ranges => Box::new(RangesAnalysis::new(program, targets)),
        Algorithm::States => Box::new(StatesAnalysis::new(program, targets, config)),
        Algorithm::Summaries => Box::new(SummariesAnalysis::new(program, targets)),
        Algorithm::Contracts => Box::new(ContractsAnalysis::new(&program, &targets, config)?),
        Algorithm::KInduction => Box::new(KInductionAnalysis::new(program, targets, config)?),
    })
}

/// The shared part of a predicate analysis; falls back to an encoding that is exact, with a note.
fn manager(program: &Arc<Program>, config: &Config, notes: &mut Vec<String>) -> Result<Manager, String> {
    let library = bdd_library(config.bdd)?;
    let encoding = match config.encoding {
        EncodingChoice::Bitvector => Encoding::Bitvector,
        EncodingChoice::Integer => Encoding::Integer,
    };
    let mut manager = match Manager::new(program, encoding, library) {
        Ok(manager) => manager,
        Err(inexact) => {
            notes.push(format!("{inexact}, so the program is encoded with bit-vectors"));
            Manager::new(program, Encoding::Bitvector, library)
                .map_err(|inexact| format!("internal error: bit-vectors are exact, but {inexact}"))?
        }
    };
    if !config.query_folder.is_empty() {
        manager.record(queries::into_folder(&config.query_folder));
    }
    manager.configure(Settings {
        computation: match config.computation {
            ComputationChoice::Cartesian => Computation::Cartesian,
            ComputationChoice::Boolean => Computation::Boolean,
            ComputationChoice::Combined => Computation::Combined,
        },
        representation: match config.formula_type {
            FormulaChoice::Bdd => Representation::Bdd,
            FormulaChoice::Formula => Representation::Smt,
        },
        cache: config.abstraction_cache,
        query_timeout: config.query_timeout,
    });
    Ok(manager)
}

fn bdd_library(choice: BddChoice) -> Result<Library, String> {
    match choice {
        BddChoice::Oxidd => Ok(Library::Oxidd),
        #[cfg(feature = "cudd")]
        BddChoice::Cudd => Ok(Library::Cudd),
        #[cfg(not(feature = "cudd"))]
        BddChoice::Cudd => Err("cpa.predicate.bdd=cudd: this cpa-verify was built without the feature 'cudd'".into()),
    }
}
