// SPDX-License-Identifier: Apache-2.0
//! How fast programs are read: parsing alone (to the syntax tree and its notation), and loading, which is parsing, repair and
//! lowering. The programs are generated, one flat and large as those that were made from automata, one with the structures,
//! lists and casts of drivers. The size is the number of lines.

use std::fmt::Write;
use std::hint::black_box;

use cfa::{Options, Source};
use criterion::{BenchmarkId, Criterion, Throughput};

/// A state machine as a chain of conditions.
fn automaton(lines: usize) -> String {
    let mut text =
        String::from("int input(void); int a, b, c, d; void error(void) { while (1) ; }\nint step(int i) {\n");
    for at in 0..lines / 5 {
        let (x, y) = (at % 17, at % 23);
        write!(
            text,
            "  if (((a == {x}) && !(b == {y})) && ((i == {}) && (c != {x} || 77 < d))) {{\n    a = ((c * -{x}) % {}) + b;\n\
             \x20   b = {y};\n    return {at};\n  }}\n",
            at % 6,
            y + 2
        )
        .expect("strings take everything");
    }
    text.push_str("  return -1;\n}\nint main(void) { while (1) if (step(input()) == -2) error(); }\n");
    text
}

/// Functions on lists of structures.
fn driver(lines: usize) -> String {
    let mut text = String::from(
        "typedef unsigned int size_t; typedef struct entry { struct entry *next; unsigned char data[8]; int key; } entry;\n\
         void *malloc(size_t); void free(void *); entry *head;\n",
    );
    for at in 0..lines / 12 {
        write!(
            text,
            "static int handle_{at}(entry *list, size_t *count)\n{{\n  int tmp ;\n  entry *e = (entry *)malloc(sizeof(entry));\n\
             \x20 e->next = list; e->key = (int )(*count) + (int)-{at};\n  while ((unsigned int )e != (unsigned int )((void *)0)) {{\n\
             \x20   if (e->data[{} & 7] == (unsigned char )'x') {{ goto out; }}\n    e = e->next;\n  }}\n  out: ;\n\
             \x20 tmp = (int )sizeof(entry) + {at};\n  return (tmp);\n}}\n",
            at % 9
        )
        .expect("strings take everything");
    }
    text.push_str("int main(void) { size_t n = 0; int s = 0;\n");
    for at in 0..lines / 12 {
        writeln!(text, "  s += handle_{at}(head, & n);").expect("strings take everything");
    }
    text.push_str("  return s; }\n");
    text
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("reading");
    group.sample_size(10);
    let programs = [("automaton", 10_000, automaton(10_000)), ("driver", 10_000, driver(10_000))];
    let large = [("automaton", 100_000, automaton(100_000)), ("driver", 100_000, driver(100_000))];
    for (name, lines, text) in programs.into_iter().chain(large) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        let sources = [Source { name: "bench.c".into(), text }];
        group.bench_function(BenchmarkId::new(format!("parsing {name}"), lines), |bench| {
            bench.iter(|| black_box(cfa::syntax(&sources[0]).expect("it is a program")));
        });
        group.bench_function(BenchmarkId::new(format!("loading {name}"), lines), |bench| {
            bench.iter(|| black_box(cfa::load(&sources, &Options::default()).expect("it is a program")));
        });
    }
    group.finish();
    criterion.final_summary();
}
