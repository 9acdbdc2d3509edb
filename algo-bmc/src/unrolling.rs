// SPDX-License-Identifier: Apache-2.0
//! An unrolling of the program with the path formulas of its states, which goes on where the bound stopped it.
//!
//! The CPA++ algorithm with the Predicate CPA (blk^never) and the Loop-Bound CPA (*A Unifying View*, section 4.1). When the
//! bound is raised, only the states that it stopped are explored further, in a round of their own: what was examined
//! before is never explored again, and new paths do not merge with old ones.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::{EdgeId, NodeId};
use cpa_core::algorithm::{never, run};
use cpa_core::{
    Arg, ArgId, CallstackCpa, Composite, Counting, Cx, Exploration, Handle, LocationCpa, LocationState, LoopBoundCpa,
    Remerge, Stop, Target, Unrolled,
};
use cpa_predicate::{BlockOperator, BlockOptions, Manager, PredicateCpa, PredicateOptions, PredicateState};
use smt::{PathFormula, TermId};

/// Where an unrolling begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// At the entry of the program.
    Entry,
    /// At a location below calls (the outermost first), with arbitrary values of all variables.
    Anywhere {
        /// The call edges.
        calls: Vec<EdgeId>,
        /// The location.
        node: NodeId,
    },
}

/// An unrolling.
pub struct Unrolling {
    manager: Rc<RefCell<Manager>>,
    cpa: Composite,
    location: Handle<LocationCpa>,
    callstack: Handle<CallstackCpa>,
    predicate: Handle<PredicateCpa>,
    bound: Handle<LoopBoundCpa>,
    exploration: Exploration,
    start: Start,
    counting: Counting,
    k: u32,
    round: u32,
    /// Nodes from this position on belong to the current round.
    first: usize,
    frontier: Vec<ArgId>,
    started: bool,
}

impl Unrolling {
    /// An unrolling of `program` that has not begun.
    pub fn new(
        program: &Arc<Program>,
        targets: &BTreeSet<NodeId>,
        manager: &Rc<RefCell<Manager>>,
        start: Start,
        counting: Counting,
    ) -> Self {
        Self::with_options(program, targets, manager, start, counting, PredicateOptions::default())
    }

    /// As [`Unrolling::new`]; `predicate` says how path formulas are made.
    pub fn with_options(
        program: &Arc<Program>,
        targets: &BTreeSet<NodeId>,
        manager: &Rc<RefCell<Manager>>,
        start: Start,
        counting: Counting,
        predicate: PredicateOptions,
    ) -> Self {
        let mut cpa = Composite::new(Arc::clone(program));
        let location = cpa.add(LocationCpa::new(Arc::clone(program), targets.clone()).towards_targets());
        let callstack = CallstackCpa::new(Arc::clone(program));
        // Below arbitrary states there are no activations whose variables could be kept apart.
        let callstack = cpa.add(match start {
            Start::Entry => callstack.following_recursion(),
            Start::Anywhere { .. } => callstack,
        });
        let bound = cpa.add(LoopBoundCpa::new(Arc::clone(program), counting, 1));
        let operator = BlockOperator::new(BlockOptions::NEVER, Arc::clone(program));
        let predicate = cpa.add(PredicateCpa::with_options(Rc::clone(manager), operator, predicate));
        Self {
            manager: Rc::clone(manager),
            cpa,
            location,
            callstack,
            predicate,
            bound,
            exploration: Exploration::new(Box::new(Unrolled::default()), Remerge::Prune),
            start,
            counting,
            k: 0,
            round: 0,
            first: 0,
            frontier: Vec::new(),
            started: false,
        }
    }

    /// The shared part of the predicate analysis.
    pub fn manager(&self) -> &Rc<RefCell<Manager>> {
        &self.manager
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        self.cpa.program()
    }

    /// The graph of the unrolled program.
    pub fn arg(&self) -> &Arg {
        self.exploration.arg()
    }

    /// What was explored.
    pub fn exploration(&self) -> &Exploration {
        &self.exploration
    }

    /// The bound of the last round.
    pub fn bound(&self) -> u32 {
        self.k
    }

