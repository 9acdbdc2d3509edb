// SPDX-License-Identifier: Apache-2.0
//! The analysis: one run without inputs, which decides a program that asks for none; then runs with chosen inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use algo_cegar::replay;
use cfa::ir::Op;
use cfa::machine::{Asked, Code, End, Inputs, Machine, NoInputs, Random, Setup, Storage};
use cfa::{EdgeId, IntTy, NodeId, Program};
use cpa_core::{Assurance, Cx, Outcome, Reason, Stop, Verdict};

use crate::constants::Constants;
use crate::inputs::Chosen;
use crate::lengths::Lengths;
use crate::looks::{Looks, SLICE, report_runs};
use crate::playback::counterexample;

/// Runs whose inputs are kept because they covered something new.
const MAX_QUEUE: usize = 4000;
/// Inputs of all these runs together.
const MAX_KEPT: usize = 1 << 21;
/// What a proof takes for granted if the program makes new objects.
const ASSUMED: &str =
    "execution does not depend on the addresses of new objects (two different placements behaved the same)";
/// Why an execution is no answer that ends differently when new objects lie elsewhere.
const MOVED: &str = "the execution depends on the addresses of new objects";

/// How programs are executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Whether a program that asks for inputs is run with chosen ones.
    pub random: bool,
    /// The greatest number of such runs; 0 for no limit.
    pub max_runs: u64,
    /// The greatest length of such a run, in jumps backwards and calls.
    pub max_length: u64,
    /// About how many bytes the memory of the program may take.
    pub max_bytes: usize,
    /// What the pseudo-random numbers depend on.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { random: true, max_runs: 0, max_length: 1 << 22, max_bytes: 1 << 30, seed: 1 }
    }
}

/// Counts of what happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Runs with chosen inputs.
    pub runs: u64,
    /// Those of them that ended because something was undefined or not supported.
    pub failed: u64,
    /// Those of them that were too long.
    pub cut: u64,
    /// Branches that were taken.
    pub branches: u64,
    /// Runs whose inputs were kept.
    pub kept: u64,
}

/// What is done next.
enum Stage {
    /// The run without inputs.
    Plain(Machine),
    /// The same with other addresses: how it ended before.
    Again(Machine, Elsewhere, End),
    /// Runs with chosen inputs.
    Random(Box<Fuzz>),
    /// Nothing.
    Done(Verdict),
}

struct Fuzz {
    machine: Machine,
    constants: Rc<Constants>,
    random: Random,
    lengths: Lengths,
    queue: Vec<Rc<[(EdgeId, i128)]>>,
    /// How many inputs the queue holds.
    kept: usize,
    /// The run that the machine is in, if it was stopped on the way.
    running: Option<Run>,
    /// A run that reached a target and was not confirmed yet.
    hit: Option<Hit>,
}

/// A run with chosen inputs.
struct Run {
    inputs: Chosen,
    /// How long it may become, and what is left of that.
    length: u64,
    left: u64,
}

/// The inputs of a run that reached a target.
struct Hit {
    target: NodeId,
    values: Vec<(EdgeId, i128)>,
    memory: BTreeMap<u64, u8>,
}

/// Verification by execution.
pub struct Execution {
    program: Arc<Program>,
    targets: BTreeSet<NodeId>,
    options: Options,
    stage: Option<Stage>,
    /// Of the present run without inputs.
    looks: Looks,
    statistics: Statistics,
    assumptions: Vec<String>,
}

impl Execution {
    /// An analysis that looks for the targets.
    pub fn new(program: Arc<Program>, targets: BTreeSet<NodeId>, options: Options) -> Self {
        let assumptions = program.assumptions.clone();
        Execution {
            program,
            targets,
            options,
            stage: None,
            looks: Looks::default(),
            statistics: Statistics::default(),
            assumptions,
        }
    }

    /// Counts of what happened so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Runs until there is a verdict. After a timeout or cancellation it can be run again and goes on where it was.
    pub fn run(&mut self, cx: &mut Cx) -> Outcome {
        let verdict = self.verdict(cx).unwrap_or_else(|stop| Verdict::Unknown(Reason::Stopped(stop)));
        Outcome::conclude(verdict, Assurance::full(), self.assumptions.clone())
    }

