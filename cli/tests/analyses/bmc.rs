// SPDX-License-Identifier: Apache-2.0
//! Bounded model checking: the example of the literature, and small programs with known verdicts.

use cli::registry::{Analysis, BmcAnalysis};
use cpa_core::{Cx, Verdict};

use crate::{HEADER, UNIFYING_VIEW, config, task};

fn analysis(text: &str, preset: &str, options: &[(&str, &str)]) -> BmcAnalysis {
    let (program, targets) = task(text, "main");
    BmcAnalysis::new(program, targets, &config(preset, options)).unwrap()
}

fn verdict(body: &str, options: &[(&str, &str)]) -> Verdict {
    analysis(&format!("{HEADER}{body}"), "bmc-incremental", options).run(&mut Cx::unlimited()).verdict().clone()
}

#[test]
fn example_6_has_the_graph_of_figure_5() {
    let one = [("cpa.loopbound.maxLoopIterations", "1")];
    for encoding in ["bitvector", "integer"] {
        let options = [one[0], ("cpa.predicate.encoding", encoding)];
        let mut run = analysis(UNIFYING_VIEW, "bmc", &options);
        let outcome = run.run(&mut Cx::unlimited());
        assert!(matches!(outcome.verdict(), Verdict::Unknown(_)), "k = 1 is not enough: {}", outcome.verdict());
        let unrolling = run.bmc().unrolling();
        // The target state of the figure has an unsatisfiable formula; here that folds to false, so there is no such state.
        assert_eq!(unrolling.violations(), []);
        let [last] = unrolling.frontier() else { panic!("{}", unrolling.arg().dump()) };
        assert_eq!(run.manager().terms.display(unrolling.condition(*last)).to_string(), "true", "e10 is reachable");
        assert!(unrolling.arg().state(*last).to_string().contains(":1"), "{}", unrolling.arg().state(*last));
        assert!(unrolling.arg().children(*last).is_empty());
        let branching = unrolling.arg().ids().filter(|&id| unrolling.arg().children(id).len() > 1).count();
        assert_eq!(branching, 0, "{}", unrolling.arg().dump());
    }
    let mut run = analysis(UNIFYING_VIEW, "bmc", &[("cpa.loopbound.maxLoopIterations", "3")]);
    assert_eq!(*run.run(&mut Cx::unlimited()).verdict(), Verdict::True, "with k = 3 the forward condition holds");
}

#[test]
fn raising_the_bound_explores_nothing_twice() {
    let text = format!(
        "{HEADER}int main(void) {{ int n = __VERIFIER_nondet_int(), s = 0;
        for (int i = 0; i < n && i < 50; i++) {{ if (__VERIFIER_nondet_int()) s++; }}
        for (int j = 0; j < s; j++) {{ if (j == 50) reach_error(); }} return 0; }}"
    );
    let mut run = analysis(&text, "bmc-incremental", &[]);
    assert_eq!(*run.run(&mut Cx::unlimited()).verdict(), Verdict::True);
    let statistics = run.bmc().unrolling().exploration().statistics();
    assert_eq!(statistics.removed, 0, "merges come before successors: {statistics:?}");
}

#[test]
fn bugs_behind_several_loops_and_calls_are_found() {
    let found = verdict(
        "int sum(int n) { int s = 0; for (int j = 0; j < n; j++) s += j; return s; }
        int main(void) {
          int n = __VERIFIER_nondet_int(), t = 0;
          for (int i = 0; i < n; i++) t += sum(i);
          for (int i = 0; i < n; i++) if (t == 20 && i == 4) reach_error();
          return 0; }",
        &[],
    );
    let Verdict::False(run) = found else { panic!("{found}") };
    assert!(run.inputs.iter().any(|&(_, value)| value == 6), "{:?}", run.inputs);
}

#[test]
fn constant_loops_end_by_themselves() {
    let text = "int main(void) { int s = 0; for (int i = 0; i < 300; i++) for (int j = 0; j < 3; j++) s++;
        if (s != 900) reach_error(); return 0; }";
    assert_eq!(verdict(text, &[]), Verdict::True);
    assert_eq!(verdict(text, &[("bmc.boundingAssertions", "false")]), Verdict::True, "no query is needed");
}

