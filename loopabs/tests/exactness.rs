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
    let setup = Setup { targets: &targets, storage: Storage::Inputs, steps: false, coverage: false, heads: false };
    let mut machine = Machine::new(Rc::new(Code::new(program, &setup).unwrap()), 1 << 20);
    machine.run(inputs, 1 << 21)
}

/// A loop over `i` and its copy over `j`, from the same values; an error if the results differ.
fn twice(ty: &str, header: &str, body: &str, [start, bound]: [i128; 2]) -> String {
    let copy = |name: &str, sum: &str| {
        format!("while ({}) {{ {} }}", header.replace('i', name), body.replace('i', name).replace('s', sum))
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

/// Compares the second loop after constant extrapolation with the first one; says whether both ended.
fn compare(text: &str) -> bool {
    let program = load(text);
    let loops = Loops::new(&program, &BTreeSet::new());
    assert!(loops.summary(1, Strategy::Constant).is_ok(), "{:?}\n{text}", loops.summary(1, Strategy::Constant));
    let printed = loops.render(&program, 0, |site| if site == 1 { Strategy::Constant } else { Strategy::Base }).text;
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
            ended += usize::from(compare(&text));
        }
    }
    assert!(all > 150 && ended > 100, "{ended} of {all}");
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
