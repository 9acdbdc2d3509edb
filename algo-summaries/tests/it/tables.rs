// SPDX-License-Identifier: Apache-2.0
//! Tables: arrays of arrays, and those whose rows the program numbers itself. Each program comes with a change that makes it wrong.

use crate::proofs::{CELLS, HEAD, TABLE, VISIT, right_and_wrong};
use crate::proved;

#[test]
fn tables_are_numbered_through() {
    let body = "int t[30][40]; int c = __VERIFIER_nondet_int(); for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) t[i][j] = c - j;
        for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) check(t[i][j] == c - j);";
    right_and_wrong(body, "c - j);", "c - i);");
    right_and_wrong(body, "j < 40; j++) t", "j < 39; j++) t");
}

#[test]
fn tables_may_be_filled_column_by_column() {
    let body = "int t[30][40]; int c = __VERIFIER_nondet_int(); for (int j = 0; j < 40; j++) for (int i = 0; i < 30; i++) t[i][j] = c - j;
        for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) check(t[i][j] == c - j);";
    right_and_wrong(body, "c - j);", "c - i);");
    right_and_wrong(body, "j < 40; j++) for", "j < 39; j++) for");
    right_and_wrong(body, "i < 30; i++) t", "i < 29; i++) t");
    // A part of each column.
    let part = "int t[30][40]; for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) t[i][j] = 1;
        for (int j = 5; j < 40; j++) for (int i = 10; i < 30; i++) t[i][j] = 2;
        for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) check(t[i][j] == (i < 10 || j < 5 ? 1 : 2));";
    right_and_wrong(part, "i < 10 ||", "i < 11 ||");
    right_and_wrong(part, "int j = 5", "int j = 4");
    // Columns that reach into each other: the later ones win.
    let longer = "int t[1200]; for (int j = 0; j < 50; j++) for (int i = 0; i < 20; i++) t[40 * i + j] = j;
        for (int i = 0; i < 20; i++) for (int j = 0; j < 40; j++) check(t[40 * i + j] >= 0);";
    let same = longer.replace(">= 0", "== j");
    assert!(!proved(&format!("{HEAD} int main(void) {{ {same} return 0; }}")));
    let before = "int t[30][40]; for (int j = 0; j < 40; j++) for (int i = 0; i <= j % 30; i++) t[i][j] = j;
        for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) check(t[i][j] == j);";
    assert!(!proved(&format!("{HEAD} int main(void) {{ {before} return 0; }}")));
}

#[test]
fn tables_may_be_transposed() {
    let body = "static int s[60][60]; static int t[60][60]; for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) s[i][j] = __VERIFIER_nondet_int();
        for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) t[j][i] = s[i][j];
        for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) check(t[i][j] == s[j][i]);";
    right_and_wrong(body, "== s[j][i]", "== s[i][j]");
    right_and_wrong(body, "t[j][i]", "t[j][59 - i]");
}

#[test]
fn cells_of_tables_that_satisfy_conditions_are_counted() {
    let body = |test: &str, bound: &str| {
        format!("{TABLE} {VISIT} t[r][k] = ({test}) ? 1 : t[r][k]; {CELLS} check(s >= 0 && s <= {bound});")
    };
    right_and_wrong(&body("r > k", "n * (n - 1) / 2"), "n - 1)", "n - 2)");
    right_and_wrong(&body("r + k == n - 1", "n"), "<= n)", "<= n - 1)");
    right_and_wrong(&body("r == k || r + k == n - 1", "2 * n"), "<= 2 * n", "<= 2 * n - 2");
    right_and_wrong(&body("r == 0 || k == n - 1", "2 * n - 1"), "2 * n - 1", "2 * n - 2");
}

