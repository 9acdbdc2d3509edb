// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Parser, Subcommand};

use crate::{
    compare::compare,
    error::Error,
    limits::Limits,
    report::{self, PlotArgs, ScoreArgs, TableArgs},
    result::{self, Existing, Record, Status, Writer},
    run::{self, LimitTexts, Plan},
    summary, task,
    units::{parse_bytes, parse_duration},
};

/// Runs a verifier on sets of verification tasks under resource limits.
///
/// Exit codes: 0 fine; 1 bad input or input/output error; 2 a verdict is wrong, or, for `compare`, a task was lost;
/// 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "cpa-bench", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Cmd,
}

#[derive(Debug, Subcommand)]
enum Cmd {
    Run(Box<RunArgs>),
    Compare(CompareArgs),
    Show(ShowArgs),
    Table(TableArgs),
    Plot(PlotArgs),
    Score(ScoreArgs),
}

/// Run a tool on tasks; results go to a file, one JSON object a line as each run ends, a summary to the screen.
#[derive(Debug, Args)]
struct RunArgs {
    /// Task definitions (.yml) or lists of them (.set)
    tasks: Vec<PathBuf>,
    /// A list of tasks; may be given several times
    #[arg(long, value_name = "FILE")]
    set: Vec<PathBuf>,
    /// The verifier [default: cpa-verify beside this program or in PATH]
    #[arg(long, value_name = "PROGRAM")]
    tool: Option<PathBuf>,
    /// CPU time for a task, all processes of the tool together
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = written(parse_duration))]
    timelimit: Written<Duration>,
    /// Wall time for a task [default: three times the CPU time]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    walllimit: Option<Duration>,
    /// Resident memory for a task, all processes of the tool together
    #[arg(long, value_name = "SIZE", default_value = "4GB", value_parser = written(parse_bytes))]
    memlimit: Written<u64>,
    /// How many tasks to run at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// The result file
    #[arg(long, value_name = "FILE", default_value = "results.jsonl")]
    output: PathBuf,
    /// Add the tasks that the result file lacks
    #[arg(long, conflicts_with = "overwrite")]
    resume: bool,
    /// Replace the result file if there is one
    #[arg(long)]
    overwrite: bool,
    /// Keep the output of each run as FOLDER/CATEGORY/NAME.PROPERTY.log
    #[arg(long, value_name = "FOLDER")]
    log_dir: Option<PathBuf>,
    /// Which property of the tasks to check
    #[arg(long, value_name = "NAME", default_value = "unreach-call")]
    property: String,
    /// Only tasks whose CATEGORY/NAME contains the text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Only the first N tasks
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Options for the tool
    #[arg(last = true, value_name = "TOOL OPTION")]
    options: Vec<String>,
}

/// Compare two result files: wrong verdicts, lost and gained tasks, CPU time of what both solve.
#[derive(Debug, Args)]
struct CompareArgs {
    /// The earlier results
    old: PathBuf,
    /// The later results
    new: PathBuf,
    /// Fail too if the CPU time of what both solve grew by more than this factor
    #[arg(long, value_name = "FACTOR")]
    slower: Option<f64>,
}

/// Print the summary of a result file.
#[derive(Debug, Args)]
struct ShowArgs {
    /// The results
    results: PathBuf,
}

/// A value together with the text it was written as, which is passed on to the tool.
#[derive(Clone, Debug)]
struct Written<T> {
    text: String,
    value: T,
}

fn written<T: 'static>(
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<Written<T>, String> + Clone + Send + Sync + 'static {
    move |text| Ok(Written { text: text.into(), value: parse(text)? })
}

/// Does what the arguments say and returns the exit code.
pub fn execute(cli: Cli) -> Result<u8, Error> {
    match cli.command {
        Cmd::Run(args) => run(*args),
        Cmd::Compare(args) => {
            let (old, new) = (read(&args.old)?, read(&args.new)?);
            let comparison = compare(&old, &new);
            print(&comparison.report(&new))?;
            Ok(if comparison.is_bad(args.slower) { 2 } else { 0 })
        }
        Cmd::Show(args) => {
            let records = read(&args.results)?;
            print(&summary::report(&records))?;
            Ok(exit_code(&records))
        }
        Cmd::Table(args) => report::table(&args).map(|()| 0),
        Cmd::Plot(args) => report::plot(&args).map(|()| 0),
        Cmd::Score(args) => report::score(&args).map(|()| 0),
    }
}

fn run(args: RunArgs) -> Result<u8, Error> {
    let files: Vec<PathBuf> = args.set.into_iter().chain(args.tasks).collect();
    if files.is_empty() {
        return Err(Error::Usage("no tasks; name task definitions (.yml) or lists of them (.set)".into()));
    }
    let loaded = task::load(&files, &args.property)?;
    if loaded.without_property > 0 {
        note(&format!("{} tasks without the property {} are left out", loaded.without_property, args.property));
    }
    let mut tasks = loaded.tasks;
    tasks.retain(|task| args.filter.as_ref().is_none_or(|text| task.name.contains(text.as_str())));
    tasks.truncate(args.limit.unwrap_or(usize::MAX));
    if tasks.is_empty() {
        return Err(Error::Usage("no task is left to run".into()));
    }
    let tool = run::find_tool(args.tool.as_deref())?;
    let plan = Plan {
        tool_name: run::tool_name(&tool)?,
        tool,
        options: args.options,
        limits: Limits {
            cpu: args.timelimit.value,
            wall: args.walllimit.unwrap_or(args.timelimit.value * 3),
            memory: args.memlimit.value,
        },
        limit_texts: LimitTexts { time: args.timelimit.text, memory: args.memlimit.text },
        jobs: args.jobs.into(),
        logs: args.log_dir,
    };
    let existing = match (args.resume, args.overwrite) {
        (true, _) => Existing::Resume,
        (false, true) => Existing::Overwrite,
        (false, false) => Existing::Keep,
    };
    let (mut writer, earlier) = Writer::open(&args.output, existing)?;
    let all = tasks.len();
    let tasks = run::remaining(&plan, tasks, &earlier, &args.output)?;
    if tasks.len() < all {
        note(&format!("{} of {all} tasks are done already", all - tasks.len()));
    }
    let ran = run::run(&plan, &tasks, &mut writer);
    writer.finish()?;
    let batch = ran?;
    let finished = batch.records.len();
    let records: Vec<Record> = earlier.into_iter().chain(batch.records).collect();
    print(&summary::report(&records))?;
    if batch.interrupted {
        let left = tasks.len() - finished;
        note(&format!(
            "interrupted: {left} tasks are left; the results so far are in {}, --resume adds the others",
            args.output.display()
        ));
        return Ok(130);
    }
    Ok(exit_code(&records))
}

fn exit_code(records: &[Record]) -> u8 {
    if records.iter().any(|record| record.status == Status::Wrong) { 2 } else { 0 }
}

fn read(path: &Path) -> Result<Vec<Record>, Error> {
    let results = result::read(path)?;
    if results.cut_off {
        note(&format!("{}: the last line is incomplete and left out", path.display()));
    }
    Ok(results.records)
}

/// That a reader such as `head` has seen enough is not an error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::System { action: "writing to standard output", source })
        }
        _ => Ok(()),
    }
}

/// For what is not a result. Nothing can be said about a closed standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "cpa-bench: {text}");
}
