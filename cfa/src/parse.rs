// SPDX-License-Identifier: Apache-2.0
//! From a source text to a tree-sitter tree that contradicts nothing the text declares.

use tree_sitter::Parser;

use crate::attributes::LayoutAttribute;
use crate::grammar::Grammar;
use crate::links::Link;
use crate::prepass::{self, LocalLabels, Refusal};
use crate::repair;
use crate::text::Text;
use crate::tree::Tree;

/// How deep constructs may be nested; a bound for the recursion of the lowering.
pub(crate) const NESTING_LIMIT: u32 = 1000;

/// Rounds of repair after which a text is refused. Real programs need two.
const ROUNDS: u32 = 12;

/// A parsed source file.
pub(crate) struct Parsed<'g> {
    pub(crate) tree: Tree<'g>,
    pub(crate) text: Text,
    pub(crate) layout_attributes: Vec<(u32, LayoutAttribute)>,
    pub(crate) packs: Vec<(u32, Option<u64>)>,
    pub(crate) links: Vec<(u32, Link)>,
    pub(crate) labels: Vec<LocalLabels>,
    /// What stands in `typeof(..)`: the operands of `sizeof` at the same places.
    pub(crate) typeofs: Option<Box<Parsed<'g>>>,
}

pub(crate) fn parse<'g>(source: &str, grammar: &'g Grammar) -> Result<Parsed<'g>, Refusal> {
    parse_with(source, &[], grammar, 0)
}

/// Parses a text with names of types that it does not declare itself. `depth` is that of `typeof` in `typeof`.
fn parse_with<'s, 'g>(
    source: &'s str,
    known: &[&'s str],
    grammar: &'g Grammar,
    depth: u32,
) -> Result<Parsed<'g>, Refusal> {
    let prepass = prepass::scan(source)?;
    let mut edits = prepass.edits;
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).expect("the grammar fits this tree-sitter");
    for _ in 0..ROUNDS {
        let text = Text::new(&prepass.base, &edits);
        let tree = Tree::new(&parser.parse(&text.bytes, None).expect("no cancellation is set"), grammar);
        let before = edits.changes();
        let names = repair::check(&tree, &text, source, known, grammar, &mut edits)?;
        if edits.changes() == before {
            let prepass::Prepass { layout_attributes, packs, typeofs, links, labels, .. } = prepass;
            // Without them the types are unknown, which matters only where a value of such a type is used.
            let inner = fragments(source, &typeofs).filter(|_| depth < 8);
            let typeofs = inner.and_then(|inner| parse_with(&inner, &names, grammar, depth + 1).ok()).map(Box::new);
            return Ok(Parsed { tree, text, layout_attributes, packs, links, labels, typeofs });
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
