// SPDX-License-Identifier: Apache-2.0
//! Local variables that are not read any more: analyses forget them, so that states that differ only in them are the same.
//!
//! The usual backward data-flow analysis, for each function by itself: nobody but the function itself reads its local
//! variables, because those whose address is taken are objects in memory. The variable that holds the returned value is
//! read at the exit.

use crate::ids::{EdgeId, FuncId, NodeId, VarId};
use crate::program::Program;
use rustc_hash::{FxHashMap, FxHashSet};

/// Functions with more bits of data-flow facts than this are left alone.
const LIMIT: usize = 1 << 28;

/// For each edge the local variables that are no longer needed behind it, and for each function the parameters that it
/// never reads.
#[derive(Debug)]
pub struct Dying {
    edges: Vec<Box<[VarId]>>,
    params: Vec<Box<[VarId]>>,
}

impl Dying {
    /// Solves the data-flow equations of all functions.
    pub fn new(program: &Program) -> Self {
        let mut nodes: Vec<Vec<NodeId>> = vec![Vec::new(); program.funcs.len()];
        for node in program.node_ids() {
            nodes[program.node(node).func.index()].push(node);
        }
        let locals = program.locals();
        let edges = vec![Box::default(); program.edges.len()];
        let mut dying = Self { edges, params: vec![Box::default(); program.funcs.len()] };
        for (index, (nodes, locals)) in nodes.iter().zip(&locals).enumerate() {
            if !locals.is_empty() && nodes.len().saturating_mul(locals.len()) <= LIMIT {
                let mut function = Function::new(program, FuncId::new(index), nodes, locals);
                function.solve();
                function.dying(&mut dying);
            }
        }
        dying
    }

    /// The local variables that nobody reads behind an edge; behind a call edge, after the return.
    pub fn behind(&self, edge: EdgeId) -> &[VarId] {
        &self.edges[edge.index()]
    }

    /// The parameters that a function never reads.
    pub fn unread_params(&self, func: FuncId) -> &[VarId] {
        &self.params[func.index()]
    }
}

/// The local variables whose values are current at some nodes: those that are read behind them before they are written, and
/// those that were written for the last time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Current(FxHashMap<NodeId, FxHashSet<VarId>>);

impl Current {
    /// Looks at the functions of `nodes`.
    pub fn at(program: &Program, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut wanted: FxHashMap<FuncId, FxHashSet<NodeId>> = FxHashMap::default();
        for node in nodes {
            wanted.entry(program.node(node).func).or_default().insert(node);
        }
        let locals = program.locals();
        let mut current = Self::default();
        for (func, wanted) in wanted {
            let nodes: Vec<NodeId> = program.node_ids().filter(|&node| program.node(node).func == func).collect();
            let locals = &locals[func.index()];
            if nodes.len().saturating_mul(locals.len().max(wanted.len())) > LIMIT {
                continue;
            }
            let mut function = Function::new(program, func, &nodes, locals);
            function.solve();
            for node in wanted {
                let words = &function.live[function.position[&node]];
                let live = (0..locals.len()).filter(|&bit| contains(words, bit)).map(|bit| locals[bit]);
                let vars = live.chain(function.written_last(node)).collect();
                current.0.insert(node, vars);
            }
        }
        current
    }

    /// Whether the value of a local variable of a node's function is current there, or that is not known.
    pub fn contains(&self, node: NodeId, var: VarId) -> bool {
        self.0.get(&node).is_none_or(|vars| vars.contains(&var))
    }
}

struct Function<'a> {
    program: &'a Program,
    func: FuncId,
    nodes: &'a [NodeId],
    locals: &'a [VarId],
    bit: FxHashMap<VarId, usize>,
    /// For each node, by its position in the function, the live variables.
    live: Vec<Vec<u64>>,
    position: FxHashMap<NodeId, usize>,
}

impl<'a> Function<'a> {
    fn new(program: &'a Program, func: FuncId, nodes: &'a [NodeId], locals: &'a [VarId]) -> Self {
        let bit: FxHashMap<VarId, usize> = locals.iter().enumerate().map(|(bit, &var)| (var, bit)).collect();
        let position = nodes.iter().enumerate().map(|(position, &node)| (node, position)).collect();
        let mut live = vec![vec![0; locals.len().div_ceil(64)]; nodes.len()];
        let function = program.func(func);
        if let (Some(body), Some(ret)) = (function.body, function.ret) {
            let positions: &FxHashMap<NodeId, usize> = &position;
            if let (Some(&exit), Some(&bit)) = (positions.get(&body.exit), bit.get(&ret)) {
                let words: &mut Vec<u64> = &mut live[exit];
                words[bit / 64] |= 1 << (bit % 64);
            }
        }
        Self { program, func, nodes, locals, bit, live, position }
    }

