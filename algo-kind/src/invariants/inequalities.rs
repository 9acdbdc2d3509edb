// SPDX-License-Identifier: Apache-2.0
//! Linear inequalities between two to four variables that hold in sample runs and that enough of the samples meet with
//! equality to span the border of what was seen: facets of the samples' convex hull, as far as their coefficients are small
//! or constants of the program.
//!
//! Convex polyhedra as in Cousot, Halbwachs, *Automatic Discovery of Linear Restraints Among Variables of a Program* (POPL
//! 1978), but guessed from samples in a few directions, as in the templates of Sankaranarayanan, Sipma, Manna, *Scalable
//! Analysis of Linear Systems Using Mathematical Programming* (VMCAI 2005). Numbers are mathematical ones: sums have so many
//! bits that nothing overflows.

use std::collections::BTreeSet;

use cfa::ids::VarId;
use cfa::ir::{CmpOp, Op};
use smt::{BvBin, BvCmp, TermId};

use super::arrays::{number, widened};
use super::candidates::{Atom, Guesser, compare, constants_in};
use super::nullspace::{independent, null_space};
use super::value::gcd;

/// Between how many variables inequalities of two, three and four are looked for.
const AMONG: [usize; 3] = [8, 6, 5];
/// Coefficients that are tried in any case.
const COEFFICIENTS: [i128; 2] = [2, 3];
/// The greatest constant of the program that is tried as a coefficient, the bits that coefficients and sums add, and how many there are.
const MOST_COEFFICIENT: i128 = 1023;
const SUM_BITS: u32 = 13;
const CONSTANTS: usize = 4;
/// How many inequalities are tried.
const MOST: usize = 48;
/// Between how many variables equations are at most.
const MOST_TERMS: usize = 5;
/// Fewer samples say nothing.
const SAMPLES: usize = 10;

/// An inequality: the sum of the variables times their coefficients is at most the bound.
struct Inequality {
    terms: Vec<(usize, i128)>,
    bound: i128,
}

impl Inequality {
    /// Simple ones come first: few variables, small coefficients and bounds.
    fn weight(&self) -> (usize, i128, i128) {
        (self.terms.len(), self.terms.iter().map(|term| term.1.abs()).sum(), self.bound.abs())
    }
}

