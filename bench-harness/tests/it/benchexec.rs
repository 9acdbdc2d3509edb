// SPDX-License-Identifier: Apache-2.0
//! Benchmark definitions of BenchExec are run, and results go back to its table-generator.

use std::{fs, path::Path, process::Command};

use expect_test::expect;

use crate::{Bench, SAFE, UNSAFE, stderr, stdout};

const DEFINITION: &str = r#"<?xml version="1.0"?>
<!DOCTYPE benchmark PUBLIC "+//IDN sosy-lab.org//DTD BenchExec benchmark 2.3//EN" "https://www.sosy-lab.org/benchexec/benchmark-2.3.dtd">
<benchmark tool="cpatools.cpa_verify" timelimit="7 s" memlimit="1 GB">
  <option name="--stats"/>
  <rundefinition name="all"/>
  <rundefinition name="safe">
    <option name="--name">${rundefinition_name}</option>
    <propertyfile expectedverdict="true">props/unreach-call.prp</propertyfile>
  </rundefinition>
  <tasks name="t">
    <includesfile>all.set</includesfile>
    <excludesfile>not.set</excludesfile>
  </tasks>
  <tasks name="u"><include>*/3.yml</include></tasks>
  <propertyfile>props/unreach-call.prp</propertyfile>
  <columns><column title="size">Size</column></columns>
</benchmark>
"#;

fn bench(name: &str) -> Bench {
    let bench = Bench::new(name);
    let says = |verdict: &str| format!("echo Size: 5; {verdict}");
    bench.task("a/1", true, &says(SAFE)).task("a/2", false, &says(UNSAFE)).task("b/3", true, &says(UNSAFE));
    fs::write(bench.folder.join("not.set"), "b/*.yml\n").unwrap();
    fs::write(bench.folder.join("bench.xml"), DEFINITION).unwrap();
    let arguments = ["run", "bench.xml", "--tool", "./fake-verifier", "--log-dir", "logs"];
    let output = bench.command(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    bench
}

#[test]
fn a_definition_is_run() {
    let bench = bench("benchexec_definition");
    let text = fs::read_to_string(bench.folder.join("bench.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines: Vec<String> = lines
        .map(|r| format!("{} {} {} {} {}", r["config"], r["task"], r["options"], r["timelimit_s"], r["memlimit_bytes"]))
        .collect();
    expect![[r#"
        "all.t" "a/1" ["--stats"] 7.0 1000000000
        "all.t" "a/2" ["--stats"] 7.0 1000000000
        "all.u" "b/3" ["--stats"] 7.0 1000000000
        "safe.t" "a/1" ["--stats","--name","safe"] 7.0 1000000000
        "safe.u" "b/3" ["--stats","--name","safe"] 7.0 1000000000"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn results_for_the_table_generator() {
    let bench = bench("benchexec_results");
    let output = bench.command(&["export", "bench.jsonl", "--output", "xml"]).output().unwrap();
    assert_eq!(stdout(&output).lines().count(), 4, "{}", stderr(&output));
    let xml = fs::read_to_string(bench.folder.join("xml/bench.all.u.results.xml")).unwrap();
    let is_measured =
        |line: &&str| !["cputime", "walltime", "memory"].iter().any(|name| line.contains(&format!("{name}\" value")));
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE result PUBLIC "+//IDN sosy-lab.org//DTD BenchExec result 3.12//EN" "https://www.sosy-lab.org/benchexec/result-3.12.dtd">
        <result benchmarkname="bench" tool="fake" version="1.0" toolmodule="" options="--stats" timelimit="7s" memlimit="1000000000B" name="all.u" generator="cpa-bench 0.1.0">
        <columns>
        <column title="status"/>
        <column title="cputime"/>
        <column title="walltime"/>
        <column title="memory"/>
        <column title="Size"/>
        </columns>
        <run name="b/3.yml" files="[]" options="" properties="unreach-call" propertyFile="unreach-call.prp" expectedVerdict="true" logfile="../logs/all.u/b/3.unreach-call.log">
        <column title="status" value="false(unreach-call)"/>
        <column title="category" value="wrong" hidden="true"/>
        <column title="returnvalue" value="0" hidden="true"/>
        <column title="Size" value="5"/>
        </run>
        </result>"#]].assert_eq(&xml.lines().filter(is_measured).collect::<Vec<_>>().join("\n"));
    let contrib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/benchexec/test");
    // Only this program: others in the folder may be from another day.
    let programs = bench.folder.join("programs");
    fs::create_dir_all(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cpa-bench"), programs.join("cpa-bench")).unwrap();
    let Some(venv) = std::env::var_os("BENCHEXEC_VENV") else {
        eprintln!(
            "SKIPPED: BENCHEXEC_VENV names no virtual environment with BenchExec; contrib/benchexec/test makes one"
        );
        return;
    };
    let results = bench.folder.join("bench.jsonl");
    let output = Command::new(contrib).arg(programs).arg(results).env("BENCHEXEC_VENV", venv).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    // A heading of three lines and three tasks, of which one is wrong.
    assert!(stdout(&output).contains("table-generator: fine (6 lines)"), "{}", stdout(&output));
}
