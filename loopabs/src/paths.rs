// SPDX-License-Identifier: Apache-2.0
//! Complete iterations of a loop, path by path: what must hold for an iteration to take a path, and what it then does.
//!
//! A path leads from the head back to the head, through called functions as well. Values are linear forms over the values
//! at the beginning of the iteration (`updates`), or truth values of comparisons of such. Paths that do more than compute
//! with variables are left out.

use std::collections::BTreeMap;
use std::rc::Rc;

use cfa::{CmpOp, EdgeId, ExprId, ExprKind, FuncId, HavocOrigin, IntTy, NodeId, Op, Program, Scope, VarId};

use crate::context::Site;
use crate::updates::{Env, Sum, linear_in};

/// So many paths are looked at, and so many steps are made for that.
const MAX_PATHS: usize = 8;
const MAX_STEPS: usize = 4000;

/// A condition on the values at the beginning of an iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cond {
    /// A comparison of values of a type, which have at least its width.
    Cmp(CmpOp, Sum, Sum, IntTy),
    Not(Rc<Cond>),
    And(Rc<Cond>, Rc<Cond>),
    Or(Rc<Cond>, Rc<Cond>),
    /// Nothing is known about it.
    Unknown,
}

/// A way through the body.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Path {
    /// What holds or does not, at the beginning of each iteration that takes the path; nothing else decides that.
    pub(crate) guards: Vec<(Rc<Cond>, bool)>,
    /// The values at the end.
    pub(crate) end: Env,
    /// Variables that hold truth values.
    truths: BTreeMap<VarId, Rc<Cond>>,
}

/// The paths of the complete iterations that only compute, without those where the search for them ended.
pub(crate) fn paths(site: &Site<'_>) -> Vec<Path> {
    let Some(head) = site.loop_site.head else { return Vec::new() };
    let func = site.loop_site.func;
    let mut search = Search { site, head, steps: 0, visited: Vec::new(), found: Vec::new() };
    search.walk(head, Path::default(), &mut vec![Frame { func, back: None }]);
    search.found
}

/// A function that is executed, and the call that it comes back from.
struct Frame {
    func: FuncId,
    back: Option<EdgeId>,
}

struct Search<'s, 'p> {
    site: &'s Site<'p>,
    head: NodeId,
    steps: usize,
    /// The locations on the way, so that inner loops are not gone around.
    visited: Vec<NodeId>,
    found: Vec<Path>,
}

impl Search<'_, '_> {
    fn walk(&mut self, node: NodeId, path: Path, frames: &mut Vec<Frame>) {
        let program = self.site.program;
        self.steps += 1;
        let full = self.steps > MAX_STEPS || self.found.len() >= MAX_PATHS;
        if full || self.visited.contains(&node) || self.site.is_target(node) {
            return;
        }
        let frame = frames.last().expect("the loop's function");
        let at_exit =
            frame.back.is_some() && program.func(frame.func).body.as_ref().map(|body| body.exit) == Some(node);
        if at_exit {
            return self.come_back(path, frames);
        }
        self.visited.push(node);
        for id in program.node(node).leaving.clone() {
            let inside = frames.len() > 1 || self.site.loop_site.edges.binary_search(&id).is_ok();
            if inside {
                self.edge(id, path.clone(), frames);
            }
        }
        self.visited.pop();
    }

    fn edge(&mut self, id: EdgeId, mut path: Path, frames: &mut Vec<Frame>) {
        let program = self.site.program;
        let edge = program.edge(id);
        match &edge.op {
            Op::Skip => {}
            Op::Assume { cond, truth } => {
                if !program.exprs.is_total(*cond) {
                    return;
                }
                let cond = path.cond(program, *cond);
                path.guards.push((cond, *truth));
            }
            Op::Assign { var, value } => {
                if !program.exprs.is_total(*value) {
                    return;
                }
                path.assign(program, *var, *value);
            }
            Op::Havoc { var, origin: HavocOrigin::Uninitialised } => path.forget(*var),
            Op::Load { var, .. } => path.forget(*var),
            Op::Call { callee, args, .. } => {
                if frames.iter().any(|frame| frame.func == *callee) {
                    return;
                }
                let func = program.func(*callee);
                let Some(body) = &func.body else { return };
                if !args.iter().all(|arg| program.exprs.is_total(*arg)) {
                    return;
                }
                let before = path.clone();
                for (param, arg) in func.params.iter().zip(args) {
                    path.assign_from(program, &before, *param, *arg);
                }
                frames.push(Frame { func: *callee, back: Some(id) });
                // A function may be called several times in an iteration.
                let outside = std::mem::take(&mut self.visited);
                self.walk(body.entry, path, frames);
                self.visited = outside;
                frames.pop();
                return;
            }
            Op::Havoc { .. }
            | Op::Store { .. }
            | Op::Zero { .. }
            | Op::Alloc { .. }
            | Op::Free { .. }
            | Op::Unsupported { .. } => return,
        }
        self.go_on(edge.dst, path, frames);
    }

