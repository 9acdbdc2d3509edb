// SPDX-License-Identifier: Apache-2.0
//! Expressions whose values depend on where objects lie, which C leaves open: the order of the addresses of different
//! objects, their distance, and the bits of an address.
//!
//! What does not depend on it is left alone: comparisons for equality, comparisons and differences within one object,
//! copies and parts of addresses, and the bits below the alignment of an object. So is what is computed from a variable that
//! also holds numbers; these are what a program computes with.

use std::cell::LazyCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::ExprId;
use crate::ir::{AllocKind, BinOp, CmpOp, Edge, ExprKind, IntTy, Op};

use super::Input;
use super::bases::{Bases, repeated};
use super::points_to::PointsTo;

/// No object lies in so many of the first or last bytes of the address space, which programs use for errors.
pub const MARGIN: i128 = 4096;

/// Masks that keep all bits but some of the lowest four are for aligning an address; objects start at multiples of 16 here.
const ALIGNING: std::ops::Range<i128> = -16..0;

const ORDER: &str = "order of addresses of different objects";
const DISTANCE: &str = "distance of different objects";
const BITS: &str = "bits of an address";

/// A part of an expression whose value is open: the expression itself, or an operand.
#[derive(Clone, Copy)]
pub(crate) struct Open {
    pub(crate) part: ExprId,
    /// What it is, for a message.
    pub(crate) what: &'static str,
}

/// The expressions of some edges that depend on where objects lie.
pub(super) fn open_values(
    input: &Input<'_>,
    edges: &[(usize, &Edge)],
    found: &mut PointsTo<'_>,
) -> FxHashMap<ExprId, Open> {
    let members = members(input, edges, found);
    let mut search =
        Search { input, edges, found, members, bases: None, seen: FxHashSet::default(), open: FxHashMap::default() };
    for (_, edge) in edges {
        if let Op::Assume { cond, .. } = &edge.op
            && let Some(open) = search.condition(*cond)
        {
            search.open.insert(*cond, open);
        }
        edge.op.operands().into_iter().for_each(|expr| search.visit(expr));
    }
    search.open
}

/// What is known of the objects of a class.
#[derive(Clone, Copy)]
struct Members {
    /// Whether there is never more than one.
    single: bool,
    /// The addresses of all are multiples of it wherever they lie.
    align: u64,
}

fn members(input: &Input<'_>, edges: &[(usize, &Edge)], found: &PointsTo<'_>) -> FxHashMap<usize, Members> {
    let mut members: FxHashMap<usize, Members> = FxHashMap::default();
    let fixed = (0..input.objects.len()).map(|at| (found.find(at), true, input.aligns[at]));
    // Most programs make no objects.
    let repeated = LazyCell::new(|| repeated(edges, Some(input.funcs)));
    let made = edges.iter().filter_map(|(at, edge)| {
        let Op::Alloc { kind, .. } = &edge.op else { return None };
        let align = match kind {
            // Any object may be in it that has no stricter alignment than two pointers.
            AllocKind::Heap => u64::from(input.pointer_bits / 4),
            AllocKind::Arguments => u64::from(input.pointer_bits / 8),
            AllocKind::Stack | AllocKind::VariableLength => 1,
        };
        Some((found.made_by(*at)?, !repeated.contains(at), align))
    });
    for (class, single, align) in fixed.chain(made) {
        members
            .entry(class)
            .and_modify(|known| *known = Members { single: false, align: known.align.min(align) })
            .or_insert(Members { single, align });
    }
    members
}

struct Search<'s, 'i, 'p> {
    input: &'s Input<'i>,
    edges: &'s [(usize, &'s Edge)],
    found: &'s mut PointsTo<'p>,
    members: FxHashMap<usize, Members>,
    bases: Option<Bases>,
    seen: FxHashSet<ExprId>,
    open: FxHashMap<ExprId, Open>,
}

