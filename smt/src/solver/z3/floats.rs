// SPDX-License-Identifier: Apache-2.0
//! Floating-point operations to Z3.
//!
//! Terms hold numbers as bits, Z3 has a sort for them. Each operation is translated to a number, and to the bits of that
//! number for those who look at them; operations on results of operations, negations, absolute values and choices between
//! numbers use the numbers, so nothing goes through bits and back. Z3 leaves the bits of what is no number open; here they
//! are the canonical ones.
//!
//! Z3's solver for QF_BV knows no such sort; for it, operations are circuits over bits, made from Z3's own definition of
//! each operation. Measured with Z3 5.3.2: a sum of ten constants of 64 bits under a label for each step is refuted, with
//! its core, in 0.6 s by that solver with circuits, and in 16 s by the general one with numbers; few operations on variables
//! take about the same time with both.

use z3_sys::*;

use super::context::{Context, c_string};
use crate::error::Error;
use crate::solver::Limits;
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
        let (operation, a, b) = match *terms.get(t) {
            Term::FpCmp(op, a, b) => (Operation::Compare(op), a, Some(b)),
            Term::FpBin(op, a, b) => (Operation::Binary(op), a, Some(b)),
            Term::FpUn(op, a) => (Operation::Unary(op), a, None),
            _ => unreachable!("the caller has a floating-point operation"),
        };
        let width = terms.width(a);
        if self.circuits {
            let operands: Vec<Z3_ast> = [Some(a), b].into_iter().flatten().map(|x| self.memo[&x]).collect();
            return self.circuit(operation, width, &operands);
        }
        let mut operands = Vec::with_capacity(2);
        for x in [Some(a), b].into_iter().flatten() {
            operands.push(if operation.takes_bits() { self.memo[&x] } else { self.number(terms, x)? });
        }
        let result = self.operation(operation, width, &operands)?;
        match operation.number_width(width) {
            None => Ok(result),
            Some(width) => {
                self.numbers.insert(t, result);
                self.bits_of_number(width, result)
            }
        }
    }

    /// An operation on numbers (or for conversions from integers, bits) that are kept: a number, bits or a truth value.
    fn operation(&mut self, operation: Operation, width: u32, operands: &[Z3_ast]) -> Result<Z3_ast, Error> {
        let c = self.raw();
        let nearest = self.rounding(Rounding::NearestEven)?;
        // SAFETY: the operands are kept, here and below.
        let ast = match (operation, operands) {
            (Operation::Compare(op), &[a, b]) => {
                let make = match op {
                    FpCmp::Eq => Z3_mk_fpa_eq,
                    FpCmp::Lt => Z3_mk_fpa_lt,
                    FpCmp::Le => Z3_mk_fpa_leq,
                };
                unsafe { make(c, a, b) }
            }
            (Operation::Binary(op), &[a, b]) => {
                let make: Rounded = match op {
                    FpBin::Add => Z3_mk_fpa_add,
                    FpBin::Sub => Z3_mk_fpa_sub,
                    FpBin::Mul => Z3_mk_fpa_mul,
                    FpBin::Div => Z3_mk_fpa_div,
                };
                unsafe { make(c, nearest, a, b) }
            }
            (Operation::Unary(op), &[a]) => match op {
                FpUn::Sqrt => unsafe { Z3_mk_fpa_sqrt(c, nearest, a) },
                FpUn::Round(rounding) => {
                    let mode = self.rounding(rounding)?;
                    unsafe { Z3_mk_fpa_round_to_integral(c, mode, a) }
                }
                FpUn::ToFloat { bits } => {
                    let sort = self.number_sort(bits)?;
                    unsafe { Z3_mk_fpa_to_fp_float(c, nearest, a, sort) }
                }
                FpUn::FromInt { signed, bits } => {
                    let sort = self.number_sort(bits)?;
                    let make = if signed { Z3_mk_fpa_to_fp_signed } else { Z3_mk_fpa_to_fp_unsigned };
                    unsafe { make(c, nearest, a, sort) }
                }
                FpUn::ToInt { signed, bits } => return self.integral(width, a, signed, bits),
            },
            _ => unreachable!("operations have one or two operands"),
        };
        self.keep(ast)
    }

    /// An operation as a circuit over the bits of its operands: Z3 is asked once what the operation means for variables, and
    /// the operands are put in their places.
    fn circuit(&mut self, operation: Operation, width: u32, operands: &[Z3_ast]) -> Result<Z3_ast, Error> {
        let c = self.raw();
        if !self.templates.contains_key(&(operation, width)) {
            let template = self.template(operation, width, operands.len())?;
            self.templates.insert((operation, width), template);
        }
        let (variables, body) = &self.templates[&(operation, width)];
        // SAFETY: template and operands are kept.
        self.keep(unsafe { Z3_substitute(c, *body, operands.len() as u32, variables.as_ptr(), operands.as_ptr()) })
    }

    /// Variables for the operands and the result as a term over them, without floating-point numbers.
    fn template(&mut self, operation: Operation, width: u32, count: usize) -> Result<(Vec<Z3_ast>, Z3_ast), Error> {
        let c = self.raw();
        let mut variables = Vec::with_capacity(count);
        for _ in 0..count {
            variables.push(self.fresh("operand", Sort::Bv(width))?);
        }
        let mut operands = Vec::with_capacity(count);
        for &x in &variables {
            operands.push(if operation.takes_bits() { x } else { self.number_from_bits(width, x)? });
        }
        let value = self.operation(operation, width, &operands)?;
        let (value, sort) = match (operation, operation.number_width(width)) {
            (_, Some(width)) => (self.bits_of_number(width, value)?, Sort::Bv(width)),
            (Operation::Unary(op), None) => (value, Sort::Bv(op.result_width(width))),
            (Operation::Binary(_) | Operation::Compare(_), None) => (value, Sort::Bool),
        };
        let result = self.fresh("result", sort)?;
        // SAFETY: all terms are kept.
        let mut formula = unsafe { self.keep(Z3_mk_eq(c, result, value))? };
        formula = self.after(&["simplify", "fpa2bv", "simplify"], formula, &Limits::none())?;
        let parts = match self.connective(formula)? {
            (DeclKind::And, parts) => parts,
            _ => vec![formula],
        };
        for part in parts {
            match self.connective(part)? {
                (DeclKind::Eq | DeclKind::Iff, sides) if sides.len() == 2 && sides.contains(&result) => {
                    let body = if sides[0] == result { sides[1] } else { sides[0] };
                    return Ok((variables, self.keep(Some(body))?));
                }
                _ => {}
            }
        }
        Err(Error::Untranslatable("a floating-point operation without circuit".to_owned()))
    }

    pub(super) fn fresh(&self, prefix: &str, sort: Sort) -> Result<Z3_ast, Error> {
        let (prefix, sort) = (c_string(prefix), self.sort(sort)?);
        // SAFETY: the string outlives the call.
        self.keep(unsafe { Z3_mk_fresh_const(self.raw(), prefix.as_ptr(), sort) })
    }

    /// The kind of a term's operator, and its operands.
    pub(super) fn connective(&self, ast: Z3_ast) -> Result<(DeclKind, Vec<Z3_ast>), Error> {
        let c = self.raw();
        // SAFETY: the term is kept, and so are its parts.
        unsafe {
            if Z3_get_ast_kind(c, ast) != AstKind::App {
                return Ok((DeclKind::Uninterpreted, Vec::new()));
            }
            let app = self.made(Z3_to_app(c, ast))?;
            let decl = self.made(Z3_get_app_decl(c, app))?;
            let args: Result<Vec<Z3_ast>, Error> =
                (0..Z3_get_app_num_args(c, app)).map(|i| self.made(Z3_get_app_arg(c, app, i))).collect();
            Ok((Z3_get_decl_kind(c, decl), args?))
        }
    }

    fn integral(&mut self, width: u32, number: Z3_ast, signed: bool, bits: u32) -> Result<Z3_ast, Error> {
        let c = self.raw();
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

/// A floating-point operation.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Operation {
    Unary(FpUn),
    Binary(FpBin),
    Compare(FpCmp),
}

impl Operation {
    /// Whether the operand is an integer.
    fn takes_bits(self) -> bool {
        matches!(self, Operation::Unary(FpUn::FromInt { .. }))
    }

    /// The width of the result for operands of the given width, if it is a number.
    fn number_width(self, width: u32) -> Option<u32> {
        match self {
            Operation::Compare(_) | Operation::Unary(FpUn::ToInt { .. }) => None,
            Operation::Binary(_) => Some(width),
            Operation::Unary(op) => Some(op.result_width(width)),
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
