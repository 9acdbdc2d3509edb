// SPDX-License-Identifier: Apache-2.0
//! Lists of any length.

use cpa_shape::ShapeOptions;

use super::{Explored, explore, explore_with, program};

fn check(text: &str, expected: bool) {
    let explored = explore(&program(text));
    assert_eq!(explored == Explored::Safe, expected, "{explored:?}\n{text}");
}

fn gives_up(text: &str, reason: &str) {
    match explore(&program(text)) {
        Explored::GaveUp(why) => assert!(why.contains(reason), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_all_nodes_hold() {
    let build = "int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) p = make(p, 1); ";
    let walk = "while (p != 0) { if (p->h != 1) reach_error(); p = p->next; } return 0; }";
    check(&format!("{build}{walk}"), true);
    check(&format!("{build} if (p && p->next && p->next->next) p->next->next->h = 2; {walk}"), false);
    check(
        &format!(
            "{build} struct node *q = p; while (q && __VERIFIER_nondet_int()) q = q->next; if (q) q->h = 7; {walk}"
        ),
        false,
    );
    // Behind the node that a variable named, the list goes on.
    check(&format!("{build} p = make(p, 2); p = p->next; {walk}"), true);
}

#[test]
fn the_end_of_a_list() {
    let build = "int main(void) { struct node *first = make(0, 0), *last = first;
       while (__VERIFIER_nondet_int()) { last->next = make(0, 1); last = last->next; } last->h = 2; ";
    check(
        &format!(
            "{build} while (first->next) first = first->next; if (first != last || first->h != 2) reach_error(); return 0; }}"
        ),
        true,
    );
    check(
        &format!("{build} while (first->next) first = first->next; if (first == last) reach_error(); return 0; }}"),
        false,
    );
    check(&format!("{build} if (first->h == 2 && first != last) reach_error(); return 0; }}"), true);
    check(&format!("{build} if (first == last) reach_error(); return 0; }}"), false);
    // How many nodes there are is not known: there may be three.
    check(&format!("{build} if (first->next && first->next->next == last) reach_error(); return 0; }}"), false);
    check(
        &format!(
            "{build} if (first->next && first->next != last && first->next->next == 0) reach_error(); return 0; }}"
        ),
        true,
    );
}

#[test]
fn links_in_both_directions() {
    let build = "int main(void) { struct node *first = make(0, 0), *last = first;
       while (__VERIFIER_nondet_int()) { last->next = make(0, 1); last->next->prev = last; last = last->next; } ";
    check(
        &format!(
            "{build} struct node *p = first; while (p) {{ if (p->next && p->next->prev != p) reach_error(); p = p->next; }} return 0; }}"
        ),
        true,
    );
    check(
        &format!(
            "{build} struct node *p = last; while (p->prev) p = p->prev; if (p != first) reach_error(); return 0; }}"
        ),
        true,
    );
    check(
        &format!(
            "{build} struct node *p = last; while (p->prev) {{ if (p->h != 1) reach_error(); p = p->prev; }} return 0; }}"
        ),
        true,
    );
    check(
        &format!(
            "{build} struct node *p = last; while (p->prev) p = p->prev; if (p->h == 0) reach_error(); return 0; }}"
        ),
        false,
    );
    // One link is turned round somewhere.
    check(
        &format!(
            "{build} struct node *p = first; while (p->next && __VERIFIER_nondet_int()) p = p->next;
             p->prev = p; p = first; while (p) {{ if (p->next && p->next->prev != p) reach_error(); p = p->next; }} return 0; }}"
        ),
        false,
    );
}

#[test]
fn circles() {
    let build = "int main(void) { struct node *head = make(0, 0); head->next = head;
       while (__VERIFIER_nondet_int()) head->next = make(head->next, 1); struct node *p = head->next; ";
    check(&format!("{build} while (p != head) {{ if (p->h != 1) reach_error(); p = p->next; }} return 0; }}"), true);
    check(
        &format!(
            "{build} while (p != head) {{ if (p == 0) reach_error(); p = p->next; }} if (p->h) reach_error(); return 0; }}"
        ),
        true,
    );
    check(&format!("{build} if (p->h == 0) reach_error(); return 0; }}"), false);
}

#[test]
fn numbers_of_their_own() {
    let build =
        "int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) { int c = __VERIFIER_nondet_int(); ";
    let walk = "while (p) { if (p->h < 0 || p->h > 3) reach_error(); p = p->next; } return 0; }";
    check(&format!("{build} if (c < 0 || c > 3) continue; p = make(p, c); }} {walk}"), true);
    check(&format!("{build} if (c < 0 || c > 4) continue; p = make(p, c); }} {walk}"), false);
    // Two nodes of one segment need not hold the same.
    check(
        &format!(
            "{build} if (c < 0 || c > 3) continue; p = make(p, c); }}
        while (p && p->next) {{ if (p->h != p->next->h) reach_error(); p = p->next; }} return 0; }}"
        ),
        false,
    );
    // Numbers that grow with the list.
    let counted = "int main(void) { struct node *p = 0; int i = 0; while (__VERIFIER_nondet_int()) { p = make(p, i); if (i < 1000) i++; } ";
    check(&format!("{counted} while (p) {{ if (p->h < 0) reach_error(); p = p->next; }} return 0; }}"), true);
    check(&format!("{counted} while (p) {{ if (p->h == 20) reach_error(); p = p->next; }} return 0; }}"), false);
}

