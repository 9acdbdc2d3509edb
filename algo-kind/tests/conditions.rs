// SPDX-License-Identifier: Apache-2.0
//! Facts about variables that hold where a condition does.

mod common;

use common::proves;

#[test]
fn what_a_mode_says_about_other_variables() {
    let text = |least: i32| {
        format!(
            "int open, jobs; int start(void) {{ if (open) return -1; open = 1; jobs = 0; return 0; }}
            int print(void) {{ if (!open || jobs > 1000) return -1; jobs++; return 0; }}
            int flush(void) {{ if (!open || jobs == 0) return -1; jobs = 0; return 0; }}
            int main(void) {{ int mode = 0; while (1) {{ int e = __VERIFIER_nondet_int();
            if (e == 1 && mode == 0) {{ check(start() == 0); mode = 1; }}
            else if (e == 2 && mode != 0) {{ if (print() == 0) mode = 2; }}
            else if (e == 3 && mode >= {least}) {{ check(flush() == 0); mode = 1; }}
            else if (e == 4) check((mode == 0) == (open == 0)); }} return 0; }}"
        )
    };
    assert!(proves(&text(2)));
    assert!(!proves(&text(1)));
}

#[test]
fn differences_of_ordered_variables_do_not_wrap() {
    let text = |then: &str, test: &str| {
        format!(
            "int main(void) {{ int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
            if (a < 1 || b < 1 || a > 9000 || b > 9000) return 0; int x = 6 * a, y = 6 * b;
            while (x != y) {{ if (x > y) {{ {then} }} else y = y - x; }} check({test}); return 0; }}"
        )
    };
    assert!(proves(&text("x = x - y;", "x % 6 == 0 && x > 0")));
    assert!(!proves(&text("x = x - y;", "x % 12 == 0")));
    // The order is that of other values.
    assert!(!proves(&text("y = 6 * __VERIFIER_nondet_int(); x = x - y;", "x % 6 == 0")));
    assert!(!proves(&text("x = x - y; x = x - y;", "x > 0")));
    assert!(!proves(&text("check(y - x > 0); x = x - y;", "1")));
}

/// A condition at the head of a loop that another one leaves.
#[test]
fn up_and_down_again() {
    let text = |test: &str| {
        format!(
            "int main(void) {{ int n = __VERIFIER_nondet_int(); assume(n >= 1 && n <= 1000000);
            int x = 0, height = 0, peak = 0;
            while (1) {{ if (x < n) height++; else height--; if (height > peak) peak = height;
            if (height < 0) break; x++; }} check({test}); return 0; }}"
        )
    };
    assert!(proves(&text("x == 2 * n && peak == n")));
    assert!(!proves(&text("x == 2 * n && peak > n")));
}
