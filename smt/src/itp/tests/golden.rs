// SPDX-License-Identifier: Apache-2.0
//! The interpolants of well-known small programs, unrolled.

use std::time::{Duration, Instant};

use expect_test::{Expect, expect};

use super::problems::{Problem, all, one};
use super::*;

/// Solves with the given engines, all cuts being one place, and shows the interpolants.
fn solve(problem: &mut Problem, engines: Vec<EngineKind>) -> (PathResult, Portfolio) {
    let hints = one_place(&problem.query);
    let mut portfolio = Portfolio::new(PortfolioConfig { engines, ..PortfolioConfig::default() });
    let limits = Limits::time(Duration::from_secs(10));
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
    check(Mode::Signed(32), "counters", 4, expect![[""]]);
    check(Mode::Int, "counters", 4, expect![[""]]);
    check(Mode::Bounded(1000), "counters", 4, expect![[""]]);
}

/// Prints what each engine answers about all problems, and how long it takes; not a test.
#[test]
#[ignore = "a measurement, not a test"]
fn itp_measure() {
    use EngineKind::*;
    let only = std::env::var("ITP_ONLY").ok();
    let show = std::env::var("ITP_SHOW").is_ok();
    for mode in [Mode::Signed(32), Mode::Unsigned(32), Mode::Int, Mode::Bounded(1_000_000)] {
        let full = PortfolioConfig::default().engines;
        for engines in [vec![Newton], vec![Uniform], vec![Spacer], vec![Candidates], vec![Strongest], full] {
            let (mut ok, mut count, mut atoms, mut slowest) = (0, 0, 0, (Duration::ZERO, String::new()));
            let label = if engines.len() > 1 { "portfolio".to_owned() } else { format!("{:?}", engines[0]) };
            let mut times = Vec::new();
            for mut problem in all(mode) {
                if only.as_ref().is_some_and(|only| !problem.name.starts_with(only)) {
                    continue;
                }
                count += 1;
                let start = Instant::now();
                let (result, portfolio) = solve(&mut problem, engines.clone());
                let time = start.elapsed();
                times.push(time);
                slowest = slowest.max((time, problem.name.clone()));
                match result {
                    PathResult::Infeasible(sequence) => {
                        ok += 1;
                        let found: std::collections::BTreeSet<TermId> =
                            sequence.interpolants.iter().flat_map(|&t| problem.ctx.terms.atoms(t)).collect();
                        atoms += found.len();
                        if show {
                            println!(
                                "{mode:?} {label} {} by {}: {} atoms, {time:?}, {} checks\n{}",
                                problem.name,
                                sequence.engine,
                                found.len(),
                                portfolio.solver_stats().checks,
                                problem.ctx.show(&sequence.interpolants)
                            );
                        }
                    }
                    PathResult::Unknown(why) => {
                        if show {
                            println!("{mode:?} {label} {} UNKNOWN {time:?} {why}\n", problem.name);
                        }
                    }
                    PathResult::Feasible(_) => panic!("{} is infeasible", problem.name),
                }
            }
            times.sort();
            println!(
                "{mode:?} {label}: {ok}/{count}, {:.1} atoms, median {:?}, slowest {slowest:?}",
                f64::from(atoms as u32) / f64::from(ok.max(1)),
                times.get(times.len() / 2).copied().unwrap_or_default()
            );
        }
    }
}
