// SPDX-License-Identifier: Apache-2.0
//! The incremental solver.
//!
//! The assertions are remembered, so that the solver can be rebuilt where its state cannot be trusted: in a new context
//! after Z3 ran out of memory, in the same one after any other failure or interrupt. (Z3's solver for QF_BV, when
//! interrupted while it translates to SAT, later answers "unknown: interpreted functions sent to SAT solver".)

use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;
use z3_sys::*;

use super::arrays::Cell;
use super::context::{Context, Name, Param, classify, text};
use super::eager::{self, Decision};
use crate::error::Error;
use crate::solver::{Assignment, CheckResult, Core, Limits, Model, Solver, SolverStats};
use crate::term::{Sort, SymId, Term, TermId, Terms, Value};

/// The logic a solver is made for.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Z3Logic {
    /// Quantifier-free bit-vectors.
    QfBv,
    /// Quantifier-free linear integer arithmetic.
    QfLia,
}

impl Z3Logic {
    fn name(self) -> &'static str {
        match self {
            Z3Logic::QfBv => "QF_BV",
            Z3Logic::QfLia => "QF_LIA",
        }
    }
}

/// Settings of a [`Z3Solver`].
#[derive(Clone, Debug, Default)]
pub struct Z3Config {
    /// The logic of all formulas; None for any mixture.
    pub logic: Option<Z3Logic>,
    /// Z3's SMT core alone, where there is no logic: without the tactics that simplify formulas before it, which for small
    /// formulas take longer than the search.
    pub simple: bool,
    /// Express reads of arrays by variables, so that solvers without arrays can be used. Equations between arrays make the
    /// answer unknown then.
    pub eliminate_arrays: bool,
    /// Give equations of sums of bit vectors to Z3 with the sums that were there before their normal form was made, and in
    /// parts that it does not normalise either. In formulas of many steps the sums of one step are parts of those of the next
    /// ones, and with normal forms each equation has an adder of its own: bounded model checking of programs with arrays
    /// at such positions took thirty times as long.
    pub keep_sums: bool,
    /// Decide each check anew, by clauses that CaDiCaL gets: for single checks of formulas about bit vectors. Cores are all
    /// assumptions then. What is not only about bits is left to Z3's solver.
    pub eager: bool,
    /// Minimise unsatisfiable cores.
    pub core_minimize: bool,
    /// Seed of the random choices in the search.
    pub seed: u32,
    /// Further parameters of Z3's solver, such as `("arith.solver", "2")`, for experiments.
    pub params: Vec<(String, String)>,
}

/// An incremental Z3 solver in a context of its own.
pub struct Z3Solver {
    config: Z3Config,
    /// None before the first check and after a failed attempt to make a context; the next use tries again.
    state: Option<State>,
    /// Whether nothing was checked yet.
    is_new: bool,
    /// Formulas asserted, by scope.
    assertions: Vec<Vec<TermId>>,
    /// What to report instead of an answer, by scope.
    errors: Vec<Option<Error>>,
    /// What has to be replaced before the next use.
    stale: Stale,
    stats: SolverStats,
}

#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd)]
enum Stale {
    No,
    Solver,
    Context,
}

impl Stale {
    fn after(error: &Error) -> Stale {
        match error {
            Error::OutOfMemory => Stale::Context,
            Error::Incomplete(_) => Stale::No,
            Error::GaveUp(_) | Error::Solver(_) | Error::Inexpressible | Error::Untranslatable(_) => Stale::Solver,
        }
    }
}

/// What is known of a compound formula that was assumed, without its negation.
#[derive(Copy, Clone)]
enum Assumed {
    /// It was assumed once; it gets a name if it is again.
    Once,
    /// It has a name, whose definition is asserted.
    Named(Name),
}

/// Pairs of cells that one formula may make consistent.
const MAX_PAIRS: usize = 50_000;

/// Names given outside all scopes, where they stay for ever.
const OUTERMOST_NAMES: usize = 2000;

/// A part of the reason that Z3's solver for bit vectors gives when it could not translate a formula to clauses.
const NOT_TRANSLATED: &str = "sat.giveup";

