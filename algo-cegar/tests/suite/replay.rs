// SPDX-License-Identifier: Apache-2.0
//! The replay of counterexamples on small C programs. A walk through the automaton makes the steps; which branches it
//! takes and which inputs it gives is up to each test.

use algo_cegar::{Disbelief, replay};
use cfa::ir::Op;
use cfa::{NodeId, Options, Program, Source};
use cpa_core::{Counterexample, Step};
use expect_test::{Expect, expect};

fn program(text: &str) -> Program {
    let prefix = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n";
    let source = Source { name: "test.c".to_owned(), text: format!("{prefix}{text}") };
    cfa::load(&[source], &Options::default()).unwrap()
}

fn error(program: &Program) -> NodeId {
    let call = program.calls.iter().find(|(name, _, _)| &**name == "reach_error");
    call.expect("the program calls reach_error").1
}

/// Walks from the entry, taking the given branches and giving the given inputs, until reach_error is called or the
/// branches are used up.
fn walk(program: &Program, branches: &[bool], inputs: &[i128]) -> Counterexample {
    let mut cex = Counterexample::default();
    let (mut branches, mut inputs) = (branches.iter(), inputs.iter());
    let mut calls = Vec::new();
    let mut at = program.entry;
    while at != error(program) {
        let leaving = &program.nodes[at.index()].leaving;
        let step = match leaving.as_slice() {
            [] => match calls.pop() {
                Some(call) => Step::Leave(call),
                None => break,
            },
            [only] if matches!(program.edges[only.index()].op, Op::Call { .. }) => {
                calls.push(*only);
                Step::Enter(*only)
            }
            [only] => Step::Edge(*only),
            [yes, no] => match branches.next() {
                Some(true) => Step::Edge(*yes),
                Some(false) => Step::Edge(*no),
                None => break,
            },
            more => panic!("{more:?}"),
        };
        if let Step::Edge(edge) = step
            && matches!(program.edges[edge.index()].op, Op::Havoc { .. })
            && let Some(input) = inputs.next()
        {
            cex.inputs.push((cex.steps.len(), *input));
        }
        cex.steps.push(step);
        at = step.destination(program);
    }
    cex
}

fn check(text: &str, branches: &[bool], inputs: &[i128], expected: Expect) {
    let program = program(text);
    let cex = walk(&program, branches, inputs);
    let text = match replay(&program, &cex, error(&program)) {
        Ok(()) => "believed".to_owned(),
        Err(disbelief) => disbelief.to_string(),
    };
    expected.assert_eq(&text);
}

const BRANCH: &str = "int main(void) { int x = __VERIFIER_nondet_int(); if (x * x == 49) reach_error(); return 0; }";

#[test]
fn a_real_run_is_believed() {
    check(BRANCH, &[true], &[7], expect!["believed"]);
    check(BRANCH, &[true], &[-7], expect!["believed"]);
}

#[test]
fn every_assumption_must_hold() {
    check(BRANCH, &[true], &[8], expect!["test.c:2:55: the branch is not taken (step 1, e1)"]);
    check(BRANCH, &[false], &[7], expect!["test.c:2:55: the branch is not taken (step 1, e2)"]);
}

#[test]
fn inputs_must_be_there_and_in_range() {
    check(BRANCH, &[true], &[], expect!["test.c:2:22: there is no value for the input 'main::x'"]);
    check(BRANCH, &[true], &[1 << 40], expect!["test.c:2:22: 1099511627776 is no value of 'main::x'"]);
}

#[test]
fn nothing_may_be_undefined() {
    let text =
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = 10 / x; if (y == 5) reach_error(); return 0; }";
    check(text, &[true], &[2], expect!["believed"]);
    check(text, &[true], &[0], expect!["test.c:2:55: division by zero"]);
    let text = "int main(void) { int x = __VERIFIER_nondet_int(); int y = 1 << x; if (y) reach_error(); return 0; }";
    check(text, &[true], &[3], expect!["believed"]);
    check(text, &[true], &[32], expect!["test.c:2:55: shift by a negative or too large amount"]);
}

