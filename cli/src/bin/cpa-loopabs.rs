// SPDX-License-Identifier: Apache-2.0
//! `cpa-loopabs`: writes C programs in which loops are replaced by abstractions.

fn main() -> std::process::ExitCode {
    cli::patching::main(std::env::args())
}
