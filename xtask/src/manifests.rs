// SPDX-License-Identifier: Apache-2.0
//! The crates of the workspace as `cargo metadata` describes them, and the rules for their manifests.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
    process::Command,
};

use serde_json::Value;

use crate::Finding;

/// The build script of every crate whose programs or tests are linked with Z3.
const Z3_BUILD_SCRIPT: &str = "scripts/z3-rpath.rs";
const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";

/// The workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) crates: Vec<Crate>,
}

/// A crate of the workspace.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Relative to the root.
    pub(crate) folder: String,
    /// Of every kind: for the library, for tests, for the build script.
    pub(crate) dependencies: Vec<Dependency>,
    /// Relative to the root.
    pub(crate) build_script: Option<String>,
}

/// A line of a `[dependencies]` table.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// In this repository.
    pub(crate) local: bool,
}

/// Asks cargo.
pub(crate) fn load(root: &Path) -> Result<Workspace, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--no-deps", "--locked"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let mut crates: Vec<Crate> = array(&metadata["packages"]).map(|package| read_crate(root, package)).collect();
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    if crates.is_empty() { Err("cargo metadata names no crates".into()) } else { Ok(Workspace { crates }) }
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn read_crate(root: &Path, package: &Value) -> Crate {
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let manifest = text(&package["manifest_path"]);
    let folder = Path::new(&manifest).parent().unwrap_or(root);
    let is_build_script = |target: &&Value| array(&target["kind"]).any(|kind| kind == "custom-build");
    // Cargo leaves `..` in the path.
    let build_script = array(&package["targets"]).find(is_build_script).map(|target| {
        let path = text(&target["src_path"]);
        Path::new(&path).canonicalize().map_or(path.clone(), |path| relative(&path))
    });
    let mut dependencies: Vec<Dependency> = array(&package["dependencies"])
        .map(|d| Dependency { name: text(&d["name"]), local: d["path"].is_string() })
        .collect();
    dependencies.sort_by(|a, b| a.name.cmp(&b.name));
    dependencies.dedup_by(|a, b| a.name == b.name);
    Crate { name: text(&package["name"]), folder: relative(folder), dependencies, build_script }
}

pub(crate) fn check(root: &Path, workspace: &Workspace) -> Result<Vec<Finding>, String> {
    let mut findings = z3_users(workspace);
    for member in &workspace.crates {
        let place = format!("{}/Cargo.toml", member.folder);
        let manifest = fs::read_to_string(root.join(&place)).map_err(|e| format!("cannot read {place}: {e}"))?;
        if !manifest.contains("[lints]\nworkspace = true") {
            findings.push(Finding::new(place, "the lints of the workspace are not in force: [lints] workspace = true"));
        }
    }
    let architecture =
        fs::read_to_string(root.join(ARCHITECTURE)).map_err(|e| format!("cannot read {ARCHITECTURE}: {e}"))?;
    findings.extend(reasons(workspace, &architecture));
    Ok(findings)
}

/// Crates that are linked with Z3, directly or not, need its place in their programs and tests.
fn z3_users(workspace: &Workspace) -> Vec<Finding> {
    let by_name: BTreeMap<&str, &Crate> = workspace.crates.iter().map(|c| (c.name.as_str(), c)).collect();
    let uses_smt = |start: &Crate| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![start]);
        while let Some(member) = todo.pop() {
            if seen.insert(&member.name) {
                todo.extend(member.dependencies.iter().filter_map(|d| by_name.get(d.name.as_str()).copied()));
            }
        }
        seen.iter().any(|name| *name == "smt")
    };
    let without = |c: &&Crate| uses_smt(c) && c.build_script.as_deref() != Some(Z3_BUILD_SCRIPT);
    let message = format!("its programs or tests do not find libz3 without build = \"../{Z3_BUILD_SCRIPT}\"");
    workspace
        .crates
        .iter()
        .filter(without)
        .map(|c| Finding::new(format!("{}/Cargo.toml", c.folder), &message))
        .collect()
}

/// Every foreign crate has a row in the table of the section "Dependencies", and every row is about one.
fn reasons(workspace: &Workspace, architecture: &str) -> Vec<Finding> {
    let mut explained = BTreeMap::new();
    let mut inside = false;
    for (number, line) in architecture.lines().enumerate() {
        if line.starts_with("## ") {
            inside = line == "## Dependencies";
        } else if inside && let Some(row) = line.strip_prefix("| `") {
            // A row may explain several that belong together: | `a`, `b` | why |
            let names = row.split('|').next().unwrap_or_default();
            explained.extend(names.split(',').map(|name| (name.trim().trim_matches('`').to_string(), number + 1)));
        }
    }
    let mut findings = Vec::new();
    let mut used = BTreeSet::new();
    for member in &workspace.crates {
        for dependency in member.dependencies.iter().filter(|dependency| !dependency.local) {
            used.insert(dependency.name.clone());
            if !explained.contains_key(&dependency.name) {
                let message = format!("{} has no reason under 'Dependencies' in {ARCHITECTURE}", dependency.name);
                findings.push(Finding::new(format!("{}/Cargo.toml", member.folder), message));
            }
        }
    }
    for (name, line) in explained.iter().filter(|(name, _)| !used.contains(*name)) {
        findings.push(Finding::new(format!("{ARCHITECTURE}:{line}"), format!("no crate depends on {name} any more")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, dependencies: &[(&str, bool)], build_script: Option<&str>) -> Crate {
        let dependencies =
            dependencies.iter().map(|(name, local)| Dependency { name: name.to_string(), local: *local });
        Crate {
            name: name.into(),
            folder: name.into(),
            dependencies: dependencies.collect(),
            build_script: build_script.map(Into::into),
        }
    }

    fn messages(findings: Vec<Finding>) -> Vec<String> {
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn indirect_users_of_z3() {
        let crates = vec![
            member("cfa", &[], None),
            member("smt", &[("z3", false)], Some(Z3_BUILD_SCRIPT)),
            member("cpa-predicate", &[("smt", true)], Some(Z3_BUILD_SCRIPT)),
            member("cli", &[("cpa-predicate", true)], Some("cli/build.rs")),
        ];
        assert_eq!(
            messages(z3_users(&Workspace { crates })),
            ["cli/Cargo.toml: its programs or tests do not find libz3 without build = \"../scripts/z3-rpath.rs\""]
        );
    }

    #[test]
    fn every_dependency_has_a_reason() {
        let crates = vec![member(
            "cfa",
            &[("tree-sitter", false), ("tree-sitter-c", false), ("indexmap", false), ("smt", true)],
            None,
        )];
        let page = "## Dependencies\n| crate | why |\n| `tree-sitter`, `tree-sitter-c` | C |\n| `gone` | ? |\n## Other\n| `indexmap` | no |\n";
        assert_eq!(
            messages(reasons(&Workspace { crates }, page)),
            [
                "cfa/Cargo.toml: indexmap has no reason under 'Dependencies' in docs/ARCHITECTURE.md",
                "docs/ARCHITECTURE.md:4: no crate depends on gone any more"
            ]
        );
    }
}
