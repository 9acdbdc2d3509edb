// SPDX-License-Identifier: Apache-2.0
//! Sets of values: intervals of integers and of floating-point numbers, with the operations on them.
//!
//! Rounding to nearest is monotone, so the least and greatest result of an operation are the results at corners, rounded as
//! all others are: no widening outwards is needed. A single value is kept as its bits, and operations on single values are
//! those of `cfa`, so nothing is lost about them, not even the sign of zero.

use cfa::eval::{binary_value, cmp_value, unary_value};
use cfa::floats;
use cfa::ir::{BinOp, CmpOp, FloatFn, FloatOp, FloatTy, IntTy, UnOp};

/// An operation that may be undefined; nothing can be said about executions in which it happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MayBeUndefined;

/// A set of values of one type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Range {
    /// Integers from `low` to `high`; of a floating-point number its bits.
    Int { low: i128, high: i128 },
    /// Numbers of a format.
    Float(Floats),
}

/// Floating-point numbers from `low` to `high`, zeros of both signs if there is a zero; none if `low` is above `high`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Floats {
    pub(crate) ty: FloatTy,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether anything that is not a number is in the set, too.
    pub(crate) nan: bool,
}

/// The number with these bits; as a double, which all singles are.
pub(crate) fn number(ty: FloatTy, bits: i128) -> f64 {
    let wide = if ty == FloatTy::F32 { floats::convert(ty, bits) } else { bits };
    f64::from_bits(u64::try_from(wide).expect("the bits of a double"))
}

/// The bits of a number of the format, or of the nearest one.
pub(crate) fn bits(ty: FloatTy, value: f64) -> i128 {
    let wide = i128::from(value.to_bits());
    if ty == FloatTy::F32 { floats::convert(FloatTy::F64, wide) } else { wide }
}

/// The number of the format above one of its numbers, or below it; zeros of both signs are passed together.
pub(crate) fn neighbour(ty: FloatTy, value: f64, above: bool) -> f64 {
    match (ty, above) {
        (FloatTy::F64, true) => value.next_up(),
        (FloatTy::F64, false) => value.next_down(),
        (FloatTy::F32, true) => f64::from((value as f32).next_up()),
        (FloatTy::F32, false) => f64::from((value as f32).next_down()),
    }
}

fn infinity(ty: FloatTy) -> i128 {
    bits(ty, f64::INFINITY)
}

impl Floats {
    /// All values of a format.
    pub(crate) fn all(ty: FloatTy) -> Self {
        Floats { ty, low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true }
    }

    fn no_number(ty: FloatTy) -> Self {
        Floats { ty, low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true }
    }

    /// Whether there is no number in the set.
    pub(crate) fn is_empty(&self) -> bool {
        self.low > self.high
    }

    fn contains_zero(&self) -> bool {
        self.low <= 0.0 && 0.0 <= self.high
    }

    /// Whether there are only zeros, and nothing that is not a number.
    pub(crate) fn is_zero(&self) -> bool {
        self.low == 0.0 && self.high == 0.0 && !self.nan
    }

    fn is_unbounded(&self) -> bool {
        self.low == f64::NEG_INFINITY || self.high == f64::INFINITY
    }

    /// The numbers between results of the operation.
    fn between(ty: FloatTy, corners: &[f64], nan: bool) -> Self {
        if corners.iter().any(|corner| corner.is_nan()) {
            return Floats::all(ty);
        }
        let low = corners.iter().copied().fold(f64::INFINITY, f64::min);
        let high = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Floats { ty, low, high, nan }
    }

    /// The numbers of both sets.
    fn join(self, other: Self) -> Self {
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Floats { ty: self.ty, low, high, nan: self.nan || other.nan }
    }
}

impl Range {
    /// One value.
    pub(crate) fn of(value: i128) -> Self {
        Range::Int { low: value, high: value }
    }

    /// All values of a type.
    pub(crate) fn all(ty: IntTy) -> Self {
        Range::Int { low: ty.min(), high: ty.max() }
    }

