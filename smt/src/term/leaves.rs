// SPDX-License-Identifier: Apache-2.0
//! Operations on the leaves of if-then-else trees.
//!
//! After a few statements the value of a control variable is a tree of if-then-else nodes with constants at the
//! leaves, and perhaps the variable's old value at one of them. Applying an operation to the leaves instead of the
//! tree turns a comparison with a constant into Boolean structure over the conditions, in which no arithmetic is left.
//! The work is memoised over the DAG of the tree, so it is linear in the tree for each operation and constant. But each
//! operation may double the DAG, as where bits are set one by one on conditions of their own; trees with more than
//! [`LEAVES`] different leaves are left as they are from then on.
//!
//! Constructors reach each other through this module (a leaf is simplified by its constructor, which may push an
//! operation into the next tree). Terms for which that would nest deeper than [`DEPTH`] are left as they are. These
//! are the exceptions to "the result depends only on the arguments": it then also depends on the nesting and on what
//! was tried before.

use super::ids::TermId;
use super::node::{BvBin, BvCmp, BvUn, FpBin, FpCmp, FpUn, Term};
use super::store::Terms;

/// Nesting of constructors through trees.
const DEPTH: u32 = 64;
/// The most leaves that an operation is applied to at a time.
const LEAVES: usize = 1 << 10;

/// What stands at the leaves of a term's top-level if-then-else nodes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Leaves {
    /// Only constants.
    Consts,
    /// Constants and one other term, which is free of arithmetic if-then-else.
    One(TermId),
    /// Anything else.
    Many,
}

impl Leaves {
    pub(super) fn union(self, other: Leaves) -> Leaves {
        match (self, other) {
            (Leaves::Consts, x) | (x, Leaves::Consts) => x,
            (Leaves::One(a), Leaves::One(b)) if a == b => self,
            (Leaves::One(_) | Leaves::Many, Leaves::One(_) | Leaves::Many) => Leaves::Many,
        }
    }
}

/// An operation with one operand left open.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub(super) enum LeafOp {
    Eq(TermId),
    Cmp(BvCmp, TermId),
    IntLe(TermId),
    Un(BvUn),
    /// The open operand stands on the left.
    BinLeft(BvBin, TermId),
    /// The open operand stands on the right.
    BinRight(BvBin, TermId),
    Extract(u32, u32),
    Zext(u32),
    Sext(u32),
    IntAdd(TermId),
    IntMulConst(i128),
    IntDiv(i128),
    IntMod(i128),
    FpUn(FpUn),
    /// The open operand stands on the left, here and in the comparison.
    FpLeft(FpBin, TermId),
    FpRight(FpBin, TermId),
    FpCmpLeft(FpCmp, TermId),
    FpCmpRight(FpCmp, TermId),
}

/// A comparison of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Comparison {
    Eq,
    Bv(BvCmp),
}

impl Terms {
    /// Applies an operation to the leaves of `t`, if `t` is an if-then-else tree whose leaves are as demanded: only
    /// constants, or with `one_open` at most one other.
    pub(super) fn on_leaves(&mut self, op: LeafOp, t: TermId, one_open: bool) -> Option<TermId> {
        if !matches!(self.get(t), Term::Ite(..)) {
            return None;
        }
        match self.leaves_of(t) {
            Leaves::Consts => {}
            Leaves::One(_) if one_open => {}
            Leaves::One(_) | Leaves::Many => return None,
        }
        let mapped = self.nested(|terms| terms.map_leaves(op, t))?;
        if mapped.is_none() {
            self.forget_leaves(t);
        }
        mapped
    }

    /// Runs a constructor from within another one; None if they nest too deeply.
    pub(super) fn nested<T>(&mut self, f: impl FnOnce(&mut Terms) -> T) -> Option<T> {
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        Some(result)
    }