/// What lives in the context.
struct State {
    solver: Z3_solver,
    /// The model that an eager check found.
    found: Option<Z3_model>,
    /// Terms of which all bounded instances have been constrained, by scope of the constraints.
    bounded: Vec<Vec<TermId>>,
    is_bounded: FxHashSet<TermId>,
    /// Terms of which all cells are consistent with each other, by scope, and these cells.
    celled: Vec<(Vec<TermId>, Vec<usize>)>,
    is_celled: FxHashSet<TermId>,
    is_active: FxHashSet<usize>,
    /// Compound formulas that were assumed, by scope in which that is known.
    assumed: Vec<Vec<TermId>>,
    names: FxHashMap<TermId, Assumed>,
    /// Number of names given so far.
    named: usize,
    // Declared last, so that it is dropped last.
    context: Context,
}

impl State {
    fn new(config: &Z3Config) -> Result<Self, Error> {
        let mut context = Context::new()?;
        context.circuits = config.logic == Some(Z3Logic::QfBv);
        context.eliminate_arrays = config.eliminate_arrays;
        context.keep_sums = config.keep_sums;
        let solver = new_solver(&context, config)?;
        Ok(State {
            solver,
            found: None,
            bounded: vec![Vec::new()],
            is_bounded: FxHashSet::default(),
            celled: vec![Default::default()],
            is_celled: FxHashSet::default(),
            is_active: FxHashSet::default(),
            assumed: vec![Vec::new()],
            names: FxHashMap::default(),
            named: 0,
            context,
        })
    }

    /// Replaces the solver by one without assertions.
    fn clear(&mut self, config: &Z3Config) -> Result<(), Error> {
        let solver = new_solver(&self.context, config)?;
        // SAFETY: the old solver is alive and not used afterwards.
        unsafe { Z3_solver_dec_ref(self.context.raw(), self.solver) };
        self.solver = solver;
        self.bounded = vec![Vec::new()];
        self.is_bounded.clear();
        self.celled = vec![Default::default()];
        self.is_celled.clear();
        self.is_active.clear();
        self.assumed = vec![Vec::new()];
        self.names.clear();
        self.named = 0;
        Ok(())
    }

    fn push(&mut self) -> Result<(), Error> {
        self.bounded.push(Vec::new());
        self.celled.push(Default::default());
        self.assumed.push(Vec::new());
        // SAFETY: the solver is alive.
        unsafe { Z3_solver_push(self.context.raw(), self.solver) };
        self.context.error()
    }

    fn pop(&mut self) -> Result<(), Error> {
        for t in self.bounded.pop().unwrap_or_default() {
            self.is_bounded.remove(&t);
        }
        let (terms, cells) = self.celled.pop().unwrap_or_default();
        for t in terms {
            self.is_celled.remove(&t);
        }
        for cell in cells {
            self.is_active.remove(&cell);
        }
        for t in self.assumed.pop().unwrap_or_default() {
            self.names.remove(&t);
        }
        // SAFETY: the solver is alive and has a scope, as `bounded` had.
        unsafe { Z3_solver_pop(self.context.raw(), self.solver, 1) };
        self.context.error()
    }

    fn assert_ast(&self, ast: Z3_ast) -> Result<(), Error> {
        // SAFETY: solver and term are alive.
        unsafe { Z3_solver_assert(self.context.raw(), self.solver, ast) };
        self.context.error()
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) -> Result<(), Error> {
        self.assert_bounds(terms, formula)?;
        let ast = self.context.translate(terms, formula)?;
        self.assert_cells(terms, formula)?;
        self.assert_ast(ast)
    }

