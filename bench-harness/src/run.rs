// SPDX-License-Identifier: Apache-2.0
//! Many runs at once: workers take tasks in order, one thread writes what they bring.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    fs::{File, OpenOptions},
    io::{BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::{self, Command},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use crate::{
    answer::{Answer, Patterns},
    cgroup::Cgroups,
    error::Error,
    limits::{self, End, Limits},
    paths::relative,
    progress::Progress,
    result::{self, Key, Parameter, Record, Status, Writer, column},
    sys,
    task::Task,
    tool::{Circumstances, Tool},
    validation,
};

/// A tool with options and limits, possibly with a parameter.
#[derive(Debug)]
pub struct Configuration {
    /// Its name, if there are several.
    pub name: Option<String>,
    /// The parameter that is varied.
    pub parameter: Option<Parameter>,
    /// The tool.
    pub tool: Arc<Tool>,
    /// Options for it beside those of the task and the limits.
    pub options: Vec<String>,
    /// What a run may use.
    pub limits: Limits,
    /// The limits in the words of the command line, for the tool to keep.
    pub limit_texts: LimitTexts,
}

/// One run to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// How.
    pub configuration: Arc<Configuration>,
    /// On what.
    pub task: Task,
}

/// What all runs have in common.
#[derive(Debug)]
pub struct Plan {
    /// How many runs at once.
    pub workers: usize,
    /// How many processor cores each run has.
    pub cores: usize,
    /// Whether each run is bound to cores of its own.
    pub pin: bool,
    /// Where to keep the outputs.
    pub logs: Option<PathBuf>,
    /// The folder of the result file, from which logs are named.
    pub results: PathBuf,
    /// How usage is measured.
    pub cgroups: Cgroups,
    /// Whether the evidence for each verdict is checked.
    pub validate: bool,
}

/// Limits as the user wrote them.
#[derive(Clone, Debug)]
pub struct LimitTexts {
    /// For CPU time.
    pub time: String,
    /// For memory.
    pub memory: String,
}

impl Configuration {
    /// Name and parameter, as in [`Record::column`].
    pub fn column(&self) -> String {
        column(self.name.as_deref(), self.parameter.as_ref()).unwrap_or_default()
    }

    /// What tells its run on the task apart.
    fn key(&self, task: &Task) -> Key {
        (self.column(), task.name.clone(), task.property.clone())
    }
}

/// How a batch of runs ended.
#[derive(Debug)]
pub struct Batch {
    /// Records of the finished runs, as they ended.
    pub records: Vec<Record>,
    /// A signal ended it before all tasks were done.
    pub interrupted: bool,
}

