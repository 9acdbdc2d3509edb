// SPDX-License-Identifier: Apache-2.0
//! Tests of the constructors against a naive evaluator, of the walks, and dumps.

mod arrays;
mod floats;
mod laws;
mod printing;
pub(crate) mod reference;
mod simplification;

use crate::term::{BvBin, Sort, TermId, Terms};

/// Settings of a law: this many cases, or as many as the environment variable `PROPTEST_CASES` says.
pub(crate) fn config(cases: u32) -> proptest::test_runner::Config {
    let default = proptest::test_runner::Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    proptest::test_runner::Config { cases, failure_persistence: None, ..default }
}

/// Builds terms, most of one width.
pub(crate) struct Builder {
    pub(crate) terms: Terms,
    pub(crate) width: u32,
}

impl Builder {
    pub(crate) fn new(width: u32) -> Self {
        Builder { terms: Terms::new(), width }
    }

    pub(crate) fn bool(&mut self, name: &str) -> TermId {
        let sym = self.terms.symbol(name, Sort::Bool);
        self.terms.var(sym, 0)
    }

    pub(crate) fn var(&mut self, name: &str) -> TermId {
        self.narrow(name, self.width)
    }

    pub(crate) fn narrow(&mut self, name: &str, width: u32) -> TermId {
        let sym = self.terms.symbol(name, Sort::Bv(width));
        self.terms.var(sym, 0)
    }

    pub(crate) fn k(&mut self, v: i128) -> TermId {
        self.terms.bv(self.width, v as u128)
    }

    pub(crate) fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.terms.bv_bin(BvBin::Add, a, b)
    }

    pub(crate) fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.terms.bv_bin(BvBin::Sub, a, b)
    }

    pub(crate) fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.terms.bv_bin(BvBin::Mul, a, b)
    }
}
