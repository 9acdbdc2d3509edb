// SPDX-License-Identifier: Apache-2.0
//! Reading and writing contents of arrays.
//!
//! What loops wrote is a function of the position (Bradley, Manna, Sipma, *What's Decidable About Arrays?*, have such
//! functions as quantified formulas); as every position is read through [`Pool::read`], no quantifier is left.

use std::collections::BTreeMap;

use cpa_core::Stop;

use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, Pool, Writes};

/// Says whether a condition is known to hold, or known not to hold.
pub(crate) type Decide<'d> = &'d mut dyn FnMut(&mut Pool, CondId) -> Result<Option<bool>, Stop>;

/// Decides what is constant, and asks for the rest.
fn known(pool: &mut Pool, cond: CondId, decide: Decide) -> Result<Option<bool>, Stop> {
    match Pool::as_truth(cond) {
        Some(truth) => Ok(Some(truth)),
        None => decide(pool, cond),
    }
}

impl Pool {
    /// The element at a position.
    pub(crate) fn read(&mut self, array: ArrayId, index: &Poly, decide: Decide) -> Result<Poly, Stop> {
        match self.array(array).clone() {
            ArrayKind::Unknown(..) => Ok(Poly::atom(self.atom(AtomKind::Element(array, index.clone())))),
            ArrayKind::Zero => Ok(Poly::constant(0)),
            ArrayKind::Store(base, at, value) => {
                let same = self.equal(index, &at)?;
                match known(self, same, decide)? {
                    Some(true) => Ok(value),
                    Some(false) => self.read(base, index, decide),
                    None => {
                        let other = self.read(base, index, decide)?;
                        Ok(self.ite(same, value, other))
                    }
                }
            }
            ArrayKind::Layer(base, upper, writes) => {
                let (iteration, hits) = self.iteration(&writes, index)?;
                let begun = self.at_most(&Poly::constant(0), &iteration)?;
                let ended = self.less(&iteration, &upper)?;
                let mut parts = Vec::new();
                for part in [hits, begun, ended] {
                    match known(self, part, decide)? {
                        Some(true) => {}
                        Some(false) => return self.read(base, index, decide),
                        None => parts.push(part),
                    }
                }
                let bound = self.atom(AtomKind::Bound(writes.depth));
                let guard = self.replace_in_cond(writes.guard, bound, &iteration)?;
                match known(self, guard, decide)? {
                    Some(true) => {}
                    Some(false) => return self.read(base, index, decide),
                    None => parts.push(guard),
                }
                let value = self.replace(&writes.value, bound, &iteration)?;
                let written = self.and(parts);
                if Pool::as_truth(written) == Some(true) {
                    return Ok(value);
                }
                let other = self.read(base, index, decide)?;
                Ok(self.ite(written, value, other))
            }
        }
    }

    /// The iteration that writes to a position, if the condition holds; no other one does.
    pub(crate) fn iteration(&mut self, writes: &Writes, index: &Poly) -> Result<(Poly, CondId), Stop> {
        let sign = writes.stride.signum();
        let distance = index.minus(&writes.start)?.times_constant(sign)?;
        let stride = writes.stride.abs();
        let rest = self.modulo(&distance, stride)?;
        let hits = self.equal(&rest, &Poly::constant(0))?;
        Ok((self.div(&distance, stride)?, hits))
    }

    /// The contents with one element replaced. Elements that are replaced again are forgotten where that is certain.
    pub(crate) fn write(
        &mut self,
        array: ArrayId,
        index: &Poly,
        value: &Poly,
        decide: Decide,
    ) -> Result<ArrayId, Stop> {
        let base = self.without(array, index, decide)?;
        Ok(self.intern_array(ArrayKind::Store(base, index.clone(), value.clone())))
    }

    fn without(&mut self, array: ArrayId, index: &Poly, decide: Decide) -> Result<ArrayId, Stop> {
        let ArrayKind::Store(base, at, value) = self.array(array).clone() else { return Ok(array) };
        if at == *index {
            return Ok(base);
        }
        let same = self.equal(index, &at)?;
        match known(self, same, decide)? {
            Some(true) => Ok(base),
            Some(false) => {
                let below = self.without(base, index, decide)?;
                Ok(if below == base { array } else { self.intern_array(ArrayKind::Store(below, at, value)) })
            }
            None => Ok(array),
        }
    }

    /// The contents after the writes of the first iterations of a loop, in whose value and guard `variable` is the number of the
    /// iteration.
    pub(crate) fn layer(
        &mut self,
        base: ArrayId,
        upper: &Poly,
        write: &Write,
        variable: Atom,
    ) -> Result<ArrayId, Stop> {
        if upper.as_constant() == Some(0) || Pool::as_truth(write.guard) == Some(false) {
            return Ok(base);
        }
        let (depth, value, guard) = self.close(&write.value, write.guard, variable)?;
        let writes = Writes { depth, start: write.start.clone(), stride: write.stride, value, guard };
        Ok(self.intern_array(ArrayKind::Layer(base, upper.clone(), writes)))
    }
}

