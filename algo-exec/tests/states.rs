// SPDX-License-Identifier: Apache-2.0
//! Exploration of states, on small state machines: safe ones, and their unsafe twins.

mod common;

use std::sync::Arc;

use algo_exec::{States, StatesOptions};
use cfa::{Options, Property, Source};
use cpa_core::{Cx, Reason, Stop, Verdict};

use common::turn;

/// The verdict, the number of explorations and of states. With refinement the verdict is the same, and also if all ways that
/// meet in the same state are merged, whether they come from the same state or not.
fn explore(text: &str) -> (String, u64, usize) {
    let options = StatesOptions::default();
    let all = explore_with(text, options);
    let (within, across) = (options.merge_after, options.across_after);
    let manners =
        [(true, within, across), (false, 0, across), (true, 0, across), (false, within, 0), (true, within, 0)];
    for (refine, merge_after, across_after) in manners {
        let other = StatesOptions { refine, merge_after, across_after, ..options };
        assert_eq!(explore_with(text, other).0, all.0);
    }
    all
}

fn explore_with(text: &str, options: StatesOptions) -> (String, u64, usize) {
    let mut states = analysis(text, options);
    let verdict = states.run(&mut Cx::unlimited()).verdict().to_string();
    (verdict, states.statistics().attempts, states.statistics().states)
}

fn analysis(text: &str, options: StatesOptions) -> States {
    let head = "void abort(void); void reach_error(void); int __VERIFIER_nondet_int(void);
        char __VERIFIER_nondet_char(void); _Bool __VERIFIER_nondet_bool(void); unsigned __VERIFIER_nondet_uint(void);
        void assume(int c) { if (!c) abort(); } void check(int c) { if (!c) reach_error(); } ";
    let source = Source { name: "t.c".into(), text: format!("{head}{text}") };
    let program = Arc::new(cfa::load(&[source], &Options::default()).unwrap());
    let targets = program.targets(&Property::default_errors());
    let options = StatesOptions { max_bytes: 1 << 24, ..options };
    States::new(program, &targets, options)
}

fn verdict(text: &str) -> String {
    explore(text).0
}

/// A machine whose states are numbers and whose inputs are compared with constants.
fn automaton(last: &str) -> String {
    format!(
        "int s = 1, a = 7;
         int step(int input) {{
             if (s == 1 && input == 3) {{ s = 2; return 0; }}
             if (s == 2 && (input == 1 || input == 2)) {{ s = 3; a = (a % 20) + 100; return 0; }}
             if (s == 3 && a > 99 && input == 6) {{ s = 1; a = a - 90; return 0; }}
             if (s == 3 && {last}) reach_error();
             return -2;
         }}
         int main(void) {{
             while (1) {{
                 int input = __VERIFIER_nondet_int();
                 if (input < 1 || input > 6) return 0;
                 step(input);
             }}
         }}"
    )
}

#[test]
fn machines_with_inputs_that_are_compared_with_constants() {
    let (verdict, attempts, states) = explore(&automaton("a < 100 && input == 5"));
    assert_eq!((verdict.as_str(), attempts), ("TRUE", 1));
    assert!(states < 60, "{states}");
    assert_eq!(explore(&automaton("a < 108 && input == 5")).0, "FALSE");
}

/// Three nodes in a ring pass on the greatest number they know; who gets its own one back is the leader.
fn ring(passes_on: &str, rounds: &str) -> String {
    format!(
        "char id1, id2, id3, send1, send2, send3, got1, got2, got3, leader1, leader2, leader3;
         unsigned char r = 0;
         int main(void) {{
             id1 = __VERIFIER_nondet_char(); id2 = __VERIFIER_nondet_char(); id3 = __VERIFIER_nondet_char();
             assume(id1 >= 0 && id2 >= 0 && id3 >= 0 && id1 != id2 && id1 != id3 && id2 != id3);
             send1 = id1; send2 = id2; send3 = id3;
             while (1) {{
                 got1 = send3; got2 = send1; got3 = send2;
                 if (got1 > id1) send1 = got1; else if (got1 == id1) leader1 = 1; else {passes_on}
                 if (got2 > id2) send2 = got2; else if (got2 == id2) leader2 = 1;
                 if (got3 > id3) send3 = got3; else if (got3 == id3) leader3 = 1;
                 if (r == 255) r = {rounds};
                 r = r + 1;
                 check(leader1 + leader2 + leader3 <= 1 && (r < 3 || leader1 + leader2 + leader3 == 1));
             }}
         }}"
    )
}

