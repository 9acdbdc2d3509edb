// SPDX-License-Identifier: Apache-2.0
//! Runs of the program `cpa-bench` with a fake verifier: a shell script that takes the "C program" for shell commands.

mod benchexec;
mod experiments;
mod files;
mod input;
mod limits;
mod reports;
mod reproduce;
mod verdicts;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// A folder with a fake verifier, properties and tasks; removed in the end.
struct Bench {
    folder: PathBuf,
}

const SAFE: &str = "echo 'Verification result: TRUE. No property violation found by chosen configuration.'";
const UNSAFE: &str =
    "echo 'Verification result: FALSE. Property violation (unreach-call) found by chosen configuration.'";

impl Bench {
    fn new(name: &str) -> Bench {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("props")).unwrap();
        fs::write(folder.join("props/unreach-call.prp"), "CHECK( init(main()), LTL(G ! call(reach_error())) )\n")
            .unwrap();
        let tool = folder.join("fake-verifier");
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo fake 1.0; exit; fi\nfor last; do :; done\n\
             # The program on which options are tried out is no script.\n\
             case $last in */nothing.c) {SAFE}; exit ;; esac\n. \"$last\"\n"
        );
        fs::write(&tool, script).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        Bench { folder }
    }

    /// A task with the given expected verdict whose run executes `script`. `name` is `CATEGORY/NAME`.
    fn task(&self, name: &str, expected: bool, script: &str) -> &Bench {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path.with_extension("c"), script).unwrap();
        let input = path.with_extension("c").file_name().unwrap().to_string_lossy().into_owned();
        let definition = format!(
            "format_version: '2.0'\ninput_files: '{input}'\nproperties:\n  - property_file: ../props/unreach-call.prp\n    \
             expected_verdict: {expected}\noptions:\n  language: C\n  data_model: ILP32\n"
        );
        fs::write(path.with_extension("yml"), definition).unwrap();
        let list = self.folder.join("all.set");
        let earlier = fs::read_to_string(&list).unwrap_or_default();
        fs::write(list, format!("{earlier}{name}.yml\n")).unwrap();
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-bench"));
        command.current_dir(&self.folder).args(arguments);
        command
    }

    /// `cpa-bench run` on all tasks with these further arguments.
    fn run_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&["run", "--tool", "./fake-verifier", "--set", "all.set"]);
        command.args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_command(arguments).output().unwrap()
    }

    /// The lines of the result file.
    fn results(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join("results.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// `TASK: STATUS (REASON)` for each line, sorted.
    fn statuses(&self) -> Vec<String> {
        let show = |r: &Value| match r["reason"].as_str() {
            Some(reason) => format!("{}: {} ({reason})", r["task"].as_str().unwrap(), r["status"].as_str().unwrap()),
            None => format!("{}: {}", r["task"].as_str().unwrap(), r["status"].as_str().unwrap()),
        };
        let mut lines: Vec<_> = self.results().iter().map(show).collect();
        lines.sort();
        lines
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether a process with this number exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
