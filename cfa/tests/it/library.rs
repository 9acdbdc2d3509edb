// SPDX-License-Identifier: Apache-2.0
//! Functions without body: definitions from the library, and what unknown ones mean.

use cfa::{HavocOrigin, Op, Options, Program, Source, UndefinedFunctions};

use crate::load;

fn with(text: &str, undefined_functions: UndefinedFunctions) -> Program {
    let sources = [Source { name: "t.c".into(), text: text.into() }];
    cfa::load(&sources, &Options { undefined_functions, ..Options::default() }).unwrap()
}

fn unsupported(program: &Program) -> Vec<String> {
    let constructs = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Unsupported { construct } => Some(construct.to_string()),
        _ => None,
    });
    constructs.collect()
}

fn has_body(program: &Program, name: &str) -> bool {
    program.funcs.iter().any(|f| &*f.name == name && f.body.is_some())
}

#[test]
fn unknown_functions_return_anything() {
    let text = "int f(int); void g(char *); int main(void) { char c; return f(1) + f(2) + (g(\"text\"), 1); }";
    let program = with(text, UndefinedFunctions::Havoc);
    assert_eq!(unsupported(&program), [""; 0]);
    let names: Vec<_> = program.assumptions.iter().map(|text| text.split(',').next().unwrap()).collect();
    assert_eq!(names, ["'f'", "'g'"]);
    assert_eq!(unsupported(&with(text, UndefinedFunctions::Error)).len(), 3);
}

#[test]
fn unknown_functions_may_write_through_pointers() {
    let text = "void g(char *); int main(void) { char c; g(&c); return 0; }";
    assert!(
        unsupported(&with(text, UndefinedFunctions::Havoc)).contains(&"call of 'g', which has no body".to_string())
    );
    assert!(
        !unsupported(&with(text, UndefinedFunctions::Skip)).contains(&"call of 'g', which has no body".to_string())
    );
}

#[test]
fn addresses_are_passed_as_numbers_too() {
    for (call, count) in [
        ("f((long)&x)", 1),
        ("f((int)(long)g)", 1),
        ("f((long)(x + 1))", 0),
        ("f((long)\"text\")", 0),
        ("f((unsigned long)0)", 0),
    ] {
        let text = format!("void f(long); void g(void) {{}} int main(void) {{ int x = 0; {call}; return x; }}");
        assert_eq!(unsupported(&load(&text)).len(), count, "{call}");
    }
}

