// SPDX-License-Identifier: Apache-2.0
//! Whole analyses: what is proved, what is refuted, and how little is tracked.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cfa::Property;
use cpa_core::algorithm::at_target;
use cpa_core::{
    CallstackCpa, Composite, Cx, Exploration, LocationCpa, Refinement, Refiner, Remerge, ReversePostOrder, Status, run,
};
use cpa_value::{Machine, MergeKind, Precision, Preference, Sharing, ValueCpa, ValueRefiner, ValueTracker};

use crate::program;

/// The verdict, the number of states, and the names of the tracked variables.
fn verify(text: &str, sharing: Sharing, initial: Precision, merge: MergeKind) -> (String, usize, String) {
    let program = program(text);
    let targets: BTreeSet<_> = program.targets(&Property::default_errors());
    let machine = Rc::new(Machine::new(Arc::clone(&program)));
    let mut composite = Composite::new(Arc::clone(&program));
    composite.add(LocationCpa::new(Arc::clone(&program), targets).towards_targets());
    composite.add(CallstackCpa::new(Arc::clone(&program)));
    let handle = composite.add(ValueCpa::new(Rc::clone(&machine), merge, initial));
    let tracker = ValueTracker::new(handle, Rc::clone(&machine), sharing);
    let mut refiner = ValueRefiner::new(Rc::clone(&machine), Box::new(tracker), Preference::Best);
    let mut exploration = Exploration::new(Box::new(ReversePostOrder::callstack_first()), Remerge::Keep);
    let cx = &mut Cx::unlimited();
    let mut refinements = 0;
    let verdict = loop {
        refinements += 1;
        if refinements > 50 {
            break "UNKNOWN".to_owned();
        }
        let status = run(cx, &mut composite, &mut exploration, &mut at_target, None).unwrap();
        let Status::Target(target) = status else { break "TRUE".to_owned() };
        match refiner.refine(cx, exploration.arg(), target).unwrap() {
            Refinement::Feasible(run) => {
                let inputs: Vec<String> = run.inputs.iter().map(|(_, value)| value.to_string()).collect();
                break format!("FALSE {}", inputs.join(" "));
            }
            Refinement::Spurious { cuts } => {
                for cut in cuts {
                    exploration.cut(&composite, &cut);
                }
                assert!(!exploration.arg().is_alive(target));
            }
            Refinement::NotMine | Refinement::Strengthened { .. } => break "UNKNOWN".to_owned(),
        }
    };
    exploration.verify().unwrap();
    let arg = exploration.arg();
    let mut tracked = BTreeSet::new();
    for id in arg.ids() {
        if let Precision::Everywhere(slots) = arg.precision(id).get(handle) {
            tracked.extend(slots.iter());
        }
    }
    let name = |slot| (0..program.vars.len()).find(|&v| machine.slot(cfa::VarId::new(v)) == slot);
    let names: Vec<String> = tracked.into_iter().filter_map(name).map(|v| program.vars[v].name.to_string()).collect();
    (verdict, arg.len(), names.join(" "))
}

fn cegar(text: &str) -> (String, String) {
    let none = Precision::Everywhere(Rc::default());
    let (verdict, _, tracked) = verify(text, Sharing::Everywhere, none, MergeKind::Separate);
    let located = Precision::Located(Rc::default());
    let (again, ..) = verify(text, Sharing::Location, located, MergeKind::Separate);
    assert_eq!(verdict, again, "where variables are tracked does not matter");
    (verdict, tracked)
}

fn check(text: &str, verdict: &str, tracked: &str) {
    let got = cegar(text);
    assert_eq!((got.0.as_str(), got.1.as_str()), (verdict, tracked), "{text}");
}

#[test]
fn only_what_matters_is_tracked() {
    // The flag decides; the counter would unroll the loop (document 001, listing 2.1).
    check(
        "int main(void) { int flag = 1; int ticks = 0;
           while (__VERIFIER_nondet_int()) { ticks = ticks + 1; }
           if (flag > 0) { if (flag <= 0) reach_error(); return 0; } reach_error(); }",
        "TRUE",
        "main::flag",
    );
}

#[test]
fn assumptions_tell_values() {
    check(
        "int main(void) { int x = __VERIFIER_nondet_int(); if (x + 3 == 10) { if (x != 7) reach_error(); } return 0; }",
        "TRUE",
        "main::x",
    );
    check(
        "int main(void) { unsigned char c = __VERIFIER_nondet_uchar(); if (c > 255) reach_error();
           if (c < 1 && c != 0) reach_error(); return 0; }",
        "TRUE",
        "main::c",
    );
}

