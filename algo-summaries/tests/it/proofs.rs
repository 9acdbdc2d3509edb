// SPDX-License-Identifier: Apache-2.0
//! Each program comes with a change that makes it wrong.

use crate::proved;

pub(crate) const HEAD: &str = "extern int __VERIFIER_nondet_int(void); extern short __VERIFIER_nondet_short(void);
    extern void abort(void); extern void *malloc(unsigned); extern void *calloc(unsigned, unsigned);
    void reach_error(void) { abort(); } void check(int c) { if (!c) { reach_error(); } }
    int a[1000]; int b[1000]; long long l[1000];\n";

/// Shows that the program is proved, and that it is not with `from` replaced by `to`.
pub(crate) fn right_and_wrong(body: &str, from: &str, to: &str) {
    let text = format!("{HEAD} int main(void) {{ {body} return 0; }}");
    assert!(proved(&text), "not proved:\n{body}");
    assert!(text.contains(from), "there is no '{from}'");
    let wrong = text.replacen(from, to, 1);
    assert!(!proved(&wrong), "proved, although '{to}' replaces '{from}':\n{body}");
}

#[test]
fn variables_get_polynomials() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 0 || n > 1000) return 0; int s = 0;
        for (int i = 0; i < n; i++) s += i; check(2 * s == n * (n - 1));";
    right_and_wrong(body, "n - 1", "n + 1");
    right_and_wrong(body, "i < n", "i <= n");
}

#[test]
fn arithmetic_that_wraps_around_stays_exact() {
    let body = "unsigned n = __VERIFIER_nondet_int(); unsigned s = 0;
        for (unsigned i = 0; i < n; i++) s += 3; check(s == 3 * n);";
    right_and_wrong(body, "s == 3 * n", "s / 3 == n");
}

#[test]
fn results_that_leave_their_type_are_not_taken_for_what_they_are_in_mathematics() {
    let body = |bound: &str| {
        format!(
            "{HEAD} int main(void) {{ int n = __VERIFIER_nondet_int(); if (n < 0 || n > {bound}) return 0; int s = 0;
            for (int i = 0; i < n; i++) s += 5; check(s >= 0); return 0; }}"
        )
    };
    assert!(proved(&body("400000000")));
    assert!(!proved(&body("500000000")), "5 * 450,000,000 is no int");
}

#[test]
fn loops_write_functions_of_the_position() {
    let body = "for (int i = 0; i < 1000; i++) a[i] = 2 * i; for (int i = 0; i < 1000; i++) b[i] = a[999 - i] + 1;
        for (int i = 0; i < 1000; i++) check(b[i] == 1999 - 2 * i);";
    right_and_wrong(body, "1999 - 2 * i", "1999 - i");
    right_and_wrong(body, "a[i] = 2 * i; for (int i = 0; i < 1000", "a[i] = 2 * i; for (int i = 0; i < 999");
}

#[test]
fn objects_of_any_size_are_cleared() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 0 || n > 100000) return 0; int *p = calloc(n, sizeof(int));
        for (int i = 0; i < n; i++) if (i % 3 == 1) p[i] = 5; for (int i = 0; i < n; i++) check(p[i] == 0 || p[i] == 5);";
    right_and_wrong(body, "p[i] == 0 || ", "");
    right_and_wrong(body, "calloc(n, sizeof(int))", "malloc(n * sizeof(int))");
    right_and_wrong(body, "p[i] = 5", "p[i + 1 < n ? i + 1 : 0] = i");
    // Half of an object, and one byte less than all of it.
    let cleared = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 1000) return 0; int *p = calloc(n, sizeof(int));
        for (int i = 0; i < n; i++) check(p[i] == 0);";
    let by_hand = cleared.replace("calloc(n, sizeof(int))", "malloc(4 * n); __builtin_memset(p, 0, 4 * n)");
    let text = |body: &str| format!("{HEAD} int main(void) {{ {body} return 0; }}");
    assert!(proved(&text(cleared)));
    for part in ["2 * n", "4 * n - 1", "4 * (n - 1)"] {
        assert!(!proved(&text(&by_hand.replace("0, 4 * n", &format!("0, {part}")))), "{part}");
    }
}

