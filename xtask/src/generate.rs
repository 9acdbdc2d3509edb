// SPDX-License-Identifier: Apache-2.0
//! Random programs without inputs and without undefined behaviour that compute a checksum in the global variable
//! `observed`, for LP64. Signed arithmetic may overflow: it wraps around. Functions with side effects are called only where
//! the order of evaluation does not matter.

use std::fmt::Write;

const TYPES: [&str; 11] = [
    "signed char",
    "unsigned char",
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
const FIELDS: [&str; 5] = ["int", "unsigned", "long", "unsigned char", "short"];
const CONSTANTS: [&str; 14] = [
    "2147483647",
    "(-2147483647-1)",
    "4294967295u",
    "0x7fffffffffffffffL",
    "0xffffffffffffffffUL",
    "255",
    "65535",
    "-32768",
    "0x80",
    "'a'",
    "'\\377'",
    "3L",
    "7UL",
    "1000000007",
];
const BEGIN: &str = "typedef unsigned long size_t;
void *malloc(size_t);
void free(void *);
void *memset(void *, int, size_t);
unsigned observed;
void mix(unsigned x) { observed = observed * 31u + (x ^ (x >> 9)); }
";

/// The kinds of things that can be assigned to besides plain variables.
#[derive(Clone, Copy)]
enum Thing {
    Array,
    Matrix,
    Struct,
    Union,
    Pointer,
    StructPointer,
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

/// The program of a number.
pub(crate) fn program(seed: u64) -> String {
    let random = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut generator = Generator { random, text: BEGIN.into(), functions: Vec::new(), counters: 0 };
    for _ in 0..8 {
        generator.below(2);
    }
    generator.declarations();
    for number in 0..1 + generator.below(4) {
        generator.function(number);
    }
    generator.main();
    generator.text
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

    fn declarations(&mut self) {
        let fields: Vec<&str> = (0..5).map(|_| self.one(&FIELDS)).collect();
        let widths = [1 + self.below(20), 2 + self.below(19), 1 + self.below(32)];
        let (array, matrix) = (self.ty(), self.ty());
        let constant = self.constant();
        let globals: Vec<String> = (0..4).map(|i| format!("{} g{i} = {};\n", self.ty(), self.constant())).collect();
        write!(
            self.text,
            "typedef {array} E;\nstruct S {{ {} a; {} b; {} c[4]; unsigned f1 : {}; int f2 : {}; unsigned long f3 : {}; \
             struct {{ {} x; {} y; }} in; }};\nunion U {{ unsigned u; unsigned char b[4]; struct {{ short lo, hi; }} h; }};\n\
             E A[8] = {{ 1, {constant} }};\n{matrix} M[4][4];\nstruct S gs = {{ 1, 2, {{ 3, 4 }} }};\nunion U gu;\n{}",
            fields[0], fields[1], fields[2], widths[0], widths[1], widths[2], fields[3], fields[4],
            globals.concat()
        )
        .expect("writing to a string does not fail");
    }

    fn names(&self, more: &[String]) -> Names {
        let plain =
            (0..4).map(|i| format!("g{i}")).chain(["v".to_string(), "w".to_string()]).chain(more.iter().cloned());
        let things = vec![
            ("A", Thing::Array),
            ("M", Thing::Matrix),
            ("gs", Thing::Struct),
            ("gu", Thing::Union),
            ("L", Thing::Array),
            ("ls", Thing::Struct),
            ("q", Thing::Pointer),
        ];
        Names { plain: plain.collect(), things, structs: vec!["gs", "ls"], loops: 0 }
    }

    fn function(&mut self, number: usize) {
        let params: Vec<String> = (0..self.below(4)).map(|i| format!("p{i}")).collect();
        let typed: Vec<String> = params.iter().map(|name| format!("{} {name}", self.ty())).collect();
        let mut names = self.names(&params);
        let body: String = (0..2 + self.below(4)).map(|_| self.statement(&mut names, 2)).collect();
        let result = self.expr(&names, 2);
        let (ret, v, w) = (self.ty(), self.ty(), self.ty());
        let list = if typed.is_empty() { "void".to_string() } else { typed.join(", ") };
        self.text += &format!(
            "{ret} fn{number}({list}) {{\n{v} v = 1; {w} w = 2; E L[8] = {{ 0 }}; struct S ls = {{ 0 }}; E *q = &A[3];\n\
             {body}return {result};\n}}\n"
        );
        self.functions.push((format!("fn{number}"), params.len()));
    }

    fn main(&mut self) {
        let mut names = self.names(&[]);
        names.things.push(("h", Thing::StructPointer));
        names.structs.push("*h");
        let body: String = (0..6 + self.below(7)).map(|_| self.statement(&mut names, 3)).collect();
        let (v, w) = (self.ty(), self.ty());
        let mut end = String::new();
        for name in &names.plain {
            end += &format!("mix({name}); mix((unsigned long){name} >> 32);\n");
        }
        end += "for (int i = 0; i < 8; i++) { mix(A[i]); mix(L[i]); mix(M[i & 3][i >> 1]); }\n";
        for name in ["gs", "ls", "(*h)"] {
            for field in ["a", "b", "c[1]", "f1", "f2", "f3", "in.x", "in.y"] {
                end += &format!("mix({name}.{field}); ");
            }
        }
        self.text += &format!(
            "int main(void) {{\n{v} v = 3; {w} w = 4; E L[8]; struct S ls = gs; E *q = A; struct S *h = malloc(sizeof *h);\n\
             *h = gs; memset(L, 1, sizeof L);\n{body}{end}mix(gu.u);\nfree(h);\nreturn 0;\n}}\n"
        );
    }

    /// Something that can be assigned to.
    fn place(&mut self, names: &Names) -> String {
        if self.below(2) == 0 {
            let at = self.below(names.plain.len());
            return names.plain[at].clone();
        }
        let (name, thing) = self.one(&names.things);
        let at = self.expr(names, 1);
        let member = |this: &mut Self| match this.below(8) {
            0 | 1 => format!("c[({at}) & 3]"),
            other => ["a", "b", "f1", "f2", "f3", "in.x"][other - 2].to_string(),
        };
        match thing {
            Thing::Array => format!("{name}[({at}) & 7]"),
            Thing::Matrix => format!("{name}[({at}) & 3][({}) & 3]", self.expr(names, 1)),
            Thing::Struct => format!("{name}.{}", member(self)),
            Thing::StructPointer => format!("{name}->{}", member(self)),
            Thing::Pointer => format!("(*{name})"),
            Thing::Union => match self.below(4) {
                0 => format!("{name}.b[({at}) & 3]"),
                1 => format!("{name}.u"),
                2 => format!("{name}.h.lo"),
                _ => format!("{name}.h.hi"),
            },
        }
    }

    /// An expression without side effects.
    fn expr(&mut self, names: &Names, depth: u32) -> String {
        if depth == 0 || self.below(8) == 0 {
            return match self.below(10) {
                0..4 => self.constant(),
                4..8 => names.plain[self.below(names.plain.len())].clone(),
                _ if depth == 0 => self.constant(),
                _ => self.place(names),
            };
        }
        let (a, b) = (self.expr(names, depth - 1), self.expr(names, depth - 1));
        match self.below(20) {
            0..7 => format!("({a} {} {b})", self.one(&["+", "-", "*", "&", "|", "^"])),
            7 => format!("({a} {} (({b}) & 7 | 1))", self.one(&["/", "%"])),
            8 | 9 => format!("({a} {} (({b}) & 15))", self.one(&["<<", ">>"])),
            10 | 11 => format!("({a} {} {b})", self.one(&["<", "<=", ">", ">=", "==", "!="])),
            12 => format!("({a} {} {b})", self.one(&["&&", "||"])),
            13 | 14 => format!("({a} ? {b} : {})", self.expr(names, depth - 1)),
            15 | 16 => format!("({})({a})", self.ty()),
            17 => format!("{}({a})", self.one(&["-", "~", "!"])),
            18 => format!("((int)((double)(short)({a}) / 3.0 - 1.5f))"),
            _ => format!("({a}, {b})"),
        }
    }

    fn block(&mut self, names: &mut Names, depth: u32) -> String {
        let statements: String = (0..1 + self.below(3)).map(|_| self.statement(names, depth - 1)).collect();
        format!("{{\n{statements}}}")
    }

    fn statement(&mut self, names: &mut Names, depth: u32) -> String {
        if depth == 0 {
            return self.simple(names);
        }
        match self.below(20) {
            0 if !self.functions.is_empty() => {
                let at = self.below(self.functions.len());
                let (function, params) = self.functions[at].clone();
                let args: Vec<String> = (0..params).map(|_| self.expr(names, 2)).collect();
                format!("{} = {function}({});\n", self.one(&["v", "w"]), args.join(", "))
            }
            1..4 => {
                let (cond, yes) = (self.expr(names, 2), self.block(names, depth));
                match self.below(2) {
                    0 => format!("if ({cond}) {yes}\n"),
                    _ => format!("if ({cond}) {yes} else {}\n", self.block(names, depth)),
                }
            }
            4..7 => {
                self.counters += 1;
                let (i, times) = (format!("i{}", self.counters), 1 + self.below(6));
                names.loops += 1;
                let body = self.block(names, depth);
                names.loops -= 1;
                format!("for (int {i} = 0; {i} < {times}; {i}++) {body}\n")
            }
            7 => {
                self.counters += 1;
                let (c, times) = (format!("c{}", self.counters), 1 + self.below(6));
                names.loops += 1;
                let (body, cond) = (self.block(names, depth), self.expr(names, 1));
                names.loops -= 1;
                format!("{{ int {c} = {times}; do {{ if ({cond}) continue; {body} }} while ({c}-- > 0); }}\n")
            }
            8 | 9 => {
                let value = self.expr(names, 2);
                let mut text = format!("switch (({value}) & 7) {{\n");
                let first = self.below(5);
                for case in first..first + 3 {
                    let end = self.one(&["break;", ""]);
                    text += &format!("case {case}: {}{end}\n", self.simple(names));
                }
                text + &format!("default: {}}}\n", self.simple(names))
            }
            10 => format!("{} = {};\n", self.one(&names.structs), self.one(&names.structs)),
            11 => format!("q = &A[({}) & 7];\n", self.expr(names, 1)),
            12 if names.loops > 0 => {
                format!("if ({}) {};\n", self.expr(names, 1), self.one(&["break", "continue"]))
            }
            _ => self.simple(names),
        }
    }

    fn simple(&mut self, names: &Names) -> String {
        let place = self.place(names);
        match self.below(10) {
            0 => format!("{place}{};\n", self.one(&["++", "--"])),
            1 | 2 => format!("mix({});\n", self.expr(names, 3)),
            _ => {
                let operator = self.one(&["=", "=", "=", "+=", "-=", "*=", "^=", "|=", "&="]);
                format!("{place} {operator} {};\n", self.expr(names, 3))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_number_always_makes_the_same_program() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7), program(8));
    }
}
