// SPDX-License-Identifier: Apache-2.0
//! Jumps to values that are no labels.

use cfa::Op;

#[test]
fn other_values_are_not_supported_before_all_labels() {
    let text =
        "void reach_error(void); int nondet_int(void); int main(void) { int x = nondet_int(); void *p = x ? &&a : 0;
        goto *p; a: if (!x) reach_error(); return 0; }";
    let program = crate::load(text);
    let mut unsupported = program.edges.iter().filter(|edge| matches!(edge.op, Op::Unsupported { .. }));
    let behind = unsupported.next().expect("there is one").dst;
    assert!(unsupported.next().is_none());
    // The error can be reached along the edges behind it.
    let (mut todo, mut seen) = (vec![behind], std::collections::BTreeSet::new());
    while let Some(node) = todo.pop() {
        if seen.insert(node) {
            todo.extend(program.node(node).leaving.iter().map(|edge| program.edge(*edge).dst));
        }
    }
    let error = program.calls.iter().find(|(name, ..)| &**name == "reach_error").expect("it is called");
    assert!(seen.contains(&error.1));
}
