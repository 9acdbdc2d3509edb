// SPDX-License-Identifier: Apache-2.0
//! What a sequence adds to the predicates of the caller, and whether that looks like divergence.
//!
//! Refinement diverges when it unrolls a loop and learns one more constant each time: `i <= 1`, `i <= 2`, ... The rule:
//! a place of the program diverges where, with the new predicates, several atoms differ only in their constants, and some
//! of the new ones are not of the program's making. (States of a protocol have constants too, but the program names them.
//! Compare Albarghouthi, McMillan, *Beautiful Interpolants*, CAV 2013, section 1.) An answer without any new predicate is
//! suspect too, because the caller might find the same path again.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::{Discriminant, discriminant};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::cover::is_pretty;
use super::engine::Task;
use super::facts::place;
use crate::path::Stmt;
use crate::term::{BvBin, Term, TermId, Terms};

/// How much a sequence adds; smaller is better, the first field that differs decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Growth {
    /// Nothing is new although the caller said what it knows.
    pub(crate) stuck: bool,
    /// New atoms in families that are too large, as far as the program does not name them; and atoms about choices or
    /// pieces of numbers, which hardly ever generalise.
    pub(crate) diverging: usize,
    /// New atoms, summed over the places.
    pub(crate) atoms: usize,
    /// Terms of the interpolants.
    pub(crate) size: usize,
}

/// Measures a sequence. A family is too large from `family` members on.
pub(crate) fn growth(task: &mut Task<'_>, cuts: &[TermId], family: usize) -> Growth {
    let mut new: BTreeMap<u32, BTreeSet<TermId>> = BTreeMap::new();
    let mut known: BTreeMap<u32, BTreeSet<TermId>> = BTreeMap::new();
    for (cut, &term) in cuts.iter().enumerate() {
        let place = place(task, cut);
        new.entry(place).or_default().extend(task.terms.atoms(term));
        if let Some(hint) = task.hints.cuts.get(cut) {
            let atoms = hint.known.iter().flat_map(|&t| task.terms.atoms(t));
            known.entry(place).or_default().extend(atoms);
        }
    }
    let vocabulary = Vocabulary::new(task);
    let mut skeletons = Skeletons::default();
    let mut growth = Growth { stuck: !known.is_empty(), diverging: 0, atoms: 0, size: task.terms.size_of_all(cuts) };
    for (place, atoms) in &mut new {
        let old = known.remove(place).unwrap_or_default();
        atoms.retain(|atom| !old.contains(atom));
        growth.stuck &= atoms.is_empty();
        growth.atoms += atoms.len();
        growth.diverging += atoms.iter().filter(|&&atom| !is_pretty(task.terms, atom)).count();
        let mut families: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (&atom, is_new) in old.iter().map(|a| (a, false)).chain(atoms.iter().map(|a| (a, true))) {
            let skeleton = skeletons.of(task.terms, atom);
            let (members, fresh) = families.entry(skeleton).or_default();
            *members += 1;
            *fresh += usize::from(is_new && !vocabulary.covers(task.terms, atom));
        }
        growth.diverging +=
            families.values().filter(|(members, _)| *members >= family).map(|(_, fresh)| fresh).sum::<usize>();
    }
    growth
}

/// What the conditions of a path are made of.
struct Vocabulary {
    terms: BTreeSet<TermId>,
}

impl Vocabulary {
    fn new(task: &Task<'_>) -> Self {
        let (mut conditions, mut values) = (BTreeSet::new(), BTreeSet::new());
        for (_, _, stmt) in task.path.edges() {
            match stmt {
                Stmt::Assume(t) => conditions.insert(t),
                Stmt::Assign(_, t) => values.insert(t),
                Stmt::Skip | Stmt::Havoc(_) => false,
            };
        }
        let subterms = |roots: BTreeSet<TermId>| {
            task.terms.post_order(&roots.into_iter().collect::<Vec<_>>(), |_| false).into_iter()
        };
        let mut terms: BTreeSet<TermId> = subterms(conditions).collect();
        terms.extend(subterms(values).filter(|&t| task.terms.as_value(t).is_some()));
        Vocabulary { terms }
    }

    /// Whether an atom compares what the program compares: its constants occur in the path, its sums in the conditions.
    fn covers(&self, terms: &Terms, atom: TermId) -> bool {
        let mut sides = Vec::new();
        terms.get(atom).for_each_child(|c| sides.push(c));
        terms.post_order(&sides, |_| false).into_iter().all(|t| terms.as_var(t).is_some() || self.terms.contains(&t))
    }
}

/// Numbers for the shapes of terms: two terms have the same number when they differ only in constants, added constants
/// included.
#[derive(Default)]
struct Skeletons {
    memo: FxHashMap<TermId, usize>,
    shapes: IndexSet<Shape, FxBuildHasher>,
}

/// A node whose operands are shapes; every constant is the same shape.
#[derive(PartialEq, Eq, Hash)]
enum Shape {
    Constant,
    Leaf(TermId),
    Node { kind: Discriminant<Term>, detail: u64, operands: Vec<usize> },
}

impl Skeletons {
    fn of(&mut self, terms: &Terms, t: TermId) -> usize {
        let memo = &self.memo;
        for s in terms.post_order(&[t], |s| memo.contains_key(&s)) {
            let node = terms.get(s);
            let mut operands = Vec::new();
            node.for_each_child(|c| operands.push(self.memo[&c]));
            let shape = match node {
                Term::Bv { .. } | Term::Int(_) => Shape::Constant,
                // `x + 3` has the shape of `x`.
                &Term::BvBin(BvBin::Add, a, k) if terms.as_value(k).is_some() => {
                    self.memo.insert(s, self.memo[&a]);
                    continue;
                }
                _ if operands.is_empty() => Shape::Leaf(s),
                _ => Shape::Node { kind: discriminant(node), detail: detail(node), operands },
            };
            let number = self.shapes.insert_full(shape).0;
            self.memo.insert(s, number);
        }
        self.memo[&t]
    }
}

/// What tells operators of one kind of node apart. Coefficients count: `x - 2*y` is another shape than `x - 3*y`.
fn detail(node: &Term) -> u64 {
    match *node {
        Term::BvUn(op, _) => op as u64,
        Term::BvBin(op, ..) => op as u64,
        Term::BvCmp(op, ..) => op as u64,
        Term::Extract { hi, lo, .. } => u64::from(hi) << 32 | u64::from(lo),
        Term::Zext { width, .. } | Term::Sext { width, .. } => u64::from(width),
        Term::FpBin(op, ..) => op as u64,
        Term::FpCmp(op, ..) => op as u64,
        Term::IntMulConst(k, _) | Term::IntDiv(_, k) | Term::IntMod(_, k) => k as u64,
        _ => 0,
    }
}
