// SPDX-License-Identifier: Apache-2.0
//! Random computations with integers of several types: a result that an execution has must not be excluded.
//!
//! With the variable `CPA_RANDOM_PROGRAMS` that many programs are tried.

use std::collections::BTreeMap;
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, Random, Setup, Storage};
use cfa::{IntTy, Options, Property, Source, load};

use crate::proved;

const TYPES: [(&str, &str); 8] = [
    ("unsigned char", "uchar"),
    ("signed char", "char"),
    ("unsigned short", "ushort"),
    ("short", "short"),
    ("unsigned", "uint"),
    ("int", "int"),
    ("unsigned long long", "ulonglong"),
    ("long long", "longlong"),
];
/// Numbers at which something changes.
const NUMBERS: [&str; 12] = ["1", "2", "3u", "5", "8u", "10", "100", "128", "255", "256u", "65535", "0x80000000"];

/// The executions of each program; the rarest result is one that is likely to be overlooked.
const RUNS: usize = 24;

/// The inputs in the order in which they are asked for.
struct Tape(Vec<i128>, usize);

impl Inputs for Tape {
    fn value(&mut self, _: Asked, _: IntTy) -> Option<i128> {
        self.1 += 1;
        self.0.get(self.1 - 1).copied()
    }

    fn byte(&mut self, _: Asked, _: u64) -> Option<u8> {
        None
    }
}

fn expression(dice: &mut Random, variables: &[String], depth: usize) -> String {
    if depth == 0 || dice.below(7) == 0 {
        return if dice.below(5) == 0 {
            dice.pick(&NUMBERS).to_string()
        } else {
            variables[dice.below(variables.len())].clone()
        };
    }
    let mut part = || expression(dice, variables, depth - 1);
    let (one, other, third, fourth) = (part(), part(), part(), part());
    match dice.below(12) {
        // A value beside a condition about it, as in sums with carry.
        0..2 => format!("({one} + ({one} {} {other}) + {third})", dice.pick(&["<", ">=", "=="])),
        2..6 => format!("({one} {} {other})", dice.pick(&["+", "-", "+"])),
        6 => format!("({one} {} {other})", dice.pick(&["<", "<=", "==", "!=", ">"])),
        7 => format!("({})({one})", dice.pick(&TYPES).0),
        8 => format!("({one} * {})", dice.pick(&["2", "3", "5u"])),
        9 => format!("({one} {} {})", dice.pick(&["%", "/"]), dice.pick(&["2", "3", "4u", "10u"])),
        10 => format!("({one} & {})", dice.pick(&["1", "7", "255"])),
        _ => format!("({one} {} {other} ? {third} : {fourth})", dice.pick(&["<", "==", ">"])),
    }
}

