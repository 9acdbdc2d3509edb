// SPDX-License-Identifier: Apache-2.0
//! Ranges that hold in all rounds of loops: safe programs are proved, their unsafe twins are not, and nothing that some
//! execution of a random program reaches is proved to be unreachable.

use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use algo_exec::{Fixpoint, Rounds};
use cfa::machine::{Asked, Code, End, Inputs, Machine, Random, Setup, Storage};
use cfa::{IntTy, Options, Program, Property, Source};
use cpa_core::Cx;

fn load(text: &str) -> Arc<Program> {
    let head = "void abort(void); void reach_error(void); int __VERIFIER_nondet_int(void);
        unsigned __VERIFIER_nondet_uint(void); _Bool __VERIFIER_nondet_bool(void); float __VERIFIER_nondet_float(void);
        double __VERIFIER_nondet_double(void); double sin(double); void assume(int c) { if (!c) abort(); }
        void check(int c) { if (!c) reach_error(); } ";
    let source = Source { name: "t.c".into(), text: format!("{head}{text}") };
    Arc::new(cfa::load(&[source], &Options::default()).unwrap())
}

fn proved(program: &Arc<Program>) -> bool {
    let targets = program.targets(&Property::default_errors());
    let ranges = Fixpoint::new(Arc::clone(program), targets.clone()).run(&mut Cx::unlimited()).verdict().to_string();
    let combinations = Rounds::new(Arc::clone(program), targets).run(&mut Cx::unlimited()).verdict().to_string();
    let is_proof = |verdict: String| {
        assert!(verdict == "TRUE" || verdict.starts_with("UNKNOWN"), "{verdict}");
        verdict == "TRUE"
    };
    is_proof(ranges) | is_proof(combinations)
}

/// A program with `BOUND` is proved with the first text in its place, and not with the second one.
#[track_caller]
fn bounded(text: &str, good: &str, bad: &str) {
    assert!(proved(&load(&text.replace("BOUND", good))), "{good} is not proved");
    assert!(!proved(&load(&text.replace("BOUND", bad))), "{bad} is proved");
}

#[test]
fn a_filter() {
    let text = "int main(void) { double y = 0.0, old = 0.0; for (int i = 0; i < 500000; i++) {
        double x = __VERIFIER_nondet_double(); assume(x >= -2.0 && x <= 2.0);
        if (__VERIFIER_nondet_int()) y = 0.0; else y = 0.99 * y + x - old;
        old = x; check(y >= -BOUND && y <= BOUND); } return 0; }";
    bounded(text, "1000.0", "3.9");
}

#[test]
fn bounds_shrink_after_they_grew() {
    let text = "int main(void) { float x = 0.0f; int n = 0; while (x < 1000.0f) { x += 0.75f; n++; }
        check(x >= 1000.0f && x < BOUND); return 0; }";
    bounded(text, "1000.8f", "1000.0f");
    let counter = "int main(void) { int i = 0; while (i < 123456) i += 3; check(i <= BOUND); return 0; }";
    bounded(counter, "123458", "123455");
}

#[test]
fn what_is_not_a_number() {
    // No comparison excludes it but one that holds.
    let text = "int main(void) { double s = 0.0; while (__VERIFIER_nondet_int()) {
        double x = __VERIFIER_nondet_double(); if (BOUND) s = x; } check(s >= -1.0 && s <= 1.0); return 0; }";
    bounded(text, "x >= -1.0 && x <= 1.0", "!(x < -1.0) && !(x > 1.0)");
    // Infinity minus infinity.
    let text = "int main(void) { double s = 1.0; while (__VERIFIER_nondet_int()) { s = s * 2.0; } check(BOUND);
        return 0; }";
    bounded(text, "s == s", "s - s == 0.0");
    let text = "int main(void) { float s = 1.0f; while (__VERIFIER_nondet_int()) { s = s * 2.0f; } check(s >= BOUND);
        return 0; }";
    bounded(text, "1.0f", "2.0f");
}

