// SPDX-License-Identifier: Apache-2.0
//! Rewrites that the analysis relies on, by example, and canonical forms as laws.

use proptest::prelude::*;

use super::{Builder, config};
use crate::term::{BvBin, BvCmp, BvUn, Sort, Term, TermId, Terms, Value};

#[test]
fn merged_branches_leave_no_trace() {
    let mut b = Builder::new(32);
    let [pc, c, d] = ["pc", "c", "d"].map(|n| b.bool(n));
    let t = &mut b.terms;
    let (nc, nd) = (t.not(c), t.not(d));
    let (left, right) = (t.and(pc, c), t.and(pc, nc));
    assert_eq!(t.or(left, right), pc);
    // Three branches, merged in any order.
    let branches = [t.and_all(&[pc, c]), t.and_all(&[pc, nc, d]), t.and_all(&[pc, nc, nd])];
    for [i, j, k] in [[0, 1, 2], [0, 2, 1], [1, 2, 0]] {
        let first = t.or(branches[i], branches[j]);
        assert_eq!(t.or(first, branches[k]), pc);
    }
    assert_eq!(t.or_all(&branches), pc);
    // a | (!a & b) = a | b and a & (!a | b) = a & b.
    let (x, y) = (t.and(nc, d), t.or(c, d));
    assert_eq!(t.or(c, x), y);
    let (x, y) = (t.or(nc, d), t.and(c, d));
    assert_eq!(t.and(c, x), y);
}

#[test]
fn control_variables_become_conditions() {
    let mut b = Builder::new(32);
    let [c, d] = ["c", "d"].map(|n| b.bool(n));
    let s = b.var("s");
    let [k1, k2, k3, k9] = [1, 2, 3, 9].map(|v| b.k(v));
    let t = &mut b.terms;
    // c ? 1 : (d ? 2 : s)
    let inner = t.ite(d, k2, s);
    let tree = t.ite(c, k1, inner);
    assert_eq!(t.eq(tree, k1), {
        let old = t.eq(s, k1);
        let (nd, reached) = (t.not(d), old);
        let rest = t.and(nd, reached);
        t.or(c, rest)
    });
    let other = t.ite(d, k2, k3);
    let closed = t.ite(c, k1, other);
    let (nc, nd) = (t.not(c), t.not(d));
    assert_eq!(t.eq(closed, k2), t.and(nc, d));
    assert_eq!(t.eq(closed, k9), TermId::FALSE);
    assert_eq!(t.bv_cmp(BvCmp::Slt, closed, k3), t.or(c, d));
    // Arithmetic goes to the leaves too.
    let next = t.bv_bin(BvBin::Add, closed, k1);
    assert_eq!(t.eq(next, k2), c);
    let last = t.and(nc, nd);
    assert_eq!(t.bv_cmp(BvCmp::Ule, next, k3), t.not(last));
    // The truth value of a condition as an integer.
    let (one, zero) = (t.bv(32, 1), t.bv(32, 0));
    let flag = t.ite(c, one, zero);
    assert_eq!(t.ne(flag, zero), c);
    let byte = t.extract(7, 0, flag);
    let wide = t.sext(64, byte);
    let zero = t.bv(64, 0);
    assert_eq!(t.eq(wide, zero), nc);
}

#[test]
fn states_exclude_each_other() {
    let mut b = Builder::new(32);
    let s = b.var("s");
    let [k1, k2, k5] = [1, 2, 5].map(|v| b.k(v));
    let t = &mut b.terms;
    let (is1, is2) = (t.eq(s, k1), t.eq(s, k2));
    let (not1, not2) = (t.not(is1), t.not(is2));
    assert_eq!(t.and(is1, is2), TermId::FALSE);
    assert_eq!(t.and(is1, not2), is1);
    assert_eq!(t.or(not1, not2), TermId::TRUE);
    assert_eq!(t.or(not1, is2), not1);
    let small = t.bv_cmp(BvCmp::Ult, s, k5);
    assert_eq!(t.and(is1, small), is1);
    assert_eq!(t.or(not1, small), TermId::TRUE);
}

