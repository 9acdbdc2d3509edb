// SPDX-License-Identifier: Apache-2.0
//! Experiments: a TOML file that names tasks, limits, tools, and configurations with the values of their parameters.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;

use crate::{
    claims::Claim,
    error::Error,
    limits::Limits,
    matrix::Only,
    published::Published,
    result::Parameter,
    run::{self, Configuration, Job, LimitTexts},
    task::{self, Task},
    tool::{Description, Tool},
    units::{parse_bytes, parse_duration},
};

/// The folder of the tasks in a path of an experiment.
const TASKS: &str = "{tasks}";

/// An experiment as it stands in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it is.
    pub title: String,
    /// Where it was published.
    #[serde(default)]
    pub source: String,
    /// What a reader should know about it: what differs from the publication.
    #[serde(default)]
    pub notes: String,
    /// `.set` files, task definitions and patterns; relative to the file, or to the folder of tasks if they begin with
    /// `{tasks}/`.
    #[serde(default)]
    tasks: Vec<String>,
    /// The name of the experiment whose results this one looks at; it has no runs of its own then.
    #[serde(default)]
    results: Option<String>,
    /// Only tasks whose CATEGORY/NAME contains one of the texts; all without any.
    #[serde(default)]
    select: Vec<String>,
    /// The property to check.
    #[serde(default = "unreach_call")]
    property: String,
    /// Labels of the numbers to keep, which the tool prints as `LABEL: NUMBER`.
    #[serde(default)]
    pub statistics: Vec<String>,
    limits: Option<LimitTable>,
    #[serde(default)]
    quick: Quick,
    /// Tools beside `cpa-verify`.
    #[serde(default)]
    tools: BTreeMap<String, Description>,
    /// The configurations.
    #[serde(default)]
    run: Vec<Run>,
    /// Numbers to compare with.
    #[serde(default)]
    pub published: Vec<Published>,
    /// What to draw.
    #[serde(default, rename = "plot")]
    pub plots: Vec<PlotWish>,
    /// What should hold of the results.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    /// The folder of the file.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The name of the file without ending, or that of the experiment whose results are looked at.
    #[serde(skip)]
    pub results_name: String,
}

/// A plot of an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlotWish {
    /// What stands above; the file is named after it.
    pub title: String,
    /// Which kind.
    pub kind: PlotKind,
    /// The configurations; all without any. For a parameter, the one whose parameter it is.
    #[serde(default)]
    pub columns: Vec<String>,
    /// What is drawn: `cpu`, `wall`, `memory`, or the label of a statistic.
    #[serde(default = "cpu")]
    pub metric: String,
    /// Which correct results count.
    #[serde(default)]
    pub only: Only,
    /// Only tasks whose CATEGORY/NAME contains one of the texts.
    #[serde(default)]
    pub select: Vec<String>,
    /// Only tasks on which this statistic is at least so large for some configuration.
    #[serde(default)]
    pub at_least: BTreeMap<String, f64>,
    /// Only tasks on which this statistic is at most so large for all configurations.
    #[serde(default)]
    pub at_most: BTreeMap<String, f64>,
}

/// Kinds of plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlotKind {
    /// How many results are found in which time.
    Quantile,
    /// Two configurations against each other.
    Scatter,
    /// Over the parameter of a configuration.
    Parameter,
}

fn cpu() -> String {
    "cpu".into()
}

fn unreach_call() -> String {
    "unreach-call".into()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitTable {
    time: String,
    wall: Option<String>,
    memory: String,
    cores: Option<usize>,
}

/// What is different in a quick try.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quick {
    /// Only tasks whose CATEGORY/NAME contains one of the texts.
    #[serde(default)]
    select: Vec<String>,
    /// At most so many tasks, evenly spread.
    sample: Option<usize>,
    /// At most so many values of a parameter, evenly spread.
    values: Option<usize>,
    time: Option<String>,
    memory: Option<String>,
}

/// A configuration, or one for each value of a parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    name: String,
    #[serde(default = "cpa_verify")]
    tool: String,
    /// `{NAME}` stands for the value of the parameter.
    #[serde(default)]
    options: Vec<String>,
    /// The parameter and its values.
    #[serde(default)]
    sweep: BTreeMap<String, Vec<f64>>,
    /// Only tasks whose CATEGORY/NAME contains one of the texts.
    #[serde(default)]
    select: Vec<String>,
    time: Option<String>,
}

fn cpa_verify() -> String {
    "cpa-verify".into()
}

/// What the command line says about an experiment.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The folder of tasks.
    pub tasks: Option<PathBuf>,
    /// Programs instead of those that the descriptions of tools name.
    pub programs: BTreeMap<String, PathBuf>,
    /// A sample of the tasks and small limits.
    pub quick: bool,
    /// At most so many tasks.
    pub sample: Option<usize>,
    /// Limits instead of those of the file, as written.
    pub time: Option<String>,
    /// Likewise.
    pub wall: Option<String>,
    /// Likewise.
    pub memory: Option<String>,
    /// Only tasks whose CATEGORY/NAME contains the text.
    pub filter: Option<String>,
    /// Only configurations with these names.
    pub only: Vec<String>,
}

