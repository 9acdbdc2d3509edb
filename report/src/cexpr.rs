// SPDX-License-Identifier: Apache-2.0
//! Expressions of the automaton as expressions of C with the names that are visible at a place.
//!
//! The C expression has the same value under the rules of C11 6.3.1 and 6.5, without undefined behaviour: signed arithmetic
//! that could overflow is done in unsigned types and converted back, as GCC and Clang define that. What has no such
//! expression (variables without a name there, bits of floating-point numbers, addresses) is left out; a conjunction loses
//! that part, a disjunction says nothing.

use std::collections::BTreeMap;

use cfa::names::Name;
use cfa::{BinOp, CmpOp, ExprId, ExprKind, Exprs, FloatOp, FloatTy, IntTy, Program, UnOp, VarId, floats};
use cpa_core::Invariants;

use crate::text::literal;

/// Longer expressions are left out.
const MAX_LENGTH: usize = 2000;
/// Expressions nested deeper than this are left out.
const MAX_DEPTH: u32 = 60;

/// Binding strengths of operators.
mod strength {
    pub(super) const COND: u8 = 1;
    pub(super) const OR: u8 = 2;
    pub(super) const AND: u8 = 3;
    pub(super) const BITS: u8 = 4;
    pub(super) const EQ: u8 = 5;
    pub(super) const REL: u8 = 6;
    pub(super) const SHIFT: u8 = 7;
    pub(super) const ADD: u8 = 8;
    pub(super) const MUL: u8 = 9;
    pub(super) const UNARY: u8 = 10;
    pub(super) const PRIMARY: u8 = 11;
}

/// A piece of C.
#[derive(Clone, Debug)]
struct Piece {
    text: String,
    strength: u8,
    /// The type that C gives it: that of the expression; or, if that is `int` or narrower, another one of these.
    ty: IntTy,
}

impl Piece {
    fn new(text: String, strength: u8, ty: IntTy) -> Option<Self> {
        (text.len() <= MAX_LENGTH).then_some(Self { text, strength, ty })
    }

    /// The text as an operand that must bind at least as strongly.
    fn within(&self, strength: u8) -> String {
        if self.strength < strength { format!("({})", self.text) } else { self.text.clone() }
    }

    fn cast(&self, ty: IntTy) -> Option<Self> {
        if self.ty == ty {
            return Some(self.clone());
        }
        Self::new(format!("({}){}", ty.c_name(), self.within(strength::UNARY)), strength::UNARY, ty)
    }

    /// The type after the integer promotions.
    fn promoted(&self) -> IntTy {
        if self.ty.bits < 32 { IntTy::INT } else { self.ty }
    }
}

/// The C expression for what invariants say about a location, with the names of a place; none if nothing can be said.
pub fn invariant(
    program: &Program,
    invariants: &Invariants,
    node: cfa::NodeId,
    names: &BTreeMap<VarId, Name>,
) -> Option<String> {
    let writer = Writer { program, exprs: &invariants.exprs, names };
    let mut cases: Vec<Piece> = Vec::new();
    for case in invariants.at(node) {
        let parts = case.iter().filter_map(|&conjunct| writer.weakened(conjunct));
        let case = parts.reduce(|all, part| conjunction(&all, &part))?;
        if !cases.iter().any(|other| other.text == case.text) {
            cases.push(case);
        }
    }
    let any = cases.into_iter().reduce(|any, case| disjunction(&any, &case))?;
    (any.text.len() <= 4 * MAX_LENGTH).then_some(any.text)
}

fn conjunction(left: &Piece, right: &Piece) -> Piece {
    let text = format!("{} && {}", left.within(strength::AND), right.within(strength::AND));
    Piece { text, strength: strength::AND, ty: IntTy::INT }
}

fn disjunction(left: &Piece, right: &Piece) -> Piece {
    // Conjunctions within disjunctions get parentheses, for the reader and for compilers that warn otherwise.
    let side = |piece: &Piece| {
        if piece.strength == strength::OR { piece.text.clone() } else { piece.within(strength::BITS) }
    };
    Piece { text: format!("{} || {}", side(left), side(right)), strength: strength::OR, ty: IntTy::INT }
}

struct Writer<'a> {
    program: &'a Program,
    exprs: &'a Exprs,
    names: &'a BTreeMap<VarId, Name>,
}

