// SPDX-License-Identifier: Apache-2.0
//! Values and types of number and character constants, C11 6.4.4.

use crate::ir::IntTy;
use crate::types::{MachineModel, Type, int};

/// A number constant: an integer with its type, or a floating-point number. None if it is neither.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Number {
    Int(i128, IntTy),
    Float(Type),
}

pub(crate) fn number(text: &str, machine: MachineModel) -> Option<Number> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = if let Some(hex) = lower.strip_prefix("0x") {
        (hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (binary, 2)
    } else {
        (lower.as_str(), 10)
    };
    let is_float = digits.contains('.') || digits.contains(if radix == 16 { 'p' } else { 'e' });
    if is_float {
        return float(digits, machine);
    }
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    // A leading zero means octal.
    let radix = if radix == 10 && digits.len() > 1 && digits.starts_with('0') { 8 } else { radix };
    let value = i128::try_from(u128::from_str_radix(digits, radix).ok()?).ok()?;
    let (unsigned, longs) = match suffix {
        "" => (false, 0),
        "u" => (true, 0),
        "l" => (false, 1),
        "ul" | "lu" => (true, 1),
        "ll" => (false, 2),
        "ull" | "llu" => (true, 2),
        _ => return None,
    };
    let widths = match longs {
        0 => vec![32, machine.long_bits(), 64],
        1 => vec![machine.long_bits(), 64],
        _ => vec![64],
    };
    for bits in widths {
        let signed = IntTy { bits, signed: true };
        if !unsigned && value <= signed.max() {
            return Some(Number::Int(value, signed));
        }
        let other = IntTy { bits, signed: false };
        // Decimal constants without `u` never become unsigned.
        if (unsigned || radix != 10) && value <= other.max() {
            return Some(Number::Int(value, other));
        }
    }
    // gcc takes a decimal constant that is too large for `long long` as unsigned if it fits into 64 bits (with a
    // warning); on 64-bit machines it has __int128, which is not modelled.
    None
}

fn float(digits: &str, machine: MachineModel) -> Option<Number> {
    let body = digits.trim_end_matches(['f', 'l']);
    let suffix = &digits[body.len()..];
    let ty = match suffix {
        "f" => Type::Float(4, 4),
        _ if machine == MachineModel::Ilp32 => Type::Float(if suffix == "l" { 12 } else { 8 }, 4),
        "l" => Type::Float(16, 16),
        _ => Type::Float(8, 8),
    };
    Some(Number::Float(ty))
}

/// The value of a character constant, of type `int`, and for wide ones of the type of the prefix.
pub(crate) fn character(text: &str) -> Option<(i128, Type)> {
    let open = text.find('\'')?;
    let body = text.get(open + 1..text.len().checked_sub(1)?)?;
    let ty = match &text[..open] {
        "" => Type::INT,
        "L" => Type::INT,
        "u" => int(16, false),
        "U" => int(32, false),
        _ => return None,
    };
    let wide = open > 0;
    let mut units = Vec::new();
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            if wide {
                let c = body[at..].chars().next()?;
                units.push(i128::from(u32::from(c)));
                at += c.len_utf8();
            } else {
                units.push(i128::from(bytes[at]));
                at += 1;
            }
            continue;
        }
        let (value, length) = escape(&bytes[at + 1..])?;
        units.push(value);
        at += 1 + length;
    }
    let value = match (units.as_slice(), wide) {
        ([unit], true) => match ty {
            Type::Int(ty) => ty.wrap(*unit),
            _ => return None,
        },
        // A plain character constant has the value of a `char` converted to `int`.
        ([unit], false) => IntTy { bits: 8, signed: true }.wrap(*unit),
        // gcc puts the characters of a constant such as 'ab' next to each other.
        (units, false) if units.len() <= 4 && !units.is_empty() => {
            IntTy::INT.wrap(units.iter().fold(0, |value, unit| value * 256 + (unit & 255)))
        }
        _ => return None,
    };
    Some((value, ty))
}

