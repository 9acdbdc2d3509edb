// SPDX-License-Identifier: Apache-2.0
//! Evaluation of expressions in a state. Where the result depends on a question about symbols the answer is that question:
//! the caller splits the state and asks again, so that in each part the evaluation is exact. What has no such question
//! (products of symbols, bits of large numbers) is known within bounds only.

use cfa::bounds::binary_bounds;
use cfa::eval::{binary_value, cmp_value, unary_value};
use cfa::{BinOp, CmpOp, ExprId, ExprKind, Exprs, IntTy, UnOp, floats};

use super::state::{Split, State, Val};
use super::symbols::{Order, Symbol};

/// Expressions that are bigger than this as trees are not looked into.
const BIG: u32 = 4096;
/// A symbol with at most so many values is split into them where exact evaluation needs that.
const FEW: i128 = 16;

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    Const(i128),
    Sym(Symbol, i128),
    /// At least and at most this.
    Range(i128, i128),
}

/// Evaluates expressions in one state.
pub(crate) struct Eval<'a> {
    pub(crate) exprs: &'a Exprs,
    pub(crate) sizes: &'a [u32],
    pub(crate) state: &'a State,
}

impl Eval<'_> {
    /// The value of an expression.
    pub(crate) fn value(&self, id: ExprId) -> Result<Known, Split> {
        let ty = self.exprs.ty(id);
        if self.sizes[id.index()] > BIG {
            return Ok(any(ty));
        }
        match self.small(id) {
            Some(value) => Ok(Known::Const(value.into())),
            None => self.expr(id),
        }
    }

    /// The number that an expression is, if that is known; a symbol with few values is split into them.
    pub(crate) fn number(&self, id: ExprId) -> Result<Option<u64>, Split> {
        if self.sizes[id.index()] > BIG {
            return Ok(None);
        }
        if let Some(value) = self.small(id) {
            return Ok(u64::try_from(value).ok());
        }
        Ok(match self.exact(id)? {
            Known::Const(value) => u64::try_from(value).ok(),
            Known::Sym(..) | Known::Range(..) => None,
        })
    }

    /// Whether an expression is not zero, if that is known.
    pub(crate) fn truth(&self, id: ExprId) -> Result<Option<bool>, Split> {
        if self.sizes[id.index()] > BIG {
            return Ok(None);
        }
        match self.small(id) {
            Some(value) => Ok(Some(value != 0)),
            None => self.holds(id),
        }
    }

    /// The value of an expression in which only numbers occur, if neither it nor one that it is computed from is large.
    /// Most are such, and numbers of the machine are a lot faster than those of 128 bits.
    fn small(&self, id: ExprId) -> Option<i64> {
        let expr = self.exprs.get(id);
        let within = |value: i64| (expr.ty.wrap(value.into()) == value.into()).then_some(value);
        match expr.kind {
            ExprKind::Const(value) => i64::try_from(value).ok(),
            ExprKind::Var(var) => match self.state.vars[var.index()] {
                Val::Const(value) => i64::try_from(value).ok(),
                Val::Any | Val::Sym(..) => None,
            },
            ExprKind::Binary(BinOp::Add, left, right) => within(self.small(left)?.checked_add(self.small(right)?)?),
            ExprKind::Binary(BinOp::Sub, left, right) => within(self.small(left)?.checked_sub(self.small(right)?)?),
            ExprKind::Cast(arg) => within(self.small(arg)?),
            ExprKind::Cmp(op, left, right) => {
                Some(cmp_value(op, self.small(left)?.into(), self.small(right)?.into()).into())
            }
            ExprKind::Not(arg) => Some((self.small(arg)? == 0).into()),
            ExprKind::And(left, right) => Some((self.small(left)? != 0 && self.small(right)? != 0).into()),
            ExprKind::Or(left, right) => Some((self.small(left)? != 0 || self.small(right)? != 0).into()),
            ExprKind::Ite(cond, yes, no) => self.small(if self.small(cond)? != 0 { yes } else { no }),
            _ => None,
        }
    }

    // Recursion is fine: the lowering bounds the depth of expressions.
    fn expr(&self, id: ExprId) -> Result<Known, Split> {
        let expr = self.exprs.get(id);
        let ty = expr.ty;
        Ok(match expr.kind {
            ExprKind::Const(value) => Known::Const(value),
            ExprKind::Var(var) => known(self.state.var(var.index())).ok_or(Split::Named(var))?,
            ExprKind::Unary(op, arg) => match self.exact(arg)? {
                Known::Const(value) => Known::Const(unary_value(op, ty, value)),
                arg => {
                    let (low, high) = self.bounds(arg);
                    match op {
                        UnOp::Neg => self.fit(Known::Range(-high, -low), ty)?,
                        UnOp::BitNot => self.fit(Known::Range(-high - 1, -low - 1), ty)?,
                    }
                }
            },
            ExprKind::Binary(op, left, right) => self.binary(op, ty, left, right)?,
            ExprKind::Cmp(CmpOp::Ne, left, right) if self.exprs.as_const(right) == Some(0) => {
                let left = self.expr(left)?;
                match self.bounds(left) {
                    // A truth value already: it stays a symbol.
                    (0, 1) => left,
                    _ => truth_value(self.compare(CmpOp::Ne, left, Known::Const(0))?),
                }
            }
            ExprKind::Cmp(..) | ExprKind::FloatCmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => {
                truth_value(self.holds(id)?)
            }
            ExprKind::Ite(cond, yes, no) => match self.holds(cond)? {
                Some(true) => self.expr(yes)?,
                Some(false) => self.expr(no)?,
                None => {
                    let (yes, no) = (self.expr(yes)?, self.expr(no)?);
                    if yes == no { yes } else { hull(self.bounds(yes), self.bounds(no)) }
                }
            },
            ExprKind::Cast(arg) => {
                let arg = self.expr(arg)?;
                self.fit(arg, ty)?
            }
            ExprKind::Float(op, float, left, right) => match (self.expr(left)?, self.expr(right)?) {
                (Known::Const(left), Known::Const(right)) => Known::Const(floats::binary(op, float, left, right)),
                _ => any(ty),
            },
            ExprKind::FloatFn(function, float, arg) => match self.expr(arg)? {
                Known::Const(arg) => Known::Const(floats::function(function, float, arg)),
                _ => any(ty),
            },
            ExprKind::FloatFromInt(to, arg) => match self.expr(arg)? {
                Known::Const(arg) => Known::Const(floats::from_int(to, arg)),
                _ => any(ty),
            },
            ExprKind::FloatToInt(from, arg) => match self.expr(arg)? {
                Known::Const(arg) => floats::to_int(from, arg, ty).map_or(any(ty), Known::Const),
                _ => any(ty),
            },
            ExprKind::FloatToFloat(from, arg) => match self.expr(arg)? {
                Known::Const(arg) => Known::Const(floats::convert(from, arg)),
                _ => any(ty),
            },
        })
    }

    /// The least and the greatest value.
    pub(crate) fn bounds(&self, known: Known) -> (i128, i128) {
        match known {
            Known::Const(value) => (value, value),
            Known::Sym(symbol, offset) => {
                let (low, high) = self.state.symbols.bounds(symbol);
                (low + offset, high + offset)
            }
            Known::Range(low, high) => (low, high),
        }
    }

    /// The value of an expression; a symbol with few values is split into them.
    fn exact(&self, id: ExprId) -> Result<Known, Split> {
        let known = self.expr(id)?;
        if let Known::Sym(symbol, _) = known {
            let (low, high) = self.state.symbols.bounds(symbol);
            if high - low < FEW {
                return Err(Split::AtMost(symbol, low + (high - low) / 2));
            }
        }
        Ok(known)
    }

    /// Converts a mathematical integer to a type, modulo 2^bits.
    pub(crate) fn fit(&self, known: Known, ty: IntTy) -> Result<Known, Split> {
        let (low, high) = self.bounds(known);
        if ty.min() <= low && high <= ty.max() {
            return Ok(if low == high { Known::Const(low) } else { known });
        }
        let window = |value: i128| (value - ty.min()) >> ty.bits;
        let (first, last) = (window(low), window(high));
        let end = |window: i128| ty.max() + (window << ty.bits);
        match known {
            Known::Const(value) => Ok(Known::Const(ty.wrap(value))),
            Known::Sym(symbol, offset) if first == last => Ok(Known::Sym(symbol, offset - (first << ty.bits))),
            Known::Sym(symbol, offset) if last - first <= 3 => Err(Split::AtMost(symbol, end(first) - offset)),
            Known::Range(low, high) if first == last => {
                Ok(Known::Range(low - (first << ty.bits), high - (first << ty.bits)))
            }
            Known::Sym(..) | Known::Range(..) => Ok(any(ty)),
        }
    }

    fn binary(&self, op: BinOp, ty: IntTy, left: ExprId, right: ExprId) -> Result<Known, Split> {
        if matches!(op, BinOp::Add | BinOp::Sub) {
            let (a, b) = (self.expr(left)?, self.expr(right)?);
            let sum = match (op, a, b) {
                (BinOp::Add, Known::Sym(symbol, offset), Known::Const(value))
                | (BinOp::Add, Known::Const(value), Known::Sym(symbol, offset)) => {
                    Some(Known::Sym(symbol, offset + value))
                }
                (BinOp::Sub, Known::Sym(symbol, offset), Known::Const(value)) => {
                    Some(Known::Sym(symbol, offset - value))
                }
                (BinOp::Sub, Known::Sym(a, first), Known::Sym(b, second)) if a == b => {
                    Some(Known::Const(first - second))
                }
                _ => None,
            };
            if let Some(sum) = sum {
                return self.fit(sum, ty);
            }
        }
        let (a, b) = (self.exact(left)?, self.exact(right)?);
        if let (Known::Const(a), Known::Const(b)) = (a, b) {
            // What is undefined in C has any value.
            return Ok(binary_value(op, ty, a, b).map_or(any(ty), Known::Const));
        }
        match binary_bounds(op, ty, self.bounds(a), self.bounds(b)) {
            Some((low, high)) => self.fit(Known::Range(low, high), ty),
            None => Ok(any(ty)),
        }
    }

    fn holds(&self, id: ExprId) -> Result<Option<bool>, Split> {
        Ok(match self.exprs.get(id).kind {
            ExprKind::Cmp(op, left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.compare(op, left, right)?
            }
            ExprKind::FloatCmp(op, ty, left, right) => match (self.expr(left)?, self.expr(right)?) {
                (Known::Const(left), Known::Const(right)) => Some(floats::compare(op, ty, left, right)),
                _ => None,
            },
            ExprKind::Not(arg) => self.holds(arg)?.map(|truth| !truth),
            ExprKind::And(left, right) => match self.holds(left)? {
                Some(false) => Some(false),
                Some(true) => self.holds(right)?,
                None => (self.holds(right)? == Some(false)).then_some(false),
            },
            ExprKind::Or(left, right) => match self.holds(left)? {
                Some(true) => Some(true),
                Some(false) => self.holds(right)?,
                None => (self.holds(right)? == Some(true)).then_some(true),
            },
            _ => {
                let value = self.expr(id)?;
                self.compare(CmpOp::Ne, value, Known::Const(0))?
            }
        })
    }

    fn compare(&self, op: CmpOp, left: Known, right: Known) -> Result<Option<bool>, Split> {
        let ((a, b), (c, d)) = (self.bounds(left), self.bounds(right));
        let decided = match op {
            CmpOp::Eq | CmpOp::Ne if b < c || d < a => Some(op == CmpOp::Ne),
            CmpOp::Eq | CmpOp::Ne if (a, c) == (b, d) => Some(cmp_value(op, a, c)),
            CmpOp::Eq | CmpOp::Ne if self.apart(left, right) => Some(op == CmpOp::Ne),
            CmpOp::Lt if b < c => Some(true),
            CmpOp::Lt if d <= a => Some(false),
            CmpOp::Le if b <= c => Some(true),
            CmpOp::Le if d < a => Some(false),
            _ => None,
        };
        if decided.is_some() {
            return Ok(decided);
        }
        match (left, right) {
            (Known::Sym(symbol, offset), Known::Const(value)) => Err(against(op, symbol, value - offset)),
            (Known::Const(value), Known::Sym(symbol, offset)) => Err(match op {
                CmpOp::Eq | CmpOp::Ne => against(op, symbol, value - offset),
                // value < symbol: not symbol <= value.
                CmpOp::Lt => Split::AtMost(symbol, value - offset),
                CmpOp::Le => Split::AtMost(symbol, value - offset - 1),
            }),
            (Known::Sym(a, first), Known::Sym(b, second)) if a == b => Ok(Some(cmp_value(op, first, second))),
            (Known::Sym(a, first), Known::Sym(b, second)) if first == second => self.ordered(op, a, b),
            _ => Ok(None),
        }
    }

    /// Whether one is a number that the other one, a symbol, does not have as its value.
    fn apart(&self, left: Known, right: Known) -> bool {
        match (left, right) {
            (Known::Sym(symbol, offset), Known::Const(value)) | (Known::Const(value), Known::Sym(symbol, offset)) => {
                self.state.symbols.excludes(symbol, value - offset)
            }
            _ => false,
        }
    }

    /// Compares two symbols.
    fn ordered(&self, op: CmpOp, a: Symbol, b: Symbol) -> Result<Option<bool>, Split> {
        let order = self.state.symbols.order(a, b);
        match op {
            CmpOp::Eq | CmpOp::Ne => match order {
                Some(Order::Less | Order::Different | Order::Greater) => Ok(Some(op == CmpOp::Ne)),
                Some(Order::LessOrEqual | Order::GreaterOrEqual) | None => Err(Split::Equal(a, b)),
            },
            CmpOp::Lt => match order {
                Some(Order::Less) => Ok(Some(true)),
                Some(Order::Greater | Order::GreaterOrEqual) => Ok(Some(false)),
                // Then `a < b` is `a <= b`, or its opposite is `b <= a`.
                Some(Order::Different) => Err(Split::Order(a, b)),
                Some(Order::LessOrEqual) | None => Err(Split::Order(b, a)),
            },
            CmpOp::Le => match order {
                Some(Order::Less | Order::LessOrEqual) => Ok(Some(true)),
                Some(Order::Greater) => Ok(Some(false)),
                Some(Order::Different | Order::GreaterOrEqual) | None => Err(Split::Order(a, b)),
            },
        }
    }
}

/// The question that decides how a symbol compares with a number.
fn against(op: CmpOp, symbol: Symbol, value: i128) -> Split {
    match op {
        CmpOp::Le => Split::AtMost(symbol, value),
        CmpOp::Lt => Split::AtMost(symbol, value - 1),
        CmpOp::Eq | CmpOp::Ne => Split::Is(symbol, value),
    }
}

/// What is known of a value that has equal symbols replaced; none if nothing is.
pub(crate) fn known(value: Val) -> Option<Known> {
    match value {
        Val::Any => None,
        Val::Const(value) => Some(Known::Const(value)),
        Val::Sym(symbol, offset) => Some(Known::Sym(symbol, offset)),
    }
}

fn any(ty: IntTy) -> Known {
    Known::Range(ty.min(), ty.max())
}

fn truth_value(truth: Option<bool>) -> Known {
    truth.map_or(Known::Range(0, 1), |truth| Known::Const(i128::from(truth)))
}

fn hull(a: (i128, i128), b: (i128, i128)) -> Known {
    Known::Range(a.0.min(b.0), a.1.max(b.1))
}
