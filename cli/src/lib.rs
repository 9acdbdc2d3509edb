// SPDX-License-Identifier: Apache-2.0
//! The command-line tools. This is the one place where domains and algorithms meet: [`plan`] says which
//! analyses run, [`registry`] builds each from its configuration, [`portfolio`] runs them, [`verify`] is a run from the
//! program's text to the verdict, [`driver`] is the process around it.

pub mod args;
mod carry_over;
pub mod confirm;
pub mod driver;
mod dump;
pub mod explain;
pub mod features;
pub mod limits;
pub mod options;
mod output;
pub mod patching;
pub mod plan;
pub mod portfolio;
pub mod preprocess;
pub mod presets;
pub mod progress;
pub mod registry;
pub mod results;
pub mod validate;
pub mod verify;
