// SPDX-License-Identifier: Apache-2.0
//! Boxes: an interval for each dimension. All operations are linear in the number of dimensions, tests in that of terms.

use super::{Bounds, Domain, Types, limits, meet_bounds};
use crate::linear::Linear;

/// A product of intervals of integers.
#[derive(Clone, PartialEq, Debug)]
pub struct Boxes {
    bounds: Vec<Bounds>,
    empty: bool,
}

impl Boxes {
    pub(super) fn restrict(&mut self, dim: usize, bounds: Bounds) {
        self.bounds[dim] = meet_bounds(self.bounds[dim], bounds);
        if let (Some(low), Some(high)) = self.bounds[dim] {
            self.empty |= low > high;
        }
    }

    fn pairwise(&self, other: &Boxes, choose: impl Fn(Bounds, Bounds) -> Bounds) -> Boxes {
        if self.empty {
            return other.clone();
        }
        if other.empty {
            return self.clone();
        }
        let bounds = self.bounds.iter().zip(&other.bounds).map(|(&a, &b)| choose(a, b)).collect();
        Boxes { bounds, empty: false }
    }
}

impl Domain for Boxes {
    fn top(dims: usize) -> Self {
        Self { bounds: vec![(None, None); dims], empty: false }
    }

    fn dims(&self) -> usize {
        self.bounds.len()
    }

    fn is_empty(&self) -> bool {
        self.empty
    }

    fn make_empty(&mut self) {
        self.empty = true;
    }

    fn bounds(&self, dim: usize) -> Bounds {
        self.bounds[dim]
    }

    fn limit(&mut self, dim: usize, low: i128, high: i128) {
        self.restrict(dim, (Some(low), Some(high)));
    }

    fn assign(&mut self, dim: usize, form: &Linear, types: &Types<'_>) {
        let (low, high) = self.range(form, types);
        self.bounds[dim] = (Some(low), Some(high));
    }

    fn at_most_zero(&mut self, form: &Linear, types: &Types<'_>) {
        for (dim, bounds) in limits(form, |form| self.range(form, types)) {
            self.restrict(dim, bounds);
        }
    }

    fn forget(&mut self, dim: usize) {
        self.bounds[dim] = (None, None);
    }

    fn add_dims(&mut self, count: usize) {
        self.bounds.resize(self.bounds.len() + count, (None, None));
    }

    fn project(&self, dims: &[usize]) -> Self {
        Self { bounds: dims.iter().map(|&dim| self.bounds[dim]).collect(), empty: self.empty }
    }

    fn join(&self, other: &Self) -> Self {
        let hull = |a: Option<i128>, b: Option<i128>, choose: fn(i128, i128) -> i128| Some(choose(a?, b?));
        self.pairwise(other, |a, b| (hull(a.0, b.0, i128::min), hull(a.1, b.1, i128::max)))
    }

    fn meet(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.empty |= other.empty;
        (0..self.dims()).for_each(|dim| result.restrict(dim, other.bounds[dim]));
        result
    }

    fn leq(&self, other: &Self) -> bool {
        let within = |a: &Bounds, b: &Bounds| {
            b.0.is_none_or(|low| a.0.is_some_and(|own| own >= low))
                && b.1.is_none_or(|high| a.1.is_some_and(|own| own <= high))
        };
        self.empty || (!other.empty && self.bounds.iter().zip(&other.bounds).all(|(a, b)| within(a, b)))
    }

    fn widen(&self, other: &Self, thresholds: &[i64]) -> Self {
        let below = |new: i128| thresholds.iter().rev().map(|&t| i128::from(t)).find(|&t| t <= new);
        let above = |new: i128| thresholds.iter().map(|&t| i128::from(t)).find(|&t| t >= new);
        self.pairwise(other, |old, new| {
            let low = match (old.0, new.0) {
                (Some(old), Some(new)) if new >= old => Some(old),
                (Some(_), Some(new)) => below(new),
                (None, _) | (_, None) => None,
            };
            let high = match (old.1, new.1) {
                (Some(old), Some(new)) if new <= old => Some(old),
                (Some(_), Some(new)) => above(new),
                (None, _) | (_, None) => None,
            };
            (low, high)
        })
    }

    fn contains(&self, point: &[i64]) -> bool {
        let inside = |(low, high): &Bounds, value: i128| {
            low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high)
        };
        !self.empty && self.bounds.iter().zip(point).all(|(bounds, &value)| inside(bounds, i128::from(value)))
    }
}
