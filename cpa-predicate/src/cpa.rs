// SPDX-License-Identifier: Apache-2.0
//! The Predicate CPA.
//!
//! Abstract states are (ψ, lψ, φ): the abstraction formula, the place where it was computed, and the path formula since
//! then (Wendler's thesis, section 3.1; *A Unifying View*, section 3.1). Inside a block states merge to the disjunction of
//! their path formulas if they share the abstraction state the block began with; abstraction states cover each other by
//! implication, intermediate states are never covered. The abstraction is computed by `adjust`, where the block operator
//! ends a block.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use cfa::ids::NodeId;
use cfa::ir::Op;
use cpa_core::{Adjusted, At, Cpa, Cx, Merge, PartitionKey, Step, Stop};
use rustc_hash::FxHasher;
use smt::Terms;
use smt::path::PathFormula;

use crate::block::{BlockEnd, BlockOperator};
use crate::calls::Calls;
use crate::changes::{Changes, Heads};
use crate::formula::Formula;
use crate::laps::{LapCounter, Laps};
use crate::manager::Manager;
use crate::precision::{Precision, PredId};
use crate::reducer::BlockPredicates;
use crate::stats::Times;

/// An abstract state of the Predicate CPA.
#[derive(Clone, Debug)]
pub struct PredicateState {
    /// ψ, the abstraction at the start of the block.
    formula: Formula,
    /// Names the abstraction state the block began with; blocks with different numbers never merge.
    block: u64,
    /// φ, what happened since; empty for abstraction states.
    path: Rc<PathFormula>,
    /// For abstraction states the block that ended here, from the abstraction state before.
    entry: Rc<PathFormula>,
    /// The longest path of the block, in edges.
    length: u32,
    /// Whether the state is the start of a block.
    abstraction: bool,
    /// The length at which satisfiability was checked last.
    checked: u32,
    /// Iterations of loops inside the block.
    laps: Laps,
    /// The predicates that ψ was computed with. The precision of the node may have grown since.
    tracked: Rc<[PredId]>,
    /// The active functions.
    calls: Calls,
    /// What was known at the heads of the loops around, if iterations without a change are left out.
    heads: Heads,
}

impl PredicateState {
    /// Whether the state was computed by an abstraction and starts a block.
    pub fn is_abstraction(&self) -> bool {
        self.abstraction
    }

    /// The abstraction formula at the start of the block.
    pub fn formula(&self) -> Formula {
        self.formula
    }

    /// The same state with another abstraction formula at the start of the block.
    #[must_use]
    pub(crate) fn with_formula(&self, formula: Formula) -> Self {
        Self { formula, ..self.clone() }
    }

    /// For abstraction states the formula of the block that ended here, from the abstraction state before.
    pub(crate) fn entry(&self) -> &PathFormula {
        &self.entry
    }

    /// The predicates that the abstraction formula at the start of the block was computed with.
    pub fn tracked(&self) -> &[PredId] {
        &self.tracked
    }

    /// The active functions.
    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The abstraction state at the entry of a part of the program that is analysed by itself.
    pub(crate) fn reduced(&self, formula: Formula, block: u64, tracked: Rc<[PredId]>, calls: Calls) -> Self {
        let path = Rc::new(PathFormula::empty());
        let entry = Rc::clone(&path);
        let (laps, heads) = (Laps::default(), Heads::default());
        Self { formula, block, entry, path, length: 0, checked: 0, abstraction: true, laps, tracked, calls, heads }
    }

    /// A state in the same block, further along.
    pub(crate) fn inside(&self, path: Rc<PathFormula>, calls: Calls) -> Self {
        Self { path, length: self.length + 1, abstraction: false, calls, ..self.clone() }
    }

    /// The same state as part of a path through the whole program.
    pub(crate) fn unfolded(&self, tracked: Rc<[PredId]>, calls: Calls) -> Self {
        Self { tracked, calls, ..self.clone() }
    }

    /// The path formula since the start of the block.
    pub fn path(&self) -> &PathFormula {
        &self.path
    }

    /// The path formula after a step from here.
    pub fn follow(&self, manager: &mut Manager, step: Step) -> Result<PathFormula, Stop> {
        let activation = self.calls.activation(manager.encoder.program(), step);
        manager.follow(&self.path, step, activation)
    }

    /// The longest path of the block so far, in edges.
    pub fn length(&self) -> u32 {
        self.length
    }
}

