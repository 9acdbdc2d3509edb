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
use crate::solver::{CheckResult, Limits, Solver};
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
    let mut formula = PathFormula::empty();
    let mut conditions = Vec::with_capacity(path.len());
    let mut reads: BTreeMap<(usize, usize), TermId> = BTreeMap::new();
    for b in 0..path.len() {
        let mut inputs = Vec::new();
        match extend(terms, path.dag(b), &path.graphs[b], formula.next_piece(), &mut inputs) {
            Some(next) => formula = next,
            None => return Feasibility::Infeasible,
        }
        reads.extend(inputs.into_iter().map(|(edge, instance)| ((b, edge), instance)));
        conditions.push(formula.pc);
    }
    let symbols = path.symbols(terms);
    solver.push();
    for &condition in &conditions {
        solver.assert(terms, condition);
    }
    let values = match solver.check(terms, &[], limits) {
        CheckResult::Unsat(_) => Err(Feasibility::Infeasible),
        CheckResult::Unknown(why) => Err(Feasibility::Unknown(why)),
        CheckResult::Sat(model) => {
            let initial: Option<Vec<(SymId, Value)>> =
                symbols.iter().map(|&sym| Some((sym, model.value(terms, sym, 0)?))).collect();
            let inputs: Option<BTreeMap<(usize, usize), Value>> =
                reads.iter().map(|(&place, &instance)| Some((place, model.eval(terms, instance)?))).collect();
            match (initial, inputs) {
                (Some(initial), Some(inputs)) => Ok((initial, inputs)),
                _ => Err(Feasibility::Unknown("a value of the model does not fit into 128 bits".to_owned())),
            }
        }
    };
    solver.pop();
    match values {
        Err(answer) => answer,
        Ok((initial, inputs)) => match walk(terms, path, &initial, &inputs) {
            Some(steps) => Feasibility::Feasible(Witness { steps, initial }),
            None => Feasibility::Unknown("the model of the path formula does not lead through the path".to_owned()),
        },
    }
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
        self.terms.eval(t, &mut |sym, _| self.state[&sym])
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
                Some(value) => (Some((sym, value)), Some(value)),
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

/// Executes the path; where several edges can be taken, tries them in order.
fn walk(
    terms: &Terms,
    path: &Path<'_>,
    initial: &[(SymId, Value)],
    inputs: &BTreeMap<(usize, usize), Value>,
) -> Option<Vec<WitnessStep>> {
    let mut walk =
        Walk { terms, state: initial.iter().copied().collect(), steps: Vec::new(), undo: Vec::new() };
    // For each step taken: block, node where it left, and the position among the node's out-edges to try next.
    let mut trail: Vec<(usize, u32, usize)> = Vec::new();
    let (mut block, mut node, mut next) = (0, 0, 0);
    for _ in 0..MAX_STEPS {
        while block < path.len() && node == path.dag(block).nodes - 1 {
            (block, node, next) = (block + 1, 0, 0);
        }
        if block == path.len() {
            return Some(walk.steps);
        }
        let dag = path.dag(block);
        let outs = path.graphs[block].outs(node);
        let taken = (next..outs.len()).find(|&i| {
            let edge = outs[i] as usize;
            walk.take(block, edge, dag.edges[edge].stmt, inputs.get(&(block, edge)).copied())
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
