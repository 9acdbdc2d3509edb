// SPDX-License-Identifier: Apache-2.0
//! Which pointers of a function are computed from one address, so that they point into one object: `p` and `end` behind
//! `p = malloc(n); end = p + n;`, also if the class of the object has others.
//!
//! Local variables that are computed from each other are a group. If everything else that is assigned to the members of a group
//! is one fixed object, one parameter, or what one edge gives that is passed once in each activation, then they point into
//! the same object. For two parameters all calls decide.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ExprId, FuncId, NodeId, VarId};
use crate::ir::{BinOp, Edge, ExprKind, Function, HavocOrigin, Op, Scope};
use crate::scc::components;

use super::Input;
use super::points_to::PointsTo;

/// Where the pointers of a group come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    Parameter(VarId),
    /// What an edge gives.
    Edge(usize),
    Object(usize),
    /// Several of these, or an edge that may be passed again.
    Several,
}

/// What a pointer is computed from.
#[derive(Clone, Copy)]
enum Base {
    Var(VarId),
    Object(usize),
    Nothing,
    Other,
}

pub(super) struct Bases {
    parent: Vec<usize>,
    origins: FxHashMap<usize, Origin>,
    /// The groups with another origin than new objects.
    old: FxHashSet<usize>,
    /// The function and the position of each parameter.
    params: FxHashMap<VarId, (FuncId, usize)>,
}

impl Bases {
    pub(super) fn new(input: &Input<'_>, edges: &[(usize, &Edge)], found: &mut PointsTo<'_>) -> Self {
        let mut bases = Bases {
            parent: (0..input.vars.len()).collect(),
            origins: FxHashMap::default(),
            old: FxHashSet::default(),
            params: FxHashMap::default(),
        };
        for (func, function) in input.funcs.iter().enumerate() {
            for (at, var) in function.params.iter().enumerate() {
                bases.params.insert(*var, (FuncId::new(func), at));
            }
        }
        let repeated = repeated(edges, None);
        let mut origins: Vec<(VarId, Origin, Option<usize>)> =
            bases.params.keys().map(|var| (*var, Origin::Parameter(*var), None)).collect();
        for (at, edge) in edges {
            let of_edge = if repeated.contains(at) { Origin::Several } else { Origin::Edge(*at) };
            match &edge.op {
                Op::Assign { var, value } => match base(input, found, *value) {
                    Base::Nothing => {}
                    Base::Var(from) if is_local(input, from) && is_local(input, *var) => bases.unite(*var, from),
                    Base::Object(object) => origins.push((*var, Origin::Object(object), None)),
                    Base::Var(_) | Base::Other => origins.push((*var, of_edge, None)),
                },
                // A pointer without a value is not used.
                Op::Havoc { origin: HavocOrigin::Uninitialised, .. } => {}
                Op::Havoc { var, .. }
                | Op::Load { var, .. }
                | Op::Alloc { var, .. }
                | Op::Call { result: Some(var), .. } => origins.push((*var, of_edge, Some(*at))),
                _ => {}
            }
        }
        let made: FxHashSet<usize> =
            edges.iter().filter(|(_, edge)| matches!(edge.op, Op::Alloc { .. })).map(|(at, _)| *at).collect();
        for (var, origin, edge) in origins {
            let group = bases.group(var);
            if edge.is_none_or(|edge| !made.contains(&edge)) {
                bases.old.insert(group);
            }
            bases
                .origins
                .entry(group)
                .and_modify(|known| *known = if *known == origin { origin } else { Origin::Several })
                .or_insert(origin);
        }
        bases
    }

