// SPDX-License-Identifier: Apache-2.0
//! Limits hold for everything that the tool starts, and nothing survives a run.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{Bench, SAFE, is_alive, stderr};

const SPIN: &str = "while :; do :; done";

#[test]
fn cpu_time_of_the_tool_and_of_its_children() {
    let bench = Bench::new("cpu_time");
    bench.task("a/alone", true, SPIN).task("a/children", true, &format!("({SPIN}) & ({SPIN}) & wait")).task(
        "a/late",
        true,
        &format!("i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; {SAFE}"),
    );
    let started = Instant::now();
    let output = bench.run(&["--timelimit", "200ms", "--walllimit", "60s", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/alone: timeout", "a/children: timeout", "a/late: timeout"]);
    assert!(started.elapsed() < Duration::from_secs(50));
    for record in bench.results() {
        let cpu = record["cpu_s"].as_f64().unwrap();
        assert!((0.2..10.0).contains(&cpu), "{record}");
    }
}

#[test]
fn wall_time() {
    let bench = Bench::new("wall_time");
    bench.task("a/sleeps", true, &format!("sleep 100; {SAFE}"));
    let output = bench.run(&["--walllimit", "300ms"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = bench.results().remove(0);
    assert_eq!(record["status"], "timeout");
    assert!(record["wall_s"].as_f64().unwrap() < 20.0 && record["cpu_s"].as_f64().unwrap() < 1.0, "{record}");
}

#[test]
fn memory_of_the_tool_and_of_its_children() {
    let hog = "x=0123456789abcdef; while :; do x=$x$x; done";
    let bench = Bench::new("memory");
    bench.task("a/alone", true, hog).task("a/child", true, &format!("({hog}) & wait"));
    let output = bench.run(&["--memlimit", "150MB"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/alone: memory", "a/child: memory"]);
}

#[test]
fn a_tool_that_ignores_signals_and_leaves_its_group_ends_within_a_second() {
    let bench = Bench::new("stubborn");
    let pid = bench.folder.join("pid");
    let stubborn = format!("trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ >{}; {SPIN}' & {SPIN}", pid.display());
    bench.task("a/cpu", true, &stubborn).task(
        "a/wall",
        true,
        "trap '' TERM; sleep 100 & while :; do wait; sleep 100; done",
    );
    let output = bench.run(&["--timelimit", "1s", "--walllimit", "2s"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/cpu: timeout", "a/wall: timeout"]);
    for record in bench.results() {
        let [cpu, wall] = ["cpu_s", "wall_s"].map(|name| record[name].as_f64().unwrap());
        // Two processes spin, so a second behind the limit is worth two of CPU time, and on a machine with other work looks
        // at the tool come later still.
        assert!(cpu < 4.0 && wall < 4.0, "{record}");
    }
    assert!(!is_alive(&fs::read_to_string(pid).unwrap()));
}

#[test]
fn a_tool_can_say_something_when_its_time_is_over() {
    let bench = Bench::new("last_words");
    bench.task("a/one", true, &format!("trap 'echo \"Reason: asked to end\"; exit 143' TERM; {SPIN}"));
    let output = bench.run(&["--timelimit", "300ms", "--log-dir", "logs"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/one: timeout"]);
    let record = bench.results().remove(0);
    assert_eq!(record["log"], "logs/a/one.unreach-call.log");
    let log = fs::read_to_string(bench.folder.join("logs/a/one.unreach-call.log")).unwrap();
    assert!(log.ends_with("Reason: asked to end\n"), "{log}");
}

#[test]
fn runs_are_bound_to_cores_of_their_own() {
    let bench = Bench::new("cores");
    bench.task("a/one", true, &format!("grep Cpus_allowed_list /proc/self/status; {SAFE}"));
    let output = bench.run(&["--cores", "1", "--log-dir", "logs"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let log = fs::read_to_string(bench.folder.join("logs/a/one.unreach-call.log")).unwrap();
    let cores = log.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    assert!(cores.parse::<u32>().is_ok(), "{cores}");
    // More than there are is said, and nothing is bound.
    let output = bench.run(&["--cores", "60000", "--overwrite"]);
    assert!(stderr(&output).contains("runs are not bound"), "{}", stderr(&output));
}

#[test]
fn endless_output() {
    let bench = Bench::new("endless_output");
    bench.task("a/loud", true, "exec yes");
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/loud: error (printed too much)"]);
}

#[test]
fn nothing_is_left_running() {
    let bench = Bench::new("nothing_is_left_running");
    let pid = bench.folder.join("pid");
    bench.task("a/parent", true, &format!("sleep 1000 & echo $! >{}; {SAFE}", pid.display()));
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/parent: correct"]);
    assert!(!is_alive(&fs::read_to_string(pid).unwrap()));
}

#[test]
fn an_interrupt_keeps_the_results() {
    let bench = Bench::new("an_interrupt");
    let pid = bench.folder.join("pid");
    bench.task("a/done", true, SAFE).task("a/running", true, &format!("echo $$ >{}; sleep 1000", pid.display()));
    let child = bench.run_command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while fs::read_to_string(&pid).unwrap_or_default().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(60), "the second task has not begun");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted: 1 tasks are left"), "{}", stderr(&output));
    assert_eq!(bench.statuses(), ["a/done: correct"]);
    assert!(!is_alive(&fs::read_to_string(&pid).unwrap()));
}
