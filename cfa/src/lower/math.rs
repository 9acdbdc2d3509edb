// SPDX-License-Identifier: Apache-2.0
//! The functions of `<math.h>`, C11 7.12 and F.10, and the compiler's own ones: those with an exact result become
//! expressions, the others give any value, which a counterexample must not depend on.
//!
//! The rounding mode is to nearest. Functions that raise exceptions or set `errno` do nothing else here.

use crate::ast::{Binary, Expr, ExprRef, Range};
use crate::ids::ExprId;
use crate::ir::{BinOp, CmpOp, FloatFn, FloatOp, FloatTy, HavocOrigin, IntTy, Op};
use crate::types::{Type, int};

use super::{Lower, Val};

/// Functions whose results are rounded in a way that C leaves open.
const INEXACT: [&str; 37] = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "logb",
    "pow",
    "hypot",
    "cbrt",
    "erf",
    "erfc",
    "tgamma",
    "fmod",
    "remainder",
    "ldexp",
    "scalbn",
    "nextafter",
    "fma",
    "lgamma",
    "scalbln",
    "drem",
    "exp10",
];

/// What a call of a function of the library or the compiler means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Math {
    /// A number from numbers of the same format: the function without suffix, and the format.
    Number(&'static str, FloatTy),
    /// A constant.
    Constant(&'static str, FloatTy),
    /// A number to an integer, rounded by the function; the width in bits, 0 for that of `long`.
    ToInteger(FloatFn, FloatTy, u32),
    /// An integer from numbers in their own format.
    Predicate(&'static str),
    /// A result that is not modelled.
    Inexact(FloatTy),
}

/// The functions of one format and the number of their arguments.
const EXACT: [(&str, usize); 14] = [
    ("fabs", 1),
    ("sqrt", 1),
    ("floor", 1),
    ("ceil", 1),
    ("trunc", 1),
    ("round", 1),
    ("rint", 1),
    ("nearbyint", 1),
    ("roundeven", 1),
    ("copysign", 2),
    ("fmin", 2),
    ("fmax", 2),
    ("fdim", 2),
    ("chgsign", 1),
];

const PREDICATES: [(&str, usize); 17] = [
    ("isnan", 1),
    ("isinf", 1),
    ("isinf_sign", 1),
    ("isfinite", 1),
    ("finite", 1),
    ("isnormal", 1),
    ("issubnormal", 1),
    ("iszero", 1),
    ("signbit", 1),
    ("fpclassify", 1),
    ("fpclassify", 6),
    ("isgreater", 2),
    ("isgreaterequal", 2),
    ("isless", 2),
    ("islessequal", 2),
    ("islessgreater", 2),
    ("isunordered", 2),
];

/// The meaning of a function without body, by its name and the number of its arguments.
pub(super) fn known(name: &str, args: usize) -> Option<Math> {
    let plain = name.strip_prefix("__builtin_").or_else(|| name.strip_prefix("__")).unwrap_or(name);
    let formats = [(plain, FloatTy::F64), (plain.strip_suffix('f').unwrap_or(""), FloatTy::F32)];
    for (stem, format) in formats {
        if let Some((exact, _)) = EXACT.iter().find(|(exact, count)| *exact == stem && *count == args) {
            return Some(Math::Number(exact, format));
        }
        let constants = [("nan", 1), ("nans", 1), ("inf", 0), ("huge_val", 0)];
        let is_constant = |(constant, count): &&(&str, usize)| *constant == stem && *count == args;
        // C has no functions `inf` and `huge_val`.
        if let Some((constant, _)) = constants.iter().find(is_constant)
            && (stem == "nan" || plain != name)
        {
            return Some(Math::Constant(constant, format));
        }
        let to_integer = match stem {
            "lround" => Some((FloatFn::Round, 0)),
            "llround" => Some((FloatFn::Round, 64)),
            "lrint" => Some((FloatFn::RoundEven, 0)),
            "llrint" => Some((FloatFn::RoundEven, 64)),
            _ => None,
        };
        if let (Some((function, bits)), 1) = (to_integer, args) {
            return Some(Math::ToInteger(function, format, bits));
        }
        if INEXACT.contains(&stem) {
            return Some(Math::Inexact(format));
        }
        // `__isnanf` and `__finitef` of older libraries, `__builtin_isnan`, and macros that were not expanded.
        if let Some((predicate, _)) = PREDICATES.iter().find(|(p, count)| *p == stem && *count == args) {
            // As a function of glibc it says which infinity it is.
            let signed = *predicate == "isinf" && name.starts_with("__isinf");
            return Some(Math::Predicate(if signed { "isinf_sign" } else { predicate }));
        }
    }
    None
}

impl<'a> Lower<'a> {
    /// The value of a call; the arguments are evaluated. None if it is not one of numbers in a known format.
    pub(super) fn math(
        &mut self,
        name: &str,
        math: Math,
        values: Vec<Val>,
        args: &'a [ExprRef],
        range: Range,
    ) -> Option<Val> {
        let known = |value: &Val| matches!(value, Val::Int(_, ty) if !ty.is_pointer_like());
        match math {
            Math::Constant("inf" | "huge_val", format) => {
                let bits = infinity(format);
                Some(self.constant(bits, self.float_type(format)))
            }
            // The text can choose the payload of a number that is not a number.
            Math::Constant(function, format) => match self.ast().expr(args[0]) {
                Expr::Str(text) if matches!(*text, "\"\"" | "\"0\"") && function == "nan" => {
                    Some(self.constant(quiet_nan(format), self.float_type(format)))
                }
                _ => Some(self.unmodelled(name, &self.float_type(format), range)),
            },
            Math::Inexact(format) => Some(self.unmodelled(name, &self.float_type(format), range)),
            _ if !values.iter().all(known) => None,
            Math::Number(function, format) => {
                let numbers: Vec<ExprId> =
                    values.into_iter().map(|value| self.in_format(value, format, range)).collect();
                let expr = self.number(function, format, &numbers, range);
                Some(Val::Int(self.bounded(expr, range), self.float_type(format)))
            }
            Math::ToInteger(function, format, bits) => {
                let value = values.into_iter().next()?;
                let expr = self.in_format(value, format, range);
                let expr = self.exprs.float_fn(function, format, expr);
                let ty = int(if bits == 0 { self.machine.long_bits() } else { bits }, true);
                let storage = ty.storage(self.machine).expect("an integer type");
                let expr = self.exprs.float_to_int(format, expr, storage);
                Some(Val::Int(self.bounded(expr, range), ty))
            }
            Math::Predicate(function) => self.predicate(function, values, range),
        }
    }

    /// Any value of a type that has a representation.
    pub(super) fn unmodelled(&mut self, name: &str, ty: &Type, range: Range) -> Val {
        let var = self.typed_temporary(ty);
        let what = format!("result of '{name}'").into();
        self.emit(Op::Havoc { var, origin: HavocOrigin::Unmodelled { what } }, range);
        self.read(var, ty)
    }

    fn number(&mut self, function: &str, format: FloatTy, args: &[ExprId], range: Range) -> ExprId {
        let x = args[0];
        let rounding = match function {
            "sqrt" => Some(FloatFn::Sqrt),
            "floor" => Some(FloatFn::Floor),
            "ceil" => Some(FloatFn::Ceil),
            "trunc" => Some(FloatFn::Trunc),
            "round" => Some(FloatFn::Round),
            "rint" | "nearbyint" | "roundeven" => Some(FloatFn::RoundEven),
            _ => None,
        };
        if let Some(rounding) = rounding {
            return self.exprs.float_fn(rounding, format, x);
        }
        match function {
            "fabs" => self.magnitude(x, format),
            "chgsign" => self.negated(x, format),
            "copysign" => {
                let sign = self.sign_bit(format);
                let sign = self.exprs.binary(BinOp::BitAnd, args[1], sign);
                let magnitude = self.magnitude(x, format);
                self.exprs.binary(BinOp::BitOr, magnitude, sign)
            }
            "fdim" => {
                // What is not a number makes the difference no number, too.
                let below = self.exprs.float_cmp(CmpOp::Le, format, x, args[1]);
                let zero = self.exprs.constant(format.bits(), 0);
                let difference = self.exprs.float(FloatOp::Sub, format, x, args[1]);
                self.exprs.ite(below, zero, difference)
            }
            "fmin" | "fmax" => self.extremum(function == "fmin", format, x, args[1], range),
            _ => unreachable!("all functions of the table are here"),
        }
    }

    /// F.10.9: an argument that is not a number does not count. Which of two zeros of different signs is chosen is open.
    fn extremum(&mut self, least: bool, format: FloatTy, x: ExprId, y: ExprId, range: Range) -> ExprId {
        let (small, large) = if least { (x, y) } else { (y, x) };
        let takes_x = self.exprs.float_cmp(CmpOp::Lt, format, small, large);
        let takes_y = self.exprs.float_cmp(CmpOp::Lt, format, large, small);
        let x_is_number = self.exprs.float_cmp(CmpOp::Eq, format, x, x);
        let other = self.exprs.ite(x_is_number, x, y);
        let else_y = self.exprs.ite(takes_y, y, other);
        let value = self.exprs.ite(takes_x, x, else_y);

        // Only zeros are equal and have different bits.
        let equal = self.exprs.float_cmp(CmpOp::Eq, format, x, y);
        let differ = self.exprs.cmp(CmpOp::Ne, x, y);
        let tie = self.exprs.and(equal, differ);
        if self.exprs.as_const(tie) == Some(0) {
            return value;
        }
        let (open, decided) = (self.fresh(), self.fresh());
        self.assume(tie, open, decided, range);
        self.cur = open;
        let name = if least { "fmin" } else { "fmax" };
        let value_of = self.unmodelled(&format!("{name} of zeros of different signs"), &Type::Bool, range);
        let chosen = self.condition(value_of, range);
        let choice = self.exprs.ite(chosen, x, y);
        self.join((self.cur, choice), (decided, value), &self.float_type(format), range)
    }

    /// The bits without the sign.
    fn magnitude(&mut self, expr: ExprId, format: FloatTy) -> ExprId {
        let ty = format.bits();
        let mask = self.exprs.constant(ty, ty.max() >> 1);
        self.exprs.binary(BinOp::BitAnd, expr, mask)
    }

    fn predicate(&mut self, function: &str, mut values: Vec<Val>, range: Range) -> Option<Val> {
        let comparison = match function {
            "isgreater" => Some(Binary::Gt),
            "isgreaterequal" => Some(Binary::Ge),
            "isless" => Some(Binary::Lt),
            "islessequal" => Some(Binary::Le),
            _ => None,
        };
        if values.len() == 2 {
            let right = values.pop()?;
            let left = values.pop()?;
            let format = self.common_format(&left, &right)?;
            if let Some(op) = comparison {
                return self.float_arithmetic(op, format, left, right, range);
            }
            let (left, right) = (self.in_format(left, format, range), self.in_format(right, format, range));
            let less = self.exprs.float_cmp(CmpOp::Lt, format, left, right);
            let greater = self.exprs.float_cmp(CmpOp::Lt, format, right, left);
            let either = self.exprs.or(less, greater);
            let expr = if function == "islessgreater" {
                either
            } else {
                let equal = self.exprs.float_cmp(CmpOp::Eq, format, left, right);
                let ordered = self.exprs.or(either, equal);
                self.exprs.not(ordered)
            };
            return Some(Val::Int(self.bounded(expr, range), Type::INT));
        }
        let Val::Int(expr, ty) = values.pop()? else { return None };
        let format = ty.format()?;
        let expr = if function == "fpclassify" {
            // Not a number, infinite, normal, subnormal, zero: the compiler's form gets the five results as arguments.
            let results: Vec<ExprId> = match values.is_empty() {
                true => [0, 1, 4, 3, 2].map(|class| self.exprs.constant(IntTy::INT, class)).to_vec(),
                false => values.into_iter().map(|value| self.promoted(value, range)).collect(),
            };
            let mut value = results[2];
            for (class, at) in [("issubnormal", 3), ("iszero", 4), ("isinf", 1), ("isnan", 0)] {
                let cond = self.class_of(class, expr, format);
                value = self.exprs.ite(cond, results[at], value);
            }
            value
        } else {
            self.class_of(function, expr, format)
        };
        Some(Val::Int(self.bounded(expr, range), Type::INT))
    }

    /// 1 if the number is of a class, else 0; infinity has its sign where the function says so.
    fn class_of(&mut self, function: &str, expr: ExprId, format: FloatTy) -> ExprId {
        let ty = format.bits();
        let magnitude = self.magnitude(expr, format);
        let infinite = self.exprs.constant(ty, infinity(format));
        let zero = self.exprs.constant(ty, 0);
        let normal = self.exprs.constant(ty, infinity(format) & -infinity(format));
        match function {
            "isnan" => {
                let equal = self.exprs.float_cmp(CmpOp::Eq, format, expr, expr);
                self.exprs.not(equal)
            }
            "isinf" => self.exprs.cmp(CmpOp::Eq, magnitude, infinite),
            "isinf_sign" => {
                let is = self.exprs.cmp(CmpOp::Eq, magnitude, infinite);
                let minus = self.exprs.constant(IntTy::INT, -1);
                let negative = self.exprs.cmp(CmpOp::Lt, infinite, expr);
                let one = self.exprs.truth_const(true);
                let signed = self.exprs.ite(negative, minus, one);
                let none = self.exprs.truth_const(false);
                self.exprs.ite(is, signed, none)
            }
            "isfinite" | "finite" => self.exprs.cmp(CmpOp::Lt, magnitude, infinite),
            "iszero" => self.exprs.cmp(CmpOp::Eq, magnitude, zero),
            "isnormal" => {
                let large = self.exprs.cmp(CmpOp::Le, normal, magnitude);
                let finite = self.exprs.cmp(CmpOp::Lt, magnitude, infinite);
                self.exprs.and(large, finite)
            }
            "issubnormal" => {
                let small = self.exprs.cmp(CmpOp::Lt, magnitude, normal);
                let some = self.exprs.cmp(CmpOp::Ne, magnitude, zero);
                self.exprs.and(small, some)
            }
            "signbit" => {
                let sign = self.sign_bit(format);
                self.exprs.cmp(CmpOp::Le, sign, expr)
            }
            _ => unreachable!("all predicates of the table are here"),
        }
    }
}

/// The bits of positive infinity.
pub(super) fn infinity(format: FloatTy) -> i128 {
    if format == FloatTy::F32 { 0x7f80_0000 } else { 0x7ff0_0000_0000_0000 }
}

/// The bits that everything quiet has that is not a number, and nothing else.
pub(super) fn quiet_nan(format: FloatTy) -> i128 {
    infinity(format) | 1 << if format == FloatTy::F32 { 22 } else { 51 }
}
