// SPDX-License-Identifier: Apache-2.0
//! Candidates that hold where a condition of the program does: what all samples that meet it have in common.

use cfa::ir::Op;
use cfa::{EdgeId, NodeId, Program, VarId};
use smt::TermId;

use super::arrays::Search;
use super::candidates::{Atom, Guesser, holds};
use super::sample::Sample;

/// How many conditions of the program facts may depend on.
const SPLITS: usize = 6;
/// How many facts may depend on each of them.
const FACTS: usize = 60;

impl Guesser<'_> {
    /// What holds wherever a condition of the program does.
    pub(super) fn conditional(
        &mut self,
        atoms: &[Atom],
        in_scope: &dyn Fn(VarId) -> bool,
        is_current: &dyn Fn(VarId) -> bool,
        out: &mut Vec<TermId>,
    ) {
        let (program, layout) = (self.program, self.layout);
        for (condition, some) in self.splits(in_scope) {
            let mut facts = Vec::new();
            let mut among = self.among(&some);
            among.equations(atoms, &mut facts);
            let mut search = Search::new(among.manager, program, layout, &some, is_current);
            facts.extend(search.run());
            among.comparisons(atoms, &mut facts);
            among.multiples(atoms, &mut facts);
            // Memory may have no value in the samples that do not meet the condition.
            facts.retain(|&fact| !out.contains(&fact) || self.manager.terms.has_array(fact));
            facts.truncate(FACTS);
            out.extend(facts.into_iter().map(|fact| self.manager.terms.implies(condition, fact)));
        }
    }

    /// Conditions that some samples meet and others do not, with those that do. What ends a loop is no such condition.
    fn splits(&mut self, in_scope: &dyn Fn(VarId) -> bool) -> Vec<(TermId, Vec<Sample>)> {
        let program = self.program;
        let mut splits: Vec<(TermId, Vec<Sample>)> = Vec::new();
        for edge in program.edges.iter().filter(|edge| !ends_loop(program, edge.src)) {
            let Op::Assume { cond, truth } = edge.op else { continue };
            let vars = program.exprs.vars(cond);
            if vars.is_empty() || !vars.iter().all(|&var| in_scope(var) && !program.var(var).temporary) {
                continue;
            }
            let Ok(term) = self.manager.encoder.truth(&mut self.manager.terms, cond) else { continue };
            let term = if truth { term } else { self.manager.terms.not(term) };
            if splits.len() == SPLITS || splits.iter().any(|split| split.0 == term) {
                continue;
            }
            let meets = |sample: &&Sample| holds(self.manager, program, term, sample);
            let some: Vec<Sample> = self.samples.iter().filter(meets).cloned().collect();
            if some.len() >= 4 && some.len() < self.samples.len() {
                splits.push((term, some));
            }
        }
        splits
    }
}

/// Whether a node is the head of a loop that one of its edges leaves.
fn ends_loop(program: &Program, node: NodeId) -> bool {
    let leaves = |&edge: &EdgeId| program.loops.around(program.edge(edge).dst).all(|around| around.head != node);
    program.loops.is_head(node) && program.node(node).leaving.iter().any(leaves)
}
