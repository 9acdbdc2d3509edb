// SPDX-License-Identifier: Apache-2.0
//! Steps of known algorithms, and equivalence on all values of small widths.

use std::time::Duration;

use proptest::prelude::*;

use super::opaque::{Parts, without_products};
use super::{by_cases, conjectures, consequences, in_integers};
use crate::solver::{CheckResult, Limits, Solver, Z3Config, Z3Logic, Z3Solver};
use crate::term::{ArrayValue, Builder, BvBin, BvCmp, BvUn, Sort, Term, TermId, Terms, Value, config};

/// Whether the facts and the negation of the goal are found to contradict each other.
fn proves(n: &mut Builder, facts: &[TermId], goal: TermId) -> bool {
    let not = n.terms.not(goal);
    let all: Vec<TermId> = facts.iter().copied().chain([not]).collect();
    let formula = n.terms.and_all(&all);
    by_cases(&mut n.terms, formula) == Terms::fls()
}

#[test]
fn a_step_of_euclid_keeps_the_sum_of_products() {
    let mut n = Builder::new(32);
    let [x, y, u, v, a, b] = ["x", "y", "u", "v", "a", "b"].map(|name| n.var(name));
    let same = |n: &mut Builder, [x, y, u, v]: [TermId; 4]| {
        let (left, right, ab) = (n.mul(x, u), n.mul(y, v), n.mul(a, b));
        let (sum, twice) = (n.add(left, right), n.add(ab, ab));
        n.terms.eq(sum, twice)
    };
    let before = same(&mut n, [x, y, u, v]);
    let greater = n.terms.bv_cmp(BvCmp::Slt, y, x);
    let (less, more, sum) = (n.sub(x, y), n.sub(y, x), n.add(u, v));
    let (x2, y2) = (n.terms.ite(greater, less, x), n.terms.ite(greater, y, more));
    let (u2, v2) = (n.terms.ite(greater, u, sum), n.terms.ite(greater, sum, v));
    let after = same(&mut n, [x2, y2, u2, v2]);
    assert!(proves(&mut n, &[before], after));
    let wrong = same(&mut n, [x2, y2, u, v2]);
    assert!(!proves(&mut n, &[before], wrong));
}

#[test]
fn equations_are_used_together() {
    // A step of division: b = y a, x = q y + r, then r - b and q + a.
    let mut n = Builder::new(64);
    let [x, y, q, r, a, b] = ["x", "y", "q", "r", "a", "b"].map(|name| n.var(name));
    let (ya, qy) = (n.mul(y, a), n.mul(q, y));
    let qyr = n.add(qy, r);
    let facts = [n.terms.eq(b, ya), n.terms.eq(x, qyr)];
    let (r2, q2) = (n.sub(r, b), n.add(q, a));
    let qy2 = n.mul(q2, y);
    let after = n.add(qy2, r2);
    let goal = n.terms.eq(x, after);
    assert!(proves(&mut n, &facts, goal));
    assert!(!proves(&mut n, &facts[1..], goal));
}

#[test]
fn what_is_added_may_depend_on_several_conditions() {
    // A machine that takes coins: 25 or 10 go in, 35 go out.
    let mut n = Builder::new(32);
    let [balance, q, d, v] = ["balance", "q", "d", "v"].map(|name| n.var(name));
    let [is_q, is_d, is_v, enough] = ["is_q", "is_d", "is_v", "enough"].map(|name| n.bool(name));
    let paid = n.terms.and(is_v, enough);
    let sum = |n: &mut Builder, [balance, q, d, v]: [TermId; 4]| {
        let [a, b, c] = [(25, q), (10, d), (-35, v)].map(|(factor, x)| {
            let factor = n.k(factor);
            n.mul(factor, x)
        });
        let sum = n.add(a, b);
        let sum = n.add(sum, c);
        n.terms.eq(balance, sum)
    };
    let before = sum(&mut n, [balance, q, d, v]);
    let mut after = |coin: i128| {
        let [one, of_q, of_d, of_v] = [1, coin, 10, -35].map(|k| n.k(k));
        let [q1, d1, v1] = [(is_q, q), (is_d, d), (paid, v)].map(|(condition, x)| {
            let more = n.add(x, one);
            n.terms.ite(condition, more, x)
        });
        let [with_q, with_d, with_v] = [of_q, of_d, of_v].map(|more| n.add(balance, more));
        let other = n.terms.ite(paid, with_v, balance);
        let other = n.terms.ite(is_d, with_d, other);
        let after = n.terms.ite(is_q, with_q, other);
        let goal = sum(&mut n, [after, q1, d1, v1]);
        let one_at_a_time = [n.terms.and(is_q, is_d), n.terms.and(is_q, paid), n.terms.and(is_d, paid)];
        let facts: Vec<TermId> = one_at_a_time.map(|both| n.terms.not(both)).into_iter().chain([before]).collect();
        follows(&mut n, &facts, goal)
    };
    assert!(after(25));
    assert!(!after(26));
}

