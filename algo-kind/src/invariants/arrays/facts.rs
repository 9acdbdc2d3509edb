// SPDX-License-Identifier: Apache-2.0
//! What holds of all elements in a range, as far as samples show.

use cfa::ids::ExprId;

use super::*;

/// How many single elements of an array the others are compared with, of those that the program has an index for, and of those
/// at the end of a range.
const SINGLE: usize = 8;
const AT_ENDS: usize = 8;
/// How many ends are tried for one of the latter.
const ENDS: usize = 2;

/// The greatest factor of an index that elements are compared with.
const MOST_FACTOR: i128 = 1 << 16;

/// A single element of an array.
pub(super) struct Single {
    /// Its index in the samples.
    indices: Vec<Option<i128>>,
    /// Where the array ends in the samples, as far as something is said about this element.
    ends: Option<Vec<Option<i128>>>,
    /// That the index is not negative, and not behind the end.
    exists: TermId,
    element: TermId,
}

/// The single elements of an array that the others are compared with.
pub(super) struct Singles {
    pub(super) elements: Vec<Single>,
    /// Whether there also are comparisons with one or the other one of two: where the program compares elements.
    pub(super) in_pairs: bool,
}

/// What an operation computes, but for addresses.
fn told(op: &Op) -> Vec<ExprId> {
    match op {
        Op::Assume { cond: id, .. } | Op::Assign { value: id, .. } | Op::Store { value: id, .. } => vec![*id],
        Op::Call { args, .. } => args.clone(),
        _ => Vec::new(),
    }
}

/// Two terms, the lesser one first, for each order in which they are for all of their values.
fn ordered(both: &[(i128, i128)], (a, b): (TermId, TermId)) -> impl Iterator<Item = (TermId, TermId)> {
    let (below, above) = (both.iter().all(|(x, y)| x <= y), both.iter().all(|(x, y)| y <= x));
    below.then_some((a, b)).into_iter().chain(above.then_some((b, a)))
}

