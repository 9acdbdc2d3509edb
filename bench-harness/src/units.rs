// SPDX-License-Identifier: Apache-2.0
//! Durations and memory sizes as they are written on the command line, and as they are printed.

use std::time::Duration;

/// `20s`, `500ms`, `2min`, `1.5h`; a number alone is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "" | "s" => number,
        "ms" => number / 1e3,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("unknown unit of time '{unit}'; use ms, s, min or h")),
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("must be more than zero and finite".into()),
    }
}

/// `4GB`, `512MB` (powers of 1000), `4GiB`, `512MiB` (powers of 1024); a number alone is bytes.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let factor: u64 = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1000_u64.pow(2),
        "GB" => 1000_u64.pow(3),
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(format!("unknown unit of memory '{unit}'; use B, kB, MB, GB, KiB, MiB or GiB")),
    };
    let bytes = number * factor as f64;
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err("must be at least one byte".into()) }
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.parse().map_err(|_| "expected a number and a unit, such as 20s or 4GB".to_string())?;
    Ok((number, unit.trim()))
}

/// Seconds with three significant digits where they matter: `0.05`, `1.23`, `45.6`, `1234`.
pub fn show_seconds(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.2}"),
        s if s < 100.0 => format!("{s:.1}"),
        s => format!("{s:.0}"),
    }
}

/// A number with so many significant digits, rounded, without exponent: `12300`, `45.7`, `0.0457`.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    // Rounding first: 9.996 has three digits as 10.0.
    let rounded: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value);
    let magnitude = rounded.abs().log10().floor() as i32;
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    format!("{rounded:.decimals$}")
}

/// Seconds as the theses print them: three significant digits and no zero before the point.
pub fn thesis_seconds(seconds: f64) -> String {
    // Below a millisecond the digits mean nothing.
    let text = if seconds < 0.001 { "0.001".into() } else { significant(seconds, 3) };
    text.strip_prefix('0').map_or(text.clone(), str::to_string)
}

/// A time to wait, for people: `12 s`, `3 min`, `2 h 5 min`.
pub fn show_rough(duration: Duration) -> String {
    match duration.as_secs() {
        s if s < 100 => format!("{s} s"),
        s if s < 5400 => format!("{} min", (s + 30) / 60),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// `4 GB`, `512 MB`: the largest unit that leaves a number of at least one.
pub fn show_bytes(bytes: u64) -> String {
    let (unit, factor) = match bytes {
        b if b >= 1_000_000_000 => ("GB", 1e9),
        b if b >= 1_000_000 => ("MB", 1e6),
        b if b >= 1000 => ("kB", 1e3),
        _ => ("B", 1.0),
    };
    let number = format!("{:.1}", bytes as f64 / factor);
    format!("{} {unit}", number.strip_suffix(".0").unwrap_or(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(parse_duration("20s"), Ok(Duration::from_secs(20)));
        assert_eq!(parse_duration("20"), Ok(Duration::from_secs(20)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5 min"), Ok(Duration::from_secs(90)));
        for bad in ["", "s", "0s", "20 parsecs", "-1s", "1e3s", "1.2.3s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(parse_bytes("1GiB"), Ok(1 << 30));
        assert_eq!(parse_bytes("0.5MB"), Ok(500_000));
        for bad in ["", "GB", "0", "0.1B", "4 gigs", "-4GB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn significant_digits() {
        let show = |value| significant(value, 3);
        assert_eq!(
            [0.0, 0.04567, 0.9996, 9.996, 45.67, 1234.5].map(show),
            ["0", "0.0457", "1.00", "10.0", "45.7", "1230"]
        );
        assert_eq!(significant(-0.5, 2), "-0.50");
        assert_eq!([0.17, 3.256, 1780.0, 0.0].map(thesis_seconds), [".170", "3.26", "1780", ".001"]);
    }

    #[test]
    fn shown() {
        assert_eq!([0.046, 1.234, 45.67, 1234.5].map(show_seconds), ["0.05", "1.23", "45.7", "1234"]);
        assert_eq!([12, 200, 7500].map(|s| show_rough(Duration::from_secs(s))), ["12 s", "3 min", "2 h 5 min"]);
        assert_eq!([17, 4_000_000_000, 1_500_000].map(show_bytes), ["17 B", "4 GB", "1.5 MB"]);
    }
}
