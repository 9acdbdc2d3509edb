// SPDX-License-Identifier: Apache-2.0
//! What a component may ask its siblings about a state, without knowing who they are.

use cfa::ids::ExprId;

use crate::erased::{DynState, ErasedCpa};

/// A question about the values that an expression has in the concrete states an abstract state stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Is it always the same value?
    Constant(ExprId),
    /// Between which values is it?
    Interval(ExprId),
    /// Is it always non-zero, or always zero?
    Truth(ExprId),
}

/// An answer that holds for all concrete states an abstract state stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Don't know.
    Unknown,
    /// It always has this value.
    Constant(i128),
    /// It is between these two, inclusive.
    Interval(i128, i128),
    /// It is always non-zero (`true`) or always zero.
    Truth(bool),
}

/// The other components of a composite state.
pub struct Siblings<'a> {
    before: &'a [Box<dyn ErasedCpa>],
    after: &'a [Box<dyn ErasedCpa>],
    states: &'a [DynState],
}

impl<'a> Siblings<'a> {
    /// The siblings of the component between `before` and `after`; `states` includes that component's own state.
    pub(crate) fn new(
        before: &'a [Box<dyn ErasedCpa>],
        after: &'a [Box<dyn ErasedCpa>],
        states: &'a [DynState],
    ) -> Self {
        assert_eq!(states.len(), before.len() + 1 + after.len(), "the composite hands over all its states");
        Self { before, after, states }
    }

    fn answers(&self, question: Ask) -> impl Iterator<Item = Answer> + '_ {
        let before = self.before.iter().zip(self.states);
        let after = self.after.iter().zip(&self.states[self.before.len() + 1..]);
        before.chain(after).map(move |(cpa, state)| cpa.ask(state, question))
    }

    /// The value of an expression, if some sibling knows it to be constant.
    pub fn constant(&self, expr: ExprId) -> Option<i128> {
        self.answers(Ask::Constant(expr)).find_map(|answer| match answer {
            Answer::Constant(value) => Some(value),
            Answer::Interval(low, high) if low == high => Some(low),
            Answer::Truth(false) => Some(0),
            Answer::Unknown | Answer::Interval(..) | Answer::Truth(true) => None,
        })
    }

    /// The least and greatest value of an expression, as far as the siblings know: the intersection of their answers.
    pub fn interval(&self, expr: ExprId) -> Option<(i128, i128)> {
        let ranges = self.answers(Ask::Interval(expr)).filter_map(|answer| match answer {
            Answer::Constant(value) => Some((value, value)),
            Answer::Interval(low, high) => Some((low, high)),
            Answer::Truth(false) => Some((0, 0)),
            Answer::Unknown | Answer::Truth(true) => None,
        });
        ranges.reduce(|(low, high), (other_low, other_high)| (low.max(other_low), high.min(other_high)))
    }

    /// Whether an expression is non-zero, if some sibling knows.
    pub fn truth(&self, expr: ExprId) -> Option<bool> {
        self.answers(Ask::Truth(expr)).find_map(|answer| match answer {
            Answer::Truth(truth) => Some(truth),
            Answer::Constant(value) => Some(value != 0),
            Answer::Interval(low, high) if low > 0 || high < 0 => Some(true),
            Answer::Interval(0, 0) => Some(false),
            Answer::Unknown | Answer::Interval(..) => None,
        })
    }
}