#[test]
fn positions_may_be_quotients() {
    let body = "unsigned n = (unsigned)__VERIFIER_nondet_int() / 8 + 2; if (n > 1000) return 0; int *p = malloc(n * sizeof(int));
        for (unsigned i = 0; i < n; i++) p[i] = 1; p[n / 2] = 7; check(p[n / 2] == 7 && p[n / 2 - 1] == 1);";
    right_and_wrong(body, "p[n / 2] = 7", "p[n / 3] = 7");
    right_and_wrong(body, "p[n / 2 - 1] == 1", "p[(n + 1) / 2] == 1");
}

#[test]
fn a_loop_may_write_less_than_another_one_reads() {
    let body =
        "for (int i = 0; i < 1000; i += 3) a[i] = 7; for (int i = 0; i < 999; i++) if (i % 3 == 0) check(a[i] == 7);";
    right_and_wrong(body, "i % 3 == 0", "i % 2 == 0");
}

#[test]
fn of_two_writes_to_one_position_the_later_one_counts() {
    let body = "for (int i = 1; i < 1000; i++) { a[i - 1] = 1; a[i] = 2; }
        for (int i = 0; i < 999; i++) check(a[i] == 1); check(a[999] == 2);";
    right_and_wrong(body, "a[999] == 2", "a[999] == 1");
    let down = "for (int i = 999; i > 0; i--) { a[i - 1] = 1; a[i] = 2; }
        for (int i = 1; i < 1000; i++) check(a[i] == 2); check(a[0] == 1);";
    right_and_wrong(down, "a[0] == 1", "a[0] == 2");
}

#[test]
fn elements_add_up() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 1000) return 0; long long s = 0;
        for (int i = 0; i < n; i++) l[i] = 3; for (int i = 0; i < n; i++) s += l[i]; check(s == 3 * n);";
    right_and_wrong(body, "l[i] = 3", "l[i] = i");
    let unknown = "short n = __VERIFIER_nondet_short(); if (n < 1 || n > 1000) return 0; long long s = 0;
        for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
        for (int i = 0; i < n; i++) s += a[i]; for (int i = 0; i < n; i++) s -= a[i]; check(s == 0);";
    right_and_wrong(unknown, "i < n; i++) s -=", "i < n - 1; i++) s -=");
}

#[test]
fn each_element_may_depend_on_the_one_before() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 1000) return 0; l[0] = 1;
        for (int i = 1; i < n; i++) l[i] = l[i - 1] + 2 * i + 1;
        for (int i = 0; i < n; i++) check(l[i] == (i + 1) * (i + 1));";
    right_and_wrong(body, "l[i] == (i + 1)", "l[i] == i");
}

#[test]
fn something_that_happened_in_some_iteration_is_remembered() {
    let body = "int same = 1; for (int i = 0; i < 1000; i++) { a[i] = __VERIFIER_nondet_int(); b[i] = __VERIFIER_nondet_int(); }
        for (int i = 0; i < 1000; i++) if (a[i] != b[i]) same = 0;
        if (same) { int k = __VERIFIER_nondet_int(); if (0 <= k && k < 1000) check(a[k] == b[k]); }";
    right_and_wrong(body, "if (same)", "if (!same)");
    right_and_wrong(body, "same = 0", "same = 1 - same");
}

#[test]
fn a_search_says_what_it_did_not_find() {
    let body = "int e = __VERIFIER_nondet_int(); int i = 0;
        for (int j = 0; j < 1000; j++) a[j] = __VERIFIER_nondet_int(); while (i < 1000 && a[i] != e) i++;
        for (int k = 0; k < i; k++) check(a[k] != e);";
    right_and_wrong(body, "k < i", "k < i + 1 && k < 1000");
}

#[test]
fn what_happens_in_the_last_iteration_only_happens_once() {
    let body = "int e = __VERIFIER_nondet_int(); int found = 0; int at = -1; int last = 0;
        for (int j = 0; j < 1000; j++) a[j] = __VERIFIER_nondet_int();
        for (int i = 0; i < 1000 && !found; i++) { last = i; if (a[i] == e) { found = 1; at = i; } }
        if (found) { check(at >= 0 && at < 1000 && at == last); check(a[at] == e); for (int k = 0; k < at; k++) check(a[k] != e); }";
    right_and_wrong(body, "k < at", "k <= at");
    right_and_wrong(body, "&& !found", "&& found < 2");
    right_and_wrong(body, "found = 1;", "found = i;");
    right_and_wrong(body, "at < 1000", "at < 999");
}

