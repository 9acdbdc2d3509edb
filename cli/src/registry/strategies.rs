// SPDX-License-Identifier: Apache-2.0
//! Loop abstraction inside of an analysis with refinement: the strategy analysis beside the others, the strategy refiner
//! behind theirs.

use std::collections::BTreeSet;
use std::sync::Arc;

use cpa_core::{Composite, Handle, Refiner};
use loopabs::{Augmented, Order, Strategy, StrategyCpa, StrategyRefiner};

use crate::options::Config;

/// How strategies are chosen.
#[derive(Clone, Debug)]
pub struct Strategies {
    /// The automaton that is explored.
    pub augmented: Arc<Augmented>,
    /// Which strategies are tried first.
    pub order: Order,
    /// The strategies that may be used.
    pub allowed: BTreeSet<Strategy>,
}

impl Strategies {
    /// Adds the strategy analysis.
    pub fn add(&self, composite: &mut Composite) -> Handle<StrategyCpa> {
        composite.add(StrategyCpa::new(Arc::clone(&self.augmented), self.order.clone(), self.allowed.clone()))
    }

    /// The strategy refiner around a refiner.
    pub fn refiner(
        &self,
        composite: &Composite,
        handle: Handle<StrategyCpa>,
        wrapped: Box<dyn Refiner>,
    ) -> Box<dyn Refiner> {
        Box::new(StrategyRefiner::new(wrapped, Arc::clone(&self.augmented), handle, composite.cpa(handle)))
    }
}

/// The strategies and their order as options say, the base strategy included.
pub(super) fn configured(config: &Config) -> Result<(BTreeSet<Strategy>, Order), String> {
    let mut allowed = BTreeSet::from([Strategy::Base]);
    for name in config.loop_strategies.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let strategy =
            Strategy::parse(name).ok_or_else(|| format!("loopabs.strategies: there is no strategy '{name}'"))?;
        allowed.insert(strategy);
    }
    let order = Order::parse(&config.loop_order)
        .ok_or_else(|| format!("loopabs.order: '{}' is no order such as b<p<i<o<c<n<h", config.loop_order))?;
    Ok((allowed, order))
}