#[test]
fn comparisons_share_atoms() {
    let mut b = Builder::new(32);
    let (x, y) = (b.var("x"), b.var("y"));
    let [zero, one, k5, k6, max] = [0, 1, 5, 6, -1].map(|v| b.k(v));
    let t = &mut b.terms;
    for (le, lt) in [(BvCmp::Ule, BvCmp::Ult), (BvCmp::Sle, BvCmp::Slt)] {
        let (a, c) = (t.bv_cmp(le, x, y), t.bv_cmp(lt, y, x));
        assert_eq!(t.not(a), c);
        let (a, c) = (t.bv_cmp(le, x, k5), t.bv_cmp(le, k6, x));
        assert_eq!(t.not(a), c);
        assert_eq!(t.bv_cmp(lt, x, k6), a);
    }
    assert_eq!(t.bv_cmp(BvCmp::Ult, x, one), t.eq(x, zero));
    assert_eq!(t.bv_cmp(BvCmp::Ule, x, max), TermId::TRUE);
    assert_eq!(t.bv_cmp(BvCmp::Ult, x, max), t.ne(x, max));
    let least = t.bv(32, 1 << 31);
    assert_eq!(t.bv_cmp(BvCmp::Sle, x, least), t.eq(x, least));
    assert_eq!(t.bv_cmp(BvCmp::Sle, least, x), TermId::TRUE);
}

#[test]
fn comparisons_happen_at_the_smallest_width() {
    let mut b = Builder::new(32);
    let (x, y) = (b.narrow("x", 8), b.narrow("y", 8));
    let t = &mut b.terms;
    let (zx, zy, sx, sy) = (t.zext(32, x), t.zext(32, y), t.sext(32, x), t.sext(32, y));
    let (unsigned, signed) = (t.bv_cmp(BvCmp::Ule, x, y), t.bv_cmp(BvCmp::Sle, x, y));
    assert_eq!(t.bv_cmp(BvCmp::Sle, zx, zy), unsigned);
    assert_eq!(t.bv_cmp(BvCmp::Ule, zx, zy), unsigned);
    assert_eq!(t.bv_cmp(BvCmp::Sle, sx, sy), signed);
    assert_eq!(t.eq(zx, zy), t.eq(x, y));
    let (k300, k7, small7) = (t.bv(32, 300), t.bv(32, 7), t.bv(8, 7));
    assert_eq!(t.bv_cmp(BvCmp::Sle, zx, k300), TermId::TRUE);
    assert_eq!(t.eq(zx, k300), TermId::FALSE);
    assert_eq!(t.bv_cmp(BvCmp::Sle, sx, k7), t.bv_cmp(BvCmp::Sle, x, small7));
    // The C statement x = x + 1 on a character.
    let one = t.bv(32, 1);
    let sum = t.bv_bin(BvBin::Add, sx, one);
    let small_one = t.bv(8, 1);
    assert_eq!(t.extract(7, 0, sum), t.bv_bin(BvBin::Add, x, small_one));
    // Cuts go through nested arithmetic.
    let product = t.bv_bin(BvBin::Mul, sx, zy);
    let nested = t.bv_bin(BvBin::Sub, product, sum);
    let small_product = t.bv_bin(BvBin::Mul, x, y);
    let small_sum = t.bv_bin(BvBin::Add, x, small_one);
    assert_eq!(t.extract(7, 0, nested), t.bv_bin(BvBin::Sub, small_product, small_sum));
}