    /// Unrolls up to the bound `k`, which is at least the one before. The states at the old bound are explored further;
    /// a round that was stopped goes on.
    pub fn extend(&mut self, cx: &mut Cx, k: u32) -> Result<(), Stop> {
        assert!(k >= self.k, "the bound of an unrolling only grows");
        if k > self.k {
            self.k = k;
            self.round += 1;
            self.first = self.exploration.arg().created();
            self.cpa.cpa_mut(self.bound).set_bound(k);
            let precision = self.bound.precision(k);
            for id in std::mem::take(&mut self.frontier) {
                let counters = self.exploration.arg().state(id).get(self.bound).in_round(self.round);
                let state = self.bound.state(counters);
                self.exploration.reopen(&self.cpa, id, &state, &precision);
            }
        }
        if !self.started {
            self.started = true;
            self.begin(cx)?;
        }
        run(cx, &mut self.cpa, &mut self.exploration, &mut never, None)?;
        let arg = self.exploration.arg();
        let stopped = |&id: &ArgId| {
            let state = arg.state(id);
            state.get(self.bound).at_bound(k, self.counting) && !self.cpa.steps(state).is_empty()
        };
        self.frontier = self.nodes_of_round().filter(stopped).collect();
        Ok(())
    }

    fn begin(&mut self, cx: &mut Cx) -> Result<(), Stop> {
        let Start::Anywhere { calls, node } = &self.start else { return Ok(()) };
        let (initial, precision, _) = self.cpa.initial(cx)?;
        let location = LocationState { node: *node, unsupported: None };
        let state = initial
            .with(&self.location.state(location))
            .with(&self.callstack.state(self.cpa.cpa(self.callstack).below(calls)))
            .with(&self.bound.state(self.cpa.cpa(self.bound).start(calls, *node)));
        self.exploration.start_at(&self.cpa, state, precision, *node);
        Ok(())
    }

    fn nodes_of_round(&self) -> impl Iterator<Item = ArgId> + '_ {
        let arg = self.exploration.arg();
        (self.first..arg.created()).map(ArgId::new).filter(|&id| arg.is_alive(id))
    }

    /// The targets found in the last round that violate the property.
    pub fn violations(&self) -> Vec<ArgId> {
        let arg = self.arg();
        self.nodes_of_round().filter(|&id| matches!(arg.target(id), Some(Target::Violation(_)))).collect()
    }

    /// The targets found in the last round behind which nothing is known.
    pub fn unsupported(&self) -> Vec<ArgId> {
        let arg = self.arg();
        self.nodes_of_round().filter(|&id| matches!(arg.target(id), Some(Target::Unsupported { .. }))).collect()
    }

    /// The states that the bound stopped.
    pub fn frontier(&self) -> &[ArgId] {
        &self.frontier
    }

    /// The heads of the loops that the bound stopped, in the order of the program.
    pub fn unfinished_loops(&self) -> BTreeSet<NodeId> {
        let arg = self.arg();
        let heads = self.frontier.iter().flat_map(|&id| {
            let counters = arg.state(id).get(self.bound);
            let visited = Some(arg.location(id)).filter(|_| self.counting == Counting::Visits);
            counters.loops_at_bound(self.k).chain(visited).collect::<Vec<_>>()
        });
        heads.collect()
    }

    /// Forgets states at the bound that no execution reaches.
    pub fn retain_frontier(&mut self, mut keep: impl FnMut(ArgId) -> bool) {
        self.frontier.retain(|&id| keep(id));
    }

    /// The predicate analysis' part of a state.
    pub fn state(&self, id: ArgId) -> &PredicateState {
        self.arg().state(id).get(self.predicate)
    }

    /// The path formula of a state, from the start of the unrolling.
    pub fn path(&self, id: ArgId) -> &PathFormula {
        self.state(id).path()
    }

    /// The path condition of a state.
    pub fn condition(&self, id: ArgId) -> TermId {
        self.path(id).pc
    }

    /// The calls that a state is below, the outermost first.
    pub fn calls(&self, id: ArgId) -> Vec<EdgeId> {
        let mut calls: Vec<EdgeId> = self.arg().state(id).get(self.callstack).calls().collect();
        calls.reverse();
        calls
    }

    /// The number of loop heads on the way to a state, if visits are counted.
    pub fn visits(&self, id: ArgId) -> u32 {
        self.arg().state(id).get(self.bound).visits()
    }
}