#[test]
fn conditions_are_counted_in_any_order() {
    let mut n = Builder::new(32);
    let conditions: Vec<TermId> = (0..40).map(|at| n.bool(&format!("c{at}"))).collect();
    let [zero, one] = [0, 1].map(|k| n.k(k));
    let mut count = |order: &[TermId], begin: TermId| {
        order.iter().fold(begin, |sum, &condition| {
            let more = n.add(sum, one);
            n.terms.ite(condition, more, sum)
        })
    };
    let forwards = count(&conditions, zero);
    let turned: Vec<TermId> = conditions.iter().rev().copied().collect();
    let (backwards, more) = (count(&turned, zero), count(&turned, one));
    let fewer = count(&turned[1..], zero);
    let mut decided = |a: TermId, b: TermId| {
        let equation = n.terms.eq(a, b);
        by_cases(&mut n.terms, equation)
    };
    assert_eq!(decided(forwards, backwards), Terms::tru());
    assert_eq!(decided(forwards, more), Terms::fls());
    assert!(![Terms::tru(), Terms::fls()].contains(&decided(forwards, fewer)));
}

#[test]
fn the_lowest_bits_of_a_product_are_those_of_its_factors() {
    let mut n = Builder::new(32);
    let [x, y] = ["x", "y"].map(|name| n.var(name));
    let product = n.mul(x, y);
    let [one, two, three] = [1, 2, 3].map(|k| n.k(k));
    let [x_low, y_low, low] = [x, y, product].map(|t| n.terms.bv_bin(BvBin::And, t, three));
    let facts = [n.terms.eq(x_low, two), n.terms.eq(y_low, three)];
    let [is_two, is_one] = [two, one].map(|k| n.terms.eq(low, k));
    let mut proved = |facts: &[TermId], goal: TermId| {
        let all: Vec<TermId> = facts.iter().copied().chain([goal]).collect();
        let all = n.terms.and_all(&all);
        let mut more = consequences(&mut n.terms, all);
        // Only what holds in any case.
        more.retain(|part| !n.terms.conjuncts(all).contains(part));
        more.extend(facts);
        follows(&mut n, &more, goal)
    };
    assert!(proved(&facts, is_two));
    assert!(!proved(&facts, is_one));
    assert!(!proved(&facts[..1], is_two));
}

/// Whether a solver finds what is left of the facts and the negation of the goal contradictory, whatever quotients are.
fn follows(n: &mut Builder, facts: &[TermId], goal: TermId) -> bool {
    let not = n.terms.not(goal);
    let all: Vec<TermId> = facts.iter().copied().chain([not]).collect();
    let formula = n.terms.and_all(&all);
    let simpler = by_cases(&mut n.terms, formula);
    let free = without_products(&mut n.terms, simpler).unwrap_or(simpler);
    let mut solver = Z3Solver::new(&Z3Config { logic: Some(Z3Logic::QfBv), ..Z3Config::default() });
    solver.assert(&n.terms, free);
    solver.check(&n.terms, &[], &Limits::none().at_most(Duration::from_secs(20))).truth() == Some(false)
}

/// A round of a loop in which the first of some divisors of x counts, in a place of its own.
fn counted(n: &mut Builder, x: TermId, counts: [TermId; 7]) -> [TermId; 7] {
    let (mut after, mut others, one) = (counts, Terms::tru(), n.k(1));
    for (count, by) in after.iter_mut().zip([9, 7, 5, 4, 3, 2, 1]) {
        let (by, zero) = (n.k(by), n.k(0));
        let rest = n.terms.bv_bin(BvBin::Urem, x, by);
        let divides = n.terms.eq(rest, zero);
        let here = n.terms.and(others, divides);
        let more = n.add(*count, one);
        *count = n.terms.ite(here, more, *count);
        let not = n.terms.not(divides);
        others = n.terms.and(others, not);
    }
    after
}