#[test]
fn formats_that_store_numbers() {
    let with = |call: &str| {
        let text = format!(
            "int printf(const char *, ...); int fprintf(void *, const char *, ...);
            int sprintf(char *, const char *, ...); int snprintf(char *, unsigned, const char *, ...);
            int main(void) {{ int n = 0; const char *f = \"%n\"; void *to; {call}; return n; }}"
        );
        unsupported(&load(&text)).len()
    };
    for call in [
        "sprintf(to, \"%d%n\", 1, &n)",
        "snprintf(to, 9, f, &n)",
        "printf(\"%d%n\", 1, &n)",
        "printf(\"%-5hhn\", &n)",
        "printf(f, &n)",
        "fprintf(to, f, 1, &n)",
    ] {
        assert_eq!(with(call), 1, "{call}");
    }
    for call in [
        "sprintf(to, \"%d\", n)",
        "printf(\"%d %i and\", n, n)",
        "printf(f, n)",
        "printf(\"%p\", &n)",
        "fprintf(to, \"%s\", f)",
        "printf(f)",
        "printf(\"100%%n\", &n)",
    ] {
        assert_eq!(with(call), 0, "{call}");
    }
}

/// Systems differ in whether `swprintf` gets the size of its buffer, and in the width of its characters.
#[test]
fn functions_that_differ_between_systems() {
    let with = |text: &str| unsupported(&load(text)).len();
    let windows = "int swprintf(unsigned short *, const unsigned short *, ...); int main(void) { unsigned short b[9];";
    assert_eq!(with(&format!("{windows} return swprintf(b, \"%\\000d\\000\", 5); }}")), 0);
    assert_eq!(with(&format!("{windows} int n; return swprintf(b, \"%\\000n\\000\", &n); }}")), 1);
    let standard = "int swprintf(int *, unsigned, const int *, ...); int main(void) { int b[9];";
    assert_eq!(with(&format!("{standard} return swprintf(b, 9, (int *)\"%d\", 5); }}")), 0);
    assert_eq!(with(&format!("{standard} int n; return swprintf(b, 9, (int *)0, &n); }}")), 1);
}

/// A run that passes what is not followed is no counterexample: `sprintf` writes one text only.
#[test]
fn what_is_not_followed_has_no_value() {
    let program =
        load("int sprintf(char *, const char *, ...); int main(void) { char b[9]; return sprintf(b, \"%f\", 0.5); }");
    let written = |edge: &&cfa::Edge| &*program.func(program.node(edge.src).func).name == "__print_any";
    let origins = program.edges.iter().filter(written).filter_map(|edge| match &edge.op {
        Op::Havoc { origin: HavocOrigin::Unmodelled { what }, .. } => Some(what.to_string()),
        Op::Havoc { origin: HavocOrigin::Nondet { function }, .. } => panic!("an input of {function}"),
        _ => None,
    });
    assert_eq!(origins.collect::<Vec<_>>(), ["result of 'sprintf'", "result of 'sprintf'"]);
    let program = load("long lrand48(void); int main(void) { return lrand48() == 6; }");
    let unmodelled = |op: &Op| matches!(op, Op::Havoc { origin: HavocOrigin::Unmodelled { .. }, .. });
    assert!(program.edges.iter().any(|edge| unmodelled(&edge.op)));
}

/// What a program reads by formats: numbers and words are inputs, characters only if nothing before them restricts them.
#[test]
fn what_formats_read() {
    let origins = |main: &str| {
        let text = format!(
            "typedef struct F F; extern F *in; int scanf(const char *, ...); int __isoc99_fscanf(F *, const char *, ...);
             int sscanf(const char *, const char *, ...); int getchar(void); int x; long y; char c, b[9]; double d;
             int main(void) {{ {main} }}"
        );
        let program = load(&text);
        let origins = program.edges.iter().filter_map(|edge| match &edge.op {
            Op::Havoc { origin: HavocOrigin::Unmodelled { what }, .. } => Some(what.to_string()),
            Op::Havoc { origin: HavocOrigin::Nondet { function }, .. } => {
                Some(function.strip_prefix("__VERIFIER_nondet_").unwrap().to_string())
            }
            _ => None,
        });
        let mut found: Vec<String> = origins.collect();
        found.extend(unsupported(&program));
        found.sort();
        found
    };
    // The library's functions for words, which are there with each of these functions.
    let others = |found: &mut Vec<String>, names: &[&str]| {
        for name in names {
            let at = found.iter().position(|found| found == name).unwrap_or_else(|| panic!("{name} in {found:?}"));
            found.remove(at);
        }
    };
    let text = "result of 'scanf'";
    for (main, expected) in [
        ("return scanf(\"%d%ld\", &x, &y);", vec!["bool", "bool", "bool", "int", "long"]),
        ("return __isoc99_fscanf(in, \"%lf\", &d);", vec!["bool", "bool", "double"]),
        ("scanf(\"%c\", &c); return getchar();", vec!["bool", "bool", "char", "uchar"]),
        ("return scanf(\" %c\", &c);", vec!["bool", "char"]),
        ("return scanf(\"%d%c\", &x, &c);", vec!["bool", "bool", "bool", "int", "result of 'scanf'"]),
        (
            "scanf(\"%d\", &x); return getchar();",
            vec!["bool", "bool", "int", "result of 'getchar'", "result of 'getchar'"],
        ),
        (
            "int n; struct { int a; } s; scanf(\"%d%d\", &n, &s.a); return n + s.a;",
            vec!["bool", "bool", "bool", "int", "int"],
        ),
        ("return scanf(\"%s\", b);", vec!["bool"]),
        (
            "return scanf(\"%d\", &c);",
            vec!["bool", "bool", "call of 'scanf' with an argument that does not fit its format"],
        ),
        ("return scanf(\"%d\");", vec!["call of 'scanf' with too few arguments"]),
        ("return scanf(\"%n\", &x);", vec!["call of 'scanf', which has no body"]),
        ("return scanf(b, &x);", vec!["call of 'scanf', which has no body"]),
    ] {
        let mut found = origins(main);
        others(&mut found, &["bool", "char", text, text]);
        assert_eq!(found, expected, "{main}");
    }
    let mut found = origins("return sscanf(b, \"%d%s\", &x, b);");
    others(&mut found, &[text, text]);
    assert_eq!(found, ["result of 'sscanf'"; 4]);
}

/// A variable whose address is only there for `scanf` to say where a number goes is not in memory.
#[test]
fn variables_that_are_read_by_formats() {
    let stores = |main: &str| {
        let program = load(&format!(
            "int scanf(const char *, ...); int n; struct {{ int a; long b; }} s; int main(void) {{ {main} }}"
        ));
        assert_eq!(unsupported(&program), [""; 0], "{main}");
        let own = program.edges.iter().filter(|edge| program.is_users(edge.span));
        own.filter(|edge| matches!(edge.op, Op::Store { .. })).count()
    };
    assert_eq!(stores("return scanf(\"%d%ld\", &n, &s.b);"), 0);
    assert_eq!(stores("int k, *p = &k; scanf(\"%d\", &k); return *p;"), 1);
    assert_eq!(stores("int k, *p = &k; scanf(\"%d\", p); return k;"), 1);
}

/// A call of `scanf` and what uses the variable that it writes are evaluated in any order, if C says no more.
#[test]
fn orders_of_reading_by_formats() {
    let refused = |main: &str| {
        let text = format!("int scanf(const char *, ...); int *p, a[3], k; int main(void) {{ int x = 5, y; {main} }}");
        unsupported(&load(&text)).iter().filter(|what| what.starts_with("operands that change")).count()
    };
    for main in [
        "return (x > 7) & (scanf(\"%d\", &x) == 1);",
        "return (scanf(\"%d\", &x) == 1) & (x > 7);",
        "return x + scanf(\"%d\", &x);",
        "return a[1] + scanf(\"%d\", p);",
        "return scanf(\"%d\", &x) + scanf(\"%d\", &x);",
        "a[x] = scanf(\"%d\", &x);",
    ] {
        assert!(refused(main) > 0, "{main}");
    }
    for main in [
        "return scanf(\"%d\", &x) == 1 && x > 7;",
        "y = scanf(\"%d\", &x); return y;",
        "return x > 7 ? scanf(\"%d\", &x) : x;",
        "return k + scanf(\"%d\", &x) == 1;",
        "return scanf(\"%d\", &x) != k, x;",
        "while (scanf(\"%d\", &a[k++]) == 1) x += k; return x;",
    ] {
        assert_eq!(refused(main), 0, "{main}");
    }
}

#[test]
fn library_functions_have_definitions() {
    let program = load(
        "int isalnum(int); int printf(const char *, ...); int main(void) { \
                        printf(\"x\"); return isalnum(65) + __builtin_clz(1); }",
    );
    assert_eq!(unsupported(&program), [""; 0]);
    assert_eq!(program.assumptions, [""; 0]);
    for name in ["isalnum", "isalpha", "__builtin_clz", "__builtin_popcountll"] {
        assert!(has_body(&program, name), "{name}");
    }
    assert!(!has_body(&program, "isspace"));
    assert_eq!(program.sources.len(), 2);
}

#[test]
fn the_program_comes_first() {
    let program =
        load("int isdigit(int c) { return 7; } int abs(int, int); int main(void) { return isdigit(1) + abs(1, 2); }");
    // `abs` is declared as another function.
    assert!(!has_body(&program, "abs"));
    let own = program.funcs.iter().filter(|f| &*f.name == "isdigit" && f.body.is_some());
    assert_eq!(own.map(|f| f.span.file).collect::<Vec<_>>(), [0]);
    assert_eq!(program.assumptions.len(), 1, "{:?}", program.assumptions);
}

/// C leaves open which elements are compared, so a comparison must do nothing else.
#[test]
fn comparisons_that_do_more() {
    for (compare, count) in [
        ("return *(int *)a - *(int *)b;", 0),
        ("calls++; return *(int *)a - *(int *)b;", 1),
        ("if (a == b) reach_error(); return 0;", 1),
        ("*(int *)a = 0; return 0;", 1),
    ] {
        let text = format!(
            "typedef unsigned long U; void reach_error(void); int calls;
            void qsort(void *, U, U, int (*)(const void *, const void *));
            int compare(const void *a, const void *b) {{ {compare} }}
            int main(void) {{ int x[3] = {{3, 1, 2}}; qsort(x, 3, sizeof *x, compare); return x[0]; }}"
        );
        let program = crate::try_load(&text, cfa::MachineModel::Lp64).unwrap();
        let refused = unsupported(&program).into_iter().filter(|what| what.starts_with("'qsort' with a comparison"));
        assert_eq!(refused.count(), count, "{compare}");
    }
}

/// A function of the program that is called like the one of the library that gives `errno` any value does what it says.
#[test]
fn names_of_the_library_in_programs() {
    let program = load(
        "int *__errno_location(void); int g; int __errno_any(void) { return ++g; }
         int main(void) { *__errno_location() = 0; return __errno_any() - g; }",
    );
    let is_choice = |op: &Op| match op {
        Op::Havoc { origin: HavocOrigin::Unmodelled { what }, .. } => what.starts_with("order of evaluation"),
        _ => false,
    };
    assert_eq!(program.edges.iter().filter(|edge| is_choice(&edge.op)).count(), 1);
}
