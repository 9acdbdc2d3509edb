// SPDX-License-Identifier: Apache-2.0
//! The one place where the types of domains are erased, and the typed handles that bring them back.
//!
//! A composite is put together at run time, so its components are boxed. Inside, every operation is typed: the wrapper
//! [`Typed`] reads the states it made itself. Outside, a [`Handle`] that was given out when the component was added reads
//! the component's part of composite states. These are the only downcasts of the code base.

use std::any::Any;
use std::fmt::{Debug, Display};
use std::marker::PhantomData;
use std::rc::Rc;

use crate::ask::{Answer, Ask, Siblings};
use crate::cpa::{Adjusted, At, Cpa, Fingerprint, Merge, PartitionKey, Rank, Strengthened, Target};
use crate::cx::{Cx, Stop};
use crate::step::Step;

/// A state of some component.
pub trait AnyState: Any + Debug + Display {}
impl<S: Any + Debug + Display> AnyState for S {}

/// A precision of some component.
pub trait AnyPrecision: Any + Debug {}
impl<P: Any + Debug> AnyPrecision for P {}

/// A state of some component, shared.
pub type DynState = Rc<dyn AnyState>;
/// A precision of some component, shared.
pub type DynPrecision = Rc<dyn AnyPrecision>;

/// A component whose types are erased. The contract of each method is that of [`Cpa`].
pub(crate) trait ErasedCpa {
    fn name(&self) -> &'static str;
    fn initial(&mut self, cx: &mut Cx) -> Result<(DynState, DynPrecision), Stop>;
    fn steps(&self, state: &DynState) -> Vec<Step>;
    fn transfer(&mut self, cx: &mut Cx, s: &DynState, step: Step, p: &DynPrecision) -> Result<Vec<DynState>, Stop>;
    fn leq(&mut self, cx: &mut Cx, lesser: &DynState, greater: &DynState) -> Result<bool, Stop>;
    fn merge(
        &mut self,
        cx: &mut Cx,
        new: &DynState,
        reached: &DynState,
        p: &DynPrecision,
    ) -> Result<Merge<DynState>, Stop>;
    fn merges(&self) -> bool;
    fn fingerprint(&self, state: &DynState) -> Option<Fingerprint>;
    fn project(&self, state: &DynState, example: &DynState) -> Option<u64>;
    /// The joined precision, or `None` if it equals the old one.
    fn join_precision(&self, new: &DynPrecision, old: &DynPrecision) -> Option<DynPrecision>;
    fn coverable(&self, state: &DynState) -> bool;
    fn adjust(
        &mut self,
        cx: &mut Cx,
        s: &DynState,
        p: &DynPrecision,
        at: &At,
    ) -> Result<Adjusted<DynState, DynPrecision>, Stop>;
    fn strengthen(
        &mut self,
        cx: &mut Cx,
        s: &DynState,
        siblings: &Siblings<'_>,
        at: &At,
    ) -> Result<Strengthened<DynState>, Stop>;
    fn ask(&self, state: &DynState, question: Ask) -> Answer;
    fn partition(&self, state: &DynState) -> Option<PartitionKey>;
    fn target(&self, state: &DynState) -> Option<Target>;
    fn rank(&self, state: &DynState) -> Rank;
    fn truncated(&self) -> Option<String>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A component with its types, behind [`ErasedCpa`].
pub(crate) struct Typed<C>(pub(crate) C);

pub(crate) fn typed_state<C: Cpa>(state: &DynState) -> &C::State {
    let any: &dyn Any = &**state;
    any.downcast_ref().expect("a composite hands each component the states that this component made")
}

pub(crate) fn typed_precision<C: Cpa>(precision: &DynPrecision) -> &C::Precision {
    let any: &dyn Any = &**precision;
    any.downcast_ref().expect("a composite hands each component the precisions that this component made")
}

impl<C: Cpa + 'static> ErasedCpa for Typed<C> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn initial(&mut self, cx: &mut Cx) -> Result<(DynState, DynPrecision), Stop> {
        let (state, precision) = self.0.initial(cx)?;
        Ok((Rc::new(state), Rc::new(precision)))
    }

    fn steps(&self, state: &DynState) -> Vec<Step> {
        self.0.steps(typed_state::<C>(state))
    }

    fn transfer(&mut self, cx: &mut Cx, s: &DynState, step: Step, p: &DynPrecision) -> Result<Vec<DynState>, Stop> {
        let successors = self.0.transfer(cx, typed_state::<C>(s), step, typed_precision::<C>(p))?;
        Ok(successors.into_iter().map(|state| Rc::new(state) as DynState).collect())
    }

    fn leq(&mut self, cx: &mut Cx, lesser: &DynState, greater: &DynState) -> Result<bool, Stop> {
        if Rc::ptr_eq(lesser, greater) {
            return Ok(true);
        }
        self.0.leq(cx, typed_state::<C>(lesser), typed_state::<C>(greater))
    }

    fn merge(
        &mut self,
        cx: &mut Cx,
        new: &DynState,
        reached: &DynState,
        p: &DynPrecision,
    ) -> Result<Merge<DynState>, Stop> {
        let merged = self.0.merge(cx, typed_state::<C>(new), typed_state::<C>(reached), typed_precision::<C>(p))?;
        Ok(match merged {
            Merge::Separate => Merge::Separate,
            Merge::Contained => Merge::Contained,
            Merge::Changed(state) => Merge::Changed(Rc::new(state)),
        })
    }

    fn merges(&self) -> bool {
        self.0.merges()
    }

    fn fingerprint(&self, state: &DynState) -> Option<Fingerprint> {
        self.0.fingerprint(typed_state::<C>(state))
    }

    fn project(&self, state: &DynState, example: &DynState) -> Option<u64> {
        self.0.project(typed_state::<C>(state), typed_state::<C>(example))
    }

    fn join_precision(&self, new: &DynPrecision, old: &DynPrecision) -> Option<DynPrecision> {
        if Rc::ptr_eq(new, old) {
            return None;
        }
        let joined = self.0.join_precision(typed_precision::<C>(new), typed_precision::<C>(old));
        if joined == *typed_precision::<C>(old) {
            None
        } else if joined == *typed_precision::<C>(new) {
            Some(Rc::clone(new))
        } else {
            Some(Rc::new(joined))
        }
    }

    fn coverable(&self, state: &DynState) -> bool {
        self.0.coverable(typed_state::<C>(state))
    }

    fn adjust(
        &mut self,
        cx: &mut Cx,
        s: &DynState,
        p: &DynPrecision,
        at: &At,
    ) -> Result<Adjusted<DynState, DynPrecision>, Stop> {
        let adjusted = self.0.adjust(cx, typed_state::<C>(s), typed_precision::<C>(p), at)?;
        Ok(match adjusted {
            Adjusted::Unchanged => Adjusted::Unchanged,
            Adjusted::Bottom => Adjusted::Bottom,
            // Precisions rarely change here; sharing the old one keeps memory and comparisons cheap.
            Adjusted::Keep(state, precision) if precision == *typed_precision::<C>(p) => {
                Adjusted::Keep(Rc::new(state), Rc::clone(p))
            }
            Adjusted::Keep(state, precision) => Adjusted::Keep(Rc::new(state), Rc::new(precision)),
        })
    }

    fn strengthen(
        &mut self,
        cx: &mut Cx,
        s: &DynState,
        siblings: &Siblings<'_>,
        at: &At,
    ) -> Result<Strengthened<DynState>, Stop> {
        Ok(match self.0.strengthen(cx, typed_state::<C>(s), siblings, at)? {
            Strengthened::Unchanged => Strengthened::Unchanged,
            Strengthened::Changed(state) => Strengthened::Changed(Rc::new(state)),
            Strengthened::Bottom => Strengthened::Bottom,
        })
    }

    fn ask(&self, state: &DynState, question: Ask) -> Answer {
        self.0.ask(typed_state::<C>(state), question)
    }

    fn partition(&self, state: &DynState) -> Option<PartitionKey> {
        self.0.partition(typed_state::<C>(state))
    }

    fn target(&self, state: &DynState) -> Option<Target> {
        self.0.target(typed_state::<C>(state))
    }

    fn rank(&self, state: &DynState) -> Rank {
        self.0.rank(typed_state::<C>(state))
    }

    fn truncated(&self) -> Option<String> {
        self.0.truncated()
    }

    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        &mut self.0
    }
}

