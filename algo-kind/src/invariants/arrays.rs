// SPDX-License-Identifier: Apache-2.0
//! Candidates about all elements of a part of an array: "for all k from i to n, a[k] = 2k + b[k]".
//!
//! The universally quantified k is the symbol [`index`]; a candidate that contains it is meant for all its values, which
//! [`instances`](super::instances) explains. Flanagan, Qadeer, *Predicate Abstraction for Software Verification* (POPL
//! 2002), section 5. Parts are bounded by variables and constants that indices are compared with. Facts are equations that
//! hold in the samples, as for variables, and comparisons with constants, variables and other arrays.

mod conditions;
mod copies;
mod facts;
mod flags;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use cfa::Program;
use cfa::ids::VarId;
use cfa::ir::{BinOp, CmpOp, ExprKind, IntTy, Op};
use cpa_predicate::Manager;
use indexmap::{IndexMap, IndexSet};
use smt::{BvBin, BvCmp, TermId, Terms};

use super::candidates::{constants_in, interesting_variables, is_usable, variable};
use super::instances::{INDEX, index};
use super::memory::{Array, Base, Index, Layout, Walk};
use super::nullspace::{independent, null_space};
use super::sample::Sample;
use conditions::{Open, Shape};
use facts::Singles;
use flags::Flag;

/// How many candidates a cut point has.
const CANDIDATES: usize = 200;
/// For how many smaller ranges a fact is tried if it does not hold for larger ones.
const WEAKER: usize = 4;
/// How many variables bound ranges.
const BOUNDS: usize = 6;
/// How many ranges are tried for an array.
const RANGES: usize = 120;
/// How many variables and cells equations are looked for over.
const SCALARS: usize = 7;
/// Bits of indices of which remainders are taken: division is expensive.
const REMAINDER: u32 = 32;
/// How many pointers that go along an array are compared with what counts its elements.
const WALKS: usize = 3;
/// How many arrays facts are looked for at a cut point.
const ARRAYS: usize = 6;

/// A value of a type as one of `width` bits; none if it is wider.
pub(super) fn widened(terms: &mut Terms, value: TermId, ty: IntTy, width: u32) -> Option<TermId> {
    match terms.width(value) {
        own if own > width => None,
        own if own == width => Some(value),
        _ if ty.signed => Some(terms.sext(width, value)),
        _ => Some(terms.zext(width, value)),
    }
}

pub(super) fn index_term(manager: &mut Manager, program: &Program, index: &Index) -> Option<TermId> {
    let width = INDEX;
    let mut sum = number(&mut manager.terms, index.constant, width);
    for part in &index.parts {
        let mut product = number(&mut manager.terms, part.factor, width);
        for &factor in &part.product {
            let value = manager.encoder.value(&mut manager.terms, factor).ok()?;
            let terms = &mut manager.terms;
            let value = widened(terms, value, program.exprs.ty(factor), width)?;
            product = terms.bv_bin(BvBin::Mul, product, value);
        }
        sum = manager.terms.bv_bin(BvBin::Add, sum, product);
    }
    if let Some(walk) = index.walk {
        let steps = steps(manager, program, walk)?;
        sum = manager.terms.bv_bin(BvBin::Add, sum, steps);
    }
    Some(sum)
}

/// How many elements a pointer has passed; something else where it does not point to an element.
fn steps(manager: &mut Manager, program: &Program, Walk { pointer, base, stride }: Walk) -> Option<TermId> {
    let bits = program.machine.size_type().bits;
    let (base, pointer) = (address(manager, program, base), variable(manager, pointer));
    let terms = &mut manager.terms;
    let distance = terms.bv_bin(BvBin::Sub, pointer, base);
    let distance = widened(terms, distance, IntTy { bits, signed: true }, INDEX)?;
    // An exact quotient: the odd part of the divisor has an inverse.
    let (even, odd) = (stride.trailing_zeros(), stride >> stride.trailing_zeros());
    let even = number(terms, even.into(), INDEX);
    let shifted = terms.bv_bin(BvBin::Ashr, distance, even);
    let inverse = number(terms, inverse(odd), INDEX);
    Some(terms.bv_bin(BvBin::Mul, inverse, shifted))
}

/// What an odd number multiplied with gives 1, modulo 2^[`INDEX`].
fn inverse(odd: i128) -> i128 {
    let odd = odd as u64;
    // Each step of Newton's method doubles the number of right bits, of which there are three.
    i128::from((0..5).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)))))
}

