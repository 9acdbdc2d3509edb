// SPDX-License-Identifier: Apache-2.0
//! From terms over program variables back to expressions of the program, for telling what was found out.
//!
//! Translation is exact or not at all: what reads memory, has other widths than machine integers or needs more than 64
//! bits has no expression. A formula is weakened where a part of it has none.

use cfa::{BinOp, CmpOp, ExprId, Exprs, FloatOp, FloatTy, IntTy, Program, UnOp};
use rustc_hash::FxHashMap;
use smt::term::{BvBin, BvCmp, BvUn, FpBin, FpCmp, Term};
use smt::{TermId, Terms};

use crate::encode::Encoder;

const LONG: IntTy = IntTy { bits: 64, signed: true };
/// Formulas with more parts than this are not translated.
const MAX_PARTS: usize = 400;

/// Translates terms into a store of expressions.
pub struct Decoder<'a> {
    terms: &'a Terms,
    encoder: &'a Encoder,
    exprs: &'a mut Exprs,
    exact: FxHashMap<TermId, Option<ExprId>>,
    parts: usize,
}

/// An integer as a 64-bit expression, with bounds.
#[derive(Clone, Copy)]
struct Number {
    expr: ExprId,
    low: i128,
    high: i128,
}

fn unsigned(bits: u32) -> Option<IntTy> {
    matches!(bits, 8 | 16 | 32 | 64).then_some(IntTy { bits, signed: false })
}

fn signed(bits: u32) -> IntTy {
    IntTy { bits, signed: true }
}

impl<'a> Decoder<'a> {
    /// A translation of terms of the encoder.
    pub fn new(terms: &'a Terms, encoder: &'a Encoder, exprs: &'a mut Exprs) -> Self {
        Self { terms, encoder, exprs, exact: FxHashMap::default(), parts: 0 }
    }

