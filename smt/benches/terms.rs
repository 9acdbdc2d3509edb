// SPDX-License-Identifier: Apache-2.0
//! How fast terms are built, new and for the second time, and how fast blocks with branches become path formulas. The
//! size is the number of comparisons, or of branches.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion};
use smt::{BvBin, BvCmp, PathFormula, Sort, Stmt, SymId, TermId, Terms};

const WIDTH: u32 = 32;

fn symbols(terms: &mut Terms, count: usize) -> Vec<SymId> {
    (0..count).map(|at| terms.symbol(&format!("main::x{at}"), Sort::Bv(WIDTH))).collect()
}

/// Sums, products and comparisons over some variables, all different.
fn build(terms: &mut Terms, symbols: &[SymId], count: usize) -> TermId {
    let mut all = Vec::with_capacity(count);
    let mut last = terms.var(symbols[0], 0);
    for at in 0..count {
        let x = terms.var(symbols[at % symbols.len()], (at / symbols.len()) as u32);
        let factor = terms.bv(WIDTH, at as u128 % 97 + 2);
        let product = terms.bv_bin(BvBin::Mul, x, factor);
        let sum = terms.bv_bin(BvBin::Add, product, last);
        all.push(terms.bv_cmp(BvCmp::Slt, x, sum));
        last = product;
    }
    terms.and_all(&all)
}

/// A block of branches that meet again: `if (x < c) y = y + x; else y = y - 1;` and so on.
fn block(terms: &mut Terms, symbols: &[SymId], branches: usize) -> PathFormula {
    let mut path = PathFormula::empty();
    for at in 0..branches {
        let (one, other) = (symbols[at % symbols.len()], symbols[(at + 1) % symbols.len()]);
        let (x, y) = (terms.var(one, 0), terms.var(other, 0));
        let (bound, step) = (terms.bv(WIDTH, at as u128), terms.bv(WIDTH, 1));
        let less = terms.bv_cmp(BvCmp::Slt, x, bound);
        let not_less = terms.not(less);
        let (sum, difference) = (terms.bv_bin(BvBin::Add, y, x), terms.bv_bin(BvBin::Add, y, step));
        let yes = path.post(terms, &Stmt::Assume(less)).post(terms, &Stmt::Assign(other, sum));
        let no = path.post(terms, &Stmt::Assume(not_less)).post(terms, &Stmt::Assign(other, difference));
        path = yes.merge(terms, &no, true);
    }
    path
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("terms");
    for count in [100, 10_000] {
        let fresh = || {
            let mut terms = Terms::new();
            let symbols = symbols(&mut terms, 20);
            (terms, symbols)
        };
        group.bench_function(BenchmarkId::new("build", count), |bench| {
            bench.iter_batched(
                fresh,
                |(mut terms, symbols)| {
                    black_box(build(&mut terms, &symbols, count));
                    terms
                },
                BatchSize::LargeInput,
            );
        });
        let (mut terms, symbols) = fresh();
        build(&mut terms, &symbols, count);
        group.bench_function(BenchmarkId::new("build again", count), |bench| {
            bench.iter(|| black_box(build(&mut terms, &symbols, count)));
        });
    }
    for branches in [20, 200] {
        group.bench_function(BenchmarkId::new("path formula", branches), |bench| {
            bench.iter_batched(
                || {
                    let mut terms = Terms::new();
                    let symbols = symbols(&mut terms, 20);
                    (terms, symbols)
                },
                |(mut terms, symbols)| {
                    black_box(block(&mut terms, &symbols, branches));
                    terms
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
    criterion.final_summary();
}
