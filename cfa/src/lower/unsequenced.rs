// SPDX-License-Identifier: Apache-2.0
//! Operands that C evaluates in any order, C11 6.5: those of most operators, the arguments of a call, both sides of an
//! assignment, the values of an initialiser in braces. The lowering takes them from left to right. Where one is a call that
//! writes what another one reads or writes, another order may have another result: all orders are put into the graph
//! (`orders`), or nothing is said about the program behind that place.
//!
//! Calls are known by what they and all that they call read and write: global variables and regions of memory. That both take
//! inputs, or new objects, does not matter: these are any in either order. An object that a call makes is not there before,
//! and who gets at it afterwards has read its address somewhere, so accesses of a function to its own new objects do not count.

use std::collections::BTreeSet;
use std::ops::Range as Edges;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{ExprRef, Range};
use crate::ids::{FuncId, NodeId, RegionId, VarId};
use crate::ir::{ExprKind, Op, Region, Scope as VarScope, Span};

use super::orders::Obstacle;
use super::place::Place;
use super::{Lower, Val};

/// What the verifier says of operands whose order matters; they stand on the edges behind.
pub(crate) const ORDER_MATTERS: &str =
    "operands that change what others use, in an order of evaluation that C leaves open";

/// What a choice between orders of evaluation is.
pub(super) const OPEN_ORDER: &str = "order of evaluation that C leaves open";

/// Where the evaluation of an operand begins: the place, and the first edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    node: NodeId,
    edge: usize,
    /// The same for all operands of one operator, call, or chain of operators.
    group: usize,
}

/// Two evaluations in any order, of which one contains a call.
pub(super) struct Unsequenced {
    /// Where the first one begins.
    pub(super) node: NodeId,
    group: usize,
    pub(super) left: Operand,
    pub(super) right: Operand,
    /// Where the first one ends and the second one begins, if that can be told.
    pub(super) ends: Option<(NodeId, NodeId)>,
    pub(super) right_end: NodeId,
    /// The expression that is the second one.
    key: Option<(usize, u32)>,
    pub(super) span: Span,
}

/// Where the first of two operands ends and the second one begins, and which expression that is.
pub(super) struct Between {
    pub(super) left_end: NodeId,
    pub(super) right_start: NodeId,
    pub(super) right: Option<ExprRef>,
}

pub(super) struct Operand {
    edges: Edges<usize>,
    /// The variables that its value is computed from when it is used.
    vars: Vec<VarId>,
    /// Whether its value is read from memory when it is used.
    in_memory: bool,
}

/// What a part of the program reads and writes.
#[derive(Clone, Default)]
pub(super) struct Effects {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
    loads: BTreeSet<RegionId>,
    stores: BTreeSet<RegionId>,
    /// What may have any value afterwards, so that it does not matter who was last.
    leaves_open: BTreeSet<RegionId>,
    /// Whether it reads or writes memory that is in no known region.
    loads_any: bool,
    stores_any: bool,
    callees: BTreeSet<FuncId>,
}

/// What is known about the whole program.
pub(super) struct Known<'k> {
    regions: &'k [Region],
    live: &'k [bool],
    direct: FxHashMap<FuncId, Effects>,
    whole: FxHashMap<FuncId, Effects>,
}

impl Effects {
    pub(super) fn add(&mut self, other: &Effects) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.loads.extend(&other.loads);
        self.stores.extend(&other.stores);
        self.leaves_open.extend(&other.leaves_open);
        self.loads_any |= other.loads_any;
        self.stores_any |= other.stores_any;
        self.callees.extend(&other.callees);
    }

    /// Whether it writes something that the other one reads or writes, but for some regions.
    pub(super) fn disturbs(&self, other: &Effects, private: &impl Fn(RegionId) -> bool) -> bool {
        let touched = |region: &RegionId| other.loads.contains(region) || other.stores.contains(region);
        let anything = |any: bool, regions: &BTreeSet<RegionId>| any || regions.iter().any(|region| !private(*region));
        let stores = anything(self.stores_any, &self.stores) || !self.leaves_open.is_empty();
        let touches = anything(other.loads_any || other.stores_any, &other.loads) || anything(false, &other.stores);
        self.writes.iter().any(|var| other.reads.contains(var) || other.writes.contains(var))
            || self.stores.iter().any(|region| !private(*region) && touched(region))
            || self.leaves_open.iter().any(touched)
            || (self.stores_any && touches)
            || (stores && (other.loads_any || other.stores_any))
    }
}