    /// The only value, if there is only one.
    pub(crate) fn single(self) -> Option<i128> {
        match self {
            Range::Int { low, high } if low == high => Some(low),
            _ => None,
        }
    }

    /// Both sets.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Range::Int { low: a, high: b }, Range::Int { low: c, high: d }) => {
                Range::Int { low: a.min(c), high: b.max(d) }
            }
            (Range::Float(floats), other) | (other, Range::Float(floats)) => {
                Range::Float(floats.join(other.floats(floats.ty)))
            }
        }
    }

    /// Both sets of numbers of a format, if they have one. Numbers of different signs are far from each other as bits.
    pub(crate) fn union(self, other: Self, format: Option<FloatTy>) -> Self {
        match format {
            Some(ty) if self != other => Range::Float(self.floats(ty)).join(other),
            _ => self.join(other),
        }
    }

    /// The values as bits of a type.
    pub(crate) fn integers(self, ty: IntTy) -> (i128, i128) {
        match self {
            Range::Int { low, high } => (low, high),
            Range::Float(Floats { ty: format, low, high, nan: false }) if 0.0 < low && low <= high => {
                (bits(format, low), bits(format, high))
            }
            Range::Float(Floats { ty: format, low, high, nan: false }) if low <= high && high < 0.0 => {
                (bits(format, high), bits(format, low))
            }
            Range::Float(_) => (ty.min(), ty.max()),
        }
    }

    /// The values as numbers of a format.
    pub(crate) fn floats(self, ty: FloatTy) -> Floats {
        let (low, high) = match self {
            Range::Float(floats) if floats.ty == ty => return floats,
            Range::Float(_) => return Floats::all(ty),
            Range::Int { low, high } => (low, high),
        };
        let sign = 1i128 << (ty.bits().bits - 1);
        let between = |low, high| Floats { ty, low: number(ty, low), high: number(ty, high), nan: false };
        match (low, high) {
            _ if 0 <= low && high <= infinity(ty) => between(low, high),
            _ if sign <= low && high <= sign + infinity(ty) => between(high, low),
            _ if low > infinity(ty) && high < sign || low > sign + infinity(ty) => Floats::no_number(ty),
            _ => Floats::all(ty),
        }
    }

    /// Whether a value is not zero, if that is so or not for all of them.
    pub(crate) fn truth(self) -> Option<bool> {
        match self {
            Range::Int { low: 0, high: 0 } => Some(false),
            Range::Int { low, high } if low > 0 || high < 0 => Some(true),
            Range::Int { .. } => None,
            // The bits of a negative zero are not zero.
            Range::Float(Floats { low, high, .. }) => (low > 0.0 || high < 0.0).then_some(true),
        }
    }

    /// A truth value.
    pub(crate) fn of_truth(truth: Option<bool>) -> Self {
        match truth {
            Some(truth) => Range::of(i128::from(truth)),
            None => Range::Int { low: 0, high: 1 },
        }
    }
}

/// A range that is one of mathematical numbers, as values of a type with wrap-around.
fn wrapped(ty: IntTy, low: i128, high: i128) -> Range {
    let (first, last) = (ty.wrap(low), ty.wrap(high));
    if high - low < 1 << ty.bits && first <= last { Range::Int { low: first, high: last } } else { Range::all(ty) }
}

/// A conversion of an integer.
pub(crate) fn cast(ty: IntTy, (low, high): (i128, i128)) -> Range {
    wrapped(ty, low, high)
}

/// A unary operator.
pub(crate) fn unary(op: UnOp, ty: IntTy, (low, high): (i128, i128)) -> Range {
    if low == high {
        return Range::of(unary_value(op, ty, low));
    }
    match op {
        UnOp::Neg => wrapped(ty, -high, -low),
        UnOp::BitNot => wrapped(ty, !high, !low),
    }
}

