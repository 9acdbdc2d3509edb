// SPDX-License-Identifier: Apache-2.0
//! Compares the concrete machine with compiled programs: every task of a set that asks for no input is run by both, and
//! either both call `reach_error` or none does.
//!
//! Programs for 32-bit machines are linked with a small C library of our own, because few machines have another one. A
//! program that cannot be compiled or linked, or takes too long, is counted and left out.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

const LIMIT: Duration = Duration::from_secs(2);
/// The exit code of a compiled program that calls `reach_error`.
const ERROR: i32 = 99;
const LIBRARY: &str = include_str!("execute/library.c");

/// What one side says about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    Error,
    NoError,
}

pub(crate) fn compare(root: &Path, set: &Path) -> Result<String, String> {
    let runner = built(root, &["--package", "cfa", "--example", "run"], "examples/run", true)?;
    let folder = set.parent().unwrap_or(Path::new("."));
    let list = fs::read_to_string(set).map_err(|e| format!("cannot read {}: {e}", set.display()))?;
    let scratch = env::temp_dir().join(format!("xtask-execute-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|e| format!("cannot make {}: {e}", scratch.display()))?;
    let (mut agreed, mut undecided, mut not_compiled, mut different) = (0, 0, 0, Vec::new());
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((input, is_64)) = task(&folder.join(line)) else {
            return Err(format!("{line} is no task"));
        };
        let Some(machine) = interpreted(&runner, &input, is_64) else {
            undecided += 1;
            continue;
        };
        match compiled(&scratch, &input, is_64, &["-fno-builtin"]) {
            None => not_compiled += 1,
            Some(gcc) if gcc == machine => agreed += 1,
            Some(gcc) => different.push(format!("{line}: the machine says {machine:?}, gcc says {gcc:?}")),
        }
    }
    // The folder is in the system's place for temporary files; if it stays there, nothing is lost.
    let _ = fs::remove_dir_all(&scratch);
    let summary = format!(
        "execute: {agreed} agree, {} differ, {undecided} without a verdict of the machine, {not_compiled} not compiled",
        different.len()
    );
    if different.is_empty() { Ok(summary) } else { Err(format!("{}\n{summary}", different.join("\n"))) }
}

/// Builds a program of the workspace; its path, which is `path` in the folder for results.
pub(crate) fn built(root: &Path, what: &[&str], path: &str, optimised: bool) -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet"]).args(what).args(optimised.then_some("--release")).current_dir(root);
    if !command.status().is_ok_and(|status| status.success()) {
        return Err(format!("{path} cannot be built"));
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join(if optimised { "release" } else { "debug" }).join(path))
}

/// The program of a task and whether it is for a 64-bit machine.
fn task(definition: &Path) -> Option<(PathBuf, bool)> {
    let text = fs::read_to_string(definition).ok()?;
    let value = |line: &str, key: &str| {
        let value = line.trim().strip_prefix(key)?.trim();
        Some(value.trim_matches(['\'', '"']).to_string())
    };
    let input = text.lines().find_map(|line| value(line, "input_files:"))?;
    let is_64 = text.lines().find_map(|line| value(line, "data_model:")).is_some_and(|model| model == "LP64");
    Some((definition.parent()?.join(input), is_64))
}

/// What the machine says, if the program needs no input and ends in time.
fn interpreted(runner: &Path, input: &Path, is_64: bool) -> Option<Says> {
    let mut command = Command::new(runner);
    command.arg("--plain").args(is_64.then_some("--64")).arg(input);
    let output = finish(command.stdout(Stdio::piped()), 4 * LIMIT)?.1;
    match output.split_whitespace().next()? {
        "ERROR" => Some(Says::Error),
        "RETURN" | "ABORT" | "EXIT" | "ASSUME" => Some(Says::NoError),
        _ => None,
    }
}

/// What the compiled program says, if there is one and it ends in time.
pub(crate) fn compiled(scratch: &Path, input: &Path, is_64: bool, flags: &[&str]) -> Option<Says> {
    let text = fs::read_to_string(input).ok()?;
    fs::write(scratch.join("program.c"), instrumented(&text)).ok()?;
    let common = ["-O1", "-w", "-fwrapv", "-fno-strict-aliasing", "-std=gnu11"];
    let of_model: &[&str] = match is_64 {
        true => &["-DHOSTED"],
        false => &["-m32", "-msse2", "-mfpmath=sse", "-fno-pic", "-fno-stack-protector", "-nostdlib", "-static"],
    };
    let gcc = |arguments: &[&str]| {
        let mut gcc = Command::new("gcc");
        gcc.args(common).args(flags).args(of_model).args(arguments).current_dir(scratch).stderr(Stdio::null());
        gcc.status().is_ok_and(|status| status.success())
    };
    let library = if is_64 { "library-64.o" } else { "library-32.o" };
    if !scratch.join(library).exists() {
        fs::write(scratch.join("library.c"), LIBRARY).ok()?;
        if !gcc(&["-fno-builtin", "-c", "-o", library, "library.c"]) {
            return None;
        }
    }
    let math: &[&str] = if is_64 { &["-lm"] } else { &[] };
    if !gcc(&[&["-o", "program", library, "program.c"], math].concat()) {
        return None;
    }
    match finish(&mut Command::new(scratch.join("program")), LIMIT)?.0 {
        Some(ERROR) => Some(Says::Error),
        _ => Some(Says::NoError),
    }
}

/// The program with a call of `error_reached` at the beginning of the body of `reach_error`.
fn instrumented(text: &str) -> String {
    let mut result = "extern void error_reached(void);\n".to_string();
    let mut rest = text;
    while let Some(at) = rest.find("reach_error") {
        let (before, found) = rest.split_at(at + "reach_error".len());
        result.push_str(before);
        rest = found;
        // A definition is a list of parameters with a body behind it.
        let Some(close) = found.trim_start().strip_prefix('(').and_then(|_| found.find(')')) else { continue };
        let behind = &found[close + 1..];
        if behind.trim_start().starts_with('{') {
            let brace = close + 1 + (behind.len() - behind.trim_start().len()) + 1;
            result.push_str(&found[..brace]);
            result.push_str(" error_reached(); ");
            rest = &found[brace..];
        }
    }
    result.push_str(rest);
    result
}

/// Runs a program to its end; none if it takes too long. The code of an ending by a signal is none.
pub(crate) fn finish(command: &mut Command, limit: Duration) -> Option<(Option<i32>, String)> {
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let start = Instant::now();
    loop {
        match child.try_wait().ok()? {
            Some(status) => {
                let mut output = String::new();
                if let Some(mut stdout) = child.stdout.take() {
                    std::io::Read::read_to_string(&mut stdout, &mut output).ok()?;
                }
                return Some((status.code(), output));
            }
            None if start.elapsed() > limit => {
                // It may have ended in between.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::instrumented;

    #[test]
    fn only_definitions_are_instrumented() {
        let text = "void reach_error(void);\nvoid reach_error(void)\n{ }\nint main(void) { reach_error(); }";
        let expected = "extern void error_reached(void);\nvoid reach_error(void);\nvoid reach_error(void)\n{ \
            error_reached();  }\nint main(void) { reach_error(); }";
        assert_eq!(instrumented(text), expected);
    }
}