    /// None if there are too many leaves.
    fn map_leaves(&mut self, op: LeafOp, root: TermId) -> Option<TermId> {
        let mut stack = vec![root];
        let mut leaves = 0;
        while let Some(&t) = stack.last() {
            if self.leaf_memo.contains_key(&(op, t)) {
                stack.pop();
                continue;
            }
            let Term::Ite(c, a, b) = *self.get(t) else {
                leaves += 1;
                if leaves > LEAVES {
                    return None;
                }
                let result = self.apply_leaf_op(op, t);
                self.leaf_memo.insert((op, t), result);
                stack.pop();
                continue;
            };
            match (self.leaf_memo.get(&(op, a)).copied(), self.leaf_memo.get(&(op, b)).copied()) {
                (Some(x), Some(y)) => {
                    let result = self.ite(c, x, y);
                    self.leaf_memo.insert((op, t), result);
                    stack.pop();
                }
                (x, y) => {
                    stack.extend(y.is_none().then_some(b));
                    stack.extend(x.is_none().then_some(a));
                }
            }
        }
        Some(self.leaf_memo[&(op, root)])
    }

    pub(super) fn apply_leaf_op(&mut self, op: LeafOp, t: TermId) -> TermId {
        match op {
            LeafOp::Eq(k) => self.eq(t, k),
            LeafOp::Cmp(cmp, k) => self.bv_cmp(cmp, t, k),
            LeafOp::IntLe(k) => self.int_le(t, k),
            LeafOp::Un(un) => self.bv_un(un, t),
            LeafOp::BinLeft(bin, k) => self.bv_bin(bin, t, k),
            LeafOp::BinRight(bin, k) => self.bv_bin(bin, k, t),
            LeafOp::Extract(hi, lo) => self.extract(hi, lo, t),
            LeafOp::Zext(width) => self.zext(width, t),
            LeafOp::Sext(width) => self.sext(width, t),
            LeafOp::IntAdd(k) => self.int_add(t, k),
            LeafOp::IntMulConst(k) => self.int_mul_const(k, t),
            LeafOp::IntDiv(k) => self.int_div(t, k),
            LeafOp::IntMod(k) => self.int_mod(t, k),
            LeafOp::FpUn(op) => self.fp_un(op, t),
            LeafOp::FpLeft(op, k) => self.fp_bin(op, t, k),
            LeafOp::FpRight(op, k) => self.fp_bin(op, k, t),
            LeafOp::FpCmpLeft(op, k) => self.fp_cmp(op, t, k),
            LeafOp::FpCmpRight(op, k) => self.fp_cmp(op, k, t),
        }
    }

    /// The parts of `ite(c, k1, k2)` with constants k1, k2.
    pub(super) fn as_const_choice(&self, t: TermId) -> Option<(TermId, TermId, TermId)> {
        match *self.get(t) {
            Term::Ite(c, a, b) if self.as_value(a).is_some() && self.as_value(b).is_some() => Some((c, a, b)),
            _ => None,
        }
    }

    /// A comparison of two trees over the same condition, branch by branch: `ite(c, x, y) = ite(c, v, w)` is
    /// `ite(c, x = v, y = w)`. Trees share branches, so each pair is compared once.
    pub(super) fn on_same_condition(&mut self, op: Comparison, a: TermId, b: TermId) -> Option<TermId> {
        let (c, [x, y], [v, w]) = match (self.get(a), self.get(b)) {
            (&Term::Ite(c, x, y), &Term::Ite(d, v, w)) if c == d => (c, [x, y], [v, w]),
            _ => return None,
        };
        if let Some(&known) = self.compared.get(&(op, a, b)) {
            return Some(known);
        }
        let result = self.nested(|terms| {
            let mut compare = |a, b| match op {
                Comparison::Eq => terms.eq(a, b),
                Comparison::Bv(op) => terms.bv_cmp(op, a, b),
            };
            let (first, second) = (compare(x, v), compare(y, w));
            terms.ite(c, first, second)
        })?;
        self.compared.insert((op, a, b), result);
        Some(result)
    }

    /// A binary operation on two choices between constants, as the four combinations.
    pub(super) fn on_const_choices(
        &mut self,
        a: TermId,
        b: TermId,
        mut f: impl FnMut(&mut Terms, TermId, TermId) -> TermId,
    ) -> Option<TermId> {
        let (c, a1, a2) = self.as_const_choice(a)?;
        let (d, b1, b2) = self.as_const_choice(b)?;
        let (x, y) = (f(self, a1, b1), f(self, a1, b2));
        let first = self.ite(d, x, y);
        let (x, y) = (f(self, a2, b1), f(self, a2, b2));
        let second = self.ite(d, x, y);
        Some(self.ite(c, first, second))
    }
}
