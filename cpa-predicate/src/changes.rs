// SPDX-License-Identifier: Apache-2.0
//! Iterations of loops that change something.
//!
//! An execution that comes back to a loop head with the same call stack and the same values of everything that is still
//! read can be shortened by what lies between, so a reachable error is reached by an execution without such iterations.
//! Path formulas that leave them out have fewer models, and loops that wait for others, which go round any number of times
//! without an effect, have only finitely many paths. This is the idea of the loop-free paths of Sheeran, Singh and
//! Stålmarck, *Checking Safety Properties Using Induction and a SAT-Solver* (2000), for a visit of a loop head and the few
//! before it.
//!
//! The entries of [`Heads`] belong to the activations on the call stack: an entry begins where the head is left, and ends
//! where the body is.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::Program;
use cfa::ids::NodeId;
use cfa::ir::Scope;
use cfa::liveness::Current;
use cpa_core::Step;
use rustc_hash::FxHashSet;
use smt::path::PathFormula;
use smt::{BvBin, Sort, SymId, Term, TermId, Terms};

use crate::encode::Encoder;

/// More places than this are not compared.
const PLACES: usize = 64;

/// How many visits before are compared: cycles of so many iterations are left out.
const VISITS: usize = 3;

/// More terms or indices than this are not looked at for the places of one array.
const TERMS: usize = 200;

/// For the heads of the loops around a location the path formulas with which they were left, the last time first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heads(Option<Rc<BTreeMap<NodeId, Visits>>>);

/// The path formulas with which a loop head was left since the loop was entered, the last one first; no more than
/// [`VISITS`].
#[derive(Clone, Debug)]
struct Visits(Rc<[Rc<PathFormula>]>);

impl PartialEq for Visits {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(other.0.iter());
        Rc::ptr_eq(&self.0, &other.0)
            || (self.0.len() == other.0.len() && pairs.all(|(mine, theirs)| Rc::ptr_eq(mine, theirs)))
    }
}

impl Heads {
    fn get(&self, head: NodeId) -> Option<&Visits> {
        self.0.as_ref()?.get(&head)
    }

    /// What holds on the paths of both.
    pub(crate) fn common(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        let mine = self.0.iter().flat_map(|heads| heads.iter());
        let same = mine.filter(|&(head, visits)| other.get(*head) == Some(visits));
        Self::new(same.map(|(&head, visits)| (head, visits.clone())).collect())
    }

    fn new(heads: BTreeMap<NodeId, Visits>) -> Self {
        Self((!heads.is_empty()).then(|| Rc::new(heads)))
    }
}

impl PartialEq for Heads {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(mine), Some(theirs)) => Rc::ptr_eq(mine, theirs) || mine == theirs,
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        }
    }
}

/// The loops of one program.
pub(crate) struct Changes {
    /// The locations of each loop, by head.
    bodies: BTreeMap<NodeId, FxHashSet<NodeId>>,
    current: Current,
}

impl Changes {
    pub(crate) fn new(program: &Program) -> Self {
        let bodies: BTreeMap<NodeId, FxHashSet<NodeId>> =
            program.loops.loops.iter().map(|l| (l.head, l.body.iter().copied().collect())).collect();
        let current = Current::at(program, bodies.keys().copied());
        Self { bodies, current }
    }

    /// The heads after a step from a state with the given heads and path formula.
    pub(crate) fn after(&self, heads: &Heads, path: &Rc<PathFormula>, program: &Program, step: Step) -> Heads {
        let (from, to) = (step.source(program), step.destination(program));
        let here = program.node(to).func;
        let enters = matches!(step, Step::Enter(_));
        let begins = self.bodies.get(&from).is_some_and(|body| match step {
            Step::Edge(_) => body.contains(&to),
            Step::Enter(_) => program.node(from).func != here,
            Step::Leave(_) => false,
        });
        // The loops of a function that is entered are those of another activation.
        let ends = |head: NodeId| program.node(head).func == here && (enters || !self.bodies[&head].contains(&to));
        if !begins && !heads.0.iter().any(|known| known.keys().any(|&head| ends(head))) {
            return heads.clone();
        }
        let mut known = heads.0.as_deref().cloned().unwrap_or_default();
        known.retain(|&head, _| !ends(head));
        if begins {
            let before = known.remove(&from);
            let before = before.iter().flat_map(|visits| visits.0.iter()).take(VISITS - 1);
            let visits = std::iter::once(path).chain(before).cloned().collect();
            known.insert(from, Visits(visits));
        }
        Heads::new(known)
    }

