// SPDX-License-Identifier: Apache-2.0
//! Auxiliary invariants at cut points, found in stages of rising precision.
//!
//! Every stage proposes candidates; the solver proves those that are inductive together with what is known
//! ([`induction`]). So no stage has to be trusted.

mod arrays;
mod candidates;
mod conditional;
mod control;
mod dataflow;
mod env;
mod induction;
mod inequalities;
mod instances;
mod memory;
mod multiplied;
mod noted;
pub mod nullspace;
mod pointers;
mod preconditions;
mod proposed;
mod sample;
mod sums;
mod value;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use algo_bmc::Start;
use cfa::Program;
use cfa::ids::NodeId;
use cfa::liveness::Current;
use cpa_core::{Cx, Stop};
use cpa_predicate::{Encoding, Manager};
use smt::{TermId, Terms};

use crate::cutpoints::Cutpoints;
use crate::kind::Strategy;
use crate::step::StepUnrolling;

use arrays::Weaker;
use candidates::Guesser;
use dataflow::{PRECISIONS, Precision};
use induction::Induction;
pub(crate) use instances::with_instances;
use memory::Layout;
pub(crate) use pointers::Pointers;
pub use proposed::{Bound, Proposer};
use sample::Sample;
pub(crate) use sums::still_meant;

/// What is known to hold at every visit of each cut point, over the program variables; for all values of the symbol
/// `index!` where it occurs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariants(Vec<TermId>);

impl Invariants {
    /// Nothing is known about `count` cut points.
    pub fn none(count: usize) -> Self {
        Self(vec![Terms::tru(); count])
    }

    /// These invariants, one for each cut point.
    pub(crate) fn new(terms: Vec<TermId>) -> Self {
        Self(terms)
    }

    /// The invariant of a cut point.
    pub fn term(&self, number: usize) -> TermId {
        self.0[number]
    }
}

/// The time for one query about candidates.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// Where the candidates of a stage come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    DataFlow(Precision),
    /// From somebody else.
    Proposed,
    /// Equations between variables, of programs that multiply.
    Equations,
    /// About variables.
    Guesses,
    /// Inequalities between two and more variables.
    Inequalities,
    /// Which values variables with few values have at once, and equations where they have one of them.
    Control,
    /// About variables, cells and arrays.
    Memory,
    /// Parts of arrays for which something holds that does not hold for larger ones.
    Weaker,
    /// About all of these where conditions of the program hold.
    Conditional,
}

/// Finds stronger and stronger invariants of one program.
pub struct Generator {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    manager: Rc<RefCell<Manager>>,
    cutpoints: Rc<Cutpoints>,
    entry: StepUnrolling,
    /// The stages to come, the next one last.
    stages: Vec<Stage>,
    /// What is left of the next stage's candidates if it was stopped.
    pending: Option<Vec<Vec<TermId>>>,
    proposer: Option<Box<dyn Proposer>>,
    /// The layout of memory.
    layout: Layout,
    /// The samples of each cut point.
    sampled: Option<Vec<Vec<Sample>>>,
    /// What excludes violations at each cut point, once it was asked for.
    preconditions: Option<Vec<Vec<TermId>>>,
    /// The candidates of the last stage about memory, and what is left to try if they do not hold.
    tried: Vec<Vec<TermId>>,
    weaker: Vec<Vec<Weaker>>,
    /// The variables whose values are current at the cut points, of programs with memory once samples are taken.
    current: Current,
}

impl Generator {
    /// A generator that has not begun.
    pub fn new(
        program: &Arc<Program>,
        targets: &BTreeSet<NodeId>,
        manager: &Rc<RefCell<Manager>>,
        cutpoints: Rc<Cutpoints>,
        strategy: Strategy,
    ) -> Self {
        let bitvectors = manager.borrow().encoder.encoding() == Encoding::Bitvector;
        let layout = if strategy == Strategy::Induction { Layout::of(program) } else { Layout::default() };
        let mut stages = match strategy {
            Strategy::Nothing => Vec::new(),
            Strategy::DataFlow => PRECISIONS.map(Stage::DataFlow).to_vec(),
            Strategy::Induction => {
                let [coarse, fine] = PRECISIONS.map(Stage::DataFlow);
                // Modes tell more than anything else.
                let (early, late) = match control::has_modes(program) {
                    true => (Some(Stage::Control), None),
                    false => (None, Some(Stage::Control)),
                };
                let guesses = [Stage::Guesses, fine, Stage::Memory, Stage::Inequalities];
                let first = [Stage::Equations, coarse].into_iter().chain(early);
                first.chain(guesses).chain(late).chain([Stage::Conditional]).collect()
            }
        };
        stages.retain(|stage| match stage {
            Stage::Memory => bitvectors && layout != Layout::default(),
            Stage::Conditional => bitvectors,
            _ => true,
        });
        stages.reverse();
        Self {
            program: Arc::clone(program),
            targets: targets.clone(),
            manager: Rc::clone(manager),
            cutpoints,
            entry: StepUnrolling::new(program, targets, manager, Start::Entry),
            stages,
            pending: None,
            proposer: None,
            layout,
            sampled: None,
            preconditions: None,
            tried: Vec::new(),
            weaker: Vec::new(),
            current: Current::default(),
        }
    }

