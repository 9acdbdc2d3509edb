// SPDX-License-Identifier: Apache-2.0
//! Z3's Horn clause engine Spacer on a chain of relations (Komuravelli, Gurfinkel, Chaki, "SMT-based model checking for
//! recursive programs", FMSD 2016).
//!
//! The chain is given as one predicate per cut and one rule per step. Inlining and slicing of rules is switched off, as
//! Spacer would otherwise see one big step and could not generalise at the cuts. A solution is read from the covers of
//! the predicates, in which the arguments are bound variables; replacing those (and not evaluating the predicate in
//! the model, which completes it) gives the interpolants.
//!
//! The answers are Z3's; callers check them.

use z3_sys::*;

use super::back::Names;
use super::context::{Context, Param, text};
use super::incremental::Z3Config;
use crate::error::Error;
use crate::solver::Limits;
use crate::term::{SymId, TermId, Terms};

/// A step of a chain.
#[derive(Clone, Debug)]
pub struct ChainStep {
    /// The symbols that the cut before this step talks about, in the order of `post` of the step before. The relation
    /// has them as instances of index 0. In the first step they are not constrained.
    pub pre: Vec<SymId>,
    /// What holds between the two cuts. Instances that are not in `pre` are local.
    pub relation: TermId,
    /// The symbols of the cut after this step with their values. Empty in the last step, after which the chain ends.
    pub post: Vec<(SymId, TermId)>,
}

/// Whether a chain can be walked from its start to its end.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum ChainResult {
    /// It cannot: one formula for each cut between two steps, over the instances of index 0 of the symbols there.
    Unreachable(Vec<TermId>),
    /// It can.
    Reachable,
    /// No answer, with the reason.
    Unknown(String),
}

/// Asks Spacer whether a chain can be walked.
///
/// Instances of bounded symbols in a step, `pre` included, are within their bounds; the values in `post` need not be.
pub fn solve_chain(terms: &mut Terms, config: &Z3Config, steps: &[ChainStep], limits: &Limits) -> ChainResult {
    let mut chain = match Chain::new(config) {
        Ok(chain) => chain,
        Err(error) => return ChainResult::Unknown(error.to_string()),
    };
    match chain.solve(terms, steps, limits) {
        Ok(result) => result,
        Err(error) => ChainResult::Unknown(error.to_string()),
    }
}

struct Chain {
    engine: Z3_fixedpoint,
    // Declared last, so that it is dropped last.
    context: Context,
}

impl Chain {
    fn new(config: &Z3Config) -> Result<Self, Error> {
        let context = Context::new()?;
        let c = context.raw();
        // SAFETY: the context is alive; the engine is referenced until `Chain` is dropped.
        let engine = unsafe {
            let engine = context.made(Z3_mk_fixedpoint(c))?;
            Z3_fixedpoint_inc_ref(c, engine);
            engine
        };
        let chain = Chain { engine, context };
        let params = [
            Param::Symbol("engine", "spacer"),
            Param::Bool("xform.inline_eager", false),
            Param::Bool("xform.inline_linear", false),
            Param::Bool("xform.slice", false),
            Param::Uint("spacer.random_seed", config.seed),
        ];
        chain.context.with_params(&params, |set| {
            // SAFETY: engine and parameters are alive.
            unsafe { Z3_fixedpoint_set_params(c, engine, set) };
            chain.context.error()
        })?;
        Ok(chain)
    }

    fn solve(&mut self, terms: &mut Terms, steps: &[ChainStep], limits: &Limits) -> Result<ChainResult, Error> {
        let (c, engine) = (self.context.raw(), self.engine);
        let mut predicates: Vec<Z3_func_decl> = Vec::with_capacity(steps.len());
        for (i, step) in steps.iter().enumerate() {
            let predicate = self.predicate(terms, i, step)?;
            predicates.push(predicate);
        }
        for (i, step) in steps.iter().enumerate() {
            let before = i.checked_sub(1).map(|i| predicates[i]);
            let rule = self.rule(terms, step, before, predicates[i])?;
            let name = self.context.symbol(&format!("step{i}"))?;
            // SAFETY: the rule is referenced for the life of the context.
            unsafe { Z3_fixedpoint_add_rule(c, engine, rule, Some(name)) };
            self.context.error()?;
        }
        let Some(&end) = predicates.last() else { return Ok(ChainResult::Reachable) };
        let (answer, cause) = self.context.watchdog().guard(limits, || {
            // SAFETY: engine and predicate are alive.
            unsafe { Z3_fixedpoint_query_relations(c, engine, 1, &raw const end) }
        });
        let error = self.context.error();
        match answer {
            Some(Z3_L_TRUE) if error.is_ok() => Ok(ChainResult::Reachable),
            Some(Z3_L_FALSE) if error.is_ok() => {
                let covers: Result<Vec<TermId>, Error> = steps[..steps.len() - 1]
                    .iter()
                    .zip(&predicates)
                    .map(|(step, &predicate)| self.cover(terms, step, predicate))
                    .collect();
                Ok(ChainResult::Unreachable(covers?))
            }
            _ => {
                if let Some(cause) = cause {
                    return Ok(ChainResult::Unknown(cause.reason()));
                }
                error?;
                // SAFETY: the engine is alive.
                Ok(ChainResult::Unknown(text(unsafe { Z3_fixedpoint_get_reason_unknown(c, engine) })))
            }
        }
    }

