// SPDX-License-Identifier: Apache-2.0
//! Summarised automata: large blocks as edges.
//!
//! Follows Wendler, *Software Verification based on Adjustable Large-Block Encoding*, section 2.5. Rule 0 drops what leaves
//! a target. Rule 1 removes a location with one arriving edge and puts the sequence of both operations in the place of each
//! edge behind it. Rule 2 puts the choice of two operations in the place of parallel edges. What is left when no rule
//! applies are loop heads, since every cycle has a location with two arriving edges, targets, and where blocks meet that
//! began at different ones of these.
//!
//! The rules are applied to all functions together; a call is followed by an edge into the callee and one back, as an
//! analysis follows it. Locations behind these two stay, since blocks contain neither calls nor returns. Operations are
//! shared, so the result is no larger than the number of location pairs that it connects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ids::NodeId;
use crate::ir::Op;
use crate::machine::Move;
use crate::program::Program;

/// The operation of a summarised edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LargeBlock {
    /// What happens on one edge of the original automaton.
    Single(Move),
    /// One after the other.
    Sequence(Arc<LargeBlock>, Arc<LargeBlock>),
    /// One or the other.
    Choice(Arc<LargeBlock>, Arc<LargeBlock>),
}

/// A program whose edges are large blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SummarizedCfa {
    /// Where the program starts.
    pub entry: NodeId,
    /// For each location that is left and has leaving edges these edges, by where they arrive; there is at most one between
    /// two locations.
    pub leaving: BTreeMap<NodeId, BTreeMap<NodeId, Arc<LargeBlock>>>,
}

impl SummarizedCfa {
    /// Applies the rules to what is reachable of `program` until none applies; `targets` are the error locations.
    pub fn new(program: &Program, targets: &BTreeSet<NodeId>) -> Self {
        let mut rules = Rules::of(program, targets);
        rules.apply();
        rules.leaving.retain(|_, edges| !edges.is_empty());
        Self { entry: program.entry, leaving: rules.leaving }
    }

    /// The locations that are left.
    pub fn nodes(&self) -> BTreeSet<NodeId> {
        let arrivals = self.leaving.values().flat_map(BTreeMap::keys);
        arrivals.chain(self.leaving.keys()).chain([&self.entry]).copied().collect()
    }

    /// The edges, one a line: a sequence with `;`, a choice in parentheses with `||`. What stands in several places has a
    /// name and a line of its own above.
    pub fn dump(&self, program: &Program) -> String {
        let mut notation =
            Notation { program, uses: FxHashMap::default(), names: FxHashMap::default(), out: String::new() };
        let blocks = || self.leaving.values().flat_map(BTreeMap::values);
        blocks().for_each(|block| notation.count(block));
        blocks().for_each(|block| notation.define(block));
        for (from, edges) in &self.leaving {
            for (to, block) in edges {
                let line = format!("{from} -> {to}: {}\n", notation.text(block, true));
                notation.out.push_str(&line);
            }
        }
        notation.out
    }
}

/// Writes blocks as text. Blocks are known by their places in memory.
struct Notation<'a> {
    program: &'a Program,
    uses: FxHashMap<*const LargeBlock, u32>,
    names: FxHashMap<*const LargeBlock, usize>,
    out: String,
}

impl Notation<'_> {
    /// Counts in how many places each block stands.
    fn count(&mut self, block: &Arc<LargeBlock>) {
        let uses = self.uses.entry(Arc::as_ptr(block)).or_default();
        *uses += 1;
        if *uses == 1 {
            block.parts().for_each(|part| self.count(part));
        }
    }

    /// Writes a line for each block inside that stands in several places.
    fn define(&mut self, block: &Arc<LargeBlock>) {
        if self.names.contains_key(&Arc::as_ptr(block)) {
            return;
        }
        block.parts().for_each(|part| self.define(part));
        if self.uses[&Arc::as_ptr(block)] > 1 && !matches!(**block, LargeBlock::Single(_)) {
            let name = self.names.len() + 1;
            let line = format!("b{name} = {}\n", self.text(block, true));
            self.out.push_str(&line);
            self.names.insert(Arc::as_ptr(block), name);
        }
    }

    fn text(&self, block: &Arc<LargeBlock>, whole: bool) -> String {
        if let Some(name) = self.names.get(&Arc::as_ptr(block)).filter(|_| !whole) {
            return format!("b{name}");
        }
        match &**block {
            LargeBlock::Single(taken) => display(self.program, *taken),
            LargeBlock::Sequence(first, second) => {
                format!("{}; {}", self.text(first, false), self.text(second, false))
            }
            LargeBlock::Choice(one, other) => format!("({} || {})", self.text(one, false), self.text(other, false)),
        }
    }
}

