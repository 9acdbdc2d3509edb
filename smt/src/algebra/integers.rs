// SPDX-License-Identifier: Apache-2.0
//! Formulas over bit-vectors as formulas over mathematical integers, for contradictions that need linear arithmetic with
//! sums and multiples, which are hard to find with circuits for adders.
//!
//! A bit-vector of `w` bits becomes an integer that is congruent to it modulo 2^w, with an interval in which it lies. Sums and
//! multiples stay as they are; only where the number itself matters (comparisons, extensions, quotients) and the interval says
//! that it may be out of range, a multiple of 2^w is subtracted, how often is a new variable. Intervals of variables come from
//! comparisons that the whole formula implies. What has no meaning there (bitwise operations, products of unknowns) is a new
//! variable in the range of its width, and a condition about anything else a new truth value. A read of memory is such a
//! variable, too, and equal indices mean equal elements (Ackermann's reduction). Every model of the formula is one of the
//! result with suitable values of the new variables. A model of the result is often one of the formula, too: that is for the
//! formula to say.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::{Bounds, SIZE};
use crate::solver::Model;
use crate::term::semantics::mask;
use crate::term::{BvBin, BvCmp, BvUn, Sort, SymId, Term, TermId, Terms, Value};

/// Integers grow up to so many bits before they are reduced, and no multiple has more than this, so that bounds can be added.
const MOST_BITS: u32 = 100;
const MULTIPLE_BITS: u32 = 120;
/// Wider bit-vectors have no integer.
const WIDEST: u32 = 96;
/// How many reads of an array are compared with each other.
const READS: usize = 48;

/// A formula over integers for one over bit-vectors.
#[derive(Clone, Debug)]
pub struct InIntegers {
    /// If this has no model, the given formula has none.
    pub formula: TermId,
    /// Bit-vectors by symbol and index, with their widths and integers.
    numbers: Vec<((SymId, u32), u32, TermId)>,
    /// Reads of arrays: the array, the integers of index and element.
    reads: Vec<((SymId, u32), TermId, TermId)>,
    /// Truth values, which stay what they are.
    conditions: Vec<(SymId, u32)>,
}