#[test]
fn sums_are_canonical() {
    let mut b = Builder::new(32);
    let [x, y, z] = ["x", "y", "z"].map(|n| b.var(n));
    let [one, two, three, five] = [1, 2, 3, 5].map(|v| b.k(v));
    let up = b.add(x, one);
    assert_eq!(b.sub(up, one), x);
    let sum = b.add(x, y);
    assert_eq!(b.sub(sum, y), x);
    assert_eq!(b.sub(sum, x), y);
    let (double, triple, five_x) = (b.mul(x, two), b.mul(x, three), b.mul(x, five));
    assert_eq!(b.add(double, triple), five_x);
    let shifted = b.terms.bv_bin(BvBin::Shl, x, one);
    assert_eq!(shifted, double);
    let (yz, zx) = (b.add(y, z), b.add(z, x));
    assert_eq!(b.add(x, yz), b.add(zx, y));
    let neg = b.terms.bv_un(BvUn::Neg, sum);
    assert_eq!(b.add(neg, sum), b.k(0));
    // A sum that was multiplied as a whole comes apart again.
    let (tripled, doubled) = (b.mul(sum, three), b.mul(sum, two));
    assert_eq!(b.sub(tripled, doubled), sum);
}

#[test]
fn polynomial_identities_need_no_solver() {
    let mut b = Builder::new(64);
    let [x, y] = ["x", "y"].map(|n| {
        let small = b.narrow(n, 32);
        b.terms.sext(64, small)
    });
    // (x + y) * (x + y) = x * x + 2 * x * y + y * y
    let sum = b.add(x, y);
    let square = b.mul(sum, sum);
    let (xx, xy, yy, two) = (b.mul(x, x), b.mul(x, y), b.mul(y, y), b.k(2));
    let xy2 = b.mul(xy, two);
    let parts = b.add(xx, xy2);
    let expanded = b.add(parts, yy);
    assert_eq!(b.terms.eq(square, expanded), TermId::TRUE);
    let one = b.k(1);
    let more = b.add(expanded, one);
    assert_eq!(b.terms.eq(square, more), TermId::FALSE);
    // The invariant of a loop that computes cubes survives its body: z' = z + 6, y' = y + z, x' = x + y, n' = n + 1.
    let [n, vx, vy, vz] = ["n", "a", "b", "c"].map(|name| b.var(name));
    let invariant = |b: &mut Builder, n: TermId, x: TermId, y: TermId, z: TermId| {
        let [one, three, six] = [1, 3, 6].map(|v| b.k(v));
        let square = b.mul(n, n);
        let cube = b.mul(square, n);
        let i = b.terms.eq(x, cube);
        let (s3, n3) = (b.mul(square, three), b.mul(n, three));
        let linear = b.add(s3, n3);
        let value = b.add(linear, one);
        let j = b.terms.eq(y, value);
        let n6 = b.mul(n, six);
        let value = b.add(n6, six);
        let k = b.terms.eq(z, value);
        [i, j, k]
    };
    let before = invariant(&mut b, n, vx, vy, vz);
    let (one, six) = (b.k(1), b.k(6));
    let (nn, nx, ny, nz) = (b.add(n, one), b.add(vx, vy), b.add(vy, vz), b.add(vz, six));
    let after = invariant(&mut b, nn, nx, ny, nz);
    assert_eq!(after[2], before[2]);
    // x defined by the invariant: substituting it and y in the precondition gives true.
    let define = |b: &Builder, eq: TermId, v: TermId| match *b.terms.get(eq) {
        Term::Eq(l, r) if l == v => r,
        Term::Eq(l, r) if r == v => l,
        _ => panic!("{}", b.terms.display(eq)),
    };
    let (dx, dy, dz) = (define(&b, before[0], vx), define(&b, before[1], vy), define(&b, before[2], vz));
    for t in after {
        let t = b.terms.substitute(t, &mut |terms, sym, _| match terms.symbol_name(sym) {
            "a" => Some(dx),
            "b" => Some(dy),
            "c" => Some(dz),
            _ => None,
        });
        assert_eq!(t, TermId::TRUE);
    }
}

