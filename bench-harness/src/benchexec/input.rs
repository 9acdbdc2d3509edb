// SPDX-License-Identifier: Apache-2.0
//! Benchmark definitions of BenchExec: run definitions, sets of tasks, options, properties, limits. The tool named there is
//! a description of ours, since its modules are programs. Left out: `requiredfiles` and `resultfiles` (tools see the
//! whole file system and what they write is not kept), `require`, and tasks without a definition in YAML.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use roxmltree::{Document, Node, ParsingOptions};

use crate::{
    error::Error,
    experiment::{Wishes, Work},
    limits::Limits,
    run::{self, Configuration, Job, LimitTexts},
    task::{self, Expected, Task},
    tool::{Description, Tool},
    units::{parse_bytes, parse_duration},
};

/// A benchmark definition.
#[derive(Clone, Debug)]
pub struct Benchmark {
    path: PathBuf,
    tool: String,
    time: Option<String>,
    wall: Option<String>,
    memory: Option<String>,
    cores: Option<usize>,
    statistics: Vec<String>,
    runs: Vec<RunSet>,
}

/// One column of its results: a run definition on a set of tasks.
#[derive(Clone, Debug)]
struct RunSet {
    name: String,
    /// The name of the run definition, without that of the set of tasks.
    definition: String,
    options: Vec<String>,
    tasks: TaskSet,
    properties: Vec<Property>,
}

#[derive(Clone, Debug, Default)]
struct TaskSet {
    include: Vec<String>,
    include_files: Vec<String>,
    exclude: Vec<String>,
    exclude_files: Vec<String>,
}

#[derive(Clone, Debug)]
struct Property {
    file: String,
    expected: Option<Expected>,
}

impl Benchmark {
    /// Reads a definition.
    pub fn read(path: &Path) -> Result<Benchmark, Error> {
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        let bad = |message: String| Error::Experiment { path: path.into(), message };
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let document = Document::parse_with_options(&text, options).map_err(|e| bad(e.to_string()))?;
        let root = document.root_element();
        if root.tag_name().name() != "benchmark" {
            return Err(bad("is not a benchmark definition: there is no element <benchmark>".into()));
        }
        let attribute = |name: &str| root.attribute(name).map(str::to_string);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let benchmark = Benchmark {
            path: path.into(),
            tool: attribute("tool").ok_or_else(|| bad("names no tool".into()))?,
            // The hard limit is what a run may really use.
            time: attribute("hardtimelimit").or(attribute("timelimit")),
            wall: attribute("walltimelimit"),
            memory: attribute("memlimit").map(|text| with_unit(&text)),
            cores: attribute("cpuCores")
                .map(|text| text.parse().map_err(|_| bad("cpuCores is not a number".into())))
                .transpose()?,
            statistics: elements(root, "columns").flat_map(|columns| texts(columns, "column")).collect(),
            runs: run_sets(root, &name),
        };
        if benchmark.runs.is_empty() {
            return Err(bad("has no run definition or no tasks".into()));
        }
        Ok(benchmark)
    }

    /// The runs to do. `described` are tools beside `cpa-verify`.
    pub fn work(&self, described: &BTreeMap<String, Description>, wishes: &Wishes) -> Result<Work, Error> {
        let mut work = Work { cores: self.cores, ..Work::default() };
        // A module may be named with its package.
        let short = self.tool.rsplit('.').next().unwrap_or(&self.tool).replace('_', "-");
        let description = match described.get(&self.tool).or(described.get(&short)) {
            Some(description) => description.clone(),
            None if ["cpa-verify", "cpachecker"].contains(&short.as_str()) => Description::cpa_verify(),
            None => {
                return Err(Error::Usage(format!(
                    "the tool '{}' is not described; name a file with --describe",
                    self.tool
                )));
            }
        };
        let program = wishes.programs.get(&self.tool).or(wishes.programs.get("cpa-verify"));
        let mut tool = Tool::find(&description, program.map(PathBuf::as_path), &self.statistics)?;
        run::ask_name(&mut tool)?;
        let tool = Arc::new(tool);
        for set in &self.runs {
            if !wishes.only.is_empty() && !wishes.only.contains(&set.name) {
                continue;
            }
            let configuration = Arc::new(self.configuration(set, &tool, wishes)?);
            work.columns.push(set.name.clone());
            let tasks = set.load(self.path.parent().unwrap_or(Path::new("")))?;
            let chosen = tasks
                .into_iter()
                .filter(|task| wishes.filter.as_ref().is_none_or(|text| task.name.contains(text.as_str())));
            work.jobs.extend(chosen.map(|task| Job { configuration: Arc::clone(&configuration), task }));
        }
        Ok(work)
    }