    /// Whether two addresses certainly lie in one object, if each lies in some object.
    pub(super) fn are_one(
        &self,
        input: &Input<'_>,
        edges: &[(usize, &Edge)],
        found: &mut PointsTo<'_>,
        left: ExprId,
        right: ExprId,
    ) -> bool {
        // What is assumed of pairs of parameters holds if it follows for all calls.
        let mut assumed: FxHashSet<(VarId, VarId)> = FxHashSet::default();
        let mut todo = vec![(left, right)];
        while let Some((left, right)) = todo.pop() {
            let (one, other) = (base(input, found, left), base(input, found, right));
            if let (Base::Var(a), Base::Var(b)) = (one, other)
                && a == b
            {
                continue;
            }
            match (self.origin(input, one), self.origin(input, other)) {
                (Some(Origin::Several) | None, _) | (_, Some(Origin::Several) | None) => return false,
                (Some(a), Some(b)) if a == b => {}
                (Some(Origin::Parameter(a)), Some(Origin::Parameter(b))) => {
                    let (Some((func, first)), Some((other, second))) = (self.params.get(&a), self.params.get(&b))
                    else {
                        return false;
                    };
                    if func != other {
                        return false;
                    }
                    if assumed.insert((a, b)) {
                        todo.extend(edges.iter().filter_map(|(_, edge)| match &edge.op {
                            Op::Call { callee, args, .. } if callee == func => Some((args[*first], args[*second])),
                            _ => None,
                        }));
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// The edges that access objects which the same call of their function has made.
    pub(super) fn fresh(
        &self,
        input: &Input<'_>,
        edges: &[(usize, &Edge)],
        found: &mut PointsTo<'_>,
    ) -> FxHashSet<usize> {
        let mut fresh = FxHashSet::default();
        for (at, edge) in edges {
            let (Op::Load { addr, .. } | Op::Store { addr, .. } | Op::Zero { addr, .. }) = &edge.op else { continue };
            if let Base::Var(var) = base(input, found, *addr)
                && is_local(input, var)
                && !self.old.contains(&self.group(var))
            {
                fresh.insert(*at);
            }
        }
        fresh
    }

    fn origin(&self, input: &Input<'_>, base: Base) -> Option<Origin> {
        match base {
            Base::Var(var) if is_local(input, var) => self.origins.get(&self.group(var)).copied(),
            Base::Object(object) => Some(Origin::Object(object)),
            Base::Var(_) | Base::Nothing | Base::Other => None,
        }
    }

    fn group(&self, var: VarId) -> usize {
        let mut group = var.index();
        while self.parent[group] != group {
            group = self.parent[group];
        }
        group
    }

    fn unite(&mut self, a: VarId, b: VarId) {
        let (a, b) = (self.group(a), self.group(b));
        self.parent[a] = b;
    }
}

fn is_local(input: &Input<'_>, var: VarId) -> bool {
    matches!(input.vars[var.index()].scope, Scope::Local(_))
}

/// What an address is computed from by adding and subtracting numbers.
fn base(input: &Input<'_>, found: &mut PointsTo<'_>, mut id: ExprId) -> Base {
    loop {
        let expr = input.exprs.get(id);
        id = match expr.kind {
            ExprKind::Var(var) => return Base::Var(var),
            ExprKind::Const(0) => return Base::Nothing,
            ExprKind::Const(value) => {
                let behind = input.objects.partition_point(|object| i128::from(object.addr) <= value);
                let within =
                    |object: usize| value <= i128::from(input.objects[object].addr + input.objects[object].size);
                return behind.checked_sub(1).filter(|at| within(*at)).map_or(Base::Other, Base::Object);
            }
            ExprKind::Cast(arg)
                if expr.ty.bits >= input.pointer_bits && input.exprs.ty(arg).bits >= input.pointer_bits =>
            {
                arg
            }
            ExprKind::Binary(BinOp::Add, left, right) => match (found.pointed(left), found.pointed(right)) {
                (Some(_), None) => left,
                (None, Some(_)) => right,
                _ => return Base::Other,
            },
            ExprKind::Binary(BinOp::Sub, left, right) if found.pointed(right).is_none() => left,
            _ => return Base::Other,
        };
    }
}

/// The edges that may be passed more than once: by an activation of their function, or with `calls` by the whole run.
///
/// These lie on cycles. A call is passed by, and leads into the function; its only call is where a function goes on to, while from one
/// with several calls it is said that it may begin again. If a run passes an edge twice, then in one activation, and what is
/// between closes a cycle; or in two, and then by induction over the calls that lead there.
pub(super) fn repeated(edges: &[(usize, &Edge)], calls: Option<&[Function]>) -> FxHashSet<usize> {
    let mut ways: Vec<(NodeId, NodeId)> = edges.iter().map(|(_, edge)| (edge.src, edge.dst)).collect();
    let mut call_of: FxHashMap<FuncId, Vec<&Edge>> = FxHashMap::default();
    for (_, edge) in edges {
        if let Op::Call { callee, .. } = &edge.op {
            call_of.entry(*callee).or_default().push(edge);
        }
    }
    for (callee, calls_of_it) in &call_of {
        let Some(body) = calls.and_then(|funcs| funcs[callee.index()].body) else { continue };
        ways.extend(calls_of_it.iter().map(|call| (call.src, body.entry)));
        ways.push((body.exit, if let [call] = calls_of_it[..] { call.dst } else { body.entry }));
    }
    let count = ways.iter().map(|(from, to)| from.index().max(to.index()) + 1).max().unwrap_or(0);
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in ways {
        successors[from.index()].push(to.index());
    }
    let component = components(count, |node, at| successors[node].get(at).copied());
    let on_cycle = |edge: &Edge| component[edge.src.index()] == component[edge.dst.index()];
    edges.iter().filter(|(_, edge)| on_cycle(edge)).map(|(at, _)| *at).collect()
}
