// SPDX-License-Identifier: Apache-2.0
//! Files with the queries to the SMT solver, one for each solver, as SMT-LIB 2 scripts with the answers as comments.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::rc::Rc;

use cpa_predicate::Scripts;
use smt::itp::{Portfolio, PortfolioConfig};

use crate::options::Config;

/// No file becomes larger.
const MAX_BYTES: usize = 200_000_000;
/// Nor are there more of one kind.
const MAX_FILES: usize = 10_000;

/// Writes the queries of each solver into a new file of the folder, which is made if it is not there. A file that cannot be
/// made or written stays incomplete: a run does not fail because of what is only looked at.
pub(super) fn into_folder(folder: &str) -> Scripts {
    let folder = PathBuf::from(folder);
    let _ = fs::create_dir_all(&folder);
    Rc::new(move |kind: &str| {
        let new = |number: usize| File::create_new(folder.join(format!("{kind}-{number}.smt2"))).ok();
        let mut file = (1..=MAX_FILES).find_map(new).map(BufWriter::new);
        let mut written = 0;
        Box::new(move |text: &str| {
            let Some(out) = &mut file else { return };
            written += text.len();
            let text = if written > MAX_BYTES { "; the rest is left out\n" } else { text };
            // What is behind a query must be there when the process ends without destructors.
            let whole = text.starts_with("; ");
            if out.write_all(text.as_bytes()).and_then(|()| if whole { out.flush() } else { Ok(()) }).is_err()
                || written > MAX_BYTES
            {
                file = None;
            }
        })
    })
}

/// The interpolation engines, with their queries in the folder if there is one.
pub(super) fn portfolio(settings: PortfolioConfig, config: &Config) -> Portfolio {
    match config.query_folder.as_str() {
        "" => Portfolio::new(settings),
        folder => Portfolio::recorded(settings, into_folder(folder)("interpolation")),
    }
}