#[test]
fn each_branch_counts_in_another_place() {
    let mut n = Builder::new(32);
    let [total, x, y] = ["total", "x", "y"].map(|name| n.var(name));
    let counts = ["a", "b", "c", "d", "e", "f", "g"].map(|name| n.var(name));
    // The sum of all counts after some rounds.
    let equation = |n: &mut Builder, counts: &[TermId], rounds: i128| {
        let sum = counts[1..].iter().fold(counts[0], |sum, &part| n.add(sum, part));
        let rounds = n.k(rounds);
        let expected = n.add(total, rounds);
        n.terms.eq(sum, expected)
    };
    let before = equation(&mut n, &counts, 0);
    let after = counted(&mut n, x, counts);
    let goal = equation(&mut n, &after, 1);
    assert!(follows(&mut n, &[before], goal));
    let few = equation(&mut n, &after[1..], 1);
    assert!(!follows(&mut n, &[before], few));
    // In two rounds there are 49 cases.
    let last = counted(&mut n, y, after);
    let end = equation(&mut n, &last, 2);
    assert!(follows(&mut n, &[goal], end));
    assert!(follows(&mut n, &[before], end));
    let wrong = equation(&mut n, &last, 1);
    assert!(!follows(&mut n, &[goal], wrong));
}

#[test]
fn bounds_make_equal_and_extensions_exact() {
    // With i <= m < i + 1 and 0 < z: x (z - 1) = i z x - i x at twice the width if i is 1 ...
    let mut n = Builder::new(32);
    let [z] = ["z"].map(|name| n.var(name));
    let (zero, one) = (n.k(0), n.k(1));
    let positive = n.terms.bv_cmp(BvCmp::Slt, zero, z);
    let before = n.sub(z, one);
    let (wide_before, wide) = (n.terms.sext(64, before), n.terms.sext(64, z));
    n.width = 64;
    let [x, m] = ["x", "m"].map(|name| n.var(name));
    let (one, two) = (n.k(1), n.k(2));
    let bounds = [n.terms.bv_cmp(BvCmp::Sle, one, m), n.terms.bv_cmp(BvCmp::Slt, m, two)];
    let (left, mx) = (n.mul(x, wide_before), n.mul(m, x));
    let mxz = n.mul(mx, wide);
    let right = n.sub(mxz, mx);
    let goal = n.terms.eq(left, right);
    assert!(proves(&mut n, &[positive, bounds[0], bounds[1]], goal));
    assert!(!proves(&mut n, &bounds, goal), "z may be the least number");
    assert!(!proves(&mut n, &[positive, bounds[0]], goal), "m may be greater");
}

#[test]
fn exact_halves_and_definitions() {
    // With d = B p and p = 2 h, halves of both have the same quotient if nothing wraps around.
    let mut n = Builder::new(64);
    let [d, p, x, q] = ["d", "p", "x", "q"].map(|name| n.var(name));
    let (two, zero) = (n.k(2), n.k(0));
    let (half, rest) = (n.terms.bv_bin(BvBin::Sdiv, p, two), n.terms.bv_bin(BvBin::Srem, p, two));
    let (before, doubled) = (n.mul(p, x), n.mul(two, x));
    let after = n.mul(half, doubled);
    let goal = n.terms.eq(before, after);
    let even = n.terms.eq(rest, zero);
    assert!(proves(&mut n, &[even], goal));
    assert!(!proves(&mut n, &[], goal));
    let same = n.terms.not(goal);
    assert!(conjectures(&mut n.terms, same).contains(&even));
    // Definitions go through products: q = d p and d = x + p.
    let (dp, sum) = (n.mul(d, p), n.add(x, p));
    let facts = [n.terms.eq(q, dp), n.terms.eq(d, sum)];
    let (xp, pp) = (n.mul(x, p), n.mul(p, p));
    let expanded = n.add(xp, pp);
    let goal = n.terms.eq(q, expanded);
    assert!(proves(&mut n, &facts, goal));
    assert!(!proves(&mut n, &facts[1..], goal));
}

/// Makes formulas from bytes.
struct Maker<'b> {
    bytes: std::slice::Iter<'b, u8>,
    terms: Terms,
    /// Whether there are reads of an array.
    reads: bool,
}

