// SPDX-License-Identifier: Apache-2.0
//! Operands that C evaluates in any order, C11 6.5: those of most operators, the arguments of a call, both sides of an
//! assignment, the values of an initialiser in braces. The lowering takes them from left to right. Where one is a call that
//! writes what another one reads or writes, another order may have another result, and nothing is said about the
//! program behind that place.
//!
//! Calls are known by what they and all that they call read and write: global variables and regions of memory. That both take
//! inputs, or new objects, does not matter: these are any in either order. An object that a call makes is not there before,
//! and who gets at it afterwards has read its address somewhere, so accesses of a function to its own new objects do not count.

use std::collections::BTreeSet;
use std::ops::Range as Edges;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::Range;
use crate::ids::{FuncId, NodeId, RegionId, VarId};
use crate::ir::{ExprKind, Op, Region, Scope as VarScope, Span};

use super::place::Place;
use super::{Lower, Val};

/// What the verifier says of operands whose order matters; they stand on the edges behind.
pub(crate) const OPEN_ORDER: &str =
    "operands that change what others use, in an order of evaluation that C leaves open";

/// Where the evaluation of an operand begins: the place, and the first edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    node: NodeId,
    edge: usize,
}

/// Two evaluations in any order, of which one contains a call.
pub(super) struct Unsequenced {
    /// Where the first one begins.
    node: NodeId,
    left: Operand,
    right: Operand,
    span: Span,
}

struct Operand {
    edges: Edges<usize>,
    /// The variables that its value is computed from when it is used.
    vars: Vec<VarId>,
    /// Whether its value is read from memory when it is used.
    in_memory: bool,
}

/// What a part of the program reads and writes.
#[derive(Clone, Default)]
struct Effects {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
    loads: BTreeSet<RegionId>,
    stores: BTreeSet<RegionId>,
    /// Whether it reads or writes memory that is in no known region.
    loads_any: bool,
    stores_any: bool,
    callees: BTreeSet<FuncId>,
}

impl Effects {
    fn add(&mut self, other: &Effects) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.loads.extend(&other.loads);
        self.stores.extend(&other.stores);
        self.loads_any |= other.loads_any;
        self.stores_any |= other.stores_any;
        self.callees.extend(&other.callees);
    }

    /// Whether it writes something that the other one reads or writes, but for some regions.
    fn disturbs(&self, other: &Effects, private: &impl Fn(RegionId) -> bool) -> bool {
        let touched = |region: &RegionId| other.loads.contains(region) || other.stores.contains(region);
        let anything = |any: bool, regions: &BTreeSet<RegionId>| any || regions.iter().any(|region| !private(*region));
        let stores = anything(self.stores_any, &self.stores);
        let touches = anything(other.loads_any || other.stores_any, &other.loads) || anything(false, &other.stores);
        self.writes.iter().any(|var| other.reads.contains(var) || other.writes.contains(var))
            || self.stores.iter().any(|region| !private(*region) && touched(region))
            || (self.stores_any && touches)
            || (stores && (other.loads_any || other.stores_any))
    }
}