/// A program that computes something with two inputs, their types, and an expression for the result.
fn computation(dice: &mut Random) -> (String, [&'static str; 2], String) {
    let mut text = "extern void abort(void); void reach_error(void) { abort(); }\n".to_string();
    for (ty, name) in TYPES {
        text += &format!("extern {ty} __VERIFIER_nondet_{name}(void);\n");
    }
    text += "int main(void) {\n";
    let mut variables = Vec::new();
    let inputs = [dice.pick(&TYPES), dice.pick(&TYPES)];
    for (ty, name) in inputs {
        text += &format!("{ty} v{} = __VERIFIER_nondet_{name}();\n", variables.len());
        variables.push(format!("v{}", variables.len()));
    }
    for _ in 0..=dice.below(4) {
        let depth = 1 + dice.below(3);
        text += &format!("{} v{} = {};\n", dice.pick(&TYPES).0, variables.len(), expression(dice, &variables, depth));
        variables.push(format!("v{}", variables.len()));
    }
    let (last, other) = (variables.last().expect("there are inputs"), &variables[dice.below(variables.len())]);
    let result = format!("(unsigned long long)({last} {} {other})", dice.pick(&["-", "==", "<", "+"]));
    (text, inputs.map(|(ty, _)| ty), result)
}

/// The least number that the result, which a last input is compared with, is not above.
fn result(machine: &mut Machine, inputs: [i128; 2]) -> u64 {
    let (mut least, mut most) = (0, u64::MAX);
    while least < most {
        let guess = least + (most - least) / 2;
        machine.reset();
        match machine.run(&mut Tape(vec![inputs[0], inputs[1], guess.into()], 0), u64::MAX) {
            Some(End::Target(_)) => most = guess,
            Some(End::Returned) => least = guess + 1,
            other => panic!("the run ends with {other:?}"),
        }
    }
    least
}

#[test]
fn results_of_executions_are_not_excluded() {
    let programs = std::env::var("CPA_RANDOM_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(60);
    let mut strong = 0;
    for seed in 1..=programs {
        let mut dice = Random::new(seed);
        let (text, types, what) = computation(&mut dice);
        let mut inputs = || {
            [(); 2].map(|()| match dice.below(3) {
                0 => i128::from(dice.next()),
                _ => dice.below(600) as i128 - 300 + dice.pick(&[0, 0, 1 << 15, 1 << 16, 1 << 31, 1 << 63]),
            })
        };
        let asking = format!("{text} if ({what} <= __VERIFIER_nondet_ulonglong()) reach_error(); return 0; }}");
        let source = Source { name: "t.c".into(), text: asking };
        let program = load(&[source], &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let targets = program.targets(&Property::default_errors());
        let setup = Setup::new(&targets, Storage::Inputs);
        let mut machine = Machine::new(Rc::new(Code::new(&program, &setup).unwrap()), 1 << 20);
        let mut runs: BTreeMap<u64, Vec<[i128; 2]>> = BTreeMap::new();
        for inputs in (0..RUNS).map(|_| inputs()) {
            runs.entry(result(&mut machine, inputs)).or_default().push(inputs);
        }
        let (value, inputs) = runs.iter().min_by_key(|(_, runs)| runs.len()).expect("there are runs");
        let inputs = inputs[0];
        let wrong = format!("{text} if ({what} == {value}ull) reach_error(); return 0; }}");
        assert!(!proved(&wrong), "proved, but the inputs {inputs:?} reach the error:\n{wrong}");
        let is = |at: usize| format!("v{at} == ({}){}ull", types[at], inputs[at] as u64);
        let case = format!("{} && {} && {what} != {value}ull", is(0), is(1));
        strong += u64::from(proved(&format!("{text} if ({case}) reach_error(); return 0; }}")));
    }
    assert!(strong >= programs / 2, "what certainly happens is proved for {strong} programs only");
}

#[test]
fn what_was_wrapped_stays_so_where_it_is_compared() {
    let proved = |body: &str| {
        proved(&format!(
            "extern unsigned __VERIFIER_nondet_uint(void); extern void abort(void); void reach_error(void) {{ abort(); }}
            void check(int c) {{ if (!c) {{ reach_error(); }} }} int main(void) {{ {body} return 0; }}"
        ))
    };
    let head = "unsigned x = __VERIFIER_nondet_uint(), y = __VERIFIER_nondet_uint(), c = __VERIFIER_nondet_uint();";
    assert!(proved(&format!("{head} unsigned s = x + y; s += c; check(s == x + y + c);")));
    // The carry of a sum, the remainder of a product, a value of a narrower type.
    assert!(!proved(&format!("{head} unsigned s = x + y; s += s < x; s += c; check(s == x + y + c);")));
    let rest = "unsigned s = 3u * x; unsigned z = s + s % 10u + c;
        unsigned q = (unsigned)(3ull * x % 10ull); check(z == s + q + c);";
    assert!(!proved(&format!("{head} {rest}")));
    assert!(!proved(&format!(
        "{head} short s = (int)x; short z = s + (s < 100) + c; if (x == 65536) check(z == (short)(s + c));"
    )));
}
