// SPDX-License-Identifier: Apache-2.0
//! Tests of the decorators, and of Z3 against the evaluator on random formulas.

use std::cell::RefCell;

use expect_test::expect;
use proptest::prelude::*;

use super::{
    Assignment, Audited, CheckResult, Core, Finding, Limits, Model, Recorded, Solver, SolverStats, Timed, Z3Config,
    Z3Solver, tactic_apply,
};
use crate::error::Error;
use crate::term::reference::{Decoder, Env, VARS, env_value};
use crate::term::{BvCmp, Sort, SymId, TermId, Terms, Value};

/// Answers what it was told to, whatever is asked.
struct Liar {
    /// The core of "unsatisfiable"; None for "satisfiable" with a model that leaves all open.
    core: Option<Vec<usize>>,
}

struct Open;

impl Assignment for Open {
    fn value(&self, _: &Terms, _: SymId, _: u32) -> Result<Option<Value>, Error> {
        Ok(None)
    }
}

impl Solver for Liar {
    fn push(&mut self) {}

    fn pop(&mut self) {}

    fn assert(&mut self, _: &Terms, _: TermId) {}

    fn check<'s>(&'s mut self, _: &Terms, _: &[TermId], _: &Limits) -> CheckResult<'s> {
        match &self.core {
            None => CheckResult::Sat(Model::new(Open)),
            Some(core) => CheckResult::Unsat(Core::new(core.clone())),
        }
    }

    fn stats(&self) -> SolverStats {
        SolverStats::default()
    }
}

fn two_booleans(terms: &mut Terms) -> [TermId; 2] {
    ["a", "b"].map(|name| {
        let sym = terms.symbol(name, Sort::Bool);
        terms.var(sym, 0)
    })
}

/// What an audit finds in an answer to a check of `b` under the assertion `a`.
fn audit(core: Option<Vec<usize>>, negate: bool) -> (Option<bool>, Vec<Finding>) {
    let mut terms = Terms::new();
    let [a, b] = two_booleans(&mut terms);
    let (a, b) = if negate { (terms.not(a), terms.not(b)) } else { (a, b) };
    let findings = RefCell::new(Vec::new());
    let second = Z3Solver::new(&Z3Config::default());
    let mut solver = Audited::new(Liar { core }, second, |finding| findings.borrow_mut().push(finding));
    solver.push();
    solver.assert(&terms, a);
    let answer = solver.check(&terms, &[b], &Limits::none()).truth();
    solver.pop();
    drop(solver);
    (answer, findings.into_inner())
}

#[test]
fn an_audit_finds_lies() {
    let mut terms = Terms::new();
    let [a, b] = two_booleans(&mut terms);
    assert_eq!(audit(None, false), (None, vec![Finding::ModelFails(a)]));
    assert_eq!(audit(None, true), (Some(true), vec![]));
    assert_eq!(audit(Some(vec![0]), false), (None, vec![Finding::CoreSatisfiable(vec![b])]));
    assert_eq!(audit(Some(vec![3]), false), (None, vec![Finding::ForeignCore(3)]));
}

#[test]
fn an_audit_accepts_the_truth() {
    let mut terms = Terms::new();
    let [a, b] = two_booleans(&mut terms);
    let (first, second) = (Z3Solver::new(&Z3Config::default()), Z3Solver::new(&Z3Config::default()));
    let mut solver = Audited::new(first, second, |finding| panic!("{finding:?}"));
    let either = terms.or(a, b);
    let (na, nb) = (terms.not(a), terms.not(b));
    solver.assert(&terms, either);
    let limits = Limits::none();
    assert!(solver.check(&terms, &[na], &limits).is_sat());
    let CheckResult::Unsat(core) = solver.check(&terms, &[a, na, nb], &limits) else { panic!("unsatisfiable") };
    assert!(core.contains(1));
    assert_eq!(solver.stats().checks, 2);
}

