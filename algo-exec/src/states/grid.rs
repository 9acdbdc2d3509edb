// SPDX-License-Identifier: Apache-2.0
//! The numbers that a program compares its variables with: between two of them no comparison tells values apart.

use cfa::{CmpOp, ExprId, ExprKind, Op, Program, VarId};

/// For each variable the numbers where an interval begins, ascending. Variables that are copies of each other share them.
pub(crate) struct Grid {
    of: Vec<u32>,
    starts: Vec<Vec<i128>>,
}

impl Grid {
    pub(crate) fn new(program: &Program) -> Self {
        let mut classes = Classes((0..program.vars.len() as u32).collect());
        let copied = |expr: ExprId| program.exprs.converted_var(expr);
        for edge in &program.edges {
            match &edge.op {
                Op::Assign { var, value } => {
                    for source in sources(program, *value) {
                        classes.unite(*var, source);
                    }
                }
                Op::Call { callee, args, result } => {
                    let callee = program.func(*callee);
                    for (&param, &arg) in callee.params.iter().zip(args) {
                        if let Some(source) = copied(arg) {
                            classes.unite(param, source);
                        }
                    }
                    if let (Some(result), Some(ret)) = (result, callee.ret) {
                        classes.unite(*result, ret);
                    }
                }
                _ => {}
            }
        }
        let of: Vec<u32> = (0..program.vars.len() as u32).map(|var| classes.find(var)).collect();
        let mut starts = vec![Vec::new(); program.vars.len()];
        let mut add = |var: VarId, begin: &[i128]| starts[of[var.index()] as usize].extend_from_slice(begin);
        for id in program.exprs.ids() {
            let ExprKind::Cmp(op, left, right) = program.exprs.get(id).kind else { continue };
            if let (Some(var), Some(value)) = (copied(left), program.exprs.as_const(right)) {
                match op {
                    CmpOp::Eq | CmpOp::Ne => add(var, &[value, value + 1]),
                    CmpOp::Lt => add(var, &[value]),
                    CmpOp::Le => add(var, &[value + 1]),
                }
            } else if let (Some(value), Some(var)) = (program.exprs.as_const(left), copied(right)) {
                match op {
                    CmpOp::Eq | CmpOp::Ne => add(var, &[value, value + 1]),
                    CmpOp::Lt => add(var, &[value + 1]),
                    CmpOp::Le => add(var, &[value]),
                }
            }
        }
        for starts in &mut starts {
            starts.sort_unstable();
            starts.dedup();
        }
        Self { of, starts }
    }

    /// The smallest union of intervals of a variable that contains all numbers from `low` to `high`.
    pub(crate) fn around(&self, var: VarId, (low, high): (i128, i128), least: i128, most: i128) -> (i128, i128) {
        let starts = &self.starts[self.of[var.index()] as usize];
        let before = starts.partition_point(|&start| start <= low);
        let after = starts.partition_point(|&start| start <= high);
        let first = before.checked_sub(1).map_or(least, |at| starts[at].max(least));
        let last = starts.get(after).map_or(most, |&start| (start - 1).min(most));
        (first.min(low), last.max(high))
    }
}

/// The variables that an expression may be.
fn sources(program: &Program, expr: ExprId) -> Vec<VarId> {
    match program.exprs.get(expr).kind {
        ExprKind::Cast(arg) => sources(program, arg),
        ExprKind::Ite(_, yes, no) => {
            program.exprs.converted_var(yes).into_iter().chain(program.exprs.converted_var(no)).collect()
        }
        _ => program.exprs.converted_var(expr).into_iter().collect(),
    }
}

/// Classes of equivalent variables.
struct Classes(Vec<u32>);

impl Classes {
    fn find(&mut self, mut var: u32) -> u32 {
        while self.0[var as usize] != var {
            let above = self.0[self.0[var as usize] as usize];
            self.0[var as usize] = above;
            var = above;
        }
        var
    }

    fn unite(&mut self, a: VarId, b: VarId) {
        let (a, b) = (self.find(a.index() as u32), self.find(b.index() as u32));
        self.0[b as usize] = a;
    }
}
