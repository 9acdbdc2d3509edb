// SPDX-License-Identifier: Apache-2.0
//! Values, contents and conditions as text, for tests and for looking at what goes on.

use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, CondKind, Pool};

impl Pool {
    /// A value: `2*n + a[3]`.
    pub(crate) fn show(&self, poly: &Poly) -> String {
        let (summands, divisor) = poly.parts();
        let mut parts = Vec::new();
        for (monomial, coefficient) in summands {
            let mut factors = Vec::new();
            if *coefficient != 1 || monomial.is_empty() {
                factors.push(coefficient.to_string());
            }
            for (atom, power) in monomial {
                let atom = self.show_atom(*atom);
                factors.push(if *power == 1 { atom } else { format!("{atom}^{power}") });
            }
            parts.push(factors.join("*"));
        }
        let sum = if parts.is_empty() { "0".to_string() } else { parts.join(" + ") };
        if divisor == 1 { sum } else { format!("({sum})/{divisor}") }
    }

    fn show_all(&self, polys: &[Poly]) -> String {
        polys.iter().map(|poly| self.show(poly)).collect::<Vec<_>>().join(", ")
    }

    fn show_atom(&self, atom: Atom) -> String {
        match self.kind(atom) {
            AtomKind::Iteration(name) => format!("t{name}"),
            AtomKind::Hole(number) => format!("h{number}"),
            AtomKind::Bound(number) => format!("b{number}"),
            AtomKind::Base(object) => format!("&o{object}"),
            AtomKind::Row(object, index) => format!("&o{object}[{}]", self.show(index)),
            AtomKind::Input(name, parameters, ..) => format!("x{name}({})", self.show_all(parameters)),
            AtomKind::Element(array, index) => format!("{}[{}]", self.show_array(*array), self.show(index)),
            AtomKind::Sum(number, body, upper) => {
                format!("sum(b{number} < {}: {})", self.show(upper), self.show(body))
            }
            AtomKind::Ite(cond, yes, no) => {
                format!("({} ? {} : {})", self.show_cond(*cond), self.show(yes), self.show(no))
            }
            AtomKind::Wrap(value, ty) => format!("{}({})", ty.c_name(), self.show(value)),
            AtomKind::Mod(value, divisor) => format!("({} mod {divisor})", self.show(value)),
            AtomKind::Opaque(op, left, right, _) => format!("{op:?}({}, {})", self.show(left), self.show(right)),
        }
    }

    /// What is in an array: `A3{[n] = 0}`.
    pub(crate) fn show_array(&self, array: ArrayId) -> String {
        match self.array(array) {
            ArrayKind::Unknown(name, parameters, _) => format!("A{name}({})", self.show_all(parameters)),
            ArrayKind::Zero => "0".to_string(),
            ArrayKind::Store(base, index, value) => {
                format!("{}{{[{}] = {}}}", self.show_array(*base), self.show(index), self.show(value))
            }
            ArrayKind::Layer(base, upper, writes) => format!(
                "{}{{b{} < {}: [{} + {}*b] = {} if {}}}",
                self.show_array(*base),
                writes.depth,
                self.show(upper),
                self.show(&writes.start),
                writes.stride,
                self.show(&writes.value),
                self.show_cond(writes.guard)
            ),
        }
    }

    /// A condition.
    pub(crate) fn show_cond(&self, cond: CondId) -> String {
        let all = |parts: &[CondId], between: &str| {
            parts.iter().map(|part| format!("({})", self.show_cond(*part))).collect::<Vec<_>>().join(between)
        };
        match self.cond(cond) {
            CondKind::True => "true".to_string(),
            CondKind::False => "false".to_string(),
            CondKind::AtMostZero(value) => format!("{} <= 0", self.show(value)),
            CondKind::Zero(value) => format!("{} = 0", self.show(value)),
            CondKind::Not(inner) => format!("!({})", self.show_cond(*inner)),
            CondKind::And(parts) => all(parts, " && "),
            CondKind::Or(parts) => all(parts, " || "),
            CondKind::Exists(number, body, upper) => {
                format!("some(b{number} < {}: {})", self.show(upper), self.show_cond(*body))
            }
        }
    }
}
