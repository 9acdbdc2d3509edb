// SPDX-License-Identifier: Apache-2.0
//! How fast the concrete machine runs programs: arithmetic with branches, checked accesses to an array, calls; and how fast
//! programs become code for it. Its shortcut for simple loops applies to none of the loops. The size is that of
//! the array, to which the other loops are proportional, or the number of lines.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::hint::black_box;
use std::rc::Rc;

use cfa::machine::{Code, End, Machine, NoInputs, Setup, Storage};
use cfa::{Options, Program, Source};
use criterion::{BenchmarkId, Criterion};

const MEMORY: usize = 1 << 24;

/// Collatz sequences.
const ARITHMETIC: &str =
    "int main(void) { unsigned long long steps = 0; for (unsigned start = 1; start < N / 100; start++)
    for (unsigned long long x = start; x != 1; steps++) if (x % 2) x = 3 * x + 1; else x /= 2; return steps > 5; }";

/// The sieve of Eratosthenes.
const ARRAY: &str = "char sieve[N]; int main(void) { int primes = 0; for (int i = 2; i < N; i++) if (!sieve[i]) {
    primes++; for (int k = 2 * i; k < N; k += i) sieve[k] = 1; } return primes > 5; }";

/// Additions by recursion.
const CALLS: &str = "int add(int a, int b) { return b ? add(a, b - 1) + 1 : a; }
    int main(void) { int sum = 0; for (int i = 0; i < N / 100; i++) sum = add(i, 100); return sum > 5; }";

fn program(text: String) -> Program {
    cfa::load(&[Source { name: "bench.c".into(), text }], &Options::default()).expect("it is a program")
}

fn code(program: &Program) -> Rc<Code> {
    let targets = BTreeSet::new();
    let setup = Setup::new(&targets, Storage::Untouchable);
    Rc::new(Code::new(program, &setup).expect("it is small enough"))
}

/// A function with many statements.
fn long(lines: usize) -> String {
    let mut text = String::from("int main(void) { unsigned a = 1, b = 2, c = 3;\n");
    for at in 0..lines {
        writeln!(text, "  if (a % {} < b) c += a * {at}; else b ^= c << {};", at % 7 + 2, at % 31)
            .expect("strings take everything");
    }
    text + "  return c > 5; }\n"
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("machine");
    for (name, text) in [("arithmetic", ARITHMETIC), ("array", ARRAY), ("calls", CALLS)] {
        for size in [10_000, 100_000] {
            let program = program(text.replace('N', &size.to_string()));
            let mut machine = Machine::new(code(&program), MEMORY);
            group.bench_function(BenchmarkId::new(name, size), |bench| {
                bench.iter(|| {
                    machine.reset();
                    assert_eq!(machine.run(&mut NoInputs, u64::MAX), Some(End::Returned));
                });
            });
        }
    }
    for lines in [1_000, 10_000] {
        let program = program(long(lines));
        group.bench_function(BenchmarkId::new("code", lines), |bench| bench.iter(|| black_box(code(&program))));
    }
    group.finish();
    criterion.final_summary();
}
