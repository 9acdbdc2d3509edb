// SPDX-License-Identifier: Apache-2.0
//! Orders of evaluation that C leaves open: all of them are explored, or the place is not supported; nothing else is refused.

use std::collections::BTreeSet;
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, Setup, Storage};
use cfa::{HavocOrigin, IntTy, MachineModel, Op, Program, Property, VarId};

const GLOBALS: &str = "typedef unsigned long U; int nondet_int(void); void *malloc(U); void free(void *);
    struct node { struct node *next; int data; } *list, nodes[2]; int g, h, a[4], *p = &g; int (*fp)(int); const int k = 3;
    int next(void) { return ++g; } int get(void) { return g; } int set(int x) { g = x; return x; }
    int other(void) { h++; return h; } int store(int *q) { *q = 1; return 2; } int load(int *q) { return *q; }
    int deep(int n) { return n ? deep(n - 1) : next(); } int input(void) { return nondet_int(); }
    int pure(int x) { int b[4] = {1, 2, 3, x}; int s = 0; for (int i = 0; i < 4; i++) s += b[i]; return s * k; }
    int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } int two(int x, int y) { return x - y; }
    int three(int x, int y, int z) { return x * 100 + y * 10 + z; }
    struct node *make(struct node *n) { list->next = n; return n; } int drop(void *q) { free(q); return 0; }
    struct node pair(int x) { struct node n = {0, x}; return n; } int sum(struct node n, int x) { return n.data + x; }
    struct node *leaf(int x) { struct node *n = malloc(16), *m = n; m->data = x; n->next = 0; return m; }
    struct node *over(struct node *n) { struct node *m = leaf(1); m->next = n; return m; }
    int length(struct node *a, struct node *b) { return a->data + b->data; }\n";

pub(super) fn program(statement: &str, machine: MachineModel) -> Program {
    let text = format!(
        "{GLOBALS} int x, z; int main(void) {{ int y = 0, i = 0; int *q = &z; fp = set; list = nodes; nodes[0].next = nodes;
          {statement}; return x; }}"
    );
    crate::try_load(&text, machine).unwrap_or_else(|error| panic!("{error}"))
}

fn is_choice(op: &Op) -> bool {
    match op {
        Op::Havoc { origin: HavocOrigin::Unmodelled { what }, .. } => {
            &**what == "order of evaluation that C leaves open"
        }
        _ => false,
    }
}

/// How many places are refused, and how many choices there are.
pub(super) fn places(program: &Program) -> (usize, usize) {
    let refused = |op: &Op| matches!(op, Op::Unsupported { construct } if construct.contains("order of evaluation"));
    let count = |is: &dyn Fn(&Op) -> bool| program.edges.iter().filter(|edge| is(&edge.op)).count();
    (count(&refused), count(&is_choice))
}

/// Makes inputs of the choices, which have no value that a run could be based on.
fn choices_as_inputs(program: &mut Program) {
    for edge in &mut program.edges {
        if is_choice(&edge.op)
            && let Op::Havoc { origin, .. } = &mut edge.op
        {
            *origin = HavocOrigin::Nondet { function: "choice".into() };
        }
    }
}

fn check(statements: &[&str], expect: (usize, usize)) {
    for statement in statements {
        for machine in [MachineModel::Ilp32, MachineModel::Lp64] {
            assert_eq!(places(&program(statement, machine)), expect, "{statement}");
        }
    }
}

/// Answers with the choices that are given, then with 0.
struct Choices(Vec<i128>, usize);

impl Inputs for Choices {
    fn value(&mut self, _asked: Asked, _ty: IntTy) -> Option<i128> {
        self.1 += 1;
        Some(self.0.get(self.1 - 1).copied().unwrap_or(0))
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(0)
    }
}

/// The values that `x` can have at the end.
pub(super) fn results(statement: &str) -> Vec<i128> {
    let mut program = program(statement, MachineModel::Lp64);
    assert_eq!(places(&program).0, 0, "{statement}");
    choices_as_inputs(&mut program);
    let x = program.vars.iter().position(|var| &*var.name == "x").map(VarId::new);
    let targets = program.targets(&Property::default_errors());
    let code = Rc::new(Code::new(&program, &Setup::new(&targets, Storage::Inputs)).unwrap());
    let mut found = BTreeSet::new();
    let mut todo = vec![Vec::new()];
    while let Some(choices) = todo.pop() {
        let mut machine = Machine::new(Rc::clone(&code), 1 << 20);
        let mut inputs = Choices(choices.clone(), 0);
        assert_eq!(machine.run(&mut inputs, u64::MAX), Some(End::Returned), "{statement}");
        found.insert(machine.variable(&program, x.unwrap()).unwrap());
        for at in choices.len()..inputs.1 {
            let mut next = choices.clone();
            next.resize(at, 0);
            next.push(1);
            todo.push(next);
        }
    }
    found.into_iter().collect()
}