    fn program(&self) -> &'a Program {
        let encoder: &'a Encoder = self.encoder;
        encoder.program()
    }

    /// Expressions that hold wherever the formula holds; as many as possible.
    pub fn conjuncts(&mut self, formula: TermId) -> Vec<ExprId> {
        self.parts = 0;
        let mut found = Vec::new();
        self.split(formula, true, &mut found);
        found
    }

    /// What a formula, or its negation, implies.
    fn split(&mut self, formula: TermId, positive: bool, found: &mut Vec<ExprId>) {
        let terms = self.terms;
        self.parts += 1;
        match (terms.get(formula), positive) {
            (Term::Not(inner), _) => self.split(*inner, !positive, found),
            (Term::And(parts), true) | (Term::Or(parts), false) => {
                parts.iter().for_each(|&part| self.split(part, positive, found));
            }
            _ => found.extend(self.weakened(formula, positive)),
        }
    }

    /// One expression that a formula, or its negation, implies.
    fn weakened(&mut self, formula: TermId, positive: bool) -> Option<ExprId> {
        let terms = self.terms;
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return None;
        }
        match (terms.get(formula), positive) {
            (Term::Not(inner), _) => self.weakened(*inner, !positive),
            (Term::And(parts), true) | (Term::Or(parts), false) => {
                let parts: Vec<ExprId> = parts.iter().filter_map(|&part| self.weakened(part, positive)).collect();
                parts.into_iter().reduce(|all, part| self.exprs.and(all, part))
            }
            (Term::Or(parts), true) | (Term::And(parts), false) => {
                let parts: Option<Vec<ExprId>> = parts.iter().map(|&part| self.weakened(part, positive)).collect();
                parts?.into_iter().reduce(|any, part| self.exprs.or(any, part))
            }
            (Term::Ite(cond, yes, no), _) => {
                let yes = self.weakened(*yes, positive);
                let no = self.weakened(*no, positive);
                match (self.truth(*cond), yes, no) {
                    (Some(cond), Some(yes), Some(no)) => Some(self.exprs.ite(cond, yes, no)),
                    (None, Some(yes), Some(no)) => Some(self.exprs.or(yes, no)),
                    // The other branch says nothing.
                    (Some(cond), None, Some(no)) => Some(self.exprs.or(cond, no)),
                    (Some(cond), Some(yes), None) => {
                        let not = self.exprs.not(cond);
                        Some(self.exprs.or(not, yes))
                    }
                    (_, None, None) | (None, _, _) => None,
                }
            }
            _ => {
                let exact = self.truth(formula)?;
                Some(if positive { exact } else { self.exprs.not(exact) })
            }
        }
    }

    /// The expression of type `int`, 0 or 1, that is a formula.
    fn truth(&mut self, formula: TermId) -> Option<ExprId> {
        if let Some(&known) = self.exact.get(&formula) {
            return known;
        }
        let found = self.new_truth(formula);
        self.exact.insert(formula, found);
        found
    }

    fn new_truth(&mut self, formula: TermId) -> Option<ExprId> {
        let terms = self.terms;
        match terms.get(formula) {
            Term::True => Some(self.exprs.truth_const(true)),
            Term::False => Some(self.exprs.truth_const(false)),
            Term::Not(inner) => {
                let inner = self.truth(*inner)?;
                Some(self.exprs.not(inner))
            }
            Term::And(parts) => {
                let parts: Option<Vec<ExprId>> = parts.iter().map(|&part| self.truth(part)).collect();
                parts?.into_iter().reduce(|all, part| self.exprs.and(all, part))
            }
            Term::Or(parts) => {
                let parts: Option<Vec<ExprId>> = parts.iter().map(|&part| self.truth(part)).collect();
                parts?.into_iter().reduce(|any, part| self.exprs.or(any, part))
            }
            Term::Ite(cond, yes, no) => {
                let (cond, yes, no) = (self.truth(*cond)?, self.truth(*yes)?, self.truth(*no)?);
                Some(self.exprs.ite(cond, yes, no))
            }
            Term::Eq(left, right) => match terms.sort(*left) {
                smt::Sort::Bool => {
                    let (left, right) = (self.truth(*left)?, self.truth(*right)?);
                    Some(self.exprs.cmp(CmpOp::Eq, left, right))
                }
                smt::Sort::Bv(_) => {
                    let (left, right) = (self.bits(*left)?, self.bits(*right)?);
                    Some(self.compare(CmpOp::Eq, left, right))
                }
                smt::Sort::Int => {
                    let (left, right) = (self.number(*left)?, self.number(*right)?);
                    Some(self.exprs.cmp(CmpOp::Eq, left.expr, right.expr))
                }
                _ => None,
            },
            Term::BvCmp(op, left, right) => {
                let (left, right) = (self.bits(*left)?, self.bits(*right)?);
                let (op, is_signed) = match op {
                    BvCmp::Ult => (CmpOp::Lt, false),
                    BvCmp::Ule => (CmpOp::Le, false),
                    BvCmp::Slt => (CmpOp::Lt, true),
                    BvCmp::Sle => (CmpOp::Le, true),
                };
                if !is_signed {
                    return Some(self.exprs.cmp(op, left, right));
                }
                let ty = signed(self.exprs.ty(left).bits);
                let (left, right) = (self.exprs.cast(left, ty), self.exprs.cast(right, ty));
                Some(self.exprs.cmp(op, left, right))
            }
            Term::FpCmp(op, left, right) => {
                let format = self.format(*left)?;
                let (left, right) = (self.bits(*left)?, self.bits(*right)?);
                let op = match op {
                    FpCmp::Eq => CmpOp::Eq,
                    FpCmp::Lt => CmpOp::Lt,
                    FpCmp::Le => CmpOp::Le,
                };
                Some(self.exprs.float_cmp(op, format, left, right))
            }
            Term::IntLe(left, right) => {
                let (left, right) = (self.number(*left)?, self.number(*right)?);
                Some(self.exprs.cmp(CmpOp::Le, left.expr, right.expr))
            }
            _ => None,
        }
    }

    /// An equality of bits, written with the type of a variable if one stands alone.
    fn compare(&mut self, op: CmpOp, left: ExprId, right: ExprId) -> ExprId {
        let ty = signed(self.exprs.ty(left).bits);
        let is_signed = |exprs: &Exprs, id| match exprs.get(id).kind {
            cfa::ExprKind::Cast(inner) => exprs.ty(inner) == ty,
            cfa::ExprKind::Const(_) => true,
            _ => false,
        };
        if is_signed(self.exprs, left) && is_signed(self.exprs, right) {
            let (left, right) = (self.exprs.cast(left, ty), self.exprs.cast(right, ty));
            return self.exprs.cmp(op, left, right);
        }
        self.exprs.cmp(op, left, right)
    }

    fn format(&self, term: TermId) -> Option<FloatTy> {
        match self.terms.width(term) {
            32 => Some(FloatTy::F32),
            64 => Some(FloatTy::F64),
            _ => None,
        }
    }

    /// The unsigned expression that is a bit-vector.
    fn bits(&mut self, term: TermId) -> Option<ExprId> {
        if let Some(&known) = self.exact.get(&term) {
            return known;
        }
        let found = self.new_bits(term);
        self.exact.insert(term, found);
        found
    }

    fn new_bits(&mut self, term: TermId) -> Option<ExprId> {
        let terms = self.terms;
        let ty = unsigned(terms.width(term))?;
        match terms.get(term) {
            Term::Bv { bits, .. } => Some(self.exprs.constant(ty, i128::try_from(*bits).ok()?)),
            Term::Var { sym, index: 0 } => {
                let var = self.encoder.variable(*sym)?;
                let of_var = self.program().var(var).ty;
                let expr = self.exprs.var(var, of_var);
                (of_var.bits == ty.bits).then(|| self.exprs.cast(expr, ty))
            }
            Term::Ite(cond, yes, no) => {
                let (cond, yes, no) = (self.truth(*cond)?, self.bits(*yes)?, self.bits(*no)?);
                Some(self.exprs.ite(cond, yes, no))
            }
            Term::BvUn(op, arg) => {
                let arg = self.bits(*arg)?;
                let op = if *op == BvUn::Neg { UnOp::Neg } else { UnOp::BitNot };
                Some(self.exprs.unary(op, arg))
            }
            Term::BvBin(op, left, right) => {
                let (left, right) = (self.bits(*left)?, self.bits(*right)?);
                self.operation(*op, left, right, ty)
            }
            Term::Extract { lo, arg, .. } => {
                let arg = self.bits(*arg)?;
                let wide = self.exprs.ty(arg);
                let amount = self.exprs.constant(wide, i128::from(*lo));
                let shifted = self.exprs.binary(BinOp::Shr, arg, amount);
                Some(self.exprs.cast(shifted, ty))
            }
            Term::Zext { arg, .. } => {
                let arg = self.bits(*arg)?;
                Some(self.exprs.cast(arg, ty))
            }
            Term::Sext { arg, .. } => {
                let arg = self.bits(*arg)?;
                let narrow = signed(self.exprs.ty(arg).bits);
                let arg = self.exprs.cast(arg, narrow);
                Some(self.exprs.cast(arg, ty))
            }
            Term::Concat(high, low) => {
                let amount = i128::from(terms.width(*low));
                let (high, low) = (self.bits(*high)?, self.bits(*low)?);
                let (high, low) = (self.exprs.cast(high, ty), self.exprs.cast(low, ty));
                let amount = self.exprs.constant(ty, amount);
                let high = self.exprs.binary(BinOp::Shl, high, amount);
                Some(self.exprs.binary(BinOp::BitOr, high, low))
            }
            Term::FpBin(op, left, right) => {
                let format = self.format(term)?;
                let (left, right) = (self.bits(*left)?, self.bits(*right)?);
                let op = match op {
                    FpBin::Add => FloatOp::Add,
                    FpBin::Sub => FloatOp::Sub,
                    FpBin::Mul => FloatOp::Mul,
                    FpBin::Div => FloatOp::Div,
                };
                Some(self.exprs.float(op, format, left, right))
            }
            _ => None,
        }
    }

    fn operation(&mut self, op: BvBin, left: ExprId, right: ExprId, ty: IntTy) -> Option<ExprId> {
        let divisor = self.exprs.as_const(right);
        let same = |this: &mut Self, op| Some(this.exprs.binary(op, left, right));
        let as_signed = |this: &mut Self, op| {
            let narrow = signed(ty.bits);
            let (left, right) = (this.exprs.cast(left, narrow), this.exprs.cast(right, narrow));
            let result = this.exprs.binary(op, left, right);
            Some(this.exprs.cast(result, ty))
        };
        // Divisions by zero and long shifts mean something else in C.
        let nonzero = divisor.is_some_and(|divisor| divisor != 0);
        let not_minus_one = divisor.is_some_and(|divisor| divisor != ty.max());
        let short = divisor.is_some_and(|amount| amount < i128::from(ty.bits));
        match op {
            BvBin::Add => same(self, BinOp::Add),
            BvBin::Sub => same(self, BinOp::Sub),
            BvBin::Mul => same(self, BinOp::Mul),
            BvBin::And => same(self, BinOp::BitAnd),
            BvBin::Or => same(self, BinOp::BitOr),
            BvBin::Xor => same(self, BinOp::BitXor),
            BvBin::Udiv if nonzero => same(self, BinOp::Div),
            BvBin::Urem if nonzero => same(self, BinOp::Rem),
            BvBin::Sdiv if nonzero && not_minus_one => as_signed(self, BinOp::Div),
            BvBin::Srem if nonzero && not_minus_one => as_signed(self, BinOp::Rem),
            BvBin::Shl if short => same(self, BinOp::Shl),
            BvBin::Lshr if short => same(self, BinOp::Shr),
            BvBin::Ashr if short => as_signed(self, BinOp::Shr),
            _ => None,
        }
    }

    /// The 64-bit expression that is an integer, if all that is computed on the way fits.
    fn number(&mut self, term: TermId) -> Option<Number> {
        let terms = self.terms;
        self.parts += 1;
        let fitting = |number: Number| (number.low >= LONG.min() && number.high <= LONG.max()).then_some(number);
        match terms.get(term) {
            Term::Int(value) => fitting(Number { expr: self.exprs.constant(LONG, *value), low: *value, high: *value }),
            Term::Var { sym, index: 0 } => {
                let var = self.encoder.variable(*sym)?;
                let ty = self.program().var(var).ty;
                let expr = self.exprs.var(var, ty);
                fitting(Number { expr: self.exprs.cast(expr, LONG), low: ty.min(), high: ty.max() })
            }
            Term::IntAdd(parts) => {
                let mut sum: Option<Number> = None;
                for &part in parts.iter() {
                    let part = self.number(part)?;
                    sum = Some(match sum {
                        None => part,
                        Some(sum) => fitting(Number {
                            expr: self.exprs.binary(BinOp::Add, sum.expr, part.expr),
                            low: sum.low + part.low,
                            high: sum.high + part.high,
                        })?,
                    });
                }
                sum
            }
            Term::IntMulConst(factor, arg) => {
                let arg = self.number(*arg)?;
                let (a, b) = (arg.low.checked_mul(*factor)?, arg.high.checked_mul(*factor)?);
                let constant = self.exprs.constant(LONG, *factor);
                let expr = self.exprs.binary(BinOp::Mul, constant, arg.expr);
                fitting(Number { expr, low: a.min(b), high: a.max(b) })
            }
            // The same as in C only for numbers that are not negative.
            Term::IntMod(arg, modulus) if *modulus > 0 => {
                let arg = self.number(*arg).filter(|arg| arg.low >= 0)?;
                let constant = self.exprs.constant(LONG, *modulus);
                let expr = self.exprs.binary(BinOp::Rem, arg.expr, constant);
                fitting(Number { expr, low: 0, high: (*modulus - 1).min(arg.high) })
            }
            Term::IntDiv(arg, divisor) if *divisor > 0 => {
                let arg = self.number(*arg).filter(|arg| arg.low >= 0)?;
                let constant = self.exprs.constant(LONG, *divisor);
                let expr = self.exprs.binary(BinOp::Div, arg.expr, constant);
                fitting(Number { expr, low: arg.low / divisor, high: arg.high / divisor })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cfa::{Op, Options, Source};

    use super::*;
    use crate::Encoding;

    /// Conditions as terms and back: the expressions have the same truth for many values.
    #[test]
    fn expressions_come_back_from_their_terms() {
        let conditions = [
            "x + 1 < y && c == 'a'",
            "(unsigned char)x > u || !(s < -3)",
            "x % 8 == 3 ? u < 5 : (l >> 3) != x",
            "(x & 12) == 4 && (short)(x * 3) <= s",
            "u / 7 >= 2u && (x ^ -1) != 0",
            "l <= 5000000000LL && (c < 3) == (s < 4)",
        ];
        let tests: Vec<String> = conditions.iter().map(|cond| format!("if ({cond}) x = {cond};")).collect();
        let text = format!(
            "int x, y; unsigned u; short s; char c; long long l; int main(void) {{ int r; {} }}",
            tests.join("\n").replace("x =", "r =")
        );
        let source = Source { name: "t.c".into(), text };
        let program = Arc::new(cfa::load(&[source], &Options::default()).unwrap());
        for encoding in [Encoding::Bitvector, Encoding::Integer] {
            let mut terms = Terms::new();
            let mut encoder = Encoder::new(Arc::clone(&program), encoding);
            let mut translated = 0;
            for edge in &program.edges {
                let Op::Assign { value, .. } = edge.op else { continue };
                if program.exprs.as_const(value).is_some() {
                    continue;
                }
                let Ok(term) = encoder.truth(&mut terms, value) else { continue };
                let mut exprs = Exprs::new();
                let mut decoder = Decoder::new(&terms, &encoder, &mut exprs);
                let Some(found) = decoder.truth(term) else { continue };
                let implied = decoder.conjuncts(term);
                translated += 1;
                for seed in 0..200i128 {
                    let mut values = |var| {
                        let ty = program.var(var).ty;
                        let spread = (seed + 3) * (var.index() as i128 * 7 + 1) - 40;
                        ty.wrap(if seed % 5 == 0 { ty.max() + spread } else { spread })
                    };
                    let expected = cfa::eval(&program.exprs, value, &mut values).unwrap() != 0;
                    assert_eq!(
                        cfa::eval(&exprs, found, &mut values).unwrap() != 0,
                        expected,
                        "{}",
                        terms.display(term)
                    );
                    for &fact in &implied {
                        assert!(!expected || cfa::eval(&exprs, fact, &mut values).unwrap() != 0);
                    }
                }
            }
            assert!(translated >= if encoding == Encoding::Bitvector { 6 } else { 1 }, "{translated} for {encoding:?}");
        }
    }
}
