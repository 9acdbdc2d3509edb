// SPDX-License-Identifier: Apache-2.0
//! Values and types of number and character constants, C11 6.4.4.

use crate::ir::{FloatTy, IntTy};
use crate::types::{MachineModel, Type, int};

/// A number constant: an integer with its type, or a floating-point number with its bits, which a `long double` does not
/// have. None if it is neither.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Number {
    Int(i128, IntTy),
    Float(Option<i128>, Type),
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
        return float(digits, radix == 16, machine);
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

fn float(digits: &str, hex: bool, machine: MachineModel) -> Option<Number> {
    let body = digits.trim_end_matches(['f', 'l']);
    let ty = match &digits[body.len()..] {
        "f" => Type::of_format(FloatTy::F32, machine),
        "" => Type::of_format(FloatTy::F64, machine),
        "l" if machine == MachineModel::Ilp32 => Type::Float(12, 4),
        "l" => Type::Float(16, 16),
        _ => return None,
    };
    let format = ty.format();
    let rounded = format.unwrap_or(FloatTy::F64);
    let bits = match (hex, rounded) {
        (true, format) => hex_float(body, format)?,
        (false, FloatTy::F32) => i128::from(decimal(body)?.parse::<f32>().ok()?.to_bits()),
        (false, FloatTy::F64) => i128::from(decimal(body)?.parse::<f64>().ok()?.to_bits()),
    };
    Some(Number::Float(format.map(|_| bits), ty))
}

/// The text if it has digits only where C has them; Rust reads more, such as `inf`.
fn decimal(text: &str) -> Option<&str> {
    let plain = text.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'+' | b'-'));
    (plain && text.starts_with(|c: char| c.is_ascii_digit() || c == '.')).then_some(text)
}

/// The bits of the number nearest to a hexadecimal constant without prefix and suffix, ties to even.
fn hex_float(text: &str, format: FloatTy) -> Option<i128> {
    let (digits, exponent) = text.split_once('p')?;
    let mut exponent = exponent.parse::<i64>().ok()?.clamp(-100_000, 100_000);
    let (mut mantissa, mut lost, mut fraction, mut any) = (0u128, false, false, false);
    for c in digits.chars() {
        if c == '.' && !fraction {
            fraction = true;
            continue;
        }
        let digit = c.to_digit(16)?;
        any = true;
        if mantissa >> 120 == 0 {
            mantissa = mantissa << 4 | u128::from(digit);
            exponent -= 4 * i64::from(fraction);
        } else {
            lost |= digit != 0;
            exponent += 4 * i64::from(!fraction);
        }
    }
    if !any {
        return None;
    }
    // Precision, and the exponent of the last bit of the least number.
    let (precision, least, infinity) = match format {
        FloatTy::F32 => (24, -149, 0x7f80_0000),
        FloatTy::F64 => (53, -1074, 0x7ff0_0000_0000_0000),
    };
    if mantissa == 0 {
        return Some(0);
    }
    mantissa = mantissa << 1 | u128::from(lost);
    exponent -= 1;
    let last = (exponent + i64::from(128 - mantissa.leading_zeros()) - precision).max(least);
    let rounded = match u32::try_from(last - exponent) {
        Err(_) => mantissa << (exponent - last),
        Ok(shift) if shift > 127 => 0,
        Ok(0) => mantissa,
        Ok(shift) => {
            let (kept, rest, half) = (mantissa >> shift, mantissa & ((1 << shift) - 1), 1u128 << (shift - 1));
            kept + u128::from(rest > half || (rest == half && kept & 1 == 1))
        }
    };
    // The leading bit of the mantissa adds one to the field of the exponent, and so does a carry.
    let field = i128::from(last - least) << (precision - 1);
    Some((field + i128::try_from(rounded).ok()?).min(infinity))
}

/// The value of a character constant, of type `int`, and for wide ones of the type of the prefix.
pub(crate) fn character(text: &str) -> Option<(i128, Type)> {
    let text = spliced(text);
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
    let bits = match &ty {
        Type::Int(ty) if wide => ty.bits,
        _ => 8,
    };
    let units = characters(body, bits)?;
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

/// The characters of a (possibly concatenated) string literal without the final zero, as numbers of a type. None if it has
/// parts of different kinds, or an escape sequence that is not known.
pub(crate) fn string(text: &str) -> Option<(Vec<i128>, IntTy)> {
    let text = spliced(text);
    let mut parts = Vec::new();
    let mut kind = "";
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1.trim_start();
            continue;
        }
        let (prefix, body) = rest.split_once('"')?;
        let length = end_of_string(body)?;
        match prefix.trim_end() {
            "" => {}
            prefix @ ("u8" | "L" | "u" | "U") if kind.is_empty() || kind == prefix => kind = prefix,
            _ => return None,
        }
        parts.push(&body[..length]);
        rest = body[length + 1..].trim_start();
    }
    let ty = match kind {
        "" | "u8" => IntTy { bits: 8, signed: true },
        "L" => IntTy::INT,
        "u" => IntTy { bits: 16, signed: false },
        _ => IntTy { bits: 32, signed: false },
    };
    let mut units = Vec::new();
    for part in parts {
        units.extend(characters(part, ty.bits)?);
    }
    Some((units.into_iter().map(|unit| ty.wrap(unit)).collect(), ty))
}

/// The text without line splices, C11 5.1.1.2.
fn spliced(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains("\\\n") || text.contains("\\\r\n") {
        return text.replace("\\\r\n", "").replace("\\\n", "").into();
    }
    text.into()
}

