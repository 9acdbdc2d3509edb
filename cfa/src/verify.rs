// SPDX-License-Identifier: Apache-2.0
//! The verifier of the automaton: checks every invariant that [`crate::ir`] states.

use thiserror::Error;

use crate::exprs::Exprs;
use crate::ids::{EdgeId, ExprId, NodeId, RegionId, VarId};
use crate::ir::{CmpOp, ExprKind, IntTy, Op, Scope};
use crate::program::Program;

/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{place}: {problem}")]
pub struct Broken {
    /// The entity.
    pub place: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Checks all invariants of a program.
pub fn verify(program: &Program) -> Result<(), Broken> {
    let mut checked = vec![false; program.exprs.len()];
    for id in program.edge_ids() {
        edge(program, id, &mut checked)?;
    }
    for id in program.node_ids() {
        node(program, id)?;
    }
    for function in &program.funcs {
        let Some(body) = function.body else { continue };
        if !program.node(body.exit).leaving.is_empty() {
            return broken(body.exit, "an exit has leaving edges");
        }
    }
    let sites = program.calls.iter().map(|(_, node, _)| *node).chain(program.labels.iter().map(|(_, node)| *node));
    for site in sites {
        if site.index() >= program.nodes.len() {
            return broken(site, "a call site or label that does not exist");
        }
    }
    Ok(())
}

fn broken<T>(place: impl std::fmt::Display, problem: impl Into<String>) -> Result<T, Broken> {
    Err(Broken { place: place.to_string(), problem: problem.into() })
}

fn node(program: &Program, id: NodeId) -> Result<(), Broken> {
    let node = program.node(id);
    for edge in &node.leaving {
        if program.edge(*edge).src != id {
            return broken(id, format!("{edge} is listed as leaving but leaves elsewhere"));
        }
    }
    for edge in &node.entering {
        if program.edge(*edge).dst != id {
            return broken(id, format!("{edge} is listed as entering but arrives elsewhere"));
        }
    }
    match node.leaving.as_slice() {
        [] => Ok(()),
        [only] => match program.edge(*only).op {
            Op::Assume { .. } => broken(id, "a single assume edge"),
            _ => Ok(()),
        },
        [yes, no] => match (&program.edge(*yes).op, &program.edge(*no).op) {
            (Op::Assume { cond: a, truth: true }, Op::Assume { cond: b, truth: false }) if a == b => Ok(()),
            _ => broken(id, "two leaving edges that are not complementary"),
        },
        _ => broken(id, "more than two leaving edges"),
    }
}

fn edge(program: &Program, id: EdgeId, checked: &mut [bool]) -> Result<(), Broken> {
    let edge = program.edge(id);
    let (src, dst) = (program.node(edge.src), program.node(edge.dst));
    if src.func != dst.func {
        return broken(id, "an edge between functions");
    }
    if !src.leaving.contains(&id) || !dst.entering.contains(&id) {
        // Entering lists may be long, but each edge is looked up only at its own ends.
        return broken(id, "an edge that its ends do not know");
    }
    if dst.rpo <= src.rpo && !program.loops.is_head(edge.dst) {
        return broken(id, "a back edge to a node that is no loop head");
    }
    let source = program.sources.get(edge.span.file as usize);
    if edge.span.start > edge.span.end || source.is_none_or(|source| edge.span.end as usize > source.text.len()) {
        return broken(id, "a span outside of the source");
    }
    let of_var = |var: VarId| -> Result<IntTy, Broken> {
        let Some(info) = program.vars.get(var.index()) else { return broken(id, format!("{var} does not exist")) };
        match info.scope {
            Scope::Local(func) if func != src.func => broken(id, format!("{} belongs elsewhere", info.name)),
            _ => Ok(info.ty),
        }
    };
    let mut operand = |expr: ExprId| -> Result<IntTy, Broken> {
        check_expr(program, expr, checked, id)?;
        for var in program.exprs.vars(expr) {
            of_var(var)?;
        }
        Ok(program.exprs.ty(expr))
    };
    let pointer = program.machine.size_type();
    let fits = |region: RegionId, ty: IntTy| {
        program.regions.get(region.index()).is_some_and(|region| region.width.is_none_or(|width| width == ty.bits))
    };
    match &edge.op {
        Op::Skip | Op::Unsupported { .. } => {}
        Op::Assume { cond, .. } => {
            operand(*cond)?;
        }
        Op::Assign { var, value } => {
            if of_var(*var)? != operand(*value)? {
                return broken(id, "an assignment between different types");
            }
        }
        Op::Havoc { var, .. } => {
            of_var(*var)?;
        }
        Op::Load { var, addr, region } => {
            let ty = of_var(*var)?;
            if operand(*addr)? != pointer || !fits(*region, ty) {
                return broken(id, "a load with wrong types");
            }
        }
        Op::Store { addr, value, region } => {
            let ty = operand(*value)?;
            if operand(*addr)? != pointer || !fits(*region, ty) {
                return broken(id, "a store with wrong types");
            }
        }
        Op::Alloc { var, size, region, .. } => {
            if of_var(*var)? != pointer || operand(*size)? != pointer || region.index() >= program.regions.len() {
                return broken(id, "an allocation with wrong types");
            }
        }
        Op::Free { addr } => {
            if operand(*addr)? != pointer {
                return broken(id, "an address of a wrong type");
            }
        }
        Op::Zero { addr, size, region } => {
            if operand(*addr)? != pointer || operand(*size)? != pointer || region.index() >= program.regions.len() {
                return broken(id, "a zeroing with wrong types");
            }
        }
        Op::Call { callee, args, result } => {
            let function = program.func(*callee);
            if function.body.is_none() {
                return broken(id, "a call of a function without a body");
            }
            if args.len() != function.params.len() {
                return broken(id, "a call with a wrong number of arguments");
            }
            for (arg, param) in args.iter().zip(&function.params) {
                if operand(*arg)? != program.var(*param).ty {
                    return broken(id, "an argument of a wrong type");
                }
            }
            if let Some(result) = result {
                match function.ret {
                    Some(ret) if program.var(ret).ty == of_var(*result)? => {}
                    _ => return broken(id, "a call with a result of a wrong type"),
                }
            }
        }
    }
    Ok(())
}

/// Checks the types of an expression and of all expressions below it.
fn check_expr(program: &Program, root: ExprId, checked: &mut [bool], at: EdgeId) -> Result<(), Broken> {
    let exprs = &program.exprs;
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut checked[id.index()], true) {
            continue;
        }
        if let Err(problem) = check_node(program, exprs, id) {
            return broken(at, format!("{id}: {problem}"));
        }
        todo.extend(exprs.operands(id));
    }
    Ok(())
}

