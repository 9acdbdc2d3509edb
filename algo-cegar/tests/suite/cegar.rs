// SPDX-License-Identifier: Apache-2.0
//! The CEGAR loop with a precision that is the set of tracked variables.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use algo_cegar::{Believed, Cegar, CexCheck, Chain};
use cfa::Program;
use cpa_core::{
    Arg, ArgId, Assurance, Bfs, Budget, CancelToken, Counterexample, Counting, Cut, Cx, Dfs, Exploration, Handle,
    LoopBoundCpa, Progress, Reason, Refinement, Refiner, Remerge, ReversePostOrder, Stop, Strengthening, Verdict,
};
use expect_test::expect;

use crate::support::*;

/// Runs the path on all stores; a spurious one is cut below the entry, and one more variable is tracked each time.
struct ToyRefiner {
    toys: Toys,
    known: Handle<KnownCpa>,
    variables: usize,
}

impl Refiner for ToyRefiner {
    fn name(&self) -> &'static str {
        "toy"
    }
    fn refine(&mut self, _cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let path = arg.path_to(target);
        let mut stores = BTreeSet::from([vec![0; self.variables]]);
        for step in &path.steps {
            stores = stores.iter().flat_map(|store| self.toys.concrete(step.edge(), store)).collect();
        }
        if !stores.is_empty() {
            return Ok(Refinement::Feasible(Counterexample { steps: path.steps, ..Counterexample::default() }));
        }
        let tracked = arg.precision(target).get(self.known);
        let next = (0..self.variables).find(|var| !tracked.contains(var));
        let precision = tracked.iter().copied().chain(next).collect();
        let pivot = path.nodes[1];
        Ok(Refinement::Spurious { cuts: vec![Cut { pivot, precisions: vec![self.known.precision(precision)] }] })
    }
}

fn cegar_with(
    toys: &Toys,
    variables: usize,
    targets: &[usize],
    refiner: impl FnOnce(&Setup) -> Box<dyn Refiner>,
) -> Cegar {
    let mut setup = setup(toys, Mode::Separate, variables, targets);
    setup.cpa.cpa_mut(setup.known).tracked = BTreeSet::new();
    let refiner = refiner(&setup);
    Cegar::new(setup.cpa, Exploration::new(Box::new(Dfs::default()), Remerge::Prune), refiner)
}

fn toy_refiner(setup: &Setup, variables: usize) -> Box<dyn Refiner> {
    Box::new(ToyRefiner { toys: setup.toys.clone(), known: setup.known, variables })
}

fn toy_cegar(toys: &Toys, variables: usize, targets: &[usize]) -> Cegar {
    cegar_with(toys, variables, targets, |setup| toy_refiner(setup, variables))
}

/// Variable 0 is noise; variable 1 decides whether n3 is reached.
fn guarded(value: u8) -> Toys {
    let mut builder = Builder::new(5);
    builder.edge(0, 1, Toy::Set(0, 3));
    builder.edge(1, 2, Toy::Set(1, value));
    builder.edge(2, 3, Toy::Eq(1, 0));
    builder.edge(2, 4, Toy::Ne(1, 0));
    builder.build()
}

#[test]
fn precisions_grow_until_the_target_is_gone() {
    let mut cegar = toy_cegar(&guarded(2), 2, &[3]);
    let cx = &mut Cx::unlimited();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&reports);
    cx.on_progress(move |progress| sink.borrow_mut().push(progress.clone()));
    assert_eq!(*cegar.run(cx).verdict(), Verdict::True);
    assert_eq!(cegar.statistics().refinements, 2);
    assert_eq!(cegar.statistics().refuted, 2);
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a7
        a7 n1: n1 | v0=3 v1=0, e1 -> a8
        a8 n2: n2 | v0=3 v1=2, e3 -> a9
        a9 n4: n4 | v0=3 v1=2
    "#]]
    .assert_eq(&cegar.arg().dump());
    let first = Progress::Refined { number: 1, target: a(3), what: "toy: spurious, cut at a1".to_owned() };
    assert_eq!(reports.borrow()[0], first);
    assert_eq!(reports.borrow().len(), 2);
    // Nothing changes when a finished loop runs again.
    assert_eq!(*cegar.run(cx).verdict(), Verdict::True);
}

