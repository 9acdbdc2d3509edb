// SPDX-License-Identifier: Apache-2.0
//! The composite analysis: a list of components put together at run time, ordered by the product order.
//!
//! Follows *A Unifying View*, section 2.2.3. Merging is merge-agree: two states are merged only if every component either
//! merges them or says that its part of the reached state already stands for its part of the new one. So a merged state
//! always stands for both, and the new state need not be kept.

use std::fmt;
use std::hash::Hasher;
use std::rc::Rc;
use std::sync::Arc;

use cfa::ids::NodeId;
use rustc_hash::FxHasher;

use crate::ask::Siblings;
use crate::cpa::{Adjusted, At, Cpa, Fingerprint, Merge, PartitionKey, Rank, Strengthened, Target};
use crate::cx::{Cx, Stop};
use crate::erased::{ComponentPrecision, ComponentState, DynPrecision, DynState, ErasedCpa, Handle, Typed};
use crate::step::Step;
use cfa::Program;

/// A composite state: one state for each component. Cheap to clone.
#[derive(Clone, Debug)]
pub struct State(Rc<[DynState]>);

impl State {
    /// The part of the component with the given handle.
    pub fn get<C: Cpa + 'static>(&self, handle: Handle<C>) -> &C::State {
        handle.read_state(&self.0)
    }

    pub(crate) fn parts(&self) -> &[DynState] {
        &self.0
    }

    pub(crate) fn from_parts(parts: Vec<DynState>) -> Self {
        Self(parts.into())
    }

    /// Whether both are the same object; equal states need not be.
    pub fn same(&self, other: &State) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// This state with the part of one component replaced.
    pub fn with(&self, part: &ComponentState) -> State {
        let mut states: Vec<DynState> = self.0.to_vec();
        states[part.index] = Rc::clone(&part.state);
        State(states.into())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for state in self.0.iter() {
            let text = state.to_string();
            if text.is_empty() {
                continue;
            }
            if !first {
                f.write_str(" | ")?;
            }
            first = false;
            f.write_str(&text)?;
        }
        Ok(())
    }
}

/// A composite precision: one precision for each component. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Precision(Rc<[DynPrecision]>);

impl Precision {
    /// The part of the component with the given handle.
    pub fn get<C: Cpa + 'static>(&self, handle: Handle<C>) -> &C::Precision {
        handle.read_precision(&self.0)
    }

    pub(crate) fn parts(&self) -> &[DynPrecision] {
        &self.0
    }

    pub(crate) fn from_parts(parts: Vec<DynPrecision>) -> Self {
        Self(parts.into())
    }

    /// Whether both are the same object.
    fn same(&self, other: &Precision) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// A list of components that run together.
pub struct Composite {
    program: Arc<Program>,
    components: Vec<Box<dyn ErasedCpa>>,
}

impl Composite {
    /// A composite without components.
    pub fn new(program: Arc<Program>) -> Self {
        Self { program, components: Vec::new() }
    }

