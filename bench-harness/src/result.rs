// SPDX-License-Identifier: Apache-2.0
//! The judgement of one run, and result files: one JSON object a line, complete as soon as the run has ended.

use std::{
    collections::BTreeMap,
    fs,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    answer::{Answer, Verdict},
    error::Error,
    limits::{End, Limits, Outcome},
    task::Expected,
    validation::Checked,
};

/// What came out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// TRUE or FALSE, as expected.
    Correct,
    /// TRUE or FALSE, and the opposite was expected (or another subproperty).
    Wrong,
    /// TRUE or FALSE, and the definition says nothing about the property.
    Unjudged,
    /// The tool gave up.
    Unknown,
    /// Out of CPU or wall time, whether the tool noticed or was killed.
    Timeout,
    /// Out of memory, likewise.
    Memory,
    /// No verdict for another reason: bad input, an error message, silence.
    Error,
    /// A panic or another internal error, or the end by a signal.
    Crash,
}

impl Status {
    /// All of them in the order of reports.
    pub const ALL: [Status; 8] = [
        Status::Correct,
        Status::Wrong,
        Status::Unjudged,
        Status::Unknown,
        Status::Timeout,
        Status::Memory,
        Status::Error,
        Status::Crash,
    ];

    /// As it stands in result files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Correct => "correct",
            Status::Wrong => "wrong",
            Status::Unjudged => "unjudged",
            Status::Unknown => "unknown",
            Status::Timeout => "timeout",
            Status::Memory => "memory",
            Status::Error => "error",
            Status::Crash => "crash",
        }
    }
}

/// One line of a result file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// `CATEGORY/NAME`.
    pub task: String,
    /// The folder of the task definition.
    pub category: String,
    /// The name of the property.
    pub property: String,
    /// `true`, `false`, `false(subproperty)`.
    pub expected: Option<String>,
    /// What the tool printed.
    pub verdict: Option<Verdict>,
    /// The judgement.
    pub status: Status,
    /// Why there is no verdict, or what is wrong with it.
    pub reason: Option<String>,
    /// CPU time in seconds of all processes of the tool.
    pub cpu_s: f64,
    /// Wall time in seconds.
    pub wall_s: f64,
    /// Peak of resident memory in bytes.
    pub memory_bytes: u64,
    /// The exit code, unless a signal ended the tool.
    pub exit_code: Option<i32>,
    /// What the tool calls itself.
    pub tool: String,
    /// The options given to it beside those of the task and the limits.
    pub options: Vec<String>,
    /// The limit of CPU time in seconds.
    pub timelimit_s: f64,
    /// The limit of memory in bytes.
    pub memlimit_bytes: u64,
    /// The name of the configuration, if the file holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The parameter that is varied, and its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<Parameter>,
    /// How usage was measured and limited: `cgroup` or `polling`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_by: Option<String>,
    /// Numbers that the tool printed, by their labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub statistics: BTreeMap<String, f64>,
    /// What the check of its evidence said, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Checked>,
    /// The output of the run, relative to the folder of the result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

/// A parameter of a configuration with the value it had in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// Name and parameter of a configuration in one text.
pub fn column(config: Option<&str>, parameter: Option<&Parameter>) -> Option<String> {
    match (config, parameter) {
        (config, None) => config.map(String::from),
        (config, Some(Parameter { name, value })) => {
            Some(format!("{} {name}={value}", config.unwrap_or_default()).trim_start().to_string())
        }
    }
}

/// What tells the lines of a file apart: configuration, task and property.
pub type Key = (String, String, String);

impl Record {
    /// What tells the lines of a file apart.
    pub fn key(&self) -> Key {
        (self.column().unwrap_or_default(), self.task.clone(), self.property.clone())
    }

    /// The configuration with its parameter, such as `lbe k=10`; none if the file holds only one.
    pub fn column(&self) -> Option<String> {
        column(self.config.as_deref(), self.parameter.as_ref())
    }

    /// Whether the tool said that the property holds, rightly or not.
    pub fn is_proof(&self) -> bool {
        self.verdict == Some(Verdict::True)
    }
}

