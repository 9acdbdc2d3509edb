// SPDX-License-Identifier: Apache-2.0
//! Control groups of version 2: the kernel sums up CPU time and memory of a run, ends it when it needs too much memory,
//! and kills all of it at once. They can be used where this program may create groups beside its own and has the
//! controllers `cpu` and `memory` there, for instance under `systemd-run --user --scope -p Delegate=yes cpa-bench ...`;
//! elsewhere processes are polled.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{self, Command},
    thread,
    time::Duration,
};

/// Where groups are created, if anywhere.
#[derive(Debug)]
pub struct Cgroups {
    base: Result<PathBuf, String>,
}

/// The group of one run; removed in the end.
#[derive(Debug)]
pub struct Cgroup {
    folder: PathBuf,
}

/// What a group has used so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CgroupUsage {
    /// CPU time.
    pub cpu: Duration,
    /// Memory at present.
    pub current: u64,
    /// The peak of memory; kernels before 5.19 do not tell.
    pub peak: Option<u64>,
}

impl Cgroups {
    /// Prepares a place for groups. Why there is none can be asked for.
    pub fn find() -> Cgroups {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Cgroups { base: own_folder(&mounts, &own).and_then(|folder| prepare(&folder)) }
    }

    /// Polling, whether or not there is something better.
    pub fn none() -> Cgroups {
        Cgroups { base: Err("not asked for".into()) }
    }

    /// `cgroup` or `polling`, as it stands in results.
    pub fn name(&self) -> &'static str {
        if self.base.is_ok() { "cgroup" } else { "polling" }
    }

    /// Why there are no groups.
    pub fn reason(&self) -> Option<&str> {
        self.base.as_ref().err().map(String::as_str)
    }

    /// A group for a run; none where runs are polled.
    pub(crate) fn group(&self, number: u64, memory: u64) -> io::Result<Option<Cgroup>> {
        let Ok(base) = &self.base else { return Ok(None) };
        let folder = base.join(format!("run-{number}"));
        fs::create_dir(&folder)?;
        let group = Cgroup { folder };
        let memory = if memory == u64::MAX { "max".to_string() } else { memory.to_string() };
        fs::write(group.folder.join("memory.max"), memory)?;
        // A machine without swap has no such file.
        let _ = fs::write(group.folder.join("memory.swap.max"), "0");
        Ok(Some(group))
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        if let Ok(base) = &self.base {
            // It fails while a group is left, which then stays for the user to see.
            let _ = fs::remove_dir(base);
        }
    }
}

/// The folder of this process's own group.
fn own_folder(mounts: &str, own: &str) -> Result<PathBuf, String> {
    let mount = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|f| f.get(2) == Some(&"cgroup2"));
    let mount = mount
        .and_then(|fields| fields.get(1).map(PathBuf::from))
        .ok_or("control groups of version 2 are not mounted")?;
    let path =
        own.lines().find_map(|line| line.strip_prefix("0::/")).ok_or("this process is in no group of version 2")?;
    Ok(mount.join(path))
}

/// Moves this process to a group of its own below, because a group that passes on controllers must have no processes,
/// and makes the folder in which the runs' groups are created.
fn prepare(own: &Path) -> Result<PathBuf, String> {
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let controllers = read(own, "cgroup.controllers");
    for needed in ["cpu", "memory"] {
        if !controllers.split_whitespace().any(|name| name == needed) {
            return Err(format!("the controller '{needed}' is not available in {}", own.display()));
        }
    }
    let failed = |what: &str, e: io::Error| format!("cannot {what} in {}: {e}", own.display());
    let (main, base) = (own.join("cpa-bench"), own.join(format!("cpa-bench-runs.{}", process::id())));
    fs::create_dir(&main)
        .or_else(|e| if main.is_dir() { Ok(()) } else { Err(e) })
        .map_err(|e| failed("create a group", e))?;
    fs::write(main.join("cgroup.procs"), "0").map_err(|e| failed("move this process", e))?;
    let enable = |folder: &Path| fs::write(folder.join("cgroup.subtree_control"), "+cpu +memory");
    enable(own).map_err(|e| failed("pass on controllers", e))?;
    fs::create_dir(&base).map_err(|e| failed("create a group", e))?;
    enable(&base).map_err(|e| failed("pass on controllers", e))?;
    Ok(base)
}

impl Cgroup {
    /// The same command, started by a shell that first enters the group.
    pub(crate) fn enter(&self, command: &Command) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "echo 0 > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.folder);
        shell.arg(command.get_program()).args(command.get_args());
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            shell.current_dir(folder);
        }
        shell
    }

    /// What it has used; nothing if it cannot be read.
    pub(crate) fn usage(&self) -> Option<CgroupUsage> {
        let read = |name: &str| fs::read_to_string(self.folder.join(name)).ok();
        let cpu = read("cpu.stat")?.lines().find_map(|line| line.strip_prefix("usage_usec ")?.parse().ok())?;
        let current = read("memory.current")?.trim().parse().ok()?;
        let peak = read("memory.peak").and_then(|text| text.trim().parse().ok());
        Some(CgroupUsage { cpu: Duration::from_micros(cpu), current, peak })
    }

    /// Whether the kernel ended a process for its memory.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        events.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count.trim() != "0"))
    }

    /// Kills everything in it. Kernels before 5.14 cannot; the caller kills the processes it knows in any case.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for pause in [0, 1, 10, 100] {
            thread::sleep(Duration::from_millis(pause));
            if fs::remove_dir(&self.folder).is_ok() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found() {
        let mounts = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
        let own = "0::/user.slice/user-1000.slice\n";
        assert_eq!(own_folder(mounts, own), Ok("/sys/fs/cgroup/user.slice/user-1000.slice".into()));
        assert!(own_folder("cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n", own).unwrap_err().contains("not mounted"));
        assert!(own_folder(mounts, "1:cpu:/\n").is_err());
    }

    #[test]
    fn what_the_kernel_writes_is_read() {
        let folder = std::env::temp_dir().join(format!("cpa-bench-cgroup-test.{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(prepare(&folder).unwrap_err().contains("the controller 'cpu' is not available"));
        let group = Cgroup { folder: folder.clone() };
        assert_eq!(group.usage(), None);
        fs::write(folder.join("cpu.stat"), "usage_usec 1500000\nuser_usec 1000000\n").unwrap();
        fs::write(folder.join("memory.current"), "4096\n").unwrap();
        fs::write(folder.join("memory.events"), "low 0\noom 1\noom_kill 0\n").unwrap();
        let used = CgroupUsage { cpu: Duration::from_millis(1500), current: 4096, peak: None };
        assert_eq!((group.usage(), group.ran_out_of_memory()), (Some(used), false));
        fs::write(folder.join("memory.events"), "oom_kill 2\n").unwrap();
        assert!(group.ran_out_of_memory());
        fs::remove_dir_all(&folder).unwrap();
    }
}
