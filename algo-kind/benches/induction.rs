// SPDX-License-Identifier: Apache-2.0
//! How long proofs by k-induction take, questions to the solver included: without auxiliary invariants, where k has to grow;
//! with those of the data-flow analysis; and with those that are guessed and proved together. The size is the number of
//! variables.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use algo_bmc::Options as Base;
use algo_kind::{KInduction, Options, Strategy};
use cfa::{Property, Source};
use cpa_core::{Counting, Cx, Verdict};
use cpa_predicate::region::Library;
use cpa_predicate::{Encoding, Manager};
use criterion::{BenchmarkId, Criterion};

/// Makes the body of `main` in some size.
type Body = fn(usize) -> String;

/// A value goes round in some variables, so that as many steps are needed.
fn ring(size: usize) -> String {
    let set: String = (0..size).map(|at| format!("int x{at} = {at}; ")).collect();
    let shift: String = (1..size).map(|at| format!("x{} = x{at}; ", at - 1)).collect();
    format!("while (1) {{ int first = x0; {shift} x{} = first; if (x0 >= {size}) reach_error(); }}", size - 1)
        .replace("while", &format!("{set} while"))
}

/// Counters below bounds.
fn counters(size: usize) -> String {
    let set: String = (0..size).map(|at| format!("int x{at} = 0; ")).collect();
    let count: String = (0..size).map(|at| format!("if (i == {at} && x{at} < 1000) x{at}++; ")).collect();
    format!("{set} while (1) {{ int i = input(); {count} if (x0 > 5000) reach_error(); }}")
}

/// Counters that grow together.
fn relations(size: usize) -> String {
    let set: String = (0..size).map(|at| format!("unsigned x{at} = 0; ")).collect();
    let count: String = (0..size).map(|at| format!("x{at} += {}; ", at + 1)).collect();
    format!("{set} while (input()) {{ {count} }} if (x{} != {size} * x0) reach_error();", size - 1)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("induction");
    group.sample_size(10);
    let benchmarks: [(&str, Strategy, Body, [usize; 2]); 3] = [
        ("no invariants, ring", Strategy::Nothing, ring, [2, 8]),
        ("data flow, counters", Strategy::DataFlow, counters, [2, 8]),
        ("guesses, relations", Strategy::Induction, relations, [2, 4]),
    ];
    for (name, invariants, body, sizes) in benchmarks {
        for size in sizes {
            let text =
                format!("int input(void); void reach_error(void); int main(void) {{ {} return 0; }}", body(size));
            let source = Source { name: "bench.c".into(), text };
            let program = Arc::new(cfa::load(&[source], &cfa::Options::default()).expect("it is a program"));
            let targets = program.targets(&Property::default_errors());
            let base = Base { counting: Counting::Visits, ..Base::default() };
            group.bench_function(BenchmarkId::new(name, size), |bench| {
                bench.iter(|| {
                    let manager = Manager::new(&program, Encoding::Bitvector, Library::default());
                    let manager = Rc::new(RefCell::new(manager.expect("bit-vectors are exact")));
                    let options = Options { base: base.clone(), invariants };
                    let outcome = KInduction::new(&program, &targets, &manager, options).run(&mut Cx::unlimited());
                    assert_eq!(*outcome.verdict(), Verdict::True);
                });
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
