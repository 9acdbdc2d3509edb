// SPDX-License-Identifier: Apache-2.0
//! Infix notation for people.
//!
//! `x@3 + 1 <= y`, with `<=s` and `<=u` for signed and unsigned bit-vector comparison and the strict ones for negated
//! comparisons. Bit-vector constants are printed in two's complement next to signed operators and above. Shared parts
//! are printed each time, so the output stops with `...` after [`BUDGET`] nodes; `smtlib` prints large terms.

use std::cell::Cell;
use std::fmt;

use super::ids::{Sort, TermId};
use super::node::{BvBin, BvCmp, BvUn, FpBin, FpCmp, FpUn, Rounding, Term};
use super::semantics::to_signed;
use super::store::Terms;

/// Nodes printed at most.
const BUDGET: usize = 4000;
/// Nesting printed at most.
const NESTING: usize = 200;

/// A term in infix notation, see [`Terms::display`].
pub struct Infix<'a> {
    terms: &'a Terms,
    root: TermId,
}

impl Terms {
    /// The term in infix notation.
    pub fn display(&self, t: TermId) -> Infix<'_> {
        Infix { terms: self, root: t }
    }
}

impl fmt::Display for Infix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer { terms: self.terms, left: Cell::new(BUDGET) };
        printer.term(f, self.root, Level::Top, 0)
    }
}

/// How tightly the context binds; a term that binds less is put in parentheses.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd)]
enum Level {
    Top,
    Junction,
    Comparison,
    Sum,
    Product,
    Tight,
}

struct Printer<'a> {
    terms: &'a Terms,
    left: Cell<usize>,
}