#[test]
fn a_record_is_a_script() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", Sort::Bv(8));
    let n = terms.bounded_symbol("n", -1, 5);
    let (x, x1, n) = (terms.var(x, 0), terms.var(x, 1), terms.var(n, 2));
    let (k, one) = (terms.bv(8, 200), terms.int(1));
    let small = terms.bv_cmp(BvCmp::Ult, x, k);
    let same = terms.eq(x, x1);
    let formula = terms.and(small, same);
    let negative = terms.int_lt(n, one);
    let mut script = String::new();
    let inner = Timed::new(Z3Solver::new(&Z3Config::default()));
    let mut solver = Recorded::new(inner, |text: &str| script.push_str(text));
    let limits = Limits::none();
    solver.assert(&terms, formula);
    solver.push();
    let other = terms.not(small);
    assert!(solver.check(&terms, &[other], &limits).is_unsat());
    solver.assert(&terms, negative);
    assert!(solver.check(&terms, &[], &limits).is_sat());
    solver.pop();
    let stats = solver.stats();
    assert_eq!((stats.checks, stats.assertions, stats.sat, stats.unsat), (2, 2, 1, 1));
    assert!(stats.time >= stats.longest_check && !stats.longest_check.is_zero());
    drop(solver);
    expect![[r#"
        (set-option :global-declarations true)
        (declare-const |x| (_ BitVec 8))
        (define-fun t!8 () Bool (bvule |x| (_ bv199 8)))
        (declare-const |x@1| (_ BitVec 8))
        (define-fun t!10 () Bool (= |x| |x@1|))
        (define-fun t!11 () Bool (and t!8 t!10))
        (assert t!11)
        (push 1)
        (define-fun t!9 () Bool (not t!8))
        (push 1)
        (assert t!9)
        (check-sat)
        (pop 1)
        ; unsat
        (declare-const |n@2| Int)
        (assert (<= (- 1) |n@2| 5))
        (define-fun t!13 () Bool (<= |n@2| 0))
        (assert t!13)
        (check-sat)
        ; sat
        (pop 1)
    "#]]
    .assert_eq(&script);
}

fn env() -> impl Strategy<Value = Env> {
    (any::<[bool; VARS]>(), any::<[u8; VARS]>(), prop::array::uniform3(-7i8..8)).prop_map(|(bools, bits, ints)| Env {
        bools,
        bits,
        ints,
    })
}

/// Equations that give all variables their values.
fn fixed(terms: &mut Terms, t: TermId, env: &Env) -> Vec<TermId> {
    let mut equations = Vec::new();
    for (sym, index) in terms.symbols(t) {
        let value = env_value(terms, env, sym);
        let (x, k) = (terms.var(sym, index), terms.value(value));
        equations.push(terms.eq(x, k));
    }
    equations
}

proptest! {
    #![proptest_config(crate::term::config(150))]

    #[test]
    fn z3_agrees_with_the_evaluator(
        bytes in prop::collection::vec(any::<u8>(), 1..120),
        envs in prop::collection::vec(env(), 4),
    ) {
        let expr = Decoder::new(&bytes, true).expr(Sort::Bool, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        let eliminate_arrays = bytes.len() % 2 == 0;
        let keep_sums = bytes.len() % 3 != 0;
        // What is more than bits is decided by Z3 alone.
        let eager = bytes.len() % 5 < 3;
        let mut solver = Z3Solver::new(&Z3Config { eliminate_arrays, keep_sums, eager, ..Z3Config::default() });
        for env in &envs {
            let mut assumptions = fixed(&mut terms, t, env);
            if eliminate_arrays {
                // Equations between arrays cannot be expressed; what they fix, is substituted.
                assumptions.retain(|&a| !terms.has_array(a));
            }
            let formula = if eliminate_arrays {
                terms.substitute(t, &mut |terms: &mut Terms, sym, _| match terms.symbol_sort(sym) {
                    Sort::Array { .. } => {
                        let value = env_value(terms, env, sym);
                        Some(terms.value(value))
                    }
                    Sort::Bool | Sort::Bv(_) | Sort::Int => None,
                })
            } else {
                t
            };
            assumptions.push(formula);
            let expected = expr.eval(env).as_bool();
            let limits = Limits::none();
            let answer = solver.check(&terms, &assumptions, &limits).truth();
            prop_assert!(answer == expected || (eliminate_arrays && answer.is_none()), "{}", terms.display(t));
        }
        // Any model of the formula satisfies it; some contents of arrays cannot be expressed.
        if let CheckResult::Sat(model) = solver.check(&terms, &[t], &Limits::time(std::time::Duration::from_secs(5))) {
            let holds = model.holds(&terms, t);
            prop_assert!(holds == Some(true) || (holds.is_none() && terms.has_array(t)), "{}", terms.display(t));
        }
    }

    #[test]
    fn z3_agrees_with_the_evaluator_on_floats(
        bytes in prop::collection::vec(any::<u8>(), 1..60),
        envs in prop::collection::vec(env(), 3),
    ) {
        let expr = Decoder::floats(&bytes).expr(Sort::Bool, 4);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        let limits = Limits::time(std::time::Duration::from_millis(200));
        // With numbers, and with circuits.
        let logic = (bytes.len() % 2 == 0).then_some(super::Z3Logic::QfBv);
        let eager = bytes.len() % 4 == 0;
        let mut solver = Z3Solver::new(&Z3Config { logic, eager, ..Z3Config::default() });
        for env in &envs {
            solver.push();
            for equation in fixed(&mut terms, t, env) {
                solver.assert(&terms, equation);
            }
            solver.assert(&terms, t);
            let answer = solver.check(&terms, &[], &limits).truth();
            let expected = expr.eval(env).as_bool();
            // Large circuits may take longer than a test should.
            prop_assert!(answer.is_none() || answer == expected, "{} under {:?}", terms.display(t), env);
            solver.pop();
        }
        if let CheckResult::Sat(model) = solver.check(&terms, &[t], &limits) {
            prop_assert_eq!(model.holds(&terms, t), Some(true), "{}", terms.display(t));
        }
    }

    #[test]
    fn the_way_back_from_z3_keeps_the_value(
        bytes in prop::collection::vec(any::<u8>(), 1..120),
        envs in prop::collection::vec(env(), 6),
    ) {
        let expr = Decoder::new(&bytes, true).expr(Sort::Bool, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        for tactics in [&["skip"][..], &["simplify"], &["simplify", "propagate-values", "solver-subsumption"]] {
            let Some(back) = tactic_apply(&mut terms, tactics, t, &Limits::none()) else { continue };
            for env in &envs {
                let value = terms.eval(back, &mut |sym, _| env_value(&terms, env, sym));
                prop_assert_eq!(value, expr.eval(env), "{} to {}", terms.display(t), terms.display(back));
            }
        }
    }
}
