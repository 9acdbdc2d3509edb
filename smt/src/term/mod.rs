// SPDX-License-Identifier: Apache-2.0
//! Hash-consed terms over Booleans, bit-vectors (1 to 128 bits), integers, arrays of bit-vectors, and floating-point
//! numbers as the bit-vectors of their bits.
//!
//! A [`Terms`] store owns the nodes; a [`TermId`] is an index into it. Every constructor simplifies: constants are
//! folded, operands ordered, and comparisons of if-then-else trees with constants are turned into Boolean structure
//! (see `boolean`, `bitvec`, `concat`, `sum`, `compare`, `extremum`, `polynomial`, `integer`, `array`, `float` and `leaves`). All
//! rewrites are equivalences in SMT-LIB semantics, division by zero included; the property tests in `tests` check this
//! against a naive evaluator.
//!
//! The result of a constructor depends only on its arguments, never on what was built before, so equal constructions
//! in equal order give equal ids. (One exception, for terms of extreme depth, is named in `leaves`.)
//!
//! Left out: uninterpreted functions, quantifiers, arrays of anything but bit-vectors.

mod array;
mod array_value;
mod atoms;
mod bitvec;
mod boolean;
mod compare;
mod concat;
mod display;
mod eval;
mod extremum;
mod float;
mod identity;
mod ids;
mod integer;
mod leaves;
mod node;
pub(crate) mod polynomial;
pub(crate) mod semantics;
mod smtlib;
mod store;
mod sum;
#[cfg(test)]
mod tests;
mod traverse;
mod writes;

pub use array_value::ArrayValue;
pub use display::Infix;
pub use eval::Evaluator;
pub(crate) use float::{canonical_nan, int_limits, unfit};
pub(crate) use identity::StoreId;
pub use ids::{Sort, SymId, TermId, Value};
pub use node::{BvBin, BvCmp, BvUn, FpBin, FpCmp, FpUn, Rounding, Term};
pub use smtlib::SmtLib;
pub use store::Terms;
#[cfg(test)]
pub(crate) use tests::{Builder, config, reference};
pub use traverse::Substitution;
pub use writes::Writes;
