// SPDX-License-Identifier: Apache-2.0
//! The process around a verification run: arguments, input files, the watchdog, and what is printed.
//!
//! The run has a thread of its own with a large stack; the main thread watches limits and signals, so a run ends in time
//! and with a verdict line even when a solver call does not come back.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cfa::UndefinedFunctions;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use cpa_core::{CancelToken, Stop};
use report::summary::Summary;
use report::verdict::VerdictLine;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::{Args, Dump, Preprocess, Undefined, expand_presets};
use crate::limits::Limits;
use crate::options::Config;
use crate::preprocess;
use crate::presets;
use crate::results::VERSION;
use crate::verify::{self, Input, Reply, RunError, Source};

/// Stack of the analysis thread; the system only gives memory for what is used.
const STACK: usize = 1 << 30;
/// How long a cancelled analysis may take to come back before the process ends without it.
const GRACE: Duration = Duration::from_secs(2);

/// How long it may take to write files after that.
const WRITING_GRACE: Duration = Duration::from_secs(15);

/// What a run ends with, for the exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    True,
    False,
    Unknown,
    Usage,
    Input,
    Internal,
    Signal(u8),
}

impl End {
    fn code(self, tells_verdict: bool) -> u8 {
        match (self, tells_verdict) {
            (End::True, _) | (End::False | End::Unknown, false) => 0,
            (End::False, true) => 10,
            (End::Unknown, true) => 20,
            (End::Usage, _) | (End::Input, false) => 1,
            (End::Input, true) => 2,
            (End::Internal, _) => 3,
            (End::Signal(code), _) => code,
        }
    }
}

/// Runs `cpa-verify` with the given arguments, the first of which is the name of the program.
pub fn main(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments = expand_presets(arguments, |name| presets::names().any(|known| known == name));
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            let code = match error.kind() {
                ErrorKind::DisplayVersion => {
                    let end = print(&[format!("cpa-verify {VERSION} ({})", smt::solver::version())]);
                    return ExitCode::from(u8::from(end.is_err()));
                }
                ErrorKind::DisplayHelp => 0,
                _ => 1,
            };
            // Nothing sensible can be done if the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let end = match run(&args) {
        Ok(end) => end,
        Err(message) => {
            eprintln!("Error: {message}");
            End::Usage
        }
    };
    leave(end.code(args.exit_code_verdict))
}

/// Ends the process at once. Stages that were cancelled may still be inside of the solver, whose destructors must not run
/// then; everything that was printed has been flushed.
fn leave(code: u8) -> ! {
    let _ = io::stderr().flush();
    signal_hook::low_level::exit(i32::from(code))
}

fn run(args: &Args) -> Result<End, String> {
    if args.print_options {
        let lines = Config::documentation().iter().map(|doc| format!("{doc}\n")).collect::<Vec<_>>();
        return print(&lines).map(|()| End::True);
    }
    if args.print_presets {
        let lines = presets::all().iter().map(|(name, text)| format!("{name}\n{text}")).collect::<Vec<_>>();
        return print(&lines).map(|()| End::True);
    }
    if args.man || args.completions.is_some() {
        return documentation(args).map(|()| End::True);
    }
    let config = configuration(args)?;
    if args.dump == Some(Dump::Queries) && args.output_path.is_none() {
        return Err("--dump queries: name the folder for the files with --output-path".into());
    }
    let input = match input(args, &config) {
        Ok(input) => input,
        Err(message) => {
            eprintln!("Error: {message}");
            return Ok(End::Input);
        }
    };
    let memory = (config.memory.0 > 0).then_some(config.memory.0);
    let limits = Limits::new(config.time_cpu, config.time_wall, memory);
    supervise(args, input, config, limits)
}

/// Prints what is made from the definitions of the arguments for shells and for `man`.
fn documentation(args: &Args) -> Result<(), String> {
    let mut command = Args::command();
    let mut text = Vec::new();
    match args.completions {
        Some(shell) => clap_complete::generate(shell, &mut command, "cpa-verify", &mut text),
        None => clap_mangen::Man::new(command).render(&mut text).map_err(|error| error.to_string())?,
    }
    print(&[String::from_utf8_lossy(&text).trim_end().to_string()])
}

fn configuration(args: &Args) -> Result<Config, String> {
    let mut config = Config::default();
    presets::apply_preset(&mut config, &args.preset).map_err(|error| error.to_string())?;
    if let Some(path) = &args.config {
        let text = read(path)?;
        presets::apply_toml(&mut config, &text, &path.display().to_string()).map_err(|error| error.to_string())?;
    }
    let mut set = |key: &str, value: &str| config.set(key, value).map_err(|error| error.to_string());
    for option in &args.options {
        let (key, value) =
            option.split_once('=').ok_or_else(|| format!("--option {option}: expected KEY=VALUE, as in a=b"))?;
        set(key.trim(), value.trim())?;
    }
    for (key, value) in [
        ("limits.time.cpu", &args.timelimit),
        ("limits.memory", &args.memlimit),
        ("analysis.entryFunction", &args.entry_function),
    ] {
        if let Some(value) = value {
            set(key, value)?;
        }
    }
    if let Some(cores) = args.cores {
        set("analysis.cores", &cores.to_string())?;
    }
    Ok(config)
}

