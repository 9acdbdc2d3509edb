// SPDX-License-Identifier: Apache-2.0
//! The CEGAR loop: explore until a target, let the refiner examine it, apply what it says, go on.
//!
//! Follows *A Unifying View*, Algorithm 4. A path that is refuted again although no precision changed ends the loop (Wendler,
//! section 5.1.2, saw Cartesian abstraction run for ever there).

use std::sync::Arc;
use std::time::Duration;

use cfa::{NodeId, Program};
use cpa_core::algorithm::at_target;
use cpa_core::{
    Arg, ArgId, Assurance, Composite, Counterexample, Cx, Exploration, ForcedCovering, Outcome, Progress, Reason,
    Refinement, Refiner, Status, Step, Stop, Target, Verdict, run,
};
use rustc_hash::FxHashSet;

use crate::check::{Believed, CexCheck};
use crate::replay::replay;

/// Counts of what happened in a CEGAR loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Targets that a refiner examined.
    pub refinements: u64,
    /// Those that were refuted.
    pub refuted: u64,
    /// Those that were refuted by strengthening in place.
    pub strengthened: u64,
    /// Those that were refuted without a change of any precision or state.
    pub unchanged: u64,
    /// Those whose path is feasible.
    pub feasible: u64,
    /// Nodes of the graph that refinements removed.
    pub removed_nodes: u64,
    /// The number of steps of the longest path that was examined.
    pub longest_path: usize,
    /// The greatest number of nodes of the graph when a refinement began.
    pub max_reached: usize,
    /// The time of all refinements, the checks of counterexamples included.
    pub refining: Duration,
    /// The time of the whole loop.
    pub total: Duration,
}

/// A CEGAR loop with all it works on.
pub struct Cegar {
    cpa: Composite,
    exploration: Exploration,
    refiner: Box<dyn Refiner>,
    fcover: Option<Box<dyn ForcedCovering>>,
    checks: Vec<Box<dyn CexCheck>>,
    assurance: Assurance,
    statistics: Statistics,
    /// The target that is being examined; it is still to be when the run was stopped in between.
    pending: Option<ArgId>,
    /// The paths that were refuted without any change since something changed last.
    stuck: FxHashSet<Vec<Step>>,
}

impl Cegar {
    /// A loop over an exploration, usually one that has not started.
    pub fn new(cpa: Composite, exploration: Exploration, refiner: Box<dyn Refiner>) -> Self {
        Self {
            cpa,
            exploration,
            refiner,
            fcover: None,
            checks: Vec::new(),
            assurance: Assurance::full(),
            statistics: Statistics::default(),
            pending: None,
            stuck: FxHashSet::default(),
        }
    }

    /// Tries to cover nodes by force before they are expanded.
    pub fn with_forced_covering(mut self, fcover: Box<dyn ForcedCovering>) -> Self {
        self.fcover = Some(fcover);
        self
    }

    /// Adds a check that counterexamples must stand after the replay.
    pub fn with_check(mut self, check: Box<dyn CexCheck>) -> Self {
        self.checks.push(check);
        self
    }

    /// Takes over that some stage before or inside reasons unsoundly or imprecisely.
    pub fn with_assurance(mut self, assurance: &Assurance) -> Self {
        self.assurance = self.assurance.and(assurance);
        self
    }

    /// The analysed program.
    pub fn program(&self) -> &Arc<Program> {
        self.cpa.program()
    }

    /// The components that run together.
    pub fn composite(&self) -> &Composite {
        &self.cpa
    }

    /// The graph; after TRUE it is the proof.
    pub fn arg(&self) -> &Arg {
        self.exploration.arg()
    }

    /// What was explored.
    pub fn exploration(&self) -> &Exploration {
        &self.exploration
    }

    /// The refiner.
    pub fn refiner(&self) -> &dyn Refiner {
        &*self.refiner
    }

