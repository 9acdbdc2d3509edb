// SPDX-License-Identifier: Apache-2.0
//! Candidates for contracts: bounds, comparisons and parities, and equations that hold in sample runs, also those that hold for a
//! part of the arguments only. What a function returns is computed without overflow if it is in the range of its type, so a
//! candidate for what holds at the calls is that the right side of an equation is in that range.
//!
//! Equations are found as in `algo-kind`: the null space of the samples, over parameters, products of two of them, and powers of
//! two. Nothing here needs to be right.

use std::collections::BTreeSet;

use algo_kind::invariants::nullspace::{independent, null_space};
use cfa::Program;
use cfa::ids::ExprId;
use cfa::ir::{CmpOp, IntTy, Op};
use cpa_predicate::Manager;
use smt::{BvBin, BvCmp, BvUn, Term, TermId, Terms};

use crate::sample::Activation;
use crate::signature::{Atom, Signature};

/// How many constants numbers are compared with, and where conditions divide the arguments.
const CONSTANTS: usize = 32;
const DIVIDING: usize = 12;
/// How many of the closest constants are bounds; also where conditions divide the arguments.
const CLOSEST: usize = 6;
const CLOSEST_DIVIDED: usize = 2;
/// How many numbers before and after a call are looked at.
const NUMBERS: usize = 8;
/// How many of the arguments are divided by conditions or multiplied.
const FEW: usize = 3;
/// Samples that an equation needs beyond its unknowns.
const MORE: usize = 3;
/// How many moduli there are, and how great they may be.
const MODULI: usize = 3;
const GREATEST_MODULUS: i128 = 64;
/// Values beyond it do not take part in equations.
const LARGE: i128 = 1 << 40;
/// The greatest exponent of two in equations.
const EXPONENT: i128 = 36;
/// How many values a parameter has at most whose values are looked at one by one, if it is the only one and if it is not.
const TABLE: i128 = 64;
const CASES: i128 = 8;
/// Other parameters have values up to it in the calls that are computed for these.
const GRID: i128 = 6;
/// How many calls are computed.
const CALLS: usize = 400;
/// Bits of the numbers that other parameters may be less than.
const BITS: [u32; 9] = [8, 12, 16, 20, 24, 26, 28, 29, 30];
/// Bits that coefficients and sums may add.
const ROOM: u32 = 8;
/// The greatest width of a constant.
const WIDEST: u32 = 128;

/// Facts that may hold at all calls of a function, over its atoms.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Facts {
    /// When it is entered.
    pub(crate) before: Vec<TermId>,
    /// When it returns, also about the numbers when it was entered.
    pub(crate) after: Vec<TermId>,
}

/// What equations are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Monomial {
    Before(usize),
    After(usize),
    Product(usize, usize),
    PowerOfTwo(usize),
}

impl Monomial {
    fn is_nonlinear(&self) -> bool {
        matches!(self, Monomial::Product(..) | Monomial::PowerOfTwo(_))
    }
}

/// A parameter that is known to have few values: its position, and the least and the greatest one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Narrow {
    at: usize,
    low: i128,
    high: i128,
}

/// Makes candidates for one function.
pub(crate) struct Guesser<'a> {
    manager: &'a mut Manager,
    signature: &'a Signature,
    samples: &'a [Activation],
    /// What numbers are compared with.
    constants: Vec<i128>,
    moduli: Vec<i128>,
    /// The positions of the numbers before and after a call.
    before: Vec<usize>,
    after: Vec<usize>,
}

impl<'a> Guesser<'a> {
    pub(crate) fn new(
        manager: &'a mut Manager,
        program: &Program,
        signature: &'a Signature,
        samples: &'a [Activation],
    ) -> Self {
        let numbers =
            |atoms: &[Atom]| -> Vec<usize> { (0..atoms.len()).filter(|&at| atoms[at].numeric).take(NUMBERS).collect() };
        let (before, after) = (numbers(&signature.before), numbers(&signature.after));
        let constants = constants(program);
        let moduli = constants.iter().copied().filter(|c| (3..=GREATEST_MODULUS).contains(c)).take(MODULI).collect();
        Self { manager, signature, samples, constants: bounds(&constants), moduli, before, after }
    }

