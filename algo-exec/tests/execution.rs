// SPDX-License-Identifier: Apache-2.0
//! Verdicts of execution on small programs.

mod common;

use std::sync::Arc;

use algo_exec::{Execution, Options};
use cfa::{Program, Property, Source};
use cpa_core::{Cx, Verdict};
use expect_test::{Expect, expect};

use common::turn;

fn program(text: &str) -> Arc<Program> {
    let prefix = "extern int nondet_int(void); extern void reach_error(void); extern void abort(void);\n";
    let source = Source { name: "test.c".to_owned(), text: format!("{prefix}{text}") };
    Arc::new(cfa::load(&[source], &cfa::Options::default()).unwrap())
}

fn verdict(text: &str) -> Verdict {
    let program = program(text);
    let targets = program.targets(&Property::default_errors());
    let options = Options { max_runs: 20_000, ..Options::default() };
    Execution::new(program, targets, options).run(&mut Cx::unlimited()).verdict().clone()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&verdict(text).to_string());
}

#[test]
fn programs_without_inputs_are_decided() {
    let sum = |expected: u32| {
        format!(
            "int main(void) {{ unsigned s = 0; for (unsigned i = 0; i < 100000; i++) s += i * i;
            if (s != {expected}u) reach_error(); return 0; }}"
        )
    };
    let right = (0..100_000u32).fold(0u32, |s, i| s.wrapping_add(i.wrapping_mul(i)));
    check(&sum(right), expect!["TRUE"]);
    check(&sum(right + 1), expect!["FALSE"]);
    check("int main(void) { abort(); reach_error(); return 0; }", expect!["TRUE"]);
    check(
        "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
        int main(void) { if (f(15) == 610) reach_error(); return 0; }",
        expect!["FALSE"],
    );
}

#[test]
fn a_loop_that_asks_whether_to_go_on_goes_on_for_long() {
    check(
        "int main(void) { unsigned short s = 6; while (nondet_int()) s += 18; if (s % 6) reach_error(); return 0; }",
        expect!["FALSE"],
    );
}

#[test]
fn one_place_has_the_same_worst_input_in_all_rounds() {
    check(
        "int main(void) { int x0 = nondet_int(), y = 0, n = 0;
        if (x0 < 20 || x0 > 40) return 0;
        for (int x = x0; x > 0; n++) {
            if (y > 0) y--; else { x--; y = nondet_int(); if (y < 0 || y > 31) return 0; }
        }
        if (n > 31 * x0 - 31) reach_error();
        return 0; }",
        expect!["FALSE"],
    );
}

#[test]
fn a_run_that_is_stopped_goes_on() {
    let program = program(
        "int main(void) { unsigned s = nondet_int(); for (int i = 0; i < 1000000; i++) { s = s * 1103515245 + 12345; s ^= s >> 7; }
        int y = nondet_int(); if (y == 1 && s != 1) reach_error(); return 0; }",
    );
    let targets = program.targets(&Property::default_errors());
    let mut execution = Execution::new(program, targets, Options::default());
    // A run takes longer than the first turns; to confirm one takes as long.
    let mut turns = 0;
    loop {
        let mut cx = turn(5 + turns);
        if let Verdict::False(_) = execution.run(&mut cx).verdict() {
            break;
        }
        turns += 1;
        assert!(turns < 70, "turns of 70 slices are longer than the run");
    }
}

#[test]
fn a_long_run_is_known_by_its_inputs() {
    let Verdict::False(cex) = verdict(
        "int main(void) { int x = nondet_int(); for (int i = 0; i < 200000; i++) { }
        int y = nondet_int(); if (x == y) reach_error(); return 0; }",
    ) else {
        panic!("the error is found");
    };
    let rest = cex.rest.unwrap();
    assert_eq!((cex.inputs.len(), rest.inputs.len()), (1, 1));
    assert_eq!(cex.inputs[0].1, rest.inputs[0].1);
    // Inputs all along: those of the steps that are listed, and then the others.
    let Verdict::False(cex) = verdict(
        "int main(void) { int t = 0; for (int i = 0; i < 40000; i++) { if (nondet_int() == t) t = 1 - t; } reach_error(); return 0; }",
    ) else {
        panic!("the error is found");
    };
    let rest = cex.rest.unwrap();
    assert_eq!(cex.inputs.len() + rest.inputs.len(), 40_000);
    assert!(cex.inputs.iter().all(|&(step, _)| step < cex.steps.len()));
    assert!(rest.inputs.len() > 1000 && cex.inputs.len() > 1000);
}