/// The elements of the array.
const ELEMENTS: [u128; 8] = [5, 1, 1, 7, 0, 3, 4, 1];
const ARRAY: &str = "a";

const NARROW: u32 = 3;
const WIDE: u32 = 5;
const NAMES: [&str; 3] = ["x", "y", "z"];

impl Maker<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(*self.bytes.next().unwrap_or(&0)) % n
    }

    fn number(&mut self, width: u32, depth: u32) -> TermId {
        let choice = self.below(if depth == 0 { 3 } else { 14 });
        match choice {
            0 if width == NARROW && self.reads && depth > 0 => {
                let index = self.number(NARROW, depth - 1);
                let array = self.terms.symbol(ARRAY, Sort::Array { index: NARROW, element: NARROW });
                let array = self.terms.var(array, 0);
                self.terms.select(array, index)
            }
            0 | 1 if width == NARROW => {
                let symbol = self.terms.symbol(NAMES[self.bytes.len() % 3], Sort::Bv(NARROW));
                self.terms.var(symbol, 0)
            }
            0 | 1 => {
                let narrow = self.number(NARROW, depth.saturating_sub(1));
                if choice == 0 { self.terms.sext(width, narrow) } else { self.terms.zext(width, narrow) }
            }
            2 => {
                let bits = self.below(4) as u128;
                self.terms.bv(width, bits)
            }
            3 => {
                let (c, a, b) = (self.atom(0), self.number(width, depth - 1), self.number(width, depth - 1));
                self.terms.ite(c, a, b)
            }
            9 | 10 => {
                let op = [BvBin::Udiv, BvBin::Sdiv, BvBin::Lshr, BvBin::Urem, BvBin::Srem][self.below(5)];
                let (a, by) = (self.number(width, depth - 1), self.below(6) as u128);
                let by = self.terms.bv(width, by);
                self.terms.bv_bin(op, a, by)
            }
            11 => {
                let (a, b) = (self.number(NARROW, depth - 1), self.number(NARROW, depth - 1));
                let both = self.terms.concat(a, b);
                let lo = self.below(2) as u32;
                self.terms.extract(width - 1 + lo, lo, both)
            }
            12 => {
                let op = [BvBin::And, BvBin::Shl, BvBin::Ashr][self.below(3)];
                let (a, by) = (self.number(width, depth - 1), self.below(4) as u128);
                let by = self.terms.bv(width, by);
                self.terms.bv_bin(op, a, by)
            }
            13 => {
                let op = [BvUn::Neg, BvUn::Not][self.below(2)];
                let a = self.number(width, depth - 1);
                self.terms.bv_un(op, a)
            }
            _ => {
                let op = [BvBin::Add, BvBin::Sub, BvBin::Mul, BvBin::Mul, BvBin::Srem][choice - 4];
                let (a, b) = (self.number(width, depth - 1), self.number(width, depth - 1));
                self.terms.bv_bin(op, a, b)
            }
        }
    }

    fn atom(&mut self, depth: u32) -> TermId {
        let width = [NARROW, WIDE][self.below(2)];
        let (a, b) = (self.number(width, depth), self.number(width, depth));
        match self.below(5) {
            0 => self.terms.bv_cmp(BvCmp::Sle, a, b),
            1 => self.terms.bv_cmp(BvCmp::Ult, a, b),
            // One more than something, so that bounds meet.
            2 => {
                let one = self.terms.bv(width, 1);
                let next = self.terms.bv_bin(BvBin::Add, a, one);
                let (low, high) = (self.terms.bv_cmp(BvCmp::Sle, a, b), self.terms.bv_cmp(BvCmp::Slt, b, next));
                self.terms.and(low, high)
            }
            _ => self.terms.eq(a, b),
        }
    }

    /// An equation of a sum of choices.
    fn counts(&mut self) -> TermId {
        let mut sum = self.number(NARROW, 0);
        for _ in 0..4 {
            let (c, a, mut b) = (self.atom(0), self.number(NARROW, 0), self.number(NARROW, 1));
            if self.below(2) == 0 {
                let more = self.number(NARROW, 0);
                b = self.terms.bv_bin(BvBin::Add, a, more);
            }
            if self.below(3) == 0 {
                // What is added depends on more conditions.
                let (d, more, other) = (self.atom(0), self.terms.bv(NARROW, 2), self.terms.bv(NARROW, 5));
                let more = self.terms.ite(d, more, other);
                let more = self.terms.bv_bin(BvBin::Add, a, more);
                let d = self.atom(0);
                b = self.terms.ite(d, more, b);
            }
            let choice = self.terms.ite(c, a, b);
            sum = self.terms.bv_bin(BvBin::Add, sum, choice);
        }
        let other = self.number(NARROW, 1);
        self.terms.eq(sum, other)
    }

    /// How many of some conditions hold, in one order and in another one, with something added.
    fn counted(&mut self) -> TermId {
        let mut conditions: Vec<TermId> = (0..4).map(|_| self.atom(0)).collect();
        let steps = [1, 1, 2, 5].map(|step| self.terms.bv(NARROW, step));
        let zero = self.terms.bv(NARROW, 0);
        let mut count = |conditions: &[TermId]| {
            conditions.iter().zip(steps).fold(zero, |sum, (&condition, step)| {
                let more = self.terms.bv_bin(BvBin::Add, sum, step);
                self.terms.ite(condition, more, sum)
            })
        };
        let one = count(&conditions);
        conditions.swap(0, 1);
        let other = count(&conditions);
        let more = self.below(2) as u128;
        let more = self.terms.bv(NARROW, more);
        let other = self.terms.bv_bin(BvBin::Add, other, more);
        self.terms.eq(one, other)
    }

    fn formula(&mut self) -> TermId {
        let mut parts = Vec::new();
        if self.below(3) == 0 {
            let counted = self.counted();
            parts.push(if self.below(2) == 0 { self.terms.not(counted) } else { counted });
        }
        if self.below(2) == 0 {
            let counts = self.counts();
            parts.push(if self.below(2) == 0 { self.terms.not(counts) } else { counts });
        }
        for _ in 0..2 + self.below(5) {
            let mut part = self.atom(2);
            if self.below(3) == 0 {
                let other = self.atom(2);
                part = self.terms.or(part, other);
            }
            parts.push(if self.below(3) == 0 { self.terms.not(part) } else { part });
        }
        self.terms.and_all(&parts)
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn the_models_stay_the_same(bytes in prop::collection::vec(any::<u8>(), 20..160)) {
        let mut maker = Maker { bytes: bytes.iter(), terms: Terms::new(), reads: false };
        let formula = maker.formula();
        let mut terms = maker.terms;
        let simpler = by_cases(&mut terms, formula);
        if simpler != formula {
            let vars = NAMES.map(|name| terms.symbol(name, Sort::Bv(NARROW)));
            for bits in 0..1u128 << (3 * NARROW) {
                let value = |t| terms.eval(t, &mut |symbol, _| {
                    let at = vars.iter().position(|var| *var == symbol).expect("one of the variables");
                    Value::Bv { width: NARROW, bits: bits >> (at as u32 * NARROW) & 7 }
                });
                prop_assert_eq!(value(formula), value(simpler), "{} and {}", terms.display(formula), terms.display(simpler));
            }
        }
    }

    #[test]
    fn consequences_hold_in_all_models(bytes in prop::collection::vec(any::<u8>(), 20..160)) {
        let mut maker = Maker { bytes: bytes.iter(), terms: Terms::new(), reads: false };
        let formula = maker.formula();
        let mut terms = maker.terms;
        let more = consequences(&mut terms, formula);
        let parts = Parts::default();
        let holds = |t, bits| value(&terms, &parts, bits, t) == Value::Bool(true);
        for bits in (0..1u128 << (3 * NARROW)).filter(|&bits| holds(formula, bits)) {
            for &part in &more {
                prop_assert!(holds(part, bits), "{} for {}", terms.display(part), terms.display(formula));
            }
        }
    }

    #[test]
    fn products_are_among_the_values_of_their_variables(bytes in prop::collection::vec(any::<u8>(), 20..160)) {
        let mut maker = Maker { bytes: bytes.iter(), terms: Terms::new(), reads: false };
        let formula = maker.formula();
        let mut terms = maker.terms;
        let mut parts = Parts::default();
        let free = parts.without(&mut terms, formula).expect("the formula is small");
        prop_assert!(!terms.post_order(&[free], |_| false).into_iter().any(|t| is_opaque(&terms, t)));
        for bits in 0..1u128 << (3 * NARROW) {
            let (before, after) = (value(&terms, &parts, bits, formula), value(&terms, &parts, bits, free));
            prop_assert_eq!(before, after, "{} and {}", terms.display(formula), terms.display(free));
        }
    }
}

