// SPDX-License-Identifier: Apache-2.0
//! Random programs, run by the concrete machine and by gcc: both must compute the same checksum. If presets are named, the
//! verifier must prove with them the assertion that the checksum is this one, and refute that it is another one, or refuse to do so
//! where the checksum rests on a late signed overflow.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use crate::execute::{Says, built, compiled, finish};
use crate::generate::program;

const LIMIT: Duration = Duration::from_secs(60);
/// The preset that must not give up.
const DECIDING: &str = "default";

/// From this step on a signed overflow, which C leaves undefined, makes the verifier refuse a counterexample (docs/soundness.md).
const LATE: u64 = 10_000;

/// What is run.
struct Tools {
    machine: PathBuf,
    verifier: PathBuf,
    /// Presets of the verifier. Those but [`DECIDING`] may give up, but must not be wrong; they get the programs with inputs.
    presets: Vec<String>,
    scratch: PathBuf,
}

/// How often which thing happened, and what was wrong.
#[derive(Default)]
struct Outcome {
    agreed: u32,
    left_out: u32,
    /// Programs that compute with what C leaves open, such as the order of objects in memory: they have no certain result.
    open: u32,
    not_compiled: u32,
    /// Answers of the other presets, and how often they gave up.
    answers: [u32; 2],
    different: Vec<String>,
}

/// Compares `count` programs, the first of which is made from the number `first`.
pub(crate) fn compare(root: &Path, count: u64, first: u64, presets: &[&str]) -> Result<String, String> {
    let scratch = env::temp_dir().join(format!("xtask-fuzz-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|e| format!("cannot make {}: {e}", scratch.display()))?;
    let machine = built(root, &["--package", "cfa", "--example", "run"], "examples/run", false)?;
    let verifier = match presets.is_empty() {
        true => PathBuf::new(),
        false => built(root, &["--package", "cli", "--bin", "cpa-verify"], "cpa-verify", false)?,
    };
    let presets: Vec<String> = presets.iter().map(ToString::to_string).collect();
    let tools = Tools { machine, verifier, presets, scratch };
    let mut outcome = Outcome::default();
    for seed in first..first + count {
        tools.check(seed, &mut outcome)?;
    }
    // The folder is in the system's place for temporary files; if it stays there, nothing is lost.
    let _ = fs::remove_dir_all(&tools.scratch);
    let Outcome { agreed, left_out, open, not_compiled, answers, different } = outcome;
    let mut summary = format!(
        "fuzz: {agreed} agree, {} differ, {left_out} too slow, {open} with an open result, {not_compiled} not compiled",
        different.len()
    );
    if tools.presets.iter().any(|preset| preset != DECIDING) {
        summary += &format!("; other presets: {} answers, {} without an answer", answers[0], answers[1]);
    }
    if different.is_empty() { Ok(summary) } else { Err(format!("{}\n{summary}", different.join("\n"))) }
}

impl Tools {
    fn check(&self, seed: u64, outcome: &mut Outcome) -> Result<(), String> {
        let program = program(seed);
        let file = self.scratch.join("generated.c");
        let write = |text: &str| fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display()));
        write(&program.ending(""))?;
        let mut command = Command::new(&self.machine);
        command.args(program.is_64.then_some("--64")).arg("--overflows").arg(&file).arg("1").stdout(Stdio::piped());
        let Some((_, said)) = finish(&mut command, LIMIT) else {
            outcome.left_out += 1;
            return Ok(());
        };
        let mut problem = None;
        let words: Vec<&str> = said.split_whitespace().collect();
        if words.first().is_some_and(|word| word.starts_with("NOVALUE")) {
            outcome.open += 1;
            return Ok(());
        }
        let checksum = words.last().and_then(|word| u64::from_str_radix(word, 16).ok());
        match checksum.filter(|_| words.first() == Some(&"RETURN")) {
            None => problem = Some(format!("the machine says {}", said.trim())),
            Some(checksum) => {
                // Both ask for the checksum, so gcc has to end with an error in one of them only.
                let wrong = format!("if (observed == {checksum}u) reach_error();");
                let right = format!("if (observed != {checksum}u) reach_error();");
                write(&program.ending(&right))?;
                match compiled(&self.scratch, &file, program.is_64, &[]) {
                    None => {
                        outcome.not_compiled += 1;
                        return keep(seed, &program.ending(&right));
                    }
                    Some(Says::Error) => problem = Some("gcc has another checksum than the machine".into()),
                    Some(Says::NoError) => {}
                }
                let overflow = words.get(3).and_then(|step| step.parse().ok());
                let refuted = if overflow.is_some_and(|step: u64| step >= LATE) { 20 } else { 10 };
                for (statement, expected, decided) in [(right, 0, 0), (wrong, 10, refuted)] {
                    write(&program.ending(&statement))?;
                    let decides = self.presets.iter().any(|preset| preset == DECIDING);
                    if decides && self.verify(DECIDING, program.is_64, &file) != Some(decided) {
                        problem = Some(format!("the verifier does not say {decided} (exit code)"));
                    }
                    write(&program.with_inputs(&statement))?;
                    for preset in self.presets.iter().filter(|preset| *preset != DECIDING) {
                        match self.verify(preset, program.is_64, &file) {
                            Some(code @ (0 | 10)) if code != expected => {
                                problem = Some(format!("'{preset}' has exit code {code} and not {expected}"));
                            }
                            Some(0 | 10) => outcome.answers[0] += 1,
                            _ => outcome.answers[1] += 1,
                        }
                    }
                }
            }
        }
        match problem {
            None => outcome.agreed += 1,
            Some(problem) => {
                outcome.different.push(format!("program {seed}: {problem}"));
                keep(seed, &program.ending(""))?;
            }
        }
        Ok(())
    }

    /// The exit code of the verifier, which is its verdict.
    fn verify(&self, preset: &str, is_64: bool, file: &Path) -> Option<i32> {
        let mut command = Command::new(&self.verifier);
        let model = if is_64 { "--64" } else { "--32" };
        command
            .args(["--preset", preset, "--exit-code-verdict", "--timelimit", "30s", "--cores", "1", model])
            .arg(file);
        finish(command.stdout(Stdio::null()), LIMIT)?.0
    }
}

/// Keeps a program for who wants to look at it.
fn keep(seed: u64, text: &str) -> Result<(), String> {
    let path = env::temp_dir().join(format!("fuzz-{seed}.c"));
    fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    /// Programs that others than `cargo xtask fuzz` begin with.
    #[test]
    fn some_programs() {
        match super::compare(&crate::root(), 200, 1_000_000, &["default"]) {
            Ok(summary) => assert!(summary.starts_with("fuzz: "), "{summary}"),
            Err(problems) => panic!("{problems}"),
        }
    }
}
