// SPDX-License-Identifier: Apache-2.0
//! Formulas about bit vectors, decided eagerly: simplified and turned into Boolean formulas by Z3's tactics, and these into
//! clauses for a solver that does nothing else.
//!
//! Z3's solver for bit vectors does the same, with a search of its own. Measured on queries of bounded model checking about
//! schedulers and protocols (100,000 to 1,000,000 clauses), with the same clauses: CaDiCaL took 0.1 to 0.7 s where Z3 took 1.9 to
//! 4.8 s, 34 instead of 51 s for the largest one, and refuted one in 28 s that Z3 did not in 100 s. Such a solver has no memory of earlier
//! checks, so it is for single ones.
//!
//! The clauses are those of Tseitin, *On the Complexity of Derivation in Propositional Calculus*, 1968. Z3's tactic for that takes five
//! times as long as all others together.

use std::time::Duration;

use rustc_hash::FxHashMap;
use z3_sys::*;

use super::context::Context;
use crate::error::Error;
use crate::solver::sat::{Literal, Sat};
use crate::solver::{Limits, measured};
use crate::term::Sort;

/// What turns a formula about bit vectors into one about their bits.
const TACTICS: [&str; 7] =
    ["simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "simplify", "max-bv-sharing", "bit-blast"];

/// The answer to an eager check.
pub(super) enum Decision {
    /// Satisfiable, with a model that the caller has to release.
    Sat(Z3_model),
    Unsat,
    /// There is more in the formulas than bits.
    Inapplicable,
}

/// Whether the formulas, which the caller keeps alive, are satisfiable together.
pub(super) fn decide(context: &Context, formulas: &[Z3_ast], limits: &Limits) -> Result<Decision, Error> {
    let mut spent = Duration::ZERO;
    let prepared = measured(&mut spent, || {
        let goal = Goal::blasted(context, formulas, limits)?;
        Ok(Clauses::of(&goal)?.map(|clauses| (goal, clauses)))
    })?;
    let Some((goal, mut clauses)) = prepared else { return Ok(Decision::Inapplicable) };
    let rest = limits.timeout.map(|timeout| timeout.saturating_sub(spent));
    if clauses.sat.solve(&Limits { timeout: rest, ..limits.clone() })? {
        clauses.model().and_then(|model| goal.converted(model)).map(Decision::Sat)
    } else {
        Ok(Decision::Unsat)
    }
}

/// A goal of Z3: a conjunction, and how models of it become models of the formulas from which it was made.
struct Goal<'c> {
    context: &'c Context,
    raw: Z3_goal,
}

impl<'c> Goal<'c> {
    /// A goal that stays alive as long as this one.
    fn new(context: &'c Context, raw: Z3_goal) -> Self {
        // SAFETY: the goal was made by the last call and is alive.
        unsafe { Z3_goal_inc_ref(context.raw(), raw) };
        Goal { context, raw }
    }

    /// The goal after [`TACTICS`].
    fn blasted(context: &'c Context, formulas: &[Z3_ast], limits: &Limits) -> Result<Self, Error> {
        let c = context.raw();
        // SAFETY: models are asked for, and nothing else.
        let given = Goal::new(context, context.made(unsafe { Z3_mk_goal(c, true, false, false) })?);
        for &formula in formulas {
            // SAFETY: goal and formula are alive.
            unsafe { Z3_goal_assert(c, given.raw, formula) };
            context.error()?;
        }
        // SAFETY: the result is alive while it is read.
        context.apply_to(given.raw, &TACTICS, limits, |applied| unsafe {
            match Z3_apply_result_get_num_subgoals(c, applied) {
                1 => Ok(Goal::new(context, context.made(Z3_apply_result_get_subgoal(c, applied, 0))?)),
                _ => Err(Error::Solver("a tactic splits the formula".to_owned())),
            }
        })
    }

    fn size(&self) -> u32 {
        // SAFETY: the goal is alive.
        unsafe { Z3_goal_size(self.context.raw(), self.raw) }
    }

    /// One of the formulas, which lives as long as the goal.
    fn formula(&self, i: u32) -> Result<Z3_ast, Error> {
        // SAFETY: the goal is alive.
        self.context.made(unsafe { Z3_goal_formula(self.context.raw(), self.raw, i) })
    }

    /// The model of the first goal that a model of this one stands for; the latter is released.
    fn converted(&self, model: Z3_model) -> Result<Z3_model, Error> {
        let c = self.context.raw();
        // SAFETY: goal and model are alive; the result is referenced before the model is released.
        unsafe {
            let converted = self.context.made(Z3_goal_convert_model(c, self.raw, model));
            if let Ok(converted) = converted {
                Z3_model_inc_ref(c, converted);
            }
            Z3_model_dec_ref(c, model);
            converted
        }
    }
}

impl Drop for Goal<'_> {
    fn drop(&mut self) {
        // SAFETY: the goal is alive and not used afterwards.
        unsafe { Z3_goal_dec_ref(self.context.raw(), self.raw) };
    }
}

