// SPDX-License-Identifier: Apache-2.0
//! Loops, numbering, call sites and targets.

use cfa::{Loops, Program, Property};
use expect_test::{Expect, expect};

use crate::load;

/// The loops as `head {body} in parent`, and every cycle is checked to have a head.
fn check(statements: &str, expect: Expect) {
    let program = load(&format!("int x, y; int main(void) {{ {statements} }}"));
    let shown: Vec<String> = program.loops.loops.iter().map(|l| shown(&program.loops, l)).collect();
    expect.assert_eq(&shown.join("\n"));
    assert!(heads_cut_all_cycles(&program));
    numbering_is_topological(&program);
}

fn shown(loops: &Loops, l: &cfa::Loop) -> String {
    let parent = l.parent.map(|p| format!(" in {}", loops.get(p).head)).unwrap_or_default();
    let kind = if l.reducible { "" } else { " irreducible" };
    format!("{} {} nodes{parent}{kind}", l.head, l.body.len())
}

fn heads_cut_all_cycles(program: &Program) -> bool {
    // Without the edges into heads the graph must be acyclic, so nodes can be removed in topological order.
    let mut open: Vec<usize> = program
        .node_ids()
        .map(|node| {
            let entering = &program.node(node).entering;
            if program.loops.is_head(node) { 0 } else { entering.len() }
        })
        .collect();
    let mut todo: Vec<_> = program.node_ids().filter(|node| open[node.index()] == 0).collect();
    let mut removed = 0;
    while let Some(node) = todo.pop() {
        removed += 1;
        for edge in &program.node(node).leaving {
            let to = program.edge(*edge).dst;
            if !program.loops.is_head(to) {
                open[to.index()] -= 1;
                if open[to.index()] == 0 {
                    todo.push(to);
                }
            }
        }
    }
    removed == program.nodes.len()
}

fn numbering_is_topological(program: &Program) {
    for edge in &program.edges {
        let back = program.node(edge.dst).rpo <= program.node(edge.src).rpo;
        assert!(!back || program.loops.is_head(edge.dst));
    }
    for function in &program.funcs {
        if let Some(body) = function.body {
            let starts = [body.entry, program.entry].map(|node| program.node(node).rpo);
            assert!(starts.contains(&0));
        }
    }
}

#[test]
fn statements() {
    check(
        "while (x) { for (; y; y--) x--; } do x++; while (x < 3);",
        expect![[r#"
        n3 4 nodes
        n4 3 nodes in n3
        n7 2 nodes"#]],
    );
}

#[test]
fn goto_loops() {
    check(
        "a: x++; b: y++; if (x < 5) goto a; if (y < 5) goto b;",
        expect![[r#"
        n3 4 nodes
        n4 3 nodes in n3"#]],
    );
}

#[test]
fn irreducible() {
    check("if (x) goto b; a: x++; b: y++; if (x < 5) goto a;", expect!["n3 3 nodes irreducible"]);
    check(
        "if (x) goto b; if (y) goto c; a: x++; b: y++; c: x--; if (x < 5) goto a; if (y < 3) goto b; if (y) goto c;",
        expect![[r#"
        n4 6 nodes irreducible
        n5 5 nodes in n4 irreducible
        n6 4 nodes in n5"#]],
    );
}

#[test]
fn jump_into_a_loop() {
    check(
        "if (x) goto in; while (y) { x++; in: y--; if (x) { while (x) x--; } }",
        expect![[r#"
        n3 6 nodes irreducible
        n7 2 nodes in n3"#]],
    );
}

#[test]
fn endless() {
    check("while (1) ;", expect!["n3 1 nodes"]);
}

#[test]
fn loop_bodies_come_before_what_follows() {
    let program = load("int x, y; int main(void) { while (!x) { y++; if (y > 3) break; x--; } y = 7; return y; }");
    let position = |text: &str| {
        let edge = program.edges.iter().find(|edge| program.display_op(&edge.op) == text).expect("the edge is there");
        program.node(edge.src).rpo
    };
    assert!(position("x = x - 1") < position("y = 7"));
    assert!(position("y = y + 1") < position("y = 7"));
}

#[test]
fn targets_are_call_sites_and_labels() {
    let program = load(
        "void reach_error(void); int f(int a) { return a; } void __VERIFIER_assert(int c) { if (!c) { ERROR: reach_error(); } }
         int main(void) { int x; if (x) { reach_error(); } __VERIFIER_assert(f(x)); return 0; reach_error(); }",
    );
    let property = Property::parse("CHECK( init(main()), LTL(G ! call(reach_error())) )").expect("it is a property");
    let targets: Vec<String> = program.targets(&property).iter().map(ToString::to_string).collect();
    expect!["n4 n7"].assert_eq(&targets.join(" "));
    let defaults = program.targets(&Property::default_errors());
    assert_eq!(defaults.len(), targets.len());
    expect![[r#"
        entry n5
        f(f::a): n0 .. n1
          n0 -> n1: f::__ret = f::a   // t.c:1:40
        __VERIFIER_assert(__VERIFIER_assert::c): n2 .. n3
          n2 -> n3: [__VERIFIER_assert::c != 0]   // t.c:1:89
          n2 -> n4: [__VERIFIER_assert::c == 0]   // t.c:1:89
          n4: label ERROR, call reach_error
        main(): n5 .. n11
          n5 -> n6: main::x = ?   // t.c:2:31
          n6 -> n7: [main::x != 0]   // t.c:2:38
          n6 -> n8: [main::x == 0]   // t.c:2:38
          n7: call reach_error
          n8: call f
          n8 -> n9: main::__tmp1 = call f(main::x)   // t.c:2:78
          n9: call __VERIFIER_assert
          n9 -> n10: call __VERIFIER_assert(main::__tmp1)   // t.c:2:60
          n10 -> n11: main::__ret = 0   // t.c:2:85
    "#]]
    .assert_eq(&program.dump());
}

#[test]
fn dot_output() {
    let program = load("int x; int main(void) { while (x) x--; }");
    expect![[r#"
        digraph cfa {
          node [shape=circle, fontsize=10];
          subgraph cluster_0 {
            label="main";
            n0;
            n1;
            n2 [shape=doublecircle];
            n3;
            n4;
            n5;
          }
          n0 -> n1 [label="x = 0"];
          n1 -> n2 [label="skip"];
          n2 -> n3 [label="[x != 0]"];
          n2 -> n4 [label="[x == 0]"];
          n3 -> n2 [label="x = x - 1"];
          n4 -> n5 [label="main::__ret = 0"];
        }
    "#]]
    .assert_eq(&program.dot());
}
