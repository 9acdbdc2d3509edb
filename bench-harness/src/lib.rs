// SPDX-License-Identifier: Apache-2.0
//! `cpa-bench`: runs a verifier on sets of verification tasks under resource limits, records one JSON line per task
//! and says what came out. It knows of the verifier only the command line and the lines it prints.
//!
//! The way of a task: [`task`] reads its definition, [`limits`] runs the tool on it, [`answer`] reads what the tool
//! said, [`result`] judges and records it; [`run`] does this for many at once, [`summary`] and [`compare`] report.

pub mod answer;
pub mod args;
pub mod compare;
pub mod error;
pub mod limits;
pub mod progress;
pub mod result;
pub mod run;
pub mod summary;
mod sys;
pub mod task;
pub mod units;
