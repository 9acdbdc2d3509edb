// SPDX-License-Identifier: Apache-2.0
//! Covering and uncovering, cuts, strengthening in place and forced covering.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cpa_core::algorithm::{at_target, never};
use cpa_core::{
    Arg, ArgId, Bfs, Cut, Cx, Dfs, Exploration, Forced, ForcedCovering, Handle, Remerge, Status, Stop, Strengthening,
    run,
};
use expect_test::expect;

use crate::support::*;

/// Two ways lead to n3 with the same values, and n3 leads to n4.
fn diamond(left: Toy, right: Toy) -> Toys {
    let mut builder = Builder::new(5);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(0, 2, Toy::Skip);
    builder.edge(1, 3, left);
    builder.edge(2, 3, right);
    builder.edge(3, 4, Toy::Skip);
    builder.build()
}

fn explored(setup: &mut Setup) -> Exploration {
    let mut exploration = Exploration::new(Box::new(Bfs::default()), Remerge::Prune);
    finish(setup, &mut exploration);
    exploration
}

fn finish(setup: &mut Setup, exploration: &mut Exploration) {
    let status = run(&mut Cx::unlimited(), &mut setup.cpa, exploration, &mut never, None);
    assert_eq!(status, Ok(Status::Finished));
    exploration.verify().unwrap();
}