    /// That something changed since the loop head behind a step was left, over the values of both times; none if the step
    /// leads to no loop head, or if what may have changed is too much to be compared.
    pub(crate) fn condition(
        &self,
        terms: &mut Terms,
        encoder: &Encoder,
        heads: &Heads,
        path: &PathFormula,
        step: Step,
    ) -> Option<TermId> {
        // A function that is entered has no loop yet.
        let head = match step {
            Step::Edge(_) | Step::Leave(_) => step.destination(encoder.program()),
            Step::Enter(_) => return None,
        };
        let visits = heads.get(head)?;
        let mut conditions: Vec<TermId> = Vec::new();
        for before in &*visits.0 {
            conditions.extend(self.differs(terms, encoder, before, path, head));
        }
        (!conditions.is_empty()).then(|| terms.and_all(&conditions))
    }

    /// That something differs at a loop head between two path formulas that is read behind it.
    fn differs(
        &self,
        terms: &mut Terms,
        encoder: &Encoder,
        before: &PathFormula,
        path: &PathFormula,
        head: NodeId,
    ) -> Option<TermId> {
        let (mut differences, mut arrays) = (Vec::new(), Vec::new());
        for symbol in before.changed(path) {
            if !self.is_read(encoder, symbol, head) {
                continue;
            }
            let (old, new) = (before.value(terms, symbol), path.value(terms, symbol));
            if matches!(terms.sort(old), Sort::Array { .. }) {
                arrays.push((old, new));
                continue;
            }
            match terms.ne(old, new) {
                // Something counts; arrays need not be looked at.
                TermId::TRUE => return None,
                difference => differences.push(difference),
            }
        }
        for (old, new) in arrays {
            for (old, new) in places(terms, old, new)? {
                differences.push(terms.ne(old, new));
            }
        }
        (differences.len() <= PLACES).then(|| terms.or_all(&differences))
    }

    /// Whether the value of a symbol matters behind a loop head. Local variables of other functions are those of calls
    /// that are over, or of callers, which change them only after the return.
    fn is_read(&self, encoder: &Encoder, symbol: SymId, head: NodeId) -> bool {
        let Some(var) = encoder.variable(symbol) else { return encoder.is_state(symbol) };
        match encoder.program().var(var).scope {
            Scope::Global => true,
            Scope::Local(func) => func == encoder.program().node(head).func && self.current.contains(head, var),
        }
    }
}

/// Pairs of elements of two arrays of which one differs exactly if the arrays do; none if they are too many.
fn places(terms: &mut Terms, old: TermId, new: TermId) -> Option<Vec<(TermId, TermId)>> {
    // Where none of the stores on the way from one array writes, both agree.
    let mut seen = FxHashSet::default();
    let (mut origins, mut indices) = (FxHashSet::default(), BTreeSet::new());
    let mut waiting = vec![old, new];
    while let Some(array) = waiting.pop() {
        if !seen.insert(array) {
            continue;
        }
        if seen.len() > TERMS || indices.len() > TERMS {
            return None;
        }
        match *terms.get(array) {
            Term::Ite(_, yes, no) => waiting.extend([yes, no]),
            Term::Store { array, base, ref writes } => {
                waiting.push(array);
                let mut offsets = Vec::new();
                writes.for_each(|offset, _| offsets.push(offset));
                let width = terms.width(base);
                for offset in offsets {
                    let offset = terms.bv(width, offset);
                    indices.insert(terms.bv_bin(BvBin::Add, base, offset));
                }
            }
            _ => {
                origins.insert(array);
            }
        }
    }
    if origins.len() > 1 {
        return None;
    }
    let pairs = indices.into_iter().map(|index| (terms.select(old, index), terms.select(new, index)));
    Some(pairs.filter(|(old, new)| old != new).collect())
}
