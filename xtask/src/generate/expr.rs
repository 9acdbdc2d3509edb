// SPDX-License-Identifier: Apache-2.0
//! Random expressions.

use super::{Generator, Names, Thing};

impl Generator {
    /// Something that can be assigned to.
    pub(super) fn place(&mut self, names: &Names) -> String {
        if self.below(2) == 0 {
            let at = self.below(names.plain.len());
            return names.plain[at].clone();
        }
        let (name, thing) = self.one(&names.things);
        let at = self.expr(names, 1);
        let member = |this: &mut Self| match this.below(11) {
            0 | 1 => format!("c[({at}) & 3]"),
            other => ["a", "b", "f1", "f2", "f3", "f4", "f5", "f6", "in.x"][other - 2].to_string(),
        };
        match thing {
            Thing::Array => format!("{name}[({at}) & 7]"),
            Thing::Matrix => format!("{name}[({at}) & 3][({}) & 3]", self.expr(names, 1)),
            Thing::Struct => format!("{name}.{}", member(self)),
            Thing::StructPointer => format!("{name}->{}", member(self)),
            Thing::Pointer => format!("(*{name})"),
            Thing::Plain => name.to_string(),
            Thing::Union => match self.below(4) {
                0 => format!("{name}.b[({at}) & 3]"),
                1 => format!("{name}.u"),
                2 => format!("{name}.h.lo"),
                _ => format!("{name}.h.hi"),
            },
        }
    }

    /// An expression without side effects.
    pub(super) fn expr(&mut self, names: &Names, depth: u32) -> String {
        if depth == 0 || self.below(8) == 0 {
            return match self.below(10) {
                0..4 => self.constant(),
                4..8 => names.plain[self.below(names.plain.len())].clone(),
                _ if depth == 0 => self.constant(),
                _ => self.place(names),
            };
        }
        let (a, b) = (self.expr(names, depth - 1), self.expr(names, depth - 1));
        match self.below(26) {
            0..7 => format!("({a} {} {b})", self.one(&["+", "-", "*", "&", "|", "^"])),
            7 => format!("({a} {} (({b}) & 7 | 1))", self.one(&["/", "%"])),
            8 | 9 => format!("({a} {} (({b}) & 15))", self.one(&["<<", ">>"])),
            10 | 11 => format!("({a} {} {b})", self.one(&["<", "<=", ">", ">=", "==", "!="])),
            12 => format!("({a} {} {b})", self.one(&["&&", "||"])),
            13 | 14 => format!("({a} ? {b} : {})", self.expr(names, depth - 1)),
            15 | 16 => format!("({})({a})", self.ty()),
            17 => format!("{}({a})", self.one(&["-", "~", "!", "+"])),
            18 => format!("(int)whole({})", self.float(names, depth - 1)),
            19 => {
                let comparison = self.one(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {comparison} {})", self.float(names, depth - 1), self.float(names, depth - 1))
            }
            20 => format!("({a} ?: {b})"),
            21 => format!("({{ {} t_ = {a}; t_ {}= {b}; t_; }})", self.ty(), self.one(&["+", "*", "-", "^"])),
            22 => format!("((struct P){{ .y = {a}, .x = {b} }}).{}", self.one(&["x", "y", "z"])),
            23 => self.of_memory(names, &a, &b),
            24 => format!("(sizeof({}) {} {a})", self.ty(), self.one(&["+", "-", "*", "<"])),
            _ => format!("({a}, {b})"),
        }
    }

    /// An integer that depends on pointers, strings and objects.
    fn of_memory(&mut self, names: &Names, a: &str, b: &str) -> String {
        let array = self
            .one(&names.things.iter().filter(|(_, t)| matches!(t, Thing::Array)).map(|(n, _)| *n).collect::<Vec<_>>());
        match self.below(10) {
            0 => format!("(&{array}[({a}) & 7] - &{array}[({b}) & 7])"),
            1 => format!("(&{array}[({a}) & 7] {} &{array}[({b}) & 7])", self.one(&["<", ">=", "==", "!="])),
            2 => format!("(int)strlen(words[({a}) & 3])"),
            3 => format!("(strcmp(words[({a}) & 3], words[({b}) & 3]) > 0)"),
            4 => format!("words[({a}) & 3][0]"),
            5 => format!("\"array\"[({a}) & 3]"),
            6 => format!("*(({a}) & 3 | 1 ? {array} + 2 : {array})"),
            7 => format!("PS[({a}) & 3].{}", self.one(&["x", "y", "z"])),
            8 => format!("(table[({a}) & 3] == h0)"),
            _ => format!("((({a}) & 1 ? gs : gs).in.x)"),
        }
    }

    /// A floating-point expression without side effects.
    pub(super) fn float(&mut self, names: &Names, depth: u32) -> String {
        if depth == 0 {
            return match self.below(6) {
                0 | 1 => self.one(&["1.5", "0.1f", "(-3e5)", "7.0", "0x1p-3", "1e10f", "0.0"]).to_string(),
                2 => "d0".into(),
                3 => "f0".into(),
                4 => "gp.d".into(),
                _ => format!("({})({})", self.one(&["float", "double"]), self.expr(names, 0)),
            };
        }
        let (a, b) = (self.float(names, depth - 1), self.float(names, depth - 1));
        match self.below(10) {
            0..5 => format!("({a} {} {b})", self.one(&["+", "-", "*", "/"])),
            5 => format!("({} ? {a} : {b})", self.expr(names, depth - 1)),
            6 => format!("({})({a})", self.one(&["float", "double"])),
            7 => format!("(-{a})"),
            8 => format!("({a} + {})", self.expr(names, depth - 1)),
            _ => format!("(double)({})", self.expr(names, depth)),
        }
    }
}
