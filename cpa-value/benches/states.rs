// SPDX-License-Identifier: Apache-2.0
//! How fast explicit values are: exploration of a state machine, whose many states are told apart and found again by their
//! values, joins where ways meet, and refinement of long paths of which few values matter. The size is the number of
//! variables, or of branches on the path.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

use cfa::{NodeId, Options, Program, Property, Source};
use cpa_core::algorithm::at_target;
use cpa_core::{
    CallstackCpa, Composite, Cx, Exploration, Handle, LocationCpa, Refinement, Refiner, Remerge, ReversePostOrder,
    Status, run,
};
use cpa_value::{Machine, MergeKind, Precision, Preference, Sharing, ValueCpa, ValueRefiner, ValueTracker};
use criterion::{BenchmarkId, Criterion};

/// The variables with indices below `counters` count to different numbers, one of them in each round; others do not change.
fn counters(counters: usize, others: usize) -> String {
    let mut text = String::from("int input(void); void reach_error(void);\nint main(void) {\n");
    for at in 0..counters + others {
        writeln!(text, "  int x{at} = {at};").expect("strings take everything");
    }
    text.push_str("  while (1) { int i = input();\n");
    for at in 0..counters {
        writeln!(text, "    if (i == {at}) x{at} = (x{at} + 1) % 7;").expect("strings take everything");
    }
    text + "    if (x0 > 7) reach_error(); }\n}\n"
}

/// Two ways many times one after the other, most of them about what does not matter for the error.
fn path(branches: usize) -> String {
    let mut text = String::from("void reach_error(void);\nint main(void) {\n  int guard = 1, n = 0, k = 3;\n");
    for at in 0..branches {
        writeln!(text, "  n = n + k; if (n != {}) return 0; int a{at} = n * {at}; k = k;", 3 * (at + 1))
            .expect("strings take everything");
    }
    text + "  if (guard == 0) reach_error(); return 0;\n}\n"
}

struct Analysis {
    composite: Composite,
    exploration: Exploration,
    value: Handle<ValueCpa>,
    machine: Rc<Machine>,
}

impl Analysis {
    fn new(program: &Arc<Program>, targets: &BTreeSet<NodeId>, merge: MergeKind, initial: Precision) -> Self {
        let machine = Rc::new(Machine::new(Arc::clone(program)));
        let mut composite = Composite::new(Arc::clone(program));
        composite.add(LocationCpa::new(Arc::clone(program), targets.clone()).towards_targets());
        composite.add(CallstackCpa::new(Arc::clone(program)));
        let value = composite.add(ValueCpa::new(Rc::clone(&machine), merge, initial));
        let exploration = Exploration::new(Box::new(ReversePostOrder::callstack_first()), Remerge::Keep);
        Self { composite, exploration, value, machine }
    }

    fn run(&mut self) -> Status {
        run(&mut Cx::unlimited(), &mut self.composite, &mut self.exploration, &mut at_target, None)
            .expect("there is no limit")
    }
}

fn load(text: String) -> (Arc<Program>, BTreeSet<NodeId>) {
    let source = Source { name: "bench.c".into(), text };
    let program = Arc::new(cfa::load(&[source], &Options::default()).expect("it is a program"));
    let targets = program.targets(&Property::default_errors());
    (program, targets)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("values");
    group.sample_size(20);
    let ways = [("states apart", MergeKind::Separate, 4), ("states joined", MergeKind::Join, 40)];
    for (name, merge, count) in ways {
        for others in [0, 200] {
            let (program, targets) = load(counters(count, others));
            let id = BenchmarkId::new(format!("{name}, {count} counters"), count + others);
            group.bench_function(id, |bench| {
                bench.iter(|| {
                    let mut analysis = Analysis::new(&program, &targets, merge, Precision::Full);
                    black_box(analysis.run());
                    analysis.exploration
                });
            });
        }
    }
    for branches in [20, 200] {
        let (program, targets) = load(path(branches));
        let mut analysis = Analysis::new(&program, &targets, MergeKind::Separate, Precision::Everywhere(Rc::default()));
        let Status::Target(target) = analysis.run() else { panic!("without values the error is reached") };
        let arg = analysis.exploration.arg();
        group.bench_function(BenchmarkId::new("refinement", branches), |bench| {
            bench.iter(|| {
                let machine = Rc::clone(&analysis.machine);
                let tracker = ValueTracker::new(analysis.value, Rc::clone(&machine), Sharing::Everywhere);
                let mut refiner = ValueRefiner::new(machine, Box::new(tracker), Preference::Best);
                let answer = refiner.refine(&mut Cx::unlimited(), arg, target).expect("there is no limit");
                assert!(matches!(answer, Refinement::Spurious { .. }));
                answer
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
