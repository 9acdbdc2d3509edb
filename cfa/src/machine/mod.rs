// SPDX-License-Identifier: Apache-2.0
//! The concrete machine: runs the automaton with concrete inputs, exactly and fast.
//!
//! [`Code`] is the program compiled to instructions over registers (`code`, `compile`, `exprs`), [`Machine`] executes it
//! (`run`) on a flat memory of objects (`memory`). Every access to memory is checked: outside of a live object, NULL, freed,
//! a write to a constant object. What C leaves undefined ends the run with the reason, except that signed arithmetic wraps
//! around and that reading storage without a value is an input like any other (see [`Storage`]).
//!
//! A local object with a fixed address lives while its function is active. A pointer is a plain number, so leaving one object
//! and landing in another is noticed only in two cases: a single access covers bytes of both, or the address is computed
//! from the constant address of another object in the expression itself, as for an index into an array variable.

mod assigned;
mod code;
mod compile;
mod exprs;
mod memory;
mod random;
mod run;
mod skip;

use std::collections::BTreeSet;

use thiserror::Error;

use crate::eval::Undefined;
use crate::ids::{EdgeId, NodeId, VarId};
use crate::ir::IntTy;

pub use compile::Code;
pub use memory::AccessError;
pub use random::Random;
pub use run::Machine;

/// What happens with storage that was never written: local variables without initialiser, the contents of new objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// It takes its values from the inputs, a variable when its declaration is passed, a byte of memory when it is read.
    Inputs,
    /// It may be copied, but whoever computes with it ends the run with [`End::NeedsValue`]. So a run that ends otherwise
    /// does not depend on it.
    Untouchable,
}

/// The sign that a processor gives to all results that are not numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NanSign {
    /// As ARM and RISC-V do it.
    Positive,
    /// As x86 does it.
    Negative,
}

/// What to compile for.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Locations where the run ends because what is looked for is found.
    pub targets: &'a BTreeSet<NodeId>,
    /// What happens with storage that was never written.
    pub storage: Storage,
    /// The sign of floating-point results that are not numbers, with no payload, where a program sees their bits; if there is
    /// none, whoever computes with these bits ends the run.
    pub nans: Option<NanSign>,
    /// Whether the machine keeps the steps of the run. Costs about as much time as the run itself.
    pub steps: bool,
    /// Whether the machine notes where a signed operation overflows first.
    pub overflows: bool,
    /// Whether the machine notes which branches it takes.
    pub coverage: bool,
    /// Locations where every visit counts as a jump backwards, so that a run can pause there: loop heads, where otherwise
    /// the first visit does not count, or the ends of functions.
    pub pauses: &'a BTreeSet<NodeId>,
}

impl<'a> Setup<'a> {
    /// Neither steps nor overflows nor coverage are kept, and no location is one to pause at.
    pub fn new(targets: &'a BTreeSet<NodeId>, storage: Storage) -> Self {
        const NOWHERE: &BTreeSet<NodeId> = &BTreeSet::new();
        Self { targets, storage, nans: None, steps: false, overflows: false, coverage: false, pauses: NOWHERE }
    }
}

/// One step of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// Along an edge with any operation but a call.
    Edge(EdgeId),
    /// From a call edge into the callee.
    Enter(EdgeId),
    /// Back from the callee to the end of the call edge.
    Leave(EdgeId),
}

/// Where the machine asks for an input, or where something happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The edge that is taken.
    pub edge: EdgeId,
    /// The number of the step from 0; only when steps are kept.
    pub step: u64,
}

/// Where a run gets from what it does not compute. `None` ends the run with [`End::NeedsInput`].
pub trait Inputs {
    /// The value for a havoc edge; it is wrapped into the type of the variable.
    fn value(&mut self, asked: Asked, ty: IntTy) -> Option<i128>;

    /// What a byte of memory holds that was never written.
    fn byte(&mut self, asked: Asked, addr: u64) -> Option<u8>;

    /// The address of a new object, if it matters; otherwise the machine chooses: the first object begins at
    /// [`crate::Program::heap_start`], each next one at the first multiple of 16 that leaves at least 16 bytes between.
    fn address(&mut self, _asked: Asked, _size: u64) -> Option<u64> {
        None
    }

    /// The next character of an argument of the program, 0 at its end. If there is none, the pointers to the arguments are bytes
    /// that were never written.
    fn character(&mut self, _asked: Asked) -> Option<u8> {
        None
    }

    /// Whether an edge is taken where several edges without operation leave a location. The lowering makes no such places,
    /// but tests do.
    fn takes(&mut self, _asked: Asked) -> bool {
        false
    }
}

/// No inputs: the first request ends the run.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoInputs;

impl Inputs for NoInputs {
    fn value(&mut self, _asked: Asked, _ty: IntTy) -> Option<i128> {
        None
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        None
    }
}

/// How a run ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// A target is reached.
    Target(NodeId),
    /// `main` returns.
    Returned,
    /// No edge leaves the location: `abort`, `exit`, an assumption that does not hold.
    Halted(NodeId),
    /// The program stays in a loop forever, and does nothing there.
    Diverges,
    /// The edge asks for an input, and there is none.
    NeedsInput(EdgeId),
    /// The edge computes with a variable that has no value, or with bytes of memory that have none.
    NeedsValue(EdgeId, Option<VarId>),
    /// The operation of the edge is undefined.
    Undefined(EdgeId, Fault),
    /// The operation of the edge is not supported.
    Unsupported(EdgeId),
    /// The edge needs more memory or a deeper stack than the machine has.
    Exhausted(EdgeId, &'static str),
}

/// Why an operation is undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// An expression has no value.
    #[error(transparent)]
    Value(#[from] Undefined),
    /// An access to memory is not allowed.
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// The program has too many variables for the machine's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the program has too many variables")]
pub struct TooLarge;
