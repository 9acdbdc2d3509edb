// SPDX-License-Identifier: Apache-2.0
//! Arrays that pointers go along, and programs that differ a little, for which the facts do not hold.

mod common;

use common::proves;

#[test]
fn up_to_the_end() {
    let text = |ty: &str, first: &str, test: &str| {
        format!(
            "{ty} a[1000]; int main(void) {{ {ty} *p = a, *end = a + 1000;
            for (int i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
            p += {first}; while (p != end) {{ if (*p < 0) *p = 7; p++; }}
            for (int i = 0; i < 1000; i++) check(a[i] {test}); return 0; }}"
        )
    };
    assert!(proves(&text("int", "0", ">= 0")));
    assert!(proves(&text("signed char", "0", ">= 0")));
    assert!(!proves(&text("int", "1", ">= 0")));
    assert!(!proves(&text("int", "0", ">= 1")));
}

#[test]
fn characters_of_a_string() {
    let text = |end: &str| {
        format!(
            "void *malloc(unsigned); void lower(char *s) {{ while (*s) {{ if (*s == 5) *s = 4; s++; }} }}
            int main(void) {{ unsigned n = __VERIFIER_nondet_uint(); assume(n > 1 && n < 1000); char *s = malloc(n + 1);
            for (unsigned i = 0; i < n; i++) {{ s[i] = __VERIFIER_nondet_int(); if (s[i] == 0) s[i] = 1; }}
            s[{end}] = 0; lower(s); for (unsigned i = 0; i < n; i++) check(s[i] != 5); return 0; }}"
        )
    };
    assert!(proves(&text("n")));
    assert!(!proves(&text("n / 2")));
}

#[test]
fn members_of_an_element() {
    let text = |most: u32| {
        format!(
            "struct account {{ int id; unsigned balance; short open; }} all[50];
            void deposit(struct account *a, unsigned x) {{ if (x <= 1000 && a->balance <= {most}) a->balance += x; }}
            int main(void) {{ for (int i = 0; i < 50; i++) all[i].balance = 0;
            while (__VERIFIER_nondet_int()) {{ unsigned k = __VERIFIER_nondet_uint(); assume(k < 50);
            deposit(&all[k], __VERIFIER_nondet_uint()); }}
            for (int i = 0; i < 50; i++) check(all[i].balance <= 2000); return 0; }}"
        )
    };
    assert!(proves(&text(1000)));
    assert!(!proves(&text(1001)));
}

#[test]
fn what_a_function_returns_is_within_its_string() {
    let text = |end: &str| {
        format!(
            "void *malloc(unsigned); char *end(char *s) {{ while (*s) s++; return s; }}
            int main(void) {{ unsigned n = __VERIFIER_nondet_uint(); assume(n < 1000); char *s = malloc(n + 1);
            for (unsigned i = 0; i < n; i++) s[i] = __VERIFIER_nondet_int();
            s[n] = 0; char *e = end(s); check(e <= s + {end}); return 0; }}"
        )
    };
    assert!(proves(&text("n")));
    assert!(!proves(&text("n / 2")));
}

#[test]
fn pieces_of_an_object() {
    let text = |most: u32| {
        format!(
            "void *malloc(unsigned); struct arena {{ unsigned char *base; unsigned used, size; }};
            void *take(struct arena *a, unsigned n) {{ n = (n + 7) & ~7u; if (n > a->size - a->used) return 0;
              void *piece = a->base + a->used; a->used += n; return piece; }}
            int main(void) {{ struct arena a; a.size = 1024; a.used = 0; a.base = malloc(1024);
            while (__VERIFIER_nondet_int()) {{ unsigned n = __VERIFIER_nondet_uint(); assume(n <= 256);
              unsigned char *p = take(&a, n); if (p) check(p >= a.base && p + n <= a.base + {most});
              check(a.used <= a.size); }} return 0; }}"
        )
    };
    assert!(proves(&text(1024)));
    assert!(!proves(&text(1000)));
}

/// Runs that show what to look for have arguments to read.
#[test]
fn arguments_of_the_program() {
    let text = "int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : 36; }
        int parse(const char *at) {
            unsigned value = 0;
            for (; digit(*at) < 10; at++) value = value * 10 + digit(*at);
            return value;
        }
        int main(int argc, char **argv) {
            if (argc < 2) return 2;
            int n = parse(argv[1]), x = 0;
            if (n < 0 || n > 100) return 1;
            for (int i = 0; i < n; i++) x += 2;
            check(x <= BOUND);
        }";
    assert!(proves(&text.replace("BOUND", "200")));
    assert!(!proves(&text.replace("BOUND", "199")));
}