impl Writer<'_> {
    /// What an expression implies, as far as it can be said.
    fn weakened(&self, id: ExprId) -> Option<Piece> {
        if self.exprs.depth(id) > MAX_DEPTH || !self.exprs.is_total(id) {
            return None;
        }
        match self.exprs.get(id).kind {
            ExprKind::And(left, right) => match (self.weakened(left), self.weakened(right)) {
                (Some(left), Some(right)) => Some(conjunction(&left, &right)),
                (one, other) => one.or(other),
            },
            ExprKind::Or(left, right) => Some(disjunction(&self.weakened(left)?, &self.weakened(right)?)),
            ExprKind::Ite(_, yes, no) => {
                self.value(id).or_else(|| Some(disjunction(&self.weakened(yes)?, &self.weakened(no)?)))
            }
            ExprKind::Const(value) if value != 0 => None,
            _ => self.value(id),
        }
    }

    fn name(&self, var: VarId) -> Option<&Name> {
        self.names.get(&var)
    }

    fn is_pointer(&self, id: ExprId) -> bool {
        matches!(self.exprs.get(id).kind, ExprKind::Var(var) if self.name(var).is_some_and(|name| name.pointer))
    }

    /// The least and greatest value that an expression can have, for all that is easily seen.
    fn range(&self, id: ExprId) -> (i128, i128) {
        let expr = self.exprs.get(id);
        let all = (expr.ty.min(), expr.ty.max());
        let within = |low: i128, high: i128| if low >= all.0 && high <= all.1 { (low, high) } else { all };
        match expr.kind {
            ExprKind::Const(value) => (value, value),
            ExprKind::Cmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => (0, 1),
            ExprKind::Cast(inner) => {
                let (low, high) = self.range(inner);
                within(low, high)
            }
            ExprKind::Binary(op, left, right) => {
                let ((a, b), (c, d)) = (self.range(left), self.range(right));
                match op {
                    BinOp::Add => within(a + c, b + d),
                    BinOp::Sub => within(a - d, b - c),
                    BinOp::Mul => {
                        let products = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.saturating_mul(y));
                        let least = products.iter().min().expect("there are four");
                        within(*least, *products.iter().max().expect("there are four"))
                    }
                    _ => all,
                }
            }
            _ => all,
        }
    }

    fn value(&self, id: ExprId) -> Option<Piece> {
        let expr = self.exprs.get(id);
        let ty = expr.ty;
        match expr.kind {
            ExprKind::Const(value) => {
                let text = literal(value, ty);
                let strength = if text.starts_with('-') { strength::UNARY } else { strength::PRIMARY };
                Piece::new(text, strength, if ty.bits < 32 { IntTy::INT } else { ty })
            }
            ExprKind::Var(var) => {
                let name = self.name(var).filter(|name| !name.pointer)?;
                let known = self.program.var(var);
                (known.float.is_none() && known.ty == ty)
                    .then(|| Piece::new(name.text.clone(), strength::PRIMARY, ty))?
            }
            ExprKind::Unary(op, arg) => self.unary(op, arg, ty),
            ExprKind::Binary(op, left, right) => self.binary(id, op, left, right, ty),
            ExprKind::Cmp(op, left, right) => self.compare(op, left, right),
            ExprKind::Not(arg) if self.is_pointer(arg) => self.pointers(CmpOp::Eq, arg, None),
            ExprKind::Not(arg) => {
                let text = format!("!{}", self.value(arg)?.within(strength::UNARY));
                Piece::new(text, strength::UNARY, IntTy::INT)
            }
            ExprKind::And(left, right) => Some(conjunction(&self.value(left)?, &self.value(right)?)),
            ExprKind::Or(left, right) => Some(disjunction(&self.value(left)?, &self.value(right)?)),
            ExprKind::Ite(cond, yes, no) => {
                let (cond, yes, no) = (self.value(cond)?, self.value(yes)?.cast(ty)?, self.value(no)?.cast(ty)?);
                let stronger = strength::COND + 1;
                let text = format!("{} ? {} : {}", cond.within(stronger), yes.within(stronger), no.within(stronger));
                Piece::new(text, strength::COND, if ty.bits < 32 { IntTy::INT } else { ty })
            }
            ExprKind::Cast(arg) => {
                let inner = self.value(arg)?;
                // Promotions happen by themselves.
                let from = self.exprs.ty(arg);
                if ty == IntTy::INT && from.bits < 32 { Some(inner) } else { inner.cast(ty) }
            }
            ExprKind::FloatCmp(op, format, left, right) => {
                let (sign, strength) = operator(op);
                let (left, right) = (self.float(left, format)?, self.float(right, format)?);
                Piece::new(format!("{left} {sign} {right}"), strength, IntTy::INT)
            }
            ExprKind::Float(..)
            | ExprKind::FloatFn(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => None,
        }
    }

    fn unary(&self, op: UnOp, arg: ExprId, ty: IntTy) -> Option<Piece> {
        let inner = self.value(arg)?;
        let sign = if op == UnOp::Neg { "-" } else { "~" };
        let wide = if ty.bits < 32 { IntTy::INT } else { ty };
        if op == UnOp::Neg && ty.bits >= 32 && ty.signed && self.range(arg).0 == ty.min() {
            let unsigned = IntTy { signed: false, ..ty };
            let zero = literal(0, unsigned);
            let text = format!("{zero} - {}", inner.cast(unsigned)?.within(strength::UNARY));
            return Piece::new(text, strength::ADD, unsigned)?.cast(ty);
        }
        let inner = if ty.bits < 32 { inner } else { inner.cast(ty)? };
        // Two signs in a row would be a decrement.
        let text = format!("{sign}{}", inner.within(strength::PRIMARY));
        Piece::new(text, strength::UNARY, wide)?.cast(if ty.bits < 32 { ty } else { wide })
    }

    fn binary(&self, id: ExprId, op: BinOp, left: ExprId, right: ExprId, ty: IntTy) -> Option<Piece> {
        let (sign, strength) = match op {
            BinOp::Add => ("+", strength::ADD),
            BinOp::Sub => ("-", strength::ADD),
            BinOp::Mul => ("*", strength::MUL),
            BinOp::Div => ("/", strength::MUL),
            BinOp::Rem => ("%", strength::MUL),
            BinOp::Shl => ("<<", strength::SHIFT),
            BinOp::Shr => (">>", strength::SHIFT),
            BinOp::BitAnd => ("&", strength::BITS),
            BinOp::BitOr => ("|", strength::BITS),
            BinOp::BitXor => ("^", strength::BITS),
        };
        let wraps = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl);
        // The type in which C shall compute.
        let unsigned = IntTy { bits: ty.bits.max(32), signed: false };
        let fits = self.range(id) != (ty.min(), ty.max());
        let at = match (wraps, ty.bits < 32) {
            (true, _) if ty.signed && ty.bits >= 32 && fits && op != BinOp::Shl => ty,
            (true, _) => unsigned,
            (false, true) => IntTy::INT,
            (false, false) => ty,
        };
        let (mut a, b) = (self.value(left)?, self.value(right)?);
        // One operand of that type is enough: no operand has a wider type, and to an unsigned one C converts modulo 2^bits.
        // The type of a shift is that of its left operand.
        let shift = matches!(op, BinOp::Shl | BinOp::Shr);
        if a.promoted() != at && (shift || b.promoted() != at) {
            a = a.cast(at)?;
        }
        // Bit operators and shifts are easily misread without parentheses.
        let own = if matches!(strength, strength::BITS | strength::SHIFT) { strength::UNARY } else { strength };
        let result = Piece::new(format!("{} {sign} {}", a.within(own), b.within(own + 1)), strength, at)?;
        // What is not wrapped around has a value of the narrow type already.
        if at == ty || !wraps { Some(result) } else { result.cast(ty) }
    }

    fn compare(&self, op: CmpOp, left: ExprId, right: ExprId) -> Option<Piece> {
        if self.is_pointer(left) || self.is_pointer(right) {
            return match (self.exprs.as_const(left), self.exprs.as_const(right)) {
                (None, Some(0)) => self.pointers(op, left, None),
                (None, None) => self.pointers(op, left, Some(right)),
                _ => None,
            };
        }
        let (sign, strength) = operator(op);
        let (left, right) = (self.value(left)?, self.value(right)?);
        let text = format!("{} {sign} {}", left.within(strength + 1), right.within(strength + 1));
        Piece::new(text, strength, IntTy::INT)
    }

    /// The comparison of a pointer with another one or with NULL.
    fn pointers(&self, op: CmpOp, left: ExprId, right: Option<ExprId>) -> Option<Piece> {
        let name = |id: ExprId| match self.exprs.get(id).kind {
            ExprKind::Var(var) => self.name(var).filter(|name| name.pointer).map(|name| name.text.as_str()),
            _ => None,
        };
        let sign = match op {
            CmpOp::Eq => "==",
            CmpOp::Ne => "!=",
            CmpOp::Lt | CmpOp::Le => return None,
        };
        let text = match right {
            None => format!("{} {sign} 0", name(left)?),
            Some(right) => format!("(void *){} {sign} (void *){}", name(left)?, name(right)?),
        };
        Piece::new(text, strength::EQ, IntTy::INT)
    }

    /// A floating-point number whose bits an expression is; with parentheses if it is no name or constant.
    fn float(&self, id: ExprId, format: FloatTy) -> Option<String> {
        match self.exprs.get(id).kind {
            ExprKind::Var(var) if self.program.var(var).float == Some(format) => Some(self.name(var)?.text.clone()),
            ExprKind::Const(bits) => {
                let text = floats::hexadecimal(format, bits);
                let finite = text.contains("0x") && !text.contains("nan");
                finite.then(|| if format == FloatTy::F32 { format!("{text}f") } else { text })
            }
            ExprKind::Float(op, of, left, right) if of == format => {
                let sign = match op {
                    FloatOp::Add => "+",
                    FloatOp::Sub => "-",
                    FloatOp::Mul => "*",
                    FloatOp::Div => "/",
                };
                Some(format!("({} {sign} {})", self.float(left, format)?, self.float(right, format)?))
            }
            _ => None,
        }
    }
}

fn operator(op: CmpOp) -> (&'static str, u8) {
    match op {
        CmpOp::Eq => ("==", strength::EQ),
        CmpOp::Ne => ("!=", strength::EQ),
        CmpOp::Lt => ("<", strength::REL),
        CmpOp::Le => ("<=", strength::REL),
    }
}
