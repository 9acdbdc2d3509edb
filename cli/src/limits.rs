// SPDX-License-Identifier: Apache-2.0
//! Resource limits of the process: CPU time, wall time, memory and signals.
//!
//! The analysis asks its [`cpa_core::Budget`] between steps; a watchdog in the main thread looks at the same limits ten
//! times a second, interrupts the solver, and ends the process in order if the analysis does not come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cpa_core::{Budget, Stop};
use rustix::time::{ClockId, clock_gettime};

/// CPU time that this process has used.
pub fn cpu_time() -> Duration {
    time(ClockId::ProcessCPUTime)
}

/// CPU time that this thread has used.
pub fn thread_time() -> Duration {
    time(ClockId::ThreadCPUTime)
}

fn time(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// The shorter of two times, where there are such.
pub fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    one.into_iter().chain(other).min()
}

/// Memory that this process holds, in bytes; none where the system does not say.
pub fn memory_used() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * u64::try_from(rustix::param::page_size()).ok()?)
}

/// Gives memory that was freed back to the system, where the C library can do that: glibc keeps most of what a thread had.
#[allow(unsafe_code)]
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only touches memory that nobody holds, under the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct Limits {
    /// CPU time of the process.
    pub cpu: Option<Duration>,
    /// Wall time of the run.
    pub wall: Option<Duration>,
    /// Memory of the process, in bytes.
    pub memory: Option<u64>,
    start: Instant,
    /// Set by the watchdog; reading the memory is too slow for every step.
    memory_out: Arc<AtomicBool>,
}

impl Limits {
    /// Limits that count from now on (wall time) or from the start of the process (CPU time).
    pub fn new(cpu: Option<Duration>, wall: Option<Duration>, memory: Option<u64>) -> Self {
        Self { cpu, wall, memory, start: Instant::now(), memory_out: Arc::new(AtomicBool::new(false)) }
    }

    /// The same with a part of what is left of the CPU time, or with half a minute if it has no limit.
    pub fn part(&self, divisor: u32) -> Self {
        let share = self.remaining().map_or(Duration::from_secs(30), |left| left / divisor);
        Self { cpu: shorter(self.cpu, Some(cpu_time() + share)), ..self.clone() }
    }

    /// Looks at all limits, memory too.
    pub fn exceeded(&self) -> Option<Stop> {
        if let (Some(limit), Some(used)) = (self.memory, memory_used())
            && used > limit
        {
            self.memory_out.store(true, Ordering::Relaxed);
        }
        self.check().err()
    }

    /// Wall time since the run began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Budget for Limits {
    fn check(&self) -> Result<(), Stop> {
        if self.memory_out.load(Ordering::Relaxed) {
            return Err(Stop::MemoryOut);
        }
        match self.remaining() {
            Some(Duration::ZERO) => Err(Stop::Timeout),
            _ => Ok(()),
        }
    }

    fn remaining(&self) -> Option<Duration> {
        let cpu = self.cpu.map(|limit| limit.saturating_sub(cpu_time()));
        let wall = self.wall.map(|limit| limit.saturating_sub(self.start.elapsed()));
        shorter(cpu, wall)
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
