// SPDX-License-Identifier: Apache-2.0
//! What tree-sitter-c reads differently from C: every shape that is known, with the value that C gives it.

use cfa::{MachineModel, Op};

use crate::{load, try_load};

/// The value that `main` returns after straight-line code over constants.
fn result(text: &str) -> i128 {
    let program = try_load(text, MachineModel::Ilp32).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut values = std::collections::BTreeMap::new();
    let mut node = program.entry;
    while let Some(edge) = program.node(node).leaving.first() {
        let mut edge = program.edge(*edge);
        let eval = |expr, values: &std::collections::BTreeMap<_, _>| {
            cfa::eval(&program.exprs, expr, &mut |var| values[&var]).expect("it is defined")
        };
        match &edge.op {
            Op::Assign { var, value } => {
                let value = eval(*value, &values);
                values.insert(*var, value);
            }
            Op::Assume { cond, .. } if eval(*cond, &values) == 0 => edge = program.edge(program.node(node).leaving[1]),
            Op::Havoc { var, .. } => {
                values.insert(*var, 0);
            }
            Op::Assume { .. } | Op::Skip | Op::Zero { .. } => {}
            op => panic!("{}", program.display_op(op)),
        }
        node = edge.dst;
    }
    values[&program.func(program.main).ret.expect("main returns a value")]
}

fn expr(expr: &str) -> i128 {
    result(&format!(
        "typedef unsigned char byte; typedef signed char S; typedef struct {{ int a, b, c; }} big;
         int main(void) {{ int a = 7, b = 3, c = 2, d = 1, x = 300; return {expr}; }}"
    ))
}

#[test]
fn types_in_parentheses() {
    assert_eq!(expr("sizeof(byte)"), 1);
    assert_eq!(expr("sizeof(S)"), 1);
    assert_eq!(expr("sizeof(big)"), 12);
    assert_eq!(expr("sizeof(S) + 1"), 2);
    assert_eq!(expr("(byte)(x)"), 44);
    assert_eq!(expr("(S)(x)"), 44);
    assert_eq!(expr("(byte)(x, a)"), 7);
    assert_eq!(expr("(byte)-1"), 255);
    assert_eq!(expr("(byte )-x"), 212);
    assert_eq!(expr("(S)-a"), -7);
    assert_eq!(expr("(byte)+x"), 44);
    assert_eq!(expr("a + (byte)-x"), 219);
    assert_eq!(expr("(byte)-x + a"), 219);
    assert_eq!(expr("(byte)~a"), 248);
    assert_eq!(expr("sizeof(_Bool) + (_Bool)(x)"), 2);
    assert_eq!(expr("(_Bool)-1"), 1);
    assert_eq!(expr("-(S)(a)*(byte)(c)"), -14);
}

#[test]
fn names_in_parentheses() {
    assert_eq!(expr("(a)+(b)*(c)"), 13);
    assert_eq!(expr("(a)-(b)*(c)-(d)"), 0);
    assert_eq!(expr("(a)-(b)"), 4);
    assert_eq!(expr("(a)-1"), 6);
    assert_eq!(expr("(a) & (b)*(c)"), 6);
    assert_eq!(expr("(a)*(b)"), 21);
    assert_eq!(expr("((a))+(b)"), 10);
    assert_eq!(expr("(a*(b))-(c)"), 19);
    assert_eq!(expr("(a)&(b)"), 3);
    assert_eq!(expr("((a)&&(b))+(c)"), 3);
    assert_eq!(expr("sizeof(a)-1"), 3);
    assert_eq!(expr("sizeof (a) * 2"), 8);
}

#[test]
fn calls_and_subscripts_in_parentheses() {
    let text = "int f(int a, int b) { return a + b; } int a[3];
        int main(void) { int c = 2, d = 3; return sizeof(a[0]) + (c)*(d); }";
    assert_eq!(result(text), 10);
    let program = load(
        "int f(int a, int b) { return a + b; } int main(void) { int c = 6, d = 3; c = (f(1, 2)) & (c)*d; return c; }",
    );
    assert!(program.dump().contains("main::c = main::__tmp1 & main::c * main::d"), "{}", program.dump());
}

