// SPDX-License-Identifier: Apache-2.0
//! Values that depend on where objects lie are arbitrary; those that only seem to are exact.

use cfa::{HavocOrigin, MachineModel, Op};

const ORDER: &str = "order of addresses of different objects";
const DISTANCE: &str = "distance of different objects";
const BITS: &str = "bits of an address";

/// What is arbitrary in a program because it depends on the layout.
fn open(text: &str, machine: MachineModel) -> Vec<String> {
    let program = crate::try_load(text, machine).expect("it loads");
    let origins = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Havoc { origin: HavocOrigin::Unmodelled { what }, .. } => Some(what.to_string()),
        _ => None,
    });
    origins.collect()
}

/// The same for statements after which `reach` is called if the last one is not 0.
fn check(statements: &[&str], expect: &[&str]) {
    for statement in statements {
        let text = format!(
            "typedef unsigned long U; void *malloc(U); int nondet_int(void); int a[9], b[9]; char c[40]; double d;
             struct node {{ struct node *next; int data; }} *list;
             int use(int *p, int *q) {{ return *p < *q; }}
             int main(void) {{ int n = nondet_int(), x = 0; int *p = a, *q = b, *r = malloc(40), *s;
               a[n] = 1; b[n] = 2; c[n] = 3; d = 1; *r = 4; {statement}; return x; }}"
        );
        for machine in [MachineModel::Ilp32, MachineModel::Lp64] {
            assert_eq!(open(&text, machine), expect, "{statement}");
        }
    }
}

#[test]
fn order_of_different_objects() {
    check(
        &[
            "x = a < b",
            "x = &a[n] <= &b[1]",
            "if (p < q) x = 1",
            "while (p > r) x++",
            "x = (U)p > (U)q",
            "x = p < (int *)n",
            "x = (U)p < 1000000",
            "s = n ? p : q; x = s < r",
            // Two nodes of a list, which have the same class.
            "for (n = 0; n < 2; n++) { struct node *m = malloc(16); m->next = list; list = m; } x = list < list->next",
            "s = 0; while (n--) { q = malloc(8); x |= q < s; s = q; }",
        ],
        &[ORDER],
    );
}

#[test]
fn distances_of_different_objects() {
    check(&["x = a - b", "x = p - q", "x = (U)p - (U)r", "x = &a[n] - b"], &[DISTANCE]);
}

#[test]
fn bits_of_addresses() {
    check(
        &[
            "x = (U)p / 16 % 64",
            "x = (U)r >> 4",
            "x = (U)p % 7",
            "x = (U)p * 31",
            "x = (U)p & 0xff0",
            "x = ((U)(c + n) & 3) != 0",
            "x = (char)(U)p == 0",
            "if ((char)(U)p) x = 1",
            "d = (U)p",
        ],
        &[BITS],
    );
}

#[test]
fn what_is_the_same_in_all_layouts() {
    check(
        &[
            "x = p == q || p != r",
            "x = !p && r",
            "x = a + n < a + 9",
            "for (s = p; s < p + 9; s++) x += *s",
            "s = p + 9; while (s-- > a) x += *s",
            "x = &a[n] - a",
            "s = r + n; x = s - r",
            "s = r + n; x = (U)s > (U)r",
            // One of several objects, but the same one.
            "int *t = n ? a : b, *end = t + 9; while (t < end) x += *t++",
            "x = use(p, q)",
            // What is aligned, marks in addresses, and values that are no addresses.
            "x = (U)p & 3",
            "x = (U)r % 8",
            "s = (int *)((U)p | 1); x = (U)s & 1; s = (int *)((U)s & ~1ul); x = *s",
            "x = *(int *)((U)(c + 15) & ~15ul)",
            "x = p != (int *)-1 && (U)p < (U)-4095",
            "s = (int *)((U)p ^ (U)q); x = *(int *)((U)s ^ (U)p)",
            "x = (int)(U)p; x = n < 3",
        ],
        &[],
    );
}

#[test]
fn parameters_that_point_into_one_object() {
    let program = |calls: &str| {
        format!(
            "int a[9], b[9]; void sort(int *low, int *high) {{ int *p = low; while (p < high) {{ *p = 1; p++; }}
               if (low < high) {{ sort(low, p - 1); sort(p, high); }} }}
             int main(void) {{ {calls} return 0; }}"
        )
    };
    for machine in [MachineModel::Ilp32, MachineModel::Lp64] {
        assert_eq!(open(&program("sort(a, a + 8); sort(b, b + 8);"), machine), [""; 0]);
        assert_eq!(open(&program("sort(a, a + 8); sort(b, a + 8);"), machine), [ORDER, ORDER]);
    }
}

/// Variables that hold numbers at some times and addresses at others are taken for numbers.
#[test]
fn numbers_among_addresses() {
    let text = "typedef unsigned long U; int a; int run(U arg) { return arg < 10; }
        int main(void) { a = 1; return run((U)&a) + run(3); }";
    assert_eq!(open(text, MachineModel::Ilp32), [""; 0]);
}

/// The direction in which bytes are copied does not matter between different objects.
#[test]
fn library_functions_compare_addresses() {
    let text = "void *memmove(void *, const void *, unsigned); char a[9], b[9];
        int main(void) { memmove(a, b, 9); return a[0]; }";
    assert_eq!(open(text, MachineModel::Ilp32), [""; 0]);
}

/// Both branches look at one value, and what a branch depends on is chosen anew each time.
#[test]
fn a_branch_that_depends_on_the_layout() {
    crate::check(
        "int a, b; int main(void) { int *p = &a, *q = &b; a = 1; b = 2; if (p < q) return *p; return *q; }",
        expect_test::expect![[r#"
            entry n0
            main(): n2 .. n10
              n0 -> n1: *(int *)536870912 = 0
              n1 -> n2: *(int *)536870944 = 0
              n2 -> n3: main::p = 536870912
              n3 -> n4: main::q = 536870944
              n4 -> n5: *(int *)536870912 = 1
              n5 -> n6: *(int *)536870944 = 2
              n6 -> n7: main::__layout = ? (order of addresses of different objects)
              n7 -> n8: [main::__layout != 0]
              n7 -> n9: [main::__layout == 0]
              n8 -> n10: main::__ret = *(int *)main::p
              n9 -> n10: main::__ret = *(int *)main::q
        "#]],
    );
}

/// Variables and members of structures that can only point into one object.
#[test]
fn the_only_object_of_its_class() {
    let program = |more: &str| {
        format!(
            "void *malloc(unsigned long); struct ring {{ char *start, *head, *end; }} ring; char *low, *high;
             unsigned nondet_uint(void); unsigned any(void) {{ return nondet_uint(); }}
             void make(unsigned n) {{ any(); ring.start = malloc(n); ring.end = ring.start + n; ring.head = ring.start; low = high = ring.start; }}
             int left(void) {{ return ring.end - ring.head; }}
             int main(void) {{ any(); make(9); ring.head++; high += any(); {more} return left() + (low < high); }}"
        )
    };
    for machine in [MachineModel::Ilp32, MachineModel::Lp64] {
        for text in ["", "left();", "for (int i = 0; i < 3; i++) left();"] {
            assert_eq!(open(&program(text), machine), [""; 0], "{text}");
        }
        for text in [
            "make(8);",
            "low = malloc(7);",
            "while (any()) make(5);",
            "if (any()) main();",
            "while (left() > 3) ring.start = malloc(6);",
        ] {
            assert_eq!(open(&program(text), machine), [DISTANCE, ORDER], "{text}");
        }
    }
}
