// SPDX-License-Identifier: Apache-2.0
//! SMT-LIB 2 text without `let`: every shared part gets a definition of its own, so the text is linear in the DAG.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::float::{canonical_nan, int_limits, unfit};
use super::ids::{Sort, TermId};
use super::node::{BvBin, BvCmp, BvUn, FpBin, FpCmp, FpUn, Rounding, Term};
use super::store::Terms;

/// A printer that remembers what it has declared and defined. The script must keep definitions over `(pop)`, as
/// `(set-option :global-declarations true)` makes solvers do.
#[derive(Clone, Debug, Default)]
pub struct SmtLib {
    /// The text of terms that were printed before: a constant, a variable or the name of a definition.
    names: FxHashMap<TermId, String>,
}

impl SmtLib {
    /// A printer that has printed nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of a term, and declarations and definitions that have to come first are appended to `script`.
    pub fn term(&mut self, terms: &Terms, t: TermId, script: &mut String) -> String {
        let order = {
            let names = &self.names;
            terms.post_order(&[t], |s| names.contains_key(&s))
        };
        for s in order {
            let sort = sort_name(terms.sort(s));
            let name = match terms.get(s) {
                Term::True => "true".to_owned(),
                Term::False => "false".to_owned(),
                &Term::Bv { width, bits } => format!("(_ bv{bits} {width})"),
                &Term::Int(v) => int_text(v),
                &Term::Var { sym, index } => {
                    let name = quote(&terms.instance_name(sym, index));
                    // Writing to a String cannot fail, here and below.
                    let _ = writeln!(script, "(declare-const {name} {sort})");
                    name
                }
                Term::Not(_)
                | Term::And(_)
                | Term::Or(_)
                | Term::Ite(..)
                | Term::Eq(..)
                | Term::BvUn(..)
                | Term::BvBin(..)
                | Term::BvCmp(..)
                | Term::Extract { .. }
                | Term::Zext { .. }
                | Term::Sext { .. }
                | Term::Concat(..)
                | Term::ConstArray { .. }
                | Term::Select(..)
                | Term::Store { .. }
                | Term::FpUn(..)
                | Term::FpBin(..)
                | Term::FpCmp(..)
                | Term::IntAdd(_)
                | Term::IntMulConst(..)
                | Term::IntMul(..)
                | Term::IntDiv(..)
                | Term::IntMod(..)
                | Term::IntLe(..) => {
                    let name = format!("t!{}", s.index());
                    let body = self.application(terms, s);
                    let _ = writeln!(script, "(define-fun {name} () {sort} {body})");
                    name
                }
            };
            self.names.insert(s, name);
        }
        self.names[&t].clone()
    }

    /// The bounds of an instance of a bounded symbol as a formula; None if it has none.
    pub fn bound(&mut self, terms: &Terms, x: TermId, script: &mut String) -> Option<String> {
        let (lo, hi) = terms.as_var(x).and_then(|(sym, _)| terms.symbol_bounds(sym))?;
        let name = self.term(terms, x, script);
        Some(format!("(<= {} {name} {})", int_text(lo), int_text(hi)))
    }

    fn application(&self, terms: &Terms, t: TermId) -> String {
        let head = match *terms.get(t) {
            Term::Not(_) => "not".to_owned(),
            Term::And(_) => "and".to_owned(),
            Term::Or(_) => "or".to_owned(),
            Term::Ite(..) => "ite".to_owned(),
            Term::Eq(..) => "=".to_owned(),
            Term::BvUn(op, _) => unary_name(op).to_owned(),
            Term::BvBin(op, ..) => binary_name(op).to_owned(),
            Term::BvCmp(op, ..) => comparison_name(op).to_owned(),
            Term::Extract { hi, lo, .. } => format!("(_ extract {hi} {lo})"),
            Term::Zext { width, arg } => format!("(_ zero_extend {})", width - terms.width(arg)),
            Term::Sext { width, arg } => format!("(_ sign_extend {})", width - terms.width(arg)),
            Term::Concat(..) => "concat".to_owned(),
            Term::ConstArray { .. } => format!("(as const {})", sort_name(terms.sort(t))),
            Term::Select(..) => "select".to_owned(),
            Term::Store { array, base, ref writes } => {
                let (base, width) = (&self.names[&base], terms.width(base));
                let mut text = self.names[&array].clone();
                writes.for_each(|offset, v| {
                    text = format!("(store {text} (bvadd {base} (_ bv{offset} {width})) {})", self.names[&v]);
                });
                return text;
            }
            Term::FpUn(op, a) => return float_unary(op, terms.width(a), &self.names[&a]),
            Term::FpBin(op, a, b) => {
                let width = terms.width(a);
                let (x, y) = (number(width, &self.names[&a]), number(width, &self.names[&b]));
                let name = match op {
                    FpBin::Add => "fp.add",
                    FpBin::Sub => "fp.sub",
                    FpBin::Mul => "fp.mul",
                    FpBin::Div => "fp.div",
                };
                return number_bits(width, &format!("({name} RNE {x} {y})"));
            }
            Term::FpCmp(op, a, b) => {
                let width = terms.width(a);
                let (x, y) = (number(width, &self.names[&a]), number(width, &self.names[&b]));
                let name = match op {
                    FpCmp::Eq => "fp.eq",
                    FpCmp::Lt => "fp.lt",
                    FpCmp::Le => "fp.leq",
                };
                return format!("({name} {x} {y})");
            }
            Term::IntAdd(_) => "+".to_owned(),
            Term::IntMulConst(k, _) => format!("* {}", int_text(k)),
            Term::IntMul(..) => "*".to_owned(),
            Term::IntDiv(a, k) => return format!("(div {} {})", self.names[&a], int_text(k)),
            Term::IntMod(a, k) => return format!("(mod {} {})", self.names[&a], int_text(k)),
            Term::IntLe(..) => "<=".to_owned(),
            Term::True | Term::False | Term::Bv { .. } | Term::Int(_) | Term::Var { .. } => {
                unreachable!("leaves are printed by the caller")
            }
        };
        let mut text = format!("({head}");
        terms.get(t).for_each_child(|c| {
            text.push(' ');
            text.push_str(&self.names[&c]);
        });
        text.push(')');
        text
    }
}