impl PartialEq for PredicateState {
    fn eq(&self, other: &Self) -> bool {
        self.formula == other.formula
            && self.block == other.block
            && self.length == other.length
            && self.abstraction == other.abstraction
            && self.laps == other.laps
            && self.heads == other.heads
            && (Rc::ptr_eq(&self.path, &other.path) || self.path == other.path)
    }
}

impl fmt::Display for PredicateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.abstraction {
            write!(f, "abstraction {}", self.block)
        } else {
            write!(f, "block {}+{}", self.block, self.length)
        }
    }
}

/// Settings of a [`PredicateCpa`] beside its block operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PredicateOptions {
    /// Whether the states of a block merge.
    pub merge: bool,
    /// Check the satisfiability of a path at a branch if this many edges were added since the last check; 0 for never.
    pub sat_check: u32,
    /// Leave out iterations of loops that change nothing that is read later.
    pub changes: bool,
}

impl Default for PredicateOptions {
    fn default() -> Self {
        Self { merge: true, sat_check: 0, changes: false }
    }
}

/// The Predicate CPA over a shared [`Manager`].
pub struct PredicateCpa {
    manager: Rc<RefCell<Manager>>,
    operator: BlockOperator,
    options: PredicateOptions,
    /// Tells iterations apart, if blocks may contain several and merge.
    laps: Option<LapCounter>,
    /// The loops, if iterations without a change are left out.
    changes: Option<Changes>,
    /// The parts of the program that are analysed by themselves, if there are such.
    parts: Option<Rc<BlockPredicates>>,
    next_block: u64,
}

impl PredicateCpa {
    /// The CPA with the given block operator.
    pub fn new(manager: Rc<RefCell<Manager>>, operator: BlockOperator) -> Self {
        Self::with_options(manager, operator, PredicateOptions::default())
    }

    /// The CPA with the given block operator and other settings.
    pub fn with_options(manager: Rc<RefCell<Manager>>, operator: BlockOperator, options: PredicateOptions) -> Self {
        let unrolls = options.merge && operator.unrolls();
        let laps = unrolls.then(|| LapCounter::new(manager.borrow().encoder.program()));
        let changes = options.changes.then(|| Changes::new(manager.borrow().encoder.program()));
        Self { manager, operator, options, laps, changes, parts: None, next_block: 0 }
    }

    /// The same analysis over blocks that are analysed by themselves; the block operator ends at their borders.
    #[must_use]
    pub fn over_blocks(mut self, parts: Rc<BlockPredicates>) -> Self {
        self.parts = Some(parts);
        self
    }

    fn abstraction_state(
        &mut self,
        formula: Formula,
        before: Option<&PredicateState>,
        tracked: Rc<[PredId]>,
    ) -> PredicateState {
        let block = self.next_block;
        self.next_block += 1;
        let empty = Rc::new(PathFormula::empty());
        PredicateState {
            formula,
            block,
            entry: before.map_or_else(|| Rc::clone(&empty), |state| Rc::clone(&state.path)),
            path: empty,
            length: 0,
            checked: 0,
            abstraction: true,
            laps: Laps::default(),
            tracked,
            calls: before.map(|state| state.calls.clone()).unwrap_or_default(),
            heads: Heads::default(),
        }
    }

    /// Whether the satisfiability of the path is due to be checked.
    fn check_is_due(&self, state: &PredicateState, step: Step) -> bool {
        self.options.sat_check > 0
            && state.length - state.checked >= self.options.sat_check
            && matches!(self.manager.borrow().encoder.program().edge(step.edge()).op, Op::Assume { .. })
    }
}

impl Cpa for PredicateCpa {
    type State = PredicateState;
    type Precision = Precision;

    fn name(&self) -> &'static str {
        "predicate"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(PredicateState, Precision), Stop> {
        let top = self.manager.borrow_mut().top();
        Ok((self.abstraction_state(top, None, Rc::new([])), Precision::default()))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &PredicateState,
        step: Step,
        _precision: &Precision,
    ) -> Result<Vec<PredicateState>, Stop> {
        let manager = &mut *self.manager.borrow_mut();
        if manager.is_false(state.formula) {
            return Ok(Vec::new());
        }
        let mut path = state.follow(manager, step)?;
        let mut heads = Heads::default();
        if let Some(changes) = &self.changes {
            heads = changes.after(&state.heads, &state.path, manager.encoder.program(), step);
            if let Some(changed) = changes.condition(&mut manager.terms, &manager.encoder, &heads, &path, step) {
                path.pc = manager.terms.and(path.pc, changed);
            }
        }
        if path.pc == Terms::fls() {
            return Ok(Vec::new());
        }
        let length = state.length + 1;
        let calls = state.calls.after(manager.encoder.program(), step);
        let laps = match &self.laps {
            Some(counter) => counter.after(&state.laps, manager.encoder.program(), step),
            None => Laps::default(),
        };
        let path = Rc::new(path);
        Ok(vec![PredicateState { path, length, abstraction: false, calls, laps, heads, ..state.clone() }])
    }

