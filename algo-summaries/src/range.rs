// SPDX-License-Identifier: Apache-2.0
//! Intervals of integers without overflow: what is beyond 2^120 counts as infinite.

use cfa::IntTy;

/// From here on numbers are not told apart from infinity.
const INFINITE: i128 = 1 << 120;

/// All integers from `lo` to `hi`; a bound of 2^120 or more in magnitude is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) lo: i128,
    pub(crate) hi: i128,
}

fn clamp(value: Option<i128>, positive: bool) -> i128 {
    let infinite = if positive { INFINITE } else { -INFINITE };
    value.map_or(infinite, |value| value.clamp(-INFINITE, INFINITE))
}

fn product(a: i128, b: i128) -> i128 {
    if a == 0 || b == 0 {
        return 0;
    }
    let positive = (a > 0) == (b > 0);
    if a.abs() >= INFINITE || b.abs() >= INFINITE {
        return clamp(None, positive);
    }
    clamp(a.checked_mul(b), positive)
}

fn sum(a: i128, b: i128, positive: bool) -> i128 {
    if a.abs() >= INFINITE || b.abs() >= INFINITE {
        return clamp(None, positive);
    }
    clamp(Some(a + b), positive)
}

impl Range {
    /// All integers.
    pub(crate) const ALL: Range = Range { lo: -INFINITE, hi: INFINITE };
    /// All integers that are not negative.
    pub(crate) const NATURAL: Range = Range { lo: 0, hi: INFINITE };

    /// From `lo` to `hi`.
    pub(crate) fn new(lo: i128, hi: i128) -> Range {
        Range { lo: clamp(Some(lo), false), hi: clamp(Some(hi), true) }
    }

    /// The values of a type.
    pub(crate) fn of_type(ty: IntTy) -> Range {
        Range::new(ty.min(), ty.max())
    }

    /// One number.
    pub(crate) fn of(value: i128) -> Range {
        Range::new(value, value)
    }

    /// The lower bound, if there is one.
    pub(crate) fn low(self) -> Option<i128> {
        (self.lo > -INFINITE).then_some(self.lo)
    }

    /// The upper bound, if there is one.
    pub(crate) fn high(self) -> Option<i128> {
        (self.hi < INFINITE).then_some(self.hi)
    }

    /// What sums are in.
    pub(crate) fn plus(self, other: Range) -> Range {
        Range { lo: sum(self.lo, other.lo, false), hi: sum(self.hi, other.hi, true) }
    }

    /// What products are in.
    pub(crate) fn times(self, other: Range) -> Range {
        let corners = [
            product(self.lo, other.lo),
            product(self.lo, other.hi),
            product(self.hi, other.lo),
            product(self.hi, other.hi),
        ];
        let (lo, hi) =
            corners.iter().fold((INFINITE, -INFINITE), |(lo, hi), corner| (lo.min(*corner), hi.max(*corner)));
        Range { lo, hi }
    }

    /// What powers are in.
    pub(crate) fn power(self, exponent: u32) -> Range {
        let power = (0..exponent).fold(Range::of(1), |power, _| power.times(self));
        let bound = self.lo.abs().max(self.hi.abs());
        let bound = (0..exponent).fold(1, |power, _| product(power, bound));
        if exponent.is_multiple_of(2) { power.meet(Range { lo: 0, hi: bound }) } else { power }
    }

    /// The least interval that holds both.
    pub(crate) fn join(self, other: Range) -> Range {
        Range { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// What is in both; empty if `lo` is above `hi`.
    pub(crate) fn meet(self, other: Range) -> Range {
        Range { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Whether all numbers of `other` are in it.
    pub(crate) fn contains(self, other: Range) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_stays_infinite() {
        assert_eq!(Range::NATURAL.plus(Range::of(-1)), Range { lo: -1, hi: INFINITE });
        assert_eq!(Range::NATURAL.times(Range::of(-2)), Range { lo: -INFINITE, hi: 0 });
        assert_eq!(Range::ALL.power(2), Range::NATURAL);
    }

    #[test]
    fn bounds_are_those_of_the_corners() {
        assert_eq!(Range::new(-2, 3).times(Range::new(-5, 4)), Range::new(-15, 12));
        assert_eq!(Range::new(-3, 2).power(2), Range::new(0, 9));
        assert_eq!(Range::new(-3, 2).power(3), Range::new(-27, 18));
    }
}
