// SPDX-License-Identifier: Apache-2.0
//! Predicate refinement.
//!
//! Follows *A Unifying View*, sections 3.2 and 3.2.4: the abstract path from the root to the target is cut at its
//! abstraction states; one query decides whether the sequence of blocks is feasible, and if not, an inductive sequence of
//! interpolants gives new predicates for the locations of the cuts. The pivot is the first abstraction state for which
//! there are new ones (lazy refinement).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::NodeId;
use cfa::ir::Op;
use cpa_core::{Arg, ArgId, Counterexample, Cut, Cx, Handle, Refinement, Refiner, Step, Stop};
use rustc_hash::FxHashMap;
use smt::itp::{BlockDag, CutHint, DagEdge, Hints, PathQuery, PathResult, Portfolio, Witness};
use smt::path::Stmt;
use smt::{TermId, Terms};

use crate::cpa::PredicateCpa;
use crate::manager::{Manager, limits};
use crate::precision::{Precision, PredId};

/// What the refiner does with interpolants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RefinerOptions {
    /// Whether atoms become predicates; otherwise whole interpolants do.
    pub split_atoms: bool,
    /// An interpolant with more atoms than this becomes a predicate as a whole.
    pub max_atoms: usize,
}

impl Default for RefinerOptions {
    fn default() -> Self {
        Self { split_atoms: true, max_atoms: 32 }
    }
}

/// Decides abstract counterexamples and finds predicates that rule out the spurious ones.
pub struct PredicateRefiner {
    program: Arc<Program>,
    manager: Rc<RefCell<Manager>>,
    handle: Handle<PredicateCpa>,
    portfolio: Rc<RefCell<Portfolio>>,
    options: RefinerOptions,
}

/// A block of the abstract path, with the steps behind its edges.
struct Block {
    dag: BlockDag,
    /// For each edge of the graph the step it belongs to, if it is the first edge of that step.
    steps: Vec<Option<Step>>,
}

impl PredicateRefiner {
    /// A refiner for the Predicate CPA that `handle` names. The portfolio is shared, so that its statistics can be read.
    pub fn new(
        program: Arc<Program>,
        manager: Rc<RefCell<Manager>>,
        handle: Handle<PredicateCpa>,
        portfolio: Rc<RefCell<Portfolio>>,
        options: RefinerOptions,
    ) -> Self {
        Self { program, manager, handle, portfolio, options }
    }

    /// The abstraction states from the root to the target, both included.
    fn abstraction_path(&self, arg: &Arg, target: ArgId) -> Vec<ArgId> {
        let mut path = vec![target];
        let mut node = target;
        while let Some(&(parent, _)) = arg.parents(node).first() {
            node = parent;
            if arg.state(node).get(self.handle).is_abstraction() {
                path.push(node);
            }
        }
        path.reverse();
        path
    }

    /// The nodes between two abstraction states, each behind its parents; the first and last are these two.
    fn block_nodes(&self, arg: &Arg, start: ArgId, end: ArgId) -> Result<Vec<ArgId>, Stop> {
        let mut order = Vec::new();
        let mut visited: FxHashMap<ArgId, bool> = FxHashMap::default();
        visited.insert(start, true);
        order.push(start);
        let mut stack = vec![end];
        while let Some(&node) = stack.last() {
            match visited.get(&node) {
                Some(true) => {
                    stack.pop();
                }
                Some(false) => {
                    visited.insert(node, true);
                    order.push(node);
                    stack.pop();
                }
                None => {
                    if node != end && arg.state(node).get(self.handle).is_abstraction() {
                        return Err(Stop::Internal(format!("the block from {start} to {end} also begins at {node}")));
                    }
                    visited.insert(node, false);
                    for &(parent, _) in arg.parents(node) {
                        match visited.get(&parent) {
                            None => stack.push(parent),
                            Some(true) => {}
                            // In progress, so the node is on the way from the end to here.
                            Some(false) => {
                                return Err(Stop::GaveUp(format!("the block that ends at {end} contains a cycle")));
                            }
                        }
                    }
                }
            }
        }
        Ok(order)
    }

    fn block(&self, manager: &mut Manager, arg: &Arg, start: ArgId, end: ArgId) -> Result<Block, Stop> {
        let order = self.block_nodes(arg, start, end)?;
        let mut numbers: FxHashMap<ArgId, u32> = FxHashMap::default();
        let mut block = Block { dag: BlockDag { nodes: 0, edges: Vec::new() }, steps: Vec::new() };
        for &node in &order {
            // The nodes between the statements of a step must come before the node where the step arrives.
            let mut arriving = Vec::new();
            if node != start {
                for &(parent, step) in arg.parents(node) {
                    let Some(&from) = numbers.get(&parent) else { continue };
                    let mut statements = manager
                        .encoder
                        .statements(&mut manager.terms, step)
                        .map_err(|inexact| Stop::Internal(format!("the program was checked before: {inexact}")))?;
                    let last = statements.pop().unwrap_or(Stmt::Skip);
                    let mut from = from;
                    let mut first = Some(step);
                    for stmt in statements {
                        let to = block.dag.nodes;
                        block.dag.nodes += 1;
                        block.dag.edges.push(DagEdge { from, to, stmt });
                        block.steps.push(first.take());
                        from = to;
                    }
                    arriving.push((from, last, first));
                }
            }
            let number = block.dag.nodes;
            block.dag.nodes += 1;
            numbers.insert(node, number);
            for (from, stmt, step) in arriving {
                block.dag.edges.push(DagEdge { from, to: number, stmt });
                block.steps.push(step);
            }
        }
        Ok(block)
    }

