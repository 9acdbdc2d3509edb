// SPDX-License-Identifier: Apache-2.0
//! Where runs of a function come together again, and which branches decide where they go until then: Cooper, Harvey, Kennedy, *A
//! Simple, Fast Dominance Algorithm*, 2001, on the reversed graph, and control dependences from it.

use rustc_hash::FxHashSet;

use crate::ids::NodeId;
use crate::program::Program;
use crate::scc::components;

/// For each node of a program where all runs of its function come next that go on from there.
pub(crate) struct Postdominators {
    /// The immediate postdominator, none where the function ends or runs go on for ever.
    pub(crate) next: Vec<Option<NodeId>>,
    /// The branches that decide whether a node is visited.
    pub(crate) deciding: Vec<Vec<NodeId>>,
    /// Nodes from which no other way leads on, but that of the function's end: one of each such cycle.
    pub(crate) last: Vec<NodeId>,
}

impl Postdominators {
    /// Those of all functions.
    pub(crate) fn new(program: &Program) -> Self {
        let count = program.nodes.len();
        let successor = |node: usize, at: usize| Some(program.edge(*program.nodes[node].leaving.get(at)?).dst.index());
        let component = components(count, successor);
        let leaves = |node: NodeId| {
            let edges = program.node(node).leaving.iter();
            edges.map(|&id| program.edge(id).dst).any(|to| component[to.index()] != component[node.index()])
        };
        let open = program.node_ids().filter(|&node| leaves(node)).map(|node| component[node.index()]);
        let mut passed: FxHashSet<u32> = open.collect();
        let exits: FxHashSet<NodeId> = program.funcs.iter().filter_map(|func| Some(func.body?.exit)).collect();
        let mut ends = vec![false; count];
        let mut last = Vec::new();
        // The first node of a cycle in reverse post-order is the head of its loop.
        let mut order: Vec<NodeId> = program.node_ids().collect();
        order.sort_by_key(|&node| program.node(node).rpo);
        for node in order {
            if passed.insert(component[node.index()]) {
                ends[node.index()] = true;
                if !exits.contains(&node) {
                    last.push(node);
                }
            }
        }
        // Numbers in a post-order of the reversed graph; the one end of everything is `count`, the greatest of them.
        let entering = |node: usize, at: usize| Some(program.edge(*program.nodes[node].entering.get(at)?).src.index());
        let mut number = vec![usize::MAX; count + 1];
        let mut postorder = Vec::with_capacity(count + 1);
        let mut seen = vec![false; count];
        for root in (0..count).filter(|&node| ends[node]) {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut work = vec![(root, 0)];
            while let Some((node, at)) = work.pop() {
                if let Some(from) = entering(node, at) {
                    work.push((node, at + 1));
                    if !std::mem::replace(&mut seen[from], true) {
                        work.push((from, 0));
                    }
                } else {
                    number[node] = postorder.len();
                    postorder.push(node);
                }
            }
        }
        number[count] = postorder.len();
        let mut above = vec![usize::MAX; count + 1];
        above[count] = count;
        let mut changed = true;
        while changed {
            changed = false;
            for &node in postorder.iter().rev() {
                let mut common = if ends[node] { count } else { usize::MAX };
                for &id in &program.nodes[node].leaving {
                    let to = program.edge(id).dst.index();
                    if above[to] == usize::MAX {
                        continue;
                    }
                    common = if common == usize::MAX { to } else { meet(&number, &above, common, to) };
                }
                if above[node] != common {
                    above[node] = common;
                    changed = true;
                }
            }
        }
        let mut deciding = vec![Vec::new(); count];
        for node in program.node_ids().filter(|&node| program.node(node).leaving.len() == 2) {
            for &id in &program.node(node).leaving {
                let mut at = program.edge(id).dst.index();
                while at != above[node.index()] && at != count {
                    if deciding[at].last() != Some(&node) {
                        deciding[at].push(node);
                    }
                    at = above[at];
                }
            }
        }
        let next = above[..count].iter().map(|&at| (at < count).then(|| NodeId::new(at))).collect();
        Postdominators { next, deciding, last }
    }
}

/// The nearest node that is above both in the tree.
fn meet(number: &[usize], above: &[usize], one: usize, other: usize) -> usize {
    let (mut one, mut other) = (one, other);
    while one != other {
        if number[one] < number[other] {
            one = above[one];
        } else {
            other = above[other];
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Options, Source, load};

    #[test]
    fn branches_and_what_they_decide() {
        let text = "extern int nondet(void); extern void abort(void); int main(void) { int x = 0;
            if (nondet() == 1) x = 10; else x = 11;
            while (nondet() == 2) x = 12;
            if (nondet() == 3) abort();
            x = 13; if (nondet() == 4) for (;;) x = 14;
            return x; }";
        let source = Source { name: "t.c".into(), text: text.into() };
        let program = load(&[source], &Options { entry: "main".into(), ..Options::default() }).unwrap();
        let found = Postdominators::new(&program);
        let at = |text: &str| {
            let is = |id: &crate::EdgeId| program.text(program.edge(*id).span) == text;
            let edge = program.edge_ids().find(|id| matches!(program.edge(*id).op, Op::Assign { .. }) && is(id));
            program.edge(edge.unwrap_or_else(|| panic!("{text}"))).src
        };
        let branches = |text: &str| {
            let nodes = found.deciding[at(text).index()].iter();
            let texts = nodes.map(|&node| program.text(program.edge(program.node(node).leaving[0]).span));
            texts.collect::<Vec<_>>()
        };
        assert_eq!(branches("x = 10"), ["nondet() == 1"]);
        assert_eq!(branches("x = 11"), ["nondet() == 1"]);
        assert_eq!(branches("x = 12"), ["nondet() == 2"]);
        assert_eq!(branches("x = 13"), ["nondet() == 3"]);
        // The two ways meet, and one of them ends with the loop.
        assert_eq!(found.next[at("x = 10").index()], found.next[at("x = 11").index()]);
        let abort = program.calls.iter().find(|(name, ..)| &**name == "abort").unwrap().1;
        assert!(
            found.last.contains(&abort) && found.last.contains(&at("x = 14")) && found.last.len() == 2,
            "{:?}",
            found.last
        );
    }
}