pub(super) fn number(terms: &mut Terms, value: i128, width: u32) -> TermId {
    let bits = IntTy { bits: width, signed: false }.wrap(value);
    terms.bv(width, bits.unsigned_abs())
}

/// A number that depends on the sample.
#[derive(Clone)]
struct Scalar {
    term: TermId,
    ty: IntTy,
    values: Vec<Option<i128>>,
}

impl Scalar {
    /// Whether it is below 0 in some samples, where it is the index of no element: often "there is none".
    fn may_be_negative(&self) -> bool {
        self.values.iter().flatten().any(|&value| value < 0)
    }
}

/// An element in a sample: the sample, the index and the value.
type Row = (usize, i128, i128);

/// A fact about the element with the index k, with how far it reaches behind it.
type Fact = (TermId, i128);

/// What facts are made of.
struct Parts {
    arrays: Vec<usize>,
    scalars: Vec<Scalar>,
    /// The conditions of the program in which elements occur.
    shapes: Vec<Shape>,
    flags: Vec<Flag>,
}

/// What is left to try if a candidate does not hold: the same fact for a smaller range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Weaker {
    pub(crate) than: TermId,
    pub(crate) candidate: TermId,
}

/// Looks for candidates at one cut point.
pub(crate) struct Search<'a> {
    manager: &'a mut Manager,
    program: &'a Program,
    layout: &'a Layout,
    samples: &'a [Sample],
    /// Whether a variable can be mentioned.
    in_scope: &'a dyn Fn(VarId) -> bool,
    /// What a run leaves out because it has something stronger.
    pub(crate) weaker: Vec<Weaker>,
}

impl<'a> Search<'a> {
    /// A search among samples.
    pub(crate) fn new(
        manager: &'a mut Manager,
        program: &'a Program,
        layout: &'a Layout,
        samples: &'a [Sample],
        in_scope: &'a dyn Fn(VarId) -> bool,
    ) -> Self {
        Search { manager, program, layout, samples, in_scope, weaker: Vec::new() }
    }

    /// The candidates that hold in all samples.
    pub(crate) fn run(&mut self) -> Vec<TermId> {
        let mut found = Vec::new();
        let arrays: Vec<usize> = (0..self.layout.arrays.len())
            .filter(|&at| self.layout.arrays[at].base.is_in_scope(self.in_scope))
            .filter(|&at| self.samples.iter().any(|sample| !sample.arrays[at].is_empty()))
            .take(ARRAYS)
            .collect();
        let origins = self.origins();
        let in_pairs = self.compares_elements(&origins);
        let parts =
            Parts { scalars: self.scalars(&arrays), shapes: self.shapes(&origins), flags: self.flags(), arrays };
        for &at in &parts.arrays {
            let ranges = self.ranges(&self.layout.arrays[at]);
            found.extend(self.passed(at));
            let mut elements = self.singles(at);
            elements.extend(self.at_ends(at, &elements));
            let singles = Singles { elements, in_pairs };
            found.extend(self.copies(at, &parts.arrays, &ranges));
            // Each fact with the ranges where it holds.
            let mut facts: IndexMap<Fact, Vec<usize>> = IndexMap::new();
            let mut weaker = facts.clone();
            let mut counts = Vec::new();
            for (number, (low, high)) in ranges.iter().enumerate() {
                let rows = self.rows(at, low, high);
                counts.push(rows.len());
                if rows.len() < 3 {
                    continue;
                }
                let (strong, weak) = self.facts_in(at, (&parts, &singles), &rows, high);
                for fact in strong {
                    facts.entry(fact).or_default().push(number);
                }
                for fact in weak {
                    weaker.entry(fact).or_default().push(number);
                }
            }
            for ((fact, reach), holds) in facts.into_iter().chain(weaker) {
                // A range with more elements says more; a greater one with the same elements is only guessed.
                let better = |range: usize| {
                    holds.iter().copied().find(|&other| {
                        let (mine, theirs) = (&ranges[range], &ranges[other]);
                        match counts[range].cmp(&counts[other]) {
                            Ordering::Less => self.is_part(mine, theirs),
                            Ordering::Equal => self.is_part(theirs, mine),
                            Ordering::Greater => false,
                        }
                    })
                };
                let best: Vec<(usize, Option<usize>)> = holds.iter().map(|&range| (range, better(range))).collect();
                let mut others = 0;
                for &(range, better) in &best {
                    let candidate = self.about(&ranges[range], reach, fact);
                    match better {
                        None if found.contains(&candidate) => {}
                        None => found.push(candidate),
                        // The better one may have a better one; that is tried first, and this if it fails, too.
                        Some(better) if others < WEAKER => {
                            others += 1;
                            let than = self.about(&ranges[better], reach, fact);
                            self.weaker.push(Weaker { than, candidate });
                        }
                        Some(_) => {}
                    }
                    if found.len() >= CANDIDATES {
                        return found;
                    }
                }
            }
        }
        found
    }

