// SPDX-License-Identifier: Apache-2.0
//! Linear equations between variables, guessed from sampled executions.
//!
//! The states in which samples visit a place of the program span an affine space; a basis of the equations that hold on it
//! gives candidates (the data-driven variant of Karr, *Affine Relationships Among Variables of a Program*, 1976, as in
//! Sharma et al., *A Data Driven Approach for Algebraic Loop Invariants*, ESOP 2013). Gaussian elimination over fractions
//! in 128 bits; what overflows is left out.

use std::collections::BTreeMap;

use crate::itp::samples::State;
use crate::term::{BvBin, Sort, SymId, TermId, Terms};

/// More variables than this are not related to each other.
const MAX_VARIABLES: usize = 10;

/// Larger coefficients look like chance.
const MAX_COEFFICIENT: i128 = 64;

/// Equations over the variables that hold in all of the states.
pub(crate) fn equations(terms: &mut Terms, variables: &[SymId], states: &[State]) -> Vec<TermId> {
    let mut by_sort: BTreeMap<Sort, Vec<SymId>> = BTreeMap::new();
    for &sym in variables {
        match terms.symbol_sort(sym) {
            Sort::Bool | Sort::Array { .. } => {}
            sort @ (Sort::Bv(_) | Sort::Int) => by_sort.entry(sort).or_default().push(sym),
        }
    }
    let mut found = Vec::new();
    for (sort, syms) in by_sort {
        if syms.len() > MAX_VARIABLES {
            continue;
        }
        let rows: Option<Vec<Vec<i128>>> = states
            .iter()
            .map(|state| {
                // The constant comes first, so that variables are expressed by it and by variables before them.
                let values = syms.iter().map(|sym| state.get(sym)?.as_signed());
                std::iter::once(Some(1)).chain(values).collect()
            })
            .collect();
        let Some(basis) = rows.and_then(|rows| null_space(rows, syms.len() + 1)) else { continue };
        for coefficients in basis {
            if coefficients[1..].iter().all(|c| c.abs() <= MAX_COEFFICIENT) {
                found.push(equation(terms, sort, &syms, &coefficients));
            }
        }
    }
    found
}

/// `first coefficient + sum of coefficient * variable = 0`
fn equation(terms: &mut Terms, sort: Sort, syms: &[SymId], coefficients: &[i128]) -> TermId {
    let mut sides = [Vec::new(), Vec::new()];
    let (&constant, factors) = coefficients.split_first().expect("the constant has a coefficient");
    for (&sym, &k) in syms.iter().zip(factors) {
        if k != 0 {
            let x = terms.var(sym, 0);
            sides[usize::from(k < 0)].push((k.unsigned_abs(), x));
        }
    }
    let sum = |terms: &mut Terms, side: &[(u128, TermId)], constant: i128| match sort {
        Sort::Bv(width) => {
            let start = terms.bv(width, constant as u128);
            side.iter().fold(start, |sum, &(k, x)| {
                let k = terms.bv(width, k);
                let product = terms.bv_bin(BvBin::Mul, x, k);
                terms.bv_bin(BvBin::Add, product, sum)
            })
        }
        Sort::Int | Sort::Bool | Sort::Array { .. } => {
            let mut parts = vec![terms.int(constant)];
            for &(k, x) in side {
                parts.push(terms.int_mul_const(k as i128, x));
            }
            terms.int_sum(&parts)
        }
    };
    let left = sum(terms, &sides[0], constant.max(0));
    let right = sum(terms, &sides[1], constant.min(0).abs());
    terms.eq(left, right)
}

/// A basis of the vectors orthogonal to all rows, with integer entries; `None` on overflow.
fn null_space(mut rows: Vec<Vec<i128>>, columns: usize) -> Option<Vec<Vec<i128>>> {
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..columns {
        let rank = pivots.len();
        let Some(found) = (rank..rows.len()).find(|&r| rows[r][column] != 0) else { continue };
        rows.swap(rank, found);
        let pivot = rows[rank].clone();
        for (r, row) in rows.iter_mut().enumerate() {
            if r == rank || row[column] == 0 {
                continue;
            }
            let (p, q) = (pivot[column], row[column]);
            for (x, &y) in row.iter_mut().zip(&pivot) {
                *x = x.checked_mul(p)?.checked_sub(y.checked_mul(q)?)?;
            }
            normalise(row);
        }
        pivots.push(column);
    }
    let mut basis = Vec::new();
    for free in (0..columns).filter(|c| !pivots.contains(c)) {
        // With the free entry at a common multiple of the pivots, the others are whole.
        let mut multiple: i128 = 1;
        for (r, &column) in pivots.iter().enumerate() {
            let p = rows[r][column].abs();
            multiple = (multiple / gcd(multiple, p)).checked_mul(p)?;
        }
        let mut vector = vec![0; columns];
        vector[free] = multiple;
        for (r, &column) in pivots.iter().enumerate() {
            vector[column] = (-rows[r][free]).checked_mul(multiple / rows[r][column])?;
        }
        normalise(&mut vector);
        basis.push(vector);
    }
    Some(basis)
}

/// Divides by the greatest common divisor; the first entry that is not zero becomes positive.
fn normalise(row: &mut [i128]) {
    let divisor = row.iter().fold(0, |g, &x| gcd(g, x.abs()));
    let Some(&first) = row.iter().find(|&&x| x != 0) else { return };
    let divisor = if first < 0 { -divisor } else { divisor };
    for x in row {
        *x /= divisor;
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itp_null_space_is_orthogonal() {
        // 1, x, y, z with y = 2x + 1 and z = 5.
        let rows = vec![vec![1, 1, 3, 5], vec![1, 2, 5, 5], vec![1, 7, 15, 5]];
        let basis = null_space(rows.clone(), 4).expect("small numbers");
        assert_eq!(basis, vec![vec![1, 2, -1, 0], vec![5, 0, 0, -1]]);
        assert_eq!(null_space(vec![vec![i128::MAX, 1], vec![1, i128::MAX]], 2), None);
        assert_eq!(null_space(Vec::new(), 1), Some(vec![vec![1]]));
    }
}
