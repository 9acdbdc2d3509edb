// SPDX-License-Identifier: Apache-2.0
//! Closed convex polyhedra by double description: constraints and generators, each computed from the other by
//! Chernikova's algorithm (Le Verge, *A Note on Chernikova's Algorithm*, 1992; Cousot, Halbwachs, *Automatic Discovery of
//! Linear Restraints Among Variables of a Program*, 1978).
//!
//! The points are integers, so a strict inequality is a closed one. Numbers do not wrap around, and there is a limit for the
//! number of rows: where either does not suffice, constraints are left out, which makes the polyhedron bigger.

use super::Bounds;
use super::rows::{Row, combine, divisor, dot, normalise, of_terms};
use crate::linear::Linear;

/// The greatest number of rows of a description.
const MOST_ROWS: usize = 120;

/// A constraint: a form that is at least 0, or 0 (`both`). A generator: a ray, or a line (`both`); one whose last
/// entry is positive is a point, divided by that entry.
#[derive(Clone, PartialEq, Debug)]
struct Half {
    row: Row,
    both: bool,
}

/// A polyhedron.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    dims: usize,
    constraints: Vec<Half>,
    generators: Vec<Half>,
}

impl PartialEq for Polyhedron {
    fn eq(&self, other: &Self) -> bool {
        self.dims == other.dims && self.leq(other) && other.leq(self)
    }
}

/// The rays of the cone where all the rows are at least 0, or 0.
fn dual<'a>(rows: impl Iterator<Item = &'a Half>, width: usize) -> Option<Vec<Half>> {
    let unit = |at: usize| Half { row: (0..width).map(|column| i128::from(column == at)).collect(), both: true };
    let mut rays: Vec<Half> = (0..width).map(unit).collect();
    let mut seen: Vec<&Half> = Vec::new();
    for new in rows {
        cut(&mut rays, &seen, new)?;
        seen.push(new);
    }
    Some(rays)
}

/// What is left of a cone when one more row shall be at least 0, or 0.
fn cut(rays: &mut Vec<Half>, seen: &[&Half], new: &Half) -> Option<()> {
    let signs = rays.iter().map(|ray| dot(&ray.row, &new.row)).collect::<Option<Vec<i128>>>()?;
    if let Some(at) = (0..rays.len()).find(|&at| rays[at].both && signs[at] != 0) {
        let (mut line, sign) = (rays[at].clone(), signs[at].checked_abs()?);
        if signs[at] < 0 {
            line.row.iter_mut().for_each(|entry| *entry = -*entry);
        }
        line.both = false;
        let mut result = Vec::with_capacity(rays.len());
        for (other, ray) in rays.iter().enumerate().filter(|(other, _)| *other != at) {
            let row =
                if signs[other] == 0 { ray.row.clone() } else { combine(sign, &ray.row, -signs[other], &line.row)? };
            result.push(Half { row, both: ray.both });
        }
        if !new.both {
            result.push(line);
        }
        *rays = result;
        return Some(());
    }
    if signs.iter().all(|&sign| sign == 0 || (sign > 0 && !new.both)) {
        return Some(());
    }
    // Which rows a ray makes 0.
    let zeros = rays
        .iter()
        .map(|ray| seen.iter().map(|row| Some(dot(&row.row, &ray.row)? == 0)).collect::<Option<Vec<bool>>>())
        .collect::<Option<Vec<_>>>()?;
    let keep = |sign: i128| sign == 0 || (sign > 0 && !new.both);
    let mut result: Vec<Half> =
        rays.iter().zip(&signs).filter(|(_, sign)| keep(**sign)).map(|(ray, _)| ray.clone()).collect();
    for plus in (0..rays.len()).filter(|&at| signs[at] > 0) {
        for minus in (0..rays.len()).filter(|&at| signs[at] < 0) {
            let common =
                |at: usize| (0..seen.len()).all(|row| zeros[at][row] || !zeros[plus][row] || !zeros[minus][row]);
            let adjacent = (0..rays.len()).all(|at| at == plus || at == minus || rays[at].both || !common(at));
            if adjacent {
                let row = combine(signs[minus].checked_neg()?, &rays[plus].row, signs[plus], &rays[minus].row)?;
                result.push(Half { row, both: false });
            }
        }
    }
    *rays = result;
    (rays.len() <= MOST_ROWS).then_some(())
}

