// SPDX-License-Identifier: Apache-2.0
//! Z3, the only solver so far; nothing outside this folder names it.
//!
//! Z3 is used through its C interface (crate `z3-sys`), not through the crate `z3`: each solver has a context of its
//! own, errors come back as values through an error handler that does nothing (Z3's default one ends the process),
//! and translated terms stay referenced for the life of the context.
//!
//! * `context`: a context, its errors and its translated terms;
//! * `translate`, `arrays`, `floats`: terms to Z3; `back`: Z3 to terms;
//! * `watchdog`: time limits and interrupts;
//! * `incremental`: [`Z3Solver`]; `eager`: single checks of bit vectors, by clauses;
//! * [`spacer`]: Horn clauses; `tactic`: simplification and quantifier elimination.
//!
//! # Choice of Z3's solver
//!
//! Measured with Z3 5.3.2 on what predicate abstraction asks: the path formula of a loop body (240 statements, a state
//! machine with 30 states over 9 variables, 475 nodes after simplification), 10 predicates, 6 times with different
//! regions between push and pop; user CPU time in seconds on a busy machine, so +-30 %. "tree" decides the predicates
//! one by one with assumptions (2618 checks), "block" asserts the negation of each model (1038 checks), "core" is 120
//! single checks with two compound assumptions. 1032 models (BV) and 1000 (Int). "named": the predicates were made
//! equivalent to Boolean variables outside the scopes, and those were assumed.
//!
//! | solver | tree | block | core | tree, named | block, named | core, named |
//! |---|---|---|---|---|---|---|
//! | BV, `Z3_mk_solver` | 8.6 | 5.9 | 0.40 | 6.2 | 4.2 | 0.58 |
//! | BV, logic QF_BV | 41.7 | 44.3 | 5.2 | 7.7 | 5.9 | 0.88 |
//! | Int, `Z3_mk_solver` | 2.7 | 1.2 | 0.09 | 0.90 | 0.51 | 0.08 |
//! | Int, logic QF_LIA | 3.4 | 1.5 | 0.11 | 1.1 | 0.61 | 0.12 |
//!
//! * The general solver (`logic: None`) is the best choice for both; QF_BV also leaks when memory runs out, and
//!   answers nonsense ("unknown") after an interrupt until it is rebuilt.
//! * Compound assumptions that are repeated in a scope get a name (tree: 8.4 to 6.9 s for BV, 2.5 to 2.2 s for Int).
//!   Naming them outside the scopes, as a caller can, saves more, as the definitions then are translated once.
//! * Parameters tried for BV without a gain beyond the noise: relevancy 0 and 1 (30-50 % slower), phase_selection 0, 1
//!   and 5, restart_strategy 0 and 3, random seeds, delay_units, bv.solver, bv.size_reduce, bv.watch_diseq, solve_eqs,
//!   elim_unconstrained, propagate_values, auto_config.
//! * A new solver costs 0.8 ms; push, two small assertions, a check with an assumption and pop 0.06 ms (Int) and
//!   0.27 ms (32 bits). Limits add nothing measurable, and a timeout of 100 ms ended hard checks after 100-106 ms.
#![allow(unsafe_code)]

mod arrays;
mod back;
mod context;
mod eager;
mod floats;
mod incremental;
pub mod spacer;
mod tactic;
#[cfg(test)]
mod tests;
mod translate;
mod watchdog;

pub use context::{set_memory_limit, version};
pub use incremental::{Z3Config, Z3Logic, Z3Solver};
pub use tactic::{eliminate, tactic_apply};