#[test]
fn a_feasible_path_is_a_counterexample() {
    let mut cegar = toy_cegar(&guarded(5), 2, &[3]);
    let outcome = cegar.run(&mut Cx::unlimited());
    let Verdict::False(cex) = outcome.verdict() else { panic!("{outcome:?}") };
    assert_eq!(cex.steps.iter().map(|step| step.edge()).collect::<Vec<_>>(), [e(0), e(1), e(2)]);
    assert_eq!(cegar.statistics().feasible, 1);
}

/// Answers the same again and again.
struct Always(Refinement);

impl Refiner for Always {
    fn name(&self) -> &'static str {
        "always"
    }
    fn refine(&mut self, _cx: &mut Cx, _arg: &Arg, _target: ArgId) -> Result<Refinement, Stop> {
        Ok(self.0.clone())
    }
}

fn always(refinement: Refinement) -> Verdict {
    let mut cegar = cegar_with(&guarded(0), 2, &[3], |_| Box::new(Always(refinement)));
    cegar.run(&mut Cx::unlimited()).verdict().clone()
}

#[test]
fn trap_4_a_refinement_that_changes_nothing_is_an_internal_error_and_no_proof() {
    let elsewhere = Cut { pivot: a(4), precisions: vec![] };
    let nothing = [
        Refinement::Spurious { cuts: vec![] },
        Refinement::Spurious { cuts: vec![elsewhere] },
        Refinement::Strengthened { nodes: vec![], remove: vec![] },
    ];
    for refinement in nothing {
        let internal = "the target a3 is still there after it was refuted".to_owned();
        assert_eq!(always(refinement), Verdict::Unknown(Reason::Stopped(Stop::Internal(internal))));
    }
}

#[test]
fn trap_4_running_again_after_an_internal_error_is_no_proof_either() {
    let mut cegar = cegar_with(&guarded(0), 2, &[3], |_| Box::new(Always(Refinement::Spurious { cuts: vec![] })));
    for _ in 0..3 {
        let outcome = cegar.run(&mut Cx::unlimited());
        assert!(matches!(outcome.verdict(), Verdict::Unknown(Reason::Stopped(Stop::Internal(_)))), "{outcome:?}");
    }
}

/// Refutes every path by a cut at the target, without any precision.
struct Stubborn;

impl Refiner for Stubborn {
    fn name(&self) -> &'static str {
        "stubborn"
    }
    fn refine(&mut self, _cx: &mut Cx, _arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        Ok(Refinement::Spurious { cuts: vec![Cut { pivot: target, precisions: vec![] }] })
    }
}

#[test]
fn the_same_path_refuted_twice_without_a_change_ends_the_loop() {
    let mut cegar = cegar_with(&guarded(2), 2, &[3], |_| Box::new(Stubborn));
    expect!["UNKNOWN (the abstraction is too imprecise: the path to toy.c:1:1 is refuted again and again without a new precision)"]
        .assert_eq(&cegar.run(&mut Cx::unlimited()).verdict().to_string());
    assert_eq!(cegar.statistics().refinements, 2);
    assert_eq!(cegar.statistics().unchanged, 2);
}

#[test]
fn two_paths_that_take_turns_end_the_loop_too() {
    let mut builder = Builder::new(3);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(0, 2, Toy::Skip);
    let mut setup = setup(&builder.build(), Mode::Separate, 1, &[1, 2]);
    setup.cpa.cpa_mut(setup.known).tracked = BTreeSet::new();
    // Breadth-first, the two targets below the entry take turns.
    let exploration = Exploration::new(Box::new(Bfs::default()), Remerge::Prune);
    let mut cegar = Cegar::new(setup.cpa, exploration, Box::new(Stubborn));
    let outcome = cegar.run(&mut Cx::unlimited());
    assert!(matches!(outcome.verdict(), Verdict::Unknown(Reason::Imprecise(_))), "{outcome:?}");
    assert_eq!(cegar.statistics().refinements, 3);
}

