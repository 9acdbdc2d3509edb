// SPDX-License-Identifier: Apache-2.0
//! Slices: what they leave out, what they must keep, and that they reach an error where the program does.
//! With the variable `CPA_RANDOM_PROGRAMS` that many programs are tried.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, Random, Setup, Storage};
use cfa::{EdgeId, IntTy, MachineModel, Program, Property, Slice};
use expect_test::{Expect, expect};

use crate::try_load;

const HEAD: &str = "extern void reach_error(void); extern void abort(void); extern unsigned nondet(void);\n";

fn sliced(text: &str) -> (Program, Slice) {
    let program = try_load(text, MachineModel::Ilp32).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let slice = program.slice(&program.targets(&Property::default_errors()));
    if let Err(problem) = cfa::verify::verify(&slice.program) {
        panic!("{problem}\n{text}\n{}", slice.program.dump());
    }
    (program, slice)
}

/// Compares the steps that are left, and how many branches and other steps are left out.
fn check(text: &str, expect: Expect) {
    let (_, slice) = sliced(&format!("{HEAD}{text}"));
    let mut left = format!("left out: {} branches, {} steps\n", slice.branches, slice.steps);
    for line in slice.program.dump().lines().filter(|line| line.contains(" -> ") && line.contains(": ")) {
        let step = line.split("   //").next().unwrap_or(line);
        let (_, step) = step.split_once(": ").expect("there is a step");
        writeln!(left, "{step}").unwrap();
    }
    expect.assert_eq(&left);
}

