// SPDX-License-Identifier: Apache-2.0
//! Names that mean something else than their declarations say, and code that runs without a call.

use std::collections::BTreeSet;

use cfa::{NodeId, Op, Program, Property};

use crate::load;

/// The unsupported constructs that can be reached along edges, and whether something else leads to an error.
fn found(text: &str) -> (Vec<String>, bool) {
    let program = load(&format!("void reach_error(void); {text}"));
    let reachable = reachable(&program);
    let mut constructs = Vec::new();
    for edge in program.edges.iter().filter(|edge| reachable.contains(&edge.src)) {
        if let Op::Unsupported { construct } = &edge.op {
            constructs.push(construct.to_string());
        }
    }
    let leading = program.leading_to(&program.targets(&Property::default_errors()));
    let left_out = text.contains("reach_error") && !leading.contains(&program.entry);
    assert!(constructs.is_empty() || !left_out, "what is not supported cannot be left out: {text}");
    (constructs, leading.contains(&program.entry))
}

fn reachable(program: &Program) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::from([program.entry]);
    let mut open = vec![program.entry];
    while let Some(node) = open.pop() {
        for &edge in &program.node(node).leaving {
            let edge = program.edge(edge);
            let body = match edge.op {
                Op::Call { callee, .. } => program.func(callee).body.map(|body| body.entry),
                _ => None,
            };
            open.extend([Some(edge.dst), body].into_iter().flatten().filter(|node| seen.insert(*node)));
        }
    }
    seen
}

#[test]
fn code_that_nobody_calls() {
    for text in [
        "__attribute__((constructor)) void f(void) { reach_error(); } int main(void) { return 0; }",
        "void f(void) __attribute__((__destructor__)); void f(void) { reach_error(); } int main(void) { return 0; }",
        "void f(int *p) { reach_error(); } int main(void) { __attribute__((cleanup(f))) int x = 1; return 0; }",
        "void g(void) { reach_error(); } void *h(void) { return g; }
            void f(void) __attribute__((ifunc(\"h\"))); int main(void) { f(); return 0; }",
        "void f(void) { reach_error(); } void (*p)(void) __attribute__((section(\".init_array\"), used)) = f;
            int main(void) { return 0; }",
        "void f(void);
            #pragma weak f = reach_error
            int main(void) { f(); return 0; }",
    ] {
        let (constructs, leads) = found(text);
        assert!(leads && constructs.len() == 1, "{text}: {constructs:?}");
    }
}

#[test]
fn other_names() {
    for text in [
        "void g(void) { reach_error(); } void f(void) __attribute__((alias(\"g\"))); int main(void) { f(); return 0; }",
        "void f(void) __asm__(\"g\"); void g(void) { reach_error(); } int main(void) { f(); return 0; }",
        "void f(void) __asm__(\"g\"); void f(void) { reach_error(); } void g(void); int main(void) { g(); return 0; }",
        "void f(void) __asm__(\"reach_error\"); int main(void) { f(); return 0; }",
        "void f(void) __asm__(\"abort\"); int main(void) { f(); return 0; }",
        "int x; extern int y __attribute__((alias(\"x\"))); int main(void) { y = 1; return x; }",
        "extern void f(void) __attribute__((weak)); int main(void) { if (!f) reach_error(); return 0; }",
        "extern int x __attribute__((weak)); int main(void) { return &x == 0; }",
        "void g(void) { reach_error(); } void f(void) __attribute__((alias(\"g\")));
            int main(void) { void (*p)(void) = f; p(); return 0; }",
    ] {
        let (constructs, leads) = found(text);
        assert!(!constructs.is_empty(), "{text}");
        assert!(leads || !text.contains("reach_error"), "{text}");
    }
}

#[test]
fn links_without_consequences() {
    for text in [
        "extern int scanf(const char *, ...) __asm__(\"\" \"__isoc99_scanf\"); int main(void) { return scanf(\"x\"); }",
        "void f(void) __attribute__((weak)); void f(void) {} int main(void) { f(); return 0; }",
        "__attribute__((weak)) int x = 3; int main(void) { return x; }",
        "extern int y[] __attribute__((alias(\"x\"))); int x[2]; int main(void) { return 0; }",
        "int main(void) __asm__(\"main\"); int main(void) { register int x __asm__(\"eax\") = 1; return x; }",
        "extern void f(void) __attribute__((weak)); int main(void) { f(); return 0; }",
    ] {
        assert_eq!(found(text), (vec![], false), "{text}");
    }
}

#[test]
fn packed_enumerations() {
    let text = "enum e { A } __attribute__((packed)); int main(void) { return sizeof(enum e); }";
    assert_eq!(found(text).0.len(), 1);
    let text = "enum __attribute__((packed)) e { A }; int main(void) { enum e x = A; return A; }";
    assert_eq!(found(text).0, [""; 0], "the size does not matter");
}

#[test]
fn functions_that_do_not_return() {
    for text in [
        "extern void f(int, char *) __attribute__((__noreturn__)); int main(void) { char c; f(1, &c); reach_error(); }",
        "__attribute__((noreturn)) void f(void); int main(void) { f(); reach_error(); }",
        "_Noreturn void f(void); int main(void) { f(); reach_error(); }",
        "int main(void) { __builtin_trap(); reach_error(); }",
    ] {
        assert_eq!(found(text), (vec![], false), "{text}");
    }
    for text in [
        "void f(void) __attribute__((noreturn)); void f(void) {} int main(void) { f(); reach_error(); }",
        "void f(void), g(void) __attribute__((noreturn)); int main(void) { f(); reach_error(); }",
        "void f(void (*g)(void) __attribute__((noreturn))); int main(void) { f(0); reach_error(); }",
    ] {
        assert_eq!(found(text), (vec![], true), "{text}");
    }
}

#[test]
fn names_of_the_compiler() {
    let text = "int main(int x) { __builtin_printf(\"%d\", x); __builtin_puts(\"x\"); __CPROVER_assume(x > 3); reach_error(); }";
    assert_eq!(found(text), (vec![], true));
    let text = "int main(int x) { __builtin_printf(\"%n\", &x); if (x) reach_error(); }";
    assert_eq!(found(text).0.len(), 1);
}

#[test]
fn other_modes_of_rounding() {
    let text = "extern int fesetround(int); int main(int x) { fesetround(0x400); if (0.1 + x < 0.3) reach_error(); }";
    assert_eq!(found(text).0, ["call of 'fesetround', which has no body"]);
}
