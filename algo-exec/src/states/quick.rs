// SPDX-License-Identifier: Apache-2.0
//! Branches on how one variable compares with a number, which are most of the steps of a state machine: side by side in one
//! table, so that a long chain of them is passed without a look at edges and expressions.

use cfa::liveness::Dying;
use cfa::{CmpOp, EdgeId, ExprId, ExprKind, NodeId, Op, Program, VarId};

use super::state::{State, Val};

/// Instead of a location: the step is not one of these.
const SLOW: u32 = u32::MAX;

/// A location whose next step depends on whether a variable is within bounds.
#[derive(Clone, Copy)]
struct Test {
    low: i64,
    high: i64,
    var: u32,
    /// The next location if the value is within the bounds.
    inside: u32,
    /// The next location if it is not.
    outside: u32,
}

/// For each location its branch, if it is of this kind.
pub(crate) struct Quick {
    tests: Vec<Test>,
}

impl Quick {
    pub(crate) fn new(program: &Program, dying: &Dying) -> Self {
        Quick { tests: program.node_ids().map(|node| test(program, dying, node)).collect() }
    }

    /// The location behind one, if its branch is of this kind and the state decides it.
    pub(crate) fn next(&self, state: &State) -> Option<NodeId> {
        let test = &self.tests[state.node.index()];
        if test.inside == test.outside {
            return (test.inside != SLOW).then(|| NodeId::new(test.inside as usize));
        }
        let (low, high) = match state.vars[test.var as usize] {
            Val::Any => return None,
            Val::Const(value) => (value, value),
            Val::Sym(symbol, offset) => {
                let (low, high) = state.symbols.bounds(symbol);
                (low + offset, high + offset)
            }
        };
        let next = if i128::from(test.low) <= low && high <= i128::from(test.high) {
            test.inside
        } else if high < i128::from(test.low) || i128::from(test.high) < low {
            test.outside
        } else {
            SLOW
        };
        (next != SLOW).then(|| NodeId::new(next as usize))
    }
}

fn test(program: &Program, dying: &Dying, node: NodeId) -> Test {
    let slow = Test { low: 0, high: 0, var: 0, inside: SLOW, outside: SLOW };
    let leaving = &program.node(node).leaving;
    // What forgets variables has to be done in full.
    let behind = |edge: EdgeId| {
        if dying.behind(edge).is_empty() { program.edge(edge).dst.index() as u32 } else { SLOW }
    };
    match (leaving.as_slice(), leaving.first().map(|&edge| &program.edge(edge).op)) {
        (&[edge], Some(Op::Skip)) => Test { inside: behind(edge), outside: behind(edge), ..slow },
        (&[first, second], Some(&Op::Assume { cond, truth })) => {
            let Some((var, low, high, within)) = bounds(program, cond) else { return slow };
            let (inside, outside) = if within == truth { (first, second) } else { (second, first) };
            let (inside, outside) = (behind(inside), behind(outside));
            // Both the same would be no question.
            if inside == outside { slow } else { Test { low, high, var: var.index() as u32, inside, outside } }
        }
        _ => slow,
    }
}

/// The variable and the bounds within which its value makes the condition true, or false if the last one is. Comparisons with
/// numbers have no conversions that keep the value, and negations of comparisons are comparisons ([`cfa::Exprs`]).
fn bounds(program: &Program, cond: ExprId) -> Option<(VarId, i64, i64, bool)> {
    let exprs = &program.exprs;
    let number = |expr: ExprId| exprs.as_const(expr).and_then(|value| i64::try_from(value).ok());
    let (var, (low, high), within) = match exprs.get(cond).kind {
        ExprKind::Var(var) => (var, (0, 0), false),
        ExprKind::Not(arg) => {
            let (var, low, high, within) = bounds(program, arg)?;
            (var, (low, high), !within)
        }
        ExprKind::Cmp(op, left, right) => {
            let (var, bounds) = match (&exprs.get(left).kind, &exprs.get(right).kind) {
                (&ExprKind::Var(var), _) => {
                    let value = number(right)?;
                    let bounds = match op {
                        CmpOp::Eq | CmpOp::Ne => (value, value),
                        CmpOp::Le => (i64::MIN, value),
                        CmpOp::Lt => (i64::MIN, value.checked_sub(1)?),
                    };
                    (var, bounds)
                }
                (_, &ExprKind::Var(var)) => {
                    let value = number(left)?;
                    let bounds = match op {
                        CmpOp::Eq | CmpOp::Ne => (value, value),
                        CmpOp::Le => (value, i64::MAX),
                        CmpOp::Lt => (value.checked_add(1)?, i64::MAX),
                    };
                    (var, bounds)
                }
                _ => return None,
            };
            (var, bounds, op != CmpOp::Ne)
        }
        _ => return None,
    };
    // Numbers of 64 bits without sign may be beyond open bounds.
    let open = low == i64::MIN || high == i64::MAX;
    (!open || i64::try_from(program.var(var).ty.max()).is_ok()).then_some((var, low, high, within))
}