    /// Adds a component and gives out the handle that reads its states. All components are added before the first state
    /// is made.
    pub fn add<C: Cpa + 'static>(&mut self, cpa: C) -> Handle<C> {
        let handle = Handle::new(self.components.len());
        self.components.push(Box::new(Typed(cpa)));
        handle
    }

    /// The analysed program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The component with the given handle.
    pub fn cpa<C: Cpa + 'static>(&self, handle: Handle<C>) -> &C {
        let any = self.components[handle.index()].as_any();
        any.downcast_ref().expect("a handle is used with the composite that gave it out")
    }

    /// The component with the given handle, to change its settings.
    pub fn cpa_mut<C: Cpa + 'static>(&mut self, handle: Handle<C>) -> &mut C {
        let any = self.components[handle.index()].as_any_mut();
        any.downcast_mut().expect("a handle is used with the composite that gave it out")
    }

    /// The names of the components.
    pub fn names(&self) -> Vec<&'static str> {
        self.components.iter().map(|cpa| cpa.name()).collect()
    }

    /// The state and precision at the program's entry, and that location.
    pub fn initial(&mut self, cx: &mut Cx) -> Result<(State, Precision, NodeId), Stop> {
        let mut states = Vec::with_capacity(self.components.len());
        let mut precisions = Vec::with_capacity(self.components.len());
        for cpa in &mut self.components {
            let (state, precision) = cpa.initial(cx)?;
            states.push(state);
            precisions.push(precision);
        }
        Ok((State(states.into()), Precision(precisions.into()), self.program.entry))
    }

    /// The steps from a state: the union of what the components offer, in their order. A target has none: nothing that
    /// comes after it matters.
    pub fn steps(&self, state: &State) -> Vec<Step> {
        if self.target(state).is_some() {
            return Vec::new();
        }
        let mut steps: Vec<Step> = Vec::new();
        for (cpa, state) in self.components.iter().zip(state.0.iter()) {
            // Mostly one component has steps: a function that is called often has many ways back.
            let known = steps.len();
            let more = cpa.steps(state).into_iter();
            let more: Vec<Step> = more.filter(|step| !steps[..known].contains(step)).collect();
            steps.extend(more);
        }
        steps
    }

    /// The strengthened successors along a step.
    pub fn transfer(
        &mut self,
        cx: &mut Cx,
        state: &State,
        step: Step,
        precision: &Precision,
    ) -> Result<Vec<State>, Stop> {
        let mut product: Vec<Vec<DynState>> = vec![Vec::with_capacity(self.components.len())];
        for (index, cpa) in self.components.iter_mut().enumerate() {
            let successors = cpa.transfer(cx, &state.0[index], step, &precision.0[index])?;
            match successors.as_slice() {
                [] => return Ok(Vec::new()),
                [only] => product.iter_mut().for_each(|states| states.push(Rc::clone(only))),
                several => {
                    let extend = |states: Vec<DynState>| {
                        several.iter().map(move |one| {
                            let mut states = states.clone();
                            states.push(Rc::clone(one));
                            states
                        })
                    };
                    product = product.into_iter().flat_map(extend).collect();
                }
            }
        }
        let node = step.destination(&self.program);
        let mut result = Vec::with_capacity(product.len());
        for mut states in product {
            let target = self.target_of(&states).is_some();
            if self.strengthen(cx, &mut states, &At { node, step: Some(step), target })? {
                result.push(State(states.into()));
            }
        }
        Ok(result)
    }

    /// Strengthens each component with what its siblings know; `false` if the state turns out to stand for nothing.
    fn strengthen(&mut self, cx: &mut Cx, states: &mut [DynState], at: &At) -> Result<bool, Stop> {
        for index in 0..self.components.len() {
            let (before, rest) = self.components.split_at_mut(index);
            let (cpa, after) = rest.split_first_mut().expect("index is below the number of components");
            let siblings = Siblings::new(before, after, states);
            match cpa.strengthen(cx, &states[index], &siblings, at)? {
                Strengthened::Unchanged => {}
                Strengthened::Changed(state) => states[index] = state,
                Strengthened::Bottom => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Adjusts a new state; `None` if it stands for nothing.
    pub fn adjust(
        &mut self,
        cx: &mut Cx,
        state: State,
        precision: &Precision,
        node: NodeId,
        step: Option<Step>,
    ) -> Result<Option<(State, Precision)>, Stop> {
        let at = At { node, step, target: self.target(&state).is_some() };
        let mut changed: Option<(Vec<DynState>, Vec<DynPrecision>)> = None;
        for (index, cpa) in self.components.iter_mut().enumerate() {
            match cpa.adjust(cx, &state.0[index], &precision.0[index], &at)? {
                Adjusted::Unchanged => {}
                Adjusted::Bottom => return Ok(None),
                Adjusted::Keep(new_state, new_precision) => {
                    let (states, precisions) = changed.get_or_insert_with(|| (state.0.to_vec(), precision.0.to_vec()));
                    states[index] = new_state;
                    precisions[index] = new_precision;
                }
            }
        }
        Ok(Some(match changed {
            None => (state, precision.clone()),
            Some((states, precisions)) => {
                let shared = precisions.iter().zip(precision.0.iter()).all(|(new, old)| Rc::ptr_eq(new, old));
                (State(states.into()), if shared { precision.clone() } else { Precision(precisions.into()) })
            }
        }))
    }

    /// The product order.
    pub fn leq(&mut self, cx: &mut Cx, lesser: &State, greater: &State) -> Result<bool, Stop> {
        for (index, cpa) in self.components.iter_mut().enumerate() {
            if !cpa.leq(cx, &lesser.0[index], &greater.0[index])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two states stand for the same.
    pub fn equal(&mut self, cx: &mut Cx, one: &State, other: &State) -> Result<bool, Stop> {
        Ok(self.leq(cx, one, other)? && self.leq(cx, other, one)?)
    }

    /// Merges a new state into a reached one, if all components agree.
    pub fn merge(
        &mut self,
        cx: &mut Cx,
        new: &State,
        reached: &State,
        precision: &Precision,
    ) -> Result<Merge<State>, Stop> {
        let mut changed: Option<Vec<DynState>> = None;
        let mut contained = false;
        let mut separate = Vec::new();
        for (index, cpa) in self.components.iter_mut().enumerate() {
            match cpa.merge(cx, &new.0[index], &reached.0[index], &precision.0[index])? {
                Merge::Separate => separate.push(index),
                Merge::Contained => contained = true,
                Merge::Changed(state) => changed.get_or_insert_with(|| reached.0.to_vec())[index] = state,
            }
        }
        if changed.is_none() && !contained {
            return Ok(Merge::Separate);
        }
        // The comparisons come last because most pairs of states are not merged by anybody.
        for index in separate {
            if !self.components[index].leq(cx, &new.0[index], &reached.0[index])? {
                return Ok(Merge::Separate);
            }
        }
        Ok(changed.map_or(Merge::Contained, |states| Merge::Changed(State(states.into()))))
    }

    /// Whether some component may merge.
    pub fn merges(&self) -> bool {
        self.components.iter().any(|cpa| cpa.merges())
    }

    /// The combination of the fingerprints of the components that have some.
    pub fn fingerprint(&self, state: &State) -> Option<Fingerprint> {
        let parts = self.components.iter().zip(state.0.iter()).filter_map(|(cpa, state)| cpa.fingerprint(state));
        parts.reduce(|all, part| Fingerprint {
            shape: combine(all.shape, part.shape),
            content: combine(all.content, part.content),
        })
    }

    /// The content of those states of the shape of `example` that may be greater or equal to `state`.
    pub fn project(&self, state: &State, example: &State) -> Option<u64> {
        let mut content = None;
        for ((cpa, state), example) in self.components.iter().zip(state.0.iter()).zip(example.0.iter()) {
            if cpa.fingerprint(example).is_some() {
                let part = cpa.project(state, example)?;
                content = Some(content.map_or(part, |all| combine(all, part)));
            }
        }
        content
    }

    /// The precision of a node with precision `old` that takes up `new`, and whether that differs from `old`.
    pub fn join_precision(&self, new: &Precision, old: &Precision) -> (Precision, bool) {
        if new.same(old) {
            return (old.clone(), false);
        }
        let mut joined = old.0.to_vec();
        let mut changed = false;
        for (index, cpa) in self.components.iter().enumerate() {
            if let Some(precision) = cpa.join_precision(&new.0[index], &old.0[index]) {
                joined[index] = precision;
                changed = true;
            }
        }
        if changed { (Precision(joined.into()), true) } else { (old.clone(), false) }
    }

    /// The precision `old` refined by the given parts, and whether that differs from `old`.
    pub fn refine_precision(&self, parts: &[ComponentPrecision], old: &Precision) -> (Precision, bool) {
        let mut joined = old.0.to_vec();
        let mut changed = false;
        for part in parts {
            let cpa = &self.components[part.index];
            if let Some(precision) = cpa.join_precision(&part.precision, &joined[part.index]) {
                joined[part.index] = precision;
                changed = true;
            }
        }
        if changed { (Precision(joined.into()), true) } else { (old.clone(), false) }
    }

    /// Whether a state takes part in covering: all components agree, and it is no target.
    pub fn coverable(&self, state: &State) -> bool {
        self.target(state).is_none() && self.components.iter().zip(state.0.iter()).all(|(cpa, s)| cpa.coverable(s))
    }

    /// The combination of the partition keys of all components.
    pub fn partition(&self, state: &State) -> PartitionKey {
        let mut hasher = FxHasher::default();
        for (cpa, state) in self.components.iter().zip(state.0.iter()) {
            match cpa.partition(state) {
                None => hasher.write_u8(0),
                Some(PartitionKey(key)) => {
                    hasher.write_u8(1);
                    hasher.write_u64(key);
                }
            }
        }
        PartitionKey(hasher.finish())
    }

    /// Why the state is a target. An unsupported construct comes before a violation: what is unknown may also concern
    /// whether the violation happens.
    pub fn target(&self, state: &State) -> Option<Target> {
        self.target_of(&state.0)
    }

    fn target_of(&self, states: &[DynState]) -> Option<Target> {
        let mut first = None;
        for (cpa, state) in self.components.iter().zip(states) {
            match cpa.target(state) {
                Some(unsupported @ Target::Unsupported { .. }) => return Some(unsupported),
                Some(violation @ Target::Violation(_)) => first = first.or(Some(violation)),
                None => {}
            }
        }
        first
    }

    /// What the waitlists order by.
    pub fn rank(&self, state: &State) -> Rank {
        let ranks = self.components.iter().zip(state.0.iter()).map(|(cpa, state)| cpa.rank(state));
        ranks.fold(Rank::default(), |sum, rank| Rank {
            depth: sum.depth.max(rank.depth),
            rpo: sum.rpo.max(rank.rpo),
            inside: sum.inside || rank.inside,
            position: sum.position.max(rank.position),
        })
    }

    /// Why components left out concrete states so far.
    pub fn truncated(&self) -> Vec<String> {
        self.components.iter().filter_map(|cpa| cpa.truncated()).collect()
    }
}

/// The hash of two hashes.
fn combine(first: u64, second: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(first);
    hasher.write_u64(second);
    hasher.finish()
}

impl fmt::Debug for Composite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Composite").field(&self.names()).finish()
    }
}
