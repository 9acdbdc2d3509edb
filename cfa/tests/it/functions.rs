// SPDX-License-Identifier: Apache-2.0
//! Calls, inputs, ends of the execution, unsupported constructs, and several files.

use cfa::Op;
use expect_test::expect;

use crate::{check, check_body, load};

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
            g(g::a, g::b, g::c): n2 .. n3
              n2 -> n3: skip
            q(): n4 .. n5
              n4 -> n5: q::__ret = 1.0
            r(r::p): n6 .. n7
              n6 -> n7: r::__ret = 1
            w(w::a): n8 .. n9
              n8 -> n9: w::__ret = w::a
            main(): n10 .. n32
              n10: call f
              n10 -> n11: main::__tmp1 = call f(16960, 44)
              n11 -> n12: *(int *)536870912 = main::__tmp1
              n12 -> n13: main::y = ?
              n13 -> n14: main::__tmp2 = *(int *)536870912
              n14 -> n15: main::__tmp3 = *(int *)536870912
              n15: call f
              n15 -> n16: main::__tmp4 = call f((int16_t)main::__tmp3, (uint8_t)main::y)
              n16: call f
              n16 -> n17: main::__tmp5 = call f((int16_t)main::__tmp2, (uint8_t)main::__tmp4)
              n17 -> n18: *(int *)536870912 = main::__tmp5
              n18: call f
              n18 -> n19: call f(1, 2)
              n19: call g
              n19 -> n20: call g(1, 1073741824, 3)
              n20 -> n21: main::__tmp6 = *(int *)536870912
              n21 -> n22: *(int *)536870912 = main::__tmp6 + 1
              n22: call h
              n22 -> n23: main::__tmp7 = h()
              n23 -> n24: *(int *)536870912 = main::__tmp7
              n24: call q
              n24 -> n25: call q()
              n25: call r
              n25 -> n26: call r(0)
              n26: call r
              n26 -> n27: call r(536870912)
              n27 -> n28: main::__tmp8 = main::y
              n28 -> n29: main::y = main::y + 1
              n29: call f
              n29 -> n30: call f(1, 2)
              n30 -> n31: unsupported: call of 'f' with too few arguments
              n31: call w
              n31 -> n32: main::__ret = call w(1)
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
            main(): n0 .. n21
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
              n16: call __VERIFIER_nondet_float
              n16 -> n17: main::f = __VERIFIER_nondet_float()
              n17: call __VERIFIER_nondet_int
              n17 -> n18: main::__tmp8 = __VERIFIER_nondet_int()
              n18: call __VERIFIER_nondet_ulong
              n18 -> n19: main::__tmp9 = __VERIFIER_nondet_ulong()
              n19 -> n20: main::x = (int)main::__tmp9
              n20 -> n21: main::__ret = (int)main::b
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

