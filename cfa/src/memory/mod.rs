// SPDX-License-Identifier: Apache-2.0
//! The partition of memory into regions: one for each field of each class of objects that the points-to analysis finds.
//!
//! Stores that nobody can read go away with it, and values that depend on where objects lie are found (`order`).

mod bases;
mod congruence;
mod order;
mod points_to;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::exprs::Exprs;
use crate::ids::{ExprId, RegionId};
use crate::ir::{Edge, Function, Object, Op, Region, Var};

pub use order::MARGIN;
pub(crate) use order::Open;
use points_to::{Parts, PointsTo};

/// The memory of a program before it has regions.
pub(crate) struct Input<'p> {
    pub(crate) exprs: &'p Exprs,
    pub(crate) vars: &'p [Var],
    pub(crate) funcs: &'p [Function],
    pub(crate) objects: &'p [Object],
    /// How the addresses of the objects are aligned by their types.
    pub(crate) aligns: &'p [u64],
    pub(crate) edges: &'p [Edge],
    /// Which edges control flow can reach.
    pub(crate) live: &'p [bool],
    /// The edges that are passed before the entry function.
    pub(crate) start: &'p [usize],
    pub(crate) pointer_bits: u32,
    /// Whether somebody asks for [`Regions::fresh`].
    pub(crate) wants_fresh: bool,
}

/// The regions of a program.
pub(crate) struct Regions {
    pub(crate) regions: Vec<Region>,
    /// The regions of the operations on memory, by the number of the edge: several ones for [`Op::Zero`], none for stores that
    /// nobody can read.
    pub(crate) of_edges: BTreeMap<usize, Vec<RegionId>>,
    pub(crate) of_objects: Vec<RegionId>,
    /// The expressions that depend on where objects lie.
    pub(crate) open: FxHashMap<ExprId, Open>,
    /// The edges that access an object which the same call of their function has made.
    pub(crate) fresh: FxHashSet<usize>,
    /// The edges with accesses through numbers from outside of which nothing says that they are addresses of objects.
    pub(crate) foreign: Vec<usize>,
}

/// Divides the memory of a program.
pub(crate) fn divide(input: &Input<'_>) -> Regions {
    let edges: Vec<(usize, &Edge)> = input.edges.iter().enumerate().filter(|(at, _)| input.live[*at]).collect();
    let parts = Parts {
        exprs: input.exprs,
        objects: input.objects,
        vars: input.vars,
        funcs: input.funcs,
        pointer_bits: input.pointer_bits,
    };
    let mut found = PointsTo::new(parts, &edges);
    // The first region takes what belongs to no class: accesses that no defined execution makes, and dead code.
    let mut result = Regions {
        regions: vec![Region { width: None, zeroed: false, objects: Vec::new(), others: true }],
        of_edges: BTreeMap::new(),
        of_objects: vec![RegionId::new(0); input.objects.len()],
        open: order::open_values(input, &edges, &mut found),
        fresh: FxHashSet::default(),
        foreign: Vec::new(),
    };
    if input.wants_fresh {
        result.fresh = bases::Bases::new(input, &edges, &mut found).fresh(input, &edges, &mut found);
    }
    if found.wild {
        for (at, edge) in &edges {
            if let Op::Load { addr, .. } | Op::Store { addr, .. } | Op::Zero { addr, .. } = &edge.op
                && found.is_foreign(*addr)
            {
                result.foreign.push(*at);
            }
        }
        return result.undivided(input);
    }
    let zeroed = zeroed_classes(input, &edges, &mut found);
    let mut objects: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (at, object) in input.objects.iter().enumerate() {
        objects.entry(found.find(at)).or_default().push(object.addr);
    }
    let made: BTreeSet<usize> = edges.iter().filter_map(|(at, _)| found.made_by(*at)).collect();
    let mut of_fields: BTreeMap<(usize, i64), (RegionId, bool)> = BTreeMap::new();
    let mut of_classes: BTreeMap<usize, Vec<(RegionId, bool)>> = BTreeMap::new();
    let mut roots: Vec<usize> = (0..input.objects.len()).map(|at| found.find(at)).collect();
    roots.extend(edges.iter().filter_map(|(at, _)| found.made_by(*at)));
    for root in roots {
        if of_classes.contains_key(&root) {
            continue;
        }
        let class = found.class(root);
        let mut fields: Vec<_> = class.fields.iter().collect();
        fields.sort_by_key(|field| field.start);
        let mut ids = Vec::new();
        for field in fields {
            let bytes = field.end - field.start;
            let aligned = matches!(bytes, 1 | 2 | 4 | 8)
                && field.start % bytes == 0
                && i64::try_from(class.stride).is_ok_and(|stride| stride % bytes == 0);
            let width = (field.uniform && aligned).then_some((bytes * 8) as u32);
            let id = RegionId::new(result.regions.len());
            result.regions.push(Region {
                width,
                zeroed: zeroed.contains(&root),
                objects: objects.get(&root).cloned().unwrap_or_default(),
                others: made.contains(&root),
            });
            of_fields.insert((root, field.start), (id, field.loaded));
            ids.push((id, field.loaded));
        }
        of_classes.insert(root, ids);
    }
    let nowhere = RegionId::new(0);
    for (at, edge) in &edges {
        let mut accessed = |addr: ExprId, bits: u32| {
            let (class, start) = found.access(addr, bits / 8)?;
            let start = found.class(class).fields[found.locate(class, start)].start;
            of_fields.get(&(class, start)).copied()
        };
        let regions = match &edge.op {
            Op::Load { var, addr, .. } => {
                let found = accessed(*addr, input.vars[var.index()].ty.bits);
                vec![found.map_or(nowhere, |(region, _)| region)]
            }
            Op::Store { addr, value, .. } => {
                let bits = input.exprs.ty(*value).bits;
                match accessed(*addr, bits) {
                    Some((_, false)) if is_fixed(input, *at, *addr, bits) && input.exprs.is_total(*value) => Vec::new(),
                    found => vec![found.map_or(nowhere, |(region, _)| region)],
                }
            }
            Op::Zero { addr, .. } => match found.pointed(*addr).map(|class| of_classes.get(&class)) {
                Some(Some(ids)) => ids.iter().filter(|(_, loaded)| *loaded).map(|(id, _)| *id).collect(),
                _ => vec![nowhere],
            },
            _ => continue,
        };
        result.of_edges.insert(*at, regions);
    }
    // An object is said to be in the first region of its class that somebody accesses.
    let used: FxHashSet<RegionId> = result.of_edges.values().flatten().copied().collect();
    let first = |class: usize| {
        let ids = of_classes.get(&class).into_iter().flatten();
        ids.map(|(id, _)| *id).find(|id| used.contains(id)).unwrap_or(nowhere)
    };
    for at in 0..input.objects.len() {
        result.of_objects[at] = first(found.find(at));
    }
    for (at, edge) in &edges {
        if let (Op::Alloc { .. }, Some(class)) = (&edge.op, found.made_by(*at)) {
            result.of_edges.insert(*at, vec![first(class)]);
        }
    }
    result.without_unused(&used)
}

