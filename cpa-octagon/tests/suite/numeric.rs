// SPDX-License-Identifier: Apache-2.0
//! The numerical domains against sets of points: nothing gets lost, and what each of them can express is kept.

use cpa_octagon::numeric::{Boxes, Domain, Equalities, Polyhedron, Product};
use cpa_octagon::{Linear, Octagon};
use proptest::prelude::*;

const DIMS: usize = 3;
const LIMIT: i64 = 1000;
type Point = [i64; DIMS];

/// What is done with points and with an element.
#[derive(Clone, Debug)]
enum Action {
    Assign(usize, Form),
    AtMostZero(Form),
    EqualZero(Form),
    Forget(usize),
    Swap,
    JoinStart,
    MeetStart,
    WidenTo,
}

/// Coefficients, the least constant, and how much greater it can be.
#[derive(Clone, Debug)]
struct Form([i64; DIMS], i64, i64);

impl Form {
    fn linear(&self) -> Linear {
        let terms = self.0.iter().enumerate().filter(|(_, c)| **c != 0).map(|(dim, &c)| (dim, i128::from(c))).collect();
        Linear { terms, low: i128::from(self.1), high: i128::from(self.1 + self.2) }
    }
    fn values(&self, point: &Point) -> impl Iterator<Item = i64> {
        let sum: i64 = self.0.iter().zip(point).map(|(c, value)| c * value).sum();
        (self.1..=self.1 + self.2).map(move |constant| sum + constant)
    }
}

fn form() -> impl Strategy<Value = Form> {
    (prop::array::uniform3(-2i64..3), -6i64..7, 0i64..2)
        .prop_map(|(coefficients, low, more)| Form(coefficients, low, more))
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (0..DIMS, form()).prop_map(|(dim, form)| Action::Assign(dim, form)),
        4 => form().prop_map(Action::AtMostZero),
        2 => form().prop_map(Action::EqualZero),
        1 => (0..DIMS).prop_map(Action::Forget),
        1 => Just(Action::Swap),
        2 => Just(Action::JoinStart),
        1 => Just(Action::MeetStart),
        1 => Just(Action::WidenTo),
    ]
}

fn types(_: usize) -> (i128, i128) {
    (i128::from(-LIMIT), i128::from(LIMIT))
}

/// Does the actions with an element and with the points it stands for at least.
fn follow<D: Domain>(starts: &[Point], actions: &[Action]) {
    let mut start = D::top(DIMS);
    (0..DIMS).for_each(|dim| start.limit(dim, -3, 3));
    let (mut element, mut points) = (start.clone(), starts.to_vec());
    for action in actions {
        let before = element.clone();
        match action {
            Action::Assign(dim, form) => {
                element.assign(*dim, &form.linear(), &types);
                points = points
                    .iter()
                    .flat_map(|point| {
                        form.values(point).map(|value| {
                            let mut point = *point;
                            point[*dim] = value;
                            point
                        })
                    })
                    .filter(|point| point[*dim].abs() <= LIMIT)
                    .collect();
            }
            Action::AtMostZero(form) => {
                element.at_most_zero(&form.linear(), &types);
                points.retain(|point| form.values(point).any(|value| value <= 0));
                assert!(element.leq(&before) || !before.is_empty());
            }
            Action::EqualZero(form) => {
                element.equal_zero(&form.linear(), &types);
                points.retain(|point| form.values(point).any(|value| value == 0));
            }
            Action::Forget(dim) => {
                element.forget(*dim);
                let values = |point: &Point| {
                    [-LIMIT, 0, 77].map(|value| {
                        let mut point = *point;
                        point[*dim] = value;
                        point
                    })
                };
                points = points.iter().flat_map(values).collect();
            }
            Action::Swap => {
                element = element.project(&[2, 0, 1]);
                points = points.iter().map(|point| [point[2], point[0], point[1]]).collect();
            }
            Action::JoinStart => {
                element = element.join(&start);
                points.extend(starts);
                assert!(before.leq(&element) && start.leq(&element), "{before:?} {element:?}");
            }
            Action::MeetStart => {
                element = element.meet(&start);
                points.retain(|point| point.iter().all(|value| value.abs() <= 3));
            }
            Action::WidenTo => {
                let join = element.join(&start);
                element = element.widen(&join, &[0, 5]);
                element.close();
                points.extend(starts);
            }
        }
        points.sort_unstable();
        points.dedup();
        for point in &points {
            assert!(element.contains(point), "{point:?} is lost by {action:?}: {before:?} {element:?}");
        }
        assert!(!element.is_empty() || points.is_empty());
        for dim in 0..DIMS {
            let (low, high) = element.bounds(dim);
            for point in &points {
                let value = i128::from(point[dim]);
                assert!(low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high));
            }
        }
        let sum = Form([1, -2, 1], 3, 0);
        let (low, high) = element.range(&sum.linear(), &types);
        let within = |value: i64| low <= i128::from(value) && i128::from(value) <= high;
        assert!(points.iter().all(|point| sum.values(point).all(within)));
    }
}

