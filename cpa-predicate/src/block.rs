// SPDX-License-Identifier: Apache-2.0
//! The block operator: after which steps an abstraction is computed.
//!
//! Follows Wendler's thesis, chapter 3 (abs^SBE, abs^LBE) and *A Unifying View*, section 3.1.6 (blk^l, blk^lf). The option
//! names are those of CPAchecker.

use std::collections::BTreeSet;

use cfa::ids::NodeId;
use cpa_core::Step;

/// When a block ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockOptions {
    /// Abstract at loop heads.
    pub at_loops: bool,
    /// Abstract after function calls and returns.
    pub at_functions: bool,
    /// Abstract as soon as the longest path of the block has this many statements; 0 for no threshold.
    pub threshold: u32,
    /// Abstract at targets, so that a target state exists only if its block can be passed.
    pub at_targets: bool,
    /// Whether something else makes sure that no path visits two states of one partition, as the loop-bound analysis does.
    pub unrolled: bool,
}

impl BlockOptions {
    /// blk^l: large blocks from loop head to loop head, calls are inlined.
    pub const LOOPS: BlockOptions =
        BlockOptions { at_loops: true, at_functions: false, threshold: 0, at_targets: true, unrolled: false };
    /// abs^LBE or blk^lf: loop heads, calls and returns.
    pub const LBE: BlockOptions = BlockOptions { at_functions: true, ..Self::LOOPS };
    /// abs^SBE: every edge.
    pub const SBE: BlockOptions = BlockOptions { at_functions: true, threshold: 1, ..Self::LOOPS };
    /// blk^never: the whole program, unrolled up to some bound, is one block.
    pub const NEVER: BlockOptions =
        BlockOptions { at_loops: false, at_functions: false, threshold: 0, at_targets: false, unrolled: true };
}

/// Why a block ended; also counted in the statistics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BlockEnd {
    /// A target state: the satisfiability of the path is asked.
    Target,
    /// A loop head.
    LoopHead,
    /// A call or return edge.
    Function,
    /// The block is as long as the threshold.
    Threshold,
}

/// Decides where blocks end in one program.
pub struct BlockOperator {
    options: BlockOptions,
    loop_heads: BTreeSet<NodeId>,
}

impl BlockOperator {
    /// The operator for a program with the given loop heads.
    pub fn new(options: BlockOptions, loop_heads: BTreeSet<NodeId>) -> Self {
        Self { options, loop_heads }
    }

    /// Whether the block ends behind `step`, which arrived at `node` with a block of `length` statements.
    pub fn ends(&self, node: NodeId, step: Step, length: u32, target: bool) -> Option<BlockEnd> {
        if target && self.options.at_targets {
            return Some(BlockEnd::Target);
        }
        if self.options.at_loops && self.loop_heads.contains(&node) {
            return Some(BlockEnd::LoopHead);
        }
        if self.options.at_functions && matches!(step, Step::Enter(_) | Step::Leave(_)) {
            return Some(BlockEnd::Function);
        }
        (self.options.threshold > 0 && length >= self.options.threshold).then_some(BlockEnd::Threshold)
    }

    /// Whether every cycle of the automaton contains the end of a block, or the automaton is unrolled, so that blocks are
    /// acyclic and the paths that meet inside one exclude each other.
    pub fn acyclic(&self) -> bool {
        self.options.at_loops || self.options.threshold == 1 || self.options.unrolled
    }
}
