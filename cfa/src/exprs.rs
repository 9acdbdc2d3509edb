// SPDX-License-Identifier: Apache-2.0
//! The interning store of side-effect-free expressions, with builders that fold constants.
//!
//! Equal expressions have equal ids. The builders rewrite only where the value and the definedness are provably the
//! same for all inputs: nothing that could divide by zero or shift too far is ever folded or dropped.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::eval::{Undefined, binary_value, cmp_value, unary_value};
use crate::floats;
use crate::ids::{ExprId, VarId};
use crate::ir::{BinOp, CmpOp, Expr, ExprKind, FloatFn, FloatOp, FloatTy, IntTy, UnOp};

/// The expressions of a program. Operands always have smaller ids than the expressions that use them.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    table: IndexSet<Expr, FxBuildHasher>,
    facts: Vec<Facts>,
}

#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Whether the value is defined for all valuations.
    total: bool,
    /// Length of the longest chain of operands.
    depth: u32,
}

impl Exprs {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The expression with the given id.
    #[inline]
    pub fn get(&self, id: ExprId) -> &Expr {
        self.table.get_index(id.index()).expect("expression ids are made by this store")
    }

    /// The type of an expression.
    #[inline]
    pub fn ty(&self, id: ExprId) -> IntTy {
        self.get(id).ty
    }