impl InIntegers {
    /// What a model of the formula over integers says about the symbols of the formula over bit-vectors. This need not be a
    /// model of that formula. None if a number has more than 128 bits.
    pub fn model_of_bits(&self, terms: &Terms, integers: &Model<'_>) -> Option<Model<'static>> {
        let of_numbers = self.numbers.iter().map(|&(_, _, integer)| integer);
        let of_reads = self.reads.iter().flat_map(|&(_, at, element)| [at, element]);
        let evaluated = integers.values(terms, &of_numbers.chain(of_reads).collect::<Vec<TermId>>())?;
        let mut evaluated = evaluated.into_iter().map(|value| match value {
            Value::Int(number) => Some(number.cast_unsigned()),
            Value::Bool(_) | Value::Bv { .. } | Value::Array(_) => None,
        });
        let mut values: FxHashMap<(SymId, u32), Value> = FxHashMap::default();
        for &(var, width, _) in &self.numbers {
            values.insert(var, Value::Bv { width, bits: evaluated.next()?? & mask(width) });
        }
        for &(array, ..) in &self.reads {
            let (at, element) = (evaluated.next()??, evaluated.next()??);
            let Value::Array(old) = values.remove(&array).unwrap_or_else(|| terms.default_value(array.0)) else {
                return None;
            };
            values.insert(array, Value::Array(old.with(at, element)));
        }
        for &(sym, index) in &self.conditions {
            values.insert((sym, index), integers.value(terms, sym, index)?);
        }
        Some(Model::new(values))
    }
}

/// The formula over integers. None if that is large or has neither sums nor reads.
pub fn in_integers(terms: &mut Terms, formula: TermId) -> Option<InIntegers> {
    let order = terms.post_order(&[formula], |_| false);
    let is_reason = |&t: &TermId| matches!(terms.get(t), Term::BvBin(BvBin::Add | BvBin::Mul, ..) | Term::Select(..));
    if order.len() > SIZE || !order.iter().any(is_reason) {
        return None;
    }
    let parts = terms.conjuncts(formula);
    let bounds = Bounds::new(terms, &parts).propagated(terms);
    let mut integers = Integers { bounds, ..Integers::default() };
    let var = |terms: &Terms, t: TermId| match *terms.get(t) {
        Term::Var { sym, index } => Some((sym, index)),
        _ => None,
    };
    let (mut numbers, mut conditions) = (Vec::new(), Vec::new());
    for t in order {
        match terms.sort(t) {
            Sort::Bool => {
                let new = integers.condition(terms, t);
                integers.conditions.insert(t, new);
                conditions.extend(var(terms, t));
            }
            Sort::Bv(width) if width <= WIDEST => {
                let new = integers.number(terms, t, width);
                integers.numbers.insert(t, new);
                numbers.extend(var(terms, t).map(|var| (var, width, new.term)));
            }
            _ => {}
        }
    }
    let mut reads = Vec::new();
    for (&array, of_array) in &integers.reads {
        let array = var(terms, array).expect("only reads of array variables are noted");
        reads.extend(of_array.iter().map(|read| (array, integers.of(read.index).term, read.element.term)));
    }
    integers.compare_reads(terms);
    let whole = integers.conditions[&formula];
    integers.ranges.push(whole);
    let formula = terms.and_all(&integers.ranges);
    Some(InIntegers { formula, numbers, reads, conditions })
}

/// An integer that lies between two numbers.
#[derive(Clone, Copy, Debug)]
struct Number {
    term: TermId,
    low: i128,
    high: i128,
}

/// A read of an array variable.
#[derive(Clone, Copy, Debug)]
struct Read {
    index: TermId,
    element: Number,
}

#[derive(Default)]
struct Integers {
    /// What the formula says about its terms.
    bounds: Bounds,
    /// What bit-vectors became: congruent modulo two to the power of their width.
    numbers: FxHashMap<TermId, Number>,
    conditions: FxHashMap<TermId, TermId>,
    /// What the new variables meet.
    ranges: Vec<TermId>,
    /// Numbers in the range of their width, signed or not.
    reduced: FxHashMap<(TermId, u32, bool), Number>,
    /// The reads of each array variable.
    reads: IndexMap<TermId, Vec<Read>>,
    fresh: u32,
}

fn power(width: u32) -> i128 {
    1 << width
}

impl Integers {
    fn fresh(&mut self, terms: &mut Terms, low: i128, high: i128) -> Number {
        let symbol = terms.symbol("integer!", Sort::Int);
        let term = terms.var(symbol, self.fresh);
        self.fresh += 1;
        self.between(terms, Number { term, low, high })
    }

    /// Notes that a number lies in its interval.
    fn between(&mut self, terms: &mut Terms, number: Number) -> Number {
        let (low, high) = (terms.int(number.low), terms.int(number.high));
        let bounds = [terms.int_le(low, number.term), terms.int_le(number.term, high)];
        self.ranges.extend(bounds);
        number
    }

    fn constant(terms: &mut Terms, value: i128) -> Number {
        Number { term: terms.int(value), low: value, high: value }
    }

    /// Any number that a bit-vector may be.
    fn any(&mut self, terms: &mut Terms, t: TermId) -> Number {
        let (low, high) = self.bounds.range(terms, t, true);
        // No number is between contradicting bounds, which are in the formula.
        let (low, high) = if low <= high { (low, high) } else { (low, low) };
        self.fresh(terms, low, high)
    }

    /// The number that the bits mean, in two's complement or not.
    fn exact(&mut self, terms: &mut Terms, number: Number, width: u32, signed: bool) -> Number {
        let least = if signed { -power(width - 1) } else { 0 };
        let (from, to) = ((number.low - least) >> width, (number.high - least) >> width);
        if let Some(&known) = self.reduced.get(&(number.term, width, signed)) {
            return known;
        }
        let times = if from == to { Self::constant(terms, from) } else { self.fresh(terms, from, to) };
        let multiple = terms.int_mul_const(power(width), times.term);
        let term = terms.int_sub(number.term, multiple);
        let (mut low, mut high) = (least, least + power(width) - 1);
        if from == to {
            (low, high) = (number.low - (from << width), number.high - (from << width));
        }
        let result = Number { term, low, high };
        if from != to {
            self.between(terms, result);
        }
        self.reduced.insert((number.term, width, signed), result);
        result
    }

