// SPDX-License-Identifier: Apache-2.0
//! One run with ranges of inputs: all paths that executions with such inputs may take.

use std::collections::BTreeSet;

use cfa::Program;
use cfa::ids::{EdgeId, ExprId, NodeId, VarId};
use cfa::ir::Op;

use super::boxes::{Input, InputBox};
use super::state::{Sources, State, Value, any};
use super::value::{MayBeUndefined, Range};

/// How many edges all paths of a run have together.
const STEPS: u32 = 20_000;
/// How often a thorough run may divide.
const FORKS: u32 = 300;
/// How often a quick run may divide, more often the more its inputs were divided before: what is wide is better divided
/// than looked at for long.
const QUICK_FORKS: u32 = 4;
/// How many edges the part before the first input may have.
const LONGEST_BEGINNING: u32 = 100_000;

/// What a run shows.
pub(crate) enum Found {
    /// No execution with these inputs reaches a target.
    Nothing,
    /// All executions with these inputs reach the target.
    Target(NodeId, Asked),
    /// Some may reach a target.
    Maybe(Asked),
    /// It takes too long, or something undefined may happen.
    Unclear(Asked),
    /// A construct is not supported.
    Unsupported(EdgeId),
}

/// The inputs that a path asks for.
pub(crate) struct Asked {
    /// Those that tell executions on this path from others.
    pub(crate) deciding: Vec<(Input, VarId)>,
    /// All of them.
    pub(crate) inputs: Vec<(Input, VarId)>,
}

/// A path.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) node: NodeId,
    /// The edges of the calls that are active.
    pub(crate) calls: Vec<EdgeId>,
    pub(crate) state: State,
    inputs: Vec<(Input, VarId)>,
    /// Whether other executions with these inputs may have taken another one.
    forked: bool,
    /// The inputs that decide whether they have.
    sources: Sources,
}

impl Path {
    /// A path that begins here.
    pub(crate) fn new(node: NodeId, calls: Vec<EdgeId>, state: State) -> Self {
        Path { node, calls, state, inputs: Vec::new(), forked: false, sources: Sources::default() }
    }

    /// The inputs that it asked for.
    pub(crate) fn inputs(&self) -> &[(Input, VarId)] {
        &self.inputs
    }

    fn asked(self) -> Asked {
        asked(self.inputs, self.sources)
    }
}

fn asked(inputs: Vec<(Input, VarId)>, sources: Sources) -> Asked {
    let all = inputs.iter().enumerate();
    let deciding = all.filter(|(position, _)| sources.contains(*position)).map(|(_, &input)| input).collect();
    Asked { deciding, inputs }
}

/// Why a path cannot be followed.
pub(crate) enum Obstacle {
    /// An operation may be undefined.
    Undefined,
    /// A construct is not supported.
    Unsupported(EdgeId),
}

impl From<MayBeUndefined> for Obstacle {
    fn from(_: MayBeUndefined) -> Self {
        Obstacle::Undefined
    }
}

/// Runs a program.
pub(crate) struct Runner<'a> {
    pub(crate) program: &'a Program,
    pub(crate) targets: &'a BTreeSet<NodeId>,
    /// The locations from which a target can be reached.
    pub(crate) relevant: &'a BTreeSet<NodeId>,
    /// The variables of functions.
    pub(crate) locals: &'a [Vec<VarId>],
}

/// The part before the first input, which all runs have in common.
pub(crate) struct Beginning(pub(crate) Path);

