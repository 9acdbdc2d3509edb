// SPDX-License-Identifier: Apache-2.0
//! Texts that are refused: one clear message each, and never a panic.

use cfa::MachineModel;
use expect_test::{Expect, expect};

use crate::try_load;

fn check(text: &str, expect: Expect) {
    match try_load(text, MachineModel::Ilp32) {
        Ok(_) => panic!("it loads"),
        Err(error) => expect.assert_eq(&error.to_string()),
    }
}

#[test]
fn broken_texts() {
    check("int main(void) { int x; if (x) { x = 1;", expect!["t.c:1:32: '{' is never closed; is the file complete?"]);
    check(
        "int main(void) { int x = ; return 0; }",
        expect!["t.c:1:25: syntax error, 'identifier' is missing; the text must be complete, preprocessed C"],
    );
    check(
        "int main(void) { return 0; } }",
        expect!["t.c:1:30: '}' without the bracket that it closes; this is not complete C"],
    );
    check(
        "\u{1}\u{2}junk\u{fffd}",
        expect!["t.c:1:1: a character that C does not use here; this is not C source text"],
    );
    check(
        "int main(void) { char *s = \"abc; }",
        expect!["t.c:1:28: a string that does not end; is the file complete?"],
    );
    check("int main(void) { /* }", expect!["t.c:1:18: a comment that does not end; is the file complete?"]);
    check(
        "hello world",
        expect!["t.c:1:1: 'hello' is not the name of a type; declare it, or pass the preprocessed program"],
    );
    check("", expect!["there is no function 'main' with a body; pass all source files of the program"]);
    check("int f(void);", expect!["there is no function 'main' with a body; pass all source files of the program"]);
}

#[test]
fn what_is_not_read() {
    check(
        "#include <stdio.h>\nint main(void) { return 0; }",
        expect![
            "t.c:1:1: the preprocessor directive '#include'; preprocess the program first, for example with 'gcc -E -P'"
        ],
    );
    check(
        "#define N 3\nint main(void) { return N; }",
        expect![
            "t.c:1:1: the preprocessor directive '#define'; preprocess the program first, for example with 'gcc -E -P'"
        ],
    );
    check(
        "FILE *f; int main(void) { return 0; }",
        expect!["t.c:1:1: 'FILE' is not the name of a type; declare it, or pass the preprocessed program"],
    );
    check(
        "int f(void) { return 1; } int f(void) { return 2; } int main(void) { }",
        expect!["t.c:1:31: a second definition of 'f'; remove one definition"],
    );
    check(
        "int main(void) { int x; switch (x) { case 1: if (x) l: case 2: x = 3; x = 4; } }",
        expect!["t.c:1:56: a case label as an unbraced branch or behind a label; put braces around"],
    );
    check("int main(void) { break; }", expect!["t.c:1:18: break outside of a loop or switch; remove it"]);
    check("int main(void) { L: ; L: ; }", expect!["t.c:1:23: a second label 'L'; rename one of them"]);
}

#[test]
fn deep_nesting() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("int main(void) {{ int x; {}x = 1;{} }}", open.repeat(levels), close.repeat(levels))
    };
    assert!(try_load(&nested("{", "}", 900), MachineModel::Ilp32).is_ok());
    assert!(try_load(&nested("if (x) ", "", 900), MachineModel::Ilp32).is_ok());
    assert!(try_load(&nested("while (x) { ", "}", 400), MachineModel::Ilp32).is_ok());
    check(
        &nested("{", "}", 1100),
        expect!["t.c:1:1022: code nested more than 1000 levels deep; split the expression or statement"],
    );
    let parentheses =
        |levels| format!("int x; int main(void) {{ x = {}1{}; }}", "(".repeat(levels), ")".repeat(levels));
    assert!(try_load(&parentheses(900), MachineModel::Ilp32).is_ok());
    check(
        &parentheses(10_000),
        expect!["t.c:1:1024: code nested more than 1000 levels deep; split the expression or statement"],
    );
    let calls = |levels| format!("int f(int a); int main(void) {{ {}1{}; }}", "f(".repeat(levels), ")".repeat(levels));
    assert!(try_load(&calls(490), MachineModel::Ilp32).is_ok());
    let unary = format!("int x; int main(void) {{ x = {}x; }}", "- ".repeat(900));
    assert!(try_load(&unary, MachineModel::Ilp32).is_ok());
}

#[test]
fn long_chains_are_not_deep() {
    let chain = |part: &str, count: usize| format!("int x; int main(void) {{ x = {}1; }}", part.repeat(count));
    for part in ["x + ", "x && ", "x++ || ", "x - 2 * "] {
        assert!(try_load(&chain(part, 3000), MachineModel::Ilp32).is_ok(), "{part}");
    }
    let arms: String = (0..3000).map(|k| format!("if (x == {k}) x = {k} + 1; else ")).collect();
    assert!(try_load(&format!("int x; int main(void) {{ {arms} x = 0; }}"), MachineModel::Ilp32).is_ok());
}
