// SPDX-License-Identifier: Apache-2.0
//! Operands whose order of evaluation matters: all orders that C allows are put into the graph, with an arbitrary choice
//! between them, where that is exact.
//!
//! Calls do not overlap, C11 6.5.2.2, but what else happens in an operand may be in between. So the orders of whole operands
//! are all there is if on each way through an operand at most one thing matters to the others: everything else of it can be moved to
//! that. What is evaluated between operands for the lowering's own sake, and operands that matter to no other one, come
//! behind all of them if that changes nothing.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{FuncId, NodeId, VarId};
use crate::ir::{CmpOp, HavocOrigin, IntTy, Op, Scope as VarScope, Span};

use super::Lower;
use super::unsequenced::{Effects, Known, OPEN_ORDER, Unsequenced};

/// More operands that matter to each other than this have too many orders.
const MAX_OPERANDS: usize = 4;

/// A place is not copied if that takes more edges than this.
const MAX_COPIED: usize = 3000;

/// A part of the graph that is entered and left at one place each.
struct Piece {
    entry: NodeId,
    exit: NodeId,
    edges: Vec<usize>,
    nodes: FxHashSet<NodeId>,
}

/// An operand and what it does.
struct Atom {
    piece: Piece,
    own: Effects,
    called: Effects,
    /// What its value reads when it is used.
    late: Effects,
}

/// Why the orders are not put into the graph.
pub(super) enum Obstacle {
    /// Values that are read later must be read where they are.
    Late,
    Other,
}

/// The edges at each node.
struct Neighbours {
    leaving: Vec<Vec<usize>>,
    entering: Vec<Vec<usize>>,
}

