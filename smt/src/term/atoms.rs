// SPDX-License-Identifier: Apache-2.0
//! The propositional skeleton: which atoms a formula is made of.

use rustc_hash::FxHashSet;

use super::ids::{Sort, TermId};
use super::node::Term;
use super::store::Terms;

impl Terms {
    /// Whether the term is a Boolean leaf: a Boolean variable or a comparison of non-Booleans.
    pub fn is_atom(&self, t: TermId) -> bool {
        match *self.get(t) {
            Term::Var { sym, .. } => self.symbol_sort(sym) == Sort::Bool,
            Term::Eq(a, _) => self.sort(a) != Sort::Bool,
            Term::BvCmp(..) | Term::IntLe(..) | Term::FpCmp(..) => true,
            _ => false,
        }
    }

    /// The atoms of a formula in the order of their first occurrence, left to right, also those in the conditions of
    /// if-then-else terms inside other atoms. See [`Terms::lift_ites`] for taking such atoms apart first.
    pub fn atoms(&self, t: TermId) -> Vec<TermId> {
        let mut atoms = Vec::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack = vec![t];
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if self.is_atom(t) {
                atoms.push(t);
            }
            let first = stack.len();
            self.get(t).for_each_child(|c| stack.push(c));
            stack[first..].reverse();
        }
        atoms
    }

    /// The operands of a conjunction, also of nested ones; the term itself if it is none.
    pub fn conjuncts(&self, t: TermId) -> Vec<TermId> {
        self.flat_operands(t, |node| match node {
            Term::And(xs) => Some(xs),
            _ => None,
        })
    }

    /// The operands of a disjunction, also of nested ones; the term itself if it is none.
    pub fn disjuncts(&self, t: TermId) -> Vec<TermId> {
        self.flat_operands(t, |node| match node {
            Term::Or(xs) => Some(xs),
            _ => None,
        })
    }

    fn flat_operands(&self, t: TermId, operands: impl Fn(&Term) -> Option<&[TermId]>) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack = vec![t];
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            match operands(self.get(t)) {
                Some(xs) => stack.extend(xs.iter().rev()),
                None => found.push(t),
            }
        }
        found
    }

    /// Moves if-then-else terms out of the atoms: `ite(c, x, y) <= z` becomes `ite(c, x <= z, y <= z)`. An atom is
    /// taken apart as long as it holds at most `limit` different if-then-else conditions (each may double it).
    pub fn lift_ites(&mut self, t: TermId, limit: usize) -> TermId {
        let mut memo = rustc_hash::FxHashMap::default();
        for s in self.post_order(&[t], |_| false) {
            let lifted = if self.sort(s) != Sort::Bool {
                s
            } else if self.is_atom(s) {
                self.lift_atom(s, limit)
            } else {
                self.rebuild(s, |c| memo[&c])
            };
            memo.insert(s, lifted);
        }
        memo[&t]
    }

    fn lift_atom(&mut self, atom: TermId, limit: usize) -> TermId {
        let order = self.post_order(&[atom], |_| false);
        let conditions: FxHashSet<TermId> = order
            .iter()
            .filter_map(|&s| match *self.get(s) {
                Term::Ite(c, a, _) if self.sort(a) != Sort::Bool => Some(c),
                _ => None,
            })
            .collect();
        // The outermost condition, so that the cases do not hold it any more.
        let Some(&c) = conditions.iter().max() else { return atom };
        if conditions.len() > limit {
            return atom;
        }
        let when = self.assume_condition(atom, &order, c, true);
        let unless = self.assume_condition(atom, &order, c, false);
        let (when, unless) = (self.lift_ites(when, limit - 1), self.lift_ites(unless, limit - 1));
        let c = self.lift_ites(c, limit);
        self.ite(c, when, unless)
    }

    /// The term where if-then-else nodes on `c` are replaced by one branch; `order` is its post-order.
    fn assume_condition(&mut self, t: TermId, order: &[TermId], c: TermId, holds: bool) -> TermId {
        let mut memo = rustc_hash::FxHashMap::default();
        for &s in order {
            let replaced = match *self.get(s) {
                Term::Ite(d, a, b) if d == c => {
                    let branch = if holds { a } else { b };
                    memo[&branch]
                }
                _ => self.rebuild(s, |x| memo[&x]),
            };
            memo.insert(s, replaced);
        }
        memo[&t]
    }
}
