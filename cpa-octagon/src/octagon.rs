// SPDX-License-Identifier: Apache-2.0
//! The octagon abstract domain: conjunctions of constraints `±x ±y <= c` over integer variables.
//!
//! Follows Miné, *The Octagon Abstract Domain* (2006), with the tight closure for integers of Bagnara, Hill, Zaffanella,
//! *Weakly-Relational Shapes for Numeric Abstractions* (2009), and the closure after one new constraint of Chawdhary,
//! Robbins, King, *Incrementally Closing Octagons* (2018). Nothing here knows programs; the dimensions are numbers.
//!
//! A constraint whose bound leaves the range of entries is dropped, never wrapped around, which makes the octagon bigger.
//! n is the number of dimensions in the stated complexities.

use crate::entry::{Entry, LIMIT};

/// A dimension with a sign: `+x` or `-x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signed {
    /// The dimension.
    pub dim: usize,
    /// Whether it is negated.
    pub negative: bool,
}

impl Signed {
    /// `+x`.
    pub fn plus(dim: usize) -> Self {
        Self { dim, negative: false }
    }
    /// `-x`.
    pub fn minus(dim: usize) -> Self {
        Self { dim, negative: true }
    }
    fn index(self) -> usize {
        2 * self.dim + usize::from(self.negative)
    }
}

/// An octagon. All operations keep it tightly closed, but for [`Octagon::widen`]; with floating-point numbers as entries it
/// is strongly closed as far as rounding allows.
///
/// Rows and columns 2k and 2k+1 of the matrix stand for `+x_k` and `-x_k`; entry (i, j) bounds `v_j - v_i`. Entries (i, j)
/// and (j^1, i^1) are the same constraint, so only those with j <= i|1 are stored.
#[derive(Clone, PartialEq, Debug)]
pub struct Octagon<E = i64> {
    dims: usize,
    entries: Vec<E>,
    empty: bool,
}

/// Where row i of the half matrix begins.
fn row(i: usize) -> usize {
    (i + 1) * (i + 1) / 2
}

fn position(i: usize, j: usize) -> usize {
    if j > (i | 1) { (i ^ 1) + row(j ^ 1) } else { j + row(i) }
}

impl<E: Entry> Octagon<E> {
    /// All points. O(n²).
    pub fn top(dims: usize) -> Self {
        let mut octagon = Self { dims, entries: vec![E::INF; 2 * dims * (dims + 1)], empty: false };
        for i in 0..2 * dims {
            octagon.entries[position(i, i)] = E::ZERO;
        }
        octagon
    }

    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Whether there is no point. O(1).
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    fn at(&self, i: usize, j: usize) -> E {
        self.entries[position(i, j)]
    }

    fn lower(&mut self, i: usize, j: usize, bound: E) {
        let entry = &mut self.entries[position(i, j)];
        *entry = entry.lesser(bound);
    }

    /// Row i of the whole matrix.
    fn fill_row(&self, i: usize, buffer: &mut Vec<E>) {
        buffer.clear();
        buffer.extend((0..2 * self.dims).map(|j| self.at(i, j)));
    }

    /// Lowers row i of the half matrix to what leads over two other nodes.
    fn lower_row(&mut self, i: usize, (to_one, one): (E, &[E]), (to_two, two): (E, &[E])) {
        let width = (i | 1) + 1;
        let entries = &mut self.entries[row(i)..row(i) + width];
        let pairs = one[..width].iter().zip(&two[..width]);
        match (to_one == E::INF, to_two == E::INF) {
            (true, true) => {}
            (false, true) => entries.iter_mut().zip(pairs).for_each(|(e, (a, _))| *e = e.lesser(to_one.plus(*a))),
            (true, false) => entries.iter_mut().zip(pairs).for_each(|(e, (_, b))| *e = e.lesser(to_two.plus(*b))),
            (false, false) => entries
                .iter_mut()
                .zip(pairs)
                .for_each(|(e, (a, b))| *e = e.lesser(to_one.plus(*a)).lesser(to_two.plus(*b))),
        }
    }

