// SPDX-License-Identifier: Apache-2.0
//! Loop abstraction with the analyses: figures 4 and 5 of the paper, the agreement of emitted programs with the augmented
//! automaton, and verdicts.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use cfa::{Options, Program, Property, Source};
use cli::registry::{Analysis, BmcAnalysis, CegarAnalysis, LoopAbstraction, Strategies, analysis};
use cpa_core::{Cx, Outcome, Progress, Verdict};
use loopabs::{Augmented, Choice, Loops, Order, Strategy};

use crate::{HEADER, config, load_with};

fn load(text: &str) -> Program {
    load_with(text, &Options { loop_sites: true, ..Options::default() })
}

fn run(body: &str, preset: &str, options: &[(&str, &str)]) -> (Outcome, Vec<(String, String)>) {
    let program = load(&format!("{HEADER}{body}"));
    let targets = program.targets(&Property::default_errors());
    let mut analysis = analysis(Arc::new(program), targets, &config(preset, options)).unwrap();
    (analysis.run(&mut Cx::unlimited()), analysis.statistics())
}

/// Figure 2 with a property that the exit condition alone does not imply.
const FIGURE_2: &str = "int main(void) {
  int N = __VERIFIER_nondet_int();
  if (N < 0) return 0;
  int i = 0;
  while (i < N) { i = i + 1; }
  if (i != N) { reach_error(); }
  return 0;
}";

#[test]
fn figure_4_the_augmented_automaton() {
    let program = load(&format!("{HEADER}{FIGURE_2}"));
    let loops = Loops::new(&program, &program.targets(&Property::default_errors()));
    let augmented = Augmented::new(&program, &loops, &BTreeSet::from([Strategy::Havoc])).unwrap();
    assert_eq!(augmented.choices, [Choice { site: 0, strategies: vec![Strategy::Havoc, Strategy::Base] }]);
    let entries: Vec<_> = augmented.program.edge_ids().filter_map(|edge| augmented.entered(edge)).collect();
    assert_eq!(entries, [(0, Strategy::Havoc)]);
    assert!(!augmented.is_exact(0, Strategy::Havoc));
    // The loop itself is still there, and its program restricted to havoc has none.
    assert_eq!(augmented.program.loops.loops.len(), 1);
}

#[test]
fn figure_5_step_by_step() {
    let program = load(&format!("{HEADER}{FIGURE_2}"));
    let property = Property::default_errors();
    let loops = Loops::new(&program, &program.targets(&property));
    let allowed = BTreeSet::from([Strategy::Base, Strategy::Havoc]);
    let augmented = Arc::new(Augmented::new(&program, &loops, &allowed).unwrap());
    let strategies = Strategies { augmented: Arc::clone(&augmented), order: Order::default(), allowed };
    let targets = augmented.program.targets(&property);
    let program = Arc::clone(&augmented.program);
    let mut analysis =
        CegarAnalysis::with_strategies(program, targets, &config("predicate", &[]), Some(&strategies)).unwrap();
    let steps = Rc::new(RefCell::new(Vec::new()));
    let mut cx = Cx::unlimited();
    let seen = Rc::clone(&steps);
    cx.on_progress(move |progress| {
        if let Progress::Refined { what, .. } = progress {
            seen.borrow_mut().push(what.split(':').next().unwrap_or("").to_owned());
        }
    });
    assert_eq!(*analysis.run(&mut cx).verdict(), Verdict::True);
    let steps = steps.borrow();
    // (a), (b): the path through havoc is feasible, so the strategy refiner takes havoc away there.
    assert_eq!(steps[0], "strategy", "{steps:?}");
    // (c), (d): from then on the paths lead through the loop, and the wrapped refiner finds predicates.
    assert!(steps.len() > 1 && steps[1..].iter().all(|name| name != "strategy"), "{steps:?}");
    // In the end no node behind the choice enters havoc.
    let arg = analysis.arg();
    let entered = arg.ids().any(|id| arg.parents(id).iter().any(|(_, step)| augmented.entered(step.edge()).is_some()));
    assert!(!entered);
}

#[test]
fn all_analyses_profit() {
    // Fig. 1: no loop has to be unrolled.
    let figure_1 = "int main(void) { unsigned int x = 0x0ffffff0; while (x > 0) { x -= 2; }
        if (x % 2 != 0) reach_error(); return 0; }";
    for preset in ["bmc-la", "value-la", "predicate-la", "octagon-la", "kinduction-la"] {
        assert_eq!(*run(figure_1, preset, &[]).0.verdict(), Verdict::True, "{preset}");
    }
    assert!(matches!(run(figure_1, "bmc", &[]).0.verdict(), Verdict::Unknown(_)));
}

#[test]
fn a_violation_through_an_abstraction_is_no_violation() {
    // Havoc and naive abstraction lose that i is even.
    let safe = "int main(void) { int i = 0; while (i < 6) { i += 2; } if (i != 6) reach_error(); return 0; }";
    for preset in ["bmc-la", "value-la", "predicate-la", "kinduction-la"] {
        for strategies in ["h", "n", "h,n", "p", "h,n,c,o,p,i"] {
            let (outcome, _) = run(safe, preset, &[("loopabs.strategies", strategies)]);
            assert_eq!(*outcome.verdict(), Verdict::True, "{preset} {strategies}");
        }
    }
}

