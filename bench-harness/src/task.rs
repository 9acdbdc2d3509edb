// SPDX-License-Identifier: Apache-2.0
//! Verification tasks: `.set` files and task definitions in YAML (format 2.0 of BenchExec, without the parts that
//! concern witnesses). Keys that are not known are ignored, as BenchExec does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::error::Error;

/// A program together with one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// `CATEGORY/NAME`: the last folder and the name of the definition file, the same on every machine.
    pub name: String,
    /// The folder the definition lies in.
    pub category: String,
    /// The programs, absolute.
    pub inputs: Vec<PathBuf>,
    /// The name of the property: that of its file without the ending.
    pub property: String,
    /// The property file, absolute.
    pub property_file: PathBuf,
    /// What is known about the property, if anything.
    pub expected: Option<Expected>,
    /// For which sizes of C's types, if the definition says so.
    pub data_model: Option<DataModel>,
}

/// The expected verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The property holds.
    pub holds: bool,
    /// Which of several joined properties is violated.
    pub subproperty: Option<String>,
}

impl Expected {
    /// `true`, `false` or `false(valid-deref)`.
    pub fn text(&self) -> String {
        match &self.subproperty {
            Some(name) => format!("{}({name})", self.holds),
            None => self.holds.to_string(),
        }
    }
}

/// Sizes of C's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits.
    #[serde(rename = "ILP32")]
    Ilp32,
    /// `int` has 32 bits, `long` and pointers have 64.
    #[serde(rename = "LP64")]
    Lp64,
}

impl DataModel {
    /// As task definitions write it.
    pub fn name(self) -> &'static str {
        match self {
            DataModel::Ilp32 => "ILP32",
            DataModel::Lp64 => "LP64",
        }
    }

    /// The option of the tools that selects it.
    pub fn option(self) -> &'static str {
        match self {
            DataModel::Ilp32 => "--32",
            DataModel::Lp64 => "--64",
        }
    }
}

/// Tasks in the order of the arguments, and how many definitions had no such property.
#[derive(Debug, Default)]
pub struct Tasks {
    /// The tasks, each once.
    pub tasks: Vec<Task>,
    /// Definitions without the property asked for.
    pub without_property: usize,
}

/// The files that a path or a pattern stands for, relative to the folder.
pub fn files(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    expand(folder, pattern).map_err(Error::Usage)
}

/// The task definitions that the files name, which are definitions or lists of them (`.set`).
pub fn definitions(files: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut definitions = Vec::new();
    for file in files {
        match file.extension().and_then(|e| e.to_str()) {
            Some("set") => definitions.extend(read_set(file)?),
            Some("yml" | "yaml") => definitions.push(file.clone()),
            _ => {
                let message = "expected a task definition (.yml) or a list of them (.set)";
                return Err(Error::Usage(format!("{}: {message}", file.display())));
            }
        }
    }
    Ok(definitions)
}

/// Reads `.set` files and task definitions, in this order of precedence by the ending of the name.
pub fn load(files: &[PathBuf], property: &str) -> Result<Tasks, Error> {
    let definitions = definitions(files)?;
    let mut loaded = Tasks::default();
    let mut seen = BTreeSet::new();
    let mut names: BTreeMap<String, PathBuf> = BTreeMap::new();
    for definition in definitions {
        let path = definition.canonicalize().map_err(Error::file("read", definition))?;
        if !seen.insert(path.clone()) {
            continue;
        }
        let Some(task) = read_definition(&path, property)? else {
            loaded.without_property += 1;
            continue;
        };
        // Results are told apart by the name, so it must not be ambiguous.
        if let Some(other) = names.insert(task.name.clone(), path.clone()) {
            let message = format!("has the same name '{}' as {}; run them separately", task.name, other.display());
            return Err(Error::Task { path, message });
        }
        loaded.tasks.push(task);
    }
    Ok(loaded)
}

/// One path or pattern a line, relative to the set; `#` begins a comment.
fn read_set(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut files = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let found =
            expand(folder, line).map_err(|message| Error::Set { path: path.into(), line: index + 1, message })?;
        files.extend(found);
    }
    Ok(files)
}

