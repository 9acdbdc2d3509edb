// SPDX-License-Identifier: Apache-2.0
//! `cpa-bench`: runs a verifier on sets of verification tasks under resource limits, records one JSON line per task
//! and says what came out. It knows of the verifier only the command line and the lines it prints.
//!
//! The way of a task: [`task`] reads its definition, [`tool`] makes a command line of it, [`limits`] runs that,
//! [`answer`] reads what the tool said, [`result`] judges and records it, [`validation`] judges its evidence; [`run`] does this for many at once, and an
//! [`experiment`] says for which. [`summary`] and [`compare`] report on
//! result files; [`matrix`] puts the configurations of several files side by side, for [`table`], [`plot`] and [`html`],
//! and for the [`claims`] and [`published`] numbers of an experiment that is reproduced.

pub mod aggregate;
pub mod answer;
pub mod args;
pub mod benchexec;
pub mod cgroup;
pub mod claims;
pub mod compare;
pub mod error;
pub mod experiment;
pub mod grid;
pub mod html;
mod launch;
pub mod limits;
pub mod matrix;
mod pace;
mod paths;
pub mod plot;
pub mod progress;
pub mod published;
pub mod report;
mod reproduce;
pub mod result;
pub mod run;
mod setup;
mod submit;
pub mod summary;
mod sys;
pub mod table;
pub mod task;
pub mod tool;
pub mod units;
pub mod validation;