    fn verdict(&mut self, cx: &mut Cx) -> Result<Verdict, Stop> {
        loop {
            cx.check()?;
            let stage = match self.stage.take() {
                Some(stage) => stage,
                None => match self.machine(Storage::Untouchable, false) {
                    Ok(machine) => Stage::Plain(machine),
                    Err(reason) => Stage::Done(gave_up(reason)),
                },
            };
            // A stage that is interrupted stays as it is.
            let (stage, result) = match stage {
                Stage::Plain(machine) => self.plain(cx, machine),
                Stage::Again(machine, placement, end) => self.again(cx, machine, placement, end),
                Stage::Random(fuzz) => self.fuzz(cx, fuzz),
                Stage::Done(verdict) => return Ok(self.done(verdict)),
            };
            self.stage = Some(stage);
            result?;
        }
    }

    fn done(&mut self, verdict: Verdict) -> Verdict {
        self.stage = Some(Stage::Done(verdict.clone()));
        verdict
    }

    fn machine(&self, storage: Storage, coverage: bool) -> Result<Machine, String> {
        let setup = Setup { coverage, ..Setup::new(&self.targets, storage) };
        let code = Code::new(&self.program, &setup).map_err(|error| error.to_string())?;
        Ok(Machine::new(Rc::new(code), self.options.max_bytes))
    }

    /// A run without limit of its length, up to its end; goes on where it was stopped.
    fn long_run(&mut self, cx: &mut Cx, machine: &mut Machine, inputs: &mut dyn Inputs) -> Result<End, Stop> {
        loop {
            cx.check()?;
            // Once in a while it is worth looking for a repetition.
            let end = if self.looks.next_slice().is_power_of_two() {
                machine.run_watching(inputs, SLICE)
            } else {
                machine.run(inputs, SLICE)
            };
            if let Some(end) = end {
                self.looks = Looks::default();
                return Ok(end);
            }
            self.looks.look(cx, &self.program, machine, 0);
        }
    }

    /// The run without inputs, up to its end.
    fn plain(&mut self, cx: &mut Cx, mut machine: Machine) -> (Stage, Result<(), Stop>) {
        let end = match self.long_run(cx, &mut machine, &mut NoInputs) {
            Ok(end) => end,
            Err(stop) => return (Stage::Plain(machine), Err(stop)),
        };
        let stage = match &end {
            End::Returned | End::Halted(_) | End::Diverges | End::Target(_) if machine.has_allocated() => {
                machine.reset();
                Stage::Again(machine, Elsewhere::new(&self.program, &[], &[]), end)
            }
            End::Returned | End::Halted(_) | End::Diverges => Stage::Done(Verdict::True),
            End::Target(node) => match self.found(cx, *node, &[], BTreeMap::new()) {
                Ok(verdict) => Stage::Done(verdict),
                Err(stop) => return (Stage::Plain(machine), Err(stop)),
            },
            End::NeedsInput(_) | End::NeedsValue(..) if self.options.random => {
                match self.machine(Storage::Inputs, true) {
                    Ok(machine) => Stage::Random(Box::new(Fuzz {
                        machine,
                        constants: Rc::new(Constants::of(&self.program)),
                        random: Random::new(self.options.seed),
                        lengths: Lengths::new(self.options.max_length, Chosen::PLAIN),
                        queue: Vec::new(),
                        kept: 0,
                        running: None,
                        hit: None,
                    })),
                    Err(reason) => Stage::Done(gave_up(reason)),
                }
            }
            _ => Stage::Done(no_answer(&self.program, &end)),
        };
        (stage, Ok(()))
    }

    /// The run without inputs with new objects in other places.
    fn again(
        &mut self,
        cx: &mut Cx,
        mut machine: Machine,
        mut placement: Elsewhere,
        before: End,
    ) -> (Stage, Result<(), Stop>) {
        let end = match self.long_run(cx, &mut machine, &mut placement) {
            Ok(end) => end,
            Err(stop) => return (Stage::Again(machine, placement, before), Err(stop)),
        };
        let verdict = if end != before {
            gave_up(MOVED.to_string())
        } else if let End::Target(node) = end {
            match self.found(cx, node, &[], BTreeMap::new()) {
                Ok(verdict) => verdict,
                Err(stop) => return (Stage::Again(machine, placement, before), Err(stop)),
            }
        } else {
            self.assumptions.push(ASSUMED.to_string());
            Verdict::True
        };
        (Stage::Done(verdict), Ok(()))
    }