#[test]
fn a_loop_modifies_what_has_the_name_of_a_temporary() {
    let bug =
        "int main(void) { int __retres = 0; unsigned i = 0; while (i < 1000) { i = i + 1; __retres = __retres + 2; }
        if (__retres == 2000) reach_error(); return 0; }";
    for preset in ["bmc-la", "value-la", "predicate-la", "kinduction-la"] {
        let (outcome, _) = run(bug, preset, &[]);
        assert!(!matches!(outcome.verdict(), Verdict::True), "{preset}: {}", outcome.verdict());
    }
}

#[test]
fn violations_are_carried_over_to_the_program() {
    // Too many iterations to unroll, but few enough to execute.
    let bug = "int main(void) { int n = __VERIFIER_nondet_int(); int i = 0, s = 1; if (n < 100000) return 0;
        while (i < n) { i++; s += 2; } if (s == 240001) reach_error(); return 0; }";
    for preset in ["bmc-la", "predicate-la"] {
        let (outcome, _) = run(bug, preset, &[]);
        let Verdict::False(run) = outcome.verdict() else { panic!("{preset}: {}", outcome.verdict()) };
        assert_eq!(run.inputs.iter().find(|(_, value)| *value != 0).map(|(_, value)| *value), Some(120_000));
    }
}

#[test]
fn a_violation_in_a_loop_is_found_by_naive_abstraction_and_refined() {
    // Figure 3.
    let program = |bound: &str| {
        format!(
            "int main(void) {{ int N = __VERIFIER_nondet_int(); int i = 0;
            while (i < N) {{ if (i >= {bound}) reach_error(); i = i + 1; }} return 0; }}"
        )
    };
    assert_eq!(*run(&program("N"), "bmc-la", &[]).0.verdict(), Verdict::True);
    assert!(matches!(run(&program("3"), "bmc-la", &[]).0.verdict(), Verdict::False(_)));
}

/// Programs with loops of many kinds.
const SAMPLES: [&str; 9] = [
    "int main(void) { unsigned x = 10; while (x > 0) x -= 2; if (x) reach_error(); return 0; }",
    "int main(void) { int i = 0, n = __VERIFIER_nondet_int(); while (i < n) { i += 3; if (i == 9) break; } if (i == 8) reach_error(); return 0; }",
    "int main(void) { int s = 0; for (int i = 0; i < 5; i++) { for (int j = 0; j < i; j++) s++; } if (s == 11) reach_error(); return 0; }",
    "int main(void) { int i = 0; do { i++; if (__VERIFIER_nondet_int()) continue; i++; } while (i < 4); if (i > 5) reach_error(); return 0; }",
    "int main(void) { int i = 0; while (i++ < 4) { if (i == 7) goto out; } if (i != 5) reach_error(); out: return 0; }",
    "int g; int step(int x) { g += x; return g < 6; } int main(void) { while (step(2)) ; if (g != 6) reach_error(); return 0; }",
    "int main(void) { int a[3] = {1, 2, 3}; int s = 0; for (int i = 0; i < 3; i++) { a[i] = a[i] + i; s += a[i]; } if (s < 0) reach_error(); return 0; }",
    "int f(int n) { for (int i = 0; ; i++) { if (i == n) return i; if (i > 3) return -1; } } int main(void) { if (f(2) == 3) reach_error(); return 0; }",
    "int main(void) { struct { unsigned char c; float x; _Bool b; } s = {0, 0, 0}; while (s.c < 200) { s.c += 100; s.b = !s.b; s.x = s.x + 1; } if (s.b) reach_error(); return 0; }",
];

/// The verdict of bounded model checking, without its run.
fn bounded(program: Program) -> &'static str {
    let targets = program.targets(&Property::default_errors());
    let mut bmc = BmcAnalysis::new(Arc::new(program), targets, &config("bmc", &[])).unwrap();
    match bmc.run(&mut Cx::unlimited()).verdict() {
        Verdict::True => "TRUE",
        Verdict::False(_) => "FALSE",
        Verdict::Unknown(_) => "UNKNOWN",
    }
}

#[test]
fn emitted_programs_agree_with_the_augmented_automaton() {
    for body in SAMPLES {
        agree(&load(&format!("{HEADER}{body}")), &BTreeMap::new());
    }
}

/// The branches keep y = 2x, and z = 0 at the head of the inner loop; the other strategies lose both.
const WITH_INVARIANTS: &str = "int main(void) { unsigned x = 0, y = 0, z = 0;
    while (__VERIFIER_nondet_int()) {
      if (__VERIFIER_nondet_int()) { x += 1; y += 2; } else { x += 3; y += 6; }
      do { if (z != 0) reach_error(); y += 2; x++; } while (__VERIFIER_nondet_int());
    }
    if (y != 2 * x) reach_error(); return 0; }";

