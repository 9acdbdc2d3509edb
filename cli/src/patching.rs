// SPDX-License-Identifier: Apache-2.0
//! The process of `cpa-loopabs`: reads a program, says which loop abstractions apply to its loops, and writes programs and
//! patches with them.
//!
//! Files go in and come out as the user wrote them. A file that needed the preprocessor is changed where the lines of the
//! loop stand in it literally; a program with other loops is written as the preprocessor made it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use cfa::{MachineModel, Program, Property, Span};
use clap::Parser;
use cpa_core::{CancelToken, Cx, Verdict};
use loopabs::{Edit, Loops, Rendered, Report, Strategy, unified_diff};

use crate::args::{Args, Preprocess, Undefined};
use crate::driver;
use crate::limits::Limits;
use crate::options::Config;
use crate::presets;
use crate::registry::{Analysis, LoopAbstraction, loop_invariants};
use crate::verify::{self, Input, Reply, Source};

/// Stack of the working thread; the system only gives memory for what is used.
const STACK: usize = 1 << 30;

/// Writes C programs in which loops are replaced by abstractions, so that verifiers that cannot handle the loops can.
///
/// Prints for each loop which strategies apply, and why the others do not: h (havoc), n (naive), o (output abstraction) and
/// i (invariants, found by k-induction if --strategies names it or a proof needs it) do whatever the loop may do and more,
/// c (constant extrapolation) and p (phase extrapolation) do what the loop does. If an emitted program is safe, so is the
/// original. Exit codes: 0, 1 for wrong arguments or input, 2 if a check failed.
#[derive(Clone, Parser, Debug)]
#[command(name = "cpa-loopabs", version, max_term_width = 100)]
pub struct LoopArgs {
    /// The C files of the program.
    #[arg(value_name = "PROGRAM.c", required = true)]
    pub programs: Vec<PathBuf>,
    /// Write a patch for each loop and strategy into this folder; they apply with `patch -p1` in the folder of the program.
    #[arg(long, value_name = "DIR")]
    pub emit_patches: Option<PathBuf>,
    /// Write a program with all loops replaced: by the strategies of --strategies, or else by those that lead to a proof.
    #[arg(long, value_name = "FILE")]
    pub emit_program: Option<PathBuf>,
    /// The strategies, separated by commas. For --emit-program each loop gets the first one that applies.
    #[arg(long, value_name = "LIST")]
    pub strategies: Option<String>,
    /// Only the loop that begins in this line; may be given several times.
    #[arg(long, value_name = "FILE:LINE")]
    pub loops: Vec<String>,
    /// Compile what is written with the system's compiler, and verify an emitted program.
    #[arg(long)]
    pub check: bool,
    /// The property: a .prp file. Without it, the usual error functions and the label ERROR.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// The machine has 32-bit int, long and pointers (ILP32, the default).
    #[arg(long = "32", conflicts_with = "lp64")]
    pub ilp32: bool,
    /// The machine has 32-bit int, 64-bit long and pointers (LP64).
    #[arg(long = "64")]
    pub lp64: bool,
    /// The function where the program starts.
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub entry_function: String,
    /// Whether the files go through the C preprocessor of the system first: if they have directives, always, never.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub preprocess: Preprocess,
    /// What a call of an unknown function without body means.
    #[arg(long, value_name = "MEANING", default_value = "havoc")]
    pub undefined_functions: Undefined,
    /// The analysis that looks for a proof and that verifies emitted programs.
    #[arg(long, value_name = "NAME", default_value = "bmc")]
    pub preset: String,
    /// Limit for the CPU time of each verification.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub timelimit: String,
    /// Do not print the report.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Runs `cpa-loopabs` with the given arguments, the first of which is the name of the program.
pub fn main(arguments: impl Iterator<Item = String>) -> ExitCode {
    let args = match LoopArgs::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            let code = u8::from(error.use_stderr());
            // Nothing sensible can be done if the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let worker = thread::Builder::new().name("loops".into()).stack_size(STACK).spawn(move || Job::run(&args));
    match worker.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(true))) => ExitCode::SUCCESS,
        Ok(Ok(Ok(false))) => ExitCode::from(2),
        Ok(Ok(Err(message))) => {
            eprintln!("Error: {message}");
            ExitCode::from(1)
        }
        Ok(Err(_)) | Err(_) => {
            eprintln!("Error: internal error. This is a fault of cpa-loopabs; please report it.");
            ExitCode::from(3)
        }
    }
}

