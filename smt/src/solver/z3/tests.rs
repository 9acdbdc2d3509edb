// SPDX-License-Identifier: Apache-2.0
//! Tests of the Z3 back end: answers, cores, models, bounds, limits, memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::context::{Context, c_string, text};
use super::spacer::{ChainResult, ChainStep, solve_chain};
use super::{Z3Config, Z3Logic, Z3Solver, eliminate, tactic_apply};
use crate::solver::{CheckResult, Limits, Solver, TimeLeft};
use crate::term::reference::{Decoder, Env, env_value};
use crate::term::{BvBin, BvCmp, FpBin, FpUn, Sort, TermId, Terms, Value};

fn bv_var(terms: &mut Terms, name: &str, width: u32) -> TermId {
    let sym = terms.symbol(name, Sort::Bv(width));
    terms.var(sym, 0)
}

fn configs(logic: Z3Logic) -> [Z3Config; 5] {
    [
        Z3Config::default(),
        Z3Config { core_minimize: true, ..Z3Config::default() },
        Z3Config { logic: Some(logic), ..Z3Config::default() },
        Z3Config { logic: Some(logic), core_minimize: true, seed: 7, ..Z3Config::default() },
        Z3Config { logic: Some(logic), eager: true, ..Z3Config::default() },
    ]
}

#[test]
fn scopes_and_assumptions() {
    for config in configs(Z3Logic::QfBv) {
        let mut terms = Terms::new();
        let x = bv_var(&mut terms, "x", 32);
        let (three, five) = (terms.bv(32, 3), terms.bv(32, 5));
        let le = terms.bv_cmp(BvCmp::Ule, x, three);
        let ge = terms.bv_cmp(BvCmp::Ule, five, x);
        let mut solver = Z3Solver::new(&config);
        let limits = Limits::none();
        assert!(solver.check(&terms, &[le, ge], &limits).is_unsat());
        assert!(solver.check(&terms, &[le], &limits).is_sat());
        solver.push();
        solver.assert(&terms, le);
        assert!(solver.check(&terms, &[ge], &limits).is_unsat());
        solver.push();
        solver.assert(&terms, ge);
        assert!(solver.check(&terms, &[], &limits).is_unsat());
        solver.pop();
        assert!(solver.check(&terms, &[], &limits).is_sat());
        solver.pop();
        let CheckResult::Sat(model) = solver.check(&terms, &[ge], &limits) else { panic!("satisfiable") };
        assert_eq!(model.holds(&terms, ge), Some(true));
        assert!(model.eval(&terms, x).unwrap().as_unsigned().unwrap() >= 5);
        drop(model);
        assert_eq!(solver.stats().checks, 6);
    }
}

#[test]
fn sums_stay_as_they_were_written() {
    for (keep_sums, logic) in [(false, None), (true, None), (true, Some(Z3Logic::QfBv))] {
        let mut terms = Terms::new();
        let [x, y, z, u, v] = ["x", "y", "z", "u", "v"].map(|name| bv_var(&mut terms, name, 8));
        let mut sum = |parts: &[TermId]| {
            parts.iter().copied().reduce(|a, b| terms.bv_bin(BvBin::Add, a, b)).expect("there are parts")
        };
        let (left, right, rest) = (sum(&[x, y, z]), sum(&[x, y, u, v]), sum(&[u, v]));
        let equation = terms.eq(left, right);
        assert_eq!(terms.eq(z, rest), equation, "its normal form");
        assert_eq!(terms.sides_as_written(equation), Some((left, right)));
        let mut solver = Z3Solver::new(&Z3Config { keep_sums, logic, ..Z3Config::default() });
        solver.assert(&terms, equation);
        for (of_u, of_v, of_z, expected) in [(2, 3, 5, true), (2, 3, 4, false), (2, 3, 133, false), (200, 57, 1, true)]
        {
            let fixed = [(u, of_u), (v, of_v), (z, of_z)].map(|(x, value)| {
                let value = terms.bv(8, value);
                terms.eq(x, value)
            });
            assert_eq!(solver.check(&terms, &fixed, &Limits::none()).truth(), Some(expected));
        }
    }
}

