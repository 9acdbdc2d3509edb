// SPDX-License-Identifier: Apache-2.0
//! Tests of the front end on small C programs; every loaded program goes through the verifier first.

mod assembly;
mod conversions;
mod differential;
mod errors;
mod exprs;
mod floats;
mod functions;
mod graph;
mod labels;
mod layouts;
mod library;
mod links;
mod lowering;
mod machine;
mod memory;
mod orders;
mod pointers;
mod repair;
mod skipping;
mod slicing;
mod summarized;
mod unsequenced;
mod variadic;

use cfa::{LoadError, MachineModel, Options, Program, Source};
use expect_test::Expect;

/// Loads a program from one file for the given machine.
fn try_load(text: &str, machine: MachineModel) -> Result<Program, LoadError> {
    let sources = [Source { name: "t.c".into(), text: text.into() }];
    let program = cfa::load(&sources, &Options { machine, ..Options::default() })?;
    if let Err(problem) = cfa::verify::verify(&program) {
        panic!("{problem}\n{}", program.dump());
    }
    Ok(program)
}

fn load(text: &str) -> Program {
    try_load(text, MachineModel::Ilp32).unwrap_or_else(|error| panic!("{error}"))
}

/// Compares the dump without locations.
fn check(text: &str, expect: Expect) {
    let dump = load(text).dump();
    let lines: Vec<&str> = dump.lines().map(|line| line.split("   //").next().unwrap_or(line)).collect();
    expect.assert_eq(&(lines.join("\n") + "\n"));
}

/// Compares the dump of the body of `main`, which is put around statements; `x`, `y`, `z` are `int` variables and
/// functions are declared as usual.
fn check_body(statements: &str, expect: Expect) {
    let text = format!("{PRELUDE}int main(void) {{ {statements} }}");
    let dump = load(&text).dump();
    let lines: Vec<&str> = dump
        .lines()
        .skip_while(|line| !line.starts_with("main("))
        .map(|line| line.split("   //").next().unwrap_or(line))
        .collect();
    expect.assert_eq(&(lines.join("\n").replace("main::", "") + "\n"));
}

const PRELUDE: &str = "extern int x, y, z; extern int nondet_int(void); extern void abort(void); \
    typedef unsigned char T; typedef short S; int f(int a) { return a; } void g(void) { }\n";
