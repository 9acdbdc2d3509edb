// SPDX-License-Identifier: Apache-2.0
//! Affine forms: values as linear combinations of other values, so that what they have in common cancels.
//!
//! Affine arithmetic (Comba and Stolfi, *Affine Arithmetic and its Applications to Computer Graphics*, SIBGRAPI 1993), for
//! floating-point programs as Goubault and Putot use it (*Static Analysis of Numerical Algorithms*, SAS 2006): the form of
//! a value is a combination of base values, whose ranges are known, and an interval that has all that is left: errors of
//! rounding, in the program and here, and terms of second order. The forms of one state are a zonotope. Coefficients are
//! rounded to nearest, and what that may change is added to the interval, which is rounded outwards.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::ir::FloatTy;

/// The greatest number of terms; the least important ones are put into the interval.
const TERMS: usize = 512;

/// What a number stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Bits of an integer.
    Int,
    /// Bits of a floating-point number of a format.
    Float(FloatTy),
    /// An error, or what is left of other base values; no value of the program.
    Rest,
}

/// A real number that is a linear combination of base values and something in an interval.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Form {
    /// Base values in ascending order, with coefficients that are not zero.
    pub(super) terms: Vec<(u32, f64)>,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A value that forms are made of; it is finite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Base {
    pub(super) kind: Kind,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Base {
    fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// The base values of a state by their numbers.
pub(super) type Bases = BTreeMap<u32, Base>;

/// The forms of the values of a state, by the numbers of the values.
#[derive(Clone, Default, Debug)]
pub(super) struct Forms {
    /// Those that are combinations of others.
    pub(super) of: BTreeMap<u32, (Kind, Rc<Form>)>,
    /// Those that are not.
    pub(super) bases: Bases,
}

impl Forms {
    /// The form of a value, read as such a number.
    pub(super) fn get(&self, number: u32, kind: Kind) -> Option<Rc<Form>> {
        if let Some((own, form)) = self.of.get(&number) {
            return (*own == kind).then(|| Rc::clone(form));
        }
        let base = self.bases.get(&number)?;
        (base.kind == kind).then(|| Rc::new(Form { terms: vec![(number, 1.0)], low: 0.0, high: 0.0 }))
    }

    /// The value is a base value from now on, unless it has a form, or one with a smaller range.
    pub(super) fn add_base(&mut self, number: u32, base: Base) {
        match self.of.get(&number) {
            None => {
                let old = self.bases.get(&number).filter(|old| old.kind == base.kind);
                let common =
                    old.map_or(base, |old| Base { low: base.low.max(old.low), high: base.high.min(old.high), ..base });
                self.bases.insert(number, if common.low <= common.high { common } else { base });
            }
            Some((kind, form)) if *kind == base.kind => {
                let form = Rc::clone(form);
                self.propagate(&form, base.low, base.high);
            }
            Some(_) => {}
        }
    }

    /// The form whose interval has become a base value with this number, greater than all others.
    pub(super) fn with_rest(&mut self, mut form: Form, number: u32) -> Form {
        if form.low < form.high {
            self.bases.insert(number, Base { kind: Kind::Rest, low: form.low, high: form.high });
            form.terms.push((number, 1.0));
            (form.low, form.high) = (0.0, 0.0);
        }
        form
    }

    /// The base values of a form whose range is known have smaller ranges.
    fn propagate(&mut self, form: &Form, low: f64, high: f64) {
        for (at, &(number, coef)) in form.terms.iter().enumerate() {
            let rest = Form {
                terms: form.terms.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, &term)| term).collect(),
                ..*form
            };
            let (rest_low, rest_high) = rest.range(&self.bases);
            let (from, to) = ((low - rest_high).next_down(), (high - rest_low).next_up());
            let (from, to) = if coef > 0.0 { (from / coef, to / coef) } else { (to / coef, from / coef) };
            let base = self.bases.get_mut(&number).expect("bases of forms are kept");
            let smaller = Base { low: base.low.max(from.next_down()), high: base.high.min(to.next_up()), ..*base };
            // No execution is left otherwise, which is found out elsewhere.
            if smaller.low <= smaller.high {
                *base = smaller;
            }
        }
    }

    /// Drops all but the forms of some values, and base values that none of them needs.
    pub(super) fn retain(&mut self, live: impl Fn(u32) -> bool) {
        self.of.retain(|&number, _| live(number));
        let needed: BTreeSet<u32> =
            self.of.values().flat_map(|(_, form)| form.terms.iter().map(|&(base, _)| base)).collect();
        let of = &self.of;
        let is_base = |number| live(number) && !of.contains_key(&number);
        self.bases.retain(|&number, _| is_base(number) || needed.contains(&number));
    }
}