fn check_node(program: &Program, exprs: &Exprs, id: ExprId) -> Result<(), &'static str> {
    let expr = exprs.get(id);
    let ty = |id: ExprId| exprs.ty(id);
    if exprs.operands(id).any(|operand| operand >= id) {
        return Err("an operand with a greater id");
    }
    if !matches!(expr.ty.bits, 8 | 16 | 32 | 64) {
        return Err("a type of unknown width");
    }
    let right = match expr.kind {
        ExprKind::Const(value) => expr.ty.wrap(value) == value,
        ExprKind::Var(var) => program.vars.get(var.index()).is_some_and(|info| info.ty == expr.ty),
        ExprKind::Unary(_, a) => ty(a) == expr.ty,
        ExprKind::Binary(_, a, b) => ty(a) == expr.ty && ty(b) == expr.ty,
        ExprKind::Cmp(CmpOp::Eq | CmpOp::Ne | CmpOp::Lt | CmpOp::Le, a, b) => ty(a) == ty(b) && expr.ty == IntTy::INT,
        ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => expr.ty == IntTy::INT,
        ExprKind::Ite(_, a, b) => ty(a) == expr.ty && ty(b) == expr.ty,
        ExprKind::Cast(_) => true,
        ExprKind::Float(_, float, a, b) => ty(a) == float.bits() && ty(b) == float.bits() && expr.ty == float.bits(),
        ExprKind::FloatFn(_, float, a) => ty(a) == float.bits() && expr.ty == float.bits(),
        ExprKind::FloatCmp(op, float, a, b) => {
            op != CmpOp::Ne && ty(a) == float.bits() && ty(b) == float.bits() && expr.ty == IntTy::INT
        }
        ExprKind::FloatFromInt(float, _) => expr.ty == float.bits(),
        ExprKind::FloatToInt(float, a) => ty(a) == float.bits(),
        ExprKind::FloatToFloat(float, a) => ty(a) == float.bits() && expr.ty == float.other().bits(),
    };
    if right { Ok(()) } else { Err("an expression with wrong types") }
}
