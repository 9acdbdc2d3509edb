// SPDX-License-Identifier: Apache-2.0
//! The command `run`: from its arguments to the result file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;

use crate::{
    args::{exit_code, note, print},
    benchexec::Benchmark,
    cgroup::Cgroups,
    error::Error,
    experiment::{self, Experiment, Wishes, Work},
    limits::Limits,
    matrix::{Matrix, Metric, Source},
    result::{Existing, Record, Writer},
    run::{self, Batch, Configuration, Job, LimitTexts, Plan},
    setup, summary, table, task,
    tool::{Description, Tool},
    units::{parse_bytes, parse_duration},
};

/// Run tools on tasks; results go to a file, one JSON object a line as each run ends, a summary to the screen.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Task definitions (.yml), lists of them (.set), or one experiment (.toml) or benchmark definition of BenchExec (.xml)
    tasks: Vec<PathBuf>,
    /// A list of tasks; may be given several times
    #[arg(long, value_name = "FILE")]
    set: Vec<PathBuf>,
    /// The verifier [default: cpa-verify beside this program or in PATH]; NAME=PROGRAM for a tool of an experiment
    #[arg(long, value_name = "PROGRAM")]
    tool: Vec<String>,
    /// Which property of the tasks to check
    #[arg(long, value_name = "NAME", default_value = "unreach-call")]
    property: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// A file that describes the tool of a benchmark definition: [tools.NAME] as in an experiment
    #[arg(long, value_name = "FILE")]
    describe: Option<PathBuf>,
    /// Only the first N runs
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Options for the tool
    #[arg(last = true, value_name = "TOOL OPTION")]
    options: Vec<String>,
}

/// What all commands that run tools have in common.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// CPU time for a run, all processes of the tool together [default: 20s, or what the experiment says]
    #[arg(long, value_name = "TIME", value_parser = checked(parse_duration))]
    timelimit: Option<String>,
    /// Wall time for a run [default: three times the CPU time]
    #[arg(long, value_name = "TIME", value_parser = checked(parse_duration))]
    walllimit: Option<String>,
    /// Resident memory for a run, all processes of the tool together [default: 4GB, or what the experiment says]
    #[arg(long, value_name = "SIZE", value_parser = checked(parse_bytes))]
    memlimit: Option<String>,
    /// How many runs at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: u16,
    /// Bind each run to so many processor cores of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) cores: Option<u16>,
    /// Check the evidence for each verdict by a second run of the tool: that its witness is accepted, and that its
    /// counterexample was executed
    #[arg(long)]
    pub(crate) validate: bool,
    /// Measure by polling even where control groups may be used
    #[arg(long)]
    polling: bool,
    /// The result file [default: results.jsonl, or the experiment's name with this ending]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Add the runs that the result file lacks
    #[arg(long, conflicts_with = "overwrite")]
    pub(crate) resume: bool,
    /// Replace the result file if there is one
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Keep the output of each run as FOLDER/CATEGORY/NAME.PROPERTY.log
    #[arg(long, value_name = "FOLDER")]
    pub(crate) log_dir: Option<PathBuf>,
    /// Only tasks whose CATEGORY/NAME contains the text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Only the i-th of n parts of the runs
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// The folder of the tasks that an experiment names as {tasks} [default: the environment variable CPA_TASKS]
    #[arg(long = "tasks", value_name = "FOLDER")]
    task_folder: Option<PathBuf>,
    /// Experiments: a sample of the tasks and small limits
    #[arg(long)]
    pub(crate) quick: bool,
    /// Experiments: at most so many tasks, evenly spread
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Experiments: only these configurations
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
}

/// A part of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    number: usize,
    of: usize,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    match parts {
        Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
        _ => Err("expected I/N with 1 <= I <= N, such as 2/10".into()),
    }
}