#[test]
fn zeroed_nodes() {
    let build = "int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) {
       struct node *n = calloc(1, sizeof(struct node)); n->next = p; p = n; } ";
    check(&format!("{build} while (p) {{ if (p->h != 0 || p->prev) reach_error(); p = p->next; }} return 0; }}"), true);
    check(
        &format!("{build} if (p) p->h = 1; while (p) {{ if (p->h != 0) reach_error(); p = p->next; }} return 0; }}"),
        false,
    );
}

#[test]
fn what_is_not_followed() {
    gives_up("int main(void) { int *p = (int *)99999; if (*p) reach_error(); return 0; }", "outside of all objects");
    gives_up("int main(void) { struct node *p; if (p->h) reach_error(); return 0; }", "not known");
    gives_up(
        "int main(void) { int *a = malloc(8); if (a[2] == 7) reach_error(); return 0; }",
        "may be outside of its object",
    );
    gives_up(
        "int main(void) { struct node *p = make(0, 1); free(p); free(p); reach_error(); return 0; }",
        "may not be an object",
    );
}

#[test]
fn embedded_links() {
    // The links point into the middle of the nodes, and the head of the list is a global object.
    let text = |error: &str| {
        format!(
            "struct head {{ struct head *next, *prev; }}; struct item {{ int h; struct head links; }}; struct head list = {{ &list, &list }};
             void add(struct head *new, struct head *head) {{
               struct head *next = head->next; next->prev = new; new->next = next; new->prev = head; head->next = new; }}
             int main(void) {{ while (__VERIFIER_nondet_int()) {{ struct item *i = malloc(sizeof(struct item)); i->h = 5; add(&i->links, &list); }}
               for (struct head *p = list.next; p != &list; p = p->next) {{
                 struct item *i = (struct item *)((char *)p - __builtin_offsetof(struct item, links)); if ({error}) reach_error(); }}
               return 0; }}"
        )
    };
    check(&text("i->h != 5"), true);
    check(&text("i->links.next->prev != &i->links"), true);
    check(&text("i->links.next == &list"), false);
}

/// What is read there is any number, and what is written there changes nothing else.
#[test]
fn accesses_to_no_object_that_lives() {
    check("int main(void) { struct node *p = make(0, 1); free(p); if (p->h) reach_error(); return 0; }", false);
    check("int main(void) { struct node *p = 0; if (p->h) reach_error(); return 0; }", false);
    check("int main(void) { struct node *p = 0; p->h = 1; if (p->h != 1) reach_error(); return 0; }", false);
    let text = "int main(void) { struct node *p = 0, *q = make(0, 1), *r = make(0, 1); free(r);
        if (__VERIFIER_nondet_int()) p = q; p->h = 3; r->h = 4; if (q->h != 1 && q->h != 3) reach_error(); return 0; }";
    check(text, true);
}