impl Runner<'_> {
    /// Goes on to the first input, as far as that is simple.
    pub(crate) fn beginning(&self) -> Beginning {
        let start = || Path::new(self.program.entry, Vec::new(), State::new(self.program));
        let simple =
            |op: &Op| matches!(op, Op::Skip | Op::Assign { .. } | Op::Load { .. } | Op::Store { .. } | Op::Zero { .. });
        let mut path = start();
        for _ in 0..LONGEST_BEGINNING {
            let [edge] = self.program.node(path.node).leaving[..] else { break };
            if self.targets.contains(&path.node) || !simple(&self.program.edge(edge).op) {
                break;
            }
            match self.step(&InputBox::default(), path).map(|mut next| (next.pop(), next.len())) {
                Ok((Some(next), 0)) => path = next,
                _ => return Beginning(start()),
            }
        }
        Beginning(path)
    }

    /// Follows all paths with inputs in the box, unless there are too many of them.
    pub(crate) fn run(&self, beginning: &Beginning, inputs: &InputBox, thorough: bool) -> Found {
        let mut open = vec![beginning.0.clone()];
        let (mut steps, mut forks) = (0, 0);
        let most_forks = if thorough { FORKS } else { FORKS.min(QUICK_FORKS + inputs.divisions() / 2) };
        while let Some(path) = open.pop() {
            if self.targets.contains(&path.node) {
                return match path.forked {
                    true => Found::Maybe(path.asked()),
                    false => Found::Target(path.node, path.asked()),
                };
            }
            steps += 1;
            if steps > STEPS || forks > most_forks {
                return Found::Unclear(path.asked());
            }
            let (inputs_before, sources) = (path.inputs.clone(), path.sources);
            match self.step(inputs, path) {
                Ok(mut next) => {
                    if next.len() > 1 {
                        forks += 1;
                        next.iter_mut().for_each(|path| path.forked = true);
                    }
                    open.append(&mut next);
                }
                Err(Obstacle::Undefined) => return Found::Unclear(asked(inputs_before, sources)),
                Err(Obstacle::Unsupported(edge)) => return Found::Unsupported(edge),
            }
        }
        Found::Nothing
    }

    /// The next points of a path.
    pub(crate) fn step(&self, inputs: &InputBox, mut path: Path) -> Result<Vec<Path>, Obstacle> {
        let program = self.program;
        if !self.relevant.contains(&path.node) {
            return Ok(Vec::new());
        }
        let Some(&first) = program.node(path.node).leaving.first() else { return Ok(self.leave(path)) };
        let edge = program.edge(first);
        match &edge.op {
            Op::Assume { .. } => return self.branch(path),
            // What comes back to itself reaches nothing.
            Op::Skip if edge.dst == path.node => return Ok(Vec::new()),
            Op::Skip | Op::Free { .. } => {}
            Op::Assign { var, value } => {
                return self.with_values(path, &[*value], |path, values| {
                    path.state.set(*var, values[0]);
                    path.node = edge.dst;
                });
            }
            Op::Havoc { var, .. } => {
                let count = path.inputs.iter().filter(|((asked, _), _)| *asked == first).count();
                let input = (first, u32::try_from(count).unwrap_or(u32::MAX));
                path.inputs.push((input, *var));
                let sources = Sources::input(path.inputs.len() - 1);
                path.state.set(*var, Value { sources, ..Value::free(inputs.range(program, input, *var)) });
            }
            Op::Call { callee, args, .. } => {
                let function = program.func(*callee);
                let active = |call: &EdgeId| matches!(program.edge(*call).op, Op::Call { callee: other, .. } if other == *callee);
                // A second instance would need variables of its own.
                let Some(body) = function.body.filter(|_| *callee != program.main && !path.calls.iter().any(active))
                else {
                    return Err(Obstacle::Unsupported(first));
                };
                return self.with_values(path, args, |path, values| {
                    for &local in &self.locals[callee.index()] {
                        path.state.set(local, Value::free(any(program, local)));
                    }
                    for (&param, &value) in function.params.iter().zip(values) {
                        path.state.set(param, value);
                    }
                    path.calls.push(first);
                    path.node = body.entry;
                });
            }
            Op::Load { var, addr, region } => {
                let addr = path.state.eval(program, *addr)?;
                let data = program.var(*var);
                let value = match program.region(*region).width == Some(data.ty.bits) {
                    true => path.state.load_one(addr, data.ty, data.float),
                    false => path.state.load(addr, data.ty),
                };
                path.state.set(*var, value);
            }
            Op::Store { addr, value, region } => {
                let (addr, stored) = (path.state.eval(program, *addr)?, path.state.value(program, *value)?);
                let ty = program.exprs.ty(*value);
                match program.region(*region).width == Some(ty.bits) {
                    true => path.state.store_one(addr, ty, stored),
                    false => path.state.store(addr, ty, stored),
                }
            }
            Op::Alloc { var, .. } => {
                let high = program.var(*var).ty.max();
                let range = Range::Int { low: i128::from(program.heap_start()), high };
                path.state.set(*var, Value::free(range));
            }
            Op::Zero { addr, size, .. } => {
                let (addr, size) = (path.state.eval(program, *addr)?, path.state.eval(program, *size)?);
                path.state.zero(addr, size);
            }
            Op::Unsupported { .. } => return Err(Obstacle::Unsupported(first)),
        }
        path.node = edge.dst;
        Ok(vec![path])
    }

    /// Both sides of a branch, as far as they are possible.
    fn branch(&self, path: Path) -> Result<Vec<Path>, Obstacle> {
        let mut result = Vec::new();
        for &id in &self.program.node(path.node).leaving {
            let edge = self.program.edge(id);
            let Op::Assume { cond, truth } = edge.op else { continue };
            let mut sources = path.sources;
            sources.add(path.state.eval(self.program, cond)?.sources);
            for state in path.state.clone().cases(self.program, cond, truth)? {
                result.push(Path {
                    node: edge.dst,
                    state,
                    calls: path.calls.clone(),
                    inputs: path.inputs.clone(),
                    forked: path.forked,
                    sources,
                });
            }
        }
        Ok(result)
    }

    /// The path with the effect of the values of some expressions. A truth value that is not decided is made one: there are
    /// several paths then, and each knows what the condition says about variables.
    fn with_values(
        &self,
        path: Path,
        exprs: &[ExprId],
        effect: impl Fn(&mut Path, &[Value]),
    ) -> Result<Vec<Path>, Obstacle> {
        let mut cases = vec![(path, Vec::new())];
        for &id in exprs {
            for (mut path, mut values) in std::mem::take(&mut cases) {
                let value = path.state.value(self.program, id)?;
                if value.range.truth().is_some() || !self.program.exprs.is_truth(id) {
                    values.push(value);
                    cases.push((path, values));
                    continue;
                }
                for truth in [false, true] {
                    for state in path.state.clone().cases(self.program, id, truth)? {
                        let decided = Value::free(Range::of(i128::from(truth)));
                        let mut path = Path { state, ..path.clone() };
                        path.sources.add(value.sources);
                        cases.push((path, values.iter().copied().chain([decided]).collect()));
                    }
                }
            }
        }
        let done = cases.into_iter().map(|(mut path, values)| {
            effect(&mut path, &values);
            path
        });
        Ok(done.collect())
    }

    /// From the end of a function to where it was called; nothing comes behind the end of `main` and of `abort`.
    fn leave(&self, mut path: Path) -> Vec<Path> {
        let Some(call) = path.calls.pop() else { return Vec::new() };
        let edge = self.program.edge(call);
        let Op::Call { callee, result, .. } = &edge.op else { return Vec::new() };
        let function = self.program.func(*callee);
        if function.body.is_none_or(|body| body.exit != path.node) {
            return Vec::new();
        }
        if let Some(result) = *result {
            let value = function.ret.map_or_else(|| Value::free(any(self.program, result)), |ret| path.state.get(ret));
            path.state.set(result, value);
        }
        path.node = edge.dst;
        vec![path]
    }
}
