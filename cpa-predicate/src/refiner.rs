// SPDX-License-Identifier: Apache-2.0
//! Refinement: by new predicates, by stronger states (IMPACT), or by both (as in UFO).
//!
//! Follows *A Unifying View*, sections 3.2 and 3.2.4: the abstract path from the root to the target is cut at its
//! abstraction states; one query decides whether the sequence of blocks is feasible, and if not, an inductive sequence of
//! interpolants says why. The strategies differ in what they do with it. Predicate refinement tracks its atoms at the
//! locations of the cuts; the pivot is the first abstraction state for which there are new ones (lazy refinement). IMPACT
//! conjoins the interpolants to the states, see [`crate::impact`]. Both do both: the states of the path become stronger,
//! and those that are computed later have the atoms among their predicates (section 4.5.1).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::NodeId;
use cfa::ir::Op;
use cpa_core::{Arg, ArgId, Counterexample, Cut, Cx, Handle, Refinement, Refiner, Stop};
use smt::itp::{CutHint, Hints, PathQuery, PathResult, Portfolio, Witness};
use smt::{TermId, Terms};

use crate::abstract_path::{Block, abstraction_path, block};
use crate::cpa::PredicateCpa;
use crate::impact::{Strengthener, late_start};
use crate::manager::{Manager, limits};
use crate::precision::{Precision, PredId, Scope, Sharing};
use crate::stats::Times;

/// What is done with interpolants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Their atoms become predicates.
    #[default]
    Predicate,
    /// The states of the path become stronger.
    Impact,
    /// Both.
    Both,
}

/// What the refiner does with interpolants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RefinerOptions {
    /// What interpolants are for.
    pub strategy: Strategy,
    /// Where new predicates are tracked.
    pub sharing: Sharing,
    /// Whether states are strengthened only on the end of a path that the formulas before it exclude, if there is one.
    pub suffix: bool,
    /// Whether atoms become predicates; otherwise whole interpolants do.
    pub split_atoms: bool,
    /// An interpolant with more atoms than this becomes a predicate as a whole.
    pub max_atoms: usize,
}

impl Default for RefinerOptions {
    fn default() -> Self {
        Self { strategy: Strategy::Predicate, sharing: Sharing::Path, suffix: false, split_atoms: true, max_atoms: 32 }
    }
}

/// What a refinement tracks along a path.
struct Tracked {
    precision: Precision,
    /// The first abstraction state of the path that gets predicates.
    first: Option<ArgId>,
    /// The first one that gets some which it did not track.
    first_new: Option<ArgId>,
}

/// Decides abstract counterexamples and rules out the spurious ones.
pub struct PredicateRefiner {
    program: Arc<Program>,
    manager: Rc<RefCell<Manager>>,
    handle: Handle<PredicateCpa>,
    portfolio: Rc<RefCell<Portfolio>>,
    options: RefinerOptions,
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

    fn hints(&self, manager: &mut Manager, arg: &Arg, cuts: &[ArgId]) -> Hints {
        let cuts = cuts
            .iter()
            .map(|&node| {
                let location = arg.location(node);
                let known = arg.state(node).get(self.handle).tracked();
                // Along the path the abstraction of a state and a block imply the next one.
                let holds = match self.options.strategy {
                    Strategy::Predicate => Terms::tru(),
                    Strategy::Impact | Strategy::Both => {
                        manager.formula_term(arg.state(node).get(self.handle).formula())
                    }
                };
                CutHint {
                    place: u32::try_from(location.index()).expect("fewer than 2^32 locations"),
                    known: known.iter().map(|&p| manager.predicates.atom(p)).collect(),
                    relevant: None,
                    holds,
                }
            })
            .collect();
        Hints { cuts }
    }

    fn solve(&self, cx: &mut Cx, manager: &mut Manager, query: &PathQuery, hints: &Hints) -> Result<PathResult, Stop> {
        let start = cx.elapsed();
        let result = self.portfolio.borrow_mut().solve(&mut manager.terms, query, hints, &limits(cx));
        Times::add(&mut manager.stats.times.interpolation, cx, start);
        cx.check()?;
        Ok(result)
    }

