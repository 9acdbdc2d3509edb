// SPDX-License-Identifier: Apache-2.0
//! The clock of a thread, which other threads can read: limits of time are about what a call computes, not about how busy the
//! machine is.

use std::time::{Duration, Instant};

/// The CPU time of one thread.
#[derive(Copy, Clone, Debug)]
pub struct ThreadClock {
    #[cfg(target_os = "linux")]
    id: libc::clockid_t,
}

/// When a call has to end.
#[derive(Copy, Clone, Debug)]
pub(super) struct Deadline {
    /// Where the system measures the time of a thread: its clock, and what that shows in the end.
    computed: Option<(ThreadClock, Duration)>,
    /// The same in wall time, for other systems.
    wall: Instant,
}

impl ThreadClock {
    /// The clock of the thread that asks; none where the system has no such clocks.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub fn of_this_thread() -> Option<Self> {
        let mut id: libc::clockid_t = 0;
        // SAFETY: the thread that asks exists, and the pointer is to a variable of its own.
        let known = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut id) } == 0;
        known.then_some(ThreadClock { id })
    }

    /// The clock of the thread that asks; none where the system has no such clocks.
    #[cfg(not(target_os = "linux"))]
    pub fn of_this_thread() -> Option<Self> {
        None
    }

    /// The CPU time that the thread has used; none after its end.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub fn now(&self) -> Option<Duration> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a variable of its own. For a thread that has ended an error is returned.
        let known = unsafe { libc::clock_gettime(self.id, &raw mut time) } == 0;
        let seconds = u64::try_from(time.tv_sec).ok()?;
        known.then(|| Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0)))
    }

    /// The CPU time that the thread has used; none after its end.
    #[cfg(not(target_os = "linux"))]
    pub fn now(&self) -> Option<Duration> {
        None
    }
}

impl Deadline {
    /// When this thread has computed for so long; none if that never comes.
    pub(super) fn after(time: Duration) -> Option<Self> {
        let clock = ThreadClock::of_this_thread();
        let computed = clock.and_then(|clock| Some((clock, clock.now()?.checked_add(time)?)));
        Some(Deadline { computed, wall: Instant::now().checked_add(time)? })
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        match self.computed.and_then(|(clock, end)| Some(clock.now()? >= end)) {
            Some(over) => over,
            None => Instant::now() >= self.wall,
        }
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
