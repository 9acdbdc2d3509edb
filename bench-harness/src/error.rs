// SPDX-License-Identifier: Apache-2.0
//! Everything that ends `cpa-bench` with a message and exit code 1.

use std::{io, path::PathBuf};

/// One clear message per mistake; what concerns a single task's run is a [`crate::result::Status`] instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read, written, ...
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was to be done with it: "read", "write", ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of a `.set` file.
    #[error("{}:{line}: {message}", path.display())]
    Set {
        /// The `.set` file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A task definition.
    #[error("{}: {message}", path.display())]
    Task {
        /// The `.yml` file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// An experiment.
    #[error("{}: {message}", path.display())]
    Experiment {
        /// The `.toml` file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A line of a result file.
    #[error("{}:{line}: not a result line: {message}", path.display())]
    Results {
        /// The result file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The tool under test cannot be started at all.
    #[error("cannot run {tool}: {message}")]
    Tool {
        /// As given by `--tool`.
        tool: String,
        /// Why not.
        message: String,
    },
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// A call to the operating system that should always succeed.
    #[error("{action} failed: {source}")]
    System {
        /// What was to be done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: an I/O error together with what was done to which file.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { action, path, source }
    }
}