/// Value and length of the escape sequence behind a backslash.
fn escape(text: &[u8]) -> Option<(i128, usize)> {
    let simple = |value: i128| Some((value, 1));
    match text.first()? {
        b'n' => simple(10),
        b't' => simple(9),
        b'r' => simple(13),
        b'a' => simple(7),
        b'b' => simple(8),
        b'f' => simple(12),
        b'v' => simple(11),
        b'e' | b'E' => simple(27),
        c @ (b'\\' | b'\'' | b'"' | b'?') => simple(i128::from(*c)),
        b'x' => {
            let digits = text[1..].iter().take_while(|c| c.is_ascii_hexdigit()).count();
            let value = i128::from_str_radix(std::str::from_utf8(&text[1..=digits]).ok()?, 16).ok()?;
            Some((value, digits + 1))
        }
        b'0'..=b'7' => {
            let digits = text.iter().take(3).take_while(|c| (b'0'..=b'7').contains(c)).count();
            let value = i128::from_str_radix(std::str::from_utf8(&text[..digits]).ok()?, 8).ok()?;
            Some((value, digits))
        }
        _ => None,
    }
}

/// Number of bytes of the object that a (possibly concatenated) string literal makes; none if it has wide characters.
pub(crate) fn string_size(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut count = 1u64;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while *bytes.get(at)? != b'"' {
                    if bytes[at] == b'\\' {
                        at += 1 + escape(&bytes[at + 1..])?.1;
                    } else {
                        at += 1;
                    }
                    count += 1;
                }
                at += 1;
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => return None,
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, machine: MachineModel) -> String {
        match number(text, machine) {
            Some(Number::Int(value, ty)) => format!("{value}:{}{}", if ty.signed { 'i' } else { 'u' }, ty.bits),
            Some(Number::Float(Type::Float(size, _))) => format!("float{size}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn integer_constants_have_the_types_of_the_standard() {
        let table = [
            ("0", "0:i32", "0:i32"),
            ("2147483647", "2147483647:i32", "2147483647:i32"),
            ("2147483648", "2147483648:i64", "2147483648:i64"),
            ("4294967295", "4294967295:i64", "4294967295:i64"),
            ("0x7fffffff", "2147483647:i32", "2147483647:i32"),
            ("0x80000000", "2147483648:u32", "2147483648:u32"),
            ("0xFFFFFFFF", "4294967295:u32", "4294967295:u32"),
            ("0x100000000", "4294967296:i64", "4294967296:i64"),
            ("0xffffffffffffffff", "18446744073709551615:u64", "18446744073709551615:u64"),
            ("017", "15:i32", "15:i32"),
            ("037777777777", "4294967295:u32", "4294967295:u32"),
            ("0b101", "5:i32", "5:i32"),
            ("1u", "1:u32", "1:u32"),
            ("4294967296u", "4294967296:u64", "4294967296:u64"),
            ("1l", "1:i32", "1:i64"),
            ("2147483648L", "2147483648:i64", "2147483648:i64"),
            ("0x80000000l", "2147483648:u32", "2147483648:i64"),
            ("1UL", "1:u32", "1:u64"),
            ("1lu", "1:u32", "1:u64"),
            ("4294967296ul", "4294967296:u64", "4294967296:u64"),
            ("1ll", "1:i64", "1:i64"),
            ("1uLL", "1:u64", "1:u64"),
            ("0x1e", "30:i32", "30:i32"),
            ("1e3", "float8", "float8"),
            ("1.5f", "float4", "float4"),
            ("0x1p3", "float8", "float8"),
            ("1.0L", "float12", "float16"),
            ("08", "None", "None"),
            ("9223372036854775808", "None", "None"),
        ];
        for (text, ilp32, lp64) in table {
            assert_eq!(shown(text, MachineModel::Ilp32), ilp32, "{text} on ILP32");
            assert_eq!(shown(text, MachineModel::Lp64), lp64, "{text} on LP64");
        }
    }

    #[test]
    fn character_constants_are_signed() {
        let table = [
            ("'a'", 97),
            ("'\\0'", 0),
            ("'\\n'", 10),
            ("'\\xff'", -1),
            ("'\\377'", -1),
            ("'\\''", 39),
            ("'ab'", 24930),
            ("L'a'", 97),
        ];
        for (text, value) in table {
            assert_eq!(character(text).map(|found| found.0), Some(value), "{text}");
        }
        assert_eq!(character("''"), None);
    }

    #[test]
    fn strings_have_sizes() {
        assert_eq!(string_size("\"abc\""), Some(4));
        assert_eq!(string_size("\"a\\n\" \"b\""), Some(4));
        assert_eq!(string_size("L\"a\""), None);
    }
}