/// What each iteration of a loop writes, see [`Writes`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Write {
    pub(crate) start: Poly,
    pub(crate) stride: i128,
    pub(crate) value: Poly,
    pub(crate) guard: CondId,
    /// Which of these writes an iteration stands for if a loop within it makes them; if not, the one with its number.
    pub(crate) table: Option<Table>,
}

/// How the writes of a loop within a loop are numbered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// Iteration `t` makes the ones from `t * length`, one behind the other.
    Rows {
        /// How many an iteration makes at the most.
        length: i128,
    },
    /// Iteration `t`, which is less than the distance, makes the ones with the numbers `t + distance * place`.
    Columns {
        /// How far they are apart.
        distance: i128,
        /// How many there are in an iteration.
        height: Poly,
    },
}

/// Closed forms of sums of powers, as polynomials (Faulhaber; the recurrence of Pascal).
#[derive(Default)]
struct Powers {
    known: BTreeMap<(u32, Poly), Poly>,
}

impl Powers {
    /// The sum of `s^exponent` for `s` from 0 to before `upper`, by
    /// `upper^(k+1) = sum over j <= k of binomial(k+1, j) * S_j(upper)`.
    fn sum(&mut self, exponent: u32, upper: &Poly) -> Result<Poly, Stop> {
        if let Some(sum) = self.known.get(&(exponent, upper.clone())) {
            return Ok(sum.clone());
        }
        let mut rest = upper.power(exponent + 1)?;
        let mut binomial: i128 = 1;
        for below in 0..exponent {
            let part = self.sum(below, upper)?.times_constant(binomial)?;
            rest = rest.minus(&part)?;
            binomial = binomial * i128::from(exponent + 1 - below) / i128::from(below + 1);
        }
        let sum = rest.over(i128::from(exponent + 1))?;
        self.known.insert((exponent, upper.clone()), sum.clone());
        Ok(sum)
    }
}

impl Pool {
    /// The sum of `body`, in which `variable` is the number of the summand, for all numbers from 0 to before `upper`; for an
    /// `upper` below 0 what the recurrence `sum(n + 1) = sum(n) + body(n)` says.
    pub(crate) fn sum(&mut self, body: &Poly, variable: Atom, upper: &Poly) -> Result<Poly, Stop> {
        let mut powers = Powers::default();
        let (summands, divisor) = body.parts();
        let mut sum = Poly::constant(0);
        for (monomial, coefficient) in summands.clone() {
            let mut outside = Poly::constant(coefficient);
            let mut exponent = 0;
            let mut inside = Vec::new();
            for (atom, power) in monomial {
                if atom == variable {
                    exponent = power;
                } else if self.mentions(&Poly::atom(atom), &|other| other == variable) {
                    inside.push((atom, power));
                } else {
                    outside = outside.times(&Poly::atom(atom).power(power)?)?;
                }
            }
            let total = if inside.is_empty() {
                powers.sum(exponent, upper)?
            } else {
                let mut product = Poly::atom(variable).power(exponent)?;
                for (atom, power) in inside {
                    product = product.times(&Poly::atom(atom).power(power)?)?;
                }
                self.opaque_sum(&product, variable, upper)?
            };
            sum = sum.plus(&outside.times(&total)?)?;
        }
        sum.over(divisor)
    }

    /// The summands in the other order, if the number of summands occurs in the given ones and not in these: those of a loop that
    /// counts down are then the same as those of one that counts up.
    fn better_reversed(&mut self, body: &Poly, variable: Atom, upper: &Poly) -> Result<Option<Poly>, Stop> {
        let of_upper: Vec<Atom> = upper.parts().0.keys().flatten().map(|(atom, _)| *atom).collect();
        let depends = |pool: &Pool, body: &Poly| pool.mentions(body, &|atom| of_upper.contains(&atom));
        if of_upper.contains(&variable) || !depends(self, body) {
            return Ok(None);
        }
        let from_the_end = upper.plus_constant(-1)?.minus(&Poly::atom(variable))?;
        let reversed = self.replace(body, variable, &from_the_end)?;
        Ok((!depends(self, &reversed)).then_some(reversed))
    }

