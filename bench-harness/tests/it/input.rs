// SPDX-License-Identifier: Apache-2.0
//! One clear message for every mistake in the input, and exit code 1.

use std::fs;

use crate::{Bench, SAFE, stderr, stdout};

fn message(bench: &Bench, arguments: &[&str]) -> String {
    let output = bench.command(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    stderr(&output).replace(bench.folder.to_str().unwrap(), "FOLDER")
}

#[test]
fn files() {
    let bench = Bench::new("input_files");
    bench.task("a/one", true, SAFE);
    let run = |file: &str| message(&bench, &["run", "--tool", "./fake-verifier", file]);
    assert_eq!(run("none.set"), "cpa-bench: cannot read none.set: No such file or directory (os error 2)\n");
    assert_eq!(run("a/one.c"), "cpa-bench: a/one.c: expected a task definition (.yml) or a list of them (.set)\n");
    fs::write(bench.folder.join("bad.set"), "# one\na/one.yml\n\na/two.yml # two\n").unwrap();
    assert_eq!(run("bad.set"), "cpa-bench: bad.set:4: no such file: a/two.yml\n");
    fs::write(bench.folder.join("bad.set"), "b/*.yml").unwrap();
    assert!(run("bad.set").starts_with("cpa-bench: bad.set:1: cannot read b: "));
    fs::write(bench.folder.join("results.jsonl"), "{}\n").unwrap();
    let shown = message(&bench, &["show", "results.jsonl"]);
    assert!(shown.starts_with("cpa-bench: results.jsonl:1: not a result line: missing field `task`"), "{shown}");
}

#[test]
fn definitions() {
    let bench = Bench::new("input_definitions");
    bench.task("a/one", true, SAFE);
    let original = fs::read_to_string(bench.folder.join("a/one.yml")).unwrap();
    let run = |from: &str, to: &str| {
        fs::write(bench.folder.join("a/one.yml"), original.replace(from, to)).unwrap();
        message(&bench, &["run", "--tool", "./fake-verifier", "a/one.yml"])
    };
    assert_eq!(run("'2.0'", "'9.0'"), "cpa-bench: FOLDER/a/one.yml: format_version '9.0' is not known\n");
    assert!(run("format_version: '2.0'", "").contains("missing field `format_version`"));
    assert_eq!(run("one.c", "two.c"), "cpa-bench: FOLDER/a/one.yml: no such file: FOLDER/a/two.c\n");
    assert!(run("ILP32", "ILP64").contains("unknown variant `ILP64`, expected `ILP32` or `LP64`"));
    assert_eq!(run(": C\n", ": Java\n"), "cpa-bench: FOLDER/a/one.yml: the language is not C\n");
    assert!(run("unreach-call", "termination").ends_with("cpa-bench: no task is left to run\n"));
    assert!(
        run("expected_verdict: true", "expected_verdict: maybe")
            .contains("invalid type: string \"maybe\", expected a boolean")
    );
}

#[test]
fn patterns_comments_and_repetitions() {
    let bench = Bench::new("input_patterns");
    bench.task("a/one", true, SAFE).task("a/two", true, SAFE).task("b/three", true, SAFE);
    fs::write(bench.folder.join("all.set"), "# all\na/*.yml\n  b/three.yml  # once more\na/one.yml\n").unwrap();
    let output = bench.run(&["--filter", "t", "b/three.yml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/two: correct", "b/three: correct"]);
}

#[test]
fn arguments() {
    let bench = Bench::new("input_arguments");
    bench.task("a/one", true, SAFE);
    assert_eq!(
        message(&bench, &["run"]),
        "cpa-bench: no tasks; name task definitions (.yml) or lists of them (.set)\n"
    );
    let run = |arguments: &[&str]| message(&bench, &[&["run", "--set", "all.set"], arguments].concat());
    assert!(run(&["--timelimit", "20 parsecs"]).contains("unknown unit of time 'parsecs'"));
    assert!(run(&["--memlimit", "0"]).contains("must be at least one byte"));
    assert!(run(&["--jobs", "0"]).contains("0 is not in 1..="));
    assert!(run(&["--joobs", "2"]).contains("unexpected argument '--joobs'"));
    assert_eq!(run(&["--tool", "./none"]), "cpa-bench: cannot run ./none: no such file\n");
    assert_eq!(
        run(&["--tool", "no-such-verifier"]),
        "cpa-bench: cannot run no-such-verifier: no such program in PATH; name it with --tool\n"
    );
    assert_eq!(run(&["--tool", "a/one.c"]), "cpa-bench: cannot run FOLDER/a/one.c: Permission denied (os error 13)\n");
    assert!(!bench.folder.join("results.jsonl").exists());
}