#[test]
fn new_objects_have_contents_of_their_own() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 1000000) return 0;
        int *p = malloc(n * sizeof(int)); int *q = malloc(n * sizeof(int));
        for (int i = 0; i < n; i++) p[i] = i; for (int i = 0; i < n; i++) q[i] = p[i] + 1;
        for (int i = 0; i < n; i++) check(p[i] == i);";
    right_and_wrong(body, "q[i] =", "p[i] =");
}

#[test]
fn accesses_out_of_bounds_stop_the_analysis() {
    let body = "for (int i = 0; i < 1000; i++) a[i] = 1; for (int i = 0; i < 1000; i++) check(a[i] == 1);";
    right_and_wrong(body, "i < 1000; i++) check", "i < 1001; i++) check");
}

#[test]
fn errors_within_loops_are_seen() {
    let body = "for (int i = 0; i < 1000; i++) { a[i] = i; if (i == 1000) reach_error(); }";
    right_and_wrong(body, "i == 1000", "i == 999");
    let first = "int x = __VERIFIER_nondet_int(); for (int i = 0; i < 10; i++) { if (x == 5 && i < 0) reach_error(); }";
    right_and_wrong(first, "i < 0", "i < 1");
}

#[test]
fn loops_around_calls_change_what_the_called_functions_change() {
    let text = |value: &str| {
        format!(
            "{HEAD} int g; void f(int *p, int n) {{ for (int i = 0; i < n; i++) {{ p[i] = i; g++; }} }}
            int main(void) {{ f(a, 1000); f(b, 7); for (int i = 0; i < 3; i++) f(b, 7);
            check(g == 1028); check(a[7] == {value}); return 0; }}"
        )
    };
    assert!(proved(&text("7")));
    assert!(!proved(&text("8")));
}

/// A head for programs whose arrays have an unknown length `n`.
const LENGTH: &str =
    "long long n = __VERIFIER_nondet_short(); if (n < 1) return 0; short k, r; long long s = 0; int i, j;
        int *p = malloc(sizeof(int) * n); int *q = malloc(sizeof(int) * n);
        for (i = 0; i < n; i++) { p[i] = 0; q[i] = 0; }
        while (1) { k = __VERIFIER_nondet_short(); if (k < 0 || k >= n) return 0;";

/// The end of such programs.
const TOTAL: &str = "if (__VERIFIER_nondet_int()) break; } for (i = 0; i < n; i++) s += p[i] + q[i];";

#[test]
fn writes_at_unknown_positions_bound_sums() {
    let last = format!("{LENGTH} p[k] = k; q[k] = (k == n - 1) ? k : -k; {TOTAL} check(s == 0 || s + 2 == 2 * n);");
    right_and_wrong(&last, "k == n - 1", "k >= n - 2");
    right_and_wrong(&last, "s == 0 || ", "");
    let even = format!("{LENGTH} p[k] = 1; q[k] = (k % 2 == 0) ? q[k] : -1; {TOTAL} check(2 * s <= n + 1 && s >= 0);");
    right_and_wrong(&even, "n + 1", "n");
    right_and_wrong(&even, "k % 2 == 0", "k % 2 != 2");
    let rest = format!("{LENGTH} if (k % 3 != 1) p[k] = 2; {TOTAL} check(3 * s <= 4 * n + 4 && s >= 0);");
    right_and_wrong(&rest, "4 * n + 4", "4 * n");
    let below = format!("{LENGTH} if (2 * k < n) p[k] = 3; {TOTAL} check(s >= 0 && s <= 3 * n);");
    right_and_wrong(&below, "s <= 3 * n", "s < 3 * n");
}

#[test]
fn elements_that_depend_on_how_often_they_were_written_have_no_relation() {
    let body = format!("{LENGTH} p[k] = p[k] + 1; q[n - 1 - k] = 0; {TOTAL} check(s <= 100000000);");
    assert!(!proved(&format!("{HEAD} int main(void) {{ {body} return 0; }}")));
    // The sum of both is 0, but for elements that wrapped around.
    let body = format!("{LENGTH} p[k] = p[k] + k; q[n - 1 - k] = q[n - 1 - k] - k; {TOTAL} check(s == 0);");
    assert!(!proved(&format!("{HEAD} int main(void) {{ {body} return 0; }}")));
}

/// A head for programs with a table of `n` rows.
pub(crate) const TABLE: &str =
    "long long n = __VERIFIER_nondet_short(); if (n < 2) return 0; short k, r; long long s = 0; int i, j;
        int **t = malloc(sizeof(int *) * n); for (i = 0; i < n; i++) t[i] = malloc(sizeof(int) * n);
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) t[i][j] = 0;";

