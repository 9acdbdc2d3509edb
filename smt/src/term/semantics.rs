// SPDX-License-Identifier: Apache-2.0
//! Operators on concrete bit-vectors, as SMT-LIB's theory FixedSizeBitVectors defines them, and on integers.

use super::node::{BvBin, BvCmp, BvUn};

/// The largest unsigned number of a width.
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The bits read in two's complement.
pub(crate) fn to_signed(width: u32, bits: u128) -> i128 {
    let unused = 128 - width;
    ((bits << unused) as i128) >> unused
}

/// The bits of a signed number, cut to the width.
pub(crate) fn from_signed(width: u32, v: i128) -> u128 {
    v as u128 & mask(width)
}

/// The bits of the smallest signed number.
pub(crate) fn signed_min(width: u32) -> u128 {
    1 << (width - 1)
}

/// The bits of the largest signed number.
pub(crate) fn signed_max(width: u32) -> u128 {
    mask(width) >> 1
}

pub(crate) fn bv_un(op: BvUn, width: u32, a: u128) -> u128 {
    let bits = match op {
        BvUn::Neg => a.wrapping_neg(),
        BvUn::Not => !a,
    };
    bits & mask(width)
}

pub(crate) fn bv_bin(op: BvBin, width: u32, a: u128, b: u128) -> u128 {
    let ones = mask(width);
    let (sa, sb) = (to_signed(width, a), to_signed(width, b));
    let bits = match op {
        BvBin::Add => a.wrapping_add(b),
        BvBin::Sub => a.wrapping_sub(b),
        BvBin::Mul => a.wrapping_mul(b),
        BvBin::Udiv => a.checked_div(b).unwrap_or(ones),
        BvBin::Urem => a.checked_rem(b).unwrap_or(a),
        // SMT-LIB defines the signed operators by the unsigned ones on absolute values.
        BvBin::Sdiv if b == 0 => {
            if sa < 0 {
                1
            } else {
                ones
            }
        }
        BvBin::Sdiv => sa.wrapping_div(sb) as u128,
        BvBin::Srem if b == 0 => a,
        BvBin::Srem => sa.wrapping_rem(sb) as u128,
        BvBin::Shl if b >= u128::from(width) => 0,
        BvBin::Shl => a << b,
        BvBin::Lshr if b >= u128::from(width) => 0,
        BvBin::Lshr => a >> b,
        BvBin::Ashr => (sa >> b.min(u128::from(width - 1))) as u128,
        BvBin::And => a & b,
        BvBin::Or => a | b,
        BvBin::Xor => a ^ b,
    };
    bits & ones
}

pub(crate) fn bv_cmp(op: BvCmp, width: u32, a: u128, b: u128) -> bool {
    let (sa, sb) = (to_signed(width, a), to_signed(width, b));
    match op {
        BvCmp::Ult => a < b,
        BvCmp::Ule => a <= b,
        BvCmp::Slt => sa < sb,
        BvCmp::Sle => sa <= sb,
    }
}

pub(crate) fn extract(hi: u32, lo: u32, a: u128) -> u128 {
    (a >> lo) & mask(hi - lo + 1)
}

pub(crate) fn sext(from: u32, to: u32, a: u128) -> u128 {
    from_signed(to, to_signed(from, a))
}

/// SMT-LIB `div`. None for a zero divisor or where 128 bits do not hold the result.
pub(crate) fn int_div(a: i128, k: i128) -> Option<i128> {
    a.checked_div_euclid(k)
}

/// SMT-LIB `mod`. None for a zero divisor.
pub(crate) fn int_mod(a: i128, k: i128) -> Option<i128> {
    if k == -1 { Some(0) } else { a.checked_rem_euclid(k) }
}

/// The inverse of an odd number modulo 2^width (Newton's iteration doubles the number of right bits).
pub(crate) fn inverse_odd(width: u32, a: u128) -> u128 {
    let mut x = a;
    for _ in 0..7 {
        x = x.wrapping_mul(2u128.wrapping_sub(a.wrapping_mul(x)));
    }
    x & mask(width)
}

/// The greatest common divisor of the absolute values; 0 for two zeros.
pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
