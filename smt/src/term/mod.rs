// SPDX-License-Identifier: Apache-2.0
//! Hash-consed terms over Booleans, bit-vectors (1 to 128 bits) and integers.
//!
//! A [`Terms`] store owns the nodes; a [`TermId`] is an index into it. Every constructor simplifies: constants are
//! folded, operands ordered, and comparisons of if-then-else trees with constants are turned into Boolean structure
//! (see `boolean`, `bitvec`, `sum`, `compare`, `polynomial`, `integer` and `leaves`). All rewrites are equivalences in SMT-LIB semantics, division by
//! zero included; the property tests in `tests.rs` check this against a naive evaluator.
//!
//! The result of a constructor depends only on its arguments, never on what was built before, so equal constructions
//! in equal order give equal ids. (One exception, for terms of extreme depth, is named in `leaves`.)
//!
//! Left out: arrays, uninterpreted functions, quantifiers and floating point.

mod atoms;
mod bitvec;
mod boolean;
mod compare;
mod display;
mod eval;
mod identity;
mod ids;
mod integer;
mod leaves;
mod node;
mod polynomial;
mod semantics;
mod smtlib;
mod store;
mod sum;
#[cfg(test)]
mod tests;
mod traverse;

pub use display::Infix;
pub use eval::Evaluator;
pub(crate) use identity::StoreId;
pub use ids::{Sort, SymId, TermId, Value};
pub use node::{BvBin, BvCmp, BvUn, Term};
pub use smtlib::SmtLib;
pub use store::Terms;
#[cfg(test)]
pub(crate) use tests::{config, reference};
pub use traverse::Substitution;
