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

/// A loop is unrolled until the clauses at some visit of its head are among those of a later one, which is covered then: a
/// protocol's states need about as many rounds as the protocol has.
#[test]
fn itp_frames_repeat_their_clauses() {
    for mode in [Mode::Signed(32), Mode::Int] {
        let mut problem = one(mode, "states", 30);
        let blocks = problem.query.blocks.clone();
        let config = PortfolioConfig { engines: vec![EngineKind::Frames], ..PortfolioConfig::default() };
        let mut portfolio = Portfolio::new(config);
        let mut known: Vec<TermId> = Vec::new();
        let covered_after = (2..30).find(|&rounds| {
            let mut query = PathQuery { blocks: blocks[..rounds].to_vec() };
            query.blocks.push(blocks[blocks.len() - 1].clone());
            let mut hints = one_place(&query);
            for (hint, &holds) in hints.cuts.iter_mut().zip(&known) {
                hint.holds = holds;
            }
            let result = portfolio.solve(&mut problem.ctx.terms, &query, &hints, &Limits::none());
            let PathResult::Infeasible(sequence) = result else { panic!("{result:?}") };
            known = sequence.interpolants;
            let clauses: Vec<Vec<TermId>> = known.iter().map(|&cut| problem.ctx.terms.conjuncts(cut)).collect();
            let covered =
                |later: usize| (0..later).any(|earlier| clauses[earlier].iter().all(|c| clauses[later].contains(c)));
            (1..clauses.len()).any(covered)
        });
        assert!(covered_after.is_some_and(|rounds| rounds < 20), "{covered_after:?}: {}", problem.ctx.show(&known));
        assert_eq!(portfolio.stats()[0].rejected + portfolio.stats()[0].given_up, 0);
    }
}

/// What an engine has found on a path is there for the next one, and what the caller knows is not found again.
#[test]
fn itp_frames_start_from_what_is_known() {
    let mut problem = one(Mode::Signed(32), "counters", 4);
    let mut portfolio =
        Portfolio::new(PortfolioConfig { engines: vec![EngineKind::Frames], ..PortfolioConfig::default() });
    let mut hints = one_place(&problem.query);
    let mut answers = Vec::new();
    for _ in 0..2 {
        let terms = &mut problem.ctx.terms;
        match portfolio.solve(terms, &problem.query, &hints, &Limits::none()) {
            PathResult::Infeasible(sequence) => {
                for (hint, &cut) in hints.cuts.iter_mut().zip(&sequence.interpolants) {
                    hint.holds = cut;
                }
                answers.push(problem.ctx.show(&sequence.interpolants));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(answers[0], "x = y\n".repeat(5));
    assert_eq!(answers[0], answers[1]);
}

/// An engine that has no answer for a kind of paths is asked ever more rarely.
#[test]
fn itp_frames_that_give_up_are_asked_less() {
    let mut problem = one(Mode::Signed(32), "counters", 0);
    problem.query.blocks.truncate(1);
    let query = PathQuery { blocks: vec![problem.query.blocks[0].clone(), problem.query.blocks[0].clone()] };
    let config = PortfolioConfig { engines: vec![EngineKind::Frames], ..PortfolioConfig::default() };
    let mut portfolio = Portfolio::new(config);
    for _ in 0..20 {
        let result = portfolio.solve(&mut problem.ctx.terms, &query, &one_place(&query), &Limits::none());
        assert!(matches!(result, PathResult::Feasible(_)));
    }
    assert_eq!(portfolio.stats()[0].given_up, 20);
}
