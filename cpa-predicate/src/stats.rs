// SPDX-License-Identifier: Apache-2.0
//! Counters of the Predicate CPA, with the labels that CPAchecker's users know.

use std::collections::BTreeMap;
use std::time::Duration;

use cpa_core::Cx;

use crate::block::BlockEnd;

/// Counters of one predicate analysis.
#[derive(Clone, Default, Debug)]
pub struct Statistics {
    /// Abstractions computed or taken from the cache.
    pub abstractions: u64,
    /// Ends of blocks by reason.
    pub block_ends: BTreeMap<BlockEnd, u64>,
    /// Abstractions that were found in the cache.
    pub cached: u64,
    /// Abstractions without predicates.
    pub empty_precision: u64,
    /// Abstractions that only asked for satisfiability.
    pub false_precision: u64,
    /// Abstractions whose result was false.
    pub result_false: u64,
    /// Solver checks for abstractions.
    pub checks: u64,
    /// Models found by the solver.
    pub models: u64,
    /// Kept models of a block that were models again.
    pub recalled: u64,
    /// Abstractions that enumerated models.
    pub enumerations: u64,
    /// Queries that the solver could not answer; the result was over-approximated.
    pub unanswered: u64,
    /// Implication checks between regions.
    pub coverage_checks: u64,
    /// States that a refinement or a forced covering made stronger.
    pub strengthened: u64,
    /// Attempts to cover a state by force.
    pub forced_attempts: u64,
    /// Attempts that succeeded.
    pub forced: u64,
    /// Longest path in a block.
    pub max_block: u32,
    /// Sum of the longest paths of all blocks.
    pub total_block: u64,
    /// Blocks.
    pub blocks: u64,
    /// Refinements of the predicate refiner.
    pub refinements: u64,
    /// Longest abstract counterexample, in blocks.
    pub max_path: usize,
    /// Where the time went.
    pub times: Times,
}

/// Times as the budget of the run measures them.
#[derive(Clone, Copy, Default, Debug)]
pub struct Times {
    /// Abstractions, the checks of targets included.
    pub abstraction: Duration,
    /// Of that, finding predicates with one value in all models.
    pub cartesian: Duration,
    /// Of that, enumerating models.
    pub enumeration: Duration,
    /// Coverage checks.
    pub coverage: Duration,
    /// Feasibility and interpolation of abstract counterexamples.
    pub interpolation: Duration,
    /// Forced coverings.
    pub forced: Duration,
}

impl Times {
    /// Adds what passed since `start`.
    pub(crate) fn add(total: &mut Duration, cx: &Cx, start: Duration) {
        *total += cx.elapsed().saturating_sub(start);
    }
}

impl Statistics {
    pub(crate) fn count_end(&mut self, reason: BlockEnd, length: u32) {
        *self.block_ends.entry(reason).or_default() += 1;
        self.max_block = self.max_block.max(length);
        self.total_block += u64::from(length);
        self.blocks += 1;
    }

    /// Labels and values, in a fixed order.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let end = |reason| self.block_ends.get(&reason).copied().unwrap_or(0).to_string();
        let average = |sum: u64, count: u64| format!("{:.2}", sum as f64 / count.max(1) as f64);
        vec![
            ("Number of abstractions", self.abstractions.to_string()),
            ("Because of function entry/exit", end(BlockEnd::Function)),
            ("Because of loop head", end(BlockEnd::LoopHead)),
            ("Because of join nodes", end(BlockEnd::Join)),
            ("Because of threshold", end(BlockEnd::Threshold)),
            ("Because of block borders", end(BlockEnd::Border)),
            ("Because of target state", end(BlockEnd::Target)),
            ("Times abstraction was reused", self.cached.to_string()),
            ("Times precision was empty", self.empty_precision.to_string()),
            ("Times precision was {false}", self.false_precision.to_string()),
            ("Times result was 'false'", self.result_false.to_string()),
            ("Max ABE block size", self.max_block.to_string()),
            ("Avg ABE block size", average(self.total_block, self.blocks)),
            ("Number of satisfiability checks", self.checks.to_string()),
            ("Number of coverage checks", self.coverage_checks.to_string()),
            ("Number of strengthened states", self.strengthened.to_string()),
            ("Attempted forced coverings", self.forced_attempts.to_string()),
            ("Successful forced coverings", self.forced.to_string()),
            ("Number of models for allsat", self.models.to_string()),
            ("Number of models recalled", self.recalled.to_string()),
            ("Avg number of models for allsat", average(self.models, self.enumerations)),
            ("Queries without answer", self.unanswered.to_string()),
            ("Time for abstraction", seconds(self.times.abstraction)),
            ("Cartesian abstraction", seconds(self.times.cartesian)),
            ("Model enumeration time", seconds(self.times.enumeration)),
            ("Time for coverage checks", seconds(self.times.coverage)),
            ("Time for interpolation", seconds(self.times.interpolation)),
            ("Time for forced covering", seconds(self.times.forced)),
        ]
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}
