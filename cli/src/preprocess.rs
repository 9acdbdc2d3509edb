// SPDX-License-Identifier: Apache-2.0
//! The C preprocessor of the system, for files with directives. Its line markers lead back to the files of the user.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

/// The compilers that are tried, in this order.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// The preprocessed text of a file.
pub fn run(path: &Path, lp64: bool) -> Result<String, String> {
    let width = if lp64 { "-m64" } else { "-m32" };
    for compiler in COMPILERS {
        let output = match command(compiler, width, path).output() {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("cannot run {compiler}: {error}")),
        };
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        let first = messages.lines().find(|line| line.contains("error:")).or_else(|| messages.lines().next());
        let first = first.unwrap_or("it says nothing");
        let advice = if !lp64 && command(compiler, "-m64", path).output().is_ok_and(|wide| wide.status.success()) {
            "; install the 32-bit headers (gcc-multilib), or pass --64 if that is the machine"
        } else {
            ""
        };
        return Err(format!("Parsing failed: {compiler} -E {width}: {first}{advice}"));
    }
    Err(format!(
        "Parsing failed: {} has preprocessor directives, and there is no C compiler (cc, gcc or clang) to expand them",
        path.display()
    ))
}

fn command(compiler: &str, width: &str, path: &Path) -> Command {
    let mut command = Command::new(compiler);
    // Without the tables behind glibc's character classes, which only its binary has.
    command.args(["-E", "-std=gnu11", width, "-D__NO_CTYPE", "-x", "c"]).arg(path).stdin(Stdio::null());
    command
}
