// SPDX-License-Identifier: Apache-2.0
//! Floating-point operations to Z3.
//!
//! Terms hold numbers as bits, Z3 has a sort for them. Each operation is translated to a number, and to the bits of that
//! number for those who look at them; operations on results of operations, negations, absolute values and choices between
//! numbers use the numbers, so nothing goes through bits and back. Z3 leaves the bits of what is no number open; here they
//! are the canonical ones.

use z3_sys::*;

use super::context::Context;
use crate::error::Error;
use crate::term::{BvBin, FpBin, FpCmp, FpUn, Rounding, Sort, Term, TermId, Terms, canonical_nan, int_limits, unfit};

type Rounded = unsafe extern "C" fn(Z3_context, Z3_ast, Z3_ast, Z3_ast) -> Option<Z3_ast>;

impl Context {
    /// The sort of the numbers with 32 or 64 bits.
    fn number_sort(&self, width: u32) -> Result<Z3_sort, Error> {
        // SAFETY: the context is alive.
        self.kept_sort((width, 0), || unsafe {
            if width == 32 { Z3_mk_fpa_sort_32(self.raw()) } else { Z3_mk_fpa_sort_64(self.raw()) }
        })
    }

    fn rounding(&mut self, rounding: Rounding) -> Result<Z3_ast, Error> {
        if let Some(&mode) = self.roundings.get(&rounding) {
            return Ok(mode);
        }
        let make = match rounding {
            Rounding::NearestEven => Z3_mk_fpa_rne,
            Rounding::NearestAway => Z3_mk_fpa_rna,
            Rounding::TowardZero => Z3_mk_fpa_rtz,
            Rounding::Up => Z3_mk_fpa_rtp,
            Rounding::Down => Z3_mk_fpa_rtn,
        };
        // SAFETY: the context is alive.
        let mode = self.keep(unsafe { make(self.raw()) })?;
        self.roundings.insert(rounding, mode);
        Ok(mode)
    }

    fn bits_constant(&self, width: u32, bits: u128) -> Result<Z3_ast, Error> {
        self.numeral_of(&bits.to_string(), Sort::Bv(width))
    }

    fn number_from_bits(&self, width: u32, bits: Z3_ast) -> Result<Z3_ast, Error> {
        let sort = self.number_sort(width)?;
        // SAFETY: operand and sort are kept.
        self.keep(unsafe { Z3_mk_fpa_to_fp_bv(self.raw(), bits, sort) })
    }

    fn bits_of_number(&self, width: u32, number: Z3_ast) -> Result<Z3_ast, Error> {
        let c = self.raw();
        let nan = self.bits_constant(width, canonical_nan(width))?;
        // SAFETY: all operands are kept.
        unsafe {
            let is_nan = self.keep(Z3_mk_fpa_is_nan(c, number))?;
            let bits = self.keep(Z3_mk_fpa_to_ieee_bv(c, number))?;
            self.keep(Z3_mk_ite(c, is_nan, nan, bits))
        }
    }

    /// The number whose bits a term is; the term and its operands have been translated.
    fn number(&mut self, terms: &Terms, t: TermId) -> Result<Z3_ast, Error> {
        let c = self.raw();
        let order = {
            let numbers = &self.numbers;
            terms.post_order(&[t], |s| numbers.contains_key(&s) || (s != t && !passes_numbers(terms, s)))
        };
        for s in order {
            let width = terms.width(s);
            // SAFETY: all operands are kept.
            let number = match *terms.get(s) {
                Term::Ite(d, a, b) => {
                    let (a, b) = (self.part(terms, a)?, self.part(terms, b)?);
                    self.keep(unsafe { Z3_mk_ite(c, self.memo[&d], a, b) })?
                }
                Term::BvBin(op, a, _) if passes_numbers(terms, s) => {
                    let a = self.part(terms, a)?;
                    let make = if op == BvBin::Xor { Z3_mk_fpa_neg } else { Z3_mk_fpa_abs };
                    self.keep(unsafe { make(c, a) })?
                }
                _ => self.number_from_bits(width, self.memo[&s])?,
            };
            self.numbers.insert(s, number);
        }
        Ok(self.numbers[&t])
    }

    /// A number that [`Context::number`] has visited or that has to be read from its bits.
    fn part(&mut self, terms: &Terms, t: TermId) -> Result<Z3_ast, Error> {
        if let Some(&number) = self.numbers.get(&t) {
            return Ok(number);
        }
        let number = self.number_from_bits(terms.width(t), self.memo[&t])?;
        self.numbers.insert(t, number);
        Ok(number)
    }

