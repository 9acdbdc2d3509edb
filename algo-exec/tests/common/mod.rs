// SPDX-License-Identifier: Apache-2.0
//! Budgets for tests.

use std::cell::Cell;
use std::time::Duration;

use cpa_core::{Budget, CancelToken, Cx, Stop};

/// So many questions whether there is time left.
struct Turn(Cell<u32>);

impl Budget for Turn {
    fn check(&self) -> Result<(), Stop> {
        let left = self.0.get().checked_sub(1).ok_or(Stop::Timeout)?;
        self.0.set(left);
        Ok(())
    }

    fn remaining(&self) -> Option<Duration> {
        None
    }
}

/// A turn that ends when it was asked so often whether there is time left.
pub(crate) fn turn(questions: u32) -> Cx {
    Cx::new(Box::new(Turn(Cell::new(questions))), CancelToken::new())
}