#[test]
fn infinity_is_reached_by_sums() {
    let text = "int main(void) { double s = 0.0; while (__VERIFIER_nondet_int()) {
        if (s < 1e308) s = s + 1e307; else if (BOUND) s = s + 1e308; } check(s <= 1.5e308); return 0; }";
    bounded(text, "0", "1");
}

#[test]
fn integers_wrap_around() {
    let text = "int main(void) { unsigned i = 5; while (__VERIFIER_nondet_int()) { i = i BOUND; check(i >= 5); }
        return 0; }";
    bounded(text, "/ 2 + 5", "+ 1");
    let text = "int main(void) { int i = 0; while (__VERIFIER_nondet_int()) { if (i BOUND) i++; check(i >= 0); }
        return 0; }";
    bounded(text, "< 2147483647", ">= 0");
    let text = "int main(void) { unsigned char c = 200; while (__VERIFIER_nondet_int()) { if (c < BOUND) c += 2;
        check(c >= 200); } return 0; }";
    bounded(text, "254", "255");
}

#[test]
fn flags_keep_states_apart() {
    let text = "int main(void) { int ready = 0; double x = 0.0; while (__VERIFIER_nondet_int()) {
        if (ready) check(x >= BOUND); else if (__VERIFIER_nondet_bool()) { x = 5.0; ready = 1; } } return 0; }";
    bounded(text, "5.0", "5.5");
}

#[test]
fn conditions_as_arguments_say_what_is_in_variables() {
    let text = "int inside(double x) { return x >= 0.0 && x <= 4.0; } int main(void) { double s = 0.0;
        for (;;) { double x = __VERIFIER_nondet_double(); int c = inside(x); if (!c) continue;
        s = s / 2.0 + x; check(s <= BOUND); } }";
    bounded(text, "10.0", "7.0");
}

#[test]
fn memory_in_loops() {
    let text = "double s; int n = -3; int main(void) { double *p = &s; int *q = &n; while (__VERIFIER_nondet_int()) {
        *p = *p * 0.5 + 1.0; if (*q < 7) *q += 1; check(s <= BOUND && n >= -3 && n <= 7); } return 0; }";
    bounded(text, "2.0", "1.9");
}

#[test]
fn cells_at_one_of_several_addresses() {
    let text = "double a[20]; int count = 3; const float t[4] = { -1.0f, 0.5f, 2.0f, 3.0f }; int main(void) {
        for (int i = 0; i < 20; i++) a[i] = 1.0;
        for (;;) { unsigned i = __VERIFIER_nondet_uint(); assume(i < 20); if (a[i] < 4.5) a[i] = a[i] / 2.0 + 2.0;
        check(a[3] >= 1.0 && a[7] <= BOUND && count == 3); float x = t[i % 4]; check(x >= -1.0f && x <= 3.0f); } }";
    bounded(text, "4.5", "3.9");
    // An address that is not aligned.
    let text = "struct { char c[8]; } s; unsigned n; int main(void) { *(double *)s.c = 1.0;
        unsigned i = __VERIFIER_nondet_uint(); assume(i < 8); s.c[i] = BOUND; double x = *(double *)s.c;
        n = x == 1.0; check(n == 1); }";
    assert!(!proved(&load(&text.replace("BOUND", "3"))));
}

#[test]
fn loops_in_loops_and_functions() {
    let text = "float step(float x, int n) { while (n > 0) { x = x * 0.5f + 1.0f; n--; } return x; }
        int main(void) { float a = 0.0f, b = 0.0f; for (int i = 0; i < 1000; i++) {
        a = step(a, __VERIFIER_nondet_int()); for (int j = 0; j < i; j++) b = step(a, j); check(a + b <= BOUND); }
        return 0; }";
    bounded(text, "4.0f", "3.5f");
}

