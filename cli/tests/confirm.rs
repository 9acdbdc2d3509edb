// SPDX-License-Identifier: Apache-2.0
//! Counterexamples are executed: the harness feeds the inputs, whatever their types are, and the run ends at the error.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

fn verify(name: &str, text: &str, arguments: &[&str]) -> String {
    // Tests run at the same time, and some use the same names.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("cpa-verify-{}-{number}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file: PathBuf = folder.join("program.c");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    command.args(["--confirm", "--timelimit", "60s", "--cores", "1"]).args(arguments).arg(&file);
    let output = command.output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

const HEAD: &str = "extern void reach_error(void); _Bool __VERIFIER_nondet_flag(void); double __VERIFIER_nondet_double(void);\n\
    long long __VERIFIER_nondet_longlong(void); unsigned char __VERIFIER_nondet_uchar(void); int other(int);\n\
    int __VERIFIER_nondet_bool(void); void __VERIFIER_assume(int);\n";

#[test]
fn inputs_of_all_types_are_fed() {
    let text = "int main(void) {\n  int n = 0;\n  for (int i = 0; i < 3; i++) n += __VERIFIER_nondet_uchar();\n\
                  long long l = __VERIFIER_nondet_longlong();\n  __VERIFIER_assume(l / 1000000007 == -5);\n\
                  double d = __VERIFIER_nondet_double();\n\
                  if (n == 700 && d > 1.5 && d < 1.75 && __VERIFIER_nondet_flag() == 1\n\
                    && __VERIFIER_nondet_bool() == 1 && other(3) == -7) reach_error();\n}\n";
    for width in ["--32", "--64"] {
        let lines = verify("types", &format!("{HEAD}{text}"), &[width]);
        assert!(lines.contains("\nConfirmed: "), "{lines}");
        assert!(lines.contains("__VERIFIER_nondet_flag() = 1\n") && lines.contains("other() = -7\n"), "{lines}");
    }
}

#[test]
fn errors_of_the_program_and_labels_are_seen() {
    // The program's own error function would not end with the exit code that tells.
    let own = "extern void abort(void); void reach_error(void) { abort(); }\n\
               int main(int argc, char **argv) { if (argc == 3) reach_error(); }";
    let lines = verify("own", own, &[]);
    assert!(lines.contains("\nConfirmed: "), "{lines}");
    // It has its own `assert`, too, and calls what the library's one would call.
    let assert = "void __assert_fail(const char *, const char *, unsigned, const char *); void reach_error(void);\n\
                  int __VERIFIER_nondet_int(void); void assert(_Bool c) { if (!c) reach_error(); }\n\
                  int main(void) { int n = __VERIFIER_nondet_int(); if (n == 7) __assert_fail(\"\", \"\", 1, \"\"); assert(n != 5); }";
    let property = std::env::temp_dir().join(format!("cpa-verify-{}.prp", std::process::id()));
    std::fs::write(&property, "CHECK( init(main()), LTL(G ! call(reach_error())) )").unwrap();
    let lines = verify("assert", assert, &["--spec", property.to_str().unwrap()]);
    std::fs::remove_file(property).unwrap();
    assert!(lines.contains("\nConfirmed: "), "{lines}");
    let label = "int __VERIFIER_nondet_int(void);\nint main(void) {\n  if (__VERIFIER_nondet_int() == 5) goto ERROR;\n\
                   return 0;\nERROR: goto ERROR;\n}";
    let lines = verify("label", label, &[]);
    assert!(lines.contains("\nConfirmed: "), "{lines}");
}

#[test]
fn the_number_of_arguments_is_not_negative() {
    let with = |cond: &str| {
        let text = format!("void reach_error(void);\nint main(int argc, char **argv) {{ if ({cond}) reach_error(); }}");
        verify("arguments", &text, &[])
    };
    for cond in ["argc > 3", "argc > 1 && argc * argc == 49", "argv && argc == 2"] {
        let lines = with(cond);
        assert!(lines.contains("\nConfirmed: "), "{cond}: {lines}");
    }
    for cond in ["argc < 0", "argc + 5 < 5 && argc < 100"] {
        let lines = with(cond);
        assert!(lines.contains("Verification result: TRUE"), "{cond}: {lines}");
    }
    let text = "void reach_error(void);\nint start(int argc, char **argv) { if (argc < 0) reach_error(); return 0; }";
    let lines = verify("other-entry", text, &["--entry-function", "start"]);
    assert!(lines.contains("\nConfirmed: "), "{lines}");
}

/// In which order operands are evaluated is the compiler's choice, too.
#[test]
fn verdicts_hold_for_all_orders_of_evaluation() {
    let given = |name: &str, statements: &str, arguments: &[&str]| {
        let text = format!(
            "void reach_error(void); int __VERIFIER_nondet_int(void); int g;\n\
             int next(void) {{ return ++g; }} int any(void) {{ return __VERIFIER_nondet_int(); }}\n\
             int last(void) {{ return g--; }}\n\
             int main(void) {{ {statements} return 0; }}"
        );
        verify(name, &text, arguments)
    };
    let with = |name: &str, statements: &str| given(name, statements, &[]);
    for (name, statements) in [
        ("both", "if (next() - next() == -1) reach_error();"),
        ("other", "if (next() - next() == 1) reach_error();"),
        ("beside", "if (g + next() == 1) reach_error();"),
        ("many", "if (next() - (next(), last()) == 1) reach_error();"),
    ] {
        let lines = given(name, statements, &["--preset", "bmc-incremental"]);
        assert!(lines.contains("Verification result: UNKNOWN"), "{name}: {lines}");
        assert!(lines.contains("order of evaluation that C leaves open"), "{name}: {lines}");
        // Where it is: at the statement.
        assert!(lines.contains(".c:4:22:"), "{name}: {lines}");
    }
    for (name, statements) in [
        ("neither", "if (next() - next() == 0) reach_error();"),
        ("either", "int d = next() - next(); if (d != 1 && d != -1) reach_error();"),
    ] {
        let lines = with(name, statements);
        assert!(lines.contains("Verification result: TRUE"), "{name}: {lines}");
    }
    let lines = with("inputs", "if (any() - any() == 7) reach_error();");
    assert!(lines.contains("\nConfirmed: "), "{lines}");
    let lines = with("before", "if (any() == 7) reach_error(); g = next() + next();");
    assert!(lines.contains("\nConfirmed: "), "{lines}");
    let lines = with("after", "int x = next(); x += next(); if (x != 3) reach_error(); g = last() + last();");
    assert!(lines.contains("Verification result: TRUE"), "{lines}");
}

/// The order of elements that compare equal is open, unless nobody can tell them apart.
#[test]
fn verdicts_hold_for_all_orders_of_equal_elements() {
    let with = |name: &str, elements: &str, cond: &str| {
        let text = format!(
            "typedef unsigned long U; void reach_error(void); struct pair {{ int key, value; }} *f, x = {{3, 0}};\n\
             void qsort(void *, U, U, int (*)(const void *, const void *));\n\
             void *bsearch(const void *, const void *, U, U, int (*)(const void *, const void *));\n\
             int compare(const void *a, const void *b) {{ return *(const int *)a - *(const int *)b; }}\n\
             int main(void) {{ {elements};\n\
             qsort(a, 3, sizeof *a, compare); f = bsearch(&x, a, 3, sizeof *a, compare);\n\
             if ({cond}) reach_error(); }}"
        );
        verify(name, &text, &["--preset", "bmc-incremental", "--64"])
    };
    let (numbers, pairs) = ("int a[] = {3, 1, 3}", "struct pair a[] = {{3, 7}, {1, 1}, {3, 7}}");
    let different = "struct pair a[] = {{3, 7}, {1, 1}, {3, 8}}";
    for (name, elements, cond, verdict) in [
        ("numbers", numbers, "a[0] == 1 && a[1] == 3 && a[2] == 3", "UNKNOWN"),
        ("sorted", numbers, "a[0] != 1 || a[1] != 3 || a[2] != 3", "TRUE"),
        ("found", numbers, "f->key != 3 || (int *)f == a", "TRUE"),
        ("unique", "int a[] = {3, 2, 4}", "f && (int *)f == a + 1", "FALSE"),
        ("pairs", pairs, "a[2].value != 7 || f->value != 7", "TRUE"),
        ("set", different, "a[1].value + a[2].value != 15", "TRUE"),
        ("order", different, "a[1].value == 8", "UNKNOWN"),
        ("other-order", different, "a[1].value == 7", "UNKNOWN"),
    ] {
        let lines = with(name, elements, cond);
        assert!(lines.contains(&format!("Verification result: {verdict}")), "{name}: {lines}");
        // The place is the call, not one in the definition of the library.
        let place =
            if name == "numbers" { ".c:6:" } else { ".c:6:1: it depends on what is not modelled (choice of 'qsort'" };
        assert!(verdict != "UNKNOWN" || lines.contains(place), "{name}: {lines}");
    }
    let only_sorted = |name: &str, elements: &str, cond: &str| {
        let text = format!(
            "typedef unsigned long U; void reach_error(void); struct pair {{ int key, value; }};\n\
             void qsort(void *, U, U, int (*)(const void *, const void *));\n\
             int compare(const void *a, const void *b) {{ return *(const int *)a - *(const int *)b; }}\n\
             int main(void) {{ {elements}; qsort(a, 3, sizeof *a, compare); if ({cond}) reach_error(); }}"
        );
        verify(name, &text, &["--64"])
    };
    for (name, elements, cond) in
        [("equal", numbers, "a[1] == a[2]"), ("equal-pairs", pairs, "a[1].value == a[2].value")]
    {
        let lines = only_sorted(name, elements, cond);
        assert!(lines.contains("Verification result: FALSE"), "{name}: {lines}");
    }
}

/// The arguments end with a null pointer, and none before is one.
#[test]
fn the_arguments_of_the_program() {
    let with = |name: &str, statements: &str, arguments: &[&str]| {
        let text = format!("void reach_error(void);\nint main(int argc, char **argv) {{ int n = 0; {statements} }}");
        verify(name, &text, arguments)
    };
    for size in ["--32", "--64"] {
        for (name, statements, verdict) in [
            ("end", "if (argv[argc]) reach_error();", "TRUE"),
            ("at-end", "if (!argv[argc] && argc == 3) reach_error();", "FALSE"),
            ("walk", "while (*argv) { argv++; n++; } if (n == 2) reach_error();", "FALSE"),
            ("short", "if (argc == 2) { while (argv[n]) n++; if (n != argc) reach_error(); }", "UNKNOWN"),
            ("null", "if (argc > 1 && argc < 9 && !argv[1]) reach_error();", "UNKNOWN"),
            ("not-null", "if (argc > 1 && argv[1]) reach_error();", "FALSE"),
        ] {
            let preset = if verdict == "UNKNOWN" { "bmc-incremental" } else { "default" };
            let lines = with(name, statements, &["--preset", preset, size]);
            assert!(lines.contains(&format!("Verification result: {verdict}")), "{name} {size}: {lines}");
            let reason = "not modelled (arguments of the program)";
            assert!(verdict != "UNKNOWN" || lines.contains(reason), "{name} {size}: {lines}");
        }
    }
}

/// Where objects lie is the compiler's choice: nothing follows from one choice.
#[test]
fn verdicts_hold_for_all_layouts() {
    let with = |name: &str, statements: &str| {
        let text = format!(
            "void reach_error(void); void *malloc(unsigned long); int __VERIFIER_nondet_int(void); int a[4], b[4];\n\
             int main(void) {{ int *p = a, *q = b; a[0] = 1; b[0] = 2; {statements} }}"
        );
        verify(name, &text, &[])
    };
    for (name, statements) in [
        ("order", "if (p < q) reach_error();"),
        ("other-order", "if (p > q) reach_error();"),
        ("distance", "if (q - p != 8) reach_error();"),
        ("bits", "if ((unsigned long)p / 16 % 2) reach_error();"),
        ("heap", "p = malloc(16); q = malloc(16); if ((unsigned long)p > (unsigned long)q) reach_error();"),
    ] {
        let lines = with(name, statements);
        assert!(lines.contains("Verification result: UNKNOWN"), "{name}: {lines}");
        assert!(lines.contains("it depends on what is not modelled ("), "{name}: {lines}");
    }
    let lines = with("both", "int *low = p < q ? p : q; if (*low != 1 && *low != 2) reach_error();");
    assert!(lines.contains("Verification result: TRUE"), "{lines}");
    let lines =
        with("one", "int n = __VERIFIER_nondet_int(); if (p + 4 > a + 3 && &a[3] - p == 3 && n == 7) reach_error();");
    assert!(lines.contains("Verification result: FALSE"), "{lines}");
    let lines = with("neither", "if (p < q) a[1] = 1; if (__VERIFIER_nondet_int() == 7) reach_error();");
    assert!(!lines.contains("Verification result: TRUE"), "{lines}");
}

#[test]
fn what_no_compiled_program_does_is_not_confirmed() {
    let text = "extern void reach_error(void);\nint main(void) { int x; if (x == 77) reach_error(); }";
    let lines = verify("uninitialised", text, &[]);
    assert!(lines.contains("\nNot confirmed by execution: ") && lines.contains("main::x has the value 77"), "{lines}");
}

/// What a program reads with functions of the standard library is read in the execution, too.
#[test]
fn what_the_library_reads_is_fed() {
    let head = "typedef struct F F; extern F *stdin; int scanf(const char *, ...); int __isoc99_fscanf(F *, const char *, ...);\n\
        int getchar(void); char *fgets(char *, int, F *); int strcmp(const char *, const char *); int rand(void);\n\
        long getline(char **, unsigned long *, F *); int sprintf(char *, const char *, ...);\n\
        extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n";
    for (name, main) in [
        (
            "numbers",
            "int x; unsigned short y; if (scanf(\"%d %hu\", &x, &y) == 2 && x == -7 && y == 40000) reach_error();",
        ),
        ("some", "int x = 1, y = 2; if (scanf(\"%d,%d\", &x, &y) == 1 && x == 5 && y == 2) reach_error();"),
        ("none", "int x = 1; if (scanf(\"%d\", &x) == -1 && x == 1) reach_error();"),
        (
            "words",
            "char w[9]; long n; if (__isoc99_fscanf(stdin, \"%*d%8s%ld\", w, &n) == 2 && !strcmp(w, \"ab\") && n == 3) reach_error();",
        ),
        ("double", "double d; if (scanf(\"%lf\", &d) == 1 && d > 1.5 && d < 1.75) reach_error();"),
        ("characters", "char c; if (scanf(\"%c\", &c) == 1 && c == 'x' && getchar() == 'y') reach_error();"),
        ("lines", "char line[9]; if (fgets(line, 9, stdin) && line[0] == 'q' && line[1] == '\\n') reach_error();"),
        (
            "allocated",
            "char *l = 0; unsigned long n = 0; if (getline(&l, &n, stdin) == 2 && l[0] == 'z' && l[1] == '\\n') reach_error();",
        ),
        (
            "written",
            "int n; char t[9]; if (scanf(\"%d\", &n) == 1 && n > 0 && sprintf(t, \"%03d\", n) == 3 && !strcmp(t, \"042\")) reach_error();",
        ),
        ("order", "if (strcmp(\"b\", \"a\") > 0 && rand() == 17 && __VERIFIER_nondet_int() == 3) reach_error();"),
    ] {
        let lines = verify(name, &format!("{head}int main(void) {{ {main} }}\n"), &["--64"]);
        assert!(lines.contains("\nConfirmed: "), "{name}: {lines}");
    }
    // Behind a number there is no digit.
    let text =
        format!("{head}int main(void) {{ int x; if (scanf(\"%d\", &x) == 1 && getchar() == '5') reach_error(); }}\n");
    let lines = verify("restricted", &text, &["--64", "--preset", "bmc"]);
    assert!(lines.contains("Verification result: UNKNOWN"), "{lines}");
    assert!(lines.contains("it depends on what is not modelled (result of 'getchar')"), "{lines}");
}
