// SPDX-License-Identifier: Apache-2.0
//! The labelled SSA encoding of a slice of a path: one label for each kept assumption and assignment.
//!
//! Every node of a block has a reach literal, and every edge a literal that says that the execution takes it; a node that
//! all ways pass is reached unconditionally. The literal of an edge implies that its start is reached and, together with
//! the edge's label, what the edge does; a reached node implies that one of its in-edges is taken. At joins, each in-edge
//! equates the new versions of the variables that differ and are live with its own; these equations have no label, because
//! they only say which way was taken.
//!
//! With all labels assumed the formula is satisfiable if and only if the encoded slice of the path has an execution; with
//! some of them, if and only if the slice that keeps only these statements has one. The encoding is linear in the number of edges, apart from
//! the equations at joins.
//!
//! Assignments to memory are in every slice and have no labels: memory is a term over the versions of the other variables, so
//! that reads find the writes they belong to without a solver.

use rustc_hash::FxHashMap;

use super::graph::Path;
use super::slice::{Liveness, Slice};
use crate::path::Stmt;
use crate::path::map::PMap;
use crate::term::{Sort, SymId, TermId, Terms};

/// Names of the symbols that the encoding introduces.
const LABEL: &str = "label!";
const REACH: &str = "reach!";

/// A label and the statement that it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) block: usize,
    pub(crate) edge: u32,
    /// The literal to assume.
    pub(crate) literal: TermId,
}

/// The encoding.
pub(crate) struct Labelled {
    /// To be asserted.
    pub(crate) asserts: Vec<TermId>,
    /// In the order of execution.
    pub(crate) labels: Vec<Label>,
    /// The values at the end; none when the end cannot be reached.
    end: Option<Values>,
}

/// The current version of each variable that has been written.
type Versions = PMap<(SymId, u32)>;

/// What variables hold.
#[derive(Clone, Default)]
struct Values {
    versions: Versions,
    /// The contents of the arrays that have been written.
    arrays: PMap<(SymId, TermId)>,
}

impl Values {
    fn array(&self, terms: &mut Terms, sym: SymId) -> TermId {
        self.arrays.get(sym.index() as u32).map_or_else(|| terms.var(sym, 0), |(_, array)| array)
    }
}

/// A node in the making: its reach literal and the values there.
#[derive(Clone)]
struct Point {
    reach: TermId,
    values: Values,
}

struct Builder<'a, 'q> {
    terms: &'a mut Terms,
    path: &'a Path<'q>,
    slice: &'a Slice,
    is_live: &'a dyn Fn(usize, u32, SymId) -> bool,
    out: Labelled,
    next_version: FxHashMap<SymId, u32>,
    next_reach: u32,
    label_sym: SymId,
    reach_sym: SymId,
}

impl Labelled {
    /// The encoding of a slice of the path.
    pub(crate) fn new(terms: &mut Terms, path: &Path<'_>, slice: &Slice) -> Self {
        let liveness = Liveness::new(terms, path, slice);
        Self::of_blocks(terms, path, slice, 0..path.len(), &|block, node, sym| liveness.is_live(block, node, sym))
    }

    /// The encoding of one block of a slice, which says all about the values at its end.
    pub(crate) fn of_block(terms: &mut Terms, path: &Path<'_>, slice: &Slice, block: usize) -> Self {
        Self::of_blocks(terms, path, slice, block..block + 1, &|_, _, _| true)
    }

    fn of_blocks(
        terms: &mut Terms,
        path: &Path<'_>,
        slice: &Slice,
        blocks: std::ops::Range<usize>,
        is_live: &dyn Fn(usize, u32, SymId) -> bool,
    ) -> Self {
        let label_sym = terms.symbol(LABEL, Sort::Bool);
        let reach_sym = terms.symbol(REACH, Sort::Bool);
        let mut builder = Builder {
            terms,
            path,
            slice,
            is_live,
            out: Labelled { asserts: Vec::new(), labels: Vec::new(), end: Some(Values::default()) },
            next_version: FxHashMap::default(),
            next_reach: 1,
            label_sym,
            reach_sym,
        };
        for b in blocks {
            let Some(start) = builder.out.end.take() else { break };
            builder.out.end = builder.block(b, start);
        }
        if builder.out.end.is_none() {
            builder.out.asserts.push(TermId::FALSE);
        }
        builder.out
    }

    /// A term over program variables, taken at the end.
    pub(crate) fn at_end(&self, terms: &mut Terms, term: TermId) -> TermId {
        match &self.end {
            Some(values) => read(terms, values, term),
            None => term,
        }
    }
}

fn is_array(terms: &Terms, sym: SymId) -> bool {
    matches!(terms.symbol_sort(sym), Sort::Array { .. })
}

fn read(terms: &mut Terms, values: &Values, term: TermId) -> TermId {
    terms.substitute(term, &mut |terms: &mut Terms, sym, index| {
        debug_assert_eq!(index, 0, "statements speak about program variables");
        if let Some((_, array)) = values.arrays.get(sym.index() as u32) {
            return Some(array);
        }
        values.versions.get(sym.index() as u32).map(|(_, version)| terms.var(sym, version))
    })
}