impl Terms {
    /// An SMT-LIB 2 script that asserts the formulas, with the bounds of bounded symbols.
    pub fn smtlib(&self, formulas: &[TermId]) -> String {
        let mut printer = SmtLib::new();
        let mut script = String::from("(set-option :global-declarations true)\n");
        let mut bounded = FxHashSet::default();
        for &t in formulas {
            for x in self.bounded_instances(t) {
                if bounded.insert(x)
                    && let Some(bound) = printer.bound(self, x, &mut script)
                {
                    let _ = writeln!(script, "(assert {bound})");
                }
            }
            let name = printer.term(self, t, &mut script);
            let _ = writeln!(script, "(assert {name})");
        }
        script
    }
}

fn sort_name(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_owned(),
        Sort::Bv(width) => format!("(_ BitVec {width})"),
        Sort::Int => "Int".to_owned(),
        Sort::Array { index, element } => format!("(Array (_ BitVec {index}) (_ BitVec {element}))"),
    }
}

/// A number with the given bits.
fn number(width: u32, bits: &str) -> String {
    format!("({} {bits})", to_fp(width))
}

fn to_fp(width: u32) -> &'static str {
    if width == 32 { "(_ to_fp 8 24)" } else { "(_ to_fp 11 53)" }
}

/// The bits of a number; `fp.to_ieee_bv` is an extension of the standard that solvers have.
fn number_bits(width: u32, number: &str) -> String {
    let nan = canonical_nan(width);
    format!("(let ((f {number})) (ite (fp.isNaN f) (_ bv{nan} {width}) (fp.to_ieee_bv f)))")
}

fn float_unary(op: FpUn, width: u32, bits: &str) -> String {
    let x = number(width, bits);
    match op {
        FpUn::Sqrt => number_bits(width, &format!("(fp.sqrt RNE {x})")),
        FpUn::Round(rounding) => {
            let mode = match rounding {
                Rounding::NearestEven => "RNE",
                Rounding::NearestAway => "RNA",
                Rounding::TowardZero => "RTZ",
                Rounding::Up => "RTP",
                Rounding::Down => "RTN",
            };
            number_bits(width, &format!("(fp.roundToIntegral {mode} {x})"))
        }
        FpUn::ToFloat { bits: to } => number_bits(to, &format!("({} RNE {x})", to_fp(to))),
        FpUn::FromInt { signed: true, bits: to } => number_bits(to, &format!("({} RNE {bits})", to_fp(to))),
        FpUn::FromInt { signed: false, bits: to } => {
            number_bits(to, &format!("({} RNE {bits})", to_fp(to).replace("to_fp", "to_fp_unsigned")))
        }
        FpUn::ToInt { signed, bits: to } => {
            let whole = format!("(fp.roundToIntegral RTZ {x})");
            let (least, limit) = int_limits(width, signed, to);
            let (least, limit) = (number(width, &bits_text(width, least)), number(width, &bits_text(width, limit)));
            let name = if signed { "fp.to_sbv" } else { "fp.to_ubv" };
            let unfit = bits_text(to, unfit(to));
            format!(
                "(let ((w {whole})) (ite (and (fp.leq {least} w) (fp.lt w {limit})) ((_ {name} {to}) RTZ w) {unfit}))"
            )
        }
    }
}

fn bits_text(width: u32, bits: u128) -> String {
    format!("(_ bv{bits} {width})")
}

fn int_text(v: i128) -> String {
    if v < 0 { format!("(- {})", v.unsigned_abs()) } else { v.to_string() }
}

/// A quoted symbol; `|` and `\` cannot stand in one.
fn quote(name: &str) -> String {
    format!("|{}|", name.replace(['|', '\\'], "_"))
}

fn unary_name(op: BvUn) -> &'static str {
    match op {
        BvUn::Neg => "bvneg",
        BvUn::Not => "bvnot",
    }
}

fn binary_name(op: BvBin) -> &'static str {
    match op {
        BvBin::Add => "bvadd",
        BvBin::Sub => "bvsub",
        BvBin::Mul => "bvmul",
        BvBin::Udiv => "bvudiv",
        BvBin::Sdiv => "bvsdiv",
        BvBin::Urem => "bvurem",
        BvBin::Srem => "bvsrem",
        BvBin::Shl => "bvshl",
        BvBin::Lshr => "bvlshr",
        BvBin::Ashr => "bvashr",
        BvBin::And => "bvand",
        BvBin::Or => "bvor",
        BvBin::Xor => "bvxor",
    }
}

fn comparison_name(op: BvCmp) -> &'static str {
    match op {
        BvCmp::Ult => "bvult",
        BvCmp::Ule => "bvule",
        BvCmp::Slt => "bvslt",
        BvCmp::Sle => "bvsle",
    }
}
