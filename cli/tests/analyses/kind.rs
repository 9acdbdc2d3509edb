// SPDX-License-Identifier: Apache-2.0
//! k-induction: the example of the literature, what bounded model checking cannot prove, and small programs with known
//! verdicts.

use cli::registry::{Analysis, KInductionAnalysis};
use cpa_core::{Cx, Verdict};

use crate::{HEADER, config, task};

/// Beyer, Dangl, Wendler, *A Unifying View on SMT-Based Software Verification*, figure 2, with a nondeterministic condition
/// as at the end of example 7.
const UNIFYING_VIEW: &str = "
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = 0;
  int y = 0;
  while (__VERIFIER_nondet_int()) {
    x++;
    y++;
    if (x != y) {
      ERROR: return 1;
    }
  }
  return 0;
}
";

const PRESETS: [&str; 3] = ["kinduction-plain", "kinduction-dfInvariants", "kinduction"];

fn analysis(text: &str, preset: &str, options: &[(&str, &str)]) -> KInductionAnalysis {
    let (program, targets) = task(text, "main");
    let options = [&[("cpa.loopbound.maxLoopIterationsUpperBound", "6")], options].concat();
    KInductionAnalysis::new(program, targets, &config(preset, &options)).unwrap()
}

/// The answers of the presets: T, F or ? for each.
fn answers(body: &str) -> String {
    let answer = |preset| match analysis(&format!("{HEADER}{body}"), preset, &[]).run(&mut Cx::unlimited()).verdict() {
        Verdict::True => 'T',
        Verdict::False(_) => 'F',
        Verdict::Unknown(_) => '?',
    };
    PRESETS.map(answer).iter().collect()
}

#[test]
fn example_7_is_proved_with_k_1() {
    for encoding in ["bitvector", "integer"] {
        let mut run = analysis(UNIFYING_VIEW, "kinduction-plain", &[("cpa.predicate.encoding", encoding)]);
        assert_eq!(*run.run(&mut Cx::unlimited()).verdict(), Verdict::True);
        assert_eq!(run.kind().proved(), Some(1), "{encoding}");
        // Figure 6: from the loop head twice through the body. The formula of the second target, e14, is unsatisfiable; the
        // bit-vector encoding folds it to false.
        let step = run.kind().step().unwrap();
        let [unrolling] = step.unrollings() else { panic!("there is one loop") };
        let graph = unrolling.unrolling();
        assert_eq!(graph.bound(), 2);
        let targets = graph.arg().ids().filter(|&id| graph.arg().target(id).is_some());
        let visits: Vec<u32> = targets.map(|id| graph.visits(id)).collect();
        assert!(visits == [0] || visits == [0, 1], "{visits:?}\n{}", graph.arg().dump());
        assert_eq!(graph.frontier().len(), 1);
    }
}

#[test]
fn what_bounded_model_checking_cannot_prove() {
    // An endless loop that keeps an equality.
    let body = "int main(void) { int x = 0, y = 0; while (1) { x++; y++; if (x != y) reach_error(); } return 0; }";
    assert_eq!(answers(body), "TTT");
    // Two steps are needed: the value alternates.
    let body = "int main(void) { int x = 0, old = 1;
        while (1) { int t = x; x = old; old = t; if (x == old) reach_error(); } return 0; }";
    assert_eq!(answers(body), "TTT");
    // An interval is needed: x stays below a bound that the error is far above.
    let body = "int main(void) { int x = 0; while (__VERIFIER_nondet_int()) { if (x < 1000) x++; }
        if (x > 5000) reach_error(); return 0; }";
    assert_eq!(answers(body), "?TT");
    // The parity of a sum.
    let body = "int main(void) { unsigned s = 0; while (__VERIFIER_nondet_int()) { s += 2; }
        if (s == 7) reach_error(); return 0; }";
    assert_eq!(answers(body), "?TT");
    // A relation between two variables that no interval says.
    let body = "int main(void) { int n = __VERIFIER_nondet_int(), i = 0, s = 0; if (n < 0) return 0;
        while (i < n) { i++; s += 2; } if ((unsigned)s != 2u * (unsigned)n) reach_error(); return 0; }";
    assert_eq!(answers(body), "??T");
}

#[test]
fn nested_loops_and_loops_in_functions() {
    let body = "int main(void) { int i = 0, j = 0, k = 0;
        while (__VERIFIER_nondet_int()) { i++; for (int t = 0; t < 3; t++) { if (__VERIFIER_nondet_int()) { j++; k++; } }
          if (j != k) reach_error(); } return 0; }";
    assert_eq!(answers(body), "?TT");
    let body = "int count(int n) { int c = 0; while (c < n) c++; return c; }
        int main(void) { int a = __VERIFIER_nondet_int(); if (a < 0 || a > 100) return 0;
          int b = count(a), c = count(a + 1); if (b >= c + 200) reach_error(); return 0; }";
    assert_eq!(answers(body), "?TT");
}

