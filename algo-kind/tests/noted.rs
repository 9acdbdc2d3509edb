// SPDX-License-Identifier: Apache-2.0
//! What held when a variable got its value.

mod common;

use common::proves;

/// A search for the first number that is not less than a key by bisection, with the condition of its branch and its last claim.
fn bisection(test: &str, claim: &str) -> String {
    format!(
        "int main(void) {{ int n = __VERIFIER_nondet_int(), key = __VERIFIER_nondet_int(); assume(n > 0 && n <= 1000);
        int a[1000]; for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
        int low = 0, high = n;
        while (low < high) {{ int m = low + (high - low) / 2; if ({test}) low = m + 1; else high = m; }}
        {claim} return 0; }}"
    )
}

#[test]
fn bounds_of_a_bisection() {
    let numbers = |claim| bisection("3 * m + 1 < key", claim);
    assert!(proves(&numbers("if (low < n) check(3 * low + 1 >= key);")));
    assert!(proves(&numbers("if (low > 0) check(3 * (low - 1) + 1 < key);")));
    assert!(!proves(&numbers("if (low > 0) check(3 * low + 1 < key);")));
}

#[test]
fn elements_beside_the_bounds_of_a_bisection() {
    let elements = |claim| bisection("a[m] < key", claim);
    assert!(proves(&elements("if (low < n) check(a[low] >= key);")));
    assert!(proves(&elements("if (low > 0) check(a[low - 1] < key);")));
    assert!(!proves(&elements("check(a[low] >= key);")));
}

#[test]
fn positions_of_the_last_find() {
    let text = |start: i32| {
        format!(
            "int main(void) {{ int n = __VERIFIER_nondet_int(), key = __VERIFIER_nondet_int(); assume(n > 0 && n <= 1000);
            int a[1000]; for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
            int at = {start}; for (int i = 0; i < n; i++) if (a[i] == key) at = i;
            check(at == -1 || a[at] == key); return 0; }}"
        )
    };
    assert!(proves(&text(-1)));
    assert!(!proves(&text(0)));
}

#[test]
fn elements_that_one_of_two_exceeds() {
    // What two indices that approach each other have passed is not greater than one of the elements in between.
    let text = |step: &str| {
        format!(
            "int main(void) {{ int n = __VERIFIER_nondet_int(); assume(n > 1 && n <= 1000);
            int a[1000]; for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
            int low = 0, high = n - 1; while (low < high) {{ {step} }}
            int most = a[low]; for (int i = 0; i < n; i++) check(a[i] <= most); return 0; }}"
        )
    };
    assert!(proves(&text("if (a[low] <= a[high]) low++; else high--;")));
    assert!(!proves(&text("if (a[low] <= a[high]) high--; else low++;")));
}
