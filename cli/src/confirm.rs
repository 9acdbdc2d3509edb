// SPDX-License-Identifier: Apache-2.0
//! Confirms a counterexample by executing it: the program and its harness are compiled with the system's C compiler and run.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cfa::{MachineModel, Program, Property};
use cpa_core::Counterexample;
use report::harness::{EXHAUSTED, Harness, LABEL_REACHED, REACHED};

/// The compilers that are tried, in this order.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
/// How long the compiled program may run, and how long a compiler.
const LIMIT: Duration = Duration::from_secs(20);
/// Start, memory and arithmetic for 32-bit programs on machines without a 32-bit C library.
const FREESTANDING: &str = include_str!("freestanding.c");

/// Compiles and runs the program with the harness. Answers how it was confirmed, or why it was not.
pub fn confirm(
    program: &Program,
    property: &Property,
    counterexample: &Counterexample,
    harness: &Harness,
) -> Result<String, String> {
    let folder = Folder::new()?;
    let sources = sources(program, property, counterexample, harness, &folder)?;
    let executable = folder.0.join("run");
    let how = compile(program, &sources, &folder, &executable)?;
    let mut command = Command::new(&executable);
    command.args((0..harness.arguments).map(|_| "")).env("MALLOC_PERTURB_", "255");
    let (status, _) = run(command, &folder)?;
    let caveat = || harness.caveats.first().map(|caveat| format!("; {caveat}")).unwrap_or_default();
    match status.and_then(|status| status.code()) {
        Some(REACHED) => Ok(how),
        Some(EXHAUSTED) => Err(format!("the compiled program asks for other inputs{}", caveat())),
        Some(code) => Err(format!("the compiled program ends with exit code {code}{}", caveat())),
        None if status.is_none() => {
            Err(format!("the compiled program runs longer than {} s{}", LIMIT.as_secs(), caveat()))
        }
        None => Err(format!("the compiled program ends by a signal{}", caveat())),
    }
}

/// A folder for the files, which goes away with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("cpa-verify-confirm-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(Folder(path))
    }

    fn file(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The harness, whose functions come first, and the files of the program.
fn sources(
    program: &Program,
    property: &Property,
    counterexample: &Counterexample,
    harness: &Harness,
    folder: &Folder,
) -> Result<Vec<PathBuf>, String> {
    let mut files = vec![folder.file("harness.c", &harness.text)?];
    let end = counterexample.end(program);
    let at = |name: &str| program.labels.iter().any(|(label, node)| &**label == name && *node == end);
    let label = property.labels.iter().find(|name| at(name));
    for (number, source) in program.sources.iter().enumerate() {
        let own = !source.name.starts_with('<');
        let text = match label {
            Some(label) if own => with_visible_label(&source.text, label),
            _ => source.text.clone(),
        };
        if own {
            files.push(folder.file(&format!("program{number}.c"), &text)?);
        }
    }
    Ok(files)
}

/// The text with a call behind each place `label:`. Texts and comments that look like one do no harm: the call is
/// made by no execution.
fn with_visible_label(text: &str, label: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(label) {
        let (before, after) = rest.split_at(at + label.len());
        result.push_str(before);
        rest = after;
        let head = before[..at].trim_end();
        let whole = head.len() < at || head.is_empty() || head.ends_with([';', '{', '}', ':', ')', '/']);
        let colon = after.trim_start().strip_prefix(':').filter(|_| whole && !head.ends_with('?'));
        if let Some(behind) = colon {
            result.push_str(&format!(": {LABEL_REACHED}();"));
            rest = behind;
        }
    }
    result + rest
}

/// Compiles the files; answers with what.
fn compile(program: &Program, sources: &[PathBuf], folder: &Folder, executable: &Path) -> Result<String, String> {
    let lp64 = program.machine == MachineModel::Lp64;
    let width = if lp64 { "-m64" } else { "-m32" };
    let mut flags = vec![width, "-std=gnu11", "-w", "-O0", "-fwrapv", "-fno-builtin", "-fno-math-errno"];
    flags.push("-Wl,-z,muldefs");
    if !lp64 {
        flags.extend(["-msse2", "-mfpmath=sse"]);
    }
    let compiler = COMPILERS.into_iter().find(|compiler| exists(compiler));
    let compiler = compiler.ok_or("there is no C compiler (cc, gcc or clang)")?;
    // Not all compilers can begin uninitialised variables with zeros.
    let attempt = |extra: &[&str], files: &[PathBuf]| {
        let once = |zeros: Option<&str>| {
            let mut command = Command::new(compiler);
            command.args(&flags).args(extra).args(zeros).arg("-o").arg(executable).args(files);
            if extra.is_empty() {
                command.arg("-lm");
            }
            let (status, messages) = run(command, folder)?;
            let succeeded = status.is_some_and(|status| status.success());
            if succeeded { Ok(()) } else { Err(first_error(&messages)) }
        };
        once(Some("-ftrivial-auto-var-init=zero")).or_else(|_| once(None))
    };
    let error = match attempt(&[], sources) {
        Ok(()) => return Ok(format!("{compiler} {width}")),
        Err(error) => format!("{compiler} {width}: {error}"),
    };
    if lp64 {
        return Err(error);
    }
    let mut files = sources.to_vec();
    if let Some(library) = program.sources.iter().find(|source| source.name.starts_with('<')) {
        files.push(folder.file("library.c", &format!("#include <stddef.h>\n#include <stdint.h>\n{}", library.text))?);
    }
    files.push(folder.file("freestanding.c", FREESTANDING)?);
    let alone = ["-ffreestanding", "-nostdlib", "-static", "-fno-stack-protector", "-fno-pie"];
    attempt(&alone, &files)
        .map(|()| format!("{compiler} {width}, without a C library"))
        .map_err(|second| format!("{error}; without a C library: {second}"))
}

fn exists(compiler: &str) -> bool {
    let mut command = Command::new(compiler);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    !matches!(command.status(), Err(error) if error.kind() == ErrorKind::NotFound)
}

fn first_error(messages: &str) -> String {
    let telling = |line: &&str| line.contains("error:") || line.contains("undefined reference");
    let line = messages.lines().find(telling).or_else(|| messages.lines().next());
    line.unwrap_or("it says nothing").trim().to_string()
}

/// Runs a program without input; its exit status, none if it took too long, and what it says on standard error.
fn run(mut command: Command, folder: &Folder) -> Result<(Option<ExitStatus>, String), String> {
    let messages = folder.0.join("messages");
    let file = fs::File::create(&messages).map_err(|error| format!("cannot write {}: {error}", messages.display()))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).current_dir(&folder.0);
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| format!("cannot run {name}: {error}"))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| format!("cannot wait for {name}: {error}"))? {
            Some(status) => break Some(status),
            None if start.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = fs::read(&messages).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    Ok((status, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_calls_where_they_stand() {
        let text = "if (x) goto ERROR; MYERROR: ; return 0; ERROR : f(); y = z ? ERROR : 1;";
        let expected = "if (x) goto ERROR; MYERROR: ; return 0; ERROR: __cpa_label_reached(); f(); y = z ? ERROR : 1;";
        assert_eq!(with_visible_label(text, "ERROR"), expected);
    }
}
