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
fn names_of_types_are_scoped() {
    assert_eq!(result("typedef int T; int main(void) { int T = 3; int y = (T) - 1; return T * y; }"), 6);
    assert_eq!(
        result("typedef int T; int main(void) { int x = 3; { int T = 1; x = T * x; } T y = x; return (T)+y; }"),
        3
    );
    assert_eq!(result("typedef char T; T f(T T); int main(void) { enum { A, T = 300 }; return T; }"), 300);
    assert_eq!(result("typedef char T; int main(void) { for (int T = 0; T < 1; T++) ; return (T)300; }"), 44);
    assert_eq!(result("int main(void) { typedef unsigned char T; T x = (T)300; return x + (T)-1; }"), 299);
    assert_eq!(result("typedef int T; int main(void) { goto T; T: return sizeof(T); }"), 4);
    assert_eq!(
        result("typedef enum { false, true } bool; int main(void) { bool b = true; return (bool)b + false; }"),
        1
    );
}

#[test]
fn old_and_implicit_types() {
    assert_eq!(result("main() { return 3; }"), 3);
    assert_eq!(result("static x; main() { auto y = 2; x = y; return x; }"), 2);
    let program = load(
        "int f(a, b) char b; { return a + b; } int *g(x, p) int *p; int x; { return p; } \
                        int h() { return 1; } int main(void) { return f(1, 300) + h(); }",
    );
    assert!(program.dump().contains("f(f::a, f::b)"), "{}", program.dump());
    assert!(program.dump().contains("call f(1, 44)"), "{}", program.dump());
}

#[test]
fn types_of_expressions() {
    let text = "struct o { int v; struct n { char c; } list; };
        int main(void) { char x = 1; typeof(x) y = 300; typeof(x + 1L) z = 300; typeof(int *) p = 0;
            typeof(((struct o *)0)->list.c) w = 257; __typeof__(typeof(x)) v = 2; return y + z + sizeof(p) + w + v; }";
    assert_eq!(result(text), 44 + 300 + 4 + 1 + 2);
    assert_eq!(
        result(
            "struct s { int a; struct { char b, c[4]; } d[3]; }; int main(void) {
        return __builtin_offsetof(struct s, d[2].c[1]); }"
        ),
        4 + 10 + 1 + 1
    );
    assert_eq!(expr("__alignof__(x) + _Alignof(short) + __alignof__(byte)"), 7);
}

#[test]
fn labels_and_switches() {
    let switch = |x: i32| {
        result(&format!(
            "int main(void) {{ int x = {x}, y = 0; switch (x) {{ case 1 ... 5: return 1; case 'a'...'z': return 2; \
             case 7: case 8: y = 7; break; default: return 3; }} return y; }}"
        ))
    };
    assert_eq!([1, 3, 5, 6, 8, 97, 110, 122, 123].map(switch), [1, 1, 1, 3, 7, 2, 2, 2, 3]);
    assert_eq!(result("int main(void) { int x = 1; switch (x) case 1: return 4; return 0; }"), 4);
    let text =
        "int main(void) { int x = 2, y = 0; switch (x) { if (y) case 1: y = 2; else case 2: y = 3; y++; } return y; }";
    assert_eq!(result(text), 4);
    assert_eq!(result("int main(void) { __label__ e; goto e; e: ; int x = 1; return x; }"), 1);
    assert_eq!(result("int main(void) { goto e; e: int x = 1; return x; }"), 1);
    let many: String = (0..3000).map(|k| format!("case {k}: ")).collect();
    assert_eq!(result(&format!("int main(void) {{ int x = 5; switch (x) {{ {many} x = 9; }} return x; }}")), 9);
}

#[test]
fn attributes_and_assembly() {
    let sizes = "struct __attribute__((packed)) A { char c; int x; }; struct B { char c; int x; } __attribute__((__packed__));
        #pragma pack(push, 2)
        struct C { char c; int x; };
        #pragma pack(pop)
        struct D { char c; int x; };
        typedef unsigned u __attribute__((__mode__(__QI__)));
        int main(void) { return sizeof(struct A) + 10 * sizeof(struct B) + 100 * sizeof(struct C) + 1000 * sizeof(struct D)
            + 10000 * sizeof(u); }";
    assert_eq!(result(sizes), 5 + 50 + 600 + 8000 + 10000);
    let text = "[[nodiscard]] int g(void) { return 1; }
        int f(int x __attribute__((unused)), __attribute__((unused)) int y) { return 1; }
        extern int h(int) __asm__(\"i\") __attribute__((nothrow)); asm(\".globl f\"); _Static_assert(1, \"\");
        int main(void) { register int r asm(\"eax\") __attribute__((unused)) = 1, s __attribute__((unused)) = 2;
            switch (r) { case 1: s++; __attribute__((fallthrough)); default: ; } asm volatile(\"\" ::: \"memory\");
            _Static_assert(1, \"\"); l: __attribute__((unused)); return r + s; }";
    assert_eq!(result(text), 4);
}

#[test]
fn what_has_no_meaning_stands_on_its_edge() {
    for statement in [
        "asm(\"nop\" : \"=r\"(x));",
        "goto *p;",
        "p = &&l;",
        "int f(int y) { return y; }",
        "x = _Generic(x, int: 1, default: 2);",
        "__builtin_va_list v; x = __builtin_va_arg(v, int);",
        "x = 1i;",
        "__int128 y = x; x = y;",
        "_Complex double z; x = z;",
        "struct __attribute__((aligned(16))) { char c; } s; x = sizeof(s);",
    ] {
        let text = format!("int main(void) {{ int x = 0; void *p = 0; if (x) {{ {statement} }} l: return x; }}");
        let program = load(&text);
        let found = program.edges.iter().any(|edge| matches!(edge.op, Op::Unsupported { .. }));
        assert!(found, "{statement}\n{}", program.dump());
    }
}
