// SPDX-License-Identifier: Apache-2.0
//! Blocks with explicit values: figures 2 and 3 of the paper on the graphs themselves, recursion, and proofs that an
//! independent checker accepts.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_bam::{Bam, InstanceId, Parts, Settings, Strategy};
use cfa::{Blocks, Options, Partitioning, Program, Property, Source};
use cpa_core::waitlist::ReversePostOrder;
use cpa_core::{
    Arg, ArgId, CallstackCpa, Composite, Cx, Handle, LocationCpa, Progress, Reducers, Remerge, Step, Verdict,
};
use cpa_value::{
    Machine, MergeKind, Precision, Preference, Sharing, ValueCpa, ValueReducer, ValueRefiner, ValueTracker,
};

struct Setup {
    program: Arc<Program>,
    bam: Bam,
    location: Handle<LocationCpa>,
}

fn setup(text: &str, strategy: Strategy, max_cached: usize) -> Setup {
    let source = Source { name: "t.c".into(), text: text.into() };
    let program = Arc::new(cfa::load(&[source], &Options::default()).unwrap());
    let blocks = Rc::new(Blocks::find(&program, Partitioning::default()));
    let machine = Rc::new(Machine::new(Arc::clone(&program)));
    let mut composite = Composite::new(Arc::clone(&program));
    let targets = program.targets(&Property::default_errors());
    let location = composite.add(LocationCpa::new(Arc::clone(&program), targets));
    let callstack = composite.add(CallstackCpa::new(Arc::clone(&program)));
    let nothing = Precision::Everywhere(Rc::default());
    let value = composite.add(ValueCpa::new(Rc::clone(&machine), MergeKind::Separate, nothing));
    let mut reducers = Reducers::new(&composite, location, callstack, &program);
    reducers.add(value, ValueReducer::new(Rc::clone(&machine), Rc::clone(&blocks)));
    let tracker = ValueTracker::new(value, Rc::clone(&machine), Sharing::Everywhere);
    let refiner = Box::new(ValueRefiner::new(machine, Box::new(tracker), Preference::Best));
    let settings = Settings {
        waitlist: Box::new(|| Box::new(ReversePostOrder::callstack_first())),
        remerge: Remerge::Prune,
        strategy,
        max_cached,
    };
    let bam = Bam::new(Parts { composite, reducers, blocks, refiner }, settings).unwrap();
    Setup { program, bam, location }
}

fn verdict(setup: &mut Setup) -> &'static str {
    match setup.bam.run(&mut Cx::unlimited()).verdict() {
        Verdict::True => "TRUE",
        Verdict::False(_) => "FALSE",
        Verdict::Unknown(_) => "UNKNOWN",
    }
}

/// Runs until the first refinement was applied.
fn until_refined(setup: &mut Setup) {
    let mut cx = Cx::unlimited();
    let cancel = cx.cancel_token().clone();
    cx.on_progress(move |progress| {
        if matches!(progress, Progress::Refined { .. }) {
            cancel.cancel();
        }
    });
    setup.bam.run(&mut cx);
    assert_eq!(setup.bam.statistics().refinements, 1);
}

/// Figure 2: `h` is used at s2 by `main` and at s4 by `k`, which begins at s3; s2 and s4 are the same when reduced. The
/// value that refutes the error in `k` arises in `h`, so the cut is in the graph that both use.
const FIGURE_2: &str = "void reach_error(void);
    int h(void) { int y = 4; return y; }
    int k(void) { int b = h(); if (b != 4) { reach_error(); } return b; }
    int main(void) { int r = h(); int s = k(); if (r != 4) { reach_error(); } return s; }";

/// The instance that a call in another one uses.
fn used(setup: &Setup, by: InstanceId, callee: &str) -> Option<InstanceId> {
    let block = setup.bam.blocks().of_function(setup.program.find_func(callee).unwrap()).unwrap();
    let uses = setup.bam.store().get(by).uses.values().flatten();
    uses.map(|of| of.inner).find(|&inner| setup.bam.store().get(inner).block == block)
}

/// The instance that the cache has for a function.
fn cached(setup: &Setup, callee: &str) -> InstanceId {
    let block = setup.bam.blocks().of_function(setup.program.find_func(callee).unwrap()).unwrap();
    let store = setup.bam.store();
    let mut found = store.ids().filter(|&id| store.get(id).block == block && store.is_cached(id));
    let id = found.next().unwrap();
    assert_eq!(found.next(), None, "the cache has one graph for each state");
    id
}

