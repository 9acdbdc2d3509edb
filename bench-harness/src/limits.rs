// SPDX-License-Identifier: Apache-2.0
//! One run of a tool under limits.
//!
//! The tool leads a process group of its own. While it runs, its processes are looked up in `/proc`: the members of the
//! group, and those that left it, which are known by a mark in their environment. Their CPU times and resident memory are
//! summed up and compared with the limits, so a tool that works in child processes gets no more than one that works in
//! threads, and address space that is only reserved costs nothing. Memory shared between processes counts once for each.
//! Where control groups of version 2 may be used, they do the summing up and count shared memory once ([`crate::cgroup`]).
//!
//! Out of time, the tool is asked to end (SIGTERM) so that it can still print something, and killed shortly after; out of
//! memory it is killed at once. At the end of a run everything that is left of it is killed.
//!
//! CPU time and peak memory that are reported come from `wait4`, which is exact and covers descendants that were waited
//! for; what was seen in `/proc` is added for those that were not. A process that leaves the group and also clears its
//! environment is not seen.

use std::{
    fs,
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{self, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::param::{clock_ticks_per_second, page_size};

use crate::{
    cgroup::{Cgroup, Cgroups},
    sys::{Leader, kill},
};

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// CPU time of all processes; a run that uses more is not solved, whatever it says.
    pub cpu: Duration,
    /// Wall time.
    pub wall: Duration,
    /// Resident memory of all processes in bytes.
    pub memory: u64,
}

/// How long after a limit of time a tool that keeps the limit by itself has to say so; then it is asked to end.
const OWN_TIME: Duration = Duration::from_millis(300);
/// How long after that it is killed.
const LAST_WORDS: Duration = Duration::from_millis(400);
/// The name of the environment variable that marks the processes of a run.
const MARK: &str = "CPA_BENCH_RUN";
/// Bytes that a tool may print; a tool in an endless loop of messages must not fill the disk.
const OUTPUT_LIMIT: u64 = 100_000_000;
/// The longest pause between two looks at a running tool.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Every so many looks its processes are searched among all of the machine, which is the expensive part.
const LOOKS_PER_SEARCH: u32 = 8;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that this program did not send.
    Signal(i32),
    /// Out of CPU or wall time.
    Time,
    /// Killed, out of memory.
    Memory,
    /// Killed, because it printed too much.
    Output,
    /// Killed, because this program was asked to end.
    Interrupted,
}

/// What a run used and how it ended.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// CPU time of all its processes.
    pub cpu: Duration,
    /// Wall time.
    pub wall: Duration,
    /// Peak of resident memory in bytes.
    pub memory: u64,
}

/// Runs the command with both outputs going to the end of `log`, until it ends or must be ended, which `stop` may ask
/// for. An error means that it could not be started or watched; nothing is left running then.
pub fn run(
    command: &mut Command,
    log: &File,
    limits: &Limits,
    cgroups: &Cgroups,
    stop: &(dyn Fn() -> bool + Sync),
) -> io::Result<Outcome> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let mark = format!("{}.{number}", process::id());
    let cgroup = cgroups.group(number, limits.memory)?;
    let mut command = cgroup.as_ref().map_or_else(|| same(command), |cgroup| cgroup.enter(command));
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
    command.env(MARK, &mark).process_group(0);
    let started = Instant::now();
    let child = command.spawn()?;
    let leader = Leader::new(child.id());
    let mut group = Group::new(leader, format!("{MARK}={mark}\0"), cgroup);
    let watched = watch(&mut group, log, limits, started, stop);
    let wall = started.elapsed();
    group.kill();
    let reaped = leader.reap()?;
    let (ended, usage) = watched?;
    let end = match (ended, reaped.exit_code, reaped.signal) {
        (Some(end), _, _) => end,
        (None, Some(0), _) => End::Exited(0),
        _ if group.cgroup.as_ref().is_some_and(Cgroup::ran_out_of_memory) => End::Memory,
        (None, Some(code), _) => End::Exited(code),
        // At the limit of `set_limits` the kernel ends a process by a signal.
        _ if reaped.cpu >= limits.cpu => End::Time,
        (None, None, signal) => End::Signal(signal.unwrap_or(0)),
    };
    let mut outcome = Outcome {
        end,
        cpu: (reaped.cpu + usage.left_over).max(usage.cpu),
        wall,
        memory: reaped.peak_memory.max(usage.peak),
    };
    if let Some(total) = group.cgroup.as_ref().and_then(Cgroup::usage) {
        (outcome.cpu, outcome.memory) = (total.cpu, total.peak.unwrap_or(outcome.memory));
    }
    Ok(outcome)
}

/// The same program, arguments, environment and folder.
fn same(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    copy.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        copy.current_dir(folder);
    }
    copy
}

/// What the looks at `/proc` added up to.
#[derive(Default)]
struct Usage {
    /// CPU time of all processes at the last look that saw more than before.
    cpu: Duration,
    /// CPU time of processes other than the leader when the leader ended.
    left_over: Duration,
    /// The most resident memory at any look.
    peak: u64,
}