/// Runs the tasks and writes each record as soon as it is there. On an error the running tools are killed, and what was
/// written stays written.
pub fn run(plan: &Plan, jobs: &[Job], writer: &mut Writer) -> Result<Batch, Error> {
    let scratch = Scratch::new()?;
    let interrupted = catch_interrupts()?;
    let next = AtomicUsize::new(0);
    let aborted = AtomicBool::new(false);
    let stop = || aborted.load(Ordering::Relaxed) || interrupted.load(Ordering::Relaxed);
    let cores = if plan.pin { sys::cores(plan.workers * plan.cores) } else { Vec::new() };
    let mut progress = Progress::new(jobs.len());
    let mut records = Vec::new();
    let mut failure = None;
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for worker in 0..plan.workers.min(jobs.len()) {
            let sender = sender.clone();
            let (next, stop, scratch) = (&next, &stop, &scratch);
            let cores = cores.chunks_exact(plan.cores).nth(worker).map(<[usize]>::to_vec);
            scope.spawn(move || {
                // That it cannot be bound is known before, see `can_pin`.
                let _ = cores.map(|cores| sys::pin(&cores));
                while !stop() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    match run_one(plan, job, &scratch.0.join(index.to_string()), stop).transpose() {
                        // The receiver lives until all workers are gone.
                        Some(result) => drop(sender.send(result)),
                        None => break,
                    }
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(Duration::from_millis(200)) {
                Ok(result) => {
                    let written = result.and_then(|record| {
                        progress.record(&record);
                        let written = writer.append(&record);
                        if written.is_err() {
                            // Better on the screen than nowhere.
                            progress.message(&format!(
                                "not written: {}",
                                serde_json::to_string(&record).unwrap_or_default()
                            ));
                        }
                        records.push(record);
                        written
                    });
                    if let Err(error) = written {
                        aborted.store(true, Ordering::Relaxed);
                        failure.get_or_insert(error);
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            progress.tick();
        }
    });
    progress.finish();
    match failure {
        Some(error) => Err(error),
        None => Ok(Batch { interrupted: interrupted.load(Ordering::Relaxed) && records.len() < jobs.len(), records }),
    }
}

/// The first signal only sets the flag; a second one ends the program as it would have without this.
fn catch_interrupts() -> Result<Arc<AtomicBool>, Error> {
    let flag = Arc::new(AtomicBool::new(false));
    let failed = |source| Error::System { action: "catching signals", source };
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order, so that the first signal finds the flag unset and does not end the program.
        flag::register_conditional_default(signal, Arc::clone(&flag)).map_err(failed)?;
        flag::register(signal, Arc::clone(&flag)).map_err(failed)?;
    }
    Ok(flag)
}

/// Whether so many runs at once can each have cores of their own.
pub fn can_pin(workers: usize, cores: usize) -> bool {
    workers * cores <= sys::cores(workers * cores).len()
}

/// `None` if the run was ended before its time, so that it has no result.
fn run_one(plan: &Plan, job: &Job, folder: &Path, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<Record>, Error> {
    let Job { configuration, task } = job;
    let Configuration { tool, limits, .. } = &**configuration;
    // A tool may write files where it is started; runs must not see each other's.
    let work = folder.join("work");
    fs::create_dir_all(&work).map_err(Error::file("create", &work))?;
    let path = match &plan.logs {
        Some(logs) => {
            let column = configuration.column().replace(['/', ' '], "_");
            logs.join(column).join(format!("{}.{}.log", task.name, task.property))
        }
        None => folder.join("log"),
    };
    let mut command = Command::new(&tool.program);
    let check = tool.validation.as_ref().filter(|_| plan.validate);
    let evidence = check.map_or(&[][..], |check| &check.options);
    let circumstances = Circumstances {
        options: &[&configuration.options[..], evidence].concat(),
        time: &configuration.limit_texts.time,
        seconds: limits.cpu.as_secs_f64().ceil() as u64,
        memory: &configuration.limit_texts.memory,
        bytes: limits.memory,
        cores: plan.cores,
    };
    command.current_dir(&work).args(tool.arguments(task, &circumstances));
    let (mut log, start) = new_log(&path, &command)?;
    let outcome = limits::run(&mut command, &log, limits, &plan.cgroups, stop)
        .map_err(|e| Error::Tool { tool: tool.program.display().to_string(), message: e.to_string() })?;
    if outcome.end == End::Interrupted {
        return Ok(None);
    }
    log.seek(SeekFrom::Start(start)).map_err(Error::file("read", &path))?;
    let answer = Answer::read(BufReader::new(log), &tool.patterns).map_err(Error::file("read", &path))?;
    let (status, reason) = result::judge(task.expected.as_ref(), &answer, &outcome, limits);
    let mut checked = None;
    if let (Some(check), Status::Correct | Status::Wrong | Status::Unjudged) = (check, status) {
        let path = path.with_extension("validation.log");
        let mut command = Command::new(&tool.program);
        command.current_dir(&work).args(tool.filled(&check.arguments, task, &circumstances));
        let (mut log, start) = new_log(&path, &command)?;
        let second = limits::run(&mut command, &log, limits, &plan.cgroups, stop)
            .map_err(|e| Error::Tool { tool: tool.program.display().to_string(), message: e.to_string() })?;
        if second.end == End::Interrupted {
            return Ok(None);
        }
        log.seek(SeekFrom::Start(start)).map_err(Error::file("read", &path))?;
        let said = Answer::read(BufReader::new(log), &tool.patterns).map_err(Error::file("read", &path))?;
        checked = Some(validation::judge(&answer, &said, &second, seconds(second.cpu)));
    }
    // What the tool left there is of no interest, nor is it that some of it cannot be removed.
    let _ = fs::remove_dir_all(folder);
    Ok(Some(Record {
        task: task.name.clone(),
        category: task.category.clone(),
        property: task.property.clone(),
        expected: task.expected.as_ref().map(|expected| expected.text()),
        verdict: answer.verdict,
        status,
        reason,
        cpu_s: seconds(outcome.cpu),
        wall_s: seconds(outcome.wall),
        memory_bytes: outcome.memory,
        exit_code: match outcome.end {
            End::Exited(code) => Some(code),
            _ => None,
        },
        tool: tool.name.clone(),
        options: configuration.options.clone(),
        timelimit_s: seconds(limits.cpu),
        memlimit_bytes: limits.memory,
        config: configuration.name.clone(),
        parameter: configuration.parameter.clone(),
        measured_by: Some(plan.cgroups.name().into()),
        statistics: answer.statistics,
        validation: checked,
        log: plan.logs.is_some().then(|| relative(&path, &plan.results)),
    }))
}

/// To the tenth of a millisecond.
fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e4).round() / 1e4
}

/// A log begins with the command; the tool's output begins at the position that is returned.
fn new_log(path: &Path, command: &Command) -> Result<(File, u64), Error> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    // Appending, so that both outputs of the tool, written through separate handles, do not overwrite each other.
    let _ = fs::remove_file(path);
    let open = OpenOptions::new().read(true).append(true).create(true).open(path);
    let mut log = open.map_err(Error::file("write", path))?;
    let header = format!("{command:?}\n\n");
    log.write_all(header.as_bytes()).map_err(Error::file("write", path))?;
    Ok((log, header.len() as u64))
}