/// Boolean formulas as clauses.
struct Clauses<'c> {
    context: &'c Context,
    sat: Sat,
    /// The literals of formulas, which live as long as those that are asserted.
    literals: FxHashMap<Z3_ast, Literal>,
    /// The Boolean variables of Z3 among them.
    variables: Vec<(Z3_ast, Literal)>,
    truth: Literal,
}

impl<'c> Clauses<'c> {
    /// The formulas of a goal; none if there is more in them than Boolean variables and operators.
    fn of(goal: &Goal<'c>) -> Result<Option<Self>, Error> {
        let mut sat = Sat::new();
        let truth = sat.variable();
        sat.clause([truth]);
        let mut clauses =
            Clauses { context: goal.context, sat, literals: FxHashMap::default(), variables: Vec::new(), truth };
        let mut formulas = (0..goal.size()).map(|i| goal.formula(i)).collect::<Result<Vec<Z3_ast>, Error>>()?;
        while let Some(formula) = formulas.pop() {
            let disjuncts = match clauses.context.connective(formula)? {
                (DeclKind::And, parts) => {
                    formulas.extend(parts);
                    continue;
                }
                (DeclKind::Or, parts) => parts,
                _ => vec![formula],
            };
            let literals: Option<Vec<Literal>> =
                disjuncts.into_iter().map(|part| clauses.literal(part)).collect::<Result<_, Error>>()?;
            let Some(literals) = literals else { return Ok(None) };
            clauses.sat.clause(literals);
        }
        Ok(Some(clauses))
    }

    /// The literal of a formula; none if there is something in it that is not known here.
    fn literal(&mut self, formula: Z3_ast) -> Result<Option<Literal>, Error> {
        let mut open = vec![formula];
        while let Some(&next) = open.last() {
            if self.literals.contains_key(&next) {
                open.pop();
                continue;
            }
            let (operator, operands) = self.context.connective(next)?;
            let missing = open.len();
            open.extend(operands.iter().filter(|&operand| !self.literals.contains_key(operand)));
            if open.len() > missing {
                continue;
            }
            let operands: Vec<Literal> = operands.iter().map(|operand| self.literals[operand]).collect();
            let Some(literal) = self.gate(next, operator, &operands) else { return Ok(None) };
            self.literals.insert(next, literal);
            open.pop();
        }
        Ok(Some(self.literals[&formula]))
    }

    /// The literal of a formula with the literals of its operands.
    fn gate(&mut self, formula: Z3_ast, operator: DeclKind, operands: &[Literal]) -> Option<Literal> {
        Some(match (operator, operands) {
            (DeclKind::True, _) => self.truth,
            (DeclKind::False, _) => -self.truth,
            (DeclKind::Not, &[x]) => -x,
            (DeclKind::And, _) => self.conjunction(operands.iter().copied()),
            (DeclKind::Or, _) => -self.conjunction(operands.iter().map(|&x| -x)),
            (DeclKind::Implies, &[x, y]) => -self.conjunction([x, -y].into_iter()),
            (DeclKind::Ite, &[c, x, y]) => {
                let result = self.sat.variable();
                for (c, x) in [(c, x), (-c, y)] {
                    self.sat.clause([-c, -x, result]);
                    self.sat.clause([-c, x, -result]);
                }
                // These follow, but not by unit propagation.
                self.sat.clause([-x, -y, result]);
                self.sat.clause([x, y, -result]);
                result
            }
            (DeclKind::Eq | DeclKind::Iff, &[x, y]) => -self.difference(x, y),
            (DeclKind::Xor, &[x, ref rest @ ..]) => rest.iter().fold(x, |x, &y| self.difference(x, y)),
            (DeclKind::Uninterpreted, []) if matches!(self.context.sort_of(formula), Ok(Sort::Bool)) => {
                let literal = self.sat.variable();
                self.variables.push((formula, literal));
                literal
            }
            _ => return None,
        })
    }

    fn conjunction(&mut self, operands: impl Iterator<Item = Literal> + Clone) -> Literal {
        let result = self.sat.variable();
        for x in operands.clone() {
            self.sat.clause([-result, x]);
        }
        self.sat.clause(operands.map(|x| -x).chain([result]));
        result
    }

    fn difference(&mut self, x: Literal, y: Literal) -> Literal {
        let result = self.sat.variable();
        for (x, y) in [(x, y), (-x, -y)] {
            self.sat.clause([x, y, -result]);
            self.sat.clause([x, -y, result]);
        }
        result
    }

    /// A model of Z3 with the values that were found, referenced.
    fn model(&self) -> Result<Z3_model, Error> {
        let (context, c) = (self.context, self.context.raw());
        // SAFETY: the model is referenced; variables live as long as the formulas, the constants as long as the context.
        unsafe {
            let (yes, no) = (context.keep(Z3_mk_true(c))?, context.keep(Z3_mk_false(c))?);
            let model = context.made(Z3_mk_model(c))?;
            Z3_model_inc_ref(c, model);
            for &(variable, literal) in &self.variables {
                let decl = context.made(Z3_get_app_decl(c, context.made(Z3_to_app(c, variable))?))?;
                Z3_add_const_interp(c, model, decl, if self.sat.value(literal) { yes } else { no });
            }
            context.error().map(|()| model)
        }
    }
}
