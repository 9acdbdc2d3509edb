// SPDX-License-Identifier: Apache-2.0
//! From a source text to a tree-sitter tree that contradicts nothing the text declares.

use tree_sitter::{Node, Parser, Tree};

use crate::grammar::Grammar;
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
    /// What stands in `typeof(..)`: the operands of `sizeof` at the same places.
    pub(crate) typeofs: Option<Box<Parsed>>,
}

pub(crate) fn parse(source: &str, grammar: &Grammar) -> Result<Parsed, Refusal> {
    parse_with(source, &[], grammar, 0)
}

/// Parses a text with names of types that it does not declare itself. `depth` is that of `typeof` in `typeof`.
fn parse_with<'s>(source: &'s str, known: &[&'s str], grammar: &Grammar, depth: u32) -> Result<Parsed, Refusal> {
    let prepass = prepass::scan(source)?;
    let mut edits = prepass.edits;
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).expect("the grammar fits this tree-sitter");
    for _ in 0..ROUNDS {
        let text = Text::new(&prepass.base, &edits);
        let tree = parser.parse(&text.bytes, None).expect("no cancellation is set");
        let before = edits.changes();
        let names = repair::check(tree.root_node(), &text, source, known, grammar, &mut edits)?;
        if edits.changes() == before {
            let prepass::Prepass { layout_attributes, packs, typeofs, .. } = prepass;
            // Without them the types are unknown, which matters only where a value of such a type is used.
            let inner = fragments(source, &typeofs).filter(|_| depth < 8);
            let typeofs = inner.and_then(|inner| parse_with(&inner, &names, grammar, depth + 1).ok()).map(Box::new);
            return Ok(Parsed { tree, text, layout_attributes, packs, typeofs });
        }
    }
    Err((0, "a text that stays ambiguous after repair".into(), "simplify parentheses around names".into()))
}

/// A text of the same length in which `typeof(..)` has become `sizeof(..);` and everything else is blank. Both take an
/// expression or a type.
fn fragments(source: &str, typeofs: &[(usize, usize, usize)]) -> Option<String> {
    if typeofs.is_empty() {
        return None;
    }
    let mut text = vec![b' '; source.len() + 1];
    for (start, end, close) in typeofs {
        text[*start..*start + 6].copy_from_slice(b"sizeof");
        text[*end..*close].copy_from_slice(&source.as_bytes()[*end..*close]);
        text[*close] = b';';
    }
    Some(String::from_utf8(text).expect("whole tokens are copied"))
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