    /// Asserts that the cells in a formula, which is translated, are consistent with each other and those asserted before.
    fn assert_cells(&mut self, terms: &Terms, formula: TermId) -> Result<(), Error> {
        if !self.context.eliminate_arrays || !terms.has_array(formula) {
            return Ok(());
        }
        let order = {
            let done = &self.is_celled;
            terms.post_order(&[formula], |s| !terms.has_array(s) || done.contains(&s))
        };
        let mut pairs = 0usize;
        for s in order {
            self.is_celled.insert(s);
            self.celled.last_mut().expect("the outermost scope is never closed").0.push(s);
            let Term::Select(array, index) = *terms.get(s) else { continue };
            for cell in self.context.cells.of_read(array, index).to_vec() {
                if !self.is_active.insert(cell) {
                    continue;
                }
                let new = self.context.cells.all[cell];
                for other in self.celled.iter().flat_map(|(_, cells)| cells) {
                    let old = self.context.cells.all[*other];
                    if old.array == new.array && !terms.never_equal(old.index, new.index) {
                        pairs += 1;
                        if pairs > MAX_PAIRS {
                            return Err(Error::Incomplete("too many cells of an array".to_owned()));
                        }
                        self.assert_ast(self.context.consistent(old, new)?)?;
                    }
                }
                self.celled.last_mut().expect("the outermost scope is never closed").1.push(cell);
            }
        }
        Ok(())
    }

    /// Constrains the bounded instances in a formula, in the innermost scope, unless that has been done.
    fn assert_bounds(&mut self, terms: &Terms, formula: TermId) -> Result<(), Error> {
        if !terms.has_bounded(formula) {
            return Ok(());
        }
        let order = {
            let done = &self.is_bounded;
            terms.post_order(&[formula], |s| !terms.has_bounded(s) || done.contains(&s))
        };
        for s in order {
            if let Some((lo, hi)) = terms.as_var(s).and_then(|(sym, _)| terms.symbol_bounds(sym)) {
                let x = self.context.translate(terms, s)?;
                let range = self.context.in_range(x, lo, hi)?;
                self.assert_ast(range)?;
            }
            self.is_bounded.insert(s);
            self.bounded.last_mut().expect("the outermost scope is never closed").push(s);
        }
        Ok(())
    }

    /// The Z3 term by which a formula is assumed. A compound formula that is assumed again and again in one scope gets
    /// a name: Z3 otherwise translates it anew for each check and forgets what it learned about it.
    fn assumption(&mut self, terms: &Terms, a: TermId) -> Result<Z3_ast, Error> {
        self.assert_bounds(terms, a)?;
        if terms.has_array(a) {
            self.context.translate(terms, a)?;
            self.assert_cells(terms, a)?;
        }
        let (formula, negated) = match *terms.get(a) {
            Term::Not(formula) => (formula, true),
            _ => (a, false),
        };
        if terms.is_atom(formula) {
            return self.context.translate(terms, a);
        }
        let full = self.assumed.len() == 1 && self.named > OUTERMOST_NAMES;
        let scope = self.assumed.last_mut().expect("the outermost scope is never closed");
        match self.names.get(&formula) {
            Some(&Assumed::Named(name)) => Ok(if negated { name.negative } else { name.positive }),
            None => {
                scope.push(formula);
                self.names.insert(formula, Assumed::Once);
                self.context.translate(terms, a)
            }
            Some(Assumed::Once) if full => self.context.translate(terms, a),
            Some(Assumed::Once) => {
                // The name lives in this scope even if the formula was first assumed in an outer one.
                scope.push(formula);
                self.named += 1;
                let ast = self.context.translate(terms, formula)?;
                let name = self.context.name(ast)?;
                self.assert_ast(name.definition)?;
                self.names.insert(formula, Assumed::Named(name));
                Ok(if negated { name.negative } else { name.positive })
            }
        }
    }

    /// The core of the last check, as positions in the assumptions.
    fn core(&self, assumptions: &[(usize, Z3_ast)]) -> Result<Core, Error> {
        let c = self.context.raw();
        let positions: FxHashMap<Z3_ast, usize> = assumptions.iter().rev().map(|&(i, ast)| (ast, i)).collect();
        // SAFETY: the vector is referenced while it is read.
        unsafe {
            let vector = self.context.made(Z3_solver_get_unsat_core(c, self.solver))?;
            Z3_ast_vector_inc_ref(c, vector);
            let core: Option<Vec<usize>> = (0..Z3_ast_vector_size(c, vector))
                .map(|i| Z3_ast_vector_get(c, vector, i).and_then(|ast| positions.get(&ast).copied()))
                .collect();
            Z3_ast_vector_dec_ref(c, vector);
            // A core with foreign members is not used: all assumptions together suffice as well.
            Ok(Core::new(core.unwrap_or_else(|| assumptions.iter().map(|&(i, _)| i).collect())))
        }
    }