    /// The facts about the elements of an array in a range that ends at `high`, and those that come after them.
    fn facts_in(
        &mut self,
        at: usize,
        (parts, singles): (&Parts, &Singles),
        rows: &[Row],
        high: &Scalar,
    ) -> (Vec<Fact>, Vec<Fact>) {
        let Parts { arrays, scalars, shapes, flags } = parts;
        let all = self.facts(at, arrays, (scalars, singles), rows);
        let mut facts: Vec<Fact> = all.into_iter().map(|fact| (fact, 0)).collect();
        facts.extend(self.order_of_neighbours(at, rows).into_iter().map(|fact| (fact, 1)));
        let mut sometimes = Vec::new();
        let mut open: Vec<Open<'_>> = Vec::new();
        for shape in shapes {
            let truths = self.truths(at, shape, rows, high);
            match truths.as_ref().and_then(|truths| self.condition(at, shape, truths)) {
                Some(fact) => facts.push((fact, shape.reach)),
                None => {
                    sometimes.push(shape);
                    open.extend(truths.and_then(|truths| Open::new(at, shape, truths)));
                }
            }
        }
        let mine = open.len();
        // Parallel arrays: "what is not used is 0".
        for &other in arrays.iter().filter(|&&other| other > at && self.are_parallel(at, other)) {
            for shape in shapes.iter().filter(|shape| shape.is_about(&self.layout.arrays[other])) {
                let truths = self.truths(other, shape, rows, high);
                open.extend(truths.and_then(|truths| Open::new(other, shape, truths)));
            }
        }
        let mut weaker = Vec::new();
        for (before, one) in open.iter().enumerate() {
            let reach = one.shape.reach;
            for other in open[..before.min(mine)].iter().filter(|other| other.shape.reach == reach) {
                weaker.extend(self.either(rows, other, one).into_iter().map(|fact| (fact, reach)));
            }
        }
        facts.extend(self.while_flagged(at, (flags, &sometimes), rows, high));
        (facts, weaker)
    }

    /// That a fact about the index k holds in a range.
    fn about(&mut self, (low, high): &(Scalar, Scalar), reach: i128, fact: TermId) -> TermId {
        let guard = self.guard(low, high, reach);
        self.manager.terms.implies(guard, fact)
    }

    /// Whether a range is a part of another one in all samples, and smaller in some.
    fn is_part(&self, (low, high): &(Scalar, Scalar), (from, to): &(Scalar, Scalar)) -> bool {
        let mut smaller = false;
        for number in 0..self.samples.len() {
            let known = (low.values[number], high.values[number], from.values[number], to.values[number]);
            let (Some(low), Some(high), Some(from), Some(to)) = known else { continue };
            if low < high && !(from <= low && high <= to) {
                return false;
            }
            smaller |= high.max(low) - low < to - from;
        }
        smaller
    }

