// SPDX-License-Identifier: Apache-2.0
//! The Explicit-Value CPA (document 001, section 2.3.3).
//!
//! States are maps from places to values; a smaller map stands for more. Merge is separate, or the join, which keeps what
//! both states agree on. The precision says what is tracked.

use std::rc::Rc;

use cpa_core::{Adjusted, Answer, Ask, At, Cpa, Cx, Fingerprint, Merge, Step, Stop};

use crate::machine::Machine;
use crate::precision::Precision;
use crate::state::ValueState;

/// How states at one location are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MergeKind {
    /// They stay apart.
    #[default]
    Separate,
    /// They are joined to what both agree on.
    Join,
}

/// The Explicit-Value CPA.
#[derive(Debug)]
pub struct ValueCpa {
    machine: Rc<Machine>,
    merge: MergeKind,
    initial: Precision,
}

impl ValueCpa {
    /// The analysis with the given initial precision.
    pub fn new(machine: Rc<Machine>, merge: MergeKind, initial: Precision) -> Self {
        Self { machine, merge, initial }
    }
}

impl Cpa for ValueCpa {
    type State = ValueState;
    type Precision = Precision;

    fn name(&self) -> &'static str {
        "value"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(ValueState, Precision), Stop> {
        Ok((self.machine.initial(), self.initial.clone()))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &ValueState,
        step: Step,
        precision: &Precision,
    ) -> Result<Vec<ValueState>, Stop> {
        let tracked = precision.at(step.destination(self.machine.program()));
        Ok(self.machine.post(state, step, tracked).into_iter().collect())
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &ValueState, greater: &ValueState) -> Result<bool, Stop> {
        Ok(lesser.leq(greater))
    }

    fn merge(
        &mut self,
        _cx: &mut Cx,
        new: &ValueState,
        reached: &ValueState,
        _precision: &Precision,
    ) -> Result<Merge<ValueState>, Stop> {
        Ok(match self.merge {
            MergeKind::Separate => Merge::Separate,
            MergeKind::Join if new.leq(reached) => Merge::Contained,
            MergeKind::Join => {
                let mut joined = reached.clone();
                joined.keep_agreed(new);
                Merge::Changed(joined)
            }
        })
    }

    fn merges(&self) -> bool {
        self.merge != MergeKind::Separate
    }

    fn fingerprint(&self, state: &ValueState) -> Option<Fingerprint> {
        (self.merge == MergeKind::Separate).then(|| Fingerprint { shape: state.shape(), content: state.content() })
    }

    fn project(&self, state: &ValueState, example: &ValueState) -> Option<u64> {
        state.project(example)
    }

    fn join_precision(&self, new: &Precision, old: &Precision) -> Precision {
        old.union(new)
    }

    fn adjust(
        &mut self,
        _cx: &mut Cx,
        state: &ValueState,
        precision: &Precision,
        at: &At,
    ) -> Result<Adjusted<ValueState, Precision>, Stop> {
        if !matches!(precision, Precision::Located(_)) {
            // What is tracked everywhere was taken care of where the values came from.
            return Ok(Adjusted::Unchanged);
        }
        let mut restricted = state.clone();
        restricted.restrict(&self.machine.places.borrow(), precision.at(at.node));
        Ok(if restricted == *state { Adjusted::Unchanged } else { Adjusted::Keep(restricted, precision.clone()) })
    }

    fn ask(&self, state: &ValueState, question: Ask) -> Answer {
        let (Ask::Constant(expr) | Ask::Interval(expr) | Ask::Truth(expr)) = question;
        self.machine.eval(state, expr).map_or(Answer::Unknown, Answer::Constant)
    }
}
