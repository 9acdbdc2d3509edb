// SPDX-License-Identifier: Apache-2.0
//! The default configuration runs on a slice of the program; its answers are about the program.

use std::path::{Path, PathBuf};
use std::process::Command;

const HEAD: &str =
    "extern void reach_error(void); extern unsigned __VERIFIER_nondet_uint(void); extern int getchar(void);\n";

/// Standard output and the log of a run; the folder has the program `p.c`.
fn run(name: &str, text: &str, options: &[&str]) -> (String, String, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("slices-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("p.c"), format!("{HEAD}{text}")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    command.args(["--timelimit", "60s", "--cores", "1", "--output-path", "out"]).args(options);
    let output = command.arg("p.c").current_dir(&folder).output().unwrap();
    let log = std::fs::read_to_string(folder.join("out/CPALog.txt")).unwrap();
    (String::from_utf8(output.stdout).unwrap(), log, folder)
}

#[test]
fn inputs_without_influence_do_not_take_the_place_of_others() {
    // The first and the third number come from the same function as the second one.
    let text = "int main(void) {\n  unsigned n = __VERIFIER_nondet_uint(), sum = 0;\n\
        for (unsigned i = 0; i < n; i++) sum += i * __VERIFIER_nondet_uint();\n\
        unsigned x = __VERIFIER_nondet_uint(), y = __VERIFIER_nondet_uint();\n\
        if (x * 3 == 123456789 && sum < 10) reach_error();\n  return y; }\n";
    let (said, log, _) = run("inputs", text, &["--confirm"]);
    assert!(said.contains("Verification result: FALSE"), "{said}\n{log}");
    assert!(said.contains("Confirmed: executed"), "{said}");
    let without = text.replace(" && sum < 10", "");
    let (said, log, _) = run("inputs", &without, &["--confirm"]);
    assert!(log.contains("The slice leaves out"), "{log}");
    assert!(said.contains("Verification result: FALSE") && said.contains("Confirmed: executed"), "{said}\n{log}");
}

#[test]
fn an_error_behind_a_loop_without_end_is_none() {
    // The slice passes the loop.
    let text = "int main(void) {\n  unsigned x = 1;\n  while (x) { x = x * 3 | 1; }\n  reach_error();\n  return 0; }\n";
    let (said, log, _) = run("endless", text, &[]);
    assert!(log.contains("No run of the program itself was found"), "{log}");
    assert!(said.contains("Verification result: TRUE"), "{said}\n{log}");
}

#[test]
fn evidence_is_about_the_program() {
    let text = "unsigned level;\nunsigned next(unsigned x, unsigned l) { for (unsigned i = 0; i < 2; i++) { level = l; x++; } return x; }\n\
        int main(void) {\n  unsigned n = __VERIFIER_nondet_uint(), seen = 0, x = 0;\n\
        for (unsigned i = 0; i < n; i++) { seen += i; }\n\
        while (getchar() != 'q') { seen++; if (x < 100) x = next(x, 7); }\n\
        if (x > 100) reach_error();\n  return seen; }\n";
    let (said, log, folder) = run("evidence", text, &["--witness", "w.yml"]);
    assert!(log.contains("The slice leaves out"), "{log}");
    assert!(said.contains("Verification result: TRUE"), "{said}\n{log}");
    let witness = std::fs::read_to_string(folder.join("w.yml")).unwrap();
    // Of these variables the slice knows nothing, but that its calls of the function pass 0.
    assert!(!witness.contains("seen") && !witness.contains("l == 0") && witness.contains("x "), "{witness}");
    let mut check = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    check.args(["--timelimit", "60s", "--validate-witness", "w.yml", "p.c"]).current_dir(&folder);
    let said = String::from_utf8(check.output().unwrap().stdout).unwrap();
    assert!(said.contains("accepted: the invariants hold"), "{said}");
}