/// The head of a loop that writes to it.
pub(crate) const VISIT: &str = "while (1) { r = __VERIFIER_nondet_short(); k = __VERIFIER_nondet_short();
        if (r < 0 || r >= n || k < 0 || k >= n) return 0;";

/// The end of such programs.
pub(crate) const CELLS: &str =
    "if (__VERIFIER_nondet_int()) break; } for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += t[i][j];";

#[test]
fn rows_that_a_loop_makes_are_a_table() {
    let body = format!(
        "{TABLE} for (i = 0; i < n; i++) for (j = 0; j < n; j++) t[i][j] = i - j;
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) check(t[i][j] + t[j][i] == 0);"
    );
    right_and_wrong(&body, "t[j][i]", "t[i][i]");
    right_and_wrong(&body, "t[i] = malloc(sizeof(int) * n)", "t[i] = malloc(sizeof(int) * (n - 1))");
    right_and_wrong(&body, "t[i] = malloc(sizeof(int) * n);", "t[i] = malloc(sizeof(int) * n); t[1] = t[0];");
    let sum = format!(
        "{TABLE} for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (i == j) t[i][i] = 0; else t[i][j] = j;
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += t[i][j]; check(2 * s == n * (n - 1) * (n - 1));"
    );
    right_and_wrong(&sum, "t[i][i] = 0", "t[i][i] = 1");
}

#[test]
fn pointers_may_lead_to_something_or_nowhere() {
    let text = |test: &str, made: &str| {
        format!(
            "{HEAD} struct S {{ int n; int *p; }}; struct S *t[100];
            int main(void) {{ for (int i = 0; i < 100; i++) {{ struct S *s = malloc(sizeof(struct S));
            s->n = __VERIFIER_nondet_int(); if ({made}) s->p = malloc(sizeof(int)); else s->p = 0; t[i] = s; }}
            for (int i = 0; i < 100; i++) {{ struct S *s = t[i]; if ({test}) {{ check(s->p != 0); *s->p = 1; }} }} return 0; }}"
        )
    };
    assert!(proved(&text("s->n == 3", "s->n == 3")));
    assert!(proved(&text("s->n == 3", "s->n > 0")));
    assert!(!proved(&text("s->n >= 3", "s->n == 3")));
    assert!(!proved(&text("1", "s->n == 3")));
}

#[test]
fn rows_are_not_told_apart_by_distance() {
    let text = |size: &str, index: &str| {
        format!(
            "{HEAD} int main(void) {{ int **t = malloc(sizeof(int *) * 3); for (int i = 0; i < 3; i++) t[i] = malloc({size});
            t[0][0] = 5; t[1][0] = 6; t[0][{index}] = 7; check(t[1][0] == 6); return 0; }}"
        )
    };
    assert!(proved(&text("40", "9")));
    assert!(!proved(&text("40", "10")));
    assert!(!proved(&text("40", "-1")));
}

#[test]
fn what_is_written_to_two_cells_cancels_out() {
    let rows = format!(
        "{TABLE} {VISIT} t[r][k] = (r == k) ? -1 : t[r][k];
        t[n - 1 - r][k] = (r == k) ? 1 : t[n - 1 - r][k]; {CELLS} check(s == 0 || s == 1);"
    );
    right_and_wrong(&rows, "s == 0 || s == 1", "s == 0");
    right_and_wrong(&rows, "(r == k) ? 1", "(r == k) ? 2");
    let edge = format!(
        "{TABLE} {VISIT} t[r][k] = (k == 0) ? 1 : t[r][k];
        t[r][n - 1 - k] = (k == 0) ? -1 : t[r][n - 1 - k]; {CELLS} check(s == 0);"
    );
    right_and_wrong(&edge, "t[r][n - 1 - k] = (k == 0)", "t[r][n - 1 - k] = (k == 0 && r > 0)");
}