/// A binary operator.
pub(crate) fn binary(op: BinOp, ty: IntTy, left: (i128, i128), right: (i128, i128)) -> Result<Range, MayBeUndefined> {
    let ((a, b), (c, d)) = (left, right);
    if a == b && c == d {
        return binary_value(op, ty, a, c).map(Range::of).map_err(|_| MayBeUndefined);
    }
    let bits = i128::from(ty.bits);
    Ok(match op {
        BinOp::Add => wrapped(ty, a + c, b + d),
        BinOp::Sub => wrapped(ty, a - d, b - c),
        BinOp::Mul => match [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.checked_mul(y)) {
            [Some(w), Some(x), Some(y), Some(z)] => {
                let (low, high) = (w.min(x).min(y.min(z)), w.max(x).max(y.max(z)));
                // The distance of two products may be too large.
                if high.checked_sub(low).is_some() { wrapped(ty, low, high) } else { Range::all(ty) }
            }
            _ => Range::all(ty),
        },
        BinOp::Div | BinOp::Rem if c <= 0 && 0 <= d => return Err(MayBeUndefined),
        BinOp::Div | BinOp::Rem if ty.signed && a == ty.min() && c <= -1 && -1 <= d => return Err(MayBeUndefined),
        BinOp::Div => {
            let corners = [a / c, a / d, b / c, b / d];
            let zero = if a <= 0 && 0 <= b { 0 } else { corners[0] };
            let (low, high) = corners.iter().fold((zero, zero), |(low, high), &x| (low.min(x), high.max(x)));
            Range::Int { low, high }
        }
        BinOp::Rem => {
            // The sign is that of the dividend.
            let most = c.abs().max(d.abs()) - 1;
            Range::Int { low: a.max(-most).min(0), high: b.min(most).max(0) }
        }
        BinOp::Shl | BinOp::Shr if c < 0 || d >= bits => return Err(MayBeUndefined),
        BinOp::Shl if c == d && a >= 0 => wrapped(ty, a << c, b << c),
        BinOp::Shl => Range::all(ty),
        BinOp::Shr => {
            let corners = [a >> c, a >> d, b >> c, b >> d];
            let [w, x, y, z] = corners;
            Range::Int { low: w.min(x).min(y.min(z)), high: w.max(x).max(y.max(z)) }
        }
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => bitwise(op, ty, left, right),
    })
}

/// Bits that are the same in all values of a range are known.
fn bitwise(op: BinOp, ty: IntTy, (a, b): (i128, i128), (c, d): (i128, i128)) -> Range {
    let mask = (1i128 << ty.bits) - 1;
    let known = |low: i128, high: i128| {
        let (low, high) = (low & mask, high & mask);
        let different = low ^ high;
        let unknown = (1i128 << (i128::BITS - different.leading_zeros())) - 1;
        (low & !unknown, unknown & mask)
    };
    // Ranges on both sides of zero have no bit in common; their first bits differ, so nothing is taken for known.
    let ((x, free_x), (y, free_y)) = (known(a, b), known(c, d));
    let (least, greatest) = match op {
        BinOp::BitAnd => (x & y, (x | free_x) & (y | free_y)),
        BinOp::BitOr => (x | y, x | free_x | y | free_y),
        _ => {
            let free = free_x | free_y;
            ((x ^ y) & !free, (x ^ y) | free)
        }
    };
    let (low, high) = (ty.wrap(least), ty.wrap(greatest));
    if low <= high { Range::Int { low, high } } else { Range::all(ty) }
}

/// A comparison of integers, if it is decided.
pub(crate) fn compare(op: CmpOp, (a, b): (i128, i128), (c, d): (i128, i128)) -> Option<bool> {
    if a == b && c == d {
        return Some(cmp_value(op, a, c));
    }
    match op {
        CmpOp::Eq => (b < c || d < a).then_some(false),
        CmpOp::Ne => (b < c || d < a).then_some(true),
        CmpOp::Lt if b < c => Some(true),
        CmpOp::Lt => (a >= d).then_some(false),
        CmpOp::Le if b <= c => Some(true),
        CmpOp::Le => (a > d).then_some(false),
    }
}

