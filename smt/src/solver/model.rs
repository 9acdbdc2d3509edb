// SPDX-License-Identifier: Apache-2.0
//! Models: values for the instances of symbols, and evaluation of terms under them.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::term::{ArrayValue, Evaluator, Sort, SymId, TermId, Terms, Value};

/// Where a model takes its values from. Solvers implement it.
pub trait Assignment {
    /// The value of an instance; `Ok(None)` if the solver left it open.
    ///
    /// # Errors
    /// The value cannot be expressed, for example an integer beyond 128 bits.
    fn value(&self, terms: &Terms, sym: SymId, index: u32) -> Result<Option<Value>, Error>;
}

/// The values that are noted; all others are open.
impl Assignment for FxHashMap<(SymId, u32), Value> {
    fn value(&self, _: &Terms, sym: SymId, index: u32) -> Result<Option<Value>, Error> {
        Ok(self.get(&(sym, index)).cloned())
    }
}

/// A model, valid until the solver is used again.
///
/// Instances that the solver left open get false, zero, or the number of the bounds closest to zero, and keep that
/// value. Terms are evaluated by [`Terms::try_eval`], not by the solver.
pub struct Model<'s> {
    source: Box<dyn Assignment + 's>,
    cache: RefCell<FxHashMap<(SymId, u32), Option<Value>>>,
}

impl<'s> Model<'s> {
    /// A model over a solver's assignment.
    pub fn new(source: impl Assignment + 's) -> Self {
        Model { source: Box::new(source), cache: RefCell::default() }
    }

    /// The value of a term. None if it cannot be expressed in 128 bits.
    pub fn eval(&self, terms: &Terms, t: TermId) -> Option<Value> {
        let mut expressible = true;
        let value = terms.try_eval(t, &mut |sym, index| {
            self.value(terms, sym, index).unwrap_or_else(|| {
                expressible = false;
                terms.default_value(sym)
            })
        });
        if expressible { value } else { None }
    }

    /// The values of several terms, each of their common parts evaluated once. None if some cannot be expressed in 128 bits.
    pub fn values(&self, terms: &Terms, roots: &[TermId]) -> Option<Vec<Value>> {
        let mut expressible = true;
        let values = Evaluator::new(terms, roots).run(terms, &mut |sym, index| {
            self.value(terms, sym, index).unwrap_or_else(|| {
                expressible = false;
                terms.default_value(sym)
            })
        });
        values.filter(|_| expressible)
    }

    /// Whether a formula holds. None if that cannot be told in 128 bits.
    pub fn holds(&self, terms: &Terms, formula: TermId) -> Option<bool> {
        self.eval(terms, formula)?.as_bool()
    }

    /// The value of an instance. None if it cannot be expressed.
    pub fn value(&self, terms: &Terms, sym: SymId, index: u32) -> Option<Value> {
        let mut cache = self.cache.borrow_mut();
        let value = cache.entry((sym, index)).or_insert_with(|| {
            let found = self.source.value(terms, sym, index).ok()?;
            Some(found.unwrap_or_else(|| terms.default_value(sym)))
        });
        value.clone()
    }
}

impl Terms {
    /// The value of an instance that a model leaves open: false, zero, or the number of the bounds closest to zero.
    pub fn default_value(&self, sym: SymId) -> Value {
        match self.symbol_sort(sym) {
            Sort::Bool => Value::Bool(false),
            Sort::Bv(width) => Value::Bv { width, bits: 0 },
            Sort::Array { index, element } => Value::Array(ArrayValue::constant(index, element, 0)),
            Sort::Int => {
                let (lo, hi) = self.symbol_bounds(sym).unwrap_or((0, 0));
                Value::Int(0.clamp(lo, hi.max(lo)))
            }
        }
    }
}