    /// The answer of an eager check; none if there is more in the formulas than bits. The core is all assumptions.
    fn decide(&mut self, assumptions: &[(usize, Z3_ast)], limits: &Limits) -> Result<Option<Answer>, Error> {
        let c = self.context.raw();
        // SAFETY: the vector is referenced while its formulas are used, of which the solver holds a reference, too.
        let decision = unsafe {
            let vector = self.context.made(Z3_solver_get_assertions(c, self.solver))?;
            Z3_ast_vector_inc_ref(c, vector);
            let asserted: Option<Vec<Z3_ast>> =
                (0..Z3_ast_vector_size(c, vector)).map(|i| Z3_ast_vector_get(c, vector, i)).collect();
            let decision = self.context.made(asserted).and_then(|mut formulas| {
                formulas.extend(assumptions.iter().map(|&(_, ast)| ast));
                eager::decide(&self.context, &formulas, limits)
            });
            Z3_ast_vector_dec_ref(c, vector);
            decision?
        };
        Ok(match decision {
            Decision::Sat(model) => {
                self.found = Some(model);
                Some(Answer::Sat)
            }
            Decision::Unsat => Some(Answer::Unsat(Core::new(assumptions.iter().map(|&(i, _)| i).collect()))),
            Decision::Inapplicable => None,
        })
    }

    fn forget_model(&mut self) {
        if let Some(model) = self.found.take() {
            // SAFETY: the model was referenced when it was found and is not used afterwards.
            unsafe { Z3_model_dec_ref(self.context.raw(), model) };
        }
    }

    fn model(&self) -> Result<Z3Model<'_>, Error> {
        let c = self.context.raw();
        // SAFETY: the model is referenced until `Z3Model` is dropped.
        unsafe {
            let model = match self.found {
                Some(found) => found,
                None => self.context.made(Z3_solver_get_model(c, self.solver))?,
            };
            Z3_model_inc_ref(c, model);
            let cells = if self.context.eliminate_arrays {
                Some(
                    self.celled.iter().flat_map(|(_, cells)| cells).map(|&cell| self.context.cells.all[cell]).collect(),
                )
            } else {
                None
            };
            Ok(Z3Model { context: &self.context, model, cells })
        }
    }
}

/// A solver with its parameters, referenced.
fn new_solver(context: &Context, config: &Z3Config) -> Result<Z3_solver, Error> {
    let c = context.raw();
    // SAFETY: the context is alive.
    let solver = unsafe {
        let made = match config.logic {
            Some(logic) => Z3_mk_solver_for_logic(c, context.symbol(logic.name())?),
            None if config.simple => Z3_mk_simple_solver(c),
            None => Z3_mk_solver(c),
        };
        let solver = context.made(made)?;
        Z3_solver_inc_ref(c, solver);
        solver
    };
    let mut params = vec![Param::Uint("random_seed", config.seed), Param::Bool("ctrl_c", false)];
    if config.core_minimize {
        params.push(Param::Bool("core.minimize", true));
    }
    for (name, value) in &config.params {
        params.push(match (value.parse(), value.parse()) {
            (Ok(b), _) => Param::Bool(name, b),
            (_, Ok(n)) => Param::Uint(name, n),
            (Err(_), Err(_)) => Param::Symbol(name, value),
        });
    }
    context.with_params(&params, |set| {
        // SAFETY: solver and parameters are alive.
        unsafe { Z3_solver_set_params(c, solver, set) };
        context.error()
    })?;
    Ok(solver)
}

impl Drop for State {
    fn drop(&mut self) {
        self.forget_model();
        // SAFETY: the solver is alive and not used afterwards.
        unsafe { Z3_solver_dec_ref(self.context.raw(), self.solver) };
    }
}

