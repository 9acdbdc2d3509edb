// SPDX-License-Identifier: Apache-2.0
//! The traps known from a prototype, each a permanent test. Trap 4 concerns the CEGAR loop and is tested there.

use std::fmt;
use std::sync::Arc;

use cpa_core::algorithm::{at_target, never};
use cpa_core::{Cpa, Cx, Dfs, Exploration, Merge, Remerge, Status, Step, Stop, run};
use expect_test::expect;

use crate::support::*;

/// A component that offers one more step, as the strategy analysis does.
struct Shortcut(Step);

#[derive(Clone, PartialEq, Debug)]
struct Nothing;
impl fmt::Display for Nothing {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Cpa for Shortcut {
    type State = Nothing;
    type Precision = ();
    fn name(&self) -> &'static str {
        "shortcut"
    }
    fn initial(&mut self, _cx: &mut Cx) -> Result<(Nothing, ()), Stop> {
        Ok((Nothing, ()))
    }
    fn steps(&self, _state: &Nothing) -> Vec<Step> {
        vec![self.0]
    }
    fn transfer(&mut self, _cx: &mut Cx, _s: &Nothing, _step: Step, _p: &()) -> Result<Vec<Nothing>, Stop> {
        Ok(vec![Nothing])
    }
    fn leq(&mut self, _cx: &mut Cx, _lesser: &Nothing, _greater: &Nothing) -> Result<bool, Stop> {
        Ok(true)
    }
}

fn explore(setup: &mut Setup, remerge: Remerge) -> Exploration {
    let mut exploration = Exploration::new(Box::new(Dfs::default()), remerge);
    let status = run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None);
    assert_eq!(status, Ok(Status::Finished));
    exploration.verify().unwrap();
    exploration
}

