// SPDX-License-Identifier: Apache-2.0
//! Sets of machine integers: disjunctions of intervals with a congruence.
//!
//! Granger, *Static Analysis of Arithmetical Congruences* (1989), for the congruences. Every operation over-approximates
//! the one of [`mod@cfa::eval`], wrap-around included; where that is undefined, any value of the type is possible.

use cfa::ir::IntTy;

/// A non-empty set of integers: those that are in one of the ranges and congruent to the residue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    /// Disjoint, ascending, not adjacent.
    ranges: Vec<(i128, i128)>,
    /// 0 for a single number, 1 if nothing is known.
    modulus: i128,
    residue: i128,
}

/// The greatest common divisor; 1 where it has no representation.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// Sorts ranges and joins those that overlap or touch.
fn normal(mut ranges: Vec<(i128, i128)>) -> Vec<(i128, i128)> {
    ranges.sort_unstable();
    let mut result: Vec<(i128, i128)> = Vec::with_capacity(ranges.len());
    for (low, high) in ranges {
        match result.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => result.push((low, high)),
        }
    }
    result
}

impl Value {
    pub(crate) fn top(ty: IntTy) -> Self {
        Self { ranges: vec![(ty.min(), ty.max())], modulus: 1, residue: 0 }
    }

    pub(crate) fn constant(value: i128) -> Self {
        Self { ranges: vec![(value, value)], modulus: 0, residue: value }
    }

    pub(crate) fn range(low: i128, high: i128) -> Self {
        Self::make(vec![(low, high)], 1, 0).expect("the caller gives a range that is not empty")
    }

    /// The set, normalised; none if it is empty.
    fn make(ranges: Vec<(i128, i128)>, modulus: i128, residue: i128) -> Option<Self> {
        let mut kept = Vec::with_capacity(ranges.len());
        for (low, high) in normal(ranges) {
            let (low, high) = match modulus {
                0 if low <= residue && residue <= high => (residue, residue),
                0 => continue,
                1 => (low, high),
                m => (low + (residue - low).rem_euclid(m), high - (high - residue).rem_euclid(m)),
            };
            if low <= high {
                kept.push((low, high));
            }
        }
        let (low, high) = (kept.first()?.0, kept.last()?.1);
        if low == high {
            return Some(Self::constant(low));
        }
        let residue = if modulus > 0 { residue.rem_euclid(modulus) } else { residue };
        Some(Self { ranges: kept, modulus, residue })
    }

    pub(crate) fn ranges(&self) -> &[(i128, i128)] {
        &self.ranges
    }

    /// Modulus and residue, if something is known beyond a single number.
    pub(crate) fn congruence(&self) -> Option<(i128, i128)> {
        (self.modulus > 1).then_some((self.modulus, self.residue))
    }

    pub(crate) fn low(&self) -> i128 {
        self.ranges[0].0
    }

    pub(crate) fn high(&self) -> i128 {
        self.ranges[self.ranges.len() - 1].1
    }

    pub(crate) fn as_constant(&self) -> Option<i128> {
        (self.low() == self.high()).then(|| self.low())
    }

    pub(crate) fn is_top(&self, ty: IntTy) -> bool {
        self.modulus == 1 && self.ranges == [(ty.min(), ty.max())]
    }

    pub(crate) fn within(&self, ty: IntTy) -> bool {
        self.low() >= ty.min() && self.high() <= ty.max()
    }

    pub(crate) fn contains(&self, value: i128) -> bool {
        let congruent = match self.modulus {
            0 => value == self.residue,
            m => (value - self.residue).rem_euclid(m) == 0,
        };
        congruent && self.ranges.iter().any(|&(low, high)| low <= value && value <= high)
    }

