// SPDX-License-Identifier: Apache-2.0
//! Rules for source files: how they begin, how long they are, and that printing, clocks and files stay out of the
//! analyses.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Finding;

const LICENCE: &str = "// SPDX-License-Identifier: Apache-2.0";
const LONGEST: usize = 700;

/// Crates of layers 5 and 6 and the chores; all others compute and leave the world alone.
const MAY_TOUCH_THE_WORLD: &[&str] = &["report", "cli", "bench-harness", "xtask", "scripts"];

/// What the others must not name.
const WORLD: &[&str] = &[
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "std::fs",
    "std::env",
    "std::process",
    "File::open",
    "stdout()",
    "stderr()",
    "SystemTime",
    "Instant",
];

/// Exceptions, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // The decorator that measures solvers is there to look at the clock.
    ("smt/src/solver/timed.rs", "Instant"),
    // Limits of calls into the solvers, where the system does not measure the time of a thread.
    ("smt/src/solver/clock.rs", "Instant"),
];

/// A source file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Relative to the root.
    path: String,
    text: String,
}

/// Reads all Rust files of the repository.
pub(crate) fn load(root: &Path) -> Result<Vec<Source>, String> {
    let mut files = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(folder) = todo.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| format!("cannot read {}: {e}", folder.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                // What git ignores, and git itself.
                let foreign = name.starts_with('.') || name == "target" || (folder == root && name == "third_party");
                if !foreign {
                    todo.push(path);
                }
            } else if name.ends_with(".rs") {
                files.push(read(root, path)?);
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read(root: &Path, path: PathBuf) -> Result<Source, String> {
    let text = fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Ok(Source { path: path.strip_prefix(root).unwrap_or(&path).display().to_string(), text })
}

pub(crate) fn check(files: &[Source]) -> Vec<Finding> {
    files.iter().flat_map(|file| header(file).into_iter().chain(length(file)).chain(world(file))).collect()
}

fn header(file: &Source) -> Option<Finding> {
    let mut lines = file.text.lines();
    if lines.next() != Some(LICENCE) {
        return Some(Finding::new(&file.path, format!("the first line is not `{LICENCE}`")));
    }
    if !lines.next().unwrap_or_default().starts_with("//! ") {
        return Some(Finding::new(&file.path, "no `//!` comment in the second line says what the file is for"));
    }
    None
}

fn length(file: &Source) -> Option<Finding> {
    let lines = file.text.lines().count();
    (lines > LONGEST)
        .then(|| Finding::new(&file.path, format!("{lines} lines, more than {LONGEST}: split it by concern")))
}

fn world(file: &Source) -> Vec<Finding> {
    let owner = file.path.split('/').next().unwrap_or_default();
    let is_test = file.path.ends_with("/tests.rs") || file.path.contains("/tests/");
    let is_library = file.path.split('/').nth(1) == Some("src") && !is_test;
    if MAY_TOUCH_THE_WORLD.contains(&owner) || !is_library {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        // Tests stand at the end of a file and may do what they like.
        if line == "#[cfg(test)]" {
            break;
        }
        let code = line.split("//").next().unwrap_or_default();
        for word in WORLD.iter().filter(|word| contains_word(code, word)) {
            if !EXCEPTIONS.contains(&(file.path.as_str(), word)) {
                let message = format!("`{word}` belongs into report, cli or bench-harness, not into {owner}");
                findings.push(Finding::new(format!("{}:{}", file.path, number + 1), message));
            }
        }
    }
    findings
}

/// Whether `word` occurs and is not part of a longer name.
fn contains_word(code: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(start, _)| {
        let before = code[..start].chars().next_back().is_some_and(part_of_name);
        let after = word.ends_with(part_of_name) && code[start + word.len()..].starts_with(part_of_name);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&[Source { path: path.into(), text: text.into() }]).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn headers() {
        assert!(messages("cfa/src/a.rs", &format!("{LICENCE}\n//! Does it.\n")).is_empty());
        assert_eq!(messages("cfa/src/a.rs", "//! Does it.\n").len(), 1);
        assert_eq!(
            messages("cfa/src/a.rs", &format!("{LICENCE}\n\nuse x;\n")),
            ["cfa/src/a.rs: no `//!` comment in the second line says what the file is for"]
        );
    }

    #[test]
    fn lengths() {
        let text = |lines| format!("{LICENCE}\n//! Long.\n{}", "\n".repeat(lines - 2));
        assert!(messages("cfa/src/a.rs", &text(LONGEST)).is_empty());
        assert_eq!(
            messages("cfa/tests/a.rs", &text(LONGEST + 1)),
            ["cfa/tests/a.rs: 701 lines, more than 700: split it by concern"]
        );
    }

    #[test]
    fn the_world() {
        let file = |body: &str| format!("{LICENCE}\n//! Does it.\n{body}\n");
        assert_eq!(
            messages("smt/src/a.rs", &file("let now = Instant::now();")),
            ["smt/src/a.rs:3: `Instant` belongs into report, cli or bench-harness, not into smt"]
        );
        assert_eq!(messages("smt/src/a.rs", &file("println!(\"x\");")).len(), 1);
        for harmless in ["// println!(x)", "let instantiate = Instantiate;", "#[cfg(test)]\nprintln!()"] {
            assert!(messages("smt/src/a.rs", &file(harmless)).is_empty(), "{harmless}");
        }
        assert!(messages("smt/src/solver/timed.rs", &file("Instant::now()")).is_empty());
        assert!(messages("cli/src/a.rs", &file("println!()")).is_empty());
        assert!(messages("smt/tests/a.rs", &file("println!()")).is_empty());
        assert!(messages("smt/src/term/tests.rs", &file("println!()")).is_empty());
    }
}
