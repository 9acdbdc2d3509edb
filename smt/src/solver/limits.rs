// SPDX-License-Identifier: Apache-2.0
//! Limits of a single check.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is left of the time for several calls together.
#[derive(Clone)]
pub struct TimeLeft(Rc<dyn Fn() -> Duration>);

impl TimeLeft {
    /// As `ask` says, whenever it is asked.
    pub fn new(ask: impl Fn() -> Duration + 'static) -> Self {
        Self(Rc::new(ask))
    }
}

impl fmt::Debug for TimeLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TimeLeft").field(&(self.0)()).finish()
    }
}

/// When a solver has to give up. The default is no limit.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// CPU time of the thread for the call.
    pub timeout: Option<Duration>,
    /// Time for this call and others, asked for anew before each one.
    pub left: Option<TimeLeft>,
    /// Becomes true when another thread wants the call to end. The solver stays usable afterwards.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// No limit.
    pub fn none() -> Self {
        Self::default()
    }

    /// A limit of the thread's CPU time.
    pub fn time(timeout: Duration) -> Self {
        Limits { timeout: Some(timeout), ..Limits::default() }
    }

    /// The same limits with the smaller of two timeouts.
    pub fn at_most(&self, timeout: Duration) -> Self {
        let timeout = self.timeout.map_or(timeout, |t| t.min(timeout));
        Limits { timeout: Some(timeout), ..self.clone() }
    }

    /// CPU time for a call that begins now.
    pub fn time_for_call(&self) -> Option<Duration> {
        let left = self.left.as_ref().map(|left| (left.0)());
        self.timeout.into_iter().chain(left).min()
    }

    /// Whether the interrupt flag is set, or the time for all calls is over.
    pub fn interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.left.as_ref().is_some_and(|left| (left.0)().is_zero())
    }
}
