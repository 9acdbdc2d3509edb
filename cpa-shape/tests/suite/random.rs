// SPDX-License-Identifier: Apache-2.0
//! Random programs that build and change lists: what some execution reaches is never proved to be unreachable.

use std::fmt::Write;
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, Random, Setup, Storage};
use cfa::{IntTy, Property};
use cpa_shape::ShapeOptions;

use super::{Explored, explore_with, program};

struct Choices(Random);

impl Inputs for Choices {
    fn value(&mut self, _asked: Asked, _ty: IntTy) -> Option<i128> {
        Some(self.0.below(4) as i128 - 1)
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(0)
    }
}

/// The number of programs.
const ROUNDS: u32 = 400;

const NAMES: [&str; 3] = ["p", "q", "r"];
const NUMBERS: [&str; 9] =
    ["0", "1", "i", "j", "i", "i + 1", "j - 2", "j + __VERIFIER_nondet_int()", "__VERIFIER_nondet_int()"];
const COUNTERS: [&str; 2] = ["i", "j"];

/// Some statements; loops are at most `depth` deep.
fn statements(random: &mut Random, text: &mut String, depth: u32) {
    for _ in 0..1 + random.below(4) {
        let (a, b, c) = (random.pick(&NAMES), random.pick(&NAMES), random.pick(&NUMBERS));
        let link = random.pick(&["next", "prev"]);
        let i = random.pick(&COUNTERS);
        let _ = match random.below(if depth > 0 { 22 } else { 16 }) {
            0 => write!(text, "{a} = make({b}, {c}); "),
            1 => write!(text, "{a} = {}({b}, {c}); ", random.pick(&["make", "fresh"])),
            2 => write!(text, "{a} = make({b}, {c}); if ({b}) {b}->prev = {a}; "),
            3 => write!(text, "if ({a}) {a} = {a}->{link}; "),
            4 => write!(text, "if ({a}) {a}->{link} = {b}; "),
            5 => write!(text, "if ({a}) {a}->{} = {c}; ", random.pick(&["h", "g"])),
            6 if random.below(2) == 0 => write!(text, "{a} = {b}; "),
            // What belongs to a node may point to it, and a node to itself.
            6 if random.below(3) == 0 => {
                let back = random.pick(&[
                    "",
                    "P->prev->prev = P;",
                    "P->prev->next = P;",
                    "P->prev = P;",
                    "if (i) P->prev = P;",
                ]);
                let back = back.replace('P', a);
                write!(text, "{a} = make({b}, {c}); {a}->prev = fresh(0, {}); {back} ", random.pick(&NUMBERS))
            }
            // A list of lists.
            6 => {
                let (make, inner) = (random.pick(&["make", "fresh"]), random.pick(&["0", "r", "p->prev", "q->prev"]));
                write!(
                    text,
                    "if (p && q) {{ {a} = make({b}, {c}); {a}->prev = {make}({inner}, {}); }} ",
                    random.pick(&NUMBERS)
                )
            }
            7 => write!(text, "if ({a} && {a}->{link} != {b}) {{ {a}->h = {c}; {b} = {a}->{link}; }} "),
            8 => write!(text, "if ({a} && {a}->h == {c}) {b} = {a}; else {b} = 0; "),
            9 => write!(text, "{i} = __VERIFIER_nondet_int(); "),
            10 if random.below(2) == 0 => write!(text, "if ({i} < 9) {i}++; "),
            // Conditions as values.
            10 => {
                let cond = random.pick(&[
                    "I < 2",
                    "I >= 0 && I != 1",
                    "P && P->h > I",
                    "P != Q",
                    "!(I == 0 || P)",
                    "P && P->h == P->g",
                ]);
                let cond = cond.replace('I', i).replace('P', a).replace('Q', b);
                match random.below(4) {
                    0 => write!(text, "{i} = {cond}; "),
                    1 => write!(text, "if ({a}) {a}->h = {cond}; "),
                    2 => write!(text, "assume({cond}); "),
                    _ => write!(text, "{{ int f = {cond}; if (f) {a} = {b}; else {i} = {c}; }} "),
                }
            }
            11 => write!(text, "if ({a}) {i} = {a}->{}; ", random.pick(&["h", "g"])),
            12 if random.below(3) == 0 => write!(text, "{a}->h = {c}; {i} = {b}->h; "),
            12 if random.below(6) == 0 => write!(text, "free({a}); "),
            12 => write!(text, "if ({a} && {a}->h {} {c}) {b} = {a}; ", random.pick(&["<", ">=", "!="])),
            // What compares numbers of nodes with each other and with variables.
            13 => write!(text, "if ({a} && {a}->h {} {i}) {i} = {a}->h; ", random.pick(&["<", ">"])),
            14 => write!(text, "if ({a} && {a}->{} > {c}) {a}->h = {c}; ", random.pick(&["h", "g"])),
            15 if random.below(2) == 0 => write!(text, "if (i {} j) i = j; ", random.pick(&["<", ">", ">="])),
            15 => write!(text, "if ({a} && {b} && {a}->h < {b}->g) {b}->g = {a}->h; "),
            16 => {
                let _ = write!(text, "while ({i} < 2) {{ {i}++; ");
                statements(random, text, 0);
                write!(text, "}} ")
            }
            17 | 18 => {
                let _ = write!(text, "while (__VERIFIER_nondet_int()) {{ ");
                statements(random, text, depth - 1);
                write!(text, "}} ")
            }
            // Lists of lists, of which some are empty or have no more than one node.
            21 => {
                let (make, d) = (random.pick(&["make", "fresh"]), random.pick(&NUMBERS));
                let more = random.pick(&["while (__VERIFIER_nondet_int())", "if (__VERIFIER_nondet_int())", ""]);
                let first = random.pick(&["0", "make(0, 1)", "fresh(0, i)"]);
                let _ = write!(
                    text,
                    "while (__VERIFIER_nondet_int()) {{ {a} = make({a}, {c}); {a}->prev = {first};
                       {more} {a}->prev = {make}({a}->prev, {d}); "
                );
                let depth = u32::from(random.below(2) == 0);
                statements(random, text, depth);
                write!(text, "}} ")
            }
            // A search, also for the number of another node or in another list.
            20 if random.below(3) > 0 => {
                let key = random.pick(&["i", "j", "i", "i + 1", "p->g", "q->h"]);
                let known = key.split_once("->").map(|(of, _)| format!("{of} && ")).unwrap_or_default();
                let _ = write!(text, "{a} = {b}; while ({known}{a} && {a}->h != {key}) {{ {a} = {a}->{link}; ");
                if random.below(4) == 0 {
                    statements(random, text, 0);
                }
                write!(text, "}} ")
            }
            19 => {
                let _ = write!(text, "while ({a} && __VERIFIER_nondet_int()) {{ {a} = {a}->{link}; ");
                statements(random, text, 0);
                write!(text, "}} ")
            }
            _ => {
                let _ = write!(text, "if (__VERIFIER_nondet_int()) {{ ");
                statements(random, text, depth - 1);
                let _ = write!(text, "}} else {{ ");
                statements(random, text, depth - 1);
                write!(text, "}} ")
            }
        };
    }
}