impl Z3Solver {
    /// A solver without assertions. Its context, which costs as much as many small queries, is made by the first check.
    pub fn new(config: &Z3Config) -> Self {
        Z3Solver {
            config: config.clone(),
            stale: Stale::Context,
            state: None,
            is_new: true,
            assertions: vec![Vec::new()],
            errors: vec![None],
            stats: SolverStats::default(),
        }
    }

    /// Does something in the context, unless that is to be replaced; notes an error for the next check.
    fn act(&mut self, action: impl FnOnce(&mut State) -> Result<(), Error>) {
        if self.stale == Stale::No
            && let Some(state) = &mut self.state
        {
            let result = action(state);
            self.note(result);
        }
    }

    fn note(&mut self, result: Result<(), Error>) {
        let Err(error) = result else { return };
        self.stale = self.stale.max(Stale::after(&error));
        self.errors.last_mut().expect("the outermost scope is never closed").get_or_insert(error);
    }

    /// Replaces what is stale and asserts everything anew.
    fn rebuild(&mut self, terms: &Terms) -> Result<(), Error> {
        self.stats.rebuilt += u64::from(!std::mem::take(&mut self.is_new));
        match (self.stale, &mut self.state) {
            (Stale::No, _) => return Ok(()),
            (Stale::Solver, Some(state)) => state.clear(&self.config)?,
            (Stale::Context, _) | (Stale::Solver, None) => {
                // The old context must give its memory back first.
                self.state = None;
                self.state = Some(State::new(&self.config)?);
            }
        }
        self.stale = Stale::No;
        self.errors.clear();
        for depth in 0..self.assertions.len() {
            self.errors.push(None);
            if depth > 0 {
                self.act(State::push);
            }
            for i in 0..self.assertions[depth].len() {
                let t = self.assertions[depth][i];
                self.act(|state| state.assert(terms, t));
            }
        }
        Ok(())
    }

    fn check_inner(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> Result<Answer, Error> {
        if self.stale != Stale::No {
            self.rebuild(terms)?;
        }
        if let Some(error) = self.errors.iter().flatten().next() {
            return Err(error.clone());
        }
        let Some(state) = &mut self.state else { return Err(Error::OutOfMemory) };
        let mut assumed = Vec::with_capacity(assumptions.len());
        for (i, &a) in assumptions.iter().enumerate() {
            match a {
                TermId::TRUE => continue,
                TermId::FALSE => return Ok(Answer::Unsat(Core::new(vec![i]))),
                _ => {}
            }
            assumed.push((i, state.assumption(terms, a)?));
        }
        state.forget_model();
        if self.config.eager
            && let Some(answer) = state.decide(&assumed, limits)?
        {
            return Ok(answer);
        }
        let asts: Vec<Z3_ast> = assumed.iter().map(|&(_, ast)| ast).collect();
        let (c, solver) = (state.context.raw(), state.solver);
        let (answer, cause) = state.context.watchdog().guard(limits, || {
            // SAFETY: solver and assumptions are alive.
            unsafe { Z3_solver_check_assumptions(c, solver, asts.len() as u32, asts.as_ptr()) }
        });
        let error = state.context.error();
        match (answer, cause) {
            (Some(Z3_L_TRUE), _) if error.is_ok() => Ok(Answer::Sat),
            (Some(Z3_L_FALSE), _) if error.is_ok() => Ok(Answer::Unsat(state.core(&assumed)?)),
            (_, Some(cause)) => {
                // The error may still be that memory ran out.
                match error {
                    Err(Error::OutOfMemory) => Err(Error::OutOfMemory),
                    _ => Err(Error::GaveUp(cause.reason())),
                }
            }
            (_, None) => {
                error?;
                // SAFETY: the solver is alive.
                let reason = text(unsafe { Z3_solver_get_reason_unknown(c, solver) });
                match classify(reason) {
                    Error::Solver(reason) if reason.contains(NOT_TRANSLATED) => Err(Error::Solver(reason)),
                    Error::Solver(reason) => Err(Error::Incomplete(reason)),
                    error => Err(error),
                }
            }
        }
    }
}

enum Answer {
    Sat,
    Unsat(Core),
}

impl Solver for Z3Solver {
    fn push(&mut self) {
        self.assertions.push(Vec::new());
        self.errors.push(None);
        self.act(State::push);
    }