    /// Candidates that are linear.
    pub(crate) fn linear(&mut self) -> Facts {
        let mut facts = Facts::default();
        let all: Vec<&Activation> = self.samples.iter().collect();
        self.bounds_before(&mut facts.before);
        self.bounds_after(&all, CLOSEST, &mut facts.after);
        self.parities(&mut facts.after);
        let linear = self.arguments();
        self.equations(&linear, &all, &mut facts);
        tidied(self.manager, facts)
    }

    /// Candidates that are linear where a condition on the arguments holds; without what is known to hold everywhere.
    pub(crate) fn divided(&mut self, known: &Facts) -> Facts {
        let mut facts = Facts::default();
        let linear = self.arguments();
        for (guard, some) in self.divisions() {
            let mut there = Facts::default();
            self.bounds_after(&some, CLOSEST_DIVIDED, &mut there.after);
            self.equations(&linear, &some, &mut there);
            there.after.retain(|fact| !known.after.contains(fact));
            facts.after.extend(there.after.into_iter().map(|fact| self.manager.terms.implies(guard, fact)));
        }
        tidied(self.manager, facts)
    }

    /// Candidates with products and powers of two.
    pub(crate) fn nonlinear(&mut self) -> Facts {
        let mut facts = Facts::default();
        let all: Vec<&Activation> = self.samples.iter().collect();
        let mut vectors = vec![vec![1; all.len()]];
        vectors.extend(self.before.iter().map(|&at| all.iter().map(|sample| sample.before[at]).collect()));
        let few: Vec<usize> =
            independent(&vectors).into_iter().filter(|&at| at > 0).map(|at| self.before[at - 1]).take(FEW).collect();
        let linear = self.arguments();
        let mut products = linear.clone();
        for (at, &a) in few.iter().enumerate() {
            products.extend(few[at..].iter().map(|&b| Monomial::Product(a, b)));
        }
        self.equations(&products, &all, &mut facts);
        for &at in &few {
            let mut powers = linear.clone();
            powers.push(Monomial::PowerOfTwo(at));
            self.equations(&powers, &all, &mut facts);
        }
        tidied(self.manager, facts)
    }

    /// The parameter of whose values each has a case of its own, if one is known to have few.
    pub(crate) fn narrow(&mut self, known: &Facts) -> Option<Narrow> {
        let is_only = self.before.len() == 1;
        let most = if is_only { TABLE } else { CASES };
        self.before.clone().into_iter().take(FEW).find_map(|at| {
            let atom = self.signature.before[at];
            let constants: Vec<i128> = self.constants.iter().copied().filter(|&c| in_range(atom.ty, c)).collect();
            let at_most = |guesser: &mut Self, c: i128| known.before.contains(&guesser.compared(atom, CmpOp::Le, c));
            let high = constants.iter().copied().filter(|&c| at_most(self, c)).min()?;
            let at_least = |guesser: &mut Self, c: i128| known.before.contains(&guesser.not_less(atom, c));
            let low = constants.iter().copied().filter(|&c| at_least(self, c)).max();
            // Below what is looked at, the function may simply return.
            let low = if is_only { low.unwrap_or(i128::MIN).max(high - TABLE + 1) } else { low? };
            (low <= high && high - low < most).then_some(Narrow { at, low, high })
        })
    }

    /// Arguments of calls that are worth being computed.
    pub(crate) fn grid(&self, narrow: Narrow) -> Vec<Vec<i128>> {
        let mut grid = vec![vec![0; self.signature.before.len()]];
        for &at in &self.before {
            let values = if at == narrow.at { narrow.low..=narrow.high } else { 0..=GRID };
            grid = values
                .flat_map(|value| {
                    grid.iter().map(move |row| {
                        let mut row = row.clone();
                        row[at] = value;
                        row
                    })
                })
                .collect();
            if grid.len() > CALLS {
                return Vec::new();
            }
        }
        grid
    }

