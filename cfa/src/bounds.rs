// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on bounds (Moore, *Interval Analysis*, 1966).

use crate::ir::{BinOp, IntTy};

/// The least and the greatest value of a binary operator before it is taken modulo 2^bits, if its operands are values of `ty` within
/// these bounds, both inclusive; none where no bounds are known. Operands whose result is undefined in C count as giving none.
pub fn binary_bounds(op: BinOp, ty: IntTy, left: (i128, i128), right: (i128, i128)) -> Option<(i128, i128)> {
    let ((a, b), (c, d)) = (left, right);
    let shift = c == d && (0..i128::from(ty.bits)).contains(&c);
    // The least value has no quotient by -1.
    let divisor = c == d && c != 0 && c != -1;
    Some(match op {
        BinOp::Add => (a + c, b + d),
        BinOp::Sub => (a - d, b - c),
        BinOp::Mul => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            corners.iter().fold((corners[0], corners[0]), |(low, high), &corner| (low.min(corner), high.max(corner)))
        }
        // The quotient by one number is monotone.
        BinOp::Div if divisor => ((a / c).min(b / c), (a / c).max(b / c)),
        BinOp::Rem if divisor => remainder(a, b, c.abs()),
        BinOp::Shr if shift => (a >> c, b >> c),
        BinOp::Shl if shift => (a << c, b << c),
        BinOp::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
        BinOp::BitAnd if a >= 0 => (0, b),
        BinOp::BitAnd if c >= 0 => (0, d),
        BinOp::BitOr | BinOp::BitXor if a >= 0 && c >= 0 => (0, (1i128 << (i128::BITS - b.max(d).leading_zeros())) - 1),
        _ => return None,
    })
}

/// The bounds of the remainder, with the sign of the dividend, of numbers from `low` to `high` by `divisor`, positive.
fn remainder(low: i128, high: i128, divisor: i128) -> (i128, i128) {
    if (low >= 0 || high <= 0) && low / divisor == high / divisor {
        return (low % divisor, high % divisor);
    }
    let least = if low < 0 { low.max(1 - divisor) } else { 0 };
    let most = if high > 0 { high.min(divisor - 1) } else { 0 };
    (least, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::binary_value;

    #[test]
    fn remainders_are_within_their_bounds() {
        for low in -12i128..12 {
            for high in low..12 {
                let (least, most) = remainder(low, high, 5);
                let values: Vec<i128> = (low..=high).map(|value| value % 5).collect();
                assert!(values.iter().all(|value| (least..=most).contains(value)), "{low}..{high}");
                assert!(high - low > 4 || low < 0 && high > 0 || values.contains(&least), "{low}..{high}");
            }
        }
    }

    /// All values of four bits within all bounds.
    #[test]
    fn results_are_within_their_bounds() {
        use BinOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub};
        for op in [Add, Sub, Mul, Div, Rem, Shl, Shr, BitAnd, BitOr, BitXor] {
            for signed in [true, false] {
                let ty = IntTy { bits: 4, signed };
                let intervals = || (ty.min()..=ty.max()).flat_map(|low| (low..=ty.max()).map(move |high| (low, high)));
                let mut known = 0;
                for (left, right) in intervals().flat_map(|left| intervals().map(move |right| (left, right))) {
                    let Some((least, most)) = binary_bounds(op, ty, left, right) else { continue };
                    known += 1;
                    for (a, b) in (left.0..=left.1).flat_map(|a| (right.0..=right.1).map(move |b| (a, b))) {
                        let Ok(value) = binary_value(op, ty, a, b) else { continue };
                        let fits = (least..=most).any(|within| ty.wrap(within) == value);
                        assert!(fits, "{a} {op:?} {b} = {value}, not in {least}..{most}");
                    }
                }
                assert!(known > 500, "{op:?}");
            }
        }
    }
}
