// SPDX-License-Identifier: Apache-2.0
//! What recursive functions return for given arguments, by their formulas: each call is computed once, so that functions whose
//! runs take long are known for more arguments than their runs show. Nothing here needs to be right.

use std::collections::{BTreeMap, BTreeSet};

use cfa::ids::FuncId;
use cfa::ir::IntTy;
use cpa_core::{Cx, Stop};
use cpa_predicate::Manager;
use rustc_hash::FxHashMap;
use smt::{SymId, Term, TermId, Terms};

use crate::body::Body;
use crate::sample::Activation;
use crate::signature::{Atom, Signature};

/// How many times a body is evaluated.
const EVALUATIONS: usize = 6_000;
/// How many calls may wait for others.
const DEPTH: usize = 2_000;
/// After how many evaluations the limits are checked.
const CHECK: usize = 64;

/// A call: the function, and the values of the atoms before it.
type Called = (FuncId, Vec<i128>);

/// Computes calls.
pub(crate) struct Evaluator<'a> {
    bodies: &'a BTreeMap<Option<FuncId>, Body>,
    signatures: &'a BTreeMap<FuncId, Signature>,
    /// The values of the atoms behind calls.
    known: BTreeMap<Called, Vec<i128>>,
    left: usize,
}

/// What the evaluation of a body came to.
enum Evaluated {
    Returns(Vec<i128>),
    Needs(Called),
    /// It depends on more than the atoms.
    Open,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(bodies: &'a BTreeMap<Option<FuncId>, Body>, signatures: &'a BTreeMap<FuncId, Signature>) -> Self {
        Self { bodies, signatures, known: BTreeMap::new(), left: EVALUATIONS }
    }

    /// The call of a function with these values of its atoms; none if it does not end soon, or depends on something else.
    pub(crate) fn call(
        &mut self,
        cx: &Cx,
        manager: &mut Manager,
        func: FuncId,
        before: Vec<i128>,
    ) -> Result<Option<Activation>, Stop> {
        let asked = (func, before);
        let mut open = vec![asked.clone()];
        let mut waiting = BTreeSet::from([asked.clone()]);
        while let Some(call) = open.last() {
            if !self.known.contains_key(call) {
                if self.left == 0 || open.len() > DEPTH {
                    return Ok(None);
                }
                self.left -= 1;
                if self.left.is_multiple_of(CHECK) {
                    cx.check()?;
                }
                match self.evaluate(&mut manager.terms, call) {
                    Evaluated::Returns(after) => _ = self.known.insert(call.clone(), after),
                    Evaluated::Needs(other) if waiting.insert(other.clone()) => {
                        open.push(other);
                        continue;
                    }
                    Evaluated::Needs(_) | Evaluated::Open => return Ok(None),
                }
            }
            waiting.remove(call);
            open.pop();
        }
        let after = self.known.get(&asked).cloned();
        Ok(after.map(|after| Activation { before: asked.1, after: Some(after) }))
    }

    fn evaluate(&self, terms: &mut Terms, (func, before): &Called) -> Evaluated {
        let Some(body) = self.bodies.get(&Some(*func)) else { return Evaluated::Open };
        let mut bound: FxHashMap<(SymId, u32), TermId> = FxHashMap::default();
        for (atom, &value) in self.signatures[func].before.iter().zip(before) {
            bound.insert((atom.symbol, 0), number(terms, value, atom.ty));
        }
        for call in &body.calls {
            match value(terms, &bound, call.condition) {
                condition if condition == Terms::fls() => continue,
                condition if condition == Terms::tru() => {}
                _ => return Evaluated::Open,
            }
            let signature = &self.signatures[&call.callee];
            let arguments: Option<Vec<i128>> =
                signature.before.iter().map(|atom| read(terms, &bound, call.values[&atom.symbol], *atom)).collect();
            let Some(arguments) = arguments else { return Evaluated::Open };
            let called = (call.callee, arguments);
            let Some(after) = self.known.get(&called) else { return Evaluated::Needs(called) };
            for (atom, &value) in signature.after.iter().zip(after) {
                let Term::Var { sym, index } = *terms.get(call.values[&atom.symbol]) else { return Evaluated::Open };
                let value = number(terms, value, atom.ty);
                bound.insert((sym, index), value);
            }
            // What is left of the condition is that the call returned.
            let returned = value(terms, &bound, call.returned);
            let Term::Var { sym, index } = *terms.get(returned) else { return Evaluated::Open };
            bound.insert((sym, index), Terms::tru());
        }
        for (condition, values) in &body.exits {
            if value(terms, &bound, *condition) == Terms::tru() {
                let after = &self.signatures[func].after;
                let after: Option<Vec<i128>> =
                    after.iter().map(|atom| read(terms, &bound, values[&atom.symbol], *atom)).collect();
                return after.map_or(Evaluated::Open, Evaluated::Returns);
            }
        }
        Evaluated::Open
    }
}

fn value(terms: &mut Terms, bound: &FxHashMap<(SymId, u32), TermId>, term: TermId) -> TermId {
    terms.substitute(term, &mut |_, symbol, instance| bound.get(&(symbol, instance)).copied())
}

fn number(terms: &mut Terms, value: i128, ty: IntTy) -> TermId {
    terms.bv(ty.bits, value.rem_euclid(1 << ty.bits).cast_unsigned())
}

fn read(terms: &mut Terms, bound: &FxHashMap<(SymId, u32), TermId>, term: TermId, atom: Atom) -> Option<i128> {
    let term = value(terms, bound, term);
    match *terms.get(term) {
        Term::Bv { bits, .. } => Some(atom.ty.wrap(i128::try_from(bits).ok()?)),
        _ => None,
    }
}