#[test]
fn equations_are_not_written_by_means_of_themselves() {
    let mut terms = Terms::new();
    let [x, y, z, u, v] = ["x", "y", "z", "u", "v"].map(|name| bv_var(&mut terms, name, 8));
    let rest = terms.bv_bin(BvBin::Add, u, v);
    let equation = terms.eq(z, rest);
    let choice = terms.ite(equation, x, y);
    let (left, right) = (terms.bv_bin(BvBin::Add, choice, z), terms.bv_bin(BvBin::Add, choice, rest));
    assert_eq!(terms.eq(left, right), equation);
    let (a, b) = terms.sides_as_written(equation).expect("it is one of sums");
    assert!(![a, b].contains(&left) && ![a, b].contains(&right));
    let mut solver = Z3Solver::new(&Z3Config { keep_sums: true, ..Z3Config::default() });
    solver.assert(&terms, equation);
    assert!(solver.check(&terms, &[], &Limits::none()).is_sat());
}

#[test]
fn cores_name_compound_assumptions() {
    for config in configs(Z3Logic::QfBv) {
        let mut terms = Terms::new();
        let vars: Vec<TermId> = ["a", "b", "c", "d"].iter().map(|n| bv_var(&mut terms, n, 8)).collect();
        let zero = terms.bv(8, 0);
        let one = terms.bv(8, 1);
        let zeros: Vec<TermId> = vars.iter().map(|&v| terms.eq(v, zero)).collect();
        let ones: Vec<TermId> = vars.iter().map(|&v| terms.eq(v, one)).collect();
        let mut assumptions = Vec::new();
        for i in 0..3 {
            let either = terms.or(zeros[i], ones[i + 1]);
            assumptions.push(either);
        }
        // Together with "a is not 0 and b is not 1", the first assumption fails; the others do not matter.
        let (na, nb) = (terms.not(zeros[0]), terms.not(ones[1]));
        let neither = terms.and(na, nb);
        assumptions.push(neither);
        assumptions.push(TermId::TRUE);
        let mut solver = Z3Solver::new(&config);
        let CheckResult::Unsat(core) = solver.check(&terms, &assumptions, &Limits::none()) else { panic!("unsat") };
        assert!(core.contains(0) && core.contains(3), "{core:?}");
        assert!(!config.core_minimize || core.indices() == [0, 3], "{core:?}");
        let with_false = [assumptions[1], TermId::FALSE];
        let CheckResult::Unsat(core) = solver.check(&terms, &with_false, &Limits::none()) else { panic!("unsat") };
        assert_eq!(core.indices(), [1]);
    }
}

#[test]
fn bounds_hold_where_they_are_needed() {
    for config in configs(Z3Logic::QfLia) {
        let mut terms = Terms::new();
        let sym = terms.bounded_symbol("x", -3, 10);
        let (x, x1) = (terms.var(sym, 0), terms.var(sym, 1));
        let eleven = terms.int(11);
        let high = terms.int_ge(x, eleven);
        let high1 = terms.int_ge(x1, eleven);
        let either = terms.or(high, high1);
        let mut solver = Z3Solver::new(&config);
        let limits = Limits::none();
        assert!(solver.check(&terms, &[either], &limits).is_unsat());
        solver.push();
        solver.assert(&terms, high);
        assert!(solver.check(&terms, &[], &limits).is_unsat());
        solver.pop();
        // The bounds asserted in the closed scope are gone and must come again.
        assert!(solver.check(&terms, &[high], &limits).is_unsat());
        solver.push();
        solver.push();
        solver.assert(&terms, either);
        solver.pop();
        assert!(solver.check(&terms, &[either], &limits).is_unsat());
        solver.pop();
        let free = terms.bounded_symbol("y", 4, 9);
        let y = terms.var(free, 0);
        let CheckResult::Sat(model) = solver.check(&terms, &[], &limits) else { panic!("sat") };
        assert_eq!(model.eval(&terms, y), Some(Value::Int(4)));
    }
}

#[test]
fn large_numbers() {
    let mut terms = Terms::new();
    let x = bv_var(&mut terms, "x", 128);
    let big = terms.bv(128, u128::MAX - 12);
    let t = terms.eq(x, big);
    let sym = terms.symbol("i", Sort::Int);
    let i = terms.var(sym, 0);
    let huge = terms.int(i128::MAX - 1);
    let s = terms.eq(i, huge);
    let mut solver = Z3Solver::new(&Z3Config::default());
    let CheckResult::Sat(model) = solver.check(&terms, &[t, s], &Limits::none()) else { panic!("sat") };
    assert_eq!(model.eval(&terms, x), Some(Value::Bv { width: 128, bits: u128::MAX - 12 }));
    assert_eq!(model.eval(&terms, i), Some(Value::Int(i128::MAX - 1)));
    drop(model);
    let max = terms.int(i128::MAX);
    let (above, other) = (terms.int_gt(i, huge), terms.ne(i, max));
    let CheckResult::Sat(model) = solver.check(&terms, &[above, other], &Limits::none()) else { panic!("sat") };
    assert_eq!(model.eval(&terms, i), None);
}