#[test]
fn what_is_equal_in_both_cases_is_one_term() {
    let mut b = Builder::new(64);
    let [x, y] = ["x", "y"].map(|name| b.narrow(name, 32));
    let (zero, wide_zero) = (b.terms.bv(32, 0), b.k(0));
    let (equal, is_zero) = (b.terms.eq(x, y), b.terms.eq(x, zero));
    let (zx, zy, sx) = (b.terms.zext(64, x), b.terms.zext(64, y), b.terms.sext(64, x));
    assert_eq!(b.terms.ite(equal, x, y), y);
    assert_eq!(b.terms.ite(equal, y, x), x);
    assert_eq!(b.terms.ite(equal, zx, zy), zy);
    assert_eq!(b.terms.ite(is_zero, zero, x), x);
    assert_eq!(b.terms.ite(is_zero, wide_zero, zx), zx);
    assert_eq!(b.terms.ite(is_zero, wide_zero, sx), sx);
    // Elsewhere it is something else.
    for (t, e) in [(zero, y), (y, x)] {
        let other = b.terms.ite(is_zero, t, e);
        assert!(other != t && other != e);
    }
    let mixed = b.terms.ite(equal, zx, sx);
    assert!(mixed != zx && mixed != sx);
}

/// The greatest or least of numbers, found one after the other: a new one replaces the one so far if the comparison says so.
fn extremum(b: &mut Builder, op: BvCmp, greatest: bool, numbers: &[TermId]) -> TermId {
    numbers[1..].iter().fold(numbers[0], |so_far, &number| {
        let (low, high) = if greatest { (so_far, number) } else { (number, so_far) };
        let replaces = b.terms.bv_cmp(op, low, high);
        b.terms.ite(replaces, number, so_far)
    })
}

#[test]
fn the_greatest_element_of_a_permutation_is_the_same_term() {
    let mut b = Builder::new(64);
    let zero = b.k(0);
    let narrow: Vec<TermId> = (0..60).map(|at| b.narrow(&format!("x{at}"), 32)).collect();
    let signed: Vec<TermId> = narrow.iter().map(|&x| b.terms.sext(64, x)).collect();
    let unsigned: Vec<TermId> = narrow.iter().map(|&x| b.terms.zext(64, x)).collect();
    let cases = [
        (BvCmp::Slt, true, &signed),
        (BvCmp::Sle, true, &signed),
        (BvCmp::Slt, false, &signed),
        (BvCmp::Ult, false, &signed),
        (BvCmp::Slt, true, &unsigned),
        (BvCmp::Ule, true, &unsigned),
        (BvCmp::Ult, true, &narrow),
    ];
    for (op, greatest, numbers) in cases {
        let mut numbers = numbers.clone();
        let zero = if b.terms.width(numbers[0]) == 32 { b.terms.bv(32, 0) } else { zero };
        numbers.insert(0, zero);
        let first = extremum(&mut b, op, greatest, &numbers);
        let mut other = numbers.clone();
        other.swap(1, 2);
        assert_eq!(extremum(&mut b, op, greatest, &other), first);
        other[1..].rotate_left(1);
        assert_eq!(extremum(&mut b, op, greatest, &other), first);
        other[1..].reverse();
        assert_eq!(extremum(&mut b, op, greatest, &other), first);
        // Without its first number it is another one, except that 0 is nothing to the greatest of numbers without sign.
        let signless = numbers[1] != signed[0] && greatest;
        assert_eq!(extremum(&mut b, op, greatest, &other[1..]) == first, signless);
        assert_ne!(extremum(&mut b, op, !greatest, &other), first);
    }
}

#[test]
fn integer_constraints_are_canonical() {
    let mut terms = Terms::new();
    let t = &mut terms;
    let [x, y] = ["x", "y"].map(|n| {
        let sym = t.symbol(n, Sort::Int);
        t.var(sym, 0)
    });
    let (one, two, three) = (t.int(1), t.int(2), t.int(3));
    // 2x < 2y + 3 is x <= y + 1.
    let (x2, y2) = (t.int_mul_const(2, x), t.int_mul_const(2, y));
    let (rhs, next) = (t.int_add(y2, three), t.int_add(y, one));
    let (a, b) = (t.int_lt(x2, rhs), t.int_le(x, next));
    assert_eq!(a, b);
    let c = t.int_lt(next, x);
    assert_eq!(t.not(a), c);
    let odd = t.int_add(x2, one);
    assert_eq!(t.eq(odd, y2), TermId::FALSE);
    assert_eq!(t.eq(x2, two), t.eq(x, one));
    // Products of sums.
    let (sum, difference) = (t.int_add(x, y), t.int_sub(x, y));
    let product = t.int_mul(sum, difference);
    let (xx, yy) = (t.int_mul(x, x), t.int_mul(y, y));
    assert_eq!(product, t.int_sub(xx, yy));
}