#[test]
fn loops_without_influence_go_away() {
    check(
        "int main(void) {
            unsigned n = nondet(), sum = 0;
            for (unsigned i = 0; i < n; i++) sum += i;
            unsigned x = nondet();
            if (x > 5) { sum = x; if (sum > 7) sum++; }
            if (x == 3) reach_error();
            return sum; }",
        expect![[r#"
            left out: 3 branches, 7 steps
            skip
            skip
            skip
            [1 != 0]
            [1 == 0]
            skip
            skip
            main::x = nondet()
            [1 != 0]
            [1 == 0]
            skip
            [1 != 0]
            [1 == 0]
            skip
            [main::x == 3]
            [main::x != 3]
            skip
        "#]],
    );
}

#[test]
fn what_decides_whether_a_run_goes_on_stays() {
    check(
        "void check(unsigned c) { if (!c) abort(); }
        int main(void) {
            unsigned n = nondet(), m = nondet(), k = nondet();
            check(n < 10);
            if (m == 1) while (1) { k++; }
            reach_error();
            return 0; }",
        expect![[r#"
            left out: 0 branches, 1 steps
            [check::c != 0]
            [check::c == 0]
            main::n = nondet()
            main::m = nondet()
            skip
            call check((unsigned)(main::n < 10))
            [main::m == 1]
            [main::m != 1]
            skip
        "#]],
    );
}

#[test]
fn arguments_without_influence_are_zero() {
    check(
        "unsigned log_level; unsigned count(unsigned x, unsigned level) { log_level = level; return x + 1; }
        int main(void) {
            unsigned level = nondet(), x = 0;
            while (nondet()) x = count(x, level);
            if (x == 3) reach_error();
            return 0; }",
        expect![[r#"
            left out: 0 branches, 3 steps
            skip
            count::__ret = count::x + 1
            skip
            skip
            main::x = 0
            main::__tmp1 = nondet()
            [main::__tmp1 != 0]
            [main::__tmp1 == 0]
            main::x = call count(main::x, 0)
            [main::x == 3]
            [main::x != 3]
            skip
        "#]],
    );
}

#[test]
fn memory_goes_by_regions() {
    check(
        "unsigned a[10], b[10];
        int main(void) {
            unsigned i = nondet() % 10;
            a[i] = i; b[i] = i + 1;
            if (a[nondet() % 10] == 3) reach_error();
            return 0; }",
        expect![[r#"
            left out: 0 branches, 1 steps
            memset(536870912, 0, 40)
            main::__tmp1 = nondet()
            main::i = main::__tmp1 % 10
            *(unsigned *)(536870912 + main::i * 4) = main::i
            skip
            main::__tmp2 = nondet()
            main::__tmp3 = *(unsigned *)(536870912 + main::__tmp2 % 10 * 4)
            [main::__tmp3 == 3]
            [main::__tmp3 != 3]
            skip
        "#]],
    );
}

#[test]
fn variables_are_told_apart_by_their_places() {
    check(
        "unsigned a[10], b[10];
        int main(void) {
            unsigned i;
            for (i = 0; i < 10; i++) b[i] = i;
            for (i = 0; i < 10; i++) a[i] = i;
            if (a[nondet() % 10] == 13) reach_error();
            i = 0;
            return 0; }",
        expect![[r#"
            left out: 1 branches, 4 steps
            memset(536870912, 0, 40)
            skip
            skip
            [1 != 0]
            [1 == 0]
            skip
            skip
            main::i = 0
            [main::i < 10]
            [main::i >= 10]
            *(unsigned *)(536870912 + main::i * 4) = main::i
            main::i = main::i + 1
            main::__tmp1 = nondet()
            main::__tmp2 = *(unsigned *)(536870912 + main::__tmp1 % 10 * 4)
            [main::__tmp2 == 13]
            [main::__tmp2 != 13]
            skip
            skip
        "#]],
    );
}

/// Writes programs in which much has no influence.
struct Writer {
    random: Random,
    text: String,
    counters: u32,
    errors: u32,
    in_loop: bool,
}

impl Writer {
    fn program(seed: u64) -> String {
        let mut writer =
            Writer { random: Random::new(seed), text: HEAD.into(), counters: 0, errors: 0, in_loop: false };
        writer.text += "unsigned g, h, k, seen, a[4], b[4]; unsigned *p = &k;\n";
        writer.text += "unsigned f(unsigned x, unsigned y) { unsigned v = 1, w = 2;\n";
        writer.block(3, 1);
        writer.text += "return v; }\nvoid q(unsigned x) { unsigned y = 3, v = 1, w = 2;\n";
        writer.block(3, 2);
        writer.text += "}\nint main(void) { unsigned x = nondet() % 8, y = nondet() % 8, v = 0, w = 0;\n";
        writer.block(6, 3);
        let error = writer.condition();
        let _ = write!(writer.text, "if ({error}) reach_error();\n return 0; }}\n");
        writer.text
    }

    fn block(&mut self, length: usize, depth: u32) {
        for _ in 0..=self.random.below(length) {
            self.statement(depth);
        }
    }

    fn nested(&mut self, depth: u32) {
        self.text += "{ ";
        self.block(2, depth.saturating_sub(1));
        self.text += "}\n";
    }

    /// A statement; functions of smaller depth can be called.
    fn statement(&mut self, depth: u32) {
        let (var, value) = (self.var(), self.value());
        let condition = self.condition();
        let kinds = if depth == 0 { 6 } else { 14 };
        let statement = match self.random.below(kinds) {
            0..=2 => format!("{var} = {value};\n"),
            3 => format!("a[{value} % 4] = {var};\n"),
            4 => format!("b[{value} % 4] = {var};\n"),
            5 => format!("{var} = nondet() % 4;\n"),
            6 => format!("*p = {value}; p = {condition} ? &k : &b[1];\n"),
            7 if depth > 1 => format!("{var} = f({value}, {var});\n"),
            8 if depth > 2 => format!("q({value});\n"),
            9 if self.errors < 2 => {
                self.errors += 1;
                let what = ["reach_error();", "abort();"][self.random.below(2)];
                format!("if ({condition}) {what}\n")
            }
            10 if self.in_loop => format!("if ({condition}) {}\n", ["break;", "continue;"][self.random.below(2)]),
            11 | 12 => {
                let _ = write!(self.text, "if ({condition}) ");
                self.nested(depth);
                if self.random.below(2) == 0 {
                    self.text += "else ";
                    self.nested(depth);
                }
                return;
            }
            _ => {
                self.counters += 1;
                let i = self.counters;
                let head = match self.random.below(3) {
                    0 => format!("while ({condition}) "),
                    1 => format!("for (unsigned i{i} = 0; i{i} < {value} % 4; i{i}++) "),
                    _ => format!("unsigned i{i} = 0; while (1) {{ if (i{i}++ > 2) break;\n"),
                };
                let is_open = head.ends_with('\n');
                self.text += &head;
                let outer = std::mem::replace(&mut self.in_loop, true);
                self.nested(depth);
                self.in_loop = outer;
                self.text += if is_open { "}\n" } else { "" };
                return;
            }
        };
        self.text += &statement;
    }

    fn var(&mut self) -> &'static str {
        self.random.pick(&["g", "h", "v", "w", "x", "y", "seen"])
    }

    fn value(&mut self) -> String {
        let (var, other) = (self.var(), self.var());
        match self.random.below(8) {
            0 | 1 => self.random.below(5).to_string(),
            2 => format!("a[{var} % 4]"),
            3 => format!("b[{var} % 4]"),
            4 => format!("({var} + {other})"),
            5 => "k".into(),
            6 => format!("({var} * 3)"),
            _ => var.into(),
        }
    }

    fn condition(&mut self) -> String {
        let (value, other) = (self.value(), self.value());
        let op = self.random.pick(&["==", "!=", "<", ">"]);
        format!("{value} {op} {other}")
    }
}

/// Inputs by their edges: random ones, which are kept, or those that were kept.
struct Tape {
    random: Option<Random>,
    kept: BTreeMap<EdgeId, VecDeque<i128>>,
}

impl Inputs for Tape {
    fn value(&mut self, asked: Asked, ty: IntTy) -> Option<i128> {
        let queue = self.kept.entry(asked.edge).or_default();
        match &mut self.random {
            Some(random) => {
                let value = ty.wrap(i128::from(random.next()));
                queue.push_back(value);
                Some(value)
            }
            None => queue.pop_front(),
        }
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        None
    }
}

fn run(program: &Program, tape: &mut Tape) -> Option<End> {
    let targets = program.targets(&Property::default_errors());
    let setup = Setup::new(&targets, Storage::Inputs);
    let mut machine = Machine::new(Rc::new(Code::new(program, &setup).unwrap()), 1 << 20);
    machine.run(tape, 2000)
}

#[test]
fn slices_reach_errors_where_programs_do() {
    let rounds = std::env::var("CPA_RANDOM_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(300);
    let (mut errors, mut ends, mut left_out) = (0, 0, 0);
    for seed in 0..rounds {
        let text = Writer::program(seed);
        let (program, slice) = sliced(&text);
        left_out += usize::from(slice.branches > 0);
        for inputs in 0..8 {
            let mut tape = Tape { random: Some(Random::new(seed * 8 + inputs)), kept: BTreeMap::new() };
            // A run without an end may have one in the slice.
            let Some(end) = run(&program, &mut tape).filter(|end| *end != End::Diverges) else { continue };
            tape.random = None;
            let other = run(&slice.program, &mut tape);
            match end {
                End::Target(_) => {
                    errors += 1;
                    assert_eq!(other, Some(end), "seed {seed}\n{text}\n{}", slice.program.dump());
                }
                End::Returned | End::Halted(_) => {
                    ends += 1;
                    let without = matches!(other, Some(End::Returned | End::Halted(_)));
                    assert!(without, "seed {seed}: {end:?}, {other:?}\n{text}\n{}", slice.program.dump());
                }
                end => panic!("seed {seed}: {end:?}\n{text}"),
            }
        }
    }
    assert!(errors > rounds && ends > rounds && left_out * 3 > rounds as usize, "{errors} {ends} {left_out}");
}
