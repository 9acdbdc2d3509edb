// SPDX-License-Identifier: Apache-2.0
//! What strategies make of loops, and when they do not apply.

use std::collections::BTreeSet;

use cfa::{Options, Program, Property, Source};
use expect_test::{Expect, expect};
use loopabs::{Fidelity, Loops, Strategy};

const HEADER: &str = "extern void abort(void);
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern unsigned long long __VERIFIER_nondet_ulonglong(void);
";

fn load(text: &str) -> Program {
    let source = Source { name: "t.c".into(), text: text.into() };
    cfa::load(&[source], &Options { loop_sites: true, ..Options::default() }).unwrap()
}

fn loops(program: &Program) -> Loops {
    Loops::new(program, &program.targets(&Property::default_errors()))
}

/// The reasons why strategies do not apply to the loop with the given number.
fn report(body: &str, site: usize) -> String {
    let program = load(&format!("{HEADER}{body}"));
    let report = &loops(&program).reports(&program)[site];
    report.to_string().split_once(" strategies: ").unwrap().1.to_owned()
}

/// The program with a strategy for the first loop.
fn printed(text: &str, strategy: Strategy, expected: &Expect) {
    let program = load(text);
    let rendered = loops(&program).render(&program, 0, |site| if site == 0 { strategy } else { Strategy::Base });
    expected.assert_eq(&rendered.text);
    load(&rendered.text);
}

/// Figure 1a.
const FIGURE_1: &str = "int main(void) {
  unsigned int x = 0x0ffffff0;
  while (x > 0) {
    x -= 2;
  }
  return 0;
}
";

