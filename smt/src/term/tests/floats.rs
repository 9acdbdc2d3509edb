// SPDX-License-Identifier: Apache-2.0
//! The reference evaluation of floating-point operations: everything in the larger format, then rounded.

use proptest::prelude::*;

use crate::term::{BvBin, BvCmp, FpBin, FpCmp, FpUn, Rounding, Sort, TermId, Terms, Value};

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

#[test]
fn known_bits_tell_what_is_no_number() {
    let mut terms = Terms::new();
    let symbol = terms.symbol("x", Sort::Bv(64));
    let x = terms.var(symbol, 0);
    let quiet = terms.bv(64, 0x7ff8_0000_0000_0000);
    let nan = terms.bv_bin(BvBin::Or, x, quiet);
    let one = terms.bv(64, u128::from(1f64.to_bits()));
    assert_eq!(terms.fp_bin(FpBin::Mul, nan, one), quiet);
    assert_eq!(terms.fp_un(FpUn::Sqrt, nan), quiet);
    assert_eq!(terms.fp_cmp(FpCmp::Le, nan, one), TermId::FALSE);
    // The same for what is put together of its parts, as programs do with the words of a number.
    let thirty_two = terms.bv(64, 32);
    let shifted = terms.bv_bin(BvBin::Lshr, nan, thirty_two);
    let (high, low) = (terms.extract(31, 0, shifted), terms.extract(31, 0, nan));
    let rest = terms.bv(32, 0x7fff_ffff);
    let magnitude = terms.bv_bin(BvBin::And, high, rest);
    let whole = terms.concat(magnitude, low);
    assert_eq!(terms.fp_is_nan(whole), TermId::TRUE);
    let largest = terms.bv(32, 0x7fef_ffff);
    assert_eq!(terms.bv_cmp(BvCmp::Sle, magnitude, largest), TermId::FALSE);
    // With the sign, only negative ones are at most that large.
    let (zero, minus_one) = (terms.bv(32, 0), terms.bv(32, 0xffff_ffff));
    let negative = terms.bv_cmp(BvCmp::Sle, high, minus_one);
    assert_eq!(terms.bv_cmp(BvCmp::Sle, high, largest), negative);
    assert_eq!(terms.bv_cmp(BvCmp::Sle, high, zero), negative);
    let exponent = terms.bv(32, 0x7ff0_0000);
    let field = terms.bv_bin(BvBin::And, high, exponent);
    assert_eq!(terms.bv_cmp(BvCmp::Ule, exponent, field), TermId::TRUE);
    assert_eq!(terms.eq(high, zero), TermId::FALSE);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Masks, shifts and parts of a value of eight bits, compared with constants, against the machine's operations.
    #[test]
    fn known_bits_are_right(steps in prop::collection::vec((0u8..7, any::<u8>()), 1..6), k in any::<u8>()) {
        let mut terms = Terms::new();
        let symbol = terms.symbol("x", Sort::Bv(8));
        let mut term = terms.var(symbol, 0);
        let mut value: Vec<u8> = (0..=255).collect();
        for (op, c) in steps {
            let (op, f): (BvBin, fn(u8, u8) -> u8) = match op {
                0 | 1 => (BvBin::Or, |x, c| x | c),
                2 | 3 => (BvBin::And, |x, c| x & c),
                4 => (BvBin::Xor, |x, c| x ^ c),
                5 => (BvBin::Lshr, |x, c| x >> (c & 7)),
                _ => (BvBin::Mul, |x, c| x << (c & 7)),
            };
            let constant = match op {
                BvBin::Lshr => c & 7,
                BvBin::Mul => 1 << (c & 7),
                _ => c,
            };
            let constant = terms.bv(8, constant.into());
            term = terms.bv_bin(op, term, constant);
            value.iter_mut().for_each(|x| *x = f(*x, c));
        }
        let (part, wide) = (terms.extract(5, 2, term), terms.zext(12, term));
        let (k8, k4, k12) = (terms.bv(8, k.into()), terms.bv(4, u128::from(k & 15)), terms.bv(12, u128::from(k) << 2));
        let checks = [
            (terms.bv_cmp(BvCmp::Ule, term, k8), (|v, k| v <= k) as fn(u8, u8) -> bool),
            (terms.bv_cmp(BvCmp::Ule, k8, term), |v, k| k <= v),
            (terms.bv_cmp(BvCmp::Sle, term, k8), |v, k| (v as i8) <= k as i8),
            (terms.bv_cmp(BvCmp::Sle, k8, term), |v, k| (k as i8) <= v as i8),
            (terms.eq(term, k8), |v, k| v == k),
            (terms.eq(part, k4), |v, k| v >> 2 & 15 == k & 15),
            (terms.bv_cmp(BvCmp::Ule, wide, k12), |v, k| u32::from(v) <= u32::from(k) << 2),
        ];
        for (at, (check, f)) in checks.into_iter().enumerate() {
            for (x, v) in (0u128..).zip(&value) {
                let found = terms.eval(check, &mut |_, _| Value::Bv { width: 8, bits: x });
                prop_assert_eq!(found, Value::Bool(f(*v, k)), "check {} for {}", at, x);
            }
        }
    }
}