    /// Strengthens states on a short end of the path, if what is known at its beginning excludes it.
    fn refute_suffix(
        &self,
        cx: &mut Cx,
        manager: &mut Manager,
        arg: &Arg,
        path: &[ArgId],
    ) -> Result<Option<Refinement>, Stop> {
        let start = cx.elapsed();
        let first = late_start(cx, manager, (arg, self.handle), path, Terms::fls())?;
        Times::add(&mut manager.stats.times.interpolation, cx, start);
        let Some(first) = first.filter(|first| first + 2 < path.len()) else { return Ok(None) };
        let path = &path[first..];
        let assumed = manager.formula_term(arg.state(path[0]).get(self.handle).formula());
        let mut blocks = vec![Block::assume(assumed)];
        for pair in path.windows(2) {
            blocks.push(block(manager, arg, self.handle, (pair[0], pair[1]))?.dag);
        }
        let hints = self.hints(manager, arg, &path[..path.len() - 1]);
        Ok(match self.solve(cx, manager, &PathQuery { blocks }, &hints)? {
            PathResult::Infeasible(sequence) => {
                // The first cut lies behind the assumption.
                Some(self.spurious(cx, manager, arg, path, &sequence.interpolants[1..])?)
            }
            PathResult::Feasible(_) | PathResult::Unknown(_) => None,
        })
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

    /// The predicates of an interpolant: its atoms, or itself if it is not to be split or has too many.
    fn predicates(&self, manager: &mut Manager, interpolant: TermId, split: bool) -> Vec<PredId> {
        if interpolant == Terms::fls() {
            return vec![manager.predicates.intern(interpolant)];
        }
        let atoms = manager.terms.atoms(interpolant);
        let whole = !atoms.is_empty() && (!split || atoms.len() > self.options.max_atoms);
        let chosen = if whole { vec![interpolant] } else { atoms };
        chosen.into_iter().map(|atom| manager.predicates.intern(atom)).collect()
    }

    fn scope(&self, location: NodeId) -> Scope {
        match self.options.sharing {
            Sharing::Path | Sharing::Location => Scope::Location(location),
            Sharing::Function => Scope::Function(self.program.node(location).func),
            Sharing::Global => Scope::Global,
        }
    }

    /// Tracks the atoms of the interpolants from the pivot on. Where all of them are tracked already, because a Cartesian
    /// abstraction loses what only a disjunction of them says, the interpolants as a whole become predicates.
    fn new_predicates(&self, manager: &mut Manager, arg: &Arg, cuts: &[ArgId], interpolants: &[TermId]) -> Refinement {
        let mut tracked = self.track(manager, arg, cuts, interpolants, self.options.split_atoms);
        if tracked.first_new.is_none() {
            tracked = self.track(manager, arg, cuts, interpolants, false);
        }
        // Without a new predicate the same states are computed again and the CEGAR loop notices the repetition; without
        // any predicate the target itself is asked again.
        let pivot = tracked.first_new.or(tracked.first).or(cuts.first().copied());
        let precisions = vec![self.handle.precision(tracked.precision)];
        let cuts = pivot.map(|pivot| Cut { pivot, precisions });
        Refinement::Spurious { cuts: cuts.into_iter().collect() }
    }

    /// Tracks the predicates of the interpolants.
    fn track(&self, manager: &mut Manager, arg: &Arg, cuts: &[ArgId], interpolants: &[TermId], split: bool) -> Tracked {
        let mut precision = cuts.last().map(|&node| arg.precision(node).get(self.handle).clone()).unwrap_or_default();
        let found: Vec<Vec<PredId>> = interpolants.iter().map(|&term| self.predicates(manager, term, split)).collect();
        for (&node, predicates) in cuts.iter().zip(&found) {
            precision = precision.with(self.scope(arg.location(node)), predicates.iter().copied());
        }
        self.share(manager, arg, cuts, &found);
        let is_new = |node: ArgId, predicates: &[PredId]| {
            let known = arg.state(node).get(self.handle).tracked();
            match self.options.sharing {
                // What is needed at a later visit of the location does not make this one worth computing again.
                Sharing::Path => predicates.iter().any(|p| !known.contains(p)),
                Sharing::Location | Sharing::Function | Sharing::Global => {
                    let location = arg.location(node);
                    let wanted = precision.tracked(&manager.shared, self.program.node(location).func, location);
                    wanted.iter().any(|p| !known.contains(p))
                }
            }
        };
        let with_predicates = || cuts.iter().copied().zip(&found);
        let first = with_predicates().find(|(_, predicates)| !predicates.is_empty()).map(|(node, _)| node);
        let first_new = with_predicates().find(|(node, predicates)| is_new(*node, predicates)).map(|(node, _)| node);
        Tracked { precision, first, first_new }
    }

    /// Adds predicates to those that all later abstractions track.
    fn share(&self, manager: &mut Manager, arg: &Arg, cuts: &[ArgId], found: &[Vec<PredId>]) {
        if self.options.sharing == Sharing::Path && self.options.strategy != Strategy::Both {
            return;
        }
        for (&node, predicates) in cuts.iter().zip(found) {
            manager.shared = manager.shared.with(self.scope(arg.location(node)), predicates.iter().copied());
        }
    }

    fn spurious(
        &self,
        cx: &mut Cx,
        manager: &mut Manager,
        arg: &Arg,
        path: &[ArgId],
        interpolants: &[TermId],
    ) -> Result<Refinement, Stop> {
        let cuts = &path[1..path.len() - 1];
        if self.options.strategy == Strategy::Predicate {
            return Ok(self.new_predicates(manager, arg, cuts, interpolants));
        }
        if self.options.strategy == Strategy::Both {
            let split = self.options.split_atoms;
            let found: Vec<_> = interpolants.iter().map(|&term| self.predicates(manager, term, split)).collect();
            self.share(manager, arg, cuts, &found);
        }
        let mut strengthener = Strengthener::new(arg, self.handle);
        for (&node, &interpolant) in cuts.iter().zip(interpolants) {
            if strengthener.strengthen(cx, manager, node, interpolant)? {
                // Nothing is reachable from a false state: not the target either.
                let remove = arg.children(node).iter().map(|&(child, _)| child).collect();
                return Ok(Refinement::Strengthened { nodes: strengthener.finish(), remove });
            }
        }
        let remove = path.last().copied().into_iter().collect();
        Ok(Refinement::Strengthened { nodes: strengthener.finish(), remove })
    }
}

impl Refiner for PredicateRefiner {
    fn name(&self) -> &'static str {
        match self.options.strategy {
            Strategy::Predicate => "predicate",
            Strategy::Impact => "impact",
            Strategy::Both => "impact and predicate",
        }
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let path = abstraction_path(arg, self.handle, target);
        let manager = &mut *self.manager.borrow_mut();
        manager.stats.refinements += 1;
        manager.stats.max_path = manager.stats.max_path.max(path.len() - 1);
        if path.len() == 1 {
            // The program begins at the target.
            return Ok(Refinement::Feasible(Counterexample::default()));
        }
        if self.options.strategy != Strategy::Predicate
            && self.options.suffix
            && let Some(refinement) = self.refute_suffix(cx, manager, arg, &path)?
        {
            return Ok(refinement);
        }
        let mut blocks = Vec::with_capacity(path.len());
        for pair in path.windows(2) {
            blocks.push(block(manager, arg, self.handle, (pair[0], pair[1]))?);
        }
        let cuts = &path[1..path.len() - 1];
        let hints = self.hints(manager, arg, cuts);
        let query = PathQuery { blocks: blocks.iter().map(|block| block.dag.clone()).collect() };
        let result = self.solve(cx, manager, &query, &hints)?;
        match result {
            PathResult::Feasible(witness) => Ok(Refinement::Feasible(self.counterexample(manager, &blocks, &witness))),
            PathResult::Infeasible(sequence) => {
                if cuts.is_empty() {
                    // One block from the root to the target: the query at its end was not answered then, but is now.
                    let cut = Cut { pivot: target, precisions: Vec::new() };
                    return Ok(Refinement::Spurious { cuts: vec![cut] });
                }
                self.spurious(cx, manager, arg, &path, &sequence.interpolants)
            }
            PathResult::Unknown(reason) => {
                cx.check()?;
                Err(Stop::GaveUp(reason))
            }
        }
    }
}
