// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Parser, Subcommand};

use crate::{
    compare::compare,
    error::Error,
    launch::{self, RunArgs},
    report::{self, ExportArgs, PlotArgs, ScoreArgs, TableArgs},
    reproduce::{self, ReproduceArgs},
    result::{self, Existing, Record, Status, Writer},
    submit::{self, SubmitArgs},
    summary,
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
    Merge(MergeArgs),
    Submit(SubmitArgs),
    Export(ExportArgs),
    Reproduce(Box<ReproduceArgs>),
}

/// Put the parts of a result file together; the last of several results for a run counts.
#[derive(Debug, Args)]
struct MergeArgs {
    /// Result files
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    overwrite: bool,
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

/// Does what the arguments say and returns the exit code.
pub fn execute(cli: Cli) -> Result<u8, Error> {
    match cli.command {
        Cmd::Run(args) => launch::run(*args),
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
        Cmd::Reproduce(args) => reproduce::reproduce(*args),
        Cmd::Export(args) => report::export(&args).map(|()| 0),
        Cmd::Submit(args) => submit::submit(&args).map(|()| 0),
        Cmd::Merge(args) => merge(&args).map(|()| 0),
        Cmd::Score(args) => report::score(&args).map(|()| 0),
    }
}

fn merge(args: &MergeArgs) -> Result<(), Error> {
    let mut places = BTreeMap::new();
    let mut records: Vec<Record> = Vec::new();
    for record in args.results.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        let place = *places.entry(record.key()).or_insert(records.len());
        match records.get_mut(place) {
            Some(earlier) => *earlier = record,
            None => records.push(record),
        }
    }
    let existing = if args.overwrite { Existing::Overwrite } else { Existing::Keep };
    let (mut writer, _) = Writer::open(&args.output, existing)?;
    records.iter().try_for_each(|record| writer.append(record))?;
    writer.finish()
}

pub(crate) fn exit_code(records: &[Record]) -> u8 {
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
