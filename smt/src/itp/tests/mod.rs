// SPDX-License-Identifier: Apache-2.0
//! A small builder of paths for the tests, and independent checks of answers.

mod golden;
mod pieces;
mod problems;
mod random;

use std::collections::BTreeMap;

use super::*;
use crate::path::Stmt;
use crate::solver::Limits;
use crate::term::{ArrayValue, BvBin, BvCmp, Sort, SymId, TermId, Terms, Value};

/// How the program's numbers are modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// Bit-vectors, compared as signed.
    Signed(u32),
    /// Bit-vectors, compared as unsigned.
    Unsigned(u32),
    /// Unbounded integers.
    Int,
    /// Integers from 0 to the given bound; sums are taken modulo.
    Bounded(i128),
}

/// Program text with structure; [`Ctx::block`] makes a graph of it.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Do(Stmt),
    If(TermId, Vec<Code>, Vec<Code>),
}

/// A term store with the symbols and operators of one mode.
pub(super) struct Ctx {
    pub(super) terms: Terms,
    pub(super) mode: Mode,
}

impl Ctx {
    pub(super) fn new(mode: Mode) -> Self {
        Ctx { terms: Terms::new(), mode }
    }

    pub(super) fn sym(&mut self, name: &str) -> SymId {
        match self.mode {
            Mode::Signed(w) | Mode::Unsigned(w) => self.terms.symbol(name, Sort::Bv(w)),
            Mode::Int => self.terms.symbol(name, Sort::Int),
            Mode::Bounded(hi) => self.terms.bounded_symbol(name, 0, hi),
        }
    }

    pub(super) fn var(&mut self, name: &str) -> TermId {
        let sym = self.sym(name);
        self.terms.var(sym, 0)
    }

    pub(super) fn num(&mut self, n: i128) -> TermId {
        match self.mode {
            Mode::Signed(w) | Mode::Unsigned(w) => self.terms.bv(w, n as u128),
            Mode::Int => self.terms.int(n),
            Mode::Bounded(hi) => self.terms.int(n.rem_euclid(hi + 1)),
        }
    }

    pub(super) fn add(&mut self, a: TermId, b: TermId) -> TermId {
        match self.mode {
            Mode::Signed(_) | Mode::Unsigned(_) => self.terms.bv_bin(BvBin::Add, a, b),
            Mode::Int => self.terms.int_add(a, b),
            Mode::Bounded(hi) => {
                let sum = self.terms.int_add(a, b);
                let (top, modulus) = (self.terms.int(hi), self.terms.int(hi + 1));
                let fits = self.terms.int_le(sum, top);
                let wrapped = self.terms.int_sub(sum, modulus);
                self.terms.ite(fits, sum, wrapped)
            }
        }
    }

    pub(super) fn le(&mut self, a: TermId, b: TermId) -> TermId {
        match self.mode {
            Mode::Signed(_) => self.terms.bv_cmp(BvCmp::Sle, a, b),
            Mode::Unsigned(_) => self.terms.bv_cmp(BvCmp::Ule, a, b),
            Mode::Int | Mode::Bounded(_) => self.terms.int_le(a, b),
        }
    }

    pub(super) fn lt(&mut self, a: TermId, b: TermId) -> TermId {
        let le = self.le(b, a);
        self.terms.not(le)
    }