/// A floating-point operator; `same` if both operands are the same value.
pub(crate) fn float_binary(op: FloatOp, ty: FloatTy, left: Range, right: Range, same: bool) -> Range {
    if let (Some(left), Some(right)) = (left.single(), right.single()) {
        return Range::of(floats::binary(op, ty, left, right));
    }
    computed(combine(op, ty, left.floats(ty), right.floats(ty), same))
}

/// The result of an operation; one that is never a number is the canonical one.
fn computed(floats: Floats) -> Range {
    if floats.is_empty() { Range::of(bits(floats.ty, f64::NAN)) } else { Range::Float(floats) }
}

fn combine(op: FloatOp, ty: FloatTy, left: Floats, right: Floats, same: bool) -> Floats {
    if left.is_empty() || right.is_empty() {
        return Floats::no_number(ty);
    }
    let nan = left.nan || right.nan;
    let at = |x: f64, y: f64| number(ty, floats::binary(op, ty, bits(ty, x), bits(ty, y)));
    let corners = || [(left.low, right.low), (left.low, right.high), (left.high, right.low), (left.high, right.high)];
    match op {
        // Infinities have no difference, and no quotient, nor do zeros.
        FloatOp::Sub if same => Floats { ty, low: 0.0, high: 0.0, nan: nan || left.is_unbounded() },
        FloatOp::Div if left.is_zero() && right.is_zero() => Floats::no_number(ty),
        FloatOp::Div if same => {
            Floats { ty, low: 1.0, high: 1.0, nan: nan || left.is_unbounded() || left.contains_zero() }
        }
        // Infinities of different signs have no sum.
        FloatOp::Add | FloatOp::Sub if left.is_unbounded() && right.is_unbounded() => Floats::all(ty),
        FloatOp::Add => Floats::between(ty, &[at(left.low, right.low), at(left.high, right.high)], nan),
        FloatOp::Sub => Floats::between(ty, &[at(left.low, right.high), at(left.high, right.low)], nan),
        FloatOp::Mul if same => {
            let squares = [at(left.low, left.low), at(left.high, left.high)];
            let least = if left.contains_zero() { 0.0 } else { squares[0] };
            Floats::between(ty, &[squares[0], squares[1], least], nan)
        }
        FloatOp::Mul
            if left.is_unbounded() && right.contains_zero() || right.is_unbounded() && left.contains_zero() =>
        {
            Floats::all(ty)
        }
        FloatOp::Div if right.contains_zero() || left.is_unbounded() && right.is_unbounded() => Floats::all(ty),
        FloatOp::Mul | FloatOp::Div => Floats::between(ty, &corners().map(|(x, y)| at(x, y)), nan),
    }
}

/// A floating-point function; all of them are monotone.
pub(crate) fn float_function(function: FloatFn, ty: FloatTy, arg: Range) -> Range {
    if let Some(arg) = arg.single() {
        return Range::of(floats::function(function, ty, arg));
    }
    let mut arg = arg.floats(ty);
    if function == FloatFn::Sqrt && arg.low < 0.0 {
        arg = Floats { low: 0.0, nan: true, ..arg };
    }
    if arg.is_empty() {
        return computed(arg);
    }
    let at = |x: f64| number(ty, floats::function(function, ty, bits(ty, x)));
    Range::Float(Floats::between(ty, &[at(arg.low), at(arg.high)], arg.nan))
}

