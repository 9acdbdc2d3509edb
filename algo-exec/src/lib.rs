// SPDX-License-Identifier: Apache-2.0
//! Verification by execution: a program that asks for no input has one execution, which is run; any other program is run
//! many times with inputs that are likely to reach new code.
//!
//! The random part follows what fuzzers do (a queue of inputs that covered something new, which are mutated); it needs no
//! instrumentation, because the concrete machine of [`cfa::machine`] runs the automaton. It refutes only.

mod constants;
mod execution;
mod exhaustive;
mod inputs;
mod lengths;
mod looks;
mod playback;
mod ranges;
mod states;

pub use execution::{Execution, Options, Statistics};
pub use exhaustive::{Exhaustive, Ranges};
pub use playback::counterexample;
pub use ranges::{Fixpoint, Rounds, Subdivision};
pub use states::{Options as StatesOptions, States, Statistics as StatesStatistics};

use cfa::Program;
use cpa_core::{Assurance, Outcome, Reason, Stop, Verdict};

/// The outcome of a run that covers all executions. Its verdict, if it has one, is kept for later calls.
fn settled(kept: &mut Option<Verdict>, result: Result<Verdict, Stop>, program: &Program) -> Outcome {
    let verdict = match result {
        Ok(verdict) => kept.insert(verdict).clone(),
        Err(stop) => Verdict::Unknown(Reason::Stopped(stop)),
    };
    Outcome::conclude(verdict, Assurance::full(), program.assumptions.clone())
}