#[test]
fn what_is_not_known_is_not_proved() {
    let endless = "int main(void) { int i = 0; while (1) { i++; if (i == 0) reach_error(); } return 0; }";
    let few = ("cpa.loopbound.maxLoopIterationsUpperBound", "4");
    assert!(matches!(verdict(endless, &[few]), Verdict::Unknown(_)));
    let harmless = "int main(void) { if (__VERIFIER_nondet_int() == 5) reach_error(); return 0; }";
    assert!(matches!(verdict(harmless, &[("bmc.checkTargetStates", "false")]), Verdict::Unknown(_)));
    let opaque = "struct s; int get(struct s *p); struct s *p;
        int main(void) { if (get(p)) reach_error(); return 0; }";
    assert!(!matches!(verdict(opaque, &[]), Verdict::True));
}

/// Threads that were made into functions wait for each other in loops, in which the round may go on.
const WAITING: &str = "unsigned char round, ret; int flag[3], turn[3];
    void next(void) { unsigned char k = __VERIFIER_nondet_uchar(); if (round + k >= 3) abort(); round += k; }
    int main(void) {
      flag[round] = 1;
      while (turn[round] != 1) { next(); while (flag[round] == 1 && turn[round] == 0) next(); }
      reach_error();
      return 0; }";

#[test]
fn loops_that_wait_end_where_nothing_changes() {
    assert_eq!(verdict(WAITING, &[]), Verdict::True);
    assert_eq!(verdict(WAITING, &[("bmc.cellsApart", "0")]), Verdict::True, "places of arrays are compared, too");
    let few = ("cpa.loopbound.maxLoopIterationsUpperBound", "8");
    let all = [("bmc.changingIterations", "false"), few];
    assert!(matches!(verdict(WAITING, &all), Verdict::Unknown(_)), "the flags are looked at for ever");
}

#[test]
fn iterations_that_change_anything_are_kept() {
    let few = ("cpa.loopbound.maxLoopIterationsUpperBound", "8");
    for (what, body) in [
        (
            "a variable that is read behind the loop",
            "int main(void) { int n = 0; while (__VERIFIER_nondet_int()) n = (n + 1) % 4; if (n == 3) reach_error(); return 0; }",
        ),
        (
            "an element of an array",
            "int a[3]; int main(void) { unsigned char i = __VERIFIER_nondet_uchar() % 3;
               while (__VERIFIER_nondet_int()) a[i] = (a[i] + 1) % 5; if (a[0] + a[1] + a[2] == 4) reach_error(); return 0; }",
        ),
        (
            "what a called function counts",
            "int calls; void f(void) { if (calls < 3) calls++; }
             int main(void) { while (__VERIFIER_nondet_int()) f(); if (calls == 3) reach_error(); return 0; }",
        ),
        (
            "a local variable whose address is known",
            "void f(int *p) { if (*p < 3) ++*p; }
             int main(void) { int n = 0; while (__VERIFIER_nondet_int()) f(&n); if (n == 3) reach_error(); return 0; }",
        ),
        (
            "an activation in between",
            "int deep; void f(int n) { while (__VERIFIER_nondet_int()) { if (n > 2) deep = 1; else f(n + 1); } }
             int main(void) { f(0); if (deep) reach_error(); return 0; }",
        ),
        (
            "the same in another call",
            "int done; void f(int n) { int i = 0; while (i < 2) { i++; if (n == 2 && i == 2) done = 1; } }
             int main(void) { f(1); f(2); if (done) reach_error(); return 0; }",
        ),
        (
            "two iterations in turn",
            "int main(void) { int a = 0, b = 0; while (__VERIFIER_nondet_int()) { int t = a; a = b; b = !t; }
               if (a && !b) reach_error(); return 0; }",
        ),
    ] {
        assert!(matches!(verdict(body, &[few]), Verdict::False(_)), "{what}: {}", verdict(body, &[few]));
    }
}

#[test]
fn bits_of_what_is_not_a_number_are_open() {
    let with = |cond: &str| {
        let body = format!(
            "int main(void) {{ float x = __VERIFIER_nondet_float(); union {{ float f; unsigned u; }} b; b.f = x - x; float y = -b.f;
             if (x != x && ({cond})) reach_error(); return 0; }}"
        );
        verdict(&body, &[])
    };
    // Every bit may be set or not, but for those that make it a quiet one.
    for cond in ["b.u >> 31", "!(b.u >> 31)", "b.u & 1", "(b.u & 0x3fffff) != 0"] {
        assert!(matches!(with(cond), Verdict::Unknown(_)), "{cond}");
    }
    for cond in ["(b.u & 0x7fc00000) != 0x7fc00000", "b.f == b.f", "__builtin_isinf(b.f)", "b.u == 0x7f800000"] {
        assert!(matches!(with(cond), Verdict::True), "{cond}");
    }
    // For both signs alike.
    for cond in
        ["(b.u & 0x7fffffff) > 0x7f800000", "__builtin_isnan(b.f)", "__builtin_signbit(b.f) != __builtin_signbit(y)"]
    {
        assert!(matches!(with(cond), Verdict::False(_)), "{cond}");
    }
}

