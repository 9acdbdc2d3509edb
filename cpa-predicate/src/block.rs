// SPDX-License-Identifier: Apache-2.0
//! The block operator: after which steps an abstraction is computed.
//!
//! Follows Wendler's thesis, chapter 3 (abs^SBE, abs^LBE, abs_k and their combinations) and *A Unifying View*, section 3.1.6
//! (blk^l, blk^lf, blk^never). The option names are those of CPAchecker. Left out are the operators that the thesis only
//! proposes: by free memory, by time, and by whether there are predicates.

use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::Step;

/// When a block ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockOptions {
    /// Abstract at loop heads.
    pub at_loops: bool,
    /// Abstract after function calls and returns.
    pub at_functions: bool,
    /// Abstract where branches meet.
    pub at_joins: bool,
    /// How long the longest path of a block is, in edges, when the next three apply; 0 for never.
    pub threshold: u32,
    /// Abstract everywhere from the threshold on.
    pub from_threshold: bool,
    /// Abstract at loop heads from the threshold on.
    pub loops_from_threshold: bool,
    /// Abstract after function calls and returns from the threshold on.
    pub functions_from_threshold: bool,
    /// Abstract at targets, so that a target state exists only if its block can be passed.
    pub at_targets: bool,
    /// Whether something else makes sure that no path visits two states of one partition, as the loop-bound analysis does.
    pub unrolled: bool,
}

impl BlockOptions {
    /// blk^never: the whole program, unrolled up to some bound, is one block.
    pub const NEVER: BlockOptions = BlockOptions {
        at_loops: false,
        at_functions: false,
        at_joins: false,
        threshold: 0,
        from_threshold: true,
        loops_from_threshold: false,
        functions_from_threshold: false,
        at_targets: false,
        unrolled: true,
    };
    /// Only at targets and at borders: the locations of a summarised automaton.
    pub const BORDERS: BlockOptions = BlockOptions { at_targets: true, ..Self::NEVER };
    /// blk^l: large blocks from loop head to loop head, calls are inlined.
    pub const LOOPS: BlockOptions = BlockOptions { at_loops: true, at_targets: true, unrolled: false, ..Self::NEVER };
    /// abs^LBE or blk^lf: loop heads, calls and returns.
    pub const LBE: BlockOptions = BlockOptions { at_functions: true, ..Self::LOOPS };
    /// abs^SBE: every edge.
    pub const SBE: BlockOptions = BlockOptions { threshold: 1, ..Self::LBE };
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
    /// A location where branches meet.
    Join,
    /// The block is as long as the threshold.
    Threshold,
    /// A part of the program that is analysed by itself begins or ends.
    Border,
}

/// Decides where blocks end in one program.
pub struct BlockOperator {
    options: BlockOptions,
    program: Arc<Program>,
    borders: BTreeSet<NodeId>,
}

impl BlockOperator {
    /// The operator for a program.
    pub fn new(options: BlockOptions, program: Arc<Program>) -> Self {
        Self { options, program, borders: BTreeSet::new() }
    }

    /// The same operator, but blocks also end at these locations.
    #[must_use]
    pub fn with_borders(mut self, borders: BTreeSet<NodeId>) -> Self {
        self.borders = borders;
        self
    }

    /// Whether the block ends behind `step`, which arrived at `node` with a block whose longest path has `length` edges,
    /// this one included.
    pub fn ends(&self, node: NodeId, step: Step, length: u32, target: bool) -> Option<BlockEnd> {
        let options = &self.options;
        if target && options.at_targets {
            return Some(BlockEnd::Target);
        }
        let long = options.threshold > 0 && length >= options.threshold;
        if (options.at_loops || (long && options.loops_from_threshold)) && self.program.loops.is_head(node) {
            return Some(BlockEnd::LoopHead);
        }
        if (options.at_functions || (long && options.functions_from_threshold))
            && matches!(step, Step::Enter(_) | Step::Leave(_))
        {
            return Some(BlockEnd::Function);
        }
        if options.at_joins && self.program.node(node).entering.len() > 1 {
            return Some(BlockEnd::Join);
        }
        if self.borders.contains(&node) {
            return Some(BlockEnd::Border);
        }
        (long && options.from_threshold).then_some(BlockEnd::Threshold)
    }

    /// Whether a block may contain several iterations of a loop, which then have to be told apart.
    pub fn unrolls(&self) -> bool {
        let options = &self.options;
        let single = options.threshold == 1 && (options.from_threshold || options.loops_from_threshold);
        !(options.at_loops || single || options.unrolled)
    }
}
