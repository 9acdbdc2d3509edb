// SPDX-License-Identifier: Apache-2.0
//! Variable arguments: what is not what a program asks for is not supported where it is reached.

use std::rc::Rc;

use cfa::machine::{Code, End, Machine, NoInputs, Setup, Storage};
use cfa::{Op, Property};

/// How the only run ends: with 0, or the unsupported construct.
fn run(body: &str) -> String {
    let text = format!(
        "typedef __builtin_va_list va_list; int vprintf(const char *, va_list); int unknown(int, va_list);
         #define START va_list ap; __builtin_va_start(ap, n)
         int sum(int n, ...) {{ START; int s = 0; while (n--) s += __builtin_va_arg(ap, int); __builtin_va_end(ap); return s; }}
         int both(int n, ...) {{ START; return __builtin_va_arg(ap, int) - __builtin_va_arg(ap, int); }}
         int one(int n, va_list ap) {{ return __builtin_va_arg(ap, int); }}
         int again(int n, ...) {{ START; n = one(1, ap); return n + __builtin_va_arg(ap, int); }}
         int ended(int n, ...) {{ START; __builtin_va_end(ap); return __builtin_va_arg(ap, int); }}
         int real(int n, ...) {{ START; return __builtin_va_arg(ap, double); }}
         int narrow(int n, ...) {{ START; return __builtin_va_arg(ap, char); }}
         int print(char *n, ...) {{ START; vprintf(n, ap); return 0; }}
         int asks(int n, ...) {{ START; return unknown(n, ap); }}
         int size(int n, ...) {{ START; return sizeof ap; }}
         int moved(int n, ...) {{ START; return *(int *)ap; }}
         int main(void) {{ char text[3]; int k = 3; {body}; }}"
    );
    let text = text.replace("#define START va_list ap; __builtin_va_start(ap, n)", "");
    let program = crate::load(&text.replace("START", "va_list ap; __builtin_va_start(ap, n)"));
    let targets = program.targets(&Property::default_errors());
    let code = Rc::new(Code::new(&program, &Setup::new(&targets, Storage::Untouchable)).unwrap());
    let mut machine = Machine::new(code, 1 << 28);
    match machine.run(&mut NoInputs, u64::MAX) {
        Some(End::Returned) => "returned".into(),
        Some(End::NeedsInput(_)) => "an input".into(),
        Some(End::Unsupported(edge)) => match &program.edge(edge).op {
            Op::Unsupported { construct } => construct.to_string(),
            op => panic!("{}", program.display_op(op)),
        },
        end => panic!("{end:?}: {body}"),
    }
}

#[test]
fn arguments_of_the_types_that_are_asked_for() {
    for body in ["return sum(0)", "return sum(2, 1, (char)2)", "return sum(1, 2u, 3.0, text)", "return real(1, 2.0f)"] {
        assert_eq!(run(body), "returned", "{body}");
    }
    // What a function prints that nobody knows is arbitrary.
    for body in ["return print(\"x\")", "return print(\"x\", 1, \"s\", 2.0)", "return print(text, k, (char *)0)"] {
        assert_eq!(run(body), "an input", "{body}");
    }
}

#[test]
fn other_arguments() {
    let other = "variable argument of another type than is asked for, or behind the last one";
    for body in ["return sum(1)", "return sum(2, 1)", "return sum(1, 1LL)", "return sum(1, 1.0)", "return sum(1, text)"]
    {
        assert_eq!(run(body), other, "{body}");
    }
    for body in ["return real(1, 1)", "return sum(1, 1.0L)", "return ((int (*)(int))sum)(1)"] {
        assert_eq!(run(body), other, "{body}");
    }
    for body in ["return again(2, 1, 2)", "return ended(1, 1)", "va_list ap; return __builtin_va_arg(ap, int)"] {
        assert_eq!(run(body), "variable argument list without a start", "{body}");
    }
    let order = "operands that change what others use, in an order of evaluation that C leaves open";
    assert_eq!(run("return both(2, 1, 2)"), order);
    assert_eq!(run("return narrow(1, 1)"), "variable argument that is of another kind");
    let counts = "call of 'vprintf' with a format that may store numbers";
    for body in ["return print(\"x\", &k)", "return print(\"x\", 1, text)"] {
        assert_eq!(run(body), counts, "{body}");
    }
    assert_eq!(run("return asks(1, 1)"), "call of 'unknown', which has no body");
    assert_eq!(run("return size(1)"), "size of a variable argument list");
    assert_eq!(run("return moved(1, 1)"), "conversion of a variable argument list");
}
