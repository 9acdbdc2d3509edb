// SPDX-License-Identifier: Apache-2.0
//! Random statements.

use super::{Generator, Names};

impl Generator {
    fn block(&mut self, names: &mut Names, depth: u32) -> String {
        format!("{{\n{}}}", self.statements(names, depth))
    }

    fn statements(&mut self, names: &mut Names, depth: u32) -> String {
        (0..1 + self.below(3)).map(|_| self.statement(names, depth - 1)).collect()
    }

    /// Statements that may be left by `break` and `continue`.
    fn body(&mut self, names: &mut Names, depth: u32) -> String {
        names.loops += 1;
        let body = self.statements(names, depth);
        names.loops -= 1;
        body
    }

    pub(super) fn statement(&mut self, names: &mut Names, depth: u32) -> String {
        if depth == 0 {
            return self.simple(names);
        }
        match self.below(26) {
            0 if !self.functions.is_empty() => {
                let at = self.below(self.functions.len());
                let (function, params) = self.functions[at].clone();
                let args: Vec<String> = (0..params).map(|_| self.expr(names, 2)).collect();
                format!("{} = {function}({});\n", self.one(&["v", "w"]), args.join(", "))
            }
            1..4 => {
                let (cond, yes) = (self.condition(names), self.block(names, depth));
                match self.below(2) {
                    0 => format!("if ({cond}) {yes}\n"),
                    _ => format!("if ({cond}) {yes} else {}\n", self.block(names, depth)),
                }
            }
            4..6 => {
                let (i, times) = (self.fresh("i"), 1 + self.below(6));
                format!("for (int {i} = 0; {i} < {times}; {i}++) {{\n{}}}\n", self.body(names, depth))
            }
            6 => {
                let (c, times) = (self.fresh("c"), 1 + self.below(6));
                let (body, cond) = (self.body(names, depth), self.expr(names, 1));
                format!("{{ int {c} = {times}; do {{ if ({cond}) continue; {body} }} while ({c}-- > 0); }}\n")
            }
            7 => {
                let (c, times) = (self.fresh("c"), 1 + self.below(6));
                format!("{{ unsigned char {c} = {times}; while ({c}--) {{\n{}}} }}\n", self.body(names, depth))
            }
            8 | 9 => self.switch(names, depth),
            10 => format!("{} = {};\n", self.one(&names.structs), self.one(&names.structs)),
            11 => format!("q = &A[({}) & 7];\n", self.expr(names, 1)),
            12 if names.loops > 0 => {
                format!("if ({}) {};\n", self.expr(names, 1), self.one(&["break", "continue"]))
            }
            13 => format!("sp = {} ? &gs : &ls;\n", self.expr(names, 1)),
            14 | 15 => self.jump(names, depth),
            16 | 17 => self.pointers(names),
            18 => self.lists_and_strings(names),
            19 => self.calls(names),
            20 => self.floats(names),
            _ => self.simple(names),
        }
    }

    /// A condition, at times with side effects, which come in a certain order.
    fn condition(&mut self, names: &Names) -> String {
        let (a, b, c) = (self.expr(names, 2), self.expr(names, 1), self.expr(names, 1));
        match self.below(6) {
            0 => format!("{a} && (v = {b}) || (w++, {c})"),
            1 => format!("({a} ? w-- : ++v) && {b} >= {c}"),
            _ => a,
        }
    }

    fn switch(&mut self, names: &mut Names, depth: u32) -> String {
        let value = self.expr(names, 2);
        let mut text = match self.below(3) {
            0 => format!("switch ((signed char)({value}) % 9) {{\n"),
            _ => format!("switch (({value}) & 7) {{\n"),
        };
        let (first, default) = (self.below(4), self.below(5));
        for at in 0..4 {
            if at == default {
                text += &format!("default: {}{}\n", self.simple(names), self.one(&["break;", ""]));
            }
            let case = (first + 2 * at).to_string();
            let label = match self.below(4) {
                0 => format!("case {case} ... {case} + 1"),
                1 => format!("case {case}: case -{case} - 1"),
                _ => format!("case {case}"),
            };
            let inside = if self.below(3) == 0 { self.block(names, depth) } else { self.simple(names) };
            text += &format!("{label}: {inside} {}\n", self.one(&["break;", ""]));
        }
        text + "}\n"
    }

    /// `goto` backwards, forwards, into a block and into a loop.
    fn jump(&mut self, names: &mut Names, depth: u32) -> String {
        let (label, cond, body) = (self.fresh("l"), self.expr(names, 1), self.block(names, depth));
        let times = 1 + self.below(4);
        match self.below(4) {
            0 => {
                let c = self.fresh("c");
                format!("{{ int {c} = {times};\n{label}: {body}\nif ({c}-- > 0 && ({cond})) goto {label}; }}\n")
            }
            1 => format!("if ({cond}) goto {label};\n{body}\n{label}:;\n"),
            2 => {
                let (other, rest) = (self.expr(names, 1), self.block(names, depth));
                format!("if ({cond}) goto {label};\nif ({other}) {{ {rest} {label}: {body} }}\n")
            }
            _ => {
                let (c, rest) = (self.fresh("c"), self.block(names, depth));
                format!(
                    "{{ int {c} = {times}; if ({cond}) goto {label};\nwhile ({c}-- > 0) {{ {rest} {label}: {body} }} }}\n"
                )
            }
        }
    }