    /// Closes the matrix. O(n³).
    pub fn close(&mut self) {
        let size = 2 * self.dims;
        let (mut direct, mut mirrored) = (Vec::with_capacity(size), Vec::with_capacity(size));
        for k in 0..size {
            // Half of the entries are stored, so the way through k must be tried in both directions at once.
            self.fill_row(k, &mut direct);
            self.fill_row(k ^ 1, &mut mirrored);
            for i in 0..size {
                self.lower_row(i, (self.at(i, k), &direct), (self.at(i, k ^ 1), &mirrored));
            }
        }
        self.tighten();
    }

    /// Closes a matrix whose differences are closed: rounds bounds of single dimensions, detects emptiness, and derives
    /// bounds of pairs from them. O(n²).
    fn tighten(&mut self) {
        let size = 2 * self.dims;
        for i in 0..size {
            if self.at(i, i) < E::ZERO {
                self.empty = true;
                return;
            }
            let bound = self.at(i, i ^ 1);
            if bound != E::INF {
                self.entries[position(i, i ^ 1)] = bound.even();
            }
        }
        for i in (0..size).step_by(2) {
            if self.at(i, i ^ 1).plus(self.at(i ^ 1, i)) < E::ZERO {
                self.empty = true;
                return;
            }
        }
        let halves: Vec<E> = (0..size).map(|j| self.at(j ^ 1, j).half()).collect();
        for i in 0..size {
            let left = halves[i ^ 1];
            if left == E::INF {
                continue;
            }
            let width = (i | 1) + 1;
            let entries = &mut self.entries[row(i)..row(i) + width];
            entries.iter_mut().zip(&halves).for_each(|(entry, right)| *entry = entry.lesser(left.plus(*right)));
        }
    }

    /// Adds `a + b <= bound`; both may be the same, which bounds twice the dimension. O(n²).
    pub fn constrain_entry(&mut self, a: Signed, b: Signed, bound: E) {
        if self.empty {
            return;
        }
        // a + b = a - (-b), so the entry's row is -b and its column is a.
        let (from, to) = (b.index() ^ 1, a.index());
        if bound >= self.at(from, to) {
            return;
        }
        self.lower(from, to, bound);
        let size = 2 * self.dims;
        // The new path, its coherent twin, and both behind each other.
        let (mut onwards, mut twin_onwards) = (Vec::with_capacity(size), Vec::with_capacity(size));
        self.fill_row(to, &mut onwards);
        self.fill_row(from ^ 1, &mut twin_onwards);
        let twin = bound.plus(onwards[to ^ 1]).plus(bound);
        let other = bound.plus(twin_onwards[from]).plus(bound);
        for i in 0..size {
            // Distances from i to the start of the constraint and to that of its twin; the latter is also that from the
            // constraint's end to the mirror of i.
            let (direct, mirrored) = (self.at(i, from), onwards[i ^ 1]);
            let through = direct.plus(bound).lesser(mirrored.plus(other));
            let through_twin = mirrored.plus(bound).lesser(direct.plus(twin));
            self.lower_row(i, (through, &onwards), (through_twin, &twin_onwards));
        }
        self.tighten();
    }

    /// The least upper bound of `a + b`; [`Entry::INF`] if there is none. O(1).
    pub fn upper_entry(&self, a: Signed, b: Signed) -> E {
        self.at(b.index() ^ 1, a.index())
    }

    /// Removes all constraints of a dimension. O(n).
    pub fn forget(&mut self, dim: usize) {
        if self.empty {
            return;
        }
        for i in 0..2 * self.dims {
            for signed in [2 * dim, 2 * dim + 1] {
                self.entries[position(i, signed)] = E::INF;
                self.entries[position(signed, i)] = E::INF;
            }
        }
        for signed in [2 * dim, 2 * dim + 1] {
            self.entries[position(signed, signed)] = E::ZERO;
        }
    }

    /// `x := -x`. O(n).
    pub fn negate(&mut self, dim: usize) {
        let (plus, minus) = (2 * dim, 2 * dim + 1);
        for i in (0..2 * self.dims).filter(|i| i / 2 != dim) {
            self.entries.swap(position(i, plus), position(i, minus));
        }
        self.entries.swap(position(plus, minus), position(minus, plus));
    }

