// SPDX-License-Identifier: Apache-2.0
//! How fast a result is told: the way to an error in words, graphs drawn in layers and in rows, and the whole page. The
//! size is the number of steps, or of nodes.

use std::fmt::Write;
use std::hint::black_box;
use std::rc::Rc;

use cfa::machine::{Code, Machine, NoInputs, Setup, Storage};
use cfa::{Options, Program, Property, Source};
use cpa_core::{Counterexample, Step};
use criterion::{BenchmarkId, Criterion};
use report::graph::{Graph, draw};
use report::html::{Extras, report};
use report::path::steps;
use report::summary::{Summary, Violation};
use report::verdict::VerdictLine;

/// Functions with loops, and an error behind all of them.
fn program(functions: usize, rounds: usize) -> Program {
    let mut text = String::from("void reach_error(void); int v[8];\n");
    for at in 0..functions {
        writeln!(
            text,
            "int f{at}(int n) {{\n  int s = {at};\n  for (int i = 0; i < n; i++)\n    if (i % 3) v[i % 8] += s; else s += v[i % 8];\n  return s;\n}}"
        )
        .expect("strings take everything");
    }
    text.push_str("int main(void) {\n  int s = 0;\n");
    for at in 0..functions {
        writeln!(text, "  s ^= f{at}({rounds});").expect("strings take everything");
    }
    text.push_str("  reach_error();\n  return s;\n}\n");
    cfa::load(&[Source { name: "bench.c".into(), text }], &Options::default()).expect("it is a program")
}

/// The only run of the program.
fn run(program: &Program) -> Counterexample {
    let targets = program.targets(&Property::default_errors());
    let setup = Setup { steps: true, ..Setup::new(&targets, Storage::Inputs) };
    let mut machine = Machine::new(Rc::new(Code::new(program, &setup).expect("it is small")), 1 << 20);
    machine.limit_steps(usize::MAX);
    machine.run(&mut NoInputs, u64::MAX).expect("it ends");
    let steps = machine.steps().iter().map(|taken| Step::from(*taken));
    Counterexample { steps: steps.collect(), ..Counterexample::default() }
}

/// Branches that meet again.
fn diamonds(count: usize) -> Graph {
    let mut graph = Graph::default();
    for at in 0..count {
        for name in ["branch", "left", "right"] {
            graph.nodes.push((format!("{name} {at}"), false));
        }
        let first = 3 * at;
        graph.edges.extend([(first, first + 1, false), (first, first + 2, false)]);
        if at + 1 < count {
            graph.edges.extend([(first + 1, first + 3, false), (first + 2, first + 3, false)]);
        }
    }
    graph
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("pages");
    group.sample_size(10);
    let property = Property::default_errors();
    for (functions, rounds) in [(5, 40), (50, 400)] {
        let program = program(functions, rounds);
        let run = run(&program);
        let id = |name: &str| BenchmarkId::new(name, run.steps.len());
        group.bench_function(id("steps"), |bench| bench.iter(|| black_box(steps(&program, &property, &run))));
        let violation = Violation { steps: steps(&program, &property, &run), ..Violation::default() };
        let verdict = VerdictLine::False { property: None };
        let unknown = Summary::unknown("0", "unreach-call", "");
        let summary = Summary { verdict, reason: None, violation: Some(violation), ..unknown };
        group.bench_function(id("page"), |bench| {
            bench.iter(|| black_box(report(&program, &summary, &Extras::default())));
        });
    }
    for (name, count) in [("graph in layers", 10), ("graph in layers", 60), ("graph in rows", 600)] {
        let graph = diamonds(count);
        assert_eq!(draw(&graph).layered, name == "graph in layers");
        group.bench_function(BenchmarkId::new(name, 3 * count), |bench| bench.iter(|| black_box(draw(&graph))));
    }
    group.finish();
    criterion.final_summary();
}
