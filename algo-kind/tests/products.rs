// SPDX-License-Identifier: Apache-2.0
//! Random programs with products, quotients and conversions: what k-induction finds to hold at loop heads holds in runs, and no
//! violation that a run reaches is excluded.
//!
//! With the variable `CPA_RANDOM_PROGRAMS` that many programs are tried.

mod common;

use std::fmt::Write;
use std::rc::Rc;

use algo_kind::Strategy;
use algo_kind::cutpoints::Cutpoints;
use algo_kind::invariants::{Generator, Invariants};
use algo_kind::step::Step;
use cfa::ids::VarId;
use cfa::machine::{Asked, Code, End, Inputs, Machine, Random, Setup, Storage};
use cfa::{IntTy, Program, Property};
use common::{load, manager, proves};
use cpa_core::Cx;
use smt::Value;

const RUNS: u32 = 40;
const JUMPS: u32 = 60;
/// The first stages are about equations, and about variables.
const STAGES: [usize; 4] = [1, 1, 1, 5];

#[test]
fn products_of_halves_are_kept() {
    let text = |test: &str| {
        format!(
            "int main(void) {{ int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(); assume(y >= 1);
            long long a = x, b = y, q = 0; while (b != 0) {{ check(q + a * b == (long long)x * y);
            if ({test}) {{ q = q + a; b = b - 1; }} a = 2 * a; b = b / 2; }} check(q == (long long)x * y);
            return 0; }}"
        )
    };
    assert!(proves(&text("b % 2 != 0")));
    assert!(!proves(&text("b % 4 != 0")));
    assert!(!proves(&text("b % 2 == 0")));
}

#[test]
fn a_geometric_sum() {
    let text = |least: &str| {
        format!(
            "int main(void) {{ int z = __VERIFIER_nondet_int(), k = __VERIFIER_nondet_int(); assume(z >= {least});
            long long x = 1, y = z, c = 1; while (c < k) {{ check(x * z - x - y + 1 == 0); c++; x = x * z + 1; y = y * z; }}
            x = x * (z - 1); check(1 + x - y == 0); return 0; }}"
        )
    };
    assert!(proves(&text("1")));
    // z - 1 may wrap around before it is extended.
    assert!(!proves(&text("(-2147483647 - 1)")));
}

/// Numbers for inputs, small ones more often.
struct Numbers<'r>(&'r mut Random);

impl Inputs for Numbers<'_> {
    fn value(&mut self, _asked: Asked, ty: IntTy) -> Option<i128> {
        let shift = self.0.below(128).min(62);
        let value = i128::from(self.0.next().cast_signed() >> shift);
        let edge = if self.0.below(2) == 0 { ty.min() } else { ty.max() };
        Some(if self.0.below(12) == 0 { edge } else { ty.wrap(value) })
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(0)
    }
}

const TYPES: [(&str, &str); 5] = [
    ("int", "int"),
    ("unsigned", "uint"),
    ("long long", "longlong"),
    ("unsigned long long", "ulonglong"),
    ("short", "short"),
];

/// A loop that keeps an equation, or nearly, as some steps are wrong and types may lose something.
fn program(random: &mut Random) -> String {
    let mut text = String::from("int main(void) { ");
    let wide = random.below(2) == 0;
    for name in ["x", "y", "p", "c", "d"] {
        let (ty, function) = if wide && name != "d" { TYPES[2 + random.below(2)] } else { random.pick(&TYPES) };
        let input = format!("__VERIFIER_nondet_{function}()");
        let value = if random.below(3) == 0 { random.below(3).to_string() } else { input };
        let _ = write!(text, "{ty} {name} = {value}; ");
    }
    if random.below(2) == 0 {
        let (name, bound) = (random.pick(&["x", "y", "d"]), random.pick(&["0", "1", "-5"]));
        let _ = write!(text, "assume({name} >= {bound}); ");
    }
    let cast = random.pick(&["", "", "(long long)", "(unsigned)", "(int)"]);
    let invariant = match random.below(4) {
        0 => format!("p == {cast} x * y"),
        1 => format!("p + c == {cast} x * y"),
        2 => format!("p == {cast}(x * y) + c"),
        _ => format!("p - {cast} d * c == x * y"),
    };
    text += random.pick(&["p = 0; x = 0; c = 0; ", "c = 0; p = x * y; ", "y = 1; x = 1; p = 1; c = 0; "]);
    text += "while (__VERIFIER_nondet_int()) { ";
    if random.below(3) > 0 {
        let _ = write!(text, "check({invariant}); ");
    }
    for _ in 0..1 + random.below(2) {
        let k = random.below(4);
        let wrong = usize::from(random.below(5) == 0);
        let l = k + wrong;
        text += &match random.below(10) {
            0 => format!("x = x + {k}; p = p + {l} * y; "),
            1 => format!("y = y - {k}; p = p - x * {l}; "),
            2 => format!("if (x % 2 == {wrong}) {{ x = x / 2; y = y * 2; }} "),
            3 => format!("if (y % 2 == 0) {{ y = y / 2; x = 2 * x + {wrong}; }} "),
            4 => format!("if ((x & 1) == {wrong}) {{ x = x >> 1; y = y << 1; }} "),
            5 => "if (x % 2 == 1) { x = x - 1; p = p - y; } ".to_string(),
            6 => format!("p = 2 * p; x = x * 2; c = 2 * c + {wrong}; "),
            7 => format!("c = c + {k}; p = p + {l}; "),
            8 => format!("if (p % 2 == 0 && x % 2 == {wrong}) {{ p = p / 2; x = x / 2; c = c / 2; }} "),
            _ => format!("if (x > {k}) {{ p = p - y; x = x - 1; }} else {{ c = c + {k}; p = p + d * {l}; }} "),
        };
    }
    let _ = write!(text, "}} check({invariant}); return 0; }}");
    text
}

