// SPDX-License-Identifier: Apache-2.0
//! IMPACT: states that become stronger in place, and forced covering.
//!
//! Follows *A Unifying View*, sections 3.2.4 and 3.3 (McMillan, *Lazy Abstraction with Interpolants*, CAV 2006). Why it is
//! sound: along every block from e to e' of the graph, ψ(e) and the block imply ψ(e'). An inductive sequence of interpolants
//! keeps that: if ψ and τ at the start of a block and τ' at its end have it, so have ψ ∧ τ and ψ' ∧ τ'. Covering needs that
//! ψ of the covered state implies ψ of the covering one, which the solver must prove. When a covering state becomes
//! stronger, what it covers waits again (`cpa-core` does that).

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use cpa_core::{Arg, ArgId, Cx, Forced, ForcedCovering, Handle, Stop, Strengthening};
use smt::itp::{CutHint, Hints, PathQuery, PathResult, Portfolio};
use smt::path::PathFormula;
use smt::solver::{Limits, Solver};
use smt::{TermId, Terms};

use crate::abstract_path::{Block, abstraction_path, block, inside_block};
use crate::cpa::PredicateCpa;
use crate::manager::{Manager, limits};
use crate::stats::Times;

/// Collects stronger states. The states inside a block carry the formula of its start, so they change with it.
pub(crate) struct Strengthener<'a> {
    arg: &'a Arg,
    handle: Handle<PredicateCpa>,
    nodes: Vec<Strengthening>,
}

impl<'a> Strengthener<'a> {
    pub(crate) fn new(arg: &'a Arg, handle: Handle<PredicateCpa>) -> Self {
        Self { arg, handle, nodes: Vec::new() }
    }

    /// Conjoins a term to the formula of an abstraction state, unless that implies it. Says whether the state is false now.
    pub(crate) fn strengthen(
        &mut self,
        cx: &mut Cx,
        manager: &mut Manager,
        node: ArgId,
        term: TermId,
    ) -> Result<bool, Stop> {
        let state = self.arg.state(node).get(self.handle);
        let old = state.formula();
        let term_of_old = manager.formula_term(old);
        if manager.implied(cx, term_of_old, term)? {
            return Ok(manager.is_false(old));
        }
        let new = manager.conjoin(cx, old, term)?;
        if new == old {
            return Ok(false);
        }
        manager.stats.strengthened += 1;
        for inside in std::iter::once(node).chain(inside_block(self.arg, self.handle, node)) {
            let state = self.arg.state(inside).get(self.handle).with_formula(new);
            self.nodes.push(Strengthening { node: inside, state: self.handle.state(state) });
        }
        Ok(manager.is_false(new))
    }

    pub(crate) fn finish(self) -> Vec<Strengthening> {
        self.nodes
    }
}

/// Whether `wanted` is known to hold behind the blocks of `path`, from all states of its first node.
fn holds(
    cx: &mut Cx,
    manager: &mut Manager,
    (arg, handle): (&Arg, Handle<PredicateCpa>),
    path: &[ArgId],
    wanted: TermId,
) -> Result<bool, Stop> {
    let start = manager.formula_term(arg.state(path[0]).get(handle).formula());
    let mut formula = PathFormula::empty();
    for &node in &path[1..] {
        formula = formula.then(&mut manager.terms, arg.state(node).get(handle).entry());
    }
    let at_end = formula.instantiate(&mut manager.terms, wanted);
    let negated = manager.terms.not(at_end);
    let query = manager.terms.and_all(&[start, formula.pc, negated]);
    if query == Terms::fls() {
        return Ok(true);
    }
    if let Some(&known) = manager.feasible.get(&query) {
        return Ok(!known);
    }
    cx.check()?;
    manager.stats.checks += 1;
    manager.solver.push();
    manager.solver.assert(&manager.terms, query);
    let limits: Limits = limits(cx).at_most(ATTEMPT);
    let answer = manager.solver.check(&manager.terms, &[], &limits).truth();
    manager.solver.pop();
    match answer {
        Some(answer) => {
            manager.feasible.insert(query, answer);
        }
        None => {
            cx.check()?;
            manager.stats.unanswered += 1;
        }
    }
    Ok(answer == Some(false))
}

/// The position of a node of `path`, late but not always the last possible one, from whose states on `wanted` is known to
/// hold at the end of the path. What comes before needs no stronger states then. Not more than half of the path is left out
/// between two attempts, so they cost about as much as the last one.
pub(crate) fn late_start(
    cx: &mut Cx,
    manager: &mut Manager,
    (arg, handle): (&Arg, Handle<PredicateCpa>),
    path: &[ArgId],
    wanted: TermId,
) -> Result<Option<usize>, Stop> {
    let last = path.len() - 1;
    let mut blocks = 1;
    while blocks < last {
        if holds(cx, manager, (arg, handle), &path[last - blocks..], wanted)? {
            return Ok(Some(last - blocks));
        }
        blocks += blocks.div_ceil(2);
    }
    Ok(None)
}

