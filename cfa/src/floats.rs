// SPDX-License-Identifier: Apache-2.0
//! Floating-point arithmetic on bit patterns, by the arithmetic of the host, which is that of IEEE 754: Rust guarantees
//! it for all operations used here, except for the bits of results that are not numbers; those are made canonical. Also the
//! notation of numbers.

use crate::eval::Undefined;
use crate::ir::{CmpOp, FloatFn, FloatOp, FloatTy, IntTy};

fn single(bits: i128) -> f32 {
    f32::from_bits(bits as u32)
}

fn double(bits: i128) -> f64 {
    f64::from_bits(bits as u64)
}

fn from_single(value: f32) -> i128 {
    i128::from(if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() })
}

fn from_double(value: f64) -> i128 {
    i128::from(if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() })
}

/// The bits of the result of an operator.
pub fn binary(op: FloatOp, ty: FloatTy, left: i128, right: i128) -> i128 {
    match ty {
        FloatTy::F32 => {
            let (l, r) = (single(left), single(right));
            from_single(match op {
                FloatOp::Add => l + r,
                FloatOp::Sub => l - r,
                FloatOp::Mul => l * r,
                FloatOp::Div => l / r,
            })
        }
        FloatTy::F64 => {
            let (l, r) = (double(left), double(right));
            from_double(match op {
                FloatOp::Add => l + r,
                FloatOp::Sub => l - r,
                FloatOp::Mul => l * r,
                FloatOp::Div => l / r,
            })
        }
    }
}

/// The bits of the value of a function.
pub fn function(function: FloatFn, ty: FloatTy, arg: i128) -> i128 {
    match ty {
        FloatTy::F32 => {
            let x = single(arg);
            from_single(match function {
                FloatFn::Sqrt => x.sqrt(),
                FloatFn::Floor => x.floor(),
                FloatFn::Ceil => x.ceil(),
                FloatFn::Trunc => x.trunc(),
                FloatFn::Round => x.round(),
                FloatFn::RoundEven => x.round_ties_even(),
            })
        }
        FloatTy::F64 => {
            let x = double(arg);
            from_double(match function {
                FloatFn::Sqrt => x.sqrt(),
                FloatFn::Floor => x.floor(),
                FloatFn::Ceil => x.ceil(),
                FloatFn::Trunc => x.trunc(),
                FloatFn::Round => x.round(),
                FloatFn::RoundEven => x.round_ties_even(),
            })
        }
    }
}

/// Whether a comparison holds.
pub fn compare(op: CmpOp, ty: FloatTy, left: i128, right: i128) -> bool {
    // Every single is a double with the same order.
    let value = |bits| if ty == FloatTy::F32 { f64::from(single(bits)) } else { double(bits) };
    let (l, r) = (value(left), value(right));
    match op {
        CmpOp::Eq => l == r,
        CmpOp::Ne => l != r,
        CmpOp::Lt => l < r,
        CmpOp::Le => l <= r,
    }
}

/// The bits of the number nearest to an integer of at most 64 bits.
pub fn from_int(to: FloatTy, value: i128) -> i128 {
    match to {
        FloatTy::F32 => from_single(value as f32),
        FloatTy::F64 => from_double(value as f64),
    }
}

/// The integral part as a value of an integer type.
pub fn to_int(from: FloatTy, bits: i128, ty: IntTy) -> Result<i128, Undefined> {
    let value = if from == FloatTy::F32 { f64::from(single(bits)) } else { double(bits) }.trunc();
    // The cast saturates, and makes 0 of what is not a number; 64-bit ranges are far inside of 128 bits.
    let integer = value as i128;
    if value.is_nan() || integer < ty.min() || integer > ty.max() {
        return Err(Undefined::ConversionOutOfRange);
    }
    Ok(integer)
}

/// The bits of a number of format `from` in the other format.
pub fn convert(from: FloatTy, bits: i128) -> i128 {
    match from {
        FloatTy::F32 => from_double(f64::from(single(bits))),
        FloatTy::F64 => from_single(double(bits) as f32),
    }
}

/// A number as in C's decimal notation, with as many digits as tell it from all others; `inf`, `nan`.
pub fn decimal(ty: FloatTy, bits: i128) -> String {
    let text = match ty {
        FloatTy::F32 => format!("{:?}", single(bits)),
        FloatTy::F64 => format!("{:?}", double(bits)),
    };
    text.to_lowercase()
}

/// A number as in C's hexadecimal notation, which is exact: `0x1.8p+1`; `inf`, and `nan` with all bits.
pub fn hexadecimal(ty: FloatTy, bits: i128) -> String {
    // Every single is a double; the bits of what is not a number are shown as they are.
    let wide = if ty == FloatTy::F32 { f64::from(single(bits)) } else { double(bits) };
    let sign = if wide.is_sign_negative() { "-" } else { "" };
    if wide.is_nan() {
        return format!("nan({bits:#x})");
    }
    if wide.is_infinite() {
        return format!("{sign}inf");
    }
    let raw = wide.to_bits();
    let (field, fraction) = (raw >> 52 & 0x7ff, raw & ((1 << 52) - 1));
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    let exponent = match (field, fraction) {
        (0, 0) => return format!("{sign}0x0p+0"),
        (0, _) => -1022,
        (field, _) => i64::try_from(field).expect("eleven bits") - 1023,
    };
    format!("{sign}0x{}{point}{digits}p{exponent:+}", u32::from(field != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_exactly() {
        let table = [
            (FloatTy::F64, 1.5f64.to_bits(), "1.5", "0x1.8p+0"),
            (FloatTy::F64, (-0.0f64).to_bits(), "-0.0", "-0x0p+0"),
            (FloatTy::F64, 1e300f64.to_bits(), "1e300", "0x1.7e43c8800759cp+996"),
            (FloatTy::F64, 1, "5e-324", "0x0.0000000000001p-1022"),
            (FloatTy::F64, f64::NEG_INFINITY.to_bits(), "-inf", "-inf"),
            (FloatTy::F32, 0.1f32.to_bits().into(), "0.1", "0x1.99999ap-4"),
            (FloatTy::F32, 0x7fc0_0000, "nan", "nan(0x7fc00000)"),
        ];
        for (ty, bits, text, exact) in table {
            assert_eq!(decimal(ty, bits.into()), text);
            assert_eq!(hexadecimal(ty, bits.into()), exact);
        }
    }
}