/// The text, if it can be read.
pub(crate) fn checked<T>(
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static
where
    T: 'static,
{
    move |text| parse(text).map(|_| text.to_string())
}

/// Does what the arguments say and returns the exit code.
pub(crate) fn run(args: RunArgs) -> Result<u8, Error> {
    let (work, experiment) = args.any_work()?;
    for (column, reason) in &work.unavailable {
        note(&format!("not run: {column}: {reason}"));
    }
    let (records, code) = args.common.run(work, experiment.unwrap_or(Path::new("results")))?;
    if experiment.is_none() {
        print(&summary::report(&records))?;
        return Ok(code);
    }
    let source = Source { name: String::new(), folder: PathBuf::new(), records, cut_off: false };
    let grid = table::table(&Matrix::new(&[source]), table::Style::Thesis, table::Rows::All, &Metric::Cpu);
    print(&grid.render(crate::grid::Format::Text))?;
    Ok(code)
}

impl RunArgs {
    /// The runs, and the file of the experiment if there is one.
    pub(crate) fn any_work(&self) -> Result<(Work, Option<&Path>), Error> {
        let [path] = &self.tasks[..] else { return Ok((self.work()?, None)) };
        let Some(ending @ ("toml" | "xml")) = path.extension().and_then(|ending| ending.to_str()) else {
            return Ok((self.work()?, None));
        };
        if !self.options.is_empty() || !self.set.is_empty() {
            return Err(Error::Usage("options of tools and tasks stand in the experiment".into()));
        }
        let wishes = self.common.wishes(&self.tool)?;
        let mut work = if ending == "toml" {
            Experiment::read(path)?.work(&wishes)?
        } else {
            let described = self.describe.as_deref().map(experiment::read_tools).transpose()?;
            Benchmark::read(path)?.work(&described.unwrap_or_default(), &wishes)?
        };
        work.jobs.truncate(self.limit.unwrap_or(usize::MAX));
        Ok((work, Some(path)))
    }

    /// The runs, if there is no experiment.
    fn work(&self) -> Result<Work, Error> {
        let files: Vec<PathBuf> = self.set.iter().chain(&self.tasks).cloned().collect();
        if files.is_empty() {
            return Err(Error::Usage("no tasks; name task definitions (.yml) or lists of them (.set)".into()));
        }
        let loaded = task::load(&files, &self.property)?;
        if loaded.without_property > 0 {
            note(&format!("{} tasks without the property {} are left out", loaded.without_property, self.property));
        }
        let mut tasks = loaded.tasks;
        tasks.retain(|task| self.common.filter.as_ref().is_none_or(|text| task.name.contains(text.as_str())));
        tasks.truncate(self.limit.unwrap_or(usize::MAX));
        if tasks.is_empty() {
            return Err(Error::Usage("no task is left to run".into()));
        }
        let program = self.tool.last().map(PathBuf::from);
        let mut tool = Tool::find(&Description::cpa_verify(), program.as_deref(), &[])?;
        run::ask_name(&mut tool)?;
        let bad = |message: String| Error::Usage(message);
        let time = self.common.timelimit.clone().unwrap_or("20s".into());
        let memory = self.common.memlimit.clone().unwrap_or("4GB".into());
        let cpu: Duration = parse_duration(&time).map_err(bad)?;
        let wall = self.common.walllimit.as_ref().map(|text| parse_duration(text).map_err(bad)).transpose()?;
        let configuration = Arc::new(Configuration {
            name: None,
            parameter: None,
            tool: Arc::new(tool),
            options: self.options.clone(),
            limits: Limits { cpu, wall: wall.unwrap_or(cpu * 3), memory: parse_bytes(&memory).map_err(bad)? },
            limit_texts: LimitTexts { time, memory },
        });
        let jobs = tasks.into_iter().map(|task| Job { configuration: Arc::clone(&configuration), task });
        Ok(Work { jobs: jobs.collect(), ..Work::default() })
    }
}

impl Common {
    /// What the command line says about an experiment; `tools` are of the form NAME=PROGRAM, a program alone is
    /// `cpa-verify`.
    pub(crate) fn wishes(&self, tools: &[String]) -> Result<Wishes, Error> {
        let programs: BTreeMap<String, PathBuf> = tools
            .iter()
            .map(|tool| tool.split_once('=').unwrap_or(("cpa-verify", tool)))
            .map(|(name, program)| (name.to_string(), PathBuf::from(program)))
            .collect();
        Ok(Wishes {
            tasks: self.task_folder.clone().or_else(|| std::env::var_os("CPA_TASKS").map(PathBuf::from)),
            programs,
            quick: self.quick,
            sample: self.sample,
            time: self.timelimit.clone(),
            wall: self.walllimit.clone(),
            memory: self.memlimit.clone(),
            filter: self.filter.clone(),
            only: self.only.clone(),
        })
    }

    /// Where the results go.
    pub(crate) fn output(&self, name: &Path) -> PathBuf {
        let default = || PathBuf::from(name.file_stem().unwrap_or_default()).with_extension("jsonl");
        self.output.clone().unwrap_or_else(default)
    }

    /// Runs what is left to do and returns all records of the result file with the exit code. `name` is the path that the
    /// results are named after.
    pub(crate) fn run(&self, work: Work, name: &Path) -> Result<(Vec<Record>, u8), Error> {
        let output = self.output(name);
        let mut jobs = work.jobs;
        if let Some(Shard { number, of }) = self.shard {
            let mut index = 0;
            jobs.retain(|_| {
                index += 1;
                (index - 1) % of == number - 1
            });
        }
        if let Some(job) = jobs.iter().find(|job| self.validate && job.configuration.tool.validation.is_none()) {
            let name = &job.configuration.tool.name;
            return Err(Error::Usage(format!("--validate: the description of {name} does not say how")));
        }
        let existing = match (self.resume, self.overwrite) {
            (true, _) => Existing::Resume,
            (false, true) => Existing::Overwrite,
            (false, false) => Existing::Keep,
        };
        let plan = self.plan(work.cores, &output);
        let (mut writer, earlier) = Writer::open(&output, existing)?;
        let all = jobs.len();
        setup::write(&output, &jobs, &plan)?;
        let jobs = run::remaining(jobs, &earlier, &output)?;
        if jobs.len() < all {
            note(&format!("{} of {all} tasks are done already", all - jobs.len()));
        }
        let ran = run::run(&plan, &jobs, &mut writer);
        writer.finish()?;
        let Batch { records, interrupted } = ran?;
        let finished = records.len();
        let records: Vec<Record> = earlier.into_iter().chain(records).collect();
        let mut code = exit_code(&records);
        if interrupted {
            let left = jobs.len() - finished;
            note(&format!(
                "interrupted: {left} tasks are left; the results so far are in {}, --resume adds the others",
                output.display()
            ));
            code = 130;
        }
        Ok((records, code))
    }

    fn plan(&self, cores: Option<usize>, output: &Path) -> Plan {
        let workers = usize::from(self.jobs);
        let wanted = self.cores.map(usize::from).or(cores);
        let cores = wanted.unwrap_or(1);
        let pin = wanted.is_some() && run::can_pin(workers, cores);
        if wanted.is_some() && !pin {
            note(&format!(
                "{workers} runs at once with {cores} cores each are more than there are; runs are not bound"
            ));
        }
        let cgroups = if self.polling { Cgroups::none() } else { Cgroups::find() };
        let results = output.parent().unwrap_or(Path::new("")).to_path_buf();
        Plan { workers, cores, pin, logs: self.log_dir.clone(), results, cgroups, validate: self.validate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards() {
        assert_eq!(shard("2/10"), Ok(Shard { number: 2, of: 10 }));
        for bad in ["", "2", "0/3", "4/3", "a/b"] {
            assert!(shard(bad).is_err(), "{bad}");
        }
    }
}
