// SPDX-License-Identifier: Apache-2.0
//! Experiments: several tools, configurations and values of parameters from one file.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use expect_test::expect;

use crate::{Bench, SAFE, UNSAFE, stderr, stdout};

/// A verifier that solves a task if its parameter is not smaller than the number in the task's name.
const TOOL: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo checker 2.0; exit; fi
k=0
for argument; do case $argument in --k=*) k=${argument#--k=} ;; --bad) echo "there is no preset 'bad'" >&2; exit 1 ;; esac; done
for last; do :; done
name=$(basename "$last" .c)
echo "Size: $((k * 10))"
case $name in nothing) echo SAFE; exit ;; esac
if [ "$k" -ge "${name#t}" ]; then echo SAFE; else echo "GIVEN UP: too small"; fi
"#;

const EXPERIMENT: &str = r#"
title = "two tools"
tasks = ["{tasks}/all.set"]
statistics = ["Size"]

[limits]
time = "5s"
memory = "1GB"

[quick]
sample = 2
values = 2
time = "2s"

[tools.checker]
command = ["checker", "{options}", "{inputs}"]
verdict = [
    { pattern = "^SAFE$", verdict = "true" },
    { pattern = "^GIVEN UP: (.*)$", verdict = "unknown" },
]

[[run]]
name = "checker"
tool = "checker"
options = ["--k={k}"]
sweep = { k = [1, 2, 3] }

[[run]]
name = "bad"
tool = "checker"
options = ["--bad"]

[[run]]
name = "ours"
select = ["a/t1"]
"#;

fn bench(name: &str) -> Bench {
    let bench = Bench::new(name);
    bench.task("a/t1", true, SAFE).task("a/t2", true, SAFE).task("a/t3", false, UNSAFE);
    let tool = bench.folder.join("checker");
    fs::write(&tool, TOOL).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(bench.folder.join("experiments")).unwrap();
    fs::write(bench.folder.join("experiments/two.toml"), EXPERIMENT).unwrap();
    bench
}

const ARGUMENTS: [&str; 8] = [
    "run",
    "experiments/two.toml",
    "--tasks",
    ".",
    "--tool",
    "checker=./checker",
    "--tool",
    "cpa-verify=./fake-verifier",
];

#[test]
fn tools_configurations_and_parameters() {
    let bench = bench("an_experiment");
    let output = bench.command(&ARGUMENTS).output().unwrap();
    // t3 is not safe, and the checker says it is.
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("not run: bad: there is no preset 'bad'"), "{}", stderr(&output));
    let text = fs::read_to_string(bench.folder.join("two.jsonl")).unwrap();
    let lines: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|r| {
            format!("{} {} {} {} {}", r["config"], r["parameter"]["value"], r["task"], r["status"], r["statistics"])
        })
        .collect();
    expect![[r#"
        "checker" 1.0 "a/t1" "correct" {"Size":10.0}
        "checker" 1.0 "a/t2" "unknown" {"Size":10.0}
        "checker" 1.0 "a/t3" "unknown" {"Size":10.0}
        "checker" 2.0 "a/t1" "correct" {"Size":20.0}
        "checker" 2.0 "a/t2" "correct" {"Size":20.0}
        "checker" 2.0 "a/t3" "unknown" {"Size":20.0}
        "checker" 3.0 "a/t1" "correct" {"Size":30.0}
        "checker" 3.0 "a/t2" "correct" {"Size":30.0}
        "checker" 3.0 "a/t3" "wrong" {"Size":30.0}
        "ours" null "a/t1" "correct" null"#]]
    .assert_eq(&lines.join("\n"));
    let setup: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(bench.folder.join("two.setup.json")).unwrap()).unwrap();
    assert_eq!((&setup["tasks"], &setup["configurations"]["checker k=2"]["tool"]), (&3.into(), &"checker 2.0".into()));
    let plot = bench.command(&["plot", "parameter", "two.jsonl", "--metric", "Size"]).output().unwrap();
    assert!(stdout(&plot).contains("<title>a/t2, 3: 30</title>"), "{}", stderr(&plot));
}