impl Polyhedron {
    /// All points.
    pub(super) fn top(dims: usize) -> Self {
        Self::of_constraints(dims, Vec::new()).expect("there is nothing to compute with")
    }

    fn of_constraints(dims: usize, constraints: Vec<Half>) -> Option<Self> {
        let positive = Half { row: of_terms(&[], dims, 1), both: false };
        let generators = dual([&positive].into_iter().chain(&constraints), dims + 1)?;
        Some(Self { dims, constraints, generators })
    }

    fn of_generators(dims: usize, generators: Vec<Half>) -> Option<Self> {
        if generators.len() > MOST_ROWS {
            return None;
        }
        let constraints = dual(generators.iter(), dims + 1)?;
        let says = |half: &Half| half.row[..dims].iter().any(|&entry| entry != 0);
        let constraints = constraints.into_iter().filter(says).collect();
        // Generators that are in the hull of others are left out.
        Self::of_constraints(dims, constraints)
    }

    /// There is no point, only directions.
    pub(super) fn is_empty(&self) -> bool {
        self.generators.iter().all(|generator| generator.row[self.dims] == 0)
    }

    fn add(&mut self, mut row: Row, both: bool) {
        let common = divisor(&row[..self.dims]);
        if common > 1 && !both {
            // The form is a multiple of it but for the constant.
            row[..self.dims].iter_mut().for_each(|entry| *entry /= common);
            row[self.dims] = row[self.dims].div_euclid(common);
        }
        normalise(&mut row);
        let new = Half { row, both };
        let fulfilled = |generator: &Half| match dot(&generator.row, &new.row) {
            Some(0) => true,
            Some(sign) => sign > 0 && !both && !generator.both,
            None => false,
        };
        if self.is_empty() || self.generators.iter().all(fulfilled) {
            return;
        }
        let constraints = self.constraints.iter().cloned().chain([new]).collect::<Vec<_>>();
        if constraints.len() <= MOST_ROWS
            && let Some(next) = Self::of_constraints(self.dims, constraints)
        {
            *self = next;
            self.drop_redundant();
        }
    }

    /// Leaves out constraints that the others imply: those that make too few generators 0.
    fn drop_redundant(&mut self) {
        if self.is_empty() || self.constraints.len() < 8 {
            return;
        }
        if let Some(smaller) = Self::of_generators(self.dims, self.generators.clone()) {
            *self = smaller;
        }
    }

    /// Adds that a form is at most 0; its least constant counts.
    pub(super) fn at_most_zero(&mut self, form: &Linear) {
        let Some(constant) = form.low.checked_neg() else { return };
        let mut row = of_terms(&form.terms, self.dims, constant);
        row[..self.dims].iter_mut().for_each(|entry| *entry = -*entry);
        self.add(row, false);
    }

    /// Adds that a form is 0.
    pub(super) fn equal_zero(&mut self, form: &Linear) {
        if form.low == form.high {
            self.add(of_terms(&form.terms, self.dims, form.low), true);
        } else {
            self.at_most_zero(form);
            self.at_most_zero(&form.times(-1));
        }
    }

    /// The least and greatest value of a sum.
    pub(super) fn range(&self, terms: &[(usize, i128)]) -> Bounds {
        let row = of_terms(terms, self.dims, 0);
        let (mut low, mut high): (Option<i128>, Option<i128>) = (None, None);
        let (mut below, mut above) = (false, false);
        for generator in &self.generators {
            let Some(value) = dot(&generator.row, &row) else { return (None, None) };
            let scale = generator.row[self.dims];
            if scale == 0 {
                above |= value > 0 || (generator.both && value != 0);
                below |= value < 0 || (generator.both && value != 0);
            } else {
                // Integers lie between the ends.
                let (up, down) = (-((-value).div_euclid(scale)), value.div_euclid(scale));
                low = Some(low.map_or(up, |low| low.min(up)));
                high = Some(high.map_or(down, |high| high.max(down)));
            }
        }
        (low.filter(|_| !below), high.filter(|_| !above))
    }

