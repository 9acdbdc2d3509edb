// SPDX-License-Identifier: Apache-2.0
//! Rows of integers: linear forms whose last entry is the constant, up to positive factors. Nothing wraps around: where a
//! number would not fit, there is no result.

/// A row.
pub(super) type Row = Vec<i128>;

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest common divisor of the entries; 0 if all are 0.
pub(super) fn divisor(row: &[i128]) -> i128 {
    let divisor = row.iter().fold(0, |divisor, entry| gcd(divisor, entry.unsigned_abs()));
    i128::try_from(divisor).unwrap_or(1)
}

/// Divides by the greatest common divisor.
pub(super) fn normalise(row: &mut [i128]) {
    let divisor = divisor(row);
    if divisor > 1 {
        row.iter_mut().for_each(|entry| *entry /= divisor);
    }
}

/// The sum of products.
pub(super) fn dot(a: &[i128], b: &[i128]) -> Option<i128> {
    a.iter().zip(b).try_fold(0i128, |sum, (a, b)| sum.checked_add(a.checked_mul(*b)?))
}

/// `a * x + b * y`, normalised.
pub(super) fn combine(a: i128, x: &[i128], b: i128, y: &[i128]) -> Option<Row> {
    let entry = |(x, y): (&i128, &i128)| a.checked_mul(*x)?.checked_add(b.checked_mul(*y)?);
    let mut row = x.iter().zip(y).map(entry).collect::<Option<Row>>()?;
    normalise(&mut row);
    Some(row)
}

/// The row of a form without its constant, for so many dimensions.
pub(super) fn of_terms(terms: &[(usize, i128)], dims: usize, constant: i128) -> Row {
    let mut row = vec![0; dims + 1];
    terms.iter().for_each(|&(dim, coefficient)| row[dim] = coefficient);
    row[dims] = constant;
    row
}
