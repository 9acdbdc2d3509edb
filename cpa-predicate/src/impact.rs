// SPDX-License-Identifier: Apache-2.0
//! IMPACT: states that become stronger in place, and forced covering.
//!
//! Follows *A Unifying View*, sections 3.2.4 and 3.3 (McMillan, *Lazy Abstraction with Interpolants*, CAV 2006). Why it is
//! sound: along every block from e to e' of the graph, ψ(e) and the block imply ψ(e'). An inductive sequence of interpolants
//! keeps that: if ψ and τ at the start of a block and τ' at its end have it, so have ψ ∧ τ and ψ' ∧ τ'. Covering needs that
//! ψ of the covered state implies ψ of the covering one, which the solver must prove. When a covering state becomes
//! stronger, what it covers waits again (`cpa-core` does that).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use cpa_core::{Arg, ArgId, Cx, Forced, ForcedCovering, Handle, Stop, Strengthening};
use rustc_hash::FxHashMap;
use smt::itp::{CutHint, Hints, PathQuery, PathResult, Portfolio};
use smt::path::PathFormula;
use smt::solver::{CheckResult, Limits, Solver};
use smt::{SymId, TermId, Terms, Value};

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

/// States at the end of a path, which refute what does not hold in them.
#[derive(Default)]
struct Ends {
    /// The variables whose values are of interest.
    symbols: BTreeSet<SymId>,
    states: Vec<FxHashMap<SymId, Value>>,
}

impl Ends {
    /// Whether a term over the variables is false in one of the states.
    fn refute(&self, terms: &Terms, wanted: TermId) -> bool {
        let is_false = |state: &FxHashMap<SymId, Value>| {
            let mut value = |sym, _| state.get(&sym).cloned().unwrap_or_else(|| terms.default_value(sym));
            terms.symbols(wanted).iter().all(|(sym, _)| state.contains_key(sym))
                && terms.eval(wanted, &mut value) == Value::Bool(false)
        };
        self.states.iter().any(is_false)
    }

    /// Adds the state at the end of a formula that a model gives.
    fn add(&mut self, terms: &Terms, values: &[(SymId, TermId)], model: &smt::solver::Model<'_>) {
        let roots: Vec<TermId> = values.iter().map(|&(_, value)| value).collect();
        if let Some(found) = model.values(terms, &roots) {
            self.states.push(values.iter().map(|&(sym, _)| sym).zip(found).collect());
        }
    }
}

/// Whether `wanted` is known to hold behind the blocks of `path`, from all states of its first node. If not, `ends` takes a
/// state where it does not.
fn holds(
    cx: &mut Cx,
    manager: &mut Manager,
    (arg, handle): (&Arg, Handle<PredicateCpa>),
    path: &[ArgId],
    wanted: TermId,
    ends: &mut Ends,
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
    let values: Vec<(SymId, TermId)> =
        ends.symbols.iter().map(|&sym| (sym, formula.value(&mut manager.terms, sym))).collect();
    manager.solver.push();
    manager.solver.assert(&manager.terms, query);
    let limits: Limits = limits(cx).at_most(ATTEMPT);
    let answer = match manager.solver.check(&manager.terms, &[], &limits) {
        CheckResult::Sat(model) => {
            ends.add(&manager.terms, &values, &model);
            Some(true)
        }
        CheckResult::Unsat(_) => Some(false),
        CheckResult::Unknown(_) => None,
    };
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
        if holds(cx, manager, (arg, handle), &path[last - blocks..], wanted, &mut Ends::default())? {
            return Ok(Some(last - blocks));
        }
        blocks += blocks.div_ceil(2);
    }
    Ok(None)
}

/// The time for one attempt to cover a state by force.
const ATTEMPT: Duration = Duration::from_secs(1);

/// What a state has to have for a cover is asked from the common ancestor on, but not over blocks that have more statements
/// than this together; what their first state is known to be stands for what comes before.
const MAX_STATEMENTS: u32 = 400;

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

    /// The stronger states that make `wanted` hold in the last node of `path`, where it is known to hold behind its blocks.
    fn strengthened(
        &self,
        cx: &mut Cx,
        manager: &mut Manager,
        arg: &Arg,
        path: &[ArgId],
        wanted: TermId,
    ) -> Result<Option<Vec<Strengthening>>, Stop> {
        let node = *path.last().expect("a path has nodes");
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
    /// The first position in the path from which on its blocks together are not too long.
    fn earliest(&self, arg: &Arg, path: &[ArgId]) -> usize {
        let mut statements = 0;
        for (position, &node) in path.iter().enumerate().skip(1).rev() {
            statements += arg.state(node).get(self.handle).entry().length;
            if statements > MAX_STATEMENTS {
                return position;
            }
        }
        0
    }

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
        // With the positions of their common ancestors in the path to the node.
        let mut choices: Vec<(usize, ArgId, TermId)> = Vec::new();
        let mut symbols = BTreeSet::new();
        for &candidate in candidates {
            let state = arg.state(candidate).get(self.handle);
            if !state.is_abstraction() || manager.is_false(state.formula()) {
                continue;
            }
            manager.stats.forced_attempts += 1;
            let wanted = manager.formula_term(state.formula());
            let to_candidate = abstraction_path(arg, self.handle, candidate);
            let common = to_node.iter().zip(&to_candidate).take_while(|(a, b)| a == b).count();
            if let Some(ancestor) = common.checked_sub(1).filter(|ancestor| ancestor + 1 < to_node.len()) {
                symbols.extend(manager.terms.symbols(wanted).into_iter().map(|(sym, _)| sym));
                choices.push((ancestor, candidate, wanted));
            }
        }
        let earliest = self.earliest(arg, &to_node);
        // Most attempts fail, so they are to be cheap. What holds behind the last block alone is found out first. Otherwise
        // the longest ways come first: a state that is reached over such a way is also reached over its end, because the
        // states on the way stand for it, and it refutes most other candidates.
        for alone in [true, false] {
            let mut ends = Ends { symbols: symbols.clone(), states: Vec::new() };
            if !alone {
                choices.sort_by_key(|&(ancestor, ..)| ancestor.max(earliest));
            }
            for &(ancestor, candidate, wanted) in &choices {
                let start = if alone { to_node.len() - 2 } else { ancestor.max(earliest) };
                if ends.refute(&manager.terms, wanted) {
                    continue;
                }
                let path = &to_node[start..];
                if !holds(cx, manager, (arg, self.handle), path, wanted, &mut ends)? {
                    continue;
                }
                let first = late_start(cx, manager, (arg, self.handle), path, wanted)?.unwrap_or(0);
                if let Some(strengthened) = self.strengthened(cx, manager, arg, &path[first..], wanted)? {
                    manager.stats.forced += 1;
                    return Ok(Some(Forced { by: candidate, strengthened }));
                }
            }
        }
        Ok(None)
    }
}
