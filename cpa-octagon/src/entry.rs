// SPDX-License-Identifier: Apache-2.0
//! What the bounds of octagons can be: integers, or floating-point numbers whose sums are rounded upwards, so that a bound
//! is never too small.

/// A bound; sums are never smaller than the sum of the numbers.
pub trait Entry: Copy + PartialOrd + std::fmt::Debug {
    /// No bound.
    const INF: Self;
    /// Zero.
    const ZERO: Self;

    /// The sum, or a greater number.
    fn plus(self, other: Self) -> Self;
    /// Half of it, or a greater number; of integers, those that [`Entry::even`] made.
    fn half(self) -> Self;
    /// The greatest bound that twice a value can have below this one.
    fn even(self) -> Self;

    /// The smaller one.
    fn lesser(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
    /// The greater one.
    fn greater(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

/// The limit of integer bounds: sums of three fit into 64 bits.
pub(crate) const LIMIT: i64 = 1 << 60;

/// Bounds from [`LIMIT`] on are no bounds, those below its negation become that.
impl Entry for i64 {
    const INF: i64 = 1 << 61;
    const ZERO: i64 = 0;

    fn plus(self, other: i64) -> i64 {
        // Neither overflows; with one infinite operand the sum is above the limit or at it.
        let sum = self + other;
        if sum >= LIMIT { Self::INF } else { sum.max(-LIMIT) }
    }
    fn half(self) -> i64 {
        if self == Self::INF { self } else { self / 2 }
    }
    fn even(self) -> i64 {
        self & !1
    }
}

impl Entry for f64 {
    const INF: f64 = f64::INFINITY;
    const ZERO: f64 = 0.0;

    fn plus(self, other: f64) -> f64 {
        let sum = self + other;
        if sum == f64::NEG_INFINITY {
            return f64::MIN;
        }
        if sum == f64::INFINITY {
            return sum;
        }
        // What rounding took away (Knuth); it is exact, since nothing overflowed.
        let part = sum - self;
        let lost = (self - (sum - part)) + (other - part);
        if lost > 0.0 { sum.next_up() } else { sum }
    }
    fn half(self) -> f64 {
        let half = self * 0.5;
        if half * 2.0 < self { half.next_up() } else { half }
    }
    fn even(self) -> f64 {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_never_too_small() {
        assert_eq!(i64::INF.plus(-LIMIT), i64::INF);
        assert_eq!(i64::INF.plus(i64::INF), i64::INF);
        assert_eq!((-LIMIT).plus(-5), -LIMIT);
        assert_eq!((LIMIT - 7).plus(6), LIMIT - 1);
        assert_eq!((-3i64).even(), -4);
        assert_eq!(1e300.plus(f64::INF), f64::INF);
        assert_eq!(f64::MIN.plus(f64::MIN), f64::MIN);
        assert_eq!(0.5.plus(0.25), 0.75);
        assert_eq!(1.0.plus(1e-30), 1.0f64.next_up());
        assert_eq!(1.0.plus(-1e-30), 1.0);
        assert_eq!((-1.0).plus(1e-30), (-1.0f64).next_up());
        assert_eq!(f64::from_bits(3).half(), f64::from_bits(2));
        assert_eq!(f64::from_bits(1).half(), f64::from_bits(1));
    }
}