/// The factors of a product of two primes near 2^60: out of reach in the time given here.
fn hard(terms: &mut Terms) -> TermId {
    let x = bv_var(terms, "p", 128);
    let y = bv_var(terms, "q", 128);
    let product = terms.bv_bin(BvBin::Mul, x, y);
    let n = terms.bv(128, 1_152_921_504_606_846_883 * 2_305_843_009_213_693_951);
    let limit = terms.bv(128, 1 << 62);
    let one = terms.bv(128, 1);
    let parts = [
        terms.eq(product, n),
        terms.bv_cmp(BvCmp::Ult, x, limit),
        terms.bv_cmp(BvCmp::Ult, y, limit),
        terms.bv_cmp(BvCmp::Ult, one, x),
        terms.bv_cmp(BvCmp::Ule, x, y),
    ];
    terms.and_all(&parts)
}

#[test]
fn conversions_of_floats_are_decided_under_assumptions() {
    for config in configs(Z3Logic::QfBv) {
        let mut terms = Terms::new();
        let (s, r, label) = (bv_var(&mut terms, "s", 64), bv_var(&mut terms, "r", 32), bv_var(&mut terms, "label", 1));
        let start = terms.bv(64, u128::from(3.25f64.to_bits()));
        let factor = terms.bv(64, u128::from(4f64.to_bits()));
        let product = terms.fp_bin(FpBin::Mul, factor, s);
        let converted = terms.fp_un(FpUn::ToInt { signed: true, bits: 32 }, product);
        let square = terms.bv_bin(BvBin::Mul, r, r);
        let (one, twelve, on) = (terms.bv(32, 1), terms.bv(32, 12), terms.bv(1, 1));
        let scaled = terms.bv_bin(BvBin::Mul, square, twelve);
        let sum = terms.bv_bin(BvBin::Add, scaled, one);
        let assumption = terms.eq(label, on);
        let off = terms.not(assumption);
        let (equal, from, unit) = (terms.eq(converted, sum), terms.eq(s, start), terms.eq(r, one));
        let differ = terms.not(equal);
        let mut solver = Z3Solver::new(&config);
        for fact in [from, unit, differ] {
            let labelled = terms.or(fact, off);
            solver.assert(&terms, labelled);
        }
        assert!(matches!(solver.check(&terms, &[assumption], &Limits::none()), CheckResult::Unsat(_)), "{config:?}");
        assert!(matches!(solver.check(&terms, &[off], &Limits::none()), CheckResult::Sat(_)), "{config:?}");
    }
}

#[test]
fn limits_end_a_call_and_the_solver_stays_usable() {
    for config in configs(Z3Logic::QfBv) {
        let mut terms = Terms::new();
        let t = hard(&mut terms);
        let mut solver = Z3Solver::new(&config);
        solver.push();
        solver.assert(&terms, t);
        let start = Instant::now();
        let CheckResult::Unknown(reason) = solver.check(&terms, &[], &Limits::time(Duration::from_millis(100))) else {
            panic!("no answer in time")
        };
        assert_eq!(reason, "timeout");

        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());

        // What several calls have together is asked for before each one.
        let start = Instant::now();
        let left = TimeLeft::new(move || Duration::from_millis(300).saturating_sub(start.elapsed()));
        let limits = Limits { left: Some(left), ..Limits::none() };
        for _ in 0..2 {
            assert!(matches!(solver.check(&terms, &[], &limits), CheckResult::Unknown(_)), "no answer in time");
        }
        assert!(limits.interrupted());

        let flag = Arc::new(AtomicBool::new(false));
        let limits = Limits { interrupt: Some(Arc::clone(&flag)), ..Limits::none() };
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            flag.store(true, Ordering::Relaxed);
        });
        let CheckResult::Unknown(reason) = solver.check(&terms, &[], &limits) else { panic!("no answer in time") };
        assert_eq!(reason, "interrupted");
        other.join().unwrap();
        assert!(matches!(solver.check(&terms, &[], &limits), CheckResult::Unknown(_)), "the flag is still set");
        solver.pop();
        let x = bv_var(&mut terms, "p", 128);
        let k = terms.bv(128, 17);
        let t = terms.eq(x, k);
        let CheckResult::Sat(model) = solver.check(&terms, &[t], &Limits::none()) else { panic!("sat") };
        assert_eq!(model.eval(&terms, x), Some(Value::Bv { width: 128, bits: 17 }));
    }
}