    fn leq(&mut self, cx: &mut Cx, left: &PredicateState, right: &PredicateState) -> Result<bool, Stop> {
        if left.abstraction && right.abstraction {
            return self.manager.borrow_mut().implies(cx, left.formula, right.formula);
        }
        Ok(left == right)
    }

    fn merge(
        &mut self,
        _cx: &mut Cx,
        new: &PredicateState,
        reached: &PredicateState,
        _precision: &Precision,
    ) -> Result<Merge<PredicateState>, Stop> {
        if !self.options.merge || new.abstraction || reached.abstraction || new.block != reached.block {
            return Ok(Merge::Separate);
        }
        if new.laps != reached.laps {
            return Ok(Merge::Separate);
        }
        let heads = reached.heads.common(&new.heads);
        if new.path == reached.path && new.length <= reached.length && heads == reached.heads {
            return Ok(Merge::Contained);
        }
        let manager = &mut *self.manager.borrow_mut();
        // Blocks are acyclic, so paths that meet exclude each other.
        let path = reached.path.merge(&mut manager.terms, &new.path, true);
        Ok(Merge::Changed(PredicateState {
            path: Rc::new(path),
            checked: new.checked.min(reached.checked),
            length: new.length.max(reached.length),
            heads,
            ..reached.clone()
        }))
    }

    fn join_precision(&self, new: &Precision, old: &Precision) -> Precision {
        old.union(new)
    }

    fn coverable(&self, state: &PredicateState) -> bool {
        state.abstraction
    }

    fn adjust(
        &mut self,
        cx: &mut Cx,
        state: &PredicateState,
        precision: &Precision,
        at: &At,
    ) -> Result<Adjusted<PredicateState, Precision>, Stop> {
        let Some(step) = at.step else { return Ok(Adjusted::Unchanged) };
        let Some(end) = self.operator.ends(at.node, step, state.length, at.target) else {
            if !self.check_is_due(state, step) {
                return Ok(Adjusted::Unchanged);
            }
            if !self.manager.borrow_mut().branch_feasible(cx, state.formula, &state.path)? {
                return Ok(Adjusted::Bottom);
            }
            return Ok(Adjusted::Keep(PredicateState { checked: state.length, ..state.clone() }, precision.clone()));
        };
        let start = cx.elapsed();
        let (formula, tracked) = {
            let manager = &mut *self.manager.borrow_mut();
            manager.stats.count_end(end, state.length);
            if end == BlockEnd::Target {
                manager.stats.false_precision += 1;
                let passed = if self.options.sat_check > 0 {
                    manager.branch_feasible(cx, state.formula, &state.path)?
                } else {
                    manager.feasible(cx, state.formula, &state.path)?
                };
                (passed.then(|| manager.top()), Rc::new([]) as Rc<[PredId]>)
            } else {
                let tracked = tracked(manager, precision, at.node, step, self.parts.as_deref());
                (manager.abstraction(cx, state.formula, &state.path, &tracked)?, tracked)
            }
        };
        Times::add(&mut self.manager.borrow_mut().stats.times.abstraction, cx, start);
        Ok(match formula {
            Some(formula) => Adjusted::Keep(self.abstraction_state(formula, Some(state), tracked), precision.clone()),
            None => Adjusted::Bottom,
        })
    }

    fn partition(&self, state: &PredicateState) -> Option<PartitionKey> {
        if state.abstraction {
            return None;
        }
        let mut hasher = FxHasher::default();
        (state.block, &state.laps).hash(&mut hasher);
        Some(PartitionKey(hasher.finish()))
    }
}

/// The predicates of the precision and the shared ones.
fn tracked(
    manager: &mut Manager,
    precision: &Precision,
    node: NodeId,
    step: Step,
    parts: Option<&BlockPredicates>,
) -> Rc<[PredId]> {
    let func = manager.encoder.program().node(node).func;
    let tracked = precision.tracked(&manager.shared, func, node);
    let Some(parts) = parts else { return tracked };
    let mut lifted = parts.lifted(manager, precision, node);
    lifted.extend(parts.returned(manager, precision, step));
    if lifted.is_empty() {
        return tracked;
    }
    tracked.iter().copied().chain(lifted).collect::<BTreeSet<PredId>>().into_iter().collect()
}
