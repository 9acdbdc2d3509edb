// SPDX-License-Identifier: Apache-2.0
//! Laws of the expression store: folding and simplification never change a value nor whether there is one.

use cfa::eval::{binary_value, cmp_value, unary_value};
use cfa::{BinOp, CmpOp, ExprId, Exprs, IntTy, UnOp, Undefined, VarId, eval};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Tree {
    Const(i128),
    Var(usize),
    Unary(UnOp, Box<Tree>),
    Binary(BinOp, Box<Tree>, Box<Tree>),
    Cmp(CmpOp, Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Ite(Box<Tree>, Box<Tree>, Box<Tree>),
    Cast(IntTy, Box<Tree>),
}

fn ty() -> impl Strategy<Value = IntTy> {
    (prop::sample::select(vec![8u32, 16, 32, 64]), any::<bool>()).prop_map(|(bits, signed)| IntTy { bits, signed })
}

fn number() -> impl Strategy<Value = i128> {
    prop_oneof![
        4 => -3i128..4,
        2 => prop::sample::select(vec![-129i128, -128, 127, 128, 255, 256, 32767, 65535, 1 << 31, (1 << 31) - 1, 1 << 63]),
        1 => any::<i64>().prop_map(i128::from),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![number().prop_map(Tree::Const), (0usize..4).prop_map(Tree::Var)];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let b = || inner.clone().prop_map(Box::new);
        let binop = prop::sample::select(vec![
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::Div,
            BinOp::Rem,
            BinOp::Shl,
            BinOp::Shr,
            BinOp::BitAnd,
            BinOp::BitOr,
            BinOp::BitXor,
        ]);
        let cmpop = prop::sample::select(vec![CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le]);
        prop_oneof![
            1 => (prop::sample::select(vec![UnOp::Neg, UnOp::BitNot]), b()).prop_map(|(op, a)| Tree::Unary(op, a)),
            3 => (binop, b(), b()).prop_map(|(op, x, y)| Tree::Binary(op, x, y)),
            3 => (cmpop, b(), b()).prop_map(|(op, x, y)| Tree::Cmp(op, x, y)),
            1 => b().prop_map(Tree::Not),
            1 => (b(), b()).prop_map(|(x, y)| Tree::And(x, y)),
            1 => (b(), b()).prop_map(|(x, y)| Tree::Or(x, y)),
            1 => (b(), b(), b()).prop_map(|(c, x, y)| Tree::Ite(c, x, y)),
            3 => (ty(), b()).prop_map(|(ty, a)| Tree::Cast(ty, a)),
        ]
    })
}

/// Operands are brought to the type of the left one.
struct Build<'e> {
    exprs: &'e mut Exprs,
    types: [IntTy; 4],
    values: [i128; 4],
}

impl Build<'_> {
    /// The expression and, computed apart from it, its value.
    fn build(&mut self, tree: &Tree) -> (ExprId, Result<i128, Undefined>) {
        match tree {
            Tree::Const(value) => {
                let ty = IntTy { bits: 64, signed: true };
                (self.exprs.constant(ty, *value), Ok(ty.wrap(*value)))
            }
            Tree::Var(at) => {
                let ty = self.types[*at];
                (self.exprs.var(VarId::new(*at), ty), Ok(ty.wrap(self.values[*at])))
            }
            Tree::Unary(op, a) => {
                let (a, value) = self.build(a);
                let ty = self.exprs.ty(a);
                (self.exprs.unary(*op, a), value.map(|value| unary_value(*op, ty, value)))
            }
            Tree::Binary(op, a, b) => {
                let ((a, x), (b, y), ty) = self.pair(a, b);
                (self.exprs.binary(*op, a, b), x.and_then(|x| y.and_then(|y| binary_value(*op, ty, x, y))))
            }
            Tree::Cmp(op, a, b) => {
                let ((a, x), (b, y), _) = self.pair(a, b);
                (self.exprs.cmp(*op, a, b), x.and_then(|x| y.map(|y| i128::from(cmp_value(*op, x, y)))))
            }
            Tree::Not(a) => {
                let (a, value) = self.build(a);
                (self.exprs.not(a), value.map(|value| i128::from(value == 0)))
            }
            Tree::And(a, b) => {
                let ((a, x), (b, y)) = (self.build(a), self.build(b));
                (self.exprs.and(a, b), x.and_then(|x| if x == 0 { Ok(0) } else { y.map(|y| i128::from(y != 0)) }))
            }
            Tree::Or(a, b) => {
                let ((a, x), (b, y)) = (self.build(a), self.build(b));
                (self.exprs.or(a, b), x.and_then(|x| if x != 0 { Ok(1) } else { y.map(|y| i128::from(y != 0)) }))
            }
            Tree::Ite(c, a, b) => {
                let (c, value) = self.build(c);
                let ((a, x), (b, y), _) = self.pair(a, b);
                (self.exprs.ite(c, a, b), value.and_then(|value| if value != 0 { x } else { y }))
            }
            Tree::Cast(ty, a) => {
                let (a, value) = self.build(a);
                (self.exprs.cast(a, *ty), value.map(|value| ty.wrap(value)))
            }
        }
    }

    #[allow(clippy::type_complexity)]
    fn pair(
        &mut self,
        a: &Tree,
        b: &Tree,
    ) -> ((ExprId, Result<i128, Undefined>), (ExprId, Result<i128, Undefined>), IntTy) {
        let a = self.build(a);
        let (b, value) = self.build(b);
        let ty = self.exprs.ty(a.0);
        (a, (self.exprs.cast(b, ty), value.map(|value| ty.wrap(value))), ty)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn building_keeps_values(tree in tree(), types in [ty(), ty(), ty(), ty()], values in [number(), number(), number(), number()]) {
        let mut exprs = Exprs::new();
        let (id, expected) = Build { exprs: &mut exprs, types, values }.build(&tree);
        let found = eval(&exprs, id, &mut |var| types[var.index()].wrap(values[var.index()]));
        prop_assert_eq!(found.is_ok(), expected.is_ok());
        if let (Ok(found), Ok(expected)) = (found, expected) {
            prop_assert_eq!(found, expected);
        }
        let ty = exprs.ty(id);
        prop_assert!(exprs.is_truth(id) <= found.is_none_or_truth());
        prop_assert!(found.is_err() || ty.wrap(found.unwrap()) == found.unwrap());
        prop_assert!(!exprs.is_total(id) || found.is_ok());
    }
}

trait NoneOrTruth {
    fn is_none_or_truth(&self) -> bool;
}

impl NoneOrTruth for Result<i128, Undefined> {
    fn is_none_or_truth(&self) -> bool {
        self.is_err() || matches!(self, Ok(0 | 1))
    }
}

#[test]
fn equal_expressions_are_shared() {
    let mut exprs = Exprs::new();
    let x = exprs.var(VarId::new(0), IntTy::INT);
    let one = exprs.constant(IntTy::INT, 1);
    let a = exprs.binary(BinOp::Add, x, one);
    assert_eq!(a, exprs.binary(BinOp::Add, x, one));
    let not = exprs.not(a);
    assert_eq!(exprs.not(not), exprs.truth(a));
    assert_eq!(exprs.vars(a), [VarId::new(0)]);
}