    /// Whether the program uses elements of two arrays that have the same index.
    fn are_parallel(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.layout.arrays[one], &self.layout.arrays[other]);
        one.uses.iter().any(|index| other.uses.contains(index))
    }

    fn constant(&mut self, value: i128) -> Scalar {
        let width = INDEX;
        let term = number(&mut self.manager.terms, value, width);
        Scalar { term, ty: IntTy { bits: width, signed: true }, values: vec![Some(value); self.samples.len()] }
    }

    fn variable(&mut self, var: VarId) -> Scalar {
        let values = self.samples.iter().map(|sample| sample.vars.get(&var).copied()).collect();
        Scalar { term: variable(self.manager, var), ty: self.program.var(var).ty, values }
    }

    /// An index that the program computes, plus a constant.
    fn computed(&mut self, index: &Index, more: i128) -> Option<Scalar> {
        let usable =
            |var: VarId| (self.in_scope)(var) && (!self.program.var(var).temporary || is_fixed(self.program, var));
        if !index.parts.iter().all(|part| part.variables(self.program).into_iter().all(usable)) {
            return None;
        }
        let is_there = |walk: &Walk| (self.in_scope)(walk.pointer) && walk.base.is_in_scope(self.in_scope);
        if !index.walk.iter().all(is_there) {
            return None;
        }
        let index = Index { constant: index.constant + more, ..index.clone() };
        let term = index_term(self.manager, self.program, &index)?;
        let ty = IntTy { bits: INDEX, signed: true };
        let value = |sample: &Sample| Some(ty.wrap(index.value(self.program, &sample.vars)?));
        Some(Scalar { term, ty, values: self.samples.iter().map(value).collect() })
    }

    /// Variables and cells that elements are compared with: those that bound ranges, and the cells.
    fn scalars(&mut self, arrays: &[usize]) -> Vec<Scalar> {
        let mut vars: Vec<VarId> = Vec::new();
        for &at in arrays {
            vars.extend(self.bounding(&self.layout.arrays[at]));
        }
        let written = self.program.edges.iter().filter_map(|edge| match edge.op {
            Op::Store { value, .. } => Some(self.program.exprs.vars(value)),
            _ => None,
        });
        let stored: Vec<VarId> = written.flatten().filter(|&var| self.is_number(var)).collect();
        vars.extend(stored);
        vars.extend(interesting_variables(self.program, &|var| self.is_number(var)));
        let mut seen = BTreeSet::new();
        vars.retain(|&var| seen.insert(var));
        let mut result: Vec<Scalar> = vars.into_iter().take(SCALARS).map(|var| self.variable(var)).collect();
        for at in cells(self.layout, self.in_scope).take(SCALARS) {
            result.push(cell(self.manager, self.layout, at, self.samples));
        }
        result
    }

    fn is_number(&self, var: VarId) -> bool {
        is_number(self.program, self.layout, self.in_scope, var)
    }

    fn bounding(&self, array: &Array) -> Vec<VarId> {
        bounding(self.program, self.layout, self.in_scope, array)
    }

    fn ranges(&mut self, array: &Array) -> Vec<(Scalar, Scalar)> {
        let vars = self.bounding(array);
        let mut constants: BTreeSet<i128> = array.lengths.iter().copied().collect();
        for edge in &self.program.edges {
            let Op::Assume { cond, .. } = edge.op else { continue };
            if self.program.exprs.vars(cond).iter().any(|var| vars.contains(var)) {
                constants_in(self.program, cond, &mut |value| {
                    if value > 1 {
                        constants.insert(value);
                    }
                });
            }
        }
        let mut inner: Vec<Scalar> = vars.iter().map(|&var| self.variable(var)).collect();
        for index in &array.uses {
            for more in [0, 1] {
                inner.extend(self.computed(index, more));
            }
            for row in index.rows() {
                inner.extend(self.computed(&row, 0));
            }
        }
        for size in &array.sizes {
            inner.extend(self.computed(size, 0));
        }
        // Conversions of an index are mostly what it was.
        let mut values = BTreeSet::new();
        inner.retain(|scalar| scalar.ty.bits <= INDEX && values.insert(scalar.values.clone()));
        let outer: Vec<Scalar> = constants.into_iter().take(4).map(|value| self.constant(value)).collect();
        let zero = self.constant(0);
        let mut ranges: Vec<(Scalar, Scalar)> = Vec::new();
        for high in inner.iter().chain(&outer) {
            ranges.push((zero.clone(), high.clone()));
        }
        for low in &inner {
            for high in outer.iter().chain(&inner).filter(|high| high.term != low.term) {
                ranges.push((low.clone(), high.clone()));
            }
        }
        let mut seen = BTreeSet::new();
        ranges.retain(|(low, high)| seen.insert((low.term, high.term)));
        ranges.truncate(RANGES);
        ranges
    }

    /// How many elements pointers have passed that go along an array: none less than 0, and at most what else is known to count.
    fn passed(&mut self, at: usize) -> Vec<TermId> {
        let array = &self.layout.arrays[at];
        let walks: Vec<&Index> = array.uses.iter().filter(|index| index.walk.is_some()).take(WALKS).collect();
        if walks.is_empty() {
            return Vec::new();
        }
        let mut counts: Vec<Scalar> = self.bounding(array).into_iter().map(|var| self.variable(var)).collect();
        for size in &array.sizes {
            counts.extend(self.computed(size, 0));
        }
        for &length in &array.lengths {
            counts.push(self.constant(length));
        }
        let zero = self.constant(0);
        let mut facts = Vec::new();
        for index in walks {
            let Some(passed) = self.computed(index, 0) else { continue };
            let pairs = counts.iter().map(|count| (&passed, count)).chain([(&zero, &passed)]);
            for (less, more) in pairs {
                let known = less.values.iter().zip(&more.values).filter_map(|(less, more)| Some((*less)? <= (*more)?));
                let known: Vec<bool> = known.collect();
                let terms = &mut self.manager.terms;
                let both = (widened(terms, less.term, less.ty, INDEX), widened(terms, more.term, more.ty, INDEX));
                if let (Some(less), Some(more)) = both
                    && known.len() >= 3
                    && known.iter().all(|&is_less| is_less)
                {
                    facts.push(terms.bv_cmp(BvCmp::Sle, less, more));
                }
            }
        }
        facts
    }

    /// The elements of an array in a range, as sample, index and value.
    fn rows(&self, at: usize, low: &Scalar, high: &Scalar) -> Vec<Row> {
        let mut rows = Vec::new();
        let first = if low.may_be_negative() { 0 } else { i128::MIN };
        for (number, sample) in self.samples.iter().enumerate() {
            let (Some(low), Some(high)) = (low.values[number], high.values[number]) else { continue };
            let low = low.max(first);
            let inside = sample.arrays[at].iter().filter(|(index, _)| low <= *index && *index < high);
            rows.extend(inside.map(|&(index, value)| (number, index, value)));
        }
        rows
    }

    /// The k of facts about all elements.
    fn any_index(&mut self) -> TermId {
        let symbol = index(&mut self.manager.terms);
        self.manager.terms.var(symbol, 0)
    }

    /// The k as a number of so many bits.
    fn any_index_of(&mut self, bits: u32) -> TermId {
        let k = self.any_index();
        match INDEX.cmp(&bits) {
            Ordering::Less => self.manager.terms.sext(bits, k),
            Ordering::Equal => k,
            Ordering::Greater => self.manager.terms.extract(bits - 1, 0, k),
        }
    }

    /// That k and what is `reach` elements behind it are in a range of elements.
    fn guard(&mut self, low: &Scalar, high: &Scalar, reach: i128) -> TermId {
        let width = INDEX;
        let k = self.any_index();
        let may_be_negative = low.may_be_negative();
        let terms = &mut self.manager.terms;
        // Scalars that are wider were left out.
        let low = widened(terms, low.term, low.ty, width).unwrap_or(k);
        let high = widened(terms, high.term, high.ty, width).unwrap_or(k);
        let reach = number(terms, reach, width);
        let last = terms.bv_bin(BvBin::Sub, high, reach);
        let above = terms.bv_cmp(BvCmp::Sle, low, k);
        let below = terms.bv_cmp(BvCmp::Slt, k, last);
        let inside = terms.and(above, below);
        if !may_be_negative {
            return inside;
        }
        let zero = number(terms, 0, width);
        let exists = terms.bv_cmp(BvCmp::Sle, zero, k);
        terms.and(exists, inside)
    }

    /// The element of an array with the index k.
    fn element(&mut self, at: usize) -> TermId {
        self.element_at(at, 1, 0)
    }

    /// The element of an array with an index that depends linearly on k.
    fn element_at(&mut self, at: usize, factor: i128, more: i128) -> TermId {
        let k = self.any_index();
        let base = base_of(self.manager, self.program, &self.layout.arrays[at]);
        element_of(self.manager, self.program, &self.layout.arrays[at], base, (factor, more), k)
    }
}

