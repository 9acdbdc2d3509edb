// SPDX-License-Identifier: Apache-2.0
//! Z3's memory limit, which holds for the process and therefore has a test program of its own.

use std::time::Duration;

use smt::solver::{CheckResult, Limits, Solver, Z3Config, Z3Logic, Z3Solver, set_memory_limit};
use smt::{BvBin, BvCmp, Sort, TermId, Terms};

/// A conjunction that needs much memory as a circuit: products of 128 bits.
fn large(terms: &mut Terms) -> TermId {
    let mut parts = Vec::new();
    let sym = terms.symbol("x", Sort::Bv(128));
    let mut product = terms.var(sym, 0);
    for i in 1..60 {
        let x = terms.var(sym, i);
        product = terms.bv_bin(BvBin::Mul, product, x);
        let quotient = terms.bv_bin(BvBin::Udiv, product, x);
        parts.push(terms.bv_cmp(BvCmp::Ult, quotient, x));
    }
    terms.and_all(&parts)
}

#[test]
fn running_out_of_memory_is_an_answer() {
    set_memory_limit(150 << 20);
    // The solver for QF_BV leaks its memory and therefore comes last.
    for logic in [None, Some(Z3Logic::QfBv)] {
        let mut terms = Terms::new();
        let t = large(&mut terms);
        let sym = terms.symbol("b", Sort::Bool);
        let b = terms.var(sym, 0);
        let not_b = terms.not(b);
        let mut solver = Z3Solver::new(&Z3Config { logic, ..Z3Config::default() });
        let limits = Limits::time(Duration::from_secs(60));
        solver.assert(&terms, b);
        for _ in 0..2 {
            solver.push();
            solver.assert(&terms, t);
            match solver.check(&terms, &[], &limits) {
                CheckResult::Unknown(reason) => assert_eq!(reason, "the solver ran out of memory"),
                CheckResult::Sat(_) | CheckResult::Unsat(_) => panic!("too easy for this test"),
            }
            solver.pop();
            if logic.is_none() {
                // What was asserted before still holds.
                assert!(solver.check(&terms, &[], &limits).is_sat());
                assert!(solver.check(&terms, &[not_b], &limits).is_unsat());
                assert!(solver.stats().rebuilt >= 1);
            }
        }
    }
}
