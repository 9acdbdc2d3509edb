// SPDX-License-Identifier: Apache-2.0
//! The concrete machine against compiled programs, and its checks.

use std::process::Command;
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, Move, NoInputs, Setup, Storage};
use cfa::{IntTy, MachineModel, Program, Property, VarId};
use expect_test::{Expect, expect};

use crate::{load, try_load};

fn code(program: &Program, storage: Storage, steps: bool) -> Rc<Code> {
    let targets = program.targets(&Property::default_errors());
    Rc::new(Code::new(program, &Setup { steps, ..Setup::new(&targets, storage) }).unwrap())
}

/// Compiles a program and runs it; prints the global variable `checksum`. None without a compiler.
fn compiled(name: &str, text: &str) -> Option<u32> {
    let folder = std::env::temp_dir().join(format!("cfa-machine-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let show = "int printf(const char *, ...);
        __attribute__((destructor)) static void show(void) { printf(\"%u\\n\", checksum); }\n";
    std::fs::write(folder.join("program.c"), format!("{text}\n{show}")).unwrap();
    let flags = ["-O1", "-w", "-fwrapv", "-fno-strict-aliasing", "-o", "program", "program.c"];
    let built = Command::new("gcc").args(flags).current_dir(&folder).status();
    let output = match built {
        Ok(status) => {
            assert!(status.success(), "{name} is no valid program");
            Some(Command::new(folder.join("program")).output().unwrap())
        }
        Err(_) => None,
    };
    std::fs::remove_dir_all(&folder).unwrap();
    output.map(|output| String::from_utf8(output.stdout).unwrap().trim().parse().unwrap())
}

fn agree(name: &str, text: &str) {
    let program = try_load(text, MachineModel::Lp64).unwrap_or_else(|error| panic!("{error}"));
    let checksum = program.vars.iter().position(|var| &*var.name == "checksum").map(VarId::new).unwrap();
    let mut results = Vec::new();
    for (storage, steps) in [(Storage::Untouchable, false), (Storage::Inputs, true)] {
        let mut machine = Machine::new(code(&program, storage, steps), 1 << 28);
        machine.limit_steps(10);
        // What is never written is 0 where that is an input.
        let end = match storage {
            Storage::Untouchable => machine.run(&mut NoInputs, u64::MAX),
            Storage::Inputs => machine.run(&mut Always(0, Vec::new()), u64::MAX),
        };
        assert_eq!(end, Some(End::Returned), "{name}");
        results.push(machine.variable(&program, checksum).unwrap());
    }
    assert_eq!(results[0], results[1], "{name}");
    if let Some(expected) = compiled(name, text) {
        assert_eq!(results[0], i128::from(expected), "{name}");
    }
    // Few machines compile for ILP32, so that result is written in the program.
    let narrow = text.lines().find_map(|line| line.strip_prefix("// On ILP32 the checksum is ")?.strip_suffix('.'));
    if let Some(expected) = narrow {
        let program = load(text);
        let checksum = program.vars.iter().position(|var| &*var.name == "checksum").map(VarId::new).unwrap();
        let mut machine = Machine::new(code(&program, Storage::Untouchable, false), 1 << 28);
        assert_eq!(machine.run(&mut NoInputs, u64::MAX), Some(End::Returned), "{name}");
        assert_eq!(machine.variable(&program, checksum).unwrap().to_string(), expected, "{name} on ILP32");
    }
}

#[test]
fn agrees_with_compiled_programs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut programs: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    assert!(programs.len() > 20);
    for program in programs {
        let name = program.file_stem().unwrap().to_str().unwrap();
        agree(name, &std::fs::read_to_string(&program).unwrap());
    }
}

/// How a run without inputs ends.
fn end(text: &str) -> (Program, End) {
    let program = load(text);
    let mut machine = Machine::new(code(&program, Storage::Untouchable, false), 1 << 28);
    let end = machine.run_watching(&mut NoInputs, 1 << 24).unwrap_or(End::Diverges);
    (program, end)
}

fn check_end(text: &str, expected: Expect) {
    let (program, end) = end(text);
    let place = |edge| program.text(program.edge(edge).span).to_string();
    expected.assert_eq(&match end {
        End::Undefined(edge, fault) => format!("{}: {fault}", place(edge)),
        End::NeedsInput(edge) => format!("{}: an input", place(edge)),
        End::NeedsValue(edge, var) => {
            format!("{}: {:?} has no value", place(edge), var.map(|var| program.var(var).name.to_string()))
        }
        End::Unsupported(edge) => format!("{}: not supported", place(edge)),
        other => format!("{other:?}").split('(').next().unwrap().to_string(),
    });
}

#[test]
fn what_is_undefined_ends_the_run() {
    check_end("int main(void) { int x = 0; return 5 / x; }", expect!["return 5 / x;: division by zero"]);
    check_end("int main(void) { int x = -1; return -2147483648 % x; }", expect!["Returned"]);
    check_end(
        "int main(void) { int x = 32; if (x > 40 && 1 << x) return 1; return 1 << x; }",
        expect!["return 1 << x;: shift by a negative or too large amount"],
    );
    check_end(
        "int main(void) { double d = 1e10; int x = d; return x; }",
        expect!["x = d: conversion of a floating-point number out of the range of the integer type"],
    );
}

#[test]
fn accesses_to_memory_are_checked() {
    let prefix =
        "extern void *malloc(unsigned); extern void free(void *); int a[4]; int b[4] = {5}; char *s = \"text\";
        int *leak(void) { int local[2] = {1, 2}; int *p = local; return p; } int read(int *p) { return *p; }\n";
    let check = |body: &str, expected: Expect| check_end(&format!("{prefix}int main(void) {{ {body} }}"), expected);
    check("for (int i = 0; i < 4; i++) a[i] = b[i]; return read(a + 3);", expect!["Returned"]);
    check("for (int i = 0; i <= 4; i++) a[i] = 0; return 0;", expect!["a[i] = 0: access beyond the end of an object"]);
    check("int i = 8; return a[i];", expect!["return a[i];: access beyond the end of an object"]);
    check("int i = -1; return a[i];", expect!["return a[i];: access beyond the end of an object"]);
    check("int *p = 0; return *p;", expect!["return *p;: access through a null pointer"]);
    check("int *p = malloc(8); p[1] = 3; return p[1] + p[2];", expect!["p[2]: access outside of all objects"]);
    check(
        "int *p = malloc(8); p[1] = 3; free(p); return p[1];",
        expect!["return p[1];: access outside of all objects"],
    );
    check(
        "int *p = malloc(8); free(p); free(p); return 0;",
        expect!["free(p): free of something that is no allocated object"],
    );
    check("free(a + 1); return 0;", expect!["free(a + 1): free of something that is no allocated object"]);
    check("return read((int *)((char *)(a + 3) + 1));", expect!["return *p;: access across the end of an object"]);
    check("s[1] = 'a'; return 0;", expect!["s[1] = 'a': write to a constant object"]);
    check("return read(leak());", expect!["return *p;: access outside of all objects"]);
    check("int *p = malloc(8); return *p;", expect!["return *p;: None has no value"]);
    check("struct { int x, y; } p, q, *h = malloc(8); p.x = 1; q = p; *h = q; return h->x;", expect!["Returned"]);
    check(
        "struct { int x, y; } p, q, *h = malloc(8); p.x = 1; q = p; *h = q; return h->y;",
        expect!["return h->y;: None has no value"],
    );
}

#[test]
fn variables_without_value_may_be_copied_only() {
    check_end("int main(void) { int x, y; y = x; return y + 1; }", expect!["Returned"]);
    check_end("int main(void) { int x, y; y = x; y = 1; return y + 1; }", expect!["Returned"]);
    check_end("int f(int c) { if (c) return 1; } int main(void) { f(0); return f(1) + 1; }", expect!["Returned"]);
    check_end("int f(int c) { if (c) return 1; } int main(void) { return f(0) + 1; }", expect!["Returned"]);
    check_end(
        "int main(void) { int x; for (int i = 0; i < 3; i++) { if (i) x++; else x = 1; } return x; }",
        expect!["Returned"],
    );
    check_end(
        "int main(int argc, char **argv) { char *first; first = argv[0]; return 0; }",
        expect![[r#"first = argv[0]: Some("main::argv") has no value"#]],
    );
    check_end("int main(int argc, char **argv) { int x = 1; char **copy = argv; return x; }", expect!["Returned"]);
    check_end(
        "union U { double d; struct { unsigned lo, hi; } w; };
        int main(void) { union U u; u.w.hi = 1; u.w.lo = 2; return u.d > 0; }",
        expect!["Returned"],
    );
    check_end(
        "union U { double d; struct { unsigned lo, hi; } w; };
        int main(void) { union U u; u.w.hi = 1; if (u.w.hi == 1) return u.d > 0; return 0; }",
        expect!["Returned"],
    );
    check_end("int main(void) { int x, y = 1; y = x * 2 + y; y = 3; return y; }", expect!["Returned"]);
    check_end("int main(void) { int x, y = 1; y = x * 2 + y; return y ? 1 : 0; }", expect!["Returned"]);
    check_end(
        "int main(void) { unsigned char x; x = (x & 3) | 4; if ((x & 12) == 4) return 1; if (x & 3) return 2; return 0; }",
        expect!["Returned"],
    );
    check_end(
        "int main(void) { unsigned char x; x = (x & 3) | 4; if ((x & 12) == 3) return 1; if (x & 1) return 2; return 0; }",
        expect![[r#"x & 1: Some("main::x") has no value"#]],
    );
    check_end("extern int g; int main(void) { if (g) return 1; return 0; }", expect![[r#"g: Some("g") has no value"#]]);
}

/// The same number for every input, and a record of who asked.
struct Always(i128, Vec<u64>);

impl Inputs for Always {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        self.1.push(asked.step);
        Some(self.0)
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(self.0 as u8)
    }
}

#[test]
fn steps_are_those_of_the_automaton() {
    let text = "extern int nondet_int(void); int f(int x) { if (x > 2) return x; return f(x + 1); }
        int main(void) { int y = nondet_int(); return f(y); }";
    let program = load(text);
    let mut machine = Machine::new(code(&program, Storage::Inputs, true), 1 << 28);
    let mut inputs = Always(1, Vec::new());
    assert_eq!(machine.run(&mut inputs, u64::MAX), Some(End::Returned));
    assert_eq!(machine.steps().len() as u64, machine.step_count());
    // Each step begins where the one before ended.
    let mut at = program.entry;
    let mut calls = Vec::new();
    for step in machine.steps() {
        let body = |edge| match &program.edge(edge).op {
            cfa::Op::Call { callee, .. } => program.func(*callee).body.unwrap(),
            _ => panic!("only calls are entered and left"),
        };
        at = match *step {
            Move::Edge(edge) => {
                assert_eq!(program.edge(edge).src, at);
                program.edge(edge).dst
            }
            Move::Enter(edge) => {
                assert_eq!(program.edge(edge).src, at);
                calls.push(edge);
                body(edge).entry
            }
            Move::Leave(edge) => {
                assert_eq!((body(edge).exit, calls.pop()), (at, Some(edge)));
                program.edge(edge).dst
            }
        };
    }
    assert_eq!(at, program.func(program.main).body.unwrap().exit);
    // The inputs belong to havoc edges.
    for step in inputs.1 {
        let Move::Edge(edge) = machine.steps()[step as usize] else { panic!("a havoc edge") };
        assert!(matches!(program.edge(edge).op, cfa::Op::Havoc { .. }));
    }
    machine.reset();
    assert_eq!(machine.run(&mut NoInputs, u64::MAX).map(|end| matches!(end, End::NeedsInput(_))), Some(true));
}

#[test]
fn targets_and_endless_loops() {
    let (program, end) =
        end("extern void reach_error(void); int main(void) { for (int i = 0; ; i++) if (i == 9) reach_error(); }");
    assert_eq!(end, End::Target(program.targets(&Property::default_errors()).into_iter().next().unwrap()));
    check_end("int main(void) { for (;;) { } }", expect!["Diverges"]);
    check_end("int main(void) { int x = 1; for (;;) { x = x * 5 % 7; } }", expect!["Diverges"]);
}
