// SPDX-License-Identifier: Apache-2.0
//! Strongly connected components of a graph: Tarjan, *Depth-First Search and Linear Graph Algorithms* (SIAM Journal on
//! Computing, 1972), without recursion.

use std::collections::BTreeSet;

use crate::ids::FuncId;
use crate::ir::Op;
use crate::program::Program;

/// The number of the component of each of `count` nodes; `successor` gives the successors of a node by their position.
/// Components that can be reached from another one have smaller numbers.
pub fn components(count: usize, successor: impl Fn(usize, usize) -> Option<usize>) -> Vec<u32> {
    let mut index = vec![u32::MAX; count];
    let mut low = vec![0u32; count];
    let mut component = vec![u32::MAX; count];
    let mut stack: Vec<usize> = Vec::new();
    let (mut next_index, mut next_component) = (0u32, 0u32);
    let mut work: Vec<(usize, usize)> = Vec::new();
    for root in 0..count {
        if index[root] != u32::MAX {
            continue;
        }
        work.push((root, 0));
        while let Some((node, at)) = work.pop() {
            if at == 0 {
                index[node] = next_index;
                low[node] = next_index;
                next_index += 1;
                stack.push(node);
            }
            if let Some(to) = successor(node, at) {
                work.push((node, at + 1));
                if index[to] == u32::MAX {
                    work.push((to, 0));
                } else if component[to] == u32::MAX {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if low[node] == index[node] {
                loop {
                    let member = stack.pop().expect("the root is on the stack");
                    component[member] = next_component;
                    if member == node {
                        break;
                    }
                }
                next_component += 1;
            }
            if let Some((above, _)) = work.last() {
                low[*above] = low[*above].min(low[node]);
            }
        }
    }
    component
}

/// Whether each of the nodes lies on a cycle.
pub(crate) fn on_cycles(successors: &[Vec<usize>]) -> Vec<bool> {
    let component = components(successors.len(), |node, at| successors[node].get(at).copied());
    let mut found = vec![false; successors.len()];
    for (node, list) in successors.iter().enumerate() {
        found[node] = list.iter().any(|&to| component[to] == component[node]);
    }
    found
}

impl Program {
    /// The functions that can be called while they run.
    pub fn recursive(&self) -> BTreeSet<FuncId> {
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); self.funcs.len()];
        for edge in &self.edges {
            if let Op::Call { callee, .. } = edge.op {
                callees[self.node(edge.src).func.index()].push(callee.index());
            }
        }
        for list in &mut callees {
            list.sort_unstable();
            list.dedup();
        }
        let on_cycle = on_cycles(&callees);
        (0..self.funcs.len()).filter(|&index| on_cycle[index]).map(FuncId::new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_what_leads_to_them() {
        // 0 -> 1 <-> 2 -> 3 -> 3, 4 alone.
        let graph = [vec![1], vec![2], vec![1, 3], vec![3], vec![]];
        assert_eq!(on_cycles(&graph), [false, true, true, true, false]);
        let numbers = components(graph.len(), |node, at| graph[node].get(at).copied());
        assert_eq!(numbers[1], numbers[2]);
        assert!(numbers[3] < numbers[1] && numbers[1] < numbers[0]);
    }
}