#[test]
fn what_cannot_be_run_with_ranges_proves_nothing() {
    let undefined = "int main(void) { int n = 0, x = 3; while (n < 10) { x = 10 / (5 - n); n++; } check(n == 10); }";
    assert!(!proved(&load(undefined)));
    let recursive = "int f(int x) { return x > 0 ? f(x - 1) : 0; } int main(void) { check(f(7) == 0); }";
    assert!(!proved(&load(recursive)));
    let unmodelled = "int main(void) { check(sin(1.0) <= 1.0); }";
    assert!(!proved(&load(unmodelled)));
    let unknown_address = "int a[3], b = 1; int main(void) { int i = __VERIFIER_nondet_int(); b = 0;
        assume(i >= 0 && i < 3); a[i] = 5; check(a[0] == 0); }";
    assert!(!proved(&load(unknown_address)));
}

#[test]
fn a_run_goes_on_after_a_stop() {
    let text = "int main(void) { double x = 0.0; while (__VERIFIER_nondet_int()) { x = x * 0.5 + 1.0;
        check(x < 2.5); } return 0; }";
    let program = load(text);
    let targets = program.targets(&Property::default_errors());
    let mut fixpoint = Fixpoint::new(program, targets);
    let mut stopped = Cx::unlimited();
    stopped.cancel_token().cancel();
    assert!(fixpoint.run(&mut stopped).verdict().to_string().starts_with("UNKNOWN"));
    assert_eq!(fixpoint.run(&mut Cx::unlimited()).verdict().to_string(), "TRUE");
}

struct Choices(Random);

impl Inputs for Choices {
    fn value(&mut self, _asked: Asked, ty: IntTy) -> Option<i128> {
        let simple = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, 1e30, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let (small, number) = (self.0.below(8) as i128 - 3, self.0.pick(&simple));
        Some(ty.wrap(match self.0.below(6) {
            0 => i128::from(number.to_bits()),
            1 | 2 => i128::from((number as f32).to_bits()),
            3 => self.0.pick(&[ty.min(), ty.max(), -1]),
            _ => small,
        }))
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(0)
    }
}

/// The number of programs.
const ROUNDS: u32 = 250;

const DOUBLES: [&str; 4] = ["x", "y", "g", "a[1]"];
const INTEGERS: [&str; 4] = ["i", "j", "u", "c"];
const NUMBERS: [&str; 8] = ["0.0", "1.0", "-0.5", "3.0", "0.1", "1e300", "x", "y"];
const SMALL: [&str; 7] = ["0", "1", "2", "7", "-3", "i", "j"];
const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

/// A condition.
fn condition(random: &mut Random) -> String {
    let (op, other) = (random.pick(&COMPARISONS), random.pick(&COMPARISONS));
    let (d, e) = (random.pick(&DOUBLES), random.pick(&NUMBERS));
    let (i, k) = (random.pick(&INTEGERS), random.pick(&SMALL));
    match random.below(9) {
        0 => format!("{d} {op} {e}"),
        1 => format!("f {op} {e}"),
        2 => format!("!({d} {op} {e})"),
        3 => format!("{d} {op} {e} && {i} {other} {k}"),
        4 => format!("{d} {op} {e} || {i} {other} {k}"),
        5 => "t".into(),
        6 => "u".into(),
        _ => format!("{i} {op} {k}"),
    }
}

