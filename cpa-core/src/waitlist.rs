// SPDX-License-Identifier: Apache-2.0
//! The orders in which waiting nodes are expanded.
//!
//! Depth-first, breadth-first, and "topological": reverse post-order of the locations, so that paths meet and merge before
//! what comes after them is explored (Wendler, section 2.7.1). With the call stack first, a called function is finished
//! before its caller goes on, for the same reason.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use crate::arg::ArgId;
use crate::cpa::Rank;

/// A container of waiting nodes. It may hand out nodes that no longer wait or were removed; the exploration knows and skips
/// them, so nothing has to be searched when a node is taken back.
pub trait Waitlist {
    /// Puts in a node.
    fn push(&mut self, id: ArgId, rank: Rank);
    /// Takes out the next node.
    fn pop(&mut self) -> Option<ArgId>;
}

/// Depth-first: the newest node is next.
#[derive(Clone, Debug, Default)]
pub struct Dfs(Vec<ArgId>);

impl Waitlist for Dfs {
    fn push(&mut self, id: ArgId, _rank: Rank) {
        self.0.push(id);
    }
    fn pop(&mut self) -> Option<ArgId> {
        self.0.pop()
    }
}

/// Breadth-first: the oldest node is next.
#[derive(Clone, Debug, Default)]
pub struct Bfs(VecDeque<ArgId>);

impl Waitlist for Bfs {
    fn push(&mut self, id: ArgId, _rank: Rank) {
        self.0.push_back(id);
    }
    fn pop(&mut self) -> Option<ArgId> {
        self.0.pop_front()
    }
}

/// Reverse post-order: the smallest location number is next; among several the newest node.
#[derive(Clone, Debug, Default)]
pub struct ReversePostOrder {
    callstack: bool,
    heap: BinaryHeap<(u32, Reverse<u32>, u64, ArgId)>,
    pushed: u64,
}

impl ReversePostOrder {
    /// By location alone.
    pub fn new() -> Self {
        Self::default()
    }
    /// Deeper call stacks first, then by location.
    pub fn callstack_first() -> Self {
        Self { callstack: true, ..Self::default() }
    }
}

impl Waitlist for ReversePostOrder {
    fn push(&mut self, id: ArgId, rank: Rank) {
        let depth = if self.callstack { rank.depth } else { 0 };
        self.heap.push((depth, Reverse(rank.rpo), self.pushed, id));
        self.pushed += 1;
    }
    fn pop(&mut self) -> Option<ArgId> {
        self.heap.pop().map(|(_, _, _, id)| id)
    }
}

/// Large blocks one at a time, for summarised automata: states inside a block come first, in reverse post-order, so that the
/// edge of the summarised automaton is followed as a whole before any other one. States between blocks come in the order of
/// another waitlist.
pub struct Blockwise {
    inside: ReversePostOrder,
    between: Box<dyn Waitlist>,
}

impl Blockwise {
    /// With the given order of the states between blocks.
    pub fn before(between: Box<dyn Waitlist>) -> Self {
        Self { inside: ReversePostOrder::new(), between }
    }
}

impl Waitlist for Blockwise {
    fn push(&mut self, id: ArgId, rank: Rank) {
        if rank.inside { self.inside.push(id, rank) } else { self.between.push(id, rank) }
    }
    fn pop(&mut self) -> Option<ArgId> {
        self.inside.pop().or_else(|| self.between.pop())
    }
}

/// A place in the unrolled program, if it is unrolled.
type Place = Option<Rc<[u32]>>;

/// The place in the unrolled program: the smallest position is next, so that everything that can meet at a location has met
/// before the location is left, also behind loops and calls; among several the newest node.
#[derive(Clone, Debug, Default)]
pub struct Unrolled {
    heap: BinaryHeap<(Reverse<Place>, u64, ArgId)>,
    pushed: u64,
}

impl Waitlist for Unrolled {
    fn push(&mut self, id: ArgId, rank: Rank) {
        self.heap.push((Reverse(rank.position), self.pushed, id));
        self.pushed += 1;
    }
    fn pop(&mut self) -> Option<ArgId> {
        self.heap.pop().map(|(_, _, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes a0 to a4 with (depth, rpo) in the order they come out.
    fn order(mut waitlist: impl Waitlist) -> Vec<usize> {
        for (index, (depth, rpo)) in [(0, 5), (1, 7), (0, 2), (1, 9), (0, 2)].into_iter().enumerate() {
            waitlist.push(ArgId::new(index), Rank { depth, rpo, inside: rpo > 6, position: None });
        }
        std::iter::from_fn(|| waitlist.pop()).map(ArgId::index).collect()
    }

    #[test]
    fn orders() {
        assert_eq!(order(Dfs::default()), [4, 3, 2, 1, 0]);
        assert_eq!(order(Bfs::default()), [0, 1, 2, 3, 4]);
        assert_eq!(order(ReversePostOrder::new()), [4, 2, 0, 1, 3]);
        assert_eq!(order(ReversePostOrder::callstack_first()), [1, 3, 4, 2, 0]);
        assert_eq!(order(Blockwise::before(Box::new(Bfs::default()))), [1, 3, 0, 2, 4]);
    }
}
