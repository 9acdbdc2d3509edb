// SPDX-License-Identifier: Apache-2.0
//! Time limits and interrupts for the calls into one Z3 context.
//!
//! A thread sleeps until a call with limits starts and then looks at the deadline and the interrupt flag every
//! [`PERIOD`]. `Z3_interrupt` has no effect on a call that has not reached its search, so it is repeated until the
//! call ends. The thread keeps polling for a while after a call, so that a series of short calls does not wake it up
//! each time. Used instead of Z3's own `timeout`, which needs a parameter update per call and cannot see the flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use z3_sys::{Z3_context, Z3_interrupt};

use crate::solver::Limits;
use crate::solver::clock::Deadline;

/// Time between two looks at the limits.
const PERIOD: Duration = Duration::from_millis(4);
/// Idle periods before the thread goes to sleep.
const IDLE: u32 = 25;

/// Why a call was interrupted.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Cause {
    Deadline,
    Flag,
}

impl Cause {
    pub(super) fn reason(self) -> String {
        match self {
            Cause::Deadline => "timeout".to_owned(),
            Cause::Flag => "interrupted".to_owned(),
        }
    }
}

#[derive(Default)]
struct State {
    active: bool,
    deadline: Option<Deadline>,
    flag: Option<Arc<AtomicBool>>,
    cause: Option<Cause>,
    /// The thread looks at the state by itself soon.
    polling: bool,
    quit: bool,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The context as the thread sees it.
struct Handle(Z3_context);

// SAFETY: the thread only calls `Z3_interrupt`, which Z3 allows from any thread, and ends before the context does.
unsafe impl Send for Handle {}

/// The watchdog of one context.
pub(super) struct Watchdog {
    context: Z3_context,
    shared: Arc<Shared>,
    thread: std::cell::OnceCell<JoinHandle<()>>,
}

impl Watchdog {
    pub(super) fn new(context: Z3_context) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), wake: Condvar::new() });
        Watchdog { context, shared, thread: std::cell::OnceCell::new() }
    }

    /// Runs a call under limits. Returns its result and whether it was interrupted; without a result if there was no
    /// time to begin with.
    pub(super) fn guard<T>(&self, limits: &Limits, call: impl FnOnce() -> T) -> (Option<T>, Option<Cause>) {
        if limits.interrupted() {
            return (None, Some(Cause::Flag));
        }
        let timeout = limits.time_for_call();
        if timeout.is_some_and(|t| t.is_zero()) {
            return (None, Some(Cause::Deadline));
        }
        if timeout.is_none() && limits.interrupt.is_none() {
            return (Some(call()), None);
        }
        self.start(limits, timeout);
        let result = call();
        let mut state = self.shared.lock();
        state.active = false;
        state.deadline = None;
        state.flag = None;
        (Some(result), state.cause.take())
    }

    fn start(&self, limits: &Limits, timeout: Option<Duration>) {
        let mut state = self.shared.lock();
        state.active = true;
        state.cause = None;
        state.deadline = timeout.and_then(Deadline::after);
        state.flag.clone_from(&limits.interrupt);
        if !state.polling {
            state.polling = true;
            self.shared.wake.notify_one();
        }
        drop(state);
        self.thread.get_or_init(|| {
            let (handle, shared) = (Handle(self.context), Arc::clone(&self.shared));
            std::thread::spawn(move || watch(&handle, &shared))
        });
    }

    /// Ends the thread.
    pub(super) fn stop(&mut self) {
        self.shared.lock().quit = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already and leaves nothing to do.
            let _ = thread.join();
        }
    }
}

fn watch(context: &Handle, shared: &Shared) {
    let mut idle = 0;
    let mut state = shared.lock();
    while !state.quit {
        if state.active {
            idle = 0;
            let cause = if state.flag.as_ref().is_some_and(|f| f.load(Ordering::Relaxed)) {
                Some(Cause::Flag)
            } else if state.deadline.is_some_and(|deadline| deadline.is_over()) {
                Some(Cause::Deadline)
            } else {
                None
            };
            if let Some(cause) = cause {
                state.cause.get_or_insert(cause);
                // SAFETY: see `Handle`. The state is locked, so the call has not been declared finished.
                unsafe { Z3_interrupt(context.0) };
            }
        } else {
            idle += 1;
        }
        if idle > IDLE {
            state.polling = false;
            state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            idle = 0;
        } else {
            state = shared.wake.wait_timeout(state, PERIOD).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
