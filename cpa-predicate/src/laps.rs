// SPDX-License-Identifier: Apache-2.0
//! Iterations of loops inside one block.
//!
//! A block operator that does not end blocks at every loop head makes blocks with several iterations of a loop (Wendler's
//! thesis, section 3.2). The thesis merges the states of all iterations at a location, so that graph and path formula
//! contain the loop. Here the states of different iterations are kept apart until the loop is left: the blocks stay
//! acyclic, so that their paths exclude each other and interpolation can walk through them; the abstractions are computed
//! at the same places, because lengths are those of longest paths.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::Program;
use cfa::ids::{FuncId, NodeId};
use cfa::ir::Op;
use cpa_core::Step;

/// How often the heads of the loops around a location were visited since the block began.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Laps(Option<Rc<BTreeMap<NodeId, u32>>>);

/// Counts laps in one program.
pub(crate) struct LapCounter {
    /// The locations of each loop, by head.
    bodies: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl LapCounter {
    pub(crate) fn new(program: &Program) -> Self {
        let bodies = program.loops.loops.iter().map(|l| (l.head, l.body.iter().copied().collect())).collect();
        Self { bodies }
    }

    /// The laps after a step. The counter of a loop is dropped where the loop is left.
    pub(crate) fn after(&self, laps: &Laps, program: &Program, step: Step) -> Laps {
        let node = step.destination(program);
        let here = program.node(node).func;
        let left: Option<FuncId> = match (step, &program.edge(step.edge()).op) {
            (Step::Leave(_), Op::Call { callee, .. }) => Some(*callee),
            _ => None,
        };
        let stays = |head: NodeId| {
            let func = program.node(head).func;
            left != Some(func) && (func != here || self.bodies[&head].contains(&node))
        };
        let visit = self.bodies.contains_key(&node);
        let kept = laps.0.as_ref().is_none_or(|known| known.keys().all(|&head| stays(head)));
        if kept && !visit {
            return laps.clone();
        }
        let mut known: BTreeMap<NodeId, u32> = laps.0.as_deref().cloned().unwrap_or_default();
        known.retain(|&head, _| stays(head));
        if visit {
            *known.entry(node).or_default() += 1;
        }
        Laps((!known.is_empty()).then(|| Rc::new(known)))
    }
}
