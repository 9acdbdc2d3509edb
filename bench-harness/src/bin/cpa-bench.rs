// SPDX-License-Identifier: Apache-2.0
//! The program `cpa-bench`; everything it does is in the library.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use bench_harness::args::{Cli, execute};
use clap::Parser;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version are no mistakes. Clap's own exit code for the others is 2, which means something else here.
            let code = u8::from(message.use_stderr());
            let _ = message.print();
            return code.into();
        }
    };
    match execute(cli) {
        Ok(code) => code.into(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "cpa-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