/// Whether a solver finds no model over integers.
fn contradicts(terms: &mut Terms, formula: TermId) -> bool {
    let Some(integers) = in_integers(terms, formula) else { return false };
    let mut solver = Z3Solver::new(&Z3Config::default());
    solver.assert(terms, integers.formula);
    solver.check(terms, &[], &Limits::none().at_most(Duration::from_secs(20))).truth() == Some(false)
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn what_has_a_model_has_one_over_integers(bytes in prop::collection::vec(any::<u8>(), 20..160)) {
        let mut maker = Maker { bytes: bytes.iter(), terms: Terms::new(), reads: true };
        let formula = maker.formula();
        let mut terms = maker.terms;
        let holds = |bits| value(&terms, &Parts::default(), bits, formula) == Value::Bool(true);
        if (0..1u128 << (3 * NARROW)).any(holds) {
            prop_assert!(!contradicts(&mut terms, formula), "{}", terms.display(formula));
        }
    }
}

#[test]
fn equal_indices_mean_equal_elements_over_integers() {
    let mut n = Builder::new(32);
    let [i, j] = ["i", "j"].map(|name| n.var(name));
    let array = n.terms.symbol("a", Sort::Array { index: 32, element: 32 });
    let array = n.terms.var(array, 0);
    let one = n.k(1);
    let next = n.add(i, one);
    let [first, second, third] = [i, j, next].map(|index| n.terms.select(array, index));
    let (above, below) = (n.terms.bv_cmp(BvCmp::Sle, i, j), n.terms.bv_cmp(BvCmp::Sle, j, i));
    let differ = |n: &mut Builder, a: TermId, b: TermId| {
        let same = n.terms.eq(a, b);
        n.terms.not(same)
    };
    let apart = differ(&mut n, first, second);
    let formula = n.terms.and_all(&[above, below, apart]);
    assert!(contradicts(&mut n.terms, formula));
    let formula = n.terms.and(above, apart);
    assert!(!contradicts(&mut n.terms, formula));
    let apart = differ(&mut n, first, third);
    let formula = n.terms.and_all(&[above, below, apart]);
    assert!(!contradicts(&mut n.terms, formula));
}

