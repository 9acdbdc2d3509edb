// SPDX-License-Identifier: Apache-2.0
//! What is made of the things that verifiers print, and of the ways in which they end.

use expect_test::expect;

use crate::{Bench, SAFE, UNSAFE, stderr, stdout};

#[test]
fn every_kind_of_end() {
    let bench = Bench::new("every_kind_of_end");
    bench
        .task("good/safe", true, SAFE)
        .task("good/unsafe", false, &format!("echo Starting; {UNSAFE}; echo More details"))
        .task("bad/false-proof", false, SAFE)
        .task("bad/false-alarm", true, &format!("{UNSAFE}; exit 1"))
        .task(
            "none/gave-up",
            true,
            "echo 'Reason: recursion of f at a.c:3:1'; echo 'Verification result: UNKNOWN, incomplete analysis.'",
        )
        .task(
            "none/limit",
            true,
            "echo 'Reason: time limit reached'; echo 'Verification result: UNKNOWN, incomplete analysis.'",
        )
        .task("none/error", true, "echo 'Error: Parsing failed at a.c:1:1' >&2; exit 1")
        .task("none/silent", true, "")
        .task("none/segv", true, &format!("{SAFE}; kill -SEGV $$"))
        .task("none/panic", true, "printf \"thread 'main' panicked at x.rs:1:2:\\nindex\\n\" >&2; exit 101")
        .task("none/garbage", true, "head -c 100000 /dev/urandom; echo")
        .task("none/both", true, &format!("{UNSAFE}; {SAFE}"));
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let mut statuses = bench.statuses();
    let garbage = statuses.iter().position(|line| line.starts_with("none/garbage")).unwrap();
    assert!(statuses.remove(garbage).starts_with("none/garbage: error (no verdict"));
    expect![[r#"
        bad/false-alarm: wrong (expected true, got false)
        bad/false-proof: wrong (expected false, got true)
        good/safe: correct
        good/unsafe: correct
        none/both: error (contradictory verdicts)
        none/error: error (exit code 1: Parsing failed at a.c:1:1)
        none/gave-up: unknown (recursion of f at a.c:3:1)
        none/limit: timeout (time limit reached)
        none/panic: crash (panic at x.rs:1:2)
        none/segv: crash (killed by SIGSEGV)
        none/silent: error (no verdict)"#]]
    .assert_eq(&statuses.join("\n"));
    // Wrong ones are told at once, and again at the head of the summary.
    assert!(stderr(&output).contains("wrong: bad/false-proof: expected false, got true"));
    assert!(
        stdout(&output).starts_with("WRONG VERDICTS: 2\n  bad/false-proof (unreach-call): expected false, got true\n")
    );
}

#[test]
fn the_record() {
    let bench = Bench::new("the_record");
    bench.task("a/one", false, UNSAFE);
    assert_eq!(bench.run(&["--timelimit", "3s", "--", "--option", "a=b"]).status.code(), Some(0));
    let mut record = bench.results().remove(0);
    assert!(record["cpu_s"].as_f64().unwrap() < 1.0 && record["wall_s"].as_f64().unwrap() < 10.0);
    assert!(record["memory_bytes"].as_u64().unwrap() > 100_000);
    for measured in ["cpu_s", "wall_s", "memory_bytes"] {
        record[measured] = 0.into();
    }
    expect![[r#"{"task":"a/one","category":"a","property":"unreach-call","expected":"false","verdict":"false","status":"correct","reason":null,"cpu_s":0,"wall_s":0,"memory_bytes":0,"exit_code":0,"tool":"fake 1.0","options":["--option","a=b"],"timelimit_s":3.0,"memlimit_bytes":4000000000,"measured_by":"polling"}"#]]
    .assert_eq(&record.to_string());
}

#[test]
fn the_command_line_of_the_tool() {
    let bench = Bench::new("the_command_line_of_the_tool");
    bench.task("a/one", true, &format!("pwd; ls -A; echo $*; {SAFE}"));
    assert_eq!(bench.run(&["--log-dir", "logs", "--", "--stats"]).status.code(), Some(0));
    let log = std::fs::read_to_string(bench.folder.join("logs/a/one.unreach-call.log")).unwrap();
    let folder = bench.folder.canonicalize().unwrap();
    let lines: Vec<_> = log.lines().map(|line| line.replace(folder.to_str().unwrap(), "FOLDER")).collect();
    // The command, an empty line, and a working directory of its own with nothing in it.
    assert!(lines[0].contains("fake-verifier") && lines[1].is_empty() && lines[2].ends_with("/work"), "{log}");
    expect!["--spec FOLDER/props/unreach-call.prp --32 --timelimit 20s --memlimit 4GB --stats FOLDER/a/one.c"]
        .assert_eq(&lines[3]);
}

#[test]
fn the_summary() {
    let bench = Bench::new("the_summary");
    let unknown = |reason: &str| format!("echo \"Reason: {reason}\"; echo 'Verification result: UNKNOWN, x'");
    bench
        .task("a/1", true, SAFE)
        .task("a/2", false, UNSAFE)
        .task("a/3", true, &unknown("pointer 'p' at a.c:1:2"))
        .task("b/4", true, &unknown("pointer 'q' at b.c:3:4"))
        .task("b/5", true, &unknown("recursion"));
    let output = bench.run(&["--jobs", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // CPU times and memory differ from run to run.
    let text = stdout(&output);
    let lines = text.lines().map(|line| match line {
        line if line.starts_with("CPU time") => "CPU time ...",
        line => line.rsplit_once("  0.").map_or(line, |(start, _)| start.trim_end()),
    });
    expect![[r#"
        5 tasks, fake 1.0, at most 20 s CPU time and 4 GB
        correct       2  (proofs 1, alarms 1)
        wrong         0
        unknown       3
        timeout       0
        solved 2 of 5 (40.0 %), score 3
        CPU time ...

        reasons
             2  unknown: pointer '_' at FILE:LINE ('p' 1, 'q' 1)
             1  unknown: recursion

        category  tasks correct proofs alarms    wrong  unknown     CPU s
        a             3       2      1      1        0        1
        b             2       0      0      0        0        2
        total         5       2      1      1        0        3"#]]
    .assert_eq(&lines.collect::<Vec<_>>().join("\n"));
    let shown = bench.command(&["show", "results.jsonl"]).output().unwrap();
    assert_eq!(stdout(&shown), text);
}

#[test]
fn evidence_is_checked_by_a_second_run() {
    let bench = Bench::new("evidence");
    let unknown = |reason: &str| format!("echo \"Reason: {reason}\"; echo 'Verification result: UNKNOWN, x'");
    let twice = |first: &str, second: &str| {
        format!("case \"$*\" in\n  *--validate-witness*) {second} ;;\n  *) echo \"$*\" > witness.yml; {first} ;;\nesac")
    };
    // Evidence is in the folder of the run, and was asked for.
    let found = format!("grep -q -e '--confirm --witness' witness.yml && {SAFE}");
    bench
        .task("a/accepted", true, &twice(SAFE, &found))
        .task("a/refuted", true, &twice(SAFE, &unknown("the witness is rejected: x.c:3: the invariant does not hold")))
        .task("a/silent", true, &twice(SAFE, &unknown("the witness is neither accepted nor rejected: time limit")))
        .task("b/executed", false, &twice(&format!("echo 'Confirmed: executed'; {UNSAFE}"), UNSAFE))
        .task("b/not-executed", false, &twice(&format!("echo 'Not confirmed by execution: no cc'; {UNSAFE}"), UNSAFE))
        .task("b/no-verdict", false, &twice(&unknown("recursion"), "exit 3"));
    let output = bench.run(&["--validate"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let from = text.find("evidence").unwrap();
    expect![[r#"
        evidence confirmed for 1 of 3 proofs and 1 of 2 alarms; 60.0 % are exceptions
          a/refuted rejected: witness: the witness is rejected: x.c:3: the invariant does not hold
          a/silent unknown: witness: the witness is neither accepted nor rejected: time limit
          b/not-executed unknown: execution: no cc
    "#]]
    .assert_eq(&text[from..text.find("\nreasons").unwrap()]);
}
