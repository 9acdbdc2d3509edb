// SPDX-License-Identifier: Apache-2.0
//! How long proofs by contracts of recursive functions take: sums, whose contracts are linear, and functions that call each
//! other. The size is the number of parameters, or of functions.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use algo_contracts::Contracts;
use cfa::{Options, Property, Source};
use cpa_core::{Cx, Verdict};
use cpa_predicate::region::Library;
use cpa_predicate::{Encoding, Manager};
use criterion::{BenchmarkId, Criterion};

/// Makes functions, and what is checked in `main`, in some size.
type Text = fn(usize) -> String;

/// The sum of the parameters, counted down in the first one.
fn sums(count: usize) -> String {
    let params: Vec<String> = (1..count).map(|at| format!("unsigned p{at}")).collect();
    let next: Vec<String> = (1..count).map(|at| format!("p{at}")).collect();
    let (params, next) = (params.join(", "), next.join(", "));
    let total = next.replace(", ", " + ");
    let inputs: String = (1..count).map(|at| format!("unsigned p{at} = input(); ")).collect();
    format!(
        "unsigned sum(unsigned n, {params}) {{ return n == 0 ? {total} : 1 + sum(n - 1, {next}); }}
         int main(void) {{ unsigned n = input(); {inputs} check(sum(n, {next}) == n + {total}); return 0; }}"
    )
}

/// Each function calls the next one, the last one the first one.
fn rings(count: usize) -> String {
    let mut text: String = (0..count).map(|at| format!("int f{at}(unsigned n); ")).collect();
    for at in 0..count {
        writeln!(text, "int f{at}(unsigned n) {{ return n == 0 ? {at} : f{}(n - 1); }}", (at + 1) % count)
            .expect("strings take everything");
    }
    writeln!(text, "int main(void) {{ int r = f0(input()); check(0 <= r && r < {count}); return 0; }}")
        .expect("strings take everything");
    text
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("contracts");
    group.sample_size(10);
    let benchmarks: [(&str, Text, [usize; 2]); 2] = [("sums", sums, [2, 4]), ("rings", rings, [2, 8])];
    for (name, text, sizes) in benchmarks {
        for size in sizes {
            let text = format!(
                "extern unsigned input(void); void reach_error(void); void check(int c) {{ if (!c) reach_error(); }}\n{}",
                text(size)
            );
            let source = Source { name: "bench.c".into(), text };
            let program = Arc::new(cfa::load(&[source], &Options::default()).expect("it is a program"));
            let targets = program.targets(&Property::default_errors());
            group.bench_function(BenchmarkId::new(name, size), |bench| {
                bench.iter(|| {
                    let manager = Manager::new(&program, Encoding::Bitvector, Library::Oxidd).expect("it is exact");
                    let mut contracts = Contracts::new(&program, &targets, &Rc::new(RefCell::new(manager)));
                    assert_eq!(*contracts.run(&mut Cx::unlimited()).verdict(), Verdict::True);
                });
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