#[test]
fn values_pass_through_calls() {
    check(
        "int id(int v) { return v; } int g;
         int main(void) { g = id(4); int n = g + 1; if (n != 5) reach_error(); return 0; }",
        "TRUE",
        "id::v id::__ret g main::n",
    );
}

#[test]
fn inputs_are_found() {
    check(
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = __VERIFIER_nondet_int();
           if (x == 42) { int z = y; if (z > 5 && z < 9) reach_error(); } return 0; }",
        "FALSE 42 6",
        "",
    );
}

#[test]
fn values_pass_through_memory() {
    check(
        "struct s { int x; int y; } t[3]; int main(void) { struct s *p = &t[1]; p->y = 4; int n = t[1].y + t[2].x;
           if (n != 4) reach_error(); return 0; }",
        "TRUE",
        "main::p main::n main::__tmp1 main::__tmp2",
    );
    check(
        "int main(void) { int *p = malloc(8); p[1] = __VERIFIER_nondet_int(); if (p[1] == 3) reach_error(); return 0; }",
        "FALSE 4096 3",
        "",
    );
}

#[test]
fn new_objects_have_addresses() {
    let object = "struct s { int state; int *steps; }; int main(void) { struct s *p = malloc(sizeof(struct s));
        int *steps = malloc(sizeof(int)); p->state = 1; p->steps = steps; *steps = 0;
        while (__VERIFIER_nondet_int()) {
            if (p->state == 1) p->state = 2; else if (p->state == 2) p->state = LAST; else reach_error();
            if (*p->steps != 0) reach_error();
        } return 0; }";
    assert_eq!(cegar(&object.replace("LAST", "1")).0, "TRUE");
    assert!(cegar(&object.replace("LAST", "3")).0.starts_with("FALSE"));
    // Where the second object lies depends on an input.
    let sized = "int main(void) { int n = __VERIFIER_nondet_int(); int *p = malloc(n); int *q = malloc(4); *q = 1;
        if (*q != 1) reach_error(); return 0; }";
    assert_eq!(cegar(sized).0, "UNKNOWN");
}

#[test]
fn assumptions_tell_what_is_in_memory() {
    let object = "struct t { int phase; }; struct s { int state; struct t *t; }; struct s m; struct t n;
        int main(void) { struct s *p = &m; p->t = &n; p->state = __VERIFIER_nondet_int();
        p->t->phase = __VERIFIER_nondet_int();
        if (p->state == 3 && p->t->phase == 4) { CHANGE; if (p->state != 3 || p->t->phase != 4) reach_error(); }
        return 0; }";
    assert_eq!(cegar(&object.replace("CHANGE", "")).0, "TRUE");
    assert_eq!(
        cegar(&object.replace("CHANGE", "struct t *q = p->t; int x = q->phase; if (x != 4) reach_error()")).0,
        "TRUE"
    );
    assert!(cegar(&object.replace("CHANGE", "n.phase = 5")).0.starts_with("FALSE 3 4"));
    // The variable does not hold any more what is in memory, or something else is asked of it.
    let between = "int m; int main(void) { int *p = &m; *p = __VERIFIER_nondet_int(); int x = *p; CHANGE; if (x == 3) {
        if (*p != 3) reach_error(); } return 0; }";
    assert_eq!(cegar(&between.replace("CHANGE", "")).0, "TRUE");
    for change in ["*p = 4", "x = x - 1", "p = malloc(4); *p = 5"] {
        assert!(cegar(&between.replace("CHANGE", change)).0.starts_with("FALSE"), "{change}");
    }
}

#[test]
fn relations_are_left_to_others() {
    check(
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = x; if (x != y) reach_error(); return 0; }",
        "UNKNOWN",
        "",
    );
}

#[test]
fn everything_tracked_unrolls_and_join_forgets() {
    let text =
        "int main(void) { int i = 0; int d; while (i < 50) { i = i + 1; } if (i != 50) reach_error(); return 0; }";
    let (verdict, states, _) = verify(text, Sharing::Everywhere, Precision::Full, MergeKind::Separate);
    assert_eq!(verdict, "TRUE");
    assert!(states > 100);
    let (verdict, states, _) = verify(text, Sharing::Everywhere, Precision::Full, MergeKind::Join);
    assert_eq!(verdict, "UNKNOWN");
    assert!(states < 20);
}
