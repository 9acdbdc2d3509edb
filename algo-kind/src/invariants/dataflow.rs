// SPDX-License-Identifier: Apache-2.0
//! A data-flow analysis over disjunctions of intervals with congruences, and orders of pairs of variables that were compared, in
//! every context of calls.
//!
//! Cousot, Cousot, *Abstract Interpretation* (1977), with widening at loop heads to thresholds from the program, and two
//! descending iterations. Loads from memory and floating-point numbers have any value. Calls are followed context by
//! context, so there is no recursion. The result is only proposed: the solver proves it again, with the exact meaning of
//! the program.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::rc::Rc;

use cfa::Program;
use cfa::ids::NodeId;
use cfa::ir::{ExprKind, Op, Scope};
use cpa_core::{Cx, Stop};

use super::env::{Env, Rules};
use super::value::Value;
use crate::cutpoints::Cutpoints;

/// How precise an analysis is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Precision {
    /// The greatest number of ranges of a value.
    pub(crate) pieces: usize,
    /// How often states are joined at a loop head before they are widened.
    pub(crate) delay: u32,
}

/// The precisions that are tried one after the other.
pub(crate) const PRECISIONS: [Precision; 2] = [Precision { pieces: 1, delay: 2 }, Precision { pieces: 12, delay: 30 }];

/// How many environments are propagated before the analysis gives up.
const MAX_WORK: u64 = 400_000;

/// A location in a context.
type Place = (usize, NodeId);

/// Environments at loop heads and other places where paths meet.
type States = BTreeMap<Place, Env>;

struct Analysis<'a> {
    program: &'a Program,
    cutpoints: &'a Cutpoints,
    targets: &'a BTreeSet<NodeId>,
    rules: Rules<'a>,
    precision: Precision,
    thresholds: Vec<i128>,
    /// The order of the contexts: the positions of their call sites.
    prefixes: Vec<Rc<[u32]>>,
    work: u64,
}

/// The environments at the cut points, in their order; none for those that are not reached. `None` if the analysis took too
/// long.
pub(crate) fn analyse(
    cx: &Cx,
    program: &Program,
    targets: &BTreeSet<NodeId>,
    cutpoints: &Cutpoints,
    precision: Precision,
) -> Result<Option<Vec<Option<Env>>>, Stop> {
    let rules = Rules { program, pieces: precision.pieces };
    let mut prefixes: Vec<Rc<[u32]>> = Vec::new();
    for context in &cutpoints.contexts {
        let prefix = match (context.parent, context.calls.last()) {
            (Some(parent), Some(&call)) => {
                let site = program.node(program.edge(call).src).rpo;
                prefixes[parent].iter().copied().chain([site]).collect()
            }
            _ => Rc::from([]),
        };
        prefixes.push(prefix);
    }
    let thresholds = thresholds(program);
    let mut analysis = Analysis { program, cutpoints, targets, rules, precision, thresholds, prefixes, work: 0 };
    let Some(mut states) = analysis.ascend(cx)? else { return Ok(None) };
    for _ in 0..2 {
        let Some(next) = analysis.descend(cx, &states)? else { break };
        let stable = next == states;
        states = next;
        if stable {
            break;
        }
    }
    let numbers: BTreeMap<&[cfa::EdgeId], usize> =
        cutpoints.contexts.iter().enumerate().map(|(at, context)| (&*context.calls, at)).collect();
    let at = |point: &crate::cutpoints::Cutpoint| states.get(&(numbers[&*point.calls], point.head)).cloned();
    Ok(Some(cutpoints.points().iter().map(at).collect()))
}

/// Constants of the program and their neighbours.
fn thresholds(program: &Program) -> Vec<i128> {
    let mut found: BTreeSet<i128> = BTreeSet::from([-1, 0, 1]);
    for id in program.exprs.ids() {
        if let ExprKind::Const(value) = program.exprs.get(id).kind {
            found.extend([value - 1, value, value + 1]);
        }
    }
    found.into_iter().collect()
}

