// SPDX-License-Identifier: Apache-2.0
//! Steps of the program in a state. Where a step depends on a question about symbols the state is split.

use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::liveness::Dying;
use cfa::{EdgeId, ExprId, FuncId, IntTy, NodeId, Op, Program, VarId};
use cpa_core::Stop;

use super::eval::{Eval, Known, known};
use super::memory::{Loaded, Memory, bytes};
use super::quick::Quick;
use super::state::{Split, State, Val};

/// The decisions on a way from one loop head to the next that its states did not make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    /// At which step a branch was taken, and which one.
    pub(crate) branches: Vec<(u32, bool)>,
    /// The answers to questions about symbols, one after the other.
    pub(crate) answers: Vec<bool>,
}

impl Taken {
    /// The number of bytes that it takes beside its own.
    pub(crate) fn bytes(&self) -> usize {
        self.branches.len() * size_of::<(u32, bool)>() + self.answers.len()
    }
}

/// Decisions that a thread has to make.
#[derive(Clone, Copy)]
pub(crate) struct Script<'a> {
    pub(crate) taken: &'a Taken,
    /// Whether not only branches have to be the same but also the answers to questions.
    pub(crate) answers: bool,
}

/// A state on its way from one loop head to the next.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) state: State,
    /// The number of steps on this way.
    pub(crate) steps: u32,
    /// What the states on this way did not decide.
    pub(crate) taken: Taken,
    /// Whether the state was split for its next step.
    split: bool,
    /// If inputs are noted: the edges that asked for them. The inputs stand behind the variables.
    pub(crate) asked: Option<Vec<EdgeId>>,
}

impl Thread {
    pub(crate) fn new(state: State, asked: Option<Vec<EdgeId>>) -> Self {
        Thread { state, steps: 0, taken: Taken::default(), split: false, asked }
    }

    /// Whether no answer to a question was assumed since the thread came to its location.
    pub(crate) fn arrived(&self) -> bool {
        !self.split
    }
}

/// How a step went.
pub(crate) enum Went {
    /// The thread is at another location.
    On,
    /// The thread was split or ended; what is left of it is on the stack.
    Away,
    /// The thread reached an edge that is not supported.
    Unsupported(EdgeId),
}

/// The program, prepared.
pub(crate) struct Walk {
    pub(crate) program: Arc<Program>,
    pub(crate) targets: Vec<bool>,
    pub(crate) relevant: Vec<bool>,
    pub(crate) heads: Vec<bool>,
    /// Where ways meet and threads are compared, apart from loop heads.
    pub(crate) joins: Vec<bool>,
    /// Where a thread is looked at: at targets, loop heads, and where no target can be reached any more.
    stops: Vec<bool>,
    quick: Quick,
    dying: Dying,
    sizes: Vec<u32>,
    locals: Vec<Vec<VarId>>,
    recursive: BTreeSet<FuncId>,
}

impl Walk {
    pub(crate) fn new(program: Arc<Program>, targets: &BTreeSet<NodeId>) -> Self {
        let dying = Dying::new(&program);
        let mut walk = Walk {
            targets: Vec::new(),
            relevant: Vec::new(),
            joins: Vec::new(),
            heads: flags(&program, &program.loops.heads),
            stops: Vec::new(),
            quick: Quick::new(&program, &dying),
            dying,
            sizes: program.exprs.tree_sizes(),
            locals: program.locals(),
            recursive: program.recursive(),
            program,
        };
        walk.look_for(targets);
        walk
    }

    /// From now on only these targets count, and only locations from which control flow leads to one of them are left.
    pub(crate) fn look_for(&mut self, targets: &BTreeSet<NodeId>) {
        self.targets = flags(&self.program, targets);
        self.relevant = flags(&self.program, &self.program.leading_to(targets));
        let stops = |node: usize| self.targets[node] || self.heads[node] || !self.relevant[node];
        self.stops = (0..self.heads.len()).map(stops).collect();
    }

    /// All locations are joins that several edges lead to, apart from loop heads.
    pub(crate) fn find_joins(&mut self) {
        let several = |node: NodeId| self.program.node(node).entering.len() > 1 && !self.heads[node.index()];
        self.joins = self.program.node_ids().map(several).collect();
    }

    pub(crate) fn start(&self) -> State {
        let vars = vec![Val::Any; self.program.vars.len()];
        let memory = Memory::new(self.program.heap_start());
        State { node: self.program.entry, calls: Vec::new(), vars, memory, symbols: Default::default() }
    }

    /// Whether a thread is at a target, or at the next loop head.
    pub(crate) fn pauses(&self, thread: &Thread) -> bool {
        let node = thread.state.node.index();
        self.targets[node] || self.heads[node] && thread.steps > 0
    }

    /// Takes up to so many steps that a table decides, at most to the next join if that is asked for; returns how many. The
    /// thread is behind its first step.
    pub(crate) fn hurry(&self, thread: &mut Thread, most: u32, joins: bool) -> u32 {
        let before = thread.steps;
        if thread.split {
            // The branch that it was split for is noted.
            return 0;
        }
        let stops = |node: usize| self.stops[node] || joins && self.joins[node];
        while thread.steps - before < most && !stops(thread.state.node.index()) {
            let Some(next) = self.quick.next(&thread.state) else { break };
            thread.state.node = next;
            thread.steps += 1;
        }
        thread.steps - before
    }

