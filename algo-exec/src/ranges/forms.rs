// SPDX-License-Identifier: Apache-2.0
//! Evaluation of expressions in a state: ranges, and for floating-point numbers what they are as combinations of others.

use std::rc::Rc;

use cfa::Program;
use cfa::ids::ExprId;
use cfa::ir::{BinOp, CmpOp, ExprKind, FloatFn, FloatOp, FloatTy};
use rustc_hash::FxHashMap;

use super::affine::{Bases, Form, Kind};
use super::state::{Sources, State};
use super::value::{self, Floats, MayBeUndefined, Range, bits, number};

/// One evaluation; what expressions have in common is computed once.
pub(super) struct Evaluation<'a> {
    program: &'a Program,
    state: &'a State,
    memo: FxHashMap<ExprId, Range>,
    forms: FxHashMap<(ExprId, u8), Option<Rc<Form>>>,
    /// Where the values that are not known exactly come from.
    pub(super) sources: Sources,
}

/// A sign change, or its removal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Changed,
    Removed,
}

/// Whether these operands change the sign of a floating-point number.
fn sign(program: &Program, op: BinOp, left: ExprId, right: ExprId) -> Option<(Sign, ExprId)> {
    let bits = program.exprs.ty(left).bits;
    let (Some(mask), true) = (program.exprs.as_const(right), bits >= 32) else { return None };
    match op {
        BinOp::BitXor if mask == 1 << (bits - 1) => Some((Sign::Changed, left)),
        BinOp::BitAnd if mask == (1 << (bits - 1)) - 1 => Some((Sign::Removed, left)),
        _ => None,
    }
}

impl<'a> Evaluation<'a> {
    /// Nothing is evaluated yet.
    pub(super) fn new(program: &'a Program, state: &'a State) -> Self {
        let (memo, forms) = (FxHashMap::default(), FxHashMap::default());
        Evaluation { program, state, memo, forms, sources: Sources::default() }
    }

    fn integers(&mut self, id: ExprId) -> Result<(i128, i128), MayBeUndefined> {
        Ok(self.eval(id)?.integers(self.program.exprs.ty(id)))
    }

    // Recursion is fine: the lowering bounds the depth of expressions.
    pub(super) fn eval(&mut self, id: ExprId) -> Result<Range, MayBeUndefined> {
        let expr = self.program.exprs.get(id);
        match expr.kind {
            ExprKind::Const(value) => return Ok(Range::of(value)),
            ExprKind::Var(var) => {
                let value = self.state.get(var);
                if value.range.single().is_none() {
                    self.sources.add(value.sources);
                }
                return Ok(self.tightened(value.range, |forms, ty| forms.get(value.number, Kind::Float(ty))));
            }
            _ => {}
        }
        if let Some(&value) = self.memo.get(&id) {
            return Ok(value);
        }
        let result = match expr.kind {
            ExprKind::Const(_) | ExprKind::Var(_) => unreachable!("returned above"),
            ExprKind::Unary(op, arg) => value::unary(op, expr.ty, self.integers(arg)?),
            ExprKind::Binary(op, left, right) => {
                let number = match sign(self.program, op, left, right) {
                    Some((sign, arg)) => with_sign(sign, self.eval(arg)?),
                    None => None,
                };
                match number {
                    Some(number) => number,
                    None => {
                        let left = self.integers(left)?;
                        value::binary(op, expr.ty, left, self.integers(right)?)?
                    }
                }
            }
            ExprKind::Cmp(op, left, right) => {
                let left = self.integers(left)?;
                Range::of_truth(value::compare(op, left, self.integers(right)?))
            }
            ExprKind::FloatCmp(op @ (CmpOp::Eq | CmpOp::Lt | CmpOp::Le), ty, left, right) if left == right => {
                // A number is equal to itself.
                let range = self.eval(left)?.floats(ty);
                Range::of_truth((range.is_empty() || !range.nan).then_some(!range.nan && op != CmpOp::Lt))
            }
            ExprKind::Not(arg) => Range::of_truth(self.eval(arg)?.truth().map(|truth| !truth)),
            ExprKind::And(left, right) => self.connective(left, right, false)?,
            ExprKind::Or(left, right) => self.connective(left, right, true)?,
            ExprKind::Ite(cond, yes, no) => match self.eval(cond)?.truth() {
                Some(true) => self.eval(yes)?,
                Some(false) => self.eval(no)?,
                None => self.eval(yes)?.join(self.eval(no)?),
            },
            ExprKind::Cast(arg) if self.program.exprs.ty(arg) == expr.ty => self.eval(arg)?,
            ExprKind::Cast(arg) => value::cast(expr.ty, self.integers(arg)?),
            ExprKind::Float(op, ty, left, right) => {
                let same = left == right;
                let left = self.eval(left)?;
                value::float_binary(op, ty, left, self.eval(right)?, same)
            }
            ExprKind::FloatFn(function, ty, arg) => value::float_function(function, ty, self.eval(arg)?),
            ExprKind::FloatCmp(op, ty, left, right) => {
                let (l, r) = (self.eval(left)?, self.eval(right)?);
                let decided = value::float_compare(op, ty, l, r);
                Range::of_truth(decided.or_else(|| self.difference_decides(op, ty, left, right)))
            }
            ExprKind::FloatFromInt(to, arg) => value::from_integers(to, self.integers(arg)?),
            ExprKind::FloatToInt(from, arg) => value::to_integers(from, self.eval(arg)?, expr.ty)?,
            ExprKind::FloatToFloat(from, arg) => value::convert(from, self.eval(arg)?),
        };
        let result = match result {
            Range::Float(Floats { ty, .. }) if self.state.forms.is_some() => match self.form(id, Kind::Float(ty)) {
                Some(form) => self.tightened(result, |_, _| Some(form)),
                None => result,
            },
            _ => result,
        };
        self.memo.insert(id, result);
        Ok(result)
    }

