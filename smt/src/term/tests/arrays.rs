// SPDX-License-Identifier: Apache-2.0
//! Memory as the analysis uses it: reads see the right writes, equal memories are equal terms, bytes become values again.

use crate::term::{BvBin, FpBin, FpCmp, FpUn, Sort, Term, TermId, Terms};

struct Memory {
    terms: Terms,
    start: TermId,
}

impl Memory {
    fn new(element: u32) -> Self {
        let mut terms = Terms::new();
        let sym = terms.symbol("mem", Sort::Array { index: 32, element });
        let start = terms.var(sym, 0);
        Memory { terms, start }
    }

    fn var(&mut self, name: &str, width: u32) -> TermId {
        let sym = self.terms.symbol(name, Sort::Bv(width));
        self.terms.var(sym, 0)
    }

    fn bool(&mut self, name: &str) -> TermId {
        let sym = self.terms.symbol(name, Sort::Bool);
        self.terms.var(sym, 0)
    }

    fn at(&mut self, base: TermId, offset: u128) -> TermId {
        let k = self.terms.bv(32, offset);
        self.terms.bv_bin(BvBin::Add, base, k)
    }

    fn k(&mut self, width: u32, v: u128) -> TermId {
        self.terms.bv(width, v)
    }
}

#[test]
fn reads_see_the_last_write() {
    let mut m = Memory::new(32);
    let (p, q, x, y) = (m.var("p", 32), m.var("q", 32), m.var("x", 32), m.var("y", 32));
    let (p1, start) = (m.at(p, 1), m.start);
    let one = m.terms.store(start, p, x);
    let two = m.terms.store(one, p1, y);
    assert_eq!(m.terms.select(two, p), x);
    assert_eq!(m.terms.select(two, p1), y);
    let p2 = m.at(p, 2);
    assert_eq!(m.terms.select(two, p2), m.terms.select(start, p2));
    // Another pointer may point to either.
    let read = m.terms.select(two, q);
    assert_eq!(m.terms.display(read).to_string(), "ite(p = q, x, ite(p = q - 1, y, mem[q]))");
    // In any order, and written twice.
    let other = m.terms.store(start, p1, x);
    let other = m.terms.store(other, p, x);
    let other = m.terms.store(other, p1, y);
    assert_eq!(other, two);
    // What is there already.
    let old = m.terms.select(start, q);
    assert_eq!(m.terms.store(start, q, old), start);
    // Even and odd cells.
    let two_k = m.k(32, 2);
    let (even_p, even_q) = (m.terms.bv_bin(BvBin::Mul, p, two_k), m.terms.bv_bin(BvBin::Mul, q, two_k));
    let odd = m.at(even_q, 1);
    let written = m.terms.store(start, odd, x);
    assert_eq!(m.terms.select(written, even_p), m.terms.select(start, even_p));
}

#[test]
fn branches_are_merged_cell_by_cell() {
    let mut m = Memory::new(32);
    let (c, p, x, y) = (m.bool("c"), m.var("p", 32), m.var("x", 32), m.var("y", 32));
    let [a, b] = [100, 101].map(|k| m.k(32, k));
    let start = m.start;
    let before = m.terms.store(start, a, x);
    let (left, right) = (m.terms.store(before, b, x), m.terms.store(before, b, y));
    let merged = m.terms.ite(c, left, right);
    let chosen = m.terms.ite(c, x, y);
    assert_eq!(merged, m.terms.store(before, b, chosen));
    assert_eq!(m.terms.select(merged, a), x);
    // One side only, through a pointer.
    let left = m.terms.store(before, p, y);
    let merged = m.terms.ite(c, left, before);
    let old = m.terms.select(before, p);
    let chosen = m.terms.ite(c, y, old);
    assert_eq!(merged, m.terms.store(before, p, chosen));
    assert!(!matches!(m.terms.get(merged), Term::Ite(..)));
}

#[test]
fn large_objects_take_time_linear_in_their_size() {
    let mut m = Memory::new(8);
    let (zero, n) = (m.k(8, 0), 20_000);
    let mut mem = m.terms.const_array(32, zero);
    for i in (0..n).rev() {
        let (at, v) = (m.k(32, 4096 + i), m.k(8, i % 7 + 1));
        mem = m.terms.store(mem, at, v);
    }
    for i in 0..n {
        let at = m.k(32, 4096 + i);
        assert_eq!(m.terms.select(mem, at), m.k(8, i % 7 + 1));
    }
    let outside = m.k(32, 4095);
    assert_eq!(m.terms.select(mem, outside), zero);
    let (c, at) = (m.bool("c"), m.k(32, 5000));
    let changed = m.terms.store(mem, at, zero);
    let merged = m.terms.ite(c, changed, mem);
    assert!(matches!(m.terms.get(merged), Term::Store { .. }));
}