    fn configuration(&self, set: &RunSet, tool: &Arc<Tool>, wishes: &Wishes) -> Result<Configuration, Error> {
        let bad = |message: String| Error::Experiment { path: self.path.clone(), message };
        let time = wishes.time.clone().or(self.time.clone()).unwrap_or("900s".into());
        let memory = wishes.memory.clone().or(self.memory.clone()).unwrap_or("4GB".into());
        let cpu = parse_duration(&time).map_err(bad)?;
        let wall =
            wishes.wall.clone().or(self.wall.clone()).map(|text| parse_duration(&text).map_err(bad)).transpose()?;
        let limits = Limits { cpu, wall: wall.unwrap_or(cpu * 3), memory: parse_bytes(&memory).map_err(bad)? };
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let fill = |option: &String| {
            option.replace("${benchmark_name}", &name).replace("${rundefinition_name}", &set.definition)
        };
        Ok(Configuration {
            name: Some(set.name.clone()),
            parameter: None,
            tool: Arc::clone(tool),
            options: set.options.iter().map(fill).collect(),
            limits,
            // With spaces it would be two arguments for some tools.
            limit_texts: LimitTexts { time: time.replace(' ', ""), memory: memory.replace(' ', "") },
        })
    }
}

impl RunSet {
    fn load(&self, folder: &Path) -> Result<Vec<Task>, Error> {
        let mut files = Vec::new();
        for pattern in &self.tasks.include {
            files.extend(task::files(folder, pattern)?);
        }
        for pattern in &self.tasks.include_files {
            files.extend(task::files(folder, pattern)?);
        }
        let mut excluded = Vec::new();
        for pattern in &self.tasks.exclude {
            excluded.extend(task::files(folder, pattern).unwrap_or_default());
        }
        for pattern in &self.tasks.exclude_files {
            for list in task::files(folder, pattern)? {
                excluded.extend(task::definitions(&[list])?);
            }
        }
        let excluded: Vec<PathBuf> = excluded.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let mut definitions = task::definitions(&files)?;
        definitions.retain(|path| path.canonicalize().is_ok_and(|path| !excluded.contains(&path)));
        let mut tasks = Vec::new();
        for Property { file, expected } in &self.properties {
            let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let found = task::load(&definitions, &name)?.tasks;
            tasks.extend(found.into_iter().filter(|task| match (expected, &task.expected) {
                (None, _) => true,
                (Some(wanted), Some(known)) => {
                    wanted.holds == known.holds
                        && (wanted.subproperty.is_none() || wanted.subproperty == known.subproperty)
                }
                (Some(_), None) => false,
            }));
        }
        Ok(tasks)
    }
}

/// A number without unit means megabytes.
fn with_unit(text: &str) -> String {
    if text.trim().chars().all(|c| c.is_ascii_digit()) { format!("{}MB", text.trim()) } else { text.to_string() }
}

fn elements<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn texts<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = String> {
    elements(node, name).filter_map(|child| Some(child.text()?.trim().to_string())).filter(|text| !text.is_empty())
}

fn options(node: Node) -> Vec<String> {
    let mut options = Vec::new();
    for option in elements(node, "option") {
        options.extend(option.attribute("name").map(str::to_string));
        options.extend(option.text().map(|text| text.trim().to_string()).filter(|text| !text.is_empty()));
    }
    options
}

fn properties(node: Node) -> Vec<Property> {
    let expected = |text: &str| {
        let (holds, rest) = text.split_once('(').map_or((text, None), |(holds, rest)| (holds, Some(rest)));
        Expected { holds: holds == "true", subproperty: rest.map(|rest| rest.trim_end_matches(')').to_string()) }
    };
    elements(node, "propertyfile")
        .filter_map(|property| {
            let file = property.text()?.trim().to_string();
            Some(Property { file, expected: property.attribute("expectedverdict").map(expected) })
        })
        .collect()
}

fn run_sets(root: Node, benchmark: &str) -> Vec<RunSet> {
    let own_tasks: Vec<Node> = elements(root, "tasks").collect();
    let mut sets = Vec::new();
    for (index, definition) in elements(root, "rundefinition").enumerate() {
        let plain = definition.attribute("name").map_or_else(|| format!("{benchmark} {}", index + 1), str::to_string);
        let tasks: Vec<Node> = own_tasks.iter().copied().chain(elements(definition, "tasks")).collect();
        for task in &tasks {
            let set = |name: &'static str| texts(*task, name).collect();
            let name = match task.attribute("name") {
                Some(part) if tasks.len() > 1 => format!("{plain}.{part}"),
                _ => plain.clone(),
            };
            // The innermost ones count.
            let properties = [*task, definition, root].into_iter().map(properties).find(|found| !found.is_empty());
            sets.push(RunSet {
                name,
                definition: plain.clone(),
                options: [root, definition, *task].into_iter().flat_map(options).collect(),
                tasks: TaskSet {
                    include: set("include"),
                    include_files: set("includesfile"),
                    exclude: set("exclude"),
                    exclude_files: set("excludesfile"),
                },
                properties: properties.unwrap_or_default(),
            });
        }
    }
    sets
}
