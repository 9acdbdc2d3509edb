// SPDX-License-Identifier: Apache-2.0
//! Sets of integers with one remainder: Granger, *Static Analysis of Arithmetical Congruences*.

/// The integers that are `remainder` modulo `modulus`; with modulus 0 only the remainder itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Congruence {
    pub(super) modulus: u64,
    /// Below the modulus unless that is 0.
    pub(super) remainder: i64,
}

/// Numbers beyond it are not kept exactly.
const LIMIT: i128 = 1 << 48;

impl Congruence {
    /// All integers.
    pub(super) const ANY: Congruence = Congruence { modulus: 1, remainder: 0 };
    pub(super) const ZERO: Congruence = Congruence { modulus: 0, remainder: 0 };

    pub(super) fn new(modulus: i128, remainder: i128) -> Self {
        let modulus = modulus.abs();
        if modulus > LIMIT || (modulus == 0 && remainder.abs() > LIMIT) {
            // A divisor of the modulus is right, too.
            let divisor = 1i128 << modulus.trailing_zeros().min(remainder.trailing_zeros()).min(16);
            return Self::new(divisor, remainder);
        }
        let remainder = if modulus == 0 { remainder } else { remainder.rem_euclid(modulus) };
        let fits = "within the limit";
        Congruence { modulus: u64::try_from(modulus).expect(fits), remainder: i64::try_from(remainder).expect(fits) }
    }

    fn parts(self) -> (i128, i128) {
        (i128::from(self.modulus), i128::from(self.remainder))
    }

    pub(super) fn constant(value: i128) -> Self {
        Self::new(0, value)
    }

    /// The least set of this kind that contains both.
    pub(super) fn join(self, other: Self) -> Self {
        let ((m, r), (n, s)) = (self.parts(), other.parts());
        Self::new(gcd(gcd(m, n), r - s), r)
    }

    pub(super) fn add(self, other: Self) -> Self {
        let ((m, r), (n, s)) = (self.parts(), other.parts());
        Self::new(gcd(m, n), r + s)
    }

    pub(super) fn negated(self) -> Self {
        let (m, r) = self.parts();
        Self::new(m, -r)
    }

    pub(super) fn mul(self, other: Self) -> Self {
        let ((m, r), (n, s)) = (self.parts(), other.parts());
        Self::new(gcd(gcd(m * n, m * s), n * r), r * s)
    }

    /// What is known of the values modulo 2^32 only, as of numbers that may have wrapped around.
    pub(super) fn wrapped(self) -> Self {
        if self.modulus == 0 {
            return self;
        }
        let (_, r) = self.parts();
        Self::new(1i128 << self.modulus.trailing_zeros().min(32), r)
    }
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(modulus: i128, remainder: i128) -> Congruence {
        Congruence::new(modulus, remainder)
    }

    #[test]
    fn operations_contain_the_results_for_all_elements() {
        let samples = [set(0, 3), set(0, -4), set(4, 1), set(6, 2), set(1, 0), set(12, 8)];
        let elements = |c: Congruence| -> Vec<i128> {
            let (m, r) = c.parts();
            if m == 0 { vec![r] } else { (-3..4).map(|k| r + k * m).collect() }
        };
        let contains = |c: Congruence, value: i128| {
            let (m, r) = c.parts();
            if m == 0 { value == r } else { (value - r).rem_euclid(m) == 0 }
        };
        for a in samples {
            for b in samples {
                for x in elements(a) {
                    assert!(contains(a.join(b), x) && contains(b.join(a), x));
                    assert!(
                        contains(a.negated(), -x)
                            && contains(a.wrapped(), x + if a.modulus == 0 { 0 } else { 1 << 32 })
                    );
                    for y in elements(b) {
                        assert!(contains(a.add(b), x + y) && contains(a.mul(b), x * y));
                    }
                }
            }
        }
        assert_eq!(set(0, 0).join(set(0, 12)), set(12, 0));
        assert_eq!(Congruence::ANY.mul(set(0, 8)), set(8, 0));
    }
}
