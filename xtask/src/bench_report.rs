// SPDX-License-Identifier: Apache-2.0
//! Runs the benchmarks of all crates and puts what criterion measured on one page, `bench-report/page.md` in the target folder.
//!
//! What is measured goes to a folder for each crate and file of benchmarks, so that a page can be put together crate by crate,
//! and a benchmark that exists no more leaves no row behind.

use std::{
    cmp::Ordering,
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The folder of the page and of what criterion leaves behind.
const FOLDER: &str = "bench-report";
const PAGE: &str = "page.md";
/// Few samples and wide intervals, as criterion's option of this name.
const QUICK: &str = "--quick";

/// A file of benchmarks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Suite {
    of: String,
    name: String,
    /// What the file says about itself.
    about: String,
}

/// What one benchmark needs, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    group: String,
    name: String,
    /// What it was run with.
    size: String,
    median: f64,
    low: f64,
    high: f64,
    /// Bytes an iteration, if it says so.
    bytes: Option<f64>,
}

/// Runs the benchmarks of the named crates, of all if there are none, and writes the page.
pub(crate) fn write(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let (options, crates): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|argument| argument.starts_with('-'));
    if let Some(unknown) = options.iter().find(|option| **option != QUICK) {
        return Err(format!("'{unknown}' is no option of bench-report; there is {QUICK}"));
    }
    let suites = suites(root)?;
    if let Some(unknown) = crates.iter().find(|name| !suites.iter().any(|suite| suite.of == **name)) {
        let mut names: Vec<&str> = suites.iter().map(|suite| suite.of.as_str()).collect();
        names.dedup();
        return Err(format!("no crate '{unknown}' has benchmarks; these have: {}", names.join(", ")));
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join(FOLDER);
    for suite in suites.iter().filter(|suite| crates.is_empty() || crates.contains(&suite.of.as_str())) {
        run(root, &target, suite, &options)?;
    }
    let mut sections = Vec::new();
    for suite in suites {
        let mut measured = Vec::new();
        collect(&folder(&target, &suite), &mut measured)?;
        sections.push((suite, measured));
    }
    let page = page(sections);
    let path = target.join(PAGE);
    fs::write(&path, &page).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    Ok(format!("{page}\nbench-report: wrote {}", path.display()))
}

/// All files of benchmarks, by crate and name.
fn suites(root: &Path) -> Result<Vec<Suite>, String> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    };
    let mut suites = Vec::new();
    for of in list(root)?.into_iter().filter(|path| path.join("benches").is_dir()) {
        for file in list(&of.join("benches"))?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
            let text = fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
            let name = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
            suites.push(Suite { of: name(of.file_name()), name: name(file.file_stem()), about: about(&text) });
        }
    }
    suites.sort();
    let mut names = BTreeSet::new();
    match suites.iter().find(|suite| !names.insert(&suite.name)) {
        Some(twice) => Err(format!("two files of benchmarks are called {}", twice.name)),
        None => Ok(suites),
    }
}

/// The comment at the beginning of a file.
fn about(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix("//!"));
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}

fn folder(target: &Path, suite: &Suite) -> PathBuf {
    target.join(&suite.of).join(&suite.name)
}

fn run(root: &Path, target: &Path, suite: &Suite, options: &[&str]) -> Result<(), String> {
    let folder = folder(target, suite);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| format!("cannot remove {}: {e}", folder.display()))?;
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        // Not `--package`, which means other features of foreign crates for each crate, and builds of all of them.
        .args(["bench", "--locked", "--workspace", "--bench", &suite.name, "--", "--noplot"])
        .args(options)
        .current_dir(root)
        .env("CRITERION_HOME", &folder)
        .status()
        .map_err(|e| format!("cannot run cargo bench: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the benchmarks {} of {} failed", suite.name, suite.of)) }
}

/// What is below the folder: criterion leaves `new/estimates.json` and `new/benchmark.json` for each benchmark.
fn collect(folder: &Path, measured: &mut Vec<Measured>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        if path.file_name().is_some_and(|name| name == "new") {
            let read = |name: &str| -> Result<Value, String> {
                let file = path.join(name);
                let text = fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
                serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))
            };
            measured.extend(one(&read("benchmark.json")?, &read("estimates.json")?));
        } else {
            collect(&path, measured)?;
        }
    }
    Ok(())
}

fn one(benchmark: &Value, estimates: &Value) -> Option<Measured> {
    let median = &estimates["median"];
    let bounds = &median["confidence_interval"];
    let text = |field: &str| benchmark[field].as_str().unwrap_or_default().to_string();
    Some(Measured {
        group: benchmark["group_id"].as_str()?.to_string(),
        name: text("function_id"),
        size: text("value_str"),
        median: median["point_estimate"].as_f64()?,
        low: bounds["lower_bound"].as_f64()?,
        high: bounds["upper_bound"].as_f64()?,
        bytes: benchmark["throughput"]["Bytes"].as_f64(),
    })
}

