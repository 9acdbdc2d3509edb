// SPDX-License-Identifier: Apache-2.0
//! Reducers: how states and precisions change where an analysis enters and leaves a block (block-abstraction memoization).
//!
//! Follows Beyer, Friedberger, *In-Place vs. Copy-on-Write CEGAR Refinement for Block Summarization with Caching*, section
//! 2.2. A reduced state is what a block sees of the state at its entry; it is the key under which what the block does is
//! remembered. The state at the end of the block is expanded again: what the block does not see is what it was.
//!
//! A reducer belongs to one component of a composite, as a refiner does; [`Reducers`] are those of all components.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::{BlockId, EdgeId};

use crate::callstack::CallstackCpa;
use crate::composite::{Composite, Precision, State};
use crate::cpa::Cpa;
use crate::cx::{Cx, Stop};
use crate::erased::{DynPrecision, DynState, Handle, typed_precision, typed_state};
use crate::location::LocationCpa;
use crate::step::Step;

/// Where a block is used.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a, S> {
    /// The block.
    pub block: BlockId,
    /// The call that runs it; none if it is a loop.
    pub call: Option<EdgeId>,
    /// The state before the call; for a loop the same as `entry`.
    pub caller: &'a S,
    /// The state at the entry of the block, before it was reduced.
    pub entry: &'a S,
}

/// Where a state of a block is on a path through the whole program.
#[derive(Clone, Copy, Debug)]
pub struct Unfolding<'a, S> {
    /// The block.
    pub block: BlockId,
    /// The state of the path at the entry of the block.
    pub entry: &'a S,
    /// The state of the path before the last step.
    pub before: &'a S,
    /// The last step.
    pub step: Step,
}

/// The reducer of one component.
pub trait Reducer {
    /// The component.
    type Cpa: Cpa + 'static;

    /// What a block sees of the state at its entry. It must stand for all that the state stands for.
    fn reduce(&mut self, cx: &mut Cx, block: BlockId, entry: &StateOf<Self>) -> Result<StateOf<Self>, Stop>;

    /// What a block uses of a precision. Depends on nothing but the arguments.
    fn reduce_precision(&mut self, block: BlockId, precision: &PrecisionOf<Self>) -> PrecisionOf<Self>;

    /// The state at the end of a block that was entered at `site`, where the block itself computed `exit`. The caller
    /// goes on with [`Cpa::transfer`] over the return if the block is a function, and with [`Cpa::adjust`].
    fn expand(
        &mut self,
        cx: &mut Cx,
        site: &Site<'_, StateOf<Self>>,
        exit: &StateOf<Self>,
    ) -> Result<StateOf<Self>, Stop>;

    /// The precision behind a block: what was known before it and what was learned inside.
    fn expand_precision(&mut self, outer: &PrecisionOf<Self>, inner: &PrecisionOf<Self>) -> PrecisionOf<Self>;

    /// Repairs the state behind a recursive call: the variables of the caller's activation are what they were before.
    fn rebuild(&mut self, _call: EdgeId, _caller: &StateOf<Self>, returned: &StateOf<Self>) -> StateOf<Self> {
        returned.clone()
    }

