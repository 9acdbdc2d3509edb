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

use rustc_hash::FxHashMap;
use z3_sys::*;

use super::context::{Context, c_string};
use crate::error::Error;
use crate::solver::Limits;
use crate::solver::sat::{Literal, Sat};

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
    let goal = Goal::blasted(context, formulas, limits)?;
    let mut clauses = Clauses::new(context);
    for i in 0..goal.size() {
        let formula = goal.formula(i)?;
        if !clauses.assert(formula)? {
            return Ok(Decision::Inapplicable);
        }
    }
    if clauses.sat.solve(limits)? {
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
    /// The goal after [`TACTICS`].
    fn blasted(context: &'c Context, formulas: &[Z3_ast], limits: &Limits) -> Result<Self, Error> {
        let c = context.raw();
        // SAFETY: the goal is referenced while `first` lives.
        let first = unsafe {
            let raw = context.made(Z3_mk_goal(c, true, false, false))?;
            Z3_goal_inc_ref(c, raw);
            Goal { context, raw }
        };
        for &formula in formulas {
            // SAFETY: goal and formula are alive.
            unsafe { Z3_goal_assert(c, first.raw, formula) };
            context.error()?;
        }
        let mut goal = first;
        for tactic in TACTICS {
            goal = goal.after(tactic, limits)?;
        }
        Ok(goal)
    }

    fn after(&self, tactic: &str, limits: &Limits) -> Result<Self, Error> {
        let (context, c) = (self.context, self.context.raw());
        let name = c_string(tactic);
        // SAFETY: each object is referenced from when it is made until it is not used any more.
        unsafe {
            let tactic = context.made(Z3_mk_tactic(c, name.as_ptr()))?;
            Z3_tactic_inc_ref(c, tactic);
            let (applied, cause) = context.watchdog().guard(limits, || Z3_tactic_apply(c, tactic, self.raw));
            let applied = match cause {
                None => context.made(applied.flatten()),
                Some(cause) => Err(context.error().err().unwrap_or(Error::GaveUp(cause.reason()))),
            };
            Z3_tactic_dec_ref(c, tactic);
            let applied = applied?;
            Z3_apply_result_inc_ref(c, applied);
            let goal = match Z3_apply_result_get_num_subgoals(c, applied) {
                1 => context.made(Z3_apply_result_get_subgoal(c, applied, 0)),
                _ => Err(Error::Solver("a tactic splits the formula".to_owned())),
            };
            let goal = goal.map(|raw| {
                Z3_goal_inc_ref(c, raw);
                Goal { context, raw }
            });
            Z3_apply_result_dec_ref(c, applied);
            goal
        }
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
    /// The literals of formulas without their negations. The formulas live as long as those that are asserted.
    literals: FxHashMap<Z3_ast, Literal>,
    /// The Boolean variables of Z3 among them.
    variables: Vec<(Z3_func_decl, Literal)>,
    truth: Literal,
}

/// An operator of a Boolean formula, or none that is known here.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Gate {
    True,
    False,
    Not,
    And,
    Or,
    Equal,
    Xor,
    Implies,
    Choice,
    Variable,
}

impl<'c> Clauses<'c> {
    fn new(context: &'c Context) -> Self {
        let mut sat = Sat::new();
        let truth = sat.variable();
        sat.clause([truth]);
        Clauses { context, sat, literals: FxHashMap::default(), variables: Vec::new(), truth }
    }

    /// The operator and the operands of a formula.
    fn parts(&self, formula: Z3_ast) -> Result<Option<(Gate, Z3_func_decl, Vec<Z3_ast>)>, Error> {
        let c = self.context.raw();
        // SAFETY: the formula is alive, and so are its operands.
        unsafe {
            if Z3_get_ast_kind(c, formula) != AstKind::App {
                return Ok(None);
            }
            let app = self.context.made(Z3_to_app(c, formula))?;
            let decl = self.context.made(Z3_get_app_decl(c, app))?;
            let gate = match Z3_get_decl_kind(c, decl) {
                DeclKind::True => Gate::True,
                DeclKind::False => Gate::False,
                DeclKind::Not => Gate::Not,
                DeclKind::And => Gate::And,
                DeclKind::Or => Gate::Or,
                DeclKind::Eq | DeclKind::Iff => Gate::Equal,
                DeclKind::Xor => Gate::Xor,
                DeclKind::Implies => Gate::Implies,
                DeclKind::Ite => Gate::Choice,
                DeclKind::Uninterpreted => Gate::Variable,
                _ => return Ok(None),
            };
            let operands = (0..Z3_get_app_num_args(c, app))
                .map(|i| self.context.made(Z3_get_app_arg(c, app, i)))
                .collect::<Result<Vec<Z3_ast>, Error>>()?;
            // An operand that is not Boolean has an operator that is not known.
            let known = gate != Gate::Variable || operands.is_empty() && self.is_boolean(formula)?;
            Ok(known.then_some((gate, decl, operands)))
        }
    }

