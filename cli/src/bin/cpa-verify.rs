// SPDX-License-Identifier: Apache-2.0
//! `cpa-verify`: proves or refutes that a C program can reach an error.

fn main() -> std::process::ExitCode {
    cli::driver::main(std::env::args())
}
