// SPDX-License-Identifier: Apache-2.0
//! Terms, solvers and interpolation.
//!
//! * [`term`]: hash-consed terms over Booleans, bit-vectors and integers, built through simplifying constructors.
//!
//! Nothing outside this crate names a solver. Terms are plain data that cross threads; solvers stay on theirs.

pub mod term;

pub use term::{BvBin, BvCmp, BvUn, Sort, Substitution, SymId, Term, TermId, Terms, Value};
