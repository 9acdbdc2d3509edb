// SPDX-License-Identifier: Apache-2.0
//! Chores of the repository: `cargo xtask tidy` checks the rules of docs/ARCHITECTURE.md, `cargo xtask docs` writes the
//! generated pages, `cargo xtask bench-report` measures, `cargo xtask execute` and `cargo xtask fuzz` compare the concrete machine with compiled programs.

mod bench_report;
mod docs;
mod execute;
mod fuzz;
mod generate;
mod graph;
mod manifests;
mod sources;

use std::{
    env, fmt,
    path::{Path, PathBuf},
    process::ExitCode,
};

const USAGE: &str = "usage: cargo xtask tidy           check the rules of docs/ARCHITECTURE.md
       cargo xtask docs           write docs/options.md
       cargo xtask docs --check   say whether it is up to date
       cargo xtask bench-report [--quick] [CRATE...]
                                  run the benchmarks, of all crates if none is named,
                                  and put what came out on one page
       cargo xtask execute SET    compare the concrete machine with gcc on the tasks of a set
       cargo xtask fuzz N [FIRST [PRESET..]]
                                  the same on N random programs; the verifier proves
                                  and refutes their checksums with each preset";

/// A rule that is broken somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// A file, `file:line` or crate.
    place: String,
    message: String,
}

impl Finding {
    fn new(place: impl fmt::Display, message: impl Into<String>) -> Finding {
        Finding { place: place.to_string(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["bench-report", ref crates @ ..] => bench_report::write(&root(), crates),
        ["tidy"] => tidy(&root()),
        ["docs"] => docs::write(&root()),
        ["docs", "--check"] => docs::check(&root()),
        ["fuzz", count] => fuzz(count, "0", &[]),
        ["fuzz", count, first, ref presets @ ..] => fuzz(count, first, presets),
        ["execute", set] => execute::compare(&root(), Path::new(set)),
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn fuzz(count: &str, first: &str, presets: &[&str]) -> Result<String, String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("'{text}' is no number\n{USAGE}"));
    fuzz::compare(&root(), number(count)?, number(first)?, presets)
}

/// The folder of the workspace: this crate lies in it.
fn root() -> PathBuf {
    let own =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or(own.clone(), Path::to_path_buf)
}

fn tidy(root: &Path) -> Result<String, String> {
    let workspace = manifests::load(root)?;
    let files = sources::load(root)?;
    let mut findings = graph::check(&workspace);
    findings.extend(manifests::check(root, &workspace)?);
    findings.extend(sources::check(&files));
    if findings.is_empty() {
        return Ok(format!("tidy: {} crates and {} files keep the rules", workspace.crates.len(), files.len()));
    }
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    Err(format!(
        "{}\ntidy: {} findings; the rules are explained in docs/ARCHITECTURE.md",
        lines.join("\n"),
        lines.len()
    ))
}
