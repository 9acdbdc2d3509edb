// SPDX-License-Identifier: Apache-2.0
//! Processes and their groups, by the calls to the operating system that the standard library has no name for.
//! Linux only. `wait4`, which alone tells what an ended process has used, has no safe wrapper elsewhere and is the only
//! unsafe code of this crate.

use std::{fs, io, mem, time::Duration};

use rustix::{
    io::Errno,
    process::{
        Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, prlimit, waitid,
    },
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

/// A process that leads its own process group; the group has the same number. It was started by this process, and
/// nobody else waits for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leader(Pid);

/// How a process ended and what it used, descendants it waited for included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) cpu: Duration,
    pub(crate) peak_memory: u64,
}

impl Leader {
    /// The process with the number of a `std::process::Child`.
    pub(crate) fn new(id: u32) -> Leader {
        Leader(Pid::from_raw(id as i32).expect("the number of a child process is positive"))
    }

    /// The number of the process and of its group.
    pub(crate) fn id(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Whether the process has ended. It stays a zombie, so its number (and the group's) cannot be given to another.
    pub(crate) fn has_ended(self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.0), options) {
            // The signal that interrupted the call is looked for elsewhere.
            Err(Errno::INTR) => Ok(false),
            ended => Ok(ended?.is_some()),
        }
    }

    /// Kills every process of the group. Only to be called before [`Leader::reap`], see [`Leader::has_ended`].
    pub(crate) fn kill_group(self) {
        // It can only fail because nobody is left.
        let _ = kill_process_group(self.0, Signal::KILL);
    }

    /// No core dumps, and a limit of the kernel's own on CPU time, which holds even if nobody watches any more.
    /// Processes that it starts later inherit both.
    pub(crate) fn set_limits(self, cpu: Duration) -> io::Result<()> {
        for (resource, limit) in [(Resource::Cpu, cpu.as_secs() + 1), (Resource::Core, 0)] {
            match prlimit(Some(self.0), resource, Rlimit { current: Some(limit), maximum: Some(limit) }) {
                // It has ended already.
                Err(Errno::SRCH) => return Ok(()),
                other => other?,
            };
        }
        Ok(())
    }

    /// Waits for the end of the process and removes the zombie.
    pub(crate) fn reap(self) -> io::Result<Reaped> {
        let mut status = 0;
        #[allow(unsafe_code)]
        // SAFETY: rusage is plain data for which all zeros is a value.
        let mut usage: libc::rusage = unsafe { mem::zeroed() };
        loop {
            #[allow(unsafe_code)]
            // SAFETY: both references are valid for writing during the call.
            if unsafe { libc::wait4(self.id(), &mut status, 0, &mut usage) } == self.id() {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let duration = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
        Ok(Reaped {
            exit_code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
            peak_memory: usage.ru_maxrss as u64 * 1024,
        })
    }
}

/// Sends a signal to a process that is known to belong to a run: SIGKILL, or SIGTERM that it can react to.
pub(crate) fn kill(pid: i32, at_once: bool) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It can only fail because the process is gone.
        let _ = kill_process(pid, if at_once { Signal::KILL } else { Signal::TERM });
    }
}

/// The processor cores that this program may use, in the order in which they are given to runs: hardware threads of the
/// same core are neighbours if all are `needed`, and otherwise the first threads of all cores come first.
pub(crate) fn cores(needed: usize) -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    let available: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    let siblings = |cpu: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string())
    };
    arrange(available.into_iter().map(|cpu| (cpu, siblings(cpu))).collect(), needed)
}

fn arrange(cpus: Vec<(usize, String)>, needed: usize) -> Vec<usize> {
    let mut physical: Vec<(String, Vec<usize>)> = Vec::new();
    for (cpu, siblings) in cpus {
        match physical.iter_mut().find(|(known, _)| *known == siblings) {
            Some((_, threads)) => threads.push(cpu),
            None => physical.push((siblings, vec![cpu])),
        }
    }
    if needed > physical.len() {
        return physical.into_iter().flat_map(|(_, threads)| threads).collect();
    }
    physical.into_iter().map(|(_, threads)| threads[0]).collect()
}

/// Binds this thread, and processes that it starts later, to the cores.
pub(crate) fn pin(cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_threads_of_a_core_are_not_given_to_two_runs() {
        let cpus = || [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")].map(|(cpu, s)| (cpu, s.to_string())).to_vec();
        assert_eq!(arrange(cpus(), 2), [0, 1]);
        assert_eq!(arrange(cpus(), 4), [0, 2, 1, 3]);
    }
}