/// What is to be done for an experiment.
#[derive(Debug, Default)]
pub struct Work {
    /// The runs, configuration by configuration.
    pub jobs: Vec<Job>,
    /// The names of all configurations, whether they can run or not.
    pub columns: Vec<String>,
    /// Configurations that cannot run here, and why.
    pub unavailable: Vec<(String, String)>,
    /// How many processor cores the experiment gives each run.
    pub cores: Option<usize>,
}

/// A file of `[tools.NAME]` alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    tools: BTreeMap<String, Description>,
}

/// Reads a file that describes tools.
pub fn read_tools(path: &Path) -> Result<BTreeMap<String, Description>, Error> {
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    let file: ToolFile =
        toml::from_str(&text).map_err(|e| Error::Experiment { path: path.into(), message: e.to_string() })?;
    Ok(file.tools)
}

impl Experiment {
    /// Reads a file, and the one whose results it looks at.
    pub fn read(path: &Path) -> Result<Experiment, Error> {
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        let bad = |message: String| Error::Experiment { path: path.into(), message };
        let mut experiment: Experiment = toml::from_str(&text).map_err(|e| bad(e.to_string()))?;
        experiment.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        experiment.results_name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(name) = experiment.results.take() {
            if !experiment.run.is_empty() || !experiment.tasks.is_empty() {
                return Err(bad("has runs or tasks of its own beside the results of another".into()));
            }
            let base = Experiment::read(&experiment.folder.join(&name).with_added_extension("toml"))?;
            let Experiment { tasks, select, property, statistics, limits, quick, tools, run, results_name, .. } = base;
            experiment = Experiment {
                tasks,
                select,
                property,
                statistics,
                limits,
                quick,
                tools,
                run,
                results_name,
                ..experiment
            };
        }
        if experiment.limits.is_none() || experiment.run.is_empty() {
            return Err(bad("has no [limits] or no [[run]]".into()));
        }
        for run in &experiment.run {
            if run.sweep.len() > 1 {
                return Err(bad(format!("the configuration '{}' has more than one parameter", run.name)));
            }
            if run.tool != "cpa-verify" && !experiment.tools.contains_key(&run.tool) {
                return Err(bad(format!("the tool '{}' is not described; add [tools.{}]", run.tool, run.tool)));
            }
        }
        if let Some(message) = experiment.claims.iter().find_map(Claim::mistake) {
            return Err(bad(message));
        }
        Ok(experiment)
    }

    /// The names of all configurations, with the values of their parameters.
    pub fn columns(&self) -> Vec<String> {
        let values = |run| self.values(run, &Wishes::default());
        let name = |run: &Run, value: &Option<Parameter>| crate::result::column(Some(&run.name), value.as_ref());
        self.run
            .iter()
            .flat_map(|run| values(run).iter().filter_map(|value| name(run, value)).collect::<Vec<_>>())
            .collect()
    }

    /// The runs to do. Tools are looked for, and tried out on a program that does nothing.
    pub fn work(&self, wishes: &Wishes) -> Result<Work, Error> {
        let tasks = self.load_tasks(wishes)?;
        let mut work = Work { cores: self.limits()?.cores, ..Work::default() };
        let mut tools: BTreeMap<&str, Result<Arc<Tool>, String>> = BTreeMap::new();
        for run in &self.run {
            if !wishes.only.is_empty() && !wishes.only.contains(&run.name) {
                continue;
            }
            let tool = tools.entry(&run.tool).or_insert_with(|| self.find_tool(&run.tool, wishes)).clone();
            let mut refused: Option<String> = None;
            for (index, parameter) in self.values(run, wishes).into_iter().enumerate() {
                let column = crate::result::column(Some(&run.name), parameter.as_ref()).unwrap_or_default();
                work.columns.push(column.clone());
                let configuration = match (&tool, &refused) {
                    (Err(reason), _) | (_, Some(reason)) => {
                        work.unavailable.push((column, reason.clone()));
                        continue;
                    }
                    (Ok(tool), None) => Arc::new(self.configuration(run, parameter, tool, wishes)?),
                };
                // Different values of a parameter are not refused for different reasons.
                if index == 0 {
                    refused = run::refusal(&configuration)?;
                    if let Some(reason) = &refused {
                        work.unavailable.push((column, reason.clone()));
                        continue;
                    }
                }
                let chosen = tasks.iter().filter(|task| selected(task, &run.select));
                work.jobs
                    .extend(chosen.map(|task| Job { configuration: Arc::clone(&configuration), task: task.clone() }));
            }
        }
        Ok(work)
    }