    /// A conjunction, or a disjunction, which is decided when an operand has the value `decisive`.
    fn connective(&mut self, left: ExprId, right: ExprId, decisive: bool) -> Result<Range, MayBeUndefined> {
        let left = self.eval(left)?.truth();
        if left == Some(decisive) {
            return Ok(Range::of_truth(left));
        }
        let right = self.eval(right)?.truth();
        Ok(Range::of_truth(match (left, right) {
            (_, Some(value)) if value == decisive => right,
            (Some(_), Some(_)) => Some(!decisive),
            _ => None,
        }))
    }
}

impl Evaluation<'_> {
    /// The form of an evaluated expression that is not simply that of a variable, and what it is the value of.
    pub(super) fn result(&mut self, id: ExprId) -> Option<(Kind, Rc<Form>)> {
        self.state.forms.as_ref()?;
        let kind = match (&self.program.exprs.get(id).kind, self.memo.get(&id)) {
            (_, Some(Range::Float(floats))) => Kind::Float(floats.ty),
            (ExprKind::FloatToInt(..) | ExprKind::Binary(..), Some(Range::Int { low, high })) if low < high => {
                Kind::Int
            }
            _ => return None,
        };
        Some((kind, self.form(id, kind)?))
    }

    /// A range without what the form of the value excludes.
    fn tightened(&self, range: Range, form: impl FnOnce(&super::affine::Forms, FloatTy) -> Option<Rc<Form>>) -> Range {
        let (Range::Float(floats), Some(forms)) = (range, &self.state.forms) else { return range };
        if floats.nan || floats.is_empty() {
            return range;
        }
        let Some(form) = form(forms, floats.ty) else { return range };
        // What is a number of the format stays on its side of a bound when that is rounded to the format.
        let (low, high) = form.range(&forms.bases);
        let own = |x: f64| number(floats.ty, bits(floats.ty, x));
        let (low, high) = (floats.low.max(own(low)), floats.high.min(own(high)));
        // Where nothing is left no execution comes, which is not for this to find out.
        if low <= high { Range::Float(Floats { low, high, ..floats }) } else { range }
    }

    /// Whether a comparison of numbers holds, by what they have in common.
    fn difference_decides(&mut self, op: CmpOp, ty: FloatTy, left: ExprId, right: ExprId) -> Option<bool> {
        let (l, r) = (self.form(left, Kind::Float(ty))?, self.form(right, Kind::Float(ty))?);
        let bases = &self.state.forms.as_ref()?.bases;
        let (low, high) = l.plus(&r, -1.0, bases)?.range(bases);
        match op {
            CmpOp::Lt if high < 0.0 => Some(true),
            CmpOp::Lt if low >= 0.0 => Some(false),
            CmpOp::Le if high <= 0.0 => Some(true),
            CmpOp::Le if low > 0.0 => Some(false),
            CmpOp::Eq if low > 0.0 || high < 0.0 => Some(false),
            _ => None,
        }
    }

    /// The value of an expression, which is a finite number, as a combination of base values.
    fn form(&mut self, id: ExprId, kind: Kind) -> Option<Rc<Form>> {
        let key = (
            id,
            match kind {
                Kind::Int | Kind::Rest => 0,
                Kind::Float(ty) => 1 + u8::from(ty == FloatTy::F64),
            },
        );
        if let Some(form) = self.forms.get(&key) {
            return form.clone();
        }
        let form = self.new_form(id, kind);
        self.forms.insert(key, form.clone());
        form
    }

    fn new_form(&mut self, id: ExprId, kind: Kind) -> Option<Rc<Form>> {
        let state = self.state;
        let forms = state.forms.as_deref()?;
        let bases: &Bases = &forms.bases;
        let expr = self.program.exprs.get(id);
        let single = match expr.kind {
            ExprKind::Const(value) => Some(value),
            ExprKind::Var(var) => state.get(var).range.single(),
            _ => None,
        };
        if let Some(value) = single {
            let value = match kind {
                Kind::Int if value.unsigned_abs() <= 1 << 53 => value as f64,
                Kind::Int | Kind::Rest => return None,
                Kind::Float(ty) => number(ty, value),
            };
            return value.is_finite().then(|| Rc::new(Form::constant(value, value)));
        }
        if let ExprKind::Var(var) = expr.kind {
            return forms.get(state.get(var).number, kind);
        }
        let form = match (kind, expr.kind.clone()) {
            (Kind::Float(ty), ExprKind::Float(op, own, left, right)) if own == ty => {
                let (l, r) = (self.form(left, kind)?, self.form(right, kind)?);
                let exact = match op {
                    FloatOp::Add => l.plus(&r, 1.0, bases)?,
                    FloatOp::Sub => l.plus(&r, -1.0, bases)?,
                    FloatOp::Mul => l.times(&r, left == right, bases)?,
                    FloatOp::Div => l.times(&r.reciprocal(bases)?, false, bases)?,
                };
                exact.rounded(ty, bases)?
            }
            (Kind::Float(ty), ExprKind::FloatFn(function, own, arg)) if own == ty => {
                let arg = self.form(arg, kind)?;
                match function {
                    FloatFn::Sqrt => arg.root(bases)?.rounded(ty, bases)?,
                    FloatFn::Floor => arg.moved(-1.0, 0.0)?,
                    FloatFn::Ceil => arg.moved(0.0, 1.0)?,
                    FloatFn::Trunc => truncated(&arg, bases)?,
                    FloatFn::Round | FloatFn::RoundEven => arg.moved(-0.5, 0.5)?,
                }
            }
            (Kind::Float(ty), ExprKind::FloatToFloat(from, arg)) if from.other() == ty => {
                let arg = self.form(arg, Kind::Float(from))?;
                if ty == FloatTy::F64 { Form::clone(&arg) } else { arg.rounded(ty, bases)? }
            }
            (Kind::Float(ty), ExprKind::FloatFromInt(own, arg)) if own == ty => {
                let arg = self.form(arg, Kind::Int)?;
                let (low, high) = arg.range(bases);
                // Integers up to here are numbers of the format.
                let exact = if ty == FloatTy::F32 { 1u64 << 24 } else { 1 << 53 } as f64;
                if -exact <= low && high <= exact { Form::clone(&arg) } else { arg.rounded(ty, bases)? }
            }
            (Kind::Float(_), ExprKind::Binary(op, left, right)) => {
                let (sign, arg) = sign(self.program, op, left, right)?;
                let arg = self.form(arg, kind)?;
                let (low, high) = arg.range(bases);
                match sign {
                    Sign::Removed if low >= 0.0 => Form::clone(&arg),
                    Sign::Removed if high > 0.0 => return None,
                    _ => arg.negated(),
                }
            }
            (Kind::Int, ExprKind::FloatToInt(from, arg)) => {
                // A conversion that is not defined is found by the ranges.
                truncated(&*self.form(arg, Kind::Float(from))?, bases)?
            }
            (Kind::Int, ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), left, right)) => {
                let ((a, b), (c, d)) = (self.integers(left).ok()?, self.integers(right).ok()?);
                let (low, high) = if op == BinOp::Add { (a + c, b + d) } else { (a - d, b - c) };
                if low < expr.ty.min() || high > expr.ty.max() {
                    return None;
                }
                let (l, r) = (self.form(left, kind)?, self.form(right, kind)?);
                l.plus(&r, if op == BinOp::Add { 1.0 } else { -1.0 }, bases)?
            }
            _ => return None,
        };
        Some(Rc::new(form))
    }
}

/// The integral part.
fn truncated(form: &Form, bases: &Bases) -> Option<Form> {
    match form.range(bases) {
        (low, _) if low >= 0.0 => form.moved(-1.0, 0.0),
        (_, high) if high <= 0.0 => form.moved(0.0, 1.0),
        _ => form.moved(-1.0, 1.0),
    }
}

/// A number with another sign.
fn with_sign(sign: Sign, range: Range) -> Option<Range> {
    let Range::Float(Floats { ty, low, high, nan }) = range else { return None };
    // A set without numbers stays one.
    let (low, high) = match sign {
        Sign::Changed => (-high, -low),
        _ if low > high || low >= 0.0 => (low, high),
        _ if high <= 0.0 => (-high, -low),
        Sign::Removed => (0.0, high.max(-low)),
    };
    Some(Range::Float(Floats { ty, low, high, nan }))
}