#[test]
fn refiners_that_pass_on_are_skipped() {
    let mut cegar = cegar_with(&guarded(2), 2, &[3], |setup| {
        Box::new(Chain::new().then(Box::new(Always(Refinement::NotMine))).then(toy_refiner(setup, 2)))
    });
    assert_eq!(*cegar.run(&mut Cx::unlimited()).verdict(), Verdict::True);
    assert_eq!(cegar.refiner().name(), "toy");
    expect!["UNKNOWN (the analysis gave up: no refiner can tell whether toy.c:1:1 is reached)"]
        .assert_eq(&always(Refinement::NotMine).to_string());
}

#[test]
fn a_reached_construct_that_is_not_supported_is_named() {
    let mut builder = Builder::new(4);
    builder.edge(0, 1, Toy::Ne(0, 0));
    builder.unsupported(1, 3, "a jump into a switch");
    builder.edge(0, 2, Toy::Eq(0, 0));
    builder.unsupported(2, 3, "inline assembly");
    let mut cegar = toy_cegar(&builder.build(), 1, &[3]);
    expect!["UNKNOWN (toy.c:1:1: not supported: inline assembly)"]
        .assert_eq(&cegar.run(&mut Cx::unlimited()).verdict().to_string());
}

#[test]
fn a_bound_that_was_reached_makes_a_proof_unknown() {
    // n0 -> n1 (loop head) -> n2 -> n1; the target n3 needs three iterations.
    let mut builder = Builder::new(4);
    builder.edge(0, 1, Toy::Skip);
    builder.edge(1, 2, Toy::Skip);
    builder.edge(2, 1, Toy::Add(0, 1));
    builder.edge(1, 3, Toy::Eq(0, 3));
    let toys = builder.build();
    let verdict = |k| {
        let mut setup = setup(&toys, Mode::Separate, 1, &[3]);
        setup.cpa.add(LoopBoundCpa::new(Arc::clone(&toys.program), Counting::Iterations, k));
        let refiner = toy_refiner(&setup, 1);
        let exploration = Exploration::new(Box::new(ReversePostOrder::callstack_first()), Remerge::Prune);
        let mut cegar = Cegar::new(setup.cpa, exploration, refiner);
        cegar.run(&mut Cx::unlimited()).verdict().to_string()
    };
    expect![["UNKNOWN (a proof was found, but not all states were explored: loops were unrolled at most 2 times)"]]
        .assert_eq(&verdict(2));
    assert_eq!(verdict(4), "FALSE");
}

#[test]
fn an_imprecise_stage_makes_a_counterexample_unknown() {
    let mut assurance = Assurance::full();
    assurance.lower_precise("the summary over-approximates");
    let mut cegar = toy_cegar(&guarded(0), 2, &[3]).with_assurance(&assurance);
    let outcome = cegar.run(&mut Cx::unlimited());
    assert!(matches!(outcome.verdict(), Verdict::Unknown(Reason::NotPrecise(_))), "{outcome:?}");
}

/// Believes nothing.
struct Sceptic;

impl CexCheck for Sceptic {
    fn name(&self) -> &'static str {
        "sceptic"
    }
    fn check(&mut self, _cx: &mut Cx, _program: &Program, _cex: &Counterexample) -> Result<Believed, Stop> {
        Ok(Believed::No("it looks wrong".to_owned()))
    }
}

#[test]
fn a_counterexample_must_stand_all_checks() {
    let mut cegar = toy_cegar(&guarded(0), 2, &[3]).with_check(Box::new(Sceptic));
    expect!["UNKNOWN (the counterexample could not be confirmed: sceptic: it looks wrong)"]
        .assert_eq(&cegar.run(&mut Cx::unlimited()).verdict().to_string());
    // A path that does not fit together does not stand the replay.
    expect!["UNKNOWN (the counterexample could not be confirmed: the path ends at n0 instead of n3)"]
        .assert_eq(&always(Refinement::Feasible(Counterexample::default())).to_string());
}

/// Time for a number of expansions.
struct Fuel(RefCell<u32>);

