// SPDX-License-Identifier: Apache-2.0
//! What is written as C means the same when it is read as C: random expressions are written, read by the front end, and
//! both are evaluated.

use std::collections::BTreeMap;

use cfa::{BinOp, CmpOp, ExprId, Exprs, IntTy, Op, Options, Program, Source, UnOp, VarId};
use cpa_core::Invariants;

const HEAD: &str = "signed char a; unsigned char b; short c; unsigned short d; int e; unsigned f; long long g;\n\
                    unsigned long long h; int *p;\n";

fn load(text: String) -> Program {
    cfa::load(&[Source { name: "t.c".into(), text }], &Options::default()).unwrap()
}

/// A small generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn value(&mut self, ty: IntTy) -> i128 {
        let near = i128::from(self.below(5)) - 2;
        let base = match self.below(5) {
            0 => ty.min(),
            1 => ty.max(),
            2 => i128::from(self.below(1 << 31)) << self.below(33),
            _ => 0,
        };
        ty.wrap(base + near)
    }

    fn expr(&mut self, exprs: &mut Exprs, vars: &[(VarId, IntTy)], ty: IntTy, depth: u32) -> ExprId {
        if depth == 0 || self.below(6) == 0 {
            if self.below(3) == 0 {
                let value = self.value(ty);
                return exprs.constant(ty, value);
            }
            let (var, of_var) = vars[self.below(vars.len() as u64) as usize];
            let var = exprs.var(var, of_var);
            return exprs.cast(var, ty);
        }
        let (_, other) = vars[self.below(vars.len() as u64) as usize];
        match self.below(12) {
            0 => {
                let arg = self.expr(exprs, vars, other, depth - 1);
                exprs.cast(arg, ty)
            }
            1 => {
                let arg = self.expr(exprs, vars, ty, depth - 1);
                exprs.unary(if self.below(2) == 0 { UnOp::Neg } else { UnOp::BitNot }, arg)
            }
            2 => {
                let (left, right) =
                    (self.expr(exprs, vars, other, depth - 1), self.expr(exprs, vars, other, depth - 1));
                let op = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le][self.below(4) as usize];
                let truth = exprs.cmp(op, left, right);
                exprs.cast(truth, ty)
            }
            3 => {
                let (left, right) = (self.expr(exprs, vars, other, depth - 1), self.expr(exprs, vars, ty, depth - 1));
                let truth = if self.below(2) == 0 { exprs.and(left, right) } else { exprs.or(left, right) };
                exprs.cast(truth, ty)
            }
            4 => {
                let cond = self.expr(exprs, vars, other, depth - 1);
                let (yes, no) = (self.expr(exprs, vars, ty, depth - 1), self.expr(exprs, vars, ty, depth - 1));
                exprs.ite(cond, yes, no)
            }
            5 => {
                let left = self.expr(exprs, vars, ty, depth - 1);
                let amount = exprs.constant(ty, i128::from(self.below(u64::from(ty.bits))));
                exprs.binary(if self.below(2) == 0 { BinOp::Shl } else { BinOp::Shr }, left, amount)
            }
            6 => {
                let left = self.expr(exprs, vars, ty, depth - 1);
                let divisor = exprs.constant(ty, i128::from(self.below(100)) + 1);
                exprs.binary(if self.below(2) == 0 { BinOp::Div } else { BinOp::Rem }, left, divisor)
            }
            other => {
                let (left, right) = (self.expr(exprs, vars, ty, depth - 1), self.expr(exprs, vars, ty, depth - 1));
                let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor];
                exprs.binary(
                    ops[(other - 7) as usize % 6 + usize::from(other == 11 && self.below(2) == 0)],
                    left,
                    right,
                )
            }
        }
    }
}

#[test]
fn expressions_mean_in_c_what_they_mean_in_the_automaton() {
    let base = load(format!("{HEAD}int main(void) {{ while (e) e--; }}"));
    let statement = base.loop_statements[0];
    let names = base.names_at(0, statement.body.start);
    let vars: Vec<(VarId, IntTy)> =
        names.iter().filter(|(_, name)| !name.pointer).map(|(&var, _)| (var, base.var(var).ty)).collect();
    assert_eq!(vars.len(), 8);
    let mut random = Random(7);
    for round in 0..1500 {
        let mut known = Invariants::new();
        let (_, ty) = vars[random.below(8) as usize];
        let expr = random.expr(&mut known.exprs, &vars, ty, 4);
        let truth = known.exprs.truth(expr);
        known.add_case(statement.head, vec![truth]);
        let Some(text) = report::cexpr::invariant(&base, &known, statement.head, &names) else {
            assert_ne!(known.exprs.as_const(truth), Some(0));
            continue;
        };
        // The order of the variables is that of their declarations in both programs.
        let read = load(format!("{HEAD}int r; int main(void) {{ r = !!({text}); }}"));
        let value = read.edges.iter().rev().find_map(|edge| match edge.op {
            Op::Assign { var, value } if &*read.var(var).name == "r" => Some(value),
            _ => None,
        });
        let value = value.unwrap_or_else(|| panic!("no value: {text}"));
        for _ in 0..5 {
            let values: BTreeMap<VarId, i128> = vars.iter().map(|&(var, ty)| (var, random.value(ty))).collect();
            let expected = cfa::eval(&known.exprs, truth, &mut |var| values[&var]).unwrap();
            let found = cfa::eval(&read.exprs, value, &mut |var| values[&var]);
            assert_eq!(found, Ok(expected), "round {round}: {text} for {values:?}");
        }
    }
}

#[test]
fn what_has_no_name_is_left_out() {
    let program = load("int g; int main(void) { int x = 1; { int g = 2; while (x < g) x++; } }".into());
    let statement = program.loop_statements[0];
    let names = program.names_at(0, statement.body.start);
    let var = |name: &str| VarId::new(program.vars.iter().position(|var| &*var.name == name).unwrap());
    let mut known = Invariants::new();
    let exprs = &mut known.exprs;
    let mut positive = |name: &str| {
        let (var, zero) = (exprs.var(var(name), IntTy::INT), exprs.constant(IntTy::INT, 0));
        exprs.cmp(CmpOp::Lt, zero, var)
    };
    let (x, inner, outer) = (positive("main::x"), positive("main::g"), positive("g"));
    let (both, either) = (exprs.and(x, outer), exprs.or(inner, outer));
    known.add_case(statement.head, vec![both, either, inner]);
    let text = report::cexpr::invariant(&program, &known, statement.head, &names);
    assert_eq!(text.as_deref(), Some("0 < g && 0 < x"));
}
