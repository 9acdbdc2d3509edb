// SPDX-License-Identifier: Apache-2.0
//! Elimination of a universally quantified variable from a quantifier-free formula.
//!
//! Counterexample-guided instantiation (Reynolds et al., *Counterexample-Guided Quantifier Instantiation for Synthesis in
//! SMT*, CAV 2015, section 4): `forall v. F` implies every instance `F[t]`; while the conjunction of the instances chosen so
//! far has a model in which some value of `v` violates `F`, one more instance is added that this model violates. When
//! there is no such model the conjunction is equivalent to the quantified formula. Instances come from the terms with
//! which `v` is compared, and their neighbours, before plain values.
//!
//! The quantifier is pushed inwards first: conjuncts are treated one by one, and disjuncts without `v` stay outside.
//! Complete for few shapes only; gives up after a number of instances.

use std::collections::BTreeMap;

use crate::solver::{CheckResult, Limits, Solver};
use crate::term::{BvBin, Sort, SymId, Term, TermId, Terms, Value};

/// More instances than this make formulas that nobody would want.
pub(crate) const MAX_INSTANCES: usize = 10;

/// A formula without `var` (an instance of a symbol) that is equivalent to `forall var. formula`; `None` when none is found
/// with `max_instances` instances. Bounds of the symbol restrict the quantifier.
pub(crate) fn forall(
    terms: &mut Terms,
    solver: &mut dyn Solver,
    var: TermId,
    formula: TermId,
    max_instances: usize,
    limits: &Limits,
) -> Option<TermId> {
    let &Term::Var { sym, index } = terms.get(var) else { panic!("only instances of symbols are eliminated") };
    if !occurs(terms, (sym, index), formula) {
        return Some(formula);
    }
    let conjuncts = terms.conjuncts(formula);
    let mut results = Vec::with_capacity(conjuncts.len());
    for conjunct in conjuncts {
        let disjuncts = terms.disjuncts(conjunct);
        let (inside, outside): (Vec<_>, Vec<_>) = disjuncts.into_iter().partition(|&d| occurs(terms, (sym, index), d));
        let body = terms.or_all(&inside);
        let without = if inside.is_empty() {
            TermId::FALSE
        } else {
            instances(terms, solver, (sym, index), body, max_instances, limits)?
        };
        let rest = terms.or_all(&outside);
        results.push(terms.or(without, rest));
    }
    Some(terms.and_all(&results))
}

fn occurs(terms: &Terms, var: (SymId, u32), t: TermId) -> bool {
    terms.symbols(t).contains(&var)
}

fn replace(terms: &mut Terms, var: (SymId, u32), by: TermId, t: TermId) -> TermId {
    terms.substitute(t, &mut |_: &mut Terms, sym, index| ((sym, index) == var).then_some(by))
}

/// The instantiation loop on a body in which the variable occurs.
fn instances(
    terms: &mut Terms,
    solver: &mut dyn Solver,
    var: (SymId, u32),
    body: TermId,
    max_instances: usize,
    limits: &Limits,
) -> Option<TermId> {
    if terms.symbol_sort(var.0) == Sort::Bool {
        let (with, without) = (replace(terms, var, TermId::TRUE, body), replace(terms, var, TermId::FALSE, body));
        return Some(terms.and(with, without));
    }
    if let Sort::Array { .. } = terms.symbol_sort(var.0) {
        // No finite number of arrays stands for all.
        return None;
    }
    let free: Vec<(SymId, u32)> = terms.symbols(body).into_iter().collect();
    let candidates = candidates(terms, var, body);
    let violated = terms.not(body);
    let mut chosen = TermId::TRUE;
    let mut found = None;
    solver.push();
    solver.assert(terms, violated);
    for _ in 0..=max_instances {
        let model: BTreeMap<(SymId, u32), Value> = match solver.check(terms, &[], limits) {
            CheckResult::Unsat(_) => {
                found = Some(chosen);
                break;
            }
            CheckResult::Unknown(_) => break,
            CheckResult::Sat(model) => {
                let value = |&(sym, index): &(SymId, u32)| Some(((sym, index), model.value(terms, sym, index)?));
                match free.iter().map(value).collect::<Option<_>>() {
                    Some(values) => values,
                    None => break,
                }
            }
        };
        let witness = model[&var].clone();
        let mut best = None;
        for &t in &candidates {
            let value = terms.eval(t, &mut |sym, index| model[&(sym, index)].clone());
            if !in_bounds(terms, var.0, &value) {
                continue;
            }
            let refuted = terms.eval(body, &mut |sym, index| {
                if (sym, index) == var { value.clone() } else { model[&(sym, index)].clone() }
            }) == Value::Bool(false);
            // The model's own value comes first: it is the boundary that the model found.
            if refuted && (best.is_none() || value == witness) {
                best = Some(t);
                if value == witness {
                    break;
                }
            }
        }
        let by = match best {
            Some(t) => t,
            None => terms.value(witness),
        };
        let instance = instance(terms, var, by, body);
        solver.assert(terms, instance);
        chosen = terms.and(chosen, instance);
        if chosen == TermId::FALSE {
            found = Some(chosen);
            break;
        }
    }
    solver.pop();
    found
}