/// What is evaluated once, or whose number is not counted, is not taken for something else.
#[test]
fn initialisers_and_sizes_that_are_refused() {
    for (text, construct) in [
        (
            "int f(void); int main(void) { int a[3] = { [0 ... 2] = f() }; return a[1]; }",
            "value with effects for several elements",
        ),
        (
            "struct { int a[2]; } m[] = { [1].a[0] = 5, 6 }; int main(void) { return m[1].a[1]; }",
            "array whose initialiser does not tell its length",
        ),
        (
            "int f(int n, int a[n++]) { return n; } int main(void) { int a[9]; return f(3, a); }",
            "size of an array parameter with effects",
        ),
    ] {
        let program = load(text);
        let refused =
            |edge: &cfa::Edge| matches!(&edge.op, Op::Unsupported { construct: found } if **found == *construct);
        assert!(program.edges.iter().any(refused), "{text}");
    }
    let text = "int f(int n, int a[n], int b[n][n + 1]) { return sizeof b[0]; } int main(void) { int a[9]; return f(3, a, 0); }";
    assert!(!load(text).edges.iter().any(|edge| matches!(edge.op, Op::Unsupported { .. })));
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
            main(): n7 .. n66
              n2 -> n3: memset(536870912, 0, 12)
              n3 -> n4: v = 0.0
              n4 -> n5: s.i = 0
              n5 -> n6: p = 0
              n6 -> n7: fp = 0
              n7 -> n8: *(int *)536870944 = 1
              n8 -> n9: main::w = mulf32(v, 2.0)
              n9 -> n10: main::__tmp1 = *(int *)536870944
              n10 -> n11: main::w = tof32(main::__tmp1)
              n11 -> n12: main::w = addf32(main::w, 1.0)
              n12 -> n13: p = 536870944
              n13 -> n14: p = 536870916
              n14 -> n15: s.i = s.i
              n15 -> n16: main::t = 536871008
              n16 -> n17: main::__tmp2 = *(int *)536870944
              n17 -> n18: [main::__tmp2 == 1]
              n17 -> n19: [main::__tmp2 != 1]
              n18 -> n19: *(int *)536870944 = (int)fromf32(v)
              n19 -> n20: main::__tmp3 = *(int *)536870944
              n20 -> n21: [main::__tmp3 == 2]
              n20 -> n23: [main::__tmp3 != 2]
              n21 -> n22: main::__tmp4 = *(int *)536870916
              n22 -> n23: *(int *)536870944 = main::__tmp4
              n23 -> n24: main::__tmp5 = *(int *)536870944
              n24 -> n25: [main::__tmp5 == 3]
              n24 -> n29: [main::__tmp5 != 3]
              n25 -> n26: main::__tmp6 = *(int *)536870944
              n26 -> n27: *(int *)536870944 = main::__tmp6 + 1
              n27: call f
              n27 -> n28: main::__tmp7 = call f(2)
              n28 -> n29: *(int *)(536870912 + (unsigned)main::__tmp6 * 4) = main::__tmp7
              n29 -> n30: main::__tmp8 = *(int *)536870944
              n30 -> n31: [main::__tmp8 == 4]
              n30 -> n32: [main::__tmp8 != 4]
              n31 -> n32: *(int *)p = 1
              n32 -> n33: main::__tmp9 = *(int *)536870944
              n33 -> n34: [main::__tmp9 == 5]
              n33 -> n35: [main::__tmp9 != 5]
              n34 -> n35: s.i = s.i + 1
              n35 -> n36: main::__tmp10 = *(int *)536870944
              n36 -> n37: [main::__tmp10 == 6]
              n36 -> n38: [main::__tmp10 != 6]
              n37 -> n38: *(int *)536870944 = s.i
              n38 -> n39: main::__tmp11 = *(int *)536870944
              n39 -> n40: [main::__tmp11 == 7]
              n39 -> n41: [main::__tmp11 != 7]
              n40 -> n41: *(int *)536870944 = p != 0
              n41 -> n42: main::__tmp12 = *(int *)536870944
              n42 -> n43: [main::__tmp12 == 8]
              n42 -> n46: [main::__tmp12 != 8]
              n43 -> n44: main::__tmp13 = fp
              n44 -> n45: unsupported: call through a pointer to no function of its type
              n45 -> n46: *(int *)536870944 = main::__tmp14
              n46 -> n47: main::__tmp15 = *(int *)536870944
              n47 -> n48: [main::__tmp15 == 9]
              n47 -> n49: [main::__tmp15 != 9]
              n48: call malloc
              n48 -> n49: p = malloc(4)
              n49 -> n50: [ltf32(1.0, v)]
              n49 -> n51: [!ltf32(1.0, v)]
              n50 -> n51: *(int *)536870944 = 1
              n51 -> n52: main::__tmp16 = *(int *)536870944
              n52 -> n53: [main::__tmp16 == 10]
              n52 -> n56: [main::__tmp16 != 10]
              n53 -> n54: main::__tmp17 = fp
              n54 -> n55: unsupported: call through a pointer to no function of its type
              n55 -> n56: *(int *)536870944 = main::__tmp18
              n56 -> n57: main::__tmp19 = *(int *)536870944
              n57 -> n58: [main::__tmp19 == 11]
              n57 -> n60: [main::__tmp19 != 11]
              n58 -> n59: unsupported: the undeclared identifier 'undeclared'
              n59 -> n60: *(int *)536870944 = main::__tmp20
              n60 -> n61: main::__tmp21 = *(int *)536870944
              n61 -> n62: [main::__tmp21 == 12]
              n61 -> n63: [main::__tmp21 != 12]
              n62 -> n63: *(int *)536870944 = 7
              n63 -> n64: main::__tmp22 = *(int *)536870916
              n64 -> n65: main::__tmp23 = *(int *)p
              n65 -> n66: main::__ret = *(int *)536870944
        "#]],
    );
}