#[test]
fn globals_calls_and_results() {
    let text = "int g = 3; int twice(int x) { g = g + 1; return 2 * x; }
        int main(void) { int a = twice(4); int b = twice(a); if (b == 16 && g == 5) reach_error(); return 0; }";
    check(text, &[true, true], &[0, 0, 0, 0, 0, 0], expect!["believed"]);
}

#[test]
fn recursive_calls_have_variables_of_their_own() {
    let text = "int f(int x) { int y = x; if (x > 0) { f(x - 1); return y; } return 7; }
        int main(void) { if (f(2) == 2) reach_error(); return 0; }";
    check(text, &[true, true, false, true], &[0; 9], expect!["believed"]);
    check(text, &[true, false, true], &[0; 9], expect!["test.c:2:31: the branch is not taken (step 5, e2)"]);
}

#[test]
fn unwritten_variables_are_not_read() {
    let program = program("int g = 1; int main(void) { int y = g; if (y) reach_error(); return 0; }");
    let mut cex = walk(&program, &[true], &[]);
    assert_eq!(replay(&program, &cex, error(&program)), Ok(()));
    // The same without the initialisation of the global variable, which nothing else can do.
    let begin = cex.steps.iter().position(|step| matches!(step, Step::Edge(e) if is_assignment(&program, *e))).unwrap();
    let mut edited = program.clone();
    edited.edges[cex.steps[begin].edge().index()].op = Op::Skip;
    let disbelief = replay(&edited, &cex, error(&edited));
    assert!(matches!(disbelief, Err(Disbelief::Unwritten { .. })), "{disbelief:?}");
    // Steps that are left out or changed do not fit together.
    cex.steps.remove(begin);
    let disbelief = replay(&program, &cex, error(&program));
    assert!(matches!(disbelief, Err(Disbelief::Disconnected { .. })), "{disbelief:?}");
}

fn is_assignment(program: &Program, edge: cfa::EdgeId) -> bool {
    matches!(program.edges[edge.index()].op, Op::Assign { .. })
}

#[test]
fn stray_inputs_and_other_ends_are_not_believed() {
    let program = program(BRANCH);
    let good = walk(&program, &[true], &[7]);
    let target = error(&program);
    assert_eq!(replay(&program, &good, target), Ok(()));

    let mut stray = good.clone();
    stray.inputs.push((good.steps.len() - 1, 1));
    assert!(matches!(replay(&program, &stray, target), Err(Disbelief::StrayInput { .. })));

    assert!(matches!(replay(&program, &good, program.entry), Err(Disbelief::WrongEnd { .. })));

    let mut kind = good.clone();
    kind.steps[0] = Step::Enter(kind.steps[0].edge());
    assert!(matches!(replay(&program, &kind, target), Err(Disbelief::WrongKind { .. })));

    let mut far = good;
    far.steps[0] = Step::Edge(cfa::EdgeId::new(100_000));
    assert!(matches!(replay(&program, &far, target), Err(Disbelief::WrongKind { .. })));
}

#[test]
fn a_signed_overflow_is_believed_only_after_few_steps() {
    let counting = |start: i64, ty: &str| {
        program(&format!(
            "int main() {{ {ty} x = {start}; for (int i = 0; i < 9999; i++) x++; if (x < {start}) reach_error(); }}"
        ))
    };
    let mut branches = vec![true; 9999];
    branches.extend([false, true]);
    let replayed = |program: &Program| replay(program, &walk(program, &branches, &[]), error(program));
    assert_eq!(replayed(&counting(0x7fff_ffff, "int")), Ok(()));
    assert!(matches!(replayed(&counting(0x7fff_ffff - 9000, "int")), Err(Disbelief::Overflow { step: 10_000.., .. })));
    assert_eq!(replayed(&counting(0xffff_ffff - 9000, "unsigned")), Ok(()));
    assert_eq!(replayed(&counting(0x7fff - 9000, "short")), Ok(()), "a conversion is no overflow");
}