#[test]
fn a_model_over_integers_tells_bits() {
    let mut n = Builder::new(32);
    let [i, j, x] = ["i", "j", "x"].map(|name| n.var(name));
    let (array, flag) = (n.terms.symbol("a", Sort::Array { index: 32, element: 32 }), n.terms.symbol("f", Sort::Bool));
    let (array, flag) = (n.terms.var(array, 0), n.terms.var(flag, 2));
    let [first, second] = [i, j].map(|index| n.terms.select(array, index));
    let (sum, negative, large) = (n.add(x, first), n.k(0xffff_fff9), n.k(0xf000_0000));
    // The sum wraps around: x is large, the element is too.
    let parts = [
        n.terms.eq(sum, negative),
        n.terms.bv_cmp(BvCmp::Slt, second, negative),
        n.terms.bv_cmp(BvCmp::Slt, i, j),
        n.terms.bv_cmp(BvCmp::Ult, large, i),
        n.terms.bv_cmp(BvCmp::Sle, x, negative),
        n.terms.bv_cmp(BvCmp::Ult, x, large),
        flag,
    ];
    let formula = n.terms.and_all(&parts);
    let integers = in_integers(&mut n.terms, formula).expect("there are sums and reads");
    let mut solver = Z3Solver::new(&Z3Config::default());
    solver.assert(&n.terms, integers.formula);
    let CheckResult::Sat(model) = solver.check(&n.terms, &[], &Limits::none()) else { panic!("it has a model") };
    let bits = integers.model_of_bits(&n.terms, &model).expect("numbers are small");
    assert_eq!(bits.holds(&n.terms, formula), Some(true));
}

