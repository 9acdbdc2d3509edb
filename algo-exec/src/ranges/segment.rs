// SPDX-License-Identifier: Apache-2.0
//! The part of a run with ranges from one head of a loop to the next ones, and by which variables states are kept apart.

use std::collections::{BTreeMap, BTreeSet};

use cfa::Program;
use cfa::ids::{EdgeId, NodeId, VarId};
use cfa::ir::{BinOp, ExprKind, HavocOrigin, Op};
use cpa_core::{Cx, Stop};

use super::boxes::{Input, InputBox};
use super::run::{Obstacle, Path, Runner};
use super::state::State;
use super::widening::Widening;

/// The states of one location from one head that are kept apart.
const APART: usize = 8;

/// The head of a loop, and the edges of the calls that are active.
pub(super) type Place = (Vec<EdgeId>, NodeId);
/// The values of variables by which states are kept apart, where they are known.
pub(super) type Flags = Vec<Option<i128>>;

/// Why there is no proof.
#[derive(Clone, Copy)]
pub(super) enum Missed {
    Target(NodeId),
    Undefined(NodeId),
    Unsupported(EdgeId),
}

/// Where paths from one place lead.
#[derive(Default)]
pub(super) struct Segment {
    pub(super) arrived: BTreeMap<Place, Vec<State>>,
    pub(super) missed: Option<Missed>,
    /// The inputs that `main` itself asked for, each of which at most once.
    pub(super) asked: BTreeSet<(Input, VarId)>,
    /// How many edges all paths have.
    pub(super) steps: u64,
}

impl Missed {
    /// What it is, for users.
    pub(super) fn text(self, program: &Program) -> String {
        match self {
            Missed::Target(node) => format!("ranges do not exclude the target at {}", program.place(node)),
            Missed::Undefined(node) => format!("an operation at {} may be undefined", program.place(node)),
            Missed::Unsupported(edge) => format!("edge {edge} cannot be run with ranges"),
        }
    }
}

/// Follows all paths from a point, with inputs in a box, to the next heads of loops; states with different values of `flags`
/// stay apart longest.
pub(super) fn follow(
    cx: &mut Cx,
    runner: &Runner<'_>,
    inputs: &InputBox,
    flags: &[VarId],
    first: Path,
) -> Result<Segment, Stop> {
    let program = runner.program;
    let mut queue = BTreeMap::from([(order(program, &first), vec![first])]);
    let mut segment = Segment::default();
    // All paths to a location are there when its turn comes, because only edges to heads lead backwards.
    while let Some((_, paths)) = queue.pop_first() {
        cx.check()?;
        for path in apart(program, flags, paths) {
            segment.steps += 1;
            let node = path.node;
            if runner.targets.contains(&node) {
                segment.missed = Some(Missed::Target(node));
                continue;
            }
            let next = match runner.step(inputs, path) {
                Ok(next) => next,
                Err(Obstacle::Undefined) => {
                    segment.missed = Some(Missed::Undefined(node));
                    continue;
                }
                Err(Obstacle::Unsupported(edge)) => {
                    segment.missed = Some(Missed::Unsupported(edge));
                    continue;
                }
            };
            for path in next {
                // In a function that is called more than once it might be another one next time.
                if path.calls.is_empty() {
                    let inputs = path.inputs().iter().filter(|((edge, _), _)| !is_uninitialised(program, *edge));
                    segment.asked.extend(inputs.copied());
                }
                let Path { node, calls, state, .. } = path;
                if program.loops.is_head(node) {
                    segment.arrived.entry((calls, node)).or_default().push(state);
                } else {
                    let path = Path::new(node, calls, state);
                    queue.entry(order(program, &path)).or_default().push(path);
                }
            }
        }
    }
    Ok(segment)
}

/// Whether an input is what a variable happens to hold.
fn is_uninitialised(program: &Program, edge: EdgeId) -> bool {
    matches!(program.edge(edge).op, Op::Havoc { origin: HavocOrigin::Uninitialised, .. })
}

/// The place of a path in the order in which locations are reached without going back to the head of a loop.
fn order(program: &Program, path: &Path) -> Vec<u32> {
    let calls = path.calls.iter().map(|&call| program.edge(call).src);
    calls.chain([path.node]).map(|node| program.node(node).rpo).collect()
}

/// Paths to one location: not too many. States with the same values of flags become one.
fn apart(program: &Program, flags: &[VarId], paths: Vec<Path>) -> Vec<Path> {
    if paths.len() <= APART {
        return paths;
    }
    let (node, calls) = (paths[0].node, paths[0].calls.clone());
    let states = paths.into_iter().map(|path| path.state).collect();
    let mut states: Vec<State> = grouped(program, flags, states).into_values().collect();
    if states.len() > APART {
        states = grouped(program, &[], states).into_values().collect();
    }
    states.into_iter().map(|state| Path::new(node, calls.clone(), state)).collect()
}

/// One state for all with the same values of some variables.
pub(super) fn grouped(program: &Program, vars: &[VarId], states: Vec<State>) -> BTreeMap<Flags, State> {
    let mut groups: BTreeMap<Flags, State> = BTreeMap::new();
    for state in states {
        let values = vars.iter().map(|&var| state.get(var).range.single()).collect();
        match groups.get_mut(&values) {
            Some(group) => group.unite(program, &state, Widening::None),
            None => {
                groups.insert(values, state);
            }
        }
    }
    groups
}

/// The variables that only take constants and truth values, also from each other, and `counting` by constants.
pub(super) fn flags(program: &Program, counting: bool) -> Vec<VarId> {
    let exprs = &program.exprs;
    let counted = |value| match exprs.get(value).kind {
        ExprKind::Binary(BinOp::Add | BinOp::Sub, from, step) if counting && exprs.as_const(step).is_some() => from,
        _ => value,
    };
    let mut is_flag: Vec<bool> = program.vars.iter().map(|var| var.float.is_none()).collect();
    loop {
        let mut dropped = false;
        let mut check = |is_flag: &mut Vec<bool>, var: VarId, value| {
            let good = match exprs.get(counted(value)).kind {
                ExprKind::Const(_) => true,
                ExprKind::Var(from) => is_flag[from.index()],
                _ => exprs.is_truth(value),
            };
            dropped |= !good && is_flag[var.index()];
            is_flag[var.index()] &= good;
        };
        for edge in &program.edges {
            match &edge.op {
                Op::Assign { var, value } => check(&mut is_flag, *var, *value),
                Op::Call { callee, args, .. } => {
                    for (&param, &arg) in program.func(*callee).params.iter().zip(args) {
                        check(&mut is_flag, param, arg);
                    }
                }
                _ => {}
            }
        }
        for edge in &program.edges {
            let (from, var) = match &edge.op {
                Op::Call { callee, result: Some(var), .. } => (program.func(*callee).ret, *var),
                // A declaration without a value.
                Op::Havoc { origin: HavocOrigin::Uninitialised, .. } => continue,
                Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. } => (None, *var),
                _ => continue,
            };
            let good = from.is_some_and(|from| is_flag[from.index()]);
            dropped |= !good && is_flag[var.index()];
            is_flag[var.index()] &= good;
        }
        if !dropped {
            break;
        }
    }
    let vars = (0..program.vars.len()).map(VarId::new);
    vars.filter(|var| is_flag[var.index()]).collect()
}
