// SPDX-License-Identifier: Apache-2.0
//! What a refiner is asked and what it answers. A refiner decides; the CEGAR loop applies.
//!
//! Follows *A Unifying View*, section 3.2.

use std::collections::BTreeMap;

use cfa::{EdgeId, NodeId, Program};

use crate::arg::{Arg, ArgId};
use crate::cx::{Cx, Stop};
use crate::erased::{ComponentPrecision, ComponentState};
use crate::step::Step;

/// A concrete run of the program from its entry to a target.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counterexample {
    /// The steps of the run; only the first ones if there is a `rest`.
    pub steps: Vec<Step>,
    /// The values that steps along havoc edges give to their variables: index into `steps` and value, ascending. Each such
    /// step has one. A step along an allocation may have one too, the address of the new object; without it the replay
    /// takes the one that the concrete machine gives.
    pub inputs: Vec<(usize, i128)>,
    /// What bytes of memory hold that are read but were never written, by address; those that are missing hold 0.
    pub memory: BTreeMap<u64, u8>,
    /// The part of a very long run that is not listed step by step.
    pub rest: Option<Rest>,
}

impl Counterexample {
    /// Where the run ends.
    pub fn end(&self, program: &Program) -> NodeId {
        match (&self.rest, self.steps.last()) {
            (Some(rest), _) => rest.target,
            (None, Some(step)) => step.destination(program),
            (None, None) => program.entry,
        }
    }
}

/// The end of a run that is known by its inputs only; the steps follow from them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rest {
    /// Where the run ends.
    pub target: NodeId,
    /// The number of steps.
    pub steps: u64,
    /// The havoc edges on the way and the values that they give to their variables, in the order of execution.
    pub inputs: Vec<(EdgeId, i128)>,
}

/// A part of the graph that must be explored anew, with better precisions.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The root of the subtree that is removed. Cutting at the root of the graph restarts the exploration.
    pub pivot: ArgId,
    /// Precisions that the remaining parents of removed nodes take up, by [`crate::Cpa::join_precision`].
    pub precisions: Vec<ComponentPrecision>,
}

/// A stronger state for one component of a node.
#[derive(Clone, Debug)]
pub struct Strengthening {
    /// The node.
    pub node: ArgId,
    /// What the component's part of its state becomes. It must be less or equal to what it was and still stand for all
    /// concrete states that reach the node.
    pub state: ComponentState,
}

/// The answer of a refiner.
#[derive(Clone, Debug)]
pub enum Refinement {
    /// The target is reached by this run.
    Feasible(Counterexample),
    /// No run follows the abstract path; explore anew below these pivots. The target is below one of them.
    Spurious {
        /// Where to cut. A pivot that an earlier cut removed is skipped.
        cuts: Vec<Cut>,
    },
    /// No run follows the abstract path; these nodes are strengthened in place (IMPACT).
    Strengthened {
        /// The stronger states, in the order of the path.
        nodes: Vec<Strengthening>,
        /// Nodes whose state became empty, removed together with what is below them; the target is among them.
        remove: Vec<ArgId>,
    },
    /// This refiner has nothing to say; the next one in the chain is asked.
    NotMine,
}

/// Finds out whether a target is really reached, and if not, how the analysis must become more precise.
pub trait Refiner {
    /// A short name for messages and statistics.
    fn name(&self) -> &'static str;
    /// Examines the paths to `target`.
    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop>;
}

/// A forced covering that succeeded.
#[derive(Clone, Debug)]
pub struct Forced {
    /// The node that covers now; one of the candidates.
    pub by: ArgId,
    /// The stronger states that make it so.
    pub strengthened: Vec<Strengthening>,
}

/// Operator `fcover` (*A Unifying View*, section 3.3): tries to strengthen a node before it is expanded such that another
/// node covers it.
pub trait ForcedCovering {
    /// Tries to cover `node`. The candidates are in the same partition, older, not covered, and not below `node`; the most
    /// recent comes first. Whoever answers `Some` guarantees that afterwards the node is less or equal to the covering one.
    fn cover(&mut self, cx: &mut Cx, arg: &Arg, node: ArgId, candidates: &[ArgId]) -> Result<Option<Forced>, Stop>;
}