#[test]
fn inputs_that_are_compared_with_each_other() {
    assert_eq!(verdict(&ring(";", "3")), "TRUE");
    // Also the smaller numbers get around.
    assert_eq!(verdict(&ring("send1 = got1;", "3")), "FALSE");
}

#[test]
fn a_counter_that_wraps_around_needs_its_values() {
    let machine = |bad: &str| {
        format!(
            "int main(void) {{ unsigned char n = 0; int wrapped = 0;
                 while (1) {{ if (n == 255) wrapped = 1; n++; if (wrapped && {bad}) reach_error();
                     if (__VERIFIER_nondet_bool()) return 0; }} }}"
        )
    };
    let (verdict, attempts, _) = explore(&machine("n == 77"));
    assert_eq!(verdict, "FALSE");
    assert!(attempts > 1, "the values around 77 are not told apart at first");
    assert_eq!(explore(&machine("n > 255")).0, "TRUE");
}

#[test]
fn each_target_gets_the_precision_that_it_needs() {
    let machine = |deep: u32| {
        format!(
            "void counter(void) {{ int n = 0; while (n < 300) {{ n++; check(n != {deep}); }} }}
             void other(void) {{ int s = 0; while (1) {{ s = s ? 0 : 1; check(s < 2); }} }}
             int main(void) {{ if (__VERIFIER_nondet_bool()) counter(); else other(); return 0; }}"
        )
    };
    assert_eq!(verdict(&machine(250)), "FALSE");
    assert_eq!(verdict(&machine(301)), "TRUE");
}

#[test]
fn arithmetic_wraps_around() {
    let text = |bad: &str| {
        format!(
            "int main(void) {{ unsigned x = __VERIFIER_nondet_uint(); unsigned y = x + 3;
                 while (__VERIFIER_nondet_bool()) {{ if ({bad}) reach_error(); }} return 0; }}"
        )
    };
    assert_eq!(verdict(&text("y < x && y > 2")), "TRUE");
    assert_eq!(verdict(&text("y < x && y == 2")), "FALSE");
    let text = |bad: &str| {
        format!(
            "int main(void) {{ int x = __VERIFIER_nondet_int(); assume(x > 100 && x < 300); char c = (char)x;
                 while (__VERIFIER_nondet_bool()) {{ if ({bad}) reach_error(); }} return 0; }}"
        )
    };
    assert_eq!(verdict(&text("c > 43 && x > 255")), "TRUE");
    assert_eq!(verdict(&text("c == 43 && x > 255")), "FALSE");
}

#[test]
fn what_is_not_known_exactly_is_no_proof() {
    let text = "int main(void) { int x = __VERIFIER_nondet_int(); while (__VERIFIER_nondet_bool()) {
        if (x * x == 1522756) reach_error(); } return 0; }";
    assert!(verdict(text).starts_with("UNKNOWN"), "{}", verdict(text));
    let text = "int a[99]; int main(void) { int i = __VERIFIER_nondet_int(); assume(i >= 0 && i < 99);
        while (__VERIFIER_nondet_bool()) { a[i] = a[i] + 1; if (a[2] == 2) reach_error(); } return 0; }";
    assert!(verdict(text).starts_with("UNKNOWN"), "{}", verdict(text));
    let text = "int f(int n) { return n ? f(n - 1) : 1; } int main(void) { check(f(3)); return 0; }";
    assert!(verdict(text).starts_with("UNKNOWN"), "{}", verdict(text));
    let text = "void g(void) { __asm__ volatile (\"nop\"); } int main(void) { g(); check(1 == 0); return 0; }";
    assert!(!verdict(text).starts_with("TRUE"), "{}", verdict(text));
}