    fn of(&self, t: TermId) -> Number {
        self.numbers[&t]
    }

    fn signed(&mut self, terms: &mut Terms, t: TermId) -> Number {
        self.exact(terms, self.of(t), terms.width(t), true)
    }

    fn unsigned(&mut self, terms: &mut Terms, t: TermId) -> Number {
        self.exact(terms, self.of(t), terms.width(t), false)
    }

    fn sum(terms: &mut Terms, a: Number, b: Number) -> Number {
        Number { term: terms.int_add(a.term, b.term), low: a.low + b.low, high: a.high + b.high }
    }

    fn multiple(terms: &mut Terms, factor: i128, a: Number) -> Option<Number> {
        let ends = [a.low.checked_mul(factor)?, a.high.checked_mul(factor)?];
        if ends.iter().any(|end| end.unsigned_abs() > power(MULTIPLE_BITS).unsigned_abs()) {
            return None;
        }
        let term = terms.int_mul_const(factor, a.term);
        Some(Number { term, low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) })
    }

    /// The greatest integer that is not greater than the quotient by a positive number.
    fn quotient(terms: &mut Terms, a: Number, by: i128) -> Number {
        Number { term: terms.int_div(a.term, by), low: a.low.div_euclid(by), high: a.high.div_euclid(by) }
    }

    fn number(&mut self, terms: &mut Terms, t: TermId, width: u32) -> Number {
        let result = self.arithmetic(terms, t, width).unwrap_or_else(|| self.any(terms, t));
        // What grows is reduced, so that the bounds stay numbers.
        if result.low < -power(MOST_BITS) || result.high > power(MOST_BITS) {
            return self.exact(terms, result, width, true);
        }
        result
    }

    /// What a bit-vector is; none for what is not arithmetic.
    fn arithmetic(&mut self, terms: &mut Terms, t: TermId, width: u32) -> Option<Number> {
        let known = |this: &Self, t: TermId| this.numbers.get(&t).copied();
        let negative = |bits: u128| {
            let bits = bits.cast_signed();
            if bits >= power(width - 1) { bits - power(width) } else { bits }
        };
        Some(match *terms.get(t) {
            Term::Bv { bits, .. } => Self::constant(terms, negative(bits)),
            Term::Ite(condition, a, b) => {
                let (a, b) = (known(self, a)?, known(self, b)?);
                let condition = self.conditions[&condition];
                let term = terms.ite(condition, a.term, b.term);
                Number { term, low: a.low.min(b.low), high: a.high.max(b.high) }
            }
            Term::BvUn(op, a) => {
                let negated = Self::multiple(terms, -1, known(self, a)?)?;
                match op {
                    BvUn::Neg => negated,
                    BvUn::Not => {
                        let one = Self::constant(terms, -1);
                        Self::sum(terms, negated, one)
                    }
                }
            }
            Term::BvBin(op, a, b) => {
                let constant = terms.as_bv(b);
                match (op, constant) {
                    (BvBin::Add, _) => Self::sum(terms, known(self, a)?, known(self, b)?),
                    (BvBin::Sub, _) => {
                        let negated = Self::multiple(terms, -1, known(self, b)?)?;
                        Self::sum(terms, known(self, a)?, negated)
                    }
                    (BvBin::Mul, Some(factor)) => Self::multiple(terms, negative(factor), known(self, a)?)?,
                    (BvBin::Shl, Some(by)) if by < u128::from(width) => {
                        Self::multiple(terms, 1 << by, known(self, a)?)?
                    }
                    (BvBin::Lshr, Some(by)) if by < u128::from(width) => {
                        let a = self.unsigned(terms, a);
                        Self::quotient(terms, a, 1 << by)
                    }
                    (BvBin::Ashr, Some(by)) if by < u128::from(width) => {
                        let a = self.signed(terms, a);
                        Self::quotient(terms, a, 1 << by)
                    }
                    (BvBin::Udiv, Some(by)) if by != 0 => {
                        let a = self.unsigned(terms, a);
                        Self::quotient(terms, a, by.cast_signed())
                    }
                    (BvBin::Urem, Some(by)) if by != 0 => {
                        let a = self.unsigned(terms, a);
                        self.rest(terms, a, by.cast_signed())
                    }
                    // The lowest bits.
                    (BvBin::And, Some(mask)) if mask < u128::MAX && (mask + 1).is_power_of_two() => {
                        let a = self.unsigned(terms, a);
                        self.rest(terms, a, (mask + 1).cast_signed())
                    }
                    _ => return None,
                }
            }
            Term::Extract { lo: 0, arg, .. } => known(self, arg)?,
            Term::Extract { lo, arg, .. } => {
                known(self, arg)?;
                let arg = self.unsigned(terms, arg);
                Self::quotient(terms, arg, power(lo))
            }
            Term::Zext { arg, .. } => self.unsigned(terms, arg),
            Term::Sext { arg, .. } => self.signed(terms, arg),
            Term::Concat(high, low) => {
                let shift = terms.width(low);
                let high = Self::multiple(terms, power(shift), known(self, high)?)?;
                let low = self.unsigned(terms, low);
                Self::sum(terms, high, low)
            }
            Term::Select(array, index) if matches!(terms.get(array), Term::Var { .. }) => {
                known(self, index)?;
                let element = self.any(terms, t);
                self.reads.entry(array).or_default().push(Read { index, element });
                element
            }
            _ => return None,
        })
    }

