// SPDX-License-Identifier: Apache-2.0
//! The strategy analysis: takes those strategies that the precision at a location allows (section 3.2).
//!
//! All it does is to refuse edges of the strategy-augmented automaton. The precision says for each choice which strategies
//! are excluded; it is handed down along paths, as each path has its own counterexamples. A strategy that was excluded
//! often enough at a choice is excluded there for all paths.
//!
//! The decision is taken on the step to a branch and kept in the state there: the branch has two steps, and the graph may
//! explore one of them anew without the other, when the precision has changed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use cpa_core::{Cpa, Cx, PartitionKey, Step, Stop};

use crate::augment::{Augmented, ChoiceId};
use crate::order::Order;
use crate::strategy::Strategy;

/// So many exclusions at single nodes of the graph make one for all.
const ENOUGH: u32 = 4;

/// Nothing, or at a branch whether its strategy is entered and whether the others are asked for. One of them is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StrategyState {
    decision: Option<(bool, bool)>,
}

impl fmt::Display for StrategyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.decision {
            Some((enters, others)) => write!(f, "enters {enters}, others {others}"),
            None => Ok(()),
        }
    }
}

/// The strategies that are excluded at choices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StrategyPrecision {
    excluded: Rc<BTreeSet<(ChoiceId, Strategy)>>,
}

impl StrategyPrecision {
    /// This precision without a strategy at a choice.
    pub fn without(&self, choice: ChoiceId, strategy: Strategy) -> Self {
        let mut excluded = (*self.excluded).clone();
        excluded.insert((choice, strategy));
        Self { excluded: Rc::new(excluded) }
    }

    /// Whether a strategy may be taken.
    pub fn allows(&self, choice: ChoiceId, strategy: Strategy) -> bool {
        !self.excluded.contains(&(choice, strategy))
    }
}

/// How often strategies were excluded at choices; shared by the analysis and its refiner.
#[derive(Debug, Default)]
pub(crate) struct Exclusions {
    count: BTreeMap<(ChoiceId, Strategy), u32>,
}

impl Exclusions {
    pub(crate) fn add(&mut self, choice: ChoiceId, strategy: Strategy) {
        *self.count.entry((choice, strategy)).or_insert(0) += 1;
    }

    fn everywhere(&self, choice: ChoiceId, strategy: Strategy) -> bool {
        self.count.get(&(choice, strategy)).is_some_and(|count| *count >= ENOUGH)
    }
}

/// The strategy analysis.
pub struct StrategyCpa {
    augmented: Arc<Augmented>,
    order: Order,
    allowed: BTreeSet<Strategy>,
    exclusions: Rc<RefCell<Exclusions>>,
}

impl StrategyCpa {
    /// Takes the most abstract ones of the allowed strategies; the base strategy is taken where none of them is left.
    pub fn new(augmented: Arc<Augmented>, order: Order, allowed: BTreeSet<Strategy>) -> Self {
        Self { augmented, order, allowed, exclusions: Rc::default() }
    }

    pub(crate) fn exclusions(&self) -> Rc<RefCell<Exclusions>> {
        Rc::clone(&self.exclusions)
    }

    /// The function `select` of the paper at a choice, for the strategies from a position on.
    fn select(&self, choice: ChoiceId, from: usize, precision: &StrategyPrecision) -> BTreeSet<Strategy> {
        let exclusions = self.exclusions.borrow();
        let offered = self.augmented.choices[choice].strategies[from..].iter().copied();
        let available: BTreeSet<Strategy> = offered
            .filter(|strategy| self.allowed.contains(strategy))
            .filter(|strategy| precision.allows(choice, *strategy) && !exclusions.everywhere(choice, *strategy))
            .collect();
        if available.is_empty() {
            return BTreeSet::from([Strategy::Base]);
        }
        self.order.select(&available)
    }
}

impl Cpa for StrategyCpa {
    type State = StrategyState;
    type Precision = StrategyPrecision;

    fn name(&self) -> &'static str {
        "strategy"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(StrategyState, StrategyPrecision), Stop> {
        Ok((StrategyState::default(), StrategyPrecision::default()))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &StrategyState,
        step: Step,
        precision: &StrategyPrecision,
    ) -> Result<Vec<StrategyState>, Stop> {
        if let Some(&(choice, at)) = self.augmented.questions.get(&step.edge()) {
            let mut selected = self.select(choice, at, precision);
            let enters = selected.remove(&self.augmented.choices[choice].strategies[at]);
            return Ok(vec![StrategyState { decision: Some((enters, !selected.is_empty())) }]);
        }
        let open = match (self.augmented.branches.get(&step.edge()), state.decision) {
            (Some(branch), Some((enters, others))) => {
                if branch.enters {
                    enters
                } else {
                    others
                }
            }
            _ => true,
        };
        Ok(if open { vec![StrategyState::default()] } else { Vec::new() })
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &StrategyState, greater: &StrategyState) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }

    fn partition(&self, state: &StrategyState) -> Option<PartitionKey> {
        state.decision.map(|(enters, others)| PartitionKey(u64::from(enters) << 1 | u64::from(others)))
    }

    fn merges(&self) -> bool {
        false
    }

    fn join_precision(&self, new: &StrategyPrecision, old: &StrategyPrecision) -> StrategyPrecision {
        if new.excluded.is_subset(&old.excluded) {
            return old.clone();
        }
        StrategyPrecision { excluded: Rc::new(new.excluded.union(&old.excluded).copied().collect()) }
    }
}
