// SPDX-License-Identifier: Apache-2.0
//! What held where a variable was assigned in a loop: after "`if (a[m] < key) low = m + 1;`" the variable still is what it was
//! before the loop, or `a[low - 1] < key`. Searches note positions, bounds and extrema in this way.
//!
//! A condition in front of the assignment is followed back to where control flow meets, as weakest preconditions are: what was loaded or
//! assigned in between is put in. The variable that is noted is replaced by the one that it is noted in.

use cfa::ids::{EdgeId, ExprId, VarId};
use cfa::ir::{ExprKind, Op};
use cpa_predicate::Encoding;
use smt::{BvBin, Term, TermId};

use super::candidates::{Guesser, holds, is_usable, variable};
use super::instances::index;
use super::memory::Layout;

/// How many candidates are tried.
const CANDIDATES: usize = 24;
/// How many edges in front of an assignment are looked at.
const STEPS: usize = 24;
/// How many values a variable may have before the loop.
const STARTS: usize = 3;

impl Guesser<'_> {
    /// Candidates that hold in all samples that can tell.
    pub(super) fn noted(&mut self, in_scope: &dyn Fn(VarId) -> bool, out: &mut Vec<TermId>) {
        let program = self.program;
        if self.manager.encoder.encoding() != Encoding::Bitvector {
            return;
        }
        let usable = |var: VarId| is_usable(program, in_scope, var);
        let mut found = Vec::new();
        for id in program.edge_ids() {
            let edge = program.edge(id);
            let Op::Assign { var, value } = edge.op else { continue };
            if !usable(var) || program.loops.innermost(edge.src).is_none() {
                continue;
            }
            let x = variable(self.manager, var);
            let mut facts = self.facts(id, var, value);
            facts.retain(|&fact| self.is_about(&usable, fact));
            if facts.is_empty() {
                continue;
            }
            let starts = self.starts(var, value, &usable);
            for fact in facts {
                for &start in &starts {
                    let unchanged = self.manager.terms.eq(x, start);
                    found.push(self.manager.terms.or(unchanged, fact));
                }
            }
        }
        found.retain(|&term| self.samples.iter().all(|sample| holds(self.manager, program, term, sample)));
        found.truncate(CANDIDATES);
        out.extend(found);
    }

    /// Whether a formula is about usable variables and, if that is asked for, memory, where it may be about all indices.
    pub(super) fn is_about(&mut self, usable: &dyn Fn(VarId) -> bool, fact: TermId) -> bool {
        let about_memory = *self.layout != Layout::default();
        let k = index(&mut self.manager.terms);
        let (terms, encoder) = (&self.manager.terms, &self.manager.encoder);
        (about_memory || !terms.has_array(fact))
            && terms.symbols(fact).into_iter().all(|(symbol, _)| {
                let is_memory = matches!(terms.symbol_sort(symbol), smt::Sort::Array { .. });
                encoder.variable(symbol).map_or(is_memory || symbol == k, usable)
            })
    }

    /// The conditions that hold before an assignment of a variable plus a constant and are about that variable; in terms
    /// of what is assigned.
    fn facts(&mut self, assignment: EdgeId, var: VarId, value: ExprId) -> Vec<TermId> {
        let Some((noted, before)) = self.noted_variable(var, value) else { return Vec::new() };
        let program = self.program;
        let mut facts: Vec<TermId> = Vec::new();
        let mut node = program.edge(assignment).src;
        for _ in 0..STEPS {
            let [edge] = program.node(node).entering[..] else { break };
            let edge = program.edge(edge);
            let encoder = &mut self.manager.encoder;
            let terms = &mut self.manager.terms;
            let defined = match edge.op {
                Op::Assume { cond, truth } => {
                    let Ok(term) = encoder.truth(terms, cond) else { break };
                    facts.push(if truth { term } else { terms.not(term) });
                    None
                }
                Op::Assign { var, value } => {
                    let Ok(value) = encoder.value(terms, value) else { break };
                    Some((var, value))
                }
                Op::Load { var, addr, region } => {
                    let Ok(addr) = encoder.value(terms, addr) else { break };
                    Some((var, encoder.read(terms, region, addr, program.var(var).ty.bits)))
                }
                Op::Skip => None,
                _ => break,
            };
            if let Some((var, value)) = defined {
                if var == noted {
                    break;
                }
                let symbol = encoder.symbol(terms, var);
                for fact in &mut facts {
                    *fact = terms.substitute(*fact, &mut |_, other, _| (other == symbol).then_some(value));
                }
            }
            node = edge.src;
            if program.loops.is_head(node) {
                break;
            }
        }
        let symbol_of = |guesser: &mut Self, var| guesser.manager.encoder.symbol(&mut guesser.manager.terms, var);
        let (from, to) = (symbol_of(self, noted), symbol_of(self, var));
        let terms = &mut self.manager.terms;
        facts.retain(|&fact| {
            let symbols = terms.symbols(fact);
            // What a counter is compared with, comparisons of variables say.
            let says_something = if from == to { terms.has_array(fact) } else { !symbols.contains(&(to, 0)) };
            symbols.contains(&(from, 0)) && says_something
        });
        for fact in &mut facts {
            *fact = terms.substitute(*fact, &mut |_, other, _| (other == from).then_some(before));
        }
        facts
    }

    /// The variable that an assigned value is, up to a constant, and its value in terms of the variable that is assigned.
    fn noted_variable(&mut self, var: VarId, value: ExprId) -> Option<(VarId, TermId)> {
        let term = self.manager.encoder.value(&mut self.manager.terms, value).ok()?;
        let x = variable(self.manager, var);
        self.program.exprs.vars(value).into_iter().find_map(|from| {
            let y = variable(self.manager, from);
            let terms = &mut self.manager.terms;
            if terms.width(y) != terms.width(term) || self.program.var(from).float.is_some() {
                return None;
            }
            let more = terms.bv_bin(BvBin::Sub, term, y);
            matches!(terms.get(more), Term::Bv { .. }).then(|| (from, terms.bv_bin(BvBin::Sub, x, more)))
        })
    }

    /// What else a variable is set to: constants and variables.
    fn starts(&mut self, var: VarId, noted: ExprId, usable: &dyn Fn(VarId) -> bool) -> Vec<TermId> {
        let program = self.program;
        let mut starts: Vec<TermId> = Vec::new();
        for (_, value) in program.assigned().filter(|&(written, value)| written == var && value != noted) {
            let is_simple = match program.exprs.get(value).kind {
                ExprKind::Const(_) => true,
                ExprKind::Var(from) => from != var && usable(from),
                _ => false,
            };
            if is_simple
                && starts.len() < STARTS
                && let Ok(term) = self.manager.encoder.value(&mut self.manager.terms, value)
                && !starts.contains(&term)
            {
                starts.push(term);
            }
        }
        starts
    }
}
