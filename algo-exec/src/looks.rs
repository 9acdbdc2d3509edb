// SPDX-License-Identifier: Apache-2.0
//! Looks at a run once in a while, and says in which loops it is since when.

use cfa::machine::Machine;
use cfa::{NodeId, Program};
use cpa_core::{Cx, Progress};

/// Jumps backwards and calls in a slice of a run. It is a prime number so that looks do not meet a loop at the same place
/// again and again.
pub(crate) const SLICE: u64 = (1 << 14) - 3;
/// Slices between two looks.
const SLICES: u64 = 64;
/// So many looks on end must find the run in a loop, and for a tenth of its length, before the loop is named.
const LOOKS: u64 = 8;
/// Runs between two reports.
const RUNS: u64 = 256;
/// In how many calls, the innermost ones, loops are looked for.
const MAX_CALLS: usize = 1000;

/// Looks at a run.
#[derive(Clone, Default, Debug)]
pub(crate) struct Looks {
    /// How many slices the run has.
    slices: u64,
    /// The loops that it is in, the outermost first, with the number of slices when it was first seen there.
    loops: Vec<(NodeId, u64)>,
}

impl Looks {
    /// Another slice of the run begins; returns its number, from 1.
    pub(crate) fn next_slice(&mut self) -> u64 {
        self.slices += 1;
        self.slices
    }

    /// A slice is done; `runs` other runs were done before. Reports where the run is, if it is time to do so.
    pub(crate) fn look(&mut self, cx: &mut Cx, program: &Program, machine: &Machine, runs: u64) {
        if !self.slices.is_multiple_of(SLICES) || !cx.has_listener() {
            return;
        }
        let since = |head| self.loops.iter().find(|(known, _)| *known == head).map_or(self.slices, |&(_, since)| since);
        let active = machine.active_loops(program, MAX_CALLS);
        self.loops = active.into_iter().map(|head| (head, since(head))).collect();
        // A loop that is left and entered again now and then will not be met by so many looks on end.
        let long = (LOOKS * SLICES).max(self.slices / 10);
        let lasting = self.loops.iter().filter(|&&(_, since)| self.slices - since >= long);
        let loops = lasting.map(|&(head, since)| (head, (self.slices - since) * SLICE)).collect();
        cx.report(&Progress::Executed { runs, jumps: self.slices * SLICE, loops });
    }
}

/// So many runs are done; reports that, if it is time to do so.
pub(crate) fn report_runs(cx: &mut Cx, runs: u64) {
    if runs.is_multiple_of(RUNS) {
        cx.report(&Progress::Executed { runs, jumps: 0, loops: Vec::new() });
    }
}