/// Nodes that are made at two places of the program are neighbours of one list, but one node and what belongs to it are none.
#[test]
fn nodes_made_at_different_places() {
    let build = "struct node *other(struct node *next, int h) {
           struct node *n = calloc(1, sizeof(struct node)); n->next = next; n->h = h; return n; }
       int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) {
           if (__VERIFIER_nondet_int()) p = make(p, 1); else p = other(p, 2); } ";
    let walk = |bad: &str| format!("{build} while (p) {{ if ({bad}) reach_error(); p = p->next; }} return 0; }}");
    check(&walk("p->h < 1 || p->h > 2 || p->prev"), true);
    check(&walk("p->next && p->next->h == 1"), false);
    let build = "struct node *inner(void) { struct node *n = malloc(sizeof(struct node)); n->next = n->prev = 0; n->h = 3; return n; }
       int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) {
           p = make(p, 3); if (__VERIFIER_nondet_int()) p->prev = inner(); } ";
    let walk =
        |bad: &str| format!("{build} for (; p; p = p->next) if (p->prev && ({bad})) reach_error(); return 0; }}");
    check(&walk("p->prev->prev || p->prev->next"), true);
    check(&walk("p->prev->h == 3"), false);
}

#[test]
fn kinds_of_nodes() {
    // Two numbers of a node belong together.
    let build = "int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) {
        int c = __VERIFIER_nondet_int(); int d = __VERIFIER_nondet_int(); if (c < 0 || c > 3) continue; ";
    let walk = "while (p) { if (p->h == 0 && p->g >= 500) reach_error(); p = p->next; } return 0; }";
    let node = "p = make(p, c); p->g = d; }";
    check(&format!("{build} if (c == 0 && d >= 500) continue; {node} {walk}"), true);
    check(&format!("{build} if (c == 0 && d > 500) continue; {node} {walk}"), false);
    check(&format!("{build} if (!(c || d < 500)) continue; {node} {walk}"), true);
    // Which kinds follow each other.
    let build = |first: &str| {
        format!(
            "int main(void) {{ struct node *p = 0; int flag = 0; while (__VERIFIER_nondet_int()) {{
            if (flag) p = make(p, 1); else p = make(p, {first}); flag = !flag; }} "
        )
    };
    let walk = "while (p && p->next) { if (p->h == p->next->h) reach_error(); p = p->next; } return 0; }";
    check(&format!("{} {walk}", build("2")), true);
    check(&format!("{} {walk}", build("1")), false);
    let last = "while (p && p->next) p = p->next; if (p && p->h != 2) reach_error(); return 0; }";
    check(&format!("{} {last}", build("2")), true);
    check(&format!("{} {}", build("2"), last.replace("p->h != 2", "p->h == 2")), false);
    // One node of a kind.
    let one = "int main(void) { struct node *p = make(0, 0); int seen = 0; while (__VERIFIER_nondet_int()) {
        int c = !seen && __VERIFIER_nondet_int(); if (c) seen = 1; p = make(p, c); }
        int n = 0; while (p) { if (p->h) n = n < 3 ? n + 1 : n; p = p->next; } if (n > 1) reach_error(); return 0; }";
    check(one, true);
    check(&one.replace("n > 1", "n == 1"), false);
    check(&one.replace("if (c) seen = 1;", "if (c) seen = __VERIFIER_nondet_int();"), false);
}