/// The values of variables at visits of the loop head.
type Visits = Vec<Vec<Option<i128>>>;

/// The visits of the only loop head in some runs, and whether a run violates the property behind one.
fn runs(program: &Program, random: &mut Random) -> (Visits, bool) {
    let targets = program.targets(&Property::default_errors());
    let setup = Setup { pauses: &program.loops.heads, ..Setup::new(&targets, Storage::Inputs) };
    let mut machine = Machine::new(Rc::new(Code::new(program, &setup).expect("few variables")), 1 << 20);
    let (mut visits, mut violated) = (Visits::new(), false);
    for _ in 0..RUNS {
        machine.reset();
        let mut visited = false;
        for _ in 0..JUMPS {
            match machine.run(&mut Numbers(random), 0) {
                Some(End::Target(_)) => {
                    violated |= visited;
                    break;
                }
                Some(_) => break,
                None if machine.pause().is_some() => {
                    visited = true;
                    let values = (0..program.vars.len()).map(|var| machine.variable(program, VarId::new(var)));
                    visits.push(values.collect());
                }
                None => {}
            }
        }
    }
    (visits, violated)
}

/// Whether violations are excluded, and whether there are any in runs.
fn check(text: &str, stages: usize, random: &mut Random) -> (bool, bool) {
    let program = load(text);
    let (visits, violated) = runs(&program, random);
    let targets = program.targets(&Property::default_errors());
    let cutpoints = Rc::new(Cutpoints::find(&program, &targets).expect("no recursion"));
    assert_eq!(cutpoints.points().len(), 1);
    let manager = manager(&program);
    let mut cx = Cx::unlimited();
    let mut step = Step::new(&program, &targets, &manager, Rc::clone(&cutpoints));
    let mut generator = Generator::new(&program, &targets, &manager, cutpoints, Strategy::Induction);
    step.extend(&mut cx, 1).expect("no limits");
    let mut known = Invariants::none(1);
    for _ in 0..stages {
        match generator.next(&mut cx, step.unrollings(), &known).expect("no limits") {
            Some(more) => known = more,
            None => break,
        }
    }
    for visit in &visits {
        let manager = manager.borrow();
        let value = manager.terms.try_eval(known.term(0), &mut |symbol, _| {
            let var = manager.encoder.variable(symbol).expect("invariants are about variables");
            manager.encoder.model_value(visit[var.index()].unwrap_or(0), program.var(var).ty)
        });
        assert_eq!(value, Some(Value::Bool(true)), "{} in {text}", manager.terms.display(known.term(0)));
    }
    let excluded = step.excluded(&cx, &known).expect("no limits");
    assert!(!(excluded && violated), "excluded, but there is a run: {text}");
    (excluded, violated)
}

#[test]
fn random_programs() {
    let programs = std::env::var("CPA_RANDOM_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(120);
    let mut random = Random::new(2026);
    let (mut excluded, mut violated) = (0, 0);
    for number in 0..programs {
        let text = program(&mut random);
        let of_program = check(&text, random.pick(&STAGES), &mut random);
        excluded += u32::from(of_program.0);
        violated += u32::from(of_program.1);
        if (number + 1) % 1000 == 0 {
            eprintln!("{} programs, {excluded} proved, {violated} with violations", number + 1);
        }
    }
    assert!(excluded * 20 > programs && violated * 20 > programs, "{excluded} proved, {violated} violated");
}
