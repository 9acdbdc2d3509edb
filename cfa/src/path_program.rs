// SPDX-License-Identifier: Apache-2.0
//! Path programs: what is left of a program when only the edges of one path may be taken (Beyer, Henzinger, Majumdar,
//! Rybalchenko, *Path Invariants*, 2007).
//!
//! An edge that is not on the path leads to a new location without leaving edges and does nothing. Locations, edges and
//! variables keep their numbers, so a run of the path program to a location of the program is a run of the program, and
//! the path itself is one of the path program's. Loops of the path stay loops, so it stands for all paths along its edges.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{EdgeId, FuncId, NodeId};
use crate::ir::{Node, Op};
use crate::loops::Loops;
use crate::program::Program;

impl Program {
    /// The program in which only the given edges can be taken.
    pub fn path_program(&self, edges: &BTreeSet<EdgeId>) -> Program {
        let mut program = self.clone();
        program.cut(edges);
        program.loops = Loops::find(&program);
        program
    }

    /// Only the given edges can be taken any more; the loops are to be found anew.
    pub(crate) fn cut(&mut self, edges: &BTreeSet<EdgeId>) {
        let mut ends: BTreeMap<FuncId, NodeId> = BTreeMap::new();
        for id in self.edge_ids().filter(|id| !edges.contains(id)) {
            let func = self.node(self.edge(id).src).func;
            let nodes = &mut self.nodes;
            let end = *ends.entry(func).or_insert_with(|| {
                let rpo = u32::try_from(nodes.len()).expect("fewer than 2^32 nodes");
                nodes.push(Node { func, rpo, leaving: Vec::new(), entering: Vec::new() });
                NodeId::new(nodes.len() - 1)
            });
            self.redirect(id, end);
            let edge = &mut self.edges[id.index()];
            // The two sides of a branch stay complementary.
            if !matches!(edge.op, Op::Assume { .. }) {
                edge.op = Op::Skip;
            }
        }
    }

    /// An edge arrives elsewhere.
    pub(crate) fn redirect(&mut self, id: EdgeId, to: NodeId) {
        let from = std::mem::replace(&mut self.edges[id.index()].dst, to);
        self.nodes[from.index()].entering.retain(|entering| *entering != id);
        self.nodes[to.index()].entering.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Property, Source, load, verify};

    #[test]
    fn only_the_path_is_left() {
        let text = "extern void reach_error(void); extern int nondet(void); int f(int x) { if (x) return 1; return 2; }
            int main(void) { int i = 0; while (i < 3) { if (nondet()) i = i + f(i); else i = 7; } if (i > 5) reach_error(); return 0; }";
        let source = Source { name: "t.c".into(), text: text.into() };
        let program = load(&[source], &Options { entry: "main".into(), ..Options::default() }).unwrap();
        let targets = program.targets(&Property::default_errors());
        // All edges but the assignment of 7.
        let seven = program
            .edge_ids()
            .find(|&id| {
                program.text(program.edge(id).span).contains("i = 7")
                    && matches!(program.edge(id).op, Op::Assign { .. })
            })
            .unwrap();
        let all: BTreeSet<EdgeId> = program.edge_ids().filter(|id| *id != seven).collect();
        let restricted = program.path_program(&all);
        verify::verify(&restricted).unwrap();
        assert_eq!(restricted.nodes.len(), program.nodes.len() + 1);
        assert_eq!(restricted.loops.heads, program.loops.heads);
        let dead = restricted.edge(seven).dst;
        assert!(restricted.node(dead).leaving.is_empty() && !restricted.leading_to(&targets).contains(&dead));
        // Nothing is changed when all edges are on the path; nothing but the entry is left when none is.
        let whole = program.path_program(&program.edge_ids().collect());
        assert_eq!(whole.nodes.len(), program.nodes.len());
        let none = program.path_program(&BTreeSet::new());
        verify::verify(&none).unwrap();
        assert!(none.loops.heads.is_empty() && !none.leading_to(&targets).contains(&none.entry));
    }
}