    /// Somebody else's candidates come before all others.
    pub(crate) fn set_proposer(&mut self, proposer: Box<dyn Proposer>) {
        self.proposer = Some(proposer);
        self.stages.push(Stage::Proposed);
    }

    /// Whether the next stage is about memory.
    pub(crate) fn about_memory(&self) -> bool {
        matches!(self.stages.last(), Some(Stage::Memory | Stage::Weaker | Stage::Conditional))
    }

    /// What is known after the next stage; none if there is no further one. `steps` have at least one segment each.
    pub fn next(
        &mut self,
        cx: &mut Cx,
        steps: &[StepUnrolling],
        known: &Invariants,
    ) -> Result<Option<Invariants>, Stop> {
        let Some(&stage) = self.stages.last() else { return Ok(None) };
        self.entry.extend(cx, &self.cutpoints, 1)?;
        // Candidates that a stage has not yet proved or dropped when it is stopped wait for the next turn.
        let pending = self.pending.take();
        let begins = pending.is_none();
        let mut candidates = match pending {
            Some(candidates) => candidates,
            // Products of unknowns are as hard as inequalities, and not needed together.
            None if self.is_hard_with_products(stage) && self.induction(steps).multiplies() => {
                self.stages.pop();
                return Ok(Some(known.clone()));
            }
            None => match self.candidates(cx, stage, steps, known)? {
                Some(candidates) => candidates,
                None => {
                    self.stages.pop();
                    return Ok(Some(known.clone()));
                }
            },
        };
        let induction = self.induction(steps);
        // What needs no circuits for quotients is soon proved, and may suffice.
        let freely = begins && induction.only_divides();
        let proved = if freely {
            induction.prove_freely(cx, known, &mut candidates)
        } else {
            induction.prove(cx, known, &mut candidates)
        };
        if freely || proved.is_err() {
            if proved.is_ok() {
                // What is left are those that were not proved.
                self.tried.clone_from(&candidates);
            }
            self.pending = Some(candidates);
        } else {
            self.stages.pop();
            if stage == Stage::Inequalities && proved.as_ref().is_ok_and(|proved| proved != known) {
                // What was not inductive before may be with inequalities.
                // The last stage is there if memory is represented.
                if self.layout != Layout::default() && self.stages.contains(&Stage::Conditional) {
                    self.stages.push(Stage::Memory);
                }
                self.stages.push(Stage::Guesses);
            }
            if matches!(stage, Stage::Memory | Stage::Weaker) {
                self.weaken(&candidates);
            }
        }
        proved.map(Some)
    }

    /// Whether a stage is left out for programs that multiply.
    fn is_hard_with_products(&self, stage: Stage) -> bool {
        match stage {
            Stage::Inequalities => true,
            Stage::Conditional => self.layout == Layout::default(),
            _ => false,
        }
    }

    fn induction<'a>(&'a self, steps: &'a [StepUnrolling]) -> Induction<'a> {
        Induction { program: &self.program, manager: &self.manager, entry: &self.entry, steps, timeout: QUERY_TIMEOUT }
    }

