// SPDX-License-Identifier: Apache-2.0
//! Summaries against their loops, by execution: constant extrapolation ends with the same values, and the others can be
//! given inputs such that they do.

use std::collections::BTreeSet;
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, NoInputs, Setup, Storage};
use cfa::{IntTy, Options, Program, Property, Source};
use loopabs::{Loops, Strategy};

fn load(text: &str) -> Program {
    let source = Source { name: "t.c".into(), text: text.into() };
    let options = Options { loop_sites: true, ..Options::default() };
    cfa::load(&[source], &options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a program for a while.
fn execute(program: &Program, inputs: &mut impl Inputs) -> Option<End> {
    let targets = program.targets(&Property::default_errors());
    let setup = Setup::new(&targets, Storage::Inputs);
    let mut machine = Machine::new(Rc::new(Code::new(program, &setup).unwrap()), 1 << 20);
    machine.run(inputs, 1 << 21)
}

/// The text with another name for a variable.
fn renamed(text: &str, from: &str, to: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length.max(1));
        result.push_str(if word == from { to } else { word });
        rest = behind;
    }
    result
}

/// A loop over `i` and its copy over `j`, from the same values; an error if the results differ.
fn twice(ty: &str, header: &str, body: &str, [start, bound]: [i128; 2]) -> String {
    let copy = |name: &str, sum: &str| {
        let named = |text: &str| renamed(&renamed(text, "i", name), "s", sum);
        format!("while ({}) {{ {} }}", named(header), named(body))
    };
    format!(
        "extern void reach_error(void); extern void abort(void);
        int main(void) {{ {ty} n = ({ty}){:#x}ULL; {ty} i = ({ty}){:#x}ULL, j = i; {ty} s = 3, t = 3;
          {}
          {}
          if (i != j || s != t) reach_error();
        }}",
        bound as u64,
        start as u64,
        copy("i", "s"),
        copy("j", "t")
    )
}

/// Compares the second loop after an exact strategy with the first one; says whether both ended.
fn compare(text: &str, strategy: Strategy) -> bool {
    let program = load(text);
    let loops = Loops::new(&program, &BTreeSet::new());
    assert!(loops.summary(1, strategy).is_ok(), "{:?}\n{text}", loops.summary(1, strategy));
    let printed = loops.render(&program, 0, |site| if site == 1 { strategy } else { Strategy::Base }).text;
    match execute(&load(&printed), &mut NoInputs) {
        None => false,
        Some(End::Returned) => true,
        Some(end) => panic!("{end:?}\n{printed}"),
    }
}

#[test]
fn constant_extrapolation_is_exact_in_machine_arithmetic() {
    let types = [("int", 32), ("unsigned int", 32), ("long long", 64), ("unsigned long long", 64)];
    let headers = ["i < n", "i <= n", "i != n", "i > n", "i >= n", "i + 5 < n", "n > i"];
    let bodies = ["i += K; s += 7;", "s += i; i += K;", "i -= K; s = s + 2 * n;", "s -= 3 * i; i -= K; s += n;"];
    let mut random = 12345u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % below
    };
    let (mut ended, mut all) = (0, 0);
    for round in 0..400 {
        let (ty, bits) = types[round % types.len()];
        let header = headers[next(headers.len() as u64) as usize];
        let step = [1, 1, 2, 3, 4, 7, 12, 64][next(8) as usize];
        let body = bodies[next(bodies.len() as u64) as usize].replace('K', &step.to_string());
        let int = IntTy { bits, signed: !ty.starts_with("unsigned") };
        // Near to each other, often near to the ends of the type.
        let base = [0, int.min() + 40, int.max() - 40, 1000][next(4) as usize];
        let (start, bound) = (base + i128::from(next(300)) - 40, base + i128::from(next(300)) - 40);
        let text = twice(ty, header, &body, [int.wrap(start), int.wrap(bound)]);
        let program = load(&text);
        let loops = Loops::new(&program, &BTreeSet::new());
        // Loops that move away from their bound are refused.
        if loops.summary(1, Strategy::Constant).is_ok() {
            all += 1;
            ended += usize::from(compare(&text, Strategy::Constant));
        }
    }
    assert!(all > 150 && ended > 100, "{ended} of {all}");
}

#[test]
fn phase_extrapolation_is_exact_in_machine_arithmetic() {
    let types = [("int", 32), ("unsigned int", 32), ("long long", 64), ("unsigned char", 8), ("short", 16)];
    let headers = ["i < n", "i <= n", "i != n", "n > i", "i < n && s != 90", "i < n || s < 40", "n - i > 3"];
    let bodies = [
        "if (i < M) { i += K; s += 7; } else { i += 1; s += i; }",
        "if (i == M) s = 5; else if (s > 60) { s -= K; } i++;",
        "i++; if (i > M) continue; s += K;",
        "if (i >= M && i <= M + 20) s += n; i += K; if (s == M) break;",
        "do { i += K; if (i > M) s++; } while (s < 20 && i < n); i++;",
        "i = up(i, K); if (!(i < M || s > 100)) s++;",
        "if ((s & 1) == 0) s += 2; else s += 4; i++;",
    ];
    let mut random = 4711u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % below
    };
    let (mut ended, mut all) = (0, 0);
    for round in 0..600 {
        let (ty, bits) = types[round % types.len()];
        let header = headers[next(headers.len() as u64) as usize];
        let int = IntTy { bits, signed: !ty.starts_with("unsigned") };
        let base = [0, int.min() + 40, int.max() - 40, 1000][next(4) as usize];
        let mut near = || int.wrap(base + i128::from(next(300)) - 40);
        let (start, bound, middle) = (near(), near(), near());
        let step = [1, 1, 2, 3, 4, 7, 12, 64][next(8) as usize];
        let body = bodies[next(bodies.len() as u64) as usize];
        let body = body.replace('K', &step.to_string()).replace('M', "m");
        let text = twice(ty, header, &body, [start, bound]);
        let text = text.replace(
            "int main(void) {",
            &format!(
                "{ty} m = ({ty}){:#x}ULL; {ty} up({ty} x, int y) {{ return x + y; }}\n int main(void) {{",
                middle as u64
            ),
        );
        let program = load(&text);
        // The second loop of the two, not what is within the first one.
        let outer: Vec<usize> =
            (0..program.loop_sites.sites.len()).filter(|at| program.loop_sites.sites[*at].parent.is_none()).collect();
        let [_, second] = outer[..] else { panic!("two loops\n{text}") };
        let loops = Loops::new(&program, &BTreeSet::new());
        if loops.summary(second, Strategy::Phases).is_err() {
            continue;
        }
        all += 1;
        let printed = loops.render(&program, 0, |at| if at == second { Strategy::Phases } else { Strategy::Base }).text;
        match execute(&load(&printed), &mut NoInputs) {
            None => {}
            Some(End::Returned) => ended += 1,
            Some(end) => panic!("{end:?}\n{printed}"),
        }
    }
    assert!(all > 400 && ended > 250, "{ended} of {all}");
}