/// A floating-point comparison, if it is decided.
pub(crate) fn float_compare(op: CmpOp, ty: FloatTy, left: Range, right: Range) -> Option<bool> {
    if let (Some(left), Some(right)) = (left.single(), right.single()) {
        return Some(floats::compare(op, ty, left, right));
    }
    let (l, r) = (left.floats(ty), right.floats(ty));
    let empty = l.is_empty() || r.is_empty();
    let numbers = !l.nan && !r.nan && !empty;
    let (yes, no) = match op {
        CmpOp::Eq => (l.low == l.high && r.low == r.high && l.low == r.low, l.high < r.low || r.high < l.low),
        CmpOp::Lt => (l.high < r.low, l.low >= r.high),
        CmpOp::Le => (l.high <= r.low, l.low > r.high),
        CmpOp::Ne => return None,
    };
    if empty || no { Some(false) } else { (yes && numbers).then_some(true) }
}

/// The numbers nearest to integers.
pub(crate) fn from_integers(ty: FloatTy, (low, high): (i128, i128)) -> Range {
    let (low, high) = (floats::from_int(ty, low), floats::from_int(ty, high));
    if low == high {
        return Range::of(low);
    }
    Range::Float(Floats { ty, low: number(ty, low), high: number(ty, high), nan: false })
}

/// Integral parts as values of an integer type.
pub(crate) fn to_integers(from: FloatTy, arg: Range, ty: IntTy) -> Result<Range, MayBeUndefined> {
    let arg = arg.floats(from);
    if arg.nan || arg.is_empty() {
        return Err(MayBeUndefined);
    }
    let at = |x: f64| floats::to_int(from, bits(from, x), ty).map_err(|_| MayBeUndefined);
    Ok(Range::Int { low: at(arg.low)?, high: at(arg.high)? })
}

