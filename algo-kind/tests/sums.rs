// SPDX-License-Identifier: Apache-2.0
//! Sums of the elements of arrays while elements change, and programs that differ a little, for which they do not hold.

mod common;

use common::proves;

#[test]
fn a_histogram_has_as_many_entries_as_there_were_values() {
    let text = |change: &str, total: &str| {
        format!(
            "unsigned h[10]; int main(void) {{ unsigned n = __VERIFIER_nondet_uint(), total = 0; assume(n <= 5000);
            for (int i = 0; i < 10; i++) h[i] = 0;
            for (unsigned i = 0; i < n; i++) {{ unsigned d = __VERIFIER_nondet_uint() % 10; {change} }}
            for (int i = 0; i < 10; i++) total += h[i];
            check({total}); return 0; }}"
        )
    };
    assert!(proves(&text("h[d]++;", "total == n")));
    assert!(!proves(&text("h[d] = h[d] + 1 + d / 9;", "total == n")));
}

#[test]
fn what_is_moved_from_one_element_to_another() {
    let text = |last: u32, amount: &str| {
        format!(
            "unsigned a[20]; int main(void) {{ unsigned total = 0;
            for (int i = 0; i < 20; i++) a[i] = 100;
            while (__VERIFIER_nondet_int()) {{
            unsigned from = __VERIFIER_nondet_uint() % 20, to = __VERIFIER_nondet_uint() % {last};
            unsigned x = __VERIFIER_nondet_uint() % 200; if (x <= a[from]) {{ a[from] -= x; a[to] += {amount}; }} }}
            for (int i = 0; i < 20; i++) total += a[i];
            check(total == 2000); return 0; }}"
        )
    };
    assert!(proves(&text(20, "x")));
    // What is moved behind the last one is lost.
    assert!(!proves(&text(21, "x")));
}

#[test]
fn elements_of_another_size_in_the_same_place() {
    let text = |write: &str| {
        format!(
            "union {{ unsigned a[20]; unsigned char b[80]; }} u; int main(void) {{ unsigned total = 0;
            for (int i = 0; i < 20; i++) u.a[i] = 1;
            while (__VERIFIER_nondet_int()) {{ unsigned d = __VERIFIER_nondet_uint(); assume(d < 20); {write} }}
            for (int i = 0; i < 20; i++) total += u.a[i];
            check(total == 20); return 0; }}"
        )
    };
    assert!(proves(&text("u.a[d] = 1;")));
    assert!(!proves(&text("u.b[d] = 0;")));
}