    /// Runs with chosen inputs until one of them finds an error.
    fn fuzz(&mut self, cx: &mut Cx, mut fuzz: Box<Fuzz>) -> (Stage, Result<(), Stop>) {
        loop {
            if let Err(stop) = cx.check() {
                return (Stage::Random(fuzz), Err(stop));
            }
            if self.options.max_runs > 0 && self.statistics.runs >= self.options.max_runs {
                let text = format!("no error was found in {} executions", self.statistics.runs);
                return (Stage::Done(gave_up(text)), Ok(()));
            }
            report_runs(cx, self.statistics.runs);
            match self.one_run(cx, &mut fuzz) {
                Ok(None) => {}
                Ok(Some(verdict)) => return (Stage::Done(verdict), Ok(())),
                Err(stop) => return (Stage::Random(fuzz), Err(stop)),
            }
        }
    }

    fn one_run(&mut self, cx: &Cx, fuzz: &mut Fuzz) -> Result<Option<Verdict>, Stop> {
        if let Some(verdict) = self.confirm(cx, &mut fuzz.hit)? {
            return Ok(Some(verdict));
        }
        let mut run = match fuzz.running.take() {
            Some(run) => run,
            None => self.next_run(fuzz),
        };
        let end = loop {
            if let Err(stop) = cx.check() {
                fuzz.running = Some(run);
                return Err(stop);
            }
            let slice = run.left.min(SLICE);
            let end = fuzz.machine.run(&mut run.inputs, slice);
            run.left -= slice;
            if end.is_some() || run.left == 0 {
                break end;
            }
        };
        let Run { inputs, length, left } = run;
        fuzz.lengths.ended(length - left, end.is_none());
        let asked = inputs.was_asked();
        let (values, bytes) = (inputs.values, inputs.bytes);
        match end {
            Some(ref end @ End::Target(node)) => {
                let moved = fuzz.machine.has_allocated() && {
                    fuzz.machine.reset();
                    let mut inputs = Elsewhere::new(&self.program, &values, &bytes);
                    fuzz.machine.run(&mut inputs, length).as_ref() != Some(end)
                };
                if moved {
                    self.statistics.failed += 1;
                } else {
                    let memory = bytes.into_iter().collect();
                    fuzz.hit = Some(Hit { target: node, values: values.clone(), memory });
                    if let Some(verdict) = self.confirm(cx, &mut fuzz.hit)? {
                        return Ok(Some(verdict));
                    }
                }
            }
            None => self.statistics.cut += 1,
            Some(ref end @ (End::Undefined(..) | End::Unsupported(_) | End::Exhausted(..) | End::NeedsValue(..))) => {
                self.statistics.failed += 1;
                if !asked {
                    return Ok(Some(no_answer(&self.program, end)));
                }
            }
            Some(_) => {}
        }
        let new = fuzz.machine.take_newly_covered();
        self.statistics.branches += u64::from(new);
        let room = fuzz.queue.len() < MAX_QUEUE && fuzz.kept + values.len() <= MAX_KEPT;
        if new > 0 && room && !values.is_empty() {
            self.statistics.kept += 1;
            fuzz.kept += values.len();
            fuzz.queue.push(Rc::from(values));
        }
        Ok(None)
    }

    /// The next run with chosen inputs, from the beginning.
    fn next_run(&mut self, fuzz: &mut Fuzz) -> Run {
        let length = fuzz.lengths.next();
        let number = fuzz.lengths.plain().unwrap_or(self.statistics.runs);
        self.statistics.runs += 1;
        let seed = Random::new(fuzz.random.next());
        let mut inputs = Chosen::new(&self.program, &fuzz.constants, number, seed);
        let earlier = match fuzz.queue.len() {
            0 => None,
            // Newer ones are deeper in the program.
            n if fuzz.random.below(4) == 0 => Some(n - 1 - fuzz.random.below(n.min(8))),
            n if fuzz.random.below(3) > 0 => Some(fuzz.random.below(n)),
            _ => None,
        };
        if let Some(at) = earlier
            && number > Chosen::PLAIN
            && !Chosen::sweeps(number)
        {
            inputs = inputs.mutating(&fuzz.queue[at]);
        }
        fuzz.machine.reset();
        Run { inputs, length, left: length }
    }

