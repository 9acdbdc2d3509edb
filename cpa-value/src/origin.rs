// SPDX-License-Identifier: Apache-2.0
//! Which variables hold what a memory cell holds, at assumptions: `t = p->state; [t == 3]` says that `p->state` is 3.
//!
//! Conditions never read memory, so without this an assumption would tell nothing about memory. It is a property of the
//! program, not of states: on the only way to the assumption nothing is stored behind the load, and the variables of
//! the address stay as they are.

use std::collections::BTreeSet;

use cfa::{EdgeId, ExprId, ExprKind, Op, Program, RegionId, VarId};
use rustc_hash::FxHashMap;

/// How many steps before an assumption are looked at.
const STEPS: usize = 64;

/// A variable has the value that is in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) var: VarId,
    pub(crate) addr: ExprId,
    pub(crate) region: RegionId,
}

/// The origins at each assumption.
#[derive(Debug)]
pub(crate) struct Origins(FxHashMap<EdgeId, Vec<Origin>>);

impl Origins {
    pub(crate) fn new(program: &Program) -> Self {
        let mut all = FxHashMap::default();
        for edge in program.edge_ids() {
            let Op::Assume { cond, .. } = program.edge(edge).op else { continue };
            let found = before(program, edge);
            let read = program.exprs.vars(cond);
            if found.iter().any(|origin| read.contains(&origin.var)) {
                all.insert(edge, found);
            }
        }
        Origins(all)
    }

    /// The variables before an assumption that have the value of a cell, where the condition reads one of them.
    pub(crate) fn of(&self, edge: EdgeId) -> &[Origin] {
        self.0.get(&edge).map_or(&[], Vec::as_slice)
    }
}

/// Goes back from an assumption as long as there is only one way to come.
fn before(program: &Program, edge: EdgeId) -> Vec<Origin> {
    let mut found = Vec::new();
    // Variables that got other values behind the place that is looked at.
    let mut written = BTreeSet::new();
    // Variables at the assumption, and those that they are copies of.
    let mut copies: Vec<(VarId, VarId)> = Vec::new();
    let mut at = program.edge(edge).src;
    for _ in 0..STEPS {
        let [only] = program.node(at).entering[..] else { break };
        match program.edge(only).op {
            Op::Skip | Op::Assume { .. } => {}
            Op::Assign { var, value } => {
                let source = match program.exprs.get(value).kind {
                    ExprKind::Var(source) if program.var(source).ty == program.var(var).ty => Some(source),
                    _ => None,
                };
                if !written.contains(&var) {
                    copies.push((var, var));
                }
                match source {
                    Some(source) => copies.iter_mut().filter(|(_, now)| *now == var).for_each(|(_, now)| *now = source),
                    None => copies.retain(|(_, now)| *now != var),
                }
                written.insert(var);
            }
            Op::Load { var, addr, region } => {
                if !written.contains(&var) {
                    copies.push((var, var));
                }
                written.insert(var);
                let fixed = program.exprs.vars(addr).iter().all(|var| !written.contains(var));
                let loaded = copies.iter().filter(|(_, now)| fixed && *now == var);
                found.extend(loaded.map(|&(var, _)| Origin { var, addr, region }));
                copies.retain(|(_, now)| *now != var);
            }
            Op::Havoc { var, .. } => {
                copies.retain(|(_, now)| *now != var);
                written.insert(var);
            }
            Op::Store { .. }
            | Op::Zero { .. }
            | Op::Alloc { .. }
            | Op::Free { .. }
            | Op::Call { .. }
            | Op::Unsupported { .. } => break,
        }
        at = program.edge(only).src;
    }
    found
}