    /// The next step of a thread, as the script says where it does.
    pub(crate) fn step(
        &self,
        thread: &mut Thread,
        stack: &mut Vec<Thread>,
        script: Option<Script>,
    ) -> Result<Went, Stop> {
        let node = thread.state.node;
        let leaving = &self.program.node(node).leaving;
        let Some(&edge) = leaving.first() else { return Ok(self.leave(thread)) };
        let Op::Assume { cond, truth } = self.program.edge(edge).op else {
            if leaving.len() > 1 {
                return Err(Stop::GaveUp("a branch without condition is not supported".to_string()));
            }
            return self.operation(thread, stack, edge, script);
        };
        let decided = match self.eval(&thread.state).truth(cond) {
            Ok(decided) => decided,
            Err(split) => return Ok(self.split(thread, stack, split, script)),
        };
        let wanted = script.and_then(|script| {
            let branches = &script.taken.branches;
            let at = branches.binary_search_by_key(&thread.steps, |&(step, _)| step).ok()?;
            Some(branches[at].1)
        });
        let undecided = decided.is_none() || thread.split;
        // The thread takes the branch with `truth` and leaves the other one on the stack.
        let allowed =
            |branch: bool| decided.is_none_or(|decided| decided == branch) && wanted.is_none_or(|w| w == branch);
        let mut on = None;
        for (&edge, branch) in leaving.iter().zip([truth, !truth]) {
            if !allowed(branch) {
                continue;
            }
            if on.is_none() {
                on = Some((edge, branch));
            } else {
                let mut other = thread.clone();
                self.branch(&mut other, edge, branch, undecided);
                stack.push(other);
            }
        }
        let Some((edge, branch)) = on else { return Ok(Went::Away) };
        self.branch(thread, edge, branch, undecided);
        Ok(Went::On)
    }

    fn branch(&self, thread: &mut Thread, edge: EdgeId, truth: bool, undecided: bool) {
        if undecided {
            thread.taken.branches.push((thread.steps, truth));
        }
        self.arrive(thread, edge);
    }

    fn eval<'a>(&'a self, state: &'a State) -> Eval<'a> {
        Eval { exprs: &self.program.exprs, sizes: &self.sizes, state }
    }

    /// Goes on with the part of a thread where the answer to a question is yes, and puts the one where it is no on the stack.
    fn split(&self, thread: &mut Thread, stack: &mut Vec<Thread>, split: Split, script: Option<Script>) -> Went {
        if let Split::Named(var) = split {
            self.anything(thread, var);
            return Went::On;
        }
        thread.split = true;
        let answers = script.filter(|script| script.answers).map(|script| &script.taken.answers);
        let wanted = answers.and_then(|answers| answers.get(thread.taken.answers.len()).copied());
        if wanted != Some(true) {
            let mut other = thread.clone();
            if other.state.assume(split, false).is_ok() {
                other.taken.answers.push(false);
                stack.push(other);
            }
        }
        if wanted != Some(false) && thread.state.assume(split, true).is_ok() {
            thread.taken.answers.push(true);
            return Went::On;
        }
        Went::Away
    }

    fn arrive(&self, thread: &mut Thread, edge: EdgeId) {
        for &var in self.dying.behind(edge) {
            thread.state.vars[var.index()] = Val::Any;
        }
        self.moved(thread, self.program.edge(edge).dst);
    }

    fn moved(&self, thread: &mut Thread, node: NodeId) {
        thread.state.node = node;
        thread.steps += 1;
        thread.split = false;
    }

    fn operation(
        &self,
        thread: &mut Thread,
        stack: &mut Vec<Thread>,
        edge: EdgeId,
        script: Option<Script>,
    ) -> Result<Went, Stop> {
        match &self.program.edge(edge).op {
            // A branch is not an operation.
            Op::Skip | Op::Free { .. } | Op::Assume { .. } => {}
            Op::Assign { var, value } => match self.eval(&thread.state).value(*value) {
                Ok(known) => self.set(thread, *var, known),
                Err(split) => return Ok(self.split(thread, stack, split, script)),
            },
            Op::Havoc { var, .. } => {
                let value = self.anything(thread, *var);
                if let Some(asked) = &mut thread.asked {
                    asked.push(edge);
                    thread.state.vars.push(value);
                }
            }
            Op::Load { .. } | Op::Store { .. } | Op::Zero { .. } | Op::Alloc { .. } => {
                if let Err(split) = self.access(thread, edge) {
                    return Ok(self.split(thread, stack, split, script));
                }
            }
            Op::Call { callee, args, .. } => {
                if self.recursive.contains(callee) {
                    return Err(Stop::GaveUp("recursion is not supported".to_string()));
                }
                match self.arguments(&thread.state, args) {
                    Ok(values) => self.enter(thread, edge, *callee, &values),
                    Err(split) => return Ok(self.split(thread, stack, split, script)),
                }
                return Ok(Went::On);
            }
            Op::Unsupported { .. } => return Ok(Went::Unsupported(edge)),
        }
        self.arrive(thread, edge);
        Ok(Went::On)
    }