#[test]
fn positions_that_are_shifted_have_the_same_sum() {
    let body = "long long s = 0, u = 0; for (int i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
        for (int i = 0; i < 1000; i++) s += a[i]; int first = a[0]; for (int i = 0; i < 999; i++) a[i] = a[i + 1];
        a[999] = first; for (int i = 0; i < 1000; i++) u += a[i]; check(s / 7 == u / 7);";
    right_and_wrong(body, "i < 999", "i < 998");
}

#[test]
fn positions_that_are_permuted_have_the_same_sum_of_cases() {
    let of = |summand: &str, check: &str| {
        format!(
            "int n = __VERIFIER_nondet_int(); if (n < 2 || n > 1000) return 0; long long s = 0, u = 0, v = 0;
            for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int(); for (int i = 0; i < n; i++) s += {summand};
            int first = a[0]; a[0] = a[1]; a[1] = first; for (int i = 0; i < n; i++) u += {summand};
            first = a[0]; for (int i = 0; i < n - 1; i++) a[i] = a[i + 1];
            a[n - 1] = first; for (int i = 0; i < n; i++) v += {summand}; check({check});"
        )
    };
    for summand in ["(a[i] % 2 == 0 ? 1 : -1)", "(a[i] > 5)", "a[i] % 7", "(a[i] < 0 ? -1 : a[i] == 3 ? 2 : 4)"] {
        right_and_wrong(&of(summand, "s == u && u == v"), "a[1] = first", "a[1] = first + 1");
        right_and_wrong(&of(summand, "s == u && u == v"), "a[n - 1] = first", "a[n - 1] = 4");
    }
    // Quotients of equal numbers are equal.
    right_and_wrong(&of("a[i]", "s / n == u / n && u / n == v / n"), "v / n", "v / (n - 1)");
    right_and_wrong(&of("a[i]", "s / n == u / n"), "a[1] = first", "a[1] = n");
}

#[test]
fn the_greatest_element_is_one_of_them_also_of_a_permutation() {
    let greatest = |m: &str| format!("int {m} = a[0]; for (int i = 1; i < n; i++) if (a[i] > {m}) {m} = a[i];");
    let (m, k) = (greatest("m"), greatest("k"));
    let body = |change: &str| {
        format!(
            "int n = __VERIFIER_nondet_int(); if (n < 2 || n > 1000) return 0;
            for (int i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int(); {m} int first = a[0]; {change} {k} check(m == k);"
        )
    };
    let swapped = body("a[0] = a[1]; a[1] = first;");
    right_and_wrong(&swapped, "a[0] = a[1]", "a[0] = 7");
    let rotated = body("for (int i = 0; i < n - 1; i++) a[i] = a[i + 1]; a[n - 1] = first;");
    right_and_wrong(&rotated, "a[n - 1] = first", "a[n - 1] = 4");
    // What is no element may stay: the number from before.
    let from =
        body("a[0] = a[1]; a[1] = first;").replace("int m = a[0]", "int m = 5").replace("int k = a[0]", "int k = 5");
    right_and_wrong(&from.replace("int i = 1;", "int i = 0;"), "int k = 5", "int k = 4");
}

#[test]
fn one_path_may_name_a_position_in_other_words() {
    let body = "int m = __VERIFIER_nondet_int(); if (m < 0 || m >= 1000) return 0;
        for (int i = 0; i < 1000; i++) if (i == m) a[m] = 3; else a[i] = i;
        for (int i = 0; i < 1000; i++) check(a[i] == i || i == m);";
    right_and_wrong(body, "if (i == m)", "if (i <= m)");
}

#[test]
fn a_number_is_divisible_by_itself_unless_it_is_0() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 1000) return 0;
        for (int i = 0; i < n; i++) l[i] = 1; for (int i = 0; i < n; i++) l[i] = l[i] + n;
        for (int i = 0; i < n; i++) l[i] = l[i] % (n + 1); for (int i = 0; i < n; i++) check(l[i] == 0);";
    right_and_wrong(body, "% (n + 1)", "% (n + 2)");
    right_and_wrong(body, "% (n + 1)", "/ (n + 1)");
}

