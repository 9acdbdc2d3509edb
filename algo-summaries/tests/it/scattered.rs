// SPDX-License-Identifier: Apache-2.0
//! Random programs whose loops write at positions that are inputs, to arrays and to tables whose rows are made in a loop: an
//! error that an execution reaches must not be proved unreachable.

use std::fmt::Write as _;

use cfa::machine::Random;

use crate::proved;

/// A condition or a value over the position `k`, in tables also the row `r`, and the length `n`.
#[derive(Clone, Copy)]
enum Test {
    Last,
    Edge,
    Even,
    Third,
    Above,
    Diagonal,
    Across,
    Always,
}

impl Test {
    fn text(self) -> &'static str {
        match self {
            Test::Last => "k == n - 1",
            Test::Edge => "k == 0 || k == n - 1",
            Test::Even => "k % 2 == 0",
            Test::Third => "k % 3 != 1",
            Test::Above => "r > k",
            Test::Diagonal => "r == k",
            Test::Across => "r + k == n - 1",
            Test::Always => "1",
        }
    }

    fn holds(self, n: i32, r: i32, k: i32) -> bool {
        match self {
            Test::Last => k == n - 1,
            Test::Edge => k == 0 || k == n - 1,
            Test::Even => k % 2 == 0,
            Test::Third => k % 3 != 1,
            Test::Above => r > k,
            Test::Diagonal => r == k,
            Test::Across => r + k == n - 1,
            Test::Always => true,
        }
    }
}

/// `array[position] = test ? value : array[position]`, or with `add` the sum of both.
struct Write {
    array: usize,
    /// Whether the row, and whether the column, is counted from the end.
    turned: (bool, bool),
    test: Test,
    constant: i32,
    factor: i32,
    add: bool,
}

struct Program {
    table: bool,
    first: [i32; 2],
    writes: Vec<Write>,
}

impl Program {
    fn random(dice: &mut Random) -> Program {
        let table = dice.below(2) == 0;
        let tests =
            [Test::Last, Test::Edge, Test::Even, Test::Third, Test::Always, Test::Above, Test::Diagonal, Test::Across];
        let writes = (0..=dice.below(2)).map(|_| Write {
            array: if table { 0 } else { dice.below(2) },
            turned: (dice.below(3) == 0, dice.below(3) == 0),
            test: tests[dice.below(if table { 8 } else { 5 })],
            constant: [-1, 0, 1, 2, 7][dice.below(5)],
            factor: [0, 0, 0, 1, -1][dice.below(5)],
            add: dice.below(6) == 0,
        });
        let writes = writes.collect();
        Program { table, first: [dice.below(3) as i32, 0], writes }
    }

    /// What an execution makes of the sums of the arrays, when it comes to these positions.
    fn run(&self, n: i32, visits: &[(i32, i32)]) -> i64 {
        let rows = if self.table { n } else { 1 };
        let mut arrays = [vec![self.first[0]; (rows * n) as usize], vec![self.first[1]; (rows * n) as usize]];
        for (r, k) in visits {
            for write in &self.writes {
                let row = if !self.table {
                    0
                } else if write.turned.0 {
                    n - 1 - r
                } else {
                    *r
                };
                let column = if write.turned.1 { n - 1 - k } else { *k };
                let cell = &mut arrays[write.array][(row * n + column) as usize];
                if write.test.holds(n, *r, *k) {
                    let value = write.constant.wrapping_add(write.factor * k);
                    *cell = if write.add { cell.wrapping_add(value) } else { value };
                }
            }
        }
        let used = if self.table { 1 } else { 2 };
        arrays[..used].iter().flatten().map(|value| i64::from(*value)).sum()
    }

    fn text(&self, case: &str) -> String {
        let mut text = String::from(
            "extern short __VERIFIER_nondet_short(void); extern int __VERIFIER_nondet_int(void);
            extern void abort(void); extern void *malloc(unsigned); void reach_error(void) { abort(); }
            int main(void) { long long n = __VERIFIER_nondet_short(); if (n < 1) abort(); long long s = 0; short r, k; int i, j;\n",
        );
        let line = |text: &mut String, line: &str| writeln!(text, "{line}").unwrap();
        let [a, b] = self.first;
        if self.table {
            line(&mut text, "int **a = malloc(sizeof(int *) * n);");
            line(&mut text, "for (i = 0; i < n; i++) a[i] = malloc(sizeof(int) * n);");
            line(&mut text, &format!("for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] = {a};"));
        } else {
            line(&mut text, "int *a = malloc(sizeof(int) * n); int *b = malloc(sizeof(int) * n);");
            line(&mut text, &format!("for (i = 0; i < n; i++) {{ a[i] = {a}; b[i] = {b}; }}"));
        }
        line(&mut text, "while (1) { r = __VERIFIER_nondet_short(); k = __VERIFIER_nondet_short();");
        line(&mut text, "if (r < 0 || r >= n || k < 0 || k >= n) abort();");
        for write in &self.writes {
            let column = if write.turned.1 { "n - 1 - k" } else { "k" };
            let row = if write.turned.0 { "n - 1 - r" } else { "r" };
            let place = if self.table {
                format!("a[{row}][{column}]")
            } else {
                format!("{}[{column}]", ["a", "b"][write.array])
            };
            let old = if write.add { format!("{place} + ") } else { String::new() };
            let value = format!("{old}({}) + ({}) * k", write.constant, write.factor);
            line(&mut text, &format!("{place} = ({}) ? {value} : {place};", write.test.text()));
        }
        line(&mut text, "if (__VERIFIER_nondet_int() == 0) break; }");
        if self.table {
            line(&mut text, "for (i = 0; i < n; i++) for (j = 0; j < n; j++) s = s + a[i][j];");
        } else {
            line(&mut text, "for (i = 0; i < n; i++) s = s + a[i] + b[i];");
        }
        line(&mut text, &format!("if ({case}) reach_error(); return 0; }}"));
        text
    }
}

#[test]
fn sums_that_an_execution_has_are_not_excluded() {
    let mut strong = 0;
    for seed in 1..=16u64 {
        let mut dice = Random::new(seed);
        let program = Program::random(&mut dice);
        let n = 1 + dice.below(5) as i32;
        let visits: Vec<(i32, i32)> =
            (0..=dice.below(12)).map(|_| (dice.below(n as usize) as i32, dice.below(n as usize) as i32)).collect();
        let sum = program.run(n, &visits);
        let text = program.text(&format!("n == {n} && s == {sum}"));
        assert!(!proved(&text), "proved, but n = {n} and {visits:?} reach the error:\n{text}");
        // 32,767 rows with elements of that size are the most.
        strong += usize::from(proved(&program.text("s > 40000000000000 || s < -40000000000000")));
    }
    assert!(strong >= 8, "sums are bounded in {strong} programs only");
}
