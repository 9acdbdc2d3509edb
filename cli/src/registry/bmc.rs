// SPDX-License-Identifier: Apache-2.0
//! Bounded model checking, put together.

use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use algo_bmc::{Bmc, Increase, Options};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{Arg, Counting, Cx, Outcome};
use cpa_predicate::Manager;

use super::{Analysis, manager};
use crate::options::{Adjuster, Config};

/// Bounded model checking with its configuration.
pub struct BmcAnalysis {
    bmc: Bmc,
    manager: Rc<RefCell<Manager>>,
    notes: Vec<String>,
}

impl BmcAnalysis {
    /// Bounded model checking of `program`; fails with a message when options do not fit.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, config: &Config) -> Result<Self, String> {
        let mut notes = Vec::new();
        let mut manager = manager(&program, config, &mut notes)?;
        manager.encoder.tell_cells_apart(config.cells_apart.into());
        let manager = Rc::new(RefCell::new(manager));
        let bmc = Bmc::new(&program, &targets, &manager, options(config)?);
        Ok(Self { bmc, manager, notes })
    }

    /// The algorithm.
    pub fn bmc(&self) -> &Bmc {
        &self.bmc
    }

    /// The shared part of the predicate analysis.
    pub fn manager(&self) -> Ref<'_, Manager> {
        self.manager.borrow()
    }
}

impl Analysis for BmcAnalysis {
    fn run(&mut self, cx: &mut Cx) -> Outcome {
        self.bmc.run(cx)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn graph(&self) -> Option<&Arg> {
        Some(self.bmc.graph())
    }

    fn statistics(&self) -> Vec<(String, String)> {
        statistics(&self.bmc)
    }
}

/// How bounded model checking is configured.
pub(super) fn options(config: &Config) -> Result<Options, String> {
    if config.max_iterations == 0 {
        return Err("cpa.loopbound.maxLoopIterations: the bound is at least 1".to_string());
    }
    Ok(Options {
        counting: Counting::Iterations,
        first: config.max_iterations,
        last: (config.max_iterations_upper > 0).then_some(config.max_iterations_upper),
        increase: match config.adjuster {
            Adjuster::Static => Increase::Never,
            Adjuster::Increment => Increase::ByOne,
            Adjuster::Double => Increase::Double,
        },
        forward_condition: config.bounding_assertions,
        check_targets: config.check_targets,
        changes: config.changes,
    })
}

/// Labels and values of the statistics of an unrolling from the entry.
pub(super) fn statistics(bmc: &Bmc) -> Vec<(String, String)> {
    let core = bmc.unrolling().exploration().statistics();
    let times = bmc.times();
    vec![
        ("Size of reached set".into(), bmc.unrolling().arg().len().to_string()),
        ("Number of iterations".into(), core.iterations.to_string()),
        ("Number of computed successors".into(), core.successors.to_string()),
        ("Number of times merged".into(), core.merges.to_string()),
        ("Max size of waitlist".into(), core.max_waiting.to_string()),
        ("Number of rounds".into(), bmc.rounds().to_string()),
        ("Loop bound".into(), bmc.bound().to_string()),
        ("Time for BMC formula creation".into(), seconds(times.formula)),
        ("Time for final sat check".into(), seconds(times.targets)),
        ("Time for bounding assertions check".into(), seconds(times.forward)),
    ]
}

/// A time as it stands in statistics.
pub(super) fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}