/// x := 0, y := 0; then steps that count both; then x != y.
fn counters(terms: &mut Terms, sort: Sort, steps: usize) -> (Vec<ChainStep>, [TermId; 2]) {
    let (sx, sy) = (terms.symbol("x", sort), terms.symbol("y", sort));
    let (x, y) = (terms.var(sx, 0), terms.var(sy, 0));
    let (zero, one) = match sort {
        Sort::Bv(width) => (terms.bv(width, 0), terms.bv(width, 1)),
        Sort::Int | Sort::Bool | Sort::Array { .. } => (terms.int(0), terms.int(1)),
    };
    let mut plus = |t: TermId| if sort == Sort::Int { terms.int_add(t, one) } else { terms.bv_bin(BvBin::Add, t, one) };
    let (next_x, next_y) = (plus(x), plus(y));
    let mut chain = vec![ChainStep { pre: vec![], relation: TermId::TRUE, post: vec![(sx, zero), (sy, zero)] }];
    for _ in 0..steps {
        let post = vec![(sx, next_x), (sy, next_y)];
        chain.push(ChainStep { pre: vec![sx, sy], relation: TermId::TRUE, post });
    }
    let differ = terms.ne(x, y);
    chain.push(ChainStep { pre: vec![sx, sy], relation: differ, post: vec![] });
    (chain, [x, y])
}

#[test]
fn spacer_finds_the_invariant_of_a_chain() {
    for sort in [Sort::Int, Sort::Bv(32)] {
        let mut terms = Terms::new();
        let (chain, [x, y]) = counters(&mut terms, sort, 6);
        let result = solve_chain(&mut terms, &Z3Config::default(), &chain, &Limits::none());
        let ChainResult::Unreachable(cuts) = result else { panic!("{result:?}") };
        assert_eq!(cuts.len(), 7);
        let equal = terms.eq(x, y);
        let mut solver = Z3Solver::new(&Z3Config::default());
        for cut in cuts {
            let wrong = terms.ne(cut, equal);
            assert!(solver.check(&terms, &[wrong], &Limits::none()).is_unsat(), "{}", terms.display(cut));
        }
        let (mut chain, _) = counters(&mut terms, sort, 3);
        chain[2].post.pop();
        chain[2].post.push((terms.as_var(y).unwrap().0, x));
        let result = solve_chain(&mut terms, &Z3Config::default(), &chain, &Limits::none());
        assert_eq!(result, ChainResult::Reachable);
    }
}

#[test]
fn spacer_knows_bounds_and_choices() {
    let mut terms = Terms::new();
    let sym = terms.bounded_symbol("n", 0, 10);
    let input = terms.symbol("in", Sort::Bool);
    let (n, choice, ten) = (terms.var(sym, 0), terms.var(input, 1), terms.int(10));
    let one = terms.int(1);
    let (more, most) = (terms.int_add(n, one), terms.int_gt(n, ten));
    let next = terms.ite(choice, n, more);
    let chain = [
        ChainStep { pre: vec![], relation: TermId::TRUE, post: vec![(sym, ten)] },
        ChainStep { pre: vec![sym], relation: TermId::TRUE, post: vec![(sym, next)] },
        ChainStep { pre: vec![sym], relation: most, post: vec![] },
    ];
    let result = solve_chain(&mut terms, &Z3Config::default(), &chain, &Limits::none());
    assert!(matches!(result, ChainResult::Unreachable(_)), "{result:?}");
}