pub(crate) fn input(args: &Args, config: &Config) -> Result<Input, String> {
    let mut sources = Vec::new();
    let mut line_markers = false;
    for path in &args.programs {
        let mut text = read(path)?;
        let wanted = match args.preprocess {
            Preprocess::Auto => cfa::needs_preprocessor(&text),
            Preprocess::Always => true,
            Preprocess::Never => false,
        };
        if wanted {
            text = preprocess::run(path, args.lp64)?;
            line_markers = true;
        }
        sources.push(Source { name: path.display().to_string(), text });
    }
    let property = match &args.spec {
        Some(path) => {
            let name = path.file_stem().map_or("property".into(), |stem| stem.to_string_lossy().into_owned());
            Some((name, path.display().to_string(), read(path)?))
        }
        None => None,
    };
    let undefined_functions = match args.undefined_functions {
        Undefined::Havoc => UndefinedFunctions::Havoc,
        Undefined::Error => UndefinedFunctions::Error,
        Undefined::Skip => UndefinedFunctions::Skip,
    };
    Ok(Input {
        sources,
        property,
        lp64: args.lp64,
        entry: config.entry_function.clone(),
        undefined_functions,
        line_markers,
    })
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Comments and strings in old encodings; every byte becomes one character outside of ASCII.
        Err(error) if !error.as_bytes().contains(&0) => {
            Ok(error.as_bytes().iter().map(|&byte| if byte.is_ascii() { byte as char } else { '?' }).collect())
        }
        Err(_) => Err(format!("{} is a binary file, not a C program", path.display())),
    }
}

/// Prints lines to standard output; a closed pipe or full disk is an error.
fn print(lines: &[String]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write to standard output: {error}"))
}