proptest! {
    #[test]
    fn no_point_is_lost(starts in prop::collection::vec(prop::array::uniform3(-3i64..4), 1..6), actions in prop::collection::vec(action(), 1..7)) {
        follow::<Boxes>(&starts, &actions);
        follow::<Octagon>(&starts, &actions);
        follow::<Product<Equalities>>(&starts, &actions);
        follow::<Product<Polyhedron>>(&starts, &actions);
    }
}

fn linear(coefficients: [i64; DIMS], constant: i64) -> Linear {
    Form(coefficients, constant, 0).linear()
}

/// x = 2y + 1 on one way and x = 7, y = 3 on the other.
#[test]
fn equalities_are_kept() {
    let mut one = Product::<Equalities>::top(DIMS);
    one.equal_zero(&linear([1, -2, 0], -1), &types);
    let mut two = Product::<Equalities>::top(DIMS);
    two.equal_zero(&linear([1, 0, 0], -7), &types);
    two.equal_zero(&linear([0, 1, 0], -3), &types);
    let join = one.join(&two);
    assert_eq!(join.range(&linear([3, -6, 0], 0), &types), (3, 3));
    // x := x + 4, y := y + 2 keeps it; then x := x + 1 does not.
    let mut moved = join.clone();
    moved.assign(0, &linear([1, 0, 0], 4), &types);
    moved.assign(1, &linear([0, 1, 0], 2), &types);
    assert_eq!(join.widen(&join.join(&moved), &[]).range(&linear([1, -2, 0], 0), &types), (1, 1));
    moved.assign(0, &linear([1, 0, 0], 1), &types);
    assert_eq!(moved.range(&linear([1, -2, 0], 0), &types), (2, 2));
    // 2x = 2y + 1 has no integers.
    moved.equal_zero(&linear([2, -2, 0], -1), &types);
    assert!(moved.is_empty());
}

/// 0 <= y, 3x <= 2y + z: no octagon, and no equality.
#[test]
fn polyhedra_are_kept() {
    let mut corner = Product::<Polyhedron>::top(DIMS);
    for form in [
        linear([0, -1, 0], 0),
        linear([3, -2, -1], 0),
        linear([0, 0, 1], -4),
        linear([0, 1, 0], -5),
        linear([-1, 0, 0], 0),
    ] {
        corner.at_most_zero(&form, &types);
    }
    assert_eq!(corner.bounds(0), (Some(0), Some(4)));
    assert_eq!(corner.range(&linear([3, -2, -1], 0), &types).1, 0);
    assert_eq!(corner.range(&linear([1, 1, 0], 0), &types), (0, 9));
    // The hull of two points is the line between them.
    let point = |x, y| {
        let mut point = Product::<Polyhedron>::top(DIMS);
        point.assign(0, &linear([0; 3], x), &types);
        point.assign(1, &linear([0; 3], y), &types);
        point
    };
    let line = point(0, 0).join(&point(2, 6));
    assert_eq!(line.range(&linear([3, -1, 0], 0), &types), (0, 0));
    // x grows, y grows three times as fast: the line has no end after widening, but stays a line.
    let ray = point(0, 0).join(&point(1, 3));
    let wide = ray.widen(&ray.join(&line), &[]);
    assert_eq!(wide.range(&linear([3, -1, 0], 0), &types), (0, 0));
    assert_eq!(wide.bounds(0), (Some(0), None));
    let mut outside = wide.clone();
    outside.at_most_zero(&linear([3, -1, 0], 1), &types);
    assert!(outside.is_empty());
}