/// Some statements; loops are at most `depth` deep.
fn statements(random: &mut Random, text: &mut String, depth: u32) {
    for _ in 0..1 + random.below(4) {
        let (d, e, n) = (random.pick(&DOUBLES), random.pick(&DOUBLES), random.pick(&NUMBERS));
        let (i, j, k) = (random.pick(&INTEGERS), random.pick(&INTEGERS), random.pick(&SMALL));
        let (op, cond) = (random.pick(&["+", "-", "*", "/"]), condition(random));
        let _ = match random.below(if depth > 0 { 23 } else { 17 }) {
            0 => write!(text, "{d} = __VERIFIER_nondet_double(); "),
            1 => write!(text, "f = __VERIFIER_nondet_float(); assume(f >= -4.0f && f <= 4.0f); "),
            2 => write!(text, "{d} = __VERIFIER_nondet_double(); assume({d} >= {n}); "),
            3 | 4 => write!(text, "{d} = {e} {op} {n}; "),
            5 => write!(text, "{d} = 0.5 * {e} {op} {d}; "),
            6 => write!(text, "f = (float){d}; "),
            7 => write!(text, "{d} = f {op} {i}; "),
            8 => write!(text, "{i} = {j} {} {k}; ", random.pick(&["+", "-", "*", "&", "|", "^"])),
            9 => write!(text, "{i} = __VERIFIER_nondet_int(); assume({i} <= 7 && {i} >= -1); "),
            10 => write!(text, "t = {cond}; "),
            11 => write!(text, "if ({i} < 9) {i}++; "),
            12 => write!(text, "{i} = __VERIFIER_nondet_uint(); "),
            13 => write!(text, "if ({d} > -100.0 && {d} < 100.0) {i} = (int){d}; "),
            14 => write!(text, "h = &{}; *h = {n}; ", random.pick(&["g", "a[0]", "a[1]"])),
            15 => write!(text, "assume({cond}); "),
            16 => write!(text, "if (j >= 0 && j < 2) a[j] = {n}; "),
            17 => {
                let _ = write!(text, "for (i = 0; i < {}; i++) {{ ", random.pick(&["3", "10", "1000", "j"]));
                statements(random, text, 0);
                write!(text, "}} ")
            }
            18 | 19 => {
                let _ = write!(text, "while ({cond}) {{ ");
                statements(random, text, depth - 1);
                write!(text, "}} ")
            }
            20 => {
                let _ = write!(text, "while (__VERIFIER_nondet_bool()) {{ ");
                statements(random, text, depth - 1);
                write!(text, "}} ")
            }
            _ => {
                let _ = write!(text, "if ({cond}) {{ ");
                statements(random, text, depth - 1);
                let _ = write!(text, "}} else {{ ");
                statements(random, text, depth - 1);
                write!(text, "}} ")
            }
        };
    }
}

/// Whether some execution with random inputs reaches the error.
fn reaches(program: &Program, inputs: &mut Choices) -> bool {
    let targets = program.targets(&Property::default_errors());
    let setup = Setup::new(&targets, Storage::Inputs);
    let code = Rc::new(Code::new(program, &setup).unwrap());
    (0..60).any(|_| {
        let mut machine = Machine::new(Rc::clone(&code), 1 << 20);
        matches!(machine.run(inputs, 3000), Some(End::Target(_)))
    })
}

#[test]
fn executions_are_contained() {
    let rounds = std::env::var("ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().expect("a number of programs"));
    let mut choices = Choices(Random::new(1));
    let (mut proofs, mut errors) = (0, 0);
    for _ in 0..rounds {
        let mut text = "double g, a[2] = { 0.0, -1.0 }; int main(void) { double x = 0.0, y = 1.0, *h = &g;
            float f = 0.5f; int i = 0, j = 1; unsigned u = 3; signed char c = -1; _Bool t = 0; "
            .to_owned();
        statements(&mut choices.0, &mut text, 2);
        statements(&mut choices.0, &mut text, 2);
        let _ = write!(
            text,
            "if ({} && !({})) reach_error(); return 0; }}",
            condition(&mut choices.0),
            condition(&mut choices.0)
        );
        let program = load(&text);
        let is_safe = proved(&program);
        let is_reached = reaches(&program, &mut choices);
        assert!(!(is_safe && is_reached), "the error is reached in\n{text}");
        proofs += u32::from(is_safe);
        errors += u32::from(is_reached);
    }
    let enough = rounds / 8;
    assert!(proofs > enough && errors > enough, "{proofs} proofs and {errors} errors of {rounds} programs");
}

#[test]
fn an_iteration_whose_variables_are_divided() {
    // Newton's method for reciprocals never leaves the largest of them, which ranges as a whole do not tell.
    bounded(
        "int main(void) { double a = __VERIFIER_nondet_double(), x = 0.0625, y; assume(a >= 20.0 && a <= 30.0);
        do { y = x; x = 2 * y - a * y * y; } while (x - y > 1e-10 || x - y < -1e-10);
        check(x >= 0.0 && x <= BOUND); }",
        "0.06",
        "0.049",
    );
}
