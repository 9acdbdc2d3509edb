// SPDX-License-Identifier: Apache-2.0
//! What is known about an unknown number: bounds, and a few numbers that it is not.

use std::fmt;

use cfa::IntTy;

/// More holes than this are forgotten.
const HOLES: usize = 4;

/// The types of numbers that so many bytes may hold.
pub(crate) fn types(bytes: u64) -> [IntTy; 2] {
    [true, false].map(|signed| IntTy { bits: 8 * bytes as u32, signed })
}

/// The integers from `low` to `high` without the holes; never empty, and the bounds are no holes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Range {
    low: i128,
    high: i128,
    holes: Vec<i128>,
}

impl Range {
    /// All values of a type.
    pub(crate) fn of(ty: IntTy) -> Self {
        Self { low: ty.min(), high: ty.max(), holes: Vec::new() }
    }

    /// One value.
    pub(crate) fn point(value: i128) -> Self {
        Self { low: value, high: value, holes: Vec::new() }
    }

    /// The integers between two, inclusive; none if there are none.
    pub(crate) fn between(low: i128, high: i128) -> Option<Self> {
        (low <= high).then(|| Self { low, high, holes: Vec::new() })
    }

    pub(crate) fn low(&self) -> i128 {
        self.low
    }

    pub(crate) fn high(&self) -> i128 {
        self.high
    }

    /// The only value, if there is only one.
    pub(crate) fn value(&self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(crate) fn contains(&self, value: i128) -> bool {
        self.low <= value && value <= self.high && !self.holes.contains(&value)
    }

    /// Whether all values of the other range are values of this one.
    pub(crate) fn includes(&self, other: &Range) -> bool {
        self.low <= other.low && other.high <= self.high && self.holes.iter().all(|&hole| !other.contains(hole))
    }

    /// Whether the values of both together are those of the hull.
    pub(crate) fn is_continued_by(&self, next: &Range) -> bool {
        self.holes.is_empty() && next.holes.is_empty() && self.low <= next.low && next.low <= self.high + 1
    }

    /// Whether these are all numbers that so many bytes may hold.
    pub(crate) fn is_any(&self, bytes: u64) -> bool {
        types(bytes).iter().any(|&ty| self.includes(&Self::of(ty)))
    }

    /// Whether all values are values of a type.
    pub(crate) fn fits(&self, ty: IntTy) -> bool {
        ty.min() <= self.low && self.high <= ty.max()
    }

    /// The values of both; none if there are none.
    pub(crate) fn meet(&self, other: &Range) -> Option<Self> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        let mut holes: Vec<i128> = self.holes.iter().chain(&other.holes).copied().collect();
        holes.sort_unstable();
        holes.dedup();
        Self { low, high, holes }.trimmed()
    }

    /// The values but one; none if there are no others.
    pub(crate) fn without(&self, value: i128) -> Option<Self> {
        let mut range = self.clone();
        if range.contains(value) {
            range.holes.push(value);
            range.holes.sort_unstable();
        }
        range.trimmed()
    }

    /// All integers between the bounds.
    pub(crate) fn filled(self) -> Self {
        Self { holes: Vec::new(), ..self }
    }

    /// The least range around both.
    pub(crate) fn hull(&self, other: &Range) -> Self {
        let holes = self.holes.iter().chain(&other.holes).copied();
        let mut holes: Vec<i128> = holes.filter(|&hole| !self.contains(hole) && !other.contains(hole)).collect();
        holes.sort_unstable();
        holes.dedup();
        Self { low: self.low.min(other.low), high: self.high.max(other.high), holes }
    }

    /// A range around this one whose bounds are among the given ones, which are sorted, or the bounds of `widest`.
    pub(crate) fn widened(&self, bounds: &[i128], widest: &Range) -> Self {
        let low = bounds.iter().rev().copied().find(|&bound| bound <= self.low);
        let high = bounds.iter().copied().find(|&bound| bound >= self.high);
        let low = low.unwrap_or(widest.low).max(widest.low.min(self.low));
        let high = high.unwrap_or(widest.high).min(widest.high.max(self.high));
        let holes = self.holes.iter().copied().filter(|hole| bounds.contains(hole)).collect();
        Self { low, high, holes }
    }

    /// With bounds that are no holes, and few holes; none if nothing is left.
    fn trimmed(mut self) -> Option<Self> {
        while self.low <= self.high && self.holes.contains(&self.low) {
            self.low += 1;
        }
        while self.low <= self.high && self.holes.contains(&self.high) {
            self.high -= 1;
        }
        let (low, high) = (self.low, self.high);
        self.holes.retain(|&hole| low < hole && hole < high);
        self.holes.truncate(HOLES);
        (low <= high).then_some(self)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.low, self.high)?;
        self.holes.iter().try_for_each(|hole| write!(f, " not {hole}"))
    }
}
