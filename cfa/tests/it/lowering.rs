// SPDX-License-Identifier: Apache-2.0
//! One dump for each kind of statement and expression.

use expect_test::expect;

use crate::{check, check_body};

#[test]
fn declarations() {
    check_body(
        "int a, b = 3; unsigned char c = 300; { int a = b; a++; } { long a; }",
        expect![[r#"
            main(): n7 .. n14
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: a = ?
              n8 -> n9: b = 3
              n9 -> n10: c = 44
              n10 -> n11: a#2 = b
              n11 -> n12: a#2 = a#2 + 1
              n12 -> n13: a#3 = ?
              n13 -> n14: __ret = 0
        "#]],
    );
}

#[test]
fn variables_in_their_own_initialiser() {
    check_body(
        "while (y) { int x = x + 1; y = x; } int z = sizeof(z);",
        expect![[r#"
        main(): n7 .. n15
          n4 -> n5: x = ?
          n5 -> n6: y = ?
          n6 -> n7: z = ?
          n7 -> n8: skip
          n8: loop
          n8 -> n9: [y != 0]
          n8 -> n12: [y == 0]
          n9 -> n10: x = ?
          n10 -> n11: x = x + 1
          n11 -> n8: y = x
          n12 -> n13: z = ?
          n13 -> n14: z = 4
          n14 -> n15: __ret = 0
    "#]],
    );
}

#[test]
fn uninitialised_in_a_loop() {
    check_body(
        "while (x) { int a; y = a; }",
        expect![[r#"
            main(): n7 .. n12
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: skip
              n8: loop
              n8 -> n9: [x != 0]
              n8 -> n11: [x == 0]
              n9 -> n10: a = ?
              n10 -> n8: y = a
              n11 -> n12: __ret = 0
        "#]],
    );
}

#[test]
fn globals_and_static_locals() {
    check(
        "int a; int b = 2; int a = 1; extern int e; static unsigned char c = 300; int d = sizeof(int) * 2;
         int arr[3] = {1, 2}; float fl = 1.5; char *s = \"x\"; struct { int i; } st = { 1 };
         int f(void) { static int n = 5; static int m; { static int n; n++; } return n++ + m; }
         int main(int argc, char **argv) { return f() + argc; }",
        expect![[r#"
            entry n5
            f(): n0 .. n4
              n0 -> n1: f::n#2 = f::n#2 + 1
              n1 -> n2: f::__tmp1 = f::n
              n2 -> n3: f::n = f::n + 1
              n3 -> n4: f::__ret = f::__tmp1 + f::m
            main(main::argc): n14 .. n16
              n5 -> n6: b = 2
              n6 -> n7: a = 1
              n7 -> n8: e = ?
              n8 -> n9: c = 44
              n9 -> n10: d = 8
              n10 -> n11: f::n = 5
              n11 -> n12: f::m = 0
              n12 -> n13: f::n#2 = 0
              n13 -> n14: main::argc = ?
              n14: call f
              n14 -> n15: main::__tmp1 = call f()
              n15 -> n16: main::__ret = main::__tmp1 + main::argc
        "#]],
    );
}

#[test]
fn if_else() {
    check_body(
        "if (x) y = 1; else if (!(x < z)) y = 2; else y = 3; if (y == 0) ; if (x != 0 && !!y) z = 1;",
        expect![[r#"
            main(): n7 .. n17
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: [x != 0]
              n7 -> n9: [x == 0]
              n8 -> n12: y = 1
              n9 -> n10: [x < z]
              n9 -> n11: [x >= z]
              n10 -> n12: y = 3
              n11 -> n12: y = 2
              n12 -> n13: [y != 0]
              n12 -> n13: [y == 0]
              n13 -> n14: [x != 0]
              n13 -> n16: [x == 0]
              n14 -> n15: [y != 0]
              n14 -> n16: [y == 0]
              n15 -> n16: z = 1
              n16 -> n17: __ret = 0
        "#]],
    );
}

#[test]
fn loops() {
    check_body(
        "while (x > 0) { if (y) break; if (z) continue; x--; } do { y++; if (x) continue; } while (y < 3);
         for (int i = 0, j = 1; i < j; i++) x += i; for (;;) { z++; }",
        expect![[r#"
            main(): n7 .. n21
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: skip
              n8: loop
              n8 -> n9: [x > 0]
              n8 -> n12: [x <= 0]
              n9 -> n12: [y != 0]
              n9 -> n10: [y == 0]
              n10 -> n8: [z != 0]
              n10 -> n11: [z == 0]
              n11 -> n8: x = x - 1
              n12: loop
              n12 -> n13: y = y + 1
              n13 -> n14: [x != 0]
              n13 -> n14: [x == 0]
              n14 -> n12: [y < 3]
              n14 -> n15: [y >= 3]
              n15 -> n16: i = 0
              n16 -> n17: j = 1
              n17: loop
              n17 -> n18: [i < j]
              n17 -> n20: [i >= j]
              n18 -> n19: x = x + i
              n19 -> n17: i = i + 1
              n20: loop
              n20 -> n20: z = z + 1
        "#]],
    );
}

#[test]
fn constant_conditions() {
    check_body(
        "if (0) x = 1; else x = 2; while (1) { if (x) break; } if (1 || y) z = 0; do ; while (0);",
        expect![[r#"
            main(): n7 .. n11
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: x = 2
              n8: loop
              n8 -> n9: [x != 0]
              n8 -> n8: [x == 0]
              n9 -> n10: z = 0
              n10 -> n11: __ret = 0
        "#]],
    );
}

#[test]
fn endless_loops() {
    check_body(
        "if (x) while (1); if (y) { L: goto L; } for (;;) ;",
        expect![[r#"
            main(): n7 .. n12
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: [x != 0]
              n7 -> n9: [x == 0]
              n8: loop
              n8 -> n8: skip
              n9 -> n10: [y != 0]
              n9 -> n11: [y == 0]
              n10: loop, label L
              n10 -> n10: skip
              n11: loop
              n11 -> n11: skip
        "#]],
    );
}

#[test]
fn switches() {
    check_body(
        "switch (x) { case 1: case 2: y = 1; case 3: y = 2; break; default: y = 3; case 'a': { y = 4; break; } }
         switch ((unsigned char)x) { case 256: y = 5; break; case 1: while (1) { if (z) break; switch (z) { case 7: z = 8; } } }",
        expect![[r#"
            main(): n7 .. n23
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n9: [x == 1]
              n7 -> n8: [x != 1]
              n8 -> n9: [x == 2]
              n8 -> n10: [x != 2]
              n9 -> n11: y = 1
              n10 -> n11: [x == 3]
              n10 -> n12: [x != 3]
              n11 -> n15: y = 2
              n12 -> n14: [x == 97]
              n12 -> n13: [x != 97]
              n13 -> n14: y = 3
              n14 -> n15: y = 4
              n15 -> n16: __tmp1 = (int)(uint8_t)x
              n16 -> n17: [__tmp1 == 256]
              n16 -> n18: [__tmp1 != 256]
              n17 -> n22: y = 5
              n18 -> n19: [__tmp1 == 1]
              n18 -> n22: [__tmp1 != 1]
              n19: loop
              n19 -> n22: [z != 0]
              n19 -> n20: [z == 0]
              n20 -> n21: [z == 7]
              n20 -> n19: [z != 7]
              n21 -> n19: z = 8
              n22 -> n23: __ret = 0
        "#]],
    );
}

#[test]
fn switch_over_a_declaration() {
    check_body(
        "switch (x) { int a; case 0: { int b = 1; case 1: y = a + b; } }",
        expect![[r#"
            main(): n7 .. n15
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: [x != 0]
              n7 -> n11: [x == 0]
              n8 -> n9: [x == 1]
              n8 -> n14: [x != 1]
              n9 -> n10: b = ?
              n10 -> n13: a = ?
              n11 -> n12: a = ?
              n12 -> n13: b = 1
              n13 -> n14: y = a + b
              n14 -> n15: __ret = 0
        "#]],
    );
}

#[test]
fn gotos() {
    check_body(
        "goto in; { int a = 1; in: y = a; if (y) goto out; } back: x++; if (x < 9) goto back; out: ;",
        expect![[r#"
            main(): n7 .. n13
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: a = ?
              n8: label in
              n8 -> n9: y = a
              n9 -> n12: [y != 0]
              n9 -> n10: [y == 0]
              n10: loop, label back
              n10 -> n11: x = x + 1
              n11 -> n10: [x < 9]
              n11 -> n12: [x >= 9]
              n12: label out
              n12 -> n13: __ret = 0
        "#]],
    );
}

#[test]
fn logical_values() {
    check_body(
        "x = y && z; x = y || !z; x = (y && f(1)) || z; x = !y; x = y ? z : 3u; x = f(1) ? 1 : 0;",
        expect![[r#"
            main(): n7 .. n20
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: x = y && z
              n8 -> n9: x = y || !z
              n9 -> n10: [y != 0]
              n9 -> n13: [y == 0]
              n10: call f
              n10 -> n11: __tmp1 = call f(1)
              n11 -> n12: [__tmp1 != 0]
              n11 -> n13: [__tmp1 == 0]
              n12 -> n14: __tmp2 = 1
              n13 -> n14: __tmp2 = 0
              n14 -> n15: x = __tmp2 || z
              n15 -> n16: x = !y
              n16 -> n17: x = (int)(y ? (unsigned)z : 3)
              n17: call f
              n17 -> n18: __tmp3 = call f(1)
              n18 -> n19: x = __tmp3 != 0
              n19 -> n20: __ret = 0
        "#]],
    );
}

#[test]
fn logical_conditions() {
    check_body(
        "if (x && (y || !z) && f(1)) x = 1; if (!(x && y)) x = 2; if ((x, y)) x = 3; if (x ? y : z) x = 4;",
        expect![[r#"
            main(): n7 .. n21
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: [x != 0]
              n7 -> n13: [x == 0]
              n8 -> n10: [y != 0]
              n8 -> n9: [y == 0]
              n9 -> n13: [z != 0]
              n9 -> n10: [z == 0]
              n10: call f
              n10 -> n11: __tmp1 = call f(1)
              n11 -> n12: [__tmp1 != 0]
              n11 -> n13: [__tmp1 == 0]
              n12 -> n13: x = 1
              n13 -> n14: [x != 0]
              n13 -> n15: [x == 0]
              n14 -> n16: [y != 0]
              n14 -> n15: [y == 0]
              n15 -> n16: x = 2
              n16 -> n17: [y != 0]
              n16 -> n18: [y == 0]
              n17 -> n18: x = 3
              n18 -> n19: [(x ? y : z) != 0]
              n18 -> n20: [(x ? y : z) == 0]
              n19 -> n20: x = 4
              n20 -> n21: __ret = 0
        "#]],
    );
}

#[test]
fn side_effects_in_order() {
    check_body(
        "x = y + y++; x = f(y++) + f(y); x = y = z; x += y++; x = (y++, y); x++; x = --y; x = -x++; y = z++ ? ++z : z--;",
        expect![[r#"
            main(): n7 .. n39
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: __tmp2 = y
              n8 -> n9: __tmp1 = y
              n9 -> n10: y = y + 1
              n10 -> n11: x = __tmp2 + __tmp1
              n11 -> n12: __tmp3 = y
              n12 -> n13: y = y + 1
              n13: call f
              n13 -> n14: __tmp4 = call f(__tmp3)
              n14: call f
              n14 -> n15: __tmp5 = call f(y)
              n15 -> n16: x = __tmp4 + __tmp5
              n16 -> n17: y = z
              n17 -> n18: x = y
              n18 -> n19: __tmp6 = y
              n19 -> n20: y = y + 1
              n20 -> n21: x = x + __tmp6
              n21 -> n22: y = y + 1
              n22 -> n23: x = y
              n23 -> n24: x = x + 1
              n24 -> n25: y = y - 1
              n25 -> n26: x = y
              n26 -> n27: __tmp7 = x
              n27 -> n28: x = x + 1
              n28 -> n29: x = -__tmp7
              n29 -> n30: __tmp9 = z
              n30 -> n31: z = z + 1
              n31 -> n32: [__tmp9 != 0]
              n31 -> n34: [__tmp9 == 0]
              n32 -> n33: z = z + 1
              n33 -> n37: __tmp10 = z
              n34 -> n35: __tmp8 = z
              n35 -> n36: z = z - 1
              n36 -> n37: __tmp10 = __tmp8
              n37 -> n38: y = __tmp10
              n38 -> n39: __ret = 0
        "#]],
    );
}

#[test]
fn short_circuit_keeps_effects_apart() {
    check_body(
        "if (x++ && y++) z = 1; z = x++ || y; x && f(2);",
        expect![[r#"
            main(): n7 .. n20
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: __tmp1 = x
              n8 -> n9: x = x + 1
              n9 -> n10: [__tmp1 != 0]
              n9 -> n14: [__tmp1 == 0]
              n10 -> n11: __tmp2 = y
              n11 -> n12: y = y + 1
              n12 -> n13: [__tmp2 != 0]
              n12 -> n14: [__tmp2 == 0]
              n13 -> n14: z = 1
              n14 -> n15: __tmp3 = x
              n15 -> n16: x = x + 1
              n16 -> n17: z = __tmp3 || y
              n17 -> n18: [x != 0]
              n17 -> n19: [x == 0]
              n18: call f
              n18 -> n19: call f(2)
              n19 -> n20: __ret = 0
        "#]],
    );
}

#[test]
fn conversions() {
    check_body(
        "T t = x; S s = t; long long l = s; _Bool b = l; b = x > 1; t = t + 1; s = x + y; l = x + 1u; x = l;
         if (t == 'a' || s < 70000 || b == 1) x = t << s; x = (T)y; b++; y = (T)x == (T)z;",
        expect![[r#"
            main(): n7 .. n22
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7 -> n8: t = (uint8_t)x
              n8 -> n9: s = (int16_t)t
              n9 -> n10: l = (int64_t)s
              n10 -> n11: b = (uint8_t)(l != 0)
              n11 -> n12: b = (uint8_t)(1 < x)
              n12 -> n13: t = t + 1
              n13 -> n14: s = (int16_t)(x + y)
              n14 -> n15: l = (int64_t)((unsigned)x + 1)
              n15 -> n16: x = (int)l
              n16 -> n17: [t == 97]
              n16 -> n17: [t != 97]
              n17 -> n18: x = (int)t << (int)s
              n18 -> n19: x = (int)(uint8_t)y
              n19 -> n20: b = (uint8_t)((int)b + 1 != 0)
              n20 -> n21: y = (uint8_t)x == (uint8_t)z
              n21 -> n22: __ret = 0
        "#]],
    );
}

#[test]
fn calls() {
    check(
        "int f(short a, unsigned char b) { return a + b; } void g(int a, float b, int c) { } int h();
         float q(void) { return 1; } int r(int *p) { return 1; } int w();
         int main(void) { int x = f(1000000, 300), y; x = f(x, f(x, y)); f(1, 2); g(1, 2, 3); x = h(x++); q(); r(0); r(&x);
           f(1, 2, y++); f(1); return w(1); }
         int w(int a) { return a; }",
        expect![[r#"
            entry n10
            f(f::a, f::b): n0 .. n1
              n0 -> n1: f::__ret = (int)f::a + (int)f::b
            g(g::a, g::c): n2 .. n3
              n2 -> n3: skip
            q(): n4 .. n5
              n4 -> n5: skip
            r(): n6 .. n7
              n6 -> n7: r::__ret = 1
            w(w::a): n8 .. n9
              n8 -> n9: w::__ret = w::a
            main(): n10 .. n28
              n10: call f
              n10 -> n11: main::x = call f(16960, 44)
              n11 -> n12: main::y = ?
              n12: call f
              n12 -> n13: main::__tmp1 = call f((int16_t)main::x, (uint8_t)main::y)
              n13: call f
              n13 -> n14: main::x = call f((int16_t)main::x, (uint8_t)main::__tmp1)
              n14: call f
              n14 -> n15: call f(1, 2)
              n15: call g
              n15 -> n16: call g(1, 3)
              n16 -> n17: main::__tmp2 = main::x
              n17 -> n18: main::x = main::x + 1
              n18: call h
              n18 -> n19: unsupported: call of 'h', which has no body
              n19 -> n20: main::x = main::__tmp3
              n20: call q
              n20 -> n21: call q()
              n21: call r
              n21 -> n22: call r()
              n22: call r
              n22 -> n23: call r()
              n23 -> n24: main::__tmp5 = main::y
              n24 -> n25: main::y = main::y + 1
              n25: call f
              n25 -> n26: call f(1, 2)
              n26 -> n27: unsupported: call of 'f' with too few arguments
              n27: call w
              n27 -> n28: main::__ret = call w(1)
        "#]],
    );
}

#[test]
fn inputs() {
    check(
        "int __VERIFIER_nondet_int(void); _Bool __VERIFIER_nondet_bool(); extern unsigned char __VERIFIER_nondet_uchar();
         float __VERIFIER_nondet_float(void);
         int main(void) { int x = __VERIFIER_nondet_int(); _Bool b = __VERIFIER_nondet_bool(); unsigned char c;
           x = __VERIFIER_nondet_uchar(); c = __VERIFIER_nondet_int(\"a\", x++); if (__VERIFIER_nondet_bool()) x = 1;
           x = __VERIFIER_nondet_int() + __VERIFIER_nondet_int(); float f = __VERIFIER_nondet_float();
           __VERIFIER_nondet_int(); x = __VERIFIER_nondet_ulong(); return b; }",
        expect![[r#"
            entry n0
            main(): n0 .. n20
              n0: call __VERIFIER_nondet_int
              n0 -> n1: main::x = __VERIFIER_nondet_int()
              n1: call __VERIFIER_nondet_bool
              n1 -> n2: main::__tmp1 = __VERIFIER_nondet_bool()
              n2 -> n3: main::b = (uint8_t)(main::__tmp1 != 0)
              n3 -> n4: main::c = ?
              n4: call __VERIFIER_nondet_uchar
              n4 -> n5: main::__tmp2 = __VERIFIER_nondet_uchar()
              n5 -> n6: main::x = (int)main::__tmp2
              n6 -> n7: main::__tmp3 = main::x
              n7 -> n8: main::x = main::x + 1
              n8: call __VERIFIER_nondet_int
              n8 -> n9: main::__tmp4 = __VERIFIER_nondet_int()
              n9 -> n10: main::c = (uint8_t)main::__tmp4
              n10: call __VERIFIER_nondet_bool
              n10 -> n11: main::__tmp5 = __VERIFIER_nondet_bool()
              n11 -> n12: [main::__tmp5 != 0]
              n11 -> n13: [main::__tmp5 == 0]
              n12 -> n13: main::x = 1
              n13: call __VERIFIER_nondet_int
              n13 -> n14: main::__tmp6 = __VERIFIER_nondet_int()
              n14: call __VERIFIER_nondet_int
              n14 -> n15: main::__tmp7 = __VERIFIER_nondet_int()
              n15 -> n16: main::x = main::__tmp6 + main::__tmp7
              n16: call __VERIFIER_nondet_float, call __VERIFIER_nondet_int
              n16 -> n17: main::__tmp8 = __VERIFIER_nondet_int()
              n17: call __VERIFIER_nondet_ulong
              n17 -> n18: main::__tmp9 = __VERIFIER_nondet_ulong()
              n18 -> n19: main::x = (int)main::__tmp9
              n19 -> n20: main::__ret = (int)main::b
        "#]],
    );
}

#[test]
fn assumptions_and_ends() {
    check(
        "void __VERIFIER_assume(int); void abort(void); void exit(int); void reach_error(void);
         int main(void) { int x; __VERIFIER_assume(x > 3 && x < 9); if (x == 4) abort(); if (x == 5) exit(x++);
           if (x == 6) { reach_error(); x = 1; } assert(x != 7); if (__builtin_expect(!!(x), 0)) x = 2;
           ((void) sizeof ((0) ? 1 : 0), __extension__ ({ if (x) ; else __assert_fail (\"0\", \"a.c\", 3, \"m\"); }));
           ERROR: return 0; }",
        expect![[r#"
            entry n0
            main(): n0 .. n16
              n0 -> n1: main::x = ?
              n1: call __VERIFIER_assume
              n1 -> n2: [main::x > 3]
              n1 -> n19: [main::x <= 3]
              n2 -> n3: [main::x < 9]
              n2 -> n19: [main::x >= 9]
              n3 -> n4: [main::x == 4]
              n3 -> n5: [main::x != 4]
              n4: call abort
              n5 -> n6: [main::x == 5]
              n5 -> n9: [main::x != 5]
              n6 -> n7: main::__tmp1 = main::x
              n7 -> n8: main::x = main::x + 1
              n8: call exit
              n9 -> n10: [main::x == 6]
              n9 -> n11: [main::x != 6]
              n10: call reach_error
              n11 -> n12: [main::x != 7]
              n11 -> n18: [main::x == 7]
              n12 -> n13: [main::x != 0]
              n12 -> n14: [main::x == 0]
              n13 -> n14: main::x = 2
              n14 -> n15: [main::x != 0]
              n14 -> n17: [main::x == 0]
              n15: label ERROR
              n15 -> n16: main::__ret = 0
              n17: call __assert_fail
              n18: call __assert_fail
        "#]],
    );
}

#[test]
fn unsupported_constructs() {
    check(
        "float v; int a[3]; struct { int i; } s; int *p; int (*fp)(int); int f(int x) { return x; } void *malloc(unsigned);
         int main(void) { int x = 1; float w = v * 2; w = x; w += 1; int b[2] = { 1, 2 }; p = &x; p = a + 1; s = s; char *t = \"a\";
           if (x == 1) x = v; if (x == 2) x = a[1]; if (x == 3) a[x++] = f(2); if (x == 4) *p = 1; if (x == 5) s.i++;
           if (x == 6) x = s.i; if (x == 7) x = p != 0; if (x == 8) x = (*fp)(1); if (x == 9) p = malloc(4); if (v > 1) x = 1;
           if (x == 10) x = fp(1); if (x == 11) x = undeclared; if (x == 12) x = sizeof(a) / sizeof(a[0]) + sizeof *p;
           a[1]; *p; v; \"x\"; return x; }",
        expect![[r#"
            entry n2
            f(f::x): n0 .. n1
              n0 -> n1: f::__ret = f::x
            main(): n3 .. n46
              n2 -> n3: p = 0
              n3 -> n4: main::x = 1
              n4 -> n5: unsupported: address of 'x'
              n5 -> n6: p = main::__tmp1
              n6 -> n7: unsupported: array 'a'
              n7 -> n8: p = main::__tmp2
              n8 -> n9: [main::x == 1]
              n8 -> n11: [main::x != 1]
              n9 -> n10: unsupported: floating-point value
              n10 -> n11: main::x = main::__tmp4
              n11 -> n12: [main::x == 2]
              n11 -> n14: [main::x != 2]
              n12 -> n13: unsupported: array 'a'
              n13 -> n14: main::x = main::__tmp5
              n14 -> n15: [main::x == 3]
              n14 -> n19: [main::x != 3]
              n15 -> n16: main::__tmp6 = main::x
              n16 -> n17: main::x = main::x + 1
              n17: call f
              n17 -> n18: main::__tmp7 = call f(2)
              n18 -> n19: unsupported: array 'a'
              n19 -> n20: [main::x == 4]
              n19 -> n21: [main::x != 4]
              n20 -> n21: unsupported: pointer dereference
              n21 -> n22: [main::x == 5]
              n21 -> n23: [main::x != 5]
              n22 -> n23: unsupported: structure or union 's'
              n23 -> n24: [main::x == 6]
              n23 -> n26: [main::x != 6]
              n24 -> n25: unsupported: structure or union 's'
              n25 -> n26: main::x = main::__tmp9
              n26 -> n27: [main::x == 7]
              n26 -> n28: [main::x != 7]
              n27 -> n28: main::x = p != 0
              n28 -> n29: [main::x == 8]
              n28 -> n31: [main::x != 8]
              n29 -> n30: unsupported: call through a pointer
              n30 -> n31: main::x = main::__tmp10
              n31 -> n32: [main::x == 9]
              n31 -> n34: [main::x != 9]
              n32: call malloc
              n32 -> n33: unsupported: call of 'malloc', which has no body
              n33 -> n34: p = main::__tmp11
              n34 -> n35: unsupported: floating-point value
              n35 -> n36: [main::__tmp12 > 1]
              n35 -> n37: [main::__tmp12 <= 1]
              n36 -> n37: main::x = 1
              n37 -> n38: [main::x == 10]
              n37 -> n40: [main::x != 10]
              n38 -> n39: unsupported: call through 'fp'
              n39 -> n40: main::x = main::__tmp13
              n40 -> n41: [main::x == 11]
              n40 -> n43: [main::x != 11]
              n41 -> n42: unsupported: the undeclared identifier 'undeclared'
              n42 -> n43: main::x = main::__tmp14
              n43 -> n44: [main::x == 12]
              n43 -> n45: [main::x != 12]
              n44 -> n45: main::x = 7
              n45 -> n46: main::__ret = main::x
        "#]],
    );
}

#[test]
fn dead_code_goes_away() {
    check(
        "void unused(void) { int a[2]; a[0] = 1; }
         int main(void) { return 0; int a; a = 1; L: goto L; }",
        expect![[r#"
            entry n2
            unused(): n0 .. n1
              n0 -> n1: unsupported: array 'a'
            main(): n2 .. n3
              n2 -> n3: main::__ret = 0
        "#]],
    );
}

#[test]
fn missing_returns() {
    check(
        "int f(int x) { if (x) return 1; } int g(void) { return; } void h(void) { return; } int main() { }",
        expect![[r#"
        entry n8
        f(f::x): n0 .. n3
          n0 -> n1: [f::x != 0]
          n0 -> n2: [f::x == 0]
          n1 -> n3: f::__ret = 1
          n2 -> n3: f::__ret = ?
        g(): n4 .. n5
          n4 -> n5: g::__ret = ?
        h(): n6 .. n7
          n6 -> n7: skip
        main(): n8 .. n9
          n8 -> n9: main::__ret = 0
    "#]],
    );
}

#[test]
fn several_files_share_external_names() {
    let source = |name: &str, text: &str| cfa::Source { name: name.into(), text: text.into() };
    let sources = [
        source("a.c", "extern int n; static int s = 1; int f(int); int main(void) { s = f(n); return s; }"),
        source("b.c", "int n = 7; static int s = 2; int f(int a) { return a + s; }"),
    ];
    let program = cfa::load(&sources, &cfa::Options::default()).expect("it loads");
    cfa::verify::verify(&program).expect("it is well-formed");
    expect![[r#"
        entry n2
        f(f::a): n0 .. n1
          n0 -> n1: f::__ret = f::a + s#2   // b.c:1:45
        main(): n5 .. n7
          n2 -> n3: s = 1   // a.c:1:26
          n3 -> n4: n = 7   // b.c:1:5
          n4 -> n5: s#2 = 2   // b.c:1:23
          n5: call f
          n5 -> n6: s = call f(n)   // a.c:1:62
          n6 -> n7: main::__ret = s   // a.c:1:72
    "#]]
    .assert_eq(&program.dump());
}

#[test]
fn discarded_values() {
    check_body(
        "f(1); x && f(2); x || y++; x ? f(1) : f(2); x ? y : z; x == 1; x, y; (void)f(3); x++ == 3 || (f(1), 2);",
        expect![[r#"
            main(): n7 .. n21
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7: call f
              n7 -> n8: call f(1)
              n8 -> n9: [x != 0]
              n8 -> n10: [x == 0]
              n9: call f
              n9 -> n10: call f(2)
              n10 -> n12: [x != 0]
              n10 -> n11: [x == 0]
              n11 -> n12: y = y + 1
              n12 -> n13: [x != 0]
              n12 -> n14: [x == 0]
              n13: call f
              n13 -> n15: call f(1)
              n14: call f
              n14 -> n15: call f(2)
              n15: call f
              n15 -> n16: call f(3)
              n16 -> n17: __tmp1 = x
              n17 -> n18: x = x + 1
              n18 -> n20: [__tmp1 == 3]
              n18 -> n19: [__tmp1 != 3]
              n19: call f
              n19 -> n20: call f(1)
              n20 -> n21: __ret = 0
        "#]],
    );
}

#[test]
fn truth_of_arguments() {
    check(
        "void __VERIFIER_assume(int); void assert(int c); int main(void) { long long l; assert(l); __VERIFIER_assume(l); }",
        expect![[r#"
            entry n0
            main(): n0 .. n4
              n0 -> n1: main::l = ?
              n1 -> n2: [(int)main::l != 0]
              n1 -> n6: [(int)main::l == 0]
              n2: call __VERIFIER_assume
              n2 -> n3: [(int)main::l != 0]
              n2 -> n5: [(int)main::l == 0]
              n3 -> n4: main::__ret = 0
              n6: call __assert_fail
        "#]],
    );
}
