// SPDX-License-Identifier: Apache-2.0
//! Arrays to Z3, and the values of arrays in its models.

use z3_sys::*;

use super::context::Context;
use crate::error::Error;
use crate::term::{ArrayValue, Sort, Term, TermId, Terms, Value};

impl Context {
    pub(super) fn array_sort(&self, index: u32, element: u32) -> Result<Z3_sort, Error> {
        let (domain, range) = (self.sort(Sort::Bv(index))?, self.sort(Sort::Bv(element))?);
        // SAFETY: the context is alive, and Z3 keeps bit-vector sorts.
        self.kept_sort((index, element), || unsafe { Z3_mk_array_sort(self.raw(), domain, range) })
    }

    /// The node of an array operation whose operands are translated.
    pub(super) fn array_node(&mut self, terms: &Terms, t: TermId) -> Result<Z3_ast, Error> {
        let c = self.raw();
        // SAFETY: the operands are referenced by the memo or kept.
        match *terms.get(t) {
            Term::ConstArray { index, element } => {
                let domain = self.sort(Sort::Bv(index))?;
                self.keep(unsafe { Z3_mk_const_array(c, domain, self.memo[&element]) })
            }
            Term::Select(a, i) => self.keep(unsafe { Z3_mk_select(c, self.memo[&a], self.memo[&i]) }),
            Term::Store { array, base, ref writes } => {
                let (mut result, width) = (self.memo[&array], terms.width(base));
                let constant = match *terms.get(base) {
                    Term::Bv { bits, .. } => Some(bits),
                    _ => None,
                };
                for (offset, element) in writes.to_vec() {
                    let base = self.memo[&base];
                    let index = match constant {
                        Some(k) => self.numeral_of(&k.wrapping_add(offset).to_string(), Sort::Bv(width))?,
                        None if offset == 0 => base,
                        None => {
                            let offset = self.numeral_of(&offset.to_string(), Sort::Bv(width))?;
                            self.keep(unsafe { Z3_mk_bvadd(c, base, offset) })?
                        }
                    };
                    result = self.keep(unsafe { Z3_mk_store(c, result, index, self.memo[&element]) })?;
                }
                Ok(result)
            }
            _ => unreachable!("the caller has an array operation"),
        }
    }

    /// The array that a term of a model denotes: stores over a constant array or over the table of a function.
    pub(super) fn array_value(
        &self,
        model: Z3_model,
        index: u32,
        element: u32,
        ast: Z3_ast,
    ) -> Result<ArrayValue, Error> {
        let c = self.raw();
        let mut stores: Vec<(u128, u128)> = Vec::new();
        let mut rest = ast;
        let mut value = loop {
            // SAFETY: model and term are alive, and so are the parts of the term.
            unsafe {
                if Z3_is_as_array(c, rest) {
                    let function = self.made(Z3_get_as_array_func_decl(c, rest))?;
                    break self.table(model, function, index, element)?;
                }
                if Z3_get_ast_kind(c, rest) != AstKind::App {
                    return Err(Error::Inexpressible);
                }
                let app = self.made(Z3_to_app(c, rest))?;
                let decl = self.made(Z3_get_app_decl(c, app))?;
                let arg = |i: u32| self.made(Z3_get_app_arg(c, app, i));
                match Z3_get_decl_kind(c, decl) {
                    DeclKind::Store if Z3_get_app_num_args(c, app) == 3 => {
                        stores.push((self.bits(index, arg(1)?)?, self.bits(element, arg(2)?)?));
                        rest = arg(0)?;
                    }
                    DeclKind::ConstArray => break ArrayValue::constant(index, element, self.bits(element, arg(0)?)?),
                    _ => return Err(Error::Inexpressible),
                }
            }
        };
        // The outermost store is the last.
        for (i, v) in stores.into_iter().rev() {
            value = value.with(i, v);
        }
        Ok(value)
    }

    fn bits(&self, width: u32, ast: Z3_ast) -> Result<u128, Error> {
        // SAFETY: the term is alive.
        if unsafe { Z3_get_ast_kind(self.raw(), ast) } != AstKind::Numeral {
            return Err(Error::Inexpressible);
        }
        match self.value_of(Sort::Bv(width), ast)? {
            Value::Bv { bits, .. } => Ok(bits),
            Value::Bool(_) | Value::Int(_) | Value::Array(_) => Err(Error::Inexpressible),
        }
    }

    /// The array that agrees with a function of the model.
    fn table(&self, model: Z3_model, function: Z3_func_decl, index: u32, element: u32) -> Result<ArrayValue, Error> {
        let c = self.raw();
        // SAFETY: the model is alive; interpretation and entries are referenced while they are read.
        unsafe {
            let table = self.made(Z3_model_get_func_interp(c, model, function))?;
            Z3_func_interp_inc_ref(c, table);
            let read = || {
                let default = self.bits(element, self.made(Z3_func_interp_get_else(c, table))?)?;
                let mut value = ArrayValue::constant(index, element, default);
                for i in 0..Z3_func_interp_get_num_entries(c, table) {
                    let entry = self.made(Z3_func_interp_get_entry(c, table, i))?;
                    Z3_func_entry_inc_ref(c, entry);
                    let pair = self
                        .made(Z3_func_entry_get_arg(c, entry, 0))
                        .and_then(|at| Ok((at, self.made(Z3_func_entry_get_value(c, entry))?)))
                        .and_then(|(at, v)| Ok((self.bits(index, at)?, self.bits(element, v)?)));
                    Z3_func_entry_dec_ref(c, entry);
                    let (at, v) = pair?;
                    value = value.with(at, v);
                }
                Ok(value)
            };
            let value = read();
            Z3_func_interp_dec_ref(c, table);
            value
        }
    }
}