    /// Whether every number of `self` is one of `other`; `false` may mean "don't know".
    pub(crate) fn leq(&self, other: &Self) -> bool {
        let congruent = match (self.modulus, other.modulus) {
            (_, 1) => true,
            (0, 0) => self.residue == other.residue,
            (_, 0) => false,
            (m, n) => m % n == 0 && (self.residue - other.residue) % n == 0,
        };
        // Bounds of both are tight, but a range of `self` may span a gap of `other` that the congruence excludes.
        congruent && self.ranges.iter().all(|&(low, high)| other.ranges.iter().any(|&(a, b)| a <= low && high <= b))
    }

    /// The union, with at most `pieces` ranges.
    pub(crate) fn join(&self, other: &Self, pieces: usize) -> Self {
        let modulus = gcd(gcd(self.modulus, other.modulus), self.residue - other.residue);
        let ranges: Vec<_> = self.ranges.iter().chain(&other.ranges).copied().collect();
        Self::make(ranges, modulus, self.residue).expect("a union is not empty").coarsened(pieces)
    }

    /// At most `pieces` ranges; the smallest gaps are closed.
    fn coarsened(mut self, pieces: usize) -> Self {
        while self.ranges.len() > pieces.max(1) {
            let gap = |at: usize| self.ranges[at + 1].0.saturating_sub(self.ranges[at].1);
            let at = (0..self.ranges.len() - 1).min_by_key(|&at| gap(at)).expect("there are at least two ranges");
            self.ranges[at].1 = self.ranges[at + 1].1;
            self.ranges.remove(at + 1);
        }
        self
    }