#[test]
fn tables_have_extrema() {
    let body = "static int t[30][40]; int seen = __VERIFIER_nondet_int();
        for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) t[i][j] = __VERIFIER_nondet_int();
        int least = t[0][0];
        for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) if (t[i][j] < least) least = t[i][j];
        for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) check(least <= t[i][j]);
        int k = __VERIFIER_nondet_int(), l = __VERIFIER_nondet_int();
        if (k < 0 || k >= 30 || l < 0 || l >= 40) return 0; check(t[k][l] >= least);";
    right_and_wrong(body, "t[k][l] >= least", "t[k][l] > least");
    // What was known is given up in between.
    right_and_wrong(
        body,
        "for (int i = 0; i < 30; i++) for (int j = 0; j < 40; j++) if",
        "for (int i = 0; i < 30; i++, least = i ? seen : least) for (int j = 0; j < 40; j++) if",
    );
    let deep = "static short t[10][10][10]; int most = -32768;
        for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) for (int k = 0; k < 10; k++) t[i][j][k] = __VERIFIER_nondet_short();
        for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) for (int k = 0; k < 10; k++) if (t[i][j][k] > most) most = t[i][j][k];
        for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) for (int k = 0; k < 10; k++) check(t[i][j][k] <= most);";
    assert!(proved(&format!("{HEAD} int main(void) {{ {deep} return 0; }}")));
}

#[test]
fn tables_with_rows_of_any_length_have_extrema() {
    let body = "int n = __VERIFIER_nondet_int(); int k = __VERIFIER_nondet_int(); if (n < 1 || k < 1 || n > 500 || k > 500) return 0;
        int t[n][k]; for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) t[i][j] = __VERIFIER_nondet_int();
        int most = t[0][0]; for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) if (t[i][j] > most) most = t[i][j];
        for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) check(most >= t[i][j]);";
    right_and_wrong(body, "check(most >=", "check(most >");
    right_and_wrong(body, "j < k; j++) if", "j < k - 1; j++) if");
    right_and_wrong(body, "j++) if", "j += 2) if");
    let triangle =
        body.replace("int t[n][k]", "if (n > k) return 0; int t[n][k]").replace("j < k; j++) if", "j <= i; j++) if");
    assert!(!proved(&format!("{HEAD} int main(void) {{ {triangle} return 0; }}")));
}

#[test]
fn tables_may_have_rows_of_any_length() {
    let begin = "int n = __VERIFIER_nondet_int(); int k = __VERIFIER_nondet_int(); if (n < 1 || k < 1 || n > 500 || k > 500) return 0;";
    let transposed = format!(
        "{begin} int t[n][k]; int u[k][n]; for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) t[i][j] = 3 * i - j;
        for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) u[j][i] = t[i][j];
        for (int i = 0; i < k; i++) for (int j = 0; j < n; j++) check(u[i][j] == 3 * j - i);"
    );
    right_and_wrong(&transposed, "u[j][i] = t[i][j]", "u[j][i] = t[i][0]");
    right_and_wrong(&transposed, "3 * j - i", "3 * i - j");
    // A row more, and a column that is in the next row.
    right_and_wrong(&transposed, "int j = 0; j < n; j++) check", "int j = 0; j <= n; j++) check");
    let cube = format!(
        "{begin} int t[n][k][2]; for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) t[i][j][1] = i + j;
        int i = __VERIFIER_nondet_int(); int j = __VERIFIER_nondet_int();
        if (i >= 0 && i < n && j >= 0 && j < k) check(t[i][j][1] == i + j);"
    );
    right_and_wrong(&cube, "check(t[i][j][1]", "check(t[i][j][0]");
    right_and_wrong(&cube, "j >= 0 && j < k) check", "j >= 0 && j <= k) check");
}