    /// A state of a block as part of a path through the whole program, for refiners.
    fn unfold(&mut self, at: &Unfolding<'_, StateOf<Self>>, inner: &StateOf<Self>) -> StateOf<Self>;

    /// A hash of a reduced state, to find it among others; equal states have equal hashes.
    fn hash(&self, _state: &StateOf<Self>) -> u64 {
        0
    }
}

/// The states that a reducer works on.
pub type StateOf<R> = <<R as Reducer>::Cpa as Cpa>::State;
/// The precisions that a reducer works on.
pub type PrecisionOf<R> = <<R as Reducer>::Cpa as Cpa>::Precision;

/// A reducer whose types are erased. The contract of each method is that of [`Reducer`].
trait Erased {
    fn reduce(&mut self, cx: &mut Cx, block: BlockId, entry: &DynState) -> Result<DynState, Stop>;
    fn reduce_precision(&mut self, block: BlockId, precision: &DynPrecision) -> DynPrecision;
    fn expand(&mut self, cx: &mut Cx, site: &Site<'_, DynState>, exit: &DynState) -> Result<DynState, Stop>;
    fn expand_precision(&mut self, outer: &DynPrecision, inner: &DynPrecision) -> DynPrecision;
    fn rebuild(&mut self, call: EdgeId, caller: &DynState, returned: &DynState) -> DynState;
    fn unfold(&mut self, at: &Unfolding<'_, DynState>, inner: &DynState) -> DynState;
    fn hash(&self, state: &DynState) -> u64;
    fn same_precision(&self, one: &DynPrecision, other: &DynPrecision) -> bool;
}

struct Typed<R: Reducer>(R, PhantomData<R::Cpa>);

impl<R: Reducer> Erased for Typed<R> {
    fn reduce(&mut self, cx: &mut Cx, block: BlockId, entry: &DynState) -> Result<DynState, Stop> {
        Ok(Rc::new(self.0.reduce(cx, block, typed_state::<R::Cpa>(entry))?))
    }

    fn reduce_precision(&mut self, block: BlockId, precision: &DynPrecision) -> DynPrecision {
        Rc::new(self.0.reduce_precision(block, typed_precision::<R::Cpa>(precision)))
    }

    fn expand(&mut self, cx: &mut Cx, site: &Site<'_, DynState>, exit: &DynState) -> Result<DynState, Stop> {
        let site = Site {
            block: site.block,
            call: site.call,
            caller: typed_state::<R::Cpa>(site.caller),
            entry: typed_state::<R::Cpa>(site.entry),
        };
        Ok(Rc::new(self.0.expand(cx, &site, typed_state::<R::Cpa>(exit))?))
    }

    fn expand_precision(&mut self, outer: &DynPrecision, inner: &DynPrecision) -> DynPrecision {
        Rc::new(self.0.expand_precision(typed_precision::<R::Cpa>(outer), typed_precision::<R::Cpa>(inner)))
    }

    fn rebuild(&mut self, call: EdgeId, caller: &DynState, returned: &DynState) -> DynState {
        Rc::new(self.0.rebuild(call, typed_state::<R::Cpa>(caller), typed_state::<R::Cpa>(returned)))
    }

    fn unfold(&mut self, at: &Unfolding<'_, DynState>, inner: &DynState) -> DynState {
        let at = Unfolding {
            block: at.block,
            entry: typed_state::<R::Cpa>(at.entry),
            before: typed_state::<R::Cpa>(at.before),
            step: at.step,
        };
        Rc::new(self.0.unfold(&at, typed_state::<R::Cpa>(inner)))
    }

    fn hash(&self, state: &DynState) -> u64 {
        self.0.hash(typed_state::<R::Cpa>(state))
    }

    fn same_precision(&self, one: &DynPrecision, other: &DynPrecision) -> bool {
        Rc::ptr_eq(one, other) || typed_precision::<R::Cpa>(one) == typed_precision::<R::Cpa>(other)
    }
}

/// The reducers of all components of a composite.
pub struct Reducers {
    parts: Vec<Option<Box<dyn Erased>>>,
}

impl Reducers {
    /// The reducers of the location and call-stack components; those of the others are added.
    pub fn new(
        composite: &Composite,
        location: Handle<LocationCpa>,
        callstack: Handle<CallstackCpa>,
        program: &Arc<Program>,
    ) -> Self {
        let mut reducers = Self { parts: composite.names().iter().map(|_| None).collect() };
        reducers.add(location, crate::location::LocationReducer);
        reducers.add(callstack, crate::callstack::CallstackReducer::new(Arc::clone(program)));
        reducers
    }

    /// Sets the reducer of a component.
    pub fn add<R: Reducer + 'static>(&mut self, handle: Handle<R::Cpa>, reducer: R) {
        self.parts[handle.index()] = Some(Box::new(Typed(reducer, PhantomData)));
    }

    /// Whether every component has a reducer. Nothing else may be called before.
    pub fn complete(&self) -> bool {
        self.parts.iter().all(Option::is_some)
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut Box<dyn Erased>> {
        self.parts.iter_mut().map(|part| part.as_mut().expect("complete() was asked when the analysis was made"))
    }

    /// What a block sees of the state at its entry.
    pub fn reduce(&mut self, cx: &mut Cx, block: BlockId, entry: &State) -> Result<State, Stop> {
        let parts = self.parts().zip(entry.parts()).map(|(part, entry)| part.reduce(cx, block, entry));
        Ok(State::from_parts(parts.collect::<Result<_, _>>()?))
    }

    /// What a block uses of a precision.
    pub fn reduce_precision(&mut self, block: BlockId, precision: &Precision) -> Precision {
        let parts =
            self.parts().zip(precision.parts()).map(|(part, precision)| part.reduce_precision(block, precision));
        Precision::from_parts(parts.collect())
    }

    /// The state at the end of a block.
    pub fn expand(&mut self, cx: &mut Cx, site: &Site<'_, State>, exit: &State) -> Result<State, Stop> {
        let mut parts = Vec::with_capacity(exit.parts().len());
        for (index, part) in self.parts().enumerate() {
            let site = Site {
                block: site.block,
                call: site.call,
                caller: &site.caller.parts()[index],
                entry: &site.entry.parts()[index],
            };
            parts.push(part.expand(cx, &site, &exit.parts()[index])?);
        }
        Ok(State::from_parts(parts))
    }

    /// The precision behind a block.
    pub fn expand_precision(&mut self, outer: &Precision, inner: &Precision) -> Precision {
        let parts = self.parts().zip(outer.parts().iter().zip(inner.parts()));
        Precision::from_parts(parts.map(|(part, (outer, inner))| part.expand_precision(outer, inner)).collect())
    }

    /// The state behind a recursive call.
    pub fn rebuild(&mut self, call: EdgeId, caller: &State, returned: &State) -> State {
        let parts = self.parts().zip(caller.parts().iter().zip(returned.parts()));
        State::from_parts(parts.map(|(part, (caller, returned))| part.rebuild(call, caller, returned)).collect())
    }

    /// A state of a block as part of a path through the whole program.
    pub fn unfold(&mut self, at: &Unfolding<'_, State>, inner: &State) -> State {
        let mut parts = Vec::with_capacity(inner.parts().len());
        for (index, part) in self.parts().enumerate() {
            let at = Unfolding {
                block: at.block,
                entry: &at.entry.parts()[index],
                before: &at.before.parts()[index],
                step: at.step,
            };
            parts.push(part.unfold(&at, &inner.parts()[index]));
        }
        State::from_parts(parts)
    }

    /// A hash of a reduced state.
    pub fn hash(&mut self, state: &State) -> u64 {
        let parts = self.parts().zip(state.parts());
        parts.fold(0, |hash: u64, (part, state)| hash.rotate_left(7) ^ part.hash(state))
    }

    /// Whether two precisions are equal.
    pub fn same_precision(&mut self, one: &Precision, other: &Precision) -> bool {
        self.parts()
            .zip(one.parts().iter().zip(other.parts()))
            .all(|(part, (one, other))| part.same_precision(one, other))
    }
}

impl std::fmt::Debug for Reducers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reducers").field("components", &self.parts.len()).finish_non_exhaustive()
    }
}
