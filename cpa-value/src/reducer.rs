// SPDX-License-Identifier: Apache-2.0
//! Blocks and explicit values: a block sees the values of the variables and parts of memory that it accesses; all others
//! are behind it what they were before (block-abstraction memoization).

use std::rc::Rc;

use cfa::{Block, BlockId, Blocks, EdgeId, RegionId, VarId};
use cpa_core::{Cx, Reducer, Site, Stop, Unfolding};

use crate::cpa::ValueCpa;
use crate::machine::Machine;
use crate::place::{Place, Slot};
use crate::precision::{Precision, SlotSet};
use crate::state::ValueState;

/// The reducer of the explicit-value analysis.
#[derive(Debug)]
pub struct ValueReducer {
    machine: Rc<Machine>,
    blocks: Rc<Blocks>,
}

impl ValueReducer {
    /// A reducer for these blocks.
    pub fn new(machine: Rc<Machine>, blocks: Rc<Blocks>) -> Self {
        Self { machine, blocks }
    }

    /// Whether what is at a place behind the block comes from inside.
    fn decides(&self, block: &Block, slot: Slot) -> bool {
        self.concerns(block, slot, |var| block.decides(self.machine.program(), var))
    }

    /// Whether a block has to do with a place; for variables, the condition says it.
    fn concerns(&self, block: &Block, slot: Slot, var: impl Fn(VarId) -> bool) -> bool {
        match self.machine.place(slot) {
            Place::Var(id) => var(id),
            Place::Zeros(region) => block.regions.contains(&region),
            Place::Cell(cell) => block.regions.contains(&cell.region),
            // What is made inside is not known.
            Place::Heap => true,
        }
    }
}

impl Reducer for ValueReducer {
    type Cpa = ValueCpa;

    fn reduce(&mut self, _cx: &mut Cx, block: BlockId, entry: &ValueState) -> Result<ValueState, Stop> {
        let block = self.blocks.get(block);
        let program = self.machine.program();
        let mut reduced = entry.clone();
        let sees = |slot| self.concerns(block, slot, |var| block.sees(program, var));
        reduced.retain(&sees, &|region| block.regions.contains(&region));
        Ok(reduced)
    }

    fn reduce_precision(&mut self, block: BlockId, precision: &Precision) -> Precision {
        let block = self.blocks.get(block);
        let touches = |&slot: &Slot| self.concerns(block, slot, |var| block.vars.contains(&var));
        let filter = |set: &SlotSet| set.iter().filter(touches).collect::<SlotSet>();
        match precision {
            Precision::Full => Precision::Full,
            Precision::Everywhere(set) => Precision::Everywhere(Rc::new(filter(set))),
            Precision::Located(map) => {
                let program = self.machine.program();
                let inside = |node| {
                    let func = program.node(node).func;
                    block.own.contains(&node)
                        || block.exits.contains(&node)
                        || (block.functions.contains(&func) && (func != block.func || block.recursive))
                };
                let kept = map.iter().filter(|(node, _)| inside(**node)).map(|(&node, set)| (node, filter(set)));
                Precision::Located(Rc::new(kept.filter(|(_, set)| !set.is_empty()).collect()))
            }
        }
    }

    fn expand(&mut self, _cx: &mut Cx, site: &Site<'_, ValueState>, exit: &ValueState) -> Result<ValueState, Stop> {
        let block = self.blocks.get(site.block);
        let inside = |region: RegionId| block.regions.contains(&region);
        let mut expanded = exit.clone();
        expanded.retain(&|slot| self.decides(block, slot), &inside);
        expanded.take_over(site.entry, &|slot| !self.decides(block, slot), &|region| !inside(region));
        Ok(expanded)
    }

    fn expand_precision(&mut self, outer: &Precision, inner: &Precision) -> Precision {
        outer.union(inner)
    }

    fn rebuild(&mut self, call: EdgeId, caller: &ValueState, returned: &ValueState) -> ValueState {
        let mut rebuilt = returned.clone();
        self.machine.restore(call, caller, &mut rebuilt);
        rebuilt
    }

    fn unfold(&mut self, at: &Unfolding<'_, ValueState>, inner: &ValueState) -> ValueState {
        let block = self.blocks.get(at.block);
        let mut unfolded = inner.clone();
        let outside = |slot| !self.decides(block, slot) && !inner.knows(slot);
        unfolded.take_over(at.entry, &outside, &|region| !block.regions.contains(&region));
        unfolded
    }

    fn hash(&self, state: &ValueState) -> u64 {
        state.content()
    }
}