/// What a run works on.
struct Job<'a> {
    args: &'a LoopArgs,
    input: Input,
    config: Config,
    program: Program,
    targets: BTreeSet<cfa::NodeId>,
    /// The files as the user wrote them.
    originals: Vec<String>,
    loops: Loops,
}

impl<'a> Job<'a> {
    /// Does all that is asked for; false if a check failed.
    fn run(args: &'a LoopArgs) -> Result<bool, String> {
        let job = Self::new(args)?;
        let reports: Vec<Report> =
            job.loops.reports(&job.program).into_iter().filter(|report| job.is_wanted(report)).collect();
        if let Some(missing) = args.loops.iter().find(|name| !reports.iter().any(|report| is_named(report, name))) {
            return Err(format!("--loops {missing}: no loop statement begins there"));
        }
        if !args.quiet {
            for report in &reports {
                say(&report.to_string())?;
            }
            if reports.is_empty() {
                say("There is no loop statement.")?;
            }
        }
        let mut fine = true;
        if let Some(folder) = &args.emit_patches {
            fine &= job.patches(folder, &reports)?;
        }
        if let Some(file) = &args.emit_program {
            fine &= job.program(file, &reports)?;
        }
        Ok(fine)
    }

    fn new(args: &'a LoopArgs) -> Result<Self, String> {
        let verify_args = verifier_args(args)?;
        let mut config = Config::default();
        presets::apply_preset(&mut config, &args.preset).map_err(|error| error.to_string())?;
        for (key, value) in [("analysis.entryFunction", &args.entry_function), ("limits.time.cpu", &args.timelimit)] {
            config.set(key, value).map_err(|error| error.to_string())?;
        }
        if let Some(strategies) = &args.strategies {
            let wanted = strategies.split(',').map(str::trim).filter(|name| !name.is_empty());
            for name in wanted {
                Strategy::parse(name).ok_or_else(|| format!("--strategies: there is no strategy '{name}'"))?;
            }
            config.loop_strategies = strategies.clone();
        }
        let mut input = driver::input(&verify_args, &config)?;
        let originals = args.programs.iter().map(|path| driver::read(path)).collect::<Result<Vec<_>, _>>()?;
        for (source, original) in input.sources.iter_mut().zip(&originals) {
            if source.text != *original {
                source.text = restored(&source.text, original, &source.name);
            }
        }
        let property = match &input.property {
            Some((_, file, text)) => Property::parse(text).map_err(|error| format!("{file}: {error}"))?,
            None => Property::default_errors(),
        };
        let sources: Vec<cfa::Source> =
            input.sources.iter().map(|s| cfa::Source { name: s.name.clone(), text: s.text.clone() }).collect();
        let options = cfa::Options {
            machine: if input.lp64 { MachineModel::Lp64 } else { MachineModel::Ilp32 },
            entry: input.entry.clone(),
            undefined_functions: input.undefined_functions,
            line_markers: input.line_markers,
            loop_sites: true,
        };
        let program = cfa::load(&sources, &options).map_err(|error| format!("Parsing failed: {error}"))?;
        let targets = program.targets(&property);
        let mut loops = Loops::new(&program, &targets);
        if names_invariants(args) {
            let limits = Limits::new(config.time_cpu, config.time_wall, None);
            let mut cx = Cx::new(Box::new(limits), CancelToken::new());
            let known = loop_invariants(&mut cx, &Arc::new(program.clone()), &targets, &config)?;
            if known.is_empty() {
                say("There are no invariants: k-induction has no proof, or needs none.")?;
            }
            loops = Loops::with_invariants(&program, &targets, &known);
        }
        Ok(Self { args, input, config, program, targets, originals, loops })
    }