impl Printer<'_> {
    fn term(&self, f: &mut fmt::Formatter<'_>, t: TermId, context: Level, depth: usize) -> fmt::Result {
        if self.left.get() == 0 || depth > NESTING {
            return f.write_str("...");
        }
        self.left.set(self.left.get() - 1);
        let level = self.level(t);
        let parentheses = level <= context && level != Level::Tight;
        if parentheses {
            f.write_str("(")?;
        }
        self.node(f, t, depth + 1)?;
        if parentheses {
            f.write_str(")")?;
        }
        Ok(())
    }

    fn level(&self, t: TermId) -> Level {
        match *self.terms.get(t) {
            Term::And(_) | Term::Or(_) => Level::Junction,
            Term::Not(a) => match self.terms.get(a) {
                Term::Eq(..) | Term::BvCmp(..) | Term::IntLe(..) => Level::Comparison,
                _ => Level::Tight,
            },
            Term::Eq(..) | Term::BvCmp(..) | Term::IntLe(..) | Term::FpCmp(..) => Level::Comparison,
            Term::FpBin(FpBin::Add | FpBin::Sub, ..) => Level::Sum,
            Term::FpBin(..) => Level::Product,
            Term::IntAdd(_) | Term::BvBin(BvBin::Add | BvBin::Sub, ..) => Level::Sum,
            Term::BvUn(..)
            | Term::BvBin(..)
            | Term::IntMulConst(..)
            | Term::IntMul(..)
            | Term::IntDiv(..)
            | Term::IntMod(..) => Level::Product,
            Term::True
            | Term::False
            | Term::Bv { .. }
            | Term::Int(_)
            | Term::Var { .. }
            | Term::Ite(..)
            | Term::Concat(..)
            | Term::ConstArray { .. }
            | Term::Select(..)
            | Term::Store { .. }
            | Term::FpUn(..)
            | Term::Extract { .. }
            | Term::Zext { .. }
            | Term::Sext { .. } => Level::Tight,
        }
    }

    fn list(&self, f: &mut fmt::Formatter<'_>, xs: &[TermId], separator: &str, d: usize) -> fmt::Result {
        for (i, &x) in xs.iter().enumerate() {
            if i > 0 {
                f.write_str(separator)?;
            }
            if self.left.get() == 0 {
                return f.write_str("...");
            }
            self.term(f, x, Level::Junction, d)?;
        }
        Ok(())
    }

    fn infix(&self, f: &mut fmt::Formatter<'_>, l: Level, a: TermId, op: &str, b: TermId, d: usize) -> fmt::Result {
        // Sums and products lean to the left.
        let left = match l {
            Level::Sum if self.level(a) == Level::Sum => Level::Comparison,
            Level::Top | Level::Junction | Level::Comparison | Level::Sum | Level::Product | Level::Tight => l,
        };
        self.term(f, a, left, d)?;
        write!(f, " {op} ")?;
        self.term(f, b, l, d)
    }

    fn call(&self, f: &mut fmt::Formatter<'_>, name: &str, args: &[TermId], d: usize) -> fmt::Result {
        write!(f, "{name}(")?;
        for (i, &x) in args.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            self.term(f, x, Level::Top, d)?;
        }
        f.write_str(")")
    }

    fn comparison(&self, f: &mut fmt::Formatter<'_>, t: TermId, negated: bool, d: usize) -> fmt::Result {
        let level = Level::Comparison;
        match *self.terms.get(t) {
            Term::Eq(a, b) => {
                let op = match (self.terms.sort(a), negated) {
                    (Sort::Bool, false) => "<=>",
                    (Sort::Bool, true) => "xor",
                    (Sort::Bv(_) | Sort::Int | Sort::Array { .. }, false) => "=",
                    (Sort::Bv(_) | Sort::Int | Sort::Array { .. }, true) => "!=",
                };
                self.infix(f, level, a, op, b, d)
            }
            // The negation of a <= b is b < a; next to a constant the order is kept.
            Term::BvCmp(op, a, b) => {
                let sign = if op == BvCmp::Sle { 's' } else { 'u' };
                match (negated, self.terms.as_value(b)) {
                    (false, _) => self.infix(f, level, a, &format!("<={sign}"), b, d),
                    (true, Some(_)) => self.infix(f, level, a, &format!(">{sign}"), b, d),
                    (true, None) => self.infix(f, level, b, &format!("<{sign}"), a, d),
                }
            }
            Term::IntLe(a, b) => self.infix(f, level, a, if negated { ">" } else { "<=" }, b, d),
            _ => self.term(f, t, Level::Tight, d),
        }
    }

    fn node(&self, f: &mut fmt::Formatter<'_>, t: TermId, d: usize) -> fmt::Result {
        match self.terms.get(t) {
            Term::True => f.write_str("true"),
            Term::False => f.write_str("false"),
            &Term::Bv { width, bits } => write!(f, "{}", to_signed(width, bits)),
            Term::Int(v) => write!(f, "{v}"),
            &Term::Var { sym, index } => f.write_str(&self.terms.instance_name(sym, index)),
            &Term::Not(a) => {
                if self.level(a) == Level::Comparison {
                    return self.comparison(f, a, true, d);
                }
                f.write_str("!")?;
                self.term(f, a, Level::Product, d)
            }
            Term::And(xs) => self.list(f, xs, " & ", d),
            Term::Or(xs) => self.list(f, xs, " | ", d),
            &Term::Ite(c, a, b) => self.call(f, "ite", &[c, a, b], d),
            Term::Eq(..) | Term::BvCmp(..) | Term::IntLe(..) => self.comparison(f, t, false, d),
            &Term::BvUn(op, a) => {
                f.write_str(if op == BvUn::Neg { "-" } else { "~" })?;
                self.term(f, a, Level::Product, d)
            }
            &Term::BvBin(BvBin::Add, a, b) => match self.terms.get(b) {
                // Adding a negative number reads better as a difference.
                &Term::Bv { width, bits } if to_signed(width, bits) < 0 => {
                    self.term(f, a, Level::Comparison, d)?;
                    write!(f, " - {}", to_signed(width, bits).unsigned_abs())
                }
                _ => self.infix(f, Level::Sum, a, "+", b, d),
            },
            &Term::BvBin(op, a, b) => {
                let level = if op == BvBin::Sub { Level::Sum } else { Level::Product };
                self.infix(f, level, a, binary_name(op), b, d)
            }
            &Term::Extract { hi, lo, arg } => {
                self.term(f, arg, Level::Product, d)?;
                write!(f, "[{hi}:{lo}]")
            }
            &Term::Zext { width, arg } => self.call(f, &format!("zext{width}"), &[arg], d),
            &Term::Sext { width, arg } => self.call(f, &format!("sext{width}"), &[arg], d),
            &Term::Concat(a, b) => self.call(f, "concat", &[a, b], d),
            &Term::ConstArray { element, .. } => {
                f.write_str("[..: ")?;
                self.term(f, element, Level::Top, d)?;
                f.write_str("]")
            }
            &Term::Select(a, i) => {
                self.term(f, a, Level::Product, d)?;
                f.write_str("[")?;
                self.term(f, i, Level::Top, d)?;
                f.write_str("]")
            }
            &Term::Store { array, base, ref writes } => self.store(f, array, base, writes, d),
            &Term::FpUn(op, a) => self.call(f, &float_name(op), &[a], d),
            &Term::FpBin(op, a, b) => {
                let (level, name) = match op {
                    FpBin::Add => (Level::Sum, "+."),
                    FpBin::Sub => (Level::Sum, "-."),
                    FpBin::Mul => (Level::Product, "*."),
                    FpBin::Div => (Level::Product, "/."),
                };
                self.infix(f, level, a, name, b, d)
            }
            &Term::FpCmp(op, a, b) => {
                let name = match op {
                    FpCmp::Eq => "=.",
                    FpCmp::Lt => "<.",
                    FpCmp::Le => "<=.",
                };
                self.infix(f, Level::Comparison, a, name, b, d)
            }
            Term::IntAdd(xs) => self.sum(f, xs, d),
            &Term::IntMulConst(k, a) => {
                write!(f, "{k} * ")?;
                self.term(f, a, Level::Product, d)
            }
            &Term::IntMul(a, b) => self.infix(f, Level::Product, a, "*", b, d),
            &Term::IntDiv(a, k) => {
                self.term(f, a, Level::Product, d)?;
                write!(f, " div {k}")
            }
            &Term::IntMod(a, k) => {
                self.term(f, a, Level::Product, d)?;
                write!(f, " mod {k}")
            }
        }
    }

    /// `mem[i := x, i + 1 := y]`
    fn store(
        &self,
        f: &mut fmt::Formatter<'_>,
        array: TermId,
        base: TermId,
        writes: &super::writes::Writes,
        d: usize,
    ) -> fmt::Result {
        self.term(f, array, Level::Product, d)?;
        let is_constant = self.terms.as_bv(base) == Some(0);
        for (i, (offset, element)) in writes.to_vec().into_iter().enumerate() {
            f.write_str(if i == 0 { "[" } else { ", " })?;
            if self.left.get() == 0 {
                f.write_str("...")?;
                break;
            }
            if is_constant {
                write!(f, "{offset}")?;
            } else {
                self.term(f, base, Level::Comparison, d)?;
                if offset != 0 {
                    write!(f, " + {}", to_signed(self.terms.width(base), offset))?;
                }
            }
            f.write_str(" := ")?;
            self.term(f, element, Level::Top, d)?;
        }
        f.write_str("]")
    }

    fn sum(&self, f: &mut fmt::Formatter<'_>, xs: &[TermId], d: usize) -> fmt::Result {
        for (i, &x) in xs.iter().enumerate() {
            let (negative, factor, rest) = match *self.terms.get(x) {
                Term::IntMulConst(k, a) => (k < 0, k.unsigned_abs(), Some(a)),
                Term::Int(k) => (k < 0, k.unsigned_abs(), None),
                _ => (false, 1, Some(x)),
            };
            f.write_str(match (i, negative) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            })?;
            match rest {
                None => write!(f, "{factor}")?,
                Some(a) => {
                    if factor != 1 {
                        write!(f, "{factor} * ")?;
                    }
                    self.term(f, a, Level::Sum, d)?;
                }
            }
        }
        Ok(())
    }
}

