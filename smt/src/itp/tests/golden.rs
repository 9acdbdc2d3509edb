// SPDX-License-Identifier: Apache-2.0
//! The interpolants of well-known small programs, unrolled.

use std::time::{Duration, Instant};

use expect_test::{Expect, expect};

use super::problems::{Problem, all, one};
use super::*;

/// Solves with the given engines, all cuts being one place, and shows the interpolants.
fn solve(problem: &mut Problem, engines: Vec<EngineKind>) -> (PathResult, Portfolio) {
    let hints = one_place(&problem.query);
    let mut config = PortfolioConfig { engines, ..PortfolioConfig::default() };
    if let Some(n) = std::env::var("ITP_ATTEMPTS").ok().and_then(|n| n.parse().ok()) {
        config.core_attempts = n;
    }
    let mut portfolio = Portfolio::new(config);
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
        for engines in [
            vec![Assertion],
            vec![Newton],
            vec![Stepwise],
            vec![Uniform],
            vec![Spacer],
            vec![Candidates],
            vec![Strongest],
            full,
        ] {
            if std::env::var("ITP_ENGINE").is_ok_and(|e| e != format!("{:?}", engines[0]) || engines.len() > 1) {
                continue;
            }
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

/// Prints how long each engine takes on one problem; not a test.
#[test]
#[ignore = "a measurement, not a test"]
fn itp_profile() {
    use EngineKind::*;
    let name = std::env::var("ITP_NAME").unwrap_or("states".to_owned());
    let n: usize = std::env::var("ITP_N").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    for mode in [Mode::Signed(32), Mode::Int, Mode::Bounded(1_000_000)] {
        let full = PortfolioConfig::default().engines;
        let mut lists: Vec<Vec<EngineKind>> = full.iter().map(|&kind| vec![kind]).collect();
        lists.insert(0, full);
        for engines in lists {
            let mut problem = one(mode, &name, n);
            let edges: usize = problem.query.blocks.iter().map(|dag| dag.edges.len()).sum();
            let start = Instant::now();
            let (result, portfolio) = solve(&mut problem, engines);
            let outcome = match result {
                PathResult::Infeasible(s) => {
                    let atoms: std::collections::BTreeSet<TermId> =
                        s.interpolants.iter().flat_map(|&t| problem.ctx.terms.atoms(t)).collect();
                    format!("{} atoms by {}", atoms.len(), s.engine)
                }
                other => format!("{other:?}"),
            };
            let engines: Vec<&str> = portfolio.stats().iter().filter(|s| s.asked > 0).map(|s| s.name).collect();
            let checks = portfolio.solver_stats().checks;
            println!("{mode:?} {edges} edges, {engines:?}: {:?}, {checks} checks, {outcome}", start.elapsed());
        }
    }
}
