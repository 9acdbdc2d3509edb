// SPDX-License-Identifier: Apache-2.0
//! Linear equalities between dimensions (Karr, *Affine Relationships Among Variables of a Program*, 1976).
//!
//! A system is kept in reduced row echelon form, so it is unique. The join is the affine hull: systems and their solutions
//! are turned into each other as null spaces. An equality whose numbers do not fit is dropped. All operations are O(n³).

use super::Bounds;
use super::rows::{Row, combine, divisor, normalise, of_terms};
use crate::linear::Linear;

/// The solutions of a system of linear equalities.
#[derive(Clone, PartialEq, Debug)]
pub struct Equalities {
    dims: usize,
    /// Forms that are 0; the first entry that is not 0 is positive, and 0 in all other rows. In the order of these entries.
    rows: Vec<Row>,
    empty: bool,
}

fn pivot(row: &[i128]) -> Option<usize> {
    row.iter().position(|&entry| entry != 0)
}

/// Adds a row to a reduced system; whether that was possible.
fn add(rows: &mut Vec<Row>, mut new: Row) -> Option<()> {
    for row in rows.iter() {
        let at = pivot(row)?;
        if new[at] != 0 {
            new = combine(row[at], &new, -new[at], row)?;
        }
    }
    normalise(&mut new);
    let Some(at) = pivot(&new) else { return Some(()) };
    if new[at] < 0 {
        new.iter_mut().for_each(|entry| *entry = -*entry);
    }
    let mut reduced = Vec::with_capacity(rows.len() + 1);
    for row in rows.iter() {
        reduced.push(if row[at] == 0 { row.clone() } else { combine(new[at], row, -row[at], &new)? });
    }
    let place = reduced.iter().position(|row| pivot(row) > Some(at)).unwrap_or(reduced.len());
    reduced.insert(place, new);
    *rows = reduced;
    Some(())
}

/// Rows that span what the given reduced ones are 0 for.
fn null_space(rows: &[Row], width: usize) -> Option<Vec<Row>> {
    let pivots: Vec<usize> = rows.iter().filter_map(|row| pivot(row)).collect();
    let mut space = Vec::new();
    for free in (0..width).filter(|column| !pivots.contains(column)) {
        // The least multiple that makes all entries whole.
        let mut scale = 1i128;
        for (row, &at) in rows.iter().zip(&pivots) {
            scale = scale.checked_mul(row[at] / divisor(&[row[at], row[free].checked_mul(scale)?]))?;
        }
        let mut vector = vec![0; width];
        vector[free] = scale;
        for (row, &at) in rows.iter().zip(&pivots) {
            vector[at] = -(row[free].checked_mul(scale)? / row[at]);
        }
        space.push(vector);
    }
    Some(space)
}

impl Equalities {
    /// All points.
    pub(super) fn top(dims: usize) -> Self {
        Self { dims, rows: Vec::new(), empty: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Adds that a form is 0.
    pub(super) fn equal_zero(&mut self, form: &Linear) {
        if form.low == form.high {
            self.add(of_terms(&form.terms, self.dims, form.low));
        }
    }

    fn add(&mut self, row: Row) {
        // What does not fit is not added.
        let _ = add(&mut self.rows, row);
        let dims = self.dims;
        // The constant is no multiple of what the coefficients have in common.
        self.empty |= self.rows.iter().any(|row| {
            let common = divisor(&row[..dims]);
            if common == 0 { row[dims] != 0 } else { row[dims] % common != 0 }
        });
    }

    /// The value of a sum, if there is only one.
    pub(super) fn range(&self, terms: &[(usize, i128)]) -> Bounds {
        let value = || {
            let mut form = of_terms(terms, self.dims, 0);
            let mut scale = 1i128;
            for row in &self.rows {
                let at = pivot(row)?;
                if form[at] != 0 {
                    let factor = form[at];
                    for (entry, other) in form.iter_mut().zip(row) {
                        *entry = entry.checked_mul(row[at])?.checked_sub(other.checked_mul(factor)?)?;
                    }
                    scale = scale.checked_mul(row[at])?;
                }
            }
            let constant = form.pop()?;
            (form.iter().all(|&entry| entry == 0) && constant % scale == 0).then(|| constant / scale)
        };
        let value = value();
        (value, value)
    }

    /// `x := form`; any value unless the form has one constant.
    pub(super) fn assign(&mut self, dim: usize, form: &Linear) {
        let new = self.dims;
        self.add_dims(1);
        if form.low == form.high {
            let mut row = of_terms(&form.terms, self.dims, form.low);
            row[new] = -1;
            self.add(row);
        }
        self.forget(dim);
        let order: Vec<usize> = (0..new).map(|at| if at == dim { new } else { at }).collect();
        *self = self.project(&order);
    }

    pub(super) fn forget(&mut self, dim: usize) {
        let Some(at) = self.rows.iter().rposition(|row| row[dim] != 0) else { return };
        let gone = self.rows.remove(at);
        let others = std::mem::take(&mut self.rows);
        for row in others {
            let row = if row[dim] == 0 { Some(row) } else { combine(gone[dim], &row, -row[dim], &gone) };
            if let Some(row) = row {
                self.add(row);
            }
        }
    }

    pub(super) fn add_dims(&mut self, count: usize) {
        for row in &mut self.rows {
            let constant = row.pop().expect("rows have a constant");
            row.resize(self.dims + count, 0);
            row.push(constant);
        }
        self.dims += count;
    }

    pub(super) fn project(&self, dims: &[usize]) -> Self {
        let mut kept = self.clone();
        (0..self.dims).filter(|dim| !dims.contains(dim)).for_each(|dim| kept.forget(dim));
        let mut result = Self { dims: dims.len(), rows: Vec::new(), empty: kept.empty };
        for row in kept.rows {
            result.add(dims.iter().map(|&dim| row[dim]).chain([row[self.dims]]).collect());
        }
        result
    }

    /// The affine hull.
    pub(super) fn join(&self, other: &Self) -> Self {
        if self.empty || other.rows == self.rows {
            return other.clone();
        }
        if other.empty {
            return self.clone();
        }
        let width = self.dims + 1;
        let hull = || {
            let mut points = Vec::new();
            for vector in null_space(&self.rows, width)?.into_iter().chain(null_space(&other.rows, width)?) {
                add(&mut points, vector)?;
            }
            let mut rows = Vec::new();
            null_space(&points, width)?.into_iter().try_for_each(|row| add(&mut rows, row))?;
            Some(rows)
        };
        Self { rows: hull().unwrap_or_default(), ..self.clone() }
    }

    pub(super) fn meet(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.empty |= other.empty;
        other.rows.iter().for_each(|row| result.add(row.clone()));
        result
    }

    pub(super) fn leq(&self, other: &Self) -> bool {
        let implied = |row: &Row| {
            let mut rows = self.rows.clone();
            add(&mut rows, row.clone()).is_some() && rows.len() == self.rows.len()
        };
        self.empty || (!other.empty && other.rows.iter().all(implied))
    }

    pub(super) fn contains(&self, point: &[i64]) -> bool {
        let value = |row: &Row| point.iter().zip(row).map(|(&value, entry)| i128::from(value) * entry).sum::<i128>();
        !self.empty && self.rows.iter().all(|row| value(row) + row[self.dims] == 0)
    }
}
