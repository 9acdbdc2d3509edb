// SPDX-License-Identifier: Apache-2.0
//! Proofs of programs with recursive functions by contracts: facts about the arguments of each recursive function at all its calls,
//! and about what it returns and leaves in global variables, that are inductive together. Behind a call of the function its
//! contract takes the place of the call.
//!
//! Candidates are guessed from the program and from sample runs and those that are not inductive are dropped, as in Flanagan,
//! Leino, *Houdini, an Annotation Assistant for ESC/Java* (2001); equations come from samples as in Sharma et al., *A Data Driven
//! Approach for Algebraic Loop Invariants* (ESOP 2013). The argument is written down in docs/soundness.md.
//!
//! * `signature`: what a contract can speak about.
//! * `body`, `overflow`: the formula of a function in which calls are open, and what must not happen in it.
//! * `sample`, `evaluate`, `candidates`: guesses.
//! * `prove`: what is inductive, and what follows.
//!
//! Nothing is found out about what loops leave in variables, nor about memory: both can be anything. The analysis proves only.

mod body;
mod candidates;
mod evaluate;
mod overflow;
mod prove;
mod sample;
mod signature;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cfa::Program;
use cfa::ids::{FuncId, NodeId};
use cfa::ir::{Edge, Op};
use cpa_core::{Assurance, Cx, Outcome, Reason, Stop, Verdict};
use cpa_predicate::{Encoding, Manager};

use body::Problem;
use candidates::{Facts, Guesser};
use evaluate::Evaluator;
use prove::Proof;
use sample::Activations;
use signature::Signature;

/// Kinds of candidates, in the order in which they are tried, with the time for one query about them.
const STAGES: [(Stage, Duration); 5] = [
    (Stage::Linear, Duration::from_millis(800)),
    (Stage::Residues, Duration::from_secs(8)),
    (Stage::Nonlinear, Duration::from_secs(3)),
    (Stage::Divided, Duration::from_millis(800)),
    (Stage::Cases, Duration::from_secs(3)),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Linear,
    Residues,
    Nonlinear,
    Divided,
    Cases,
}

/// Counts of what happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Recursive functions that have contracts.
    pub functions: usize,
    /// Candidates for facts of contracts.
    pub candidates: usize,
    /// Times that many facts were asked about at once.
    pub rounds: u64,
}

/// Verification by contracts of recursive functions.
pub struct Contracts {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    manager: Rc<RefCell<Manager>>,
    /// What was found out before the last call was stopped.
    progress: Option<Progress>,
    statistics: Statistics,
    verdict: Option<Verdict>,
}

struct Progress {
    signatures: BTreeMap<FuncId, Signature>,
    samples: Activations,
    proof: Proof,
    /// How many stages have made their candidates, and how many are done.
    proposed: usize,
    done: usize,
}

impl Contracts {
    /// An analysis that shows that no target can be reached and that no number overflows in recursive functions. The manager
    /// encodes numbers as bit-vectors.
    pub fn new(program: &Arc<Program>, targets: &BTreeSet<NodeId>, manager: &Rc<RefCell<Manager>>) -> Self {
        Self {
            program: Arc::clone(program),
            targets: targets.clone(),
            manager: Rc::clone(manager),
            progress: None,
            statistics: Statistics::default(),
            verdict: None,
        }
    }

