// SPDX-License-Identifier: Apache-2.0
//! Floating-point operations on the bits of IEEE 754 numbers with 32 or 64 bits.
//!
//! A floating-point number is a bit-vector here, so memory, unions and bitwise operations need nothing else; negation
//! and absolute value are bit operations. Results that are no number have one canonical pattern, as IEEE 754 leaves their
//! sign and payload open. Arithmetic rounds to the nearest number, ties to even. The evaluation uses the machine's
//! numbers, which are those of IEEE 754.

use super::ids::TermId;
use super::leaves::LeafOp;
use super::node::{FpBin, FpCmp, FpUn, Rounding, Term};
use super::semantics::{from_signed, mask, to_signed};
use super::store::Terms;

/// The canonical pattern of "not a number".
pub(crate) fn canonical_nan(width: u32) -> u128 {
    if width == 32 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 }
}

fn single(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

fn double(bits: u128) -> f64 {
    f64::from_bits(bits as u64)
}

fn of_single(v: f32) -> u128 {
    if v.is_nan() { canonical_nan(32) } else { u128::from(v.to_bits()) }
}

fn of_double(v: f64) -> u128 {
    if v.is_nan() { canonical_nan(64) } else { u128::from(v.to_bits()) }
}

pub(crate) fn fp_bin(op: FpBin, width: u32, a: u128, b: u128) -> u128 {
    if width == 32 {
        let (a, b) = (single(a), single(b));
        of_single(match op {
            FpBin::Add => a + b,
            FpBin::Sub => a - b,
            FpBin::Mul => a * b,
            FpBin::Div => a / b,
        })
    } else {
        let (a, b) = (double(a), double(b));
        of_double(match op {
            FpBin::Add => a + b,
            FpBin::Sub => a - b,
            FpBin::Mul => a * b,
            FpBin::Div => a / b,
        })
    }
}

pub(crate) fn fp_cmp(op: FpCmp, width: u32, a: u128, b: u128) -> bool {
    let order = if width == 32 { single(a).partial_cmp(&single(b)) } else { double(a).partial_cmp(&double(b)) };
    match op {
        FpCmp::Eq => order.is_some_and(|o| o.is_eq()),
        FpCmp::Lt => order.is_some_and(|o| o.is_lt()),
        FpCmp::Le => order.is_some_and(|o| o.is_le()),
    }
}

fn rounded(rounding: Rounding, v: f64) -> f64 {
    match rounding {
        Rounding::NearestEven => v.round_ties_even(),
        Rounding::NearestAway => v.round(),
        Rounding::TowardZero => v.trunc(),
        Rounding::Up => v.ceil(),
        Rounding::Down => v.floor(),
    }
}

/// The bits of the least number that fits into an integer type, and of the first one above it that does not; both are powers
/// of two or 0, so they have both formats. A number fits if its integral part does.
pub(crate) fn int_limits(width: u32, signed: bool, bits: u32) -> (u128, u128) {
    let (least, limit) = if signed {
        let half = 2f64.powi(bits as i32 - 1);
        (-half, half)
    } else {
        (0.0, 2f64.powi(bits as i32))
    };
    if width == 32 { (of_single(least as f32), of_single(limit as f32)) } else { (of_double(least), of_double(limit)) }
}

/// The pattern that a conversion to an integer has where the number does not fit: that of the x86 instructions.
pub(crate) fn unfit(bits: u32) -> u128 {
    1 << (bits - 1)
}

pub(crate) fn fp_un(op: FpUn, width: u32, a: u128) -> u128 {
    match op {
        FpUn::Sqrt if width == 32 => of_single(single(a).sqrt()),
        FpUn::Sqrt => of_double(double(a).sqrt()),
        // Rounding a number with 32 bits gives one, so the larger format changes nothing.
        FpUn::Round(rounding) if width == 32 => of_single(rounded(rounding, f64::from(single(a))) as f32),
        FpUn::Round(rounding) => of_double(rounded(rounding, double(a))),
        FpUn::ToFloat { bits } => match (width, bits) {
            (32, 64) => of_double(f64::from(single(a))),
            (64, 32) => of_single(double(a) as f32),
            (32, _) => of_single(single(a)),
            _ => of_double(double(a)),
        },
        FpUn::FromInt { signed, bits } => {
            let v = if signed { to_signed(width, a) } else { a as i128 };
            if bits == 32 { of_single(v as f32) } else { of_double(v as f64) }
        }
        FpUn::ToInt { signed, bits } => {
            let number = |bits: u128| if width == 32 { f64::from(single(bits)) } else { double(bits) };
            let (least, limit) = int_limits(width, signed, bits);
            let v = number(a).trunc();
            if v >= number(least) && v < number(limit) { from_signed(bits, v as i128) } else { unfit(bits) }
        }
    }
}

impl FpUn {
    /// The width of the result for an operand of the given width.
    pub fn result_width(self, operand: u32) -> u32 {
        match self {
            FpUn::Sqrt | FpUn::Round(_) => operand,
            FpUn::FromInt { bits, .. } | FpUn::ToInt { bits, .. } | FpUn::ToFloat { bits } => bits,
        }
    }
}

impl Terms {
    /// A unary floating-point operation or a conversion.
    pub fn fp_un(&mut self, op: FpUn, a: TermId) -> TermId {
        let width = self.width(a);
        debug_assert!(matches!(op, FpUn::FromInt { .. }) || matches!(width, 32 | 64), "a number of 32 or 64 bits");
        debug_assert!(matches!(op, FpUn::ToInt { .. }) || matches!(op.result_width(width), 32 | 64));
        if let Some(k) = self.as_bv(a) {
            return self.bv(op.result_width(width), fp_un(op, width, k));
        }
        if let Some(t) = self.on_leaves(LeafOp::FpUn(op), a, false) {
            return t;
        }
        if !matches!(op, FpUn::FromInt { .. }) && self.is_never_number(a) {
            let result = fp_un(op, width, canonical_nan(width));
            return self.bv(op.result_width(width), result);
        }
        match (op, self.get(a)) {
            (FpUn::ToFloat { bits }, &Term::FpBin(..)) if bits == width => a,
            // The signed conversion of a number that is never negative is the unsigned one at its own width.
            (FpUn::FromInt { bits, .. }, &Term::Zext { arg, .. }) => {
                self.fp_un(FpUn::FromInt { signed: false, bits }, arg)
            }
            (FpUn::FromInt { signed: true, bits }, &Term::Sext { arg, .. }) => {
                self.fp_un(FpUn::FromInt { signed: true, bits }, arg)
            }
            // There and back without loss.
            (FpUn::ToInt { signed, bits }, &Term::FpUn(FpUn::FromInt { signed: from, .. }, x))
                if self.width(x) <= bits && (signed == from || !from && self.width(x) < bits) && {
                    let precision = if width == 32 { 24 } else { 53 };
                    self.width(x) <= precision
                } =>
            {
                if from {
                    self.sext(bits, x)
                } else {
                    self.zext(bits, x)
                }
            }
            _ => self.intern(Term::FpUn(op, a)),
        }
    }

    /// A binary floating-point operation on numbers of one format.
    pub fn fp_bin(&mut self, op: FpBin, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.sort(a), self.sort(b), "operands of one sort");
        let width = self.width(a);
        debug_assert!(matches!(width, 32 | 64), "numbers of 32 or 64 bits");
        // Results that are no number are canonical, so the order does not matter.
        let (a, b) = if matches!(op, FpBin::Add | FpBin::Mul) && b < a { (b, a) } else { (a, b) };
        if self.is_never_number(a) || self.is_never_number(b) {
            return self.bv(width, canonical_nan(width));
        }
        let pushed = match (self.as_bv(a), self.as_bv(b)) {
            (Some(x), Some(y)) => return self.bv(width, fp_bin(op, width, x, y)),
            (None, Some(_)) => self.on_leaves(LeafOp::FpLeft(op, b), a, false),
            (Some(_), None) => self.on_leaves(LeafOp::FpRight(op, a), b, false),
            (None, None) => None,
        };
        match pushed {
            Some(t) => t,
            None => self.intern(Term::FpBin(op, a, b)),
        }
    }

    /// A comparison of floating-point numbers of one format; none holds if an operand is not a number.
    pub fn fp_cmp(&mut self, op: FpCmp, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.sort(a), self.sort(b), "operands of one sort");
        let width = self.width(a);
        debug_assert!(matches!(width, 32 | 64), "numbers of 32 or 64 bits");
        let (a, b) = if op == FpCmp::Eq && b < a { (b, a) } else { (a, b) };
        let pushed = match (self.as_bv(a), self.as_bv(b)) {
            (Some(x), Some(y)) => return self.bool(fp_cmp(op, width, x, y)),
            _ if self.is_never_number(a) || self.is_never_number(b) => return TermId::FALSE,
            (None, Some(_)) => self.on_leaves(LeafOp::FpCmpLeft(op, b), a, true),
            (Some(_), None) => self.on_leaves(LeafOp::FpCmpRight(op, a), b, true),
            (None, None) => None,
        };
        if let Some(t) = pushed {
            return t;
        }
        match op {
            FpCmp::Lt if a == b => TermId::FALSE,
            // Whether it is a number.
            FpCmp::Le if a == b => self.fp_cmp(FpCmp::Eq, a, a),
            // Numbers that come from integers are numbers.
            FpCmp::Eq if a == b && matches!(self.get(a), Term::FpUn(FpUn::FromInt { .. }, _)) => TermId::TRUE,
            _ => self.intern(Term::FpCmp(op, a, b)),
        }
    }

    /// The number with the other sign; of what is no number, too.
    pub fn fp_neg(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        let sign = self.bv(width, 1 << (width - 1));
        self.bv_bin(super::node::BvBin::Xor, a, sign)
    }

    /// The number without its sign.
    pub fn fp_abs(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        let rest = self.bv(width, mask(width - 1));
        self.bv_bin(super::node::BvBin::And, a, rest)
    }

    /// Whether the operand is not a number.
    pub fn fp_is_nan(&mut self, a: TermId) -> TermId {
        let number = self.fp_cmp(FpCmp::Eq, a, a);
        self.not(number)
    }

    /// Whether the bits that are known say that it is not a number.
    fn is_never_number(&self, a: TermId) -> bool {
        let quiet = canonical_nan(self.width(a));
        match self.as_bv(a) {
            Some(bits) if self.width(a) == 32 => single(bits).is_nan(),
            Some(bits) => double(bits).is_nan(),
            None => self.ones(a) & quiet == quiet,
        }
    }
}