#[test]
fn no_value_is_beyond_the_extremum_of_all() {
    let body = "for (int i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int(); int least = a[0]; int most = 0;
        for (int i = 0; i < 1000; i++) { if (a[i] < least) least = a[i]; if (a[i] >= most) most = a[i]; }
        int k = __VERIFIER_nondet_int(); if (k < 0 || k >= 1000) return 0; check(least <= a[k]); check(most >= a[k]); check(most >= 0);";
    right_and_wrong(body, "i < 1000; i++) { if", "i < 999; i++) { if");
    right_and_wrong(body, "least <= a[k]", "least < a[k]");
    right_and_wrong(body, "int most = 0", "int most = -1");
    right_and_wrong(body, "a[i] < least", "a[i] < least && i != 5");
}

/// A position instead of a value: of the least element, and of the last one of some kind.
#[test]
fn positions_have_extrema() {
    let body = "for (int i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int(); int least = 0;
        for (int i = 1; i < 1000; i++) if (a[i] < a[least]) least = i;
        check(least >= 0 && least < 1000); for (int i = 0; i < 1000; i++) check(a[least] <= a[i]);";
    right_and_wrong(body, "int least = 0", "int least = 1");
    right_and_wrong(body, "a[least] <= a[i]", "a[least] < a[i]");
    right_and_wrong(body, "i < 1000; i++) if", "i < 999; i++) if");
    let body =
        "int x = __VERIFIER_nondet_int(); for (int i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int(); int last = -1;
        for (int i = 0; i < 1000; i++) if (a[i] == x) last = i;
        check(last < 1000); for (int i = last + 1; i < 1000; i++) check(a[i] != x);";
    right_and_wrong(body, "int i = last + 1", "int i = last < 0 ? 0 : last");
    right_and_wrong(body, "a[i] == x) last = i;", "a[i] == x && i != 7) last = i;");
}

/// What is read in an iteration of an array that the same iteration writes is what was there before the loop.
#[test]
fn arrays_are_swapped() {
    let body = "for (int i = 0; i < 1000; i++) { a[i] = 2 * i; b[i] = i + 7; }
        for (int i = 0; i < 1000; i++) { int t = a[i]; a[i] = b[i]; b[i] = t; }
        for (int i = 0; i < 1000; i++) { check(a[i] == i + 7); check(b[i] == 2 * i); }";
    right_and_wrong(body, "b[i] = t;", "b[i] = a[i];");
    right_and_wrong(body, "a[i] = b[i]; b[i] = t", "a[i] = b[i > 0 ? i - 1 : 0]; b[i] = t");
    right_and_wrong(body, "i < 1000; i++) { int t", "i < 999; i++) { int t");
}

#[test]
fn elements_are_counted_in_both_directions() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 100000) return 0; int *p = malloc(n * sizeof(int)); int c = 0, d = 0;
        for (int i = 0; i < n; i++) { p[i] = __VERIFIER_nondet_int(); if (p[i] > 0) c++; }
        for (int i = n - 1; i >= 0; i--) if (p[i] > 0) d++;
        check(c == d);";
    right_and_wrong(body, "i >= 0", "i > 0");
    right_and_wrong(body, "p[i] > 0) d++", "p[i] >= 0) d++");
    right_and_wrong(body, "int i = n - 1", "int i = n - 2");
}

#[test]
fn inputs_have_extrema() {
    let body = "int most = -5; int last = 0; for (int i = 0; i < 9; i++) { last = __VERIFIER_nondet_int(); if (most < last) most = last; }
        check(most >= -5 && most >= last);";
    right_and_wrong(body, "most >= last", "most > last");
    right_and_wrong(body, "most = last", "most = last - 1");
}

#[test]
fn arrays_may_be_larger_than_memory() {
    let body = "int m = 1000, n = 1500; long long t[m][n][2000]; int i = 0, j = 0, k = 0;
        for (i = 0; i < m; i++) for (j = 0; j < n; j++) for (k = 0; k < 2000; k++) t[i][j][k] = i;
        for (i = 0; i < m; i++) for (j = 0; j < n; j++) for (k = 0; k < 2000; k++) check(t[i][j][k] == i);";
    right_and_wrong(body, "t[i][j][k] == i", "t[i][j][k] == j");
    right_and_wrong(body, "check(t[i][j][k]", "check(t[i][j][k + 1]");
    // Sizes of other objects are numbers modulo 2^32.
    let made = "unsigned n = 1500000000; int *t = __builtin_alloca(n * 4); int *u = __builtin_alloca(4 * n);
        for (unsigned i = 0; i < n; i++) t[i] = 1; for (unsigned i = 0; i < n; i++) check(t[i] == 1);";
    assert!(!proved(&format!("{HEAD} int main(void) {{ {made} return 0; }}")));
    let small = made.replace("1500000000", "15");
    assert!(proved(&format!("{HEAD} int main(void) {{ {small} return 0; }}")));
}

