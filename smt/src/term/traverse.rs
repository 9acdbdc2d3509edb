// SPDX-License-Identifier: Apache-2.0
//! Walks over term DAGs: post-order, size, symbols, substitution. All use explicit stacks, as terms get deep.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ids::{SymId, TermId};
use super::node::Term;
use super::store::Terms;

impl Terms {
    /// Every subterm once, operands before the terms that use them. Subterms for which `skip` holds are left out
    /// together with what only they reach.
    pub(crate) fn post_order(&self, roots: &[TermId], skip: impl FnMut(TermId) -> bool) -> Vec<TermId> {
        self.post_order_by(roots, skip, |t, push| self.get(t).for_each_child(push))
    }

    /// As [`Terms::post_order`], with other children than the operands; there must be no cycle.
    pub(crate) fn post_order_by(
        &self,
        roots: &[TermId],
        mut skip: impl FnMut(TermId) -> bool,
        children: impl Fn(TermId, &mut dyn FnMut(TermId)),
    ) -> Vec<TermId> {
        let mut order = Vec::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        // The flag tells whether the operands have been pushed.
        let mut stack: Vec<(TermId, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, expanded)) = stack.pop() {
            if expanded {
                order.push(t);
                continue;
            }
            if skip(t) || !seen.insert(t) {
                continue;
            }
            stack.push((t, true));
            let first = stack.len();
            children(t, &mut |c| {
                if !seen.contains(&c) {
                    stack.push((c, false));
                }
            });
            stack[first..].reverse();
        }
        order
    }

    /// The array and the index of each read in a term.
    pub fn reads(&self, t: TermId) -> Vec<(TermId, TermId)> {
        let order = self.post_order(&[t], |s| !self.has_array(s));
        let read = |s: TermId| match *self.get(s) {
            Term::Select(array, index) => Some((array, index)),
            _ => None,
        };
        order.into_iter().filter_map(read).collect()
    }

    /// Number of different subterms.
    pub fn size(&self, t: TermId) -> usize {
        self.size_of_all(&[t])
    }

    /// Number of different subterms of several terms together.
    pub fn size_of_all(&self, roots: &[TermId]) -> usize {
        self.post_order(roots, |_| false).len()
    }

    /// The instances of symbols in a term.
    pub fn symbols(&self, t: TermId) -> BTreeSet<(SymId, u32)> {
        self.symbols_of_all(&[t])
    }

    /// The instances of symbols in several terms together.
    pub fn symbols_of_all(&self, roots: &[TermId]) -> BTreeSet<(SymId, u32)> {
        let order = self.post_order(roots, |_| false);
        order.into_iter().filter_map(|t| self.as_var(t)).collect()
    }

    /// The instances of bounded symbols in a term, as variables.
    pub fn bounded_instances(&self, t: TermId) -> Vec<TermId> {
        let mut order = self.post_order(&[t], |s| !self.has_bounded(s));
        order.retain(|&s| self.as_var(s).is_some());
        order
    }

    /// The symbol and index of a variable.
    pub fn as_var(&self, t: TermId) -> Option<(SymId, u32)> {
        match *self.get(t) {
            Term::Var { sym, index } => Some((sym, index)),
            _ => None,
        }
    }

    /// Replaces instances of symbols; `f` gives the replacement, None to keep the instance. Replacements are not
    /// looked into again.
    pub fn substitute(&mut self, t: TermId, f: &mut impl FnMut(&mut Terms, SymId, u32) -> Option<TermId>) -> TermId {
        Substitution::new().apply(self, t, f)
    }

    /// `t` with another term for each occurrence of a subterm.
    pub fn replace(&mut self, t: TermId, from: TermId, to: TermId) -> TermId {
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::from_iter([(from, to)]);
        for s in self.post_order(&[t], |s| s == from) {
            let replaced = self.rebuild(s, |c| memo[&c]);
            memo.insert(s, replaced);
        }
        memo[&t]
    }

    /// The node `t` with its operands replaced, simplified anew.
    pub(crate) fn rebuild(&mut self, t: TermId, mut map: impl FnMut(TermId) -> TermId) -> TermId {
        let mut same = true;
        self.get(t).for_each_child(|c| same &= map(c) == c);
        if same {
            return t;
        }
        match *self.get(t) {
            Term::True | Term::False | Term::Bv { .. } | Term::Int(_) | Term::Var { .. } => t,
            Term::Not(a) => self.not(map(a)),
            Term::And(ref xs) => {
                let xs: Vec<TermId> = xs.iter().map(|&x| map(x)).collect();
                self.and_all(&xs)
            }
            Term::Or(ref xs) => {
                let xs: Vec<TermId> = xs.iter().map(|&x| map(x)).collect();
                self.or_all(&xs)
            }
            Term::Ite(c, a, b) => self.ite(map(c), map(a), map(b)),
            Term::Eq(a, b) => self.eq(map(a), map(b)),
            Term::BvUn(op, a) => self.bv_un(op, map(a)),
            Term::BvBin(op, a, b) => self.bv_bin(op, map(a), map(b)),
            Term::BvCmp(op, a, b) => self.bv_cmp(op, map(a), map(b)),
            Term::Extract { hi, lo, arg } => self.extract(hi, lo, map(arg)),
            Term::Zext { width, arg } => self.zext(width, map(arg)),
            Term::Sext { width, arg } => self.sext(width, map(arg)),
            Term::Concat(a, b) => self.concat(map(a), map(b)),
            Term::ConstArray { index, element } => self.const_array(index, map(element)),
            Term::Select(a, b) => self.select(map(a), map(b)),
            Term::Store { array, base, ref writes } => {
                let writes: Vec<(u128, TermId)> = writes.to_vec().into_iter().map(|(k, v)| (k, map(v))).collect();
                self.store_all(map(array), map(base), &writes)
            }
            Term::FpUn(op, a) => self.fp_un(op, map(a)),
            Term::FpBin(op, a, b) => self.fp_bin(op, map(a), map(b)),
            Term::FpCmp(op, a, b) => self.fp_cmp(op, map(a), map(b)),
            Term::IntAdd(ref xs) => {
                let xs: Vec<TermId> = xs.iter().map(|&x| map(x)).collect();
                self.int_sum(&xs)
            }
            Term::IntMulConst(k, a) => self.int_mul_const(k, map(a)),
            Term::IntMul(a, b) => self.int_mul(map(a), map(b)),
            Term::IntDiv(a, k) => self.int_div(map(a), k),
            Term::IntMod(a, k) => self.int_mod(map(a), k),
            Term::IntLe(a, b) => self.int_le(map(a), map(b)),
        }
    }
}

/// A substitution with its memo, for replacing in many terms. The function given to [`Substitution::apply`] must be
/// the same each time.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    memo: FxHashMap<TermId, TermId>,
}

impl Substitution {
    /// An empty memo.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces instances of symbols in `t`, see [`Terms::substitute`].
    pub fn apply(
        &mut self,
        terms: &mut Terms,
        t: TermId,
        f: &mut impl FnMut(&mut Terms, SymId, u32) -> Option<TermId>,
    ) -> TermId {
        let order = {
            let memo = &self.memo;
            terms.post_order(&[t], |s| memo.contains_key(&s))
        };
        for s in order {
            let replaced = match terms.as_var(s) {
                Some((sym, index)) => f(terms, sym, index).unwrap_or(s),
                None => terms.rebuild(s, |c| self.memo[&c]),
            };
            self.memo.insert(s, replaced);
        }
        self.memo[&t]
    }
}
