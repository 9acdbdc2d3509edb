// SPDX-License-Identifier: Apache-2.0
//! Calls of recursive functions in concrete runs with random inputs: a candidate that one of them refutes need not be tried, and
//! equations that hold for all of them are good candidates.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use algo_kind::inputs::RandomInputs;
use cfa::Program;
use cfa::ids::{FuncId, NodeId};
use cfa::machine::{Code, Machine, Setup, Storage};
use cpa_core::{Cx, Stop};

use crate::signature::{Atom, Signature};

/// How many runs are made.
const RUNS: u32 = 240;
/// How many jumps backwards and calls a run has.
const JUMPS: u32 = 3_000;
/// After how many runs the limits are checked.
const CHECK: u32 = 8;
/// How many calls are kept for a function, and how many of them may come from one run.
const KEPT: usize = 400;
const KEPT_OF_RUN: usize = 40;
/// Bytes of memory that a run may use.
const MAX_BYTES: usize = 1 << 20;

/// One call of a function: the values of its atoms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Activation {
    pub(crate) before: Vec<i128>,
    /// None if the run ended before it returned.
    pub(crate) after: Option<Vec<i128>>,
}

/// Calls of each function.
pub(crate) type Activations = BTreeMap<FuncId, Vec<Activation>>;

/// Calls of the functions with signatures in some runs.
pub(crate) fn activations(
    cx: &Cx,
    program: &Program,
    targets: &BTreeSet<NodeId>,
    signatures: &BTreeMap<FuncId, Signature>,
) -> Result<Activations, Stop> {
    let mut found: Activations = signatures.keys().map(|&func| (func, Vec::new())).collect();
    let mut ends: BTreeMap<NodeId, (FuncId, bool)> = BTreeMap::new();
    for &func in signatures.keys() {
        let body = program.func(func).body.expect("recursive functions have bodies");
        ends.extend([(body.exit, (func, false)), (body.entry, (func, true))]);
    }
    let pauses = ends.keys().copied().collect();
    let setup = Setup { pauses: &pauses, ..Setup::new(targets, Storage::Inputs) };
    // A program with too many variables for the machine has no samples.
    let Ok(code) = Code::new(program, &setup) else { return Ok(found) };
    let mut machine = Machine::new(Rc::new(code), MAX_BYTES);
    let mut inputs = RandomInputs::new(program);
    for number in 0..RUNS {
        if number % CHECK == 0 {
            cx.check()?;
        }
        machine.reset();
        inputs.next_run(false);
        let look = |machine: &Machine, atoms: &[Atom]| -> Vec<i128> {
            atoms.iter().map(|atom| machine.variable(program, atom.var).unwrap_or(0)).collect()
        };
        let mut open: Vec<(FuncId, Vec<i128>)> = Vec::new();
        let mut kept: BTreeMap<FuncId, usize> = BTreeMap::new();
        let mut keep = |func: FuncId, activation: Activation| {
            let (list, kept) = (found.entry(func).or_default(), kept.entry(func).or_default());
            if *kept < KEPT_OF_RUN && list.len() < KEPT && !list.contains(&activation) {
                *kept += 1;
                list.push(activation);
            }
        };
        for _ in 0..JUMPS {
            if machine.run(&mut inputs, 0).is_some() {
                break;
            }
            let Some(&(func, enters)) = machine.pause().and_then(|node| ends.get(&node)) else { continue };
            if enters {
                open.push((func, look(&machine, &signatures[&func].before)));
            } else if let Some((called, before)) = open.pop()
                && called == func
            {
                keep(func, Activation { before, after: Some(look(&machine, &signatures[&func].after)) });
            }
        }
        // The outermost calls are those that differ most from what returned.
        for (func, before) in open {
            keep(func, Activation { before, after: None });
        }
    }
    Ok(found)
}