impl Analysis<'_> {
    /// Whether environments are kept at a node: where paths meet, at loop heads, and where calls come in or return.
    fn is_stored(&self, node: NodeId) -> bool {
        let data = self.program.node(node);
        match *data.entering.as_slice() {
            [edge] => self.program.loops.is_head(node) || matches!(self.program.edge(edge).op, Op::Call { .. }),
            _ => true,
        }
    }

    fn start(&self) -> States {
        BTreeMap::from([((0, self.program.entry), Env::default())])
    }

    /// Iterates with widening until nothing changes.
    fn ascend(&mut self, cx: &Cx) -> Result<Option<States>, Stop> {
        let mut states = self.start();
        let mut visits: BTreeMap<Place, u32> = BTreeMap::new();
        let mut waiting: BTreeSet<Place> = BTreeSet::new();
        let mut queue = BinaryHeap::new();
        let key = |analysis: &Self, place: Place| {
            let prefix = analysis.prefixes[place.0].iter().copied();
            Reverse((prefix.chain([analysis.program.node(place.1).rpo]).collect::<Vec<u32>>(), place))
        };
        for &place in states.keys() {
            waiting.insert(place);
            queue.push(key(self, place));
        }
        while let Some(Reverse((_, place))) = queue.pop() {
            if !waiting.remove(&place) {
                continue;
            }
            cx.check()?;
            if self.work > MAX_WORK {
                return Ok(None);
            }
            let mut arrived = Vec::new();
            self.flow(place, states[&place].clone(), &mut |to, env| arrived.push((to, env)));
            for (to, env) in arrived {
                let new = match states.get(&to) {
                    None => Some(env),
                    Some(old) if env.leq(old) => None,
                    Some(old) => Some(self.grown(old, &env, to, &mut visits)),
                };
                if let Some(new) = new {
                    states.insert(to, new);
                    if waiting.insert(to) {
                        queue.push(key(self, to));
                    }
                }
            }
        }
        Ok(Some(states))
    }

    /// The environment of a place that is reached with another one.
    fn grown(&self, old: &Env, new: &Env, place: Place, visits: &mut BTreeMap<Place, u32>) -> Env {
        if !self.program.loops.is_head(place.1) {
            return self.rules.join(old, new);
        }
        let count = visits.entry(place).or_insert(0);
        *count += 1;
        if *count <= self.precision.delay {
            return self.rules.join(old, new);
        }
        let pieces = (*count <= 2 * self.precision.delay).then_some(self.precision.pieces);
        old.combine(new, self.program, |a, b, ty| a.widen(b, &self.thresholds, ty, pieces))
    }

    /// One step of the descending iteration; none if that does not lead to smaller environments.
    fn descend(&mut self, cx: &Cx, states: &States) -> Result<Option<States>, Stop> {
        let mut next = self.start();
        for (&place, env) in states {
            cx.check()?;
            let rules = self.rules;
            self.flow(place, env.clone(), &mut |to, env| {
                let joined = match next.get(&to) {
                    Some(known) => rules.join(known, &env),
                    None => env,
                };
                next.insert(to, joined);
            });
        }
        let smaller = next.iter().all(|(place, env)| states.get(place).is_some_and(|old| env.leq(old)));
        Ok(smaller.then_some(next))
    }

    /// Follows all paths from a place to the next ones where environments are kept.
    fn flow(&mut self, place: Place, env: Env, arrive: &mut dyn FnMut(Place, Env)) {
        let mut stack = vec![(place, env)];
        let mut first = true;
        while let Some(((context, node), env)) = stack.pop() {
            if !std::mem::take(&mut first) && self.is_stored(node) {
                arrive((context, node), env);
                continue;
            }
            self.work += 1;
            if self.targets.contains(&node) || !self.cutpoints.relevant.contains(&node) {
                continue;
            }
            let data = &self.cutpoints.contexts[context];
            if let (Some(parent), Some(&call)) = (data.parent, data.calls.last())
                && self.program.func(data.func).body.is_some_and(|body| body.exit == node)
            {
                let env = self.returned(env, context);
                stack.push(((parent, self.program.edge(call).dst), env));
                continue;
            }
            for &edge in &self.program.node(node).leaving {
                if let Some((context, env)) = self.step(&env, context, edge) {
                    let to = match self.program.edge(edge).op {
                        Op::Call { callee, .. } => self.program.func(callee).body.map(|body| body.entry),
                        _ => Some(self.program.edge(edge).dst),
                    };
                    stack.extend(to.map(|to| ((context, to), env)));
                }
            }
        }
    }

    /// What an edge does; for a call the environment at the entry of the callee.
    fn step(&self, env: &Env, context: usize, edge: cfa::EdgeId) -> Option<(usize, Env)> {
        let (program, rules) = (self.program, &self.rules);
        let mut next = match &program.edge(edge).op {
            Op::Assume { cond, truth } => return Some((context, rules.assume(env, *cond, *truth)?)),
            Op::Unsupported { .. } => return None,
            _ => env.clone(),
        };
        match &program.edge(edge).op {
            Op::Assign { var, value } => next.set(program, *var, rules.eval(env, *value)),
            Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. } => next.forget(*var),
            Op::Call { callee, args, .. } => {
                let child = *self.cutpoints.contexts[context].children.get(&edge)?;
                for (&param, &arg) in program.func(*callee).params.iter().zip(args) {
                    next.set(program, param, rules.eval(env, arg));
                }
                return Some((child, next));
            }
            _ => {}
        }
        Some((context, next))
    }

    /// The environment behind a call.
    fn returned(&self, mut env: Env, context: usize) -> Env {
        let program = self.program;
        let data = &self.cutpoints.contexts[context];
        let call = data.calls.last().map(|&call| &program.edge(call).op);
        let value: Option<Value> = program.func(data.func).ret.map(|ret| env.get(program, ret));
        let locals: Vec<_> =
            env.iter().map(|(var, _)| var).filter(|&var| program.var(var).scope == Scope::Local(data.func)).collect();
        locals.into_iter().for_each(|var| env.forget(var));
        if let (Some(Op::Call { result: Some(result), .. }), Some(value)) = (call, value) {
            env.set(program, *result, value);
        }
        env
    }
}