    fn pointers(&mut self, names: &Names) -> String {
        let (a, b, c) = (self.expr(names, 1), self.expr(names, 2), self.expr(names, 1));
        match self.below(7) {
            0 => format!("q = &A[({a}) & 3]; v = *q++; w += q[-1] + (q - A); --q; *q = {b};\n"),
            1 => format!("{{ E *p_ = L + (({a}) & 7), **pp_ = &p_; **pp_ += {b}; *pp_ = &A[({c}) & 7]; mix(*p_); }}\n"),
            2 => format!("{{ F (*r_)[4] = M + (({a}) & 3); r_[0][({c}) & 3] = {b}; mix((*r_)[1]); }}\n"),
            3 => format!(
                "{{ int n_ = 1 + (({a}) & 7); E x_[n_]; for (int i = 0; i < n_; i++) x_[i] = ({b}) + i; \
                 mix(sizeof x_ / sizeof x_[0]); mix(x_[n_ - 1]); }}\n"
            ),
            4 => format!(
                "{{ unsigned long n_ = {b}; unsigned char *b_ = (unsigned char *)&n_; b_[({a}) & 3] = {c}; mix(n_); mix(b_[1]); }}\n"
            ),
            5 => format!(
                "{{ short *x_ = &PS[({a}) & 3].x; *x_ -= {b}; struct P *p_ = PS + (({c}) & 3); p_->z = *x_; }}\n"
            ),
            _ => format!("memmove(A + (({a}) & 3), A + (({c}) & 3), (({b}) & 3) * sizeof(E));\n"),
        }
    }

    fn lists_and_strings(&mut self, names: &Names) -> String {
        let (a, b) = (self.expr(names, 1), self.expr(names, 2));
        match self.below(6) {
            0 | 1 => {
                format!("{{ List *n_ = malloc(sizeof *n_); n_->value = {b}; n_->next = head; head = n_; }}\n")
            }
            2 => "if (head) { List *n_ = head; head = head->next; free(n_); }\n".into(),
            3 => format!("{{ int n_ = 5; for (List *i = head; i && n_-- > 0; i = i->next) i->value ^= {b}; }}\n"),
            4 => format!("strcpy(buffer, words[({a}) & 3]); buffer[({b}) & 7] = {a};\n"),
            _ => format!("{{ const char *s_ = words[({a}) & 3]; while (*s_) mix(*s_++); mix(strlen(buffer)); }}\n"),
        }
    }

    fn calls(&mut self, names: &Names) -> String {
        let (a, b, c) = (self.expr(names, 1), self.expr(names, 2), self.expr(names, 1));
        match self.below(7) {
            0 => format!("v = table[({a}) & 3]({b}, {c});\n"),
            1 => format!("fp = {a} ? table[({c}) & 3] : fp; w = apply(fp, {b});\n"),
            2 => format!("v = rec(({a}) & 5, {b});\n"),
            3 => format!("w = even(({a}) & 7);\n"),
            4 => format!("PS[({a}) & 3] = change(gp, {b});\n"),
            5 => format!("gp = change(PS[({a}) & 3], {b}); v = total(gp);\n"),
            _ => format!("gp = (struct P){{ {a}, {b}, .d = {} }};\n", self.float(names, 1)),
        }
    }

    fn floats(&mut self, names: &Names) -> String {
        let value = self.float(names, 2);
        match self.below(5) {
            0 => format!("gu.f = (float)({});\n", self.expr(names, 1)),
            1 => format!("d0 {}= {value};\n", self.one(&["", "+", "*"])),
            2 => format!("f0 {}= {value};\n", self.one(&["", "-", "/"])),
            3 => format!("mix(whole({value}));\n"),
            _ => format!("mix(whole(gu.f)); d0 = {value};\n"),
        }
    }

    pub(super) fn simple(&mut self, names: &Names) -> String {
        let place = self.place(names);
        match self.below(12) {
            0 => match self.below(3) {
                0 => format!("{place}{};\n", self.one(&["++", "--"])),
                _ => format!("{{ int t_ = {}; mix(t_); }}\n", self.stepped(&place)),
            },
            1 | 2 => format!("mix({});\n", self.expr(names, 3)),
            3 => format!("{place} {}= ({}) & 7 | 1;\n", self.one(&["<<", ">>", "/", "%"]), self.expr(names, 2)),
            4 => format!(
                "{{ int t_ = ({place} {}= {}); mix(t_); }}\n",
                self.one(&["", "+", "-", "|"]),
                self.expr(names, 2)
            ),
            _ => {
                let operator = self.one(&["=", "=", "=", "+=", "-=", "*=", "^=", "|=", "&="]);
                format!("{place} {operator} {};\n", self.expr(names, 3))
            }
        }
    }

    fn stepped(&mut self, place: &str) -> String {
        match self.below(4) {
            0 => format!("{place}++"),
            1 => format!("{place}--"),
            2 => format!("++{place}"),
            _ => format!("--{place}"),
        }
    }
}