    /// The smallest octagon around both. O(n²).
    pub fn join(&self, other: &Self) -> Self {
        if self.empty {
            return other.clone();
        }
        if other.empty {
            return self.clone();
        }
        let entries = self.entries.iter().zip(&other.entries).map(|(a, b)| a.greater(*b)).collect();
        Self { entries, ..self.clone() }
    }

    /// The points of both. O(n³).
    pub fn meet(&self, other: &Self) -> Self {
        let entries = self.entries.iter().zip(&other.entries).map(|(a, b)| a.lesser(*b)).collect();
        let mut result = Self { entries, dims: self.dims, empty: self.empty || other.empty };
        if !result.empty {
            result.close();
        }
        result
    }

    /// Whether all points are points of the other one; exact if this one is closed. O(n²).
    pub fn leq(&self, other: &Self) -> bool {
        self.empty || (!other.empty && self.entries.iter().zip(&other.entries).all(|(a, b)| a <= b))
    }

    /// Drops the constraints that `other` does not fulfil, or weakens them to a threshold; the thresholds are bounds of
    /// dimensions and of sums, ascending. The result is not closed: chains
    /// of widenings are finite only if each goes on from the result of the one before, as it is. O(n² log thresholds).
    pub fn widen(&self, other: &Self, thresholds: &[E]) -> Self {
        if self.empty {
            return other.clone();
        }
        if other.empty {
            return self.clone();
        }
        let mut result = self.clone();
        for i in 0..2 * self.dims {
            for j in 0..=(i | 1) {
                let (old, new) = (self.entries[row(i) + j], other.entries[row(i) + j]);
                if new <= old {
                    continue;
                }
                // Bounds of single dimensions are stored twice as large.
                let stored = |threshold: E| if i ^ 1 == j { threshold.plus(threshold) } else { threshold };
                let next = thresholds.partition_point(|&threshold| stored(threshold) < new);
                result.entries[row(i) + j] = thresholds.get(next).map_or(E::INF, |&threshold| stored(threshold));
            }
        }
        for i in 0..2 * self.dims {
            result.entries[position(i, i)] = E::ZERO;
        }
        result
    }

    /// Takes over from `other`, which is contained in this one, the bounds that this one lost. O(n³).
    pub fn narrow(&self, other: &Self) -> Self {
        if self.empty || other.empty {
            return other.clone();
        }
        let entries =
            self.entries.iter().zip(&other.entries).map(|(old, new)| if *old == E::INF { *new } else { *old });
        let mut result = Self { entries: entries.collect(), ..self.clone() };
        result.close();
        result
    }

    /// Adds dimensions without constraints behind the others. O(n²).
    pub fn add_dims(&mut self, count: usize) {
        let mut bigger = Self::top(self.dims + count);
        bigger.entries[..self.entries.len()].copy_from_slice(&self.entries);
        bigger.empty = self.empty;
        *self = bigger;
    }

    /// The octagon over some of the dimensions, in the given order. O(n²).
    pub fn project(&self, dims: &[usize]) -> Self {
        let mut result = Self::top(dims.len());
        result.empty = self.empty;
        for i in 0..2 * dims.len() {
            for j in 0..=(i | 1) {
                let (row, column) = (2 * dims[i / 2] + i % 2, 2 * dims[j / 2] + j % 2);
                result.entries[position(i, j)] = self.at(row, column);
            }
        }
        result
    }

    /// Whether a point lies in the octagon; with rounded entries also points outside may. O(n²).
    pub fn contains(&self, point: &[E]) -> bool {
        // The sum of the value of a column and a bound.
        let fits = |i: usize, j: usize| {
            let at = self.at(i, j);
            let (from, to) = (point[i / 2], point[j / 2]);
            at == E::INF
                || match (i.is_multiple_of(2), j.is_multiple_of(2)) {
                    (true, true) => to <= from.plus(at),
                    (true, false) => E::ZERO <= to.plus(from).plus(at),
                    (false, true) => to.plus(from) <= at,
                    (false, false) => from <= to.plus(at),
                }
        };
        !self.empty && (0..2 * self.dims).all(|i| (0..=(i | 1)).all(|j| fits(i, j)))
    }
}