#[test]
fn casts_below_sizeof() {
    assert_eq!(expr("sizeof(int)+0x10"), 20);
    assert_eq!(expr("sizeof(int)-1"), 3);
    assert_eq!(expr("sizeof(int)*2"), 8);
    assert_eq!(expr("1+sizeof(big)-1"), 12);
}

#[test]
fn signs_belong_to_operators() {
    assert_eq!(expr("-1"), -1);
    assert_eq!(expr("a -1"), 6);
    assert_eq!(expr("a-1-1"), 5);
    assert_eq!(expr("a- -1"), 8);
    assert_eq!(expr("-1u > 0"), 1);
    assert_eq!(expr("-2147483648 < 0"), 1);
    assert_eq!(expr("- 0x1"), -1);
    assert_eq!(expr("+1"), 1);
    assert_eq!(expr("2*-1"), -2);
}

#[test]
fn postfix_binds_tighter_than_unary() {
    assert_eq!(expr("-x++"), -300);
    assert_eq!(expr("!x--"), 0);
    assert_eq!(expr("~a++ + 0"), -8);
    assert_eq!(expr("- -a++"), 7);
    assert_eq!(expr("(byte)x++"), 44);
    assert_eq!(expr("-x++ + x"), 1);
}

#[test]
fn statements_that_look_like_declarations() {
    let text =
        "typedef int T; int main(void) { int a = 2, b = 3; a * b; T (c); c = 4; T (*fp)(int); T d = a * c; return d; }";
    assert_eq!(result(&text.replace("T (c);", "T (c) = 0;")), 8);
}

