// SPDX-License-Identifier: Apache-2.0
//! One verification run inside its thread: load the program, find the targets, run the analysis, say what came out.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use cfa::{MachineModel, Program, Property, UndefinedFunctions};
use cpa_core::CancelToken;
use report::verdict::VerdictLine;

use crate::args::Args;
use crate::features::features;
use crate::limits::{Limits, cpu_time, memory_used};
use crate::options::Config;
use crate::plan::Plan;
use crate::portfolio::{Answer, Job, PortfolioError, applicable};
use crate::results::Results;

/// A source file in memory.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name as given.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What is to be verified.
#[derive(Clone, Debug)]
pub struct Input {
    /// The program.
    pub sources: Vec<Source>,
    /// The property file: short name, file name and text.
    pub property: Option<(String, String, String)>,
    /// Whether the machine is LP64, not ILP32.
    pub lp64: bool,
    /// The function where the program starts.
    pub entry: String,
    /// What a call of an unknown function without body means.
    pub undefined_functions: UndefinedFunctions,
    /// Whether line markers say where the text comes from.
    pub line_markers: bool,
}

/// What a run prints on standard output.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Everything before the verdict.
    pub lines: Vec<String>,
    /// Why there is no answer.
    pub reason: Option<String>,
    /// The verdict; none if the run was not a verification.
    pub verdict: Option<VerdictLine>,
}

/// Why a run has no verdict.
#[derive(Clone, Debug)]
pub enum RunError {
    /// The program or the property cannot be read.
    Input(String),
    /// The options cannot be used.
    Configuration(String),
    /// A result cannot be written.
    Output(String),
    /// An invariant of the tool is broken.
    Panic,
}

fn load(input: &Input) -> Result<Program, RunError> {
    let sources: Vec<cfa::Source> =
        input.sources.iter().map(|s| cfa::Source { name: s.name.clone(), text: s.text.clone() }).collect();
    let machine = if input.lp64 { MachineModel::Lp64 } else { MachineModel::Ilp32 };
    let options = cfa::Options {
        machine,
        entry: input.entry.clone(),
        undefined_functions: input.undefined_functions,
        line_markers: input.line_markers,
    };
    cfa::load(&sources, &options).map_err(|error| RunError::Input(format!("Parsing failed: {error}")))
}

/// Prints the program's automaton.
pub fn dump(input: &Input, dot: bool) -> Result<Reply, RunError> {
    let program = load(input)?;
    let text = if dot { program.dot() } else { program.dump() };
    Ok(Reply { lines: vec![text.trim_end().to_string()], ..Reply::default() })
}

/// Prints what the plan would run.
pub fn explain(input: &Input, config: &Config) -> Result<Reply, RunError> {
    let plan = Plan::of(config).map_err(|error| RunError::Configuration(error.to_string()))?;
    Ok(Reply { lines: plan.explain(&features(&load(input)?)), ..Reply::default() })
}

/// Verifies the program.
pub fn verify(
    input: &Input,
    config: &Config,
    args: &Args,
    limits: Limits,
    cancel: CancelToken,
    status: Arc<Mutex<String>>,
) -> Result<Reply, RunError> {
    let plan = Plan::of(config).map_err(|error| RunError::Configuration(error.to_string()))?;
    let (name, property) = match &input.property {
        Some((name, file, text)) => {
            (name.clone(), Property::parse(text).map_err(|error| RunError::Input(format!("{file}: {error}")))?)
        }
        None => ("unreach-call".to_string(), Property::default_errors()),
    };
    let program = Arc::new(load(input)?);
    let targets = program.targets(&property);
    let setup = limits.elapsed();
    let stages = applicable(&plan, &features(&program));
    let cores = match config.cores {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        cores => cores as usize,
    };
    let evidence = args.witness.is_some();
    let job = Job { program: Arc::clone(&program), targets, limits: limits.clone(), cancel, status, cores, evidence };
    let answer = job.run(stages).map_err(|error| match error {
        PortfolioError::Configuration(message) => RunError::Configuration(message),
        PortfolioError::Panic => RunError::Panic,
    })?;
    let mut reply = Reply::default();
    if args.stats {
        reply.lines.extend(statistics(&program, &answer, plan.stages.len() > 1, setup, &limits));
    }
    if !args.quiet {
        let notes = answer.turns.iter().flat_map(|(_, turn)| &turn.notes).collect::<BTreeSet<_>>();
        reply.lines.extend(notes.into_iter().map(|note| format!("Note: {note}")));
        if answer.panicked {
            reply.lines.push("Note: some stage of the plan ended by an internal error".to_string());
        }
        reply.lines.extend(answer.outcome.assumptions().iter().map(|text| format!("Assumed: {text}")));
        reply.lines.extend(answer.stage.iter().filter(|_| plan.stages.len() > 1).map(|s| format!("Found by: {s}")));
    }
    let results = Results { program: &program, property: &property, name: &name, answer: &answer, args };
    results.add_to(&mut reply)?;
    Ok(reply)
}

fn statistics(
    program: &Program,
    answer: &Answer,
    staged: bool,
    setup: std::time::Duration,
    limits: &Limits,
) -> Vec<String> {
    let mut lines = vec![
        format!("Number of program locations: {}", program.nodes.len()),
        format!("Number of CFA edges: {}", program.edges.len()),
        format!("Number of functions: {}", program.funcs.len()),
        format!("Time for analysis setup: {:.3}s", setup.as_secs_f64()),
    ];
    for (stage, turn) in &answer.turns {
        if staged {
            lines.push(format!("Stage {stage}: {:.3}s of CPU time", turn.cpu.as_secs_f64()));
        }
        lines.extend(turn.statistics.iter().map(|(label, value)| format!("{label}: {value}")));
    }
    lines.push(format!("Total time for cpa-verify: {:.3}s", limits.elapsed().as_secs_f64()));
    lines.push(format!("Total CPU time for cpa-verify: {:.3}s", cpu_time().as_secs_f64()));
    lines.push(format!("Memory of the process: {} MB", memory_used().unwrap_or(0) / 1_000_000));
    lines
}
