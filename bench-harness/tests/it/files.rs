// SPDX-License-Identifier: Apache-2.0
//! Result files are complete whatever happens, and two of them can be compared.

use std::{fs, process::Stdio};

use expect_test::expect;

use crate::{Bench, SAFE, UNSAFE, stderr, stdout};

#[test]
fn an_existing_file_is_kept_unless_told_otherwise() {
    let bench = Bench::new("an_existing_file");
    bench.task("a/one", true, SAFE);
    assert_eq!(bench.run(&[]).status.code(), Some(0));
    let again = bench.run(&[]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(
        stderr(&again),
        "cpa-bench: results.jsonl exists; --resume adds the tasks it lacks, --overwrite begins anew\n"
    );
    assert_eq!(bench.run(&["--overwrite"]).status.code(), Some(0));
    assert_eq!(bench.results().len(), 1);
}

#[test]
fn resume_after_a_torn_line() {
    let bench = Bench::new("resume");
    bench.task("a/one", true, SAFE).task("a/two", true, SAFE);
    assert_eq!(bench.run(&["--limit", "1"]).status.code(), Some(0));
    let path = bench.folder.join("results.jsonl");
    let torn = fs::read_to_string(&path).unwrap() + "{\"task\":\"a/tw";
    fs::write(&path, torn).unwrap();
    assert!(
        stderr(&bench.command(&["show", "results.jsonl"]).output().unwrap()).contains("the last line is incomplete")
    );
    let resumed = bench.run(&["--resume"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    assert_eq!(stderr(&resumed), "cpa-bench: 1 of 2 tasks are done already\n");
    assert_eq!(bench.statuses(), ["a/one: correct", "a/two: correct"]);
    let other = bench.run(&["--resume", "--timelimit", "5s"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("was made with other limits or options"));
}

#[test]
fn a_full_disk_is_reported_and_the_record_shown() {
    let bench = Bench::new("a_full_disk");
    bench.task("a/one", true, SAFE).task("a/two", true, SAFE);
    let output = bench.run(&["--output", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("not written: {\"task\":\"a/one\"") && text.contains("cannot write /dev/full"), "{text}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let bench = Bench::new("a_closed_pipe");
    bench.task("a/one", true, SAFE);
    let mut child = bench.run_command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/one: correct"]);
}

#[test]
fn comparison() {
    let bench = Bench::new("comparison");
    let unknown = "echo 'Verification result: UNKNOWN, x'";
    let before = [
        ("a/1", true, SAFE),
        ("a/2", false, UNSAFE),
        ("a/3", true, unknown),
        ("a/4", true, unknown),
        ("a/5", true, "exit 3"),
    ];
    let after = [
        ("a/1", true, SAFE),
        ("a/2", false, unknown),
        ("a/3", true, SAFE),
        ("a/4", true, UNSAFE),
        ("a/5", true, unknown),
    ];
    for (name, tasks) in [("old.jsonl", before), ("new.jsonl", after)] {
        let _ = fs::remove_file(bench.folder.join("all.set"));
        for (task, expected, script) in tasks {
            bench.task(task, expected, script);
        }
        bench.run(&["--output", name]);
    }
    let output = bench.command(&["compare", "old.jsonl", "new.jsonl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = stdout(&output);
    let without_times = text.lines().filter(|line| !line.starts_with("CPU time")).collect::<Vec<_>>().join("\n");
    expect![[r#"
        WRONG VERDICTS: 1
          a/4 (unreach-call): expected true, got false

        LOST: 1
          a/2  correct (false) -> unknown

        gained: 1
          a/3  unknown -> correct (true)

        changed: 2
          a/4  unknown -> wrong: expected true, got false
          a/5  error -> unknown

        wrong 1, lost 1, gained 1, changed 2, solved in both 1"#]]
    .assert_eq(&without_times);
    assert_eq!(bench.command(&["compare", "old.jsonl", "old.jsonl"]).status().unwrap().code(), Some(0));
}