    fn is_wanted(&self, report: &Report) -> bool {
        self.args.loops.is_empty() || self.args.loops.iter().any(|name| is_named(report, name))
    }

    /// The strategies that are asked for, in their order; all by default.
    fn strategies(&self) -> Vec<Strategy> {
        let names = self.config.loop_strategies.split(',');
        names.filter_map(|name| Strategy::parse(name.trim())).collect()
    }

    /// The file as the user wrote it with the same edits; none if the preprocessor changed what is edited.
    fn edits_of_original(&self, file: usize, edits: &[Edit]) -> Option<Vec<Edit>> {
        let (text, original) = (&self.program.sources[file].text, &self.originals[file]);
        if text == original {
            return Some(edits.to_vec());
        }
        let name = self.args.programs[file].display().to_string();
        let mut starts = vec![0];
        starts.extend(original.match_indices('\n').map(|(at, _)| at + 1));
        let place = |at: usize| {
            let start = u32::try_from(at).ok()?;
            let span = Span { file: u32::try_from(file).ok()?, start, end: start };
            let place = self.program.location(span);
            (place.file == name).then_some((place.line as usize, place.column as usize))
        };
        let moved = |edit: &Edit| {
            if edit.range == (0..0) {
                return Some(edit.clone());
            }
            let ((first, column), (last, end_column)) = (place(edit.range.start)?, place(edit.range.end - 1)?);
            let line_start = text[..edit.range.start].rfind('\n').map_or(0, |at| at + 1);
            let line_end = text[edit.range.end..].find('\n').map_or(text.len(), |at| edit.range.end + at);
            let from = *starts.get(first.checked_sub(1)?)?;
            let to = starts.get(last).map_or(original.len(), |next| next - 1);
            let same = original.get(from..to)? == &text[line_start..line_end];
            let last_start = *starts.get(last.checked_sub(1)?)?;
            same.then(|| Edit { range: from + column - 1..last_start + end_column, text: edit.text.clone() })
        };
        edits.iter().map(moved).collect()
    }

    fn patches(&self, folder: &Path, reports: &[Report]) -> Result<bool, String> {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let wanted = self.strategies();
        let mut names = BTreeSet::new();
        let mut fine = true;
        for report in reports {
            let file = self.program.loop_sites.sites[report.site].span.file as usize;
            let base = base_name(&self.args.programs[file]);
            for (strategy, _) in report.applicable.iter().filter(|(strategy, _)| wanted.contains(strategy)) {
                let only = |site: usize| if site == report.site { *strategy } else { Strategy::Base };
                let rendered = self.loops.render(&self.program, file as u32, only);
                let Some(edits) = self.edits_of_original(file, &rendered.edits) else {
                    say(&format!("no patch for {} {strategy}: the preprocessor changes the loop", report.place))?;
                    continue;
                };
                let mut name = format!("{base}.{}.{}.patch", report.place.line, strategy.name());
                if !names.insert(name.clone()) {
                    name = format!("{base}.{}-{}.{}.patch", report.place.line, report.place.column, strategy.name());
                    names.insert(name.clone());
                }
                let path = folder.join(&name);
                write(&path, &unified_diff(&base, &self.originals[file], &edits))?;
                if self.args.check {
                    fine &= self.compiles(&path.display().to_string(), file, &rendered)?;
                }
            }
        }
        say(&format!("{} patches in {}", names.len(), folder.display()))?;
        Ok(fine)
    }