/// Whether a temporary variable is computed once, outside of loops, and not loaded, such as the size of an array.
fn is_fixed(program: &Program, temporary: VarId) -> bool {
    let mut assigned =
        program.edges.iter().filter(|edge| matches!(edge.op, Op::Assign { var, .. } if var == temporary));
    let loaded = program.edges.iter().any(|edge| matches!(edge.op, Op::Load { var, .. } if var == temporary));
    let once = assigned.next().is_some_and(|edge| program.loops.innermost(edge.src).is_none());
    once && assigned.next().is_none() && !loaded
}

/// Whether a variable holds a number and can be mentioned.
fn is_number(program: &Program, layout: &Layout, in_scope: &dyn Fn(VarId) -> bool, var: VarId) -> bool {
    let points = layout.arrays.iter().any(|array| array.base == Base::Pointer(var));
    is_usable(program, in_scope, var) && !points
}

/// The variables in indices of an array, those that these are compared with, and those that these are compared with in turn.
pub(super) fn bounding(
    program: &Program,
    layout: &Layout,
    in_scope: &dyn Fn(VarId) -> bool,
    array: &Array,
) -> Vec<VarId> {
    let usable = |var: VarId| is_number(program, layout, in_scope, var);
    let mut found: IndexSet<VarId> = array.indices.iter().copied().collect();
    // An index such as i++ is what i was before.
    for edge in &program.edges {
        if let Op::Assign { var, value } = edge.op
            && program.var(var).temporary
            && array.indices.contains(&var)
        {
            found.extend(program.exprs.vars(value));
        }
    }
    for _ in 0..2 {
        let known = found.clone();
        for edge in &program.edges {
            let Op::Assume { cond, .. } = edge.op else { continue };
            let compared = program.exprs.vars(cond);
            if compared.iter().any(|var| known.contains(var)) {
                found.extend(compared);
            }
        }
    }
    found.into_iter().filter(|&var| usable(var)).take(BOUNDS).collect()
}

