// SPDX-License-Identifier: Apache-2.0
//! Limits of a single check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// When a solver has to give up. The default is no limit.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Wall time for the call.
    pub timeout: Option<Duration>,
    /// Becomes true when another thread wants the call to end. The solver stays usable afterwards.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// No limit.
    pub fn none() -> Self {
        Self::default()
    }

    /// A limit of wall time.
    pub fn time(timeout: Duration) -> Self {
        Limits { timeout: Some(timeout), interrupt: None }
    }

    /// The same limits with the smaller of two timeouts.
    pub fn at_most(&self, timeout: Duration) -> Self {
        let timeout = self.timeout.map_or(timeout, |t| t.min(timeout));
        Limits { timeout: Some(timeout), interrupt: self.interrupt.clone() }
    }

    /// Whether the interrupt flag is set.
    pub fn interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