    /// The candidates of a stage; none if it does not apply.
    fn candidates(
        &mut self,
        cx: &Cx,
        stage: Stage,
        steps: &[StepUnrolling],
        known: &Invariants,
    ) -> Result<Option<Vec<Vec<TermId>>>, Stop> {
        let candidates = match stage {
            Stage::DataFlow(precision) => self.data_flow(cx, precision)?,
            Stage::Proposed => self.proposed(cx)?,
            Stage::Equations => self.equations(cx, steps)?,
            Stage::Guesses => self.guesses(cx, steps, Layout::default(), |guesser| guesser.run(false))?,
            Stage::Inequalities => {
                let bitvectors = self.manager.borrow().encoder.encoding() == Encoding::Bitvector;
                if bitvectors { Some(self.inequalities(cx)?) } else { None }
            }
            Stage::Control => Some(self.control(cx, steps, known)?),
            Stage::Weaker => Some(std::mem::take(&mut self.tried)),
            Stage::Memory | Stage::Conditional => {
                let conditional = stage == Stage::Conditional;
                self.guesses(cx, steps, self.layout.clone(), |guesser| guesser.run(conditional))?
            }
        };
        let Some(mut candidates) = candidates else { return Ok(None) };
        if let Some(number) = self.cutpoints.number(Vec::new(), self.program.entry) {
            // No segment ends with the first visit, so nothing about it would be checked.
            candidates[number].clear();
        }
        let terms = &self.manager.borrow().terms;
        for (number, list) in candidates.iter_mut().enumerate() {
            let known = terms.conjuncts(known.term(number));
            list.retain(|term| !known.contains(term));
        }
        self.tried.clone_from(&candidates);
        Ok(Some(candidates))
    }

    /// The next stage is about what is weaker than those of the last candidates that were not proved, if there is something.
    /// The others about elements are tried again, as they may need what is weaker.
    fn weaken(&mut self, proved: &[Vec<TermId>]) {
        let mut found = false;
        let terms = &self.manager.borrow().terms;
        for ((tried, proved), weaker) in self.tried.iter_mut().zip(proved).zip(&mut self.weaker) {
            tried.retain(|&term| terms.has_array(term) && !proved.contains(&term));
            let next: Vec<Weaker> = weaker.extract_if(.., |weaker| tried.contains(&weaker.than)).collect();
            tried.retain(|term| next.iter().all(|weaker| weaker.than != *term));
            found |= !next.is_empty();
            for weaker in next {
                if !tried.contains(&weaker.candidate) {
                    tried.push(weaker.candidate);
                }
            }
        }
        if found {
            self.stages.push(Stage::Weaker);
        }
    }

    fn proposed(&mut self, cx: &Cx) -> Result<Option<Vec<Vec<TermId>>>, Stop> {
        let Some(proposer) = &mut self.proposer else { return Ok(None) };
        let bounds = proposer.propose(cx)?;
        let manager = &mut *self.manager.borrow_mut();
        let of_point = |point: &crate::cutpoints::Cutpoint| {
            let bounds = bounds.get(&point.head).into_iter().flatten();
            bounds.filter_map(|bound| proposed::term(manager, &self.program, bound)).collect()
        };
        Ok(Some(self.cutpoints.points().iter().map(of_point).collect()))
    }

    fn data_flow(&self, cx: &Cx, precision: Precision) -> Result<Option<Vec<Vec<TermId>>>, Stop> {
        let found = dataflow::analyse(cx, &self.program, &self.targets, &self.cutpoints, precision)?;
        let manager = &mut *self.manager.borrow_mut();
        Ok(found.map(|environments| {
            let environments = environments.iter();
            environments.map(|env| candidates::from_environment(manager, &self.program, env.as_ref())).collect()
        }))
    }

    fn equations(&mut self, cx: &Cx, steps: &[StepUnrolling]) -> Result<Option<Vec<Vec<TermId>>>, Stop> {
        if !candidates::has_polynomials(&self.manager.borrow(), &self.program) {
            return Ok(None);
        }
        let Some(mut candidates) = self.guesses(cx, steps, Layout::default(), |guesser| guesser.run(false))? else {
            return Ok(None);
        };
        let terms = &self.manager.borrow().terms;
        for list in &mut candidates {
            list.retain(|&term| matches!(terms.get(term), smt::Term::Eq(..)));
        }
        Ok(Some(candidates))
    }

    fn inequalities(&mut self, cx: &Cx) -> Result<Vec<Vec<TermId>>, Stop> {
        let none = Layout::default();
        let samples = self.samples(cx, &none, sample::MANY)?;
        Ok(self.guessed(&none, &samples, |guesser| guesser.inequalities()))
    }

