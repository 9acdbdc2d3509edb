// SPDX-License-Identifier: Apache-2.0
//! Path formulas of large blocks: a path condition together with a symbolic store.
//!
//! Follows the block encoding of Beyer, Keremoglu, Wendler, *Predicate Abstraction with Adjustable-Block Encoding*
//! (FMCAD 2010), section 3, but keeps the last value of every variable as a term over the block's start values and inputs
//! instead of introducing SSA indices and equations: assignments substitute, so that constants propagate and the
//! simplifying builders fold. The price is that the caller must ask for values through the store.
//!
//! # What a path formula means
//! Write `s` for a valuation of `var(x,0)` (the start state of the block) and `i` for one of the instances with positive
//! index (inputs and choices). A path formula *represents* a set P of paths when
//! 1. for every path in P and every execution of it from `s` that ends in `t` there is an `i` with `pc(s,i)`, and
//!    `store(x)(s,i) = t(x)` for every `x`;
//! 2. for all `s`, `i` with `pc(s,i)` there is a path in P with an execution from `s` to the state `store(.)(s,i)`.
//!
//! # Exactness
//! The empty formula represents the empty path. [`PathFormula::post`] keeps both properties: `Assume` and `Assign`
//! evaluate the statement's term in the state that the store describes, and `Havoc` takes an instance that does not occur
//! in the formula (the counter of the symbol is above every instance in use), so its value is free.
//!
//! [`PathFormula::merge`] of formulas for P and Q represents P and Q together. Sharing of instances between the operands
//! is harmless, because every valuation is used for a path of one operand only. With a choice symbol `b` that is new to
//! both, `pc = (b & pc1) | (!b & pc2)` holds exactly when the operand that `b` names holds, and the values are those of
//! that operand. Without it (`exclusive`) the operands must have no common model; then at most one of `pc1`, `pc2` holds
//! where the merged condition does, and the selector agrees with `pc1` there. The selector is a part of `pc1`: conjuncts
//! common to both conditions hold wherever `pc1 | pc2` does, and if a conjunct of `pc1` is the negation of a conjunct of
//! `pc2` it alone tells the operands apart. Outside of the path condition the stored values mean nothing.
//!
//! # When operands are exclusive
//! When branching is deterministic: of the edges that leave a node at most one can be taken in any state. Then a valuation
//! (s, i) drives at most one path to any node. Counters are merged by maximum, so the inputs along one path are distinct.

pub(crate) mod map;

use crate::term::{SymId, Term, TermId, Terms};
use map::PMap;

/// What an edge does. Terms are Boolean or of the variable's sort, over `var(x,0)` only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// Nothing.
    Skip,
    /// Only executions with a true condition go on.
    Assume(TermId),
    /// The variable takes the value of the term.
    Assign(SymId, TermId),
    /// The variable takes any value of its sort (within its bounds).
    Havoc(SymId),
}

/// The name of the Boolean symbol that selects between operands of a merge that are not exclusive.
pub const CHOICE: &str = "choice!";

/// The formula of a set of paths through a block; see the module's documentation for what that means. It is a function of
/// the statements alone: equal blocks have equal formulas, whatever was built before.
#[derive(Clone, Debug)]
pub struct PathFormula {
    /// The path condition, over start values and instances with positive index.
    pub pc: TermId,
    /// The number of statements on the longest of the paths.
    pub length: u32,
    /// Last value of each variable whose value differs from its start value.
    store: PMap<(SymId, TermId)>,
    /// How many instances of a symbol are in use.
    counters: PMap<(SymId, u32)>,
    choices: u32,
}

impl PathFormula {
    /// The formula of the empty path.
    pub fn empty() -> Self {
        PathFormula { pc: TermId::TRUE, length: 0, store: PMap::default(), counters: PMap::default(), choices: 0 }
    }

    /// Whether this is the start of a block: no statement has been added.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The formula of the paths followed by `stmt`.
    pub fn post(&self, terms: &mut Terms, stmt: &Stmt) -> Self {
        let mut next = self.clone();
        next.apply(terms, stmt);
        next
    }

