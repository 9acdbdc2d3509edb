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
    answer::Answer,
    error::Error,
    limits::{self, End, Limits},
    progress::Progress,
    result::{self, Record, Writer},
    task::Task,
};

/// Everything that all runs have in common.
#[derive(Debug)]
pub struct Plan {
    /// The tool, as a path that does not depend on the working directory.
    pub tool: PathBuf,
    /// What it calls itself.
    pub tool_name: String,
    /// Options for it beside those of the task and the limits.
    pub options: Vec<String>,
    /// What a run may use.
    pub limits: Limits,
    /// The limits in the words of the command line, for the tool to keep.
    pub limit_texts: LimitTexts,
    /// How many runs at once.
    pub jobs: usize,
    /// Where to keep the outputs.
    pub logs: Option<PathBuf>,
}

/// Limits as the user wrote them.
#[derive(Debug)]
pub struct LimitTexts {
    /// `--timelimit`.
    pub time: String,
    /// `--memlimit`.
    pub memory: String,
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
pub fn run(plan: &Plan, tasks: &[Task], writer: &mut Writer) -> Result<Batch, Error> {
    let scratch = Scratch::new()?;
    let interrupted = catch_interrupts()?;
    let next = AtomicUsize::new(0);
    let aborted = AtomicBool::new(false);
    let stop = || aborted.load(Ordering::Relaxed) || interrupted.load(Ordering::Relaxed);
    let mut progress = Progress::new(tasks.len());
    let mut records = Vec::new();
    let mut failure = None;
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..plan.jobs.min(tasks.len()) {
            let sender = sender.clone();
            let (next, stop, scratch) = (&next, &stop, &scratch);
            scope.spawn(move || {
                while !stop() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { break };
                    match run_one(plan, task, &scratch.0.join(index.to_string()), stop).transpose() {
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
        None => Ok(Batch { interrupted: interrupted.load(Ordering::Relaxed) && records.len() < tasks.len(), records }),
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

/// `None` if the run was ended before its time, so that it has no result.
fn run_one(plan: &Plan, task: &Task, folder: &Path, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<Record>, Error> {
    // A tool may write files where it is started; runs must not see each other's.
    let work = folder.join("work");
    fs::create_dir_all(&work).map_err(Error::file("create", &work))?;
    let path = match &plan.logs {
        Some(logs) => logs.join(format!("{}.{}.log", task.name, task.property)),
        None => folder.join("log"),
    };
    let mut command = Command::new(&plan.tool);
    command.current_dir(&work).arg("--spec").arg(&task.property_file);
    command.args(task.data_model.map(|model| model.option()));
    command.args(["--timelimit", &plan.limit_texts.time, "--memlimit", &plan.limit_texts.memory]);
    command.args(&plan.options).args(&task.inputs);
    let (mut log, start) = new_log(&path, &command)?;
    let outcome = limits::run(&mut command, &log, &plan.limits, stop)
        .map_err(|e| Error::Tool { tool: plan.tool.display().to_string(), message: e.to_string() })?;
    if outcome.end == End::Interrupted {
        return Ok(None);
    }
    log.seek(SeekFrom::Start(start)).map_err(Error::file("read", &path))?;
    let answer = Answer::read(BufReader::new(log)).map_err(Error::file("read", &path))?;
    // What the tool left there is of no interest, nor is it that some of it cannot be removed.
    let _ = fs::remove_dir_all(folder);
    let (status, reason) = result::judge(task.expected.as_ref(), &answer, &outcome, &plan.limits);
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
        tool: plan.tool_name.clone(),
        options: plan.options.clone(),
        timelimit_s: seconds(plan.limits.cpu),
        memlimit_bytes: plan.limits.memory,
        config: None,
        parameter: None,
        measured_by: Some("polling".into()),
        statistics: BTreeMap::new(),
        log: None,
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

/// What the tool calls itself: the first line of what `--version` prints, or the name of the file. An error if it does
/// not run at all, so that this is known before anything is written.
pub fn tool_name(tool: &Path) -> Result<String, Error> {
    let bad = |message: String| Error::Tool { tool: tool.display().to_string(), message };
    let scratch = Scratch::new()?;
    let path = scratch.0.join("version");
    let mut command = Command::new(tool);
    command.current_dir(&scratch.0).arg("--version");
    let (mut log, start) = new_log(&path, &command)?;
    let ten_seconds = Duration::from_secs(10);
    let limits = Limits { cpu: ten_seconds, wall: ten_seconds, memory: u64::MAX };
    let outcome = limits::run(&mut command, &log, &limits, &|| false).map_err(|e| bad(e.to_string()))?;
    log.seek(SeekFrom::Start(start)).map_err(Error::file("read", &path))?;
    let answer = Answer::read(BufReader::new(log)).map_err(Error::file("read", &path))?;
    // 127: the dynamic linker, a shell or `env` did not find something.
    if outcome.end == End::Exited(127) {
        return Err(bad(answer.last_line.unwrap_or_else(|| "exit code 127".into())));
    }
    let file = tool.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(answer.first_line.filter(|_| outcome.end == End::Exited(0)).unwrap_or(file))
}

/// The tasks that `records` lack. An error if the records were made under other circumstances.
pub fn remaining(plan: &Plan, tasks: Vec<Task>, records: &[Record], path: &Path) -> Result<Vec<Task>, Error> {
    let done: BTreeSet<_> = records.iter().map(Record::key).collect();
    for record in records {
        let same = record.options == plan.options
            && record.timelimit_s == seconds(plan.limits.cpu)
            && record.memlimit_bytes == plan.limits.memory;
        if !same {
            let message = "was made with other limits or options; give the same, or another --output";
            return Err(Error::Usage(format!("{} {message}", path.display())));
        }
    }
    Ok(tasks
        .into_iter()
        .filter(|task| !done.contains(&(String::new(), task.name.clone(), task.property.clone())))
        .collect())
}

/// The tool as a path that does not depend on the working directory. Without a name: `cpa-verify`, beside this program
/// or in `PATH`.
pub fn find_tool(name: Option<&Path>) -> Result<PathBuf, Error> {
    let default = Path::new("cpa-verify");
    let name_given = name.is_some();
    let name = name.unwrap_or(default);
    let bad = |message: &str| Error::Tool { tool: name.display().to_string(), message: message.into() };
    if name.components().count() > 1 {
        // Symbolic links stay: some programs behave according to the name they are called by.
        let tool = std::path::absolute(name).map_err(|e| bad(&e.to_string()))?;
        return if tool.is_file() { Ok(tool) } else { Err(bad("no such file")) };
    }
    let beside = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf)).filter(|_| !name_given);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(env::split_paths(&path));
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    let found = found.ok_or_else(|| bad("no such program in PATH; name it with --tool"))?;
    std::path::absolute(found).map_err(|e| bad(&e.to_string()))
}

/// A folder for this process, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Error> {
        let folder = env::temp_dir().join(format!("cpa-bench.{}", process::id()));
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