/// A condition over what the program built, as an error.
fn error(random: &mut Random) -> String {
    let (a, b, c) = (random.pick(&NAMES), random.pick(&NAMES), random.pick(&NUMBERS));
    let link = random.pick(&["next", "prev"]);
    let d = random.pick(&NUMBERS);
    let op = random.pick(&["<", ">", "<=", ">="]);
    match random.below(16) {
        14 | 15 => format!("r = {a}; while (r && r != {b}) {{ if (r->h == i) reach_error(); r = r->next; }}"),
        12 | 13 => {
            let inner = random.pick(&["h", "next && r->next->h", "prev && i", "prev == p && i", "next != p && r->h"]);
            format!(
                "for (; p; p = p->next) {{ r = p->prev; while (r) {{ if (r->{inner} == {c}) reach_error(); r = r->next; }} }}"
            )
        }
        9 => format!("while ({a}) {{ if ({a}->h {op} {c}) reach_error(); {a} = {a}->{link}; }}"),
        10 => format!("while ({a}) {{ if ({a}->h {op} {a}->g) reach_error(); {a} = {a}->{link}; }}"),
        11 => format!("if ({a} && {b} && {a}->h {op} {b}->h) reach_error();"),
        0 => format!("if ({a} && {a}->h == {c}) reach_error();"),
        1 => format!("if ({a} && {a}->{link} == {b}) reach_error();"),
        2 => format!("if ({a} == {b}) reach_error();"),
        5 => format!("if (i {} {c}) reach_error();", random.pick(&["<", ">", "==", "!="])),
        3 => format!("if ({a} && {a}->{link} && {a}->{link}->h == {c}) reach_error();"),
        7 => format!("while ({a}) {{ if ({a}->h == {c} && {a}->g == {d}) reach_error(); {a} = {a}->{link}; }}"),
        8 => format!(
            "while ({a} && {a}->{link}) {{ if ({a}->h == {c} && {a}->{link}->h == {d}) reach_error(); {a} = {a}->{link}; }}"
        ),
        4 => format!("while ({a}) {{ if ({a}->h == {c}) reach_error(); {a} = {a}->{link}; }}"),
        _ => format!("while ({a} && {a} != {b}) {{ if ({a}->h != {c}) reach_error(); {a} = {a}->{link}; }}"),
    }
}

/// Whether some execution with random inputs reaches the error.
fn reaches(program: &cfa::Program, inputs: &mut Choices) -> bool {
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
    let mut choices = Choices(Random::new(1));
    let (mut proofs, mut errors) = (0, 0);
    for round in 0..ROUNDS {
        let apart = [ShapeOptions::default().apart, 0, 2][round as usize % 3];
        let coarse = [0, 3, 0, 1][round as usize / 2 % 4];
        let options = ShapeOptions { holes: round % 2 == 0, apart, coarse };
        let [i, j] = if round % 4 < 2 { ["0", "1"] } else { ["__VERIFIER_nondet_int()"; 2] };
        let mut text = format!("int main(void) {{ struct node *p = 0, *q = 0, *r = 0; int i = {i}, j = {j}; ");
        statements(&mut choices.0, &mut text, 2);
        statements(&mut choices.0, &mut text, 2);
        let error = error(&mut choices.0);
        let _ = write!(text, "{error} return 0; }}");
        let program = program(&text);
        let is_safe = explore_with(&program, options) == Explored::Safe;
        let is_reached = reaches(&program, &mut choices);
        assert!(!(is_safe && is_reached), "the error is reached in\n{text}");
        proofs += u32::from(is_safe);
        errors += u32::from(is_reached);
    }
    let enough = ROUNDS / 8;
    assert!(proofs > enough && errors > enough, "{proofs} proofs and {errors} errors of {ROUNDS} programs");
}