#[test]
fn figure_1b_havoc() {
    printed(
        FIGURE_1,
        Strategy::Havoc,
        &expect![[r#"
            extern void abort(void);
            extern unsigned int __VERIFIER_nondet_uint(void);
            int main(void) {
              unsigned int x = 0x0ffffff0;
              if (x > 0) {
                x = __VERIFIER_nondet_uint();
                if (x > 0) abort();
              }
              return 0;
            }
        "#]],
    );
}

#[test]
fn figure_1c_constant_extrapolation() {
    printed(
        FIGURE_1,
        Strategy::Constant,
        &expect![[r#"
            extern void abort(void);
            int main(void) {
              unsigned int x = 0x0ffffff0;
              if (x > 0) {
                unsigned int la_distance = 4294967295U * (unsigned int)x;
                if (la_distance & 1U) abort();
                unsigned long long la_count = (unsigned long long)(((la_distance >> 1) * 2147483647U) & 2147483647U);
                {
                  unsigned int la_final_0 = (unsigned int)x + (unsigned int)la_count * (4294967294U);
                  x = la_final_0;
                }
              }
              return 0;
            }
        "#]],
    );
}

#[test]
fn figure_1d_naive() {
    printed(
        FIGURE_1,
        Strategy::Naive,
        &expect![[r#"
            extern void abort(void);
            extern unsigned int __VERIFIER_nondet_uint(void);
            int main(void) {
              unsigned int x = 0x0ffffff0;
              if (x > 0) {
                x = __VERIFIER_nondet_uint();
                if (!(x > 0)) abort();
                do {
              {
                x -= 2;
              }
                } while ((x > 0) && (abort(), 0));
              }
              return 0;
            }
        "#]],
    );
}

/// Figure 2: the number of iterations is a variable; a `for` whose counter lives in it.
#[test]
fn figure_2_constant_extrapolation() {
    printed(
        &format!(
            "{HEADER}int main(void) {{
  int N = __VERIFIER_nondet_int();
  int s = 0;
  for (int i = 0; i < N; ++i) s += i;
  if (s == 7) reach_error();
}}
"
        ),
        Strategy::Constant,
        &expect![[r#"
            extern void abort(void);
            extern void reach_error(void);
            extern int __VERIFIER_nondet_int(void);
            extern unsigned int __VERIFIER_nondet_uint(void);
            extern unsigned long long __VERIFIER_nondet_ulonglong(void);
            int main(void) {
              int N = __VERIFIER_nondet_int();
              int s = 0;
              { int i = 0;
              if (i < N) {
                unsigned int la_distance = (unsigned int)N + 4294967295U * (unsigned int)i;
                unsigned long long la_count = (unsigned long long)((la_distance - 1) / 1U + 1);
                {
                  unsigned int la_final_0 = (unsigned int)i + (unsigned int)la_count * (1U);
                  unsigned int la_final_1 = (unsigned int)s + (unsigned int)la_count * ((unsigned int)i) + (unsigned int)(la_count % 2 == 0 ? la_count / 2 * (la_count - 1) : la_count * ((la_count - 1) / 2)) * (1U);
                  i = la_final_0;
                  s = la_final_1;
                }
              } }
              if (s == 7) reach_error();
            }
        "#]],
    );
}

#[test]
fn figure_3_a_violation_inside() {
    let body = "int main(void) { int i = 0; while (i < 10) { if (i == 7) reach_error(); i++; } }";
    let reasons = "n o p; not applicable: h c (the property may be violated within the loop)";
    assert_eq!(report(body, 0), reasons);
    let through_a_call = "void check(int i) { if (i == 7) reach_error(); }
        int main(void) { int i = 0; while (i < 10) { check(i); i++; } }";
    assert_eq!(report(through_a_call, 0), reasons);
}

#[test]
fn ways_out_of_the_loop() {
    let with = |exit: &str| {
        report(&format!("int main(void) {{ int i = 0; while (i < 10) {{ if (i == 7) {exit} i++; }} L: i--; }}"), 0)
    };
    assert_eq!(with("break;"), "h n o p; not applicable: c (the loop can be left in several ways)");
    assert_eq!(
        with("return 1;"),
        "n o p; not applicable: h (the loop contains return or goto), c (the loop can be left in several ways)"
    );
    assert_eq!(with("goto L;"), with("return 1;"));
    assert_eq!(
        with("{ M: i = 3; }"),
        "none; not applicable: h n c o p (the loop contains labels, somebody may jump into it)"
    );
    // A `break` of a `switch` leaves only that.
    assert_eq!(with("switch (i) { case 7: break; }"), "h n c o p");
    // After a `break` the condition may hold.
    let program =
        load(&format!("{HEADER}int main(void) {{ int i = 0; while (i < 10) {{ if (i == 7) break; i++; }} }}"));
    let text = loops(&program).render(&program, 0, |_| Strategy::Havoc).text;
    assert!(!text.contains("if (i < 10) abort"), "{text}");
}

#[test]
fn what_is_modified_needs_a_name() {
    let refused = |body: &str, reason: &str| {
        let report = report(body, 0);
        assert!(report.contains(&format!("h n c o ({reason})")), "{report}");
    };
    refused(
        "void f(int *p) { while (*p) (*p)--; } int main(void) { int x = 3; f(&x); }",
        "it may write to 'main::x', which has no name there",
    );
    refused(
        "int next(void) { static int c; return ++c; } int main(void) { while (next() < 5) ; }",
        "it modifies 'next::c', which has no name there",
    );
    refused(
        "int main(void) { int a[3]; int *p = a; while (p < a + 3) p++; }",
        "it modifies the pointer 'p', and C has no name for any pointer",
    );
    refused(
        "int g; void f(void) { g++; } int main(void) { int g = 0; while (g < 3) { f(); g++; } }",
        "it modifies 'g', which has no name there",
    );
    refused(
        "extern void *malloc(unsigned); int main(void) { int *p = malloc(40); for (int i = 0; i < 9; i++) p[i] = 1; }",
        "it writes to memory that is not only that of variables",
    );
    // What lives within the loop needs none.
    assert!(
        report("int main(void) { int i = 0; while (i < 9) { int j = i; int *p = &j; ++*p; i = j; } }", 0)
            .starts_with("h n")
    );
}

#[test]
fn writes_through_pointers_count() {
    let body = "int main(void) { int x = 0, y = 0; int *p = __VERIFIER_nondet_int() ? &x : &y; while (*p < 9) ++*p; }";
    let program = load(&format!("{HEADER}{body}"));
    let text = loops(&program).render(&program, 0, |_| Strategy::Havoc).text;
    assert!(text.contains("x = __VERIFIER_nondet_int();") && text.contains("y = __VERIFIER_nondet_int();"), "{text}");
}

/// Only the lowering knows which variables it made; the source may use any name.
#[test]
fn what_is_modified_has_no_bits_without_a_name() {
    let said = |members: &str| {
        let body = format!(
            "struct s {{ {members} }} s; int main(void) {{ unsigned char *p = (unsigned char *)&s;
            for (int i = 0; i < 3; i++) {{ p[1] = p[1] + 1; }} return p[1]; }}"
        );
        report(&body, 0)
    };
    let refused = "it modifies 's', which has too many parts, or some that cannot be assigned";
    for members in
        ["char c; int i;", "int i; char c;", "unsigned a: 3; unsigned: 5; unsigned b: 24;", "char c; _Bool b;"]
    {
        assert!(said(members).contains(refused), "{members}: {}", said(members));
    }
    for members in ["char c; char d; short e;", "unsigned a: 3; unsigned b: 29;", "struct { int i; } t[2];"] {
        assert!(!said(members).contains(refused), "{members}: {}", said(members));
    }
}

#[test]
fn no_name_is_special() {
    let body = "int main(void) { int i = 0, __retres = 0; while (i < 9) { i++; __retres += 2; } return __retres; }";
    let program = load(&format!("{HEADER}{body}"));
    for strategy in [Strategy::Havoc, Strategy::Naive, Strategy::Output, Strategy::Constant, Strategy::Phases] {
        let text = loops(&program).render(&program, 0, |_| strategy).text;
        // Beside its initialisation.
        assert_eq!(text.matches("__retres = ").count(), 2, "{text}");
    }
    let record = "struct s { int a; }; struct s f(int x) { struct s r; r.a = x; return r; }
        int main(void) { int i = 0; while (i < 9) { struct s r = f(i); i = r.a + 1; } }";
    assert!(report(record, 0).starts_with("h"), "what passes a returned structure needs no name");
    // Objects that the loop writes without their names, which stand in it for something else.
    for text in [
        "struct s { int __literal, literal; }; int main(void) { int *p = (int[]){ 0, 0 }; struct s t; int i = 0;
            while (i < 9) { i++; t.__literal = t.literal = 1; p[0] = 7; } return p[0]; }",
        "struct s { int x; }; int main(void) { int *p = 0, i = 0; struct s t; again:
            while (i < 9) { i++; t.x = 1; if (p) *p = 7; } if (p) return *p; int x; p = &x; i = 0; goto again; }",
    ] {
        assert!(!report(text, 0).starts_with('h'), "{text}: {}", report(text, 0));
    }
}

#[test]
fn conditions_with_effects() {
    let reason = "the evaluation of its condition has effects";
    assert_eq!(
        report("int main(void) { int i = 0; while (i++ < 9) ; }", 0),
        format!("h n p; not applicable: c o ({reason})")
    );
}

#[test]
fn names_that_mean_something_else() {
    let text = "int __VERIFIER_nondet_int(void) { return 4; } int main(void) { int i = 0; while (i < 9) i++; }";
    let program = load(text);
    let report = loops(&program).reports(&program)[0].to_string();
    assert!(report.contains("h n (the program defines '__VERIFIER_nondet_int' itself)"), "{report}");
}

#[test]
fn fidelity() {
    let program = load(FIGURE_1);
    let loops = loops(&program);
    let exact: BTreeSet<Strategy> = Strategy::ALL
        .into_iter()
        .filter(|strategy| loops.summary(0, *strategy).is_ok_and(|summary| summary.fidelity == Fidelity::Exact))
        .collect();
    assert_eq!(exact, BTreeSet::from([Strategy::Base, Strategy::Phases, Strategy::Constant]));
}

#[test]
fn an_invariant_is_assumed_before_and_after_the_last_iteration() {
    let text = "extern void abort(void);
int main(void) {
  int i = 0;
  while (i < 6) {
    i += 2;
  }
  do {
    i--;
  } while (i > 0);
  while (i++ < 5) {}
  return i;
}
";
    let program = load(text);
    let known = [(0, "i % 2 == 0".to_owned()), (1, "i >= 0".to_owned()), (2, "i >= -1".to_owned())].into();
    let loops = Loops::with_invariants(&program, &BTreeSet::new(), &known);
    assert_eq!(loops.summary(0, Strategy::Invariant).unwrap().fidelity, Fidelity::Over);
    let rendered = loops.render(&program, 0, |_| Strategy::Invariant);
    load(&rendered.text);
    // At the head of the second loop the condition was not evaluated; the one of the last loop changes the variable.
    expect![[r#"
        extern int __VERIFIER_nondet_int(void);
        extern void abort(void);
        int main(void) {
          int i = 0;
          if (i < 6) {
            i = __VERIFIER_nondet_int();
            if (!(i % 2 == 0)) abort();
            if (!(i < 6)) abort();
            do {
          {
            i += 2;
          }
            } while ((i < 6) && (abort(), 0));
            if (!(i % 2 == 0)) abort();
          }
          {
            i = __VERIFIER_nondet_int();
            if (!(i >= 0)) abort();
            do {
          {
            i--;
          }
            } while ((i > 0) && (abort(), 0));
          }
          if (i++ < 5) {
            i = __VERIFIER_nondet_int();
            if (!(i >= -1)) abort();
            if (!(i++ < 5)) abort();
            do {
          {}
            } while ((i++ < 5) && (abort(), 0));
          }
          return i;
        }
    "#]]
    .assert_eq(&rendered.text);
    let unknown = Loops::new(&program, &BTreeSet::new());
    assert_eq!(unknown.summary(0, Strategy::Invariant), Err("no invariant of the loop is known"));
}

#[test]
fn phases_are_computed_in_front_of_the_loop() {
    let body = "int main(void) { int i = 0, s = 0; while (i < 100) { if (i < 50) i++; else { i++; s += 2; } } }";
    let program = load(&format!("{HEADER}{body}"));
    let text = loops(&program).render(&program, 0, |_| Strategy::Phases).text;
    // Two paths in two rounds, and the loop behind them.
    assert_eq!(text.matches("> 0) {").count(), 4, "{text}");
    assert!(text.contains("s = la_final_1;") && text.contains("while (i < 100)"), "{text}");
    assert_eq!(
        report("int main(void) { int i = 0; while (i < 100) { i = __VERIFIER_nondet_int(); } }", 0)
            .split_once("p (")
            .unwrap()
            .1,
        "no way through its body only computes with variables)"
    );
}