/// A machine with inputs that are looked at again and again without influence on whether the error is reached.
fn flags(count: usize, bad: &str) -> String {
    let declared: String = (0..count).map(|i| format!("int f{i} = __VERIFIER_nondet_int();")).collect();
    let read: String = (0..count).map(|i| format!("case {i}: s = f{i} ? {i} + 1 : {i} + 2; break;")).collect();
    format!(
        "int main(void) {{ int s = 0, seen = 0; {declared}
             while (1) {{ switch (s) {{ {read} default: seen = 1; s = 0; }} if (seen && {bad}) reach_error(); }} }}"
    )
}

#[test]
fn variables_without_influence_are_not_tracked() {
    let safe = flags(8, "(seen > 1 || s > 9)");
    let (verdict, attempts, states) = explore_with(&safe, StatesOptions { refine: true, ..StatesOptions::default() });
    assert_eq!(verdict, "TRUE");
    assert!(attempts > 1 && states < 40, "{attempts} {states}");
    let (verdict, _, states) = explore_with(&safe, StatesOptions::default());
    assert_eq!(verdict, "TRUE");
    assert!(states > 400, "{states}");
    // Going round a second time with the same flags: this needs them all.
    assert_eq!(explore(&flags(4, "s == 1 && f0 == 0")).0, "TRUE");
    assert_eq!(explore(&flags(4, "s == 1 && f0 == 7")).0, "FALSE");
}

#[test]
fn single_values_are_excluded() {
    let text = |last: &str| {
        format!(
            "int main(void) {{ int x = __VERIFIER_nondet_int(), y = x + 1; assume(x != 3 && x != 5 && x >= 0 && x < 7);
                 while (__VERIFIER_nondet_bool()) {{ if (y != 3 && x != 0 && x != 4 && x != 1 && {last}) reach_error(); }}
                 return 0; }}"
        )
    };
    assert_eq!(verdict(&text("x != 6")), "TRUE");
    assert_eq!(verdict(&text("x != 5")), "FALSE");
    let text = |last: &str| {
        format!(
            "int main(void) {{ int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(); assume(x != 3 && y != 4);
                 while (__VERIFIER_nondet_bool()) {{ if (x == y && {last}) reach_error(); }} return 0; }}"
        )
    };
    assert_eq!(verdict(&text("(x == 4 || y == 3)")), "TRUE");
    assert_eq!(verdict(&text("(x == 5 || y == 3)")), "FALSE");
}

#[test]
fn memory_at_known_addresses() {
    let text = |bad: &str| {
        format!(
            "void *malloc(unsigned long); struct s {{ int state; struct s *other; unsigned char low; }};
             int main(void) {{
                 struct s *p = malloc(sizeof *p); if (!p) return 0;
                 p->other = malloc(sizeof *p); if (!p->other) return 0;
                 p->state = 1; p->other->state = __VERIFIER_nondet_int(); p->low = 200;
                 while (1) {{
                     struct s *q = p->other;
                     if (p->state == 1 && q->state > 7) p->state = 2;
                     else if (p->state == 2 && q->state != 9) p->state = 3;
                     else if (p->state == 3) {{ if ({bad}) reach_error(); return 0; }}
                     else return 0;
                 }}
             }}"
        )
    };
    assert_eq!(verdict(&text("(q->state < 8 || q->state == 9 || (signed char)p->low > 0)")), "TRUE");
    assert_eq!(verdict(&text("q->state == 10")), "FALSE");
    let text = |bad: &str| {
        format!(
            "int a[3]; int main(void) {{ int i = __VERIFIER_nondet_int(), n = 0; assume(i >= 0 && i < 3);
                 while (n < 2) {{ a[i] = a[i] + 1; n = n + 1; if ({bad}) reach_error(); }} return 0; }}"
        )
    };
    assert_eq!(verdict(&text("a[2] == 2 && i < 2")), "TRUE");
    assert_eq!(verdict(&text("a[2] == 2")), "FALSE");
    // Bytes of a number, an array that is overwritten at an unknown position, another view of the same bytes.
    let text = "int main(void) { int x = 258; unsigned char *p = (unsigned char *)&x; while (__VERIFIER_nondet_bool())
        { if (p[1] == 1) reach_error(); } return 0; }";
    assert_ne!(verdict(text), "TRUE");
    let text = "int a[99]; int main(void) { int i = __VERIFIER_nondet_int(); assume(i >= 0 && i < 99);
        while (1) { a[i] = 1; if (a[50]) reach_error(); } }";
    assert_ne!(verdict(text), "TRUE");
    let text = "union u { int i; short s[2]; }; union u a; int main(void) { a.i = 5; a.s[1] = 1;
        while (1) { if (a.i != 5) reach_error(); } }";
    assert_ne!(verdict(text), "TRUE");
    // Each object has cells of its own.
    let text = |bad: &str| {
        format!(
            "void *malloc(unsigned long); int main(void) {{ int *p = 0, *q; int n = 0;
                 while (n < 3) {{ q = p; p = malloc(4); if (!p) return 0; *p = n; n++;
                     if (n == 3 && {bad}) reach_error(); }} return 0; }}"
        )
    };
    assert_eq!(verdict(&text("(*p != 2 || *q != 1 || p == q)")), "TRUE");
    assert_eq!(verdict(&text("*q == 1")), "FALSE");
}