    fn go_on(&mut self, node: NodeId, path: Path, frames: &mut Vec<Frame>) {
        if frames.len() == 1 && node == self.head {
            if self.found.len() < MAX_PATHS {
                self.found.push(path);
            }
        } else {
            self.walk(node, path, frames);
        }
    }

    fn come_back(&mut self, mut path: Path, frames: &mut Vec<Frame>) {
        let program = self.site.program;
        let Some(Frame { func, back: Some(call) }) = frames.pop() else { return };
        let edge = program.edge(call);
        if let Op::Call { result: Some(result), .. } = edge.op {
            match program.func(func).ret {
                Some(ret) => path.copy(program, result, ret),
                None => path.forget(result),
            }
        }
        let inside = std::mem::take(&mut self.visited);
        // Where the caller was is lost, so inner loops around calls could be gone around; the number of steps bounds that.
        self.go_on(edge.dst, path, frames);
        self.visited = inside;
        frames.push(Frame { func, back: Some(call) });
    }
}

impl Path {
    fn forget(&mut self, var: VarId) {
        self.end.insert(var, None);
        self.truths.remove(&var);
    }

    fn assign(&mut self, program: &Program, var: VarId, value: ExprId) {
        let before = self.clone();
        self.assign_from(program, &before, var, value);
    }

    /// Assigns the value of an expression in the state that another path ends in.
    fn assign_from(&mut self, program: &Program, before: &Path, var: VarId, value: ExprId) {
        let bits = program.var(var).ty.bits;
        let sum = linear_in(program, &before.end, value, bits);
        self.forget(var);
        if sum.is_none() && program.exprs.is_truth(value) {
            self.truths.insert(var, before.cond(program, value));
        }
        self.end.insert(var, sum);
    }

    fn copy(&mut self, program: &Program, to: VarId, from: VarId) {
        let (sum, truth) = (crate::updates::value(program, &self.end, from), self.truths.get(&from).cloned());
        self.forget(to);
        self.end.insert(to, sum.filter(|sum| sum.bits >= program.var(to).ty.bits));
        self.truths.extend(truth.map(|truth| (to, truth)));
    }

    /// Whether an expression is not 0.
    fn cond(&self, program: &Program, expr: ExprId) -> Rc<Cond> {
        let exprs = &program.exprs;
        let zero = |expr: ExprId| exprs.as_const(expr) == Some(0);
        let found = match exprs.get(expr).kind {
            ExprKind::Not(a) => Some(Cond::Not(self.cond(program, a))),
            ExprKind::And(a, b) => Some(Cond::And(self.cond(program, a), self.cond(program, b))),
            ExprKind::Or(a, b) => Some(Cond::Or(self.cond(program, a), self.cond(program, b))),
            ExprKind::Cmp(CmpOp::Ne, a, b) if zero(b) && self.is_truth(program, a) => return self.cond(program, a),
            ExprKind::Cmp(CmpOp::Eq, a, b) if zero(b) && self.is_truth(program, a) => {
                Some(Cond::Not(self.cond(program, a)))
            }
            ExprKind::Cmp(op, a, b) => self.cmp(program, op, a, Some(b)),
            ExprKind::Var(var) if self.truths.contains_key(&var) => return Rc::clone(&self.truths[&var]),
            ExprKind::Cast(a) if self.is_truth(program, a) => return self.cond(program, a),
            _ => self.cmp(program, CmpOp::Ne, expr, None),
        };
        Rc::new(found.unwrap_or(Cond::Unknown))
    }

    fn is_truth(&self, program: &Program, expr: ExprId) -> bool {
        match program.exprs.get(expr).kind {
            ExprKind::Var(var) => self.truths.contains_key(&var),
            ExprKind::Cast(a) => self.is_truth(program, a),
            _ => program.exprs.is_truth(expr),
        }
    }

    /// A comparison; without a right side with 0.
    fn cmp(&self, program: &Program, op: CmpOp, left: ExprId, right: Option<ExprId>) -> Option<Cond> {
        let ty = program.exprs.ty(left);
        let side = |expr: ExprId| linear_in(program, &self.end, expr, ty.bits);
        let right = match right {
            Some(right) => side(right)?,
            None => Sum::constant(0, ty.bits),
        };
        Some(Cond::Cmp(op, side(left)?, right, ty))
    }

    /// The variables that outlive an iteration and are written on the path; fails if C has no name for one.
    pub(crate) fn written(&self, site: &Site<'_>) -> Result<Vec<VarId>, String> {
        let mut result = Vec::new();
        for (var, value) in &self.end {
            let of = site.program.var(*var);
            if value.as_ref() == Some(&Sum::var(*var, of.ty.bits)) {
                continue;
            }
            match of.scope {
                _ if of.temporary => {}
                Scope::Local(func) if func != site.loop_site.func => {}
                // What is local and has no name here is declared within the loop.
                Scope::Local(_) if !site.is_visible(*var) => {}
                Scope::Local(_) | Scope::Global => {
                    if crate::names::integer(site.program, site.loop_site, *var).is_none() {
                        return Err(format!("it modifies '{}', which is no integer with a name there", of.name));
                    }
                    result.push(*var);
                }
            }
        }
        Ok(result)
    }
}