/// Bounds of what rounding to nearest makes of the product or sum.
fn slack(rounded: f64) -> f64 {
    rounded.abs() * f64::EPSILON + 1e-320
}

/// The interval of all products.
fn products((a, b): (f64, f64), (c, d): (f64, f64)) -> (f64, f64) {
    let all = [a * c, a * d, b * c, b * d];
    let low = all.iter().copied().fold(f64::INFINITY, f64::min).next_down();
    (low, all.iter().copied().fold(f64::NEG_INFINITY, f64::max).next_up())
}

fn finite(form: Form) -> Option<Form> {
    let ok = form.low.is_finite() && form.high.is_finite() && form.terms.iter().all(|(_, coef)| coef.is_finite());
    ok.then_some(form)
}

impl Form {
    /// Something in an interval.
    pub(super) fn constant(low: f64, high: f64) -> Self {
        Form { terms: Vec::new(), low, high }
    }

    /// All values that it may have.
    pub(super) fn range(&self, bases: &Bases) -> (f64, f64) {
        let (mut low, mut high) = (self.low, self.high);
        for &(number, coef) in &self.terms {
            let base = bases[&number];
            let (a, b) =
                if coef > 0.0 { (coef * base.low, coef * base.high) } else { (coef * base.high, coef * base.low) };
            low = (low + a.next_down()).next_down();
            high = (high + b.next_up()).next_up();
        }
        (low, high)
    }

    /// A point near to the middle and the greatest distance of a value from it. It is rounded, so that it mostly stays where it
    /// is when bounds change a little, and products have the same coefficients then.
    fn centre(&self, bases: &Bases) -> (f64, f64) {
        let (low, high) = self.range(bases);
        let (middle, radius) = (f64::midpoint(low, high), (high - low) / 2.0);
        let step = 2f64.powi(radius.log2().floor().max(-1000.0) as i32 - 3);
        let rounded = (middle / step).round() * step;
        let middle = if radius > 0.0 && rounded.is_finite() { rounded } else { middle };
        (middle, (high - middle).max(middle - low).next_up())
    }

    /// A linear combination of forms, with something in an interval added.
    pub(super) fn combination(parts: &[(&Form, f64)], (mut low, mut high): (f64, f64), bases: &Bases) -> Option<Form> {
        let mut terms: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for &(form, factor) in parts {
            let (a, b) = (form.low * factor, form.high * factor);
            low = (low + a.min(b).next_down()).next_down();
            high = (high + a.max(b).next_up()).next_up();
            for &(number, coef) in &form.terms {
                let product = coef * factor;
                let (sum, error) = terms.entry(number).or_default();
                *sum += product;
                *error += slack(product) + slack(*sum);
            }
        }
        let mut rest = 0.0f64;
        for (number, (_, error)) in &terms {
            rest = (rest + (error * 1.01 * bases[number].magnitude()).next_up()).next_up();
        }
        let terms = terms.into_iter().map(|(number, (coef, _))| (number, coef)).filter(|&(_, coef)| coef != 0.0);
        let form = Form { terms: terms.collect(), low: (low - rest).next_down(), high: (high + rest).next_up() };
        finite(form.shortened(bases))
    }

