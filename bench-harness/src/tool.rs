// SPDX-License-Identifier: Apache-2.0
//! Tools that are run: `cpa-verify`, and any other that a few lines of TOML describe: its command line and how its
//! output is read.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use regex::Regex;
use serde::Deserialize;

use crate::{
    answer::{Patterns, Verdict},
    error::Error,
    task::{DataModel, Task},
};

/// A tool as it stands in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The command line. `{options}`, `{data_model}`, `{property_options}` and `{inputs}` stand for any number of
    /// arguments; `{property_file}`, `{property}`, `{timelimit}`, `{timelimit_s}`, `{memlimit}`, `{memlimit_bytes}` and
    /// `{cores}` may stand inside an argument.
    pub command: Vec<String>,
    /// The options that ask for its version.
    #[serde(default = "version_options")]
    pub version: Vec<String>,
    /// What `{data_model}` stands for, by the names `ILP32` and `LP64`.
    #[serde(default)]
    pub data_model: BTreeMap<String, Vec<String>>,
    /// What `{property_options}` stands for, by the names of properties.
    #[serde(default)]
    pub property_options: BTreeMap<String, Vec<String>>,
    /// How verdicts are recognised; without, as those of `cpa-verify`.
    #[serde(default)]
    pub verdict: Vec<VerdictPattern>,
    /// Numbers in its output by label: the first group of the expression.
    #[serde(default)]
    pub statistics: BTreeMap<String, String>,
    /// How its evidence is checked, if it leaves some.
    #[serde(default)]
    pub validation: Option<Validation>,
}

/// The check of the evidence for a verdict by a second command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// Options with which the tool writes evidence into the folder where it is started.
    pub options: Vec<String>,
    /// The arguments of the second run of the same program, in the same folder; as in `command` of the tool, without the
    /// program. The evidence is accepted if it comes to the same verdict.
    pub arguments: Vec<String>,
}

/// A line that says what the tool found.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictPattern {
    /// A regular expression for a line of output; for `false`, its first group is the violated property, for `unknown`,
    /// the reason.
    pub pattern: String,
    /// What it means.
    pub verdict: Verdict,
}

fn version_options() -> Vec<String> {
    vec!["--version".into()]
}

/// A tool that was found.
#[derive(Debug)]
pub struct Tool {
    /// What it calls itself.
    pub name: String,
    /// The program, as a path that does not depend on the working directory.
    pub program: PathBuf,
    /// Its options for the version.
    pub version: Vec<String>,
    /// How its output is read.
    pub patterns: Patterns,
    /// How its evidence is checked.
    pub validation: Option<Validation>,
    arguments: Vec<String>,
    data_model: BTreeMap<String, Vec<String>>,
    property_options: BTreeMap<String, Vec<String>>,
}

/// What a command line is made of beside the task.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// Options of the configuration.
    pub options: &'a [String],
    /// The limit of CPU time as it was written.
    pub time: &'a str,
    /// The same in seconds, rounded up.
    pub seconds: u64,
    /// The limit of memory as it was written.
    pub memory: &'a str,
    /// The same in bytes.
    pub bytes: u64,
    /// How many processor cores a run may use.
    pub cores: usize,
}

impl Description {
    /// `cpa-verify`, and tools that have the same interface.
    pub fn cpa_verify() -> Description {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let common = "--spec {property_file} {data_model} --timelimit {timelimit} --memlimit {memlimit}";
        let model = |model: DataModel| vec![model.option().to_string()];
        Description {
            command: words(&format!("cpa-verify {common} {{options}} {{inputs}}")),
            version: version_options(),
            data_model: [("ILP32", model(DataModel::Ilp32)), ("LP64", model(DataModel::Lp64))]
                .map(|(name, options)| (name.into(), options))
                .into(),
            property_options: BTreeMap::new(),
            verdict: Vec::new(),
            statistics: BTreeMap::new(),
            validation: Some(Validation {
                options: words("--confirm --witness witness.yml"),
                arguments: words(&format!("{common} --validate-witness witness.yml {{inputs}}")),
            }),
        }
    }
}

impl Tool {
    /// Looks for the program, which `program` may replace, and checks the description. `statistics` are labels of numbers
    /// that are printed as `LABEL: NUMBER`. The name is the program's until somebody asks it.
    pub fn find(description: &Description, program: Option<&Path>, statistics: &[String]) -> Result<Tool, Error> {
        let first = description.command.first();
        let first = first.ok_or_else(|| Error::Usage("the command of a tool is empty".into()))?;
        let named = Path::new(first);
        // Beside this program is only what belongs to it.
        let beside_us = program.is_none() && named == Path::new("cpa-verify");
        let program = find_program(program.unwrap_or(named), beside_us)?;
        let expression = |text: &str| {
            Regex::new(text).map_err(|e| Error::Usage(format!("'{text}' is not a regular expression: {e}")))
        };
        let mut patterns = Patterns { labels: statistics.to_vec(), ..Patterns::default() };
        for VerdictPattern { pattern, verdict } in &description.verdict {
            patterns.verdicts.push((expression(pattern)?, *verdict));
        }
        for (label, pattern) in &description.statistics {
            patterns.statistics.push((label.clone(), expression(pattern)?));
        }
        Ok(Tool {
            name: program.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            program,
            version: description.version.clone(),
            patterns,
            validation: description.validation.clone(),
            arguments: description.command[1..].to_vec(),
            data_model: description.data_model.clone(),
            property_options: description.property_options.clone(),
        })
    }