    /// The numbers in both; none if there is none.
    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let mut ranges = Vec::new();
        for &(a, b) in &self.ranges {
            for &(c, d) in &other.ranges {
                if a.max(c) <= b.min(d) {
                    ranges.push((a.max(c), b.min(d)));
                }
            }
        }
        // The congruence that says more; both together would need the Chinese remainder theorem.
        let stronger = match (self.modulus, other.modulus) {
            (0, _) => self,
            (_, 0) => other,
            (m, n) if m >= n => self,
            _ => other,
        };
        Self::make(ranges, stronger.modulus, stronger.residue)
    }

    /// The numbers that are congruent to `residue`.
    pub(crate) fn meet_congruence(&self, modulus: i128, residue: i128) -> Option<Self> {
        if self.modulus > 0 && (modulus % self.modulus == 0) {
            return Self::make(self.ranges.clone(), modulus, residue.rem_euclid(modulus))
                .filter(|_| (residue - self.residue) % self.modulus == 0);
        }
        Some(self.clone())
    }

    /// Without one number; none if nothing is left.
    pub(crate) fn without(&self, value: i128, pieces: usize) -> Option<Self> {
        let mut ranges = Vec::new();
        for &(low, high) in &self.ranges {
            if low <= value && value <= high {
                ranges.extend([(low, value - 1), (value + 1, high)].into_iter().filter(|(a, b)| a <= b));
            } else {
                ranges.push((low, high));
            }
        }
        Self::make(ranges, self.modulus, self.residue).map(|set| set.coarsened(pieces))
    }

    /// A set that contains both and whose bounds are old ones, thresholds or those of the type. Without `pieces` it is one
    /// range, so that a chain of such sets ends.
    pub(crate) fn widen(&self, new: &Self, thresholds: &[i128], ty: IntTy, pieces: Option<usize>) -> Self {
        let joined = self.join(new, pieces.unwrap_or(1));
        if joined.leq(self) {
            return self.clone();
        }
        if pieces.is_some() && joined.low() == self.low() && joined.high() == self.high() {
            return joined;
        }
        let mut low = self.low();
        if joined.low() < low {
            let below = thresholds.partition_point(|&t| t <= joined.low());
            low = if below > 0 { thresholds[below - 1].max(ty.min()) } else { ty.min() };
        }
        let mut high = self.high();
        if joined.high() > high {
            let above = thresholds.partition_point(|&t| t < joined.high());
            high = if above < thresholds.len() { thresholds[above].min(ty.max()) } else { ty.max() };
        }
        // Ends of ranges are tightened to the congruence afterwards, which only makes them move inwards.
        let (modulus, residue) = (joined.modulus, joined.residue);
        let mut ranges = joined.ranges;
        let last = ranges.len() - 1;
        ranges[0].0 = ranges[0].0.min(low);
        ranges[last].1 = ranges[last].1.max(high);
        Self::make(ranges, modulus, residue).expect("a widened set is not empty")
    }

    /// The values of the type that are congruent to those of the set modulo the size of the type.
    pub(crate) fn wrapped(self, ty: IntTy, pieces: usize) -> Self {
        if self.within(ty) {
            return self.coarsened(pieces);
        }
        let size = 1i128 << ty.bits;
        let mut ranges = Vec::new();
        for &(low, high) in &self.ranges {
            if high.checked_sub(low).is_none_or(|width| width >= size) {
                ranges = vec![(ty.min(), ty.max())];
                break;
            }
            let (low, high) = (ty.wrap(low), ty.wrap(high));
            if low <= high {
                ranges.push((low, high));
            } else {
                ranges.extend([(low, ty.max()), (ty.min(), high)]);
            }
        }
        let (modulus, residue) =
            if self.modulus == 0 { (0, ty.wrap(self.residue)) } else { (gcd(self.modulus, size), self.residue) };
        Self::make(ranges, modulus, residue).unwrap_or_else(|| Self::top(ty)).coarsened(pieces)
    }

    /// The results of a function that is monotone or antitone in each argument, over the corners of all ranges; none if
    /// some does not fit into 128 bits.
    fn corners(
        &self,
        other: &Self,
        pieces: usize,
        f: impl Fn(i128, i128) -> Option<i128>,
    ) -> Option<Vec<(i128, i128)>> {
        let (left, right) = (self.clone().coarsened(pieces), other.clone().coarsened(pieces));
        let mut ranges = Vec::new();
        for &(a, b) in &left.ranges {
            for &(c, d) in &right.ranges {
                let values = [f(a, c)?, f(a, d)?, f(b, c)?, f(b, d)?];
                let low = values.into_iter().min().expect("four values");
                ranges.push((low, values.into_iter().max().expect("four values")));
            }
        }
        Some(ranges)
    }

    pub(crate) fn add(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        let Some(ranges) = self.corners(other, pieces, |a, b| a.checked_add(b)) else { return Self::top(ty) };
        let modulus = gcd(self.modulus, other.modulus);
        Self::make(ranges, modulus, self.residue + other.residue)
            .map_or_else(|| Self::top(ty), |v| v.wrapped(ty, pieces))
    }

    pub(crate) fn negated(&self, ty: IntTy, pieces: usize) -> Self {
        let ranges = self.ranges.iter().map(|&(low, high)| (-high, -low)).collect();
        Self::make(ranges, self.modulus, -self.residue).map_or_else(|| Self::top(ty), |v| v.wrapped(ty, pieces))
    }

    pub(crate) fn sub(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        let Some(ranges) = self.corners(other, pieces, |a, b| a.checked_sub(b)) else { return Self::top(ty) };
        let modulus = gcd(self.modulus, other.modulus);
        Self::make(ranges, modulus, self.residue - other.residue)
            .map_or_else(|| Self::top(ty), |v| v.wrapped(ty, pieces))
    }

    pub(crate) fn mul(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        let Some(ranges) = self.corners(other, pieces, |a, b| a.checked_mul(b)) else { return Self::top(ty) };
        let product = |a: i128, b: i128| a.checked_mul(b);
        let congruence = (|| {
            let (mm, mr) = (product(self.modulus, other.modulus)?, product(self.modulus, other.residue)?);
            let rm = product(self.residue, other.modulus)?;
            Some((gcd(gcd(mm, mr), rm), product(self.residue, other.residue)?))
        })();
        let (modulus, residue) = congruence.unwrap_or((1, 0));
        Self::make(ranges, modulus, residue).map_or_else(|| Self::top(ty), |v| v.wrapped(ty, pieces))
    }

    pub(crate) fn div(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        if other.contains(0) || (other.low() < 0 && other.high() > 0) {
            return Self::top(ty);
        }
        let Some(ranges) = self.corners(other, pieces, |a, b| a.checked_div(b)) else { return Self::top(ty) };
        // Zero lies between the corners where the dividend changes its sign.
        Self::make(ranges, 1, 0).map_or_else(|| Self::top(ty), |v| v.wrapped(ty, pieces))
    }

    pub(crate) fn rem(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        if other.contains(0) || (other.low() < 0 && other.high() > 0) {
            return Self::top(ty);
        }
        let greatest = other.low().abs().max(other.high().abs()) - 1;
        let least_divisor = other.low().abs().min(other.high().abs());
        if self.low() > -least_divisor && self.high() < least_divisor {
            return self.clone();
        }
        let low = if self.low() < 0 { (-greatest).max(self.low()) } else { 0 };
        let high = if self.high() > 0 { greatest.min(self.high()) } else { 0 };
        let (modulus, residue) = match other.as_constant() {
            // The sign of the result follows the dividend, so residues are only kept for dividends of one sign.
            Some(divisor) if self.low() >= 0 => (gcd(self.modulus, divisor), self.residue),
            _ => (1, 0),
        };
        let set = if modulus == 0 {
            Self::make(vec![(low, high)], 1, 0)
        } else {
            Self::make(vec![(low, high)], modulus, residue)
        };
        set.map_or_else(|| Self::top(ty), |v| v.wrapped(ty, pieces))
    }

    pub(crate) fn shl(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        match other.as_constant() {
            Some(amount) if (0..i128::from(ty.bits)).contains(&amount) => {
                self.mul(&Self::constant(1i128 << amount), ty, pieces)
            }
            _ => Self::top(ty),
        }
    }

    pub(crate) fn shr(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        if other.low() < 0 || other.high() >= i128::from(ty.bits) {
            return Self::top(ty);
        }
        let Some(ranges) = self.corners(other, pieces, |a, b| Some(a >> b)) else { return Self::top(ty) };
        Self::make(ranges, 1, 0).map_or_else(|| Self::top(ty), |v| v.wrapped(ty, pieces))
    }

    pub(crate) fn bit_and(&self, other: &Self, ty: IntTy, pieces: usize) -> Self {
        for (mask, value) in [(self, other), (other, self)] {
            if let Some(bits) = mask.as_constant()
                && bits > 0
                && (bits & (bits + 1)) == 0
                && value.low() >= 0
            {
                return value.rem(&Self::constant(bits + 1), ty, pieces);
            }
        }
        let bounds = [self, other].into_iter().filter(|v| v.low() >= 0).map(Self::high);
        match bounds.min() {
            Some(high) => Self::range(0, high),
            None => Self::top(ty),
        }
    }

    /// Bitwise or and exclusive or.
    pub(crate) fn bit_or(&self, other: &Self, ty: IntTy) -> Self {
        if self.low() < 0 || other.low() < 0 {
            return Self::top(ty);
        }
        let bits = i128::BITS - self.high().max(other.high()).leading_zeros();
        Self::range(0, ((1i128 << bits) - 1).min(ty.max()))
    }

    /// Whether some number of one is also one of the other; `true` may mean "don't know".
    pub(crate) fn may_equal(&self, other: &Self) -> bool {
        let modulus = gcd(self.modulus, other.modulus);
        let congruent = match modulus {
            0 => self.residue == other.residue,
            m => (self.residue - other.residue) % m == 0,
        };
        congruent && self.meet(other).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::eval::{binary_value, unary_value};
    use cfa::ir::{BinOp, UnOp};

    const TY: [IntTy; 2] = [IntTy { bits: 8, signed: true }, IntTy { bits: 8, signed: false }];

    /// Some sets of a type, from small to large.
    fn sets(ty: IntTy) -> Vec<Value> {
        let mut sets = vec![Value::top(ty)];
        let points = [ty.min(), ty.min() + 5, 0, 1, 2, 7, 16, 100, ty.max()];
        for &a in &points {
            sets.push(Value::constant(a));
            for &b in points.iter().filter(|&&b| b > a) {
                sets.push(Value::range(a, b));
                sets.push(Value::constant(a).join(&Value::constant(b), 4));
            }
        }
        sets.extend([3, 4].map(|m| Value::top(ty).meet_congruence(m, 1).unwrap()));
        sets
    }

    fn members(set: &Value) -> impl Iterator<Item = i128> + '_ {
        let step = ((set.high() - set.low()) / 9).max(1);
        (set.low()..=set.high())
            .filter(|&x| set.contains(x))
            .enumerate()
            .filter_map(move |(at, x)| (at as i128 % step == 0 || x == set.high() || at < 2).then_some(x))
    }

    #[test]
    fn operations_contain_all_concrete_results() {
        for ty in TY {
            for a in sets(ty) {
                for x in members(&a) {
                    assert!(a.negated(ty, 3).contains(unary_value(UnOp::Neg, ty, x)), "-{x} of {a:?}");
                }
                for b in sets(ty) {
                    let results = [
                        (BinOp::Add, a.add(&b, ty, 3)),
                        (BinOp::Sub, a.sub(&b, ty, 3)),
                        (BinOp::Mul, a.mul(&b, ty, 3)),
                        (BinOp::Div, a.div(&b, ty, 3)),
                        (BinOp::Rem, a.rem(&b, ty, 3)),
                        (BinOp::Shl, a.shl(&b, ty, 3)),
                        (BinOp::Shr, a.shr(&b, ty, 3)),
                        (BinOp::BitAnd, a.bit_and(&b, ty, 3)),
                        (BinOp::BitOr, a.bit_or(&b, ty)),
                        (BinOp::BitXor, a.bit_or(&b, ty)),
                    ];
                    for x in members(&a) {
                        for y in members(&b) {
                            for (op, result) in &results {
                                if let Ok(value) = binary_value(*op, ty, x, y) {
                                    assert!(result.contains(value), "{x} {op:?} {y}: {a:?} {b:?} {result:?}");
                                }
                            }
                            assert!(x != y || a.may_equal(&b), "{a:?} {b:?}");
                        }
                        assert!(a.join(&b, 2).contains(x) && b.join(&a, 2).contains(x));
                        assert!(b.widen(&a, &[0, 10], ty, None).contains(x), "{b:?} {a:?}");
                        assert!(b.widen(&a, &[0, 10], ty, Some(3)).contains(x), "{b:?} {a:?}");
                        assert!(!b.contains(x) || a.meet(&b).is_some_and(|both| both.contains(x)), "{a:?} {b:?} {x}");
                        assert!(!a.leq(&b) || b.contains(x), "{a:?} {b:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn casts_wrap() {
        let ty = TY[0];
        for (low, high) in [(0, 127), (100, 130), (-300, -200), (-128, 128), (200, 260)] {
            let set = Value::range(low, high).wrapped(ty, 4);
            assert!((low..=high).all(|x| set.contains(ty.wrap(x))), "{low} {high} {set:?}");
        }
    }

    #[test]
    fn chains_of_widenings_end() {
        let ty = IntTy::INT;
        let mut set = Value::constant(0);
        for n in 1..20 {
            set = set.widen(&Value::constant(n * n), &[0, 50, 100], ty, None);
        }
        assert_eq!(set.high(), ty.max());
        assert_eq!(Value::constant(0).widen(&Value::constant(2), &[0, 50, 100], ty, None).high(), 50);
    }
}