    /// Notes that equal indices mean equal elements.
    fn compare_reads(&mut self, terms: &mut Terms) {
        for reads in std::mem::take(&mut self.reads).into_values() {
            let reads = &reads[..reads.len().min(READS)];
            for (at, one) in reads.iter().enumerate() {
                for other in &reads[..at] {
                    let width = terms.width(one.index);
                    let distance = terms.int_sub(self.of(one.index).term, self.of(other.index).term);
                    let apart = terms.as_int(distance).map(|distance| distance.rem_euclid(power(width)) != 0);
                    let same_index = match apart {
                        Some(true) => continue,
                        Some(false) => Terms::tru(),
                        None => self.equal(terms, one.index, other.index, width),
                    };
                    let same_element = terms.eq(one.element.term, other.element.term);
                    self.ranges.push(terms.implies(same_index, same_element));
                }
            }
        }
    }

    fn rest(&mut self, terms: &mut Terms, a: Number, by: i128) -> Number {
        if a.low >= 0 && a.high < by {
            return a;
        }
        Number { term: terms.int_mod(a.term, by), low: 0, high: by - 1 }
    }

    fn condition(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        match *terms.get(t) {
            Term::Eq(a, b) => match terms.sort(a) {
                Sort::Bool => {
                    let (a, b) = (self.conditions[&a], self.conditions[&b]);
                    terms.eq(a, b)
                }
                Sort::Bv(width) if width <= WIDEST => self.equal(terms, a, b, width),
                _ => self.unknown(terms),
            },
            Term::BvCmp(op, a, b) if terms.width(a) <= WIDEST => {
                let signed = matches!(op, BvCmp::Sle | BvCmp::Slt);
                let (a, b) = if signed {
                    (self.signed(terms, a), self.signed(terms, b))
                } else {
                    (self.unsigned(terms, a), self.unsigned(terms, b))
                };
                if matches!(op, BvCmp::Slt | BvCmp::Ult) {
                    terms.int_lt(a.term, b.term)
                } else {
                    terms.int_le(a.term, b.term)
                }
            }
            Term::True | Term::False | Term::Var { .. } => t,
            Term::Not(_) | Term::And(_) | Term::Or(_) | Term::Ite(..) => {
                terms.rebuild(t, |child| self.conditions[&child])
            }
            _ => self.unknown(terms),
        }
    }

    fn equal(&mut self, terms: &mut Terms, a: TermId, b: TermId, width: u32) -> TermId {
        let fits = |number: Number, least: i128| number.low >= least && number.high < least + power(width);
        let (x, y) = (self.of(a), self.of(b));
        if [-power(width - 1), 0].into_iter().any(|least| fits(x, least) && fits(y, least)) {
            return terms.eq(x.term, y.term);
        }
        let (x, y) = (self.signed(terms, a), self.signed(terms, b));
        terms.eq(x.term, y.term)
    }

    /// A new truth value.
    fn unknown(&mut self, terms: &mut Terms) -> TermId {
        let symbol = terms.symbol("condition!", Sort::Bool);
        self.fresh += 1;
        terms.var(symbol, self.fresh - 1)
    }
}