    /// The arguments for a task.
    pub fn arguments(&self, task: &Task, with: &Circumstances) -> Vec<OsString> {
        self.filled(&self.arguments, task, with)
    }

    /// Such arguments with everything filled in that stands for something.
    pub fn filled(&self, template: &[String], task: &Task, with: &Circumstances) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut all = |texts: &[String]| arguments.extend(texts.iter().map(OsString::from));
        let none = Vec::new();
        for argument in template {
            match argument.as_str() {
                "{options}" => all(with.options),
                "{data_model}" => all(task.data_model.and_then(|m| self.data_model.get(m.name())).unwrap_or(&none)),
                "{property_options}" => all(self.property_options.get(&task.property).unwrap_or(&none)),
                "{inputs}" => arguments_of(&task.inputs, &mut all),
                "{property_file}" => arguments_of(std::slice::from_ref(&task.property_file), &mut all),
                _ => all(&[fill(argument, task, with)]),
            }
        }
        arguments
    }
}

// Paths come from text files and are text.
fn arguments_of(paths: &[PathBuf], add: &mut dyn FnMut(&[String])) {
    let texts: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    add(&texts);
}

fn fill(argument: &str, task: &Task, with: &Circumstances) -> String {
    let property_file = task.property_file.to_string_lossy();
    let values = [
        ("{property_file}", property_file.as_ref()),
        ("{property}", &task.property),
        ("{timelimit}", with.time),
        ("{timelimit_s}", &with.seconds.to_string()),
        ("{memlimit}", with.memory),
        ("{memlimit_bytes}", &with.bytes.to_string()),
        ("{cores}", &with.cores.to_string()),
    ];
    values.iter().fold(argument.to_string(), |text, (name, value)| text.replace(name, value))
}

/// The program as a path that does not depend on the working directory; a name alone is looked for in `PATH`.
fn find_program(name: &Path, beside_us: bool) -> Result<PathBuf, Error> {
    let bad = |message: &str| Error::Tool { tool: name.display().to_string(), message: message.into() };
    if name.components().count() > 1 {
        // Symbolic links stay: some programs behave according to the name they are called by.
        let tool = std::path::absolute(name).map_err(|e| bad(&e.to_string()))?;
        return if tool.is_file() { Ok(tool) } else { Err(bad("no such file")) };
    }
    let beside = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf)).filter(|_| beside_us);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(env::split_paths(&path));
    let found = folders.map(|folder| folder.join(OsStr::new(name))).find(|file| file.is_file());
    let found = found.ok_or_else(|| bad("no such program in PATH; name it with --tool"))?;
    std::path::absolute(found).map_err(|e| bad(&e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let description = r#"
            command = ["sh", "--limit={timelimit_s}", "{data_model}", "{property_options}", "{options}", "{inputs}", "--end"]
            data_model = { ILP32 = ["--32"] }
            property_options = { unreach-call = ["--error", "reach_error"] }
        "#;
        let tool = Tool::find(&toml::from_str(description).unwrap(), None, &[]).unwrap();
        let task = Task {
            name: "a/b".into(),
            category: "a".into(),
            inputs: vec!["/a/b.c".into(), "/a/c.c".into()],
            property: "unreach-call".into(),
            property_file: "/p/unreach-call.prp".into(),
            expected: None,
            data_model: Some(DataModel::Lp64),
        };
        let options = ["-k".to_string(), "{inputs}".to_string()];
        let with = Circumstances { options: &options, time: "1min", seconds: 60, memory: "1GB", bytes: 1, cores: 1 };
        let arguments = tool.arguments(&task, &with);
        let expected = ["--limit=60", "--error", "reach_error", "-k", "{inputs}", "/a/b.c", "/a/c.c", "--end"];
        assert_eq!(arguments, expected.map(OsString::from));
    }

    #[test]
    fn mistakes() {
        let find = |text: &str| Tool::find(&toml::from_str(text).unwrap(), None, &[]).unwrap_err().to_string();
        assert_eq!(find("command = []"), "the command of a tool is empty");
        assert!(find("command = ['no-such-verifier']").contains("no such program in PATH"));
        let pattern = "command = ['sh']\nverdict = [{ pattern = '(', verdict = 'true' }]";
        assert!(find(pattern).starts_with("'(' is not a regular expression"));
        assert!(toml::from_str::<Description>("command = []\ncomand = []").is_err());
    }
}
