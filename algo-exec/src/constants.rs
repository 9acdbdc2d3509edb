// SPDX-License-Identifier: Apache-2.0
//! The constants that a program compares with: good candidates for its inputs.

use std::collections::BTreeSet;

use cfa::ir::{ExprKind, FloatTy, Op};
use cfa::machine::Random;
use cfa::{ExprId, Program};
use rustc_hash::FxHashSet;

/// More constants than this make each single one unlikely.
const MAX: usize = 2000;

/// The constants in the conditions and in the assigned values of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    pub(crate) integers: Vec<i128>,
    pub(crate) doubles: Vec<f64>,
}

impl Constants {
    pub(crate) fn of(program: &Program) -> Self {
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut integers = BTreeSet::new();
        let mut doubles = BTreeSet::new();
        let mut todo: Vec<ExprId> = Vec::new();
        // Conditions first: there may be too many constants in all.
        for edge in &program.edges {
            if let Op::Assume { cond, .. } = edge.op {
                todo.push(cond);
            }
        }
        collect(program, &mut todo, &mut seen, &mut integers, &mut doubles);
        for edge in &program.edges {
            if let Op::Assign { value, .. } = edge.op {
                todo.push(value);
            }
        }
        collect(program, &mut todo, &mut seen, &mut integers, &mut doubles);
        Constants {
            integers: integers.into_iter().collect(),
            doubles: doubles.into_iter().map(f64::from_bits).collect(),
        }
    }

    /// One of the integers or a neighbour of it; a small number if there are none.
    pub(crate) fn integer(&self, random: &mut Random) -> i128 {
        match self.integers.len() {
            0 => small(random),
            n => self.integers[random.below(n)] + [0, 0, 0, 1, -1][random.below(5)],
        }
    }
}

/// From -4 to 15.
pub(crate) fn small(random: &mut Random) -> i128 {
    random.below(20) as i128 - 4
}

fn collect(
    program: &Program,
    todo: &mut Vec<ExprId>,
    seen: &mut FxHashSet<ExprId>,
    integers: &mut BTreeSet<i128>,
    doubles: &mut BTreeSet<u64>,
) {
    let exprs = &program.exprs;
    let mut float = |id: ExprId, ty: FloatTy| {
        if let Some(bits) = exprs.as_const(id)
            && doubles.len() < MAX
        {
            let value =
                if ty == FloatTy::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits as u64) };
            doubles.insert(value.to_bits());
        }
    };
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        match exprs.get(id).kind {
            ExprKind::Const(value) if integers.len() < MAX => {
                integers.insert(value);
            }
            ExprKind::FloatCmp(_, ty, a, b) | ExprKind::Float(_, ty, a, b) => {
                float(a, ty);
                float(b, ty);
            }
            _ => {}
        }
        todo.extend(exprs.operands(id));
    }
}
