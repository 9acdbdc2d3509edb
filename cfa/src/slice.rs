// SPDX-License-Identifier: Apache-2.0
//! Slices: what is left of a program when everything goes away that cannot influence whether a target is reached (Weiser,
//! *Program Slicing*, IEEE Transactions on Software Engineering, 1984, by dependences as in Ferrante, Ottenstein, Warren,
//! *The Program Dependence Graph and Its Use in Optimization*, 1987).
//!
//! Each run of the program to a target is one of the slice, without the steps that went away. The converse does not hold:
//! a loop without influence is passed by the slice also if it does not end. Locations, edges and variables keep their numbers.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{EdgeId, FuncId, NodeId, RegionId, VarId};
use crate::ir::{Edge, Op, Scope};
use crate::liveness::reached;
use crate::loops::Loops;
use crate::postdominators::Postdominators;
use crate::program::Program;

/// A program without what has no influence on targets.
#[derive(Debug)]
pub struct Slice {
    /// What is left.
    pub program: Arc<Program>,
    /// How many branches of the program went away, those of loops included.
    pub branches: usize,
    /// How many other steps went away.
    pub steps: usize,
    globals: FxHashSet<VarId>,
    locals: FxHashSet<(NodeId, VarId)>,
}

impl Slice {
    /// Whether a variable has the same value at a location as in the program: it has influence there. What others have says
    /// nothing about the program.
    pub fn agrees(&self, node: NodeId, var: VarId) -> bool {
        self.globals.contains(&var) || self.locals.contains(&(node, var))
    }
}

impl Program {
    /// The slice for some targets.
    pub fn slice(&self, targets: &BTreeSet<NodeId>) -> Slice {
        let leading = self.leading_to(targets);
        let mut program = self.clone();
        let mut taken = self.taken();
        taken.retain(|&id| leading.contains(&self.edge(id).src));
        program.cut(&taken);
        let postdominators = Postdominators::new(&program);
        let mut relevant = Relevance::new(&program, &postdominators);
        relevant.close(targets);
        let Relevance { nodes, edges, results, globals, locals, .. } = relevant;
        let (mut branches, mut steps) = (0, 0);
        for id in self.edge_ids() {
            let (src, op) = (program.edge(id).src, program.edge(id).op.clone());
            match op {
                Op::Assume { .. } if nodes[src.index()] => {}
                Op::Assume { truth, .. } => {
                    // One of the two can be taken.
                    branches += usize::from(truth);
                    let always = program.exprs.truth_const(true);
                    let next = postdominators.next[src.index()];
                    program.redirect(id, next.expect("who decides how a run goes on for good has influence"));
                    program.edges[id.index()].op = Op::Assume { cond: always, truth };
                }
                Op::Call { callee, args, result } if edges[id.index()] => {
                    let function = self.func(callee);
                    let entry = function.body.expect("it is called").entry;
                    let args = function.params.iter().zip(args).map(|(&param, arg)| {
                        let has_influence = locals.contains(&(entry, param));
                        if has_influence { arg } else { program.exprs.constant(self.var(param).ty, 0) }
                    });
                    let args = args.collect();
                    let result = result.filter(|_| results.contains(&id));
                    program.edges[id.index()].op = Op::Call { callee, args, result };
                }
                Op::Skip => {}
                _ if edges[id.index()] => {}
                _ => {
                    steps += 1;
                    program.edges[id.index()].op = Op::Skip;
                }
            }
        }
        program.cut(&program.taken());
        program.loops = Loops::find(&program);
        Slice { program: Arc::new(program), branches, steps, globals, locals }
    }

    /// The edges that a run can take as far as constant conditions tell, and those beside them.
    fn taken(&self) -> BTreeSet<EdgeId> {
        let is_never = |edge: &Edge| match edge.op {
            Op::Assume { cond, truth } => self.exprs.as_const(cond).is_some_and(|value| (value != 0) != truth),
            _ => false,
        };
        let nodes = reached(self.entry, |node, found| {
            let edges = self.node(node).leaving.iter().map(|&id| self.edge(id));
            for edge in edges.filter(|edge| !is_never(edge)) {
                found.push(edge.dst);
                if let Op::Call { callee, .. } = edge.op {
                    found.extend(self.func(callee).body.map(|body| body.entry));
                }
            }
        });
        nodes.iter().flat_map(|&node| self.node(node).leaving.iter().copied()).collect()
    }
}

/// What has influence on targets.
struct Relevance<'a> {
    program: &'a Program,
    postdominators: &'a Postdominators,
    /// Locations at which something happens that has influence.
    nodes: Vec<bool>,
    /// Operations that have influence; those of branches go by their locations.
    edges: Vec<bool>,
    /// Calls whose results have influence.
    results: FxHashSet<EdgeId>,
    /// Global variables whose values have influence anywhere.
    globals: FxHashSet<VarId>,
    /// Local variables whose values have influence at a location.
    locals: FxHashSet<(NodeId, VarId)>,
    regions: FxHashSet<RegionId>,
    funcs: FxHashSet<FuncId>,
    /// What writes global variables.
    writers: FxHashMap<VarId, Vec<EdgeId>>,
    stores: FxHashMap<RegionId, Vec<EdgeId>>,
    frees: Vec<EdgeId>,
    calls: FxHashMap<FuncId, Vec<EdgeId>>,
    open: Vec<Item>,
}

