// SPDX-License-Identifier: Apache-2.0
//! Blocks: parts of a program that block-abstraction memoization analyses by themselves.
//!
//! Follows Beyer, Friedberger, *In-Place vs. Copy-on-Write CEGAR Refinement for Block Summarization with Caching*, section
//! 2.2. A block is a function with everything it calls, or a loop with everything called in it and with the locations where
//! it is left (figure 1: the location behind the loop belongs to the block). Two blocks are nested or share at most such
//! locations. Every recursive function is a block, whatever the partitioning says, because only blocks have summaries.
//!
//! What a block can see is what its edges and those of the functions it calls read or write. Left out: blocks of loops that
//! can be entered beside their head.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::ids::{BlockId, EdgeId, FuncId, LoopId, NodeId, RegionId, VarId};
use crate::ir::{Op, Scope};
use crate::program::Program;

/// Which parts become blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partitioning {
    /// Functions do.
    pub functions: bool,
    /// Loops do.
    pub loops: bool,
    /// The number of locations of the function or loop itself from which on they do.
    pub min_size: usize,
}

impl Default for Partitioning {
    fn default() -> Self {
        Self { functions: true, loops: true, min_size: 0 }
    }
}

/// What a block is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKind {
    /// The body of a function.
    Function(FuncId),
    /// A loop.
    Loop(LoopId),
}

/// A block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// What it is made of.
    pub kind: BlockKind,
    /// The function that it is, or that the loop is in.
    pub func: FuncId,
    /// The locations of that function where the block goes on: all of them, or those of the loop.
    pub own: BTreeSet<NodeId>,
    /// In(B): where the block begins.
    pub entry: NodeId,
    /// Out(B): where the block ends, nothing inside it follows. The exit of the function, or where edges lead that leave
    /// the loop.
    pub exits: BTreeSet<NodeId>,
    /// The functions that run inside the block, also through other functions. The block's own function is among them if the
    /// block is a function or is recursive.
    pub functions: BTreeSet<FuncId>,
    /// Whether the block's function can be called while it runs.
    pub recursive: bool,
    /// The functions that may be active already when the block is entered and that run inside it: those on a cycle of calls
    /// with the block's function. Their local variables are the same behind the block.
    pub cycle: BTreeSet<FuncId>,
    /// The variables that any edge inside the block reads or writes, those of called functions included.
    pub vars: BTreeSet<VarId>,
    /// The variables that may have another value behind the block than before it, as far as they are still the same
    /// variables: the local variables of other activations of recursive functions are not among them.
    pub writes: BTreeSet<VarId>,
    /// The parts of memory that the block accesses.
    pub regions: BTreeSet<RegionId>,
}

impl Block {
    /// Whether a location ends the block.
    pub fn ends_at(&self, node: NodeId) -> bool {
        self.exits.contains(&node)
    }

    /// Whether the value that a variable has at the entry can matter inside. Of the local variables these are the block's
    /// own ones; at the entry of a function they are its parameters.
    pub fn sees(&self, program: &Program, var: VarId) -> bool {
        match (program.var(var).scope, self.kind) {
            (Scope::Global, _) => self.vars.contains(&var),
            (Scope::Local(func), BlockKind::Function(own)) => {
                func == own && program.func(own).params.contains(&var) && self.vars.contains(&var)
            }
            (Scope::Local(func), BlockKind::Loop(_)) => func == self.func && self.vars.contains(&var),
        }
    }

    /// Whether the value of a variable at the end of the block comes from inside; if not, it is what it was at the entry.
    pub fn decides(&self, program: &Program, var: VarId) -> bool {
        match (program.var(var).scope, self.kind) {
            (Scope::Local(func), BlockKind::Function(own)) if func == own => true,
            (Scope::Local(func), _) if func != self.func => false,
            (Scope::Global | Scope::Local(_), _) => self.vars.contains(&var),
        }
    }
}

/// The blocks of a program.
#[derive(Clone, Debug)]
pub struct Blocks {
    blocks: Vec<Block>,
    functions: BTreeMap<FuncId, BlockId>,
    heads: BTreeMap<NodeId, BlockId>,
    main: BlockId,
}

/// What a set of edges does.
#[derive(Clone, Default)]
struct Effect {
    vars: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
    /// Parameters of called functions.
    passed: BTreeSet<VarId>,
    regions: BTreeSet<RegionId>,
    calls: BTreeSet<FuncId>,
}