impl Search<'_> {
    /// What holds in all rows.
    pub(super) fn facts(
        &mut self,
        at: usize,
        arrays: &[usize],
        (scalars, singles): (&[Scalar], &Singles),
        rows: &[Row],
    ) -> Vec<TermId> {
        let ty = self.layout.arrays[at].ty;
        let mut facts = Vec::new();
        let element = self.element(at);
        let (least, greatest) = rows.iter().fold((i128::MAX, i128::MIN), |(a, b), row| (a.min(row.2), b.max(row.2)));
        if least == greatest {
            let value = number(&mut self.manager.terms, least, ty.bits);
            facts.push(self.manager.terms.eq(element, value));
        }
        facts.extend(self.equalities(at, arrays, scalars, rows));
        let mut linear = self.equations(at, arrays, scalars, rows, 1);
        if linear.is_empty() {
            linear = self.equations(at, arrays, scalars, rows, 3);
        }
        facts.extend(linear.iter());
        let explained = least == greatest || !linear.is_empty();
        if explained {
            return facts;
        }
        for modulus in [2, 3, 4] {
            for rest in 0..modulus {
                facts.extend(self.facts_about_every(at, arrays, scalars, rows, modulus, rest));
            }
        }
        facts.extend(self.comparisons(at, arrays, scalars, rows, (least, greatest)));
        facts.extend(self.comparisons_with_elements(at, singles, rows));
        facts
    }

    /// The order of an element and the next one, if it is that of all neighbours in a range; the strict one first.
    pub(super) fn order_of_neighbours(&mut self, at: usize, rows: &[Row]) -> Vec<TermId> {
        let ty = self.layout.arrays[at].ty;
        let is_next = |pair: &[Row]| pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1;
        let pairs = rows.windows(2).filter(|pair| is_next(pair)).map(|pair| (pair[0].2, pair[1].2));
        let both: Vec<(i128, i128)> = pairs.collect();
        if both.len() < 3 || both.iter().all(|(one, next)| one == next) {
            return Vec::new();
        }
        let is_strict = both.iter().all(|(one, next)| one != next);
        let (element, next) = (self.element(at), self.element_at(at, 1, 1));
        let mut facts = Vec::new();
        for (left, right) in ordered(&both, (element, next)) {
            for &op in if is_strict { &[CmpOp::Lt, CmpOp::Le][..] } else { &[CmpOp::Le] } {
                facts.push(self.manager.encoder.compare(&mut self.manager.terms, op, ty, left, right));
            }
        }
        facts
    }

    /// Single elements of an array that others are compared with: those that the program has an index for, and their
    /// predecessors.
    pub(super) fn singles(&mut self, at: usize) -> Vec<Single> {
        let (program, layout) = (self.program, self.layout);
        let array = &layout.arrays[at];
        let base = base_of(self.manager, program, array);
        let mut seen = BTreeSet::new();
        let mut singles = Vec::new();
        for (index, more) in array.uses.iter().flat_map(|index| [(index, 0), (index, -1)]) {
            let Some(index) = self.computed(index, more).filter(|index| seen.insert(index.values.clone())) else {
                continue;
            };
            if seen.len() > SINGLE {
                break;
            }
            let terms = &mut self.manager.terms;
            let Some(term) = widened(terms, index.term, index.ty, INDEX) else { continue };
            let zero = number(terms, 0, INDEX);
            let exists = terms.bv_cmp(BvCmp::Sle, zero, term);
            let element = element_of(self.manager, program, array, base, (1, 0), term);
            singles.push(Single { indices: index.values, ends: None, exists, element });
        }
        singles
    }

    /// Single elements of an array where its parts end or begin, such as the least one of those that are sorted already, as far
    /// as they are in front of where something else ends.
    pub(super) fn at_ends(&mut self, at: usize, known: &[Single]) -> Vec<Single> {
        let (program, layout) = (self.program, self.layout);
        let array = &layout.arrays[at];
        let base = base_of(self.manager, program, array);
        let vars: Vec<Scalar> = self.bounding(array).into_iter().map(|var| self.variable(var)).collect();
        let lengths: Vec<Scalar> = array.lengths.iter().map(|&length| self.constant(length)).collect();
        let mut singles: Vec<Single> = Vec::new();
        for (own, var) in vars.iter().enumerate() {
            for more in [0, 1] {
                let indices: Vec<Option<i128>> =
                    var.values.iter().map(|value| value.map(|value| value + more)).collect();
                if known.iter().chain(&singles).any(|single| single.indices == indices) {
                    continue;
                }
                // It is never behind the end, and in front of it in some samples.
                let is_end = |end: &&Scalar| {
                    let order = |(index, end): (&Option<i128>, &Option<i128>)| Some((*index)?.cmp(&(*end)?));
                    let orders: Vec<Ordering> = indices.iter().zip(&end.values).filter_map(order).collect();
                    let inside = orders.contains(&Ordering::Less);
                    inside && orders.iter().all(|&order| order != Ordering::Greater)
                };
                let others = vars.iter().enumerate().filter(|&(other, _)| other != own).map(|(_, end)| end);
                for end in others.chain(&lengths).filter(is_end).take(ENDS) {
                    let terms = &mut self.manager.terms;
                    let both = (widened(terms, var.term, var.ty, INDEX), widened(terms, end.term, end.ty, INDEX));
                    let (Some(term), Some(last)) = both else { continue };
                    let (zero, more) = (number(terms, 0, INDEX), number(terms, more, INDEX));
                    let term = terms.bv_bin(BvBin::Add, term, more);
                    let (below, above) = (terms.bv_cmp(BvCmp::Sle, zero, term), terms.bv_cmp(BvCmp::Slt, term, last));
                    let exists = terms.and(below, above);
                    let element = element_of(self.manager, program, array, base, (1, 0), term);
                    let ends = Some(end.values.clone());
                    singles.push(Single { indices: indices.clone(), ends, exists, element });
                    if singles.len() == AT_ENDS {
                        return singles;
                    }
                }
            }
        }
        singles
    }

    /// Comparisons with single elements of the array, or with one or the other one of two.
    fn comparisons_with_elements(&mut self, at: usize, singles: &Singles, rows: &[Row]) -> Vec<TermId> {
        let mut facts = Vec::new();
        if rows.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            // A single element is compared with itself.
            return facts;
        }
        // For each single element how the others are to it; none where it has a negative index and so is no element.
        let mut orders: Vec<(&Single, Vec<Option<Ordering>>)> = Vec::new();
        for single in &singles.elements {
            let order = |&(sample, _, value): &Row| {
                let index = single.indices[sample]?;
                let end = match &single.ends {
                    Some(ends) => Some(ends[sample]?),
                    None => None,
                };
                if index < 0 || end.is_some_and(|end| index >= end) {
                    return Some(None);
                }
                self.samples[sample].element(at, index).map(|element| Some(value.cmp(&element)))
            };
            if let Some(order) = rows.iter().map(order).collect::<Option<Vec<_>>>()
                && order.iter().flatten().count() >= 3
            {
                orders.push((single, order));
            }
        }
        for never in [Ordering::Less, Ordering::Greater] {
            let (simple, rest): (Vec<_>, Vec<_>) =
                orders.iter().partition(|(_, order)| order.iter().all(|order| *order != Some(never)));
            facts.extend(simple.iter().map(|(single, _)| self.beside(at, single, never)));
            let rest: Vec<_> =
                rest.into_iter().filter(|(single, _)| singles.in_pairs && single.ends.is_none()).collect();
            for (number, (one, first)) in rest.iter().enumerate() {
                for (other, second) in &rest[number + 1..] {
                    if first.iter().zip(second).all(|(a, b)| *a != Some(never) || *b != Some(never)) {
                        let (one, other) = (self.beside(at, one, never), self.beside(at, other, never));
                        facts.push(self.manager.terms.or(one, other));
                    }
                }
            }
        }
        facts
    }

    /// That elements are never less, or never greater, than a single one.
    fn beside(&mut self, at: usize, single: &Single, never: Ordering) -> TermId {
        let ty = self.layout.arrays[at].ty;
        let element = self.element(at);
        let (left, right) = if never == Ordering::Less { (single.element, element) } else { (element, single.element) };
        let fact = self.manager.encoder.compare(&mut self.manager.terms, CmpOp::Le, ty, left, right);
        self.manager.terms.implies(single.exists, fact)
    }

    /// Equality with scalars and with the same elements of other arrays.
    fn equalities(&mut self, at: usize, arrays: &[usize], scalars: &[Scalar], rows: &[Row]) -> Vec<TermId> {
        let bits = self.layout.arrays[at].ty.bits;
        let element = self.element(at);
        let mut same = Vec::new();
        for scalar in scalars.iter().filter(|scalar| scalar.ty.bits <= bits) {
            if rows.iter().all(|row| scalar.values[row.0] == Some(row.2)) {
                same.extend(widened(&mut self.manager.terms, scalar.term, scalar.ty, bits));
            }
        }
        for &other in arrays.iter().filter(|&&other| other != at && self.layout.arrays[other].ty.bits == bits) {
            if self.with_element(other, rows).is_some_and(|both| both.iter().all(|(mine, theirs)| mine == theirs)) {
                same.push(self.element(other));
            }
        }
        same.into_iter().map(|term| self.manager.terms.eq(element, term)).collect()
    }

    /// Equations for the indices with a remainder.
    fn facts_about_every(
        &mut self,
        at: usize,
        arrays: &[usize],
        scalars: &[Scalar],
        rows: &[Row],
        modulus: i128,
        rest: i128,
    ) -> Vec<TermId> {
        if !self.divides_by(modulus) {
            return Vec::new();
        }
        let some: Vec<_> = rows.iter().copied().filter(|row| row.1.rem_euclid(modulus) == rest).collect();
        if some.len() < 3 {
            return Vec::new();
        }
        let width = REMAINDER;
        let k = self.any_index_of(width);
        let terms = &mut self.manager.terms;
        let (by, rest) = (number(terms, modulus, width), number(terms, rest, width));
        let remainder = terms.bv_bin(BvBin::Urem, k, by);
        let guard = terms.eq(remainder, rest);
        let equations = self.equations(at, arrays, scalars, &some, 1);
        equations.into_iter().map(|equation| self.manager.terms.implies(guard, equation)).collect()
    }

    /// Whether the program computes remainders of a constant.
    fn divides_by(&self, modulus: i128) -> bool {
        let exprs = &self.program.exprs;
        exprs.ids().any(|id| match exprs.get(id).kind {
            ExprKind::Binary(BinOp::Rem, _, by) => exprs.as_const(by) == Some(modulus),
            ExprKind::Binary(BinOp::BitAnd, _, by) => exprs.as_const(by) == Some(modulus - 1),
            _ => false,
        })
    }

    /// Comparisons of elements with constants, scalars and the same elements of other arrays.
    fn comparisons(
        &mut self,
        at: usize,
        arrays: &[usize],
        scalars: &[Scalar],
        rows: &[Row],
        (least, greatest): (i128, i128),
    ) -> Vec<TermId> {
        let ty = self.layout.arrays[at].ty;
        let element = self.element(at);
        let (mut constants, mut factors) = (BTreeSet::from([0, 1]), BTreeSet::new());
        for id in self.program.edges.iter().flat_map(|edge| told(&edge.op)) {
            constants_in(self.program, id, &mut |value| {
                constants.extend([value - 1, value, value + 1]);
                factors.extend((1..=MOST_FACTOR).contains(&value).then_some(value));
            });
        }
        let mut pairs = Vec::new();
        if let Some(&low) = constants.iter().rev().find(|&&value| value <= least && value > ty.min()) {
            pairs.push((number(&mut self.manager.terms, low, ty.bits), element));
        }
        if let Some(&high) = constants.iter().find(|&&value| value >= greatest && value < ty.max()) {
            pairs.push((element, number(&mut self.manager.terms, high, ty.bits)));
        }
        // Sums of as many numbers as the index says.
        let is_bound = |&&factor: &&i128| rows.iter().all(|row| row.2 <= factor.saturating_mul(row.1));
        if let Some(&factor) = factors.iter().find(is_bound) {
            let k = self.any_index_of(ty.bits);
            let terms = &mut self.manager.terms;
            let factor = number(terms, factor, ty.bits);
            pairs.push((element, terms.bv_bin(BvBin::Mul, factor, k)));
        }
        for scalar in scalars.iter().filter(|scalar| scalar.ty == ty) {
            let known = |&&(sample, _, value): &&Row| Some((scalar.values[sample]?, value));
            let both: Option<Vec<(i128, i128)>> = rows.iter().map(|row| known(&row)).collect();
            let Some(both) = both else { continue };
            pairs.extend(ordered(&both, (scalar.term, element)));
        }
        for &other in arrays.iter().filter(|&&other| other != at && self.layout.arrays[other].ty == ty) {
            let Some(both) = self.with_element(other, rows) else { continue };
            let both: Vec<(i128, i128)> = both.into_iter().map(|(value, other)| (other, value)).collect();
            let term = self.element(other);
            pairs.extend(ordered(&both, (term, element)));
        }
        pairs
            .into_iter()
            .map(|(left, right)| self.manager.encoder.compare(&mut self.manager.terms, CmpOp::Le, ty, left, right))
            .collect()
    }

    /// For each row its value and that of another array's element; none if one is missing.
    fn with_element(&self, other: usize, rows: &[Row]) -> Option<Vec<(i128, i128)>> {
        rows.iter().map(|&(sample, index, value)| Some((value, self.samples[sample].element(other, index)?))).collect()
    }

    /// Equations between an element, its index with exponents up to `degree`, scalars and elements of other arrays.
    fn equations(&mut self, at: usize, arrays: &[usize], scalars: &[Scalar], rows: &[Row], degree: u32) -> Vec<TermId> {
        let ty = self.layout.arrays[at].ty;
        let k = self.any_index_of(ty.bits);
        // Columns after the constant: terms with their values in the rows.
        let mut columns: Vec<(TermId, Vec<i128>)> = Vec::new();
        let (mut power, mut term) = (vec![1i128; rows.len()], number(&mut self.manager.terms, 1, ty.bits));
        for _ in 0..degree {
            for (value, row) in power.iter_mut().zip(rows) {
                *value = value.saturating_mul(row.1);
            }
            term = self.manager.terms.bv_bin(BvBin::Mul, term, k);
            columns.push((term, power.clone()));
        }
        for scalar in scalars {
            let values: Option<Vec<i128>> = rows.iter().map(|row| scalar.values[row.0]).collect();
            let term = widened(&mut self.manager.terms, scalar.term, scalar.ty, ty.bits);
            if let (Some(values), Some(term)) = (values, term) {
                columns.push((term, values));
            }
        }
        for &other in arrays.iter().filter(|&&other| other != at) {
            let Some(both) = self.with_element(other, rows) else { continue };
            let term = self.element(other);
            if let Some(term) = widened(&mut self.manager.terms, term, self.layout.arrays[other].ty, ty.bits) {
                columns.push((term, both.into_iter().map(|(_, value)| value).collect()));
            }
        }
        // What depends on other columns would give the same equation in many forms.
        let vectors: Vec<Vec<i128>> =
            std::iter::once(vec![1; rows.len()]).chain(columns.iter().map(|column| column.1.clone())).collect();
        let kept = independent(&vectors);
        let mut columns: Vec<(TermId, Vec<i128>)> =
            kept.into_iter().filter(|&at| at > 0).map(|at| columns[at - 1].clone()).collect();
        columns.push((self.element(at), rows.iter().map(|row| row.2).collect()));
        let own = columns.len();
        let mut matrix: BTreeSet<Vec<i128>> = BTreeSet::new();
        for row in 0..rows.len() {
            let values: Vec<i128> = std::iter::once(1).chain(columns.iter().map(|column| column.1[row])).collect();
            if values.iter().all(|value| value.abs() < 1 << 40) {
                matrix.insert(values);
            }
        }
        // Fewer rows than unknowns make equations that hold by chance.
        if matrix.len() < 4.max(own + 2) {
            return Vec::new();
        }
        let mut equations = Vec::new();
        for coefficients in null_space(matrix.into_iter().collect(), columns.len() + 1) {
            if coefficients[own] == 0 {
                continue;
            }
            let mut sum = number(&mut self.manager.terms, coefficients[0], ty.bits);
            for ((term, _), &coefficient) in columns.iter().zip(&coefficients[1..]) {
                let terms = &mut self.manager.terms;
                let factor = number(terms, coefficient, ty.bits);
                let product = terms.bv_bin(BvBin::Mul, factor, *term);
                sum = terms.bv_bin(BvBin::Add, sum, product);
            }
            let zero = number(&mut self.manager.terms, 0, ty.bits);
            equations.push(self.manager.terms.eq(sum, zero));
        }
        equations
    }
}
