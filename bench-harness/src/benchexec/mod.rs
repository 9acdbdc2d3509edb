// SPDX-License-Identifier: Apache-2.0
//! The formats of BenchExec: its benchmark definitions can be run, and results can be given to its table-generator.

mod input;
mod output;

pub use input::Benchmark;
pub use output::result_files;
