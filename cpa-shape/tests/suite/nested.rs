// SPDX-License-Identifier: Apache-2.0
//! What each node of a list has of its own, and distances between numbers of nodes and others.

use super::{Explored, explore, program};

fn is_safe(text: &str) -> bool {
    explore(&program(text)) == Explored::Safe
}

/// The first one is proved, the others have executions that reach an error.
fn only_the_first(texts: &[String]) {
    for (at, text) in texts.iter().enumerate() {
        assert_eq!(is_safe(text), at == 0, "{text}");
    }
}

/// A list of which each node has `inner` behind `prev`, and a walk along it.
fn lists(inner: &str, walk: &str) -> String {
    format!(
        "int main(void) {{ struct node *p = 0, *q;
            while (__VERIFIER_nondet_int()) {{ p = make(p, 1); {inner} }}
            while (p) {{ q = p->prev; {walk} p = p->next; }} return 0; }}"
    )
}

#[test]
fn each_node_has_a_list() {
    let inner = "p->prev = fresh(0, 2); while (__VERIFIER_nondet_int()) p->prev = fresh(p->prev, 3);";
    let all = "while (q) { if (q->h != 2 && q->h != 3) reach_error(); q = q->next; }";
    let last = "if (!q) reach_error(); while (q->next) q = q->next; if (q->h != 2) reach_error();";
    let first = "if (q->h != 3) reach_error();";
    assert!(is_safe(&lists(inner, last)));
    only_the_first(&[
        lists(inner, all),
        lists(inner, first),
        lists(inner, &format!("if (p->next) p->next->prev->h = 7; {all}")),
    ]);
    // They are different ones.
    let change = "q->h = 5; if (p->next && p->next->prev->h == 5) reach_error();";
    only_the_first(&[lists(inner, change), lists(inner, "p->h = 5; if (q->h == 2) reach_error();")]);
    let shared = "int main(void) { struct node *p = 0, *q = fresh(0, 2);
        while (__VERIFIER_nondet_int()) { p = make(p, 1); p->prev = q; } q = 0;
        while (p) { p->prev->h++; if (p->next && p->next->prev->h != 2) reach_error(); p = p->next; } return 0; }";
    assert!(!is_safe(shared));
}

#[test]
fn some_nodes_have_a_list() {
    let inner = "while (__VERIFIER_nondet_int()) p->prev = fresh(p->prev, 3);";
    let all = "while (q) { if (q->h != 3) reach_error(); q = q->next; }";
    only_the_first(&[
        lists(inner, all),
        lists(inner, "if (q && q->next) reach_error();"),
        lists(inner, "if (!q) reach_error();"),
    ]);
}

#[test]
fn pointers_to_the_node_itself() {
    only_the_first(&[
        lists("p->prev = p;", "if (q != p) reach_error();"),
        lists("p->prev = p;", "if (q == p) reach_error();"),
    ]);
    let some = "if (__VERIFIER_nondet_int()) p->prev = p;";
    only_the_first(&[lists(some, "if (q && q != p) reach_error();"), lists(some, "if (!q) reach_error();")]);
    // From what belongs to the node.
    let back = "p->prev = fresh(0, 2); p->prev->prev = p;";
    let walk = |bad: &str| format!("if ({bad}) reach_error();");
    only_the_first(&[
        lists(back, &walk("q->prev != p || q->h != 2")),
        lists(back, &walk("q->prev == p")),
        lists(&format!("{back} if (__VERIFIER_nondet_int()) p->prev->prev = 0;"), &walk("q->prev != p")),
        lists(back, "if (p->next) p->next->prev->prev = p; if (q->prev != p) reach_error();"),
    ]);
}

#[test]
fn distances_to_other_numbers() {
    let text = |bad: &str| {
        format!(
            "int main(void) {{ struct node *p = 0; int base = __VERIFIER_nondet_int();
                if (base < 0 || base > 1000000) return 0;
                while (__VERIFIER_nondet_int()) {{
                    int h = __VERIFIER_nondet_int();
                    if (h > base && h < base + 100) p = make(p, h);
                }}
                for (; p; p = p->next) if ({bad}) reach_error();
                return 0; }}"
        )
    };
    only_the_first(&[text("p->h <= base || p->h >= base + 100"), text("p->h <= base + 1"), text("p->h >= base + 99")]);
    // Two numbers of one node, of which one is not known at all.
    let text = |bad: &str| {
        format!(
            "int main(void) {{ struct node *p = 0, *q;
                while (__VERIFIER_nondet_int()) {{ p = make(p, 0); p->g = __VERIFIER_nondet_int(); if (p->g < 0) return 0; }}
                for (q = p; q; q = q->next) {{ int x = __VERIFIER_nondet_int(); if (x < q->g) q->h = x; }}
                for (; p; p = p->next) if ({bad}) reach_error();
                return 0; }}"
        )
    };
    only_the_first(&[text("p->h > p->g"), text("p->h >= p->g"), text("p->next && p->h > p->next->g")]);
}

#[test]
fn nodes_move_to_the_list_of_less_and_greater_ones() {
    let text = |bad: &str| {
        format!(
            "int main(void) {{ struct node *p = 0, *less = 0, *more = 0, *q; int x = __VERIFIER_nondet_int();
                while (__VERIFIER_nondet_int()) p = make(p, __VERIFIER_nondet_int());
                while (p) {{ q = p->next; if (p->h < x) {{ p->next = less; less = p; }} else {{ p->next = more; more = p; }} p = q; }}
                for (; less; less = less->next) if ({bad}) reach_error();
                for (; more; more = more->next) if (more->h < x) reach_error();
                return 0; }}"
        )
    };
    only_the_first(&[text("less->h >= x"), text("less->h < x - 1"), text("more && less->h + 1 < more->h")]);
}