#[test]
fn interrupted_ones_go_on_and_parts_are_merged() {
    let bench = bench("parts");
    let run = |arguments: &[&str]| {
        let output = bench.command(&[&ARGUMENTS, arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(if arguments.contains(&"1/2") { 2 } else { 0 }), "{}", stderr(&output));
    };
    let count = |name: &str| fs::read_to_string(bench.folder.join(name)).unwrap().lines().count();
    run(&["--limit", "4"]);
    assert_eq!(count("two.jsonl"), 4);
    let output = bench.command(&[&ARGUMENTS[..], &["--resume"]].concat()).output().unwrap();
    assert!(stderr(&output).contains("4 of 10 tasks are done already"), "{}", stderr(&output));
    assert_eq!(count("two.jsonl"), 10);
    run(&["--shard", "1/2", "--output", "part1.jsonl"]);
    run(&["--shard", "2/2", "--output", "part2.jsonl"]);
    assert_eq!((count("part1.jsonl"), count("part2.jsonl")), (5, 5));
    let merged = bench.command(&["merge", "part1.jsonl", "part2.jsonl", "--output", "all.jsonl"]).output().unwrap();
    assert_eq!(merged.status.code(), Some(0), "{}", stderr(&merged));
    let compared = bench.command(&["compare", "two.jsonl", "all.jsonl"]).output().unwrap();
    assert!(
        stdout(&compared).ends_with("wrong 1, lost 0, gained 0, changed 0, solved in both 6\n"),
        "{}",
        stdout(&compared)
    );
    run(&["--quick", "--only", "checker", "--output", "quick.jsonl", "--filter", "t1"]);
    assert_eq!(count("quick.jsonl"), 2);
}

/// Runs the elements of an array job one after the other, as far as this machine allows.
const SBATCH: &str = r#"#!/bin/sh
last=$(sed -n 's/^#SBATCH --array=1-//p' "$1")
for part in $(seq "$last"); do SLURM_ARRAY_TASK_ID=$part sh "$1" >"out-$part" 2>&1; done
echo "Submitted batch job 1"
"#;

#[test]
fn an_array_job() {
    let bench = bench("an_array_job");
    let folder = bench.folder.join("bin");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("sbatch"), SBATCH).unwrap();
    fs::set_permissions(folder.join("sbatch"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let arguments = ["submit", "--engine", "slurm", "--parts", "3", "--sbatch=--partition=long", "--"];
    let output = bench.command(&[&arguments[..], &ARGUMENTS[1..]].concat()).env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // Ten runs of at most 15 s of wall time each, and five minutes for each part.
    assert_eq!(stdout(&output), "10 runs in 3 parts of at most 6 min; at most 0.0 CPU hours together\n");
    let script = fs::read_to_string(bench.folder.join("parts/job.sh")).unwrap();
    assert!(
        script.contains("#SBATCH --array=1-3\n#SBATCH --time=6\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=1300M\n"),
        "{script}"
    );
    assert!(script.contains("#SBATCH --partition=long\n"), "{script}");
    let parts = ["parts/part-1.jsonl", "parts/part-2.jsonl", "parts/part-3.jsonl"];
    let lines = parts.map(|part| fs::read_to_string(bench.folder.join(part)).unwrap().lines().count());
    assert_eq!(lines, [4, 3, 3]);
}

/// A real SLURM with this machine as its only node; ended in the end.
struct Slurm {
    folder: PathBuf,
    configuration: String,
}

impl Slurm {
    /// None if it cannot be started here, which is said.
    fn start() -> Option<Slurm> {
        // Names of sockets must be short.
        let folder = std::env::temp_dir().join(format!("cpa-bench-slurm.{}", std::process::id()));
        let output = Slurm::script("start", &folder).output().unwrap();
        if !output.status.success() {
            eprintln!("SKIPPED: {}", stderr(&output));
            let _ = fs::remove_dir_all(&folder);
            return None;
        }
        Some(Slurm { folder, configuration: stdout(&output).trim().to_string() })
    }

    fn script(what: &str, folder: &Path) -> Command {
        let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/slurm"));
        command.arg(what).arg(folder);
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = Slurm::script("stop", &self.folder).status();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The same with a real SLURM, if its programs are installed.
#[test]
fn an_array_job_of_slurm() {
    let Some(slurm) = Slurm::start() else { return };
    let bench = bench("an_array_job_of_slurm");
    // SLURM says how the parts ended, and a wrong verdict would be an error.
    fs::write(bench.folder.join("all.set"), "a/t1.yml\na/t2.yml\n").unwrap();
    let options = ["submit", "--engine", "slurm", "--parts", "3", "--sbatch=--partition=long", "--sbatch=--wait", "--"];
    let submit = || {
        let mut command = bench.command(&[&options[..], &ARGUMENTS[1..]].concat());
        let output = command.env("SLURM_CONF", &slurm.configuration).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("Submitted batch job"), "{}", stderr(&output));
    };
    let parts = ["parts/part-1.jsonl", "parts/part-2.jsonl", "parts/part-3.jsonl"];
    let lines = || parts.map(|part| fs::read_to_string(bench.folder.join(part)).unwrap().lines().count());
    submit();
    assert_eq!(lines(), [3, 2, 2]);
    // A part that was cut off goes on, and the others have nothing to do.
    let second = fs::read_to_string(bench.folder.join(parts[1])).unwrap();
    fs::write(bench.folder.join(parts[1]), second.lines().next().unwrap().to_string() + "\n").unwrap();
    submit();
    assert_eq!(lines(), [3, 2, 2]);
    let output = bench.command(&[&["merge"], &parts[..], &["--output", "all.jsonl"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(bench.folder.join("all.jsonl")).unwrap().lines().count(), 7);
}

#[test]
fn mistakes_are_named() {
    let bench = bench("mistakes_of_experiments");
    let message = |text: &str| {
        fs::write(bench.folder.join("bad.toml"), text).unwrap();
        let output = bench.command(&["run", "bad.toml"]).env_remove("CPA_TASKS").output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    assert!(message(EXPERIMENT).contains("the experiment needs a collection of tasks; name its folder with --tasks"));
    assert!(
        message(&EXPERIMENT.replace("tool = \"checker\"", "tool = \"cheker\"")).contains("'cheker' is not described")
    );
    assert!(message(&EXPERIMENT.replace("sweep = {", "sweep = { j = [1],")).contains("more than one parameter"));
    assert!(message(&EXPERIMENT.replace("[limits]", "[limit]")).contains("unknown field `limit`"));
}