/// What is only there for integers; bounds are given as wide numbers, and those that are too great to be entries are dropped.
impl Octagon<i64> {
    /// Adds `a + b <= bound`; both may be the same, which bounds twice the dimension. O(n²).
    pub fn constrain(&mut self, a: Signed, b: Signed, bound: i128) {
        self.constrain_entry(a, b, clamp(bound));
    }

    /// Bounds a dimension from above. O(n²).
    pub fn at_most(&mut self, dim: usize, bound: i128) {
        self.constrain(Signed::plus(dim), Signed::plus(dim), bound.saturating_mul(2));
    }

    /// Bounds a dimension from below. O(n²).
    pub fn at_least(&mut self, dim: usize, bound: i128) {
        self.constrain(Signed::minus(dim), Signed::minus(dim), bound.saturating_mul(-2));
    }

    /// The least upper bound of `a + b`, if there is one. O(1).
    pub fn upper(&self, a: Signed, b: Signed) -> Option<i64> {
        let bound = self.upper_entry(a, b);
        (bound != i64::INF).then_some(bound)
    }

    /// The least and greatest value of a dimension. O(1).
    pub fn bounds(&self, dim: usize) -> (Option<i64>, Option<i64>) {
        let (plus, minus) = (Signed::plus(dim), Signed::minus(dim));
        (self.upper(minus, minus).map(|bound| -(bound / 2)), self.upper(plus, plus).map(|bound| bound / 2))
    }

    /// `x := x + c` for some c between the bounds. O(n).
    pub fn shift(&mut self, dim: usize, least: i128, greatest: i128) {
        if self.empty {
            return;
        }
        let (plus, minus) = (2 * dim, 2 * dim + 1);
        // v_j - v_i grows by at most `greatest` for each occurrence of +x in it, by -`least` for each of -x.
        let moved = |bound: i64, change: i128| {
            if bound == i64::INF { bound } else { clamp(i128::from(bound).saturating_add(change)) }
        };
        for i in (0..2 * self.dims).filter(|i| i / 2 != dim) {
            for (row, column, change) in [(i, plus, greatest), (i, minus, -least)] {
                let entry = &mut self.entries[position(row, column)];
                *entry = moved(*entry, change);
            }
        }
        for (row, column, change) in [(minus, plus, 2 * greatest), (plus, minus, -2 * least)] {
            let entry = &mut self.entries[position(row, column)];
            *entry = moved(*entry, change);
        }
        if least != greatest {
            self.tighten();
        }
    }

    /// `x := ±y + c` for some c between the bounds, where y is another dimension. O(n²).
    pub fn copy(&mut self, dim: usize, from: Signed, least: i128, greatest: i128) {
        self.forget(dim);
        let minus_from = Signed { negative: !from.negative, ..from };
        self.constrain(Signed::plus(dim), minus_from, greatest);
        self.constrain(Signed::minus(dim), from, -least);
    }
}

