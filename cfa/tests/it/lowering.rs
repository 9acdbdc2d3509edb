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
            main(main::argc, main::argv): n19 .. n21
              n5 -> n6: b = 2
              n6 -> n7: a = 1
              n7 -> n8: e = ?
              n8 -> n9: c = 44
              n9 -> n10: d = 8
              n10 -> n11: fl = 1.5
              n11 -> n12: s = 536870944
              n12 -> n13: st.i = 1
              n13 -> n14: f::n = 5
              n14 -> n15: f::m = 0
              n15 -> n16: f::n#2 = 0
              n16 -> n17: main::argc = ?
              n17 -> n18: [main::argc >= 0]
              n17 -> n22: [main::argc < 0]
              n18 -> n19: main::argv = malloc(((unsigned)main::argc + 1) * 4)
              n19: call f
              n19 -> n20: main::__tmp1 = call f()
              n20 -> n21: main::__ret = main::__tmp1 + main::argc
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
