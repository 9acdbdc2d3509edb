// SPDX-License-Identifier: Apache-2.0
//! From where control flow leads to given locations, whatever the data.
//!
//! An analysis need not leave a location from which no target can be reached: cutting there is a slice of the program that
//! keeps every path to a target. Calls and returns are not matched, so the answer may contain too many locations, never too
//! few.

use std::collections::BTreeSet;

use crate::ids::NodeId;
use crate::ir::Op;
use crate::program::Program;

impl Program {
    /// The locations from which some path along the edges leads to one of `targets`, the targets included. A path may enter
    /// a called function, pass over the call, and return from a function to each of its call sites. If the address of some
    /// function is taken, a call that is not supported (of a function without body that may call back) leads to every
    /// target.
    pub fn leading_to(&self, targets: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        // Only functions whose addresses are taken are objects, and they have no size.
        let indirect = self.objects.iter().any(|object| object.size == 0);
        let mut before: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        let mut found = targets.clone();
        for edge in &self.edges {
            before[edge.dst.index()].push(edge.src);
            match &edge.op {
                Op::Call { callee, .. } => {
                    if let Some(body) = self.funcs[callee.index()].body {
                        before[body.entry.index()].push(edge.src);
                        before[edge.dst.index()].push(body.exit);
                    }
                }
                Op::Unsupported { construct } if indirect && construct.starts_with("call") => {
                    found.insert(edge.src);
                }
                Op::Unsupported { .. } | Op::Skip | Op::Assume { .. } | Op::Assign { .. } | Op::Havoc { .. } => {}
                Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. } => {}
            }
        }
        let mut open: Vec<NodeId> = found.iter().copied().collect();
        while let Some(node) = open.pop() {
            for &previous in &before[node.index()] {
                if found.insert(previous) {
                    open.push(previous);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Property, Source, load};

    fn leads(text: &str) -> (bool, usize, usize) {
        let source = Source { name: "t.c".into(), text: text.into() };
        let program = load(&[source], &Options { entry: "main".into(), ..Options::default() }).unwrap();
        let targets = program.targets(&Property::default_errors());
        let found = program.leading_to(&targets);
        (found.contains(&program.entry), found.len(), program.nodes.len())
    }

    #[test]
    fn a_function_that_is_never_called_does_not_matter() {
        let (entry, ..) = leads("void reach_error(void); void f(void) { reach_error(); } int main(void) { return 0; }");
        assert!(!entry);
    }

    #[test]
    fn calls_and_returns_are_followed() {
        let text = "void reach_error(void); int f(int x) { return x; }
            int main(void) { int y = f(1); if (y) { reach_error(); } y = 2; y = 3; return y; }";
        let (entry, found, all) = leads(text);
        assert!(entry);
        assert!(found < all, "what comes after the last target is left out");
    }

    #[test]
    fn a_call_through_a_pointer_can_lead_anywhere() {
        let text = "void reach_error(void); void f(void) { reach_error(); }
            int main(void) { void (*p)(void) = f; p(); return 0; }";
        assert!(leads(text).0);
    }
}
