// SPDX-License-Identifier: Apache-2.0
//! Counterexamples are executed: the harness feeds the inputs, whatever their types are, and the run ends at the error.

use std::path::PathBuf;
use std::process::Command;

fn verify(name: &str, text: &str, arguments: &[&str]) -> String {
    let folder = std::env::temp_dir().join(format!("cpa-verify-{}-{name}", std::process::id()));
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
    let label = "int __VERIFIER_nondet_int(void);\nint main(void) {\n  if (__VERIFIER_nondet_int() == 5) goto ERROR;\n\
                   return 0;\nERROR: goto ERROR;\n}";
    let lines = verify("label", label, &[]);
    assert!(lines.contains("\nConfirmed: "), "{lines}");
}

#[test]
fn what_no_compiled_program_does_is_not_confirmed() {
    let text = "extern void reach_error(void);\nint main(void) { int x; if (x == 77) reach_error(); }";
    let lines = verify("uninitialised", text, &[]);
    assert!(lines.contains("\nNot confirmed by execution: ") && lines.contains("main::x has the value 77"), "{lines}");
}
