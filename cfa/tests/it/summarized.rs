// SPDX-License-Identifier: Apache-2.0
//! Summarised automata: figures 2.2 and 2.4 of Wendler's thesis, calls, and that loop heads and targets are what is left.

use std::collections::BTreeSet;

use cfa::{NodeId, Op, Program, Property, SummarizedCfa};
use expect_test::{Expect, expect};

use crate::load;

fn summarized(text: &str) -> (Program, SummarizedCfa) {
    let program = load(text);
    let targets = program.targets(&Property::default_errors());
    let summarized = SummarizedCfa::new(&program, &targets);
    (program, summarized)
}

fn check(text: &str, expect: Expect) {
    let (program, summarized) = summarized(text);
    expect.assert_eq(&summarized.dump(&program));
}

/// The abstraction locations of large-block encoding: the entry, loop heads, targets, behind calls and returns.
fn abstraction_locations(program: &Program) -> BTreeSet<NodeId> {
    let mut found = program.targets(&Property::default_errors());
    found.insert(program.entry);
    found.extend(&program.loops.heads);
    for edge in &program.edges {
        if let Op::Call { callee, .. } = edge.op {
            found.insert(program.func(callee).body.expect("it is called").entry);
            found.insert(edge.dst);
        }
    }
    found
}

#[test]
fn lock_loop() {
    check(
        include_str!("../../../examples/lock-loop.c"),
        expect![[r#"
            b1 = [main::n >= 0]; [main::p != 0]
            b2 = ([main::n >= 0]; [main::p == 0] || b1; [main::LOCK == 0]; main::LOCK = 1)
            b3 = b2; [main::p != 0]
            n2 -> n6: main::p = __VERIFIER_nondet_int(); main::n = __VERIFIER_nondet_int(); main::LOCK = ?; main::LOCK = 0
            n6 -> n6: (b2; [main::p == 0] || b3; [main::LOCK != 0]; main::LOCK = 0); main::n = main::n - 1
            n6 -> n15: ((b1; [main::LOCK != 0] || b3; [main::LOCK == 0]) || [main::n < 0]; [main::LOCK != 0])
        "#]],
    );
}

#[test]
fn calls_end_blocks() {
    check(
        "int f(int a) { if (a > 0) return 1; return 2; } int main(void) { int x = f(3); x = x + f(x); return x; }",
        expect![[r#"
            b1 = ([f::a > 0]; f::__ret = 1 || [f::a <= 0]; f::__ret = 2)
            n0 -> n5: b1; return from f
            n0 -> n6: b1; return from f
            n4 -> n0: main::x = call f(3)
            n5 -> n0: main::__tmp1 = call f(main::x)
        "#]],
    );
}

#[test]
fn rule_0_drops_what_is_behind_a_target() {
    check(
        "void reach_error(void) { int x = 1; while (x) x++; } int main(void) { int x; if (x) reach_error(); return 0; }",
        expect![[r#"
            n4 -> n6: main::x = ?; [main::x != 0]
        "#]],
    );
}

#[test]
fn blocks_of_a_loop_without_inner_loops_are_one_edge_to_itself() {
    check(
        "int main(void) { int x = 0; while (x < 9) { if (x == 3) { x = 5; continue; } switch (x) { case 1: x = 2; break; case 2: x = 7; default: x = x + 1; } } return x; }",
        expect![[r#"
            b1 = [main::x < 9]; [main::x != 3]
            b2 = b1; [main::x != 1]
            n0 -> n1: main::x = 0
            n1 -> n1: (([main::x < 9]; [main::x == 3]; main::x = 5 || b1; [main::x == 1]; main::x = 2) || (b2; [main::x != 2] || b2; [main::x == 2]; main::x = 7); main::x = main::x + 1)
        "#]],
    );
}

#[test]
fn sequences_of_branches_do_not_grow_in_print() {
    let branches = "if (x) x = x + y; else x = x - y; ".repeat(100);
    let (program, summarized) = summarized(&format!("int main(void) {{ int x, y; {branches} while (x) x = 1; }}"));
    let dump = summarized.dump(&program);
    assert!(dump.len() < 40_000, "{}", dump.len());
}

#[test]
fn what_is_left_are_abstraction_locations_and_where_blocks_meet() {
    let (mut seen, mut lost) = (0, 0);
    for folder in ["../examples", "tests/programs"] {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        for file in std::fs::read_dir(folder).expect("the folder is there") {
            let path = file.expect("a file").path();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if path.extension().is_none_or(|ending| ending != "c") || cfa::needs_preprocessor(&text) {
                continue;
            }
            let (program, summarized) = summarized(&text);
            let locations = abstraction_locations(&program);
            for node in summarized.leaving.keys() {
                let sources = summarized.leaving.values().filter(|edges| edges.contains_key(node)).count();
                assert!(locations.contains(node) || sources > 1, "{node} in {path:?}");
            }
            let reached = summarized.nodes();
            // Functions of the library may be there that nobody calls.
            let called = |func| {
                let calls = |op: &Op| matches!(op, Op::Call { callee, .. } if *callee == func);
                let is_own = program.is_users(program.func(func).span);
                is_own || program.edges.iter().any(|edge| calls(&edge.op))
            };
            let heads = program.loops.loops.iter().filter(|l| l.reducible).map(|l| l.head);
            let heads = heads.filter(|head| called(program.node(*head).func));
            lost += heads.filter(|head| !reached.contains(head)).count();
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} programs");
    assert_eq!(lost, 0, "every loop that is entered at its head keeps it");
}