impl LargeBlock {
    /// The blocks that it is made of.
    fn parts(&self) -> impl Iterator<Item = &Arc<LargeBlock>> {
        match self {
            LargeBlock::Single(_) => None,
            LargeBlock::Sequence(one, other) | LargeBlock::Choice(one, other) => Some([one, other]),
        }
        .into_iter()
        .flatten()
    }
}

fn display(program: &Program, taken: Move) -> String {
    match taken {
        Move::Edge(edge) | Move::Enter(edge) => program.display_op(&program.edge(edge).op),
        Move::Leave(edge) => match &program.edge(edge).op {
            Op::Call { callee, .. } => format!("return from {}", program.func(*callee).name),
            other => program.display_op(other),
        },
    }
}

/// The edges that are left so far.
struct Rules {
    leaving: BTreeMap<NodeId, BTreeMap<NodeId, Arc<LargeBlock>>>,
    /// For each location where edges come from. Parallel edges are one at any time.
    sources: BTreeMap<NodeId, BTreeSet<NodeId>>,
    /// Locations that stay.
    fixed: BTreeSet<NodeId>,
}

impl Rules {
    /// The reachable edges of a program, after rule 0.
    fn of(program: &Program, targets: &BTreeSet<NodeId>) -> Self {
        let mut from: Vec<Vec<(NodeId, Move)>> = vec![Vec::new(); program.nodes.len()];
        for id in program.edge_ids() {
            let edge = program.edge(id);
            match edge.op {
                Op::Call { callee, .. } => {
                    let body = program.func(callee).body.expect("called functions have bodies");
                    from[edge.src.index()].push((body.entry, Move::Enter(id)));
                    from[body.exit.index()].push((edge.dst, Move::Leave(id)));
                }
                _ => from[edge.src.index()].push((edge.dst, Move::Edge(id))),
            }
        }
        let mut rules = Self { leaving: BTreeMap::new(), sources: BTreeMap::new(), fixed: targets.clone() };
        rules.fixed.insert(program.entry);
        let mut open = vec![program.entry];
        let mut seen = BTreeSet::from([program.entry]);
        while let Some(node) = open.pop() {
            if targets.contains(&node) {
                continue;
            }
            for &(to, taken) in &from[node.index()] {
                if !matches!(taken, Move::Edge(_)) {
                    rules.fixed.insert(to);
                }
                rules.connect(node, to, Arc::new(LargeBlock::Single(taken)));
                if seen.insert(to) {
                    open.push(to);
                }
            }
        }
        rules
    }

    /// Adds an edge; rule 2 if there is one already.
    fn connect(&mut self, from: NodeId, to: NodeId, block: Arc<LargeBlock>) {
        self.sources.entry(to).or_default().insert(from);
        self.leaving
            .entry(from)
            .or_default()
            .entry(to)
            .and_modify(|before| *before = Arc::new(LargeBlock::Choice(Arc::clone(before), Arc::clone(&block))))
            .or_insert(block);
    }

    /// Where the only edge to `node` comes from, if rule 1 removes `node`.
    fn only_source(&self, node: NodeId) -> Option<NodeId> {
        let sources = self.sources.get(&node)?;
        let &source = sources.first()?;
        (sources.len() == 1 && source != node && !self.fixed.contains(&node)).then_some(source)
    }

    /// Rules 1 and 2 as long as there is something to do.
    fn apply(&mut self) {
        // Locations in reverse post-order, so that what is in front of a location is done before it.
        let mut open: BTreeSet<NodeId> = self.sources.keys().copied().collect();
        while let Some(node) = open.pop_first() {
            let Some(source) = self.only_source(node) else { continue };
            self.sources.remove(&node);
            let first = self.leaving.get_mut(&source).and_then(|edges| edges.remove(&node));
            let first = first.expect("the edge is in both tables");
            for (to, second) in self.leaving.remove(&node).unwrap_or_default() {
                if let Some(sources) = self.sources.get_mut(&to) {
                    sources.remove(&node);
                }
                self.connect(source, to, Arc::new(LargeBlock::Sequence(Arc::clone(&first), second)));
                open.insert(to);
            }
        }
    }
}