#[test]
fn all_orders_are_explored() {
    for (statement, expect) in [
        ("x = next() - next()", vec![-1, 1]),
        ("x = next() - get()", vec![0, 1]),
        ("g = 1; x = get() < set(3)", vec![0, 1]),
        ("x = two(next(), next())", vec![-1, 1]),
        ("x = two(get(), deep(3))", vec![-1, 0]),
        ("x = next() == get()", vec![0, 1]),
        ("x = g + next()", vec![1, 2]),
        ("x = next() + g", vec![1, 2]),
        ("g = 1; x = g - set(4)", vec![-3, 0]),
        ("x = *p + next()", vec![1, 2]),
        ("x = two(g, next())", vec![-1, 0]),
        ("a[g] = next(); x = a[0] * 10 + a[1]", vec![1, 10]),
        ("x = 10 * (a[get()] = 7) + set(1)", vec![71]),
        ("int b[2] = {next(), next()}; x = b[0] * 10 + b[1]", vec![12, 21]),
        ("struct node n = {0, next() * 10 + g}; x = n.data", vec![10, 11]),
        ("x = fp(3) * 10 + get()", vec![30, 33]),
        ("x = two(fp(3) * 10, g)", vec![27, 30]),
        ("x = store(a) * 10 + a[0]", vec![20, 21]),
        // Three operands, in six orders.
        ("x = next() * 100 + next() * 10 + next()", vec![123, 132, 213, 231, 312, 321]),
        ("x = three(next(), next(), next())", vec![123, 132, 213, 231, 312, 321]),
        ("x = three(next(), g, next())", vec![102, 112, 122, 201, 211, 221]),
        ("x = three(next(), other(), next())", vec![112, 211]),
        ("x = next() * 10 + other() * 100 + next()", vec![112, 121]),
        // The arguments of a call are evaluated before it.
        ("x = 10 * two(next(), 5) + next()", vec![-38, -29]),
        ("x = 10 * two(next(), next()) + other()", vec![-9, 11]),
        // Within others: which of the calls on both sides come first.
        ("x = i ? 1 : 10 * next() + get()", vec![10, 11]),
        ("x = 10 * (i ? next() : set(5)) + get()", vec![50, 55]),
    ] {
        assert_eq!(results(statement), expect, "{statement}");
    }
}

#[test]
fn orders_that_are_refused() {
    for statement in [
        // More than one thing matters.
        "x = next() + two(next(), g)",
        "x = two(next(), g++)",
        "x = set(g) + set(g + 1)",
        "x = (i ? next() + 1 : next()) + (next(), next())",
        "while (i < 3 && ({ while (get() < i) next(); 1; }) + get()) i++",
        "x = next() + next() + next() + next() + next()",
        "g = 1; x = 10 * (get() ? get() : 7) + set(0)",
        // Atomic access is one by a call.
        "x = __sync_fetch_and_add(p, 1) - __sync_fetch_and_add(p, 2)",
        "x = two(*p, __atomic_exchange_n(p, 3, 5))",
        // A structure in memory that is passed.
        "x = sum(*list, make(0) == 0)",
    ] {
        assert_eq!(places(&program(statement, MachineModel::Lp64)).0, 1, "{statement}");
    }
}

#[test]
fn orders_of_accesses() {
    for (statement, choices) in [
        ("x = a[get()] + set(1)", 1),
        ("(&a[g])[next()] = 1", 1),
        ("if (next() == get()) x = 1", 1),
        ("while (get() - next()) x++", 1),
        ("x = load(q) + store(q)", 1),
        ("list->next->data = load(q) + (int)(U)make(0)", 1),
        ("list->next->next = make(0)", 1),
        ("struct node *m = malloc(16); x = drop(m) + m->data", 1),
        ("x = 1 + (2 - deep(1)) * next()", 1),
        ("x = next() + next() + next()", 5),
        ("a[next()] += next()", 1),
        ("x = (next() + next()) * next() + two(next(), 1)", 23),
    ] {
        check(&[statement], (0, choices));
    }
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
        (0, 0),
    );
}

/// What stands in front of the place is not touched, and what is refused is refused before anything is evaluated.
#[test]
fn the_place() {
    crate::check(
        "int g; int f(void) { return ++g; } int main(void) { int x = 1; if (x) return f() + (f(), f()); return 2; }",
        expect_test::expect![[r#"
            entry n3
            f(): n0 .. n2
              n0 -> n1: g = g + 1
              n1 -> n2: f::__ret = g
            main(): n4 .. n12
              n3 -> n4: g = 0
              n4 -> n5: main::x = 1
              n5 -> n6: [main::x != 0]
              n5 -> n11: [main::x == 0]
              n6 -> n7: unsupported: operands that change what others use, in an order of evaluation that C leaves open
              n7: call f
              n7 -> n8: main::__tmp1 = call f()
              n8: call f
              n8 -> n9: call f()
              n9: call f
              n9 -> n10: main::__tmp2 = call f()
              n10 -> n12: main::__ret = main::__tmp1 + main::__tmp2
              n11 -> n12: main::__ret = 2
        "#]],
    );
}