    /// The counterexample of a run, if there is one and the replay believes it. If there is no time left the run stays.
    fn confirm(&mut self, cx: &Cx, hit: &mut Option<Hit>) -> Result<Option<Verdict>, Stop> {
        let Some(Hit { target, values, memory }) = hit else { return Ok(None) };
        let verdict = self.found(cx, *target, values, memory.clone())?;
        *hit = None;
        self.statistics.failed += u64::from(!matches!(verdict, Verdict::False(_)));
        Ok(Some(verdict).filter(|verdict| matches!(verdict, Verdict::False(_))))
    }

    /// A run reached a target: its counterexample, if the replay believes it.
    fn found(
        &self,
        cx: &Cx,
        target: NodeId,
        values: &[(EdgeId, i128)],
        memory: BTreeMap<u64, u8>,
    ) -> Result<Verdict, Stop> {
        let unconfirmed = |text: String| Verdict::Unknown(Reason::Unconfirmed(text));
        let found = counterexample(cx, &self.program, target, values, memory, self.options.max_bytes, u64::MAX)?;
        let Some(cex) = found else {
            return Ok(unconfirmed("the same inputs lead somewhere else".to_string()));
        };
        Ok(match replay(&self.program, &cex, target) {
            Ok(()) => Verdict::False(cex),
            Err(disbelief) => unconfirmed(disbelief.to_string()),
        })
    }
}

/// Why an end is no answer.
pub(crate) fn no_answer(program: &Program, end: &End) -> Verdict {
    let place = |edge: &EdgeId| program.location(program.edge(*edge).span).to_string();
    gave_up(match end {
        End::NeedsInput(edge) => format!("{}: the execution depends on an input", place(edge)),
        End::NeedsValue(edge, Some(var)) => {
            let name = &program.var(*var).name;
            format!("{}: the execution depends on '{name}', which has no certain value", place(edge))
        }
        End::NeedsValue(edge, None) => {
            format!("{}: the execution depends on memory that was never written", place(edge))
        }
        End::Undefined(edge, fault) => {
            format!("{}: {fault}; what happens then is not defined", place(edge))
        }
        End::Exhausted(edge, what) => format!("{}: the execution needs too much {what}", place(edge)),
        End::Unsupported(edge) => {
            let construct = match &program.edge(*edge).op {
                Op::Unsupported { construct } => construct.to_string(),
                _ => "recursion of a function with objects at fixed addresses".to_string(),
            };
            return Verdict::Unknown(Reason::Unsupported { construct, place: place(edge) });
        }
        End::Target(_) | End::Returned | End::Halted(_) | End::Diverges => "the execution ended".to_string(),
    })
}

fn gave_up(text: String) -> Verdict {
    Verdict::Unknown(Reason::Stopped(Stop::GaveUp(text)))
}

/// The inputs of an earlier run, and new objects from the top of the address space downwards, far from each other: the
/// opposite of what the machine does by itself.
struct Elsewhere {
    values: std::vec::IntoIter<(EdgeId, i128)>,
    bytes: std::vec::IntoIter<(u64, u8)>,
    next: u64,
}

impl Elsewhere {
    fn new(program: &Program, values: &[(EdgeId, i128)], bytes: &[(u64, u8)]) -> Self {
        let bits = program.machine.size_type().bits.min(46);
        Elsewhere {
            values: Vec::from(values).into_iter(),
            bytes: Vec::from(bytes).into_iter(),
            next: (1 << bits) - (1 << 20),
        }
    }
}

impl Inputs for Elsewhere {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        self.values.next().filter(|(edge, _)| *edge == asked.edge).map(|(_, value)| value)
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        // The address is another one than in the earlier run, but the order is the same.
        self.bytes.next().map(|(_, byte)| byte)
    }

    fn address(&mut self, _asked: Asked, size: u64) -> Option<u64> {
        // Without room the machine refuses the address, and the executions differ.
        self.next = self.next.saturating_sub(size.saturating_add(512)) & !15;
        Some(self.next)
    }
}
