// SPDX-License-Identifier: Apache-2.0
//! The context that every operation gets first: budget, cancellation and progress reports.
//!
//! This crate reads no clock and no memory counter; the binaries bring a [`Budget`] that does.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cfa::ids::NodeId;

use crate::arg::ArgId;

/// Why a computation ended before it had an answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stop {
    /// The time budget is used up.
    #[error("the time limit was reached")]
    Timeout,
    /// The memory budget is used up.
    #[error("the memory limit was reached")]
    MemoryOut,
    /// Somebody cancelled the run.
    #[error("the run was cancelled")]
    Cancelled,
    /// A part of the analysis cannot go on, for a reason that is no fault of the tool.
    #[error("the analysis gave up: {0}")]
    GaveUp(String),
    /// An invariant of the tool is broken; no verdict may be built on what was computed.
    #[error("internal error: {0}")]
    Internal(String),
}

/// How much time and memory is left.
pub trait Budget {
    /// Fails when the budget is used up. Called once per expanded state, so it must be cheap.
    fn check(&self) -> Result<(), Stop>;
    /// The time that is left, if it is limited.
    fn remaining(&self) -> Option<Duration>;
    /// The time that the run has used, for statistics; zero if nobody measures.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// A budget without limits, for tests and nested runs that are limited from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

impl Budget for Unlimited {
    fn check(&self) -> Result<(), Stop> {
        Ok(())
    }
    fn remaining(&self) -> Option<Duration> {
        None
    }
}

/// A flag that tells a run, possibly in another thread, to end soon.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that nobody has cancelled yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// Asks the run to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether somebody asked the run to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// The shared flag itself, for a solver that polls it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// What a run reports while it works.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Another batch of states was expanded.
    Explored {
        /// States expanded so far in this exploration.
        iterations: u64,
        /// Nodes of the abstract reachability graph.
        nodes: usize,
        /// States that wait to be expanded.
        waiting: usize,
    },
    /// A refinement ended.
    Refined {
        /// Its number, from 1.
        number: u64,
        /// The target state whose path was examined.
        target: ArgId,
        /// Which refiner answered, and what.
        what: String,
    },
    /// Loops are unrolled further.
    Unrolled {
        /// The new bound.
        bound: u32,
    },
    /// All executions are in the formula that the solver is asked about next: its answer is the verdict.
    LastQuestion,
    /// Loops go on, and nothing says yet that they end.
    GoingRound {
        /// Their heads, the outermost first, and how often the path that is explored now came back to each.
        loops: Vec<(NodeId, u64)>,
    },
    /// The program is executed.
    Executed {
        /// Executions that have ended.
        runs: u64,
        /// Jumps backwards and calls of the present one, if it is long.
        jumps: u64,
        /// The heads of the loops that it is in, the outermost first, and how many of these jumps there were since it was
        /// first seen there.
        loops: Vec<(NodeId, u64)>,
    },
}

/// A part of a budget.
struct Share {
    budget: Rc<dyn Budget>,
    end: Duration,
}

impl Budget for Share {
    fn check(&self) -> Result<(), Stop> {
        self.budget.check()?;
        if self.budget.elapsed() >= self.end { Err(Stop::Timeout) } else { Ok(()) }
    }

    fn remaining(&self) -> Option<Duration> {
        let share = self.end.saturating_sub(self.budget.elapsed());
        Some(self.budget.remaining().map_or(share, |left| left.min(share)))
    }

    fn elapsed(&self) -> Duration {
        self.budget.elapsed()
    }
}

type Listener = Box<dyn FnMut(&Progress)>;

/// The context of a run.
pub struct Cx {
    budget: Rc<dyn Budget>,
    /// Whether the budget is a part of one: nobody who watches the whole cancels the run when the part is used up.
    is_share: bool,
    cancel: CancelToken,
    listener: Option<Listener>,
}

impl Cx {
    /// A context with the given limits.
    pub fn new(budget: Box<dyn Budget>, cancel: CancelToken) -> Self {
        Self { budget: Rc::from(budget), is_share: false, cancel, listener: None }
    }

    /// A context that shares budget and cancellation with this one and ends after the given time at the latest.
    pub fn share(&self, time: Duration) -> Self {
        let end = self.elapsed() + time;
        let share = Share { budget: Rc::clone(&self.budget), end };
        Self { budget: Rc::new(share), is_share: true, cancel: self.cancel.clone(), listener: None }
    }

    /// A context without limits.
    pub fn unlimited() -> Self {
        Self::new(Box::new(Unlimited), CancelToken::new())
    }

    /// Sends progress reports to `listener` from now on.
    pub fn on_progress(&mut self, listener: impl FnMut(&Progress) + 'static) {
        self.listener = Some(Box::new(listener));
    }

    /// Fails when the run shall end: cancelled, or out of budget.
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        self.budget.check()
    }

    /// The time that is left, if it is limited.
    pub fn remaining(&self) -> Option<Duration> {
        self.budget.remaining()
    }

    /// Tells what is left of a share; none if this context is not one. Whoever cannot ask [`Cx::check`] for a while, such as
    /// the caller of a solver, has to limit itself: only the whole budget is watched.
    pub fn left_of_share(&self) -> Option<impl Fn() -> Duration + 'static> {
        let budget = Rc::clone(&self.budget);
        self.is_share.then_some(move || budget.remaining().unwrap_or(Duration::MAX))
    }

    /// The time that the run has used, for statistics; zero if nobody measures.
    pub fn elapsed(&self) -> Duration {
        self.budget.elapsed()
    }

    /// The token that cancels this run.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Whether somebody listens to progress reports. What is not cheap to tell is told only then.
    pub fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Reports progress to the listener, if there is one.
    pub fn report(&mut self, progress: &Progress) {
        if let Some(listener) = &mut self.listener {
            listener(progress);
        }
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_run_ends() {
        let cx = Cx::unlimited();
        assert_eq!(cx.check(), Ok(()));
        cx.cancel_token().clone().cancel();
        assert_eq!(cx.check(), Err(Stop::Cancelled));
    }

    #[test]
    fn a_share_ends_by_itself() {
        struct Clock(std::cell::Cell<u64>);
        impl Budget for Clock {
            fn check(&self) -> Result<(), Stop> {
                Ok(())
            }
            fn remaining(&self) -> Option<Duration> {
                None
            }
            fn elapsed(&self) -> Duration {
                // Every look takes a second.
                self.0.set(self.0.get() + 1);
                Duration::from_secs(self.0.get())
            }
        }
        let whole = Cx::new(Box::new(Clock(std::cell::Cell::new(0))), CancelToken::new());
        assert!(whole.left_of_share().is_none(), "whoever watches the whole cancels it");
        let share = whole.share(Duration::from_secs(3));
        let left = share.left_of_share().expect("this is a share");
        assert_eq!(left(), Duration::from_secs(2));
        assert_eq!(share.check(), Ok(()));
        assert_eq!(left(), Duration::ZERO);
        assert_eq!((share.check(), whole.check()), (Err(Stop::Timeout), Ok(())));
    }
}