/// Ways to what is not supported are excluded like ways to errors.
#[test]
fn what_is_not_supported_is_not_reached() {
    let text = |first: &str| {
        format!(
            "void f(int x) {{ check(x == 2); }} void g(void) {{ }}
             int main(void) {{ void (*call)(int) = {first}; while (__VERIFIER_nondet_int()) {{ call(2); }} return 0; }}"
        )
    };
    assert_eq!(explore(&text("f")).0, "TRUE");
    assert!(explore(&text("(void (*)(int))g")).0.starts_with("UNKNOWN"));
}

/// 24 branches one after the other have 2^24 ways through them, which all meet in the same few states.
#[test]
fn ways_that_meet_in_the_same_state_are_one() {
    let machine = |bound: u32| {
        let branches = (0..24)
            .map(|i| format!("k = __VERIFIER_nondet_int(); if (k > {i}) {{ look(s, 1); }} else {{ look(0, s); }} "));
        format!(
            "int s = 0; void look(int a, int b) {{ if (a + b > {bound}) reach_error(); }}
             int main(void) {{
                 int k;
                 while (__VERIFIER_nondet_int()) {{
                     {}
                     if (s == 0) s = 1; else if (s == 1) s = 2; else s = 0;
                 }}
             }}",
            branches.collect::<String>()
        )
    };
    assert_eq!(verdict(&machine(3)), "TRUE");
    assert_eq!(verdict(&machine(2)), "FALSE");
}

/// Bits in a number, one for each of some inputs, and a loop behind them.
fn bits(count: u32, behind: &str) -> String {
    let bits = (0..count).map(|i| format!("if (__VERIFIER_nondet_bool()) s |= {}; ", 1u32 << i));
    format!("int main(void) {{ unsigned s = 0, n = 0; {} while (1) {{ {behind} }} }}", bits.collect::<String>())
}

/// Truth values that are only copied are not told apart.
#[test]
fn truth_values_stay_symbols() {
    let inputs = (0..20).map(|i| format!("_Bool b{i} = __VERIFIER_nondet_bool(); "));
    let text = format!(
        "int main(void) {{ {} _Bool x = 0; int n = 0;
             while (n < 9) {{ x = b7; b7 = b3; b3 = x; n++; check(x == 0 || x == 1); }} }}",
        inputs.collect::<String>()
    );
    let (verdict, _, states) = explore(&text);
    assert_eq!(verdict, "TRUE");
    assert!(states < 50, "{states}");
}

/// An error far behind all of a million combinations of inputs, and one behind a single combination.
#[test]
fn combinations_of_inputs_are_not_all_first() {
    let options = StatesOptions::default();
    let (verdict, _, states) = explore_with(&bits(20, "n++; if (n == 90) reach_error();"), options);
    assert_eq!(verdict, "FALSE");
    assert!(states < 10_000, "{states}");
    let near = |bad: &str| bits(12, &format!("if (n < 5) n++; if ({bad}) reach_error();"));
    assert_eq!(explore_with(&near("s == 0x5c3 && n == 5"), options).0, "FALSE");
    assert_eq!(explore_with(&near("s == 0x5c3 && n == 6"), options).0, "TRUE");
}

