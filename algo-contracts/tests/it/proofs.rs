// SPDX-License-Identifier: Apache-2.0
//! Programs of which some are safe, each with twins that are not.

use crate::{proved, proved_soon, verdict};

const PROLOGUE: &str =
    "extern int input(void); extern unsigned in(void); extern long long wide(void); void abort(void);
    void reach_error(void); void check(int c) { if (!c) reach_error(); } void assume(int c) { if (!c) abort(); }\n";

fn is_proved(text: &str) -> bool {
    proved(&format!("{PROLOGUE}{text}"))
}

/// The first one is proved, the others have executions that reach an error.
fn only_the_first(texts: &[&str]) {
    for (at, text) in texts.iter().enumerate() {
        assert_eq!(is_proved(text), at == 0, "{text}");
    }
}

/// The same, with a second for each of those that are not.
fn only_the_first_soon(texts: &[&str]) {
    let (first, others) = texts.split_first().expect("there are some");
    assert!(is_proved(first), "{first}");
    for text in others {
        assert!(!proved_soon(&format!("{PROLOGUE}{text}")), "{text}");
    }
}

#[test]
fn a_sum_is_linear() {
    let with = |bound: &str, test: &str| {
        format!(
            "int add(int a, int b) {{ if (b == 0) return a; if (b > 0) return add(a + 1, b - 1); return add(a - 1, b + 1); }}
             int main(void) {{ int a = input(), b = input(); assume({bound}); check({test}); return 0; }}"
        )
    };
    let bound = "0 <= a && a <= 1000000 && 0 <= b && b <= 1000000";
    only_the_first(&[
        &with(bound, "add(a, b) == a + b"),
        &with(bound, "add(a, b) == a + b + 1"),
        &with(bound, "add(a, b) < 2000000"),
        // The sum overflows.
        &with("a >= 0 && b >= 0", "add(a, b) >= 0"),
    ]);
}

#[test]
fn overflow_is_no_wrap_around() {
    // With wrap-around all of them would be safe, but some executions are undefined.
    let with = |ty: &str| {
        format!(
            "{ty} id({ty} x) {{ if (x == 0) return 0; {ty} r = id(x - 1) + 1; return r > 7 ? 7 : r; }}
             int main(void) {{ check(id(input()) != 9); return 0; }}"
        )
    };
    only_the_first(&[&with("unsigned"), &with("int"), &with("long long")]);
    let text = format!("{PROLOGUE}{}", with("int"));
    assert!(verdict(&text).contains("overflows, which is undefined"), "{}", verdict(&text));
}

#[test]
fn loops_leave_anything_in_what_they_write() {
    // Around the calls.
    let around = |test: &str| {
        format!(
            "int f(int n) {{ if (n <= 0) return 0; return f(n - 1) + 2; }}
             int main(void) {{ int n = 3, r = 0, k = 5; while (input()) {{ n = input(); if (n > 1000 || n < 0) break; r = f(n);
               check({test}); if (r == 8) k = 6; }} return 0; }}"
        )
    };
    only_the_first_soon(&[&around("r == 2 * n"), &around("r == 2 * n && k == 5"), &around("r < 100")]);
    // In a function, also through a called one that is not recursive, and around another loop.
    let inside = |test: &str| {
        format!(
            "int g; void bump(void) {{ g = g < 50 ? g + 1 : 0; }}
             int f(int n) {{ int i, j, r; if (n <= 0) return 7; for (i = 0; i < n; i++) {{ for (j = i; j < n; j++) bump(); }}
               r = f(n - 1); check({test}); return r; }}
             int main(void) {{ int n = input(); assume(n < 1000); f(n); return 0; }}"
        )
    };
    only_the_first_soon(&[&inside("r == 7 && i >= n"), &inside("g != 3"), &inside("j >= n + 1")]);
    // What a loop adds up may overflow.
    let text = "int f(int n) { int s = 0; if (n == 0) return 0; for (int i = 0; i < 9; i++) s += n; return f(n / 2); }
                int main(void) { check(f(input()) == 0); return 0; }";
    assert!(verdict(&format!("{PROLOGUE}{text}")).contains("overflows"));
    assert!(is_proved(&text.replace("int s", "unsigned s")));
}

