// SPDX-License-Identifier: Apache-2.0
//! A Z3 context: its life, its errors, its parameters and the terms translated into it.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::sync::Mutex;

use rustc_hash::FxHashMap;
use z3_sys::{
    ErrorCode, Z3_ast, Z3_context, Z3_dec_ref, Z3_del_config, Z3_del_context, Z3_get_error_code, Z3_get_error_msg,
    Z3_global_param_set, Z3_inc_ref, Z3_mk_config, Z3_mk_context_rc, Z3_mk_params, Z3_mk_string_symbol, Z3_params,
    Z3_params_dec_ref, Z3_params_inc_ref, Z3_params_set_bool, Z3_params_set_symbol, Z3_params_set_uint,
    Z3_set_error_handler, Z3_set_param_value, Z3_sort, Z3_string, Z3_symbol,
};

use super::arrays::Cells;
use super::floats::Operation;
use super::watchdog::Watchdog;
use crate::error::Error;
use crate::term::{Rounding, Sort, StoreId, SymId, TermId, Terms, Value};

/// Sets the memory in bytes that all Z3 contexts of the process may use together. A call that exceeds it ends with
/// "unknown"; the solver is rebuilt before its next use.
///
/// Z3's solver for QF_BV leaks most of what it used when that happens (measured with Z3 5.3: 138 of 150 MB; the general
/// solver gave back all but 4 MB), so after it ran out of memory, all uses of Z3 may do so.
pub fn set_memory_limit(bytes: u64) {
    let megabytes = (bytes >> 20).clamp(1, u64::from(u32::MAX));
    let (name, value) = (c_string("memory_max_size"), c_string(&megabytes.to_string()));
    // SAFETY: both strings outlive the call.
    unsafe { Z3_global_param_set(name.as_ptr(), value.as_ptr()) };
}

/// Z3 initialises global tables when the first contexts are made; that is not safe in several threads at once.
static CREATION: Mutex<()> = Mutex::new(());

/// The name and version of the solver.
pub fn version() -> String {
    let (mut major, mut minor, mut build, mut revision) = (0, 0, 0, 0);
    // SAFETY: the function writes four numbers to the places it is given and reads nothing.
    unsafe { z3_sys::Z3_get_version(&mut major, &mut minor, &mut build, &mut revision) };
    format!("Z3 {major}.{minor}.{build}")
}

unsafe extern "C" fn ignore_error(_: Z3_context, _: ErrorCode) {}

pub(super) fn c_string(s: &str) -> CString {
    CString::new(s.replace('\0', "")).unwrap_or_default()
}