#[test]
fn violations_are_found_and_never_proved_away() {
    let body =
        "int main(void) { int x = 0, y = 0; while (1) { x++; y++; if (x == 4) y++; if (x != y) reach_error(); } }";
    assert_eq!(answers(body), "FFF");
    // Wrap-around breaks what holds for unbounded integers, but only after more iterations than are tried.
    let body = "int main(void) { unsigned char x = 0; while (1) { x++; if (x == 0) reach_error(); } return 0; }";
    assert_eq!(answers(body), "???");
    let body = "int main(void) { int i = 0; unsigned s = 0;
        while (i < 300) { i++; s += 2; if (s == 600) reach_error(); } return 0; }";
    assert_eq!(answers(body), "???");
    // The violation is behind the loop, and invariants must not cut off the path to it.
    let body =
        "int main(void) { int i, n = __VERIFIER_nondet_int(); for (i = 0; i < n; i++) {} if (i == 3) reach_error();
        return 0; }";
    assert_eq!(answers(body), "FFF");
}

#[test]
fn facts_about_all_elements_of_arrays() {
    let head = "extern void *malloc(unsigned long); int main(void) { int n = __VERIFIER_nondet_int();
        if (n <= 0 || n > 100000) return 0; int i, *a = malloc(n * sizeof(int)), *b = malloc(n * sizeof(int));";
    let fill = "for (i = 0; i < n; i++) a[i] = 2 * i; for (i = 0; i < n; i++) b[i] = a[i] + 3;";
    // The element that is read is any one.
    let body = format!(
        "{head}{fill} i = __VERIFIER_nondet_int();
        if (i >= 0 && i < n && b[i] != 2 * i + 3) reach_error(); return 0; }}"
    );
    assert_eq!(answers(&body), "??T");
    let body = format!(
        "{head}{fill} i = __VERIFIER_nondet_int();
        if (i >= 0 && i <= n && b[i] != 2 * i + 3) reach_error(); return 0; }}"
    );
    assert_eq!(answers(&body), "???", "one element behind the end, which is undefined");
    // A sum over elements that are known.
    let body = format!(
        "{head} long s = 0; for (i = 0; i < n; i++) a[i] = 7; for (i = 0; i < n; i++) s += a[i];
        if (s != 7L * n) reach_error(); return 0; }}"
    );
    assert_eq!(answers(&body), "??T");
    // Where the last element is left out, only runs that come to it see an error.
    let body = format!(
        "{head} for (i = 0; i < n - 1; i++) a[i] = 1; a[n - 1] = 0; for (i = 0; i < n; i++)
        if (a[i] != 1) reach_error(); return 0; }}"
    );
    assert_eq!(answers(&body), "FFF");
}

#[test]
fn sums_of_elements_that_are_not_known() {
    let head = "extern short __VERIFIER_nondet_short(void); extern void *malloc(unsigned long);
        int main(void) { short n = __VERIFIER_nondet_short(); if (n <= 1) return 0; int i; long long s = 0;
        short *a = malloc(n * sizeof(short)), *b = malloc(n * sizeof(short));
        for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_short();";
    let (add, subtract) = ("for (i = 0; i < n; i++) s += a[i];", "for (i = 0; i < n; i++) s -= a[i];");
    let end = "if (s != 0) reach_error(); return 0; }";
    assert_eq!(answers(&format!("{head}{add}{subtract}{end}")), "??T");
    let is_violated = |body: String| {
        let more = [("cpa.loopbound.maxLoopIterationsUpperBound", "16")];
        let outcome = analysis(&format!("{HEADER}{body}"), "kinduction", &more).run(&mut Cx::unlimited());
        matches!(outcome.verdict(), Verdict::False(_))
    };
    assert!(is_violated(format!("{head}{add}a[1]++;{subtract}{end}")), "an element has changed");
    let copy = "for (i = 0; i < n; i++) b[i] = i + 1; a = b;";
    assert!(is_violated(format!("{head}{copy}{add}a = a + 1; n--;{subtract}{end}")), "the array begins elsewhere");
    let late = "for (i = 1; i < n; i++) s -= a[i];";
    assert!(is_violated(format!("{head}{add}{late}{end}")), "the first element is left out");
    let change = "for (i = 0; i < n; i++) { s += a[i]; a[i] = 1; }";
    assert!(is_violated(format!("{head}{change}{subtract}{end}")), "the elements change on the way");
}

#[test]
fn sums_are_bounded_by_multiples_of_their_length() {
    let body = |bound: &str| {
        format!(
            "extern void *malloc(unsigned long); int main(void) {{ int n = __VERIFIER_nondet_int();
            if (n <= 0 || n > 100000) return 0; int i, *a = malloc(n * sizeof(int)); long long s[1];
            for (i = 0; i < n; i++) if (i % 2 == 0) a[i] = 2; else a[i] = 0;
            s[0] = 0; for (i = 0; i < n; i++) s[0] = s[0] + a[i];
            if (s[0] > {bound}) reach_error(); return 0; }}"
        )
    };
    assert_eq!(answers(&body("2 * n")), "??T");
    assert_eq!(answers(&body("n")), "FFF");
}