/// The address where an array begins, without its offset.
pub(super) fn base_of(manager: &mut Manager, program: &Program, array: &Array) -> TermId {
    address(manager, program, array.base)
}

fn address(manager: &mut Manager, program: &Program, base: Base) -> TermId {
    match base {
        Base::Address(addr) => number(&mut manager.terms, addr, program.machine.size_type().bits),
        Base::Pointer(var) => variable(manager, var),
    }
}

/// The element of an array at `base` whose index is a linear function of an index of [`INDEX`] bits.
pub(super) fn element_of(
    manager: &mut Manager,
    program: &Program,
    array: &Array,
    base: TermId,
    (factor, more): (i128, i128),
    index: TermId,
) -> TermId {
    let addr = address_of(&mut manager.terms, program, array, base, (factor, more), index);
    manager.encoder.read(&mut manager.terms, array.region, addr, array.ty.bits)
}

/// Where that element is.
pub(super) fn address_of(
    terms: &mut Terms,
    program: &Program,
    array: &Array,
    base: TermId,
    (factor, more): (i128, i128),
    index: TermId,
) -> TermId {
    let width = program.machine.size_type().bits;
    let index = if width < INDEX { terms.extract(width - 1, 0, index) } else { index };
    let stride = number(terms, factor * array.stride, width);
    let distance = terms.bv_bin(BvBin::Mul, stride, index);
    let offset = number(terms, array.offset + more * array.stride, width);
    let distance = terms.bv_bin(BvBin::Add, distance, offset);
    terms.bv_bin(BvBin::Add, base, distance)
}

/// A cell with its values in the samples.
fn cell(manager: &mut Manager, layout: &Layout, at: usize, samples: &[Sample]) -> Scalar {
    let (term, ty) = cell_term(manager, layout, at);
    Scalar { term, ty, values: samples.iter().map(|sample| sample.cells[at]).collect() }
}

/// The cells of the layout whose places can be mentioned.
pub(super) fn cells<'a>(layout: &'a Layout, in_scope: &'a dyn Fn(VarId) -> bool) -> impl Iterator<Item = usize> + 'a {
    (0..layout.cells.len()).filter(|&at| layout.cells[at].base.is_in_scope(in_scope))
}

/// The value of a cell of the layout, and its type.
pub(crate) fn cell_term(manager: &mut Manager, layout: &Layout, at: usize) -> (TermId, IntTy) {
    let cell = layout.cells[at];
    let width = manager.encoder.program().machine.size_type().bits;
    let base = match cell.base {
        Base::Address(base) => number(&mut manager.terms, base, width),
        Base::Pointer(var) => variable(manager, var),
    };
    let offset = number(&mut manager.terms, cell.offset, width);
    let addr = manager.terms.bv_bin(BvBin::Add, base, offset);
    (manager.encoder.read(&mut manager.terms, cell.region, addr, cell.ty.bits), cell.ty)
}