/// What was found in a turn that ended before it was looked at is found again in the next one.
#[test]
fn an_error_that_there_was_no_time_for_is_not_lost() {
    let machines = [
        automaton("a < 108 && input == 5"),
        ring("send1 = got1;", "3"),
        bits(6, "if (n < 20) n++; if (s == 13 && n == 20) reach_error();"),
        "void f(int x) { check(x == 3); } void g(void) { }
         int main(void) { void (*call)(int) = __VERIFIER_nondet_bool() ? f : (void (*)(int))g;
             while (__VERIFIER_nondet_int()) { call(2); } return 0; }"
            .to_string(),
    ];
    for (text, refine) in machines.iter().flat_map(|text| [(text, false), (text, true)]) {
        for questions in 1..40 {
            let mut states = analysis(text, StatesOptions { refine, ..StatesOptions::default() });
            let mut verdicts = (0..).map(|turns| states.run(&mut turn(questions + turns)).verdict().clone());
            let verdict = verdicts.find(|verdict| *verdict != Verdict::Unknown(Reason::Stopped(Stop::Timeout)));
            assert_ne!(verdict.map(|verdict| verdict.to_string()).as_deref(), Some("TRUE"), "{questions}: {text}");
        }
    }
}

/// An exploration that is stopped does not begin a state anew: turns that are shorter than the first state takes get to the end,
/// and to the same states.
#[test]
fn an_exploration_that_is_stopped_goes_on() {
    let text = bits(14, "if (n < 2) n++; if (n == 3) reach_error();");
    let mut states = analysis(&text, StatesOptions::default());
    let all = {
        let mut states = analysis(&text, StatesOptions::default());
        assert_eq!(states.run(&mut Cx::unlimited()).verdict().to_string(), "TRUE");
        states.statistics()
    };
    let mut turns = 0;
    let outcome = loop {
        turns += 1;
        assert!(turns < 100_000, "no progress");
        let mut cx = turn(3);
        let outcome = states.run(&mut cx);
        if *outcome.verdict() != Verdict::Unknown(Reason::Stopped(Stop::Timeout)) {
            break outcome;
        }
    };
    assert!(turns > 3, "{turns}");
    assert_eq!(outcome.verdict().to_string(), "TRUE");
    assert_eq!((states.statistics().states, states.statistics().steps), (all.states, all.steps));
}

#[test]
fn what_happens_in_any_order_is_not_explored_in_all_orders() {
    // In each round any of those that have not begun may begin.
    let tasks = 9;
    let mut text = String::new();
    for task in 0..tasks {
        text += &format!("int begun{task} = 0, count{task} = 0;");
    }
    text += "int main(void) { while (1) {";
    for task in 0..tasks {
        text += &format!("if (!begun{task} && __VERIFIER_nondet_bool()) {{ begun{task} = 1; count{task}++; }}");
    }
    text += "check(count0 <= 1); } }";
    let steps = |across_after| {
        let mut states = analysis(&text, StatesOptions { across_after, ..StatesOptions::default() });
        assert_eq!(states.run(&mut Cx::unlimited()).verdict().to_string(), "TRUE");
        states.statistics().steps
    };
    let (all, few) = (steps(u64::MAX), steps(0));
    assert!(few < all / 3, "{few} instead of {all} steps");
    assert_eq!(verdict(&text.replace("count0 <= 1", "count0 < 1")), "FALSE");
}

/// What is not supported, and may call back, but lies where only more precise values show that no execution gets.
#[test]
fn unsupported_where_values_are_lost() {
    let text = "void other(char *); char c; void f(void) {} void (*p)(void) = f; int main(void) { int n = 0; for (;;) {
        if (__VERIFIER_nondet_int() == 1) n = n < 500 ? n + 2 : 0;
        if (n == 101) { other(&c); if (c) reach_error(); } } }";
    let (verdict, attempts, _) = explore(text);
    assert_eq!(verdict, "TRUE");
    assert!(attempts > 1);
    assert!(explore(&text.replace("n == 101", "n == 102")).0.contains("call of 'other'"));
}
