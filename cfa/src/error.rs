// SPDX-License-Identifier: Apache-2.0
//! Why a program cannot be loaded.

use thiserror::Error;

use crate::location::{LineTable, Location};
use crate::program::Source;

/// Why a program cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoadError {
    /// The text is not C as this front end reads it.
    #[error("{at}: {construct}; {advice}")]
    Syntax {
        /// The place.
        at: Location,
        /// What is there.
        construct: String,
        /// What to do about it.
        advice: String,
    },
    /// The program has no function of the name of the entry function.
    #[error("there is no function '{0}' with a body; pass all source files of the program")]
    NoEntry(String),
    /// A source file is too long.
    #[error("{0}: the file has 2 GiB or more")]
    TooLong(String),
}

/// A text that cannot be read, at an offset.
pub(crate) fn syntax_error(
    source: &Source,
    line_markers: bool,
    at: u32,
    construct: String,
    advice: String,
) -> LoadError {
    let at = LineTable::new(&source.text, line_markers).location(&source.name, at);
    LoadError::Syntax { at, construct, advice }
}