    /// Number of different expressions.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no expression.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// All ids, operands before the expressions that use them.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..self.table.len()).map(ExprId::new)
    }

    /// The value of a constant expression.
    pub fn as_const(&self, id: ExprId) -> Option<i128> {
        match self.get(id).kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The variable that an expression is, but for conversions.
    pub fn converted_var(&self, id: ExprId) -> Option<VarId> {
        match self.get(id).kind {
            ExprKind::Var(var) => Some(var),
            ExprKind::Cast(arg) => self.converted_var(arg),
            _ => None,
        }
    }

    /// Whether the value is 0 or 1 for every valuation because of the operator.
    pub fn is_truth(&self, id: ExprId) -> bool {
        match self.get(id).kind {
            ExprKind::Const(value) => value == 0 || value == 1,
            ExprKind::Cmp(..) | ExprKind::FloatCmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => {
                true
            }
            ExprKind::Cast(arg) => self.is_truth(arg),
            _ => false,
        }
    }

    /// Whether the expression has a defined value for every valuation.
    pub fn is_total(&self, id: ExprId) -> bool {
        self.facts[id.index()].total
    }

    /// Length of the longest chain of operands, 1 for constants and variables. The lowering keeps it below a limit, so
    /// that recursive traversals are safe.
    pub fn depth(&self, id: ExprId) -> u32 {
        self.facts[id.index()].depth
    }

    /// How big each expression is as a tree, at most 2^32 - 1.
    pub fn tree_sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = Vec::with_capacity(self.len());
        for id in self.ids() {
            let operands = self.operands(id).map(|operand| sizes[operand.index()]);
            sizes.push(operands.fold(1, u32::saturating_add));
        }
        sizes
    }

    /// The operands of an expression.
    pub fn operands(&self, id: ExprId) -> impl Iterator<Item = ExprId> + use<> {
        let operands = match self.get(id).kind {
            ExprKind::Const(_) | ExprKind::Var(_) => [None; 3],
            ExprKind::Unary(_, a)
            | ExprKind::Not(a)
            | ExprKind::Cast(a)
            | ExprKind::FloatFn(_, _, a)
            | ExprKind::FloatFromInt(_, a)
            | ExprKind::FloatToInt(_, a)
            | ExprKind::FloatToFloat(_, a) => [Some(a), None, None],
            ExprKind::Binary(_, a, b)
            | ExprKind::Cmp(_, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Float(_, _, a, b)
            | ExprKind::FloatCmp(_, _, a, b) => [Some(a), Some(b), None],
            ExprKind::Ite(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }

    /// The operator of an expression on other operands of the same types.
    pub(crate) fn with_operands(&mut self, id: ExprId, operands: &[ExprId]) -> ExprId {
        let Expr { kind, ty } = self.get(id).clone();
        match (kind, operands) {
            (ExprKind::Unary(op, _), &[a]) => self.unary(op, a),
            (ExprKind::Binary(op, ..), &[a, b]) => self.binary(op, a, b),
            (ExprKind::Cmp(op, ..), &[a, b]) => self.cmp(op, a, b),
            (ExprKind::Not(_), &[a]) => self.not(a),
            (ExprKind::And(..), &[a, b]) => self.and(a, b),
            (ExprKind::Or(..), &[a, b]) => self.or(a, b),
            (ExprKind::Ite(..), &[a, b, c]) => self.ite(a, b, c),
            (ExprKind::Cast(_), &[a]) => self.cast(a, ty),
            (ExprKind::Float(op, float, ..), &[a, b]) => self.float(op, float, a, b),
            (ExprKind::FloatFn(function, float, _), &[a]) => self.float_fn(function, float, a),
            (ExprKind::FloatCmp(op, float, ..), &[a, b]) => self.float_cmp(op, float, a, b),
            (ExprKind::FloatFromInt(float, _), &[a]) => self.float_from_int(float, a),
            (ExprKind::FloatToInt(float, _), &[a]) => self.float_to_int(float, a, ty),
            (ExprKind::FloatToFloat(float, _), &[a]) => self.float_to_float(float, a),
            _ => id,
        }
    }

    /// The variables of an expression, in order of their ids and without repetition.
    pub fn vars(&self, id: ExprId) -> Vec<VarId> {
        let mut found = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![id];
        while let Some(next) = todo.pop() {
            if !seen.insert(next) {
                continue;
            }
            if let ExprKind::Var(var) = self.get(next).kind {
                found.push(var);
            }
            todo.extend(self.operands(next));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn intern(&mut self, kind: ExprKind, ty: IntTy) -> ExprId {
        let own_total = match kind {
            ExprKind::Binary(op, a, b) => self.is_total_op(op, a, b),
            ExprKind::FloatToInt(..) => false,
            _ => true,
        };
        let (index, new) = self.table.insert_full(Expr { kind, ty });
        let id = ExprId::new(index);
        if new {
            let mut facts = Facts { total: own_total, depth: 1 };
            for operand in self.operands(id) {
                let of_operand = self.facts[operand.index()];
                facts.total &= of_operand.total;
                facts.depth = facts.depth.max(of_operand.depth + 1);
            }
            self.facts.push(facts);
        }
        id
    }

    /// Whether the operator has a defined value whenever its operands have.
    fn is_total_op(&self, op: BinOp, left: ExprId, right: ExprId) -> bool {
        let ty = self.ty(left);
        match (op, self.as_const(right)) {
            (BinOp::Div | BinOp::Rem, Some(divisor)) => divisor != 0 && (divisor != -1 || !ty.signed),
            (BinOp::Shl | BinOp::Shr, Some(amount)) => (0..i128::from(ty.bits)).contains(&amount),
            (BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr, None) => false,
            _ => true,
        }
    }

    /// The constant of type `ty` that is congruent to `value`.
    pub fn constant(&mut self, ty: IntTy, value: i128) -> ExprId {
        self.intern(ExprKind::Const(ty.wrap(value)), ty)
    }

    /// 1 or 0 as an `int`.
    pub fn truth_const(&mut self, value: bool) -> ExprId {
        self.constant(IntTy::INT, i128::from(value))
    }

    /// The value of a variable of the given type.
    pub fn var(&mut self, var: VarId, ty: IntTy) -> ExprId {
        self.intern(ExprKind::Var(var), ty)
    }

    /// A unary operator.
    pub fn unary(&mut self, op: UnOp, arg: ExprId) -> ExprId {
        let ty = self.ty(arg);
        match self.get(arg).kind {
            ExprKind::Const(value) => self.constant(ty, unary_value(op, ty, value)),
            ExprKind::Unary(inner, twice) if inner == op => twice,
            _ => self.intern(ExprKind::Unary(op, arg), ty),
        }
    }

    /// A binary operator on operands of one type.
    pub fn binary(&mut self, op: BinOp, left: ExprId, right: ExprId) -> ExprId {
        let ty = self.ty(left);
        debug_assert_eq!(ty, self.ty(right), "operands of a binary operator have one type");
        let (l, r) = (self.as_const(left), self.as_const(right));
        if let (Some(l), Some(r)) = (l, r)
            && let Ok(value) = binary_value(op, ty, l, r)
        {
            return self.constant(ty, value);
        }
        let ones = ty.wrap(-1);
        match (op, l, r) {
            (BinOp::Add | BinOp::BitOr | BinOp::BitXor, Some(0), _) => right,
            (BinOp::Add | BinOp::Sub | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr, _, Some(0)) => left,
            (BinOp::Mul, Some(1), _) => right,
            (BinOp::Mul | BinOp::Div, _, Some(1)) => left,
            (BinOp::BitAnd, Some(k), _) if k == ones => right,
            (BinOp::BitAnd, _, Some(k)) if k == ones => left,
            (BinOp::Sub, Some(0), _) => self.unary(UnOp::Neg, right),
            _ => self.intern(ExprKind::Binary(op, left, right), ty),
        }
    }

    /// A comparison of two operands of one type, as an `int`.
    pub fn cmp(&mut self, op: CmpOp, left: ExprId, right: ExprId) -> ExprId {
        let ty = self.ty(left);
        debug_assert_eq!(ty, self.ty(right), "operands of a comparison have one type");
        let (l, r) = (self.as_const(left), self.as_const(right));
        if let (Some(l), Some(r)) = (l, r) {
            return self.truth_const(cmp_value(op, l, r));
        }
        if left == right && self.is_total(left) {
            return self.truth_const(matches!(op, CmpOp::Eq | CmpOp::Le));
        }
        if matches!(op, CmpOp::Eq | CmpOp::Ne) {
            if l.is_some() {
                return self.cmp(op, right, left);
            }
            if let Some(simple) = self.truth_against_const(op, left, r) {
                return simple;
            }
        }
        if let Some(simple) = self.cmp_without_casts(op, left, right) {
            return simple;
        }
        self.intern(ExprKind::Cmp(op, left, right), IntTy::INT)
    }

    /// `t == 0`, `t != 0`, `t == 1`, `t != 1` for an operand that is 0 or 1.
    fn truth_against_const(&mut self, op: CmpOp, left: ExprId, right: Option<i128>) -> Option<ExprId> {
        let right = right.filter(|k| *k == 0 || *k == 1)?;
        let mut inner = left;
        while let ExprKind::Cast(arg) = self.get(inner).kind {
            inner = arg;
        }
        if !self.is_truth(inner) {
            return None;
        }
        Some(if (op == CmpOp::Eq) == (right == 1) { inner } else { self.not(inner) })
    }

    /// Compares below conversions that keep the value, when both sides can be brought to one narrower type.
    fn cmp_without_casts(&mut self, op: CmpOp, left: ExprId, right: ExprId) -> Option<ExprId> {
        let (l, r) = (self.widened(left), self.widened(right));
        match (l, r, self.as_const(left), self.as_const(right)) {
            (Some(l), Some(r), _, _) if self.ty(l) == self.ty(r) => Some(self.cmp(op, l, r)),
            (Some(l), _, _, Some(k)) => {
                let narrow = self.ty(l);
                if (narrow.min()..=narrow.max()).contains(&k) {
                    let k = self.constant(narrow, k);
                    return Some(self.cmp(op, l, k));
                }
                self.is_total(l).then(|| self.truth_const(cmp_value(op, narrow.min(), k)))
            }
            (_, Some(r), Some(k), _) => {
                let narrow = self.ty(r);
                if (narrow.min()..=narrow.max()).contains(&k) {
                    let k = self.constant(narrow, k);
                    return Some(self.cmp(op, k, r));
                }
                self.is_total(r).then(|| self.truth_const(cmp_value(op, k, narrow.min())))
            }
            _ => None,
        }
    }

    /// The argument of a conversion that keeps every value.
    fn widened(&self, id: ExprId) -> Option<ExprId> {
        match self.get(id) {
            Expr { kind: ExprKind::Cast(arg), ty } if contains(*ty, self.ty(*arg)) => Some(*arg),
            _ => None,
        }
    }

    /// `!arg`.
    pub fn not(&mut self, arg: ExprId) -> ExprId {
        match self.get(arg).kind {
            ExprKind::Const(value) => self.truth_const(value == 0),
            ExprKind::Not(inner) => self.truth(inner),
            ExprKind::Cmp(CmpOp::Eq, a, b) => self.intern(ExprKind::Cmp(CmpOp::Ne, a, b), IntTy::INT),
            ExprKind::Cmp(CmpOp::Ne, a, b) => self.intern(ExprKind::Cmp(CmpOp::Eq, a, b), IntTy::INT),
            ExprKind::Cmp(CmpOp::Lt, a, b) => self.cmp(CmpOp::Le, b, a),
            ExprKind::Cmp(CmpOp::Le, a, b) => self.cmp(CmpOp::Lt, b, a),
            ExprKind::Cast(inner) if contains(self.ty(arg), self.ty(inner)) || self.is_truth(inner) => self.not(inner),
            _ => self.intern(ExprKind::Not(arg), IntTy::INT),
        }
    }

    /// 1 if the argument is not 0, else 0, as an `int`.
    pub fn truth(&mut self, arg: ExprId) -> ExprId {
        if self.is_truth(arg) {
            return self.cast(arg, IntTy::INT);
        }
        let zero = self.constant(self.ty(arg), 0);
        self.cmp(CmpOp::Ne, arg, zero)
    }

    /// `left && right`.
    pub fn and(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.as_const(left), self.as_const(right)) {
            (Some(0), _) => self.truth_const(false),
            (Some(_), _) => self.truth(right),
            (None, Some(0)) if self.is_total(left) => self.truth_const(false),
            (None, Some(k)) if k != 0 => self.truth(left),
            _ => self.intern(ExprKind::And(left, right), IntTy::INT),
        }
    }

    /// `left || right`.
    pub fn or(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.as_const(left), self.as_const(right)) {
            (Some(0), _) => self.truth(right),
            (Some(_), _) => self.truth_const(true),
            (None, Some(0)) => self.truth(left),
            (None, Some(_)) if self.is_total(left) => self.truth_const(true),
            _ => self.intern(ExprKind::Or(left, right), IntTy::INT),
        }
    }

    /// `cond ? yes : no` for branches of one type.
    pub fn ite(&mut self, cond: ExprId, yes: ExprId, no: ExprId) -> ExprId {
        let ty = self.ty(yes);
        debug_assert_eq!(ty, self.ty(no), "branches of a conditional expression have one type");
        match self.as_const(cond) {
            Some(0) => return no,
            Some(_) => return yes,
            None => {}
        }
        if yes == no && self.is_total(cond) {
            return yes;
        }
        match (self.as_const(yes), self.as_const(no)) {
            (Some(1), Some(0)) => {
                let truth = self.truth(cond);
                return self.cast(truth, ty);
            }
            (Some(0), Some(1)) => {
                let truth = self.not(cond);
                return self.cast(truth, ty);
            }
            _ => {}
        }
        if let ExprKind::Not(inner) = self.get(cond).kind {
            return self.intern(ExprKind::Ite(inner, no, yes), ty);
        }
        self.intern(ExprKind::Ite(cond, yes, no), ty)
    }

    /// Whether an operation can be done in the unsigned type `ty` without new conversions. Not for signed types: there
    /// an analysis may tell overflows of C's own operations from those that a conversion hides.
    fn narrows(&self, id: ExprId, ty: IntTy) -> bool {
        if ty.signed || ty.bits > self.ty(id).bits {
            return false;
        }
        let free = |operand: ExprId| match self.get(operand).kind {
            ExprKind::Const(_) => true,
            ExprKind::Cast(inner) => self.ty(inner) == ty,
            _ => self.narrows(operand, ty),
        };
        match self.get(id).kind {
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => free(a) && free(b),
            ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor, a, b) => free(a) && free(b),
            _ => false,
        }
    }

    /// The argument converted to `ty`.
    pub fn cast(&mut self, arg: ExprId, ty: IntTy) -> ExprId {
        let from = self.ty(arg);
        if from == ty {
            return arg;
        }
        match self.get(arg).kind {
            ExprKind::Const(value) => self.constant(ty, value),
            // A conversion is a function of the value modulo 2^bits; the inner one can be left out when it keeps at
            // least the bits that the outer one looks at, or when it keeps the value.
            ExprKind::Cast(inner) if ty.bits <= from.bits || contains(from, self.ty(inner)) => self.cast(inner, ty),
            // The low bits of these operators depend only on the low bits of the operands.
            ExprKind::Binary(op, a, b) if self.narrows(arg, ty) => {
                let (a, b) = (self.cast(a, ty), self.cast(b, ty));
                self.binary(op, a, b)
            }
            _ => self.intern(ExprKind::Cast(arg), ty),
        }
    }

    /// A floating-point operator on the bits of two numbers.
    pub fn float(&mut self, op: FloatOp, ty: FloatTy, left: ExprId, right: ExprId) -> ExprId {
        let value = self.as_const(left).zip(self.as_const(right)).map(|(l, r)| floats::binary(op, ty, l, r));
        self.float_result(value, ty, ExprKind::Float(op, ty, left, right))
    }

    /// Whether it is an operation on constants, which would be a constant if it were a number.
    fn is_constant_nan(&self, id: ExprId) -> bool {
        let kind = &self.get(id).kind;
        let is_operation = matches!(kind, ExprKind::Float(..) | ExprKind::FloatFn(..) | ExprKind::FloatToFloat(..));
        is_operation && self.operands(id).all(|operand| self.as_const(operand).is_some())
    }

    /// A constant only if it is a number: the bits of others are open.
    fn float_result(&mut self, value: Option<i128>, ty: FloatTy, kind: ExprKind) -> ExprId {
        match value.filter(|&value| floats::compare(CmpOp::Eq, ty, value, value)) {
            Some(value) => self.constant(ty.bits(), value),
            None => self.intern(kind, ty.bits()),
        }
    }

    /// A floating-point function on the bits of a number.
    pub fn float_fn(&mut self, function: FloatFn, ty: FloatTy, arg: ExprId) -> ExprId {
        let value = self.as_const(arg).map(|value| floats::function(function, ty, value));
        self.float_result(value, ty, ExprKind::FloatFn(function, ty, arg))
    }

    /// A floating-point comparison as an `int`; `op` is not [`CmpOp::Ne`], which is the negation of the equality.
    pub fn float_cmp(&mut self, op: CmpOp, ty: FloatTy, left: ExprId, right: ExprId) -> ExprId {
        debug_assert_ne!(op, CmpOp::Ne, "inequality is the negation of equality");
        match (self.as_const(left), self.as_const(right)) {
            (Some(l), Some(r)) => self.truth_const(floats::compare(op, ty, l, r)),
            _ if self.is_constant_nan(left) || self.is_constant_nan(right) => self.truth_const(false),
            _ => self.intern(ExprKind::FloatCmp(op, ty, left, right), IntTy::INT),
        }
    }

    /// An integer as the bits of a floating-point number.
    pub fn float_from_int(&mut self, to: FloatTy, arg: ExprId) -> ExprId {
        match self.as_const(arg) {
            Some(value) => self.constant(to.bits(), floats::from_int(to, value)),
            None => self.intern(ExprKind::FloatFromInt(to, arg), to.bits()),
        }
    }

    /// A floating-point number as an integer.
    pub fn float_to_int(&mut self, from: FloatTy, arg: ExprId, ty: IntTy) -> ExprId {
        match self.as_const(arg).and_then(|value| floats::to_int(from, value, ty).ok()) {
            Some(value) => self.constant(ty, value),
            None => self.intern(ExprKind::FloatToInt(from, arg), ty),
        }
    }

    /// A floating-point number in the other format.
    pub fn float_to_float(&mut self, from: FloatTy, arg: ExprId) -> ExprId {
        let to = from.other();
        let value = self.as_const(arg).map(|value| floats::convert(from, value));
        self.float_result(value, to, ExprKind::FloatToFloat(from, arg))
    }
}

/// Whether every value of `inner` is a value of `outer`.
pub(crate) fn contains(outer: IntTy, inner: IntTy) -> bool {
    outer.min() <= inner.min() && inner.max() <= outer.max()
}

/// The value of an expression without variables; none if it has variables or is undefined.
pub fn closed_value(exprs: &Exprs, id: ExprId) -> Option<Result<i128, Undefined>> {
    exprs.vars(id).is_empty().then(|| crate::eval::eval(exprs, id, &mut |_| 0))
}
