// SPDX-License-Identifier: Apache-2.0
//! Whether a whole path has an execution, and one if so.
//!
//! The blocks are composed by substitution: each goes on with the symbolic store of the one before, so constants propagate
//! along the path, and inputs and choices get new instances. The conjunction of the path conditions goes to the solver in
//! one check. A model gives initial values and inputs; the witness is what the statements do with them, step by step, so
//! an error in the formula or in the solver cannot make a wrong witness.

use std::collections::BTreeMap;

use super::graph::{Path, extend};
use super::query::{Witness, WitnessStep};
use crate::path::{PathFormula, Stmt};
use crate::solver::{CheckResult, Limits, Model, Solver};
use crate::term::{SymId, TermId, Terms, Value};

/// A search for an execution tries at most this many edges; only paths whose branching is not deterministic need more
/// than their length.
const MAX_STEPS: usize = 2_000_000;

/// The answer about the feasibility of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Feasibility {
    /// Here is an execution.
    Feasible(Witness),
    /// There is none.
    Infeasible,
    /// The solver gave up, or its model does not lead through the path.
    Unknown(String),
}

/// Decides whether the path has an execution.
pub fn feasibility(terms: &mut Terms, solver: &mut dyn Solver, path: &Path<'_>, limits: &Limits) -> Feasibility {
    let composed = Composed::new(terms, path);
    if composed.conditions.len() < path.len() {
        return Feasibility::Infeasible;
    }
    solver.push();
    for &condition in &composed.conditions {
        solver.assert(terms, condition);
    }
    let run = match solver.check(terms, &[], limits) {
        CheckResult::Unsat(_) => Err(Feasibility::Infeasible),
        CheckResult::Unknown(why) => Err(Feasibility::Unknown(why)),
        CheckResult::Sat(model) => composed
            .run(terms, path, &model)
            .ok_or_else(|| Feasibility::Unknown("a value of the model does not fit into 128 bits".to_owned())),
    };
    solver.pop();
    match run.map(|run| run.walk(terms, path, path.len())) {
        Err(answer) => answer,
        Ok(Some(witness)) => Feasibility::Feasible(witness),
        Ok(None) => Feasibility::Unknown("the model of the path formula does not lead through the path".to_owned()),
    }
}

/// The path as path conditions over start values and inputs.
pub(crate) struct Composed {
    /// One condition for each block, up to the first that cannot be passed as far as the builders see.
    pub(crate) conditions: Vec<TermId>,
    /// The instance that each `Havoc` edge reads, by block and edge.
    pub(crate) reads: BTreeMap<(usize, usize), TermId>,
    /// The formulas at the ends of the blocks, with the path condition of the last block only.
    formulas: Vec<PathFormula>,
    symbols: Vec<SymId>,
}

impl Composed {
    pub(crate) fn new(terms: &mut Terms, path: &Path<'_>) -> Self {
        let symbols = path.symbols(terms);
        let mut composed = Composed { conditions: Vec::new(), reads: BTreeMap::new(), formulas: Vec::new(), symbols };
        let mut formula = PathFormula::empty();
        for b in 0..path.len() {
            let mut inputs = Vec::new();
            match extend(terms, path.dag(b), &path.graphs[b], formula.next_piece(), &mut inputs) {
                Some(next) => formula = next,
                None => break,
            }
            composed.reads.extend(inputs.into_iter().map(|(edge, instance)| ((b, edge), instance)));
            composed.conditions.push(formula.pc);
            composed.formulas.push(formula.clone());
        }
        composed
    }

    /// The formula of the path up to the end of a block.
    pub(crate) fn prefix(&self, terms: &mut Terms, block: usize) -> PathFormula {
        let mut formula = self.formulas[block].clone();
        formula.pc = terms.and_all(&self.conditions[..=block]);
        formula
    }

    /// The instances that a run may choose: start values and inputs.
    pub(crate) fn choices(&self, terms: &mut Terms) -> Vec<TermId> {
        self.symbols.iter().map(|&sym| terms.var(sym, 0)).chain(self.reads.values().copied()).collect()
    }

