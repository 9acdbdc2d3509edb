// SPDX-License-Identifier: Apache-2.0
//! Further checks of counterexamples, beside the concrete replay that is always done.

use cfa::Program;
use cpa_core::{Counterexample, Cx, Stop};

/// What a check says about a counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Believed {
    /// It is real.
    Yes,
    /// It is not real, or the check cannot tell; the text says why.
    No(String),
}

/// A precise check of a counterexample, such as bounded model checking of its path.
pub trait CexCheck {
    /// A short name for messages.
    fn name(&self) -> &'static str;
    /// Checks a counterexample that the refiner found and the replay confirmed.
    fn check(&mut self, cx: &mut Cx, program: &Program, cex: &Counterexample) -> Result<Believed, Stop>;
}
