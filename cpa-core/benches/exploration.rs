// SPDX-License-Identifier: Apache-2.0
//! How fast the CPA++ algorithm explores with the analyses that follow the control flow: a large program once, where ways
//! that meet are covered, and a small one with nested loops unrolled. The size is the number of nodes of the graph.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

use cfa::{Options, Program, Source};
use cpa_core::algorithm::never;
use cpa_core::{
    CallstackCpa, Composite, Counting, Cx, Exploration, LocationCpa, LoopBoundCpa, Remerge, ReversePostOrder, Unrolled,
    Waitlist, run,
};
use criterion::{BenchmarkId, Criterion};

fn program(text: String) -> Arc<Program> {
    let source = Source { name: "bench.c".into(), text };
    Arc::new(cfa::load(&[source], &Options::default()).expect("it is a program"))
}

/// Functions with branches, each called twice.
fn functions(count: usize) -> String {
    let mut text = String::from("int input(void);\n");
    for at in 0..count {
        writeln!(text, "int f{at}(int x) {{ if (x > {at}) x--; else x++; if (x % 3) x += {at}; return x; }}")
            .expect("strings take everything");
    }
    text.push_str("int main(void) { int x = input();\n");
    for at in 0..count {
        writeln!(text, "  x = f{at}(x); if (x == {at}) x = f{at}(x + 1);").expect("strings take everything");
    }
    text + "  return x; }\n"
}

const NESTED: &str = "int input(void); int main(void) { int s = 0;
    while (input()) { if (input()) s++; else s--; for (int i = 0; i < s; i++) if (i % 2) s += i; } return s; }";

fn explore(program: &Arc<Program>, bound: Option<u32>) -> Exploration {
    let mut composite = Composite::new(Arc::clone(program));
    composite.add(LocationCpa::new(Arc::clone(program), BTreeSet::new()));
    composite.add(CallstackCpa::new(Arc::clone(program)));
    let waitlist: Box<dyn Waitlist> = match bound {
        Some(bound) => {
            composite.add(LoopBoundCpa::new(Arc::clone(program), Counting::Iterations, bound));
            Box::new(Unrolled::default())
        }
        None => Box::new(ReversePostOrder::callstack_first()),
    };
    let mut exploration = Exploration::new(waitlist, Remerge::Prune);
    run(&mut Cx::unlimited(), &mut composite, &mut exploration, &mut never, None).expect("there is no limit");
    exploration
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("exploration");
    let large = [50, 500].map(|count| ("once", program(functions(count)), None));
    let unrolled = [6, 24].map(|bound| ("unrolled", program(NESTED.into()), Some(bound)));
    for (name, program, bound) in large.into_iter().chain(unrolled) {
        let nodes = explore(&program, bound).arg().len();
        group.bench_function(BenchmarkId::new(name, nodes), |bench| {
            bench.iter(|| black_box(explore(&program, bound)));
        });
    }
    group.finish();
    criterion.final_summary();
}
