// SPDX-License-Identifier: Apache-2.0
//! Why a formula holds in a state: literals over the start values that make it true.
//!
//! Where the formula chooses, the state says which way; inputs have the values that the state gives them. For the formula of
//! a block this is the precondition of one way through it with these inputs, so the literals are those of the program. (The
//! idea is that of the justification of circuits in property-directed reachability, Eén, Mishchenko, Brayton, *Efficient
//! Implementation of Property Directed Reachability*, FMCAD 2011, section 3, on terms.)

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::cover::atom;
use crate::term::{Evaluator, Sort, SymId, Term, TermId, Terms, Value};

/// Values of instances.
pub(crate) type State = FxHashMap<(SymId, u32), Value>;

/// The value of an instance in a state; one that no constraint speaks of has any.
pub(crate) fn value_in(terms: &Terms, state: &State, sym: SymId, index: u32) -> Value {
    state.get(&(sym, index)).cloned().unwrap_or_else(|| terms.default_value(sym))
}

struct Justification<'a> {
    terms: &'a mut Terms,
    state: &'a State,
    values: FxHashMap<TermId, Value>,
    /// Boolean terms whose value is still to be explained.
    open: Vec<TermId>,
    seen: FxHashSet<TermId>,
    /// Terms without choices and inputs that have the same value.
    resolved: FxHashMap<TermId, TermId>,
    literals: Vec<TermId>,
}

/// Literals that hold in the state and make the goals, which hold there, true for some inputs. `None` if a number is too large.
pub(crate) fn cube(terms: &mut Terms, goals: &[TermId], state: &State) -> Option<Vec<TermId>> {
    let order = terms.post_order(goals, |_| false);
    let mut evaluator = Evaluator::new(terms, &order);
    let values = evaluator.run(terms, &mut |sym, index| value_in(terms, state, sym, index))?;
    let values: FxHashMap<TermId, Value> = order.into_iter().zip(values).collect();
    let mut justification = Justification {
        terms,
        state,
        values,
        open: goals.to_vec(),
        seen: FxHashSet::default(),
        resolved: FxHashMap::default(),
        literals: Vec::new(),
    };
    while let Some(t) = justification.open.pop() {
        if justification.seen.insert(t) {
            justification.explain(t);
        }
    }
    let mut literals = justification.literals;
    literals.sort_unstable();
    literals.dedup();
    Some(without_implied(terms, literals))
}

impl Justification<'_> {
    fn holds(&self, t: TermId) -> bool {
        self.values[&t] == Value::Bool(true)
    }

    fn explain(&mut self, t: TermId) {
        let holds = self.holds(t);
        match *self.terms.get(t) {
            Term::True | Term::False => {}
            Term::Not(a) => self.open.push(a),
            Term::And(ref args) | Term::Or(ref args) => {
                let args = args.to_vec();
                let is_and = matches!(self.terms.get(t), Term::And(_));
                if holds == is_and {
                    self.open.extend(args);
                } else {
                    self.open.extend(self.cheapest(args.into_iter().filter(|&a| self.holds(a) == holds)));
                }
            }
            Term::Ite(c, a, b) => {
                let chosen = if self.holds(c) { a } else { b };
                self.open.extend([c, chosen]);
            }
            Term::Eq(a, b) if self.terms.sort(a) == Sort::Bool => self.open.extend([a, b]),
            _ => {
                let resolved = self.resolve(t);
                let literal = if holds { resolved } else { self.terms.not(resolved) };
                let literals = self.terms.conjuncts(literal);
                self.literals.extend(literals.into_iter().filter(|&l| l != TermId::TRUE));
            }
        }
    }

    /// One of several reasons: one that is needed anyway, or else the simplest one.
    fn cheapest(&self, reasons: impl Iterator<Item = TermId>) -> Option<TermId> {
        reasons.min_by_key(|&t| {
            let shape = match self.terms.get(atom(self.terms, t)) {
                Term::And(_) | Term::Or(_) | Term::Ite(..) => 1,
                _ => 0,
            };
            (!self.seen.contains(&t), shape, t)
        })
    }

    /// The term without choices and inputs; what the choices depend on is to be explained, too.
    fn resolve(&mut self, root: TermId) -> TermId {
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.resolved.contains_key(&t) {
                stack.pop();
                continue;
            }
            let done = match *self.terms.get(t) {
                Term::Ite(c, a, b) => {
                    let chosen = if self.holds(c) { a } else { b };
                    self.open.push(c);
                    match self.resolved.get(&chosen) {
                        Some(&done) => Some(done),
                        None => {
                            stack.push(chosen);
                            None
                        }
                    }
                }
                Term::Var { index: 0, .. } => Some(t),
                Term::Var { sym, index } => Some(match self.state.get(&(sym, index)) {
                    Some(value) if !matches!(value, Value::Array(_)) => self.terms.value(value.clone()),
                    _ => t,
                }),
                ref node => {
                    let mut missing = Vec::new();
                    node.for_each_child(|c| {
                        if !self.resolved.contains_key(&c) {
                            missing.push(c);
                        }
                    });
                    if missing.is_empty() {
                        let resolved = &self.resolved;
                        Some(self.terms.rebuild(t, |c| resolved[&c]))
                    } else {
                        stack.extend(missing);
                        None
                    }
                }
            };
            if let Some(done) = done {
                self.resolved.insert(t, done);
                stack.pop();
            }
        }
        self.resolved[&root]
    }
}