impl Effect {
    fn of(program: &Program, edges: impl Iterator<Item = EdgeId>) -> Self {
        let mut effect = Self::default();
        for id in edges {
            let op = &program.edge(id).op;
            effect.vars.extend(program.read_by(op).into_iter().chain(op.written()));
            effect.writes.extend(op.written());
            match op {
                Op::Call { callee, .. } => {
                    let function = program.func(*callee);
                    effect.calls.insert(*callee);
                    effect.vars.extend(function.params.iter().copied().chain(function.ret));
                    effect.passed.extend(function.params.iter().copied());
                }
                Op::Load { region, .. }
                | Op::Store { region, .. }
                | Op::Alloc { region, .. }
                | Op::Zero { region, .. } => {
                    effect.regions.insert(*region);
                }
                Op::Skip | Op::Assume { .. } | Op::Assign { .. } | Op::Havoc { .. } => {}
                Op::Free { .. } | Op::Unsupported { .. } => {}
            }
        }
        effect
    }

    fn add(&mut self, other: &Effect) {
        self.vars.extend(&other.vars);
        self.writes.extend(&other.writes);
        self.passed.extend(&other.passed);
        self.regions.extend(&other.regions);
    }
}

impl Blocks {
    /// Divides a program into blocks.
    pub fn find(program: &Program, partitioning: Partitioning) -> Self {
        let mut nodes: Vec<BTreeSet<NodeId>> = vec![BTreeSet::new(); program.funcs.len()];
        for node in program.node_ids() {
            nodes[program.node(node).func.index()].insert(node);
        }
        let leaving =
            |nodes: &BTreeSet<NodeId>| nodes.iter().flat_map(|&n| program.node(n).leaving.clone()).collect::<Vec<_>>();
        let effects: Vec<Effect> = nodes.iter().map(|nodes| Effect::of(program, leaving(nodes).into_iter())).collect();
        let reachable: Vec<BTreeSet<FuncId>> =
            effects.iter().map(|effect| called(&effects, effect.calls.iter().copied())).collect();
        let survey = Survey { program, effects: &effects, reachable: &reachable };

        let mut found =
            Self { blocks: Vec::new(), functions: BTreeMap::new(), heads: BTreeMap::new(), main: BlockId::new(0) };
        for (index, nodes) in nodes.iter().enumerate() {
            let func = FuncId::new(index);
            let Some(body) = program.func(func).body else { continue };
            let recursive = reachable[index].contains(&func);
            let wanted = partitioning.functions && nodes.len() >= partitioning.min_size;
            if func == program.main || recursive || wanted {
                let entry = if func == program.main { program.entry } else { body.entry };
                let exits = BTreeSet::from([body.exit]);
                let id = found.push(survey.block(BlockKind::Function(func), func, nodes.clone(), entry, exits));
                found.functions.insert(func, id);
                if func == program.main {
                    found.main = id;
                }
            }
        }
        for (index, data) in program.loops.loops.iter().enumerate() {
            if partitioning.loops && data.reducible && data.body.len() >= partitioning.min_size {
                let own: BTreeSet<NodeId> = data.body.iter().copied().collect();
                let leaving = own.iter().flat_map(|&node| &program.node(node).leaving);
                let exits = leaving.map(|&edge| program.edge(edge).dst).filter(|node| !own.contains(node)).collect();
                let func = program.node(data.head).func;
                let id = found.push(survey.block(BlockKind::Loop(LoopId::new(index)), func, own, data.head, exits));
                found.heads.insert(data.head, id);
            }
        }
        found
    }

    fn push(&mut self, block: Block) -> BlockId {
        let id = BlockId::new(self.blocks.len());
        self.blocks.push(block);
        id
    }