    /// Not too many terms.
    fn shortened(mut self, bases: &Bases) -> Form {
        if self.terms.len() > TERMS {
            let weight = |&(number, coef): &(u32, f64)| (coef * bases[&number].magnitude()).abs();
            self.terms.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.0.cmp(&b.0)));
            let small = Form { terms: self.terms.split_off(TERMS / 2), low: self.low, high: self.high };
            (self.low, self.high) = small.range(bases);
            self.terms.sort_by_key(|&(number, _)| number);
        }
        self
    }

    /// The form without some base values, which become a part of the interval.
    pub(super) fn without(&self, dropped: impl Fn(u32) -> bool, bases: &Bases) -> Form {
        let (old, kept): (Vec<_>, Vec<_>) = self.terms.iter().partition(|&&(number, _)| dropped(number));
        let (low, high) = Form { terms: old, ..*self }.range(bases);
        Form { terms: kept, low, high }
    }

    /// What has to be added to a combination of base values to have the value of this form.
    pub(super) fn difference(&self, terms: &[(u32, f64)], bases: &Bases) -> (f64, f64) {
        let mut coefs: BTreeMap<u32, (f64, f64)> = self.terms.iter().map(|&(base, coef)| (base, (coef, 0.0))).collect();
        for &(base, coef) in terms {
            coefs.entry(base).or_default().1 = coef;
        }
        let (mut low, mut high) = (self.low, self.high);
        for (base, (own, other)) in coefs.into_iter().filter(|(_, (own, other))| own != other) {
            let (coef, base) = (own - other, bases[&base]);
            let rest = (slack(coef) * base.magnitude()).next_up();
            let (a, b) = products((coef, coef), (base.low, base.high));
            low = (low + (a - rest).next_down()).next_down();
            high = (high + (b + rest).next_up()).next_up();
        }
        (low, high)
    }

    /// The sum with another form, or the difference.
    pub(super) fn plus(&self, other: &Form, factor: f64, bases: &Bases) -> Option<Form> {
        Form::combination(&[(self, 1.0), (other, factor)], (0.0, 0.0), bases)
    }

    /// The negation.
    pub(super) fn negated(&self) -> Form {
        let terms = self.terms.iter().map(|&(number, coef)| (number, -coef)).collect();
        Form { terms, low: -self.high, high: -self.low }
    }

    /// What differs by something in an interval.
    pub(super) fn moved(&self, low: f64, high: f64) -> Option<Form> {
        finite(Form {
            terms: self.terms.clone(),
            low: (self.low + low).next_down(),
            high: (self.high + high).next_up(),
        })
    }

    /// The product; `same` if it is a square.
    pub(super) fn times(&self, other: &Form, same: bool, bases: &Bases) -> Option<Form> {
        // x y = x0 y + y0 x - x0 y0 + (x - x0) (y - y0)
        let ((x, x_radius), (y, y_radius)) = (self.centre(bases), other.centre(bases));
        let area = (x_radius * y_radius).next_up();
        let (low, high) = products((x, x), (y, y));
        let second = if same { 0.0 } else { -area };
        Form::combination(&[(other, x), (self, y)], ((second - high).next_down(), (area - low).next_up()), bases)
    }

    /// The reciprocal, unless 0 is possible.
    pub(super) fn reciprocal(&self, bases: &Bases) -> Option<Form> {
        let (low, high) = self.range(bases);
        if high < 0.0 {
            return Some(self.negated().reciprocal(bases)?.negated());
        }
        if low <= 0.0 || !low.is_normal() || !high.is_finite() {
            return None;
        }
        // 1/x + a x is convex and at least 2 sqrt(a).
        let slope = 1.0 / (low * high);
        let at = |x: f64| ((1.0 / x).next_up() + (slope * x).next_up()).next_up();
        let least = (2.0 * slope.sqrt().next_down()).next_down();
        if !slope.is_normal() || !least.is_normal() {
            return None;
        }
        Form::combination(&[(self, -slope)], (least, at(low).max(at(high))), bases)
    }

    /// The square root, unless negative numbers are possible.
    pub(super) fn root(&self, bases: &Bases) -> Option<Form> {
        let (low, high) = self.range(bases);
        if low < 0.0 || high <= 0.0 || !high.is_normal() {
            return None;
        }
        // sqrt(x) - a x is concave and at most 1 / (4 a).
        let slope = 1.0 / (low.sqrt() + high.sqrt());
        let at = |x: f64| (x.sqrt().next_down() - (slope * x).next_up()).next_down();
        let most = (0.25 / slope).next_up();
        Form::combination(&[(self, slope)], (at(low).min(at(high)), most), bases)
    }

    /// What is left of it after rounding to a format; none if it may be too large.
    pub(super) fn rounded(&self, ty: FloatTy, bases: &Bases) -> Option<Form> {
        let (low, high) = self.range(bases);
        let magnitude = low.abs().max(high.abs());
        let (greatest, unit, least) = match ty {
            FloatTy::F32 => (f64::from(f32::MAX), f64::from(f32::EPSILON) / 2.0, f64::from(f32::from_bits(1))),
            FloatTy::F64 => (f64::MAX / 2.0, f64::EPSILON / 2.0, f64::from_bits(1)),
        };
        if magnitude.is_nan() || magnitude > greatest {
            return None;
        }
        let error = ((magnitude * unit).next_up() + least).next_up();
        self.moved(-error, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::value::{bits, number};
    use cfa::floats;
    use cfa::ir::{FloatFn, FloatOp};
    use cfa::machine::Random;

    /// A number of the format between others; the ends are often interesting.
    fn between(random: &mut Random, ty: FloatTy, low: f64, high: f64) -> f64 {
        let inside = random.below(1000) as f64 / 1000.0;
        let at = random.pick(&[0.0, 1.0, 0.5, inside]);
        number(ty, bits(ty, low + (high - low) * at)).clamp(low, high)
    }

    /// The same expression of base values with ranges and of values in them, step by step.
    #[test]
    fn forms_have_all_values() {
        let mut random = Random::new(1);
        let (mut kept, mut narrow) = (0, 0);
        for round in 0..4000u32 {
            let ty = if round % 2 == 0 { FloatTy::F32 } else { FloatTy::F64 };
            let mut bases = Bases::new();
            let mut known: Vec<(Form, (f64, f64), f64)> = Vec::new();
            let mut values = BTreeMap::new();
            for base in 1..=3 {
                let (a, b) = (between(&mut random, ty, -8.0, 8.0), between(&mut random, ty, -8.0, 8.0));
                let (low, high) = (a.min(b), a.max(b));
                let value = between(&mut random, ty, low, high);
                bases.insert(base, Base { kind: Kind::Float(ty), low, high });
                values.insert(base, value);
                known.push((Form { terms: vec![(base, 1.0)], low: 0.0, high: 0.0 }, (low, high), value));
            }
            for _ in 0..6 {
                let (l, r) = (random.below(known.len()), random.below(known.len()));
                let ((a, a_range, x), (b, b_range, y)) = (&known[l], &known[r]);
                let (x_bits, y_bits) = (bits(ty, *x), bits(ty, *y));
                let (exact, result) = match random.below(6) {
                    0 => (a.plus(b, 1.0, &bases), floats::binary(FloatOp::Add, ty, x_bits, y_bits)),
                    1 => (a.plus(b, -1.0, &bases), floats::binary(FloatOp::Sub, ty, x_bits, y_bits)),
                    2 | 3 => (a.times(b, l == r, &bases), floats::binary(FloatOp::Mul, ty, x_bits, y_bits)),
                    4 => {
                        let quotient = b.reciprocal(&bases).and_then(|b| a.times(&b, false, &bases));
                        (quotient, floats::binary(FloatOp::Div, ty, x_bits, y_bits))
                    }
                    _ => (a.root(&bases), floats::function(FloatFn::Sqrt, ty, x_bits)),
                };
                let Some(form) = exact.and_then(|exact| exact.rounded(ty, &bases)) else { continue };
                let value = number(ty, result);
                let (low, high) = form.range(&bases);
                assert!(low <= value && value <= high, "{round} {a:?} {a_range:?} {b:?} {b_range:?}: {form:?} {value}");
                // The same with the values of the base values, but for what the check itself rounds.
                let sum: f64 = form.terms.iter().map(|(base, coef)| coef * values[base]).sum();
                let size: f64 = form.terms.iter().map(|(base, coef)| (coef * values[base]).abs()).sum();
                let rest = value - sum;
                let slack = 1e-13 * (size + value.abs());
                assert!(form.low - slack <= rest && rest <= form.high + slack, "{round} {form:?} {values:?} {value}");
                kept += 1;
                narrow += u32::from(high - low < 10.0);
                known.push((form, (low, high), value));
            }
        }
        assert!(kept > 10_000 && narrow > 1000, "{kept} {narrow}");
    }

    #[test]
    fn what_values_have_in_common_cancels() {
        let bases = Bases::from([(1, Base { kind: Kind::Float(FloatTy::F64), low: 0.0, high: 1.0 })]);
        let x = Form { terms: vec![(1, 1.0)], low: 0.0, high: 0.0 };
        let y = Form::combination(&[(&x, 2.0)], (-3.0, -3.0), &bases).unwrap();
        let z = x.negated().moved(5.0, 5.0).unwrap();
        let (low, high) = y.plus(&z, 2.0, &bases).unwrap().range(&bases);
        assert!(6.999_999 < low && high < 7.000_001, "{low} {high}");
        let (low, high) = x.times(&x, true, &bases).unwrap().range(&bases);
        assert!(-0.26 < low && high <= 1.01, "{low} {high}");
    }

    #[test]
    fn a_known_value_narrows_those_that_it_is_made_of() {
        let mut forms = Forms::default();
        for base in [1, 2] {
            forms.add_base(base, Base { kind: Kind::Float(FloatTy::F64), low: 0.0, high: 10.0 });
        }
        let sum = Form { terms: vec![(1, 2.0), (2, -1.0)], low: 0.0, high: 0.0 };
        forms.of.insert(3, (Kind::Float(FloatTy::F64), Rc::new(sum)));
        forms.add_base(3, Base { kind: Kind::Float(FloatTy::F64), low: 16.0, high: 20.0 });
        let base = forms.bases[&1];
        assert!(7.99 < base.low && base.low <= 8.0 && base.high == 10.0, "{base:?}");
        assert!(4.0 <= forms.bases[&2].high && forms.bases[&2].high < 4.01);
    }
}