fn supervise(args: &Args, input: Input, config: Config, limits: Limits) -> Result<End, String> {
    let cancel = CancelToken::new();
    let interrupted = flag(SIGINT)?;
    let terminated = flag(SIGTERM)?;
    let status = Arc::new(Mutex::new(String::from("reading the program")));
    let (sender, receiver) = mpsc::channel();
    let panic_message = Arc::new(Mutex::new(String::new()));
    install_panic_hook(Arc::clone(&panic_message));
    let worker = {
        let (cancel, limits, status, args) = (cancel.clone(), limits.clone(), Arc::clone(&status), args.clone());
        thread::Builder::new().name("analysis".into()).stack_size(STACK).spawn(move || {
            let work = AssertUnwindSafe(|| match args.dump {
                Some(Dump::Cfa) => verify::dump(&input, args.format, &config),
                Some(Dump::Blocks) => verify::dump_blocks(&input, &config),
                _ if args.explain_plan => verify::explain(&input, &config),
                _ => verify::verify(&input, &config, &args, limits, cancel, status),
            });
            let reply = panic::catch_unwind(work);
            // The receiver is gone when the process ends without waiting for the analysis.
            let _ = sender.send(reply.unwrap_or(Err(RunError::Panic)));
        })
    };
    worker.map_err(|error| format!("cannot start the analysis thread: {error}"))?;

    let mut heartbeat = Heartbeat::new(args);
    let mut cancelled: Option<(Instant, Ending)> = None;
    loop {
        match receiver.recv_timeout(Duration::from_millis(if cancelled.is_some() { 20 } else { 50 })) {
            Ok(reply) => {
                heartbeat.clear();
                let ending = cancelled.map(|(_, ending)| ending);
                return finish(args, reply, ending, &panic_message);
            }
            Err(RecvTimeoutError::Disconnected) => return Err("the analysis thread ended without an answer".into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        heartbeat.beat(&status, &limits);
        let ending = if terminated.load(Ordering::Relaxed) {
            Some(Ending::Signal(143))
        } else if interrupted.load(Ordering::Relaxed) {
            Some(Ending::Signal(130))
        } else {
            limits.exceeded().map(Ending::Limit)
        };
        match (&cancelled, ending) {
            (None, Some(ending)) => {
                cancel.cancel();
                cancelled = Some((Instant::now(), ending));
            }
            (Some((since, ending)), _) if since.elapsed() > patience(&status) => {
                heartbeat.clear();
                let ending = ending.clone();
                let end = ending.end();
                tell(args, &Summary::unknown(VERSION, "", &ending.reason()))?;
                // The analysis thread is lost in a computation; ending the process ends it.
                leave(end.code(args.exit_code_verdict));
            }
            _ => {}
        }
    }
}

/// How long to wait for a cancelled analysis: longer once it has come back and its results are written.
fn patience(status: &Mutex<String>) -> Duration {
    let writing = status.lock().is_ok_and(|status| *status == verify::WRITING);
    if writing { WRITING_GRACE } else { GRACE }
}

/// Why the watchdog ended a run.
#[derive(Clone, Debug)]
enum Ending {
    Signal(u8),
    Limit(Stop),
}

impl Ending {
    fn reason(&self) -> String {
        match self {
            Ending::Signal(130) => "interrupted".into(),
            Ending::Signal(_) => "terminated by a signal".into(),
            Ending::Limit(stop) => stop.to_string(),
        }
    }

    fn end(&self) -> End {
        match self {
            Ending::Signal(code) => End::Signal(*code),
            Ending::Limit(_) => End::Unknown,
        }
    }
}

/// Prints a result in the form that the user wants.
fn tell(args: &Args, summary: &Summary) -> Result<(), String> {
    if args.json {
        return print(&[format!("{:#}", summary.json())]);
    }
    if args.sarif {
        return print(&[format!("{:#}", summary.sarif())]);
    }
    print(&summary.lines(args.quiet, args.verbose))
}

fn finish(
    args: &Args,
    reply: Result<Reply, RunError>,
    ending: Option<Ending>,
    panic: &Mutex<String>,
) -> Result<End, String> {
    match reply {
        Ok(Reply::Lines(lines)) => print(&lines).map(|()| End::True),
        Ok(Reply::Result(mut summary)) => {
            if let (Some(ending), VerdictLine::Unknown) = (&ending, &summary.verdict) {
                summary.reason = Some(ending.reason());
            }
            tell(args, &summary)?;
            Ok(match (ending, &summary.verdict) {
                (Some(ending @ Ending::Signal(_)), _) => ending.end(),
                (_, VerdictLine::True) => End::True,
                (_, VerdictLine::False { .. }) => End::False,
                (_, VerdictLine::Unknown) => End::Unknown,
            })
        }
        Err(RunError::Input(message)) => {
            eprintln!("Error: {message}");
            Ok(End::Input)
        }
        Err(RunError::Configuration(message) | RunError::Output(message)) => Err(message),
        Err(RunError::Panic) => {
            let message = panic.lock().map(|text| text.clone()).unwrap_or_default();
            eprintln!("Error: internal error: {message}. This is a fault of cpa-verify; please report it.");
            tell(args, &Summary::unknown(VERSION, "", "internal error"))?;
            Ok(End::Internal)
        }
    }
}

fn flag(signal: i32) -> Result<Arc<AtomicBool>, String> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal, Arc::clone(&flag))
        .map_err(|error| format!("cannot watch for signals: {error}"))?;
    Ok(flag)
}

/// A panic is a broken invariant; what it says goes into one error message instead of a trace.
fn install_panic_hook(message: Arc<Mutex<String>>) {
    panic::set_hook(Box::new(move |info| {
        let what = info
            .payload()
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| info.payload().downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown".into());
        let place = info.location().map(|place| format!(" ({place})")).unwrap_or_default();
        if let Ok(mut text) = message.lock() {
            *text = format!("{what}{place}");
        }
    }));
}

/// The status line: twice a second on a terminal; elsewhere each minute, every ten seconds with --verbose.
struct Heartbeat {
    terminal: bool,
    active: bool,
    pause: Duration,
    last: Instant,
    shown: bool,
}

impl Heartbeat {
    fn new(args: &Args) -> Self {
        let terminal = io::stderr().is_terminal();
        let pause = match (terminal, args.verbose) {
            (true, _) => Duration::from_millis(500),
            (false, true) => Duration::from_secs(10),
            (false, false) => Duration::from_secs(60),
        };
        Self { terminal, active: !args.quiet, pause, last: Instant::now(), shown: false }
    }

    fn beat(&mut self, status: &Mutex<String>, limits: &Limits) {
        if !self.active || self.last.elapsed() < self.pause {
            return;
        }
        self.last = Instant::now();
        let Ok(text) = status.lock() else { return };
        let memory = crate::limits::memory_used().unwrap_or(0) / 1_000_000;
        let line = format!("[{:>5.0} s, {memory} MB] {text}", limits.elapsed().as_secs_f64());
        if self.terminal {
            // What goes on in a second line is not wiped out.
            let width = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
            let most = if width > 1 { width - 1 } else { usize::MAX };
            let line: String = line.chars().take(most).collect();
            eprint!("\r\x1b[K{line}");
            self.shown = true;
        } else {
            eprintln!("{line}");
        }
    }

    fn clear(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