/// The text of a string that Z3 owns.
pub(super) fn text(s: Z3_string) -> String {
    if s.is_null() {
        return String::new();
    }
    // SAFETY: Z3 returns null-terminated strings that live until the next call.
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

/// A parameter of a solver, tactic or fixed-point engine.
#[derive(Clone, Debug)]
pub(super) enum Param<'a> {
    Bool(&'a str, bool),
    Uint(&'a str, u32),
    Symbol(&'a str, &'a str),
}

/// A Boolean constant that stands for a formula.
#[derive(Copy, Clone)]
pub(super) struct Name {
    pub(super) positive: Z3_ast,
    pub(super) negative: Z3_ast,
    /// The constant is equivalent to the formula.
    pub(super) definition: Z3_ast,
}

/// A context. Everything made in it must be released before it is dropped.
pub(super) struct Context {
    raw: Z3_context,
    /// Everything that [`Context::keep`] got, in order of creation.
    kept: RefCell<Vec<Z3_ast>>,
    /// Translations of terms.
    pub(super) memo: FxHashMap<TermId, Z3_ast>,
    ints: RefCell<FxHashMap<i128, Z3_ast>>,
    ranges: FxHashMap<Z3_ast, Z3_ast>,
    names: FxHashMap<Z3_ast, Name>,
    /// Which instance a constant of Z3 stands for.
    pub(super) instances: FxHashMap<Z3_ast, (SymId, u32)>,
    /// Numbers whose bits terms are.
    pub(super) numbers: FxHashMap<TermId, Z3_ast>,
    /// Whether reads of arrays become variables for their cells.
    pub(super) eliminate_arrays: bool,
    pub(super) cells: Cells,
    /// Whether equations of sums keep their sums, see [`super::Z3Config::keep_sums`].
    pub(super) keep_sums: bool,
    /// Whether floating-point operations become circuits over bits.
    pub(super) circuits: bool,
    /// Variables for the operands and the result over them, by operation and width of the operands.
    pub(super) templates: FxHashMap<(Operation, u32), (Vec<Z3_ast>, Z3_ast)>,
    pub(super) roundings: FxHashMap<Rounding, Z3_ast>,
    /// Sorts of arrays by the widths of index and element, and of numbers, which have 0 as the second.
    sorts: RefCell<FxHashMap<(u32, u32), Z3_sort>>,
    watchdog: Watchdog,
    store: Option<StoreId>,
}

impl Context {
    /// Fails if no memory is left.
    pub(super) fn new() -> Result<Self, Error> {
        let guard = CREATION.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // SAFETY: the configuration is deleted after its use; the handler is a plain function.
        let raw = unsafe {
            let config = Z3_mk_config().ok_or(Error::OutOfMemory)?;
            for (name, value) in [("model", "true"), ("proof", "false"), ("auto_config", "true")] {
                let (name, value) = (c_string(name), c_string(value));
                Z3_set_param_value(config, name.as_ptr(), value.as_ptr());
            }
            let raw = Z3_mk_context_rc(config);
            Z3_del_config(config);
            let raw = raw.ok_or(Error::OutOfMemory)?;
            Z3_set_error_handler(raw, Some(ignore_error));
            raw
        };
        drop(guard);
        Ok(Context {
            raw,
            kept: RefCell::default(),
            memo: FxHashMap::default(),
            ints: RefCell::default(),
            ranges: FxHashMap::default(),
            names: FxHashMap::default(),
            instances: FxHashMap::default(),
            numbers: FxHashMap::default(),
            eliminate_arrays: false,
            cells: Cells::default(),
            keep_sums: false,
            circuits: false,
            templates: FxHashMap::default(),
            roundings: FxHashMap::default(),
            sorts: RefCell::default(),
            watchdog: Watchdog::new(raw),
            store: None,
        })
    }

    pub(super) fn raw(&self) -> Z3_context {
        self.raw
    }

    pub(super) fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    /// Binds the context to the store whose term ids its memo uses.
    pub(super) fn bind(&mut self, terms: &Terms) {
        match &self.store {
            Some(store) => assert!(store.same(terms.id()), "the caller uses one term store with one solver"),
            None => self.store = Some(terms.id().handle()),
        }
    }

    /// The error of the last call.
    pub(super) fn error(&self) -> Result<(), Error> {
        // SAFETY: the context is alive.
        match unsafe { Z3_get_error_code(self.raw) } {
            ErrorCode::Ok => Ok(()),
            ErrorCode::MemoutFail => Err(Error::OutOfMemory),
            code => {
                // SAFETY: as above.
                let message = text(unsafe { Z3_get_error_msg(self.raw, code) });
                Err(classify(message))
            }
        }
    }

    /// A result of the last call that is only missing after an error.
    pub(super) fn made<T>(&self, result: Option<T>) -> Result<T, Error> {
        self.error()?;
        result.ok_or_else(|| Error::Solver("no result".to_owned()))
    }

    /// A term made by the last call, referenced so that it lives as long as the context.
    pub(super) fn keep(&self, ast: Option<Z3_ast>) -> Result<Z3_ast, Error> {
        let ast = self.made(ast)?;
        // SAFETY: the term was made in this context by the last call.
        unsafe { Z3_inc_ref(self.raw, ast) };
        self.kept.borrow_mut().push(ast);
        Ok(ast)
    }

    /// A sort made by `make` unless it was made before, referenced so that it lives as long as the context.
    pub(super) fn kept_sort(&self, key: (u32, u32), make: impl FnOnce() -> Option<Z3_sort>) -> Result<Z3_sort, Error> {
        if let Some(&sort) = self.sorts.borrow().get(&key) {
            return Ok(sort);
        }
        let sort = self.made(make())?;
        // SAFETY: the sort was made in this context by the last call.
        self.keep(unsafe { z3_sys::Z3_sort_to_ast(self.raw, sort) })?;
        self.sorts.borrow_mut().insert(key, sort);
        Ok(sort)
    }

    pub(super) fn symbol(&self, name: &str) -> Result<Z3_symbol, Error> {
        let name = c_string(name);
        // SAFETY: the string outlives the call; symbols need no reference.
        self.made(unsafe { Z3_mk_string_symbol(self.raw, name.as_ptr()) })
    }

    /// Calls `f` with a parameter set.
    pub(super) fn with_params<T>(
        &self,
        params: &[Param<'_>],
        f: impl FnOnce(Z3_params) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // SAFETY: the parameter set is referenced while it is used.
        unsafe {
            let set = self.made(Z3_mk_params(self.raw))?;
            Z3_params_inc_ref(self.raw, set);
            let mut result = Ok(());
            for param in params {
                result = match *param {
                    Param::Bool(name, v) => self.symbol(name).map(|n| Z3_params_set_bool(self.raw, set, n, v)),
                    Param::Uint(name, v) => self.symbol(name).map(|n| Z3_params_set_uint(self.raw, set, n, v)),
                    Param::Symbol(name, v) => self
                        .symbol(name)
                        .and_then(|n| self.symbol(v).map(|v| Z3_params_set_symbol(self.raw, set, n, v))),
                };
                if result.is_err() {
                    break;
                }
            }
            let result = result.and_then(|()| f(set));
            Z3_params_dec_ref(self.raw, set);
            result
        }
    }
}

/// Z3 reports some conditions as exceptions with a text only.
pub(super) fn classify(message: String) -> Error {
    let lower = message.to_lowercase();
    if lower.contains("out of memory") || lower.contains("memout") || lower.contains("max. memory") {
        Error::OutOfMemory
    } else if ["cancel", "interrupt", "timeout", "rlimit"].iter().any(|w| lower.contains(w)) {
        Error::GaveUp(message)
    } else {
        Error::Solver(message)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.watchdog.stop();
        // SAFETY: the watchdog does not use the context any more, and each term was referenced once.
        unsafe {
            // Deleting a context in which deep terms are still referenced takes quadratic time.
            for &ast in self.kept.get_mut().iter().rev() {
                Z3_dec_ref(self.raw, ast);
            }
            Z3_del_context(self.raw);
        }
    }
}

impl Context {
    /// The constant of an instance, if it was translated.
    pub(super) fn instance(&self, terms: &Terms, sym: SymId, index: u32) -> Option<Z3_ast> {
        terms.find_var(sym, index).and_then(|t| self.memo.get(&t).copied())
    }

    /// An integer constant.
    pub(super) fn int(&self, v: i128) -> Result<Z3_ast, Error> {
        if let Some(&ast) = self.ints.borrow().get(&v) {
            return Ok(ast);
        }
        let sort = self.sort(Sort::Int)?;
        let text = c_string(&v.to_string());
        // SAFETY: the string outlives the call.
        let ast = self.keep(unsafe { z3_sys::Z3_mk_numeral(self.raw, text.as_ptr(), sort) })?;
        self.ints.borrow_mut().insert(v, ast);
        Ok(ast)
    }

    /// `lo <= x <= hi`, where the bounds belong to x.
    pub(super) fn in_range(&mut self, x: Z3_ast, lo: i128, hi: i128) -> Result<Z3_ast, Error> {
        if let Some(&range) = self.ranges.get(&x) {
            return Ok(range);
        }
        let (lo, hi) = (self.int(lo)?, self.int(hi)?);
        // SAFETY: all operands are kept.
        let range = unsafe {
            let lower = self.keep(z3_sys::Z3_mk_le(self.raw, lo, x))?;
            let upper = self.keep(z3_sys::Z3_mk_le(self.raw, x, hi))?;
            self.keep(z3_sys::Z3_mk_and(self.raw, 2, [lower, upper].as_ptr()))?
        };
        self.ranges.insert(x, range);
        Ok(range)
    }

    /// The name of a formula. Its definition holds only where it is asserted.
    pub(super) fn name(&mut self, formula: Z3_ast) -> Result<Name, Error> {
        if let Some(&name) = self.names.get(&formula) {
            return Ok(name);
        }
        let prefix = c_string("assumed");
        let sort = self.sort(Sort::Bool)?;
        // SAFETY: all operands are kept; the string outlives the call.
        let name = unsafe {
            let positive = self.keep(z3_sys::Z3_mk_fresh_const(self.raw, prefix.as_ptr(), sort))?;
            let negative = self.keep(z3_sys::Z3_mk_not(self.raw, positive))?;
            let definition = self.keep(z3_sys::Z3_mk_iff(self.raw, positive, formula))?;
            Name { positive, negative, definition }
        };
        self.names.insert(formula, name);
        Ok(name)
    }

    /// The value that a numeral or Boolean constant of Z3 denotes.
    pub(super) fn value_of(&self, sort: Sort, ast: Z3_ast) -> Result<Value, Error> {
        // SAFETY: the term is alive; the out-parameters are valid.
        unsafe {
            match sort {
                Sort::Bool => match z3_sys::Z3_get_bool_value(self.raw, ast) {
                    z3_sys::Z3_L_TRUE => Ok(Value::Bool(true)),
                    z3_sys::Z3_L_FALSE => Ok(Value::Bool(false)),
                    _ => Err(Error::Inexpressible),
                },
                Sort::Bv(width) => {
                    let mut small = 0;
                    if z3_sys::Z3_get_numeral_uint64(self.raw, ast, &raw mut small) {
                        return Ok(Value::Bv { width, bits: u128::from(small) });
                    }
                    let bits = text(z3_sys::Z3_get_numeral_string(self.raw, ast)).parse();
                    bits.map(|bits| Value::Bv { width, bits }).map_err(|_| Error::Inexpressible)
                }
                Sort::Int => {
                    let mut small = 0;
                    if z3_sys::Z3_get_numeral_int64(self.raw, ast, &raw mut small) {
                        return Ok(Value::Int(i128::from(small)));
                    }
                    let v = text(z3_sys::Z3_get_numeral_string(self.raw, ast)).parse();
                    v.map(Value::Int).map_err(|_| Error::Inexpressible)
                }
                // These need the model.
                Sort::Array { .. } => Err(Error::Inexpressible),
            }
        }
    }
}
