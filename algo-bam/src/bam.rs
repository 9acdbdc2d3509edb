// SPDX-License-Identifier: Apache-2.0
//! The refinement loop over nested graphs: explore, flatten the path to a target, let the wrapped refiner examine it, cut.

use std::rc::Rc;
use std::sync::Arc;

use algo_cegar::replay;
use cfa::{Blocks, Program};
use cpa_core::{
    Assurance, Composite, Counterexample, Cx, Outcome, Progress, Reason, Reducers, Refinement, Refiner, Remerge, Step,
    Stop, Target, Verdict, Waitlist,
};
use rustc_hash::FxHashSet;

use crate::cut::Strategy;
use crate::explore::Found;
use crate::flatten::Flattened;
use crate::instance::InstanceId;
use crate::store::Store;

/// What the analysis is put together from.
pub struct Parts {
    /// The components that run in the blocks.
    pub composite: Composite,
    /// Their reducers.
    pub reducers: Reducers,
    /// The blocks.
    pub blocks: Rc<Blocks>,
    /// The wrapped refiner.
    pub refiner: Box<dyn Refiner>,
}

/// Settings.
pub struct Settings {
    /// Makes the waitlist of a graph.
    pub waitlist: Box<dyn Fn() -> Box<dyn Waitlist>>,
    /// What happens behind a node that another state is merged into.
    pub remerge: Remerge,
    /// How refinements change graphs.
    pub strategy: Strategy,
    /// The greatest number of instances in the cache; 0 for no limit.
    pub max_cached: usize,
}

/// Counts of what happened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Refinements, those that only filled a hole included.
    pub refinements: u64,
    /// Refinements that only computed a block again whose graph had changed.
    pub holes: u64,
    /// Refuted paths.
    pub refuted: u64,
    /// Those that were refuted without a change of any precision.
    pub unchanged: u64,
    /// Nodes that were expanded.
    pub expanded: u64,
    /// The greatest depth of nested analyses.
    pub max_depth: usize,
    /// The number of steps of the longest path that was examined.
    pub longest_path: usize,
}

/// Block-abstraction memoization around a composite analysis.
pub struct Bam {
    pub(crate) program: Arc<Program>,
    pub(crate) cpa: Composite,
    pub(crate) reducers: Reducers,
    pub(crate) blocks: Rc<Blocks>,
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) main: Option<InstanceId>,
    pub(crate) statistics: Statistics,
    pub(crate) next_collection: usize,
    refiner: Box<dyn Refiner>,
    pending: Option<Found>,
    stuck: FxHashSet<Vec<Step>>,
}

impl Bam {
    /// The analysis; fails with the reason if some component has no reducer.
    pub fn new(parts: Parts, settings: Settings) -> Result<Self, String> {
        let Parts { composite, reducers, blocks, refiner } = parts;
        if !reducers.complete() {
            return Err(format!("not all of {:?} can be reduced to blocks", composite.names()));
        }
        Ok(Self {
            program: Arc::clone(composite.program()),
            cpa: composite,
            reducers,
            blocks,
            settings,
            store: Store::default(),
            main: None,
            statistics: Statistics::default(),
            next_collection: 0,
            refiner,
            pending: None,
            stuck: FxHashSet::default(),
        })
    }

    /// The components that run in the blocks.
    pub fn composite(&self) -> &Composite {
        &self.cpa
    }

    /// The blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// All graphs.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The graph of the whole program; none before the first run.
    pub fn main(&self) -> Option<InstanceId> {
        self.main
    }

    /// Counts of what happened so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The number of nodes of all graphs.
    pub fn nodes(&self) -> usize {
        self.store.ids().map(|id| self.store.get(id).exploration.arg().len()).sum()
    }