/// Asks the tool what it calls itself: the first line that it prints about its version; if there is none, the name of
/// the file stays. An error if it does not run at all, so that this is known before anything is written.
pub fn ask_name(tool: &mut Tool) -> Result<(), Error> {
    let bad = |message: String| Error::Tool { tool: tool.program.display().to_string(), message };
    let mut command = Command::new(&tool.program);
    command.args(&tool.version);
    let (answer, end) = try_out(&mut command, &Patterns::default()).map_err(bad)?;
    // 127: the dynamic linker, a shell or `env` did not find something.
    if end == End::Exited(127) {
        return Err(bad(answer.last_line.unwrap_or_else(|| "exit code 127".into())));
    }
    if let Some(line) = answer.first_line.filter(|_| end == End::Exited(0)) {
        tool.name = line;
    }
    Ok(())
}

/// Why the tool does not accept the options of a configuration, if it does not: it is run on a program that does nothing
/// and must come to some verdict, or at least not end with an error.
pub fn refusal(configuration: &Configuration) -> Result<Option<String>, Error> {
    let scratch = Scratch::new()?;
    let (program, property) = (scratch.0.join("nothing.c"), scratch.0.join("unreach-call.prp"));
    fs::write(&program, "int main(void) { return 0; }\n").map_err(Error::file("write", &program))?;
    let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n";
    fs::write(&property, text).map_err(Error::file("write", &property))?;
    let task = Task {
        name: "nothing".into(),
        category: String::new(),
        inputs: vec![program],
        property: "unreach-call".into(),
        property_file: property,
        expected: None,
        data_model: None,
    };
    let circumstances = Circumstances {
        options: &configuration.options,
        time: "10s",
        seconds: 10,
        memory: "4GB",
        bytes: 4_000_000_000,
        cores: 1,
    };
    let mut command = Command::new(&configuration.tool.program);
    command.args(configuration.tool.arguments(&task, &circumstances));
    match try_out(&mut command, &configuration.tool.patterns) {
        Err(message) => Ok(Some(message)),
        Ok((answer, End::Exited(code))) if code != 0 && answer.verdict.is_none() => {
            // What follows a semicolon is advice.
            let message = answer.explanation().map(|text| text.split(';').next().unwrap_or(text).to_string());
            Ok(Some(message.unwrap_or_else(|| format!("exit code {code}"))))
        }
        Ok(_) => Ok(None),
    }
}

/// Runs the command for at most ten seconds in a folder of its own.
fn try_out(command: &mut Command, patterns: &Patterns) -> Result<(Answer, End), String> {
    let scratch = Scratch::new().map_err(|e| e.to_string())?;
    let path = scratch.0.join("log");
    command.current_dir(&scratch.0);
    let (mut log, start) = new_log(&path, command).map_err(|e| e.to_string())?;
    let ten_seconds = Duration::from_secs(10);
    let limits = Limits { cpu: ten_seconds, wall: ten_seconds, memory: u64::MAX };
    let outcome = limits::run(command, &log, &limits, &Cgroups::none(), &|| false).map_err(|e| e.to_string())?;
    log.seek(SeekFrom::Start(start)).map_err(|e| e.to_string())?;
    let answer = Answer::read(BufReader::new(log), patterns).map_err(|e| e.to_string())?;
    Ok((answer, outcome.end))
}

/// The jobs that `records` lack. An error if the records were made under other circumstances.
pub fn remaining(jobs: Vec<Job>, records: &[Record], path: &Path) -> Result<Vec<Job>, Error> {
    let configurations: BTreeMap<String, &Configuration> =
        jobs.iter().map(|job| (job.configuration.column(), &*job.configuration)).collect();
    for record in records {
        let known = configurations.get(&record.column().unwrap_or_default());
        // Results of configurations that are not asked for now stay as they are.
        let same = known.is_none_or(|configuration| {
            record.options == configuration.options
                && record.timelimit_s == seconds(configuration.limits.cpu)
                && record.memlimit_bytes == configuration.limits.memory
        });
        if !same {
            let message = "was made with other limits or options; give the same, or another --output";
            return Err(Error::Usage(format!("{} {message}", path.display())));
        }
    }
    let done: BTreeSet<Key> = records.iter().map(Record::key).collect();
    Ok(jobs.into_iter().filter(|job| !done.contains(&job.configuration.key(&job.task))).collect())
}

/// A folder for this process, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Error> {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("cpa-bench.{}.{number}", process::id()));
        // One of the same number can only be left from a process that was killed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        Ok(Scratch(folder.canonicalize().map_err(Error::file("read", &folder))?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