/// Numbers of a format in the other one.
pub(crate) fn convert(from: FloatTy, arg: Range) -> Range {
    if let Some(arg) = arg.single() {
        return Range::of(floats::convert(from, arg));
    }
    let (arg, ty) = (arg.floats(from), from.other());
    if arg.is_empty() {
        return computed(Floats::no_number(ty));
    }
    let at = |x: f64| number(ty, bits(ty, x));
    Range::Float(Floats { ty, low: at(arg.low), high: at(arg.high), nan: arg.nan })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::machine::Random;

    /// Random values, in random ranges.
    struct Values(Random);

    impl Values {
        fn below(&mut self, bound: u64) -> u64 {
            self.0.next() % bound
        }

        /// A range of a type with a value in it; both ends are often interesting.
        fn range(&mut self, ty: IntTy) -> ((i128, i128), i128) {
            let mut value = || match self.below(4) {
                0 => ty.wrap([0, 1, -1, ty.min(), ty.max(), ty.max() - 1][self.below(6) as usize]),
                1 => ty.wrap(i128::from(self.below(20)) - 10),
                _ => ty.wrap(i128::from(self.below(u64::MAX >> 8)) << self.below(16)),
            };
            let (a, b) = (value(), value());
            let (low, high) = (a.min(b), a.max(b));
            let inside = [low, high, low + (high - low) / 2, low + (high - low).min(3)][self.below(4) as usize];
            ((low, high), inside)
        }

        fn floats(&mut self, ty: FloatTy) -> (Range, i128) {
            let edge = [0.0, -0.0, 1.0, -1.0, 0.1, f64::INFINITY, f64::NEG_INFINITY, 1e-310, 1e308, -1e-40, 3e38];
            let mut value = || match self.below(2) {
                0 => bits(ty, edge[self.below(11) as usize]),
                _ => bits(ty, (self.below(2001) as f64 - 1000.0) / 64.0),
            };
            let (a, b) = (number(ty, value()), number(ty, value()));
            let (low, high) = (a.min(b), a.max(b));
            let nan = self.below(8) == 0;
            let inside = match self.below(4) {
                _ if nan && low > 1.0 => f64::NAN,
                0 => low,
                1 => high,
                _ if low.is_infinite() || high.is_infinite() => high,
                _ => number(ty, bits(ty, f64::midpoint(low, high))),
            };
            (Range::Float(Floats { ty, low, high, nan }), bits(ty, inside))
        }
    }

    fn contains(range: Range, ty: FloatTy, value: i128) -> bool {
        let (floats, value) = (range.floats(ty), number(ty, value));
        if value.is_nan() { floats.nan } else { floats.low <= value && value <= floats.high }
    }

    #[test]
    fn integer_operations_cover_all_values() {
        let mut random = Values(Random::new(1));
        let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Rem, BinOp::Shl, BinOp::Shr];
        let ops = [&ops[..], &[BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor]].concat();
        for round in 0..200_000u32 {
            let ty = IntTy { bits: [8, 16, 32, 64][random.below(4) as usize], signed: random.below(2) == 0 };
            let ((a, x), (b, y)) = (random.range(ty), random.range(ty));
            let op = ops[round as usize % ops.len()];
            if let Ok(range) = binary(op, ty, a, b) {
                let result = binary_value(op, ty, x, y).expect("a range says that it is defined");
                let (low, high) = range.integers(ty);
                assert!(low <= result && result <= high, "{op:?} {ty:?} {a:?} {b:?}: {x} {y}");
                assert!(ty.min() <= low && high <= ty.max());
            }
            let narrow = IntTy { bits: 16, signed: true };
            let (low, high) = cast(narrow, a).integers(narrow);
            assert!((low..=high).contains(&narrow.wrap(x)), "{a:?} {x}");
            for op in [UnOp::Neg, UnOp::BitNot] {
                let (low, high) = unary(op, ty, a).integers(ty);
                assert!((low..=high).contains(&unary_value(op, ty, x)), "{op:?} {ty:?} {a:?} {x}");
            }
            for op in [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le] {
                assert!(compare(op, a, b).is_none_or(|truth| truth == cmp_value(op, x, y)), "{op:?} {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn floating_point_operations_cover_all_values() {
        let mut random = Values(Random::new(1));
        let functions = [FloatFn::Sqrt, FloatFn::Floor, FloatFn::Ceil, FloatFn::Trunc, FloatFn::Round];
        for round in 0..100_000u32 {
            let ty = if round % 2 == 0 { FloatTy::F32 } else { FloatTy::F64 };
            let ((a, x), (b, y)) = (random.floats(ty), random.floats(ty));
            for op in [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div] {
                let range = float_binary(op, ty, a, b, false);
                assert!(contains(range, ty, floats::binary(op, ty, x, y)), "{op:?} {a:?} {b:?} {x:#x} {y:#x}");
                let range = float_binary(op, ty, a, a, true);
                assert!(contains(range, ty, floats::binary(op, ty, x, x)), "{op:?} {a:?} {x:#x}");
            }
            for function in functions {
                let range = float_function(function, ty, a);
                assert!(contains(range, ty, floats::function(function, ty, x)), "{function:?} {a:?} {x:#x}");
            }
            for op in [CmpOp::Eq, CmpOp::Lt, CmpOp::Le] {
                let truth = float_compare(op, ty, a, b);
                assert!(truth.is_none_or(|truth| truth == floats::compare(op, ty, x, y)), "{op:?} {a:?} {b:?}");
            }
            assert!(contains(convert(ty, a), ty.other(), floats::convert(ty, x)), "{a:?} {x:#x}");
            let (low, high) = a.integers(ty.bits());
            assert!((low..=high).contains(&x), "{a:?} {x:#x}");
            if let Ok(range) = to_integers(ty, a, IntTy::INT) {
                let result = floats::to_int(ty, x, IntTy::INT).expect("a range says that it is defined");
                let (low, high) = range.integers(IntTy::INT);
                assert!((low..=high).contains(&result), "{a:?} {x:#x}");
            }
        }
    }

    #[test]
    fn bits_that_are_read_as_numbers_cover_all_values() {
        let mut random = Values(Random::new(1));
        for ty in [FloatTy::F32, FloatTy::F64] {
            for _ in 0..20_000 {
                let ((low, high), x) = random.range(ty.bits());
                assert!(contains(Range::Int { low, high }, ty, x), "{ty:?} {low:#x} {high:#x} {x:#x}");
            }
        }
    }
}
