// SPDX-License-Identifier: Apache-2.0
//! How long proofs by summaries of loops take: sums of variables, whose polynomials grow in degree, and arrays that are
//! written and read by one loop after the other. The size is the degree, or the number of arrays.

use std::fmt::Write;
use std::sync::Arc;

use algo_summaries::Summaries;
use cfa::{Options, Property, Source};
use cpa_core::{Cx, Verdict};
use criterion::{BenchmarkId, Criterion};

/// Makes the body of `main` in some size.
type Body = fn(usize) -> String;

/// Each variable sums up the one before, so that the last one is a polynomial of that degree.
fn sums(degree: usize) -> String {
    let set: String = (0..degree).map(|at| format!("long long s{at} = 0; ")).collect();
    let add: String = (1..degree).rev().map(|at| format!("s{at} += s{}; ", at - 1)).collect();
    format!(
        "int n = input(); if (n < 0 || n > 100) return 0; {set}
         for (int i = 0; i < n; i++) {{ {add} s0 += 1; }} check(s0 == n && s{} >= 0);",
        degree - 1
    )
}

/// Each loop fills an array from the one before.
fn arrays(count: usize) -> String {
    let mut text = String::from("static int a0[1000]; for (int i = 0; i < 1000; i++) a0[i] = 2 * i;\n");
    for at in 1..count {
        writeln!(
            text,
            "static int a{at}[1000]; for (int i = 0; i < 1000; i++) a{at}[i] = a{}[999 - i] + {at};",
            at - 1
        )
        .expect("strings take everything");
    }
    let last = count - 1;
    writeln!(text, "for (int i = 0; i < 1000; i++) check(a{last}[i] + a{last}[999 - i] >= 1998);")
        .expect("strings take everything");
    text
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("summaries");
    group.sample_size(20);
    let benchmarks: [(&str, Body, [usize; 2]); 2] = [("sums", sums, [2, 4]), ("arrays", arrays, [2, 8])];
    for (name, body, sizes) in benchmarks {
        for size in sizes {
            let text = format!(
                "extern short input(void); void reach_error(void); void check(int c) {{ if (!c) reach_error(); }}
                 int main(void) {{ {} return 0; }}",
                body(size)
            );
            let source = Source { name: "bench.c".into(), text };
            let program = Arc::new(cfa::load(&[source], &Options::default()).expect("it is a program"));
            let targets = program.targets(&Property::default_errors());
            group.bench_function(BenchmarkId::new(name, size), |bench| {
                bench.iter(|| {
                    let outcome = Summaries::new(Arc::clone(&program), targets.clone()).run(&mut Cx::unlimited());
                    assert_eq!(*outcome.verdict(), Verdict::True);
                });
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