#[test]
fn long_chains_stay_linear_and_deep_terms_are_no_problem() {
    let mut terms = Terms::new();
    let sym = terms.symbol("c", Sort::Bool);
    let value = terms.symbol("v", Sort::Bv(32));
    let zero = terms.bv(32, 0);
    let (mut conjunction, mut tree) = (TermId::TRUE, terms.var(value, 0));
    let mut sum = zero;
    let n = 100_000;
    for i in 1..=n {
        let (c, v) = (terms.var(sym, i), terms.var(value, i));
        conjunction = terms.and(conjunction, c);
        let next = terms.bv_bin(BvBin::Xor, tree, v);
        tree = terms.ite(c, next, v);
        sum = terms.bv_bin(BvBin::Add, sum, v);
    }
    assert!(terms.len() < 10 * n as usize, "{}", terms.len());
    let equal = terms.eq(tree, zero);
    let all = terms.and(conjunction, equal);
    assert!(terms.size(all) > n as usize);
    assert_eq!(terms.symbols(all).len(), 2 * n as usize + 1);
    assert_eq!(terms.atoms(all).len(), n as usize + 1);
    let shifted = terms.substitute(all, &mut |terms, sym, index| Some(terms.var(sym, index + 1)));
    assert!(terms.size(shifted) > n as usize);
    let value = terms.eval(all, &mut |sym, _| match terms.symbol_sort(sym) {
        Sort::Bool => crate::Value::Bool(true),
        Sort::Bv(_) | Sort::Int | Sort::Array { .. } => crate::Value::Bv { width: 32, bits: 0 },
    });
    assert_eq!(value, crate::Value::Bool(true));
    assert!(terms.display(all).to_string().ends_with("..."));
    let _ = terms.not(all);
    let _ = terms.lift_ites(equal, 3);
}

#[test]
fn trees_with_common_branches_are_compared_once() {
    let mut b = Builder::new(32);
    let trees = |b: &mut Builder, names: [&str; 2]| {
        let [mut last, mut tree] = names.map(|name| b.var(name));
        for level in 0..60 {
            let c = b.bool(&format!("c{level}"));
            (last, tree) = (tree, b.terms.ite(c, tree, last));
        }
        tree
    };
    let (x, y) = (trees(&mut b, ["x", "x'"]), trees(&mut b, ["y", "y'"]));
    // Each tree has as many branches as the 60th Fibonacci number.
    for op in [BvCmp::Ule, BvCmp::Sle] {
        let t = b.terms.bv_cmp(op, x, y);
        assert!(b.terms.post_order(&[t], |_| false).len() < 1000);
    }
    let t = b.terms.eq(x, y);
    assert!(b.terms.post_order(&[t], |_| false).len() < 1000);
}

#[test]
fn equations_are_solved_for_what_keeps_their_numbers_small() {
    let mut b = Builder::new(32);
    let [q, d, v] = ["q", "d", "v"].map(|name| b.var(name));
    let (three, five) = (b.k(3), b.k(5));
    let (left, right) = (b.mul(three, q), b.mul(five, d));
    let sum = b.add(left, right);
    let equation = b.terms.eq(sum, v);
    let Term::Eq(x, y) = *b.terms.get(equation) else { panic!("an equation") };
    assert_eq!([x, y].into_iter().filter(|side| *side == v).count(), 1);
}

/// A polynomial in three variables as a list of products with coefficients.
fn polynomial() -> impl Strategy<Value = Vec<(i8, Vec<usize>)>> {
    prop::collection::vec((any::<i8>(), prop::collection::vec(0usize..3, 0..4)), 1..6)
}

