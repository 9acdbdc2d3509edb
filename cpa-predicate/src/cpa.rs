// SPDX-License-Identifier: Apache-2.0
//! The Predicate CPA.
//!
//! Abstract states are (ψ, lψ, φ): the abstraction formula, the place where it was computed, and the path formula since
//! then (Wendler's thesis, section 3.1; *A Unifying View*, section 3.1). Inside a block states merge to the disjunction of
//! their path formulas if they share the abstraction state the block began with; abstraction states cover each other by
//! implication, intermediate states are never covered. The abstraction is computed by `adjust`, where the block operator
//! ends a block.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use cfa::ids::NodeId;
use cpa_core::{Adjusted, At, Cpa, Cx, Merge, Step, Stop};
use smt::Terms;
use smt::path::PathFormula;

use crate::block::{BlockEnd, BlockOperator};
use crate::calls::Calls;
use crate::manager::Manager;
use crate::precision::{Precision, PredId};
use crate::region::RegionId;

/// An abstract state of the Predicate CPA.
#[derive(Clone, Debug)]
pub struct PredicateState {
    /// ψ, the abstraction at the start of the block.
    region: RegionId,
    /// Names the abstraction state the block began with; blocks with different numbers never merge.
    block: u64,
    /// φ, what happened since; empty for abstraction states.
    path: Rc<PathFormula>,
    /// The longest path of the block, in edges.
    length: u32,
    /// Whether the state is the start of a block.
    abstraction: bool,
    /// The predicates that ψ was computed with. The precision of the node may have grown since.
    tracked: Rc<[PredId]>,
    /// The active functions.
    calls: Calls,
}

impl PredicateState {
    /// Whether the state was computed by an abstraction and starts a block.
    pub fn is_abstraction(&self) -> bool {
        self.abstraction
    }

    /// The abstraction formula at the start of the block.
    pub fn region(&self) -> RegionId {
        self.region
    }

    /// The predicates that the abstraction formula at the start of the block was computed with.
    pub fn tracked(&self) -> &[PredId] {
        &self.tracked
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
        self.region == other.region
            && self.block == other.block
            && self.length == other.length
            && self.abstraction == other.abstraction
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

/// The Predicate CPA over a shared [`Manager`].
pub struct PredicateCpa {
    manager: Rc<RefCell<Manager>>,
    operator: BlockOperator,
    next_block: u64,
}

impl PredicateCpa {
    /// The CPA with the given block operator.
    pub fn new(manager: Rc<RefCell<Manager>>, operator: BlockOperator) -> Self {
        Self { manager, operator, next_block: 0 }
    }

    fn abstraction_state(&mut self, region: RegionId, tracked: Rc<[PredId]>, calls: Calls) -> PredicateState {
        let block = self.next_block;
        self.next_block += 1;
        let path = Rc::new(PathFormula::empty());
        PredicateState { region, block, path, length: 0, abstraction: true, tracked, calls }
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
        Ok((self.abstraction_state(top, Rc::new([]), Calls::default()), Precision::default()))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &PredicateState,
        step: Step,
        _precision: &Precision,
    ) -> Result<Vec<PredicateState>, Stop> {
        let manager = &mut *self.manager.borrow_mut();
        let path = state.follow(manager, step)?;
        if path.pc == Terms::fls() {
            return Ok(Vec::new());
        }
        let length = state.length + 1;
        let calls = state.calls.after(manager.encoder.program(), step);
        Ok(vec![PredicateState { path: Rc::new(path), length, abstraction: false, calls, ..state.clone() }])
    }

    fn leq(&mut self, _cx: &mut Cx, left: &PredicateState, right: &PredicateState) -> Result<bool, Stop> {
        if left.abstraction && right.abstraction {
            return self.manager.borrow_mut().implies(left.region, right.region);
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
        if new.abstraction || reached.abstraction || new.block != reached.block {
            return Ok(Merge::Separate);
        }
        if new.path == reached.path && new.length <= reached.length {
            return Ok(Merge::Contained);
        }
        let manager = &mut *self.manager.borrow_mut();
        let path = reached.path.merge(&mut manager.terms, &new.path, self.operator.acyclic());
        Ok(Merge::Changed(PredicateState {
            path: Rc::new(path),
            length: new.length.max(reached.length),
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
            return Ok(Adjusted::Unchanged);
        };
        let tracked: Rc<[PredId]> = if end == BlockEnd::Target { Rc::new([]) } else { tracked(precision, at.node) };
        let region = {
            let manager = &mut *self.manager.borrow_mut();
            manager.stats.count_end(end, state.length);
            if end == BlockEnd::Target {
                manager.feasible(cx, state.region, &state.path)?.then(|| manager.top())
            } else {
                manager.abstraction(cx, state.region, &state.path, &tracked)?
            }
        };
        Ok(match region {
            Some(region) => {
                Adjusted::Keep(self.abstraction_state(region, tracked, state.calls.clone()), precision.clone())
            }
            None => Adjusted::Bottom,
        })
    }
}

fn tracked(precision: &Precision, node: NodeId) -> Rc<[PredId]> {
    precision.at(node).map(|set| set.iter().copied().collect()).unwrap_or_default()
}