#[test]
fn figure_3b_copies_what_is_cut() {
    let mut setup = setup(FIGURE_2, Strategy::CopyOnWrite, 0);
    until_refined(&mut setup);
    let store = setup.bam.store();
    let main = setup.bam.main().unwrap();
    assert_eq!(store.statistics().copies, 2, "the graphs that begin at s2 (and s4) and at s3 are copied");
    assert_eq!(used(&setup, main, "k"), None, "behind s3 the outermost graph is cut");
    let old = used(&setup, main, "h").unwrap();
    let new = cached(&setup, "h");
    assert_ne!(old, new);
    let (old, new) = (store.get(old), store.get(new));
    assert!(old.settled && old.exits().count() == 1, "the old graph stays valid");
    assert!(!new.settled && new.exits().count() == 0, "the copy lacks what was cut");
    let (whole, rest) = (old.exploration.arg(), new.exploration.arg());
    assert!(rest.len() < whole.len());
    for id in rest.ids() {
        assert!(rest.state(id).same(whole.state(id)), "a copy shares the states");
    }
    let link = store.get(main).links.values().next().unwrap();
    assert!(store.get(link.inner).exploration.arg().is_alive(link.exit), "there is no hole");
    assert_eq!(verdict(&mut setup), "TRUE");
    assert_eq!(setup.bam.statistics().holes, 0);
}

#[test]
fn figure_3a_leaves_a_hole() {
    let mut setup = setup(FIGURE_2, Strategy::InPlace, 0);
    until_refined(&mut setup);
    let store = setup.bam.store();
    let main = setup.bam.main().unwrap();
    assert_eq!(store.statistics().copies, 0);
    assert_eq!(used(&setup, main, "k"), None, "behind s3 the outermost graph is cut");
    assert_eq!(used(&setup, main, "h").unwrap(), cached(&setup, "h"), "there is one graph of h");
    let link = store.get(main).links.values().next().unwrap();
    assert!(!store.get(link.inner).exploration.arg().is_alive(link.exit), "the block abstraction at s2 lost its graph");
    assert_eq!(verdict(&mut setup), "TRUE");
    assert_eq!(setup.bam.statistics().holes, 1, "the second error path crosses the hole");
}

#[test]
fn one_refinement_does_the_same() {
    let text = "void reach_error(void); int h(int x) { int y = x; return y; }
        int main(void) { int r = h(3); r = h(3); if (r != 3) { reach_error(); } return r; }";
    let run = |strategy| {
        let mut setup = setup(text, strategy, 0);
        assert_eq!(verdict(&mut setup), "TRUE");
        let statistics = setup.bam.statistics().clone();
        assert_eq!(statistics.refinements, 1);
        (statistics, setup.bam.nodes())
    };
    assert_eq!(run(Strategy::CopyOnWrite), run(Strategy::InPlace));
}

const RECURSIVE: [(&str, &str); 7] = [
    // The recursion has no bound.
    (
        "TRUE",
        "int f(int x) { if (x <= 0) { return 3; } int r = f(x - 1); return r; }
        int main(void) { int r = f(nondet()); if (r != 3) { reach_error(); } return 0; }",
    ),
    // The caller's own variable is what it was.
    (
        "TRUE",
        "int f(int x) { int l = 5; if (x > 0) { f(x - 1); if (l != 5) { reach_error(); } } l = 6; return 0; }
        int main(void) { return f(nondet()); }",
    ),
    (
        "FALSE",
        "int f(int x) { int l = x; if (x > 0) { f(x - 1); if (l == 2) { reach_error(); } } return 0; }
        int main(void) { return f(2); }",
    ),
    // A summary that is only known after the second round: the deeper activation returns 1, which makes the outer one
    // return 2.
    (
        "FALSE",
        "int f(int x) { if (x <= 0) { return 1; } int r = f(x - 1); if (r == 1) { return 2; } return 1; }
        int main(void) { int r = f(nondet()); if (r == 2) { reach_error(); } return 0; }",
    ),
    // Mutual recursion with a global variable.
    (
        "TRUE",
        "int g = 1; int odd(int n); int even(int n) { if (n == 0) { return g; } return odd(n - 1); }
        int odd(int n) { if (n == 0) { return 0; } g = 1; return even(n - 1); }
        int main(void) { int r = even(nondet()); if (r != 0 && r != 1) { reach_error(); } return 0; }",
    ),
    (
        "FALSE",
        "int g = 1; int odd(int n); int even(int n) { if (n == 0) { return g; } return odd(n - 1); }
        int odd(int n) { if (n == 0) { return 0; } g = 7; return even(n - 1); }
        int main(void) { int r = even(2); if (r != 0 && r != 1) { reach_error(); } return 0; }",
    ),
    // The loop's own variables are not those of the activations that it calls.
    (
        "TRUE",
        "int f(int x) { int i = 0; int c = 4; while (i < 3) { i = i + 1; if (x > 0) { f(x - 1); }
        if (c != 4) { reach_error(); } } c = 8; return 0; } int main(void) { return f(nondet()); }",
    ),
];

