// SPDX-License-Identifier: Apache-2.0
//! Concrete executions of the beginning of an infeasible path, as a source of guesses.
//!
//! What holds in a few executions is no fact, but a good guess of one; whatever is built on it is checked. The values of
//! variables and inputs are small and different where the path allows that, so that chance agreement is rare.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::engine::Task;
use super::feasible::Composed;
use super::query::Witness;
use crate::path::Stmt;
use crate::solver::CheckResult;
use crate::term::{Sort, SymId, TermId, Value};

/// The number of executions asked for.
const SAMPLES: usize = 4;

/// Rounds of giving up wishes that the path does not allow.
const ROUNDS: usize = 6;

/// The wishes are guarded by instances of this symbol.
const WISH: &str = "wish!";

/// The values of the variables at some point.
pub(crate) type State = BTreeMap<SymId, Value>;

/// Executions of the first blocks of a path.
#[derive(Default)]
pub(crate) struct Samples {
    runs: Vec<Witness>,
}

impl Samples {
    /// The samples of a task, made when they are first asked for.
    pub(crate) fn of(task: &mut Task<'_>) -> Rc<Self> {
        if let Some(samples) = &task.found.samples {
            return Rc::clone(samples);
        }
        let samples = Rc::new(Samples::new(task));
        task.found.samples = Some(Rc::clone(&samples));
        samples
    }

    /// Executions of as many blocks as have one, but for the last.
    fn new(task: &mut Task<'_>) -> Self {
        let composed = Composed::new(task.terms, task.path);
        // All blocks but the last have executions as a rule; if not, a binary search for how many do.
        let (mut few, mut many) = (0, composed.conditions.len().min(task.path.len() - 1));
        let (mut best, mut next) = (Vec::new(), many);
        for _ in 0..5 {
            if few == many {
                break;
            }
            let found = runs(task, &composed, next);
            if found.is_empty() {
                many = next - 1;
            } else {
                (few, best) = (next, found);
            }
            next = (few + many).div_ceil(2);
        }
        Samples { runs: best }
    }
    /// Calls `at_edge` for every edge that leaves a node which an execution passes, with the block, the edge and the state;
    /// and `at_cut` for every cut that is reached. Executions go on behind their end as far as they can.
    pub(crate) fn replay(
        &self,
        task: &Task<'_>,
        mut at_edge: impl FnMut(usize, u32, &State),
        mut at_cut: impl FnMut(usize, &State),
    ) {
        let path = task.path;
        for run in &self.runs {
            let mut state: State = run.initial.iter().cloned().collect();
            let mut steps = run.steps.iter();
            let (mut block, mut node) = (0, 0);
            while block < path.len() {
                let dag = path.dag(block);
                if node == dag.nodes - 1 {
                    if block < path.len() - 1 {
                        at_cut(block, &state);
                    }
                    (block, node) = (block + 1, 0);
                    continue;
                }
                let outs = path.graphs[block].outs(node);
                for &e in outs {
                    at_edge(block, e, &state);
                }
                let value = |t: TermId| task.terms.eval(t, &mut |sym, _| state[&sym].clone());
                let (edge, input) = match steps.next() {
                    Some(step) => (step.edge as u32, step.input.clone()),
                    None => {
                        let open = outs.iter().find(|&&e| match dag.edges[e as usize].stmt {
                            Stmt::Assume(cond) => value(cond) == Value::Bool(true),
                            Stmt::Skip | Stmt::Assign(..) => true,
                            Stmt::Havoc(_) => false,
                        });
                        match open {
                            Some(&e) => (e, None),
                            None => break,
                        }
                    }
                };
                let written = match dag.edges[edge as usize].stmt {
                    Stmt::Skip | Stmt::Assume(_) => None,
                    Stmt::Assign(sym, t) => Some((sym, value(t))),
                    Stmt::Havoc(sym) => input.map(|v| (sym, v)),
                };
                state.extend(written);
                node = dag.edges[edge as usize].to;
            }
        }
    }
}

/// A few executions of the first blocks.
fn runs(task: &mut Task<'_>, composed: &Composed, blocks: usize) -> Vec<Witness> {
    let choices = composed.choices(task.terms);
    task.solver.push();
    for &condition in &composed.conditions[..blocks] {
        task.solver.assert(task.terms, condition);
    }
    let mut found = Vec::new();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let guard = task.terms.symbol(WISH, Sort::Bool);
    for sample in 0..SAMPLES {
        let mut wishes = Vec::with_capacity(choices.len());
        for (i, &choice) in choices.iter().enumerate() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = u128::from((seed >> 33) % 64) + (i % 16) as u128 + 1;
            let Some(value) = value(task, choice, number) else { continue };
            let equal = task.terms.eq(choice, value);
            let literal = task.terms.var(guard, u32::try_from(sample * choices.len() + i + 1).unwrap_or(0));
            let wish = task.terms.implies(literal, equal);
            task.solver.assert(task.terms, wish);
            wishes.push(literal);
        }
        for _ in 0..ROUNDS {
            match task.solver.check(task.terms, &wishes, task.attempt) {
                CheckResult::Sat(model) => {
                    let run = composed.run(task.terms, task.path, &model);
                    found.extend(run.and_then(|run| run.walk(task.terms, task.path, blocks)));
                    break;
                }
                CheckResult::Unsat(core) if core.is_empty() => break,
                CheckResult::Unsat(core) => {
                    let mut i = 0;
                    wishes.retain(|_| {
                        i += 1;
                        !core.contains(i - 1)
                    });
                }
                CheckResult::Unknown(_) => break,
            }
        }
        if found.is_empty() {
            break;
        }
    }
    task.solver.pop();
    found
}

/// A constant of the variable's sort.
fn value(task: &mut Task<'_>, var: TermId, number: u128) -> Option<TermId> {
    match task.terms.sort(var) {
        Sort::Bool | Sort::Array { .. } => None,
        Sort::Bv(width) => Some(task.terms.bv(width, number)),
        Sort::Int => {
            let (sym, _) = task.terms.as_var(var)?;
            let (lo, hi) = task.terms.symbol_bounds(sym).unwrap_or((0, i128::MAX));
            // Within the bounds, and far from them where there is room.
            Some(task.terms.int((number as i128).clamp(lo, hi)))
        }
    }
}
