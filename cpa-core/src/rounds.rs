// SPDX-License-Identifier: Apache-2.0
//! The loops that a path is in, and how often it went round in them: what a run that does not end says about where it is.

use cfa::Program;
use cfa::ids::NodeId;

use crate::arg::{Arg, ArgId};

/// The loops that the path to a node of the graph is in, by their heads, the outermost first, and how often the path came
/// back to each head since it entered the loop. Where paths were merged, the one that came first counts. Of a function that
/// calls itself only the innermost activation does.
///
/// Takes time in proportion to the length of the path.
pub fn rounds(program: &Program, graph: &Arg, id: ArgId) -> Vec<(NodeId, u64)> {
    rounds_of_path(program, &path(graph, id))
}

/// The locations on the first path to a node, up to it.
fn path(graph: &Arg, id: ArgId) -> Vec<NodeId> {
    let first = |&id: &ArgId| graph.parents(id).first().map(|&(parent, _)| parent);
    // Merges can make cycles of parents; then this is a part of the path.
    let ids = std::iter::successors(Some(id), first).take(graph.created());
    let mut path: Vec<NodeId> = ids.map(|id| graph.location(id)).collect();
    path.reverse();
    path
}

fn rounds_of_path(program: &Program, path: &[NodeId]) -> Vec<(NodeId, u64)> {
    let mut inside: Vec<(NodeId, u64)> = Vec::new();
    for &node in path {
        let func = program.node(node).func;
        // The path has left the loops of this function that are not around the location.
        inside.retain(|&(head, _)| {
            program.node(head).func != func || program.loops.around(node).any(|around| around.head == head)
        });
        if program.loops.is_head(node) {
            match inside.iter_mut().find(|(head, _)| *head == node) {
                Some((_, rounds)) => *rounds += 1,
                None => inside.push((node, 0)),
            }
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Options, Source};
    use expect_test::expect;

    /// Follows the first or the second branch, as the digits say, and shows the rounds at the end.
    fn after(text: &str, branches: &str) -> String {
        let source = Source { name: "t.c".into(), text: text.into() };
        let program = cfa::load(&[source], &Options::default()).unwrap();
        let (mut node, mut path, mut calls) = (program.entry, vec![program.entry], Vec::new());
        let mut branches = branches.bytes().map(|byte| usize::from(byte - b'0'));
        loop {
            let leaving = &program.node(node).leaving;
            let choice = if leaving.len() > 1 { branches.next() } else { Some(0) };
            let Some(choice) = choice else { break };
            node = match leaving.get(choice) {
                Some(&edge) => match &program.edge(edge).op {
                    cfa::ir::Op::Call { callee, .. } => {
                        calls.push(edge);
                        program.func(*callee).body.unwrap().entry
                    }
                    _ => program.edge(edge).dst,
                },
                None => match calls.pop() {
                    Some(call) => program.edge(call).dst,
                    None => break,
                },
            };
            path.push(node);
        }
        let line = |head: NodeId| program.location(program.edge(program.node(head).leaving[0]).span).line;
        let rounds = rounds_of_path(&program, &path);
        rounds.iter().map(|&(head, rounds)| format!("line {}: {rounds}\n", line(head))).collect()
    }

    const NESTED: &str = "int input(void);
        void wait(void) {
            while (input())
                ;
        }
        int main(void) {
            while (input()) {
                while (input())
                    ;
                wait();
            }
        }";

    #[test]
    fn loops_that_were_left_do_not_count() {
        // The outer loop is entered; then the inner one is entered and left; then the one of the called function.
        expect![[r#"
            line 7: 0
        "#]]
        .assert_eq(&after(NESTED, ""));
        expect![[r#"
            line 7: 0
            line 8: 3
        "#]]
        .assert_eq(&after(NESTED, "0000"));
        expect![[r#"
            line 7: 0
            line 3: 2
        "#]]
        .assert_eq(&after(NESTED, "000100"));
        expect![[r#"
            line 7: 2
            line 8: 1
        "#]]
        .assert_eq(&after(NESTED, "0001101100"));
        expect![""].assert_eq(&after(NESTED, "1"));
    }
}
