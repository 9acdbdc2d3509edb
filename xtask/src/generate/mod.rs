// SPDX-License-Identifier: Apache-2.0
//! Random programs without inputs and without undefined behaviour that compute a checksum in the global variable
//! `observed`. Signed arithmetic may overflow: it wraps around. Functions with side effects are called only where the order
//! of evaluation does not matter, and bits of floating-point numbers are looked at only where they are no NaN.

mod expr;
mod stmt;

use std::fmt::Write;

const TYPES: [&str; 12] = [
    "signed char",
    "unsigned char",
    "char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "_Bool",
    "unsigned long long",
];
const FIELDS: [&str; 7] = ["int", "unsigned", "long", "unsigned char", "short", "long long", "signed char"];
const CONSTANTS: [&str; 18] = [
    "2147483647",
    "(-2147483647-1)",
    "4294967295u",
    "0x7fffffffffffffffLL",
    "0xffffffffffffffffULL",
    "255",
    "65535",
    "-32768",
    "0x80",
    "'a'",
    "'\\377'",
    "3L",
    "7UL",
    "1000000007",
    "GREEN",
    "BIG",
    "0377",
    "0x80000000",
];
/// What all programs begin with, behind the definition of `size_t`.
const BEGIN: &str = r#"void *malloc(size_t);
void free(void *);
void *memset(void *, int, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
char *strcpy(char *, const char *);
void reach_error(void) { }
unsigned observed;
void mix(unsigned x) { observed = observed * 31u + (x ^ (x >> 9)); }
static unsigned whole(double x) { return x > -2e9 && x < 2e9 ? (unsigned)(int)x : x != x ? 77u : x < 0; }
enum Color { RED, GREEN = -5, BLUE, BIG = 70000 };
typedef struct List { struct List *next; long value; } List;
List *head;
const char *words[4] = { "", "a\377b", "hello" " you", "x\0y" };
char buffer[16] = "start";
struct P { short x; long long y; signed char z; double d; } gp = { .y = 5, .x = -1 }, PS[4] = { [1] = { 1, 2, 3, 4.5 }, { .z = -7 } };
double d0 = 0.1;
float f0 = 3;
"#;

/// The kinds of things that can be assigned to besides plain variables.
#[derive(Clone, Copy)]
enum Thing {
    Array,
    Matrix,
    Struct,
    Union,
    Pointer,
    StructPointer,
    Plain,
}

/// What is visible in a function.
struct Names {
    plain: Vec<String>,
    things: Vec<(&'static str, Thing)>,
    structs: Vec<&'static str>,
    /// Loops around the statement that may be left.
    loops: u32,
}

struct Generator {
    random: u64,
    text: String,
    /// Names and numbers of parameters.
    functions: Vec<(String, usize)>,
    counters: u32,
}

/// A program, but for the end of its last function, which is `main`.
pub(crate) struct Program {
    text: String,
    pub(crate) is_64: bool,
}

impl Program {
    /// The program that ends so.
    pub(crate) fn ending(&self, statement: &str) -> String {
        format!("{}{statement}\nreturn 0;\n}}\n", self.text)
    }

    /// The same program, but what its global variables hold at the beginning are inputs of which only one value is let
    /// through, so that who reads the program cannot compute everything at once.
    pub(crate) fn with_inputs(&self, statement: &str) -> String {
        let main = "int main(void) {\n";
        let inputs: String = (0..4)
            .map(|i| {
                format!("{{ long long n_ = __VERIFIER_nondet_longlong(); if (n_ != (long long)g{i}) abort(); g{i} = n_; }}\n")
            })
            .collect();
        let declarations = "void abort(void);\nlong long __VERIFIER_nondet_longlong(void);\n";
        self.ending(statement).replace(main, &format!("{declarations}{main}{inputs}"))
    }
}

/// The program of a number; every fourth one is for 32-bit machines.
pub(crate) fn program(seed: u64) -> Program {
    let random = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let is_64 = seed % 4 != 3;
    let begin = format!("typedef unsigned {} size_t;\n{BEGIN}", if is_64 { "long" } else { "int" });
    let mut generator = Generator { random, text: begin, functions: Vec::new(), counters: 0 };
    for _ in 0..8 {
        generator.below(2);
    }
    generator.declarations();
    generator.pointed_to();
    generator.recursive();
    for number in 0..1 + generator.below(4) {
        generator.function(number);
    }
    generator.main();
    Program { text: generator.text, is_64 }
}

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn ty(&mut self) -> &'static str {
        self.one(&TYPES)
    }

    fn constant(&mut self) -> String {
        match self.below(10) {
            0..5 => self.below(21).to_string(),
            5 | 6 => format!("(-{})", 1 + self.below(200)),
            7 => self.below(1 << 31).to_string(),
            _ => self.one(&CONSTANTS).to_string(),
        }
    }

    /// A name that no other thing has.
    fn fresh(&mut self, prefix: &str) -> String {
        self.counters += 1;
        format!("{prefix}{}", self.counters)
    }

    fn declarations(&mut self) {
        let fields: Vec<&str> = (0..5).map(|_| self.one(&FIELDS)).collect();
        let widths = [1 + self.below(20), 2 + self.below(19), 1 + self.below(32), 1 + self.below(8), 1 + self.below(7)];
        let (array, matrix) = (self.ty(), self.ty());
        let constant = self.constant();
        let globals: Vec<String> = (0..4).map(|i| format!("{} g{i} = {};\n", self.ty(), self.constant())).collect();
        write!(
            self.text,
            "typedef {array} E;\ntypedef {matrix} F;\nstruct S {{ {} a; {} b; {} c[4]; unsigned f1 : {}; int f2 : {}; \
             unsigned long f3 : {}; unsigned char f4 : {}; signed char f5 : {}; _Bool f6 : 1; struct {{ {} x; {} y; }} in; }};\n\
             union U {{ unsigned u; unsigned char b[4]; struct {{ short lo, hi; }} h; float f; }};\n\
             E A[8] = {{ 1, {constant}, [5] = 9 }};\nF M[4][4] = {{ [2] = {{ 1, 2 }}, 3, 4 }};\n\
             struct S gs = {{ 1, 2, {{ 3, 4 }}, .in.y = 6 }};\nunion U gu;\n{}",
            fields[0], fields[1], fields[2], widths[0], widths[1], widths[2], widths[3], widths[4], fields[3], fields[4],
            globals.concat()
        )
        .expect("writing to a string does not fail");
        self.small();
    }

    /// A structure and a union that are one variable each, with initialisers for parts of them.
    fn small(&mut self) {
        let (x, width) = self.one(&[("int", 19), ("unsigned", 25), ("short", 9), ("unsigned char", 7), ("_Bool", 1)]);
        let (y, first) = (2 + self.below(6), self.one(&["signed char", "unsigned char", "short"]));
        let whole = self.constant();
        let (a, b) = (self.constant(), self.constant());
        let of_bits = match self.below(4) {
            0 => format!("{{ {a}, {b} }}"),
            1 => format!("{{ .y = {a}, .x = {b} }}"),
            2 => format!("{{ .z = {a}, .y = {b} }}"),
            _ => format!("{{ .x = {a}, .y = {b}, .x = 0 }}"),
        };
        let of_union = match self.below(3) {
            0 => format!("{{ .i = {whole} }}"),
            _ => format!("{{ {whole} }}"),
        };
        self.text += &format!(
            "struct B {{ {x} x : {width}; int y : {y}; short z; }};\nunion V {{ {first} c; unsigned short s; int i; }};\n\
             static struct B gb = {of_bits};\nunion V gv = {of_union};\n"
        );
    }

    fn names(&self, more: &[String]) -> Names {
        let parts = ["v", "w", "gb.x", "gb.y", "gb.z", "gv.c", "gv.s"].map(String::from);
        let plain = (0..4).map(|i| format!("g{i}")).chain(parts).chain(more.iter().cloned());
        let things = vec![
            ("A", Thing::Array),
            ("M", Thing::Matrix),
            ("gs", Thing::Struct),
            ("gu", Thing::Union),
            ("L", Thing::Array),
            ("ls", Thing::Struct),
            ("q", Thing::Pointer),
            ("sp", Thing::StructPointer),
            ("k", Thing::Plain),
        ];
        Names { plain: plain.collect(), things, structs: vec!["gs", "ls", "*sp"], loops: 0 }
    }

    /// Functions that are called through pointers, and one for structures.
    fn pointed_to(&mut self) {
        self.text += "typedef long (*Function)(long, int);\nstatic long h0(long, int), h1(long, int), h2(long, int);\n\
                      Function table[4] = { h0, &h1, h2, h0 };\n";
        for number in 0..3 {
            let mut names = self.names(&["p0".into(), "p1".into()]);
            names.plain.retain(|name| name != "v" && name != "w");
            names.things.retain(|(name, _)| matches!(*name, "A" | "M" | "gs" | "gu"));
            let (result, effect) = (self.expr(&names, 2), self.simple(&names));
            self.text += &format!("static long h{number}(long p0, int p1) {{ {effect}return {result}; }}\n");
        }
        let mut names = self.names(&["p.x".into(), "p.y".into(), "p.z".into(), "d".into()]);
        names.plain.retain(|name| name != "v" && name != "w");
        names.things.retain(|(name, _)| matches!(*name, "A" | "gs" | "gu"));
        let (x, y) = (self.expr(&names, 2), self.expr(&names, 2));
        self.text += &format!(
            "static long apply(Function f, int x) {{ return f ? (*f)(x, 3) : -1; }}\n\
             struct P change(struct P p, unsigned char d) {{ p.x += {x}; p.d = d / 3.0f; p.y ^= {y}; return p; }}\n\
             long total(struct P p) {{ return p.x + p.y * 3 + p.z; }}\n"
        );
    }

    /// Functions that call themselves and each other.
    fn recursive(&mut self) {
        let mut names = self.names(&["x".into()]);
        names.things.retain(|(name, _)| matches!(*name, "A" | "M" | "gs" | "gu"));
        let (ty, local, w) = (self.ty(), self.ty(), self.ty());
        let (leaf, inner, next) = (self.expr(&names, 1), self.expr(&names, 2), self.expr(&names, 1));
        let (effect, operator) = (self.simple(&names), self.one(&["+", "-", "^", "*"]));
        self.text += &format!(
            "static int odd(unsigned);\nstatic int even(unsigned n) {{ return n == 0 ? 1 : odd(n - 1); }}\n\
             static int odd(unsigned n) {{ return n == 0 ? 0 : even(n - 1); }}\n\
             {ty} rec(int d, long x) {{\nstatic int calls; {local} v = x; {w} w = 0; calls++;\nif (d <= 0) return {leaf} + calls;\n\
             w = rec(d - 1, {inner});\n{effect}if (x & 1) v {operator}= rec(d - 2, {next});\nreturn v + w;\n}}\n"
        );
    }

    fn function(&mut self, number: usize) {
        let params: Vec<String> = (0..self.below(4)).map(|i| format!("p{i}")).collect();
        let typed: Vec<String> = params.iter().map(|name| format!("{} {name}", self.ty())).collect();
        let mut names = self.names(&params);
        names.plain.extend(["s", "lb.x", "lb.y", "lv.c"].map(String::from));
        let body: String = (0..2 + self.below(4)).map(|_| self.statement(&mut names, 2)).collect();
        let result = self.expr(&names, 2);
        let (ret, v, w, s) = (self.ty(), self.ty(), self.ty(), self.ty());
        let (k, constant) = (self.below(8), self.constant());
        let list = if typed.is_empty() { "void".to_string() } else { typed.join(", ") };
        self.text += &format!(
            "{ret} fn{number}({list}) {{\n{v} v = 1; {w} w = 2; E L[8] = {{ 0 }}; struct S ls = {{ 0 }}, *sp = &ls; E *q = &A[3];\n\
             static {s} s = {constant}; static union V lv = {{ {k} }}; struct B lb = {{ .y = 1 }}; enum Color k = {k}; Function fp = h{};\n{body}return {result};\n}}\n",
            k % 3
        );
        self.functions.push((format!("fn{number}"), params.len()));
    }

    fn main(&mut self) {
        let mut names = self.names(&[]);
        names.things.push(("h", Thing::StructPointer));
        names.structs.push("*h");
        let body: String = (0..8 + self.below(8)).map(|_| self.statement(&mut names, 3)).collect();
        let (v, w) = (self.ty(), self.ty());
        let mut end = String::new();
        for name in &names.plain {
            end += &format!("mix({name}); mix((unsigned long long){name} >> 32);\n");
        }
        end += "for (int i = 0; i < 8; i++) { mix(A[i]); mix(L[i]); mix(M[i & 3][i >> 1]); mix(buffer[i]); }\n";
        end += "for (int i = 0; i < 4; i++) { mix(total(PS[i])); mix(whole(PS[i].d)); }\n";
        for name in ["gs", "ls", "(*h)"] {
            for field in ["a", "b", "c[1]", "f1", "f2", "f3", "f4", "f5", "f6", "in.x", "in.y"] {
                end += &format!("mix({name}.{field}); ");
            }
        }
        self.text += &format!(
            "int main(void) {{\n{v} v = 3; {w} w = 4; E L[8]; struct S ls = gs, *sp = &gs; E *q = A; struct S *h = malloc(sizeof *h);\n\
             enum Color k = BLUE; Function fp = 0;\n*h = gs; memset(L, 1, sizeof L);\n{body}{end}mix(gu.u); mix(k);\n\
             mix(total(gp)); mix(whole(gp.d)); mix(whole(d0)); mix(whole(f0 * 16)); mix(sizeof(struct S) + sizeof(struct P));\n\
             for (List *i = head; i; i = i->next) mix(i->value);\nfree(h);\n"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_number_always_makes_the_same_program() {
        assert_eq!(program(7).ending(""), program(7).ending(""));
        assert_ne!(program(7).ending(""), program(8).ending(""));
    }
}