/// The time for one attempt to cover a state by force.
const ATTEMPT: Duration = Duration::from_secs(1);

/// fcover^IMPACT: tries to show that the formula of an older state holds in a new one, from the nearest common ancestor on.
pub struct ImpactCovering {
    manager: Rc<RefCell<Manager>>,
    handle: Handle<PredicateCpa>,
    portfolio: Rc<RefCell<Portfolio>>,
}

impl ImpactCovering {
    /// Forced covering for the Predicate CPA that `handle` names; the portfolio interpolates.
    pub fn new(manager: Rc<RefCell<Manager>>, handle: Handle<PredicateCpa>, portfolio: Rc<RefCell<Portfolio>>) -> Self {
        Self { manager, handle, portfolio }
    }

    /// The stronger states that make `candidate` cover the last node of `path`; `path` begins at their common ancestor.
    fn strengthened(
        &self,
        cx: &mut Cx,
        manager: &mut Manager,
        arg: &Arg,
        path: &[ArgId],
        wanted: TermId,
    ) -> Result<Option<Vec<Strengthening>>, Stop> {
        let node = *path.last().expect("a path has nodes");
        // Most attempts fail; one question from the common ancestor decides that.
        if !holds(cx, manager, (arg, self.handle), path, wanted)? {
            return Ok(None);
        }
        let first = late_start(cx, manager, (arg, self.handle), path, wanted)?.unwrap_or(0);
        let path = &path[first..];
        let mut strengthener = Strengthener::new(arg, self.handle);
        if path.len() > 2 {
            // One cut behind the assumption about the ancestor, one for each state on the way, one at the node.
            let start = manager.formula_term(arg.state(path[0]).get(self.handle).formula());
            let mut blocks = vec![Block::assume(start)];
            let mut cuts = Vec::with_capacity(path.len());
            for pair in path.windows(2) {
                blocks.push(block(manager, arg, self.handle, (pair[0], pair[1]))?.dag);
            }
            let negated = manager.terms.not(wanted);
            blocks.push(Block::assume(negated));
            for &node in path {
                let place = u32::try_from(arg.location(node).index()).expect("fewer than 2^32 locations");
                let holds = manager.formula_term(arg.state(node).get(self.handle).formula());
                cuts.push(CutHint { place, known: Vec::new(), relevant: None, holds });
            }
            let query = PathQuery { blocks };
            let limits = limits(cx).at_most(ATTEMPT);
            let result = self.portfolio.borrow_mut().solve(&mut manager.terms, &query, &Hints { cuts }, &limits);
            cx.check()?;
            let PathResult::Infeasible(sequence) = result else { return Ok(None) };
            for (&between, &interpolant) in path.iter().zip(&sequence.interpolants).skip(1).take(path.len() - 2) {
                if strengthener.strengthen(cx, manager, between, interpolant)? {
                    // The state is not reachable at all; refinement will find that out.
                    return Ok(None);
                }
            }
        }
        strengthener.strengthen(cx, manager, node, wanted)?;
        Ok(Some(strengthener.finish()))
    }
}

impl ForcedCovering for ImpactCovering {
    fn cover(&mut self, cx: &mut Cx, arg: &Arg, node: ArgId, candidates: &[ArgId]) -> Result<Option<Forced>, Stop> {
        let start = cx.elapsed();
        let manager = &mut *self.manager.borrow_mut();
        let answer = self.search(cx, manager, arg, node, candidates);
        Times::add(&mut manager.stats.times.forced, cx, start);
        answer
    }
}

impl ImpactCovering {
    /// The first candidate that can be made to cover the node.
    fn search(
        &self,
        cx: &mut Cx,
        manager: &mut Manager,
        arg: &Arg,
        node: ArgId,
        candidates: &[ArgId],
    ) -> Result<Option<Forced>, Stop> {
        let to_node = abstraction_path(arg, self.handle, node);
        for &candidate in candidates {
            let state = arg.state(candidate).get(self.handle);
            if !state.is_abstraction() || manager.is_false(state.formula()) {
                continue;
            }
            manager.stats.forced_attempts += 1;
            let wanted = manager.formula_term(state.formula());
            let to_candidate = abstraction_path(arg, self.handle, candidate);
            let common = to_node.iter().zip(&to_candidate).take_while(|(a, b)| a == b).count();
            let Some(ancestor) = common.checked_sub(1) else { continue };
            if ancestor + 1 == to_node.len() {
                continue;
            }
            if let Some(strengthened) = self.strengthened(cx, manager, arg, &to_node[ancestor..], wanted)? {
                manager.stats.forced += 1;
                return Ok(Some(Forced { by: candidate, strengthened }));
            }
        }
        Ok(None)
    }
}
