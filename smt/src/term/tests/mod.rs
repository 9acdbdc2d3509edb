// SPDX-License-Identifier: Apache-2.0
//! Tests of the constructors against a naive evaluator, of the walks, and dumps.

mod arrays;
mod floats;
mod laws;
mod printing;
pub(crate) mod reference;
mod simplification;

/// Settings of a law: this many cases, or as many as the environment variable `PROPTEST_CASES` says.
pub(crate) fn config(cases: u32) -> proptest::test_runner::Config {
    let default = proptest::test_runner::Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    proptest::test_runner::Config { cases, failure_persistence: None, ..default }
}