/// Whether an access stays within a certain object, whatever happens.
fn is_fixed(input: &Input<'_>, edge: usize, addr: ExprId, bits: u32) -> bool {
    let Some(addr) = input.exprs.as_const(addr) else { return false };
    let end = addr + i128::from(bits / 8);
    input.objects.iter().any(|object| {
        let start = i128::from(object.addr);
        start <= addr && end <= start + i128::from(object.size) && (!object.constant || input.start.contains(&edge))
    })
}

impl Regions {
    /// Numbers the regions anew, without those that nobody accesses.
    fn without_unused(mut self, used: &FxHashSet<RegionId>) -> Self {
        let mut regions = Vec::new();
        let mut numbers = vec![RegionId::new(0); self.regions.len()];
        for (at, region) in self.regions.into_iter().enumerate() {
            if at == 0 || used.contains(&RegionId::new(at)) {
                numbers[at] = RegionId::new(regions.len());
                regions.push(region);
            }
        }
        self.regions = regions;
        for region in self.of_edges.values_mut().flatten().chain(&mut self.of_objects) {
            *region = numbers[region.index()];
        }
        self
    }

    /// One region for everything.
    fn undivided(mut self, input: &Input<'_>) -> Self {
        self.regions[0].objects = input.objects.iter().map(|object| object.addr).collect();
        for (at, edge) in input.edges.iter().enumerate() {
            if matches!(edge.op, Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Zero { .. }) {
                self.of_edges.insert(at, vec![RegionId::new(0)]);
            }
        }
        self
    }
}

/// The classes all of whose objects begin as zeros: static ones that are zeroed as wholes before anything is stored, and
/// allocated ones that are zeroed at once.
fn zeroed_classes(input: &Input<'_>, edges: &[(usize, &Edge)], found: &mut PointsTo<'_>) -> FxHashSet<usize> {
    let mut zeroed: FxHashSet<u64> = FxHashSet::default();
    for at in input.start {
        if let Op::Zero { addr, size, .. } = &input.edges[*at].op
            && let (Some(addr), Some(size)) = (input.exprs.as_const(*addr), input.exprs.as_const(*size))
        {
            zeroed.extend(
                input
                    .objects
                    .iter()
                    .filter(|object| i128::from(object.addr) == addr && i128::from(object.size) == size)
                    .map(|object| object.addr),
            );
        }
    }
    let mut other: FxHashSet<usize> = FxHashSet::default();
    for (at, object) in input.objects.iter().enumerate() {
        if !zeroed.contains(&object.addr) {
            other.insert(found.find(at));
        }
    }
    // An edge follows the one that arrives where it leaves.
    let zeroing: FxHashSet<_> = edges
        .iter()
        .filter_map(|(_, edge)| match &edge.op {
            Op::Zero { addr, .. } => Some((edge.src, *addr)),
            _ => None,
        })
        .collect();
    for (at, edge) in edges {
        if let (Op::Alloc { var, .. }, Some(class)) = (&edge.op, found.made_by(*at)) {
            let follows = zeroing
                .iter()
                .any(|(src, addr)| *src == edge.dst && input.exprs.get(*addr).kind == crate::ir::ExprKind::Var(*var));
            if !follows {
                other.insert(class);
            }
        }
    }
    let all: FxHashSet<usize> = (0..input.objects.len())
        .map(|at| found.find(at))
        .chain(edges.iter().filter_map(|(at, _)| found.made_by(*at)))
        .collect();
    all.into_iter().filter(|class| !other.contains(class)).collect()
}