/// The key to one component of a composite: reads its part of composite states and precisions. It only works with the
/// composite that gave it out.
pub struct Handle<C> {
    index: usize,
    marker: PhantomData<fn() -> C>,
}

impl<C> Clone for Handle<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Handle<C> {}
impl<C> Debug for Handle<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle({})", self.index)
    }
}

impl<C: Cpa + 'static> Handle<C> {
    pub(crate) fn new(index: usize) -> Self {
        Self { index, marker: PhantomData }
    }

    pub(crate) fn index(self) -> usize {
        self.index
    }

    /// A state for this component, to be put into nodes by whoever applies a refinement.
    pub fn state(self, state: C::State) -> ComponentState {
        ComponentState { index: self.index, state: Rc::new(state) }
    }

    /// A precision for this component, to be put into nodes by whoever applies a refinement.
    pub fn precision(self, precision: C::Precision) -> ComponentPrecision {
        ComponentPrecision { index: self.index, precision: Rc::new(precision) }
    }

    pub(crate) fn read_state(self, states: &[DynState]) -> &C::State {
        typed_state::<C>(&states[self.index])
    }

    pub(crate) fn read_precision(self, precisions: &[DynPrecision]) -> &C::Precision {
        typed_precision::<C>(&precisions[self.index])
    }
}

/// A state for one component of a composite.
#[derive(Clone, Debug)]
pub struct ComponentState {
    pub(crate) index: usize,
    pub(crate) state: DynState,
}

/// A precision for one component of a composite.
#[derive(Clone, Debug)]
pub struct ComponentPrecision {
    pub(crate) index: usize,
    pub(crate) precision: DynPrecision,
}
