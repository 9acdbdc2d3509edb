// SPDX-License-Identifier: Apache-2.0
//! Laws of the components that follow the control flow, and of the composite.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use cfa::ExprId;
use cpa_core::algorithm::never;
use cpa_core::{
    At, CallstackCpa, Composite, Counting, Cpa, Cx, Dfs, Exploration, LocationCpa, LoopBoundCpa, Merge, Precision,
    Remerge, ReversePostOrder, Siblings, State, Status, Step, Stop, Strengthened, Target, run,
};
use expect_test::expect;

use crate::support::*;

/// main: n0 -call f-> n1 -call f-> n2 -unsupported-> n3; f: n4 -> n5; main's exit is n3.
fn calls() -> Toys {
    let mut builder = Builder::new(4);
    let f = builder.func("f", 2);
    builder.call(0, 1, f);
    builder.call(1, 2, f);
    builder.unsupported(2, 3, "inline assembly");
    builder.edge(4, 5, Toy::Add(0, 1));
    builder.build()
}

fn all_states<C: Cpa>(cpa: &mut C, steps: &[Step]) -> Vec<C::State> {
    let cx = &mut Cx::unlimited();
    let (initial, precision) = cpa.initial(cx).unwrap();
    let mut states = vec![initial];
    let mut next = 0;
    while next < states.len() && states.len() < 200 {
        for &step in steps {
            let state = states[next].clone();
            states.extend(cpa.transfer(cx, &state, step, &precision).unwrap());
        }
        next += 1;
    }
    states
}

/// The order is reflexive and transitive, and comparable states are in the same partition.
fn check_order<C: Cpa>(cpa: &mut C, steps: &[Step]) {
    let cx = &mut Cx::unlimited();
    let states = all_states(cpa, steps);
    for x in &states {
        assert!(cpa.leq(cx, x, x).unwrap());
        for y in &states {
            if cpa.leq(cx, x, y).unwrap() {
                assert_eq!(cpa.partition(x), cpa.partition(y));
                for z in &states {
                    assert!(!cpa.leq(cx, y, z).unwrap() || cpa.leq(cx, x, z).unwrap());
                }
            }
        }
    }
}

#[test]
fn orders_of_location_callstack_and_loop_bound() {
    let toys = calls();
    let steps = [
        Step::Enter(e(0)),
        Step::Enter(e(1)),
        Step::Leave(e(0)),
        Step::Leave(e(1)),
        Step::Edge(e(2)),
        Step::Edge(e(3)),
    ];
    check_order(&mut LocationCpa::new(Arc::clone(&toys.program), BTreeSet::new()), &steps);
    check_order(&mut CallstackCpa::new(Arc::clone(&toys.program)), &steps);
    check_order(&mut LoopBoundCpa::new(Arc::clone(&toys.program), Counting::Iterations, 3), &steps);
}