    /// A block.
    pub fn get(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The ids of all blocks.
    pub fn ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len()).map(BlockId::new)
    }

    /// The block of the entry function, which is the whole program.
    pub fn main(&self) -> BlockId {
        self.main
    }

    /// The block of a function, if it is one.
    pub fn of_function(&self, func: FuncId) -> Option<BlockId> {
        self.functions.get(&func).copied()
    }

    /// The block that begins at a loop head, if the loop is one.
    pub fn of_head(&self, head: NodeId) -> Option<BlockId> {
        self.heads.get(&head).copied()
    }

    /// The block that a call edge runs, if the called function is one.
    pub fn of_call(&self, program: &Program, edge: EdgeId) -> Option<BlockId> {
        match program.edge(edge).op {
            Op::Call { callee, .. } => self.of_function(callee),
            _ => None,
        }
    }

    /// L': all locations of a block, those of called functions included.
    pub fn locations(&self, program: &Program, id: BlockId) -> BTreeSet<NodeId> {
        let block = self.get(id);
        let called = program.node_ids().filter(|&node| {
            let func = program.node(node).func;
            block.functions.contains(&func) && func != block.func
        });
        called.chain(block.own.iter().copied()).chain(block.exits.iter().copied()).collect()
    }

    /// Where a block begins or ends, also behind a call: the locations where an analysis passes from one block to another.
    pub fn borders(&self, program: &Program) -> BTreeSet<NodeId> {
        let mut borders = BTreeSet::new();
        for block in &self.blocks {
            borders.insert(block.entry);
            borders.extend(&block.exits);
        }
        let calls = program.edge_ids().filter(|&edge| self.of_call(program, edge).is_some());
        borders.extend(calls.map(|edge| program.edge(edge).dst));
        borders
    }

    /// One line for each block.
    pub fn dump(&self, program: &Program) -> String {
        let mut text = String::new();
        for id in self.ids() {
            let block = self.get(id);
            let name = &program.func(block.func).name;
            let what = match block.kind {
                BlockKind::Function(_) => format!("function {name}"),
                BlockKind::Loop(head) => format!("loop {head} of {name}"),
            };
            let recursive = if block.recursive { ", recursive" } else { "" };
            let list = |nodes: &BTreeSet<NodeId>| nodes.iter().map(NodeId::to_string).collect::<Vec<_>>().join(" ");
            let called: Vec<&str> = block
                .functions
                .iter()
                .filter(|&&func| func != block.func || matches!(block.kind, BlockKind::Loop(_)))
                .map(|&func| &*program.func(func).name)
                .collect();
            let calls = if called.is_empty() { String::new() } else { format!(", calls {}", called.join(" ")) };
            let _ = writeln!(
                text,
                "{id} {what}{recursive}: {} locations, in {}, out {}, sees {} variables and {} parts of memory{calls}",
                self.locations(program, id).len(),
                block.entry,
                list(&block.exits),
                block.vars.iter().filter(|&&var| block.sees(program, var)).count(),
                block.regions.len(),
            );
        }
        text
    }
}

/// The functions that run when the given ones are called.
fn called(effects: &[Effect], calls: impl Iterator<Item = FuncId>) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::new();
    let mut open: Vec<FuncId> = calls.collect();
    while let Some(func) = open.pop() {
        if found.insert(func) {
            open.extend(&effects[func.index()].calls);
        }
    }
    found
}

struct Survey<'a> {
    program: &'a Program,
    effects: &'a [Effect],
    reachable: &'a [BTreeSet<FuncId>],
}

