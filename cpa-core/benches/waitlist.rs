// SPDX-License-Identifier: Apache-2.0
//! How fast waiting nodes go in and out, in each order. The size is the number of nodes.

use std::hint::black_box;
use std::rc::Rc;

use cpa_core::{ArgId, Bfs, Dfs, Rank, ReversePostOrder, Unrolled, Waitlist};
use criterion::{BenchmarkId, Criterion};

/// Makes an empty list.
type Make = fn() -> Box<dyn Waitlist>;

/// Puts nodes in by threes and takes two out, until all are through.
fn pass(list: &mut dyn Waitlist, ranks: &[Rank]) -> usize {
    let mut taken = 0;
    for (at, rank) in ranks.iter().enumerate() {
        list.push(ArgId::new(at), rank.clone());
        if at % 3 != 0 {
            taken += usize::from(list.pop().is_some());
        }
    }
    while list.pop().is_some() {
        taken += 1;
    }
    taken
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("waitlist");
    let ranks: Vec<Rank> = (0..10_000u32)
        .map(|at| Rank {
            depth: at / 700 % 5,
            rpo: at.wrapping_mul(7919) % 300,
            inside: false,
            position: Some(Rc::from([at % 7, at.wrapping_mul(31) % 40, at % 11])),
        })
        .collect();
    let orders: [(&str, Make); 4] = [
        ("depth first", || Box::new(Dfs::default())),
        ("breadth first", || Box::new(Bfs::default())),
        ("reverse post-order", || Box::new(ReversePostOrder::callstack_first())),
        ("unrolled", || Box::new(Unrolled::default())),
    ];
    for (name, list) in orders {
        group.bench_function(BenchmarkId::new(name, ranks.len()), |bench| {
            bench.iter(|| black_box(pass(&mut *list(), &ranks)));
        });
    }
    group.finish();
    criterion.final_summary();
}