    /// Counts of what happened so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Runs until there is a verdict, which is `True` or `Unknown`. After a timeout or cancellation it can be called again and
    /// goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let verdict = match self.verdict.clone() {
            Some(verdict) => verdict,
            None => match self.prove(cx) {
                Ok(verdict) => self.verdict.insert(verdict).clone(),
                Err(stop @ Stop::GaveUp(_)) => self.verdict.insert(Verdict::Unknown(Reason::Stopped(stop))).clone(),
                Err(stop) => Verdict::Unknown(Reason::Stopped(stop)),
            },
        };
        Outcome::conclude(verdict, Assurance::full(), self.program.assumptions.clone())
    }

    fn prove(&mut self, cx: &Cx) -> Result<Verdict, Stop> {
        let manager = &mut *self.manager.borrow_mut();
        if manager.encoder.encoding() != Encoding::Bitvector {
            return Err(Stop::GaveUp("contracts of functions need bit-vectors".to_string()));
        }
        let progress = match &mut self.progress {
            Some(progress) => progress,
            None => {
                let progress = Progress::begin(cx, manager, &self.program, &self.targets)?;
                self.progress.insert(progress)
            }
        };
        let functions = progress.proof.functions();
        self.statistics.functions = functions.len();
        let mut problem = None;
        for (at, (stage, timeout)) in STAGES.into_iter().enumerate().skip(progress.done) {
            if progress.proposed == at {
                for &func in &functions {
                    let samples = progress.samples.get(&func).map_or(&[][..], Vec::as_slice);
                    let mut guesser = Guesser::new(manager, &self.program, &progress.signatures[&func], samples);
                    let facts = match stage {
                        Stage::Linear => guesser.linear(),
                        Stage::Nonlinear => guesser.nonlinear(),
                        Stage::Divided => guesser.divided(progress.proof.known(func)),
                        Stage::Residues => guesser.residues(),
                        Stage::Cases => progress.cases(cx, manager, &self.program, func)?,
                    };
                    self.statistics.candidates += facts.before.len() + facts.after.len();
                    progress.proof.propose(func, facts);
                }
                progress.proposed = at + 1;
            }
            let established = progress.proof.establish(cx, manager, timeout);
            self.statistics.rounds = progress.proof.rounds;
            established?;
            problem = progress.proof.problem(cx, manager, timeout)?;
            self.statistics.rounds = progress.proof.rounds;
            if problem.is_none() {
                return Ok(Verdict::True);
            }
            progress.proof.prune(cx, manager, timeout)?;
            progress.done = at + 1;
        }
        let (owner, problem) = problem.expect("the last stage found one");
        Ok(Verdict::Unknown(self.reason(owner, problem)))
    }

    /// Why a problem that is not excluded ends the analysis.
    fn reason(&self, owner: Option<FuncId>, problem: Problem) -> Reason {
        let place = |edge| self.program.location(self.program.edge(edge).span).to_string();
        match problem {
            Problem::Error => {
                let owner = self.program.func(owner.unwrap_or(self.program.main));
                let of_memory = |edge: &Edge| matches!(edge.op, Op::Load { .. });
                let without = if self.program.edges.iter().any(of_memory) { ", without looking at memory" } else { "" };
                Reason::Imprecise(format!(
                    "the contracts of the recursive functions do not exclude an error in '{}'{without}",
                    owner.name
                ))
            }
            Problem::Unsupported(edge, construct) => Reason::Unsupported { construct, place: place(edge) },
            Problem::Overflow(edge) => Reason::Imprecise(format!(
                "{}: the contract of the recursive function does not exclude that a number overflows, which is undefined",
                place(edge)
            )),
        }
    }
}

impl Progress {
    fn begin(cx: &Cx, manager: &mut Manager, program: &Program, targets: &BTreeSet<NodeId>) -> Result<Self, Stop> {
        let signatures = signature::signatures(manager, program);
        let proof = Proof::new(cx, manager, program, targets, &signatures)?;
        let samples = sample::activations(cx, program, targets, &signatures)?;
        Ok(Self { signatures, samples, proof, proposed: 0, done: 0 })
    }
    /// Candidates for each value of a parameter of a function, if one has few.
    fn cases(&self, cx: &Cx, manager: &mut Manager, program: &Program, func: FuncId) -> Result<Facts, Stop> {
        let signature = &self.signatures[&func];
        let mut guesser = Guesser::new(manager, program, signature, &[]);
        let Some(narrow) = guesser.narrow(self.proof.known(func)) else { return Ok(Facts::default()) };
        let grid = guesser.grid(narrow);
        let mut evaluator = Evaluator::new(self.proof.bodies(), &self.signatures);
        let mut computed = Vec::new();
        for before in grid {
            computed.extend(evaluator.call(cx, manager, func, before)?);
        }
        Ok(Guesser::new(manager, program, signature, &computed).cases(narrow))
    }
}
