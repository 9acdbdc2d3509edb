// SPDX-License-Identifier: Apache-2.0
//! The loop-bound analysis: cuts every path at a given number of loop iterations.
//!
//! Follows *A Unifying View*, section 4.1: one counter for each loop head, from -1, incremented on every visit; a state
//! with a counter that equals the bound has no successors, which is unsound on purpose. Counters are never reset, also
//! not when a loop is entered again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use cfa::ids::NodeId;
use rustc_hash::FxHasher;

use crate::cpa::{Cpa, PartitionKey};
use crate::cx::{Cx, Stop};
use crate::step::Step;
use cfa::Program;

/// How often each loop body was traversed: the number of visits of the loop head minus one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoopCounters(Rc<BTreeMap<NodeId, u32>>);

impl LoopCounters {
    /// The counter of a loop head; none (the -1 of the paper) before its first visit.
    pub fn get(&self, head: NodeId) -> Option<u32> {
        self.0.get(&head).copied()
    }

    /// Whether the bound `k` stops a path here.
    pub fn at_bound(&self, k: u32) -> bool {
        self.0.values().any(|&count| count >= k)
    }
}

impl fmt::Display for LoopCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters: Vec<String> = self.0.iter().map(|(head, count)| format!("{head}:{count}")).collect();
        f.write_str(&counters.join(" "))
    }
}

/// The loop-bound analysis. Its precision is the bound.
pub struct LoopBoundCpa {
    program: Rc<Program>,
    heads: BTreeSet<NodeId>,
    k: u32,
    truncated: bool,
}

impl LoopBoundCpa {
    /// Counts the visits of the loop heads `heads`; at most `k` iterations of each loop on a path.
    pub fn new(program: Rc<Program>, heads: BTreeSet<NodeId>, k: u32) -> Self {
        assert!(k > 0, "the bound of an unrolling is positive");
        Self { program, heads, k, truncated: false }
    }

    /// The bound for explorations that start from now on.
    pub fn set_bound(&mut self, k: u32) {
        assert!(k > 0, "the bound of an unrolling is positive");
        self.k = k;
        self.truncated = false;
    }
}

impl Cpa for LoopBoundCpa {
    type State = LoopCounters;
    type Precision = u32;

    fn name(&self) -> &'static str {
        "loop bound"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(LoopCounters, u32), Stop> {
        Ok((LoopCounters::default(), self.k))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &LoopCounters,
        step: Step,
        precision: &u32,
    ) -> Result<Vec<LoopCounters>, Stop> {
        if state.at_bound(*precision) {
            self.truncated = true;
            return Ok(Vec::new());
        }
        let node = step.destination(&self.program);
        if !self.heads.contains(&node) {
            return Ok(vec![state.clone()]);
        }
        let mut counters = (*state.0).clone();
        counters.entry(node).and_modify(|count| *count += 1).or_insert(0);
        Ok(vec![LoopCounters(Rc::new(counters))])
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &LoopCounters, greater: &LoopCounters) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }

    fn partition(&self, state: &LoopCounters) -> Option<PartitionKey> {
        let mut hasher = FxHasher::default();
        state.0.hash(&mut hasher);
        Some(PartitionKey(hasher.finish()))
    }

    fn truncated(&self) -> Option<String> {
        self.truncated.then(|| format!("loops were unrolled at most {} times", self.k))
    }
}