    fn program(&self, path: &Path, reports: &[Report]) -> Result<bool, String> {
        if self.args.programs.len() != 1 {
            return Err("--emit-program: the program must be one file".to_string());
        }
        let (chosen, loops) = match &self.args.strategies {
            Some(_) => (self.first_applicable(), self.loops.clone()),
            None => match self.proving()? {
                Some(found) => found,
                None => {
                    say(
                        "No program is written: no strategies were found that lead to a proof; --strategies asks for some",
                    )?;
                    return Ok(false);
                }
            },
        };
        let strategy = |site: usize| {
            if reports.iter().any(|report| report.site == site) { chosen[site] } else { Strategy::Base }
        };
        let rendered = loops.render(&self.program, 0, strategy);
        let text = match self.edits_of_original(0, &rendered.edits) {
            Some(edits) => loopabs::applied(&self.originals[0], &edits),
            None => rendered.text.clone(),
        };
        write(path, &text)?;
        let used: Vec<String> = reports
            .iter()
            .map(|report| format!("{} at {}:{}", strategy(report.site), report.place.file, report.place.line))
            .collect();
        say(&format!("program {}: {}", path.display(), used.join(", ")))?;
        if !self.args.check {
            return Ok(true);
        }
        let name = path.display().to_string();
        Ok(self.compiles(&name, 0, &rendered)? & self.verifies(&name, &rendered)?)
    }

    fn first_applicable(&self) -> Vec<Strategy> {
        let wanted = self.strategies();
        let first = |site: usize| {
            let applies = |strategy: &&Strategy| self.loops.summary(site, **strategy).is_ok();
            wanted.iter().find(applies).copied().unwrap_or(Strategy::Base)
        };
        (0..self.program.loop_sites.sites.len()).map(first).collect()
    }

    /// The strategies of a program that was proved, with what they make of the loops.
    fn proving(&self) -> Result<Option<(Vec<Strategy>, Loops)>, String> {
        let limits = Limits::new(self.config.time_cpu, self.config.time_wall, None);
        let mut cx = Cx::new(Box::new(limits), CancelToken::new());
        let program = Arc::new(self.program.clone());
        let mut analysis = LoopAbstraction::fixed_only(program, self.targets.clone(), &self.config)?;
        let outcome = analysis.run(&mut cx);
        Ok(match outcome.verdict() {
            Verdict::True => analysis.proof().map(|chosen| (chosen.to_vec(), analysis.loops().clone())),
            Verdict::False(_) | Verdict::Unknown(_) => None,
        })
    }

    /// Compiles a printed file, but writes no object.
    fn compiles(&self, name: &str, file: usize, rendered: &Rendered) -> Result<bool, String> {
        let error = compile(&rendered.text, self.args.lp64)?;
        let Some(error) = error else {
            say(&format!("{name} compiles"))?;
            return Ok(true);
        };
        if let Some(before) = compile(&self.program.sources[file].text, self.args.lp64)? {
            say(&format!("{name} does not compile, and neither does the original: {before}"))?;
            return Ok(true);
        }
        say(&format!("{name} does not compile: {error}"))?;
        Ok(false)
    }

    fn verifies(&self, name: &str, rendered: &Rendered) -> Result<bool, String> {
        let source = Source { name: name.to_string(), text: rendered.text.clone() };
        let input = Input { sources: vec![source], ..self.input.clone() };
        let limits = Limits::new(self.config.time_cpu, self.config.time_wall, None);
        let args = verifier_args(self.args)?;
        let status = Arc::new(Mutex::new(String::new()));
        let reply = verify::verify(&input, &self.config, &args, limits, CancelToken::new(), status)
            .map_err(|error| format!("{name}: {error:?}"))?;
        let lines = match reply {
            Reply::Lines(lines) => lines,
            Reply::Result(summary) => summary.lines(true, false),
        };
        for line in lines {
            say(&format!("{name}: {line}"))?;
        }
        Ok(true)
    }
}

/// Whether --strategies names abstraction by invariants.
fn names_invariants(args: &LoopArgs) -> bool {
    let names = args.strategies.iter().flat_map(|names| names.split(','));
    names.filter_map(|name| Strategy::parse(name.trim())).any(|strategy| strategy == Strategy::Invariant)
}

