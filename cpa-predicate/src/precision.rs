// SPDX-License-Identifier: Apache-2.0
//! Predicates and precisions.
//!
//! A precision says which predicates are tracked at which location (Wendler's thesis, section 2.2). It is attached to the
//! abstract states and inherited along the ARG, so a refinement changes what is tracked behind the pivot only (chapter 4,
//! "precision per path").

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::ids::NodeId;
use indexmap::IndexSet;
use smt::TermId;

/// A predicate; the number is also its BDD variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PredId(u32);

impl PredId {
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

/// The predicates of each location; empty at the start of an analysis.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Precision {
    locations: Rc<BTreeMap<NodeId, Rc<BTreeSet<PredId>>>>,
}

impl Precision {
    /// The predicates to track at `location`.
    pub fn at(&self, location: NodeId) -> Option<&BTreeSet<PredId>> {
        self.locations.get(&location).map(Rc::as_ref)
    }

    /// This precision with more predicates at one location.
    pub fn with(&self, location: NodeId, predicates: impl IntoIterator<Item = PredId>) -> Self {
        let mut locations = (*self.locations).clone();
        let mut set = locations.get(&location).map(|set| (**set).clone()).unwrap_or_default();
        set.extend(predicates);
        if !set.is_empty() {
            locations.insert(location, Rc::new(set));
        }
        Self { locations: Rc::new(locations) }
    }

    /// The predicates of both precisions.
    pub fn union(&self, other: &Self) -> Self {
        if Rc::ptr_eq(&self.locations, &other.locations) || other.locations.is_empty() {
            return self.clone();
        }
        other.locations.iter().fold(self.clone(), |result, (&location, set)| result.with(location, set.iter().copied()))
    }

    /// The locations with predicates, and their predicates.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &BTreeSet<PredId>)> {
        self.locations.iter().map(|(&location, set)| (location, &**set))
    }
}
