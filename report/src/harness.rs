// SPDX-License-Identifier: Apache-2.0
//! Executable counterexamples: a C file that is compiled together with the program and makes it run into the error.
//!
//! It defines the functions that give the program its inputs, so that they return the recorded values in the order of the
//! calls, and the functions whose call is the error, so that they end the process with exit code 107. Values of
//! uninitialised variables cannot be set from outside; where a counterexample needs such a value other than 0, that is
//! noted. What is needed to compile and run it is written in its first lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use cfa::ir::{FloatTy, HavocOrigin, Op, Var};
use cfa::{MOST_ARGUMENTS, Program, Property, VarId, floats};
use cpa_core::Counterexample;

use crate::inputs::{Input, Origin, inputs};
use crate::reading;
use crate::text::literal;

/// The exit code of a run that reaches the error.
pub const REACHED: i32 = 107;
/// The exit code of a run that asks for more inputs than there are.
pub const EXHAUSTED: i32 = 108;
/// What a program calls where a label that it must not reach was made visible.
pub const LABEL_REACHED: &str = "__cpa_label_reached";

/// An executable counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Harness {
    /// The C file.
    pub text: String,
    /// How many command-line arguments the program needs.
    pub arguments: usize,
    /// Why an execution may differ from the counterexample.
    pub caveats: Vec<String>,
}

/// The harness of a counterexample that violates the property.
pub fn harness(program: &Program, property: &Property, counterexample: &Counterexample) -> Harness {
    let inputs = inputs(program, counterexample);
    let (arguments, mut caveats) = from_outside(program, &inputs);
    if counterexample.memory.values().any(|byte| *byte != 0) {
        caveats.push("memory that was never written holds values other than 0".to_string());
    }
    let mut text = head(program, &caveats, arguments);
    error_functions(program, property, &mut text);
    input_functions(program, &inputs, &mut text);
    reading::functions(program, &mut text);
    other_functions(program, property, &mut text);
    entry(program, &inputs, &mut text);
    Harness { text, arguments, caveats }
}

fn head(program: &Program, caveats: &[String], arguments: usize) -> String {
    let width = program.machine.long_bits();
    let files: Vec<&str> = own_sources(program).map(|source| source.name.as_str()).collect();
    let files = files.join(" ");
    let argument = if arguments == 0 { String::new() } else { format!(" with {arguments} arguments") };
    let mut text = format!(
        "/* An executable counterexample, written by cpa-verify. Compile and run it{argument}; exit code {REACHED} means that\n   \
         the error was reached.\n\n     \
         cc -m{width} -w -O0 -fwrapv -ftrivial-auto-var-init=zero -Wl,-z,muldefs -o counterexample HARNESS {files} -lm\n\n   \
         -Wl,-z,muldefs lets the functions of this file replace those of the program that have the same names. */\n"
    );
    for caveat in caveats {
        let _ = writeln!(text, "/* Note: {caveat}. */");
    }
    text.push_str("\nextern void _exit(int) __attribute__((noreturn));\n\n");
    text
}

/// The program's own files, without definitions of library functions.
fn own_sources(program: &Program) -> impl Iterator<Item = &cfa::Source> {
    program.sources.iter().filter(|source| !source.name.starts_with('<'))
}

/// What the program gets before its first step: the number of arguments; and what cannot be given to it.
fn from_outside(program: &Program, inputs: &[Input]) -> (usize, Vec<String>) {
    let params = &program.func(program.main).params;
    let mut arguments = 0;
    let mut caveats = Vec::new();
    for input in inputs.iter().filter(|input| input.origin == Origin::Uninitialised && input.value != 0) {
        if params.first() == Some(&input.var) {
            match usize::try_from(input.value) {
                Ok(count @ 1..=MOST_ARGUMENTS) => arguments = count - 1,
                _ => caveats.push(format!("the program must be started with argc = {}", input.value)),
            }
        } else if !params.contains(&input.var) {
            let name = &program.var(input.var).name;
            caveats.push(format!("the uninitialised variable {name} has the value {}", input.value));
        }
    }
    caveats.dedup();
    (arguments, caveats)
}

/// The functions that a program calls.
pub(crate) fn called(program: &Program) -> BTreeSet<&str> {
    program.calls.iter().map(|(name, ..)| &**name).collect()
}

/// Whether a function has a definition.
pub(crate) fn has_body(program: &Program, name: &str) -> bool {
    program.funcs.iter().any(|func| &*func.name == name && func.body.is_some())
}

fn error_functions(program: &Program, property: &Property, text: &mut String) {
    let called = called(program);
    for name in property.calls.iter().filter(|name| called.contains(name.as_str())) {
        let _ = writeln!(text, "void {name}() {{ _exit({REACHED}); }}");
    }
    if !property.labels.is_empty() {
        let _ = writeln!(text, "void {LABEL_REACHED}() {{ _exit({REACHED}); }}");
    }
}