impl Lower<'_> {
    /// The evaluation of operands begins at the current place.
    pub(super) fn begin(&self) -> Begin {
        Begin { node: self.cur, edge: self.graph.edges.len() }
    }

    /// Notes that what was evaluated from `begin` to the edge `middle`, with the values `left`, and what came then, with the
    /// values `right`, may be evaluated in another order.
    pub(super) fn unsequenced(&mut self, begin: Begin, middle: usize, left: &[Val], right: &[Val], range: Range) {
        let end = self.graph.edges.len();
        self.refuse_builtins(begin.edge..end, middle, range);
        if self.before_start || self.at_file_scope() || !self.graph.has_call(begin.edge..end) {
            return;
        }
        let left = self.operand(begin.edge..middle, left);
        let right = self.operand(middle..end, right);
        let span = self.span(range);
        self.unsequenced.push(Unsequenced { node: begin.node, left, right, span });
    }

    /// Makes operands unsupported of which both read from variable arguments, or of which one is an atomic access and the
    /// other one touches memory: these are calls, too.
    fn refuse_builtins(&mut self, edges: Edges<usize>, middle: usize, range: Range) {
        let (left, right) = (edges.start..middle, middle..edges.end);
        let among = |found: &[usize], part: &Edges<usize>| found.iter().any(|at| part.start < *at && *at <= part.end);
        let touches = |part: &Edges<usize>| {
            self.graph.edges[part.clone()].iter().any(|edge| {
                !matches!(
                    edge.op,
                    Op::Skip | Op::Assume { .. } | Op::Assign { .. } | Op::Havoc { .. } | Op::Alloc { .. }
                )
            })
        };
        let atomic = |one, other| among(&self.atomic_writes, one) && touches(other);
        let open = (among(&self.lists_read, &left) && among(&self.lists_read, &right))
            || atomic(&left, &right)
            || atomic(&right, &left);
        if open {
            self.unsupported(OPEN_ORDER, range);
        }
    }

    fn operand(&self, edges: Edges<usize>, values: &[Val]) -> Operand {
        let mut operand = Operand { edges, vars: Vec::new(), in_memory: false };
        for value in values {
            match value {
                Val::Int(expr, _) => operand.vars.extend(self.exprs.vars(*expr)),
                Val::Aggregate(Place::Memory(expr), _) => {
                    operand.vars.extend(self.exprs.vars(*expr));
                    operand.in_memory = true;
                }
                Val::Aggregate(Place::Vars(slots, _), _) => operand.vars.extend(slots.iter().map(|slot| slot.var)),
                Val::Aggregate(Place::Nowhere(_), _) | Val::Opaque(..) | Val::Void => {}
            }
        }
        operand
    }

    /// Makes the evaluations unsupported whose order matters. Memory has been divided.
    /// `fresh` are accesses of functions to objects that they have made themselves.
    pub(super) fn refuse_open_order(&mut self, regions: &[Region], fresh: &FxHashSet<usize>, live: &[bool]) {
        let noted = std::mem::take(&mut self.unsequenced);
        if noted.is_empty() {
            return;
        }
        let mut direct: FxHashMap<FuncId, Effects> = FxHashMap::default();
        for (at, edge) in self.graph.edges.iter().enumerate().filter(|(at, _)| live.get(*at) != Some(&false)) {
            let func = self.graph.func(edge.src);
            self.add_effects(direct.entry(func).or_default(), at, fresh.contains(&at));
        }
        let mut whole: FxHashMap<FuncId, Effects> = FxHashMap::default();
        let mut refused: BTreeSet<NodeId> = BTreeSet::new();
        for found in noted {
            if !refused.contains(&found.node)
                && live[found.left.edges.start..found.right.edges.end].contains(&true)
                && self.order_matters(&found, regions, live, &direct, &mut whole)
            {
                refused.insert(found.node);
                let next = self.graph.node(self.graph.func(found.node), false);
                for edge in &mut self.graph.edges {
                    if edge.src == found.node {
                        edge.src = next;
                    }
                }
                let op = Op::Unsupported { construct: OPEN_ORDER.into() };
                self.graph.edge(found.node, next, op, found.span);
            }
        }
    }

    fn order_matters(
        &self,
        found: &Unsequenced,
        regions: &[Region],
        live: &[bool],
        direct: &FxHashMap<FuncId, Effects>,
        whole: &mut FxHashMap<FuncId, Effects>,
    ) -> bool {
        // What the operand does itself, and what the functions do that it calls.
        let mut effects = |operand: &Operand| {
            let mut own = Effects::default();
            own.reads.extend(operand.vars.iter().copied().filter(|var| self.is_shared(*var)));
            own.loads_any = operand.in_memory;
            for at in operand.edges.clone().filter(|at| live.get(*at) != Some(&false)) {
                // An object that the function has made may be there before its operand is evaluated.
                self.add_effects(&mut own, at, false);
            }
            let mut called = Effects::default();
            for callee in &own.callees {
                called.add(whole.entry(*callee).or_insert_with(|| closure(*callee, direct)));
            }
            (own, called)
        };
        let ((left, left_called), (right, right_called)) = (effects(&found.left), effects(&found.right));
        // An object of a function that is called lives in one call only.
        let private = |region: RegionId| {
            let Some(region) = regions.get(region.index()) else { return false };
            !region.others
                && region.objects.iter().all(|addr| {
                    // Nobody but the callee reads the array of variable arguments of a call.
                    if self.argument_objects.contains(addr) {
                        return true;
                    }
                    let object = self.memory.objects.binary_search_by_key(addr, |object| object.addr);
                    object.is_ok_and(|at| match self.memory.objects[at].scope {
                        VarScope::Local(func) => {
                            [&left_called, &right_called].iter().any(|called| called.callees.contains(&func))
                        }
                        VarScope::Global => false,
                    })
                })
        };
        let disturb = |a: &Effects, b: &Effects| a.disturbs(b, &private) || b.disturbs(a, &private);
        disturb(&left_called, &right_called) || disturb(&left_called, &right) || disturb(&left, &right_called)
    }

    /// Whether other functions see a variable. The temporary ones that pass structures are read at once.
    fn is_shared(&self, var: VarId) -> bool {
        let var = &self.vars[var.index()];
        var.scope == VarScope::Global && !var.temporary
    }

    fn add_effects(&self, effects: &mut Effects, edge: usize, fresh: bool) {
        let op = &self.graph.edges[edge].op;
        for operand in op.operands() {
            match self.exprs.get(operand).kind {
                ExprKind::Const(_) => {}
                _ => effects.reads.extend(self.exprs.vars(operand).into_iter().filter(|var| self.is_shared(*var))),
            }
        }
        effects.writes.extend(op.written().filter(|var| self.is_shared(*var)));
        match op {
            Op::Load { .. } | Op::Store { .. } | Op::Zero { .. } if fresh => {}
            Op::Load { region, .. } => {
                effects.loads.insert(*region);
            }
            Op::Store { region, .. } | Op::Zero { region, .. } => {
                effects.stores.insert(*region);
            }
            Op::Free { .. } => effects.stores_any = true,
            Op::Call { callee, .. } => {
                effects.callees.insert(*callee);
            }
            Op::Assign { .. } | Op::Havoc { .. } | Op::Alloc { .. } => {}
            Op::Skip | Op::Assume { .. } | Op::Unsupported { .. } => {}
        }
    }
}

/// What a function and all that it calls do; it is among the callees itself.
fn closure(func: FuncId, direct: &FxHashMap<FuncId, Effects>) -> Effects {
    let mut effects = Effects::default();
    let mut todo = vec![func];
    let mut seen: BTreeSet<FuncId> = BTreeSet::new();
    while let Some(func) = todo.pop() {
        if seen.insert(func)
            && let Some(found) = direct.get(&func)
        {
            effects.add(found);
            todo.extend(&found.callees);
        }
    }
    effects.callees = seen;
    effects
}