    /// A sum without closed form; small constants beside the bound are split off, so that it has one name.
    fn opaque_sum(&mut self, body: &Poly, variable: Atom, upper: &Poly) -> Result<Poly, Stop> {
        let constant = upper.constant_part();
        let before = upper.plus_constant(-constant)?;
        let unrolled = before.as_constant().is_some() && (0..=8).contains(&constant);
        let reversed = if unrolled { None } else { self.better_reversed(body, variable, upper)? };
        let body = reversed.as_ref().unwrap_or(body);
        let shifted = before.as_constant().is_none() && constant != 0 && constant.abs() <= 4;
        if !unrolled && !shifted {
            let (number, body, _) = self.close(body, Pool::truth(true), variable)?;
            return Ok(Poly::atom(self.atom(AtomKind::Sum(number, body, upper.clone()))));
        }
        let mut sum = if unrolled { Poly::constant(0) } else { self.opaque_sum(body, variable, &before)? };
        for step in constant.min(0)..constant.max(0) {
            let at = before.plus_constant(step)?;
            let summand = self.replace(body, variable, &at)?;
            sum = if constant > 0 { sum.plus(&summand)? } else { sum.minus(&summand)? };
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range::Range;
    use cfa::IntTy;

    fn never(_: &mut Pool, _: CondId) -> Result<Option<bool>, Stop> {
        Ok(None)
    }

    /// Unknown elements, and how many there are.
    fn elements() -> (Pool, ArrayId, Poly) {
        let mut pool = Pool::new();
        let array = pool.intern_array(ArrayKind::Unknown(7, Vec::new(), IntTy::INT));
        let n = pool.input(0, Vec::new(), Range::NATURAL);
        (pool, array, n)
    }

    #[test]
    fn sums_of_powers_are_polynomials() {
        let mut pool = Pool::new();
        let n = pool.input(0, Vec::new(), Range::NATURAL);
        let hole = pool.hole();
        let s = Poly::atom(hole);
        let body = s.power(3).unwrap().plus(&s).unwrap();
        let sum = pool.sum(&body, hole, &n).unwrap();
        let at = |pool: &mut Pool, value: i128| {
            let atom = n.as_atom().unwrap();
            pool.replace(&sum, atom, &Poly::constant(value)).unwrap().as_constant()
        };
        for value in 0..10 {
            let expected = (0..value).map(|s| s * s * s + s).sum();
            assert_eq!(at(&mut pool, value), Some(expected), "{value}");
        }
    }

    #[test]
    fn a_sum_without_closed_form_grows_by_its_last_summand() {
        let (mut pool, array, n) = elements();
        let hole = pool.hole();
        let body = pool.read(array, &Poly::atom(hole), &mut never).unwrap();
        let sum = pool.sum(&body, hole, &n).unwrap();
        let longer = pool.sum(&body, hole, &n.plus_constant(1).unwrap()).unwrap();
        let last = pool.read(array, &n, &mut never).unwrap();
        assert_eq!(longer.minus(&sum).unwrap(), last);
        assert_eq!(pool.show(&sum), "sum(b1 < x0(): A7()[b1])");
        // Another name of the bound variable is the same sum.
        let other = pool.hole();
        let body = pool.read(array, &Poly::atom(other), &mut never).unwrap();
        assert_eq!(pool.sum(&body, other, &n).unwrap(), sum);
    }

    #[test]
    fn a_sum_from_the_end_is_that_from_the_beginning() {
        let (mut pool, array, n) = elements();
        let hole = pool.hole();
        let forwards = pool.read(array, &Poly::atom(hole), &mut never).unwrap();
        let last = n.plus_constant(-1).unwrap();
        let backwards = pool.read(array, &last.minus(&Poly::atom(hole)).unwrap(), &mut never).unwrap();
        let [forwards, backwards] = [forwards, backwards].map(|body| pool.sum(&body, hole, &n).unwrap());
        assert_eq!(pool.show(&backwards), "sum(b1 < x0(): A7()[b1])");
        assert_eq!(forwards, backwards);
        // One position further it is another sum.
        let shifted = pool.read(array, &n.minus(&Poly::atom(hole)).unwrap(), &mut never).unwrap();
        assert_ne!(pool.sum(&shifted, hole, &n).unwrap(), forwards);
    }

    #[test]
    fn a_layer_is_read_where_it_was_written() {
        let mut pool = Pool::new();
        let array = pool.intern_array(ArrayKind::Zero);
        let hole = pool.hole();
        let value = Poly::atom(hole).times_constant(10).unwrap();
        let write = Write { start: Poly::constant(5), stride: -2, value, guard: Pool::truth(true), table: None };
        let array = pool.layer(array, &Poly::constant(3), &write, hole).unwrap();
        // Positions 5, 3, 1.
        let read = |pool: &mut Pool, at| pool.read(array, &Poly::constant(at), &mut never).unwrap().as_constant();
        let found: Vec<_> = (-2..8).map(|at| read(&mut pool, at).unwrap()).collect();
        assert_eq!(found, [0, 0, 0, 20, 0, 10, 0, 0, 0, 0]);
    }

    #[test]
    fn bound_variables_are_not_captured() {
        let (mut pool, array, n) = elements();
        let (inner, outer) = (pool.hole(), pool.hole());
        // The sum over i < n of the sum over j < i of A[i + j].
        let index = Poly::atom(inner).plus(&Poly::atom(outer)).unwrap();
        let element = pool.read(array, &index, &mut never).unwrap();
        let row = pool.sum(&element, inner, &Poly::atom(outer)).unwrap();
        let sum = pool.sum(&row, outer, &n).unwrap();
        assert_eq!(pool.show(&sum), "sum(b2 < x0(): sum(b3 < b2: A7()[b2 + b3]))");
        let atom = n.as_atom().unwrap();
        let two = pool.replace(&sum, atom, &Poly::constant(2)).unwrap();
        assert_eq!(pool.show(&two), "A7()[1]");
    }
}