/// The literals without those that follow from an equation with a constant.
fn without_implied(terms: &Terms, literals: Vec<TermId>) -> Vec<TermId> {
    let fixed: FxHashSet<TermId> = literals
        .iter()
        .filter_map(|&l| match *terms.get(l) {
            Term::Eq(a, b) if terms.as_value(b).is_some() => Some(a),
            _ => None,
        })
        .collect();
    let is_implied = |&l: &TermId| match *terms.get(atom(terms, l)) {
        Term::Eq(a, b) | Term::BvCmp(_, a, b) | Term::IntLe(a, b) => {
            let constant = |t| terms.as_value(t).is_some();
            let is_equation = matches!(terms.get(l), Term::Eq(..)) && constant(b);
            !is_equation && (fixed.contains(&a) && constant(b) || fixed.contains(&b) && constant(a))
        }
        _ => false,
    };
    literals.iter().copied().filter(|l| !is_implied(l)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{PathFormula, Stmt};
    use crate::solver::{CheckResult, Limits, Solver, Z3Config, Z3Solver};

    /// Two ways to x = 5: by a constant where y = 1, or by an input that is added to x. The cube names one of them.
    #[test]
    fn a_cube_describes_one_way_through_a_block() {
        let mut terms = Terms::new();
        let (x, y, i) =
            (terms.symbol("x", Sort::Bv(8)), terms.symbol("y", Sort::Bv(8)), terms.symbol("i", Sort::Bv(8)));
        let (vx, vy, vi) = (terms.var(x, 0), terms.var(y, 0), terms.var(i, 0));
        let (one, five) = (terms.bv(8, 1), terms.bv(8, 5));
        let choice = terms.eq(vy, one);
        let other = terms.not(choice);
        let sum = terms.bv_bin(crate::term::BvBin::Add, vx, vi);
        let mut first = PathFormula::empty();
        first.apply(&mut terms, &Stmt::Assume(choice));
        first.apply(&mut terms, &Stmt::Assign(x, five));
        let mut second = PathFormula::empty();
        second.apply(&mut terms, &Stmt::Assume(other));
        second.apply(&mut terms, &Stmt::Havoc(i));
        second.apply(&mut terms, &Stmt::Assign(x, sum));
        let block = first.merge(&mut terms, &second, true);
        let wanted = terms.eq(vx, five);
        let goals = [block.pc, block.instantiate(&mut terms, wanted)];
        for constraint in [choice, other] {
            let mut solver = Z3Solver::new(&Z3Config::default());
            let CheckResult::Sat(model) = solver.check(&terms, &[goals[0], goals[1], constraint], &Limits::none())
            else {
                panic!("both ways can be gone")
            };
            let state: State = terms
                .symbols_of_all(&goals)
                .into_iter()
                .map(|(sym, index)| ((sym, index), model.value(&terms, sym, index).expect("a small number")))
                .collect();
            let literals = cube(&mut terms, &goals, &state).expect("small numbers");
            assert_eq!(literals.len(), 1);
            assert!(terms.symbols_of_all(&literals).iter().all(|&(_, index)| index == 0));
            // With the inputs of the state the literals imply the goals.
            let mut premises = literals;
            for (&(sym, index), value) in state.iter().filter(|((_, index), _)| *index > 0) {
                let (var, value) = (terms.var(sym, index), terms.value(value.clone()));
                premises.push(terms.eq(var, value));
            }
            let goal = terms.and_all(&goals);
            premises.push(terms.not(goal));
            assert!(Z3Solver::new(&Z3Config::default()).check(&terms, &premises, &Limits::none()).is_unsat());
        }
    }
}
