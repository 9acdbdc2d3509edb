// SPDX-License-Identifier: Apache-2.0
//! One verification run inside its thread: load the program, find the targets, run the analysis, say what came out.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cfa::{Blocks, MachineModel, NodeId, Program, Property, Slice, SummarizedCfa, UndefinedFunctions};
use cpa_core::{Budget, CancelToken, Cx, Invariants, Outcome, Verdict};
use report::summary::Summary;
use report::verdict::VerdictLine;

use crate::args::{Args, Dump, DumpFormat};
use crate::carry_over::CarryOver;
use crate::dump;
use crate::features::features;
use crate::limits::{Limits, cpu_time, memory_used};
use crate::options::Config;
use crate::output;
use crate::plan::{Plan, Stage};
use crate::portfolio::{Answer, Job, PortfolioError, Wanted};
use crate::registry::partitioning;
use crate::results::{Results, VERSION};
use crate::validate::{self, Task, Validity};

/// What the status says when the analysis has come back.
pub const WRITING: &str = "writing the results";

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
#[derive(Clone, Debug)]
pub enum Reply {
    /// Lines of a run that was not a verification.
    Lines(Vec<String>),
    /// The result of a verification.
    Result(Box<Summary>),
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

pub(crate) fn load(input: &Input) -> Result<Program, RunError> {
    let sources: Vec<cfa::Source> =
        input.sources.iter().map(|s| cfa::Source { name: s.name.clone(), text: s.text.clone() }).collect();
    let machine = if input.lp64 { MachineModel::Lp64 } else { MachineModel::Ilp32 };
    let options = cfa::Options {
        machine,
        entry: input.entry.clone(),
        undefined_functions: input.undefined_functions,
        line_markers: input.line_markers,
        loop_sites: false,
    };
    cfa::load(&sources, &options).map_err(|error| RunError::Input(format!("Parsing failed: {error}")))
}

/// The property with its short name; without a property file the default one.
fn property(input: &Input) -> Result<(String, Property), RunError> {
    match &input.property {
        Some((name, file, text)) => {
            let property = Property::parse(text).map_err(|error| RunError::Input(format!("{file}: {error}")))?;
            Ok((name.clone(), property))
        }
        None => Ok(("unreach-call".to_string(), Property::default_errors())),
    }
}

/// Prints the program's automaton, summarised if the analysis would run on it like that.
pub fn dump(input: &Input, format: DumpFormat, config: &Config) -> Result<Reply, RunError> {
    let program = load(input)?;
    if !config.summarize {
        return Ok(Reply::Lines(vec![dump::write(&program, format)]));
    }
    if format != DumpFormat::Text {
        return Err(RunError::Configuration("--format: a summarised automaton is printed as text only".into()));
    }
    let summarized = SummarizedCfa::new(&program, &program.targets(&property(input)?.1));
    Ok(Reply::Lines(vec![summarized.dump(&program).trim_end().to_string()]))
}

/// Prints the blocks that the program is divided into.
pub fn dump_blocks(input: &Input, config: &Config) -> Result<Reply, RunError> {
    let program = load(input)?;
    let text = Blocks::find(&program, partitioning(config)).dump(&program);
    Ok(Reply::Lines(vec![text.trim_end().to_string()]))
}

/// Prints what the plan would run.
pub fn explain(input: &Input, config: &Config) -> Result<Reply, RunError> {
    let plan = Plan::of(config).map_err(|error| RunError::Configuration(error.to_string()))?;
    let program = load(input)?;
    let targets = program.targets(&property(input)?.1);
    let slice = sliced(&program, &targets, config, &plan);
    let program = slice.as_ref().map_or(&program, |slice| &slice.program);
    Ok(Reply::Lines(plan.explain(&features(program, &targets))))
}

/// Verifies the program, or checks a witness.
pub fn verify(
    input: &Input,
    config: &Config,
    args: &Args,
    limits: Limits,
    cancel: CancelToken,
    status: Arc<Mutex<String>>,
) -> Result<Reply, RunError> {
    let (name, property) = property(input)?;
    let program = Arc::new(load(input)?);
    let setup = limits.elapsed();
    let task = Task {
        input,
        program: &program,
        property: &property,
        config,
        limits: &limits,
        cancel: &cancel,
        status: &status,
    };
    if let Some(path) = &args.validate_witness {
        return validate(&task, path, &name, args).map(|summary| Reply::Result(Box::new(summary)));
    }
    let args = &output::with_folder(args);
    let mut config = config.clone();
    if let Some(folder) = &args.output_path {
        output::make(folder)?;
        if args.dump == Some(Dump::Queries) {
            config.query_folder = folder.display().to_string();
        }
    }
    let config = &config;
    let dumps = |what: Dump| args.dump == Some(what);
    let wanted = Wanted {
        invariants: args.witness.is_some()
            || args.json
            || args.self_check
            || args.report.is_some()
            || dumps(Dump::Invariants),
        statistics: args.stats || args.report.is_some() || args.output_path.is_some(),
        busiest: args.explain_unknown || args.report.is_some(),
        picture: args.report.is_some(),
        graph: args.dump.filter(|dump| *dump == Dump::Arg).map(|_| args.format),
        graph_as_dot: args.output_path.is_some(),
        predicates: args.output_path.is_some() || dumps(Dump::Predicates),
    };
    let answer = answer(&program, &property, config, wanted, &limits, &cancel, &status)?;
    if let Ok(mut status) = status.lock() {
        *status = WRITING.to_string();
    }
    let staged = config.is_staged();
    let results = Results { program: &program, property: &property, name: &name, answer: &answer, args };
    let mut summary = results.summary()?;
    if args.self_check {
        results.self_check(&task, &mut summary)?;
    }
    if args.stats || args.report.is_some() {
        summary.statistics = statistics(&program, &answer, staged, setup, &limits);
    }
    summary.found_by = answer.stage.clone().filter(|_| staged);
    if let Some(what) = args.dump {
        summary.dump = output::dumped(what, &results, &summary);
    }
    if let Some(path) = &args.report {
        results.report(path, &summary, config)?;
        if let Some(folder) = &args.output_path {
            output::fill(folder, &results, &summary, config)?;
            let folder = folder.display();
            summary.notes.push(format!("more details about the run can be found in the folder \"{folder}\""));
        }
        if !args.stats {
            summary.statistics.clear();
        }
    }
    Ok(Reply::Result(Box::new(summary)))
}

/// What the plan of the configuration says about a program.
pub(crate) fn answer(
    program: &Arc<Program>,
    property: &Property,
    config: &Config,
    wanted: Wanted,
    limits: &Limits,
    cancel: &CancelToken,
    status: &Arc<Mutex<String>>,
) -> Result<Answer, RunError> {
    let plan = Plan::of(config).map_err(|error| RunError::Configuration(error.to_string()))?;
    let targets = program.targets(property);
    let cores = match config.cores {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        cores => cores as usize,
    };
    let run = |program: &Arc<Program>| {
        let job = Job {
            program: Arc::clone(program),
            targets: targets.clone(),
            limits: limits.clone(),
            cancel: cancel.clone(),
            status: Arc::clone(status),
            cores,
            wanted,
        };
        job.run(stages(&plan, program, &targets)).map_err(|error| match error {
            PortfolioError::Configuration(message) => RunError::Configuration(message),
            PortfolioError::Panic => RunError::Panic,
        })
    };
    let Some(slice) = sliced(program, &targets, config, &plan) else { return run(program) };
    let logged = |text: String| format!("{:9.3} s  {text} (Slice, INFO)", limits.elapsed().as_secs_f64());
    let mut log =
        vec![logged(format!("The slice leaves out {} branches and {} other steps", slice.branches, slice.steps))];
    let mut answer = run(&slice.program)?;
    log.append(&mut answer.log);
    let agrees = |invariants: Arc<Invariants>| Arc::new(invariants.about(|node, var| slice.agrees(node, var)));
    answer.invariants = answer.invariants.map(agrees);
    let Verdict::False(found) = answer.outcome.verdict() else { return Ok(Answer { log, ..answer }) };
    let cx = Cx::new(Box::new(limits.clone()), cancel.clone());
    let time = limits.remaining().map_or(CARRYING, |left| left / 4);
    let carry_over = CarryOver { from: &slice.program, run: found, to: program, targets: &targets };
    if let Ok(Some(found)) = carry_over.of_slice(&cx.share(time)) {
        let assurance = answer.outcome.assurance().clone();
        let outcome = Outcome::conclude(Verdict::False(found), assurance, program.assumptions.clone());
        return Ok(Answer { outcome, log, ..answer });
    }
    log.push(logged("No run of the program itself was found with these inputs; the stages run on it".to_string()));
    let mut answer = run(program)?;
    log.append(&mut answer.log);
    Ok(Answer { log, ..answer })
}

/// How long it may take to find the run of a program that a run of its slice is a part of, if there is no other limit.
const CARRYING: Duration = Duration::from_secs(60);

/// The slice that the plan runs on, if it shall and if the slice is less than the program.
fn sliced(program: &Program, targets: &BTreeSet<NodeId>, config: &Config, plan: &Plan) -> Option<Slice> {
    // Loop abstraction changes the text.
    if !config.slice || plan.stages.iter().any(|stage| stage.config.loop_abstraction) {
        return None;
    }
    Some(program.slice(targets)).filter(|slice| slice.branches + slice.steps > 0)
}

/// The stages of a plan that a program runs through.
fn stages(plan: &Plan, program: &Program, targets: &BTreeSet<NodeId>) -> Vec<Stage> {
    let conditional = plan.stages.iter().any(|stage| !stage.when.is_empty());
    plan.applicable(&if conditional { features(program, targets) } else { BTreeSet::new() })
}

/// Checks a witness that somebody else, or this tool, has written.
fn validate(task: &Task<'_>, path: &Path, name: &str, args: &Args) -> Result<Summary, RunError> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| RunError::Input(format!("cannot read {shown}: {error}")))?;
    let witness = validate::read(&text, &args.programs)
        .map_err(|problems| RunError::Input(format!("Cannot parse witness {shown}:\n  {problems}")))?;
    let mut summary = Summary::unknown(VERSION, name, "");
    summary.reason = None;
    let said = match task.check(&witness)? {
        Validity::Proof => {
            summary.verdict = VerdictLine::True;
            "accepted: the invariants hold, and the error is not reached".to_string()
        }
        Validity::Violation => {
            summary.verdict = VerdictLine::False { property: Some(name.to_string()) };
            "accepted: the execution that it describes reaches the error".to_string()
        }
        Validity::Rejected(why) => format!("rejected: {why}"),
        Validity::Unknown(why) => format!("neither accepted nor rejected: {why}"),
    };
    if summary.verdict == VerdictLine::Unknown {
        summary.reason = Some(format!("the witness is {said}"));
    } else {
        summary.notes.push(format!("the witness is {said}"));
    }
    Ok(summary)
}

fn statistics(
    program: &Program,
    answer: &Answer,
    staged: bool,
    setup: std::time::Duration,
    limits: &Limits,
) -> Vec<(String, String)> {
    let seconds = |time: std::time::Duration| format!("{:.3}s", time.as_secs_f64());
    let mut entries = vec![
        ("Number of program locations".to_string(), program.nodes.len().to_string()),
        ("Number of CFA edges".to_string(), program.edges.len().to_string()),
        ("Number of functions".to_string(), program.funcs.len().to_string()),
        ("Time for analysis setup".to_string(), seconds(setup)),
    ];
    for (stage, turn) in &answer.turns {
        if staged {
            entries.push((format!("Stage {stage}"), format!("{} of CPU time", seconds(turn.cpu))));
        }
        entries.extend(turn.statistics.iter().cloned());
    }
    entries.push(("Total time for cpa-verify".to_string(), seconds(limits.elapsed())));
    entries.push(("Total CPU time for cpa-verify".to_string(), seconds(cpu_time())));
    entries.push(("Memory of the process".to_string(), format!("{} MB", memory_used().unwrap_or(0) / 1_000_000)));
    entries
}