#[test]
fn recursion_without_bound() {
    for strategy in [Strategy::CopyOnWrite, Strategy::InPlace] {
        for (number, (expected, text)) in RECURSIVE.iter().enumerate() {
            let text = format!(
                "void reach_error(void); int nondet(void) {{ extern int __VERIFIER_nondet_int(void); \
                return __VERIFIER_nondet_int(); }} {text}"
            );
            let mut setup = setup(&text, strategy, 0);
            let found = verdict(&mut setup);
            // Feasible recursive paths are decided by a solver, which is not part of this test.
            let possible = if *expected == "FALSE" { "UNKNOWN" } else { "TRUE" };
            assert_eq!(found, possible, "{strategy:?}: program {number}");
        }
    }
}

#[test]
fn blocks_are_forgotten_and_computed_again() {
    let calls: String = (0..6).map(|n| format!("g = {n}; r = h(); if (r != {n}) {{ reach_error(); }} ")).collect();
    let text = format!(
        "void reach_error(void); int g; int h(void) {{ int y = g; return y; }}
        int main(void) {{ int r; int i; for (i = 0; i < 2; i++) {{ {calls} }} return 0; }}"
    );
    let mut setup = setup(&text, Strategy::CopyOnWrite, 2);
    assert_eq!(verdict(&mut setup), "TRUE");
    assert!(setup.bam.store().cached() <= 2 && setup.bam.store().statistics().evicted > 0);
}

/// The steps that control flow has from a location.
fn steps(program: &Program, setup: &Setup, arg: &Arg, id: ArgId) -> Vec<Step> {
    let location = arg.state(id).get(setup.location).node;
    let call = |edge: &cfa::EdgeId| matches!(program.edge(*edge).op, cfa::Op::Call { .. });
    let leaving = program.node(location).leaving.iter();
    leaving.map(|edge| if call(edge) { Step::Enter(*edge) } else { Step::Edge(*edge) }).collect()
}

/// Checks a proof without the code that made it: the root is the program's entry, no target is in it, and each state that is
/// reached has for each step successors that stand for what the values say, or a state that covers it.
fn check_proof(setup: &Setup) {
    let proof = setup.bam.proof().expect("the proof has no holes");
    let (arg, program) = (&proof.arg, &setup.program);
    let root = arg.root().unwrap();
    assert_eq!(arg.location(root), program.entry);
    let mut reached = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        assert!(arg.target(id).is_none(), "{id} is a target");
        let children: Vec<(ArgId, Step)> = arg.children(id).to_vec();
        let next: Vec<ArgId> = children.iter().map(|&(child, _)| child).chain(arg.covered_by(id)).collect();
        open.extend(next.into_iter().filter(|&next| reached.insert(next)));
        if let Some(by) = arg.covered_by(id) {
            assert_eq!(arg.location(id), arg.location(by));
            continue;
        }
        for step in steps(program, setup, arg, id) {
            if children.iter().any(|&(_, taken)| taken == step) {
                continue;
            }
            // Nothing follows: only because an assumption is impossible, which another branch then is not.
            let is_assume = matches!(program.edge(step.edge()).op, cfa::Op::Assume { .. });
            let sibling = !children.is_empty();
            assert!(is_assume && sibling, "{id} at {} has no successor by {step}", arg.location(id));
        }
        for &(child, step) in &children {
            assert_eq!(step.source(program), arg.location(id), "{id} {step}");
            assert_eq!(step.destination(program), arg.location(child), "{child} {step}");
        }
        let exit = program.funcs.iter().any(|f| f.body.is_some_and(|body| body.exit == arg.location(id)));
        assert!(exit || !children.is_empty(), "{id} has no successors");
    }
    assert_eq!(reached.len(), arg.len(), "everything in the proof is reached");
}

#[test]
fn proofs_are_complete() {
    let loops = "void reach_error(void); int inc(int x) { int y = x + 1; return y; }
        int main(void) { int i = 0; int c = 2; while (i < 3) { int j = 0; while (j < 2) { j = inc(j); if (j > 5) { break; } }
        if (c != 2) { reach_error(); } i = inc(i); } if (c != 2) { reach_error(); } return 0; }";
    let recursive = "void reach_error(void); extern int __VERIFIER_nondet_int(void);
        int f(int x) { if (x <= 0) { return 3; } int r = f(x - 1); return r; }
        int main(void) { int r = f(__VERIFIER_nondet_int()); if (r != 3) { reach_error(); } return 0; }";
    for text in [FIGURE_2, loops, recursive] {
        let mut setup = setup(text, Strategy::CopyOnWrite, 0);
        assert_eq!(verdict(&mut setup), "TRUE");
        check_proof(&setup);
    }
}