#[test]
fn invariants_are_asked_for_where_other_strategies_do_not_suffice() {
    let program = load(&format!("{HEADER}{WITH_INVARIANTS}"));
    let targets = program.targets(&Property::default_errors());
    let own = [("loopabs.strategies", "h,n,c,o,p")];
    assert!(matches!(run(WITH_INVARIANTS, "bmc-la", &own).0.verdict(), Verdict::Unknown(_)));
    for preset in ["bmc-la", "predicate-la"] {
        let limited = [("loopabs.strategies", "i")];
        assert_eq!(*run(WITH_INVARIANTS, preset, &limited).0.verdict(), Verdict::True, "{preset}");
    }
    let config = config("bmc", &[]);
    let mut analysis = LoopAbstraction::fixed_only(Arc::new(program.clone()), targets.clone(), &config).unwrap();
    assert_eq!(*analysis.run(&mut Cx::unlimited()).verdict(), Verdict::True);
    assert_eq!(analysis.proof(), Some(&[Strategy::Invariant; 2][..]));
    // The emitted program and the automaton are the same with invariants, too, and both are proved.
    let program = Arc::new(program);
    let known = cli::registry::loop_invariants(&mut Cx::unlimited(), &program, &targets, &config).unwrap();
    assert_eq!(known.keys().copied().collect::<Vec<_>>(), [0, 1]);
    agree(&program, &known);
    let loops = Loops::with_invariants(&program, &targets, &known);
    let emitted = loops.render(&program, 0, |_| Strategy::Invariant).text;
    assert_eq!(bounded(load(&emitted)), "TRUE", "{emitted}");
}

#[test]
fn explicit_values_begin_with_exact_strategies() {
    let phases = "int main(void) { unsigned x = 0, y = 10000000, z = 5000000;
        while (x < y) { if (x >= 5000000) z--; x++; } if (z != 0) reach_error(); return 0; }";
    let (outcome, statistics) = run(phases, "value-la", &[]);
    assert_eq!(*outcome.verdict(), Verdict::True);
    assert!(statistics.contains(&("Number of programs analysed".into(), "1".into())), "{statistics:?}");
    let (outcome, _) = run(&phases.replace("z != 0", "z == 0"), "value-la", &[]);
    assert!(matches!(outcome.verdict(), Verdict::False(_)), "{}", outcome.verdict());
}

/// The same for a set of tasks, if the variable `CPA_LOOP_TASKS` names one; this takes long.
#[test]
fn emitted_programs_agree_on_tasks() {
    let Some(set) = std::env::var_os("CPA_LOOP_TASKS").map(std::path::PathBuf::from) else { return };
    let tasks = std::fs::read_to_string(&set).unwrap();
    for task in tasks.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let path = set.parent().unwrap().join(task);
        let definition = std::fs::read_to_string(&path).unwrap();
        let value = |key: &str| {
            let line = definition.lines().map(str::trim).find(|line| line.starts_with(key)).unwrap_or("");
            line.split_once(':').map_or("", |(_, value)| value.trim().trim_matches(['"', '\'']))
        };
        let text = std::fs::read_to_string(path.parent().unwrap().join(value("input_files"))).unwrap();
        let machine = if value("data_model") == "LP64" { cfa::MachineModel::Lp64 } else { cfa::MachineModel::Ilp32 };
        let options = Options { machine, loop_sites: true, ..Options::default() };
        let source = Source { name: task.into(), text };
        agree(&cfa::load(&[source], &options).unwrap(), &BTreeMap::new());
    }
}

/// Compares the program that is printed for each strategy with the augmented automaton.
fn agree(program: &Program, known: &BTreeMap<usize, String>) {
    let original = bounded(program.clone());
    let loops = Loops::with_invariants(program, &program.targets(&Property::default_errors()), known);
    let augmented = Augmented::new(program, &loops, &Strategy::ALL.into()).unwrap();
    for strategy in Strategy::ALL {
        let of = |site: usize| if loops.summary(site, strategy).is_ok() { strategy } else { Strategy::Base };
        let emitted = loops.render(program, 0, of).text;
        let source = Source { name: "emitted.c".into(), text: emitted.clone() };
        let of_emitted = bounded(cfa::load(&[source], &program.options).unwrap());
        let of_automaton = bounded(augmented.restricted(|choice| of(choice.site)));
        assert_eq!(of_emitted, of_automaton, "{strategy}\n{emitted}");
        assert!(of_emitted != "TRUE" || original != "FALSE", "{strategy} proves too much\n{emitted}");
    }
}

#[test]
fn proofs_name_their_strategies() {
    let program = load(&format!("{HEADER}{FIGURE_2}"));
    let targets = program.targets(&Property::default_errors());
    let mut analysis = LoopAbstraction::fixed_only(Arc::new(program), targets, &config("bmc", &[])).unwrap();
    assert_eq!(*analysis.run(&mut Cx::unlimited()).verdict(), Verdict::True);
    // Havoc is not enough, the last iteration is.
    assert_eq!(analysis.proof(), Some(&[Strategy::Naive][..]));
}
