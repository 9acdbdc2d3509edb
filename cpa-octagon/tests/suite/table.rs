// SPDX-License-Identifier: Apache-2.0
//! Document 001, table 3.1: the merge operators on the automaton of figure 2.1, built edge by edge.
//!
//! The publication's numbers are sums over traversals of the loop: two locations before it and nine in and behind it, each
//! visited in every traversal, a hundred times if the loop is bounded. So the exit is open in every traversal, and the bound
//! is where the loop goes back. Its integers have no limits; ours have, so without a bound the edge back demands that
//! the addition did not wrap around.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cfa::ir::{Body, Edge, HavocOrigin, Node};
use cfa::{BinOp, CmpOp, IntTy, NodeId, Op, Options, Program, Source, VarId};
use cpa_core::waitlist::Bfs;
use cpa_core::{Arg, ArgId, Composite, Cx, Exploration, Handle, LocationCpa, Remerge, Status, run};
use cpa_octagon::{MergeKind, OctagonCpa, OctagonOptions, Thresholds, Transfer};

/// Figure 2.1, with the given edge back to the head of the loop; its locations 1 to 14 are 0 to 13 here.
fn figure(bound: Option<i128>) -> (Arc<Program>, VarId) {
    let text = "int flag, ticks, call; int main(void) { return flag + ticks + call; }";
    let source = Source { name: "figure.c".to_owned(), text: text.to_owned() };
    let mut program = cfa::load(&[source], &Options::default()).unwrap();
    let var = |name: &str| VarId::new(program.vars.iter().position(|var| &*var.name == name).unwrap());
    let (flag, ticks, call) = (var("flag"), var("ticks"), var("call"));
    let exprs = &mut program.exprs;
    let mut value = |var| exprs.var(var, IntTy::INT);
    let (f, t, c) = (value(flag), value(ticks), value(call));
    let [zero, one] = [0, 1].map(|value| exprs.constant(IntTy::INT, value));
    let more = exprs.binary(BinOp::Add, t, one);
    let not_positive = exprs.cmp(CmpOp::Le, f, zero);
    let back = match bound {
        Some(bound) => {
            let bound = exprs.constant(IntTy::INT, bound);
            exprs.cmp(CmpOp::Lt, t, bound)
        }
        None => exprs.cmp(CmpOp::Lt, zero, t),
    };
    let assume = |cond, truth| Op::Assume { cond, truth };
    let nondet = || Op::Havoc { var: flag, origin: HavocOrigin::Uninitialised };
    let edges = [
        (0, 1, nondet()),
        (1, 2, Op::Assign { var: ticks, value: zero }),
        // The loop: systemCall() is a variable that nobody sets.
        (2, 3, assume(c, true)),
        (2, 5, assume(c, false)),
        (3, 4, Op::Assign { var: ticks, value: more }),
        (4, 2, assume(back, true)),
        // Behind it: 7, 8 return 0; 9, 10, 11 return 0; 12 to 14 are not reached.
        (5, 6, assume(not_positive, true)),
        (5, 7, assume(not_positive, false)),
        (6, 8, Op::Skip),
        (7, 9, assume(not_positive, false)),
        (7, 11, assume(not_positive, true)),
        (9, 10, Op::Skip),
        (11, 12, Op::Skip),
        (12, 13, Op::Skip),
    ];
    let main = program.main;
    let span = program.edges[0].span;
    program.nodes = (0..14).map(|rpo| Node { func: main, rpo, leaving: Vec::new(), entering: Vec::new() }).collect();
    program.edges.clear();
    for (src, dst, op) in edges {
        let id = cfa::EdgeId::new(program.edges.len());
        program.nodes[src].leaving.push(id);
        program.nodes[dst].entering.push(id);
        program.edges.push(Edge { src: NodeId::new(src), dst: NodeId::new(dst), op, span });
    }
    program.entry = NodeId::new(0);
    program.funcs[main.index()].body = Some(Body { entry: NodeId::new(0), exit: NodeId::new(13) });
    (Arc::new(program), ticks)
}

struct Explored {
    status: Option<Status>,
    exploration: Exploration,
    octagon: Handle<OctagonCpa>,
    ticks: VarId,
}