#[test]
fn functions_that_call_each_other() {
    let with = |test: &str| {
        format!(
            "int even(int n); int odd(int n) {{ if (n == 0) return 0; return even(n - 1); }}
             int even(int n) {{ if (n == 0) return 1; return odd(n - 1); }}
             int main(void) {{ int n = input(); assume(n >= 0); {test} return 0; }}"
        )
    };
    only_the_first(&[
        &with("check(odd(n) == n % 2); check(even(n) != odd(n));"),
        &with("check(even(n) == n % 2);"),
        &with("check(odd(n) == 0);"),
    ]);
}

#[test]
fn results_go_into_calls() {
    let with = |limit: i32, test: &str| {
        format!(
            "int f(int x) {{ return x > {limit} ? x - 7 : f(f(x + 8)); }}
             int main(void) {{ int x = input(); check({test}); return 0; }}"
        )
    };
    only_the_first(&[
        &with(40, "x > 40 ? f(x) == x - 7 : f(x) == 34"),
        &with(40, "x > 40 ? f(x) == x - 7 : f(x) == 33"),
        &with(40, "f(x) == 34"),
        &with(41, "x > 40 ? f(x) == x - 7 : f(x) == 34"),
    ]);
}

#[test]
fn errors_inside_are_excluded_by_what_holds_at_calls() {
    let with = |bound: &str| {
        format!(
            "int gcd(int a, int b) {{ if (a <= 0 || b <= 0) reach_error();
               return a == b ? a : a > b ? gcd(a - b, b) : gcd(a, b - a); }}
             int main(void) {{ int a = input(), b = input(); assume({bound}); check(gcd(a, b) > 0); return 0; }}"
        )
    };
    only_the_first(&[&with("a > 0 && b > 0"), &with("a >= 0 && b > 0"), &with("a > 0 && b > -2")]);
}

#[test]
fn an_error_behind_a_call_that_does_not_return_is_none_but_one_before_it_is() {
    // The contract of a function that never returns is false behind its calls, not before them.
    let with = |body: &str| {
        format!(
            "int never(int n) {{ return never(n); }} int f(int n) {{ if (n > 3) {{ {body} }} return n < 0 ? 0 : f(n - 1); }}
             int main(void) {{ f(input() & 7); return 0; }}"
        )
    };
    only_the_first(&[
        &with("never(n); reach_error();"),
        &with("check(n < 5); never(n);"),
        &with("if (input()) never(n); else reach_error();"),
        &with("f(n - 5); if (n == 7) reach_error(); never(n);"),
    ]);
}

#[test]
fn products_and_powers_of_two() {
    let with = |test: &str| {
        format!(
            "unsigned mult(unsigned a, unsigned b) {{ return b == 0 ? 0 : a + mult(a, b - 1); }}
             unsigned power(unsigned n) {{ return n == 0 ? 1 : 2 * power(n - 1); }}
             int main(void) {{ unsigned a = in(), b = in(); {test} return 0; }}"
        )
    };
    only_the_first(&[
        &with("check(mult(a, b) == mult(b, a)); assume(a < 31); check(power(a) == 1u << a);"),
        &with("check(mult(a, b) == mult(b, a + 1));"),
        &with("assume(a < 31); check(power(a) != 1u << 20);"),
        &with("check(mult(a, 2) >= a);"),
    ]);
}

#[test]
fn global_variables_change() {
    let with = |more: &str, test: &str| {
        format!(
            "int count, other; int count_up(int n) {{ {more} if (n <= 0) return 0; count++; return 1 + count_up(n - 1); }}
             int main(void) {{ int n = input(); assume(n >= 0 && n < 5000); count = 2; other = 1; int r = count_up(n);
               check({test}); return 0; }}"
        )
    };
    only_the_first(&[
        &with("", "count == n + 2 && r == n && other == 1"),
        &with("", "count == n + 1"),
        &with("if (n == 70) other = 0;", "other == 1"),
        &with("if (n == 0) count = 3;", "count == n + 2"),
    ]);
}

#[test]
fn the_result_overwrites_what_the_callee_wrote() {
    let with = |test: &str| {
        format!(
            "int g; int f(int n) {{ g = 5; return n <= 0 ? 1 : f(n - 1); }}
             int main(void) {{ g = f(input()); check({test}); return 0; }}"
        )
    };
    only_the_first(&[&with("g == 1"), &with("g == 5")]);
}

