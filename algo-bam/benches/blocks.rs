// SPDX-License-Identifier: Apache-2.0
//! How fast programs are analysed in blocks, with no more analyses than those that follow the control flow: functions that
//! each call the next one twice, whose proof takes every block once and from then on out of the cache, and a path that is
//! put together from the graphs of as many blocks as it passes. The size is the number of functions, or of calls on the path.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

use algo_bam::{Bam, Parts, Settings, Strategy};
use cfa::{Blocks, NodeId, Options, Partitioning, Program, Property, Source};
use cpa_core::{
    Arg, ArgId, CallstackCpa, Composite, Counterexample, Cx, LocationCpa, Reducers, Refinement, Refiner, Remerge,
    ReversePostOrder, Stop, Verdict,
};
use criterion::{BenchmarkId, Criterion};

/// Believes every path.
struct Believer;

impl Refiner for Believer {
    fn name(&self) -> &'static str {
        "believer"
    }
    fn refine(&mut self, _cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let steps = arg.path_to(target).steps;
        Ok(Refinement::Feasible(Counterexample { steps, ..Counterexample::default() }))
    }
}

fn program(text: String) -> Arc<Program> {
    let source = Source { name: "bench.c".into(), text };
    Arc::new(cfa::load(&[source], &Options::default()).expect("it is a program"))
}

/// Each function calls the next one twice.
fn nested(functions: usize) -> String {
    let mut text = format!("int f{functions}(int x) {{ return x + 1; }}\n");
    for at in (0..functions).rev() {
        let next = at + 1;
        writeln!(
            text,
            "int f{at}(int x) {{ if (x > {at}) x = f{next}(x); else while (x < {at}) x++; return f{next}(x); }}"
        )
        .expect("strings take everything");
    }
    text + "int main(void) { return f0(3); }\n"
}

/// The error is behind many calls.
fn calls(count: usize) -> String {
    let calls = "x = f(x); ".repeat(count);
    format!(
        "void reach_error(void); int f(int x) {{ x++; x += 2; return x; }} int main(void) {{ int x = 0; {calls} reach_error(); }}"
    )
}

fn analyse(program: &Arc<Program>, targets: &BTreeSet<NodeId>) -> (Bam, Verdict) {
    let mut composite = Composite::new(Arc::clone(program));
    let location = composite.add(LocationCpa::new(Arc::clone(program), targets.clone()));
    let callstack = composite.add(CallstackCpa::new(Arc::clone(program)));
    let reducers = Reducers::new(&composite, location, callstack, program);
    let blocks = Rc::new(Blocks::find(program, Partitioning::default()));
    let settings = Settings {
        waitlist: Box::new(|| Box::new(ReversePostOrder::callstack_first())),
        remerge: Remerge::Prune,
        strategy: Strategy::InPlace,
        max_cached: 0,
    };
    let parts = Parts { composite, reducers, blocks, refiner: Box::new(Believer) };
    let mut bam = Bam::new(parts, settings).expect("both analyses have reducers");
    let verdict = bam.run(&mut Cx::unlimited()).verdict().clone();
    (bam, verdict)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("blocks");
    for functions in [10, 100] {
        let program = program(nested(functions));
        assert_eq!(analyse(&program, &BTreeSet::new()).1, Verdict::True);
        group.bench_function(BenchmarkId::new("proof", functions), |bench| {
            bench.iter(|| black_box(analyse(&program, &BTreeSet::new())));
        });
    }
    for count in [10, 100] {
        let program = program(calls(count));
        let targets = program.targets(&Property::default_errors());
        assert!(matches!(analyse(&program, &targets).1, Verdict::False(_)));
        group.bench_function(BenchmarkId::new("path", count), |bench| {
            bench.iter(|| black_box(analyse(&program, &targets)));
        });
    }
    group.finish();
    criterion.final_summary();
}
