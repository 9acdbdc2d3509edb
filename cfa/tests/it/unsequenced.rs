// SPDX-License-Identifier: Apache-2.0
//! Orders of evaluation that C leaves open: what depends on them is not supported, and nothing else is refused.

use cfa::{MachineModel, Op};

const GLOBALS: &str = "typedef unsigned long U; int nondet_int(void); void *malloc(U); void free(void *);
    struct node { struct node *next; int data; } *list, nodes[2]; int g, h, a[4], *p = &g; int (*fp)(int); const int k = 3;
    int next(void) { return ++g; } int get(void) { return g; } int set(int x) { g = x; return x; }
    int other(void) { h++; return h; } int store(int *q) { *q = 1; return 2; } int load(int *q) { return *q; }
    int deep(int n) { return n ? deep(n - 1) : next(); } int input(void) { return nondet_int(); }
    int pure(int x) { int b[4] = {1, 2, 3, x}; int s = 0; for (int i = 0; i < 4; i++) s += b[i]; return s * k; }
    int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } int two(int x, int y) { return x - y; }
    struct node *make(struct node *n) { list->next = n; return n; } int drop(void *q) { free(q); return 0; }
    struct node pair(int x) { struct node n = {0, x}; return n; } int sum(struct node n, int x) { return n.data + x; }
    struct node *leaf(int x) { struct node *n = malloc(16), *m = n; m->data = x; n->next = 0; return m; }
    struct node *over(struct node *n) { struct node *m = leaf(1); m->next = n; return m; }
    int length(struct node *a, struct node *b) { return a->data + b->data; }\n";

fn refused(statement: &str, machine: MachineModel) -> usize {
    let text = format!(
        "{GLOBALS} int main(void) {{ int x = 0, y = 0, i = 0; int *q = &x; fp = set; list = nodes; nodes[0].next = nodes;
          {statement}; return x; }}"
    );
    let program = crate::try_load(&text, machine).unwrap_or_else(|error| panic!("{error}"));
    let unsupported =
        |op: &Op| matches!(op, Op::Unsupported { construct } if construct.contains("order of evaluation"));
    program.edges.iter().filter(|edge| unsupported(&edge.op)).count()
}

fn check(statements: &[&str], expect: usize) {
    for statement in statements {
        for machine in [MachineModel::Ilp32, MachineModel::Lp64] {
            assert_eq!(refused(statement, machine), expect, "{statement}");
        }
    }
}

#[test]
fn orders_that_matter() {
    check(
        &[
            // Both write, one writes and one reads, also within others.
            "x = next() - next()",
            "x = next() - get()",
            "x = get() < set(3)",
            "x = two(next(), next())",
            "x = two(get(), deep(3))",
            "x = 1 + (2 - deep(1)) * next()",
            "if (next() == get()) x = 1",
            "while (get() - next()) x++",
            // Atomic access is one by a call.
            "x = __sync_fetch_and_add(p, 1) - __sync_fetch_and_add(p, 2)",
            "x = two(*p, __atomic_exchange_n(p, 3, 5))",
            // A call and what is beside it.
            "x = g + next()",
            "x = next() + g",
            "x = g - set(4)",
            "x = *p + next()",
            "x = two(g, next())",
            "x = two(next(), g++)",
            "a[g] = next()",
            "a[next()] += next()",
            "x = a[get()] + set(1)",
            "(&a[g])[next()] = 1",
            "int b[2] = {next(), next()}; x = b[0]",
            "x = fp(3) + get()",
            "x = two(fp(3), g)",
            // Memory.
            "x = store(a) + a[0]",
            "x = load(q) + store(q)",
            "list->next->data = load(&x) + (int)(U)make(0)",
            "list->next->next = make(0)",
            "struct node *m = malloc(16); x = drop(m) + m->data",
            "x = sum(*list, make(0) == 0)",
        ],
        1,
    );
}

#[test]
fn orders_that_do_not_matter() {
    check(
        &[
            "x = next(); x -= next()",
            "x = next() && next()",
            "x = next() || get()",
            "x = (next(), next())",
            "x = x ? next() : get()",
            "x += next()",
            "g += next()",
            "x = next() + other()",
            "x = get() + get()",
            "x = input() - input()",
            "x = two(input(), nondet_int())",
            "x = pure(1) + pure(2)",
            "x = fib(5)",
            "x = i + next()",
            "x = next() + k",
            "x = k * next()",
            "x = fp == set",
            "a[i] = next()",
            "a[i++] = next()",
            "list->data = next()",
            "x = store(q) + h",
            "x = load(q) + load(a)",
            "x = pair(1).data + pair(2).data",
            "x = sum(pair(1), fib(3))",
            "x = length(leaf(1), leaf(2))",
            "x = length(leaf(1), over(leaf(2)))",
            "x = sizeof(next() + next())",
            "return next(); x = next() + next()",
        ],
        0,
    );
}

/// What stands in front of the place is not touched, and what is refused is refused before anything is evaluated.
#[test]
fn the_place() {
    crate::check(
        "int g; int f(void) { return ++g; } int main(void) { int x = 1; if (x) return f() + f(); return 2; }",
        expect_test::expect![[r#"
            entry n3
            f(): n0 .. n2
              n0 -> n1: g = g + 1
              n1 -> n2: f::__ret = g
            main(): n4 .. n11
              n3 -> n4: g = 0
              n4 -> n5: main::x = 1
              n5 -> n6: [main::x != 0]
              n5 -> n10: [main::x == 0]
              n6 -> n7: unsupported: operands that change what others use, in an order of evaluation that C leaves open
              n7: call f
              n7 -> n8: main::__tmp1 = call f()
              n8: call f
              n8 -> n9: main::__tmp2 = call f()
              n9 -> n11: main::__ret = main::__tmp1 + main::__tmp2
              n10 -> n11: main::__ret = 2
        "#]],
    );
}
