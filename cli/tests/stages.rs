// SPDX-License-Identifier: Apache-2.0
//! Plans of several stages: turns, and what happens when memory is scarce.

use std::path::Path;
use std::process::Command;

/// Standard output and the log of a run with a plan of these stages: name, preset, turn.
fn run(name: &str, stages: &[(&str, &str, &str)], text: &str, limits: &[&str]) -> (String, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stages-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let stage = |(name, preset, turn): &(&str, &str, &str)| {
        format!("[[stage]]\nname = \"{name}\"\npreset = \"{preset}\"\nturn = \"{turn}\"\n")
    };
    std::fs::write(folder.join("plan.toml"), stages.iter().map(stage).collect::<String>()).unwrap();
    std::fs::write(folder.join("p.c"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    command.args(["--option", "analysis.plan=plan.toml", "--stats", "--cores", "1", "--output-path", "out"]);
    let output = command.args(limits).arg("p.c").current_dir(&folder).output().unwrap();
    let log = std::fs::read_to_string(folder.join("out/CPALog.txt")).unwrap();
    (String::from_utf8(output.stdout).unwrap(), log)
}

#[test]
fn a_stage_that_would_begin_anew_waits_in_the_middle_of_its_run() {
    let greatest = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void); int a[300][200];\n\
        int main(void) {\n  int i, j, max;\n\
          for (i = 0; i < 300; i++) for (j = 0; j < 200; j++) a[i][j] = __VERIFIER_nondet_int();\n\
          max = a[0][0];\n\
          for (i = 0; i < 300; i++) for (j = 0; j < 200; j++) if (a[i][j] > max) max = a[i][j];\n\
          for (i = 0; i < 300; i++) for (j = 0; j < 200; j++) if (a[i][j] > max) reach_error();\n}\n";
    let stages = [("summaries", "summaries", "10ms"), ("paths", "symexec", "10ms")];
    let (said, log) = run("waiting", &stages, greatest, &["--timelimit", "60s"]);
    assert!(said.contains("Verification result: TRUE"), "{said}");
    assert!(said.contains("Number of attempts to summarise loops: 1\n"), "{said}");
    assert!(log.contains("Starting stage summaries, turn 3"), "{log}");
}

#[test]
fn a_stage_that_uses_up_the_memory_is_given_up_alone() {
    // The first stage keeps all values apart, and has a turn that does not end.
    let text = "extern void reach_error(void);\n\
        int main(void) {\n  unsigned i = 0, even = 0;\n\
          while (1) { i++; even += 2; if (even & 1) reach_error(); }\n}\n";
    let stages = [("values", "value-nocegar", "1000s"), ("induction", "kinduction", "1000s")];
    let (said, log) = run("memory", &stages, text, &["--timelimit", "100s", "--memlimit", "400MB"]);
    assert!(log.contains("Memory is scarce, giving up stage values"), "{log}");
    assert!(said.contains("Verification result: TRUE") && said.contains("Found by: induction"), "{said}\n{log}");
}
