// SPDX-License-Identifier: Apache-2.0
//! Values of the variables at cut points in concrete runs with random inputs.
//!
//! A candidate that some run refutes need not be tried, and equations that hold in all runs are good candidates. Runs end at
//! operations on memory: what was seen until then is as good.

use std::collections::BTreeSet;

use cfa::Program;
use cfa::eval::eval;
use cfa::ids::{EdgeId, ExprId, NodeId, VarId};
use cfa::ir::{ExprKind, Op};
use rustc_hash::FxHashMap;

use crate::cutpoints::Cutpoints;

/// Values of variables; those that are not there were not written.
pub(crate) type Sample = FxHashMap<VarId, i128>;

/// How many runs are made.
const RUNS: u32 = 400;
/// How many steps a run has.
const STEPS: u32 = 1500;
/// How many samples are kept for a cut point.
const KEPT: usize = 60;

/// The samples for each cut point.
pub(crate) fn samples(program: &Program, targets: &BTreeSet<NodeId>, cutpoints: &Cutpoints) -> Vec<Vec<Sample>> {
    let mut samples = vec![Vec::new(); cutpoints.points().len()];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut interesting: Vec<i128> = vec![0, 1, -1, 2];
    for id in program.exprs.ids() {
        if let ExprKind::Const(value) = program.exprs.get(id).kind {
            interesting.extend([value, value + 1]);
        }
    }
    for number in 0..RUNS {
        let mut run = Run {
            program,
            targets,
            node: program.entry,
            calls: Vec::new(),
            values: Sample::default(),
            random: &mut random,
            interesting: &interesting,
            // Small inputs lead into loops and out of them; large ones show what overflows.
            spread: 1 << (number % 12),
        };
        let mut visits = 0;
        for _ in 0..STEPS {
            if program.loops.is_head(run.node)
                && let Some(number) = cutpoints.number(run.calls.clone(), run.node)
            {
                let list: &mut Vec<Sample> = &mut samples[number];
                // The first visits of each run, and later ones now and then.
                visits += 1;
                if list.len() < KEPT && (visits < 6 || visits % 7 == 0) && !list.contains(&run.values) {
                    list.push(run.values.clone());
                }
            }
            if run.step().is_none() {
                break;
            }
        }
    }
    samples
}

/// A xorshift generator, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }
}

struct Run<'a> {
    program: &'a Program,
    targets: &'a BTreeSet<NodeId>,
    node: NodeId,
    calls: Vec<EdgeId>,
    values: Sample,
    random: &'a mut Random,
    interesting: &'a [i128],
    spread: u64,
}

impl Run<'_> {
    /// One step; none where the run ends.
    fn step(&mut self) -> Option<()> {
        if self.targets.contains(&self.node) {
            return None;
        }
        let node = self.program.node(self.node);
        if let Some(&call) = self.calls.last()
            && self.program.func(node.func).body.is_some_and(|body| body.exit == self.node)
        {
            let edge = self.program.edge(call);
            if let Op::Call { callee, result: Some(result), .. } = edge.op {
                let value = self.program.func(callee).ret.and_then(|ret| self.values.get(&ret).copied())?;
                self.values.insert(result, value);
            }
            self.calls.pop();
            self.node = edge.dst;
            return Some(());
        }
        for &id in &node.leaving {
            let edge = self.program.edge(id);
            match &edge.op {
                Op::Skip => {}
                Op::Assume { cond, truth } => {
                    if (self.eval(*cond)? != 0) != *truth {
                        continue;
                    }
                }
                Op::Assign { var, value } => {
                    let value = self.eval(*value)?;
                    self.values.insert(*var, value);
                }
                Op::Havoc { var, .. } => {
                    let value = self.input(*var);
                    self.values.insert(*var, value);
                }
                Op::Call { callee, args, .. } => {
                    let values: Vec<i128> = args.iter().map(|&arg| self.eval(arg)).collect::<Option<_>>()?;
                    let callee = self.program.func(*callee);
                    self.values.extend(callee.params.iter().copied().zip(values));
                    self.calls.push(id);
                    self.node = callee.body?.entry;
                    return Some(());
                }
                _ => return None,
            }
            self.node = edge.dst;
            return Some(());
        }
        None
    }

    fn eval(&self, id: ExprId) -> Option<i128> {
        let mut known = true;
        let value = eval(&self.program.exprs, id, &mut |var| {
            self.values.get(&var).copied().unwrap_or_else(|| {
                known = false;
                0
            })
        });
        value.ok().filter(|_| known)
    }

    fn input(&mut self, var: VarId) -> i128 {
        let ty = self.program.var(var).ty;
        let value = match self.random.below(8) {
            0 => self.interesting[self.random.below(self.interesting.len() as u64) as usize],
            1 => -i128::from(self.random.below(self.spread)),
            _ => i128::from(self.random.below(self.spread + 1)),
        };
        ty.wrap(value)
    }
}