fn is_named(report: &Report, name: &str) -> bool {
    let Some((file, line)) = name.rsplit_once(':') else { return false };
    let same_file =
        report.place.file == file || Path::new(&report.place.file).file_name().is_some_and(|base| base == file);
    same_file && line.parse() == Ok(report.place.line)
}

/// The same program for `cpa-verify`.
fn verifier_args(args: &LoopArgs) -> Result<Args, String> {
    let mut verifier = Args::try_parse_from(["cpa-verify", "program.c"]).map_err(|error| error.to_string())?;
    verifier.programs.clone_from(&args.programs);
    verifier.spec.clone_from(&args.spec);
    verifier.lp64 = args.lp64;
    verifier.preprocess = args.preprocess;
    verifier.undefined_functions = args.undefined_functions;
    Ok(verifier)
}

/// The preprocessed text with those lines as the user wrote them that the preprocessor changed in nothing but white space
/// and comments.
fn restored(preprocessed: &str, original: &str, name: &str) -> String {
    let lines: Vec<&str> = original.lines().collect();
    let mut result = String::with_capacity(preprocessed.len());
    // The number of the next line, if it is one of the file.
    let mut number: Option<usize> = None;
    for line in preprocessed.split_inclusive('\n') {
        let marker = line.strip_prefix("# ").and_then(|rest| rest.split_once(" \""));
        if let Some((at, file)) =
            marker.and_then(|(at, rest)| Some((at.parse::<usize>().ok()?, rest.split('"').next()?)))
        {
            number = (file == name).then_some(at);
            result.push_str(line);
            continue;
        }
        let own = number.and_then(|at| lines.get(at.checked_sub(1)?));
        match own.filter(|own| bare(own).is_some_and(|text| Some(text) == bare(line))) {
            Some(own) => {
                result.push_str(own);
                result.push_str(&line[line.trim_end_matches(['\r', '\n']).len()..]);
            }
            None => result.push_str(line),
        }
        number = number.map(|at| at + 1);
    }
    result
}

/// A line without white space and comments; none if it is a directive or a comment goes beyond it.
fn bare(line: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = line.trim();
    if rest.starts_with('#') || rest.ends_with('\\') || rest.starts_with('*') {
        return None;
    }
    let mut quote = None;
    while let Some(next) = rest.chars().next() {
        if quote.is_none() && rest.starts_with("//") {
            break;
        }
        if quote.is_none() && rest.starts_with("/*") {
            rest = &rest[rest.find("*/")? + 2..];
            continue;
        }
        rest = &rest[next.len_utf8()..];
        match quote {
            Some(_) if next == '\\' => {
                text.push(next);
                let escaped = rest.chars().next()?;
                text.push(escaped);
                rest = &rest[escaped.len_utf8()..];
                continue;
            }
            Some(open) if next == open => quote = None,
            None if next == '"' || next == '\'' => quote = Some(next),
            _ => {}
        }
        if quote.is_some() || !next.is_whitespace() {
            text.push(next);
        }
    }
    (quote.is_none() && !text.contains("*/")).then_some(text)
}

fn base_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn say(line: &str) -> Result<(), String> {
    writeln!(std::io::stdout(), "{line}").map_err(|error| format!("cannot write to standard output: {error}"))
}

/// The first error that the system's compiler has with a text; none if it compiles.
fn compile(text: &str, lp64: bool) -> Result<Option<String>, String> {
    let width = if lp64 { "-m64" } else { "-m32" };
    let mut child = Command::new("cc")
        .args(["-fsyntax-only", "-w", "-std=gnu11", width, "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run cc: {error}"))?;
    let sent = child.stdin.take().map(|mut pipe| pipe.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("cannot run cc: {error}"))?;
    if output.status.success() && sent.is_some_and(|sent| sent.is_ok()) {
        return Ok(None);
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    Ok(Some(messages.lines().find(|line| line.contains("error")).unwrap_or("no message").to_string()))
}
