// SPDX-License-Identifier: Apache-2.0
//! Weakest preconditions of a slice, backwards over the blocks.
//!
//! Follows Dietsch et al., *Craig vs. Newton in Software Model Checking* (FSE 2017), section 4.2, on acyclic blocks in
//! place of single statements: the precondition of a node is the conjunction over its out-edges, computed once per node.
//! Stretches without branching are one simultaneous substitution (a [`PathFormula`]), so that a long block costs one walk
//! over the postcondition and not one per statement.
//!
//! A havocked variable that the postcondition reads needs a universal quantifier, which [`forall`] removes. Where it
//! cannot and the havoc stands for a dropped assignment, the assignment is put back into the slice; that is sound in
//! place, because a slice with more statements is infeasible too.
//!
//! Statements may come with one case of their terms chosen (see [`unwrap`](super::unwrap)); what the case requires becomes a
//! conjunct of the precondition.

use super::elim::{MAX_INSTANCES, forall};
use super::graph::Path;
use super::slice::{Reads, Slice};
use super::unwrap::Cases;
use crate::path::{PathFormula, Stmt};
use crate::solver::{Limits, Solver};
use crate::term::{SymId, TermId, Terms};

/// Formulas with more nodes than this are given up: nobody would want their atoms as predicates.
const MAX_SIZE: usize = 20_000;

/// Choices in an atom up to which it is taken apart.
const MAX_CHOICES: usize = 4;

/// Computes preconditions of a slice.
pub(crate) struct Backward<'a, 'q> {
    pub(crate) path: &'a Path<'q>,
    /// The slice; grows by the assignments that are put back.
    pub(crate) slice: Slice,
    pub(crate) solver: &'a mut dyn Solver,
    pub(crate) limits: &'a Limits,
    cases: &'a Cases,
    reads: Reads,
}

impl<'a, 'q> Backward<'a, 'q> {
    pub(crate) fn new(
        path: &'a Path<'q>,
        slice: Slice,
        cases: &'a Cases,
        solver: &'a mut dyn Solver,
        limits: &'a Limits,
    ) -> Self {
        Backward { path, slice, solver, limits, cases, reads: Reads::default() }
    }

    /// The preconditions of `false` at the end, at the entry of each block; the first one is that of the path.
    pub(crate) fn sequence(&mut self, terms: &mut Terms) -> Result<Vec<TermId>, String> {
        let mut cuts = vec![TermId::FALSE];
        for b in (0..self.path.len()).rev() {
            let post = cuts[cuts.len() - 1];
            cuts.push(self.block(terms, b, post)?);
        }
        cuts.remove(0);
        cuts.reverse();
        Ok(cuts)
    }

    /// The weakest precondition of `post` over a block of the slice.
    pub(crate) fn block(&mut self, terms: &mut Terms, block: usize, post: TermId) -> Result<TermId, String> {
        if post == TermId::TRUE {
            return Ok(TermId::TRUE);
        }
        let (dag, graph) = (self.path.dag(block), &self.path.graphs[block]);
        let exit = dag.nodes - 1;
        // Preconditions of the nodes where ways part or meet; the others lie inside of chains.
        let mut at: Vec<Option<TermId>> = vec![None; dag.nodes as usize];
        at[exit as usize] = Some(post);
        for node in (0..exit).rev() {
            let outs = graph.outs(node);
            let is_head = node == 0 || outs.len() > 1 || graph.ins(node).len() > 1;
            if !is_head || outs.is_empty() {
                continue;
            }
            let mut parts = Vec::with_capacity(outs.len());
            for &first in outs {
                let mut chain = vec![first];
                let mut end = dag.edges[first as usize].to;
                while at[end as usize].is_none() {
                    let &[next] = graph.outs(end) else { unreachable!("nodes with several out-edges are heads") };
                    chain.push(next);
                    end = dag.edges[next as usize].to;
                }
                let post = at[end as usize].expect("the loop ended");
                parts.push(self.chain(terms, block, &chain, post)?);
            }
            let here = terms.and_all(&parts);
            if terms.size(here) > MAX_SIZE {
                return Err("weakest precondition too large".to_owned());
            }
            at[node as usize] = Some(here);
        }
        // A block that cannot be passed has any precondition.
        Ok(at[0].unwrap_or(TermId::TRUE))
    }

    /// The precondition of `post` over edges that follow one another.
    fn chain(&mut self, terms: &mut Terms, block: usize, chain: &[u32], post: TermId) -> Result<TermId, String> {
        if post == TermId::TRUE {
            return Ok(post);
        }
        loop {
            let needed = self.needed(terms, block, chain, post);
            let mut formula = PathFormula::empty();
            let mut havocked: Vec<(TermId, SymId, u32)> = Vec::new();
            let mut required = Vec::new();
            for &(edge, stmt, case) in needed.iter().rev() {
                if case != TermId::TRUE {
                    let case = formula.instantiate(terms, case);
                    required.push(terms.implies(formula.pc, case));
                }
                formula.apply(terms, &stmt);
                if let Stmt::Havoc(sym) = stmt {
                    havocked.push((formula.value(terms, sym), sym, edge));
                }
            }
            let after = formula.instantiate(terms, post);
            required.push(terms.implies(formula.pc, after));
            let mut pre = terms.and_all(&required);
            let mut put_back = false;
            // Later inputs first, as they are the inner ones.
            for &(instance, sym, edge) in havocked.iter().rev() {
                let dropped = match self.path.dag(block).edges[edge as usize].stmt {
                    Stmt::Assign(_, value) => Some(value),
                    Stmt::Skip | Stmt::Assume(_) | Stmt::Havoc(_) => None,
                };
                let instances = match dropped {
                    // With a constant the formula only gets simpler.
                    Some(value) if terms.as_value(value).is_some() => 0,
                    Some(_) => MAX_INSTANCES / 4,
                    None => MAX_INSTANCES,
                };
                match forall(terms, self.solver, instance, pre, instances, self.limits) {
                    Some(without) => pre = without,
                    None if dropped.is_some() => {
                        self.slice.keep(block, edge);
                        put_back = true;
                    }
                    None => return Err(format!("an input of {} could not be eliminated", terms.symbol_name(sym))),
                }
            }
            if !put_back {
                // Reads over writes are choices by equality of addresses; taken apart, they give atoms that say something.
                return Ok(if terms.has_array(pre) { terms.lift_ites(pre, MAX_CHOICES) } else { pre });
            }
        }
    }

    /// The statements of a chain that matter for `post` with what their case requires, last one first: assumptions of the
    /// slice, and what writes variables that are read later.
    fn needed(&mut self, terms: &Terms, block: usize, chain: &[u32], post: TermId) -> Vec<(u32, Stmt, TermId)> {
        let mut live: std::collections::BTreeSet<SymId> = self.reads.of(terms, post).iter().copied().collect();
        let mut needed = Vec::new();
        for &edge in chain.iter().rev() {
            let (stmt, case) = self.cases.of(block, edge, self.slice.stmt(self.path, block, edge));
            match stmt {
                Stmt::Skip => continue,
                Stmt::Assume(cond) => live.extend(self.reads.of(terms, cond)),
                Stmt::Assign(sym, value) => {
                    if !live.remove(&sym) {
                        continue;
                    }
                    live.extend(self.reads.of(terms, value));
                }
                Stmt::Havoc(sym) => {
                    if !live.remove(&sym) {
                        continue;
                    }
                }
            }
            live.extend(self.reads.of(terms, case));
            needed.push((edge, stmt, case));
        }
        needed
    }
}