impl Lower<'_> {
    /// The evaluation of operands begins at the current place.
    pub(super) fn begin(&mut self) -> Begin {
        self.groups += 1;
        Begin { node: self.cur, edge: self.graph.edges.len(), group: self.groups }
    }

    /// Whether the order of an operand and those before it matters, so that its value must be read where it is evaluated.
    pub(super) fn reads_early(&self, right: ExprRef) -> bool {
        !self.early.is_empty() && self.early.contains(&(self.file, right.0))
    }

    /// Reads what the values of operands are computed from.
    pub(super) fn read_early(&mut self, values: &mut [Val], range: Range) {
        for value in values {
            if let Val::Int(expr, ty) = value
                && self.exprs.vars(*expr).into_iter().any(|var| self.is_shared(var))
            {
                *expr = self.saved_as(*expr, ty, range);
            }
        }
    }

    /// Notes that what was evaluated from `begin` to the edge `middle`, with the values `left`, and what came then, with the
    /// values `right`, may be evaluated in another order.
    pub(super) fn unsequenced(
        &mut self,
        begin: Begin,
        middle: usize,
        (left, right): (&[Val], &[Val]),
        between: &Between,
        range: Range,
    ) {
        let end = self.graph.edges.len();
        self.refuse_builtins(begin.edge..end, middle, (left, right), range);
        if self.before_start || self.at_file_scope() || !self.graph.has_call(begin.edge..end) {
            return;
        }
        let left = self.operand(begin.edge..middle, left);
        let right = self.operand(middle..end, right);
        let key = between.right.map(|right| (self.file, right.0));
        // Behind builtins that are not supported, the place is another one.
        let known = end == self.graph.edges.len();
        self.unsequenced.push(Unsequenced {
            node: begin.node,
            group: begin.group,
            left,
            right,
            ends: known.then_some((between.left_end, between.right_start)),
            right_end: self.cur,
            key,
            span: self.span(range),
        });
    }

    /// Makes operands unsupported of which both read from variable arguments, or of which one is an atomic access and the
    /// other one touches memory, or of which one reads by a format what the other one uses: these are calls, too.
    fn refuse_builtins(
        &mut self,
        edges: Edges<usize>,
        middle: usize,
        (left_values, right_values): (&[Val], &[Val]),
        range: Range,
    ) {
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
        // What is read by formats in one part, and whether the other one has to do with it.
        let uses = |part: &Edges<usize>, values: &[Val], vars: &BTreeSet<VarId>| {
            let is_read = |expr| self.exprs.vars(expr).iter().any(|var| vars.contains(var));
            self.operand(part.clone(), values).vars.iter().any(|var| vars.contains(var))
                || self.graph.edges[part.clone()].iter().any(|edge| {
                    edge.op.written().is_some_and(|var| vars.contains(&var))
                        || edge.op.operands().into_iter().any(is_read)
                })
        };
        let scanned = |one: &Edges<usize>, other: &Edges<usize>, values: &[Val]| {
            let scans = self.scans.iter().filter(|scan| one.start <= scan.start && scan.end <= one.end);
            scans.into_iter().any(|scan| {
                let written = self.graph.edges[scan.clone()].iter().filter_map(|edge| edge.op.written());
                let vars: BTreeSet<VarId> = written.filter(|var| !self.vars[var.index()].temporary).collect();
                touches(scan) && touches(other) || uses(other, values, &vars)
            })
        };
        let open = (among(&self.lists_read, &left) && among(&self.lists_read, &right))
            || atomic(&left, &right)
            || atomic(&right, &left)
            || scanned(&left, &right, right_values)
            || scanned(&right, &left, left_values);
        if open {
            self.unsupported(ORDER_MATTERS, range);
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

    /// Explores all orders where they matter, or makes the evaluations unsupported. Memory has been divided.
    /// `fresh` are accesses of functions to objects that they have made themselves.
    pub(super) fn settle_open_order(&mut self, regions: &[Region], fresh: &FxHashSet<usize>, live: &[bool]) {
        let noted = std::mem::take(&mut self.unsequenced);
        if noted.is_empty() && self.sorts.is_empty() {
            return;
        }
        let mut direct: FxHashMap<FuncId, Effects> = FxHashMap::default();
        for (at, edge) in self.graph.edges.iter().enumerate().filter(|(at, _)| live.get(*at) != Some(&false)) {
            let func = self.graph.func(edge.src);
            self.add_effects(direct.entry(func).or_default(), at, fresh.contains(&at));
        }
        let mut known = Known { regions, live, direct, whole: FxHashMap::default() };
        let mut groups: Vec<(usize, Vec<Unsequenced>)> = Vec::new();
        let mut positions: FxHashMap<usize, usize> = FxHashMap::default();
        for found in noted {
            // A group is complete when its last operand is, behind those within its operands.
            if let Some(at) = positions.remove(&found.group) {
                let (group, mut all) = std::mem::take(&mut groups[at]);
                all.push(found);
                groups.push((group, all));
            } else {
                groups.push((found.group, vec![found]));
            }
            let (group, _) = groups[groups.len() - 1];
            positions.insert(group, groups.len() - 1);
        }
        self.refuse_comparisons(&mut known);
        let mut refused: BTreeSet<NodeId> = BTreeSet::new();
        for (_, group) in groups {
            let matters: Vec<bool> = group
                .iter()
                .map(|found| {
                    let edges = found.left.edges.start..found.right.edges.end;
                    live[edges].contains(&true) && self.order_matters(found, &mut known)
                })
                .collect();
            let Some(last) = matters.iter().rposition(|matters| *matters) else { continue };
            let begin = group[0].node;
            if refused.contains(&begin) {
                continue;
            }
            let next = self.graph.node(self.graph.func(begin), false);
            for edge in &mut self.graph.edges {
                if edge.src == begin {
                    edge.src = next;
                }
            }
            let span = group[matters.iter().position(|matters| *matters).unwrap_or(last)].span;
            if let Err(obstacle) = self.explore_orders(&group[..=last], next, &mut known) {
                if let Obstacle::Late = obstacle {
                    self.wanted_early.extend(group[..=last].iter().filter_map(|found| found.key));
                }
                refused.insert(begin);
                let op = Op::Unsupported { construct: ORDER_MATTERS.into() };
                self.graph.edge(begin, next, op, span);
            }
        }
    }

    /// Whether a function, and all that it calls, changes nothing that others see; and the functions.
    pub(super) fn is_pure(&self, func: FuncId, known: &mut Known<'_>) -> (bool, BTreeSet<FuncId>) {
        let Known { direct, whole, regions, .. } = known;
        let effects = whole.entry(func).or_insert_with(|| closure(func, direct)).clone();
        let own = |region: &RegionId| {
            let Some(region) = regions.get(region.index()) else { return false };
            let is_local = |addr: &u64| {
                let object = self.memory.objects.binary_search_by_key(addr, |object| object.addr);
                object.is_ok_and(|at| match self.memory.objects[at].scope {
                    VarScope::Local(func) => effects.callees.contains(&func),
                    VarScope::Global => false,
                })
            };
            !region.others && region.objects.iter().all(is_local)
        };
        let pure = effects.writes.is_empty()
            && !effects.stores_any
            && effects.leaves_open.is_empty()
            && effects.stores.iter().all(own);
        (pure, effects.callees)
    }

    /// What some edges do themselves, and what the functions do that they call.
    pub(super) fn effects_of(&self, edges: &[usize], known: &mut Known<'_>) -> (Effects, Effects) {
        let mut own = Effects::default();
        for at in edges.iter().filter(|at| known.live.get(**at) != Some(&false)) {
            // An object that the function has made may be there before its operand is evaluated.
            self.add_effects(&mut own, *at, false);
        }
        let mut called = Effects::default();
        for callee in &own.callees {
            let Known { direct, whole, .. } = known;
            called.add(whole.entry(*callee).or_insert_with(|| closure(*callee, direct)));
        }
        (own, called)
    }

    /// What is read when the value of an operand is used.
    pub(super) fn late_effects(&self, operand: &Operand) -> Effects {
        let mut late = Effects::default();
        late.reads.extend(operand.vars.iter().copied().filter(|var| self.is_shared(*var)));
        late.loads_any = operand.in_memory;
        late
    }

    fn order_matters(&self, found: &Unsequenced, known: &mut Known<'_>) -> bool {
        let mut effects = |operand: &Operand| {
            let edges: Vec<usize> = operand.edges.clone().collect();
            let (mut own, called) = self.effects_of(&edges, known);
            own.add(&self.late_effects(operand));
            (own, called)
        };
        let ((left, left_called), (right, right_called)) = (effects(&found.left), effects(&found.right));
        self.conflict((&left, &left_called), (&right, &right_called), known)
    }

    /// Whether the order matters of two evaluations, with what each does itself and what the functions do that it calls.
    pub(super) fn conflict(
        &self,
        (left, left_called): (&Effects, &Effects),
        (right, right_called): (&Effects, &Effects),
        known: &Known<'_>,
    ) -> bool {
        // An object of a function that is called lives in one call only.
        let private = |region: RegionId| {
            let Some(region) = known.regions.get(region.index()) else { return false };
            !region.others
                && region.objects.iter().all(|addr| {
                    // Nobody but the callee reads the array of variable arguments of a call.
                    if self.argument_objects.contains(addr) {
                        return true;
                    }
                    let object = self.memory.objects.binary_search_by_key(addr, |object| object.addr);
                    object.is_ok_and(|at| match self.memory.objects[at].scope {
                        VarScope::Local(func) => {
                            [left_called, right_called].iter().any(|called| called.callees.contains(&func))
                        }
                        VarScope::Global => false,
                    })
                })
        };
        let disturb = |a: &Effects, b: &Effects| a.disturbs(b, &private) || b.disturbs(a, &private);
        disturb(left_called, right_called) || disturb(left_called, right) || disturb(left, right_called)
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
            Op::Call { callee, .. } if self.makes_errno_any(*callee) => {
                effects.leaves_open.extend(self.errno_region());
            }
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