impl Budget for Fuel {
    fn check(&self) -> Result<(), Stop> {
        let mut left = self.0.borrow_mut();
        *left = left.checked_sub(1).ok_or(Stop::Timeout)?;
        Ok(())
    }
    fn remaining(&self) -> Option<std::time::Duration> {
        None
    }
}

#[test]
fn a_loop_that_ran_out_of_time_goes_on_where_it_was() {
    let mut cegar = toy_cegar(&guarded(2), 2, &[3]);
    let mut verdicts = Vec::new();
    for _ in 0..20 {
        let cx = &mut Cx::new(Box::new(Fuel(RefCell::new(1))), CancelToken::new());
        verdicts.push(cegar.run(cx).verdict().clone());
    }
    let timeout = Verdict::Unknown(Reason::Stopped(Stop::Timeout));
    let finished = verdicts.iter().position(|verdict| *verdict == Verdict::True).unwrap();
    assert!(finished > 3 && verdicts[..finished].iter().all(|verdict| *verdict == timeout));
}

/// In the style of IMPACT: strengthens the states along a spurious path with what is known when all variables are tracked.
struct Impact {
    toys: Toys,
    known: Handle<KnownCpa>,
    variables: usize,
}

impl Refiner for Impact {
    fn name(&self) -> &'static str {
        "impact"
    }
    fn refine(&mut self, _cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let path = arg.path_to(target);
        let exact = KnownCpa::new(&self.toys, Mode::Separate, self.variables);
        let mut known = Known((0..self.variables).map(|var| (var, 0)).collect());
        let mut nodes = vec![Strengthening { node: path.nodes[0], state: self.known.state(known.clone()) }];
        for (step, &node) in path.steps.iter().zip(&path.nodes[1..]) {
            match exact.post(&known, step.edge()) {
                Some(next) => known = next,
                None => return Ok(Refinement::Strengthened { nodes, remove: vec![node] }),
            }
            nodes.push(Strengthening { node, state: self.known.state(known.clone()) });
        }
        Ok(Refinement::Feasible(Counterexample { steps: path.steps, ..Counterexample::default() }))
    }
}

#[test]
fn strengthening_in_place_proves_and_refutes() {
    let impact = |value| {
        let toys = guarded(value);
        // The domain by itself tracks nothing, as IMPACT computes no abstractions.
        let refiner = |setup: &Setup| {
            Box::new(Impact { toys: setup.toys.clone(), known: setup.known, variables: 2 }) as Box<dyn Refiner>
        };
        let mut cegar = cegar_with(&toys, 2, &[3], refiner);
        (cegar.run(&mut Cx::unlimited()).verdict().to_string(), cegar.arg().dump())
    };
    assert_eq!(impact(0).0, "FALSE");
    let (verdict, dump) = impact(2);
    assert_eq!(verdict, "TRUE");
    expect![[r#"
        a0 n0: n0 | v0=0 v1=0, e0 -> a1
        a1 n1: n1 | v0=3 v1=0, e1 -> a2
        a2 n2: n2 | v0=3 v1=2, e3 -> a4
        a4 n4: n4
    "#]]
    .assert_eq(&dump);
}

#[test]
fn random_automata_get_the_right_verdict() {
    let variables = 3;
    let mut decided = [0, 0];
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        let havoc = random.below(2) == 0;
        let toys = random_toys(&mut random, 8, 12, variables, havoc);
        let reached = toys.reachable(variables).iter().any(|(node, _)| *node == n(7));
        let cx = &mut Cx::unlimited();
        match toy_cegar(&toys, variables, &[7]).run(cx).verdict() {
            Verdict::True => {
                assert!(!reached, "seed {seed}");
                decided[0] += 1;
            }
            Verdict::False(_) => {
                assert!(reached, "seed {seed}");
                decided[1] += 1;
            }
            // Only with nondeterminism the domain is not exact even when it tracks all variables.
            Verdict::Unknown(Reason::Imprecise(_)) => assert!(havoc, "seed {seed}"),
            Verdict::Unknown(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(decided.iter().all(|&count| count > 20), "{decided:?}");
}