fn in_bounds(terms: &Terms, sym: SymId, value: &Value) -> bool {
    match (terms.symbol_bounds(sym), value) {
        (Some((lo, hi)), &Value::Int(v)) => lo <= v && v <= hi,
        (Some(_) | None, _) => true,
    }
}

/// The instance for one term; where the term may leave the symbol's bounds, only if it does not.
fn instance(terms: &mut Terms, var: (SymId, u32), by: TermId, body: TermId) -> TermId {
    let instance = replace(terms, var, by, body);
    let Some((lo, hi)) = terms.symbol_bounds(var.0) else { return instance };
    let within = match *terms.get(by) {
        Term::Int(_) => true,
        Term::Var { sym, .. } => terms.symbol_bounds(sym).is_some_and(|(l, h)| lo <= l && h <= hi),
        _ => false,
    };
    if within {
        return instance;
    }
    let (lo, hi) = (terms.int(lo), terms.int(hi));
    let (above, below) = (terms.int_le(lo, by), terms.int_le(by, hi));
    let inside = terms.and(above, below);
    terms.implies(inside, instance)
}

/// Terms that bound the variable in some atom, with their neighbours; sorted for determinism by order of appearance.
fn candidates(terms: &mut Terms, var: (SymId, u32), body: TermId) -> Vec<TermId> {
    let mut out = Vec::new();
    for atom in terms.atoms(body) {
        let sides = match *terms.get(atom) {
            Term::Eq(a, b) | Term::BvCmp(_, a, b) | Term::IntLe(a, b) => (a, b),
            _ => continue,
        };
        for (mine, other) in [sides, (sides.1, sides.0)] {
            if occurs(terms, var, other) || !occurs(terms, var, mine) {
                continue;
            }
            if let Some(bound) = solve(terms, var, mine, other) {
                out.extend(neighbours(terms, bound));
            }
        }
    }
    match terms.symbol_bounds(var.0) {
        Some((lo, hi)) => {
            let ends = [terms.int(lo), terms.int(hi)];
            out.extend(ends);
        }
        None => {
            if let Sort::Bv(width) = terms.symbol_sort(var.0) {
                let top = 1u128 << (width - 1);
                let ends =
                    [terms.bv(width, 0), terms.bv(width, u128::MAX), terms.bv(width, top), terms.bv(width, top - 1)];
                out.extend(ends);
            }
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    out.retain(|&t| seen.insert(t));
    out
}

/// The bound itself, then one more and one less.
fn neighbours(terms: &mut Terms, bound: TermId) -> Vec<TermId> {
    match terms.sort(bound) {
        Sort::Bool | Sort::Array { .. } => vec![bound],
        Sort::Int => {
            let (one, minus_one) = (terms.int(1), terms.int(-1));
            vec![bound, terms.int_add(bound, one), terms.int_add(bound, minus_one)]
        }
        Sort::Bv(width) => {
            let one = terms.bv(width, 1);
            vec![bound, terms.bv_bin(BvBin::Add, bound, one), terms.bv_bin(BvBin::Sub, bound, one)]
        }
    }
}

/// A value of the variable at which `mine` equals `other`, for sums with one occurrence.
fn solve(terms: &mut Terms, var: (SymId, u32), mine: TermId, other: TermId) -> Option<TermId> {
    match terms.get(mine).clone() {
        Term::Var { sym, index } => ((sym, index) == var).then_some(other),
        Term::BvBin(op @ (BvBin::Add | BvBin::Xor | BvBin::Sub), a, b) => {
            let left = occurs(terms, var, a);
            if left && occurs(terms, var, b) {
                return None;
            }
            let (inner, rest) = if left { (a, b) } else { (b, a) };
            let target = match (op, left) {
                (BvBin::Add, _) => terms.bv_bin(BvBin::Sub, other, rest),
                (BvBin::Sub, true) => terms.bv_bin(BvBin::Add, other, rest),
                (BvBin::Sub, false) => terms.bv_bin(BvBin::Sub, rest, other),
                _ => terms.bv_bin(BvBin::Xor, other, rest),
            };
            solve(terms, var, inner, target)
        }
        Term::IntMulConst(k, a) => {
            let target = terms.int_div(other, k);
            solve(terms, var, a, target)
        }
        Term::IntAdd(args) => {
            let (inner, rest): (Vec<TermId>, Vec<TermId>) = args.iter().partition(|&&a| occurs(terms, var, a));
            let &[inner] = &inner[..] else { return None };
            let rest = terms.int_sum(&rest);
            let target = terms.int_sub(other, rest);
            solve(terms, var, inner, target)
        }
        _ => None,
    }
}