#[test]
fn loops_that_change_nothing_are_endless() {
    check("int main(void) { while (1) { } reach_error(); return 0; }", expect!["TRUE"]);
    check(
        "int main(void) { int x = 0; while (1) { x = 1 - x; if (x > 1) reach_error(); } return 0; }",
        expect!["TRUE"],
    );
}

#[test]
fn what_is_not_determined_is_no_proof() {
    check(
        "int main(void) { int x; if (x == 12345) x = 1; return 0; }",
        expect!["UNKNOWN (the analysis gave up: no error was found in 20000 executions)"],
    );
    check(
        "int main(void) { int x = 1; int y = 5 / (x - 1); return y; }",
        expect!["UNKNOWN (the analysis gave up: test.c:2:33: division by zero; what happens then is not defined)"],
    );
    // It does not matter what is never looked at.
    check("int main(void) { int x; int y = x; y = 3; return y; }", expect!["TRUE"]);
    check("int f(void) { } int main(void) { int x = f(); f(); return 0; }", expect!["TRUE"]);
}

#[test]
fn inputs_are_found() {
    check("int main(void) { int x = nondet_int(); if (x == 123456) reach_error(); return 0; }", expect!["FALSE"]);
    check("int main(void) { int x; if (x == 7) reach_error(); return 0; }", expect!["FALSE"]);
    // One right input after the other: needs what earlier runs found out.
    check(
        "int main(void) { int state = 0; while (1) { int x = nondet_int(); if (x < 0 || x > 9) abort();
            if (state == 0) { if (x == 3) state = 1; } else if (state == 1) { state = x == 4 ? 2 : 0; }
            else if (state == 2) { state = x == 8 ? 3 : 0; } else if (state == 3) { state = x == 1 ? 4 : 0; }
            else reach_error(); } }",
        expect!["FALSE"],
    );
    // A number that the program does not mention, twice.
    check(
        "int main(void) { int n = nondet_int(), m = nondet_int(), s = 0; if (n < 0 || n > 100000 || m < 0 || m > 100000) return 0;
            for (int i = 0; i < n; i++) s = s + 3; for (int i = 0; i < m; i++) s = s + 100000;
            if (s == 377 * 100003) reach_error(); return 0; }",
        expect!["FALSE"],
    );
    check(
        "int main(void) { int x = nondet_int(); if (x * x == -1) reach_error(); return 0; }",
        expect!["UNKNOWN (the analysis gave up: no error was found in 20000 executions)"],
    );
}

#[test]
fn addresses_of_new_objects_do_not_matter() {
    let declared = "extern void *malloc(unsigned);";
    check(
        &format!(
            "{declared} int main(void) {{ int *p = malloc(4), *q = malloc(4); *p = 1; *q = 2;
            if (p == q || *p + *q != 3) reach_error(); return 0; }}"
        ),
        expect!["TRUE"],
    );
    check(
        &format!(
            "{declared} int main(void) {{ int *p = malloc(4), *q = malloc(4); if (p < q) reach_error(); return 0; }}"
        ),
        expect![
            "UNKNOWN (the analysis gave up: test.c:2:89: the execution depends on 'main::__layout', which has no certain value)"
        ],
    );
    check(
        &format!(
            "{declared} int main(void) {{ int *p = malloc(4); if (nondet_int() > 3 && *p == 1) reach_error(); return 0; }}"
        ),
        expect!["FALSE"],
    );
}