/// Rows that the program numbers itself, also in functions.
#[test]
fn tables_may_lie_in_objects_of_the_heap() {
    let begin = "int n = __VERIFIER_nondet_int(); int k = __VERIFIER_nondet_int(); if (n < 1 || k < 1 || n > 500 || k > 500) return 0;";
    let transposed = format!(
        "{begin} int *t = malloc(n * k * sizeof(int)); int *u = malloc(sizeof(int) * k * n);
        for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) t[i * k + j] = 3 * i - j;
        for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) u[j * n + i] = t[i * k + j];
        for (int i = 0; i < k; i++) for (int j = 0; j < n; j++) check(u[i * n + j] == 3 * j - i);"
    );
    right_and_wrong(&transposed, "= t[i * k + j]", "= t[i * k]");
    right_and_wrong(&transposed, "3 * j - i", "3 * i - j");
    right_and_wrong(&transposed, "int j = 0; j < n; j++) check", "int j = 0; j <= n; j++) check");
    let cleared = format!(
        "{begin} int *t = calloc(n * k, sizeof(int)); for (int i = 0; i < n; i++) t[i * k] = i;
        int i = __VERIFIER_nondet_int(); int j = __VERIFIER_nondet_int();
        if (i >= 0 && i < n && j > 0 && j < k) check(t[i * k + j] == 0);"
    );
    right_and_wrong(&cleared, "j > 0", "j >= 0");
    right_and_wrong(&cleared, "calloc(n * k, sizeof(int))", "malloc(n * k * sizeof(int))");
    // A table that is filled element by element is none.
    let flat = format!(
        "{begin} int *t = malloc(sizeof(int) * n * n); for (int i = 0; i < n * n; i++) t[i] = 2 * i;
        for (int i = 0; i < n * n; i++) check(t[i] == 2 * i);"
    );
    right_and_wrong(&flat, "== 2 * i", "== 3 * i");
    let of_functions = |row: &str| {
        format!(
            "{HEAD} void fill(int *t, int h, int w) {{ for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t[{row} + x] = x - y; }}
            int main(void) {{ {begin} int *t = malloc(4 * n * k); fill(t, n, k);
            for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) check(t[i * k + j] == j - i); return 0; }}"
        )
    };
    assert!(proved(&of_functions("y * w")));
    assert!(!proved(&of_functions("y * h")));
}

#[test]
fn tables_may_be_filled_from_their_ends() {
    let begin = "int n = __VERIFIER_nondet_int(); if (n < 1 || n > 500) return 0; int t[n][n]; int u[n][n];
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t[i][j] = __VERIFIER_nondet_int();
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)";
    let end = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)";
    let rows = format!("{begin} u[n - 1 - i][j] = t[i][j]; {end} check(u[i][j] == t[n - 1 - i][j]);");
    right_and_wrong(&rows, "== t[n - 1 - i][j]", "== t[i][j]");
    right_and_wrong(&rows, "j++) u[n - 1 - i][j] =", "j++) u[n - 1 - i][i] =");
    let columns = format!("{begin} u[i][n - 1 - j] = t[i][j]; {end} check(u[i][j] == t[i][n - 1 - j]);");
    right_and_wrong(&columns, "== t[i][n - 1 - j]", "== t[i][j]");
    let turned = "static int s[60][60]; static int t[60][60];
        for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) s[i][j] = __VERIFIER_nondet_int();
        for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) t[j][59 - i] = s[i][j];
        for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) check(t[i][j] == s[59 - j][i]);";
    right_and_wrong(turned, "== s[59 - j][i]", "== s[j][i]");
    right_and_wrong(turned, "t[j][59 - i]", "t[59 - j][59 - i]");
    let turned = format!("{begin} u[j][n - 1 - i] = t[i][j]; {end} check(u[i][j] == t[n - 1 - j][i]);");
    right_and_wrong(&turned, "== t[n - 1 - j][i]", "== t[j][i]");
    // A part of each row, from its end: what is before it is not written.
    let part = "int n = __VERIFIER_nondet_int(); if (n < 2 || n > 500) return 0; int t[n][n];
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t[i][j] = 0;
        for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) t[i][n - 1 - j] = 1 + j;
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) check(t[i][j] == (n - 1 - j <= i ? n - j : 0));";
    right_and_wrong(part, "(n - 1 - j <= i", "(n - 1 - j < i");
    right_and_wrong(part, "? n - j :", "? n - 1 - j :");
}