impl Lower<'_> {
    /// Puts all orders of the operands of a group, which begin at one node, into the graph; the edges that leave this one have
    /// been moved to `first`.
    pub(super) fn explore_orders(
        &mut self,
        group: &[Unsequenced],
        first: NodeId,
        known: &mut Known<'_>,
    ) -> Result<(), Obstacle> {
        let other = Obstacle::Other;
        let begin = group.first().ok_or(Obstacle::Other)?.node;
        let func = self.graph.func(begin);
        if self.sites.wanted() {
            return Err(other);
        }
        let neighbours = self.neighbours();
        let exit = self.funcs[func.index()].body.map(|body| body.exit);
        let moved = |node: NodeId| if node == begin { first } else { node };
        let piece = |from: NodeId, to: NodeId| self.piece(&neighbours, moved(from), moved(to), exit);
        let mut atoms = Vec::new();
        let mut glue: Vec<Piece> = Vec::new();
        for (at, note) in group.iter().enumerate() {
            let Some((left_end, right_start)) = note.ends else { return Err(other) };
            let from = match at.checked_sub(1) {
                None => {
                    let left = piece(begin, left_end).ok_or(Obstacle::Other)?;
                    let late = self.late_effects(&note.left);
                    atoms.push(self.atom(left, late, known));
                    left_end
                }
                Some(before) => group[before].right_end,
            };
            glue.push(piece(from, right_start).filter(|glue| self.is_straight(glue)).ok_or(Obstacle::Other)?);
            let right = piece(right_start, note.right_end).ok_or(Obstacle::Other)?;
            let late = self.late_effects(&note.right);
            atoms.push(self.atom(right, late, known));
        }
        let conflicts = |a: &Atom, b: &Atom| self.conflict((&a.own, &a.called), (&b.own, &b.called), known);
        let late = |a: &Atom, b: &Atom| self.conflict((&a.late, &Effects::default()), (&b.own, &b.called), known);
        let mut involved = BTreeSet::new();
        for (at, a) in atoms.iter().enumerate() {
            for (to, b) in atoms.iter().enumerate().filter(|(to, _)| *to != at) {
                if late(a, b) {
                    return Err(Obstacle::Late);
                }
                if conflicts(a, b) {
                    involved.extend([at, to]);
                }
            }
        }
        let involved: Vec<usize> = involved.into_iter().collect();
        let single = involved.iter().all(|at| {
            let others: Vec<&Atom> = involved.iter().filter(|to| *to != at).map(|to| &atoms[*to]).collect();
            self.matters_once(&atoms[*at].piece, &others, known)
        });
        if involved.is_empty()
            || involved.len() > MAX_OPERANDS
            || !single
            || !self.may_move(&atoms, &glue, &involved, known)
        {
            return Err(other);
        }
        let orders = permutations(&involved);
        let size: usize = atoms.iter().map(|atom| &atom.piece).chain(&glue).map(|piece| piece.edges.len() + 1).sum();
        if size * (orders.len() - 1) > MAX_COPIED {
            return Err(other);
        }
        let span = group[group.len() - 1].span;
        let end = moved(group[group.len() - 1].right_end);
        let mut choice = begin;
        let pieces: Vec<Piece> = atoms.into_iter().map(|atom| atom.piece).collect();
        for order in orders.into_iter().skip(1) {
            let (yes, no) = self.choice(choice, func, span);
            let mut at = yes;
            for operand in order {
                at = self.copy_of(&pieces[operand], at, func, span);
            }
            for position in 0..pieces.len() {
                if position > 0 {
                    at = self.copy_of(&glue[position - 1], at, func, span);
                }
                if !involved.contains(&position) {
                    at = self.copy_of(&pieces[position], at, func, span);
                }
            }
            self.graph.edge(at, end, Op::Skip, span);
            choice = no;
        }
        self.graph.edge(choice, first, Op::Skip, span);
        Ok(())
    }

    fn neighbours(&self) -> Neighbours {
        let count = self.graph.len();
        let mut found = Neighbours { leaving: vec![Vec::new(); count], entering: vec![Vec::new(); count] };
        for (at, edge) in self.graph.edges.iter().enumerate() {
            found.leaving[edge.src.index()].push(at);
            found.entering[edge.dst.index()].push(at);
        }
        found
    }

    /// What is passed from one node to another one, if nothing else leads into it, and nothing out of it but ends of the execution.
    fn piece(&self, neighbours: &Neighbours, entry: NodeId, exit: NodeId, end: Option<NodeId>) -> Option<Piece> {
        let mut piece = Piece { entry, exit, edges: Vec::new(), nodes: FxHashSet::default() };
        if entry == exit {
            return Some(piece);
        }
        let mut reached = false;
        let mut todo = vec![entry];
        while let Some(node) = todo.pop() {
            if node == exit {
                reached = true;
                continue;
            }
            if Some(node) == end || piece.edges.len() > MAX_COPIED {
                return None;
            }
            if piece.nodes.insert(node) {
                for &at in &neighbours.leaving[node.index()] {
                    piece.edges.push(at);
                    todo.push(self.graph.edges[at].dst);
                }
            }
        }
        let inside = |at: &usize| piece.nodes.contains(&self.graph.edges[*at].src);
        let single =
            piece.nodes.iter().all(|node| *node == entry || neighbours.entering[node.index()].iter().all(inside));
        (reached && single).then_some(piece)
    }

    /// Whether nothing branches or is called.
    fn is_straight(&self, piece: &Piece) -> bool {
        piece.edges.len() == piece.nodes.len()
            && piece.edges.iter().all(|at| {
                matches!(
                    self.graph.edges[*at].op,
                    Op::Skip | Op::Assign { .. } | Op::Load { .. } | Op::Store { .. } | Op::Havoc { .. }
                )
            })
    }

    fn atom(&self, piece: Piece, late: Effects, known: &mut Known<'_>) -> Atom {
        let (own, called) = self.effects_of(&piece.edges, known);
        Atom { piece, own, called, late }
    }

    /// Whether on each way through an operand at most one thing matters to the others.
    fn matters_once(&self, piece: &Piece, others: &[&Atom], known: &mut Known<'_>) -> bool {
        let nothing = Effects::default();
        let mut events = BTreeSet::new();
        for &at in &piece.edges {
            let (own, called) = self.effects_of(&[at], known);
            let matter = |own: &Effects, called: &Effects| {
                others.iter().any(|other| self.conflict((own, called), (&other.own, &other.called), known))
            };
            let (own, called) = (matter(&own, &nothing), matter(&nothing, &called));
            if own && called {
                return false;
            }
            if own || called {
                events.insert(at);
            }
        }
        // From what matters, nothing that matters may follow.
        let mut after: FxHashSet<NodeId> = FxHashSet::default();
        let mut todo: Vec<NodeId> = events.iter().map(|at| self.graph.edges[*at].dst).collect();
        while let Some(node) = todo.pop() {
            if node != piece.exit && after.insert(node) {
                let from = piece.edges.iter().filter(|at| self.graph.edges[**at].src == node);
                todo.extend(from.map(|at| self.graph.edges[*at].dst));
            }
        }
        events.iter().all(|at| !after.contains(&self.graph.edges[*at].src))
    }

    /// Whether operands can be evaluated in any order, and what is between them and other operands behind them, as far as
    /// variables are concerned, and what is between them also otherwise.
    fn may_move(&self, atoms: &[Atom], glue: &[Piece], involved: &[usize], known: &mut Known<'_>) -> bool {
        let variables: Vec<_> = atoms.iter().map(|atom| self.variables(&atom.piece)).collect();
        let apart = |(reads, writes): &(BTreeSet<VarId>, BTreeSet<VarId>),
                     other: &(BTreeSet<VarId>, BTreeSet<VarId>)| {
            writes.is_disjoint(&other.0) && writes.is_disjoint(&other.1) && reads.is_disjoint(&other.1)
        };
        let pairs = |at: usize| (0..at).all(|to| apart(&variables[at], &variables[to]));
        if !(0..atoms.len()).all(pairs) {
            return false;
        }
        // The part behind operand `at` comes behind the operands that follow it.
        glue.iter().enumerate().all(|(at, piece)| {
            let own_variables = self.variables(piece);
            let (own, _) = self.effects_of(&piece.edges, known);
            involved.iter().filter(|to| **to > at).all(|to| {
                let mut all = atoms[*to].own.clone();
                all.add(&atoms[*to].called);
                apart(&own_variables, &variables[*to])
                    && !own.disturbs(&all, &|_| false)
                    && !all.disturbs(&own, &|_| false)
            })
        })
    }

    /// The variables that a part reads and writes itself.
    fn variables(&self, piece: &Piece) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
        let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
        for at in &piece.edges {
            let op = &self.graph.edges[*at].op;
            reads.extend(op.operands().into_iter().flat_map(|operand| self.exprs.vars(operand)));
            writes.extend(op.written());
        }
        (reads, writes)
    }

    /// An arbitrary choice at a node: where it leads to.
    fn choice(&mut self, node: NodeId, func: FuncId, span: Span) -> (NodeId, NodeId) {
        let ty = IntTy { bits: 8, signed: false };
        let name = format!("{}::__order", self.funcs[func.index()].name);
        let var = self.new_var(&name, ty, VarScope::Local(func), true);
        self.vars[var.index()].truth = true;
        let (branch, yes, no) =
            (self.graph.node(func, false), self.graph.node(func, false), self.graph.node(func, false));
        let (value, zero) = (self.exprs.var(var, ty), self.exprs.constant(ty, 0));
        let cond = self.exprs.cmp(CmpOp::Eq, value, zero);
        let origin = HavocOrigin::Unmodelled { what: OPEN_ORDER.into() };
        self.graph.edge(node, branch, Op::Havoc { var, origin }, span);
        // With 0 it is from left to right.
        self.graph.edge(branch, no, Op::Assume { cond, truth: true }, span);
        self.graph.edge(branch, yes, Op::Assume { cond, truth: false }, span);
        (yes, no)
    }

    /// Appends a copy of a part; returns where it ends.
    fn copy_of(&mut self, piece: &Piece, from: NodeId, func: FuncId, span: Span) -> NodeId {
        let mut map: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        let mut nodes: Vec<NodeId> = piece.nodes.iter().copied().collect();
        nodes.sort_unstable();
        for node in nodes {
            map.insert(node, self.graph.node_like(node));
        }
        let end = self.graph.node(func, false);
        map.insert(piece.exit, end);
        let start = if piece.entry == piece.exit { end } else { map[&piece.entry] };
        self.graph.edge(from, start, Op::Skip, span);
        for at in &piece.edges {
            let edge = self.graph.edges[*at].clone();
            self.graph.edge(map[&edge.src], map[&edge.dst], edge.op, edge.span);
        }
        let calls: Vec<_> = self.calls.iter().filter(|(_, node, _)| piece.nodes.contains(node)).cloned().collect();
        self.calls.extend(calls.into_iter().map(|(name, node, span)| (name, map[&node], span)));
        let labels: Vec<_> = self.labels.iter().filter(|(_, node)| piece.nodes.contains(node)).cloned().collect();
        self.labels.extend(labels.into_iter().map(|(name, node)| (name, map[&node])));
        end
    }
}

/// All orders, the given one first.
fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (at, first) in items.iter().enumerate() {
        let rest: Vec<usize> = items.iter().enumerate().filter(|(to, _)| *to != at).map(|(_, item)| *item).collect();
        for mut order in permutations(&rest) {
            order.insert(0, *first);
            found.push(order);
        }
    }
    found
}
