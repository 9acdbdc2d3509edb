// SPDX-License-Identifier: Apache-2.0
//! How fast the abstraction of a block with branches is computed, in each of the ways. The size is the number
//! of predicates.

use std::hint::black_box;
use std::sync::Arc;

use cpa_core::Cx;
use cpa_predicate::region::Library;
use cpa_predicate::{Computation, Encoding, Manager, Settings};
use criterion::{BenchmarkId, Criterion};
use smt::{BvBin, BvCmp, PathFormula, Sort, Stmt};

const WIDTH: u32 = 32;

fn manager(computation: Computation) -> Manager {
    let source = cfa::Source { name: "empty.c".into(), text: "int main(void) { return 0; }".into() };
    let program = Arc::new(cfa::load(&[source], &cfa::Options::default()).expect("the program is correct"));
    let mut manager = Manager::new(&program, Encoding::Bitvector, Library::default()).expect("bit-vectors are exact");
    manager.configure(Settings { computation, cache: false, ..Settings::default() });
    manager
}

/// `if (x < i) lock_i = 1; else lock_i = 0;` for each of some locks, as in the programs about locks.
fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("abstraction");
    group.sample_size(20);
    let ways =
        [("Cartesian", Computation::Cartesian), ("Boolean", Computation::Boolean), ("combined", Computation::Combined)];
    for (name, computation) in ways {
        for locks in [2u32, 6] {
            let mut manager = manager(computation);
            let terms = &mut manager.terms;
            let x = terms.symbol("x", Sort::Bv(WIDTH));
            let mut path = PathFormula::empty();
            let mut atoms = Vec::new();
            for at in 0..locks {
                let lock = terms.symbol(&format!("lock{at}"), Sort::Bv(WIDTH));
                let (value, bound) = (terms.var(x, 0), terms.bv(WIDTH, u128::from(at)));
                let bit = terms.bv(WIDTH, 1 << at);
                let masked = terms.bv_bin(BvBin::And, value, bit);
                let less = terms.bv_cmp(BvCmp::Ult, bound, masked);
                let not_less = terms.not(less);
                let (one, zero) = (terms.bv(WIDTH, 1), terms.bv(WIDTH, 0));
                let yes = path.post(terms, &Stmt::Assume(less)).post(terms, &Stmt::Assign(lock, one));
                let no = path.post(terms, &Stmt::Assume(not_less)).post(terms, &Stmt::Assign(lock, zero));
                path = yes.merge(terms, &no, true);
                let lock = terms.var(lock, 0);
                atoms.push(terms.eq(lock, zero));
            }
            let predicates: Vec<_> = atoms.into_iter().map(|atom| manager.predicates.intern(atom)).collect();
            let top = manager.top();
            group.bench_function(BenchmarkId::new(name, locks), |bench| {
                let mut cx = Cx::unlimited();
                bench.iter(|| black_box(manager.abstraction(&mut cx, top, &path, &predicates).expect("no limit")));
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