#[test]
fn numbers_that_are_compared() {
    // Of each node with another one of its own.
    let walk = "while (p) { if (p->g > p->h) reach_error(); p = p->next; } return 0; }";
    let build = |test: &str| {
        format!(
            "int main(void) {{ struct node *p = 0; while (__VERIFIER_nondet_int()) {{ int c = __VERIFIER_nondet_int();
            p = make(p, c); p->g = 0; if (c < 0) p->h = 0; }}
            for (struct node *q = p; q; q = q->next) {{ int d = __VERIFIER_nondet_int(); if ({test}) q->g = d; }} {walk}"
        )
    };
    check(&build("q->h >= d"), true);
    check(&build("q->h + 1 >= d"), false);
    check(&build("q->h <= d"), false);
    // Of all nodes with the least of them.
    let least = |test: &str| {
        format!(
            "int main(void) {{ struct node *p = 0; int least = __VERIFIER_nondet_int(); while (__VERIFIER_nondet_int()) {{
            p = make(p, __VERIFIER_nondet_int()); if ({test}) least = p->h; }}
            while (p) {{ if (p->h < least) reach_error(); p = p->next; }} return 0; }}"
        )
    };
    check(&least("p->h < least"), true);
    check(&least("p->h < least || p->next"), false);
    check(&least("p->h > least"), false);
    // Not of all nodes, of which there are so many that most are in segments.
    let many = "if (!p || !p->next || !p->next->next || !p->next->next->next) return 0; ";
    let digit = "int c = __VERIFIER_nondet_int(); if (c < 0 || c > 9) c = 3; ";
    let some = |before: &str, when: &str| {
        format!(
            "int main(void) {{ struct node *p = 0; int most = __VERIFIER_nondet_int(); {before}
            while (__VERIFIER_nondet_int()) {{ {digit}
            p = make(p, c); if ({when}) {{ if (p->h > most) p->h = most; }} }}
            {many} while (p) {{ if (p->h > most) reach_error(); p = p->next; }} return 0; }}"
        )
    };
    check(&some("", "1"), true);
    for when in ["p->next", "!p->next", "__VERIFIER_nondet_int()", "!__VERIFIER_nondet_int()"] {
        check(&some("", when), false);
    }
    check(&some(&format!("{digit} p = make(p, c); most = c;"), "1"), true);
    check(&some(&format!("{digit} p = make(p, c);"), "1"), false);
    let pairs = |when: &str| {
        format!(
            "int main(void) {{ struct node *p = 0; while (__VERIFIER_nondet_int()) {{ {digit} p = make(p, c);
            c = __VERIFIER_nondet_int(); if (c < 0 || c > 9) c = 3; p->g = c;
            if ({when}) {{ if (p->g > p->h) p->g = p->h; }} }} {many} {walk}"
        )
    };
    check(&pairs("1"), true);
    for when in ["p->next", "!p->next", "__VERIFIER_nondet_int()", "!__VERIFIER_nondet_int()"] {
        check(&pairs(when), false);
    }
    // Two ways, on one of which nothing is known.
    for when in ["__VERIFIER_nondet_int()", "!__VERIFIER_nondet_int()"] {
        let text = format!(
            "int main(void) {{ struct node *p = 0; int most = __VERIFIER_nondet_int(); if (most < 0) return 0;
            while (__VERIFIER_nondet_int()) {{ int c = __VERIFIER_nondet_int(); if (c < 0 || c > 9) continue;
            if ({when}) {{ if (c > most) continue; }} p = make(p, c); }}
            {many} while (p) {{ if (p->h > most) reach_error(); p = p->next; }} return 0; }}"
        );
        check(&text, false);
        check(&text.replace(when, "1"), true);
    }
    // Which numbers follow each other is not known from that.
    let text = "int main(void) { struct node *p = 0; int last = 0; while (__VERIFIER_nondet_int()) {
        int c = __VERIFIER_nondet_int(); if (c >= last) { p = make(p, c); last = c; } }
        while (p && p->next) { if (p->h OP p->next->h) reach_error(); p = p->next; } return 0; }";
    check(&text.replace("OP", ">"), false);
}

