// SPDX-License-Identifier: Apache-2.0
//! How fast programs are unrolled to path formulas, for growing bounds, and how long a whole round with its questions to the
//! solver takes. The size is the bound.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_bmc::{Bmc, Increase, Options, Start, Unrolling};
use cfa::{NodeId, Program, Property, Source};
use cpa_core::{Counting, Cx, Verdict};
use cpa_predicate::region::Library;
use cpa_predicate::{Encoding, Manager};
use criterion::{BatchSize, BenchmarkId, Criterion};

/// Branches of a lock that meet again.
const LOCK: &str = "int input(void); void reach_error(void); int main(void) { int lock = 0, old = 0, new = 1;
    while (new != old) { if (lock) reach_error(); lock = 1; old = new; if (input()) { lock = 0; new++; } }
    if (!lock) reach_error(); return 0; }";

/// Nested loops over an array.
const SORT: &str = "int input(void); void reach_error(void); int a[16]; int main(void) { int n = input();
    if (n < 0 || n > 16) return 0; for (int i = 0; i < n; i++) { a[i] = input() & 255; int k = i;
    while (k > 0 && a[k - 1] > a[k]) { int t = a[k]; a[k] = a[k - 1]; a[k - 1] = t; k--; } }
    for (int i = 1; i < n; i++) if (a[i - 1] > a[i]) reach_error(); return 0; }";

fn load(text: &str) -> (Arc<Program>, BTreeSet<NodeId>) {
    let source = Source { name: "bench.c".into(), text: text.into() };
    let program = Arc::new(cfa::load(&[source], &cfa::Options::default()).expect("it is a program"));
    let targets = program.targets(&Property::default_errors());
    (program, targets)
}

fn manager(program: &Arc<Program>) -> Rc<RefCell<Manager>> {
    let manager = Manager::new(program, Encoding::Bitvector, Library::default()).expect("bit-vectors are exact");
    Rc::new(RefCell::new(manager))
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("unrolling");
    group.sample_size(10);
    for (name, text, bounds) in [("lock", LOCK, [10, 100]), ("sort", SORT, [4, 8])] {
        let (program, targets) = load(text);
        for bound in bounds {
            group.bench_function(BenchmarkId::new(format!("formulas {name}"), bound), |bench| {
                bench.iter_batched(
                    || manager(&program),
                    |manager| {
                        let counting = Counting::Iterations;
                        let mut unrolling = Unrolling::new(&program, &targets, &manager, Start::Entry, counting);
                        unrolling.extend(&mut Cx::unlimited(), bound).expect("there is no limit");
                        unrolling
                    },
                    BatchSize::PerIteration,
                );
            });
        }
    }
    let (program, targets) = load(LOCK);
    for first in [10, 40] {
        let options = Options { first, increase: Increase::Never, ..Options::default() };
        group.bench_function(BenchmarkId::new("round lock", first), |bench| {
            bench.iter(|| {
                let mut bmc = Bmc::new(&program, &targets, &manager(&program), options.clone());
                let outcome = bmc.run(&mut Cx::unlimited());
                assert!(matches!(outcome.verdict(), Verdict::Unknown(_)), "the loop goes on");
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