    /// Runs until there is a verdict. A run that was stopped can be continued by another call.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let verdict = self.verdict(cx).unwrap_or_else(|stop| Verdict::Unknown(Reason::Stopped(stop)));
        let mut assurance = Assurance::full();
        for reason in self.cpa.truncated() {
            assurance.lower_sound(reason);
        }
        Outcome::conclude(verdict, assurance, self.program.assumptions.clone())
    }

    fn verdict(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        loop {
            if let Some(found) = self.pending {
                if let Some(verdict) = self.refine(cx, found)? {
                    return Ok(verdict);
                }
                self.pending = None;
            }
            match self.explore(cx)? {
                None => {
                    self.verify().map_err(|broken| Stop::Internal(format!("the proof is not complete: {broken}")))?;
                    return Ok(Verdict::True);
                }
                Some(found) => self.pending = Some(found),
            }
        }
    }

    /// Lets the wrapped refiner examine a target and applies its answer; none if the loop goes on.
    fn refine(&mut self, cx: &mut Cx, found: Found) -> Result<Option<Verdict>, Stop> {
        self.statistics.refinements += 1;
        let mut flat = match self.flatten(cx, found)? {
            Flattened::Path(flat) => flat,
            Flattened::Hole(mut frames, frame, node) => {
                self.statistics.holes += 1;
                self.fill(&mut frames, frame, node)?;
                self.collect();
                return Ok(None);
            }
        };
        let steps = flat.arg.path_to(flat.target).steps;
        let node = flat.arg.location(flat.target);
        self.statistics.longest_path = self.statistics.longest_path.max(steps.len());
        let what = match self.refiner.refine(cx, &flat.arg, flat.target)? {
            Refinement::Feasible(cex) => {
                return self.feasible(flat.arg.target(flat.target).cloned(), &cex).map(Some);
            }
            Refinement::NotMine => {
                return Err(Stop::GaveUp(format!(
                    "no refiner can tell whether {} is reached",
                    self.program.place(node)
                )));
            }
            Refinement::Strengthened { .. } => {
                return Err(Stop::GaveUp("blocks cannot be refined by strengthening states in place".to_owned()));
            }
            Refinement::Spurious { cuts } => cuts,
        };
        self.statistics.refuted += 1;
        let mut changed = false;
        for cut in &what {
            changed |= self.apply(&mut flat, cut)?;
        }
        self.statistics.unchanged += u64::from(!changed);
        self.collect();
        let name = self.refiner.name();
        cx.report(&Progress::Refined {
            number: self.statistics.refinements,
            target: flat.target,
            what: format!("{name}: spurious"),
        });
        if changed {
            self.stuck.clear();
            return Ok(None);
        }
        if self.stuck.insert(steps) {
            return Ok(None);
        }
        let detail =
            format!("the path to {} is refuted again and again without a new precision", self.program.place(node));
        Ok(Some(Verdict::Unknown(Reason::Imprecise(detail))))
    }

    fn collect(&mut self) {
        if let Some(main) = self.main {
            self.store.collect(main);
        }
    }

    /// A target is reached by a run of the program, says the refiner.
    fn feasible(&mut self, target: Option<Target>, cex: &Counterexample) -> Result<Verdict, Stop> {
        match target {
            Some(Target::Unsupported { edge, construct }) => Ok(Verdict::Unknown(Reason::Unsupported {
                construct: construct.to_string(),
                place: self.program.location(self.program.edge(edge).span).to_string(),
            })),
            Some(Target::Violation(node)) => Ok(match replay(&self.program, cex, node) {
                Ok(()) => Verdict::False(cex.clone()),
                Err(disbelief) => Verdict::Unknown(Reason::Unconfirmed(disbelief.to_string())),
            }),
            None => Err(Stop::Internal("the end of a path is no target any more".to_owned())),
        }
    }
}

impl std::fmt::Debug for Bam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bam")
            .field("cpa", &self.cpa)
            .field("refiner", &self.refiner.name())
            .field("statistics", &self.statistics)
            .finish_non_exhaustive()
    }
}
