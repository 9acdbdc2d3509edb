// SPDX-License-Identifier: Apache-2.0
//! Pointers as integers: what they are copied, compared and converted to, and what lies at addresses.

use expect_test::{Expect, expect};

use crate::check;

/// Compares the dump of a program for both machines.
fn check_models(text: &str, narrow: Expect, wide: Expect) {
    check(text, narrow);
    let dump = crate::try_load(text, cfa::MachineModel::Lp64).expect("it loads").dump();
    let lines: Vec<&str> = dump.lines().map(|line| line.split("   //").next().unwrap_or(line)).collect();
    wide.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn copies_and_comparisons() {
    check(
        "struct s; void *g; char *h = (char *)1; struct s *id(struct s *q) { return q; }
         int main(void) { char *p; void *q = 0; struct s *r = (struct s *)p; static int *n = 0; g = q; r = id(r); int x;
           x = p == 0; x = !q; x = p && g; x = r != (struct s *)-1; x = p < h; x = n >= (int *)x; p = x ? p : 0; q = p ?: q;
           if (p) x = 1; if (!(q != (void *)0)) x = 2; while (g) g = 0; return x; }",
        expect![[r#"
            entry n2
            id(id::q): n0 .. n1
              n0 -> n1: id::__ret = id::q
            main(): n5 .. n30
              n2 -> n3: g = 0
              n3 -> n4: h = 1
              n4 -> n5: main::n = 0
              n5 -> n6: main::p = ?
              n6 -> n7: main::q = 0
              n7 -> n8: main::r = main::p
              n8 -> n9: g = main::q
              n9: call id
              n9 -> n10: main::r = call id(main::r)
              n10 -> n11: main::x = ?
              n11 -> n12: main::x = main::p == 0
              n12 -> n13: main::x = !main::q
              n13 -> n14: main::x = main::p && g
              n14 -> n15: main::x = main::r != 4294967295
              n15 -> n16: main::x = main::p < h
              n16 -> n17: main::x = (unsigned)main::x <= main::n
              n17 -> n18: main::p = main::x ? main::p : 0
              n18 -> n19: main::__tmp1 = main::p
              n19 -> n20: [main::__tmp1 != 0]
              n19 -> n21: [main::__tmp1 == 0]
              n20 -> n22: main::__tmp2 = main::__tmp1
              n21 -> n22: main::__tmp2 = main::q
              n22 -> n23: main::q = main::__tmp2
              n23 -> n24: [main::p != 0]
              n23 -> n25: [main::p == 0]
              n24 -> n25: main::x = 1
              n25 -> n27: [main::q != 0]
              n25 -> n26: [main::q == 0]
              n26 -> n27: main::x = 2
              n27: loop
              n27 -> n28: [g != 0]
              n27 -> n29: [g == 0]
              n28 -> n27: g = 0
              n29 -> n30: main::__ret = main::x
        "#]],
    );
}

#[test]
fn conversions() {
    check_models(
        "int main(void) { short s; unsigned u; long long l; char c; _Bool b; void *p = (void *)s; void *q = (void *)u;
           p = (void *)l; l = (long long)p; l = (unsigned long long)q; u = (unsigned)p; u = (unsigned long)q; s = (short)p;
           b = p; c = (char)(long)p; if (p == (void *)-1 && l) return 1;
           l = (unsigned long long)(void *)0x80000000u; return p == q; }",
        expect![[r#"
            entry n0
            main(): n0 .. n20
              n0 -> n1: main::s = ?
              n1 -> n2: main::u = ?
              n2 -> n3: main::l = ?
              n3 -> n4: main::c = ?
              n4 -> n5: main::b = ?
              n5 -> n6: main::p = (unsigned)main::s
              n6 -> n7: main::q = main::u
              n7 -> n8: main::p = (unsigned)main::l
              n8 -> n9: main::l = (int64_t)(int)main::p
              n9 -> n10: main::l = (int64_t)(int)main::q
              n10 -> n11: main::u = main::p
              n11 -> n12: main::u = main::q
              n12 -> n13: main::s = (int16_t)main::p
              n13 -> n14: main::b = (uint8_t)(main::p != 0)
              n14 -> n15: main::c = (int8_t)main::p
              n15 -> n16: [main::p == 4294967295]
              n15 -> n18: [main::p != 4294967295]
              n16 -> n17: [main::l != 0]
              n16 -> n18: [main::l == 0]
              n17 -> n20: main::__ret = 1
              n18 -> n19: main::l = -2147483648
              n19 -> n20: main::__ret = main::p == main::q
        "#]],
        expect![[r#"
            entry n0
            main(): n0 .. n20
              n0 -> n1: main::s = ?
              n1 -> n2: main::u = ?
              n2 -> n3: main::l = ?
              n3 -> n4: main::c = ?
              n4 -> n5: main::b = ?
              n5 -> n6: main::p = (uint64_t)main::s
              n6 -> n7: main::q = (uint64_t)main::u
              n7 -> n8: main::p = (uint64_t)main::l
              n8 -> n9: main::l = (int64_t)main::p
              n9 -> n10: main::l = (int64_t)main::q
              n10 -> n11: main::u = (unsigned)main::p
              n11 -> n12: main::u = (unsigned)main::q
              n12 -> n13: main::s = (int16_t)main::p
              n13 -> n14: main::b = (uint8_t)(main::p != 0)
              n14 -> n15: main::c = (int8_t)main::p
              n15 -> n16: [main::p == 18446744073709551615]
              n15 -> n18: [main::p != 18446744073709551615]
              n16 -> n17: [main::l != 0]
              n16 -> n18: [main::l == 0]
              n17 -> n20: main::__ret = 1
              n18 -> n19: main::l = 2147483648
              n19 -> n20: main::__ret = main::p == main::q
        "#]],
    );
}

#[test]
fn inputs_and_results() {
    check(
        "void *__VERIFIER_nondet_pointer(void); void abort(void); void *f(void) { return __VERIFIER_nondet_pointer(); }
         void *g(void) { return 0; } void *h(int x) { if (x) return (void *)x; }
         int main(void) { void *p = f(), *q = h(2); g(); __VERIFIER_nondet_pointer(); if (p == q) abort(); return h(1) == 0; }",
        expect![[r#"
            entry n8
            f(): n0 .. n1
              n0: call __VERIFIER_nondet_pointer
              n0 -> n1: f::__ret = __VERIFIER_nondet_pointer()
            g(): n2 .. n3
              n2 -> n3: g::__ret = 0
            h(h::x): n4 .. n7
              n4 -> n5: [h::x != 0]
              n4 -> n6: [h::x == 0]
              n5 -> n7: h::__ret = (unsigned)h::x
              n6 -> n7: h::__ret = ?
            main(): n8 .. n16
              n8: call f
              n8 -> n9: main::p = call f()
              n9: call h
              n9 -> n10: main::q = call h(2)
              n10: call g
              n10 -> n11: call g()
              n11: call __VERIFIER_nondet_pointer
              n11 -> n12: main::__tmp1 = __VERIFIER_nondet_pointer()
              n12 -> n13: [main::p == main::q]
              n12 -> n14: [main::p != main::q]
              n13: call abort
              n14: call h
              n14 -> n15: main::__tmp2 = call h(1)
              n15 -> n16: main::__ret = main::__tmp2 == 0
        "#]],
    );
}

#[test]
fn addresses() {
    check(
        "int x, a[2]; char *s = \"s\"; int *u = &x; int *f(int *p, char *t, int *v) { return v ? p : 0; } int g(char *t) { return t != 0; }
         struct { int *m; } r; int main(void) { int *p = &x, *q, *w = a; q = p; q++; p = q + 1; p = r.m; f(p, \"t\", 0); f(0, 0, q);
           if (s) x = 1; if (u == w) x = 2; g(\"t\"); p = *&p; x = p - q; x = &x == w; x = *w; x = w[1]; x = p->m; x = (int)&x;
           x = (x ? w : a) == q; w += 1; return x; }",
        expect![[r#"
            entry n4
            f(f::p, f::t, f::v): n0 .. n1
              n0 -> n1: f::__ret = f::v ? f::p : 0
            g(g::t): n2 .. n3
              n2 -> n3: g::__ret = g::t != 0
            main(): n9 .. n43
              n4 -> n5: memset(536870944, 0, 8)
              n5 -> n6: *(int *)536870912 = 0
              n6 -> n7: s = 536870976
              n7 -> n8: u = 536870912
              n8 -> n9: r.m = 0
              n9 -> n10: *(unsigned *)536871008 = 536870912
              n10 -> n11: main::q = ?
              n11 -> n12: main::w = 536870944
              n12 -> n13: main::q = *(unsigned *)536871008
              n13 -> n14: main::q = main::q + 4
              n14 -> n15: *(unsigned *)536871008 = main::q + 4
              n15 -> n16: *(unsigned *)536871008 = r.m
              n16 -> n17: main::__tmp1 = *(unsigned *)536871008
              n17: call f
              n17 -> n18: call f(main::__tmp1, 536871040, 0)
              n18: call f
              n18 -> n19: call f(0, 0, main::q)
              n19 -> n20: [s != 0]
              n19 -> n21: [s == 0]
              n20 -> n21: *(int *)536870912 = 1
              n21 -> n22: [u == main::w]
              n21 -> n23: [u != main::w]
              n22 -> n23: *(int *)536870912 = 2
              n23: call g
              n23 -> n24: call g(536871040)
              n24 -> n25: main::__tmp2 = *(unsigned *)536871008
              n25 -> n26: *(unsigned *)536871008 = main::__tmp2
              n26 -> n27: main::__tmp3 = *(unsigned *)536871008
              n27 -> n28: *(int *)536870912 = ((int)main::__tmp3 - (int)main::q) / 4
              n28 -> n29: *(int *)536870912 = main::w == 536870912
              n29 -> n30: main::__tmp4 = *(int *)main::w
              n30 -> n31: *(int *)536870912 = main::__tmp4
              n31 -> n32: main::__tmp5 = *(int *)(main::w + 4)
              n32 -> n33: *(int *)536870912 = main::__tmp5
              n33 -> n34: main::__tmp6 = *(unsigned *)536871008
              n34 -> n35: unsupported: the member 'm'
              n35 -> n36: unsupported: member
              n36 -> n37: *(int *)536870912 = main::__tmp7
              n37 -> n38: main::__tmp8 = 536870912
              n38 -> n39: *(int *)536870912 = (int)main::__tmp8
              n39 -> n40: main::__tmp9 = *(int *)536870912
              n40 -> n41: *(int *)536870912 = (main::__tmp9 ? main::w : 536870944) == main::q
              n41 -> n42: main::w = main::w + 4
              n42 -> n43: main::__ret = *(int *)536870912
        "#]],
    );
}

#[test]
fn pointers_in_memory() {
    check(
        "int x; char *name = \"n\"; int *all[2] = { &x, 0 }; extern int *e; void dead(int *p) { if (p && name) x = 3; }
         int *id(int *p, char *unused, int n) { int *copy = p; return copy; } void twice(int *p) { if (x) twice(p); }
         int main(int argc, char **argv) { int *p = &x, *q; q = p + 1; p = q; *&q; q = id(p, \"s\", 1); char **v = argv; v++;
           q = x ? p : &x; twice(q); name = \"m\"; p = e; e = id(0, 0, 2); return 0; }",
        expect![[r#"
            entry n12
            dead(dead::p): n0 .. n3
              n0 -> n1: [dead::p != 0]
              n0 -> n3: [dead::p == 0]
              n1 -> n2: [name != 0]
              n1 -> n3: [name == 0]
              n2 -> n3: *(int *)536870912 = 3
            id(id::p, id::unused, id::n): n4 .. n6
              n4 -> n5: id::copy = id::p
              n5 -> n6: id::__ret = id::copy
            twice(twice::p): n7 .. n11
              n7 -> n8: skip
              n8: loop
              n8 -> n9: twice::__tmp1 = *(int *)536870912
              n9 -> n10: [twice::__tmp1 != 0]
              n9 -> n11: [twice::__tmp1 == 0]
              n10: call twice
              n10 -> n8: skip
            main(main::argc, main::argv): n17 .. n33
              n12 -> n13: *(int *)536870912 = 0
              n13 -> n14: name = 536870944
              n14 -> n15: e = ?
              n15 -> n16: main::argc = ?
              n16 -> n17: main::argv = malloc(((unsigned)main::argc + 1) * 4)
              n17 -> n18: main::p = 536870912
              n18 -> n19: *(unsigned *)536871008 = main::p + 4
              n19 -> n20: main::p = *(unsigned *)536871008
              n20 -> n21: main::__tmp1 = *(unsigned *)536871008
              n21: call id
              n21 -> n22: main::__tmp2 = call id(main::p, 536871040, 1)
              n22 -> n23: *(unsigned *)536871008 = main::__tmp2
              n23 -> n24: main::v = main::argv
              n24 -> n25: main::v = main::v + 4
              n25 -> n26: main::__tmp3 = *(int *)536870912
              n26 -> n27: *(unsigned *)536871008 = main::__tmp3 ? main::p : 536870912
              n27 -> n28: main::__tmp4 = *(unsigned *)536871008
              n28: call twice
              n28 -> n29: call twice(main::__tmp4)
              n29 -> n30: name = 536871072
              n30 -> n31: main::p = e
              n31: call id
              n31 -> n32: e = call id(0, 0, 2)
              n32 -> n33: main::__ret = 0
        "#]],
    );
}

#[test]
fn pointers_from_outside() {
    check(
        "extern char *e; int main(int argc, char **argv) { if (argc && !argv) return 1; return e == 0; }",
        expect![[r#"
            entry n0
            main(main::argc, main::argv): n4 .. n8
              n0 -> n1: e = ?
              n1 -> n2: main::argc = ?
              n2 -> n3: [main::argc >= 0]
              n2 -> n9: [main::argc < 0]
              n3 -> n4: main::argv = malloc(((unsigned)main::argc + 1) * 4)
              n4 -> n5: [main::argc != 0]
              n4 -> n7: [main::argc == 0]
              n5 -> n7: [main::argv != 0]
              n5 -> n6: [main::argv == 0]
              n6 -> n8: main::__ret = 1
              n7 -> n8: main::__ret = e == 0
        "#]],
    );
    // Whether the object of an unknown function is one of the program is nothing that a counterexample can rest on, unless it is
    // compared with one.
    check(
        "int g, *p = &g, *get(void); int main(void) { int *q = get(); *q = 1; return g; }",
        expect![[r#"
            entry n0
            main(): n2 .. n7
              n0 -> n1: *(int *)536870912 = 0
              n1 -> n2: p = 536870912
              n2: call get
              n2 -> n3: main::q = get()
              n3 -> n4: main::__foreign = ? (which object an address from outside belongs to)
              n4 -> n5: [main::__foreign == 0]
              n4 -> n5: [main::__foreign != 0]
              n5 -> n6: *(int *)main::q = 1
              n6 -> n7: main::__ret = *(int *)536870912
        "#]],
    );
    check(
        "int g, *get(void); int main(void) { int *q = get(); if (q == &g) *q = 1; return g; }",
        expect![[r#"
            entry n0
            main(): n1 .. n5
              n0 -> n1: *(int *)536870912 = 0
              n1: call get
              n1 -> n2: main::q = get()
              n2 -> n3: [main::q == 536870912]
              n2 -> n4: [main::q != 536870912]
              n3 -> n4: *(int *)main::q = 1
              n4 -> n5: main::__ret = *(int *)536870912
        "#]],
    );
}
