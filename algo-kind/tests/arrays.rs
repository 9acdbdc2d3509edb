// SPDX-License-Identifier: Apache-2.0
//! Facts about all elements of arrays, and programs that differ a little, for which they do not hold.

mod common;

use common::proves;

#[test]
fn what_is_copied_on_a_condition() {
    let text = |test: &str| {
        format!(
            "int b[1000]; int main(void) {{ int i = 0, j = 0;
            while (i < 1000) {{ int a = __VERIFIER_nondet_int(); if ({test}) {{ b[j] = a; j++; }} i++; }}
            for (i = 0; i < j; i++) check(b[i] >= 0); return 0; }}"
        )
    };
    assert!(proves(&text("a >= 0")));
    assert!(!proves(&text("a >= -1")));
}

#[test]
fn conditions_of_the_program_for_all_elements() {
    let text = |test: &str| {
        format!(
            "int a[1000], b[1000]; int main(void) {{ int i, j = 0;
            for (i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
            for (i = 0; i < 1000; i++) if (a[i] % 4 == 3) b[j++] = a[i];
            for (i = 0; i < j; i++) check({test}); return 0; }}"
        )
    };
    assert!(proves(&text("b[i] % 4 == 3")));
    assert!(!proves(&text("b[i] % 8 == 3")));
}

#[test]
fn neighbours() {
    let text = |test: &str| {
        format!(
            "int a[1000], m[1000]; int main(void) {{ int i;
            for (i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
            m[0] = a[0];
            for (i = 1; i < 1000; i++) if (a[i] > m[i - 1]) m[i] = a[i]; else m[i] = m[i - 1];
            for (i = 1; i < 1000; i++) check({test}); return 0; }}"
        )
    };
    assert!(proves(&text("m[i - 1] <= m[i]")));
    assert!(!proves(&text("m[i - 1] < m[i]")));
}

#[test]
fn the_least_is_where_it_was_found() {
    let text = |first: &str| {
        format!(
            "int a[100]; int main(void) {{ int n = __VERIFIER_nondet_int(); assume(n > 0 && n <= 100);
            for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
            int m = 0; for (int i = {first}; i < n; i++) if (a[i] < a[m]) m = i;
            for (int i = 0; i < n; i++) check(a[m] <= a[i]); return 0; }}"
        )
    };
    assert!(proves(&text("1")));
    assert!(!proves(&text("2")));
}

#[test]
fn the_greatest_goes_to_the_end() {
    let text = |end: &str| {
        format!(
            "int a[1000]; int main(void) {{ int i; for (i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
            for (i = 0; i < {end}; i++) if (a[i] > a[i + 1]) {{ int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; }}
            for (i = 0; i < 1000; i++) check(a[i] <= a[999]); return 0; }}"
        )
    };
    assert!(proves(&text("999")));
    assert!(!proves(&text("998")));
}

#[test]
fn what_is_in_front_is_not_greater_than_the_first_one_behind() {
    let text = |test: &str| {
        format!(
            "int a[1000]; int main(void) {{ int n = __VERIFIER_nondet_int(); assume(n >= 1 && n <= 1000); int i, k;
            for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
            for (i = n - 1; i > 0; i--) for (k = 0; k < i; k++) if (a[k] > a[k + 1]) {{
                int t = a[k]; a[k] = a[k + 1]; a[k + 1] = t; }}
            for (k = 1; k < n; k++) check({test}); return 0; }}"
        )
    };
    assert!(proves(&text("a[k - 1] <= a[k]")));
    assert!(!proves(&text("a[k - 1] < a[k]")));
}

#[test]
fn no_run_comes_behind_the_loop() {
    // What is known of the elements in front of i holds behind the loop, too.
    let text = |first: &str| {
        format!(
            "int a[100000]; int main(void) {{ int i, k, x;
            for (i = 0; i < 100000; i++) a[i] = __VERIFIER_nondet_int();
            for (i = 0; i < 100000; i++) {{ int s = i; for (k = {first}; k < 100000; k++) if (a[k] < a[s]) s = k;
                int t = a[s]; a[s] = a[i]; a[i] = t; }}
            for (x = 1; x < 100000; x++) check(a[x - 1] <= a[x]); return 0; }}"
        )
    };
    assert!(proves(&text("i + 1")));
    assert!(!proves(&text("i + 2")));
}

#[test]
fn a_loop_that_is_jumped_into() {
    let text = |most: u32| {
        format!(
            "int a[1000]; int main(void) {{ int i = 0, j = 0; if (__VERIFIER_nondet_int()) goto inner;
            for (i = 0; i < 500; i++) {{ j = 0; while (j < 900) {{ inner: a[j] = i; j++; }} }}
            check(a[0] <= {most}); return 0; }}"
        )
    };
    assert!(proves(&text(499)));
    assert!(!proves(&text(498)));
}