/// The functions whose values are inputs, each with a variable that gets one.
pub(crate) fn giving_inputs(program: &Program) -> BTreeMap<&str, VarId> {
    let mut functions = BTreeMap::new();
    for edge in &program.edges {
        if let Op::Havoc { var, origin: HavocOrigin::Nondet { function } } = &edge.op
            && !cfa::is_silent(function)
        {
            functions.entry(&**function).or_insert(*var);
        }
    }
    functions
}

/// Functions whose values are inputs.
fn input_functions(program: &Program, inputs: &[Input], text: &mut String) {
    let mut functions: BTreeMap<&str, (VarId, Vec<&Input>)> =
        giving_inputs(program).into_iter().map(|(name, var)| (name, (var, Vec::new()))).collect();
    for input in inputs {
        if let Origin::Function(function) = &input.origin
            && let Some((_, values)) = functions.get_mut(&**function)
        {
            values.push(input);
        }
    }
    for (name, (var, values)) in functions {
        input_function(program, name, var, &values, text);
    }
}

/// The type of a variable in C.
pub(crate) fn type_name(var: &Var) -> &'static str {
    match var.float {
        Some(FloatTy::F32) => "float",
        Some(FloatTy::F64) => "double",
        None => var.ty.c_name(),
    }
}

fn input_function(program: &Program, name: &str, var: VarId, values: &[&Input], text: &mut String) {
    let var = program.var(var);
    let result = type_name(var);
    let _ = writeln!(text, "\n{result} {name}() {{");
    if values.is_empty() {
        let _ = writeln!(text, "  _exit({EXHAUSTED});\n}}");
        return;
    }
    let element = var.ty.c_name();
    let _ = writeln!(text, "  static const {element} values[] = {{");
    for input in values {
        let place = program.location(program.edge(input.edge).span);
        let number = var.float.map(|ty| format!("{} ", floats::decimal(ty, input.value))).unwrap_or_default();
        let _ = writeln!(text, "    {}, /* {number}{place} */", literal(input.value, var.ty));
    }
    let _ = writeln!(text, "  }};\n  static unsigned next;");
    let _ = writeln!(text, "  if (next == sizeof values / sizeof values[0]) _exit({EXHAUSTED});");
    if var.float.is_some() {
        let _ = writeln!(text, "  union {{ {element} bits; {result} number; }} value = {{ values[next++] }};");
        let _ = writeln!(text, "  return value.number;\n}}");
    } else {
        let _ = writeln!(text, "  return values[next++];\n}}");
    }
}

/// Functions that are called, have no body, and give no input.
fn other_functions(program: &Program, property: &Property, text: &mut String) {
    let called = called(program);
    let missing = |name: &str| called.contains(name) && !has_body(program, name);
    let violation = |name: &str| property.calls.iter().any(|call| call == name);
    text.push('\n');
    if missing("__VERIFIER_assume") {
        text.push_str("void __VERIFIER_assume(int condition) { if (!condition) _exit(0); }\n");
    }
    if missing("__assert_fail") && !has_body(program, "assert") {
        let code = if violation("__assert_fail") { REACHED } else { 1 };
        let _ = writeln!(text, "void assert(int condition) {{ if (!condition) _exit({code}); }}");
    }
    for name in ["reach_error", "__VERIFIER_error"].into_iter().filter(|name| missing(name) && !violation(name)) {
        let _ = writeln!(text, "void {name}() {{ _exit(1); }}");
    }
    for name in ["__VERIFIER_atomic_begin", "__VERIFIER_atomic_end"].into_iter().filter(|name| missing(name)) {
        let _ = writeln!(text, "void {name}() {{ }}");
    }
    let gives_input = |name: &str| {
        program.edges.iter().any(|edge| {
            matches!(&edge.op, Op::Havoc { origin: HavocOrigin::Nondet { function }, .. } if &**function == name)
        })
    };
    for name in program.undefined.iter().filter(|name| missing(name) && !gives_input(name)) {
        let _ = writeln!(text, "void {name}() {{ }}");
    }
}

/// The call of an entry function that is not `main`.
fn entry(program: &Program, inputs: &[Input], text: &mut String) {
    let main = program.func(program.main);
    if &*main.name == "main" {
        return;
    }
    let argument = |param: &VarId| {
        let given = inputs.iter().find(|input| input.var == *param && input.origin == Origin::Uninitialised);
        let ty = program.var(*param).ty;
        format!("({}){}", ty.c_name(), literal(given.map_or(0, |input| input.value), ty))
    };
    let arguments: Vec<String> = main.params.iter().map(argument).collect();
    let name = &main.name;
    let _ = writeln!(text, "\nextern void {name}();\nint main(void) {{ {name}({}); return 0; }}", arguments.join(", "));
}
