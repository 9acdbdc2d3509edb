// SPDX-License-Identifier: Apache-2.0
//! Arrays to Z3, and the values of arrays in its models.
//!
//! A solver can also do without arrays (Ackermann's reduction): a read of an array variable becomes a variable for the cell, a
//! read over writes becomes a choice, and where two indices may be equal, it is asserted that equal indices mean equal
//! cells. Most reads are at constant distances, for which there is nothing to assert. Equations between arrays cannot be
//! expressed then.

use z3_sys::*;

use rustc_hash::FxHashMap;

use super::context::Context;
use crate::error::Error;
use crate::term::{ArrayValue, Sort, Term, TermId, Terms, Value};

/// A read of an array variable.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) array: TermId,
    pub(super) index: TermId,
    pub(super) index_ast: Z3_ast,
    pub(super) value: Z3_ast,
}

/// The cells that stand for reads.
#[derive(Default)]
pub(super) struct Cells {
    pub(super) all: Vec<Cell>,
    /// The value of a read and the cells that it depends on, without repetition, by array and index.
    reads: FxHashMap<(TermId, TermId), (Z3_ast, Vec<usize>)>,
}

impl Cells {
    /// The cells that a read depends on.
    pub(super) fn of_read(&self, array: TermId, index: TermId) -> &[usize] {
        self.reads.get(&(array, index)).map_or(&[], |(_, cells)| cells)
    }
}

impl Context {
    /// The value of a read over cells; all operands are translated.
    fn read(&mut self, terms: &Terms, array: TermId, index: TermId) -> Result<(Z3_ast, Vec<usize>), Error> {
        if let Some(known) = self.cells.reads.get(&(array, index)) {
            return Ok(known.clone());
        }
        let c = self.raw();
        let result = match *terms.get(array) {
            Term::ConstArray { element, .. } => (self.memo[&element], Vec::new()),
            Term::Store { array: below, base, ref writes } => {
                let (mut value, cells) = self.read(terms, below, index)?;
                for (offset, element) in writes.to_vec() {
                    let place = self.place(terms, base, offset)?;
                    // SAFETY: the operands are referenced by the memo or kept, here and below.
                    value = unsafe {
                        let here = self.keep(Z3_mk_eq(c, self.memo[&index], place))?;
                        self.keep(Z3_mk_ite(c, here, self.memo[&element], value))?
                    };
                }
                (value, cells)
            }
            Term::Ite(d, x, y) => {
                let (x, mut cells) = self.read(terms, x, index)?;
                let (y, more) = self.read(terms, y, index)?;
                // Each cell once: there is one for an array variable, but the ways to it may be as many as paths.
                for cell in more {
                    if !cells.contains(&cell) {
                        cells.push(cell);
                    }
                }
                (self.keep(unsafe { Z3_mk_ite(c, self.memo[&d], x, y) })?, cells)
            }
            _ => {
                let Sort::Array { element, .. } = terms.sort(array) else {
                    unreachable!("constructors guarantee an array operand")
                };
                let value = self.fresh("cell", Sort::Bv(element))?;
                self.cells.all.push(Cell { array, index, index_ast: self.memo[&index], value });
                (value, vec![self.cells.all.len() - 1])
            }
        };
        self.cells.reads.insert((array, index), result.clone());
        Ok(result)
    }

    /// That equal indices mean equal cells, referenced.
    pub(super) fn consistent(&self, a: Cell, b: Cell) -> Result<Z3_ast, Error> {
        let c = self.raw();
        // SAFETY: indices and values of cells are kept.
        unsafe {
            let same = self.keep(Z3_mk_eq(c, a.index_ast, b.index_ast))?;
            let equal = self.keep(Z3_mk_eq(c, a.value, b.value))?;
            self.keep(Z3_mk_implies(c, same, equal))
        }
    }

    /// The array that has these cells in a model.
    pub(super) fn array_of_cells(
        &self,
        model: Z3_model,
        (index, element): (u32, u32),
        cells: impl Iterator<Item = Cell>,
    ) -> Result<ArrayValue, Error> {
        let c = self.raw();
        let value = |width: u32, ast: Z3_ast| {
            let mut out = std::mem::MaybeUninit::<Option<Z3_ast>>::zeroed();
            // SAFETY: model and term are alive; the result is read before the next call.
            unsafe {
                if !Z3_model_eval(c, model, ast, true, out.as_mut_ptr().cast()) {
                    return Err(Error::Inexpressible);
                }
                self.bits(width, self.made(out.assume_init())?)
            }
        };
        let mut array = ArrayValue::constant(index, element, 0);
        for cell in cells {
            array = array.with(value(index, cell.index_ast)?, value(element, cell.value)?);
        }
        Ok(array)
    }

    fn place(&self, terms: &Terms, base: TermId, offset: u128) -> Result<Z3_ast, Error> {
        let width = terms.width(base);
        match *terms.get(base) {
            Term::Bv { bits, .. } => self.numeral_of(&bits.wrapping_add(offset).to_string(), Sort::Bv(width)),
            _ if offset == 0 => Ok(self.memo[&base]),
            _ => {
                let offset = self.numeral_of(&offset.to_string(), Sort::Bv(width))?;
                // SAFETY: the base is referenced by the memo.
                self.keep(unsafe { Z3_mk_bvadd(self.raw(), self.memo[&base], offset) })
            }
        }
    }

    pub(super) fn array_sort(&self, index: u32, element: u32) -> Result<Z3_sort, Error> {
        let (domain, range) = (self.sort(Sort::Bv(index))?, self.sort(Sort::Bv(element))?);
        // SAFETY: the context is alive, and Z3 keeps bit-vector sorts.
        self.kept_sort((index, element), || unsafe { Z3_mk_array_sort(self.raw(), domain, range) })
    }

    /// The node of an array operation whose operands are translated.
    pub(super) fn array_node(&mut self, terms: &Terms, t: TermId) -> Result<Z3_ast, Error> {
        let c = self.raw();
        // SAFETY: the operands are referenced by the memo or kept.
        if self.eliminate_arrays {
            return match *terms.get(t) {
                Term::Select(array, index) => Ok(self.read(terms, array, index)?.0),
                // Only reads of it are translated.
                _ => self.keep(unsafe { Z3_mk_true(c) }),
            };
        }
        match *terms.get(t) {
            Term::ConstArray { index, element } => {
                let domain = self.sort(Sort::Bv(index))?;
                self.keep(unsafe { Z3_mk_const_array(c, domain, self.memo[&element]) })
            }
            Term::Select(a, i) => self.keep(unsafe { Z3_mk_select(c, self.memo[&a], self.memo[&i]) }),
            Term::Store { array, base, ref writes } => {
                let mut result = self.memo[&array];
                for (offset, element) in writes.to_vec() {
                    let index = self.place(terms, base, offset)?;
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