#[test]
fn what_is_not_supported_is_not_passed_over() {
    let main = "int main(void) { check(f(input() & 7) >= 0); return 0; }";
    let reason = |text: &str| verdict(&format!("{PROLOGUE}{text}{main}"));
    let of_loop = reason(
        "int f(int n) { if (n > 5) goto in; do { n = n - 1; in: n = n - 2; } while (n > 5); return n <= 0 ? 1 : f(n); }",
    );
    assert!(of_loop.contains("several entries"), "{of_loop}");
    let of_memory = reason("int a[8]; int f(int n) { a[n & 7] = n; return n <= 0 ? a[0] : f(n - 1); }");
    assert!(of_memory.contains("memory"), "{of_memory}");
    let of_assembly =
        reason("int f(int n) { if (n == 2) __asm__(\"nop\" : : \"r\"(n)); return n <= 0 ? 0 : f(n - 1); }");
    assert!(of_assembly.contains("not supported"), "{of_assembly}");
}

#[test]
fn a_contract_that_holds_in_samples_only_is_dropped() {
    // Nothing below a million tells that there is another case.
    let with = |test: &str| {
        format!(
            "int f(int n) {{ if (n > 7654321) return 5; return n <= 0 ? 0 : f(n - 1); }}
             int main(void) {{ check({test}); return 0; }}"
        )
    };
    only_the_first(&[&with("f(input()) <= 5"), &with("f(input()) <= 4"), &with("f(input()) != 5")]);
}

#[test]
fn main_may_call_itself() {
    let with = |test: &str| {
        format!(
            "int depth; int main(void) {{ check({test}); depth = (depth + 1) & 3; if (input()) main(); return 0; }}"
        )
    };
    only_the_first(&[&with("depth <= 3"), &with("depth <= 2"), &with("depth == 0")]);
}

/// The range of arguments is small, so that each value of one has a fact of its own.
#[test]
fn few_values_of_an_argument() {
    let fibonacci = |bad: &str| {
        format!(
            "int f(int n) {{ if (n < 1) return 0; if (n == 1) return 1; return f(n - 1) + f(n - 2); }}
             int main(void) {{ int x = __VERIFIER_nondet_int(); if (x > 46) return 0; int r = f(x); if ({bad}) reach_error(); }}"
        )
    };
    only_the_first(&[&fibonacci("r < 0"), &fibonacci("r == 1836311903"), &fibonacci("x > 40 && r < 165580142")]);
    only_the_first(&[
        &fibonacci("x > 40 && r < 165580141"),
        &fibonacci("x == 9 && r == 34"),
        &fibonacci("x < 3 && r > 0"),
    ]);
    let ackermann = |bad: &str| {
        format!(
            "int a(int m, int n) {{ if (m == 0) return n + 1; if (n == 0) return a(m - 1, 1); return a(m - 1, a(m, n - 1)); }}
             int main(void) {{ int m = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
                 if (m < 0 || m > 3 || n < 0 || n > 23) return 0; int r = a(m, n); if ({bad}) reach_error(); }}"
        )
    };
    only_the_first(&[
        &ackermann("m == 3 && n == 23 && r != 67108861"),
        &ackermann("m == 3 && n > 20 && r == 16777213"),
    ]);
    // The least number goes down until it overflows.
    let overflow = fibonacci("r < 0").replace("n < 1", "n == 0");
    assert!(!is_proved(&overflow));
}

#[test]
fn remainders() {
    let text = |bad: &str| {
        format!(
            "short f(short n) {{ if (n < 5) return n; return f(n - 5); }}
             int main(void) {{ short n = __VERIFIER_nondet_short(); if (n < 0) return 0; int r = f(n); if ({bad}) reach_error(); }}"
        )
    };
    only_the_first(&[&text("(n - r) % 5 != 0"), &text("(n - r) % 10 != 0")]);
    let three = |bad: &str| {
        format!(
            "int b(int); int c(int); int a(int n) {{ if (n == 0) return 1; return c(n - 1); }}
             int b(int n) {{ if (n == 0) return 0; return a(n - 1); }} int c(int n) {{ if (n == 0) return 0; return b(n - 1); }}
             int main(void) {{ int n = __VERIFIER_nondet_int(); if (n < 0) return 0; if ({bad}) reach_error(); }}"
        )
    };
    only_the_first(&[&three("a(n) != (n % 3 == 0)"), &three("a(n) != (n % 3 == 1)"), &three("a(n) && n > 100")]);
}