    /// The choices of a model.
    pub(crate) fn run(&self, terms: &Terms, path: &Path<'_>, model: &Model<'_>) -> Option<Run> {
        let initial = self.symbols.iter().map(|&sym| Some((sym, model.value(terms, sym, 0)?)));
        let inputs = self.reads.iter().map(|(&place, &instance)| {
            let Stmt::Havoc(_) = path.dag(place.0).edges[place.1].stmt else { unreachable!("only havocs have inputs") };
            Some((place, model.eval(terms, instance)?))
        });
        Some(Run { initial: initial.collect::<Option<_>>()?, inputs: inputs.collect::<Option<_>>()? })
    }
}

/// The choices that determine an execution.
pub(crate) struct Run {
    initial: Vec<(SymId, Value)>,
    inputs: BTreeMap<(usize, usize), Value>,
}

/// The state of a walk through a path, with enough to take steps back.
struct Walk<'a> {
    terms: &'a Terms,
    state: BTreeMap<SymId, Value>,
    steps: Vec<WitnessStep>,
    /// For each step, the variable that it wrote and its value before.
    undo: Vec<Option<(SymId, Value)>>,
}

impl Walk<'_> {
    fn value(&self, t: TermId) -> Value {
        self.terms.eval(t, &mut |sym, _| self.state[&sym].clone())
    }

    /// Takes an edge if its statement lets the present state pass.
    fn take(&mut self, block: usize, edge: usize, stmt: Stmt, input: Option<Value>) -> bool {
        let (written, input) = match stmt {
            Stmt::Skip => (None, None),
            Stmt::Assume(cond) if self.value(cond) == Value::Bool(true) => (None, None),
            Stmt::Assume(_) => return false,
            Stmt::Assign(sym, value) => (Some((sym, self.value(value))), None),
            // An edge without input was not passed by any path that the formula knows.
            Stmt::Havoc(sym) => match input {
                Some(value) => (Some((sym, value.clone())), Some(value)),
                None => return false,
            },
        };
        let old = written.map(|(sym, value)| (sym, self.state.insert(sym, value).expect("every variable has a value")));
        self.steps.push(WitnessStep { block, edge, input });
        self.undo.push(old);
        true
    }

    fn back(&mut self) {
        self.steps.pop();
        if let Some(Some((sym, old))) = self.undo.pop() {
            self.state.insert(sym, old);
        }
    }
}

impl Run {
    /// Executes the first `blocks` blocks of the path; where several edges can be taken, tries them in order.
    pub(crate) fn walk(&self, terms: &Terms, path: &Path<'_>, blocks: usize) -> Option<Witness> {
        let state = self.initial.iter().cloned().collect();
        let mut walk = Walk { terms, state, steps: Vec::new(), undo: Vec::new() };
        // For each step taken: block, node where it left, and the position among the node's out-edges to try next.
        let mut trail: Vec<(usize, u32, usize)> = Vec::new();
        let (mut block, mut node, mut next) = (0, 0, 0);
        for _ in 0..MAX_STEPS {
            while block < blocks && node == path.dag(block).nodes - 1 {
                (block, node, next) = (block + 1, 0, 0);
            }
            if block == blocks {
                return Some(Witness { steps: walk.steps, initial: self.initial.clone() });
            }
            let dag = path.dag(block);
            let outs = path.graphs[block].outs(node);
            let taken = (next..outs.len()).find(|&i| {
                let edge = outs[i] as usize;
                walk.take(block, edge, dag.edges[edge].stmt, self.inputs.get(&(block, edge)).cloned())
            });
            match taken {
                Some(i) => {
                    trail.push((block, node, i + 1));
                    (node, next) = (dag.edges[outs[i] as usize].to, 0);
                }
                None => {
                    (block, node, next) = trail.pop()?;
                    walk.back();
                }
            }
        }
        None
    }
}