    /// Appends `stmt` to the paths; as [`PathFormula::post`], in place.
    pub fn apply(&mut self, terms: &mut Terms, stmt: &Stmt) {
        self.length += 1;
        match *stmt {
            Stmt::Skip => {}
            Stmt::Assume(cond) => {
                let cond = self.instantiate(terms, cond);
                self.pc = terms.and(self.pc, cond);
            }
            Stmt::Assign(sym, value) => {
                let value = self.instantiate(terms, value);
                self.set(terms, sym, value);
            }
            Stmt::Havoc(sym) => {
                let instance = self.counters.get(key(sym)).map_or(0, |(_, n)| n) + 1;
                self.counters.set(key(sym), Some((sym, instance)));
                let value = terms.var(sym, instance);
                self.set(terms, sym, value);
            }
        }
    }

    fn set(&mut self, terms: &mut Terms, sym: SymId, value: TermId) {
        let entry = (value != terms.var(sym, 0)).then_some((sym, value));
        self.store.set(key(sym), entry);
    }

    /// The formula of the paths of both operands. `exclusive` promises that the path conditions have no common model,
    /// which holds when branching is deterministic; it saves the choice symbol.
    pub fn merge(&self, terms: &mut Terms, other: &Self, exclusive: bool) -> Self {
        let length = self.length.max(other.length);
        // An operand without executions contributes nothing but its length.
        if other.pc == TermId::FALSE {
            return PathFormula { length, ..self.clone() };
        }
        if self.pc == TermId::FALSE {
            return PathFormula { length, ..other.clone() };
        }
        let mut differing = Vec::new();
        self.store.diff(&other.store, |_, mine, theirs| {
            let sym = mine.or(theirs).expect("diff visits keys that one of the maps has").0;
            differing.push((sym, mine.map(|v| v.1), theirs.map(|v| v.1)));
        });
        let mut merged = self.clone();
        merged.length = length;
        merged.choices = self.choices.max(other.choices);
        self.counters.diff(&other.counters, |k, mine, theirs| {
            merged.counters.set(k, std::cmp::max_by_key(mine, theirs, |entry| entry.map_or(0, |e| e.1)));
        });
        if differing.is_empty() {
            merged.pc = terms.or(self.pc, other.pc);
            return merged;
        }
        let selector = if exclusive {
            merged.pc = terms.or(self.pc, other.pc);
            selector(terms, self.pc, other.pc)
        } else {
            merged.choices += 1;
            let symbol = terms.symbol(CHOICE, crate::term::Sort::Bool);
            let choice = terms.var(symbol, merged.choices);
            merged.pc = terms.ite(choice, self.pc, other.pc);
            choice
        };
        for (sym, mine, theirs) in differing {
            let start = terms.var(sym, 0);
            let value = terms.ite(selector, mine.unwrap_or(start), theirs.unwrap_or(start));
            merged.set(terms, sym, value);
        }
        merged
    }

    /// The formula of the paths followed by those of another formula. The instances of the second one get numbers above
    /// those in use, so its inputs stay free.
    pub fn then(&self, terms: &mut Terms, next: &Self) -> Self {
        let choice = terms.symbol(CHOICE, crate::term::Sort::Bool);
        let offset = |sym: SymId| match sym {
            _ if sym == choice => self.choices,
            _ => self.counters.get(key(sym)).map_or(0, |(_, n)| n),
        };
        let shifted = |terms: &mut Terms, term: TermId| {
            terms.substitute(term, &mut |terms: &mut Terms, sym, index| match index {
                0 => self.store.get(key(sym)).map(|(_, value)| value),
                _ => Some(terms.var(sym, index + offset(sym))),
            })
        };
        let condition = shifted(terms, next.pc);
        let values: Vec<(SymId, TermId)> = next.store.iter().collect();
        let values: Vec<(SymId, TermId)> = values.into_iter().map(|(sym, t)| (sym, shifted(terms, t))).collect();
        let mut both = self.clone();
        both.pc = terms.and(self.pc, condition);
        both.length += next.length;
        both.choices += next.choices;
        for (sym, n) in next.counters.iter() {
            both.counters.set(key(sym), Some((sym, n + offset(sym))));
        }
        for (sym, value) in values {
            both.set(terms, sym, value);
        }
        both
    }

