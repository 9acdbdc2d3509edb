// SPDX-License-Identifier: Apache-2.0
//! From a model of a path formula to the run of the program that it describes.
//!
//! Branching is deterministic, so a model drives exactly one path through the unrolled program. It is found backwards from
//! the target: of the steps that lead to a state, one has a path condition that holds.

use cfa::ir::Op;
use cpa_core::{ArgId, Counterexample, Step, Stop};
use cpa_predicate::Manager;
use rustc_hash::FxHashMap;
use smt::solver::Model;
use smt::{TermId, Terms, Value};

use crate::unrolling::Unrolling;

/// A step into a state on some path to the target.
struct Arrival {
    from: ArgId,
    step: Step,
    /// Position of the condition for the path with this step among the evaluated terms.
    condition: usize,
    /// Position of the value that the step takes as input.
    input: Option<usize>,
}

/// The run to one of `targets` that the model describes, if it describes one.
pub fn trace(
    manager: &mut Manager,
    unrolling: &Unrolling,
    targets: &[ArgId],
    model: &Model<'_>,
) -> Result<Option<(ArgId, Counterexample)>, Stop> {
    let arg = unrolling.arg();
    let conditions: Vec<TermId> = targets.iter().map(|&id| unrolling.condition(id)).collect();
    let Some(values) = model.values(&manager.terms, &conditions) else { return Ok(None) };
    let Some(reached) = values.iter().position(|value| *value == Value::Bool(true)) else { return Ok(None) };
    let target = targets[reached];
    let ancestors = arg.ancestors(target);
    let mut roots: Vec<TermId> = Vec::new();
    let mut arrivals: FxHashMap<ArgId, Vec<Arrival>> = FxHashMap::default();
    for &id in &ancestors {
        let mut list = Vec::new();
        for &(from, step) in arg.parents(id) {
            let path = unrolling.state(from).follow(manager, step)?;
            let condition = roots.len();
            roots.push(path.pc);
            let mut input = None;
            if let Op::Havoc { var, .. } = arg_edge(unrolling, step) {
                input = Some(roots.len());
                let symbol = manager.encoder.symbol(&mut manager.terms, *var);
                roots.push(path.value(&mut manager.terms, symbol));
            }
            list.push(Arrival { from, step, condition, input });
        }
        arrivals.insert(id, list);
    }
    let Some(values) = model.values(&manager.terms, &roots) else { return Ok(None) };
    let mut backwards: Vec<(Step, Option<Value>)> = Vec::new();
    let mut node = target;
    while Some(node) != arg.root() {
        let taken = arrivals[&node].iter().find(|arrival| values[arrival.condition] == Value::Bool(true));
        let Some(arrival) = taken else { return Ok(None) };
        backwards.push((arrival.step, arrival.input.map(|input| values[input].clone())));
        node = arrival.from;
    }
    let (mut steps, mut inputs) = (Vec::new(), Vec::new());
    for (index, (step, input)) in backwards.into_iter().rev().enumerate() {
        steps.push(step);
        if let (Some(value), Op::Havoc { var, .. }) = (input, arg_edge(unrolling, step)) {
            let ty = unrolling.program().vars[var.index()].ty;
            inputs.push((index, manager.encoder.integer(value, ty)));
        }
    }
    let initial = |terms: &Terms, symbol| model.value(terms, symbol, 0);
    let run = manager.encoder.counterexample(&mut manager.terms, steps, &inputs, &initial);
    Ok(Some((target, run)))
}

fn arg_edge(unrolling: &Unrolling, step: Step) -> &Op {
    &unrolling.program().edges[step.edge().index()].op
}