#[test]
fn addresses_become_cells() {
    let mut m = Memory::new(32);
    let (i, p) = (m.var("i", 32), m.var("p", 32));
    let (four, base) = (m.k(32, 4), m.k(32, 0x1008));
    let scaled = m.terms.bv_bin(BvBin::Mul, i, four);
    let addr = m.terms.bv_bin(BvBin::Add, base, scaled);
    let cell = m.terms.extract(31, 2, addr);
    let low = m.terms.extract(29, 0, i);
    let k = m.k(30, 0x402);
    assert_eq!(cell, m.terms.bv_bin(BvBin::Add, low, k));
    let next = m.at(p, 8);
    let (cell, next) = (m.terms.extract(31, 2, p), m.terms.extract(31, 2, next));
    let two = m.k(30, 2);
    assert_eq!(next, m.terms.bv_bin(BvBin::Add, cell, two));
}

#[test]
fn bytes_become_values_again() {
    let mut m = Memory::new(8);
    let p = m.var("p", 32);
    let (x, byte, c) = (m.var("x", 32), m.var("byte", 8), m.bool("c"));
    let (wide, one) = (m.terms.sext(32, byte), m.k(32, 1));
    let sum = m.terms.bv_bin(BvBin::Add, wide, one);
    let unsigned = m.terms.zext(32, byte);
    let flag = {
        let zero = m.k(32, 0);
        m.terms.ite(c, one, zero)
    };
    let choice = m.terms.ite(c, x, sum);
    let bytes: Vec<TermId> = (0..4)
        .map(|i| {
            let at = m.at(p, 100 + i);
            m.terms.select(m.start, at)
        })
        .collect();
    let word = bytes.into_iter().reduce(|low, high| m.terms.concat(high, low)).unwrap();
    let next = m.terms.bv_bin(BvBin::Add, word, one);
    for value in [x, next, wide, sum, unsigned, flag, choice] {
        let mut mem = m.start;
        for i in 0..4 {
            let (at, part) = (m.at(p, i), m.terms.extract(i as u32 * 8 + 7, i as u32 * 8, value));
            mem = m.terms.store(mem, at, part);
        }
        let mut loaded = m.terms.select(mem, p);
        for i in 1..4 {
            let at = m.at(p, i);
            let part = m.terms.select(mem, at);
            loaded = m.terms.concat(part, loaded);
        }
        assert_eq!(loaded, value, "{} is {}", m.terms.display(loaded), m.terms.display(value));
    }
}

#[test]
fn floats_are_bits() {
    let mut m = Memory::new(64);
    let x = m.var("x", 64);
    let bits = |m: &mut Memory, v: f64| m.k(64, u128::from(v.to_bits()));
    let (a, b) = (bits(&mut m, 0.1), bits(&mut m, 0.2));
    let sum = m.terms.fp_bin(FpBin::Add, a, b);
    assert_eq!(sum, bits(&mut m, 0.1 + 0.2));
    let zero = bits(&mut m, 0.0);
    let nan = m.terms.fp_bin(FpBin::Div, zero, zero);
    assert_eq!(nan, m.k(64, 0x7ff8 << 48));
    assert_eq!(m.terms.fp_cmp(FpCmp::Le, x, nan), TermId::FALSE);
    assert_eq!(m.terms.fp_cmp(FpCmp::Lt, x, x), TermId::FALSE);
    let minus_zero = m.terms.fp_neg(zero);
    assert_eq!(m.terms.fp_cmp(FpCmp::Eq, minus_zero, zero), TermId::TRUE);
    assert_eq!(m.terms.fp_neg(minus_zero), zero);
    // An integer and back.
    let i = m.var("i", 32);
    let number = m.terms.fp_un(FpUn::FromInt { signed: true, bits: 64 }, i);
    assert_eq!(m.terms.fp_un(FpUn::ToInt { signed: true, bits: 32 }, number), i);
    let single = m.terms.fp_un(FpUn::FromInt { signed: true, bits: 32 }, i);
    assert_ne!(m.terms.fp_un(FpUn::ToInt { signed: true, bits: 32 }, single), i);
    // A choice between constants is decided by its condition.
    let c = m.bool("c");
    let choice = m.terms.ite(c, a, b);
    let limit = bits(&mut m, 0.15);
    assert_eq!(m.terms.fp_cmp(FpCmp::Lt, choice, limit), c);
}
