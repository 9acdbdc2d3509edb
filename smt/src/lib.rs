// SPDX-License-Identifier: Apache-2.0
//! Terms, solvers and interpolation.
//!
//! * [`term`]: hash-consed terms over Booleans, bit-vectors and integers, built through simplifying constructors.
//! * [`path`]: path formulas of large blocks.
//! * [`itp`]: feasibility and interpolation of paths.
//!
//! Nothing outside this crate names a solver. Terms are plain data that cross threads; solvers stay on theirs.

pub mod error;
pub mod itp;
pub mod path;
pub mod solver;
pub mod term;

pub use error::Error;
pub use path::{PathFormula, Stmt};
pub use term::{BvBin, BvCmp, BvUn, Evaluator, Sort, Substitution, SymId, Term, TermId, Terms, Value};