#[test]
fn recursion_is_left_to_the_base_case() {
    let body = "int add(int m, int n) { if (n == 0) return m; return add(m + 1, n - 1); }
        int main(void) { int n = __VERIFIER_nondet_int(); if (n < 0) return 0; if (add(0, n) == 3) reach_error(); return 0; }";
    assert_eq!(answers(body), "FFF");
}

#[test]
fn a_loop_at_the_entry_has_no_first_segment() {
    let body = "int g; int main(void) { while (1) { if (g == 1) reach_error(); g = 1; } return 0; }";
    assert_eq!(answers(body), "FFF");
}

/// A budget for a number of steps.
struct Fuel(std::cell::Cell<u32>);

impl cpa_core::Budget for Fuel {
    fn check(&self) -> Result<(), cpa_core::Stop> {
        let left = self.0.get().checked_sub(1).ok_or(cpa_core::Stop::Timeout)?;
        self.0.set(left);
        Ok(())
    }
    fn remaining(&self) -> Option<std::time::Duration> {
        None
    }
}

#[test]
fn a_run_in_many_turns_has_the_same_answer() {
    let programs = [
        (
            "int main(void) { int x = 0, y = 0; while (1) { x++; y++; if (x == 4) y++; if (x != y) reach_error(); } }",
            false,
        ),
        (
            "int main(void) { int x = 0; while (__VERIFIER_nondet_int()) { if (x < 1000) x++; }
          for (int i = 0; i < 2; i++) if (x > 5000) reach_error(); return 0; }",
            true,
        ),
    ];
    for (body, safe) in programs {
        let mut run = analysis(&format!("{HEADER}{body}"), "kinduction", &[]);
        let mut turns = 0;
        let verdict = loop {
            turns += 1;
            let fuel = Box::new(Fuel(std::cell::Cell::new(20 + turns)));
            let mut cx = Cx::new(fuel, cpa_core::CancelToken::new());
            match run.run(&mut cx).verdict() {
                Verdict::Unknown(cpa_core::Reason::Stopped(cpa_core::Stop::Timeout)) if turns < 500 => {}
                verdict => break verdict.clone(),
            }
        };
        assert_eq!(matches!(verdict, Verdict::True), safe, "{verdict}");
        assert_eq!(matches!(verdict, Verdict::False(_)), !safe, "{verdict}");
        assert!(turns > 2, "{turns} turns");
    }
}

/// What the step case needs is a relation between variables that octagons find.
#[test]
fn octagons_propose_invariants() {
    let body = "int main(void) { int n = __VERIFIER_nondet_int(); if (n < 0 || n > 1000) return 0; int i = 0, j = 0;
        while (i < n) { i++; if (__VERIFIER_nondet_int()) j++; } if (j > n) reach_error(); return 0; }";
    let proved = |preset, options: &[(&str, &str)]| {
        let outcome = analysis(&format!("{HEADER}{body}"), preset, options).run(&mut Cx::unlimited());
        *outcome.verdict() == Verdict::True
    };
    assert!(!proved("kinduction-plain", &[]));
    assert!(proved("kinduction-octagon", &[]));
}

#[test]
fn what_realloc_adds_is_not_known() {
    let body = |error: &str| {
        format!(
            "extern void *malloc(unsigned long), *realloc(void *, unsigned long);
            int main(void) {{ unsigned char *p = malloc(16), *q = malloc(16); p[0] = 0; q[0] = 1; p = realloc(p, 32);
            if ({error}) reach_error(); return 0; }}"
        )
    };
    for error in ["p[16] != 0", "p[16] != 1", "p[31] == 1"] {
        assert!(!answers(&body(error)).contains('T'), "{error}");
    }
    assert!(answers(&body("q[0] != 1")).contains('T'));
}
