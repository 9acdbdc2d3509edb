// SPDX-License-Identifier: Apache-2.0
//! Runs the benchmarks of all crates and puts what criterion measured on one page, `bench-report.md` in the target folder.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

const PAGE: &str = "bench-report.md";

/// What one benchmark needs, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    name: String,
    median: f64,
    low: f64,
    high: f64,
    /// Bytes an iteration, if it says so.
    bytes: Option<f64>,
}

/// Runs the benchmarks of the named crates, of all if there are none, and writes the page.
pub(crate) fn write(root: &Path, crates: &[&str]) -> Result<String, String> {
    let with_benches = crates_with_benches(root)?;
    let chosen: Vec<&String> =
        with_benches.iter().filter(|name| crates.is_empty() || crates.contains(&name.as_str())).collect();
    if chosen.is_empty() {
        return Err(format!("no such crate has benchmarks; these have: {}", with_benches.join(", ")));
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    for name in &chosen {
        let status = Command::new(&cargo)
            // Not `--benches`: that runs the library too, which does not know the options of criterion.
            .args(["bench", "--locked", "--package", name, "--bench", "*", "--", "--noplot"])
            .current_dir(root)
            .status()
            .map_err(|e| format!("cannot run cargo bench: {e}"))?;
        if !status.success() {
            return Err(format!("the benchmarks of {name} failed"));
        }
    }
    let mut measured = Vec::new();
    collect(&target.join("criterion"), &mut measured)?;
    let page = page(&mut measured);
    let path = target.join(PAGE);
    fs::write(&path, &page).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    Ok(format!("{page}\nbench-report: wrote {}", path.display()))
}

/// The crates that have a folder `benches`; the libraries of others have nothing to say to criterion.
fn crates_with_benches(root: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(root).map_err(|e| format!("cannot read {}: {e}", root.display()))?;
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.join("benches").is_dir());
    let mut names: Vec<String> =
        folders.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    names.sort();
    Ok(names)
}

/// What is below the folder: criterion leaves `new/estimates.json` and `new/benchmark.json` for each benchmark.
fn collect(folder: &Path, measured: &mut Vec<Measured>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    for path in paths {
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
    Some(Measured {
        name: benchmark["full_id"].as_str()?.to_string(),
        median: median["point_estimate"].as_f64()?,
        low: bounds["lower_bound"].as_f64()?,
        high: bounds["upper_bound"].as_f64()?,
        bytes: benchmark["throughput"]["Bytes"].as_f64(),
    })
}

/// A table a group.
fn page(measured: &mut [Measured]) -> String {
    measured.sort_by(|a, b| a.name.cmp(&b.name));
    let mut groups: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
    for one in measured.iter() {
        groups.entry(one.name.split('/').next().unwrap_or_default()).or_default().push(one);
    }
    let mut text =
        String::from("# Benchmarks\n\nMedians with 95 % confidence intervals, by `cargo xtask bench-report`.\n");
    for (group, rows) in groups {
        text += &format!("\n## {group}\n\n| benchmark | time | from | to | throughput |\n|---|--:|--:|--:|--:|\n");
        for row in rows {
            let name = row.name.strip_prefix(group).unwrap_or(&row.name).trim_start_matches('/');
            let rate = row.bytes.map_or(String::new(), |bytes| format!("{:.1} MB/s", bytes * 1e3 / row.median));
            let [median, low, high] = [row.median, row.low, row.high].map(time);
            text += &format!("| {name} | {median} | {low} | {high} | {rate} |\n");
        }
    }
    text
}

/// Nanoseconds with three significant digits.
fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        t if t < 1e3 => (t, "ns"),
        t if t < 1e6 => (t / 1e3, "µs"),
        t if t < 1e9 => (t / 1e6, "ms"),
        t => (t / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_has_a_table_for_each_group() {
        let estimates = |ns: f64| json!({ "median": { "point_estimate": ns, "confidence_interval": { "lower_bound": ns - 1.0, "upper_bound": ns + 1.0 } } });
        let mut measured = vec![
            one(&json!({ "full_id": "terms/build/100" }), &estimates(25_400.0)).unwrap(),
            one(&json!({ "full_id": "loading/driver/10", "throughput": { "Bytes": 2000 } }), &estimates(1e6)).unwrap(),
        ];
        let page = page(&mut measured);
        assert!(page.contains("## loading\n\n| benchmark "), "{page}");
        assert!(page.contains("| driver/10 | 1.00 ms | 1000 µs | 1.00 ms | 2.0 MB/s |\n"), "{page}");
        assert!(page.contains("| build/100 | 25.4 µs | 25.4 µs | 25.4 µs |  |\n"), "{page}");
        assert_eq!(one(&json!({}), &estimates(1.0)), None);
    }
}
