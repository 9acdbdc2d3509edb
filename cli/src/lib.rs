// SPDX-License-Identifier: Apache-2.0
//! The command-line tools. This is the one place where domains and algorithms meet: [`registry`] builds an analysis from
//! the configuration, [`verify`] runs it, [`driver`] is the process around it.

pub mod args;
pub mod driver;
pub mod limits;
pub mod options;
pub mod presets;
pub mod registry;
pub mod verify;
