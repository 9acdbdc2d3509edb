// SPDX-License-Identifier: Apache-2.0
//! Candidates that somebody else brings: bounds of variables and of sums of two. Like all candidates they are used only when
//! the solver proved them, so whoever brings them need not be trusted.

use std::collections::BTreeMap;

use cfa::ids::{NodeId, VarId};
use cfa::ir::CmpOp;
use cfa::{IntTy, Program};
use cpa_core::{Cx, Stop};
use cpa_predicate::{Encoding, Manager};
use smt::{BvBin, TermId};

use super::candidates::variable;

/// The sum of one or two variables, each negated where that is said, is at most a number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bound {
    /// The variables; two different ones, if there are two.
    pub terms: Vec<(VarId, bool)>,
    /// The number.
    pub most: i128,
}

/// Proposes invariants of locations.
pub trait Proposer {
    /// What may hold whenever control is at a location. Asked once.
    fn propose(&mut self, cx: &Cx) -> Result<BTreeMap<NodeId, Vec<Bound>>, Stop>;
}

/// The bound as a term; none if it says nothing or the types do not allow to say it.
pub(super) fn term(manager: &mut Manager, program: &Program, bound: &Bound) -> Option<TermId> {
    let ty = |var: VarId| program.var(var).ty;
    match bound.terms[..] {
        [(var, negative)] => {
            let (ty, limit) = (ty(var), if negative { -bound.most } else { bound.most });
            if limit < ty.min() || limit > ty.max() {
                return None;
            }
            let (x, limit) = (variable(manager, var), manager.encoder.constant(&mut manager.terms, limit, ty));
            Some(at_most(manager, ty, negative, x, limit))
        }
        [(one, minus_one), (two, minus_two)] if ty(one) == ty(two) => {
            let ty = ty(one);
            // x + y <= c and -x - y <= c: x is compared with c - y and -c - y; x - y <= c: with y + c.
            let (constant, negative) = (if minus_one { -bound.most } else { bound.most }, minus_one == minus_two);
            if constant < ty.min() || constant > ty.max() {
                return None;
            }
            let constant = manager.encoder.constant(&mut manager.terms, constant, ty);
            let (x, y) = (variable(manager, one), variable(manager, two));
            let terms = &mut manager.terms;
            let other = match (manager.encoder.encoding(), negative) {
                (Encoding::Integer, true) => terms.int_sub(constant, y),
                (Encoding::Integer, false) => terms.int_add(constant, y),
                (Encoding::Bitvector, true) => terms.bv_bin(BvBin::Sub, constant, y),
                (Encoding::Bitvector, false) => terms.bv_bin(BvBin::Add, constant, y),
            };
            Some(at_most(manager, ty, minus_one, x, other))
        }
        _ => None,
    }
}

fn at_most(manager: &mut Manager, ty: IntTy, reversed: bool, x: TermId, y: TermId) -> TermId {
    let (x, y) = if reversed { (y, x) } else { (x, y) };
    manager.encoder.compare(&mut manager.terms, CmpOp::Le, ty, x, y)
}