#[test]
fn loops_write_from_both_ends() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 500) return 0;
        for (int i = 0; i < n; i++) { a[2 * n - 1 - i] = 7; a[i] = i; }
        for (int i = 0; i < 2 * n; i++) check(i < n ? a[i] == i : a[i] == 7);";
    right_and_wrong(body, "a[i] == 7", "a[i] == 8");
    // The ends meet: the later iteration is the one that counts.
    right_and_wrong(body, "a[2 * n - 1 - i]", "a[2 * n - 2 - i]");
    right_and_wrong(body, "i < n; i++) { a", "i <= n; i++) { a");
}

#[test]
fn loops_mirror_one_half() {
    let body = "for (int i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
        for (int i = 0; i < 500; i++) a[i] = a[999 - i];
        for (int i = 0; i < 500; i++) check(a[i] == a[999 - i]);";
    right_and_wrong(body, "i < 500; i++) a[i]", "i < 499; i++) a[i]");
    right_and_wrong(body, "check(a[i] == a[999 - i])", "check(a[i] == a[998 - i])");
    right_and_wrong(body, "a[i] = a[999 - i]", "a[i] = a[999 - i / 2]");
}

#[test]
fn rows_begin_anew() {
    let body = "for (int i = 0; i < 300; i++) for (int j = 0; j < 3; j++)
            if (j == 0) a[3 * i + j] = 5; else a[3 * i + j] = a[3 * i + j - 1] + 2;
        for (int i = 0; i < 900; i++) check(a[i] == 5 + 2 * (i % 3));";
    right_and_wrong(body, "5 + 2 *", "5 + 3 *");
    right_and_wrong(body, "j == 0", "j == 1");
    right_and_wrong(body, "a[3 * i + j] = 5", "a[3 * i + j] = i");
}

#[test]
fn pointers_that_walk_and_loops_that_end_at_a_value() {
    let body =
        "int *end = a + 1000; for (int *p = a; p < end; p++) *p = 3; for (int *p = a; p != end; ++p) check(*p == 3);";
    right_and_wrong(body, "p < end", "p < end - 1");
    right_and_wrong(body, "p != end", "p != end + 1");
    let body = "int n = __VERIFIER_nondet_int(); if (n < 0 || n > 1000) return 0; int *p = a;
        for (int i = 0; i != n; i++) *p++ = i; for (int i = 0; i != n; i++) check(a[i] == i); check(p == a + n);";
    right_and_wrong(body, "n < 0", "n < -1");
    right_and_wrong(body, "i != n", "i != n - 1");
    right_and_wrong(body, "*p++ = i", "*p = i; p += i != 500");
    let body = "for (int i = 0; i != 1000; i += 4) a[i] = 1; for (int i = 996; i != -4; i -= 4) check(a[i] == 1);";
    right_and_wrong(body, "i += 4", "i += 8");
    right_and_wrong(body, "i != 1000", "i != 998");
    right_and_wrong(body, "i != -4", "i != -8");
}

#[test]
fn the_least_element_is_one_of_them() {
    let body = "int m; for (int i = 0; i < 1000; i++) { a[i] = __VERIFIER_nondet_int(); if (a[i] <= -100 || a[i] >= 100) return 0; }
        m = a[0]; for (int i = 1; i < 1000; i++) if (a[i] < m) m = a[i];
        for (int i = 0; i < 1000; i++) b[i] = a[i] - m; for (int i = 0; i < 1000; i++) check(b[i] >= 0);
        check(m > -100 && m < 100);";
    right_and_wrong(body, "m > -100", "m > -99");
    right_and_wrong(body, "m < 100", "m < 99");
    right_and_wrong(body, "m = a[0];", "m = -100;");
    right_and_wrong(body, "a[i] <= -100 ||", "");
    right_and_wrong(&body.replace("a[i] < m", "a[i] > m").replace("a[i] - m", "m - a[i]"), "a[i] >= 100", "a[i] > 100");
}