    /// An operation on memory; nothing has happened if it depends on a question.
    fn access(&self, thread: &mut Thread, edge: EdgeId) -> Result<(), Split> {
        let eval = self.eval(&thread.state);
        match self.program.edge(edge).op {
            Op::Load { var, addr, region } => {
                let declared = self.program.var(var);
                let Some(addr) = self.place(&eval, addr, declared.ty)? else {
                    self.anything(thread, var);
                    return Ok(());
                };
                match thread.state.memory.load(region, addr, declared.ty) {
                    Loaded::Value(value, ty) => {
                        let known = known(thread.state.resolve(value)).unwrap_or(Known::Range(ty.min(), ty.max()));
                        let known = eval.fit(known, declared.ty)?;
                        self.set(thread, var, known);
                    }
                    Loaded::Unknown if !declared.truth => {
                        let value = self.anything(thread, var);
                        thread.state.memory.store(region, addr, declared.ty, value);
                    }
                    Loaded::Unknown | Loaded::Mixed => {
                        self.anything(thread, var);
                    }
                }
            }
            Op::Store { addr, value, region } => {
                let ty = self.program.exprs.ty(value);
                let (addr, value) = (self.place(&eval, addr, ty)?, eval.value(value)?);
                match addr {
                    Some(addr) => {
                        let value = thread.state.value(value);
                        thread.state.memory.store(region, addr, ty, value);
                    }
                    None => thread.state.memory.forget(region),
                }
            }
            Op::Zero { addr, size, region } => {
                let start = eval.number(addr)?;
                let end = start.zip(eval.number(size)?).and_then(|(start, size)| start.checked_add(size));
                match (start, end) {
                    (Some(start), Some(end)) => thread.state.memory.zero(region, start, end),
                    _ => thread.state.memory.forget(region),
                }
            }
            Op::Alloc { var, size, .. } => {
                let size = eval.number(size)?;
                let Some(here) = thread.state.memory.heap else {
                    self.anything(thread, var);
                    return Ok(());
                };
                thread.state.memory.heap = size.and_then(|size| self.program.object_end(here, size));
                self.set(thread, var, Known::Const(i128::from(here)));
            }
            _ => unreachable!("the caller has an operation on memory"),
        }
        Ok(())
    }

    /// The address of a value of a type, if it is known. An access that wraps around in the address space has none.
    fn place(&self, eval: &Eval, addr: ExprId, ty: IntTy) -> Result<Option<u64>, Split> {
        Ok(eval.number(addr)?.filter(|addr| addr.checked_add(bytes(ty)).is_some()))
    }

    fn set(&self, thread: &mut Thread, var: VarId, known: Known) {
        thread.state.vars[var.index()] = thread.state.value(known);
    }

    fn anything(&self, thread: &mut Thread, var: VarId) -> Val {
        let declared = self.program.var(var);
        let (low, high) = if declared.truth { (0, 1) } else { (declared.ty.min(), declared.ty.max()) };
        let value = thread.state.fresh(low, high);
        thread.state.vars[var.index()] = value;
        value
    }

    fn arguments(&self, state: &State, args: &[ExprId]) -> Result<Vec<Known>, Split> {
        args.iter().map(|&arg| self.eval(state).value(arg)).collect()
    }

    fn enter(&self, thread: &mut Thread, call: EdgeId, callee: FuncId, values: &[Known]) {
        let function = self.program.func(callee);
        for (&param, &value) in function.params.iter().zip(values) {
            self.set(thread, param, value);
        }
        for &param in self.dying.unread_params(callee) {
            thread.state.vars[param.index()] = Val::Any;
        }
        thread.state.calls.push(call);
        let body = function.body.expect("a called function has a body");
        self.moved(thread, body.entry);
    }

    /// Back from a function, if the thread is at the end of one that was called.
    fn leave(&self, thread: &mut Thread) -> Went {
        let Some(&call) = thread.state.calls.last() else { return Went::Away };
        let Op::Call { callee, result, .. } = &self.program.edge(call).op else { return Went::Away };
        let function = self.program.func(*callee);
        if function.body.is_none_or(|body| body.exit != thread.state.node) {
            return Went::Away;
        }
        thread.state.calls.pop();
        let returned = function.ret.map_or(Val::Any, |ret| thread.state.var(ret.index()));
        for var in &self.locals[callee.index()] {
            thread.state.vars[var.index()] = Val::Any;
        }
        if let Some(result) = result {
            thread.state.vars[result.index()] = returned;
        }
        self.arrive(thread, call);
        Went::On
    }
}

fn flags(program: &Program, nodes: &BTreeSet<NodeId>) -> Vec<bool> {
    program.node_ids().map(|node| nodes.contains(&node)).collect()
}
