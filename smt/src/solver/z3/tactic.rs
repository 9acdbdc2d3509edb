// SPDX-License-Identifier: Apache-2.0
//! Z3's tactics on terms: simplification and elimination of variables.
//!
//! Each call makes a context of its own (about 2 ms). Measured on `x <= 3 & (y <= 3 | x > 5)`: `solver-subsumption` and
//! `propagate-ineqs` of Z3 5.3 find `x <= 3 & y <= 3`; `ctx-solver-simplify` and `ctx-simplify` leave it as it is.

use z3_sys::*;

use super::back::Names;
use super::context::{Context, c_string};
use crate::error::Error;
use crate::solver::Limits;
use crate::term::{SymId, TermId, Terms};

/// The formula after a sequence of tactics such as `["simplify", "solver-subsumption"]`. None if that failed, took
/// too long or used operators that terms lack. Only tactics that keep equivalence are of use: one that renames or
/// eliminates variables to keep satisfiability only (`solve-eqs`) changes the meaning. Tactics for fragments do not all
/// look whether the formula is in theirs: `bv1-blast` of Z3 5.3 ends the process by a memory fault otherwise.
///
/// The bounds of bounded symbols are not made use of.
pub fn tactic_apply(terms: &mut Terms, tactics: &[&str], t: TermId, limits: &Limits) -> Option<TermId> {
    let mut context = Context::new().ok()?;
    context.translate(terms, t).and_then(|ast| context.apply(terms, tactics, ast, limits)).ok()
}

/// A formula without `vars` that is equivalent to "there are `vars` such that `t`", by tactics that eliminate
/// quantifiers such as `["qe-light"]` or `["qe"]`. None if variables remain, or as for [`tactic_apply`].
///
/// Of a bounded symbol, the values within the bounds count.
pub fn eliminate(
    terms: &mut Terms,
    tactics: &[&str],
    vars: &[(SymId, u32)],
    t: TermId,
    limits: &Limits,
) -> Option<TermId> {
    let mut parts = vec![t];
    for &(sym, index) in vars {
        if let Some((lo, hi)) = terms.symbol_bounds(sym) {
            let x = terms.var(sym, index);
            let (lo, hi) = (terms.int(lo), terms.int(hi));
            parts.push(terms.int_le(lo, x));
            parts.push(terms.int_le(x, hi));
        }
    }
    let body = terms.and_all(&parts);
    let vars: Vec<TermId> = vars.iter().map(|&(sym, index)| terms.var(sym, index)).collect();
    let mut context = Context::new().ok()?;
    context.eliminate(terms, tactics, &vars, body, limits).ok()
}

impl Context {
    fn eliminate(
        &mut self,
        terms: &mut Terms,
        tactics: &[&str],
        vars: &[TermId],
        body: TermId,
        limits: &Limits,
    ) -> Result<TermId, Error> {
        let c = self.raw();
        let body = self.translate(terms, body)?;
        if vars.is_empty() {
            return self.apply(terms, tactics, body, limits);
        }
        let bound = self.apps(terms, vars)?;
        // SAFETY: all parts are referenced by the memo; there are no patterns.
        let exists = unsafe { Z3_mk_exists_const(c, 0, bound.len() as u32, bound.as_ptr(), 0, std::ptr::null(), body) };
        let exists = self.keep(exists)?;
        self.apply(terms, tactics, exists, limits)
    }

    /// Variables as Z3 wants them in quantifiers.
    pub(super) fn apps(&mut self, terms: &Terms, vars: &[TermId]) -> Result<Vec<Z3_app>, Error> {
        vars.iter()
            .map(|&x| {
                let ast = self.translate(terms, x)?;
                // SAFETY: the constant is referenced by the memo.
                self.made(unsafe { Z3_to_app(self.raw(), ast) })
            })
            .collect()
    }

    fn apply(&self, terms: &mut Terms, tactics: &[&str], ast: Z3_ast, limits: &Limits) -> Result<TermId, Error> {
        let mut result = ast;
        for tactic in tactics {
            result = self.after(tactic, result, limits)?;
        }
        self.back(terms, result, &Names::default())
    }

    /// The formula after the tactic of a name, referenced.
    pub(super) fn after(&self, tactic: &str, ast: Z3_ast, limits: &Limits) -> Result<Z3_ast, Error> {
        let c = self.raw();
        let name = c_string(tactic);
        // SAFETY: each object is referenced from when it is made until it is not used any more; results are kept.
        unsafe {
            let tactic = self.made(Z3_mk_tactic(c, name.as_ptr()))?;
            Z3_tactic_inc_ref(c, tactic);
            let applied = self.apply_one(tactic, ast, limits);
            Z3_tactic_dec_ref(c, tactic);
            applied
        }
    }

    /// The formula after one tactic, referenced.
    fn apply_one(&self, tactic: Z3_tactic, ast: Z3_ast, limits: &Limits) -> Result<Z3_ast, Error> {
        let c = self.raw();
        // SAFETY: as in `apply`.
        unsafe {
            let goal = self.made(Z3_mk_goal(c, false, false, false))?;
            Z3_goal_inc_ref(c, goal);
            Z3_goal_assert(c, goal, ast);
            let (applied, cause) = self.watchdog().guard(limits, || Z3_tactic_apply(c, tactic, goal));
            let applied = match (applied, cause) {
                (Some(applied), None) => self.made(applied),
                (_, Some(cause)) => Err(Error::GaveUp(cause.reason())),
                (None, None) => Err(Error::GaveUp("no time".to_owned())),
            };
            let result = applied.and_then(|applied| {
                Z3_apply_result_inc_ref(c, applied);
                let formula = self.formula(applied);
                Z3_apply_result_dec_ref(c, applied);
                formula
            });
            Z3_goal_dec_ref(c, goal);
            result
        }
    }

    /// The disjunction of the goals, each the conjunction of its formulas; referenced.
    fn formula(&self, applied: Z3_apply_result) -> Result<Z3_ast, Error> {
        let c = self.raw();
        let mut goals = Vec::new();
        // SAFETY: goals and formulas live as long as the result of the tactic.
        unsafe {
            for i in 0..Z3_apply_result_get_num_subgoals(c, applied) {
                let goal = self.made(Z3_apply_result_get_subgoal(c, applied, i))?;
                if Z3_goal_precision(c, goal) != GoalPrec::Precise {
                    return Err(Error::GaveUp("the tactic approximates".to_owned()));
                }
                let mut formulas = Vec::new();
                for j in 0..Z3_goal_size(c, goal) {
                    formulas.push(self.made(Z3_goal_formula(c, goal, j))?);
                }
                goals.push(self.keep(Z3_mk_and(c, formulas.len() as u32, formulas.as_ptr()))?);
            }
            match goals[..] {
                [goal] => Ok(goal),
                _ => self.keep(Z3_mk_or(c, goals.len() as u32, goals.as_ptr())),
            }
        }
    }
}