    fn pop(&mut self) {
        assert!(self.assertions.len() > 1, "the caller guarantees an open scope");
        self.assertions.pop();
        self.errors.pop();
        self.act(State::pop);
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        debug_assert_eq!(terms.sort(formula), Sort::Bool, "formulas are asserted");
        self.stats.assertions += 1;
        self.assertions.last_mut().expect("the outermost scope is never closed").push(formula);
        self.act(|state| state.assert(terms, formula));
    }

    fn check<'s>(&'s mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> CheckResult<'s> {
        self.stats.checks += 1;
        let mut answer = self.check_inner(terms, assumptions, limits);
        if matches!(&answer, Err(Error::GaveUp(reason)) if reason.contains("cancel")) {
            // Nobody asked this call to stop: the interrupt was meant for an earlier one, and came when that was at its end.
            self.stale = Stale::Context;
            answer = self.check_inner(terms, assumptions, limits);
        }
        if matches!(&answer, Err(Error::Solver(reason)) if reason.contains(NOT_TRANSLATED))
            && self.config.logic.is_some()
        {
            // Z3's solver for bit vectors leaves some of what it simplified untranslated; its general one knows all of it.
            self.config.logic = None;
            self.stale = self.stale.max(Stale::Solver);
            answer = self.check_inner(terms, assumptions, limits);
        }
        let error = match answer {
            Ok(Answer::Unsat(core)) => {
                self.stats.unsat += 1;
                return CheckResult::Unsat(core);
            }
            Ok(Answer::Sat) => match self.state.as_ref().map_or(Err(Error::OutOfMemory), State::model) {
                Ok(model) => {
                    self.stats.sat += 1;
                    return CheckResult::Sat(Model::new(model));
                }
                Err(error) => error,
            },
            Err(error) => error,
        };
        self.stats.unknown += 1;
        self.stale = self.stale.max(Stale::after(&error));
        CheckResult::Unknown(error.to_string())
    }

    fn stats(&self) -> SolverStats {
        self.stats.clone()
    }
}

/// Z3's model.
struct Z3Model<'s> {
    context: &'s Context,
    model: Z3_model,
    /// The cells of arrays, if there are no arrays in the model.
    cells: Option<Vec<Cell>>,
}

impl Assignment for Z3Model<'_> {
    fn value(&self, terms: &Terms, sym: SymId, index: u32) -> Result<Option<Value>, Error> {
        if let (Sort::Array { index: width, element }, Some(cells)) = (terms.symbol_sort(sym), &self.cells) {
            let Some(array) = terms.find_var(sym, index) else { return Ok(None) };
            let own = cells.iter().copied().filter(|cell| cell.array == array);
            return self.context.array_of_cells(self.model, (width, element), own).map(|a| Some(Value::Array(a)));
        }
        let Some(constant) = self.context.instance(terms, sym, index) else { return Ok(None) };
        let c = self.context.raw();
        // SAFETY: constant and model are alive; the interpretation lives as long as the model.
        let value = unsafe {
            let app = self.context.made(Z3_to_app(c, constant))?;
            let decl = self.context.made(Z3_get_app_decl(c, app))?;
            Z3_model_get_const_interp(c, self.model, decl)
        };
        self.context.error()?;
        match value {
            None => Ok(None),
            Some(ast) => match terms.symbol_sort(sym) {
                Sort::Array { index, element } => {
                    self.context.array_value(self.model, index, element, ast).map(|array| Some(Value::Array(array)))
                }
                sort @ (Sort::Bool | Sort::Bv(_) | Sort::Int) => self.context.value_of(sort, ast).map(Some),
            },
        }
    }
}

impl Drop for Z3Model<'_> {
    fn drop(&mut self) {
        // SAFETY: the model is alive and not used afterwards.
        unsafe { Z3_model_dec_ref(self.context.raw(), self.model) };
    }
}