    /// The last value of a variable, over start values and instances.
    pub fn value(&self, terms: &mut Terms, sym: SymId) -> TermId {
        match self.store.get(key(sym)) {
            Some((_, value)) => value,
            None => terms.var(sym, 0),
        }
    }

    /// The value of `term` (over `var(x,0)`) at the end of the paths, over start values and instances.
    pub fn instantiate(&self, terms: &mut Terms, term: TermId) -> TermId {
        match terms.get(term) {
            Term::True | Term::False | Term::Bv { .. } | Term::Int(_) => return term,
            &Term::Var { sym, index: 0 } => return self.value(terms, sym),
            _ => {}
        }
        terms.substitute(term, &mut |_, sym, index| match index {
            0 => self.store.get(key(sym)).map(|(_, value)| value),
            _ => None,
        })
    }

    /// The variables whose last value differs from their start value, in the order of their ids.
    pub fn modified(&self) -> impl Iterator<Item = SymId> + '_ {
        self.store.iter().map(|(sym, _)| sym)
    }

    /// The variables whose last values differ between two formulas.
    pub fn changed(&self, other: &Self) -> Vec<SymId> {
        let mut changed = Vec::new();
        self.store.diff(&other.store, |_, mine, theirs| changed.extend(mine.or(theirs).map(|(sym, _)| sym)));
        changed
    }

    /// The variables whose last value differs from their start value, with that value.
    pub fn assignments(&self) -> impl Iterator<Item = (SymId, TermId)> + '_ {
        self.store.iter()
    }

    /// A formula that goes on where this one ends, with a path condition of its own: values and instances in use stay, the
    /// path condition becomes true. Conjoining the path conditions of such pieces gives that of the whole.
    pub fn next_piece(&self) -> Self {
        PathFormula { pc: TermId::TRUE, length: 0, ..self.clone() }
    }
}

impl PartialEq for PathFormula {
    /// Whether the formulas are the same syntactically: equal condition and equal values.
    fn eq(&self, other: &Self) -> bool {
        let mut equal = self.pc == other.pc;
        if equal {
            self.store.diff(&other.store, |_, _, _| equal = false);
        }
        equal
    }
}

impl Eq for PathFormula {}

fn key(sym: SymId) -> u32 {
    u32::try_from(sym.index()).expect("symbols are numbered by u32")
}

/// A condition that equals `pc1` wherever exactly one of `pc1` and `pc2` holds, as small as is easy to find.
fn selector(terms: &mut Terms, pc1: TermId, pc2: TermId) -> TermId {
    let mine = conjuncts(terms, pc1);
    let theirs = conjuncts(terms, pc2);
    let only_mine: Vec<TermId> = mine.iter().copied().filter(|c| theirs.binary_search(c).is_err()).collect();
    let only_theirs: Vec<TermId> = theirs.iter().copied().filter(|c| mine.binary_search(c).is_err()).collect();
    for &c in &only_mine {
        let negated = terms.not(c);
        if only_theirs.binary_search(&negated).is_ok() {
            return c;
        }
    }
    if only_theirs.len() < only_mine.len() {
        let all = terms.and_all(&only_theirs);
        terms.not(all)
    } else {
        terms.and_all(&only_mine)
    }
}

/// The conjuncts of a condition, sorted.
fn conjuncts(terms: &Terms, pc: TermId) -> Vec<TermId> {
    let mut conjuncts = terms.conjuncts(pc);
    conjuncts.sort_unstable();
    conjuncts
}

#[cfg(test)]
mod tests;
