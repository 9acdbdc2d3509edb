// SPDX-License-Identifier: Apache-2.0
//! Blocks and octagons: a block sees the variables that it accesses. Behind it, what it decides comes from inside, and what it
//! does not write keeps its relations (block-abstraction memoization).

use std::rc::Rc;

use cfa::{BlockId, Blocks, EdgeId, Op, Scope, VarId};
use cpa_core::{Cx, Reducer, Site, Stop, Unfolding};

use crate::cpa::OctagonCpa;
use crate::state::OctagonState;
use crate::transfer::{Tracked, Transfer};

/// The reducer of the octagon analysis.
#[derive(Debug)]
pub struct OctagonReducer {
    transfer: Rc<Transfer>,
    blocks: Rc<Blocks>,
}

impl OctagonReducer {
    /// A reducer for these blocks.
    pub fn new(transfer: Rc<Transfer>, blocks: Rc<Blocks>) -> Self {
        Self { transfer, blocks }
    }
}

impl Reducer for OctagonReducer {
    type Cpa = OctagonCpa;

    fn reduce(&mut self, _cx: &mut Cx, block: BlockId, entry: &OctagonState) -> Result<OctagonState, Stop> {
        let (block, program) = (self.blocks.get(block), self.transfer.program());
        let mut reduced = entry.clone();
        reduced.forget(&|var| !block.sees(program, var));
        Ok(reduced)
    }

    fn reduce_precision(&mut self, block: BlockId, precision: &Tracked) -> Tracked {
        let block = self.blocks.get(block);
        precision.as_ref().map(|tracked| Rc::new(tracked.intersection(&block.vars).copied().collect()))
    }

    fn expand(
        &mut self,
        _cx: &mut Cx,
        site: &Site<'_, OctagonState>,
        exit: &OctagonState,
    ) -> Result<OctagonState, Stop> {
        let (block, program) = (self.blocks.get(site.block), self.transfer.program());
        let other = |var: VarId| match program.var(var).scope {
            // The parameters are not what they were, and without recursion nothing else is known of local variables.
            Scope::Local(func) if site.call.is_some() && func == block.func => true,
            Scope::Local(_) | Scope::Global => block.writes.contains(&var) && block.decides(program, var),
        };
        let mut before = site.entry.clone();
        before.forget(&other);
        let mut inside = exit.clone();
        inside.forget(&|var| !block.decides(program, var));
        Ok(inside.meet(&before, program).merging_here(exit.merging))
    }

    fn expand_precision(&mut self, outer: &Tracked, inner: &Tracked) -> Tracked {
        match (outer, inner) {
            (Some(outer), Some(inner)) => Some(Rc::new(outer.union(inner).copied().collect())),
            (None, _) | (_, None) => None,
        }
    }

    fn rebuild(&mut self, call: EdgeId, caller: &OctagonState, returned: &OctagonState) -> OctagonState {
        let program = self.transfer.program();
        let edge = program.edge(call);
        let Op::Call { result, .. } = edge.op else { return returned.clone() };
        let func = program.node(edge.src).func;
        let own = |var: VarId| program.var(var).scope == Scope::Local(func) && Some(var) != result;
        let written = self.blocks.of_call(program, call).map(|block| &self.blocks.get(block).writes);
        let dead = self.transfer.dead_behind(call);
        let mut kept = caller.clone();
        kept.forget(&|var| {
            let global = program.var(var).scope == Scope::Global;
            let same = global && Some(var) != result && written.is_some_and(|written| !written.contains(&var));
            dead.contains(&var) || !(own(var) || same)
        });
        let mut rest = returned.clone();
        rest.forget(&own);
        rest.meet(&kept, program).merging_here(returned.merging)
    }

    fn unfold(&mut self, _at: &Unfolding<'_, OctagonState>, inner: &OctagonState) -> OctagonState {
        inner.clone()
    }

    fn hash(&self, state: &OctagonState) -> u64 {
        state.vars().iter().fold(0, |hash: u64, var| hash.rotate_left(5) ^ var.index() as u64)
    }
}