    fn hints(&self, manager: &Manager, arg: &Arg, cuts: &[ArgId]) -> Hints {
        let cuts = cuts
            .iter()
            .map(|&node| {
                let location = arg.location(node);
                let known = arg.state(node).get(self.handle).tracked();
                CutHint {
                    place: u32::try_from(location.index()).expect("fewer than 2^32 locations"),
                    known: known.iter().map(|&p| manager.predicates.atom(p)).collect(),
                    relevant: None,
                }
            })
            .collect();
        Hints { cuts }
    }

    fn counterexample(&self, manager: &mut Manager, blocks: &[Block], witness: &Witness) -> Counterexample {
        let (mut steps, mut inputs) = (Vec::new(), Vec::new());
        for part in &witness.steps {
            if let Some(step) = blocks[part.block].steps[part.edge] {
                steps.push(step);
            }
            if let (Some(value), Some(&step)) = (&part.input, steps.last())
                && let Op::Havoc { var, .. } = &self.program.edges[step.edge().index()].op
            {
                let ty = self.program.vars[var.index()].ty;
                inputs.push((steps.len() - 1, manager.encoder.integer(value.clone(), ty)));
            }
        }
        let initial =
            |_: &Terms, symbol| witness.initial.iter().find(|(s, _)| *s == symbol).map(|(_, value)| value.clone());
        manager.encoder.counterexample(&mut manager.terms, steps, &inputs, &initial)
    }

    fn predicates(&self, manager: &mut Manager, interpolant: TermId) -> Vec<PredId> {
        if interpolant == Terms::fls() {
            return vec![manager.predicates.intern(interpolant)];
        }
        let atoms = manager.terms.atoms(interpolant);
        let whole = !atoms.is_empty() && (!self.options.split_atoms || atoms.len() > self.options.max_atoms);
        let chosen = if whole { vec![interpolant] } else { atoms };
        chosen.into_iter().map(|atom| manager.predicates.intern(atom)).collect()
    }

    fn spurious(&self, manager: &mut Manager, arg: &Arg, cuts: &[ArgId], interpolants: &[TermId]) -> Refinement {
        let target_precision = cuts.last().map(|&node| arg.precision(node).get(self.handle).clone());
        let mut precision: Precision = target_precision.unwrap_or_default();
        let mut pivot = None;
        let mut constrained = None;
        for (&node, &interpolant) in cuts.iter().zip(interpolants) {
            let location: NodeId = arg.location(node);
            let predicates = self.predicates(manager, interpolant);
            if predicates.is_empty() {
                continue;
            }
            constrained.get_or_insert(node);
            let known = arg.state(node).get(self.handle).tracked();
            if pivot.is_none() && predicates.iter().any(|p| !known.contains(p)) {
                pivot = Some(node);
            }
            precision = precision.with(location, predicates);
        }
        // Without a new predicate the same states are computed again and the CEGAR loop notices the repetition; without
        // any predicate the target itself is asked again.
        let pivot = pivot.or(constrained).or(cuts.first().copied());
        let cuts = pivot.map(|pivot| Cut { pivot, precisions: vec![self.handle.precision(precision)] });
        Refinement::Spurious { cuts: cuts.into_iter().collect() }
    }
}

impl Refiner for PredicateRefiner {
    fn name(&self) -> &'static str {
        "predicate"
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let path = self.abstraction_path(arg, target);
        let manager = &mut *self.manager.borrow_mut();
        manager.stats.refinements += 1;
        manager.stats.max_path = manager.stats.max_path.max(path.len() - 1);
        let mut blocks = Vec::with_capacity(path.len());
        for pair in path.windows(2) {
            blocks.push(self.block(manager, arg, pair[0], pair[1])?);
        }
        let cuts = &path[1..path.len() - 1];
        let hints = self.hints(manager, arg, cuts);
        let query = PathQuery { blocks: blocks.iter().map(|block| block.dag.clone()).collect() };
        let result = self.portfolio.borrow_mut().solve(&mut manager.terms, &query, &hints, &limits(cx));
        cx.check()?;
        match result {
            PathResult::Feasible(witness) => Ok(Refinement::Feasible(self.counterexample(manager, &blocks, &witness))),
            PathResult::Infeasible(sequence) => {
                if cuts.is_empty() {
                    // One block from the root to the target: the query at its end was not answered then, but is now.
                    let cut = Cut { pivot: target, precisions: Vec::new() };
                    return Ok(Refinement::Spurious { cuts: vec![cut] });
                }
                Ok(self.spurious(manager, arg, cuts, &sequence.interpolants))
            }
            PathResult::Unknown(reason) => {
                cx.check()?;
                Err(Stop::GaveUp(reason))
            }
        }
    }
}
