// SPDX-License-Identifier: Apache-2.0
//! The step case: from an arbitrary state at any cut point, k segments without a violation imply that the next one has
//! none.
//!
//! *A Unifying View*, Algorithm 3, lines 15 to 23, for programs with any number of loops: an iteration is a segment
//! between two visits of loop heads, whichever these are, so that nested loops, loops one after the other and loops in
//! called functions need no special treatment. Each cut point has an unrolling of its own, which grows by one segment when k
//! does. The argument is written down in docs/soundness.md.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use algo_bmc::query::{Answer, ask};
use algo_bmc::{Start, Unrolling};
use cfa::Program;
use cfa::ids::NodeId;
use cpa_core::{ArgId, Counting, Cx, Stop};
use cpa_predicate::Manager;
use smt::{TermId, Terms, algebra};

use crate::cutpoints::Cutpoints;
use crate::invariants::{Invariants, Pointers, still_meant, with_instances};
use crate::products::contradictory_in_all_cases;

/// The unrolling from one cut point.
pub struct StepUnrolling {
    unrolling: Unrolling,
    /// The loop heads on the way: their cut points and nodes.
    heads: Vec<(usize, ArgId)>,
    /// The number of segments that were unrolled completely.
    done: u32,
    /// The number of heads at the end of the first segment.
    first: usize,
    /// What must not be reached in the first segment.
    first_bad: Vec<ArgId>,
    /// The heads at the end of the last segment are those from here on.
    last: usize,
    /// What pointers point to, once that was asked for.
    pointers: OnceCell<Pointers>,
}

impl StepUnrolling {
    /// An unrolling from `start`, without segments.
    pub fn new(
        program: &Arc<Program>,
        targets: &BTreeSet<NodeId>,
        manager: &Rc<RefCell<Manager>>,
        start: Start,
    ) -> Self {
        let unrolling = Unrolling::new(program, targets, manager, start, Counting::Visits);
        Self {
            unrolling,
            heads: Vec::new(),
            done: 0,
            first: 0,
            first_bad: Vec::new(),
            last: 0,
            pointers: OnceCell::new(),
        }
    }

    /// Unrolls to `segments` segments, at least as many as before.
    pub fn extend(&mut self, cx: &mut Cx, cutpoints: &Cutpoints, segments: u32) -> Result<(), Stop> {
        while self.done < segments {
            // A segment whose unrolling was stopped goes on here.
            self.unrolling.extend(cx, self.done + 1)?;
            self.done += 1;
            self.last = self.heads.len();
            for &id in self.unrolling.frontier() {
                let location = self.unrolling.arg().location(id);
                let number = cutpoints.number(self.unrolling.calls(id), location).ok_or_else(|| {
                    Stop::Internal(format!("the loop head {location} was reached in a context that was not expected"))
                })?;
                self.heads.push((number, id));
            }
            if self.done == 1 {
                self.first = self.heads.len();
                self.first_bad = self.unrolling.violations();
                self.first_bad.extend(self.unrolling.unsupported());
            }
        }
        Ok(())
    }

    /// The cut points at the end of the first segment and the nodes where they are reached.
    pub fn first_ends(&self) -> &[(usize, ArgId)] {
        &self.heads[..self.first]
    }

    /// Where the property is violated, or what is not supported is reached, in the first segment.
    pub fn first_bad(&self) -> &[ArgId] {
        &self.first_bad
    }

    /// The unrolled program.
    pub fn unrolling(&self) -> &Unrolling {
        &self.unrolling
    }

    /// What the pointers of the program point to.
    pub(crate) fn pointers(&self) -> &Pointers {
        self.pointers.get_or_init(|| Pointers::of(self.unrolling.program()))
    }

    /// That some path violates the property, or leaves what is known, in the last segment.
    fn bad(&self, manager: &mut Manager) -> TermId {
        let mut bad = self.unrolling.violations();
        bad.extend(self.unrolling.unsupported());
        let conditions: Vec<TermId> = bad.iter().map(|&id| self.unrolling.condition(id)).collect();
        manager.terms.or_all(&conditions)
    }