impl Search<'_, '_, '_> {
    fn visit(&mut self, root: ExprId) {
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            if self.seen.insert(id) {
                if let Some(open) = self.open_part(id) {
                    self.open.insert(id, open);
                }
                todo.extend(self.input.exprs.operands(id));
            }
        }
    }

    /// The class of an expression that is an address or computed from one. Constants may be numbers.
    fn address(&mut self, id: ExprId) -> Option<usize> {
        if self.input.exprs.as_const(id).is_some() { None } else { self.found.address(id) }
    }

    /// The part of an expression that depends on the layout, if its operator brings that about.
    fn open_part(&mut self, id: ExprId) -> Option<Open> {
        let expr = self.input.exprs.get(id);
        match expr.kind {
            ExprKind::Cmp(CmpOp::Lt | CmpOp::Le, left, right) => {
                self.is_order(left, right).then_some(Open { part: id, what: ORDER })
            }
            ExprKind::Cmp(CmpOp::Eq | CmpOp::Ne, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => self.condition(left).or_else(|| self.condition(right)),
            ExprKind::Not(arg) | ExprKind::Ite(arg, ..) => self.condition(arg),
            ExprKind::FloatFromInt(_, arg) => self.address(arg).map(|_| Open { part: arg, what: BITS }),
            ExprKind::Binary(BinOp::Sub, left, right) => {
                if self.address(left).is_none() && self.address(right).is_none() {
                    return None;
                }
                let (a, b) = (self.found.pointed(left)?, self.found.pointed(right)?);
                (!self.within_one(a, b, left, right)).then_some(Open { part: id, what: DISTANCE })
            }
            ExprKind::Binary(op, left, right) => {
                let part = match (self.address(left), self.address(right)) {
                    (None, None) => return None,
                    (Some(_), None) => left,
                    (None, Some(_)) => right,
                    (Some(_), Some(_)) => id,
                };
                self.is_bits(op, left, right, expr.ty).then_some(Open { part, what: BITS })
            }
            _ => None,
        }
    }

    /// A part of an address that is looked at as a whole.
    fn condition(&mut self, id: ExprId) -> Option<Open> {
        let narrow = self.input.exprs.ty(id).bits < self.input.pointer_bits;
        (narrow && self.address(id).is_some()).then_some(Open { part: id, what: BITS })
    }

    fn within_one(&mut self, a: usize, b: usize, left: ExprId, right: ExprId) -> bool {
        if a != b {
            return false;
        }
        if self.members.get(&a).is_some_and(|members| members.single) {
            return true;
        }
        let (input, edges, found) = (self.input, self.edges, &mut *self.found);
        let bases = self.bases.get_or_insert_with(|| Bases::new(input, edges, found));
        bases.are_one(input, edges, found, left, right)
    }

    /// Whether it depends on the layout which of two values is less.
    fn is_order(&mut self, left: ExprId, right: ExprId) -> bool {
        if self.address(left).is_none() && self.address(right).is_none() {
            return false;
        }
        let number = match (self.found.pointed(left), self.found.pointed(right)) {
            (Some(a), Some(b)) => return !self.within_one(a, b, left, right),
            (Some(_), None) => right,
            _ => left,
        };
        let ty = self.input.exprs.ty(number);
        let Some(number) = self.input.exprs.as_const(number) else { return true };
        let marginal = if ty.signed { number.abs() <= MARGIN } else { number <= MARGIN || ty.max() - number <= MARGIN };
        // Programs run in the lower half of the 64-bit addresses, but in both halves of the 32-bit ones.
        !marginal || ty.bits < self.input.pointer_bits || (ty.signed && ty.bits == 32)
    }

    /// Whether an operator looks at bits of an address that depend on the layout.
    fn is_bits(&mut self, op: BinOp, left: ExprId, right: ExprId, ty: IntTy) -> bool {
        let (l, r) = (self.input.exprs.as_const(left), self.input.exprs.as_const(right));
        // A wide number with an address in it, as unions have.
        let wide = ty.bits > self.input.pointer_bits;
        let mut align = || {
            let class = self.found.pointed(left).or(self.found.pointed(right));
            let known = class.and_then(|class| self.members.get(&class));
            known.map_or(1, |members| i128::from(members.align.min(16)))
        };
        match (op, r.or(l)) {
            // Exchanged addresses, and sums that are no addresses, are looked at elsewhere if at all.
            (BinOp::Add | BinOp::Sub | BinOp::BitXor, _) => false,
            (BinOp::Shl | BinOp::Shr, Some(by)) if wide && r.is_some() => by % 8 != 0,
            (BinOp::BitAnd | BinOp::BitOr, _) if wide => false,
            (BinOp::BitAnd, Some(mask)) => {
                !(0..align()).contains(&mask) && !ALIGNING.contains(&IntTy { signed: true, ..ty }.wrap(mask))
            }
            (BinOp::BitOr, Some(mask)) => !(0..align()).contains(&mask),
            (BinOp::Rem, Some(by)) if r.is_some() && !ty.signed && by > 0 => align() % by != 0,
            _ => true,
        }
    }
}
