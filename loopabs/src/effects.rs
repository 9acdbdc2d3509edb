// SPDX-License-Identifier: Apache-2.0
//! What a loop does to the rest of the program: mod(B) of the paper (section 3.1) and what else matters to strategies.
//!
//! Computed on the automaton: writes through pointers are writes to regions of memory, a called function counts with all
//! that it calls, and so do loops within. Temporaries of the lowering are left out, they are written before they are read.

use std::collections::{BTreeMap, BTreeSet};

use cfa::{EdgeId, FuncId, HavocOrigin, LoopSite, NodeId, Op, Program, RegionId, Scope, VarId};

/// What some edges do, including the functions that they call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// The variables that are written, without temporaries and without those of called functions.
    pub vars: BTreeSet<VarId>,
    /// The parts of memory that are written.
    pub regions: BTreeSet<RegionId>,
    /// The functions that are called, also indirectly.
    pub callees: BTreeSet<FuncId>,
    /// The first construct that is not supported.
    pub unsupported: Option<String>,
    /// Whether the property may be violated on the way.
    pub violates: bool,
    /// Whether inputs are read.
    pub inputs: bool,
    /// Whether memory is allocated or freed.
    pub allocates: bool,
    /// Whether memory is read.
    pub loads: bool,
}

/// Finds effects; functions are examined once.
pub(crate) struct Finder<'p> {
    program: &'p Program,
    targets: &'p BTreeSet<NodeId>,
    /// The edges of each function.
    edges: Vec<Vec<EdgeId>>,
    /// The functions that each function calls, also indirectly.
    reach: BTreeMap<FuncId, BTreeSet<FuncId>>,
}

impl<'p> Finder<'p> {
    pub(crate) fn new(program: &'p Program, targets: &'p BTreeSet<NodeId>) -> Self {
        let mut edges = vec![Vec::new(); program.funcs.len()];
        for id in program.edge_ids() {
            edges[program.node(program.edge(id).src).func.index()].push(id);
        }
        Self { program, targets, edges, reach: BTreeMap::new() }
    }

    /// All functions that a run may enter when it calls `func`, with `func` itself.
    pub(crate) fn reach(&mut self, func: FuncId) -> &BTreeSet<FuncId> {
        if !self.reach.contains_key(&func) {
            let mut found = BTreeSet::from([func]);
            let mut todo = vec![func];
            while let Some(next) = todo.pop() {
                for edge in &self.edges[next.index()] {
                    if let Op::Call { callee, .. } = self.program.edge(*edge).op
                        && found.insert(callee)
                    {
                        todo.push(callee);
                    }
                }
            }
            self.reach.insert(func, found);
        }
        &self.reach[&func]
    }

    /// The effects of a loop.
    pub(crate) fn of(&mut self, site: &LoopSite) -> Effects {
        let mut effects = Effects::default();
        for edge in &site.edges {
            self.edge(*edge, &mut effects);
        }
        for callee in effects.callees.clone() {
            let reached = self.reach(callee).clone();
            effects.callees.extend(reached);
        }
        for callee in effects.callees.clone() {
            for at in 0..self.edges[callee.index()].len() {
                self.edge(self.edges[callee.index()][at], &mut effects);
            }
        }
        let program = self.program;
        effects.vars.retain(|var| match program.var(*var).scope {
            Scope::Global => true,
            Scope::Local(func) => func == site.func,
        });
        // A recursive call has variables of its own; those of this activation are written by the loop's own edges only.
        if effects.callees.contains(&site.func) {
            let own: BTreeSet<VarId> = site.edges.iter().filter_map(|edge| written(program, *edge)).collect();
            effects.vars.retain(|var| program.var(*var).scope == Scope::Global || own.contains(var));
        }
        effects
    }

    fn edge(&mut self, id: EdgeId, effects: &mut Effects) {
        let edge = self.program.edge(id);
        effects.violates |= self.targets.contains(&edge.src) || self.targets.contains(&edge.dst);
        if let Some(var) = written(self.program, id) {
            effects.vars.insert(var);
        }
        match &edge.op {
            Op::Skip | Op::Assume { .. } | Op::Assign { .. } => {}
            Op::Havoc { origin, .. } => match origin {
                HavocOrigin::Nondet { .. } | HavocOrigin::Unmodelled { .. } | HavocOrigin::NanBits => {
                    effects.inputs = true
                }
                HavocOrigin::Uninitialised => {}
            },
            Op::Load { .. } => effects.loads = true,
            Op::Store { region, .. } | Op::Zero { region, .. } => {
                effects.regions.insert(*region);
            }
            Op::Call { callee, .. } => {
                effects.callees.insert(*callee);
            }
            Op::Alloc { .. } | Op::Free { .. } => effects.allocates = true,
            Op::Unsupported { construct } => {
                effects.unsupported.get_or_insert_with(|| construct.to_string());
            }
        }
    }
}

/// The variable of the source that an edge writes. What passes a returned structure is written before it is read, like a
/// temporary.
pub(crate) fn written(program: &Program, edge: EdgeId) -> Option<VarId> {
    program.edge(edge).op.written().filter(|var| !program.var(*var).temporary)
}