#[test]
fn elements_are_written_with_the_other_sign() {
    let text = |ty: &str, other: &str, value: &str, check: &str| {
        format!(
            "{HEAD} {ty} e[100]; int main(void) {{ int i, n = __VERIFIER_nondet_int(); if (n <= 0 || n > 100) return 0;
            {other} *u = ({other} *)e; for (i = 0; i < n; i++) e[i] = 0;
            for (i = 0; i < n; i++) {{ int k = __VERIFIER_nondet_int(); if (k >= 0 && k < n) u[k] = {value}; }}
            for (i = 0; i < n; i++) check({check}); return 0; }}"
        )
    };
    assert!(!proved(&text("int", "unsigned", "4000000000u", "e[i] == 0")));
    assert!(!proved(&text("unsigned", "int", "-1", "e[i] == 0")));
    assert!(!proved(&text("signed char", "unsigned char", "200", "e[i] == 0")));
    assert!(proved(&text("signed char", "unsigned char", "200", "e[i] == 0 || e[i] == -56")));
    assert!(proved(&text("unsigned", "int", "-1", "e[i] == 0 || e[i] == 4294967295u")));
}

#[test]
fn loops_may_be_left_behind_their_bodies() {
    let body = "int n = __VERIFIER_nondet_int(); if (n <= 0 || n > 1000) return 0; int i = 0;
        do { a[i] = 2 * i; i++; } while (i < n); i = 0; do { check(a[i] == 2 * i); i++; } while (i < n);";
    right_and_wrong(body, "n > 1000", "n > 1001");
    right_and_wrong(body, "check(a[i] == 2 * i)", "check(a[i] == 3 * i)");
    let steps = "int i = 1, j = 0; for (j = 0; j < 500; j++) b[j] = 3 * j; j = 0; if (i < 500) do { a[j] = b[i]; i += 6; j++; } while (i < 500);
        for (j = 0, i = 1; i < 500; i += 6, j++) check(a[j] == b[6 * j + 1]);";
    right_and_wrong(steps, "[6 * j + 1]", "[6 * j]");
}

#[test]
fn an_iteration_may_write_its_row_in_parts() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 500) return 0; int t[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) t[i][j] = -1; t[i][i] = 0; for (int j = i + 1; j < n; j++) t[i][j] = 1;
        }
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) check(t[i][j] == (j < i ? -1 : j > i));";
    right_and_wrong(body, "t[i][i] = 0", "t[i][i] = 2");
    right_and_wrong(body, "t[i][i] = 0", "t[i][0] = 0");
    right_and_wrong(body, "int j = i + 1", "int j = i + 2");
    let again = "int n = __VERIFIER_nondet_int(); if (n < 2 || n > 500) return 0; int t[n][n];
        for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) t[i][j] = j; t[i][1] = 7; for (int j = 0; j <= i; j++) t[i][j] = i; }
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) check(t[i][j] == (j <= i ? i : j == 1 ? 7 : j));";
    right_and_wrong(again, "t[i][1] = 7", "t[i][1] = j");
    right_and_wrong(again, "j <= i; j++", "j < i; j++");
}

#[test]
fn pointers_walk_through_new_objects_to_their_ends() {
    let body = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 100000) return 0; int *p = malloc(n * sizeof(int));
        int *end = p + n; int *q; for (q = p; q != end; ++q) *q = q - p; for (q = p; q < end; q++) *q += 4;
        check(q == end && q != 0); for (int i = 0; i < n; i++) check(p[i] == i + 4);";
    right_and_wrong(body, "*q += 4", "*q += 5");
    right_and_wrong(body, "q != end; ++q", "q != end; q += 2");
    right_and_wrong(body, "q < end; q++", "q <= end; q++");
    right_and_wrong(body, "q == end && q", "q == p && q");
}

#[test]
fn conditions_may_add_up() {
    let body = "for (int i = 0; i + 1 < 1000; i++) { a[i] = i; a[i + 1] = 7; } check(a[998] == 998 && a[999] == 7);";
    right_and_wrong(body, "i + 1 < 1000", "i + 1 < 999");
    right_and_wrong(body, "i + 1 < 1000", "i < 1000");
}
