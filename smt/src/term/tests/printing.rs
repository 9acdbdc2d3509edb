// SPDX-License-Identifier: Apache-2.0
//! Infix and SMT-LIB text.

use expect_test::{Expect, expect};

use crate::term::{BvBin, BvCmp, BvUn, Sort, TermId, Terms};

fn check(build: impl FnOnce(&mut Terms) -> Vec<TermId>, expected: &Expect) {
    let mut terms = Terms::new();
    let built = build(&mut terms);
    let lines: Vec<String> = built.iter().map(|&t| terms.display(t).to_string()).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn infix() {
    check(
        |t| {
            let (b, x, y) = (t.symbol("b", Sort::Bool), t.symbol("x", Sort::Bv(32)), t.symbol("y", Sort::Bv(32)));
            let (b, x, y) = (t.var(b, 0), t.var(x, 1), t.var(y, 0));
            let (one, minus, zero) = (t.bv(32, 1), t.bv(32, u128::MAX), t.bv(32, 0));
            let up = t.bv_bin(BvBin::Add, x, one);
            let down = t.bv_bin(BvBin::Add, x, minus);
            let le = t.bv_cmp(BvCmp::Sle, up, y);
            let lt = t.bv_cmp(BvCmp::Ult, up, y);
            let negative = t.bv_cmp(BvCmp::Slt, x, zero);
            let ne = t.ne(x, y);
            let nb = t.not(b);
            let or = t.or(nb, ne);
            let and = t.and(le, or);
            let choice = t.ite(b, down, y);
            let product = t.bv_bin(BvBin::Mul, up, choice);
            let mixed = t.bv_bin(BvBin::Sub, product, y);
            let xor = t.bv_bin(BvBin::Xor, up, y);
            let bits = t.bv_un(BvUn::Not, xor);
            let part = t.extract(7, 0, bits);
            let wide = t.sext(64, part);
            let equal = t.iff(b, le);
            let large = t.not(and);
            vec![le, lt, negative, and, large, mixed, bits, wide, equal]
        },
        &expect![[r#"
            x@1 + 1 <=s y
            x@1 + 1 <u y
            x@1 <=s -1
            x@1 + 1 <=s y & (x@1 != y | !b)
            !(x@1 + 1 <=s y & (x@1 != y | !b))
            (x@1 + 1) * ite(b, x@1 - 1, y) - y
            ~(y ^ (x@1 + 1))
            sext64((~(y ^ (x@1 + 1)))[7:0])
            b <=> (x@1 + 1 <=s y)"#]],
    );
}

#[test]
fn infix_of_integers() {
    check(
        |t| {
            let (x, y) = (t.symbol("x", Sort::Int), t.symbol("y", Sort::Int));
            let (x, y) = (t.var(x, 0), t.var(y, 2));
            let (three, minus) = (t.int(3), t.int(-7));
            let x3 = t.int_mul_const(3, x);
            let difference = t.int_sub(x3, y);
            let shifted = t.int_add(difference, minus);
            let product = t.int_mul(shifted, y);
            let quotient = t.int_div(shifted, 4);
            let rest = t.int_mod(y, 4);
            let le = t.int_le(x3, y);
            let gt = t.int_gt(x, three);
            let eq = t.eq(shifted, three);
            vec![shifted, product, quotient, rest, le, gt, eq]
        },
        &expect![[r#"
            3 * x - y@2 - 7
            -7 * y@2 + 3 * x * y@2 - y@2 * y@2
            (3 * x - y@2 - 7) div 4
            y@2 mod 4
            3 * x - y@2 <= 0
            x > 3
            3 * x - y@2 = 10"#]],
    );
}

#[test]
fn smtlib_defines_shared_parts_once() {
    let mut t = Terms::new();
    let (x, n) = (t.symbol("x", Sort::Bv(8)), t.bounded_symbol("n", -2, 9));
    // A second symbol of the same name.
    let other = t.symbol("n", Sort::Bool);
    let (x, n, other) = (t.var(x, 0), t.var(n, 3), t.var(other, 0));
    let square = t.bv_bin(BvBin::Mul, x, x);
    let power = t.bv_bin(BvBin::Mul, square, square);
    let small = t.bv_cmp(BvCmp::Ule, power, square);
    let (zero, rest) = (t.int(0), t.int_mod(n, 3));
    let divisible = t.eq(rest, zero);
    let formula = t.and_all(&[small, divisible, other]);
    expect![[r#"
        (set-option :global-declarations true)
        (declare-const |n@3| Int)
        (assert (<= (- 2) |n@3| 9))
        (declare-const |n!2| Bool)
        (declare-const |x| (_ BitVec 8))
        (define-fun t!5 () (_ BitVec 8) (bvmul |x| |x|))
        (define-fun t!6 () (_ BitVec 8) (bvmul t!5 t!5))
        (define-fun t!7 () Bool (bvule t!6 t!5))
        (define-fun t!9 () Int (mod |n@3| 3))
        (define-fun t!10 () Bool (= t!9 0))
        (define-fun t!11 () Bool (and |n!2| t!7 t!10))
        (assert t!11)
    "#]]
    .assert_eq(&t.smtlib(&[formula]));
}