#[test]
fn lists_with_numbers_that_grow() {
    let text = |check: &str| {
        format!(
            "int main(void) {{ struct node *first = 0, *last = 0; int n = 0;
            while (__VERIFIER_nondet_int()) {{ struct node *x = make(0, n); x->prev = last;
                if (last) last->next = x; else first = x; last = x; n++; }}
            struct node *p = first; while (p && __VERIFIER_nondet_int()) p = p->next;
            if (p) {{ if (p->prev) p->prev->next = p->next; else first = p->next;
                if (p->next) p->next->prev = p->prev; else last = p->prev; free(p); }}
            for (p = first; p; p = p->next) if (p->next) {{ if ({check}) reach_error(); }} else if (p != last) reach_error();
            return 0; }}"
        )
    };
    let coarse = ShapeOptions { coarse: 3, ..ShapeOptions::default() };
    assert_eq!(explore_with(&program(&text("p->next->prev != p")), coarse), Explored::Safe);
    assert_eq!(explore_with(&program(&text("p->next->prev != first")), coarse), Explored::Open);
}

#[test]
fn conditions_that_are_arguments() {
    let text = "int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) {
        int c = __VERIFIER_nondet_int(); assume(c >= 0); assume(c < 100 || c == 200); int big = c >= 100;
        if (big) c = 7; p = make(p, c); }
        while (p) { if (p->h < 0 || p->h > LIMIT) reach_error(); p = p->next; } return 0; }";
    check(&text.replace("LIMIT", "99"), true);
    check(&text.replace("LIMIT", "98"), false);
    // A tree.
    let text = "int main(void) { struct node *root = 0; while (__VERIFIER_nondet_int()) {
        int k = __VERIFIER_nondet_int(); assume(k >= 0 && k < 100); struct node *n = make(0, k);
        if (!root) { root = n; continue; }
        struct node *p = root;
        while (1) {
          if (k < p->h) { if (!p->prev) { p->prev = n; break; } p = p->prev; }
          else { if (!p->next) { p->next = n; break; } p = p->next; } } }
        int x = __VERIFIER_nondet_int();
        while (root && root->h != x) root = x < root->h ? root->prev : root->next;
        if (root && (x < 0 || x > LIMIT)) reach_error(); return 0; }";
    check(&text.replace("LIMIT", "99"), true);
    check(&text.replace("LIMIT", "98"), false);
}

#[test]
fn lists_without_a_number() {
    let text = "int main(void) { struct node *p = 0; while (__VERIFIER_nondet_int()) p = make(p, __VERIFIER_nondet_int());
        struct node **at = &p;
        while (*at) { if ((*at)->h == 3) { struct node *gone = *at; *at = gone->next; free(gone); } else at = &(*at)->next; }
        while (p) { if (p->h == NUMBER) reach_error(); p = p->next; } return 0; }";
    check(&text.replace("NUMBER", "3"), true);
    check(&text.replace("NUMBER", "4"), false);
}

#[test]
fn what_a_search_has_passed() {
    let find = "struct node *find(struct node *p, int key) { while (p && p->h != key) p = p->next; return p; }
        int main(void) { struct node *list = 0; while (__VERIFIER_nondet_int()) list = make(list, __VERIFIER_nondet_int());
            int key = __VERIFIER_nondet_int(); ";
    // What is not found is not there, and what is found is found again.
    let again = |keep: &str| {
        format!(
            "{find} struct node *found = find(list, key); {keep}
                for (struct node *p = list; p != found; p = p->next) if (p->h == key) reach_error(); return 0; }}"
        )
    };
    check(&again(""), true);
    check(&again("if (found && found->next) { list = make(list, key + 0); }"), false);
    check(&again("if (found) found = found->next;"), false);
    check(&again("key = __VERIFIER_nondet_int();"), false);
    check(&again("if (list) list->h = __VERIFIER_nondet_int();"), false);
    let added = |key: &str| {
        format!(
            "{find} if (!find(list, key)) list = make(list, {key});
                struct node *found = find(list, key); if (!found || found->h != key) reach_error(); return 0; }}"
        )
    };
    check(&added("key"), true);
    check(&added("key ^ 1"), false);
    // Longer lists than are told apart otherwise.
    let changed = |error: &str| {
        format!(
            "{find} struct node *found = find(list, key); if (!found) return 0; found->g = 42;
                struct node *again = find(list, key); if ({error}) reach_error(); return 0; }}"
        )
    };
    check(&changed("!again || again->g != 42"), true);
    check(&changed("again->next && again->next->h == key"), false);
}
