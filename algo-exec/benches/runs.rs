// SPDX-License-Identifier: Apache-2.0
//! How fast executions and what resembles them cover a program: a number of runs with chosen inputs, all combinations of
//! inputs, ranges that are divided, combinations of values of a digital filter, and the states of a state machine. The size
//! is the number of runs, of filters one behind the other, or of states.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use algo_exec::{Execution, Exhaustive, Options, Ranges, Rounds, States, StatesOptions, Subdivision};
use cfa::ir::Op;
use cfa::{NodeId, Program, Property, Source};
use cpa_core::{Cx, Verdict};
use criterion::{BenchmarkId, Criterion};

const MEMORY: usize = 1 << 26;

fn load(body: &str) -> (Arc<Program>, BTreeSet<NodeId>) {
    let text = format!("extern int input(void); extern double real(void); void reach_error(void);\n{body}");
    let source = Source { name: "bench.c".into(), text };
    let program = Arc::new(cfa::load(&[source], &cfa::Options::default()).expect("it is a program"));
    let targets = program.targets(&Property::default_errors());
    (program, targets)
}

/// The error is behind a sequence of inputs that is too long to be guessed.
const LOCK: &str = "int main(void) { int right = 0; for (int i = 0; i < 40; i++) {
    int x = input(); if (x == 3 * i + 1000) right++; else if (x < 0) break; } if (right == 40) reach_error(); return 0; }";

/// Two inputs with some values each.
fn pairs(values: usize) -> String {
    format!(
        "int main(void) {{ int x = input(); int y = input(); if (x < 0 || x >= {values} || y < 0 || y >= {values}) return 0;
         int a = x, b = y; while (b) {{ int t = a % b; a = b; b = t; }} if (a > {values}) reach_error(); return 0; }}"
    )
}

/// A polynomial that is positive, but only a little.
fn polynomial(gap: f64) -> String {
    format!(
        "int main(void) {{ double x = real(); if (!(x >= -2.0 && x <= 2.0)) return 0;
         double y = x * x * x * x - 2.0 * x * x + 1.0 + {gap}; if (y < 0.0) reach_error(); return 0; }}"
    )
}

/// Filters of second order, each of which gets what the one before it gives.
fn filters(count: usize) -> String {
    let mut text = String::from("int main(void) { double x");
    for at in 0..count {
        write!(text, ", y{at} = 0.0, z{at} = 0.0, t{at}").expect("strings take everything");
    }
    text += "; while (1) { x = real(); if (!(x >= -1.0 && x <= 1.0)) return 0; ";
    for at in 0..count {
        write!(text, "t{at} = x + 0.9 * y{at} - 0.4 * z{at}; z{at} = y{at}; y{at} = t{at}; x = 0.2 * y{at}; ")
            .expect("strings take everything");
    }
    text + "if (!(y0 <= 10.0)) reach_error(); } }"
}

/// A machine with many states in which inputs are compared with constants.
fn machine(states: usize) -> String {
    let mut text = String::from("int s = 0, a = 0;\nvoid step(int i) {\n");
    for at in 0..states {
        let (one, other) = ((at + 1) % states, at * 7 % states);
        writeln!(
            text,
            "  if (s == {at} && i == {}) {{ s = {one}; a = {}; return; }} if (s == {at} && i > 6) {{ s = {other}; return; }}",
            at % 6,
            at % 3
        )
        .expect("strings take everything");
    }
    text + "  if (a > 2) reach_error();\n}\nint main(void) { while (1) step(input()); }\n"
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("runs");
    group.sample_size(10);
    let (program, targets) = load(LOCK);
    for max_runs in [1_000, 10_000] {
        group.bench_function(BenchmarkId::new("chosen inputs", max_runs), |bench| {
            bench.iter(|| {
                let options = Options { max_runs, ..Options::default() };
                let mut execution = Execution::new(Arc::clone(&program), targets.clone(), options);
                execution.run(&mut Cx::unlimited());
                assert_eq!(execution.statistics().runs, max_runs);
            });
        });
    }
    for count in [1, 4] {
        let (program, targets) = load(&filters(count));
        group.bench_function(BenchmarkId::new("combinations of values", count), |bench| {
            bench.iter(|| {
                let mut rounds = Rounds::new(Arc::clone(&program), targets.clone());
                assert!(matches!(rounds.run(&mut Cx::unlimited()).verdict(), Verdict::True));
            });
        });
    }
    for values in [30, 100] {
        let (program, targets) = load(&pairs(values));
        let inputs = program.edge_ids().filter(|&edge| matches!(program.edge(edge).op, Op::Havoc { .. }));
        let ranges: Ranges = inputs.map(|edge| (edge, (0, values as i128 - 1))).collect();
        group.bench_function(BenchmarkId::new("all inputs", values * values), |bench| {
            bench.iter(|| {
                let mut exhaustive = Exhaustive::new(Arc::clone(&program), targets.clone(), ranges.clone(), MEMORY);
                assert_eq!(*exhaustive.run(&mut Cx::unlimited()).verdict(), Verdict::True);
            });
        });
    }
    for gap in [0.1, 0.001] {
        let (program, targets) = load(&polynomial(gap));
        let analysis = || Subdivision::new(Arc::clone(&program), targets.clone(), MEMORY);
        let mut first = analysis();
        assert_eq!(*first.run(&mut Cx::unlimited()).verdict(), Verdict::True);
        group.bench_function(BenchmarkId::new("ranges", first.runs()), |bench| {
            bench.iter(|| analysis().run(&mut Cx::unlimited()));
        });
    }
    for states in [20, 200] {
        let (program, targets) = load(&machine(states));
        let analysis = || States::new(Arc::clone(&program), &targets, StatesOptions::default());
        let mut first = analysis();
        assert_eq!(*first.run(&mut Cx::unlimited()).verdict(), Verdict::True);
        group.bench_function(BenchmarkId::new("states", first.statistics().states), |bench| {
            bench.iter(|| analysis().run(&mut Cx::unlimited()));
        });
    }
    group.finish();
    criterion.final_summary();
}
