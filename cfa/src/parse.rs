// SPDX-License-Identifier: Apache-2.0
//! From a source text to a tree-sitter tree that contradicts nothing the text declares.

use tree_sitter::{Node, Parser, Tree};

use crate::prepass::{self, Refusal};
use crate::repair;
use crate::text::Text;

/// How deep constructs may be nested; a bound for the recursion of the lowering.
pub(crate) const NESTING_LIMIT: u32 = 1000;

/// Rounds of repair after which a text is refused. Real programs need two.
const ROUNDS: u32 = 12;

/// A parsed source file.
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    pub(crate) text: Text,
    pub(crate) layout_attributes: Vec<(u32, bool)>,
    pub(crate) packs: Vec<(u32, Option<u64>)>,
}

pub(crate) fn parse(source: &str) -> Result<Parsed, Refusal> {
    let prepass = prepass::scan(source)?;
    let mut edits = prepass.edits;
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).expect("the grammar fits this tree-sitter");
    for _ in 0..ROUNDS {
        let text = Text::new(&prepass.base, &edits);
        let tree = parser.parse(&text.bytes, None).expect("no cancellation is set");
        let before = edits.len();
        repair::check(tree.root_node(), &text, source, &mut edits)?;
        if edits.len() == before {
            let prepass::Prepass { layout_attributes, packs, .. } = prepass;
            return Ok(Parsed { tree, text, layout_attributes, packs });
        }
    }
    Err((0, "a text that stays ambiguous after repair".into(), "simplify parentheses around names".into()))
}

/// The first place in a tree with errors that tree-sitter could not read.
pub(crate) fn first_error(root: Node<'_>) -> Node<'_> {
    let mut node = root;
    loop {
        if node.is_missing() {
            return node;
        }
        let mut cursor = node.walk();
        let next = node.children(&mut cursor).find(|child| child.has_error() || child.is_missing());
        match next {
            Some(child) if !(node.is_error() && child.is_error()) || child.end_byte() < node.end_byte() => node = child,
            _ => return node,
        }
    }
}
