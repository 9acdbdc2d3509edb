// SPDX-License-Identifier: Apache-2.0
//! The way to the error in words: values are those of the run, and what the error does not depend on is left out.

use cfa::machine::{Code, Machine, NoInputs, Setup, Storage};
use cfa::{Options, Property, Source};
use cpa_core::{Counterexample, Step};

fn run(text: &str) -> Vec<String> {
    let source = Source { name: "t.c".into(), text: text.into() };
    let program = cfa::load(&[source], &Options::default()).unwrap();
    let property = Property::default_errors();
    let targets = program.targets(&property);
    let setup = Setup { steps: true, ..Setup::new(&targets, Storage::Inputs) };
    let mut machine = Machine::new(std::rc::Rc::new(Code::new(&program, &setup).unwrap()), 1 << 20);
    machine.limit_steps(10_000);
    machine.run(&mut NoInputs, 10_000).unwrap();
    let steps = machine.steps().iter().map(|taken| Step::from(*taken));
    let run = Counterexample { steps: steps.collect(), ..Counterexample::default() };
    report::path::lines(&report::path::steps(&program, &property, &run), false)
}

#[test]
fn what_matters_is_shown_with_values() {
    let lines = run("void reach_error(void); int half(int x) { return x / 2; }\n\
                     int main(void) {\n\
                     int noise = 3; int v[2];\n\
                     int *p = &v[1];\n\
                     *p = half(86) - 1;\n\
                     noise = half(noise);\n\
                     if (v[1] == 42) reach_error();\n}");
    let expected = [
        "t.c:4:5: p = 536870916",
        "t.c:5:6: half() is called   (x = 86)",
        "t.c:1:43: return x / 2   (x = 86)",
        "t.c:5:6: half() returns 43",
        "t.c:5:1: *p = half(86) - 1   (value = 42)",
        "t.c:7:5: reads v[1] = 42",
        "t.c:7:5: [v[1] == 42]",
        "t.c:7:17: the error is reached",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn loops_are_shown_at_their_ends() {
    let lines = run("void reach_error(void);\nint main(void) {\nint s = 0;\nfor (int i = 0; i < 1000; i++) s += i;\n\
                     if (s == 499500) reach_error();\n}");
    assert!(lines.len() < 20 && lines.iter().any(|line| line.ends_with("repeated steps)")), "{lines:#?}");
    assert!(lines.contains(&"t.c:4:32: s = s + i   (s = 499500)".to_string()), "{lines:#?}");
}