    /// Candidates for each value of a parameter that has few; the samples are calls of the grid.
    pub(crate) fn cases(&mut self, narrow: Narrow) -> Facts {
        let mut facts = self.linear();
        let atom = self.signature.before[narrow.at];
        let others: Vec<usize> = self.before.iter().copied().filter(|&at| at != narrow.at).collect();
        for value in narrow.low..=narrow.high {
            let some: Vec<&Activation> =
                self.samples.iter().filter(|sample| sample.before[narrow.at] == value).collect();
            let mut there = Facts::default();
            if let ([only], true) = (&some[..], others.is_empty()) {
                for (number, result) in only.after.iter().flatten().enumerate() {
                    there.after.push(self.compared(self.signature.after[number], CmpOp::Eq, *result));
                }
            }
            let linear: Vec<Monomial> = others.iter().map(|&at| Monomial::Before(at)).collect();
            self.equations(&linear, &some, &mut there);
            for &at in &others {
                self.equations(&[Monomial::PowerOfTwo(at)], &some, &mut there);
                self.bounds_of_case(at, &mut there.before);
            }
            let guard = self.compared(atom, CmpOp::Eq, value);
            for (from, to) in [(there.before, &mut facts.before), (there.after, &mut facts.after)] {
                to.extend(from.into_iter().map(|fact| self.manager.terms.implies(guard, fact)));
            }
        }
        tidied(self.manager, facts)
    }

    /// What another parameter may be at most: the greatest constants, and numbers of some bits.
    fn bounds_of_case(&mut self, at: usize, out: &mut Vec<TermId>) {
        let atom = self.signature.before[at];
        let mut bounds: Vec<i128> = self.constants.iter().copied().filter(|&constant| constant > 0).collect();
        bounds.extend(BITS.map(|bits| (1 << bits) - 1));
        for bound in bounds.into_iter().filter(|&bound| in_range(atom.ty, bound)) {
            out.push(self.compared(atom, CmpOp::Le, bound));
        }
    }

    fn arguments(&self) -> Vec<Monomial> {
        self.before.iter().map(|&at| Monomial::Before(at)).collect()
    }

    /// Conditions on arguments that divide the samples, with the samples for which they hold.
    fn divisions(&mut self) -> Vec<(TermId, Vec<&'a Activation>)> {
        let mut divisions = Vec::new();
        let samples = self.samples;
        for at in self.before.clone().into_iter().take(FEW) {
            let atom = self.signature.before[at];
            let constants: Vec<i128> = self.constants.iter().copied().take(DIVIDING).collect();
            for constant in constants.into_iter().filter(|&constant| in_range(atom.ty, constant)) {
                let below = self.compared(atom, CmpOp::Le, constant);
                let above = self.manager.terms.not(below);
                for (guard, less) in [(below, true), (above, false)] {
                    let is_some = |sample: &&Activation| (sample.before[at] <= constant) == less;
                    let some: Vec<&Activation> = samples.iter().filter(is_some).collect();
                    if some.len() < samples.len() && some.iter().any(|sample| sample.after.is_some()) {
                        divisions.push((guard, some));
                    }
                }
            }
        }
        divisions
    }

    /// What is not less or not greater when a function is entered.
    fn bounds_before(&mut self, out: &mut Vec<TermId>) {
        let samples: Vec<&[i128]> = self.samples.iter().map(|sample| &sample.before[..]).collect();
        for (number, &at) in self.before.clone().iter().enumerate() {
            let atom = self.signature.before[at];
            self.against_constants(atom, &samples, at, CLOSEST, out);
            for &other in &self.before.clone()[number + 1..] {
                let b = self.signature.before[other];
                if samples.iter().all(|sample| sample[at] <= sample[other]) {
                    out.push(self.not_greater(atom, b));
                }
                if samples.iter().all(|sample| sample[other] <= sample[at]) {
                    out.push(self.not_greater(b, atom));
                }
            }
        }
    }