/// A bound as an entry.
fn clamp(bound: i128) -> i64 {
    let least = i128::from(-LIMIT);
    if bound >= i128::from(LIMIT) { i64::INF } else { bound.max(least) as i64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIMS: usize = 3;
    const SIDE: i64 = 4;

    /// The points of the box in which everything is compared.
    fn points() -> impl Iterator<Item = [i64; DIMS]> {
        let side = -SIDE..=SIDE;
        side.clone().flat_map(move |x| {
            let side = side.clone();
            side.clone().flat_map(move |y| side.clone().map(move |z| [x, y, z]))
        })
    }

    fn boxed() -> Octagon {
        let mut octagon = Octagon::top(DIMS);
        for dim in 0..DIMS {
            octagon.at_most(dim, i128::from(SIDE));
            octagon.at_least(dim, -i128::from(SIDE));
        }
        octagon
    }

    type Constraint = (Signed, Signed, i64);

    fn constraint() -> impl Strategy<Value = Constraint> {
        let signed = || (0..DIMS, any::<bool>()).prop_map(|(dim, negative)| Signed { dim, negative });
        (signed(), signed(), -7i64..10).prop_filter("0 <= c says nothing", |(a, b, _)| a.dim != b.dim || a == b)
    }

    fn holds((a, b, bound): &Constraint, point: &[i64]) -> bool {
        let value = |s: &Signed| if s.negative { -point[s.dim] } else { point[s.dim] };
        value(a) + value(b) <= *bound
    }

    fn build(constraints: &[Constraint]) -> (Octagon, Vec<[i64; DIMS]>) {
        let mut octagon = boxed();
        for (a, b, bound) in constraints {
            octagon.constrain(*a, *b, i128::from(*bound));
        }
        (octagon, points().filter(|point| constraints.iter().all(|c| holds(c, point))).collect())
    }

    /// The octagon is exactly the tightest one around the points.
    fn check_tight(octagon: &Octagon, points: &[[i64; DIMS]]) {
        assert_eq!(octagon.is_empty(), points.is_empty());
        if points.is_empty() {
            return;
        }
        let value = |i: usize, point: &[i64; DIMS]| if i.is_multiple_of(2) { point[i / 2] } else { -point[i / 2] };
        for i in 0..2 * DIMS {
            for j in 0..2 * DIMS {
                let best = points.iter().map(|point| value(j, point) - value(i, point)).max();
                assert_eq!(Some(octagon.at(i, j)), best, "entry {i}, {j}");
            }
        }
    }

    fn constraints() -> impl Strategy<Value = Vec<Constraint>> {
        prop::collection::vec(constraint(), 0..6)
    }

    proptest! {
        #[test]
        fn closure_is_tight(constraints in constraints()) {
            let (octagon, points) = build(&constraints);
            check_tight(&octagon, &points);
            let mut again = octagon.clone();
            if !again.is_empty() {
                again.close();
            }
            prop_assert_eq!(again, octagon);
        }

        #[test]
        fn lattice_operations(one in constraints(), two in constraints()) {
            let ((a, a_points), (b, b_points)) = (build(&one), build(&two));
            let included = a_points.iter().all(|point| b_points.contains(point));
            prop_assert!(!a.leq(&b) || included);
            prop_assert_eq!(a.leq(&b), included);
            let all: Vec<_> = points().filter(|p| a_points.contains(p) || b_points.contains(p)).collect();
            check_tight(&a.join(&b), &all);
            let both: Vec<_> = a_points.iter().copied().filter(|point| b_points.contains(point)).collect();
            check_tight(&a.meet(&b), &both);
            let widened = a.widen(&a.join(&b), &[0, 5]);
            prop_assert!(a.leq(&widened) && b.leq(&widened));
            prop_assert!(a.join(&b).narrow(&a).leq(&a.join(&b)));
        }

        #[test]
        fn assignments(constraints in constraints(), from in 0..DIMS, negative: bool, c in -2i64..3, more in 0i64..2) {
            let (octagon, points) = build(&constraints);
            let image = |f: &dyn Fn(&[i64; DIMS], i64) -> i64| -> Vec<[i64; DIMS]> {
                let mut image: Vec<_> = points.iter().flat_map(|p| (c..=c + more).map(move |c| [f(p, c), p[1], p[2]])).collect();
                image.sort_unstable();
                image.dedup();
                image
            };
            let (least, greatest) = (i128::from(c), i128::from(c + more));
            let mut assigned = octagon.clone();
            if from == 0 {
                if negative {
                    assigned.negate(0);
                }
                assigned.shift(0, least, greatest);
            } else {
                assigned.copy(0, Signed { dim: from, negative }, least, greatest);
            }
            check_tight(&assigned, &image(&|p, c| if negative { c - p[from] } else { c + p[from] }));
            let mut forgotten = octagon.clone();
            forgotten.forget(0);
            prop_assert!(octagon.leq(&forgotten));
            let rest = octagon.project(&[2, 1]);
            prop_assert!(points.iter().all(|p| rest.contains(&[p[2], p[1]])));
        }
    }

    #[test]
    fn widening_ends_and_overflow_drops_bounds() {
        let mut state = boxed();
        for step in 1..1000 {
            let mut next = state.clone();
            next.close();
            next.shift(0, 1, i128::from(step));
            let widened = state.widen(&state.join(&next), &[10, 100]);
            if widened == state {
                assert_eq!(state.bounds(0), (Some(-4), None));
                let mut far = boxed();
                far.shift(1, 0, i128::from(i64::MAX));
                assert_eq!(far.bounds(1), (Some(-4), None));
                return;
            }
            state = widened;
        }
        panic!("the widening does not end");
    }
}
