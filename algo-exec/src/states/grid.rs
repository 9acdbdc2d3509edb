// SPDX-License-Identifier: Apache-2.0
//! The numbers that a program compares its variables with: between two of them no comparison tells values apart.

use cfa::{CmpOp, ExprId, ExprKind, IntTy, Op, Program, RegionId, VarId};

/// What has a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    Var(VarId),
    /// The cell of a region at an address.
    Cell(RegionId, u64),
}

/// For each variable and region of memory the numbers where an interval begins, ascending. Those that are copies of each
/// other share them.
pub(crate) struct Grid {
    vars: usize,
    of: Vec<u32>,
    starts: Vec<Vec<i128>>,
}

impl Grid {
    pub(crate) fn new(program: &Program) -> Self {
        let vars = program.vars.len();
        let mut classes = Classes((0..(vars + program.regions.len()) as u32).collect());
        let of_region = |region: RegionId| (vars + region.index()) as u32;
        let of_var = |var: VarId| var.index() as u32;
        let copied = |expr: ExprId| program.exprs.converted_var(expr);
        for edge in &program.edges {
            match &edge.op {
                Op::Assign { var, value } => {
                    for source in sources(program, *value) {
                        classes.unite(of_var(*var), of_var(source));
                    }
                }
                Op::Call { callee, args, result } => {
                    let callee = program.func(*callee);
                    for (&param, &arg) in callee.params.iter().zip(args) {
                        if let Some(source) = copied(arg) {
                            classes.unite(of_var(param), of_var(source));
                        }
                    }
                    if let (Some(result), Some(ret)) = (result, callee.ret) {
                        classes.unite(of_var(*result), of_var(ret));
                    }
                }
                Op::Load { var, region, .. } => classes.unite(of_var(*var), of_region(*region)),
                Op::Store { value, region, .. } => {
                    for source in sources(program, *value) {
                        classes.unite(of_region(*region), of_var(source));
                    }
                }
                _ => {}
            }
        }
        let of: Vec<u32> = (0..classes.0.len() as u32).map(|number| classes.find(number)).collect();
        let mut starts = vec![Vec::new(); of.len()];
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
        Self { vars, of, starts }
    }

    /// The smallest union of intervals of a place that contains all numbers from `low` to `high`.
    pub(crate) fn around(&self, place: Place, (low, high): (i128, i128), ty: IntTy) -> (i128, i128) {
        let (least, most) = (ty.min(), ty.max());
        let number = match place {
            Place::Var(var) => var.index(),
            Place::Cell(region, _) => self.vars + region.index(),
        };
        let starts = &self.starts[self.of[number] as usize];
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

/// Classes of equivalent variables and regions.
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

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[b as usize] = a;
    }
}