/// A section for each file of benchmarks.
fn page(sections: Vec<(Suite, Vec<Measured>)>) -> String {
    let mut text = String::from(
        "# Benchmarks\n\nBy `cargo xtask bench-report`: wall times of one iteration, the median of all samples with its 95 % \
         confidence interval (of few samples with `--quick`). MB are 10^6 bytes.\n",
    );
    for (Suite { of, name, about }, mut rows) in sections {
        text += &format!("\n## {of}: {name}\n\n{about}\n\n");
        if rows.is_empty() {
            text += "Not measured.\n";
            continue;
        }
        rows.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)).then_with(|| by_size(&a.size, &b.size)));
        let several = rows.iter().any(|row| row.group != rows[0].group);
        let rates = rows.iter().any(|row| row.bytes.is_some());
        let [head, line] = if rates { [" throughput |", "--:|"] } else { ["", ""] };
        text += &format!("| benchmark | size | median | from | to |{head}\n|---|--:|--:|--:|--:|{line}\n");
        for row in &rows {
            let name = if several { format!("{}: {}", row.group, row.name) } else { row.name.clone() };
            let [median, low, high] = [row.median, row.low, row.high].map(time);
            text += &format!("| {name} | {} | {median} | {low} | {high} |", row.size);
            if rates {
                text += &row.bytes.map_or(" |".into(), |bytes| format!(" {:.1} MB/s |", bytes * 1e3 / row.median));
            }
            text.push('\n');
        }
    }
    text
}

/// Numbers by their value, in front of everything else.
fn by_size(one: &str, other: &str) -> Ordering {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        (a, b) => b.is_ok().cmp(&a.is_ok()).then_with(|| one.cmp(other)),
    }
}

/// Nanoseconds with three significant digits.
fn time(nanoseconds: f64) -> String {
    let mut value = nanoseconds;
    for unit in ["ns", "µs", "ms"] {
        // What would be rounded to 1000 is 1.00 of the next unit.
        if value < 999.5 {
            return format!("{} {unit}", three_digits(value));
        }
        value /= 1e3;
    }
    format!("{} s", three_digits(value))
}

fn three_digits(value: f64) -> String {
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn measured(name: &str, size: &str, median: f64) -> Measured {
        let estimates = json!({ "median": { "point_estimate": median, "confidence_interval": { "lower_bound": median - 1.0, "upper_bound": median + 1.0 } } });
        one(&json!({ "group_id": "terms", "function_id": name, "value_str": size }), &estimates).unwrap()
    }

    #[test]
    fn the_page_has_a_section_for_each_file() {
        let suite =
            |of: &str| Suite { of: of.into(), name: "terms".into(), about: about("// x\n//! How fast\n//! it is.\n") };
        let rows = vec![
            Measured { bytes: Some(2000.0), ..measured("build", "100", 25_400.0) },
            measured("build", "20", 1e6),
            measured("again", "", 3.0),
        ];
        let page = page(vec![(suite("smt"), rows), (suite("xyz"), Vec::new())]);
        let table = "## smt: terms\n\nHow fast\nit is.\n\n| benchmark | size | median | from | to | throughput |\n|---|--:|--:|--:|--:|--:|\n\
            | again |  | 3.00 ns | 2.00 ns | 4.00 ns | |\n\
            | build | 20 | 1.00 ms | 1.00 ms | 1.00 ms | |\n\
            | build | 100 | 25.4 µs | 25.4 µs | 25.4 µs | 78.7 MB/s |\n";
        assert!(page.contains(table), "{page}");
        assert!(page.contains("## xyz: terms\n\nHow fast\nit is.\n\nNot measured.\n"), "{page}");
        assert_eq!(one(&json!({}), &json!({})), None);
    }

    #[test]
    fn times_have_three_digits() {
        let times = [0.25, 9.994, 9.996, 99.96, 999.4, 999.6, 1.5e6, 2e9, 7.2e12];
        let expected = ["0.25 ns", "9.99 ns", "10.0 ns", "100 ns", "999 ns", "1.00 µs", "1.50 ms", "2.00 s", "7200 s"];
        assert_eq!(times.map(time), expected);
    }

    #[test]
    fn only_what_exists_is_measured() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(write(root, &["--quack"]).unwrap_err().contains("no option"));
        assert!(write(root, &["xyz"]).unwrap_err().contains("no crate 'xyz' has benchmarks; these have: "));
        assert!(suites(root).unwrap().iter().all(|suite| !suite.about.is_empty()));
    }
}