#[test]
fn trap_1_detached_edges_are_taken_only_by_who_offers_them() {
    let mut builder = Builder::new(3);
    builder.edge(0, 1, Toy::Add(0, 1));
    let detached = builder.detached(0, 2, Toy::Set(0, 4));
    let toys = builder.build();

    let mut without = setup(&toys, Mode::Separate, 1, &[]);
    assert_eq!(at(explore(&mut without, Remerge::Prune).arg(), 2), []);

    let mut with = setup(&toys, Mode::Separate, 1, &[]);
    with.cpa.add(Shortcut(Step::Edge(detached)));
    let exploration = explore(&mut with, Remerge::Prune);
    expect![[r#"
        a0 n0: n0 | v0=0, e0 -> a1, e1 -> a2
        a1 n1: n1 | v0=1
        a2 n2: n2 | v0=4
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn trap_2_merging_into_an_ancestor_does_not_prune_the_node_being_expanded() {
    // n0 -> n1 (loop head) -> n2 -> n1, and n1 -> n3.
    let mut builder = Builder::new(4);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(1, 2, Toy::Skip);
    builder.edge(2, 1, Toy::Add(0, 1));
    builder.edge(2, 3, Toy::Skip);
    let toys = builder.build();
    for remerge in [Remerge::Prune, Remerge::Keep] {
        let exploration = explore(&mut setup(&toys, Mode::Join, 1, &[]), remerge);
        assert_eq!(exploration.statistics().removed, 0);
        // The loop head was merged with its own descendant, and its children were merged with their new versions.
        expect![[r#"
            a0 n0: n0, e0 -> a1
            a1 n1: n1, e1 -> a2
            a2 n2: n2, e2 -> a1, e3 -> a3
            a3 n3: n3
        "#]]
        .assert_eq(&exploration.arg().dump().replace(" | v0=0", ""));
    }
}

#[test]
fn trap_2_merging_a_node_into_itself() {
    let mut builder = Builder::new(3);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(1, 1, Toy::Add(0, 1));
    builder.edge(1, 2, Toy::Skip);
    let toys = builder.build();
    for remerge in [Remerge::Prune, Remerge::Keep] {
        let exploration = explore(&mut setup(&toys, Mode::Join, 1, &[]), remerge);
        expect![[r#"
            a0 n0: n0 | v0=0, e0 -> a1
            a1 n1: n1, e1 -> a1, e2 -> a2
            a2 n2: n2
        "#]]
        .assert_eq(&exploration.arg().dump());
    }
}

/// Depth-first, the last edge comes first: n1 makes n4 and n5; n2 merges into n5; n3 merges into n4, whose child n5 is
/// also a child of n2.
fn merged_late() -> Toys {
    let mut builder = Builder::new(6);
    builder.edge(0, 3, Toy::Set(0, 3));
    builder.edge(0, 2, Toy::Set(0, 2));
    builder.edge(0, 1, Toy::Set(0, 1));
    builder.edge(1, 4, Toy::Skip);
    builder.edge(4, 5, Toy::Skip);
    builder.edge(2, 5, Toy::Set(1, 2));
    builder.edge(3, 4, Toy::Skip);
    builder.build()
}

#[test]
fn trap_3_pruning_a_merged_node_requeues_every_surviving_parent() {
    let exploration = explore(&mut setup(&merged_late(), Mode::Join, 2, &[]), Remerge::Prune);
    assert_eq!(exploration.statistics().removed, 1);
    // n5 was removed together with what n2 had brought to it; n2 has brought it again.
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a1, e1 -> a2, e2 -> a3
        a1 n3: n3 | v0=3 v1=0, e6 -> a4
        a2 n2: n2 | v0=2 v1=0, e5 -> a6
        a3 n1: n1 | v0=1 v1=0, e3 -> a4
        a4 n4: n4 | v1=0, e4 -> a6
        a6 n5: n5
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn trap_3_children_that_are_kept_merge_with_their_new_versions() {
    let exploration = explore(&mut setup(&merged_late(), Mode::Join, 2, &[]), Remerge::Keep);
    assert_eq!(exploration.statistics().removed, 0);
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a1, e1 -> a2, e2 -> a3
        a1 n3: n3 | v0=3 v1=0, e6 -> a4
        a2 n2: n2 | v0=2 v1=0, e5 -> a5
        a3 n1: n1 | v0=1 v1=0, e3 -> a4
        a4 n4: n4 | v1=0, e4 -> a5
        a5 n5: n5
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn trap_5_a_step_that_stops_early_pushes_the_expanded_node_back() {
    let mut builder = Builder::new(4);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(0, 2, Toy::Skip);
    builder.edge(0, 3, Toy::Skip);
    let toys = builder.build();
    let mut setup = setup(&toys, Mode::Separate, 1, &[1, 2]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    let cx = &mut Cx::unlimited();
    let found: Vec<_> = (0..3).map(|_| run(cx, &mut setup.cpa, &mut exploration, &mut at_target, None)).collect();
    assert_eq!(found, [Ok(Status::Target(a(1))), Ok(Status::Target(a(2))), Ok(Status::Finished)]);
    assert_eq!(at(exploration.arg(), 3), [a(3)]);
    exploration.verify().unwrap();
}

#[test]
fn trap_5_an_error_loses_nothing() {
    let toys = merged_late();
    let whole = explore(&mut setup(&toys, Mode::Separate, 2, &[]), Remerge::Prune);
    let mut setup = setup(&toys, Mode::Separate, 2, &[]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    for _ in 0.. {
        setup.cpa.cpa_mut(setup.known).fuel = Some(1);
        let status = run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None);
        exploration.verify().unwrap();
        if status == Ok(Status::Finished) {
            break;
        }
        assert_eq!(status, Err(Stop::Timeout));
    }
    let states = |exploration: &Exploration| {
        let arg = exploration.arg();
        let mut states: Vec<String> = arg.ids().map(|id| arg.state(id).to_string()).collect();
        states.sort();
        states
    };
    assert_eq!(states(&exploration), states(&whole));
}

/// Splits every state in two along each edge.
struct Split;

#[derive(Clone, PartialEq, Debug)]
struct Half(usize);
impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "half {}", self.0)
    }
}
impl Cpa for Split {
    type State = Half;
    type Precision = ();
    fn name(&self) -> &'static str {
        "split"
    }
    fn initial(&mut self, _cx: &mut Cx) -> Result<(Half, ()), Stop> {
        Ok((Half(0), ()))
    }
    fn transfer(&mut self, _cx: &mut Cx, _s: &Half, _step: Step, _p: &()) -> Result<Vec<Half>, Stop> {
        Ok(vec![Half(1), Half(2)])
    }
    fn leq(&mut self, _cx: &mut Cx, lesser: &Half, greater: &Half) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }
    fn merge(&mut self, _cx: &mut Cx, _new: &Half, _reached: &Half, _p: &()) -> Result<Merge<Half>, Stop> {
        Ok(Merge::Separate)
    }
}

#[test]
fn trap_5_several_targets_of_one_step_are_all_found() {
    let mut builder = Builder::new(2);
    builder.edge(0, 1, Toy::Skip);
    let toys = builder.build();
    let mut setup = setup(&toys, Mode::Separate, 1, &[1]);
    setup.cpa.add(Split);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    let cx = &mut Cx::unlimited();
    let found: Vec<_> = (0..3).map(|_| run(cx, &mut setup.cpa, &mut exploration, &mut at_target, None)).collect();
    assert_eq!(found, [Ok(Status::Target(a(1))), Ok(Status::Target(a(2))), Ok(Status::Finished)]);
    assert_eq!(exploration.arg().len(), 3);
    let program = Arc::clone(setup.cpa.program());
    assert_eq!(Step::Edge(e(0)).destination(&program), n(1));
}