    /// The predicate of the cut after a step, registered.
    fn predicate(&self, terms: &Terms, i: usize, step: &ChainStep) -> Result<Z3_func_decl, Error> {
        let c = self.context.raw();
        let name = self.context.symbol(&format!("cut{i}"))?;
        let mut sorts = Vec::with_capacity(step.post.len());
        for &(sym, _) in &step.post {
            sorts.push(self.context.sort(terms.symbol_sort(sym))?);
        }
        let bool_sort = self.context.sort(crate::term::Sort::Bool)?;
        // SAFETY: the sorts are those of constants or basic; the engine keeps the declaration alive once registered.
        unsafe {
            let decl = Z3_mk_func_decl(c, name, sorts.len() as u32, sorts.as_ptr(), bool_sort);
            let decl = self.context.made(decl)?;
            self.context.keep(Z3_func_decl_to_ast(c, decl))?;
            Z3_fixedpoint_register_relation(c, self.engine, decl);
            self.context.error()?;
            Ok(decl)
        }
    }

    /// `before(pre) & relation => after(post)` for all variables, referenced.
    fn rule(
        &mut self,
        terms: &mut Terms,
        step: &ChainStep,
        before: Option<Z3_func_decl>,
        after: Z3_func_decl,
    ) -> Result<Z3_ast, Error> {
        let c = self.context.raw();
        let pre: Vec<TermId> = step.pre.iter().map(|&sym| terms.var(sym, 0)).collect();
        let mut roots = pre.clone();
        roots.push(step.relation);
        roots.extend(step.post.iter().map(|&(_, value)| value));
        let variables: Vec<TermId> =
            terms.symbols_of_all(&roots).into_iter().map(|(sym, index)| terms.var(sym, index)).collect();

        let mut body = vec![self.context.translate(terms, step.relation)?];
        let mut bounded: Vec<(TermId, (i128, i128))> = Vec::new();
        for &x in &variables {
            if let Some(bounds) = terms.as_var(x).and_then(|(sym, _)| terms.symbol_bounds(sym)) {
                bounded.push((x, bounds));
            }
        }
        for (x, (lo, hi)) in bounded {
            let x = self.context.translate(terms, x)?;
            body.push(self.context.in_range(x, lo, hi)?);
        }
        if let Some(before) = before {
            body.push(self.applied(terms, before, &pre)?);
        }
        let values: Vec<TermId> = step.post.iter().map(|&(_, value)| value).collect();
        let head = self.applied(terms, after, &values)?;
        let bound = self.context.apps(terms, &variables)?;
        // SAFETY: all parts are referenced for the life of the context; there are no patterns.
        unsafe {
            let body = self.context.keep(Z3_mk_and(c, body.len() as u32, body.as_ptr()))?;
            let clause = self.context.keep(Z3_mk_implies(c, body, head))?;
            if bound.is_empty() {
                return Ok(clause);
            }
            let rule = Z3_mk_forall_const(c, 0, bound.len() as u32, bound.as_ptr(), 0, std::ptr::null(), clause);
            self.context.keep(rule)
        }
    }

    fn applied(&mut self, terms: &Terms, predicate: Z3_func_decl, args: &[TermId]) -> Result<Z3_ast, Error> {
        let mut asts = Vec::with_capacity(args.len());
        for &x in args {
            asts.push(self.context.translate(terms, x)?);
        }
        // SAFETY: predicate and arguments are referenced for the life of the context.
        self.context.keep(unsafe { Z3_mk_app(self.context.raw(), predicate, asts.len() as u32, asts.as_ptr()) })
    }

    fn cover(&self, terms: &mut Terms, step: &ChainStep, predicate: Z3_func_decl) -> Result<TermId, Error> {
        // SAFETY: engine and predicate are alive. Level -1 stands for the solution.
        let cover = unsafe { Z3_fixedpoint_get_cover_delta(self.context.raw(), self.engine, -1, predicate) };
        let cover = self.context.keep(cover)?;
        let bound = step.post.iter().map(|&(sym, _)| terms.var(sym, 0)).collect();
        self.context.back(terms, cover, &Names { bound, ..Names::default() })
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // SAFETY: the engine is alive and not used afterwards.
        unsafe { Z3_fixedpoint_dec_ref(self.context.raw(), self.engine) };
    }
}