impl Builder<'_, '_> {
    fn block(&mut self, b: usize, start: Values) -> Option<Values> {
        let (dag, graph) = (self.path.dag(b), &self.path.graphs[b]);
        if !graph.is_connected() {
            return None;
        }
        let mut arriving: Vec<Vec<Point>> = vec![Vec::new(); dag.nodes as usize];
        arriving[0].push(Point { reach: TermId::TRUE, values: start });
        for node in 0..dag.nodes {
            let mut points = std::mem::take(&mut arriving[node as usize]);
            let here = match points.len() {
                0 => continue,
                1 => points.pop().expect("there is one"),
                _ => self.join(&points, graph.is_bottleneck(node), b, node),
            };
            if node == dag.nodes - 1 {
                return Some(here.values);
            }
            let outs = graph.outs(node);
            for &e in outs {
                let mut next = here.clone();
                // With one way on, being here and taking the edge are the same.
                if outs.len() > 1 {
                    next.reach = self.reach();
                    let implied = self.terms.implies(next.reach, here.reach);
                    self.out.asserts.push(implied);
                }
                self.edge(&mut next, b, e, self.slice.stmt(self.path, b, e));
                arriving[dag.edges[e as usize].to as usize].push(next);
            }
        }
        None
    }

    fn reach(&mut self) -> TermId {
        let literal = self.terms.var(self.reach_sym, self.next_reach);
        self.next_reach += 1;
        literal
    }

    fn fresh(&mut self, sym: SymId) -> (u32, TermId) {
        let version = self.next_version.entry(sym).or_insert(0);
        *version += 1;
        (*version, self.terms.var(sym, *version))
    }

    fn edge(&mut self, point: &mut Point, block: usize, edge: u32, stmt: Stmt) {
        let constraint = match stmt {
            Stmt::Skip => return,
            Stmt::Havoc(sym) => {
                let (version, fresh) = self.fresh(sym);
                if is_array(self.terms, sym) {
                    point.values.arrays.set(sym.index() as u32, Some((sym, fresh)));
                } else {
                    point.values.versions.set(sym.index() as u32, Some((sym, version)));
                }
                return;
            }
            Stmt::Assume(cond) => read(self.terms, &point.values, cond),
            Stmt::Assign(sym, value) if is_array(self.terms, sym) => {
                let value = read(self.terms, &point.values, value);
                point.values.arrays.set(sym.index() as u32, Some((sym, value)));
                return;
            }
            Stmt::Assign(sym, value) => {
                let value = read(self.terms, &point.values, value);
                let (version, target) = self.fresh(sym);
                point.values.versions.set(sym.index() as u32, Some((sym, version)));
                self.terms.eq(target, value)
            }
        };
        if constraint == TermId::TRUE {
            return;
        }
        let number = u32::try_from(self.out.labels.len()).expect("fewer than 2^32 statements");
        let literal = self.terms.var(self.label_sym, number + 1);
        self.out.labels.push(Label { block, edge, literal });
        let (skip, avoid) = (self.terms.not(literal), self.terms.not(point.reach));
        let clause = self.terms.or_all(&[avoid, skip, constraint]);
        self.out.asserts.push(clause);
    }

    fn join(&mut self, points: &[Point], bottleneck: bool, block: usize, node: u32) -> Point {
        let ways: Vec<TermId> = points.iter().map(|p| p.reach).collect();
        let some_way = self.terms.or_all(&ways);
        let reach = if bottleneck { TermId::TRUE } else { self.reach() };
        let reached = self.terms.implies(reach, some_way);
        self.out.asserts.push(reached);
        let mut values = points[0].values.clone();
        let mut differing = std::collections::BTreeMap::new();
        for point in &points[1..] {
            point.values.versions.diff(&points[0].values.versions, |key, mine, theirs| {
                let sym = mine.or(theirs).expect("diff visits keys that one of the maps has").0;
                differing.insert(key, sym);
            });
            point.values.arrays.diff(&points[0].values.arrays, |key, mine, theirs| {
                let sym = mine.or(theirs).expect("diff visits keys that one of the maps has").0;
                differing.insert(key, sym);
            });
        }
        for (key, sym) in differing {
            // A dead variable takes any of its versions.
            if !(self.is_live)(block, node, sym) {
                continue;
            }
            if is_array(self.terms, sym) {
                let mut array = points[0].values.array(self.terms, sym);
                for point in &points[1..] {
                    let other = point.values.array(self.terms, sym);
                    array = self.terms.ite(point.reach, other, array);
                }
                values.arrays.set(key, Some((sym, array)));
                continue;
            }
            let (version, target) = self.fresh(sym);
            values.versions.set(key, Some((sym, version)));
            for point in points {
                let source = self.terms.var(sym, point.values.versions.get(key).map_or(0, |v| v.1));
                let equal = self.terms.eq(target, source);
                let equation = self.terms.implies(point.reach, equal);
                self.out.asserts.push(equation);
            }
        }
        Point { reach, values }
    }
}
