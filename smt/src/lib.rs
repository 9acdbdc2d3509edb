// SPDX-License-Identifier: Apache-2.0
//! Terms, solvers and interpolation.
//!
//! * [`term`]: hash-consed terms over Booleans, bit-vectors, integers and arrays, built through simplifying constructors.
//! * [`domains`]: models of formulas over few values, found as constraint solvers do.
//! * [`algebra`]: formulas about products, simplified by what their equations imply.
//! * [`solver`]: the solver interface, decorators, and Z3.
//! * [`path`]: path formulas of large blocks.
//! * [`itp`]: feasibility and interpolation of paths.
//!
//! Nothing outside this crate names a solver. Terms are plain data that cross threads; solvers stay on theirs.
//!
//! # Z3
//!
//! By default a given libz3 is linked: `Z3_LIBRARY_PATH_OVERRIDE` names its folder (set in `.cargo/config.toml` to the
//! prebuilt one that `scripts/setup` fetches). The feature `vendored` builds Z3 5.3.2 from source instead and links it
//! statically; that needs CMake 3.26, a C++ compiler with `<format>` (GCC 13, Clang 17), Python 3 and about 40 minutes
//! of CPU time.

pub mod algebra;
pub mod domains;
pub mod error;
pub mod itp;
pub mod path;
pub mod solver;
pub mod term;

pub use error::Error;
pub use path::{PathFormula, Stmt};
pub use term::{
    ArrayValue, BvBin, BvCmp, BvUn, Evaluator, FpBin, FpCmp, FpUn, Rounding, Sort, Substitution, SymId, Term, TermId,
    Terms, Value,
};