#[test]
fn an_equal_state_is_covered() {
    let exploration = explored(&mut setup(&diamond(Toy::Set(0, 1), Toy::Add(0, 1)), Mode::Separate, 1, &[]));
    expect![[r#"
        a0 n0: n0 | v0=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v0=0, e2 -> a3
        a2 n2: n2 | v0=0, e3 -> a4
        a3 n3: n3 | v0=1, e4 -> a5
        a4 n3: n3 | v0=1, covered by a3
        a5 n4: n4 | v0=1
    "#]]
    .assert_eq(&exploration.arg().dump());
    assert_eq!(exploration.arg().covers(a(3)).collect::<Vec<_>>(), [a(4)]);
    expect![[r#"
        digraph arg {
          node [shape=box];
          a0 [label="a0 n0\nn0 | v0=0"];
          a0 -> a1 [label="e0"];
          a0 -> a2 [label="e1"];
          a1 [label="a1 n1\nn1 | v0=0"];
          a1 -> a3 [label="e2"];
          a2 [label="a2 n2\nn2 | v0=0"];
          a2 -> a4 [label="e3"];
          a3 [label="a3 n3\nn3 | v0=1"];
          a3 -> a5 [label="e4"];
          a4 [label="a4 n3\nn3 | v0=1"];
          a4 -> a3 [style=dashed];
          a5 [label="a5 n4\nn4 | v0=1"];
        }
    "#]]
    .assert_eq(&exploration.arg().dot());
}

#[test]
fn other_partitions_and_intermediate_states_do_not_cover() {
    let toys = diamond(Toy::Set(0, 1), Toy::Add(0, 1));
    let mut setup = setup(&toys, Mode::Separate, 1, &[]);
    setup.cpa.add(OnlyCoverableAt { program: Arc::clone(&toys.program), nodes: BTreeSet::from([n(4)]) });
    let exploration = explored(&mut setup);
    expect![[r#"
        a0 n0: n0 | v0=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v0=0, e2 -> a3
        a2 n2: n2 | v0=0, e3 -> a4
        a3 n3: n3 | v0=1, e4 -> a5
        a4 n3: n3 | v0=1, e4 -> a6
        a5 n4: n4 | v0=1
        a6 n4: n4 | v0=1, covered by a5
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn a_cut_removes_what_the_subtree_covered_and_requeues_all_parents_with_the_precision() {
    let mut setup = setup(&diamond(Toy::Set(0, 1), Toy::Add(0, 1)), Mode::Separate, 2, &[]);
    setup.cpa.cpa_mut(setup.known).tracked = BTreeSet::from([1]);
    let mut exploration = explored(&mut setup);
    let cut = Cut { pivot: a(3), precisions: vec![setup.known.precision(BTreeSet::from([0]))] };
    assert!(exploration.cut(&setup.cpa, &cut));
    exploration.verify().unwrap();
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v1=0, waiting
        a2 n2: n2 | v1=0, waiting
    "#]]
    .assert_eq(&exploration.arg().dump());
    for parent in [a(1), a(2)] {
        assert_eq!(*exploration.arg().precision(parent).get(setup.known), BTreeSet::from([0, 1]));
    }
    finish(&mut setup, &mut exploration);
    // Only the left way assigns a constant; what n1 and n2 know about variable 0 is as before.
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v1=0, e2 -> a6
        a2 n2: n2 | v1=0, e3 -> a7
        a6 n3: n3 | v0=1 v1=0, e4 -> a8
        a7 n3: n3 | v1=0, e4 -> a9
        a8 n4: n4 | v0=1 v1=0
        a9 n4: n4 | v1=0
    "#]]
    .assert_eq(&exploration.arg().dump());
    // The same cut again changes no precision, and the pivot is gone.
    assert!(!exploration.cut(&setup.cpa, &cut));
    let cut = Cut { pivot: a(6), ..cut };
    assert!(!exploration.cut(&setup.cpa, &cut));
    assert_eq!(exploration.waiting(), 1);
}

#[test]
fn a_cut_at_the_root_restarts() {
    let mut setup = setup(&diamond(Toy::Set(0, 1), Toy::Add(0, 1)), Mode::Separate, 1, &[]);
    let mut exploration = explored(&mut setup);
    let cut = Cut { pivot: a(0), precisions: vec![] };
    assert!(!exploration.cut(&setup.cpa, &cut));
    exploration.verify().unwrap();
    assert_eq!(exploration.arg().dump(), "a6 n0: n0 | v0=0, waiting\n");
    finish(&mut setup, &mut exploration);
    assert_eq!(exploration.arg().len(), 6);
}

/// n3 is reached twice and merged; in between, its child at n4 covers what comes from n1.
fn merged_after_covering(edges_of_entry: [usize; 3]) -> Toys {
    let mut builder = Builder::new(6);
    for node in edges_of_entry {
        builder.edge(0, node, Toy::Skip);
    }
    builder.edge(3, 4, Toy::Havoc(1));
    builder.edge(1, 4, Toy::Set(1, 1));
    builder.edge(2, 3, Toy::Set(0, 3));
    builder.edge(4, 5, Toy::Skip);
    builder.build()
}

#[test]
fn a_node_whose_coverer_was_pruned_is_covered_by_another_one() {
    let mut setup = setup(&merged_after_covering([3, 1, 2]), Mode::JoinIfEqual(1), 2, &[]);
    let mut exploration = Exploration::new(Box::new(Bfs::default()), Remerge::Prune);
    finish(&mut setup, &mut exploration);
    assert_eq!(exploration.statistics().removed, 1);
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a1, e1 -> a2, e2 -> a3
        a1 n3: n3 | v1=0, e3 -> a6
        a2 n1: n1 | v0=0 v1=0, e4 -> a5
        a3 n2: n2 | v0=0 v1=0, e5 -> a1
        a5 n4: n4 | v0=0 v1=1, covered by a6
        a6 n4: n4, e6 -> a7
        a7 n5: n5
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn a_node_whose_coverer_was_pruned_is_expanded_if_nobody_else_covers_it() {
    let mut setup = setup(&merged_after_covering([2, 1, 3]), Mode::JoinIfEqual(1), 2, &[]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    finish(&mut setup, &mut exploration);
    assert_eq!(exploration.statistics().removed, 2);
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a1, e1 -> a2, e2 -> a3
        a1 n2: n2 | v0=0 v1=0, e5 -> a3
        a2 n1: n1 | v0=0 v1=0, e4 -> a6
        a3 n3: n3 | v1=0, e3 -> a8
        a6 n4: n4 | v0=0 v1=1, e6 -> a7
        a7 n5: n5 | v0=0 v1=1
        a8 n4: n4, e6 -> a9
        a9 n5: n5
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn a_strengthened_node_loses_what_it_covered() {
    let mut setup = setup(&diamond(Toy::Havoc(0), Toy::Havoc(0)), Mode::Separate, 1, &[]);
    let mut exploration = explored(&mut setup);
    assert_eq!(exploration.arg().covered_by(a(4)), Some(a(3)));
    let stronger = Known(BTreeMap::from([(0, 2)]));
    let nodes = [Strengthening { node: a(3), state: setup.known.state(stronger) }];
    let cx = &mut Cx::unlimited();
    assert!(exploration.apply_strengthening(cx, &mut setup.cpa, &nodes, &[a(5)]).unwrap().changed);
    exploration.verify().unwrap();
    expect![[r#"
        a0 n0: n0 | v0=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v0=0, e2 -> a3
        a2 n2: n2 | v0=0, e3 -> a4
        a3 n3: n3 | v0=2, waiting
        a4 n3: n3, waiting
    "#]]
    .assert_eq(&exploration.arg().dump());
    finish(&mut setup, &mut exploration);
    expect![[r#"
        a0 n0: n0 | v0=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v0=0, e2 -> a3
        a2 n2: n2 | v0=0, e3 -> a4
        a3 n3: n3 | v0=2, e4 -> a7
        a4 n3: n3, e4 -> a6
        a6 n4: n4
        a7 n4: n4 | v0=2, covered by a6
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn a_strengthened_node_is_covered_by_an_older_one() {
    let mut setup = setup(&diamond(Toy::Set(0, 2), Toy::Havoc(0)), Mode::Separate, 1, &[]);
    let mut exploration = explored(&mut setup);
    assert_eq!(at(exploration.arg(), 4).len(), 2);
    let nodes = [Strengthening { node: a(4), state: setup.known.state(Known(BTreeMap::from([(0, 2)]))) }];
    let applied = exploration.apply_strengthening(&mut Cx::unlimited(), &mut setup.cpa, &nodes, &[]).unwrap();
    assert_eq!(applied.covered, Some(a(4)));
    exploration.verify().unwrap();
    expect![[r#"
        a0 n0: n0 | v0=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v0=0, e2 -> a3
        a2 n2: n2 | v0=0, e3 -> a4
        a3 n3: n3 | v0=2, e4 -> a5
        a4 n3: n3 | v0=2, covered by a3
        a5 n4: n4 | v0=2
    "#]]
    .assert_eq(&exploration.arg().dump());
    assert_eq!(exploration.waiting(), 0);
}

#[test]
fn removing_the_initial_state_by_strengthening_is_an_error() {
    let mut setup = setup(&diamond(Toy::Skip, Toy::Skip), Mode::Separate, 1, &[]);
    let mut exploration = explored(&mut setup);
    let result = exploration.apply_strengthening(&mut Cx::unlimited(), &mut setup.cpa, &[], &[a(0)]);
    assert!(matches!(result, Err(Stop::Internal(_))), "{result:?}");
}

/// Covers every node by the first candidate, by making it equal.
struct Force(Handle<KnownCpa>, Vec<(ArgId, Vec<ArgId>)>);

impl ForcedCovering for Force {
    fn cover(&mut self, _cx: &mut Cx, arg: &Arg, node: ArgId, candidates: &[ArgId]) -> Result<Option<Forced>, Stop> {
        self.1.push((node, candidates.to_vec()));
        let Some(&by) = candidates.first() else { return Ok(None) };
        let state = self.0.state(arg.state(by).get(self.0).clone());
        Ok(Some(Forced { by, strengthened: vec![Strengthening { node, state }] }))
    }
}

#[test]
fn forced_covering_comes_before_expansion() {
    let mut setup = setup(&diamond(Toy::Set(0, 2), Toy::Havoc(0)), Mode::Separate, 1, &[]);
    let mut exploration = Exploration::new(Box::new(Bfs::default()), Remerge::Prune);
    let mut force = Force(setup.known, Vec::new());
    let cx = &mut Cx::unlimited();
    assert_eq!(run(cx, &mut setup.cpa, &mut exploration, &mut never, Some(&mut force)), Ok(Status::Finished));
    exploration.verify().unwrap();
    assert_eq!(exploration.statistics().forced, 1);
    assert_eq!(exploration.arg().covered_by(a(4)), Some(a(3)));
    assert_eq!(force.1[4], (a(4), vec![a(3)]));
}

#[test]
fn paths_avoid_cycles_and_are_shortest() {
    let mut builder = Builder::new(4);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(1, 2, Toy::Skip);
    builder.edge(2, 1, Toy::Add(0, 1));
    builder.edge(2, 3, Toy::Skip);
    let toys = builder.build();
    let mut setup = setup(&toys, Mode::Join, 1, &[]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Keep);
    finish(&mut setup, &mut exploration);
    let arg = exploration.arg();
    let path = arg.path_to(at(arg, 3)[0]);
    assert_eq!(path.nodes.iter().map(|&id| arg.location(id)).collect::<Vec<_>>(), [n(0), n(1), n(2), n(3)]);
    assert_eq!(path.steps.iter().map(|step| step.edge()).collect::<Vec<_>>(), [e(0), e(1), e(3)]);
    assert_eq!(arg.path_to(a(0)).steps, []);
}

#[test]
fn the_entry_may_be_a_target() {
    let mut setup = setup(&Builder::new(1).build(), Mode::Separate, 1, &[0]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    let cx = &mut Cx::unlimited();
    let status = run(cx, &mut setup.cpa, &mut exploration, &mut at_target, None);
    assert_eq!(status, Ok(Status::Target(a(0))));
}