#[test]
fn tactics() {
    let mut terms = Terms::new();
    let sym = terms.symbol("x", Sort::Int);
    let other = terms.symbol("y", Sort::Int);
    let (x, y) = (terms.var(sym, 0), terms.var(other, 0));
    let (three, five) = (terms.int(3), terms.int(5));
    let (a, b) = (terms.int_le(x, three), terms.int_le(x, five));
    let (c, not_b) = (terms.int_le(y, three), terms.not(b));
    let either = terms.or(not_b, c);
    let t = terms.and(a, either);
    let expected = terms.and(a, c);
    let simple = tactic_apply(&mut terms, &["simplify", "solver-subsumption"], t, &Limits::none());
    assert_eq!(simple, Some(expected));
    assert_eq!(tactic_apply(&mut terms, &["no-such-tactic"], t, &Limits::none()), None);
    let equal = terms.eq(x, y);
    let t = terms.and(equal, a);
    let projected = eliminate(&mut terms, &["qe-light"], &[(sym, 0)], t, &Limits::none());
    assert_eq!(projected, Some(terms.int_le(y, three)));
    let bounded = terms.bounded_symbol("b", 0, 7);
    let z = terms.var(bounded, 0);
    let less = terms.int_lt(y, z);
    let projected = eliminate(&mut terms, &["qe"], &[(bounded, 0)], less, &Limits::none());
    let seven = terms.int(7);
    let expected = terms.int_lt(y, seven);
    assert_eq!(projected, Some(expected), "{}", terms.display(projected.unwrap()));
}

#[test]
fn deep_formulas_are_no_problem() {
    let mut terms = Terms::new();
    let sym = terms.symbol("c", Sort::Bool);
    let value = terms.symbol("v", Sort::Bv(4));
    let zero = terms.bv(4, 0);
    let mut tree = terms.var(value, 0);
    for i in 1..=20_000 {
        let (c, v) = (terms.var(sym, i), terms.var(value, i % 50));
        let next = terms.bv_bin(BvBin::Xor, tree, v);
        tree = terms.ite(c, next, v);
    }
    let equal = terms.eq(tree, zero);
    let mut solver = Z3Solver::new(&Z3Config::default());
    let limits = Limits::time(Duration::from_secs(120));
    let CheckResult::Sat(model) = solver.check(&terms, &[equal], &limits) else { panic!("satisfiable") };
    assert_eq!(model.holds(&terms, equal), Some(true));
}

/// What Z3 answers to a script.
fn run_script(script: &str) -> String {
    let context = Context::new().unwrap();
    let script = c_string(script);
    // SAFETY: context and string are alive.
    text(unsafe { z3_sys::Z3_eval_smtlib2_string(context.raw(), script.as_ptr()) })
}

proptest! {
    #![proptest_config(crate::term::config(100))]

    #[test]
    fn scripts_mean_what_the_terms_mean(
        bytes in prop::collection::vec(any::<u8>(), 1..120),
        bools in any::<[bool; 3]>(),
        bits in any::<[u8; 3]>(),
        ints in prop::array::uniform3(-7i8..8),
    ) {
        let env = Env { bools, bits, ints };
        let expr = Decoder::new(&bytes, true).expr(Sort::Bool, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        let mut formulas = vec![t];
        for (sym, index) in terms.symbols(t) {
            let value = env_value(&terms, &env, sym);
            let (x, k) = (terms.var(sym, index), terms.value(value));
            formulas.push(terms.eq(x, k));
        }
        let script = format!("{}(check-sat)", terms.smtlib(&formulas));
        let expected = if expr.eval(&env) == Value::Bool(true) { "sat" } else { "unsat" };
        // The option comes too late in a context, and makes no difference here.
        let (_, rest) = script.split_once('\n').unwrap();
        let answer = run_script(rest);
        prop_assert_eq!(answer.trim(), expected, "{}", script);
    }
}

/// An array that is written or not, on and on: as many ways from a read to the array variable as there are subsets of writes.
#[test]
fn a_read_over_many_choices_depends_on_one_cell() {
    let mut terms = Terms::new();
    let sort = Sort::Array { index: 8, element: 8 };
    let array = terms.symbol("a", sort);
    let mut now = terms.var(array, 0);
    let (nine, at) = (terms.bv(8, 9), bv_var(&mut terms, "at", 8));
    for i in 0..32 {
        let place = bv_var(&mut terms, &format!("place{i}"), 8);
        let c = terms.symbol(&format!("c{i}"), Sort::Bool);
        let c = terms.var(c, 0);
        let value = terms.bv(8, u128::from(i as u8));
        let written = terms.store(now, place, value);
        now = terms.ite(c, written, now);
    }
    let read = terms.select(now, at);
    let wanted = terms.eq(read, nine);
    for eager in [false, true] {
        let mut solver = Z3Solver::new(&Z3Config { eliminate_arrays: true, eager, ..Z3Config::default() });
        solver.assert(&terms, wanted);
        let CheckResult::Sat(model) = solver.check(&terms, &[], &Limits::none()) else { panic!("sat") };
        assert_eq!(model.eval(&terms, read), Some(Value::Bv { width: 8, bits: 9 }));
    }
}
