// SPDX-License-Identifier: Apache-2.0
//! Constants as C writes them, the same for both machine models.

use cfa::IntTy;

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

/// A string in double quotes, as JSON and YAML read it.
pub fn quoted(text: &str) -> String {
    let mut result = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\t' => result.push_str("\\t"),
            c if u32::from(c) < 0x20 => result.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => result.push(c),
        }
    }
    result.push('"');
    result
}

/// A point in time, given in seconds since 1970, in ISO 8601: `2026-11-20T10:00:00Z`.
pub fn iso_time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's conversion: years begin in March, eras have 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_time(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(iso_time(1_795_132_800), "2026-11-20T00:00:00Z");
    }

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