    /// What is live before an edge.
    fn before(&self, edge: EdgeId) -> Vec<u64> {
        let edge = self.program.edge(edge);
        let mut live = self.live[self.position[&edge.dst]].clone();
        if let Some(&bit) = edge.op.written().and_then(|var| self.bit.get(&var)) {
            live[bit / 64] &= !(1 << (bit % 64));
        }
        for bit in self.program.read_by(&edge.op).iter().filter_map(|var| self.bit.get(var)) {
            live[bit / 64] |= 1 << (bit % 64);
        }
        live
    }

    fn solve(&mut self) {
        // Nodes of a function are in reverse post-order, so the last ones come first here.
        let mut queued = vec![true; self.nodes.len()];
        let mut stack: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(position) = stack.pop() {
            queued[position] = false;
            let node = self.program.node(self.nodes[position]);
            let mut changed = false;
            for &edge in &node.leaving {
                let before = self.before(edge);
                for (word, more) in self.live[position].iter_mut().zip(before) {
                    changed |= more & !*word != 0;
                    *word |= more;
                }
            }
            if changed {
                for &edge in &node.entering {
                    let source = self.position[&self.program.edge(edge).src];
                    if !queued[source] {
                        queued[source] = true;
                        stack.push(source);
                    }
                }
            }
        }
    }

    /// The variables that may be written on the way to a node, and never after it.
    fn written_last(&self, node: NodeId) -> Vec<VarId> {
        let program = self.program;
        let before = reached(node, |node, found| {
            found.extend(program.node(node).entering.iter().map(|&edge| program.edge(edge).src));
        });
        let after = reached(node, |node, found| {
            found.extend(program.node(node).leaving.iter().map(|&edge| program.edge(edge).dst));
        });
        let written = |from: &FxHashSet<NodeId>, to: &FxHashSet<NodeId>| -> FxHashSet<VarId> {
            let edges = from.iter().flat_map(|&node| &program.node(node).leaving).map(|&edge| program.edge(edge));
            edges.filter(|edge| to.contains(&edge.dst)).filter_map(|edge| edge.op.written()).collect()
        };
        let (earlier, later) = (written(&before, &before), written(&after, &after));
        let params = &program.func(self.func).params;
        let is_last = |var: &VarId| (earlier.contains(var) || params.contains(var)) && !later.contains(var);
        self.locals.iter().copied().filter(is_last).collect()
    }

    /// Writes down what dies where.
    fn dying(&self, dying: &mut Dying) {
        for (position, &node) in self.nodes.iter().enumerate() {
            for &edge in &self.program.node(node).leaving {
                let there = &self.live[self.position[&self.program.edge(edge).dst]];
                let mut here = self.live[position].clone();
                if let Some(&bit) = self.program.edge(edge).op.written().and_then(|var| self.bit.get(&var)) {
                    here[bit / 64] |= 1 << (bit % 64);
                }
                let gone = |&bit: &usize| contains(&here, bit) && !contains(there, bit);
                dying.edges[edge.index()] = (0..self.locals.len()).filter(gone).map(|bit| self.locals[bit]).collect();
            }
        }
        let function = self.program.func(self.func);
        if let Some(entry) = function.body.and_then(|body| self.position.get(&body.entry)) {
            let live = &self.live[*entry];
            let unread = |var: &VarId| self.bit.get(var).is_some_and(|&bit| !contains(live, bit));
            dying.params[self.func.index()] = function.params.iter().copied().filter(unread).collect();
        }
    }
}

/// Whether a set of numbers, one bit each, has this one.
fn contains(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// All nodes that are reached from one, itself included.
pub(crate) fn reached(from: NodeId, next: impl Fn(NodeId, &mut Vec<NodeId>)) -> FxHashSet<NodeId> {
    let mut seen = FxHashSet::from_iter([from]);
    let (mut waiting, mut found) = (vec![from], Vec::new());
    while let Some(node) = waiting.pop() {
        next(node, &mut found);
        waiting.extend(found.drain(..).filter(|&node| seen.insert(node)));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Source};

    #[test]
    fn values_are_current_when_they_are_read_or_were_written_last() {
        let text = "int main(void) { int i, j, k, n = 0; for (i = 0; i < 9; i++) { for (j = 0; j < i; j++) n++; }
            for (k = 0; k < 9; k++) n--; return n; }";
        let source = Source { name: "t.c".into(), text: text.into() };
        let program = crate::load(&[source], &Options::default()).unwrap();
        let mut heads: Vec<NodeId> = program.loops.heads.iter().copied().collect();
        heads.sort_by_key(|&head| program.node(head).rpo);
        let current = Current::at(&program, heads.iter().copied());
        let known = |head: NodeId| -> String {
            let vars = (0..program.vars.len()).map(VarId::new);
            let named = vars.filter(|&var| current.contains(head, var)).map(|var| program.var(var).name.to_string());
            named
                .filter_map(|name| name.strip_prefix("main::").map(str::to_string))
                .filter(|name| name.len() == 1)
                .collect()
        };
        // At the head of the outer loop j is written before it is read; at the last one i and j keep their values.
        assert_eq!(heads.iter().map(|&head| known(head)).collect::<Vec<_>>(), ["in", "ijn", "ijkn"]);
    }
}
