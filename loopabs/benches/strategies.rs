// SPDX-License-Identifier: Apache-2.0
//! How fast loops get their strategies, are printed with one of them, and become the strategy-augmented automaton, which
//! is read again. The size is the number of loops.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::hint::black_box;

use cfa::{Options, Property, Source};
use criterion::{BenchmarkId, Criterion};
use loopabs::{Augmented, Loops, Strategy};

/// By turns a loop with a closed form, one with branches, and two nested ones that write to an array.
fn program(loops: usize) -> String {
    let mut text = String::from("extern int input(void); void reach_error(void); int a[100];\n");
    for at in 0..loops {
        let body = match at % 3 {
            0 => "unsigned i = 0, x = n; while (i < n) { i++; x += 3; } if (x < n) reach_error();",
            1 => "unsigned i = 0; while (i < n) { if (i < 50) i += 2; else i += 1; } if (i < n) reach_error();",
            _ => {
                "for (unsigned i = 0; i < n; i++) { for (int k = 0; k < 100; k++) a[k] += i; if (a[i % 100] < 0) break; }"
            }
        };
        writeln!(text, "void f{at}(unsigned n) {{ {body} }}").expect("strings take everything");
    }
    text.push_str("int main(void) {\n");
    for at in 0..loops {
        writeln!(text, "  f{at}(input());").expect("strings take everything");
    }
    text + "  return 0;\n}\n"
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("loop abstraction");
    group.sample_size(20);
    for count in [3, 30, 300] {
        let source = Source { name: "bench.c".into(), text: program(count) };
        let options = Options { loop_sites: true, ..Options::default() };
        let program = cfa::load(&[source], &options).expect("it is a program");
        let targets = program.targets(&Property::default_errors());
        let loops = Loops::new(&program, &targets);
        group.bench_function(BenchmarkId::new("strategies", count), |bench| {
            bench.iter(|| black_box(Loops::new(&program, &targets)));
        });
        group.bench_function(BenchmarkId::new("printing", count), |bench| {
            bench.iter(|| {
                let most_abstract = |site| *loops.applicable(site).last().expect("the loop itself applies");
                black_box(loops.render(&program, 0, most_abstract))
            });
        });
        let all: BTreeSet<Strategy> = Strategy::ALL.into_iter().collect();
        group.bench_function(BenchmarkId::new("automaton", count), |bench| {
            bench.iter(|| black_box(Augmented::new(&program, &loops, &all).expect("it can be read")));
        });
    }
    group.finish();
    criterion.final_summary();
}
