// SPDX-License-Identifier: Apache-2.0
//! Z3's tactics on terms: simplification and elimination of variables.
//!
//! Each call makes a context of its own (about 2 ms). Measured on `x <= 3 & (y <= 3 | x > 5)`: `solver-subsumption` and
//! `propagate-ineqs` of Z3 5.3 find `x <= 3 & y <= 3`; `ctx-solver-simplify` and `ctx-simplify` leave it as it is.

use std::ffi::CStr;

use z3_sys::*;

use super::back::Names;
use super::context::{Context, c_string};
use crate::error::Error;
use crate::solver::Limits;
use crate::term::{SymId, TermId, Terms};

/// A tactic that walks through all that is below each formula first, however much the formulas share: of bounded model checking of a
/// program that grows a tree it took two thirds of the time. It is for few formulas.
const FOR_FEW: &CStr = c"elim-uncnstr";
const FEW: f64 = 300.0;

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
        let result = self.after(tactics, ast, limits)?;
        self.back(terms, result, &Names::default())
    }

    /// The formula after a sequence of tactics, referenced.
    pub(super) fn after(&self, tactics: &[&str], ast: Z3_ast, limits: &Limits) -> Result<Z3_ast, Error> {
        let c = self.raw();
        // SAFETY: the goal is referenced while it is used.
        unsafe {
            let goal = self.made(Z3_mk_goal(c, false, false, false))?;
            Z3_goal_inc_ref(c, goal);
            Z3_goal_assert(c, goal, ast);
            let result = self.apply_to(goal, tactics, limits, |applied| self.formula(applied));
            Z3_goal_dec_ref(c, goal);
            result
        }
    }

    /// What `read` makes of what a sequence of tactics makes of a goal, which the caller keeps alive. The limits are those of all
    /// tactics together.
    pub(super) fn apply_to<T>(
        &self,
        goal: Z3_goal,
        tactics: &[&str],
        limits: &Limits,
        read: impl FnOnce(Z3_apply_result) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let c = self.raw();
        let sequence = self.sequence(tactics)?;
        // SAFETY: the goal is alive, and the result of the tactic is referenced while it is read.
        unsafe {
            let (applied, cause) = self.watchdog().guard(limits, || Z3_tactic_apply(c, sequence, goal));
            let applied = match (self.made(applied.flatten()), cause) {
                (Err(Error::OutOfMemory), _) => Err(Error::OutOfMemory),
                (_, Some(cause)) => Err(Error::GaveUp(cause.reason())),
                (applied, None) => applied,
            };
            Z3_tactic_dec_ref(c, sequence);
            let applied = applied?;
            Z3_apply_result_inc_ref(c, applied);
            let result = read(applied);
            Z3_apply_result_dec_ref(c, applied);
            result
        }
    }

    /// The tactic that applies others one after the other, referenced.
    fn sequence(&self, tactics: &[&str]) -> Result<Z3_tactic, Error> {
        let c = self.raw();
        let named = |name: &str| {
            let name = c_string(name);
            // SAFETY: the string outlives the call, and the tactic is referenced as soon as it is there.
            let tactic = unsafe {
                let tactic = self.made(Z3_mk_tactic(c, name.as_ptr()))?;
                Z3_tactic_inc_ref(c, tactic);
                tactic
            };
            if name.as_c_str() == FOR_FEW { self.for_few(tactic) } else { Ok::<Z3_tactic, Error>(tactic) }
        };
        tactics.iter().try_fold(named("skip")?, |first, name| {
            let second = named(name);
            // SAFETY: both are referenced until they are parts of the sequence.
            unsafe {
                let both = second.and_then(|second| {
                    let both = self.made(Z3_tactic_and_then(c, first, second));
                    if let Ok(both) = both {
                        Z3_tactic_inc_ref(c, both);
                    }
                    Z3_tactic_dec_ref(c, second);
                    both
                });
                Z3_tactic_dec_ref(c, first);
                both
            }
        })
    }

    /// A tactic that is applied to goals of at most [`FEW`] formulas only, in place of the given one, both referenced.
    fn for_few(&self, tactic: Z3_tactic) -> Result<Z3_tactic, Error> {
        let c = self.raw();
        // SAFETY: the probes are referenced as soon as they are there, until they are parts of the new tactic.
        unsafe {
            let size = self.made(Z3_mk_probe(c, c"size".as_ptr()))?;
            Z3_probe_inc_ref(c, size);
            let most = self.made(Z3_probe_const(c, FEW))?;
            Z3_probe_inc_ref(c, most);
            let few = self.made(Z3_probe_le(c, size, most))?;
            Z3_probe_inc_ref(c, few);
            let guarded = self.made(Z3_tactic_when(c, few, tactic));
            if let Ok(guarded) = guarded {
                Z3_tactic_inc_ref(c, guarded);
            }
            for probe in [size, most, few] {
                Z3_probe_dec_ref(c, probe);
            }
            Z3_tactic_dec_ref(c, tactic);
            guarded
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