    fn is_boolean(&self, formula: Z3_ast) -> Result<bool, Error> {
        let c = self.context.raw();
        // SAFETY: the formula is alive.
        unsafe {
            let sort = self.context.made(Z3_get_sort(c, formula))?;
            Ok(Z3_get_sort_kind(c, sort) == SortKind::Bool)
        }
    }

    /// Adds a formula. Returns whether all of it is known here.
    fn assert(&mut self, formula: Z3_ast) -> Result<bool, Error> {
        let mut formulas = vec![formula];
        while let Some(formula) = formulas.pop() {
            match self.parts(formula)? {
                Some((Gate::And, _, parts)) => formulas.extend(parts),
                Some((Gate::Or, _, parts)) => {
                    let Some(clause) = self.all(&parts)? else { return Ok(false) };
                    self.sat.clause(clause);
                }
                _ => {
                    let Some(clause) = self.all(&[formula])? else { return Ok(false) };
                    self.sat.clause(clause);
                }
            }
        }
        Ok(true)
    }

    fn all(&mut self, formulas: &[Z3_ast]) -> Result<Option<Vec<Literal>>, Error> {
        formulas.iter().map(|&formula| self.literal(formula)).collect()
    }

    /// The literal of a formula; none if there is something in it that is not known here.
    fn literal(&mut self, formula: Z3_ast) -> Result<Option<Literal>, Error> {
        let mut open = vec![formula];
        while let Some(&next) = open.last() {
            if self.literals.contains_key(&next) {
                open.pop();
                continue;
            }
            let Some((gate, decl, operands)) = self.parts(next)? else { return Ok(None) };
            let missing = open.len();
            open.extend(operands.iter().filter(|&operand| !self.literals.contains_key(operand)));
            if open.len() > missing {
                continue;
            }
            let operands: Vec<Literal> = operands.iter().map(|operand| self.literals[operand]).collect();
            let literal = self.gate(gate, &operands, decl);
            self.literals.insert(next, literal);
            open.pop();
        }
        Ok(Some(self.literals[&formula]))
    }

    /// The literal of an operator applied to literals.
    fn gate(&mut self, gate: Gate, operands: &[Literal], decl: Z3_func_decl) -> Literal {
        match (gate, operands) {
            (Gate::True, _) => self.truth,
            (Gate::False, _) => -self.truth,
            (Gate::Not, &[x]) => -x,
            (Gate::And, _) => self.conjunction(operands.iter().copied()),
            (Gate::Or, _) => -self.conjunction(operands.iter().map(|&x| -x)),
            (Gate::Implies, &[x, y]) => -self.conjunction([x, -y].into_iter()),
            (Gate::Choice, &[c, x, y]) => {
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
            (Gate::Equal, &[x, y]) => -self.difference(x, y),
            (Gate::Xor, &[x, ref rest @ ..]) => rest.iter().fold(x, |x, &y| self.difference(x, y)),
            (Gate::Variable, _) => {
                let literal = self.sat.variable();
                self.variables.push((decl, literal));
                literal
            }
            (Gate::Not | Gate::Implies | Gate::Choice | Gate::Equal | Gate::Xor, _) => {
                unreachable!("Z3 gives operators the operands that they have")
            }
        }
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
        let c = self.context.raw();
        // SAFETY: the model is referenced; declarations live as long as the formulas, the constants as long as the context.
        unsafe {
            let (yes, no) = (self.context.keep(Z3_mk_true(c))?, self.context.keep(Z3_mk_false(c))?);
            let model = self.context.made(Z3_mk_model(c))?;
            Z3_model_inc_ref(c, model);
            for &(decl, literal) in &self.variables {
                Z3_add_const_interp(c, model, decl, if self.sat.value(literal) { yes } else { no });
            }
            self.context.error().map(|()| model)
        }
    }
}
