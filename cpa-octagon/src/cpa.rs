// SPDX-License-Identifier: Apache-2.0
//! The Octagon CPA (document 001, section 3.1).
//!
//! Merge is separate, join or widening, everywhere or at loop heads only. The precision is the set of tracked variables:
//! all, or a set that starts empty and is refined.

use std::collections::BTreeSet;
use std::rc::Rc;

use cfa::NodeId;
use cpa_core::{Answer, Ask, Cpa, Cx, Merge, Step, Stop};

use crate::state::{OctagonState, Thresholds};
use crate::transfer::{Tracked, Transfer};

/// How states at one location are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MergeKind {
    /// They stay apart.
    #[default]
    Separate,
    /// To the smallest octagon around both. Need not end.
    Join,
    /// By widening.
    Widening,
}

/// Settings of the Octagon CPA.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OctagonOptions {
    /// How states are merged.
    pub merge: MergeKind,
    /// Whether they are merged at loop heads only.
    pub only_at_loop_heads: bool,
    /// Whether the precision starts empty, to be refined; otherwise all variables are tracked.
    pub refineable: bool,
}

/// The Octagon CPA.
#[derive(Debug)]
pub struct OctagonCpa {
    transfer: Rc<Transfer>,
    options: OctagonOptions,
    heads: BTreeSet<NodeId>,
    thresholds: Thresholds,
}

impl OctagonCpa {
    /// The analysis with the given settings.
    pub fn new(transfer: Rc<Transfer>, options: OctagonOptions) -> Self {
        let heads = transfer.program().loops.heads.clone();
        Self { transfer, options, heads, thresholds: Thresholds::default() }
    }

    /// The same analysis; widening stops at these bounds.
    pub fn with_thresholds(self, thresholds: Thresholds) -> Self {
        Self { thresholds, ..self }
    }
}

impl Cpa for OctagonCpa {
    type State = OctagonState;
    type Precision = Tracked;

    fn name(&self) -> &'static str {
        "octagon"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(OctagonState, Tracked), Stop> {
        Ok((self.transfer.top(), self.options.refineable.then(Rc::default)))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &OctagonState,
        step: Step,
        precision: &Tracked,
    ) -> Result<Vec<OctagonState>, Stop> {
        let merging =
            !self.options.only_at_loop_heads || self.heads.contains(&step.destination(self.transfer.program()));
        let next = self.transfer.post(state, step, precision);
        Ok(next.into_iter().map(|state| state.merging_here(merging)).collect())
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &OctagonState, greater: &OctagonState) -> Result<bool, Stop> {
        Ok(lesser.leq(greater, self.transfer.program()))
    }

    fn merge(
        &mut self,
        _cx: &mut Cx,
        new: &OctagonState,
        reached: &OctagonState,
        _precision: &Tracked,
    ) -> Result<Merge<OctagonState>, Stop> {
        let program = self.transfer.program();
        Ok(match self.options.merge {
            MergeKind::Separate => Merge::Separate,
            MergeKind::Join | MergeKind::Widening if !new.merging => Merge::Separate,
            MergeKind::Join | MergeKind::Widening if new.leq(reached, program) => Merge::Contained,
            MergeKind::Join => Merge::Changed(reached.join(new)),
            MergeKind::Widening => Merge::Changed(reached.widen(new, &self.thresholds, program)),
        })
    }

    fn merges(&self) -> bool {
        self.options.merge != MergeKind::Separate
    }

    fn join_precision(&self, new: &Tracked, old: &Tracked) -> Tracked {
        match (new, old) {
            (None, _) | (_, None) => None,
            (Some(new), Some(old)) if new.is_subset(old) => Some(Rc::clone(old)),
            (Some(new), Some(old)) => Some(Rc::new(new.union(old).copied().collect())),
        }
    }

    fn ask(&self, state: &OctagonState, question: Ask) -> Answer {
        let (Ask::Constant(expr) | Ask::Interval(expr) | Ask::Truth(expr)) = question;
        let (low, high) = self.transfer.interval(state, expr);
        Answer::Interval(low, high)
    }
}
