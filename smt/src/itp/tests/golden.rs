// SPDX-License-Identifier: Apache-2.0
//! The interpolants of well-known small programs, unrolled.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::problems::{Problem, all, one};
use super::*;

/// Solves with the given engines, all cuts being one place, and shows the interpolants.
fn solve(problem: &mut Problem, engines: Vec<EngineKind>) -> (PathResult, Portfolio) {
    let hints = one_place(&problem.query);
    let mut portfolio = Portfolio::new(PortfolioConfig { engines, ..PortfolioConfig::default() });
    let limits = Limits::time(Duration::from_secs(5));
    let result = portfolio.solve(&mut problem.ctx.terms, &problem.query, &hints, &limits);
    (result, portfolio)
}

fn check(mode: Mode, name: &str, n: usize, expected: Expect) {
    let mut problem = one(mode, name, n);
    let (result, _) = solve(&mut problem, PortfolioConfig::default().engines);
    match result {
        PathResult::Infeasible(sequence) => {
            expected.assert_eq(&format!("{}\n{}", sequence.engine, problem.ctx.show(&sequence.interpolants)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn itp_golden_equal_counters() {
    check(
        Mode::Signed(32),
        "counters",
        4,
        expect![[r#"
        assertion
        x = y
        x = y
        x = y
        x = y
        x = y
    "#]],
    );
    check(
        Mode::Int,
        "counters",
        4,
        expect![[r#"
        assertion
        x - y = 0
        x - y = 0
        x - y = 0
        x - y = 0
        x - y = 0
    "#]],
    );
    check(
        Mode::Bounded(1000),
        "counters",
        4,
        expect![[r#"
        assertion
        x - y = 0
        x - y = 0
        x - y = 0
        x - y = 0
        x - y = 0
    "#]],
    );
}

#[test]
fn itp_golden_problems_are_explained_or_left_open() {
    let mut explained = 0;
    let problems = all(Mode::Signed(32));
    let count = problems.len();
    for mut problem in problems {
        match solve(&mut problem, PortfolioConfig::default().engines).0 {
            PathResult::Infeasible(_) => explained += 1,
            PathResult::Unknown(_) => {}
            PathResult::Feasible(witness) => panic!("{} has no execution, but: {witness:?}", problem.name),
        }
    }
    assert!(2 * explained > count, "only {explained} of {count} paths are explained");
}
