// SPDX-License-Identifier: Apache-2.0
//! The reference evaluation of floating-point operations: everything in the larger format, then rounded.

use crate::term::{FpBin, FpUn, Rounding, Value};

pub(super) fn number(width: u32, bits: u128) -> f64 {
    if width == 32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits as u64) }
}

fn number_bits(width: u32, v: f64) -> u128 {
    match (v.is_nan(), width) {
        (true, 32) => 0x7fc0_0000,
        (true, _) => 0x7ff8 << 48,
        // A number of the larger format is rounded.
        (false, 32) => u128::from((v as f32).to_bits()),
        (false, _) => u128::from(v.to_bits()),
    }
}

/// Sums, products, quotients and roots of numbers of the smaller format may be rounded twice: the larger one has more than
/// twice the digits (Figueroa, *When Is Double Rounding Innocuous?*, 1995).
pub(super) fn float_binary(op: FpBin, width: u32, x: u128, y: u128) -> u128 {
    let (x, y) = (number(width, x), number(width, y));
    number_bits(
        width,
        match op {
            FpBin::Add => x + y,
            FpBin::Sub => x - y,
            FpBin::Mul => x * y,
            FpBin::Div => x / y,
        },
    )
}

pub(super) fn float_unary(op: FpUn, width: u32, a: u128) -> Value {
    let bv = |width: u32, bits: u128| Value::Bv { width, bits };
    match op {
        FpUn::Sqrt => bv(width, number_bits(width, number(width, a).sqrt())),
        FpUn::Round(rounding) => {
            let v = number(width, a);
            let (below, above) = (v.floor(), v.ceil());
            let nearest = |tie: f64| {
                if v - below == above - v && below != above {
                    tie
                } else if v - below < above - v {
                    below
                } else {
                    above
                }
            };
            let whole = match rounding {
                Rounding::Down => below,
                Rounding::Up => above,
                Rounding::TowardZero => {
                    if v < 0.0 {
                        above
                    } else {
                        below
                    }
                }
                Rounding::NearestAway => nearest(if v < 0.0 { below } else { above }),
                Rounding::NearestEven => nearest(if below % 2.0 == 0.0 { below } else { above }),
            };
            bv(width, number_bits(width, if v.is_finite() { whole.copysign(v) } else { v }))
        }
        FpUn::ToFloat { bits } => bv(bits, number_bits(bits, number(width, a))),
        FpUn::FromInt { signed, bits } => {
            let v = if signed && a >> (width - 1) == 1 { a as i128 - (1 << width) } else { a as i128 };
            // Once rounded only.
            bv(bits, if bits == 32 { u128::from((v as f32).to_bits()) } else { u128::from((v as f64).to_bits()) })
        }
        FpUn::ToInt { signed, bits } => {
            let v = number(width, a);
            let whole = v.trunc() as i128;
            let (low, high) = if signed { (-(1 << (bits - 1)), 1 << (bits - 1)) } else { (0, 1i128 << bits) };
            let fits = v.is_finite() && v.abs() < 1e30 && low <= whole && whole < high;
            bv(bits, if fits { whole as u128 & ((1 << bits) - 1) } else { 1 << (bits - 1) })
        }
    }
}