impl Guesser<'_> {
    /// Inequalities that are true in all samples, beyond the comparisons of two variables, and equations of mathematical numbers.
    pub(crate) fn inequalities(&mut self) -> Vec<TermId> {
        let vars = self.inequality_variables();
        let rows: BTreeSet<Vec<i128>> = self
            .samples
            .iter()
            .filter_map(|sample| {
                vars.iter().map(|var| sample.vars.get(var).copied().filter(|value| value.abs() < 1 << 64)).collect()
            })
            .collect();
        if rows.len() < SAMPLES {
            return Vec::new();
        }
        let rows: Vec<Vec<i128>> = rows.into_iter().collect();
        let varied: Vec<usize> = (0..vars.len()).filter(|&at| rows.iter().any(|row| row[at] != rows[0][at])).collect();
        let coefficients = self.coefficients();
        let mut found: Vec<Inequality> = Vec::new();
        for (size, among) in (2..).zip(AMONG) {
            let chosen = &varied[..varied.len().min(among)];
            for_each_subset(chosen, size, &mut |subset| {
                directions(size, &coefficients, &mut |direction| found.extend(facet(&rows, subset, direction)));
            });
        }
        found.sort_by_key(Inequality::weight);
        found.truncate(MOST);
        let mut result: Vec<TermId> =
            found.iter().filter_map(|inequality| self.inequality(&vars, inequality)).collect();
        self.exact_equations(&vars, &rows, &mut result);
        result
    }

    /// The variables that inequalities are about, the interesting ones first.
    fn inequality_variables(&self) -> Vec<VarId> {
        let known = |var: &VarId| self.samples.iter().all(|sample| sample.vars.contains_key(var));
        self.variables().into_iter().filter(known).take(AMONG[0]).collect()
    }

    /// Small numbers, and constants of the program.
    fn coefficients(&self) -> Vec<i128> {
        let mut constants = BTreeSet::new();
        for edge in &self.program.edges {
            if let Op::Assume { cond: id, .. } | Op::Assign { value: id, .. } = edge.op {
                constants_in(self.program, id, &mut |value| {
                    if (4..=MOST_COEFFICIENT).contains(&value.abs()) {
                        constants.insert(value.abs());
                    }
                });
            }
        }
        COEFFICIENTS.into_iter().chain(constants.into_iter().take(CONSTANTS)).collect()
    }

    fn inequality(&mut self, vars: &[VarId], inequality: &Inequality) -> Option<TermId> {
        let (sum, width) = self.sum(vars, &inequality.terms)?;
        let bound = number(&mut self.manager.terms, inequality.bound, width);
        Some(self.manager.terms.bv_cmp(BvCmp::Sle, sum, bound))
    }

    /// Equations between several variables that are true in all samples, and that the variables are at least as great as the
    /// greatest of some bounds that they are not below in the samples. Neither may be inductive without the other: the
    /// equations with wrap-around, which are tried before, do not bound anything.
    fn exact_equations(&mut self, vars: &[VarId], rows: &[Vec<i128>], out: &mut Vec<TermId>) {
        let with_one = rows.iter().map(|row| std::iter::once(1).chain(row.iter().copied()).collect()).collect();
        let mut bounded = BTreeSet::new();
        for coefficients in null_space(with_one, vars.len() + 1) {
            let terms: Vec<(usize, i128)> =
                coefficients[1..].iter().copied().enumerate().filter(|term| term.1 != 0).collect();
            let small = coefficients.iter().all(|coefficient| coefficient.abs() <= MOST_COEFFICIENT);
            if !small || !(3..=MOST_TERMS).contains(&terms.len()) {
                continue;
            }
            let Some((sum, width)) = self.sum(vars, &terms) else { continue };
            let constant = number(&mut self.manager.terms, -coefficients[0], width);
            out.push(self.manager.terms.eq(sum, constant));
            bounded.extend(terms.into_iter().map(|(at, _)| at));
        }
        for at in bounded {
            let least = rows.iter().map(|row| row[at]).min().expect("there are some samples");
            let Some(bound) = [1, 0, -1].into_iter().find(|&bound| bound <= least) else { continue };
            let ty = self.program.var(vars[at]).ty;
            if bound > ty.min() {
                let x = self.term(Atom::Var(vars[at]));
                let bound = self.manager.encoder.constant(&mut self.manager.terms, bound, ty);
                out.push(compare(self.manager, CmpOp::Le, ty, bound, x));
            }
        }
    }

    /// A sum of variables times coefficients as a mathematical number, and its bits; none if a variable is no number.
    fn sum(&mut self, vars: &[VarId], terms: &[(usize, i128)]) -> Option<(TermId, u32)> {
        let ty = |at: usize| self.program.var(vars[at]).ty;
        let width = terms.iter().map(|&(at, _)| ty(at).bits).max()? + SUM_BITS;
        let mut sum = number(&mut self.manager.terms, 0, width);
        for &(at, coefficient) in terms {
            let x = self.term(Atom::Var(vars[at]));
            let terms = &mut self.manager.terms;
            let x = widened(terms, x, self.program.var(vars[at]).ty, width)?;
            let factor = number(terms, coefficient, width);
            let product = terms.bv_bin(BvBin::Mul, factor, x);
            sum = terms.bv_bin(BvBin::Add, sum, product);
        }
        Some((sum, width))
    }
}

/// The inequality with a direction, if it is a facet of the samples: those that meet it with equality span a hyperplane.
fn facet(rows: &[Vec<i128>], subset: &[usize], direction: &[i128]) -> Option<Inequality> {
    let value = |row: &Vec<i128>| -> i128 { subset.iter().zip(direction).map(|(&at, factor)| row[at] * factor).sum() };
    let bound = rows.iter().map(value).max()?;
    let tight: Vec<&Vec<i128>> = rows.iter().filter(|row| value(row) == bound).collect();
    if tight.len() <= subset.len() || tight.len() == rows.len() {
        return None;
    }
    let project = |row: &&Vec<i128>| std::iter::once(1).chain(subset.iter().map(|&at| row[at])).collect();
    let points: BTreeSet<Vec<i128>> = tight.iter().map(project).collect();
    let points: Vec<Vec<i128>> = points.into_iter().collect();
    // Comparisons of two variables are tried anyway.
    let is_comparison = subset.len() == 2 && bound == 0 && direction[0] + direction[1] == 0;
    (points.len() > subset.len() && independent(&points).len() == subset.len() && !is_comparison)
        .then(|| Inequality { terms: subset.iter().copied().zip(direction.iter().copied()).collect(), bound })
}