    /// What the invariants say about the heads between the start and the last segment.
    fn knowledge(&self, manager: &mut Manager, invariants: &Invariants) -> Vec<TermId> {
        let mut knowledge = Vec::new();
        for &(number, id) in &self.heads[..self.last] {
            let path = self.unrolling.path(id);
            for fact in manager.terms.conjuncts(invariants.term(number)) {
                if !still_meant(manager, self.unrolling.program(), path, fact) {
                    continue;
                }
                let fact = path.instantiate(&mut manager.terms, fact);
                knowledge.push(manager.terms.implies(path.pc, fact));
            }
        }
        knowledge
    }
}

/// The step case of a program.
pub struct Step {
    manager: Rc<RefCell<Manager>>,
    cutpoints: Rc<Cutpoints>,
    unrollings: Vec<StepUnrolling>,
}

impl Step {
    /// The step case for all cut points.
    pub fn new(
        program: &Arc<Program>,
        targets: &BTreeSet<NodeId>,
        manager: &Rc<RefCell<Manager>>,
        cutpoints: Rc<Cutpoints>,
    ) -> Self {
        let start =
            |point: &crate::cutpoints::Cutpoint| Start::Anywhere { calls: point.calls.clone(), node: point.head };
        let unrollings = cutpoints
            .points()
            .iter()
            .map(|point| StepUnrolling::new(program, targets, manager, start(point)))
            .collect();
        Self { manager: Rc::clone(manager), cutpoints, unrollings }
    }

    /// The cut points.
    pub fn cutpoints(&self) -> &Cutpoints {
        &self.cutpoints
    }

    /// The unrollings of the cut points, in their order.
    pub fn unrollings(&self) -> &[StepUnrolling] {
        &self.unrollings
    }

    /// Unrolls `segments` segments from all cut points.
    pub fn extend(&mut self, cx: &mut Cx, segments: u32) -> Result<(), Stop> {
        for unrolling in &mut self.unrollings {
            unrolling.extend(cx, &self.cutpoints, segments)?;
        }
        Ok(())
    }

    /// Whether violations in the first segments depend on products of unknowns.
    pub fn multiplies(&self) -> bool {
        self.violated_by(algebra::has_product)
    }

    /// Whether violations in the first segments depend on quotients or remainders.
    pub fn divides(&self) -> bool {
        self.violated_by(algebra::has_quotient)
    }

    /// Whether the condition of a violation in the first segments has such a part.
    fn violated_by(&self, part: fn(&Terms, TermId) -> bool) -> bool {
        let terms = &self.manager.borrow().terms;
        self.unrollings
            .iter()
            .any(|unrolling| unrolling.first_bad.iter().any(|&id| part(terms, unrolling.unrolling.condition(id))))
    }

    /// Whether what is known excludes violations in all segments, each for itself, found out with products as polynomials.
    pub fn excluded(&self, cx: &Cx, invariants: &Invariants) -> Result<bool, Stop> {
        let manager = &mut *self.manager.borrow_mut();
        for (number, unrolling) in self.unrollings.iter().enumerate() {
            let program = Arc::clone(unrolling.unrolling().program());
            let known = with_instances(manager, &program, unrolling, true, vec![invariants.term(number)]);
            let known = manager.terms.and_all(&known);
            for &id in &unrolling.first_bad {
                let broken = manager.terms.and(known, unrolling.unrolling.condition(id));
                if !contradictory_in_all_cases(cx, manager, broken)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether no path from a state that satisfies the invariants violates the property in its last segment. `false` also
    /// means that this was not found out in time.
    pub fn holds(&self, cx: &mut Cx, invariants: &Invariants, timeout: Option<Duration>) -> Result<bool, Stop> {
        let manager = &mut *self.manager.borrow_mut();
        for (number, unrolling) in self.unrollings.iter().enumerate() {
            let mut formulas = vec![unrolling.bad(manager)];
            if formulas[0] == Terms::fls() {
                continue;
            }
            let mut known = vec![invariants.term(number)];
            known.extend(unrolling.knowledge(manager, invariants));
            let program = Arc::clone(unrolling.unrolling().program());
            formulas.extend(with_instances(manager, &program, unrolling, false, known));
            match ask(cx, manager, &formulas, timeout, |_, _| ())? {
                Answer::Unsat => {}
                Answer::Sat(()) | Answer::Unknown(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}
