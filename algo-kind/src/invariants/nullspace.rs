// SPDX-License-Identifier: Apache-2.0
//! Linear equations that hold for a set of integer vectors.
//!
//! Elimination without fractions; rows that become too large are left out, which may give too many equations, never too few.
//! Whoever uses an equation proves it anyway.

use super::value::gcd;

/// Coefficients beyond this do not occur in useful equations.
pub(super) const MAX_COEFFICIENT: i128 = 1 << 20;

/// A basis of the integer vectors that are orthogonal to all rows, as far as their coefficients are small.
pub fn null_space(rows: Vec<Vec<i128>>, columns: usize) -> Vec<Vec<i128>> {
    // Each reduced row has a pivot column, in which all other reduced rows are zero.
    let mut reduced: Vec<(usize, Vec<i128>)> = Vec::new();
    for mut row in rows {
        for (pivot, other) in &reduced {
            if row[*pivot] != 0 {
                match eliminated(&row, other, *pivot) {
                    Some(next) => row = next,
                    None => return Vec::new(),
                }
            }
        }
        let Some(pivot) = row.iter().rposition(|&value| value != 0) else { continue };
        for (_, other) in &mut reduced {
            if other[pivot] != 0 {
                match eliminated(other, &row, pivot) {
                    Some(next) => *other = next,
                    None => return Vec::new(),
                }
            }
        }
        reduced.push((pivot, row));
    }
    let is_pivot = |column: usize| reduced.iter().any(|(pivot, _)| *pivot == column);
    let mut basis = Vec::new();
    for free in (0..columns).filter(|&column| !is_pivot(column)) {
        // The free variable times the least common multiple of the pivots that it meets.
        let mut factor = 1i128;
        for (pivot, row) in reduced.iter().filter(|(_, row)| row[free] != 0) {
            let needed = row[*pivot].abs() / gcd(row[*pivot], row[free]);
            factor = match factor.checked_mul(needed / gcd(factor, needed)) {
                Some(factor) if factor <= MAX_COEFFICIENT => factor,
                _ => 0,
            };
            if factor == 0 {
                break;
            }
        }
        if factor == 0 {
            continue;
        }
        let mut vector = vec![0; columns];
        vector[free] = factor;
        for (pivot, row) in &reduced {
            vector[*pivot] = -(row[free] * factor / row[*pivot]);
        }
        if vector.iter().all(|value| value.abs() <= MAX_COEFFICIENT) {
            basis.push(vector);
        }
    }
    basis
}

/// The positions of vectors that are no linear combination of those before them.
pub fn independent(vectors: &[Vec<i128>]) -> Vec<usize> {
    let mut reduced: Vec<(usize, Vec<i128>)> = Vec::new();
    let mut found = Vec::new();
    'vectors: for (at, vector) in vectors.iter().enumerate() {
        let mut rest = vector.clone();
        for (pivot, other) in &reduced {
            if rest[*pivot] != 0 {
                match eliminated(&rest, other, *pivot) {
                    Some(next) => rest = next,
                    // Too large numbers; independent as far as can be told.
                    None => {
                        found.push(at);
                        continue 'vectors;
                    }
                }
            }
        }
        if let Some(pivot) = rest.iter().position(|&value| value != 0) {
            found.push(at);
            reduced.push((pivot, rest));
        }
    }
    found
}

/// `row` with a zero in the column `pivot`, by a multiple of `other`, without common factors; none if it gets too large.
fn eliminated(row: &[i128], other: &[i128], pivot: usize) -> Option<Vec<i128>> {
    let common = gcd(row[pivot], other[pivot]);
    let (mine, theirs) = (other[pivot] / common, row[pivot] / common);
    let mut result = Vec::with_capacity(row.len());
    let mut divisor = 0;
    for (&a, &b) in row.iter().zip(other) {
        let value = a.checked_mul(mine)?.checked_sub(b.checked_mul(theirs)?)?;
        divisor = gcd(divisor, value);
        result.push(value);
    }
    if divisor > 1 {
        result.iter_mut().for_each(|value| *value /= divisor);
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_of_a_line_and_of_a_parabola() {
        // Columns 1, x, y with y = 2x + 3.
        let rows = (0..6).map(|x| vec![1, x, 2 * x + 3]).collect();
        let basis = null_space(rows, 3);
        assert_eq!(basis.len(), 1);
        assert!((0..9).all(|x| basis[0][0] + basis[0][1] * x + basis[0][2] * (2 * x + 3) == 0), "{basis:?}");
        // Columns 1, x, y, x*x with y = x(x+1)/2.
        let rows = (0..8).map(|x| vec![1, x, x * (x + 1) / 2, x * x]).collect();
        let basis = null_space(rows, 4);
        assert_eq!(basis.len(), 1);
        assert!((0..9).all(|x| basis[0][1] * x + basis[0][2] * (x * (x + 1) / 2) + basis[0][3] * x * x == 0));
    }

    #[test]
    fn combinations_of_earlier_vectors_are_found() {
        let vectors = [vec![1, 1, 1], vec![2, 2, 2], vec![0, 1, 2], vec![3, 5, 7], vec![0, 1, 4]];
        assert_eq!(independent(&vectors), [0, 2, 4]);
    }

    #[test]
    fn independent_vectors_have_no_equation() {
        assert!(null_space(vec![vec![1, 0], vec![0, 1], vec![3, 4]], 2).is_empty());
    }
}