impl Explored {
    /// States that were reached.
    fn reached(&self) -> usize {
        self.exploration.arg().len()
    }
    /// States that were made: the initial one, successors, and those that merging made.
    fn created(&self) -> u64 {
        let statistics = self.exploration.statistics();
        1 + statistics.successors + statistics.merges
    }
    /// The intervals of `ticks` behind the assignment.
    fn ticks(&self) -> BTreeSet<(Option<i128>, Option<i128>)> {
        let bounds = |id: ArgId| {
            let state = self.exploration.arg().state(id).get(self.octagon);
            state.dim(self.ticks).map(|dim| state.bounds(dim))
        };
        self.exploration.arg().ids().filter(|&id| id.index() > 1).filter_map(bounds).collect()
    }
}

/// Explores the figure with at most `limit` expansions.
fn explore(bound: Option<i128>, merge: MergeKind, thresholds: &[i64], limit: usize) -> Explored {
    let (program, ticks) = figure(bound);
    let mut composite = Composite::new(Arc::clone(&program));
    composite.add(LocationCpa::new(Arc::clone(&program), BTreeSet::from([NodeId::new(12)])));
    let options = OctagonOptions { merge, ..OctagonOptions::default() };
    let cpa = OctagonCpa::new(Rc::new(Transfer::new(program)), options)
        .with_thresholds(Thresholds { integers: thresholds.to_vec(), floats: Vec::new() });
    let octagon = composite.add(cpa);
    let mut exploration = Exploration::new(Box::new(Bfs::default()), Remerge::Keep);
    let mut steps = 0;
    let mut abort = |_: &Arg, _| {
        steps += 1;
        steps > limit
    };
    let status = run(&mut Cx::unlimited(), &mut composite, &mut exploration, &mut abort, None).unwrap();
    let status = (status == Status::Finished).then_some(status);
    exploration.verify().unwrap();
    Explored { status, exploration, octagon, ticks }
}

/// The bounded loop, (b): 902, 11 and 11 states are reached, 902, 1802 and 30 are made.
#[test]
fn bounded() {
    const TRAVERSALS: u64 = 100;
    let apart = explore(Some(100), MergeKind::Separate, &[], usize::MAX);
    assert!(apart.status.is_some());
    assert_eq!((apart.reached(), apart.created()), (902, 902));
    assert!(apart.ticks().iter().all(|(low, high)| low == high), "single values");

    let join = explore(Some(100), MergeKind::Join, &[], usize::MAX);
    assert!(join.status.is_some());
    assert_eq!(join.reached(), 11);
    // The publication counts a successor and a merged state for each of nine locations in each traversal.
    let statistics = join.exploration.statistics();
    let computed = 1 + statistics.successors - statistics.contained;
    assert_eq!(computed, 2 + 9 * TRAVERSALS);
    assert_eq!(2 + 2 * (computed - 2), 1802);
    // In the first traversal there is nothing to merge with, and the last state at the head is contained in the one there.
    assert_eq!(join.created(), 1802 - 9 + 1);
    let hull = |(low, high): (Option<i128>, Option<i128>), (l, h)| (low.min(l), high.max(h));
    assert_eq!(join.ticks().into_iter().reduce(hull), Some((Some(0), Some(100))));

    let widening = explore(Some(100), MergeKind::Widening, &[99, 100], usize::MAX);
    assert!(widening.status.is_some());
    assert_eq!((widening.reached(), widening.created()), (11, 30));
    assert_eq!(widening.ticks().into_iter().reduce(hull), Some((Some(0), Some(100))));
}

/// The loop without a bound, (a): only widening ends, with 11 states reached and 30 made, and ticks in [0, ∞].
#[test]
fn unbounded() {
    for traversals in [20, 50] {
        // The numbers of states after so many traversals.
        let apart = explore(None, MergeKind::Separate, &[], 2 + 9 * traversals);
        assert!(apart.status.is_none());
        assert!(apart.reached().abs_diff(2 + 9 * traversals) < 9, "{}", apart.reached());
        assert!(apart.ticks().iter().all(|(low, high)| low == high));
        let join = explore(None, MergeKind::Join, &[], 2 + 9 * traversals);
        assert!(join.status.is_none());
        assert_eq!(join.reached(), 11);
        assert!(join.created().abs_diff(2 + 18 * traversals as u64) < 27, "{}", join.created());
        assert!(join.ticks().iter().all(|(low, high)| *low >= Some(0) && *high < Some(2 * traversals as i128)));
    }
    let widening = explore(None, MergeKind::Widening, &[], usize::MAX);
    assert!(widening.status.is_some());
    assert_eq!((widening.reached(), widening.created()), (11, 30));
    // The greatest value of the type stands for infinity.
    assert!(widening.ticks().contains(&(Some(0), Some(i128::from(i32::MAX)))), "{:?}", widening.ticks());
}
