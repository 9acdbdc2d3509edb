// SPDX-License-Identifier: Apache-2.0
//! Predicates and precisions.
//!
//! A precision says which predicates are tracked at which location (Wendler's thesis, section 2.2), in which function or
//! everywhere. It is attached to the abstract states and inherited along the ARG, so a refinement changes what is tracked
//! behind the pivot only (chapter 4, "precision per path"); what is shared beyond that is kept beside, see [`Sharing`].

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::ids::{FuncId, NodeId};
use indexmap::IndexSet;
use smt::TermId;

/// A predicate; the number is also its BDD variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PredId(u32);

impl PredId {
    pub(crate) fn of_number(number: u32) -> Self {
        Self(number)
    }

    /// The number of the predicate, from 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// All predicates of a run: atoms over the program variables, each once.
#[derive(Default)]
pub struct Predicates {
    atoms: IndexSet<TermId>,
}

impl Predicates {
    /// The predicate with the given atom.
    pub fn intern(&mut self, atom: TermId) -> PredId {
        let (index, _) = self.atoms.insert_full(atom);
        PredId(u32::try_from(index).expect("fewer than 2^32 predicates"))
    }

    /// The atom of a predicate.
    pub fn atom(&self, predicate: PredId) -> TermId {
        self.atoms[predicate.0 as usize]
    }

    /// The atom of the predicate with the given number.
    pub fn atom_of_number(&self, number: u32) -> TermId {
        self.atoms[number as usize]
    }

    /// The number of predicates found.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether no predicate was found yet.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }
}

/// Where a predicate is tracked that a refinement found at some location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// At that location, on paths behind the pivot of the refinement.
    #[default]
    Path,
    /// At that location.
    Location,
    /// Everywhere in the function.
    Function,
    /// Everywhere.
    Global,
}

/// Where a set of predicates is tracked. Locations come last, for they are looked up most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    /// Everywhere.
    Global,
    /// In a function.
    Function(FuncId),
    /// At a location.
    Location(NodeId),
}

/// The predicates of each scope; empty at the start of an analysis.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Precision {
    scopes: Rc<BTreeMap<Scope, Rc<BTreeSet<PredId>>>>,
}

impl Precision {
    /// The predicates of this and another precision that are to be tracked at `location`, which is in `func`; ascending.
    pub fn tracked(&self, other: &Self, func: FuncId, location: NodeId) -> Rc<[PredId]> {
        let scopes = [Scope::Global, Scope::Function(func), Scope::Location(location)];
        let sets = scopes.iter().flat_map(|scope| [self.scopes.get(scope), other.scopes.get(scope)]).flatten();
        let mut all: Vec<PredId> = sets.flat_map(|set| set.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all.into()
    }

    /// This precision with more predicates in one scope.
    pub fn with(&self, scope: Scope, predicates: impl IntoIterator<Item = PredId>) -> Self {
        let mut scopes = (*self.scopes).clone();
        let mut set = scopes.get(&scope).map(|set| (**set).clone()).unwrap_or_default();
        set.extend(predicates);
        if !set.is_empty() {
            scopes.insert(scope, Rc::new(set));
        }
        Self { scopes: Rc::new(scopes) }
    }

    /// What is left of this precision in some scopes and of some predicates.
    pub fn restrict(&self, scope: impl Fn(Scope) -> bool, predicate: impl Fn(Scope, PredId) -> bool) -> Self {
        let mut scopes = BTreeMap::new();
        for (&at, set) in self.scopes.iter().filter(|(at, _)| scope(**at)) {
            let kept: BTreeSet<PredId> = set.iter().copied().filter(|&p| predicate(at, p)).collect();
            if kept.len() == set.len() {
                scopes.insert(at, Rc::clone(set));
            } else if !kept.is_empty() {
                scopes.insert(at, Rc::new(kept));
            }
        }
        Self { scopes: Rc::new(scopes) }
    }

    /// The predicates of both precisions.
    pub fn union(&self, other: &Self) -> Self {
        if Rc::ptr_eq(&self.scopes, &other.scopes) || other.scopes.is_empty() {
            return self.clone();
        }
        other.scopes.iter().fold(self.clone(), |result, (&scope, set)| result.with(scope, set.iter().copied()))
    }

    /// The scopes with predicates, and their predicates.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, &BTreeSet<PredId>)> {
        self.scopes.iter().map(|(&scope, set)| (scope, &**set))
    }
}