    /// The node of a floating-point operation whose operands are translated: bits, or a truth value.
    pub(super) fn float_node(&mut self, terms: &Terms, t: TermId) -> Result<Z3_ast, Error> {
        let c = self.raw();
        let number = match *terms.get(t) {
            Term::FpCmp(op, a, b) => {
                let (a, b) = (self.number(terms, a)?, self.number(terms, b)?);
                let make = match op {
                    FpCmp::Eq => Z3_mk_fpa_eq,
                    FpCmp::Lt => Z3_mk_fpa_lt,
                    FpCmp::Le => Z3_mk_fpa_leq,
                };
                // SAFETY: the operands are kept, here and below.
                return self.keep(unsafe { make(c, a, b) });
            }
            Term::FpBin(op, a, b) => {
                let (a, b) = (self.number(terms, a)?, self.number(terms, b)?);
                let make: Rounded = match op {
                    FpBin::Add => Z3_mk_fpa_add,
                    FpBin::Sub => Z3_mk_fpa_sub,
                    FpBin::Mul => Z3_mk_fpa_mul,
                    FpBin::Div => Z3_mk_fpa_div,
                };
                let nearest = self.rounding(Rounding::NearestEven)?;
                self.keep(unsafe { make(c, nearest, a, b) })?
            }
            Term::FpUn(FpUn::ToInt { signed, bits }, a) => return self.integral(terms, a, signed, bits),
            Term::FpUn(FpUn::FromInt { signed, bits }, a) => {
                let (nearest, sort) = (self.rounding(Rounding::NearestEven)?, self.number_sort(bits)?);
                let make = if signed { Z3_mk_fpa_to_fp_signed } else { Z3_mk_fpa_to_fp_unsigned };
                self.keep(unsafe { make(c, nearest, self.memo[&a], sort) })?
            }
            Term::FpUn(op, a) => {
                let a = self.number(terms, a)?;
                let nearest = self.rounding(Rounding::NearestEven)?;
                match op {
                    FpUn::Sqrt => self.keep(unsafe { Z3_mk_fpa_sqrt(c, nearest, a) })?,
                    FpUn::Round(rounding) => {
                        let mode = self.rounding(rounding)?;
                        self.keep(unsafe { Z3_mk_fpa_round_to_integral(c, mode, a) })?
                    }
                    FpUn::ToFloat { bits } => {
                        let sort = self.number_sort(bits)?;
                        self.keep(unsafe { Z3_mk_fpa_to_fp_float(c, nearest, a, sort) })?
                    }
                    FpUn::FromInt { .. } | FpUn::ToInt { .. } => unreachable!("handled above"),
                }
            }
            _ => unreachable!("the caller has a floating-point operation"),
        };
        self.numbers.insert(t, number);
        self.bits_of_number(terms.width(t), number)
    }

    fn integral(&mut self, terms: &Terms, a: TermId, signed: bool, bits: u32) -> Result<Z3_ast, Error> {
        let (c, width) = (self.raw(), terms.width(a));
        let number = self.number(terms, a)?;
        let (least, limit) = int_limits(width, signed, bits);
        let (least, limit) = (self.bits_constant(width, least)?, self.bits_constant(width, limit)?);
        let (least, limit) = (self.number_from_bits(width, least)?, self.number_from_bits(width, limit)?);
        let unfit = self.bits_constant(bits, unfit(bits))?;
        let truncating = self.rounding(Rounding::TowardZero)?;
        // SAFETY: all operands are kept.
        unsafe {
            let whole = self.keep(Z3_mk_fpa_round_to_integral(c, truncating, number))?;
            let low = self.keep(Z3_mk_fpa_leq(c, least, whole))?;
            let high = self.keep(Z3_mk_fpa_lt(c, whole, limit))?;
            let fits = self.keep(Z3_mk_and(c, 2, [low, high].as_ptr()))?;
            let convert = if signed { Z3_mk_fpa_to_sbv } else { Z3_mk_fpa_to_ubv };
            let value = self.keep(convert(c, truncating, number, bits))?;
            self.keep(Z3_mk_ite(c, fits, value, unfit))
        }
    }
}

/// Whether a node is the number that an operand is, up to choice and sign.
fn passes_numbers(terms: &Terms, t: TermId) -> bool {
    let constant = |k: TermId| match *terms.get(k) {
        Term::Bv { width, bits } => Some((width, bits)),
        _ => None,
    };
    match *terms.get(t) {
        Term::Ite(_, a, _) => matches!(terms.sort(a), Sort::Bv(_)),
        Term::BvBin(BvBin::Xor, _, k) => constant(k).is_some_and(|(width, bits)| bits == 1 << (width - 1)),
        Term::BvBin(BvBin::And, _, k) => constant(k).is_some_and(|(width, bits)| bits == (1 << (width - 1)) - 1),
        _ => false,
    }
}
