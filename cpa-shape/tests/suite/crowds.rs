// SPDX-License-Identifier: Apache-2.0
//! Objects without an order: trees, lists of lists, and who may point to whom in a crowd.

use cpa_shape::ShapeOptions;

use super::{Explored, explore, explore_with, program};

/// Whether there is no error, with and without crowds from the start; the same for both.
fn safe(text: &str) -> bool {
    let program = program(text);
    let crowds = ShapeOptions { apart: 0, ..ShapeOptions::default() };
    let [one, other] = [explore(&program), explore_with(&program, crowds)].map(|explored| explored == Explored::Safe);
    assert_eq!(one, other, "{text}");
    one
}

/// A tree to which nodes are added at any place, of which all hold `h`, and a walk down from its root.
fn tree(h: &str, step: &str) -> String {
    format!(
        "int main(void) {{
            struct node *root = make(0, 4);
            while (__VERIFIER_nondet_int()) {{
                struct node *x = make(0, {h}), *n = root;
                while (1) {{
                    if (__VERIFIER_nondet_int()) {{ if (!n->next) {{ n->next = x; break; }} n = n->next; }}
                    else {{ if (!n->prev) {{ n->prev = x; break; }} n = n->prev; }}
                }}
            }}
            struct node *n = root;
            while (n) {{ if (n->h != 4) reach_error(); {step} n = __VERIFIER_nondet_int() ? n->next : n->prev; }}
            return 0; }}"
    )
}

#[test]
fn trees() {
    assert!(safe(&tree("4", "")));
    assert!(safe(&tree("4", "n->h = 4;")));
    assert!(!safe(&tree("__VERIFIER_nondet_int()", "")));
    assert!(safe(&tree("4", "root->h = 5;")), "nobody comes back to the root");
    assert!(!safe(&tree("4", "if (n->next) n->next->h = 3;")));
    assert!(!safe(&tree("4", "if (n != root && !n->next) reach_error();")));
}

/// Leaves are taken off and freed until a tree is gone.
#[test]
fn trees_that_shrink() {
    let text = |bad: &str| {
        format!(
            "int main(void) {{
                struct node *root = make(0, 1), *n, *above;
                while (__VERIFIER_nondet_int()) {{
                    n = root;
                    while (n->next && n->prev) n = __VERIFIER_nondet_int() ? n->next : n->prev;
                    if (!n->next) n->next = make(0, 2); else n->prev = make(0, 2);
                }}
                while (root) {{
                    above = 0; n = root;
                    while (n->next || n->prev) {{ above = n; if (n->next) n = n->next; else n = n->prev; }}
                    if (!above) root = 0; else if (above->next == n) above->next = 0; else above->prev = 0;
                    if ({bad}) reach_error();
                    free(n);
                }}
                return 0; }}"
        )
    };
    assert!(safe(&text("n->h != 1 && n->h != 2")));
    assert!(!safe(&text("above && above->h == 2")));
}

/// A list linked by `next` whose nodes have lists of their own behind `prev`, made by another function.
#[test]
fn lists_of_lists() {
    let text = |inner: &str, bad: &str| {
        format!(
            "struct node *inner(struct node *next) {{ struct node *n = malloc(sizeof(struct node));
                 n->next = next; n->prev = 0; n->h = {inner}; return n; }}
             int main(void) {{
                struct node *list = 0, *n, *m;
                while (__VERIFIER_nondet_int()) {{
                    list = make(list, 7);
                    while (__VERIFIER_nondet_int()) list->prev = inner(list->prev);
                }}
                for (n = list; n; n = n->next) {{
                    if (n->h != 7) reach_error();
                    for (m = n->prev; m; m = m->next) if ({bad}) reach_error();
                }}
                return 0; }}"
        )
    };
    assert!(safe(&text("6", "m->h != 6 || m->prev")));
    assert!(!safe(&text("6", "m->next && m->next->h == 6")));
    assert!(!safe(&text("__VERIFIER_nondet_int()", "m->h != 6")));
}

/// What is reached along two ways may be the same node, and a change along one is seen along the other.
#[test]
fn nodes_of_crowds_have_several_names() {
    let build = "struct node *s = make(0, 1), *p = make(s, 1), *q = make(s, 1), *r = make(p, 1), *a, *b; r->prev = q;";
    let text = |bad: &str| {
        format!("int main(void) {{ {build} s = p = q = 0; while (__VERIFIER_nondet_int()) {{}} {bad} return 0; }}")
    };
    let crowds = ShapeOptions { apart: 0, ..ShapeOptions::default() };
    let explored = |bad: &str| explore_with(&program(&text(bad)), crowds);
    // Two nodes that lead to the same one, and two cells of one node.
    assert_ne!(
        explored("a = r->next->next; a->h = 5; b = r->prev->next; if (b->h == 5) reach_error();"),
        Explored::Safe
    );
    assert_ne!(explored("a = r->next; a->h = 5; b = r->prev; if (b->h == 5) reach_error();"), Explored::Safe);
    assert_ne!(explored("a = r->next; b = r->prev; if (a != b) reach_error();"), Explored::Safe);
    let other = "a = r->next->next; b = r->prev; if (b != r->next && b->next == a && a) reach_error();";
    assert_ne!(explored(other), Explored::Safe);
    assert_eq!(explored("a = r->next; b = r->prev; if (a->h != 1 || b->h != 1) reach_error();"), Explored::Safe);
    assert_eq!(explored("a = r->next; if (a == r || !a) reach_error();"), Explored::Safe);
    // What was decided once stays as it is.
    assert_eq!(explored("if (r->next->next) { a = r->next; if (!a->next) reach_error(); }"), Explored::Safe);
}

/// Lists that become parts of a crowd have inner links in both directions.
#[test]
fn lists_in_crowds() {
    let crowds = ShapeOptions { apart: 0, ..ShapeOptions::default() };
    let list = "while (__VERIFIER_nondet_int()) { b = make(a, 2); if (a) a->prev = b; a = b; } ";
    let text = |bad: &str| {
        format!(
            "int main(void) {{ struct node *r = make(0, 1), *a = 0, *b;
                 {list} r->next = a; a = 0; {list} r->prev = a; a = b = 0; while (__VERIFIER_nondet_int()) {{}}
                 b = r->next; if ({bad}) reach_error(); return 0; }}"
        )
    };
    let explored = |bad: &str| explore_with(&program(&text(bad)), crowds);
    assert_ne!(explored("b && b->next && b->next->next"), Explored::Safe);
    assert_ne!(explored("b && b->next && b->next->prev == b"), Explored::Safe);
    assert_ne!(explored("b && b->next && b->next->prev != b"), Explored::Safe, "that is not known of a crowd");
    assert_eq!(explored("b && b->h != 2"), Explored::Safe);
}

/// Chains whose heads stand in an array: an index with few values has each of them.
#[test]
fn chains_in_an_array() {
    let text = |h: &str| {
        format!(
            "struct node *heads[4];
             int main(void) {{
                while (__VERIFIER_nondet_int()) {{
                    unsigned k = (unsigned)__VERIFIER_nondet_int() % 4;
                    heads[k] = make(heads[k], {h});
                }}
                int i = __VERIFIER_nondet_int() & 3;
                struct node *n = heads[i];
                while (n) {{ if (n->h != 7) reach_error(); n = n->next; }}
                return 0; }}"
        )
    };
    assert!(safe(&text("7")));
    assert!(!safe(&text("k == 3 ? 8 : 7")));
}