/// Status and reason of a run. A verdict that is wrong counts as wrong however the run ended; one that is right counts
/// only if the tool kept the limits and ended in order.
pub fn judge(
    expected: Option<&Expected>,
    answer: &Answer,
    outcome: &Outcome,
    limits: &Limits,
) -> (Status, Option<String>) {
    let explanation = || answer.explanation().map(str::to_string);
    let holds = match answer.verdict {
        Some(Verdict::True) => Some(true),
        Some(Verdict::False) => Some(false),
        Some(Verdict::Unknown) | None => None,
    };
    if let (Some(expected), Some(holds)) = (expected, holds) {
        if expected.holds != holds {
            return (Status::Wrong, Some(format!("expected {}, got {holds}", expected.text())));
        }
        if let (Some(known), Some(violated)) = (&expected.subproperty, &answer.violated)
            && known != violated
        {
            return (Status::Wrong, Some(format!("expected {}, got false({violated})", expected.text())));
        }
    }
    if let Some(panic) = &answer.panic {
        return (Status::Crash, Some(panic.clone()));
    }
    match outcome.end {
        End::Signal(signal) => return (Status::Crash, Some(format!("killed by {}", signal_name(signal)))),
        End::Time => return (Status::Timeout, None),
        End::Memory => return (Status::Memory, None),
        End::Output => return (Status::Error, Some("printed too much".into())),
        End::Exited(_) | End::Interrupted => {}
    }
    if outcome.cpu > limits.cpu || outcome.wall > limits.wall {
        return (Status::Timeout, None);
    }
    if outcome.memory > limits.memory {
        return (Status::Memory, None);
    }
    if answer.contradictory {
        return (Status::Error, Some("contradictory verdicts".into()));
    }
    match answer.verdict {
        Some(Verdict::True | Verdict::False) if expected.is_none() => (Status::Unjudged, None),
        Some(Verdict::True | Verdict::False) => (Status::Correct, None),
        Some(Verdict::Unknown) => {
            let reason = explanation();
            let says = |words: &[&str]| {
                let reason = reason.as_deref().unwrap_or_default().to_lowercase();
                words.iter().any(|word| reason.contains(word))
            };
            let status = if says(&["internal error"]) {
                Status::Crash
            } else if says(&["time limit", "timeout", "timed out"]) {
                Status::Timeout
            } else if says(&["memory limit", "out of memory"]) {
                Status::Memory
            } else {
                Status::Unknown
            };
            (status, reason)
        }
        None => {
            let code = match outcome.end {
                End::Exited(code) if code != 0 => format!("exit code {code}"),
                _ => "no verdict".into(),
            };
            (Status::Error, Some(explanation().map_or(code.clone(), |text| format!("{code}: {text}"))))
        }
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        // Nobody but the system's own memory killer would send it.
        libc::SIGKILL => "SIGKILL (is the machine out of memory?)",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    name.into()
}

/// The lines of a result file, in the order in which the tasks first appear; the last of several for a task counts.
#[derive(Debug, Default)]
pub struct Results {
    /// The records, one for each task and property.
    pub records: Vec<Record>,
    /// Bytes of complete lines; what follows was cut off when its writer died.
    complete: u64,
    /// Whether something follows.
    pub cut_off: bool,
}

/// Reads a result file. Only the last line may be incomplete.
pub fn read(path: &Path) -> Result<Results, Error> {
    let bytes = fs::read(path).map_err(Error::file("read", path))?;
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut results = Results { complete: complete as u64, cut_off: complete < bytes.len(), ..Results::default() };
    let mut places = BTreeMap::new();
    for (index, line) in bytes[..complete].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let record: Record = serde_json::from_slice(line).map_err(|e| Error::Results {
            path: path.into(),
            line: index + 1,
            message: e.to_string(),
        })?;
        let place = *places.entry(record.key()).or_insert(results.records.len());
        if place < results.records.len() {
            results.records[place] = record;
        } else {
            results.records.push(record);
        }
    }
    Ok(results)
}

/// What to do with a result file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse.
    Keep,
    /// Add what is missing.
    Resume,
    /// Begin anew.
    Overwrite,
}

/// Appends to a result file that no other process writes to.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Writer {
    /// Opens the file and returns what it holds already.
    pub fn open(path: &Path, existing: Existing) -> Result<(Writer, Vec<Record>), Error> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
        }
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(Error::file("write", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Usage(format!("{} is being written by another process", path.display())));
            }
            Err(TryLockError::Error(source)) => return Err(Error::file("lock", path)(source)),
        }
        let metadata = file.metadata().map_err(Error::file("read", path))?;
        let mut length = metadata.len();
        let mut records = Vec::new();
        if metadata.is_file() && length > 0 {
            match existing {
                Existing::Keep => {
                    let message = "exists; --resume adds the tasks it lacks, --overwrite begins anew";
                    return Err(Error::Usage(format!("{} {message}", path.display())));
                }
                Existing::Resume => {
                    let results = read(path)?;
                    length = results.complete;
                    records = results.records;
                }
                Existing::Overwrite => length = 0,
            }
            file.set_len(length).map_err(Error::file("write", path))?;
        }
        Ok((Writer { file, path: path.into(), length }, records))
    }

    /// Writes one line at once. If that fails, the file still ends in a complete line.
    pub fn append(&mut self, record: &Record) -> Result<(), Error> {
        let mut line = serde_json::to_vec(record).map_err(io::Error::from).map_err(Error::file("write", &self.path))?;
        line.push(b'\n');
        if let Err(source) = self.file.write_all(&line) {
            // The first error is the one to report; a device such as /dev/full has no length.
            let _ = self.file.set_len(self.length);
            return Err(Error::file("write", &self.path)(source));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Some file systems report a full disk only now.
    pub fn finish(self) -> Result<(), Error> {
        match self.file.sync_data() {
            // Not a file on a disk.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP | libc::EROFS)) => Ok(()),
            other => other.map_err(Error::file("write", self.path)),
        }
    }
}