fn float_name(op: FpUn) -> String {
    match op {
        FpUn::Sqrt => "sqrt".to_owned(),
        FpUn::Round(Rounding::NearestEven) => "roundeven".to_owned(),
        FpUn::Round(Rounding::NearestAway) => "round".to_owned(),
        FpUn::Round(Rounding::TowardZero) => "trunc".to_owned(),
        FpUn::Round(Rounding::Up) => "ceil".to_owned(),
        FpUn::Round(Rounding::Down) => "floor".to_owned(),
        FpUn::FromInt { signed, bits } => format!("{}2f{bits}", if signed { 's' } else { 'u' }),
        FpUn::ToInt { signed, bits } => format!("f2{}{bits}", if signed { 's' } else { 'u' }),
        FpUn::ToFloat { bits } => format!("f{bits}"),
    }
}

fn binary_name(op: BvBin) -> &'static str {
    match op {
        BvBin::Add => "+",
        BvBin::Sub => "-",
        BvBin::Mul => "*",
        BvBin::Udiv => "/u",
        BvBin::Sdiv => "/s",
        BvBin::Urem => "%u",
        BvBin::Srem => "%s",
        BvBin::Shl => "<<",
        BvBin::Lshr => ">>u",
        BvBin::Ashr => ">>s",
        BvBin::And => "&",
        BvBin::Or => "|",
        BvBin::Xor => "^",
    }
}