#[test]
fn spellings_of_gnu_and_keyword_nodes() {
    let text = "typedef enum { false, true } bool; enum { FALSE = 0, TRUE = 1 };
        extern __inline__ int f(const char *__restrict s, ...) __attribute__((__nothrow__, format(printf, 1, 2))) __asm__(\"g\");
        static __inline int g(void) { return 1; }
        # 1 \"x.h\" 1 3
        #pragma omp parallel
        void * __attribute__((__cdecl__)) malloc (unsigned size); // comment ' here
        int main(void) { __signed__ char a = 5; __const int b = true + TRUE /* \" */; bool c = false;
            typeof(a) d; __typeof__(int) e; if (c) goto end; return __extension__ (a + b); end: }";
    assert_eq!(result(&text.replace("typeof(a) d; __typeof__(int) e; ", "")), 7);
    load(text);
}

#[test]
fn a_line_continues() {
    assert_eq!(result("int main(void) { int \\\n a = 1; // b \\\n a = 2;\n return a; }"), 1);
}

#[test]
fn spans_survive_longer_texts() {
    let program =
        load("typedef char S;\nint main(void) {\n  int x = sizeof(S) + sizeof(S);\n  x = x + 1;\n  return x;\n}\n");
    let places: Vec<String> = program.edges.iter().map(|edge| program.location(edge.span).to_string()).collect();
    assert_eq!(places, ["t.c:3:7", "t.c:4:3", "t.c:5:3"]);
    assert_eq!(program.text(program.edges[1].span), "x = x + 1");
}

#[test]
fn records_are_packed() {
    let text = "
        #pragma pack(push, 2)
        struct A { char c; int x; }; typedef struct { char c; int x; } B;
        #pragma pack(pop)
        struct C { char c; int x; };
        struct __attribute__((packed)) D { char c; int x; }; struct E { char c; int x; } __attribute__((__packed__));
        struct F { char c; int x; }; int v __attribute__((packed));
        int main(void) { struct __attribute__((packed)) G { char c; short x; }; return sizeof(struct A) + 10 * sizeof(B)
            + 100 * sizeof(struct C) + 1000 * sizeof(struct D) + 10000 * sizeof(struct E) + 100000 * sizeof(struct F)
            + 1000000 * sizeof(struct G); }";
    assert_eq!(result(text), 6 + 60 + 800 + 5000 + 50000 + 800_000 + 3_000_000);
    let unknown = [
        "struct A { char c; int x __attribute__((aligned(sizeof(long)))); }; int main(void) { return sizeof(struct A); }",
        "struct A { char c; int x : 3 __attribute__((aligned(8))); }; int main(void) { return sizeof(struct A); }",
        "struct A { char c; int *__attribute__((aligned(8))) x; }; int main(void) { return sizeof(struct A); }",
        "struct A { char c; int x __attribute__((aligned(8), aligned(2))); }; int main(void) { return sizeof(struct A); }",
        "typedef int T __attribute__((aligned(8))); int main(void) { return sizeof(struct { T x; }); }",
        "int x __attribute__((mode(TI))); int main(void) { return x; }",
        "int f(int x __attribute__((vector_size(16)))) { return x; } int main(void) { return f(1); }",
        "#pragma pack(2)\nstruct A { int x __attribute__((aligned(8))); }; int main(void) { return sizeof(struct A); }",
        "struct __attribute__((packed)) A { char c; int x : 3; }; int main(void) { return sizeof(struct A); }",
    ];
    for text in unknown {
        let program = load(text);
        assert!(program.edges.iter().any(|edge| matches!(edge.op, Op::Unsupported { .. })), "{text}");
    }
}

#[test]
fn names_of_types_have_scopes() {
    let body = |statements: &str| result(&format!("typedef int big; int main(void) {{ {statements} }}"));
    // A cast, and a difference.
    assert_eq!(body("return (big)-1;"), -1);
    assert_eq!(body("int big = 5; return (big)-1;"), 4);
    assert_eq!(body("int x = 3; { int big = 5; x = (big)-1; } return x + (big)-1;"), 3);
    assert_eq!(body("int x = 3; { enum { big = 5 }; x = (big)-1; } return x + (big)-1;"), 3);
    assert_eq!(body("unsigned big; big = 7; int y = 2; { big * y; } return big * y;"), 14);
    assert_eq!(result("void f(void) { typedef int T; } int main(void) { int T = 5; return (T)-1; }"), 4);
    assert_eq!(result("typedef int T; int f(int T) { return (T)-1; } int main(void) { T x = (T)-2; return x; }"), -2);
    assert_eq!(result("typedef int T; struct T { T T; }; int main(void) { struct T T = { 4 }; return T.T; }"), 4);
}

#[test]
fn what_the_grammar_does_not_know() {
    assert_eq!(result("main() { return 3; }"), 3);
    assert_eq!(result("static int s; main(n) int n; { return s + 3; }"), 3);
    assert_eq!(result("struct s { int : 3, a : 4, : 0; int b : 5; }; int main(void) { return sizeof(struct s); }"), 8);
    assert_eq!(expr("sizeof(typeof(a + 1LL)) + sizeof(typeof(byte[3]))"), 11);
    assert_eq!(expr("({ typeof(((big *)0)->c) m = a; (typeof(m))-m; })"), -7);
    assert_eq!(result("int main(void) { int x = 4; __asm__ volatile(\"\" : : : \"memory\"); return x; }"), 4);
    assert_eq!(result("int main(void) { switch (4) { l: case 3 ... 5: return 1; case 9: return 2; } return 3; }"), 1);
}

#[test]
fn switches_without_braces() {
    let body =
        |statements: &str| result(&format!("int main(void) {{ int x = 1, y = 3, s = 0; {statements} return s; }}"));
    assert_eq!(body("switch (x) while (y) { case 1: s += y; y--; }"), 6);
    assert_eq!(body("switch (x) case 1: s = 4; s++;"), 5);
    assert_eq!(body("switch (x + 1) case 1: s = 4; s++;"), 1);
    assert_eq!(body("switch (x) do { default: s++; } while (s < 4); s += 10;"), 14);
    assert_eq!(body("switch (x) if (s) { case 1: s++; } else case 2: s += 7;"), 1);
    assert_eq!(body("switch (x + 1) if (s) { case 1: s++; } else case 2: s += 7;"), 7);
    assert_eq!(body("switch (x) for (; y; y--) if (y == 2) case 0: s += 5; else default: s++; s += 100;"), 107);
    assert_eq!(body("switch (x) switch (y) { case 1: s = 1; default: s += 2; }"), 0);
    assert_eq!(body("switch (x) case 1: switch (y) case 3: s = 9; s++;"), 10);
    assert_eq!(body("char c = 59; switch (c) while (y--) { case ';': case '}': s += sizeof \";})\"; }"), 16);
    // Case labels as branches.
    assert_eq!(body("switch (y) { case 0: while (s < 3) case 3: case 4: s++; s += 20; }"), 23);
    assert_eq!(body("switch (y) { case 0: if (x) case 2: if (s) default: s += 5; else s++; s += 20; }"), 25);
    assert_eq!(body("switch (x) { case 0: while (s < 3) case 1: s++; s += 20; }"), 23);
    assert_eq!(body("switch (x) { case 0: for (; s < 3;) if (s) case 1: s += 2; else default: s++; }"), 4);
    assert_eq!(body("switch (x) { case 1: if (y == 3) case 2: s = 3; s += 4; }"), 7);
    assert_eq!(body("switch (x + 1) { case 1: if (y == 0) case 2: s = 3; s += 4; }"), 7);
    assert_eq!(body("switch (x) { case 1: if (y == 0) case 2: s = 3; s += 4; }"), 4);
    assert_eq!(body("switch (y) { case 0: do case 3: if (s) s += 3; else s++; while (s < 3); s *= 2; }"), 8);
}

#[test]
fn alignment() {
    let text = "
        struct A { _Alignas(8) char c; int x; }; struct B { char c; _Alignas(16) int x; }; _Alignas(32) char a; char b;
        struct C { char c; int alignas(2 * 4) x; }; int main(void) { static _Alignas(64) char d;
            return sizeof(struct A) + 100 * sizeof(struct B) + 10000 * sizeof(struct C); }";
    assert_eq!(result(text), 8 + 3200 + 160_000);
    for text in
        ["_Alignas(double) char c = 3;", "static alignas(sizeof(int)) const int c = 3;", "const _Alignas(0) int c = 3;"]
    {
        let text = format!("int main(void) {{ {text} return c; }}");
        assert!(try_load(&text, MachineModel::Ilp32).is_err(), "{text}");
        let text = format!("{text} int main(void) {{ return c; }}");
        assert!(try_load(&text, MachineModel::Ilp32).is_err(), "{text}");
    }
    let text = "#pragma pack(2)\nstruct A { _Alignas(8) int x; }; int main(void) { return sizeof(struct A); }";
    assert!(load(text).edges.iter().any(|edge| matches!(edge.op, Op::Unsupported { .. })));
}

#[test]
fn what_compilers_disagree_on_is_not_supported() {
    let program = load(
        "struct s { unsigned long long w : 40; } s;
         int main(void) { s.w = 3; return (s.w << 30) > 0; }",
    );
    let unsupported = |op: &Op| matches!(op, Op::Unsupported { construct } if construct.contains("bit-field"));
    assert!(program.edges.iter().any(|edge| unsupported(&edge.op)));
}

#[test]
fn wide_integers_are_read() {
    let text = |end: &str| {
        format!(
            "typedef unsigned __int128 u128; typedef __int128 s128; u128 g; signed __int128 h;
             u128 twice(u128 x) {{ return x + x; }} int main(void) {{ unsigned x = 3; {end} }}"
        )
    };
    assert_eq!(result(&text("return x;")), 3);
    let program = load(&text("return (int)((u128)x << 3);"));
    assert!(program.edges.iter().any(|edge| matches!(edge.op, Op::Unsupported { .. })));
}

#[test]
fn typedefs_without_a_name_declare_their_types() {
    assert_eq!(result("typedef enum { a, b = 7 } ; int main(void) { return b; }"), 7);
    assert_eq!(
        result(
            "typedef struct S { char c; int x; };\ntypedef int T;\nint main(void) { return sizeof(struct S) + sizeof(T); }"
        ),
        12
    );
    assert_eq!(
        result("int main(void) { typedef enum { a = 3 }; typedef union U { int x; }; return a + sizeof(union U); }"),
        7
    );
}