    /// What is not less or not greater than what comes out of a function.
    fn bounds_after(&mut self, samples: &[&Activation], constants: usize, out: &mut Vec<TermId>) {
        let samples: Vec<(&[i128], &[i128])> =
            samples.iter().filter_map(|sample| Some((&sample.before[..], sample.after.as_deref()?))).collect();
        let after: Vec<&[i128]> = samples.iter().map(|sample| sample.1).collect();
        for &at in &self.after.clone() {
            let atom = self.signature.after[at];
            self.against_constants(atom, &after, at, constants, out);
            for &other in &self.before.clone() {
                let b = self.signature.before[other];
                if samples.iter().all(|(before, after)| after[at] <= before[other]) {
                    out.push(self.not_greater(atom, b));
                }
                if samples.iter().all(|(before, after)| before[other] <= after[at]) {
                    out.push(self.not_greater(b, atom));
                }
            }
        }
    }

    /// The closest constants that are not less or not greater in all samples.
    fn against_constants(&mut self, atom: Atom, samples: &[&[i128]], at: usize, most: usize, out: &mut Vec<TermId>) {
        let constants: Vec<i128> = self.constants.iter().copied().filter(|&c| in_range(atom.ty, c)).collect();
        let (least, greatest) = samples
            .iter()
            .map(|sample| sample[at])
            .fold((i128::MAX, i128::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let mut above: Vec<i128> = constants.iter().copied().filter(|&constant| greatest <= constant).collect();
        let mut below: Vec<i128> = constants.iter().copied().filter(|&constant| constant <= least).collect();
        above.sort_unstable();
        below.sort_unstable_by_key(|&constant| std::cmp::Reverse(constant));
        for constant in above.into_iter().take(most) {
            out.push(self.compared(atom, CmpOp::Le, constant));
        }
        for constant in below.into_iter().take(most) {
            out.push(self.not_less(atom, constant));
        }
    }

    fn compared(&mut self, atom: Atom, op: CmpOp, constant: i128) -> TermId {
        let Manager { terms, encoder, .. } = &mut *self.manager;
        let (x, c) = (terms.var(atom.symbol, 0), encoder.constant(terms, constant, atom.ty));
        encoder.compare(terms, op, atom.ty, x, c)
    }

    fn not_less(&mut self, atom: Atom, constant: i128) -> TermId {
        let less = self.compared(atom, CmpOp::Lt, constant);
        self.manager.terms.not(less)
    }

    /// That the first of two numbers is not greater than the second one.
    fn not_greater(&mut self, a: Atom, b: Atom) -> TermId {
        // One bit more than both have is enough for either sign.
        let width = a.ty.bits.max(b.ty.bits) + u32::from(a.ty != b.ty);
        let terms = &mut self.manager.terms;
        let (x, y) = (value_of(terms, a, width), value_of(terms, b, width));
        let signed = a.ty != b.ty || a.ty.signed;
        terms.bv_cmp(if signed { BvCmp::Sle } else { BvCmp::Ule }, x, y)
    }

    /// What comes out of a function is even or odd with the numbers before it.
    fn parities(&mut self, out: &mut Vec<TermId>) {
        let known: Vec<(&[i128], &[i128])> =
            self.samples.iter().filter_map(|sample| Some((&sample.before[..], sample.after.as_deref()?))).collect();
        for &at in &self.after {
            let mut others: Vec<Option<usize>> = self.before.iter().copied().map(Some).collect();
            others.push(None);
            for other in others {
                for odd in [0, 1] {
                    let sum = |before: &[i128], after: &[i128]| after[at] + other.map_or(0, |other| before[other]);
                    if !known.iter().all(|(before, after)| sum(before, after).rem_euclid(2) == odd) {
                        continue;
                    }
                    let terms = &mut self.manager.terms;
                    let mut bits = value_of(terms, self.signature.after[at], 1);
                    if let Some(other) = other {
                        let more = value_of(terms, self.signature.before[other], 1);
                        bits = terms.bv_bin(BvBin::Add, bits, more);
                    }
                    let odd = terms.bv(1, if odd == 1 { 1 } else { 0 });
                    out.push(terms.eq(bits, odd));
                }
            }
        }
    }

    /// Candidates about remainders modulo constants: of what comes out and its sums and differences with what goes in, and what
    /// comes out for each remainder of what goes in.
    pub(crate) fn residues(&mut self) -> Facts {
        if self.moduli.is_empty() {
            return Facts::default();
        }
        let mut facts = self.linear();
        let known: Vec<(&[i128], &[i128])> =
            self.samples.iter().filter_map(|sample| Some((&sample.before[..], sample.after.as_deref()?))).collect();
        for modulus in self.moduli.clone() {
            for &at in &self.after.clone() {
                let mut sums = vec![(None, 0)];
                sums.extend(self.before.iter().take(FEW).flat_map(|&other| [(Some(other), 1), (Some(other), -1)]));
                for (other, sign) in sums {
                    let sum = |(before, after): &(&[i128], &[i128])| {
                        (after[at] + other.map_or(0, |other| sign * before[other])).rem_euclid(modulus)
                    };
                    let Some(residue) = known.first().map(sum).filter(|first| known.iter().all(|k| sum(k) == *first))
                    else {
                        continue;
                    };
                    let monomials: Vec<Monomial> =
                        [Monomial::After(at)].into_iter().chain(other.map(Monomial::Before)).collect();
                    let coefficients = [-residue, 1, sign];
                    facts.after.push(self.divisible(&monomials, &coefficients[..=monomials.len()], modulus));
                }
                for &other in &self.before.clone() {
                    for residue in 0..modulus {
                        let of_class = |(before, _): &&(&[i128], &[i128])| before[other].rem_euclid(modulus) == residue;
                        let mut results = known.iter().filter(of_class).map(|(_, after)| after[at]);
                        let Some(first) = results.next() else { continue };
                        if results.all(|result| result == first) {
                            let class = self.divisible(&[Monomial::Before(other)], &[-residue, 1], modulus);
                            let result = self.compared(self.signature.after[at], CmpOp::Eq, first);
                            facts.after.push(self.manager.terms.implies(class, result));
                        }
                    }
                }
            }
        }
        tidied(self.manager, facts)
    }

    /// That a sum is a multiple of a number, without a division: of an odd number, the product with its inverse modulo the powers of
    /// two is the quotient, which is small for multiples only (Warren, *Hacker's Delight*, section 10-17).
    fn divisible(&mut self, monomials: &[Monomial], coefficients: &[i128], modulus: i128) -> TermId {
        // Two numbers and a small one need two bits more than each of them.
        let width = self.width(monomials) - ROOM + 2;
        let sum = self.sum(monomials, coefficients, width);
        let even = modulus.trailing_zeros();
        let odd = modulus >> even;
        // Each step doubles the number of bits that are right; three are from the start.
        let mut inverse = odd;
        while inverse.wrapping_mul(odd) != 1 {
            inverse = inverse.wrapping_mul(2i128.wrapping_sub(inverse.wrapping_mul(odd)));
        }
        let greatest = ((1i128 << (width - 1).min(126)) - 1) / odd;
        let terms = &mut self.manager.terms;
        let (inverse, low, high) =
            (constant(terms, inverse, width), constant(terms, -greatest, width), constant(terms, greatest, width));
        let quotient = terms.bv_bin(BvBin::Mul, inverse, sum);
        let (above, below) = (terms.bv_cmp(BvCmp::Sle, low, quotient), terms.bv_cmp(BvCmp::Sle, quotient, high));
        let is_multiple = terms.and(above, below);
        if even == 0 {
            return is_multiple;
        }
        let (bits, zero) = (terms.extract(even - 1, 0, sum), terms.bv(even, 0));
        let is_even = terms.eq(bits, zero);
        terms.and(is_multiple, is_even)
    }

    /// Equations of what comes out of a function, and of what goes in, that hold in the samples.
    fn equations(&mut self, monomials: &[Monomial], samples: &[&Activation], facts: &mut Facts) {
        for at in self.after.clone() {
            let unknowns = [monomials, &[Monomial::After(at)]].concat();
            for coefficients in solutions(&unknowns, samples) {
                let own = coefficients[unknowns.len()];
                // Linear ones are looked for without other monomials.
                let nonlinear = unknowns.iter().map(Monomial::is_nonlinear);
                let mut used = nonlinear.zip(&coefficients[1..]).filter(|(_, coefficient)| **coefficient != 0);
                let fits = unknowns.iter().any(Monomial::is_nonlinear) == used.any(|(nonlinear, _)| nonlinear);
                if own == 0 || !fits {
                    continue;
                }
                let atom = self.signature.after[at];
                let sum = self.sum(&unknowns, &coefficients, atom.ty.bits);
                let zero = self.manager.terms.bv(atom.ty.bits, 0);
                facts.after.push(self.manager.terms.eq(sum, zero));
                if own.abs() == 1 {
                    let width = self.width(&unknowns);
                    let rest = self.sum(monomials, &coefficients, width);
                    let terms = &mut self.manager.terms;
                    let right = if own == 1 { terms.bv_un(BvUn::Neg, rest) } else { rest };
                    let least = constant(terms, atom.ty.min(), width);
                    let greatest = constant(terms, atom.ty.max(), width);
                    facts.before.push(terms.bv_cmp(BvCmp::Sle, least, right));
                    facts.before.push(terms.bv_cmp(BvCmp::Sle, right, greatest));
                }
            }
        }
        let goes_in = |monomial: &Monomial| matches!(monomial, Monomial::Before(_));
        if monomials.iter().all(goes_in) {
            for coefficients in solutions(monomials, samples) {
                let width = self.width(monomials);
                let sum = self.sum(monomials, &coefficients, width);
                let zero = self.manager.terms.bv(width, 0);
                facts.before.push(self.manager.terms.eq(sum, zero));
            }
        }
    }

    /// Bits that are enough for sums with small coefficients, as far as the widest constants allow.
    fn width(&self, monomials: &[Monomial]) -> u32 {
        let bits = |monomial: &Monomial| match *monomial {
            Monomial::Before(at) => self.signature.before[at].ty.bits,
            Monomial::After(at) => self.signature.after[at].ty.bits,
            Monomial::Product(a, b) => self.signature.before[a].ty.bits + self.signature.before[b].ty.bits,
            Monomial::PowerOfTwo(at) => self.signature.before[at].ty.bits + EXPONENT as u32,
        };
        (monomials.iter().map(bits).max().unwrap_or(0) + ROOM).min(WIDEST)
    }

    /// The sum of the first coefficient and the monomials times the others.
    fn sum(&mut self, monomials: &[Monomial], coefficients: &[i128], width: u32) -> TermId {
        let (before, after) = (&self.signature.before, &self.signature.after);
        let terms = &mut self.manager.terms;
        let mut sum = constant(terms, coefficients[0], width);
        for (monomial, &coefficient) in monomials.iter().zip(&coefficients[1..]).filter(|(_, c)| **c != 0) {
            let value = match *monomial {
                Monomial::Before(at) => value_of(terms, before[at], width),
                Monomial::After(at) => value_of(terms, after[at], width),
                Monomial::Product(a, b) => {
                    let (a, b) = (value_of(terms, before[a], width), value_of(terms, before[b], width));
                    terms.bv_bin(BvBin::Mul, a, b)
                }
                Monomial::PowerOfTwo(at) => {
                    let (one, exponent) = (terms.bv(width, 1), value_of(terms, before[at], width));
                    terms.bv_bin(BvBin::Shl, one, exponent)
                }
            };
            let coefficient = constant(terms, coefficient, width);
            let product = terms.bv_bin(BvBin::Mul, coefficient, value);
            sum = terms.bv_bin(BvBin::Add, sum, product);
        }
        sum
    }
}

/// The coefficients of equations that hold in the samples, the constant first.
fn solutions(monomials: &[Monomial], samples: &[&Activation]) -> Vec<Vec<i128>> {
    let value = |monomial: &Monomial, sample: &Activation| -> Option<i128> {
        let value = match *monomial {
            Monomial::Before(at) => sample.before[at],
            Monomial::After(at) => sample.after.as_ref()?[at],
            Monomial::Product(a, b) => sample.before[a].checked_mul(sample.before[b])?,
            Monomial::PowerOfTwo(at) if (0..=EXPONENT).contains(&sample.before[at]) => 1 << sample.before[at],
            Monomial::PowerOfTwo(_) => return None,
        };
        Some(value).filter(|value| value.abs() < LARGE)
    };
    let row = |sample: &&Activation| -> Option<Vec<i128>> {
        std::iter::once(Some(1)).chain(monomials.iter().map(|monomial| value(monomial, sample))).collect()
    };
    let rows: Vec<Vec<i128>> = samples.iter().filter_map(row).collect();
    if rows.len() < monomials.len() + MORE { Vec::new() } else { null_space(rows, monomials.len() + 1) }
}

/// A number as one of `width` bits: extended, or its last bits.
fn value_of(terms: &mut Terms, atom: Atom, width: u32) -> TermId {
    let value = terms.var(atom.symbol, 0);
    match atom.ty.bits {
        own if own == width => value,
        own if own > width => terms.extract(width - 1, 0, value),
        _ if atom.ty.signed => terms.sext(width, value),
        _ => terms.zext(width, value),
    }
}

fn constant(terms: &mut Terms, value: i128, width: u32) -> TermId {
    let bits = value.cast_unsigned();
    terms.bv(width, if width == WIDEST { bits } else { bits & ((1 << width) - 1) })
}

fn in_range(ty: IntTy, value: i128) -> bool {
    (ty.min()..=ty.max()).contains(&value)
}

/// Constants of conditions, assignments and calls, small ones first.
fn constants(program: &Program) -> Vec<i128> {
    fn collect(program: &Program, id: ExprId, found: &mut BTreeSet<i128>) {
        found.extend(program.exprs.as_const(id));
        program.exprs.operands(id).for_each(|operand| collect(program, operand, found));
    }
    let mut found = BTreeSet::new();
    for edge in &program.edges {
        if matches!(edge.op, Op::Assume { .. } | Op::Assign { .. } | Op::Call { .. }) {
            edge.op.operands().into_iter().for_each(|operand| collect(program, operand, &mut found));
        }
    }
    let mut list: Vec<i128> = found.into_iter().collect();
    list.sort_by_key(|value| (value.abs(), *value));
    list
}

/// The constants with those next to them, small ones first.
fn bounds(constants: &[i128]) -> Vec<i128> {
    let mut found = BTreeSet::from([0, 1]);
    found.extend(constants.iter().flat_map(|value| [value - 1, *value, value + 1]));
    let mut list: Vec<i128> = found.into_iter().collect();
    list.sort_by_key(|value| (value.abs(), *value));
    list.truncate(CONSTANTS);
    list
}

/// Each fact once, without those that say nothing.
fn tidied(manager: &Manager, mut facts: Facts) -> Facts {
    for list in [&mut facts.before, &mut facts.after] {
        let mut seen = BTreeSet::new();
        list.retain(|&fact| !matches!(manager.terms.get(fact), Term::True | Term::False) && seen.insert(fact));
    }
    facts
}
