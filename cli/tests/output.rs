// SPDX-License-Identifier: Apache-2.0
//! What is written and printed beside the result: only what was asked for, and all of it with `--output-path`; also after
//! an interrupt.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn folder(name: &str, program: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("output-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("p.c"), program).unwrap();
    folder
}

fn verify(folder: &Path, arguments: &[&str]) -> String {
    verify_within("20s", folder, arguments)
}

fn verify_within(time: &str, folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    command.args(["--timelimit", time, "--cores", "1"]).args(arguments).arg("p.c").current_dir(folder);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn files(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

const SAFE: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n\
    int main(void) {\n  int x = 0, y = 0;\n  while (__VERIFIER_nondet_int()) {\n    x = x + 1;\n    y = y + 1;\n  }\n\
      if (x != y) reach_error();\n}\n";

#[test]
fn nothing_is_written_without_being_asked_for() {
    let folder = folder("nothing", SAFE);
    assert!(verify(&folder, &["--preset", "predicate", "--stats"]).contains("TRUE"));
    assert_eq!(files(&folder), BTreeSet::from(["p.c".to_string()]));
}

#[test]
fn the_folder_has_everything() {
    let folder = folder("all", SAFE);
    let said = verify(&folder, &["--preset", "predicate", "--output-path", "out", "--dump", "queries"]);
    assert!(said.contains("folder \"out\"") && !said.contains("Total time"), "{said}");
    let written = files(&folder.join("out"));
    let wanted = [
        "ARG.dot",
        "CPALog.txt",
        "Report.html",
        "Statistics.txt",
        "abstraction-1.smt2",
        "cfa.dot",
        "interpolation-1.smt2",
        "invariants.txt",
        "predmap.txt",
        "result.json",
        "usedConfiguration.toml",
        "witness.yml",
    ];
    assert!(wanted.iter().all(|name| written.contains(*name)), "{written:?}");
    assert!(!written.contains("Counterexample.1.txt"));
    let read = |name: &str| std::fs::read_to_string(folder.join("out").join(name)).unwrap();
    assert!(read("predmap.txt").contains("main::x = main::y"));
    assert!(read("invariants.txt").starts_with("p.c:4:3: x == y"));
    assert!(read("Statistics.txt").contains("Number of predicates discovered: 1"));
    assert!(read("CPALog.txt").contains("Stage analysis: TRUE"));
    assert!(read("interpolation-1.smt2").contains("; unsat"));
    // The options can be used again, and give the same.
    std::fs::write(folder.join("again.toml"), read("usedConfiguration.toml").replace("\"out\"", "\"\"")).unwrap();
    assert!(verify(&folder, &["--config", "again.toml"]).contains("TRUE"));
    std::fs::write(folder.join("p.c"), SAFE.replace("x != y", "x == 2")).unwrap();
    assert!(verify(&folder, &["--preset", "predicate", "--output-path", "bug"]).contains("FALSE"));
    let written = files(&folder.join("bug"));
    assert!(["Counterexample.1.txt", "Counterexample.1.harness.c"].iter().all(|name| written.contains(*name)));
    assert!(!written.iter().any(|name| name.ends_with(".smt2")));
}

#[test]
fn dumps_stand_in_front_of_the_result() {
    let folder = folder("dumps", SAFE);
    let said = verify(&folder, &["--preset", "predicate", "--dump", "arg"]);
    assert!(said.starts_with("a0 n0: ") && said.trim_end().ends_with("chosen configuration."), "{said}");
    assert!(
        verify(&folder, &["--preset", "predicate", "--dump", "arg", "--format", "dot"]).starts_with("digraph arg {")
    );
    let said = verify(&folder, &["--preset", "predicate", "--dump", "invariants"]);
    assert!(said.starts_with("p.c:4:3: x == y\nVerification result: TRUE"), "{said}");
    assert!(
        verify(&folder, &["--preset", "octagon-widening", "--dump", "predicates"])
            .starts_with("There are no predicates.")
    );
}

#[test]
fn an_interrupt_ends_in_order() {
    let folder =
        folder("interrupt", &SAFE.replace("y = y + 1", "y = y * 3 + 2 * x").replace("x != y", "x * x == y + 77"));
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    let unlimited = "cpa.loopbound.maxLoopIterations=1000000";
    command
        .args(["--preset", "bmc", "--option", unlimited, "--stats", "--output-path", "out", "p.c"])
        .current_dir(&folder);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    // The shell's own command: a machine need not have a program of this name.
    let interrupt = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("Reason: interrupted") && said.contains("Total CPU time"), "{said}");
    assert!(said.trim_end().ends_with("Verification result: UNKNOWN, incomplete analysis."), "{said}");
    assert!(start.elapsed() < Duration::from_secs(20));
    let written = files(&folder.join("out"));
    assert!(["Statistics.txt", "CPALog.txt", "Report.html"].iter().all(|name| written.contains(*name)), "{written:?}");
}

/// What is said about loops by a run that is out of time; `text` is the body of `main`, from line 3 on.
fn loops_that_go_on(name: &str, text: &str, options: &[&str]) -> String {
    let folder = folder(
        &format!("loops-{name}"),
        &format!(
            "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\nint main(void) {{\n{text}}}\n"
        ),
    );
    let said = verify_within("3s", &folder, &[&["--explain-unknown"], options].concat());
    let about = said.lines().find_map(|line| line.split_once("went round in these loops and did not see their end: "));
    about.unwrap_or_else(|| panic!("{said}")).1.to_string()
}

/// The number before the unit.
fn count(text: &str, unit: &str) -> u64 {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with(unit)).unwrap_or_else(|| panic!("{text}"));
    words[at - 1].trim_start_matches('(').parse().unwrap()
}

#[test]
fn loops_without_end_are_named() {
    let long = "  unsigned x = 0;\n  while (x < 4000000000U)\n    x = x + 1;\n  if (x == 5) reach_error();\n";
    let explored = loops_that_go_on("value", long, &["--preset", "value-nocegar"]);
    assert!(explored.starts_with("p.c:4:3 (") && count(&explored, "times") > 100, "{explored}");

    let two = "  unsigned x = 1;\n  while (__VERIFIER_nondet_int()) {\n    unsigned y = 3;\n    while (__VERIFIER_nondet_int())\n      \
               y = y * x + 2;\n    x = x * 7 + y;\n  }\n  \
               if (x == 4) reach_error();\n";
    let unrolled = loops_that_go_on("bmc", two, &["--preset", "bmc-incremental"]);
    assert!(unrolled.contains("p.c:4:3 (") && unrolled.contains("p.c:6:5 ("), "{unrolled}");

    // The inner loop ends each time, so it is not named; no iterations can be made at once.
    let forever = "  unsigned long long x = 1;\n  for (;;) {\n    for (int i = 0; i < 3; i++)\n      x = x * 5 + 3;\n    \
                   if (x == 0) reach_error();\n  }\n";
    let executed = loops_that_go_on("execution", forever, &["--preset", "execution"]);
    assert!(executed.starts_with("p.c:4:3 (") && count(&executed, "jumps") > 1_000_000, "{executed}");
    assert!(!executed.contains("p.c:5"), "{executed}");
}