    pub(super) fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        self.terms.eq(a, b)
    }

    pub(super) fn is(&mut self, name: &str, n: i128) -> TermId {
        let (x, n) = (self.var(name), self.num(n));
        self.eq(x, n)
    }

    /// A value of the symbol.
    pub(super) fn value(&self, sym: SymId, v: i128) -> Value {
        match self.terms.symbol_sort(sym) {
            Sort::Bool => Value::Bool(v % 2 == 1),
            Sort::Bv(width) => Value::Bv { width, bits: v as u128 & ((1 << width) - 1) },
            Sort::Int => Value::Int(v),
            Sort::Array { index, element } => Value::Array(ArrayValue::constant(index, element, v as u128)),
        }
    }

    pub(super) fn not(&mut self, t: TermId) -> TermId {
        self.terms.not(t)
    }

    pub(super) fn set(&mut self, name: &str, value: TermId) -> Code {
        Code::Do(Stmt::Assign(self.sym(name), value))
    }

    pub(super) fn set_num(&mut self, name: &str, n: i128) -> Code {
        let n = self.num(n);
        self.set(name, n)
    }

    /// `name = name + n`
    pub(super) fn inc(&mut self, name: &str, n: i128) -> Code {
        let (x, n) = (self.var(name), self.num(n));
        let sum = self.add(x, n);
        self.set(name, sum)
    }

    pub(super) fn havoc(&mut self, name: &str) -> Code {
        Code::Do(Stmt::Havoc(self.sym(name)))
    }

    pub(super) fn assume(&self, cond: TermId) -> Code {
        Code::Do(Stmt::Assume(cond))
    }

    pub(super) fn block(&mut self, code: &[Code]) -> BlockDag {
        let mut dag = BlockDag { nodes: 1, edges: Vec::new() };
        let end = self.emit(&mut dag, 0, code);
        assert_eq!(end, dag.nodes - 1);
        dag
    }

    fn emit(&mut self, dag: &mut BlockDag, mut at: u32, code: &[Code]) -> u32 {
        for part in code {
            let fresh = |dag: &mut BlockDag| {
                dag.nodes += 1;
                dag.nodes - 1
            };
            match part {
                Code::Do(stmt) => {
                    let to = fresh(dag);
                    dag.edges.push(DagEdge { from: at, to, stmt: *stmt });
                    at = to;
                }
                Code::If(cond, yes, no) => {
                    let not = self.terms.not(*cond);
                    let mut ends = Vec::new();
                    for (cond, branch) in [(*cond, yes), (not, no)] {
                        let to = fresh(dag);
                        dag.edges.push(DagEdge { from: at, to, stmt: Stmt::Assume(cond) });
                        ends.push(self.emit(dag, to, branch));
                    }
                    let to = fresh(dag);
                    dag.edges.extend(ends.into_iter().map(|from| DagEdge { from, to, stmt: Stmt::Skip }));
                    at = to;
                }
            }
        }
        at
    }

    /// A path of straight-line or branching blocks.
    pub(super) fn query(&mut self, blocks: &[Vec<Code>]) -> PathQuery {
        PathQuery { blocks: blocks.iter().map(|code| self.block(code)).collect() }
    }

    pub(super) fn show(&self, cuts: &[TermId]) -> String {
        cuts.iter().map(|&t| format!("{}\n", self.terms.display(t))).collect()
    }
}

/// Hints that say that all cuts stand for one place, where nothing is known.
pub(super) fn one_place(query: &PathQuery) -> Hints {
    Hints { cuts: vec![CutHint::default(); query.blocks.len() - 1] }
}

/// Executes a witness; panics when it is no execution.
pub(super) fn replay(terms: &Terms, query: &PathQuery, witness: &Witness) {
    let mut state: BTreeMap<SymId, Value> = witness.initial.iter().cloned().collect();
    let (mut block, mut node) = (0, 0);
    for step in &witness.steps {
        while node == query.blocks[block].nodes - 1 {
            (block, node) = (block + 1, 0);
        }
        assert_eq!(step.block, block);
        let edge = &query.blocks[block].edges[step.edge];
        assert_eq!(edge.from, node);
        node = edge.to;
        let value = |t: TermId| terms.eval(t, &mut |sym, _| state[&sym].clone());
        match edge.stmt {
            Stmt::Skip => assert_eq!(step.input, None),
            Stmt::Assume(cond) => assert_eq!(value(cond), Value::Bool(true), "an assumption holds"),
            Stmt::Assign(sym, t) => {
                let v = value(t);
                state.insert(sym, v);
            }
            Stmt::Havoc(sym) => {
                let v = step.input.clone().expect("a havoc has an input");
                assert_eq!(v.sort(), terms.symbol_sort(sym));
                if let (Some((lo, hi)), &Value::Int(v)) = (terms.symbol_bounds(sym), &v) {
                    assert!(lo <= v && v <= hi, "an input lies within the bounds");
                }
                state.insert(sym, v);
            }
        }
    }
    while block < query.blocks.len() && node == query.blocks[block].nodes - 1 {
        (block, node) = (block + 1, 0);
    }
    assert_eq!(block, query.blocks.len(), "the witness reaches the end");
}
