// SPDX-License-Identifier: Apache-2.0
//! One run of a tool under limits.
//!
//! The tool leads a process group of its own. While it runs, the members of the group are looked up in `/proc`: their
//! CPU times and resident memory are summed up and compared with the limits, so a tool that works in child processes
//! gets no more than one that works in threads, and address space that is only reserved costs nothing. Memory shared
//! between members counts once for each. At the end, and when a limit is exceeded, the whole group is killed.
//!
//! CPU time and peak memory that are reported come from `wait4`, which is exact and covers descendants that were waited
//! for; what was seen in `/proc` is added for those that were not. Processes that leave the group are not seen.

use std::{
    fs,
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::param::{clock_ticks_per_second, page_size};

use crate::sys::Leader;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// CPU time of the whole group; a run that uses more is not solved, whatever it says.
    pub cpu: Duration,
    /// Wall time.
    pub wall: Duration,
    /// Resident memory of the whole group in bytes.
    pub memory: u64,
}

impl Limits {
    /// When a run is killed for its CPU time: a little after the limit, so that a tool that keeps the limit by itself
    /// can still say so.
    fn cpu_kill(&self) -> Duration {
        self.cpu + self.cpu / 10 + Duration::from_secs(2)
    }
}

/// Bytes that a tool may print; a tool in an endless loop of messages must not fill the disk.
const OUTPUT_LIMIT: u64 = 100_000_000;
/// The longest pause between two looks at a running tool.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Every so many looks the group's members are searched among all processes, which is the expensive part.
const LOOKS_PER_SEARCH: u32 = 8;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that this program did not send.
    Signal(i32),
    /// Killed, out of CPU or wall time.
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
    stop: &(dyn Fn() -> bool + Sync),
) -> io::Result<Outcome> {
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?).process_group(0);
    let started = Instant::now();
    let child = command.spawn()?;
    let leader = Leader::new(child.id());
    let mut group = Group::new(leader);
    let watched = watch(&mut group, log, limits, started, stop);
    let wall = started.elapsed();
    leader.kill_group();
    group.wait_for_end();
    let reaped = leader.reap()?;
    let (killed, usage) = watched?;
    let end = match (killed, reaped.exit_code, reaped.signal) {
        (Some(end), _, _) => end,
        (None, Some(code), _) => End::Exited(code),
        // At the limit of `set_limits` the kernel ends a process by a signal.
        (None, None, _) if reaped.cpu >= limits.cpu_kill() => End::Time,
        (None, None, signal) => End::Signal(signal.unwrap_or(0)),
    };
    let cpu = (reaped.cpu + usage.left_over).max(usage.cpu);
    Ok(Outcome { end, cpu, wall, memory: reaped.peak_memory.max(usage.peak) })
}

/// What the looks at `/proc` added up to.
#[derive(Default)]
struct Usage {
    /// CPU time of all members at the last look that saw more than before.
    cpu: Duration,
    /// CPU time of members other than the leader when the leader ended.
    left_over: Duration,
    /// The most resident memory at any look.
    peak: u64,
}

/// Returns when the leader has ended (`None`) or the group must be killed, which is left to the caller.
fn watch(
    group: &mut Group,
    log: &File,
    limits: &Limits,
    started: Instant,
    stop: &(dyn Fn() -> bool + Sync),
) -> io::Result<(Option<End>, Usage)> {
    let leader = group.leader;
    leader.set_limits(limits.cpu_kill() + Duration::from_secs(5))?;
    let mut usage = Usage::default();
    let mut pause = Duration::from_millis(1);
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
        let (cpu, memory) =
            group.members().fold((Duration::ZERO, 0), |(cpu, memory), m| (cpu + m.cpu, memory + m.resident));
        usage.cpu = usage.cpu.max(cpu);
        usage.peak = usage.peak.max(memory);
        let end = if stop() {
            End::Interrupted
        } else if cpu > limits.cpu_kill() || started.elapsed() > limits.wall {
            End::Time
        } else if memory > limits.memory {
            End::Memory
        } else if log.metadata()?.len() > OUTPUT_LIMIT {
            End::Output
        } else {
            continue;
        };
        return Ok((Some(end), usage));
    }
    Ok((None, usage))
}

/// A process group as far as it is known.
struct Group {
    leader: Leader,
    pids: Vec<i32>,
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
    fn new(leader: Leader) -> Group {
        let (ticks_per_second, page_size) = (clock_ticks_per_second(), page_size() as u64);
        Group { leader, pids: vec![leader.id()], ticks_per_second, page_size }
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

    /// Waits until nothing of a group that was killed runs any more, so that the next run has the machine for itself.
    /// A process that does not end within some seconds hangs in the kernel; nothing can be done about that.
    fn wait_for_end(&mut self) {
        for pause in [1, 2, 5, 10, 50, 100, 500, 1000, 2000] {
            self.search();
            if !self.members().any(|member| member.alive) {
                break;
            }
            thread::sleep(Duration::from_millis(pause));
        }
    }

    /// `None` if there is no such process, or it belongs to another group.
    fn member(&self, pid: i32) -> Option<Member> {
        let text = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
        // The second field is the program's name in parentheses and may contain anything; then come state, parent, group.
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        if number(2)? != self.leader.id() as u64 {
            return None;
        }
        // User and system time of itself and of the children it has waited for.
        let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
        let cpu = Duration::from_millis(ticks * 1000 / self.ticks_per_second);
        let alive = !matches!(*fields.first()?, "Z" | "X");
        Some(Member { pid, alive, cpu, resident: number(21)? * self.page_size })
    }
}