    /// `x := form` for some constant between its ends.
    pub(super) fn assign(&mut self, dim: usize, form: &Linear) {
        let new = self.dims;
        self.add_dims(1);
        let mut difference = form.clone();
        difference.terms.push((new, -1));
        self.equal_zero(&difference);
        self.forget(dim);
        let order: Vec<usize> = (0..new).map(|at| if at == dim { new } else { at }).collect();
        *self = self.project(&order);
    }

    pub(super) fn forget(&mut self, dim: usize) {
        if self.is_empty() || self.constraints.iter().all(|constraint| constraint.row[dim] == 0) {
            return;
        }
        let mut generators = self.generators.clone();
        generators.push(Half { row: of_terms(&[(dim, 1)], self.dims, 0), both: true });
        *self = Self::of_generators(self.dims, generators).unwrap_or_else(|| {
            // Weaker: the constraints without the dimension.
            let free = self.constraints.iter().filter(|constraint| constraint.row[dim] == 0).cloned().collect();
            Self::of_constraints(self.dims, free).unwrap_or_else(|| Self::top(self.dims))
        });
    }

    pub(super) fn add_dims(&mut self, count: usize) {
        let before = self.dims;
        self.dims += count;
        for half in self.constraints.iter_mut().chain(&mut self.generators) {
            let last = half.row.pop().expect("rows have a last entry");
            half.row.resize(before + count, 0);
            half.row.push(last);
        }
        let line = |dim: usize| Half { row: of_terms(&[(dim, 1)], before + count, 0), both: true };
        self.generators.extend((before..before + count).map(line));
    }

    pub(super) fn project(&self, dims: &[usize]) -> Self {
        let mut kept = self.clone();
        (0..self.dims).filter(|dim| !dims.contains(dim)).for_each(|dim| kept.forget(dim));
        let cut = |half: &Half| Half {
            row: dims.iter().map(|&dim| half.row[dim]).chain([half.row[self.dims]]).collect(),
            both: half.both,
        };
        let nothing = |half: &Half| half.row.iter().all(|&entry| entry == 0);
        Self {
            dims: dims.len(),
            constraints: kept.constraints.iter().map(cut).filter(|half| !nothing(half)).collect(),
            generators: kept.generators.iter().map(cut).filter(|half| !nothing(half)).collect(),
        }
    }

    /// The constraints that hold for all points of the other one, inequalities one by one.
    fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Half> + 'a {
        let halves = self.constraints.iter().flat_map(|constraint| {
            let opposite = Half { row: constraint.row.iter().map(|entry| -entry).collect(), both: false };
            let one = Half { row: constraint.row.clone(), both: false };
            if constraint.both { vec![one, opposite] } else { vec![one] }
        });
        halves.filter(|constraint| other.fulfils(constraint))
    }

    fn fulfils(&self, constraint: &Half) -> bool {
        self.generators.iter().all(|generator| match dot(&generator.row, &constraint.row) {
            Some(0) => true,
            Some(sign) => sign > 0 && !constraint.both && !generator.both,
            None => false,
        })
    }

    /// The convex hull.
    pub(super) fn join(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        let generators = self.generators.iter().chain(&other.generators).cloned().collect();
        Self::of_generators(self.dims, generators).unwrap_or_else(|| self.widen(other))
    }

    pub(super) fn meet(&self, other: &Self) -> Self {
        let mut result = if self.is_empty() { self.clone() } else { other.clone() };
        if !result.is_empty() {
            self.constraints.iter().for_each(|constraint| result.add(constraint.row.clone(), constraint.both));
        }
        result
    }

    pub(super) fn leq(&self, other: &Self) -> bool {
        self.is_empty() || (!other.is_empty() && other.constraints.iter().all(|constraint| self.fulfils(constraint)))
    }

    /// The constraints of this one that the other one fulfils too.
    pub(super) fn widen(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        Self::of_constraints(self.dims, self.shared(other).collect()).unwrap_or_else(|| Self::top(self.dims))
    }

    pub(super) fn contains(&self, point: &[i64]) -> bool {
        let value = |row: &Row| point.iter().zip(row).map(|(&value, entry)| i128::from(value) * entry).sum::<i128>();
        !self.is_empty()
            && self.constraints.iter().all(|half| {
                let value = value(&half.row) + half.row[self.dims];
                value == 0 || (value > 0 && !half.both)
            })
    }
}
