// SPDX-License-Identifier: Apache-2.0
//! Boxes together with relations between dimensions: the boxes hold the bounds, so that a relation need not mention
//! dimensions that have nothing to do with others.

use super::{Bounds, Boxes, Domain, Equalities, Polyhedron, Types, limits, meet_bounds};
use crate::linear::Linear;

/// A domain of relations between dimensions. Every operation may give more points than it must, never fewer.
#[allow(missing_docs, reason = "the operations are those of Domain")]
pub trait Relation: Clone + PartialEq + std::fmt::Debug {
    fn top(dims: usize) -> Self;
    fn is_empty(&self) -> bool;
    fn sum(&self, terms: &[(usize, i128)]) -> Bounds;
    fn assign(&mut self, dim: usize, form: &Linear);
    fn at_most_zero(&mut self, form: &Linear);
    fn equal_zero(&mut self, form: &Linear);
    fn forget(&mut self, dim: usize);
    fn add_dims(&mut self, count: usize);
    fn project(&self, dims: &[usize]) -> Self;
    fn join(&self, other: &Self) -> Self;
    fn meet(&self, other: &Self) -> Self;
    fn leq(&self, other: &Self) -> bool;
    fn widen(&self, other: &Self) -> Self;
    fn contains(&self, point: &[i64]) -> bool;
}

/// The points that both parts have.
#[derive(Clone, PartialEq, Debug)]
pub struct Product<R> {
    boxes: Boxes,
    relation: R,
}

impl<R: Relation> Product<R> {
    /// Takes over what the relation says about the dimensions of a form.
    fn tighten(&mut self, form: &Linear) {
        for &(dim, _) in &form.terms {
            let (low, high) = self.relation.sum(&[(dim, 1)]);
            self.boxes.restrict(dim, (low, high));
        }
    }
}

impl<R: Relation> Domain for Product<R> {
    fn top(dims: usize) -> Self {
        Self { boxes: Boxes::top(dims), relation: R::top(dims) }
    }

    fn dims(&self) -> usize {
        self.boxes.dims()
    }

    fn is_empty(&self) -> bool {
        self.boxes.is_empty() || self.relation.is_empty()
    }

    fn make_empty(&mut self) {
        self.boxes.make_empty();
    }

    fn bounds(&self, dim: usize) -> Bounds {
        meet_bounds(self.boxes.bounds(dim), self.relation.sum(&[(dim, 1)]))
    }

    fn sum(&self, terms: &[(usize, i128)]) -> Bounds {
        self.relation.sum(terms)
    }

    fn limit(&mut self, dim: usize, low: i128, high: i128) {
        self.boxes.limit(dim, low, high);
    }

    fn assign(&mut self, dim: usize, form: &Linear, types: &Types<'_>) {
        let (low, high) = self.range(form, types);
        self.relation.assign(dim, form);
        self.boxes.forget(dim);
        self.boxes.limit(dim, low, high);
    }

    fn at_most_zero(&mut self, form: &Linear, types: &Types<'_>) {
        for (dim, bounds) in limits(form, |form| self.range(form, types)) {
            self.boxes.restrict(dim, bounds);
        }
        self.relation.at_most_zero(form);
        self.tighten(form);
    }

    fn equal_zero(&mut self, form: &Linear, types: &Types<'_>) {
        for form in [form, &form.times(-1)] {
            for (dim, bounds) in limits(form, |form| self.range(form, types)) {
                self.boxes.restrict(dim, bounds);
            }
        }
        self.relation.equal_zero(form);
        self.tighten(form);
    }

    fn forget(&mut self, dim: usize) {
        self.boxes.forget(dim);
        self.relation.forget(dim);
    }

    fn add_dims(&mut self, count: usize) {
        self.boxes.add_dims(count);
        self.relation.add_dims(count);
    }

    fn project(&self, dims: &[usize]) -> Self {
        Self { boxes: self.boxes.project(dims), relation: self.relation.project(dims) }
    }

    fn join(&self, other: &Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            (false, false) => {
                Self { boxes: self.boxes.join(&other.boxes), relation: self.relation.join(&other.relation) }
            }
        }
    }

    fn meet(&self, other: &Self) -> Self {
        Self { boxes: self.boxes.meet(&other.boxes), relation: self.relation.meet(&other.relation) }
    }

    fn leq(&self, other: &Self) -> bool {
        self.is_empty() || (self.boxes.leq(&other.boxes) && self.relation.leq(&other.relation))
    }

    fn widen(&self, other: &Self, thresholds: &[i64]) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            (false, false) => Self {
                boxes: self.boxes.widen(&other.boxes, thresholds),
                relation: self.relation.widen(&other.relation),
            },
        }
    }

    fn contains(&self, point: &[i64]) -> bool {
        self.boxes.contains(point) && self.relation.contains(point)
    }
}

macro_rules! relation {
    ($domain:ty { $($extra:item)+ }) => {
        impl Relation for $domain {
            fn top(dims: usize) -> Self {
                <$domain>::top(dims)
            }
            fn is_empty(&self) -> bool {
                <$domain>::is_empty(self)
            }
            fn sum(&self, terms: &[(usize, i128)]) -> Bounds {
                self.range(terms)
            }
            fn assign(&mut self, dim: usize, form: &Linear) {
                <$domain>::assign(self, dim, form);
            }
            fn equal_zero(&mut self, form: &Linear) {
                <$domain>::equal_zero(self, form);
            }
            fn forget(&mut self, dim: usize) {
                <$domain>::forget(self, dim);
            }
            fn add_dims(&mut self, count: usize) {
                <$domain>::add_dims(self, count);
            }
            fn project(&self, dims: &[usize]) -> Self {
                <$domain>::project(self, dims)
            }
            fn join(&self, other: &Self) -> Self {
                <$domain>::join(self, other)
            }
            fn meet(&self, other: &Self) -> Self {
                <$domain>::meet(self, other)
            }
            fn leq(&self, other: &Self) -> bool {
                <$domain>::leq(self, other)
            }
            fn contains(&self, point: &[i64]) -> bool {
                <$domain>::contains(self, point)
            }
            $($extra)+
        }
    };
}

relation!(Equalities {
    /// An inequality is none of them.
    fn at_most_zero(&mut self, _form: &Linear) {}
    /// Chains are finite.
    fn widen(&self, other: &Self) -> Self {
        self.join(other)
    }
});

relation!(Polyhedron {
    fn at_most_zero(&mut self, form: &Linear) {
        Polyhedron::at_most_zero(self, form);
    }
    fn widen(&self, other: &Self) -> Self {
        Polyhedron::widen(self, other)
    }
});
