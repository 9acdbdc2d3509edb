// SPDX-License-Identifier: Apache-2.0
//! The strategy refiner, chained after the refiner of the analysis (section 3.2, equation 2).
//!
//! A path that the wrapped refiner finds feasible is a run of the augmented automaton. If it enters no strategy that
//! over-approximates, it is a run of the program. Otherwise the first such strategy is excluded where it was entered, and
//! everything behind that is explored anew.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use cpa_core::{Arg, ArgId, Cut, Cx, Handle, Refinement, Refiner, Step, Stop};

use crate::augment::{Augmented, ChoiceId};
use crate::cpa::{Exclusions, StrategyCpa};
use crate::strategy::Strategy;

/// The strategy refiner around the refiner of an analysis.
pub struct StrategyRefiner {
    wrapped: Box<dyn Refiner>,
    augmented: Arc<Augmented>,
    handle: Handle<StrategyCpa>,
    exclusions: Rc<RefCell<Exclusions>>,
    answered: bool,
}

impl StrategyRefiner {
    /// Asks `wrapped` first. `cpa` is the analysis that has the handle.
    pub fn new(
        wrapped: Box<dyn Refiner>,
        augmented: Arc<Augmented>,
        handle: Handle<StrategyCpa>,
        cpa: &StrategyCpa,
    ) -> Self {
        Self { wrapped, augmented, handle, exclusions: cpa.exclusions(), answered: false }
    }

    /// The first over-approximating strategy on a path of steps: position of the step that enters it.
    fn first_abstract(&self, steps: &[Step]) -> Option<(usize, ChoiceId, Strategy)> {
        steps.iter().enumerate().find_map(|(at, step)| {
            let (choice, strategy) = self.augmented.entered(step.edge())?;
            (!self.augmented.is_exact(choice, strategy)).then_some((at, choice, strategy))
        })
    }
}

impl Refiner for StrategyRefiner {
    fn name(&self) -> &'static str {
        if self.answered { "strategy" } else { self.wrapped.name() }
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        self.answered = false;
        let found = self.wrapped.refine(cx, arg, target)?;
        let Refinement::Feasible(run) = &found else { return Ok(found) };
        let steps = if run.rest.is_none() { run.steps.clone() } else { arg.path_to(target).steps };
        let Some((at, choice, strategy)) = self.first_abstract(&steps) else { return Ok(found) };
        // The branch itself goes away, so that the question in front of it is answered anew.
        let pivot = at.checked_sub(1).and_then(|question| node_behind(arg, target, &steps, question));
        let Some(pivot) = pivot else {
            return Err(Stop::GaveUp("a run through a loop abstraction is not in the graph".to_owned()));
        };
        self.answered = true;
        self.exclusions.borrow_mut().add(choice, strategy);
        let allowed = arg.precision(pivot).get(self.handle);
        let precision = self.handle.precision(allowed.without(choice, strategy));
        Ok(Refinement::Spurious { cuts: vec![Cut { pivot, precisions: vec![precision] }] })
    }
}

/// The node that a path to `target` reaches by its step at a position. Nodes may have several parents, so the path is
/// followed backwards along all that fit.
fn node_behind(arg: &Arg, target: ArgId, steps: &[Step], at: usize) -> Option<ArgId> {
    // For each position the nodes behind that step from which the target is reached by the rest, and one successor each.
    let mut layers: Vec<BTreeMap<ArgId, ArgId>> = vec![BTreeMap::from([(target, target)])];
    for step in steps[at + 1..].iter().rev() {
        let mut before = BTreeMap::new();
        for node in layers.last()?.keys() {
            for (parent, along) in arg.parents(*node) {
                if along == step {
                    before.entry(*parent).or_insert(*node);
                }
            }
        }
        if before.is_empty() {
            return None;
        }
        layers.push(before);
    }
    let entered = |node: &&ArgId| arg.parents(**node).iter().any(|(_, along)| *along == steps[at]);
    layers.last()?.keys().find(entered).copied()
}

impl std::fmt::Debug for StrategyRefiner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StrategyRefiner").field(&self.wrapped.name()).finish()
    }
}
