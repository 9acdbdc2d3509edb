// SPDX-License-Identifier: Apache-2.0
//! From where control flow leads to given locations, whatever the data.
//!
//! An analysis need not leave a location from which no target can be reached: cutting there is a slice of the program that
//! keeps every path to a target. Calls and returns are not matched, so the answer may contain too many locations, never too
//! few.

use std::collections::BTreeSet;

use crate::ids::NodeId;
use crate::ir::{Edge, Op};
use crate::lower::{NO_BODY, ORDER_MATTERS};
use crate::program::Program;

impl Program {
    /// The locations from which some path along the edges leads to one of `targets`, the targets included. A path may enter
    /// a called function, pass over the call, and return from a function to each of its call sites. What is not supported
    /// leads to every target if it may execute a part of the program that stands on no edge: if its text may contain a
    /// call, or, where the address of some function is taken, if it calls a function without body, which may call back.
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
                Op::Unsupported { .. } if self.may_call(edge, indirect) => {
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

    /// Whether an unsupported construct may execute functions of the program. `indirect`: whether somebody can know their
    /// addresses.
    fn may_call(&self, edge: &Edge, indirect: bool) -> bool {
        match &edge.op {
            // The arguments stand on the edges before.
            Op::Unsupported { construct } if construct.ends_with(NO_BODY) => indirect,
            // The calls stand on the edges behind.
            Op::Unsupported { construct } if **construct == *ORDER_MATTERS => false,
            Op::Unsupported { .. } => contains_call(self.text(edge.span)),
            _ => false,
        }
    }
}

/// Whether a text may contain a call, or assembly that jumps: there is a parenthesis behind something that may be a function.
fn contains_call(text: &str) -> bool {
    if text.is_empty() {
        // What it stands for is not in the text.
        return true;
    }
    let none = ["asm", "__asm", "__asm__", "volatile", "__volatile", "__volatile__", "sizeof", "return", "if", "while"];
    text.match_indices('(').any(|(at, _)| {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or("");
        match word {
            "" => before.ends_with([')', ']', '}', '/']),
            word => !none.contains(&word),
        }
    })
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
    fn calls_within_what_is_not_supported_lead_anywhere() {
        let head = "void reach_error(void); int f(void) { reach_error(); return 1; } struct s { int a[1000]; };
            int g(struct s s) { reach_error(); return 1; } struct w { unsigned long long b: 40; };";
        for statement in [
            "struct s s; g(s);",
            "__asm__ volatile (\"\" : : \"r\" (f()));",
            "__asm__ goto (\"\" : : \"r\" (f()) : : there); there:",
            "struct w w; w.b += f();",
            "struct w w; int x = (w.b + f()) & 1;",
            "int x = _Generic(1, int: f());",
            "int x = _Generic(1, int: (f) /* there */ (), default: 1);",
        ] {
            assert!(leads(&format!("{head} int main(void) {{ {statement}; return 0; }}")).0, "{statement}");
        }
        for statement in
            ["__asm__ volatile (\"nop\" : : \"r\" (1) : \"memory\");", "long double d = 1; int x = d * 2 > 1"]
        {
            assert!(!leads(&format!("{head} int main(void) {{ {statement}; return 0; }}")).0, "{statement}");
        }
    }

    #[test]
    fn a_call_through_a_pointer_can_lead_anywhere() {
        let text = "void reach_error(void); void f(void) { reach_error(); }
            int main(void) { void (*p)(void) = f; p(); return 0; }";
        assert!(leads(text).0);
    }
}