impl Survey<'_> {
    fn block(
        &self,
        kind: BlockKind,
        func: FuncId,
        own: BTreeSet<NodeId>,
        entry: NodeId,
        exits: BTreeSet<NodeId>,
    ) -> Block {
        let program = self.program;
        let recursive = self.reachable[func.index()].contains(&func);
        let edges = own.iter().flat_map(|&node| program.node(node).leaving.clone());
        let mut here = Effect::of(program, edges);
        let mut functions = called(self.effects, here.calls.iter().copied());
        let mut inside = Effect::default();
        functions.iter().for_each(|func| inside.add(&self.effects[func.index()]));
        // Functions on a cycle with this one: their local variables belong to other activations.
        let cycle: BTreeSet<FuncId> = match recursive {
            true => functions.iter().copied().filter(|f| self.reachable[f.index()].contains(&func)).collect(),
            false => BTreeSet::new(),
        };
        let other = |scope: Scope| matches!(scope, Scope::Local(local) if cycle.contains(&local));
        let called = here.passed.iter().chain(&inside.writes).chain(&inside.passed);
        let mut writes: BTreeSet<VarId> = called.copied().filter(|&var| !other(program.var(var).scope)).collect();
        // Its edges write global variables and its own ones.
        writes.extend(&here.writes);
        if let BlockKind::Function(func) = kind {
            functions.insert(func);
            writes.extend(program.func(func).ret);
        }
        here.add(&inside);
        let Effect { vars, regions, .. } = here;
        Block { kind, func, own, entry, exits, functions, recursive, cycle, vars, writes, regions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Source, load};

    fn blocks(text: &str, min_size: usize) -> (Program, Blocks) {
        let source = Source { name: "t.c".into(), text: text.into() };
        let program = load(&[source], &Options::default()).unwrap();
        let blocks = Blocks::find(&program, Partitioning { min_size, ..Partitioning::default() });
        (program, blocks)
    }

    /// Control flow with calls: into the callee and back.
    fn flow(program: &Program) -> Vec<(NodeId, NodeId)> {
        let mut flow = Vec::new();
        for edge in &program.edges {
            match &edge.op {
                Op::Call { callee, .. } => {
                    let body = program.func(*callee).body.unwrap();
                    flow.extend([(edge.src, body.entry), (body.exit, edge.dst)]);
                }
                _ => flow.push((edge.src, edge.dst)),
            }
        }
        flow
    }

    /// In(B) and Out(B) by the definitions of section 2.2.
    fn borders(program: &Program, inside: &BTreeSet<NodeId>) -> (BTreeSet<NodeId>, BTreeSet<NodeId>) {
        let flow = flow(program);
        let is_in = |node: &NodeId| {
            flow.iter().any(|(from, to)| to == node && !inside.contains(from)) || !flow.iter().any(|(_, to)| to == node)
        };
        let is_out = |node: &NodeId| {
            flow.iter().any(|(from, to)| from == node && !inside.contains(to))
                || !flow.iter().any(|(from, _)| from == node)
        };
        (inside.iter().copied().filter(is_in).collect(), inside.iter().copied().filter(is_out).collect())
    }

    /// Figure 1: three nested blocks, each with one entry and one exit location.
    #[test]
    fn the_blocks_of_figure_1() {
        let text = "int f(int x) { return x + 1; }
            int main(void) { int i = 0; while (i < 10) { i = f(i); } i = i + 1; return i; }";
        let (program, blocks) = blocks(text, 0);
        assert_eq!(blocks.ids().count(), 3);
        let function = |name: &str| blocks.of_function(program.find_func(name).unwrap()).unwrap();
        let inner = |head: &NodeId| blocks.of_head(*head);
        let (main, f, body) = (function("main"), function("f"), program.loops.heads.iter().find_map(inner).unwrap());
        let locations = |id| blocks.locations(&program, id);
        assert!(locations(f).is_subset(&locations(body)) && locations(body).is_subset(&locations(main)));
        for id in [main, f, body] {
            let (entries, exits) = borders(&program, &locations(id));
            assert_eq!(entries, BTreeSet::from([blocks.get(id).entry]), "In({id})");
            assert_eq!(exits, blocks.get(id).exits, "Out({id})");
            assert_eq!(exits.len(), 1);
        }
        assert_eq!(blocks.get(body).entry, *program.loops.heads.first().unwrap());
        let behind = program.node(*blocks.get(body).exits.first().unwrap());
        assert_eq!(behind.leaving.len(), 1, "what is behind the loop belongs to main");
    }

    /// What a block sees and decides; other activations of a recursive function keep their variables.
    #[test]
    fn variables_of_blocks() {
        let text = "int g, h; int f(int x) { int y = x; g = y; if (x) { y = f(x - 1); } return y; }
            int main(void) { int a = 1; h = 2; return f(a) + h; }";
        let (program, blocks) = blocks(text, 100);
        assert_eq!(blocks.ids().count(), 2, "the recursive function is a block whatever its size is");
        let block = blocks.get(blocks.of_function(program.find_func("f").unwrap()).unwrap());
        let var = |name: &str| VarId::new(program.vars.iter().position(|var| &*var.name == name).unwrap());
        let sees = ["g", "h", "f::x", "f::y", "main::a"].map(|name| block.sees(&program, var(name)));
        assert_eq!(sees, [true, false, true, false, false]);
        let decides = ["g", "h", "f::x", "f::y", "main::a"].map(|name| block.decides(&program, var(name)));
        assert_eq!(decides, [true, false, true, true, false]);
        assert!(block.recursive && block.writes.contains(&var("g")) && !block.writes.contains(&var("h")));
    }
}