#[test]
fn dead_code_goes_away() {
    check(
        "void unused(void) { int a[2]; a[0] = 1; }
         int main(void) { return 0; int a; a = 1; L: goto L; }",
        expect![[r#"
            entry n6
            unused(): n0 .. n5
              n0 -> n1: unused::__tmp1 = ?
              n1 -> n2: *(int *)536870912 = unused::__tmp1
              n2 -> n3: unused::__tmp2 = ?
              n3 -> n4: *(int *)536870916 = unused::__tmp2
              n4 -> n5: *(int *)536870912 = 1
            main(): n6 .. n7
              n6 -> n7: main::__ret = 0
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

/// A function with empty parentheses takes the arguments of the type of the pointer.
#[test]
fn empty_parentheses_take_any_arguments() {
    check(
        "void *f() { return 0; } void g(int a) { } int main(void) { void *(*fp)(void *) = f; fp(0); return 0; }",
        expect![[r#"
            entry n4
            f(): n0 .. n1
              n0 -> n1: f::__ret = 0
            g(g::a): n2 .. n3
              n2 -> n3: skip
            main(): n4 .. n10
              n4 -> n5: main::fp = 536870912
              n5 -> n6: main::__tmp1 = main::fp
              n6 -> n7: [main::__tmp1 == 536870912]
              n6 -> n8: [main::__tmp1 != 536870912]
              n7: call f
              n7 -> n9: main::__tmp2 = call f()
              n8 -> n9: unsupported: call through a pointer to no function of its type
              n9 -> n10: main::__ret = 0
        "#]],
    );
}

#[test]
fn last_calls_of_itself_are_loops() {
    check(
        "extern unsigned u(void);
         unsigned f(unsigned a, unsigned b, int *p) { if (a == *p) return b; unsigned c = u(); return f(b, a - c, p); }
         void g(int *p) { if (*p < 9) { *p = *p + 1; g(p); } }
         int main(void) { int x = 0; g(&x); f(u(), 2, &x); return 0; }",
        expect![[r#"
            entry n16
            f(f::a, f::b, f::p): n0 .. n8
              n0 -> n1: skip
              n1: loop
              n1 -> n2: f::__tmp1 = *(int *)f::p
              n2 -> n7: [f::a == (unsigned)f::__tmp1]
              n2 -> n3: [f::a != (unsigned)f::__tmp1]
              n3: call u
              n3 -> n4: f::c = u()
              n4: call f
              n4 -> n5: f::__arg = f::a - f::c
              n5 -> n6: f::a = f::b
              n6 -> n1: f::b = f::__arg
              n7 -> n8: f::__ret = f::b
            g(g::p): n9 .. n15
              n9 -> n10: skip
              n10: loop
              n10 -> n11: g::__tmp1 = *(int *)g::p
              n11 -> n12: [g::__tmp1 < 9]
              n11 -> n15: [g::__tmp1 >= 9]
              n12 -> n13: g::__tmp2 = *(int *)g::p
              n13 -> n14: *(int *)g::p = g::__tmp2 + 1
              n14: call g
              n14 -> n10: skip
            main(): n16 .. n21
              n16 -> n17: *(int *)536870912 = 0
              n17: call g
              n17 -> n18: call g(536870912)
              n18: call u
              n18 -> n19: main::__tmp1 = u()
              n19: call f
              n19 -> n20: call f(main::__tmp1, 2, 536870912)
              n20 -> n21: main::__ret = 0
        "#]],
    );
}

#[test]
fn calls_of_itself_that_are_no_loops() {
    let table = [
        (0, "unsigned f(unsigned a) { if (*q) return f(a - 1); return 0; }", "a loop"),
        (0, "unsigned f(unsigned a) { double d = a; if (d > 1.0) return f(a - 1); return 0; }", "another loop"),
        (1, "unsigned f(unsigned a) { if (a) return f(a - 1); return 0; }", "integers in variables only"),
        (1, "unsigned f(unsigned a) { if (*q) f(a - 1); return 0; }", "a value is returned that is not the call's"),
        (1, "unsigned f(unsigned a) { if (*q) f(a - 1); }", "nothing is returned"),
        (1, "char f(unsigned a) { if (*q) return (signed char)f(a - 1) + 1; return 0; }", "it is changed"),
        (2, "unsigned f(unsigned a) { if (*q) return f(f(a - 1)); return 0; }", "an inner call remains"),
        (1, "unsigned f(unsigned a) { q = &a; if (*q) return f(a - 1); return *q; }", "the parameter has an address"),
        (
            1,
            "unsigned f(unsigned a) { unsigned x; if (a == 8) q = &x; if (a) return f(a - 1); return *q; }",
            "a local has an address",
        ),
        (1, "int f(int a) { if (*q) return f(a - 1); return 0; }", "the argument may overflow"),
        (
            1,
            "unsigned f(unsigned a) { unsigned r = 0; if (*q) { r = f(a - 1); ++*q; } return r; }",
            "not the last step",
        ),
        (
            1,
            "unsigned g(unsigned); unsigned f(unsigned a) { return g(a); } unsigned g(unsigned a) { return *q ? f(a - 1) : 0; }",
            "of each other",
        ),
    ];
    for (expected, text, why) in table {
        let program = load(&format!(
            "extern unsigned u(void); unsigned x; unsigned *q = &x; {text} int main(void) {{ f(u()); return 0; }}"
        ));
        let own = |edge: &&cfa::ir::Edge| *program.funcs[program.node(edge.src).func.index()].name == *"f";
        let calls = program.edges.iter().filter(own).filter(|edge| matches!(edge.op, cfa::ir::Op::Call { .. }));
        assert_eq!(calls.count(), expected, "{why}: {text}");
    }
}
