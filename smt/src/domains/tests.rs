// SPDX-License-Identifier: Apache-2.0
//! Puzzles, and random constraints against enumeration.

use proptest::prelude::*;

use super::{Domains, Found, Progress};
use crate::solver::{Assignment, Model};
use crate::term::{BvBin, BvCmp, Sort, TermId, Terms, Value};

const WIDTH: u32 = 16;

/// Variables with values in a range, and the conditions for that.
fn variables(terms: &mut Terms, name: &str, count: usize, low: i128, high: i128) -> (Vec<TermId>, Vec<TermId>) {
    let (mut vars, mut conditions) = (Vec::new(), Vec::new());
    for number in 0..count {
        let symbol = terms.symbol(&format!("{name}{number}"), Sort::Bv(WIDTH));
        let var = terms.var(symbol, 1);
        for (op, bound) in [(BvCmp::Sle, high), (BvCmp::Slt, low)] {
            let bound = number_of(terms, bound);
            let compared = terms.bv_cmp(op, var, bound);
            conditions.push(if op == BvCmp::Sle { compared } else { terms.not(compared) });
        }
        vars.push(var);
    }
    (vars, conditions)
}

fn number_of(terms: &mut Terms, number: i128) -> TermId {
    terms.bv(WIDTH, number as u128 & 0xffff)
}

fn different(terms: &mut Terms, vars: &[TermId], conditions: &mut Vec<TermId>) {
    for (at, &one) in vars.iter().enumerate() {
        for &other in &vars[..at] {
            let equal = terms.eq(one, other);
            conditions.push(terms.not(equal));
        }
    }
}

/// The result of a search, which has a model if it says so.
fn searched(terms: &mut Terms, conditions: &[TermId]) -> Option<Progress> {
    let formula = terms.and_all(conditions);
    let progress = Domains::new(terms, formula, &|| false)?.run(terms, 10_000_000, &|| false);
    if let Progress::Found(found) = &progress {
        assert_eq!(Model::new(found.clone()).holds(terms, formula), Some(true));
    }
    Some(progress)
}

fn found(terms: &mut Terms, conditions: &[TermId]) -> Found {
    match searched(terms, conditions) {
        Some(Progress::Found(found)) => found,
        other => panic!("{other:?}"),
    }
}

/// A permutation whose neighbours have distances that are all different.
#[test]
fn all_distances_of_neighbours_differ() {
    let terms = &mut Terms::new();
    let (vars, mut conditions) = variables(terms, "x", 30, 0, 29);
    let (distances, more) = variables(terms, "d", 29, 1, 29);
    conditions.extend(more);
    different(terms, &vars, &mut conditions);
    different(terms, &distances, &mut conditions);
    let zero = number_of(terms, 0);
    for (at, &distance) in distances.iter().enumerate() {
        let difference = terms.bv_bin(BvBin::Sub, vars[at], vars[at + 1]);
        let back = terms.bv_bin(BvBin::Sub, vars[at + 1], vars[at]);
        let positive = terms.bv_cmp(BvCmp::Sle, zero, difference);
        let absolute = terms.ite(positive, difference, back);
        conditions.push(terms.eq(distance, absolute));
    }
    found(terms, &conditions);
}

/// More pigeons than holes.
#[test]
fn a_search_ends_where_there_is_no_model() {
    let terms = &mut Terms::new();
    let (vars, mut conditions) = variables(terms, "x", 6, 0, 4);
    different(terms, &vars, &mut conditions);
    assert_eq!(searched(terms, &conditions), Some(Progress::Exhausted));
}

/// Sums of four have no table.
#[test]
fn constraints_between_many_are_evaluated() {
    let terms = &mut Terms::new();
    let (vars, mut conditions) = variables(terms, "x", 16, 1, 16);
    different(terms, &vars, &mut conditions);
    let wanted = number_of(terms, 34);
    let lines = (0..4).flat_map(|at| [[0, 1, 2, 3].map(|step| 4 * at + step), [0, 1, 2, 3].map(|step| 4 * step + at)]);
    for line in lines {
        let sum = line.into_iter().map(|at| vars[at]).reduce(|sum, var| terms.bv_bin(BvBin::Add, sum, var));
        conditions.push(terms.eq(sum.expect("there are four"), wanted));
    }
    let found = found(terms, &conditions);
    let value = |at: usize| {
        let (sym, index) = terms.as_var(vars[at]).expect("a variable");
        match found.value(terms, sym, index) {
            Ok(Some(Value::Bv { bits, .. })) => bits,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((0..4).map(value).sum::<u128>(), 34);
}

#[test]
fn variables_with_many_values_are_for_others() {
    let terms = &mut Terms::new();
    let (vars, mut conditions) = variables(terms, "x", 3, 0, 1000);
    different(terms, &vars, &mut conditions);
    assert_eq!(searched(terms, &conditions), None);
    let (vars, mut conditions) = variables(terms, "y", 3, -64, 63);
    different(terms, &vars, &mut conditions);
    found(terms, &conditions);
}

proptest! {
    /// Constraints `a x + b y + c z` at most, equal or not equal to a number.
    #[test]
    fn a_search_finds_a_model_if_there_is_one(
        high in 1i128..5,
        constraints in prop::collection::vec((0usize..3, prop::collection::vec(-2i128..3, 5), -6i128..7), 1..9),
    ) {
        let terms = &mut Terms::new();
        let (vars, mut conditions) = variables(terms, "x", 5, -1, high);
        for (kind, factors, bound) in &constraints {
            let mut sum = number_of(terms, 0);
            for (&var, &factor) in vars.iter().zip(factors) {
                let factor = number_of(terms, factor);
                let product = terms.bv_bin(BvBin::Mul, factor, var);
                sum = terms.bv_bin(BvBin::Add, sum, product);
            }
            let bound = number_of(terms, *bound);
            let condition = match kind {
                0 => terms.bv_cmp(BvCmp::Sle, sum, bound),
                1 => terms.eq(sum, bound),
                _ => {
                    let equal = terms.eq(sum, bound);
                    terms.not(equal)
                }
            };
            conditions.push(condition);
        }
        let values = (high + 2) as usize;
        let holds = |number: usize| {
            let value = |place: usize| (number / values.pow(place as u32) % values) as i128 - 1;
            constraints.iter().all(|(kind, factors, bound)| {
                let sum: i128 = factors.iter().enumerate().map(|(place, factor)| factor * value(place)).sum();
                match kind { 0 => sum <= *bound, 1 => sum == *bound, _ => sum != *bound }
            })
        };
        let any = (0..values.pow(5)).any(holds);
        match searched(terms, &conditions) {
            Some(Progress::Found(_)) => prop_assert!(any),
            Some(Progress::Exhausted) => prop_assert!(!any),
            Some(Progress::Stopped) => prop_assert!(false, "five variables"),
            // Too many constraints have no table.
            None => {}
        }
    }
}