    fn control(&mut self, cx: &Cx, steps: &[StepUnrolling], known: &Invariants) -> Result<Vec<Vec<TermId>>, Stop> {
        let cells = Layout { arrays: Vec::new(), ..self.layout.clone() };
        let samples = self.samples(cx, &cells, sample::MANY)?;
        let manager = &mut *self.manager.borrow_mut();
        let mut controls = Vec::new();
        let mut candidates = Vec::new();
        for (number, samples) in samples.iter().enumerate() {
            let (program, cutpoints) = (&self.program, &self.cutpoints);
            let mut guesser = Guesser::new(manager, program, cutpoints, number, &self.current, (&cells, samples));
            let (control, facts) = guesser.control();
            controls.push(control);
            candidates.push(facts);
        }
        control::close(cx, manager, &self.entry, steps, known, &mut controls)?;
        for (list, control) in candidates.iter_mut().zip(&controls) {
            list.push(control.cases(&mut manager.terms));
        }
        Ok(candidates)
    }

    fn guessed(
        &mut self,
        layout: &Layout,
        samples: &[Vec<Sample>],
        run: impl Fn(&mut Guesser<'_>) -> Vec<TermId>,
    ) -> Vec<Vec<TermId>> {
        let manager = Rc::clone(&self.manager);
        let manager = &mut *manager.borrow_mut();
        let guess = |(number, samples): (usize, &Vec<Sample>)| {
            let (program, cutpoints) = (&self.program, &self.cutpoints);
            let mut guesser = Guesser::new(manager, program, cutpoints, number, &self.current, (layout, samples));
            guesser.preconditions = self.preconditions.as_ref().map_or(&[], |all| &all[number]);
            (run(&mut guesser), guesser.weaker)
        };
        let (mut candidates, weaker): (Vec<_>, Vec<_>) = samples.iter().enumerate().map(guess).unzip();
        self.weaker = weaker;
        if *layout != Layout::default() {
            self.hand_on(manager, layout, samples, &mut candidates);
        }
        candidates
    }

    /// Where no run came, facts about elements are guessed that may hold where runs came.
    fn hand_on(
        &mut self,
        manager: &mut Manager,
        layout: &Layout,
        samples: &[Vec<Sample>],
        candidates: &mut [Vec<TermId>],
    ) {
        let seen = |number: &usize| !samples[*number].is_empty();
        let from: Vec<usize> = (0..samples.len()).filter(seen).collect();
        for number in (0..samples.len()).filter(|number| !seen(number)) {
            let (program, cutpoints) = (&self.program, &self.cutpoints);
            let mut guesser = Guesser::new(manager, program, cutpoints, number, &self.current, (layout, &[]));
            for &other in &from {
                let facts: Vec<TermId> =
                    candidates[other].iter().copied().filter(|&fact| guesser.can_say(fact)).collect();
                candidates[number].extend(facts);
                let is_new = |weaker: &&Weaker| guesser.can_say(weaker.candidate);
                let weaker: Vec<Weaker> = self.weaker[other].iter().filter(is_new).copied().collect();
                self.weaker[number].extend(weaker);
            }
            let mut known = BTreeSet::new();
            candidates[number].retain(|&fact| known.insert(fact));
        }
    }

    /// The samples of each cut point.
    fn samples(&mut self, cx: &Cx, layout: &Layout, extent: sample::Extent) -> Result<Vec<Vec<Sample>>, Stop> {
        if self.layout != Layout::default() && self.current == Current::default() {
            let places = self.cutpoints.points().iter().flat_map(|point| candidates::places(&self.program, point));
            self.current = Current::at(&self.program, places);
        }
        let Self { program, targets, cutpoints, current, .. } = self;
        sample::samples(cx, program, targets, (cutpoints, current), layout, extent)
    }

    /// What a guesser makes of the samples of each cut point.
    fn guesses(
        &mut self,
        cx: &Cx,
        steps: &[StepUnrolling],
        layout: Layout,
        run: impl Fn(&mut Guesser<'_>) -> Vec<TermId>,
    ) -> Result<Option<Vec<Vec<TermId>>>, Stop> {
        if self.preconditions.is_none() {
            self.preconditions = Some(preconditions::preconditions(&mut self.manager.borrow_mut(), steps));
        }
        let samples = match self.sampled.take() {
            Some(known) => known,
            None => self.samples(cx, &self.layout.clone(), sample::FEW)?,
        };
        let candidates = self.guessed(&layout, &samples, run);
        self.sampled = Some(samples);
        Ok(Some(candidates))
    }
}
