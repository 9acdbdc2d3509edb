// SPDX-License-Identifier: Apache-2.0
//! Constants and names of types as C writes them, the same for both machine models.

use cfa::IntTy;

/// A C type with the width and signedness.
pub fn type_name(ty: IntTy) -> &'static str {
    match (ty.bits, ty.signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned int",
        (_, true) => "long long",
        (_, false) => "unsigned long long",
    }
}

/// A constant expression with the value; of the type itself if it is at least as wide as `int`, else of type `int`.
pub fn literal(value: i128, ty: IntTy) -> String {
    let suffix = match (ty.bits, ty.signed) {
        (64, true) => "LL",
        (64, false) => "ULL",
        (32, false) => "U",
        _ => "",
    };
    // The least value has no literal: 2147483648 does not fit into int.
    if ty.bits >= 32 && value == ty.min() && ty.signed {
        return format!("(-{}{suffix} - 1)", ty.max());
    }
    format!("{value}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_constants_keep_their_type() {
        let ty = |bits, signed| IntTy { bits, signed };
        assert_eq!(literal(-2_147_483_648, ty(32, true)), "(-2147483647 - 1)");
        assert_eq!(literal(i128::from(i64::MIN), ty(64, true)), "(-9223372036854775807LL - 1)");
        assert_eq!(literal(i128::from(u64::MAX), ty(64, false)), "18446744073709551615ULL");
        assert_eq!(literal(-128, ty(8, true)), "-128");
        assert_eq!(literal(7, ty(32, false)), "7U");
    }
}