#[test]
fn while_a_flag_is_clear() {
    let text = |clear: &str, test: &str| {
        format!(
            "int a[1000]; int main(void) {{ int i, swapped = 1;
            for (i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
            while (swapped) {{ {clear} for (i = 1; i < 1000; i++) if (a[i - 1] > a[i]) {{
                int t = a[i]; a[i] = a[i - 1]; a[i - 1] = t; swapped = 1; }} }}
            for (i = 1; i < 1000; i++) check({test}); return 0; }}"
        )
    };
    assert!(proves(&text("swapped = 0;", "a[i - 1] <= a[i]")));
    assert!(!proves(&text("swapped = 0;", "a[i - 1] < a[i]")));
    assert!(!proves(&text("swapped = 0; if (__VERIFIER_nondet_int()) break;", "a[i - 1] <= a[i]")));
}

#[test]
fn a_value_that_is_also_stored() {
    // The search cannot miss the value behind the others.
    let text = |last: &str| {
        format!(
            "int a[1001]; int main(void) {{ int n = __VERIFIER_nondet_int(), key = __VERIFIER_nondet_int(), i;
            assume(n >= 0 && n <= 1000);
            for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
            a[{last}] = key; i = 0; while (a[i] != key) i++;
            check(i <= n); for (int j = 0; j < i; j++) check(a[j] != key); return 0; }}"
        )
    };
    assert!(proves(&text("n")));
    assert!(!proves(&text("n > 0 ? n - 1 : 1")));
}

#[test]
fn bounds_that_are_compared_with_bounds() {
    let text = |step: &str| {
        format!(
            "int a[1000]; int main(void) {{ int n = __VERIFIER_nondet_int(), key = __VERIFIER_nondet_int(), i;
            assume(n > 0 && n <= 1000);
            for (i = 0; i < n; i++) a[i] = 2 * i;
            int lo = 0, hi = n;
            while (lo < hi) {{ int mid = lo + (hi - lo) / 2; if (a[mid] < key) lo = {step}; else hi = mid; }}
            for (i = 0; i < lo; i++) check(a[i] < key);
            for (i = lo; i < n; i++) check(a[i] >= key); return 0; }}"
        )
    };
    assert!(proves(&text("mid + 1")));
    assert!(!proves(&text("mid + 2")));
}

#[test]
fn conditions_about_the_index() {
    let text = |test: &str| {
        format!(
            "int a[1000], c[1000]; int main(void) {{ int i, j = 0;
            for (i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
            for (i = 0; i < 1000; i++) if (a[i] > 0) c[j++] = i;
            for (int x = 0; x < j; x++) check({test}); return 0; }}"
        )
    };
    assert!(proves(&text("c[x] >= x")));
    assert!(!proves(&text("c[x] > x")));
}

#[test]
fn one_condition_or_another_one() {
    let text = |second: &str| {
        format!(
            "int a[1000]; int main(void) {{ int i;
            for (i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
            int first = a[0], second = a[1];
            if (first < second) {{ first = a[1]; second = a[0]; }}
            for (i = 2; i < 1000; i++) {{
                if (a[i] >= first) {{ second = {second}; first = a[i]; }} else if (a[i] > second) second = a[i];
            }}
            for (int x = 0; x < 1000; x++) check(a[x] <= second || a[x] == first); return 0; }}"
        )
    };
    assert!(proves(&text("first")));
    assert!(!proves(&text("second")));
}

#[test]
fn what_is_kept_in_place_and_what_was_passed_as_an_argument() {
    let text = |test: &str| {
        format!(
            "int keep(int *a, int n, int v) {{ int w = 0; for (int r = 0; r < n; r++)
            if ({test}) {{ a[w] = a[r]; w++; }} return w; }}
            int a[1000]; int main(void) {{ int n = __VERIFIER_nondet_int(), v = __VERIFIER_nondet_int();
            assume(n > 0 && n <= 1000); for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
            int m = keep(a, n, v); for (int i = 0; i < m; i++) check(a[i] != v); return 0; }}"
        )
    };
    assert!(proves(&text("a[r] != v")));
    assert!(!proves(&text("a[r] != v || r == 7")));
}

#[test]
fn growing_elements_and_the_order_of_neighbours() {
    let text = |least: i32| {
        format!(
            "int a[1000]; int main(void) {{ int n = __VERIFIER_nondet_int(); assume(n >= 2 && n <= 1000); a[0] = 0;
            for (int i = 1; i < n; i++) {{ int d = __VERIFIER_nondet_int(); assume(d >= {least} && d <= 100);
            a[i] = a[i - 1] + d; }} int j = __VERIFIER_nondet_int(); assume(j >= 0 && j < n - 1);
            check(a[j] < a[j + 1]); return 0; }}"
        )
    };
    assert!(proves(&text(1)));
    assert!(!proves(&text(0)));
}

#[test]
fn parts_of_an_object_to_which_a_variable_points() {
    let text = |step: i32| {
        format!(
            "extern void *malloc(unsigned); struct ref {{ int closed, count; }};
            int put(struct ref *r) {{ r->count -= {step}; if (r->count == 0) {{ r->closed = 1; return 1; }} return 0; }}
            int main(void) {{ struct ref *s = malloc(sizeof(struct ref)); s->closed = 0; s->count = 1; int held = 1;
            while (held > 0) {{ if (__VERIFIER_nondet_bool() && held < 10000) {{ s->count++; held++; }}
            else {{ int last = put(s); held--; check(last == (held == 0)); }} check(s->closed == (held == 0)); }}
            return 0; }}"
        )
    };
    assert!(proves(&text(1)));
    assert!(!proves(&text(2)));
}