/// Calls `visit` for all subsets of a size, in the order of the elements.
fn for_each_subset(of: &[usize], size: usize, visit: &mut dyn FnMut(&[usize])) {
    fn extend(of: &[usize], size: usize, chosen: &mut Vec<usize>, visit: &mut dyn FnMut(&[usize])) {
        if chosen.len() == size {
            return visit(chosen);
        }
        for (at, &element) in of.iter().enumerate() {
            chosen.push(element);
            extend(&of[at + 1..], size, chosen, visit);
            chosen.pop();
        }
    }
    extend(of, size, &mut Vec::new(), visit);
}

/// Calls `visit` for vectors of small coprime coefficients: at most one of them is not 1 or -1, or two of two and three;
/// four variables have no other ones.
fn directions(size: usize, coefficients: &[i128], visit: &mut dyn FnMut(&[i128])) {
    let mut magnitudes: Vec<Vec<i128>> = vec![vec![1; size]];
    if size < 4 {
        for at in 0..size {
            for &coefficient in coefficients {
                let mut vector = vec![1; size];
                vector[at] = coefficient;
                magnitudes.push(vector);
            }
        }
    }
    if size == 2 {
        let pairs = coefficients.iter().flat_map(|&a| coefficients.iter().map(move |&b| vec![a, b]));
        magnitudes.extend(pairs.filter(|pair| gcd(pair[0], pair[1]) == 1));
    }
    for magnitude in magnitudes {
        for signs in 0..1u32 << size {
            let signed = magnitude.iter().enumerate();
            let direction: Vec<i128> =
                signed.map(|(at, &value)| if signs >> at & 1 == 1 { -value } else { value }).collect();
            visit(&direction);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facets(rows: &[Vec<i128>], subset: &[usize], coefficients: &[i128]) -> Vec<(Vec<i128>, i128)> {
        let mut found = Vec::new();
        directions(subset.len(), coefficients, &mut |direction| {
            found.extend(facet(rows, subset, direction).map(|facet| (direction.to_vec(), facet.bound)));
        });
        found
    }

    /// A cone with s <= 3 t + d, 0 <= d <= s, d <= 3.
    #[test]
    fn a_facet_between_three_variables_is_found() {
        let mut rows = Vec::new();
        for t in 0..4 {
            for d in 0..=3 {
                for s in d..=3 * t + d {
                    rows.push(vec![t, d, s]);
                }
            }
        }
        let found = facets(&rows, &[0, 1, 2], &[2, 3]);
        assert!(found.contains(&(vec![-3, -1, 1], 0)), "{found:?}");
        // No inequality is answered that a sample violates.
        for (direction, bound) in &found {
            let value = |row: &Vec<i128>| row.iter().zip(direction).map(|(x, a)| x * a).sum::<i128>();
            assert!(rows.iter().all(|row| value(row) <= *bound));
        }
        assert!(!found.iter().any(|(direction, _)| direction == &vec![1, 1, 1]), "a corner is no facet");
    }

    #[test]
    fn points_on_a_line_have_no_facet() {
        let rows: Vec<Vec<i128>> = (0..20).map(|x| vec![x, 2 * x]).collect();
        assert!(facets(&rows, &[0, 1], &[2]).is_empty());
    }

    #[test]
    fn comparisons_of_two_variables_are_left_to_others() {
        let rows: Vec<Vec<i128>> = (0..9).flat_map(|x| (x..9).map(move |y| vec![x, y])).collect();
        let found = facets(&rows, &[0, 1], &[2]);
        assert!(!found.iter().any(|(direction, _)| direction == &vec![1, -1]));
    }
}
