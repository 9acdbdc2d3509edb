// SPDX-License-Identifier: Apache-2.0
//! The interface of numerical domains over integers, and the domains behind it (document 001, sections 2.5.3 and 4.2, where
//! a library does this). Nothing here knows programs; dimensions are numbers.

mod boxes;
mod equalities;
mod polyhedra;
mod product;
mod rows;

pub use boxes::Boxes;
pub use equalities::Equalities;
pub use polyhedra::Polyhedron;
pub use product::{Product, Relation};

use crate::linear::Linear;
use crate::octagon::{Octagon, Signed};

/// The least and greatest value, as far as they are known.
pub type Bounds = (Option<i128>, Option<i128>);

/// The limits of the type of each dimension. Values always lie within, also where a domain does not say so.
pub type Types<'a> = dyn Fn(usize) -> (i128, i128) + 'a;

fn meet_bounds(a: Bounds, b: Bounds) -> Bounds {
    let choose = |a: Option<i128>, b: Option<i128>, choose: fn(i128, i128) -> i128| match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (a, b) => a.or(b),
    };
    (choose(a.0, b.0, i128::max), choose(a.1, b.1, i128::min))
}

/// A numerical domain: each element stands for a set of points with integer coordinates.
///
/// Every operation may give more points than it must, never fewer.
pub trait Domain: Clone + PartialEq + std::fmt::Debug {
    /// All points.
    fn top(dims: usize) -> Self;
    /// The number of dimensions.
    fn dims(&self) -> usize;
    /// Whether it is known that there is no point.
    fn is_empty(&self) -> bool;
    /// Removes all points.
    fn make_empty(&mut self);
    /// The least and greatest value of a dimension.
    fn bounds(&self, dim: usize) -> Bounds;
    /// The least and greatest value of a sum of multiples, beyond what follows from those of its terms.
    fn sum(&self, _terms: &[(usize, i128)]) -> Bounds {
        (None, None)
    }
    /// The dimension lies between two numbers.
    fn limit(&mut self, dim: usize, low: i128, high: i128);
    /// `x := form`, which may mention x, for some constant between its ends.
    fn assign(&mut self, dim: usize, form: &Linear, types: &Types<'_>);
    /// Keeps the points where a form is at most 0 for some constant between its ends.
    fn at_most_zero(&mut self, form: &Linear, types: &Types<'_>);
    /// Keeps the points where a form is 0 for some constant between its ends.
    fn equal_zero(&mut self, form: &Linear, types: &Types<'_>) {
        self.at_most_zero(form, types);
        self.at_most_zero(&form.times(-1), types);
    }
    /// The dimension takes any value.
    fn forget(&mut self, dim: usize);
    /// Adds dimensions with any value behind the others.
    fn add_dims(&mut self, count: usize);
    /// The points over some of the dimensions, in the given order.
    fn project(&self, dims: &[usize]) -> Self;
    /// The points of both together, and more.
    fn join(&self, other: &Self) -> Self;
    /// The points that both have.
    fn meet(&self, other: &Self) -> Self;
    /// Whether it is known that all points are points of the other one.
    fn leq(&self, other: &Self) -> bool;
    /// The points of both; going on like this ends, if each widening goes on from the result of the one before. The other one
    /// contains this one. Bounds stop at thresholds, which are ascending.
    fn widen(&self, other: &Self, thresholds: &[i64]) -> Self;
    /// Makes known what follows; the points stay.
    fn close(&mut self) {}
    /// Whether a point belongs to the set.
    fn contains(&self, point: &[i64]) -> bool;

    /// The least and greatest value of a form.
    fn range(&self, form: &Linear, types: &Types<'_>) -> (i128, i128) {
        let (mut low, mut high) = (form.low, form.high);
        for &(dim, coefficient) in &form.terms {
            let (min, max) = types(dim);
            let (least, greatest) = self.bounds(dim);
            let (least, greatest) = (least.map_or(min, |low| low.max(min)), greatest.map_or(max, |high| high.min(max)));
            let (a, b) = (least * coefficient, greatest * coefficient);
            low += a.min(b);
            high += a.max(b);
        }
        let (least, greatest) = if form.terms.len() > 1 { self.sum(&form.terms) } else { (None, None) };
        (
            least.map_or(low, |least| low.max(least.saturating_add(form.low))),
            greatest.map_or(high, |greatest| high.min(greatest.saturating_add(form.high))),
        )
    }
}

/// What "a form is at most 0" says about each of its dimensions, where `range` bounds forms.
fn limits(form: &Linear, range: impl Fn(&Linear) -> (i128, i128)) -> Vec<(usize, Bounds)> {
    let limit = |(index, &(dim, coefficient)): (usize, &(usize, i128))| {
        let most = (-range(&form.without(index)).0).div_euclid(coefficient.abs());
        (dim, if coefficient > 0 { (None, Some(most)) } else { (Some(-most), None) })
    };
    form.terms.iter().enumerate().map(limit).collect()
}

/// A term with a coefficient of 1 or -1.
fn unit((dim, coefficient): (usize, i128)) -> Option<Signed> {
    match coefficient {
        1 => Some(Signed::plus(dim)),
        -1 => Some(Signed::minus(dim)),
        _ => None,
    }
}

fn opposite(signed: Signed) -> Signed {
    Signed { negative: !signed.negative, ..signed }
}

impl Domain for Octagon {
    fn top(dims: usize) -> Self {
        Octagon::top(dims)
    }

    fn dims(&self) -> usize {
        Octagon::dims(self)
    }

    fn is_empty(&self) -> bool {
        Octagon::is_empty(self)
    }

    fn make_empty(&mut self) {
        // Also when there is no dimension that could say so.
        if Octagon::dims(self) == 0 {
            Octagon::add_dims(self, 1);
        }
        self.at_most(0, -1);
        self.at_least(0, 0);
    }

    fn bounds(&self, dim: usize) -> Bounds {
        let (low, high) = Octagon::bounds(self, dim);
        (low.map(i128::from), high.map(i128::from))
    }

    fn sum(&self, terms: &[(usize, i128)]) -> Bounds {
        let [one, two] = *terms else { return (None, None) };
        let (Some(one), Some(two)) = (unit(one), unit(two)) else { return (None, None) };
        (self.upper(opposite(one), opposite(two)).map(|bound| -i128::from(bound)), self.upper(one, two).map(i128::from))
    }

    fn limit(&mut self, dim: usize, low: i128, high: i128) {
        self.at_most(dim, high);
        self.at_least(dim, low);
    }

    fn assign(&mut self, dim: usize, form: &Linear, types: &Types<'_>) {
        if let [term] = form.terms[..]
            && term.0 == dim
            && let Some(signed) = unit(term)
        {
            if signed.negative {
                self.negate(dim);
            }
            self.shift(dim, form.low, form.high);
            let (min, max) = types(dim);
            return self.limit(dim, min, max);
        }
        let related = |(index, &term): (usize, &(usize, i128))| {
            let signed = unit(term).filter(|signed| signed.dim != dim)?;
            Some((signed, self.range(&form.without(index), types)))
        };
        let related: Vec<(Signed, (i128, i128))> = form.terms.iter().enumerate().filter_map(related).collect();
        let (low, high) = self.range(form, types);
        Octagon::forget(self, dim);
        self.limit(dim, low, high);
        for (other, (low, high)) in related {
            self.constrain(Signed::plus(dim), opposite(other), high);
            self.constrain(Signed::minus(dim), other, -low);
        }
    }

    fn at_most_zero(&mut self, form: &Linear, types: &Types<'_>) {
        let mut constraints: Vec<(Signed, Signed, i128)> = Vec::new();
        for (index, &(dim, coefficient)) in form.terms.iter().enumerate() {
            let rest = form.without(index);
            let bound = -self.range(&rest, types).0;
            let single = Signed { dim, negative: coefficient < 0 };
            constraints.push((single, single, 2 * bound.div_euclid(coefficient.abs())));
            let Some(first) = unit((dim, coefficient)) else { continue };
            for (other, &term) in rest.terms.iter().enumerate().skip(index) {
                if let Some(second) = unit(term) {
                    constraints.push((first, second, -self.range(&rest.without(other), types).0));
                }
            }
        }
        for (a, b, bound) in constraints {
            self.constrain(a, b, bound);
        }
    }

    fn forget(&mut self, dim: usize) {
        Octagon::forget(self, dim);
    }

    fn add_dims(&mut self, count: usize) {
        Octagon::add_dims(self, count);
    }

    fn project(&self, dims: &[usize]) -> Self {
        Octagon::project(self, dims)
    }

    fn join(&self, other: &Self) -> Self {
        Octagon::join(self, other)
    }

    fn meet(&self, other: &Self) -> Self {
        Octagon::meet(self, other)
    }

    fn leq(&self, other: &Self) -> bool {
        Octagon::leq(self, other)
    }

    fn widen(&self, other: &Self, thresholds: &[i64]) -> Self {
        Octagon::widen(self, other, thresholds)
    }

    fn close(&mut self) {
        Octagon::close(self);
    }

    fn contains(&self, point: &[i64]) -> bool {
        Octagon::contains(self, point)
    }
}

/// Which domain is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Intervals.
    Boxes,
    /// Octagons.
    #[default]
    Octagon,
    /// Intervals and linear equalities.
    Equalities,
    /// Intervals and convex polyhedra.
    Polyhedra,
}

/// Declares [`Numeric`] with one variant for each domain, and hands all operations on.
macro_rules! numeric {
    ($($variant:ident($domain:ty)),+) => {
        /// An element of one of the domains; two that meet are always of the same one.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs, reason = "the names of the domains")]
        pub enum Numeric { $($variant($domain)),+ }

        impl Numeric {
            /// All points without dimensions.
            pub fn new(kind: Kind) -> Self {
                match kind { $(Kind::$variant => Numeric::$variant(<$domain>::top(0))),+ }
            }
            pub(crate) fn is_empty(&self) -> bool {
                match self { $(Numeric::$variant(one) => Domain::is_empty(one)),+ }
            }
            pub(crate) fn make_empty(&mut self) {
                match self { $(Numeric::$variant(one) => one.make_empty()),+ }
            }
            pub(crate) fn bounds(&self, dim: usize) -> Bounds {
                match self { $(Numeric::$variant(one) => Domain::bounds(one, dim)),+ }
            }
            pub(crate) fn limit(&mut self, dim: usize, low: i128, high: i128) {
                match self { $(Numeric::$variant(one) => one.limit(dim, low, high)),+ }
            }
            pub(crate) fn assign(&mut self, dim: usize, form: &Linear, types: &Types<'_>) {
                match self { $(Numeric::$variant(one) => one.assign(dim, form, types)),+ }
            }
            pub(crate) fn at_most_zero(&mut self, form: &Linear, types: &Types<'_>) {
                match self { $(Numeric::$variant(one) => one.at_most_zero(form, types)),+ }
            }
            pub(crate) fn equal_zero(&mut self, form: &Linear, types: &Types<'_>) {
                match self { $(Numeric::$variant(one) => one.equal_zero(form, types)),+ }
            }
            pub(crate) fn add_dims(&mut self, count: usize) {
                match self { $(Numeric::$variant(one) => Domain::add_dims(one, count)),+ }
            }
            pub(crate) fn project(&self, dims: &[usize]) -> Self {
                match self { $(Numeric::$variant(one) => Numeric::$variant(Domain::project(one, dims))),+ }
            }
            pub(crate) fn close(&mut self) {
                match self { $(Numeric::$variant(one) => Domain::close(one)),+ }
            }
            pub(crate) fn contains(&self, point: &[i64]) -> bool {
                match self { $(Numeric::$variant(one) => Domain::contains(one, point)),+ }
            }
            pub(crate) fn range(&self, form: &Linear, types: &Types<'_>) -> (i128, i128) {
                match self { $(Numeric::$variant(one) => one.range(form, types)),+ }
            }
            pub(crate) fn join(&self, other: &Self) -> Self {
                match (self, other) {
                    $((Numeric::$variant(a), Numeric::$variant(b)) => Numeric::$variant(Domain::join(a, b)),)+
                    _ => panic!("elements of different domains"),
                }
            }
            pub(crate) fn meet(&self, other: &Self) -> Self {
                match (self, other) {
                    $((Numeric::$variant(a), Numeric::$variant(b)) => Numeric::$variant(Domain::meet(a, b)),)+
                    _ => panic!("elements of different domains"),
                }
            }
            pub(crate) fn leq(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Numeric::$variant(a), Numeric::$variant(b)) => Domain::leq(a, b),)+
                    _ => panic!("elements of different domains"),
                }
            }
            pub(crate) fn widen(&self, other: &Self, thresholds: &[i64]) -> Self {
                match (self, other) {
                    $((Numeric::$variant(a), Numeric::$variant(b)) => Numeric::$variant(Domain::widen(a, b, thresholds)),)+
                    _ => panic!("elements of different domains"),
                }
            }
        }
    };
}

numeric!(Boxes(Boxes), Octagon(Octagon), Equalities(Product<Equalities>), Polyhedra(Product<Polyhedron>));