    /// Counts of what happened so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Runs until there is a verdict. After a timeout or cancellation the loop can be run again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let start = cx.elapsed();
        let verdict = self.verdict(cx).unwrap_or_else(|stop| Verdict::Unknown(Reason::Stopped(stop)));
        self.statistics.total += cx.elapsed().saturating_sub(start);
        let mut assurance = self.assurance.clone();
        for reason in self.cpa.truncated() {
            assurance.lower_sound(reason);
        }
        Outcome::conclude(verdict, assurance, self.program().assumptions.clone())
    }

    fn verdict(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        loop {
            if let Some(target) = self.pending {
                let start = cx.elapsed();
                let verdict = self.refine(cx, target);
                self.statistics.refining += cx.elapsed().saturating_sub(start);
                if let Some(verdict) = verdict? {
                    return Ok(verdict);
                }
                self.pending = None;
            }
            // The cast shortens the lifetime inside the option, which the borrow checker does not do by itself.
            let fcover = self.fcover.as_deref_mut().map(|fcover| fcover as &mut dyn ForcedCovering);
            match run(cx, &mut self.cpa, &mut self.exploration, &mut at_target, fcover)? {
                Status::Finished => return self.proved(),
                Status::Target(target) => self.pending = Some(target),
            }
        }
    }

    /// Nothing is left to explore, so no target may be left either.
    fn proved(&self) -> Result<Verdict, Stop> {
        self.verify()?;
        match self.arg().ids().find(|&id| self.arg().target(id).is_some()) {
            Some(target) => {
                Err(Stop::Internal(format!("the exploration ended, but the target {target} was not refuted")))
            }
            None => Ok(Verdict::True),
        }
    }

    /// Lets the refiner examine a target and applies its answer; none if the loop goes on.
    fn refine(&mut self, cx: &mut Cx, target: ArgId) -> Result<Option<Verdict>, Stop> {
        let steps = self.arg().path_to(target).steps;
        let node = self.arg().location(target);
        self.statistics.refinements += 1;
        self.statistics.max_reached = self.statistics.max_reached.max(self.arg().len());
        self.statistics.longest_path = self.statistics.longest_path.max(steps.len());
        let refinement = self.refiner.refine(cx, self.exploration.arg(), target)?;
        let removed_before = self.exploration.statistics().removed;
        let (what, changed, covered) = match refinement {
            Refinement::Feasible(cex) => {
                self.report(cx, target, "feasible".to_owned());
                self.statistics.feasible += 1;
                return self.feasible(cx, target, cex).map(Some);
            }
            Refinement::NotMine => {
                return Err(Stop::GaveUp(format!(
                    "no refiner can tell whether {} is reached",
                    self.program().place(node)
                )));
            }
            Refinement::Spurious { cuts } => {
                let mut changed = false;
                for cut in &cuts {
                    changed |= self.exploration.cut(&self.cpa, cut);
                }
                let pivots: Vec<String> = cuts.iter().map(|cut| cut.pivot.to_string()).collect();
                (format!("spurious, cut at {}", pivots.join(" ")), changed, false)
            }
            Refinement::Strengthened { nodes, remove } => {
                let applied = self.exploration.apply_strengthening(cx, &mut self.cpa, &nodes, &remove)?;
                self.statistics.strengthened += 1;
                (format!("spurious, {} nodes strengthened", nodes.len()), applied.changed, applied.covered.is_some())
            }
        };
        self.statistics.refuted += 1;
        self.statistics.unchanged += u64::from(!changed);
        self.statistics.removed_nodes += self.exploration.statistics().removed - removed_before;
        self.report(cx, target, what);
        self.check_refuted(target, covered)?;
        Ok(self.repeated(steps, node, changed))
    }

    fn report(&self, cx: &mut Cx, target: ArgId, what: String) {
        let what = format!("{}: {what}", self.refiner.name());
        cx.report(&Progress::Refined { number: self.statistics.refinements, target, what });
    }

    /// Trap: a refinement that leaves the target in place or nothing to explore would end in a wrong proof. Only a node
    /// that is now covered may leave nothing to explore.
    fn check_refuted(&self, target: ArgId, covered: bool) -> Result<(), Stop> {
        self.verify()?;
        if self.arg().is_alive(target) {
            return Err(Stop::Internal(format!("the target {target} is still there after it was refuted")));
        }
        if self.exploration.waiting() == 0 && !covered {
            return Err(Stop::Internal("nothing is left to explore after a refinement".to_owned()));
        }
        Ok(())
    }

    /// Checks the invariants of the graph in debug builds.
    fn verify(&self) -> Result<(), Stop> {
        if cfg!(debug_assertions) {
            self.exploration
                .verify()
                .map_err(|broken| Stop::Internal(format!("the graph is inconsistent: {broken}")))?;
        }
        Ok(())
    }

    /// Ends the loop when the same path is refuted for the second time without any change. Other paths may come in between:
    /// two that take turns would go on for ever as well.
    fn repeated(&mut self, steps: Vec<Step>, node: NodeId, changed: bool) -> Option<Verdict> {
        if changed {
            self.stuck.clear();
            return None;
        }
        if self.stuck.insert(steps) {
            return None;
        }
        let detail =
            format!("the path to {} is refuted again and again without a new precision", self.program().place(node));
        Some(Verdict::Unknown(Reason::Imprecise(detail)))
    }

    /// A target is reached by a run of the program, says the refiner.
    fn feasible(&mut self, cx: &mut Cx, target: ArgId, cex: Counterexample) -> Result<Verdict, Stop> {
        let program = Arc::clone(self.program());
        let unconfirmed = |text: String| Ok(Verdict::Unknown(Reason::Unconfirmed(text)));
        match self.arg().target(target) {
            Some(Target::Unsupported { edge, construct }) => Ok(Verdict::Unknown(Reason::Unsupported {
                construct: construct.to_string(),
                place: program.location(program.edges[edge.index()].span).to_string(),
            })),
            Some(Target::Violation(node)) => {
                if let Err(disbelief) = replay(&program, &cex, *node) {
                    return unconfirmed(disbelief.to_string());
                }
                for check in &mut self.checks {
                    match check.check(cx, &program, &cex)? {
                        Believed::Yes => {}
                        Believed::No(why) => return unconfirmed(format!("{}: {why}", check.name())),
                    }
                }
                Ok(Verdict::False(cex))
            }
            None => Err(Stop::Internal(format!("{target} was examined, but it is no target"))),
        }
    }
}

impl std::fmt::Debug for Cegar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cegar")
            .field("cpa", &self.cpa)
            .field("refiner", &self.refiner.name())
            .field("statistics", &self.statistics)
            .finish_non_exhaustive()
    }
}
