// SPDX-License-Identifier: Apache-2.0
//! The clock of a thread, which another thread can read: limits of time are about what a call computes, not about how busy the
//! machine is.

use std::time::{Duration, Instant};

/// The CPU time of the thread that made it; wall time where the system does not measure that.
#[derive(Copy, Clone, Debug)]
pub(super) struct Clock {
    #[cfg(target_os = "linux")]
    thread: Option<libc::clockid_t>,
    start: Instant,
}

/// A time on a [`Clock`].
#[derive(Copy, Clone, Debug)]
pub(super) struct Deadline {
    clock: Clock,
    end: Duration,
}

impl Deadline {
    /// So much later on the clock of this thread; none if that never comes.
    pub(super) fn after(time: Duration) -> Option<Self> {
        let clock = Clock::of_this_thread();
        Some(Deadline { clock, end: clock.now().checked_add(time)? })
    }

    /// Whether it is over. The thread whose clock it is must still run.
    pub(super) fn is_over(&self) -> bool {
        self.clock.now() >= self.end
    }
}

impl Clock {
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    fn of_this_thread() -> Self {
        let mut id: libc::clockid_t = 0;
        // SAFETY: the thread that asks exists, and the pointer is to a variable of its own.
        let known = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut id) } == 0;
        Clock { thread: known.then_some(id), start: Instant::now() }
    }

    #[cfg(not(target_os = "linux"))]
    fn of_this_thread() -> Self {
        Clock { start: Instant::now() }
    }

    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    fn now(&self) -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        match self.thread {
            // SAFETY: the pointer is to a variable of its own. The clock of a thread that has ended is reported as an error.
            Some(id) if unsafe { libc::clock_gettime(id, &raw mut time) } == 0 => {
                let whole = u64::try_from(time.tv_sec).unwrap_or(0);
                Duration::from_secs(whole) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
            }
            _ => self.start.elapsed(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn sleep_does_not_count_and_work_does() {
        let deadline = Deadline::after(Duration::from_millis(30)).unwrap();
        std::thread::sleep(Duration::from_millis(60));
        assert!(!std::thread::spawn(move || deadline.is_over()).join().unwrap(), "the thread slept");
        let mut number = 1u64;
        while !deadline.is_over() {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        assert!(std::thread::spawn(move || deadline.is_over()).join().unwrap());
        assert!(Deadline::after(Duration::MAX).is_none());
    }
}