/// The polynomial, built in the order of its parts, each product in its order.
fn build(b: &mut Builder, p: &[(i8, Vec<usize>)], factor: i128) -> TermId {
    let vars = ["x", "y", "z"].map(|n| b.var(n));
    let mut sum = b.k(0);
    for (c, product) in p {
        let mut t = b.k(i128::from(*c) * factor);
        for &i in product {
            t = b.mul(t, vars[i]);
        }
        sum = b.add(sum, t);
    }
    sum
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn extrema_have_their_values(
        op in prop_oneof![Just(BvCmp::Slt), Just(BvCmp::Sle), Just(BvCmp::Ult), Just(BvCmp::Ule)],
        choices in prop::collection::vec((any::<bool>(), 0usize..7), 2..9),
        values in prop::array::uniform4(0u8..16),
    ) {
        let mut b = Builder::new(4);
        let symbols = ["v", "w", "x", "y"].map(|name| b.terms.symbol(name, Sort::Bv(4)));
        let number = |b: &mut Builder, at: usize| match at {
            0..4 => b.terms.var(symbols[at], 0),
            _ => b.k([0, 7, 8][at - 4]),
        };
        let value = |at: usize| if at < 4 { values[at] } else { [0, 7, 8][at - 4] };
        let holds = |low: u8, high: u8| {
            let signed = |x: u8| i16::from(x) - if x > 7 { 16 } else { 0 };
            match op {
                BvCmp::Slt => signed(low) < signed(high),
                BvCmp::Sle => signed(low) <= signed(high),
                BvCmp::Ult => low < high,
                BvCmp::Ule => low <= high,
            }
        };
        let mut term = number(&mut b, choices[0].1);
        let mut expected = value(choices[0].1);
        for &(greatest, at) in &choices[1..] {
            let (next, known) = (number(&mut b, at), value(at));
            let (low, high) = if greatest { (term, next) } else { (next, term) };
            let replaces = b.terms.bv_cmp(op, low, high);
            term = b.terms.ite(replaces, next, term);
            let (low, high) = if greatest { (expected, known) } else { (known, expected) };
            expected = if holds(low, high) { known } else { expected };
        }
        let found = b.terms.eval(term, &mut |symbol, _| {
            let at = symbols.iter().position(|other| *other == symbol).expect("one of the variables");
            Value::Bv { width: 4, bits: u128::from(values[at]) }
        });
        prop_assert_eq!(found, Value::Bv { width: 4, bits: u128::from(expected) }, "{}", b.terms.display(term));
    }

    #[test]
    fn equal_equations_are_one_atom(
        p in polynomial(),
        q in polynomial(),
        odd in any::<i32>(),
        width in prop_oneof![Just(5u32), Just(8), Just(32), Just(64)],
    ) {
        let mut b = Builder::new(width);
        let zero = b.k(0);
        let (tp, tq) = (build(&mut b, &p, 1), build(&mut b, &q, 1));
        let atom = b.terms.eq(tp, tq);
        // Swapped; as a difference; reordered; times an odd number; with something added to both sides.
        prop_assert_eq!(b.terms.eq(tq, tp), atom);
        let difference = b.sub(tp, tq);
        prop_assert_eq!(b.terms.eq(difference, zero), atom);
        let mut reversed: Vec<(i8, Vec<usize>)> = p.iter().rev().cloned().collect();
        reversed.iter_mut().for_each(|(_, product)| product.reverse());
        let odd = i128::from(odd) * 2 + 1;
        let (rp, rq) = (build(&mut b, &reversed, odd), build(&mut b, &q, odd));
        prop_assert_eq!(b.terms.eq(rp, rq), atom);
        let (sp, sq) = (b.add(rp, tq), b.add(rq, tq));
        prop_assert_eq!(b.terms.eq(sp, sq), atom);
        let (x, one) = (b.var("x"), b.k(1));
        let factor = b.add(x, one);
        let (mp, mq) = (b.mul(tp, factor), b.mul(tq, factor));
        let scaled = b.mul(difference, factor);
        let product = b.terms.eq(scaled, zero);
        prop_assert_eq!(b.terms.eq(mp, mq), product);
    }
}
