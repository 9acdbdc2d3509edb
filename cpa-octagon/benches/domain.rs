// SPDX-License-Identifier: Apache-2.0
//! How fast the operations of octagons are: closure of a whole matrix, closure after one constraint, join, widening. The size
//! is the number of variables.

use std::hint::black_box;

use cpa_octagon::{Octagon, Signed};
use criterion::{BatchSize, BenchmarkId, Criterion};

/// Reproducible numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
    fn signed(&mut self, dims: usize) -> Signed {
        Signed { dim: self.below(dims as u64) as usize, negative: self.below(2) == 1 }
    }
}

/// All variables are bounded, so all entries are finite; the point 0 is inside.
fn octagon(dims: usize, seed: u64) -> Octagon {
    let mut random = Random(seed);
    let mut octagon = Octagon::top(dims);
    for dim in 0..dims {
        octagon.at_most(dim, i128::from(random.below(1000)));
        octagon.at_least(dim, -i128::from(random.below(1000)));
    }
    for _ in 0..2 * dims {
        let (a, b) = (random.signed(dims), random.signed(dims));
        if a.dim != b.dim {
            octagon.constrain(a, b, i128::from(random.below(900)));
        }
    }
    octagon
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("octagon");
    for dims in [4, 16, 64, 128] {
        let (one, two) = (octagon(dims, 1), octagon(dims, 2));
        let id = |name: &str| BenchmarkId::new(name, dims);
        group.bench_function(id("closure"), |bench| {
            bench.iter_batched(|| one.widen(&two, &[]), |mut open| open.close(), BatchSize::SmallInput);
        });
        group.bench_function(id("full closure"), |bench| {
            bench.iter_batched(|| one.clone(), |mut open| open.close(), BatchSize::SmallInput);
        });
        let mut random = Random(3);
        group.bench_function(id("incremental closure"), |bench| {
            bench.iter_batched(
                || (one.clone(), random.signed(dims), random.below(10)),
                |(mut open, a, less)| {
                    let bound = open.upper(a, a).map_or(0, |bound| bound - less as i64);
                    open.constrain(a, a, i128::from(bound));
                    open
                },
                BatchSize::SmallInput,
            );
        });
        group.bench_function(id("join"), |bench| bench.iter(|| black_box(&one).join(black_box(&two))));
        let join = one.join(&two);
        group
            .bench_function(id("widening"), |bench| bench.iter(|| black_box(&one).widen(black_box(&join), &[10, 100])));
    }
    group.finish();
    criterion.final_summary();
}
