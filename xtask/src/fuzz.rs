// SPDX-License-Identifier: Apache-2.0
//! Random programs, run by the concrete machine and by gcc: both must compute the same checksum.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use crate::execute::{finish, runner};
use crate::generate::program;

const LIMIT: Duration = Duration::from_secs(20);
/// What makes the compiled program print its checksum.
const SHOW: &str = "int printf(const char *, ...);
__attribute__((destructor)) static void show(void) { printf(\"%016x\\n\", observed); }
";

/// Compares `count` programs, the first of which is made from the number `first`.
pub(crate) fn compare(root: &Path, count: u64, first: u64) -> Result<String, String> {
    let runner = runner(root, false)?;
    let scratch = env::temp_dir().join(format!("xtask-fuzz-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|e| format!("cannot make {}: {e}", scratch.display()))?;
    let (mut agreed, mut left_out, mut broken, mut different) = (0, 0, 0, Vec::new());
    for seed in first..first + count {
        let text = program(seed);
        let write = |name: &str, text: &str| fs::write(scratch.join(name), text).map_err(|e| format!("{name}: {e}"));
        write("program.c", &text)?;
        write("compiled.c", &format!("{text}{SHOW}"))?;
        let flags = ["-O1", "-w", "-fwrapv", "-fno-strict-aliasing", "-o", "compiled", "compiled.c"];
        let gcc = Command::new("gcc").args(flags).current_dir(&scratch).output().map_err(|e| format!("gcc: {e}"))?;
        if String::from_utf8_lossy(&gcc.stderr).contains("internal compiler error") {
            broken += 1;
            continue;
        }
        if !gcc.status.success() {
            return Err(format!("program {seed} is not accepted by gcc"));
        }
        let compiled = finish(Command::new(scratch.join("compiled")).stdout(Stdio::piped()), LIMIT);
        let mut command = Command::new(&runner);
        command.args(["--64", "program.c", "1"]).current_dir(&scratch).stdout(Stdio::piped());
        let interpreted = finish(&mut command, LIMIT);
        let (Some((_, compiled)), Some((_, interpreted))) = (compiled, interpreted) else {
            left_out += 1;
            continue;
        };
        let words: Vec<&str> = interpreted.split_whitespace().collect();
        if words.first() == Some(&"RETURN") && words.last() == Some(&compiled.trim()) {
            agreed += 1;
        } else {
            different.push(format!("program {seed}: gcc {}, machine {}", compiled.trim(), interpreted.trim()));
            let kept = env::temp_dir().join(format!("fuzz-{seed}.c"));
            fs::write(&kept, &text).map_err(|e| format!("cannot write {}: {e}", kept.display()))?;
        }
    }
    // The folder is in the system's place for temporary files; if it stays there, nothing is lost.
    let _ = fs::remove_dir_all(&scratch);
    let differ = different.len();
    let summary = format!("fuzz: {agreed} agree, {differ} differ, {left_out} too slow, {broken} crash gcc");
    if different.is_empty() { Ok(summary) } else { Err(format!("{}\n{summary}", different.join("\n"))) }
}