enum Item {
    Node(NodeId),
    Edge(EdgeId),
    /// The value of a variable at a location.
    Value(NodeId, VarId),
}

impl<'a> Relevance<'a> {
    fn new(program: &'a Program, postdominators: &'a Postdominators) -> Self {
        let mut writers: FxHashMap<VarId, Vec<EdgeId>> = FxHashMap::default();
        let mut stores: FxHashMap<RegionId, Vec<EdgeId>> = FxHashMap::default();
        let mut calls: FxHashMap<FuncId, Vec<EdgeId>> = FxHashMap::default();
        let mut frees = Vec::new();
        for id in program.edge_ids() {
            let op = &program.edge(id).op;
            if let Some(var) = op.written().filter(|&var| program.var(var).scope == Scope::Global) {
                writers.entry(var).or_default().push(id);
            }
            match op {
                Op::Store { region, .. } | Op::Zero { region, .. } => stores.entry(*region).or_default().push(id),
                Op::Free { .. } => frees.push(id),
                Op::Call { callee, .. } => calls.entry(*callee).or_default().push(id),
                _ => {}
            }
        }
        Relevance {
            program,
            postdominators,
            nodes: vec![false; program.nodes.len()],
            edges: vec![false; program.edges.len()],
            results: FxHashSet::default(),
            globals: FxHashSet::default(),
            locals: FxHashSet::default(),
            regions: FxHashSet::default(),
            funcs: FxHashSet::default(),
            writers,
            stores,
            frees,
            calls,
            open: Vec::new(),
        }
    }

    /// Everything that the targets depend on. What ends runs has influence, and what is not supported.
    fn close(&mut self, targets: &BTreeSet<NodeId>) {
        self.open.extend(targets.iter().chain(&self.postdominators.last).map(|&node| Item::Node(node)));
        let program = self.program;
        let unsupported = program.edge_ids().filter(|&id| matches!(program.edge(id).op, Op::Unsupported { .. }));
        self.open.extend(unsupported.map(Item::Edge));
        while let Some(item) = self.open.pop() {
            match item {
                Item::Node(node) => self.node(node),
                Item::Edge(edge) => self.edge(edge),
                Item::Value(_, var) if program.var(var).scope == Scope::Global => self.global(var),
                Item::Value(node, var) => self.local(node, var),
            }
        }
    }

    fn node(&mut self, node: NodeId) {
        if std::mem::replace(&mut self.nodes[node.index()], true) {
            return;
        }
        let branches = self.postdominators.deciding[node.index()].iter();
        self.open.extend(branches.map(|&branch| Item::Node(branch)));
        if let [first, _] = self.program.node(node).leaving[..] {
            self.operands(first);
        }
        let func = self.program.node(node).func;
        if self.funcs.insert(func) {
            self.open.extend(self.calls.get(&func).into_iter().flatten().map(|&id| Item::Edge(id)));
        }
    }

    fn edge(&mut self, id: EdgeId) {
        if std::mem::replace(&mut self.edges[id.index()], true) {
            return;
        }
        let edge = self.program.edge(id);
        self.open.push(Item::Node(edge.src));
        match &edge.op {
            // What of it has influence comes with the parameters and the function's nodes.
            Op::Call { .. } => {}
            Op::Load { region, .. } => {
                self.operands(id);
                if self.regions.insert(*region) {
                    let stores = self.stores.remove(region).into_iter().flatten();
                    self.open.extend(stores.chain(std::mem::take(&mut self.frees)).map(Item::Edge));
                }
            }
            _ => self.operands(id),
        }
    }

    fn operands(&mut self, id: EdgeId) {
        let edge = self.program.edge(id);
        self.open.extend(self.program.read_by(&edge.op).into_iter().map(|var| Item::Value(edge.src, var)));
    }

    /// A step that gives a variable a value that has influence.
    fn writes(&mut self, id: EdgeId) {
        self.open.push(Item::Edge(id));
        if let Op::Call { callee, .. } = self.program.edge(id).op {
            self.results.insert(id);
            let function = self.program.func(callee);
            let exit = function.body.map(|body| body.exit);
            self.open.extend(exit.zip(function.ret).map(|(exit, ret)| Item::Value(exit, ret)));
        }
    }

    fn global(&mut self, var: VarId) {
        if self.globals.insert(var) {
            for id in self.writers.remove(&var).into_iter().flatten() {
                self.writes(id);
            }
        }
    }

    /// Goes back to where the variable got its value.
    fn local(&mut self, node: NodeId, var: VarId) {
        if !self.locals.insert((node, var)) {
            return;
        }
        let program = self.program;
        let there = program.node(node);
        for &id in &there.entering {
            let edge = program.edge(id);
            if edge.op.written() == Some(var) {
                self.writes(id);
            } else {
                self.open.push(Item::Value(edge.src, var));
            }
        }
        let function = program.func(there.func);
        let Some(at) = function.params.iter().position(|&param| param == var) else { return };
        if function.body.is_some_and(|body| body.entry == node) {
            for &id in self.calls.get(&there.func).into_iter().flatten() {
                let edge = program.edge(id);
                let Op::Call { args, .. } = &edge.op else { continue };
                self.open.push(Item::Edge(id));
                self.open.extend(program.exprs.vars(args[at]).into_iter().map(|var| Item::Value(edge.src, var)));
            }
        }
    }
}