    fn limits(&self) -> Result<&LimitTable, Error> {
        self.limits.as_ref().ok_or_else(|| Error::Usage("the experiment has no limits".into()))
    }

    fn load_tasks(&self, wishes: &Wishes) -> Result<Vec<Task>, Error> {
        let mut files = Vec::new();
        for pattern in &self.tasks {
            let (folder, pattern) = match pattern.strip_prefix(TASKS) {
                None => (self.folder.clone(), pattern.as_str()),
                Some(rest) => {
                    let folder = wishes.tasks.clone().ok_or_else(|| {
                        Error::Usage("the experiment needs a collection of tasks; name its folder with --tasks".into())
                    })?;
                    (folder, rest.trim_start_matches('/'))
                }
            };
            files.extend(task::files(&folder, pattern)?);
        }
        let mut tasks = task::load(&files, &self.property)?.tasks;
        tasks.retain(|task| {
            selected(task, &self.select) && wishes.filter.as_ref().is_none_or(|text| task.name.contains(text.as_str()))
        });
        if wishes.quick {
            tasks.retain(|task| selected(task, &self.quick.select));
        }
        let sample = wishes.sample.or(self.quick.sample.filter(|_| wishes.quick));
        Ok(spread(tasks, sample))
    }

    fn find_tool(&self, name: &str, wishes: &Wishes) -> Result<Arc<Tool>, String> {
        let description = self.tools.get(name).cloned().unwrap_or_else(Description::cpa_verify);
        let program = wishes.programs.get(name).map(PathBuf::as_path);
        let mut tool = Tool::find(&description, program, &self.statistics).map_err(|e| e.to_string())?;
        run::ask_name(&mut tool).map_err(|e| e.to_string())?;
        Ok(Arc::new(tool))
    }

    fn values(&self, run: &Run, wishes: &Wishes) -> Vec<Option<Parameter>> {
        let Some((name, values)) = run.sweep.first_key_value() else { return vec![None] };
        let values = spread(values.clone(), self.quick.values.filter(|_| wishes.quick));
        values.into_iter().map(|value| Some(Parameter { name: name.clone(), value })).collect()
    }

    fn configuration(
        &self,
        run: &Run,
        parameter: Option<Parameter>,
        tool: &Arc<Tool>,
        wishes: &Wishes,
    ) -> Result<Configuration, Error> {
        let fill = |option: &String| match &parameter {
            None => option.clone(),
            Some(Parameter { name, value }) => option.replace(&format!("{{{name}}}"), &value.to_string()),
        };
        let options: Vec<String> = run.options.iter().map(fill).collect();
        let table = self.limits()?;
        let quick = |text: &Option<String>| text.clone().filter(|_| wishes.quick);
        let time = wishes.time.clone().or(quick(&self.quick.time)).or(run.time.clone()).unwrap_or(table.time.clone());
        let memory = wishes.memory.clone().or(quick(&self.quick.memory)).unwrap_or(table.memory.clone());
        let wall = wishes.wall.clone().or(table.wall.clone().filter(|_| !wishes.quick));
        let bad = |message: String| Error::Usage(format!("limits of '{}': {message}", run.name));
        let cpu: Duration = parse_duration(&time).map_err(bad)?;
        let wall = wall.map(|wall| parse_duration(&wall).map_err(bad)).transpose()?.unwrap_or(cpu * 3);
        let limits = Limits { cpu, wall, memory: parse_bytes(&memory).map_err(bad)? };
        Ok(Configuration {
            name: Some(run.name.clone()),
            parameter,
            tool: Arc::clone(tool),
            options,
            limits,
            limit_texts: LimitTexts { time, memory },
        })
    }
}

fn selected(task: &Task, texts: &[String]) -> bool {
    texts.is_empty() || texts.iter().any(|text| task.name.contains(text.as_str()))
}

/// At most `most` of the values, evenly spread, the first and the last among them.
pub(crate) fn spread<T>(values: Vec<T>, most: Option<usize>) -> Vec<T> {
    let (all, most) = (values.len(), most.unwrap_or(usize::MAX).max(1));
    if all <= most {
        return values;
    }
    let mut chosen = (0..most).map(|n| if most == 1 { 0 } else { n * (all - 1) / (most - 1) }).peekable();
    let take = |(index, value)| if chosen.next_if_eq(&index).is_some() { Some(value) } else { None };
    values.into_iter().enumerate().filter_map(take).collect()
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn samples_are_spread() {
        let sample = |most| spread((0..10).collect(), most);
        assert_eq!(sample(None).len(), 10);
        assert_eq!(sample(Some(4)), [0, 3, 6, 9]);
        assert_eq!(sample(Some(1)), [0]);
        assert_eq!(sample(Some(20)).len(), 10);
        assert!(spread(Vec::<u8>::new(), Some(3)).is_empty());
    }
}