/// The number of bytes in front of the quote that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// The characters between quotes as numbers with so many bits: those of 8 bits are in UTF-8, those of 16 in UTF-16.
fn characters(text: &str, bits: u32) -> Option<Vec<i128>> {
    let mut units = Vec::new();
    let add = |units: &mut Vec<i128>, c: char| match bits {
        8 => units.extend(c.encode_utf8(&mut [0; 4]).bytes().map(i128::from)),
        16 => units.extend(c.encode_utf16(&mut [0; 2]).iter().copied().map(i128::from)),
        _ => units.push(i128::from(u32::from(c))),
    };
    let mut at = 0;
    while at < text.len() {
        let c = text[at..].chars().next()?;
        if c != '\\' {
            add(&mut units, c);
            at += c.len_utf8();
            continue;
        }
        let rest = text.as_bytes().get(at + 1..)?;
        let (value, length) = match rest.first()? {
            first @ (b'u' | b'U') => {
                let digits = if *first == b'u' { 4 } else { 8 };
                let digits = text.get(at + 2..at + 2 + digits)?;
                add(&mut units, char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                at += 2 + digits.len();
                continue;
            }
            _ => escape(rest)?,
        };
        // Larger numbers are not valid.
        if value >= 1 << bits {
            return None;
        }
        units.push(value);
        at += 1 + length;
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, machine: MachineModel) -> String {
        match number(text, machine) {
            Some(Number::Int(value, ty)) => format!("{value}:{}{}", if ty.signed { 'i' } else { 'u' }, ty.bits),
            Some(Number::Float(_, Type::Float(size, _))) => format!("float{size}"),
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
    fn floating_point_constants_are_rounded_once() {
        let bits = |text: &str| match number(text, MachineModel::Lp64) {
            Some(Number::Float(bits, _)) => bits.expect("not a long double"),
            other => panic!("{text}: {other:?}"),
        };
        let table = [
            ("1.5", i128::from(1.5f64.to_bits())),
            (".5", i128::from(0.5f64.to_bits())),
            ("1.", i128::from(1f64.to_bits())),
            ("1.e2", i128::from(100f64.to_bits())),
            ("0.1f", i128::from(0.1f32.to_bits())),
            ("1E-45f", 1),
            ("1e400", i128::from(f64::INFINITY.to_bits())),
            ("4.9e-324", 1),
            ("16777217.0f", i128::from(16_777_216f32.to_bits())),
            // Above the middle of two floats by less than a double can tell: rounding twice would give the lower one.
            ("1.00000005960464478f", i128::from(1.000_000_1f32.to_bits())),
            ("0x1p3", i128::from(8f64.to_bits())),
            ("0x1.8p-1", i128::from(0.75f64.to_bits())),
            ("0X.8P+1F", i128::from(1f32.to_bits())),
            ("0x1.fffffep127f", i128::from(f32::MAX.to_bits())),
            ("0x1.ffffffp127f", i128::from(f32::INFINITY.to_bits())),
            ("0x1p-149f", 1),
            ("0x1p-150f", 0),
            ("0x1.000001p-150f", 1),
            ("0x1p-1074", 1),
            ("0x1.0000010000000000000000000000000000000001p0f", i128::from(1.000_000_1f32.to_bits())),
            ("0x1.0000010000000000000000000000000000000000p0f", i128::from(1f32.to_bits())),
            ("0x0.0p0", 0),
        ];
        for (text, value) in table {
            assert_eq!(bits(text), value, "{text}");
        }
        for text in ["1.0ff", "1e", "0x1.8", "1.0df", "1.2.3"] {
            assert_eq!(number(text, MachineModel::Lp64), None, "{text}");
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
    fn universal_character_names() {
        let value = |text: &str| character(text).map(|found| found.0);
        assert_eq!(value("u'\\u00e4'"), Some(228));
        assert_eq!(value("U'\\U0001F600'"), Some(0x1f600));
        assert_eq!(value("L'\\xffffffff'"), Some(-1));
        assert_eq!(value("u'\\U0001F600'"), None);
        // Two bytes of UTF-8.
        assert_eq!(value("'\\u00e4'"), Some(0xc3a4));
        assert_eq!(value("'\\400'"), None);
    }

    #[test]
    fn strings_have_characters() {
        let shown = |text: &str| string(text).map(|(units, ty)| (units, ty.bits));
        assert_eq!(shown("\"abc\""), Some((vec![97, 98, 99], 8)));
        assert_eq!(shown("\"a\\n\" /* \" */ \"b\""), Some((vec![97, 10, 98], 8)));
        assert_eq!(shown("\"\\x1\" \"2\\\\\""), Some((vec![1, 50, 92], 8)));
        assert_eq!(shown("\"a\\\nb\\x\\\n41\""), Some((vec![97, 98, 65], 8)));
        assert_eq!(shown("u8\"\\u00e4\""), Some((vec![-61, -92], 8)));
        assert_eq!(shown("L\"caf\\xe9\" \"!\""), Some((vec![99, 97, 102, 0xe9, 33], 32)));
        assert_eq!(shown("u\"\\U0001F600\" u\"\u{20ac}\""), Some((vec![0xd83d, 0xde00, 0x20ac], 16)));
        assert_eq!(shown("U\"\\U0001F600\""), Some((vec![0x1f600], 32)));
        assert_eq!(shown("u\"a\" L\"b\""), None);
        assert_eq!(shown("\"\\q\""), None);
    }
}