/// Only the loop with extrapolation, from a start that is far away: it must end soon, and with the right values.
#[test]
fn phases_are_made_at_once() {
    for (body, expected) in [
        (
            "unsigned i = 0, s = 0; while (i < 400000000) { if (i < 200000000) i++; else { i += 2; s++; } }",
            "s == 100000000",
        ),
        ("unsigned i = 0, s = 0; while (i < 400000000) { i = up(i); s += 2; }", "s == 400000000"),
        ("int i = 0, s = 0; for (i = 0; i < 400000000; i++) { check(i == s); s++; }", "s == 400000000"),
        ("int i = 0, s = 0; do { i++; if (i <= 300000000) continue; s++; } while (i != 400000000);", "s == 100000000"),
        ("int i = 0, s = 0; while (1) { if (i >= 400000000) break; i++; s--; }", "s == -400000000"),
        ("int i = 0, s = 0; while (i < 400000000) { if (i >= 10 && i < 300000000) s++; i++; }", "s == 299999990"),
    ] {
        let text = format!(
            "extern void reach_error(void); extern void abort(void);
            unsigned up(unsigned x) {{ return x + 2; }}
            void check(int c) {{ if (!c) {{ reach_error(); }} }}
            int main(void) {{ {body} if (!({expected})) reach_error(); return 0; }}"
        );
        let program = load(&text);
        let loops = Loops::new(&program, &program.targets(&Property::default_errors()));
        let printed = loops.render(&program, 0, |_| Strategy::Phases).text;
        assert_eq!(execute(&load(&printed), &mut NoInputs), Some(End::Returned), "{printed}");
    }
}

#[test]
fn a_loop_that_never_ends_ends_the_execution() {
    let text = "extern void reach_error(void); extern void abort(void);
        int main(void) { unsigned x = 7; while (x != 0) x -= 2; reach_error(); }";
    let program = load(text);
    let printed = Loops::new(&program, &BTreeSet::new()).render(&program, 0, |_| Strategy::Constant).text;
    let end = execute(&load(&printed), &mut NoInputs);
    assert!(matches!(end, Some(End::Halted(_))), "{end:?}\n{printed}");
}

/// The given values in their order.
struct Given(Vec<i128>);

impl Inputs for Given {
    fn value(&mut self, _asked: Asked, _ty: IntTy) -> Option<i128> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        None
    }
}

#[test]
fn abstractions_contain_every_run_of_the_loop() {
    // For each loop: its text, and inputs with which havoc, naive and output abstraction end like the loop itself.
    let cases: [(&str, [&[i128]; 3]); 5] = [
        ("while (i < 9) { i += 2; s += i; }", [&[10, 30], &[8, 20], &[4, 20]]),
        ("do { i += 2; s += i; } while (i < 9);", [&[10, 30], &[8, 20], &[4, 20]]),
        ("for (i = 0; i < 9; i += 2) { s += i; }", [&[10, 20], &[8, 12], &[4, 12]]),
        // Left while the condition holds.
        ("while (i < 9) { i += 2; s += i; if (s > 10) break; }", [&[6, 12], &[4, 6], &[2, 6]]),
        // The last iteration is one that is cut short.
        ("for (i = 0; i < 9; i += 2) { if (i == 8) continue; s += i; }", [&[10, 12], &[8, 12], &[4, 12]]),
    ];
    for (text, inputs) in cases {
        for (strategy, inputs) in [Strategy::Havoc, Strategy::Naive, Strategy::Output].into_iter().zip(inputs) {
            let copy = text.replace('i', "j").replace('s', "t").replace("whjle", "while").replace("jf", "if");
            let copy = copy.replace("contjnue", "continue");
            let text = format!(
                "extern void reach_error(void);
                int main(void) {{ int i = 0, s = 0; int j = 0, t = 0; {} {copy} if (i != j || s != t) reach_error(); }}",
                text.replace("breat", "break")
            );
            let program = load(&text);
            let loops = Loops::new(&program, &BTreeSet::new());
            let printed = loops.render(&program, 0, |site| if site == 1 { strategy } else { Strategy::Base }).text;
            let end = execute(&load(&printed), &mut Given(inputs.to_vec()));
            assert_eq!(end, Some(End::Returned), "{strategy}\n{printed}");
        }
    }
}