#[test]
fn calls_return_to_where_they_came_from() {
    let toys = calls();
    let mut setup = setup(&toys, Mode::Separate, 1, &[]);
    let mut exploration = Exploration::new(Box::new(ReversePostOrder::callstack_first()), Remerge::Prune);
    run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None).unwrap();
    expect![[r#"
        a0 n0: n0 | v0=0, enter e0 -> a1
        a1 n4: n4 | f | v0=0, e3 -> a2
        a2 n5: n5 | f | v0=1, leave e0 -> a3
        a3 n1: n1 | v0=1, enter e1 -> a4
        a4 n4: n4 | f | v0=1, e3 -> a5
        a5 n5: n5 | f | v0=2, leave e1 -> a6
        a6 n2: n2 | v0=2, e2 -> a7
        a7 n3: n3 after e2: inline assembly | v0=2, target
    "#]]
    .assert_eq(&exploration.arg().dump());
    let arg = exploration.arg();
    let expected = Target::Unsupported { edge: e(2), construct: "inline assembly".into() };
    assert_eq!(arg.target(a(7)), Some(&expected));
    assert_eq!(arg.path_to(a(3)).steps, [Step::Enter(e(0)), Step::Edge(e(3)), Step::Leave(e(0))]);
}

#[test]
fn an_unsupported_construct_comes_before_a_violation() {
    let mut setup = setup(&calls(), Mode::Separate, 1, &[3]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None).unwrap();
    assert!(matches!(exploration.arg().target(a(7)), Some(Target::Unsupported { .. })));
}

#[test]
fn recursion_is_a_target() {
    let mut builder = Builder::new(2);
    let f = builder.func("f", 2);
    let g = builder.func("g", 2);
    builder.call(0, 1, f);
    builder.call(2, 3, g);
    builder.call(4, 5, f);
    let toys = builder.build();
    let mut setup = setup(&toys, Mode::Separate, 1, &[]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None).unwrap();
    expect![[r#"
        a0 n0: n0 | v0=0, enter e0 -> a1
        a1 n2: n2 | f | v0=0, enter e1 -> a2
        a2 n4: n4 | f/g | v0=0, enter e2 -> a3
        a3 n2: n2 | f/g/f e2: recursion of 'f' | v0=0, target
    "#]]
    .assert_eq(&exploration.arg().dump());
}

#[test]
fn the_entry_function_does_not_call_itself_either() {
    let mut builder = Builder::new(2);
    builder.call(0, 1, cfa::ids::FuncId::new(0));
    let toys = builder.build();
    let mut cpa = CallstackCpa::new(Arc::clone(&toys.program));
    let cx = &mut Cx::unlimited();
    let (stack, ()) = cpa.initial(cx).unwrap();
    let entered = cpa.transfer(cx, &stack, Step::Enter(e(0)), &()).unwrap();
    assert!(matches!(cpa.target(&entered[0]), Some(Target::Unsupported { .. })));
    assert_eq!(cpa.transfer(cx, &stack, Step::Leave(e(0)), &()).unwrap(), []);
}

#[test]
fn the_loop_bound_counts_visits_of_loop_heads() {
    // n0 -> n1 (loop head) -> n2 -> n1, n1 -> n3.
    let mut builder = Builder::new(4);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(1, 2, Toy::Skip);
    builder.edge(2, 1, Toy::Skip);
    builder.edge(1, 3, Toy::Skip);
    let toys = builder.build();
    let mut setup = setup(&toys, Mode::Separate, 1, &[]);
    let handle = setup.cpa.add(LoopBoundCpa::new(Arc::clone(&toys.program), Counting::Iterations, 1));
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    run(&mut Cx::unlimited(), &mut setup.cpa, &mut exploration, &mut never, None).unwrap();
    // As in Fig. 5 of the paper: the state with counter 1 is the last one for k = 1.
    expect![[r#"
        a0 n0: n0 | v0=0, e0 -> a1
        a1 n1: n1 | v0=0 | n1:0, e1 -> a2, e3 -> a3
        a2 n2: n2 | v0=0 | n1:0, e2 -> a4
        a3 n3: n3 | v0=0
        a4 n1: n1 | v0=0 | n1:1
    "#]]
    .assert_eq(&exploration.arg().dump());
    assert!(exploration.arg().state(a(4)).get(handle).at_bound(1, Counting::Iterations));
    assert_eq!(exploration.arg().state(a(0)).get(handle).get(n(1)), None);
    assert_eq!(setup.cpa.truncated(), ["loops were unrolled at most 1 times"]);
    setup.cpa.cpa_mut(handle).set_bound(2);
    assert_eq!(setup.cpa.truncated(), [""; 0]);
}

fn two_known(one: Mode, two: Mode) -> (Composite, [State; 2], Precision) {
    let mut builder = Builder::new(2);
    builder.edge(0, 1, Toy::Set(0, 1));
    let toys = builder.build();
    let mut cpa = Composite::new(Arc::clone(&toys.program));
    let first = cpa.add(KnownCpa::new(&toys, one, 1));
    cpa.add(KnownCpa::new(&toys, two, 1));
    let (state, precision, _) = cpa.initial(&mut Cx::unlimited()).unwrap();
    let other = state.with(&first.state(Known([(0, 1)].into())));
    (cpa, [state, other], precision)
}

#[test]
fn merging_needs_all_components_to_agree() {
    let cx = &mut Cx::unlimited();
    let outcome = |one, two, cx: &mut Cx| {
        let (mut cpa, [x, y], precision) = two_known(one, two);
        let merged = cpa.merge(cx, &x, &y, &precision).unwrap();
        // The first components differ, the second ones are equal.
        let bound = match &merged {
            Merge::Changed(state) => cpa.leq(cx, &x, state).unwrap() && cpa.leq(cx, &y, state).unwrap(),
            Merge::Separate | Merge::Contained => true,
        };
        assert!(bound, "a merged state stands for both");
        match merged {
            Merge::Separate => "separate",
            Merge::Contained => "contained",
            Merge::Changed(_) => "changed",
        }
    };
    assert_eq!(outcome(Mode::Join, Mode::Join, cx), "changed");
    assert_eq!(outcome(Mode::Join, Mode::Separate, cx), "changed");
    assert_eq!(outcome(Mode::Separate, Mode::Join, cx), "separate");
    assert_eq!(outcome(Mode::Separate, Mode::Separate, cx), "separate");
    let (mut cpa, [x, _], precision) = two_known(Mode::Join, Mode::Separate);
    assert!(matches!(cpa.merge(cx, &x, &x, &precision), Ok(Merge::Contained)));
}

#[test]
fn run_reports_progress() {
    let reports = Rc::new(std::cell::RefCell::new(0));
    let mut cx = Cx::unlimited();
    let counter = Rc::clone(&reports);
    cx.on_progress(move |_| *counter.borrow_mut() += 1);
    let mut random = Random::new(7);
    let toys = random_toys(&mut random, 40, 160, 4, true);
    let mut setup = setup(&toys, Mode::Separate, 4, &[]);
    let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
    assert_eq!(run(&mut cx, &mut setup.cpa, &mut exploration, &mut never, None), Ok(Status::Finished));
    assert_eq!(*reports.borrow(), exploration.statistics().iterations / 1024);
}

/// Knows nothing by itself; asks its siblings about variable 0 and drops states where it is 3.
struct Asker;

#[derive(Clone, PartialEq, Debug)]
struct Heard(Option<i128>, Option<(i128, i128)>, Option<bool>);

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {:?}", self.0, self.1, self.2)
    }
}

impl Cpa for Asker {
    type State = Heard;
    type Precision = ();
    fn name(&self) -> &'static str {
        "asker"
    }
    fn initial(&mut self, _cx: &mut Cx) -> Result<(Heard, ()), Stop> {
        Ok((Heard(None, None, None), ()))
    }
    fn transfer(&mut self, _cx: &mut Cx, _s: &Heard, _step: Step, _p: &()) -> Result<Vec<Heard>, Stop> {
        Ok(vec![Heard(None, None, None)])
    }
    fn leq(&mut self, _cx: &mut Cx, lesser: &Heard, greater: &Heard) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }
    fn strengthen(
        &mut self,
        _cx: &mut Cx,
        _s: &Heard,
        siblings: &Siblings<'_>,
        _at: &At,
    ) -> Result<Strengthened<Heard>, Stop> {
        let expr = ExprId::new(0);
        Ok(match siblings.constant(expr) {
            Some(3) => Strengthened::Bottom,
            None => Strengthened::Unchanged,
            known => Strengthened::Changed(Heard(known, siblings.interval(expr), siblings.truth(expr))),
        })
    }
}

#[test]
fn components_ask_their_siblings_about_the_new_state() {
    let mut builder = Builder::new(5);
    for (node, toy) in [(1, Toy::Set(0, 2)), (2, Toy::Set(0, 3)), (3, Toy::Havoc(0)), (4, Toy::Skip)] {
        builder.edge(0, node, toy);
    }
    let toys = builder.build();
    // The one who asks comes first or last; it never asks itself.
    for first in [true, false] {
        let mut cpa = Composite::new(Arc::clone(&toys.program));
        cpa.add(LocationCpa::new(Arc::clone(&toys.program), BTreeSet::new()));
        if first {
            cpa.add(Asker);
        }
        cpa.add(KnownCpa::new(&toys, Mode::Separate, 1));
        if !first {
            cpa.add(Asker);
        }
        let mut exploration = Exploration::new(Box::new(Dfs::default()), Remerge::Prune);
        run(&mut Cx::unlimited(), &mut cpa, &mut exploration, &mut never, None).unwrap();
        let states: Vec<String> = exploration.arg().ids().map(|id| exploration.arg().state(id).to_string()).collect();
        let expected = [
            ["n0", "v0=0", "None None None"],
            ["n1", "v0=2", "Some(2) Some((2, 2)) Some(true)"],
            ["n3", "", "None None None"],
            ["n4", "v0=0", "Some(0) Some((0, 0)) Some(false)"],
        ];
        let join = |[location, known, heard]: [&str; 3]| {
            let parts = if first { [location, heard, known] } else { [location, known, heard] };
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
        };
        assert_eq!(states, expected.map(join));
    }
}