#[derive(Deserialize)]
struct Definition {
    format_version: String,
    input_files: OneOrMore,
    #[serde(default)]
    properties: Vec<PropertyEntry>,
    #[serde(default)]
    options: Options,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Deserialize)]
struct PropertyEntry {
    property_file: String,
    expected_verdict: Option<bool>,
    subproperty: Option<String>,
}

#[derive(Default, Deserialize)]
struct Options {
    language: Option<String>,
    data_model: Option<DataModel>,
}

/// `None` if the definition does not have the property.
fn read_definition(path: &Path, property: &str) -> Result<Option<Task>, Error> {
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    let bad = |message: String| Error::Task { path: path.into(), message };
    let definition: Definition = yaml_serde::from_str(&text).map_err(|e| bad(e.to_string()))?;
    if !["1.0", "2.0", "2.1"].contains(&definition.format_version.as_str()) {
        return Err(bad(format!("format_version '{}' is not known", definition.format_version)));
    }
    if definition.options.language.as_ref().is_some_and(|language| language != "C") {
        return Err(bad("the language is not C".into()));
    }
    let entry = definition.properties.into_iter().find(|entry| stem(Path::new(&entry.property_file)) == property);
    let Some(entry) = entry else { return Ok(None) };
    let folder = path.parent().unwrap_or(Path::new("/"));
    let patterns = match definition.input_files {
        OneOrMore::One(pattern) => vec![pattern],
        OneOrMore::More(patterns) => patterns,
    };
    let mut inputs = Vec::new();
    for pattern in patterns {
        inputs.extend(expand(folder, &pattern).map_err(bad)?);
    }
    let property_file = folder.join(&entry.property_file);
    let property_file = property_file.canonicalize().map_err(Error::file("read", property_file))?;
    let category = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let expected = entry.expected_verdict.map(|holds| Expected { holds, subproperty: entry.subproperty });
    Ok(Some(Task {
        name: format!("{category}/{}", stem(path)),
        category,
        inputs,
        property: property.into(),
        property_file,
        expected,
        data_model: definition.options.data_model,
    }))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file, or the sorted files whose paths match `*` and `?`, which never match a separator; none is an error.
fn expand(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = folder.join(pattern);
    let is_pattern = |name: &str| name.contains(['*', '?']);
    if !is_pattern(pattern) {
        return if path.is_file() { Ok(vec![path]) } else { Err(format!("no such file: {}", path.display())) };
    }
    let mut found = vec![folder.to_path_buf()];
    for component in Path::new(pattern).components() {
        let name = component.as_os_str().to_string_lossy();
        if !is_pattern(&name) {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        }
        let mut deeper = Vec::new();
        for parent in &found {
            // An empty path is the current folder.
            let readable = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            match fs::read_dir(readable) {
                Ok(entries) => deeper.extend(
                    entries
                        .flatten()
                        .map(|entry| entry.file_name())
                        .filter(|entry| matches(name.as_bytes(), entry.to_string_lossy().as_bytes()))
                        .map(|entry| parent.join(entry)),
                ),
                // Among many, some may be files.
                Err(e) if found.len() == 1 => return Err(format!("cannot read {}: {e}", parent.display())),
                Err(_) => {}
            }
        }
        found = deeper;
    }
    found.retain(|path| path.is_file());
    found.sort();
    if found.is_empty() { Err(format!("no file matches {}", path.display())) } else { Ok(found) }
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, tail)| matches(pattern, tail))
        }
        (Some((b'?', rest)), Some((_, tail))) => matches(rest, tail),
        (Some((a, rest)), Some((b, tail))) => a == b && matches(rest, tail),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name) in [("*.c", "a.c"), ("a*b*", "aXbY"), ("?.c", "x.c"), ("*", ""), ("a**b", "ab")] {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [("*.c", "a.h"), ("?.c", ".c"), ("a", "ab"), ("ab", "a")] {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }

    #[test]
    fn expected_text() {
        let text = |holds, sub: Option<&str>| Expected { holds, subproperty: sub.map(Into::into) }.text();
        assert_eq!(text(true, None), "true");
        assert_eq!(text(false, Some("valid-free")), "false(valid-free)");
    }
}