#[test]
fn sums_and_multiples_contradict_each_other_over_integers() {
    // A step that keeps s <= 3 t + d, with what is known of t and d.
    let mut n = Builder::new(32);
    let [s, t, d] = ["s", "t", "d"].map(|name| n.var(name));
    let (zero, one, three, most) = (n.k(0), n.k(1), n.k(3), n.k(1_000_000));
    let bound = |n: &mut Builder, [s, t, d]: [TermId; 3]| {
        let [s, t, d] = [s, t, d].map(|x| n.terms.sext(45, x));
        let three = n.terms.bv(45, 3);
        let t = n.terms.bv_bin(BvBin::Mul, three, t);
        let sum = n.terms.bv_bin(BvBin::Add, t, d);
        n.terms.bv_cmp(BvCmp::Sle, s, sum)
    };
    let mut facts = vec![bound(&mut n, [s, t, d])];
    for (low, x, high) in [(zero, t, most), (zero, d, three)] {
        facts.extend([n.terms.bv_cmp(BvCmp::Sle, low, x), n.terms.bv_cmp(BvCmp::Sle, x, high)]);
    }
    let t1 = n.add(t, one);
    let after = bound(&mut n, [s, t1, zero]);
    let step = n.terms.and_all(&facts);
    let not = n.terms.not(after);
    let formula = n.terms.and(step, not);
    assert!(contradicts(&mut n.terms, formula));
    // Without the bound of d the number may be lost.
    let not = n.terms.not(after);
    facts.pop();
    facts.push(not);
    let formula = n.terms.and_all(&facts);
    assert!(!contradicts(&mut n.terms, formula));
    // Numbers that wrap around.
    let (s1, next) = (n.add(s, one), n.terms.bv_cmp(BvCmp::Slt, s, zero));
    let wraps = n.terms.bv_cmp(BvCmp::Sle, zero, s1);
    let formula = n.terms.and(next, wraps);
    assert!(!contradicts(&mut n.terms, formula), "-1 + 1 is 0");
    let below = n.k(5);
    let below = n.terms.bv_cmp(BvCmp::Sle, below, s1);
    let formula = n.terms.and(next, below);
    assert!(contradicts(&mut n.terms, formula));
}

/// The value of a term where variables have the given bits, and those of products the values of the products.
fn value(terms: &Terms, parts: &Parts, bits: u128, t: TermId) -> Value {
    terms.eval(t, &mut |symbol, index| {
        if let Some(at) = NAMES.iter().position(|name| *name == terms.symbol_name(symbol)) {
            return Value::Bv { width: NARROW, bits: bits >> (at as u32 * NARROW) & 7 };
        }
        if terms.symbol_name(symbol) == ARRAY {
            let zeros = ArrayValue::constant(NARROW, NARROW, 0);
            return Value::Array((0..).zip(ELEMENTS).fold(zeros, |array, (index, element)| array.with(index, element)));
        }
        let var = terms.find_var(symbol, index);
        let (&part, _) = parts.opaque.iter().find(|(_, of)| Some(**of) == var).expect("a variable for a product");
        value(terms, parts, bits, part)
    })
}

/// Whether a term is a product of unknowns, or a remainder by an unknown or by a number that is no power of two.
fn is_opaque(terms: &Terms, t: TermId) -> bool {
    match *terms.get(t) {
        Term::BvBin(BvBin::Mul, a, b) => terms.as_value(a).is_none() && terms.as_value(b).is_none(),
        Term::BvBin(BvBin::Srem | BvBin::Urem, _, by) => terms.as_bv(by).is_none_or(|by| !by.is_power_of_two()),
        _ => false,
    }
}

#[test]
fn contradictions_that_do_not_depend_on_products() {
    // A sum over products and the same in another order, with bounds that exclude each other.
    let mut n = Builder::new(64);
    let [x, y, a, r] = ["x", "y", "a", "r"].map(|name| n.var(name));
    let (ya, sum) = (n.mul(y, a), n.add(x, y));
    let (left, xa) = (n.mul(sum, a), n.mul(a, x));
    let right = n.add(ya, xa);
    let facts = [n.terms.bv_cmp(BvCmp::Slt, left, r), n.terms.bv_cmp(BvCmp::Sle, r, right)];
    let formula = n.terms.and_all(&facts);
    assert_eq!(without_products(&mut n.terms, formula), Some(Terms::fls()));
    let free = without_products(&mut n.terms, facts[0]).expect("there are products");
    assert_eq!(n.terms.symbols(free).len(), 3, "r and two products");
    let linear = n.terms.bv_cmp(BvCmp::Slt, x, r);
    assert_eq!(without_products(&mut n.terms, linear), None);
}