#[test]
fn recursion_is_followed_and_bounded_like_a_loop() {
    // The variables of the caller keep their values while the function runs again.
    let fibonacci = "int fib(int n) { int a; if (n < 2) return n; a = fib(n - 1); return a + fib(n - 2); }";
    let bug = format!(
        "{fibonacci} int main(void) {{ int n = __VERIFIER_nondet_int(); if (n < 0 || n > 6) return 0;
        if (fib(n) == 5) reach_error(); return 0; }}"
    );
    let Verdict::False(run) = verdict(&bug, &[]) else { panic!("fib(5) is 5") };
    assert_eq!(run.inputs.first().map(|&(_, value)| value), Some(5));
    let safe = format!("{fibonacci} int main(void) {{ if (fib(7) != 13) reach_error(); return 0; }}");
    assert_eq!(verdict(&safe, &[]), Verdict::True, "the depth is bounded by constants");
    let mutual = "int odd(int n); int even(int n) { int m = n; if (n == 0) return 1; return odd(n - 1) && m == n; }
        int odd(int n) { int m = n; if (n == 0) return 0; return even(n - 1) && m == n; }
        int main(void) { int n = __VERIFIER_nondet_int(); if (n < 0 || n > 5) return 0;
        if (even(n) != (n % 2 == 0)) reach_error(); return 0; }";
    assert_eq!(verdict(mutual, &[]), Verdict::True);
    let endless = "int f(int n) { return f(n + 1); } int main(void) { if (f(0)) reach_error(); return 0; }";
    let few = ("cpa.loopbound.maxLoopIterationsUpperBound", "4");
    assert!(matches!(verdict(endless, &[few]), Verdict::Unknown(_)));
}

#[test]
fn loops_that_overlap_without_nesting_are_unrolled_too() {
    // Two cycles share a part; each is entered from outside in the middle of the other.
    let text = "int main(void) { int n = __VERIFIER_nondet_int(), s = 0;
        if (n > 3) goto second;
        first: s++; if (s > 40) goto done; if (__VERIFIER_nondet_int()) goto first;
        second: s += 2; if (s > 40) goto done; if (__VERIFIER_nondet_int()) goto second;
        if (__VERIFIER_nondet_int()) goto first; if (__VERIFIER_nondet_int()) goto second;
        done: if (s == BUG) reach_error(); return 0; }";
    let Verdict::False(run) = verdict(&text.replace("BUG", "7"), &[]) else { panic!("seven is reached") };
    assert!(!run.steps.is_empty());
    assert_eq!(verdict(&text.replace("BUG", "43"), &[]), Verdict::True);
}

/// A permutation of 0 to `size - 1` whose neighbours have distances that are all different, which solvers that look at bits do not find.
#[test]
fn values_of_puzzles_are_found_by_what_others_have_used_up() {
    let puzzle = |size: usize, greatest: usize| {
        let mut text = String::from("int main(void) {\n");
        let assume = |text: &mut String, condition: String| *text += &format!("  if (!({condition})) return 0;\n");
        for at in 0..size {
            text += &format!("  int x{at} = __VERIFIER_nondet_int();\n");
            assume(&mut text, format!("0 <= x{at} && x{at} <= {greatest}"));
            (0..at).for_each(|other| assume(&mut text, format!("x{at} != x{other}")));
        }
        for at in 1..size {
            let (one, other) = (at - 1, at);
            text += &format!("  int d{at} = x{one} > x{other} ? x{one} - x{other} : x{other} - x{one};\n");
            text += &format!("  int e{at} = __VERIFIER_nondet_int();\n");
            assume(&mut text, format!("1 <= e{at} && e{at} <= {size}"));
            (1..at).for_each(|other| assume(&mut text, format!("e{at} != e{other}")));
            assume(&mut text, format!("e{at} == d{at}"));
        }
        verdict(&format!("{text}  reach_error();\n  return 0;\n}}\n"), &[]).to_string()
    };
    assert_eq!(puzzle(18, 17), "FALSE");
    assert_eq!(puzzle(5, 3), "TRUE");
}