/// Returns when the leader has ended or the rest must be killed, which is left to the caller; says why, if the tool did
/// not end by itself.
fn watch(
    group: &mut Group,
    log: &File,
    limits: &Limits,
    started: Instant,
    stop: &(dyn Fn() -> bool + Sync),
) -> io::Result<(Option<End>, Usage)> {
    let leader = group.leader;
    leader.set_limits(limits.cpu.saturating_add(Duration::from_secs(5)))?;
    let mut usage = Usage::default();
    let mut pause = Duration::from_millis(1);
    let mut asked_to_end = None;
    for look in 0_u32.. {
        // Long pauses are for long runs: a run's wall time is known to five percent or fifty milliseconds.
        thread::sleep(pause);
        pause = (started.elapsed() / 20).clamp(Duration::from_millis(1), LONGEST_PAUSE);
        if leader.has_ended()? {
            group.search();
            usage.left_over = group.members().filter(|m| m.pid != leader.id()).map(|m| m.cpu).sum();
            break;
        }
        if pause == LONGEST_PAUSE && look % LOOKS_PER_SEARCH == 0 {
            group.search();
        }
        let (cpu, memory) = group.usage();
        usage.cpu = usage.cpu.max(cpu);
        usage.peak = usage.peak.max(memory);
        let over_time =
            cpu > limits.cpu.saturating_add(OWN_TIME) || started.elapsed() > limits.wall.saturating_add(OWN_TIME);
        let end = if stop() {
            End::Interrupted
        } else if memory > limits.memory {
            End::Memory
        } else if log.metadata()?.len() > OUTPUT_LIMIT {
            End::Output
        } else if over_time {
            if asked_to_end.is_none() {
                group.search();
                group.ask_to_end();
            }
            if asked_to_end.get_or_insert_with(Instant::now).elapsed() < LAST_WORDS {
                continue;
            }
            End::Time
        } else {
            continue;
        };
        return Ok((Some(end), usage));
    }
    Ok((asked_to_end.map(|_| End::Time), usage))
}

/// The processes of a run as far as they are known.
struct Group {
    leader: Leader,
    pids: Vec<i32>,
    /// The mark as it stands in an environment.
    mark: String,
    /// When the leader began, in ticks; others of the run began later.
    since: u64,
    cgroup: Option<Cgroup>,
    ticks_per_second: u64,
    page_size: u64,
}

struct Member {
    pid: i32,
    /// Not a zombie.
    alive: bool,
    cpu: Duration,
    resident: u64,
}

impl Group {
    fn new(leader: Leader, mark: String, cgroup: Option<Cgroup>) -> Group {
        let (ticks_per_second, page_size) = (clock_ticks_per_second(), page_size() as u64);
        let since = stat(leader.id()).and_then(|fields| fields.number(19)).unwrap_or(0);
        Group { leader, pids: vec![leader.id()], mark, since, cgroup, ticks_per_second, page_size }
    }

    /// Finds the present members among all processes of the machine.
    fn search(&mut self) {
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        self.pids = pids.filter(|pid| *pid == self.leader.id() || self.member(*pid).is_some()).collect();
    }

    fn members(&self) -> impl Iterator<Item = Member> {
        self.pids.iter().filter_map(|pid| self.member(*pid))
    }

    /// CPU time and resident memory at present.
    fn usage(&self) -> (Duration, u64) {
        if let Some(usage) = self.cgroup.as_ref().and_then(Cgroup::usage) {
            return (usage.cpu, usage.current);
        }
        self.members().fold((Duration::ZERO, 0), |(cpu, memory), m| (cpu + m.cpu, memory + m.resident))
    }

    fn ask_to_end(&self) {
        self.members().for_each(|member| kill(member.pid, false));
    }

    /// Kills everything and waits until nothing of it runs any more, so that the next run has the machine for itself. A
    /// process that does not end within some seconds hangs in the kernel; nothing can be done about that.
    fn kill(&mut self) {
        for pause in [1, 1, 2, 5, 10, 50, 100, 500, 1000, 2000] {
            if let Some(cgroup) = &self.cgroup {
                cgroup.kill();
            }
            self.leader.kill_group();
            self.search();
            let alive: Vec<i32> = self.members().filter(|member| member.alive).map(|member| member.pid).collect();
            if alive.is_empty() {
                break;
            }
            alive.into_iter().for_each(|pid| kill(pid, true));
            thread::sleep(Duration::from_millis(pause));
        }
    }

    /// `None` if there is no such process, or it belongs to another run.
    fn member(&self, pid: i32) -> Option<Member> {
        let fields = stat(pid)?;
        if fields.number(2)? != self.leader.id() as u64 {
            // The environment is only looked at for processes that may belong to the run.
            let later = fields.number(19)? >= self.since;
            if !later || !contains(&fs::read(format!("/proc/{pid}/environ")).ok()?, self.mark.as_bytes()) {
                return None;
            }
        }
        // User and system time of itself and of the children it has waited for.
        let ticks = fields.number(11)? + fields.number(12)? + fields.number(13)? + fields.number(14)?;
        let cpu = Duration::from_millis(ticks * 1000 / self.ticks_per_second);
        Some(Member { pid, alive: fields.is_alive(), cpu, resident: fields.number(21)? * self.page_size })
    }
}

/// `/proc/PID/stat` from the third field on: state, parent, group, ...
struct Stat(String);

fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    // The second field is the program's name in parentheses and may contain anything.
    Some(Stat(text[text.rfind(')')? + 1..].to_string()))
}

impl Stat {
    fn number(&self, index: usize) -> Option<u64> {
        self.0.split_ascii_whitespace().nth(index)?.parse().ok()
    }

    fn is_alive(&self) -> bool {
        !self.0.trim_start().starts_with(['Z', 'X'])
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
